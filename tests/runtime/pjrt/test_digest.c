/*
 * test_digest.c - digests of optimized programs: what two of them agree in. Needs no plugin.
 */
#include "tests/support/test_runtime.h"

#include <stdlib.h>

#include "runtime/pjrt/pjrt.h"

static rt_program_digest digest(const char *format, const char *bytes, size_t size)
{
    rt_program_digest d;
    rt_program_digest_of(format, bytes, size, &d);
    return d;
}

static bool alike(rt_program_digest a, rt_program_digest b)
{
    return a.sum[0] == b.sum[0] && a.sum[1] == b.sum[1];
}

/* A module's name, a computation of two instructions, a schedule of two entries. */
#define NAME         "\x0a\x01m"
#define COMPUTATION  "\x1a\x08\x12\x02\x0a\x00\x12\x02\x0a\x01"
#define ENTRY_1      "\x0a\x02\x08\x01"
#define ENTRY_2      "\x0a\x02\x08\x02"
#define SCHEDULE(es) "\x3a\x08" es
#define BYTES(text)  text, sizeof(text) - 1

static void the_order_of_a_map_does_not_matter(void **state)
{
    (void)state;
    const rt_program_digest one = digest("hlo", BYTES(NAME COMPUTATION SCHEDULE(ENTRY_1 ENTRY_2)));
    const rt_program_digest two = digest("hlo", BYTES(NAME COMPUTATION SCHEDULE(ENTRY_2 ENTRY_1)));
    const rt_program_digest other = digest("hlo", BYTES(NAME COMPUTATION));
    assert_int_equal(one.instructions, 2);
    assert_true(alike(one, two));
    assert_false(alike(one, other));
    /* With a configuration, which is left out: module of 25 bytes, then field 2. */
#define WRAPPED "\x0a\x17" NAME COMPUTATION SCHEDULE(ENTRY_1 ENTRY_2)
    assert_int_equal(sizeof(NAME COMPUTATION SCHEDULE(ENTRY_1 ENTRY_2)) - 1, 0x17);
    const rt_program_digest with = digest("hlo_with_config", BYTES(WRAPPED "\x12\x01x"));
    const rt_program_digest without = digest("hlo_with_config", BYTES(WRAPPED "\x12\x01y"));
    assert_true(alike(with, without) && alike(with, one));
    assert_int_equal(with.bytes, sizeof WRAPPED "\x12\x01x" - 1);
}

/* A process counts its modules: the second compile of a program has another id, the first none. */
static void the_number_of_the_module_does_not_matter(void **state)
{
    (void)state;
    const rt_program_digest first = digest("hlo", BYTES(NAME COMPUTATION));
    const rt_program_digest second = digest("hlo", BYTES(NAME COMPUTATION "\x28\x03"));
    const rt_program_digest later = digest("hlo", BYTES(NAME COMPUTATION "\x28\x83\x01"));
    assert_true(alike(first, second) && alike(first, later));
    assert_int_equal(second.instructions, 2);
}

static void bytes_that_are_no_module_count_as_they_are(void **state)
{
    (void)state;
    static const char whole[] = NAME COMPUTATION SCHEDULE(ENTRY_1 ENTRY_2);
    const rt_program_digest text = digest("mlir", BYTES("module {}"));
    assert_int_equal(text.instructions, -1);
    assert_int_equal(text.bytes, 9);
    assert_false(alike(text, digest("mlir", BYTES("module { }"))));
    /* Cut anywhere, from a block of its own so that a sanitizer sees a read beyond. */
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        char *cut = malloc(size + 1);
        assert_non_null(cut);
        memcpy(cut, whole, size);
        const rt_program_digest d = digest("hlo", cut, size);
        assert_int_equal(d.bytes, size);
        assert_true(d.instructions == -1 || d.instructions == 2);
        free(cut);
    }
    assert_int_equal(
        digest("hlo", BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")).instructions, -1);
    assert_int_equal(digest("hlo", BYTES("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")).instructions,
                     -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_a_map_does_not_matter),
        cmocka_unit_test(the_number_of_the_module_does_not_matter),
        cmocka_unit_test(bytes_that_are_no_module_count_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
