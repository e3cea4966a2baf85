/*
 * test_doctor.c - each rule of the doctor: it finds what was planted, says what that costs, and is
 * silent about what is healthy. Needs no plugin.
 */
#include "tests/results/doctor/doctor_fixture.h"

static void the_healthy_draw_none(void **state)
{
    (void)state;
    draws_none(&healthy);
    planted p = healthy;
    p.mode = "lazy"; /* it traces for less than the least part */
    p.part_ns[BN_PART_TRACE] = 300000;
    draws_none(&p);
}

static void tracing_is_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.mode = "lazy";
    p.part_ns[BN_PART_TRACE] = 4000000;
    p.part_ns[BN_PART_HASH] = 0;
    draws(&p, RES_RULE_TRACING, 4e6, 100);
    /* So it is of any mode that traces each step. */
    p.mode = "other";
    draws(&p, RES_RULE_TRACING, 4e6, 100);
    p.mode = "eager";
    draws_none(&p);
    /* In capture it is not the trace of a step. */
    p.mode = "capture";
    draws_none(&p);
}

/* Behind the device there is room for all of a trace that is shorter, and else for as much. */
static void steps_in_flight_hide_tracing(void **state)
{
    (void)state;
    planted p = healthy;
    res_doctor_finding *list;
    p.mode = "lazy";
    p.part_ns[BN_PART_TRACE] = 4000000;
    p.part_ns[BN_PART_HASH] = 0;
    assert_int_equal(complaints_of(&p, &list), 1);
    assert_near(list[0].hidden_ns, list[0].cost_ns.estimate, 1);
    free(list);
    p.device_ns = 1e6;
    assert_int_equal(complaints_of(&p, &list), 1);
    assert_near(list[0].hidden_ns, 1e6, 2e4);
    free(list);
    p.in_flight = 2;
    assert_int_equal(complaints_of(&p, &list), 1);
    assert_true(isnan(list[0].hidden_ns));
    free(list);
}

/* P, which traces in each step, draws one complaint. Steps in flight hide HIDDEN_NS of it. */
static void hides(const planted *p, double hidden_ns)
{
    res_doctor_finding *list;
    assert_int_equal(complaints_of(p, &list), 1);
    assert_int_equal(list[0].rule, RES_RULE_TRACING);
    assert_true(isnan(list[0].hidden_ns) == isnan(hidden_ns));
    if (!isnan(hidden_ns))
        assert_near(list[0].hidden_ns, hidden_ns, 0.02 * hidden_ns);
    free(list);
}

/* A step that reads a value, or has the host compute an op, waits for the device. So the next one
 * is not traced meanwhile. */
static void reads_keep_steps_from_being_in_flight(void **state)
{
    (void)state;
    planted p = healthy;
    p.mode = "lazy";
    p.part_ns[BN_PART_TRACE] = 4000000;
    p.part_ns[BN_PART_HASH] = 0;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS;
    hides(&p, (double)NAN);
    p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS;
    hides(&p, (double)NAN);
    /* A loss that is read in every tenth step. */
    p.counters[BN_COUNTER_HOST_FALLBACKS] = 0;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS / 10;
    hides(&p, 4e6);
}

static void executions_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.graphs = 5;
    p.device_ns = 1.2e6;
    p.pjrt_more_ns = 500000;
    draws(&p, RES_RULE_EXECUTIONS, 4 * 5e5, 5);
    p.pjrt_more_ns = 50000;
    draws_none(&p);
}

static void overhead_is_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.device_ns = 5e6;
    p.pjrt_more_ns = 4000000;
    draws(&p, RES_RULE_OVERHEAD, 4e6, 1);
}

/* In four of forty steps; the median step knows nothing of it. */
static void compiles_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.once_ns[BN_PART_LOWER] = 5000000;
    p.once_ns[BN_PART_COMPILE] = 95000000;
    p.counters[BN_COUNTER_COMPILES] = 3;
    p.counters[BN_COUNTER_DISK_HITS] = 1;
    draws(&p, RES_RULE_COMPILES, 1e7, 0.1);
    /* No program was made: the parts are of something else. */
    p.counters[BN_COUNTER_COMPILES] = p.counters[BN_COUNTER_DISK_HITS] = 0;
    draws_none(&p);
}

