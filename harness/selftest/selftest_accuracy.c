/*
 * selftest_accuracy.c - bench selftest accuracy: the harness measures a device whose truth is
 * known.
 *
 * Each cell sets the simulated runtime's device time, overhead of an execution and jitter, and a
 * number of arguments. Then it measures a program of that many arguments exactly as
 * `bench --program` would, in a worker process with a record, and compares the record with what was
 * set. The measuring does not know that this is a test.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/selftest_priv.h"
#include "results/tables/tables.h"
#include "runtime/pjrt/pjrt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the grid ------------------------------------------------------------------------- */

typedef struct cell {
    double device_us, overhead_us, jitter;
    int arguments, in_flight;
    const char *source;
} cell;

/* Set and measured figures. */
typedef struct outcome {
    double truth_device_us, truth_overhead_us, submit_us;
    double device_us, overhead_us, wall_us, wall_truth_us;
    double device_error, overhead_error, wall_error; /* in tolerances: 1 is the limit */
    bool measured, refused, pass;
    /* One in ten of the simulator's waits ended too late, or the machine was busy: a failure proves
     * nothing. */
    bool late;
    int attempts;
    char note[160];
} outcome;

static const double device_levels[] = {20, 100, 500, 2000, 10000, 50000};
static const double overhead_levels[] = {0, 50, 500, 2000, 5000};
static const double jitter_levels[] = {0, 0.01, 0.03};
static const int argument_levels[] = {1, 50, 500};
static const int flight_levels[] = {1, 4};
static const char *const source_levels[] = {"profiler", "slope"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Host time of the simulated call for each argument and result: more than the plugin
 * itself needs, so that the call takes what was set. */
#define HANDLE_US       0.2
/* Shares of the overhead that was set: in the call, before the device, after it. */
#define CALL_SHARE      0.4
#define LAUNCH_SHARE    0.4
#define END_SHARE       0.2
/* Where one wait in ten ends so much late, the simulator does not keep its settings. */
#define MOST_LATE_US    5
/* The tolerance is the larger of the two. */
#define TOLERANCE_SHARE 0.01
#define TOLERANCE_US    10
/* The slope needs a device that is slower than the host submits (device_time.c's margin). Between
 * these multiples of the call's cost, a figure and a refusal are both right. */
#define SLOPE_LEAST     1.0
#define SLOPE_MOST      2.0
/* A cell that fails is measured again, for other work may have disturbed it; attempts are shown. */
#define ATTEMPTS        3

#define MOST_CELLS 256

/* As in docs/selftests.md. */
#define FULL_TAKES  "six minutes"
#define QUICK_TAKES "20 seconds"

/* Fills CELLS with all pairs of device time and overhead, by each source. The other levels change
 * with the pair, and differently in each round, so that each meets each. QUICK takes a part of the
 * pairs. Returns how many cells there are. */
static size_t make_grid(bool quick, cell cells[MOST_CELLS])
{
    size_t count = 0;
    const size_t rounds = quick ? 1 : 3;
    for (size_t round = 0; round < rounds; round++)
        for (size_t d = 0; d < COUNT(device_levels); d++)
            for (size_t o = 0; o < COUNT(overhead_levels); o++)
                for (size_t s = 0; s < COUNT(source_levels); s++) {
                    const size_t turn = d + 2 * o + s + round;
                    if (quick && ((d + o + s) % 3 != 0 || d + 1 == COUNT(device_levels)))
                        continue;
                    cell c = {.device_us = device_levels[d],
                              .overhead_us = overhead_levels[o],
                              .jitter = jitter_levels[turn % COUNT(jitter_levels)],
                              .arguments = argument_levels[(turn / 2) % COUNT(argument_levels)],
                              .in_flight = flight_levels[(turn + round) % COUNT(flight_levels)],
                              .source = source_levels[s]};
                    /* The mean of n executions is known to jitter / sqrt(n): with 50 ms and
                     * 3 %, a minute would not reach the tolerance. */
                    if (c.device_us > 20000 && c.jitter > 0.02)
                        c.jitter = 0.01;
                    cells[count++] = c;
                }
    return count;
}

/* ---- running a cell ------------------------------------------------------------------------ */

typedef struct bench_place {
    char folder[SELFTEST_FOLDER]; /* of programs, records, the simulator's notes; goes away */
    char store[SELFTEST_FOLDER + 8];
    double late_p99_us; /* the worst of all cells */
} bench_place;

/* y = a0 + a0, whatever the number of arguments. */
static bn_code write_program(const bench_place *place, int arguments, char *path, size_t size,
                             bn_status *st)
{
    bn_text text = {0};
    snprintf(path, size, "%s/accuracy%d.mlir", place->folder, arguments);
    if (access(path, F_OK) == 0)
        return BN_OK;
    bn_text_printf(&text, "module @accuracy {\n  func.func public @main(");
    for (int i = 0; i < arguments; i++)
        bn_text_printf(&text, "%s%%a%d: tensor<f32>", i ? ", " : "", i);
    bn_text_puts(&text, ") -> tensor<f32> {\n    %0 = stablehlo.add %a0, %a0 : tensor<f32>\n"
                        "    return %0 : tensor<f32>\n  }\n}\n");
    const bn_code code = bn_file_write_atomic(path, text.data, text.length, st);
    bn_text_free(&text);
    return code;
}

#define SETTINGS      12
#define SETTING_BYTES 160

/* The simulated device of the cell as runtime options. */
static void make_settings(const cell *c, const bench_place *place, uint64_t seed,
                          char text[SETTINGS][SETTING_BYTES], const char **list)
{
    int n = 0;
    snprintf(text[n++], SETTING_BYTES, "preset=ideal");
    snprintf(text[n++], SETTING_BYTES, "values=none");
    snprintf(text[n++], SETTING_BYTES, "device_us=%.9g", c->device_us);
    snprintf(text[n++], SETTING_BYTES, "execute_us=%.9g", CALL_SHARE * c->overhead_us);
    snprintf(text[n++], SETTING_BYTES, "launch_us=%.9g", LAUNCH_SHARE * c->overhead_us);
    snprintf(text[n++], SETTING_BYTES, "completion_us=%.9g", END_SHARE * c->overhead_us);
    snprintf(text[n++], SETTING_BYTES, "argument_us=%.9g", HANDLE_US);
    snprintf(text[n++], SETTING_BYTES, "result_us=%.9g", HANDLE_US);
    snprintf(text[n++], SETTING_BYTES, "jitter=%.9g", c->jitter);
    snprintf(text[n++], SETTING_BYTES, "seed=%llu", (unsigned long long)seed);
    snprintf(text[n++], SETTING_BYTES, "report=%s/report.json", place->folder);
    for (int i = 0; i < n; i++)
        list[i] = text[i];
    list[n] = NULL;
}

static bn_code run_cell(const selftest_options *o, const cell *c, const bench_place *place,
                        size_t number, size_t of, int attempt, res_record **record, bn_status *st)
{
    char settings[SETTINGS][SETTING_BYTES], path[128];
    job_matrix *m = bn_alloc(sizeof *m); /* too large for a frame */
    job_experiment *list = NULL;
    size_t count = 0;
    bn_text notes = {0};
    *m = *o->matrix;
    bn_code code = write_program(place, c->arguments, path, sizeof path, st);
    make_settings(c, place, (uint64_t)(number * 10 + (size_t)attempt), settings,
                  m->how.runtime_option);
    m->program = path;
    job_matrix_set(m, RES_AXIS_RUNTIME, "sim");
    job_matrix_set_number(m, RES_AXIS_IN_FLIGHT, c->in_flight > 1 ? 4 : 1);
    m->how.device_time = strcmp(c->source, "slope") == 0 ? "slope" : "auto";
    m->how.store = place->store;
    m->how.steps = 30;
    m->how.warmup = 20;
    m->how.min_time = 0;
    if (code == BN_OK)
        code = job_matrix_request(m, &m->request, st);
    if (code == BN_OK)
        code = job_matrix_expand(m, &list, &count, &notes, st);
    if (code == BN_OK) {
        const job_order job = {NULL, "selftest accuracy",    number,
                               of,   o->matrix->how.timeout, o->output.verbose,
                               false};
        code = job_measure_in_worker(&list[0], &job, record, NULL, st);
    }
    json_decref(m->request);
    bn_text_free(&notes);
    free(m);
    free(list);
    return code;
}

/* ---- judging ------------------------------------------------------------------------------- */

/* The tolerance of a figure, its share taken of SCALE. */
static double tolerance_of(double scale)
{
    return fmax(TOLERANCE_SHARE * scale, TOLERANCE_US);
}

static double part_median_us(const res_record *r, bn_part a, bn_part b)
{
    uint64_t *sums = bn_zalloc(r->step_count + 1, sizeof *sums);
    for (size_t i = 0; i < r->step_count; i++)
        sums[i] =
            r->part_ns[i * BN_PART_COUNT + (size_t)a] + r->part_ns[i * BN_PART_COUNT + (size_t)b];
    const double median = res_quantile(sums, r->step_count, 0.5) / 1e3;
    free(sums);
    return median;
}

/* Serial steps wait for each execution: call and wait are its PJRT time. With steps in flight, a
 * step takes the device's time if the host keeps up. Else it takes the host's, which was not set,
 * and is not judged. */
static void judge_wall(const cell *c, const res_record *r, outcome *v)
{
    v->wall_us = v->wall_truth_us = v->wall_error = (double)NAN;
    if (c->in_flight == 1) {
        v->wall_us = part_median_us(r, BN_PART_DISPATCH, BN_PART_WAIT);
        v->wall_truth_us = v->truth_device_us + v->truth_overhead_us;
    } else if (v->truth_device_us > SLOPE_MOST * v->submit_us + 100 &&
               3 * v->truth_device_us > v->truth_overhead_us) {
        v->wall_us = res_quantile(r->wall_ns, r->step_count, 0.5) / 1e3;
        v->wall_truth_us = v->truth_device_us;
    } else {
        return;
    }
    /* Few steps: jitter blurs their median. */
    double blur = 3 * 1.25 * c->jitter * c->device_us / sqrt((double)r->step_count);
    v->wall_error = (v->wall_us - v->wall_truth_us) / (tolerance_of(v->wall_truth_us) + blur);
}

static void judge(const cell *c, const res_record *r, outcome *v)
{
    const res_execution *x = r->execution_count == 1 ? &r->executions[0] : NULL;
    const bool slope = strcmp(c->source, "slope") == 0;
    const double handles_us = HANDLE_US * (c->arguments + 1);
    v->truth_device_us = c->device_us;
    v->truth_overhead_us = c->overhead_us + handles_us;
    v->submit_us = CALL_SHARE * c->overhead_us + handles_us;
    v->measured = x != NULL;
    v->device_us = v->overhead_us = (double)NAN;
    v->refused = x && x->device_source == BN_DEVICE_TIME_UNAVAILABLE;
    if (!x)
        return;
    judge_wall(c, r, v);
    const bool wall = isnan(v->wall_error) || fabs(v->wall_error) <= 1;
    if (v->refused) {
        snprintf(v->note, sizeof v->note, "%s", x->device_note);
        v->pass = slope && wall && v->truth_device_us < SLOPE_MOST * v->submit_us + TOLERANCE_US;
        return;
    }
    const res_interval overhead = res_execution_overhead(x);
    v->device_us = x->device_ns / 1e3;
    v->overhead_us = overhead.estimate / 1e3;
    v->device_error = (v->device_us - v->truth_device_us) / tolerance_of(v->truth_device_us);
    /* The profiler has the overhead of each execution. By the slope it is the PJRT time minus the
     * device time, two measured figures: then the share is of the PJRT time. */
    v->overhead_error = (v->overhead_us - v->truth_overhead_us) /
                        tolerance_of(v->truth_overhead_us + (slope ? v->truth_device_us : 0));
    const bool seen = !slope || v->truth_device_us >= SLOPE_LEAST * v->submit_us;
    const bool right_source =
        x->device_source == (slope ? BN_DEVICE_TIME_SLOPE : BN_DEVICE_TIME_PROFILER);
    v->pass =
        wall && seen && right_source && fabs(v->device_error) <= 1 && fabs(v->overhead_error) <= 1;
    if (!seen)
        snprintf(v->note, sizeof v->note, "a number where the device hides behind the host");
}

/* Whether V proves nothing: the machine was too busy to simulate a device. */
static bool not_judged(const outcome *v)
{
    return v->measured && !v->pass && v->late;
}

/* ---- the table --------------------------------------------------------------------------- */

typedef struct accuracy {
    const selftest_options *options;
    res_format format;
    bench_place place;
    cell cells[MOST_CELLS];
    outcome outcomes[MOST_CELLS];
    size_t count, done;
} accuracy;

static double worst_of(const outcome *v)
{
    double worst = v->refused ? 0 : fmax(fabs(v->device_error), fabs(v->overhead_error));
    if (!isnan(v->wall_error))
        worst = fmax(worst, fabs(v->wall_error));
    /* Failures come first, whatever they failed by. */
    return v->measured ? worst + (v->pass ? 0 : 1e6) : INFINITY;
}

static void put_pair(json_t *row, double truth, double got)
{
    if (isnan(truth))
        res_sheet_put(row, "-");
    else
        res_sheet_put(row, "%.1f", truth);
    if (isnan(got))
        res_sheet_put(row, "-");
    else
        res_sheet_put(row, "%+.1f", got - truth);
}

static json_t *row_of(const cell *c, const outcome *v)
{
    json_t *row = json_array();
    res_sheet_put(row, "%s", c->source);
    res_sheet_put(row, "%s", c->in_flight > 1 ? "4 in flight" : "serial");
    res_sheet_put(row, "%d", c->arguments);
    res_sheet_put(row, "%g %%", c->jitter * 100);
    put_pair(row, v->truth_device_us, v->device_us);
    put_pair(row, v->truth_overhead_us, v->overhead_us);
    put_pair(row, v->wall_truth_us, v->wall_us);
    res_sheet_put(row, "%.2f", worst_of(v) - (v->pass ? 0 : 1e6));
    res_sheet_put(row, "%d", v->attempts);
    res_sheet_put(row, "%s",
                  not_judged(v)              ? "not judged"
                  : !v->measured || !v->pass ? "FAIL"
                  : v->refused               ? "not seen"
                                             : "PASS");
    return row;
}

static void write_worst(const accuracy *a, bn_text *out)
{
    enum { SHOWN = 12 };
    static const res_sheet_column columns[] = {
        {"source", false},   {"regime", false}, {"arguments", true},    {"jitter", true},
        {"device us", true}, {"error", true},   {"overhead us", true},  {"error", true},
        {"wall us", true},   {"error", true},   {"of tolerance", true}, {"measured", true},
        {"", false}};
    json_t *rows = json_array();
    bool shown[MOST_CELLS] = {false};
    for (size_t n = 0; n < a->done && (n < SHOWN || a->format == RES_TABLE_CSV); n++) {
        size_t worst = MOST_CELLS;
        for (size_t i = 0; i < a->done; i++)
            if (!shown[i] &&
                (worst == MOST_CELLS || worst_of(&a->outcomes[i]) > worst_of(&a->outcomes[worst])))
                worst = i;
        shown[worst] = true;
        json_array_append_new(rows, row_of(&a->cells[worst], &a->outcomes[worst]));
    }
    res_sheet_write_named(columns, COUNT(columns), 4, rows, a->format, out);
    json_decref(rows);
}

static json_t *cell_json(const cell *c, const outcome *v)
{
    return json_pack("{ss si si sf sf so sf so so so sb sb sb si ss}", "source", c->source,
                     "in_flight", c->in_flight, "arguments", c->arguments, "jitter", c->jitter,
                     "device_us", v->truth_device_us, "measured_device_us",
                     res_json_real(v->device_us), "overhead_us", v->truth_overhead_us,
                     "measured_overhead_us", res_json_real(v->overhead_us), "wall_us",
                     res_json_real(v->wall_truth_us), "measured_wall_us", res_json_real(v->wall_us),
                     "refused", (int)v->refused, "pass", (int)v->pass, "judged",
                     (int)!not_judged(v), "attempts", v->attempts, "note", v->note);
}

static void print_json(const accuracy *a, bool good, const char *summary)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < a->done; i++)
        json_array_append_new(cells, cell_json(&a->cells[i], &a->outcomes[i]));
    json_t *all = json_pack("{sb ss so}", "pass", (int)good, "verdict", summary, "cells", cells);
    cli_json(all);
    json_decref(all);
}

