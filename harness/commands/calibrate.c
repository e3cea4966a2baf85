/*
 * calibrate.c - bench calibrate: how far ratios of two modes differ from run to run on this
 * machine, which the processes of one run do not show.
 *
 * A run measures two small models in fresh processes: lazy, capture and lazy once more of the one,
 * lazy and capture of the other. That makes three ratios, of which two are of unlike modes: what
 * slows down the host and not the device cancels in a ratio of a mode to itself. Runs lie minutes
 * apart, as those do that a table is compared with. Each is kept when it has ended, so that a
 * second call goes on where the first one ended.
 */
#include "harness/commands/selection_priv.h"
#include "harness/jobs/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Two models whose steps are short, where a drift shows most. */
static const char *const models[] = {"bert", "llama"};
#define MODELS  (sizeof models / sizeof *models)
#define MEMBERS 3 /* the first model's; the second has one less */
#define PAIRS   3 /* ratios of a run: each further member over the first */

typedef struct calibrate_options {
    cli_output output;
    job_matrix matrix;
    double every_s;
    int64_t runs;
} calibrate_options;
#define AT(member) offsetof(calibrate_options, member)

static const cli_option rows[] = {
    {"every", "TIME", CLI_SPAN, AT(every_s), .fallback = "600",
     .text =
         "time from the begin of a run to that of the next: 10m, 600s (a number alone: seconds)"},
    {"runs", "N", CLI_NUMBER, AT(runs), .fallback = "12", .least = 1, .most = 1000,
     .text = "runs of an idle machine, or of a busy one, until it is calibrated; fewer than 8 show "
             "nothing. By default all take about two hours"},
    {"processes", "N", CLI_NUMBER, AT(matrix.how.processes), .fallback = "8",
     .least = RES_LEAST_PROCESSES, .most = RES_MOST_REPETITIONS,
     .text = "processes of each run that measure each model, 3 or more"},
    {"runtime", "NAME", CLI_NAMES, AT(matrix.axis) + RES_AXIS_RUNTIME * sizeof(cli_list),
     .fallback = "cpu", .single = true, .values = job_runtime_names, .open = true,
     .text = "runtime to calibrate (bench list runtimes), or the path of a PJRT plugin"},
    CLI_FORMAT_ROW(AT(output.format), "text, json", "text or json"),
};

/* A calibration under way. */
typedef struct calibration {
    const calibrate_options *options;
    job_experiment *members[MODELS];
    size_t counts[MODELS];
    char store[PATH_MAX]; /* of the runs' records */
    char sha256[BN_SHA256_TEXT], machine[256];
    char pairs[PAIRS][4 * RES_TEXT]; /* names of the ratios */
    size_t number, planned;        /* processes */
    double run_s;                  /* the longest run so far; 0: none */
    res_interference interference; /* of the run under way */
} calibration;

/* ---- one run ------------------------------------------------------------------------------ */

/* Adds what a process of model WHICH says: log ratios of its first member to each further one. */
static void add_values(calibration *c, size_t which, const job_kept *kept, size_t process,
                       double *values, size_t processes)
{
    for (size_t i = 0; i < c->counts[which]; i++)
        res_interference_add_record(&c->interference, kept[i].record);
    for (size_t i = 1; i < c->counts[which]; i++) {
        const size_t pair = which * (MEMBERS - 1) + i - 1;
        bn_text name = {0};
        values[(i - 1) * processes + process] = res_turns_log_ratio(kept[i].record, kept[0].record);
        res_experiment_title(&kept[i].record->experiment, &name);
        snprintf(c->pairs[pair], sizeof c->pairs[pair], "%s", name.data);
        bn_text_free(&name);
    }
    if (!c->sha256[0]) {
        snprintf(c->sha256, sizeof c->sha256, "%s", res_plugin_sha256(kept[0].record));
        snprintf(c->machine, sizeof c->machine, "%s",
                 res_provenance_text(kept[0].record, RES_PROV_HOST_NAME));
    }
}

