/*
 * evaluate_window.c - ops that bring many elements together through a region:
 * reduce, reduce_window, select_and_scatter.
 *
 * Where the region is one op that may be applied in any order, whole lines are
 * combined by its kernel, half-width floats in f32, rounded at the end.
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_region.h"
#include "runtime/sim/evaluate/evaluate_rules.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- folding ---------------------------------------------------------------------------- */

/* Sums, and the operand they are made from, in the type of the kernel. */
typedef struct folding {
    sim_kernel *kernel;
    bn_dtype dtype;
    int64_t bytes; /* of an element */
    const char *in;
    char *acc;
    void *memory[2]; /* of both, where they are not the operand and the result themselves */
} folding;

/* Begins the first result of OP from its first operand and its initial value INIT. */
static sim_code folding_begin(sim_run *run, const sim_op *op, sim_kernel *kernel, int init,
                              folding *f)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    const int64_t n = sim_type_elements(in);
    const int64_t results = sim_type_elements(sim_result_type(run->program, op, 0));
    _Alignas(SIM_ELEMENT) char first[SIM_ELEMENT];
    *f = (folding){.kernel = kernel, .dtype = sim_wide(in->dtype)};
    f->bytes = (int64_t)bn_dtype_bytes(f->dtype);
    f->in = sim_operand(run, op, 0);
    f->acc = sim_result(run, op, 0);
    if (f->dtype != in->dtype) {
        if (sim_run_memory(run, n * f->bytes, &f->memory[0]) != SIM_OK)
            return run->st->code;
        if (sim_run_memory(run, results * f->bytes, &f->memory[1]) != SIM_OK) {
            free(f->memory[0]);
            return run->st->code;
        }
        sim_convert(f->dtype, f->memory[0], in->dtype, f->in, n);
        f->in = f->memory[0];
        f->acc = f->memory[1];
    }
    sim_convert(f->dtype, first, in->dtype, sim_operand(run, op, init), 1);
    sim_fill(f->acc, first, results, (size_t)f->bytes);
    return SIM_OK;
}

static void folding_end(sim_run *run, const sim_op *op, folding *f)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    if (f->memory[1])
        sim_convert(out->dtype, sim_result(run, op, 0), f->dtype, f->acc, sim_type_elements(out));
    free(f->memory[0]);
    free(f->memory[1]);
}

/* ACC[i] = kernel(ACC[i], IN[i]), from elements number TO and FROM on. */
static void fold_lines(const folding *f, int64_t to, int64_t from, int64_t n)
{
    char *acc = f->acc + to * f->bytes;
    const void *in[2] = {acc, f->in + from * f->bytes};
    f->kernel(acc, in, n);
}

/* One element of ACC takes in N that lie side by side: halves are combined until one
 * is left, which keeps sums more exact than one after the other. */
static void fold_line(const folding *f, int64_t to, int64_t from, int64_t n)
{
    _Alignas(SIM_ELEMENT) char chunk[SIM_CHUNK * SIM_ELEMENT];
    for (int64_t at = 0; at < n; at += SIM_CHUNK) {
        const char *line = f->in + (from + at) * f->bytes;
        int64_t size = n - at < SIM_CHUNK ? n - at : SIM_CHUNK;
        while (size > 1) {
            const int64_t half = size / 2, left = size - half;
            const void *in[2] = {line, line + left * f->bytes};
            f->kernel(chunk, in, half);
            if (left > half && line != chunk)
                memcpy(chunk + half * f->bytes, line + half * f->bytes, (size_t)f->bytes);
            line = chunk;
            size = left;
        }
        const void *last[2] = {f->acc + to * f->bytes, line};
        f->kernel(f->acc + to * f->bytes, last, 1);
    }
}

/* ---- reduce ----------------------------------------------------------------------------- */

static int inputs_of(const sim_op *op)
{
    return op->operand_count / 2;
}

sim_code sim_can_reduce(const sim_program *p, const sim_op *op, sim_status *st)
{
    (void)p;
    return sim_can_region(op, inputs_of(op), st);
}

