/* test_stablehlo_diff.c - differences of graphs: none, each reason, added and removed statements,
 * large graphs, orders that are all different. */
#include "tests/runtime/stablehlo/diff_fixture.h"

/* Asserts the text of difference INDEX of T. */
static void assert_words(const two *t, size_t index, const char *want)
{
    bn_text text = {0};
    assert_true(index < t->d->count);
    shlo_difference_put(t->d, &t->d->list[index], &text);
    if (!text.data || strcmp(text.data, want) != 0)
        fail_msg("difference %zu is '%s', not '%s'", index, text.data ? text.data : "", want);
    bn_text_free(&text);
}

static const char plain[] =
    HEAD(F) "    %0 = stablehlo.add %arg0, %arg1 : " F " loc(\"layer1/add\")\n"
            "    %1 = stablehlo.constant dense<2.0> : " F " loc(\"layer1/constant\")\n"
            "    %2 = stablehlo.multiply %0, %1 : " F " loc(\"layer1/mul\")\n"
            "    %3 = stablehlo.transpose %2, dims = [0, 1] : (" F ") -> " F
            " loc(\"layer2/transpose\")\n"
            "    %4 = stablehlo.negate %3 : " F " loc(\"layer2/neg\")\n"
            "    return %4 : " F "\n" TAIL;

/* Compares PLAIN with itself, FROM replaced by TO. */
static two compare_with(const char *from, const char *to)
{
    char *other = with(plain, from, to);
    two t = compare(plain, other);
    free(other);
    return t;
}

/* ---- the same ------------------------------------------------------------------------------- */

static void names_and_places_do_not_count(void **state)
{
    (void)state;
    static const char renamed[] =
        HEAD(F) "    %sum = stablehlo.add %arg0,   %arg1 : " F "\n"
                "    %x0 = stablehlo.constant dense< 2.0 > : " F " // a comment\n"
                "    %17 = stablehlo.multiply %sum, %x0 : " F " loc(\"another\")\n\n"
                "    %0 = stablehlo.transpose %17, dims = [0, 1] : (" F ") -> " F "\n"
                "    %1 = stablehlo.negate %0 : " F "\n"
                "    return %1 : " F "\n" TAIL;
    two t = compare(plain, renamed);
    assert_counts(&t, 0, 0, 0, 0);
    drop(&t);
    t = compare_with("module @a", "module @b");
    assert_counts(&t, 0, 0, 0, 0);
    drop(&t);
    t = compare(plain, plain);
    assert_counts(&t, 0, 0, 0, 0);
    assert_int_equal(t.d->op_count, 9);
    for (size_t i = 0; i < t.d->op_count; i++)
        assert_int_equal(t.d->ops[i].a, t.d->ops[i].b);
    assert_piece(t.d->ops[0].op, "argument");
    assert_int_equal(t.d->ops[0].a, 2);
    drop(&t);
}

/* "!t" and "#n" are what they stand for, wherever they stand. */
static void names_of_types_and_attributes_count(void **state)
{
    (void)state;
#define NAMED(type, number)                                                                        \
    "!e = " type "\n!t = tensor<2x3x!e>\n#n = " number " : i32\n"                                  \
    "module @a attributes {mhlo.num_partitions = #n} {\n"                                          \
    "  func.func @main(%arg0: !t) -> !t {\n    %0 = stablehlo.add %arg0, %arg0 : !t\n"             \
    "    return %0 : !t\n  }\n}\n"
    static const char spelled[] =
        "module @a attributes {mhlo.num_partitions = 1 : i32} {\n"
        "  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>\n    return %0 : tensor<2x3xf32>\n"
        "  }\n}\n";
    two t = compare(NAMED("f32", "1"), spelled);
    assert_counts(&t, 0, 0, 0, 0);
    drop(&t);
    t = compare(NAMED("f32", "1"), NAMED("f32", "2"));
    assert_counts(&t, 1, 0, 0, 0);
    assert_int_equal(t.a->nodes[t.d->list[0].a].kind, SHLO_MODULE);
    drop(&t);
    t = compare(NAMED("f32", "1"), NAMED("bf16", "1"));
    assert_true(t.d->because[SHLO_WHY_DTYPE] > 0);
    drop(&t);
}

