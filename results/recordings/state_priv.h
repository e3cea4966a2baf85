/*
 * state_priv.h - what the search for the state of a loop is made of: chains.c links the buffers,
 * state.c chooses.
 */
#ifndef BENCH_RESULTS_RECORDINGS_STATE_PRIV_H
#define BENCH_RESULTS_RECORDINGS_STATE_PRIV_H

#include "results/recordings/recordings_priv.h"

typedef struct rec_chain {
    uint64_t bytes;       /* of its largest buffer */
    uint32_t born;        /* position of the execution that made the first, plus 1; 0: none did */
    uint32_t link, links; /* the first of its links, when these are sorted; their number */
    uint32_t name;        /* that makes most links */
    uint32_t mark, marks; /* the first of its marks, their number */
    uint32_t tail;        /* its last buffer */
    uint32_t next;        /* chain of its series; REC_NONE: the last one */
    uint32_t group;       /* index; REC_NONE: of none */
} rec_chain;

typedef struct rec_link {
    uint32_t chain, at; /* position of the execution */
} rec_link;

typedef struct rec_series {
    uint64_t bytes, span_ns;
    uint32_t first, last, parts; /* chains */
    uint32_t name, marks;
    uint32_t end; /* position of its last mark */
    uint32_t group;
} rec_series;

typedef struct rec_group {
    double weight;
    uint64_t bytes, span_ns;
    uint32_t marks, parts;
    uint32_t main; /* its series with most bytes */
    bool taken;    /* tried as the state of the step */
} rec_group;

/* A buffer of an execution, to be linked. */
typedef struct rec_operand {
    uint32_t type, born, index, buffer;
} rec_operand;

typedef struct rec_finder {
    const rec_sequence *q;
    const rec_process *p;
    const rec_names *names;
    uint32_t *chain_of; /* [buffer]; REC_NONE */
    rec_chain *chains;
    size_t chain_count, chain_room;
    rec_link *links;
    size_t link_count, link_room;
    uint32_t *marks; /* positions, those of a chain together, in order */
    rec_series *series;
    size_t series_count, series_room;
    rec_group *groups;
    size_t group_count, group_room;
    rec_operand *arguments, *results; /* of one execution */
    size_t argument_room, result_room;
    rec_spans compiles;
    uint64_t *renewed;    /* [name]: a bit for each group with a series of that name */
    uint32_t *takes;      /* [name x group]: executions of the name that take the group's state */
    uint32_t *executions; /* [name] */
} rec_finder;

static inline uint64_t rec_finder_begin(const rec_finder *f, uint32_t at)
{
    return f->p->executions[f->q->order[at]].begin_ns;
}

static inline uint32_t rec_finder_name(const rec_finder *f, uint32_t at)
{
    return f->names->name[f->q->programs[at]];
}

/* The index of the sequence's device in execution E. */
static inline uint32_t rec_finder_device(const rec_finder *f, const rec_execution *e)
{
    for (uint32_t d = 0; d < e->devices; d++)
        if (f->p->spans[e->spans + d].device == f->q->device)
            return d;
    return 0;
}

/* Fills F, whose sequence, names and compiles are there: links, chains with their marks, and
 * series. False without memory. */
BN_MUST_USE bool rec_chains_find(rec_finder *f);

#endif
