/*
 * tables_fixture.h - a store whose table is known, and ways to look at tables.
 */
#ifndef BENCH_TESTS_TABLES_FIXTURE_H
#define BENCH_TESTS_TABLES_FIXTURE_H

#include "tests/support/results_fixture.h"

#include "results/tables/tables_priv.h"

static inline int begin(void **state)
{
    (void)state;
    res_store_begin();
    return 0;
}

/* ---- samples ------------------------------------------------------------------ */

#define UNKNOWN ((double)NAN)

static const fixture_case cases[] = {
    {"cpu", "resnet50", "train", "eager", 1, 4, 1200000, 151000000, UNKNOWN, 1309},
    {"cpu", "resnet50", "train", "lazy", 1, 4, 2900000, 25000000, 19000000, 1309},
    {"cpu", "resnet50", "train", "capture", 1, 4, 0, 20000000, 19000000, 0},
    {"cpu", "resnet50", "train", "capture", 5, 4, 0, 31000000, 4500000, 0},
    {"cpu", "resnet50", "infer", "lazy", 1, 4, 1020000, 9800000, 7000000, 460},
    {"cpu", "resnet50", "infer", "capture", 1, 4, 0, 8200000, 7000000, 0},
    {"cpu", "bert", "train", "lazy", 1, 8, 1500000, 61000000, 55000000, 811},
    {"cpu", "bert", "train", "capture", 1, 8, 0, 59000000, 55000000, 0},
    {"sim", "resnet50", "train", "lazy", 1, 4, 2900000, 25000000, 19000000, 1309},
    {"sim", "resnet50", "train", "capture", 1, 4, 0, 22000000, 19000000, 0},
};
#define CASES (sizeof cases / sizeof *cases)
enum { RESNET_EAGER, RESNET_LAZY, RESNET_CAPTURE, RESNET_CAPTURE_5, BERT_CAPTURE = 7 };

static inline void be_failed(res_record *record, bn_code code, const char *message)
{
    record->status = code;
    snprintf(record->message, sizeof record->message, "%s", message);
    record->step_count = 0;
}

/* Process P of a case: all modes of a process are slower alike, and a little each for itself. */
static inline res_record *process_of(size_t which, int p)
{
    fixture_case c = cases[which];
    char group[32];
    snprintf(group, sizeof group, "g-%s-%s-%s", c.runtime, c.model, c.phase);
    c.wall_ns +=
        c.wall_ns / 100 * (uint64_t)p + c.wall_ns / 1000 * ((which * 7 + (size_t)p * 3) % 5);
    res_record *record = fixture_record(&c, 60);
    record->simulated = strcmp(c.runtime, "sim") == 0;
    fixture_group(record, group, p + 1);
    return record;
}

#define PROCESSES 4
/* Where process P of a case stands in the store. */
static inline size_t at(size_t which, int p)
{
    return (size_t)p * CASES + which;
}

/* Four processes of all cases; bert's capture ran out of memory in each. */
static inline res_collection sample_store(void)
{
    res_collection all = {.records = calloc(PROCESSES * CASES + 4, sizeof(res_record *)),
                          .count = PROCESSES * CASES};
    assert_non_null(all.records);
    for (int p = 0; p < PROCESSES; p++) {
        for (size_t i = 0; i < CASES; i++)
            all.records[at(i, p)] = process_of(i, p);
        res_record *failed = all.records[at(BERT_CAPTURE, p)];
        be_failed(failed, BN_OUT_OF_MEMORY, "no room for 3.1 GiB");
        json_object_clear(failed->provenance);
    }
    return all;
}

/* Four processes of two modes that are alike: each is as often the slower one. */
static inline res_collection like_modes(size_t processes)
{
    static const uint64_t walls[2][4] = {{10000000, 10100000, 10050000, 10080000},
                                         {10100000, 10000000, 10080000, 10050000}};
    res_collection all = {.records = calloc(2 * processes + 1, sizeof(res_record *)),
                          .count = 2 * processes};
    assert_non_null(all.records);
    for (size_t p = 0; p < processes; p++)
        for (size_t m = 0; m < 2; m++) {
            fixture_case c = cases[m ? RESNET_CAPTURE : RESNET_LAZY];
            c.wall_ns = walls[m][p];
            c.trace_ns = 100000;
            all.records[2 * p + m] = fixture_record(&c, 20);
            fixture_group(all.records[2 * p + m], "g", (int)p + 1);
        }
    return all;
}

