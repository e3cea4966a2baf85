/*
 * file.c - whole files in and out, and folders.
 *
 * Boundary: POSIX calls only. The atomic write follows the usual recipe:
 * write and fsync a file next to the target, rename it over the target, fsync
 * the folder so that the rename itself survives a power cut.
 */
#define _GNU_SOURCE
#include "runtime/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Nobody writes one file for longer, in seconds. */
#define WRITING_S 600

static bn_code write_all(int fd, const char *path, const void *data, size_t size, bn_status *st)
{
    const char *bytes = data;
    while (size > 0) {
        ssize_t done = write(fd, bytes, size < SSIZE_MAX ? size : SSIZE_MAX);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return bn_fail_errno(st, errno, "%s", path);
        bytes += done;
        size -= (size_t)done;
    }
    return BN_OK;
}

/* A new file next to PATH, which is relative to FOLDER. Several machines may share the folder, so a
 * name that is taken is no error but a reason to try the next. */
static bn_code open_sibling(int folder, const char *path, mode_t mode, char *name, size_t name_size,
                            int *fd, bn_status *st)
{
    static atomic_uint serial;
    for (int attempt = 0; attempt < 100; attempt++) {
        int length = snprintf(name, name_size, "%s.%ld-%u.tmp", path, (long)getpid(),
                              atomic_fetch_add(&serial, 1));
        if (length < 0 || (size_t)length >= name_size)
            return bn_fail_errno(st, ENAMETOOLONG, "%s", path);
        *fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0)
            return BN_OK;
        if (errno != EEXIST)
            return bn_fail_errno(st, errno, "%s", path);
    }
    return bn_fail_errno(st, EEXIST, "%s", name);
}

/* Some file systems refuse to fsync a folder: the file is whole all the same,
 * so that refusal is not an error. */
static void sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(folder, sizeof folder, ".");
    else
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* The process in the name of a file so far, "NAME.PID-SERIAL.tmp" where NAME fits PATTERN; 0: it is
 * none. */
static long writer_of(const char *name, const char *pattern)
{
    char target[NAME_MAX + 1];
    static const char end[] = ".tmp";
    const size_t length = strlen(name), tail = sizeof end - 1;
    const char *at = name + length;
    if (length <= tail || strcmp(at - tail, end) != 0)
        return 0;
    at -= tail;
    const char *last = at;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (at == last || at == name || at[-1] != '-')
        return 0;
    last = --at;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (at >= last || at <= name || at[-1] != '.')
        return 0;
    snprintf(target, sizeof target, "%.*s", (int)(at - 1 - name), name);
    return fnmatch(pattern, target, 0) == 0 ? strtol(at, NULL, 10) : 0;
}

void bn_writers_sweep(int folder, const char *pattern)
{
    /* A process that we do not see may live on another machine that shares the folder. */
    const time_t limit = time(NULL) - WRITING_S;
    DIR *list = bn_folder_list(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        struct stat info;
        const long pid = writer_of(entry->d_name, pattern);
        if (pid > 0 && fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode) && info.st_mtime < limit && bn_writer_gone(pid, &info))
            unlinkat(folder, entry->d_name, 0);
    }
    if (list)
        closedir(list);
}

struct bn_writer {
    int fd, folder;                      /* what the names are relative to; not owned */
    char path[PATH_MAX], name[PATH_MAX]; /* of the target, and of the file so far */
};

bn_code bn_file_check_target(const char *path, bn_status *st)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return BN_OK;
    return bn_fail(st, BN_INVALID,
                   "%s is a device, a pipe or a socket, and no file can be put there", path);
}

static bn_code begin_in(int folder, const char *path, mode_t mode, bn_writer **writer,
                        bn_status *st)
{
    bn_writer *w = bn_alloc(sizeof *w);
    w->folder = folder;
    int length = snprintf(w->path, sizeof w->path, "%s", path);
    bn_code code = length < 0 || (size_t)length >= sizeof w->path
                       ? bn_fail_errno(st, ENAMETOOLONG, "%s", path)
                       : open_sibling(folder, path, mode, w->name, sizeof w->name, &w->fd, st);
    if (code != BN_OK) {
        free(w);
        return code;
    }
    *writer = w;
    return BN_OK;
}