/* The first process compiles, and the others load what it compiled. */
static void what_one_process_compiles_for_all_is_found(void **state)
{
    (void)state;
    store s = {.count = 0};
    res_doctor_finding *list;
    size_t count;
    for (int process = 1; process <= PROCESSES; process++) {
        planted p = healthy;
        p.part_ns[BN_PART_COMPILE] = process == 1 ? 4000000 : 200000;
        p.counters[process == 1 ? BN_COUNTER_COMPILES : BN_COUNTER_DISK_HITS] = STEPS;
        process_of(&s, &p, process);
    }
    res_speedup table = made(&s);
    list = res_doctor(&table, &count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].rule, RES_RULE_COMPILES);
    assert_near(list[0].cost_ns.estimate, 4e6, 1e5);
    free(list);
    res_speedup_free(&table);
    clear(&s);
}

static void reads_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.part_ns[BN_PART_READ] = 900000;
    p.device_ns = 8.5e6;
    draws_none(&p);
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS;
    draws(&p, RES_RULE_READS, 9e5, 1);
}

/* Without a read the step would wait as long for the device. */
static void waiting_in_a_read_is_no_cost_of_it(void **state)
{
    (void)state;
    planted p = healthy;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS;
    p.part_ns[BN_PART_READ] = 8900000;
    p.device_ns = 9.6e6;
    draws_none(&p);
    p.device_ns = 8.2e6;
    draws(&p, RES_RULE_READS, 1e7 - 2e4 - 8.2e6 - 2e5, 1);
}

/* A break is an execution more, which goes with the read. */
static void a_read_that_breaks_the_graph_costs_an_execution(void **state)
{
    (void)state;
    planted p = healthy;
    res_doctor_finding *list;
    p.graphs = 2;
    p.cut = 1;
    p.device_ns = 4e6;
    p.pjrt_more_ns = 700000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = p.counters[BN_COUNTER_GRAPH_BREAKS] = STEPS;
    p.part_ns[BN_PART_READ] = 500000;
    assert_int_equal(complaints_of(&p, &list), 2);
    assert_int_equal(list[0].rule, RES_RULE_READS);
    assert_near(list[0].cost_ns.estimate, 1.2e6, 2e4);
    assert_int_equal(list[1].rule, RES_RULE_EXECUTIONS);
    free(list);
}

static void ops_of_the_host_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.device_ns = 8e6;
    p.part_ns[BN_PART_READ] = 300000;
    p.part_ns[BN_PART_INPUT] = 600000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS;
    draws(&p, RES_RULE_FALLBACKS, 9e5, 1);
}

static void padding_is_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.counters[BN_COUNTER_POSITIONS] = 1000;
    p.counters[BN_COUNTER_POSITIONS_PADDED] = 400;
    draws(&p, RES_RULE_PADDING, 0.4 * (1e7 - 5e4), 0.4);
    p.counters[BN_COUNTER_POSITIONS_PADDED] = 40;
    draws_none(&p);
}

/* Of P's batches ONCE have a shape of their own. One step of the warm-up makes two programs, and
 * FURTHER ones one each. */
static size_t complaints_of_batches(const planted *p, int shapes, int once, int further,
                                    res_doctor_finding **list)
{
    store s = {.count = 0};
    size_t count;
    plant(&s, p);
    for (size_t i = 0; i < s.count; i++) {
        json_t *compiles = json_pack("[i]", 2), *provenance = s.records[i]->provenance;
        for (int k = 0; k < further; k++)
            json_array_append_new(compiles, json_integer(1));
        json_array_append_new(compiles, json_integer(0));
        json_object_set_new(provenance, "warmup", json_pack("{so}", "compiles", compiles));
        json_object_set_new(provenance, "batches",
                            json_pack("{si si si s[{si si sf}]}", "count", 32, "shapes", shapes,
                                      "once", once, "padding", "buckets", 4, "shapes", 4,
                                      "padded_share", 0.2));
        s.records[i]->counters[BN_COUNTER_COMPILES] = 2 + further;
    }
    res_speedup table = made(&s);
    *list = res_doctor(&table, &count);
    res_speedup_free(&table);
    clear(&s);
    return count;
}

/* 31 further programs of 900 ms / 33 each: a step with a shape that is new takes as long, and all
 * batches have such a shape, half of them, or too few. */
