/*
 * test_plain.c - programs that others wrote: their arguments as the text names them,
 * and their steps on the default runtime.
 */
#define _GNU_SOURCE
#include "tests/support/client_fixture.h"

#include "modes/mode.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- signatures -------------------------------------------------------------------- */

static size_t read_signature(const char *text, mode_argument **list)
{
    bn_status st = {0};
    size_t count;
    assert_ok(mode_signature_read(text, strlen(text), list, &count, &st), &st);
    return count;
}

static const char busy[] =
    "// func.func @main(%wrong: tensor<9xf32>)\n"
    "#loc = loc(\"func.func @main(\":1:2)\n"
    "!pair = tensor<2xbf16>\n"
    "module @jit_f attributes {mhlo.note = \"func.func @main(%a: tensor<7xi8>) }{\"} {\n"
    "  func.func private @helper(%arg0: tensor<?xf32>) -> tensor<?xf32> { return %arg0 : "
    "tensor<?xf32> }\n"
    "  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32} loc(\"x\"), "
    "// tensor\n"
    "      %arg1: tensor<complex<f64>> {jax.buffer_donor = true, mhlo.sharding = "
    "\"{replicated}\"},\n"
    "      %arg2: !pair {jax.arg_info = \"tf.aliasing_output = 5\", a = {b = [1, \"}\"]}} "
    "loc(#loc),\n"
    "      %arg3: tensor<0x4xi1>) -> (tensor<f32> {jax.result_info = \"\"}) {\n";

static void arguments_are_read_off_the_text(void **state)
{
    (void)state;
    mode_argument *a;
    assert_int_equal(read_signature(busy, &a), 4);
    assert_int_equal(a[0].dtype, RT_F32);
    assert_int_equal(a[0].rank, 2);
    assert_int_equal(a[0].dims[1], 3);
    assert_int_equal(a[0].result, 1);
    assert_false(a[0].donated);
    assert_int_equal(mode_argument_bytes(&a[0]), 24);
    assert_int_equal(a[1].dtype, RT_C128);
    assert_int_equal(a[1].rank, 0);
    assert_true(a[1].donated);
    assert_int_equal(a[1].result, -1);
    assert_int_equal(a[2].dtype, RT_BF16);
    assert_int_equal(a[2].result, -1); /* what stands in a string is no attribute */
    assert_int_equal(a[3].dtype, RT_BOOL);
    assert_int_equal(mode_argument_bytes(&a[3]), 0);
    free(a);
    assert_int_equal(read_signature("module { func.func @main() -> () { } }", &a), 0);
    free(a);
    for (int d = 0; d < RT_DTYPE_COUNT; d++) {
        char text[128];
        snprintf(text, sizeof text, "func.func @main(%%a: tensor<3x%s>)",
                 rt_dtype_text((rt_dtype)d));
        assert_int_equal(read_signature(text, &a), 1);
        assert_int_equal(a[0].dtype, d);
        free(a);
    }
}

/* A text that ends anywhere ends in an error, or it is whole already. */
static void cut_texts_end_in_errors(void **state)
{
    (void)state;
    const char *close = strstr(busy, "i1>)");
    const size_t whole = (size_t)(close - busy) + 4;
    for (size_t cut = 0; cut < sizeof busy; cut++) {
        bn_status st = {0};
        mode_argument *a;
        size_t count;
        char *part = malloc(cut + 1); /* of its own size, for sanitizers */
        memcpy(part, busy, cut);
        bn_code code = mode_signature_read(part, cut, &a, &count, &st);
        assert_true((code == BN_OK) == (cut >= whole));
        free(a);
        free(part);
    }
}

static void what_cannot_be_passed_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bn_code code;
        const char *part;
    } wrong[] = {
        {"", BN_FORMAT, "no function @main"},
        {"def f(x): return x", BN_FORMAT, "no function @main"},
        {"\nfunc.func @main(%a: tensor<?xf32>)", BN_NOT_SUPPORTED, "line 2"},
        {"func.func @main(%a: tensor<2x?xf32>)", BN_NOT_SUPPORTED, "dynamic shape"},
        {"func.func @main(%a: tuple<tensor<f32>>)", BN_NOT_SUPPORTED, "tuples"},
        {"func.func @main(%a: !stablehlo.token)", BN_NOT_SUPPORTED, "alias"},
        {"func.func @main(%a: tensor<2xf8E4M3FN>)", BN_NOT_SUPPORTED, "f8E4M3FN"},
        {"func.func @main(%a: tensor<2xi4>)", BN_NOT_SUPPORTED, "i4"},
        {"func.func @main(%a: tensor<2xf32, #sparse>)", BN_NOT_SUPPORTED, "encoding"},
        {"func.func @main(%a: tensor<99999999999999999999xf32>)", BN_FORMAT, "too large"},
        {"func.func @main(%a)", BN_FORMAT, "without a type"},
        {"func.func @main(tensor<f32>)", BN_FORMAT, "without a name"},
    };
    bn_status st = {0};
    mode_argument *a;
    size_t count;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(mode_signature_read(wrong[i].text, strlen(wrong[i].text), &a, &count, &st),
                     wrong[i].code, wrong[i].part, &st);
}

