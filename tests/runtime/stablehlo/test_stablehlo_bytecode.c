/* test_stablehlo_bytecode.c - what programs in MLIR's byte code declare, in each version of the
 * form and in both dialects; and what is refused. The programs are made, with their texts, by
 * tests/fuzz/make_corpus_bytecode.py. */
#define _GNU_SOURCE
#include "tests/runtime/stablehlo/stablehlo_fixture.h"

/* The bytes of a seed, the caller's. */
static char *seed(const char *name, size_t *size)
{
    char path[256], *bytes;
    bn_status st = {0};
    snprintf(path, sizeof path, "tests/fuzz/corpus/bytecode/%s", name);
    assert_ok(bn_regular_read(path, &bytes, size, &st), &st);
    return bytes;
}

static shlo_declared declared_of(const char *name)
{
    bn_status st = {0};
    shlo_declared d;
    size_t size;
    char *bytes = seed(name, &size);
    bn_code code = shlo_declared_read_bytecode(bytes, size, &d, &st);
    if (code != BN_OK)
        fail_msg("%s: %s: %s", name, bn_code_name(code), st.message);
    free(bytes);
    return d;
}

static void assert_type(const shlo_value *v, const char *dtype, size_t rank, const int64_t *dims)
{
    assert_true(v->tensor);
    assert_string_equal(v->dtype, dtype);
    assert_int_equal(v->rank, rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(v->dims[i], dims[i]);
}

static void every_version_declares_the_same(void **state)
{
    (void)state;
    static const char *const names[] = {
        "declared-v0", "declared-v1",       "declared-v2",           "declared-v3", "declared-v4",
        "declared-v5", "declared-portable", "declared-portable-0.9", "declared-v6"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        shlo_declared d = declared_of(names[i]);
        assert_int_equal(d.argument_count, 7);
        assert_int_equal(d.result_count, 2);
        const shlo_value *a = d.arguments;
        assert_type(&a[0], "f32", 2, (int64_t[]){2, 3});
        assert_string_equal(a[0].layout, "{0,1}");
        assert_string_equal(a[0].memory, "pinned_host");
        assert_int_equal(a[0].result, -1);
        assert_null(a[0].constant);
        assert_type(&a[1], "i32", 0, NULL);
        assert_string_equal(a[1].constant, "_platform_index");
        assert_type(&a[2], "f8E4M3FN", 1, (int64_t[]){4});
        assert_int_equal(a[2].result, 1);
        assert_false(a[2].donated);
        assert_type(&a[3], "ui8", 2, (int64_t[]){3, -1});
        assert_true(a[3].donated);
        assert_type(&a[4], "complex<f32>", 1, (int64_t[]){2});
        assert_false(a[4].donated);
        assert_string_equal(a[4].sharding, "{devices=[4]<=[4]}");
        assert_type(&a[5], "i4", 1, (int64_t[]){300});
        assert_type(&a[6], "i1", 0, NULL);
        assert_null(a[6].layout);
        assert_string_equal(d.results[0].layout, "auto");
        assert_type(&d.results[1], "f8E4M3FN", 1, (int64_t[]){4});
        assert_int_equal(d.partitions, 2);
        assert_int_equal(d.replicas, 3);
        assert_int_equal(d.mesh, 0);
        assert_int_equal(d.highest_device, 3);
        assert_string_equal(d.collective, "mhlo.sharding");
        shlo_declared_free(&d);
    }
}

static void collectives_name_devices(void **state)
{
    (void)state;
    static const struct {
        const char *name, *op;
        int64_t device;
    } cases[] = {{"collectives-v0", "stablehlo.collective_permute", 300},
                 {"collectives-v3", "stablehlo.collective_permute", 300},
                 {"collectives-v6", "stablehlo.collective_permute", 300},
                 {"collectives-portable-0.9.0", "stablehlo.collective_permute", 300},
                 {"collectives-portable-1.15.0", "stablehlo.collective_permute", 300},
                 /* In a region of a function that @main calls. */
                 {"nested", "stablehlo.all_to_all", 7},
                 {"nested-portable", "stablehlo.all_to_all", 7},
                 {"op-all_gather", "stablehlo.all_gather", 11},
                 {"op-all_gather-portable", "stablehlo.all_gather", 11},
                 {"op-all_reduce", "stablehlo.all_reduce", 11},
                 {"op-all_reduce-portable", "stablehlo.all_reduce", 11},
                 {"op-all_to_all", "stablehlo.all_to_all", 11},
                 {"op-all_to_all-portable", "stablehlo.all_to_all", 11},
                 {"op-collective_broadcast", "stablehlo.collective_broadcast", 11},
                 {"op-collective_broadcast-portable", "stablehlo.collective_broadcast", 11},
                 {"op-collective_permute", "stablehlo.collective_permute", 11},
                 {"op-collective_permute-portable", "stablehlo.collective_permute", 11},
                 {"op-cross-replica-sum", "stablehlo.cross-replica-sum", 11},
                 {"op-cross-replica-sum-portable", "stablehlo.cross-replica-sum", 11},
                 {"op-recv", "stablehlo.recv", 11},
                 {"op-recv-portable", "stablehlo.recv", 11},
                 {"op-send", "stablehlo.send", 11},
                 {"op-send-portable", "stablehlo.send", 11},
                 {"op-reduce_scatter", "stablehlo.reduce_scatter", 11},
                 {"op-reduce_scatter-portable", "stablehlo.reduce_scatter", 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shlo_declared d = declared_of(cases[i].name);
        if (d.highest_device != cases[i].device || strcmp(d.collective, cases[i].op) != 0)
            fail_msg("%s: device %lld of %s", cases[i].name, (long long)d.highest_device,
                     d.collective);
        assert_int_equal(d.partitions, 0);
        shlo_declared_free(&d);
    }
}

static void meshes_and_shardings_are_read(void **state)
{
    (void)state;
    shlo_declared d = declared_of("meshes");
    assert_int_equal(d.mesh, 16); /* of the one that stands in a sharding */
    assert_int_equal(d.highest_device, 9);
    assert_string_equal(d.collective, "sdy.mesh");
    assert_string_equal(d.arguments[0].sharding,
                        "#sdy.sharding<@mesh, [{\"a\", ?}p1, {\"b\":(2)2}]>");
    assert_string_equal(d.arguments[1].sharding,
                        "#sdy.sharding<@mesh, [{?}], replicated={\"a\", \"b\"}>");
    assert_string_equal(d.arguments[2].sharding, "#sdy.sharding<mesh, [{\"c\"}]>");
    shlo_declared_free(&d);
}

/* Puts TO where BYTES have FROM, which is as long. */
static void put_instead(char *bytes, size_t size, const char *from, const char *to)
{
    char *at = memmem(bytes, size, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
}

/* As in text: meshes that travel as text, and shardings by other names and in forms not known. */
static void devices_in_strings_count(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        int64_t mesh, highest;
    } cases[] = {{"xla.sdy.meshe", "#sdy.mesh<[\"x\"=6]>", 6, -1},
                 {"mhlo.sharding", "{devices=[1,1]777}", 0, 777},
                 {"mhlo.sharding", "{mesh[x=2], [{x}]}", 0, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_status st = {0};
        shlo_declared d;
        size_t size;
        char *bytes = seed("declared-v6", &size);
        put_instead(bytes, size, "mhlo.sharding", cases[i].key);
        put_instead(bytes, size, "{devices=[4]<=[4]}", cases[i].value);
        assert_ok(shlo_declared_read_bytecode(bytes, size, &d, &st), &st);
        assert_int_equal(d.mesh, cases[i].mesh);
        assert_int_equal(d.highest_device, cases[i].highest);
        shlo_declared_free(&d);
        free(bytes);
    }
}

static void types_of_all_kinds_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"types", "types-portable"};
    for (size_t i = 0; i < 2; i++) {
        shlo_declared d = declared_of(names[i]);
        const shlo_value *a = d.arguments;
        assert_int_equal(d.argument_count, 8);
        assert_int_equal(d.result_count, 0);
        assert_type(&a[0], "f32", 2, (int64_t[]){2, -1});
        assert_string_equal(a[0].encoding, "#stablehlo.bounds<?, 5>");
        for (size_t k = 1; k < 4; k++)
            assert_false(a[k].tensor);
        assert_string_equal(a[1].dtype, "!stablehlo.token");
        assert_string_equal(a[2].dtype, "tuple<tensor<2xf32>, tensor<i32"); /* cut */
        assert_string_equal(a[3].dtype, "tensor<*xf32>");
        assert_type(&a[4], "bf16", 0, NULL);
        assert_type(&a[5], "ui64", 0, NULL);
        assert_type(&a[6], "f8E4M3B11FNUZ", 0, NULL);
        assert_type(&a[7], "f4E2M1FN", 7, (int64_t[]){1, 1, 1, 1, 1, 1, 1});
        shlo_declared_free(&d);
    }
}

static void what_is_not_known_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bn_code code;
        const char *words;
    } cases[] = {{"unknown-type", BN_NOT_SUPPORTED, "number 10 of dialect builtin"},
                 {"version-7", BN_NOT_SUPPORTED, "version 7"},
                 {"no-main", BN_FORMAT, "@main"},
                 {"cut", BN_FORMAT, "damaged"},
                 {"empty", BN_FORMAT, "damaged"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_status st = {0};
        shlo_declared d;
        size_t size;
        char *bytes = seed(cases[i].name, &size);
        assert_fails(shlo_declared_read_bytecode(bytes, size, &d, &st), cases[i].code,
                     cases[i].words, &st);
        shlo_declared_free(&d);
        free(bytes);
    }
}

