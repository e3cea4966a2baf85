/*
 * test_golden_models.c - whether a model computes what a golden file describes:
 * each file of tests/golden has its model, and each way in which a file and a
 * model can differ is named. The second part needs no model of the table: the
 * instance is made by hand, with the inputs of a language model.
 */
#include "tests/models/model_fixture.h"
#include "tests/support/test_runtime.h"

#include "harness/jobs/jobs.h"
#include "harness/verify/golden_priv.h"

#include <dirent.h>

/* ---- each file ------------------------------------------------------------------- */

/* Reads tests/golden/FILE and asks its model; the fault is appended to FAULTS. */
static void ask_model(const char *file, bn_text *faults)
{
    char path[512];
    golden_file g;
    res_experiment w = {.phase = "infer", .layout = "nhwc"};
    bn_status st = {0};
    model *m = NULL;
    snprintf(path, sizeof path, GOLDEN_FOLDER "/%s", file);
    bn_code code = golden_read(path, &g, &st);
    if (code == BN_OK)
        code = golden_configure(&g, &w, &st);
    if (code == BN_OK) {
        model_options options = job_model_options(&w, "");
        options.keep_stages = true;
        code = model_new(w.model, &options, &m, &st);
    }
    if (code == BN_OK)
        code = golden_supports(&g, m, &st);
    if (code == BN_OK &&
        model_parameter_elements(m) != json_integer_value(golden_at(&g, "param_count")))
        code = bn_fail(&st, BN_NOT_SUPPORTED, "another number of parameters");
    if (code != BN_OK)
        bn_text_printf(faults, "%s: %s\n", file, st.message);
    model_free(m);
    golden_free(&g);
}

static void each_file_has_its_model(void **state)
{
    (void)state;
    struct dirent **names;
    bn_text faults = {0};
    int files = 0, count = scandir(GOLDEN_FOLDER, &names, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(names[i]->d_name, '.');
        if (dot && strcmp(dot, ".json") == 0) {
            ask_model(names[i]->d_name, &faults);
            files++;
        }
        free(names[i]);
    }
    free(names);
    assert_int_equal(files, 35);
    if (faults.length)
        fail_msg("%s", faults.data);
}

/* ---- a model by hand ------------------------------------------------------------------ */

#define TOKENS                                                                                     \
    {                                                                                              \
        .rank = 2, .dtype = TG_I32, .dims = { 2, 16 }                                              \
    }

static model_variable variables[] = {
    {.name = "input_ids",
     .role = MODEL_INPUT,
     .fill = MODEL_FILL_IDS,
     .fill_low = 1,
     .fill_high = 512,
     .mask = {.padded = true, .pad_value = 0},
     .shape = TOKENS},
    {.name = "segments",
     .role = MODEL_INPUT,
     .fill = MODEL_FILL_HALF,
     .fill_low = 1,
     .fill_high = 2,
     .shape = TOKENS},
    {.name = "attention_mask",
     .role = MODEL_INPUT,
     .fill = MODEL_FILL_CONSTANT,
     .fill_low = 1,
     .mask = {.padded = true, .pad_value = 0},
     .shape = TOKENS},
    {.name = "labels",
     .role = MODEL_INPUT,
     .fill = MODEL_FILL_IDS,
     .fill_low = 5,
     .fill_high = 505,
     .mask = {.sparse = true, .elsewhere = -100},
     .shape = TOKENS},
    {.name = "is_next",
     .role = MODEL_INPUT,
     .fill = MODEL_FILL_CONSTANT,
     .fill_low = 1,
     .shape = {.rank = 1, .dtype = TG_I32, .dims = {2}}},
    {.name = "logits",
     .role = MODEL_RESULT,
     .shape = {.rank = 3, .dtype = TG_F32, .dims = {2, 1, 4}}},
    {.name = "next_sentence",
     .role = MODEL_RESULT,
     .shape = {.rank = 2, .dtype = TG_F32, .dims = {2, 2}}},
    {.name = "stage/head",
     .role = MODEL_RESULT,
     .shape = {.rank = 2, .dtype = TG_F32, .dims = {2, 8}}},
    {.name = "head.weight",
     .role = MODEL_PARAMETER,
     .shape = {.rank = 2, .dtype = TG_F32, .dims = {4, 8}}},
};

