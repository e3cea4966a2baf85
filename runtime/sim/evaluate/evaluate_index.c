/*
 * evaluate_index.c - ops whose places are data: dynamic slices, gather, scatter.
 *
 * Starts of slices are moved inside. What a scatter would write outside is left out,
 * element by element as the specification has it (XLA leaves out the whole window).
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_region.h"
#include "runtime/sim/evaluate/evaluate_rules.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <stdlib.h>
#include <string.h>

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- dynamic slices --------------------------------------------------------------------- */

/* Where in operand 0 a part of type PART begins; STRIDES gets the operand's. */
static int64_t part_start(const sim_run *run, const sim_op *op, const sim_type *part, int first,
                          int64_t *strides)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    int64_t start = 0;
    sim_strides(in, strides);
    for (int i = 0; i < in->rank; i++) {
        const int64_t index = sim_integer_at(sim_operand_type(run->program, op, first + i)->dtype,
                                             sim_operand(run, op, first + i), 0);
        start += clamp(index, 0, in->dims[i] - part->dims[i]) * strides[i];
    }
    return start;
}

sim_code sim_rule_dynamic_slice(sim_run *run, const sim_op *op)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const size_t bytes = bn_dtype_bytes(out->dtype);
    sim_walk walk = {.rank = out->rank};
    const int64_t start = part_start(run, op, out, 1, walk.from);
    memcpy(walk.dims, out->dims, sizeof walk.dims);
    sim_strides(out, walk.to);
    sim_copy(sim_result(run, op, 0), (const char *)sim_operand(run, op, 0) + start * (int64_t)bytes,
             &walk, bytes);
    return SIM_OK;
}

sim_code sim_rule_dynamic_update_slice(sim_run *run, const sim_op *op)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const sim_type *part = sim_operand_type(run->program, op, 1);
    const size_t bytes = bn_dtype_bytes(out->dtype);
    sim_walk walk = {.rank = out->rank};
    const int64_t start = part_start(run, op, part, 2, walk.to);
    memcpy(walk.dims, part->dims, sizeof walk.dims);
    sim_strides(part, walk.from);
    memcpy(sim_result(run, op, 0), sim_operand(run, op, 0), (size_t)sim_type_bytes(out));
    sim_copy((char *)sim_result(run, op, 0) + start * (int64_t)bytes, sim_operand(run, op, 1),
             &walk, bytes);
    return SIM_OK;
}

/* ---- gather and scatter ----------------------------------------------------------------- */

/*
 * Both relate three tensors: the operand, the indices, and parts of the operand side
 * by side (the result of gather, the updates of scatter). Dimensions of the parts are
 * those of the window, or number an index.
 */
typedef struct placement {
    const sim_type *operand, *indices, *parts;
    const int64_t *window_dims;       /* of the parts */
    const int64_t *dropped;           /* of the operand: those of 1 that windows lack */
    const int64_t *batching, *paired; /* of operand and of indices: the same index */
    const int64_t *map;               /* dimension of the operand of each number */
    size_t window_count, dropped_count, batching_count, map_count;
    int64_t vector; /* dimension of the indices that holds the numbers of one index */
    int64_t numbers[SIM_MAX_RANK];      /* dimensions of the parts that number an index */
    int64_t number_sizes[SIM_MAX_RANK]; /* their sizes */
    int number_count;
    /* Of the dimensions of a window: sizes, and strides in operand and parts. */
    int64_t sizes[SIM_MAX_RANK], operand_dims[SIM_MAX_RANK];
    int64_t operand_strides[SIM_MAX_RANK], parts_strides[SIM_MAX_RANK];
    int64_t indices_strides[SIM_MAX_RANK];
} placement;

static const int64_t *dims_of(const sim_op *op, const char *gather, const char *scatter,
                              size_t *count)
{
    const sim_attribute *dims =
        sim_attribute_find(op, op->opcode == SIM_OP_GATHER ? gather : scatter);
    *count = dims->count;
    return dims->ints;
}

/* Dimensions of the parts that are not the window's are those of the indices. */
static void number_dims(placement *l)
{
    for (int i = 0; i < l->parts->rank; i++) {
        if (sim_in_list(l->window_dims, l->window_count, i))
            continue;
        l->numbers[l->number_count] = i;
        l->number_sizes[l->number_count++] = l->parts->dims[i];
    }
}

