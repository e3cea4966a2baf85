/*
 * marks.c - where steps begin.
 *
 * A period says how long a step is, not where it begins: that is before the execution that most
 * often has to wait longest for the host, since a framework works and reads between steps.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>

/* The windows in which a period is looked for are no longer than this. */
#define MOST_WINDOW  (1u << 17)
#define LEAST_WINDOW 4
/* Segments of which the gaps are looked at. */
#define MOST_LOOKED  256
/* A longer period must account for so much more of all costs. */
#define AS_GOOD      0.95
/* As a share of all costs. */
#define LITTLE       0.5
/* Digits of a hash that name a program. */
#define LEAST_DIGITS 8

/* ---- windows ------------------------------------------------------------------------------------
 */

typedef struct window {
    uint32_t from, to;
} window;

/* The first position after the last compilation. */
static uint32_t after_compiles(const rec_sequence *q)
{
    const rec_process *p = q->process;
    uint64_t last = 0;
    uint32_t at = q->count;
    for (size_t i = 0; i < p->call_count; i++)
        if (p->calls[i].kind == REC_CALL_COMPILE && p->calls[i].end_ns > last)
            last = p->calls[i].end_ns;
    while (at > 0 && p->executions[q->order[at - 1]].begin_ns >= last)
        at--;
    return at;
}

/* The windows, those first that a steady training fills. *SURE of them are more than its end. */
static size_t windows_of(const rec_sequence *q, window *list, size_t *sure)
{
    enum { WHOLE = 3 };
    const uint32_t n = q->count;
    const window all[] = {{n / 2, n}, {n / 4, n / 2 + n / 4}, {after_compiles(q), n},
                          {0, n},     {n - n / 4, n},         {n - n / 8, n}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        window w = all[i];
        if (w.to - w.from > MOST_WINDOW)
            w.from = w.to - MOST_WINDOW;
        if (w.to - w.from >= LEAST_WINDOW)
            list[count++] = w;
        if (i == WHOLE)
            *sure = count;
    }
    return count;
}

/* ---- segments of all executions --------------------------------------------------------- */

/* The position of the next execution of PROGRAM from AT on; the end where there is none. */
static uint32_t next_of(const rec_sequence *q, uint32_t program, uint32_t at)
{
    while (at < q->count && q->programs[at] != program)
        at++;
    return at;
}

/* The cost of all executions that are of PERIOD. */
static double cost_of(const rec_sequence *q, const rec_period *period, uint32_t *at)
{
    const uint32_t *template = q->programs + period->first;
    double cost = 0;
    for (uint32_t from = next_of(q, template[0], 0), to; from < q->count; from = to) {
        to = next_of(q, template[0], from + 1);
        if (!rec_period_match(q->programs, template, period->length, from, to, at))
            continue;
        for (uint32_t k = 0; k < period->length; k++)
            cost += q->costs[at[k]];
    }
    return cost;
}

/* Takes the period of the window W instead of *BEST, whose cost is *BEST_COST, where it accounts
 * for more, or for nearly as much and is shorter. */
static bn_code try_window(const rec_sequence *q, window w, bool loosely, uint32_t *at,
                          rec_period *best, double *best_cost, bn_status *st)
{
    rec_period period;
    bn_code code = rec_period_find(q, w.from, w.to, loosely, &period, st);
    if (code != BN_OK || !period.length)
        return code;
    const double cost = cost_of(q, &period, at);
    const bool shorter = period.length < best->length;
    if (!best->length || (shorter ? cost >= AS_GOOD * *best_cost : AS_GOOD * cost > *best_cost)) {
        *best = period;
        *best_cost = cost;
    }
    return BN_OK;
}

/* The best period of all windows. If there is one at the end only, such as that of an evaluation,
 * and it accounts for little, one that others interrupt counts, too. */
static bn_code find_period(const rec_sequence *q, uint32_t *at, rec_period *best, bn_status *st)
{
    window list[8];
    size_t sure = 0;
    const size_t count = windows_of(q, list, &sure);
    double best_cost = -1, all = 0;
    bn_code code = BN_OK;
    *best = (rec_period){0};
    for (size_t i = 0; i < sure && code == BN_OK; i++)
        code = try_window(q, list[i], false, at, best, &best_cost, st);
    if (code != BN_OK || best->length)
        return code;
    for (size_t i = sure; i < count && code == BN_OK; i++)
        code = try_window(q, list[i], false, at, best, &best_cost, st);
    for (uint32_t i = 0; i < q->count; i++)
        all += q->costs[i];
    if (code == BN_OK && sure && (!best->length || best_cost < LITTLE * all))
        code = try_window(q, list[sure - 1], true, at, best, &best_cost, st);
    return code;
}

/* ---- where in a period a step begins ---------------------------------------------------- */

/* Nanoseconds from the end of the call before to the begin of the call at AT. */
static double gap_before(const rec_sequence *q, uint32_t at)
{
    const rec_execution *e = &q->process->executions[q->order[at]];
    const uint64_t end = at ? q->process->executions[q->order[at - 1]].end_ns : e->begin_ns;
    return e->begin_ns > end ? (double)(e->begin_ns - end) : 0;
}