static void an_order_that_nothing_depends_on_does_not_count(void **state)
{
    (void)state;
    static const char other[] =
        HEAD(F) "    %1 = stablehlo.constant dense<2.0> : " F " loc(\"layer1/constant\")\n"
                "    %0 = stablehlo.add %arg0, %arg1 : " F " loc(\"layer1/add\")\n"
                "    %2 = stablehlo.multiply %0, %1 : " F " loc(\"layer1/mul\")\n"
                "    %3 = stablehlo.transpose %2, dims = [0, 1] : (" F ") -> " F "\n"
                "    %4 = stablehlo.negate %3 : " F "\n"
                "    return %4 : " F "\n" TAIL;
    two t = compare(plain, other);
    assert_counts(&t, 0, 0, 0, 1);
    drop(&t);
}

/* But the order of arguments, and of what is returned, does. */
static void the_order_of_operands_counts(void **state)
{
    (void)state;
    char *minus = with(plain, "stablehlo.add %arg0, %arg1", "stablehlo.subtract %arg0, %arg1");
    char *swapped = with(plain, "stablehlo.add %arg0, %arg1", "stablehlo.subtract %arg1, %arg0");
    two t = compare(minus, swapped);
    assert_counts(&t, 1, 0, 0, 0);
    assert_words(&t, 0,
                 "operand 0: %arg0: tensor<2x3xf32> (line 2) in A, "
                 "%arg1: tensor<2x3xf32> (line 2) in B");
    drop(&t);
    free(minus);
    free(swapped);
}

/* ---- each reason ------------------------------------------------------------------------------
 */

static void assert_first(const char *from, const char *to, shlo_reason reason, const char *words)
{
    two t = compare_with(from, to);
    assert_true(t.d->count > 0 && t.d->list[0].change == SHLO_CHANGED);
    const shlo_reason got = shlo_difference_reason(&t.d->list[0]);
    if (got != reason)
        fail_msg("%s: reason %s, not %s", to, shlo_reason_name(got), shlo_reason_name(reason));
    assert_words(&t, 0, words);
    assert_true(t.d->because[reason] > 0);
    drop(&t);
}

static void each_reason_is_reported(void **state)
{
    (void)state;
    assert_first("stablehlo.negate", "stablehlo.abs", SHLO_WHY_OP,
                 "op: stablehlo.negate in A, stablehlo.abs in B");
    assert_first("stablehlo.negate %3 : tensor<2x3xf32>", "stablehlo.negate %3 : tensor<2x4xf32>",
                 SHLO_WHY_SHAPE, "shape: tensor<2x3xf32> in A, tensor<2x4xf32> in B");
    assert_first("stablehlo.negate %3 : tensor<2x3xf32>", "stablehlo.negate %3 : tensor<2x3xf16>",
                 SHLO_WHY_DTYPE, "dtype: tensor<2x3xf32> in A, tensor<2x3xf16> in B");
    assert_first("stablehlo.negate %3 : tensor<2x3xf32>", "stablehlo.negate %3 : !stablehlo.token",
                 SHLO_WHY_RESULTS, "results: tensor<2x3xf32> in A, !stablehlo.token in B");
    assert_first("dense<2.0>", "dense<3.0>", SHLO_WHY_CONSTANT,
                 "constant: dense<2.0> in A, dense<3.0> in B");
    assert_first("dims = [0, 1]", "dims = [1, 0]", SHLO_WHY_ATTRIBUTE,
                 "attribute: %, dims = [0, 1] in A, %, dims = [1, 0] in B");
    assert_first("%0, %1 : tensor", "%0, %arg0 : tensor", SHLO_WHY_OPERAND,
                 "operand 1: stablehlo.constant (line 4) in A, "
                 "%arg0: tensor<2x3xf32> (line 2) in B");
    assert_first("return %4 : " F, "return %4, %4 : " F ", " F, SHLO_WHY_RESULTS,
                 "results: 1 in A, 2 in B");
    assert_first("%4 = stablehlo.negate", "%4:2 = stablehlo.negate", SHLO_WHY_RESULTS,
                 "results: 1 in A, 2 in B");
}

