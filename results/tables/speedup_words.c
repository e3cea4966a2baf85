/*
 * speedup_words.c - the speedup table in sentences: what must be said beside its figures, what it
 * found, and what it could not tell.
 */
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of rows that one sentence names; it counts the rest. */
#define MOST_NAMED      6
/* A mean that is off the median by more, and what neighbours that are alike leave of a process. */
#define FAR             0.1
#define FEW_INDEPENDENT 8

/* ---- rows by name -------------------------------------------------------------------- */

res_axis_set res_speedup_varying(const res_speedup *speedup, size_t first, size_t end)
{
    res_axis_set mask = 0;
    const res_experiment *head = &speedup->rows[first].record->experiment;
    for (size_t i = first + 1; i < end; i++)
        mask |= res_setup_difference(head, &speedup->rows[i].record->experiment);
    return mask;
}

void res_speedup_name(const res_speedup *speedup, const res_speedup_row *row, bn_text *out)
{
    const res_record *record = row->record;
    const res_experiment *e = &record->experiment;
    res_axis_set mask = 0;
    bn_text setup = {0};
    bool one_block = true;
    for (size_t i = 0; i < speedup->count; i++) {
        const res_experiment *other = &speedup->rows[i].record->experiment;
        one_block = one_block && res_same_block(speedup->rows[i].record, record);
        if (strcmp(e->model, other->model) == 0 && strcmp(e->phase, other->phase) == 0)
            mask |= res_setup_difference(e, other);
    }
    res_setup_text(e, mask, &setup);
    bn_text_printf(out, "%s %s %s", e->model, e->phase, res_way_of(e).text);
    if (e->graphs > 1)
        bn_text_printf(out, " in %d graphs", e->graphs);
    if (setup.length > 0)
        bn_text_printf(out, ", %s", setup.data);
    if (!one_block)
        bn_text_printf(out, ", on %s%s", e->runtime, res_simulated_shown(record));
    out->failed = out->failed || setup.failed;
    bn_text_free(&setup);
}

/* Rows that one sentence is about. */
typedef struct named {
    bn_text text;
    size_t count;
    json_t *ids;
} named;

static void name_row(const res_speedup *speedup, const res_speedup_row *row, named *list,
                     const char *detail, ...) BN_PRINTF(4, 5);

/* Adds ROW with DETAIL, "(34 %)" say. */
static void name_row(const res_speedup *speedup, const res_speedup_row *row, named *list,
                     const char *detail, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, detail);
    vsnprintf(text, sizeof text, detail, arguments);
    va_end(arguments);
    if (!list->ids)
        list->ids = json_array();
    json_array_append_new(list->ids, res_json_text(row->record->id));
    if (list->count++ >= MOST_NAMED)
        return;
    if (list->text.length > 0)
        bn_text_puts(&list->text, "; ");
    res_speedup_name(speedup, row, &list->text);
    bn_text_printf(&list->text, "%s%s", text[0] ? " " : "", text);
}

/* The names, as far as they are told; releases LIST. */
static void put_named(named *list, bn_text *out)
{
    bn_text_puts(out, list->text.data ? list->text.data : "");
    if (list->count > MOST_NAMED)
        bn_text_printf(out, "; and %zu more", list->count - MOST_NAMED);
    out->failed = out->failed || list->text.failed;
    bn_text_free(&list->text);
    json_decref(list->ids);
    *list = (named){0};
}

const char *res_speedup_verdict(const res_speedup_row *row)
{
    if (!row->compared)
        return "";
    if (!(row->ratio.log.freedom > 0))
        return "too few processes";
    if (!row->told)
        return "no difference told";
    return row->ratio.log.mean > 0 ? "faster" : "slower";
}

/* ---- the machine ---------------------------------------------------------------------- */

