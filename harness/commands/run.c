/*
 * run.c - bench run and bench table: experiments are measured one after the other, failures become
 * records, too, and the records tables.
 */
#include "harness/commands/commands.h"
#include "harness/jobs/jobs.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a run has so far. */
typedef struct run_state {
    const cli_output *output;
    res_format format;
    res_record **records;
    size_t count;
    cli_exit worst;
    bool store_lost; /* the store takes no records any more */
} run_state;

static void print_text(const bn_text *text)
{
    if (text->data)
        fputs(text->data, stdout);
}

/* Prints a table; in HTML as a page of its own. */
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
    const cli_exit code = cli_complain_of(title, st);
    if (code > run->worst)
        run->worst = code;
}

static void run_one(run_state *run, job_experiment *e, size_t number, size_t of)
{
    char title[256];
    job_kept kept;
    job_experiment_title(e, title, sizeof title);
    job_order job = {NULL, title, number, of, e->timeout, run->output->verbose};
    job_measure_and_keep(e, &job, &kept);
    if (kept.store.code != BN_OK) {
        /* Further experiments would run for nothing. */
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
    bool each = run->count == 1 || run->output->verbose;
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

/* Runs LIST, one experiment after the other, and prints the tables; returns the exit code. */
static cli_exit run_all(run_state *run, job_experiment *list, size_t count, const char *store)
{
    job_supervise_begin();
    for (size_t i = 0; i < count && !job_interrupted() && !run->store_lost; i++)
        run_one(run, &list[i], i + 1, count);
    cli_line_clear();
    print_results(run);
    if (!job_interrupted())
        return run->worst;
    fprintf(stderr, "bench: interrupted; %zu of %zu experiments are done and kept in %s\n",
            run->count, count, store);
    return CLI_EXIT_INTERRUPTED;
}

int command_run(const job_matrix *matrix, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    bn_text notes = {0};
    job_experiment *list = NULL;
    size_t count = 0;
    run_state run = {.output = output};
    cli_exit code;
    json_t *program = NULL;
    if ((matrix->program && job_program_request(matrix, &program, &st) != BN_OK) ||
        res_format_parse(output->format, &run.format, &st) != BN_OK ||
        job_matrix_expand(matrix, &list, &count, &notes, &st) != BN_OK ||
        job_experiments_check(list, count, &st) != BN_OK) {
        code = cli_complain(&st);
        goto out;
    }
    if (notes.length)
        fputs(notes.data, stderr);
    run.records = calloc(count, sizeof(res_record *));
    if (!run.records) {
        bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for %zu records", count);
        code = cli_complain(&st);
        goto out;
    }
    for (size_t i = 0; program && i < count; i++) {
        job_program_describe(program, &list[i].what);
        list[i].program = program;
    }
    code = run_all(&run, list, count, matrix->store);
out:
    for (size_t i = 0; run.records && i < run.count; i++)
        res_record_free(run.records[i]);
    free(run.records);
    free(list);
    bn_text_free(&notes);
    json_decref(program);
    return (int)code;
}

int command_table(const char *store, const char *table, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    res_collection all = {0};
    bn_text text = {0};
    if (res_format_parse(output->format, &format, &st) != BN_OK ||
        res_table_check(table, &st) != BN_OK || res_store_load(store, &all, &st) != BN_OK)
        return (int)cli_complain(&st);
    for (size_t i = 0; i < all.damaged_count; i++)
        fprintf(stderr, "bench: %s\n", all.damaged[i].status.message);
    if (output->verbose && format != RES_TABLE_JSON)
        for (size_t i = 0; i < all.count; i++) {
            res_table_record(all.records[i], format, &text);
            bn_text_putc(&text, '\n');
        }
    res_table(table, &all, format, &text);
    print_page(&text, format, store);
    int code = all.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    bn_text_free(&text);
    res_collection_free(&all);
    return code;
}