/* A program that was cut is none, wherever that was. */
static void no_prefix_is_believed(void **state)
{
    (void)state;
    size_t size;
    char *bytes = seed("declared-v6", &size);
    for (size_t length = 0; length < size; length++) {
        bn_status st = {0};
        shlo_declared d;
        char *part = malloc(length + 1); /* its end is where a sanitizer looks */
        assert_non_null(part);
        memcpy(part, bytes, length);
        assert_int_equal(shlo_declared_read_bytecode(part, length, &d, &st), BN_FORMAT);
        shlo_declared_free(&d);
        free(part);
    }
    free(bytes);
}

/* A number that no dialect of this version has, in place of what tells an attribute's kind. */
static void one_unknown_attribute_refuses_all(void **state)
{
    (void)state;
    size_t size;
    char *bytes = seed("declared-v6", &size);
    bn_status st = {0};
    shlo_declared d;
    /* "true": attribute 8 of builtin, then its type, then 1. */
    size_t at = 0;
    while (at + 3 <= size && memcmp(bytes + at, "\x11\x05\x01", 3) != 0)
        at++;
    assert_true(at + 3 <= size);
    bytes[at] = 50 << 1 | 1;
    assert_fails(shlo_declared_read_bytecode(bytes, size, &d, &st), BN_NOT_SUPPORTED,
                 "jax.buffer_donor", &st);
    shlo_declared_free(&d);
    free(bytes);
}