/* Attributes of arguments and of the function count, too. */
static void signatures_are_compared(void **state)
{
    (void)state;
    assert_first("%arg0: tensor<2x3xf32>", "%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}",
                 SHLO_WHY_ATTRIBUTE,
                 "attribute: %: tensor<2x3xf32> in A, "
                 "%: tensor<2x3xf32> {tf.aliasing_output = 0 : i32} in B");
    assert_first("%arg1: tensor<2x3xf32>", "%arg1: tensor<8x3xf32>", SHLO_WHY_SHAPE,
                 "shape: tensor<2x3xf32> in A, tensor<8x3xf32> in B");
    assert_first("(tensor<2x3xf32>) {", "(tensor<2x3xf32>, tensor<f32>) {", SHLO_WHY_RESULTS,
                 "results: (tensor<2x3xf32>) in A, (tensor<2x3xf32>, tensor<f32>) in B");
    two t = compare_with("%arg1: tensor<2x3xf32>)", "%arg1: tensor<2x3xf32>, %arg2: tensor<f32>)");
    assert_counts(&t, 0, 1, 0, 0);
    assert_words(&t, 0, "added: %arg2: tensor<f32>");
    drop(&t);
}

/* One difference, and not all that follows from it. */
static void users_of_a_change_are_not_reported(void **state)
{
    (void)state;
    two t = compare_with("stablehlo.add %arg0", "stablehlo.maximum %arg0");
    assert_counts(&t, 1, 0, 0, 0);
    bn_text place = {0};
    shlo_place_put(&t.b->nodes[t.d->list[0].b], &place);
    assert_string_equal(place.data, "layer1/add");
    bn_text_free(&place);
    drop(&t);
}

static void statements_are_added_and_removed(void **state)
{
    (void)state;
    char *more = with(plain, "    %3 = stablehlo.transpose %2,",
                      "    %9 = stablehlo.exponential %2 : " F " loc(\"layer2/exp\")\n"
                      "    %3 = stablehlo.transpose %9,");
    two t = compare(plain, more);
    assert_counts(&t, 1, 1, 0, 0);
    assert_words(&t, 0, "added: stablehlo.exponential : tensor<2x3xf32>");
    assert_words(
        &t, 1, "operand 0: stablehlo.multiply (line 5) in A, stablehlo.exponential (line 6) in B");
    for (size_t i = 0; i < t.d->op_count; i++) {
        const bool is_new = piece_is(t.d->ops[i].op, "stablehlo.exponential");
        assert_int_equal(t.d->ops[i].added, is_new);
        assert_int_equal(t.d->ops[i].b - t.d->ops[i].a, is_new);
    }
    drop(&t);
    t = compare(more, plain);
    assert_counts(&t, 1, 0, 1, 0);
    assert_words(&t, 0, "removed: stablehlo.exponential : tensor<2x3xf32>");
    drop(&t);
    free(more);
}

/* ---- regions ------------------------------------------------------------------------------------
 */

#define SORT(op, type)                                                                             \
    HEAD(F)                                                                                        \
    "    %0 = \"stablehlo.sort\"(%arg0) <{dimension = 0 : i64}> ({\n"                              \
    "    ^bb0(%a: tensor<" type ">, %b: tensor<f32>):\n"                                           \
    "      %c = stablehlo.compare " op ", %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"     \
    "      stablehlo.return %c : tensor<i1>\n"                                                     \
    "    }) : (" F ") -> " F "\n"                                                                  \
    "    return %0 : " F "\n" TAIL

static void regions_are_compared(void **state)
{
    (void)state;
    two t = compare(SORT("LT", "f32"), SORT("LT", "f32"));
    assert_counts(&t, 0, 0, 0, 0);
    drop(&t);
    t = compare(SORT("LT", "f32"), SORT("GT", "f32"));
    assert_counts(&t, 1, 0, 0, 0);
    assert_words(&t, 0, "attribute: LT, %, % in A, GT, %, % in B");
    drop(&t);
    t = compare(SORT("LT", "f32"), SORT("LT", "f64"));
    assert_counts(&t, 1, 0, 0, 0);
    assert_words(&t, 0, "attribute: of its regions");
    drop(&t);
}

