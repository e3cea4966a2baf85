/*
 * trace_priv.h - the trace itself, shared by trace.c (appending), hash.c, cut.c
 * (graphs), backward.c and lower.c.
 */
#ifndef BENCH_TRACE_PRIV_H
#define BENCH_TRACE_PRIV_H

#include "runtime/graph/graph_priv.h"

#define TG_SCALAR_MEMO 32

/* A step uses the same scalars over and over (momentum, one half); each is appended to a
 * trace once. Direct-mapped by value. */
typedef struct tg_scalar_memo {
    uint32_t epoch;
    tg_dtype dtype;
    double value;
    tg_tensor *tensor;
} tg_scalar_memo;

struct tg_trace {
    uint32_t epoch;
    bn_status status;
    tg_tensor poison;
    tg_hooks hooks;
    uint64_t node_cost_ns; /* busy wait for each node */
    tg_precision precision;
    tg_phase phase;
    tg_hash hash;      /* of all records but those still on the page */
    char record[4096]; /* that hash, then records not yet hashed */
    size_t record_used;
    const tg_scope *scope;
    bn_arena *arena;   /* nodes, attributes, graphs */
    bn_arena *tensors; /* values only, so that a stale handle still meets a tensor */
    tg_node **nodes;
    size_t node_count, node_capacity;
    uint32_t value_count;
    tg_tensor **inputs; /* entry values in order of first use */
    size_t input_count, input_capacity;
    tg_variable **assigned;
    size_t assigned_count, assigned_capacity;
    size_t segment_first; /* first node since the last cut */
    unsigned breaks;      /* graph breaks so far */
    tg_scalar_memo memo[TG_SCALAR_MEMO];
};

/* A trace's value for TENSOR, registering a variable's entry at first use; NULL
 * after putting an error on the trace. */
tg_tensor *tg_trace_resolve(tg_trace *trace, tg_tensor *tensor);
/* "layer1.0.conv2" of a node's scope. */
void tg_scope_write(const tg_scope *scope, bn_text *out);

/* ---- the hash (hash.c) ---------------------------------------------------- */

/* HASH with SIZE bytes joined to it. */
tg_hash tg_hash_absorb(tg_hash hash, const void *bytes, size_t size);
/* Starts the trace's hash anew. */
void tg_record_begin(tg_trace *trace);
/* Joins a number that is part of the trace's structure: a phase, a value that is held. */
void tg_record_mark(tg_trace *trace, uint32_t mark);
/* Joins NODE, whose operands and attributes are set; false without memory. */
bool tg_record_node(tg_trace *trace, const tg_node *node);

#endif
