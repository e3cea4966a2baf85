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

static bn_code read_bytes(const char *format, const void *code, size_t size, mode_argument **list,
                          size_t *count, bn_status *st)
{
    const rt_program program = {.format = format, .code = code, .size = size};
    bool readable;
    bn_code read = mode_signature_read(&program, list, count, &readable, st);
    assert_true(readable && (read == BN_OK || !*list));
    return read;
}

static size_t read_signature(const char *text, mode_argument **list)
{
    bn_status st = {0};
    size_t count;
    assert_ok(read_bytes("mlir", text, strlen(text), list, &count, &st), &st);
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
    assert_int_equal(a[0].dtype, BN_F32);
    assert_int_equal(a[0].rank, 2);
    assert_int_equal(a[0].dims[1], 3);
    assert_int_equal(a[0].result, 1);
    assert_false(a[0].donated);
    assert_int_equal(mode_argument_bytes(&a[0]), 24);
    assert_int_equal(a[1].dtype, BN_C128);
    assert_int_equal(a[1].rank, 0);
    assert_true(a[1].donated);
    assert_int_equal(a[1].result, -1);
    assert_int_equal(a[2].dtype, BN_BF16);
    assert_int_equal(a[2].result, -1); /* what stands in a string is no attribute */
    assert_int_equal(a[3].dtype, BN_PRED);
    assert_int_equal(mode_argument_bytes(&a[3]), 0);
    free(a);
    assert_int_equal(read_signature("module { func.func @main() -> () { } }", &a), 0);
    free(a);
    for (int d = 0; d < RT_DTYPE_COUNT; d++) {
        char text[128];
        snprintf(text, sizeof text, "func.func @main(%%a: tensor<3x%s>)",
                 bn_dtype_text((rt_dtype)d));
        assert_int_equal(read_signature(text, &a), 1);
        assert_int_equal(a[0].dtype, d);
        free(a);
    }
}

/* A text that ends anywhere ends in an error, or its signature is whole already. */
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
        bn_code code = read_bytes("mlir", part, cut, &a, &count, &st);
        assert_true(code != BN_OK || cut >= whole);
        assert_true(code == BN_OK || code == BN_FORMAT);
        free(a);
        free(part);
    }
}

static void arguments_that_cannot_be_passed_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bn_code code;
        const char *part;
    } wrong[] = {
        {"", BN_FORMAT, "no function @main"},
        {"def f(x): return x", BN_FORMAT, "no function @main"},
        {"\nfunc.func @main(%a: tensor<?xf32>)", BN_NOT_SUPPORTED, "argument 0"},
        {"func.func @main(%a: tensor<2x?xf32>)", BN_NOT_SUPPORTED, "dynamic shape"},
        {"func.func @main(%a: tuple<tensor<f32>>)", BN_NOT_SUPPORTED, "tuple"},
        {"func.func @main(%a: !stablehlo.token)", BN_NOT_SUPPORTED, "token"},
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
        assert_fails(read_bytes("mlir", wrong[i].text, strlen(wrong[i].text), &a, &count, &st),
                     wrong[i].code, wrong[i].part, &st);
}

