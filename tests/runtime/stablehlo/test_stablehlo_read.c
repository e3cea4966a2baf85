/* test_stablehlo_read.c - StableHLO text as a graph: statements, operands, regions, places; and
 * what is refused. */
#include "tests/runtime/stablehlo/stablehlo_fixture.h"

/* The first node of the op called NAME. */
static const shlo_node *find(const shlo_graph *g, const char *name)
{
    for (size_t i = 0; i < g->node_count; i++)
        if (piece_is(g->ops[g->nodes[i].op], name))
            return &g->nodes[i];
    fail_msg("no %s", name);
    return NULL;
}

/* The node that computes operand INDEX of NODE. */
static const shlo_node *giver(const shlo_graph *g, const shlo_node *node, uint32_t index)
{
    assert_true(index < node->operand_count);
    return &g->nodes[g->operands[node->first_operand + index].node];
}

static uint32_t number(const shlo_graph *g, const shlo_node *node, uint32_t index)
{
    assert_true(index < node->operand_count);
    return g->operands[node->first_operand + index].number;
}

static void our_own_text_is_read(void **state)
{
    (void)state;
    shlo_graph *g = graph_of(
        "module @step {\n"
        "  func.func public @main(%arg0: tensor<2x3xf32>, "
        "%arg1: tensor<3x2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<3x2xf32>) {\n"
        "    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], "
        "precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> "
        "tensor<2x2xf32> loc(\"fc/dot\")\n"
        "    %x0 = stablehlo.constant dense<0xFF800000> : tensor<f32> loc(\"reduce_max\")\n"
        "    %1 = stablehlo.reduce(%0 init: %x0) applies stablehlo.maximum across dimensions = "
        "[0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32> loc(\"reduce_max\")\n"
        "    %x1 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3x2xf32>\n"
        "    return %x1 : tensor<3x2xf32>\n"
        "  }\n"
        "}\n");
    assert_int_equal(g->node_count, 9);
    assert_int_equal(g->of_kind[SHLO_MODULE], 1);
    assert_int_equal(g->of_kind[SHLO_FUNCTION], 1);
    assert_int_equal(g->of_kind[SHLO_ARGUMENT], 2);
    assert_int_equal(g->of_kind[SHLO_OP], 5);
    const shlo_node *dot = find(g, "stablehlo.dot_general");
    assert_int_equal(dot->line, 3);
    assert_int_equal(dot->depth, 2);
    assert_piece(dot->types, "tensor<2x2xf32>");
    assert_piece(dot->place.name, "fc/dot");
    assert_int_equal(giver(g, dot, 1)->kind, SHLO_ARGUMENT);
    assert_piece(giver(g, dot, 1)->types, "tensor<3x2xf32>");
    assert_piece(giver(g, dot, 1)->attributes, "{tf.aliasing_output = 0 : i32}");
    const shlo_node *reduce = find(g, "stablehlo.reduce");
    assert_int_equal(reduce->operand_count, 2);
    assert_ptr_equal(giver(g, reduce, 0), dot);
    assert_ptr_equal(giver(g, reduce, 1), find(g, "stablehlo.constant"));
    assert_piece(reduce->types, "tensor<f32>");
    assert_piece(find(g, "stablehlo.constant")->attributes, "dense<0xFF800000>");
    assert_piece(find(g, "stablehlo.broadcast_in_dim")->place.name, "");
    assert_int_equal(find(g, "return")->result_count, 0);
    assert_ptr_equal(giver(g, find(g, "return"), 0), find(g, "stablehlo.broadcast_in_dim"));
    shlo_graph_free(g);
}

