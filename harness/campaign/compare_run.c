/*
 * compare_run.c - pairs of fresh worker processes, one of each runtime.
 *
 * A round is one pair of each experiment, in a random order; res_order gives the order within a
 * pair. Some experiments are run a second time with A on both sides: a control shares every
 * disturbance of the session, and any difference that it shows is false.
 *
 * There are three strategies. By default, interim analyses judge the family after 6, 12 and 24
 * pairs, and a decided cell gets no more pairs; the claims allow for that (stats/compare_plan.c).
 * Cells of short steps take a quarter of the time in all pairs but the first: the length of the
 * first pair's steps decides that, and never their variation. A fixed number of pairs is judged
 * once, at the end. With a precision, the spread of a first stage decides the number of pairs
 * (res_pairs_wanted), and verdicts do not. The clock or the user may end any of them earlier.
 *
 * With a budget, the first pair of each row says how many fit, before the others begin
 * (plan_budget).
 */
#include "harness/campaign/compare_plan_priv.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Part of the time of each process at short steps, from the second pair on. Ratios of like
 * processes of the small gpt2 differ by 3 to 7 % whether a process measures a quarter of a second
 * or a whole one (then 12 to 20 pairs, two shared cores), so in equal time more processes detect
 * more. */
#define SHORT_SHARE 4

typedef struct session {
    compare_run *compare;
    compare_plan plan;
    gsl_rng *rng;
    uint64_t begun_ns, deadline_ns; /* 0: none */
    uint64_t busy_ns;               /* in the processes that have ended */
    size_t done;                    /* processes that have ended */
    bool out_of_time;
    bool capped;  /* the budget had no time for pairs that were planned */
    bool changed; /* a plugin's file was replaced: further pairs would be of another build */
    bool turns;   /* the processes of a pair live at the same time */
    const char *why; /* the number of processes changes with the next pair; NULL: as planned */
    char build[2][BN_SHA256_TEXT]; /* of A and B, in their first pair */
} session;

static size_t fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- running ----------------------------------------------------------------------- */

static double mean_ns(const session *s)
{
    return s->done ? (double)s->busy_ns / (double)s->done : 0;
}

/* Whether a pair that begins now would end before the deadline. */
static bool time_for_pair(const session *s)
{
    return !s->deadline_ns || (double)bn_now_ns() + 2 * mean_ns(s) <= (double)s->deadline_ns;
}

/* Processes in all, for the progress line: by the plan and the clock. */
static size_t processes(const session *s)
{
    size_t wanted = 0;
    for (size_t i = 0; i < s->compare->versus.count; i++) {
        const res_compared *cell = &s->compare->versus.cells[i];
        wanted += 2 * (cell->failed ? cell->pairs : s->plan.rows[i].wanted);
    }
    const uint64_t now = bn_now_ns();
    if (s->deadline_ns > now && s->done) {
        const size_t fit = s->done + (size_t)((double)(s->deadline_ns - now) / mean_ns(s));
        return fit < wanted ? fit : wanted;
    }
    return wanted;
}

