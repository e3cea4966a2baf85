/*
 * op_scan.c - loops over slices of stacked tensors. The body is traced once, on a trace of its own
 * (region.c), so a loop's text and trace do not grow with its length.
 *
 * In StableHLO a loop is a while over these values, in this order: the number of the iteration;
 * carried values; the stacks that iterations fill; the stacks that they read; captured values. The
 * node's results are the second and the third.
 */
#include "runtime/graph/op_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- types --------------------------------------------------------------------- */

static const tg_type counter = {.dtype = TG_I32};

/* LENGTH tensors of type PART, one behind the other. */
static tg_type stack_type(const tg_type *part, int64_t length)
{
    tg_type type = {.rank = part->rank + 1, .dtype = part->dtype};
    type.dims[0] = length;
    for (int32_t i = 0; i < part->rank && i + 1 < TG_MAX_RANK; i++)
        type.dims[i + 1] = part->dims[i];
    return type;
}

static tg_type slice_type(const tg_type *stack)
{
    return tg_type_make(stack->dtype, stack->rank - 1, stack->dims + 1);
}

/* tg_scan has checked the stacks that iterations read. */
static bn_code infer_scan(const tg_node *node, bn_status *st)
{
    const tg_scan_attributes *a = node->attributes;
    const tg_graph *body = &tg_node_region(node)->graph;
    for (size_t r = 0; r < node->result_count; r++) {
        const tg_type *given = &body->outputs[r]->type;
        if (r >= (size_t)a->carried) {
            if (given->rank == TG_MAX_RANK)
                return tg_type_fail(st, "cannot stack, for want of a dimension,", given);
            node->results[r].type = stack_type(given, a->length);
            continue;
        }
        if (!tg_type_equal(given, tg_operand_type(node, r)))
            return tg_type_fail_pair(st, "an iteration passes on another type than it took",
                                     tg_operand_type(node, r), given);
        node->results[r].type = *given;
    }
    return BN_OK;
}

/* ---- lowering ------------------------------------------------------------------- */

/* "    %x4 = stablehlo.constant dense<VALUE> : TYPE" */
static unsigned write_constant(tg_lowering *l, const tg_type *type, double value)
{
    const unsigned name = tg_lowering_fresh(l);
    tg_lowering_printf(l, "    ");
    tg_lowering_extra(l, name);
    tg_lowering_printf(l, " = stablehlo.constant dense<");
    tg_lowering_literal(l, type->dtype, value);
    tg_lowering_printf(l, "> : ");
    tg_lowering_type(l, type);
    tg_lowering_printf(l, "\n");
    return name;
}

/* "    %x7 = stablehlo.OP %x5, %x6", without its type */
static unsigned write_pair(tg_lowering *l, const char *op, unsigned a, unsigned b)
{
    const unsigned name = tg_lowering_fresh(l);
    tg_lowering_printf(l, "    ");
    tg_lowering_extra(l, name);
    tg_lowering_printf(l, " = stablehlo.%s ", op);
    tg_lowering_extra(l, a);
    tg_lowering_printf(l, ", ");
    tg_lowering_extra(l, b);
    return name;
}

/* How many values the while has, and the type of each. */
static size_t width_of(const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    return 1 + (size_t)node->result_count + node->operand_count - (size_t)a->carried;
}

static const tg_type *type_at(const tg_node *node, size_t i)
{
    const tg_scan_attributes *a = node->attributes;
    if (i == 0)
        return &counter;
    if (i <= node->result_count)
        return &node->results[i - 1].type;
    return tg_operand_type(node, i - 1 - node->result_count + (size_t)a->carried);
}

static void write_types(tg_lowering *l, const tg_node *node)
{
    for (size_t i = 0; i < width_of(node); i++) {
        tg_lowering_printf(l, "%s", i ? ", " : "");
        tg_lowering_type(l, type_at(node, i));
    }
}

