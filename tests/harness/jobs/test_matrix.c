/* test_matrix.c - matrices become experiments, and experiments travel as JSON. */
#include "tests/harness/options_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t expand(const job_matrix *m, job_experiment **list, bn_text *notes)
{
    size_t count;
    bn_status st = {0};
    assert_ok(job_matrix_expand(m, list, &count, notes, &st), &st);
    return count;
}

static void lists_make_all_combinations(void **state)
{
    (void)state;
    char *argv[] = {"--model",     "all",      "--mode", "lazy,capture", "--phase",
                    "train,infer", "--graphs", "1,5",    "--batch",      "1,4"};
    job_matrix *m = parse_matrix(argv, 10);
    job_experiment *list;
    bn_text notes = {0};
    size_t models = 0;
    model_info info;
    while (model_describe(models, &info))
        models++;
    size_t count = expand(m, &list, &notes);
    assert_int_equal(count, models * 2 * (3 + 2)); /* whole each; training captured in five, too */
    assert_non_null(strstr(notes.data, " train lazy;"));
    for (size_t i = 0; i < count; i++) {
        json_t *json = job_experiment_to_json(&list[i]);
        job_experiment back;
        bn_status st = {0};
        assert_non_null(json);
        assert_ok(job_experiment_from_json(json, &back, &st), &st);
        assert_memory_equal(&back.what, &list[i].what, sizeof back.what);
        assert_int_equal(back.how.steps, list[i].how.steps);
        assert_null(back.how.weights);
        json_decref(json);
    }
    free(list);
    bn_text_free(&notes);
}

static void weights_are_of_one_model(void **state)
{
    (void)state;
    char *argv[] = {"--weights", "w.safetensors", "--model", "resnet18", "--mode", "lazy,eager"};
    job_matrix *m = parse_matrix(argv, 6);
    job_experiment *list = NULL, back;
    bn_text notes = {0};
    bn_status st = {0};
    size_t count = expand(m, &list, &notes);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        json_t *json = job_experiment_to_json(&list[i]);
        assert_ok(job_experiment_from_json(json, &back, &st), &st);
        assert_string_equal(back.how.weights, "w.safetensors");
        json_decref(json);
    }
    free(list);
    list = NULL;
    argv[3] = "resnet18,resnet50";
    m = parse_matrix(argv, 6);
    assert_fails(job_matrix_expand(m, &list, &count, &notes, &st), BN_INVALID, "--weights",
                 &st);
    free(list);
    bn_text_free(&notes);
}

static bn_code parse_and_expand(char **argv, int argc, job_experiment **list, bn_text *notes,
                                bn_status *st)
{
    job_matrix *m;
    size_t count;
    bn_code code = read_matrix(argv, argc, &m, st);
    return code == BN_OK ? job_matrix_expand(m, list, &count, notes, st) : code;
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

/* Half a path could be another runtime's, and nobody waits for a million experiments. */
static void too_long_and_too_many_are_refused(void **state)
{
    (void)state;
    char runtime[300], numbers[200] = "1", *argv[] = {"--runtime", runtime};
    job_experiment *list = NULL;
    bn_text notes = {0};
    bn_status st = {0};
    size_t count;
    job_matrix *m = parse_matrix(NULL, 0);
    memset(runtime, 'r', sizeof runtime - 1);
    runtime[sizeof runtime - 1] = '\0';
    assert_fails(parse_and_expand(argv, 2, &list, &notes, &st), BN_INVALID, "too long", &st);
    job_matrix_set(m, RES_AXIS_RUNTIME, runtime);
    assert_fails(job_matrix_expand(m, &list, &count, &notes, &st), BN_INVALID, "--runtime", &st);
    for (int i = 2; i <= 48; i++)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), ",%d", i);
    char *many[] = {"--batch", numbers, "--seq", numbers, "--image", numbers, "--depth", numbers};
    assert_fails(parse_and_expand(many, 8, &list, &notes, &st), BN_INVALID, "more than 1000000",
                 &st);
    bn_text_free(&notes);
}

static void settings_are_what_the_record_will_say(void **state)
{
    (void)state;
    char *argv[] = {"--model",          "resnet18", "--mode",           "lazy",
                    "--runtime-option", "a=1\tb",   "--runtime-option", "c=\x1b[1m\n"};
    job_experiment *list = NULL;
    bn_text notes = {0};
    job_matrix *m = parse_matrix(argv, 8);
    assert_int_equal(expand(m, &list, &notes), 1);
    assert_string_equal(list[0].what.settings, "a=1 b c=?[1m ");
    free(list);
    bn_text_free(&notes);
}

