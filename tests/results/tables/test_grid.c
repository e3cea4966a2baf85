/*
 * test_grid.c - figures as people read them, and grids in all formats. Needs no
 * plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/tables/tables_priv.h"

/* ---- figures ------------------------------------------------------------------ */

static void figures_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } times[] = {
        {0, "0 ns"},          {812, "812 ns"},      {999.4, "999 ns"},    {999.6, "1.00 us"},
        {1314, "1.31 us"},    {13140, "13.1 us"},   {131400, "131 us"},   {999600, "1.00 ms"},
        {9994999, "9.99 ms"}, {9995001, "10.0 ms"}, {99951000, "100 ms"}, {17.85e6, "17.9 ms"},
        {1.2e9, "1.20 s"},    {3.1e12, "3100 s"},   {-2.5e6, "-2.50 ms"}, {(double)NAN, "-"},
        {-0.4, "0 ns"},       {-0.6, "-1 ns"},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(res_time(times[i].ns).text, times[i].text);
    assert_string_equal(res_time_range(52.6e6, 51.9e6, 530.1e5).text, "[51.9, 53.0]");
    assert_string_equal(res_time_range(52.6e6, (double)NAN, 1).text, "");
    assert_string_equal(res_time_range(-0.1, -6.2, -0.4).text, "[-6, 0]");
    assert_string_equal(res_ratio_alone(1.4567).text, "1.46x");
    assert_string_equal(res_ratio_alone(12.34).text, "12.3x");
    assert_string_equal(res_ratio_alone((double)NAN).text, "-");
    assert_string_equal(res_change_shown(1.0512).text, "+5.1 %");
    assert_string_equal(res_change_shown(0.9488).text, "-5.1 %");
    assert_string_equal(res_change_shown(0.9996).text, "+0.0 %"); /* a little less than nothing */
    assert_string_equal(res_change_shown(3.456).text, "+246 %");
    assert_string_equal(res_change_shown((double)NAN).text, "");
    assert_string_equal(res_change_range((res_interval){1, 0.9997, 1.0204}).text, "[+0.0, +2.0]");
    assert_string_equal(res_change_range((res_interval){1, 0.9, (double)NAN}).text, "");
    assert_string_equal(res_ratio_range((res_interval){1.25, 1.2, 1.349}).text, "[1.20, 1.35]");
    /* An interval without 1 is seen as one. */
    assert_string_equal(res_ratio((res_interval){1.0042, 1.0012, 1.0072}).text, "1.004x");
    assert_string_equal(res_ratio_range((res_interval){1.0042, 1.0012, 1.0072}).text,
                        "[1.001, 1.007]");
    assert_string_equal(res_ratio_range((res_interval){0.98, 0.96, 0.9997}).text,
                        "[0.9600, 0.9997]");
    assert_string_equal(res_ratio_range((res_interval){1.01, 0.9997, 1.02}).text, "[1.00, 1.02]");
    assert_string_equal(res_ratio_range((res_interval){1.01, 1.00001, 1.02}).text,
                        "[1.0000, 1.0200]");
    assert_string_equal(res_size(-1).text, "-");
    assert_string_equal(res_size(1023).text, "1023 B");
    assert_string_equal(res_size(102400000).text, "97.7 MiB");
    assert_string_equal(res_amount(4.09e9).text, "4.09 G");
    assert_string_equal(res_amount(0).text, "-");
}

/* A difference whose interval includes zero is shown by its upper bound, another with its sign. */
static void differences_say_what_is_significant(void **state)
{
    (void)state;
    const double nan = (double)NAN;
    assert_string_equal(res_time_difference((res_interval){2e6, 1e6, 3e6}).text, "2.00 ms");
    assert_string_equal(res_time_difference((res_interval){2e6, -1e6, 5e6}).text, "< 5.00 ms");
    assert_string_equal(res_time_difference((res_interval){-2e6, -5e6, 1e6}).text, "< 1.00 ms");
    assert_string_equal(res_time_difference((res_interval){-83e6, -90e6, -80e6}).text, "-83.0 ms");
    assert_string_equal(res_time_difference((res_interval){2e6, nan, nan}).text, "2.00 ms");
    assert_string_equal(res_time_difference((res_interval){-2e6, nan, nan}).text, "-2.00 ms");
    assert_string_equal(res_time_difference((res_interval){nan, nan, nan}).text, "-");
}