/* The loop's condition: whether iterations are left. */
static void write_condition(tg_lowering *l, const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    unsigned number = 0;
    tg_lowering_printf(l, "    ^bb0(");
    for (size_t i = 0; i < width_of(node); i++) {
        const unsigned name = tg_lowering_fresh(l);
        number = i == 0 ? name : number;
        tg_lowering_printf(l, "%s", i ? ", " : "");
        tg_lowering_extra(l, name);
        tg_lowering_printf(l, ": ");
        tg_lowering_type(l, type_at(node, i));
    }
    tg_lowering_printf(l, "):\n");
    const unsigned end = write_constant(l, &counter, (double)a->length);
    const unsigned more = write_pair(l, "compare LT,", number, end);
    tg_lowering_printf(l, " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return ");
    tg_lowering_extra(l, more);
    tg_lowering_printf(l, " : tensor<i1>\n");
}

/* Names of extra values in the body: the number of the iteration, the first stack that is filled,
 * the first that is read, the index in the stacks, zero. */
typedef struct names {
    unsigned number, filled, read, index, zero;
} names;

/* "    ^bb0(%x9: tensor<i32>, %12: ...):" */
static names write_arguments(tg_lowering *in, const tg_node *node, const tg_graph *body)
{
    const tg_scan_attributes *a = node->attributes;
    const size_t carried = (size_t)a->carried, results = node->result_count;
    const size_t slices = (size_t)a->stacked;
    names n = {.number = tg_lowering_fresh(in)};
    n.filled = n.number + 1;
    n.read = n.filled + (unsigned)(results - carried);
    tg_lowering_printf(in, "    ^bb0(");
    tg_lowering_extra(in, n.number);
    tg_lowering_printf(in, ": tensor<i32>");
    for (size_t i = 1; i < width_of(node); i++) {
        const bool fills = i > carried && i <= results;
        const bool reads = i > results && i <= results + slices;
        const size_t input = i <= carried ? i - 1 : i - 1 - (results - carried);
        tg_lowering_printf(in, ", ");
        if (fills || reads)
            tg_lowering_extra(in, tg_lowering_fresh(in));
        else
            tg_lowering_name(in, body->inputs[input]);
        tg_lowering_printf(in, ": ");
        tg_lowering_type(in, type_at(node, i));
    }
    tg_lowering_printf(in, "):\n");
    n.index = n.number;
    if (a->reverse) {
        n.index = write_pair(in, "subtract", write_constant(in, &counter, (double)(a->length - 1)),
                             n.number);
        tg_lowering_printf(in, " : tensor<i32>\n");
    }
    n.zero = write_constant(in, &counter, 0.0);
    return n;
}

/* ", %x11, %x12, %x12": where the slice of an iteration begins in a stack. */
static void write_starts(tg_lowering *in, const names *n, int32_t rank)
{
    for (int32_t i = 0; i < rank; i++) {
        tg_lowering_printf(in, ", ");
        tg_lowering_extra(in, i == 0 ? n->index : n->zero);
    }
}

static void write_start_types(tg_lowering *in, int32_t rank)
{
    for (int32_t i = 0; i < rank; i++)
        tg_lowering_printf(in, ", tensor<i32>");
}

/* VALUE, the slice of the stack NUMBER. */
static void write_slice(tg_lowering *in, const names *n, unsigned number, const tg_type *stack,
                        const tg_tensor *value)
{
    const unsigned name = tg_lowering_fresh(in);
    tg_type part = *stack;
    part.dims[0] = 1;
    tg_lowering_printf(in, "    ");
    tg_lowering_extra(in, name);
    tg_lowering_printf(in, " = stablehlo.dynamic_slice ");
    tg_lowering_extra(in, n->read + number);
    write_starts(in, n, stack->rank);
    tg_lowering_list(in, ", sizes = ", part.dims, (size_t)part.rank);
    tg_lowering_printf(in, " : (");
    tg_lowering_type(in, stack);
    write_start_types(in, stack->rank);
    tg_lowering_printf(in, ") -> ");
    tg_lowering_type(in, &part);
    tg_lowering_printf(in, "\n    ");
    tg_lowering_name(in, value);
    tg_lowering_printf(in, " = stablehlo.reshape ");
    tg_lowering_extra(in, name);
    tg_lowering_printf(in, " : (");
    tg_lowering_type(in, &part);
    tg_lowering_printf(in, ") -> ");
    tg_lowering_type(in, &value->type);
    tg_lowering_printf(in, "\n");
}

