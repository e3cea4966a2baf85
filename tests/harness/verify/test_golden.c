/*
 * test_golden.c - the rules by which a number passes, and what is said of a
 * damaged file. The golden file here is made up: two rows of four logits.
 */
#include "tests/support/test_runtime.h"

#include "harness/verify/golden_priv.h"
#include "harness/verify/verify_table_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const double logits[8] = {1.0, -2.0, 0.5, 0.25, 0.0, 3.0, -4.0, 1.25};

/* Text of the file, with what the rule needs of the logits computed here. */
static char *golden_text(void)
{
    double sum = 0, squares = 0, spread = 0, probe = 0;
    bn_text text = {0};
    for (size_t i = 0; i < 8; i++) {
        sum += logits[i];
        squares += logits[i] * logits[i];
        probe += logits[i] * (2 * model_unit("probe/logits", 1, i) - 1);
    }
    for (size_t i = 0; i < 8; i++)
        spread += (logits[i] - sum / 8) * (logits[i] - sum / 8);
    bn_text_puts(
        &text,
        "{\"model\": \"resnet18\", \"variant\": \"small\", \"seed\": 1,"
        "\"dims\": {\"batch\": 2, \"image\": 64}, \"param_count\": 100,"
        "\"optimizer\": {\"name\": \"SGD\", \"lr\": 0.01, \"momentum\": 0.9, \"weight_decay\": 0},"
        "\"inputs\": [{\"name\": \"input\", \"shape\": [2, 4], \"rule\": \"image\","
        "\"first4\": [0.358427048, -0.315613389], \"sum\": 0.5}],"
        "\"tolerance\": {\"logits\": 1e-5, \"eval_scalars\": 1e-5, \"loss\": [1e-5, 1e-4, 1e-3],"
        "\"grad_l2_global\": [2e-5, 2e-5, 2e-5], \"grads_step0\": 1e-4, \"param_l2\": 1e-6,"
        "\"param_change_l2\": 1e-4, \"params\": 1e-5, \"bn\": 1e-5},"
        "\"f64\": {\"eval\": {\"logits\": {\"shape\": [2, 4],"
        "\"first16\": [1, -2, 0.5, 0.25, 0, 3, -4, 1.25],"
        "\"last16\": [1, -2, 0.5, 0.25, 0, 3, -4, 1.25], \"argmax\": [0, 1], \"absmax\": 4.0,");
    bn_text_printf(&text, "\"mean\": %.17g, \"std\": %.17g, \"l2\": %.17g, \"probe\": %.17g},",
                   sum / 8, sqrt(spread / 8), sqrt(squares), probe);
    bn_text_puts(
        &text, "\"stages\": {\"layer1.0\": [[2, 4], 10.0]}, \"loss\": 2.0},"
               "\"train\": {\"loss\": [2.0, 1.0, 0.5], \"grad_l2_global\": [8.0, 4.0, 2.0],"
               "\"grads_step0\": {\"fc.weight\": {\"l2\": 2.0, \"probe\": -1.0},"
               "\"fc.bias\": {\"l2\": 1e-9, \"probe\": 1e-10}},"
               "\"bn_after_step1\": {\"bn1\": {\"running_mean_l2\": 0.5, \"running_var_l2\": 3.0}},"
               "\"param_l2_after_step3\": 30.0, \"param_change_l2_after_step3\": 0.5,"
               "\"params_after_step3\": {\"fc.weight\": {\"l2\": 5.0, \"probe\": 0.001},"
               "\"fc.bias\": {\"l2\": 0.2, \"probe\": 0.1}}}}}");
    return text.data;
}

typedef struct fixture {
    golden_file golden;
    golden_check check;
} fixture;

static int begin(void **state)
{
    static fixture f;
    bn_status st = {0};
    char *text = golden_text();
    assert_ok(golden_parse("test", text, strlen(text), &f.golden, &st), &st);
    f.check = (golden_check){&f.golden, json_array()};
    free(text);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    json_decref(f->check.rows);
    golden_free(&f->golden);
    return 0;
}

