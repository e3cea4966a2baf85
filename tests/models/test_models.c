/*
 * test_models.c - variables of the models against the golden lists, and what is
 * said about mistakes.
 */
#include "tests/models/model_fixture.h"

#include <math.h>

/* ---- lists ------------------------------------------------------------------ */

static model_fill fill_of_kind(const char *kind)
{
    static const struct {
        const char *kind;
        model_fill fill;
    } kinds[] = {
        {"W6", MODEL_FILL_W6},
        {"NORM", MODEL_FILL_NORM},
        {"NORMR", MODEL_FILL_NORM_RESIDUAL},
        {"BIAS", MODEL_FILL_BIAS},
        {"RMEAN", MODEL_FILL_MEAN},
        {"RVAR", MODEL_FILL_VARIANCE},
        {"W3", MODEL_FILL_W3},
        {"EMB", MODEL_FILL_EMBEDDING},
        {"POS", MODEL_FILL_POSITION},
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
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++) {
        compare_with_list(c.info.name, c.small, MODEL_NHWC);
        compare_with_list(c.info.name, c.small, MODEL_NCHW);
    }
}

static int64_t integer_at(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void test_numbers_of_json(void **state)
{
    (void)state;
    model_case c;
    bn_status st = {.code = BN_OK};
    for (size_t i = 0; case_at(i, &c); i++) {
        json_t *root = golden_json(c.info.name, c.small);
        const json_t *optimizer = json_object_get(root, "optimizer");
        const json_t *dims = json_object_get(root, "dims");
        model *m = make_model(c.info.name, (model_options){.small = c.small, .train = true});
        const model_options *o = model_get_options(m);
        assert_int_equal(model_parameter_elements(m), integer_at(root, "param_count"));
        assert_true(o->learning_rate == json_real_value(json_object_get(optimizer, "lr")));
        assert_string_equal(json_string_value(json_object_get(optimizer, "name")),
                            o->optimizer == MODEL_ADAMW ? "AdamW" : "SGD");
        if (json_object_get(dims, "image"))
            assert_int_equal(o->image, integer_at(dims, "image"));
        assert_int_equal(o->seq, integer_at(dims, "seq"));
        assert_int_equal(o->seed, 1);
        model_free(m);

        double macs = 0;
        m = make_model(c.info.name,
                       (model_options){.small = c.small, .batch = (int)integer_at(dims, "batch")});
        assert_int_equal(model_forward_macs(m, &macs, &st), BN_OK);
        if ((int64_t)macs != integer_at(root, "forward_macs"))
            fail_msg("%s: %.0f multiply-adds, not %lld", c.info.name, macs,
                     (long long)integer_at(root, "forward_macs"));
        if (!c.small)
            assert_int_equal(c.info.golden_batch, integer_at(dims, "batch"));
        json_decref(root);
        model_free(m);
    }
}

/* Second names of parameters are those of the golden file. */
static void test_tied(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++) {
        json_t *root = golden_json(c.info.name, c.small), *name;
        json_t *tied = json_object_get(root, "tied");
        model *m = make_model(c.info.name, (model_options){.small = c.small});
        size_t count, aliases = 0;
        const model_variable *v = model_variables(m, &count);
        for (size_t k = 0; k < count; k++) {
            const char *alias;
            for (size_t n = 0; (alias = model_alias(m, v[k].name, n)); n++, aliases++) {
                name = json_object_get(tied, alias);
                assert_non_null(name);
                assert_string_equal(json_string_value(name), v[k].name);
            }
        }
        assert_int_equal(aliases, json_object_size(tied));
        json_decref(root);
        model_free(m);
    }
}

/* Stages are those of the golden file, in its order, with its shapes. */
static void compare_stages(const model_case *c)
{
    json_t *root = golden_json(c->info.name, c->small), *stage, *stages, *dim;
    const int batch = (int)integer_at(json_object_get(root, "dims"), "batch");
    model *m = make_model(c->info.name,
                          (model_options){.small = c->small, .batch = batch, .keep_stages = true});
    size_t at;
    const char *key;
    stages = json_object_get(json_object_get(json_object_get(root, "f64"), "eval"), "stages");
    json_object_foreach(stages, key, stage)
    {
        char name[256];
        snprintf(name, sizeof name, "stage/%s", key);
        const model_variable *v = model_find(m, name);
        if (!v)
            fail_msg("%s has no %s", c->info.name, name);
        assert_int_equal(v->role, MODEL_RESULT);
        assert_int_equal(v->shape.rank, json_array_size(json_array_get(stage, 0)));
        json_array_foreach(json_array_get(stage, 0), at, dim)
            assert_int_equal(v->shape.dims[at], json_integer_value(dim));
    }
    assert_non_null(model_find(m, "loss"));
    assert_null(model_find(m, "stage/layer9"));
    json_decref(root);
    model_free(m);
}

