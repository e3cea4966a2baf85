/*
 * made_fixture.h - a recorded process made by hand, so that all figures of its steps are known.
 */
#ifndef BENCH_TESTS_MADE_FIXTURE_H
#define BENCH_TESTS_MADE_FIXTURE_H

#include "results/recordings/views.h"
#include "tests/support/results_fixture.h"

#include <fcntl.h>

#define MS    UINT64_C(1000000)
#define START (UINT64_C(1000) * MS)
/* 2026-11-23T03:46:40.5Z */
#define EPOCH UINT64_C(1795405600500000000)
enum { STEPS = 10, PROGRAMS = 2, EXECUTIONS = PROGRAMS * STEPS };

/* A process whose steps take 10 ms: 4 of host work, gradient for 3 ms, update for 2 ms. */
typedef struct made {
    rec_process process;
    rec_recording recording;
    rec_steps steps;
    rec_plugin plugin;
    rec_device device;
    rec_thread threads[2];
    rec_program programs[PROGRAMS];
    uint32_t row_of[PROGRAMS];
    rec_execution executions[EXECUTIONS];
    rec_span spans[EXECUTIONS];
    rec_call calls[2];
    rec_step list[STEPS];
    rec_step_program of_step[PROGRAMS];
    uint32_t order[EXECUTIONS];
} made;

static const char *const words[] = {"/usr/bin/python3", "-u", "/home/x/train.py", "--lr", NULL};
static const char *const frameworks[] = {"jaxlib 0.10.2", "jax 0.10.2", NULL};

static inline void make_executions(made *m)
{
    static const uint64_t begins[] = {4 * MS, 5 * MS}, ends[] = {7 * MS, 9 * MS};
    for (size_t i = 0; i < EXECUTIONS; i++) {
        const uint64_t step = START + i / PROGRAMS * 10 * MS;
        const size_t which = i % PROGRAMS;
        m->order[i] = (uint32_t)i;
        m->executions[i] = (rec_execution){.number = i + 1,
                                           .begin_ns = step + begins[which],
                                           .end_ns = step + begins[which] + MS / 2,
                                           .thread = 1,
                                           .program = (uint32_t)which,
                                           .devices = 1,
                                           .arguments = 3,
                                           .results = 1,
                                           .spans = (uint32_t)i};
        /* The second waits for the first. */
        m->spans[i] = (rec_span){.start_ns = step + (which ? ends[0] : begins[0]),
                                 .complete_ns = step + ends[which],
                                 .execution = (uint32_t)i};
    }
}

static inline void make_steps(made *m)
{
    for (uint32_t i = 0; i < STEPS; i++) {
        rec_step *step = &m->list[i];
        *step = (rec_step){.first = i * PROGRAMS,
                           .executions = PROGRAMS,
                           .begin_ns = START + i * 10 * MS,
                           .wall_ns = 10 * MS,
                           .busy_ns = 5 * MS};
        step->part_ns[REC_PART_HOST] = 4 * MS;
        step->part_ns[REC_PART_DISPATCH] = 1 * MS;
        step->part_ns[REC_PART_TRANSFER] = MS / 2;
        step->part_ns[REC_PART_WAIT] = 4 * MS;
        step->part_ns[REC_PART_IDLE] = MS / 2;
        step->gap_ns[REC_PART_HOST] = 4 * MS - MS / 2;
        step->gap_ns[REC_PART_DISPATCH] = MS / 4;
        step->gap_ns[REC_PART_TRANSFER] = MS / 2;
        step->gap_ns[REC_PART_WAIT] = MS / 4;
        step->gap_ns[REC_PART_IDLE] = MS / 2;
    }
    m->of_step[0] = (rec_step_program){.program = 0,
                                       .times = 1,
                                       .executions = STEPS,
                                       .device_ns = 3e6,
                                       .device_share_ns = 3e6,
                                       .kernels_ns = (double)NAN,
                                       .overhead_ns = 1e5,
                                       .arguments = 3,
                                       .results = 1};
    m->of_step[1] = m->of_step[0];
    m->of_step[1].program = 1;
    m->of_step[1].device_ns = m->of_step[1].device_share_ns = 2e6;
    m->steps = (rec_steps){.process = &m->process,
                           .order = m->order,
                           .order_count = EXECUTIONS,
                           .list = m->list,
                           .count = STEPS,
                           .executions_per_step = PROGRAMS,
                           .cycle = 1,
                           .found = STEPS + 3,
                           .with_compiles = 1,
                           .warming = 2,
                           .cpu_clocks = true,
                           .completions = true,
                           .dispatch_thread = 1,
                           .programs = m->of_step,
                           .program_count = PROGRAMS,
                           .row_of = m->row_of};
    for (uint32_t i = 0; i < PROGRAMS; i++)
        m->row_of[i] = i;
}