/* Rows since the last call must number COUNT, and exactly FAILED of them fail. */
static void assert_rows(fixture *f, size_t count, size_t failed)
{
    if (json_array_size(f->check.rows) != count || verify_failures(f->check.rows) != failed)
        fail_msg("%zu rows, %zu failed; want %zu and %zu", json_array_size(f->check.rows),
                 verify_failures(f->check.rows), count, failed);
    json_array_clear(f->check.rows);
}

static const char *first_failure(const fixture *f)
{
    for (size_t i = 0; i < json_array_size(f->check.rows); i++) {
        const json_t *row = json_array_get(f->check.rows, i);
        if (!json_is_true(json_object_get(row, "pass")))
            return json_string_value(json_object_get(row, "quantity"));
    }
    return "none";
}

/* ---- rules ---------------------------------------------------------------------- */

static void a_difference_is_held_to_its_tolerance(void **state)
{
    fixture *f = *state;
    golden_compare(&f->check, "g", "q", 10.0001, 10, 10, 1.1e-5);
    assert_rows(f, 1, 0);
    golden_compare(&f->check, "g", "q", 10.0001, 10, 10, 0.9e-5);
    assert_rows(f, 1, 1);
    golden_compare(&f->check, "g", "q", -10.0001, -10, -10, 1.1e-5); /* a scale has no sign */
    assert_rows(f, 1, 0);
    golden_compare(&f->check, "g", "q", 3, 3, 0, 0);
    assert_rows(f, 1, 0);
    golden_compare(&f->check, "g", "q", 3.0000001, 3, 0,
                   1); /* nothing but equality without scale */
    assert_rows(f, 1, 1);
}

static void what_is_not_finite_fails(void **state)
{
    fixture *f = *state;
    golden_compare(&f->check, "g", "q", (double)NAN, 1, 1, 1e9);
    assert_true(json_is_null(json_object_get(json_array_get(f->check.rows, 0), "got")));
    golden_compare(&f->check, "g", "q", (double)INFINITY, 1, 1, 1e9);
    golden_compare_stage(&f->check, "layer1.0", (double)NAN);
    assert_rows(f, 3, 3);
    double wrong[8];
    memcpy(wrong, logits, sizeof wrong);
    wrong[7] = (double)NAN; /* both ends hold it, and all five scalars */
    golden_compare_output(&f->check, "logits", wrong, 8);
    assert_rows(f, 8 + 8 + 5 + 2, 2 + 5);
}

static void logits_are_compared_at_both_ends(void **state)
{
    fixture *f = *state;
    double y[8];
    memcpy(y, logits, sizeof y);
    golden_compare_output(&f->check, "logits", y, 8);
    assert_rows(f, 23, 0);
    y[2] += 3e-5; /* of an absmax of 4: within 1e-5 */
    golden_compare_output(&f->check, "logits", y, 8);
    assert_rows(f, 23, 0);
    y[2] += 2e-5;
    golden_compare_output(&f->check, "logits", y, 8);
    assert_string_equal(first_failure(f), "eval.logits.first16[2]");
    assert_rows(f, 23, 2);
}

static void exchanged_logits_fail_though_their_norm_is_right(void **state)
{
    fixture *f = *state;
    double y[8];
    memcpy(y, logits, sizeof y);
    y[0] = logits[1];
    y[1] = logits[0];
    golden_compare_output(&f->check, "logits", y, 8);
    size_t probe = 0, argmax = 0, l2 = 0;
    for (size_t i = 0; i < json_array_size(f->check.rows); i++) {
        const json_t *row = json_array_get(f->check.rows, i);
        const char *q = json_string_value(json_object_get(row, "quantity"));
        bool failed = !json_is_true(json_object_get(row, "pass"));
        probe += failed && strcmp(q, "eval.logits.probe") == 0;
        argmax += failed && strcmp(q, "eval.logits.argmax[0]") == 0;
        l2 += failed && strcmp(q, "eval.logits.l2") == 0;
    }
    assert_int_equal(probe, 1);
    assert_int_equal(argmax, 1);
    assert_int_equal(l2, 0);
}

