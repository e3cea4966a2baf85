/*
 * report.c - a front end's report, REPORT.json (docs/frontends.md). A script is ours, but its
 * figures come out of a framework: each member is checked.
 */
#include "harness/frontends/frontends.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_VERSIONS   64
#define MOST_DEVIATIONS 64

static bn_code wrong(const char *name, const char *what, bn_status *st)
{
    return bn_fail(st, BN_FORMAT, "its \"%s\" is not %s", name, what);
}

/* OBJECT's text NAME of at most FRONTEND_TEXT bytes; NULL where there is none. */
static const char *text_in(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const size_t length = json_string_length(value);
    return length > 0 && length <= FRONTEND_TEXT ? json_string_value(value) : NULL;
}

/* A member that may be absent or null: a number from 0 on, NaN where there is none. */
static bn_code optional_number(const json_t *root, const char *name, double *number, bn_status *st)
{
    const json_t *value = json_object_get(root, name);
    *number = (double)NAN;
    if (!value || json_is_null(value))
        return BN_OK;
    *number = json_number_value(value);
    return json_is_number(value) && isfinite(*number) && *number >= 0 && *number <= 1e15
               ? BN_OK
               : wrong(name, "a number from 0 on, or null", st);
}

/* ---- failures ------------------------------------------------------------------------------ */

/* The failure that "error" reports. */
static bn_code reported_error(const json_t *error, const frontend_info *row, bn_status *st)
{
    static const struct {
        const char *name;
        bn_code code;
    } classes[] = {{"not_installed", BN_NOT_FOUND},
                   {"not_supported", BN_NOT_SUPPORTED},
                   {"values", BN_WRONG_RESULT},
                   {"runtime", BN_EXECUTE}};
    const char *class = text_in(error, "class"), *message = text_in(error, "message");
    char command[RES_TEXT + 40];
    for (size_t i = 0; class && message && i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(classes[i].name, class) != 0)
            continue;
        if (classes[i].code != BN_NOT_FOUND)
            return bn_fail(st, classes[i].code, "%s: %s", row->name, message);
        frontend_command(row, command, sizeof command);
        return bn_fail(st, BN_NOT_FOUND, "%s: %.*s; or: %s", row->name, BN_FIT(message, 700),
                       command);
    }
    return wrong("error", "{\"class\", \"message\"} of a known class", st);
}

/* ---- which request it answers ---------------------------------------------------------------- */

static bn_code check_same(const json_t *root, const char *name, const char *asked, bn_status *st)
{
    const char *text = text_in(root, name);
    if (!text)
        return wrong(name, "a text", st);
    return strcmp(text, asked) == 0
               ? BN_OK
               : bn_fail(st, BN_FORMAT, "its \"%s\" is '%s' where '%s' was asked for", name, text,
                         asked);
}

static bn_code check_identity(const json_t *root, const frontend_info *row,
                              const frontend_request *r, bn_status *st)
{
    const res_experiment *w = r->what;
    const json_t *dropout = json_object_get(root, "dropout");
    const bool drops = json_is_true(dropout), asked = r->dropout && strcmp(w->phase, "train") == 0;
    bn_code code = check_same(root, "front_end", row->name, st);
    if (code == BN_OK)
        code = check_same(root, "model", w->model, st);
    if (code == BN_OK)
        code = check_same(root, "phase", w->phase, st);
    if (code == BN_OK)
        code = check_same(root, "mode", w->mode, st);
    if (code == BN_OK && dropout && !json_is_boolean(dropout))
        code = wrong("dropout", "true or false", st);
    if (code == BN_OK && drops != asked)
        code = bn_fail(st, BN_FORMAT, "it trained %s dropout where it was to be %s",
                       drops ? "with" : "without", asked ? "with" : "without");
    return code;
}

/* Versions are texts by the packages' names. */
static bn_code check_versions(const json_t *root, bn_status *st)
{
    json_t *versions = json_object_get(root, "versions"), *value;
    const char *name;
    if (!json_is_object(versions) || json_object_size(versions) > MOST_VERSIONS)
        return wrong("versions", "an object of a few texts", st);
    json_object_foreach(versions, name, value)
    {
        if (!text_in(versions, name) || !bn_is_plain(json_string_value(value)) ||
            !bn_is_plain(name))
            return wrong("versions", "an object of texts", st);
    }
    return BN_OK;
}