static void formats_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"text", "md", "csv", "json", "latex", "html"};
    res_format format;
    bn_status st = {0};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(res_format_parse(names[i], &format, &st), BN_OK);
        assert_int_equal(format, i);
    }
    assert_int_equal(res_format_parse("xml", &format, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "text, md, csv, json, latex, html"));
}

static void grids_align_escape_and_drop_empty_columns(void **state)
{
    (void)state;
    res_grid grid = res_grid_make("lrl");
    res_grid_row(&grid, "name|n|empty");
    res_grid_row(&grid, "h\xc3\xb6st|7|");
    res_grid_rule(&grid);
    res_grid_cell(&grid, "a|b, \"c\"");
    res_grid_cell(&grid, "10");
    res_grid_blank(&grid, 1);
    bn_text out = {0};
    res_grid_render(&grid, RES_TABLE_TEXT, &out);
    assert_string_equal(out.data, "name       n\n"
                                  "------------\n"
                                  "h\xc3\xb6st       7\n"
                                  "------------\n"
                                  "a|b, \"c\"  10\n");
    bn_text_clear(&out);
    res_grid_render(&grid, RES_TABLE_MARKDOWN, &out);
    assert_string_equal(out.data, "| name | n |\n"
                                  "| :--- | ---: |\n"
                                  "| h\xc3\xb6st | 7 |\n"
                                  "| a\\|b, \"c\" | 10 |\n");
    bn_text_clear(&out);
    res_grid_render(&grid, RES_TABLE_CSV, &out);
    assert_string_equal(out.data, "name,n,empty\nh\xc3\xb6st,7,\n\"a|b, \"\"c\"\"\",10,\n");
    bn_text_free(&out);
    res_grid_free(&grid);
}

/* A text that runs over columns, where no other row has anything, is still there. */
static void markup_is_escaped_and_spills_span(void **state)
{
    (void)state;
    res_grid grid = res_grid_make("lrl");
    res_grid_row(&grid, "a&b|n|empty");
    res_grid_row(&grid, "<x_1>|50 %|");
    res_grid_rule(&grid);
    res_grid_cell(&grid, "[\"\\{}--$#~^|]");
    res_grid_spill(&grid, "failed: x", 2);
    bn_text out = {0};
    res_grid_render(&grid, RES_TABLE_LATEX, &out);
    assert_string_equal(out.data, "\\begin{tabular}{lr}\n\\hline\n"
                                  "a\\&b & n \\\\\n\\hline\n"
                                  "\\textless{}x\\_1\\textgreater{} & 50 \\% \\\\\n\\hline\n"
                                  "{[}{''}\\textbackslash{}\\{\\}-{}-{}\\$\\#\\textasciitilde{}"
                                  "\\textasciicircum{}\\textbar{}{]}"
                                  " & \\multicolumn{1}{l}{failed: x} \\\\\n"
                                  "\\hline\n\\end{tabular}\n");
    bn_text_clear(&out);
    res_grid_render(&grid, RES_TABLE_HTML, &out);
    assert_string_equal(
        out.data, "<table>\n<thead>\n"
                  "<tr><th scope=\"col\">a&amp;b</th><th scope=\"col\" class=\"r\">n</th></tr>\n"
                  "</thead>\n<tbody>\n"
                  "<tr><td>&lt;x_1&gt;</td><td class=\"r\">50 %</td></tr>\n"
                  "</tbody>\n<tbody>\n"
                  "<tr><td>[&quot;\\{}--$#~^|]</td><td colspan=\"1\">failed: x</td></tr>\n"
                  "</tbody>\n</table>\n");
    res_grid_free(&grid);
    bn_text_clear(&out);
    res_put_note(&out, RES_TABLE_MARKDOWN, "no <b> of `a`\nin *two* lines, x_1");
    assert_string_equal(out.data, "no \\<b\\> of \\`a\\` in \\*two\\* lines, x\\_1  \n");

    grid = res_grid_make("lr");
    res_grid_row(&grid, "name|n");
    res_grid_cell(&grid, "only");
    res_grid_spill(&grid, "failed: y", 1);
    bn_text_clear(&out);
    res_grid_render(&grid, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, "only  failed: y\n"));
    bn_text_free(&out);
    res_grid_free(&grid);
}