/* Output of MLIR's own printer: regions, several results, aliased source locations. */
static const char of_jax[] =
    "#loc = loc(unknown)\n"
    "#loc1 = loc(\"p['w']\")\n"
    "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n"
    "  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true} loc(\"w\"), "
    "%arg1: tensor<i32> loc(#loc1)) -> (tensor<i32> {jax.result_info = \"r\"}, tensor<4xf32>) {\n"
    "    %c = stablehlo.constant dense<0> : tensor<i32> loc(#loc2)\n"
    "    %cst = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<4xf32> "
    "attributes {x = {}}\n"
    "    cond {\n"
    "      %3 = stablehlo.compare  LT, %iterArg, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "      stablehlo.return %3 : tensor<i1> loc(#loc)\n"
    "    } do {\n"
    "      // a comment\n"
    "      %3 = stablehlo.negate %iterArg_0 : tensor<4xf32>\n"
    "      stablehlo.return %iterArg, %3 : tensor<i32>, tensor<4xf32>\n"
    "    } loc(callsite(#loc3 at #loc))\n"
    "    %1 = stablehlo.reduce(%0#1 init: %cst) across dimensions = [0] : (tensor<4xf32>, "
    "tensor<f32>) -> tensor<f32>\n"
    "     reducer(%a: tensor<f32>, %b: tensor<f32>)  {\n"
    "      %2 = stablehlo.add %a, %b : tensor<f32>\n"
    "      stablehlo.return %2 : tensor<f32>\n"
    "    }\n"
    "    %2 = stablehlo.select %p, %0#1, %0#1 : tensor<4xi1>, tensor<4xf32>\n"
    "    return %0#0, %2 : tensor<i32>, tensor<4xf32> loc(#loc)\n"
    "  } loc(#loc)\n"
    "} loc(#loc)\n"
    "#loc2 = loc(\"f.py\":5:22 to :30)\n"
    "#loc3 = loc(\"jit(f)/while\"(#loc2))\n";

/* OF_JAX with a value P before the loop. */
static char *jax_text(void)
{
    static const char mark[] = "    %0:2 = ";
    static const char more[] = "    %p = stablehlo.iota dim = 0 : tensor<4xi1>\n";
    const char *at = strstr(of_jax, mark);
    char *text = malloc(sizeof of_jax + sizeof more);
    assert_non_null(text);
    assert_non_null(at);
    sprintf(text, "%.*s%s%s", (int)(at - of_jax), of_jax, more, at);
    return text;
}

static void regions_are_read(void **state)
{
    (void)state;
    char *text = jax_text();
    shlo_graph *g = graph_of(text);
    free(text);
    const shlo_node *loop = find(g, "stablehlo.while"), *negate = find(g, "stablehlo.negate");
    const shlo_node *compare = find(g, "stablehlo.compare"), *reduce = find(g, "stablehlo.reduce");
    assert_int_equal(loop->result_count, 2);
    assert_int_equal(loop->operand_count, 2);
    assert_ptr_equal(giver(g, loop, 0), find(g, "stablehlo.constant"));
    assert_piece(loop->types, "tensor<i32>, tensor<4xf32>");
    /* Arguments of its blocks are numbered through all its regions. */
    assert_ptr_equal(giver(g, compare, 0), loop);
    assert_int_equal(number(g, compare, 0), SHLO_BLOCK + 0);
    assert_int_equal(giver(g, compare, 1)->kind, SHLO_ARGUMENT);
    assert_int_equal(number(g, negate, 0), SHLO_BLOCK + 1);
    assert_true(negate->depth == loop->depth + 1 && &g->nodes[negate->parent] == loop);
    assert_int_equal(number(g, reduce, 0), 1);
    assert_ptr_equal(giver(g, find(g, "stablehlo.add"), 1), reduce);
    assert_int_equal(number(g, find(g, "stablehlo.add"), 1), SHLO_BLOCK + 1);
    assert_piece(reduce->types, "tensor<f32>");
    /* The condition's type is an operand's. */
    assert_piece(find(g, "stablehlo.select")->types, "tensor<4xf32>");
    assert_ptr_equal(giver(g, find(g, "return"), 1), find(g, "stablehlo.select"));
    shlo_graph_free(g);
}

static void places_are_read(void **state)
{
    (void)state;
    char *text = jax_text();
    shlo_graph *g = graph_of(text);
    free(text);
    assert_piece(find(g, "stablehlo.while")->place.name, "jit(f)/while");
    assert_piece(find(g, "stablehlo.while")->place.source, "\"f.py\":5:22 to :30");
    assert_piece(find(g, "argument")->place.source, "");
    assert_piece(find(g, "stablehlo.constant")->place.name, "\"f.py\":5:22 to :30");
    assert_piece(find(g, "argument")->place.name, "w");
    assert_piece(find(g, "argument")[1].place.name, "p['w']");
    assert_piece(find(g, "return")->place.name, "");
    assert_piece(find(g, "return")->text, "return %0#0, %2 : tensor<i32>, tensor<4xf32>");
    shlo_graph_free(g);
}

/* The innermost call of what JAX and others print is where a statement comes from. */
static void sources_are_read(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"\"f.py\":5:22 to :30", "f.py:5"},
        {"\"f.py\"\n : 5:22", "f.py:5"},
        {"\"a\\\"\xc3\xa9.py\":5:1", "a\\\"\xc3\xa9.py:5"},
        {"\"a\\\"\x1b[31m.py\":5:1", "a\\\"?[31m.py:5"},
        {"\"add\"(\"f.py\":5:22)", "f.py:5"},
        {"callsite(\"add\"(\"f.py\":5:22) at \"g.py\":7:1)", "f.py:5"},
        {"callsite(\"f.py\":5:22 at \"g.py\":7:1)", "f.py:5"},
        {"fused<\"x\">[\"f.py\":5:22, \"g.py\":7:1]", "f.py:5"},
        {"fused[#a, \"g.py\":7:1]", "h.py:9"},
        {"#a", "h.py:9"},
        {"#b", "h.py:9"},
        {"#loop", NULL},
        {"#none", NULL},
        {"\"add\"", NULL},
        {"\"f.py\"", NULL},
        {"unknown", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000];
        bn_text source = {0};
        snprintf(text, sizeof text,
                 "module {\n  func.func @main(%%a: tensor<f32>) -> tensor<f32> {\n"
                 "    %%0 = stablehlo.add %%a, %%a : tensor<f32> loc(%s)\n"
                 "    return %%0 : tensor<f32>\n  }\n}\n"
                 "#a = loc(\"h.py\":9:1)\n#b = loc(\"mul\"(callsite(#a at #loop)))\n"
                 "#loop = loc(\"l\"(#loop))\n",
                 rows[i][0]);
        shlo_graph *g = graph_of(text);
        shlo_source_put(find(g, "stablehlo.add"), &source);
        if (rows[i][1])
            assert_string_equal(source.data, rows[i][1]);
        else
            assert_int_equal(source.length, 0);
        bn_text_free(&source);
        shlo_graph_free(g);
    }
}

