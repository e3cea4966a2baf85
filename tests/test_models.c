/*
 * test_models.c - variables of the models against the golden lists, and what is
 * said about mistakes.
 */
#include "tests/model_fixture.h"

#include <math.h>

/* ---- lists ------------------------------------------------------------------ */

static model_fill fill_of_kind(const char *kind)
{
    static const struct {
        const char *kind;
        model_fill fill;
    } kinds[] = {
        {"W6", MODEL_FILL_W6},     {"NORM", MODEL_FILL_NORM},  {"NORMR", MODEL_FILL_NORM_RESIDUAL},
        {"BIAS", MODEL_FILL_BIAS}, {"RMEAN", MODEL_FILL_MEAN}, {"RVAR", MODEL_FILL_VARIANCE},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].fill;
    fail_msg("kind %s", kind);
    return MODEL_FILL_COUNT;
}

/* Parameters and statistics are the lines of the list, in its order. */
static void compare_with_list(const char *name, bool small, model_layout layout)
{
    model *m = make_model(name, (model_options){.small = small, .layout = layout});
    size_t count, next = 0;
    const model_variable *v = model_variables(m, &count);
    char *text = golden_text("params/", name, small, "tsv"), *rest = text, *line;
    while ((line = strsep(&rest, "\n")) && *line) {
        const char *tensor = strsep(&line, "\t"), *kind = strsep(&line, "\t");
        while (next < count && v[next].role != MODEL_PARAMETER && v[next].role != MODEL_STATISTIC)
            next++;
        assert_true(next < count);
        assert_string_equal(v[next].name, tensor);
        assert_string_equal(tg_tensor_name(v[next].tensor), tensor);
        assert_int_equal(v[next].fill, fill_of_kind(kind));
        int rank = 0;
        for (char *size; (size = strsep(&line, "x")); rank++) {
            assert_true(rank < v[next].shape.rank);
            assert_int_equal(v[next].shape.dims[rank], atoll(size));
        }
        assert_int_equal(v[next].shape.rank, rank);
        const tg_type *device = tg_tensor_type(v[next].tensor);
        for (int i = 0; i < rank; i++)
            assert_int_equal(device->dims[i], v[next].shape.dims[v[next].permutation[i]]);
        next++;
    }
    for (; next < count; next++)
        assert_true(v[next].role != MODEL_PARAMETER && v[next].role != MODEL_STATISTIC);
    free(text);
    model_free(m);
}

static void test_lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAME_COUNT; i++)
        for (int small = 0; small < 2; small++) {
            compare_with_list(names[i], small, MODEL_NHWC);
            compare_with_list(names[i], small, MODEL_NCHW);
        }
}

static void test_numbers_of_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAME_COUNT; i++)
        for (int small = 0; small < 2; small++) {
            model *m = make_model(names[i], (model_options){.small = small, .train = true});
            json_t *root = golden_json(names[i], small);
            json_t *optimizer = json_object_get(root, "optimizer");
            const model_options *o = model_get_options(m);
            assert_int_equal(model_parameter_elements(m),
                             json_integer_value(json_object_get(root, "param_count")));
            assert_true(o->learning_rate == json_real_value(json_object_get(optimizer, "lr")));
            assert_true(m->variant->momentum ==
                        json_real_value(json_object_get(optimizer, "momentum")));
            assert_int_equal(o->image, json_integer_value(json_object_get(
                                           json_object_get(root, "dims"), "image")));
            assert_int_equal(o->batch, 1);
            assert_int_equal(o->seed, 1);
            json_decref(root);
            model_free(m);
        }
}

/* Stages are those of the golden file, in its order, with its shapes. */
static void test_stages(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAME_COUNT; i++)
        for (int small = 0; small < 2; small++) {
            model *m = make_model(names[i],
                                  (model_options){.small = small, .batch = 2, .keep_stages = true});
            json_t *root = golden_json(names[i], small), *stage, *stages, *dim;
            size_t count, next = 0, at;
            const char *key;
            const model_variable *v = model_variables(m, &count);
            stages =
                json_object_get(json_object_get(json_object_get(root, "f64"), "eval"), "stages");
            json_object_foreach(stages, key, stage)
            {
                while (next < count && strncmp(v[next].name, "stage/", 6) != 0)
                    next++;
                assert_true(next < count);
                assert_string_equal(v[next].name + 6, key);
                assert_int_equal(v[next].role, MODEL_RESULT);
                assert_int_equal(v[next].shape.rank, json_array_size(json_array_get(stage, 0)));
                json_array_foreach(json_array_get(stage, 0), at, dim)
                    assert_int_equal(v[next].shape.dims[at], json_integer_value(dim));
                next++;
            }
            assert_non_null(model_find(m, "loss"));
            assert_non_null(model_find(m, "labels"));
            assert_null(model_find(m, "stage/layer9"));
            json_decref(root);
            model_free(m);
        }
}