/* Dimensions of the operand that are neither dropped nor batching are the window's. */
static void window_dims(placement *l)
{
    int64_t operand[SIM_MAX_RANK], parts[SIM_MAX_RANK];
    size_t next = 0;
    sim_strides(l->operand, operand);
    sim_strides(l->parts, parts);
    sim_strides(l->indices, l->indices_strides);
    for (int i = 0; i < l->operand->rank; i++) {
        if (sim_in_list(l->dropped, l->dropped_count, i) ||
            sim_in_list(l->batching, l->batching_count, i))
            continue;
        l->sizes[next] = l->parts->dims[l->window_dims[next]];
        l->operand_dims[next] = i;
        l->operand_strides[next] = operand[i];
        l->parts_strides[next] = parts[l->window_dims[next]];
        next++;
    }
}

static placement placement_of(const sim_op *op, const sim_type *operand, const sim_type *indices,
                              const sim_type *parts)
{
    placement l = {.operand = operand, .indices = indices, .parts = parts};
    size_t paired;
    l.window_dims = dims_of(op, "offset_dims", "update_window_dims", &l.window_count);
    l.dropped = dims_of(op, "collapsed_slice_dims", "inserted_window_dims", &l.dropped_count);
    l.batching = dims_of(op, "operand_batching_dims", "input_batching_dims", &l.batching_count);
    l.paired = dims_of(op, "start_indices_batching_dims", "scatter_indices_batching_dims", &paired);
    l.map = dims_of(op, "start_index_map", "scatter_dims_to_operand_dims", &l.map_count);
    l.vector = sim_attribute_int(op, "index_vector_dim");
    number_dims(&l);
    window_dims(&l);
    return l;
}

/* The operand's index at which the part of index NUMBER starts, as the data say: it may be
 * outside. */
static void part_index(const placement *l, const void *indices, const int64_t *number,
                       int64_t *start)
{
    int64_t at = 0, place[SIM_MAX_RANK] = {0};
    memset(start, 0, (size_t)l->operand->rank * sizeof *start);
    for (int i = 0; i < l->number_count; i++) {
        const int d = i < l->vector ? i : i + 1;
        place[d] = number[i];
        at += number[i] * l->indices_strides[d];
    }
    const int64_t step = l->vector < l->indices->rank ? l->indices_strides[l->vector] : 0;
    for (size_t i = 0; i < l->map_count; i++)
        start[l->map[i]] = sim_integer_at(l->indices->dtype, indices, at + (int64_t)i * step);
    for (size_t i = 0; i < l->batching_count; i++)
        start[l->batching[i]] = place[l->paired[i]];
}

/* Where the part of index NUMBER lies among the parts. */
static int64_t part_offset(const placement *l, const int64_t *number)
{
    int64_t strides[SIM_MAX_RANK], offset = 0;
    sim_strides(l->parts, strides);
    for (int i = 0; i < l->number_count; i++)
        offset += number[i] * strides[l->numbers[i]];
    return offset;
}

/* ---- gather ----------------------------------------------------------------------------- */

sim_code sim_rule_gather(sim_run *run, const sim_op *op)
{
    const placement l =
        placement_of(op, sim_operand_type(run->program, op, 0),
                     sim_operand_type(run->program, op, 1), sim_result_type(run->program, op, 0));
    int64_t number[SIM_MAX_RANK] = {0}, start[SIM_MAX_RANK], strides[SIM_MAX_RANK];
    const int64_t *sizes = sim_attribute_find(op, "slice_sizes")->ints;
    const int64_t bytes = (int64_t)bn_dtype_bytes(l.operand->dtype);
    if (sim_type_elements(l.parts) == 0 || sim_type_elements(l.operand) == 0) {
        memset(sim_result(run, op, 0), 0, (size_t)sim_type_bytes(l.parts));
        return SIM_OK;
    }
    sim_strides(l.operand, strides);
    do {
        sim_walk walk = {.rank = (int)l.window_count};
        int64_t from = 0;
        part_index(&l, sim_operand(run, op, 1), number, start);
        for (int i = 0; i < l.operand->rank; i++)
            from += clamp(start[i], 0, l.operand->dims[i] - sizes[i]) * strides[i];
        memcpy(walk.dims, l.sizes, sizeof walk.dims);
        memcpy(walk.to, l.parts_strides, sizeof walk.to);
        memcpy(walk.from, l.operand_strides, sizeof walk.from);
        sim_copy((char *)sim_result(run, op, 0) + part_offset(&l, number) * bytes,
                 (const char *)sim_operand(run, op, 0) + from * bytes, &walk, (size_t)bytes);
    } while (sim_next_index(number, l.number_sizes, l.number_count));
    return SIM_OK;
}

/* ---- scatter ---------------------------------------------------------------------------- */

