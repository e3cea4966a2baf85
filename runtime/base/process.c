/*
 * process.c - whether the process is gone that wrote a file and put its number into the file's
 * name.
 *
 * That some process has the number says little: there are often 32,768 of them, each is given again
 * in time, and after a boot they begin anew. But who started after a file was last written did not
 * write it. /proc says when a process started (proc_pid_stat(5), field 22), in ticks of
 * CLOCK_BOOTTIME; a file's times are of CLOCK_REALTIME.
 *
 * Of the file's times we take the last writing, as everywhere where the age of such a file counts,
 * and not the last change: a link, a backup or a chown by others renew that one. Our writers never
 * set the time.
 */
#define _GNU_SOURCE
#include "runtime/base/base.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* By how many seconds a process must be younger than the file. A file server has a clock of its
 * own. And where our clock was set forward after the file was written, its writer seems to have
 * started later, by as much; nothing says how much that was. A file in doubt stays until the
 * process ends. What this cannot save is a file that is being written while the clock is set
 * forward by more and somebody sweeps: writing takes a moment, and folders that are used for long
 * are locked (harness/jobs/cache.c). */
#define DOUBT_S 60

/* Whether /proc is of the processes that we name by their numbers, and not of another container. */
static bool proc_is_ours(void)
{
    char self[32];
    const ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    return strtol(self, NULL, 10) == (long)getpid();
}

/* When process PID started, in ticks since the machine did; false where that is not to be seen. */
static bool start_ticks(long pid, unsigned long long *ticks)
{
    char path[64], text[1024], *end;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    /* Before it stands the program's name in brackets, with any characters; then spaces part the
     * fields. */
    const char *at = strrchr(text, ')');
    for (int field = 3; at && field <= 22; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    *ticks = strtoull(at + 1, &end, 10);
    return end > at + 1 && *end == ' ';
}

/* When process PID started, as the clock goes now, in seconds. */
static bool start_time(long pid, time_t *start_s)
{
    struct timespec now, since_boot;
    unsigned long long ticks;
    const long per_second = sysconf(_SC_CLK_TCK);
    if (per_second <= 0 || !proc_is_ours() || !start_ticks(pid, &ticks) ||
        clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    const unsigned long long at = ticks / (unsigned long long)per_second;
    /* Nobody starts after now: another clock than we think. */
    if (at > (unsigned long long)since_boot.tv_sec)
        return false;
    *start_s = now.tv_sec - (since_boot.tv_sec - (time_t)at);
    return true;
}

bool bn_writer_gone(long pid, const struct stat *info)
{
    time_t start_s;
    if (pid > INT_MAX)
        return true; /* no process has such a number */
    if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return true;
    return pid > 0 && start_time(pid, &start_s) && start_s - DOUBT_S > info->st_mtime;
}
