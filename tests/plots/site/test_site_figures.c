/*
 * test_site_figures.c - the site shows of a cell what tables show: the same numbers, to the digits
 * that it has, and the same words for what is refused, cut off, or not significant. Needs no
 * plugin.
 */
#include "tests/plots/site/figures_fixture.h"
#include "tests/results/store_fixture.h"

#include "plots/site/site_priv.h"

#define SHOWN_DIGITS 1e-6 /* of numbers in data files */

typedef struct both {
    char store[300], site[400];
    json_t *table; /* the rows of bench table --format json */
    json_t *build; /* the site's one build */
} both;

/* The argument of the call of bench_data in NAME. */
static json_t *read_data(const both *b, const char *name)
{
    char path[600], *data;
    size_t size;
    bn_status st = {0};
    json_t *value;
    snprintf(path, sizeof path, "%s/data/%s.js", b->site, name);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    const char *from = strchr(data, ',');
    assert_non_null(from);
    assert_true(size > 4 && strcmp(data + size - 3, ");\n") == 0);
    const size_t length = size - 3 - (size_t)(from + 1 - data);
    assert_ok(res_json_parse(from + 1, length, &value, &st), &st);
    free(data);
    return value;
}

static json_t *make_table(const res_index *index, const char *store)
{
    const res_asked asked = {NULL, NULL, (double)INFINITY};
    res_collection all;
    bn_text text = {0};
    bn_status st = {0};
    json_t *table;
    assert_ok(res_latest_read(store, index, &asked, &all, &st), &st);
    res_table_speedup(&all, RES_TABLE_JSON, &text);
    assert_ok(res_json_parse(text.data, text.length, &table, &st), &st);
    bn_text_free(&text);
    res_collection_free(&all);
    return table;
}

static int setup(void **state)
{
    both *b = calloc(1, sizeof *b);
    place p = {0};
    res_index index;
    site_made made;
    bn_status st = {0};
    char parent[300], name[64];
    assert_non_null(b);
    res_store_begin();
    fixture_folder(b->store, sizeof b->store, "figures");
    fixture_folder(parent, sizeof parent, "folder");
    snprintf(b->site, sizeof b->site, "%s/site", parent);
    snprintf(p.store, sizeof p.store, "%s", b->store);
    figures_store(b->store);
    load_with(&p, NULL, &index);
    const site_options o = {.store = b->store,
                            .folder = b->site,
                            .title = "Title",
                            .night_hours = 12,
                            .now_s = (double)INFINITY,
                            .change = res_change_defaults()};
    assert_ok(site_publish(&o, &index, &made, &st), &st);
    assert_int_equal(made.builds, 1);
    b->table = make_table(&index, b->store);
    json_t *lists = read_data(b, "site");
    const json_t *build = json_array_get(json_object_get(lists, "builds"), 0);
    snprintf(name, sizeof name, "build-%s", json_string_value(json_array_get(build, 0)));
    b->build = read_data(b, name);
    json_decref(lists);
    res_index_free(&index);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    both *b = *state;
    json_decref(b->table);
    json_decref(b->build);
    free(b);
    return 0;
}

/* The item of LIST whose member NAME is VALUE; NULL. */
static const json_t *find(const json_t *list, const char *name, const char *value)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, name)), value) == 0)
            return item;
    }
    return NULL;
}

static const json_t *row_of(const both *b, const char *model)
{
    const json_t *row = find(json_object_get(b->table, "rows"), "model", model);
    assert_non_null(row);
    return row;
}

/* The site's cell of ROW: both are named by the latest record of their pool. */
static const json_t *cell_of(const both *b, const json_t *row)
{
    const json_t *cell = find(json_object_get(b->build, "cells"), "newest",
                              json_string_value(json_object_get(row, "id")));
    assert_non_null(cell);
    return cell;
}

/* Members of a row for each figure; NULL: it has none. */
static const char *const members[RES_METRIC_COUNT][4] = {
    [RES_METRIC_WALL] = {"wall_ns", "wall_low_ns", "wall_high_ns", "processes"},
    [RES_METRIC_DEVICE] = {"device_per_step_ns", "device_low_ns", "device_high_ns",
                           "device_processes"},
    [RES_METRIC_OVERHEAD] = {"overhead_per_execution_ns", "overhead_low_ns", "overhead_high_ns"},
    [RES_METRIC_TRACE] = {"trace_ns"},
    [RES_METRIC_COMPILE] = {"compile_ns", NULL, NULL, "compile_processes"},
};