static void sheets_keep_their_columns_and_pad_by_characters(void **state)
{
    (void)state;
    static const res_sheet_column columns[] = {{"name", false}, {"empty", false}, {"n", true}};
    json_t *rows = json_pack("[[s, s], [s, s]]", "h\xc3\xb6st", "", "a|b", "");
    res_sheet_put(json_array_get(rows, 0), "%d", 7);
    res_sheet_put(json_array_get(rows, 1), "%.1f", 10.5);
    bn_text out = {0};
    res_sheet_write(columns, 3, rows, RES_TABLE_TEXT, &out);
    assert_string_equal(out.data, "name  empty     n\n"
                                  "h\xc3\xb6st            7\n"
                                  "a|b          10.5\n");
    bn_text_clear(&out);
    res_sheet_write(columns, 3, rows, RES_TABLE_CSV, &out);
    assert_string_equal(out.data, "name,empty,n\nh\xc3\xb6st,,7\na|b,,10.5\n");
    bn_text_clear(&out);
    res_sheet_write(columns, 3, rows, RES_TABLE_MARKDOWN, &out);
    assert_non_null(strstr(out.data, "| a\\|b |  | 10.5 |\n"));
    bn_text_free(&out);
    json_decref(rows);
}

static void narrow_words_stand_in_several_lines(void **state)
{
    (void)state;
    static const res_sheet_column columns[] = {{"name", false}, {"where", false}};
    static const char path[] = "/a/path/that/is/longer/than/a/narrow/line/has/room/for/and/stays/"
                               "whole/since/it/is/one/word";
    json_t *rows = json_pack("[[s, s]]", "cpu",
                             "the plugin was not found; set its path with --runtime, or install it "
                             "as the page on runtimes says");
    bn_text out = {0};
    res_sheet_write(columns, 2, rows, RES_TABLE_NARROW, &out);
    assert_string_equal(
        out.data, "name  where\n"
                  "cpu   the plugin was not found; set its path with --runtime, or install it as\n"
                  "      the page on runtimes says\n");
    bn_text_clear(&out);
    json_array_append_new(rows, json_pack("[s, s]", "tpu", path));
    res_sheet_write(columns, 2, rows, RES_TABLE_NARROW, &out);
    assert_non_null(strstr(out.data, path));
    /* Wide text has a line a row. */
    bn_text_clear(&out);
    res_sheet_write(columns, 2, rows, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, "or install it as the page on runtimes says\n"));
    bn_text_free(&out);
    json_decref(rows);
}

/* The longest line of TEXT. */
static size_t columns_of(const char *text)
{
    size_t most = 0;
    for (size_t length; *text; text += length + (text[length] != '\0')) {
        length = strcspn(text, "\n");
        most = length > most ? length : most;
    }
    return most;
}

static void narrow_text_keeps_to_a_terminal_with_fewer_columns(void **state)
{
    (void)state;
    static const size_t terminals[][2] = {{0, 80},  {200, 80}, {80, 80},
                                          {60, 60}, {40, 40},  {7, 40}};
    static const res_sheet_column columns[] = {
        {"name", false}, {"figure", true}, {"another", true}, {"words", false}, {"more", false}};
    static const char words[] =
        "words that are more than a line of any of these terminals has room "
        "for, so that they stand in several";
    json_t *rows = json_pack("[[s, s, s, s, s]]", "cpu", "1.0", "2.0", words, words);
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        bn_text out = {0};
        res_narrow_to(terminals[i][0]);
        assert_int_equal(res_narrow(), terminals[i][1]);
        res_sheet_write_named(columns, 5, 1, rows, RES_TABLE_NARROW, &out);
        assert_true(columns_of(out.data) <= terminals[i][1]);
        bn_text_clear(&out);
        res_put_note(&out, RES_TABLE_NARROW, words);
        res_put_set_in(&out, RES_TABLE_NARROW, words);
        assert_true(columns_of(out.data) <= terminals[i][1]);
        assert_true(columns_of(out.data) > terminals[i][1] - 12);
        bn_text_free(&out);
    }
    res_narrow_to(0);
    json_decref(rows);
}