/* A suite would not know its own record again if half a character became a '?' on the way. */
static void long_settings_are_cut_between_characters(void **state)
{
    (void)state;
    enum { CHARACTERS = 200 };
    /* Of these lengths the limit falls once behind the first byte of a character. */
    for (int more = 0; more < 2; more++) {
        char option[2 * CHARACTERS + 8] = "a=x";
        char *argv[] = {"--model", "resnet18", "--mode", "lazy", "--runtime-option", option};
        job_experiment *list = NULL;
        bn_text notes = {0};
        option[2 + more] = '\0';
        for (int i = 0; i < CHARACTERS; i++)
            strcat(option, "\xc3\xa9");
        job_matrix *m = parse_matrix(argv, 6);
        assert_int_equal(expand(m, &list, &notes), 1);
        assert_true(bn_is_plain(list[0].what.settings));
        assert_non_null(strstr(list[0].what.settings, "\xc3\xa9...#"));
        free(list);
        bn_text_free(&notes);
    }
}

/* A request of a recorded step, as far as experiments look at it. */
static json_t *step_request(const char *cost)
{
    return json_pack("{ss ss ss s[] s[] s[]}", "name", "train", "sha256",
                     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "cost",
                     cost, "programs", "inputs", "runs");
}

/* Lists of models say nothing of them. */
static job_matrix *step_matrix(json_t *request)
{
    char *argv[] = {"--runtime", "cpu,sim", "--model", "resnet18,gpt2", "--seed", "3"};
    job_matrix *m = parse_matrix(argv, 6);
    m->request = request;
    m->axis[RES_AXIS_MODE].count = 0;
    return m;
}

static void recorded_steps_run_in_their_modes(void **state)
{
    (void)state;
    json_t *request = step_request("recorded");
    job_experiment *list = NULL;
    bn_text notes = {0};
    char title[256];
    job_matrix *m = step_matrix(request);
    assert_int_equal(expand(m, &list, &notes), 4);
    for (size_t i = 0; i < 4; i++) {
        const res_experiment *what = &list[i].what;
        res_experiment resolved;
        job_experiment back;
        bn_status st = {0};
        assert_ptr_equal(list[i].program, request);
        assert_string_equal(what->model, "train");
        assert_string_equal(what->variant, "step 0123456789ab");
        assert_string_equal(what->phase, "program");
        assert_string_equal(what->mode, i % 2 ? "replay-awaited" : "replay");
        assert_string_equal(what->runtime, i < 2 ? "cpu" : "sim");
        assert_int_equal(what->seed, 3);
        /* A suite knows its records again by what it asked for. */
        job_experiment_resolve(&list[i], &resolved);
        assert_memory_equal(&resolved, what, sizeof resolved);
        json_t *json = job_experiment_to_json(&list[i]);
        assert_ok(job_experiment_from_json(json, &back, &st), &st);
        assert_memory_equal(&back.what, what, sizeof back.what);
        json_decref(json);
    }
    assert_true(job_same_group(&list[0], &list[1]));
    assert_false(job_same_group(&list[1], &list[2]));
    job_experiment_title(&list[3], title, sizeof title);
    assert_string_equal(title, "train replay-awaited on sim");
    free(list);
    job_matrix_set(m, RES_AXIS_MODE, "replay");
    assert_int_equal(expand(m, &list, &notes), 2);
    free(list);
    /* With the host's time only where somebody asks for it. */
    job_matrix_set(m, RES_AXIS_MODE, "all");
    assert_int_equal(expand(m, &list, &notes), 6);
    assert_string_equal(list[2].what.mode, "replay-paced");
    assert_int_equal(list[2].what.in_flight, 1);
    assert_true(job_same_group(&list[0], &list[2]));
    free(list);
    /* A host that did not wait before each next step. */
    json_object_set_new(request, "host", json_pack("{sb}", "ahead", 1));
    assert_int_equal(expand(m, &list, &notes), 6);
    assert_int_equal(list[0].what.in_flight, 1);
    assert_int_equal(list[2].what.in_flight, 2);
    free(list);
    json_decref(request);
    bn_text_free(&notes);
}

