/*
 * nights.c - a data file a night: its records, by the index alone. Figures of a record are those
 * that tables would show of its process alone.
 */
#include "plots/site/site_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/findings/summaries.h"

/* The record's experiment by its NUMBER, key, id, time, build, failure, steps, figures, and the
 * number of the remark on its device time, where there is one. A figure is a time where it is
 * significant, and else the words that tables show. */
static json_t *row_json(const site *s, const site_record *r, size_t number)
{
    const res_summary *summary = r->summary;
    res_summary_pool of;
    res_process room;
    json_t *row = json_pack(
        "[IsoossI]", (json_int_t)number, site_key_of(summary->id).text, site_text(summary->id),
        site_seconds(r->time_s), r->build == SITE_NONE ? "" : s->builds[r->build].key.text,
        summary->status == BN_OK ? "" : bn_code_name(summary->status), (json_int_t)summary->steps);
    res_pool_summaries(&summary, 1, s->index->experiments[summary->experiment], &room, &of);
    const res_figures f = res_pool_figures(&of.pool);
    for (int m = 0; m < RES_METRIC_COUNT; m++) {
        const res_metric metric = (res_metric)m;
        const res_difference_shown shows = res_figures_show(&f, metric);
        json_array_append_new(row,
                              shows == RES_DIFFERENCE_SIGNIFICANT || shows == RES_DIFFERENCE_UNKNOWN
                                  ? res_json_real(res_metric_over(&f, metric).value.estimate)
                                  : site_text(res_figures_words(&f, metric).text));
    }
    const res_device_remark remark = res_figures_remark(&f);
    if (remark != RES_DEVICE_PLAIN)
        json_array_append_new(row, json_integer(remark));
    return row;
}

/* Rows refer to a list of the night's experiments. NUMBERS has room for one of each in the index.
 */
static json_t *night_json(const site *s, const site_night *night, size_t *numbers)
{
    json_t *experiments = json_array(), *rows = json_array();
    for (size_t i = night->first; i < night->end; i++)
        numbers[s->records[i].summary->experiment] = SITE_NONE;
    for (size_t i = night->first; i < night->end; i++) {
        const site_record *r = &s->records[i];
        const site_experiment *e = &s->experiments[r->summary->experiment];
        size_t *number = &numbers[r->summary->experiment];
        if (*number == SITE_NONE) {
            *number = json_array_size(experiments);
            json_array_append_new(
                experiments, json_pack("[os]", site_text(e->title), s->models[e->model].key.text));
        }
        json_array_append_new(rows, row_json(s, r, *number));
    }
    return json_pack("{ss so so}", "key", night->key, "experiments", experiments, "records", rows);
}

static json_t *verdict_json(const site_options *o)
{
    bn_text words = {0};
    bn_text_plain_lines(&words, o->words ? o->words : "");
    return json_pack("{so so sI sI sI so* sb}", "headline", site_text(o->headline), "words",
                     site_taken(&words), "failed", (json_int_t)o->failed, "missing",
                     (json_int_t)o->missing, "looks", (json_int_t)o->looks, "plans",
                     o->plans ? json_deep_copy(o->plans) : NULL, "told", (int)o->conclusive);
}

/* The verdict on the latest night is kept with it, as those before: no record has it. */
static bn_code write_verdicts(site *s, bn_status *st)
{
    char name[SITE_NAME];
    bn_code code = BN_OK;
    for (size_t i = 0; i < s->night_count && code == BN_OK; i++) {
        const bool latest = i + 1 == s->night_count && s->options->headline;
        snprintf(name, sizeof name, "verdict-%s", s->nights[i].key);
        s->nights[i].judged = latest || site_folder_keep(&s->folder, name);
        if (latest)
            code = site_folder_data(&s->folder, name, verdict_json(s->options), st);
    }
    return code;
}

bn_code site_nights_write(site *s, bn_status *st)
{
    size_t *numbers = bn_zalloc(s->index->experiment_count + 1, sizeof *numbers);
    char name[SITE_NAME];
    bn_code code = BN_OK;
    for (size_t i = 0; i < s->night_count && code == BN_OK; i++) {
        snprintf(name, sizeof name, "night-%s", s->nights[i].key);
        code = site_folder_data(&s->folder, name, night_json(s, &s->nights[i], numbers), st);
    }
    free(numbers);
    return code == BN_OK ? write_verdicts(s, st) : code;
}
