/*
 * test_stablehlo_source.c - the line of a source that most of a program's ops come from, in text
 * and in byte code. source-jax is what JAX 0.10.2 made of a function of five lines,
 * "/home/user/train.py".
 */
#include "tests/runtime/stablehlo/stablehlo_fixture.h"

static void finds(const char *text, const char *file, uint32_t line)
{
    bn_status st = {0};
    shlo_source source;
    bn_code code = shlo_source_find(text, strlen(text), &source, &st);
    if (!file) {
        assert_int_equal(code, BN_NOT_FOUND);
        assert_int_equal(source.line, 0);
        return;
    }
    assert_ok(code, &st);
    assert_string_equal(source.file, file);
    assert_int_equal(source.line, line);
}

#define PROGRAM(a, b, c)                                                                           \
    "module {\n"                                                                                   \
    "  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"                                 \
    "    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32> loc(" a ")\n"                             \
    "    %1 = stablehlo.add %0, %0 : tensor<2xf32> loc(" b ")\n"                                   \
    "    %2 = stablehlo.add %1, %1 : tensor<2xf32> loc(" c ")\n"                                   \
    "    return %2 : tensor<2xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"

static void text_names_the_line_of_most_ops(void **state)
{
    (void)state;
    finds(PROGRAM("\"t.py\":3:1", "\"t.py\":9:1", "\"t.py\":9:5"), "t.py", 9);
    /* The file comes before the line: two lines of one against one of another. */
    finds(PROGRAM("\"t.py\":3:1", "\"t.py\":9:1", "\"u.py\":9:5"), "t.py", 3);
    finds(PROGRAM("\"a\"(\"t.py\":4:1)", "unknown", "unknown"), "t.py", 4);
    finds(PROGRAM("\"/v/lib/python3.11/site-packages/flax/x.py\":3:1",
                  "\"/v/lib/python3.11/site-packages/flax/x.py\":3:1", "\"t.py\":7:5"),
          "t.py", 7);
    finds(PROGRAM("unknown", "unknown", "unknown"), NULL, 0);
    finds(PROGRAM("\"<string>\":1:1", "\"x\"", "unknown"), NULL, 0);
}

static void byte_code_names_the_line_of_most_ops(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    bn_status st = {0};
    shlo_source source;
    assert_ok(bn_regular_read("tests/fuzz/corpus/bytecode/source-jax", &bytes, &size, &st), &st);
    assert_ok(shlo_source_find(bytes, size, &source, &st), &st);
    assert_string_equal(source.file, "/home/user/train.py");
    assert_int_equal(source.line, 2);
    /* Any end of it is safe. */
    for (size_t cut = 0; cut < size; cut++) {
        char *part = memcpy(malloc(cut + 1), bytes, cut);
        bn_status none = {0};
        assert_int_not_equal(shlo_source_find(part, cut, &source, &none), BN_OK);
        assert_int_equal(source.line, 0);
        free(part);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_names_the_line_of_most_ops),
        cmocka_unit_test(byte_code_names_the_line_of_most_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
