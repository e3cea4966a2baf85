/*
 * speedup_words.c - names of rows, and notes on the figures of the speedup table in sentences that
 * name rows. Its findings: speedup_findings.c.
 */
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of rows that one sentence names; it counts the rest. */
#define MOST_NAMED      6
/* A mean that is off the median by more, and a process with fewer independent samples, are noted.
 */
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
    bn_text_free(&setup);
}

void res_speedup_name_row(const res_speedup *speedup, const res_speedup_row *row, res_named *list,
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

void res_speedup_put_named(res_named *list, bn_text *out)
{
    bn_text_puts(out, list->text.data ? list->text.data : "");
    if (list->count > MOST_NAMED)
        bn_text_printf(out, "; and %zu more", list->count - MOST_NAMED);
    bn_text_free(&list->text);
    json_decref(list->ids);
    *list = (res_named){0};
}

const char *res_speedup_verdict(const res_speedup_row *row)
{
    if (!row->compared)
        return "";
    if (row->ratio.apart)
        return "separate runs";
    if (!(row->ratio.log.freedom > 0))
        return "too few processes";
    if (!row->significant)
        return "not significant";
    return row->ratio.log.mean > 0 ? "faster" : "slower";
}

const char *res_speedup_failure(const res_speedup_row *row)
{
    return row->record->status != BN_OK ? bn_code_name(row->record->status) : "no steps";
}

bool res_speedup_is_ours(const res_speedup_row *row)
{
    return strcmp(row->record->experiment.mode, "recorded") != 0 &&
           !res_provenance(row->record, RES_PROV_IMPORTED);
}

/* The word of most of the rows from FIRST up to END, of equally many the first; "": there is none.
 */
static void usual_word(const res_speedup *speedup, size_t first, size_t end, res_speedup_word *word,
                       char usual[32])
{
    size_t most = 0;
    usual[0] = '\0';
    for (size_t i = first; i < end; i++) {
        char room[32], other[32];
        const char *own = word(&speedup->rows[i], room);
        size_t count = 0;
        for (size_t k = first; k < end; k++)
            count += strcmp(own, word(&speedup->rows[k], other)) == 0;
        if (own[0] && count > most) {
            most = count;
            snprintf(usual, 32, "%s", own);
        }
    }
}

void res_speedup_put_column(const res_speedup *speedup, size_t first, size_t end, const char *head,
                            res_speedup_word *word, bn_text *out)
{
    char usual[32], room[32];
    res_named others = {0};
    usual_word(speedup, first, end, word, usual);
    if (!usual[0])
        return;
    for (size_t i = first; i < end; i++) {
        const char *own = word(&speedup->rows[i], room);
        if (own[0] && strcmp(own, usual) != 0)
            res_speedup_name_row(speedup, &speedup->rows[i], &others, "(%s)", own);
    }
    bn_text_printf(out, "%s: %s", head, usual);
    bn_text_puts(out, others.count > 0 ? ", but: " : " in each row");
    res_speedup_put_named(&others, out);
    bn_text_putc(out, '.');
}

/* ---- the machine ---------------------------------------------------------------------- */

void res_speedup_busy(const res_speedup *speedup, bn_text *out)
{
    const res_speedup_row *busiest = res_speedup_busiest(speedup);
    bn_text name = {0};
    if (busiest)
        res_speedup_name(speedup, busiest, &name);
    res_put_interference(&speedup->interference, busiest ? &busiest->interference : NULL, name.data,
                         out);
    bn_text_free(&name);
}

/* ---- notes ------------------------------------------------------------------------------ */

/* Adds the note ID, the sentence "HEAD: names.", where there are names; releases LIST. */
static void add_note(json_t *notes, const char *id, const char *head, res_named *list)
{
    bn_text text = {0};
    if (list->count == 0)
        return;
    json_t *rows = json_incref(list->ids);
    bn_text_printf(&text, "%s: ", head);
    res_speedup_put_named(list, &text);
    bn_text_putc(&text, '.');
    res_add_note(notes, id, text.data ? text.data : "", rows);
    bn_text_free(&text);
}

static void note_means(const res_speedup *speedup, json_t *notes)
{
    res_named above = {0}, below = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const double excess = row->remarks.excess;
        if (excess > FAR)
            res_speedup_name_row(speedup, row, &above,
                                 "(%.0f %%; one step in ten takes %s or more)", 100 * excess,
                                 res_time(row->remarks.p90_ns).text);
        else if (excess < -FAR)
            res_speedup_name_row(speedup, row, &below, "(%.0f %%)", -100 * excess);
    }
    add_note(notes, "mean-above-median", "The mean step is far above the median", &above);
    add_note(notes, "mean-below-median", "The mean step is far below the median", &below);
}

