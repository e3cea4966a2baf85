/*
 * lower.c - a graph becomes StableHLO text; and what a graph costs.
 *
 * The ops' rows write the statements. This file gives them names, types and
 * locations, writes the function around them and leaves out nodes that no
 * output needs. Text format: StableHLO specification and MLIR's assembly.
 */
#include "runtime/graph/op_attributes.h"
#include "runtime/graph/trace_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value of a node with several results that has a name of its own. */
#define ALONE 2
/* A result of a loop, whose statement has the number of the iteration as its first result. */
#define LOOP  3
/* PART + i: result i of a statement that passes values on. */
#define PART  4

/* Names are small integers: NAME[value] >= 0 is "%<name>", < 0 is "%arg<-1-name>". */
struct tg_lowering {
    const tg_graph *graph;
    const tg_layouts *layouts; /* or NULL */
    bn_text *out;
    int32_t *name;   /* [value] */
    uint16_t *known; /* [value] input of the graph or already written; ALONE; LOOP; PART */
    uint8_t *needed; /* [node] */
    int32_t next;
    unsigned fresh;
};

static const char *const phase_prefix[TG_PHASE_COUNT] = {
    [TG_PHASE_INPUT] = "input/",           [TG_PHASE_FORWARD] = "",
    [TG_PHASE_STATISTICS] = "statistics/", [TG_PHASE_BACKWARD] = "backward/",
    [TG_PHASE_UPDATE] = "update/",
};

/* ---- pieces of statements -------------------------------------------------- */

bn_text *tg_lowering_text(tg_lowering *l)
{
    return l->out;
}

void tg_lowering_value(tg_lowering *l, const tg_tensor *value)
{
    int32_t name = l->name[value->id];
    if (name < 0) {
        bn_text_puts(l->out, "%arg");
        bn_text_int(l->out, -1 - (int64_t)name);
        return;
    }
    bn_text_putc(l->out, '%');
    bn_text_int(l->out, name);
    const unsigned known = l->known[value->id];
    if (known >= PART) {
        bn_text_putc(l->out, '#');
        bn_text_int(l->out, known - PART);
    } else if (known == LOOP || (value->node->result_count > 1 && known != ALONE)) {
        bn_text_putc(l->out, '#');
        bn_text_int(l->out, value->result + (known == LOOP));
    }
}

void tg_lowering_define(tg_lowering *l, const tg_node *node)
{
    for (size_t r = 0; r < node->result_count; r++) {
        l->name[node->results[r].id] = l->next;
        l->known[node->results[r].id] = 1;
    }
    bn_text_puts(l->out, "    %");
    bn_text_int(l->out, l->next++);
    if (node->result_count > 1) {
        bn_text_putc(l->out, ':');
        bn_text_int(l->out, node->result_count);
    }
    bn_text_puts(l->out, " = ");
}

void tg_lowering_define_result(tg_lowering *l, const tg_node *node, unsigned result)
{
    l->name[node->results[result].id] = l->next;
    l->known[node->results[result].id] = ALONE;
    bn_text_puts(l->out, "    %");
    bn_text_int(l->out, l->next++);
    bn_text_puts(l->out, " = ");
}

void tg_lowering_define_loop(tg_lowering *l, const tg_node *node, size_t width)
{
    for (size_t r = 0; r < node->result_count; r++) {
        l->name[node->results[r].id] = l->next;
        l->known[node->results[r].id] = LOOP;
    }
    bn_text_puts(l->out, "    %");
    bn_text_int(l->out, l->next++);
    bn_text_putc(l->out, ':');
    bn_text_int(l->out, (int64_t)width);
    bn_text_puts(l->out, " = ");
}

unsigned tg_lowering_fresh(tg_lowering *l)
{
    return l->fresh++;
}

void tg_lowering_extra(tg_lowering *l, unsigned name)
{
    bn_text_puts(l->out, "%x");
    bn_text_int(l->out, name);
}

void tg_lowering_printf(tg_lowering *l, const char *format, ...)
{
    char piece[512];
    va_list args;
    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    bn_text_puts(l->out, piece);
}

