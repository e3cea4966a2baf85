/*
 * selftest_coverage.c - bench selftest coverage: how often the intervals of tables hold the truth,
 * first in numbers alone, then on the named runtimes. A row is a case and one of its figures.
 */
#include "harness/selftest/coverage_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FULL_TABLES  20000 /* in numbers */
#define QUICK_TABLES 1000
#define USUAL_TABLES 40 /* of a case on a runtime */

typedef struct coverage_run {
    const selftest_options *options;
    res_format format;
    uint64_t seed;
    selftest_row *rows;
    size_t count, room;
    bool broken; /* a process failed */
} coverage_run;

static const char explanation[] =
    "A table has %d processes, or %d where steps are short, as those of bench run. It\n"
    "holds the truth if its 95 %% interval contains it. \"held\" is the number of 100\n"
    "tables that do, with the 95 %% interval of that share (Clopper-Pearson). Truths in\n"
    "brackets were not set: they are the figure of all tables together.\n"
    "\"too narrow\": fewer than demanded, and chance does not explain it. In a row of\n"
    "one case, 95 %% intervals would hold so rarely in less than 1 of 1,000 rows. A\n"
    "row of all cases with %zu tables, enough to distinguish 90 of 100 from 80, must\n"
    "reach the demand: intervals that reach it would hold so rarely in less than 1 of\n"
    "20 runs. \"not refuted\": the tables are too few for \"holds\", or chance explains\n"
    "the rest. \"wide\": the median half-width is above the demand on an idle machine.\n"
    "Tables for which the machine was too busy to simulate a device do not count.\n"
    "Times of a real machine are not judged: its speed drifts from table to table.\n";

/* ---- rows ------------------------------------------------------------------------------- */

static selftest_row *add_row(coverage_run *run)
{
    bn_grow(&run->rows, run->count + 1, &run->room, sizeof *run->rows);
    run->rows[run->count] = (selftest_row){.demand = {.most = 1, .half_width = (double)NAN}};
    return &run->rows[run->count++];
}

/* ---- in numbers ---------------------------------------------------------------------------- */

static void add_numbers(coverage_run *run, const selftest_table_trial *t)
{
    const selftest_table_scenario *s = t->scenario;
    for (int wall = 0; wall < 2; wall++) {
        selftest_row *row = add_row(run);
        snprintf(row->name, sizeof row->name, "in numbers, %s", s->name);
        snprintf(row->figure, sizeof row->figure, "%s",
                 wall            ? "wall"
                 : s->longer > 0 ? "one against six"
                                 : "A/A");
        row->time = wall;
        row->truth = wall ? t->wall_truth : t->ratio_truth;
        row->c = wall ? t->wall : t->ratio;
        row->demand.least = SELFTEST_LEAST_NUMBERS;
        row->demand.most = s->exact ? SELFTEST_MOST : 1;
    }
}

static bn_code run_numbers(coverage_run *run, bn_status *st)
{
    const size_t tables = run->options->quick ? QUICK_TABLES : FULL_TABLES;
    size_t of = 0, number = 0;
    bn_code code = BN_OK;
    while (selftest_table_scenarios[of].name)
        of++;
    cli_note_plan(of, "ends it, and nothing is printed",
                  "intervals in numbers: %zu tables of each of %zu cases, in this process%s",
                  tables, of, run->options->tables ? "; then on runtimes" : "");
    for (const selftest_table_scenario *s = selftest_table_scenarios; code == BN_OK && s->name;
         s++) {
        selftest_table_trial t = {.scenario = s, .tables = tables};
        char title[128];
        snprintf(title, sizeof title, "in numbers, %s", s->name);
        const job_order job = {.title = title, .number = ++number, .of = of};
        job_progress_begin(&job);
        /* The seed of a row does not depend on the rows before it. */
        code = selftest_table_trial_run(&t, selftest_table_by_tables, run->seed * 1000003u + number,
                                        st);
        job_progress_end(&job, &(job_outcome){.status = code});
        if (code == BN_OK)
            add_numbers(run, &t);
    }
    cli_line_clear();
    return code;
}

/* ---- on runtimes --------------------------------------------------------------------------- */

/* The figures of a view, a row each. */
typedef enum figure { FIGURE_RATIO, FIGURE_WALL, FIGURE_DEVICE, FIGURE_COUNT } figure;

static res_interval interval_of(const selftest_table_figures *f, figure which)
{
    return which == FIGURE_RATIO ? f->ratio : which == FIGURE_WALL ? f->wall : f->device;
}

