/*
 * test_ledger_of_record.c - where the time of a recorded process went, as its record has it:
 * phases, parts of steps, counters. Needs no plugin and no recorder.
 */
#include "tests/results/recordings/made_fixture.h"

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

/* Time before the steady steps is warm-up, except compilation. */
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
static void unknown_phases(void **state)
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

    /* A sample may be of several steps. */
    m->steps.cycle = 5;
    record = record_of(m, &naming);
    assert_int_equal(record->step_count, STEPS / 5);
    assert_near(res_counter_a_step(record, BN_COUNTER_EXECUTIONS), PROGRAMS, 1e-12);
    res_record_free(record);
    m->steps.cycle = 1;

    /* Without clocks of the CPU nobody knows that the host worked. */
    m->steps.cpu_clocks = false;
    record = record_of(m, &naming);
    assert_int_equal(record->part_ns[BN_PART_TRACE], 0);
    assert_int_equal(record->part_ns[BN_PART_OTHER], 4 * MS + MS / 2);
    res_record_free(record);
    drop(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_of_the_recordings_clock),
        cmocka_unit_test(steps_left_out_are_warm_up),
        cmocka_unit_test(unknown_phases),
        cmocka_unit_test(parts_are_mapped_and_sum_to_the_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