/* Operands: N inputs, the indices, N updates. */
static int scattered(const sim_op *op)
{
    return (op->operand_count - 1) / 2;
}

sim_code sim_can_scatter(const sim_program *p, const sim_op *op, sim_status *st)
{
    (void)p;
    return sim_can_region(op, scattered(op), st);
}

/* Combines N elements (1 with several inputs) of the results at TO with those of the
 * updates at FROM. ARGUMENTS has room for all. */
static sim_code scatter_elements(sim_region *region, const sim_op *op, int64_t to, int64_t from,
                                 int64_t n, void **arguments)
{
    const int inputs = scattered(op);
    for (int i = 0; i < inputs; i++) {
        arguments[i] = sim_element(region->run, op->results[i], to);
        arguments[inputs + i] = sim_element(region->run, op->operands[inputs + 1 + i], from);
    }
    return inputs == 1 ? sim_region_combine(region, arguments[0], arguments[1], n)
                       : sim_region_store(region, arguments, arguments);
}

/* Scatters the part of index NUMBER, which starts at START in the operand. */
static sim_code scatter_part(sim_region *region, const sim_op *op, const placement *l,
                             const int64_t *number, const int64_t *start, void **arguments)
{
    const int rank = (int)l->window_count, last = rank - 1;
    /* A line at a time where it is dense on both sides. */
    const bool lines = rank > 0 && l->operand_strides[last] == 1 && l->parts_strides[last] == 1 &&
                       scattered(op) == 1;
    int64_t index[SIM_MAX_RANK] = {0}, base = 0, strides[SIM_MAX_RANK];
    const int64_t first = part_offset(l, number);
    sim_code code = SIM_OK;
    sim_strides(l->operand, strides);
    for (int i = 0; i < l->operand->rank; i++) {
        const bool windowed = sim_in_list(l->operand_dims, l->window_count, i);
        if (!windowed && (start[i] < 0 || start[i] >= l->operand->dims[i]))
            return SIM_OK;
        base += windowed ? 0 : start[i] * strides[i];
    }
    do {
        int64_t to = base, from = first, skip = 0, n = lines ? l->sizes[last] : 1;
        bool inside = true;
        for (int i = 0; i < rank && inside; i++) {
            const int64_t size = l->operand->dims[l->operand_dims[i]];
            int64_t at = clamp(start[l->operand_dims[i]], -INT64_MAX / 2, INT64_MAX / 2) + index[i];
            if (lines && i == last) { /* its part that is inside */
                skip = at < 0 ? (-at < n ? -at : n) : 0;
                n = size - at < n ? size - at : n;
                at += skip;
            }
            inside = at >= 0 && at < size && n > skip;
            to += inside ? at * l->operand_strides[i] : 0;
            from += (index[i] + (i == last ? skip : 0)) * l->parts_strides[i];
        }
        if (inside)
            code = scatter_elements(region, op, to, from, n - skip, arguments);
    } while (code == SIM_OK && sim_next_index(index, l->sizes, lines ? last : rank));
    return code;
}

static sim_code scatter_all(sim_run *run, const sim_op *op, sim_region *region)
{
    const int inputs = scattered(op);
    const placement l = placement_of(op, sim_operand_type(run->program, op, 0),
                                     sim_operand_type(run->program, op, inputs),
                                     sim_operand_type(run->program, op, inputs + 1));
    int64_t number[SIM_MAX_RANK] = {0}, start[SIM_MAX_RANK];
    void *arguments;
    for (int i = 0; i < op->result_count; i++)
        memcpy(sim_result(run, op, i), sim_operand(run, op, i),
               (size_t)sim_type_bytes(sim_result_type(run->program, op, i)));
    if (sim_type_elements(l.parts) == 0 || sim_type_elements(l.operand) == 0)
        return SIM_OK;
    sim_code code = sim_run_work(run, (double)sim_type_elements(l.parts));
    if (code == SIM_OK)
        code = sim_run_memory(run, op->operand_count * (int64_t)sizeof(void *), &arguments);
    if (code != SIM_OK)
        return code;
    do {
        part_index(&l, sim_operand(run, op, scattered(op)), number, start);
        code = scatter_part(region, op, &l, number, start, arguments);
    } while (code == SIM_OK && sim_next_index(number, l.number_sizes, l.number_count));
    free(arguments);
    return code;
}

sim_code sim_rule_scatter(sim_run *run, const sim_op *op)
{
    sim_region region;
    sim_code code = sim_region_begin(run, &op->regions[0], &region);
    if (code != SIM_OK)
        return code;
    code = scatter_all(run, op, &region);
    sim_region_end(&region);
    return code;
}
