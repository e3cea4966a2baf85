/*
 * run.c - bench run: measures groups of experiments in several processes each, records failures,
 * too, and prints tables of the records; bench table: tables of a store.
 */
#include "harness/commands/debug_run_priv.h"
#include "harness/commands/graph_report_priv.h"
#include "harness/commands/metrics_priv.h"
#include "harness/commands/selection_priv.h"
#include "harness/commands/timeline_priv.h"
#include "harness/jobs/jobs.h"
#include "results/tables/tables.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Experiments that are measured together. */
typedef struct command_group {
    job_group group;
    job_experiment *list;
    size_t count;
    bool failed[JOB_MOST_MEMBERS]; /* not to be tried again in further processes */
} command_group;

/* The progress and the results of a run. */
typedef struct run_state {
    const cli_output *output;
    const command_metering *metering;
    res_format format;
    res_record **records;
    size_t count;
    cli_exit worst;
    bool several;    /* experiments */
    bool separate;   /* --separate */
    bool store_lost; /* a record could not be written */
    bool no_report;  /* the metrics report could not be written, and is not tried again */
    bool refused;    /* the runtime refused its options */
    job_cache cache; /* of executables, for this run */
    size_t planned;  /* workers */
    size_t number;   /* of workers so far */
    size_t reported; /* records that the metrics report has */
    size_t expected; /* records */
    job_spent spent; /* by all processes that ran */
    /* [JOB_MOST_MEMBERS]: the running group, and its results. */
    job_experiment *members;
    job_kept *kept;
    job_pace *paces; /* of each group */
} run_state;

static void print_plain(const char *text)
{
    cli_out("%s", text);
}

/* Prints a table by PRINT; in HTML as a page of its own. */
static void print_page(const bn_text *text, res_format format, const char *title,
                       void (*print)(const char *text))
{
    bn_text page = {0};
    if (format == RES_TABLE_HTML && text->data)
        res_put_page(&page, title, text->data);
    const bn_text *chosen = format == RES_TABLE_HTML ? &page : text;
    if (chosen->data)
        print(chosen->data);
    bn_text_free(&page);
}

static cli_exit worse(cli_exit a, cli_exit b)
{
    return a > b ? a : b;
}

/* Adds the result of one experiment to the run; false where it failed. */
static bool add_result(run_state *run, const job_experiment *e, const job_kept *kept)
{
    char title[256];
    /* A lost store or a refused option ends the run, and is reported once. */
    const bool reported = run->store_lost;
    job_experiment_title(e, title, sizeof title);
    if (kept->store.code != BN_OK) {
        run->store_lost = true;
        if (!reported && strcmp(kept->store.message, kept->failure.message) != 0)
            run->worst = worse(run->worst, cli_complain_of(title, &kept->store));
    }
    if (kept->usage) {
        if (!run->refused)
            run->worst = cli_complain(&kept->failure);
        run->refused = true;
    } else if (!reported && kept->failure.code != BN_OK && kept->failure.code != BN_CANCELLED) {
        run->worst = worse(run->worst, cli_complain_of(title, &kept->failure));
    }
    if (kept->record)
        run->records[run->count++] = kept->record;
    return kept->failure.code == BN_OK;
}

/* Runs process number PROCESS of one group, with those of its experiments that have not failed yet.
 * False: all have, and nothing ran. */
static bool run_process(run_state *run, command_group *g, int process)
{
    char title[400], text[512];
    job_experiment *list = run->members;
    size_t place[JOB_MOST_MEMBERS], count = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (g->failed[i])
            continue;
        list[count] = g->list[i];
        place[count++] = i;
    }
    if (count == 0)
        return false;
    job_cache_lend(&run->cache, list, count, process == 1);
    job_group_title(list, count, title, sizeof title);
    snprintf(text, sizeof text, "%s, process %d of %d", title, process, g->group.processes);
    const bool more = process < g->group.processes;
    const job_order job = {
        NULL, text, run->number + 1, run->planned, list[0].how.timeout, run->output->verbose, more};
    job_measure_and_keep(&g->group, process, list, count, &job, run->kept);
    if (process == 1)
        job_group_learn(&g->group, g->list, g->count, run->kept);
    for (size_t i = 0; i < count; i++)
        g->failed[place[i]] = !add_result(run, &list[i], &run->kept[i]);
    return true;
}