/* The annotation by which XLA's compilers place a value in a kind of memory, as JAX writes it.
 * WHERE: pinned_host or device. */
#define PLACE_HEAD "stablehlo.custom_call @annotate_device_placement("
#define PLACE_TAIL(where)                                                                          \
    ") {backend_config = \"\", has_side_effect = true, mhlo.frontend_attributes = "                \
    "{_xla_buffer_placement = \"" where "\"}}"

/* VALUE moved to the host's memory, under the extra name NAME. */
static void write_to_host(tg_lowering *in, unsigned name, const tg_tensor *value)
{
    tg_lowering_printf(in, "    ");
    tg_lowering_extra(in, name);
    tg_lowering_printf(in, " = " PLACE_HEAD);
    tg_lowering_value(in, value);
    tg_lowering_printf(in, PLACE_TAIL("pinned_host") " : (");
    tg_lowering_type(in, &value->type);
    tg_lowering_printf(in, ") -> ");
    tg_lowering_type(in, &value->type);
    tg_lowering_printf(in, "\n");
}

/* The stack NUMBER with VALUE as its slice of this iteration. It takes PART_NAMES names; the last
 * one is the new stack's. */
#define PART_NAMES 3
static void write_part(tg_lowering *in, const names *n, unsigned number, const tg_type *stack,
                       const tg_tensor *value, bool to_host)
{
    const unsigned placed = tg_lowering_fresh(in), row = tg_lowering_fresh(in);
    tg_type part = *stack;
    part.dims[0] = 1;
    if (to_host)
        write_to_host(in, placed, value);
    tg_lowering_printf(in, "    ");
    tg_lowering_extra(in, row);
    tg_lowering_printf(in, " = stablehlo.reshape ");
    if (to_host)
        tg_lowering_extra(in, placed);
    else
        tg_lowering_value(in, value);
    tg_lowering_printf(in, " : (");
    tg_lowering_type(in, &value->type);
    tg_lowering_printf(in, ") -> ");
    tg_lowering_type(in, &part);
    tg_lowering_printf(in, "\n");
    write_pair(in, "dynamic_update_slice", n->filled + number, row);
    write_starts(in, n, stack->rank);
    tg_lowering_printf(in, " : (");
    tg_lowering_type(in, stack);
    tg_lowering_printf(in, ", ");
    tg_lowering_type(in, &part);
    write_start_types(in, stack->rank);
    tg_lowering_printf(in, ") -> ");
    tg_lowering_type(in, stack);
    tg_lowering_printf(in, "\n");
}

/* The body's results: NEXT, the number of the next iteration; carried values; the new stacks, whose
 * names are FIRST and each PART_NAMES further. */
static void write_body_return(tg_lowering *in, const tg_node *node, const tg_graph *body,
                              const names *n, unsigned next, unsigned first)
{
    const tg_scan_attributes *a = node->attributes;
    const size_t carried = (size_t)a->carried, slices = (size_t)a->stacked;
    tg_lowering_printf(in, "    stablehlo.return ");
    tg_lowering_extra(in, next);
    for (size_t i = 0; i < body->output_count; i++) {
        tg_lowering_printf(in, ", ");
        if (i < carried)
            tg_lowering_value(in, body->outputs[i]);
        else
            tg_lowering_extra(in, first + PART_NAMES * (unsigned)(i - carried));
    }
    for (size_t i = carried; i < body->input_count; i++) {
        tg_lowering_printf(in, ", ");
        if (i < carried + slices)
            tg_lowering_extra(in, n->read + (unsigned)(i - carried));
        else
            tg_lowering_value(in, body->inputs[i]);
    }
    tg_lowering_printf(in, " : ");
    write_types(in, node);
    tg_lowering_printf(in, "\n");
}

/* Whether result R of NODE, a loop, is saved for its gradient in the host's memory. */
static bool is_saved_on_host(const tg_node *node, size_t r)
{
    const tg_scan_attributes *a = node->attributes;
    return a->offload && r >= (size_t)(a->carried + a->outs - a->saves) &&
           bn_dtype_is_float(node->results[r].type.dtype);
}