static void shapes_that_only_repeat_are_found(void **state)
{
    (void)state;
    res_doctor_finding *list;
    static const struct {
        int shapes, once, made;
        double ns; /* 0: no finding */
    } cases[] = {{32, 32, 31, 9e8 / 33}, {20, 16, 31, 9e8 / 66}, {3, 0, 2, 0},
                 {5, 2, 4, 0},           {1, 0, 0, 0},           {5, 3, 4, 9e8 / 6 * 3 / 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t count =
            complaints_of_batches(&healthy, cases[i].shapes, cases[i].once, cases[i].made, &list);
        assert_int_equal(count, cases[i].ns > 0);
        if (count > 0) {
            assert_int_equal(list[0].rule, RES_RULE_VARIANTS);
            assert_near(list[0].cost_ns.estimate, cases[i].ns, 0.02 * cases[i].ns);
            assert_near(list[0].share, cases[i].ns / (cases[i].ns + 1e7), 0.02);
            assert_true(list[0].count == cases[i].shapes);
        }
        free(list);
    }
    /* Steps that compile are another rule's, and buckets bound the shapes. */
    planted p = healthy;
    p.buckets = 4;
    p.lengths = "varying";
    assert_int_equal(complaints_of_batches(&p, 4, 3, 3, &list), 0);
    free(list);
}

/* With steps in flight a step of 10 ms is as long as the device's work, so half of that would save
 * 5 ms. But then the step is as long as the host's work. */
static void padding_in_flight_costs_as_long_as_the_host_waits(void **state)
{
    (void)state;
    planted p = healthy;
    p.in_flight = 2;
    p.device_ns = 9.9e6;
    p.counters[BN_COUNTER_POSITIONS] = 1000;
    p.counters[BN_COUNTER_POSITIONS_PADDED] = 500;
    p.part_ns[BN_PART_HASH] = 0;
    p.part_ns[BN_PART_TRACE] = 3910000; /* and 90 us of calls: the host works for 4 ms */
    draws(&p, RES_RULE_PADDING, 5e6, 0.5);
    p.part_ns[BN_PART_TRACE] = 7910000;
    draws(&p, RES_RULE_PADDING, 2e6, 0.5);
    /* A plugin that executes within its call. */
    p.part_ns[BN_PART_TRACE] = 0;
    p.part_ns[BN_PART_DISPATCH] = 9970000;
    draws(&p, RES_RULE_PADDING, 0.5 * 9.97e6, 0.5);
}

static void input_and_release_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.part_ns[BN_PART_INPUT] = 2000000;
    draws(&p, RES_RULE_INPUT, 2e6, 1);
    p = healthy;
    p.part_ns[BN_PART_RELEASE] = 2000000;
    p.counters[BN_COUNTER_SLOW_RELEASES] = STEPS;
    p.device_ns = 7e6;
    draws(&p, RES_RULE_RELEASE, 2e6, 1);
    /* The device works meanwhile. */
    p.device_ns = 9.6e6;
    draws_none(&p);
}

/* Of steps in flight, what the device does not wait for costs nothing. */
static void steps_in_flight_hide_what_the_host_does(void **state)
{
    (void)state;
    planted p = healthy;
    p.in_flight = 2;
    p.device_ns = 9.9e6;
    p.part_ns[BN_PART_INPUT] = 4000000;
    draws_none(&p);
    p.device_ns = 7e6;
    draws(&p, RES_RULE_INPUT, 3e6, 1);
}

/* The cost of a start comes last, however long it is. */
static void long_starts_are_found_and_come_last(void **state)
{
    (void)state;
    planted p = healthy;
    res_doctor_finding *list;
    p.compile_ns = 30000000000;
    draws(&p, RES_RULE_START, 3e10, 1);
    p.part_ns[BN_PART_INPUT] = 1000000;
    p.mode = "lazy";
    p.part_ns[BN_PART_HASH] = 0;
    p.part_ns[BN_PART_TRACE] = 3000000;
    assert_int_equal(complaints_of(&p, &list), 3);
    assert_int_equal(list[0].rule, RES_RULE_TRACING);
    assert_int_equal(list[1].rule, RES_RULE_INPUT);
    assert_int_equal(list[2].rule, RES_RULE_START);
    assert_true(isnan(list[2].share));
    free(list);
}

