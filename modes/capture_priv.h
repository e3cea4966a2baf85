/*
 * capture_priv.h - the contents of a capture. For capture.c, which records and replays, and
 * capture_tree.c, which holds it.
 *
 * A capture is a tree. Each node holds the graphs of one stretch of the step. Where the step
 * function read a value, the node has a branch for each value seen; where the host computed an
 * op, it has one branch, whatever the values are.
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
    tg_tensor **targets; /* [output] variable, or NULL */
    size_t first_slot;   /* results go to slots from here */
    struct capture_graph *next;
} capture_graph;

typedef struct capture_node capture_node;

typedef struct capture_branch {
    void *value;
    capture_node *node;
    struct capture_branch *next;
} capture_branch;

/* A variable that takes over a slot at the end of the step. */
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
    bool computed;    /* a graph of this node gives what is read: the read breaks the step */
    mode_where where; /* of the break; its scope is the node's own */
    tg_host_op host;  /* COMPUTE NULL: a read */
    size_t host_slot; /* its result */
    size_t key_bytes; /* of what branches are chosen by: 0 behind an op of the host */
    capture_branch *branches;
    capture_move *moves;
};

/* The recording of one set of guards; m->own is the list of all. */
typedef struct mode_capture {
    mode_guards guards;
    capture_node *root;
    bool whole; /* one graph from variables to variables: replayed the short way */
    size_t slot_count;
    mode_list slots; /* results of a replay, by slot */
    struct mode_capture *next;
} mode_capture;

/* A capture of CALL without graphs. */
mode_capture *mode_capture_new(const mode_call *call);
void mode_capture_free(mode_capture *capture); /* NULL allowed */
/* Releases the graphs and moves of NODE, not its branches. */
void mode_capture_clear(capture_node *node);
/* The branch of NODE for VALUE, NULL: there is none. */
capture_node *mode_capture_branch(const capture_node *node, const void *value);
/* Adds one. BN_OUT_OF_MEMORY: for a copy of VALUE. */
BN_MUST_USE bn_code mode_capture_grow(capture_node *node, const void *value, capture_node **child,
                                      bn_status *st);
/* Notes that NODE ends at WHERE, whose scope is copied. */
void mode_capture_stand(capture_node *node, const mode_where *where);
/* mode_kind.guard of captures. */
bool mode_capture_guard(const mode *m, size_t capture, size_t index, mode_guard_info *info);

#endif