/* Each of the texts that fuzzing begins with, in generic form and by hand. */
static void other_texts_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t functions;
    } texts[] = {{"affine", 1}, {"constants", 1}, {"generic", 2}, {"indices", 1},
                 {"jax", 2},    {"norms", 1},     {"signal", 1},  {"windows", 1}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char path[128], *text;
        size_t size;
        bn_status st = {0};
        shlo_graph *g;
        snprintf(path, sizeof path, "tests/fuzz/corpus/stablehlo/%s", texts[i].name);
        assert_ok(bn_regular_read(path, &text, &size, &st), &st);
        if (shlo_graph_read(text, size, &g, &st) != BN_OK)
            fail_msg("%s: %s", path, st.message);
        assert_int_equal(g->of_kind[SHLO_FUNCTION], texts[i].functions);
        shlo_graph_free(g);
        free(text);
    }
}

static void refused(const char *text, size_t length, const char *why)
{
    bn_status st = {0};
    shlo_graph *g = (shlo_graph *)&st;
    assert_fails(shlo_graph_read(text, length, &g, &st), BN_FORMAT, why, &st);
    assert_null(g);
}

#define MAIN "module {\n  func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"

static void what_is_no_graph_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"", "no func.func"},
        {"HloModule jit_f, is_scheduled=true\n", "line 1: no statement of StableHLO begins so"},
        {"Dear reader,\n", "line 1: no statement"},
        {"{\"json\": 1}\n", "line 1: no statement"},
        {"module {\n}\n", "no func.func"},
        {MAIN, "line 3: the text ends within a region: it was cut"},
        {MAIN "    %0 = stablehlo.add %a, %a : tensor<2x", "bracket '<' does not end"},
        {MAIN "    %0 = stablehlo.slice %a [0", "ends within brackets"},
        {MAIN "    %0 = \"stablehlo.add", "line 3: a string does not end"},
        {MAIN "    %0 = stablehlo.add %a, %b : tensor<2xf32>\n", "line 3: %b is used before"},
        {MAIN "    %0 = stablehlo.add %a, %0 : tensor<2xf32>\n", "%0 is used before"},
        {MAIN "    %0 stablehlo.add %a, %a : tensor<2xf32>\n", "line 3: no statement"},
        {MAIN "    %0:x = stablehlo.add %a, %a : tensor<2xf32>\n", "line 3: no statement"},
        {MAIN "    %0 = stablehlo.add %a, %a) : tensor<2xf32>\n", "closed that was not opened"},
        {MAIN "    return %a : tensor<2xf32>\n  }\n}\n}\n", "line 6: a bracket is closed"},
        {MAIN "    return %a : tensor<2xf32>\n  }\n}\nmodule {\n}\n", "line 6: something follows"},
        {MAIN "    return %a : tensor<2xf32>\n  }\n}\nfunc.func @f() {\n}\n", "line 6: something"},
        {"^bb0(%a: tensor<f32>):\n", "a block outside of a region"},
        {MAIN "    %0 = stablehlo.add %a, \x01\n", "line 3: a byte that"},
        {MAIN "    %0 = stablehlo.\xC3\xA9\n", "line 3: a byte that"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(wrong[i].text, strlen(wrong[i].text), wrong[i].why);
    refused("ML\xEFR\r", 5, "byte code");
    refused("module {\0}", 10, "zero bytes");
    refused(MAIN, SHLO_MOST_BYTES + 1, "may have");
}

