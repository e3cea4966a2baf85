/*
 * test_scan_models.c - models whose like layers run as one loop: variables, work and graphs are
 * those of layers one by one, and neither trace nor text grows with their number. Values are
 * compared by check_verify_scan.sh.
 */
#include "tests/models/model_fixture.h"

static const unsigned whole[TG_PHASE_COUNT] = {0};

/* Every case whose model takes the option; INDEX from 0 until false. */
static bool scan_case_at(size_t index, model_case *c)
{
    for (size_t i = 0; case_at(i, c); i++)
        if (c->info.scans && index-- == 0)
            return true;
    return false;
}

static void trace(tg_trace *t, model *m)
{
    bn_status st = {.code = BN_OK};
    tg_trace_begin(t);
    model_step(t, m);
    if (tg_trace_status(t, &st) != BN_OK)
        fail_msg("%s", st.message);
}

static tg_graph *const *cut(tg_trace *t, const unsigned *groups, size_t *count)
{
    bn_status st = {.code = BN_OK};
    tg_graph *const *graphs;
    if (tg_trace_cut(t, groups, NULL, &graphs, count, &st) != BN_OK)
        fail_msg("%s", st.message);
    return graphs;
}

/* Names, shapes and order are the framework's in both; tensors of layers are shared. */
static void variables_are_those_of_each_layer(void **state)
{
    (void)state;
    model_case c;
    size_t cases = 0;
    for (; scan_case_at(cases, &c); cases++) {
        model_options o = {
            .small = c.small, .train = true, .keep_gradients = true, .keep_stages = true};
        model *apart = make_model(c.info.name, o);
        o.scan = true;
        model *loop = make_model(c.info.name, o);
        size_t count, other, shared = 0;
        const model_variable *a = model_variables(apart, &count);
        const model_variable *b = model_variables(loop, &other);
        assert_int_equal(count, other);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(a[i].name, b[i].name);
            assert_true(tg_type_equal(&a[i].shape, &b[i].shape));
            assert_int_equal(a[i].role, b[i].role);
            assert_int_equal(a[i].fill, b[i].fill);
            assert_int_equal(a[i].layers, 0);
            const int64_t parts = b[i].layers ? b[i].layers : 1;
            assert_int_equal(tg_type_bytes(tg_tensor_type(b[i].tensor)),
                             parts * tg_type_bytes(&b[i].shape));
            shared += b[i].layer > 0;
        }
        assert_true(shared > 10);
        assert_int_equal(model_parameter_elements(apart), model_parameter_elements(loop));
        model_free(apart);
        model_free(loop);
    }
    assert_true(cases >= 8);
}

static void steps_do_the_same_work(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; scan_case_at(i, &c); i++)
        for (int train = 0; train < 2; train++) {
            double macs[2];
            for (int scan = 0; scan < 2; scan++) {
                model *m = make_model(
                    c.info.name,
                    (model_options){.small = c.small, .train = train, .scan = scan, .batch = 2});
                tg_trace *t = tg_trace_new();
                tg_graph_cost cost;
                size_t count;
                trace(t, m);
                tg_graph_measure(cut(t, whole, &count)[0], &cost);
                macs[scan] = cost.macs;
                tg_trace_free(t);
                model_free(m);
            }
            if (macs[0] != macs[1])
                fail_msg("%s: %g multiply-adds, as a loop %g", c.info.name, macs[0], macs[1]);
        }
}

static size_t loops_in(const tg_graph *graph, size_t *length)
{
    bn_text text = {0};
    size_t loops = 0;
    tg_graph_lower(graph, "step", &text);
    for (const char *at = text.data; (at = strstr(at, "\"stablehlo.while\"")); at++)
        loops++;
    if (length)
        *length = text.length;
    bn_text_free(&text);
    return loops;
}

static void neither_trace_nor_text_grows_with_depth(void **state)
{
    static const char *const decoders[] = {"gpt2", "llama", "mixtral"};
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        size_t nodes[2], length[2];
        for (int deep = 0; deep < 2; deep++) {
            model *m =
                make_model(decoders[k / 2],
                           (model_options){.train = k % 2, .scan = true, .depth = deep ? 6 : 3});
            tg_trace *t = tg_trace_new();
            size_t count;
            trace(t, m);
            nodes[deep] = tg_trace_traced(t);
            assert_int_equal(loops_in(cut(t, whole, &count)[0], &length[deep]), 1 + k % 2);
            tg_trace_free(t);
            model_free(m);
        }
        assert_int_equal(nodes[0], nodes[1]);
        assert_int_equal(length[0], length[1]);
    }
}

