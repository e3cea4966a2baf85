/*
 * trace_priv.h - the trace itself, shared by trace.c (appending), hash.c, cut.c
 * (graphs), backward.c and lower.c.
 */
#ifndef BENCH_TRACE_PRIV_H
#define BENCH_TRACE_PRIV_H

#include "runtime/graph/graph_priv.h"
#include "runtime/graph/scopes.h"

#define TG_SCALAR_MEMO 32

/* A step uses the same scalars over and over (momentum, one half); each is appended to a
 * trace once. Direct-mapped by value. */
typedef struct tg_scalar_memo {
    uint32_t epoch;
    tg_dtype dtype;
    double value;
    tg_tensor *tensor;
} tg_scalar_memo;

/* A value of the outer trace that a loop body uses, and the body's input for it. */
typedef struct tg_capture {
    tg_tensor *outer, *inner;
} tg_capture;

/* A variable that a loop body binds, as it was before (tg_bind). */
typedef struct tg_bound {
    tg_variable *variable;
    tg_type type;
    const tg_trace *trace;
    uint32_t epoch, input;
    tg_tensor *entry, *current;
    bool assigned;
} tg_bound;

/*
 * An iteration of a loop: a graph over a trace of its own, BODY. Its inputs are carried values,
 * slices and captured values; its outputs are the next carried values and slices of stacks. Other
 * loops may have regions over the same BODY: gradients are appended to it.
 */
struct tg_region {
    tg_trace *body;
    tg_graph graph;
    tg_node *extended; /* a loop over the same body whose results begin with this one's, or NULL */
    bool derived;    /* a gradient made it */
};

/* When scopes and phases changed, in a trace and in its loop bodies. */
typedef struct tg_scope_clock {
    tg_stretch *list;
    size_t count, capacity;
    const tg_trace *trace; /* of the last stretch, which began when it had NODES nodes */
    size_t nodes;
} tg_scope_clock;

struct tg_trace {
    uint32_t epoch;
    bn_status status;
    tg_tensor poison;
    tg_hooks hooks;
    uint64_t node_cost_ns; /* busy wait for each node */
    bn_timeline *timeline; /* of annotations and scopes; NULL: none */
    tg_precision precision;
    tg_phase phase;
    tg_hash hash;      /* of all records but those still on the page */
    char record[4096]; /* that hash, then records not yet hashed */
    size_t record_used;
    const tg_scope *scope;
    tg_scope_clock *clock; /* NULL: scopes are not timed; of a loop body, that of the outer trace */
    bn_arena *arena;       /* nodes, attributes, graphs */
    bn_arena *tensors;     /* values only, so that a stale handle still points to a tensor */
    tg_node **nodes;
    size_t node_count, node_capacity;
    uint32_t value_count;
    tg_tensor **inputs; /* entry values in order of first use */
    size_t input_count, input_capacity;
    tg_variable **assigned;
    size_t assigned_count, assigned_capacity;
    tg_trace *outer;      /* of a loop body: the trace that has the loop; else NULL */
    tg_capture *captured; /* of a loop body */
    size_t captured_count, captured_capacity;
    tg_bound *bound; /* of a loop body */
    size_t bound_count, bound_capacity;
    tg_region **regions; /* of this trace's loops */
    size_t region_count, region_capacity;
    tg_trace **bodies; /* BODY_MADE of them, BODY_COUNT in use */
    size_t body_count, body_made, body_capacity;
    size_t segment_first; /* first node since the last cut */
    unsigned breaks;      /* graph breaks so far */
    bool keeps_places;
    tg_place next_place; /* of the next read */
    tg_place *places;    /* [node] of the first PLACED ones */
    size_t placed, place_capacity;
    tg_scalar_memo memo[TG_SCALAR_MEMO];
};

/* A trace's value for TENSOR, registering a variable's entry at first use; NULL
 * after putting an error on the trace. */