/* ": 80 % of the time something waited for a core; ..." */
static void put_witness(const res_witness *w, bn_text *out)
{
    bn_text_putc(out, ':');
    if (w->stalled_of_ns > 0)
        bn_text_printf(out, " %.0f %% of the time something waited for a core",
                       100 * w->stalled_ns / w->stalled_of_ns);
    if (w->stolen_ns > RES_BUSY_STOLEN * w->stolen_of_ns)
        bn_text_printf(out, "%s a hypervisor took %.0f %% of the cores' time",
                       w->stalled_of_ns > 0 ? "," : "", 100 * w->stolen_ns / w->stolen_of_ns);
    if (w->switches_of_ns > 0)
        bn_text_printf(out, "; %.0f times a second bench lost its core",
                       1e9 * w->switches / w->switches_of_ns);
    bn_text_putc(out, '.');
}

void res_speedup_busy(const res_speedup *speedup, bn_text *out)
{
    const res_speedup_row *busiest = res_speedup_busiest(speedup);
    if (res_witness_busy(&speedup->witness)) {
        bn_text_puts(out, "The machine was busy");
        put_witness(&speedup->witness, out);
    } else if (busiest) {
        bn_text_puts(out, "The machine was busy at times, most of all for ");
        res_speedup_name(speedup, busiest, out);
        put_witness(&busiest->witness, out);
    } else if (res_witness_untold(&speedup->witness)) {
        bn_text_puts(out, "Nobody can tell whether the machine was busy: the system has no "
                          "/proc/pressure/cpu.");
    }
}

/* ---- notes ------------------------------------------------------------------------------ */

/* Adds the sentence "HEAD: names." where there are names; releases LIST. */
static void add_note(json_t *notes, const char *head, named *list)
{
    bn_text text = {0};
    if (list->count == 0)
        return;
    bn_text_printf(&text, "%s: ", head);
    put_named(list, &text);
    bn_text_putc(&text, '.');
    json_array_append_new(notes, res_json_text(text.data ? text.data : ""));
    bn_text_free(&text);
}

static void note_means(const res_speedup *speedup, json_t *notes)
{
    named above = {0}, below = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const double excess = row->remarks.excess;
        if (excess > FAR)
            name_row(speedup, row, &above, "(%.0f %%; one step in ten takes %s or more)",
                     100 * excess, res_time(row->remarks.p90_ns).text);
        else if (excess < -FAR)
            name_row(speedup, row, &below, "(%.0f %%)", -100 * excess);
    }
    add_note(notes, "The mean step is far above the median", &above);
    add_note(notes, "The mean step is far below the median", &below);
}

static void note_warmups(const res_speedup *speedup, json_t *notes)
{
    named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->remarks.unsettled > 0)
            name_row(speedup, row, &list, "(%zu of %zu processes)", row->remarks.unsettled,
                     row->pool.counted);
    }
    add_note(notes, "The step time was not stationary when the warm-up ended", &list);
}

static void note_neighbours(const res_speedup *speedup, json_t *notes)
{
    named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_remarks *r = &row->remarks;
        if (r->independent < FEW_INDEPENDENT && r->independent < r->samples / 2)
            name_row(speedup, row, &list, "(%.0f say as much as %.0f)", r->samples,
                     fmax(1, r->independent));
    }
    add_note(notes, "Steps that follow each other are alike, so a process says little", &list);
}

static void note_drift(const res_speedup *speedup, json_t *notes)
{
    named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->ratio.busy && row->ratio.drift > 0)
            name_row(speedup, row, &list, "(%.1f %%)", 100 * row->ratio.drift);
    }
    add_note(notes,
             "Beside other programs, runs find ratios that differ, so the interval of a ratio has "
             "this much for it as a standard deviation",
             &list);
}