/* A reader who divides the two median steps may find another ratio. */
static void note_lengths(const res_speedup *speedup, json_t *notes)
{
    res_named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        /* Of other processes the two medians have another ratio anyhow: note_ratios names it. */
        if (!row->compared || row->ratio.partial || row->base_row >= speedup->count)
            continue;
        const res_figures *base = &speedup->rows[row->base_row].figures;
        const double medians = base->wall.value.estimate / row->figures.wall.value.estimate;
        if (medians < row->ratio.ratio.low || medians > row->ratio.ratio.high)
            res_speedup_name_row(speedup, row, &list, "(%s)", res_ratio_alone(medians).text);
    }
    add_note(notes, "several-lengths",
             "Steps have several lengths: the ratio of medians differs from that of means, which "
             "are compared",
             &list);
}

static void note_warmups(const res_speedup *speedup, json_t *notes)
{
    res_named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->remarks.unsettled > 0)
            res_speedup_name_row(speedup, row, &list, "(%zu of %zu processes)",
                                 row->remarks.unsettled, row->pool.counted);
    }
    add_note(notes, "not-stationary", "The step time was not stationary when the warm-up ended",
             &list);
}

static void note_neighbours(const res_speedup *speedup, json_t *notes)
{
    res_named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_remarks *r = &row->remarks;
        if (r->independent < FEW_INDEPENDENT && r->independent < r->samples / 2)
            res_speedup_name_row(speedup, row, &list, "(%.0f are worth %.0f)", r->samples,
                                 fmax(1, r->independent));
    }
    add_note(notes, "correlated-steps",
             "Successive steps are correlated: few independent samples per process", &list);
}

/* Appends the drift between runs in the intervals: DEVIATION[busy], of RUNS[busy] runs; 0: it was
 * assumed. */
static void put_drift(const double deviation[2], const size_t runs[2], bn_text *out)
{
    static const char *const when[] = {"", " under interference"};
    bool stated = false;
    bn_text_puts(out, "Intervals include a standard deviation between runs (tau) of ");
    for (int busy = 0, put = 0; busy < 2; busy++) {
        if (!(deviation[busy] > 0))
            continue;
        bn_text_printf(out, "%s%.2g %%%s", put++ ? ", and " : "", 100 * deviation[busy],
                       when[busy]);
        if (runs[busy] > 0)
            bn_text_printf(out, " (calibrated, %zu runs)", runs[busy]);
        else
            bn_text_puts(out, " (uncalibrated: assumed)");
        stated = stated || runs[busy] == 0;
    }
    bn_text_puts(out, stated ? "; bench calibrate measures it on this machine." : ".");
}

/* Of several calibrations the largest is named. */
static void note_drift(const res_speedup *speedup, json_t *notes)
{
    double deviation[2] = {0, 0};
    size_t runs[2] = {0, 0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_pool_ratio *ratio = &speedup->rows[i].ratio;
        const res_run_drift *drift = &ratio->log.drift;
        if (!speedup->rows[i].compared || !(drift->deviation > deviation[ratio->busy]))
            continue;
        deviation[ratio->busy] = drift->deviation;
        runs[ratio->busy] = isfinite(drift->freedom) ? (size_t)drift->freedom + 1 : 0;
    }
    if (!(deviation[0] > 0) && !(deviation[1] > 0))
        return;
    bn_text text = {0};
    put_drift(deviation, runs, &text);
    res_add_note(notes, "drift", text.data, json_array());
    bn_text_free(&text);
}

/* A run that was added because the one before it claimed nothing is a second chance of a wrong
 * claim. */
