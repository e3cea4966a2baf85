/*
 * speedup_findings.c - findings of the speedup table in sentences: significant differences, and
 * comparisons that are inconclusive or missing.
 */
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_cause(const res_cause *cause, bn_text *out)
{
    const double saved = cause->saved_ns.estimate;
    if (cause->kind == RES_CAUSE_TRACING)
        bn_text_puts(out, "tracing ");
    else if (cause->kind == RES_CAUSE_DEVICE)
        bn_text_puts(out, "device time ");
    else if (cause->kind == RES_CAUSE_PART)
        bn_text_printf(out, "%s ", bn_part_name(cause->part));
    else
        bn_text_puts(out, "overhead of executions ");
    bn_text_printf(out, "%s %s", res_time(fabs(saved)).text, saved > 0 ? "less" : "more");
}

static void put_causes(const res_finding *finding, bn_text *out)
{
    const double executions = fabs(finding->executions_added);
    if (executions > 0)
        bn_text_printf(out, ", with %.4g execution%s %s", executions, executions == 1 ? "" : "s",
                       finding->executions_added > 0 ? "more" : "fewer");
    for (size_t i = 0; i < finding->cause_count; i++) {
        bn_text_puts(out, i == 0 ? "; " : ", ");
        put_cause(&finding->causes[i], out);
    }
    bn_text_puts(
        out, finding->cause_count > 0 ? "." : "; no component of the step differs significantly.");
}

static const char *program_sentence(res_program program)
{
    switch (program) {
    case RES_PROGRAM_SAME:
        return " The device runs the same program.";
    case RES_PROGRAM_COMPILED:
        return " The device runs another program, compiled differently from the same text.";
    case RES_PROGRAM_TEXT:
        return " The device runs another program.";
    case RES_PROGRAM_UNSTEADY:
        return " The compiler makes different programs from the same text.";
    case RES_PROGRAM_UNKNOWN:
        break;
    }
    return " Whether the device runs the same program is unknown: the plugin does not show it.";
}

/* "bert infer capture: 1.49x as fast as lazy [1.44, 1.54], 50.1 us less a step; tracing ..." */
static void put_difference(const res_speedup *speedup, const res_finding *finding, bn_text *out)
{
    const res_speedup_row *row = &speedup->rows[finding->row];
    const res_interval ratio = row->ratio.ratio;
    const res_interval inverse = {1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low};
    const bool faster = finding->kind == RES_FINDING_FASTER;
    /* Without bench's lazy it is another row. */
    const res_way_words base = res_way_of(&speedup->rows[row->base_row].record->experiment);
    res_speedup_name(speedup, row, out);
    if (faster)
        bn_text_printf(out, ": %s as fast as %s %s", res_ratio(ratio).text, base.text,
                       res_ratio_range(ratio).text);
    else
        bn_text_printf(out, ": takes %s as long as %s %s", res_ratio(inverse).text, base.text,
                       res_ratio_range(inverse).text);
    bn_text_printf(out, ", %s %s a step", res_time(fabs(finding->saved_ns)).text,
                   finding->saved_ns > 0 ? "less" : "more");
    put_causes(finding, out);
    bn_text_puts(out, program_sentence(row->program));
}

static json_t *finding_json(const char *kind, bn_text *sentence, json_t *ids)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(kind));
    json_object_set_new(object, "sentence", res_json_text(sentence->data ? sentence->data : ""));
    json_object_set_new(object, "rows", ids);
    bn_text_free(sentence);
    return object;
}

static void add_differences(const res_speedup *speedup, const res_finding *list, size_t count,
                            json_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const res_finding *f = &list[i];
        bn_text text = {0};
        if (f->kind != RES_FINDING_FASTER && f->kind != RES_FINDING_SLOWER)
            continue;
        put_difference(speedup, f, &text);
        json_t *ids = json_pack("[o]", res_json_text(speedup->rows[f->row].record->id));
        json_array_append_new(out, finding_json(res_finding_name(f->kind), &text, ids));
    }
}

