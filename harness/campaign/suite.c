/*
 * suite.c - bench suite: reads the file, makes the plan, and lists it or runs it.
 */
#include "harness/campaign/suites_priv.h"
#include "results/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether A and B run on the same file. A framework may have one of its own. */
static bool same_file(const res_experiment *a, const res_experiment *b)
{
    return strcmp(a->runtime, b->runtime) == 0 && strcmp(a->front_end, b->front_end) == 0;
}

/* Finds the plugin's file of ITEM, once for each runtime and framework. */
static bn_code find_plugin(suite_spec *suite, suite_item *item, bn_status *st)
{
    char path[PATH_MAX];
    for (const suite_item *before = suite->items; before < item && !item->plugin; before++)
        if (same_file(&before->e.what, &item->e.what))
            item->plugin = before->plugin;
    if (item->plugin)
        return BN_OK;
    if (job_plugin_find(&item->e.what, path, st) != BN_OK)
        return st->code;
    item->plugin = bn_arena_strdup(suite->arena, path);
    return BN_OK;
}

/* The digest of ITEM's plugin. Each file is read once. */
static bn_code find_digest(suite_spec *suite, suite_item *item, bn_status *st)
{
    char digest[BN_SHA256_TEXT] = "";
    for (const suite_item *before = suite->items; before < item && !item->sha256; before++)
        if (strcmp(before->plugin, item->plugin) == 0)
            item->sha256 = before->sha256;
    if (item->sha256)
        return BN_OK;
    if (item->plugin[0] && bn_file_sha256(item->plugin, digest, st) != BN_OK)
        return st->code;
    item->sha256 = bn_arena_strdup(suite->arena, digest);
    return BN_OK;
}

/* Gives each item the digest of its plugin's file. */
static bn_code find_runtimes(suite_spec *suite, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < suite->count && code == BN_OK; i++) {
        code = find_plugin(suite, &suite->items[i], st);
        if (code == BN_OK)
            code = find_digest(suite, &suite->items[i], st);
    }
    return code;
}

static const char *state_name(const suite_run *run, bool retry)
{
    return run->state == SUITE_DONE               ? "done"
           : run->state == SUITE_FAILED && !retry ? "failed"
                                                  : "run";
}

static void list_json(const suite_plan *plan, bool retry)
{
    json_t *all = json_array();
    for (size_t i = 0; i < plan->count; i++) {
        const suite_run *run = &plan->runs[i];
        json_array_append_new(
            all,
            json_pack("{ss ss sI ss ss* sO* ss* ss*}", "state", state_name(run, retry), "title",
                      run->item->title, "repetition", (json_int_t)run->repetition, "identity",
                      run->identity, "runtime_sha256", suite_planned(run->item), "options",
                      run->item->e.echo, "record", run->record ? run->record->id : NULL, "failure",
                      run->state == SUITE_FAILED ? bn_code_name(run->failure) : NULL));
    }
    cli_json(all);
    json_decref(all);
}

static void list_text(const suite_plan *plan, bool retry)
{
    size_t open = 0, done = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const suite_run *run = &plan->runs[i];
        const char *state = state_name(run, retry);
        const bool failed = run->state == SUITE_FAILED;
        cli_tell("%-6s  #%-3d %s%s%s%s", state, run->repetition, run->item->title,
                 failed ? "  (" : "", failed ? bn_code_name(run->failure) : "", failed ? ")" : "");
        open += strcmp(state, "run") == 0;
        done += run->state == SUITE_DONE;
    }
    cli_tell("%zu to run, %zu done, %zu failed before (--retry-failed repeats them)", open, done,
             plan->count - open - done);
}

static bn_code check_format(const suite_options *options, res_format *format, bn_status *st)
{
    bn_code code = res_format_parse(cli_format(&options->output), format, st);
    if (code == BN_OK && options->dry_run && !res_format_is_text(*format) &&
        *format != RES_TABLE_JSON)
        code = bn_fail(st, BN_INVALID, "--dry-run lists as text or json, not as %s",
                       options->output.format);
    return code;
}

static bn_code prepare(const suite_options *options, const char *what, res_format *format,
                       suite_spec *suite, suite_shard *shard, bn_status *st)
{
    char path[4096];
    bn_code code = check_format(options, format, st);
    if (code == BN_OK)
        code = suite_shard_find(options->shard, shard, st);
    if (code == BN_OK)
        code = suite_find(what, path, sizeof path, st);
    if (code == BN_OK)
        code = suite_open(path, suite, st);
    if (code == BN_OK)
        code = suite_expand(suite, options, st);
    if (code == BN_OK)
        code = find_runtimes(suite, st);
    for (size_t i = 0; code == BN_OK && i < suite->count; i++)
        code = job_words_check(&suite->items[i].e, i ? &suite->items[i - 1].e : NULL, st);
    if (code == BN_OK && !options->dry_run)
        code = job_store_ready(options->store, st);
    return code;
}

