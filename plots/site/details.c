/*
 * details.c - a data file for some records: ledger and executions in the tables of bench, the data
 * of its timeline, its steps one by one, and its provenance. A record never changes, so a file that
 * is there stays.
 *
 * Most records of a large store have none: opening them all takes minutes. site_details_write says
 * which ones do; pages of the others say how to get one.
 */
#include "plots/site/site_priv.h"

#include "results/findings/goodput.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAILED_NIGHTS 3
#define MOST_A_NIGHT    200
#define MOST_STEPS      4000
#define PARTED_STEPS    10 /* whose parts the timeline shows, besides those of the longest */

/* ---- one record -------------------------------------------------------------------- */

static json_t *times_json(const uint64_t *ns, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && i < MOST_STEPS; i++)
        json_array_append_new(list, json_integer((json_int_t)ns[i]));
    return list;
}

/* Times of the process's phases; null where they are unknown. */
static json_t *phases_json(const res_record *record)
{
    res_phases phases;
    if (!res_record_phases(record, &phases))
        return json_null();
    json_t *object = json_object();
#define X(name) json_object_set_new(object, #name, json_integer(llround(phases.name##_ns)));
    RES_PHASES(X)
#undef X
    return object;
}

/* [NUMBER, ns of each part]. */
static json_t *parts_of(const res_record *record, size_t step)
{
    json_t *list = json_pack("[I]", (json_int_t)step);
    for (size_t p = 0; p < BN_PART_COUNT; p++)
        json_array_append_new(list,
                              json_integer((json_int_t)record->part_ns[step * BN_PART_COUNT + p]));
    return list;
}

/* Parts of the first measured steps, and of the longest one where it is none of these. */
static void put_parts(const res_record *record, json_t *detail)
{
    const bool known = res_has_ledger(record);
    size_t longest = 0;
    json_t *names = json_array(), *parted = json_array();
    for (size_t p = 0; p < BN_PART_COUNT; p++)
        json_array_append_new(names, json_string(bn_part_name((bn_part)p)));
    for (size_t i = 0; known && i < record->step_count; i++) {
        longest = record->wall_ns[i] > record->wall_ns[longest] ? i : longest;
        if (i < PARTED_STEPS)
            json_array_append_new(parted, parts_of(record, i));
    }
    json_object_set_new(detail, "parts", names);
    json_object_set_new(detail, "parted", parted);
    json_object_set_new(detail, "longest",
                        longest >= PARTED_STEPS ? parts_of(record, longest) : json_null());
}

static void put_rounds(const res_record *record, json_t *detail)
{
    json_t *steps = json_array(), *walls = json_array();
    for (size_t i = 0; i < record->round_count && i < MOST_STEPS; i++) {
        const res_round *round = &record->rounds[i];
        json_array_append_new(steps, json_integer((json_int_t)round->steps));
        json_array_append_new(walls, round->wall_ns == RES_UNKNOWN
                                         ? json_null()
                                         : json_integer((json_int_t)round->wall_ns));
    }
    json_object_set_new(detail, "rounds", steps);
    json_object_set_new(detail, "round_wall", walls);
}

/* ["runtime label", "abc"] of each value of the provenance. */
static json_t *provenance_json(const res_record *record)
{
    json_t *pairs = json_array(), *list = json_array(), *pair;
    size_t i;
    plot_flatten("", record->provenance, pairs);
    json_array_foreach(pairs, i, pair)
    {
        const char *name = json_string_value(json_array_get(pair, 0));
        const json_t *value = json_array_get(pair, 1);
        char *text = json_is_string(value)
                         ? bn_strdup(json_string_value(value))
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | RES_JSON_SHOWN);
        json_array_append_new(list, json_pack("[oo]", site_text(name), site_text(text)));
        free(text);
    }
    json_decref(pairs);
    return list;
}

static json_t *record_json(const res_record *record)
{
    bn_text html = {0}, title = {0};
    res_table_record(record, RES_TABLE_HTML, &html);
    res_experiment_title(&record->experiment, &title);
    json_t *detail = json_pack(
        "{so so so so so so so}", "id", site_text(record->id), "title", site_text(title.data),
        "message", site_text(record->status == BN_OK ? "" : record->message), "tables",
        site_taken(&html), "wall", times_json(record->wall_ns, record->step_count), "warmup",
        times_json(record->warmup_wall_ns, record->warmup_count), "phases", phases_json(record));
    bn_text_free(&title);
    put_rounds(record, detail);
    put_parts(record, detail);
    json_object_set_new(detail, "steps", json_integer((json_int_t)record->step_count));
    json_object_set_new(detail, "provenance", provenance_json(record));
    return detail;
}

static void add_detail(site *s, const site_key *key)
{
    bn_grow(&s->details, s->detail_count + 1, &s->detail_capacity, sizeof *s->details);
    s->details[s->detail_count++] = *key;
}

