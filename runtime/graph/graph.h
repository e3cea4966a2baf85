/*
 * graph.h - the front end: tensors, traces, ops, gradients, StableHLO text.
 *
 * A model function calls ops on tensors; each call appends one node to the
 * current trace, and the trace's structural hash grows with it. A trace is cut
 * into graphs; a graph is lowered to StableHLO text. Nothing here knows a
 * runtime: device data hangs on a tensor as an opaque pointer that modes set.
 *
 * Errors stick: the first mistake of a trace is kept, with the scope and the
 * op that made it, and later ops do nothing, so that model code reads top to
 * bottom without a check per op. tg_trace_status gives it. Ops never return NULL.
 *
 * One thread per trace. Prefix tg_.
 */
#ifndef BENCH_RUNTIME_GRAPH_H
#define BENCH_RUNTIME_GRAPH_H

#include "runtime/base/base.h"

#define TG_MAX_RANK 6

/* Element types of tensors: the first of runtime/base/dtypes.h. */
typedef bn_dtype tg_dtype;
#define TG_BOOL        BN_PRED
#define TG_I8          BN_S8
#define TG_I32         BN_S32
#define TG_I64         BN_S64
#define TG_U8          BN_U8
#define TG_U32         BN_U32
#define TG_U64         BN_U64
#define TG_F16         BN_F16
#define TG_BF16        BN_BF16
#define TG_F32         BN_F32
#define TG_DTYPE_COUNT BN_DTYPES_OF_TRACES

/* Shape and element type; a scalar has rank 0. Row-major. Unused dims are 0. */
typedef struct tg_type {
    int64_t dims[TG_MAX_RANK];
    int32_t rank;
    tg_dtype dtype;
} tg_type;

/* tg_type_make(TG_F32, 2, 3, 4): RANK dims follow as int64_t or int literals
 * wrapped by TG_DIMS. */
tg_type tg_type_make(tg_dtype dtype, int32_t rank, const int64_t *dims);
#define TG_DIMS(...) ((const int64_t[]){__VA_ARGS__})
bool tg_type_equal(const tg_type *a, const tg_type *b);
int64_t tg_type_elements(const tg_type *type);
int64_t tg_type_bytes(const tg_type *type);
/* "tensor<2x3xf32>" */
void tg_type_write(const tg_type *type, bn_text *out);

typedef struct tg_hash {
    uint64_t low, high;
} tg_hash;

static inline bool tg_hash_equal(tg_hash a, tg_hash b)
{
    return a.low == b.low && a.high == b.high;
}

typedef struct tg_trace tg_trace;
typedef struct tg_tensor tg_tensor;
typedef struct tg_node tg_node;
typedef struct tg_op tg_op;
typedef struct tg_scope tg_scope;

/* ---- tensors ----------------------------------------------------------- */

/*
 * Two kinds of tensor. A *variable* is made by its owner, outlives traces and
 * holds device data: parameters, optimizer state, running statistics, inputs,
 * the learning rate, results such as the loss. A *value* is the result of an
 * op; it belongs to its trace and dies at the next tg_trace_begin. Using a dead
 * value is an error of the trace where it is detected (its place not yet taken
 * by a new value), and never a crash.
 */

/* NAME is copied. */
tg_tensor *tg_variable_new(const char *name, const tg_type *type);
/* Gives VARIABLE another shape or dtype between traces (a batch of another
 * length); it must hold no data. */
void tg_variable_retype(tg_tensor *variable, const tg_type *type);
/* Counts the types that VARIABLE has had: equal versions, equal types. */
uint32_t tg_variable_version(const tg_tensor *variable);
/* The data and the version in one call, for replays, which look at hundreds of variables. */
void *tg_variable_peek(const tg_tensor *variable, uint32_t *version);
/* Puts DATA in place of the old data, which it returns. */
void *tg_variable_exchange(tg_tensor *variable, void *data);
void tg_variable_free(tg_tensor *variable); /* NULL allowed; its data must be gone */

