/*
 * test_image_layers.c - pooling and sequences: values against the definition, sizes
 * against PyTorch's rule, names, and images that are too small.
 */
#include "tests/models/model_fixture.h"
#include "tests/support/evaluator.h"

#include <math.h>

/* ---- adaptive means ------------------------------------------------------------ */

#define BATCH    2
#define CHANNELS 3

static int64_t place(model_layout layout, int64_t height, int64_t width, const int64_t at[4])
{
    if (layout == MODEL_NHWC)
        return ((at[0] * height + at[2]) * width + at[3]) * CHANNELS + at[1];
    return ((at[0] * CHANNELS + at[1]) * height + at[2]) * width + at[3];
}

/* The mean over bin AT of BINS x BINS, from its definition. */
static double bin_mean(model_layout layout, int64_t height, int64_t width, int bins,
                       const int64_t at[4], const double *x)
{
    const int64_t first[2] = {at[2] * height / bins, at[3] * width / bins};
    const int64_t end[2] = {((at[2] + 1) * height + bins - 1) / bins,
                            ((at[3] + 1) * width + bins - 1) / bins};
    double sum = 0;
    for (int64_t i = first[0]; i < end[0]; i++)
        for (int64_t j = first[1]; j < end[1]; j++)
            sum += x[place(layout, height, width, (int64_t[]){at[0], at[1], i, j})];
    return sum / (double)((end[0] - first[0]) * (end[1] - first[1]));
}

static void compare_means(model_layout layout, int64_t height, int64_t width, int bins,
                          const double *x, const double *got)
{
    for (int64_t at[4] = {0}; at[0] < BATCH; at[0]++)
        for (at[1] = 0; at[1] < CHANNELS; at[1]++)
            for (at[2] = 0; at[2] < bins; at[2]++)
                for (at[3] = 0; at[3] < bins; at[3]++) {
                    double want = bin_mean(layout, height, width, bins, at, x);
                    double is = got[place(layout, bins, bins, at)];
                    if (fabs(is - want) > 1e-6)
                        fail_msg("%lldx%lld to %d: %g, not %g", (long long)height, (long long)width,
                                 bins, is, want);
                }
}

static tg_type image_type(model_layout layout, tg_dtype dtype, int64_t height, int64_t width)
{
    return layout == MODEL_NHWC ? tg_type_make(dtype, 4, TG_DIMS(BATCH, height, width, CHANNELS))
                                : tg_type_make(dtype, 4, TG_DIMS(BATCH, CHANNELS, height, width));
}

/* Values, and that the gradient of their sum shares each bin out: its elements add
 * up to the number of bins, whatever overlaps. */
static void check_means(model_layout layout, int64_t height, int64_t width, int bins)
{
    const nn_adaptive_pool pool = {.name = "avgpool", .layout = layout, .bins = bins};
    const tg_type type = image_type(layout, TG_F32, height, width);
    const tg_type small = image_type(layout, TG_F32, bins, bins);
    const int64_t count = tg_type_elements(&type);
    double *x = malloc((size_t)count * sizeof *x), total = 0;
    tg_tensor *input = tg_variable_new("input", &type), *grad;
    tg_trace *t = tg_trace_new();
    for (int64_t i = 0; i < count; i++)
        x[i] = model_unit("input", 1, (uint64_t)i);

    tg_tensor *y = nn_adaptive_avg_pool2d(t, &pool, input);
    assert_true(tg_type_equal(tg_tensor_type(y), &small));
    tg_backward(t, tg_reduce_sum(t, y, 15), &input, 1, &grad);
    bn_status st = {.code = BN_OK};
    if (tg_trace_status(t, &st) != BN_OK)
        fail_msg("%s", st.message);
    evaluation *e = evaluation_new(t, false);
    evaluation_set(e, input, x);
    assert_null(evaluation_run(e));
    compare_means(layout, height, width, bins, x,
                  evaluation_value(e, y == input ? tg_trace_value(t, input) : y));
    for (int64_t i = 0; i < count; i++)
        total += evaluation_value(e, grad)[i];
    assert_true(fabs(total - BATCH * CHANNELS * bins * bins) < 1e-5);

    evaluation_free(e);
    tg_trace_free(t);
    tg_variable_free(input);
    free(x);
}

