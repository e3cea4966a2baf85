/*
 * variants.c - the variants of a program: what differs between them, and how long each takes.
 *
 * Variants are programs of one kind (names.c) that were executed. Where all dimensions that differ
 * follow from the first one, it is the one that changes: a mask is as long as its batch, and an
 * image as wide as it is high. To follow is to be equal, or proportional, or with three values or
 * more a line.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer values lie on a line by chance. */
#define LEAST_LINE   3
/* Times of a variant that say how much they spread. */
#define LEAST_SPREAD 3
/* A median absolute deviation of normal values, in standard deviations. */
#define NORMAL       1.4826

const char *rec_varying_name(rec_varying varying)
{
    static const char *const names[] = {
#define X(member, name) name,
        REC_VARYINGS(X)
#undef X
    };
    return names[varying];
}

void rec_variants_free(rec_variants *variants)
{
    free(variants->list);
    free(variants->first);
    *variants = (rec_variants){0};
}

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the variants of programs");
}

/* ---- which programs ----------------------------------------------------------------------- */

/* The kind of those programs that took longest to compile; REC_NONE: nothing was compiled. */
static uint32_t longest_kind(const rec_process *p, const rec_names *names, const uint32_t *first,
                             uint64_t *sums, uint32_t *members)
{
    uint32_t best = REC_NONE;
    for (size_t i = 0; i < p->program_count; i++) {
        const uint32_t kind = names->kind[i];
        sums[kind] += first[i] == REC_NONE ? 0 : p->programs[i].compile_ns;
        members[kind] += first[i] != REC_NONE;
    }
    for (uint32_t k = 0; k < names->kind_count; k++)
        if (members[k] > 1 && (best == REC_NONE || sums[k] > sums[best]))
            best = k;
    return best;
}

static bool choose_kind(const rec_steps *s, const rec_names *names, const uint32_t *first,
                        uint32_t program, uint32_t *kind)
{
    const rec_process *p = s->process;
    uint64_t *sums = calloc(names->kind_count + 1, sizeof *sums);
    uint32_t *members = calloc(names->kind_count + 1, sizeof *members);
    const bool made = sums && members;
    if (made)
        *kind = program < p->program_count ? names->kind[program]
                                           : longest_kind(p, names, first, sums, members);
    free(sums);
    free(members);
    return made;
}

/* Each program's first execution on the device of S, and their number. */
static void find_first(const rec_steps *s, uint32_t *first, uint32_t *counts)
{
    for (size_t i = 0; i < s->process->program_count; i++)
        first[i] = REC_NONE;
    for (size_t i = s->order_count; i-- > 0;) {
        const uint32_t program = s->process->executions[s->order[i]].program;
        first[program] = s->order[i];
        counts[program]++;
    }
}

/* ---- what differs ------------------------------------------------------------------------- */

static const rec_type *type_of(const rec_process *p, uint32_t execution, uint32_t argument)
{
    const uint32_t buffer = rec_argument(p, &p->executions[execution], 0, argument);
    const uint32_t type = buffer < p->buffer_count ? p->buffers[buffer].type : REC_NONE;
    return type < p->type_count ? &p->types[type] : NULL;
}

static int64_t value_at(const rec_process *p, const rec_variants *v, size_t index,
                        uint32_t argument, uint32_t dimension)
{
    return type_of(p, v->first[index], argument)->dims[dimension];
}

/* Whether (XI, YI) lies on the line through (X0, Y0) and (XK, YK), of which no dimension is
 * negative. */
static bool on_line(int64_t x0, int64_t y0, int64_t xk, int64_t yk, int64_t xi, int64_t yi)
{
    return ((long double)yi - y0) * ((long double)xk - x0) ==
           ((long double)yk - y0) * ((long double)xi - x0);
}

