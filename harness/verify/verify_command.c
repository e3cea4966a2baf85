/*
 * verify_command.c - bench verify, in the parent: a worker for each entry of golden values in each
 * mode on each runtime, and the table of differences.
 */
#include "harness/frontends/frontends.h"
#include "harness/verify/golden_priv.h"
#include "harness/verify/verify.h"
#include "harness/verify/verify_entries_priv.h"
#include "harness/verify/verify_table_priv.h"
#include "results/tables/tables.h"
#include "runtime/pjrt/pjrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One job: an entry in a mode on a runtime. */
typedef struct verify_task {
    const verify_entry *entry;
    job_experiment experiment;
} verify_task;

typedef struct verify_state {
    const verify_options *options;
    res_format format;
    verify_entries entries;
    verify_task *tasks;
    size_t count, capacity;
    json_t *lines;
    bool refused;              /* a runtime refused its options: no other worker is started */
    const verify_entry *noted; /* the entry whose notes are shown; NULL: none yet */
} verify_state;

/* ---- running ----------------------------------------------------------------------------- */

/* Checks E's file, before the first worker starts. */
static bn_code check_entry(const verify_state *v, const verify_entry *e, bn_status *st)
{
    char path[VERIFY_ENTRY_PATH];
    golden_file golden;
    verify_entry_path(&v->entries, e, path);
    bn_code code = golden_read(path, &golden, st);
    if (code == BN_OK &&
        (strcmp(golden.model, e->model) != 0 || strcmp(golden.variant, e->variant) != 0))
        code = bn_fail(st, BN_FORMAT, "%s: its content is of %s.%s", path, golden.model,
                       golden.variant);
    golden_free(&golden);
    return code;
}

/* Makes the experiments of entry E, in all modes of M on all runtimes. The worker reads the rest
 * from the file. */
static bn_code expand(verify_state *v, const verify_entry *e, job_matrix *m, job_experiment **list,
                      size_t *count, bn_status *st)
{
    bn_text notes = {0};
    job_matrix_set(m, RES_AXIS_MODEL, e->model);
    job_matrix_set(m, RES_AXIS_VARIANT, "full");
    bn_code code = job_matrix_expand(m, list, count, &notes, st);
    for (size_t i = 0; code == BN_OK && i < *count; i++)
        snprintf((*list)[i].what.variant, sizeof(*list)[i].what.variant, "%s", e->variant);
    /* The notes are the same for each entry. */
    if (notes.data && e == v->noted)
        cli_err("%s", notes.data);
    bn_text_free(&notes);
    return code;
}

static void add_lines(verify_state *v, const job_experiment *e, const json_t *comparisons)
{
    for (size_t i = 0; i < json_array_size(comparisons); i++) {
        json_t *line =
            json_pack("{ss ss ss ss}", "runtime", e->what.runtime, "model", e->what.model,
                      "variant", e->what.variant, "mode", res_way_of(&e->what).text);
        json_object_update(line, json_array_get(comparisons, i));
        json_array_append_new(v->lines, line);
    }
}

static void add_failure(verify_state *v, const job_experiment *e, bn_code code, const char *message)
{
    json_t *one =
        json_pack("[{ss ss ss ss ss sb}]", "group", "worker", "quantity", "worker", "got",
                  bn_code_name(code), "want", bn_code_name(BN_OK), "message", message, "pass", 0);
    cli_line_clear();
    cli_say("bench: verify %s.%s %s: %s", e->what.model, e->what.variant, res_way_of(&e->what).text,
            message);
    add_lines(v, e, one);
    json_decref(one);
}

