/*
 * test_history.c - the series that are made of a store's index: nights, gaps, and what changed
 * with a change. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include <time.h>

#include "results/nights/nights.h"
#include "results/tables/tables.h"

static void make_history(const place *p, res_index *index, res_history *history)
{
    bn_status st = {0};
    const res_history_options o = res_history_defaults();
    load_with(p, NULL, index);
    assert_ok(res_history_make(index, &o, history, &st), &st);
}

static void nights_gather_processes_of_one_build(void **state)
{
    const place *p = *state;
    static const maker makers[] = {
        /* Across midnight; other seeds, another path. */
        {"20260101T230000.000000000Z-h-1-0", "aa", "h1", 1.0, BN_OK, 1},
        {"20260101T235900.000000000Z-h-1-1", "", "h1", 1.0, BN_CRASH, 1},
        {"20260102T003000.000000000Z-h-1-2", "aa", "h1", 1.4, BN_OK, 2},
        {"20260102T010000.000000000Z-h-1-3", "aa", "h1", 1.1, BN_OK, 3},
        /* Another build in the same hours. */
        {"20260102T011500.000000000Z-h-1-4", "bb", "h1", 2.0, BN_OK, 1},
        /* A night that failed, in two ways. */
        {"20260102T230000.000000000Z-h-1-5", "", "h1", 1, BN_CRASH, 1},
        {"20260102T233000.000000000Z-h-1-6", "", "h1", 1, BN_TIMEOUT, 1},
        /* A failure first, which learns its build. */
        {"20260103T230000.000000000Z-h-1-7", "", "h1", 1, BN_CRASH, 1},
        {"20260103T233000.000000000Z-h-1-8", "cc", "h2", 1.2, BN_OK, 1},
        {"timeless", "cc", "h2", 1.2, BN_OK, 1},
    };
    char path[600], runtime[32];
    res_index index;
    res_history history;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        snprintf(runtime, sizeof runtime, "/builds/%zu/plugin.so", i);
        write_with(p, &makers[i], runtime, path);
    }
    make_history(p, &index, &history);
    assert_int_equal(history.timeless, 1);
    assert_int_equal(history.count, 1);
    const res_timeline *series = &history.series[0];
    assert_int_equal(series->count, 4);
    const res_night *night = series->nights;
    assert_int_equal(night[0].processes, 3);
    assert_int_equal(night[0].looks, 3); /* each alone, more than ten minutes apart */
    assert_int_equal(night[1].looks, 1);
    assert_int_equal(night[2].looks, 0);
    assert_int_equal(night[0].failed, 1);
    assert_int_equal(night[0].status, BN_OK);
    /* 1, 1.4 and 1.1 of the second build's half; t(0.975, 2) = 4.3027 on their logs. */
    const double middle = cbrt(1.4 * 1.1) / 2 * night[1].value;
    assert_near(night[0].value, middle, 0.005 * middle);
    assert_near(log(night[0].high / night[0].value), 4.3027 * 0.17342 / sqrt(3), 0.01);
    assert_near(log(night[0].value / night[0].low), 4.3027 * 0.17342 / sqrt(3), 0.01);
    assert_string_equal(night[1].origin->sha256, fixture_digest("bb"));
    assert_int_equal(night[1].processes, 1);
    assert_true(isnan(night[1].low) && isnan(night[1].high));
    assert_true(isnan(night[2].value));
    assert_int_equal(night[2].failed, 2);
    assert_int_equal(night[2].status, BN_TIMEOUT);
    assert_string_equal(night[3].origin->sha256, fixture_digest("cc"));
    assert_int_equal(night[3].failed, 1);
    assert_int_equal(series->stretch_count, 1);
    assert_int_equal(series->stretches[0].gaps, 1);
    assert_int_equal(series->last, 3);
    res_history_free(&history);
    res_index_free(&index);
}