/* Whether dimension D of argument A follows from the one that changes. */
static bool follows(const rec_process *p, const rec_variants *v, uint32_t a, uint32_t d)
{
    const int64_t x0 = value_at(p, v, 0, v->argument, v->dimension), y0 = value_at(p, v, 0, a, d);
    int64_t xk = x0, yk = y0;
    bool third = false;
    for (size_t i = 1; i < v->count; i++) {
        const int64_t x = value_at(p, v, i, v->argument, v->dimension);
        if (x != x0 && xk == x0) {
            xk = x;
            yk = value_at(p, v, i, a, d);
        }
        third = third || (x != x0 && x != xk);
    }
    for (size_t i = 1; i < v->count; i++)
        if (!on_line(x0, y0, xk, yk, value_at(p, v, i, v->argument, v->dimension),
                     value_at(p, v, i, a, d)))
            return false;
    /* Two values of each are always on a line. */
    const bool proportional = (long double)y0 * xk == (long double)yk * x0;
    return third || proportional;
}

/* Whether argument A has types, and elements and rank that do not change. */
static rec_varying compare_argument(const rec_process *p, const rec_variants *v, uint32_t a,
                                    uint32_t *rank)
{
    rec_varying found = REC_VARYING_CODE;
    const rec_type *first = type_of(p, v->first[0], a);
    *rank = first ? first->rank : 0;
    for (size_t i = 0; i < v->count; i++) {
        const rec_type *type = type_of(p, v->first[i], a);
        if (!first || !type)
            return REC_VARYING_UNKNOWN;
        if (type->type != first->type || type->rank != first->rank)
            found = REC_VARYING_TYPE;
    }
    return found;
}

static bool changes(const rec_process *p, const rec_variants *v, uint32_t a, uint32_t d)
{
    for (size_t i = 1; i < v->count; i++)
        if (value_at(p, v, i, a, d) != value_at(p, v, 0, a, d))
            return true;
    return false;
}

/* Takes in argument A. */
static void tell_argument(const rec_process *p, rec_variants *v, uint32_t a)
{
    uint32_t rank = 0;
    bool other = false;
    const rec_varying found = compare_argument(p, v, a, &rank);
    if (found == REC_VARYING_UNKNOWN) {
        v->varying = found;
        return;
    }
    if (found == REC_VARYING_TYPE) {
        v->others += v->argument != REC_NONE;
        v->argument = v->argument == REC_NONE ? a : v->argument;
        v->varying = found;
        return;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (!changes(p, v, a, d))
            continue;
        if (v->argument == REC_NONE) {
            v->argument = a;
            v->dimension = d;
            v->varying = REC_VARYING_DIMENSION;
        } else if (v->varying == REC_VARYING_DIMENSION && follows(p, v, a, d)) {
            v->following++;
        } else {
            v->varying = v->varying == REC_VARYING_TYPE ? v->varying : REC_VARYING_SEVERAL;
            other = a != v->argument;
        }
    }
    v->others += other;
}

/* ---- their order -------------------------------------------------------------------------- */

typedef struct ranked {
    rec_variant variant;
    uint32_t first;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return rec_order((uint64_t)x->variant.value, (uint64_t)y->variant.value, x->first, y->first);
}

/* Gives variants the value of the dimension that changes, and puts them in order. */
static bool sort_variants(const rec_process *p, rec_variants *v)
{
    const bool named = v->varying == REC_VARYING_DIMENSION;
    ranked *list = malloc((v->count + 1) * sizeof *list);
    for (size_t i = 0; list && i < v->count; i++) {
        v->list[i].value = named ? value_at(p, v, i, v->argument, v->dimension) : -1;
        list[i] = (ranked){v->list[i], v->first[i]};
    }
    if (list)
        qsort(list, v->count, sizeof *list, by_value);
    for (size_t i = 0; list && i < v->count; i++) {
        v->list[i] = list[i].variant;
        v->first[i] = list[i].first;
        v->repeated += named && i > 0 && v->list[i].value == v->list[i - 1].value;
    }
    free(list);
    return list != NULL;
}

/* ---- times -------------------------------------------------------------------------------- */

