/*
 * test_views.c - steps of a recording as a record and as a timeline: a process is made by hand, so
 * that all figures are known. Needs no plugin and no recorder.
 */
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
    rec_execution executions[EXECUTIONS];
    rec_span spans[EXECUTIONS];
    rec_call calls[2];
    rec_step list[STEPS];
    rec_step_program of_step[PROGRAMS];
    uint32_t order[EXECUTIONS];
} made;

static const char *const words[] = {"/usr/bin/python3", "-u", "/home/x/train.py", "--lr", NULL};
static const char *const frameworks[] = {"jaxlib 0.10.2", "jax 0.10.2", NULL};

static void make_executions(made *m)
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

static void make_steps(made *m)
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
                                       .kernels_ns = (double)NAN,
                                       .overhead_ns = 1e5,
                                       .arguments = 3,
                                       .results = 1};
    m->of_step[1] = m->of_step[0];
    m->of_step[1].program = 1;
    m->of_step[1].device_ns = 2e6;
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
                           .program_count = PROGRAMS};
}

/* The caller frees it, and what RECORDING is about. */
static made *make(void)
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

static void drop(made *m)
{
    json_decref(m->recording.about);
    free(m);
}

static res_record *record_of(const made *m, const rec_naming *naming)
{
    res_record *record = NULL;
    bn_status st = {0};
    if (rec_record_make(&m->recording, &m->steps, naming, &record, &st) != BN_OK)
        fail_msg("%s", st.message);
    return record;
}

/* ---- as a record ------------------------------------------------------------------------------
 */

static void what_ran_is_what_was_recorded(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {0};
    res_record *record = record_of(m, &naming);
    const res_experiment *e = &record->experiment;
    assert_string_equal(e->model, "train");
    assert_string_equal(e->phase, "step");
    assert_string_equal(e->mode, "recorded");
    assert_string_equal(e->front_end, "jax 0.10.2");
    assert_string_equal(e->runtime, "cpu-xla");
    /* What a recording does not say is not made up. */
    assert_string_equal(e->dtype, "");
    assert_int_equal(e->batch, 0);
    assert_int_equal(e->graphs, 0);
    assert_int_equal(e->in_flight, 0);
    assert_false(record->simulated);
    assert_string_equal(res_plugin_sha256(record), FIXTURE_DIGEST);
    assert_string_equal(res_host_text(record, "hostname"), "h");
    const json_t *told = json_object_get(record->provenance, "recording");
    assert_int_equal(json_integer_value(json_object_get(told, "executions_per_step")), 2);
    /* The first steady step began 100 ms after the file was made. */
    assert_int_equal(strncmp(record->id, "20261123T034640.600000000Z-recording-", 37), 0);
    res_record_free(record);
    drop(m);
}

static void assert_way(const made *m, const char *mode, const char *way)
{
    const rec_naming naming = {.mode = mode};
    res_record *record = record_of(m, &naming);
    const json_t *told = json_object_get(record->provenance, "recording");
    assert_string_equal(json_string_value(json_object_get(told, "way")), way);
    res_record_free(record);
}

/* Whether steps were captured is said where it is known, and nowhere else. */
static void the_way_is_told_where_it_is_known(void **state)
{
    (void)state;
    static const char *const torch[] = {"torch 2.9.0", "torch_xla 2.9.0", NULL};
    made *m = make();
    /* JAX, in two programs: jit captured both, or each is one of the ops of a step. */
    assert_way(m, NULL, "unknown");
    m->of_step[0].times = 12;
    assert_way(m, NULL, "unknown");
    /* One that does nearly all. */
    m->of_step[0].times = 1;
    m->of_step[1].device_ns = 1e5;
    assert_way(m, NULL, "captured");
    /* By their calls, where no completions are known. */
    m->of_step[0].device_ns = m->of_step[1].device_ns = (double)NAN;
    m->of_step[0].call_ns = m->of_step[1].call_ns = 1e6;
    assert_way(m, NULL, "unknown");
    /* A front end's mode tells. */
    assert_way(m, "capture", "captured");
    assert_way(m, "parts", "captured");
    assert_way(m, "eager", "eager");
    m->process.frameworks = torch;
    assert_way(m, "lazy", "lazy");
    assert_way(m, "dynamo-step", "captured");
    m->of_step[0].device_ns = 3e6;
    assert_way(m, NULL, "unknown");
    drop(m);
}

