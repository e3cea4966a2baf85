/*
 * builds.c - a data file a build: figures of its processes for each experiment, so that a browser
 * can compare any two builds.
 *
 * The figures are those of tables, of the same pools by the same functions, and in their words:
 * the pages show them as they are. Nothing is judged here.
 */
#include "plots/site/site_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/findings/summaries.h"

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

/* The good records of all builds in order, to be freed. */
static item *list_items(const site *s, size_t *count)
{
    item *list = bn_zalloc(s->count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const site_record *r = &s->records[i];
        const size_t experiment = r->summary->experiment;
        if (r->build != SITE_NONE && res_summary_good(r->summary))
            list[(*count)++] = (item){r, r->build, s->experiments[experiment].cell.text,
                                      s->index->experiments[experiment]->settings};
    }
    if (*count > 1)
        qsort(list, *count, sizeof *list, item_order);
    return list;
}

/* [estimate, low, high, processes, 1 where it is significant, and how tables show it and its
 * bounds] of each metric that is known. */
static json_t *figures_json(const res_figures *f)
{
    json_t *figures = json_object();
    for (int m = 0; m < RES_METRIC_COUNT; m++) {
        const res_metric metric = (res_metric)m;
        const res_over over = res_metric_over(f, metric);
        const res_difference_shown shows = res_figures_show(f, metric);
        if (shows != RES_DIFFERENCE_UNKNOWN)
            json_object_set_new(
                figures, res_metric_name(metric),
                json_pack("[oooIioo]", res_json_real(over.value.estimate),
                          res_json_real(over.value.low), res_json_real(over.value.high),
                          (json_int_t)over.processes, shows == RES_DIFFERENCE_SIGNIFICANT,
                          site_text(res_figures_words(f, metric).text),
                          site_text(res_figures_bounds(f, metric).text)));
    }
    return figures;
}

/* Room for the records of one experiment. */
typedef struct pool_room {
    const res_summary **summaries;
    res_process *processes;
} pool_room;

/* The experiment of ITEMS, which are in order of time. */
static json_t *entry_json(const site *s, const item *items, size_t count, const pool_room *room)
{
    res_summary_pool of;
    for (size_t i = 0; i < count; i++)
        room->summaries[i] = items[i].record->summary;
    const size_t experiment = items[count - 1].record->summary->experiment;
    res_pool_summaries(room->summaries, count, s->index->experiments[experiment], room->processes,
                       &of);
    const site_experiment *e = &s->experiments[experiment];
    const res_pool *pool = &of.pool;
    const res_figures f = res_pool_figures(pool);
    return json_pack("{ss so ss so so so so ss sI sI s[III] si so}", "cell", e->cell.text, "title",
                     site_text(e->title), "model", s->models[e->model].key.text, "settings",
                     site_text(items->settings), "newest", site_text(of.latest->id), "conditions",
                     site_text(of.latest->conditions), "host", site_text(of.latest->origin->host),
                     "source", f.source, "processes", (json_int_t)pool->counted, "runs",
                     (json_int_t)pool->run_count, "left_out", (json_int_t)pool->other_conditions,
                     (json_int_t)pool->other_builds, (json_int_t)(pool->count - pool->counted),
                     "remark", (int)res_figures_remark(&f), "figures", figures_json(&f));
}

static json_t *build_json(const site *s, size_t build, const item *items, size_t count,
                          const pool_room *room)
{
    json_t *cells = json_array();
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && same_entry(&items[first], &items[end]))
            end++;
        json_array_append_new(cells, entry_json(s, items + first, end - first, room));
    }
    return json_pack("{ss so}", "key", s->builds[build].key.text, "cells", cells);
}

bn_code site_builds_write(site *s, bn_status *st)
{
    size_t count, at = 0;
    char name[SITE_NAME];
    bn_code code = BN_OK;
    item *items = list_items(s, &count);
    const pool_room room = {bn_zalloc(count + 1, sizeof(const res_summary *)),
                            bn_zalloc(count + 1, sizeof *room.processes)};
    for (size_t b = 0; b < s->build_count && code == BN_OK; b++) {
        size_t end = at;
        while (end < count && items[end].build == b)
            end++;
        snprintf(name, sizeof name, "build-%s", s->builds[b].key.text);
        code =
            site_folder_data(&s->folder, name, build_json(s, b, items + at, end - at, &room), st);
        at = end;
    }
    free(room.summaries);
    free(room.processes);
    free(items);
    return code;
}