/* A record of the group GROUP at TIME of a night. */
static void write_grouped(const place *p, const char *time, int number, const char *group)
{
    bn_status st = {0};
    char path[600];
    res_record *r = fixture_record(&fixture_lazy, 20);
    snprintf(r->id, sizeof r->id, "20260101T%s.000000000Z-h-1-%d", time, number);
    json_decref(r->provenance);
    r->provenance = json_pack("{s{ss} s{ss si si}}", "runtime", "sha256", fixture_digest("aa"),
                              "group", "id", group, "process", number + 1, "processes", 2);
    assert_ok(res_store_write(p->store, r, path, sizeof path, &st), &st);
    res_record_free(r);
}

/* A run that was continued is one look; the same build again is another. */
static void runs_of_a_night_are_looks(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    bn_text out = {0};
    write_grouped(p, "020000", 0, "g1");
    write_grouped(p, "030000", 1, "g1");
    write_grouped(p, "030100", 2, "g2");
    write_grouped(p, "031500", 3, "g2");
    make_history(p, &index, &history);
    assert_int_equal(history.series[0].count, 1);
    assert_int_equal(history.series[0].nights[0].processes, 4);
    assert_int_equal(history.series[0].nights[0].looks, 2);
    res_table_history(&history, RES_TABLE_JSON, &out);
    json_t *all = json_loads(out.data, 0, NULL);
    const json_t *series = json_array_get(all, 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(series, "newest"), "looks")), 2);
    assert_int_equal(json_integer_value(json_object_get(
                         json_array_get(json_object_get(series, "nights"), 0), "looks")),
                     2);
    /* One night does not show it. */
    assert_near(json_number_value(json_object_get(series, "correlation")), 0.3, 0);
    assert_near(json_number_value(json_object_get(series, "worth_nights")), 0.7 / 1.3, 1e-9);
    json_decref(all);
    bn_text_free(&out);
    res_history_free(&history);
    res_index_free(&index);
}

static void changes_tell_builds_and_hosts(void **state)
{
    const place *p = *state;
    char path[600], id[64];
    res_index index;
    res_history history;
    for (int day = 1; day <= 30; day++) {
        /* A failed night just before the change does not hide what was before. */
        const maker m = {id,
                         day < 15 ? "aa" : "bb",
                         day < 15 ? "h1" : "h2",
                         (day < 15 ? 1.0 : 1.1) * (1 + 0.002 * (day % 3)),
                         day == 14 ? BN_CRASH : BN_OK,
                         1};
        snprintf(id, sizeof id, "202601%02dT020000.000000000Z-h-1-0", day);
        write_with(p, &m, "cpu", path);
    }
    make_history(p, &index, &history);
    const res_timeline *series = &history.series[0];
    assert_int_equal(series->stretch_count, 2);
    const res_stretch *s = &series->stretches[1];
    assert_int_equal(s->first, 14);
    assert_int_equal(s->before, 12);
    assert_true(s->build_known && s->other_build && s->other_host);
    assert_true(s->ratio.low < 1.1 && 1.1 < s->ratio.high);
    assert_int_equal(series->stretches[0].gaps, 1);
    assert_int_equal(series->stretches[0].nights, 13);
    res_history_free(&history);
    res_index_free(&index);
}

/* A record of the simulated runtime with these SETTINGS, from a build of this LABEL. */
static void write_labelled(const place *p, const char *id, const char *settings, const char *label,
                           const char *sha256)
{
    fixture_case c = fixture_lazy;
    bn_status st = {0};
    char path[600];
    c.runtime = "sim";
    res_record *r = fixture_record(&c, 20);
    r->simulated = true;
    snprintf(r->id, sizeof r->id, "%s", id);
    snprintf(r->experiment.settings, sizeof r->experiment.settings, "%s", settings);
    json_decref(r->provenance);
    r->provenance =
        json_pack("{s{ss ss}}", "runtime", "sha256", fixture_digest(sha256), "label", label);
    assert_ok(res_store_write(p->store, r, path, sizeof path, &st), &st);
    res_record_free(r);
}

