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

/* Whether process PID has ended and waits for its parent, which is us. */
static bool is_zombie(long pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    /* PID (NAME) STATE ..., and a name may hold anything. */
    const char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f)
        fclose(f);
    return end && end[1] == ' ' && end[2] == 'Z';
}

/* Processes that a sweep has killed. One that is dying has no environment any more, and is no
 * zombie yet: by its number alone it is known. */
typedef struct killed {
    long pid[64];
    size_t count;
} killed;

static bool is_among(const killed *k, long pid)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->pid[i] == pid)
            return true;
    return false;
}

/* One look at our children. A zombie has no environment any more, so all of them are reaped but
 * KEPT. Who else waits for one finds it gone, and loses nothing. */
static bool end_marked(const char *wanted, pid_t kept, killed *k)
{
    char path[64];
    long pid;
    bool any = false;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%ld", &pid) == 1) {
        const bool marked = pid != kept && (has_variable(pid, wanted) || is_among(k, pid));
        if (marked)
            kill((pid_t)pid, SIGKILL);
        if (marked && !is_among(k, pid) && k->count < sizeof k->pid / sizeof *k->pid)
            k->pid[k->count++] = pid;
        if (marked || (pid != kept && is_zombie(pid)))
            any = waitpid((pid_t)pid, NULL, WNOHANG) >= 0 || any;
    }
    if (list)
        fclose(list);
    return any;
}

void job_strays_sweep(unsigned mark, pid_t kept, int rounds)
{
    char wanted[80];
    killed k = {.count = 0};
    snprintf(wanted, sizeof wanted, MARK "=%ld-%u", (long)getpid(), mark);
    /* Ending one takes a moment, and may leave us its children. */
    while (end_marked(wanted, kept, &k) && --rounds > 0)
        poll(NULL, 0, 5);
}