/* The source location of the one finding on S, by RULE, is WORDS. */
static void tells_where(store *s, res_rule rule, const char *words)
{
    res_doctor_finding *list;
    size_t count;
    bn_text where = {0};
    res_speedup table = made(s);
    list = res_doctor(&table, &count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].rule, rule);
    if (list[0].why)
        res_why_put(json_string_value(json_object_get(list[0].why, "rule")), list[0].why, &where);
    assert_string_equal(where.data ? where.data : "", words);
    bn_text_free(&where);
    free(list);
    res_speedup_free(&table);
    clear(s);
}

static void the_source_location_of_compilations_is_reported(void **state)
{
    (void)state;
    planted p = healthy;
    store s = {.count = 0};
    p.once_ns[BN_PART_COMPILE] = 100000000;
    p.counters[BN_COUNTER_COMPILES] = 4;
    plant(&s, &p);
    explain(&s, json_pack("{ss si ss si si si ss ss}", "rule", "shape", "count", 3, "subject",
                          "tokens", "dimension", 1, "from", 24, "to", 31, "place", "models/x.c:12",
                          "scope", "mask"));
    tells_where(&s, RES_RULE_COMPILES,
                "shape of tokens, dimension 1: 24 -> 31, at models/x.c:12 (mask)");
    /* A read's place is no answer. */
    plant(&s, &p);
    explain(&s, json_pack("{ss si ss}", "rule", "read", "count", 10, "place", "models/x.c:12"));
    tells_where(&s, RES_RULE_COMPILES, "");
}

/* The one complaint about S, by RULE, names the line PLACE; "": none. */
static void names_line(store *s, res_rule rule, const char *place)
{
    res_doctor_finding *list;
    size_t count;
    res_speedup table = made(s);
    list = res_doctor(&table, &count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].rule, rule);
    const char *told = json_string_value(json_object_get(list[0].why, "place"));
    assert_string_equal(told ? told : "", place);
    free(list);
    res_speedup_free(&table);
    clear(s);
}

/* Plants P with --graphs GRAPHS, whatever its executions are. */
static void plant_cut(store *s, const planted *p, int graphs)
{
    plant(s, p);
    for (size_t i = 0; i < s->count; i++)
        s->records[i]->experiment.graphs = graphs;
}

/* A read or an op of the host breaks a step into executions; where --graphs cuts it, no line does.
 */
static void the_source_location_of_breaks_is_reported(void **state)
{
    (void)state;
    static const char *const breaks[] = {"read", "host"};
    planted p = healthy;
    store s = {.count = 0};
    p.graphs = 5;
    p.device_ns = 1.2e6;
    p.pjrt_more_ns = 500000;
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        plant_cut(&s, &p, 3);
        explain(&s,
                json_pack("{ss si ss}", "rule", breaks[i], "count", 10, "place", "models/x.c:26"));
        names_line(&s, RES_RULE_EXECUTIONS, "models/x.c:26");
    }
    plant_cut(&s, &p, 3);
    explain(&s, json_pack("{ss si ss}", "rule", "shape", "count", 1, "place", "models/x.c:26"));
    names_line(&s, RES_RULE_EXECUTIONS, "");
    /* The five executions are those of --graphs 5: the read stands behind them. */
    plant_cut(&s, &p, 5);
    explain(&s, json_pack("{ss si ss}", "rule", "read", "count", 10, "place", "models/x.c:26"));
    names_line(&s, RES_RULE_EXECUTIONS, "");
    plant_cut(&s, &p, 3);
    names_line(&s, RES_RULE_EXECUTIONS, "");
}

/* Two programs, of which a step runs one, and neither of which is compiled any further. */
static void steps_in_turns_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    store s = {.count = 0};
    p.graphs = 2;
    p.device_ns = 4.4e6;
    p.pjrt_more_ns = 50000;
    p.compile_ns = 2000000000;
    plant(&s, &p);
    for (size_t i = 0; i < s.count; i++)
        s.records[i]->executions[1].per_step = 0;
    explain(&s, json_pack("{ss si ss ss ss ss}", "rule", "argument", "count", 1, "subject",
                          "training", "from", "1", "to", "0", "place", "models/x.c:9"));
    tells_where(&s, RES_RULE_TURNS, "argument training: 1 -> 0, at models/x.c:9");
    /* Nobody says that they take turns. */
    plant(&s, &p);
    for (size_t i = 0; i < s.count; i++)
        s.records[i]->executions[1].per_step = 0;
    res_speedup table = made(&s);
    res_doctor_finding *list;
    size_t count;
    list = res_doctor(&table, &count);
    assert_int_equal(count, 0);
    free(list);
    res_speedup_free(&table);
    clear(&s);
}

