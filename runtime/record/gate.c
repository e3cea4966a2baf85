/*
 * gate.c - which part of a run is recorded. While the gate is shut, only programs, devices and ends
 * of executables are written: they must be known when it opens.
 *
 * Where nobody asked for a part it stands open, and a call reads one flag. The clock and the signal
 * are looked at where an execution or a mark comes.
 */
#define _GNU_SOURCE /* strtoull, gettid */

#include "runtime/record/record_priv.h"
#include "runtime/record/when.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Atomic bool record_gate_asked, record_gate_shut;

static struct {
    record_when start, stop;
    char texts[2][RECORD_WHEN_LONGEST + 1]; /* the environment may change */
    uint64_t began_ns;                      /* the process, CLOCK_MONOTONIC */
    _Atomic bool timed[2]; /* START, STOP at a time: that has passed */
    _Atomic bool signalled;
    _Atomic uint64_t executions[2];
    uint64_t hashes[2]; /* of names of programs */
    struct sigaction before;
} gate;

/* ---- settings ------------------------------------------------------------------------------- */

static void on_signal(int number, siginfo_t *info, void *context)
{
    atomic_store(&gate.signalled, true);
    if (gate.before.sa_flags & SA_SIGINFO)
        gate.before.sa_sigaction(number, info, context);
    else if (gate.before.sa_handler != SIG_DFL && gate.before.sa_handler != SIG_IGN)
        gate.before.sa_handler(number);
}

static void follow_signal(void)
{
    struct sigaction own = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&own.sa_mask);
    (void)sigaction(SIGUSR2, NULL, &gate.before);
    (void)sigaction(SIGUSR2, &own, NULL);
}

/* When the process began: field 22 of its stat, in ticks since the machine did; now where that
 * cannot be read. */
static uint64_t process_began(void)
{
    char text[1024] = "";
    const uint64_t now = record_now(), since_boot = record_clock(CLOCK_BOOTTIME);
    FILE *f = fopen("/proc/self/stat", "re");
    const size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[length] = '\0';
    /* The name, in parentheses, may hold anything. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    const uint64_t ticks = at ? strtoull(at, NULL, 10) : 0;
    const long each = sysconf(_SC_CLK_TCK);
    const uint64_t began = each > 0 ? ticks * (1000000000 / (uint64_t)each) : 0;
    const uint64_t age = began && began < since_boot ? since_boot - began : 0;
    return age < now ? now - age : now;
}

/* What cannot be read is as if it was not set: bench record refuses it. */
static void read_when(const char *name, char *text, size_t size, record_when *when)
{
    const char *set = getenv(name);
    snprintf(text, size, "%s", set ? set : "");
    if (!record_when_parse(text, when))
        *when = (record_when){.kind = RECORD_WHEN_NEVER};
}

static void read_settings(void)
{
    read_when(RECORD_ENV_START, gate.texts[0], sizeof gate.texts[0], &gate.start);
    read_when(RECORD_ENV_STOP, gate.texts[1], sizeof gate.texts[1], &gate.stop);
    if (!record_wanted() ||
        (gate.start.kind == RECORD_WHEN_NEVER && gate.stop.kind == RECORD_WHEN_NEVER))
        return;
    if (gate.start.kind == RECORD_WHEN_SIGNAL || gate.stop.kind == RECORD_WHEN_SIGNAL)
        follow_signal();
    gate.hashes[0] = record_name_hash(gate.start.name, strlen(gate.start.name));
    gate.hashes[1] = record_name_hash(gate.stop.name, strlen(gate.stop.name));
    gate.began_ns = process_began();
    atomic_store(&record_gate_shut, gate.start.kind != RECORD_WHEN_NEVER);
    atomic_store(&record_gate_asked, true);
}

void record_gate_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
}

/* ---- the gate ------------------------------------------------------------------------------- */

void record_gate_put(void)
{
    if (!record_gate_is_asked())
        return;
    record_event event = {.kind = RECORD_PART, .thread = (uint32_t)gettid(), .time = record_now()};
    event.field[0] = record_gate_open();
    record_place place;
    if (record_take(0, &place))
        record_fill(&place, event, NULL, 0);
}

/* Opens or shuts the gate that was OPEN, unless another thread just did. */
static void turn(bool open)
{
    bool shut = !open;
    if (atomic_compare_exchange_strong(&record_gate_shut, &shut, open) && record_has_begun() &&
        record_goes_on())
        record_gate_put();
}

void record_gate_look(void)
{
    const bool open = record_gate_open();
    const record_when *when = open ? &gate.stop : &gate.start;
    if (when->kind == RECORD_WHEN_SIGNAL && atomic_exchange(&gate.signalled, false))
        turn(open);
    else if (when->kind == RECORD_WHEN_TIME && !atomic_load(&gate.timed[open]) &&
             record_now() - gate.began_ns >= when->number &&
             !atomic_exchange(&gate.timed[open], true))
        turn(open);
}

bool record_gate_names(void)
{
    return *gate.start.name || *gate.stop.name;
}

void record_gate_execution(uint64_t name)
{
    const record_when *both[2] = {&gate.start, &gate.stop};
    for (int side = 0; side < 2; side++) {
        const record_when *when = both[side];
        if (when->kind == RECORD_WHEN_EXECUTION && (!*when->name || name == gate.hashes[side]) &&
            atomic_fetch_add(&gate.executions[side], 1) + 1 == when->number)
            turn(side == 1);
    }
}

void record_gate_mark(const char *name)
{
    const bool open = record_gate_open();
    const record_when *when = open ? &gate.stop : &gate.start;
    if (record_gate_is_asked() && when->kind == RECORD_WHEN_MARK && strcmp(when->name, name) == 0)
        turn(open);
}
