/*
 * ahead.c - a thread that does work before it is needed, since work of a millisecond would lengthen
 * a step of the program.
 *
 * Without the thread the caller that needs the work does it itself.
 */
#define _GNU_SOURCE /* pthread_setname_np */

#include "runtime/record/record_priv.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

enum { STACK_BYTES = 256 << 10 };

static struct {
    record_work *work;
    sem_t asked;
    _Atomic uint64_t wanted;
    _Atomic bool runs;
} ahead;

static void *thread(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&ahead.asked) != 0 && errno == EINTR)
            continue;
        ahead.work(atomic_load(&ahead.wanted));
    }
    return NULL;
}

/* The thread blocks all signals: the program's handlers must not run on it. */
static bool start(pthread_attr_t *attributes)
{
    sigset_t all, before;
    pthread_t id;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(&id, attributes, thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_setname_np(id, "bench-recorder");
    return started;
}

void record_ahead_begin(record_work *work)
{
    pthread_attr_t attributes;
    ahead.work = work;
    if (sem_init(&ahead.asked, 0, 0) != 0 || pthread_attr_init(&attributes) != 0)
        return;
    bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                   pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 && start(&attributes);
    pthread_attr_destroy(&attributes);
    atomic_store(&ahead.runs, started);
}

void record_ahead_ask(uint64_t what)
{
    if (!atomic_load(&ahead.runs))
        return;
    atomic_store(&ahead.wanted, what);
    sem_post(&ahead.asked);
}

void record_ahead_forked(void)
{
    atomic_store(&ahead.runs, false);
}
