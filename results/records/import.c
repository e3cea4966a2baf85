/*
 * import.c - results of others as records: the JSON lines of pytorch/xla's
 * benchmarks/experiment_runner.py.
 *
 * Its fields decide the mode as its own aggregate.py does: XLA without dynamo is lazy
 * tracing, dynamo with an openxla backend is capture, neither is eager, and inductor stays
 * inductor. The times of a line are whole runs of iterations_per_run steps, the
 * first with tracing and compilation in it; like aggregate.py we leave three of them to
 * warm-up.
 */
#define _GNU_SOURCE
#include "results/records/records_priv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARMUP_RUNS  3
/* No step takes longer than a day. */
#define MOST_SECONDS 86400.0

/* Models that have another name here. */
static const struct {
    const char *theirs, *ours;
} model_names[] = {
    {"BERT_pytorch", "bert_pytorch"},
    {"hf_Bert", "bert"},
    {"hf_GPT2", "gpt2"},
    {"timm_vision_transformer", "vit_small_patch16_224"},
};

static const json_t *member(const json_t *object, const char *section, const char *name)
{
    return json_object_get(json_object_get(object, section), name);
}

/* Copies the text SECTION.NAME, "" for null or none, where EMPTY allows that. */
static bn_code take_text(const json_t *line, const char *section, const char *name, bool empty,
                         char *to, size_t size, bn_status *st)
{
    const json_t *value = member(line, section, name);
    const char *text = json_string_value(value);
    if (!value || json_is_null(value))
        text = empty ? "" : NULL;
    if (!text || (!empty && text[0] == '\0'))
        return bn_fail(st, BN_FORMAT, "%s.%s is not a text", section, name);
    if (strlen(text) >= size)
        return bn_fail(st, BN_FORMAT, "%s.%s is longer than %zu bytes", section, name, size - 1);
    strcpy(to, text); /* res_record_check makes it plain */
    return BN_OK;
}

/* ---- the experiment ----------------------------------------------------------------------------
 */

static bn_code take_mode(const json_t *line, res_experiment *e, bn_status *st)
{
    char xla[32] = "", dynamo[32] = "";
    bn_code code = take_text(line, "experiment", "xla", true, xla, sizeof xla, st);
    if (code == BN_OK)
        code = take_text(line, "experiment", "dynamo", true, dynamo, sizeof dynamo, st);
    if (code != BN_OK)
        return code;
    if (dynamo[0] == '\0')
        strcpy(e->mode, xla[0] != '\0' ? "lazy" : "eager");
    else if (strcmp(dynamo, "inductor") == 0 && xla[0] == '\0')
        strcpy(e->mode, "inductor");
    else if ((strcmp(dynamo, "openxla") == 0 || strcmp(dynamo, "openxla_eval") == 0) &&
             xla[0] != '\0')
        strcpy(e->mode, "capture");
    else
        return bn_fail(st, BN_FORMAT,
                       "experiment.dynamo \"%s\" with xla \"%s\" is no mode: null, \"inductor\" "
                       "without xla, or \"openxla\" or \"openxla_eval\" with it",
                       dynamo, xla);
    return BN_OK;
}

static bn_code take_phase(const json_t *line, res_experiment *e, bn_status *st)
{
    char test[16] = "";
    bn_code code = take_text(line, "experiment", "test", false, test, sizeof test, st);
    if (code != BN_OK)
        return code;
    if (strcmp(test, "train") != 0 && strcmp(test, "eval") != 0)
        return bn_fail(st, BN_FORMAT, "experiment.test \"%s\" is not train or eval", test);
    strcpy(e->phase, strcmp(test, "eval") == 0 ? "infer" : "train");
    return BN_OK;
}

static bn_code take_batch(const json_t *line, res_experiment *e, bn_status *st)
{
    const json_t *batch = member(line, "experiment", "batch_size");
    const json_int_t number = json_integer_value(batch);
    if (batch && !json_is_null(batch) &&
        (!json_is_integer(batch) || number < 1 || number > 1000000))
        return bn_fail(st, BN_FORMAT,
                       "experiment.batch_size is neither null nor from 1 to 1000000");
    e->batch = (int)number;
    return BN_OK;
}

