/*
 * place.c - a selftest's temporary folder, and programs that keep the cores busy.
 */
#define _GNU_SOURCE
#include "harness/selftest/selftest_priv.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a folder --------------------------------------------------------------------------- */

bn_code selftest_folder_make(const char *name, char path[SELFTEST_FOLDER], bn_status *st)
{
    const char *temporary = getenv("TMPDIR");
    const int length = snprintf(path, SELFTEST_FOLDER, "%s/bench-%s.XXXXXX",
                                temporary && *temporary ? temporary : "/tmp", name);
    if (length < 0 || length >= SELFTEST_FOLDER)
        return bn_fail(st, BN_INVALID, "the name of TMPDIR is too long");
    if (!mkdtemp(path))
        return bn_fail_errno(st, errno, "%s", path);
    return BN_OK;
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)what;
    (void)kind;
    (void)where;
    return remove(path);
}

void selftest_folder_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- a load -------------------------------------------------------------------------------- */

/* Never returns. It dies with bench, whatever ends that. */
static void keep_busy(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    for (volatile unsigned turns = 0; getppid() == parent; turns++)
        for (volatile unsigned i = 0; i < 1000000; i++)
            continue;
    _exit(0);
}

bn_code selftest_load_begin(selftest_load *load, size_t count, bn_status *st)
{
    const pid_t parent = getpid();
    load->count = 0;
    while (load->count < count) {
        const pid_t pid = fork();
        if (pid == 0)
            keep_busy(parent);
        if (pid < 0) {
            selftest_load_end(load);
            return bn_fail_errno(st, errno, "starting %zu busy loops", count);
        }
        load->pids[load->count++] = pid;
    }
    return BN_OK;
}

void selftest_load_end(selftest_load *load)
{
    for (size_t i = 0; i < load->count; i++) {
        kill(load->pids[i], SIGKILL);
        while (waitpid(load->pids[i], NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    load->count = 0;
}