static const char text[] =
    "{\"model\": \"by hand\", \"variant\": \"tokens\", \"seed\": 1,"
    "\"dims\": {\"batch\": 2}, \"param_count\": 32,"
    "\"optimizer\": {\"name\": \"AdamW\", \"lr\": 0.0001, \"betas\": [0.9, 0.999], \"eps\": 1e-08,"
    "\"weight_decay\": 0.01},"
    "\"inputs\": [{\"name\": \"input_ids\", \"shape\": [2, 16], \"rule\": \"ids\", \"lo\": 1,"
    "\"hi\": 512, \"pad_value\": 0, \"lengths\": [16, 12]},"
    "{\"name\": \"segments\", \"shape\": [2, 16], \"rule\": \"half\", \"lo\": 1, \"hi\": 2},"
    "{\"name\": \"attention_mask\", \"shape\": [2, 16], \"rule\": \"lengths\", \"pad_value\": 0,"
    "\"lengths\": [16, 12]},"
    "{\"name\": \"labels\", \"shape\": [2, 16], \"rule\": \"ids\", \"lo\": 5, \"hi\": 505,"
    "\"only_where\": \"t % 7 == 3\", \"elsewhere\": -100},"
    "{\"name\": \"is_next\", \"shape\": [2], \"rule\": \"const\", \"lo\": 1}],"
    "\"tolerance\": {\"logits\": 1e-5, \"eval_scalars\": 1e-5, \"loss\": [1e-5, 1e-4, 1e-3],"
    "\"grad_l2_global\": [2e-5, 2e-5, 2e-5], \"grads_step0\": 1e-4, \"param_l2\": 1e-6,"
    "\"param_change_l2\": 1e-4, \"params\": 1e-5},"
    "\"f64\": {\"eval\": {\"logits\": {\"shape\": [2, 1, 4],"
    "\"first16\": [1, -2, 0.5, 0.25, 0, 3, -4, 1.25],"
    "\"last16\": [1, -2, 0.5, 0.25, 0, 3, -4, 1.25], \"argmax\": [0, 1], \"absmax\": 4.0,"
    "\"mean\": 0, \"std\": 1, \"l2\": 5.5, \"probe\": 1},"
    "\"next_sentence\": {\"shape\": [2, 2], \"first16\": [-1, -2, -0.5, -3],"
    "\"last16\": [-1, -2, -0.5, -3], \"argmax\": [0, 0], \"absmax\": 3.0,"
    "\"mean\": -1.625, \"std\": 0.9601432184835760, \"l2\": 3.774917217635375, \"probe\": 9},"
    "\"stages\": {\"head\": [[2, 8], 10.0]}, \"loss\": 2.0, \"extra\": {\"margin\": 0.1}},"
    "\"train\": {\"loss\": [2.0, 1.0, 0.5], \"grad_l2_global\": [8.0, 4.0, 2.0],"
    "\"grads_step0\": {\"head.weight\": {\"l2\": 2.0, \"probe\": -1.0}},"
    "\"param_l2_after_step3\": 30.0, \"param_change_l2_after_step3\": 0.5,"
    "\"params_after_step3\": {\"head.weight\": {\"l2\": 5.0, \"probe\": 0.001}}}}}";

/* TEXT with FROM, which it must have, replaced by TO at its first place. */
static golden_file read_changed(const char *from, const char *to)
{
    const char *at = strstr(text, from);
    bn_text changed = {0};
    bn_status st = {0};
    golden_file g;
    assert_non_null(at);
    bn_text_append(&changed, text, (size_t)(at - text));
    bn_text_puts(&changed, to);
    bn_text_puts(&changed, at + strlen(from));
    assert_ok(golden_parse("changed", changed.data, changed.length, &g, &st), &st);
    bn_text_free(&changed);
    return g;
}

static model by_hand(void)
{
    return (model){.variables = variables,
                   .variable_count = sizeof variables / sizeof *variables,
                   .options = {.optimizer = MODEL_ADAMW}};
}

static void sizes_come_from_the_inputs(void **state)
{
    (void)state;
    const model m = by_hand();
    bn_status st = {0};
    golden_file g = read_changed("", "");
    assert_int_equal(g.batch, 2);
    assert_int_equal(g.seq, 16);
    assert_int_equal(g.image, 0);
    assert_int_equal(g.optimizer, MODEL_ADAMW);
    assert_true(g.padded);
    assert_ok(golden_supports(&g, &m, &st), &st);
    golden_free(&g);
    g = read_changed("\"batch\": 2}", "\"batch\": 2, \"seq\": 24, \"image\": 96}");
    assert_int_equal(g.seq, 24);
    assert_int_equal(g.image, 96);
    golden_free(&g);
    g = read_changed("[2, 16]", "[2, 3, 32, 48]");
    assert_int_equal(g.image, 48);
    golden_free(&g);
}

