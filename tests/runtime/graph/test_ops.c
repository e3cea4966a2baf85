/*
 * test_ops.c - every row of the op table against its definition: FLOPs, results
 * of the real plugin, and gradients, which are compared with differences of the
 * naive evaluator (tests/support/evaluator.h) and with the plugin.
 *
 * The tests walk the table: a row without a sample, or a differentiable one
 * without a sample to differentiate, fails. Values that the specification leaves
 * open are judged by a test of their own, which the sample names.
 */
#include "runtime/graph/trace_priv.h"
#include "tests/support/device_fixture.h"
#include "tests/support/evaluator.h"
#include "tests/support/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_SAMPLES 400

/* ---- samples in a trace ----------------------------------------------------------- */

/* One sample traced, with what hangs on it. Contents of variables are their
 * data. */
typedef struct traced {
    const sample *s;
    tg_tensor *operands[SAMPLE_OPERANDS]; /* variables */
    tg_tensor *probe;                     /* variable: weights of the results */
    tg_tensor *result;                    /* first result of the node */
    tg_tensor *loss;                      /* sum of result x probe */
    tg_tensor *grads[SAMPLE_OPERANDS];    /* NULL where the operand is no float */
    char name[160];
} traced;

static void name_sample(traced *it)
{
    bn_text text = {0};
    bn_text_puts(&text, it->s->op);
    for (size_t k = 0; k < it->s->count; k++) {
        bn_text_putc(&text, ' ');
        tg_type_write(&it->s->in[k].type, &text);
    }
    snprintf(it->name, sizeof it->name, "%s", text.data);
    bn_text_free(&text);
}

static tg_tensor *filled(const sample *s, size_t k, const tg_type *type)
{
    tg_tensor *variable = tg_variable_new("operand", type);
    double *contents = malloc(((size_t)tg_type_elements(type) + 1) * sizeof *contents);
    assert_non_null(variable);
    assert_non_null(contents);
    sample_fill(s, k, contents);
    tg_tensor_set_data(variable, contents);
    return variable;
}

static void assert_traced(const tg_trace *t, const traced *it)
{
    bn_status st = {0};
    if (tg_trace_status(t, &st) != BN_OK)
        fail_msg("%s: %s", it->name, st.message);
}

static void sample_trace(tg_trace *t, const sample *s, traced *it)
{
    *it = (traced){.s = s};
    name_sample(it);
    for (size_t k = 0; k < s->count; k++)
        it->operands[k] = filled(s, k, &s->in[k].type);
    it->result = s->build(t, it->operands, s);
    assert_traced(t, it);
    assert_string_equal(it->result->node->op->name, s->op);
}

static void variable_drop(tg_tensor *variable)
{
    if (variable)
        free(tg_tensor_data(variable));
    tg_variable_free(variable);
}

static void sample_drop(traced *it)
{
    for (size_t k = 0; k < it->s->count; k++)
        variable_drop(it->operands[k]);
    variable_drop(it->probe);
}

/* Whether there is something to differentiate, and no tie in the way. */
static bool has_gradient(const sample *s, const tg_tensor *result)
{
    bool floats = false, ties = false;
    for (size_t k = 0; k < s->count; k++) {
        floats |= bn_dtype_is_float(s->in[k].type.dtype);
        ties |= s->in[k].whole;
    }
    return result->node->op->grad && floats && !ties && bn_dtype_is_float(result->type.dtype);
}

/* The scalar that is differentiated: the first result weighted by fixed numbers. */
static void sample_loss(tg_trace *t, traced *it)
{
    tg_type type = it->result->type;
    const sample weights = {.in = {{type, -1, 1.5, false}}};
    it->probe = filled(&weights, 0, &type);
    it->loss = tg_reduce_sum(t, tg_mul(t, it->result, it->probe), (1u << type.rank) - 1u);
    assert_traced(t, it);
}

static void sample_backward(tg_trace *t, traced *it)
{
    tg_tensor *wrt[SAMPLE_OPERANDS] = {NULL}, *grads[SAMPLE_OPERANDS] = {NULL};
    size_t which[SAMPLE_OPERANDS], count = 0;
    for (size_t k = 0; k < it->s->count; k++)
        if (bn_dtype_is_float(it->s->in[k].type.dtype)) {
            which[count] = k;
            wrt[count++] = it->operands[k];
        }
    tg_backward(t, it->loss, wrt, count, grads);
    assert_traced(t, it);
    for (size_t i = 0; i < count; i++) {
        it->grads[which[i]] = grads[i];
        assert_true(tg_type_equal(tg_tensor_type(grads[i]), tg_tensor_type(wrt[i])));
    }
}

