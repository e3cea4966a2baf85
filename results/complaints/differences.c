/*
 * differences.c - how the steps of one recording differ from those of another.
 *
 * Means, since those of the parts sum to that of the wall. Successive steps are alike, so the error
 * of a mean comes from batches of them (rec_steps_mean), and that of a difference is Welch's. All
 * times of the steps are one family: each difference is claimed at its share of 5 % (C. E.
 * Bonferroni, "Teoria statistica delle classi e calcolo delle probabilita", 1936).
 */
#include "results/complaints/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05

/* ---- one time ----------------------------------------------------------------------------------
 */

static rec_change change_of(const rec_steps *a, const double *of_a, const rec_steps *b,
                            const double *of_b)
{
    static const double weights[] = {-1, 1};
    const res_estimate both[] = {rec_steps_mean(a, of_a), rec_steps_mean(b, of_b)};
    const res_estimate more = res_estimate_sum(both, weights, 2);
    return (rec_change){.a_ns = both[0].mean,
                        .b_ns = both[1].mean,
                        .more_ns = res_estimate_interval(&more),
                        .p = res_estimate_p(&more)};
}

static rec_change unknown_change(void)
{
    const double nan = (double)NAN;
    return (rec_change){nan, nan, {nan, nan, nan}, 1, false};
}

/* The change from A to B, whose bounds are those of intervals of their own. */
static rec_change change_of_intervals(res_interval a, res_interval b)
{
    const double more = b.estimate - a.estimate;
    const double half = hypot((a.high - a.low) / 2, (b.high - b.low) / 2);
    rec_change change = {.a_ns = a.estimate,
                         .b_ns = b.estimate,
                         .more_ns = {more, more - half, more + half},
                         .p = 1};
    change.claimed = res_excludes(change.more_ns, 0);
    return change;
}

/* ---- the ledger --------------------------------------------------------------------------------
 */

/* A value of a step. PART: of which part. */
typedef uint64_t value_of(const rec_step *step, int part);

static uint64_t wall_of(const rec_step *step, int part)
{
    (void)part;
    return step->wall_ns;
}

static uint64_t busy_of(const rec_step *step, int part)
{
    (void)part;
    return step->busy_ns;
}

static uint64_t part_of(const rec_step *step, int part)
{
    return step->part_ns[part];
}

/* Room for a value of each step. */
typedef struct room {
    double *a, *b;
} room;

static rec_change compare(const rec_differences *d, const room *r, value_of *of, int part)
{
    double *const values[] = {r->a, r->b};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < d->steps[side]->count; i++)
            values[side][i] = (double)of(&d->steps[side]->list[i], part);
    return change_of(d->steps[0], r->a, d->steps[1], r->b);
}

static void compare_ledgers(rec_differences *d, const room *r)
{
    d->wall = compare(d, r, wall_of, 0);
    for (int i = 0; i < REC_PART_COUNT; i++)
        d->part[i] = compare(d, r, part_of, i);
    d->busy = d->steps[0]->completions && d->steps[1]->completions ? compare(d, r, busy_of, 0)
                                                                   : unknown_change();
}

/* ---- programs ----------------------------------------------------------------------------------
 */

/* The executions of the steady steps by the row of their program. */
typedef struct by_row {
    const rec_steps *steps;
    size_t *first; /* [rows + 1] */
    struct of_step {
        uint32_t step, execution;
    } * list;
} by_row;

static uint32_t row_of(const rec_steps *s, uint32_t position)
{
    return s->row_of[s->process->executions[s->order[position]].program];
}

static bool sort_by_row(const rec_steps *s, by_row *out)
{
    const size_t rows = s->program_count;
    size_t *next = calloc(rows + 1, sizeof *next), count = 0;
    *out = (by_row){.steps = s, .first = calloc(rows + 2, sizeof *out->first)};
    for (size_t i = 0; i < s->count; i++)
        count += s->list[i].executions;
    out->list = malloc((count + 1) * sizeof *out->list);
    const bool made = next && out->first && out->list;
    for (int pass = 0; made && pass < 2; pass++) {
        for (size_t i = 0; i < s->count; i++)
            for (uint32_t k = 0; k < s->list[i].executions; k++) {
                const uint32_t at = s->list[i].first + k, row = row_of(s, at);
                if (row >= rows)
                    continue;
                if (pass == 0)
                    out->first[row + 1]++;
                else
                    out->list[out->first[row] + next[row]++] =
                        (struct of_step){(uint32_t)i, s->order[at]};
            }
        for (size_t row = 0; pass == 0 && row < rows; row++)
            out->first[row + 1] += out->first[row];
    }
    free(next);
    return made;
}