static void note_looks(const res_speedup *speedup, json_t *notes)
{
    res_named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->compared && row->ratio.looks > 1 &&
            !res_provenance(row->record, RES_PROV_SUITE_NAME))
            res_speedup_name_row(speedup, row, &list, "(%zu runs: up to %.0f %%)", row->ratio.looks,
                                 fmin(100, 5 * (double)row->ratio.looks));
    }
    add_note(notes, "several-looks",
             "Several runs: if a later one followed because an earlier one claimed nothing, the "
             "table's error is not 5 % but 5 % for each run; measure in a new store instead",
             &list);
}

void res_speedup_note_failed(const res_speedup *speedup, json_t *notes)
{
    res_named failed = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        /* A row that has no good record shows its failure itself. */
        if (row->pool.failed > 0 && row->pool.count > 0)
            res_speedup_name_row(speedup, row, &failed, "(%zu of %zu)", row->pool.failed,
                                 row->pool.failed + row->pool.count);
    }
    add_note(notes, "processes-failed", "Processes failed; figures are of the others", &failed);
}

static void note_left_out(const res_speedup *speedup, json_t *notes)
{
    res_named builds = {0}, conditions = {0}, runs = {0}, unnamed = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_pool *pool = &row->pool;
        if (pool->count > 1 && row->record && !res_plugin_sha256(row->record)[0])
            res_speedup_name_row(speedup, row, &unnamed, "(%zu)", pool->count);
        if (pool->other_builds > 0)
            res_speedup_name_row(speedup, row, &builds, "(%zu)", pool->other_builds);
        if (pool->other_conditions > 0)
            res_speedup_name_row(speedup, row, &conditions, "(%zu: %s)", pool->other_conditions,
                                 pool->differing);
        if (pool->count > pool->counted)
            res_speedup_name_row(speedup, row, &runs, "(%zu)", pool->count - pool->counted);
    }
    res_speedup_note_failed(speedup, notes);
    add_note(notes, "build-unknown", "Records do not name their build, and count as one build",
             &unnamed);
    add_note(notes, "other-builds", "Records of other or unknown builds are left out", &builds);
    add_note(notes, "other-conditions", "Records measured under other conditions are left out",
             &conditions);
    add_note(notes, "other-run",
             "Records of one of two runs are left out, because the spread between runs is unknown "
             "from two: the later run counts, or the one with three processes",
             &runs);
}

/* Where each run is one value, the number of processes is not that of values. */
static void note_runs(const res_speedup *speedup, json_t *notes)
{
    res_named several = {0}, two = {0}, others = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_pool *pool = &row->pool;
        if (pool->run_count > 2 && pool->run_count < pool->counted)
            res_speedup_name_row(speedup, row, &several, "(%zu processes of %zu runs)",
                                 pool->counted, pool->run_count);
        else if (pool->run_count == 2 && pool->counted > 2)
            res_speedup_name_row(speedup, row, res_speedup_is_ours(row) ? &two : &others,
                                 "(%zu processes)", pool->counted);
    }
    add_note(notes, "runs-are-values", "Each run is one value, the mean of its processes",
             &several);
    add_note(notes, "two-runs",
             "No interval: two runs of fewer than three processes each; use --processes 4", &two);
    add_note(notes, "two-runs-foreign",
             "No interval: two runs of fewer than three processes each; record or import more",
             &others);
}

static void note_devices(const res_speedup *speedup, json_t *notes)
{
    res_named some = {0}, remarked[RES_DEVICE_REMARK_COUNT];
    memset(remarked, 0, sizeof remarked);
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_figures *f = &row->figures;
        const size_t known = f->device.processes, all = row->pool.counted;
        const res_device_remark remark = res_figures_remark(f);
        if (remark != RES_DEVICE_PLAIN)
            res_speedup_name_row(speedup, row, &remarked[remark], "%s", "");
        const bool too_few = isnan(f->device.value.estimate) && remark == RES_DEVICE_PLAIN;
        if (known > 0 && known < all)
            res_speedup_name_row(speedup, row, &some, "(%zu of %zu%s)", known, all,
                                 too_few ? ", too few to show" : "");
    }
    add_note(notes, "device-time-of-some", "Only some processes determined the device time", &some);
    for (int r = RES_DEVICE_PLAIN + 1; r < RES_DEVICE_REMARK_COUNT; r++)
        add_note(notes, res_device_remark_name((res_device_remark)r),
                 res_device_remark_words((res_device_remark)r), &remarked[r]);
}