/* One process of model WHICH; its VALUES. */
static bn_code measure_process(calibration *c, job_group *group, size_t which, size_t process,
                               double *values, bn_status *st)
{
    char title[300], text[400];
    job_kept kept[MEMBERS];
    const size_t processes = (size_t)group->processes;
    job_group_title(c->members[which], c->counts[which], title, sizeof title);
    snprintf(text, sizeof text, "%s, process %zu of %zu", title, process + 1, processes);
    const job_order job = {NULL,
                           text,
                           ++c->number,
                           c->planned,
                           c->options->matrix.how.timeout,
                           c->options->output.verbose,
                           process + 1 < processes};
    bn_code code = BN_OK;
    job_measure_and_keep(group, (int)process + 1, c->members[which], c->counts[which], &job, kept);
    for (size_t i = 0; i < c->counts[which] && code == BN_OK; i++)
        if (kept[i].failure.code != BN_OK || !kept[i].record) {
            *st = kept[i].failure;
            code = st->code != BN_OK ? st->code : bn_fail(st, BN_INVALID, "no record");
        }
    if (code == BN_OK)
        add_values(c, which, kept, process, values, processes);
    for (size_t i = 0; i < c->counts[which]; i++)
        res_record_free(kept[i].record);
    return code;
}

/* Measures a run and keeps it. */
static bn_code measure_run(calibration *c, bn_status *st)
{
    const size_t processes = (size_t)c->options->matrix.how.processes;
    double *values = bn_zalloc(PAIRS * processes, sizeof *values);
    double *of[MODELS] = {values, values + (MEMBERS - 1) * processes};
    job_group groups[MODELS];
    res_calibration_ratio ratios[PAIRS];
    res_calibration_run run = {.began_s = (double)time(NULL), .ratios = ratios, .count = PAIRS};
    const uint64_t start = bn_now_ns();
    bn_code code = BN_OK;
    c->interference = (res_interference){0};
    for (size_t m = 0; m < MODELS; m++)
        job_group_begin(&groups[m], (int)processes, 0);
    for (size_t p = 0; p < processes && code == BN_OK; p++)
        for (size_t m = 0; m < MODELS && code == BN_OK; m++)
            code = job_interrupted() ? bn_fail(st, BN_CANCELLED, "interrupted")
                                     : measure_process(c, &groups[m], m, p, of[m], st);
    if (code == BN_OK) {
        for (size_t i = 0; i < PAIRS; i++)
            ratios[i] = (res_calibration_ratio){c->pairs[i],
                                                res_estimate_of(values + i * processes, processes)};
        run.busy = res_interference_busy(&c->interference);
        run.sha256 = c->sha256;
        run.machine = c->machine;
        c->run_s = fmax(c->run_s, (double)(bn_now_ns() - start) / 1e9);
        code = res_calibration_add(c->options->matrix.how.store, &run, st);
    }
    free(values);
    return code;
}

/* ---- all runs ----------------------------------------------------------------------------- */

/* What the runs of an idle machine and of a busy one show. */
typedef struct findings {
    size_t count[2], near[2]; /* runs; those that began too soon after the one before */
    res_run_drift drift[2];
} findings;

static const char *const states[] = {"idle", "busy"};

static size_t most_of(const size_t count[2])
{
    return count[0] > count[1] ? count[0] : count[1];
}

/* Before the first process it is unknown which build the runtime is, and nothing counts. */
static bn_code count_runs(const calibration *c, findings *f, bn_status *st)
{
    json_t *runs;
    bn_code code = res_calibration_read(c->options->matrix.how.store, &runs, st);
    for (int busy = 0; busy < 2 && code == BN_OK; busy++) {
        f->count[busy] = res_calibration_drift(runs, c->sha256, c->machine, busy, &f->drift[busy]);
        f->near[busy] = res_calibration_near(runs, c->sha256, c->machine, busy);
    }
    if (code == BN_OK)
        json_decref(runs);
    return code;
}

/* When the last of the runs began, Unix time; 0: there is none. */
static double last_began(const calibration *c)
{
    json_t *runs;
    double last = 0;
    size_t index;
    const json_t *run;
    if (res_calibration_read(c->options->matrix.how.store, &runs, NULL) != BN_OK)
        return 0;
    json_array_foreach(runs, index, run)
    {
        last = fmax(last, json_number_value(json_object_get(run, "began_s")));
    }
    json_decref(runs);
    return last;
}

/* Seconds until the next run is due; 0: it is. A clock that was set back does not make it longer
 * than one interval. */