static void inputs_are_exact(void **state)
{
    fixture *f = *state;
    const json_t *input = json_array_get(golden_at(&f->golden, "inputs"), 0);
    double right[2] = {(double)0.358427048f, (double)-0.315613389f};
    golden_compare_input(&f->check, input, right, 2);
    assert_rows(f, 3, 1); /* the made-up sum is wrong */
    right[1] = (double)nextafterf(-0.315613389f, 0);
    golden_compare_input(&f->check, input, right, 2);
    assert_string_equal(first_failure(f), "inputs.input.first4[1]");
    assert_rows(f, 3, 2);
    golden_compare_parameter_count(&f->check, 100);
    golden_compare_parameter_count(&f->check, 101);
    assert_rows(f, 2, 1);
}

static void each_step_has_its_own_tolerance(void **state)
{
    fixture *f = *state;
    for (size_t step = 0; step < GOLDEN_STEPS; step++)
        golden_compare_train_step(&f->check, step, (2.0 / (1 << step)) * (1 + 5e-4),
                                  (8.0 / (1 << step)) * (1 + 1e-5));
    assert_string_equal(first_failure(f), "train.loss[0]");
    assert_rows(f, 6, 2); /* 5e-4 passes in the last step only */
    golden_compare_train_step(&f->check, 2, 0.5, 2.0 * (1 + 3e-5));
    assert_string_equal(first_failure(f), "train.grad_l2_global[2]");
    golden_compare_eval_loss(&f->check, 2.0 * (1 + 9e-6));
    assert_rows(f, 3, 1);
    golden_compare_eval_loss(&f->check, 2.0 * (1 + 2e-5));
    assert_rows(f, 1, 1);
}

static void gradients_near_zero_are_held_to_the_whole(void **state)
{
    fixture *f = *state;
    /* fc.weight by its own l2 of 2, fc.bias by 1e-3 of the whole 8. */
    golden_compare_gradient(&f->check, "fc.weight", 2.00019, -1.00019);
    assert_rows(f, 2, 0);
    golden_compare_gradient(&f->check, "fc.weight", 2.00021, -1.00021);
    assert_rows(f, 2, 2);
    golden_compare_gradient(&f->check, "fc.bias", 7e-7, -7e-7);
    assert_rows(f, 2, 0);
    golden_compare_gradient(&f->check, "fc.bias", 9e-7, -9e-7);
    assert_rows(f, 2, 2);
}

static void parameters_moved_by_noise_are_left_out(void **state)
{
    fixture *f = *state;
    golden_compare_parameter(&f->check, "fc.weight", 5.00004, 0.00104);
    assert_rows(f, 2, 0);
    golden_compare_parameter(&f->check, "fc.weight", 5.00006, 0.00106);
    assert_rows(f, 2, 2);
    golden_compare_parameter(&f->check, "fc.bias", 1, 1); /* its gradient was 1e-9 of 8 */
    assert_rows(f, 0, 0);
    golden_compare_all_parameters(&f->check, 30.00002, 0.50004);
    assert_rows(f, 2, 0);
    golden_compare_all_parameters(&f->check, 30.00004, 0.50006);
    assert_rows(f, 2, 2);
    golden_compare_statistic(&f->check, "bn1", "running_var_l2", 3.00002);
    golden_compare_statistic(&f->check, "bn1", "running_mean_l2", 0.50001);
    assert_string_equal(first_failure(f), "train.bn_after_step1.bn1.running_mean_l2");
    assert_rows(f, 2, 1);
}

/* ---- damage ------------------------------------------------------------------------ */

/* The file with FROM once replaced by TO must be refused, with TEXT. */
static void assert_refused(const char *from, const char *to, const char *wanted)
{
    char *whole = golden_text();
    char *at = strstr(whole, from);
    bn_text text = {0};
    golden_file g;
    bn_status st = {0};
    assert_non_null(at);
    bn_text_append(&text, whole, (size_t)(at - whole));
    bn_text_puts(&text, to);
    bn_text_puts(&text, at + strlen(from));
    assert_fails(golden_parse("x.json", text.data, text.length, &g, &st), BN_FORMAT, wanted, &st);
    bn_text_free(&text);
    free(whole);
}

