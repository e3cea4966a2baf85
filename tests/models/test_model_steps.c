/*
 * test_model_steps.c - steps of the models as traces: hashes, what is assigned,
 * cutting by phases. Numbers out of executed steps are harness/verify/verify.c's.
 */
#include "tests/models/model_fixture.h"

static tg_hash trace_once(tg_trace *t, model *m)
{
    bn_status st = {.code = BN_OK};
    tg_trace_begin(t);
    model_step(t, m);
    if (tg_trace_status(t, &st) != BN_OK)
        fail_msg("%s", st.message);
    return tg_trace_hash(t);
}

static tg_hash hash_of(const char *name, model_options options)
{
    tg_trace *t = tg_trace_new();
    model *m = make_model(name, options);
    tg_hash first = trace_once(t, m), second = trace_once(t, m);
    assert_true(tg_hash_equal(first, second));
    model_free(m);
    tg_trace_free(t);
    return first;
}

static void test_hash(void **state)
{
    (void)state;
    const model_options base = {.train = true, .batch = 2, .dtype = TG_F32};
    model_options o = base;
    tg_hash h = hash_of("resnet50", base);
    o.seed = 9;
    o.learning_rate = 0.5;
    assert_true(tg_hash_equal(h, hash_of("resnet50", o))); /* contents, not structure */
    o = base;
    o.batch = 3;
    assert_false(tg_hash_equal(h, hash_of("resnet50", o)));
    o = base;
    o.dtype = TG_BF16;
    assert_false(tg_hash_equal(h, hash_of("resnet50", o)));
    o = base;
    o.layout = MODEL_NCHW;
    assert_false(tg_hash_equal(h, hash_of("resnet50", o)));
    o = base;
    o.train = false;
    assert_false(tg_hash_equal(h, hash_of("resnet50", o)));
    o = base;
    o.image = 192;
    assert_false(tg_hash_equal(h, hash_of("resnet50", o)));
}

/* A step has assigned exactly the variables it should. */
static void check_assigned(const tg_trace *t, const model *m)
{
    size_t count, expected = 0;
    const model_variable *v = model_variables(m, &count);
    const bool train = model_get_options(m)->train;
    for (size_t i = 0; i < count; i++)
        expected +=
            v[i].role == MODEL_RESULT || (train && v[i].role != MODEL_INPUT &&
                                          v[i].role != MODEL_SCALAR && v[i].role != MODEL_BUFFER);
    assert_int_equal(tg_trace_assigned_count(t), expected);
    for (size_t i = 0; i < expected; i++) {
        tg_tensor *value, *variable = tg_trace_assigned(t, i, &value);
        assert_true(tg_type_equal(tg_tensor_type(variable), tg_tensor_type(value)));
    }
}

static int compare_ns(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_step(const char *name, model_options options)
{
    static const unsigned five[TG_PHASE_COUNT] = {0, 1, 2, 3, 4};
    bn_status st = {.code = BN_OK};
    tg_trace *t = tg_trace_new();
    model *m = make_model(name, options);
    uint64_t took[31];
    for (size_t i = 0; i < 31; i++) {
        tg_trace_begin(t);
        uint64_t begin = bn_now_ns();
        model_step(t, m);
        took[i] = bn_now_ns() - begin;
    }
    qsort(took, 31, sizeof *took, compare_ns);
    if (tg_trace_status(t, &st) != BN_OK)
        fail_msg("%s: %s", name, st.message);
    check_assigned(t, m);
    size_t nodes = tg_trace_node_count(t);

    tg_graph *const *graphs;
    size_t count;
    if (tg_trace_cut(t, five, NULL, &graphs, &count, &st) != BN_OK)
        fail_msg("%s: %s", name, st.message);
    /* Five of image classifiers; others may have nothing to prepare or clean up. */
    if (options.train)
        assert_in_range(count, 3, 5);
    else
        assert_in_range(count, 1, 2);
    if (strncmp(name, "resnet", 6) == 0)
        assert_int_equal(count, options.train ? 5 : options.keep_stages ? 2 : 1);
    print_message("%s%s %s %s %s: %zu nodes traced in %.0f us; by graph", name,
                  options.small ? " small" : "", options.train ? "training" : "inference",
                  bn_dtype_text(options.dtype), options.layout == MODEL_NHWC ? "NHWC" : "NCHW",
                  nodes, (double)took[15] * 1e-3);
    for (size_t i = 0; i < count; i++) {
        tg_graph_cost cost;
        tg_graph_measure(graphs[i], &cost);
        print_message(" %lld", (long long)cost.nodes);
    }
    print_message("\n");
    model_free(m);
    tg_trace_free(t);
}

static void test_steps(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++)
        for (int train = 0; train < 2; train++)
            for (int bf16 = 0; bf16 < 2; bf16++)
                for (int layout = 0; layout < 2; layout++)
                    check_step(c.info.name, (model_options){.small = c.small,
                                                            .train = train,
                                                            .batch = 8,
                                                            .dtype = bf16 ? TG_BF16 : TG_F32,
                                                            .layout = (model_layout)layout});
}

