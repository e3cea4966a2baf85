/*
 * graph_priv.h - nodes, values and op rows, for the files of runtime/graph and
 * for tests. An op is one constant tg_op row; its rules sit together in a
 * family file (op_*.c) and the row is listed once in op_table.c.
 */
#ifndef BENCH_GRAPH_PRIV_H
#define BENCH_GRAPH_PRIV_H

#include "runtime/graph/graph.h"

#define TG_OP_NAME_BYTES 24
#define TG_MAX_RESULTS   3

typedef struct tg_scope {
    const struct tg_scope *parent;
    const char *name;
} tg_scope;

typedef enum tg_kind { TG_KIND_VALUE, TG_KIND_VARIABLE, TG_KIND_POISON } tg_kind;

struct tg_tensor {
    /* What a replay touches of a variable comes first, on one cache line. */
    void *data;
    uint32_t version;      /* variables: how often the type was set */
    uint8_t kind;          /* tg_kind */
    uint8_t result;        /* values: which result of the node */
    bool held;             /* values: tg_hold */
    bool born;             /* values: output of a graph that was cut */
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
    uint16_t operand_count;
    uint8_t result_count;
    uint8_t phase;         /* tg_phase */
    tg_variable *variable; /* input nodes: whose entry value */
};

typedef struct tg_lowering tg_lowering; /* the writer of lower.c */

/*
 * One op. INFER checks operands and attributes and fills results[i].type; its
 * message needs no op name (the caller adds it). LOWER writes the whole
 * statement but the location. GRAD emits gradients for the operands whose NEED
 * is set; GOUT[i] is NULL where no gradient reaches result i; NULL GRAD means
 * not differentiable. FLOPS NULL means one per result element.
 */
struct tg_op {
    char name[TG_OP_NAME_BYTES];
    const char *stablehlo;
    const char *family;
    const char *summary;
    int min_operands, max_operands; /* max -1: any number */
    int results;
    size_t attribute_bytes; /* structs of int32_t or int64_t only: hashed as bytes */
    bn_code (*infer)(const tg_node *node, bn_status *st);
    void (*lower)(tg_lowering *l, const tg_node *node);
    void (*grad)(tg_trace *t, const tg_node *node, tg_tensor *const *gout, const bool *need,
                 tg_tensor **gin);
    double (*flops)(const tg_node *node);
};

/* Row INDEX in listing order; NULL past the last. */
const tg_op *tg_op_at(size_t index);
const tg_op *tg_op_find(const char *name);

/* Pseudo row of entry values; not in the table. */
extern const tg_op tg_op_input;

/* Appends a node of OP with a copy of ATTRIBUTES (op->attribute_bytes);
 * returns its first result, or the trace's poison. */
tg_tensor *tg_emit(tg_trace *trace, const tg_op *op, const void *attributes,
                   tg_tensor *const *operands, size_t count);
/* Result INDEX of the node that made FIRST; poison stays poison. */
tg_tensor *tg_emit_result(tg_tensor *first, unsigned index);

/* The precision in force, for ops that carry it as an attribute. */
tg_precision tg_trace_precision(const tg_trace *trace);

static inline const tg_type *tg_operand_type(const tg_node *node, size_t index)
{
    return &node->operands[index]->type;
}

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
/* "    %5 = stablehlo.op %1, %2 : type" where operands and result share a type,
 * the functional signature where they do not. */
void tg_lowering_plain(tg_lowering *l, const tg_node *node);
/* Ends a statement that was written before the node's own (location, newline). */
void tg_lowering_end(tg_lowering *l, const tg_node *node);
/* A literal for dtype: 1.500000e+00 (or hexadecimal where decimal would not do),
 * 3, true. */
void tg_lowering_literal(tg_lowering *l, tg_dtype dtype, double value);
/* "[1, 2, 3]" */
void tg_lowering_ints(tg_lowering *l, const int64_t *values, size_t count);

#endif