static void damage_is_named(void **state)
{
    (void)state;
    assert_refused("\"seed\": 1,", "", "x.json: seed: missing");
    assert_refused("\"seed\": 1", "\"seed\": 1, \"seed\": 2", "line 1");
    assert_refused("\"seed\": 1", "\"seed\": -1", "x.json: seed: -1");
    assert_refused("\"seed\": 1", "\"seed\": 1.5", "x.json: seed: ");
    assert_refused("\"image\": 64", "\"image\": \"64\"", "x.json: dims.image: ");
    assert_refused("\"batch\": 2", "\"batch\": 5000000000", "x.json: dims.batch: ");
    assert_refused("\"argmax\": [0, 1]", "\"argmax\": [0]", "f64.eval.logits: argmax: 1 ");
    assert_refused("\"argmax\": [0, 1]", "\"argmax\": [0, 1.5]", "logits: argmax: item 1: ");
    assert_refused("[2, 4],\"first16\"", "[2, 5],\"first16\"", "f64.eval.logits: first16: 8 ");
    assert_refused("[2, 4],\"first16\"", "[0, 4],\"first16\"", "logits: shape: item 0: 0");
    assert_refused("1e-5, 1e-4, 1e-3", "1e-5", "x.json: tolerance.loss: ");
    assert_refused("1e-5, 1e-4, 1e-3", "1e-5, 1e-4, 1e-3, 1", "x.json: tolerance.loss: ");
    assert_refused("\"logits\": 1e-5", "\"logits\": -1e-5", "x.json: tolerance.logits: -1e-05");
    assert_refused("[[2, 4], 10.0]", "[10.0]", "f64.eval.stages: layer1.0: ");
    assert_refused("[[2, 4], 10.0]", "[[2, \"4\"], 10.0]", "f64.eval.stages: layer1.0: item 1: ");
    assert_refused("\"probe\": -1.0", "\"prob\": -1.0", "grads_step0: fc.weight: probe: missing");
    assert_refused("{\"running_mean_l2\": 0.5", "{\"mean\": 0.5",
                   "bn_after_step1: bn1: running_mean_l2: missing");
    assert_refused("{\"bn1\": ", "[", "line 1");
    assert_refused("{\"bn1\": {\"running_mean_l2\": 0.5, \"running_var_l2\": 3.0}}", "[]",
                   "f64.train.bn_after_step1: ");
    assert_refused("\"momentum\": 0.9,", "", "optimizer.momentum: missing");
    assert_refused("\"SGD\"", "\"AdamW\"", "optimizer.betas: missing");
    assert_refused("\"SGD\"", "\"AdamW\", \"betas\": [0.9]", "optimizer.betas: ");
    assert_refused("\"SGD\"", "\"AdamW\", \"betas\": [0.9, 0.999]", "optimizer.eps: missing");
    assert_refused("\"rule\": \"image\"", "\"rule\": \"ids\", \"lo\": \"0\"",
                   "inputs: item 0: lo: ");
    assert_refused("\"rule\": \"image\"", "\"rule\": \"ids\", \"only_where\": \"t\"",
                   "inputs: item 0: only_where needs elsewhere");
    assert_refused("\"rule\": \"image\"", "\"rule\": \"ids\", \"pad_value\": 0",
                   "inputs: item 0: pad_value and lengths");
    assert_refused("\"rule\": \"image\"", "\"rule\": \"ids\", \"lengths\": [2, \"1\"]",
                   "inputs: item 0: lengths: item 1: ");
    assert_refused("\"loss\": 2.0}", "\"loss\": 2.0, \"other\": 1}",
                   "f64.eval.other: shape: missing");
    assert_refused(", \"bn\": 1e-5", "", "tolerance.bn: missing");
    assert_refused("\"rule\": \"image\",", "", "inputs: item 0: rule: missing");
    assert_refused("\"loss\": 2.0}", "\"loss\": 1e999}", "line 1");
}