/* ---- phases ---- */

static void assert_phase(const json_t *phases, const char *name, uint64_t ns)
{
    if (json_integer_value(json_object_get(phases, name)) != (json_int_t)ns)
        fail_msg("%s is %lld", name, (long long)json_integer_value(json_object_get(phases, name)));
}

/* 20 ms to the first call, 80 to the first step, 70 of them compile; 100 of steps, 50 after them.
 */
static void phases_are_of_the_recordings_clock(void **state)
{
    (void)state;
    made *m = make();
    m->process.first_ns = START - 80 * MS;
    m->process.last_ns = START + 150 * MS;
    const rec_naming naming = {0};
    res_record *record = record_of(m, &naming);
    const json_t *phases = json_object_get(record->provenance, "phases");
    assert_phase(phases, "wall_ns", 250 * MS);
    assert_phase(phases, "others_ns", 0);
    assert_phase(phases, "initialization_ns", 20 * MS);
    assert_phase(phases, "preparation_ns", 10 * MS);
    assert_phase(phases, "compile_ns", 70 * MS);
    assert_phase(phases, "warmup_ns", 0);
    assert_phase(phases, "measuring_ns", 100 * MS);
    const json_t *steps = json_object_get(phases, "steps");
    assert_phase(steps, "wall_ns", 100 * MS);
    assert_phase(steps, "device_ns", 50 * MS);
    assert_phase(steps, "tracing_ns", 35 * MS);
    assert_phase(steps, "input_ns", 5 * MS);
    assert_phase(steps, "compile_ns", 0);
    assert_phase(steps, "overhead_ns", 5 * MS);
    assert_phase(steps, "idle_ns", 5 * MS);
    res_record_free(record);
    drop(m);
}

/* What is left out before the steady steps is warm-up, but for what was compiled there. */
static void steps_left_out_are_warm_up(void **state)
{
    (void)state;
    made *m = make();
    m->process.first_ns = START - 80 * MS;
    m->process.last_ns = START + 150 * MS;
    m->executions[0].begin_ns = START - 40 * MS;
    const rec_naming naming = {.begun_ns = START - 500 * MS, .ended_ns = START + 200 * MS};
    res_record *record = record_of(m, &naming);
    const json_t *phases = json_object_get(record->provenance, "phases");
    assert_phase(phases, "wall_ns", 700 * MS);
    assert_phase(phases, "initialization_ns", 420 * MS);
    assert_phase(phases, "preparation_ns", 10 * MS);
    assert_phase(phases, "compile_ns", 70 * MS);
    assert_phase(phases, "warmup_ns", 0);
    res_record_free(record);
    m->calls[1].begin_ns = START - 30 * MS;
    m->calls[1].end_ns = START - 10 * MS;
    record = record_of(m, &naming);
    phases = json_object_get(record->provenance, "phases");
    assert_phase(phases, "preparation_ns", 40 * MS);
    assert_phase(phases, "compile_ns", 20 * MS);
    assert_phase(phases, "warmup_ns", 20 * MS);
    res_record_free(record);
    drop(m);
}

/* Without completions nobody knows when the device worked; a program of several processes says
 * nothing of one of them, nor does a start after its own. */
static void phases_that_nobody_knows(void **state)
{
    (void)state;
    made *m = make();
    m->process.last_ns = START + 150 * MS;
    m->steps.completions = false;
    json_object_set_new(m->recording.about, "ended",
                        json_pack("{s:I, s:I}", "begun_ns", (json_int_t)(START - 50 * MS),
                                  "ended_ns", (json_int_t)(START + 900 * MS)));
    const rec_naming naming = {0};
    res_record *record = record_of(m, &naming);
    const json_t *phases = json_object_get(record->provenance, "phases");
    assert_phase(phases, "wall_ns", 1000 * MS);
    assert_true(json_is_null(json_object_get(json_object_get(phases, "steps"), "device_ns")));
    res_record_free(record);
    m->recording.process_count = 2;
    record = record_of(m, &naming);
    assert_phase(json_object_get(record->provenance, "phases"), "wall_ns", 250 * MS);
    res_record_free(record);
    m->recording.process_count = 1;
    drop(m);
}

