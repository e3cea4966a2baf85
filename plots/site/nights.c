/*
 * nights.c - a data file a night: its records, by the index alone. What a record says is what
 * tables would show of its process if they had no other.
 */
#include "plots/site/site_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/findings/summaries.h"

/* Numbers within one night, of what its records have in common. */
typedef struct numbers {
    size_t *of, *night; /* [item]: its number, and the night in which it was given, from 1 */
    size_t count;
} numbers;

static bool make_numbers(numbers *n, size_t items)
{
    n->of = calloc(items + 1, sizeof *n->of);
    n->night = calloc(items + 1, sizeof *n->night);
    return n->of && n->night;
}

static void free_numbers(numbers *n)
{
    free(n->of);
    free(n->night);
}

/* Sets *NUMBER to that of ITEM; whether it is new to NIGHT. */
static bool number_of(numbers *n, size_t item, size_t night, size_t *number)
{
    const bool fresh = n->night[item] != night + 1;
    if (fresh) {
        n->night[item] = night + 1;
        n->of[item] = n->count++;
    }
    *number = n->of[item];
    return fresh;
}

/* What the records of a night are of: a list before the rows that refer to it. */
static void put_experiment(const site *s, size_t number, bool *first, bn_text *out)
{
    const site_experiment *e = &s->experiments[number];
    site_put_comma(out, first);
    bn_text_puts(out, "[");
    site_put_text(out, e->title);
    bn_text_printf(out, ",\"%s\"]", s->models[e->model].key.text);
}

/* A number is a time that is told; words stand for one that is not. */
static void put_figure(const res_figures *f, res_metric metric, bn_text *out)
{
    const res_difference_shown shows = res_figures_show(f, metric);
    bn_text_putc(out, ',');
    if (shows == RES_DIFFERENCE_TOLD || shows == RES_DIFFERENCE_UNKNOWN)
        site_put_number(out, res_metric_over(f, metric).value.estimate);
    else
        site_put_text(out, res_figures_words(f, metric).text);
}

/* Puts the figures of one process, and the number of the remark on them where there is one. */
static void put_figures(const site *s, const res_summary *summary, bn_text *out)
{
    res_summary_pool of;
    res_process room;
    res_pool_summaries(&summary, 1, s->index->experiments[summary->experiment], &room, &of);
    const res_figures f = res_pool_figures(&of.pool);
    const res_device_remark remark = res_figures_remark(&f);
    for (int m = 0; m < RES_METRIC_COUNT; m++)
        put_figure(&f, (res_metric)m, out);
    if (remark != RES_DEVICE_PLAIN)
        bn_text_printf(out, ",%d", (int)remark);
}

static void put_row(const site *s, const site_record *r, size_t experiment, bn_text *out)
{
    const res_summary *summary = r->summary;
    bn_text_printf(out, "[%zu,\"%s\",", experiment, site_key_of(summary->id).text);
    site_put_text(out, summary->id);
    bn_text_printf(out, ",%.0f,\"%s\",\"%s\",%lld", r->time_s,
                   r->build == SITE_NONE ? "" : s->builds[r->build].key.text,
                   summary->status == BN_OK ? "" : bn_code_name(summary->status),
                   (long long)summary->steps);
    put_figures(s, summary, out);
    bn_text_puts(out, "]");
}

static void put_night(const site *s, size_t which, numbers *experiments, bn_text *out)
{
    const site_night *night = &s->nights[which];
    bool first = true;
    size_t number;
    experiments->count = 0;
    bn_text_printf(out, "{\"key\":\"%s\",\"experiments\":[", night->key);
    for (size_t i = night->first; i < night->end; i++)
        if (number_of(experiments, s->records[i].summary->experiment, which, &number))
            put_experiment(s, s->records[i].summary->experiment, &first, out);
    bn_text_puts(out, "],\n\"records\":[");
    first = true;
    for (size_t i = night->first; i < night->end; i++) {
        number_of(experiments, s->records[i].summary->experiment, which, &number);
        bn_text_puts(out, first ? "\n" : ",\n");
        first = false;
        put_row(s, &s->records[i], number, out);
    }
    bn_text_puts(out, "]}");
}

/* What was judged of the newest night is kept with it, as of those before: records do not say it.
 */
static bn_code write_verdicts(site *s, bn_status *st)
{
    const site_options *o = s->options;
    char name[SITE_NAME];
    bool there;
    bn_code code = BN_OK;
    for (size_t i = 0; i < s->night_count && code == BN_OK; i++) {
        snprintf(name, sizeof name, "verdict-%s", s->nights[i].key);
        if (i + 1 < s->night_count || !o->headline) {
            code = site_folder_keep(&s->folder, name, &there, st);
            s->nights[i].judged = there;
            continue;
        }
        s->nights[i].judged = true;
        bn_text text = {0}, words = {0};
        site_begin(&text, name);
        bn_text_puts(&text, "{\"headline\":");
        site_put_text(&text, o->headline);
        bn_text_puts(&text, ",\"words\":");
        bn_text_plain_lines(&words, o->words ? o->words : "");
        site_put_html(&text, words.data ? words.data : "");
        text.failed = text.failed || words.failed;
        bn_text_free(&words);
        bn_text_printf(&text, ",\"failed\":%zu,\"missing\":%zu,\"told\":%s", o->failed, o->missing,
                       o->told ? "true" : "false");
        bn_text_puts(&text, "}");
        site_end(&text);
        code = site_folder_data(&s->folder, name, &text, st);
        bn_text_free(&text);
    }
    return code;
}

bn_code site_nights_write(site *s, bn_status *st)
{
    numbers experiments = {0};
    bn_text text = {0};
    char name[SITE_NAME];
    bn_code code = make_numbers(&experiments, s->index->experiment_count)
                       ? BN_OK
                       : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a site");
    for (size_t i = 0; i < s->night_count && code == BN_OK; i++) {
        snprintf(name, sizeof name, "night-%s", s->nights[i].key);
        site_begin(&text, name);
        put_night(s, i, &experiments, &text);
        site_end(&text);
        code = site_folder_data(&s->folder, name, &text, st);
    }
    bn_text_free(&text);
    free_numbers(&experiments);
    return code == BN_OK ? write_verdicts(s, st) : code;
}
