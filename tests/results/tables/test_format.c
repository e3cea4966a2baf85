/* test_format.c - what each format of tables makes of text that came from outside. */
#include "tests/results/tables/tables_fixture.h"

#include "results/tables/tables_priv.h"

static void put(res_format format, const char *text, const char *wanted)
{
    bn_text out = {0};
    if (format == RES_TABLE_CSV)
        res_put_csv(&out, text);
    else
        res_put_escaped(&out, format, text);
    assert_string_equal(out.data ? out.data : "", wanted);
    bn_text_free(&out);
}

static void csv_cells_are_no_formulas(void **state)
{
    put(RES_TABLE_CSV, "=1+1", "'=1+1");
    put(RES_TABLE_CSV, "@SUM(A1)", "'@SUM(A1)");
    put(RES_TABLE_CSV, "+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0");
    put(RES_TABLE_CSV, "-x", "'-x");
    put(RES_TABLE_CSV, "-", "'-");
    put(RES_TABLE_CSV, "\t=1", "' =1");
    put(RES_TABLE_CSV, " @x", "' @x");
    put(RES_TABLE_CSV, "\xEF\xBC\x9D" "1+1", "'\xEF\xBC\x9D" "1+1");
    put(RES_TABLE_CSV, "\xEF\xBC\xA0x", "'\xEF\xBC\xA0x");
    /* Numbers stay numbers. */
    put(RES_TABLE_CSV, "-5.25", "-5.25");
    put(RES_TABLE_CSV, "+3e-4", "+3e-4");
    put(RES_TABLE_CSV, "a,b", "\"a,b\"");
    put(RES_TABLE_CSV, "a;b", "\"a;b\"");
    put(RES_TABLE_CSV, "say \"x\"", "\"say \"\"x\"\"\"");
    put(RES_TABLE_CSV, "two\nlines", "two lines");
}

static void markdown_has_no_links(void **state)
{
    put(RES_TABLE_MARKDOWN, "[a](http://b)", "\\[a\\](http:<!-- -->//b)");
    put(RES_TABLE_MARKDOWN, "![x](y)", "!\\[x\\](y)");
    put(RES_TABLE_MARKDOWN, "<script>", "\\<script\\>");
    put(RES_TABLE_MARKDOWN, "a|b`c`*d*", "a\\|b\\`c\\`\\*d\\*");
    put(RES_TABLE_MARKDOWN, "www.a.b, WWW.c", "www<!-- -->.a.b, WWW<!-- -->.c");
    put(RES_TABLE_MARKDOWN, "me@host", "me@<!-- -->host");
    put(RES_TABLE_MARKDOWN, "a/b#12 # 3 #c", "a/b#<!-- -->12 # 3 #c");
    /* Nor signs that are written as numbers, formulas, or marks within words. */
    put(RES_TABLE_MARKDOWN, "&#x202E;x &lt;", "\\&#x202E;x \\&lt;");
    put(RES_TABLE_MARKDOWN, "$\\frac{1}{2}$", "\\$\\\\frac{1}{2}\\$");
    put(RES_TABLE_MARKDOWN, "_a_ ~~b~~", "\\_a\\_ \\~\\~b\\~\\~");
}

/* Sentences around tables: each line is escaped by itself, and only for Markdown; narrow text wraps
 * it. */
static void lines_around_tables_are_escaped(void **state)
{
    (void)state;
    bn_text out = {0};
    res_put_lines(&out, RES_TABLE_MARKDOWN, "![x](y)\n\n<img>\n");
    assert_string_equal(out.data, "!\\[x\\](y)\n\n\\<img\\>\n");
    bn_text_clear(&out);
    res_put_lines(&out, RES_TABLE_TEXT, "a_b\n<c>");
    assert_string_equal(out.data, "a_b\n<c>");
    bn_text_clear(&out);
    res_put_lines(&out, RES_TABLE_NARROW,
                  "a line that is longer than eighty columns is put in two of them, which are not "
                  "longer\n<c>\n");
    assert_string_equal(out.data,
                        "a line that is longer than eighty columns is put in two of them, which "
                        "are not\nlonger\n<c>\n");
    bn_text_free(&out);
}

static void no_format_steers_a_terminal(void **state)
{
    static const res_format formats[] = {RES_TABLE_TEXT, RES_TABLE_MARKDOWN, RES_TABLE_CSV,
                                         RES_TABLE_LATEX, RES_TABLE_HTML};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        put(formats[i],
            "a\x1b"
            "b\xe2\x80\xae"
            "c\xff",
            "a?b?c?");
}

/* A cell that begins as our own marks do is text like any other. */
static void cells_are_no_marks(void **state)
{
    bn_text out = {0};
    res_grid grid = res_grid_make("ll");
    res_grid_row(&grid, "one|two");
    res_grid_cell(&grid, "%s", "\001");
    res_grid_cell(&grid, "%s", "\002x");
    const size_t widths[] = {3, 3};
    assert_false(res_grid_is_rule(&grid, 1));
    assert_false(res_grid_is_spill(&grid, 1, 1));
    res_grid_text(&grid, 2, widths, &out);
    assert_non_null(strstr(out.data, "?    ?x"));
    bn_text_free(&out);
    res_grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_cells_are_no_formulas),
        cmocka_unit_test(markdown_has_no_links),
        cmocka_unit_test(lines_around_tables_are_escaped),
        cmocka_unit_test(no_format_steers_a_terminal),
        cmocka_unit_test(cells_are_no_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