/* Whether any front end other than bench ran. */
static bool has_frameworks(const run_state *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->records[i]->status == BN_OK && job_is_framework(&run->records[i]->experiment))
            return true;
    return false;
}

static void print_results(const run_state *run)
{
    bn_text text = {0};
    if (run->format == RES_TABLE_JSON) {
        json_t *all = json_array();
        for (size_t i = 0; i < run->count; i++)
            json_array_append_new(all, res_record_to_json(run->records[i]));
        cli_json(all);
        json_decref(all);
        return;
    }
    const bool one = run->count == 1 || !run->several;
    /* The first process compiled, so it is the one to show in full. */
    for (size_t i = 0; i < run->count && (run->output->verbose || (one && i == 0)); i++) {
        res_table_record(run->records[i], run->format, &text);
        bn_text_putc(&text, '\n');
    }
    if (run->count > 1) {
        res_collection all = {.records = run->records, .count = run->count};
        res_table_speedup(&all, run->format, &text);
        /* A CSV file is one table. */
        if (run->format != RES_TABLE_CSV && has_frameworks(run)) {
            bn_text_putc(&text, '\n');
            res_table_costs(&all, run->format, &text);
        }
    }
    print_page(&text, run->format, "bench", print_plain);
    bn_text_free(&text);
}

/* Writes the metrics report, unless it has all records already. */
static void write_metrics(run_state *run)
{
    bn_status st = {.code = BN_OK};
    if (run->no_report || (run->count > 0 && run->count == run->reported))
        return;
    run->reported = run->count;
    if (command_metrics_write(run->metering, run->records, run->count, &st) == BN_OK)
        return;
    run->no_report = true;
    run->worst = worse(run->worst, cli_complain(&st));
}

/* Arranges LIST into groups; *COUNT of them (malloc). */
static command_group *make_groups(job_experiment *list, size_t of, int processes, bool separate,
                                  size_t *count)
{
    *count = job_groups_arrange(list, of);
    command_group *groups = bn_zalloc(*count + 1, sizeof *groups);
    size_t first = 0;
    for (size_t i = 0; i < *count; i++) {
        command_group *g = &groups[i];
        g->list = &list[first];
        g->count = job_group_end(list, of, first) - first;
        job_group_begin(&g->group, processes, 0);
        g->group.separate = separate;
        snprintf(g->group.why_separate, sizeof g->group.why_separate, "%s",
                 separate ? "--separate" : "");
        first += g->count;
    }
    return groups;
}

/* Workers for the COUNT GROUPS, by the processes that they have so far. */
static size_t count_workers(const command_group *groups, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum +=
            (size_t)groups[i].group.processes * job_group_workers(groups[i].list, groups[i].count);
    return sum;
}

static int most_processes(const command_group *groups, size_t count)
{
    int most = 0;
    for (size_t i = 0; i < count; i++)
        most = groups[i].group.processes > most ? groups[i].group.processes : most;
    return most;
}

/* Process number PROCESS of group WHICH of the COUNT GROUPS. */
static void run_turn(run_state *run, command_group *groups, size_t count, size_t which, int process)
{
    command_group *g = &groups[which];
    const size_t before = run->number, every = (size_t)run->metering->every;
    const uint64_t start = bn_now_ns();
    run->planned = count_workers(groups, count);
    job_progress_explain("by the length of steps and the failures so far (--processes)");
    if (!run->output->quiet)
        job_pace_expect(run->paces, count, which);
    if (run_process(run, g, process))
        job_pace_ended(&run->paces[which], (double)(bn_now_ns() - start) / 1e9,
                       g->group.processes - process);
    else
        run->paces[which].processes = 0;
    run->number += job_group_workers(g->list, g->count);
    if (every > 0 && run->number / every > before / every)
        write_metrics(run);
}