const tg_type *tg_tensor_type(const tg_tensor *tensor);
const char *tg_tensor_name(const tg_tensor *tensor); /* "" for values */

/* The opaque device data of a tensor, NULL when it has none. The caller keeps
 * what it stores there. */
void *tg_tensor_data(const tg_tensor *tensor);
void tg_tensor_set_data(tg_tensor *tensor, void *data);

/* ---- trace ------------------------------------------------------------- */

/*
 * Phases name the stretches of a step; --graphs cuts between them. Nodes are
 * tagged with the phase in force. Data flows from lower phases to higher ones
 * only.
 */
typedef enum tg_phase {
    TG_PHASE_INPUT,      /* batch made ready on the device */
    TG_PHASE_FORWARD,    /* forward pass and loss */
    TG_PHASE_STATISTICS, /* running statistics and other clean-up of the forward pass */
    TG_PHASE_BACKWARD,   /* gradients */
    TG_PHASE_UPDATE,     /* optimizer */
    TG_PHASE_COUNT
} tg_phase;

/*
 * Callbacks of a mode. Each may be NULL. All are called while the trace is sound, on
 * the thread that calls the op, and must not emit ops into the trace. A failure becomes the
 * trace's error, with the op's name ("read" for a read) in front of the message.
 */
typedef struct tg_hooks {
    void *context; /* given to each call */
    /* Called after each node has been appended, typed and hashed, in the trace's order; not
     * for entry values of variables. The hook may compute the node's results and hang their
     * contents on them (tg_tensor_set_data): the next ops find them there (eager execution). */
    bn_code (*node)(void *context, tg_trace *trace, tg_node *node, bn_status *st);
    /* Called by tg_read with a VALUE of this trace, for a variable the one it has now. Computes
     * VALUE where it is not computed yet, which may cut the trace (tg_trace_cut), and copies
     * its SIZE bytes to HOST, dense row-major. Without this hook a read is an error. */
    bn_code (*read)(void *context, tg_trace *trace, tg_tensor *value, void *host, size_t size,
                    bn_status *st);
    /* Called for each node of an op that the host computes (tg_node_host_op), in place of NODE. It
     * computes the operand where that is not computed yet, which cuts the trace, and hangs the
     * result's contents on it. Without this hook such an op is an error. */
    bn_code (*host)(void *context, tg_trace *trace, tg_node *node, bn_status *st);
    /* Called by tg_forget: nobody uses the values of the nodes from FIRST_NODE to the last one
     * any more, but for those that are assigned to variables. The hook may free their
     * contents. */
    void (*forget)(void *context, tg_trace *trace, size_t first_node);
} tg_hooks;

tg_trace *tg_trace_new(void);
void tg_trace_free(tg_trace *trace); /* NULL allowed */
/* HOOKS are copied; they stay for all later steps of the trace. */
void tg_trace_set_hooks(tg_trace *trace, const tg_hooks *hooks);
/* From now on each node of the trace costs NS nanoseconds more, spent in a busy wait:
 * what a slower front end would be like. 0, the default, costs nothing. */
void tg_trace_set_node_cost(tg_trace *trace, uint64_t ns);

typedef enum tg_precision {
    TG_PRECISION_DEFAULT,
    TG_PRECISION_HIGH,
    TG_PRECISION_HIGHEST
} tg_precision;
/* Precision asked of matrix products and convolutions from here on. */
void tg_trace_set_precision(tg_trace *trace, tg_precision precision);

/* Forgets all values and starts an empty trace; keeps the memory. */
void tg_trace_begin(tg_trace *trace);
/* The sticky status: BN_OK, or the first error, copied to ST. */
BN_MUST_USE bn_code tg_trace_status(const tg_trace *trace, bn_status *st);
/* Puts an error of the model's own on the trace; the first one stays. */
void tg_trace_fail(tg_trace *trace, bn_code code, const char *format, ...) BN_PRINTF(3, 4);
size_t tg_trace_node_count(const tg_trace *trace);
/* Nodes that were traced since tg_trace_begin, with those of loops' bodies. */
size_t tg_trace_traced(const tg_trace *trace);
/* Hash over everything appended so far. */
tg_hash tg_trace_hash(const tg_trace *trace);

