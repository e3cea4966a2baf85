/* test_stablehlo_time.c - graphs of ten thousand statements that are hard to compare: in another
 * order, of statements that all say the same, wide ones, and with one more near the beginning. Each
 * is compared in little time, and rightly. */
#include "tests/runtime/stablehlo/diff_fixture.h"

#define MANY 10000
#define T4   "tensor<4xf32>"

/* The next of a sequence of numbers below END that looks random; the same in each run. */
static size_t draw(uint64_t *seed, size_t end)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(*seed >> 33) % end;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void begin(bn_text *out)
{
    bn_text_puts(out, "module @m {\n  func.func public @main(%a: " T4 ") -> (" T4 ") {\n");
}

static char *end(bn_text *out, const char *last)
{
    bn_text_printf(out, "    return %%%s : " T4 "\n  }\n}\n", last);
    return out->data;
}

/* Statements that take two earlier ones each, drawn anew; 0 is the argument. */
typedef struct web {
    size_t left[MANY + 1], right[MANY + 1], op[MANY + 1];
} web;

/* A web of OPS ops. */
static web *weave(size_t ops)
{
    web *w = malloc(sizeof *w);
    uint64_t seed = 1;
    assert_non_null(w);
    for (size_t i = 1; i <= MANY; i++) {
        w->left[i] = draw(&seed, i);
        w->right[i] = draw(&seed, i);
        w->op[i] = draw(&seed, ops);
    }
    return w;
}

/* Statement I of W. MORE: what it takes first is negated before. */
static void put_web(bn_text *out, const web *w, size_t i, bool more)
{
    static const char *const ops[] = {"add", "multiply", "subtract", "maximum"};
    char left[24] = "a", right[24] = "a";
    if (w->left[i])
        snprintf(left, sizeof left, "v%zu", w->left[i]);
    if (w->right[i])
        snprintf(right, sizeof right, "v%zu", w->right[i]);
    if (more) {
        bn_text_printf(out, "    %%more = stablehlo.negate %%%s : " T4 "\n", left);
        snprintf(left, sizeof left, "more");
    }
    bn_text_printf(out, "    %%v%zu = stablehlo.%s %%%s, %%%s : " T4 "\n", i, ops[w->op[i]], left,
                   right);
}

/* W in its order, or (SHUFFLED) in another one in which what a statement takes still comes first.
 * The statement numbered MORE, if there is one, takes one more. */
static char *web_text(const web *w, bool shuffled, size_t more)
{
    bn_text out = {0};
    char last[24];
    uint64_t seed = 7;
    size_t *waiting = malloc((MANY + 1) * sizeof *waiting), count = MANY;
    bool *done = calloc(MANY + 1, sizeof *done);
    assert_true(waiting && done);
    for (size_t i = 0; i < MANY; i++)
        waiting[i] = i + 1;
    done[0] = true;
    begin(&out);
    while (count > 0) {
        size_t at = shuffled ? draw(&seed, count) : 0;
        while (!done[w->left[waiting[at]]] || !done[w->right[waiting[at]]])
            at = (at + 1) % count;
        const size_t i = waiting[at];
        put_web(&out, w, i, i == more);
        done[i] = true;
        count--;
        if (shuffled)
            waiting[at] = waiting[count];
        else
            memmove(waiting, waiting + 1, count * sizeof *waiting);
    }
    free(waiting);
    free(done);
    snprintf(last, sizeof last, "v%d", MANY);
    return end(&out, last);
}

/* COUNT times the same statement. */
static char *same_text(size_t count)
{
    bn_text out = {0};
    begin(&out);
    for (size_t i = 0; i < count; i++)
        bn_text_printf(&out, "    %%v%zu = stablehlo.add %%a, %%a : " T4 "\n", i);
    return end(&out, "v0");
}

/* A chain of COUNT statements of one op and type; before the one numbered MORE stands another. */
static char *chain_text(size_t count, size_t more)
{
    bn_text out = {0};
    char last[24] = "a";
    begin(&out);
    for (size_t i = 0; i < count; i++) {
        if (i == more) {
            bn_text_printf(&out, "    %%more = stablehlo.negate %%%s : " T4 "\n", last);
            snprintf(last, sizeof last, "more");
        }
        bn_text_printf(&out, "    %%v%zu = stablehlo.add %%%s, %%a : " T4 "\n", i, last);
        snprintf(last, sizeof last, "v%zu", i);
    }
    return end(&out, last);
}

