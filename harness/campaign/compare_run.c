/*
 * compare_run.c - pairs of fresh worker processes, one of each runtime.
 *
 * A round is one pair of each experiment, in a random order; res_order gives the order within a
 * pair. Some experiments are run a second time with A on both sides: a control shares every
 * disturbance of the session, and any difference that it shows is false.
 *
 * The session ends in one of three ways. By looks, which is the usual one, the family is judged
 * after 4, 5, 6, 8, 10 and 12 pairs, and a cell that is decided gets no more pairs; what is claimed
 * allows for that (stats/compare_looks.c). A fixed number of pairs is judged once, at the end. With
 * a precision, the spread of a first stage says how many pairs are run (res_pairs_wanted), and no
 * verdict does. The clock or the user may end any of them earlier.
 */
#include "harness/campaign/compare_priv.h"
#include "harness/campaign/suites_priv.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the four folders of a comparison are called. */
static const char *const folders[2][2] = {{"a", "b"}, {"control-a", "control-b"}};

/* One row of the comparison: which experiment, and its order of pairs. */
typedef struct row {
    size_t experiment;
    bool b_first[RES_MOST_PAIRS];
    size_t wanted; /* pairs, so far */
} row;

typedef struct session {
    compare_run *compare;
    job_matrix sides[2];     /* what is measured of A and of B */
    job_experiment *list[2]; /* the same experiments, on A and on B */
    size_t experiments;
    suite_spec suites[2]; /* that the lists are of, with --suite */
    row *rows;            /* beside compare->versus.cells */
    char folder[2][2][4160];
    json_t *program;
    gsl_rng *rng;
    uint64_t begun_ns, deadline_ns; /* 0: none */
    uint64_t busy_ns;               /* in the processes that have ended */
    size_t done;                    /* processes that have ended */
    bool out_of_time;
    bool changed; /* a plugin's file was replaced: whatever comes is of another build */
    bool turns;   /* the processes of a pair live at the same time */
    char build[2][BN_SHA256_TEXT]; /* of A and B, in their first pair */
} session;

uint64_t compare_seed(const compare_options *options)
{
    return (uint64_t)options->matrix->axis[RES_AXIS_SEED].value[0].number;
}

/* ---- what is to be run ------------------------------------------------------------- */

static bn_code append(const char **list, const char *const *more, const char *option, bn_status *st)
{
    size_t count = 0;
    while (list[count])
        count++;
    for (; more && *more; more++) {
        if (count == CLI_MAX_REPEATS)
            return bn_fail(st, BN_INVALID, "--%s: more than %d in all", option, CLI_MAX_REPEATS);
        list[count++] = *more;
    }
    return BN_OK;
}

/* Makes the matrix of one side. */
static bn_code one_side(session *s, int side, bn_status *st)
{
    const compare_options *o = s->compare->options;
    const char *runtime = s->compare->runtime[side];
    job_matrix *own = &s->sides[side];
    *own = *o->matrix;
    job_matrix_set(own, RES_AXIS_RUNTIME, runtime);
    own->label = s->compare->label[side] ? s->compare->label[side] : "";
    own->store = s->folder[0][side];
    /* The runtime becomes a list of values, which are split at commas. */
    if (strchr(runtime, ','))
        return bn_fail(st, BN_INVALID, "--runtime: '%s' has a comma", runtime);
    bn_code code = append(own->runtime_option, side ? o->b_option : o->a_option,
                          side ? "b-option" : "a-option", st);
    if (code == BN_OK)
        code = append(own->xla_flag, side ? o->b_flag : o->a_flag, side ? "b-flag" : "a-flag", st);
    return code;
}

static void name_folders(session *s)
{
    const cli_words *stores = &s->compare->options->stores;
    const char *given = stores->count ? stores->list[0] : NULL;
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "";
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    char *store = s->compare->store;
    if (given)
        snprintf(store, sizeof s->compare->store, "%s", given);
    else
        snprintf(store, sizeof s->compare->store, "bench-results/compare-%s-%d", stamp,
                 (int)getpid());
    for (int control = 0; control < 2; control++)
        for (int side = 0; side < 2; side++)
            snprintf(s->folder[control][side], sizeof s->folder[control][side], "%s/%s", store,
                     folders[control][side]);
}