/* Runs LIST: a process of each group, then the next process of each, in a random order. Drift of
 * the machine then affects all of them alike, and an interrupted run has some processes of each. */
static void run_groups(run_state *run, job_experiment *list, size_t of, int processes)
{
    size_t count = 0;
    command_group *groups = make_groups(list, of, processes, run->separate, &count);
    size_t *order = bn_zalloc(count + 1, sizeof *order);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    run->kept = bn_zalloc(JOB_MOST_MEMBERS, sizeof *run->kept);
    run->members = bn_zalloc(JOB_MOST_MEMBERS, sizeof *run->members);
    run->paces = bn_zalloc(count + 1, sizeof *run->paces);
    gsl_rng_set(rng, (unsigned long)bn_now_ns());
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    if (!run->output->quiet)
        job_progress_tell("", &groups[0].group, list, of, run->paces);
    for (int process = 1; process <= most_processes(groups, count); process++) {
        if (process > 1)
            gsl_ran_shuffle(rng, order, count, sizeof *order);
        for (size_t i = 0; i < count && !job_interrupted() && !run->store_lost && !run->refused;
             i++)
            if (process <= groups[order[i]].group.processes)
                run_turn(run, groups, count, order[i], process);
    }
    run->planned = count_workers(groups, count);
    for (size_t i = 0; i < count; i++) {
        run->expected += (size_t)groups[i].group.processes * groups[i].count;
        job_spent_add(&run->spent, &groups[i].group.spent);
    }
    gsl_rng_free(rng);
    free(run->kept);
    free(run->members);
    free(run->paces);
    free(order);
    free(groups);
}

/* Where the time of the run went. */
static void print_spent(const run_state *run)
{
    bn_text line = {0};
    job_spent_words(&run->spent, &line);
    if (line.data && run->spent.processes > 0)
        cli_note("[%zu/%zu] %s", run->spent.processes, run->planned, line.data);
    bn_text_free(&line);
}

/* The finding that costs most, if there is one, in formats for people. */
static void print_first_finding(const run_state *run, const char *store)
{
    bn_text text = {0};
    const res_collection all = {.records = run->records, .count = run->count};
    const bool read = res_format_is_text(run->format) || run->format == RES_TABLE_MARKDOWN;
    if (read && run->count > 0)
        res_put_first_finding(&all, &text);
    if (text.length > 0)
        cli_note("[%zu/%zu] doctor: %s. bench doctor %s says more", run->spent.processes,
                 run->planned, text.data, store);
    bn_text_free(&text);
}

/* Suggests commands for the records. */
static void print_next(const run_state *run, const char *store)
{
    const size_t done = run->spent.processes, of = run->planned;
    cli_note("[%zu/%zu] records: %s", done, of, store);
    cli_note_command("[%zu/%zu] next: bench table --wide --store %s", done, of, store);
    if (has_frameworks(run))
        cli_note_command("[%zu/%zu] or: bench table --table costs --store %s", done, of, store);
    cli_note_command("[%zu/%zu] or: bench report --store %s --output page.html", done, of, store);
}

/* Runs all of LIST and prints the tables; returns the exit code. */
static cli_exit run_all(run_state *run, job_experiment *list, size_t count, int processes)
{
    const char *store = list[0].how.store;
    bn_status st = {.code = BN_OK};
    job_supervise_begin();
    if (job_cache_begin(store, &run->cache, &st) == BN_OK)
        run_groups(run, list, count, processes);
    else
        run->worst = cli_complain(&st);
    job_cache_end(&run->cache);
    cli_line_clear();
    print_spent(run);
    print_results(run);
    write_metrics(run);
    if (!job_interrupted()) {
        if (!run->store_lost)
            print_first_finding(run, store);
        if (run->count > 0 && !run->store_lost)
            print_next(run, store);
        return run->worst;
    }
    cli_say("bench: interrupted; %s has %zu of %zu records", store, run->count, run->expected);
    return CLI_EXIT_INTERRUPTED;
}