static void note_left_out(const res_speedup *speedup, json_t *notes)
{
    named builds = {0}, conditions = {0}, runs = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_pool *pool = &row->pool;
        if (pool->other_builds > 0)
            name_row(speedup, row, &builds, "(%zu)", pool->other_builds);
        if (pool->other_conditions > 0)
            name_row(speedup, row, &conditions, "(%zu: %s)", pool->other_conditions,
                     pool->differing);
        if (pool->count > pool->counted)
            name_row(speedup, row, &runs, "(%zu)", pool->count - pool->counted);
    }
    add_note(notes, "Records of other or unknown builds are left out", &builds);
    add_note(notes, "Records measured under other conditions are left out", &conditions);
    add_note(
        notes,
        "Records of one of two runs are left out, because two do not tell how far runs differ: "
        "the later run stands, or the one that has three processes",
        &runs);
}

/* Where each run is a value the number of processes is not that of values. */
static void note_runs(const res_speedup *speedup, json_t *notes)
{
    named several = {0}, two = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_pool *pool = &row->pool;
        if (pool->run_count > 2 && pool->run_count < pool->counted)
            name_row(speedup, row, &several, "(%zu processes of %zu runs)", pool->counted,
                     pool->run_count);
        else if (pool->run_count == 2 && pool->counted > 2)
            name_row(speedup, row, &two, "(%zu processes)", pool->counted);
    }
    add_note(notes, "Each run is one value, the mean of its processes", &several);
    add_note(notes,
             "Two runs of fewer than three processes each, which do not tell how far runs differ, "
             "so no interval; --processes 4 makes one",
             &two);
}

static void note_devices(const res_speedup *speedup, json_t *notes)
{
    named list = {0}, cut = {0}, refused = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_figures *f = &row->figures;
        const size_t known = f->device.processes, all = row->pool.counted;
        const res_device_remark remark = res_figures_remark(f);
        if (remark == RES_DEVICE_CONTRARY)
            name_row(speedup, row, &refused, "%s", "");
        else if (remark != RES_DEVICE_PLAIN)
            name_row(speedup, row, &cut, "%s",
                     remark == RES_DEVICE_FAR ? "(by more than both intervals: not shown)"
                     : remark == RES_DEVICE_CUT_OVERHEAD
                         ? "(its overhead no longer fits: not shown)"
                         : "");
        const bool too_few = isnan(f->device.value.estimate) && remark == RES_DEVICE_PLAIN;
        if (known > 0 && known < all)
            name_row(speedup, row, &list, "(%zu of %zu%s)", known, all,
                     too_few ? ", too few to show" : "");
    }
    add_note(notes, "Only some processes could tell the device time", &list);
    add_note(notes,
             "The device time came out above the step that it is part of, and is cut off there",
             &cut);
    add_note(notes,
             "The device time came out above the PJRT time that it is part of, by more than its "
             "interval, so neither it nor the overhead is shown",
             &refused);
}

/* A row that says that activations are offloaded must not pass for it. */
static void note_offload(const res_speedup *speedup, json_t *notes)
{
    named dropped = {0}, untold = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        int64_t asked = 0, found = 0;
        const char *word = row->record ? res_offload_word(row->record, &asked, &found) : "";
        if (strcmp(word, "dropped") == 0 || strcmp(word, "in part") == 0)
            name_row(speedup, row, &dropped, "(%s of %s)", res_size(found).text,
                     res_size(asked).text);
        else if (strcmp(word, "untold") == 0)
            name_row(speedup, row, &untold, "%s", "");
    }
    add_note(notes, "The runtime did not put what was to be offloaded into the host's memory",
             &dropped);
    add_note(notes, "The runtime does not tell whether it offloads what it was asked to", &untold);
}

static void note_few(const res_speedup *speedup, json_t *notes)
{
    named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->pool.counted > 0 && row->pool.counted < RES_LEAST_PROCESSES)
            name_row(speedup, row, &list, "(%zu)", row->pool.counted);
    }
    add_note(notes, "Fewer than three processes, so no interval; --processes 4 makes one", &list);
}

