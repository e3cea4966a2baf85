/*
 * builds.c - a data file a build: what its processes say of each experiment, so that a browser can
 * set any two side by side.
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

/* Room for the records of one experiment. */
typedef struct pool_room {
    const res_summary **summaries;
    res_process *processes;
} pool_room;

static bool make_room(pool_room *room, size_t count)
{
    *room = (pool_room){calloc(count + 1, sizeof(const res_summary *)),
                        calloc(count + 1, sizeof *room->processes)};
    return room->summaries && room->processes;
}

static void free_room(pool_room *room)
{
    free(room->summaries);
    free(room->processes);
}

/* Puts METRIC as a list, unless there is nothing to say: estimate, bounds, processes, whether it is
 * told (1 or 0), what tables show of it and of its bounds. */
static void put_figure(const res_figures *f, res_metric metric, bool *first, bn_text *out)
{
    const res_over over = res_metric_over(f, metric);
    const res_difference_shown shows = res_figures_show(f, metric);
    if (shows == RES_DIFFERENCE_UNKNOWN)
        return;
    site_put_comma(out, first);
    bn_text_printf(out, "\"%s\":[", res_metric_name(metric));
    site_put_number(out, over.value.estimate);
    bn_text_putc(out, ',');
    site_put_number(out, over.value.low);
    bn_text_putc(out, ',');
    site_put_number(out, over.value.high);
    bn_text_printf(out, ",%zu,%d,", over.processes, shows == RES_DIFFERENCE_TOLD);
    site_put_text(out, res_figures_words(f, metric).text);
    bn_text_putc(out, ',');
    site_put_text(out, res_figures_bounds(f, metric).text);
    bn_text_puts(out, "]");
}

static void put_pool(const res_pool *pool, bn_text *out)
{
    const res_figures f = res_pool_figures(pool);
    bool first = true;
    bn_text_printf(out, ",\"source\":\"%s\",\"processes\":%zu,\"runs\":%zu", f.source,
                   pool->counted, pool->run_count);
    bn_text_printf(out, ",\"left_out\":[%zu,%zu,%zu],\"remark\":%d,\"figures\":{",
                   pool->other_conditions, pool->other_builds, pool->count - pool->counted,
                   (int)res_figures_remark(&f));
    for (int m = 0; m < RES_METRIC_COUNT; m++)
        put_figure(&f, (res_metric)m, &first, out);
    bn_text_puts(out, "}");
}

/* Puts the experiment of ITEMS, which are in order of time. */
static void put_entry(const site *s, const item *items, size_t count, const pool_room *room,
                      bn_text *out)
{
    res_summary_pool of;
    for (size_t i = 0; i < count; i++)
        room->summaries[i] = items[i].record->summary;
    const size_t experiment = items[count - 1].record->summary->experiment;
    res_pool_summaries(room->summaries, count, s->index->experiments[experiment], room->processes,
                       &of);
    const site_experiment *e = &s->experiments[experiment];
    bn_text_printf(out, "{\"cell\":\"%s\",\"title\":", e->cell.text);
    site_put_text(out, e->title);
    bn_text_printf(out, ",\"model\":\"%s\",\"settings\":", s->models[e->model].key.text);
    site_put_text(out, items->settings);
    bn_text_puts(out, ",\"newest\":");
    site_put_text(out, of.newest->id);
    bn_text_puts(out, ",\"conditions\":");
    site_put_text(out, of.newest->conditions);
    bn_text_puts(out, ",\"host\":");
    site_put_text(out, of.newest->origin->host);
    put_pool(&of.pool, out);
    bn_text_puts(out, "}");
}

static void put_build(const site *s, size_t build, const item *items, size_t count,
                      const pool_room *room, bn_text *out)
{
    bool first_entry = true;
    bn_text_printf(out, "{\"key\":\"%s\",\"cells\":[", s->builds[build].key.text);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && same_entry(&items[first], &items[end]))
            end++;
        bn_text_puts(out, first_entry ? "\n" : ",\n");
        first_entry = false;
        put_entry(s, items + first, end - first, room, out);
    }
    bn_text_puts(out, "]}");
}

bn_code site_builds_write(site *s, bn_status *st)
{
    item *items = NULL;
    pool_room room = {0};
    size_t count, at = 0;
    bn_text text = {0};
    char name[SITE_NAME];
    bn_code code = list_items(s, &items, &count) && make_room(&room, count)
                       ? BN_OK
                       : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a site");
    for (size_t b = 0; b < s->build_count && code == BN_OK; b++) {
        size_t end = at;
        while (end < count && items[end].build == b)
            end++;
        snprintf(name, sizeof name, "build-%s", s->builds[b].key.text);
        site_begin(&text, name);
        put_build(s, b, items + at, end - at, &room, &text);
        site_end(&text);
        code = site_folder_data(&s->folder, name, &text, st);
        at = end;
    }
    bn_text_free(&text);
    free_room(&room);
    free(items);
    return code;
}