static void labels_and_files_of_one_night_are_entries(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    write_labelled(p, "20260101T020000.000000000Z-h-1-0", "", "x", "aa");
    write_labelled(p, "20260101T021000.000000000Z-h-1-1", "", "y", "aa");
    write_labelled(p, "20260101T022000.000000000Z-h-1-2", "", "x", "bb");
    write_labelled(p, "20260101T023000.000000000Z-h-1-3", "", "x", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.series[0].count, 3);
    assert_int_equal(history.series[0].nights[0].processes, 2);
    assert_string_equal(history.series[0].nights[1].origin->label, "y");
    assert_string_equal(history.series[0].nights[2].origin->sha256, fixture_digest("bb"));
    res_history_free(&history);
    res_index_free(&index);
}

static void changed_settings_are_a_change_within_a_series(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    write_labelled(p, "20260101T020000.000000000Z-h-1-0", "device_us=20", "", "aa");
    write_labelled(p, "20260102T020000.000000000Z-h-1-0", "device_us=21", "", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.series[0].count, 2);
    assert_true(history.series[0].any_settings);
    assert_string_equal(history.series[0].nights[1].settings, "device_us=21");
    res_history_free(&history);
    res_index_free(&index);
    /* Both in one night: a suite that asks for both, and two series. */
    write_labelled(p, "20260102T021000.000000000Z-h-1-1", "device_us=20", "", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.count, 2);
    assert_int_equal(history.series[0].count, 2);
    assert_int_equal(history.series[1].count, 1);
    assert_false(history.series[0].any_settings);
    res_history_free(&history);
    res_index_free(&index);
}

/* A framework's record under one build: its version, or that of bench, is in its provenance.
 */
static void write_framework(const place *p, int day, const char *front_end, const char *version,
                            const char *kernel)
{
    fixture_case c = fixture_lazy;
    bn_status st = {0};
    char path[600];
    c.wall_ns = (uint64_t)(25e6 * (day < 15 ? 1.0 : 1.1) * (1 + 0.002 * (day % 3)));
    res_record *r = fixture_record(&c, 20);
    snprintf(r->id, sizeof r->id, "202601%02dT020000.000000000Z-h-1-0", day);
    snprintf(r->experiment.front_end, sizeof r->experiment.front_end, "%s", front_end);
    json_decref(r->provenance);
    r->provenance =
        json_pack("{s{ss} s{ss} s{s{ss}}}", "runtime", "sha256", fixture_digest("aa"), "host",
                  "kernel", kernel, "front_end", "versions", "torch_xla", version);
    assert_ok(res_store_write(p->store, r, path, sizeof path, &st), &st);
    res_record_free(r);
}

/* Whether a change of VERSION or of the KERNEL in the middle is reported as one of the framework.
 */
static bool names_framework(const place *p, const char *front_end, const char *version,
                            const char *kernel)
{
    res_index index;
    res_history history;
    for (int day = 1; day <= 30; day++)
        write_framework(p, day, front_end, day < 15 ? "2.9" : version, day < 15 ? "k1" : kernel);
    make_history(p, &index, &history);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.series[0].stretch_count, 2);
    const res_stretch *s = &history.series[0].stretches[1];
    bn_text cause = {0};
    res_stretch_cause(s, &cause);
    const bool named = s->other_front_end;
    assert_string_equal(cause.data, named ? "same build, other framework" : "same build");
    bn_text_free(&cause);
    res_history_free(&history);
    res_index_free(&index);
    return named;
}

static void another_version_of_a_framework_is_reported(void **state)
{
    assert_true(names_framework(*state, "pytorch-xla", "2.10", "k1"));
}

static void another_kernel_is_no_other_framework(void **state)
{
    assert_false(names_framework(*state, "pytorch-xla", "2.9", "k2"));
}

static void bench_has_no_framework(void **state)
{
    assert_false(names_framework(*state, "bench", "2.9", "k2"));
}

static void records_of_the_future_are_in_no_series(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    write_labelled(p, "20260101T020000.000000000Z-h-1-0", "", "", "aa");
    write_labelled(p, "29990101T020000.000000000Z-h-1-0", "", "", "aa");
    make_history(p, &index, &history);
    assert_int_equal(history.misdates.count, 1);
    assert_int_equal(history.series[0].count, 1);
    res_history_free(&history);
    res_index_free(&index);
}

/* ---- the table's figures ------------------------------------------------------------------- */

