/*
 * evaluator.c - contents of values, dtypes on the host, and the walk over nodes.
 */
#include "tests/support/evaluator.h"

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
    case TG_DTYPE_COUNT:
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
        size_t size = (size_t)tg_dtype_bytes(dtype);
        char *at = (char *)to + (size_t)i * size;
        if (dtype == TG_F32) {
            float single = (float)value;
            memcpy(at, &single, size);
        } else if (tg_dtype_is_float(dtype)) {
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
        size_t size = (size_t)tg_dtype_bytes(dtype);
        const char *at = (const char *)from + (size_t)i * size;
        if (dtype == TG_F32) {
            float single;
            memcpy(&single, at, size);
            to[i] = (double)single;
        } else if (tg_dtype_is_float(dtype)) {
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
    return rule_of(op) != NULL;
}

static void round_result(const evaluation *e, const tg_tensor *value)
{
    double *contents = e->contents[value->id];
    if (!e->rounded && tg_dtype_is_float(value->type.dtype))
        return;
    for (int64_t i = tg_type_elements(&value->type); i-- > 0;)
        contents[i] = evaluator_round(value->type.dtype, contents[i]);
}

const char *evaluation_run(evaluation *e)
{
    for (size_t n = 0; n < e->trace->node_count; n++) {
        const tg_node *node = e->trace->nodes[n];
        if (node->variable)
            continue;
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
    }
    return NULL;
}

const double *evaluation_value(const evaluation *e, const tg_tensor *value)
{
    return e->contents[value->id];
}
