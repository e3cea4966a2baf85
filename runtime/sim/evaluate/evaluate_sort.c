/*
 * evaluate_sort.c - sort: lines of several operands in one order, which a region decides.
 * It is a merge sort, so it is always stable, and safe whatever the region says.
 */
#include "runtime/sim/evaluate/evaluate_region.h"
#include "runtime/sim/evaluate/evaluate_rules.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <math.h>
#include <stdlib.h>

sim_code sim_can_sort(const sim_program *p, const sim_op *op, sim_status *st)
{
    (void)p;
    return sim_can_region(op, op->operand_count, st);
}

/* One line: the first element of each operand, and the order that becomes theirs. */
typedef struct sorting {
    sim_region *region;
    const sim_op *op;
    int64_t count, stride;
    int64_t first;
    int64_t *order, *other; /* COUNT each */
    void **arguments;
} sorting;

static void *element(const sorting *s, int value, int64_t number)
{
    return sim_element(s->region->run, value, s->first + number * s->stride);
}

/* Whether element A must stand before element B. */
static sim_code before(sorting *s, int64_t a, int64_t b, bool *yes)
{
    for (int i = 0; i < s->op->operand_count; i++) {
        s->arguments[2 * i] = element(s, s->op->operands[i], a);
        s->arguments[2 * i + 1] = element(s, s->op->operands[i], b);
    }
    sim_code code = sim_region_call(s->region, s->arguments);
    *yes = code == SIM_OK && *(const uint8_t *)sim_region_result(s->region, 0);
    return code;
}

/* Merges ORDER[LOW, MIDDLE) and [MIDDLE, HIGH) into OTHER. */
static sim_code merge(sorting *s, int64_t low, int64_t middle, int64_t high)
{
    int64_t a = low, b = middle;
    sim_code code = SIM_OK;
    for (int64_t to = low; to < high && code == SIM_OK; to++) {
        bool second = a >= middle;
        if (!second && b < high)
            code = before(s, s->order[b], s->order[a], &second);
        s->other[to] = second ? s->order[b++] : s->order[a++];
    }
    return code;
}

static sim_code sort_line(sorting *s)
{
    sim_code code = SIM_OK;
    for (int64_t i = 0; i < s->count; i++)
        s->order[i] = i;
    for (int64_t width = 1; width < s->count && code == SIM_OK; width *= 2) {
        for (int64_t low = 0; low < s->count && code == SIM_OK; low += 2 * width) {
            const int64_t middle = low + width < s->count ? low + width : s->count;
            const int64_t high = low + 2 * width < s->count ? low + 2 * width : s->count;
            code = merge(s, low, middle, high);
        }
        int64_t *last = s->order;
        s->order = s->other;
        s->other = last;
    }
    for (int i = 0; i < s->op->operand_count && code == SIM_OK; i++) {
        const size_t bytes =
            bn_dtype_bytes(sim_operand_type(s->region->run->program, s->op, i)->dtype);
        for (int64_t to = 0; to < s->count; to++)
            sim_fill(element(s, s->op->results[i], to),
                     element(s, s->op->operands[i], s->order[to]), 1, bytes);
    }
    return code;
}

static sim_code sort_lines(sim_run *run, const sim_op *op, sim_region *region)
{
    const sim_type *type = sim_operand_type(run->program, op, 0);
    const int64_t along = sim_attribute_int(op, "dimension"), n = type->dims[along];
    const int64_t lines = sim_type_elements(type) / n;
    int64_t strides[SIM_MAX_RANK];
    void *order, *arguments;
    sim_strides(type, strides);
    sorting s = {.region = region, .op = op, .count = n, .stride = strides[along]};
    sim_code code = sim_run_work(run, (double)lines * (double)n * (log2((double)n) + 1));
    if (code == SIM_OK)
        code = sim_run_memory(run, 2 * n * (int64_t)sizeof(int64_t), &order);
    if (code != SIM_OK)
        return code;
    code = sim_run_memory(run, 2 * op->operand_count * (int64_t)sizeof(void *), &arguments);
    if (code == SIM_OK) {
        s.order = order;
        s.other = s.order + n;
        s.arguments = arguments;
        for (int64_t line = 0; line < lines && code == SIM_OK; line++) {
            s.first = line / s.stride * s.stride * n + line % s.stride;
            code = sort_line(&s);
        }
        free(arguments);
    }
    free(order);
    return code;
}

sim_code sim_rule_sort(sim_run *run, const sim_op *op)
{
    sim_region region;
    if (sim_type_elements(sim_operand_type(run->program, op, 0)) == 0)
        return SIM_OK;
    sim_code code = sim_region_begin(run, &op->regions[0], &region);
    if (code != SIM_OK)
        return code;
    code = sort_lines(run, op, &region);
    sim_region_end(&region);
    return code;
}
