/*
 * own_files.c - files that a build or an installation put next to this program, and checks that no
 * other user can have replaced a file or folder.
 */
#include "runtime/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void bn_own_folder(char *folder, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    *(slash ? slash : folder) = '\0';
}

/* Root, the user and the program's owner are trusted: they could make the user run anything anyway.
 */
static bool is_trusted_owner(const struct stat *info, const struct stat *program)
{
    return info->st_uid == 0 || info->st_uid == geteuid() || info->st_uid == program->st_uid;
}

static bool others_may_write(const struct stat *info)
{
    return info->st_mode & (S_IWGRP | S_IWOTH);
}

/* Whether PATH is the program's own folder. Its writers are not checked: they can replace the
 * program itself, or, in a folder shared like /tmp, only their own files. */
static bool is_own_folder(const char *path)
{
    struct stat info, own;
    char folder[PATH_MAX];
    bn_own_folder(folder, sizeof folder);
    return stat(path, &info) == 0 && stat(folder, &own) == 0 && own.st_dev == info.st_dev &&
           own.st_ino == info.st_ino;
}

/* Treats PATH, which another user owns, as absent, and appends it to PASSED. */
static bn_code report_stranger(const char *path, const struct stat *info, bn_text *passed)
{
    char plain[PATH_MAX];
    /* A link is named itself, not its target. */
    const char *shown = !S_ISLNK(info->st_mode) && realpath(path, plain) ? plain : path;
    if (passed)
        bn_text_printf(passed, "%s%s belongs to another user", passed->length > 0 ? ", " : "",
                       shown);
    return BN_NOT_FOUND;
}

/* BN_OK where only trusted users own and may write PATH, a file or folder. */
static bn_code check_writers(const char *path, const struct stat *program, bn_text *passed,
                             bn_status *st)
{
    struct stat info;
    char plain[PATH_MAX];
    if (stat(path, &info) != 0)
        return BN_NOT_FOUND;
    if (!is_trusted_owner(&info, program))
        return report_stranger(path, &info, passed);
    if (others_may_write(&info))
        return bn_fail(
            st, BN_INVALID,
            "%s: other users may write it, so it is not run, nor what is in it; chmod go-w "
            "takes their permission away",
            realpath(path, plain) ? plain : path);
    return BN_OK;
}

bn_code bn_own_file(const char *folder, const char *file, bn_text *passed, bn_status *st)
{
    struct stat info, program;
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (length >= PATH_MAX || stat("/proc/self/exe", &program) != 0 || lstat(path, &info) != 0)
        return BN_NOT_FOUND;
    /* The owner of a link decides where it leads, so that owner counts. */
    if (!is_trusted_owner(&info, &program))
        return report_stranger(path, &info, passed);
    if (is_own_folder(folder))
        return BN_OK;
    bn_code code = BN_OK;
    for (char *end = path + strlen(folder); code == BN_OK && end; end = strchr(end + 1, '/')) {
        *end = '\0';
        code = check_writers(path, &program, passed, st);
        *end = '/';
    }
    return code == BN_OK && !S_ISLNK(info.st_mode) ? check_writers(path, &program, passed, st)
                                                   : code;
}

/* The program's file and the root folder: their owners are trusted, besides the user. */
typedef struct owners {
    struct stat program, top;
} owners;

static bool find_owners(owners *who)
{
    return stat("/proc/self/exe", &who->program) == 0 && stat("/", &who->top) == 0;
}

static bool is_protected(const struct stat *folder, const owners *who)
{
    if (others_may_write(folder) && !(folder->st_mode & S_ISVTX))
        return false;
    /* The owner of the root folder could rename everything anyway. In a container it may be another
     * number than 0. */
    return is_trusted_owner(folder, &who->program) || folder->st_uid == who->top.st_uid;
}

bool bn_folder_protected(const struct stat *folder)
{
    owners who;
    return find_owners(&who) && is_protected(folder, &who);
}

bool bn_path_protected(const char *folder, char whole[PATH_MAX])
{
    owners who;
    struct stat info;
    char at[PATH_MAX];
    if (!realpath(folder, whole)) {
        whole[0] = '\0';
        return false;
    }
    const bool known = find_owners(&who);
    strcpy(at, whole);
    while (known && stat(*at ? at : "/", &info) == 0 && is_protected(&info, &who)) {
        char *slash = strrchr(at, '/');
        if (!slash)
            return true;
        *slash = '\0';
    }
    strcpy(whole, *at ? at : "/");
    return false;
}