/* Neighbouring dimensions of the operand that are all reduced (to 0) or all kept. */
static sim_walk reduction_walk(const sim_run *run, const sim_op *op)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    const sim_attribute *dims = sim_attribute_find(op, "dimensions");
    int64_t from[SIM_MAX_RANK], to[SIM_MAX_RANK];
    sim_walk walk = {.rank = 0};
    sim_strides(in, from);
    sim_strides(sim_result_type(run->program, op, 0), to);
    for (int i = 0, kept = 0; i < in->rank; i++) {
        const bool reduced = sim_in_list(dims->ints, dims->count, i);
        const int64_t stride = reduced ? 0 : to[kept++];
        const int last = walk.rank - 1;
        if (in->dims[i] == 1)
            continue;
        if (last >= 0 && (walk.to[last] == 0) == reduced) {
            walk.dims[last] *= in->dims[i];
            walk.to[last] = stride;
            walk.from[last] = from[i];
            continue;
        }
        walk.dims[walk.rank] = in->dims[i];
        walk.to[walk.rank] = stride;
        walk.from[walk.rank++] = from[i];
    }
    if (walk.rank == 0)
        walk = (sim_walk){.rank = 1, .dims = {1}, .to = {1}, .from = {1}};
    return walk;
}

static void offsets(const sim_walk *walk, const int64_t *index, int rank, int64_t *to,
                    int64_t *from)
{
    *to = *from = 0;
    for (int i = 0; i < rank; i++) {
        *to += index[i] * walk->to[i];
        *from += index[i] * walk->from[i];
    }
}

static sim_code reduce_by_kernel(sim_run *run, const sim_op *op, sim_kernel *kernel)
{
    const sim_walk walk = reduction_walk(run, op);
    const int last = walk.rank - 1;
    int64_t index[SIM_MAX_RANK] = {0}, to, from;
    folding f;
    if (folding_begin(run, op, kernel, 1, &f) != SIM_OK)
        return run->st->code;
    if (sim_type_elements(sim_operand_type(run->program, op, 0)) > 0)
        do {
            offsets(&walk, index, last, &to, &from);
            if (walk.to[last] == 0)
                fold_line(&f, to, from, walk.dims[last]);
            else
                fold_lines(&f, to, from, walk.dims[last]);
        } while (sim_next_index(index, walk.dims, last));
    folding_end(run, op, &f);
    return SIM_OK;
}

static void fill_results(sim_run *run, const sim_op *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const sim_type *type = sim_result_type(run->program, op, i);
        sim_fill(sim_result(run, op, i), sim_operand(run, op, inputs_of(op) + i),
                 sim_type_elements(type), bn_dtype_bytes(type->dtype));
    }
}

/* Results at TO take in the operands' elements at FROM. ARGUMENTS has room for both. */
static sim_code take_in(sim_region *region, const sim_op *op, int64_t to, int64_t from,
                        void **arguments)
{
    const int n = inputs_of(op);
    for (int i = 0; i < n; i++) {
        arguments[i] = sim_element(region->run, op->results[i], to);
        arguments[n + i] = sim_element(region->run, op->operands[i], from);
    }
    return sim_region_store(region, arguments, arguments);
}

static sim_code reduce_by_region(sim_run *run, const sim_op *op, sim_region *region)
{
    const sim_walk walk = reduction_walk(run, op);
    int64_t index[SIM_MAX_RANK] = {0}, to, from;
    void *arguments;
    sim_code code = sim_run_memory(run, op->operand_count * (int64_t)sizeof(void *), &arguments);
    if (code != SIM_OK)
        return code;
    fill_results(run, op);
    if (sim_type_elements(sim_operand_type(run->program, op, 0)) > 0)
        do {
            offsets(&walk, index, walk.rank, &to, &from);
            code = take_in(region, op, to, from, arguments);
        } while (code == SIM_OK && sim_next_index(index, walk.dims, walk.rank));
    free(arguments);
    return code;
}

sim_code sim_rule_reduce(sim_run *run, const sim_op *op)
{
    sim_region region;
    if (sim_run_work(run, (double)sim_type_elements(sim_operand_type(run->program, op, 0))) !=
            SIM_OK ||
        sim_region_begin(run, &op->regions[0], &region) != SIM_OK)
        return run->st->code;
    sim_kernel *kernel = inputs_of(op) == 1 ? sim_region_fold(&region) : NULL;
    sim_code code = kernel ? reduce_by_kernel(run, op, kernel) : reduce_by_region(run, op, &region);
    sim_region_end(&region);
    return code;
}

/* ---- windows ---------------------------------------------------------------------------- */

/* A window over an operand; a scalar has one dimension of 1 here. */
typedef struct window {
    int rank;
    int64_t in[SIM_MAX_RANK], out[SIM_MAX_RANK], size[SIM_MAX_RANK], stride[SIM_MAX_RANK];
    int64_t base[SIM_MAX_RANK], step[SIM_MAX_RANK], low[SIM_MAX_RANK]; /* dilations, padding */
    int64_t in_strides[SIM_MAX_RANK];
} window;