/* Sets the phase of the nodes to come; returns the one in force before. */
tg_phase tg_trace_phase(tg_trace *trace, tg_phase phase);

/* Nested names for nodes; NAME must live until the trace ends (literals and
 * names of layers do). They appear as locations in the text: "layer1.0.conv2". */
void tg_scope_push(tg_trace *trace, const char *name);
void tg_scope_pop(tg_trace *trace);
/* Appends "layer1.0.conv2"; nothing for NULL, which is outside of all scopes. */
void tg_scope_write(const tg_scope *scope, bn_text *out);

/* Makes VALUE the new contents of VARIABLE, same type; takes effect for later
 * ops at once and on the device when the step is dispatched. */
void tg_assign(tg_trace *trace, tg_tensor *variable, tg_tensor *value);

/*
 * Copies a tensor's contents to HOST (SIZE bytes, dense row-major). Everything
 * needed is computed first: in lazy and capture modes this cuts the graph. A
 * value made before a read and used after it is computed again: the host cannot
 * see what C code still refers to.
 */
void tg_read(tg_trace *trace, tg_tensor *tensor, void *host, size_t size);
/* Says that the values made since the trace had FIRST_NODE nodes are not used any
 * more, but for those that variables were assigned: C does not say when a value dies. Frees
 * memory in eager execution, where to use such a value afterwards is an error;
 * changes nothing elsewhere. */
void tg_forget(tg_trace *trace, size_t first_node);

/* ---- graphs: how a mode sees a trace ----------------------------------- */

/*
 * A stretch of the trace that becomes one executable. INPUTS are variables'
 * entry values or values that earlier graphs of the same trace put out;
 * OUTPUTS are values. All arrays live until the next tg_trace_begin.
 */
typedef struct tg_graph {
    const tg_trace *trace;
    unsigned group; /* the phase group it was cut for */
    tg_phase first_phase, last_phase;
    tg_hash hash; /* of structure, outputs and donations */
    tg_tensor **inputs;
    tg_tensor **outputs;
    tg_tensor **target; /* [output]: variable that it becomes, or NULL */
    int32_t *donor;     /* [output]: input whose memory it takes over, or -1 */
    size_t input_count, output_count;
    size_t first_node, end_node; /* nodes of the trace that can be in it */
} tg_graph;

/*
 * Cuts what was traced since the last cut into graphs, by GROUP_OF_PHASE
 * (ascending group numbers). With STOP_AT, a value about to be read, the cut is
 * a graph break: STOP_AT is an output too, and nothing is donated, so that later graphs can still
 * compute from the step's entry. Otherwise the step ends here. *GRAPHS is an array of *COUNT
 * pointers, in order of execution. Fails with the trace's status, or when data flows against the
 * phases.
 */
BN_MUST_USE bn_code tg_trace_cut(tg_trace *trace, const unsigned group_of_phase[TG_PHASE_COUNT],
                                 tg_tensor *stop_at, tg_graph *const **graphs, size_t *count,
                                 bn_status *st);

/*
 * A step as windows (windows.c): graphs of some nodes each, in order, that can be run while the rest
 * of the step is being traced. A plan is made of a trace that has ended and holds for each later one
 * of the same hash, also when only its first nodes have been traced.
 */
typedef struct tg_windows tg_windows;
/* The host needed VALUE when the trace had NODE nodes: a read, or an op of the host. */
typedef struct tg_stop {
    size_t node;
    tg_tensor *value;
} tg_stop;
typedef struct tg_window_info {
    size_t first_node, end_node; /* nodes of the trace; the window may make others anew */
    bool early;             /* it may be run when END_NODE nodes are traced; others wait for the end */
    bool stops;             /* it ends at a stop */
    int64_t crossing_bytes; /* that it hands to later windows or the host, besides contents of variables */
} tg_window_info;
/* Windows of TRACE, whose step has ended without an error, of about NODES nodes each (0: as many as
 * there are), which end at all STOPS, COUNT of them in order, and else where few bytes cross. The
 * caller frees them. Variables that the trace assigned must outlive them. */
