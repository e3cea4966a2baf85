/*
 * details.c - a data file for some records: ledger and executions in the tables of bench, what its
 * timeline is drawn of, its steps one by one, and its provenance. A record never changes, so a file
 * that is there stays.
 *
 * Most records of a large store have none: opening them all takes minutes. Which ones do is said in
 * site_details_write; their pages tell how to get one more.
 */
#include "plots/site/site_priv.h"

#include "results/findings/goodput.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAILED_NIGHTS 3
#define MOST_A_NIGHT    200
#define MOST_STEPS      4000
#define PARTED_STEPS    10  /* whose parts the timeline shows, beside those of the longest */
#define MOST_NAME       200 /* bytes of what a value of a provenance is called */

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a site");
}

/* ---- one record -------------------------------------------------------------------- */

static void put_series(const char *name, const uint64_t *values, size_t count, bn_text *out)
{
    bool first = true;
    bn_text_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count && i < MOST_STEPS; i++) {
        site_put_comma(out, &first);
        bn_text_printf(out, "%llu", (unsigned long long)values[i]);
    }
    bn_text_puts(out, "]");
}

static void put_rounds(const res_record *record, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\"rounds\":[");
    for (size_t i = 0; i < record->round_count && i < MOST_STEPS; i++) {
        site_put_comma(out, &first);
        bn_text_printf(out, "%llu", (unsigned long long)record->rounds[i].steps);
    }
    first = true;
    bn_text_puts(out, "],\"round_wall\":[");
    for (size_t i = 0; i < record->round_count && i < MOST_STEPS; i++) {
        const uint64_t wall_ns = record->rounds[i].wall_ns;
        site_put_comma(out, &first);
        if (wall_ns == RES_UNTOLD)
            bn_text_puts(out, "null");
        else
            bn_text_printf(out, "%llu", (unsigned long long)wall_ns);
    }
    bn_text_puts(out, "]");
}

/* What the process did when; null where the record does not say. */
static void put_phases(const res_record *record, bn_text *out)
{
    res_phases phases;
    if (!res_record_phases(record, &phases)) {
        bn_text_puts(out, ",\"phases\":null");
        return;
    }
    bool first = true;
    bn_text_puts(out, ",\"phases\":{");
#define X(name)                                                                                    \
    site_put_comma(out, &first);                                                                   \
    bn_text_printf(out, "\"" #name "\":%.0f", phases.name##_ns);
    RES_PHASES(X)
#undef X
    bn_text_puts(out, "}");
}

/* Puts [NUMBER, ns of each part]. */
static void put_parts_of(const res_record *record, size_t step, bn_text *out)
{
    bn_text_printf(out, "[%zu", step);
    for (size_t p = 0; p < BN_PART_COUNT; p++)
        bn_text_printf(out, ",%llu", (unsigned long long)record->part_ns[step * BN_PART_COUNT + p]);
    bn_text_puts(out, "]");
}

/* Parts of the first measured steps, and of the longest one where it is none of these. */
static void put_parts(const res_record *record, bn_text *out)
{
    const bool told = res_has_ledger(record);
    size_t longest = 0;
    bool first = true;
    bn_text_puts(out, ",\"parts\":[");
    for (size_t p = 0; p < BN_PART_COUNT; p++)
        bn_text_printf(out, "%s\"%s\"", p ? "," : "", bn_part_name((bn_part)p));
    bn_text_puts(out, "],\"parted\":[");
    for (size_t i = 0; told && i < record->step_count; i++) {
        longest = record->wall_ns[i] > record->wall_ns[longest] ? i : longest;
        if (i >= PARTED_STEPS)
            continue;
        site_put_comma(out, &first);
        put_parts_of(record, i, out);
    }
    bn_text_puts(out, "],\"longest\":");
    if (longest >= PARTED_STEPS)
        put_parts_of(record, longest, out);
    else
        bn_text_puts(out, "null");
}

static void put_scalar(const json_t *value, bn_text *out)
{
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | RES_JSON_SHOWN);
    site_put_text(out, text ? text : json_string_value(value) ? json_string_value(value) : "");
    free(text);
}

/* Puts ["runtime label", "abc"] for each value that is no object. A provenance is at most
 * BN_JSON_DEPTH deep. */
static void put_pairs(const char *prefix, const json_t *object, bool *first, bn_text *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (strcmp(key, "xml") == 0) /* the machine's topology, which nobody reads here */
            continue;
        bn_text name = {0};
        bn_text_printf(&name, "%s%s%s", prefix, prefix[0] ? " " : "", key);
        /* A key stands before all that is below it: a long one would be written as often. */
        if (!name.failed)
            name.data[bn_utf8_fit(name.data, MOST_NAME)] = '\0';
        const char *said = name.failed ? "" : name.data;
        if (json_is_object(value)) {
            put_pairs(said, value, first, out);
        } else {
            bn_text_puts(out, *first ? "\n[" : ",\n[");
            *first = false;
            site_put_text(out, said);
            bn_text_puts(out, ",");
            put_scalar(value, out);
            bn_text_puts(out, "]");
        }
        out->failed = out->failed || name.failed;
        bn_text_free(&name);
    }
}

