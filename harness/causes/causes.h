/*
 * causes.h - what a model's steps compile, compile again or capture again, and why; where graphs
 * break, values are read, and the host computes. For bench explain, and for the places that records
 * keep. Prefix explain_.
 */
#ifndef BENCH_HARNESS_CAUSES_H
#define BENCH_HARNESS_CAUSES_H

#include <jansson.h>

#include "models/model.h"
#include "modes/mode.h"

/* Steps that are watched. */
typedef struct cause_state cause_state;

/* Watches the steps of M from here on, which run CALL on INSTANCE; all three must outlive the
 * result, which is for cause_end. The first step compiles: nothing is compared with steps that
 * ran before. */
cause_state *cause_begin(mode *m, const model *instance, const mode_call *call);
/* Before each step, and after each that went well. */
void cause_step_begin(cause_state *state);
void cause_step_end(cause_state *state);
/* The observations (new reference): {"steps", "graphs", "guards", "captures", "guard_misses",
 * "breaks", "recompiles", "reads", "host_ops", "counters"}, as docs/explain.md has them. */
json_t *cause_lists(const cause_state *state);
void cause_end(cause_state *state); /* NULL allowed */

/* Findings: observations of LISTS, which cause_lists made, that cost time in each step or
 * repeatedly (new reference). A list of {"rule", "count", "advice"} and, where these are known,
 * "subject", "dimension", "from", "to", "others", "place", "scope", "op", "words". SELDOM: also
 * values that at most half of the steps read, and ops that the host computed as seldom. */
json_t *cause_findings(const json_t *lists, bool seldom);

#endif