typedef struct timed {
    uint32_t program;
    double ns;
} timed;

static int by_program(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->program != y->program)
        return x->program > y->program ? 1 : -1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The times of all programs, sorted, into LIST; how many. */
static size_t list_times(const rec_steps *s, const rec_requests *r, const uint32_t *first,
                         timed *list)
{
    size_t count = 0;
    for (size_t i = 0; r && i < r->count; i++)
        if (!r->list[i].compiles && r->list[i].end_ns)
            list[count++] =
                (timed){r->list[i].program, (double)(r->list[i].end_ns - r->list[i].begin_ns)};
    for (size_t i = 0; !r && i < s->order_count; i++) {
        const rec_execution *e = &s->process->executions[s->order[i]];
        const rec_span *span = rec_steps_span(s, e);
        if (span->complete_ns && first[e->program] != s->order[i])
            list[count++] = (timed){e->program, (double)(span->complete_ns - span->start_ns)};
    }
    qsort(list, count, sizeof *list, by_program);
    return count;
}

/* The first of COUNT times that is PROGRAM's, and how many are. */
static size_t find_times(const timed *list, size_t count, uint32_t program, size_t *number)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].program < program)
            low = middle + 1;
        else
            high = middle;
    }
    *number = 0;
    while (low + *number < count && list[low + *number].program == program)
        ++*number;
    return low;
}

/* Fills the times of V's variants, and their spread. ROOM is for COUNT values. */
static void fill_times(rec_variants *v, const timed *list, size_t count, double *room)
{
    size_t spread = 0, variants = 0;
    for (size_t i = 0; i < v->count; i++) {
        size_t number;
        const size_t from = find_times(list, count, v->list[i].program, &number);
        v->list[i].timed = (uint32_t)number;
        v->list[i].time_ns = (double)NAN;
        if (number == 0)
            continue;
        const double low = list[from + (number - 1) / 2].ns, high = list[from + number / 2].ns;
        const double median = v->list[i].time_ns = (low + high) / 2;
        if (number < LEAST_SPREAD || median <= 0)
            continue;
        variants++;
        for (size_t k = from; k < from + number; k++)
            room[spread++] = fabs(list[k].ns / median - 1);
    }
    v->spread_of = (uint32_t)(spread - variants);
    v->spread = (double)NAN;
    if (spread > variants)
        v->spread =
            NORMAL * res_median(room, spread) * sqrt((double)spread / (double)(spread - variants));
}