/* Makes the experiments of --suite for one side; for A those that --filter and --exclude leave. */
static bn_code expand_suite(session *s, int side, size_t *count, bn_text *notes, bn_status *st)
{
    const compare_options *o = s->compare->options;
    const job_matrix *own = &s->sides[side];
    suite_spec *suite = &s->suites[side];
    suite_options options = *o->suites;
    char path[4096];
    options.runtimes = own->axis[RES_AXIS_RUNTIME];
    options.runtime_option = own->runtime_option;
    options.xla_flag = own->xla_flag;
    options.label = own->label;
    options.store = own->store;
    if (suite_find(o->suite, path, sizeof path, st) != BN_OK ||
        suite_open(path, suite, st) != BN_OK || suite_expand(suite, &options, st) != BN_OK)
        return st->code;
    s->list[side] = calloc(suite->count + 1, sizeof *s->list[side]);
    if (!s->list[side])
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu experiments", suite->count);
    *count = 0;
    for (size_t i = 0; i < suite->count; i++)
        if (side == 1 || suite_wanted(suite->items[i].title, &options))
            s->list[side][(*count)++] = suite->items[i].e;
    bn_text_puts(notes, suite->notes.data ? suite->notes.data : "");
    if (*count == 0)
        return bn_fail(st, BN_INVALID,
                       "suite %s: --filter and --exclude leave nothing of its %zu experiments",
                       suite->name, suite->count);
    return BN_OK;
}

/* Brings B's list into the order of A's. A suite may exclude by runtime, or name an experiment
 * twice that is the same on one runtime only. So an experiment that only A has is left out, and
 * NOTES says so. */
static bn_code match_sides(session *s, const size_t counts[2], bn_text *notes, bn_status *st)
{
    job_experiment *a = s->list[0], *matched = calloc(counts[0] + 1, sizeof *matched);
    size_t count = 0;
    if (!matched)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu experiments", counts[0]);
    for (size_t i = 0; i < counts[0]; i++) {
        char title[256];
        size_t k = 0;
        while (k < counts[1] && !res_same_request(&a[i].what, &s->list[1][k].what))
            k++;
        if (k == counts[1]) {
            job_experiment_title(&a[i], title, sizeof title);
            bn_text_printf(notes, "left out: %s: the suite does not run it on B\n", title);
            continue;
        }
        matched[count] = s->list[1][k];
        a[count++] = a[i];
    }
    free(s->list[1]);
    s->list[1] = matched;
    s->experiments = count;
    return count ? BN_OK : bn_fail(st, BN_INVALID, "the suite has no experiment for both runtimes");
}

static bn_code expand(session *s, bn_status *st)
{
    bn_text notes = {0};
    bn_code code = BN_OK;
    size_t counts[2] = {0};
    for (int side = 0; side < 2 && code == BN_OK; side++) {
        s->compare->fault = 0;
        code = one_side(s, side, st);
        bn_text_clear(&notes);
        if (code == BN_OK)
            code = s->compare->options->suite ? expand_suite(s, side, &counts[side], &notes, st)
                                              : job_matrix_expand(&s->sides[side], &s->list[side],
                                                                  &counts[side], &notes, st);
        if (code == BN_OK) {
            s->compare->fault = side ? 'B' : 'A';
            code = job_experiments_check(s->list[side], counts[side], st);
        }
    }
    if (code == BN_OK) {
        s->compare->fault = 0;
        code = match_sides(s, counts, &notes, st);
    }
    if (code == BN_OK && notes.length)
        cli_err("%s", notes.data);
    bn_text_free(&notes);
    for (int i = 0; code == BN_OK && i < 4; i++)
        res_store_sweep_old(s->folder[i / 2][i % 2]);
    for (size_t i = 0; code == BN_OK && i < s->experiments; i++)
        for (int side = 0; side < 2; side++) {
            job_experiment *e = &s->list[side][i];
            e->echo = s->compare->options->matrix->echo;
            e->program = s->program;
            if (s->program)
                job_program_describe(s->program, &e->what);
        }
    if (code == BN_OK)
        s->compare->fault = 0;
    else if (s->compare->fault)
        bn_context(st, "runtime %c", s->compare->fault);
    return code;
}

