/*
 * builds.c - a data file a build: what its processes say of each experiment, so that a browser can
 * set any two side by side.
 *
 * A process is one value, as everywhere. Those of other conditions than the newest good one are
 * left out and counted, as in tables (pool.c). Nothing is judged here.
 */
#include "plots/site/site_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A good record of a build. */
typedef struct item {
    const site_record *record;
    size_t build;
    const char *cell, *settings;
} item;

static int item_order(const void *a, const void *b)
{
    const item *l = a, *r = b;
    if (l->build != r->build)
        return l->build < r->build ? -1 : 1;
    const int cell = strcmp(l->cell, r->cell);
    const int settings = cell ? cell : strcmp(l->settings, r->settings);
    if (settings)
        return settings;
    /* Records are in order of time. */
    return l->record < r->record ? -1 : l->record > r->record;
}

static bool same_entry(const item *a, const item *b)
{
    return a->build == b->build && strcmp(a->cell, b->cell) == 0 &&
           strcmp(a->settings, b->settings) == 0;
}

/* Lists the good records of all builds in order; *LIST is to be freed. */
static bool list_items(const site *s, item **list, size_t *count)
{
    *count = 0;
    *list = calloc(s->count + 1, sizeof **list);
    if (!*list)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        const site_record *r = &s->records[i];
        const size_t experiment = r->summary->experiment;
        if (r->build != SITE_NONE && res_summary_good(r->summary))
            (*list)[(*count)++] = (item){r, r->build, s->experiments[experiment].cell.text,
                                         s->index->experiments[experiment]->settings};
    }
    if (*count > 1)
        qsort(*list, *count, sizeof **list, item_order);
    return true;
}

static bool like(const item *a, const item *b)
{
    return strcmp(a->record->summary->conditions, b->record->summary->conditions) == 0;
}

/* Puts a list of what each process says; nothing where none says anything. */
static void put_values(const item *items, size_t count, const item *newest, res_metric metric,
                       bn_text *out)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        double values[RES_METRIC_COUNT];
        site_metrics_of(items[i].record->summary, values);
        if (!like(&items[i], newest) || !isfinite(values[metric]))
            continue;
        if (first)
            bn_text_printf(out, ",\"%s\":[", res_metric_name(metric));
        site_put_comma(out, &first);
        site_put_number(out, values[metric]);
    }
    if (!first)
        bn_text_puts(out, "]");
}

static void put_entry(const site *s, const item *items, size_t count, bn_text *out)
{
    const item *newest = &items[count - 1];
    const res_summary *summary = newest->record->summary;
    const site_experiment *e = &s->experiments[summary->experiment];
    size_t left_out = 0;
    for (size_t i = 0; i < count; i++)
        left_out += !like(&items[i], newest);
    bn_text_printf(out, "{\"cell\":\"%s\",\"title\":", e->cell.text);
    site_put_text(out, e->title);
    bn_text_printf(out, ",\"model\":\"%s\",\"settings\":", s->models[e->model].key.text);
    site_put_text(out, newest->settings);
    bn_text_puts(out, ",\"conditions\":");
    site_put_text(out, summary->conditions);
    bn_text_puts(out, ",\"host\":");
    site_put_text(out, summary->origin->host);
    bn_text_printf(out, ",\"left_out\":%zu", left_out);
    for (int m = 0; m < RES_METRIC_COUNT; m++)
        put_values(items, count, newest, (res_metric)m, out);
    bn_text_puts(out, "}");
}

static void put_build(const site *s, size_t build, const item *items, size_t count, bn_text *out)
{
    bool first_entry = true;
    bn_text_printf(out, "{\"key\":\"%s\",\"cells\":[", s->builds[build].key.text);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && same_entry(&items[first], &items[end]))
            end++;
        bn_text_puts(out, first_entry ? "\n" : ",\n");
        first_entry = false;
        put_entry(s, items + first, end - first, out);
    }
    bn_text_puts(out, "]}");
}

bn_code site_builds_write(site *s, bn_status *st)
{
    item *items = NULL;
    size_t count, at = 0;
    bn_text text = {0};
    char name[SITE_NAME];
    bn_code code = list_items(s, &items, &count)
                       ? BN_OK
                       : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a site");
    for (size_t b = 0; b < s->build_count && code == BN_OK; b++) {
        size_t end = at;
        while (end < count && items[end].build == b)
            end++;
        snprintf(name, sizeof name, "build-%s", s->builds[b].key.text);
        site_begin(&text, name);
        put_build(s, b, items + at, end - at, &text);
        site_end(&text);
        code = site_folder_data(&s->folder, name, &text, st);
        at = end;
    }
    bn_text_free(&text);
    free(items);
    return code;
}
