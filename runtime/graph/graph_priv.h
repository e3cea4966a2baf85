/*
 * graph_priv.h - nodes, values and op rows, for the files of runtime/graph and
 * for tests. An op is one constant tg_op row; its rules sit together in a
 * family file (op_*.c) and the row is listed once in op_table.c.
 *
 * Call structure: op_table.c stands on the families; they emit (trace.c) and write
 * statements (lower.c); both stand on tensor.c. Families call each other in circles, since
 * gradients emit ops.
 */
#ifndef BENCH_GRAPH_PRIV_H
#define BENCH_GRAPH_PRIV_H

#include "runtime/graph/graph.h"

#define TG_OP_NAME_BYTES 24
#define TG_MAX_RESULTS   3

struct tg_scope {
    const tg_scope *parent;
    const char *name;
};

typedef enum tg_kind { TG_KIND_VALUE, TG_KIND_VARIABLE, TG_KIND_POISON } tg_kind;

struct tg_tensor {
    /* The members that a replay touches come first, on one cache line. */
    void *data;
    uint32_t version;      /* variables: how often the type was set */
    uint8_t kind;          /* tg_kind */
    uint16_t result;       /* values: which result of the node */
    bool materialized;     /* values: a graph that was cut outputs it, or the host computed it */
    bool constant;         /* values: tg_stop_gradient */
    uint32_t epoch;        /* of that trace */
    const tg_trace *trace; /* values: owner; variables: trace that used them last */
    tg_node *node;         /* values: producer */
    uint32_t id;           /* values: number within the trace */
    tg_type type;
};

/* A variable; the head is the public handle. ENTRY and CURRENT are valid while
 * head.trace and head.epoch are those of the trace in hand. */
typedef struct tg_variable {
    tg_tensor head;
    tg_tensor *entry;   /* value at the start of the trace; NULL: not used yet */
    tg_tensor *current; /* value now */
    uint32_t input;     /* number of the entry among the trace's inputs */
    bool assigned;
    char name[];
} tg_variable;

struct tg_node {
    const tg_op *op;
    const void *attributes;
    tg_tensor **operands; /* values only */
    tg_tensor *results;   /* contiguous */
    const tg_scope *scope;
    uint32_t index; /* in the trace */
    uint16_t operand_count, result_count;
    uint8_t phase;         /* tg_phase */
    tg_variable *variable; /* input nodes: whose entry value */
};

typedef struct tg_lowering tg_lowering; /* the writer of lower.c */
typedef struct tg_region tg_region;     /* the body of a loop as a graph: trace_priv.h */

/*
 * One op: its words and its four rules. Nodes of one op with equal attributes and operand
 * types share an executable, so a rule may look at these only: what it gives must not
 * depend on the trace, the time or anything global. The bytes that a node moves need no
 * rule: it reads each operand once and writes each result once.
 */
struct tg_op {
    char name[TG_OP_NAME_BYTES]; /* no other row has it; joins the hash with its zeros */
    const char *stablehlo;       /* the op that statements and listings name */
    const char *family;          /* tg_graph_cost.macs counts "dot" and "convolution" */
    const char *summary;
    int min_operands, max_operands; /* for listings; max -1: any number */
    int results;                    /* 1 to TG_MAX_RESULTS; -1: any number, of a loop */
    size_t attribute_bytes;         /* structs of int32_t or int64_t only: hashed as bytes */

    /*
     * Type rule. tg_emit calls it once for each node, before the node joins the hash and
     * before any hook sees it. NODE's attributes are a copy of the caller's. Its operands are
     * values of the trace, as many as the caller gave; a row that takes a varying number checks
     * it here. Result types come as zeros. The rule checks operands and attributes, fills in
     * results[i].type for every result, leaves dims past the rank 0, and changes nothing else.
     * To refuse a node it returns a code with a message in ST (never NULL); the trace puts the
     * op's name in front, and result types do not matter then. Only tg_op_input has NULL here.
     */
    bn_code (*infer)(const tg_node *node, bn_status *st);

    /*
     * Lowering. tg_graph_lower calls it for each node that an output needs, in the trace's
     * order, so that operands have their names. The rule writes the node's statement with the
     * functions below: it defines the results once (tg_lowering_define, or
     * tg_lowering_define_result for each) and stops behind the type; the caller writes the
     * location. A rule of several statements ends each but the last with tg_lowering_end.
     * Nothing can fail: the type rule has accepted the node. NULL in tg_op_input and in rows
     * that the host computes (tg_host_row), whose nodes are not written.
     */
    void (*lower)(tg_lowering *l, const tg_node *node);

    /*
     * Gradient rule; NULL: not differentiable, and a gradient that reaches the op is an error.
     * tg_backward calls it for a node once all uses of its results have been differentiated,
     * with the node's scope in force. GOUT[i] is the gradient with respect to result i, of its
     * type, or NULL where none reaches it; at least one is there. NEED[k] says whether operand
     * k's gradient is wanted; at least one is. GIN[k] comes as NULL. The rule emits ops into T
     * and sets GIN[k], for each operand whose gradient is wanted, to a value of the operand's
     * type. NULL there lets no gradient flow, and entries of other operands are ignored. The
     * rule may use NODE's operands and results as values; all values belong to the trace. It
     * reports a case that it cannot differentiate by tg_trace_fail with BN_NOT_SUPPORTED.
     */
    void (*grad)(tg_trace *t, const tg_node *node, tg_tensor *const *gout, const bool *need,
                 tg_tensor **gin);

    /*
     * FLOPs of one execution; a multiplication and an addition are two. tg_graph_measure calls
     * it for each node that an output needs, any time after the type rule. NULL: one for each
     * element of result 0. tg_op_no_flops: the op moves data only.
     */
    double (*flops)(const tg_node *node);
};