/*
 * In a backward body, passes the values that it recomputes others from through one barrier, so that
 * nothing is recomputed before the gradient is there: carried values, which include the gradient,
 * and saved values. Then moves back those that were saved in the host's memory.
 */
static void write_barrier(tg_lowering *in, const tg_node *node, const tg_graph *body)
{
    const tg_scan_attributes *a = node->attributes;
    const size_t end = (size_t)(a->carried + a->stacked), restores = (size_t)a->restores;
    tg_tensor **behind = bn_alloc((end + 1) * sizeof *behind);
    size_t count = 0;
    for (size_t k = 0; k < end; k++)
        if (k < (size_t)a->carried || k >= end - restores)
            behind[count++] = body->inputs[k];
    if (a->remat != TG_REMAT_NONE && restores > 0)
        tg_lowering_pass(in, behind, count, "\"stablehlo.optimization_barrier\"(", ")");
    free(behind);
    for (size_t k = end - restores; a->offload && k < end; k++)
        if (bn_dtype_is_float(body->inputs[k]->type.dtype))
            tg_lowering_pass(in, body->inputs + k, 1, PLACE_HEAD, PLACE_TAIL("device"));
}

static void write_body(tg_lowering *l, const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    const tg_graph *body = &tg_node_region(node)->graph;
    const size_t carried = (size_t)a->carried;
    tg_lowering *in = tg_lowering_enter(l, body);
    const names n = write_arguments(in, node, body);
    for (size_t i = 0; i < (size_t)a->stacked; i++)
        write_slice(in, &n, (unsigned)i, tg_operand_type(node, carried + i),
                    body->inputs[carried + i]);
    write_barrier(in, node, body);
    tg_lowering_nodes(in);
    const unsigned next = write_pair(in, "add", n.number, write_constant(in, &counter, 1.0));
    tg_lowering_printf(in, " : tensor<i32>\n");
    for (size_t i = carried; i < node->result_count; i++)
        write_part(in, &n, (unsigned)(i - carried), &node->results[i].type, body->outputs[i],
                   is_saved_on_host(node, i));
    write_body_return(in, node, body, &n, next, next + PART_NAMES);
    tg_lowering_leave(l, in);
}

static void lower_scan(tg_lowering *l, const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    const size_t carried = (size_t)a->carried;
    const unsigned zero = write_constant(l, &counter, 0.0); /* empty stacks take the next names */
    for (size_t i = carried; i < node->result_count; i++)
        write_constant(l, &node->results[i].type, 0.0);
    tg_lowering_define_loop(l, node, width_of(node));
    tg_lowering_printf(l, "\"stablehlo.while\"(");
    tg_lowering_extra(l, zero);
    for (size_t i = 0; i < node->operand_count + node->result_count - carried; i++) {
        const bool empty = i >= carried && i < node->result_count;
        tg_lowering_printf(l, ", ");
        if (empty)
            tg_lowering_extra(l, zero + 1 + (unsigned)(i - carried));
        else
            tg_lowering_value(l,
                              node->operands[i < carried ? i : i - node->result_count + carried]);
    }
    tg_lowering_printf(l, ") ({\n");
    write_condition(l, node);
    tg_lowering_printf(l, "    }, {\n");
    write_body(l, node);
    tg_lowering_printf(l, "    }) : (");
    write_types(l, node);
    tg_lowering_printf(l, ") -> (");
    write_types(l, node);
    tg_lowering_printf(l, ")");
}

static double flops_scan(const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    tg_graph_cost body;
    tg_graph_measure(&tg_node_region(node)->graph, &body);
    return (double)a->length * body.flops;
}

/* ---- row ------------------------------------------------------------------------- */

static const tg_op op_scan = {"scan",
                              "while",
                              "loop",
                              "loop over slices of stacked tensors",
                              0,
                              -1,
                              -1,
                              sizeof(tg_scan_attributes),
                              infer_scan,
                              lower_scan,
                              tg_loop_gradient,
                              flops_scan};

const tg_op *const tg_ops_loop[] = {&op_scan, NULL};

/* ---- public call ------------------------------------------------------------------- */