/* Appends SECTION.NAME, VALUE, to OUT: "name" of a truth, "name=value" of others; nothing of what
 * is null or false. */
static bn_code put_setting(const char *section, const char *name, const json_t *value, bn_text *out,
                           bn_status *st)
{
    if (!value || json_is_null(value) || json_is_false(value))
        return BN_OK;
    if (json_is_object(value) || json_is_array(value))
        return bn_fail(st, BN_FORMAT, "%s.%s is neither a text, a number, true, false nor null",
                       section, name);
    bn_text_printf(out, "%s%s", out->length ? " " : "", name);
    if (json_is_string(value))
        bn_text_printf(out, "=%s", json_string_value(value));
    else if (json_is_integer(value))
        bn_text_printf(out, "=%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        bn_text_printf(out, "=%.17g", json_real_value(value));
    return BN_OK;
}

/* Other settings of a line, in the order of names: lines that differ in them are not of one
 * experiment. */
static bn_code put_rest(const json_t *line, bn_text *out, bn_status *st)
{
    static const char *const known[] = {
        "accelerator", "accelerator_model", "xla", "xla_flags", "dynamo", "test", "batch_size"};
    json_t *all = json_object_get(line, "experiment"), *value;
    const char *last = NULL, *name;
    bn_code code = BN_OK;
    for (const char *next = ""; next && code == BN_OK; last = next) {
        next = NULL;
        json_object_foreach(all, name, value)
        {
            if ((!last || strcmp(name, last) > 0) && (!next || strcmp(name, next) < 0))
                next = name;
        }
        bool is_known = !next;
        for (size_t i = 0; i < sizeof known / sizeof *known && next; i++)
            is_known = is_known || strcmp(known[i], next) == 0;
        if (!is_known)
            code = put_setting("experiment", next, json_object_get(all, next), out, st);
    }
    return code;
}

/* The settings other than the flags of XLA; those that all runs have are not named. */
static bn_code put_settings(const json_t *line, bn_text *out, bn_status *st)
{
    static const char *const rows[][3] = {{"model", "suite_name", "torchbench"},
                                          {"experiment", "xla", "PJRT"}};
    bn_code code = BN_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && code == BN_OK; i++) {
        const json_t *value = member(line, rows[i][0], rows[i][1]);
        const char *text = json_string_value(value);
        if (text && text[0] && strcmp(text, rows[i][2]) != 0)
            code = put_setting(rows[i][0], rows[i][1], value, out, st);
    }
    return code == BN_OK ? put_rest(line, out, st) : code;
}

/* "pytorch-xla on cuda, One of Tesla V100": what all modes of one machine share. */
static bn_code take_runtime(const json_t *line, res_experiment *e, bn_status *st)
{
    char accelerator[64] = "", device[160] = "", flags[200] = "";
    bn_text settings = {0};
    bn_code code =
        take_text(line, "experiment", "accelerator", false, accelerator, sizeof accelerator, st);
    if (code == BN_OK)
        code = take_text(line, "experiment", "accelerator_model", true, device, sizeof device, st);
    if (code == BN_OK)
        code = take_text(line, "experiment", "xla_flags", true, flags, sizeof flags, st);
    bn_text_puts(&settings, flags);
    if (code == BN_OK)
        code = put_settings(line, &settings, st);
    if (code == BN_OK && settings.length >= sizeof e->settings)
        code = bn_fail(st, BN_FORMAT, "its settings are longer than %zu bytes",
                       sizeof e->settings - 1);
    if (code == BN_OK) {
        snprintf(e->runtime, sizeof e->runtime, "pytorch-xla on %s%s%s", accelerator,
                 device[0] != '\0' ? ", " : "", device);
        snprintf(e->settings, sizeof e->settings, "%s", settings.length ? settings.data : "");
    }
    bn_text_free(&settings);
    return code;
}