static void verify_one(verify_state *v, const verify_task *task, size_t number, size_t of)
{
    const job_experiment *e = &task->experiment;
    char path[VERIFY_ENTRY_PATH], title[256];
    bn_status st = {.code = BN_OK};
    job_outcome outcome = {0};
    verify_entry_path(&v->entries, task->entry, path);
    snprintf(title, sizeof title, "verify %s.%s %s", e->what.model, e->what.variant,
             res_way_of(&e->what).text);
    char scratch[PATH_MAX] = "";
    bn_code code = job_is_framework(&e->what) ? job_scratch_begin(NULL, scratch, &st) : BN_OK;
    json_t *request = json_pack("{ss ss so ss}", "job", "verify", "entry", path, "experiment",
                                job_experiment_to_json(e), "scratch", scratch);
    job_order job = {request, title, number, of, e->how.timeout, v->options->output.verbose, false};
    if (code == BN_OK)
        code = job_supervise(&job, &outcome, &st);
    json_decref(request);
    job_scratch_end(scratch);
    const json_t *comparisons = json_object_get(outcome.result, "comparisons");
    if (code != BN_OK)
        add_failure(v, e, code, st.message);
    else if (outcome.status == BN_OK && json_array_size(comparisons) > 0)
        add_lines(v, e, comparisons);
    else if (outcome.status != BN_CANCELLED)
        add_failure(v, e, outcome.status == BN_OK ? BN_CRASH : outcome.status,
                    outcome.status == BN_OK ? "the worker reported nothing" : outcome.message);
    v->refused = v->refused || outcome.usage;
    json_decref(outcome.result);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Makes NAME the one framework of M. One without bench's usual mode gets its own usual mode, OWN,
 * unless another was asked for. */
static void set_front_end(job_matrix *m, const char *name, char own[RES_TEXT])
{
    const frontend_info *row = frontend_named(name);
    const cli_list *modes = &m->axis[RES_AXIS_MODE];
    const char *usual = res_axes[RES_AXIS_MODE].usual;
    const bool unasked = modes->count == 1 && strcmp(modes->value[0].word, usual) == 0;
    job_matrix_set(m, RES_AXIS_FRONT_END, name);
    if (row && unasked && !frontend_has_mode(row, usual, NULL) && res_axis_word(row->modes, 0, own))
        job_matrix_set(m, RES_AXIS_MODE, own);
}

/* The jobs of entry E for one framework. */
static bn_code add_jobs_of(verify_state *v, const verify_entry *e, const char *front_end,
                           bn_status *st)
{
    job_experiment *list = NULL;
    job_matrix m = v->options->matrix;
    char own[RES_TEXT];
    size_t count = 0;
    set_front_end(&m, front_end, own);
    bn_code code = expand(v, e, &m, &list, &count, st);
    bn_grow(&v->tasks, v->count + count, &v->capacity, sizeof *v->tasks);
    for (size_t i = 0; code == BN_OK && i < count; i++)
        v->tasks[v->count++] = (verify_task){e, list[i]};
    free(list);
    return code;
}

/* The jobs of entry E for each framework that was named, or for all. */
static bn_code add_jobs(verify_state *v, const verify_entry *e, bn_status *st)
{
    const cli_list *named = &v->options->matrix.axis[RES_AXIS_FRONT_END];
    const bool all = cli_list_has(named, "all");
    char name[RES_TEXT];
    bn_code code = BN_OK;
    v->noted = v->noted ? v->noted : e;
    for (size_t i = 0; code == BN_OK && all && job_front_end_name(i, name); i++)
        code = add_jobs_of(v, e, name, st);
    for (size_t i = 0; code == BN_OK && !all && i < named->count; i++)
        code = add_jobs_of(v, e, named->value[i].word, st);
    return code;
}

/* Makes the tasks, after all checks that need no worker. */
static bn_code prepare(verify_state *v, bn_status *st)
{
    bn_code code = res_format_parse(cli_format(&v->options->output), &v->format, st);
    if (code == BN_OK)
        code = verify_entries_choose(&v->entries, v->options, st);
    for (size_t i = 0; code == BN_OK && i < v->entries.count; i++) {
        const verify_entry *e = &v->entries.list[i];
        if (!e->chosen)
            continue;
        code = check_entry(v, e, st);
        if (code == BN_OK)
            code = add_jobs(v, e, st);
    }
    for (size_t i = 0; code == BN_OK && i < v->count; i++) {
        char path[4096];
        code = job_runtime_ready(v->tasks[i].experiment.what.runtime, path, sizeof path, st);
        if (code == BN_OK)
            code = job_words_check(&v->tasks[i].experiment, i ? &v->tasks[i - 1].experiment : NULL,
                                   st);
    }
    return code;
}

/* Appends WORD to TEXT, a list with commas, unless the list has it. */
static void add_word(bn_text *text, const char *word, size_t *words)
{
    bn_text item = {0}, list = {0};
    bn_text_printf(&item, ", %s,", word);
    bn_text_printf(&list, ", %s,", text->data ? text->data : "");
    if (!strstr(list.data, item.data)) {
        bn_text_printf(text, "%s%s", *words ? ", " : "", word);
        ++*words;
    }
    bn_text_free(&item);
    bn_text_free(&list);
}

/* Shows the plan before the first worker. */
static void show_plan(const verify_state *v)
{
    bn_text models = {0}, ways = {0}, runtimes = {0};
    size_t model_count = 0, way_count = 0, runtime_count = 0;
    char several[48];
    for (size_t i = 0; i < v->count; i++) {
        const res_experiment *e = &v->tasks[i].experiment.what;
        add_word(&models, e->model, &model_count);
        add_word(&ways, res_way_of(e).text, &way_count);
        add_word(&runtimes, e->runtime, &runtime_count);
    }
    snprintf(several, sizeof several, "%zu models", model_count);
    if (v->count > 0)
        cli_note_plan(v->count, "ends it, and prints what is done",
                      "%zu comparison%s of %s with PyTorch's values, a process each: %s; on "
                      "%s",
                      v->count, v->count == 1 ? "" : "s", model_count == 1 ? models.data : several,
                      ways.data, runtimes.data);
    bn_text_free(&models);
    bn_text_free(&ways);
    bn_text_free(&runtimes);
}

/* The table in FORMAT; for people with SUMMARY below it. */
static void put_table(const verify_state *v, res_format format, const char *summary, bn_text *out)
{
    verify_table(v->lines, format, v->options->output.verbose, out);
    if (format == RES_TABLE_MARKDOWN)
        bn_text_putc(out, '\n'); /* else the summary would be a row of the table */
    if (res_format_is_text(format) || format == RES_TABLE_MARKDOWN)
        res_put_lines(out, format, summary);
}

static void print(const verify_state *v)
{
    bn_text table = {0}, wide = {0}, words = {0};
    verify_summary(v->lines, &words);
    put_table(v, v->format, words.data, &table);
    if (cli_is_narrow(&v->options->output))
        put_table(v, RES_TABLE_TEXT, words.data, &wide);
    cli_show_either(&table, &wide);
    if (!res_format_is_text(v->format) && v->format != RES_TABLE_MARKDOWN)
        cli_err("%s", words.data);
    bn_text_free(&words);
}

static int verify(const verify_options *options)
{
    bn_status st = {.code = BN_OK};
    verify_state v = {.options = options, .lines = json_array()};
    cli_exit code;
    if (prepare(&v, &st) != BN_OK) {
        code = cli_complain(&st);
    } else {
        job_supervise_begin();
        show_plan(&v);
        for (size_t i = 0; i < v.count && !job_interrupted() && !v.refused; i++)
            verify_one(&v, &v.tasks[i], i + 1, v.count);
        cli_line_clear();
        print(&v);
        bool good = verify_failures(v.lines) == 0 && !v.entries.refused;
        code = job_interrupted() ? CLI_EXIT_INTERRUPTED
               : v.refused       ? CLI_EXIT_USAGE
               : good            ? CLI_EXIT_OK
                                 : CLI_EXIT_FAILED;
    }
    free(v.tasks);
    verify_entries_free(&v.entries);
    json_decref(v.lines);
    return (int)code;
}

#define AT(member) offsetof(verify_options, member)

static const cli_option rows[] = {
    {"golden", "DIR", CLI_TEXT, AT(golden), .fallback = "",
     .text = "folder of golden values; by default those that come with bench"},
    {"all", NULL, CLI_FLAG, AT(all), .text = "every entry of the golden folder"},
};

static int run(void *options, const cli_call *call)
{
    (void)call;
    return verify(options);
}

const cli_command verify_command = {
    .name = "verify",
    .usage = "bench verify [OPTIONS]",
    .summary = "compare outputs, losses, gradients and parameters with PyTorch's values",
    .section = JOB_SECTION_MEASURE,
    .also = "test",
    .bare = "model",
    .size = sizeof(verify_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .about = JOB_ABOUT_NETWORK,
                .rows = JOB_AXIS_BIT(MODE) | JOB_AXIS_BIT(LAYOUT) | JOB_AXIS_BIT(RUNTIME) |
                        JOB_AXIS_BIT(FRONT_END) | JOB_AXIS_BIT(SCAN) | JOB_AXIS_BIT(REMAT) |
                        JOB_AXIS_BIT(OFFLOAD) | JOB_AXIS_BIT(STEPS_PER_EXECUTION)},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD,
                .rows = JOB_MEASURE_BIT(cache_dir) | JOB_MEASURE_BIT(timeout)},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
};