void tg_lowering_type(tg_lowering *l, const tg_type *type)
{
    tg_type_write(type, l->out);
}

void tg_lowering_signature(tg_lowering *l, const tg_node *node)
{
    bn_text_puts(l->out, " : (");
    for (size_t i = 0; i < node->operand_count; i++) {
        if (i)
            bn_text_puts(l->out, ", ");
        tg_type_write(tg_operand_type(node, i), l->out);
    }
    bn_text_puts(l->out, ") -> ");
    if (node->result_count != 1)
        bn_text_putc(l->out, '(');
    for (size_t i = 0; i < node->result_count; i++) {
        if (i)
            bn_text_puts(l->out, ", ");
        tg_type_write(&node->results[i].type, l->out);
    }
    if (node->result_count != 1)
        bn_text_putc(l->out, ')');
}

/* The operands, the first one behind the text FIRST, the others behind commas. */
static void write_operands(tg_lowering *l, const tg_node *node, const char *first)
{
    for (size_t i = 0; i < node->operand_count; i++) {
        bn_text_puts(l->out, i ? ", " : first);
        tg_lowering_value(l, node->operands[i]);
    }
}

void tg_lowering_head(tg_lowering *l, const tg_node *node)
{
    tg_lowering_define(l, node);
    bn_text_puts(l->out, "stablehlo.");
    bn_text_puts(l->out, node->op->stablehlo);
    write_operands(l, node, " ");
}

void tg_lowering_generic_head(tg_lowering *l, const tg_node *node)
{
    tg_lowering_define(l, node);
    bn_text_puts(l->out, "\"stablehlo.");
    bn_text_puts(l->out, node->op->stablehlo);
    bn_text_puts(l->out, "\"(");
    write_operands(l, node, "");
    bn_text_putc(l->out, ')');
}

void tg_lowering_plain(tg_lowering *l, const tg_node *node)
{
    bool uniform = true;
    tg_lowering_head(l, node);
    for (size_t i = 0; i < node->operand_count; i++)
        uniform &= tg_type_equal(tg_operand_type(node, i), &node->results[0].type);
    if (!uniform) {
        tg_lowering_signature(l, node);
        return;
    }
    bn_text_puts(l->out, " : ");
    tg_type_write(&node->results[0].type, l->out);
}

/* Behind a location's name, where the trace keeps places: the line that made NODE. */
static void write_place(tg_lowering *l, const tg_node *node)
{
    const tg_place place = tg_node_place(node);
    if (!place.file)
        return;
    bn_text_puts(l->out, "(\"");
    bn_text_puts(l->out, place.file);
    bn_text_puts(l->out, "\":");
    bn_text_int(l->out, place.line);
    bn_text_puts(l->out, ":1)");
}

void tg_lowering_end(tg_lowering *l, const tg_node *node)
{
    bn_text_puts(l->out, " loc(\"");
    bn_text_puts(l->out, phase_prefix[node->phase]);
    if (node->scope) {
        tg_scope_write(node->scope, l->out);
        bn_text_putc(l->out, '/');
    }
    bn_text_puts(l->out, node->op->name);
    bn_text_putc(l->out, '"');
    write_place(l, node);
    bn_text_puts(l->out, ")\n");
}

void tg_lowering_literal(tg_lowering *l, tg_dtype dtype, double value)
{
    if (dtype == TG_BOOL) {
        bn_text_puts(l->out, value != 0 ? "true" : "false");
    } else if (!bn_dtype_is_float(dtype)) {
        tg_lowering_printf(l, "%.0f", value + 0.0); /* no -0, and room for the largest ui64 */
    } else if (isfinite(value)) {
        tg_lowering_printf(l, "%.17e", value);
    } else {
        /* MLIR takes infinities and NaN only as bit patterns of the type's width. */
        unsigned exponent = dtype == TG_F16 ? 0x7c00 : 0x7f80;
        unsigned bits = exponent | (isnan(value) ? (dtype == TG_F16 ? 0x200 : 0x40) : 0) |
                        (signbit(value) && !isnan(value) ? 0x8000 : 0);
        tg_lowering_printf(l, dtype == TG_F32 ? "0x%04X0000" : "0x%04X", bits);
    }
}

