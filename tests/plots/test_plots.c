/*
 * test_plots.c - pictures of a store with known figures: every value is in the data, names
 * are text and nothing else, simulated figures have a badge.
 */
#include "tests/plots/plots_fixture.h"

#include <unistd.h>

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

/* The table's row of MODE and GRAPHS of resnet50 (new reference). */
static json_t *row_of(const res_collection *all, const char *mode, int graphs)
{
    bn_text text = {0};
    res_table("speedup", all, RES_TABLE_JSON, &text);
    json_t *table = json_loads(text.data, 0, NULL), *row, *found = NULL;
    size_t index;
    json_array_foreach(json_object_get(table, "rows"), index, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "mode")), mode) == 0 &&
            json_integer_value(json_object_get(row, "graphs")) == graphs &&
            strcmp(json_string_value(json_object_get(row, "model")), "resnet50") == 0)
            found = json_incref(row);
    }
    assert_non_null(found);
    json_decref(table);
    bn_text_free(&text);
    return found;
}

/* Pictures have the figures of the table. */
static void speedup_has_every_ratio(void **state)
{
    (void)state;
    res_collection all = repeated();
    json_t *capture = row_of(&all, "capture", 1);
    plot p = made(plot_speedup, &all);
    assert_value(&p, "bars1", 0, plot_real(capture, "speedup"));
    assert_value(&p, "intervals", 2, plot_real(capture, "speedup_low"));
    assert_value(&p, "intervals", 3, plot_real(capture, "speedup_high"));
    assert_true(plot_real(capture, "speedup_low") < plot_real(capture, "speedup"));
    json_decref(capture);
    /* Eager, capture, cut; bert's capture; means of three ways; a line of no numbers. */
    char *bars = block(&p, "bars0"), *cut = block(&p, "bars2"), *means = block(&p, "bars4");
    assert_int_equal(lines(bars), 1);
    assert_int_equal(lines(cut), 1);
    assert_int_equal(lines(means), 3);
    assert_has(p.script.data, "train capture (2 of 2)");
    assert_has(p.script.data, "train eager (1 of 2)");
    assert_has(p.script.data, "set arrow from 1,0");
    /* The scale is that of the others; the bars of eager and of its mean end in arrows. */
    assert_has(p.script.data, "set xrange [0.7");
    assert_int_equal(occurrences(p.script.data, " head filled "), 2 * 2);
    assert_has(p.script.data, "\"0.17x [");
    /* Means are not tested for significance. */
    assert_int_equal(occurrences(p.script.data, "] not tested\""), 3);
    free(bars);
    free(cut);
    free(means);
    plot_free(&p);
    res_collection_free(&all);
}