static void assert_same(const char *model, const char *member, const json_t *wanted,
                        const json_t *value)
{
    if (json_is_null(wanted) || json_is_null(value)) {
        if (!json_is_null(wanted) || !json_is_null(value))
            fail_msg("%s: %s is known to one", model, member);
        return;
    }
    const double number = json_number_value(wanted);
    if (!(fabs(json_number_value(value) - number) <= SHOWN_DIGITS * fabs(number)))
        fail_msg("%s: %s is %.9g, not %.9g", model, member, json_number_value(value), number);
}

static void assert_figures(const json_t *row, const json_t *cell)
{
    const char *model = json_string_value(json_object_get(row, "model"));
    for (int m = 0; m < RES_METRIC_COUNT; m++) {
        const json_t *figure =
            json_object_get(json_object_get(cell, "figures"), res_metric_name((res_metric)m));
        for (size_t i = 0; i < 4; i++) {
            const char *member = members[m][i];
            if (member && figure)
                assert_same(model, member, json_object_get(row, member), json_array_get(figure, i));
            else if (member && i == 0)
                assert_true(json_is_null(json_object_get(row, member)));
        }
    }
}

static void each_figure_is_that_of_the_table(void **state)
{
    const both *b = *state;
    size_t i;
    const json_t *row;
    const json_t *rows = json_object_get(b->table, "rows");
    assert_int_equal(json_array_size(rows), FIGURES_CELLS);
    assert_int_equal(json_array_size(json_object_get(b->build, "cells")), FIGURES_CELLS);
    json_array_foreach(rows, i, row)
    {
        const json_t *cell = cell_of(b, row);
        const json_t *left_out = json_object_get(cell, "left_out");
        assert_figures(row, cell);
        assert_true(
            json_equal(json_object_get(row, "processes"), json_object_get(cell, "processes")));
        assert_true(json_equal(json_object_get(row, "runs"), json_object_get(cell, "runs")));
        assert_true(json_equal(json_object_get(row, "device_time_source"),
                               json_object_get(cell, "source")));
        assert_true(json_equal(json_object_get(row, "left_out_other_conditions"),
                               json_array_get(left_out, 0)));
        assert_true(
            json_equal(json_object_get(row, "left_out_other_builds"), json_array_get(left_out, 1)));
        assert_true(
            json_equal(json_object_get(row, "left_out_other_run"), json_array_get(left_out, 2)));
    }
}

/* Asserts what is shown of METRIC of the cell MODEL; NULL: nothing is known. */
static void assert_words(const both *b, const char *model, res_metric metric, const char *words,
                         const char *bounds)
{
    const json_t *cell = cell_of(b, row_of(b, model));
    const json_t *figure =
        json_object_get(json_object_get(cell, "figures"), res_metric_name(metric));
    if (!words) {
        assert_null(figure);
        return;
    }
    assert_non_null(figure);
    assert_string_equal(json_string_value(json_array_get(figure, 5)), words);
    assert_string_equal(json_string_value(json_array_get(figure, 6)), bounds);
    assert_int_equal(json_integer_value(json_array_get(figure, 4)),
                     words[0] != '<' && strcmp(words, RES_UNKNOWN_TEXT) != 0);
}

static int remark_of(const both *b, const char *model)
{
    const json_t *cell = cell_of(b, row_of(b, model));
    return (int)json_integer_value(json_object_get(cell, "remark"));
}

static bool is_true(const both *b, const char *model, const char *member)
{
    return json_is_true(json_object_get(row_of(b, model), member));
}