/* Whether verdicts say how many pairs are run. */
static bool by_looks(const compare_options *o)
{
    return o->pairs == 0 && !(o->precision > 0);
}

/* The pairs of the first stage, or up to the first look, for each of COUNT cells. */
static size_t first_stage(const compare_options *o, size_t count)
{
    if (by_looks(o))
        return res_next_look(0);
    if (o->pairs > 0)
        return (size_t)o->pairs;
    /* As if each cell were judged by all its measures. One more than flips of signs need: with the
     * fewest, all pairs must agree. */
    const size_t family = count * RES_MEASURE_COUNT;
    const size_t usual = res_fewest_pairs(res_compare_defaults().level, family) + 1;
    return usual < RES_MOST_PAIRS ? usual : RES_MOST_PAIRS;
}

/* Makes the rows: all experiments, then the controls, spread over them. */
static bn_code plan(session *s, bn_status *st)
{
    const compare_options *o = s->compare->options;
    res_versus *versus = &s->compare->versus;
    const size_t asked = (size_t)o->control;
    const size_t controls = asked < s->experiments ? asked : s->experiments;
    const size_t count = s->experiments + controls;
    versus->cells = calloc(count, sizeof *versus->cells);
    s->rows = calloc(count, sizeof *s->rows);
    if (!versus->cells || !s->rows)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu comparisons", count);
    versus->count = count;
    for (size_t i = 0; i < count; i++) {
        const size_t control = i - s->experiments;
        row *r = &s->rows[i];
        versus->cells[i].control = i >= s->experiments;
        r->experiment = i < s->experiments ? i : control * s->experiments / controls;
        r->wanted = first_stage(o, count);
        versus->cells[i].experiment = s->list[0][r->experiment].what;
        if (!s->program)
            job_experiment_resolve(&versus->cells[i].experiment);
        const size_t stage = by_looks(o) ? RES_LAST_LOOK : r->wanted;
        res_order(compare_seed(o) * 1000003 + i, stage, r->b_first);
        /* The second stage, if there is one, has a seed of its own. */
        res_order(compare_seed(o) * 1000003 + count + i, RES_MOST_PAIRS - stage,
                  r->b_first + stage);
    }
    return BN_OK;
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

/* Processes in all, for the progress line: as many as the plan wants and the clock allows. */
static size_t processes(const session *s)
{
    size_t wanted = 0;
    for (size_t i = 0; i < s->compare->versus.count; i++) {
        const res_compared *cell = &s->compare->versus.cells[i];
        wanted += 2 * (cell->failed ? cell->pairs : s->rows[i].wanted);
    }
    const uint64_t now = bn_now_ns();
    if (s->deadline_ns > now && s->done) {
        const size_t fit = s->done + (size_t)((double)(s->deadline_ns - now) / mean_ns(s));
        return fit < wanted ? fit : wanted;
    }
    return wanted;
}

static bn_code keep(compare_run *compare, res_record *record, bn_status *st)
{
    if (!bn_reserve(&compare->records, compare->record_count + 1, &compare->record_capacity,
                    sizeof *compare->records)) {
        res_record_free(record);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a record");
    }
    compare->records[compare->record_count++] = record;
    return BN_OK;
}

/* Measures one pair of CELL. A process that fails ends CELL only. */
static bn_code run_pair(session *s, size_t cell, bn_status *st)
{
    res_compared *c = &s->compare->versus.cells[cell];
    res_record *records[2] = {NULL};
    bn_status failed = {.code = BN_OK};
    char title[256], text[384];
    compare_pair pair = {.b_first = s->rows[cell].b_first[c->pairs],
                         .turns = s->turns,
                         .seed = compare_seed(s->compare->options) + s->done,
                         .title = text,
                         .number = s->done + 1,
                         .of = processes(s),
                         .verbose = s->compare->options->output.verbose};
    for (int side = 0; side < 2; side++) {
        pair.side[side] = s->list[c->control ? 0 : side][s->rows[cell].experiment];
        pair.side[side].store = s->folder[c->control][side];
        pair.build[side] = s->build[c->control ? 0 : side];
    }
    job_experiment_title(&pair.side[0], title, sizeof title);
    snprintf(text, sizeof text, "%s, %spair %zu", title, c->control ? "control, " : "",
             c->pairs + 1);
    const uint64_t begin = bn_now_ns();
    const char fault = compare_run_pair(&pair, records, &failed);
    s->busy_ns += bn_now_ns() - begin;
    s->done += 2;
    bn_code code = BN_OK;
    for (int side = 0; side < 2; side++)
        if (records[side] && code == BN_OK)
            code = keep(s->compare, records[side], st);
    if (failed.code != BN_OK) {
        if (failed.code == BN_CANCELLED || job_interrupted())
            return code;
        c->failed = fault;
        c->failure = failed.code;
        s->changed = failed.code == BN_CHANGED;
        snprintf(c->message, sizeof c->message, "%s", failed.message);
        cli_line_clear();
        cli_say("bench: %c: %s", c->failed, failed.message);
        /* A store that takes no more records ends the whole session. */
        return failed.code == BN_IO ? bn_fail(st, BN_IO, "%s", failed.message) : code;
    }
    if (code != BN_OK)
        return code;
    c->a[c->pairs] = records[0];
    c->b[c->pairs++] = records[1];
    /* With layout and sizes as they turned out. */
    c->experiment = records[0]->experiment;
    return BN_OK;
}

/* Whether any experiment is left that a control can be held against. */
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
    return !c->failed && c->pairs < s->rows[cell].wanted;
}

