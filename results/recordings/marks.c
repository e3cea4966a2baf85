/*
 * marks.c - where steps begin.
 *
 * The program that carries the state says how many steps there are (state.c); without state, one
 * that most of the device's time is of, by name, as shapes may change from request to request; else
 * a sequence that comes again and again (period.c). None says where a step begins: that is before
 * the execution that most often has to wait longest for the host, since a framework works and reads
 * between steps.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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
/* Without state, a program is a step that has so many executions, and so large a share of all costs
 * from its first to its last one. */
#define LEAST_NAMED  10
#define LEAST_SHARE  0.4

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to look for steps");
}

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
    /* A part of a step is shorter, too, but leaves something out everywhere. */
    if (shorter && best->whole && !period.whole)
        return BN_OK;
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
            marks->list[marks->count++] = (rec_mark){at[phase], false, 0};
        before = fits;
    }
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

/* Puts a mark at each execution of a program called WORD. */
static bn_code mark_named(const rec_sequence *q, const char *word, rec_marks *marks, bn_status *st)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (is_named(&q->process->programs[q->programs[i]], word))
            marks->list[marks->count++] = (rec_mark){i, true, 0};
    if (marks->count == 0)
        return bn_fail(st, BN_NOT_FOUND,
                       "--step-program %s: no program of this name, nor one whose hash begins so, "
                       "is executed there",
                       word);
    marks->list[marks->count - 1].whole = false;
    return BN_OK;
}

/* ---- a program by its name ---------------------------------------------------------------- */

/* Executions of one name. */
typedef struct tally {
    uint32_t count, first, last; /* positions */
    double cost;
} tally;

/* The name that has most of the costs where it runs; REC_NONE: none has enough of them. */
static uint32_t main_name(const rec_sequence *q, const rec_names *names, tally *tallies,
                          double *sums)
{
    uint32_t best = REC_NONE;
    sums[0] = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        tally *t = &tallies[names->name[q->programs[i]]];
        sums[i + 1] = sums[i] + q->costs[i];
        t->first = t->count++ ? t->first : i;
        t->last = i;
        t->cost += q->costs[i];
    }
    for (uint32_t n = 0; n < names->name_count; n++) {
        const tally *t = &tallies[n];
        if (t->count >= LEAST_NAMED &&
            t->cost >= LEAST_SHARE * (sums[t->last + 1] - sums[t->first]) &&
            (best == REC_NONE || t->cost > tallies[best].cost))
            best = n;
    }
    return best;
}

static bn_code mark_main_name(const rec_sequence *q, const rec_names *names, uint32_t *at,
                              size_t *count, bn_status *st)
{
    tally *tallies = calloc(names->name_count + 1, sizeof *tallies);
    double *sums = malloc(((size_t)q->count + 1) * sizeof *sums);
    const bool made = tallies && sums;
    const uint32_t name = made ? main_name(q, names, tallies, sums) : REC_NONE;
    *count = 0;
    for (uint32_t i = 0; name != REC_NONE && i < q->count; i++)
        if (names->name[q->programs[i]] == name)
            at[(*count)++] = i;
    free(tallies);
    free(sums);
    return made ? BN_OK : no_memory(st);
}

/* ---- from a program in a step to its begin ------------------------------------------------ */

/* What was executed behind the mark at FROM, up to the one at TO, in order. */
static uint64_t order_hash(const rec_sequence *q, const rec_names *names, uint32_t from,
                           uint32_t to)
{
    uint64_t hash = to - from;
    for (uint32_t i = from + 1; i <= to; i++)
        hash = (hash ^ names->kind[q->programs[i]]) * 0x9E3779B97F4A7C15u;
    return hash;
}

/* The most frequent hash of HASHES, of MARKS - 1 intervals; sorts them. */
static int by_hash(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint64_t usual_hash(uint64_t *hashes, size_t count)
{
    uint64_t best = 0;
    size_t most = 0;
    qsort(hashes, count, sizeof *hashes, by_hash);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && hashes[to] == hashes[from];)
            to++;
        if (to - from > most) {
            most = to - from;
            best = hashes[from];
        }
    }
    return best;
}

/* How many executions before each of the COUNT marks AT a step begins: those of the usual interval
 * that are behind its longest gap. *FIRST is such an interval's own mark. */
