/*
 * doctor_fixture.h - records of steps with a problem that a test of the doctor plants.
 */
#ifndef BENCH_TESTS_DOCTOR_FIXTURE_H
#define BENCH_TESTS_DOCTOR_FIXTURE_H

#include "results/doctor/doctor.h"
#include "tests/results/findings/pools_fixture.h"

enum { STEPS = 40, PROCESSES = 4 };

/* A step of 10 ms that works for 9 ms on the device, and of which the host has little to do. */
typedef struct planted {
    const char *mode;
    int graphs;                         /* executions of a step */
    int cut;                            /* --graphs; 0: as many as there are executions */
    uint64_t part_ns[BN_PART_COUNT];    /* of each step, beside WAIT, which has the rest */
    uint64_t once_ns[BN_PART_COUNT];    /* of every tenth step */
    double device_ns;                   /* of an execution */
    int64_t counters[BN_COUNTER_COUNT]; /* over all steps */
    uint64_t compile_ns;
    uint64_t pjrt_more_ns; /* an execution's PJRT time above its device time */
    int in_flight;
    const char *lengths; /* NULL: fixed */
    int buckets;
} planted;

static const planted healthy = {
    .mode = "capture",
    .graphs = 1,
    .part_ns = {[BN_PART_HASH] = 20000, [BN_PART_BIND] = 30000, [BN_PART_DISPATCH] = 60000},
    .device_ns = 9e6,
    .compile_ns = 900000000,
    .pjrt_more_ns = 200000,
    .in_flight = 1};

/* Processes differ by a hundredth, so that there are intervals. */
static inline res_record *process_of(store *s, const planted *p, int process)
{
    const fixture_case c = {"cpu", "bert", "train",  p->mode,      p->graphs,
                            1,     0,      10000000, p->device_ns, 100};
    res_record *r = fixture_record(&c, STEPS);
    const double factor = 1 + 0.01 * (process - 2);
    for (size_t step = 0; step < STEPS; step++) {
        uint64_t *parts = r->part_ns + step * BN_PART_COUNT, sum = 0;
        for (int i = 0; i < BN_PART_COUNT; i++) {
            const double ns =
                (double)(p->part_ns[i] + (step % 10 == 0 ? p->once_ns[i] : 0)) * factor;
            sum += parts[i] = (uint64_t)ns;
        }
        const uint64_t wall = (uint64_t)(1e7 * factor);
        parts[BN_PART_WAIT] = sum < wall ? wall - sum : 0;
        r->wall_ns[step] = sum + parts[BN_PART_WAIT];
    }
    for (int g = 0; g < p->graphs; g++) {
        res_execution *x = &r->executions[g];
        x->compile_ns = (uint64_t)((double)p->compile_ns * factor);
        for (size_t i = 0; i < x->pjrt_count; i++)
            x->pjrt_ns[i] = (uint64_t)((p->device_ns + (double)p->pjrt_more_ns) * factor);
        x->device_ns = p->device_ns * factor;
        x->device_low_ns = 0.99 * x->device_ns;
        x->device_high_ns = 1.01 * x->device_ns;
    }
    memcpy(r->step_counters, p->counters, sizeof r->step_counters);
    r->step_counters[BN_COUNTER_STEPS] = STEPS;
    r->step_counters[BN_COUNTER_NODES_TRACED] = 100 * STEPS;
    r->experiment.in_flight = p->in_flight;
    r->experiment.graphs = p->cut ? p->cut : p->graphs;
    strcpy(r->experiment.lengths, p->lengths ? p->lengths : "fixed");
    r->experiment.buckets = p->buckets;
    fixture_group(r, "group", process);
    assert_true(s->count < MOST);
    s->records[s->count++] = r;
    return r;
}

static inline void plant(store *s, const planted *p)
{
    for (int process = 1; process <= PROCESSES; process++)
        process_of(s, p, process);
}

/* The complaints about P; *LIST is the caller's. */
static inline size_t complaints_of(const planted *p, res_doctor_finding **list)
{
    store s = {.count = 0};
    size_t count;
    plant(&s, p);
    res_speedup table = made(&s);
    assert_int_equal(table.count, 1);
    *list = res_doctor(&table, &count);
    res_speedup_free(&table);
    clear(&s);
    return count;
}

/* P draws one complaint, by RULE, whose cost is COST_NS. */
static inline void draws(const planted *p, res_rule rule, double cost_ns, double count)
{
    res_doctor_finding *list;
    const size_t complaints = complaints_of(p, &list);
    if (complaints != 1 || list[0].rule != rule)
        fail_msg("%s: %zu complaints, the first by %s", res_rule_name(rule), complaints,
                 complaints ? res_rule_name(list[0].rule) : "none");
    assert_near(list[0].cost_ns.estimate, cost_ns, 0.02 * cost_ns);
    assert_true(list[0].cost_ns.low < cost_ns && cost_ns < list[0].cost_ns.high);
    assert_near(list[0].count, count, 1e-9);
    free(list);
}

static inline void draws_none(const planted *p)
{
    res_doctor_finding *list;
    const size_t complaints = complaints_of(p, &list);
    if (complaints > 0)
        fail_msg("%zu complaints, the first by %s", complaints, res_rule_name(list[0].rule));
    free(list);
}

/* The explanation {"complaints": [COMPLAINT]}, of which the first process alone tells. COMPLAINT is
 * stolen. */
static inline void explain(store *s, json_t *complaint)
{
    json_object_set_new(s->records[0]->provenance, "explanation",
                        json_pack("{s[o]}", "complaints", complaint));
}

#endif