/* Where there is nothing but eager, the scale is that of eager. */
static void eager_alone_has_the_scale(void **state)
{
    (void)state;
    res_collection all = sample();
    res_collection two = {.records = all.records, .count = 2};
    plot p = made(plot_speedup, &two);
    assert_lacks(p.script.data, " head filled ");
    assert_has(p.script.data, "set xrange [0.1");
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

/* Series 3 is resnet50, captured: block 6 has what is significant, block 7 the rest. */
static void overhead_has_every_execution(void **state)
{
    (void)state;
    res_collection all = repeated();
    /* 1.9, 2.0 and 2.1 ms: t(0.975, 2) = 4.3027. */
    for (size_t i = 0; i < PROCESSES; i++) {
        res_record *five = all.records[i * CASES + CAPTURE_5];
        for (size_t g = 0; g < 5; g++) {
            five->executions[g].overhead_ns = 1.9e6 + 0.1e6 * (double)i;
            five->executions[g].overhead_low_ns = five->executions[g].overhead_high_ns = 0;
        }
    }
    const double half = 4.30265 * 0.1e6 / sqrt(3);
    plot p = made(plot_overhead, &all);
    for (size_t g = 0; g < 5; g++) {
        const res_execution *execution = &all.records[CAPTURE_5]->executions[g];
        assert_value(&p, "arguments6", 0, execution->arguments);
        assert_value(&p, "arguments6", 1, 2e6);
        assert_value(&p, "arguments6", 2, 2e6 - half);
        assert_value(&p, "arguments6", 3, 2e6 + half);
    }
    assert_has(p.script.data, "$graphs0 << EOD");
    plot_free(&p);
    /* One graph a step: there is nothing to set against graphs. */
    res_collection one = {.records = all.records, .count = 3};
    p = made(plot_overhead, &one);
    assert_lacks(p.script.data, "$graphs0 << EOD");
    plot_free(&p);
    res_collection_free(&all);
}

static void set_overhead(res_record *record, double overhead_ns)
{
    for (size_t i = 0; i < record->execution_count; i++) {
        res_execution *x = &record->executions[i];
        x->overhead_ns = overhead_ns;
        x->overhead_low_ns = x->overhead_high_ns = 0;
    }
}

/* An overhead indistinguishable from zero is hollow and has its bound; that of one process alone is
 * shown as the table shows it. */
static void overhead_says_what_the_table_says(void **state)
{
    (void)state;
    res_collection all = repeated();
    static const double overheads[PROCESSES] = {-0.3e6, 0.5e6, 0.3e6};
    for (size_t i = 0; i < PROCESSES; i++)
        set_overhead(all.records[i * CASES + CAPTURE_5], overheads[i]);
    plot p = made(plot_overhead, &all);
    assert_value(&p, "arguments7", 1, 0.5e6 / 3);
    assert_value(&p, "graphs7", 1, 0.5e6 / 3);
    assert_has(p.description.data, " resnet50 train, capture in 5 graphs: < 1.20 ms.");
    assert_has(p.description.data, " resnet50 train, capture in 1 graph: 2.00 ms.");
    plot_free(&p);
    res_collection_free(&all);
    all = sample();
    set_overhead(all.records[CAPTURE_5], -83e6);
    p = made(plot_overhead, &all);
    char *significant = block(&p, "graphs6"), *rest = block(&p, "graphs7");
    assert_int_equal(lines(significant),
                     2 + 1); /* captured as one, as five; a line of no numbers */
    assert_int_equal(lines(rest), 1);
    assert_has(significant, " -83000000.0 ");
    assert_has(p.description.data, " resnet50 train, capture in 5 graphs: -83.0 ms.");
    assert_has(p.description.data, " resnet50 train, lazy in 1 graph: 2.00 ms.");
    free(significant);
    free(rest);
    plot_free(&p);
    res_collection_free(&all);
}

/* Those of two stores may have one id, whatever they are of. */
static void records_of_one_id_have_room(void **state)
{
    (void)state;
    res_collection all = sample();
    /* Without eager, of whose executions nobody knows the device time. */
    const res_collection some = {.records = all.records + 1, .count = CASES - 1};
    memcpy(all.records[BERT_CAPTURE]->id, all.records[CAPTURE_5]->id,
           sizeof all.records[CAPTURE_5]->id);
    plot p = made(plot_overhead, &some);
    assert_has(p.script.data, "$arguments0 << EOD");
    plot_free(&p);
    res_collection_free(&all);
}

/* bert is drawn, the first of the rows. Records of other conditions, and an earlier run, are not
 * of its row in the table. */
static void distribution_is_of_the_rows_processes(void **state)
{
    (void)state;
    res_collection all = repeated();
    plot p = made(plot_distribution_of_store, &all);
    assert_has(p.description.data, "A: lazy, median of all 180 steps 62");
    assert_has(p.description.data, " (3 processes). B: capture, ");
    assert_has(p.script.data, "set logscale x\n");
    assert_has(p.script.data, "set xlabel 'wall time of a step (ms)");
    /* A scale this short has no power of ten on it, and numbers all the same. */
    assert_has(p.script.data, "set xtics ('59' 59, ");
    plot_free(&p);
    json_object_set_new(all.records[BERT_LAZY]->provenance, "pinning",
                        json_pack("{ss}", "pin", "cores"));
    p = made(plot_distribution_of_store, &all);
    assert_has(p.description.data, "A: lazy, median of all 120 steps ");
    assert_has(p.description.data, " (2 processes). B: capture, median of all 180 steps ");
    assert_has(p.description.data, " (3 processes).");
    plot_free(&p);
    res_collection_free(&all);
    res_record *runs[12];
    for (size_t i = 0; i < 12; i++) {
        runs[i] = process_of(i % 2 ? BERT_CAPTURE : BERT_LAZY, i / 2);
        fixture_group(runs[i], i < 6 ? "earlier" : "later", (int)(i / 2 % 3) + 1);
    }
    all = (res_collection){.records = runs, .count = 12};
    p = made(plot_distribution_of_store, &all);
    assert_int_equal(occurrences(p.description.data, " (3 processes)."), 2);
    plot_free(&p);
    for (size_t i = 0; i < 12; i++)
        res_record_free(runs[i]);
}

/* A process stands where tables have it: by the medians of its rounds, which are not that of its
 * steps where the long rounds have few. */
static void distribution_has_the_processes_of_tables(void **state)
{
    (void)state;
    static const size_t steps[] = {50, 5, 5};
    res_collection all = sample();
    res_record *record = all.records[BERT_LAZY];
    assert_int_equal(record->step_count, 60);
    assert_int_equal(res_record_reserve_rounds(record, 3, NULL), BN_OK);
    for (size_t i = 0, step = 0; i < 3; i++) {
        record->rounds[i] = (res_round){.steps = steps[i], .wall_ns = 1};
        for (size_t k = 0; k < steps[i]; k++)
            record->wall_ns[step++] = i == 0 ? 60000000 : 80000000;
    }
    plot p = made(plot_distribution_of_store, &all);
    char *processes = block(&p, "a_processes");
    char wanted[80];
    snprintf(wanted, sizeof wanted, "%.1f -0.090\n", res_record_measures(record).wall_ns);
    assert_string_equal(processes, wanted);
    assert_has(wanted, "80000000.0");
    assert_has(p.description.data, "A: lazy, median of all 60 steps 60.0 ms");
    free(processes);
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
    const size_t length = p.script.length;
    free(steps);
    free(warmup);
    free(compiles);
    plot_free(&p);
    json_object_del(record->provenance, "warmup");
    p = made(plot_steps, &one);
    /* A sentence says that they are unknown, and no mark is left but the step's own. */
    assert_true(p.script.length > length);
    compiles = block(&p, "compiles0");
    assert_int_equal(lines(compiles), 1 + 1);
    free(compiles);
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

/* A title that would run under the badge goes on in a line of its own. */
static void titles_make_room_for_the_badge(void **state)
{
    (void)state;
    static const char text[] =
        "Step times: resnext50_32x4d train, small, batch 128, image 224, bf16, "
        "nchw, lazy (A) and capture, 3 graphs (B)";
    const plot_words bare = {"Short", "of something", "EMULATED FRONT END"};
    const plot_words words = {text, "of something", "EMULATED FRONT END"};
    plot p;
    const double one = plot_begin(&p, &bare, 980, 100);
    plot_free(&p);
    const double more = plot_begin(&p, &words, 980, 100) - one;
    assert_true(more >= 22 && more <= 44);
    size_t lines_of_title = 0;
    char *save = NULL;
    for (char *line = strtok_r(p.script.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char shown[200];
        if (!strstr(line, "sans-serif:Bold,16") ||
            sscanf(line, "set label \"%199[^\"]", shown) != 1)
            continue;
        lines_of_title++;
        assert_true(16 + plot_text_width(shown, 16) * 1.08 <
                    980 - 16 - plot_text_width(bare.badge, 12));
    }
    assert_int_equal(lines_of_title, 1 + (size_t)(more / 22));
    plot_free(&p);
}

static void simulated_figures_have_a_badge(void **state)
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
        assert_has(p.script.data, " 17000 ns ");
        plot_free(&p);
        res_collection_free(&all);
    }
}

static void nothing_to_draw_is_not_found(void **state)
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

/* ---- names are text --------------------------------------------------------------------- */

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

/* ---- gnuplot ------------------------------------------------------------------------------ */

static void missing_gnuplot_is_not_found(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledger_has_every_large_part),
        cmocka_unit_test(speedup_has_every_ratio),
        cmocka_unit_test(eager_alone_has_the_scale),
        cmocka_unit_test(failures_stand_in_the_picture),
        cmocka_unit_test(overhead_has_every_execution),
        cmocka_unit_test(overhead_says_what_the_table_says),
        cmocka_unit_test(records_of_one_id_have_room),
        cmocka_unit_test(distribution_is_of_the_rows_processes),
        cmocka_unit_test(distribution_has_the_processes_of_tables),
        cmocka_unit_test(steps_have_every_time_and_mark_compiles),
        cmocka_unit_test(long_series_keep_what_sticks_out),
        cmocka_unit_test(titles_make_room_for_the_badge),
        cmocka_unit_test(simulated_figures_have_a_badge),
        cmocka_unit_test(nothing_to_draw_is_not_found),
        cmocka_unit_test(hostile_names_are_only_text),
        cmocka_unit_test(missing_gnuplot_is_not_found),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