static uint32_t executions_before(const rec_sequence *q, const rec_names *names, const uint32_t *at,
                                  size_t count, uint64_t *hashes, uint32_t *mark)
{
    double gaps[MOST_LOOKED], longest = -1;
    uint32_t looked[MOST_LOOKED], best = 0;
    size_t number = 0;
    for (size_t i = 0; i + 1 < count; i++)
        hashes[i] = order_hash(q, names, at[i], at[i + 1]);
    const uint64_t usual = usual_hash(hashes, count - 1);
    for (size_t i = count - 1; i-- > 0 && number < MOST_LOOKED;)
        if (order_hash(q, names, at[i], at[i + 1]) == usual)
            looked[number++] = (uint32_t)i;
    const uint32_t length = at[looked[0] + 1] - at[looked[0]];
    *mark = at[looked[0] + 1];
    for (uint32_t back = 0; back < length; back++) {
        for (size_t i = 0; i < number; i++)
            gaps[i] = gap_before(q, at[looked[i] + 1] - back);
        const double median = res_median(gaps, number);
        if (median > longest) {
            longest = median;
            best = back;
        }
    }
    return best;
}

/* Whether the BACK executions before AT are of the kinds of those before MARK. */
static bool follows(const rec_sequence *q, const rec_names *names, uint32_t at, uint32_t mark,
                    uint32_t back)
{
    for (uint32_t i = 1; i <= back; i++)
        if (i > at || names->kind[q->programs[at - i]] != names->kind[q->programs[mark - i]])
            return false;
    return true;
}

/* Fills MARKS, which has room, from the COUNT positions AT of the program that marks steps. */
static bn_code mark_begins(const rec_sequence *q, const rec_names *names, const uint32_t *at,
                           size_t count, rec_marks *marks, bn_status *st)
{
    uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
    uint32_t mark = 0;
    if (!hashes)
        return no_memory(st);
    const uint32_t back = count > 1 ? executions_before(q, names, at, count, hashes, &mark) : 0;
    for (size_t i = 0; i < count; i++) {
        const bool fits =
            (i == 0 || at[i - 1] + back < at[i]) && follows(q, names, at[i], mark, back);
        marks->list[marks->count++] = (rec_mark){at[i] - (fits ? back : 0), i + 1 < count, 0};
    }
    free(hashes);
    return BN_OK;
}

/* ---- all ways ----------------------------------------------------------------------------- */

/* Whether PERIOD is a better step than the program NAMED: that stands in it more often than another
 * one, as an op that a request executes again and again, or not at all, and the period costs more.
 * Where all names stand in it equally often, shapes come again and again. */
static bool is_better(const rec_sequence *q, const rec_names *names, const rec_period *period,
                      uint32_t named, uint32_t *at)
{
    const uint32_t *template = q->programs + period->first;
    const uint32_t name = names->name[named];
    uint32_t *counts = calloc(names->name_count + 1, sizeof *counts), least = UINT32_MAX;
    double cost = 0;
    bool better = false;
    for (uint32_t i = 0; counts && i < period->length; i++)
        counts[names->name[template[i]]]++;
    for (uint32_t i = 0; counts && i < period->length; i++) {
        const uint32_t count = counts[names->name[template[i]]];
        least = count < least ? count : least;
    }
    for (uint32_t i = 0; i < q->count; i++)
        cost += names->name[q->programs[i]] == name ? q->costs[i] : 0;
    if (counts && period->length)
        better = counts[name] ? least < counts[name] : cost_of(q, period, at) > cost;
    free(counts);
    return better;
}

/* Puts the executions of a program that stands in PERIOD once into AT; how many. 0: none does. */
static size_t list_single(const rec_sequence *q, const rec_period *period, uint32_t *at)
{
    const uint32_t *template = q->programs + period->first;
    size_t count = 0;
    for (uint32_t i = 0; i < period->length && count == 0; i++) {
        uint32_t times = 0;
        for (uint32_t k = 0; k < period->length && times < 2; k++)
            times += template[k] == template[i];
        for (uint32_t k = 0; times == 1 && k < q->count; k++)
            if (q->programs[k] == template[i])
                at[count++] = k;
    }
    return count;
}

/* A loop without state: by the name that has most of the costs, or by a period. */
static bn_code look_without_state(const rec_sequence *q, const rec_names *names, uint32_t *at,
                                  rec_marks *marks, bn_status *st)
{
    rec_period period = {0};
    size_t count = 0;
    bn_code code = mark_main_name(q, names, at, &count, st);
    uint32_t *room = malloc(((size_t)q->count + 1) * sizeof *room);
    if (code == BN_OK && !room)
        code = no_memory(st);
    if (code == BN_OK)
        code = find_period(q, room, &period, st);
    if (code == BN_OK && count > 1 && !is_better(q, names, &period, q->programs[at[0]], room)) {
        marks->found = REC_FOUND_NAME;
        marks->state.program = q->programs[at[0]];
        code = mark_begins(q, names, at, count, marks, st);
    } else if (code == BN_OK && period.length) {
        marks->found = REC_FOUND_PERIOD;
        /* Nothing else runs in its window, so one of its programs counts the steps. */
        count = period.whole ? list_single(q, &period, at) : 0;
        if (count > 1)
            code = mark_begins(q, names, at, count, marks, st);
        else
            mark_period(q, &period, phase_of(q, &period), room, marks);
    }
    free(room);
    return code;
}

