/*
 * identity.c - which file a plugin was loaded from: its digest, and whether its path still names
 * that file.
 *
 * A build may replace a plugin at any moment, or the folder that it is in. So the file is hashed
 * before it is loaded, and checked again after. What was loaded is what was hashed if the loader
 * mapped the file that was hashed, and its path names that file, unchanged, both times. Loading
 * /proc/self/fd/N would need no second look. But a plugin then could not find the libraries next to
 * it, which it names by $ORIGIN.
 *
 * Which file is mapped, /proc/self/maps says (proc_pid_maps(5)). Of a file on an overlay Linux 6.18
 * says there what stat says; older kernels name the device and inode of a layer. So the file is
 * mapped when it is hashed, too, and what maps says of both mappings is compared.
 *
 * Where another process does the loading, a framework under the recorder, only the looks before and
 * after are possible. That process may load the file at any moment between, so the second look is
 * strict.
 */
#define _GNU_SOURCE
#include "runtime/pjrt/pjrt_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the file that NOW describes is the one at PATH that IDENTITY was taken of. A file that
 * was moved away and back has another time of change, and STRICT refuses it: it is unknown what was
 * loaded meanwhile. But so has one that got another name or other rights. */
static bool same_file(const char *path, const struct stat *now, const rt_identity *identity,
                      bool strict)
{
    rt_identity again;
    return bn_untouched(now, &identity->file) ||
           (!strict && bn_same_contents(now, &identity->file) &&
            rt_identity_take(path, &again, NULL) == BN_OK &&
            strcmp(again.sha256, identity->sha256) == 0);
}

/* Device and inode, by /proc/self/maps, of the file mapped at ADDRESS, "08:01 1234"; "" for none.
 */
static bn_code mapped_file(const void *address, char file[RT_MAPPED_TEXT], bn_status *st)
{
    const uintptr_t wanted = (uintptr_t)address;
    char *line = NULL;
    size_t capacity = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    file[0] = '\0';
    if (!maps)
        return bn_fail_errno(st, errno, "/proc/self/maps, which says what was loaded");
    while (file[0] == '\0' && getline(&line, &capacity, maps) > 0) {
        uintptr_t begin, end;
        char device[24], inode[24];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %23s %23s", &begin, &end, device,
                   inode) == 4 &&
            begin <= wanted && wanted < end && strcmp(inode, "0") != 0)
            snprintf(file, RT_MAPPED_TEXT, "%s %s", device, inode);
    }
    free(line);
    fclose(maps);
    return BN_OK;
}

/* The same of a mapping of FD, the file at PATH. */
static bn_code take_mapped(int fd, const char *path, char file[RT_MAPPED_TEXT], bn_status *st)
{
    void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return bn_fail_errno(st, errno, "%s: mapping it", path);
    bn_code code = mapped_file(at, file, st);
    munmap(at, 1);
    return code;
}

/* dlopen's own message for a text file or a core dump is of little help. */
static bn_code check_shared_object(int fd, const char *path, bn_status *st)
{
    static const unsigned char magic[4] = {0x7F, 'E', 'L', 'F'};
    unsigned char start[4] = {0};
    if (pread(fd, start, sizeof start, 0) != sizeof start ||
        memcmp(start, magic, sizeof magic) != 0)
        return bn_fail(st, BN_PLUGIN, "%s: not a shared object", path);
    return BN_OK;
}

/* Opens the shared object at PATH. A folder is a wrong word of the user. */
static bn_code open_plugin(const char *path, int *fd, struct stat *info, bn_status *st)
{
    bn_code code = bn_open_at(AT_FDCWD, path, 0, fd, info, st);
    if (code != BN_OK)
        return code;
    if (!S_ISREG(info->st_mode))
        code = bn_fail(st, BN_INVALID, "%s: %s, not a plugin", path,
                       S_ISDIR(info->st_mode) ? "a folder" : "not a file");
    else
        code = check_shared_object(*fd, path, st);
    if (code != BN_OK)
        close(*fd);
    return code;
}

bn_code rt_plugin_probe(const char *path, bn_status *st)
{
    struct stat info;
    int fd;
    bn_code code = open_plugin(path, &fd, &info, st);
    if (code == BN_OK)
        close(fd);
    return code;
}

bn_code rt_identity_take(const char *path, rt_identity *identity, bn_status *st)
{
    int fd;
    bn_code code = open_plugin(path, &fd, &identity->file, st);
    if (code != BN_OK)
        return code;
    code = bn_descriptor_sha256(fd, path, identity->sha256, st);
    if (code == BN_OK)
        code = take_mapped(fd, path, identity->mapped, st);
    close(fd);
    return code;
}

bn_code rt_identity_check_loaded(const char *path, void *library, const rt_identity *identity,
                                 bn_status *st)
{
    struct link_map *loaded = NULL;
    char file[RT_MAPPED_TEXT] = "";
    /* The dynamic section lies in the library's own file. GetPjrtApi need not: a plugin may be a
     * thin one that is linked with the rest. */
    bn_code code = dlinfo(library, RTLD_DI_LINKMAP, &loaded) == 0
                       ? mapped_file(loaded->l_ld, file, st)
                       : bn_fail(st, BN_PLUGIN, "%s: the loader does not say what it loaded", path);
    if (code != BN_OK || (file[0] && strcmp(file, identity->mapped) == 0))
        return code;
    return bn_fail(st, BN_CHANGED, "%s: the plugin's file was replaced while it was loaded", path);
}

bn_code rt_identity_check(const char *path, const rt_identity *identity, bool strict, bn_status *st)
{
    struct stat now;
    const bool there = stat(path, &now) == 0;
    if (!there && errno != ENOENT)
        return bn_fail_errno(st, errno, "%s", path);
    if (there && same_file(path, &now, identity, strict))
        return BN_OK;
    return bn_fail(st, BN_CHANGED, "%s: the plugin's file was %s while it was in use", path,
                   there ? "replaced or changed" : "removed");
}

/* ---- a file that another process loads ------------------------------------ */

struct rt_plugin_file {
    rt_identity identity;
    char path[];
};

bn_code rt_plugin_file_take(const char *path, rt_plugin_file **file, bn_status *st)
{
    const size_t size = strlen(path) + 1;
    rt_plugin_file *taken = bn_zalloc(1, sizeof *taken + size);
    *file = NULL;
    memcpy(taken->path, path, size);
    bn_code code = rt_identity_take(path, &taken->identity, st);
    if (code == BN_OK)
        *file = taken;
    else
        free(taken);
    return code;
}

void rt_plugin_file_free(rt_plugin_file *file)
{
    free(file);
}

const char *rt_plugin_file_sha256(const rt_plugin_file *file)
{
    return file->identity.sha256;
}

bn_code rt_plugin_file_check(const rt_plugin_file *file, bn_status *st)
{
    return rt_identity_check(file->path, &file->identity, true, st);
}

bn_code rt_plugin_file_check_since(const rt_plugin_file *file, uint64_t epoch_ns, bn_status *st)
{
    /* A rename changes this time, too, and nobody can set it back. */
    const struct timespec *at = &file->identity.file.st_ctim;
    const uint64_t changed_ns = (uint64_t)at->tv_sec * 1000000000 + (uint64_t)at->tv_nsec;
    if (changed_ns < epoch_ns)
        return rt_plugin_file_check(file, st);
    return bn_fail(st, BN_CHANGED,
                   "%s: the plugin's file was replaced or changed while it was in "
                   "use",
                   file->path);
}