/* The caller frees it, and what RECORDING is about. */
static inline made *make(void)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->plugin = (rec_plugin){
        .path = "/plugins/a cpu.so", .platform = "cpu", .platform_version = "1", .minor = 81};
    m->device = (rec_device){.text = "CPU_0"};
    m->threads[0] = (rec_thread){.number = 4711, .name = "python3"};
    m->threads[1] = (rec_thread){.number = 4712, .name = "pool \"1\"\n"};
    for (size_t i = 0; i < PROGRAMS; i++) {
        m->programs[i] = (rec_program){.form = "mlir",
                                       .name = i ? "update" : "gradient",
                                       .code_bytes = 1000,
                                       .flops = 5e6,
                                       .bytes = (double)NAN,
                                       .temporary_bytes = UINT64_MAX,
                                       .kernel_bytes = 77,
                                       .compiles = 2,
                                       .compile_ns = 60 * MS,
                                       .devices = 1};
        memset(m->programs[i].hash, i ? 'b' : 'a', RECORD_HASH_TEXT - 1);
    }
    m->calls[0] = (rec_call){.begin_ns = START,
                             .end_ns = START + MS,
                             .complete_ns = START + 2 * MS,
                             .bytes = 4096,
                             .kind = REC_CALL_FROM_HOST};
    m->calls[1] =
        (rec_call){.begin_ns = START - 70 * MS, .end_ns = START, .kind = REC_CALL_COMPILE};
    make_executions(m);
    make_steps(m);
    m->process = (rec_process){.folder = "4711-1",
                               .pid = 4711,
                               .begin_ns = START - 100 * MS,
                               .epoch_ns = EPOCH,
                               .command = words,
                               .framework = frameworks[0],
                               .frameworks = frameworks,
                               .cpu_clocks = true,
                               .completions = true,
                               .plugins = &m->plugin,
                               .plugin_count = 1,
                               .devices = &m->device,
                               .device_count = 1,
                               .threads = m->threads,
                               .thread_count = 2,
                               .programs = m->programs,
                               .program_count = PROGRAMS,
                               .executions = m->executions,
                               .execution_count = EXECUTIONS,
                               .spans = m->spans,
                               .span_count = EXECUTIONS,
                               .calls = m->calls,
                               .call_count = 2};
    m->recording =
        (rec_recording){.path = "here", .folder = -1, .processes = &m->process, .process_count = 1};
    m->recording.about = json_pack(
        "{s:{s:s, s:s, s:s}, s:{s:s, s:i}, s:{s:s}, s:{s:s}}", "runtime", "name", "cpu-xla", "path",
        "/elsewhere.so", "sha256", fixture_digest("01"), "host", "hostname", "h", "cores_online", 2,
        "plugins", "/plugins/a cpu.so", FIXTURE_DIGEST, "environment", "XLA_FLAGS", "--x");
    assert_non_null(m->recording.about);
    return m;
}

static inline void drop(made *m)
{
    json_decref(m->recording.about);
    free(m);
}

static inline res_record *record_of(const made *m, const rec_naming *naming)
{
    res_record *record = NULL;
    bn_status st = {0};
    if (rec_record_make(&m->recording, &m->steps, naming, &record, &st) != BN_OK)
        fail_msg("%s", st.message);
    return record;
}

#endif
