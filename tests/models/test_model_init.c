/*
 * test_model_init.c - initial contents by the counter rule, and their way back
 * into the framework's order.
 */
#include "tests/models/model_fixture.h"

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

/* First values and sum of one input against the golden data. */
static void compare_input(const model *m, const json_t *input)
{
    bn_status st = {.code = BN_OK};
    const char *name = json_string_value(json_object_get(input, "name"));
    const model_variable *v = model_find(m, name);
    if (!v)
        fail_msg("no input %s", name);
    const size_t elements = (size_t)tg_type_elements(&v->shape);
    void *host = malloc((size_t)tg_type_bytes(&v->shape));
    double *values = malloc(elements * sizeof *values), total = 0;
    assert_int_equal(model_initial(v, 1, host, &st), BN_OK);
    model_to_framework(v, host, values);
    for (int i = 4; i <= 8; i += 4) {
        const json_t *first = json_object_get(input, i == 4 ? "first4" : "first8");
        for (size_t k = 0; k < json_array_size(first); k++)
            assert_true(fabs(values[k] - json_number_value(json_array_get(first, k))) < 1e-8);
    }
    for (size_t k = 0; k < elements; k++)
        total += values[k];
    if (json_object_get(input, "sum"))
        assert_true(total == json_number_value(json_object_get(input, "sum")));
    free(values);
    free(host);
}

static void compare_inputs(const model_case *c, const char *variant, bool pad)
{
    bn_status st = {.code = BN_OK};
    char path[128], *text = NULL;
    size_t size, index;
    snprintf(path, sizeof path, GOLDEN_FOLDER "/%s.%s.json", c->info.name, variant);
    if (bn_regular_read(path, &text, &size, &st) != BN_OK)
        fail_msg("%s", st.message);
    json_t *root = json_loads(text, 0, NULL), *input;
    const json_t *batch = json_object_get(json_object_get(root, "dims"), "batch");
    model *m = make_model(c->info.name, (model_options){.small = c->small,
                                                        .pad = pad,
                                                        .batch = (int)json_integer_value(batch),
                                                        .train = true});
    json_array_foreach(json_object_get(root, "inputs"), index, input) compare_input(m, input);
    float rate;
    assert_int_equal(model_initial(model_find(m, "learning_rate"), 1, &rate, &st), BN_OK);
    assert_true(rate == (float)model_get_options(m)->learning_rate);
    json_decref(root);
    free(text);
    model_free(m);
}

static void test_inputs(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++) {
        compare_inputs(&c, c.small ? "small" : "full", false);
        if (c.small && c.info.pads)
            compare_inputs(&c, "small_pad", true);
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