/* Measures one pair of CELL. A process that fails ends CELL only. */
static bn_code run_pair(session *s, size_t cell, bn_status *st)
{
    res_compared *c = &s->compare->versus.cells[cell];
    res_record *records[2] = {NULL};
    bn_status failed = {.code = BN_OK};
    char title[256], text[384];
    compare_pair pair = {.b_first = s->plan.rows[cell].b_first[c->pairs],
                         .turns = s->turns,
                         .seed = s->plan.order_seed + s->done,
                         .title = text,
                         .number = s->done + 1,
                         .of = processes(s),
                         .verbose = s->compare->options->output.verbose,
                         .more = c->pairs + 1 < s->plan.rows[cell].wanted};
    for (int side = 0; side < 2; side++) {
        pair.side[side] = s->plan.list[c->control ? 0 : side][s->plan.rows[cell].experiment];
        pair.side[side].how.store = s->plan.folder[c->control][side];
        pair.side[side].comparison = compare_plan_describe(&s->plan, cell, side, c->pairs + 1);
        if (res_compared_short(c))
            pair.side[side].how.min_time /= SHORT_SHARE;
        /* A framework's loop takes no turns. */
        pair.turns = pair.turns && !job_is_framework(&pair.side[side].what);
        pair.build[side] = s->build[c->control ? 0 : side];
    }
    job_experiment_title(&pair.side[0], title, sizeof title);
    snprintf(text, sizeof text, "%s, %spair %zu", title, c->control ? "control, " : "",
             c->pairs + 1);
    job_progress_explain(s->why);
    s->why = NULL;
    const uint64_t begin = bn_now_ns();
    const char fault = compare_run_pair(&pair, records, &failed);
    const uint64_t took = bn_now_ns() - begin;
    for (int side = 0; side < 2; side++)
        json_decref(pair.side[side].comparison);
    if (c->pairs == 0)
        s->plan.rows[cell].pair_ns = (double)took;
    s->busy_ns += took;
    s->done += 2;
    compare_run *compare = s->compare;
    bn_grow(&compare->records, compare->record_count + 2, &compare->record_capacity,
            sizeof *compare->records);
    for (int side = 0; side < 2; side++)
        if (records[side])
            compare->records[compare->record_count++] = records[side];
    if (failed.code != BN_OK) {
        if (failed.code == BN_CANCELLED || job_interrupted())
            return BN_OK;
        /* Further processes would be refused alike. Both sides of a control are A. */
        if (pair.refused) {
            compare->fault = c->control ? 'A' : fault;
            return bn_fail(st, BN_INVALID, "%c: %s", compare->fault, failed.message);
        }
        c->failed = fault;
        c->failure = failed.code;
        s->why = "what failed gets no further pairs";
        s->changed = failed.code == BN_CHANGED;
        snprintf(c->message, sizeof c->message, "%s", failed.message);
        cli_line_clear();
        cli_say("bench: %c: %s", c->failed, failed.message);
        /* A store that takes no more records ends the whole session. */
        return failed.code == BN_IO ? bn_fail(st, BN_IO, "%s", failed.message) : BN_OK;
    }
    c->a[c->pairs] = records[0];
    c->b[c->pairs++] = records[1];
    /* With layout and sizes as they turned out. */
    c->experiment = records[0]->experiment;
    return BN_OK;
}

/* Whether any experiment is left for controls to control. */
static bool any_alive(const res_versus *versus)
{
    for (size_t i = 0; i < versus->count; i++)
        if (!versus->cells[i].control && !versus->cells[i].failed)
            return true;
    return false;
}

/* Whether no further pair may begin. */
static bool is_over(const session *s)
{
    return job_interrupted() || s->out_of_time || s->changed;
}

static bool wants_more(const session *s, size_t cell)
{
    const res_compared *c = &s->compare->versus.cells[cell];
    if (c->control && !any_alive(&s->compare->versus))
        return false;
    return !c->failed && c->pairs < s->plan.rows[cell].wanted;
}

/* Runs rounds until each row has its pairs, or the time is over. */
static bn_code run_stage(session *s, bn_status *st)
{
    const size_t count = s->compare->versus.count;
    bn_code code = BN_OK;
    size_t *order = bn_zalloc(count + 1, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (bool more = true; more && code == BN_OK && !is_over(s);) {
        more = false;
        gsl_ran_shuffle(s->rng, order, count, sizeof *order);
        for (size_t i = 0; i < count && code == BN_OK && !is_over(s); i++) {
            if (!wants_more(s, order[i]))
                continue;
            s->out_of_time = !time_for_pair(s);
            if (s->out_of_time)
                break;
            code = run_pair(s, order[i], st);
            more = true;
        }
    }
    free(order);
    return code;
}

/* Plans the second stage: the number of pairs by the spread of the first. */
static bn_code plan_second_stage(session *s, bn_status *st)
{
    const double precision = s->compare->options->precision;
    res_versus *versus = &s->compare->versus;
    bn_code code = res_versus_judge(versus, st);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++) {
        if (versus->cells[i].failed)
            continue;
        const size_t wanted = res_pairs_wanted(&versus->cells[i].comparison, precision);
        size_t *now = &s->plan.rows[i].wanted;
        *now = wanted > RES_MOST_PAIRS ? RES_MOST_PAIRS : wanted > *now ? wanted : *now;
        s->capped = s->capped || *now > s->plan.rows[i].most;
        *now = fewer(*now, s->plan.rows[i].most);
        s->why = "by the spread of the pairs so far (--precision)";
        if (wanted > RES_MOST_PAIRS)
            res_versus_add_note(versus, RES_NOTE_PRECISION,
                                "%s %s %s: --precision asks for %zu pairs; %d are the most.",
                                versus->cells[i].experiment.model,
                                versus->cells[i].experiment.phase, versus->cells[i].experiment.mode,
                                wanted, RES_MOST_PAIRS);
    }
    return code;
}

