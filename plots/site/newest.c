/*
 * newest.c - the data file of the latest results: the tables of bench table and the pictures of
 * bench report, of the latest build of each experiment, as pieces of HTML.
 */
#include "plots/site/site_priv.h"

#include "results/tables/tables.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NEWEST 400 /* of the latest records have details: they are read anyway */

/* ---- pictures ---------------------------------------------------------------------- */

typedef bn_code (*maker)(const res_collection *all, plot *p, bn_status *st);

/* Eager steps are much longer: beside them the parts of others could not be read. */
static const struct {
    maker make;
    bool eager;
    const char *caption;
} pictures[] = {
    {plot_speedup, true, "Speedup over lazy; whiskers are 95 % intervals over processes."},
    {plot_ledger, false, "Mean step by part, each model on a scale of its own."},
    {plot_ledger, true, "The same with eager."},
    {plot_overhead, false, "Overhead of an execution."},
};
#define PICTURES (sizeof pictures / sizeof *pictures)

/* A picture without records is left out; so are all where there is no gnuplot. */
static bn_code put_picture(site *s, const res_collection *some, size_t which, size_t *number,
                           bn_text *out, bn_status *st)
{
    plot p = {0};
    bn_status why = {.code = BN_OK};
    bn_code code = pictures[which].make(some, &p, &why);
    if (code == BN_OK) {
        code = plot_html_figure(&p, pictures[which].caption, (*number)++, out, &why);
        s->made->no_pictures = code == BN_NOT_FOUND;
    }
    plot_free(&p);
    return code == BN_OK || code == BN_NOT_FOUND ? BN_OK : bn_fail(st, code, "%s", why.message);
}

/* Records that one picture may hold: of one runtime, simulated or not, emulated or not. */
static bool same_block(const res_record *a, const res_record *b)
{
    return res_same_block(a, b) &&
           (a->experiment.trace_cost_ns > 0) == (b->experiment.trace_cost_ns > 0);
}

static bool is_eager(const res_record *record)
{
    return strcmp(record->experiment.mode, "eager") == 0;
}

/* Lists into SOME, which has room, the records of the block of LIKE. */
static size_t choose(const res_collection *all, const res_record *like, bool eager,
                     res_record **some)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (same_block(all->records[i], like) && (eager || !is_eager(all->records[i])))
            some[count++] = all->records[i];
    return count;
}

static void put_title(const res_record *record, bn_text *out)
{
    bn_text_puts(out, "<h3>");
    plot_html_text(out, bn_base_name(record->experiment.runtime));
    if (record->simulated)
        bn_text_puts(out, " <span class=\"badge\">SIMULATED DEVICE</span>");
    if (record->experiment.trace_cost_ns > 0)
        bn_text_puts(out, " <span class=\"badge\">EMULATED FRONT END</span>");
    bn_text_puts(out, "</h3>\n");
}

static bool is_first(const res_collection *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_block(all->records[k], all->records[i]))
            return false;
    return true;
}

static bn_code put_pictures(site *s, const res_collection *all, bn_text *out, bn_status *st)
{
    res_record **some = bn_zalloc(all->count + 1, sizeof(res_record *));
    size_t number = 1;
    bn_code code = BN_OK;
    for (size_t i = 0; i < all->count && code == BN_OK && !s->made->no_pictures; i++) {
        if (!is_first(all, i))
            continue;
        put_title(all->records[i], out);
        size_t before = 0;
        for (size_t k = 0; k < PICTURES && code == BN_OK && !s->made->no_pictures; k++) {
            const size_t count = choose(all, all->records[i], pictures[k].eager, some);
            const res_collection view = {.records = some, .count = count};
            const bool same = k > 0 && pictures[k].make == pictures[k - 1].make && count == before;
            before = count;
            if (same)
                continue;
            code = put_picture(s, &view, k, &number, out, st);
        }
    }
    free(some);
    return code;
}

/* ---- tables ------------------------------------------------------------------------ */

static json_t *tables_json(const res_collection *all)
{
    static const char *const tables[][2] = {{"speedup", "Speedup over lazy, and what was found"},
                                            {"ledger", "Where the time of a step goes"},
                                            {"executions", "Executions"},
                                            {"compile", "Compilation"},
                                            {"memory", "Memory"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        bn_text html = {0};
        res_table(tables[i][0], all, RES_TABLE_HTML, &html);
        json_array_append_new(list,
                              json_pack("[sso]", tables[i][0], tables[i][1], site_taken(&html)));
    }
    return list;
}

static bn_code write_file(site *s, const res_collection *all, bn_status *st)
{
    bn_text html = {0};
    const bn_code code = put_pictures(s, all, &html, st);
    json_t *value = json_pack("{sI so so}", "records", (json_int_t)all->count, "tables",
                              tables_json(all), "pictures", site_taken(&html));
    if (code == BN_OK)
        return site_folder_data(&s->folder, "newest", value, st);
    json_decref(value);
    return code;
}

bn_code site_newest_write(site *s, bn_status *st)
{
    const res_asked asked = {NULL, NULL, s->options->now_s};
    res_collection all = {0};
    bn_code code = res_newest_read(s->options->store, s->index, &asked, &all, st);
    s->made->opened += all.count;
    s->made->lost = (res_collection){.damaged = all.damaged,
                                     .damaged_count = all.damaged_count,
                                     .damaged_room = all.damaged_room};
    all.damaged = NULL;
    all.damaged_count = 0;
    if (code == BN_OK)
        code = write_file(s, &all, st);
    for (size_t i = 0; i < MOST_NEWEST && i < all.count && code == BN_OK; i++)
        code = site_detail_write(s, all.records[all.count - 1 - i], st);
    res_collection_free(&all);
    return code;
}
