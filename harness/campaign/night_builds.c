/*
 * night_builds.c - copies of builds in a store's folder "builds", by their digests.
 */
#define _GNU_SOURCE
#include "harness/campaign/night_builds_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1 << 20)

/* ---- folders -------------------------------------------------------------------------- */

/* Only a digest may become a part of a path. */
static bool is_digest(const char *text)
{
    return strlen(text) == BN_SHA256_TEXT - 1 &&
           strspn(text, "0123456789abcdef") == BN_SHA256_TEXT - 1;
}

/* Checks that PATH is a folder of this user alone. */
static bn_code check_folder(const char *path, bn_status *st)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return bn_fail_errno(st, errno, "%s", path);
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0)
        return bn_fail(st, BN_INVALID, "%s is not a folder of this user alone", path);
    return BN_OK;
}

/* A user who may write STORE, or a folder above it, could replace our folders after a build was
 * checked and before it is loaded. */
static bn_code check_store(const char *store, bn_status *st)
{
    struct stat info;
    char whole[PATH_MAX];
    if (stat(store, &info) != 0)
        return bn_fail_errno(st, errno, "%s", store);
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return bn_fail(st, BN_INVALID, "builds are not kept in %s, which belongs to another user",
                       store);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return bn_fail(st, BN_INVALID,
                       "builds are not kept in %s, which others may write: chmod go-w %s", store,
                       store);
    if (!bn_path_protected(store, whole))
        return bn_fail(st, BN_INVALID, "builds are not kept in %s: others could rename files in %s",
                       store, whole);
    return BN_OK;
}

/* Fills in the names of STORE's folder of builds and of one build; all three are checked. MAKE
 * makes the two. */
static bn_code open_folder(const char *store, const char *sha256, bool make, bn_text *folder,
                           bn_status *st)
{
    bn_code code = BN_OK;
    if (!is_digest(sha256))
        return bn_fail(st, BN_NOT_FOUND, "the digest of the build is unknown");
    code = check_store(store, st);
    bn_text_printf(folder, "%s/builds", store);
    for (int i = 0; i < 2 && code == BN_OK; i++) {
        if (i == 1)
            bn_text_printf(folder, "/%s", sha256);
        code = make && mkdir(folder->data, 0700) != 0 && errno != EEXIST
                   ? bn_fail_errno(st, errno, "%s", folder->data)
                   : check_folder(folder->data, st);
    }
    return code;
}