/* An interim analysis. Undecided cells get pairs up to the next one; controls as long as any other
 * cell, to share its disturbances. */
static bn_code analyse(session *s, bool *more, bn_status *st)
{
    res_versus *versus = &s->compare->versus;
    size_t next = 0;
    bn_code code = res_versus_judge(versus, st);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control || cell->failed || res_compared_decided(versus, cell))
            continue;
        const size_t wanted = res_plan_next(cell->plan, cell->pairs);
        s->capped = s->capped || wanted > s->plan.rows[i].most;
        s->plan.rows[i].wanted = fewer(wanted, s->plan.rows[i].most);
        if (s->plan.rows[i].wanted > cell->pairs)
            next = s->plan.rows[i].wanted > next ? s->plan.rows[i].wanted : next;
    }
    for (size_t i = 0; i < versus->count; i++)
        if (versus->cells[i].control && next > 0)
            s->plan.rows[i].wanted = fewer(next, s->plan.rows[i].most);
    *more = next > 0;
    s->why = "undecided experiments get further pairs";
    return code;
}

static bn_code run_with_interim(session *s, bn_status *st)
{
    bool more = true;
    bn_code code = BN_OK;
    while (more && code == BN_OK) {
        code = run_stage(s, st);
        if (is_over(s))
            break;
        if (code == BN_OK)
            code = analyse(s, &more, st);
    }
    return code;
}

/* ---- the budget ------------------------------------------------------------------------ */

/* Time of all further pairs, one of each row of experiments, or of CONTROLS. */
static double further_ns(const session *s, bool controls)
{
    const res_versus *versus = &s->compare->versus;
    double sum = 0;
    for (size_t i = 0; i < versus->count; i++) {
        const compare_row *row = &s->plan.rows[i];
        const res_compared *cell = &versus->cells[i];
        if (cell->control != controls || cell->failed)
            continue;
        const double measured = 2e9 * s->plan.list[0][row->experiment].how.min_time;
        const double saved = res_compared_short(cell) ? measured * (1 - 1.0 / SHORT_SHARE) : 0;
        /* A process also starts, compiles and ends. */
        sum += fmax(row->pair_ns - saved, row->pair_ns / SHORT_SHARE);
    }
    return sum;
}

/* How many pairs of EACH_NS fit into LEFT_NS, beside the first. */
static size_t that_fit(double left_ns, double each_ns)
{
    return each_ns > 0 ? 1 + (size_t)fmin(fmax(left_ns, 0) / each_ns, RES_MOST_PAIRS - 1)
                       : RES_MOST_PAIRS;
}

static bn_code refuse_budget(const session *s, size_t fit, size_t needed, double each_ns,
                             bn_status *st)
{
    const double spent = (double)(bn_now_ns() - s->begun_ns);
    return bn_fail(
        st, BN_INVALID,
        "--budget of %.0f s: about %zu pair%s of each experiment fit, and %zu are needed "
        "to claim anything: give %.0f s, or %.0f s for %d pairs, from which on "
        "\"equivalent\" is possible",
        s->compare->options->budget, fit, fit == 1 ? "" : "s", needed,
        ceil((spent + (double)(needed - 1) * each_ns) / 1e9),
        ceil((spent + (double)(RES_EQUIVALENT_PAIRS - 1) * each_ns) / 1e9), RES_EQUIVALENT_PAIRS);
}

/* After one pair of each row: how many fit, before the others begin. Controls give way to pairs
 * that the experiments need, for "equivalent" or to claim anything; where these do not fit either,
 * the comparison is refused. */