tg_tensor *tg_trace_resolve(tg_trace *trace, tg_tensor *tensor);
/* Sets the source location of nodes that have none to PLACE, if the trace keeps locations
 * (tensor.c). */
void tg_place_nodes(tg_trace *trace, tg_place place);
void tg_scope_clock_free(tg_scope_clock *clock);
/* Scope or phase of T have changed. */
void tg_clock_note(tg_trace *t);
static inline void tg_scope_changed(tg_trace *t)
{
    if (t->clock)
        tg_clock_note(t);
}
/* The nodes to come are of SCOPE. */
static inline void tg_scope_enter(tg_trace *t, const tg_scope *scope)
{
    if (t->scope == scope)
        return;
    t->scope = scope;
    tg_scope_changed(t);
}

/* ---- graphs (cut.c) ------------------------------------------------------------ */

/* An empty graph of all nodes of T so far, with room for INPUTS and OUTPUTS; it lives as long as they
 * do. */
tg_graph *tg_graph_new(tg_trace *t, size_t inputs, size_t outputs);
/* Its hash: of the trace so far, what the graph puts out, and whose memory it takes over; WITH_INPUTS:
 * also of what it takes, where the trace alone does not say that. */
void tg_graph_set_hash(tg_graph *g, bool with_inputs);

/* ---- bodies of loops (region.c; tg_body_input: trace.c) ---------------------- */

/* An empty trace for the body of a loop of T. */
tg_trace *tg_body_open(tg_trace *t);
/* A new input of BODY. */
tg_tensor *tg_body_input(tg_trace *body, const tg_type *type);
/* Restores bound variables. */
void tg_body_close(tg_trace *body);
/* Passes BODY's error to the outer trace. Whether the outer trace is free of errors. */
bool tg_body_check(tg_trace *body);
/* A loop that is about to be appended. All lists live as long as the trace. */
typedef struct tg_loop_plan {
    tg_trace *body;
    tg_tensor **in;       /* of the body: carried, slices, captured */
    tg_tensor **operands; /* what they are in the outer trace: carried, stacks, captured */
    tg_tensor **out;      /* of the body: next carried values, then slices of stacks */
    size_t carried, stacked, captured, outs;
    size_t saves, restores; /* tg_scan_attributes */
    int64_t length;
    tg_remat remat;
    bool reverse, derived, offload;
} tg_loop_plan;

/* Appends it to T as a node of the row OP; NULL after putting an error on T. */
tg_node *tg_region_append(tg_trace *t, const tg_op *op, const tg_loop_plan *plan);
/* The iteration of NODE, a loop; NULL for other nodes. */
tg_region *tg_node_region(const tg_node *node);

/* ---- gradients (backward.c) --------------------------------------------------- */

/*
 * Emits into T the gradient of the sum of OUTPUTS[k] weighted by SEEDS[k] (NULL: left out),
 * COUNT of them, with respect to WRT[i] (NULL: none), WRT_COUNT of them. All are values of T;
 * only nodes before END are differentiated. GRADS[i] is NULL where nothing reaches WRT[i].
 */
void tg_gradients(tg_trace *t, size_t end, tg_tensor *const *outputs, tg_tensor *const *seeds,
                  size_t count, tg_tensor *const *wrt, size_t wrt_count, tg_tensor **grads);
/* The gradient rule of loops (tg_op.grad). */
void tg_loop_gradient(tg_trace *t, const tg_node *node, tg_tensor *const *gout, const bool *need,
                      tg_tensor **gin);

/* ---- the hash (hash.c) ---------------------------------------------------- */

/* HASH with SIZE bytes joined to it. */
tg_hash tg_hash_absorb(tg_hash hash, const void *bytes, size_t size);
/* Starts the trace's hash. */
void tg_hash_begin(tg_trace *trace);
/* Joins a number that is part of the trace's structure, as a phase is. */
void tg_hash_mark(tg_trace *trace, uint32_t mark);
/* Joins NODE, whose operands and attributes are set. */
void tg_hash_node(tg_trace *trace, const tg_node *node);

#endif