/* The name of the one file in FOLDER, which NAME holds then; else "". */
static void only_file(const char *folder, char name[256])
{
    DIR *list = opendir(folder);
    size_t count = 0;
    name[0] = '\0';
    for (const struct dirent *e; list && (e = readdir(list));) {
        struct stat info;
        /* Copies on their way begin with a dot. */
        if (e->d_name[0] == '.' || fstatat(dirfd(list), e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        count += S_ISREG(info.st_mode) ? 1 : 2;
        snprintf(name, 256, "%s", e->d_name);
    }
    if (list)
        closedir(list);
    if (count != 1)
        name[0] = '\0';
}

/* ---- finding ------------------------------------------------------------------------------ */

bn_code night_build_find(const char *store, const char *sha256, char *path, size_t size,
                         bn_status *st)
{
    bn_text folder = {0};
    char name[256], digest[BN_SHA256_TEXT];
    bn_status why = {.code = BN_OK};
    bn_code code = open_folder(store, sha256, false, &folder, &why);
    if (code == BN_OK) {
        only_file(folder.data, name);
        const int length = snprintf(path, size, "%s/%s", folder.data, name);
        if (!name[0])
            code = BN_NOT_FOUND;
        else if (length < 0 || (size_t)length >= size)
            code = bn_fail(&why, BN_INVALID, "the name %s/%s is too long", folder.data, name);
        else
            code = bn_file_sha256(path, digest, &why);
        if (code == BN_OK && strcmp(digest, sha256) != 0)
            code = bn_fail(&why, BN_FORMAT, "the contents of %s have changed", path);
    }
    bn_text_free(&folder);
    if (code == BN_NOT_FOUND)
        return bn_fail(st, code, "the store no longer has it");
    return code == BN_OK ? BN_OK : bn_fail(st, code, "%s", why.message);
}

/* ---- removing ---------------------------------------------------------------------------- */

/* Removes the folder NAME in the folder INSIDE with the files in it. */
static bn_code remove_build(int inside, const char *name, bn_status *st)
{
    const int fd = openat(inside, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        if (fd >= 0)
            close(fd);
        return bn_fail_errno(st, errno, "%s", name);
    }
    for (const struct dirent *e; (e = readdir(list));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)unlinkat(fd, e->d_name, 0);
    closedir(list);
    return unlinkat(inside, name, AT_REMOVEDIR) == 0 ? BN_OK : bn_fail_errno(st, errno, "%s", name);
}

/* ---- keeping -------------------------------------------------------------------------------- */

/* Copies FILE to TO; readers see all of it or nothing. */
static bn_code copy_file(const char *file, const char *to, bn_status *st)
{
    static char piece[PIECE];
    bn_writer *writer = NULL;
    ssize_t got = 0;
    size_t size;
    int from;
    bn_code code = bn_regular_open(file, &from, &size, st);
    if (code != BN_OK)
        return code;
    code = bn_writer_begin(to, &writer, st);
    while (code == BN_OK && (got = read(from, piece, sizeof piece)) > 0)
        code = bn_writer_add(writer, piece, (size_t)got, st);
    if (code == BN_OK && got < 0)
        code = bn_fail_errno(st, errno, "%s", file);
    close(from);
    if (code == BN_OK)
        return bn_writer_finish(writer, true, st);
    bn_writer_drop(writer);
    return code;
}

bn_code night_build_keep(const char *store, const char *file, const char *sha256, bn_status *st)
{
    char path[4400], digest[BN_SHA256_TEXT];
    bn_text folder = {0};
    if (night_build_find(store, sha256, path, sizeof path, NULL) == BN_OK)
        return BN_OK;
    bn_code code = open_folder(store, sha256, true, &folder, st);
    /* The present one is damaged, or half of a copy that was killed. */
    if (code == BN_OK)
        code = remove_build(AT_FDCWD, folder.data, st);
    bn_text_clear(&folder);
    if (code == BN_OK)
        code = open_folder(store, sha256, true, &folder, st);
    if (code == BN_OK) {
        snprintf(path, sizeof path, "%s/%s", folder.data, bn_base_name(file));
        code = copy_file(file, path, st);
        if (code == BN_OK)
            code = bn_file_sha256(path, digest, st);
        if (code == BN_OK && strcmp(digest, sha256) != 0) {
            (void)unlink(path);
            code = bn_fail(st, BN_INVALID, "%s was replaced while the night began", file);
        }
    }
    bn_text_free(&folder);
    return code;
}

/* ---- dropping ------------------------------------------------------------------------------- */

static bool is_kept(const char *name, const char *const *keep, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, keep[i]) == 0)
            return true;
    return false;
}

bn_code night_builds_drop(const char *store, const char *const *keep, size_t count, bn_status *st)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/builds", store);
    DIR *list = opendir(path.data);
    bn_code code = BN_OK;
    if (!list) { /* there is none yet */
        bn_text_free(&path);
        return BN_OK;
    }
    code = check_store(store, st);
    if (code == BN_OK)
        code = check_folder(path.data, st);
    for (const struct dirent *e; code == BN_OK && (e = readdir(list));)
        if (is_digest(e->d_name) && !is_kept(e->d_name, keep, count))
            code = remove_build(dirfd(list), e->d_name, st);
    closedir(list);
    bn_text_free(&path);
    return code;
}
