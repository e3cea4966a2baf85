/* test_harness.c - options, combinations, the warm-up rule and the slope. */
#include "harness/options.h"
#include "harness/worker/worker.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of all that is parsed in one test. */
static bn_arena *memory;

static int begin(void **state)
{
    memory = bn_arena_new(4096);
    return memory ? 0 : -1;
}

static int end(void **state)
{
    bn_arena_free(memory);
    return 0;
}

static options parse(unsigned command, char **argv, int argc)
{
    options o;
    bn_status st = {0};
    const char *word[1];
    int words;
    assert_ok(options_parse(command, argc, argv, memory, &o, word, 1, &words, &st), &st);
    return o;
}

static void parse_fails(unsigned command, char *one, char *two, const char *text)
{
    options o;
    bn_status st = {0};
    const char *word[1];
    int words;
    char *argv[] = {one, two};
    assert_fails(options_parse(command, two ? 2 : 1, argv, memory, &o, word, 1, &words, &st),
                 BN_INVALID, text, &st);
}

static void options_take_values_and_defaults(void **state)
{
    (void)state;
    char *argv[] = {"--model", "resnet18",         "--steps=7", "--runtime-option",
                    "a=1",     "--runtime-option", "b=2",       "--verbose"};
    options o = parse(OPTION_RUN, argv, 8);
    assert_string_equal(o.matrix.axis[RES_AXIS_MODEL].value[0].word, "resnet18");
    assert_string_equal(o.matrix.axis[RES_AXIS_MODE].value[0].word, "lazy");
    assert_int_equal(o.matrix.steps, 7);
    assert_string_equal(o.matrix.runtime_option[1], "b=2");
    assert_null(o.matrix.runtime_option[2]);
    assert_true(o.output.verbose);
    json_t *echo = cli_echo(options_table(), OPTION_RUN, &o);
    assert_string_equal(json_string_value(json_object_get(echo, "model")), "resnet18");
    assert_int_equal(json_integer_value(json_object_get(echo, "steps")), 7);
    assert_int_equal(json_array_size(json_object_get(echo, "runtime-option")), 2);
    json_decref(echo);
}

static void options_refuse_nonsense(void **state)
{
    (void)state;
    parse_fails(OPTION_RUN, "--fast", NULL, "no option --fast");
    parse_fails(OPTION_TABLE, "--steps", "3", "does not take --steps");
    parse_fails(OPTION_RUN, "--steps", "many", "'many'");
    parse_fails(OPTION_RUN, "--steps", "0", "from 1");
    parse_fails(OPTION_RUN, "--min-time", "-1", "from 0");
    parse_fails(OPTION_RUN, "--min-time", "nan", "nan");
    parse_fails(OPTION_RUN, "--model", NULL, "needs a value");
    parse_fails(OPTION_RUN, "--verbose=1", NULL, "takes no value");
    parse_fails(OPTION_RUN, "--runtime-option", "x", "NAME=VALUE");
}

static void every_option_is_in_help_and_man(void **state)
{
    (void)state;
    static const char *const wanted[][2] = {{"model", "model"},     {"mode", "mode"},
                                            {"phase", "phase"},     {"batch", "batch"},
                                            {"image", "image"},     {"dtype", "dtype"},
                                            {"graphs", "graphs"},   {"runtime", "runtime"},
                                            {"steps", "steps"},     {"min-time", "min\\-time"},
                                            {"warmup", "warmup"},   {"in-flight", "in\\-flight"},
                                            {"pin", "pin"},         {"cache-dir", "cache\\-dir"},
                                            {"store", "store"},     {"format", "format"},
                                            {"timeout", "timeout"}, {"seed", "seed"},
                                            {"verbose", "verbose"}};
    bn_text help = {0}, man = {0};
    cli_help(options_table(), OPTION_RUN, &help);
    cli_man(options_table(), &man);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char name[64];
        snprintf(name, sizeof name, "  --%s ", wanted[i][0]);
        assert_non_null(strstr(help.data, name));
        snprintf(name, sizeof name, ".B \\-\\-%s", wanted[i][1]);
        assert_non_null(strstr(man.data, name));
    }
    bn_text_free(&help);
    bn_text_free(&man);
}

static size_t expand(const options *o, job_experiment **list, bn_text *notes)
{
    size_t count;
    bn_status st = {0};
    assert_ok(job_matrix_expand(&o->matrix, list, &count, notes, &st), &st);
    return count;
}

static void lists_make_all_combinations(void **state)
{
    (void)state;
    char *argv[] = {"--model",     "all",      "--mode", "lazy,capture", "--phase",
                    "train,infer", "--graphs", "1,5",    "--batch",      "1,4"};
    options o = parse(OPTION_RUN, argv, 10);
    job_experiment *list;
    bn_text notes = {0};
    size_t models = 0;
    model_info info;
    while (model_describe(models, &info))
        models++;
    size_t count = expand(&o, &list, &notes);
    assert_int_equal(count, models * 2 * (3 + 2)); /* whole each; training captured in five, too */
    assert_non_null(strstr(notes.data, "not train lazy; left out"));
    for (size_t i = 0; i < count; i++) {
        json_t *json = job_experiment_to_json(&list[i]);
        job_experiment back;
        bn_status st = {0};
        assert_non_null(json);
        assert_ok(job_experiment_from_json(json, &back, &st), &st);
        assert_memory_equal(&back.what, &list[i].what, sizeof back.what);
        assert_int_equal(back.steps, list[i].steps);
        assert_null(back.weights);
        json_decref(json);
    }
    free(list);
    bn_text_free(&notes);
}

