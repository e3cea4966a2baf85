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
     .text = "runs of an idle machine, or of a busy one, until it is calibrated"},
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

/* How many runs there are of an idle machine and of a busy one, and what they show. Before the
 * first process it is unknown which build the runtime is, and nothing counts. */
static bn_code count_runs(const calibration *c, size_t count[2], res_run_drift drift[2],
                          bn_status *st)
{
    json_t *runs;
    bn_code code = res_calibration_read(c->options->matrix.how.store, &runs, st);
    for (int busy = 0; busy < 2 && code == BN_OK; busy++)
        count[busy] = res_calibration_drift(runs, c->sha256, c->machine, busy, &drift[busy]);
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

/* Waits until the next run is due, or the user stops it. A clock that was set back does not make it
 * wait longer than one interval. */
static void wait_for_next(const calibration *c)
{
    const double due = last_began(c) + c->options->every_s;
    const struct timespec moment = {0, 200000000};
    for (double left = due - (double)time(NULL); left > 0 && !job_interrupted();
         left = due - (double)time(NULL)) {
        if (left > c->options->every_s)
            return;
        nanosleep(&moment, NULL);
    }
}

static void say_plan(const calibration *c, const size_t count[2])
{
    const size_t most = count[0] > count[1] ? count[0] : count[1];
    const size_t left = (size_t)c->options->runs - most;
    const double each_s = fmax(c->options->every_s, c->run_s);
    cli_note("calibration: %zu idle and %zu busy runs of %lld; %zu more take about %.0f min; "
             "Ctrl-C keeps those that ended, and a second call goes on",
             count[0], count[1], (long long)c->options->runs, left,
             ceil((double)left * each_s / 60));
}

static bn_code run_all(calibration *c, size_t count[2], res_run_drift drift[2], bn_status *st)
{
    const size_t wanted = (size_t)c->options->runs;
    bn_code code = count_runs(c, count, drift, st);
    while (code == BN_OK && count[0] < wanted && count[1] < wanted) {
        say_plan(c, count);
        wait_for_next(c);
        c->number = 0;
        if (job_interrupted())
            return bn_fail(st, BN_CANCELLED, "interrupted");
        code = measure_run(c, st);
        if (code == BN_OK)
            code = count_runs(c, count, drift, st);
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

static json_t *result_json(const size_t count[2], const res_run_drift drift[2])
{
    static const char *const names[] = {"idle", "busy"};
    json_t *object = json_object();
    for (int busy = 0; busy < 2; busy++)
        json_object_set_new(
            object, names[busy],
            json_pack("{sI so}", "runs", (json_int_t)count[busy], "deviation",
                      drift[busy].deviation > 0 ? json_real(drift[busy].deviation) : json_null()));
    return object;
}

static void print_result(const calibration *c, const size_t count[2], const res_run_drift drift[2])
{
    static const char *const names[] = {"idle", "busy"};
    if (strcmp(cli_format(&c->options->output), "json") == 0) {
        json_t *object = result_json(count, drift);
        cli_json(object);
        json_decref(object);
        return;
    }
    for (int busy = 0; busy < 2; busy++) {
        if (drift[busy].deviation > 0)
            cli_tell("%s: standard deviation between runs %.2f %% (%zu runs); records made in %s "
                     "from now on have it",
                     names[busy], 100 * drift[busy].deviation, count[busy],
                     c->options->matrix.how.store);
        else if (count[busy] > 0)
            cli_tell("%s: %zu of at least %d runs", names[busy], count[busy],
                     RES_CALIBRATION_FEWEST);
    }
}

static bn_code calibrate(calibration *c, job_matrix *matrix, size_t count[2],
                         res_run_drift drift[2], bn_status *st)
{
    bn_code code = job_store_ready(matrix->how.store, st);
    for (size_t m = 0; m < MODELS && code == BN_OK; m++)
        code = make_members(c, matrix, m, st);
    if (code != BN_OK)
        return code;
    find_build(c);
    c->planned = MODELS * (size_t)matrix->how.processes;
    job_supervise_begin();
    return run_all(c, count, drift, st);
}

static int run(void *options, const cli_call *call)
{
    calibrate_options *o = options;
    calibration c = {.options = o};
    bn_status st = {.code = BN_OK};
    size_t count[2] = {0, 0};
    res_run_drift drift[2] = {{0, 0}, {0, 0}};
    (void)call;
    if (o->matrix.how.processes == 0)
        o->matrix.how.processes = 8;
    if (o->matrix.how.processes < RES_LEAST_PROCESSES)
        bn_fail(&st, BN_INVALID, "--processes: a run needs %d at least", RES_LEAST_PROCESSES);
    else if ((size_t)snprintf(c.store, sizeof c.store, "%s/" RES_CALIBRATION_FOLDER,
                              o->matrix.how.store) >= sizeof c.store)
        bn_fail(&st, BN_INVALID, "--store: the name is too long");
    else
        (void)calibrate(&c, &o->matrix, count, drift, &st);
    for (size_t m = 0; m < MODELS; m++)
        free(c.members[m]);
    if (st.code == BN_CANCELLED || job_interrupted()) {
        cli_say("bench: interrupted; %zu idle and %zu busy runs are kept", count[0], count[1]);
        return CLI_EXIT_INTERRUPTED;
    }
    if (st.code != BN_OK)
        return (int)cli_complain(&st);
    print_result(&c, count, drift);
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