static void put_record(const res_record *record, bn_text *out)
{
    bn_text html = {0}, title = {0};
    bool first = true;
    res_table_record(record, RES_TABLE_HTML, &html);
    res_experiment_title(&record->experiment, &title);
    bn_text_puts(out, "{\"id\":");
    site_put_text(out, record->id);
    bn_text_puts(out, ",\"title\":");
    site_put_text(out, title.data ? title.data : "");
    bn_text_puts(out, ",\"message\":");
    site_put_text(out, record->status == BN_OK ? "" : record->message);
    bn_text_puts(out, ",\"tables\":");
    site_put_html(out, html.data);
    put_series("wall", record->wall_ns, record->step_count, out);
    put_series("warmup", record->warmup_wall_ns, record->warmup_count, out);
    put_rounds(record, out);
    put_phases(record, out);
    put_parts(record, out);
    bn_text_printf(out, ",\"steps\":%zu,\"provenance\":[", record->step_count);
    put_pairs("", record->provenance, &first, out);
    bn_text_puts(out, "]}");
    out->failed = out->failed || html.failed || title.failed;
    bn_text_free(&html);
    bn_text_free(&title);
}

static bool has_details(const site *s, const site_key *key)
{
    for (size_t i = 0; i < s->detail_count; i++)
        if (strcmp(s->details[i], key->text) == 0)
            return true;
    return false;
}

static bn_code add_detail(site *s, const site_key *key, bn_status *st)
{
    if (!bn_reserve(&s->details, s->detail_count + 1, &s->detail_capacity, sizeof *s->details))
        return no_memory(st);
    memcpy(s->details[s->detail_count++], key->text, SITE_KEY);
    return BN_OK;
}

/* Whether the file of KEY, called NAME, is there, or there is to be none. */
static bn_code is_done(site *s, const site_key *key, const char *name, bool *done, bn_status *st)
{
    *done = has_details(s, key);
    if (*done)
        return BN_OK;
    bn_code code = site_folder_keep(&s->folder, name, done, st);
    return code == BN_OK && *done ? add_detail(s, key, st) : code;
}

bn_code site_detail_write(site *s, const res_record *record, bn_status *st)
{
    const site_key key = site_key_of(record->id);
    char name[SITE_NAME];
    bool done;
    snprintf(name, sizeof name, "record-%s", key.text);
    bn_code code = is_done(s, &key, name, &done, st);
    if (done || code != BN_OK)
        return code;
    bn_text text = {0};
    site_begin(&text, name);
    put_record(record, &text);
    site_end(&text);
    code = site_folder_data(&s->folder, name, &text, st);
    bn_text_free(&text);
    return code == BN_OK ? add_detail(s, &key, st) : code;
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

/* Reads the record of SUMMARY and writes its file, unless it is there. One that cannot be read is
 * kept in mind. */
static bn_code take(site *s, const res_summary *summary, bn_status *st)
{
    const site_key key = site_key_of(summary->id);
    char name[SITE_NAME];
    bool done;
    res_record *record = NULL;
    snprintf(name, sizeof name, "record-%s", key.text);
    bn_code code = is_done(s, &key, name, &done, st);
    if (done || code != BN_OK || is_lost(s, summary))
        return code;
    s->made->opened++;
    code = res_summary_take(s->options->store, s->index, summary, &record, &s->made->lost, st);
    if (record)
        code = site_detail_write(s, record, st);
    res_record_free(record);
    return code;
}

static bn_code take_nights(site *s, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t n = 0; n < DETAILED_NIGHTS && n < s->night_count; n++) {
        const site_night *night = &s->nights[s->night_count - 1 - n];
        for (size_t i = night->first; i < night->end && i - night->first < MOST_A_NIGHT; i++) {
            if (s->detail_count >= SITE_MOST_DETAILS)
                return code;
            code = take(s, s->records[i].summary, st);
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

/* Takes the first good record of night WHICH of SERIES. */
static bn_code take_of_night(site *s, const res_timeline *series, size_t which, bn_status *st)
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
            return take(s, r->summary, st);
    }
    return BN_OK;
}

/* Takes a record before and one after each change of the wall time. */
static bn_code take_changes(site *s, bn_status *st)
{
    const res_history *h = &s->history[RES_METRIC_WALL];
    bn_code code = BN_OK;
    for (size_t i = 0; i < h->count && code == BN_OK; i++) {
        const res_timeline *series = &h->series[i];
        for (size_t k = 1; k < series->stretch_count && code == BN_OK; k++) {
            if (s->detail_count >= SITE_MOST_DETAILS)
                return BN_OK;
            code = take_of_night(s, series, series->stretches[k].before, st);
            if (code == BN_OK)
                code = take_of_night(s, series, series->stretches[k].first, st);
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

/* Of those that were asked for earlier, some may have left the store. */
static bn_code take_asked(site *s, bn_status *st)
{
    size_t i;
    const json_t *item;
    bn_code code = BN_OK;
    json_array_foreach(s->folder.asked, i, item)
    {
        const res_summary *summary = find(s, json_string_value(item));
        if (summary && code == BN_OK)
            code = take(s, summary, st);
    }
    return code;
}

bn_code site_details_write(site *s, bn_status *st)
{
    bn_code code = take_asked(s, st);
    if (code == BN_OK)
        code = take_nights(s, st);
    return code == BN_OK ? take_changes(s, st) : code;
}