static bn_code take_experiment(const json_t *line, res_experiment *e, bn_status *st)
{
    bn_code code = take_text(line, "model", "model_name", false, e->model, sizeof e->model, st);
    if (code == BN_OK)
        code = take_mode(line, e, st);
    if (code == BN_OK)
        code = take_phase(line, e, st);
    if (code == BN_OK)
        code = take_batch(line, e, st);
    if (code == BN_OK)
        code = take_runtime(line, e, st);
    for (size_t i = 0; i < sizeof model_names / sizeof *model_names; i++)
        if (strcmp(e->model, model_names[i].theirs) == 0)
            strcpy(e->model, model_names[i].ours);
    return code;
}

/* ---- times ------------------------------------------------------------------------------- */

/* The list metrics.NAME in nanoseconds, over DIVIDE each; *VALUES is for free, NULL where the line
 * has no such list or null. */
static bn_code take_times(const json_t *line, const char *name, double divide, uint64_t **values,
                          size_t *count, bn_status *st)
{
    const json_t *list = member(line, "metrics", name);
    *values = NULL;
    *count = 0;
    if (!list || json_is_null(list))
        return BN_OK;
    if (!json_is_array(list))
        return bn_fail(st, BN_FORMAT, "metrics.%s is not a list", name);
    *values = bn_zalloc(json_array_size(list), sizeof **values);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        const double seconds = json_number_value(value) / divide;
        if (!json_is_number(value) || seconds < 0 || seconds > MOST_SECONDS) {
            free(*values);
            *values = NULL;
            return bn_fail(st, BN_FORMAT, "metrics.%s[%zu] is not a time in seconds", name, i);
        }
        (*values)[i] = (uint64_t)llround(seconds * 1e9);
    }
    *count = json_array_size(list);
    return BN_OK;
}

/* How many runs of COUNT come before the measured ones. */
static size_t warmup_of(size_t count)
{
    return count > WARMUP_RUNS ? WARMUP_RUNS : count > 1 ? 1 : count;
}

/* Puts all of a step into "other", except the tracing, where the line has its time. */
static void fill_steps(res_record *record, const uint64_t *times, const uint64_t *trace)
{
    const size_t skip = record->warmup_count;
    memcpy(record->warmup_wall_ns, times, skip * sizeof *times);
    for (size_t i = 0; i < record->step_count; i++) {
        uint64_t *parts = record->part_ns + i * BN_PART_COUNT;
        const uint64_t wall = times[skip + i];
        const uint64_t traced = trace ? trace[skip + i] : 0;
        record->wall_ns[i] = wall;
        parts[BN_PART_TRACE] = traced;
        parts[BN_PART_OTHER] = wall - traced;
    }
}

static bn_code take_samples(const json_t *line, res_record *record, bn_status *st)
{
    const json_t *iterations = json_object_get(line, "iterations_per_run");
    const json_int_t per_run = json_integer_value(iterations);
    uint64_t *times = NULL, *trace = NULL;
    size_t count = 0, traces = 0;
    if (!json_is_integer(iterations) || per_run < 1 || per_run > 1000000)
        return bn_fail(st, BN_FORMAT, "iterations_per_run is not from 1 to 1000000");
    /* Iterations of a run are submitted without a wait between them. */
    record->experiment.in_flight = (int)per_run;
    bn_code code = take_times(line, "total_time", (double)per_run, &times, &count, st);
    if (code == BN_OK)
        code = take_times(line, "trace_per_iter_time", 1, &trace, &traces, st);
    if (code == BN_OK && count == 0) {
        record->status = BN_EXECUTE;
        strcpy(record->message, "the line has neither times nor an error");
    }
    if (code == BN_OK && traces > 0 && traces != count)
        code = bn_fail(st, BN_FORMAT,
                       "metrics.trace_per_iter_time has %zu times, and total_time has %zu", traces,
                       count);
    for (size_t i = 0; i < traces && code == BN_OK; i++)
        if (trace[i] > times[i])
            code = bn_fail(st, BN_FORMAT,
                           "metrics.trace_per_iter_time[%zu] is longer than the iteration", i);
    const size_t skip = warmup_of(count);
    if (code == BN_OK)
        code = res_record_reserve_steps(record, count - skip, skip, st);
    if (code == BN_OK && count > 0)
        fill_steps(record, times, traces > 0 ? trace : NULL);
    free(times);
    free(trace);
    return code;
}

