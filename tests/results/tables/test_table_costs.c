/*
 * test_table_costs.c - what a node, an execution and an argument cost: figures of rows that a test
 * knows, and the lines that processes draw through the rows of a front end. Needs no plugin.
 */
#include "tests/results/tables/tables_fixture.h"

#include "results/findings/costs.h"

/* A step of MODEL with as many arguments and results of its one execution. */
typedef struct sized {
    const char *model;
    int arguments, results;
} sized;
static const sized sizes[] = {{"resnet50", 430, 429}, {"bert", 101, 100}, {"gpt2", 20, 1}};
#define SIZES (sizeof sizes / sizeof *sizes)

enum { TRACE_NS = 2000000, NODES = 1000 };
/* Of an execution, and of each of its arguments and results. */
enum { EXECUTION_NS = 50000, VALUE_NS = 400 };

/* Process P of FRONT_END's step of SIZE, of which all host work takes P per cent longer. */
static res_record *record_of(const char *front_end, const char *mode, const sized *size, int p)
{
    const bool lazy = strcmp(mode, "lazy") == 0;
    const fixture_case c = {.runtime = "cpu",
                            .model = size->model,
                            .phase = "train",
                            .mode = mode,
                            .graphs = 1,
                            .batch = 4,
                            .trace_ns = lazy ? TRACE_NS : 0,
                            .wall_ns = 25000000,
                            .device_ns = 19000000,
                            .nodes = lazy ? NODES : 0};
    res_record *record = fixture_record(&c, 60);
    char group[64];
    snprintf(group, sizeof group, "g-%s", size->model);
    fixture_group(record, group, p + 1);
    snprintf(record->experiment.front_end, sizeof record->experiment.front_end, "%s", front_end);
    record->executions[0].arguments = size->arguments;
    record->executions[0].results = size->results;
    const int values = size->arguments + size->results;
    for (size_t step = 0; step < record->step_count; step++) {
        uint64_t *parts = record->part_ns + step * BN_PART_COUNT;
        parts[BN_PART_TRACE] = (uint64_t)(lazy ? TRACE_NS + TRACE_NS / 100 * p : 0);
        parts[BN_PART_HASH] = 0;
        parts[BN_PART_LOOKUP] = 0;
        parts[BN_PART_DISPATCH] =
            (uint64_t)(EXECUTION_NS + VALUE_NS * values) / 100 * (uint64_t)(100 + p);
    }
    return record;
}

/* Four processes each of bench's lazy, and of jax's capture of the first COUNT steps. */
static res_collection store_of(size_t count)
{
    res_collection all = {.records = calloc(2 * SIZES * PROCESSES, sizeof(res_record *))};
    assert_non_null(all.records);
    for (size_t i = 0; i < SIZES; i++)
        for (int p = 0; p < PROCESSES; p++) {
            all.records[all.count++] = record_of("bench", "lazy", &sizes[i], p);
            if (i < count)
                all.records[all.count++] = record_of("jax", "capture", &sizes[i], p);
        }
    return all;
}

/* The element of LIST, borrowed, with this front end, and with this model unless NULL. */
static const json_t *find(const json_t *list, const char *front_end, const char *model)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(row, "front_end")), front_end) == 0 &&
            (!model || strcmp(json_string_value(json_object_get(row, "model")), model) == 0))
            return row;
    }
    fail_msg("no row of %s", front_end);
    return NULL;
}

static void a_row_shares_its_times_among_what_it_has(void **state)
{
    (void)state;
    res_collection store = store_of(SIZES);
    json_t *root = table_json("costs", &store);
    const json_t *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 2 * SIZES);
    const json_t *row = find(rows, "bench", "resnet50");
    assert_true(number(row, "nodes") == NODES && number(row, "executions") == 1);
    assert_true(number(row, "arguments") == 430 && number(row, "results") == 429);
    assert_true(number(row, "processes") == PROCESSES);
    /* The processes take 0 to 3 per cent longer. */
    assert_near(number(row, "node_ns"), TRACE_NS * 1.015 / NODES, 1);
    assert_true(number(row, "node_low_ns") < 2030 && number(row, "node_high_ns") > 2030);
    assert_near(number(row, "execution_ns"), (EXECUTION_NS + VALUE_NS * 859) * 1.015, 100);
    /* The fixture's steps take up to 4 per cent above 25 ms, and 19 of these are the device's. */
    assert_near(number(row, "over_device_ns"), 6.5e6, 5e5);
    assert_true(json_is_false(json_object_get(row, "over_device_refused")));
    /* Nothing is traced. */
    const json_t *jax = find(rows, "jax", "bert");
    assert_true(json_is_null(json_object_get(jax, "node_ns")));
    json_decref(root);
    res_collection_free(&store);
}

/* The device time of a recording has the start of an execution in it, as PJRT times have. bench's
 * own has not. Both have the same steps here, and the same PJRT times. */