static void test_stages(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++)
        compare_stages(&c);
}

static void test_describe(void **state)
{
    (void)state;
    model_info info;
    for (size_t i = 0; model_describe(i, &info); i++) {
        assert_true(strlen(info.name) > 0 && strlen(info.summary) > 0 && strlen(info.source) > 0);
        assert_true(info.default_batch > 0 && info.golden_batch > 0);
        assert_true((info.default_image > 0) != (info.default_seq > 0));
    }
}

/* ---- mistakes -------------------------------------------------------------------- */

static void expect_error(const char *name, model_options options, bn_code code, const char *part)
{
    bn_status st = {.code = BN_OK};
    model *m = NULL;
    assert_int_equal(model_new(name, &options, &m, &st), code);
    assert_int_equal(st.code, code);
    assert_null(m);
    if (!has_identifiers(st.message, part))
        fail_msg("'%s' is not in: %s", part, st.message);
}

static void test_mistakes(void **state)
{
    (void)state;
    const model_options good = {.small = true, .dtype = TG_F32};
    model_options o = good;
    expect_error("resnet51", o, BN_NOT_FOUND, "'resnet51'|resnet18|resnet50");
    o.batch = -1;
    expect_error("resnet18", o, BN_INVALID, "resnet18|option batch|-1");
    o = good;
    o.image = -5;
    expect_error("resnet18", o, BN_INVALID, "option image|-5");
    o.image = 1 << 20;
    expect_error("resnet18", o, BN_INVALID, "option image");
    o = good;
    o.dtype = TG_F16;
    expect_error("resnet18", o, BN_INVALID, "option dtype|f16");
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
    expect_error("resnet50", o, BN_INVALID, "resnet50|layer4.0.bn2|batch|image|1|32");
    o.batch = 2;
    model_free(make_model("resnet50", o));
    o = good;
    expect_error("mixtral", o, BN_NOT_FOUND, "mixtral");
    o.pad = true;
    expect_error("llama", o, BN_INVALID, "llama|option pad");
    o.pad = false;
    o.seq = 65;
    expect_error("gpt2", o, BN_INVALID, "gpt2|option seq|65|64");
    o.seq = 64;
    model_free(make_model("gpt2", o));
    model_free(NULL);
}

/* Layers that the networks here do not exercise. */
/* Layers are alike: each further one adds the same number of parameters; 0 and the model's own
 * number are one model. */
static void test_depths(void **state)
{
    (void)state;
    size_t decoders = 0;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++) {
        const int own = c.small ? c.info.small_depth : c.info.depth;
        int64_t elements[4];
        if (!own)
            continue;
        for (int k = 0; k < 4; k++) {
            const int depth[] = {0, own, own + 1, own + 2};
            model *m =
                make_model(c.info.name, (model_options){.small = c.small, .depth = depth[k]});
            elements[k] = model_parameter_elements(m);
            assert_int_equal(model_get_options(m)->depth, k < 2 ? 0 : depth[k]);
            model_free(m);
        }
        assert_int_equal(elements[0], elements[1]);
        assert_true(elements[2] > elements[1]);
        assert_int_equal(elements[3] - elements[2], elements[2] - elements[1]);
        decoders++;
    }
    assert_int_equal(decoders, 5); /* gpt2 and llama in two sizes, mixtral in one */
    expect_error("resnet18", (model_options){.depth = 2}, BN_INVALID, "depth");
    expect_error("llama", (model_options){.depth = -1}, BN_INVALID, "depth");
    expect_error("llama", (model_options){.depth = 100000}, BN_INVALID, "depth");
}

static void test_layers(void **state)
{
    (void)state;
    static const model_row row = {.weights = MODEL_FILL_W6};
    model m = {.row = &row,
               .options = {.batch = 4, .image = 3, .dtype = TG_F32, .layout = MODEL_NHWC},
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
    assert_non_null(strstr(m.status.message, "features.3: option image: 3 is too small"));
    nn_pool pool; /* a later mistake does not replace the first */
    nn_max_pool2d_new(&m, &pool, "4", in, (nn_pool_spec){.kernel = 4, .stride = 2});
    assert_non_null(strstr(m.status.message, "features.3"));

    m.status.code = BN_OK;
    nn_max_pool2d_new(&m, &pool, "4", in, (nn_pool_spec){.kernel = 4, .stride = 2});
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
        cmocka_unit_test(test_tied),     cmocka_unit_test(test_stages),
        cmocka_unit_test(test_describe), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_depths),   cmocka_unit_test(test_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