/* The class of failure that our own supervisor would give to ERROR, by its text. */
static bn_code class_of(const char *error)
{
    if (strcmp(error, "SKIP") == 0)
        return BN_NOT_SUPPORTED;
    if (strcasestr(error, "timed out") || strcasestr(error, "timeout"))
        return BN_TIMEOUT;
    if (strcasestr(error, "out of memory") || strstr(error, "RESOURCE_EXHAUSTED"))
        return BN_OUT_OF_MEMORY;
    return BN_EXECUTE;
}

/* ---- a line -------------------------------------------------------------------------------- */

/* Appends TEXT, a line, spaced as Python writes it: lines that were copied with other spaces, or
 * with a carriage return at the end, are the same lines. */
static void put_spaced(const char *text, size_t length, bn_text *out)
{
    bool in_text = false;
    for (size_t at = 0; at < length; at++) {
        if (!in_text && isspace((unsigned char)text[at]))
            continue;
        const size_t size = in_text && text[at] == '\\' && at + 1 < length ? 2 : 1;
        in_text = in_text != (text[at] == '"');
        bn_text_append(out, text + at, size);
        if (!in_text && (text[at] == ',' || text[at] == ':'))
            bn_text_putc(out, ' ');
        at += size - 1;
    }
}

/* Makes the id from the line's time and contents: the same line has the same id wherever it is
 * read. */
static bn_code make_id(const json_t *line, const char *text, size_t length, res_record *record,
                       bn_status *st)
{
    const json_t *stamp = json_object_get(line, "timestamp");
    char digest[BN_SHA256_TEXT], date[32];
    const double seconds = json_is_number(stamp) ? json_number_value(stamp) : 0;
    /* Ids with years beyond 9999 would not sort. */
    if ((stamp && !json_is_number(stamp)) || seconds < 0 || seconds > 253402300799.0)
        return bn_fail(st, BN_FORMAT, "timestamp is not seconds since 1970");
    const time_t whole = (time_t)seconds;
    struct tm utc;
    bn_text spaced = {0};
    gmtime_r(&whole, &utc);
    strftime(date, sizeof date, "%Y%m%dT%H%M%S", &utc);
    put_spaced(text, length, &spaced);
    bn_sha256(spaced.data, spaced.length, digest);
    bn_text_free(&spaced);
    snprintf(record->id, sizeof record->id, "%.15s.%06u000Z-import-%.16s", date,
             (unsigned)((seconds - (double)whole) * 1e6), digest);
    return BN_OK;
}

static bn_code take_line(const json_t *line, const char *text, size_t length, res_record *record,
                         bn_status *st)
{
    static const char *const sections[] = {"model", "experiment", "metrics"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!json_is_object(json_object_get(line, sections[i])))
            return bn_fail(st, BN_FORMAT, "%s is not an object", sections[i]);
    /* Such a line was made from a record, which says more. */
    if (json_object_get(line, "bench"))
        return bn_fail(st, BN_FORMAT, "this is an export of bench: copy its records instead");
    bn_code code = make_id(line, text, length, record, st);
    if (code == BN_OK)
        code = take_experiment(line, &record->experiment, st);
    if (code != BN_OK)
        return code;
    const json_t *value = member(line, "metrics", "error");
    const char *error = json_string_value(value);
    if (value && !error && !json_is_null(value))
        return bn_fail(st, BN_FORMAT, "metrics.error is neither a text nor null");
    if (error) {
        record->status = class_of(error);
        bn_status words = {.code = BN_OK};
        bn_fail(&words, record->status, "%s", error); /* as plain text */
        snprintf(record->message, sizeof record->message, "%s", words.message);
        record->experiment.in_flight = 1;
    } else {
        code = take_samples(line, record, st);
    }
    return code;
}

/* Python writes numbers that JSON does not have as bare words. Appends TEXT with each as an object,
 * which no member that we read may be, and which is kept with the line. Strings stay as they are.
 */
