/*
 * process.c - short processes of a front end's Python, with limits of memory and time: their input
 * may be foreign, and a framework's libraries may crash on it or hang.
 */
#define _GNU_SOURCE
#include "harness/frontends/frontends_priv.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_MEMORY ((rlim_t)16 << 30) /* addresses */

/* ---- its files ------------------------------------------------------------------------------- */

static FILE *open_file(const char *name)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

bn_code frontend_process_open(frontend_process *p, const void *input, size_t size, bn_status *st)
{
    p->input = open_file("input");
    p->output = open_file("output");
    p->errors = open_file("errors");
    if (!p->input || !p->output || !p->errors)
        return bn_fail_errno(st, errno, "files in memory for %s", p->what);
    if (size > 0 && (fwrite(input, 1, size, p->input) != size || fflush(p->input) != 0))
        return bn_fail_errno(st, errno, "a file in memory for %s", p->what);
    rewind(p->input);
    return BN_OK;
}

void frontend_process_close(frontend_process *p)
{
    FILE *const files[] = {p->input, p->output, p->errors};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i])
            fclose(files[i]);
    p->input = p->output = p->errors = NULL;
}

/* ---- its life -------------------------------------------------------------------------------- */

/* Lowers a limit to MOST; one that is lower already stays. */
static bool limit(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return false;
    now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
    now.rlim_cur = now.rlim_cur < now.rlim_max ? now.rlim_cur : now.rlim_max;
    return setrlimit(resource, &now) == 0;
}

/* The process' side of fork; it never returns. */
static void start(const frontend_process *p, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    if (getppid() != parent || dup2(fileno(p->input), STDIN_FILENO) < 0 ||
        dup2(fileno(p->output), STDOUT_FILENO) < 0 || dup2(fileno(p->errors), STDERR_FILENO) < 0)
        _exit(FRONTEND_NOT_STARTED);
    close_range(3, ~0u, 0);
    signal(SIGXFSZ, SIG_DFL);
    if (limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, (rlim_t)p->seconds) &&
        limit(RLIMIT_AS, MOST_MEMORY) && limit(RLIMIT_FSIZE, p->most))
        execvp(p->words[0], (char *const *)p->words);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(FRONTEND_NOT_STARTED);
}

/* Whether process PID ends in SECONDS; where it does not, it is killed. */
static bool ends_in_time(pid_t pid, int seconds)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    const uint64_t limit_ns = bn_now_ns() + (uint64_t)seconds * UINT64_C(1000000000);
    int ready = 0;
    for (uint64_t now = bn_now_ns(); end.fd >= 0 && ready <= 0 && now < limit_ns; now = bn_now_ns())
        ready = poll(&end, 1, (int)((limit_ns - now) / 1000000) + 1);
    if (end.fd >= 0)
        close(end.fd);
    if (ready <= 0)
        kill(pid, SIGKILL);
    return ready > 0;
}

bn_code frontend_process_run(const frontend_process *p, int *status, bn_status *st)
{
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return bn_fail_errno(st, errno, "starting %s", p->words[0]);
    if (pid == 0)
        start(p, parent);
    const bool in_time = ends_in_time(pid, p->seconds);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return bn_fail_errno(st, errno, "waiting for %s", p->words[0]);
    return in_time ? BN_OK
                   : bn_fail(st, BN_TIMEOUT, "%s took more than %d seconds", p->what, p->seconds);
}

/* ---- its output ------------------------------------------------------------------------------ */

bn_code frontend_process_text(const frontend_process *p, char **text, size_t *length, bn_status *st)
{
    struct stat info;
    const int fd = fileno(p->output);
    if (fstat(fd, &info) != 0 || lseek(fd, 0, SEEK_SET) < 0)
        return bn_fail_errno(st, errno, "the text of %s", p->what);
    if ((size_t)info.st_size >= p->most)
        return bn_fail(st, BN_FORMAT, "its text has more than %zu bytes", p->most - 1);
    *length = (size_t)info.st_size;
    return bn_regular_all(fd, p->what, *length, text, st);
}