/* Names defined in a region end with it. */
static void names_end_with_their_region(void **state)
{
    (void)state;
    static const char begin[] = MAIN "    %0 = \"stablehlo.case\"(%a) ({\n"
                                     "      %1 = stablehlo.negate %a : tensor<2xf32>\n"
                                     "      stablehlo.return %1 : tensor<2xf32>\n"
                                     "    }) : (tensor<2xf32>) -> tensor<2xf32>\n";
    char text[1024];
    snprintf(text, sizeof text, "%s    return %%1 : tensor<2xf32>\n  }\n}\n", begin);
    refused(text, strlen(text), "line 7: %1 is used before");
    snprintf(text, sizeof text, "%s    return %%0 : tensor<2xf32>\n  }\n}\n", begin);
    shlo_graph_free(graph_of(text));
}

static void regions_may_not_be_too_deep(void **state)
{
    (void)state;
    char text[4096] = MAIN;
    for (int i = 0; i < SHLO_MOST_DEPTH; i++)
        strcat(text, "\"a.b\"() ({\n");
    refused(text, strlen(text), "more than 64 regions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_text_is_read),
        cmocka_unit_test(regions_are_read),
        cmocka_unit_test(places_are_read),
        cmocka_unit_test(sources_are_read),
        cmocka_unit_test(other_texts_are_read),
        cmocka_unit_test(what_is_no_graph_is_refused),
        cmocka_unit_test(names_end_with_their_region),
        cmocka_unit_test(regions_may_not_be_too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
