/* test_stablehlo_order.c - graphs whose statements stand in another order: the same statements, one
 * change among them, regions; and equal constants, which say nothing of an order. */
#include "tests/runtime/stablehlo/diff_fixture.h"

#define MOST_ADDS 50

/* A graph of COUNT adds, no two of the same arguments, in ORDER; then a tanh of each, in ORDER,
 * too. It returns these as if no order had changed. Add number CHANGED says CHANGE instead;
 * MOST_ADDS: none does. The caller frees the text. */
static char *adds(int count, const int *order, int changed, const char *change)
{
    bn_text out = {0};
    bn_text_puts(&out, "func.func @main(");
    for (int i = 0; i < 2 * count; i++)
        bn_text_printf(&out, "%s%%a%d: " F, i ? ", " : "", i);
    bn_text_puts(&out, ") -> () {\n");
    for (int i = 0; i < count; i++) {
        const int k = order[i];
        if (k == changed)
            bn_text_printf(&out, "%%%d = %s : " F "\n", k, change);
        else
            bn_text_printf(&out, "%%%d = stablehlo.add %%a%d, %%a%d : " F "\n", k, 2 * k,
                           2 * k + 1);
    }
    for (int i = 0; i < count; i++)
        bn_text_printf(&out, "%%t%d = stablehlo.tanh %%%d : " F "\n", i, order[i]);
    bn_text_puts(&out, "return ");
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (order[at] != i)
            at++;
        bn_text_printf(&out, "%s%%t%d", i ? ", " : "", at);
    }
    bn_text_puts(&out, " : ");
    for (int i = 0; i < count; i++)
        bn_text_printf(&out, "%s" F, i ? ", " : "");
    bn_text_puts(&out, "\n}\n");
    return out.data;
}

static void in_order(int count, int *order)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
}

/* A fixed series of orders. */
static void shuffle(int count, int *order, uint64_t *seed)
{
    for (int i = count - 1; i > 0; i--) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int k = (int)((*seed >> 33) % (uint64_t)(i + 1)), was = order[i];
        order[i] = order[k];
        order[k] = was;
    }
}

/* How many of ORDER stand elsewhere: those without the longest series that rises. */
static size_t elsewhere(int count, const int *order)
{
    int longest[MOST_ADDS], most = 0;
    for (int i = 0; i < count; i++) {
        longest[i] = 1;
        for (int k = 0; k < i; k++)
            if (order[k] < order[i] && longest[k] >= longest[i])
                longest[i] = longest[k] + 1;
        most = longest[i] > most ? longest[i] : most;
    }
    return (size_t)(count - most);
}

/* Compares COUNT adds, each with a tanh of its own, with the same in ORDER. */
static void assert_same_in_order(int count, const int *order)
{
    int plain_order[MOST_ADDS] = {0};
    in_order(count, plain_order);
    char *a = adds(count, plain_order, MOST_ADDS, ""), *b = adds(count, order, MOST_ADDS, "");
    two t = compare(a, b);
    /* No add changes places with a tanh: as many of both stand elsewhere. */
    assert_counts(&t, 0, 0, 0, 2 * elsewhere(count, order));
    drop(&t);
    free(a);
    free(b);
}

/* All orders of four statements of one op and one type. */
static void no_order_of_equal_ops_counts(void **state)
{
    (void)state;
    int order[4], orders = 0;
    for (int code = 0; code < 4 * 4 * 4 * 4; code++) {
        unsigned seen = 0;
        for (int i = 0; i < 4; i++) {
            order[i] = code >> 2 * i & 3;
            seen |= 1u << order[i];
        }
        if (seen != 0xF)
            continue;
        orders++;
        assert_same_in_order(4, order);
    }
    assert_int_equal(orders, 24);
}

static void shuffled_statements_are_the_same(void **state)
{
    (void)state;
    static const int counts[] = {10, MOST_ADDS};
    uint64_t seed = 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 100; i++) {
            int order[MOST_ADDS];
            in_order(counts[k], order);
            shuffle(counts[k], order, &seed);
            assert_same_in_order(counts[k], order);
        }
}

/* A changed statement is found wherever it is now, and its users are not reported. */
static void one_change_is_found_in_a_shuffle(void **state)
{
    (void)state;
    static const struct {
        const char *says;
        shlo_reason reason;
    } changes[] = {{"stablehlo.add %a0, %a0", SHLO_WHY_OPERAND},
                   {"stablehlo.maximum %a0, %a1", SHLO_WHY_OP},
                   {"stablehlo.add %a0, %a1, more = 1", SHLO_WHY_ATTRIBUTE}};
    uint64_t seed = 2;
    for (int i = 0; i < 300; i++) {
        int order[MOST_ADDS];
        in_order(MOST_ADDS, order);
        char *a = adds(MOST_ADDS, order, MOST_ADDS, "");
        shuffle(MOST_ADDS, order, &seed);
        char *b = adds(MOST_ADDS, order, 0, changes[i % 3].says);
        two t = compare(a, b);
        assert_counts(&t, 1, 0, 0, t.d->moved);
        assert_true(t.d->moved > MOST_ADDS);
        assert_int_equal(shlo_difference_reason(&t.d->list[0]), changes[i % 3].reason);
        assert_piece(t.a->nodes[t.d->list[0].a].text, "%0 = stablehlo.add %a0, %a1 : " F);
        bn_text want = {0};
        bn_text_printf(&want, "%%0 = %s : " F, changes[i % 3].says);
        assert_piece(t.b->nodes[t.d->list[0].b].text, want.data);
        bn_text_free(&want);
        drop(&t);
        free(a);
        free(b);
    }
}