static void means_follow_the_definition(void **state)
{
    (void)state;
    static const struct {
        int height, width, bins;
    } cases[] = {{7, 7, 7}, {2, 2, 7}, {14, 14, 7}, {5, 9, 6}, {6, 13, 6},
                 {4, 4, 1}, {3, 5, 1}, {12, 7, 6},  {1, 1, 6}, {23, 16, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int layout = 0; layout < 2; layout++)
            check_means((model_layout)layout, cases[i].height, cases[i].width, cases[i].bins);
}

static void an_image_of_the_right_size_comes_back(void **state)
{
    (void)state;
    const nn_adaptive_pool pool = {.name = "avgpool", .layout = MODEL_NHWC, .bins = 7};
    const tg_type type = image_type(MODEL_NHWC, TG_BF16, 7, 7);
    tg_tensor *input = tg_variable_new("input", &type);
    tg_trace *t = tg_trace_new();
    assert_ptr_equal(nn_adaptive_avg_pool2d(t, &pool, input), input);
    assert_int_equal(tg_trace_node_count(t), 0);
    tg_trace_free(t);
    tg_variable_free(input);
}

/* ---- sizes of max pools ----------------------------------------------------------- */

static model bare_model(const model_row *row)
{
    return (model){.row = row,
                   .options = {.batch = BATCH, .image = 64, .dtype = TG_F32},
                   .arena = bn_arena_new(1u << 12)};
}

static void bare_model_free(model *m)
{
    for (size_t i = 0; i < m->variable_count; i++)
        tg_variable_free(m->variables[i].tensor);
    free(m->variables);
    bn_arena_free(m->arena);
}

/* The output side of PyTorch's max_pool2d for a side of IN, and the remainder behind it. */
static void windows_are_pytorchs(void **state)
{
    (void)state;
    static const struct {
        int in, kernel, stride, padding;
        bool ceil;
        int out, behind;
    } cases[] = {
        {112, 3, 2, 1, false, 56, 1}, {55, 3, 2, 0, false, 27, 0}, {6, 3, 2, 0, false, 2, 0},
        {6, 3, 2, 0, true, 3, 1},     {111, 3, 2, 0, true, 55, 0}, {2, 3, 2, 0, true, 1, 1},
        {4, 3, 2, 0, true, 2, 1},     {5, 2, 2, 1, true, 3, 1},    {4, 2, 3, 1, true, 2, 1},
        {5, 1, 3, 0, true, 2, 0},     {4, 1, 4, 0, true, 1, 0},
    };
    static const model_row row = {.weights = MODEL_FILL_W6};
    model m = bare_model(&row);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nn_pool pool;
        nn_image out = nn_max_pool2d_new(&m, &pool, "0", (nn_image){1, cases[i].in, 64},
                                         (nn_pool_spec){.kernel = cases[i].kernel,
                                                        .stride = cases[i].stride,
                                                        .padding = cases[i].padding,
                                                        .ceil = cases[i].ceil});
        assert_int_equal(m.status.code, BN_OK);
        assert_int_equal(out.height, cases[i].out);
        assert_int_equal(pool.window.pad_low[1], cases[i].padding);
        assert_int_equal(pool.window.pad_high[1], cases[i].behind);
    }
    nn_pool pool;
    nn_max_pool2d_new(&m, &pool, "2", (nn_image){1, 1, 64},
                      (nn_pool_spec){.kernel = 3, .stride = 2, .ceil = true});
    assert_non_null(strstr(m.status.message, "2: option image: 64 is too small"));
    bare_model_free(&m);
}

/* ---- sequences ----------------------------------------------------------------------- */

static void modules_of_a_sequence_are_numbered(void **state)
{
    (void)state;
    static const model_row row = {.weights = MODEL_FILL_W6};
    model m = bare_model(&row);
    m.options.keep_stages = true;
    nn_sequence s;
    nn_sequence_begin(&m, &s, "features", true);
    nn_image x =
        nn_append_conv2d(&m, &s, (nn_image){3, 8, 8}, (nn_conv_spec){.out = 4, .kernel = 3});
    nn_sequence *inner = nn_sequence_begin_inner(&m, &s);
    x = nn_append_relu6(&m, inner, x);
    x = nn_append_batch_norm2d(&m, inner, x, (nn_norm_spec){0});
    x = nn_append_sequence(&m, &s, inner, x);
    nn_sequence_end(&m, &s, x);
    assert_int_equal(m.status.code, BN_OK);
    assert_string_equal(m.path, "");

    static const char *const names[] = {"features.0.weight",         "stage/features.0",
                                        "features.1.1.weight",       "features.1.1.bias",
                                        "features.1.1.running_mean", "features.1.1.running_var",
                                        "stage/features.1",          "stage/features"};
    assert_int_equal(m.variable_count, sizeof names / sizeof *names);
    for (size_t i = 0; i < m.variable_count; i++)
        assert_string_equal(m.variables[i].name, names[i]);
    bare_model_free(&m);
}

/* ---- other image sizes ------------------------------------------------------------------ */

/* The smallest image that torchvision's model takes in evaluation, and the module
 * that refuses a smaller one. */
static void small_images_are_refused_where_torchvision_does(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int least;
        const char *part;
    } cases[] = {
        {"vgg16", 32, "features.30|option image|31"},
        {"alexnet", 63, "features.12|option image|62"},
        {"squeezenet1_1", 17, "features.8|option image|16"},
        {"mobilenet_v2", 1, NULL},
        {"mnasnet1_0", 1, NULL},
        {"resnext50_32x4d", 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model_options o = {.dtype = TG_F32, .image = cases[i].least};
        model_free(make_model(cases[i].model, o));
        if (!cases[i].part)
            continue;
        bn_status st = {.code = BN_OK};
        model *m = NULL;
        o.image--;
        assert_int_equal(model_new(cases[i].model, &o, &m, &st), BN_INVALID);
        if (!has_identifiers(st.message, cases[i].part))
            fail_msg("'%s' is not in: %s", cases[i].part, st.message);
    }
}

static void odd_images_are_traced(void **state)
{
    (void)state;
    static const char *const names[] = {"vgg16",      "alexnet",       "mobilenet_v2",
                                        "mnasnet1_0", "squeezenet1_1", "resnext50_32x4d"};
    static const int images[] = {97, 129, 256};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof images / sizeof *images; k++)
            for (int layout = 0; layout < 2; layout++) {
                bn_status st = {.code = BN_OK};
                model *m = make_model(names[i], (model_options){.small = true,
                                                                .train = true,
                                                                .batch = 2,
                                                                .image = images[k],
                                                                .layout = (model_layout)layout});
                tg_trace *t = tg_trace_new();
                tg_trace_begin(t);
                model_step(t, m);
                if (tg_trace_status(t, &st) != BN_OK)
                    fail_msg("%s %d: %s", names[i], images[k], st.message);
                tg_trace_free(t);
                model_free(m);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_follow_the_definition),
        cmocka_unit_test(an_image_of_the_right_size_comes_back),
        cmocka_unit_test(windows_are_pytorchs),
        cmocka_unit_test(modules_of_a_sequence_are_numbered),
        cmocka_unit_test(small_images_are_refused_where_torchvision_does),
        cmocka_unit_test(odd_images_are_traced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
