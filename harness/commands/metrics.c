/*
 * metrics.c - bench metrics: the report of stored records; differences between two reports, for
 * bench diff; the report that bench run writes of what it measured.
 */
#include "results/metrics/metrics.h"
#include "harness/commands/metrics_priv.h"
#include "harness/commands/selection_priv.h"
#include "results/tables/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- sources ------------------------------------------------------------------------------ */

/* A report that a command works on. */
typedef struct source {
    json_t *metrics;
    bool damaged; /* a record of the folder is */
} source;

static bn_code read_folder(const command_selection *selection, source *from, bn_status *st)
{
    res_collection all = {0};
    bn_code code = command_latest_read(selection, &all, st);
    if (code != BN_OK)
        return code;
    from->damaged = all.damaged_count > 0;
    from->metrics = res_metrics_make(all.records, all.count);
    res_collection_free(&all);
    return BN_OK;
}

static bn_code read_record(const char *path, source *from, bn_status *st)
{
    res_record *record = NULL;
    bn_code code = res_store_read_foreign(path, &record, st);
    if (code != BN_OK)
        return code;
    from->metrics = res_metrics_make(&record, 1);
    res_record_free(record);
    return BN_OK;
}

static bn_code read_report(const char *path, source *from, bn_status *st)
{
    char *data = NULL;
    size_t size = 0;
    bn_code code = bn_regular_read(path, &data, &size, st);
    if (code != BN_OK)
        return code;
    code = res_metrics_read(data, size, &from->metrics, st);
    free(data);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", path);
}

/* A record or a report has nothing to select from. */
static bn_code check_selection(const command_selection *selection, const char *path, bn_status *st)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (selection->axis[i].count > 0)
            return bn_fail(st, BN_INVALID, "--%s selects records of a folder, and %s is not one",
                           res_axes[i].option, path);
    return BN_OK;
}