/* A constant of VALUE, which all of COUNT adds in ORDER take. The caller frees the text. */
static char *takers(int count, const int *order, const char *value)
{
    bn_text out = {0};
    bn_text_puts(&out, "func.func @main(");
    for (int i = 0; i < count; i++)
        bn_text_printf(&out, "%s%%a%d: " F, i ? ", " : "", i);
    bn_text_printf(&out, ") -> () {\n%%c = stablehlo.constant dense<%s> : " F "\n", value);
    for (int i = 0; i < count; i++)
        bn_text_printf(&out,
                       "%%p = stablehlo.add %%c, %%a%d : " F "\n%%q = stablehlo.tanh %%p : " F "\n",
                       order[i]);
    bn_text_puts(&out, "return\n}\n");
    return out.data;
}

/* The users of the change are in another order, too. */
static void users_in_a_shuffle_are_not_reported(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 100; i++) {
        int order[MOST_ADDS];
        in_order(MOST_ADDS, order);
        char *a = takers(MOST_ADDS, order, "1.0");
        shuffle(MOST_ADDS, order, &seed);
        char *b = takers(MOST_ADDS, order, "2.0");
        two t = compare(a, b);
        assert_counts(&t, 1, 0, 0, t.d->moved);
        assert_int_equal(shlo_difference_reason(&t.d->list[0]), SHLO_WHY_CONSTANT);
        drop(&t);
        free(a);
        free(b);
    }
}

/* A case that says ATTRIBUTE: its first region takes V1, its second one V2. */
#define TWO(attribute, v1, v2)                                                                     \
    "    %" v1 v2 " = \"stablehlo.case\"(%arg0) <{" attribute "}> ({\n"                            \
    "      %p = stablehlo.negate %" v1 " : " F "\n      stablehlo.return %p : " F "\n    }, {\n"   \
    "      %q = stablehlo.negate %" v2 " : " F "\n      %r = stablehlo.negate %arg1 : " F "\n"     \
    "      stablehlo.return %q : " F "\n    }) : (" F ") -> " F "\n"
#define REGIONS(first, second) HEAD(F) first second "    return %arg0 : " F "\n" TAIL

#define SAME(attribute) TWO(attribute, "arg0", "arg1")

/* Statements in a region follow the op that has it, to another position and through a change. */
static void regions_may_stand_elsewhere(void **state)
{
    (void)state;
    two t = compare(REGIONS(TWO("", "arg0", "arg1"), TWO("", "arg1", "arg0")),
                    REGIONS(TWO("", "arg1", "arg0"), TWO("", "arg0", "arg1")));
    assert_counts(&t, 0, 0, 0, t.d->moved);
    assert_true(t.d->moved >= 6);
    drop(&t);
    /* All regions say the same: most of it is in the same order, but not in the same statement. */
    t = compare(REGIONS(SAME("one") SAME("one"), SAME("two") SAME("two")),
                REGIONS(SAME("two") SAME("two"), SAME("one") SAME("one")));
    assert_counts(&t, 0, 0, 0, t.d->moved);
    drop(&t);
    char *other = with(REGIONS(TWO("more", "arg1", "arg0"), TWO("", "arg0", "arg1")),
                       "      %q = stablehlo.negate %arg0 : " F "\n      %r = stablehlo.negate "
                       "%arg1 : " F "\n",
                       "      %r = stablehlo.negate %arg1 : " F "\n      %q = stablehlo.negate "
                       "%arg0 : " F "\n");
    t = compare(REGIONS(TWO("", "arg1", "arg0"), TWO("", "arg0", "arg1")), other);
    assert_counts(&t, 1, 0, 0, 1);
    assert_int_equal(shlo_difference_reason(&t.d->list[0]), SHLO_WHY_ATTRIBUTE);
    drop(&t);
    free(other);
}

/* Layers with a constant that is the same in all of them. Layer 0 says CHANGE; LEFT_OUT is missing.
 * The caller frees the text. */
static char *layers(const char *change, int left_out)
{
    bn_text out = {0};
    int before = 0;
    bn_text_puts(&out, "func.func @main(%v0: " F ") -> " F " {\n");
    for (int i = 0; i < 8; i++) {
        if (i == left_out)
            continue;
        bn_text_puts(&out, "%c = stablehlo.constant dense<0.5> : tensor<f32>\n");
        bn_text_printf(&out, "%%v%d = stablehlo.pad %%v%d, %%c, low = [%d]%s : " F "\n", i + 1,
                       before, i, i == 0 ? change : "");
        before = i + 1;
    }
    bn_text_printf(&out, "return %%v%d : " F "\n}\n", before);
    return out.data;
}

/* Their users identify which of many equal constants is gone, even below a change. */
static void equal_constants_do_not_lead_astray(void **state)
{
    (void)state;
    char *a = layers("", 8), *b = layers(", high = [1]", 4);
    two t = compare(a, b);
    assert_counts(&t, 2, 0, 2, 0);
    assert_int_equal(shlo_difference_reason(&t.d->list[0]), SHLO_WHY_ATTRIBUTE);
    for (size_t i = 1; i < 3; i++)
        assert_int_equal(t.d->list[i].change, SHLO_REMOVED);
    assert_piece(t.a->nodes[t.d->list[1].a].text, "%v5 = stablehlo.pad %v4, %c, low = [4] : " F);
    assert_int_equal(shlo_difference_reason(&t.d->list[3]), SHLO_WHY_OPERAND);
    drop(&t);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_order_of_equal_ops_counts),
        cmocka_unit_test(shuffled_statements_are_the_same),
        cmocka_unit_test(one_change_is_found_in_a_shuffle),
        cmocka_unit_test(users_in_a_shuffle_are_not_reported),
        cmocka_unit_test(regions_may_stand_elsewhere),
        cmocka_unit_test(equal_constants_do_not_lead_astray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