/* A process of the tests below. */
typedef struct night_process {
    const char *group; /* "": none */
    const char *host;
    double wall_ns, device_ns, overhead_ns;
    bn_device_time_source source;
} night_process;

/* Writes PROCESS as number I of the night of DAY. */
static void write_process(const place *p, int day, size_t i, const night_process *process)
{
    fixture_case c = fixture_lazy;
    bn_status st = {0};
    char path[600];
    c.graphs = 1;
    c.wall_ns = (uint64_t)process->wall_ns;
    c.device_ns = process->device_ns;
    res_record *r = fixture_record(&c, 20);
    snprintf(r->id, sizeof r->id, "202601%02dT02%02zu00.000000000Z-h-1-0", day, i);
    r->executions[0].device_source = process->source;
    r->executions[0].overhead_ns = process->overhead_ns;
    json_decref(r->provenance);
    r->provenance = json_pack("{s{ss} s{ss}}", "runtime", "sha256", fixture_digest("aa"), "host",
                              "hostname", process->host);
    if (process->group[0])
        fixture_group(r, process->group, (int)i + 1);
    assert_ok(res_store_write(p->store, r, path, sizeof path, &st), &st);
    res_record_free(r);
}

static void load_history(const place *p, res_metric metric, res_index *index, res_history *history)
{
    bn_status st = {0};
    res_history_options o = res_history_defaults();
    o.metric = metric;
    load_with(p, NULL, index);
    assert_ok(res_history_make(index, &o, history, &st), &st);
}

static void assert_alike(double value, double wanted)
{
    if (isnan(value) || isnan(wanted))
        assert_true(isnan(value) && isnan(wanted));
    else
        assert_near(value, wanted, 1e-8 * fabs(wanted));
}

/* The figure that the speedup table of P's one row has for METRIC. */
static res_over table_has(const place *p, res_metric metric)
{
    res_collection all;
    res_speedup table;
    bn_status st = {0};
    assert_ok(res_store_load(p->store, &all, &st), &st);
    res_speedup_make(&all, &table);
    assert_int_equal(table.count, 1);
    const res_figures *f = &table.rows[0].figures;
    const res_over over[RES_METRIC_COUNT] = {f->wall, f->device, f->overhead, f->trace, f->compile};
    res_speedup_free(&table);
    res_collection_free(&all);
    return over[metric];
}

/* One night of COUNT processes has the table's figures in all metrics. */
static void assert_night(const night_process *list, size_t count, size_t left_out)
{
    void *state;
    begin(&state);
    const place *p = state;
    for (size_t i = 0; i < count; i++)
        write_process(p, 1, i, &list[i]);
    for (int m = 0; m < RES_METRIC_COUNT; m++) {
        res_index index;
        res_history history;
        const res_over wanted = table_has(p, (res_metric)m);
        load_history(p, (res_metric)m, &index, &history);
        assert_int_equal(history.count, 1);
        assert_int_equal(history.series[0].count, 1);
        const res_night *night = &history.series[0].nights[0];
        assert_alike(night->value, wanted.value.estimate);
        assert_alike(night->low, wanted.value.low);
        assert_alike(night->high, wanted.value.high);
        assert_int_equal(night->left_out, left_out);
        if (!isnan(wanted.value.estimate))
            assert_int_equal(night->processes, wanted.processes);
        res_history_free(&history);
        res_index_free(&index);
    }
    end(&state);
}

#define SLOPE    BN_DEVICE_TIME_SLOPE
#define PROFILER BN_DEVICE_TIME_PROFILER