static void name_row(selftest_row *row, const selftest_set *set, const selftest_view *view,
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

/*
 * The demand on ROW, of the same figure as LIKE, with TABLES tables. On a busy machine the interval
 * of a ratio other than 1 is wider, for the effects of other work (results/findings/ratio.c). Where
 * more than half of the tables met one, all of them may hold the truth.
 */
static selftest_demand demand_of(const selftest_row *row, const selftest_row *like, size_t tables)
{
    const bool roomy = !like->time && like->truth != 1 && 2 * row->busy > tables;
    if (!like->simulated)
        return (selftest_demand){SELFTEST_LEAST_REAL, 1, (double)NAN};
    return (selftest_demand){SELFTEST_LEAST_SIMULATED, roomy ? 1 : SELFTEST_MOST, (double)NAN};
}

/* Fills ROW from the tables of SET. */
static void fill_row(selftest_row *row, const selftest_set *set, const selftest_view *view,
                     figure which)
{
    selftest_table_figures f;
    name_row(row, set, view, which);
    row->simulated = set->simulated;
    row->drifts = row->time && !set->simulated;
    row->intervals = bn_zalloc(set->tables + 1, sizeof *row->intervals);
    for (size_t t = 0; t < set->tables; t++) {
        row->late += set->late[t];
        if (set->late[t])
            continue;
        selftest_view_figures(set, view, t, 1, &f);
        row->intervals[row->count++] = interval_of(&f, which);
        row->busy += f.busy;
    }
    if (row->grand) {
        selftest_view_figures(set, view, 0, set->tables, &f);
        row->truth = interval_of(&f, which).estimate;
    }
    row->demand = demand_of(row, row, row->count);
    if (!row->time && !row->simulated)
        row->demand.half_width = set->half_width;
    double *truths = bn_zalloc(row->count + 1, sizeof *truths);
    for (size_t i = 0; i < row->count; i++)
        truths[i] = row->truth;
    row->c = selftest_coverage_count(row->intervals, truths, row->count);
    free(truths);
}

/* Whether row B is of the same figure as A, on the same kind of device. */
static bool same_figure(const selftest_row *a, const selftest_row *b)
{
    return b->intervals && a->simulated == b->simulated && strcmp(a->figure, b->figure) == 0;
}

/* Counts the tables of all rows like the one at INDEX, each by its own row's truth, in a row of
 * their own. */
static void add_all(coverage_run *run, size_t index, size_t live)
{
    selftest_row *all = add_row(run);
    const selftest_row *like = &run->rows[index];
    size_t tables = 0, n = 0;
    for (size_t i = index; i < live; i++)
        tables += same_figure(like, &run->rows[i]) ? run->rows[i].count : 0;
    res_interval *intervals = bn_zalloc(tables + 1, sizeof *intervals);
    double *truths = bn_zalloc(tables + 1, sizeof *truths);
    snprintf(all->name, sizeof all->name, "%s", like->simulated ? "simulated, all" : "all");
    snprintf(all->figure, sizeof all->figure, "%s", like->figure);
    all->truth = (double)NAN;
    all->grand = true; /* until a row has a truth that its tables can hold */
    all->drifts = like->drifts;
    all->whole = true;
    for (size_t i = index; i < live; i++) {
        const selftest_row *row = &run->rows[i];
        if (!same_figure(like, row))
            continue;
        all->grand = all->grand && !isfinite(row->truth);
        all->late += row->late;
        all->busy += row->busy;
        for (size_t t = 0; t < row->count; t++, n++) {
            intervals[n] = row->intervals[t];
            truths[n] = row->truth;
        }
    }
    all->demand = demand_of(all, like, n);
    all->c = selftest_coverage_count(intervals, truths, n);
    free(truths);
    free(intervals);
}

/* Adds a row of all cases for each figure that several of the rows from FIRST on have. */
static void add_sums(coverage_run *run, size_t first)
{
    const size_t live = run->count;
    for (size_t i = first; i < live; i++) {
        size_t before = 0, after = 0;
        for (size_t k = first; k < live; k++)
            if (k != i && same_figure(&run->rows[i], &run->rows[k]))
                *(k < i ? &before : &after) += 1;
        if (before == 0 && after > 0)
            add_all(run, i, live);
    }
}

static void add_sets(coverage_run *run, const selftest_plan *plan)
{
    const size_t first = run->count;
    for (size_t i = 0; i < plan->count; i++)
        for (size_t v = 0; v < SELFTEST_VIEWS; v++)
            for (int which = 0; which < FIGURE_COUNT; which++) {
                const selftest_set *set = &plan->sets[i];
                selftest_row *row = add_row(run);
                fill_row(row, set, &set->views[v], (figure)which);
                /* Not every runtime reports device time; the simulated one does. */
                if (which == FIGURE_DEVICE && !set->simulated && row->c.tables == 0) {
                    free(row->intervals);
                    run->count--;
                }
            }
    add_sums(run, first);
}

/* Medians of the processes. */
static json_t *processes_json(const selftest_set *set)
{
    json_t *list = json_array();
    for (size_t t = 0; t < set->tables; t++)
        for (size_t k = 0; k < SELFTEST_MOST_PROCESSES; k++)
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

/* [estimate, low, high], null where unknown. */
static json_t *bounds_json(const res_interval *v)
{
    const double bounds[] = {v->estimate, v->low, v->high};
    json_t *list = json_array();
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(list, isfinite(bounds[i]) ? json_real(bounds[i]) : json_null());
    return list;
}

static bn_code write_raw(const coverage_run *run, const selftest_plan *plan, bn_status *st)
{
    json_t *rows = json_array(), *processes = json_array();
    for (size_t i = 0; i < run->count; i++) {
        json_t *row = selftest_row_json(&run->rows[i]), *list = json_array();
        for (size_t t = 0; t < run->rows[i].count; t++) {
            const res_interval *v = &run->rows[i].intervals[t];
            json_array_append_new(list, bounds_json(v));
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
    const bn_code code = bn_file_write_atomic(run->options->file, text, strlen(text), st);
    free(text);
    json_decref(all);
    return code;
}

/* Measures PLAN, counts, and writes --output. */
static bn_code run_live(coverage_run *run, selftest_plan *plan, bn_status *st)
{
    selftest_load load = {.count = 0};
    bn_code code = selftest_load_begin(&load, (size_t)run->options->load, st);
    if (code == BN_OK)
        cli_note_plan(plan->count * (size_t)run->options->tables,
                      "ends it, and counts the tables that are complete",
                      "intervals on runtimes: %lld tables of each of %zu cases",
                      (long long)run->options->tables, plan->count);
    if (code == BN_OK)
        run->broken = !selftest_plan_measure(plan);
    selftest_load_end(&load);
    if (code == BN_OK)
        add_sets(run, plan);
    if (code == BN_OK && run->options->file)
        code = write_raw(run, plan, st);
    return code;
}

/* In numbers, then on runtimes, whose refusals come before anything is drawn. */
static bn_code run_all(coverage_run *run, bn_status *st)
{
    selftest_plan plan = {0};
    bn_code code = BN_OK;
    if (run->options->tables)
        code = selftest_plan_make(run->options, run->seed, &plan, st);
    if (code == BN_OK)
        code = run_numbers(run, st);
    if (code == BN_OK && run->options->tables)
        code = run_live(run, &plan, st);
    selftest_plan_free(&plan);
    return code;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

/* The table; for PEOPLE its explanation, and VERDICT. */
static void print_rows(const coverage_run *run, bool people, const char *verdict)
{
    bn_text text = {0}, last = {0};
    selftest_rows_table(run->rows, run->count, run->format, &text);
    if (people) {
        bn_text_putc(&text, '\n');
        bn_text_printf(&text, explanation, JOB_USUAL_PROCESSES, JOB_SHORT_PROCESSES,
                       selftest_coverage_enough(SELFTEST_LEAST_REAL));
        bn_text_printf(&last, "\n%s\n", verdict);
        res_put_lines(&text, run->format, last.data);
    }
    bn_text_free(&last);
    cli_text(&text);
}

static void print_json(const coverage_run *run, bool good, bool stopped, const char *verdict)
{
    json_t *all =
        json_pack("{sb sb sb ss sI sI si so}", "pass", (int)(good && !stopped), "interrupted",
                  (int)stopped, "broken", (int)run->broken, "verdict", verdict, "seed",
                  (json_int_t)run->seed, "load", (json_int_t)run->options->load, "processes",
                  JOB_USUAL_PROCESSES, "rows", selftest_rows_json(run->rows, run->count));
    cli_json(all);
    json_decref(all);
}

/* Prints the rows; returns the exit code. */
static cli_exit finish(const coverage_run *run)
{
    const bool people = res_format_is_text(run->format) || run->format == RES_TABLE_MARKDOWN;
    const bool stopped = job_interrupted();
    const selftest_rows_sum sum = selftest_rows_add_up(run->rows, run->count);
    const bool good = sum.pass && !run->broken;
    bn_text verdict = {0};
    bn_text_printf(&verdict, "coverage: %s: ", stopped ? "interrupted" : good ? "PASS" : "FAIL");
    selftest_rows_say(&sum, &verdict);
    bn_text_printf(&verdict, "%s; seed %llu", run->broken ? ", processes failed" : "",
                   (unsigned long long)run->seed);
    if (run->format == RES_TABLE_JSON)
        print_json(run, good, stopped, verdict.data);
    else
        print_rows(run, people, verdict.data);
    if (!people)
        cli_say("%s", verdict.data);
    bn_text_free(&verdict);
    return stopped ? CLI_EXIT_INTERRUPTED : good ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

int selftest_coverage_command(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    const cli_value *seed = &options->matrix->axis[RES_AXIS_SEED].value[0];
    selftest_options own = *options;
    coverage_run run = {.options = &own,
                        .seed =
                            options->seed_given ? (uint64_t)seed->number : (uint64_t)time(NULL)};
    cli_exit code;
    if (own.tables == 0 && !own.quick)
        own.tables = USUAL_TABLES;
    job_supervise_begin();
    if (res_format_parse(cli_format(&options->output), &run.format, &st) == BN_OK &&
        cli_check_new(&options->output, "--output", options->file, &st) == BN_OK)
        (void)!run_all(&run, &st);
    code = st.code == BN_OK ? finish(&run) : cli_complain(&st);
    for (size_t i = 0; i < run.count; i++)
        free(run.rows[i].intervals);
    free(run.rows);
    return (int)code;
}