/* No place of a window overflows below it. */
#define FAR (INT64_C(1) << 30)

static sim_code check_window(const sim_op *op, const sim_type *in, const sim_type *out,
                             sim_status *st)
{
    const size_t rank = (size_t)in->rank;
    for (int i = 0; i < in->rank; i++)
        if (in->dims[i] > FAR || out->dims[i] > FAR)
            return sim_refuse(op, st, SIM_INVALID_ARGUMENT, "dimension %d is too large", i);
    if (!sim_checked_ints(op, "window_dimensions", rank, 1, FAR, st) ||
        !sim_checked_ints(op, "window_strides", rank, 1, FAR, st) ||
        !sim_checked_ints(op, "padding", 2 * rank, -FAR, FAR, st))
        return st->code;
    return SIM_OK;
}

static window window_of(const sim_op *op, const sim_type *in, const sim_type *out)
{
    const sim_attribute *base = sim_attribute_find(op, "base_dilations");
    const sim_attribute *step = sim_attribute_find(op, "window_dilations");
    window w = {.rank = in->rank > 0 ? in->rank : 1};
    w.in[0] = w.out[0] = w.size[0] = w.stride[0] = w.base[0] = w.step[0] = w.in_strides[0] = 1;
    sim_strides(in, w.in_strides);
    for (int i = 0; i < in->rank; i++) {
        w.in[i] = in->dims[i];
        w.out[i] = out->dims[i];
        w.size[i] = sim_attribute_find(op, "window_dimensions")->ints[i];
        w.stride[i] = sim_attribute_find(op, "window_strides")->ints[i];
        w.low[i] = sim_attribute_find(op, "padding")->ints[2 * i];
        w.base[i] = base ? base->ints[i] : 1;
        w.step[i] = step ? step->ints[i] : 1;
    }
    return w;
}

/* Index in dimension I under place K of the window at output O, or -1. */
static int64_t window_index(const window *w, int i, int64_t o, int64_t k)
{
    const int64_t at = o * w->stride[i] + k * w->step[i] - w->low[i];
    const int64_t index = at / w->base[i];
    return at < 0 || index >= w->in[i] || index * w->base[i] != at ? -1 : index;
}

/* Where the first RANK dimensions lead in the operand, or -1. */
static int64_t window_offset(const window *w, const int64_t *o, const int64_t *k, int rank)
{
    int64_t offset = 0;
    for (int i = 0; i < rank; i++) {
        const int64_t index = window_index(w, i, o[i], k[i]);
        if (index < 0)
            return -1;
        offset += index * w->in_strides[i];
    }
    return offset;
}

static double window_work(const window *w)
{
    double work = 1;
    for (int i = 0; i < w->rank; i++)
        work *= (double)w->out[i] * (double)w->size[i];
    return work;
}

sim_code sim_can_reduce_window(const sim_program *p, const sim_op *op, sim_status *st)
{
    const sim_type *in = sim_operand_type(p, op, 0);
    if (sim_can_region(op, inputs_of(op), st) != SIM_OK ||
        check_window(op, in, sim_result_type(p, op, 0), st) != SIM_OK ||
        !sim_checked_ints(op, "base_dilations", (size_t)in->rank, 1, FAR, st) ||
        !sim_checked_ints(op, "window_dilations", (size_t)in->rank, 1, FAR, st))
        return st->code;
    return SIM_OK;
}

/* Elements that a line of results takes in at once from lines of the operand. */
static void window_line(const window *w, const folding *f, int64_t to, int64_t from, int64_t k)
{
    const int last = w->rank - 1;
    const int64_t n = w->out[last], stride = w->stride[last];
    const int64_t shift = k * w->step[last] - w->low[last];
    if (w->base[last] != 1 || stride != 1) {
        for (int64_t o = 0; o < n; o++) {
            const int64_t index = window_index(w, last, o, k);
            if (index >= 0)
                fold_lines(f, to + o, from + index, 1);
        }
        return;
    }
    const int64_t first = shift < 0 ? -shift : 0;
    const int64_t end = w->in[last] - shift < n ? w->in[last] - shift : n;
    if (first < end)
        fold_lines(f, to + first, from + first + shift, end - first);
}

static sim_code window_by_kernel(sim_run *run, const sim_op *op, const window *w,
                                 sim_kernel *kernel)
{
    const int last = w->rank - 1;
    int64_t o[SIM_MAX_RANK] = {0}, to = 0;
    folding f;
    if (folding_begin(run, op, kernel, 1, &f) != SIM_OK)
        return run->st->code;
    do {
        int64_t k[SIM_MAX_RANK] = {0};
        do {
            const int64_t from = window_offset(w, o, k, last);
            for (int64_t i = 0; from >= 0 && i < w->size[last]; i++)
                window_line(w, &f, to, from, i);
        } while (sim_next_index(k, w->size, last));
        to += w->out[last];
    } while (sim_next_index(o, w->out, last));
    folding_end(run, op, &f);
    return SIM_OK;
}

