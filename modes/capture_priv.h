/*
 * capture_priv.h - the contents of a capture. For capture.c, which records and replays, and
 * capture_tree.c, which holds it.
 *
 * A capture is a tree. Each node holds the graphs of the step up to the next graph break. Where the
 * step function read a value, the node has a branch for each value seen; where the host computed an
 * op, it has one branch, whatever the values are.
 *
 * A slot is the number of a value along a path of the tree: outputs of graphs and results of the
 * host's ops, from 0 in order of execution.
 */
#ifndef BENCH_MODES_CAPTURE_PRIV_H
#define BENCH_MODES_CAPTURE_PRIV_H

#include "modes/guard_priv.h"
#include "modes/mode_priv.h"

/* Where a graph's input comes from: a variable, or slot SLOT. */
typedef struct capture_source {
    tg_tensor *variable;
    size_t slot;
} capture_source;

typedef struct capture_graph {
    mode_program *program;
    capture_source *inputs;
    tg_tensor **targets; /* [output] the variable that it is assigned to, or NULL */
    size_t first_slot;   /* of its outputs, which have consecutive slots */
    struct capture_graph *next;
} capture_graph;

typedef struct capture_node capture_node;

typedef struct capture_branch {
    void *value;
    capture_node *node;
    struct capture_branch *next;
} capture_branch;

/* At the end of the step VARIABLE gets the buffer in SLOT. */
typedef struct capture_move {
    tg_tensor *variable;
    size_t slot;
    struct capture_move *next;
} capture_move;

struct capture_node {
    capture_graph *graphs, *last_graph;
    bool recorded;
    bool breaks; /* ends in a read, or in an op that the host computes */
    capture_source read;
    tg_type read_type;
    mode_where where; /* of the break; its scope is the node's own */
    tg_host_op host;  /* the op that ends the node; COMPUTE NULL: a read ends it */
    size_t host_slot; /* of the op's result */
    size_t key_bytes; /* of the value that selects the branch; 0 after an op of the host */
    capture_branch *branches;
    capture_move *moves;
};

/* The recording of one set of guards; m->own is the list of all. */
typedef struct mode_capture {
    mode_guards guards;
    capture_node *root;
    bool single_graph; /* from variables to variables: replay needs no slots */
    size_t slot_count;
    mode_list slots; /* buffers of a replay, by slot */
    struct mode_capture *next;
} mode_capture;

/* A capture of CALL without graphs. */
mode_capture *mode_capture_new(const mode_call *call);
void mode_capture_free(mode_capture *capture); /* NULL allowed */
/* Releases the graphs and moves of NODE, not its branches. */
void mode_capture_node_clear(capture_node *node);
/* The branch of NODE for VALUE; NULL: there is none. */
capture_node *mode_capture_node_branch(const capture_node *node, const void *value);
/* Adds a branch for VALUE, which is copied. BN_OUT_OF_MEMORY is the only error. */
BN_MUST_USE bn_code mode_capture_node_add_branch(capture_node *node, const void *value,
                                                 capture_node **child, bn_status *st);
/* Sets NODE's `where`, whose scope is copied. */
void mode_capture_node_set_location(capture_node *node, const mode_where *where);
/* mode_kind.guard of captures. */
bool mode_capture_guard(const mode *m, size_t capture, size_t index, mode_guard_info *info);

#endif