static bn_code plan_budget(session *s, size_t planned, bn_status *st)
{
    res_versus *versus = &s->compare->versus;
    const double left = (double)s->deadline_ns - (double)bn_now_ns();
    const double each = further_ns(s, false), control = further_ns(s, true);
    size_t fit = that_fit(left, each + control), of_control = fit;
    const size_t equivalent = fewer(RES_EQUIVALENT_PAIRS, planned);
    const size_t needed = fewer(RES_CLAIM_PAIRS, planned);
    const size_t alone = s->out_of_time ? 1 : that_fit(left, each);
    if (alone < needed)
        return refuse_budget(s, alone, needed, each, st);
    if (fit < equivalent && (fit < needed || alone >= equivalent)) {
        fit = alone >= equivalent ? equivalent : needed;
        of_control = that_fit(left - (double)(fit - 1) * each, control);
    }
    for (size_t i = 0; i < versus->count; i++) {
        compare_row *row = &s->plan.rows[i];
        row->most = versus->cells[i].control ? of_control : fit;
        row->wanted = fewer(row->wanted, row->most);
    }
    s->why = "as many as fit into --budget, by the clock";
    versus->noted[RES_NOTE_FIT] = true;
    bn_text_printf(&versus->notes, "Budget of %.0f s, by the first pair of each: %zu pairs fit",
                   s->compare->options->budget, fit);
    if (s->plan.controls > 0 && of_control < fit)
        bn_text_printf(&versus->notes, ", of controls %zu%s", of_control,
                       of_control < RES_CLAIM_PAIRS ? ", which show nothing" : "");
    bn_text_printf(&versus->notes, "%s.\n",
                   fit < RES_EQUIVALENT_PAIRS ? "; \"equivalent\" needs 12" : "");
    return BN_OK;
}

/* Measures the first pair of each row, and plans the others by it. */
static bn_code begin_budget(session *s, bn_status *st)
{
    const compare_options *o = s->compare->options;
    const size_t count = s->compare->versus.count, before = s->compare->versus.notes.length;
    const size_t last = res_plan_last(compare_plan_of(o));
    size_t *wanted = bn_zalloc(count + 1, sizeof *wanted), planned = last;
    for (size_t i = 0; i < count; i++) {
        wanted[i] = s->plan.rows[i].wanted;
        planned = wanted[i] > planned ? wanted[i] : planned;
        s->plan.rows[i].wanted = fewer(wanted[i], 1);
    }
    s->why = "one pair of each comes first, and says how many fit into --budget";
    bn_code code = run_stage(s, st);
    for (size_t i = 0; i < count; i++)
        s->plan.rows[i].wanted = wanted[i];
    free(wanted);
    if (code == BN_OK && !job_interrupted() && !s->changed && any_alive(&s->compare->versus))
        code = plan_budget(s, planned, st);
    if (code == BN_OK && s->compare->versus.notes.length > before) {
        cli_line_clear();
        cli_note("compare: %.*s", (int)(s->compare->versus.notes.length - before - 1),
                 s->compare->versus.notes.data + before);
    }
    return code;
}

static bn_code run(session *s, bn_status *st)
{
    const compare_options *o = s->compare->options;
    bn_code code = s->deadline_ns ? begin_budget(s, st) : BN_OK;
    if (code != BN_OK || compare_plan_of(o) != RES_PLAN_ONCE)
        return code == BN_OK ? run_with_interim(s, st) : code;
    code = run_stage(s, st);
    if (code == BN_OK && o->precision > 0 && !is_over(s))
        code = plan_second_stage(s, st);
    if (code == BN_OK && o->precision > 0 && !is_over(s))
        code = run_stage(s, st);
    return code;
}

/* ---- the session ---------------------------------------------------------------------- */

/* Counts the experiments that have PAIRS pairs and are DECIDED or not. */
static size_t ended_after(const res_versus *versus, size_t pairs, bool decided)
{
    size_t count = 0;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        count += !cell->control && !cell->failed && cell->pairs == pairs &&
                 res_compared_decided(versus, cell) == decided;
    }
    return count;
}

static const char advice[] = "An idle machine detects smaller differences. For steps below a "
                             "millisecond, --idle-cores awake helps, too.";
/* "Interim analyses: 3 decided after 5 pairs, 1 after 8, 2 undecided after 12." */
static void note_looks(res_versus *versus)
{
    bool open = false;
    bn_text line = {0};
    for (int decided = 1; decided >= 0; decided--) {
        bool named = false;
        for (size_t pairs = 0; pairs <= RES_MOST_PAIRS; pairs++) {
            const size_t count = ended_after(versus, pairs, decided);
            if (count == 0)
                continue;
            bn_text_printf(&line, "%s%zu%s after %zu%s", line.length ? ", " : "", count,
                           named     ? ""
                           : decided ? " decided"
                                     : " undecided",
                           pairs,
                           named        ? ""
                           : pairs == 1 ? " pair"
                                        : " pairs");
            named = true;
            open = !decided;
        }
    }
    if (line.data)
        res_versus_add_note(versus, RES_NOTE_INTERIM, "Interim analyses: %s.", line.data);
    if (open)
        res_versus_add_note(versus, RES_NOTE_ADVICE, "%s", advice);
    bn_text_free(&line);
}