bn_code bn_writer_begin(const char *path, bn_writer **writer, bn_status *st)
{
    /* The new file takes the name. Of root, even that of /dev/null. */
    bn_code code = bn_file_check_target(path, st);
    return code == BN_OK ? begin_in(AT_FDCWD, path, 0666, writer, st) : code;
}

bn_code bn_writer_add(bn_writer *w, const void *data, size_t size, bn_status *st)
{
    return write_all(w->fd, w->path, data, size, st);
}

/* Renames without replacing, in one call where the file system can. */
static int rename_to_new(int folder, const char *name, const char *path)
{
    struct stat info;
    if (renameat2(folder, name, folder, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (fstatat(folder, path, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(folder, name, folder, path);
}

bn_code bn_writer_finish(bn_writer *w, bool replace, bn_status *st)
{
    bn_code code = fsync(w->fd) == 0 ? BN_OK : bn_fail_errno(st, errno, "%s", w->path);
    int fd = w->fd;
    w->fd = -1;
    /* A network file system may report the failed write only here. */
    if (close(fd) != 0 && code == BN_OK)
        code = bn_fail_errno(st, errno, "%s", w->path);
    if (code == BN_OK && (replace ? renameat(w->folder, w->name, w->folder, w->path)
                                  : rename_to_new(w->folder, w->name, w->path)))
        code = bn_fail_errno(st, errno, "%s", w->path);
    if (code == BN_OK) {
        if (w->folder == AT_FDCWD)
            sync_folder_of(w->path);
        else
            fsync(w->folder);
        free(w);
    } else {
        bn_writer_drop(w);
    }
    return code;
}

void bn_writer_drop(bn_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    unlinkat(w->folder, w->name, 0);
    free(w);
}

static bn_code write_whole(int folder, const char *path, mode_t mode, const void *data, size_t size,
                           bn_status *st)
{
    bn_writer *w = NULL;
    bn_code code = begin_in(folder, path, mode, &w, st);
    if (code != BN_OK)
        return code;
    code = bn_writer_add(w, data, size, st);
    if (code == BN_OK)
        return bn_writer_finish(w, true, st);
    bn_writer_drop(w);
    return code;
}

bn_code bn_file_write_atomic(const char *path, const void *data, size_t size, bn_status *st)
{
    bn_code code = bn_file_check_target(path, st);
    return code == BN_OK ? write_whole(AT_FDCWD, path, 0666, data, size, st) : code;
}

bn_code bn_file_write_own(const char *path, const void *data, size_t size, bn_status *st)
{
    return write_whole(AT_FDCWD, path, 0644, data, size, st);
}

static bn_code make_one_folder(const char *path, bn_status *st)
{
    if (mkdir(path, 0777) == 0)
        return BN_OK;
    int error = errno;
    struct stat info;
    /* A read-only or automounted parent may answer with another error than
     * EEXIST for a folder that is there. */
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return BN_OK;
        error = ENOTDIR;
    }
    return bn_fail_errno(st, error, "%s", path);
}

const char *bn_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bn_code bn_make_folder(const char *path, bn_status *st)
{
    char prefix[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0)
        return bn_fail(st, BN_INVALID, "empty folder name");
    if (length >= sizeof prefix)
        return bn_fail_errno(st, ENAMETOOLONG, "%s", path);
    memcpy(prefix, path, length + 1);
    for (size_t i = 1; i < length; i++) {
        if (prefix[i] != '/' || prefix[i - 1] == '/')
            continue;
        prefix[i] = '\0';
        bn_code code = make_one_folder(prefix, st);
        if (code != BN_OK)
            return code;
        prefix[i] = '/';
    }
    return make_one_folder(path, st);
}

bn_code bn_no_links(const char *path, size_t from, bn_status *st)
{
    char prefix[PATH_MAX];
    struct stat info;
    const size_t length = strlen(path);
    if (length >= sizeof prefix)
        return bn_fail_errno(st, ENAMETOOLONG, "%s", path);
    memcpy(prefix, path, length + 1);
    for (size_t i = from + 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        prefix[i] = '\0';
        if (lstat(prefix, &info) == 0 && S_ISLNK(info.st_mode))
            return bn_fail(st, BN_INVALID, "%s is a link, and no folder of its own", prefix);
        prefix[i] = path[i];
    }
    return BN_OK;
}

/* ---- what only the user may write -------------------------------------------------------- */

/* Fails unless INFO, of a file or folder, belongs to us and nobody else may write it. */
static bn_code check_private(const struct stat *info, const char *path, bn_status *st)
{
    if (info->st_uid != geteuid())
        return bn_fail(st, BN_INVALID, "%s: belongs to another user, so its contents are not run",
                       path);
    if (info->st_mode & (S_IWGRP | S_IWOTH))
        return bn_fail(st, BN_INVALID,
                       "%s: others may write it, so its contents are not run; chmod go-w makes it "
                       "yours alone",
                       path);
    return BN_OK;
}

bn_code bn_private_folder(const char *path, int *fd, bn_status *st)
{
    struct stat info;
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    bn_code code = BN_OK;
    *fd = -1;
    if (mkdir(path, 0700) != 0 && errno == ENOENT && slash && slash != path) {
        if ((size_t)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path) >=
            sizeof parent)
            return bn_fail_errno(st, ENAMETOOLONG, "%s", path);
        code = bn_make_folder(parent, st);
        /* Errors of the folder itself are reported when it is opened. */
        if (code == BN_OK)
            (void)mkdir(path, 0700);
    }
    if (code != BN_OK)
        return code;
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return bn_fail_errno(st, errno, "%s", path);
    /* A link of one's own is one's own word. */
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid != 0 &&
        info.st_uid != geteuid())
        code = bn_fail(st, BN_INVALID, "%s: a link that another user made is not followed", path);
    else
        code = fstat(*fd, &info) == 0 ? check_private(&info, path, st)
                                      : bn_fail_errno(st, errno, "%s", path);
    if (code != BN_OK) {
        close(*fd);
        *fd = -1;
    }
    return code;
}

/* The regular file NAME of FOLDER; where PRIVATE it must be ours alone. */
static bn_code read_in(int folder, const char *name, bool private, char **data, size_t *size,
                       bn_status *st)
{
    struct stat info;
    int fd;
    bn_code code = bn_open_at(folder, name, O_NOFOLLOW, &fd, &info, st);
    if (code != BN_OK)
        return code;
    if (!S_ISREG(info.st_mode))
        code = bn_fail(st, BN_INVALID, "%s: not a file", name);
    else if (private)
        code = check_private(&info, name, st);
    *size = (size_t)info.st_size;
    if (code == BN_OK)
        code = bn_regular_all(fd, name, *size, data, st);
    close(fd);
    return code;
}

bn_code bn_private_read(int folder, const char *name, char **data, size_t *size, bn_status *st)
{
    return read_in(folder, name, true, data, size, st);
}

bn_code bn_private_write(int folder, const char *name, const void *data, size_t size, bn_status *st)
{
    return write_whole(folder, name, 0600, data, size, st);
}

/* ---- inside an open folder ------------------------------------------------------------------ */

DIR *bn_folder_list(int folder)
{
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = own < 0 ? NULL : fdopendir(own);
    if (!list && own >= 0)
        close(own);
    return list;
}

const struct dirent *bn_folder_next(DIR *list)
{
    errno = 0;
    return readdir(list);
}

bn_code bn_folder_in(int folder, const char *name, int *fd, bn_status *st)
{
    *fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd >= 0)
        return BN_OK;
    if (errno == ELOOP || errno == ENOTDIR)
        return bn_fail(st, BN_INVALID, "%s is no folder, or a link, which is not followed", name);
    return bn_fail_errno(st, errno, "%s", name);
}

bn_code bn_file_copy_in(int from, int to, const char *name, bn_status *st)
{
    char *data = NULL;
    size_t size = 0;
    bn_code code = read_in(from, name, false, &data, &size, st);
    if (code == BN_OK)
        code = write_whole(to, name, 0666, data, size, st);
    free(data);
    return code;
}