static void note_dates(const res_speedup *speedup, json_t *notes)
{
    bn_text text = {0};
    res_put_misdates(&speedup->misdates, &text);
    bn_text_puts(&text, text.length > 0 ? "." : "");
    if (text.length > 0 && text.data)
        json_array_append_new(notes, res_json_text(text.data));
    bn_text_free(&text);
}

json_t *res_speedup_notes(const res_speedup *speedup)
{
    json_t *notes = json_array();
    note_few(speedup, notes);
    note_runs(speedup, notes);
    note_means(speedup, notes);
    note_warmups(speedup, notes);
    note_neighbours(speedup, notes);
    note_devices(speedup, notes);
    note_offload(speedup, notes);
    note_drift(speedup, notes);
    note_left_out(speedup, notes);
    note_dates(speedup, notes);
    return notes;
}

/* ---- what was found ------------------------------------------------------------------------ */

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
    const int executions = (int)lround(finding->executions_added);
    if (executions != 0)
        bn_text_printf(out, ", with %d execution%s %s", abs(executions),
                       abs(executions) > 1 ? "s" : "", executions > 0 ? "more" : "less");
    for (size_t i = 0; i < finding->cause_count; i++) {
        bn_text_puts(out, i == 0 ? "; " : ", ");
        put_cause(&finding->causes[i], out);
    }
    bn_text_puts(out, finding->cause_count > 0 ? "." : "; no part of the step is told to differ.");
}

static const char *program_sentence(res_program program)
{
    switch (program) {
    case RES_PROGRAM_SAME:
        return " The device runs the same program.";
    case RES_PROGRAM_COMPILED:
        return " The device runs another program: the compiler made it of the same text.";
    case RES_PROGRAM_TEXT:
        return " The device runs another program.";
    case RES_PROGRAM_UNSTEADY:
        return " The compiler makes different programs of one text.";
    case RES_PROGRAM_UNKNOWN:
        break;
    }
    return " The plugin does not show what program the device runs.";
}

/* "bert infer capture: 1.49x as fast as lazy [1.44, 1.54], 50.1 us less a step; tracing ..." */
static void put_difference(const res_speedup *speedup, const res_finding *finding, bn_text *out)
{
    const res_speedup_row *row = &speedup->rows[finding->row];
    const res_interval ratio = row->ratio.ratio;
    const bool faster = finding->kind == RES_FINDING_FASTER;
    /* Without bench's lazy it is another row. */
    const res_way_words base = res_way_of(&speedup->rows[row->base_row].record->experiment);
    res_speedup_name(speedup, row, out);
    if (faster)
        bn_text_printf(out, ": %s as fast as %s %s", res_ratio(ratio.estimate).text, base.text,
                       res_ratio_range(ratio.low, ratio.high).text);
    else
        bn_text_printf(out, ": takes %s as long as %s %s", res_ratio(1 / ratio.estimate).text,
                       base.text, res_ratio_range(1 / ratio.high, 1 / ratio.low).text);
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

/* "2.3 %", or "2.3 % to 6.1 %" where rows differ. */
static void put_percents(double least, double most, bn_text *out)
{
    const res_figure low = percent(least), high = percent(most);
    bn_text_puts(out, low.text);
    if (strcmp(low.text, high.text) != 0)
        bn_text_printf(out, " to %s", high.text);
}

/* What would tell smaller differences: where runs are the values further processes of a run are
 * not.
 */
static void put_more(size_t processes, size_t runs, bn_text *out)
{
    bn_text_puts(out, "; with ");
    if (processes > 0)
        bn_text_printf(out, "--processes %zu, ", processes);
    if (processes > 0 && runs > 0)
        bn_text_puts(out, "or where each run is a value ");
    if (runs > 0)
        bn_text_printf(out, "%zu runs in all, ", runs);
    bn_text_puts(out, "of about ");
}

/* What rows were compared with: lazy, but for cells without one. */
static const char *base_word(const res_speedup *speedup)
{
    for (size_t i = 0; i < speedup->count; i++)
        if (speedup->rows[i].base && !res_is_lazy(&speedup->rows[i].record->experiment))
            return "the base";
    return "lazy";
}

static void add_undecided(const res_speedup *speedup, const res_finding *list, size_t count,
                          json_t *out)
{
    named rows = {0};
    double least = (double)INFINITY, most = 0, more_least = least, more_most = 0;
    size_t more[2] = {0, 0}; /* processes, runs */
    bn_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const res_finding *f = &list[i];
        if (f->kind != RES_FINDING_NO_DIFFERENCE)
            continue;
        const res_speedup_row *row = &speedup->rows[f->row];
        name_row(speedup, row, &rows, "%s %s", res_ratio(row->ratio.ratio.estimate).text,
                 res_ratio_range(row->ratio.ratio.low, row->ratio.ratio.high).text);
        least = fmin(least, f->visible);
        most = fmax(most, f->visible);
        more_least = fmin(more_least, f->visible_with_more);
        more_most = fmax(more_most, f->visible_with_more);
        size_t *of = &more[f->of_runs];
        *of = f->more_processes > *of ? f->more_processes : *of;
    }
    if (rows.count == 0)
        return;
    json_t *ids = json_incref(rows.ids);
    bn_text_printf(&text, "No difference from %s told: ", base_word(speedup));
    put_named(&rows, &text);
    bn_text_puts(&text, ". Four of five such tables would tell a difference of ");
    put_percents(least, most, &text);
    put_more(more[0], more[1], &text);
    put_percents(more_least, more_most, &text);
    bn_text_puts(&text,
                 res_witness_busy(&speedup->witness) ? ", and on a quieter machine less." : ".");
    json_array_append_new(out,
                          finding_json(res_finding_name(RES_FINDING_NO_DIFFERENCE), &text, ids));
}

