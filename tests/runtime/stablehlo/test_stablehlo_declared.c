/* test_stablehlo_declared.c - what StableHLO text declares: devices however they are named, types
 * that no value has, and which @main it is of. */
#include "tests/runtime/stablehlo/stablehlo_fixture.h"

static shlo_declared declared_of(const char *text)
{
    bn_status st = {0};
    shlo_declared d;
    if (shlo_declared_read(text, strlen(text), &d, &st) != BN_OK)
        fail_msg("%s: %s", text, st.message);
    return d;
}

#define MAIN "func.func @main() { return }"

/* A module with ATTRIBUTES, then what its first statement has. */
#define WITH(attributes) "module attributes {" attributes "} { " MAIN " }"
#define SHARDED(text)    WITH("mhlo.sharding = \"" text "\"")
#define OP(op, attributes)                                                                         \
    "module { func.func @main(%a: tensor<8xf32>) { %r = \"stablehlo." op "\"(%a) <{" attributes    \
    "}> : (tensor<8xf32>) -> tensor<8xf32>\n return } }"

static void devices_are_noted_however_they_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t highest, mesh;
        const char *by;
    } rows[] = {
        {SHARDED("{replicated}"), -1, 0, ""},
        {SHARDED("{manual}"), -1, 0, ""},
        {SHARDED("{devices=[1,1]0}"), 0, 0, "mhlo.sharding"},
        {SHARDED("{devices=[1,1]7}"), 7, 0, "mhlo.sharding"},
        {SHARDED("{devices=[2,1]0,1}"), 1, 0, "mhlo.sharding"},
        {SHARDED("{devices=[2,2]<=[2,2]T(1,0)}"), 3, 0, "mhlo.sharding"},
        {SHARDED("{devices=[1,1,8]<=[8] last_tile_dims={manual}}"), 7, 0, "mhlo.sharding"},
        {SHARDED("{{maximal device=0}, {devices=[1,2]0,5 last_tile_dim_replicate}}"), 5, 0,
         "mhlo.sharding"},
        {SHARDED("{\\64evices=[2]0,1}"), 1, 0, "mhlo.sharding"},
        {SHARDED("{replicated metadata={op_name=\\\"devices=[9]}\\\"}}"), -1, 0, ""},
        {SHARDED("{{replicated metadata={op_name=\\22}\\22}}, {maximal device=2}}"), 2, 0,
         "mhlo.sharding"},
        {SHARDED("{mesh[x=2], [{x}, {}]}"), INT64_MAX, 0, "mhlo.sharding"},
        {"#s = \"{devices=[2]0,1}\"\n" WITH("mhlo.sharding = #s"), 1, 0, "mhlo.sharding"},
        {WITH("mhlo.sharding = #s"), INT64_MAX, 0, "mhlo.sharding"},
        {WITH("\"mhlo.sharding\" = \"{maximal device=1}\""), 1, 0, "mhlo.sharding"},
        {WITH("mhlo.spmd_output_sharding = \"{maximal device=1}\""), 1, 0, "mhlo.sharding"},
        {WITH("mhlo.spmd_parameters_shardings = [\"{replicated}\", \"{devices=[3]0,1,2}\"]"), 2, 0,
         "mhlo.sharding"},
        {WITH("mhlo.frontend_attributes = {xla.sdy.meshes = \"{m = #sdy.mesh<[\\22x\\22=8]>}\"}"),
         -1, 8, ""},
        {WITH("mhlo.frontend_attributes = {\"xla.sdy.meshes\" = \"{m = "
              "#sdy.mesh<[\\\\\\22x\\\\\\22=4, \\\\\\22y>\\\\\\22=2], device_ids=[0,9]>}\"}"),
         9, 8, "sdy.mesh"},
        {WITH("mhlo.frontend_attributes = {xla.sdy.sharding = \"#sdy.sharding<mesh<[\\22x\\22=2]>, "
              "[]>\"}"),
         -1, 2, ""},
        {WITH("mhlo.frontend_attributes = {xla.sdy.meshes = {m = #sdy.mesh<[\"x\"=2]>}}"), -1, 2,
         ""},
        {WITH("mhlo.frontend_attributes = {xla.sdy.meshes = #m}"), INT64_MAX, 0, "xla.sdy.meshes"},
        {"#m = #sdy.mesh<[\"x\"=2]>\nmodule { sdy.mesh @m = #m\n " MAIN " }", -1, 2, ""},
        {OP("all_reduce",
            "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = "
            "dense<[[0, 1]]> : tensor<1x2xi64>"),
         1, 0, "stablehlo.all_reduce"},
        {OP("send", "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
                    "\"source_target_pairs\" = dense<[[0, 2]]> : tensor<1x2xi64>"),
         2, 0, "stablehlo.send"},
        {OP("recv", "is_host_transfer = true"), -1, 0, "stablehlo.recv"},
        {OP("all_gather", "replica_groups = #g"), INT64_MAX, 0, "stablehlo.all_gather"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shlo_declared d = declared_of(rows[i].text);
        if (d.highest_device != rows[i].highest || d.mesh != rows[i].mesh ||
            strcmp(d.collective, rows[i].by) != 0)
            fail_msg("row %zu: device %lld of %s, mesh %lld", i, (long long)d.highest_device,
                     d.collective, (long long)d.mesh);
        shlo_declared_free(&d);
    }
    shlo_declared d =
        declared_of(WITH("\"mhlo.num_partitions\" = 2 : i32, \"mhlo.num_replicas\" = 3 : i32"));
    assert_int_equal(d.partitions, 2);
    assert_int_equal(d.replicas, 3);
    shlo_declared_free(&d);
}