static sim_code window_by_region(sim_run *run, const sim_op *op, const window *w,
                                 sim_region *region)
{
    int64_t o[SIM_MAX_RANK] = {0}, to = 0;
    void *arguments;
    sim_code code = sim_run_memory(run, op->operand_count * (int64_t)sizeof(void *), &arguments);
    if (code != SIM_OK)
        return code;
    fill_results(run, op);
    do {
        int64_t k[SIM_MAX_RANK] = {0};
        do {
            const int64_t from = window_offset(w, o, k, w->rank);
            if (from >= 0)
                code = take_in(region, op, to, from, arguments);
        } while (code == SIM_OK && sim_next_index(k, w->size, w->rank));
        to++;
    } while (code == SIM_OK && sim_next_index(o, w->out, w->rank));
    free(arguments);
    return code;
}

sim_code sim_rule_reduce_window(sim_run *run, const sim_op *op)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    const sim_type *out = sim_result_type(run->program, op, 0);
    const window w = window_of(op, in, out);
    sim_region region;
    if (sim_type_elements(out) == 0)
        return SIM_OK;
    if (sim_run_work(run, window_work(&w)) != SIM_OK ||
        sim_region_begin(run, &op->regions[0], &region) != SIM_OK)
        return run->st->code;
    sim_kernel *kernel = inputs_of(op) == 1 ? sim_region_fold(&region) : NULL;
    sim_code code =
        kernel ? window_by_kernel(run, op, &w, kernel) : window_by_region(run, op, &w, &region);
    sim_region_end(&region);
    return code;
}

/* ---- select_and_scatter ----------------------------------------------------------------- */

sim_code sim_can_select_and_scatter(const sim_program *p, const sim_op *op, sim_status *st)
{
    return check_window(op, sim_operand_type(p, op, 0), sim_operand_type(p, op, 1), st);
}

/* The element of the operand that the window at O chooses; -1 where it holds none. */
static sim_code choose(sim_region *select, const sim_op *op, const window *w, const int64_t *o,
                       int64_t *chosen)
{
    int64_t k[SIM_MAX_RANK] = {0};
    *chosen = -1;
    do {
        const int64_t at = window_offset(w, o, k, w->rank);
        if (at < 0)
            continue;
        if (*chosen >= 0) {
            void *arguments[2] = {sim_element(select->run, op->operands[0], *chosen),
                                  sim_element(select->run, op->operands[0], at)};
            if (sim_region_call(select, arguments) != SIM_OK)
                return select->run->st->code;
            if (*(const uint8_t *)sim_region_result(select, 0))
                continue;
        }
        *chosen = at;
    } while (sim_next_index(k, w->size, w->rank));
    return SIM_OK;
}

static sim_code scatter_windows(sim_run *run, const sim_op *op, sim_region *select,
                                sim_region *scatter)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    const sim_type *source = sim_operand_type(run->program, op, 1);
    const window w = window_of(op, in, source);
    int64_t o[SIM_MAX_RANK] = {0}, number = 0;
    sim_fill(sim_result(run, op, 0), sim_operand(run, op, 2), sim_type_elements(in),
             bn_dtype_bytes(in->dtype));
    if (sim_type_elements(source) == 0)
        return SIM_OK;
    sim_code code = sim_run_work(run, window_work(&w));
    if (code != SIM_OK)
        return code;
    do {
        int64_t chosen;
        code = choose(select, op, &w, o, &chosen);
        if (code == SIM_OK && chosen >= 0)
            code = sim_region_combine(scatter, sim_element(run, op->results[0], chosen),
                                      sim_element(run, op->operands[1], number), 1);
        number++;
    } while (code == SIM_OK && sim_next_index(o, w.out, w.rank));
    return code;
}

sim_code sim_rule_select_and_scatter(sim_run *run, const sim_op *op)
{
    sim_region select, scatter;
    sim_code code = sim_region_begin(run, &op->regions[0], &select);
    if (code != SIM_OK)
        return code;
    code = sim_region_begin(run, &op->regions[1], &scatter);
    if (code == SIM_OK) {
        code = scatter_windows(run, op, &select, &scatter);
        sim_region_end(&scatter);
    }
    sim_region_end(&select);
    return code;
}