/* "2.3 %", "12 %"; "4x" of what is larger than the whole. */
static res_figure percent(double share)
{
    res_figure figure = {"-"};
    if (share >= 1)
        snprintf(figure.text, sizeof figure.text, "%.0fx", 1 + share);
    else if (isfinite(share))
        snprintf(figure.text, sizeof figure.text, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
    return figure;
}

/* The baseline of the rows: lazy, but for cells without one. */
static const char *base_word(const res_speedup *speedup)
{
    for (size_t i = 0; i < speedup->count; i++)
        if (speedup->rows[i].base && !res_is_lazy(&speedup->rows[i].record->experiment))
            return "the baseline";
    return "lazy";
}

/* How much smaller a difference than ONCE twice the processes detect; further processes of a run
 * are no values where runs are. */
static void put_twice(const res_pool_ratio *ratio, double once, double mde, char *text, size_t size)
{
    const size_t twice = 2 * ratio->log.values;
    if (strcmp(percent(mde).text, percent(once).text) == 0)
        snprintf(text, size, "no less with more %s", ratio->of_runs ? "runs" : "processes");
    else if (ratio->of_runs)
        snprintf(text, size, "%s with %zu runs", percent(mde).text, twice);
    else
        snprintf(text, size, "%s with --processes %zu", percent(mde).text, twice);
}

static void add_undecided(const res_speedup *speedup, const res_finding *list, size_t count,
                          json_t *out)
{
    res_named rows = {0};
    bn_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const res_finding *f = &list[i];
        if (f->kind != RES_FINDING_NO_DIFFERENCE)
            continue;
        const res_speedup_row *row = &speedup->rows[f->row];
        char twice[128];
        put_twice(&row->ratio, f->mde, f->mde_twice, twice, sizeof twice);
        res_speedup_name_row(speedup, row, &rows, "%s %s (%s; %s)",
                             res_ratio(row->ratio.ratio).text,
                             res_ratio_range(row->ratio.ratio).text, percent(f->mde).text, twice);
    }
    if (rows.count == 0)
        return;
    json_t *ids = json_incref(rows.ids);
    bn_text_printf(&text,
                   "No significant difference from %s (in brackets the smallest difference that a "
                   "further table would detect with 80 %% power): ",
                   base_word(speedup));
    res_speedup_put_named(&rows, &text);
    bn_text_puts(&text, res_interference_busy(&speedup->interference)
                            ? ". On a quieter machine smaller differences can be detected."
                            : ".");
    json_array_append_new(out,
                          finding_json(res_finding_name(RES_FINDING_NO_DIFFERENCE), &text, ids));
}

/* Adds the sentence "HEADREST: ROWS." of KIND where there are rows; releases ROWS. */
static void add_named(const char *kind, const char *head, const char *rest, res_named *rows,
                      json_t *out)
{
    bn_text text = {0};
    if (rows->count == 0)
        return;
    json_t *ids = json_incref(rows->ids);
    bn_text_printf(&text, "%s%s: ", head, rest);
    res_speedup_put_named(rows, &text);
    bn_text_putc(&text, '.');
    json_array_append_new(out, finding_json(kind, &text, ids));
}

static void add_too_few(const res_speedup *speedup, const res_finding *list, size_t count,
                        json_t *out)
{
    static const char few[] = "Inconclusive: fewer than three processes; ";
    const char *kind = res_finding_name(RES_FINDING_TOO_FEW);
    res_named ours = {0}, others = {0};
    for (size_t i = 0; i < count; i++) {
        const res_speedup_row *row = &speedup->rows[list[i].row];
        if (list[i].kind == RES_FINDING_TOO_FEW)
            res_speedup_name_row(speedup, row, res_speedup_is_ours(row) ? &ours : &others, "%s",
                                 "");
    }
    add_named(kind, few, "use --processes 4", &ours, out);
    add_named(kind, few, "record or import more", &others, out);
}

/* Rows of a kind without a comparison, in one sentence that begins with HEAD and REST. */
static void add_rest(const res_speedup *speedup, const res_finding *list, size_t count,
                     res_finding_kind kind, const char *head, const char *rest, json_t *out)
{
    res_named rows = {0};
    for (size_t i = 0; i < count; i++) {
        const res_speedup_row *row = &speedup->rows[list[i].row];
        if (list[i].kind != kind)
            continue;
        if (kind == RES_FINDING_CONDITIONS)
            res_speedup_name_row(speedup, row, &rows, "(%s)", row->other_conditions);
        else if (kind == RES_FINDING_FAILED)
            res_speedup_name_row(speedup, row, &rows, "(%s)", res_speedup_failure(row));
        else
            res_speedup_name_row(speedup, row, &rows, "%s", "");
    }
    add_named(res_finding_name(kind), head, rest, &rows, out);
}