/* As the byte code's reader has it. */
static void what_has_no_rank_is_no_tensor(void **state)
{
    (void)state;
    shlo_declared d = declared_of("func.func @main(%a: tensor<*xf32>, %b: tensor<2xf32>) -> "
                                  "tensor< * x f32> { return }");
    assert_false(d.arguments[0].tensor);
    assert_string_equal(d.arguments[0].dtype, "tensor<*xf32>");
    assert_true(d.arguments[1].tensor);
    assert_false(d.results[0].tensor);
    shlo_declared_free(&d);
}

/* A module may hold modules with a @main each. */
static void the_outer_main_counts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "module { module @inner { func.func @main(%a: tensor<4xf32> {jax.buffer_donor = true}, "
        "%b: tensor<f32>) -> tensor<f32> { return } }\n func.func @main(%a: tensor<2xi8> "
        "{jax.global_constant = \"x\"}) -> () { return } }",
        "module { func.func @main(%a: tensor<2xi8> {jax.global_constant = \"x\"}) -> () { return "
        "}\n"
        "module @inner { func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) { return } } }",
        "\"builtin.module\"() ({ \"builtin.module\"() ({ \"func.func\"() <{function_type = "
        "(tensor<4xf32>, tensor<f32>) -> tensor<f32>, sym_name = \"main\"}> ({ }) : () -> () }) : "
        "() -> ()\n \"func.func\"() <{\"arg_attrs\" = [{\"jax.global_constant\" = \"x\"}], "
        "\"function_type\" = (tensor<2xi8>) -> (), \"sym_name\" = \"main\"}> ({ }) : () -> () }) : "
        "() -> ()"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        shlo_declared d = declared_of(texts[i]);
        assert_int_equal(d.argument_count, 1);
        assert_int_equal(d.result_count, 0);
        assert_string_equal(d.arguments[0].dtype, "i8");
        assert_string_equal(d.arguments[0].constant, "x");
        assert_false(d.arguments[0].donated);
        shlo_declared_free(&d);
    }
}

