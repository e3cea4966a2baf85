/*
 * test_plots.c - pictures and the page from records whose figures are known: every
 * value is in the data, names are text and nothing else, what is simulated says so.
 *
 * `test_plots --page FILE` writes a page with comparisons: for looking at, and for
 * tests/plots/check_report.sh.
 */
#include "tests/support/results_fixture.h"

#include <unistd.h>

#include "plots/plot_priv.h"

#define UNKNOWN ((double)NAN)
/* All that gnuplot, HTML and SVG have a meaning for. */
#define HOSTILE "a'b\"<i>&`touch x`@t{x}_2^3%s\\n"

static const fixture_case cases[] = {
    {"cpu", "resnet50", "train", "eager", 1, 4, 1200000, 151000000, UNKNOWN, 1309},
    {"cpu", "resnet50", "train", "lazy", 1, 4, 2900000, 25000000, 19000000, 1309},
    {"cpu", "resnet50", "train", "capture", 1, 4, 0, 20000000, 19000000, 0},
    {"cpu", "resnet50", "train", "capture", 5, 4, 0, 31000000, 4500000, 0},
    {"cpu", "bert", "train", "lazy", 1, 8, 1500000, 61000000, 55000000, 811},
    {"cpu", "bert", "train", "capture", 1, 8, 0, 59000000, 55000000, 0},
};
#define CASES (sizeof cases / sizeof *cases)
enum { EAGER, LAZY, CAPTURE, CAPTURE_5, BERT_LAZY, BERT_CAPTURE };

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    return 0;
}

/* Ids as of runs a day apart, so that nothing depends on when the test runs. */
static res_collection sample(void)
{
    res_collection all = {.records = calloc(CASES + 1, sizeof(res_record *)), .count = CASES};
    assert_non_null(all.records);
    for (size_t i = 0; i < CASES; i++) {
        all.records[i] = fixture_record(&cases[i], 60);
        snprintf(all.records[i]->id, sizeof all.records[i]->id,
                 "202601%02zuT120000.000000000Z-host-1-%zu", i + 1, i);
    }
    return all;
}

static void assert_has(const char *text, const char *wanted)
{
    if (!text || !strstr(text, wanted))
        fail_msg("no \"%s\" in:\n%.3000s", wanted, text ? text : "(nothing)");
}

static void assert_lacks(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted))
        fail_msg("\"%s\" in:\n%.3000s", unwanted, text);
}

/* The lines of the data block NAME, to be freed. */
static char *block(const plot *p, const char *name)
{
    char head[64];
    snprintf(head, sizeof head, "$%s << EOD\n", name);
    const char *from = strstr(p->script.data, head);
    if (!from)
        fail_msg("no data %s", name);
    from += strlen(head);
    const char *to = strstr(from, "EOD\n");
    assert_non_null(to);
    return strndup(from, (size_t)(to - from));
}

static size_t lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* A line of NAME's block that starts with FIRST and holds the number WANTED as its word
 * number WORD (from 0). */
static void assert_value(const plot *p, const char *name, int word, double wanted)
{
    char *data = block(p, name), *save = NULL;
    bool found = false;
    for (char *line = strtok_r(data, "\n", &save); line && !found;
         line = strtok_r(NULL, "\n", &save)) {
        double v[8] = {0};
        int n = sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4],
                       &v[5], &v[6]);
        found = n > word && fabs(v[word] - wanted) <= fabs(wanted) * 1e-5 + 0.06;
    }
    free(data);
    if (!found)
        fail_msg("%s has no %.6g in column %d:\n%.2000s", name, wanted, word, p->script.data);
}

static plot made(bn_code (*make)(const res_collection *, plot *, bn_status *),
                 const res_collection *all)
{
    plot p = {0};
    bn_status st = {0};
    if (make(all, &p, &st) != BN_OK)
        fail_msg("%s", st.message);
    assert_non_null(p.script.data);
    assert_true(p.width > 0 && p.height > 0);
    return p;
}

/* ---- pictures of a store --------------------------------------------------------------- */

