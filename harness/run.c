/*
 * run.c - bench run and bench table: experiments one after the other in their
 * workers, failures as records, tables of what came out.
 */
#define _GNU_SOURCE
#include "harness/harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run has so far. */
typedef struct run_state {
    const hn_options *options;
    res_format format;
    res_record **records;
    size_t count;
    hn_exit worst;
    bool store_lost; /* it takes no records any more */
} run_state;

static void print_text(const bn_text *text)
{
    if (text->data)
        fputs(text->data, stdout);
}

/* A table as a document of its own where its format has such. */
static void print_page(bn_text *text, res_format format, const char *title)
{
    bn_text page = {0};
    if (format == RES_TABLE_HTML && text->data)
        res_put_page(&page, title, text->data);
    print_text(format == RES_TABLE_HTML ? &page : text);
    bn_text_free(&page);
}

static void note_failure(run_state *run, const bn_status *st, const char *title)
{
    hn_progress_clear();
    fprintf(stderr, "bench: %s: %s\n", title, st->message);
    hn_exit code = hn_exit_for(st->code);
    /* A wrong request found by a worker is a failed experiment, not wrong usage
     * of the command, whose words were all in order. */
    if (code == HN_EXIT_USAGE)
        code = HN_EXIT_FAILED;
    if (code > run->worst)
        run->worst = code;
}

/* A worker that could not write its record: the parent writes one, for the same cell of
 * a table as a good one. */
static res_record *failure_record(const hn_experiment *e, const hn_outcome *outcome)
{
    res_record *r = res_record_new();
    if (!r)
        return NULL;
    r->experiment = e->what;
    if (!e->program)
        hn_experiment_resolve(&r->experiment);
    r->status = outcome->status;
    snprintf(r->message, sizeof r->message, "%s", outcome->message);
    r->simulated = hn_simulated_name(e->what.runtime);
    json_decref(r->provenance);
    /* Whoever runs a suite has looked at the runtime's file. */
    const char *sha256 = json_string_value(json_object_get(e->suite, "runtime_sha256"));
    r->provenance =
        json_pack("{so sO* sO* s{ss ss*}}", "host", hn_host_describe(), "options", e->echo, "suite",
                  e->suite, "runtime", "label", e->label, "sha256", sha256);
    return r;
}

bn_code hn_measure_in_worker(const hn_experiment *e, const hn_job *job, res_record **record,
                             bn_status *st)
{
    hn_job own = *job;
    hn_outcome outcome = {0};
    own.request = json_pack("{ss so}", "job", "measure", "experiment", hn_experiment_to_json(e));
    bn_code code = hn_supervise(&own, &outcome, st);
    json_decref(own.request);
    if (code == BN_OK)
        res_store_sweep(e->store, (long)outcome.pid);
    if (code == BN_OK && outcome.status != BN_OK)
        code = bn_fail(st, outcome.status, "%s", outcome.message);
    if (code == BN_OK)
        code = res_store_read(json_string_value(json_object_get(outcome.result, "record")), record,
                              st);
    json_decref(outcome.result);
    return code;
}

/* The parent's record of a failure. A full disk fails worker and parent alike: then it
 * is said once. */
static void keep_failure(const hn_experiment *e, const hn_outcome *outcome, hn_kept *kept)
{
    bn_fail(&kept->failure, outcome->status == BN_OK ? BN_CRASH : outcome->status, "%s",
            outcome->message);
    if (outcome->status == BN_CANCELLED)
        return;
    kept->record = failure_record(e, outcome);
    if (!kept->record || res_store_write(e->store, kept->record, NULL, 0, &kept->store) == BN_OK)
        return;
    if (kept->failure.code == BN_IO || kept->failure.code == kept->store.code)
        kept->failure = kept->store;
}

void hn_measure_and_keep(const hn_experiment *e, const hn_job *job, hn_kept *kept)
{
    hn_job own = *job;
    hn_outcome outcome = {0};
    *kept = (hn_kept){0};
    own.request = json_pack("{ss so}", "job", "measure", "experiment", hn_experiment_to_json(e));
    bn_code code = hn_supervise(&own, &outcome, &kept->failure);
    json_decref(own.request);
    if (code != BN_OK)
        return;
    res_store_sweep(e->store, (long)outcome.pid);
    const char *path = json_string_value(json_object_get(outcome.result, "record"));
    if (!path) {
        keep_failure(e, &outcome, kept);
    } else if (res_store_read(path, &kept->record, &kept->failure) == BN_OK &&
               outcome.status != BN_OK) {
        /* What was written stands, however its worker ended afterwards: the
         * libraries of some plugins break when their process exits. */
        bn_fail(&kept->failure, outcome.status, "%s", outcome.message);
    }
    json_decref(outcome.result);
}

static void run_one(run_state *run, hn_experiment *e, size_t number, size_t of)
{
    char title[256];
    hn_kept kept;
    hn_experiment_title(e, title, sizeof title);
    hn_job job = {NULL, title, number, of, e->timeout, run->options->verbose};
    hn_measure_and_keep(e, &job, &kept);
    if (kept.store.code != BN_OK) {
        /* No further experiment is run for nothing. */
        run->store_lost = true;
        if (strcmp(kept.store.message, kept.failure.message) != 0)
            note_failure(run, &kept.store, title);
    }
    if (kept.failure.code != BN_OK && kept.failure.code != BN_CANCELLED)
        note_failure(run, &kept.failure, title);
    if (kept.record)
        run->records[run->count++] = kept.record;
}

