/*
 * replay_command.c - bench replay of a recording: on each runtime its step is measured in three
 * variants, which take turns in the same processes: executions back to back, each awaited, and with
 * the host's time.
 */
#include "harness/replay/replay_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct replay_state {
    const job_matrix *matrix;
    const char *estimates; /* a file of times, or NULL */
    const cli_output *output;
    res_format format;
    job_step step;
    job_experiment *list; /* of each runtime its variants, in their order */
    replay_result *results;
    size_t count; /* runtimes */
    job_cache cache;
    cli_exit worst;
    bool stop;      /* further processes would fail alike */
    bn_status last; /* failure that was reported */
} replay_state;

bool replay_is_recording(const char *path)
{
    struct stat info;
    return strchr(path, '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* ---- the experiments ---------------------------------------------------------------------- */

/* Reads the recording and makes the experiments. */
static bn_code make_list(replay_state *r, bn_status *st)
{
    job_matrix *m = bn_alloc(sizeof *m); /* too large for the stack */
    bn_text notes = {0};
    size_t count = 0;
    *m = *r->matrix;
    job_matrix_set(m, RES_AXIS_MODE, "all"); /* of recorded steps */
    bn_code code = job_step_read(&m->recorded, &r->step, st);
    if (code == BN_OK && r->estimates)
        code = replay_take_estimates(r->step.request, r->estimates, st);
    m->request = r->step.request;
    if (code == BN_OK)
        code = job_matrix_expand(m, &r->list, &count, &notes, st);
    if (code == BN_OK)
        code = job_experiments_check(r->list, count, st);
    r->count = count / REPLAY_VARIANTS;
    bn_text_free(&notes);
    free(m);
    return code;
}

static void make_results(replay_state *r, size_t processes)
{
    r->results = bn_zalloc(r->count, sizeof *r->results);
    for (size_t i = 0; i < r->count; i++) {
        r->results[i].experiment = &r->list[REPLAY_VARIANTS * i];
        for (size_t v = 0; v < REPLAY_VARIANTS; v++)
            r->results[i].records[v] = bn_zalloc(processes, sizeof(res_record *));
    }
}

/* ---- measuring --------------------------------------------------------------------------- */

/* Moves E's record, KEPT, to RECORDS, and reports its failures. */
static void collect(replay_state *r, const job_experiment *e, const job_kept *kept,
                    res_record **records, size_t *count)
{
    char title[256];
    job_experiment_title(e, title, sizeof title);
    if (kept->record)
        records[(*count)++] = kept->record;
    /* All variants fail for the same reason where a program does. */
    const bool reported = strcmp(kept->failure.message, r->last.message) == 0;
    if (kept->failure.code != BN_OK && kept->failure.code != BN_CANCELLED && !r->stop &&
        !reported) {
        r->last = kept->failure;
        const cli_exit code =
            kept->usage ? cli_complain(&kept->failure) : cli_complain_of(title, &kept->failure);
        r->worst = code > r->worst ? code : r->worst;
    }
    if (kept->store.code != BN_OK && !r->stop) {
        const cli_exit code = cli_complain_of(title, &kept->store);
        r->worst = code > r->worst ? code : r->worst;
    }
    r->stop = r->stop || kept->usage || kept->store.code != BN_OK;
}

/* Process number PROCESS of runtime INDEX. */
static void run_process(replay_state *r, job_group *group, size_t index, int process, size_t number,
                        size_t of)
{
    job_kept *kept = bn_zalloc(REPLAY_VARIANTS, sizeof *kept);
    job_experiment list[REPLAY_VARIANTS];
    replay_result *result = &r->results[index];
    char title[300], text[400];
    memcpy(list, &r->list[REPLAY_VARIANTS * index], sizeof list);
    job_cache_lend(&r->cache, list, REPLAY_VARIANTS, process == 1);
    job_group_title(list, REPLAY_VARIANTS, title, sizeof title);
    snprintf(text, sizeof text, "%s, process %d of %d", title, process, group->processes);
    const job_order job = {NULL,
                           text,
                           number,
                           of,
                           list[0].how.timeout,
                           r->output->verbose,
                           process < group->processes};
    job_measure_and_keep(group, process, list, REPLAY_VARIANTS, &job, kept);
    for (size_t v = 0; v < REPLAY_VARIANTS; v++)
        collect(r, &list[v], &kept[v], result->records[v], &result->counts[v]);
    free(kept);
}

/* A process of each runtime, then the next of each: a drift of the machine hits all alike. */
static void run_all(replay_state *r, int processes)
{
    job_group *groups = bn_zalloc(r->count, sizeof *groups);
    size_t number = 0;
    for (size_t i = 0; i < r->count; i++) {
        job_group_begin(&groups[i], processes, 0);
        groups[i].separate = r->matrix->how.separate;
    }
    for (int process = 1; process <= processes; process++)
        for (size_t i = 0; i < r->count && !job_interrupted() && !r->stop; i++)
            run_process(r, &groups[i], i, process, ++number, r->count * (size_t)processes);
    free(groups);
}

static void show_plan(const replay_state *r, int processes)
{
    char what[RES_TEXT + 16];
    job_group plan;
    job_group_begin(&plan, processes, 0);
    plan.separate = r->matrix->how.separate;
    snprintf(what, sizeof what, "replay of %s: ", r->step.name);
    if (!r->output->quiet)
        job_progress_tell(what, &plan, r->list, r->count * REPLAY_VARIANTS, NULL);
}

static cli_exit measure(replay_state *r, int processes)
{
    bn_status st = {.code = BN_OK};
    job_supervise_begin();
    if (job_cache_begin(r->list[0].how.store, &r->cache, &st) != BN_OK)
        return cli_complain(&st);
    show_plan(r, processes);
    run_all(r, processes);
    job_cache_end(&r->cache);
    cli_line_clear();
    replay_print(&r->step, r->results, r->count, r->format, r->output);
    return job_interrupted() ? CLI_EXIT_INTERRUPTED : r->worst;
}

static void end(replay_state *r)
{
    for (size_t i = 0; r->results && i < r->count; i++) {
        replay_result *result = &r->results[i];
        for (size_t v = 0; v < REPLAY_VARIANTS; v++) {
            for (size_t k = 0; k < result->counts[v]; k++)
                res_record_free(result->records[v][k]);
            free(result->records[v]);
        }
    }
    free(r->results);
    free(r->list);
    job_step_free(&r->step);
}

int replay_run(const job_matrix *matrix, const char *estimates, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    replay_state r = {.matrix = matrix, .estimates = estimates, .output = output};
    const int processes =
        matrix->how.processes > 0 ? (int)matrix->how.processes : JOB_USUAL_PROCESSES;
    cli_exit code;
    if (res_format_parse(cli_format(output), &r.format, &st) != BN_OK ||
        make_list(&r, &st) != BN_OK) {
        code = cli_complain(&st);
    } else {
        make_results(&r, (size_t)processes);
        code = measure(&r, processes);
    }
    end(&r);
    return (int)code;
}