static void a_night_has_the_figures_of_the_table(void **state)
{
    (void)state;
    /* Three runs: the mean of each is a value. */
    const night_process runs[] = {
        {"a", "h", 20e6, 9.0e6, 5e3, SLOPE},  {"a", "h", 21e6, 9.1e6, 9e3, SLOPE},
        {"b", "h", 25e6, 9.9e6, 1e3, SLOPE},  {"b", "h", 26e6, 9.8e6, -7e3, SLOPE},
        {"b", "h", 24e6, 9.7e6, -9e3, SLOPE}, {"c", "h", 20e6, 9.0e6, 2e3, SLOPE},
    };
    assert_night(runs, 6, 0);
    /* Two: those of the later one. */
    assert_night(runs, 5, 0);
    /* Other conditions than the latest. */
    night_process hosts[6];
    memcpy(hosts, runs, sizeof hosts);
    hosts[0].host = hosts[3].host = "other";
    assert_night(hosts, 6, 2);
    /* Two sources are never pooled, and what fewer than half could tell is none. */
    night_process sources[6];
    memcpy(sources, runs, sizeof sources);
    sources[5].source = sources[4].source = sources[1].source = PROFILER;
    assert_night(sources, 6, 0);
    sources[1].source = SLOPE;
    assert_night(sources, 6, 0);
    /* Device time is cut at the wall time. */
    const night_process long_ones[] = {{"", "h", 20e6, 15e6, 5e3, SLOPE},
                                       {"", "h", 21e6, 28e6, 5e3, SLOPE},
                                       {"", "h", 20e6, 33e6, 5e3, SLOPE}};
    assert_night(long_ones, 3, 0);
}

static void write_nights(const place *p, const double *overhead_ns, size_t count)
{
    for (size_t day = 1; day <= count; day++)
        for (size_t i = 0; i < 3; i++) {
            const double off = ((double)i - 1) * 2e3;
            const night_process process = {"", "h", 20e6, 9e6, overhead_ns[day - 1] + off, SLOPE};
            write_process(p, (int)day, i, &process);
        }
}

/* The middle night lies below zero; left out, it would lift the level. */
static void nights_below_zero_are_nights(void **state)
{
    const place *p = *state;
    static const double overhead_ns[] = {4e3, 6e3, 8e3, -4e3, 4e3, 60e3, -9e3, 5e3};
    res_index index;
    res_history history;
    bn_text out = {0};
    write_nights(p, overhead_ns, 8);
    load_history(p, RES_METRIC_OVERHEAD, &index, &history);
    const res_timeline *series = &history.series[0];
    assert_int_equal(series->count, 8);
    /* Below zero by more than its interval it contradicts itself, and tables leave it out, too. */
    assert_true(isnan(series->nights[6].value));
    for (size_t i = 0; i < 8; i++)
        if (i != 6)
            assert_near(series->nights[i].value, overhead_ns[i], 1e-3);
    /* Student's t: half is 4.3027 * 2 us / sqrt(3), 4.97 us. */
    assert_near(series->nights[3].high - series->nights[3].value, 4.3027 * 2e3 / sqrt(3), 1);
    assert_true(res_night_significant(&series->nights[1]));
    assert_false(res_night_significant(&series->nights[3]));
    assert_false(res_night_significant(&series->nights[4]));
    assert_int_equal(series->insignificant, 3);
    assert_true(series->no_ratios);
    assert_int_equal(series->stretch_count, 1);
    assert_int_equal(series->stretches[0].nights, 7);
    assert_near(series->stretches[0].median, 5e3, 1e-3);
    res_table_history(&history, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, "3 of 8 nights "));
    assert_non_null(strstr(out.data, ", 2026-01-08: 5.00 us"));
    /* The seventh night's is significantly below zero: it was measured, and is refused. */
    assert_non_null(strstr(out.data, "1 night without a figure: 1 " RES_UNKNOWN_TEXT "\n"));
    bn_text_clear(&out);
    res_table_history(&history, RES_TABLE_JSON, &out);
    json_t *all = json_loads(out.data, 0, NULL);
    const json_t *night = json_array_get(json_object_get(json_array_get(all, 0), "nights"), 4);
    assert_near(json_real_value(json_object_get(night, "value_ns")), 4e3, 1e-3);
    assert_near(json_real_value(json_object_get(night, "low_ns")), 4e3 - 4.3027 * 2e3 / sqrt(3), 1);
    assert_true(json_is_false(json_object_get(night, "told")));
    assert_true(json_is_false(json_object_get(night, "refused")));
    night = json_array_get(json_object_get(json_array_get(all, 0), "nights"), 6);
    assert_true(json_is_null(json_object_get(night, "value_ns")));
    assert_true(json_is_false(json_object_get(night, "told")));
    assert_true(json_is_true(json_object_get(night, "refused")));
    json_decref(all);
    bn_text_free(&out);
    res_history_free(&history);
    res_index_free(&index);
}

