/*
 * test_model_init.c - initial contents by the counter rule, and their way back
 * into the framework's order.
 */
#include "tests/model_fixture.h"

#include <math.h>

static const struct {
    const char *name;
    model_fill fill;
    tg_type shape;
    uint32_t first[4];
    uint64_t hash; /* FNV-1a 64 of the bytes */
} rule[] = {
    {"conv1.weight",
     MODEL_FILL_W6,
     {{64, 3, 7, 7}, 4, TG_F32},
     {0xbcba455d, 0x3cd6b5d6, 0xbe3cb9e3, 0xbe2f5dc6},
     0x61cf0fb7d1ad435e},
    {"blocks.0.attn.qkv.weight",
     MODEL_FILL_W3,
     {{1152, 384}, 2, TG_F32},
     {0xbd9117b8, 0xbc848811, 0x3d786f54, 0xbd5d0d6d},
     0x58548141e5d7ac99},
    {"bert.embeddings.word_embeddings.weight",
     MODEL_FILL_EMBEDDING,
     {{30522, 768}, 2, TG_F32},
     {0x3cf9b390, 0xbd085770, 0x3d37d4fe, 0xbcc3e2dd},
     0xf947ac1088865541},
    {"cls_token",
     MODEL_FILL_POSITION,
     {{1, 1, 384}, 3, TG_F32},
     {0x3b414d00, 0x3b90c229, 0xbbeb941a, 0x3c1fd752},
     0x9622174ae3ac6ade},
    {"bn1.weight",
     MODEL_FILL_NORM,
     {{64}, 1, TG_F32},
     {0x3f818a62, 0x3f7df1ba, 0x3f702eef, 0x3f73a003},
     0x7b6a81cf8cb4b6be},
    {"layer1.0.bn2.weight",
     MODEL_FILL_NORM_RESIDUAL,
     {{64}, 1, TG_F32},
     {0x3e74ff0d, 0x3e8bd3e2, 0x3e6c0734, 0x3e7ac0da},
     0x2e55ad5b8d161835},
    {"bn1.bias",
     MODEL_FILL_BIAS,
     {{64}, 1, TG_F32},
     {0xbdc8cd10, 0xbdcaf3d5, 0xbd5158ed, 0xbd943a96},
     0x7c8bbfa863ad8418},
    {"bn1.running_var",
     MODEL_FILL_VARIANCE,
     {{64}, 1, TG_F32},
     {0x3fa2dd61, 0x3f9fcc76, 0x3f9f6c02, 0x3f9abf21},
     0xd8351cad9e8d354b},
    {"input",
     MODEL_FILL_UNIT,
     {{2, 3, 224, 224}, 4, TG_F32},
     {0x3eb783c0, 0xbea19814, 0x3f46d0e6, 0xbe9e2430},
     0x2186fab2490c1480},
};

static void test_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        bn_status st = {.code = BN_OK};
        model_variable v = {.name = rule[i].name,
                            .fill = rule[i].fill,
                            .shape = rule[i].shape,
                            .permutation = {0, 1, 2, 3, 4, 5}};
        size_t bytes = (size_t)tg_type_bytes(&v.shape);
        unsigned char *host = malloc(bytes);
        uint64_t begin = bn_now_ns(), hash = 0xcbf29ce484222325u;
        assert_int_equal(model_initial(&v, 1, host, &st), BN_OK);
        uint64_t took = bn_now_ns() - begin;
        assert_memory_equal(host, rule[i].first, sizeof rule[i].first);
        for (size_t k = 0; k < bytes; k++)
            hash = (hash ^ host[k]) * 0x100000001b3u;
        assert_true(hash == rule[i].hash);
        if (bytes > 1u << 26)
            print_message("%zu elements made in %.0f ms\n", bytes / 4, (double)took * 1e-6);
        free(host);
    }
    /* The README's first image element, through the public function. */
    assert_true((float)(2 * model_unit("input", 1, 0) - 1) == 0.358427048f);
}