static void other_costs_are_other_experiments(void **state)
{
    (void)state;
    json_t *requests[2] = {step_request("recorded"), step_request("roofline")};
    job_experiment *lists[2];
    bn_text notes = {0};
    for (int i = 0; i < 2; i++) {
        job_matrix *m = step_matrix(requests[i]);
        assert_int_equal(expand(m, &lists[i], &notes), 4);
    }
    assert_true(job_same_step(&lists[0][0], &lists[1][0]));
    assert_string_equal(lists[1][0].what.variant, "step 0123456789ab roofline");
    assert_false(job_same_group(&lists[0][0], &lists[1][0]));
    for (int i = 0; i < 2; i++) {
        free(lists[i]);
        json_decref(requests[i]);
    }
    bn_text_free(&notes);
}

static void what_recorded_steps_do_not_have_is_refused(void **state)
{
    (void)state;
    json_t *request = step_request("recorded");
    job_experiment *list = NULL;
    bn_text notes = {0};
    bn_status st = {0};
    size_t count;
    job_matrix *m = step_matrix(request);
    job_matrix_set(m, RES_AXIS_MODE, "lazy");
    assert_fails(job_matrix_expand(m, &list, &count, &notes, &st), BN_INVALID,
                 "--mode: there is no 'lazy'; there is replay, replay-awaited, replay-paced", &st);
    m = step_matrix(request);
    job_matrix_set_number(m, RES_AXIS_IN_FLIGHT, 2);
    assert_fails(job_matrix_expand(m, &list, &count, &notes, &st), BN_INVALID,
                 "--in-flight", &st);
    m = step_matrix(request);
    m->how.weights = "w.safetensors";
    assert_fails(job_matrix_expand(m, &list, &count, &notes, &st), BN_INVALID, "--weights",
                 &st);
    /* Nor has a model what they have. */
    m = step_matrix(NULL);
    job_matrix_set(m, RES_AXIS_MODE, "replay");
    assert_fails(job_matrix_expand(m, &list, &count, &notes, &st), BN_INVALID,
                 "--mode: there is no 'replay'; there is eager", &st);
    json_decref(request);
    bn_text_free(&notes);
}

/* Each front end has modes of its own; what one has not is left out, and said once. */
static void front_ends_have_modes_of_their_own(void **state)
{
    (void)state;
    char *argv[] = {"--front-end", "all", "--mode", "all", "--phase", "train,infer"};
    job_matrix *m = parse_matrix(argv, 6);
    job_experiment *list = NULL;
    bn_text notes = {0}, unused = {0};
    size_t own = 0, others = 0, modes = 0;
    mode_info info;
    const size_t count = expand(m, &list, &notes);
    while (mode_describe(modes, &info))
        modes++;
    for (size_t i = 0; i < count; i++) {
        const res_experiment *w = &list[i].what;
        assert_true(job_front_end_has_mode(w->front_end, w->mode, w->phase));
        own += !job_is_framework(w);
        others += job_is_framework(w);
        assert_true(job_same_group(&list[i], &list[0]) ==
                    (strcmp(w->phase, list[0].what.phase) == 0));
    }
    assert_int_equal(own, 2 * modes);
    assert_int_equal(others, 3 + 2 + 4 + 3);
    assert_non_null(strstr(notes.data, " jax "));
    assert_non_null(strstr(notes.data, "mode lazy;"));
    assert_non_null(strstr(notes.data, "mode parts "));
    free(list);
    bn_text_free(&notes);
    /* Without others, all modes are bench's. */
    char *alone[] = {"--mode", "all"};
    m = parse_matrix(alone, 2);
    assert_int_equal(expand(m, &list, &notes), modes);
    assert_int_equal(notes.length, 0);
    free(list);
    assert_false(job_axis_takes(RES_AXIS_FRONT_END, "tinygrad", &unused));
    assert_string_equal(unused.data, "bench, jax, pytorch-xla");
    bn_text_free(&unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_make_all_combinations, begin, end),
        cmocka_unit_test_setup_teardown(weights_are_of_one_model, begin, end),
        cmocka_unit_test_setup_teardown(unknown_names_are_listed, begin, end),
        cmocka_unit_test_setup_teardown(too_long_and_too_many_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(settings_are_what_the_record_will_say, begin, end),
        cmocka_unit_test_setup_teardown(long_settings_are_cut_between_characters, begin, end),
        cmocka_unit_test_setup_teardown(recorded_steps_run_in_their_modes, begin, end),
        cmocka_unit_test_setup_teardown(other_costs_are_other_experiments, begin, end),
        cmocka_unit_test_setup_teardown(what_recorded_steps_do_not_have_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(front_ends_have_modes_of_their_own, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