static bn_code look_for(const rec_sequence *q, const rec_names *names, uint32_t *at,
                        rec_marks *marks, bn_status *st)
{
    bn_code code = rec_state_find(q, names, at, &marks->state, st);
    if (code == BN_OK && marks->state.count > 1) {
        marks->found = REC_FOUND_STATE;
        return mark_begins(q, names, at, marks->state.count, marks, st);
    }
    marks->state = (rec_state){.program = REC_NONE, .unclear = REC_NONE};
    return code == BN_OK ? look_without_state(q, names, at, marks, st) : code;
}

/* ---- the program's own marks -------------------------------------------------------------- */

static bool begins_step(const rec_marker *m, const rec_options *options)
{
    return m->what == RECORD_STEP_BEGINS && m->time_ns >= options->from_ns &&
           (!options->to_ns || m->time_ns < options->to_ns);
}

/* The name of the steps that count: one of training, or else the most frequent. NULL: none. */
static const char *main_marks(const rec_process *p, const rec_options *options)
{
    const char *best = NULL;
    size_t most = 0;
    rec_map counts = {0};
    for (size_t i = 0; i < p->mark_count; i++) {
        const rec_marker *m = &p->marks[i];
        if (!begins_step(m, options))
            continue;
        const uint64_t key = XXH3_64bits(m->name, strlen(m->name)) | 1;
        const uint32_t known = rec_map_get(&counts, key), count = known == REC_NONE ? 1 : known + 1;
        /* Without memory the first name is as good as any. */
        const bool kept = rec_map_put(&counts, key, count);
        const bool trains = rec_phase_of(m->name) == REC_RUN_STEPS;
        if (!best || (trains && rec_phase_of(best) != REC_RUN_STEPS) ||
            (kept && count > most && trains == (rec_phase_of(best) == REC_RUN_STEPS))) {
            best = m->name;
            most = count;
        }
    }
    rec_map_free(&counts);
    return best;
}

/* Puts the program's marks into MARKS, whose list it makes. */
static bn_code mark_marked(const rec_sequence *q, const rec_options *options, const char *name,
                           rec_marks *marks, bn_status *st)
{
    const rec_process *p = q->process;
    uint32_t at = 0;
    free(marks->list);
    marks->found = REC_FOUND_MARKS;
    marks->name = name;
    marks->list = malloc((p->mark_count + 1) * sizeof *marks->list);
    if (!marks->list)
        return no_memory(st);
    for (size_t i = 0; i < p->mark_count; i++) {
        const rec_marker *m = &p->marks[i];
        if (!begins_step(m, options) || strcmp(m->name, name) != 0)
            continue;
        while (at < q->count && p->executions[q->order[at]].begin_ns < m->time_ns)
            at++;
        marks->list[marks->count++] = (rec_mark){at, true, m->time_ns};
    }
    return BN_OK;
}

bn_code rec_marks_find(const rec_sequence *sequence, const rec_names *names,
                       const rec_options *options, rec_marks *marks, bn_status *st)
{
    uint32_t *at = malloc((sequence->count + 1) * sizeof *at);
    *marks = (rec_marks){.list = malloc((sequence->count + 1) * sizeof *marks->list),
                         .found = REC_FOUND_PROGRAM,
                         .name = "",
                         .state = {.program = REC_NONE, .unclear = REC_NONE}};
    const char *own = options->step_program ? NULL : main_marks(sequence->process, options);
    bn_code code = at && marks->list ? BN_OK : no_memory(st);
    if (code == BN_OK)
        code = options->step_program ? mark_named(sequence, options->step_program, marks, st)
               : own                 ? mark_marked(sequence, options, own, marks, st)
                                     : look_for(sequence, names, at, marks, st);
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
    const uint32_t length = sequence->count / steps;
    *marks = (rec_marks){.list = malloc(((size_t)steps + 1) * sizeof *marks->list),
                         .found = REC_FOUND_COUNT,
                         .name = "",
                         .state = {.program = REC_NONE, .unclear = REC_NONE}};
    if (!marks->list)
        return no_memory(st);
    for (; marks->count < steps; marks->count++)
        marks->list[marks->count] =
            (rec_mark){(uint32_t)marks->count * length, marks->count + 1 < steps, 0};
    return BN_OK;
}