/* Writes the index of the compiled graphs. */
static cli_exit report_graphs(const run_state *run, const job_matrix *matrix)
{
    bn_status st = {.code = BN_OK};
    size_t missing = 0;
    if (command_graph_report(matrix->how.graph_report, run->records, run->count, &missing, &st) !=
        BN_OK)
        return cli_complain(&st);
    cli_note("[%zu/%zu] graphs: %s/index.txt; next: bench diff A B", run->spent.processes,
             run->planned, matrix->how.graph_report);
    /* Programs of --program may be byte code, which has no text here. */
    if (missing == 0 || matrix->program)
        return CLI_EXIT_OK;
    cli_say("bench: %s lacks the texts of %zu graphs; index.txt says why", matrix->how.graph_report,
            missing);
    return CLI_EXIT_ENVIRONMENT;
}

/* Makes the folder of --recordings. */
static bn_code begin_recordings(const job_matrix *matrix, const job_experiment *list, size_t count,
                                bn_status *st)
{
    bool frameworks = false;
    for (size_t i = 0; i < count; i++)
        frameworks = frameworks || job_is_framework(&list[i].what);
    if (!matrix->how.recordings)
        return BN_OK;
    if (!frameworks)
        return bn_fail(st, BN_INVALID,
                       "--recordings: only bench's own steps run, which are not recorded; name "
                       "others with --front-end");
    return bn_make_folder(matrix->how.recordings, st);
}

/* Writes the timeline that workers left in FOLDER. CODE is the run's own. */
static cli_exit report_timeline(const run_state *run, const job_matrix *matrix, const char *folder,
                                cli_exit code)
{
    char prefix[64];
    bn_status st = {.code = BN_OK};
    snprintf(prefix, sizeof prefix, "[%zu/%zu]", run->spent.processes, run->planned);
    if (command_timeline_write(matrix, folder, prefix, &st) == BN_OK)
        return code;
    return worse(code, cli_complain(&st));
}

/* Writes the folder of a debug run of the COUNT experiments LIST. */
static cli_exit write_debug_run(const run_state *run, const job_experiment *list, size_t count)
{
    bn_status st = {.code = BN_OK};
    const command_debug_run what = {list,       count,       run->records,
                                    run->count, &run->spent, job_interrupted()};
    if (command_debug_write(run->metering, &what, &st) != BN_OK)
        return cli_complain(&st);
    cli_note("[%zu/%zu] reports: %s/index.html", run->spent.processes, run->planned,
             run->metering->debug);
    return job_interrupted() ? CLI_EXIT_INTERRUPTED : CLI_EXIT_OK;
}

/* Further requested outputs of the COUNT experiments LIST. CODE is the run's own. */
static cli_exit write_further_outputs(const run_state *run, const job_matrix *matrix,
                                      const job_experiment *list, size_t count, cli_exit code)
{
    if (matrix->how.recordings)
        cli_note("[%zu/%zu] recordings: %s; next: bench steps DIR, of one of its folders",
                 run->spent.processes, run->planned, matrix->how.recordings);
    if (matrix->how.graph_report && run->count > 0)
        code = worse(code, report_graphs(run, matrix));
    if (run->metering->debug)
        code = worse(code, write_debug_run(run, list, count));
    return code;
}

/* Whether the output files may be written. */
static bn_code check_outputs(const job_matrix *matrix, const cli_output *output, bn_status *st)
{
    bn_code code = cli_check_new(output, "--timeline", matrix->how.timeline, st);
    for (size_t i = 0; i < matrix->outputs.count && code == BN_OK; i++)
        code = cli_check_new(output, "--output", matrix->outputs.list[i], st);
    return code;
}