/* The file with FROM replaced by TO is not what the model computes: WANTED. */
static void assert_unsupported(const char *from, const char *to, const char *wanted)
{
    const model m = by_hand();
    bn_status st = {0};
    golden_file g = read_changed(from, to);
    assert_fails(golden_supports(&g, &m, &st), BN_NOT_SUPPORTED, wanted, &st);
    golden_free(&g);
}

static void other_inputs_are_named(void **state)
{
    (void)state;
    assert_unsupported("\"hi\": 512", "\"hi\": 513", "input_ids runs from 1 to 513");
    assert_unsupported("\"lo\": 1,", "\"lo\": 0,", "input_ids runs from 0 to 512");
    assert_unsupported("\"rule\": \"ids\"", "\"rule\": \"half\"", "made by rule 'half'");
    assert_unsupported("\"rule\": \"ids\"", "\"rule\": \"zipf\"", "made by rule 'zipf'");
    assert_unsupported("\"rule\": \"half\", \"lo\": 1, \"hi\": 2",
                       "\"rule\": \"half\", \"lo\": 0, \"hi\": 1", "segments runs from 0 to 1");
    assert_unsupported("\"rule\": \"const\", \"lo\": 1", "\"rule\": \"const\", \"lo\": 0",
                       "is_next is 0, in the model 1");
    assert_unsupported("\"rule\": \"const\", \"lo\": 1", "\"rule\": \"const\"", "is_next is 0");
    assert_unsupported("\"pad_value\": 0, \"lengths\": [16, 12]},{\"name\": \"segments\"",
                       "\"pad_value\": 1, \"lengths\": [16, 12]},{\"name\": \"segments\"",
                       "input input_ids is padded");
    assert_unsupported(", \"pad_value\": 0, \"lengths\": [16, 12]", "", "input_ids is padded");
    assert_unsupported("\"hi\": 2}", "\"hi\": 2, \"pad_value\": 0, \"lengths\": [16, 12]}",
                       "input segments is padded");
    assert_unsupported("[16, 12]", "[16, 13]", "input_ids has lengths other than");
    assert_unsupported("[16, 12]", "[16]", "input_ids has lengths other than");
    assert_unsupported("t % 7 == 3", "t % 7 == 4", "labels is kept only where t % 7 == 4");
    assert_unsupported("\"elsewhere\": -100", "\"elsewhere\": 0", "labels is kept at other");
    assert_unsupported(",\"only_where\": \"t % 7 == 3\", \"elsewhere\": -100", "",
                       "labels is kept at other");
    assert_unsupported("\"hi\": 2}", "\"hi\": 2, \"only_where\": \"t % 7 == 3\", \"elsewhere\": 0}",
                       "segments is kept at other");
    assert_unsupported("[2, 16]", "[3, 16]", "input input_ids has shape 3x16");
    assert_unsupported("\"name\": \"segments\"", "\"name\": \"token_type_ids\"",
                       "no input token_type_ids");
    assert_unsupported("\"name\": \"is_next\"", "\"name\": \"head.weight\"",
                       "no input of the model");
    assert_unsupported(",{\"name\": \"is_next\", \"shape\": [2], \"rule\": \"const\", \"lo\": 1}",
                       "", "the model's input is_next is not in the file");
}

static void other_optimizers_are_named(void **state)
{
    (void)state;
    assert_unsupported("[0.9, 0.999]", "[0.95, 0.999]", "betas.0 0.95; the model has 0.9");
    assert_unsupported("[0.9, 0.999]", "[0.9, 0.99]", "betas.1 0.99");
    assert_unsupported("1e-08", "1e-06", "eps 1e-06; the model has 1e-08");
    assert_unsupported("\"weight_decay\": 0.01", "\"weight_decay\": 0",
                       "weight_decay 0; the model");
    assert_unsupported("\"lr\": 0.0001", "\"lr\": 0.0001, \"amsgrad\": true", "with amsgrad");
    assert_unsupported("AdamW", "Adam", "optimizer Adam; models have SGD and AdamW");
    assert_unsupported("AdamW\"", "SGD\", \"momentum\": 0.9", "optimizer SGD");
}

static void other_outputs_are_named(void **state)
{
    (void)state;
    assert_unsupported("\"next_sentence\"", "\"previous_sentence\"", "no output previous_sentence");
    assert_unsupported("[2, 1, 4]", "[2, 4]", "output logits has shape 2x4");
    assert_unsupported("\"head\": [[2, 8]", "\"tail\": [[2, 8]", "no stage tail");
    assert_unsupported("\"head.weight\": {\"l2\": 5.0", "\"head.bias\": {\"l2\": 5.0",
                       "no head.bias (train.params_after_step3)");
}