tg_windows *tg_windows_new(const tg_trace *trace, size_t nodes, const tg_stop *stops, size_t count);
void tg_windows_free(tg_windows *windows); /* NULL allowed */
size_t tg_windows_count(const tg_windows *windows); /* at least 1 */
const tg_window_info *tg_windows_at(const tg_windows *windows, size_t index);
/* Whether TRACE, which has ended, has as many nodes and assigned the same values to the same
 * variables. With the same hash it is the trace that was planned. */
bool tg_windows_fit(const tg_windows *windows, const tg_trace *trace);
/* Window INDEX as a graph of TRACE, which lives until the next tg_trace_begin. Its targets are the
 * variables of the plan, whatever TRACE assigned. NULL where TRACE has not the nodes for it. */
const tg_graph *tg_windows_graph(tg_trace *trace, const tg_windows *windows, size_t index);
/* GRAPH of TRACE was run before the trace ended. A cut after this computes what is missing. */
void tg_windows_ran(tg_trace *trace, const tg_graph *graph);

/* The variable whose entry value INPUT is, or NULL for a value of a graph. */
tg_tensor *tg_input_variable(const tg_tensor *input);
/* Variables assigned in the trace so far, in order of first assignment, and
 * the value that each now has. */
size_t tg_trace_assigned_count(const tg_trace *trace);
tg_tensor *tg_trace_assigned(const tg_trace *trace, size_t index, tg_tensor **value);
/* Whether VALUE is what some variable was assigned last. */
bool tg_trace_is_assigned(const tg_trace *trace, const tg_tensor *value);
/* Node INDEX of the trace; entry values of variables are nodes, too. */
tg_node *tg_trace_node(const tg_trace *trace, size_t index);
/* The value that TENSOR stands for now: a variable's assigned or entry value
 * (NULL when the trace has not used it), a value itself. */
tg_tensor *tg_trace_value(const tg_trace *trace, const tg_tensor *tensor);

/* Appends the graph as a StableHLO module called NAME to OUT. Only nodes that an
 * output needs are written. */
void tg_graph_lower(const tg_graph *graph, const char *name, bn_text *out);
/* How values lie in the device's memory: for each input and output a layout as XLA writes it,
 * "{0,1:T(8,128)}", or "auto", of which the compiler chooses one; NULL: the default. A list that is
 * NULL: the default for all. */
typedef struct tg_layouts {
    const char *const *inputs, *const *outputs;
} tg_layouts;
/* The same with LAYOUTS (NULL allowed), as attributes mhlo.layout_mode, which XLA's plugins for
 * accelerators honour. */
void tg_graph_lower_laid_out(const tg_graph *graph, const char *name, const tg_layouts *layouts,
                             bn_text *out);

/* Nodes that outputs need, their FLOPs (multiply and add count as two), the
 * multiply-adds of matrix products and convolutions among them, and the bytes that
 * they read and write if nothing is fused. */
typedef struct tg_graph_cost {
    int64_t nodes;
    double flops, macs, bytes;
    double offloaded; /* bytes of stacks that loops are to keep in the host's memory */
} tg_graph_cost;
void tg_graph_measure(const tg_graph *graph, tg_graph_cost *cost);
/* Calls VISIT for each node that an output of GRAPH needs, with its own part of tg_graph_measure's
 * sums: of a loop first its node, which costs nothing by itself, then the nodes of its body, with
 * the cost of all iterations and no nodes. */
void tg_graph_visit(const tg_graph *graph,
                    void (*visit)(void *context, const tg_node *node, const tg_graph_cost *cost),
                    void *context);

/* The same for a single node, for eager execution. NODE's key covers op,
 * attributes and operand types; its graph has the node alone, with the distinct
 * operands as inputs. Lives until the next tg_trace_begin. */
