/*
 * test_table_published.c - published speedups next to those of a store: which rows have one, whose
 * lazy step they are set against, and the means. Needs no plugin.
 */
#include "tests/results/tables/tables_fixture.h"

#include "results/findings/published.h"

/* A way to run a step, and how long it takes. */
typedef struct way {
    const char *front_end, *model, *phase, *mode;
    int graphs;
    double wall_ms;
    const char *dispatch; /* NULL: of a single graph queued, of several awaited */
} way;

/* Process P of a way, of which the host takes P per cent longer: all ways of a model alike. */
static res_record *record_of(const way *w, int p)
{
    const fixture_case c = {.runtime = "cpu",
                            .model = w->model,
                            .phase = w->phase,
                            .mode = w->mode,
                            .graphs = w->graphs,
                            .batch = 4,
                            .trace_ns = 1000000,
                            .wall_ns = (uint64_t)(w->wall_ms * 1e6) / 100 * (uint64_t)(100 + p),
                            .device_ns = 1000000,
                            .nodes = 1000};
    res_record *record = fixture_record(&c, 60);
    char group[64];
    snprintf(group, sizeof group, "g-%s-%s", w->model, w->phase);
    fixture_group(record, group, p + 1);
    snprintf(record->experiment.front_end, sizeof record->experiment.front_end, "%s", w->front_end);
    snprintf(record->experiment.variant, sizeof record->experiment.variant, "full");
    record->experiment.image = 224;
    snprintf(record->experiment.dispatch, sizeof record->experiment.dispatch, "%s",
             w->dispatch     ? w->dispatch
             : w->graphs > 1 ? "awaited"
                             : "queued");
    return record;
}

/* Four processes of each of the COUNT ways. */
static res_collection store_of(const way *ways, size_t count)
{
    res_collection all = {.records = calloc(count * PROCESSES, sizeof(res_record *))};
    assert_non_null(all.records);
    for (size_t i = 0; i < count; i++)
        for (int p = 0; p < PROCESSES; p++)
            all.records[all.count++] = record_of(&ways[i], p);
    return all;
}

/* The element of LIST, borrowed, of this front end, mode, number of graphs, and model unless NULL;
 * NULL where there is none. */
static const json_t *find(const json_t *list, const way *w)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *model = json_string_value(json_object_get(row, "model"));
        if (strcmp(json_string_value(json_object_get(row, "front_end")), w->front_end) == 0 &&
            strcmp(json_string_value(json_object_get(row, "mode")), w->mode) == 0 &&
            json_integer_value(json_object_get(row, "graphs")) == w->graphs &&
            (!w->model || strcmp(model, w->model) == 0))
            return row;
    }
    return NULL;
}

static const way all_ways[] = {
    {"bench", "resnet50", "train", "lazy", 1, 30, NULL},
    {"bench", "resnet50", "train", "capture", 1, 20, NULL},
    {"bench", "resnet50", "train", "capture", 5, 40, NULL},
    {"pytorch-xla", "resnet50", "train", "lazy", 1, 50, NULL},
    {"pytorch-xla", "resnet50", "train", "dynamo-step", 1, 40, NULL},
    {"bench", "vgg16", "train", "lazy", 1, 45, NULL},
    {"bench", "vgg16", "train", "capture", 1, 20, NULL},
    /* None of these has both a published speedup and a lazy step of its own front end. */
    {"jax", "resnet50", "train", "capture", 1, 20, NULL},
    {"bench", "resnet50", "infer", "lazy", 1, 9, NULL},
    {"bench", "resnet50", "infer", "capture", 1, 8, NULL},
    {"bench", "gpt2", "train", "lazy", 1, 9, NULL},
    {"bench", "gpt2", "train", "capture", 1, 8, NULL},
    {"bench", "resnet50", "train", "eager", 1, 90, NULL},
};
#define WAYS  (sizeof all_ways / sizeof *all_ways)
#define SHOWN 4

static void a_step_is_set_against_its_own_front_ends_lazy_one(void **state)
{
    (void)state;
    res_collection store = store_of(all_ways, WAYS);
    json_t *root = table_json("published", &store);
    const json_t *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), SHOWN);
    const json_t *one = find(rows, &all_ways[1]), *five = find(rows, &all_ways[2]);
    const json_t *dynamo = find(rows, &all_ways[4]);
    assert_true(one && five && dynamo && find(rows, &all_ways[6]));
    assert_near(number(one, "speedup"), 1.5, 0.01);
    assert_near(number(five, "speedup"), 0.75, 0.01);
    assert_near(number(dynamo, "speedup"), 1.25, 0.01);
    /* A ratio away from 1 may drift, so it has an interval, however alike the processes are. */
    assert_true(number(one, "speedup_low") < 1.48 && number(one, "speedup_high") > 1.52);
    assert_true(number(one, "published_batch") == 32);
    assert_true(number(one, "published_5_graphs") == 0.758);
    assert_true(number(one, "published_3_graphs") == 0.937);
    assert_true(number(one, "published_1_graph") == 1.344);
    assert_has(json_string_value(json_object_get(root, "source")), "4475");
    json_decref(root);
    res_collection_free(&store);
}