/* False after putting an error on T. */
static bool check_loop(tg_trace *t, const tg_loop *loop)
{
    if (loop->length < 1 || loop->carried_count + loop->outs == 0) {
        tg_trace_fail(t, BN_INVALID, "scan: %lld iterations that give %zu values",
                      (long long)loop->length, loop->carried_count + loop->outs);
        return false;
    }
    for (size_t i = 0; i < loop->stacked_count; i++) {
        const tg_tensor *stack = tg_trace_resolve(t, loop->stacked[i]);
        if (!stack)
            return false;
        if (stack->type.rank > 0 && stack->type.dims[0] == loop->length)
            continue;
        bn_status st = {.code = BN_OK};
        tg_type_fail(&st, "a stack of another length than the loop:", &stack->type);
        tg_trace_fail(t, BN_INVALID, "scan: %s", st.message);
        return false;
    }
    return true;
}

/* Traces the body into P, whose lists have been allocated. */
static void trace_body(tg_trace *t, const tg_loop *loop, tg_loop_plan *p)
{
    const size_t carried = loop->carried_count;
    for (size_t k = 0; k < carried + loop->stacked_count; k++) {
        tg_tensor *outer = k < carried ? loop->carried[k] : loop->stacked[k - carried];
        p->operands[k] = tg_trace_resolve(t, outer);
        if (!p->operands[k])
            return;
        const tg_type *type = &p->operands[k]->type;
        const tg_type taken = k < carried ? *type : slice_type(type);
        p->in[k] = tg_body_input(p->body, &taken);
    }
    for (size_t k = 0; k < carried + loop->outs; k++)
        p->out[k] = &p->body->poison;
    loop->body(p->body, loop->context, p->in, p->in + carried, p->out, p->out + carried);
    for (size_t k = 0; k < carried + loop->outs && p->body->status.code == BN_OK; k++) {
        tg_tensor *given = tg_trace_resolve(p->body, p->out[k]);
        if (given)
            p->out[k] = given;
        else
            tg_trace_fail(p->body, BN_INVALID, "scan: an iteration does not give value %zu", k);
    }
}

/* Appends the captured values to the inputs and operands. */
static void add_captured(tg_trace *t, const tg_loop *loop, tg_loop_plan *p)
{
    const size_t taken = loop->carried_count + loop->stacked_count;
    const size_t all = taken + p->body->captured_count;
    tg_tensor **in = bn_arena_alloc(t->arena, (all + 1) * sizeof *in);
    tg_tensor **operands = bn_arena_alloc(t->arena, (all + 1) * sizeof *operands);
    memcpy(in, p->in, taken * sizeof *in);
    memcpy(operands, p->operands, taken * sizeof *operands);
    for (size_t i = taken; i < all; i++) {
        in[i] = p->body->captured[i - taken].inner;
        operands[i] = p->body->captured[i - taken].outer;
    }
    p->in = in;
    p->operands = operands;
    p->captured = all - taken;
}

void tg_scan(tg_trace *t, const tg_loop *loop, tg_tensor **results)
{
    const size_t taken = loop->carried_count + loop->stacked_count;
    const size_t given = loop->carried_count + loop->outs;
    for (size_t i = 0; i < given; i++)
        results[i] = &t->poison;
    if (t->status.code != BN_OK || !check_loop(t, loop))
        return;
    tg_loop_plan p = {.body = tg_body_open(t),
                      .in = bn_arena_alloc(t->arena, (taken + 1) * sizeof *p.in),
                      .operands = bn_arena_alloc(t->arena, (taken + 1) * sizeof *p.operands),
                      .out = bn_arena_alloc(t->arena, given * sizeof *p.out),
                      .carried = loop->carried_count,
                      .stacked = loop->stacked_count,
                      .outs = loop->outs,
                      .length = loop->length,
                      .remat = loop->remat,
                      .reverse = loop->reverse,
                      .offload = loop->offload};
    trace_body(t, loop, &p);
    tg_body_close(p.body);
    if (!tg_body_check(p.body))
        return;
    add_captured(t, loop, &p);
    const tg_node *node = tg_region_append(t, &op_scan, &p);
    for (size_t i = 0; node && i < given; i++)
        results[i] = node->results + i;
}
