/*
 * strays.c - processes that a worker started and that left its process group.
 *
 * We are the subreaper of our workers, so such a process becomes our child when its parent ends.
 * But we may have other children: those of the shell whose place we took by exec, and our own. So
 * each worker gets a mark in its environment, which all that it starts inherit, and only who has
 * the mark is ended. A process that clears its environment hides from this.
 */
#define _GNU_SOURCE
#include "harness/jobs/ending_priv.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "BENCH_WORKER_OF"

unsigned job_strays_mark(void)
{
    static unsigned last;
    char text[48];
    snprintf(text, sizeof text, "%ld-%u", (long)getpid(), ++last);
    /* Without memory for it, strays stay. */
    (void)setenv(MARK, text, 1);
    return last;
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
 * zombie. Its environment reads as empty then, and says nothing. */
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

/* One look at our children: ends those that have the variable WANTED, and reaps all that have
 * ended but KEPT. Who else waits for one finds it gone, and loses nothing. True: look again. */
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
        /* Without memory it is a zombie, or will tell in a moment what it is. */
        if (marked || has_no_memory(pid))
            again = waitpid((pid_t)pid, NULL, WNOHANG) >= 0 || again;
    }
    if (list)
        fclose(list);
    return again;
}

void job_strays_sweep(unsigned mark, pid_t kept, int rounds)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, MARK "=%ld-%u", (long)getpid(), mark);
    /* Ending one takes a moment, and may leave us its children. */
    while (end_marked(wanted, kept) && --rounds > 0)
        poll(NULL, 0, 5);
}