/* A file that decodes: two rows from a prompt of two in a context of four. */
#define DECODE                                                                                     \
    "\"decode\": {\"prompt\": 2, \"context\": 4, \"tokens\": [[3, 1, 2], [0, 0, 5]],"              \
    " \"logits\": [[0, 2.0, 0.5], [3, 4.0, -1.0]]}, "

static char *decoding_text(const char *decode)
{
    char *whole = golden_text(), *at = strstr(whole, "\"train\": {\"loss\"");
    bn_text text = {0};
    assert_non_null(at);
    bn_text_append(&text, whole, (size_t)(at - whole));
    bn_text_puts(&text, decode);
    bn_text_puts(&text, at);
    free(whole);
    return text.data;
}

static void decoding_is_compared_token_by_token(void **state)
{
    bn_status st = {0};
    fixture f;
    double values[] = {2.0, 0.0, 0.0, 0.0}, chosen[] = {3, 0};
    char *text = decoding_text(DECODE);
    (void)state;
    assert_ok(golden_parse("test", text, strlen(text), &f.golden, &st), &st);
    free(text);
    f.check = (golden_check){&f.golden, json_array()};
    assert_int_equal(golden_decode_steps(&f.golden), 4);
    /* Within the prompt nothing is chosen; logits are compared where the file has them. */
    values[0] = 2.0 * (1 - 2e-5);
    golden_compare_decode(&f.check, 0, values, 4, chosen);
    assert_string_equal(first_failure(&f), "decode.logits.l2[0]");
    assert_rows(&f, 2, 2);
    golden_compare_decode(&f.check, 1, values, 4, chosen);
    assert_rows(&f, 2, 0);
    golden_compare_decode(&f.check, 2, values, 4, chosen);
    assert_string_equal(first_failure(&f), "decode.tokens[0][1]");
    assert_rows(&f, 2, 1);
    chosen[1] = 5;
    golden_compare_decode(&f.check, 3, values, 4, chosen);
    assert_rows(&f, 4, 3);
    json_decref(f.check.rows);
    golden_free(&f.golden);
}

