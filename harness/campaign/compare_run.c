/*
 * compare_run.c - pairs of fresh worker processes, one of each runtime.
 *
 * A round is one pair of each experiment, in a random order; res_order gives the order within a
 * pair. Some experiments are run a second time with A on both sides: a control shares every
 * disturbance of the session, and any difference that it shows is false.
 *
 * There are three strategies. By default, interim analyses judge the family after 4, 5, 6, 8, 10
 * and 12 pairs, and a decided cell gets no more pairs; the claims allow for that
 * (stats/compare_interim.c). Cells of short steps get up to 24 pairs, all but the first of a
 * quarter of the time: the length of the first pair's steps decides that, and never their
 * variation. A fixed number of pairs is judged once, at the end. With a precision, the spread of a
 * first stage decides the number of pairs (res_pairs_wanted), and verdicts do not. The clock or the
 * user may end any of them earlier.
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
    bool changed; /* a plugin's file was replaced: further pairs would be of another build */
    bool turns;   /* the processes of a pair live at the same time */
    char build[2][BN_SHA256_TEXT]; /* of A and B, in their first pair */
} session;

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
        if (c->pairs > 0 && res_compared_interim(&s->compare->versus, c) == RES_INTERIM_SHORT)
            pair.side[side].how.min_time /= SHORT_SHARE;
        /* A framework's loop takes no turns. */
        pair.turns = pair.turns && !job_is_framework(&pair.side[side].what);
        pair.build[side] = s->build[c->control ? 0 : side];
    }
    job_experiment_title(&pair.side[0], title, sizeof title);
    snprintf(text, sizeof text, "%s, %spair %zu", title, c->control ? "control, " : "",
             c->pairs + 1);
    const uint64_t begin = bn_now_ns();
    const char fault = compare_run_pair(&pair, records, &failed);
    s->busy_ns += bn_now_ns() - begin;
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
        c->failed = fault;
        c->failure = failed.code;
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
 * cell, to share its disturbances, and up to their own last one. */
static bn_code analyse(session *s, bool *more, bn_status *st)
{
    res_versus *versus = &s->compare->versus;
    size_t next = 0;
    bn_code code = res_versus_judge(versus, st);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control || cell->failed || res_compared_decided(versus, cell))
            continue;
        s->plan.rows[i].wanted = res_next_interim(res_compared_interim(versus, cell), cell->pairs);
        next = s->plan.rows[i].wanted > next ? s->plan.rows[i].wanted : next;
    }
    for (size_t i = 0; i < versus->count; i++) {
        const size_t last = res_compared_interim(versus, &versus->cells[i]);
        if (versus->cells[i].control && next > 0)
            s->plan.rows[i].wanted = next < last ? next : last;
    }
    *more = next > 0;
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

static bn_code run(session *s, bn_status *st)
{
    const compare_options *o = s->compare->options;
    if (compare_with_interim(o))
        return run_with_interim(s, st);
    bn_code code = run_stage(s, st);
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
                            "Interrupted: the verdicts are on the measured pairs.");
    else if (s->out_of_time)
        res_versus_add_note(versus, RES_NOTE_BUDGET, "The budget of %.0f s ended the comparison.",
                            s->compare->options->budget);
    else if (s->changed)
        res_versus_add_note(versus, RES_NOTE_REPLACED,
                            "A file was replaced: the verdicts are on the pairs before.");
    if (compare_with_interim(s->compare->options))
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

/* Shows the plan; its time is that of short steps, the least. */
static void show_plan(const session *s)
{
    const res_versus *versus = &s->compare->versus;
    size_t pairs = 0, controls = 0;
    double least_s = 0;
    char further[96] = "";
    if (s->compare->options->output.quiet)
        return;
    for (size_t i = 0; i < versus->count; i++) {
        const compare_row *row = &s->plan.rows[i];
        if (versus->cells[i].missing)
            continue;
        const double pair_s = 2 * s->plan.list[0][row->experiment].how.min_time;
        controls += versus->cells[i].control;
        pairs = row->wanted > pairs ? row->wanted : pairs;
        least_s += pair_s * (1 + ((double)row->wanted - 1) / SHORT_SHARE);
    }
    if (compare_with_interim(s->compare->options))
        snprintf(further, sizeof further, ", and up to %d while undecided (%d of short steps)",
                 RES_INTERIM_USUAL, RES_INTERIM_SHORT);
    else if (s->compare->options->precision > 0)
        snprintf(further, sizeof further, ", and more for --precision");
    cli_note(
        "[0/%zu] %zu experiment%s and %zu control%s: %zu pair%s of processes each%s; records go "
        "to %s",
        processes(s), s->plan.experiments, s->plan.experiments == 1 ? "" : "s", controls,
        controls == 1 ? "" : "s", pairs, pairs == 1 ? "" : "s", further, s->compare->store);
    job_progress_plan(processes(s), least_s, false, s->plan.list[0][0].how.idle_cores);
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
        compare->versus.options.interim =
            compare_with_interim(compare->options) ? RES_INTERIM_SHORT : RES_INTERIM_NONE;
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