/* The forward graph has its loop, the backward graph the other one. */
static void phases_have_a_loop_each(void **state)
{
    static const unsigned three[TG_PHASE_COUNT] = {[TG_PHASE_BACKWARD] = 1, [TG_PHASE_UPDATE] = 2};
    (void)state;
    model_case c;
    for (size_t i = 0; scan_case_at(i, &c); i++) {
        model *m =
            make_model(c.info.name, (model_options){.small = c.small, .train = true, .scan = true});
        tg_trace *t = tg_trace_new();
        size_t count;
        trace(t, m);
        tg_graph *const *graphs = cut(t, three, &count);
        assert_int_equal(count, 3);
        for (size_t g = 0; g < 3; g++)
            assert_int_equal(loops_in(graphs[g], NULL), g < 2 ? 1 : 0);
        tg_trace_free(t);
        model_free(m);
    }
}

/* Multiply-adds of a training step, and bytes that its loops are to keep on the host. */
static tg_graph_cost cost_of(const model_case *c, tg_remat remat, bool offload)
{
    model *m = make_model(c->info.name, (model_options){.small = c->small,
                                                        .train = true,
                                                        .scan = true,
                                                        .batch = 2,
                                                        .remat = remat,
                                                        .offload = offload});
    tg_trace *t = tg_trace_new();
    tg_graph_cost cost;
    size_t count;
    trace(t, m);
    tg_graph_measure(cut(t, whole, &count)[0], &cost);
    tg_trace_free(t);
    model_free(m);
    return cost;
}

/* A layer's products are three times those of its forward pass, and remat makes those again but
 * for such whose results nobody needs. */
static void layers_are_made_again(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; scan_case_at(i, &c); i++) {
        const tg_graph_cost none = cost_of(&c, TG_REMAT_NONE, true);
        const tg_graph_cost dots = cost_of(&c, TG_REMAT_DOTS, true);
        const tg_graph_cost layer = cost_of(&c, TG_REMAT_LAYER, true);
        assert_true(none.macs == dots.macs);
        if (layer.macs <= none.macs || layer.macs > none.macs * 4 / 3)
            fail_msg("%s: %g multiply-adds, with remat %g", c.info.name, none.macs, layer.macs);
        if (!(none.offloaded > dots.offloaded && dots.offloaded > 2 * layer.offloaded &&
              layer.offloaded > 0))
            fail_msg("%s: saved %g bytes, of remat dots %g, of remat layer %g", c.info.name,
                     none.offloaded, dots.offloaded, layer.offloaded);
    }
}

/* Each layer of llama passes on (batch, tokens, width). */
static void the_offloaded_stack_is_that_of_the_layers_inputs(void **state)
{
    (void)state;
    model_case c;
    for (size_t i = 0; scan_case_at(i, &c); i++) {
        const int64_t width = c.small ? 64 : 256, depth = c.small ? 2 : 4;
        if (strcmp(c.info.name, "llama") != 0)
            continue;
        const double bytes = cost_of(&c, TG_REMAT_LAYER, true).offloaded;
        assert_true(bytes == (double)(depth * 2 * (c.small ? 16 : 64) * width * 4));
    }
}

static void what_a_loop_saves_wants_a_loop(void **state)
{
    (void)state;
    const model_options wrong[] = {
        {.small = true, .train = true, .remat = TG_REMAT_LAYER, .dtype = TG_F32},
        {.small = true, .train = true, .offload = true, .dtype = TG_F32},
        {.small = true, .scan = true, .remat = TG_REMAT_DOTS, .dtype = TG_F32}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bn_status st = {.code = BN_OK};
        model *m = NULL;
        assert_int_equal(model_new("llama", &wrong[i], &m, &st), BN_INVALID);
        assert_true(has_identifiers(st.message, "option|scan"));
        assert_null(m);
    }
}

static void models_without_like_layers_refuse(void **state)
{
    (void)state;
    bn_status st = {.code = BN_OK};
    model *m = NULL;
    const model_options o = {.scan = true, .dtype = TG_F32};
    assert_int_equal(model_new("resnet18", &o, &m, &st), BN_INVALID);
    assert_true(has_identifiers(st.message, "resnet18|option scan"));
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_those_of_each_layer),
        cmocka_unit_test(steps_do_the_same_work),
        cmocka_unit_test(neither_trace_nor_text_grows_with_depth),
        cmocka_unit_test(phases_have_a_loop_each),
        cmocka_unit_test(layers_are_made_again),
        cmocka_unit_test(the_offloaded_stack_is_that_of_the_layers_inputs),
        cmocka_unit_test(what_a_loop_saves_wants_a_loop),
        cmocka_unit_test(models_without_like_layers_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