static void means_are_over_the_models_of_a_way(void **state)
{
    (void)state;
    res_collection store = store_of(all_ways, WAYS);
    json_t *root = table_json("published", &store);
    const json_t *means = json_object_get(root, "means");
    assert_int_equal(json_array_size(means), 3);
    const json_t *capture =
        find(means, &(way){.front_end = "bench", .mode = "capture", .graphs = 1});
    assert_non_null(capture);
    assert_true(number(capture, "rows") == 2);
    assert_true(number(capture, "processes") == PROCESSES);
    assert_near(number(capture, "speedup"), sqrt(1.5 * 2.25), 0.02);
    assert_near(number(capture, "published_1_graph"), sqrt(1.344 * 0.821), 1e-9);
    json_decref(root);
    res_collection_free(&store);
}

/* The published executions were awaited one by one. */
static void queued_graphs_are_left_out(void **state)
{
    (void)state;
    static const way ways[] = {{"bench", "resnet50", "train", "lazy", 1, 30, "queued"},
                               {"bench", "resnet50", "train", "lazy", 1, 60, "awaited"},
                               {"bench", "resnet50", "train", "capture", 1, 20, "queued"},
                               {"bench", "resnet50", "train", "capture", 3, 20, "queued"},
                               {"bench", "resnet50", "train", "capture", 5, 25, "queued"},
                               {"bench", "resnet50", "train", "capture", 5, 80, "awaited"}};
    res_collection store = store_of(ways, 6);
    json_t *root = table_json("published", &store);
    const json_t *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(json_integer_value(json_object_get(root, "left_out_queued")), 2);
    assert_near(number(find(rows, &ways[2]), "speedup"), 1.5, 0.01);
    const json_t *five = find(rows, &ways[5]);
    assert_string_equal(json_string_value(json_object_get(five, "dispatch")), "awaited");
    /* Over the lazy step that was awaited, too. */
    assert_near(number(five, "speedup"), 0.75, 0.01);
    json_decref(root);
    res_collection_free(&store);
}

static void a_lazy_step_of_another_build_is_none(void **state)
{
    (void)state;
    res_collection store = store_of(&all_ways[5], 2);
    for (int p = 0; p < PROCESSES; p++)
        json_object_set_new(store.records[p]->provenance, "runtime",
                            json_pack("{s:s}", "sha256", fixture_digest("ab")));
    json_t *root = table_json("published", &store);
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 0);
    json_decref(root);
    res_collection_free(&store);
}

static void smaller_models_were_not_published(void **state)
{
    (void)state;
    res_collection store = store_of(all_ways, 2);
    for (size_t i = 0; i < store.count; i++)
        snprintf(store.records[i]->experiment.variant, sizeof store.records[i]->experiment.variant,
                 "small");
    json_t *root = table_json("published", &store);
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 0);
    assert_int_equal(json_array_size(json_object_get(root, "means")), 0);
    json_decref(root);
    res_collection_free(&store);
}

/* Tracing does not depend on the batch, and the device's time does: so their ratio does, too. */
static void a_row_of_another_batch_is_marked(void **state)
{
    (void)state;
    for (int batch = 31; batch <= 32; batch++) {
        res_collection store = store_of(all_ways, 2);
        bn_text text = {0};
        for (size_t i = 0; i < store.count; i++)
            store.records[i]->experiment.batch = batch;
        json_t *root = table_json("published", &store);
        const json_t *rows = json_object_get(root, "rows");
        assert_int_equal(json_array_size(rows), 1);
        const json_t *differs = json_object_get(json_array_get(rows, 0), "differs");
        res_table("published", &store, RES_TABLE_TEXT, &text);
        if (batch == 32) {
            assert_true(json_is_null(differs));
            assert_lacks(text.data, "differs");
        } else {
            assert_string_equal(json_string_value(differs), "batch 31, not 32");
            line_with(text.data, "capture", "batch 31, not 32");
            assert_has(text.data, "batch 31, not 32");
            assert_has(text.data, "\ndiffers: ");
        }
        bn_text_free(&text);
        json_decref(root);
        res_collection_free(&store);
    }
}

/* The differences listed for the only row of STORE; the caller frees them. */
static json_t *difference_of(const res_collection *store)
{
    json_t *root = table_json("published", store);
    const json_t *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 1);
    json_t *differs = json_incref(json_object_get(json_array_get(rows, 0), "differs"));
    json_decref(root);
    return differs;
}