static void weights_are_of_one_model(void **state)
{
    (void)state;
    char *argv[] = {"--weights", "w.safetensors", "--model", "resnet18", "--mode", "lazy,eager"};
    options o = parse(OPTION_RUN, argv, 6);
    job_experiment *list = NULL, back;
    bn_text notes = {0};
    bn_status st = {0};
    size_t count = expand(&o, &list, &notes);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        json_t *json = job_experiment_to_json(&list[i]);
        assert_ok(job_experiment_from_json(json, &back, &st), &st);
        assert_string_equal(back.weights, "w.safetensors");
        json_decref(json);
    }
    free(list);
    list = NULL;
    argv[3] = "resnet18,resnet50";
    o = parse(OPTION_RUN, argv, 6);
    assert_fails(job_matrix_expand(&o.matrix, &list, &count, &notes, &st), BN_INVALID, "--weights",
                 &st);
    free(list);
    bn_text_free(&notes);
}

static bn_code parse_and_expand(char **argv, int argc, job_experiment **list, bn_text *notes,
                                bn_status *st)
{
    options o;
    size_t count;
    int words;
    bn_code code = options_parse(OPTION_RUN, argc, argv, memory, &o, NULL, 0, &words, st);
    return code == BN_OK ? job_matrix_expand(&o.matrix, list, &count, notes, st) : code;
}

static void unknown_names_are_listed(void **state)
{
    (void)state;
    static const struct {
        char *option, *value;
        const char *text;
    } wrong[] = {{"--model", "resnet99", "resnet50"},
                 {"--mode", "fast", "capture"},
                 {"--phase", "test", "infer"},
                 {"--dtype", "f8", "bf16"},
                 {"--graphs", "4", "1, 2, 3, 5"},
                 {"--batch", "x", "'x'"},
                 {"--layout", "hwcn", "nchw"},
                 {"--model", "resnet50,,", "empty"},
                 {"--graphs", "2", "only training steps in capture"},
                 {"--in-flight", "0", "from 1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *argv[] = {wrong[i].option, wrong[i].value};
        job_experiment *list = NULL;
        bn_text notes = {0};
        bn_status st = {0};
        assert_fails(parse_and_expand(argv, 2, &list, &notes, &st), BN_INVALID, wrong[i].text, &st);
        free(list);
        bn_text_free(&notes);
    }
}

static void warm_up_ends_by_rule(void **state)
{
    (void)state;
    uint64_t falling[] = {900, 800, 700, 600, 500, 400, 300, 200, 100, 90};
    uint64_t steady[] = {900, 500, 101, 99, 100, 102, 98, 101, 100, 99};
    int64_t none[10] = {0}, late[10] = {0};
    late[5] = 1;
    assert_false(worker_warm(steady, none, WORKER_WARM_WINDOW - 1));
    assert_false(worker_warm(falling, none, 10));
    assert_true(worker_warm(steady, none, 10));
    assert_false(worker_warm(steady, late, 10));
}

static void the_slope_finds_device_time(void **state)
{
    (void)state;
    const unsigned repeat[] = {1, 2, 3, 4, 6};
    double times[16 * 5];
    uint64_t x = 12345;
    for (size_t r = 0; r < 16; r++)
        for (size_t i = 0; i < 5; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            double jitter = (double)(x >> 40) / (1 << 24) * 2e4; /* up to 20 us, one-sided */
            times[r * 5 + i] = 3e6 + 17.85e6 * repeat[i] + jitter;
        }
    times[7] += 40e6; /* an interruption must not tilt the line */
    worker_slope fit = worker_slope_fit(repeat, 5, times, 16);
    assert_true(fabs(fit.slope_ns - 17.85e6) < 1e4);
    assert_true(fit.low_ns <= fit.slope_ns && fit.slope_ns <= fit.high_ns);
    assert_true(fit.high_ns - fit.low_ns < 2e4);
    assert_true(fabs(fit.intercept_ns - 3e6) < 3e4);
    assert_true(isnan(worker_slope_fit(repeat, 1, times, 16).slope_ns));
}

static void failures_have_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(cli_exit_for(BN_OK), 0);
    assert_int_equal(cli_exit_for(BN_INVALID), 2);
    assert_int_equal(cli_exit_for(BN_IO), 3);
    assert_int_equal(cli_exit_for(BN_PLUGIN), 3);
    assert_int_equal(cli_exit_for(BN_CRASH), 1);
    assert_int_equal(cli_exit_for(BN_CANCELLED), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_take_values_and_defaults, begin, end),
        cmocka_unit_test_setup_teardown(options_refuse_nonsense, begin, end),
        cmocka_unit_test(every_option_is_in_help_and_man),
        cmocka_unit_test_setup_teardown(lists_make_all_combinations, begin, end),
        cmocka_unit_test_setup_teardown(weights_are_of_one_model, begin, end),
        cmocka_unit_test_setup_teardown(unknown_names_are_listed, begin, end),
        cmocka_unit_test(warm_up_ends_by_rule),
        cmocka_unit_test(the_slope_finds_device_time),
        cmocka_unit_test(failures_have_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