#define DEAD "      %7 = stablehlo.negate %arg0 : " F "\n"
#define CASE(one, two)                                                                             \
    HEAD(F)                                                                                        \
    "    %0 = \"stablehlo.case\"(%arg0) ({\n" one "      stablehlo.return %arg1 : " F              \
    "\n    }, {\n" two "      stablehlo.return %arg0 : " F "\n    }) : (" F ") -> " F "\n"         \
    "    return %0 : " F "\n" TAIL
#define CALLED(one, two)                                                                           \
    HEAD(F)                                                                                        \
    one "    return %arg0 : " F "\n  }\n  func.func private @f(%arg0: " F ") -> " F " {\n" two     \
        "    return %arg0 : " F "\n" TAIL

static void assert_compared(const char *a, const char *b, size_t added, size_t removed)
{
    two t = compare(a, b);
    assert_counts(&t, 0, added, removed, 0);
    drop(&t);
}

/* A statement that moves to another region is another one. */
static void regions_are_not_mixed_up(void **state)
{
    (void)state;
    assert_compared(CASE(DEAD, ""), CASE(DEAD, DEAD), 1, 0);
    assert_compared(CASE(DEAD, ""), CASE("", DEAD), 1, 1);
    assert_compared(CALLED("", ""), CALLED("", DEAD), 1, 0);
    assert_compared(CALLED(DEAD, ""), CALLED("", DEAD), 1, 1);
    /* A function with another name, and nothing else that differs. */
    char *renamed = with(CALLED("", DEAD), "@f", "@g");
    two t = compare(CALLED("", DEAD), renamed);
    assert_counts(&t, 1, 0, 0, 0);
    assert_int_equal(shlo_difference_reason(&t.d->list[0]), SHLO_WHY_ATTRIBUTE);
    drop(&t);
    free(renamed);
}

/* ---- large graphs -------------------------------------------------------------------------------
 */

#define MANY 10000

/* A variant of a large graph. */
typedef struct variant {
    size_t batch;             /* the first dimension of all types; 0: 4 */
    size_t more;              /* the layer, from 1, that has one statement more */
    bool unplaced, backwards; /* no places; values are numbered from above */
} variant;

/* One layer of five statements, from the value numbered FIRST to the one numbered LAST. */
static void put_layer(bn_text *out, const variant *v, size_t layer, const char *type, size_t first,
                      size_t last)
{
    const size_t n = 6 * layer + 1;
    size_t name[6];
    char place[64] = "";
    for (size_t i = 0; i < 6; i++)
        name[i] = v->backwards ? 1000000 - n - i : n + i;
    if (!v->unplaced)
        snprintf(place, sizeof place, " loc(\"layer%zu\")", layer);
    bn_text_printf(out, "    %%%zu = stablehlo.constant dense<0.5> : tensor<8xf32>%s\n", name[0],
                   place);
    bn_text_printf(out,
                   "    %%%zu = stablehlo.broadcast_in_dim %%%zu, dims = [1] : (tensor<8xf32>) -> "
                   "%s%s\n",
                   name[1], name[0], type, place);
    bn_text_printf(out, "    %%%zu = stablehlo.add %%%zu, %%%zu : %s%s\n", name[2], first, name[1],
                   type, place);
    bn_text_printf(out, "    %%%zu = stablehlo.tanh %%%zu : %s%s\n", name[3], name[2], type, place);
    if (layer + 1 == v->more)
        bn_text_printf(out, "    %%%zu = stablehlo.negate %%%zu : %s%s\n", name[4], name[3], type,
                       place);
    bn_text_printf(out, "    %%%zu = stablehlo.multiply %%%zu, %%%zu : %s%s\n", last, name[3],
                   layer + 1 == v->more ? name[4] : name[3], type, place);
}