/* So do the sizes of images and of rows, and the dtype. */
static void a_row_of_other_sizes_or_types_is_marked(void **state)
{
    (void)state;
    static const way bert[] = {{"bench", "bert_pytorch", "train", "lazy", 1, 30, NULL},
                               {"bench", "bert_pytorch", "train", "capture", 1, 20, NULL}};
    static const struct {
        const way *ways;
        int batch, image, seq;
        const char *dtype, *differs; /* NULL: nothing */
    } steps[] = {{all_ways, 32, 224, 0, "f32", NULL},
                 {all_ways, 32, 64, 0, "f32", "image 64, not 224"},
                 {all_ways, 32, 224, 0, "bf16", "bf16, not f32"},
                 {all_ways, 1, 64, 0, "bf16", "batch 1, not 32; image 64, not 224; bf16, not f32"},
                 {bert, 16, 0, 128, "f32", NULL},
                 {bert, 16, 0, 64, "f32", "seq 64, not 128"},
                 /* Nobody knows them. */
                 {all_ways, 32, 0, 0, "", NULL}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        res_collection store = store_of(steps[i].ways, 2);
        for (size_t k = 0; k < store.count; k++) {
            res_experiment *e = &store.records[k]->experiment;
            e->batch = steps[i].batch;
            e->image = steps[i].image;
            e->seq = steps[i].seq;
            snprintf(e->dtype, sizeof e->dtype, "%s", steps[i].dtype);
        }
        json_t *differs = difference_of(&store);
        if (steps[i].differs)
            assert_string_equal(json_string_value(differs), steps[i].differs);
        else
            assert_true(json_is_null(differs));
        json_decref(differs);
        res_collection_free(&store);
    }
}

/* So do the device, and what only bench's steps have; in the means, too. */
static void a_row_of_another_device_or_kind_of_step_is_marked(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        res_axis_id axis;
        const char *word;
        int64_t number;
        const char *differs; /* NULL: nothing */
    } steps[] = {
        {"TPU v4", RES_AXIS_REMAT, "none", 0, NULL},
        {NULL, RES_AXIS_REMAT, "none", 0, NULL},
        {"TPU v5 lite", RES_AXIS_REMAT, "none", 0, "TPU v5 lite, not TPU v4"},
        {"cpu", RES_AXIS_REMAT, "layer", 0, "remat layer, not none; cpu, not TPU v4"},
        {"TPU v4", RES_AXIS_OFFLOAD, "activations", 0, "offload activations, not none"},
        {"TPU v4", RES_AXIS_LAYOUTS, "auto", 0, "layouts auto, not default"},
        {"TPU v4", RES_AXIS_IN_FLIGHT, "", 4, "4 in flight, not 1"},
        {"TPU v4", RES_AXIS_TRACE_COST, "", 17000, "emulated front end of 17000 ns a node, not 0"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        res_collection store = store_of(all_ways, 2);
        for (size_t k = 0; k < store.count; k++) {
            res_record *r = store.records[k];
            r->experiment.batch = 32;
            res_axis_set_value(&res_axes[steps[i].axis], steps[i].word, steps[i].number,
                               &r->experiment);
            json_t *runtime = json_object_get(r->provenance, "runtime");
            if (steps[i].device)
                json_object_set_new(runtime, "device", json_pack("{ss}", "kind", steps[i].device));
            else
                json_object_del(runtime, "device");
        }
        json_t *root = table_json("published", &store), *differs = difference_of(&store);
        const json_t *mean = json_array_get(json_object_get(root, "means"), 0);
        if (steps[i].differs)
            assert_string_equal(json_string_value(differs), steps[i].differs);
        else
            assert_true(json_is_null(differs));
        assert_true(number(mean, "rows") == 1);
        assert_true(number(mean, "rows_differing") == (steps[i].differs ? 1 : 0));
        json_decref(differs);
        json_decref(root);
        res_collection_free(&store);
    }
}

static void people_read_both_tables(void **state)
{
    (void)state;
    res_collection store = store_of(all_ways, WAYS), none = {.count = 0};
    bn_text text = {0}, csv = {0}, empty = {0};
    res_table("published", &store, RES_TABLE_TEXT, &text);
    res_table("published", &store, RES_TABLE_CSV, &csv);
    res_table("published", &none, RES_TABLE_TEXT, &empty);
    assert_has(line_with(text.data, "pytorch-xla dynamo-step", "1.25x"), "1.34x");
    assert_has(text.data, "Geometric means");
    assert_has(text.data, "January 2023");
    /* The axis is of bench's graphs; a framework makes as many programs as it wants. */
    assert_has(line_with(text.data, "pytorch-xla dynamo-step", ""), "dynamo-step       -");
    assert_has(csv.data, "published_5_graphs,published_3_graphs,published_1_graph");
    assert_lacks(csv.data, "Geometric");
    assert_has(empty.data, "No row: ");
    bn_text_free(&text);
    bn_text_free(&csv);
    bn_text_free(&empty);
    res_collection_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_set_against_its_own_front_ends_lazy_one),
        cmocka_unit_test(means_are_over_the_models_of_a_way),
        cmocka_unit_test(queued_graphs_are_left_out),
        cmocka_unit_test(a_lazy_step_of_another_build_is_none),
        cmocka_unit_test(smaller_models_were_not_published),
        cmocka_unit_test(a_row_of_another_batch_is_marked),
        cmocka_unit_test(a_row_of_other_sizes_or_types_is_marked),
        cmocka_unit_test(a_row_of_another_device_or_kind_of_step_is_marked),
        cmocka_unit_test(people_read_both_tables),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
