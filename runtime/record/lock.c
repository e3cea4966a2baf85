/*
 * lock.c - the recorder's locks, which a forked process finds free.
 */
#include "runtime/record/record_priv.h"

#include <pthread.h>

static pthread_mutex_t locks[RECORD_LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                              PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                              PTHREAD_MUTEX_INITIALIZER};
_Static_assert(RECORD_LOCKS == 5, "an initialiser for each lock");

void record_lock(enum record_lock_name name)
{
    pthread_mutex_lock(&locks[name]);
}

void record_unlock(enum record_lock_name name)
{
    pthread_mutex_unlock(&locks[name]);
}

void record_lock_all(void)
{
    for (int i = 0; i < RECORD_LOCKS; i++)
        pthread_mutex_lock(&locks[i]);
}

void record_unlock_all(void)
{
    for (int i = RECORD_LOCKS; i-- > 0;)
        pthread_mutex_unlock(&locks[i]);
}