static int measure(job_matrix *matrix, const cli_output *output, const command_metering *metering)
{
    bn_status st = {.code = BN_OK};
    bn_text notes = {0};
    command_debug_paths paths = {.graphs = {0}};
    job_experiment *list = NULL;
    size_t count = 0;
    char *timeline = NULL; /* folder for those of workers */
    run_state run = {.output = output, .metering = metering};
    cli_exit code;
    const int processes = (int)matrix->how.processes;
    const size_t most = processes > 0 ? (size_t)processes : JOB_SHORT_PROCESSES;
    if (job_matrix_request(matrix, &matrix->request, &st) != BN_OK ||
        res_format_parse(cli_format(output), &run.format, &st) != BN_OK ||
        command_metrics_check(metering, output, &st) != BN_OK ||
        check_outputs(matrix, output, &st) != BN_OK ||
        command_debug_begin(metering, output->force, matrix, &paths, &st) != BN_OK ||
        job_matrix_expand(matrix, &list, &count, &notes, &st) != BN_OK ||
        job_experiments_check(list, count, &st) != BN_OK ||
        begin_recordings(matrix, list, count, &st) != BN_OK ||
        (matrix->how.graph_report && bn_make_folder(matrix->how.graph_report, &st) != BN_OK)) {
        code = cli_complain(&st);
        goto out;
    }
    if (notes.length)
        cli_err("%s", notes.data);
    run.records = calloc(count * most, sizeof(res_record *));
    if (!run.records) {
        bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for %zu records", count * most);
        code = cli_complain(&st);
        goto out;
    }
    if (command_timeline_begin(matrix, list, count, &timeline, &st) != BN_OK ||
        command_debug_clear(metering, &st) != BN_OK) {
        code = cli_complain(&st);
        goto out;
    }
    run.several = count > 1;
    run.separate = matrix->how.separate;
    code = run_all(&run, list, count, processes);
    code = report_timeline(&run, matrix, timeline, code);
    code = write_further_outputs(&run, matrix, list, count, code);
out:
    command_timeline_end(timeline);
    for (size_t i = 0; run.records && i < run.count; i++)
        res_record_free(run.records[i]);
    free(run.records);
    free(list);
    bn_text_free(&notes);
    json_decref(matrix->request);
    matrix->request = NULL;
    command_debug_end(metering, matrix, &paths);
    return (int)code;
}

/* Whether put_tables omits the estimates. */
static bool omits_estimates(const char *table, res_format format)
{
    const bool people = format != RES_TABLE_CSV && format != RES_TABLE_JSON;
    return strcmp(table, RES_TABLE_ESTIMATES) != 0 && !(people && strcmp(table, "speedup") == 0);
}

/* Appends the table called TABLE. Below the speedup table, which people read, stand the estimates.
 */
static void put_tables(const char *table, const res_collection *all,
                       const res_collection *estimates, bool verbose, res_format format,
                       bn_text *text)
{
    const bool only = strcmp(table, RES_TABLE_ESTIMATES) == 0;
    const bool below = !only && !omits_estimates(table, format) && estimates->count > 0;
    for (size_t i = 0; i < all->count && verbose && format != RES_TABLE_JSON; i++) {
        res_table_record(all->records[i], format, text);
        bn_text_putc(text, '\n');
    }
    if (!only && !(below && all->count == 0))
        res_table(table, all, format, text);
    if (below && text->length > 0)
        bn_text_putc(text, '\n');
    if (only || below)
        res_table_estimates(estimates, format, text);
}