static void evaluation_fill(evaluation *e, const traced *it)
{
    for (size_t k = 0; k < it->s->count; k++)
        evaluation_set(e, it->operands[k], tg_tensor_data(it->operands[k]));
    if (it->probe)
        evaluation_set(e, it->probe, tg_tensor_data(it->probe));
}

static void evaluate(evaluation *e)
{
    const char *missing = evaluation_run(e);
    if (missing)
        fail_msg("the evaluator has no rule for %s", missing);
}

/* ---- comparison -------------------------------------------------------------------- */

/*
 * Relative tolerance, in addition to an absolute one of the same size. f32: XLA
 * approximates exp, tanh and the like to a few units in the last place (2^-24)
 * and sums in another order. bf16: one unit (2^-7), as the device may round once
 * more or less. f16: XLA for CPU adds up in f16 itself, so half units of partial
 * sums below 8. Others: none.
 */
static double tolerance(tg_dtype dtype)
{
    switch (dtype) {
    case TG_F32:
        return 4e-6;
    case TG_F16:
        return 1.0 / 256;
    case TG_BF16:
        return 1.0 / 128;
    default:
        return 0;
    }
}

static void assert_close(const traced *it, const char *what, const tg_type *type, const double *got,
                         const double *want, double tolerated)
{
    for (int64_t i = 0; i < tg_type_elements(type); i++) {
        if (isnan(want[i]) ? isnan(got[i]) : got[i] == want[i])
            continue;
        if (!(fabs(got[i] - want[i]) <= tolerated * (1 + fabs(want[i]))))
            fail_msg("%s: %s: element %lld is %.9g, want %.9g", it->name, what, (long long)i,
                     got[i], want[i]);
    }
}

/* ---- all samples on the device ---------------------------------------------------- */

/* Values to compare, each assigned to a variable so that it becomes an output. */
typedef struct checks {
    struct {
        const traced *it;
        tg_tensor *value, *variable;
        const char *what;
    } at[MAX_SAMPLES * 3];
    size_t count;
} checks;

static void check_add(tg_trace *t, checks *c, const traced *it, tg_tensor *value, const char *what)
{
    assert_true(c->count < sizeof c->at / sizeof *c->at);
    tg_tensor *variable = tg_variable_new("output", tg_tensor_type(value));
    assert_non_null(variable);
    tg_assign(t, variable, value);
    c->at[c->count].it = it;
    c->at[c->count].value = value;
    c->at[c->count].variable = variable;
    c->at[c->count++].what = what;
}

/* Runs the trace as one graph and compares; FACTOR widens the tolerance. */
static void checks_run(tg_trace *t, checks *c, const evaluation *e, double factor)
{
    static const unsigned one_group[TG_PHASE_COUNT] = {0};
    bn_status st = {0};
    tg_graph *const *graphs;
    size_t graph_count;
    double **got = calloc(c->count + 1, sizeof *got);
    assert_non_null(got);
    assert_ok(tg_trace_cut(t, one_group, NULL, &graphs, &graph_count, &st), &st);
    assert_int_equal(graph_count, 1);
    assert_int_equal(graphs[0]->output_count, c->count);
    assert_ok(device_run(client, graphs[0], got, &st), &st);
    for (size_t i = 0; i < c->count; i++) {
        const tg_type *type = tg_tensor_type(c->at[i].value);
        assert_ptr_equal(graphs[0]->outputs[i], c->at[i].value);
        assert_close(c->at[i].it, c->at[i].what, type, got[i], evaluation_value(e, c->at[i].value),
                     factor * tolerance(type->dtype));
        free(got[i]);
        tg_variable_free(c->at[i].variable);
    }
    free(got);
}

