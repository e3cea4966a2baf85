/* work.h - what a device's thread has to do: compute values, or copy them. */
#ifndef BENCH_RUNTIME_SIM_WORK_H
#define BENCH_RUNTIME_SIM_WORK_H

#include "runtime/sim/device/event.h"
#include "runtime/sim/device/executable.h"
#include "runtime/sim/device/memory.h"

/* An execution, or a copy; all pointers but TO are references of its own. */
typedef struct sim_work {
    PJRT_Executable *executable; /* NULL: a copy to the host, or into the result */
    sim_memory **arguments, **results;
    size_t argument_count, result_count;
    bool compute;  /* else results are zeros */
    bool wrong;    /* a number is to be wrong */
    void *to;      /* copy: where to on the host */
    sim_type type; /* of what is copied there, and how it is to lie */
    sim_layout layout;
    sim_memory *from;
    sim_done *source; /* copy: of what is copied */
    sim_done *done;
    struct sim_work *next; /* in the device's queue */
} sim_work;

/* Does the work, settles its end, and frees it. Not under the lock. */
void sim_work_perform(sim_work *work);
/* Frees it undone. Not under the lock; NULL allowed. */
void sim_work_free(sim_work *work);

#endif