#define GENERIC_WITHOUT_ATTRIBUTES                                                                 \
    "\"func.func\"() <{arg_attrs = #a, function_type = (tensor<f32>) -> (), "                      \
    "sym_name = \"main\"}> ({ }) : () -> ()"

/* Attributes of the first statement's value are not attributes of the result. */
static void a_lone_result_has_no_attributes(void **state)
{
    (void)state;
    shlo_declared d = declared_of(
        "func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { %r = stablehlo.custom_call "
        "@f(%a) {mhlo.layout_mode = \"{0,1}\"} : (tensor<2x3xf32>) -> tensor<2x3xf32> return }");
    assert_int_equal(d.result_count, 1);
    assert_null(d.results[0].layout);
    shlo_declared_free(&d);
}

static void what_is_half_said_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "func.func @main(%a: tensor<f32> {jax.buffer_donor = \"yes\"})",
        "func.func @main(%a: tensor<f32> {jax.buffer_donor = #t})",
        "func.func @main(%a: tensor<f32> {tf.aliasing_output = -1 : i32})",
        "func.func @main(%a: tensor<f32> #attributes)",
        "func.func @main(%a: tensor<f32> {mhlo.layout_mode = , x})",
        "func.func @main(%a: tensor<f32> {mhlo.layout_mode = })",
        "module attributes {mhlo.num_partitions = #n} { " MAIN " }",
        GENERIC_WITHOUT_ATTRIBUTES};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bn_status st = {0};
        shlo_declared d;
        assert_fails(shlo_declared_read(texts[i], strlen(texts[i]), &d, &st), BN_FORMAT, "line 1",
                     &st);
        shlo_declared_free(&d);
    }
}

/* "#a" and "!t" are what they stand for, within brackets and each other; in strings, comments and
 * places they are not. */
static void names_are_what_they_stand_for(void **state)
{
    (void)state;
    shlo_declared d = declared_of(
        "#loc = loc(\"f\")\n!e = f8E5M2\n!t = tensor<2x!e>\n#two = 2 : i32 // #one\n"
        "#attributes = {jax.global_constant = \"#two\", // }\n  mhlo.layout_mode = \"auto\"}\n"
        "#list = [#attributes, {}]\n"
        "\"builtin.module\"() ({ \"func.func\"() <{arg_attrs = #list, function_type = (!t, "
        "tuple<!t>) -> !t, sym_name = \"main\"}> ({ }) : () -> () loc(#loc) }) "
        "{mhlo.num_partitions = #two} : () -> ()\n#loc1 = loc(\"g\")");
    assert_int_equal(d.argument_count, 2);
    assert_string_equal(d.arguments[0].dtype, "f8E5M2");
    assert_int_equal(d.arguments[0].dims[0], 2);
    assert_string_equal(d.arguments[0].constant, "#two");
    assert_string_equal(d.arguments[0].layout, "auto");
    assert_string_equal(d.arguments[1].dtype, "tuple<tensor<2xf8E5M2>>");
    assert_string_equal(d.results[0].dtype, "f8E5M2");
    assert_int_equal(d.partitions, 2);
    shlo_declared_free(&d);
    /* Each is twice the one before. */
    bn_text text = {0};
    bn_status st = {0};
    bn_text_puts(&text, "#a0 = \"0123456789\"\n");
    for (int i = 1; i < 64; i++)
        bn_text_printf(&text, "#a%d = [#a%d, #a%d]\n", i, i - 1, i - 1);
    bn_text_puts(&text, MAIN);
    assert_fails(shlo_declared_read(text.data, text.length, &d, &st), BN_FORMAT, "#a", &st);
    shlo_declared_free(&d);
    bn_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_noted_however_they_are_named),
        cmocka_unit_test(names_are_what_they_stand_for),
        cmocka_unit_test(what_has_no_rank_is_no_tensor),
        cmocka_unit_test(the_outer_main_counts),
        cmocka_unit_test(a_lone_result_has_no_attributes),
        cmocka_unit_test(what_is_half_said_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