static void results_are_those_of_the_evaluator(void **state)
{
    static traced all[MAX_SAMPLES];
    static checks c;
    static const char *const results[TG_MAX_RESULTS] = {"result", "result 1", "result 2"};
    tg_trace *t = tg_trace_new();
    size_t count = 0;
    const sample *s;
    for (size_t i = 0; (s = sample_at(i)); i++) {
        if (s->judged_by)
            continue;
        assert_true(count < MAX_SAMPLES);
        tg_scope_push(t, s->op);
        sample_trace(t, s, &all[count]);
        tg_scope_pop(t);
        for (unsigned r = 0; r < all[count].result->node->result_count; r++)
            check_add(t, &c, &all[count], tg_emit_result(all[count].result, r), results[r]);
        count++;
    }
    evaluation *e = evaluation_new(t, true);
    assert_non_null(e);
    for (size_t i = 0; i < count; i++)
        evaluation_fill(e, &all[i]);
    evaluate(e);
    checks_run(t, &c, e, 1);
    evaluation_free(e);
    for (size_t i = 0; i < count; i++)
        sample_drop(&all[i]);
    tg_trace_free(t);
}

/* ---- the table --------------------------------------------------------------------- */

static void every_row_has_samples(void **state)
{
    const tg_op *op;
    for (size_t row = 0; (op = tg_op_at(row)); row++) {
        size_t samples = 0, gradients = 0;
        const sample *s;
        tg_trace *t = tg_trace_new();
        for (size_t i = 0; (s = sample_at(i)); i++) {
            if (strcmp(s->op, op->name) != 0)
                continue;
            traced it;
            sample_trace(t, s, &it);
            if (!s->judged_by != evaluator_knows(op->name))
                fail_msg("op %s is either compared with the evaluator or judged by a test of "
                         "its own",
                         op->name);
            samples++;
            gradients += has_gradient(s, it.result);
            sample_drop(&it);
        }
        if (samples == 0)
            fail_msg("op %s has no sample", op->name);
        if (op->grad && gradients == 0)
            fail_msg("op %s has a gradient, but no sample to differentiate", op->name);
        tg_trace_free(t);
    }
}

static void rows_are_described(void **state)
{
    tg_op_info info;
    size_t row = 0;
    for (; tg_op_describe(row, &info); row++) {
        const tg_op *op = tg_op_at(row);
        assert_string_equal(info.name, op->name);
        assert_int_equal(info.differentiable, op->grad != NULL);
        assert_true(info.summary[0] && info.family[0] && info.stablehlo[0]);
        for (size_t other = 0; other < row; other++)
            assert_string_not_equal(tg_op_at(other)->name, info.name);
    }
    assert_null(tg_op_at(row));
}

static double node_flops(tg_trace *t, const tg_tensor *result)
{
    tg_graph_cost cost;
    tg_graph_measure(tg_node_graph(t, result->node), &cost);
    assert_int_equal(cost.nodes, 1);
    return cost.flops;
}

static void flops_are_counted(void **state)
{
    tg_trace *t = tg_trace_new();
    const sample *s;
    for (size_t i = 0; (s = sample_at(i)); i++) {
        traced it;
        sample_trace(t, s, &it);
        double flops = node_flops(t, it.result);
        if (flops != s->flops)
            fail_msg("%s: %g FLOPs, want %g", it.name, flops, s->flops);
        sample_drop(&it);
    }
    tg_trace_free(t);
}

/* ---- gradients ----------------------------------------------------------------------- */

static double loss_with(const tg_trace *t, const traced *it)
{
    evaluation *e = evaluation_new(t, false);
    assert_non_null(e);
    evaluation_fill(e, it);
    evaluate(e);
    double loss = evaluation_value(e, it->loss)[0];
    evaluation_free(e);
    return loss;
}

/* Central differences: the error is of order STEP squared, or 1e-16 / STEP. */
static void assert_differences(const tg_trace *t, const traced *it, size_t k, const double *grad)
{
    static const double step = 1e-5;
    double *contents = tg_tensor_data(it->operands[k]);
    for (int64_t i = 0; i < tg_type_elements(tg_tensor_type(it->operands[k])); i++) {
        double here = contents[i];
        contents[i] = here + step;
        double above = loss_with(t, it);
        contents[i] = here - step;
        double below = loss_with(t, it);
        contents[i] = here;
        double slope = (above - below) / (2 * step);
        if (!(fabs(grad[i] - slope) <= 1e-6 * (1 + fabs(slope))))
            fail_msg("%s: gradient of operand %zu: element %lld is %.9g, differences say %.9g",
                     it->name, k, (long long)i, grad[i], slope);
    }
}

