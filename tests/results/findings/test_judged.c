/*
 * test_judged.c - figures of a cell that are judged besides the wall time, on hand-made records:
 * which measures are known, from when a change counts, the headline, and when more pairs are
 * needless. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/findings/findings.h"
#include "results/tables/tables.h"
#include "tests/support/test_runtime.h"

#define PAIRS 12
#define STEPS 21

/* Differences of the processes of B from those of A. Zero: none. */
typedef struct change {
    double wall, device, compile, host, peak; /* shares */
    double overhead_ns;
    double spread, device_spread; /* of the processes of both */
    double host_bytes;            /* of A; 0: 200 MB */
    bool slope;                   /* device times are no profiler's */
} change;

static res_record *process(const change *c, bool of_b, uint64_t *seed)
{
    const double more = of_b ? 1 : 0;
    const double spread = c->spread > 0 ? c->spread : 0.002;
    fixture_case own = fixture_lazy;
    own.graphs = 1;
    own.wall_ns = (uint64_t)(25e6 * (1 + more * c->wall) * (1 + spread * fixture_uniform(seed)));
    res_record *r = fixture_record(&own, STEPS);
    res_execution *x = &r->executions[0];
    const double overhead = 2e6 + more * c->overhead_ns;
    /* The page cache holds more of one side's plugin: that is not memory of the process. */
    const json_int_t of_files = of_b ? 90000000 : 60000000;
    x->device_ns = 9e6 * (1 + more * c->device) * (1 + c->device_spread * fixture_uniform(seed));
    x->device_source = c->slope ? BN_DEVICE_TIME_SLOPE : BN_DEVICE_TIME_PROFILER;
    x->overhead_ns = overhead * (1 + 0.0001 * fixture_uniform(seed));
    x->compile_ns = (uint64_t)(3e9 * (1 + more * c->compile) * (1 + 0.01 * fixture_uniform(seed)));
    x->peak_bytes = (int64_t)(1e6 * (1 + more * c->peak));
    const double host_bytes = c->host_bytes > 0 ? c->host_bytes : 2e8;
    if (c->host != 0)
        json_object_set_new(r->provenance, "memory",
                            json_pack("{sI sI}", "peak_rss_bytes",
                                      (json_int_t)(host_bytes * (1 + more * c->host) *
                                                   (1 + 0.001 * fixture_uniform(seed))) +
                                          of_files,
                                      "file_rss_bytes", of_files));
    return r;
}

/* One judged cell, which owns its records. */
typedef struct judged {
    res_record *a[PAIRS], *b[PAIRS];
    res_compared cell;
    res_versus versus;
} judged;

static judged *judge(change c, double threshold, bool all_measures, bool control)
{
    judged *j = calloc(1, sizeof *j);
    bn_status st = {0};
    uint64_t seed = 98;
    assert_non_null(j);
    res_versus_begin(&j->versus, threshold);
    j->versus.cells = &j->cell;
    j->versus.count = 1;
    j->versus.all_measures = all_measures;
    for (size_t i = 0; i < PAIRS; i++) {
        j->a[i] = process(&c, false, &seed);
        j->b[i] = process(&c, true, &seed);
        j->cell.a[i] = j->a[i];
        j->cell.b[i] = j->b[i];
    }
    j->cell.experiment = j->a[0]->experiment;
    j->cell.pairs = PAIRS;
    j->cell.control = control;
    assert_ok(res_versus_judge(&j->versus, &st), &st);
    return j;
}

static void release(judged *j)
{
    for (size_t i = 0; i < PAIRS; i++) {
        res_record_free(j->a[i]);
        res_record_free(j->b[i]);
    }
    bn_text_free(&j->versus.notes);
    free(j);
}

static void assert_headline(change c, double threshold, res_verdict verdict, res_measure measure,
                            bool little)
{
    judged *j = judge(c, threshold, true, false);
    const res_headline head = res_compared_headline(&j->versus, &j->cell);
    assert_string_equal(res_verdict_name(head.verdict), res_verdict_name(verdict));
    assert_string_equal(res_measure_words(head.measure), res_measure_words(measure));
    assert_int_equal(head.little, little);
    release(j);
}

