/*
 * evaluate_index.c - the evaluator's rules for ops whose places are data: rows by
 * number, parts with a computed start, the largest elements.
 */
#include "runtime/graph/op_attributes.h"
#include "tests/support/evaluator.h"

#include <math.h>
#include <string.h>

static const tg_type *result_type(const tg_node *node)
{
    return &node->results[0].type;
}

static int64_t clamped(double at, int64_t last)
{
    return at < 0 ? 0 : at > (double)last ? last : (int64_t)at;
}

/* ---- rows by number -------------------------------------------------------------- */

static int64_t row_elements(const tg_type *x)
{
    return tg_type_elements(x) / x->dims[0];
}

static void gather_rows(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_type *x = tg_operand_type(node, 0);
    int64_t row = row_elements(x);
    for (int64_t i = 0; i < tg_type_elements(tg_operand_type(node, 1)); i++)
        for (int64_t j = 0; j < row; j++)
            out[0][i * row + j] = in[0][clamped(in[1][i], x->dims[0] - 1) * row + j];
}

static void scatter_add_rows(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_type *x = tg_operand_type(node, 0);
    int64_t row = row_elements(x);
    memcpy(out[0], in[0], (size_t)tg_type_elements(x) * sizeof(double));
    for (int64_t i = 0; i < tg_type_elements(tg_operand_type(node, 1)); i++)
        for (int64_t j = 0; j < row; j++)
            if (in[1][i] >= 0 && in[1][i] < (double)x->dims[0])
                out[0][(int64_t)in[1][i] * row + j] += in[2][i * row + j];
}

/* ---- parts with a computed start ----------------------------------------------------- */

/* Where the part of SIZES starts in X, moved so that it lies inside; STARTS[d] is
 * the contents of dimension D's scalar. */
static void part_start(const tg_type *x, const int64_t *sizes, const double *const *starts,
                       int64_t *start)
{
    for (int32_t d = 0; d < x->rank; d++)
        start[d] = clamped(starts[d][0], x->dims[d] - sizes[d]);
}

static int64_t part_place(const tg_type *x, const int64_t *start, const int64_t *at)
{
    int64_t place[TG_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        place[d] = start[d] + at[d];
    return evaluator_place(x, place);
}

static void dynamic_slice(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_type *x = tg_operand_type(node, 0), *y = result_type(node);
    int64_t start[TG_MAX_RANK], at[TG_MAX_RANK] = {0};
    part_start(x, y->dims, in + 1, start);
    for (int64_t i = 0; i < tg_type_elements(y); i++, evaluator_next(at, y->dims, y->rank))
        out[0][i] = in[0][part_place(x, start, at)];
}

static void dynamic_update_slice(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_type *x = tg_operand_type(node, 0), *u = tg_operand_type(node, 1);
    int64_t start[TG_MAX_RANK], at[TG_MAX_RANK] = {0};
    part_start(x, u->dims, in + 2, start);
    memcpy(out[0], in[0], (size_t)tg_type_elements(x) * sizeof(double));
    for (int64_t i = 0; i < tg_type_elements(u); i++, evaluator_next(at, u->dims, u->rank))
        out[0][part_place(x, start, at)] = in[1][i];
}

/* ---- the largest elements -------------------------------------------------------------- */

/* Whether element I stands before element J: larger, or as large and earlier. */
static bool stands_before(const double *x, int64_t i, int64_t j)
{
    if (x[i] != x[j])
        return x[i] > x[j];
    return signbit(x[i]) != signbit(x[j]) ? signbit(x[j]) : i < j;
}

/* Each element's place is the number of those that stand before it. */
static void top_k(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_type *x = tg_operand_type(node, 0);
    int64_t n = x->dims[x->rank - 1], k = result_type(node)->dims[x->rank - 1];
    for (int64_t row = 0; n > 0 && row < tg_type_elements(x) / n; row++)
        for (int64_t i = 0; i < n; i++) {
            int64_t place = 0;
            for (int64_t j = 0; j < n; j++)
                place += stands_before(in[0] + row * n, j, i);
            if (place < k) {
                out[0][row * k + place] = in[0][row * n + i];
                out[1][row * k + place] = (double)i;
            }
        }
}

const evaluator_row evaluator_index_rows[] = {
    {"gather_rows", gather_rows},
    {"scatter_add_rows", scatter_add_rows},
    {"dynamic_slice", dynamic_slice},
    {"dynamic_update_slice", dynamic_update_slice},
    {"top_k", top_k},
    {NULL, NULL},
};
