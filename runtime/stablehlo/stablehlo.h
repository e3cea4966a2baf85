/*
 * stablehlo.h - StableHLO text as a graph of its statements, and how two such graphs differ.
 *
 * The reader knows the shape of MLIR's text: statements, the values that they name and use,
 * regions, types, places. So it reads what any version of StableHLO prints. Of ops it knows how
 * they are written, in MLIR's generic form and in the usual one, and not what they mean. The
 * simulator reads what they mean (runtime/sim/program), refuses ops that it does not know, and
 * drops what it does not need: of both readers only tokens.h is the same. Source of the form:
 * MLIR's language reference.
 *
 * It knows no plugin and no trace. Prefix shlo_.
 */
#ifndef BENCH_RUNTIME_STABLEHLO_H
#define BENCH_RUNTIME_STABLEHLO_H

#include "runtime/base/base.h"
#include "runtime/stablehlo/tokens.h"

/* ---- graphs (read.c) --------------------------------------------------------------- */

#define SHLO_NONE       UINT32_MAX
#define SHLO_MOST_BYTES ((size_t)256 << 20) /* of a text */
#define SHLO_MOST_NODES 2000000u
#define SHLO_MOST_DEPTH 64 /* regions within each other */

/* A part of the graph's text; it does not end with a zero byte. */
typedef struct shlo_piece {
    const char *at;
    size_t length;
} shlo_piece;

/* Where a statement comes from, as it says itself. */
typedef struct shlo_place {
    shlo_piece name;   /* a scope; without one the source; empty: it says nothing */
    shlo_piece source; /* "f.py":5:22 to :30, of the innermost call; empty: it says none */
} shlo_place;

typedef enum shlo_kind {
    SHLO_OP,
    SHLO_ARGUMENT, /* of a function; its op is "argument" */
    SHLO_FUNCTION,
    SHLO_MODULE
} shlo_kind;

/* How an op is written: "stablehlo.add"(%0, %1); in a form of its own that this reader does not
 * know. Of the forms that it knows it finds that they say the same. */
#define SHLO_FORM_GENERIC 1u
#define SHLO_FORM_OWN     2u

/* A statement. Its operands are graph->operands[first_operand], OPERAND_COUNT of them. */
typedef struct shlo_node {
    shlo_kind kind;
    uint32_t line;   /* in the text, from 1 */
    uint32_t parent; /* the statement in whose region it stands; SHLO_NONE: none */
    uint32_t region; /* which of that one's regions, from 0 */
    uint32_t depth;  /* regions around it */
    uint32_t op;     /* in graph->ops */
    uint32_t first_operand, operand_count, result_count;
    shlo_piece text;       /* the statement, without its regions */
    shlo_piece attributes; /* what is said behind the op, values included, types not */
    shlo_piece types;      /* of its results; of an argument its own */
    shlo_place place;      /* its loc */
    /* Of what it says, whatever its values and its place are called; of its op, attributes and
     * types alone; of its place; and of all that it is computed of. */
    uint64_t local, op_hash, attribute_hash, type_hash, place_hash, deep;
    uint64_t name_hash; /* of a function's name; of an argument its place among how many */
    uint64_t applies;   /* of a reduction, whose reducer is one op, that op's hash; else 0 */
    bool spelled;       /* and it has that op and what returns it in a region */
} shlo_node;

/* Result NUMBER of NODE. With SHLO_BLOCK: argument NUMBER of the blocks in the node's regions. */
#define SHLO_BLOCK 0x80000000u
typedef struct shlo_operand {
    uint32_t node, number;
} shlo_operand;

/* All parts are the graph's. Nodes are in the order of the text, a statement before those in its
 * regions. */
typedef struct shlo_graph {
    char *text;
    size_t length;
    shlo_node *nodes;
    size_t node_count, node_room;
    shlo_operand *operands;
    size_t operand_count, operand_room;
    shlo_piece *ops;   /* names of ops, each once */
    uint8_t *op_forms; /* of each: SHLO_FORM_GENERIC, SHLO_FORM_OWN */
    size_t op_count, op_room, form_room;
    size_t of_kind[SHLO_MODULE + 1]; /* nodes */
} shlo_graph;

/*
 * Reads the LENGTH bytes of TEXT, which is copied: any bytes are safe. BN_FORMAT, with the line,
 * for what is no StableHLO module in MLIR's text form, is cut off, or has more statements, regions
 * or bytes than above. *GRAPH is then NULL.
 */
BN_MUST_USE bn_code shlo_graph_read(const char *text, size_t length, shlo_graph **graph,
                                    bn_status *st);
void shlo_graph_free(shlo_graph *graph); /* NULL allowed */

/* ---- where a program comes from (source.c, bytecode.c) ----------------------------------------
 */

/* A line of a source. */
typedef struct shlo_source {
    char file[1024]; /* as the program says it */
    uint32_t line;   /* from 1 */
} shlo_source;