static double mean_part(const res_record *record, bn_part part)
{
    double sum = 0;
    for (size_t i = 0; i < record->step_count; i++)
        sum += (double)record->part_ns[i * BN_PART_COUNT + part];
    return sum / (double)record->step_count;
}

static void ledger_has_every_large_part(void **state)
{
    (void)state;
    res_collection all = sample();
    plot p = made(plot_ledger, &all);
    for (size_t i = 0; i < CASES; i++) {
        assert_value(&p, "part9", 6, mean_part(all.records[i], BN_PART_WAIT));
        assert_value(&p, "part1", 6, mean_part(all.records[i], BN_PART_TRACE));
    }
    /* Small ones are one part, so that all still sum to the wall time. */
    double small = 0, wall = 0;
    for (int part = 0; part < BN_PART_COUNT; part++) {
        char name[24];
        snprintf(name, sizeof name, "$part%d <<", part);
        small += strstr(p.script.data, name) ? 0 : mean_part(all.records[LAZY], (bn_part)part);
        wall += mean_part(all.records[LAZY], (bn_part)part);
    }
    assert_value(&p, "part12", 6, small);
    /* The longest step of the model, eager, is the whole scale. */
    assert_value(&p, "part12", 3, 100);
    double eager = 0;
    for (int part = 0; part < BN_PART_COUNT; part++)
        eager += mean_part(all.records[EAGER], (bn_part)part);
    assert_value(&p, "part12", 3, 100 * wall / eager);
    assert_has(p.description.data, "most of it wait");
    plot_free(&p);
    res_collection_free(&all);
}

static void speedup_has_every_ratio(void **state)
{
    (void)state;
    res_collection all = sample();
    const res_record *lazy = all.records[LAZY], *capture = all.records[CAPTURE];
    const res_interval ratio =
        res_ratio_interval(lazy->wall_ns, lazy->step_count, capture->wall_ns, capture->step_count);
    plot p = made(plot_speedup, &all);
    assert_value(&p, "bars1", 0, ratio.estimate);
    assert_value(&p, "intervals", 2, ratio.low);
    assert_value(&p, "intervals", 3, ratio.high);
    /* Eager, capture, cut; bert's capture; means of three ways; a line of no numbers. */
    char *bars = block(&p, "bars0"), *cut = block(&p, "bars2"), *means = block(&p, "bars4");
    assert_int_equal(lines(bars), 1);
    assert_int_equal(lines(cut), 1);
    assert_int_equal(lines(means), 3);
    assert_has(p.script.data, "train capture (2 of 2)");
    assert_has(p.script.data, "train eager (1 of 2)");
    assert_has(p.script.data, "set arrow from 1,0");
    free(bars);
    free(cut);
    free(means);
    plot_free(&p);
    res_collection_free(&all);
}

static void failures_stand_in_the_picture(void **state)
{
    (void)state;
    res_collection all = sample();
    all.records[BERT_CAPTURE]->status = BN_OUT_OF_MEMORY;
    all.records[BERT_CAPTURE]->step_count = 0;
    plot p = made(plot_speedup, &all);
    assert_has(p.script.data, "\"failed: out-of-memory\"");
    plot_free(&p);
    p = made(plot_ledger, &all);
    assert_has(p.script.data, "\"failed: out-of-memory\"");
    plot_free(&p);
    res_collection_free(&all);
}

static void overhead_has_every_execution(void **state)
{
    (void)state;
    res_collection all = sample();
    plot p = made(plot_overhead, &all);
    for (size_t g = 0; g < 5; g++) {
        const res_execution *execution = &all.records[CAPTURE_5]->executions[g];
        const res_interval ns = res_execution_overhead(execution);
        assert_value(&p, "arguments2", 0, execution->arguments);
        assert_value(&p, "arguments2", 1, ns.estimate);
        assert_value(&p, "arguments2", 2, ns.low);
        assert_value(&p, "arguments2", 3, ns.high);
    }
    assert_has(p.script.data, "graphs that a step is cut into");
    plot_free(&p);
    /* One graph a step: there is nothing to set against graphs. */
    res_collection one = {.records = all.records, .count = 3};
    p = made(plot_overhead, &one);
    assert_lacks(p.script.data, "graphs that a step is cut into");
    plot_free(&p);
    res_collection_free(&all);
}

