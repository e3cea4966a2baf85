/*
 * export_record.c - a record as all formats have it: its name, its label, its origin, and which
 * records stand together.
 */
#include "results/exports/exports_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- names ------------------------------------------------------------------------ */

/* Whether a name says E's value of AXIS: a value that is unusual or always said. Model, phase and
 * mode stand before the name, the runtime behind it. */
static bool is_said(const res_axis *axis, const res_experiment *e)
{
    const bool ours =
        axis->role == RES_ROLE_SETUP || (axis->role == RES_ROLE_WAY && axis->id != RES_AXIS_MODE);
    const bool known = axis->field.kind == RES_KIND_TEXT ? res_axis_text(axis, e)[0] != '\0'
                                                         : res_axis_number(axis, e) != 0;
    return ours && known && (axis->always || !res_axis_is_usual(axis, e));
}

json_t *res_export_members(const res_record *record)
{
    json_t *members = json_object();
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (is_said(&res_axes[i], &record->experiment))
            json_object_set_new(members, res_axes[i].field.name,
                                res_axis_to_json(&res_axes[i], &record->experiment));
    json_object_set_new(members, "runtime",
                        res_json_text(bn_base_name(record->experiment.runtime)));
    return members;
}

/* The length of the blank at the beginning of TEXT, 0 where there is none: control characters and,
 * in UTF-8, what Unicode counts as space. */
static size_t blank_at(const char *text)
{
    static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80",
                                       "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
                                       "\xe2\x81\x9f", "\xe3\x80\x80"};
    if ((unsigned char)*text <= ' ' || *text == 0x7f)
        return 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return strlen(wide[i]);
    /* U+2000 to U+200A: blanks by their width. */
    const bool by_width = strncmp(text, "\xe2\x80", 2) == 0 && (unsigned char)text[2] >= 0x80 &&
                          (unsigned char)text[2] <= 0x8a;
    return by_width ? 3 : 0;
}

/* Puts '_' for each byte of the blanks of NAME from START on, at which tools split, and of
 * characters that are not plain. */
static void put_unbroken(bn_text *name, size_t start)
{
    const char *shown;
    size_t length;
    for (char *c = name->data ? name->data + start : NULL; c && *c != '\0'; c += length) {
        const size_t blank = blank_at(c), whole = bn_plain_next(c, &shown, &length);
        length = blank ? blank : whole;
        if (blank || shown != c)
            memset(c, '_', length);
    }
}

void res_export_name(const res_record *record, char pair, bn_text *name)
{
    json_t *members = res_export_members(record), *value;
    const char *key;
    size_t start = name->length;
    bn_text_printf(name, "%s/%s/%s", record->experiment.model, record->experiment.phase,
                   record->experiment.mode);
    json_object_foreach(members, key, value)
    {
        bn_text_printf(name, "/%s%c", key, pair);
        if (json_is_string(value))
            bn_text_puts(name, json_string_value(value));
        else
            bn_text_int(name, json_integer_value(value));
    }
    if (record->simulated)
        bn_text_puts(name, "/simulated");
    json_decref(members);
    put_unbroken(name, start);
}

void res_export_digits(bn_text *name, size_t most, const char *whole)
{
    char digest[BN_SHA256_TEXT];
    size_t keep = name->length;
    if (!name->data)
        return;
    bn_sha256(whole, strlen(whole), digest);
    if (keep + 1 + RES_NAME_DIGITS > most)
        keep = most - 1 - RES_NAME_DIGITS;
    keep = bn_utf8_fit(name->data, keep);
    name->data[keep] = '\0';
    name->length = keep;
    bn_text_printf(name, "_%.*s", RES_NAME_DIGITS, digest);
}

void res_export_put_safe(bn_text *out, const char *text, const char *kept, const char *lost,
                         size_t most)
{
    bn_text safe = {0};
    bool same = text[0] != '\0';
    for (const char *c = text; *c != '\0'; c++) {
        const bool fits =
            isalnum((unsigned char)*c) || (strchr(kept, *c) && (c > text || *c != '.'));
        bn_text_putc(&safe, fits ? *c : '_');
        same = same && (fits || strchr(lost, *c));
    }
    if (!safe.data)
        bn_text_putc(&safe, '_');
    if (!same || safe.length > most)
        res_export_digits(&safe, most, text);
    bn_text_puts(out, safe.data);
    bn_text_free(&safe);
}

void res_export_label(const res_record *record, bn_text *label)
{
    bn_text_puts(label, record->simulated ? "simulated" : "");
    if (record->experiment.trace_cost_ns > 0)
        bn_text_printf(label, "%semulated front end of %d ns a node", record->simulated ? ", " : "",
                       record->experiment.trace_cost_ns);
}

/* ---- provenance ---------------------------------------------------------------------- */