static void damage_of_decoding_is_named(void **state)
{
    static const char *const wrong[][2] = {
        {"\"decode\": [], ", "f64.decode: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 4, \"tokens\": []}, ",
         "f64.decode: logits: missing"},
        {"\"decode\": {\"prompt\": 2, \"context\": 2, \"tokens\": [[1], [1]], \"logits\": []}, ",
         "context: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 5000000000, \"tokens\": [], \"logits\": []}, ",
         "context: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 4, \"tokens\": [[1, 1, 1]], \"logits\": []}, ",
         "tokens: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 3, \"tokens\": [[1, 1], [1]], \"logits\": []}, ",
         "tokens: item 1: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 3, \"tokens\": [[1, 1], [1, -1]], \"logits\": "
         "[]}, ",
         "tokens: item 1: item 1: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 3, \"tokens\": [[1, 1], [1, 1]], \"logits\": "
         "[[3, 1, 1]]}, ",
         "logits: item 0: "},
        {"\"decode\": {\"prompt\": 2, \"context\": 3, \"tokens\": [[1, 1], [1, 1]], \"logits\": "
         "[[1, 1, 1], "
         "[1, 1, 1]]}, ",
         "logits: item 1: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bn_status st = {0};
        golden_file g;
        char *text = decoding_text(wrong[i][0]);
        assert_fails(golden_parse("x.json", text, strlen(text), &g, &st), BN_FORMAT, wrong[i][1],
                     &st);
        free(text);
    }
}

/* A model that does not decode, and one whose positions end before. */
static void decoding_that_no_model_does_is_refused(void **state)
{
    bn_status st = {0};
    fixture f;
    res_experiment w;
    char *text = decoding_text(DECODE);
    (void)state;
    assert_ok(golden_parse("test", text, strlen(text), &f.golden, &st), &st);
    res_experiment_usual(&w);
    assert_fails(golden_configure(&f.golden, &w, &st), BN_NOT_SUPPORTED, "f64.decode", &st);
    golden_free(&f.golden);
    free(text);
}

static void every_cut_is_an_error(void **state)
{
    (void)state;
    char *text = golden_text();
    for (size_t size = 0; size < strlen(text); size++) {
        golden_file g;
        bn_status st = {0};
        assert_fails(golden_parse("cut.json", text, size, &g, &st), BN_FORMAT, "cut.json: line 1",
                     &st);
        assert_null(g.root);
    }
    free(text);
}

/* ---- tables ------------------------------------------------------------------------- */

static size_t lines_of(const json_t *rows, res_format format, bool all)
{
    bn_text text = {0};
    size_t lines = 0;
    verify_table(rows, format, all, &text);
    for (const char *c = text.data; *c; c++)
        lines += *c == '\n';
    bn_text_free(&text);
    return lines;
}

static void tables_show_the_worst_and_all_that_failed(void **state)
{
    fixture *f = *state;
    const double got[] = {1.000001, 1.000005, 1.000003, 1.5, 1.2};
    for (size_t i = 0; i < 3; i++)
        golden_compare(&f->check, "a", "good", got[i], 1, 1, 1e-5);
    assert_int_equal(lines_of(f->check.rows, RES_TABLE_TEXT, false), 1 + 1);
    assert_int_equal(lines_of(f->check.rows, RES_TABLE_TEXT, true), 1 + 3);
    assert_int_equal(lines_of(f->check.rows, RES_TABLE_CSV, false), 1 + 3);
    for (size_t i = 3; i < 5; i++)
        golden_compare(&f->check, "a", "bad", got[i], 1, 1, 1e-5);
    assert_int_equal(lines_of(f->check.rows, RES_TABLE_TEXT, false), 1 + 2);
    assert_int_equal(lines_of(f->check.rows, RES_TABLE_MARKDOWN, false), 2 + 2);
    bn_text text = {0};
    verify_summary(f->check.rows, &text);
    assert_string_equal(text.data, "5 comparisons, 2 failed\n");
    bn_text_free(&text);
}

static void what_is_too_deep_or_no_file_is_refused(void **state)
{
    golden_file golden;
    bn_status st = {0};
    char text[2 * BN_JSON_DEPTH + 16], path[300];
    const char *tmp = getenv("TMPDIR");
    const int levels = BN_JSON_DEPTH + 1;
    memset(text, '[', (size_t)levels);
    memset(text + levels, ']', (size_t)levels);
    assert_fails(golden_parse("deep", text, 2 * (size_t)levels, &golden, &st), BN_FORMAT,
                 "deep: ", &st);
    /* A pipe that nobody writes would be waited for. */
    snprintf(path, sizeof path, "%s/golden-pipe.%ld", tmp ? tmp : "/tmp", (long)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_fails(golden_read(path, &golden, &st), BN_INVALID, "not a regular file", &st);
    alarm(0);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, begin, end)
        WITH_FILE(a_difference_is_held_to_its_tolerance),
        WITH_FILE(what_is_not_finite_fails),
        WITH_FILE(logits_are_compared_at_both_ends),
        WITH_FILE(exchanged_logits_fail_though_their_norm_is_right),
        WITH_FILE(inputs_are_exact),
        WITH_FILE(each_step_has_its_own_tolerance),
        WITH_FILE(gradients_near_zero_are_held_to_the_whole),
        WITH_FILE(parameters_moved_by_noise_are_left_out),
        WITH_FILE(tables_show_the_worst_and_all_that_failed),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(decoding_is_compared_token_by_token),
        cmocka_unit_test(damage_of_decoding_is_named),
        cmocka_unit_test(decoding_that_no_model_does_is_refused),
        cmocka_unit_test(every_cut_is_an_error),
        cmocka_unit_test(what_is_too_deep_or_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