static void what_is_refused_or_cut_is_so_on_the_site(void **state)
{
    const both *b = *state;
    assert_int_equal(remark_of(b, "plain"), RES_DEVICE_PLAIN);
    assert_words(b, "plain", RES_METRIC_OVERHEAD, "1.00 ms", "[0.98, 1.02]");
    assert_words(b, "below", RES_METRIC_OVERHEAD, "< 1.09 ms", "[-0.89, 1.09]");
    assert_words(b, "alone", RES_METRIC_OVERHEAD, "990 us", "");
    assert_words(b, "negative_alone", RES_METRIC_OVERHEAD, "-200 us", "");
    /* A device time that was cut off is the step's. */
    assert_int_equal(remark_of(b, "cut"), RES_DEVICE_CUT);
    assert_true(is_true(b, "cut", "device_cut") && !is_true(b, "cut", "overhead_refused"));
    const json_t *figures = json_object_get(cell_of(b, row_of(b, "cut")), "figures");
    assert_true(json_equal(json_array_get(json_object_get(figures, "device"), 0),
                           json_array_get(json_object_get(figures, "wall"), 0)));
    assert_int_equal(remark_of(b, "cut_overhead"), RES_DEVICE_CUT_OVERHEAD);
    assert_true(is_true(b, "cut_overhead", "device_cut"));
    assert_true(is_true(b, "cut_overhead", "overhead_refused"));
    assert_words(b, "cut_overhead", RES_METRIC_OVERHEAD, RES_UNKNOWN_TEXT, "");
    assert_int_equal(remark_of(b, "far"), RES_DEVICE_FAR);
    assert_words(b, "far", RES_METRIC_DEVICE, NULL, NULL);
    assert_int_equal(remark_of(b, "contrary"), RES_DEVICE_CONTRARY);
    assert_words(b, "contrary", RES_METRIC_DEVICE, NULL, NULL);
    assert_words(b, "contrary", RES_METRIC_OVERHEAD, RES_UNKNOWN_TEXT, "");
    /* Fewer than half tell it. */
    assert_words(b, "few", RES_METRIC_DEVICE, NULL, NULL);
    assert_words(b, "failed", RES_METRIC_COMPILE, NULL, NULL);
}

/* Runs are values: three of three processes each. */
static void runs_are_values_on_the_site(void **state)
{
    const both *b = *state;
    const json_t *cell = cell_of(b, row_of(b, "runs"));
    assert_int_equal(json_integer_value(json_object_get(cell, "processes")), 9);
    assert_int_equal(json_integer_value(json_object_get(cell, "runs")), 3);
    cell = cell_of(b, row_of(b, "conditions"));
    assert_int_equal(json_integer_value(json_object_get(cell, "processes")), 3);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(cell, "left_out"), 0)), 2);
}

/* A night of one record says what the table says of that process alone; so do the series of a night
 * of all processes. */
static void nights_and_series_say_the_same(void **state)
{
    const both *b = *state;
    json_t *night = read_data(b, "night-20260101T020000");
    size_t i, seen = 0;
    const json_t *row;
    json_array_foreach(json_object_get(night, "records"), i, row)
    {
        const char *id = json_string_value(json_array_get(row, 2));
        const json_t *said = find(json_object_get(b->table, "rows"), "id", id);
        if (!said || json_integer_value(json_object_get(said, "processes")) != 1)
            continue;
        seen++;
        assert_same(id, "wall", json_object_get(said, "wall_ns"), json_array_get(row, 7));
        assert_same(id, "overhead", json_object_get(said, "overhead_per_execution_ns"),
                    json_array_get(row, 9));
    }
    assert_int_equal(seen, 2);
    json_decref(night);
    for (size_t c = 0; c < FIGURES_CELLS; c++) {
        char name[64];
        snprintf(name, sizeof name, "model-%s", site_key_of(figures_cells[c].model).text);
        json_t *model = read_data(b, name);
        const json_t *series = json_array_get(json_object_get(model, "series"), 0);
        for (int m = 0; m < RES_METRIC_COUNT; m++) {
            const json_t *metric =
                json_object_get(json_object_get(series, "metrics"), res_metric_name((res_metric)m));
            const json_t *wanted =
                json_object_get(row_of(b, figures_cells[c].model), members[m][0]);
            if (metric)
                assert_same(figures_cells[c].model, members[m][0], wanted,
                            json_array_get(json_object_get(metric, "value"), 0));
            else
                assert_true(json_is_null(wanted));
        }
        json_decref(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_figure_is_that_of_the_table),
        cmocka_unit_test(what_is_refused_or_cut_is_so_on_the_site),
        cmocka_unit_test(runs_are_values_on_the_site),
        cmocka_unit_test(nights_and_series_say_the_same),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