/* A capture whose guards fail in each step is traced in each. */
static void captures_that_miss_are_found(void **state)
{
    (void)state;
    planted p = healthy;
    p.part_ns[BN_PART_TRACE] = 4000000;
    p.part_ns[BN_PART_HASH] = 0;
    draws_none(&p);
    p.counters[BN_COUNTER_GUARD_MISSES] = STEPS;
    draws(&p, RES_RULE_TRACING, 4e6, 100);
}

/* ---- the verdict ------------------------------------------------------------------------------
 */

/* The latest KNOWN processes of S know their device time, the others do not. */
static void forget_devices(store *s, size_t known)
{
    for (size_t i = 0; i + known < s->count; i++) {
        s->records[i]->executions[0].device_ns = (double)NAN;
        s->records[i]->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    }
}

/* Steps of S are BOUND, or unknown for REASON. */
static res_bound_found judges(store *s, res_bound bound, res_bound_reason reason)
{
    res_speedup table = made(s);
    const res_bound_found found = res_doctor_bound(&table.rows[0]);
    if (found.bound != bound || found.reason != reason)
        fail_msg("%s (%s), not %s (%s)", res_bound_name(found.bound),
                 res_bound_reason_name(found.reason), res_bound_name(bound),
                 res_bound_reason_name(reason));
    res_speedup_free(&table);
    return found;
}

/* Steps as P are BOUND. KNOWN: their device time is. */
static void is_bound(const planted *p, bool known, res_bound bound)
{
    store s = {.count = 0};
    plant(&s, p);
    forget_devices(&s, known ? PROCESSES : 0);
    (void)judges(&s, bound, bound != RES_BOUND_UNKNOWN ? RES_BOUND_KNOWN : RES_BOUND_NO_DEVICE);
    clear(&s);
}

/* The device works all the time in processes that know it; the slow ones do not. */
static void some_processes_do_not_speak_for_all(void **state)
{
    (void)state;
    planted fast = healthy, slow = healthy;
    fast.device_ns = slow.device_ns = 9.7e6;
    slow.once_ns[BN_PART_OTHER] = slow.part_ns[BN_PART_OTHER] = 9000000;
    for (size_t known = 0; known <= PROCESSES; known++) {
        store s = {.count = 0};
        for (int process = 1; process <= PROCESSES; process++)
            process_of(&s, process <= (int)(PROCESSES - known) ? &slow : &fast, process);
        forget_devices(&s, known);
        const bool enough = known >= RES_LEAST_PROCESSES;
        const res_bound_found found = judges(&s, enough ? RES_BOUND_DEVICE : RES_BOUND_UNKNOWN,
                                             enough       ? RES_BOUND_KNOWN
                                             : known == 2 ? RES_BOUND_TOO_FEW
                                                          : RES_BOUND_NO_DEVICE);
        assert_int_equal(found.processes, PROCESSES);
        if (known >= 2) {
            assert_int_equal(found.device_processes, known);
            assert_near(found.busy.estimate, 0.97, 0.005);
        }
        clear(&s);
    }
}

/* One process is no interval, but a recording describes its own steps. */
static void one_process_has_no_bound_unless_recorded(void **state)
{
    (void)state;
    planted p = healthy;
    store s = {.count = 0};
    p.device_ns = 5e6;
    process_of(&s, &p, 1);
    const res_bound_found found = judges(&s, RES_BOUND_UNKNOWN, RES_BOUND_TOO_FEW);
    assert_near(found.busy.estimate, 0.5, 0.01);
    assert_true(isnan(found.busy.low));
    clear(&s);
    s.count = 0;
    p.mode = "recorded";
    process_of(&s, &p, 1);
    (void)judges(&s, RES_BOUND_DISPATCH, RES_BOUND_KNOWN);
    clear(&s);
}