static void what_is_over_pjrt_is_alike_for_all_sources(void **state)
{
    (void)state;
    res_collection store = store_of(SIZES);
    for (size_t i = 0; i < store.count; i++) {
        res_execution *x = &store.records[i]->executions[0];
        if (strcmp(store.records[i]->experiment.front_end, "jax") != 0)
            continue;
        x->device_source = BN_DEVICE_TIME_EVENT;
        x->device_ns = x->device_low_ns = x->device_high_ns = res_execution_pjrt_ns(x);
    }
    json_t *root = table_json("costs", &store);
    const json_t *rows = json_object_get(root, "rows");
    const json_t *bench = find(rows, "bench", "bert"), *jax = find(rows, "jax", "bert");
    assert_string_equal(json_string_value(json_object_get(bench, "device_time_source")), "slope");
    assert_string_equal(json_string_value(json_object_get(jax, "device_time_source")), "event");
    assert_near(number(bench, "over_device_ns") - number(jax, "over_device_ns"), 2e6, 1e5);
    assert_near(number(bench, "over_pjrt_ns"), 4.5e6, 5e5);
    assert_near(number(jax, "over_pjrt_ns"), number(bench, "over_pjrt_ns"), 1e5);
    assert_near(number(jax, "over_pjrt_low_ns"), number(jax, "over_pjrt_ns"), 1e5);
    json_decref(root);
    bn_text text = {0};
    res_table("costs", &store, RES_TABLE_TEXT, &text);
    assert_has(line_with(text.data, "jax capture", "event"), "4.5");
    assert_has(text.data, "over PJRT 95 %");
    bn_text_free(&text);
    res_collection_free(&store);
}

/* A step of several executions has all of their times; one that is not known hides nothing. */
static void pjrt_times_of_a_step_are_those_of_all_its_executions(void **state)
{
    (void)state;
    res_collection store = store_of(SIZES);
    for (size_t i = 0; i < store.count; i++) {
        res_execution *x = &store.records[i]->executions[0];
        const bool jax = strcmp(store.records[i]->experiment.front_end, "jax") == 0;
        x->per_step = jax ? x->per_step : 2;
        for (size_t k = 0; k < x->pjrt_count && !jax; k++)
            x->pjrt_ns[k] = 5000000;
        x->pjrt_count = jax ? 0 : x->pjrt_count;
    }
    json_t *root = table_json("costs", &store);
    const json_t *rows = json_object_get(root, "rows");
    assert_near(number(find(rows, "bench", "bert"), "over_pjrt_ns"), 15.5e6, 5e5);
    assert_true(json_is_null(json_object_get(find(rows, "jax", "bert"), "over_pjrt_ns")));
    json_decref(root);
    res_collection_free(&store);
}

static void steps_of_several_sizes_tell_what_an_argument_costs(void **state)
{
    (void)state;
    res_collection store = store_of(SIZES);
    json_t *root = table_json("costs", &store);
    const json_t *fits = json_object_get(root, "front_ends");
    assert_int_equal(json_array_size(fits), 2);
    const json_t *bench = find(fits, "bench", NULL), *jax = find(fits, "jax", NULL);
    assert_true(number(bench, "rows") == SIZES && number(bench, "rows_traced") == SIZES);
    assert_near(number(bench, "node_ns"), TRACE_NS * 1.015 / NODES, 1);
    assert_true(number(jax, "rows_traced") == 0);
    assert_true(json_is_null(json_object_get(jax, "node_ns")));
    assert_near(number(jax, "execution_ns"), EXECUTION_NS * 1.015, 20);
    assert_near(number(jax, "value_ns"), VALUE_NS * 1.015, 0.2);
    assert_true(number(jax, "value_low_ns") < VALUE_NS * 1.015 &&
                number(jax, "value_high_ns") > VALUE_NS * 1.015);
    assert_string_equal(json_string_value(json_object_get(jax, "law")), "holds");
    json_decref(root);
    res_collection_free(&store);
}

/* Three runs of so many processes each. The second dispatches twice as long as the first, and the
 * third three times. */
static res_collection three_runs(const int processes[3])
{
    res_collection store = {.records = calloc(6 * SIZES * PROCESSES, sizeof(res_record *))};
    assert_non_null(store.records);
    for (int run = 0; run < 3; run++) {
        const res_collection one = store_of(SIZES);
        const char group[] = {'r', (char)('0' + run), '\0'};
        for (size_t i = 0; i < one.count; i++) {
            res_record *record = one.records[i];
            const int process = (int)(i / 2 % PROCESSES) + 1;
            fixture_group(record, group, process);
            for (size_t step = 0; step < record->step_count; step++)
                record->part_ns[step * BN_PART_COUNT + BN_PART_DISPATCH] *= (uint64_t)(1 + run);
            if (process <= processes[run])
                store.records[store.count++] = record;
            else
                res_record_free(record);
        }
        free(one.records);
    }
    return store;
}

/* Each run is a value of a row. Lines are drawn by the processes of the latest run that has enough,
 * or by one of each run where none has. */