static void parts_are_mapped_and_sum_to_the_wall(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {.model = "resnet50", .phase = "train"};
    res_record *record = record_of(m, &naming);
    assert_string_equal(record->experiment.model, "resnet50");
    assert_string_equal(record->experiment.phase, "train");
    assert_int_equal(record->step_count, STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        const uint64_t *parts = record->part_ns + i * BN_PART_COUNT;
        uint64_t sum = 0;
        for (size_t p = 0; p < BN_PART_COUNT; p++)
            sum += parts[p];
        assert_int_equal(record->wall_ns[i], 10 * MS);
        assert_int_equal(sum, 10 * MS);
        assert_int_equal(parts[BN_PART_TRACE], 4 * MS);
        assert_int_equal(parts[BN_PART_DISPATCH], MS);
        assert_int_equal(parts[BN_PART_INPUT], MS / 2);
        assert_int_equal(parts[BN_PART_WAIT], 4 * MS);
        assert_int_equal(parts[BN_PART_OTHER], MS / 2);
    }
    res_record_free(record);

    /* Copies from the device are reads, and what moves in the steady steps is counted. */
    m->calls[0] = (rec_call){.kind = REC_CALL_TO_HOST, .begin_ns = START - MS, .end_ns = START};
    m->calls[1] = (rec_call){
        .kind = REC_CALL_FROM_HOST, .begin_ns = START + 12 * MS, .end_ns = START + 13 * MS};
    m->list[0].part_ns[REC_PART_WAIT] = 3 * MS;
    m->list[0].part_ns[REC_PART_READ] = MS;
    record = record_of(m, &naming);
    assert_int_equal(record->part_ns[BN_PART_READ], MS);
    assert_int_equal(record->part_ns[BN_PART_INPUT], MS / 2);
    assert_int_equal(record->counters[BN_COUNTER_TRANSFERS_TO_DEVICE], 1);
    assert_int_equal(record->counters[BN_COUNTER_TRANSFERS_TO_HOST], 1);
    assert_int_equal(record->step_counters[BN_COUNTER_TRANSFERS_TO_DEVICE], 1);
    assert_int_equal(record->step_counters[BN_COUNTER_TRANSFERS_TO_HOST], 0);
    res_record_free(record);

    /* Without clocks of the CPU nobody knows that the host worked. */
    m->steps.cpu_clocks = false;
    record = record_of(m, &naming);
    assert_int_equal(record->part_ns[BN_PART_TRACE], 0);
    assert_int_equal(record->part_ns[BN_PART_OTHER], 4 * MS + MS / 2);
    res_record_free(record);
    drop(m);
}

