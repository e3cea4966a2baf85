/*
 * results_fixture.h - records with figures that a test knows, and a folder of its
 * own for each test program.
 */
#ifndef BENCH_TESTS_RESULTS_FIXTURE_H
#define BENCH_TESTS_RESULTS_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "results/records/records.h"

/* A folder of this program's own, which the runner removes. */
static inline void fixture_folder(char *folder, size_t size, const char *name)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, size, "%s/%s.XXXXXX", parent ? parent : P_tmpdir, name);
    assert_non_null(mkdtemp(folder));
}

/* FOLDER/NAME, in one of a few static texts. */
static inline const char *fixture_in(const char *folder, const char *name)
{
    static char paths[4][400];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void assert_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.9g is not %.9g", value, wanted);
}

/* xorshift64*: small, seeded, the same everywhere. In [0, 1). */
static inline double fixture_uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

/* Standard normal, by Box and Muller. */
static inline double fixture_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - fixture_uniform(state)));
    return radius * cos(6.283185307179586 * fixture_uniform(state));
}

/* The SHA-256 of "0". */
#define FIXTURE_DIGEST "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"

/* A digest by which a test tells builds apart: two digits, over and over. Valid until this was
 * called seven times more. */
static inline const char *fixture_digest(const char *two)
{
    static char texts[8][BN_SHA256_TEXT];
    static size_t next;
    char *text = texts[next++ % 8];
    text[0] = '\0'; /* of no build */
    for (size_t i = 0; two[0] && i < BN_SHA256_TEXT - 1; i++)
        text[i] = two[i % 2];
    return text;
}

/* The members that differ between the records of a test. */
typedef struct fixture_case {
    const char *runtime, *model, *phase, *mode;
    int graphs, batch;
    uint64_t trace_ns, wall_ns; /* about, per step */
    double device_ns;           /* of an execution, NaN for unknown */
    int64_t nodes;
} fixture_case;

static inline void fixture_steps(res_record *record, const fixture_case *c, size_t steps)
{
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t step = 0; step < steps; step++) {
        uint64_t *parts = record->part_ns + step * BN_PART_COUNT;
        uint64_t jitter = (uint64_t)(fixture_uniform(&state) * 0.04 * (double)c->wall_ns);
        parts[BN_PART_INPUT] = 150000;
        parts[BN_PART_TRACE] = c->trace_ns;
        parts[BN_PART_HASH] = c->trace_ns / 20;
        parts[BN_PART_LOOKUP] = 1800;
        parts[BN_PART_BIND] = 21000;
        parts[BN_PART_DISPATCH] = 310000;
        parts[BN_PART_RELEASE] = 17000;
        parts[BN_PART_READ] = 9000;
        parts[BN_PART_OTHER] = 2500 + jitter / 100;
        uint64_t busy = 0;
        for (size_t p = 0; p < BN_PART_COUNT; p++)
            busy += parts[p];
        parts[BN_PART_WAIT] = c->wall_ns + jitter > busy ? c->wall_ns + jitter - busy : 0;
        record->wall_ns[step] = busy + parts[BN_PART_WAIT];
    }
    for (size_t i = 0; i < record->warmup_count; i++)
        record->warmup_wall_ns[i] = c->wall_ns * (i == 0 ? 300 : 1) + i;
}

static inline void fixture_executions(res_record *record, const fixture_case *c)
{
    static const char *const names[] = {"forward", "backward", "update", "input", "clean-up"};
    for (int g = 0; g < c->graphs; g++) {
        res_execution *execution = &record->executions[g];
        snprintf(execution->graph, sizeof execution->graph, "%s",
                 c->graphs == 1 ? "step" : names[g % 5]);
        execution->per_step = 1;
        execution->arguments = 268 / (g + 1);
        execution->results = 267 / (g + 1);
        execution->nodes = 1309 / c->graphs;
        snprintf(execution->fingerprint, sizeof execution->fingerprint,
                 "0123456789abcdef0123456789abcde%c", '0' + g % 10);
        execution->text_bytes = 402118;
        execution->lower_ns = 4100000;
        execution->compile_ns = 3240000000;
        execution->flops = 4.09e9;
        execution->bytes = 1.5e8;
        execution->argument_bytes = 102400000;
        execution->result_bytes = 102400000;
        execution->temp_bytes = 51200000;
        execution->pjrt_count = 21;
        execution->pjrt_ns = calloc(execution->pjrt_count, sizeof *execution->pjrt_ns);
        assert_non_null(execution->pjrt_ns);
        for (size_t i = 0; i < execution->pjrt_count; i++)
            execution->pjrt_ns[i] =
                (uint64_t)(isfinite(c->device_ns) ? c->device_ns : 9e6) + 1990000 + i * 1000;
        execution->device_ns = c->device_ns;
        execution->device_low_ns = c->device_ns * 0.99;
        execution->device_high_ns = c->device_ns * 1.01;
        if (isfinite(c->device_ns))
            execution->device_source = BN_DEVICE_TIME_SLOPE;
        else
            strcpy(execution->device_note, "the plugin has no profiler");
    }
}