static void steps_have_every_time_and_mark_compiles(void **state)
{
    (void)state;
    res_collection all = sample(), one = {.records = &all.records[LAZY], .count = 1};
    res_record *record = all.records[LAZY];
    record->part_ns[7 * BN_PART_COUNT + BN_PART_COMPILE] = 1000;
    json_object_set_new(record->provenance, "warmup",
                        json_pack("{s[iiiii]}", "compiles", 2, 0, 0, 1, 0));
    plot p = made(plot_steps, &one);
    for (size_t i = 0; i < record->step_count; i++)
        assert_value(&p, "steps0", 2, (double)record->wall_ns[i] / 1e6);
    char *steps = block(&p, "steps0"), *warmup = block(&p, "warmup0"),
         *compiles = block(&p, "compiles0");
    assert_int_equal(lines(steps), 60);
    assert_int_equal(lines(warmup), 5 + 1);
    /* Numbered from the first measured step: two of warm-up, one after it. */
    assert_int_equal(lines(compiles), 3 + 1);
    assert_int_equal(strncmp(compiles, "-4 ", 3), 0);
    assert_has(compiles, "\n-1 ");
    assert_has(compiles, "\n8 ");
    assert_has(p.script.data, "\"7.50 s\""); /* the first step, off the scale */
    assert_lacks(p.script.data, "Not all records say");
    free(steps);
    free(warmup);
    free(compiles);
    plot_free(&p);
    json_object_del(record->provenance, "warmup");
    p = made(plot_steps, &one);
    assert_has(p.script.data, "Not all records say");
    plot_free(&p);
    res_collection_free(&all);
}

static void long_series_keep_what_sticks_out(void **state)
{
    (void)state;
    res_record *record = fixture_record(&cases[CAPTURE], 50000);
    res_collection one = {.records = &record, .count = 1};
    record->wall_ns[12345] = 99000000;
    record->wall_ns[23456] = 7000000;
    plot p = made(plot_steps, &one);
    char *steps = block(&p, "steps0");
    assert_true(lines(steps) > 100 && lines(steps) <= 402);
    assert_has(steps, "12346 ");
    assert_has(steps, " 99\n");
    assert_has(steps, "23457 ");
    assert_has(steps, " 7\n");
    free(steps);
    plot_free(&p);
    res_record_free(record);
}

static void what_is_simulated_says_so(void **state)
{
    (void)state;
    bn_code (*const makers[])(const res_collection *, plot *, bn_status *) = {
        plot_ledger, plot_speedup, plot_overhead, plot_steps, plot_distribution_of_store};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        res_collection all = sample();
        plot p = made(makers[i], &all);
        assert_lacks(p.script.data, "SIMULATED");
        plot_free(&p);
        for (size_t r = 0; r < all.count; r++)
            all.records[r]->simulated = true;
        p = made(makers[i], &all);
        assert_has(p.script.data, "\"SIMULATED DEVICE\"");
        plot_free(&p);
        for (size_t r = 0; r < all.count; r++) {
            all.records[r]->simulated = false;
            all.records[r]->experiment.trace_cost_ns = 17000;
        }
        p = made(makers[i], &all);
        assert_has(p.script.data, "\"EMULATED FRONT END\"");
        assert_has(p.script.data, "emulated front end of 17000 ns a node");
        plot_free(&p);
        res_collection_free(&all);
    }
}

static void nothing_to_draw_is_said(void **state)
{
    (void)state;
    bn_code (*const makers[])(const res_collection *, plot *, bn_status *) = {
        plot_ledger, plot_speedup, plot_overhead, plot_steps, plot_distribution_of_store};
    res_collection none = {0};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        plot p = {0};
        bn_status st = {0};
        assert_int_equal(makers[i](&none, &p, &st), BN_NOT_FOUND);
        assert_true(st.message[0] && !p.script.data);
    }
    const res_experiment what = {.model = "resnet18"};
    const res_timeline empty = {.experiment = &what, .stretch_count = 1};
    plot p = {0};
    bn_status st = {0};
    assert_int_equal(plot_timeline(&empty, RES_METRIC_WALL, &p, &st), BN_NOT_FOUND);
}