static int show_table(const command_selection *selection, const char *table,
                      const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    res_index index = {0}, part = {0};
    res_collection all = {0}, estimates = {0};
    bn_text text = {0}, wide = {0};
    const bool only = strcmp(table, RES_TABLE_ESTIMATES) == 0;
    bn_code code = res_format_parse(cli_format(output), &format, &st);
    if (code == BN_OK)
        code = res_table_check(table, &st);
    if (code == BN_OK)
        code = command_index_load(selection->store, false, &index, &part, &st);
    if (code == BN_OK)
        code = command_both_read(selection, &index, &part, only ? NULL : &all, &estimates, &st);
    /* A damaged file may have been a measurement or an estimate. */
    size_t damaged = all.damaged_count + estimates.damaged_count;
    if (code == BN_OK && only) {
        job_say_damaged(index.damaged, index.damaged_count);
        damaged += index.damaged_count;
    }
    res_index_free(&part);
    res_index_free(&index);
    if (code != BN_OK) {
        res_collection_free(&all);
        res_collection_free(&estimates);
        return (int)cli_complain(&st);
    }
    job_say_damaged(all.damaged, all.damaged_count);
    job_say_damaged(estimates.damaged, estimates.damaged_count);
    if (omits_estimates(table, format))
        command_say_estimates(estimates.count);
    put_tables(table, &all, &estimates, output->verbose, format, &text);
    if (cli_is_narrow(output) && text.data && cli_is_long(text.data))
        put_tables(table, &all, &estimates, output->verbose, RES_TABLE_TEXT, &wide);
    print_page(cli_page_of(&text, &wide), format, selection->store, cli_show);
    bn_text_free(&wide);
    bn_text_free(&text);
    res_collection_free(&all);
    res_collection_free(&estimates);
    return damaged ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

/* ---- bench run ------------------------------------------------------------------------------ */

typedef struct run_options {
    cli_output output;
    job_matrix matrix;
    command_metering metering;
} run_options;
#define AT(member) offsetof(run_options, member)

static const cli_option run_rows[] = {
    {"metrics", "FILE", CLI_TEXT, AT(metering.file),
     .text = "also write a report of metrics and counters, in the layout of PyTorch/XLA's, or "
             "as JSON if FILE ends in .json; -: to standard output. FILE must not exist; "
             "--force replaces it"},
    {"metrics-every", "N", CLI_NUMBER, AT(metering.every), .fallback = "0",
     .text = "write the report of --metrics also whenever N more processes have ended"},
    {"debug-run", "DIR", CLI_TEXT, AT(metering.debug),
     .text = "also write all reports of the run into DIR, a new or empty folder, with a page that "
             "leads through them, index.html: tables, goodput, findings, recompilations, scopes, "
             "steps, timeline, metrics, graphs"},
    {"debug-every", "N", CLI_NUMBER, AT(metering.debug_every), .fallback = "10", .least = 1,
     .text = "steps.txt of --debug-run has every N-th measured step; its timeline follows "
             "--timeline-every"},
    {"force", NULL, CLI_FLAG, AT(output.force),
     .text = "replace existing output files: those of --debug-run, --timeline, --metrics and "
             "--output"},
};

static int run(void *options, const cli_call *call)
{
    run_options *o = options;
    o->matrix.echo = cli_echo(call->table, o);
    const int code = measure(&o->matrix, &o->output, &o->metering);
    json_decref(o->matrix.echo);
    return code;
}

const cli_command command_run = {
    .name = "run",
    .usage = "bench [run] [OPTIONS]",
    .summary = "measure models in modes on runtimes, write records, print tables",
    .section = JOB_SECTION_MEASURE,
    .also = "benchmark",
    .bare = "model",
    .size = sizeof(run_options),
    .output = AT(output),
    .rows = run_rows,
    .row_count = sizeof run_rows / sizeof *run_rows,
    .groups = {{.table = job_axis_table, .offset = AT(matrix)},
               {.table = job_program_table, .offset = AT(matrix)},
               {.table = job_measure_table, .offset = AT(matrix.how)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_TABLES | CLI_OUT_MAN}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
};
#undef AT

/* ---- bench table ---------------------------------------------------------------------------- */

typedef struct table_options {
    cli_output output;
    command_selection selection;
    const char *table;
} table_options;
#define AT(member) offsetof(table_options, member)

static const cli_option table_rows[] = {
    {"table", "NAME", CLI_TEXT, AT(table), .fallback = "speedup", .values = res_table_names,
     .more = res_table_summaries, .text = ""},
};

static int table(void *options, const cli_call *call)
{
    const table_options *o = options;
    (void)call;
    return show_table(&o->selection, o->table, &o->output);
}

const cli_command command_table = {
    .name = "table",
    .usage = "bench table [--store DIR] [--table NAME] [--model NAME]",
    .summary = "print tables of records: speedups, executions, ledgers, compilation, memory",
    .section = JOB_SECTION_LOOK,
    .also = "show, results",
    .bare = "store",
    .size = sizeof(table_options),
    .output = AT(output),
    .rows = table_rows,
    .row_count = sizeof table_rows / sizeof *table_rows,
    .groups = {{.table = command_selection_table, .offset = AT(selection)},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES}},
    .run = table,
};
