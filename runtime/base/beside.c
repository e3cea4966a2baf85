/*
 * beside.c - what lies beside this program's file, where a build or an installation put it, and
 * whether it may be trusted.
 */
#include "runtime/base/base.h"

#include <limits.h>
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

bn_code bn_own_trust(const char *folder, bn_status *st)
{
    struct stat info, program;
    char plain[PATH_MAX];
    if (stat(folder, &info) != 0 || stat("/proc/self/exe", &program) != 0)
        return bn_fail(st, BN_NOT_FOUND, "%s: there is no such folder", folder);
    if (info.st_uid != 0 && info.st_uid != geteuid() && info.st_uid != program.st_uid)
        return bn_fail(st, BN_NOT_FOUND, "%s belongs to somebody else", folder);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return bn_fail(st, BN_INVALID,
                       "%s: others may write it, so nothing in it is run; chmod go-w makes it "
                       "yours alone",
                       realpath(folder, plain) ? plain : folder);
    return BN_OK;
}
