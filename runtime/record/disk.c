/*
 * disk.c - what a file system, and the system, promise of a file.
 */
#include "runtime/record/record_priv.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

bool record_disk_allows(uint64_t bytes)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
           bytes <= most.rlim_cur;
}

bool record_disk_promises(int fd)
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
