/*
 * walk.c - which instructions of a program run, and how often: from the entry through loops, calls
 * and conditionals, but not into fusions, whose estimate is that of the whole.
 *
 * Each computation is summed once, those that it calls before it. Then, callers first, each gets
 * the number of its executions. So the time is that of reading the program, however often a
 * computation is called.
 */
#include "runtime/hlo/hlo_priv.h"

#include <stdlib.h>

#define MOST_DEPTH      500 /* of calls within each other */
#define MOST_EXECUTIONS 1e15
#define MOST_CYCLES     1e30 /* of all; so that no sum is infinite */

/* The computations that an instruction runs. */
typedef struct site {
    size_t called[2]; /* computations, COUNT of them */
    double times[2];
    size_t count;
} site;

typedef struct walk {
    const hlo_module *module;
    hlo_report *report;
    double *total;       /* [computation] cycles of one execution */
    double *executions;  /* [computation] */
    unsigned char *seen; /* [computation] 1: being summed, 2: summed */
    size_t *order;       /* computations as they were summed */
    size_t ordered;
    bn_status *st;
} walk;

/* Adds MORE to *SUM_OF_ALL, which stays at MOST. */
static void add(double *sum_of_all, double more, double most)
{
    *sum_of_all += more;
    if (*sum_of_all > most)
        *sum_of_all = most;
}

static void call_of(site *s, size_t computation, double times)
{
    if (computation == HLO_NONE)
        return;
    s->called[s->count] = computation;
    s->times[s->count++] = times;
}

/* The most costly branch of the conditional I; HLO_NONE: it has none. */
static size_t costly_branch(const walk *w, const hlo_instruction *i)
{
    size_t best = HLO_NONE;
    for (size_t k = 0; k < i->n_called_computation_ids; k++) {
        const size_t branch = hlo_called(w->module, i, k);
        if (branch != HLO_NONE && (best == HLO_NONE || w->total[branch] > w->total[best]))
            best = branch;
    }
    return best;
}

/* The computations that instruction AT of COMPUTATION runs, if its own estimate does not cover
 * them. The branches of a conditional must have been summed. NOTES: loops and branches go into the
 * report. */
static void site_of(const walk *w, size_t computation, size_t at, bool notes, site *s)
{
    const hlo_computation *c = &w->module->computations[computation];
    const hlo_instruction *i = c->wire->instructions[at];
    const double times = w->executions[computation];
    *s = (site){0};
    if (c->cycles[at] >= 0)
        return;
    hlo_item item = {i->name, i->opcode, i->metadata ? i->metadata->op_name : "", -1, times, ""};
    if (hlo_is(i, "while")) {
        size_t body, condition;
        if (!hlo_loop_parts(w->module, i, &body, &condition))
            return;
        item.times = hlo_trips(w->module, computation, i, &item.why);
        const double trips = item.times < 0 ? 1 : item.times;
        item.cycles = times * (trips * w->total[body] + (trips + 1) * w->total[condition]);
        call_of(s, body, trips);
        call_of(s, condition, trips + 1);
        if (notes)
            hlo_items_add(&w->report->loops, item);
    } else if (hlo_is(i, "conditional")) {
        const size_t branch = costly_branch(w, i);
        call_of(s, branch, 1);
        item.cycles = branch == HLO_NONE ? -1 : times * w->total[branch];
        if (notes)
            hlo_items_add(&w->report->branches, item);
    } else if (hlo_is(i, "call") || hlo_is(i, "async-start")) {
        call_of(s, hlo_called(w->module, i, 0), 1);
    }
}

/* ---- summing ------------------------------------------------------------------------------ */

static bn_code sum(walk *w, size_t computation, int depth);

/* Sums what I may have run, but for what a fusion or a reduction calls: nothing looks into those.
 */
static bn_code sum_called(walk *w, const hlo_instruction *i, int depth)
{
    static const char *const walked[] = {"while", "conditional", "call", "async-start"};
    bool walks = false;
    bn_code code = BN_OK;
    for (size_t k = 0; k < sizeof walked / sizeof *walked; k++)
        walks = walks || hlo_is(i, walked[k]);
    for (size_t k = 0; walks && code == BN_OK && k < i->n_called_computation_ids; k++) {
        const size_t called = hlo_called(w->module, i, k);
        if (called != HLO_NONE)
            code = sum(w, called, depth + 1);
    }
    return code;
}

static bn_code sum(walk *w, size_t computation, int depth)
{
    const hlo_computation *c = &w->module->computations[computation];
    bn_code code = BN_OK;
    if (w->seen[computation] == 2)
        return BN_OK;
    if (w->seen[computation] == 1 || depth > MOST_DEPTH)
        return bn_fail(w->st, BN_FORMAT,
                       "the optimized program's computations call each other in circles, or too "
                       "deeply");
    w->seen[computation] = 1;
    w->executions[computation] = 1; /* for the sums only */
    for (size_t at = 0; at < c->wire->n_instructions && code == BN_OK; at++) {
        site s;
        if (c->cycles[at] >= 0) {
            add(&w->total[computation], c->cycles[at], MOST_CYCLES);
            continue;
        }
        code = sum_called(w, c->wire->instructions[at], depth);
        if (code != BN_OK)
            break;
        site_of(w, computation, at, false, &s);
        for (size_t k = 0; k < s.count; k++)
            add(&w->total[computation], s.times[k] * w->total[s.called[k]], MOST_CYCLES);
    }
    w->executions[computation] = 0;
    w->seen[computation] = 2;
    w->order[w->ordered++] = computation;
    return code;
}

/* ---- executions ----------------------------------------------------------------------------- */

/* Notes the instructions of COMPUTATION, whose executions are known, and hands them on to what it
 * calls. */
static void note(walk *w, size_t computation)
{
    const hlo_computation *c = &w->module->computations[computation];
    const double times = w->executions[computation];
    for (size_t at = 0; at < c->wire->n_instructions && times > 0; at++) {
        site s;
        site_of(w, computation, at, true, &s);
        hlo_report_add(w->report, w->module, computation, at, times, s.count > 0);
        for (size_t k = 0; k < s.count; k++)
            add(&w->executions[s.called[k]], times * s.times[k], MOST_EXECUTIONS);
    }
}

bn_code hlo_walk(const hlo_module *module, hlo_report *report, bn_status *st)
{
    walk w = {.module = module, .report = report, .st = st};
    w.total = bn_zalloc(module->count, sizeof *w.total);
    w.executions = bn_zalloc(module->count, sizeof *w.executions);
    w.seen = bn_zalloc(module->count, sizeof *w.seen);
    w.order = bn_zalloc(module->count, sizeof *w.order);
    bn_code code = sum(&w, module->entry, 0);
    if (code == BN_OK) {
        w.executions[module->entry] = 1;
        for (size_t k = w.ordered; k-- > 0;)
            note(&w, w.order[k]);
        hlo_report_end(report, module);
    }
    free(w.total);
    free(w.executions);
    free(w.seen);
    free(w.order);
    return code;
}
