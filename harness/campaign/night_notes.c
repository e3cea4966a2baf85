/*
 * night_notes.c - what a night notes while it runs, for night.json (night_json.c): remarks, passes
 * of the suite, failures, changes of series.
 */
#include "harness/campaign/night_priv.h"
#include "results/tables/tables.h"

#include <stdarg.h>

void night_note_add(nightly *n, night_note note, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bn_text_vprintf(&n->words, format, arguments);
    va_end(arguments);
    bn_text_putc(&n->words, '\n');
    n->noted[note] = true;
}

void night_json_begin(nightly *n)
{
    n->failures = json_array();
    n->lacking = json_array();
    n->changes = json_array();
    n->passes = json_array();
}

void night_json_pass(nightly *n, const suite_counts *counts)
{
    json_array_append_new(
        n->passes, json_pack("{sI sI sI sI sI}", "done", (json_int_t)counts->done, "skipped",
                             (json_int_t)counts->skipped, "failed", (json_int_t)counts->failed,
                             "controls", (json_int_t)(counts->controls - counts->failed_controls),
                             "controls_failed", (json_int_t)counts->failed_controls));
}

void night_json_failed(nightly *n, const res_record *record, bool control)
{
    bn_text title = {0};
    res_experiment_title(&record->experiment, &title);
    json_array_append_new(n->failures,
                          json_pack("{so ss sb}", "experiment", res_json_text(title.data), "class",
                                    bn_code_name(record->status), "control", (int)control));
    bn_text_free(&title);
}

void night_json_change(nightly *n, const res_timeline *series, const res_drift *drift)
{
    const res_changes *c = &series->changes;
    const res_interval change = drift->found ? drift->ratio : c->latest;
    bn_text title = {0};
    res_timeline_title(series, &title);
    json_array_append_new(
        n->changes,
        json_pack("{so sb sb sI s{so so so} ss* sb}", "series", res_json_text(title.data), "found",
                  (int)drift->found, "two_nights", (int)(drift->found && drift->two),
                  "latest_nights", (json_int_t)c->latest_run, "change", "estimate",
                  res_json_real(change.estimate), "low", res_json_real(change.low), "high",
                  res_json_real(change.high), "cause",
                  drift->found ? res_drift_cause_id(drift->cause) : NULL, "counts",
                  (int)(drift->found && drift->ratio.low > 1 && res_drift_counts(drift->cause))));
    bn_text_free(&title);
}

void night_json_end(nightly *n)
{
    json_decref(n->failures);
    json_decref(n->lacking);
    json_decref(n->changes);
    json_decref(n->passes);
}