static double seconds_to_next(const calibration *c)
{
    const double left = last_began(c) + c->options->every_s - (double)time(NULL);
    return left > 0 && left <= c->options->every_s ? left : 0;
}

/* The last run takes its own time, each before it an interval. Before the first run its own time is
 * unknown. */
static void say_plan(const calibration *c, const size_t count[2])
{
    const size_t left = (size_t)c->options->runs - most_of(count);
    const double each_s = fmax(c->options->every_s, c->run_s);
    const double wait_s = seconds_to_next(c) + (double)(left - 1) * each_s + c->run_s;
    char time[64] = "";
    if (wait_s >= 120)
        snprintf(time, sizeof time, " %.0f min", wait_s / 60);
    else
        snprintf(time, sizeof time, " %.0f s", ceil(wait_s));
    cli_note("calibration: %zu idle and %zu busy runs of %lld; %zu left, %s%s; "
             "Ctrl-C keeps those that ended, and a second call goes on",
             count[0], count[1], (long long)c->options->runs, left,
             c->run_s > 0 ? "in about" : "in at least", time);
}

/* Waits until the next run is due, or the user stops it. */
static void wait_for_next(const calibration *c)
{
    const struct timespec moment = {0, 200000000};
    while (seconds_to_next(c) > 0 && !job_interrupted())
        nanosleep(&moment, NULL);
}

static bn_code run_all(calibration *c, findings *f, bn_status *st)
{
    const size_t wanted = (size_t)c->options->runs;
    bn_code code = count_runs(c, f, st);
    while (code == BN_OK && most_of(f->count) < wanted) {
        say_plan(c, f->count);
        wait_for_next(c);
        c->number = 0;
        if (job_interrupted())
            return bn_fail(st, BN_CANCELLED, "interrupted");
        code = measure_run(c, st);
        if (code == BN_OK)
            code = count_runs(c, f, st);
    }
    return code;
}

/* ---- the command -------------------------------------------------------------------------- */

/* Makes the members of model WHICH out of the matrix of the options. */
static bn_code make_members(calibration *c, job_matrix *matrix, size_t which, bn_status *st)
{
    bn_text notes = {0};
    size_t count = 0;
    job_experiment *list = NULL;
    job_matrix_set(matrix, RES_AXIS_MODEL, models[which]);
    job_matrix_set(matrix, RES_AXIS_VARIANT, "small");
    job_matrix_set(matrix, RES_AXIS_PHASE, "infer");
    matrix->how.device_time = "none";
    bn_code code = job_matrix_expand(matrix, &list, &count, &notes, st);
    bn_text_free(&notes);
    if (code != BN_OK)
        return code;
    c->members[which] = bn_zalloc(MEMBERS, sizeof *list);
    c->counts[which] = which == 0 ? MEMBERS : MEMBERS - 1;
    for (size_t i = 0; i < c->counts[which]; i++) {
        c->members[which][i] = list[0];
        snprintf(c->members[which][i].what.mode, sizeof list[0].what.mode, "%s",
                 i == 1 ? "capture" : "lazy");
        c->members[which][i].how.store = c->store;
    }
    free(list);
    return job_experiments_check(c->members[which], c->counts[which], st);
}

/* The digest of the runtime's file, by which earlier runs are known; "" where it is not to be
 * known. */
static void find_build(calibration *c)
{
    char path[PATH_MAX];
    bn_status st = {.code = BN_OK};
    json_t *host = job_host_describe();
    const char *name = json_string_value(json_object_get(host, "hostname"));
    if (job_plugin_find(&c->members[0][0].what, path, &st) != BN_OK || !path[0] ||
        bn_file_sha256(path, c->sha256, &st) != BN_OK)
        c->sha256[0] = '\0';
    snprintf(c->machine, sizeof c->machine, "%s", name ? name : "");
    json_decref(host);
}

/* The --runs with which a further call gives state BUSY enough runs, if these are of that state;
 * 0: it has enough, or there is none. */
static size_t next_runs(const findings *f, int busy)
{
    const size_t count = f->count[busy];
    return count > 0 && count < RES_CALIBRATION_FEWEST
               ? most_of(f->count) + RES_CALIBRATION_FEWEST - count
               : 0;
}