static void programs_are_executions(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {0};
    res_record *record = record_of(m, &naming);
    assert_int_equal(record->execution_count, PROGRAMS);
    const res_execution *x = record->executions;
    assert_string_equal(x[0].graph, "gradient");
    assert_string_equal(x[1].graph, "update");
    assert_int_equal(strspn(x[0].fingerprint, "a"), 32);
    assert_int_equal(x[0].per_step, 1);
    assert_int_equal(x[0].arguments, 3);
    assert_int_equal(x[0].compile_ns, 30 * MS);
    assert_int_equal(x[0].temp_bytes, -1);
    assert_int_equal(x[0].code_bytes, 77);
    assert_int_equal(x[0].device_source, BN_DEVICE_TIME_EVENT);
    assert_near(x[1].device_ns, 2e6, 0);
    assert_int_equal(x[0].pjrt_count, STEPS);
    assert_int_equal(x[0].pjrt_ns[0], 3 * MS);
    assert_int_equal(x[1].pjrt_ns[STEPS - 1], 2 * MS);
    const res_measures measures = res_record_measures(record);
    assert_near(measures.device_ns, 5e6, 1);
    assert_near(measures.executions, 2, 0);
    assert_true(isnan(measures.nodes_per_step));
    assert_string_equal(measures.source, "event");
    res_record_free(record);

    m->of_step[1].device_ns = (double)NAN;
    record = record_of(m, &naming);
    assert_int_equal(record->executions[1].device_source, BN_DEVICE_TIME_UNAVAILABLE);
    assert_true(isnan(res_record_measures(record).device_ns));
    res_record_free(record);

    /* What did not end has no time, and a program that is none of the steps' has none at all. */
    m->spans[0].complete_ns = 0;
    m->steps.program_count = 1;
    record = record_of(m, &naming);
    assert_int_equal(record->execution_count, 1);
    assert_int_equal(record->executions[0].pjrt_count, STEPS - 1);
    assert_int_equal(record->executions[0].pjrt_ns[STEPS - 2], 3 * MS);
    res_record_free(record);
    drop(m);
}

static void the_same_steps_have_the_same_id(void **state)
{
    (void)state;
    made *m = make();
    const rec_naming naming = {0}, other = {.model = "other"};
    res_record *a = record_of(m, &naming), *b = record_of(m, &naming), *c = record_of(m, &other);
    assert_string_equal(a->id, b->id);
    assert_string_not_equal(a->id, c->id);
    res_record_free(a);
    res_record_free(b);
    res_record_free(c);
    drop(m);
}

/* A store takes it and gives it back; readers of before refuse what they would mix up. */
static void a_store_keeps_it(void **state)
{
    (void)state;
    made *m = make();
    char folder[300];
    bn_status st = {0};
    res_collection all;
    const rec_naming naming = {.model = "a/b", .phase = "train"};
    res_record *record = record_of(m, &naming);
    fixture_folder(folder, sizeof folder, "views");
    assert_int_equal(res_store_write(folder, record, NULL, 0, &st), BN_OK);
    assert_int_equal(res_store_write(folder, record, NULL, 0, &st), BN_INVALID);
    assert_int_equal(res_store_load(folder, &all, &st), BN_OK);
    assert_int_equal(all.count, 1);
    assert_memory_equal(&all.records[0]->experiment, &record->experiment,
                        sizeof record->experiment);
    assert_int_equal(all.records[0]->executions[1].pjrt_count, STEPS);
    res_collection_free(&all);
    res_record_free(record);
    drop(m);
}

/* bench record's own file is foreign, too. */
static void foreign_words_about_a_recording(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"runtime\": 3, \"host\": [], \"plugins\": \"x\"}",
        "{\"runtime\": {\"name\": \"a\\u001b[2J\"}, \"plugins\": {\"/plugins/a cpu.so\": \"zz\"}}",
        "{\"host\": {\"hostname\": {\"a\": 1}, \"cpu\": 7}, \"environment\": []}"};
    const rec_naming naming = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made *m = make();
        bn_status st = {0};
        json_decref(m->recording.about);
        assert_int_equal(res_json_parse(cases[i], strlen(cases[i]), &m->recording.about, &st),
                         BN_OK);
        res_record *record = record_of(m, &naming);
        assert_string_equal(res_plugin_sha256(record), "");
        assert_true(bn_is_plain(record->experiment.runtime));
        res_record_free(record);
        drop(m);
    }
    made *m = make();
    json_decref(m->recording.about);
    m->recording.about = NULL;
    res_record *record = record_of(m, &naming);
    assert_string_equal(record->experiment.runtime, "a cpu.so");
    res_record_free(record);
    bn_status st = {0};
    m->steps.count = 0;
    assert_int_equal(rec_record_make(&m->recording, &m->steps, &naming, &record, &st), BN_FORMAT);
    drop(m);
}

/* ---- as a timeline ------------------------------------------------------------------------------
 */

