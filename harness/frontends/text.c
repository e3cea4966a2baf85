/*
 * text.c - programs that are no text as StableHLO text. Their forms are the libraries' own, which
 * come with JAX.
 */
#define _GNU_SOURCE
#include "harness/frontends/frontends.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCRIPT       "program_text.py"
#define MOST_SECONDS 120
#define MOST_MEMORY  ((rlim_t)16 << 30) /* addresses */

/* Exit codes: the script's, and that of a script that was not started. */
#define NOT_INSTALLED 3
#define NOT_STARTED   127

typedef struct reader {
    const frontend_info *row;
    frontend_place place;
    size_t most;                       /* bytes of the text */
    FILE *program, *text, *complaints; /* its standard input, output and error */
} reader;

/* ---- the process ----------------------------------------------------------------------------- */

/* At most MOST, or what is allowed already where that is less. */
static bool limit(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return false;
    now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
    now.rlim_cur = now.rlim_cur < now.rlim_max ? now.rlim_cur : now.rlim_max;
    return setrlimit(resource, &now) == 0;
}

/* The script's side of fork; it never returns. */
static void run_script(const reader *r, pid_t parent)
{
    const char *words[] = {r->place.python, r->place.script, NULL};
    prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    if (getppid() != parent || dup2(fileno(r->program), STDIN_FILENO) < 0 ||
        dup2(fileno(r->text), STDOUT_FILENO) < 0 || dup2(fileno(r->complaints), STDERR_FILENO) < 0)
        _exit(NOT_STARTED);
    close_range(3, ~0u, 0);
    if (limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, MOST_SECONDS) && limit(RLIMIT_AS, MOST_MEMORY) &&
        limit(RLIMIT_FSIZE, r->most))
        execvp(words[0], (char *const *)words);
    dprintf(STDERR_FILENO, "%s\n", strerror(errno));
    _exit(NOT_STARTED);
}

/* Whether process PID ends in time; where it does not, it is killed. */
static bool ends_in_time(pid_t pid)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    const uint64_t limit_ns = bn_now_ns() + MOST_SECONDS * UINT64_C(1000000000);
    int ready = 0;
    for (uint64_t now = bn_now_ns(); end.fd >= 0 && ready <= 0 && now < limit_ns; now = bn_now_ns())
        ready = poll(&end, 1, (int)((limit_ns - now) / 1000000) + 1);
    if (end.fd >= 0)
        close(end.fd);
    if (ready <= 0)
        kill(pid, SIGKILL);
    return ready > 0;
}

static bn_code run(const reader *r, int *status, bn_status *st)
{
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return bn_fail_errno(st, errno, "starting %s", r->place.python);
    if (pid == 0)
        run_script(r, parent);
    const bool in_time = ends_in_time(pid);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return bn_fail_errno(st, errno, "waiting for %s", r->place.script);
    return in_time ? BN_OK
                   : bn_fail(st, BN_TIMEOUT, "%s took more than %d seconds", r->row->framework,
                             MOST_SECONDS);
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* The last line of its complaints that is not blank, cut to SIZE. */
static void last_complaint(const reader *r, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    snprintf(text, size, "it said nothing");
    rewind(r->complaints);
    while (getline(&line, &room, r->complaints) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t")])
            snprintf(text, size, "%.*s", (int)bn_utf8_fit(line, size - 1), line);
    }
    free(line);
}

static bn_code explain(const reader *r, int status, bn_status *st)
{
    char line[512], command[RES_TEXT + 40];
    if (WIFSIGNALED(status))
        return bn_fail(
            st, BN_FORMAT,
            "%s's reader was killed by signal %d: the program is damaged, or larger than "
            "it can read",
            r->row->framework, WTERMSIG(status));
    last_complaint(r, line, sizeof line);
    frontend_command(r->row, command, sizeof command);
    if (WEXITSTATUS(status) == NOT_INSTALLED)
        return bn_fail(st, BN_NOT_FOUND, "%s has %s; install %s with: %s", r->place.python, line,
                       r->row->framework, command);
    if (WEXITSTATUS(status) == NOT_STARTED)
        return bn_fail(st, BN_NOT_FOUND, "%s cannot be run: %s", r->place.python, line);
    return WEXITSTATUS(status) == 0
               ? BN_OK
               : bn_fail(st, BN_FORMAT, "%s cannot read it: %s", r->row->framework, line);
}

/* The text, where STATUS, with which the script ended, says that it is whole. */
static bn_code take_text(const reader *r, int status, char **text, size_t *length, bn_status *st)
{
    struct stat info;
    const int fd = fileno(r->text);
    if (fstat(fd, &info) != 0 || lseek(fd, 0, SEEK_SET) < 0)
        return bn_fail_errno(st, errno, "the text of a program");
    if ((size_t)info.st_size >= r->most)
        return bn_fail(st, BN_FORMAT, "its text has more than %zu bytes", r->most - 1);
    if (explain(r, status, st) != BN_OK)
        return st->code;
    *length = (size_t)info.st_size;
    return bn_regular_all(fd, "the text of a program", *length, text, st);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* In memory: no folder of temporary files is full then, and nobody else can open it. */
static FILE *open_file(const char *name)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

static bn_code open_files(reader *r, const void *code, size_t size, bn_status *st)
{
    r->program = open_file("program");
    r->text = open_file("text");
    r->complaints = open_file("complaints");
    if (!r->program || !r->text || !r->complaints)
        return bn_fail_errno(st, errno, "files in memory for a program");
    if (fwrite(code, 1, size, r->program) != size || fflush(r->program) != 0)
        return bn_fail_errno(st, errno, "a file in memory for a program");
    rewind(r->program);
    return BN_OK;
}

static void close_files(reader *r)
{
    FILE *const files[] = {r->program, r->text, r->complaints};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i])
            fclose(files[i]);
}

bn_code frontend_program_text(const void *code, size_t size, size_t most, char **text,
                              size_t *length, bn_status *st)
{
    reader r = {.row = frontend_named("jax"), .most = most + 1};
    int status = 0;
    *text = NULL;
    *length = 0;
    bn_code result = frontend_find(r.row, SCRIPT, &r.place, st);
    if (result == BN_OK)
        result = open_files(&r, code, size, st);
    if (result == BN_OK)
        result = run(&r, &status, st);
    if (result == BN_OK)
        result = take_text(&r, status, text, length, st);
    close_files(&r);
    return result;
}