/* Contents do not depend on the order in which the device keeps them. */
static void test_permutation(void **state)
{
    (void)state;
    model *nhwc = make_model("resnet50", (model_options){.small = true, .layout = MODEL_NHWC});
    model *nchw = make_model("resnet50", (model_options){.small = true, .layout = MODEL_NCHW});
    size_t count;
    const model_variable *v = model_variables(nhwc, &count);
    for (size_t i = 0; i < count; i++) {
        bn_status st = {.code = BN_OK};
        const model_variable *plain = model_find(nchw, v[i].name);
        size_t n = (size_t)tg_type_elements(&v[i].shape);
        float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
        double *back = malloc(n * sizeof *back);
        assert_int_equal(model_initial(&v[i], 7, a, &st), BN_OK);
        assert_int_equal(model_initial(plain, 7, b, &st), BN_OK);
        model_to_framework(&v[i], a, back);
        for (size_t k = 0; k < n; k++)
            assert_true(back[k] == (double)b[k]);
        if (strcmp(v[i].name, "conv1.weight") == 0) {
            /* (8, 3, 7, 7) kept as (7, 7, 3, 8): out 5, in 2, row 1, column 4. */
            assert_true(a[((1 * 7 + 4) * 3 + 2) * 8 + 5] == b[((5 * 3 + 2) * 7 + 1) * 7 + 4]);
        }
        free(back);
        free(b);
        free(a);
    }
    model_free(nhwc);
    model_free(nchw);
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void test_bf16(void **state)
{
    (void)state;
    bn_status st = {.code = BN_OK};
    model_variable exact = {.name = "input",
                            .fill = MODEL_FILL_UNIT,
                            .shape = {{1 << 16}, 1, TG_F32},
                            .permutation = {0}};
    model_variable rounded = exact;
    rounded.shape.dtype = TG_BF16;
    size_t n = 1 << 16;
    float *f32 = malloc(n * sizeof *f32);
    uint16_t *bf16 = malloc(n * sizeof *bf16);
    double *values = malloc(n * sizeof *values);
    assert_int_equal(model_initial(&exact, 1, f32, &st), BN_OK);
    assert_int_equal(model_initial(&rounded, 1, bf16, &st), BN_OK);
    model_to_framework(&rounded, bf16, values);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &f32[i], sizeof bits);
        double below = (double)float_of_bits(bits & 0xFFFF0000u);
        double above = (double)float_of_bits((bits & 0xFFFF0000u) + 0x10000u);
        double x = (double)f32[i], to_below = fabs(x - below), to_above = fabs(x - above);
        bool even = (bits & 0x10000u) == 0;
        bool down = to_below < to_above || (to_below == to_above && even);
        assert_true(values[i] == (down ? below : above));
    }
    free(values);
    free(bf16);
    free(f32);
    rounded.shape.dtype = TG_F16;
    assert_int_equal(model_initial(&rounded, 1, NULL, &st), BN_NOT_SUPPORTED);
    assert_non_null(strstr(st.message, "f16"));
}

static void test_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAME_COUNT; i++)
        for (int small = 0; small < 2; small++) {
            bn_status st = {.code = BN_OK};
            model *m =
                make_model(names[i], (model_options){.small = small, .batch = 2, .train = true});
            json_t *root = golden_json(names[i], small), *inputs = json_object_get(root, "inputs");
            json_t *first4 = json_object_get(json_array_get(inputs, 0), "first4");
            json_t *first8 = json_object_get(json_array_get(inputs, 1), "first8");

            const model_variable *images = model_find(m, "input");
            size_t elements = (size_t)tg_type_elements(&images->shape);
            float *host = malloc(elements * sizeof *host);
            double *values = malloc(elements * sizeof *values);
            assert_int_equal(model_initial(images, 1, host, &st), BN_OK);
            model_to_framework(images, host, values);
            for (size_t k = 0; k < 4; k++)
                assert_true(fabs(values[k] - json_real_value(json_array_get(first4, k))) < 1e-8);

            int32_t labels[2];
            assert_int_equal(model_initial(model_find(m, "labels"), 1, labels, &st), BN_OK);
            for (size_t k = 0; k < 2; k++)
                assert_int_equal(labels[k], json_integer_value(json_array_get(first8, k)));

            float rate;
            assert_int_equal(model_initial(model_find(m, "learning_rate"), 1, &rate, &st), BN_OK);
            assert_true(rate == (float)model_get_options(m)->learning_rate);
            free(values);
            free(host);
            json_decref(root);
            model_free(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