/* Programs for several devices are refused on one, in whichever form they declare it. */
static void programs_for_several_devices_are_refused(void **state)
{
    (void)state;
#define BODY(attributes, statement)                                                                \
    "module " attributes " { func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"              \
    "  " statement "\n  return %a : tensor<8xf32>\n} }"
#define REDUCE(groups)                                                                             \
    BODY("", "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = " groups "}> ({\n"              \
             "  ^b(%x: tensor<f32>, %y: tensor<f32>):\n stablehlo.return %x : tensor<f32>\n"       \
             "  }) : (tensor<8xf32>) -> tensor<8xf32>")
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {BODY("attributes {mhlo.num_partitions = 2 : i32}", ""), false},
        {BODY("attributes {mhlo.num_replicas = 4 : i32}", ""), false},
        {BODY("attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}", ""), true},
        {BODY("attributes {note = \"mhlo.num_partitions = 2\"}", ""), true},
        {REDUCE("dense<[[0, 1]]> : tensor<1x2xi64>"), false},
        {REDUCE("dense<[[0], [1]]> : tensor<2x1xi64>"), false},
        {REDUCE("dense<1> : tensor<1x1xi64>"), false},
        {REDUCE("dense<\"0x00000000000000000100000000000000\"> : tensor<1x2xi64>"), false},
        {REDUCE("#stablehlo.replica_group_mesh_axes<mesh = @m, axes = []>"), false},
        {REDUCE("dense<0> : tensor<1x1xi64>"), true},
        {REDUCE("dense<[[0, -1]]> : tensor<1x2xi64>"), true},
        {REDUCE("dense<> : tensor<0x0xi64>"), true},
        {BODY("",
              "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 3]]> "
              ": tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>"),
         false},
        {BODY("", "%r = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "
                  "\"{devices=[2,1,2]<=[4] last_tile_dim_replicate}\"} : (tensor<8xf32>) -> "
                  "tensor<8xf32>"),
         false},
        {BODY("", "%r = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = \"{maximal "
                  "device=1}\"} : (tensor<8xf32>) -> tensor<8xf32>"),
         false},
        {BODY("", "%r = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = \"{replicated}\"} : "
                  "(tensor<8xf32>) -> tensor<8xf32>"),
         true},
        {"module { sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n func.func @main() { return } }", false},
        {"module { sdy.mesh @mesh = <[\"x\"=1]>\n func.func @main() { return } }", true},
        {"module { sdy.mesh @mesh = <[], device_ids=[1]>\n func.func @main() { return } }", false},
        {"\"builtin.module\"() ({ \"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=8]>, sym_name = \"m\"}> "
         ": "
         "() -> ()\n \"func.func\"() <{function_type = () -> (), sym_name = \"main\"}> ({\n "
         "\"func.return\"() : () -> () }) : () -> () }) : () -> ()",
         false},
        {"\"builtin.module\"() ({ \"func.func\"() <{function_type = () -> (), sym_name = "
         "\"main\"}> "
         "({\n \"func.return\"() : () -> () }) : () -> () }) {mhlo.num_partitions = 3 : i32} : () "
         "-> ()",
         false},
        {"func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[\"x\"=2]>, "
         "[{\"x\"}]>}) { return }",
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        mode_argument *a;
        size_t count;
        const bn_code code =
            read_bytes("mlir", rows[i].text, strlen(rows[i].text), &a, &count, &st);
        if (code != (rows[i].good ? BN_OK : BN_NOT_SUPPORTED))
            fail_msg("text %zu: code %d, %s", i, code, st.message);
        free(a);
    }
}

/* Layouts, constants and donation in both text forms. */
static void declarations_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "func.func public @main(%a: tensor<2x3x4xf32> {mhlo.layout_mode = \"{1,2,0}\", "
        "tf.aliasing_output = 1 : i32}, %b: tensor<i32> {jax.global_constant = "
        "\"_platform_index\"}, "
        "%c: tensor<5x6xf8E5M2> {jax.buffer_donor = true, mhlo.layout_mode = \"auto\", "
        "mhlo.memory_kind = \"device\"}) -> (tensor<f32>, tensor<2x3x4xf32>) {",
        "\"builtin.module\"() ({\n \"func.func\"() <{arg_attrs = [{mhlo.layout_mode = \"{1,2,0}\", "
        "tf.aliasing_output = 1 : i32}, {jax.global_constant = \"_platform_index\"}, "
        "{jax.buffer_donor = true, mhlo.layout_mode = \"auto\"}], function_type = "
        "(tensor<2x3x4xf32>, tensor<i32>, tensor<5x6xf8E5M2>) -> (tensor<f32>, tensor<2x3x4xf32>), "
        "sym_name = \"main\", sym_visibility = \"public\"}> ({",
        "\"builtin.module\"() ({\n \"func.func\"() ({ ^bb0(%a: tensor<2x3x4xf32>): \n"
        "\"func.return\"() : () -> () }) {arg_attrs = [{mhlo.layout_mode = \"{1,2,0}\", "
        "tf.aliasing_output = 1 : i32}, {jax.global_constant = \"_platform_index\"}, "
        "{jax.buffer_donor = true}], function_type = (tensor<2x3x4xf32>, tensor<i32>, "
        "tensor<5x6xf8E5M2>) -> (tensor<f32>, tensor<2x3x4xf32>), sym_name = \"main\"} : () -> ()"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mode_argument *a;
        assert_int_equal(read_signature(texts[i], &a), 3);
        assert_true(a[0].laid_out && a[0].order[0] == 1 && a[0].order[1] == 2 &&
                    a[0].order[2] == 0);
        assert_int_equal(a[0].result, 1);
        assert_string_equal(a[1].constant, "_platform_index");
        assert_int_equal(a[2].dtype, BN_F8E5M2);
        assert_true(a[2].donated && !a[2].laid_out && !a[2].constant[0]);
        free(a);
    }
    static const char *const wrong[] = {
        "func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"{0,0}\"})",
        "func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"{0}\"})",
        "func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"columns\"})",
        "func.func @main(%a: tensor<2x3xf32> {mhlo.memory_kind = \"pinned_host\"})",
        "func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"\"})",
        "func.func @main() -> (tensor<2x3xf32> {mhlo.layout_mode = \"columns\"})",
        "func.func @main() -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0}\"})",
        "func.func @main() -> (tensor<f32>, tensor<2xf32> {mhlo.memory_kind = \"pinned_host\"})"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bn_status st = {0};
        mode_argument *a;
        size_t count;
        assert_int_not_equal(read_bytes("mlir", wrong[i], strlen(wrong[i]), &a, &count, &st),
                             BN_OK);
    }
}