/* Values that the framework computes differently, by its report: "NAME: sentence" each. */
static bn_code check_deviations(const json_t *root, bn_status *st)
{
    const json_t *list = json_object_get(root, "deviations");
    const size_t count = json_array_size(list);
    bool whole = !list || (json_is_array(list) && count <= MOST_DEVIATIONS);
    for (size_t i = 0; i < count && whole; i++) {
        const json_t *one = json_array_get(list, i);
        const char *text = json_string_value(one);
        whole = text && json_string_length(one) <= FRONTEND_TEXT && strstr(text, ": ");
    }
    return whole ? BN_OK : wrong("deviations", "a list of \"NAME: sentence\"", st);
}

static bn_code check_words(const json_t *root, frontend_report *report, bn_status *st)
{
    report->what = text_in(root, "what");
    report->framework = text_in(root, "framework");
    if (!report->what || !report->framework)
        return wrong(report->what ? "framework" : "what", "a text", st);
    if (!text_in(root, "python"))
        return wrong("python", "a text", st);
    const json_t *flags = json_object_get(root, "flags");
    if (flags && !json_is_object(flags))
        return wrong("flags", "an object", st);
    if (check_deviations(root, st) != BN_OK)
        return st->code;
    return check_versions(root, st);
}

/* ---- figures ------------------------------------------------------------------------------- */

/* Losses of the first steps; a training has one at least. */
static bn_code read_losses(const json_t *root, bool train, frontend_report *report, bn_status *st)
{
    const json_t *list = json_object_get(root, "losses");
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count > FRONTEND_LOSSES || (train && count == 0))
        return wrong("losses", "a list of the first steps' losses", st);
    for (size_t i = 0; i < count; i++) {
        const json_t *loss = json_array_get(list, i);
        report->losses[i] = json_number_value(loss);
        if (!json_is_number(loss) || !isfinite(report->losses[i]))
            return wrong("losses", "a list of numbers", st);
    }
    report->loss_count = count;
    return BN_OK;
}

static bn_code whole_number(const json_t *object, const char *name, json_int_t most,
                            json_int_t *number, bn_status *st)
{
    const json_t *value = json_object_get(object, name);
    *number = json_integer_value(value);
    return json_is_integer(value) && *number >= 0 && *number <= most
               ? BN_OK
               : wrong(name, "a whole number in its range", st);
}

/* The steps' own times, and their median. */
static bn_code read_walls(const json_t *measured, frontend_report *report, bn_status *st)
{
    const json_t *list = json_object_get(measured, "wall_ns");
    const size_t count = json_array_size(list);
    const double span = (double)(report->last_end_ns - report->first_start_ns);
    double sum = 0;
    if (count == 0 || count > FRONTEND_MOST_STEPS)
        return wrong("measured.wall_ns", "a list of the steps' times", st);
    double *walls = bn_alloc(count * sizeof *walls);
    for (size_t i = 0; i < count; i++) {
        const json_t *wall = json_array_get(list, i);
        walls[i] = json_is_integer(wall) ? (double)json_integer_value(wall) : -1;
        sum += walls[i] > 0 ? walls[i] : (double)INFINITY;
    }
    report->steps = count;
    report->own_median_ns = res_median(walls, count);
    free(walls);
    /* The steps lie between the first begin and the last end, one after the other. */
    return sum <= span * (1 + 1e-9)
               ? BN_OK
               : wrong("measured.wall_ns", "steps within the measured time", st);
}