void tg_lowering_ints(tg_lowering *l, const int64_t *values, size_t count)
{
    bn_text_putc(l->out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            bn_text_puts(l->out, ", ");
        bn_text_int(l->out, values[i]);
    }
    bn_text_putc(l->out, ']');
}

void tg_lowering_list(tg_lowering *l, const char *name, const int64_t *values, size_t count)
{
    bn_text_puts(l->out, name);
    tg_lowering_ints(l, values, count);
}

/* ---- the function ----------------------------------------------------------- */

/* Marks in NEEDED the nodes that outputs depend on, up to the inputs, which
 * KNOWN marks. */
static void mark_needed(const tg_graph *g, const uint16_t *known, uint8_t *needed)
{
    for (size_t i = 0; i < g->output_count; i++)
        if (!known[g->outputs[i]->id])
            needed[g->outputs[i]->node->index] = 1;
    for (size_t n = g->end_node; n-- > g->first_node;) {
        const tg_node *node = g->trace->nodes[n];
        for (size_t k = 0; needed[n] && k < node->operand_count; k++)
            if (!known[node->operands[k]->id])
                needed[node->operands[k]->node->index] = 1;
    }
}

/* The attributes of an argument or a result: RESULT, which takes its memory over, or -1; its
 * layout, or NULL. */
static void write_attributes(tg_lowering *l, int64_t result, const char *layout)
{
    if (result < 0 && !layout)
        return;
    bn_text_puts(l->out, " {");
    if (layout) {
        bn_text_puts(l->out, "mhlo.layout_mode = \"");
        bn_text_puts(l->out, layout);
        bn_text_puts(l->out, result < 0 ? "\"" : "\", ");
    }
    if (result >= 0) {
        bn_text_puts(l->out, "tf.aliasing_output = ");
        bn_text_int(l->out, result);
        bn_text_puts(l->out, " : i32");
    }
    bn_text_putc(l->out, '}');
}

/* The output that takes over the memory of input INPUT, or -1. */
static int64_t heir_of(const tg_graph *g, size_t input)
{
    for (size_t o = 0; o < g->output_count; o++)
        if (g->donor[o] == (int32_t)input)
            return (int64_t)o;
    return -1;
}

static void write_header(tg_lowering *l, const char *name)
{
    const tg_graph *g = l->graph;
    const tg_layouts *layouts = l->layouts;
    tg_lowering_printf(l, "module @%s {\n  func.func public @main(", name);
    for (size_t i = 0; i < g->input_count; i++) {
        if (i)
            bn_text_puts(l->out, ", ");
        tg_lowering_value(l, g->inputs[i]);
        bn_text_puts(l->out, ": ");
        tg_type_write(&g->inputs[i]->type, l->out);
        write_attributes(l, heir_of(g, i), layouts && layouts->inputs ? layouts->inputs[i] : NULL);
    }
    bn_text_puts(l->out, ") -> (");
    for (size_t o = 0; o < g->output_count; o++) {
        if (o)
            bn_text_puts(l->out, ", ");
        tg_type_write(&g->outputs[o]->type, l->out);
        write_attributes(l, -1, layouts && layouts->outputs ? layouts->outputs[o] : NULL);
    }
    bn_text_puts(l->out, ") {\n");
}

static void write_return(tg_lowering *l)
{
    const tg_graph *g = l->graph;
    bn_text_puts(l->out, "    return");
    for (size_t o = 0; o < g->output_count; o++) {
        bn_text_puts(l->out, o ? ", " : " ");
        tg_lowering_value(l, g->outputs[o]);
    }
    for (size_t o = 0; o < g->output_count; o++) {
        bn_text_puts(l->out, o ? ", " : " : ");
        tg_type_write(&g->outputs[o]->type, l->out);
    }
    bn_text_puts(l->out, "\n  }\n}\n");
}