static res_known known(const judged *j, res_measure measure)
{
    return j->cell.judged[measure].known;
}

/* ---- the family --------------------------------------------------------------------------- */

static void what_is_equal_or_unknown_takes_no_share(void **state)
{
    (void)state;
    judged *j = judge((change){.wall = 0}, 0, true, false);
    assert_int_equal(known(j, RES_MEASURE_DEVICE), RES_KNOWN_EQUAL);
    assert_int_equal(known(j, RES_MEASURE_OVERHEAD), RES_KNOWN_JUDGED);
    assert_int_equal(known(j, RES_MEASURE_COMPILE), RES_KNOWN_JUDGED);
    assert_int_equal(known(j, RES_MEASURE_HOST), RES_KNOWN_NOT);
    assert_int_equal(known(j, RES_MEASURE_PEAK), RES_KNOWN_EQUAL);
    assert_null(res_compared_measure(&j->cell, RES_MEASURE_DEVICE));
    /* Wall time, overhead and compile time. */
    assert_int_equal(j->versus.family, 3);
    /* The wall time has four parts of six. */
    assert_near(j->cell.comparison.level, 0.04 * 4 / 6, 1e-12);
    assert_near(res_compared_measure(&j->cell, RES_MEASURE_OVERHEAD)->level, 0.04 / 6, 1e-12);
    /* One process that does not know makes it unknown: it came from the disk. */
    bn_status st = {0};
    j->b[3]->executions[0].from_disk = true;
    assert_ok(res_versus_judge(&j->versus, &st), &st);
    assert_int_equal(known(j, RES_MEASURE_COMPILE), RES_KNOWN_NOT);
    assert_int_equal(j->versus.family, 2);
    release(j);
    j = judge((change){.device = 0.2}, 0, false, false);
    assert_int_equal(j->versus.family, 1);
    assert_int_equal(res_compared_headline(&j->versus, &j->cell).verdict, RES_EQUIVALENT);
    release(j);
}

/* ---- headlines ------------------------------------------------------------------------------ */

static void a_device_time_that_the_host_hides_is_found(void **state)
{
    (void)state;
    judged *j = judge((change){.device = 0.2}, 0, true, false);
    const res_headline head = res_compared_headline(&j->versus, &j->cell);
    const res_comparison *c = res_compared_measure(&j->cell, RES_MEASURE_DEVICE);
    bn_text text = {0};
    assert_int_equal(j->cell.comparison.verdict, RES_EQUIVALENT);
    assert_int_equal(head.verdict, RES_SLOWER);
    assert_int_equal(head.measure, RES_MEASURE_DEVICE);
    /* Exact: each side has one value in all its processes. */
    assert_int_equal(c->test, RES_TEST_CONSTANT);
    assert_near(c->ratio.estimate, 1.2, 1e-9);
    const res_versus_sum sum = res_versus_add_up(&j->versus);
    assert_int_equal(sum.slower, 1);
    assert_int_equal(sum.equivalent, 0);
    res_versus_summary(&j->versus, &text);
    assert_non_null(strstr(text.data, "1 of 1 slower (resnet50 train lazy: device time 20.0 % "
                                      "slower)"));
    for (res_format f = RES_TABLE_TEXT; f <= RES_TABLE_CSV; f++) {
        bn_text_clear(&text);
        res_table_versus(&j->versus, f, &text);
        assert_non_null(strstr(text.data, f == RES_TABLE_CSV ? "slower,device,1,1.2,1.2,1.2"
                                                             : "device time 20.0 % slower"));
    }
    bn_text_free(&text);
    release(j);
}

