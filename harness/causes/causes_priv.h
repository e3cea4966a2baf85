/*
 * causes_priv.h - an explanation while it is made. From top to bottom, each file calls only those
 * below it:
 *
 *   watch.c   lists of observations            findings.c   those that cost time
 *   cause.c   why a graph was compiled
 *   json.c    places, types, values
 */
#ifndef BENCH_HARNESS_CAUSES_PRIV_H
#define BENCH_HARNESS_CAUSES_PRIV_H

#include "harness/causes/causes.h"
#include "modes/watch.h"
#include "results/records/records.h"
#include "runtime/graph/scopes.h"

/* A graph as it was traced last at its place in a step. */
typedef struct cause_graph {
    char label[64];
    size_t position; /* among the graphs of a traced step, from 0 */
    int64_t step;
    json_t *inputs; /* [{"name", "type", "dims", "dtype", "place"}] */
    json_t *reads;  /* of its step, before it: {WHERE: VALUE} */
    void *statics;  /* of its step, copied; or NULL */
    char *text;
    size_t length;
} cause_graph;

struct cause_state {
    mode *mode;
    const model *instance;
    const mode_call *call;
    int64_t step;    /* in hand, from 1 */
    size_t position; /* of the next graph in it */
    json_t *step_reads;
    cause_graph *last; /* one for each position and label */
    size_t last_count, last_capacity;
    json_t *graphs, *recompiles, *breaks, *reads, *host_ops, *misses;
};

/* ---- cause.c ---------------------------------------------------------------------------- */

/* Why NOW was compiled where WAS (NULL: nothing) was before (new reference): {"cause": one of
 * "shape", "dtype", "argument", "scalar", "branch", "ops", "same", "new"; and with it "subject",
 * "dimension", "from", "to", "place", "scope", "words"}. */
json_t *cause_of(const cause_state *s, const cause_graph *was, const cause_graph *now);

/* ---- json.c ------------------------------------------------------------------------------- */

/* New references. */
json_t *cause_text_json(bn_text *text); /* which is freed */
json_t *cause_place_json(tg_place place);
json_t *cause_type_json(const tg_type *type);
/* Appends a float in the fewest digits that distinguish it from its neighbours. */
void cause_put_real(double value, bn_text *out);
json_t *cause_real_json(double value);
/* A scalar's value; of more elements how many there are. */
json_t *cause_value_json(const tg_type *type, const void *value);
/* TEXT, or null where it is empty. */
json_t *cause_word_json(const char *text);
/* The place and scope that line LINE of the StableHLO text TEXT states, into OBJECT. */
void cause_read_place(const char *text, size_t length, uint32_t line, json_t *object);

#endif
