/*
 * evaluator.c - contents of values, dtypes on the host, and the walk over nodes.
 */
#include "tests/support/evaluator.h"

#include "runtime/graph/op_attributes.h"
#include "runtime/graph/trace_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct evaluation {
    const tg_trace *trace;
    bool rounded;
    double **contents; /* [value] */
};

/* ---- dtypes ------------------------------------------------------------------ */

/* Round to nearest even at BITS of significand; EMIN is the exponent of the
 * smallest normal number, MAX the largest finite one. */
static double round_float(double value, int bits, int emin, double max)
{
    int exponent;
    if (value == 0 || !isfinite(value))
        return value;
    frexp(value, &exponent); /* value = m 2^exponent, 1/2 <= |m| < 1 */
    int least = (exponent - 1 < emin ? emin : exponent - 1) - (bits - 1);
    double rounded = ldexp(nearbyint(ldexp(value, -least)), least);
    return fabs(rounded) > max ? copysign(INFINITY, value) : rounded;
}

double evaluator_round(tg_dtype dtype, double value)
{
    switch (dtype) {
    case TG_BOOL:
        return value != 0;
    case TG_I8:
        return (int8_t)(int64_t)value;
    case TG_I32:
        return (int32_t)(int64_t)value;
    case TG_I64:
        return (double)(int64_t)value;
    case TG_U8:
        return (uint8_t)(int64_t)value;
    case TG_U32:
        return (uint32_t)(int64_t)value;
    case TG_U64:
        return value < 0 ? (double)(uint64_t)(int64_t)value : (double)(uint64_t)value;
    case TG_F16:
        return round_float(value, 11, -14, 65504.0);
    case TG_BF16:
        return round_float(value, 8, -126, 0x1.fep127);
    case TG_F32:
        return (double)(float)value;
    default:
        break;
    }
    return NAN;
}

static uint16_t brain_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static double brain_value(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float single;
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

void evaluator_pack(tg_dtype dtype, const double *from, void *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double value = evaluator_round(dtype, from[i]);
        size_t size = bn_dtype_bytes(dtype);
        char *at = (char *)to + (size_t)i * size;
        if (dtype == TG_F32) {
            float single = (float)value;
            memcpy(at, &single, size);
        } else if (bn_dtype_is_float(dtype)) {
            uint16_t half = dtype == TG_F16 ? bn_half_from_double(value) : brain_bits(value);
            memcpy(at, &half, size);
        } else {
            /* Little-endian: the low bytes come first. Rounded values of unsigned
             * dtypes are not negative. */
            uint64_t whole = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
            memcpy(at, &whole, size);
        }
    }
}

void evaluator_unpack(tg_dtype dtype, const void *from, double *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        size_t size = bn_dtype_bytes(dtype);
        const char *at = (const char *)from + (size_t)i * size;
        if (dtype == TG_F32) {
            float single;
            memcpy(&single, at, size);
            to[i] = (double)single;
        } else if (bn_dtype_is_float(dtype)) {
            uint16_t half;
            memcpy(&half, at, size);
            to[i] = dtype == TG_F16 ? bn_half_to_double(half) : brain_value(half);
        } else {
            int64_t whole = 0;
            memcpy(&whole, at, size);
            if (dtype == TG_U64)
                to[i] = (double)(uint64_t)whole;
            else
                to[i] = evaluator_round(dtype, (double)whole); /* extends the sign */
        }
    }
}

/* ---- indices ----------------------------------------------------------------- */