static json_t *result_json(const findings *f)
{
    json_t *object = json_object(), *noted = json_array();
    for (int busy = 0; busy < 2; busy++) {
        const size_t next = next_runs(f, busy);
        json_object_set_new(
            object, states[busy],
            json_pack("{sI so sI so}", "runs", (json_int_t)f->count[busy], "deviation",
                      f->drift[busy].deviation > 0 ? json_real(f->drift[busy].deviation)
                                                   : json_null(),
                      "near", (json_int_t)f->near[busy], "next_runs",
                      next > 0 ? json_integer((json_int_t)next) : json_null()));
    }
    if (f->near[0] + f->near[1] > 0)
        json_array_append_new(noted, json_string("near-runs"));
    if (next_runs(f, 0) + next_runs(f, 1) > 0)
        json_array_append_new(noted, json_string("too-few-runs"));
    json_object_set_new(object, "noted", noted);
    return object;
}

static void print_result(const calibration *c, const findings *f)
{
    if (strcmp(cli_format(&c->options->output), "json") == 0) {
        json_t *object = result_json(f);
        cli_json(object);
        json_decref(object);
        return;
    }
    for (int busy = 0; busy < 2; busy++) {
        if (f->drift[busy].deviation > 0)
            cli_tell("%s: standard deviation between runs (tau) %.2f %%, of %zu runs; tables of "
                     "records made in %s from now on use it",
                     states[busy], 100 * f->drift[busy].deviation, f->count[busy],
                     c->options->matrix.how.store);
        else if (f->count[busy] > 0)
            cli_tell("%s: %zu of at least %d runs; the same command with --runs %zu goes on, while "
                     "the machine is %s",
                     states[busy], f->count[busy], RES_CALIBRATION_FEWEST, next_runs(f, busy),
                     states[busy]);
    }
    if (f->near[0] + f->near[1] > 0)
        cli_tell(
            "runs that began within %.0f minutes of the one before: %zu; over hours tau may be "
            "larger",
            RES_LEVEL_S / 60, f->near[0] + f->near[1]);
}

static bn_code calibrate(calibration *c, job_matrix *matrix, findings *f, bn_status *st)
{
    bn_code code = job_store_ready(matrix->how.store, st);
    for (size_t m = 0; m < MODELS && code == BN_OK; m++)
        code = make_members(c, matrix, m, st);
    if (code != BN_OK)
        return code;
    find_build(c);
    c->planned = MODELS * (size_t)matrix->how.processes;
    job_supervise_begin();
    return run_all(c, f, st);
}

static int run(void *options, const cli_call *call)
{
    calibrate_options *o = options;
    calibration c = {.options = o};
    bn_status st = {.code = BN_OK};
    findings f = {.count = {0, 0}};
    (void)call;
    if ((size_t)snprintf(c.store, sizeof c.store, "%s/" RES_CALIBRATION_FOLDER,
                         o->matrix.how.store) >= sizeof c.store)
        bn_fail(&st, BN_INVALID, "--store: the name is too long");
    else
        (void)calibrate(&c, &o->matrix, &f, &st);
    for (size_t m = 0; m < MODELS; m++)
        free(c.members[m]);
    if (st.code == BN_CANCELLED || job_interrupted()) {
        cli_say("bench: interrupted; %zu idle and %zu busy runs are kept, and the same command "
                "goes on",
                f.count[0], f.count[1]);
        return CLI_EXIT_INTERRUPTED;
    }
    if (st.code != BN_OK)
        return (int)cli_complain(&st);
    print_result(&c, &f);
    return CLI_EXIT_OK;
}

const cli_command command_calibrate = {
    .name = "calibrate",
    .usage = "bench calibrate [--store DIR] [--runtime NAME] [--every TIME] [--runs N]",
    .summary = "measure how far ratios differ from run to run on this machine",
    .section = JOB_SECTION_MEASURE,
    .size = sizeof(calibrate_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table, .offset = AT(matrix), .rows = JOB_AXIS_BIT(RUNTIME)},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD | JOB_ABOUT_LOOP,
                .rows = JOB_MEASURE_BIT(processes) | JOB_MEASURE_BIT(store),
                .without = JOB_MEASURE_BIT(device_time)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_VERBOSE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
};
