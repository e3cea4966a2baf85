/*
 * strays.c - processes that a worker started and that left its process group.
 *
 * We are the subreaper of our workers, so such a process becomes our child when its parent ends.
 * But we may have other children: those of the shell that we replaced by exec, and our own. So each
 * worker gets a mark in its environment, which all that it starts inherit, and only processes with
 * the mark are ended. A process that clears its environment escapes this.
 *
 * SIGKILL may end us before the sweep. The kernel then ends the worker, but not the processes that
 * the worker started: the worker cannot do it, since the signal of its parent's death is SIGKILL,
 * too, and with a signal that can be caught a plugin could keep it alive. So each worker has a
 * watcher, a fork of ours that sleeps until its pipe says that we are gone, and then searches all
 * processes for the mark.
 */
#define _GNU_SOURCE
#include "harness/jobs/ending_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK         "BENCH_WORKER_OF"
#define WATCHER      "bench-watch" /* the name of its process */
#define WATCH_ROUNDS 400           /* of JOB_SWEEP_MS, once bench has died */
#define QUIET_ROUNDS 3 /* in a row that find none: a process in execve has no environment yet */

void job_strays_mark(job_strays *s)
{
    static unsigned last;
    /* Another namespace may have a bench with the same number, whose processes we see. */
    snprintf(s->mark, sizeof s->mark, MARK "=%ld-%u-%llx", (long)getpid(), ++last,
             (unsigned long long)bn_now_ns());
    (void)setenv(MARK, s->mark + sizeof MARK, 1);
}

/* Whether process PID was started with the variable WANTED, "NAME=VALUE". */
static bool has_variable(long pid, const char *wanted)
{
    char path[64], *entry = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    FILE *f = fopen(path, "re");
    while (f && !found && getdelim(&entry, &room, '\0', f) > 0)
        found = strcmp(entry, wanted) == 0;
    free(entry);
    if (f)
        fclose(f);
    return found;
}

/* Whether process PID has no memory of its own now: it begins another program, is dying, or is a
 * zombie. Its environment is then empty and says nothing. */
static bool has_no_memory(long pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
    FILE *f = fopen(path, "re");
    const bool empty = f && fgetc(f) == EOF;
    if (f)
        fclose(f);
    return empty;
}

/* Searches our children once: ends those that have the variable WANTED, and reaps all that have
 * ended but KEPT. Other code that waits for one finds it gone, without loss. True: search again. */
static bool end_marked(const char *wanted, pid_t kept)
{
    char path[64];
    long pid;
    bool again = false;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%ld", &pid) == 1) {
        if (pid == kept)
            continue;
        const bool marked = has_variable(pid, wanted);
        if (marked)
            kill((pid_t)pid, SIGKILL);
        /* Without memory it is a zombie, or will have its environment in a moment. */
        if (marked || has_no_memory(pid))
            again = waitpid((pid_t)pid, NULL, WNOHANG) >= 0 || again;
    }
    if (list)
        fclose(list);
    return again;
}

void job_strays_sweep(const job_strays *s, pid_t kept, int rounds)
{
    /* A process takes a moment to end, and may leave us its children. */
    while (end_marked(s->mark, kept) && --rounds > 0)
        poll(NULL, 0, JOB_SWEEP_MS);
}

/* ---- the watcher -------------------------------------------------------------------- */

/* Searches all processes of the machine once: ends those that have the variable WANTED. True: there
 * was one. */
static bool end_anywhere(const char *wanted)
{
    DIR *list = opendir("/proc");
    bool some = false;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        const long pid = strtol(entry->d_name, NULL, 10);
        /* They are not our children, so a pid may belong to another process by now: hold it by a
         * pidfd. */
        const int process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
        if (process < 0)
            continue;
        if (has_variable(pid, wanted))
            some = syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) == 0 || some;
        close(process);
    }
    if (list)
        closedir(list);
    return some;
}

/* The watcher's side of fork; it never returns. LIFELINE is a pipe, of which the first end reads:
 * it ends when all that hold the other one are gone; a byte means that nothing is left to do. */
static void watch(const int lifeline[2], const char *wanted)
{
    sigset_t all;
    char byte;
    ssize_t n;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* Signals to our group or session are not for the watcher. */
    setsid();
    prctl(PR_SET_NAME, WATCHER, 0L, 0L, 0L);
    /* The watcher must keep neither the pipe's other end nor the user's standard output open. */
    if (dup2(lifeline[0], 0) < 0 || close_range(1, ~0u, 0) != 0)
        _exit(1);
    while ((n = read(0, &byte, 1)) < 0 && errno == EINTR)
        ;
    for (int round = 0, quiet = 0; n == 0 && round < WATCH_ROUNDS && quiet < QUIET_ROUNDS;
         round++) {
        quiet = end_anywhere(wanted) ? 0 : quiet + 1;
        poll(NULL, 0, JOB_SWEEP_MS);
    }
    _exit(0);
}

void job_strays_watch(job_strays *s)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    s->watcher = fork();
    if (s->watcher == 0)
        watch(ends, s->mark);
    close(ends[0]);
    if (s->watcher < 0)
        close(ends[1]);
    else
        s->lifeline = ends[1];
}

void job_strays_end(job_strays *s)
{
    if (s->lifeline < 0)
        return;
    (void)!write(s->lifeline, "e", 1); /* fails where the watcher was ended */
    close(s->lifeline);
    s->lifeline = -1;
    while (s->watcher > 0 && waitpid(s->watcher, NULL, 0) < 0 && errno == EINTR)
        ;
}