/* Runs rounds until each row has its pairs, or the time is over. */
static bn_code run_stage(session *s, bn_status *st)
{
    const size_t count = s->compare->versus.count;
    bn_code code = BN_OK;
    size_t *order = calloc(count + 1, sizeof *order);
    if (!order)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for an order");
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

/* Plans the second stage: as many pairs as the spread of the first asks for. */
static bn_code ask_for_more(session *s, bn_status *st)
{
    const double precision = s->compare->options->precision;
    res_versus *versus = &s->compare->versus;
    bn_code code = res_versus_judge(versus, st);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++) {
        const size_t wanted = res_pairs_wanted(&versus->cells[i].comparison, precision);
        size_t *now = &s->rows[i].wanted;
        *now = wanted > RES_MOST_PAIRS ? RES_MOST_PAIRS : wanted > *now ? wanted : *now;
        if (wanted > RES_MOST_PAIRS)
            bn_text_printf(&versus->notes,
                           "%s %s %s: --precision asks for %zu pairs; %d are the most.\n",
                           versus->cells[i].experiment.model, versus->cells[i].experiment.phase,
                           versus->cells[i].experiment.mode, wanted, RES_MOST_PAIRS);
    }
    return code;
}

/* Judges all that was measured so far. Cells that are not decided are wanted up to the next look;
 * controls are as long as any of the others is, so that they share all that disturbs it. */
static bn_code look(session *s, bool *more, bn_status *st)
{
    res_versus *versus = &s->compare->versus;
    size_t next = 0;
    bn_code code = res_versus_judge(versus, st);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control || cell->failed || res_compared_decided(versus, cell))
            continue;
        s->rows[i].wanted = res_next_look(cell->pairs);
        next = s->rows[i].wanted > next ? s->rows[i].wanted : next;
    }
    for (size_t i = 0; i < versus->count; i++)
        if (versus->cells[i].control && next > 0)
            s->rows[i].wanted = next;
    *more = next > 0;
    return code;
}

static bn_code run_by_looks(session *s, bn_status *st)
{
    bool more = true;
    bn_code code = BN_OK;
    while (more && code == BN_OK) {
        code = run_stage(s, st);
        if (is_over(s))
            break;
        if (code == BN_OK)
            code = look(s, &more, st);
    }
    return code;
}

