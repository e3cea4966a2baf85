/* test_plan.c - a step as graphs without a runtime: the same graphs that modes compile. */
#include "tests/modes/fit_fixture.h"

#include <stdlib.h>

static mode_plan *planned(fit *f, unsigned graphs)
{
    mode_plan *plan = NULL;
    bn_status st = {0};
    assert_ok(mode_plan_new(&(mode_call){.function = fit_step, .context = f},
                            &(mode_plan_cut){.graphs = graphs}, TG_PRECISION_DEFAULT, &plan, &st),
              &st);
    return plan;
}

static bn_text lowered(const mode_plan *plan, size_t graph, const tg_layouts *layouts)
{
    bn_text text = {0};
    mode_plan_lower(plan, graph, layouts, &text);
    return text;
}

static void texts_are_those_of_the_modes(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        unsigned graphs;
    } rows[] = {{"lazy", 1}, {"capture", 1}, {"capture", 2}, {"capture", 3}, {"capture", 5}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        mode *m = mode_new(rows[k].mode, &(mode_options){.graphs = rows[k].graphs});
        fit f = fit_new(m);
        run_steps(m, &f, 1);
        mode_plan *plan = planned(&f, rows[k].graphs);
        assert_int_equal(mode_plan_count(plan), mode_execution_count(m));
        for (size_t i = 0; i < mode_plan_count(plan); i++) {
            const mode_execution *ran = mode_execution_at(m, i);
            const mode_plan_graph *info = mode_plan_describe(plan, i);
            size_t length = 0;
            const char *text = mode_execution_text(m, i, &length);
            bn_text own = lowered(plan, i, NULL);
            assert_string_equal(own.data, text);
            assert_int_equal(own.length, length);
            assert_string_equal(info->label, ran->label);
            assert_int_equal(info->input_count, ran->argument_count);
            assert_int_equal(info->output_count, ran->result_count);
            assert_true(info->cost.flops == ran->flops);
            bn_text_free(&own);
        }
        mode_plan_free(plan);
        fit_free(m, &f);
        mode_destroy(m);
    }
    mode_plan_free(NULL);
}

/* In three graphs the forward one hands x and the error, or what is made of them, to the backward
 * one, and that the gradient to the update. */
static void values_between_graphs_are_found(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    mode_plan *plan = planned(&f, 3);
    size_t from, output, found = 0;
    assert_int_equal(mode_plan_count(plan), 3);
    for (size_t g = 0; g < 3; g++)
        for (size_t i = 0; i < mode_plan_describe(plan, g)->input_count; i++)
            if (mode_plan_source(plan, g, i, &from, &output)) {
                assert_true(from < g);
                assert_true(output < mode_plan_describe(plan, from)->output_count);
                assert_true(mode_plan_is_temporary(plan, from, output));
                found++;
            }
    assert_true(found >= 2);
    for (size_t o = 0; o < mode_plan_describe(plan, 2)->output_count; o++)
        assert_false(mode_plan_is_temporary(plan, 2, o)); /* w and momentum */
    mode_plan_free(plan);
    fit_free(m, &f);
    mode_destroy(m);
}

static void layouts_are_written(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    mode_plan *plan = planned(&f, 3);
    const size_t inputs = mode_plan_describe(plan, 2)->input_count,
                 outputs = mode_plan_describe(plan, 0)->output_count;
    const char **list = calloc(inputs + outputs, sizeof *list);
    assert_non_null(list);
    for (size_t i = 0; i < inputs; i++)
        list[i] = "{0:T(256)}";
    bn_text taken = lowered(plan, 2, &(tg_layouts){.inputs = list});
    /* Those of arguments that are donated are next to the donation. */
    assert_non_null(strstr(taken.data, "{mhlo.layout_mode = \"{0:T(256)}\"}"));
    assert_non_null(
        strstr(taken.data, "{mhlo.layout_mode = \"{0:T(256)}\", tf.aliasing_output = 0 : i32}"));
    assert_null(strstr(taken.data, "\"auto\""));
    list[0] = "auto";
    for (size_t o = 1; o < outputs; o++)
        list[o] = NULL;
    bn_text given = lowered(plan, 0, &(tg_layouts){.outputs = list});
    const char *results = strstr(given.data, "->");
    assert_non_null(results);
    assert_non_null(strstr(results, "{mhlo.layout_mode = \"auto\"}"));
    assert_null(strstr(strstr(results, "auto") + 1, "auto"));
    bn_text_free(&taken);
    bn_text_free(&given);
    free(list);
    mode_plan_free(plan);
    fit_free(m, &f);
    mode_destroy(m);
}

static void what_cannot_be_planned_is_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    mode_plan *plan = NULL;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    const mode_call call = {.function = fit_step, .context = &f};
    assert_fails(mode_plan_new(&call, &(mode_plan_cut){.graphs = 4}, TG_PRECISION_DEFAULT, &plan, &st), BN_INVALID, "1|2|3|5|4",
                 &st);
    f.branch = true;
    assert_fails(mode_plan_new(&call, &(mode_plan_cut){.graphs = 1}, TG_PRECISION_DEFAULT, &plan, &st), BN_NOT_SUPPORTED,
                 "read", &st);
    assert_null(plan);
    fit_free(m, &f);
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_of_the_modes),
        cmocka_unit_test(values_between_graphs_are_found),
        cmocka_unit_test(layouts_are_written),
        cmocka_unit_test(what_cannot_be_planned_is_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
