/*
 * night_folder.c - a night's records wait in a folder of their own, and all become the store's at
 * once, as far as a file system can do that: each gets a second name in the store, and the folder
 * goes only when all else is done. So a night that is killed loses nothing, and measures nothing
 * twice.
 */
#define _GNU_SOURCE
#include "harness/campaign/night_folder_priv.h"
#include "results/records/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_record(const char *name)
{
    return res_store_file_of(name) == RES_STORE_RECORD;
}

static bool same_file(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static bn_code share_one(const char *from, const char *to, bn_status *st)
{
    if (link(from, to) == 0 || (errno == EEXIST && same_file(from, to)))
        return BN_OK;
    if (errno == EEXIST)
        return bn_fail(st, BN_IO, "%s is there already and is not %s: remove one of them", to,
                       from);
    /* On a file system without second names. */
    if ((errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK) &&
        rename(from, to) == 0)
        return BN_OK;
    return bn_fail_errno(st, errno, "moving %s to the store", from);
}

/* Gives each record of FOLDER a name in the store; *COUNT of them. */
static bn_code share(const char *folder, const char *store, size_t *count, bn_status *st)
{
    DIR *list = opendir(folder);
    bn_code code = BN_OK;
    if (!list)
        return bn_fail_errno(st, errno, "%s", folder);
    for (const struct dirent *entry; code == BN_OK && (entry = readdir(list));) {
        bn_text from = {0}, to = {0};
        if (!is_record(entry->d_name))
            continue;
        bn_text_printf(&from, "%s/%s", folder, entry->d_name);
        bn_text_printf(&to, "%s/%s", store, entry->d_name);
        code = from.failed || to.failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a file name")
                                        : share_one(from.data, to.data, st);
        bn_text_free(&from);
        bn_text_free(&to);
        ++*count;
    }
    closedir(list);
    return code;
}

/* Removes what a suite writes into FOLDER, and then FOLDER itself unless it holds other files. */
static bn_code drop(const char *folder, bn_status *st)
{
    DIR *list = opendir(folder);
    bn_code code = BN_OK;
    if (!list)
        return bn_fail_errno(st, errno, "%s", folder);
    for (const struct dirent *entry; code == BN_OK && (entry = readdir(list));) {
        const char *name = entry->d_name;
        /* The workers are gone: nobody writes a temporary file any more. */
        if (res_store_file_of(name) != RES_STORE_OTHER && unlinkat(dirfd(list), name, 0) != 0 &&
            errno != ENOENT)
            code = bn_fail_errno(st, errno, "%s/%s", folder, name);
    }
    closedir(list);
    if (code == BN_OK && rmdir(folder) != 0 && errno != ENOTEMPTY && errno != EEXIST)
        code = bn_fail_errno(st, errno, "%s", folder);
    return code;
}

/* Seconds since 1970 of the newest record in FOLDER; NaN where there is none with a time. */
static double newest_of(const char *folder)
{
    double newest = (double)NAN;
    DIR *list = opendir(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (is_record(entry->d_name))
            newest = fmax(newest, res_id_time(entry->d_name));
    if (list)
        closedir(list);
    return newest;
}

/* Shares the controls in FOLDER, if there are any. */
static bn_code share_controls(const night_folder *t, const char *folder, bn_status *st)
{
    size_t count = 0;
    if (access(folder, F_OK) != 0)
        return BN_OK;
    bn_code code = bn_make_folder(t->kept, st);
    return code == BN_OK ? share(folder, t->kept, &count, st) : code;
}

static void name_controls(const char *folder, char name[4160])
{
    snprintf(name, 4160, "%s/controls", folder);
}

/* Removes FOLDER with its controls. */
static bn_code drop_all(const char *folder, bn_status *st)
{
    char controls[4160];
    name_controls(folder, controls);
    bn_code code = access(controls, F_OK) == 0 ? drop(controls, st) : BN_OK;
    return code == BN_OK ? drop(folder, st) : code;
}

/* Moves the records in FOLDER to the store and removes FOLDER, if it exists. */
static bn_code put_away(const night_folder *t, const char *folder, size_t *count, bn_status *st)
{
    char controls[4160];
    if (access(folder, F_OK) != 0)
        return BN_OK;
    name_controls(folder, controls);
    bn_code code = share(folder, t->store, count, st);
    if (code == BN_OK)
        code = share_controls(t, controls, st);
    return code == BN_OK ? drop_all(folder, st) : code;
}

/* Locks the store, unless its file system has no locks. */
static bn_code hold(night_folder *t, bn_status *st)
{
    const int fd = open(t->store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return bn_fail_errno(st, errno, "store %s", t->store);
    t->lock = fd + 1;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return bn_fail(st, BN_IO, "store %s: another bench nightly is at work here", t->store);
    return BN_OK;
}

bn_code night_folder_begin(night_folder *t, const char *store, double night_hours, bn_status *st)
{
    size_t count = 0;
    t->store = store;
    snprintf(t->folder, sizeof t->folder, "%s/tonight", store);
    snprintf(t->ended, sizeof t->ended, "%s/tonight.ended", store);
    name_controls(t->folder, t->controls);
    name_controls(store, t->kept);
    bn_code code = bn_make_folder(store, st);
    if (code != BN_OK)
        return bn_context(st, "store");
    code = hold(t, st);
    if (code == BN_OK)
        code = put_away(t, t->ended, &count, st);
    count = 0;
    if (code == BN_OK && (double)time(NULL) - newest_of(t->folder) > night_hours * 3600)
        code = put_away(t, t->folder, &count, st);
    if (count > 0)
        fprintf(stderr,
                "bench: %zu records of an earlier night, which did not end, went to the store "
                "as they are\n",
                count);
    return code;
}

bn_code night_folder_share(const night_folder *t, bn_status *st)
{
    size_t count = 0;
    bn_code code = share(t->folder, t->store, &count, st);
    if (code == BN_OK)
        code = share_controls(t, t->controls, st);
    /* The new names must be on the disk before the folder goes. Some file systems cannot do this.
     */
    if (code == BN_OK)
        (void)fsync(t->lock - 1);
    return code;
}

bn_code night_folder_end(const night_folder *t, bn_status *st)
{
    /* Under its old name a half removed folder would look like a night that was killed. */
    if (rename(t->folder, t->ended) == 0)
        return drop_all(t->ended, st);
    return drop_all(t->folder, st);
}

void night_folder_close(night_folder *t)
{
    if (t->lock > 0)
        close(t->lock - 1);
    *t = (night_folder){0};
}