/*
 * Finds the line that most ops of a StableHLO program come from, in the file that most come from;
 * lines of installed libraries do not count. CODE, of LENGTH bytes, is MLIR's text or byte code:
 * any bytes are safe. BN_NOT_FOUND where it names no line, BN_FORMAT or BN_NOT_SUPPORTED where it
 * cannot be read.
 */
BN_MUST_USE bn_code shlo_source_find(const char *code, size_t length, shlo_source *source,
                                     bn_status *st);
/* The same of byte code. */
BN_MUST_USE bn_code shlo_source_read_bytecode(const void *bytes, size_t length, shlo_source *source,
                                              bn_status *st);

/* ---- what a program declares (declared.c, bytecode.c, devices.c)-------------------------------
 */

/* An argument or a result of the entry function, @main. Texts are NULL where it says nothing. */
typedef struct shlo_value {
    char dtype[32]; /* as StableHLO writes it, "f32", "ui8", "f8E4M3FN", "complex<f32>"; cut */
    bool tensor;    /* false: a token, a tuple, a scalar of MLIR; DTYPE is the type's text then */
    size_t rank;
    int64_t dims[SHLO_MOST_RANK]; /* -1: dynamic */
    int32_t result;               /* of an argument: the result that takes over its memory; or -1 */
    bool donated;                 /* of an argument: given away, to no result that is named */
    const char *layout;           /* mhlo.layout_mode: "default", "auto", "{0,1}" */
    const char *memory;           /* mhlo.memory_kind */
    const char *constant;         /* jax.global_constant: "_platform_index", "0" */
    const char *sharding;         /* mhlo.sharding or sdy.sharding */
    const char *encoding;         /* behind the comma of its type */
} shlo_value;

typedef struct shlo_declared {
    shlo_value *arguments, *results;
    size_t argument_count, result_count;
    int64_t partitions, replicas; /* mhlo.num_partitions, mhlo.num_replicas; 0: it does not say */
    int64_t mesh;                 /* devices of its largest mesh (sdy.mesh); 0: it has none */
    /* The highest that a group or pair of a collective or a sharding names; -1: none does. INT64_MAX:
     * in a form that is not known. */
    int64_t highest_device;
    char collective[48]; /* what names it, else an op that communicates, "stablehlo.all_reduce"; "" */
    bn_arena *store;              /* of all texts and lists */
} shlo_declared;

/*
 * Reads what the StableHLO module of LENGTH bytes at TEXT declares, in MLIR's text form, pretty or
 * generic. Any bytes are safe. BN_FORMAT, with the line, where it has no @main or is cut off there;
 * BN_NOT_SUPPORTED for what MLIR allows and this reader does not know, by its name. What DECLARED
 * holds is released by shlo_declared_free, after errors, too.
 */
BN_MUST_USE bn_code shlo_declared_read(const char *text, size_t length, shlo_declared *declared,
                                       bn_status *st);
/* The same of MLIR's byte code. With BN_NOT_SUPPORTED, too, DECLARED has the devices that were
 * found, and no values. ST is not NULL. */
BN_MUST_USE bn_code shlo_declared_read_bytecode(const void *bytes, size_t length,
                                                shlo_declared *declared, bn_status *st);
/* An empty one, for readers of other forms (runtime/hlo). */
void shlo_declared_open(shlo_declared *declared);
/* Notes in DECLARED that what WHAT names, of LENGTH bytes, is for the device DEVICE; -1: that it
 * communicates and names none. The highest device stays. */
void shlo_note_device(shlo_declared *declared, int64_t device, const char *what, size_t length);
/* Notes the devices of an attribute called KEY, which says TEXT: a sharding, "{devices=[2]0,1}", or
 * of "xla.sdy.meshes" and the like the meshes in it. A sharding that is not known may name any.
 * Other attributes name none. */
void shlo_note_sharding(shlo_declared *declared, shlo_piece key, shlo_piece text);
void shlo_declared_free(shlo_declared *declared); /* leaves it empty */

/* ---- differences (diff.c) ------------------------------------------------------------ */

/* Why two statements that stand for each other differ; the first one that holds is named. */
#define SHLO_REASONS(X)                                                                            \
    X(SHLO_WHY_OP, "op")                                                                           \
    X(SHLO_WHY_RESULTS, "results") /* their number; of a return, what it gives */                  \
    X(SHLO_WHY_SHAPE, "shape")                                                                     \
    X(SHLO_WHY_DTYPE, "dtype")                                                                     \
    X(SHLO_WHY_TYPE, "type") /* neither of both: an encoding, a token */                           \
    X(SHLO_WHY_CONSTANT, "constant")                                                               \
    X(SHLO_WHY_ATTRIBUTE, "attribute")                                                             \
    X(SHLO_WHY_OPERAND, "operand")

