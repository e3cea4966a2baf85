/*
 * causes.h - what a model's steps compile, what has them compiled or captured anew, and why that
 * happened; where graphs break, values are read, and the host computes. For bench explain, and for
 * the places that records keep. Prefix cause_.
 */
#ifndef BENCH_HARNESS_CAUSES_H
#define BENCH_HARNESS_CAUSES_H

#include <jansson.h>

#include "models/model.h"
#include "modes/mode.h"

/* Steps that are watched. */
typedef struct cause_state cause_state;

/* Watches the steps of M from here on, which run CALL on INSTANCE; all three must outlive *STATE,
 * which is for cause_end, also after a failure. The first step compiles: nothing is compared with
 * steps that ran before. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code cause_begin(mode *m, const model *instance, const mode_call *call,
                                cause_state **state, bn_status *st);
/* Before each step, and after each that went well. BN_OUT_OF_MEMORY: what a step told is lost. */
void cause_step_begin(cause_state *state);
BN_MUST_USE bn_code cause_step_end(cause_state *state, bn_status *st);
/* What the steps told (new reference): {"steps", "graphs", "guards", "captures", "guard_misses",
 * "breaks", "recompiles", "reads", "host_ops", "counters"}, as docs/explain.md has them. */
json_t *cause_lists(const cause_state *state);
void cause_end(cause_state *state); /* NULL allowed */

/* What of LISTS, which cause_lists made, costs time in each step, or again and again (new
 * reference): a list of {"rule", "count", "advice"} and, where these are known, "subject",
 * "dimension", "from", "to", "others", "place", "scope", "op", "words". SELDOM: also values that at
 * most half of the steps read, and what the host computed as seldom. */
json_t *cause_complaints(const json_t *lists, bool seldom);

#endif