static void print_results(const run_state *run)
{
    bn_text text = {0};
    if (run->format == RES_TABLE_JSON) {
        json_t *all = json_array();
        for (size_t i = 0; i < run->count; i++)
            json_array_append_new(all, res_record_to_json(run->records[i]));
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(all);
        return;
    }
    bool each = run->count == 1 || run->options->verbose;
    for (size_t i = 0; each && i < run->count; i++) {
        res_table_record(run->records[i], run->format, &text);
        if (i + 1 < run->count)
            bn_text_putc(&text, '\n');
    }
    if (run->count > 1) {
        res_collection all = {.records = run->records, .count = run->count};
        if (each)
            bn_text_putc(&text, '\n');
        res_table_speedup(&all, run->format, &text);
    }
    print_page(&text, run->format, "bench");
    bn_text_free(&text);
}

bn_code hn_store_ready(const char *store, bn_status *st)
{
    bn_code code = bn_make_folder(store, st);
    if (code == BN_OK && access(store, W_OK | X_OK) != 0)
        code = bn_fail(st, BN_IO, "%s cannot be written", store);
    if (code != BN_OK)
        return bn_context(st, "store");
    res_store_sweep_old(store);
    return BN_OK;
}

bn_code hn_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st)
{
    bn_code code = rt_plugin_find(runtime, path, size, st);
    /* Variables of the environment are taken at their word. */
    if (code == BN_OK && access(path, R_OK) != 0)
        code = bn_fail_errno(st, errno, "runtime %s: %s", runtime, path);
    return code;
}

bn_code hn_experiments_check(const hn_experiment *list, size_t count, bn_status *st)
{
    bn_code code = hn_store_ready(list[0].store, st);
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        char path[4096];
        if (i == 0 || strcmp(list[i].what.runtime, list[i - 1].what.runtime) != 0)
            code = hn_runtime_ready(list[i].what.runtime, path, sizeof path, st);
    }
    return code == BN_OK ? hn_weights_check(list, count, st) : code;
}

int hn_command_run(const hn_options *options)
{
    bn_status st = {.code = BN_OK};
    bn_text notes = {0};
    hn_experiment *list = NULL;
    size_t count = 0;
    run_state run = {.options = options};
    hn_exit code;
    json_t *echo = hn_options_echo(HN_CMD_RUN, options), *program = NULL;
    if ((options->program && hn_program_request(options, &program, &st) != BN_OK) ||
        res_format_parse(options->format, &run.format, &st) != BN_OK ||
        hn_experiments_expand(options, &list, &count, &notes, &st) != BN_OK ||
        hn_experiments_check(list, count, &st) != BN_OK) {
        code = hn_complain(&st);
        goto out;
    }
    if (notes.length)
        fputs(notes.data, stderr);
    run.records = calloc(count, sizeof(res_record *));
    if (!run.records) {
        bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for %zu records", count);
        code = hn_complain(&st);
        goto out;
    }
    for (size_t i = 0; program && i < count; i++)
        hn_program_describe(program, &list[i].what);
    hn_supervisor_begin();
    for (size_t i = 0; i < count && !hn_interrupted() && !run.store_lost; i++) {
        list[i].echo = echo;
        list[i].program = program;
        run_one(&run, &list[i], i + 1, count);
    }
    hn_progress_clear();
    print_results(&run);
    code = hn_interrupted() ? HN_EXIT_INTERRUPTED : run.worst;
    if (hn_interrupted())
        fprintf(stderr, "bench: interrupted; %zu of %zu experiments are done and kept in %s\n",
                run.count, count, options->store);
out:
    for (size_t i = 0; run.records && i < run.count; i++)
        res_record_free(run.records[i]);
    free(run.records);
    free(list);
    bn_text_free(&notes);
    json_decref(echo);
    json_decref(program);
    return (int)code;
}

int hn_command_table(const hn_options *options)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    res_collection all = {0};
    bn_text text = {0};
    if (res_format_parse(options->format, &format, &st) != BN_OK ||
        res_table_check(options->table, &st) != BN_OK ||
        res_store_load(options->store, &all, &st) != BN_OK)
        return (int)hn_complain(&st);
    for (size_t i = 0; i < all.damaged_count; i++)
        fprintf(stderr, "bench: %s\n", all.damaged[i].status.message);
    if (options->verbose && format != RES_TABLE_JSON)
        for (size_t i = 0; i < all.count; i++) {
            res_table_record(all.records[i], format, &text);
            bn_text_putc(&text, '\n');
        }
    res_table(options->table, &all, format, &text);
    print_page(&text, format, options->store);
    int code = all.damaged_count ? HN_EXIT_FAILED : HN_EXIT_OK;
    bn_text_free(&text);
    res_collection_free(&all);
    return code;
}