static void each_measure_counts_from_its_own_change_on(void **state)
{
    (void)state;
    /* By so much, and a little less; the machine's spread is far below. */
    assert_headline((change){.compile = 0.12}, 0, RES_SLOWER, RES_MEASURE_COMPILE, false);
    assert_headline((change){.compile = 0.08}, 0, RES_EQUIVALENT, RES_MEASURE_WALL, false);
    assert_headline((change){.host = 0.06}, 0, RES_SLOWER, RES_MEASURE_HOST, false);
    assert_headline((change){.host = 0.04}, 0, RES_EQUIVALENT, RES_MEASURE_WALL, false);
    /* 4.5 MB are a few huge pages, which like processes differ by. */
    assert_headline((change){.host = 0.15, .host_bytes = 3e7}, 0, RES_EQUIVALENT, RES_MEASURE_WALL,
                    false);
    assert_headline((change){.host = 0.6, .host_bytes = 3e7}, 0, RES_SLOWER, RES_MEASURE_HOST,
                    false);
    assert_headline((change){.peak = 0.015}, 0, RES_SLOWER, RES_MEASURE_PEAK, false);
    assert_headline((change){.peak = 0.005}, 0, RES_EQUIVALENT, RES_MEASURE_WALL, false);
    /* 0.5 and 0.2 ms of steps of 25 ms. */
    assert_headline((change){.overhead_ns = 5e5}, 0, RES_SLOWER, RES_MEASURE_OVERHEAD, false);
    assert_headline((change){.overhead_ns = 2e5}, 0, RES_EQUIVALENT, RES_MEASURE_WALL, false);
    assert_headline((change){.device = 0.02}, 0, RES_SLOWER, RES_MEASURE_DEVICE, false);
    assert_headline((change){.device = 0.005}, 0, RES_SLOWER, RES_MEASURE_DEVICE, true);
    /* The session's threshold holds for all. */
    assert_headline((change){.compile = 0.12}, 0.15, RES_EQUIVALENT, RES_MEASURE_WALL, false);
    assert_headline((change){.device = 0.12}, 0.15, RES_SLOWER, RES_MEASURE_DEVICE, true);
    /* Less time is faster; less of the others is no headline. */
    assert_headline((change){.device = -0.2}, 0, RES_FASTER, RES_MEASURE_DEVICE, false);
    assert_headline((change){.compile = -0.2}, 0, RES_EQUIVALENT, RES_MEASURE_WALL, false);
    assert_headline((change){.host = -0.2, .spread = 0.35}, 0, RES_UNDECIDED, RES_MEASURE_WALL,
                    false);
}

static void what_is_worse_comes_first(void **state)
{
    (void)state;
    /* The wall time before larger changes of others; what is slower before what is faster. */
    assert_headline((change){.wall = 0.05, .compile = 0.5}, 0, RES_SLOWER, RES_MEASURE_WALL, false);
    assert_headline((change){.wall = -0.05, .host = 0.2}, 0, RES_SLOWER, RES_MEASURE_HOST, false);
    assert_headline((change){.peak = 0.3, .compile = 0.2}, 0, RES_SLOWER, RES_MEASURE_PEAK, false);
    /* A finding before a smaller change. */
    assert_headline((change){.wall = 0.01, .device = -0.2}, 0.03, RES_FASTER, RES_MEASURE_DEVICE,
                    false);
    assert_headline((change){.wall = 0.01, .host = -0.2}, 0.03, RES_SLOWER, RES_MEASURE_WALL, true);
    assert_headline((change){.wall = 0.01}, 0.03, RES_SLOWER, RES_MEASURE_WALL, true);
}

static void assert_change(res_measure measure, double ratio, const char *wanted)
{
    bn_text text = {0};
    res_put_change(measure, ratio, &text);
    assert_string_equal(text.data, wanted);
    bn_text_free(&text);
}