/* Where something is not known the rest still tells for which devices the program is. */
static void devices_are_found_among_unreadable_attributes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from, *to;
        int64_t partitions, highest;
        const char *collective;
    } cases[] = {
        /* Of an argument. */
        {"declared-v6", "jax.buffer_donor", "mhlo.memory_kind", 2, 3, "mhlo.sharding"},
        {"declared-v2", "jax.buffer_donor", "mhlo.memory_kind", 2, 3, "mhlo.sharding"},
        {"declared-portable", "jax.buffer_donor", "mhlo.memory_kind", 2, 3, "mhlo.sharding"},
        /* Unreadable declarations may name any device: a count that is no number, other properties.
         */
        {"declared-v6", "jax.global_constant", "mhlo.num_partitions", 2, INT64_MAX,
         "mhlo.num_partitions"},
        {"op-all_to_all", "all_to_all", "all_reduce", 0, INT64_MAX, "stablehlo.all_reduce"},
        {"op-all_to_all-portable", "all_to_all", "all_reduce", 0, INT64_MAX,
         "stablehlo.all_reduce"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_status st = {0};
        shlo_declared d;
        size_t size;
        char *bytes = seed(cases[i].name, &size);
        put_instead(bytes, size, cases[i].from, cases[i].to);
        assert_int_equal(shlo_declared_read_bytecode(bytes, size, &d, &st), BN_NOT_SUPPORTED);
        assert_int_equal(st.code, BN_NOT_SUPPORTED);
        assert_int_equal(d.argument_count + d.result_count, 0);
        assert_int_equal(d.partitions, cases[i].partitions);
        assert_int_equal(d.highest_device, cases[i].highest);
        assert_string_equal(d.collective, cases[i].collective);
        shlo_declared_free(&d);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_declares_the_same),
        cmocka_unit_test(collectives_name_devices),
        cmocka_unit_test(meshes_and_shardings_are_read),
        cmocka_unit_test(devices_in_strings_count),
        cmocka_unit_test(types_of_all_kinds_are_read),
        cmocka_unit_test(what_is_not_known_is_refused_by_name),
        cmocka_unit_test(no_prefix_is_believed),
        cmocka_unit_test(one_unknown_attribute_refuses_all),
        cmocka_unit_test(devices_are_found_among_unreadable_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