/* ---- outputs besides the logits -------------------------------------------------------- */

static void each_output_is_compared_by_its_own_numbers(void **state)
{
    (void)state;
    const double right[4] = {-1, -2, -0.5, -3}, swapped[4] = {-2, -1, -0.5, -3};
    golden_file g = read_changed("", "");
    golden_check c = {&g, json_array()};
    const char *name;
    double probe = 0;
    assert_non_null(golden_output(&g, 0, &name));
    assert_string_equal(name, "logits");
    assert_non_null(golden_output(&g, 1, &name));
    assert_string_equal(name, "next_sentence");
    assert_null(golden_output(&g, 2, &name)); /* extra is none */

    for (uint64_t i = 0; i < 4; i++)
        probe += right[i] * (2 * model_unit("probe/next_sentence", 1, i) - 1);
    json_t *wanted = (json_t *)(uintptr_t)golden_at(&g, "f64.eval.next_sentence");
    json_object_set_new(wanted, "probe", json_real(probe));
    golden_compare_output(&c, "next_sentence", right, 4);
    assert_int_equal(json_array_size(c.rows), 4 + 4 + 5 + 2);
    for (size_t i = 0; i < json_array_size(c.rows); i++) {
        const json_t *row = json_array_get(c.rows, i);
        if (!json_is_true(json_object_get(row, "pass")))
            fail_msg("%s", json_string_value(json_object_get(row, "quantity")));
    }
    json_array_clear(c.rows);
    golden_compare_output(&c, "next_sentence", swapped, 4);
    size_t failed = 0;
    for (size_t i = 0; i < json_array_size(c.rows); i++)
        failed += !json_is_true(json_object_get(json_array_get(c.rows, i), "pass"));
    assert_int_equal(failed, 2 + 2 + 1 + 1); /* at both ends, the probe, one argmax */
    json_decref(c.rows);
    golden_free(&g);
}

/* Rows of logits (2, 1, 4) run along the last dimension. */
static void rows_run_along_the_last_dimension(void **state)
{
    (void)state;
    const double y[8] = {1, -2, 0.5, 0.25, 0, 3, -4, 1.25};
    golden_file g = read_changed("", "");
    golden_check c = {&g, json_array()};
    size_t argmax = 0;
    golden_compare_output(&c, "logits", y, 8);
    for (size_t i = 0; i < json_array_size(c.rows); i++) {
        const json_t *row = json_array_get(c.rows, i);
        if (strncmp(json_string_value(json_object_get(row, "quantity")), "eval.logits.argmax", 18))
            continue;
        argmax++;
        assert_true(json_is_true(json_object_get(row, "pass")));
    }
    assert_int_equal(argmax, 2);
    json_decref(c.rows);
    golden_free(&g);
}

/* ---- which model --------------------------------------------------------------------------- */

static void any_name_of_a_variant_finds_its_model(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *wanted;
        bool count; /* the file has the number of parameters of the reduced model */
    } cases[] = {{"full", "full", true},        {"small", "small", false},
                 {"small_pad", "small", false}, {"full_seed7", "full", true},
                 {"seq7", "small", true},       {"seq7", NULL, false}};
    model *m = make_model("resnet18", (model_options){.small = true, .batch = 2});
    const json_int_t elements = model_parameter_elements(m);
    model_free(m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_status st = {0};
        res_experiment w = {0};
        golden_file g = read_changed("by hand", "resnet18");
        json_object_set_new(g.root, "param_count",
                            json_integer(cases[i].count ? elements : elements + 1));
        g.variant = cases[i].variant;
        g.seq = 0;
        if (!cases[i].wanted) {
            assert_fails(golden_configure(&g, &w, &st), BN_NOT_SUPPORTED, "variant seq7", &st);
        } else {
            assert_ok(golden_configure(&g, &w, &st), &st);
            assert_string_equal(w.variant, cases[i].wanted); /* resnet18 does not pad */
            assert_string_equal(w.optimizer, "adamw");
            assert_string_equal(w.dropout, "off");
        }
        golden_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_has_its_model),
        cmocka_unit_test(sizes_come_from_the_inputs),
        cmocka_unit_test(other_inputs_are_named),
        cmocka_unit_test(other_optimizers_are_named),
        cmocka_unit_test(other_outputs_are_named),
        cmocka_unit_test(each_output_is_compared_by_its_own_numbers),
        cmocka_unit_test(rows_run_along_the_last_dimension),
        cmocka_unit_test(any_name_of_a_variant_finds_its_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
