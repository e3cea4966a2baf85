/*
 * cache.c - the folder of executables that a run has for itself: its first process of each kind
 * compiles, so that compile time is measured once, and the others load.
 *
 * The run's process holds a lock on the folder. A process that we do not see may still run: in
 * another container that shares the store and the host's name.
 */
#include "harness/jobs/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX     ".executables-"
/* Before a number, in the name of a folder whose usual name was taken. No host name has it. */
#define NUMBER     '+'
#define MOST_NAMES 8
/* Where nothing can be locked, a younger folder counts as in use. */
#define UNLOCKED_S (24 * 3600)

/* Whether another process uses the open folder; else it is locked. */
static bool in_use(int fd)
{
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return false;
    return errno == EWOULDBLOCK || fstat(fd, &info) != 0 || time(NULL) - info.st_mtime < UNLOCKED_S;
}

/* Removes the folder NAME of PARENT with its files, unless it is in use. A link of that name, which
 * others may have made, is not followed. */
static void remove_folder(int parent, const char *name)
{
    int fd;
    if (bn_folder_in(parent, name, &fd, NULL) != BN_OK)
        return;
    DIR *folder = in_use(fd) ? NULL : fdopendir(fd);
    if (!folder) {
        close(fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(fd, entry->d_name, 0); /* "." and ".." refuse */
    unlinkat(parent, name, AT_REMOVEDIR);
    closedir(folder); /* only now: it holds the lock */
}

void job_cache_sweep_old(const char *store)
{
    static const char after[] = {'\0', NUMBER};
    job_folders_sweep(store, PREFIX, after, sizeof after, remove_folder);
}

/* Whether PATH names the open folder: another run may have swept it before it was locked. */
static bool is_at(int fd, const char *path)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && bn_same_file(&ours, &there);
}

/* Makes the folder cache->path and locks it. *TAKEN, without a failure: another process has it. */
static bn_code make_folder(job_cache *cache, bool *taken, bn_status *st)
{
    *taken = false;
    if (mkdir(cache->path, 0700) != 0) {
        if (errno != EEXIST)
            return bn_fail_errno(st, errno, "%s", cache->path);
        /* A process with our number left it, or one that we do not see has it. */
        remove_folder(AT_FDCWD, cache->path);
        *taken = mkdir(cache->path, 0700) != 0;
        if (*taken)
            return BN_OK;
    }
    bn_code code = bn_private_folder(cache->path, &cache->lock, st);
    if (code != BN_OK) {
        remove_folder(AT_FDCWD, cache->path);
        return code;
    }
    /* Where nothing can be locked, the run goes on without a lock. */
    *taken = (flock(cache->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
             !is_at(cache->lock, cache->path);
    if (*taken)
        close(cache->lock);
    return BN_OK;
}

/* Makes the folder under the first free name. BN_INVALID where there is none. */
static bn_code find_name(job_cache *cache, const char *store, bn_status *st)
{
    char host[64] = "";
    bool taken = true;
    bn_code code = BN_OK;
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    for (int i = 0; code == BN_OK && taken && i < MOST_NAMES; i++) {
        char number[16] = "";
        if (i > 0)
            snprintf(number, sizeof number, "%c%d", NUMBER, i);
        const int length = snprintf(cache->path, sizeof cache->path, "%s/" PREFIX "%ld-%s%s", store,
                                    (long)getpid(), host, number);
        code = length < 0 || (size_t)length >= sizeof cache->path
                   ? bn_fail(st, BN_IO, "the path of the store is too long")
                   : make_folder(cache, &taken, st);
    }
    if (code == BN_OK && taken)
        code = bn_fail(st, BN_INVALID, "%s: all names for it are taken", cache->path);
    return code;
}

bn_code job_cache_begin(const char *store, job_cache *cache, bn_status *st)
{
    bn_status why = {.code = BN_OK};
    bn_code code = find_name(cache, store, &why);
    if (code == BN_OK)
        return BN_OK;
    cache->path[0] = '\0';
    if (code != BN_INVALID)
        return bn_fail(st, code, "%s", why.message);
    /* The names are taken, or the file system keeps no permissions: the run goes on. */
    cli_say("bench: this run keeps no executables, so each process compiles: %s", why.message);
    return BN_OK;
}

void job_cache_lend(const job_cache *cache, job_experiment *list, size_t count, bool anew)
{
    for (size_t i = 0; cache->path[0] && i < count; i++) {
        if (list[i].how.cache_dir[0])
            continue;
        list[i].how.cache_dir = cache->path;
        list[i].compile_anew = anew && (i == 0 || !job_same_step(&list[0], &list[i]));
    }
}

void job_cache_end(job_cache *cache)
{
    if (!cache->path[0])
        return;
    close(cache->lock);
    remove_folder(AT_FDCWD, cache->path);
    cache->path[0] = '\0';
}