static void lines_are_of_processes_that_are_a_sample(void **state)
{
    (void)state;
    static const struct {
        int processes[3];
        double in_all, drawn, times;
    } rows[] = {{{4, 4, 4}, 12, 4, 3 * 1.015},
                {{4, 4, 2}, 10, 4, 2 * 1.015},
                {{1, 1, 1}, 3, 3, 2},
                {{2, 1, 2}, 5, 3, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        res_collection store = three_runs(rows[i].processes);
        json_t *root = table_json("costs", &store);
        const json_t *row = find(json_object_get(root, "rows"), "jax", "bert");
        assert_true(number(row, "processes") == rows[i].in_all);
        const json_t *jax = find(json_object_get(root, "front_ends"), "jax", NULL);
        assert_true(number(jax, "processes") == rows[i].drawn);
        assert_near(number(jax, "execution_ns"), rows[i].times * EXECUTION_NS, 60);
        assert_near(number(jax, "value_ns"), rows[i].times * VALUE_NS, 0.6);
        assert_true(number(jax, "value_low_ns") < number(jax, "value_ns"));
        json_decref(root);
        res_collection_free(&store);
    }
}

static void rows_off_the_line_are_reported(void **state)
{
    (void)state;
    res_collection store = store_of(SIZES);
    for (size_t i = 0; i < store.count; i++) {
        res_record *r = store.records[i];
        for (size_t s = 0; s < r->step_count && strcmp(r->experiment.model, "bert") == 0; s++)
            r->part_ns[s * BN_PART_COUNT + BN_PART_DISPATCH] *= 2;
    }
    json_t *root = table_json("costs", &store);
    const json_t *jax = find(json_object_get(root, "front_ends"), "jax", NULL);
    assert_string_equal(json_string_value(json_object_get(jax, "law")), "fails");
    assert_true(fabs(number(jax, "off_share")) > 0.1);
    json_decref(root);
    res_collection_free(&store);
}

static void one_size_does_not_separate_arguments_from_the_execution(void **state)
{
    (void)state;
    res_collection store = store_of(1);
    json_t *root = table_json("costs", &store);
    const json_t *jax = find(json_object_get(root, "front_ends"), "jax", NULL);
    assert_true(json_is_null(json_object_get(jax, "execution_ns")));
    assert_true(json_is_null(json_object_get(jax, "value_ns")));
    assert_string_equal(json_string_value(json_object_get(jax, "law")), "unknown");
    assert_true(json_is_null(json_object_get(jax, "off_share")));
    json_decref(root);
    res_collection_free(&store);
}

/* An emulated cost of a node is no cost of the front end. */
static void emulated_front_ends_stand_apart(void **state)
{
    (void)state;
    res_collection store = store_of(0);
    for (size_t i = 0; i < store.count; i++)
        if (strcmp(store.records[i]->experiment.model, "bert") == 0)
            store.records[i]->experiment.trace_cost_ns = 17000;
    json_t *root = table_json("costs", &store);
    const json_t *fits = json_object_get(root, "front_ends");
    assert_int_equal(json_array_size(fits), 2);
    double rows = 0, emulated = 0;
    for (size_t i = 0; i < 2; i++) {
        rows += number(json_array_get(fits, i), "rows");
        emulated += number(json_array_get(fits, i), "trace_cost_ns");
    }
    assert_true(rows == SIZES && emulated == 17000);
    json_decref(root);
    res_collection_free(&store);
}

static void people_read_both_tables(void **state)
{
    (void)state;
    res_collection store = store_of(SIZES), none = {.count = 0};
    bn_text text = {0}, csv = {0}, empty = {0};
    res_table("costs", &store, RES_TABLE_TEXT, &text);
    res_table("costs", &store, RES_TABLE_CSV, &csv);
    res_table("costs", &none, RES_TABLE_TEXT, &empty);
    assert_has(line_with(text.data, "resnet50", "lazy"), "2.03 us");
    assert_has(text.data, "\nBy framework");
    assert_has(line_with(text.data, "jax capture  ", "holds"), "50.8 us");
    assert_has(csv.data, "node_ns,node_low_ns,node_high_ns,executions");
    assert_lacks(csv.data, "By framework");
    assert_has(empty.data, "No records.");
    bn_text_free(&text);
    bn_text_free(&csv);
    bn_text_free(&empty);
    res_collection_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_shares_its_times_among_what_it_has),
        cmocka_unit_test(what_is_over_pjrt_is_alike_for_all_sources),
        cmocka_unit_test(pjrt_times_of_a_step_are_those_of_all_its_executions),
        cmocka_unit_test(steps_of_several_sizes_tell_what_an_argument_costs),
        cmocka_unit_test(lines_are_of_processes_that_are_a_sample),
        cmocka_unit_test(rows_off_the_line_are_reported),
        cmocka_unit_test(one_size_does_not_separate_arguments_from_the_execution),
        cmocka_unit_test(emulated_front_ends_stand_apart),
        cmocka_unit_test(people_read_both_tables),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
