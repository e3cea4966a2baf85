/*
 * selftest_coverage.c - bench selftest coverage: how often the intervals that tables print hold the
 * truth. First in numbers alone, then on the runtimes that were named. A row is a case and one of
 * its figures.
 */
#include "harness/selftest/coverage_priv.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FULL_TABLES  5000 /* in numbers */
#define QUICK_TABLES 1000

/* What makes the intervals of tables in numbers. */
static selftest_table_procedure *const on_trial = selftest_table_by_tables;

typedef struct coverage_row {
    char name[160], figure[48];
    double truth;
    bool grand;  /* nobody set TRUTH: it is the figure of all tables together */
    bool time;   /* TRUTH is one, else a ratio */
    bool exact;  /* wider than claimed is wrong, too */
    bool drifts; /* a time on a real machine, whose speed is another one from table to table */
    size_t late; /* tables that do not count: the simulated device could not keep its times */
    selftest_coverage c;
    /* One a table (malloc); NULL in numbers, and in rows of all cases together. */
    res_interval *intervals;
    size_t count;
    bool simulated;
} coverage_row;

typedef struct coverage_run {
    const selftest_options *options;
    res_format format;
    uint64_t seed;
    coverage_row *rows;
    size_t count, room;
    bool broken; /* a process failed */
} coverage_run;

static const char explanation[] =
    "A table is made of %d processes. It holds the truth if its 95 %% interval contains it: of "
    "100\n"
    "tables, those that do, with the 95 %% interval of that share (Clopper-Pearson). Truths in\n"
    "brackets were not set: they are the figure of all tables together. \"too narrow\": intervals\n"
    "that do what they claim would hold the truth so rarely in less than 1 of 1,000 rows.\n"
    "Tables for which the machine was too busy to simulate a device do not count. Times of a real\n"
    "machine are not judged: its speed drifts from table to table, so that they have no one "
    "truth.\n";

/* ---- rows ------------------------------------------------------------------------------- */

static coverage_row *add_row(coverage_run *run, bn_status *st)
{
    if (run->count == run->room) {
        const size_t room = run->room ? 2 * run->room : 32;
        coverage_row *grown = realloc(run->rows, room * sizeof *grown);
        if (!grown) {
            bn_fail(st, BN_OUT_OF_MEMORY, "no memory for rows");
            return NULL;
        }
        run->rows = grown;
        run->room = room;
    }
    run->rows[run->count] = (coverage_row){.count = 0};
    return &run->rows[run->count++];
}

static bool row_measured(const coverage_row *row)
{
    return row->c.tables + row->c.without > 0 || row->late == 0;
}

/* Whether its intervals were held against a truth: there is none where no table knew the figure. */
static bool row_known(const coverage_row *row)
{
    return row->c.tables > 0 && !(row->grand && !isfinite(row->truth));
}

/* Whether ROW says anything: not where the machine did not let the simulated device run, nor where
 * the truth is not the same for all tables. */
static bool row_judged(const coverage_row *row)
{
    return !row->drifts && row_measured(row);
}

static const char *row_verdict(const coverage_row *row)
{
    return row_judged(row) ? selftest_coverage_verdict_name(selftest_coverage_judge(&row->c))
                           : "not judged";
}

static bool row_good(const coverage_row *row)
{
    const selftest_coverage_verdict verdict = selftest_coverage_judge(&row->c);
    return verdict == SELFTEST_COVERAGE_HOLDS || (verdict == SELFTEST_COVERAGE_WIDE && !row->exact);
}

static void put_truth(json_t *cells, const coverage_row *row)
{
    char text[32];
    if (!isfinite(row->truth))
        snprintf(text, sizeof text, "-");
    else if (row->time)
        snprintf(text, sizeof text, "%.3f ms", row->truth / 1e6);
    else
        snprintf(text, sizeof text, "%.3fx", row->truth);
    res_sheet_put(cells, row->grand ? "(%s)" : "%s", text);
}

static json_t *row_cells(const coverage_row *row)
{
    const selftest_coverage *c = &row->c;
    json_t *cells = json_array();
    res_sheet_put(cells, "%s", row->name);
    res_sheet_put(cells, "%s", row->figure);
    put_truth(cells, row);
    res_sheet_put(cells, "%zu", c->tables);
    if (row_known(row))
        res_sheet_put(cells, "%.1f [%.1f, %.1f]", 100 * c->share.estimate, 100 * c->share.low,
                      100 * c->share.high);
    else
        res_sheet_put(cells, "-");
    if (c->tables)
        res_sheet_put(cells, "%.2f %%", 100 * c->half_width);
    else
        res_sheet_put(cells, "-");
    res_sheet_put(cells, "%s", row_verdict(row));
    return cells;
}

