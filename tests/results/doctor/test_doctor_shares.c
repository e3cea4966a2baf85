/*
 * test_doctor_shares.c - what two rules of the doctor would claim is shared between them, and a
 * break is charged only the executions that it adds. Needs no plugin.
 */
#include "results/doctor/doctor_priv.h"
#include "tests/results/doctor/doctor_fixture.h"

/* One complaint of RULE is among the COUNT of LIST, and its cost is COST_NS. */
static void costs(const res_doctor_finding *list, size_t count, res_rule rule, double cost_ns)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].rule != rule)
            continue;
        found++;
        assert_near(list[i].cost_ns.estimate, cost_ns, 0.02 * cost_ns);
    }
    if (found != 1)
        fail_msg("%zu complaints of %s", found, res_rule_name(rule));
}

/* P draws two complaints, of A and B. */
static void draws_both(const planted *p, res_rule a, double a_ns, res_rule b, double b_ns)
{
    res_doctor_finding *list;
    const size_t count = complaints_of(p, &list);
    assert_int_equal(count, 2);
    costs(list, count, a, a_ns);
    costs(list, count, b, b_ns);
    free(list);
}

/* ---- values read, and ops of the host ---------------------------------------------------------
 */

/* Two of three reads are the step's own. All that is sent is the op's result. */
static void reads_share_with_ops_of_the_host(void **state)
{
    (void)state;
    planted p = healthy;
    p.device_ns = 8e6;
    p.part_ns[BN_PART_READ] = 900000;
    p.part_ns[BN_PART_INPUT] = 600000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = 3 * STEPS;
    p.counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS;
    draws_both(&p, RES_RULE_READS, 6e5, RES_RULE_FALLBACKS, 9e5);
    /* All reads are of ops. */
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS;
    draws(&p, RES_RULE_FALLBACKS, 15e5, 1);
    /* A value that every tenth step reads is not in the median step, whose read is the op's. */
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS + STEPS / 10;
    draws(&p, RES_RULE_FALLBACKS, 15e5, 1);
    /* Nor is an op that every tenth step has. */
    p.part_ns[BN_PART_INPUT] = 0;
    p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS / 10;
    draws(&p, RES_RULE_READS, 9e5, 1);
    /* Where few steps have an op, and none has a read, the part is the ops'. */
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = STEPS / 10;
    draws(&p, RES_RULE_FALLBACKS, 9e5, 0.1);
}

/* Of the one execution that two breaks add, each has a half. */
static void breaks_are_shared_too(void **state)
{
    (void)state;
    planted p = healthy;
    res_doctor_finding *list;
    p.graphs = 2;
    p.cut = 1;
    p.device_ns = 3.5e6;
    p.pjrt_more_ns = 700000;
    p.part_ns[BN_PART_READ] = 1000000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = p.counters[BN_COUNTER_GRAPH_BREAKS] = 2 * STEPS;
    p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS;
    const size_t count = complaints_of(&p, &list);
    assert_int_equal(count, 3);
    costs(list, count, RES_RULE_READS, 8.5e5);
    costs(list, count, RES_RULE_FALLBACKS, 8.5e5);
    costs(list, count, RES_RULE_EXECUTIONS, 7e5);
    free(list);
}

/* ---- batches, and what ops of the host send
 * ------------------------------------------------------
 */

/* A batch of three inputs, and the result of an op. */
static void batches_share_with_ops_of_the_host(void **state)
{
    (void)state;
    planted p = healthy;
    p.device_ns = 4e6;
    p.part_ns[BN_PART_READ] = 300000;
    p.part_ns[BN_PART_INPUT] = 4000000;
    p.counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = 4 * STEPS;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = p.counters[BN_COUNTER_HOST_FALLBACKS] = STEPS;
    draws_both(&p, RES_RULE_INPUT, 3e6, RES_RULE_FALLBACKS, 3e5 + 1e6);
    /* No batch is sent. */
    p.counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = STEPS;
    draws(&p, RES_RULE_FALLBACKS, 3e5 + 4e6, 1);
    /* No op computes. */
    p.part_ns[BN_PART_READ] = 0;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = p.counters[BN_COUNTER_HOST_FALLBACKS] = 0;
    p.counters[BN_COUNTER_TRANSFERS_TO_DEVICE] = 3 * STEPS;
    draws(&p, RES_RULE_INPUT, 4e6, 1);
}

/* ---- executions that breaks add ---------------------------------------------------------------
 */

/* The last line of a step in five graphs reads: without the read the graphs are still five. */
static void a_read_behind_the_graphs_adds_no_execution(void **state)
{
    (void)state;
    planted p = healthy;
    p.graphs = 5;
    p.device_ns = 1.2e6;
    p.pjrt_more_ns = 500000;
    p.part_ns[BN_PART_READ] = 600000;
    p.counters[BN_COUNTER_TRANSFERS_TO_HOST] = p.counters[BN_COUNTER_GRAPH_BREAKS] = STEPS;
    draws_both(&p, RES_RULE_READS, 6e5, RES_RULE_EXECUTIONS, 4 * 5e5);
    /* Of three graphs breaks have made five. One break adds no more than one execution. */
    p.cut = 3;
    draws_both(&p, RES_RULE_READS, 6e5 + 5e5, RES_RULE_EXECUTIONS, 4 * 5e5);
}

/* Breaks add ADDED executions to a step cut into CUT graphs that runs NAMES; NULL: a program of
 * another turn. */
static void adds(int cut, const char *const names[3], double added)
{
    const fixture_case c = {"cpu", "bert", "infer", "capture", 3, 1, 0, 10000000, 1e6, 100};
    res_record *r = fixture_record(&c, 1);
    for (size_t i = 0; i < 3; i++) {
        r->executions[i].per_step = names[i] != NULL;
        snprintf(r->executions[i].graph, sizeof r->executions[i].graph, "%s",
                 names[i] ? names[i] : "forward");
    }
    r->experiment.graphs = cut;
    assert_near(res_executions_added(r), added, 0);
    res_record_free(r);
}

/* Neither how many graphs were asked for, nor how many names they have, tells by itself. */
static void executions_that_breaks_add_are_reported(void **state)
{
    (void)state;
    adds(1, (const char *const[]){"step", NULL, NULL}, 0);
    adds(1, (const char *const[]){"step", "step", "step"}, 2);
    adds(3, (const char *const[]){"forward", "backward", "update"}, 0);
    /* Inference has no backward graph. The second of its two is there since the first breaks. */
    adds(3, (const char *const[]){"forward", NULL, NULL}, 0);
    adds(3, (const char *const[]){"forward", "forward", NULL}, 1);
    /* A read in the forward part of two graphs gives the first two names. */
    adds(2, (const char *const[]){"forward", "forward+backward", "update"}, 1);
    /* A program of another turn is no part of the step, whatever its name is. */
    adds(2, (const char *const[]){NULL, "forward", "update"}, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_share_with_ops_of_the_host),
        cmocka_unit_test(breaks_are_shared_too),
        cmocka_unit_test(batches_share_with_ops_of_the_host),
        cmocka_unit_test(a_read_behind_the_graphs_adds_no_execution),
        cmocka_unit_test(executions_that_breaks_add_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