static void wide_intervals_leave_the_bound_unknown(void **state)
{
    (void)state;
    store s = {.count = 0};
    for (int process = 1; process <= PROCESSES; process++) {
        planted p = healthy;
        p.device_ns = process % 2 ? 9.7e6 : 8e6; /* about 0.885 of the step */
        process_of(&s, &p, process);
    }
    const res_bound_found found = judges(&s, RES_BOUND_UNKNOWN, RES_BOUND_WIDE);
    assert_true(found.busy.low < RES_DOCTOR_BUSY && RES_DOCTOR_BUSY < found.busy.high);
    clear(&s);
    /* Tracing and calls take turns in being the longer wait. */
    s.count = 0;
    for (int process = 1; process <= PROCESSES; process++) {
        planted p = healthy;
        p.mode = "lazy";
        p.device_ns = 4e6;
        p.part_ns[BN_PART_TRACE] = process % 2 ? 2500000 : 3500000;
        process_of(&s, &p, process);
    }
    (void)judges(&s, RES_BOUND_UNKNOWN, RES_BOUND_CLOSE);
    clear(&s);
}

/* The device waits in a part that has no cause. */
static void waits_without_a_cause_have_no_bound(void **state)
{
    (void)state;
    store s = {.count = 0};
    planted p = healthy;
    p.device_ns = 5e6;
    p.part_ns[BN_PART_DISPATCH] = 0;
    p.part_ns[BN_PART_OTHER] = 4700000;
    plant(&s, &p);
    (void)judges(&s, RES_BOUND_UNKNOWN, RES_BOUND_NO_CAUSE);
    clear(&s);
}

static void the_bound_of_a_step_is_stated(void **state)
{
    (void)state;
    planted p = healthy;
    p.device_ns = 9.5e6;
    is_bound(&p, true, RES_BOUND_DEVICE);
    p.device_ns = 5e6;
    is_bound(&p, true, RES_BOUND_DISPATCH);
    p.mode = "lazy";
    p.part_ns[BN_PART_TRACE] = 4000000;
    is_bound(&p, true, RES_BOUND_TRACING);
    p = healthy;
    p.device_ns = 5e6;
    p.part_ns[BN_PART_INPUT] = 4000000;
    is_bound(&p, true, RES_BOUND_INPUT);
    p = healthy;
    p.device_ns = 4e6;
    p.part_ns[BN_PART_READ] = 5500000;
    is_bound(&p, true, RES_BOUND_READ);
    /* Values sent for an op of the host are no batch. */
    p = healthy;
    p.device_ns = 4e6;
    p.part_ns[BN_PART_READ] = 1000000;
    p.part_ns[BN_PART_INPUT] = 3000000;
    p.counters[BN_COUNTER_HOST_FALLBACKS] = p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS;
    is_bound(&p, true, RES_BOUND_READ);
    /* A value read and an op of the host, each of which takes less than the calls. */
    p = healthy;
    p.device_ns = 4.5e6;
    p.part_ns[BN_PART_READ] = 3000000;
    p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = 2 * STEPS;
    is_bound(&p, true, RES_BOUND_READ);
    p = healthy;
    p.once_ns[BN_PART_COMPILE] = 300000000;
    p.counters[BN_COUNTER_COMPILES] = STEPS / 10;
    is_bound(&p, true, RES_BOUND_COMPILE);
    /* Without a device time nobody tells work from overhead. */
    p = healthy;
    is_bound(&p, false, RES_BOUND_UNKNOWN);
    p.mode = "lazy";
    p.part_ns[BN_PART_TRACE] = 6000000;
    is_bound(&p, false, RES_BOUND_TRACING);
}

/* ---- varying lengths --------------------------------------------------------------------------
 */

/* Probes are of one batch. If it is a short one, the device seems to wait, and if it is a long one,
 * to work for longer than the step takes. With one bucket all batches are as long. */
