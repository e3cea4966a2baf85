/*
 * test_causes.c - why a graph is compiled again, where no example of models/examples/ has the
 * cause: another dtype, other ops, another trace before the same graph, a graph more.
 * check_explain.sh has the other causes.
 */
#include "harness/causes/causes.h"
#include "results/doctor/doctor.h"
#include "runtime/graph/places.h"
#include "tests/support/client_fixture.h"

#include <stdio.h>

#define N     4
#define STEPS 3

/* How the steps after the first one differ. */
typedef enum otherness { OTHER_DTYPE, OTHER_OP, OTHER_BEFORE, ONE_MORE } otherness;

typedef struct changing {
    tg_tensor *x, *out;
    otherness how;
    int step; /* from 1 */
} changing;

static int line; /* of the op that a later step has in place of another */

static void change_step(tg_trace *t, void *context)
{
    const changing *c = context;
    const bool later = c->step > 1;
    tg_tensor *x = c->how == OTHER_DTYPE ? tg_convert(t, c->x, TG_F32) : c->x;
    if (c->how == OTHER_BEFORE || (c->how == ONE_MORE && later)) {
        float sum;
        tg_tensor *seen = c->how == OTHER_BEFORE && later ? tg_sub(t, x, x) : tg_add(t, x, x);
        tg_read(t, tg_reduce_sum(t, seen, 1u), &sum, sizeof sum);
    }
    line = __LINE__ + 1;
    tg_tensor *y = c->how == OTHER_OP && later ? tg_sub(t, x, x) : tg_mul(t, x, x);
    tg_assign(t, c->out, y);
}

static tg_type vector_of(tg_dtype dtype)
{
    const int64_t n = N;
    return tg_type_make(dtype, 1, &n);
}

/* Gives x another dtype, and zeros. */
static void change_dtype(mode *m, changing *c)
{
    static const uint16_t zeros[N] = {0};
    const tg_type type = vector_of(TG_BF16);
    bn_status st = {0};
    mode_clear(m, c->x);
    tg_variable_retype(c->x, &type);
    assert_ok(mode_write(m, c->x, zeros, &st), &st);
}

/* Observations of STEPS steps of HOW (new reference). */
static json_t *lists_of(otherness how)
{
    static const float ones[N] = {1, 1, 1, 1};
    const tg_type type = vector_of(TG_F32);
    changing c = {
        .x = tg_variable_new("x", &type), .out = tg_variable_new("out", &type), .how = how};
    const mode_call call = {.function = change_step, .context = &c};
    bn_status st = {0};
    mode *m = NULL;
    assert_ok(mode_create("lazy", client, &(mode_options){0}, &m, &st), &st);
    assert_ok(mode_write(m, c.x, ones, &st), &st);
    cause_state *state = cause_begin(m, NULL, &call);
    for (c.step = 1; c.step <= STEPS; c.step++) {
        if (how == OTHER_DTYPE && c.step == 2)
            change_dtype(m, &c);
        cause_step_begin(state);
        assert_ok(mode_step(m, &call, NULL, &st), &st);
        cause_step_end(state);
    }
    json_t *lists = cause_lists(state);
    cause_end(state);
    mode_clear(m, c.x);
    mode_clear(m, c.out);
    mode_destroy(m);
    tg_variable_free(c.x);
    tg_variable_free(c.out);
    assert_non_null(lists);
    return lists;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Recompile INDEX of OF in LISTS, which is of step 2 and has CAUSE. */
static const json_t *recompile(const json_t *lists, size_t index, size_t of, const char *cause)
{
    const json_t *list = json_object_get(lists, "recompiles");
    const json_t *one = json_array_get(list, index);
    assert_int_equal(json_array_size(list), of);
    assert_int_equal(json_integer_value(json_object_get(one, "step")), 2);
    assert_string_equal(text_of(one, "cause"), cause);
    return one;
}

/* ONE's place is line NUMBER of this file; 0: any. */
static void stands_here(const json_t *one, int number)
{
    char want[64];
    snprintf(want, sizeof want, number ? "test_causes.c:%d" : "test_causes.c:", number);
    const char *at = strstr(text_of(one, "place"), want);
    if (!at || (number && strlen(at) != strlen(want)))
        fail_msg("the place is '%s', not %s", text_of(one, "place"), want);
}

/* Asserts that the description of ONE contains TEXT. */
static void says(const json_t *one, const char *text)
{
    bn_text words = {0};
    res_why_put(text_of(one, "cause"), one, &words);
    if (!words.data || !strstr(words.data, text))
        fail_msg("'%s' is not in '%s'", text, words.data ? words.data : "");
    bn_text_free(&words);
}

/* LISTS has one finding for each cause, in the order RULES, with advice. */
static void finds(const json_t *lists, const char *const *rules, size_t count)
{
    json_t *list = cause_findings(lists, false);
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (found < count && strcmp(text_of(one, "rule"), rules[found]) == 0) {
            assert_true(*text_of(one, "advice"));
            assert_int_equal(json_integer_value(json_object_get(one, "count")), 1);
            found++;
        }
    }
    assert_int_equal(found, count);
    json_decref(list);
}

