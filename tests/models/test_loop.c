/*
 * test_loop.c - several steps in one program: losses, parameters and all other state are those of
 * as many single steps, one step is the program that it was, state is donated, and steps in which
 * the host takes part are refused. All models: test_full_loop.c.
 */
#define _GNU_SOURCE
#include "tests/models/loop_fixture.h"

/* Masks of dropout, a loop within the loop, and the other optimizer's counter of steps. */
static void state_of_all_kinds_is_carried(void **state)
{
    (void)state;
    check_training("gpt2", "lazy", (model_options){.optimizer = MODEL_SGD});
    check_training("llama", "capture", (model_options){.scan = true});
    check_training("bert", "lazy", (model_options){.scan = true, .remat = TG_REMAT_LAYER});
    check_training("resnet18", "lazy", (model_options){.optimizer = MODEL_ADAMW});
}

static void inference_puts_out_each_step(void **state)
{
    (void)state;
    work one = begin("resnet18", "lazy", (model_options){0});
    work loop = begin("resnet18", "capture", (model_options){.steps = STEPS});
    const size_t elements = (size_t)tg_type_elements(&model_find(one.m, "logits")->shape);
    double *single = malloc(STEPS * elements * sizeof *single);
    double *looped = malloc(STEPS * elements * sizeof *looped);
    run(&one, STEPS, 1, "logits", single);
    run(&loop, 1, STEPS, "logits", looped);
    for (size_t i = 0; i < STEPS * elements; i++)
        assert_true(fabs(single[i] - looped[i]) <= 1e-5 * fabs(single[i]) + 1e-6);
    assert_true(single[0] != single[elements]);
    free(single);
    free(looped);
    end(&one);
    end(&loop);
}

/* The text of the one program of NAME's training with STEPS steps a call (malloc). */
static char *text_of(const char *name, int steps)
{
    double *losses = malloc(STEPS * sizeof *losses);
    work w = begin(name, "lazy", (model_options){.train = true, .steps = steps});
    size_t length;
    run(&w, 1, steps ? steps : 1, "loss", losses);
    char *text = bn_strdup(mode_execution_text(w.way, 0, &length));
    end(&w);
    free(losses);
    return text;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

static void one_step_is_the_same_program(void **state)
{
    (void)state;
    char *plain = text_of("resnet18", 0), *one = text_of("resnet18", 1);
    char *four = text_of("resnet18", 4);
    assert_string_equal(plain, one);
    assert_int_equal(count_of(plain, "stablehlo.while"), 0);
    assert_int_equal(count_of(four, "stablehlo.while"), 1);
    /* All state of a step is donated, in a loop as without one. */
    const size_t donated = count_of(plain, "tf.aliasing_output");
    assert_true(donated > 0);
    assert_int_equal(count_of(four, "tf.aliasing_output"), donated);
    free(plain);
    free(one);
    free(four);
}

static void memory_stays(void **state)
{
    (void)state;
    double losses[STEPS];
    work w = begin("resnet18", "capture", (model_options){.train = true, .steps = STEPS});
    run(&w, 1, STEPS, "loss", losses);
    const int64_t buffers = rt_live().buffers;
    for (int i = 0; i < 5; i++)
        run(&w, 1, STEPS, "loss", losses);
    assert_int_equal(rt_live().buffers, buffers);
    end(&w);
}

/* The trace does not grow with the number of steps. */
static void tracing_is_of_one_step(void **state)
{
    (void)state;
    size_t nodes[2];
    for (int i = 0; i < 2; i++) {
        model *m = NULL;
        bn_status st = {0};
        const model_options o = {
            .small = true, .train = true, .dtype = TG_F32, .steps = i ? 64 : 2};
        assert_ok(model_new("bert", &o, &m, &st), &st);
        tg_trace *t = tg_trace_new();
        tg_trace_begin(t);
        model_step(t, m);
        assert_ok(tg_trace_status(t, &st), &st);
        nodes[i] = tg_trace_traced(t);
        tg_trace_free(t);
        model_free(m);
    }
    assert_int_equal(nodes[0], nodes[1]);
}

static void steps_of_the_host_are_refused(void **state)
{
    (void)state;
    /* Where nothing but the device decides what a step does, it runs in a loop. */
    static const char *const device[] = {"example_select",   "example_shapes", "example_one_dtype",
                                         "example_identity", "example_mask",   "example_train"};
    const size_t device_count = sizeof device / sizeof *device;
    size_t taken = 0;
    model_info info;
    for (size_t i = 0; model_describe_example(i, &info); i++) {
        model *m = NULL;
        bn_status st = {0};
        const model_options o = {.train = true, .dtype = TG_F32, .steps = 2};
        bn_code wanted = BN_INVALID;
        for (size_t k = 0; k < device_count; k++)
            if (strcmp(device[k], info.name) == 0)
                wanted = BN_OK;
        if (model_new(info.name, &o, &m, &st) != wanted)
            fail_msg("%s: %s", info.name, st.message);
        taken += wanted == BN_OK;
        model_free(m);
    }
    assert_int_equal(taken, device_count);
    const model_options wrong[] = {
        {.small = true, .train = true, .dtype = TG_F32, .steps = -1},
        {.small = true, .train = true, .dtype = TG_F32, .steps = 5000},
        {.small = true, .train = true, .dtype = TG_F32, .steps = 2, .scan = true, .offload = true},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        model *m = NULL;
        bn_status st = {0};
        assert_int_equal(model_new("llama", &wrong[i], &m, &st), BN_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_of_all_kinds_is_carried),
        cmocka_unit_test(inference_puts_out_each_step),
        cmocka_unit_test(one_step_is_the_same_program),
        cmocka_unit_test(memory_stays),
        cmocka_unit_test(tracing_is_of_one_step),
        cmocka_unit_test(steps_of_the_host_are_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
