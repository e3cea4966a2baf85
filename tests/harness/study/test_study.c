/*
 * test_study.c - conclusions of studies from records whose lines are known: figures, sentences by
 * their identifiers, records that are left out. Needs no plugin; check_study.sh measures.
 */
#include "harness/study/study_priv.h"
#include "tests/support/results_fixture.h"

#define TURNS 4
#define MOST  16

/* Times of a step of one experiment, in ms. */
typedef struct given {
    const char *mode;
    int64_t value; /* of the swept axis */
    double step, host, device;
    int executions;
    int64_t nodes;
} given;

static study_kind kind_of(res_axis_id axis, void (*conclude)(study *s))
{
    return (study_kind){.name = "test",
                        .axis = axis,
                        .equation = "equation",
                        .unit = "unit",
                        .across = "value",
                        .conclude = conclude};
}

/* A record of G, all of whose times are SHARE of what it says. */
static res_record *record_of(const given *g, res_axis_id axis, double share)
{
    res_record *r = res_record_new();
    bn_status st = {.code = BN_OK};
    assert_non_null(r);
    res_experiment_usual(&r->experiment);
    snprintf(r->experiment.mode, sizeof r->experiment.mode, "%s", g->mode);
    res_axis_set_value(&res_axes[axis], NULL, g->value, &r->experiment);
    assert_int_equal(res_record_reserve_steps(r, 4, 0, &st), BN_OK);
    assert_int_equal(res_record_reserve_executions(r, (size_t)g->executions, &st), BN_OK);
    for (size_t i = 0; i < 4; i++) {
        uint64_t *parts = r->part_ns + i * BN_PART_COUNT;
        r->wall_ns[i] = (uint64_t)(g->step * share * 1e6 + 0.5);
        parts[BN_PART_TRACE] = (uint64_t)(g->host * share * 1e6 + 0.5);
        parts[BN_PART_WAIT] = r->wall_ns[i] - parts[BN_PART_TRACE];
    }
    for (int i = 0; i < g->executions; i++) {
        r->executions[i].per_step = 1;
        r->executions[i].device_ns = g->device * share * 1e6 / g->executions;
        r->executions[i].device_source = BN_DEVICE_TIME_SLOPE;
        r->executions[i].overhead_ns = 1e6 * share;
    }
    r->step_counters[BN_COUNTER_NODES_TRACED] = g->nodes * 4;
    return r;
}

/* A study of COUNT experiments LIST in TURNS turns that differ by a few percent. To be
 * freed. */
static study make(const study_kind *kind, const given *list, size_t count)
{
    static const double shares[TURNS] = {0.99, 1.01, 1.02, 0.98};
    study s = {.kind = kind,
               .list = calloc(MOST, sizeof *s.list),
               .count = count,
               .records = calloc(TURNS * count, sizeof(res_record *)),
               .room = TURNS,
               .turns = TURNS};
    assert_non_null(s.list);
    assert_non_null(s.records);
    for (size_t i = 0; i < count; i++) {
        res_experiment *what = &s.list[i].what;
        res_experiment_usual(what);
        snprintf(what->mode, sizeof what->mode, "%s", list[i].mode);
        res_axis_set_value(&res_axes[kind->axis], NULL, list[i].value, what);
        for (size_t turn = 0; turn < TURNS; turn++)
            s.records[turn * count + i] = record_of(&list[i], kind->axis, shares[turn]);
    }
    return s;
}

/* Adds MS[turn] to the steps of EXPERIMENT, so that turns differ by it. */
static void disturb(study *s, size_t experiment, const double ms[TURNS])
{
    for (size_t turn = 0; turn < TURNS; turn++) {
        res_record *r = s->records[turn * s->count + experiment];
        for (size_t i = 0; i < r->step_count; i++)
            r->wall_ns[i] = (uint64_t)((double)r->wall_ns[i] + 1e6 * ms[turn]);
    }
}

static void say(study *s)
{
    study_select(s);
    if (s->processes > 0)
        s->kind->conclude(s);
}