static void note_end(session *s)
{
    res_versus *versus = &s->compare->versus;
    if (job_interrupted())
        res_versus_add_note(versus, RES_NOTE_INTERRUPTED,
                            "Interrupted: the verdicts are on the measured pairs. To stop because "
                            "of what one saw is one more chance to be wrong.");
    else if (s->out_of_time || s->capped)
        res_versus_add_note(versus, RES_NOTE_BUDGET,
                            "The budget of %.0f s ended the comparison, and no verdict did: p and "
                            "intervals hold.",
                            s->compare->options->budget);
    else if (s->changed)
        res_versus_add_note(versus, RES_NOTE_REPLACED,
                            "A file was replaced: the verdicts are on the pairs before.");
    if (compare_plan_of(s->compare->options) != RES_PLAN_ONCE)
        note_looks(versus);
    res_versus_note_pairs(versus);
    res_versus_add_note(versus, RES_NOTE_SPENT, "%zu processes in %.0f s; records: %s", s->done,
                        (double)(bn_now_ns() - s->begun_ns) / 1e9, s->compare->store);
}

/* Whether two processes can hold each runtime's device at once. */
static bool can_take_turns(const session *s)
{
    bool shares = true;
    for (int side = 0; side < 2; side++) {
        const char *runtime = s->plan.list[side][0].what.runtime;
        char path[4096];
        bn_status ignored = {.code = BN_OK};
        shares = shares && job_shares_device(runtime, job_runtime_ready(runtime, path, sizeof path,
                                                                        &ignored) == BN_OK
                                                          ? path
                                                          : runtime);
    }
    return shares;
}

static bn_code begin(session *s, bn_status *st)
{
    bn_code code = compare_plan_make(s->compare, &s->plan, st);
    if (code != BN_OK)
        return code;
    s->turns = can_take_turns(s);
    s->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(s->rng, (unsigned long)s->plan.order_seed);
    return BN_OK;
}

/* Shows the plan. */
static void show_plan(const session *s)
{
    const res_versus *versus = &s->compare->versus;
    size_t pairs = 0, controls = 0;
    char further[96] = "";
    if (s->compare->options->output.quiet)
        return;
    for (size_t i = 0; i < versus->count; i++) {
        const compare_row *row = &s->plan.rows[i];
        if (versus->cells[i].missing)
            continue;
        controls += versus->cells[i].control;
        pairs = row->wanted > pairs ? row->wanted : pairs;
    }
    const res_plan interim = compare_plan_of(s->compare->options);
    if (interim != RES_PLAN_ONCE)
        snprintf(further, sizeof further, ", and up to %zu while undecided",
                 res_plan_last(interim));
    else if (s->compare->options->precision > 0)
        snprintf(further, sizeof further, ", and more for --precision");
    cli_note(
        "[0/%zu] %zu experiment%s and %zu control%s: %zu pair%s of processes each%s; records go "
        "to %s",
        processes(s), s->plan.experiments, s->plan.experiments == 1 ? "" : "s", controls,
        controls == 1 ? "" : "s", pairs, pairs == 1 ? "" : "s", further, s->compare->store);
    job_progress_plan(processes(s), -1, s->plan.list[0][0].how.idle_cores);
}

bn_code compare_measure(compare_run *compare, bn_status *st)
{
    session *s = bn_zalloc(1, sizeof *s);
    s->compare = compare;
    bn_code code = begin(s, st);
    if (code == BN_OK) {
        s->begun_ns = bn_now_ns();
        if (compare->options->budget > 0)
            /* Thirty years are as good as no limit; more nanoseconds would overflow. */
            s->deadline_ns = s->begun_ns + (uint64_t)(fmin(compare->options->budget, 1e9) * 1e9);
        job_supervise_begin();
        show_plan(s);
        code = run(s, st);
        cli_line_clear();
        /* The verdicts, and notes on them, are on all measured pairs. */
        if (code == BN_OK)
            code = res_versus_judge(&compare->versus, st);
        note_end(s);
    }
    if (s->rng)
        gsl_rng_free(s->rng);
    compare_plan_free(&s->plan);
    free(s);
    return code;
}