/* Nights without a value are left out, and changes move with it. */
static void timeline_skips_gaps(void **state)
{
    (void)state;
    const res_experiment what = {.model = "resnet18", .phase = "train", .mode = "lazy"};
    res_night nights[] = {{.time_s = 1700000000, .value = UNKNOWN},
                          {.time_s = 1700086400, .value = 3e6, .low = 2e6, .high = 4e6},
                          {.time_s = 1700172800, .value = UNKNOWN},
                          {.time_s = 1700259200, .value = 6e6, .low = 5e6, .high = 7e6}};
    res_origin origin = {.sha256 = "cafe", .label = "commit-7"};
    res_stretch stretches[] = {{.first = 0, .end = 3}, {.first = 3, .end = 4}};
    const res_timeline series = {.experiment = &what,
                                 .simulated = true,
                                 .nights = nights,
                                 .count = 4,
                                 .stretches = stretches,
                                 .stretch_count = 2};
    plot p = {0};
    nights[3].origin = &origin;
    assert_int_equal(plot_timeline(&series, RES_METRIC_DEVICE, &p, NULL), BN_OK);
    char *data = block(&p, "points"), *levels = block(&p, "stretches");
    assert_string_equal(data, "1700086400 3000000.0 2000000.0 4000000.0\n"
                              "1700259200 6000000.0 5000000.0 7000000.0\n");
    assert_string_equal(levels, "1700086400 3000000.0\n1700259200 3000000.0\n\n"
                                "1700259200 6000000.0\n1700259200 6000000.0\n\n");
    assert_has(p.script.data, "set ylabel 'device time of a step (ms)'");
    assert_has(p.script.data, "commit-7");
    assert_has(p.script.data, "SIMULATED DEVICE");
    free(data);
    free(levels);
    plot_free(&p);
}

/* ---- plain series ------------------------------------------------------------------------- */

static void distribution_has_every_step(void **state)
{
    (void)state;
    const uint64_t a1[] = {5000, 1000, 3000}, a2[] = {2000, 4000}, b1[] = {9000, 8000};
    const uint64_t *const sa[] = {a1, a2}, *const sb[] = {b1};
    const size_t ca[] = {3, 2}, cb[] = {2};
    const res_side a = {sa, ca, 2}, b = {sb, cb, 1};
    const plot_words words = {"A and B", "known", "SIMULATED DEVICE"};
    plot p = {0};
    assert_int_equal(plot_distribution(&words, "old", &a, "new", &b, &p, NULL), BN_OK);
    char *left = block(&p, "a"), *right = block(&p, "b"), *processes = block(&p, "a_processes");
    assert_string_equal(left, "1000.0 0\n1000.0 0.200000\n2000.0 0.400000\n3000.0 0.600000\n"
                              "4000.0 0.800000\n5000.0 1.000000\n");
    assert_string_equal(right, "8000.0 0\n8000.0 0.500000\n9000.0 1.000000\n");
    assert_string_equal(processes, "3000.0 -0.090\n3000.0 -0.090\n");
    assert_has(p.script.data, "with steps");
    assert_has(p.description.data, "A: old, median 3.00 µs (5 steps, 2 processes)");
    free(left);
    free(right);
    free(processes);
    plot_free(&p);
    const size_t empty[] = {0, 0};
    const res_side nothing = {sa, empty, 2};
    bn_status st = {0};
    assert_int_equal(plot_distribution(&words, "old", &nothing, "new", &b, &p, &st), BN_NOT_FOUND);
    assert_null(p.script.data);
}

