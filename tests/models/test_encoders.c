/*
 * test_encoders.c - ViT, BERT, UniT and codertimo's BERT beyond what the tests of
 * all models ask: sizes of one's own, what drops out, names, tables, ties.
 */
#include "tests/models/model_fixture.h"

#include <math.h>

/* ---- sizes ------------------------------------------------------------------ */

static void expect_error(const char *name, model_options options, const char *identifiers)
{
    bn_status st = {.code = BN_OK};
    model *m = NULL;
    options.dtype = TG_F32;
    options.small = true;
    assert_int_equal(model_new(name, &options, &m, &st), BN_INVALID);
    assert_null(m);
    if (!has_identifiers(st.message, identifiers))
        fail_msg("%s", st.message);
}

static void test_sizes_that_do_not_fit(void **state)
{
    (void)state;
    expect_error("vit_small_patch16_224", (model_options){.image = 50},
                 "vit_small_patch16_224|option image|50|8");
    expect_error("vit_small_patch16_224", (model_options){.image = 4},
                 "vit_small_patch16_224|option image|4|8");
    expect_error("vit_small_patch16_224", (model_options){.seq = 16},
                 "vit_small_patch16_224|option seq");
    expect_error("bert", (model_options){.seq = 65}, "bert|option seq|65|64");
    expect_error("unit_qnli", (model_options){.seq = 65}, "unit_qnli|option seq|65|64");
    expect_error("bert_pytorch", (model_options){.seq = 513}, "bert_pytorch|option seq|513|512");
    expect_error("bert_pytorch", (model_options){.pad = true}, "bert_pytorch|option pad");
}

/* How many nodes are called NAME. */
typedef struct counter {
    const char *name;
    size_t count;
} counter;

static bn_code count_node(void *context, tg_trace *t, tg_node *node, bn_status *st)
{
    counter *c = context;
    (void)t;
    (void)st;
    c->count += strcmp(tg_node_op_name(node), c->name) == 0;
    return BN_OK;
}

/* The same of one step. */
static size_t count_nodes(const char *model_name, model_options options, const char *name)
{
    bn_status st = {.code = BN_OK};
    counter c = {.name = name};
    tg_trace *t = tg_trace_new();
    model *m = make_model(model_name, options);
    tg_trace_set_hooks(t, &(tg_hooks){.context = &c, .node = count_node});
    tg_trace_begin(t);
    model_step(t, m);
    if (tg_trace_status(t, &st) != BN_OK)
        fail_msg("%s: %s", model_name, st.message);
    tg_trace_free(t);
    model_free(m);
    return c.count;
}

static void test_sizes_of_ones_own(void **state)
{
    (void)state;
    model_options o = {.small = true, .train = true, .image = 48, .batch = 3};
    model *m = make_model("vit_small_patch16_224", o);
    const model_variable *positions = model_find(m, "pos_embed");
    assert_int_equal(positions->shape.dims[1], 1 + 6 * 6);
    model_free(m);
    assert_true(count_nodes("vit_small_patch16_224", o, "dot") > 0);

    static const struct {
        const char *name;
        int most;
    } rows[] = {{"bert", 64}, {"unit_qnli", 64}, {"bert_pytorch", 512}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int seq = 1; seq <= rows[i].most; seq += rows[i].most - 1) {
            o = (model_options){.small = true, .train = true, .seq = seq};
            assert_true(count_nodes(rows[i].name, o, "dot") > 0);
        }
}

/* ---- dropout ----------------------------------------------------------------- */

/* Draws of a small model's step are as many as its source has dropouts. */
static void test_dropout(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t draws;
    } rows[] = {
        {"vit_small_patch16_224", 0},
        {"bert", 1 + 2 * 3},                    /* embeddings; weights, two outputs */
        {"unit_qnli", 1 + 2 * 3 + 2 * (2 + 4)}, /* BERT's; weights, three outputs, hidden */
        {"bert_pytorch",
         1 + 2 * (1 + 2 + 1 + 1)}, /* embeddings; weights, sublayers, hidden, block */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        model_options o = {.small = true, .train = true};
        assert_int_equal(count_nodes(rows[i].name, o, "random_bits"), rows[i].draws);
        model *m = make_model(rows[i].name, o);
        assert_int_equal(model_find(m, "generator") != NULL, rows[i].draws > 0);
        model_free(m);
        o.no_dropout = true;
        assert_int_equal(count_nodes(rows[i].name, o, "random_bits"), 0);
        o = (model_options){.small = true};
        assert_int_equal(count_nodes(rows[i].name, o, "random_bits"), 0);
        m = make_model(rows[i].name, o);
        assert_null(model_find(m, "generator"));
        model_free(m);
    }
}