const char *res_export_platform(const res_record *record)
{
    const char *name = res_provenance_text(record, RES_PROV_RUNTIME_PLATFORM);
    return name[0] ? name : res_provenance_text(record, RES_PROV_IMPORTED_PLATFORM);
}

const char *res_export_device(const res_record *record)
{
    const char *kind = json_string_value(res_provenance(record, RES_PROV_RUNTIME_DEVICE_KIND));
    return kind ? kind : res_provenance_text(record, RES_PROV_IMPORTED_DEVICE);
}

void res_export_commit(const res_record *record, char commit[RES_COMMIT_TEXT])
{
    const char *label = res_provenance_text(record, RES_PROV_RUNTIME_LABEL);
    const size_t length = strspn(label, "0123456789abcdef");
    const bool is_commit = length >= 7 && length < RES_COMMIT_TEXT && label[length] == '\0';
    const char *sha256 = res_plugin_sha256(record);
    const bool known = strspn(sha256, "0123456789abcdef") >= RES_COMMIT_TEXT - 1;
    snprintf(commit, RES_COMMIT_TEXT, "%.40s",
             is_commit ? label
             : known   ? sha256
                       : "0000000000000000000000000000000000000000");
}

/* Most file systems have no longer names. */
#define LONGEST_MACHINE 200

/* Puts the machine that RECORD is of, as a safe part of a file's name; "unknown" where it does not
 * say. */
static void put_machine(const res_record *record, bn_text *out)
{
    const char *name = res_provenance_text(record, RES_PROV_HOST_NAME);
    res_export_put_safe(out, name[0] != '\0' ? name : "unknown", "._-", "", LONGEST_MACHINE);
}

static int key_order(const void *a, const void *b)
{
    const res_export_key *left = a, *right = b;
    int order = strcmp(left->machine, right->machine);
    if (order == 0)
        order = strcmp(left->commit, right->commit);
    if (order == 0)
        order = strcmp(left->name, right->name);
    return order != 0 ? order : strcmp(left->record->id, right->record->id);
}

void res_export_keys_free(res_export_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(keys[i].machine);
        free(keys[i].name);
    }
    free(keys);
}

res_export_key *res_export_keys(const res_collection *all, bool by_build)
{
    if (all->count == 0)
        return NULL;
    res_export_key *keys = bn_zalloc(all->count, sizeof *keys);
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        bn_text machine = {0}, name = {0};
        bn_text_puts(&machine, "");
        bn_text_puts(&name, "");
        if (!by_build) {
            put_machine(record, &machine);
            res_export_name(record, '=', &name);
        }
        keys[i] = (res_export_key){.record = record, .machine = machine.data, .name = name.data};
        res_export_commit(record, keys[i].commit);
    }
    qsort(keys, all->count, sizeof *keys, key_order);
    return keys;
}

double res_export_time(const res_record *record)
{
    const double time_s = res_id_time(record->id);
    return isnan(time_s) ? 0 : time_s;
}

void res_export_date(const res_record *record, char date[32])
{
    time_t seconds = (time_t)res_export_time(record);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(date, 32, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
}

json_t *res_export_provenance(const res_record *record)
{
    json_t *copy = json_deep_copy(record->provenance);
    json_object_del(json_object_get(json_object_get(copy, "host"), "topology"), "xml");
    return copy;
}

json_t *res_export_context(const res_collection *all)
{
    json_t *context = json_object();
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        json_object_set_new(context, record->id,
                            json_pack("{s:s, s:b, s:s, s:o, s:o}", "status",
                                      bn_code_name(record->status), "simulated",
                                      (int)record->simulated, "values", record->values,
                                      "experiment", res_experiment_to_json(&record->experiment),
                                      "provenance", res_export_provenance(record)));
    }
    return context;
}

void res_export_add_failure(const res_record *record, json_t *list)
{
    bn_text name = {0};
    if (res_record_good(record))
        return;
    res_export_name(record, ':', &name);
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "name", name.data, "id",
                                          record->id, "status", bn_code_name(record->status),
                                          "message", res_json_text(record->message)));
    bn_text_free(&name);
}

json_t *res_export_failures(const res_collection *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++)
        res_export_add_failure(all->records[i], list);
    return list;
}

uint64_t res_export_busy_ns(const res_record *record, size_t step)
{
    const uint64_t wait = record->part_ns[step * BN_PART_COUNT + BN_PART_WAIT];
    return record->wall_ns[step] > wait ? record->wall_ns[step] - wait : 0;
}

/* ---- its figures in tables --------------------------------------------------------- */

double res_export_wall_ns(const res_collection *all, const res_record *record)
{
    res_pool pool;
    res_pool_like(all, record, &pool);
    const double wall_ns = res_pool_figures(&pool).wall.value.estimate;
    res_pool_free(&pool);
    return wall_ns;
}