/* Room for names, and what is needed of the graph. */
static void names_begin(tg_lowering *l)
{
    const tg_graph *g = l->graph;
    size_t values = g->trace->value_count + 1u;
    l->name = bn_zalloc(values, sizeof *l->name);
    l->known = bn_zalloc(values, sizeof *l->known);
    l->needed = bn_zalloc(g->trace->node_count + 1, 1);
    for (size_t i = 0; i < g->input_count; i++)
        l->known[g->inputs[i]->id] = 1;
    mark_needed(g, l->known, l->needed);
}

static void names_end(tg_lowering *l)
{
    free(l->name);
    free(l->known);
    free(l->needed);
}

/* The loop to take NODE's results from. Where the graph needs an extended loop over the same body,
 * that one's results begin with NODE's, and the body runs once. */
static const tg_node *maker_of(const tg_node *node, const uint8_t *needed)
{
    const tg_region *region = tg_node_region(node);
    const tg_node *extended = region ? region->extended : NULL;
    return extended && needed[extended->index] ? extended : node;
}

void tg_lowering_nodes(tg_lowering *l)
{
    const tg_graph *g = l->graph;
    for (size_t n = g->first_node; n < g->end_node; n++) {
        const tg_node *node = g->trace->nodes[n];
        if (!l->needed[n] || !node->op->lower)
            continue;
        const tg_node *maker = maker_of(node, l->needed);
        maker->op->lower(l, maker);
        tg_lowering_end(l, maker);
        if (maker == node)
            continue;
        /* Its operands are NODE's, so it may stand here. */
        l->needed[maker->index] = 0;
        for (size_t r = 0; r < node->result_count; r++) {
            l->name[node->results[r].id] = l->name[maker->results[r].id];
            l->known[node->results[r].id] = LOOP;
        }
    }
}

void tg_graph_lower(const tg_graph *g, const char *name, bn_text *out)
{
    tg_graph_lower_laid_out(g, name, NULL, out);
}

void tg_graph_lower_laid_out(const tg_graph *g, const char *name, const tg_layouts *layouts,
                             bn_text *out)
{
    tg_lowering l = {.graph = g, .layouts = layouts, .out = out};
    names_begin(&l);
    for (size_t i = 0; i < g->input_count; i++)
        l.name[g->inputs[i]->id] = -1 - (int32_t)i;
    write_header(&l, name);
    tg_lowering_nodes(&l);
    write_return(&l);
    names_end(&l);
}

tg_lowering *tg_lowering_enter(tg_lowering *l, const tg_graph *graph)
{
    tg_lowering *inner = bn_alloc(sizeof *inner);
    *inner = (tg_lowering){.graph = graph, .out = l->out, .next = l->next, .fresh = l->fresh};
    names_begin(inner);
    return inner;
}

void tg_lowering_name(tg_lowering *inner, const tg_tensor *value)
{
    inner->name[value->id] = inner->next++;
    inner->known[value->id] = ALONE; /* also where its node has several results */
    tg_lowering_value(inner, value);
}

static void write_value_types(tg_lowering *l, tg_tensor *const *values, size_t count)
{
    bn_text_puts(l->out, count == 1 ? "" : "(");
    for (size_t i = 0; i < count; i++) {
        bn_text_puts(l->out, i ? ", " : "");
        tg_type_write(&values[i]->type, l->out);
    }
    bn_text_puts(l->out, count == 1 ? "" : ")");
}

void tg_lowering_pass(tg_lowering *inner, tg_tensor *const *values, size_t count, const char *head,
                      const char *tail)
{
    bn_text *out = inner->out;
    bn_text_puts(out, "    %");
    bn_text_int(out, inner->next);
    if (count > 1) {
        bn_text_putc(out, ':');
        bn_text_int(out, (int64_t)count);
    }
    bn_text_puts(out, " = ");
    for (size_t i = 0; i < count; i++) {
        bn_text_puts(out, i ? ", " : head);
        tg_lowering_value(inner, values[i]);
    }
    bn_text_puts(out, tail);
    bn_text_puts(out, count == 1 ? " : (" : " : ");
    write_value_types(inner, values, count);
    bn_text_puts(out, count == 1 ? ") -> " : " -> ");
    write_value_types(inner, values, count);
    bn_text_putc(out, '\n');
    for (size_t i = 0; i < count; i++) {
        inner->name[values[i]->id] = inner->next;
        inner->known[values[i]->id] = count == 1 ? ALONE : (uint16_t)(PART + i);
    }
    inner->next++;
}

