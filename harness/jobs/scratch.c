/*
 * scratch.c - folders of temporary files that one process passes to another: weights and a batch
 * for a framework, its answer, its recording. They may be large, so they are next to the records,
 * unless others may write there, or in a folder above.
 */
#define _GNU_SOURCE
#include "harness/jobs/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX      ".front-end-"
/* Below a folder: a recording has a folder of each process, and that one of its programs. */
#define MOST_LEVELS 6

static const char *temporary(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

bn_code job_scratch_begin(const char *parent, char path[PATH_MAX], bn_status *st)
{
    char whole[PATH_MAX], host[64] = "";
    path[0] = '\0';
    if (!(parent && bn_path_protected(parent, whole)) && !bn_path_protected(temporary(), whole))
        return whole[0] ? bn_fail(st, BN_INVALID,
                                  "%s: other users could replace files there that a framework "
                                  "reads; set TMPDIR to a folder that only you can write, and "
                                  "whose parents no other user can write",
                                  whole)
                        : bn_fail_errno(st, errno, "%s", temporary());
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    const int length =
        snprintf(path, PATH_MAX, "%s/" PREFIX "%ld-%s.XXXXXX", whole, (long)getpid(), host);
    if (length < 0 || length >= PATH_MAX || !mkdtemp(path)) {
        const int error = length < 0 || length >= PATH_MAX ? ENAMETOOLONG : errno;
        path[0] = '\0';
        return bn_fail_errno(st, error, "a folder in %s", whole);
    }
    return BN_OK;
}

/* Removes NAME of the open FOLDER, with LEVELS below it at most. Links are removed, never followed,
 * also where files are replaced meanwhile. */
static void remove_in(int folder, const char *name, int levels)
{
    int fd = -1;
    if (unlinkat(folder, name, 0) == 0 || levels == 0 ||
        bn_folder_in(folder, name, &fd, NULL) != BN_OK)
        return;
    DIR *list = bn_folder_list(fd);
    for (const struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_in(fd, entry->d_name, levels - 1);
    if (list)
        closedir(list);
    close(fd);
    unlinkat(folder, name, AT_REMOVEDIR);
}

static void remove_whole(int parent, const char *name)
{
    remove_in(parent, name, MOST_LEVELS);
}

void job_scratch_end(char path[PATH_MAX])
{
    if (path[0])
        remove_whole(AT_FDCWD, path);
    path[0] = '\0';
}

/* The process of HOST, this machine, that made the folder NAME; 0: none. */
static long process_of(const char *name, const char *prefix, const char *host, const char *after,
                       size_t count)
{
    const size_t length = strlen(host);
    char *end = NULL;
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return 0;
    const long pid = strtol(name + strlen(prefix), &end, 10);
    if (pid <= 0 || *end != '-' || strncmp(end + 1, host, length) != 0)
        return 0;
    return memchr(after, end[1 + length], count) ? pid : 0;
}

void job_folders_sweep(const char *store, const char *prefix, const char *after, size_t count,
                       void (*remove_one)(int parent, const char *name))
{
    char host[64] = "";
    struct stat whole;
    DIR *folder = opendir(store);
    if (!folder)
        return;
    /* Otherwise the name may belong to another folder of the user by now. */
    const bool named = fstat(dirfd(folder), &whole) == 0 && bn_folder_protected(&whole) &&
                       gethostname(host, sizeof host - 1) == 0;
    for (const struct dirent *entry; named && (entry = readdir(folder)) != NULL;) {
        struct stat info;
        const long pid = process_of(entry->d_name, prefix, host, after, count);
        if (pid > 0 && fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(info.st_mode) && info.st_uid == geteuid() && bn_writer_gone(pid, &info))
            remove_one(dirfd(folder), entry->d_name);
    }
    closedir(folder);
}

void job_scratch_sweep_old(const char *store)
{
    static const char after[] = {'.'};
    job_folders_sweep(store, PREFIX, after, sizeof after, remove_whole);
    job_folders_sweep(temporary(), PREFIX, after, sizeof after, remove_whole);
}