static void put_strict(const char *text, size_t length, bn_text *out)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    bool in_text = false;
    for (size_t at = 0; at < length;) {
        size_t i = 0, size = 1;
        for (; i < sizeof words / sizeof *words && !in_text; i++) {
            size = strlen(words[i]);
            if (size <= length - at && memcmp(text + at, words[i], size) == 0)
                break;
            size = 1;
        }
        if (in_text && text[at] == '\\' && at + 1 < length)
            size = 2;
        else if (text[at] == '"')
            in_text = !in_text;
        if (size > 2)
            bn_text_printf(out, "{\"float\": \"%s\"}", words[i]);
        else
            bn_text_append(out, text + at, size);
        at += size;
    }
}

/* TEXT, a line, as a new record. */
static bn_code read_line(const char *text, size_t length, const char *file, size_t number,
                         res_record **record, bn_status *st)
{
    json_t *line = NULL;
    bn_text strict = {0};
    put_strict(text, length, &strict);
    bn_code code = res_json_parse(strict.data, strict.length, &line, st);
    bn_text_free(&strict);
    if (code != BN_OK)
        return code;
    res_record *fresh = res_record_new();
    if (!json_is_object(line))
        code = bn_fail(st, BN_FORMAT, "not a JSON object");
    if (code == BN_OK)
        code = take_line(line, text, length, fresh, st);
    if (code == BN_OK) {
        res_provenance_set(fresh, RES_PROV_IMPORTED,
                           json_pack("{s:s, s:o, s:I, s:O}", "from", "pytorch-xla", "file",
                                     res_json_text(file), "line_number", (json_int_t)number, "line",
                                     line));
        code = res_record_check(fresh, st);
    }
    json_decref(line);
    if (code == BN_OK)
        *record = fresh;
    else
        res_record_free(fresh);
    return code;
}

/* ---- a file ---------------------------------------------------------------------------------- */

bn_code res_import_lines(const char *file, const char *data, res_collection *all, bn_status *st)
{
    static const char mark[] = "\xef\xbb\xbf"; /* which editors put before UTF-8 */
    size_t number = 0, room = 0;
    bn_code code = BN_OK;
    data += strncmp(data, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    for (const char *at = data, *end; *at != '\0' && code == BN_OK; at = end + (*end == '\n')) {
        end = at + strcspn(at, "\n");
        number++;
        if (strspn(at, " \t\r") == (size_t)(end - at))
            continue;
        bn_grow(&all->records, all->count + 1, &room, sizeof *all->records);
        code = read_line(at, (size_t)(end - at), file, number, &all->records[all->count], st);
        if (code == BN_OK)
            all->count++;
        else
            bn_context(st, "%s:%zu", file, number);
    }
    return code;
}

bn_code res_import(const char *format, const char *file, const char *store, res_imported *done,
                   bn_status *st)
{
    char *data = NULL;
    size_t size = 0;
    res_collection all = {0};
    if (!bn_is_choice(format, RES_IMPORT_NAMES))
        return bn_fail_choice(st, "import format", format, RES_IMPORT_NAMES);
    bn_code code = bn_regular_read(file, &data, &size, st);
    if (code == BN_OK && strlen(data) != size)
        code = bn_fail(st, BN_FORMAT, "%s: not text: there is a zero byte in it", file);
    if (code == BN_OK)
        code = res_import_lines(file, data, &all, st);
    if (code == BN_OK && all.count == 0)
        code = bn_fail(st, BN_FORMAT, "%s: no line with a result in it", file);
    for (size_t i = 0; code == BN_OK && i < all.count; i++) {
        res_taken taken;
        code = res_store_take(store, all.records[i], NULL, NULL, 0, &taken, st);
        if (code == BN_OK && taken == RES_TAKEN_KNOWN)
            done->known++;
        else if (code == BN_OK)
            done->written++;
        done->instead += code == BN_OK && taken == RES_TAKEN_INSTEAD;
    }
    res_collection_free(&all);
    free(data);
    return code;
}