/* Offloading that was asked for and did not happen. */
static void note_offload(const res_speedup *speedup, json_t *notes)
{
    res_named dropped = {0}, unknown = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        int64_t asked = 0, found = 0;
        const char *word = row->record ? res_offload_word(row->record, &asked, &found) : "";
        if (strcmp(word, "dropped") == 0 || strcmp(word, "in part") == 0)
            res_speedup_name_row(speedup, row, &dropped, "(%s of %s)", res_size(found).text,
                                 res_size(asked).text);
        else if (strcmp(word, "untold") == 0)
            res_speedup_name_row(speedup, row, &unknown, "%s", "");
    }
    add_note(notes, "not-offloaded", "The runtime did not offload all that it was asked to offload",
             &dropped);
    add_note(notes, "offload-unknown",
             "Whether the runtime offloads what it was asked to is unknown", &unknown);
}

/* Automatic layouts that came out as the default ones cannot be what made a difference. */
static void note_layouts(const res_speedup *speedup, json_t *notes)
{
    res_named same = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        int64_t rearranged = 0;
        const int64_t passed = row->record ? res_passed_in_layout(row->record, &rearranged) : 0;
        if (passed > 0 && rearranged == 0)
            res_speedup_name_row(speedup, row, &same, "(%lld)", (long long)passed);
    }
    add_note(notes, "default-layouts",
             "Automatic layouts came out as the default for all values between graphs", &same);
}

static void note_few(const res_speedup *speedup, json_t *notes)
{
    res_named ours = {0}, others = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (row->pool.counted > 0 && row->pool.counted < RES_LEAST_PROCESSES)
            res_speedup_name_row(speedup, row, res_speedup_is_ours(row) ? &ours : &others, "(%zu)",
                                 row->pool.counted);
    }
    add_note(notes, "few-processes", "No interval: fewer than three processes; use --processes 4",
             &ours);
    add_note(notes, "few-processes-foreign",
             "No interval: fewer than three processes; record or import more", &others);
}

static bool is_apart(const res_pool_ratio *ratio)
{
    return ratio->apart;
}

static bool is_partial(const res_pool_ratio *ratio)
{
    return ratio->partial;
}

/* Names the rows whose ratio IS something, with how many processes it is of. */
static void note_ratios(const res_speedup *speedup, json_t *notes, const char *id,
                        const char *words, bool (*is)(const res_pool_ratio *))
{
    res_named list = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_pool_ratio *ratio = &speedup->rows[i].ratio;
        if (is(ratio))
            res_speedup_name_row(speedup, &speedup->rows[i], &list, "(%zu process%s)",
                                 ratio->processes, ratio->processes == 1 ? "" : "es");
    }
    add_note(notes, id, words, &list);
}

static void note_dates(const res_speedup *speedup, json_t *notes)
{
    bn_text text = {0};
    res_put_misdates(&speedup->misdates, &text);
    bn_text_puts(&text, text.length > 0 ? "." : "");
    if (text.length > 0 && text.data)
        res_add_note(notes, "misdated", text.data, json_array());
    bn_text_free(&text);
}

json_t *res_speedup_notes(const res_speedup *speedup)
{
    json_t *notes = json_array();
    note_few(speedup, notes);
    note_ratios(speedup, notes, "few-pairs",
                "No interval: fewer than three processes measured both the row and its baseline; "
                "measure both in one run",
                is_apart);
    note_ratios(speedup, notes, "ratio-of-some",
                "The ratio is of the processes that measured both sides; the times are of more or "
                "of other processes, and may have another ratio",
                is_partial);
    note_runs(speedup, notes);
    note_means(speedup, notes);
    note_lengths(speedup, notes);
    note_warmups(speedup, notes);
    note_neighbours(speedup, notes);
    note_devices(speedup, notes);
    note_offload(speedup, notes);
    note_layouts(speedup, notes);
    note_drift(speedup, notes);
    note_looks(speedup, notes);
    note_left_out(speedup, notes);
    note_dates(speedup, notes);
    return notes;
}