/* PATH is a folder of records, a record, or a file with a report. */
static bn_code read_source(const command_selection *selection, const char *path, source *from,
                           bn_status *st)
{
    struct stat info;
    command_selection own = *selection;
    own.store = path;
    if (stat(path, &info) != 0)
        return bn_fail_errno(st, errno, "%s", path);
    if (S_ISDIR(info.st_mode))
        return read_folder(&own, from, st);
    if (check_selection(selection, path, st) != BN_OK)
        return st->code;
    return res_store_file_of(bn_base_name(path)) == RES_STORE_RECORD ? read_record(path, from, st)
                                                                     : read_report(path, from, st);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The layout of a report is fixed by its readers, so it has few formats. */
static bn_code check_format(const char *name, bool *as_json, bn_status *st)
{
    res_format format;
    bn_code code = res_format_parse(name, &format, st);
    if (code != BN_OK)
        return code;
    *as_json = format == RES_TABLE_JSON;
    if (!*as_json && !res_format_is_text(format))
        return bn_fail(st, BN_INVALID, "--format of metrics is text, json or narrow, not %s", name);
    return BN_OK;
}

static void show(const source *from, bool as_json)
{
    bn_text text = {0};
    if (as_json) {
        cli_json(from->metrics);
        return;
    }
    res_metrics_put(from->metrics, false, &text);
    cli_show_text(&text);
}

/* False: no report of one is compared with one of the other. */
static bool show_difference(const source *a, const source *b, const cli_output *output,
                            bool as_json)
{
    bn_text text = {0}, wide = {0};
    const bool narrow = strcmp(cli_format(output), "narrow") == 0;
    json_t *diff = res_metrics_diff(a->metrics, b->metrics);
    if (as_json)
        cli_json(diff);
    else
        res_metrics_diff_put(diff, narrow ? RES_TABLE_NARROW : RES_TABLE_TEXT, &text);
    if (!as_json && cli_is_narrow(output))
        res_metrics_diff_put(diff, RES_TABLE_TEXT, &wide);
    cli_show_either(&text, &wide);
    const bool some = json_array_size(json_object_get(diff, "pairs")) > 0;
    json_decref(diff);
    return some;
}

static int show_metrics(const command_selection *selection, const cli_output *output,
                        const char *path)
{
    bn_status st = {.code = BN_OK};
    source a = {0};
    bool as_json = false;
    bn_code code = check_format(output->format, &as_json, &st);
    if (code == BN_OK)
        code = read_source(selection, path, &a, &st);
    if (code == BN_OK)
        show(&a, as_json);
    json_decref(a.metrics);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    return a.damaged ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

bool command_is_metrics(const char *path)
{
    bn_status ignored = {.code = BN_OK};
    source from = {0};
    const bool is_one = read_report(path, &from, &ignored) == BN_OK;
    json_decref(from.metrics);
    return is_one;
}

bn_code command_metrics_diff(const char *first, const char *second, const cli_output *output,
                             bool *damaged, bn_status *st)
{
    static const command_selection all;
    source a = {0}, b = {0};
    bool as_json = false;
    bn_code code = check_format(output->format, &as_json, st);
    if (code == BN_OK)
        code = read_source(&all, first, &a, st);
    if (code == BN_OK)
        code = read_source(&all, second, &b, st);
    if (code == BN_OK && !show_difference(&a, &b, output, as_json))
        code = bn_fail(st, BN_NOT_FOUND, "%s and %s have no experiment in common", first, second);
    json_decref(a.metrics);
    json_decref(b.metrics);
    *damaged = a.damaged || b.damaged;
    return code;
}

typedef struct metrics_options {
    cli_output output;
    command_selection selection; /* its store is the word */
} metrics_options;
#define AT(member) offsetof(metrics_options, member)

static const cli_option rows[] = {
    CLI_FORMAT_ROW(AT(output.format), "text, json, narrow",
                   "text, json, or narrow: text in 80 columns"),
};

static int run(void *options, const cli_call *call)
{
    const metrics_options *o = options;
    return show_metrics(&o->selection, &o->output, call->words[0]);
}

const cli_command command_metrics = {
    .name = "metrics",
    .usage = "bench metrics DIR|RECORD|FILE",
    .summary = "print metrics and counters in the layout of PyTorch/XLA's report",
    .section = JOB_SECTION_LOOK,
    .words = "DIR|RECORD|FILE",
    .most_words = 1,
    .size = sizeof(metrics_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = command_selection_table,
                .offset = AT(selection),
                .about = COMMAND_ABOUT_AXES},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_WIDE | CLI_OUT_VERBOSE}},
    .run = run,
};

/* ---- of a run -------------------------------------------------------------------------------- */

static bool is_output(const command_metering *own)
{
    return own->file && strcmp(own->file, "-") == 0;
}

/* By its name alone. */
static bool is_json(const char *file)
{
    const size_t length = strlen(file);
    return length >= 5 && strcmp(file + length - 5, ".json") == 0;
}

bn_code command_metrics_check(const command_metering *own, const cli_output *output, bn_status *st)
{
    if (!own->file)
        return own->every == 0 ? BN_OK
                               : bn_fail(st, BN_INVALID, "--metrics-every goes with --metrics");
    if (!own->file[0])
        return bn_fail(st, BN_INVALID, "--metrics needs the name of a file, or -");
    res_format format;
    bn_code code = res_format_parse(output->format, &format, st);
    if (code == BN_OK && is_output(own) && !res_format_is_text(format))
        code = bn_fail(st, BN_INVALID,
                       "--metrics - and --format %s both write to standard output: name a file",
                       output->format);
    if (code == BN_OK && !is_output(own))
        code = cli_check_new(output, "--metrics", own->file, st);
    return code;
}

bn_code command_metrics_write(const command_metering *own, res_record *const *records, size_t count,
                              bn_status *st)
{
    bn_text text = {0};
    if (!own->file)
        return BN_OK;
    json_t *metrics = res_metrics_make(records, count);
    res_metrics_put(metrics, !is_output(own) && is_json(own->file), &text);
    json_decref(metrics);
    bn_code code = BN_OK;
    if (is_output(own)) {
        cli_line_clear();
        cli_out("%s", text.data);
    } else {
        code = bn_file_write_atomic(own->file, text.data, text.length, st);
    }
    bn_text_free(&text);
    return code;
}