static bool time_variants(const rec_steps *s, const rec_requests *requests, const uint32_t *first,
                          rec_variants *v)
{
    const rec_requests *r = requests && requests->at_once <= 1 ? requests : NULL;
    const size_t most = (r ? r->count : s->order_count) + 1;
    timed *list = malloc(most * sizeof *list);
    double *room = malloc(most * sizeof *room);
    const bool made = list && room;
    v->of_requests = r != NULL;
    if (made)
        fill_times(v, list, list_times(s, r, first, list), room);
    free(list);
    free(room);
    return made;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static bool list_variants(const rec_process *p, const rec_names *names, uint32_t kind,
                          const uint32_t *first, const uint32_t *counts, rec_variants *v)
{
    v->list = calloc(p->program_count + 1, sizeof *v->list);
    v->first = calloc(p->program_count + 1, sizeof *v->first);
    for (uint32_t i = 0; v->list && v->first && i < p->program_count; i++)
        if (names->kind[i] == kind && first[i] != REC_NONE) {
            v->first[v->count] = first[i];
            v->list[v->count++] = (rec_variant){.program = i,
                                                .value = -1,
                                                .executions = counts[i],
                                                .compile_ns = p->programs[i].compile_ns,
                                                .time_ns = (double)NAN};
        }
    return v->list && v->first;
}

/* Finds what differs between V's variants. */
static void tell_difference(const rec_process *p, rec_variants *v)
{
    if (v->count < 2)
        return;
    const uint32_t arguments = p->executions[v->first[0]].arguments;
    for (uint32_t a = 0; a < arguments && v->varying != REC_VARYING_UNKNOWN; a++)
        tell_argument(p, v, a);
}

bn_code rec_variants_make(const rec_steps *steps, uint32_t program, const rec_requests *requests,
                          rec_variants *variants, bn_status *st)
{
    const rec_process *p = steps->process;
    uint32_t *first = malloc((p->program_count + 1) * sizeof *first), kind = REC_NONE;
    uint32_t *counts = calloc(p->program_count + 1, sizeof *counts);
    rec_names names = {0};
    *variants = (rec_variants){.argument = REC_NONE, .dimension = REC_NONE, .spread = (double)NAN};
    bn_code code = first && counts ? rec_names_make(p, &names, st) : no_memory(st);
    if (code == BN_OK) {
        find_first(steps, first, counts);
        bool made = choose_kind(steps, &names, first, program, &kind) &&
                    list_variants(p, &names, kind, first, counts, variants);
        if (made) {
            tell_difference(p, variants);
            made = sort_variants(p, variants) && time_variants(steps, requests, first, variants);
        }
        code = made ? BN_OK : no_memory(st);
    }
    rec_names_free(&names);
    free(first);
    free(counts);
    return code;
}

void rec_variant_put(const rec_steps *steps, const rec_variants *v, size_t index, bn_text *out)
{
    const rec_process *p = steps->process;
    if (v->argument == REC_NONE || index >= v->count)
        return;
    const uint32_t buffer = rec_argument(p, &p->executions[v->first[index]], 0, v->argument);
    rec_type_put(p, buffer < p->buffer_count ? p->buffers[buffer].type : REC_NONE, out);
}

/* ---- one of them -------------------------------------------------------------------------- */

/* Digits of a hash that name a program. */
#define LEAST_DIGITS 8
/* Blocks of steps that are samples, where the host runs ahead: as in ahead.c. */
#define BLOCKS       30
/* Variants that an error names. */
#define NAMED        4

void rec_chosen_name(const rec_steps *steps, bn_text *out)
{
    rec_variants v;
    bn_status ignored = {.code = BN_OK};
    const size_t before = out->length;
    if (steps->variants == 0)
        return;
    if (rec_variants_make(steps, steps->variant, NULL, &v, &ignored) == BN_OK &&
        v.varying == REC_VARYING_DIMENSION && v.repeated == 0)
        for (size_t i = 0; i < v.count; i++)
            if (v.list[i].program == steps->variant)
                rec_variant_put(steps, &v, i, out);
    rec_variants_free(&v);
    if (out->length == before)
        bn_text_printf(out, "%.12s", steps->process->programs[steps->variant].hash);
}

void rec_chosen_put(const rec_steps *steps, bn_text *out)
{
    if (steps->variants == 0)
        return;
    rec_chosen_name(steps, out);
    bn_text_printf(out, " (hash %.12s), one of %u", steps->process->programs[steps->variant].hash,
                   steps->variants);
}

/* The row with variants that takes longest; NULL: none has any. */
static const rec_step_program *row_with_variants(const rec_steps *s)
{
    const rec_step_program *best = NULL;
    double most = -1;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *row = &s->programs[i];
        const double ns =
            isfinite(row->device_step_ns) ? row->device_step_ns : row->call_ns * row->times;
        if (row->variants > 1 && ns > most) {
            best = row;
            most = ns;
        }
    }
    return best;
}

static bool is_meant(const rec_steps *s, const rec_variants *v, size_t i, const char *word)
{
    const char *hash = s->process->programs[v->list[i].program].hash;
    const size_t digits = strlen(word);
    bn_text type = {0};
    rec_variant_put(s, v, i, &type);
    const bool same = type.data && strcmp(type.data, word) == 0;
    bn_text_free(&type);
    return same || (digits >= LEAST_DIGITS && digits < RECORD_HASH_TEXT &&
                    strncmp(hash, word, digits) == 0);
}