/* ---- other forms ------------------------------------------------------------------------ */

static void types_are_read_and_written(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"f32[2,3]", "f32[2,3]"},
        {"s32[]", "s32[]"},
        {"pred[0,4]", "pred[0,4]"},
        {"bf16[7]{0}", "bf16[7]"},
        {"c128[1,2]{1,0}", "c128[1,2]"},
        {"f8e4m3fn[2]", "f8e4m3fn[2]"},
        {"f32[2,3]{0,1}", "f32[2,3]{0,1}"},
        {"f32[2,3,4]{1,2,0:T(8,128)}", "f32[2,3,4]{1,2,0:T(8,128)}"},
    };
    static const char *const bad[] = {"",
                                      "f32",
                                      "f32[",
                                      "f32[2",
                                      "f32[2,]",
                                      "f32[,2]",
                                      "f32[-1]",
                                      "f32[2]x",
                                      "f32[2 ]",
                                      "f31[2]",
                                      "f4e2m1fn[2]",
                                      "f32[2,3]{0}",
                                      "f32[2,3]{0,0}",
                                      "f32[2,3]{0,2}",
                                      "f32[2,3]{0,1",
                                      "f32[2,3]{0,1}x",
                                      "f32[2,3]{0,1}{0,1}",
                                      "f32[2,3]{}",
                                      "(f32[2])",
                                      "f32[99999999999999999999]"};
    bn_status st = {0};
    mode_argument a;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bn_text text = {0};
        assert_ok(mode_type_parse(good[i][0], &a, &st), &st);
        assert_int_equal(a.result, -1);
        mode_type_write(&a, &text);
        assert_string_equal(text.data, good[i][1]);
        bn_text_free(&text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(mode_type_parse(bad[i], &a, &st), BN_INVALID, "", &st);
}

static void forms_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        mode_form form;
    } rows[] = {
        {"ML\xefR\x01", 5, MODE_FORM_BYTECODE},
        {"module {}", 9, MODE_FORM_TEXT},
        {"\nmodule @f {}", 13, MODE_FORM_TEXT}, /* its first byte is that of a module */
        {"", 0, MODE_FORM_TEXT},
        {"\n", 1, MODE_FORM_TEXT},
        {"\x0a\x01g", 3, MODE_FORM_TEXT},                        /* a name and no entry */
        {"\x0a\x01g\x22\x00", 5, MODE_FORM_HLO},                 /* an entry of no arguments */
        {"\x0a\x05\x0a\x01g\x22\x00\x1a\x00", 9, MODE_FORM_HLO}, /* in an HloProto */
        {"\x0a\xff\xff\xff\xff\xff\x01", 7, MODE_FORM_TEXT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *code = rows[i].bytes;
        size_t size = rows[i].size;
        assert_int_equal(mode_form_find(&code, &size), rows[i].form);
        assert_true(code >= rows[i].bytes && code + size <= rows[i].bytes + rows[i].size);
        assert_string_equal(mode_form_name(rows[i].form),
                            rows[i].form == MODE_FORM_HLO ? "hlo" : "mlir");
    }
}

/* Field NUMBER with the BYTES of a message. */
static void put_field(bn_text *out, int number, const bn_text *bytes)
{
    assert_true(bytes->length < 128);
    bn_text_putc(out, (char)(number << 3 | 2));
    bn_text_putc(out, (char)bytes->length);
    bn_text_append(out, bytes->data ? bytes->data : "", bytes->length);
}

/* A ShapeProto of TYPE with the dimensions 2 and 3. */
static void put_shape(bn_text *out, int number, int type)
{
    bn_text shape = {0};
    const char bytes[] = {2 << 3, (char)type, 3 << 3 | 2, 2, 2, 3};
    bn_text_append(&shape, bytes, sizeof bytes);
    put_field(out, number, &shape);
    bn_text_free(&shape);
}

/* A module whose entry takes shapes of TYPES, and that donates by ALIAS, an
 * HloInputOutputAliasProto or NULL. */
