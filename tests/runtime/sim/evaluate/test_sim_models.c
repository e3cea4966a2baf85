/*
 * test_sim_models.c - the simulator's evaluator against the default runtime, with
 * what bench itself lowers: every sample of every op, and whole training steps
 * of small models.
 */
#include "tests/models/model_fixture.h"
#include "tests/support/device_fixture.h"
#include "tests/support/evaluator.h"
#include "tests/support/samples.h"
#include "tests/support/sim_compare.h"

#define MAX_SAMPLES 400

/* The one graph of T as text, with its inputs' bytes from FILL. */
static void compare_trace(tg_trace *t, const char *name,
                          void *(*fill)(const tg_tensor *input, void *context), void *context,
                          double factor)
{
    static const unsigned one_group[TG_PHASE_COUNT] = {0};
    bn_status st = {0};
    bn_text text = {0};
    tg_graph *const *graphs;
    size_t count;
    assert_ok(tg_trace_status(t, &st), &st);
    assert_ok(tg_trace_cut(t, one_group, NULL, &graphs, &count, &st), &st);
    assert_int_equal(count, 1);
    tg_graph_lower(graphs[0], "step", &text);
    void **arguments = calloc(graphs[0]->input_count + 1, sizeof *arguments);
    assert_non_null(arguments);
    for (size_t i = 0; i < graphs[0]->input_count; i++)
        arguments[i] = fill(graphs[0]->inputs[i], context);
    sim_compare_run(client, name, text.data, text.length, arguments, factor);
    sim_compare_free(arguments, (int)graphs[0]->input_count);
    bn_text_free(&text);
}

/* ---- samples ----------------------------------------------------------------------- */

/* Contents of a variable are its data, as doubles. */
static void *packed(const tg_tensor *input, void *context)
{
    const tg_type *type = tg_tensor_type(input);
    void *bytes = malloc((size_t)tg_type_bytes(type) + 1);
    assert_non_null(bytes);
    evaluator_pack(type->dtype, tg_tensor_data(tg_input_variable(input)), bytes,
                   tg_type_elements(type));
    return bytes;
}

static tg_tensor *variables[MAX_SAMPLES * (SAMPLE_OPERANDS + 4)];
static size_t variable_count;

static tg_tensor *filled(const sample *s, size_t k, const tg_type *type)
{
    tg_tensor *variable = tg_variable_new("operand", type);
    double *contents = malloc(((size_t)tg_type_elements(type) + 1) * sizeof *contents);
    assert_non_null(variable);
    assert_non_null(contents);
    sample_fill(s, k, contents);
    tg_tensor_set_data(variable, contents);
    variables[variable_count++] = variable;
    return variable;
}

static void keep(tg_trace *t, tg_tensor *value)
{
    tg_tensor *variable = tg_variable_new("output", tg_tensor_type(value));
    assert_non_null(variable);
    tg_assign(t, variable, value);
    variables[variable_count++] = variable;
}

static void variables_drop(void)
{
    while (variable_count > 0) {
        tg_tensor *variable = variables[--variable_count];
        free(tg_tensor_data(variable));
        tg_variable_free(variable);
    }
}

static void samples_are_as_on_the_device(void **state)
{
    tg_trace *t = tg_trace_new();
    const sample *s;
    for (size_t i = 0; (s = sample_at(i)); i++) {
        tg_tensor *x[SAMPLE_OPERANDS] = {NULL};
        assert_true(i < MAX_SAMPLES);
        for (size_t k = 0; k < s->count; k++)
            x[k] = filled(s, k, &s->in[k].type);
        tg_tensor *y = s->build(t, x, s);
        for (unsigned r = 0; r < y->node->result_count; r++)
            keep(t, tg_emit_result(y, r));
    }
    compare_trace(t, "samples", packed, NULL, 1);
    tg_trace_free(t);
    variables_drop();
}

/* ---- models -------------------------------------------------------------------------- */

static void *initial(const tg_tensor *input, void *context)
{
    const model *m = context;
    size_t count;
    const model_variable *v = model_variables(m, &count);
    void *bytes = malloc((size_t)tg_type_bytes(tg_tensor_type(input)) + 1);
    bn_status st = {0};
    size_t found = 0; /* like layers share a tensor */
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++)
        if (v[i].tensor == tg_input_variable(input)) {
            const size_t part = (size_t)tg_type_bytes(&v[i].shape);
            assert_ok(model_initial(&v[i], 0, (char *)bytes + (size_t)v[i].layer * part, &st), &st);
            found++;
        }
    if (found == 0)
        fail_msg("input %s is no variable of the model", tg_tensor_name(input));
    return bytes;
}

/* Sums over whole tensors in another order: 1e-4 of parameters, results and loss. */
static void check_step(const char *name, model_options options)
{
    tg_trace *t = tg_trace_new();
    model *m = make_model(name, options);
    tg_trace_begin(t);
    model_step(t, m);
    compare_trace(t, name, initial, m, 25);
    tg_trace_free(t);
    model_free(m);
}

/* One of each kind; compiling is what takes the time. */
static void training_steps_are_as_on_the_device(void **state)
{
    static const char *const names[] = {"resnet18", "gpt2", "transformer_wmt_en_de"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_step(names[i], (model_options){.small = true, .train = true, .batch = 2});
    check_step("gpt2", (model_options){.small = true, .train = true, .scan = true, .batch = 2});
    /* Recomputation behind barriers, and annotations of where values are. */
    check_step("gpt2", (model_options){.small = true,
                                       .train = true,
                                       .scan = true,
                                       .remat = TG_REMAT_LAYER,
                                       .offload = true,
                                       .batch = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_as_on_the_device),
        cmocka_unit_test(training_steps_are_as_on_the_device),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
