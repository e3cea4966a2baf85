/*
 * test_page.c - the page from records with known figures: the order of its parts, with
 * comparisons and without them, and that nothing in it is loose markup.
 *
 * `test_page --page FILE` writes a page with comparisons: for looking at, and for
 * tests/plots/check_report.sh.
 */
#include "tests/plots/plots_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Once in the description of each picture of speedups. */
#define SPEEDUP_PICTURE "Bars of speedup over the lazy step"

static void html_has_no_loose_characters(void **state)
{
    (void)state;
    bn_text out = {0};
    plot_html_text(&out, "<a href=\"x\">'&\x01\xff\xc3\xb6\xc3 \xe2\x82");
    assert_string_equal(out.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;??\xc3\xb6? ??");
    bn_text_free(&out);
    plot_quote(&out, "a'b\nc\\\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\xff\xc3\xb6");
    assert_string_equal(out.data, "\"a\\047b c\\134????\xc3\xb6\"");
    bn_text_free(&out);
}

static bn_text page(const res_collection *all, const plot_comparison *list, size_t count,
                    const plot_figure *figures, size_t figure_count)
{
    bn_text out = {0};
    bn_status st = {0};
    const plot_report report = {.title = "Nightly <b>",
                                .store = "store & co",
                                .all = all,
                                .side_a = "A: 2026-01-01",
                                .side_b = "B: <commit>",
                                .comparisons = list,
                                .comparison_count = count,
                                .figures = figures,
                                .figure_count = figure_count};
    if (plot_report_html(&report, &out, &st) != BN_OK)
        fail_msg("%s", st.message);
    return out;
}

static const plot_comparison comparisons[] = {
    {.title = "resnet50 train lazy",
     .verdict = RES_SLOWER,
     .ratio = {1.021, 1.012, 1.03},
     .mde = 0.011,
     .attribution = "same program, slower"},
    {.title = "bert train capture",
     .verdict = RES_FASTER,
     .ratio = {0.93, 0.91, 0.95},
     .mde = 0.02,
     .attribution = "other program: 3 ops fewer"},
    {.title = "vit train lazy",
     .verdict = RES_SLOWER,
     .ratio = {1.094, 1.06, 1.12},
     .mde = 0.03,
     .attribution = "<script>alert(1)</script>"},
    {.title = "gpt2 infer lazy",
     .verdict = RES_UNDECIDED,
     .ratio = {1.01, 0.95, 1.07},
     .mde = 0.08},
    {.title = "llama infer lazy",
     .verdict = RES_EQUIVALENT,
     .ratio = {1.001, 0.99, 1.01},
     .mde = 0.01,
     .attribution = ""},
};

static size_t place(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    if (!at)
        fail_msg("the page has no %s", what);
    return (size_t)(at - text);
}

typedef struct note {
    char text[16];
} note;

/* The note that stands in PART of the page in place of a table; "": there is none. */
static note note_of(const bn_text *page, const char *part)
{
    char begin[64], words[8] = "";
    note found = {""};
    snprintf(begin, sizeof begin, "data-part=\"%s\">", part);
    const char *at = page->data + place(page->data, begin);
    if (sscanf(at + strcspn(at, "\n"), " <p data-note=\"%15[^\"]\"%7[>]", found.text, words) != 2)
        found.text[0] = '\0';
    return found;
}

static void summary_comes_first_and_in_order(void **state)
{
    (void)state;
    res_collection all = sample();
    all.records[EAGER]->status = BN_CRASH;
    snprintf(all.records[EAGER]->message, sizeof all.records[EAGER]->message, "signal <11>");
    bn_text out = page(&all, comparisons, 5, NULL, 0);
    static const char *const order[] = {"Nightly &lt;b&gt;",
                                        "<h2 id=\"summary\">",
                                        "data-slower=\"2\"",
                                        "data-part=\"slower\"",
                                        "vit train lazy",
                                        "resnet50 train lazy",
                                        "data-part=\"faster\"",
                                        "bert train capture",
                                        "data-part=\"failed\"",
                                        "signal &lt;11&gt;",
                                        "data-part=\"undecided\"",
                                        "gpt2 infer lazy",
                                        "data-part=\"equivalent\"",
                                        "llama infer lazy",
                                        "<h2 id=\"tables\">",
                                        "<h2 id=\"plots\">",
                                        "<svg ",
                                        "<h2 id=\"provenance\">",
                                        "5feceb66ffc86f38d952786c"};
    for (size_t i = 1; i < sizeof order / sizeof *order; i++)
        if (place(out.data, order[i - 1]) >= place(out.data, order[i]))
            fail_msg("%s does not come before %s", order[i - 1], order[i]);
    assert_has(out.data, "+9.4 %");
    assert_has(out.data, "+6.0 to +12.0 %");
    assert_has(out.data, "&lt;script&gt;alert(1)");
    assert_lacks(out.data, "<script>alert");
    assert_has(out.data, "B: &lt;commit&gt;");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* Undecided comparisons are not counted as not slower. */
static void undecided_rows_show_no_zero(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text out = page(&all, comparisons + 3, 1, NULL, 0);
    assert_lacks(out.data, "data-slower");
    assert_string_equal(note_of(&out, "slower").text, "open");
    bn_text_free(&out);
    out = page(&all, comparisons + 4, 1, NULL, 0);
    assert_has(out.data, "data-slower=\"0\"");
    assert_string_equal(note_of(&out, "slower").text, "none");
    bn_text_free(&out);
    const plot_report report = {.title = "t",
                                .all = &all,
                                .headline = "inconclusive: <first>",
                                .headline_verdict = RES_UNDECIDED,
                                .remarks = "sim: no night before"};
    bn_status st = {0};
    assert_int_equal(plot_report_html(&report, &out, &st), BN_OK);
    assert_has(out.data, "<h3 class=\"unsure\">inconclusive: &lt;first&gt;</h3>");
    assert_has(out.data, "<p>sim: no night before</p>");
    assert_lacks(out.data, "data-note=\"alone\"");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* Nor are failed ones. */
static void failed_rows_show_no_zero(void **state)
{
    (void)state;
    res_collection all = sample();
    plot_comparison list[2] = {
        {.title = "vit", .failure = "B: signal 11", .failure_class = "crash"}, comparisons[4]};
    bn_text out = page(&all, list, 1, NULL, 0);
    assert_lacks(out.data, "data-slower");
    assert_string_equal(note_of(&out, "slower").text, "failed");
    assert_string_equal(note_of(&out, "undecided").text, "failed");
    bn_text_free(&out);
    out = page(&all, list, 2, NULL, 0);
    assert_lacks(out.data, "data-slower");
    assert_string_equal(note_of(&out, "slower").text, "open");
    assert_string_equal(note_of(&out, "undecided").text, "open");
    assert_has(out.data, "data-equivalent=\"1\"");
    bn_text_free(&out);
    res_collection_free(&all);
}

/* An overhead of one process that is below zero keeps its sign, as in the table. */
static void the_page_says_what_the_tables_say(void **state)
{
    (void)state;
    res_collection all = sample();
    res_execution *x = &all.records[CAPTURE]->executions[0];
    x->overhead_ns = -83e6;
    x->overhead_low_ns = x->overhead_high_ns = 0;
    const plot_comparison nothing_seen = {.title = "gpt2 infer lazy",
                                          .verdict = RES_UNDECIDED,
                                          .ratio = {1.01, UNKNOWN, UNKNOWN},
                                          .mde = (double)INFINITY};
    bn_text out = page(&all, &nothing_seen, 1, NULL, 0);
    assert_has(out.data, ">-83.0 ms<");
    assert_has(out.data, ">2.00 ms</td>");
    /* Nor does it print an infinite MDE. */
    assert_lacks(out.data, "inf %");
    assert_has(out.data, "<td>-</td><td></td></tr>");
    assert_has(out.data, res_times_note);
    bn_text_free(&out);
    res_collection_free(&all);
}

/* A device time that was cut at the step leaves no room for an overhead: like the table, the page
 * has none, neither of the step nor of its execution. */
static void a_refused_overhead_is_not_shown(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text out = page(&all, NULL, 0, NULL, 0);
    const size_t before = occurrences(out.data, ">" RES_UNKNOWN_TEXT "</td>");
    bn_text_free(&out);
    res_execution *x = &all.records[CAPTURE]->executions[0];
    x->device_ns = x->device_low_ns = x->device_high_ns = 900e6;
    x->overhead_ns = 2e6;
    x->overhead_low_ns = x->overhead_high_ns = UNKNOWN;
    out = page(&all, NULL, 0, NULL, 0);
    assert_int_equal(occurrences(out.data, ">" RES_UNKNOWN_TEXT "</td>"), before + 2);
    bn_text_free(&out);
    res_collection_free(&all);
}

enum { PAIRS = 8 };

/* Makes RECORDS, and CELL of them: the device is faster, the wall time undecided. */
static void make_pairs(res_record *records[2][PAIRS], res_compared *cell)
{
    uint64_t seed = 5;
    *cell = (res_compared){.pairs = PAIRS};
    for (size_t i = 0; i < PAIRS; i++)
        for (int side = 0; side < 2; side++) {
            fixture_case c = cases[LAZY];
            c.wall_ns = (uint64_t)(25e6 * exp(0.3 * fixture_normal(&seed)));
            c.device_ns = (side ? 4e6 : 5e6) + (double)i;
            res_record *r = records[side][i] = fixture_record(&c, 9);
            r->executions[0].device_source = BN_DEVICE_TIME_PROFILER;
            r->executions[0].overhead_ns = 1e6;
        }
    for (size_t i = 0; i < PAIRS; i++) {
        cell->a[i] = records[0][i];
        cell->b[i] = records[1][i];
    }
    cell->experiment = cell->a[0]->experiment;
}

static void free_pairs(res_record *records[2][PAIRS])
{
    for (size_t i = 0; i < PAIRS; i++) {
        res_record_free(records[0][i]);
        res_record_free(records[1][i]);
    }
}

/* The page says both. */
static void a_slower_host_with_a_faster_device_is_on_the_page(void **state)
{
    (void)state;
    res_compared cell;
    res_versus versus;
    plot_page built = {0};
    bn_status st = {0};
    const char *const labels[2] = {"old", "new"};
    res_record *records[2][PAIRS];
    make_pairs(records, &cell);
    res_versus_begin(&versus, 0);
    versus.cells = &cell;
    versus.count = 1;
    versus.all_measures = true;
    assert_int_equal(res_versus_judge(&versus, &st), BN_OK);
    assert_int_equal(plot_page_judged(&built, &versus, NULL, labels, &st), BN_OK);
    assert_int_equal(built.comparison_count, 2);
    assert_int_equal(built.comparisons[0].verdict, RES_FASTER);
    assert_string_equal(built.comparisons[0].measure, "device time");
    assert_int_equal(built.comparisons[1].verdict, RES_UNDECIDED);
    assert_string_equal(built.comparisons[1].measure, "wall time");
    /* The caller makes the headline. */
    assert_null(built.remarks.data);
    plot_page_free(&built);
    bn_text_free(&versus.notes);
    free_pairs(records);
}

/* ---- what has no room is counted ---- */

static void the_page_counts_more_than_the_latest(void **state)
{
    (void)state;
    res_collection all = repeated();
    assert_true(all.count > 13);
    for (size_t i = 13; i < all.count; i++)
        res_record_free(all.records[i]);
    all.count = 13;
    bn_text out = page(&all, NULL, 0, NULL, 0);
    assert_has(out.data, "data-note=\"more\"");
    assert_has(out.data, " 12 of 13 ");
    bn_text_free(&out);
    res_record_free(all.records[12]);
    all.count = 12;
    out = page(&all, NULL, 0, NULL, 0);
    assert_lacks(out.data, "data-note=\"more\"");
    bn_text_free(&out);
    res_collection_free(&all);
}

static void the_page_says_which_series_have_no_picture(void **state)
{
    (void)state;
    enum { SERIES = PLOT_PAGE_FIGURES + 2 };
    const res_experiment what = {.model = "resnet18", .phase = "train", .mode = "lazy"};
    res_origin origin = {.sha256 = "cafe", .label = "commit-7"};
    res_night nights[2] = {
        {.time_s = 1700000000, .value = 3e6, .low = 2e6, .high = 4e6, .settings = ""},
        {.time_s = 1700086400, .value = 6e6, .low = 5e6, .high = 7e6, .settings = ""}};
    res_stretch stretch = {.first = 0, .end = 2};
    static res_timeline series[SERIES];
    const res_history history = {.series = series, .count = SERIES};
    nights[0].origin = nights[1].origin = &origin;
    for (size_t i = 0; i < SERIES; i++)
        series[i] = (res_timeline){.experiment = &what,
                                   .nights = nights,
                                   .count = 2,
                                   .stretches = &stretch,
                                   .stretch_count = 1,
                                   .last = 1};
    plot_page built = {0};
    bn_status st = {0};
    assert_int_equal(plot_page_history(&built, &history, NULL, &st), BN_OK);
    assert_int_equal(built.figure_count, PLOT_PAGE_FIGURES);
    assert_int_equal(strncmp(built.remarks.data, "2 ", 2), 0);
    assert_has(built.remarks.data, "bench history");
    plot_page_free(&built);
    const res_history few = {.series = series, .count = PLOT_PAGE_FIGURES};
    assert_int_equal(plot_page_history(&built, &few, NULL, &st), BN_OK);
    assert_null(built.remarks.data);
    plot_page_free(&built);
}

static void the_page_says_which_comparisons_have_no_picture(void **state)
{
    (void)state;
    enum { CELLS = PLOT_PAGE_FIGURES + 1 };
    res_compared *cells = calloc(CELLS, sizeof *cells);
    res_record *records[2][PAIRS];
    res_versus versus;
    plot_page built = {0};
    bn_status st = {0};
    const char *const labels[2] = {"old", "new"};
    assert_non_null(cells);
    make_pairs(records, &cells[0]);
    for (size_t i = 1; i < CELLS; i++)
        cells[i] = cells[0];
    res_versus_begin(&versus, 0);
    versus.cells = cells;
    versus.count = CELLS;
    versus.all_measures = true;
    assert_int_equal(res_versus_judge(&versus, &st), BN_OK);
    assert_int_equal(plot_page_judged(&built, &versus, NULL, labels, &st), BN_OK);
    assert_int_equal(built.picture_count, PLOT_PAGE_FIGURES);
    assert_int_equal(strncmp(built.remarks.data, "1 ", 2), 0);
    assert_int_equal(occurrences(built.remarks.data, "\n"), 1);
    plot_page_free(&built);
    bn_text_free(&versus.notes);
    free_pairs(records);
    free(cells);
}

static void long_remarks_are_whole(void **state)
{
    (void)state;
    res_collection all = sample();
    char remark[2001];
    memset(remark, 'r', sizeof remark);
    memcpy(remark + 1022, "\xc3\xa9", 2);
    strcpy(remark + 1990, " the end.");
    const plot_report report = {.title = "t", .all = &all, .remarks = remark};
    bn_text out = {0};
    bn_status st = {0};
    assert_int_equal(plot_report_html(&report, &out, &st), BN_OK);
    assert_has(out.data, "r\xc3\xa9rrr");
    assert_has(out.data, "rrr the end.</p>");
    bn_text_free(&out);
    res_collection_free(&all);
}

static void page_without_comparisons_has_the_latest(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text out = page(&all, NULL, 0, NULL, 0), again = page(&all, NULL, 0, NULL, 0);
    assert_has(out.data, "data-failed=\"0\"");
    assert_has(out.data, "data-note=\"alone\"");
    assert_true(place(out.data, "2026-01-06 10:00:00</td>") <
                place(out.data, "2026-01-05 10:00:00</td>"));
    assert_lacks(out.data, "data-part=\"slower\"");
    assert_string_equal(out.data, again.data);
    bn_text_free(&again);
    bn_text_free(&out);
    res_collection_free(&all);
}

/* Without comparisons, too; and one picture has the speedups of a runtime. */
static void page_without_comparisons_begins_with_findings(void **state)
{
    (void)state;
    res_collection all = repeated();
    bn_text out = page(&all, NULL, 0, NULL, 0);
    const size_t counts = place(out.data, "<ul class=\"counts\">");
    assert_true(place(out.data, "data-part=\"found\"") < counts);
    assert_true(counts < place(out.data, "data-part=\"latest\""));
    assert_int_equal(occurrences(out.data, SPEEDUP_PICTURE), 1);
    bn_text_free(&out);
    res_collection_free(&all);
}

/* A page with all that it can have. */
static int write_page(const char *path)
{
    res_store_begin();
    enum { NIGHTS = 120 };
    static plot_point points[NIGHTS];
    uint64_t seed = 7;
    for (size_t i = 0; i < NIGHTS; i++) {
        const double level = i < 50 ? 20e6 : i < 90 ? 21.4e6 : 19.2e6;
        const double value = level * (1 + 0.006 * fixture_normal(&seed));
        points[i] =
            (plot_point){1767225600 + 86400.0 * (double)i, value, value * 0.995, value * 1.005,
                         i == 50   ? "nightly-0220 <4f1e>"
                         : i == 90 ? "nightly-0401"
                                   : ""};
    }
    const size_t changes[] = {50, 90};
    const plot_words words = {"resnet50 train, lazy", "cpu, full, batch 4", NULL};
    plot history = {0}, distribution = {0};
    res_collection all = sample();
    snprintf(all.records[EAGER]->experiment.model, RES_TEXT, "%s", HOSTILE);
    all.records[BERT_CAPTURE]->status = BN_OUT_OF_MEMORY;
    snprintf(all.records[BERT_CAPTURE]->message, 100, "no room for 3.1 GiB <heap>");
    plot_comparison list[5];
    memcpy(list, comparisons, sizeof list);
    bn_code code = plot_history(&words, "median step", points, NIGHTS, changes, 2, &history, NULL);
    if (code == BN_OK)
        code = plot_distribution_of_store(&all, &distribution, NULL);
    list[0].distribution = &distribution;
    const plot_figure figure = {"History of resnet50 train, lazy", &history};
    bn_status st = {0};
    bn_text out = page(&all, list, 5, &figure, 1);
    code = code == BN_OK ? bn_file_write_atomic(path, out.data, out.length, &st) : code;
    bn_text_free(&out);
    plot_free(&history);
    plot_free(&distribution);
    res_collection_free(&all);
    return code == BN_OK ? 0 : 1;
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    res_collection all = sample();
    char key[256], wanted[256];
    memset(key, 'n', sizeof key);
    strcpy(key + 199, "\xc3\xa9 and more"); /* 200 bytes have room */
    snprintf(wanted, sizeof wanted, "<dt>%.199s</dt><dd>odd</dd>", key);
    json_object_set_new(all.records[0]->provenance, "host", json_pack("{ss}", key, "odd"));
    bn_text out = page(&all, NULL, 0, NULL, 0);
    assert_has(out.data, wanted);
    bn_text_free(&out);
    res_collection_free(&all);
}

static void temporary_files_of_a_killed_writer_are_removed(void **state)
{
    (void)state;
    char folder[300], left[400], whole[400];
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    bn_status st = {.code = BN_OK};
    res_collection all = sample();
    plot_page nothing = {0};
    const plot_report report = {.title = "Nightly", .store = "store", .all = &all};
    fixture_folder(folder, sizeof folder, "test_page");
    snprintf(left, sizeof left, "%s/index.html.99999999-1.tmp", folder);
    snprintf(whole, sizeof whole, "%s/index.html", folder);
    assert_int_equal(bn_file_write_atomic(left, "half", 4, &st), BN_OK);
    assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
    assert_int_equal(plot_page_write_index(&nothing, report, folder, &st), BN_OK);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(whole, F_OK), 0);
    plot_page_free(&nothing);
    res_collection_free(&all);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--page") == 0)
        return write_page(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_has_no_loose_characters),
        cmocka_unit_test(summary_comes_first_and_in_order),
        cmocka_unit_test(undecided_rows_show_no_zero),
        cmocka_unit_test(failed_rows_show_no_zero),
        cmocka_unit_test(the_page_says_what_the_tables_say),
        cmocka_unit_test(a_refused_overhead_is_not_shown),
        cmocka_unit_test(a_slower_host_with_a_faster_device_is_on_the_page),
        cmocka_unit_test(page_without_comparisons_has_the_latest),
        cmocka_unit_test(page_without_comparisons_begins_with_findings),
        cmocka_unit_test(the_page_counts_more_than_the_latest),
        cmocka_unit_test(the_page_says_which_series_have_no_picture),
        cmocka_unit_test(the_page_says_which_comparisons_have_no_picture),
        cmocka_unit_test(long_remarks_are_whole),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(temporary_files_of_a_killed_writer_are_removed),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