static void history_has_points_and_changes(void **state)
{
    (void)state;
    const plot_point points[] = {
        {1700000000, 10e6, 9e6, 11e6, "one"},
        {1700086400, 12e6, UNKNOWN, UNKNOWN, "two"},
        {1700172800, 20e6, 19e6, 21e6, "it's " HOSTILE},
        {1700259200, 22e6, 21e6, 23e6, NULL},
    };
    const size_t changes[] = {2};
    const plot_words words = {"history", NULL, NULL};
    plot p = {0};
    assert_int_equal(plot_history(&words, "median step", points, 4, changes, 1, &p, NULL), BN_OK);
    char *data = block(&p, "points"), *stretches = block(&p, "stretches");
    assert_string_equal(data, "1700000000 10000000.0 9000000.0 11000000.0\n"
                              "1700086400 12000000.0 12000000.0 12000000.0\n"
                              "1700172800 20000000.0 19000000.0 21000000.0\n"
                              "1700259200 22000000.0 21000000.0 23000000.0\n");
    assert_string_equal(stretches, "1700000000 11000000.0\n1700172800 11000000.0\n\n"
                                   "1700172800 21000000.0\n1700259200 21000000.0\n\n");
    assert_has(p.script.data, "\"it\\047s a\\047b\\042<i>&\\140touch x\\140\\100t");
    assert_has(p.description.data, "from 11.0 ms to 21.0 ms");
    free(data);
    free(stretches);
    plot_free(&p);
    const size_t wrong[][2] = {{0, 0}, {4, 0}, {2, 2}};
    for (size_t i = 0; i < 3; i++) {
        bn_status st = {0};
        assert_int_equal(
            plot_history(&words, "median step", points, 4, wrong[i], i == 2 ? 2 : 1, &p, &st),
            BN_INVALID);
    }
    const plot_point back[] = {points[1], points[0]};
    assert_int_equal(plot_history(&words, "median step", back, 2, NULL, 0, &p, NULL), BN_INVALID);
}

/* ---- names are text ---------------------------------------------------------------------------
 */

/* Whether SVG's body draws NAME, escaped as gnuplot does it: < and & alone. */
static bool drawn(const char *svg, const char *name)
{
    for (const char *at = strstr(svg, "</title>"); *at; at++) {
        const char *c = at, *want = name;
        for (; *want; want++) {
            const char *entity = *want == '<' ? "&lt;" : *want == '&' ? "&amp;" : NULL;
            if (entity && strncmp(c, entity, strlen(entity)) == 0)
                c += strlen(entity);
            else if (*c == *want)
                c++;
            else
                break;
        }
        if (!*want)
            return true;
    }
    return false;
}

static void hostile_names_are_only_text(void **state)
{
    (void)state;
    char folder[256], here[256];
    fixture_folder(folder, sizeof folder, "plots");
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    static const char *const names[] = {HOSTILE, "'; system('touch x'); '",
                                        "`touch x`\"; !touch x #"};
    bn_code (*const makers[])(const res_collection *, plot *, bn_status *) = {
        plot_ledger, plot_speedup, plot_overhead, plot_steps, plot_distribution_of_store};
    for (size_t n = 0; n < 3; n++) {
        res_collection all = sample();
        for (size_t i = 0; i < all.count; i++) {
            snprintf(all.records[i]->experiment.model, RES_TEXT, "%s", names[n]);
            snprintf(all.records[i]->experiment.settings, 256, "%s", names[n]);
        }
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
            bn_text svg = {0}, escaped = {0};
            bn_status st = {0};
            plot p = made(makers[i], &all);
            if (plot_render(&p, PLOT_SVG, &svg, &st) != BN_OK)
                fail_msg("%s", st.message);
            assert_lacks(svg.data, "<i>");
            plot_html_text(&escaped, names[n]);
            assert_has(svg.data, escaped.data); /* in the title */
            assert_true(drawn(svg.data, names[n]));
            assert_int_not_equal(access("x", F_OK), 0);
            bn_text_free(&svg);
            bn_text_free(&escaped);
            plot_free(&p);
        }
        res_collection_free(&all);
    }
    assert_int_equal(chdir(here), 0);
}