static bn_code run(session *s, bn_status *st)
{
    const compare_options *o = s->compare->options;
    if (by_looks(o))
        return run_by_looks(s, st);
    bn_code code = run_stage(s, st);
    if (code == BN_OK && o->precision > 0 && !is_over(s))
        code = ask_for_more(s, st);
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

static const char tells_more[] = "A quieter machine tells more, and so does --pin host of steps "
                                 "below a millisecond.\n";
/* "Looks: 3 decided after 5 pairs, 1 after 8, 2 undecided after 12." */
static void note_looks(res_versus *versus)
{
    bool open = false;
    bn_text line = {0};
    for (int decided = 1; decided >= 0; decided--) {
        bool said = false;
        for (size_t pairs = 0; pairs <= RES_LAST_LOOK; pairs++) {
            const size_t count = ended_after(versus, pairs, decided);
            if (count == 0)
                continue;
            bn_text_printf(&line, "%s%zu%s after %zu%s", line.length ? ", " : "", count,
                           said      ? ""
                           : decided ? " decided"
                                     : " undecided",
                           pairs,
                           said         ? ""
                           : pairs == 1 ? " pair"
                                        : " pairs");
            said = true;
            open = !decided;
        }
    }
    if (line.data)
        bn_text_printf(&versus->notes, "Looks: %s.\n%s", line.data, open ? tells_more : "");
    bn_text_free(&line);
}

static void note_end(session *s)
{
    res_versus *versus = &s->compare->versus;
    if (job_interrupted())
        bn_text_puts(&versus->notes, "Interrupted: the verdicts are on what was measured.\n");
    else if (s->out_of_time)
        bn_text_printf(&versus->notes, "The budget of %.0f s ended the comparison.\n",
                       s->compare->options->budget);
    else if (s->changed)
        bn_text_puts(&versus->notes, "A file was replaced: the verdicts are on what was before.\n");
    if (by_looks(s->compare->options))
        note_looks(versus);
    res_versus_note_pairs(versus);
    bn_text_printf(&versus->notes, "%zu processes in %.0f s; records: %s\n", s->done,
                   (double)(bn_now_ns() - s->begun_ns) / 1e9, s->compare->store);
}

/* Whether both runtimes' devices can be held by two processes at once. */
static bool can_take_turns(const session *s)
{
    bool shares = true;
    for (int side = 0; side < 2; side++) {
        const char *runtime = s->list[side][0].what.runtime;
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
    const compare_options *o = s->compare->options;
    name_folders(s);
    if (o->matrix->program && job_program_request(o->matrix, &s->program, st) != BN_OK)
        return st->code;
    s->rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!s->rng)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for random numbers");
    gsl_rng_set(s->rng, (unsigned long)compare_seed(o));
    bn_code code = expand(s, st);
    if (code == BN_OK)
        s->turns = can_take_turns(s);
    return code == BN_OK ? plan(s, st) : code;
}

bn_code compare_measure(compare_run *compare, bn_status *st)
{
    session *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a comparison");
    s->compare = compare;
    bn_code code = begin(s, st);
    if (code == BN_OK) {
        s->begun_ns = bn_now_ns();
        if (compare->options->budget > 0)
            /* Thirty years are as good as no limit; more nanoseconds would overflow. */
            s->deadline_ns = s->begun_ns + (uint64_t)(fmin(compare->options->budget, 1e9) * 1e9);
        job_supervise_begin();
        compare->versus.options.looks = by_looks(compare->options);
        code = run(s, st);
        cli_line_clear();
        /* The verdicts, which the notes tell, are on all that was measured. */
        if (code == BN_OK)
            code = res_versus_judge(&compare->versus, st);
        note_end(s);
    }
    for (int side = 0; side < 2; side++) {
        free(s->list[side]);
        suite_close(&s->suites[side]);
    }
    if (s->rng)
        gsl_rng_free(s->rng);
    free(s->rows);
    json_decref(s->program);
    free(s);
    return code;
}