static void changes_are_said_in_the_words_of_the_measure(void **state)
{
    (void)state;
    assert_change(RES_MEASURE_WALL, 1.0512, "5.1 % slower");
    assert_change(RES_MEASURE_DEVICE, 0.8, "20.0 % faster");
    assert_change(RES_MEASURE_HOST, 1.12, "12.0 % more");
    assert_change(RES_MEASURE_PEAK, 0.995, "0.50 % less");
    assert_change(RES_MEASURE_PEAK, 1.00001, "<0.01 % more");
    /* Of the overhead, shares of a step; a ratio of 1/1.04 stands for one of -4 %. */
    assert_change(RES_MEASURE_OVERHEAD, 1.04, "4.0 % of a step more");
    assert_change(RES_MEASURE_OVERHEAD, 1 / 1.04, "4.0 % of a step less");
}

/* ---- when more pairs are needless --------------------------------------------------------------
 */

static void assert_decided(change c, double threshold, bool decided, bool open)
{
    judged *j = judge(c, threshold, true, false);
    assert_int_equal(res_compared_decided(&j->versus, &j->cell), decided);
    assert_int_equal(res_compared_open(&j->versus, &j->cell), open);
    release(j);
}

static void wall_and_profiled_device_time_are_to_be_decided(void **state)
{
    (void)state;
    assert_decided((change){.wall = 0}, 0.03, true, false);
    /* A wall time that varies is not decided, */
    assert_decided((change){.spread = 0.35}, 0.03, false, true);
    /* unless another measure says that B is slower: */
    assert_decided((change){.spread = 0.35, .device = 0.2}, 0.03, true, true);
    /* that it is faster, or slower by little, says less. */
    assert_decided((change){.spread = 0.35, .device = -0.2}, 0.03, false, true);
    assert_decided((change){.spread = 0.35, .device = 0.02}, 0.03, false, true);
    /* Slower by little is decided only where what counts is excluded. */
    assert_decided((change){.wall = 0.01}, 0.03, true, false);
    assert_decided((change){.wall = 0.028, .spread = 0.01}, 0.03, false, true);
    assert_decided((change){.wall = 0.028, .spread = 0.01}, 0.06, true, false);
    assert_decided((change){.device = 0.028, .device_spread = 0.01}, 0.03, false, true);
    /* Device times that vary are waited for where a profiler tells them. */
    assert_decided((change){.device_spread = 0.3}, 0.03, false, true);
    assert_headline((change){.device_spread = 0.3}, 0.03, RES_UNDECIDED, RES_MEASURE_DEVICE, false);
    assert_decided((change){.device_spread = 0.3, .slope = true}, 0.03, true, false);
    assert_headline((change){.device_spread = 0.3, .slope = true}, 0.03, RES_EQUIVALENT,
                    RES_MEASURE_WALL, false);
}

static void assert_summary(change c, double threshold, const char *wanted)
{
    judged *j = judge(c, threshold, true, false);
    bn_text text = {0};
    res_versus_summary(&j->versus, &text);
    assert_string_equal(text.data, wanted);
    bn_text_free(&text);
    release(j);
}

/* "0 of 1 slower" is said only where nothing could hide. */
static void what_is_undecided_is_not_counted_as_not_slower(void **state)
{
    (void)state;
    assert_summary((change){.wall = 0}, 0.03, "0 of 1 slower, 1 equivalent; no A/A control");
    assert_summary((change){.spread = 0.35}, 0.03, "undecided: 1 of 1; no A/A control");
    /* A faster device hides no slower step, nor does a device that is slower by little. */
    assert_summary((change){.spread = 0.35, .device = -0.2}, 0.03,
                   "undecided: 1 of 1, 1 faster by a measure; no A/A control");
    assert_summary((change){.spread = 0.35, .device = 0.02}, 0.03,
                   "undecided: 1 of 1, 1 slower by no more than 3 %; no A/A control");
    assert_summary(
        (change){.spread = 0.35, .device = 0.2}, 0.03,
        "1 of 1 slower (resnet50 train lazy: device time 20.0 % slower); no A/A control");
    /* Not by more than half, whatever else it is. */
    assert_summary((change){.device_spread = 0.3}, 0.9,
                   "0 of 1 slower, 1 equivalent; no A/A control");
}