tg_hash tg_node_key(const tg_node *node);
const tg_graph *tg_node_graph(tg_trace *trace, tg_node *node);
const char *tg_node_op_name(const tg_node *node);
bool tg_node_has_op(const tg_node *node); /* false for a variable's entry value */
size_t tg_node_operand_count(const tg_node *node);
tg_tensor *tg_node_operand(const tg_node *node, size_t index);
size_t tg_node_result_count(const tg_node *node);
/* The host's computation of such an op; it may outlive the trace. */
typedef struct tg_host_op {
    const char *name; /* static */
    /* Y, of type OUT, from X, of type IN, both dense row-major. Cannot fail. */
    void (*compute)(const tg_type *in, const void *x, const tg_type *out, void *y);
    tg_type in, out;
} tg_host_op;
tg_host_op tg_node_host_op(const tg_node *node);
tg_tensor *tg_node_result(const tg_node *node, size_t index);

/* ---- gradients ---------------------------------------------------------- */

/*
 * Emits the gradient of the scalar LOSS with respect to each of WRT[COUNT]
 * into the same trace; GRADS gets one value each, of the type of WRT[i] (zeros
 * where the loss does not depend on it). Reaching an op without a gradient rule
 * on the way is an error that names it. Reverse accumulation (Griewank and
 * Walther, Evaluating Derivatives, 2008, section 3.2).
 */
void tg_backward(tg_trace *trace, tg_tensor *loss, tg_tensor *const *wrt, size_t count,
                 tg_tensor **grads);

/* Makes the value X a constant for gradients: nothing flows back through it.
 * Returns the value. */
tg_tensor *tg_stop_gradient(tg_trace *trace, tg_tensor *x);

/* ---- loops (op_scan.c) --------------------------------------------------- */

/*
 * Values of an iteration that are saved for the gradient of a loop. Inputs of the body are never
 * saved. All else is recomputed in the backward body, from values behind a barrier, so that no
 * compiler replaces it by the forward loop's results. Chen et al., Training Deep Nets with
 * Sublinear Memory Cost, 2016; the words are those of jax.checkpoint's policies.
 */
typedef enum tg_remat {
    TG_REMAT_NONE, /* all that is needed, except what moving data recomputes */
    TG_REMAT_DOTS, /* results of matrix products and convolutions, and carried values */
    TG_REMAT_LAYER /* carried values */
} tg_remat;

/*
 * A loop of LENGTH iterations, as jax.lax.scan. CARRIED values go from one iteration to the next.
 * STACKED tensors are (LENGTH, ...); iteration i takes slice i of each. Each iteration returns OUTS
 * values, which the loop stacks. With REVERSE the last slices come first, and an iteration's outs
 * are stacked at the index of its slices.
 *
 * BODY traces the iteration, once, on a trace of its own, TRACE, from its inputs CARRIED and
 * SLICES; it sets NEXT[k], of CARRIED[k]'s type, and OUT[k]. It may use values and variables of the
 * outer trace: the loop takes their values before it. It assigns only variables that it binds, and
 * reads nothing.
 */
typedef struct tg_loop {
    int64_t length;
    bool reverse;
    tg_remat remat;
    bool offload; /* saved floats are asked into the host's memory */
    tg_tensor *const *carried, *const *stacked;
    size_t carried_count, stacked_count, outs;
    void (*body)(tg_trace *trace, void *context, tg_tensor *const *carried,
                 tg_tensor *const *slices, tg_tensor **next, tg_tensor **out);
    void *context; /* of BODY */
} tg_loop;