static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *row_json(const coverage_row *row)
{
    const selftest_coverage *c = &row->c;
    return json_pack("{ss ss so ss si si si si so sf sf so ss sb sb}", "case", row->name, "figure",
                     row->figure, "truth", real_json(row->truth), "truth_is",
                     row->grand          ? "grand"
                     : isnan(row->truth) ? "each"
                                         : "set",
                     "tables", (int)c->tables, "without", (int)c->without, "late", (int)row->late,
                     "held", (int)c->covered, "share",
                     real_json(row_known(row) ? c->share.estimate : (double)NAN), "share_low",
                     c->share.low, "share_high", c->share.high, "half_width",
                     real_json(c->half_width), "verdict", row_verdict(row), "judged",
                     (int)row_judged(row), "pass", (int)row_good(row));
}

/* ---- in numbers ---------------------------------------------------------------------------- */

static bn_code add_numbers(coverage_run *run, const selftest_table_trial *t, bn_status *st)
{
    const selftest_table_scenario *s = t->scenario;
    for (int wall = 0; wall < 2; wall++) {
        coverage_row *row = add_row(run, st);
        if (!row)
            return st->code;
        snprintf(row->name, sizeof row->name, "in numbers, %s", s->name);
        snprintf(row->figure, sizeof row->figure, "%s",
                 wall            ? "wall"
                 : s->longer > 0 ? "one against six"
                                 : "A/A");
        row->time = wall;
        row->truth = wall ? t->wall_truth : t->ratio_truth;
        row->c = wall ? t->wall : t->ratio;
        row->exact = s->exact;
    }
    return BN_OK;
}

static bn_code run_numbers(coverage_run *run, bn_status *st)
{
    const size_t tables = run->options->quick ? QUICK_TABLES : FULL_TABLES;
    size_t of = 0, number = 0;
    bn_code code = BN_OK;
    while (selftest_table_scenarios[of].name)
        of++;
    for (const selftest_table_scenario *s = selftest_table_scenarios; code == BN_OK && s->name;
         s++) {
        selftest_table_trial t = {.scenario = s, .tables = tables};
        char title[128];
        snprintf(title, sizeof title, "in numbers, %s", s->name);
        const job_order job = {.title = title, .number = ++number, .of = of};
        job_progress_begin(&job);
        /* The seed of a row does not depend on the rows before it. */
        code = selftest_table_trial_run(&t, on_trial, run->seed * 1000003u + number, st);
        job_progress_end(&job, &(job_outcome){.status = code});
        if (code == BN_OK)
            code = add_numbers(run, &t, st);
    }
    cli_line_clear();
    return code;
}

/* ---- on runtimes --------------------------------------------------------------------------- */

/* Counts how many of the tables of ROW hold its truth. */
static bn_code count_row(coverage_row *row, bn_status *st)
{
    double *truths = calloc(row->count + 1, sizeof *truths);
    if (!truths)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu tables", row->count);
    for (size_t i = 0; i < row->count; i++)
        truths[i] = row->truth;
    bn_code code = selftest_coverage_count(row->intervals, truths, row->count, &row->c, st);
    free(truths);
    return code;
}

/* The figures of a view, a row each. */
typedef enum figure { FIGURE_RATIO, FIGURE_WALL, FIGURE_DEVICE, FIGURE_COUNT } figure;

static res_interval interval_of(const selftest_table_figures *f, figure which)
{
    return which == FIGURE_RATIO ? f->ratio : which == FIGURE_WALL ? f->wall : f->device;
}

static void name_row(coverage_row *row, const selftest_set *set, const selftest_view *view,
                     figure which)
{
    row->time = which != FIGURE_RATIO;
    row->truth = row->time ? view->time_ns : view->ratio;
    row->grand = isnan(row->truth);
    snprintf(row->name, sizeof row->name, "%s", set->name);
    if (row->time)
        snprintf(row->figure, sizeof row->figure, "%s, %s",
                 which == FIGURE_WALL ? "wall" : "device", view->who);
    else
        snprintf(row->figure, sizeof row->figure, "%s", view->name);
}

/* Fills ROW from the tables of SET. */
static bn_code fill_row(coverage_row *row, const selftest_set *set, const selftest_view *view,
                        figure which, bn_status *st)
{
    selftest_table_figures f;
    bn_code code = BN_OK;
    name_row(row, set, view, which);
    row->simulated = set->simulated;
    row->drifts = row->time && !set->simulated;
    row->intervals = calloc(set->tables + 1, sizeof *row->intervals);
    if (!row->intervals)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu tables", set->tables);
    for (size_t t = 0; t < set->tables && code == BN_OK; t++) {
        row->late += set->late[t];
        if (set->late[t])
            continue;
        code = selftest_view_figures(set, view, t, 1, &f, st);
        row->intervals[row->count++] = interval_of(&f, which);
    }
    if (code == BN_OK && row->grand) {
        code = selftest_view_figures(set, view, 0, set->tables, &f, st);
        row->truth = interval_of(&f, which).estimate;
    }
    return code == BN_OK ? count_row(row, st) : code;
}