void tg_lowering_leave(tg_lowering *l, tg_lowering *inner)
{
    l->next = inner->next;
    l->fresh = inner->fresh;
    names_end(inner);
    free(inner);
}

/* ---- cost --------------------------------------------------------------------- */

double tg_op_no_flops(const tg_node *node)
{
    (void)node;
    return 0;
}

/* A visit of nodes, and how often the nodes in hand run. */
typedef struct visitor {
    void (*visit)(void *context, const tg_node *node, const tg_graph_cost *cost);
    void *context;
    double times;
    bool inside; /* a loop's body: its nodes are part of the loop's one */
} visitor;

/* Bytes of the stacks that the loop NODE is to keep in the host's memory. */
static double offloaded(const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    double bytes = 0;
    for (int64_t i = a->outs - a->saves; a->offload && i < a->outs; i++) {
        const tg_type *stack = &node->results[a->carried + i].type;
        bytes += bn_dtype_is_float(stack->dtype) ? (double)tg_type_bytes(stack) : 0;
    }
    return bytes;
}

static tg_graph_cost cost_of(const tg_node *node, const visitor *v)
{
    const char *family = node->op->family;
    tg_graph_cost cost = {.nodes = !v->inside};
    if (tg_node_region(node)) {
        cost.offloaded = v->times * offloaded(node);
        return cost;
    }
    const double flops =
        node->op->flops ? node->op->flops(node) : (double)tg_type_elements(&node->results[0].type);
    cost.flops = v->times * flops;
    if (strcmp(family, "dot") == 0 || strcmp(family, "convolution") == 0)
        cost.macs = v->times * flops / 2;
    for (size_t k = 0; k < node->operand_count; k++)
        cost.bytes += v->times * (double)tg_type_bytes(tg_operand_type(node, k));
    for (size_t r = 0; r < node->result_count; r++)
        cost.bytes += v->times * (double)tg_type_bytes(&node->results[r].type);
    return cost;
}

static void visit_graph(const tg_graph *g, const visitor *v);

static void visit_node(const tg_node *node, const visitor *v)
{
    const tg_region *region = tg_node_region(node);
    const tg_graph_cost cost = cost_of(node, v);
    v->visit(v->context, node, &cost);
    if (region) {
        const tg_scan_attributes *a = node->attributes;
        const visitor body = {v->visit, v->context, v->times * (double)a->length, true};
        visit_graph(&region->graph, &body);
    }
}

static void visit_graph(const tg_graph *g, const visitor *v)
{
    uint16_t *known = bn_zalloc(g->trace->value_count + 1u, sizeof *known);
    uint8_t *needed = bn_zalloc(g->trace->node_count + 1, 1);
    for (size_t i = 0; i < g->input_count; i++)
        known[g->inputs[i]->id] = 1;
    mark_needed(g, known, needed);
    for (size_t n = g->first_node; n < g->end_node; n++)
        if (needed[n] && g->trace->nodes[n]->op->lower &&
            maker_of(g->trace->nodes[n], needed) == g->trace->nodes[n])
            visit_node(g->trace->nodes[n], v);
    free(known);
    free(needed);
}

void tg_graph_visit(const tg_graph *g,
                    void (*visit)(void *context, const tg_node *node, const tg_graph_cost *cost),
                    void *context)
{
    const visitor v = {visit, context, 1, false};
    visit_graph(g, &v);
}

static void add_cost(void *context, const tg_node *node, const tg_graph_cost *cost)
{
    tg_graph_cost *sum = context;
    (void)node;
    sum->nodes += cost->nodes;
    sum->flops += cost->flops;
    sum->macs += cost->macs;
    sum->bytes += cost->bytes;
    sum->offloaded += cost->offloaded;
}

void tg_graph_measure(const tg_graph *g, tg_graph_cost *cost)
{
    *cost = (tg_graph_cost){0};
    tg_graph_visit(g, add_cost, cost);
}