static bn_text hlo_module(const int *types, size_t count, const char *alias, size_t alias_size)
{
    bn_text module = {0}, entry = {0}, name = {0}, donated = {0};
    bn_text_puts(&name, "g");
    for (size_t i = 0; i < count; i++)
        put_shape(&entry, 1, types[i]);
    put_shape(&entry, 2, 11);
    put_field(&module, 1, &name);
    put_field(&module, 4, &entry);
    bn_text_append(&donated, alias, alias_size);
    if (alias_size)
        put_field(&module, 8, &donated);
    bn_text_free(&entry);
    bn_text_free(&name);
    bn_text_free(&donated);
    return module;
}

static void arguments_of_hlo_are_read(void **state)
{
    (void)state;
    bn_status st = {0};
    mode_argument *a = NULL;
    size_t count = 0;
    /* Argument 1 becomes the result, which is no tuple. */
    bn_text module = hlo_module((int[]){5, 11, 1}, 3, "\x0a\x02\x10\x01", 4);
    assert_ok(read_bytes("hlo", module.data, module.length, &a, &count, &st), &st);
    assert_int_equal(count, 3);
    assert_int_equal(a[0].dtype, BN_S64);
    assert_int_equal(a[1].dtype, BN_F32);
    assert_int_equal(a[2].dtype, BN_PRED);
    assert_int_equal(a[1].rank, 2);
    assert_int_equal(a[1].dims[1], 3);
    assert_int_equal(a[0].result, -1);
    assert_int_equal(a[1].result, 0);
    free(a);
    bn_text_free(&module);

    module = hlo_module((int[]){11}, 1, "\x0a\x02\x10\x07", 4);
    assert_fails(read_bytes("hlo", module.data, module.length, &a, &count, &st), BN_FORMAT,
                 "argument 7|1", &st);
    bn_text_free(&module);
    module = hlo_module((int[]){13}, 1, "", 0);
    assert_fails(read_bytes("hlo", module.data, module.length, &a, &count, &st), BN_NOT_SUPPORTED,
                 "tuple", &st);
    bn_text_free(&module);
    module = hlo_module((int[]){21}, 1, "", 0);
    assert_fails(read_bytes("hlo", module.data, module.length, &a, &count, &st), BN_NOT_SUPPORTED,
                 "i4", &st);
    /* Cut anywhere it is an error, or all that is missing is its end. */
    for (size_t cut = 0; cut < module.length; cut++) {
        char *part = malloc(cut + 1);
        memcpy(part, module.data, cut);
        assert_int_not_equal(read_bytes("hlo", part, cut, &a, &count, &st), BN_OK);
        free(part);
    }
    bn_text_free(&module);
    assert_fails(read_bytes("hlo", "ab", 2, &a, &count, &st), BN_FORMAT, "HloModuleProto", &st);
}

/* ---- steps ----------------------------------------------------------------------------- */

static rt_program text_program(const char *text)
{
    return (rt_program){.format = "mlir", .code = text, .size = strlen(text)};
}

static mode *open_program(const char *text, const void *const *host, int in_flight)
{
    bn_status st = {0};
    mode *m;
    mode_argument *a;
    size_t count = read_signature(text, &a);
    const mode_options options = {.in_flight = in_flight};
    const rt_program program = text_program(text);
    assert_ok(mode_create_program(client, &options, &program, a, count, host, &m, &st), &st);
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
        /* A donated argument is transferred anew before each step. */
        assert_int_equal(mode_counters(m)[BN_COUNTER_TRANSFERS_TO_DEVICE], k ? 3 : 1);
        assert_ok(mode_step_probe(m, &(mode_call){0}, 4, MODE_PROBE_QUEUED, &st), &st);
        assert_true(mode_execution_at(m, 0)->pjrt_ns > 0);
        step(m);
        result(m, 0, y, sizeof y);
        assert_true(y[0] == 2 && y[1] == 11);
        mode_destroy(m);
    }
}

/* An HloModuleProto: two floats a to a + a, which takes over the memory of a. check_program.sh says
 * how it is put together. */
