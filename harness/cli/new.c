/*
 * new.c - files that a command writes must be new, unless --force is given.
 */
#include "harness/cli/cli.h"

#include <sys/stat.h>

bn_code cli_check_new(const cli_output *output, const char *option, const char *path, bn_status *st)
{
    struct stat info;
    if (!path)
        return BN_OK;
    if (bn_file_check_target(path, st) != BN_OK)
        return bn_context(st, "%s", option);
    if (output->force || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return BN_OK;
    return bn_fail(st, BN_INVALID, "%s: %s is there already: choose another file, or --force",
                   option, path);
}