static void one_batch_does_not_stand_for_all_lengths(void **state)
{
    (void)state;
    planted p = healthy;
    p.lengths = "varying";
    p.device_ns = 3.5e6;
    p.buckets = 4;
    is_bound(&p, true, RES_BOUND_UNKNOWN);
    p.buckets = 1;
    is_bound(&p, true, RES_BOUND_DISPATCH);
    p.buckets = 4;
    p.device_ns = 14e6;
    is_bound(&p, true, RES_BOUND_UNKNOWN);
    /* The mean step takes 19 ms, of which 10 ms compile. The device's 14 ms do not count. */
    p.once_ns[BN_PART_COMPILE] = 100000000;
    p.counters[BN_COUNTER_COMPILES] = STEPS / 10;
    is_bound(&p, true, RES_BOUND_COMPILE);
    /* Nor does a read tell how long it waits for the device. */
    p = healthy;
    p.lengths = "varying";
    p.part_ns[BN_PART_READ] = 8000000;
    is_bound(&p, true, RES_BOUND_UNKNOWN);
}

static void costs_of_one_batch_are_unknown(void **state)
{
    (void)state;
    planted p = healthy;
    res_doctor_finding *list;
    p.lengths = "varying";
    p.buckets = 4;
    p.device_ns = 5e6;
    p.pjrt_more_ns = 4000000;
    draws_none(&p);
    p.buckets = 1;
    draws(&p, RES_RULE_OVERHEAD, 4e6, 1);
    /* All of the input, as far as is known: the device may work meanwhile. */
    p = healthy;
    p.lengths = "varying";
    p.in_flight = 2;
    p.device_ns = 9.9e6;
    p.part_ns[BN_PART_INPUT] = 4000000;
    draws(&p, RES_RULE_INPUT, 4e6, 1);
    assert_int_equal(complaints_of(&p, &list), 1);
    assert_true(list[0].at_most);
    free(list);
    p = healthy;
    p.lengths = "varying";
    p.mode = "lazy";
    p.part_ns[BN_PART_TRACE] = 4000000;
    assert_int_equal(complaints_of(&p, &list), 1);
    assert_true(isnan(list[0].hidden_ns));
    free(list);
}

/* Processes that disagree leave the cost unknown, so there is no finding. */
static void insignificant_costs_are_no_finding(void **state)
{
    (void)state;
    store s = {.count = 0};
    res_doctor_finding *list;
    size_t count;
    for (int process = 1; process <= PROCESSES; process++) {
        planted p = healthy;
        p.part_ns[BN_PART_INPUT] = process == 1 ? 4000000 : 100000;
        process_of(&s, &p, process);
    }
    res_speedup table = made(&s);
    list = res_doctor(&table, &count);
    assert_int_equal(count, 0);
    free(list);
    res_speedup_free(&table);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_healthy_draw_none),
        cmocka_unit_test(tracing_is_found),
        cmocka_unit_test(steps_in_flight_hide_tracing),
        cmocka_unit_test(reads_keep_steps_from_being_in_flight),
        cmocka_unit_test(executions_are_found),
        cmocka_unit_test(overhead_is_found),
        cmocka_unit_test(compiles_are_found),
        cmocka_unit_test(what_one_process_compiles_for_all_is_found),
        cmocka_unit_test(reads_are_found),
        cmocka_unit_test(waiting_in_a_read_is_no_cost_of_it),
        cmocka_unit_test(a_read_that_breaks_the_graph_costs_an_execution),
        cmocka_unit_test(ops_of_the_host_are_found),
        cmocka_unit_test(shapes_that_only_repeat_are_found),
        cmocka_unit_test(padding_is_found),
        cmocka_unit_test(padding_in_flight_costs_as_long_as_the_host_waits),
        cmocka_unit_test(input_and_release_are_found),
        cmocka_unit_test(steps_in_flight_hide_what_the_host_does),
        cmocka_unit_test(long_starts_are_found_and_come_last),
        cmocka_unit_test(the_source_location_of_compilations_is_reported),
        cmocka_unit_test(the_source_location_of_breaks_is_reported),
        cmocka_unit_test(steps_in_turns_are_found),
        cmocka_unit_test(captures_that_miss_are_found),
        cmocka_unit_test(some_processes_do_not_speak_for_all),
        cmocka_unit_test(one_process_has_no_bound_unless_recorded),
        cmocka_unit_test(wide_intervals_leave_the_bound_unknown),
        cmocka_unit_test(waits_without_a_cause_have_no_bound),
        cmocka_unit_test(the_bound_of_a_step_is_stated),
        cmocka_unit_test(one_batch_does_not_stand_for_all_lengths),
        cmocka_unit_test(costs_of_one_batch_are_unknown),
        cmocka_unit_test(insignificant_costs_are_no_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
