/* test_hlo_declared.c - the devices that programs in XLA's own form name, as OpenXLA's hlo.proto
 * numbers its fields. */
#include "runtime/hlo/hlo.h"
#include "tests/support/test_runtime.h"

static void put_varint(bn_text *out, uint64_t number)
{
    for (; number > 127; number >>= 7)
        bn_text_putc(out, (char)(number | 128));
    bn_text_putc(out, (char)number);
}

static void put_bytes(bn_text *out, unsigned field, const char *bytes, size_t length)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    bn_text_append(out, bytes, length);
}

/* Puts PART into OUT as FIELD, and frees it. */
static void put_part(bn_text *out, unsigned field, bn_text *part)
{
    put_bytes(out, field, part->data ? part->data : "", part->length);
    bn_text_free(part);
}

/* FrontendAttributes of one attribute. */
static bn_text words(const char *key, const char *value)
{
    bn_text entry = {0}, map = {0};
    put_bytes(&entry, 1, key, strlen(key));
    put_bytes(&entry, 2, value, strlen(value));
    put_part(&map, 1, &entry);
    return map;
}

/* An HloModuleProto that has PART as FIELD, or an instruction of its that has. Frees PART. */
static bn_text module_with(bool instruction, unsigned field, bn_text *part)
{
    bn_text module = {0}, computation = {0}, x = {0};
    put_bytes(&module, 4, "", 0);
    if (instruction) {
        put_bytes(&x, 2, "all-gather", 10);
        put_part(&x, field, part);
        put_part(&computation, 2, &x);
        put_part(&module, 3, &computation);
    } else {
        put_part(&module, field, part);
    }
    return module;
}

static void devices_are_noted_however_they_are_named(void **state)
{
    (void)state;
    static const struct {
        bool instruction;
        unsigned field;
        const char *bytes; /* or, with VALUE, the name of an attribute */
        size_t length;
        const char *value;
        int64_t highest, mesh;
    } rows[] = {
        {false, 19, "xla.sdy.meshes", 0, "{m = #sdy.mesh<[\"x\"=4, \"y\"=2]>}", -1, 8},
        {false, 19, "xla.sdy.meshes", 0, "{m = #sdy.mesh<[\"x\"=1], device_ids=[3]>}", 3, 1},
        {false, 19, "note", 0, "#sdy.mesh<[\"x\"=4]>", -1, 0},
        {true, 68, "xla.sdy.sharding", 0, "#sdy.sharding<mesh<[\"x\"=2]>, [{\"x\"}]>", -1, 2},
        {true, 49, "\x0a\x02\x00\x05", 4, NULL, 5, 0},         /* a group */
        {true, 52, "\x10\x07", 2, NULL, 7, 0},                 /* a pair's target */
        {true, 87, "\x12\x04\x08\x02\x10\x04", 6, NULL, 7, 0}, /* 2 groups of 4 */
        {true, 92, "\x08\x02\x10\x04", 4, NULL, 7, 0},         /* the same of newer versions */
        {true, 93, "\x0a\x00", 2, NULL, INT64_MAX, 0},         /* by axes of a mesh */
        {true, 40, "\x1a\x01\x02\x22\x02\x00\x01", 7, NULL, 1, 0},
        {true, 40, "\x08\x00\x3a\x00\x60\x01", 6, NULL, -1, 0}, /* metadata, a shard group */
        {true, 40, "\x72\x00", 2, NULL, INT64_MAX, 0},          /* what was not known */
        {false, 12, "\x1a\x01\x04", 3, NULL, 3, 0},
        {false, 14, "\x08\x01\x22\x01\x06", 5, NULL, 6, 0},
        {false, 15, "\x08\x01\x10\x01", 4, NULL, -1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_status st = {0};
        shlo_declared d;
        bn_text part = {0};
        if (rows[i].value)
            part = words(rows[i].bytes, rows[i].value);
        else
            bn_text_append(&part, rows[i].bytes, rows[i].length);
        bn_text module = module_with(rows[i].instruction, rows[i].field, &part);
        assert_ok(hlo_declared_read("hlo", module.data, module.length, &d, &st), &st);
        if (d.highest_device != rows[i].highest || d.mesh != rows[i].mesh)
            fail_msg("row %zu: device %lld of %s, mesh %lld", i, (long long)d.highest_device,
                     d.collective, (long long)d.mesh);
        shlo_declared_free(&d);
        bn_text_free(&module);
    }
}

/* A value of 2 x 3 numbers, in the host's memory (S(5)) or in the device's own. */
static void another_memory_is_noted(void **state)
{
    (void)state;
    for (int space = 0; space <= 5; space += 5) {
        bn_status st = {0};
        shlo_declared d;
        bn_text module = {0}, entry = {0}, shape = {0}, layout = {0};
        const char order[] = {0x40, (char)space, 0x0a, 2, 1, 0};
        const char type[] = {2 << 3, 11, 3 << 3 | 2, 2, 2, 3};
        bn_text_append(&layout, order, sizeof order);
        bn_text_append(&shape, type, sizeof type);
        put_part(&shape, 5, &layout);
        put_part(&entry, 1, &shape);
        put_part(&module, 4, &entry);
        assert_ok(hlo_declared_read("hlo", module.data, module.length, &d, &st), &st);
        assert_int_equal(d.argument_count, 1);
        assert_string_equal(d.arguments[0].layout, "{1,0}");
        assert_int_equal(d.arguments[0].memory != NULL, space != 0);
        shlo_declared_free(&d);
        bn_text_free(&module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_are_noted_however_they_are_named),
                                       cmocka_unit_test(another_memory_is_noted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