/* The summary of a judged cell and one that failed, or of one that failed. */
static void assert_summary_of_failed(const change *c, const char *wanted)
{
    judged *j = judge(c ? *c : (change){.wall = 0}, 0.03, true, false);
    res_compared cells[2] = {{.failed = 'B', .failure = BN_CRASH}, j->cell};
    bn_text text = {0};
    j->versus.cells = cells;
    j->versus.count = c ? 2 : 1;
    res_versus_summary(&j->versus, &text);
    assert_string_equal(text.data, wanted);
    bn_text_free(&text);
    j->versus.cells = &j->cell;
    release(j);
}

/* Of what failed nobody knows that it is not slower, and it is no part of what was judged. */
static void what_failed_is_not_counted_as_not_slower(void **state)
{
    (void)state;
    const change none = {.wall = 0}, wide = {.spread = 0.35}, slow = {.device = 0.2};
    assert_summary_of_failed(NULL, "1 of 1 failed; no A/A control");
    assert_summary_of_failed(&none, "1 of 2 failed, 1 equivalent; no A/A control");
    assert_summary_of_failed(&wide, "undecided: 1 of 1, 1 failed; no A/A control");
    assert_summary_of_failed(
        &slow,
        "1 of 1 slower (resnet50 train lazy: device time 20.0 % slower), 1 failed; no A/A control");
}

static void a_control_alarms_by_any_measure(void **state)
{
    (void)state;
    judged *j = judge((change){.compile = 0.08}, 0.03, true, true);
    res_versus_sum sum = res_versus_add_up(&j->versus);
    assert_int_equal(sum.controls, 1);
    assert_int_equal(sum.alarms, 1);
    assert_int_equal(sum.slower + sum.equivalent, 0);
    release(j);
    j = judge((change){.wall = 0}, 0.03, true, true);
    sum = res_versus_add_up(&j->versus);
    assert_int_equal(sum.alarms, 0);
    release(j);
}

/* ---- plans --------------------------------------------------------------------------------- */

/* The plan by which a pair of records is judged whose provenance has MEMBER. */
static res_plan plan_of(const char *member, const char *json, bool is_short)
{
    uint64_t seed = 3;
    const change none = {.wall = 0};
    res_record *records[2][2];
    const res_choice choice[2] = {{.store = "left"}, {.store = "right"}};
    res_versus v;
    bn_status st = {0};
    for (size_t i = 0; i < 4; i++) {
        res_record *r = records[i / 2][i % 2] = process(&none, false, &seed);
        if (member)
            json_object_set_new(r->provenance, member, json_loads(json, 0, NULL));
        for (size_t k = 0; is_short && k < r->step_count; k++)
            r->wall_ns[k] /= 20;
    }
    const res_collection a = {.records = records[0], .count = 2},
                         b = {.records = records[1], .count = 2};
    res_versus_begin(&v, 0);
    assert_ok(res_versus_pair(&a, &b, choice, &v, &st), &st);
    const res_plan plan = v.cells[0].plan;
    res_versus_free(&v);
    for (size_t i = 0; i < 4; i++)
        res_record_free(records[i / 2][i % 2]);
    return plan;
}

