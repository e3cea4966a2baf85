/*
 * metrics.c - bench metrics: the report of stored records, or what differs between two reports;
 * and the report that bench run writes of what it measured.
 */
#include "results/metrics/metrics.h"
#include "harness/commands/metrics_priv.h"
#include "harness/commands/selection_priv.h"
#include "results/tables/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a metrics report");
}

/* ---- what a word names -------------------------------------------------------------------- */

/* The reports that a command works on. */
typedef struct source {
    json_t *metrics;
    bool damaged; /* a record of the folder is */
} source;

static bn_code read_folder(const command_selection *selection, source *from, bn_status *st)
{
    res_collection all = {0};
    bn_code code = command_newest_read(selection, &all, st);
    if (code != BN_OK)
        return code;
    from->damaged = all.damaged_count > 0;
    from->metrics = res_metrics_make(all.records, all.count);
    res_collection_free(&all);
    return from->metrics ? BN_OK : no_memory(st);
}

static bn_code read_record(const char *path, source *from, bn_status *st)
{
    res_record *record = NULL;
    bn_code code = res_store_read_foreign(path, &record, st);
    if (code != BN_OK)
        return code;
    from->metrics = res_metrics_make(&record, 1);
    res_record_free(record);
    return from->metrics ? BN_OK : no_memory(st);
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

/* One record and one report are what they are. */
static bn_code check_selection(const command_selection *selection, const char *path, bn_status *st)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (selection->axis[i].count > 0)
            return bn_fail(st, BN_INVALID, "--%s chooses records of a folder, and %s is none",
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

/* The layout of a report is its readers': there are no tables of it. */
static bn_code check_format(const char *name, bool *as_json, bn_status *st)
{
    res_format format;
    bn_code code = res_format_parse(name, &format, st);
    if (code != BN_OK)
        return code;
    *as_json = format == RES_TABLE_JSON;
    if (!*as_json && !res_format_is_text(format))
        return bn_fail(st, BN_INVALID, "metrics are text or json, not %s", name);
    return BN_OK;
}

static bn_code show(const source *from, bool as_json, bn_status *st)
{
    bn_text text = {0};
    if (as_json) {
        cli_json(from->metrics);
        return BN_OK;
    }
    res_metrics_put(from->metrics, false, &text);
    const bool failed = text.failed;
    cli_show_text(&text);
    return failed ? no_memory(st) : BN_OK;
}

static bn_code show_difference(const source *a, const source *b, const cli_output *output,
                               bool as_json, bn_status *st)
{
    bn_text text = {0}, wide = {0};
    const bool narrow = strcmp(cli_format(output), "narrow") == 0;
    json_t *diff = res_metrics_diff(a->metrics, b->metrics);
    if (as_json && diff)
        cli_json(diff);
    else if (diff)
        res_metrics_diff_put(diff, narrow ? RES_TABLE_NARROW : RES_TABLE_TEXT, &text);
    if (!as_json && diff && cli_is_narrow(output))
        res_metrics_diff_put(diff, RES_TABLE_TEXT, &wide);
    const bool failed = !diff || text.failed;
    cli_show_either(&text, &wide);
    json_decref(diff);
    return failed ? no_memory(st) : BN_OK;
}

/* Whether WORD, which is neither a file nor a folder, may be meant for "diff". */
static bool is_near_diff(const char *word)
{
    struct stat info;
    bn_near near = bn_near_begin(word);
    bn_near_try(&near, "diff");
    return bn_near_best(&near) && stat(word, &info) != 0;
}

/* Whether WORDS are those of a difference. */
static bn_code check_words(const char *const *words, bool *difference, bn_status *st)
{
    size_t count = 0;
    while (words[count])
        count++;
    *difference = strcmp(words[0], "diff") == 0;
    if (*difference && count != 3)
        return bn_fail(st, BN_INVALID,
                       "bench metrics diff needs two words: folders of records, records, or files "
                       "of reports");
    if (!*difference && is_near_diff(words[0]))
        return bn_fail_choice(st, "metrics command", words[0], "diff");
    if (!*difference && count > 1)
        return bn_fail(st, BN_INVALID,
                       "'%s' is one word too many; bench metrics diff %s %s compares two", words[1],
                       words[0], words[1]);
    return BN_OK;
}

int command_metrics(const command_selection *selection, const cli_output *output,
                    const char *const *words)
{
    bn_status st = {.code = BN_OK};
    source a = {0}, b = {0};
    bool difference = false, as_json = false;
    bn_code code = check_words(words, &difference, &st);
    if (code == BN_OK)
        code = check_format(output->format, &as_json, &st);
    if (code == BN_OK)
        code = read_source(selection, words[difference ? 1 : 0], &a, &st);
    if (code == BN_OK && difference)
        code = read_source(selection, words[2], &b, &st);
    if (code == BN_OK)
        code = difference ? show_difference(&a, &b, output, as_json, &st) : show(&a, as_json, &st);
    json_decref(a.metrics);
    json_decref(b.metrics);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    return a.damaged || b.damaged ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

/* ---- of a run ----------------------------------------------------------------------------------
 */

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
                               : bn_fail(st, BN_INVALID,
                                         "--metrics-every says how often --metrics is written, "
                                         "which was not given");
    if (!own->file[0])
        return bn_fail(st, BN_INVALID, "--metrics needs the name of a file, or -");
    res_format format;
    bn_code code = res_format_parse(output->format, &format, st);
    if (code == BN_OK && is_output(own) && !res_format_is_text(format))
        code = bn_fail(st, BN_INVALID,
                       "--metrics - goes to standard output, where --format %s stands alone: name "
                       "a file",
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
    if (metrics)
        res_metrics_put(metrics, !is_output(own) && is_json(own->file), &text);
    json_decref(metrics);
    bn_code code = !metrics || text.failed ? no_memory(st) : BN_OK;
    if (code == BN_OK && is_output(own)) {
        cli_line_clear();
        cli_out("%s", text.data);
    } else if (code == BN_OK) {
        code = bn_file_write_atomic(own->file, text.data, text.length, st);
    }
    bn_text_free(&text);
    return code;
}