/*
 * Appends the loop to TRACE as one node. RESULTS gets the carried values after the last iteration,
 * then the stacks, (LENGTH, ...) each; LENGTH is at least 1, and there is a result. Errors
 * stick to TRACE, those of the body too.
 *
 * Its gradient is a loop in the other direction. The forward loop returns the values saved for it
 * (tg_remat) as further stacks; the gradients of captured values are summed over the iterations. A
 * gradient of the gradient is refused with BN_NOT_SUPPORTED. Eager execution runs the forward loop
 * again for these stacks, since they were not known when it ran.
 *
 * With OFFLOAD the text asks that stacks of saved floats are kept in the host's memory: it moves
 * slices there and back by annotation, as JAX does (custom calls annotate_device_placement).
 * Whether a compiler does so shows in its memory statistics; a stack that one graph passes to
 * another is an argument and a result, to which the annotation does not apply.
 */
void tg_scan(tg_trace *trace, const tg_loop *loop, tg_tensor **results);

/*
 * In a loop's body, with its trace: to the end of the body VARIABLE has the type and the contents
 * VALUE, so that layers made for a variable run on a slice. tg_assign changes these contents within
 * the body; tg_trace_value returns the last ones.
 */
void tg_bind(tg_trace *trace, tg_tensor *variable, tg_tensor *value);

/* ---- ops ---------------------------------------------------------------- */

/* A row of `bench list ops`; INDEX from 0 until false. */
typedef struct tg_op_info {
    const char *name, *stablehlo, *family, *summary;
    int min_operands, max_operands, results; /* max or results -1: any number */
    bool differentiable;
} tg_op_info;
bool tg_op_describe(size_t index, tg_op_info *info);

/*
 * Element-wise, one operand: result has the operand's type. Float ops take
 * floats; neg, abs and sign any signed number; not takes bool and integers.
 */