/* Eager: an op per row, dearer ones later. */

static inline bn_text speedup_table(const res_collection *all, res_format format)
{
    bn_text out = {0};
    res_table_speedup(all, format, &out);
    assert_non_null(out.data);
    return out;
}

static inline void assert_has(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("no \"%s\" in:\n%s", wanted, text);
}

static inline void assert_lacks(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted))
        fail_msg("\"%s\" in:\n%s", unwanted, text);
}

/* The first line of TEXT that has WORDS in this order, in a static buffer. */
static inline const char *line_with(const char *text, const char *first, const char *second)
{
    static char line[1000];
    for (const char *end; *text != '\0'; text = end + 1) {
        end = strchr(text, '\n');
        assert_non_null(end);
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        const char *found = strstr(line, first);
        if (found && strstr(found + strlen(first), second))
            return line;
    }
    fail_msg("no line with %s and %s", first, second);
    return NULL;
}

/* The table NAME of STORE as JSON; a new reference. */
static inline json_t *table_json(const char *name, const res_collection *store)
{
    bn_text out = {0};
    res_table(name, store, RES_TABLE_JSON, &out);
    json_t *root = json_loads(out.data, 0, NULL);
    assert_non_null(root);
    bn_text_free(&out);
    return root;
}

/* The rows of the table as JSON; a new reference. */
static inline json_t *speedup_rows(const res_collection *all, json_t **means)
{
    json_t *root = table_json("speedup", all);
    json_t *rows = json_incref(json_object_get(root, "rows"));
    if (means)
        *means = json_incref(json_object_get(root, "geometric_means"));
    json_decref(root);
    return rows;
}

/* The member LIST of the speedup table of ALL ("noted", "findings"): how many of its objects have
 * NAME as KEY, ROWS rows and VALUES, names and figures, in the sentence. */
static inline size_t sentences(const res_collection *all, const char *list, const char *key,
                               const char *name, size_t rows, const char *values)
{
    json_t *root = table_json("speedup", all), *one;
    size_t index, count = 0;
    json_array_foreach(json_object_get(root, list), index, one)
    {
        const json_t *text = json_object_get(one, strcmp(key, "id") == 0 ? "text" : "sentence");
        count += strcmp(json_string_value(json_object_get(one, key)), name) == 0 &&
                 json_array_size(json_object_get(one, "rows")) == rows &&
                 strstr(json_string_value(text), values) != NULL;
    }
    json_decref(root);
    return count;
}

/* The table has the note ID, which names ROWS rows, with VALUES. */
static inline void assert_noted(const res_collection *all, const char *id, size_t rows,
                                const char *values)
{
    if (sentences(all, "noted", "id", id, rows, values) != 1)
        fail_msg("no note %s of %zu rows with %s", id, rows, values);
}

/* Has findings KIND, each of ROWS rows, with VALUES. */
static inline void assert_found(const res_collection *all, const char *kind, size_t rows,
                                const char *values)
{
    if (sentences(all, "findings", "kind", kind, rows, values) == 0)
        fail_msg("no finding %s of %zu rows with %s", kind, rows, values);
}

/* How many objects of LIST have NAME as KEY. */
static inline size_t count_of(const res_collection *all, const char *list, const char *key,
                              const char *name)
{
    json_t *root = table_json("speedup", all), *one;
    size_t index, count = 0;
    json_array_foreach(json_object_get(root, list), index, one)
    {
        count += strcmp(json_string_value(json_object_get(one, key)), name) == 0;
    }
    json_decref(root);
    return count;
}

/* The member KEY of the first finding KIND; a new reference. */
static inline json_t *finding_member(const res_collection *all, const char *kind, const char *key)
{
    json_t *root = table_json("speedup", all), *one, *value = NULL;
    size_t index;
    json_array_foreach(json_object_get(root, "findings"), index, one)
    {
        if (!value && strcmp(json_string_value(json_object_get(one, "kind")), kind) == 0)
            value = json_incref(json_object_get(one, key));
    }
    json_decref(root);
    assert_non_null(value);
    return value;
}

static inline double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

#endif
