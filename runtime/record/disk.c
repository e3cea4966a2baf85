/*
 * disk.c - limits and guarantees for files, and files that are found again after the program closed
 * their descriptors.
 */
#include "runtime/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

bool record_disk_allows(uint64_t bytes)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
           bytes <= most.rlim_cur;
}

bool record_disk_maps_safely(int fd)
{
    struct statfs info;
    if (fstatfs(fd, &info) != 0)
        return false;
    switch ((unsigned long)info.f_type) {
    case EXT4_SUPER_MAGIC: /* ext2 and ext3, too */
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
        return true;
    default:
        return false;
    }
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static bool is_same(const record_opened *o, int fd)
{
    struct stat info;
    return fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == o->device && info.st_ino == o->inode;
}

int record_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return above;
}

bool record_opened_set(record_opened *o, int fd, const char *path, int flags)
{
    struct stat info;
    if (fd < 0)
        return false;
    atomic_store(&o->fd, fd);
    o->flags = flags;
    snprintf(o->path, sizeof o->path, "%s", path);
    if (fstat(fd, &info) != 0)
        return false;
    o->device = info.st_dev;
    o->inode = info.st_ino;
    return true;
}

int record_opened_get(record_opened *o)
{
    int fd = atomic_load(&o->fd);
    if (fd < 0 || is_same(o, fd))
        return fd;
    int reopened = record_above_standard(open(o->path, o->flags | O_NOFOLLOW | O_CLOEXEC));
    if (reopened >= 0 && is_same(o, reopened) &&
        atomic_compare_exchange_strong(&o->fd, &fd, reopened))
        return reopened;
    if (reopened >= 0)
        close(reopened);
    /* Another thread may have been faster: then FD is what it opened. */
    return is_same(o, fd) ? fd : -1;
}

void record_opened_close(record_opened *o)
{
    const int fd = atomic_exchange(&o->fd, -1);
    if (is_same(o, fd))
        close(fd);
}

bool record_opened_write(record_opened *o, const void *data, size_t size, uint64_t offset)
{
    const char *from = data;
    int fd = record_opened_get(o);
    /* The program may have lowered its limit meanwhile. */
    const int why = fd < 0 ? EBADF : record_disk_allows(offset + size) ? 0 : EFBIG;
    while (!why && size > 0) {
        ssize_t n = pwrite(fd, from, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    if (why)
        errno = why;
    return !why;
}