tg_tensor *tg_neg(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_abs(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_sign(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_floor(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_exp(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_expm1(tg_trace *trace, tg_tensor *x); /* e^x - 1, exact near 0 */
tg_tensor *tg_log(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_log1p(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_sqrt(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_rsqrt(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_tanh(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_logistic(tg_trace *trace, tg_tensor *x);
/* Error function: 2 / sqrt(pi) times the integral of exp(-s^2) from 0 to x. */
tg_tensor *tg_erf(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_sin(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_cos(tg_trace *trace, tg_tensor *x);
tg_tensor *tg_not(tg_trace *trace, tg_tensor *x);

/*
 * Element-wise, two operands of one dtype and one shape; a scalar (rank 0)
 * operand stands for a tensor of the other's shape. At a tie, max and min pass
 * the gradient to B (so relu(x) = max(x, 0) has gradient 0 at 0, as PyTorch's).
 */
tg_tensor *tg_add(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_sub(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_mul(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_div(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_max(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_min(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_pow(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_and(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_or(tg_trace *trace, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_xor(tg_trace *trace, tg_tensor *a, tg_tensor *b);

typedef enum tg_direction { TG_EQ, TG_NE, TG_LT, TG_LE, TG_GT, TG_GE } tg_direction;
/* Result is bool. Operands as above. */
tg_tensor *tg_compare(tg_trace *trace, tg_tensor *a, tg_tensor *b, tg_direction direction);
/* PREDICATE (bool, shape of the result) chooses from A or B, as above. */
tg_tensor *tg_select(tg_trace *trace, tg_tensor *predicate, tg_tensor *a, tg_tensor *b);
tg_tensor *tg_convert(tg_trace *trace, tg_tensor *x, tg_dtype dtype);

/* Constants. VALUE is rounded to the dtype. */
tg_tensor *tg_scalar(tg_trace *trace, tg_dtype dtype, double value);
tg_tensor *tg_full(tg_trace *trace, const tg_type *type, double value);
/* 0, 1, 2, ... along dimension DIM of TYPE. */
tg_tensor *tg_iota(tg_trace *trace, const tg_type *type, int dim);

/*
 * Random bits of TYPE (ui32 or ui64) from STATE (tensor<2xui64>: a key, then a
 * counter), and the state that the next draw starts from in *NEW_STATE: the same
 * state, the same bits, on one build of a plugin; StableHLO leaves their values
 * to it. ThreeFry (Salmon et al., 2011). Bits are integers, so gradients end here.
 */
tg_tensor *tg_random_bits(tg_trace *trace, tg_tensor *state, const tg_type *type,
                          tg_tensor **new_state);

/* Shape. */
tg_tensor *tg_reshape(tg_trace *trace, tg_tensor *x, int32_t rank, const int64_t *dims);
/* Result dimension i is operand dimension PERMUTATION[i]. */
tg_tensor *tg_transpose(tg_trace *trace, tg_tensor *x, const int *permutation);
/* Operand dimension i becomes result dimension MAP[i] (ascending); a size of 1
 * is stretched. */
tg_tensor *tg_broadcast(tg_trace *trace, tg_tensor *x, int32_t rank, const int64_t *dims,
                        const int *map);
/* AXES is a bit mask of dimensions, bit i for dimension i. */
tg_tensor *tg_reverse(tg_trace *trace, tg_tensor *x, unsigned axes);
tg_tensor *tg_slice(tg_trace *trace, tg_tensor *x, const int64_t *start, const int64_t *limit,
                    const int64_t *stride);
/* LOW and HIGH may be negative (cropping); INTERIOR zeros between elements.
 * VALUE is a scalar tensor. */
tg_tensor *tg_pad(tg_trace *trace, tg_tensor *x, tg_tensor *value, const int64_t *low,
                  const int64_t *high, const int64_t *interior);
tg_tensor *tg_concatenate(tg_trace *trace, tg_tensor *const *parts, size_t count, int dim);

/*
 * Rows by number. X is (N, rest...), IDS integers of 32 or 64 bits and of any
 * shape S. gather_rows gives (S..., rest...), an embedding lookup: a number
 * outside 0..N-1 takes the first or the last row. scatter_add_rows adds UPDATES
 * (S..., rest...) to the rows of X that IDS name. A row that is named several times
 * gets several updates, and a number that names no row drops its update. Each op is
 * the other's gradient. StableHLO specification, gather and scatter.
 */
tg_tensor *tg_gather_rows(tg_trace *trace, tg_tensor *x, tg_tensor *ids);
tg_tensor *tg_scatter_add_rows(tg_trace *trace, tg_tensor *x, tg_tensor *ids, tg_tensor *updates);

/*
 * A part of SIZES whose start is data: STARTS has an integer scalar for each
 * dimension of X, all of one dtype. A start that would put the part partly
 * outside X is moved to the nearest that does not. The update gives X with that
 * part replaced by UPDATE (no larger than X).
 */
tg_tensor *tg_dynamic_slice(tg_trace *trace, tg_tensor *x, tg_tensor *const *starts,
                            const int64_t *sizes);
tg_tensor *tg_dynamic_update_slice(tg_trace *trace, tg_tensor *x, tg_tensor *update,
                                   tg_tensor *const *starts);
/* The same update before a barrier. Without it XLA for CPU makes the update again within each op
 * that takes the result, and copies X for each, also where X is donated. */
tg_tensor *tg_dynamic_update_slice_apart(tg_trace *trace, tg_tensor *x, tg_tensor *update,
                                         tg_tensor *const *starts);

/* Reductions over the dimensions in the bit mask AXES, which disappear. A
 * maximum's gradient goes to every element equal to it, shared evenly. */
tg_tensor *tg_reduce_sum(tg_trace *trace, tg_tensor *x, unsigned axes);
tg_tensor *tg_reduce_max(tg_trace *trace, tg_tensor *x, unsigned axes);
tg_tensor *tg_reduce_min(tg_trace *trace, tg_tensor *x, unsigned axes);
/* The same sum behind a barrier: the compiler computes X before it, not within it. */
tg_tensor *tg_reduce_sum_apart(tg_trace *trace, tg_tensor *x, unsigned axes);

/*
 * The K largest elements along the last dimension, largest first, and their
 * positions there in *INDICES (i32): (..., N) gives two of (..., K). Of equal
 * ones the first comes first. Floats are in their total order, in which 0 is
 * above -0 and NaN above infinity. The gradient goes to where the values were.
 */
tg_tensor *tg_top_k(tg_trace *trace, tg_tensor *x, int64_t k, tg_tensor **indices);

/* Contracts and batches pairs of dimensions; result: batch, free of A, free of B. */
typedef struct tg_dot_dims {
    int32_t batch_count, contract_count;
    int32_t batch_a[TG_MAX_RANK], batch_b[TG_MAX_RANK];
    int32_t contract_a[TG_MAX_RANK], contract_b[TG_MAX_RANK];
} tg_dot_dims;
tg_tensor *tg_dot(tg_trace *trace, tg_tensor *a, tg_tensor *b, const tg_dot_dims *dims);
/* (..., M, K) x (K, N): the last dimension of A with the first of B. */
tg_tensor *tg_matmul(tg_trace *trace, tg_tensor *a, tg_tensor *b);

/*
 * Two-dimensional convolution in any layout. LHS, RHS and OUT say which
 * dimension is [0] batch (RHS: input feature), [1] feature (RHS: output
 * feature), [2] height, [3] width. Only groups or batch_groups may exceed 1.
 * Semantics: StableHLO specification, convolution.
 */
typedef struct tg_conv_dims {
    int32_t lhs[4], rhs[4], out[4];
    int32_t stride[2], pad_low[2], pad_high[2], lhs_dilation[2], rhs_dilation[2];
    int32_t groups, batch_groups;
} tg_conv_dims;
tg_tensor *tg_convolution(tg_trace *trace, tg_tensor *lhs, tg_tensor *rhs,
                          const tg_conv_dims *dims);

/* Windows over every dimension (size 1, stride 1, no padding where untouched). */
typedef struct tg_window {
    int32_t size[TG_MAX_RANK], stride[TG_MAX_RANK];
    int32_t pad_low[TG_MAX_RANK], pad_high[TG_MAX_RANK];
} tg_window;
tg_tensor *tg_window_max(tg_trace *trace, tg_tensor *x, const tg_window *window);
tg_tensor *tg_window_sum(tg_trace *trace, tg_tensor *x, const tg_window *window);
/* Sums of all elements up to each one along AXIS, itself included, in X's dtype. */
tg_tensor *tg_cumsum(tg_trace *trace, tg_tensor *x, int axis);
/* Adds each element of SOURCE to the position of its window's first maximum in
 * X: the gradient of tg_window_max. */
tg_tensor *tg_select_and_scatter(tg_trace *trace, tg_tensor *x, tg_tensor *source,
                                 const tg_window *window);

/*
 * Where X is not zero: i32 (SIZE), positions in row-major order; of more than SIZE the first, and
 * -1 behind the last, as numpy.flatnonzero cut to SIZE. StableHLO has nothing like it, so the
 * host computes it: X is read, which cuts the graph as tg_read does, and the result sent. No
 * gradient.
 */
tg_tensor *tg_nonzero(tg_trace *trace, tg_tensor *x, int64_t size);

/*
 * Batch normalisation over all dimensions but FEATURE; scale, offset, mean and
 * variance have one element a feature and X's dtype. Training normalises by the
 * biased variance and also gives mean and variance of the batch.
 */
tg_tensor *tg_batch_norm_training(tg_trace *trace, tg_tensor *x, tg_tensor *scale,
                                  tg_tensor *offset, double epsilon, int feature, tg_tensor **mean,
                                  tg_tensor **variance);
tg_tensor *tg_batch_norm_inference(tg_trace *trace, tg_tensor *x, tg_tensor *scale,
                                   tg_tensor *offset, tg_tensor *mean, tg_tensor *variance,
                                   double epsilon, int feature);
/* Gradients of training with respect to X (returned), scale and offset. */
tg_tensor *tg_batch_norm_grad(tg_trace *trace, tg_tensor *x, tg_tensor *scale, tg_tensor *mean,
                              tg_tensor *variance, tg_tensor *grad_output, double epsilon,
                              int feature, tg_tensor **grad_scale, tg_tensor **grad_offset);

#endif
