/*
 * latest.c - the data file of the latest results: the tables of bench table and the pictures of
 * bench report, of the latest build of each experiment, as pieces of HTML.
 */
#include "plots/site/site_priv.h"

#include "results/tables/tables.h"

#define MOST_LATEST 400 /* of the latest records have details: they are read anyway */

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
    bn_status why = {.code = BN_OK};
    size_t number = 1;
    const bn_code code = plot_html_blocks(all, true, &number, &html, &why);
    s->made->no_pictures = code == BN_NOT_FOUND;
    if (s->made->no_pictures)
        bn_text_clear(&html);
    json_t *value = json_pack("{sI so so}", "records", (json_int_t)all->count, "tables",
                              tables_json(all), "pictures", site_taken(&html));
    if (code == BN_OK || s->made->no_pictures)
        return site_folder_data(&s->folder, "newest", value, st);
    json_decref(value);
    return bn_fail(st, code, "%s", why.message);
}

bn_code site_latest_write(site *s, bn_status *st)
{
    const res_asked asked = {NULL, NULL, s->options->now_s};
    res_collection all = {0};
    bn_code code = res_latest_read(s->options->store, s->index, &asked, &all, st);
    s->made->opened += all.count;
    s->made->lost = (res_collection){.damaged = all.damaged,
                                     .damaged_count = all.damaged_count,
                                     .damaged_room = all.damaged_room};
    all.damaged = NULL;
    all.damaged_count = 0;
    if (code == BN_OK)
        code = write_file(s, &all, st);
    for (size_t i = 0; i < MOST_LATEST && i < all.count && code == BN_OK; i++)
        code = site_detail_write(s, all.records[all.count - 1 - i], st);
    res_collection_free(&all);
    return code;
}