static void gradients_are_those_of_differences(void **state)
{
    const sample *s;
    for (size_t i = 0; (s = sample_at(i)); i++) {
        tg_trace *plain = tg_trace_new(), *full = tg_trace_new();
        traced loss, with;
        sample_trace(plain, s, &loss);
        if (has_gradient(s, loss.result)) {
            sample_loss(plain, &loss);
            sample_trace(full, s, &with);
            sample_loss(full, &with);
            sample_backward(full, &with);
            evaluation *e = evaluation_new(full, false);
            assert_non_null(e);
            evaluation_fill(e, &with);
            evaluate(e);
            for (size_t k = 0; k < s->count; k++)
                if (with.grads[k])
                    assert_differences(plain, &loss, k, evaluation_value(e, with.grads[k]));
            evaluation_free(e);
            sample_drop(&with);
        }
        sample_drop(&loss);
        tg_trace_free(plain);
        tg_trace_free(full);
    }
}

static void gradients_run_on_the_device(void **state)
{
    static traced all[MAX_SAMPLES];
    static checks c;
    tg_trace *t = tg_trace_new();
    size_t count = 0;
    const sample *s;
    for (size_t i = 0; (s = sample_at(i)); i++) {
        if (s->judged_by)
            continue;
        assert_true(count < MAX_SAMPLES);
        traced *it = &all[count++];
        sample_trace(t, s, it);
        if (!has_gradient(s, it->result))
            continue;
        sample_loss(t, it);
        sample_backward(t, it);
        for (size_t k = 0; k < s->count; k++)
            if (it->grads[k])
                check_add(t, &c, it, it->grads[k], "gradient");
    }
    evaluation *e = evaluation_new(t, true);
    assert_non_null(e);
    for (size_t i = 0; i < count; i++)
        evaluation_fill(e, &all[i]);
    evaluate(e);
    /* Several nodes, of which the device rounds some and the evaluator all. */
    checks_run(t, &c, e, 8);
    evaluation_free(e);
    for (size_t i = 0; i < count; i++)
        sample_drop(&all[i]);
    tg_trace_free(t);
}

/* ---- what samples cannot say --------------------------------------------------------- */

/* A trace over one variable of COUNT elements, evaluated; GRAD gets the gradient. */
static void gradient_of(tg_tensor *(*loss)(tg_trace *t, tg_tensor *x), const double *x,
                        int64_t count, double *grad)
{
    tg_trace *t = tg_trace_new();
    tg_type type = tg_type_make(TG_F32, 1, &count);
    tg_tensor *variable = tg_variable_new("x", &type), *g;
    bn_status st = {0};
    tg_backward(t, loss(t, variable), &variable, 1, &g);
    assert_ok(tg_trace_status(t, &st), &st);
    evaluation *e = evaluation_new(t, false);
    evaluation_set(e, variable, x);
    evaluate(e);
    memcpy(grad, evaluation_value(e, g), (size_t)count * sizeof *grad);
    evaluation_free(e);
    tg_variable_free(variable);
    tg_trace_free(t);
}

static tg_tensor *relu_loss(tg_trace *t, tg_tensor *x)
{
    return tg_reduce_sum(t, tg_max(t, x, tg_scalar(t, TG_F32, 0)), 1);
}

static tg_tensor *min_loss(tg_trace *t, tg_tensor *x)
{
    return tg_reduce_sum(t, tg_min(t, tg_scalar(t, TG_F32, 0), x), 1);
}

static tg_tensor *largest_loss(tg_trace *t, tg_tensor *x)
{
    return tg_reduce_max(t, x, 1);
}

static tg_tensor *smallest_loss(tg_trace *t, tg_tensor *x)
{
    return tg_reduce_min(t, x, 1);
}

static tg_tensor *pooled_loss(tg_trace *t, tg_tensor *x)
{
    const tg_window pairs = {.size = {2}, .stride = {2}};
    return tg_reduce_sum(t, tg_window_max(t, x, &pairs), 1);
}

