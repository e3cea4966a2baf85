/*
 * cache.c - the folder of executables that a run has for itself: its first process of each kind
 * compiles, so that compile time is measured once, and the others load.
 */
#include "harness/jobs/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX ".executables-"

/* Removes the folder NAME of PARENT with the files in it. A link of that name, which others may
 * have put there, is not followed. */
static void remove_folder(int parent, const char *name)
{
    int fd;
    if (bn_folder_in(parent, name, &fd, NULL) != BN_OK)
        return;
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(fd, entry->d_name, 0); /* "." and ".." refuse */
    closedir(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void job_cache_sweep_old(const char *store)
{
    DIR *folder = opendir(store);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *end = NULL;
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const long pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
        /* A name of ours goes on with the host's, whose processes we can see. */
        char host[64] = "";
        if (gethostname(host, sizeof host - 1) != 0 || pid <= 0 || *end != '-' ||
            strcmp(end + 1, host) != 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        remove_folder(dirfd(folder), entry->d_name);
    }
    closedir(folder);
}

bn_code job_cache_begin(const char *store, char path[JOB_CACHE_PATH], bn_status *st)
{
    char host[64] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    const int length =
        snprintf(path, JOB_CACHE_PATH, "%s/" PREFIX "%ld-%s", store, (long)getpid(), host);
    if (length < 0 || length >= JOB_CACHE_PATH)
        return bn_fail(st, BN_INVALID, "the name of the store is too long");
    remove_folder(AT_FDCWD, path);
    if (mkdir(path, 0700) != 0)
        return bn_fail_errno(st, errno, "%s", path);
    int fd;
    bn_code code = bn_private_folder(path, &fd, st);
    if (code == BN_OK) {
        close(fd);
        return BN_OK;
    }
    remove_folder(AT_FDCWD, path);
    if (code == BN_INVALID) {
        /* A file system that keeps no permissions, say. */
        cli_say("bench: no executables are kept for this run, so each process compiles: %s",
                st->message);
        path[0] = '\0';
        *st = (bn_status){.code = BN_OK};
        code = BN_OK;
    }
    return code;
}

void job_cache_end(const char *path)
{
    if (path[0])
        remove_folder(AT_FDCWD, path);
}