/* COUNT statements in layers of the same five ops. The caller frees the text. */
static char *large(size_t count, variant v)
{
    bn_text text = {0};
    char type[64];
    size_t first = 0;
    snprintf(type, sizeof type, "tensor<%zux8xf32>", v.batch ? v.batch : 4);
    bn_text_printf(&text, "module @large {\n  func.func public @main(%%0: %s) -> (%s) {\n", type,
                   type);
    for (size_t layer = 0; layer < count / 5; layer++) {
        const size_t last = v.backwards ? 2000000 + layer : 6 * layer + 6;
        put_layer(&text, &v, layer, type, first, last);
        first = last;
    }
    bn_text_printf(&text, "    return %%%zu : %s\n  }\n}\n", first, type);
    return text.data;
}

static two compare_large(variant a, variant b)
{
    char *x = large(MANY, a), *y = large(MANY, b);
    two t = compare(x, y);
    assert_true(t.a->node_count > MANY);
    free(x);
    free(y);
    return t;
}

static void large_graphs_are_compared(void **state)
{
    (void)state;
    two t = compare_large((variant){0}, (variant){.unplaced = true, .backwards = true});
    assert_counts(&t, 0, 0, 0, 0);
    drop(&t);
    for (int unplaced = 0; unplaced < 2; unplaced++) {
        t = compare_large((variant){.unplaced = unplaced},
                          (variant){.more = MANY / 10, .unplaced = unplaced});
        assert_counts(&t, 1, 1, 0, 0);
        assert_words(&t, 0, "added: stablehlo.negate : tensor<4x8xf32>");
        drop(&t);
    }
    /* All statements but constants and the module have the batch in their types. */
    t = compare_large((variant){0}, (variant){.batch = 16});
    assert_counts(&t, 2 + 4 * (MANY / 5), 0, 0, 0);
    assert_int_equal(t.d->because[SHLO_WHY_SHAPE], t.d->changed);
    assert_words(&t, 0, "shape: (tensor<4x8xf32>) in A, (tensor<16x8xf32>) in B");
    drop(&t);
}

/* Statements without an order between them, in the opposite order: the worst case of a sequence. */
static void orders_may_be_all_different(void **state)
{
    (void)state;
    bn_text a = {0}, b = {0};
    for (int k = 0; k < 2; k++) {
        bn_text *out = k ? &b : &a;
        bn_text_puts(out, "func.func @main(%a: tensor<4xf32>) -> () {\n");
        for (int i = 0; i < MANY; i++)
            bn_text_printf(out,
                           "%%%d = stablehlo.slice %%a [0:%d] : (tensor<4xf32>) -> "
                           "tensor<4xf32>\n",
                           i, k ? MANY - i : i + 1);
        bn_text_puts(out, "return\n}\n");
    }
    two t = compare(a.data, b.data);
    assert_counts(&t, 0, 0, 0, t.d->moved);
    assert_true(t.d->moved > MANY / 2 && t.d->moved < MANY);
    drop(&t);
    bn_text_free(&a);
    bn_text_free(&b);
}

static void large_graphs_take_little_time(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        variant other;
    } cases[] = {{"the same", {0}},
                 {"one more", {.more = MANY / 10}},
                 {"one more, no places", {.more = MANY / 10, .unplaced = true}},
                 {"another batch", {.batch = 16}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *a = large(MANY, (variant){.unplaced = cases[i].other.unplaced});
        char *b = large(MANY, cases[i].other);
        const double ms = least_ms(a, b);
        print_message("%s: %.1f ms for %d statements each\n", cases[i].what, ms, MANY);
        if (ms >= MOST_MS)
            fail_msg("%s: %.1f ms", cases[i].what, ms);
        free(a);
        free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_places_do_not_count),
        cmocka_unit_test(names_of_types_and_attributes_count),
        cmocka_unit_test(an_order_that_nothing_depends_on_does_not_count),
        cmocka_unit_test(the_order_of_operands_counts),
        cmocka_unit_test(each_reason_is_reported),
        cmocka_unit_test(signatures_are_compared),
        cmocka_unit_test(users_of_a_change_are_not_reported),
        cmocka_unit_test(statements_are_added_and_removed),
        cmocka_unit_test(regions_are_compared),
        cmocka_unit_test(regions_are_not_mixed_up),
        cmocka_unit_test(large_graphs_are_compared),
        cmocka_unit_test(orders_may_be_all_different),
        cmocka_unit_test(large_graphs_take_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