static void ties_go_where_the_header_says(void **state)
{
    const double x[4] = {-1, 0, 0, 2}, equal[4] = {3, 3, 1, 1};
    const double relu[4] = {0, 0, 0, 1}, least[4] = {1, 1, 1, 0};
    const double largest[4] = {0.5, 0.5, 0, 0}, smallest[4] = {0, 0, 0.5, 0.5};
    const double pooled[4] = {1, 0, 1, 0};
    double g[4];
    gradient_of(relu_loss, x, 4, g);
    assert_memory_equal(g, relu, sizeof g);
    gradient_of(min_loss, x, 4, g);
    assert_memory_equal(g, least, sizeof g);
    gradient_of(largest_loss, equal, 4, g);
    assert_memory_equal(g, largest, sizeof g);
    gradient_of(smallest_loss, equal, 4, g);
    assert_memory_equal(g, smallest, sizeof g);
    gradient_of(pooled_loss, equal, 4, g);
    assert_memory_equal(g, pooled, sizeof g);
}

/* Positions of the K largest of CONTENTS[6], as the device has them. */
static void largest_on_device(double *contents, int64_t k, double *positions)
{
    static const unsigned one_group[TG_PHASE_COUNT] = {0};
    tg_type six = tg_type_make(TG_F32, 1, TG_DIMS(6)), some = tg_type_make(TG_I32, 1, &k);
    tg_tensor *x = tg_variable_new("x", &six), *out = tg_variable_new("out", &some), *where;
    tg_trace *t = tg_trace_new();
    tg_graph *const *graphs;
    size_t graph_count;
    double *got;
    bn_status st = {0};
    tg_tensor_set_data(x, contents);
    tg_top_k(t, x, k, &where);
    tg_assign(t, out, where);
    assert_ok(tg_trace_cut(t, one_group, NULL, &graphs, &graph_count, &st), &st);
    assert_ok(device_run(client, graphs[0], &got, &st), &st);
    memcpy(positions, got, (size_t)k * sizeof *got);
    free(got);
    tg_trace_free(t);
    tg_variable_free(x);
    tg_variable_free(out);
}

static void the_largest_are_in_total_order(void **state)
{
    double x[6] = {1, NAN, INFINITY, -INFINITY, -0.0, 0.0}, positions[6];
    const double order[6] = {1, 2, 0, 5, 4, 3};
    for (int64_t k = 1; k <= 6; k++) {
        largest_on_device(x, k, positions);
        assert_memory_equal(positions, order, (size_t)k * sizeof *order);
    }
}

/* Whether each side of the image is strided over or keeps its size. */
static bool strides_or_keeps(const sample *s, const tg_type *y)
{
    for (int i = 0; i < 2; i++)
        if (s->conv.stride[i] <= 1 &&
            s->in[0].type.dims[s->conv.lhs[2 + i]] != y->dims[s->conv.out[2 + i]])
            return false;
    return true;
}

/* As PyTorch's counter: each gradient of a dot, and of a convolution that strides
 * or keeps its size, costs what the op itself does. */
static void gradients_cost_what_the_op_does(void **state)
{
    const sample *s;
    size_t counted = 0;
    for (size_t i = 0; (s = sample_at(i)); i++) {
        bool product = strcmp(s->op, "convolution") == 0 || strcmp(s->op, "dot") == 0;
        if (!product || s->flops == 0 || s->conv.lhs_dilation[0] > 1 ||
            !bn_dtype_is_float(s->in[0].type.dtype))
            continue;
        tg_trace *t = tg_trace_new();
        traced it;
        sample_trace(t, s, &it);
        if (strcmp(s->op, "dot") != 0 && !strides_or_keeps(s, &it.result->type)) {
            sample_drop(&it);
            tg_trace_free(t);
            continue;
        }
        sample_loss(t, &it);
        sample_backward(t, &it);
        double flops = 0;
        for (size_t n = 0; n < t->node_count; n++)
            if (strcmp(tg_node_op_name(t->nodes[n]), s->op) == 0)
                flops += node_flops(t, tg_node_result(t->nodes[n], 0));
        if (flops != 3 * s->flops)
            fail_msg("%s: %g FLOPs with gradients, want %g", it.name, flops, 3 * s->flops);
        counted++;
        sample_drop(&it);
        tg_trace_free(t);
    }
    assert_true(counted > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_samples),
        cmocka_unit_test(rows_are_described),
        cmocka_unit_test(flops_are_counted),
        cmocka_unit_test(results_are_those_of_the_evaluator),
        cmocka_unit_test(gradients_are_those_of_differences),
        cmocka_unit_test(gradients_run_on_the_device),
        cmocka_unit_test(gradients_cost_what_the_op_does),
        cmocka_unit_test(ties_go_where_the_header_says),
        cmocka_unit_test(the_largest_are_in_total_order),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