bool evaluator_next(int64_t *index, const int64_t *dims, int32_t rank)
{
    for (int32_t i = rank; i-- > 0;) {
        if (++index[i] < dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

int64_t evaluator_place(const tg_type *type, const int64_t *index)
{
    int64_t place = 0;
    for (int32_t i = 0; i < type->rank; i++)
        place = place * type->dims[i] + index[i];
    return place;
}

/* ---- the walk ---------------------------------------------------------------- */

evaluation *evaluation_new(const tg_trace *trace, bool rounded)
{
    evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->trace = trace;
    e->rounded = rounded;
    e->contents = calloc(trace->value_count + 1u, sizeof *e->contents);
    bool complete = e->contents != NULL;
    for (size_t n = 0; complete && n < trace->node_count; n++)
        for (size_t r = 0; complete && r < trace->nodes[n]->result_count; r++) {
            const tg_tensor *value = trace->nodes[n]->results + r;
            size_t count = (size_t)tg_type_elements(&value->type) + 1;
            e->contents[value->id] = calloc(count, sizeof(double));
            complete = e->contents[value->id] != NULL;
        }
    if (!complete) {
        evaluation_free(e);
        return NULL;
    }
    return e;
}

void evaluation_free(evaluation *e)
{
    if (!e)
        return;
    for (size_t v = 0; e->contents && v < e->trace->value_count; v++)
        free(e->contents[v]);
    free(e->contents);
    free(e);
}

void evaluation_set(evaluation *e, const tg_tensor *variable, const double *contents)
{
    const tg_tensor *entry = ((const tg_variable *)variable)->entry;
    size_t count = (size_t)tg_type_elements(&entry->type);
    memcpy(e->contents[entry->id], contents, count * sizeof *contents);
    for (size_t i = 0; e->rounded && i < count; i++)
        e->contents[entry->id][i] = evaluator_round(entry->type.dtype, contents[i]);
}

static evaluator_rule *rule_of(const char *op)
{
    const evaluator_row *const tables[] = {evaluator_simple_rows, evaluator_contract_rows,
                                           evaluator_index_rows};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const evaluator_row *row = tables[i]; row->op; row++)
            if (strcmp(row->op, op) == 0)
                return row->rule;
    return NULL;
}

bool evaluator_knows(const char *op)
{
    return strcmp(op, "scan") == 0 || rule_of(op) != NULL;
}

static void round_result(const evaluation *e, const tg_tensor *value)
{
    double *contents = e->contents[value->id];
    if (!e->rounded && bn_dtype_is_float(value->type.dtype))
        return;
    for (int64_t i = tg_type_elements(&value->type); i-- > 0;)
        contents[i] = evaluator_round(value->type.dtype, contents[i]);
}

static const char *run_node(evaluation *e, const tg_node *node)
{
    const double *in[16] = {NULL};
    double *out[TG_MAX_RESULTS] = {NULL};
    evaluator_rule *rule = rule_of(node->op->name);
    if (!rule || node->operand_count > 16)
        return node->op->name;
    for (size_t k = 0; k < node->operand_count; k++)
        in[k] = e->contents[node->operands[k]->id];
    for (size_t r = 0; r < node->result_count; r++)
        out[r] = e->contents[node->results[r].id];
    rule(node, in, out);
    for (size_t r = 0; r < node->result_count; r++)
        round_result(e, node->results + r);
    return NULL;
}

static const char *run_loop(evaluation *e, const tg_node *node);

/* Nodes up to END, but for those with a value in INPUTS, which are set. */
static const char *run_nodes(evaluation *e, size_t end, tg_tensor *const *inputs, size_t count)
{
    const char *missing = NULL;
    for (size_t n = 0; n < end && !missing; n++) {
        const tg_node *node = e->trace->nodes[n];
        bool is_set = !tg_node_has_op(node);
        for (size_t i = 0; i < count && !is_set; i++)
            is_set = inputs[i]->node == node;
        if (!is_set)
            missing = tg_node_region(node) ? run_loop(e, node) : run_node(e, node);
    }
    return missing;
}

static void copy(double *to, const double *from, const tg_type *type)
{
    memcpy(to, from, (size_t)tg_type_elements(type) * sizeof *to);
}

/* Round number AT of NODE's loop, in ROUND: what is carried lies in NODE's results. */
static const char *run_iteration(evaluation *e, const tg_node *node, evaluation *inner, int64_t at)
{
    const tg_scan_attributes *a = node->attributes;
    const tg_graph *g = &tg_node_region(node)->graph;
    for (size_t k = 0; k < g->input_count; k++) {
        const tg_tensor *input = g->inputs[k];
        const bool carried = k < (size_t)a->carried;
        const bool sliced = !carried && k < (size_t)(a->carried + a->stacked);
        const tg_tensor *outer = carried ? node->results + k : node->operands[k];
        const int64_t first = sliced ? at * tg_type_elements(&input->type) : 0;
        copy(inner->contents[input->id], e->contents[outer->id] + first, &input->type);
    }
    const char *missing = run_nodes(inner, g->end_node, g->inputs, g->input_count);
    for (size_t r = 0; r < g->output_count; r++) {
        const tg_tensor *given = g->outputs[r];
        const int64_t first = r < (size_t)a->carried ? 0 : at * tg_type_elements(&given->type);
        copy(e->contents[node->results[r].id] + first, inner->contents[given->id], &given->type);
    }
    return missing;
}

static const char *run_loop(evaluation *e, const tg_node *node)
{
    const tg_scan_attributes *a = node->attributes;
    evaluation *inner = evaluation_new(tg_node_region(node)->body, e->rounded);
    const char *missing = inner ? NULL : node->op->name;
    for (size_t k = 0; k < (size_t)a->carried; k++)
        copy(e->contents[node->results[k].id], e->contents[node->operands[k]->id],
             &node->results[k].type);
    for (int64_t i = 0; i < a->length && !missing; i++)
        missing = run_iteration(e, node, inner, a->reverse ? a->length - 1 - i : i);
    evaluation_free(inner);
    return missing;
}

const char *evaluation_run(evaluation *e)
{
    return run_nodes(e, e->trace->node_count, NULL, 0);
}

const double *evaluation_value(const evaluation *e, const tg_tensor *value)
{
    return e->contents[value->id];
}