static void print_table(const accuracy *a, const char *summary)
{
    const bool people = res_format_is_text(a->format) || a->format == RES_TABLE_MARKDOWN;
    bn_text text = {0}, words = {0};
    if (people)
        bn_text_puts(&text,
                     "Settings of the simulated device and errors of the measured figures, in "
                     "us; the worst cells:\n\n");
    write_worst(a, &text);
    for (size_t i = 0; i < a->done; i++)
        if (!a->outcomes[i].pass && !not_judged(&a->outcomes[i]) && a->outcomes[i].note[0])
            bn_text_printf(&words, "FAIL, device %g us, overhead %g us, %s: %s\n",
                           a->cells[i].device_us, a->cells[i].overhead_us, a->cells[i].source,
                           a->outcomes[i].note);
    bn_text_printf(&words, "\n%s\n", summary);
    if (people)
        res_put_lines(&text, a->format, words.data);
    bn_text_free(&words);
    cli_text(&text);
    if (!people)
        cli_say("%s", summary);
}

/* Prints the results; returns the exit code. */
static cli_exit finish(const accuracy *a)
{
    size_t failed = 0, unjudged = 0, unseen = 0, again = 0;
    bn_text text = {0};
    for (size_t i = 0; i < a->done; i++) {
        unjudged += not_judged(&a->outcomes[i]);
        failed += !a->outcomes[i].pass && !not_judged(&a->outcomes[i]);
        unseen += a->outcomes[i].pass && a->outcomes[i].refused;
        again += a->outcomes[i].attempts > 1;
    }
    /* A run in which most cells could not be judged proves nothing. */
    const bool good = failed == 0 && a->done == a->count && 2 * unjudged <= a->count;
    bn_text_printf(&text,
                   "accuracy: %s: %zu of %zu cells within 1 %% or 10 us, %zu of them not seen by "
                   "the slope and reported so, %zu measured again; waits of the simulator late by "
                   "%.1f us (99th percentile, worst cell)",
                   good ? "PASS" : "FAIL", a->done - failed - unjudged, a->count, unseen, again,
                   a->place.late_p99_us);
    if (unjudged)
        bn_text_printf(&text, "; %zu not judged: the machine was too busy", unjudged);
    if (a->format == RES_TABLE_JSON)
        print_json(a, good, text.data);
    else
        print_table(a, text.data);
    bn_text_free(&text);
    return good ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

/* ---- running ------------------------------------------------------------------------------ */

/* Reads how late the simulator's waits ended in the last cell, and returns whether that is too
 * late.
 */
static bool read_late(bench_place *place)
{
    char path[128];
    snprintf(path, sizeof path, "%s/report.json", place->folder);
    json_t *report = json_load_file(path, 0, NULL);
    const json_t *waits = json_object_get(report, "await_late");
    const double late = json_number_value(json_object_get(waits, "p99_us"));
    const bool too_late = json_number_value(json_object_get(waits, "p90_us")) > MOST_LATE_US;
    if (late > place->late_p99_us)
        place->late_p99_us = late;
    json_decref(report);
    unlink(path);
    return too_late;
}

/* Whether the machine was busy in the rounds of RECORD, which may be NULL. */
static bool was_busy(const res_record *record)
{
    res_interference interference = {0};
    if (record)
        res_interference_add_record(&interference, record);
    return res_interference_busy(&interference);
}

static bn_code measure_cell(accuracy *a, size_t i, bn_status *st)
{
    outcome *v = &a->outcomes[i];
    bn_code code = BN_OK;
    for (int attempt = 1; attempt <= ATTEMPTS && !v->pass && code == BN_OK && !job_interrupted();
         attempt++) {
        res_record *record = NULL;
        *v = (outcome){.attempts = attempt};
        code = run_cell(a->options, &a->cells[i], &a->place, i + 1, a->count, attempt, &record, st);
        if (code == BN_OK)
            judge(&a->cells[i], record, v);
        v->late = read_late(&a->place) || was_busy(record);
        res_record_free(record);
    }
    a->done += code == BN_OK && v->attempts > 0;
    return code;
}

int selftest_accuracy(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    char path[4096];
    cli_exit code = CLI_EXIT_OK;
    accuracy *a = bn_zalloc(1, sizeof *a);
    if (res_format_parse(cli_format(&options->output), &a->format, &st) != BN_OK ||
        rt_plugin_find("sim", path, sizeof path, &st) != BN_OK ||
        selftest_folder_make("accuracy", a->place.folder, &st) != BN_OK) {
        free(a);
        return (int)cli_complain(&st);
    }
    snprintf(a->place.store, sizeof a->place.store, "%s/store", a->place.folder);
    a->options = options;
    a->count = make_grid(options->quick, a->cells);
    job_supervise_begin();
    cli_note_plan(a->count, "ends it, and nothing is printed",
                  "%zu cells on the simulated device, a process each: on 2 cores that took %s",
                  a->count, options->quick ? QUICK_TAKES : FULL_TAKES);
    for (size_t i = 0; i < a->count && st.code == BN_OK && !job_interrupted(); i++)
        if (measure_cell(a, i, &st) != BN_OK && st.code != BN_CANCELLED)
            code = cli_complain(&st);
    cli_line_clear();
    selftest_folder_remove(a->place.folder);
    if (job_interrupted())
        code = CLI_EXIT_INTERRUPTED;
    else if (code == CLI_EXIT_OK)
        code = finish(a);
    free(a);
    return (int)code;
}
