/*
 * night_folder.c - a night's records wait in a folder of their own, and join the store together, as
 * far as a file system can do that: each gets a second name in the store, and the folder is removed
 * when all else is done. So a night that is killed loses nothing, and measures nothing twice. Links
 * in the store, which others may have put there, are not followed: all work is relative to folders
 * that were opened as such.
 */
#define _GNU_SOURCE
#include "harness/campaign/night_folder_priv.h"
#include "harness/cli/cli.h"
#include "results/findings/findings.h"
#include "results/records/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TONIGHT  "tonight"       /* where the suite writes */
#define ENDED    "tonight.ended" /* its name once its records are the store's */
#define CONTROLS "controls"      /* in it, and in the store */

static bool is_record(const char *name)
{
    return res_store_file_of(name) == RES_STORE_RECORD;
}

/* Whether NAME is the same file in both folders. */
static bool same_file(int a, int b, const char *name)
{
    struct stat left, right;
    return fstatat(a, name, &left, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(b, name, &right, AT_SYMLINK_NOFOLLOW) == 0 && bn_same_file(&left, &right);
}

/* Whether both have the same bytes, as copies have on a file system without second names. */
static bool same_bytes(int a, int b, const char *name)
{
    const int left = openat(a, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int right = openat(b, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char digest[2][BN_SHA256_TEXT] = {"", ""};
    const bool read = left >= 0 && right >= 0 &&
                      bn_descriptor_sha256(left, name, digest[0], NULL) == BN_OK &&
                      bn_descriptor_sha256(right, name, digest[1], NULL) == BN_OK;
    if (left >= 0)
        close(left);
    if (right >= 0)
        close(right);
    return read && strcmp(digest[0], digest[1]) == 0;
}

static bool is_regular(int folder, const char *name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

static bn_code share_one(int from, int to, const char *name, bn_status *st)
{
    if (linkat(from, name, to, name, 0) == 0 || (errno == EEXIST && same_file(from, to, name)))
        return BN_OK;
    if (errno == EEXIST)
        return same_bytes(from, to, name)
                   ? BN_OK
                   : bn_fail(st, BN_IO,
                             "the store has another %s than the night's folder: remove one of them",
                             name);
    /* On a file system without second names. The night's own stays, so that a night that is killed
     * here is found whole. */
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK)
        return bn_file_copy_in(from, to, name, st);
    return bn_fail_errno(st, errno, "moving %s to the store", name);
}

/* Gives each record of FOLDER a name in STORE; *COUNT of them. */
static bn_code share(int folder, int store, size_t *count, bn_status *st)
{
    DIR *list = bn_folder_list(folder);
    bn_code code = BN_OK;
    if (!list)
        return bn_fail_errno(st, errno, "the night's folder");
    for (const struct dirent *entry; code == BN_OK && (entry = bn_folder_next(list));) {
        if (!is_record(entry->d_name) || !is_regular(folder, entry->d_name))
            continue;
        code = share_one(folder, store, entry->d_name, st);
        ++*count;
    }
    /* Records that were not listed would go with the folder. */
    if (code == BN_OK && errno != 0)
        code = bn_fail_errno(st, errno, "the night's folder");
    closedir(list);
    return code;
}

/* Removes a suite's files from FOLDER. */
static bn_code empty(int folder, bn_status *st)
{
    DIR *list = bn_folder_list(folder);
    bn_code code = BN_OK;
    if (!list)
        return bn_fail_errno(st, errno, "the night's folder");
    for (const struct dirent *entry; code == BN_OK && (entry = readdir(list));) {
        const char *name = entry->d_name;
        /* Temporary files, too: the workers have ended. */
        if (res_store_file_of(name) != RES_STORE_OTHER && unlinkat(folder, name, 0) != 0 &&
            errno != ENOENT)
            code = bn_fail_errno(st, errno, "%s", name);
    }
    closedir(list);
    return code;
}

/* Removes the folder NAME of PARENT with a suite's files; it stays where it has others. */
static bn_code drop(int parent, const char *name, bn_status *st)
{
    int folder;
    bn_code code = bn_folder_in(parent, name, &folder, st);
    if (code == BN_NOT_FOUND)
        return BN_OK;
    if (code != BN_OK)
        return code;
    code = empty(folder, st);
    close(folder);
    if (code == BN_OK && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOTEMPTY &&
        errno != EEXIST)
        code = bn_fail_errno(st, errno, "%s", name);
    return code;
}

/* Removes the folder NAME of the store with its controls. */
static bn_code drop_all(const night_folder *t, const char *name, bn_status *st)
{
    int folder;
    bn_code code = bn_folder_in(t->store_fd, name, &folder, st);
    if (code != BN_OK)
        return code == BN_NOT_FOUND ? BN_OK : code;
    code = drop(folder, CONTROLS, st);
    close(folder);
    return code == BN_OK ? drop(t->store_fd, name, st) : code;
}

/* Seconds since 1970 of the latest record in the folder NAME of the store; NaN where there is none
 * with a time. */
static double latest_of(const night_folder *t, const char *name)
{
    double latest = (double)NAN;
    int folder;
    if (bn_folder_in(t->store_fd, name, &folder, NULL) != BN_OK)
        return latest;
    DIR *list = bn_folder_list(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (is_record(entry->d_name))
            latest = fmax(latest, res_id_time(entry->d_name));
    if (list)
        closedir(list);
    close(folder);
    return latest;
}

/* Whether the waiting records are of an earlier night: the latest is older than NIGHT_HOURS, or the
 * clock was ahead when it was made. */
static bool is_earlier(const night_folder *t, double night_hours)
{
    const double now = (double)time(NULL), latest = latest_of(t, TONIGHT);
    return now - latest > night_hours * 3600 || latest > now + RES_CLOCK_SLACK_S;
}

/* Shares the controls in the open FOLDER, if there are any. */
static bn_code share_controls(const night_folder *t, int folder, bn_status *st)
{
    size_t count = 0;
    int from, to;
    bn_code code = bn_folder_in(folder, CONTROLS, &from, st);
    if (code != BN_OK)
        return code == BN_NOT_FOUND ? BN_OK : code;
    if (mkdirat(t->store_fd, CONTROLS, 0777) != 0 && errno != EEXIST)
        code = bn_fail_errno(st, errno, "%s/" CONTROLS, t->store);
    if (code == BN_OK)
        code = bn_folder_in(t->store_fd, CONTROLS, &to, st);
    if (code == BN_OK) {
        code = share(from, to, &count, st);
        close(to);
        res_store_sweep_old(t->kept);
    }
    close(from);
    return code;
}

/* Gives the records in the folder NAME of the store names in the store; *COUNT of them. */
static bn_code share_all(const night_folder *t, const char *name, size_t *count, bn_status *st)
{
    int folder;
    bn_code code = bn_folder_in(t->store_fd, name, &folder, st);
    if (code != BN_OK)
        return code;
    code = share(folder, t->store_fd, count, st);
    if (code == BN_OK)
        code = share_controls(t, folder, st);
    close(folder);
    return code;
}

/* Moves the records in the folder NAME to the store and removes the folder, if it exists. */
static bn_code put_away(const night_folder *t, const char *name, size_t *count, bn_status *st)
{
    bn_code code = share_all(t, name, count, st);
    if (code == BN_OK)
        code = drop_all(t, name, st);
    return code == BN_NOT_FOUND ? BN_OK : code;
}

/* Locks the store, unless its file system has no locks. */
static bn_code hold(night_folder *t, bn_status *st)
{
    const int fd = open(t->store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return bn_fail_errno(st, errno, "store %s", t->store);
    t->store_fd = fd;
    if (fstat(fd, &t->at[0]) != 0)
        return bn_fail_errno(st, errno, "store %s", t->store);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return bn_fail(st, BN_IO, "store %s: another bench nightly is at work here", t->store);
    return BN_OK;
}

/* Fails where there is a link in place of a folder that the suite writes to. */
static bn_code check_place(int parent, const char *name, const char *below, bn_status *st)
{
    int folder;
    bn_code code = bn_folder_in(parent, name, &folder, st);
    if (code != BN_OK)
        return code == BN_NOT_FOUND ? BN_OK : code;
    if (below)
        code = check_place(folder, below, NULL, st);
    close(folder);
    return code;
}

bn_code night_folder_begin(night_folder *t, const char *store, double night_hours, bn_status *st)
{
    size_t count = 0;
    t->store = store;
    t->store_fd = -1;
    snprintf(t->folder, sizeof t->folder, "%s/" TONIGHT, store);
    snprintf(t->controls, sizeof t->controls, "%s/" TONIGHT "/" CONTROLS, store);
    snprintf(t->kept, sizeof t->kept, "%s/" CONTROLS, store);
    bn_code code = bn_make_folder(store, st);
    if (code != BN_OK)
        return bn_context(st, "store");
    code = hold(t, st);
    if (code == BN_OK)
        code = put_away(t, ENDED, &count, st);
    count = 0;
    if (code == BN_OK && is_earlier(t, night_hours))
        code = put_away(t, TONIGHT, &count, st);
    if (code == BN_OK)
        code = check_place(t->store_fd, TONIGHT, CONTROLS, st);
    if (code == BN_OK)
        code = check_place(t->store_fd, CONTROLS, NULL, st);
    if (count > 0)
        cli_say(
            "bench: %zu records of an earlier night, which did not end, were moved to the store",
            count);
    return code == BN_OK ? BN_OK : bn_context(st, "store %s", store);
}

/* Compares INFO, of PATH now, with folder WHICH; the first time it is remembered. */
static bn_code check_same(night_folder *t, int which, const struct stat *info, const char *path,
                          bn_status *st)
{
    if (t->at[which].st_ino == 0)
        t->at[which] = *info;
    if (!bn_same_file(&t->at[which], info))
        return bn_fail(st, BN_CHANGED, "%s was replaced while the night ran", path);
    return BN_OK;
}

/* check_same for the folder NAME in PARENT, which is folder WHICH; opens it as *FD, -1 where
 * there is none yet. */
static bn_code check_inside(night_folder *t, int which, int parent, const char *name,
                            const char *path, int *fd, bn_status *st)
{
    struct stat info;
    bn_code code = bn_folder_in(parent, name, fd, st);
    if (code == BN_NOT_FOUND) {
        *fd = -1;
        return t->at[which].st_ino == 0
                   ? BN_OK
                   : bn_fail(st, BN_CHANGED, "%s was removed while the night ran", path);
    }
    if (code != BN_OK)
        return code;
    return fstat(*fd, &info) == 0 ? check_same(t, which, &info, path, st)
                                  : bn_fail_errno(st, errno, "%s", path);
}

bn_code night_folder_check(night_folder *t, bn_status *st)
{
    struct stat info;
    int folder = -1, controls = -1;
    if (stat(t->store, &info) != 0)
        return bn_fail_errno(st, errno, "%s", t->store);
    bn_code code = check_same(t, 0, &info, t->store, st);
    if (code == BN_OK)
        code = check_inside(t, 1, t->store_fd, TONIGHT, t->folder, &folder, st);
    if (code == BN_OK && folder >= 0)
        code = check_inside(t, 2, folder, CONTROLS, t->controls, &controls, st);
    if (controls >= 0)
        close(controls);
    if (folder >= 0)
        close(folder);
    return code;
}

bn_code night_folder_share(const night_folder *t, bn_status *st)
{
    size_t count = 0;
    bn_code code = share_all(t, TONIGHT, &count, st);
    /* The new names must be on the disk before the folder goes. Some file systems cannot do this.
     */
    if (code == BN_OK)
        (void)fsync(t->store_fd);
    return code;
}

bn_code night_folder_end(const night_folder *t, bn_status *st)
{
    /* Under its old name a half removed folder would look like a night that was killed. */
    const bool renamed = renameat(t->store_fd, TONIGHT, t->store_fd, ENDED) == 0;
    return drop_all(t, renamed ? ENDED : TONIGHT, st);
}

void night_folder_close(night_folder *t)
{
    if (t->store && t->store_fd >= 0)
        close(t->store_fd);
    *t = (night_folder){0};
}