/* Whether row B is of the same figure as A, on the same kind of device. */
static bool same_figure(const coverage_row *a, const coverage_row *b)
{
    return b->intervals && a->simulated == b->simulated && strcmp(a->figure, b->figure) == 0;
}

/* Counts the tables of all rows like the one at INDEX, each by its own row's truth, in a row of
 * their own. */
static bn_code add_all(coverage_run *run, size_t index, size_t live, bn_status *st)
{
    coverage_row *all = add_row(run, st);
    const coverage_row *like = &run->rows[index];
    size_t tables = 0, n = 0;
    if (!all)
        return st->code;
    for (size_t i = index; i < live; i++)
        tables += same_figure(like, &run->rows[i]) ? run->rows[i].count : 0;
    res_interval *intervals = calloc(tables + 1, sizeof *intervals);
    double *truths = calloc(tables + 1, sizeof *truths);
    snprintf(all->name, sizeof all->name, "%s", like->simulated ? "simulated, all" : "all");
    snprintf(all->figure, sizeof all->figure, "%s", like->figure);
    all->truth = (double)NAN;
    all->drifts = like->drifts;
    for (size_t i = index; intervals && truths && i < live; i++) {
        const coverage_row *row = &run->rows[i];
        all->late += same_figure(like, row) ? row->late : 0;
        for (size_t t = 0; same_figure(like, row) && t < row->count; t++, n++) {
            intervals[n] = row->intervals[t];
            truths[n] = row->truth;
        }
    }
    bn_code code = intervals && truths
                       ? selftest_coverage_count(intervals, truths, n, &all->c, st)
                       : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu tables", tables);
    free(truths);
    free(intervals);
    return code;
}

/* Adds a row of all cases for each figure that several of the rows from FIRST on have. */
static bn_code add_sums(coverage_run *run, size_t first, bn_status *st)
{
    const size_t live = run->count;
    bn_code code = BN_OK;
    for (size_t i = first; i < live && code == BN_OK; i++) {
        size_t before = 0, after = 0;
        for (size_t k = first; k < live; k++)
            if (k != i && same_figure(&run->rows[i], &run->rows[k]))
                *(k < i ? &before : &after) += 1;
        if (before == 0 && after > 0)
            code = add_all(run, i, live, st);
    }
    return code;
}

static bn_code add_sets(coverage_run *run, const selftest_plan *plan, bn_status *st)
{
    const size_t first = run->count;
    for (size_t i = 0; i < plan->count; i++)
        for (size_t v = 0; v < SELFTEST_VIEWS; v++)
            for (int which = 0; which < FIGURE_COUNT; which++) {
                const selftest_set *set = &plan->sets[i];
                coverage_row *row = add_row(run, st);
                if (!row || fill_row(row, set, &set->views[v], (figure)which, st) != BN_OK)
                    return st->code;
                /* Not every runtime lets device time be seen; the simulated one does. */
                if (which == FIGURE_DEVICE && !set->simulated && row->c.tables == 0) {
                    free(row->intervals);
                    run->count--;
                }
            }
    return add_sums(run, first, st);
}

/* Medians of the processes, for whoever wants to look at them. */
static json_t *processes_json(const selftest_set *set)
{
    json_t *list = json_array();
    for (size_t t = 0; t < set->tables; t++)
        for (size_t k = 0; k < SELFTEST_TABLE_PROCESSES; k++)
            for (int m = 0; m < SELFTEST_MEMBERS; m++) {
                const res_record *r = selftest_set_record(set, m, t, k);
                if (!r)
                    continue;
                json_array_append_new(list,
                                      json_pack("{ss si si si sI sf}", "case", set->name, "table",
                                                (int)t + 1, "process", (int)k + 1, "member", m + 1,
                                                "steps", (json_int_t)r->step_count, "median_ns",
                                                res_quantile(r->wall_ns, r->step_count, 0.5)));
            }
    return list;
}