/* Dates RECORD an hour after the one that was dated before, so that each is of a run of its own
 * where it has no group. */
static inline void fixture_date(res_record *record)
{
    static const time_t first = 1600000000; /* in September of 2020 */
    static int hours;
    const time_t date = first + 3600 * (time_t)hours++;
    char stamp[16];
    struct tm utc;
    assert_non_null(gmtime_r(&date, &utc));
    assert_int_equal(strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc), 15);
    memcpy(record->id, stamp, 15);
}

/* A good record of CASE. PJRT times have the median device_ns + 2 ms. */
static inline res_record *fixture_record(const fixture_case *c, size_t steps)
{
    res_record *record = res_record_new();
    assert_non_null(record);
    fixture_date(record);
    res_experiment *experiment = &record->experiment;
    snprintf(experiment->model, sizeof experiment->model, "%s", c->model);
    snprintf(experiment->phase, sizeof experiment->phase, "%s", c->phase);
    snprintf(experiment->mode, sizeof experiment->mode, "%s", c->mode);
    snprintf(experiment->runtime, sizeof experiment->runtime, "%s", c->runtime);
    strcpy(experiment->variant, "full");
    strcpy(experiment->dtype, "f32");
    strcpy(experiment->layout, "nhwc");
    experiment->graphs = c->graphs;
    experiment->batch = c->batch;
    experiment->image = 64;
    experiment->in_flight = 1;
    experiment->seed = 18446744073709551615u;
    record->loss = 6.9077;
    record->warmup_stationary = true;
    assert_int_equal(res_record_reserve_steps(record, steps, 5, NULL), BN_OK);
    assert_int_equal(res_record_reserve_executions(record, (size_t)c->graphs, NULL), BN_OK);
    fixture_steps(record, c, steps);
    fixture_executions(record, c);
    record->counters[BN_COUNTER_STEPS] = (int64_t)steps + 5;
    record->step_counters[BN_COUNTER_STEPS] = (int64_t)steps;
    record->counters[BN_COUNTER_NODES_TRACED] = c->nodes * ((int64_t)steps + 5);
    record->step_counters[BN_COUNTER_NODES_TRACED] = c->nodes * (int64_t)steps;
    record->counters[BN_COUNTER_COMPILES] = c->graphs;
    assert_int_equal(json_object_set_new(record->provenance, "runtime",
                                         json_pack("{s:s}", "sha256", FIXTURE_DIGEST)),
                     0);
    assert_int_equal(json_object_set_new(record->provenance, "host", json_string("h\xc3\xb6st")),
                     0);
    return record;
}

/* Says that RECORD is of PROCESS of four of the group ID. */
static inline void fixture_group(res_record *record, const char *id, int process)
{
    assert_int_equal(json_object_set_new(record->provenance, "group",
                                         json_pack("{ss si si ss}", "id", id, "process", process,
                                                   "processes", 4, "how", "interleaved")),
                     0);
}

/* A good record of CASE with ROUNDS of STEPS steps each; the median step of round I takes
 * ROUND_NS[I], but for the fixture's jitter of 4 %. */
static inline res_record *fixture_rounds(const fixture_case *c, const double *round_ns,
                                         size_t rounds, size_t steps)
{
    res_record *record = fixture_record(c, rounds * steps);
    assert_int_equal(res_record_reserve_rounds(record, rounds, NULL), BN_OK);
    for (size_t i = 0; i < rounds; i++) {
        uint64_t busy = 0;
        for (size_t step = i * steps; step < (i + 1) * steps; step++) {
            uint64_t *parts = record->part_ns + step * BN_PART_COUNT;
            const uint64_t before = record->wall_ns[step] - parts[BN_PART_WAIT];
            /* The fixture's steps begin at WALL_NS. */
            const uint64_t wall =
                (uint64_t)(round_ns[i] * (double)record->wall_ns[step] / (double)c->wall_ns);
            parts[BN_PART_WAIT] = wall > before ? wall - before : 0;
            record->wall_ns[step] = before + parts[BN_PART_WAIT];
            busy += record->wall_ns[step];
        }
        record->rounds[i] = (res_round){.steps = steps, .position = i % 2, .wall_ns = busy};
    }
    return record;
}

/* Lazy training in two graphs: what most tests need. */
static const fixture_case fixture_lazy = {.runtime = "cpu",
                                          .model = "resnet50",
                                          .phase = "train",
                                          .mode = "lazy",
                                          .graphs = 2,
                                          .batch = 4,
                                          .trace_ns = 2900000,
                                          .wall_ns = 25000000,
                                          .device_ns = 9000000,
                                          .nodes = 1309};

#endif