static void test_steps_with_results(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; case_at(i, &c); i++)
        for (int train = 0; train < 2; train++)
            for (int adamw = 0; adamw < 2; adamw++)
                check_step(c.info.name,
                           (model_options){.small = c.small,
                                           .train = train,
                                           .batch = 2,
                                           .dtype = TG_F32,
                                           .optimizer = adamw ? MODEL_ADAMW : MODEL_SGD,
                                           .pad = c.info.pads && adamw,
                                           .keep_gradients = train,
                                           .keep_stages = true});
}

/* Variable NAME of M, where it exists, for rows of TOKENS. */
static void set_length(model *m, const char *name, int64_t tokens)
{
    const model_variable *v = model_find(m, name);
    if (!v)
        return;
    tg_type type = v->shape;
    type.dims[1] = tokens;
    tg_variable_retype(v->tensor, &type);
}

static tg_hash hash_at_lengths(tg_trace *t, model *m, int64_t source, int64_t target)
{
    set_length(m, "src_tokens", source);
    set_length(m, "prev_output_tokens", target);
    set_length(m, "target", target);
    set_length(m, "logits", target);
    return trace_once(t, m);
}

/* Rows of sources and of targets may differ in length, and from step to step. */
static void test_lengths(void **state)
{
    (void)state;
    for (int train = 0; train < 2; train++) {
        tg_trace *t = tg_trace_new();
        model *m = make_model("transformer_wmt_en_de",
                              (model_options){.small = true, .batch = 2, .train = train});
        tg_hash usual = trace_once(t, m);
        tg_hash shorter = hash_at_lengths(t, m, 12, 9);
        assert_false(tg_hash_equal(usual, shorter));
        assert_false(tg_hash_equal(shorter, hash_at_lengths(t, m, 9, 12)));
        assert_false(tg_hash_equal(shorter, hash_at_lengths(t, m, 12, 10)));
        assert_true(tg_hash_equal(shorter, hash_at_lengths(t, m, 12, 9)));
        assert_true(tg_hash_equal(usual, hash_at_lengths(t, m, 16, 16)));
        model_free(m);
        tg_trace_free(t);
    }
}

/* Names in the text are torchvision's. */
static void test_scopes(void **state)
{
    (void)state;
    static const unsigned one[TG_PHASE_COUNT] = {0};
    bn_status st = {.code = BN_OK};
    bn_text text = {0};
    tg_trace *t = tg_trace_new();
    model *m = make_model("resnet18", (model_options){.small = true, .batch = 2, .train = true});
    tg_graph *const *graphs;
    size_t count;
    trace_once(t, m);
    assert_int_equal(tg_trace_cut(t, one, NULL, &graphs, &count, &st), BN_OK);
    assert_int_equal(count, 1);
    tg_graph_lower(graphs[0], "step", &text);
    assert_non_null(strstr(text.data, "layer2.0.downsample.0"));
    assert_non_null(strstr(text.data, "layer4.0.bn2"));
    bn_text_free(&text);
    model_free(m);
    tg_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_steps_with_results),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
