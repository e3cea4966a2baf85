/*
 * guard_priv.h - the guards of a capture: what must be as it was when a step was traced, so
 * that the trace can be replayed. For capture.c.
 *
 * Guarded are the caller's function, context and statics (bytes), and the type of each
 * variable that the step takes in. Contents are not: they are inputs of the graphs.
 */
#ifndef BENCH_MODES_GUARD_PRIV_H
#define BENCH_MODES_GUARD_PRIV_H

#include "modes/mode.h"
#include "modes/watch.h"

/* Variables fetched before their turn; enough to hide a trip to memory. */
#define MODE_FETCH_AHEAD 12

/* Versions are checked first: types seldom change, and are further away. */
typedef struct mode_guard {
    tg_tensor *variable;
    uint32_t version; /* with which the type was last found to be the same */
} mode_guard;

/* Zero-initialise. */
typedef struct mode_guards {
    mode_call call; /* STATICS is a copy */
    mode_guard *items;
    tg_type *types; /* [item] */
    size_t count, capacity, type_capacity;
} mode_guards;

/* Guards of CALL without variables. */
void mode_guards_begin(mode_guards *guards, const mode_call *call);
void mode_guards_free(mode_guards *guards);
/* Adds VARIABLE with the type that it has now, where it is not there yet. */
void mode_guards_add(mode_guards *guards, tg_tensor *variable);
/* Whether all guards hold for CALL. A type that was set anew to what it was is noted, and
 * found faster the next time. */
bool mode_guards_hold(mode_guards *guards, const mode_call *call);
/* The same in one pass with gathering each variable's device data into DATA, which has room
 * for COUNT. *EMPTY is set to a variable that has none. */
bool mode_guards_gather(mode_guards *guards, const mode_call *call, void **data,
                        const tg_tensor **empty);
/* Which guard does not hold for CALL, the first one, into MISS, which says MODE_MISS_CALL before.
 * To be called where they do not hold. */
void mode_guards_explain(const mode_guards *guards, const mode_call *call, mode_miss_event *miss);

#endif
