/*
 * own_mounts.h - small file systems of a test's own, for what happens on a full disk. Whoever
 * includes it defines _GNU_SOURCE.
 */
#ifndef BENCH_TESTS_OWN_MOUNTS_H
#define BENCH_TESTS_OWN_MOUNTS_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static inline bool own_mounts_tell(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

/* Gives this process, which has one thread, a mount table of its own; without privileges, in a user
 * namespace in which the user is root. False where the system does not permit it. */
static inline bool own_mounts_enter(void)
{
    char users[40], groups[40];
    snprintf(users, sizeof users, "0 %u 1", (unsigned)getuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getgid());
    if (unshare(CLONE_NEWNS) != 0 && (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
                                      !own_mounts_tell("/proc/self/setgroups", "deny") ||
                                      !own_mounts_tell("/proc/self/uid_map", users) ||
                                      !own_mounts_tell("/proc/self/gid_map", groups)))
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

#endif