/* The sentence ID, for free; NULL: it is not said. */
static char *sentence(const study *s, const char *id)
{
    const char *at = s->words.data;
    size_t i;
    const json_t *name;
    json_array_foreach(s->word_ids, i, name)
    {
        assert_non_null(at);
        const size_t length = strcspn(at, "\n");
        if (strcmp(json_string_value(name), id) == 0)
            return bn_strndup(at, length);
        at += length + 1;
    }
    return NULL;
}

/* S has the sentence ID, with FIGURE in it. */
static void assert_says(const study *s, const char *id, const char *figure)
{
    char *text = sentence(s, id);
    if (!text || !strstr(text, figure))
        fail_msg("%s has no '%s': '%s' in:\n%s", id, figure, text ? text : "", s->words.data);
    free(text);
}

static void assert_silent(const study *s, const char *id)
{
    char *text = sentence(s, id);
    if (text)
        fail_msg("%s is said: %s", id, text);
}

static double answer(const study *s, const char *name, const char *member)
{
    const json_t *value = json_object_get(s->answers, name);
    if (member)
        value = json_object_get(value, member);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* 2.05 ms are fixed, an item takes 0.5 ms: a tenth is fixed at 9 * 4.1. */
static void a_batch_hides_what_is_fixed(void **state)
{
    (void)state;
    const given list[] = {{"capture", 1, 2.55, 0.1, 2, 1, 0},
                          {"capture", 2, 3.05, 0.1, 2, 1, 0},
                          {"capture", 8, 6.05, 0.1, 2, 1, 0}};
    const study_kind kind = kind_of(RES_AXIS_BATCH, study_batch);
    study s = make(&kind, list, 3);
    say(&s);
    assert_int_equal(s.processes, TURNS);
    assert_near(s.lines[0].fit.base.mean, 2.05e6, 10);
    assert_near(s.lines[0].fit.slope.mean, 0.5e6, 10);
    assert_int_equal(s.lines[0].fit.verdict, RES_FIT_HOLDS);
    assert_near(answer(&s, "capture_batch", "estimate"), 36.9, 0.01);
    assert_says(&s, "capture.fixed", "2.05 ms (");
    assert_says(&s, "capture.batch_beyond", "batch 37 ");
    assert_silent(&s, "capture.batch");
    study_free(&s);
}

static void what_has_no_fixed_part_needs_no_batch(void **state)
{
    (void)state;
    const given list[] = {{"lazy", 1, 0.4, 0.1, 0.3, 1, 10},
                          {"lazy", 2, 1, 0.1, 0.8, 1, 10},
                          {"lazy", 4, 2, 0.1, 1.6, 1, 10}};
    const study_kind kind = kind_of(RES_AXIS_BATCH, study_batch);
    study s = make(&kind, list, 3);
    say(&s);
    assert_says(&s, "lazy.fixed_zero", "");
    study_free(&s);
}

static void a_bend_is_no_line(void **state)
{
    (void)state;
    const given list[] = {{"lazy", 1, 2, 0.1, 1, 1, 10},
                          {"lazy", 2, 3, 0.1, 1, 1, 10},
                          {"lazy", 4, 8, 0.1, 1, 1, 10}};
    const study_kind kind = kind_of(RES_AXIS_BATCH, study_batch);
    study s = make(&kind, list, 3);
    say(&s);
    assert_int_equal(s.lines[0].fit.verdict, RES_FIT_FAILS);
    assert_true(fabs(s.lines[0].fit.off) > 0.05);
    /* The sentence says how far off the line a point is, as the table does: 3 ms in place of
     * 3.503. A share of the 3 ms would be 16.8 %. */
    study_say_fits(&s);
    assert_near(study_off(&s.lines[0], 1), -0.1437, 0.001);
    assert_says(&s, "lazy.misfit", "14.4 % below");
    study_free(&s);
}

/* An experiment that failed at first is no point; a turn that lacks another one does not count. */
static void what_failed_is_left_out(void **state)
{
    (void)state;
    const given list[] = {{"capture", 8, 6, 0.1, 2, 1, 0},
                          {"capture", 1, 2.5, 0.1, 2, 1, 0},
                          {"capture", 16, 99, 0.1, 2, 1, 0},
                          {"capture", 2, 3, 0.1, 2, 1, 0}};
    const study_kind kind = kind_of(RES_AXIS_BATCH, study_batch);
    study s = make(&kind, list, 4);
    s.records[0 * 4 + 2]->status = BN_OUT_OF_MEMORY;
    s.records[2 * 4 + 1]->status = BN_CRASH;
    res_record_free(s.records[3 * 4 + 2]);
    s.records[3 * 4 + 2] = NULL;
    say(&s);
    assert_int_equal(s.processes, 3);
    assert_int_equal(s.turn[2], 3);
    assert_int_equal(s.lines[0].fit.points, 3);
    assert_int_equal(s.lines[0].place[0], 1);
    assert_int_equal(s.lines[0].place[2], 0);
    assert_near(s.lines[0].fit.slope.mean / s.lines[0].fit.base.mean, 0.25, 1e-6);
    study_free(&s);
}

static void nothing_that_went_well_is_no_study(void **state)
{
    (void)state;
    const given list[] = {{"capture", 1, 1, 0.1, 1, 1, 0}, {"capture", 2, 2, 0.1, 1, 1, 0}};
    const study_kind kind = kind_of(RES_AXIS_BATCH, study_batch);
    study s = make(&kind, list, 2);
    for (size_t i = 0; i < 2; i++)
        s.records[i]->status = BN_CRASH;
    say(&s);
    assert_int_equal(s.processes, 0);
    assert_int_equal(s.line_count, 0);
    study_free(&s);
}

/* Captured steps take 1 ms and 2 ms an execution, of which the device works 1.5 ms; half of the
 * overhead of 1 ms is exposed. Lazy takes 10 ms, as much as 4.5 executions. */
static void an_execution_has_its_price(void **state)
{
    (void)state;
    given list[] = {{"lazy", 1, 10, 6, 3, 1, 500},
                    {"capture", 1, 3, 0.5, 1.5, 1, 0},
                    {"capture", 2, 5, 0.5, 3, 2, 0},
                    {"capture", 3, 7, 0.5, 4.5, 3, 0},
                    {"capture", 5, 9, 0.5, 6, 4, 0}};
    const study_kind kind = kind_of(RES_AXIS_GRAPHS, study_graphs);
    study s = make(&kind, list, 5);
    say(&s);
    assert_near(s.lines[0].fit.slope.mean, 2e6, 10);
    assert_near(answer(&s, "crossing_executions", "estimate"), 4.5, 1e-3);
    assert_near(answer(&s, "exposed_share", "estimate"), 0.5, 1e-3);
    assert_near(answer(&s, "nodes", NULL), 500, 1e-9);
    assert_says(&s, "executions", "4 for 5");
    assert_says(&s, "cost", " 1 ms (");
    assert_says(&s, "cost_device", "1.5 ms (");
    assert_says(&s, "exposed", "50.0 %");
    assert_says(&s, "crossing", "From 5 ");
    /* The first one is awaited anyhow: 3 ms, and 1.5 ms for each further one. */
    assert_near(answer(&s, "crossing_queued", "estimate"), 1 + 7 / 1.5, 1e-3);
    assert_says(&s, "crossing_queued", "1.5 ms");
    assert_says(&s, "crossing_queued", "5.67 (");
    study_free(&s);
    /* Where only the device's part is waited for, they are queued already; where that part is zero,
     * no line crosses. */
    for (size_t i = 1; i < 5; i++)
        list[i].device = list[i].step;
    s = make(&kind, list, 5);
    say(&s);
    assert_says(&s, "crossing", "From 5 ");
    assert_null(json_object_get(s.answers, "crossing_queued"));
    assert_silent(&s, "crossing_queued");
    study_free(&s);
    for (size_t i = 1; i < 5; i++)
        list[i].device = 1.5;
    s = make(&kind, list, 5);
    say(&s);
    assert_silent(&s, "crossing_queued");
    study_free(&s);
}

/* Lazy takes as long as 0.95 executions. Where turns differ by more, that is no claim. */
static void the_first_execution_may_be_too_many(void **state)
{
    (void)state;
    static const double ms[TURNS] = {-1, 1, 0.8, -0.8};
    static const double overheads[TURNS] = {-1e6, 1.5e6, 2e6, -1.2e6};
    const given list[] = {{"lazy", 1, 2.9, 1, 1.5, 1, 500},
                          {"capture", 1, 3, 0.5, 1.5, 1, 0},
                          {"capture", 2, 5, 0.5, 3, 2, 0},
                          {"capture", 3, 7, 0.5, 4.5, 3, 0}};
    const study_kind kind = kind_of(RES_AXIS_GRAPHS, study_graphs);
    study s = make(&kind, list, 4);
    say(&s);
    assert_says(&s, "crossing_first", "0.95 (");
    study_free(&s);
    s = make(&kind, list, 4);
    disturb(&s, 0, ms);
    for (size_t i = 0; i < TURNS * 4; i++)
        for (size_t k = 0; k < s.records[i]->execution_count; k++)
            s.records[i]->executions[k].overhead_ns = overheads[i / 4];
    say(&s);
    assert_says(&s, "crossing_first_unknown", "");
    /* So is the overhead, a share of which could be waited for. */
    assert_says(&s, "exposed_unknown", "");
    assert_silent(&s, "exposed");
    study_free(&s);
}

/* Host 3 ms and device 2 ms: 5 ms one at a time, 3 ms with several in flight. */
static void two_in_flight_are_enough(void **state)
{
    (void)state;
    given list[] = {
        {"lazy", 4, 3, 3, 2, 1, 500}, {"lazy", 1, 5, 3, 2, 1, 500}, {"lazy", 2, 3, 3, 2, 1, 500}};
    const study_kind kind = kind_of(RES_AXIS_IN_FLIGHT, study_in_flight);
    study s = make(&kind, list, 3);
    say(&s);
    assert_near(answer(&s, "lazy_hidden", "estimate"), 2e6, 10);
    assert_near(answer(&s, "lazy_host", "estimate"), 3e6, 1e3);
    assert_near(answer(&s, "lazy_device", "estimate"), 2e6, 1e3);
    assert_near(answer(&s, "lazy_enough", NULL), 2, 0);
    assert_says(&s, "lazy.enough", "2 in flight");
    assert_says(&s, "lazy.device_hidden", "");
    study_free(&s);
    list[2].step = 4;
    s = make(&kind, list, 3);
    say(&s);
    assert_true(json_is_null(json_object_get(s.answers, "lazy_enough")));
    assert_says(&s, "lazy.enough_unknown", "4 in flight");
    study_free(&s);
}

/* 100 nodes: a tenth of a captured step of 1 ms is reached at 1,000 ns a node. */
static void tracing_becomes_the_bound(void **state)
{
    (void)state;
    given list[] = {{"lazy", 0, 1, 0.2, 0.8, 1, 100},      {"capture", 0, 1, 0.1, 0.8, 1, 0},
                    {"lazy", 2000, 1.2, 0.4, 0.8, 1, 100}, {"capture", 2000, 1, 0.1, 0.8, 1, 0},
                    {"lazy", 8000, 1.8, 1, 0.8, 1, 100},   {"capture", 8000, 1, 0.1, 0.8, 1, 0}};
    const study_kind kind = kind_of(RES_AXIS_TRACE_COST, study_trace_cost);
    study s = make(&kind, list, 6);
    say(&s);
    assert_near(s.lines[0].fit.slope.mean, 100, 1e-3);
    assert_near(answer(&s, "bound_from_ns", "estimate"), 1000, 0.1);
    assert_says(&s, "exposed", "100.0 %");
    assert_says(&s, "bound", "1 us (");
    study_free(&s);
    for (size_t i = 0; i < 6; i += 2)
        list[i].step += 1;
    s = make(&kind, list, 6);
    say(&s);
    assert_says(&s, "bound_always", "");
    study_free(&s);
}

/* 85 of 100 ns a node are exposed, and lazy is 12 % above capture without any. Where turns differ
 * by more than the hidden part or that distance, no sentence claims it. */
static void a_bound_must_be_significant(void **state)
{
    (void)state;
    static const double steep[TURNS] = {-0.3, 0.3, 0.2, -0.2};
    static const double high[TURNS] = {-0.1, 0.1, 0.08, -0.08};
    given list[] = {{"lazy", 0, 1, 0.1, 0.8, 1, 100},       {"capture", 0, 1, 0.1, 0.8, 1, 0},
                    {"lazy", 2000, 1.17, 0.1, 0.8, 1, 100}, {"capture", 2000, 1, 0.1, 0.8, 1, 0},
                    {"lazy", 8000, 1.68, 0.1, 0.8, 1, 100}, {"capture", 8000, 1, 0.1, 0.8, 1, 0}};
    const study_kind kind = kind_of(RES_AXIS_TRACE_COST, study_trace_cost);
    study s = make(&kind, list, 6);
    say(&s);
    assert_says(&s, "exposed_part", "");
    study_free(&s);
    s = make(&kind, list, 6);
    disturb(&s, 4, steep);
    say(&s);
    assert_says(&s, "exposed", "");
    study_free(&s);
    for (size_t i = 0; i < 6; i += 2)
        list[i].step += 0.12;
    s = make(&kind, list, 6);
    for (size_t i = 0; i < 6; i += 2)
        disturb(&s, i, high);
    say(&s);
    assert_silent(&s, "bound_always");
    assert_says(&s, "bound_perhaps", "from -");
    study_free(&s);
}

static void layers_add_up(void **state)
{
    (void)state;
    const given list[] = {{"lazy", 1, 2, 1.5, 0.5, 1, 110}, {"capture", 1, 0.6, 0.1, 0.5, 1, 0},
                          {"lazy", 2, 3, 2, 1, 1, 160},     {"capture", 2, 1.1, 0.1, 1, 1, 0},
                          {"lazy", 4, 5, 3, 2, 1, 260},     {"capture", 4, 2.1, 0.1, 2, 1, 0}};
    const study_kind kind = kind_of(RES_AXIS_DEPTH, study_depth);
    study s = make(&kind, list, 6);
    say(&s);
    assert_says(&s, "layer_nodes", "50 (50 to 50)");
    assert_says(&s, "layer_nodes", "500 us (");
    assert_says(&s, "layer_step", "1 ms (");
    assert_says(&s, "layer_tracing", "50.0 %");
    study_free(&s);
    /* There is no share of a time that is indistinguishable from zero. */
    static const double ms[TURNS] = {-3.5, 3.5, 3, -3};
    s = make(&kind, list, 6);
    disturb(&s, 4, ms);
    say(&s);
    assert_silent(&s, "layer_tracing");
    study_free(&s);
}

/* Steps of two executions, of 10 arguments a layer each; an execution has an overhead of 0.1 ms and
 * 100 ns an argument. */
static void arguments_of_cut_steps_cost_as_much(void **state)
{
    (void)state;
    const given list[] = {{"capture", 1, 2, 0.1, 1, 2, 0},
                          {"capture", 2, 3, 0.1, 2, 2, 0},
                          {"capture", 4, 5, 0.1, 4, 2, 0}};
    const study_kind kind = kind_of(RES_AXIS_DEPTH, study_arguments_of);
    study s = make(&kind, list, 3);
    for (size_t i = 0; i < TURNS * 3; i++)
        for (size_t k = 0; k < 2; k++) {
            res_execution *x = &s.records[i]->executions[k];
            x->arguments = 10 * (int)list[i % 3].value;
            x->overhead_ns = 1e5 + 100.0 * x->arguments;
        }
    say(&s);
    assert_near(answer(&s, "overhead_argument", "estimate"), 100, 1e-3);
    assert_says(&s, "overhead.cost", "200 us");
    /* The calls of these records take no time: that is no share of a step. */
    assert_silent(&s, "share");
    study_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_hides_what_is_fixed),
        cmocka_unit_test(what_has_no_fixed_part_needs_no_batch),
        cmocka_unit_test(a_bend_is_no_line),
        cmocka_unit_test(what_failed_is_left_out),
        cmocka_unit_test(nothing_that_went_well_is_no_study),
        cmocka_unit_test(an_execution_has_its_price),
        cmocka_unit_test(the_first_execution_may_be_too_many),
        cmocka_unit_test(two_in_flight_are_enough),
        cmocka_unit_test(tracing_becomes_the_bound),
        cmocka_unit_test(a_bound_must_be_significant),
        cmocka_unit_test(layers_add_up),
        cmocka_unit_test(arguments_of_cut_steps_cost_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