static const unsigned char double_hlo[] = {
    0x0a, 0x06, 0x64, 0x6f, 0x75, 0x62, 0x6c, 0x65, 0x12, 0x04, 0x6d, 0x61, 0x69, 0x6e, 0x1a, 0x66,
    0x0a, 0x04, 0x6d, 0x61, 0x69, 0x6e, 0x12, 0x1f, 0x0a, 0x01, 0x61, 0x12, 0x09, 0x70, 0x61, 0x72,
    0x61, 0x6d, 0x65, 0x74, 0x65, 0x72, 0x1a, 0x0a, 0x10, 0x0b, 0x1a, 0x01, 0x02, 0x2a, 0x03, 0x0a,
    0x01, 0x00, 0x48, 0x00, 0x98, 0x02, 0x01, 0x12, 0x1c, 0x0a, 0x01, 0x72, 0x12, 0x03, 0x61, 0x64,
    0x64, 0x1a, 0x0a, 0x10, 0x0b, 0x1a, 0x01, 0x02, 0x2a, 0x03, 0x0a, 0x01, 0x00, 0x98, 0x02, 0x02,
    0xa2, 0x02, 0x02, 0x01, 0x01, 0x22, 0x1b, 0x0a, 0x0a, 0x10, 0x0b, 0x1a, 0x01, 0x02, 0x2a, 0x03,
    0x0a, 0x01, 0x00, 0x12, 0x0a, 0x10, 0x0b, 0x1a, 0x01, 0x02, 0x2a, 0x03, 0x0a, 0x01, 0x00, 0x1a,
    0x01, 0x61, 0x28, 0x01, 0x30, 0x02, 0x22, 0x1b, 0x0a, 0x0a, 0x10, 0x0b, 0x1a, 0x01, 0x02, 0x2a,
    0x03, 0x0a, 0x01, 0x00, 0x12, 0x0a, 0x10, 0x0b, 0x1a, 0x01, 0x02, 0x2a, 0x03, 0x0a, 0x01, 0x00,
    0x1a, 0x01, 0x61, 0x28, 0x07, 0x30, 0x01, 0x42, 0x02, 0x0a, 0x00};

/* XLA's own form of a program runs as a text does; and where nothing says which argument is
 * donated, the plugin is asked. */
static void programs_in_xlas_form_run(void **state)
{
    (void)state;
    const float first[2] = {1, 10};
    const void *host[] = {first};
    for (int stated = 0; stated < 2; stated++) {
        bn_status st = {0};
        const char *code = (const char *)double_hlo;
        size_t size = sizeof double_hlo, count = 0;
        float y[2];
        mode_argument *a;
        mode *m;
        assert_int_equal(mode_form_find(&code, &size), MODE_FORM_HLO);
        assert_ok(read_bytes("hlo", code, size, &a, &count, &st), &st);
        assert_int_equal(count, 1);
        assert_int_equal(a[0].dtype, BN_F32);
        assert_int_equal(a[0].result, 0);
        if (!stated)
            a[0].result = -1;
        const rt_program program = {.format = "hlo", .code = code, .size = size};
        assert_ok(
            mode_create_program(client, &(mode_options){0}, &program, a, count, host, &m, &st),
            &st);
        free(a);
        for (int i = 1; i <= 3; i++)
            step(m);
        result(m, 0, y, sizeof y);
        assert_true(y[0] == 8 && y[1] == 80);
        assert_int_equal(mode_counters(m)[BN_COUNTER_TRANSFERS_TO_DEVICE], 1);
        assert_ok(mode_step_probe(m, &(mode_call){0}, 3, MODE_PROBE_QUEUED, &st), &st);
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
    rt_program program = text_program(text);
    assert_fails(mode_create_program(client, &(mode_options){0}, &program, a, count, host, &m, &st),
                 BN_COMPILE, "", &st);
    free(a);
    text = ADD_ONE("");
    program = text_program(text);
    count = read_signature(text, &a);
    a[0].result = 3; /* the compiler would refuse such a text by itself */
    assert_fails(mode_create_program(client, &(mode_options){0}, &program, a, count, host, &m, &st),
                 BN_FORMAT, "argument 0|result", &st);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_read_off_the_text),
        cmocka_unit_test(cut_texts_end_in_errors),
        cmocka_unit_test(arguments_that_cannot_be_passed_are_reported),
        cmocka_unit_test(programs_for_several_devices_are_refused),
        cmocka_unit_test(declarations_are_read),
        cmocka_unit_test(types_are_read_and_written),
        cmocka_unit_test(forms_are_told_apart),
        cmocka_unit_test(arguments_of_hlo_are_read),
        cmocka_unit_test(aliased_arguments_iterate),
        cmocka_unit_test(other_arguments_stay),
        cmocka_unit_test(programs_in_xlas_form_run),
        cmocka_unit_test(memory_of_another_type_is_no_argument),
        cmocka_unit_test(no_arguments_and_many),
        cmocka_unit_test(other_ops_are_the_compilers),
        cmocka_unit_test(mistakes_are_errors),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