/* The events of FILE with PHASE and, unless it is NULL, NAME. */
static size_t count_of(const json_t *trace, const char *phase, const char *name)
{
    const json_t *events = json_object_get(trace, "traceEvents");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        count += strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0 &&
                 (!name || strcmp(json_string_value(json_object_get(event, "name")), name) == 0);
    }
    return count;
}

/* The timeline of M with STEPS, NULL for none, as it stands in PATH, which is a file in a new
 * folder; a new reference. */
static json_t *timeline_of(const made *m, const rec_steps *steps, const char **path)
{
    char folder[300];
    bn_status st = {0};
    char *data = NULL;
    size_t size = 0;
    json_t *trace = NULL;
    fixture_folder(folder, sizeof folder, "timeline");
    *path = fixture_in(folder, "trace.json");
    assert_int_equal(rec_timeline_write(&m->process, steps, *path, false, &st), BN_OK);
    assert_int_equal(bn_regular_read(*path, &data, &size, &st), BN_OK);
    if (res_json_parse(data, size, &trace, &st) != BN_OK)
        fail_msg("%s", st.message);
    free(data);
    return trace;
}

static void the_timeline_has_all(void **state)
{
    (void)state;
    made *m = make();
    bn_status st = {0};
    const char *path;
    json_t *trace = timeline_of(m, &m->steps, &path);
    assert_int_equal(count_of(trace, "X", "gradient"), 2 * STEPS); /* call and execution */
    assert_int_equal(count_of(trace, "X", "update"), 2 * STEPS);
    /* The update begins as soon as the gradient ends; then 5 ms pass until the next. */
    assert_int_equal(count_of(trace, "X", "gap"), STEPS - 1);
    assert_int_equal(count_of(trace, "s", "dispatch"), EXECUTIONS);
    assert_int_equal(count_of(trace, "f", "dispatch"), EXECUTIONS);
    assert_int_equal(count_of(trace, "X", "to device"), 1);
    assert_int_equal(count_of(trace, "b", "to device"), 1);
    assert_int_equal(count_of(trace, "X", "compile"), 1);
    assert_int_equal(count_of(trace, "X", "step 9"), 1);
    /* The first event is the compile; all others are counted from it. */
    const json_t *events = json_object_get(trace, "traceEvents");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *name = json_string_value(json_object_get(event, "name"));
        const double ts = json_number_value(json_object_get(event, "ts"));
        assert_true(ts >= 0 && ts < 1e6);
        if (strcmp(name, "compile") == 0)
            assert_near(ts, 0, 0);
        if (strcmp(name, "step 1") == 0)
            assert_near(ts, 80000, 1e-3);
    }
    json_decref(trace);
    assert_int_equal(rec_timeline_write(&m->process, NULL, path, false, &st), BN_INVALID);
    assert_int_equal(rec_timeline_write(&m->process, NULL, path, true, &st), BN_OK);
    drop(m);
}

/* Without completions or steps there is less, and still a timeline. */
static void a_timeline_of_little(void **state)
{
    (void)state;
    made *m = make();
    for (size_t i = 0; i < EXECUTIONS; i++)
        m->spans[i].complete_ns = 0;
    m->process.thread_count = m->process.device_count = m->process.program_count = 0;
    const char *path;
    json_t *trace = timeline_of(m, NULL, &path);
    assert_int_equal(count_of(trace, "X", "program"), EXECUTIONS);
    assert_int_equal(count_of(trace, "s", NULL), 0);
    json_decref(trace);
    drop(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_is_what_was_recorded),
        cmocka_unit_test(the_way_is_told_where_it_is_known),
        cmocka_unit_test(phases_are_of_the_recordings_clock),
        cmocka_unit_test(steps_left_out_are_warm_up),
        cmocka_unit_test(phases_that_nobody_knows),
        cmocka_unit_test(parts_are_mapped_and_sum_to_the_wall),
        cmocka_unit_test(programs_are_executions),
        cmocka_unit_test(the_same_steps_have_the_same_id),
        cmocka_unit_test(a_store_keeps_it),
        cmocka_unit_test(foreign_words_about_a_recording),
        cmocka_unit_test(the_timeline_has_all),
        cmocka_unit_test(a_timeline_of_little),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