/* The reason why the latest process of ROW has no device time, of an execution without one. */
static const char *refusal_note(const res_speedup_row *row)
{
    for (size_t i = 0; i < row->record->execution_count; i++) {
        const res_execution *x = &row->record->executions[i];
        /* Those of the warm-up alone have nothing to do with a step. */
        if (x->per_step > 0 && x->device_source == BN_DEVICE_TIME_UNAVAILABLE && x->device_note[0])
            return x->device_note;
    }
    return "";
}

static void name_refused(const res_speedup *speedup, const res_speedup_row *row, res_named *rows)
{
    const res_figures *f = &row->figures;
    if (f->refusal == RES_REFUSED_DEVICE)
        res_speedup_name_row(speedup, row, rows, "(above the PJRT time)");
    else if (isnan(f->device_scale))
        res_speedup_name_row(speedup, row, rows, "(above the step)");
    else if (f->device.processes > 0)
        res_speedup_name_row(speedup, row, rows, "(by %zu of %zu processes only)",
                             f->device.processes, row->pool.counted);
    else if (refusal_note(row)[0])
        res_speedup_name_row(speedup, row, rows, "(%s)", refusal_note(row));
    else
        res_speedup_name_row(speedup, row, rows, "%s", "");
}

/* Device times that were refused, and how to determine them. */
static void add_devices(const res_speedup *speedup, json_t *out)
{
    res_named rows = {0};
    bn_text text = {0};
    bool probes = false; /* some were probed: more of them may determine it */
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (!res_device_refused(row))
            continue;
        name_refused(speedup, row, &rows);
        probes = probes || !strstr(refusal_note(row), RES_ASK_FOR_SLOPE);
    }
    if (rows.count == 0)
        return;
    json_t *ids = json_incref(rows.ids);
    bn_text_puts(&text, "Device time unknown: ");
    res_speedup_put_named(&rows, &text);
    bn_text_puts(&text, probes ? ". More rounds (--min-time), more processes (--processes 8) or "
                                 "less interference may determine it."
                               : ".");
    json_array_append_new(out, finding_json("device not told", &text, ids));
}

/* Nothing was compared, and why. */
static void add_nothing(const res_speedup *speedup, json_t *out)
{
    bn_text text = {0};
    bool lazy = true;
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        lazy = lazy && row->pool.count > 0 && res_is_lazy(&row->record->experiment);
    }
    bn_text_puts(&text, "Nothing was compared: ");
    bn_text_puts(&text, lazy ? "all rows are lazy; --mode lazy,capture measures both modes."
                             : "no row has a lazy baseline that succeeded.");
    json_t *finding = finding_json("nothing", &text, json_array());
    json_object_set_new(finding, "reason", json_string(lazy ? "all lazy" : "no base"));
    json_array_append_new(out, finding);
}

json_t *res_speedup_findings(const res_speedup *speedup)
{
    json_t *out = json_array();
    res_finding *list = bn_zalloc(speedup->count, sizeof *list);
    const size_t count = res_speedup_explain(speedup, list);
    add_differences(speedup, list, count, out);
    add_undecided(speedup, list, count, out);
    const bool lazy = strcmp(base_word(speedup), "lazy") == 0;
    const char *since = lazy ? "Not compared, because lazy" : "Not compared, because the baseline";
    add_too_few(speedup, list, count, out);
    add_rest(speedup, list, count, RES_FINDING_APART,
             "Inconclusive: fewer than three processes measured both the row and its baseline; "
             "measure both in one run",
             "", out);
    add_rest(speedup, list, count, RES_FINDING_OTHER_BUILD, since, " was measured on another build",
             out);
    add_rest(speedup, list, count, RES_FINDING_CONDITIONS, since,
             " was measured under other conditions", out);
    add_rest(speedup, list, count, RES_FINDING_NO_BASE,
             "Not compared, because no lazy baseline succeeded", "", out);
    if (json_array_size(out) == 0 && speedup->count > 0)
        add_nothing(speedup, out);
    add_rest(speedup, list, count, RES_FINDING_FAILED, "Failed", "", out);
    add_devices(speedup, out);
    free(list);
    return out;
}