static void fill_end(const suite_plan *plan, suite_end *end)
{
    end->identities = bn_zalloc(plan->count + 1, sizeof *end->identities);
    for (size_t i = 0; i < plan->count; i++)
        memcpy(end->identities[i], plan->runs[i].identity, sizeof end->identities[i]);
    end->count = plan->count;
    end->whole = plan->left == 0;
    end->counts = plan->counts;
}

static void report_misdates(const res_misdates *misdates, const char *store)
{
    bn_text words = {0};
    res_put_misdates(misdates, &words);
    if (words.length > 0)
        cli_say("bench: %s: %s", store, words.data);
    bn_text_free(&words);
}

int suite_to_end(const suite_options *options, const char *what, const suite_visitor *visitor,
                 suite_end *end)
{
    bn_status st = {.code = BN_OK};
    *end = (suite_end){0};
    res_format format = RES_TABLE_TEXT;
    suite_spec suite = {0};
    suite_plan plan = {0};
    suite_shard shard = {.index = 1, .of = 1};
    cli_exit code = CLI_EXIT_OK;
    bn_code made = prepare(options, what, &format, &suite, &shard, &st);
    if (made == BN_OK && visitor)
        made = visitor->visit(visitor->context, &suite, &st);
    if (made == BN_OK)
        made = suite_plan_make(&suite, options, &shard, &plan, &st);
    if (made == BN_OK && plan.count == 0 && shard.of == 1)
        made = bn_fail(&st, BN_INVALID,
                       "suite %s: --filter and --exclude leave nothing of its %zu "
                       "experiments",
                       suite.name, suite.count);
    job_say_damaged(plan.stored.damaged, plan.stored.damaged_count);
    report_misdates(&plan.stored.misdates, options->store);
    if (made != BN_OK) {
        code = cli_complain(&st);
        goto out;
    }
    if (suite.notes.length)
        cli_err("%s", suite.notes.data);
    if (!options->dry_run) {
        code = suite_run_plan(&suite, options, &shard, format, &plan);
        fill_end(&plan, end);
    } else if (format == RES_TABLE_JSON) {
        list_json(&plan, options->retry_failed);
    } else {
        list_text(&plan, options->retry_failed);
    }
out:
    suite_plan_free(&plan);
    suite_close(&suite);
    return (int)code;
}

/* ---- the command ------------------------------------------------------------------------- */

#define AT(member) offsetof(suite_options, member)

const cli_table *suite_table(void)
{
    /* In the order of the bits SUITE_ROWS_. */
    static const cli_option rows[] = {
        {"runtime", "NAME,...", CLI_NAMES, AT(runtimes), .values = job_runtime_names, .open = true,
         .apart = true, .also = "backend, device, platform, plugin",
         .text = "run the suite on these runtimes in place of those that the file names; "
                 "--runtime-option, --xla-flag and --label are of them"},
        {"runtime-option", "NAME=VALUE", CLI_PAIRS, AT(runtime_option),
         .text = "option for the plugin's client; may be repeated"},
        {"xla-flag", "NAME=VALUE", CLI_PAIRS, AT(xla_flag),
         .text = "compiler option for every executable; may be repeated"},
        {"label", "TEXT", CLI_TEXT, AT(label), .fallback = "",
         .text = "what this build of the runtime is, for the record (a commit, say)"},
        {"filter", "PATTERN", CLI_WORDS, AT(filter),
         .text = "only experiments whose title, as bench suite --dry-run prints it, has a part "
                 "like PATTERN, where * stands for anything, ? for one character, [..] for one of "
                 "these; repeated: any of them"},
        {"exclude", "PATTERN", CLI_WORDS, AT(exclude),
         .text = "leave out experiments whose title has a part like PATTERN; may be repeated"},
        {"repetitions", "N", CLI_NUMBER, AT(repetitions), .fallback = "0",
         .text = "repetitions of each experiment; 0: as the file says"},
        {"retry-failed", NULL, CLI_FLAG, AT(retry_failed),
         .text = "repeat experiments that failed before, too"},
        {"shard", "I/N", CLI_TEXT, AT(shard),
         .text = "part I of N, from 1, or none: the whole suite; by default what a launcher's "
                 "environment says (mpirun, srun, a job array)"},
        {"dry-run", NULL, CLI_FLAG, AT(dry_run),
         .text = "list what would run and what is done, and run nothing"},
    };
    static const cli_table table = {rows, sizeof rows / sizeof *rows};
    return &table;
}

static const cli_option own_rows[] = {
    JOB_STORE_ROW(AT(store)),
};

static int run(void *options, const cli_call *call)
{
    suite_end end;
    const int code = suite_to_end(options, call->words[0], NULL, &end);
    free(end.identities);
    return code;
}

const cli_command suite_command = {
    .name = "suite",
    .usage = "bench suite NAME|FILE [OPTIONS]",
    .summary = "run the experiments of a file, each once; can be resumed, and split over machines",
    .section = JOB_SECTION_MEASURE,
    .words = "smoke|reference|nightly|FILE.json",
    .most_words = 1,
    .size = sizeof(suite_options),
    .output = AT(output),
    .rows = own_rows,
    .row_count = sizeof own_rows / sizeof *own_rows,
    .groups = {{.table = suite_table},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES}},
    .run = run,
};
