/*
 * cache.c - the folder of executables that a run has for itself: its first process of each kind
 * compiles, so that compile time is measured once, and the others load.
 */
#include "harness/jobs/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX ".executables-"

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." refuse */
    closedir(folder);
    rmdir(path);
}

void job_cache_sweep_old(const char *store)
{
    DIR *folder = opendir(store);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4352], *end = NULL;
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        const long pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
        /* A name of ours goes on with the host's, whose processes we can see. */
        char host[64] = "";
        if (gethostname(host, sizeof host - 1) != 0 || pid <= 0 || *end != '-' ||
            strcmp(end + 1, host) != 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", store, entry->d_name) < sizeof path)
            remove_folder(path);
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
    remove_folder(path);
    if (mkdir(path, 0700) != 0)
        return bn_fail_errno(st, errno, "%s", path);
    return BN_OK;
}

void job_cache_end(const char *path)
{
    if (path[0])
        remove_folder(path);
}