static bn_code write_raw(const coverage_run *run, const selftest_plan *plan, bn_status *st)
{
    json_t *rows = json_array(), *processes = json_array();
    for (size_t i = 0; i < run->count; i++) {
        json_t *row = row_json(&run->rows[i]), *list = json_array();
        for (size_t t = 0; t < run->rows[i].count; t++) {
            const res_interval *v = &run->rows[i].intervals[t];
            json_array_append_new(list, json_pack("[ooo]", real_json(v->estimate),
                                                  real_json(v->low), real_json(v->high)));
        }
        json_object_set_new(row, "intervals", list);
        json_array_append_new(rows, row);
    }
    for (size_t i = 0; i < plan->count; i++) {
        json_t *list = processes_json(&plan->sets[i]);
        json_array_extend(processes, list);
        json_decref(list);
    }
    json_t *all = json_pack("{sI so so}", "seed", (json_int_t)run->seed, "rows", rows, "processes",
                            processes);
    char *text = json_dumps(all, JSON_INDENT(1) | RES_JSON_SHOWN);
    bn_code code = text ? bn_file_write_atomic(run->options->file, text, strlen(text), st)
                        : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for raw values");
    free(text);
    json_decref(all);
    return code;
}

/* Measures, counts, and writes the raw values where they are asked for. */
static bn_code run_live(coverage_run *run, bn_status *st)
{
    selftest_plan plan = {0};
    selftest_load load = {.count = 0};
    bn_code code = selftest_plan_make(run->options, run->seed, &plan, st);
    if (code == BN_OK)
        code = selftest_load_begin(&load, (size_t)run->options->load, st);
    if (code == BN_OK)
        run->broken = !selftest_plan_measure(&plan);
    selftest_load_end(&load);
    if (code == BN_OK)
        code = add_sets(run, &plan, st);
    if (code == BN_OK && run->options->file)
        code = write_raw(run, &plan, st);
    selftest_plan_free(&plan);
    return code;
}

/* ---- the table --------------------------------------------------------------------------------
 */

static void print_rows(const coverage_run *run, bool people)
{
    static const res_sheet_column columns[] = {
        {"case", false}, {"figure", false},    {"truth", true}, {"tables", true},
        {"held", true},  {"half-width", true}, {"", false}};
    json_t *rows = json_array();
    bn_text text = {0};
    for (size_t i = 0; i < run->count; i++)
        json_array_append_new(rows, row_cells(&run->rows[i]));
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, run->format, &text);
    if (people) {
        bn_text_putc(&text, '\n');
        bn_text_printf(&text, explanation, SELFTEST_TABLE_PROCESSES);
        bn_text_putc(&text, '\n');
    }
    if (text.data)
        cli_out("%s", text.data);
    bn_text_free(&text);
    json_decref(rows);
}

static void print_json(const coverage_run *run, bool good, const char *verdict)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < run->count; i++)
        json_array_append_new(rows, row_json(&run->rows[i]));
    json_t *all = json_pack("{sb ss sI sI si so}", "pass", (int)good, "verdict", verdict, "seed",
                            (json_int_t)run->seed, "load", (json_int_t)run->options->load,
                            "processes", SELFTEST_TABLE_PROCESSES, "rows", rows);
    cli_json(all);
    json_decref(all);
}

/* Prints what there is; returns the exit code. */
static cli_exit finish(const coverage_run *run)
{
    const bool people = run->format == RES_TABLE_TEXT || run->format == RES_TABLE_MARKDOWN;
    const bool stopped = job_interrupted();
    char verdict[256], late[96] = "";
    size_t held = 0, judged = 0, unmeasured = 0;
    for (size_t i = 0; i < run->count; i++) {
        judged += row_judged(&run->rows[i]);
        unmeasured += !row_measured(&run->rows[i]);
        held += row_judged(&run->rows[i]) && row_good(&run->rows[i]);
    }
    const bool good = held == judged && !run->broken;
    if (unmeasured > 0)
        snprintf(late, sizeof late, ", %zu not judged: the machine was too busy", unmeasured);
    snprintf(verdict, sizeof verdict,
             "coverage: %s: %zu of %zu rows hold the truth often enough%s%s; seed %llu",
             stopped ? "interrupted"
             : good  ? "PASS"
                     : "FAIL",
             held, judged, late, run->broken ? ", processes failed" : "",
             (unsigned long long)run->seed);
    if (run->format == RES_TABLE_JSON)
        print_json(run, good && !stopped, verdict);
    else
        print_rows(run, people);
    (people ? cli_tell : cli_say)("%s", verdict);
    return stopped ? CLI_EXIT_INTERRUPTED : good ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

int selftest_coverage_command(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    const cli_value *seed = &options->matrix->axis[RES_AXIS_SEED].value[0];
    coverage_run run = {.options = options,
                        .seed =
                            options->seed_given ? (uint64_t)seed->number : (uint64_t)time(NULL)};
    cli_exit code;
    job_supervise_begin();
    if (res_format_parse(options->output.format, &run.format, &st) == BN_OK &&
        run_numbers(&run, &st) == BN_OK && !options->quick)
        (void)!run_live(&run, &st);
    code = st.code == BN_OK ? finish(&run) : cli_complain(&st);
    for (size_t i = 0; i < run.count; i++)
        free(run.rows[i].intervals);
    free(run.rows);
    return (int)code;
}