/* ---- steps ----------------------------------------------------------------------------- */

static mode *open_program(const char *text, const void *const *host, int in_flight)
{
    bn_status st = {0};
    mode *m;
    mode_argument *a;
    size_t count = read_signature(text, &a);
    const mode_options options = {.in_flight = in_flight};
    assert_ok(mode_create_program(client, &options, text, strlen(text), a, count, host, &m, &st),
              &st);
    free(a);
    return m;
}

static void step(mode *m)
{
    bn_status st = {0};
    assert_ok(mode_step(m, &(mode_call){0}, NULL, &st), &st);
}

static void result(mode *m, size_t index, void *host, size_t size)
{
    bn_status st = {0};
    assert_ok(mode_drain(m, &st), &st);
    assert_ok(rt_buffer_to_host(client, mode_program_result(m, index), host, size, &st), &st);
}

#define ADD_ONE(attributes)                                                                        \
    "func.func @main(%a: tensor<2xf32> " attributes ") -> tensor<2xf32> {\n"                       \
    "  %one = stablehlo.constant dense<1.0> : tensor<2xf32>\n"                                     \
    "  %b = stablehlo.add %a, %one : tensor<2xf32>\n"                                              \
    "  return %b : tensor<2xf32>\n}\n"

static void aliased_arguments_iterate(void **state)
{
    (void)state;
    const float first[2] = {1, 10};
    const void *host[] = {first};
    for (int in_flight = 1; in_flight <= 2; in_flight++) {
        float y[2];
        mode *m = open_program(ADD_ONE("{tf.aliasing_output = 0 : i32}"), host, in_flight);
        assert_int_equal(mode_program_result_count(m), 1);
        for (int i = 1; i <= 3; i++)
            step(m);
        result(m, 0, y, sizeof y);
        assert_true(y[0] == 4 && y[1] == 13);
        assert_int_equal(mode_counters(m)[BN_COUNTER_TRANSFERS_TO_DEVICE], 1);
        mode_destroy(m);
    }
}

static void other_arguments_stay(void **state)
{
    (void)state;
    const float first[2] = {1, 10};
    const void *host[] = {first};
    static const char *const texts[] = {ADD_ONE(""), ADD_ONE("{jax.buffer_donor = true}")};
    for (int k = 0; k < 2; k++) {
        bn_status st = {0};
        float y[2];
        mode *m = open_program(texts[k], host, 1);
        for (int i = 1; i <= 3; i++) {
            step(m);
            result(m, 0, y, sizeof y);
            assert_true(y[0] == 2 && y[1] == 11);
        }
        /* What is given away comes anew before each step. */
        assert_int_equal(mode_counters(m)[BN_COUNTER_TRANSFERS_TO_DEVICE], k ? 3 : 1);
        assert_ok(mode_step_probe(m, &(mode_call){0}, 4, MODE_PROBE_QUEUED, &st), &st);
        assert_true(mode_execution_at(m, 0)->pjrt_ns > 0);
        step(m);
        result(m, 0, y, sizeof y);
        assert_true(y[0] == 2 && y[1] == 11);
        mode_destroy(m);
    }
}

/* A result of another type takes the memory, and cannot be the next argument. */
static void memory_of_another_type_is_no_argument(void **state)
{
    (void)state;
    bn_status st = {0};
    const float first[2] = {1, 10};
    const void *host[] = {first};
    int32_t y[2];
    mode *m = open_program(
        "func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xi32> {\n"
        "  %b = stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<2xi32>\n"
        "  return %b : tensor<2xi32>\n}\n",
        host, 1);
    for (int i = 0; i < 3; i++) {
        step(m);
        result(m, 0, y, sizeof y);
        assert_memory_equal(y, first, sizeof y);
    }
    assert_ok(mode_step_probe(m, &(mode_call){0}, 3, MODE_PROBE_QUEUED, &st), &st);
    mode_destroy(m);
}