static void free_rows(by_row *r)
{
    free(r->first);
    free(r->list);
}

/* What the program of ROW takes in each step into VALUES: on the device, or in calls. */
static void take_values(const by_row *r, uint32_t row, bool device, double *values)
{
    const rec_steps *s = r->steps;
    for (size_t i = 0; i < s->count; i++)
        values[i] = 0;
    for (size_t i = row == REC_NONE ? 0 : r->first[row]; row != REC_NONE && i < r->first[row + 1];
         i++) {
        const rec_execution *e = &s->process->executions[r->list[i].execution];
        const rec_span *span = rec_steps_span(s, e);
        const uint64_t from = device ? span->start_ns : e->begin_ns;
        const uint64_t to = device ? span->complete_ns : e->end_ns;
        values[r->list[i].step] += to > from ? (double)(to - from) : 0;
    }
}

static bool same_name(const rec_differences *d, uint32_t a, uint32_t b)
{
    const rec_steps *const *s = d->steps;
    const char *x = s[0]->process->programs[s[0]->programs[a].program].name;
    const char *y = s[1]->process->programs[s[1]->programs[b].program].name;
    const size_t length = rec_stem(x);
    return length == rec_stem(y) && strncmp(x, y, length) == 0;
}

static bool same_code(const rec_differences *d, uint32_t a, uint32_t b)
{
    const rec_steps *const *s = d->steps;
    const char *x = s[0]->process->programs[s[0]->programs[a].program].hash;
    return x[0] && strcmp(x, s[1]->process->programs[s[1]->programs[b].program].hash) == 0;
}

static bool same_kind(const rec_differences *d, uint32_t a, uint32_t b)
{
    const rec_step_program *x = &d->steps[0]->programs[a], *y = &d->steps[1]->programs[b];
    return x->arguments == y->arguments && x->results == y->results && same_name(d, a, b);
}

typedef bool alike(const rec_differences *d, uint32_t a, uint32_t b);

/* Pairs each row of B that has no other with the first free one of A that is ALIKE. ONLY: if no
 * other free row of either is. */
static void pair_rows(rec_differences *d, alike *are, bool only, bool *taken)
{
    const uint32_t count_a = (uint32_t)d->steps[0]->program_count;
    const uint32_t count_b = (uint32_t)d->steps[1]->program_count;
    for (uint32_t b = 0; b < count_b; b++) {
        uint32_t found = REC_NONE, in_a = 0, in_b = 0;
        for (uint32_t a = 0; d->programs[b].a == REC_NONE && a < count_a; a++) {
            if (taken[a] || !are(d, a, b))
                continue;
            found = found == REC_NONE ? a : found;
            in_a++;
        }
        for (uint32_t other = 0; only && found != REC_NONE && other < count_b; other++)
            in_b += d->programs[other].a == REC_NONE && are(d, found, other);
        if (found == REC_NONE || (only && (in_a > 1 || in_b > 1)))
            continue;
        d->programs[b].a = found;
        taken[found] = true;
    }
}

/* The rows of both, those that stand for each other in one change. */
static bool pair_programs(rec_differences *d)
{
    const size_t count_a = d->steps[0]->program_count, count_b = d->steps[1]->program_count;
    bool *taken = calloc(count_a + 1, sizeof *taken);
    d->programs = calloc(count_a + count_b + 1, sizeof *d->programs);
    if (!taken || !d->programs) {
        free(taken);
        return false;
    }
    for (uint32_t b = 0; b < count_b; b++)
        d->programs[d->program_count++] = (rec_program_change){.a = REC_NONE, .b = b};
    pair_rows(d, same_code, false, taken);
    pair_rows(d, same_kind, false, taken);
    pair_rows(d, same_name, true, taken);
    for (uint32_t a = 0; a < count_a; a++)
        if (!taken[a])
            d->programs[d->program_count++] = (rec_program_change){.a = a, .b = REC_NONE};
    free(taken);
    return true;
}