static void rows_whose_names_leave_no_room_have_numbers(void **state)
{
    (void)state;
    res_grid grid = res_grid_make("llrir");
    res_grid_row(&grid, "a name of the model|phase|wall|95 %|compile");
    res_grid_row(&grid, "efficientnet_b0_of_many|training|17.2 ms|[12.2, 24.3]|3.2 s");
    res_grid_rule(&grid);
    res_grid_row(&grid, "|inference|7.2 ms|[2.2, 4.3]|1.2 s");
    bn_text out = {0};
    res_narrow_to(40);
    res_grid_render(&grid, RES_TABLE_NARROW, &out);
    res_narrow_to(0);
    assert_string_equal(out.data, "#  a name of the model      phase\n"
                                  "-------------------------------------\n"
                                  "1  efficientnet_b0_of_many  training\n"
                                  "-------------------------------------\n"
                                  "2                           inference\n"
                                  "\n"
                                  "#     wall 95 %          compile\n"
                                  "--------------------------------\n"
                                  "1  17.2 ms [12.2, 24.3]    3.2 s\n"
                                  "--------------------------------\n"
                                  "2   7.2 ms [2.2, 4.3]      1.2 s\n");
    bn_text_free(&out);
    res_grid_free(&grid);
}

static void wide_lines_go_on_set_in(void **state)
{
    (void)state;
    static const char lines[] =
        "a  b\n\n  a line that begins two columns in and has more words than "
        "there is room for in one\n    /a/path/of/which/one/word/is/longer/"
        "than/eighty/columns/and/that/stays/whole/all/the/same and more\nend";
    bn_text out = {0};
    res_put_set_in(&out, RES_TABLE_NARROW, lines);
    assert_string_equal(out.data,
                        "a  b\n\n  a line that begins two columns in and has more words than there "
                        "is room for in\n    one\n    /a/path/of/which/one/word/is/longer/than/"
                        "eighty/columns/and/that/stays/whole/all/the/same\n      and more\nend");
    bn_text_clear(&out);
    res_put_set_in(&out, RES_TABLE_TEXT, lines);
    assert_string_equal(out.data, lines);
    bn_text_free(&out);
}

static void a_row_of_one_text_runs_over_all_columns(void **state)
{
    (void)state;
    static const res_sheet_column columns[] = {{"name", false}, {"found", false}};
    json_t *rows = json_pack("[[s, s], [s]]", "cpu", "yes", "  a text that is wider than both");
    bn_text out = {0};
    res_sheet_write(columns, 2, rows, RES_TABLE_NARROW, &out);
    assert_string_equal(out.data, "name  found\ncpu   yes\n  a text that is wider than both\n");
    bn_text_free(&out);
    json_decref(rows);
}

static void narrow_parts_keep_intervals_with_their_figures(void **state)
{
    (void)state;
    static const res_sheet_column columns[] = {
        {"what", false}, {"first", true}, {"second", true}, {"95 %", true}};
    json_t *rows = json_array(), *row = json_array();
    res_sheet_put(row, "%30s", "step");
    for (int i = 0; i < 3; i++)
        res_sheet_put(row, "%020d", i);
    json_array_append_new(rows, row);
    bn_text out = {0};
    res_sheet_write(columns, 4, rows, RES_TABLE_NARROW, &out);
    const char *second = strstr(out.data, "\n\n");
    assert_non_null(second);
    assert_true(strstr(out.data, "first") < second);
    assert_true(strstr(out.data, "second") > second);
    assert_true(strstr(out.data, "95 %") > strstr(out.data, "second"));
    assert_null(strstr(second + 2, "\n\n"));
    bn_text_free(&out);
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_have_three_digits),
        cmocka_unit_test(differences_say_what_is_significant),
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test(grids_align_escape_and_drop_empty_columns),
        cmocka_unit_test(markup_is_escaped_and_spills_span),
        cmocka_unit_test(sheets_keep_their_columns_and_pad_by_characters),
        cmocka_unit_test(narrow_words_stand_in_several_lines),
        cmocka_unit_test(narrow_text_keeps_to_a_terminal_with_fewer_columns),
        cmocka_unit_test(rows_whose_names_leave_no_room_have_numbers),
        cmocka_unit_test(wide_lines_go_on_set_in),
        cmocka_unit_test(a_row_of_one_text_runs_over_all_columns),
        cmocka_unit_test(narrow_parts_keep_intervals_with_their_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