static void another_dtype_is_found(void **state)
{
    (void)state;
    json_t *lists = lists_of(OTHER_DTYPE);
    const json_t *one = recompile(lists, 0, 1, "dtype");
    assert_string_equal(text_of(one, "subject"), "x");
    assert_string_equal(text_of(one, "from"), "f32");
    assert_string_equal(text_of(one, "to"), "bf16");
    stands_here(one, 0);
    says(one, "f32 -> bf16");
    finds(lists, (const char *const[]){"dtype"}, 1);
    json_decref(lists);
}

/* Only the texts show why: no type, argument or value that was read differs. */
static void other_ops_are_found(void **state)
{
    (void)state;
    json_t *lists = lists_of(OTHER_OP);
    const json_t *one = recompile(lists, 0, 1, "ops");
    assert_non_null(strstr(text_of(one, "words"), "stablehlo.subtract in B"));
    stands_here(one, line);
    says(one, "stablehlo.multiply");
    finds(lists, (const char *const[]){"ops"}, 1);
    json_decref(lists);
}

/* Behind a break the same graph is another program where the trace before it is another. */
static void the_same_graph_behind_another_trace_is_found(void **state)
{
    (void)state;
    json_t *lists = lists_of(OTHER_BEFORE);
    (void)recompile(lists, 0, 2, "ops");
    const json_t *one = recompile(lists, 1, 2, "same");
    assert_string_equal(text_of(one, "place"), "");
    finds(lists, (const char *const[]){"ops", "same"}, 2);
    json_decref(lists);
}

static void a_graph_more_is_found(void **state)
{
    (void)state;
    json_t *lists = lists_of(ONE_MORE);
    (void)recompile(lists, 0, 2, "ops");
    const json_t *one = recompile(lists, 1, 2, "new");
    assert_true(json_is_null(json_object_get(one, "before")));
    finds(lists, (const char *const[]){"ops", "new"}, 2);
    json_decref(lists);
}

/* A value that one of three steps reads costs too little for a finding, and has a place. */
static void seldom_reads_have_a_place(void **state)
{
    (void)state;
    json_t *lists = lists_of(ONE_MORE), *often, *seldom;
    json_t *reads = json_object_get(lists, "reads");
    assert_int_equal(json_array_size(reads), 1);
    json_object_set_new(json_array_get(reads, 0), "steps", json_integer(1));
    often = cause_findings(lists, false);
    seldom = cause_findings(lists, true);
    assert_int_equal(json_array_size(seldom), json_array_size(often) + 1);
    const json_t *read = json_array_get(seldom, json_array_size(seldom) - 1);
    assert_string_equal(text_of(read, "rule"), "read");
    stands_here(read, 0);
    json_decref(often);
    json_decref(seldom);
    json_decref(lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_dtype_is_found),
        cmocka_unit_test(other_ops_are_found),
        cmocka_unit_test(the_same_graph_behind_another_trace_is_found),
        cmocka_unit_test(a_graph_more_is_found),
        cmocka_unit_test(seldom_reads_have_a_place),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