static void a_latest_night_without_significance_has_no_time(void **state)
{
    const place *p = *state;
    static const double overhead_ns[] = {4e3, 1e3};
    res_index index;
    res_history history;
    bn_text out = {0};
    write_nights(p, overhead_ns, 2);
    load_history(p, RES_METRIC_OVERHEAD, &index, &history);
    res_table_history(&history, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, ", 2026-01-02: < 5.97 us"));
    bn_text_free(&out);
    res_history_free(&history);
    res_index_free(&index);
}

static void another_source_of_device_time_is_said(void **state)
{
    const place *p = *state;
    res_index index;
    res_history history;
    bn_text out = {0};
    for (int day = 1; day <= 16; day++) {
        const bool late = day > 8;
        const night_process process = {"",   "h",
                                       20e6, (late ? 9e6 : 7e6) * (1 + 0.002 * (day % 3)),
                                       5e3,  late ? PROFILER : SLOPE};
        write_process(p, day, 0, &process);
    }
    load_history(p, RES_METRIC_DEVICE, &index, &history);
    assert_int_equal(history.series[0].stretch_count, 2);
    assert_true(history.series[0].stretches[1].other_source);
    res_table_history(&history, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, "same build, other source"));
    bn_text_free(&out);
    res_history_free(&history);
    res_index_free(&index);
}

/* ---- crafted stores ---------------------------------------------------------------------------
 */

#define CROWD 100000

/* Records of one cell and one span, each with a seed of its own: looked at in pairs, they would
 * take minutes. */
static void a_crowd_in_one_span_takes_its_number_of_analyses(void **state)
{
    (void)state;
    res_experiment *experiments = calloc(CROWD, sizeof *experiments);
    const res_experiment **list = calloc(CROWD, sizeof(const res_experiment *));
    res_summary *records = calloc(CROWD, sizeof *records);
    static res_origin origin = {.label = "x"};
    const res_history_options o = res_history_defaults();
    res_history history;
    bn_status st = {0};
    assert_true(experiments && list && records);
    snprintf(origin.sha256, sizeof origin.sha256, "%s", fixture_digest("aa"));
    for (size_t i = 0; i < CROWD; i++) {
        strcpy(experiments[i].model, "resnet18");
        strcpy(experiments[i].settings, "device_us=20");
        experiments[i].seed = i + 1;
        list[i] = &experiments[i];
        records[i] = (res_summary){.file = records[i].id,
                                   .experiment = i,
                                   .origin = &origin,
                                   .status = BN_OK,
                                   .steps = 1,
                                   .wall_ns = 1e6,
                                   .source = "unavailable",
                                   .written_ns = INT64_MAX};
        snprintf(records[i].id, sizeof records[i].id, "20260101T020000.%09zuZ-h-1-0", i);
    }
    const res_index index = {
        .records = records, .count = CROWD, .experiments = list, .experiment_count = CROWD};
    const clock_t before = clock();
    assert_ok(res_history_make(&index, &o, &history, &st), &st);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 10);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.series[0].nights[0].processes, CROWD);
    res_history_free(&history);
    free(records);
    free(list);
    free(experiments);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nights_gather_processes_of_one_build),
        TEST(runs_of_a_night_are_looks),
        TEST(changes_tell_builds_and_hosts),
        TEST(labels_and_files_of_one_night_are_entries),
        TEST(changed_settings_are_a_change_within_a_series),
        TEST(another_version_of_a_framework_is_reported),
        TEST(another_kernel_is_no_other_framework),
        TEST(bench_has_no_framework),
        TEST(records_of_the_future_are_in_no_series),
        cmocka_unit_test(a_night_has_the_figures_of_the_table),
        TEST(nights_below_zero_are_nights),
        TEST(a_latest_night_without_significance_has_no_time),
        TEST(another_source_of_device_time_is_said),
        cmocka_unit_test(a_crowd_in_one_span_takes_its_number_of_analyses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