typedef enum shlo_reason {
#define X(reason, name) reason,
    SHLO_REASONS(X)
#undef X
        SHLO_REASON_COUNT
} shlo_reason;
const char *shlo_reason_name(shlo_reason reason);

typedef enum shlo_change { SHLO_CHANGED, SHLO_ADDED, SHLO_REMOVED } shlo_change;

typedef struct shlo_difference {
    shlo_change change;
    uint32_t a, b;    /* the node in each graph, SHLO_NONE in the one that lacks it */
    unsigned reasons; /* of what changed, a bit for each shlo_reason */
    uint32_t operand; /* the first one that differs; SHLO_NONE: none does */
} shlo_difference;

/* An op's statements. */
typedef struct shlo_op_count {
    shlo_piece op;
    size_t a, b; /* in each graph */
    size_t added, removed, changed;
} shlo_op_count;

typedef struct shlo_diff {
    const shlo_graph *a, *b; /* borrowed */
    uint32_t *pair;          /* [a->node_count]: the node of B that stands for it, or SHLO_NONE */
    uint32_t *back;          /* [b->node_count]: the same the other way round */
    shlo_difference *list;   /* in the order of the text */
    size_t count, room;
    size_t changed, added, removed;
    size_t moved; /* pairs that are the same and stand in another order: that is no difference */
    size_t because[SHLO_REASON_COUNT];
    shlo_op_count *ops; /* of both graphs, by name */
    size_t op_count;
} shlo_diff;

/*
 * Compares A and B, which must outlive *DIFF. What values are called does not count, nor places,
 * the module's name, or the order of statements that do not depend on each other. Statements are
 * matched by what they say and are computed of, first those that occur once, then between these the
 * others (E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1986; where
 * more than 256 differences stand in one place, a good match in place of the best). What both
 * graphs compute is matched with its equal, wherever that stands. Two statements that are matched
 * differ in an operand where the operands' statements are neither matched nor the same. Time is
 * about in proportion to the statements.
 *
 * The graphs are the same, COUNT 0, exactly if every statement has a match without a difference:
 * they then compute the same, up to collisions of 64-bit hashes. In which of MLIR's text forms they
 * are written does not count. BN_NOT_SUPPORTED: an op is in generic form in one, and in a form of
 * its own in the other that is not known; the message has its name.
 */
BN_MUST_USE bn_code shlo_diff_make(const shlo_graph *a, const shlo_graph *b, shlo_diff **diff,
                                   bn_status *st);
void shlo_diff_free(shlo_diff *diff); /* NULL allowed */

/* The first reason of a difference that is a change. */
shlo_reason shlo_difference_reason(const shlo_difference *difference);

/* ---- costs (cost.c) ------------------------------------------------------------------------- */

/* What a statement computes and moves, as its types say. */
typedef struct shlo_cost {
    double flops, bytes;
} shlo_cost;
/*
 * Of the statement NODE without its regions, by a model of the whole op: products and convolutions
 * have all of their multiplications and additions and move operands and results; an op on elements
 * has one operation an element and moves its result alone, since compilers fuse it with what reads
 * it; reductions move what they read, copies their result twice; what only changes a shape or says
 * a constant costs nothing. Types of dynamic or unknown size cost nothing either.
 */
shlo_cost shlo_node_cost(const shlo_graph *graph, uint32_t node);

/* A statement that is met on the way from @main: NODE, which runs TIMES times in one execution, at
 * the end of CALL_COUNT calls CALLS, the outermost first. */
typedef struct shlo_met {
    uint32_t node;
    double times;
    const uint32_t *calls;
    size_t call_count;
} shlo_met;
typedef void shlo_meet(void *with, const shlo_graph *graph, const shlo_met *met);
/* Meets the statements of @main and of what it calls, in order, those in all branches included. A
 * loop's body runs as often as its condition says, if that compares a counter with a constant; else
 * once, and *UNKNOWN_LOOPS counts it. False: it has no @main, or more than a few million
 * statements are met, or calls are in a circle: not all were met. */
bool shlo_walk(const shlo_graph *graph, shlo_meet *meet, void *with, size_t *unknown_loops);

/* ---- words (words.c) ------------------------------------------------------------------ */

/* Appends PIECE, cut to MOST bytes between characters, as bn_plain. */
void shlo_piece_put(shlo_piece piece, size_t most, bn_text *out);
/* Appends where NODE stands, as it says itself; nothing where it says nothing. */
void shlo_place_put(const shlo_node *node, bn_text *out);
/* The same of the line that it comes from: "f.py:5". */
void shlo_source_put(const shlo_node *node, bn_text *out);
/* Appends one line, without its end: "shape: tensor<2xf32> in A, tensor<4xf32> in B". */
void shlo_difference_put(const shlo_diff *diff, const shlo_difference *difference, bn_text *out);

#endif