/* ---- names, tables, ties -------------------------------------------------------- */

static void expect_scope(const char *name, const char *scope)
{
    static const unsigned one[TG_PHASE_COUNT] = {0};
    bn_status st = {.code = BN_OK};
    bn_text text = {0};
    tg_graph *const *graphs;
    size_t count;
    tg_trace *t = tg_trace_new();
    model *m = make_model(name, (model_options){.small = true, .train = true});
    tg_trace_begin(t);
    model_step(t, m);
    assert_int_equal(tg_trace_cut(t, one, NULL, &graphs, &count, &st), BN_OK);
    tg_graph_lower(graphs[0], "step", &text);
    char location[256];
    snprintf(location, sizeof location, "loc(\"backward/%s/", scope);
    if (!strstr(text.data, location))
        fail_msg("%s: no %s", name, scope);
    bn_text_free(&text);
    tg_trace_free(t);
    model_free(m);
}

/* Names in the text are those of the modules. */
static void test_scopes(void **state)
{
    (void)state;
    expect_scope("vit_small_patch16_224", "patch_embed.proj");
    expect_scope("vit_small_patch16_224", "blocks.1.attn.qkv");
    expect_scope("bert", "bert.encoder.layer.1.attention.output.LayerNorm");
    expect_scope("bert", "cls.predictions.decoder");
    expect_scope("unit_qnli", "decoder.layers.1.multihead_attn.out_proj");
    expect_scope("bert_pytorch", "bert.transformer_blocks.1.attention.linear_layers.2");
    expect_scope("bert_pytorch", "bert.transformer_blocks.0.input_sublayer.norm");
}

static void test_sinusoids(void **state)
{
    (void)state;
    bn_status st = {.code = BN_OK};
    model *m = make_model("bert_pytorch", (model_options){.small = true, .dtype = TG_BF16});
    const model_variable *v = model_find(m, "bert.embedding.position.pe");
    assert_non_null(v);
    assert_int_equal(v->role, MODEL_BUFFER);
    assert_int_equal(v->shape.dtype, TG_F32);
    assert_int_equal(v->shape.dims[1], 512);
    assert_int_equal(v->shape.dims[2], 64);
    float *pe = malloc((size_t)tg_type_bytes(&v->shape));
    assert_int_equal(model_initial(v, 1, pe, &st), BN_OK);
    for (int k = 0; k < 32; k++) {
        const double angle = 300 * pow(10000.0, -2.0 * k / 64);
        assert_float_equal(pe[2 * k], 0, 0);
        assert_float_equal(pe[2 * k + 1], 1, 0);
        assert_float_equal(pe[300 * 64 + 2 * k], sin(angle), 1e-6);
        assert_float_equal(pe[300 * 64 + 2 * k + 1], cos(angle), 1e-6);
    }
    free(pe);
    model_free(m);
}

/* Every tie that the golden data has, and no other. */
static void test_ties(void **state)
{
    (void)state;
    json_t *root = golden_json("bert", true), *tied = json_object_get(root, "tied"), *name;
    model *m = make_model("bert", (model_options){.small = true});
    const char *alias;
    size_t count, ties = 0;
    assert_int_equal(json_object_size(tied), 2);
    json_object_foreach(tied, alias, name)
    {
        assert_non_null(model_find(m, json_string_value(name)));
        assert_string_equal(model_alias(m, json_string_value(name), 0), alias);
    }
    const model_variable *v = model_variables(m, &count);
    for (size_t i = 0; i < count; i++)
        ties += model_alias(m, v[i].name, 0) != NULL;
    assert_int_equal(ties, 2);
    json_decref(root);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_that_do_not_fit),
        cmocka_unit_test(test_sizes_of_ones_own),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_sinusoids),
        cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
