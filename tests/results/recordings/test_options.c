/*
 * test_options.c - compile options that ask for the same: maps in any order, all else as it is.
 */
#include "results/recordings/recordings.h"
#include "tests/support/test_runtime.h"

/* {3: {1: 7, 325: {"a": "x"}, 325: {"b": "y"}}, 5: "text"}; FIRST and SECOND: the letters. */
static size_t message(uint8_t out[64], char first, char second, char number, bool swapped)
{
    const uint8_t entries[2][9] = {{0xaa, 0x14, 6, 0x0a, 1, (uint8_t)first, 0x12, 1, 'x'},
                                   {0xaa, 0x14, 6, 0x0a, 1, (uint8_t)second, 0x12, 1, 'y'}};
    const uint8_t head[] = {0x1a, 20, 0x08, (uint8_t)number}, tail[] = {0x2a, 4, 't', 'e', 'x', 't'};
    size_t at = 0;
    memcpy(out, head, sizeof head);
    at += sizeof head;
    memcpy(out + at, entries[swapped], 9);
    memcpy(out + at + 9, entries[!swapped], 9);
    at += 18;
    memcpy(out + at, tail, sizeof tail);
    return at + sizeof tail;
}

static bool alike(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    const bool forth = rec_options_alike(a, a_size, b, b_size);
    assert_int_equal(forth, rec_options_alike(b, b_size, a, a_size));
    return forth;
}

static void maps_have_no_order(void **state)
{
    (void)state;
    uint8_t a[64], b[64];
    const size_t n = message(a, 'a', 'b', 7, false);
    assert_true(alike(a, n, b, message(b, 'a', 'b', 7, false)));
    assert_true(alike(a, n, b, message(b, 'a', 'b', 7, true)));
}

static void all_else_counts(void **state)
{
    (void)state;
    uint8_t a[64], b[64];
    const size_t n = message(a, 'a', 'b', 7, false);
    assert_false(alike(a, n, b, message(b, 'a', 'c', 7, true)));
    assert_false(alike(a, n, b, message(b, 'b', 'a', 7, false))); /* other values of the keys */
    assert_false(alike(a, n, b, message(b, 'a', 'b', 8, false)));
    assert_false(alike(a, n, b, n - 1));
    /* A list of numbers is no map. */
    const uint8_t list[] = {0x08, 1, 0x08, 2}, other[] = {0x08, 2, 0x08, 1};
    assert_false(alike(list, sizeof list, other, sizeof other));
    /* Nor is a list of texts. */
    const uint8_t texts[] = {0x12, 1, 'p', 0x12, 1, 'q'}, turned[] = {0x12, 1, 'q', 0x12, 1, 'p'};
    assert_false(alike(texts, sizeof texts, turned, sizeof turned));
}

static void what_is_no_message_is_compared_as_bytes(void **state)
{
    (void)state;
    const uint8_t junk[] = {0xff, 0xff, 0xff}, more[] = {0xff, 0xff, 0xfe};
    assert_true(alike(junk, sizeof junk, junk, sizeof junk));
    assert_false(alike(junk, sizeof junk, more, sizeof more));
    assert_true(alike(junk, 0, more, 0));
    /* Deeper than any options are. */
    uint8_t deep[2][400];
    for (int k = 0; k < 2; k++) {
        size_t size = 1;
        memset(deep[k], 0, sizeof deep[k]);
        deep[k][199] = (uint8_t)('a' + k);
        for (size_t at = 199; at >= 2 && size < 120; at -= 2, size += 2) {
            deep[k][at - 2] = 0x0a;
            deep[k][at - 1] = (uint8_t)size;
        }
        deep[k][200] = 0;
    }
    assert_false(alike(deep[0] + 79, 121, deep[1] + 79, 121));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_have_no_order),
        cmocka_unit_test(all_else_counts),
        cmocka_unit_test(what_is_no_message_is_compared_as_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
