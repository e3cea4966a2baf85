/*
 * own_folder.c - files next to this program's own, where a build or an installation put it, and
 * who may put what there, or into another folder.
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

/* Root, the user, and whoever owns this program, could have the user run anything anyway. */
static bool known_owner(const struct stat *info, const struct stat *program)
{
    return info->st_uid == 0 || info->st_uid == geteuid() || info->st_uid == program->st_uid;
}

static bool others_may_write(const struct stat *info)
{
    return info->st_mode & (S_IWGRP | S_IWOTH);
}

/* A user who may write the program's own folder can replace the program, or, where the folder is
 * shared like /tmp, has only files of his own there. */
static bool is_own_folder(const char *path)
{
    struct stat info, own;
    char folder[PATH_MAX];
    bn_own_folder(folder, sizeof folder);
    return stat(path, &info) == 0 && stat(folder, &own) == 0 && own.st_dev == info.st_dev &&
           own.st_ino == info.st_ino;
}

/* PATH, of which INFO is, belongs to a stranger: it is as good as not there, but PASSED says that
 * it is. */
static bn_code pass_over(const char *path, const struct stat *info, bn_text *passed)
{
    char plain[PATH_MAX];
    /* The place of a link is at fault, not what it leads to. */
    const char *shown = !S_ISLNK(info->st_mode) && realpath(path, plain) ? plain : path;
    if (passed)
        bn_text_printf(passed, "%s%s belongs to another user", passed->length > 0 ? ", " : "",
                       shown);
    return BN_NOT_FOUND;
}

/* Whether nobody may write PATH, a file or folder, who could not have the user run anything anyway.
 */
static bn_code check_one(const char *path, const struct stat *program, bn_text *passed,
                         bn_status *st)
{
    struct stat info;
    char plain[PATH_MAX];
    if (stat(path, &info) != 0)
        return BN_NOT_FOUND;
    if (!known_owner(&info, program))
        return pass_over(path, &info, passed);
    if (others_may_write(&info))
        return bn_fail(st, BN_INVALID,
                       "%s: others may write it, so it is not run, nor what is in it; chmod go-w "
                       "makes it yours alone",
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
    /* A link belongs to whoever says where it leads. */
    if (!known_owner(&info, &program))
        return pass_over(path, &info, passed);
    if (is_own_folder(folder))
        return BN_OK;
    bn_code code = BN_OK;
    for (char *end = path + strlen(folder); code == BN_OK && end; end = strchr(end + 1, '/')) {
        *end = '\0';
        code = check_one(path, &program, passed, st);
        *end = '/';
    }
    return code == BN_OK && !S_ISLNK(info.st_mode) ? check_one(path, &program, passed, st) : code;
}

/* By whom, besides the user, a folder may be owned. */
typedef struct owners {
    struct stat program, top;
} owners;

static bool find_owners(owners *who)
{
    return stat("/proc/self/exe", &who->program) == 0 && stat("/", &who->top) == 0;
}

static bool names_hold(const struct stat *folder, const owners *who)
{
    if (others_may_write(folder) && !(folder->st_mode & S_ISVTX))
        return false;
    /* The owner of the top folder could rename all: where root has no number of its own, it has
     * that. */
    return known_owner(folder, &who->program) || folder->st_uid == who->top.st_uid;
}

bool bn_names_hold_in(const struct stat *folder)
{
    owners who;
    return find_owners(&who) && names_hold(folder, &who);
}

bool bn_names_hold(const char *folder, char whole[PATH_MAX])
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
    while (known && stat(*at ? at : "/", &info) == 0 && names_hold(&info, &who)) {
        char *slash = strrchr(at, '/');
        if (!slash)
            return true;
        *slash = '\0';
    }
    strcpy(whole, *at ? at : "/");
    return false;
}