/* Positions of up to MOST_LOOKED of the LAST segments that are exactly PERIOD's. */
static size_t look(const rec_sequence *q, const rec_period *period, uint32_t *positions)
{
    const uint32_t *template = q->programs + period->first;
    const size_t bytes = period->length * sizeof *template;
    size_t count = 0;
    for (uint32_t at = q->count - period->length + 1; at-- > 0 && count < MOST_LOOKED;) {
        if (q->programs[at] != template[0] || memcmp(q->programs + at, template, bytes) != 0)
            continue;
        positions[count++] = at;
    }
    return count;
}

/* The offset in PERIOD before which the gap is longest. */
static uint32_t phase_of(const rec_sequence *q, const rec_period *period)
{
    uint32_t positions[MOST_LOOKED], best = 0;
    double gaps[MOST_LOOKED], longest = -1;
    const size_t count = look(q, period, positions);
    for (uint32_t r = 0; r < period->length && count; r++) {
        for (size_t i = 0; i < count; i++)
            gaps[i] = gap_before(q, positions[i] + r);
        const double median = res_median(gaps, count);
        if (median > longest) {
            longest = median;
            best = r;
        }
    }
    return best;
}

/* ---- marks ------------------------------------------------------------------------------ */

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to look for steps");
}

/* Puts the marks of PERIOD, which begin at its offset PHASE, into MARKS, which has room. */
static void mark_period(const rec_sequence *q, const rec_period *period, uint32_t phase,
                        uint32_t *at, rec_marks *marks)
{
    const uint32_t *template = q->programs + period->first;
    bool before = false; /* the segment before fits, and its mark is the last one */
    for (uint32_t from = next_of(q, template[0], 0), to; from < q->count; from = to) {
        to = next_of(q, template[0], from + 1);
        const bool fits = rec_period_match(q->programs, template, period->length, from, to, at);
        /* A segment that does not fit may still contain the end of the step before. */
        const bool ends =
            fits || (before && rec_period_match(q->programs, template, phase + 1, from,
                                                to - from > phase + 1 ? from + phase + 1 : to, at));
        if (before)
            marks->list[marks->count - 1].whole = ends;
        if (ends)
            marks->list[marks->count++] = (rec_mark){at[phase], false};
        before = fits;
    }
    marks->length = period->length;
}

/* Whether WORD names PROGRAM; an asterisk at its end stands for anything. */
static bool is_named(const rec_program *program, const char *word)
{
    const size_t digits = strlen(word);
    if (digits && word[digits - 1] == '*')
        return strncmp(program->name, word, digits - 1) == 0;
    return strcmp(program->name, word) == 0 ||
           (digits >= LEAST_DIGITS && digits < RECORD_HASH_TEXT &&
            strncmp(program->hash, word, digits) == 0);
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Puts a mark at each execution of a program called WORD. */
static bn_code mark_named(const rec_sequence *q, const char *word, uint32_t *room, rec_marks *marks,
                          bn_status *st)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (is_named(&q->process->programs[q->programs[i]], word))
            marks->list[marks->count++] = (rec_mark){i, true};
    if (marks->count == 0)
        return bn_fail(st, BN_NOT_FOUND,
                       "--step-program %s: no program of this name, nor one whose hash begins so, "
                       "is executed there",
                       word);
    marks->list[marks->count - 1].whole = false;
    for (size_t i = 0; i + 1 < marks->count; i++)
        room[i] = marks->list[i + 1].at - marks->list[i].at;
    if (marks->count > 1) {
        qsort(room, marks->count - 1, sizeof *room, by_value);
        marks->length = room[(marks->count - 1) / 2];
    }
    return BN_OK;
}

bn_code rec_marks_find(const rec_sequence *sequence, const char *first_program, rec_marks *marks,
                       bn_status *st)
{
    uint32_t *at = malloc((sequence->count + 1) * sizeof *at);
    rec_period period;
    *marks = (rec_marks){.list = malloc((sequence->count + 1) * sizeof *marks->list)};
    bn_code code = at && marks->list ? BN_OK : no_memory(st);
    if (code == BN_OK && first_program) {
        code = mark_named(sequence, first_program, at, marks, st);
    } else if (code == BN_OK) {
        code = find_period(sequence, at, &period, st);
        if (code == BN_OK && period.length)
            mark_period(sequence, &period, phase_of(sequence, &period), at, marks);
    }
    free(at);
    if (code != BN_OK) {
        free(marks->list);
        *marks = (rec_marks){0};
    }
    return code;
}

bn_code rec_marks_spread(const rec_sequence *sequence, uint32_t steps, rec_marks *marks,
                         bn_status *st)
{
    *marks = (rec_marks){.list = malloc(((size_t)steps + 1) * sizeof *marks->list),
                         .length = sequence->count / steps};
    if (!marks->list)
        return no_memory(st);
    for (; marks->count < steps; marks->count++)
        marks->list[marks->count] =
            (rec_mark){(uint32_t)marks->count * marks->length, marks->count + 1 < steps};
    return BN_OK;
}