/* Whether the file of KEY, called NAME, is there already. */
static bool has_details(site *s, const site_key *key, const char *name)
{
    for (size_t i = 0; i < s->detail_count; i++)
        if (strcmp(s->details[i].text, key->text) == 0)
            return true;
    const bool there = site_folder_keep(&s->folder, name);
    if (there)
        add_detail(s, key);
    return there;
}

bn_code site_detail_write(site *s, const res_record *record, bn_status *st)
{
    const site_key key = site_key_of(record->id);
    char name[SITE_NAME];
    snprintf(name, sizeof name, "record-%s", key.text);
    if (has_details(s, &key, name))
        return BN_OK;
    const bn_code code = site_folder_data(&s->folder, name, record_json(record), st);
    if (code == BN_OK)
        add_detail(s, &key);
    return code;
}

/* ---- which records -------------------- */

static bool is_lost(const site *s, const res_summary *summary)
{
    const res_collection *lost = &s->made->lost;
    for (size_t i = 0; i < lost->damaged_count; i++)
        if (strcmp(bn_base_name(lost->damaged[i].path), summary->file) == 0)
            return true;
    return false;
}

/* Reads the record of SUMMARY and writes its file, unless it is there. A record that cannot be read
 * joins the lost ones. */
static bn_code write_details(site *s, const res_summary *summary, bn_status *st)
{
    const site_key key = site_key_of(summary->id);
    char name[SITE_NAME];
    res_record *record = NULL;
    snprintf(name, sizeof name, "record-%s", key.text);
    if (has_details(s, &key, name) || is_lost(s, summary))
        return BN_OK;
    s->made->opened++;
    bn_code code =
        res_summary_take(s->options->store, s->index, summary, &record, &s->made->lost, st);
    if (record)
        code = site_detail_write(s, record, st);
    res_record_free(record);
    return code;
}

static bn_code write_nights(site *s, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t n = 0; n < DETAILED_NIGHTS && n < s->night_count; n++) {
        const site_night *night = &s->nights[s->night_count - 1 - n];
        for (size_t i = night->first; i < night->end && i - night->first < MOST_A_NIGHT; i++) {
            if (s->detail_count >= SITE_MOST_DETAILS)
                return code;
            code = write_details(s, s->records[i].summary, st);
            if (code != BN_OK)
                return code;
        }
    }
    return code;
}

/* The first record at or after TIME_S. */
static size_t first_from(const site *s, double time_s)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->records[middle].time_s < time_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Details of the first good record of night WHICH of SERIES. */
static bn_code write_of_night(site *s, const res_timeline *series, size_t which, bn_status *st)
{
    const res_night *night = &series->nights[which];
    const double end_s = night->time_s + s->options->night_hours * 3600;
    const site_key cell = site_cell_of(series->experiment);
    const size_t build =
        site_build_of(s, series->experiment->runtime, night->origin, series->simulated);
    for (size_t i = first_from(s, night->time_s); i < s->count && s->records[i].time_s <= end_s;
         i++) {
        const site_record *r = &s->records[i];
        if (res_summary_good(r->summary) && r->build == build &&
            strcmp(s->experiments[r->summary->experiment].cell.text, cell.text) == 0)
            return write_details(s, r->summary, st);
    }
    return BN_OK;
}

/* Details of a record before and of one after each change of the wall time. */
static bn_code write_changes(site *s, bn_status *st)
{
    const res_history *h = &s->history[RES_METRIC_WALL];
    bn_code code = BN_OK;
    for (size_t i = 0; i < h->count && code == BN_OK; i++) {
        const res_timeline *series = &h->series[i];
        for (size_t k = 1; k < series->stretch_count && code == BN_OK; k++) {
            if (s->detail_count >= SITE_MOST_DETAILS)
                return BN_OK;
            code = write_of_night(s, series, series->stretches[k].before, st);
            if (code == BN_OK)
                code = write_of_night(s, series, series->stretches[k].first, st);
        }
    }
    return code;
}

static const res_summary *find(const site *s, const char *id)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->records[i].summary->id, id) == 0)
            return s->records[i].summary;
    return NULL;
}

/* Writes the pages that were requested earlier, except of records that have left the store. */
static bn_code write_asked(site *s, bn_status *st)
{
    size_t i;
    const json_t *item;
    bn_code code = BN_OK;
    json_array_foreach(s->folder.asked, i, item)
    {
        const res_summary *summary = find(s, json_string_value(item));
        if (summary && code == BN_OK)
            code = write_details(s, summary, st);
    }
    return code;
}

bn_code site_details_write(site *s, bn_status *st)
{
    bn_code code = write_asked(s, st);
    if (code == BN_OK)
        code = write_nights(s, st);
    return code == BN_OK ? write_changes(s, st) : code;
}