/* Refuses WORD, which FOUND of V's variants have. */
static bn_code fail_variant(const rec_steps *s, const rec_variants *v, const char *word,
                            size_t found, bn_status *st)
{
    bn_text names = {0};
    for (size_t i = 0, put = 0; i < v->count && put < NAMED; i++) {
        if (found && !is_meant(s, v, i, word))
            continue;
        bn_text_puts(&names, put++ ? ", " : "");
        const size_t before = names.length;
        rec_variant_put(s, v, i, &names);
        bn_text_printf(&names, "%s%.12s", names.length > before ? " " : "",
                       s->process->programs[v->list[i].program].hash);
    }
    const bn_code code =
        found ? bn_fail(st, BN_INVALID, "--variant %s: %zu variants are such, by hash: %s%s", word,
                        found, names.data, found > NAMED ? ", ..." : "")
              : bn_fail(st, BN_NOT_FOUND, "--variant %s: no variant is such; there are: %s%s", word,
                        names.data ? names.data : "none", v->count > NAMED ? ", ..." : "");
    bn_text_free(&names);
    return code;
}

/* The variant of ROW that WORD means. */
static bn_code choose_variant(const rec_steps *s, const rec_step_program *row, const char *word,
                              uint32_t *program, bn_status *st)
{
    rec_variants v;
    size_t found = 0;
    *program = row->program;
    if (!word[0])
        return BN_OK;
    bn_code code = rec_variants_make(s, row->program, NULL, &v, st);
    for (size_t i = 0; code == BN_OK && i < v.count; i++)
        if (is_meant(s, &v, i, word)) {
            *program = v.list[i].program;
            found++;
        }
    if (code == BN_OK && found != 1)
        code = fail_variant(s, &v, word, found, st);
    rec_variants_free(&v);
    return code;
}

static bool has_program(const rec_steps *s, const rec_step *step, uint32_t program)
{
    for (uint32_t k = 0; k < step->executions; k++)
        if (s->sequence->programs[step->first + k] == program)
            return true;
    return false;
}

/* Whether a mean of CYCLE steps took no time: completions that are told together. */
static bool has_empty(const rec_steps *s, size_t cycle)
{
    for (size_t i = 0; i + cycle <= s->count; i += cycle) {
        uint64_t sum = 0;
        for (size_t k = 0; k < cycle; k++)
            sum += s->list[i + k].wall_ns;
        if (sum == 0)
            return true;
    }
    return false;
}

/* How many of the steps that are left a sample is the mean of. */
static uint32_t cycle_of(const rec_steps *s)
{
    size_t cycle = rec_cycle(s) > 1 && s->count / BLOCKS > 1 ? s->count / BLOCKS : 1;
    while (cycle < s->count && has_empty(s, cycle))
        cycle++;
    return (uint32_t)cycle;
}

bn_code rec_variant_keep(rec_steps *s, const rec_names *names, const char *word, bn_status *st)
{
    const rec_step_program *row = row_with_variants(s);
    uint32_t program = REC_NONE;
    size_t kept = 0;
    if (!row)
        return word[0] ? bn_fail(st, BN_NOT_FOUND,
                                 "--variant %s: no program of the steps has variants", word)
                       : BN_OK;
    if (choose_variant(s, row, word, &program, st) != BN_OK)
        return st->code;
    for (size_t i = 0; i < s->count; i++)
        if (has_program(s, &s->list[i], program))
            s->list[kept++] = s->list[i];
    if (kept == 0)
        return bn_fail(st, BN_NOT_FOUND, "--variant %s: no steady step has it", word);
    s->variant = program;
    s->variants = row->variants;
    s->of_others = s->count - kept;
    s->count = kept;
    s->cycle = cycle_of(s);
    free(s->programs);
    free(s->row_of);
    s->programs = NULL;
    s->row_of = NULL;
    s->program_count = 0;
    s->kernels_ns = (res_interval){0, 0, 0};
    s->kernels_too_long = false;
    return rec_step_programs_make(s, names, st);
}