static void html_has_no_loose_characters(void **state)
{
    (void)state;
    bn_text out = {0};
    plot_html_text(&out, "<a href=\"x\">'&\x01\xff\xc3\xb6\xc3 \xe2\x82");
    assert_string_equal(out.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;??\xc3\xb6? ??");
    bn_text_free(&out);
    plot_quote(&out, "a'b\nc\\");
    assert_string_equal(out.data, "\"a\\047b?c\\134\"");
    bn_text_free(&out);
}

static void missing_gnuplot_is_said(void **state)
{
    (void)state;
    res_collection all = sample();
    plot p = made(plot_ledger, &all);
    char *path = strdup(getenv("PATH"));
    bn_text out = {0};
    bn_status st = {0};
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(plot_render(&p, PLOT_SVG, &out, &st), BN_NOT_FOUND);
    assert_has(st.message, "gnuplot-nox");
    setenv("PATH", path, 1);
    plot wrong = {.width = 100, .height = 100};
    bn_text_puts(&wrong.script, "plot nothing_of_that_name\n");
    assert_int_equal(plot_render(&wrong, PLOT_SVG, &out, &st), BN_EXECUTE);
    assert_has(st.message, "undefined variable");
    plot_free(&wrong);
    bn_text_free(&out);
    free(path);
    plot_free(&p);
    res_collection_free(&all);
}

/* ---- the page -------------------------------------------------------------------------------- */

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
     .smallest_visible = 0.011,
     .attribution = "same program, slower"},
    {.title = "bert train capture",
     .verdict = RES_FASTER,
     .ratio = {0.93, 0.91, 0.95},
     .smallest_visible = 0.02,
     .attribution = "other program: 3 ops fewer"},
    {.title = "vit train lazy",
     .verdict = RES_SLOWER,
     .ratio = {1.094, 1.06, 1.12},
     .smallest_visible = 0.03,
     .attribution = "<script>alert(1)</script>"},
    {.title = "gpt2 infer lazy",
     .verdict = RES_UNDECIDED,
     .ratio = {1.01, 0.95, 1.07},
     .smallest_visible = 0.08},
    {.title = "llama infer lazy",
     .verdict = RES_EQUIVALENT,
     .ratio = {1.001, 0.99, 1.01},
     .smallest_visible = 0.01,
     .attribution = ""},
};

static size_t place(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    if (!at)
        fail_msg("the page has no %s", what);
    return (size_t)(at - text);
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
                                        "<strong>2</strong> slower",
                                        "What got slower",
                                        "vit train lazy",
                                        "resnet50 train lazy",
                                        "What got faster",
                                        "bert train capture",
                                        "What failed",
                                        "signal &lt;11&gt;",
                                        "What could not be decided",
                                        "gpt2 infer lazy",
                                        "What stayed the same",
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

static void page_without_comparisons_tells_the_newest(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text out = page(&all, NULL, 0, NULL, 0), again = page(&all, NULL, 0, NULL, 0);
    assert_has(out.data, "Nothing failed.");
    assert_has(out.data, "were not compared");
    assert_true(place(out.data, "2026-01-06 12:00:00</td>") <
                place(out.data, "2026-01-05 12:00:00</td>"));
    assert_lacks(out.data, "What got slower");
    assert_string_equal(out.data, again.data);
    bn_text_free(&again);
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

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--page") == 0)
        return write_page(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledger_has_every_large_part),
        cmocka_unit_test(speedup_has_every_ratio),
        cmocka_unit_test(failures_stand_in_the_picture),
        cmocka_unit_test(overhead_has_every_execution),
        cmocka_unit_test(steps_have_every_time_and_mark_compiles),
        cmocka_unit_test(long_series_keep_what_sticks_out),
        cmocka_unit_test(what_is_simulated_says_so),
        cmocka_unit_test(nothing_to_draw_is_said),
        cmocka_unit_test(distribution_has_every_step),
        cmocka_unit_test(history_has_points_and_changes),
        cmocka_unit_test(timeline_skips_gaps),
        cmocka_unit_test(hostile_names_are_only_text),
        cmocka_unit_test(html_has_no_loose_characters),
        cmocka_unit_test(missing_gnuplot_is_said),
        cmocka_unit_test(summary_comes_first_and_in_order),
        cmocka_unit_test(page_without_comparisons_tells_the_newest),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