static void records_say_how_they_were_planned(void **state)
{
    (void)state;
    assert_int_equal(plan_of("comparison", "{\"plan\": \"6,12,24\"}", false), RES_PLAN_USUAL);
    assert_int_equal(plan_of("comparison", "{\"plan\": \"6,12\"}", true), RES_PLAN_TWELVE);
    assert_int_equal(plan_of("comparison", "{\"plan\": \"once\"}", false), RES_PLAN_ONCE);
    /* Those of earlier versions, by their options; the first pair says whether steps are short. */
    const char *open = "{\"pairs\": 0, \"precision\": 0.0}";
    assert_int_equal(plan_of("options", open, false), RES_PLAN_OLD);
    assert_int_equal(plan_of("options", open, true), RES_PLAN_OLD_SHORT);
    assert_int_equal(plan_of("options", "{\"pairs\": 8, \"precision\": 0.0}", false),
                     RES_PLAN_ONCE);
    assert_int_equal(plan_of("options", "{\"pairs\": 0, \"precision\": 0.01}", false),
                     RES_PLAN_ONCE);
    /* Those of a run or a suite have neither. */
    assert_int_equal(plan_of("options", "{\"steps\": 8}", false), RES_PLAN_ONCE);
    assert_int_equal(plan_of(NULL, NULL, false), RES_PLAN_ONCE);
}

/* ---- slow processes ------------------------------------------------------------------------- */

static void slow_processes_are_told_and_count(void **state)
{
    (void)state;
    judged *j = judge((change){.wall = 0}, 0.03, false, false);
    bn_status st = {0};
    bn_text text = {0};
    assert_int_equal(j->cell.comparison.verdict, RES_EQUIVALENT);
    assert_false(j->versus.b_slow);
    /* A quarter of B takes one and a half times as long: too few of twelve for the count. */
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < j->b[4 * i]->step_count; k++)
            j->b[4 * i]->wall_ns[k] = j->b[4 * i]->wall_ns[k] * 3 / 2;
    assert_ok(res_versus_judge(&j->versus, &st), &st);
    res_headline head = res_compared_headline(&j->versus, &j->cell);
    res_versus_sum sum = res_versus_add_up(&j->versus);
    assert_int_equal(head.verdict, RES_UNEVEN);
    assert_int_equal(sum.uneven, 1);
    assert_int_equal(sum.inconclusive, 1);
    assert_int_equal(sum.undecided + sum.equivalent, 0);
    assert_true(res_compared_open(&j->versus, &j->cell));
    assert_false(res_compared_decided(&j->versus, &j->cell));
    assert_int_equal(j->versus.slow.slow[1], 3);
    assert_int_equal(j->versus.slow.of[1], PAIRS);
    assert_int_equal(j->versus.slow.slow[0], 0);
    assert_false(j->versus.b_slow);
    res_compared_put_slow(&j->cell, RES_MEASURE_WALL, &text);
    assert_true(text.length > 0);
    /* Four experiments like it are no chance. */
    res_compared cells[4] = {j->cell, j->cell, j->cell, j->cell};
    j->versus.cells = cells;
    j->versus.count = 4;
    assert_ok(res_versus_judge(&j->versus, &st), &st);
    assert_true(j->versus.b_slow);
    assert_true(j->versus.slow_p < 0.001);
    assert_int_equal(j->versus.slow.slow[1], 12);
    /* As controls they are A's. */
    for (size_t i = 1; i < 4; i++)
        cells[i].control = true;
    assert_ok(res_versus_judge(&j->versus, &st), &st);
    assert_false(j->versus.b_slow);
    assert_int_equal(j->versus.slow.slow[0], 9);
    assert_int_equal(j->versus.slow.of[0], 7 * PAIRS);
    j->versus.cells = &j->cell;
    bn_text_free(&text);
    release(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_equal_or_unknown_takes_no_share),
        cmocka_unit_test(a_device_time_that_the_host_hides_is_found),
        cmocka_unit_test(each_measure_counts_from_its_own_change_on),
        cmocka_unit_test(what_is_worse_comes_first),
        cmocka_unit_test(changes_are_said_in_the_words_of_the_measure),
        cmocka_unit_test(wall_and_profiled_device_time_are_to_be_decided),
        cmocka_unit_test(what_is_undecided_is_not_counted_as_not_slower),
        cmocka_unit_test(what_failed_is_not_counted_as_not_slower),
        cmocka_unit_test(a_control_alarms_by_any_measure),
        cmocka_unit_test(records_say_how_they_were_planned),
        cmocka_unit_test(slow_processes_are_told_and_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