static void no_arguments_and_many(void **state)
{
    (void)state;
    enum { MANY = 300 };
    bn_text text = {0};
    float values[MANY], y;
    const void *host[MANY] = {NULL};
    mode *m = open_program("func.func @main() -> tensor<i32> {\n"
                           "  %c = stablehlo.constant dense<7> : tensor<i32>\n"
                           "  return %c : tensor<i32>\n}\n",
                           host, 1);
    int32_t seven;
    step(m);
    result(m, 0, &seven, sizeof seven);
    assert_int_equal(seven, 7);
    mode_destroy(m);

    bn_text_puts(&text, "func.func @main(");
    for (int i = 0; i < MANY; i++) {
        values[i] = (float)i;
        host[i] = &values[i];
        bn_text_printf(&text, "%s%%a%d: tensor<f32> {tf.aliasing_output = %d : i32}", i ? ", " : "",
                       i, i);
    }
    bn_text_puts(&text, ") -> (tensor<f32>");
    for (int i = 1; i < MANY; i++)
        bn_text_puts(&text, ", tensor<f32>");
    bn_text_puts(&text, ") {\n");
    for (int i = 0; i < MANY; i++)
        bn_text_printf(&text, "  %%b%d = stablehlo.add %%a%d, %%a%d : tensor<f32>\n", i, i, i);
    bn_text_puts(&text, "  return %b0");
    for (int i = 1; i < MANY; i++)
        bn_text_printf(&text, ", %%b%d", i);
    bn_text_puts(&text, " : tensor<f32>");
    for (int i = 1; i < MANY; i++)
        bn_text_puts(&text, ", tensor<f32>");
    bn_text_puts(&text, "\n}\n");
    m = open_program(text.data, host, 1);
    step(m);
    step(m);
    for (size_t i = 0; i < MANY; i += 99) {
        result(m, i, &y, sizeof y);
        assert_true(y == 4 * values[i]);
    }
    bn_text_free(&text);
    mode_destroy(m);
}

/* Regions, several results, sorting, scattering, high rank: all the compiler's. */
static void other_ops_are_the_compilers(void **state)
{
    (void)state;
    static const char text[] =
        "func.func @main(%n: tensor<i32>, %x: tensor<4xf32>, %r: "
        "tensor<1x2x1x2x1x2x1x3xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>, "
        "tensor<3x1x2x1x2x1x2x1xf32>) {\n"
        "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
        "  %end = stablehlo.constant dense<5> : tensor<i32>\n"
        "  %w:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32>\n"
        "    cond {\n"
        "      %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "      stablehlo.return %c : tensor<i1>\n"
        "    } do {\n"
        "      %j = stablehlo.add %i, %one : tensor<i32>\n"
        "      %u = stablehlo.add %v, %v : tensor<4xf32>\n"
        "      stablehlo.return %j, %u : tensor<i32>, tensor<4xf32>\n"
        "    }\n"
        "  %s = \"stablehlo.sort\"(%x) ({\n"
        "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        "      %lt = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      stablehlo.return %lt : tensor<i1>\n"
        "  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %t = stablehlo.transpose %r, dims = [7, 6, 5, 4, 3, 2, 1, 0] : "
        "(tensor<1x2x1x2x1x2x1x3xf32>) -> tensor<3x1x2x1x2x1x2x1xf32>\n"
        "  return %w#0, %w#1, %s, %t : tensor<i32>, tensor<4xf32>, tensor<4xf32>, "
        "tensor<3x1x2x1x2x1x2x1xf32>\n}\n";
    const int32_t n = 2;
    const float x[4] = {3, -1, 2, 0};
    float r[24], doubled[4], sorted[4], turned[24];
    for (int i = 0; i < 24; i++)
        r[i] = (float)i;
    const void *host[] = {&n, x, r};
    mode *m = open_program(text, host, 1);
    int32_t end;
    step(m);
    result(m, 0, &end, sizeof end);
    result(m, 1, doubled, sizeof doubled);
    result(m, 2, sorted, sizeof sorted);
    result(m, 3, turned, sizeof turned);
    assert_int_equal(end, 5);
    assert_true(doubled[0] == 24 && doubled[1] == -8);
    assert_true(sorted[0] == -1 && sorted[1] == 0 && sorted[2] == 2 && sorted[3] == 3);
    assert_true(turned[0] == 0 && turned[1] == 12 && turned[8] == 1);
    mode_destroy(m);
}

static void mistakes_are_errors(void **state)
{
    (void)state;
    bn_status st = {0};
    mode *m;
    mode_argument *a;
    const float first[2] = {0, 0};
    const void *host[] = {first};
    const char *text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %b }";
    size_t count = read_signature(text, &a);
    assert_fails(mode_create_program(client, &(mode_options){0}, text, strlen(text), a, count, host,
                                     &m, &st),
                 BN_COMPILE, "", &st);
    free(a);
    text = ADD_ONE("");
    count = read_signature(text, &a);
    a[0].result = 3; /* the compiler would refuse such a text by itself */
    assert_fails(mode_create_program(client, &(mode_options){0}, text, strlen(text), a, count, host,
                                     &m, &st),
                 BN_FORMAT, "which is none", &st);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_read_off_the_text),
        cmocka_unit_test(cut_texts_end_in_errors),
        cmocka_unit_test(what_cannot_be_passed_is_told),
        cmocka_unit_test(aliased_arguments_iterate),
        cmocka_unit_test(other_arguments_stay),
        cmocka_unit_test(memory_of_another_type_is_no_argument),
        cmocka_unit_test(no_arguments_and_many),
        cmocka_unit_test(other_ops_are_the_compilers),
        cmocka_unit_test(mistakes_are_errors),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