static bool compare_programs(rec_differences *d, const room *r)
{
    const bool device = d->steps[0]->completions && d->steps[1]->completions;
    by_row rows[2] = {{.steps = NULL}, {.steps = NULL}};
    const bool made = pair_programs(d) && sort_by_row(d->steps[0], &rows[0]) &&
                      sort_by_row(d->steps[1], &rows[1]);
    for (size_t i = 0; made && i < d->program_count; i++) {
        rec_program_change *p = &d->programs[i];
        for (int of_device = 0; of_device < 2; of_device++) {
            rec_change *change = of_device ? &p->device : &p->call;
            *change = unknown_change();
            if (of_device && !device)
                continue;
            take_values(&rows[0], p->a, of_device, r->a);
            take_values(&rows[1], p->b, of_device, r->b);
            *change = change_of(d->steps[0], r->a, d->steps[1], r->b);
        }
    }
    free_rows(&rows[0]);
    free_rows(&rows[1]);
    return made;
}

/* ---- findings ----------------------------------------------------------------------------------
 */

static uint32_t finding_at(const rec_checkup *checkup, rec_rule rule)
{
    for (size_t i = 0; i < checkup->count; i++)
        if (checkup->list[i].rule == rule)
            return (uint32_t)i;
    return REC_NONE;
}

const rec_finding *rec_finding_of(const rec_differences *d, const rec_finding_change *change,
                                  int side)
{
    const uint32_t at = side ? change->b : change->a;
    return at == REC_NONE ? NULL : &d->checkup[side].list[at];
}

static void compare_findings(rec_differences *d)
{
    for (int i = 0; i < REC_RULE_COUNT; i++) {
        rec_finding_change change = {(rec_rule)i, finding_at(&d->checkup[0], (rec_rule)i),
                                     finding_at(&d->checkup[1], (rec_rule)i), unknown_change()};
        const rec_finding *a = rec_finding_of(d, &change, 0), *b = rec_finding_of(d, &change, 1);
        if (a && b)
            change.cost = change_of_intervals(a->cost_ns, b->cost_ns);
        if (a || b)
            d->findings[d->finding_count++] = change;
    }
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static void claim(rec_differences *d, rec_change *change, size_t family)
{
    change->claimed = change->p * (double)family <= LEVEL;
    d->differ = d->differ || change->claimed;
}

/* The wall time is what the comparison is about, and has the whole level; its parts, the device and
 * the programs explain it, and share one. */
static void claim_all(rec_differences *d)
{
    const size_t family = REC_PART_COUNT + 1 + 2 * d->program_count;
    claim(d, &d->wall, 1);
    for (int i = 0; i < REC_PART_COUNT; i++)
        claim(d, &d->part[i], family);
    claim(d, &d->busy, family);
    for (size_t i = 0; i < d->program_count; i++) {
        claim(d, &d->programs[i].device, family);
        claim(d, &d->programs[i].call, family);
    }
}

bn_code rec_differences_make(const rec_steps *a, const rec_steps *b, rec_differences *d,
                             bn_status *st)
{
    *d = (rec_differences){.steps = {a, b}};
    room r = {malloc((a->count + 1) * sizeof *r.a), malloc((b->count + 1) * sizeof *r.b)};
    bool made = r.a && r.b;
    for (int i = 0; made && i < 2; i++)
        made = rec_check(d->steps[i], &d->checkup[i], st) == BN_OK;
    if (made) {
        compare_ledgers(d, &r);
        compare_findings(d);
        made = compare_programs(d, &r);
    }
    if (made)
        claim_all(d);
    free(r.a);
    free(r.b);
    return made ? BN_OK
                : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu steps", a->count + b->count);
}

void rec_differences_free(rec_differences *d)
{
    rec_checkup_free(&d->checkup[0]);
    rec_checkup_free(&d->checkup[1]);
    free(d->programs);
    *d = (rec_differences){.differ = false};
}