/* Rows of one kind that nothing can be said of, in one sentence that begins with HEAD and REST. */
static void add_rest(const res_speedup *speedup, const res_finding *list, size_t count,
                     res_finding_kind kind, const char *head, const char *rest, json_t *out)
{
    named rows = {0};
    bn_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const res_speedup_row *row = &speedup->rows[list[i].row];
        if (list[i].kind == RES_FINDING_CONDITIONS && kind == RES_FINDING_CONDITIONS)
            name_row(speedup, row, &rows, "(%s)", row->other_conditions);
        else if (list[i].kind == kind)
            name_row(speedup, row, &rows, "%s", "");
    }
    if (rows.count == 0)
        return;
    json_t *ids = json_incref(rows.ids);
    bn_text_printf(&text, "%s%s: ", head, rest);
    put_named(&rows, &text);
    bn_text_putc(&text, '.');
    json_array_append_new(out, finding_json(res_finding_name(kind), &text, ids));
}

json_t *res_speedup_findings(const res_speedup *speedup)
{
    json_t *out = json_array();
    res_finding *list = calloc(speedup->count + 1, sizeof *list);
    if (!list)
        return out;
    const size_t count = res_speedup_explain(speedup, list);
    add_differences(speedup, list, count, out);
    add_undecided(speedup, list, count, out);
    const bool lazy = strcmp(base_word(speedup), "lazy") == 0;
    const char *since = lazy ? "Not compared, since lazy" : "Not compared, since the base";
    add_rest(speedup, list, count, RES_FINDING_TOO_FEW,
             "Nothing can be told of fewer than three processes of a run; --processes 4 would "
             "measure four",
             "", out);
    add_rest(speedup, list, count, RES_FINDING_OTHER_BUILD, since, " was measured on another build",
             out);
    add_rest(speedup, list, count, RES_FINDING_CONDITIONS, since,
             " was measured under other conditions", out);
    if (count == 0 && speedup->count > 0) {
        bn_text text = {0};
        bn_text_puts(&text,
                     "Nothing was compared: no row stands beside one of lazy that succeeded.");
        json_array_append_new(out, finding_json("nothing", &text, json_array()));
    }
    free(list);
    return out;
}