/* A row without lowering: the host computes its one result of its one operand. It is in no table. */
typedef struct tg_host_row {
    tg_op op;
    void (*compute)(const tg_type *in, const void *x, const tg_type *out, void *y);
} tg_host_row;

/* Row INDEX in listing order; NULL past the last. */
const tg_op *tg_op_at(size_t index);

/* Pseudo row of variables' entry values (trace.c); not in the table. */
extern const tg_op tg_op_input;

/* Appends a node of OP with a copy of ATTRIBUTES (op->attribute_bytes);
 * returns its first result, or the trace's poison. */
tg_tensor *tg_emit(tg_trace *trace, const tg_op *op, const void *attributes,
                   tg_tensor *const *operands, size_t count);
/* The same for a row of any number of results, RESULTS of them here. */
tg_tensor *tg_emit_many(tg_trace *trace, const tg_op *op, const void *attributes,
                        tg_tensor *const *operands, size_t count, size_t results);
/* Result INDEX of the node that made FIRST; poison stays poison. */
tg_tensor *tg_emit_result(tg_tensor *first, unsigned index);
/* The value of X, for ops that return X unchanged: not a variable itself, because its handle
 * would follow later assignments. The trace's poison after an error. */
tg_tensor *tg_value_or_poison(tg_trace *trace, tg_tensor *x);

/* The precision in force, for ops that carry it as an attribute. */
tg_precision tg_trace_precision(const tg_trace *trace);

static inline const tg_type *tg_operand_type(const tg_node *node, size_t index)
{
    return &node->operands[index]->type;
}

/* ---- refusing types (tensor.c) ------------------------------------------- */

/* BN_INVALID with "WHAT tensor<...>". */
bn_code tg_type_fail(bn_status *st, const char *what, const tg_type *type);
/* BN_INVALID with "WHAT: tensor<...> and tensor<...>". */
bn_code tg_type_fail_pair(bn_status *st, const char *what, const tg_type *a, const tg_type *b);
/* BN_INVALID where an attribute is no shape: rank or a size out of range. */
bn_code tg_shape_check(int64_t rank, const int64_t *dims, bn_status *st);

/* ---- writing statements (lower.c) --------------------------------------- */

/* The text being written. */
bn_text *tg_lowering_text(tg_lowering *l);
/* "%5" or "%5#1" or "%arg3" for a value. */
void tg_lowering_value(tg_lowering *l, const tg_tensor *value);
/* "    %5 = " (or "    %5:3 = ") for the node's results. */
void tg_lowering_define(tg_lowering *l, const tg_node *node);
/* "    %5 = " for one of several results, where each has a statement of its own. */
void tg_lowering_define_result(tg_lowering *l, const tg_node *node, unsigned result);
/* A fresh name for an extra value inside one node's lowering; write it with
 * tg_lowering_extra ("%x7"). */
unsigned tg_lowering_fresh(tg_lowering *l);
void tg_lowering_extra(tg_lowering *l, unsigned name);
void tg_lowering_printf(tg_lowering *l, const char *format, ...) BN_PRINTF(2, 3);
void tg_lowering_type(tg_lowering *l, const tg_type *type);
/* " : (operand types) -> result type(s)" */
void tg_lowering_signature(tg_lowering *l, const tg_node *node);
/* "    %5 = stablehlo.op %1, %2" */
void tg_lowering_head(tg_lowering *l, const tg_node *node);
/* "    %5 = "stablehlo.op"(%1, %2)": MLIR's generic form, which every op has. */
void tg_lowering_generic_head(tg_lowering *l, const tg_node *node);
/* "    %5 = stablehlo.op %1, %2 : type" where operands and result share a type,
 * the functional signature where they do not. */
void tg_lowering_plain(tg_lowering *l, const tg_node *node);
/* Ends a statement that was written before the node's own (location, newline). */
void tg_lowering_end(tg_lowering *l, const tg_node *node);
/* A literal for dtype: 1.500000e+00 (or hexadecimal where decimal would not do),
 * 3, true. */
void tg_lowering_literal(tg_lowering *l, tg_dtype dtype, double value);
/* "[1, 2, 3]", and "NAME[1, 2, 3]" */
void tg_lowering_ints(tg_lowering *l, const int64_t *values, size_t count);
void tg_lowering_list(tg_lowering *l, const char *name, const int64_t *values, size_t count);

/*
 * Loops. tg_lowering_define_loop writes "    %5:7 = " for a statement of WIDTH values: the number
 * of the iteration, then NODE's results, then others.
 * tg_lowering_enter begins to write a loop's body, GRAPH, within L's statement; its names continue
 * L's. Each input of the graph is named where its value is made (tg_lowering_name writes "%12"),
 * then tg_lowering_nodes writes the statements. tg_lowering_leave frees INNER.
 * tg_lowering_pass writes a statement that returns its operands, the COUNT VALUES: "    %5:2 =
 * HEAD%3, %4TAIL : (types) -> (types)". From then on the values are named as its results.
 */
void tg_lowering_define_loop(tg_lowering *l, const tg_node *node, size_t width);
tg_lowering *tg_lowering_enter(tg_lowering *l, const tg_graph *graph);
void tg_lowering_name(tg_lowering *inner, const tg_tensor *value);
void tg_lowering_nodes(tg_lowering *inner);
void tg_lowering_pass(tg_lowering *inner, tg_tensor *const *values, size_t count, const char *head,
                      const char *tail);
void tg_lowering_leave(tg_lowering *l, tg_lowering *inner);

/* FLOPs of ops that only move data. */
double tg_op_no_flops(const tg_node *node);

#endif