/* Wide graphs: MANY statements that take the argument alone, and a tree of sums of them all. */
typedef enum wide {
    WIDE,      /* each says something else */
    BACKWARDS, /* the same from the last to the first */
    CHANGED,   /* one near the beginning says another thing */
    ALIKE,     /* all say the same */
    ONE_OTHER  /* all but one near the beginning */
} wide;

static void put_leaf(bn_text *out, wide kind, size_t i)
{
    const bool alike = kind == ALIKE || kind == ONE_OTHER;
    const bool changed = i == 10 && (kind == CHANGED || kind == ONE_OTHER);
    bn_text_printf(out, "    %%v%zu = stablehlo.slice %%a [0:%zu] : (" T4 ") -> " T4 "\n", i,
                   changed ? 123456
                   : alike ? 4
                           : i + 1);
}

static char *wide_text(wide kind)
{
    bn_text out = {0};
    char last[24];
    size_t from = 0, to = MANY;
    begin(&out);
    for (size_t i = 0; i < MANY; i++)
        put_leaf(&out, kind, kind == BACKWARDS ? MANY - 1 - i : i);
    for (; to - from > 1; from += 2, to++)
        bn_text_printf(&out, "    %%v%zu = stablehlo.add %%v%zu, %%v%zu : " T4 "\n", to, from,
                       from + 1);
    snprintf(last, sizeof last, "v%zu", from);
    return end(&out, last);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* One statement that differs among others that are alike may be matched in several ways: it is one
 * difference at least, and few. */
#define FEW SIZE_MAX
enum { MOST_FEW = 16 };

/* Compares A with B, which it frees: they have so many DIFFERENCES, and (MOVES) statements stand
 * elsewhere. */
static void assert_quick(const char *what, char *a, char *b, size_t differences, bool moves)
{
    two t = compare(a, b);
    print_message("%s: %zu changed, %zu added, %zu removed, %zu moved\n", what, t.d->changed,
                  t.d->added, t.d->removed, t.d->moved);
    assert_true(t.a->node_count >= MANY - 1000 && t.b->node_count >= MANY);
    if (differences == FEW)
        assert_in_range(t.d->count, 1, MOST_FEW);
    else
        assert_int_equal(t.d->count, differences);
    assert_true((t.d->moved > 0) == moves);
    /* The limit is that of MANY statements; wide graphs have twice as many. */
    const double share =
        (double)(t.a->node_count > t.b->node_count ? t.a->node_count : t.b->node_count) / MANY;
    drop(&t);
    const double ms = least_ms(a, b);
    print_message("%s: %.1f ms\n", what, ms);
    if (ms >= MOST_MS * fmax(1, share))
        fail_msg("%s: %.1f ms", what, ms);
    free(a);
    free(b);
}

static void another_order_takes_little_time(void **state)
{
    (void)state;
    for (size_t ops = 1; ops <= 4; ops += 3) {
        web *w = weave(ops);
        assert_quick(ops == 1 ? "another order, one op" : "another order, four ops",
                     web_text(w, false, 0), web_text(w, true, 0), 0, true);
        free(w);
    }
}

static void equal_statements_take_little_time(void **state)
{
    (void)state;
    assert_quick("all the same", same_text(MANY), same_text(MANY), 0, false);
    assert_quick("all the same, more of them", same_text(MANY - 1000), same_text(MANY), 1000,
                 false);
}

static void wide_graphs_take_little_time(void **state)
{
    (void)state;
    assert_quick("wide", wide_text(WIDE), wide_text(WIDE), 0, false);
    assert_quick("wide, backwards", wide_text(WIDE), wide_text(BACKWARDS), 0, true);
    assert_quick("wide, one changed", wide_text(WIDE), wide_text(CHANGED), 1, false);
    assert_quick("wide and alike", wide_text(ALIKE), wide_text(ALIKE), 0, false);
    assert_quick("wide and alike, one changed", wide_text(ALIKE), wide_text(ONE_OTHER), FEW, false);
}

/* All that follows is computed of it. */
static void one_more_near_the_beginning_takes_little_time(void **state)
{
    (void)state;
    assert_quick("a chain", chain_text(MANY, MANY), chain_text(MANY, 3), FEW, false);
    web *w = weave(4);
    assert_quick("a web", web_text(w, false, 0), web_text(w, false, 5), FEW, false);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_order_takes_little_time),
        cmocka_unit_test(equal_statements_take_little_time),
        cmocka_unit_test(wide_graphs_take_little_time),
        cmocka_unit_test(one_more_near_the_beginning_takes_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