static bn_code read_times(const json_t *root, frontend_report *report, bn_status *st)
{
    const json_t *measured = json_object_get(root, "measured");
    json_int_t first = 0, last = 0, warmup = 0;
    if (!json_is_object(measured))
        return wrong("measured", "an object", st);
    bn_code code = whole_number(measured, "first_start_ns", INT64_C(1) << 60, &first, st);
    if (code == BN_OK)
        code = whole_number(measured, "last_end_ns", INT64_C(1) << 60, &last, st);
    if (code == BN_OK && last <= first)
        code = wrong("measured", "a time that ends after it begins", st);
    if (code == BN_OK)
        code = whole_number(root, "warmup_steps", FRONTEND_MOST_STEPS, &warmup, st);
    report->first_start_ns = (uint64_t)first;
    report->last_end_ns = (uint64_t)last;
    report->warmup_steps = warmup;
    return code == BN_OK ? read_walls(measured, report, st) : code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bn_code read_answer(const json_t *root, const frontend_info *row, const frontend_request *r,
                           frontend_report *report, bn_status *st)
{
    const json_t *error = json_object_get(root, "error");
    if (!json_is_object(root))
        return bn_fail(st, BN_FORMAT, "it is no object");
    if (error)
        return reported_error(error, row, st);
    double once; /* only checked */
    bn_code code = check_identity(root, row, r, st);
    if (code == BN_OK)
        code = check_words(root, report, st);
    if (code == BN_OK)
        code = read_losses(root, strcmp(r->what->phase, "train") == 0, report, st);
    if (code == BN_OK)
        code = optional_number(root, "nodes_per_step", &report->nodes_per_step, st);
    if (code == BN_OK)
        code = optional_number(root, "nodes_once", &once, st);
    if (code == BN_OK)
        code = optional_number(root, "trace_ns_per_step", &report->trace_ns_per_step, st);
    return code == BN_OK && !r->values ? read_times(root, report, st) : code;
}

bn_code frontend_report_parse(const char *text, size_t size, const frontend_info *row,
                              const frontend_request *request, frontend_report *report,
                              bn_status *st)
{
    *report = (frontend_report){.own_median_ns = (double)NAN,
                                .nodes_per_step = (double)NAN,
                                .trace_ns_per_step = (double)NAN};
    bn_code code = res_json_parse(text, size, &report->root, st);
    if (code == BN_OK)
        code = read_answer(report->root, row, request, report, st);
    return code == BN_FORMAT ? bn_context(st, "the report of %s", row->name) : code;
}

bn_code frontend_report_read(const char *path, const frontend_info *row,
                             const frontend_request *request, frontend_report *report,
                             bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    int fd = -1;
    *report = (frontend_report){.root = NULL};
    bn_code code = bn_regular_open(path, &fd, &size, st);
    if (code == BN_OK && size > FRONTEND_MOST_ANSWER)
        code = bn_fail(st, BN_FORMAT, "the report of %s has %zu bytes", row->name, size);
    if (code == BN_OK)
        code = bn_regular_all(fd, path, size, &text, st);
    if (code == BN_OK)
        code = frontend_report_parse(text, size, row, request, report, st);
    if (fd >= 0)
        close(fd);
    free(text);
    return code;
}

void frontend_report_free(frontend_report *report)
{
    json_decref(report->root);
    *report = (frontend_report){.root = NULL};
}

/* ---- for the record -------------------------------------------------------------- */

json_t *frontend_report_provenance(const frontend_report *report)
{
    static const char *const members[] = {"framework",
                                          "versions",
                                          "python",
                                          "flags",
                                          "what",
                                          "optimizer",
                                          "dropout",
                                          "learning_rate",
                                          "parameters",
                                          "losses",
                                          "device",
                                          "deviations",
                                          "nodes_of",
                                          "nodes_once",
                                          "trace_of",
                                          "trace_once_ns",
                                          "parts_ns_per_step",
                                          "metrics_per_step",
                                          "fallbacks_per_step",
                                          NULL};
    json_t *kept = json_object();
    for (const char *const *name = members; *name; name++) {
        json_t *value = json_object_get(report->root, *name);
        if (value)
            json_object_set_new(kept, *name, json_deep_copy(value));
    }
    json_object_set_new(kept, "warmup_steps", json_integer(report->warmup_steps));
    json_object_set_new(kept, "measured_steps", json_integer((json_int_t)report->steps));
    json_object_set_new(kept, "own_wall_ns", res_json_real(report->own_median_ns));
    json_object_set_new(kept, "nodes_per_step", res_json_real(report->nodes_per_step));
    json_object_set_new(kept, "trace_ns_per_step", res_json_real(report->trace_ns_per_step));
    return kept;
}