static void test_describe(void **state)
{
    (void)state;
    model_info info;
    size_t count = 0;
    for (; model_describe(count, &info); count++) {
        assert_string_equal(info.name, names[count]);
        assert_string_equal(info.family, "cnn");
        assert_int_equal(info.default_batch, 1);
        assert_int_equal(info.default_image, 224);
    }
    assert_int_equal(count, NAME_COUNT);
}

/* ---- mistakes -------------------------------------------------------------------- */

static void expect_error(const char *name, model_options options, bn_code code, const char *part)
{
    bn_status st = {.code = BN_OK};
    model *m = NULL;
    assert_int_equal(model_new(name, &options, &m, &st), code);
    assert_int_equal(st.code, code);
    assert_null(m);
    if (!strstr(st.message, part))
        fail_msg("'%s' is not in: %s", part, st.message);
}

static void test_mistakes(void **state)
{
    (void)state;
    const model_options good = {.small = true, .dtype = TG_F32};
    model_options o = good;
    expect_error("resnet51", o, BN_NOT_FOUND, "'resnet51'; known are resnet18, resnet50");
    o.batch = -1;
    expect_error("resnet18", o, BN_INVALID, "resnet18: option batch: -1");
    o = good;
    o.image = -5;
    expect_error("resnet18", o, BN_INVALID, "option image: -5");
    o.image = 1 << 20;
    expect_error("resnet18", o, BN_INVALID, "option image");
    o = good;
    o.dtype = TG_F16;
    expect_error("resnet18", o, BN_INVALID, "option dtype: f16");
    o.dtype = TG_DTYPE_COUNT;
    expect_error("resnet18", o, BN_INVALID, "option dtype");
    o = good;
    o.layout = (model_layout)2;
    expect_error("resnet18", o, BN_INVALID, "option layout");
    o = good;
    o.learning_rate = (double)NAN;
    expect_error("resnet18", o, BN_INVALID, "option learning rate");
    o = good;
    o.keep_gradients = true;
    expect_error("resnet18", o, BN_INVALID, "option gradients");
    o = good;
    o.image = 32;
    o.train = true;
    expect_error("resnet50", o, BN_INVALID,
                 "resnet50: layer4.0.bn2: options batch and image: 1 of 32 pixels");
    o.batch = 2;
    model_free(make_model("resnet50", o));
    model_free(NULL);
}

/* Layers that the networks here do not exercise. */
static void test_layers(void **state)
{
    (void)state;
    model m = {.options = {.batch = 4, .image = 3, .dtype = TG_F32, .layout = MODEL_NHWC},
               .arena = bn_arena_new(1u << 12)};
    nn_conv conv;
    nn_enter(&m, "features");
    nn_image out = nn_conv2d_new(
        &m, &conv, "0", (nn_image){16, 9, 7},
        (nn_conv_spec){
            .out = 24, .kernel = 3, .padding = 1, .dilation = 2, .groups = 8, .bias = true});
    assert_int_equal(out.channels, 24);
    assert_int_equal(out.height, 7);
    assert_int_equal(out.width, 5);
    assert_string_equal(m.variables[0].name, "features.0.weight");
    const tg_type weight = tg_type_make(TG_F32, 4, TG_DIMS(3, 3, 2, 24));
    assert_true(tg_type_equal(tg_tensor_type(conv.weight), &weight));
    assert_string_equal(m.variables[1].name, "features.0.bias");
    assert_string_equal(m.path, "features");

    nn_image in = {16, 3, 3};
    nn_conv2d_new(&m, &conv, "3", in, (nn_conv_spec){.out = 8, .kernel = 5});
    assert_int_equal(m.status.code, BN_INVALID);
    assert_string_equal(m.status.message, "features.3: option image: 3 is too small, a kernel of 5 "
                                          "meets an image of 3x3");
    nn_pool pool; /* a later mistake does not replace the first */
    nn_max_pool2d_new(&m, &pool, "4", in, 4, 2, 0);
    assert_non_null(strstr(m.status.message, "features.3"));

    m.status.code = BN_OK;
    nn_max_pool2d_new(&m, &pool, "4", in, 4, 2, 0);
    assert_non_null(strstr(m.status.message, "features.4: option image"));
    m.status.code = BN_OK;
    nn_conv2d_new(&m, &conv, "5", in, (nn_conv_spec){.out = 8, .kernel = 1, .groups = 5});
    assert_non_null(strstr(m.status.message, "features.5: 16 channels"));
    for (size_t i = 0; i < m.variable_count; i++)
        tg_variable_free(m.variables[i].tensor);
    free(m.variables);
    bn_arena_free(m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),    cmocka_unit_test(test_numbers_of_json),
        cmocka_unit_test(test_stages),   cmocka_unit_test(test_describe),
        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
