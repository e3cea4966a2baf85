/*
 * test_recorded.c - steps of several programs with the flow of values between them, on the default
 * runtime.
 */
#include "tests/support/client_fixture.h"
#include "tests/support/live.h"

#include "modes/mode.h"

#include <stdlib.h>

#define TYPE "tensor<2xf32>"
/* A program of two floats' arguments to a result. */
#define ONE(name, attributes, body)                                                                \
    "module @" name " {\n  func.func public @main(%a: " TYPE " " attributes ") -> " TYPE " {\n"    \
    "    %one = stablehlo.constant dense<1.0> : " TYPE "\n    %r = " body " : " TYPE "\n"          \
    "    return %r : " TYPE "\n  }\n}\n"
#define TWO(name, attributes, body)                                                                \
    "module @" name " {\n  func.func public @main(%a: " TYPE " " attributes ", %b: " TYPE          \
    ") -> " TYPE " {\n    %r = " body " : " TYPE "\n    return %r : " TYPE "\n  }\n}\n"
#define DONATED "{tf.aliasing_output = 0 : i32}"

static const char add_one[] = ONE("add_one", DONATED, "stablehlo.add %a, %one");
static const char add_one_kept[] = ONE("add_kept", "", "stablehlo.add %a, %one");
static const char multiply[] = TWO("multiply", "", "stablehlo.multiply %a, %b");
static const char subtract_donated[] = TWO("subtract", DONATED, "stablehlo.subtract %a, %b");

static const float first[2] = {1, 10}, factor[2] = {2, 3};

static mode_part part_of(const char *label, const char *text, size_t arguments)
{
    return (mode_part){.label = label,
                       .program = {.format = "mlir", .code = text, .size = strlen(text)},
                       .argument_count = arguments,
                       .result_count = 1};
}

static mode_input input_of(const float *host, size_t heir_of)
{
    return (mode_input){.type = {.dtype = BN_F32, .rank = 1, .dims = {2}, .result = -1},
                        .host = host,
                        .heir_of = heir_of};
}

static mode *open_sequence(const mode_sequence *s, mode_pace pace, int in_flight)
{
    bn_status st = {0};
    mode *m = NULL;
    const mode_options options = {.in_flight = in_flight};
    assert_ok(mode_create_sequence(client, &options, s, pace, &m, &st), &st);
    return m;
}

static void step(mode *m)
{
    bn_status st = {0};
    bn_ledger ledger;
    uint64_t sum = 0;
    assert_ok(mode_step(m, &(mode_call){0}, &ledger, &st), &st);
    for (int p = 0; p < BN_PART_COUNT; p++)
        sum += ledger.part_ns[p];
    assert_true(sum == ledger.wall_ns);
}

/* The values of input INDEX of the next step. */
static void read_input(mode *m, size_t index, float y[2])
{
    bn_status st = {0};
    assert_ok(mode_drain(m, &st), &st);
    assert_non_null(mode_sequence_input(m, index));
    assert_ok(rt_buffer_to_host(client, mode_sequence_input(m, index), y, 2 * sizeof *y, &st), &st);
}

static int64_t sent(const mode *m)
{
    return mode_counters(m)[BN_COUNTER_TRANSFERS_TO_DEVICE];
}

/* w + 1, then (w + 1) * f, then that - f: the last is the next step's w. */
static void values_flow_from_step_to_step(void **state)
{
    (void)state;
    enum { W, F, PLUS, TIMES, MINUS };
    const mode_part parts[] = {part_of("add", add_one, 1), part_of("multiply", multiply, 2),
                               part_of("subtract", subtract_donated, 2)};
    const mode_input inputs[] = {input_of(first, MINUS), input_of(factor, MODE_NO_VALUE)};
    const size_t a[] = {W}, b[] = {PLUS, F}, c[] = {TIMES, F};
    const mode_run runs[] = {
        {.part = 0, .arguments = a}, {.part = 1, .arguments = b}, {.part = 2, .arguments = c}};
    const mode_sequence s = {parts, 3, inputs, 2, runs, 3};
    for (int way = 0; way < 3; way++) {
        bn_status st = {0};
        float w[2] = {1, 10}, y[2];
        mode *m = open_sequence(&s, way == 1 ? MODE_AWAITED : MODE_QUEUED, way == 2 ? 2 : 1);
        for (int i = 0; i < 4; i++) {
            step(m);
            for (int k = 0; k < 2; k++)
                w[k] = (w[k] + 1) * factor[k] - factor[k];
        }
        read_input(m, W, y);
        assert_memory_equal(y, w, sizeof y);
        read_input(m, F, y);
        assert_memory_equal(y, factor, sizeof y);
        assert_int_equal(sent(m), 2);
        assert_int_equal(mode_execution_count(m), 3);
        assert_string_equal(mode_execution_at(m, 1)->label, "multiply");
        assert_int_equal(mode_execution_at(m, 1)->per_step, 1);
        assert_int_equal(mode_counters(m)[BN_COUNTER_EXECUTIONS], 12);
        /* A probe repeats each, and leaves the sequence ready for more steps. */
        for (int probe = 0; probe < 2; probe++) {
            assert_ok(mode_step_probe(m, &(mode_call){0}, 3,
                                      probe ? MODE_PROBE_QUEUED : MODE_PROBE_AWAITED, &st),
                      &st);
            for (size_t i = 0; i < 3; i++)
                assert_true(mode_execution_at(m, i)->pjrt_ns > 0);
        }
        step(m);
        assert_int_equal(sent(m), 2);
        mode_destroy(m);
    }
}

static void one_program_runs_several_times(void **state)
{
    (void)state;
    const mode_part parts[] = {part_of("add", add_one, 1)};
    const mode_input inputs[] = {input_of(first, 3)};
    const size_t a[] = {0}, b[] = {1}, c[] = {2};
    const mode_run runs[] = {{.arguments = a}, {.arguments = b}, {.arguments = c}};
    const mode_sequence s = {parts, 1, inputs, 1, runs, 3};
    float y[2];
    mode *m = open_sequence(&s, MODE_QUEUED, 1);
    step(m);
    step(m);
    read_input(m, 0, y);
    assert_true(y[0] == 7 && y[1] == 16);
    assert_int_equal(mode_execution_at(m, 0)->per_step, 3);
    mode_destroy(m);
}

/* An input that an execution consumes, and that is nobody's heir, comes anew. */
static void consumed_inputs_come_anew(void **state)
{
    (void)state;
    const mode_part parts[] = {part_of("add", add_one, 1)};
    const mode_input inputs[] = {input_of(first, MODE_NO_VALUE)};
    const size_t a[] = {0};
    const int64_t keep[] = {0};
    for (int kept = 0; kept < 2; kept++) {
        bn_status st = {0};
        const mode_run runs[] = {{.arguments = a, .keep = keep, .keep_count = (size_t)kept}};
        const mode_sequence s = {parts, 1, inputs, 1, runs, 1};
        mode *m = open_sequence(&s, MODE_QUEUED, 1);
        for (int i = 0; i < 3; i++)
            step(m);
        assert_int_equal(sent(m), kept ? 1 : 3);
        if (kept) {
            float y[2];
            read_input(m, 0, y);
            assert_memory_equal(y, first, sizeof y);
        }
        assert_ok(mode_step_probe(m, &(mode_call){0}, 4, MODE_PROBE_QUEUED, &st), &st);
        step(m);
        mode_destroy(m);
    }
}

/* An input need not be donated to be replaced. */
static void results_replace_inputs_that_stay(void **state)
{
    (void)state;
    const mode_part parts[] = {part_of("add", add_one_kept, 1)};
    const mode_input inputs[] = {input_of(first, 1)};
    const size_t a[] = {0};
    const mode_run runs[] = {{.arguments = a}};
    const mode_sequence s = {parts, 1, inputs, 1, runs, 1};
    float y[2];
    mode *m = open_sequence(&s, MODE_AWAITED, 1);
    for (int i = 0; i < 3; i++)
        step(m);
    read_input(m, 0, y);
    assert_true(y[0] == 4 && y[1] == 13);
    mode_destroy(m);
}

static void values_that_do_not_fit_are_reported(void **state)
{
    (void)state;
    bn_status st = {0};
    mode *m;
    mode_part parts[] = {part_of("add", add_one, 1), part_of("two", multiply, 2)};
    mode_input inputs[] = {input_of(first, MODE_NO_VALUE), input_of(factor, MODE_NO_VALUE)};
    size_t a[] = {0, 1};
    int64_t keep[] = {0};
    mode_run runs[] = {{.part = 0, .arguments = a}, {.part = 1, .arguments = a}};
    const mode_sequence s = {parts, 2, inputs, 2, runs, 2};
    const mode_options options = {0};
    a[0] = 3; /* its own result */
    runs[0].part = 1;
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_INVALID,
                 "execution|value 3", &st);
    a[0] = 0;
    runs[0].part = 2;
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_INVALID,
                 "program 2 of 2", &st);
    runs[0] = (mode_run){.part = 0, .arguments = a, .keep = keep, .keep_count = 1};
    keep[0] = 1;
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_INVALID,
                 "execution|argument 1", &st);
    keep[0] = 0;
    inputs[0].heir_of = inputs[1].heir_of = 2;
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_INVALID,
                 "input 1|value 2", &st);
    inputs[1].heir_of = 1;
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_INVALID,
                 "input 1|value 1", &st);
    inputs[1].heir_of = MODE_NO_VALUE;
    parts[1].result_count = 2;
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_PLUGIN,
                 "program two|1 results|2", &st);
    parts[1] = part_of("two", "module { nonsense }", 2);
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_FORMAT,
                 "program two", &st);
    parts[1] =
        part_of("two", "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> nonsense", 2);
    assert_fails(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_COMPILE,
                 "program two", &st);
}

/* Of the host's time work is `trace`, rest `other`; what comes before the first execution is split
 * by the wait at the step's end. Probes leave all of it out. */
static void the_hosts_time_is_in_the_ledger(void **state)
{
    (void)state;
    const uint64_t ms = 1000000;
    const mode_part parts[] = {part_of("add", add_one, 1)};
    const mode_input inputs[] = {input_of(first, 2)};
    const size_t a[] = {0}, b[] = {1};
    const mode_run runs[] = {
        {.arguments = a, .overlapped_ns = ms, .alone_ns = 2 * ms, .idle_ns = 3 * ms, .waits = true},
        {.arguments = b, .overlapped_ns = 4 * ms, .alone_ns = 5 * ms, .waits = true}};
    const mode_sequence s = {parts, 1, inputs, 1, runs, 2};
    for (int in_flight = 1; in_flight <= 2; in_flight++) {
        bn_status st = {0};
        bn_ledger ledger;
        mode *m = open_sequence(&s, MODE_PACED, in_flight);
        for (int i = 0; i < 2; i++) {
            assert_ok(mode_step(m, &(mode_call){0}, &ledger, &st), &st);
            assert_true(ledger.part_ns[BN_PART_TRACE] >= 12 * ms);
            assert_true(ledger.part_ns[BN_PART_OTHER] >= 3 * ms);
        }
        /* A step's host time is 15 ms; the shortest of some probes knows nothing of it. */
        uint64_t shortest = UINT64_MAX;
        for (int i = 0; i < 10; i++) {
            const uint64_t start = bn_now_ns();
            assert_ok(mode_step_probe(m, &(mode_call){0}, 2, MODE_PROBE_QUEUED, &st), &st);
            const uint64_t took = bn_now_ns() - start;
            shortest = took < shortest ? took : shortest;
        }
        assert_true(!judges_times() || shortest < 15 * ms);
        assert_ok(mode_step(m, &(mode_call){0}, NULL, &st), &st);
        assert_int_equal(mode_execution_at(m, 0)->per_step, 2);
        mode_destroy(m);
        /* None of it, where executions come back to back. */
        m = open_sequence(&s, MODE_QUEUED, in_flight);
        step(m);
        assert_ok(mode_step(m, &(mode_call){0}, &ledger, &st), &st);
        assert_int_equal(ledger.part_ns[BN_PART_TRACE], 0);
        mode_destroy(m);
    }
}

/* A step that fails releases its results, and the next one begins with the present values. */
static void steps_go_on_after_a_failure(void **state)
{
    (void)state;
    bn_status st = {0};
    float four[4] = {0};
    /* The second program wants its first argument by columns; the first one consumes its own, and
     * puts it out by rows. */
    static const char rows[] =
        "func.func @main(%a: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2x2xf32> {\n"
        "  %b = stablehlo.add %a, %a : tensor<2x2xf32>\n  return %b : tensor<2x2xf32>\n}\n";
    static const char columns[] =
        "func.func @main(%a: tensor<2x2xf32> {mhlo.layout_mode = \"{0,1}\"}, %b: tensor<2x2xf32>) "
        "-> tensor<2x2xf32> {\n"
        "  %c = stablehlo.add %a, %b : tensor<2x2xf32>\n  return %c : tensor<2x2xf32>\n}\n";
    const mode_part parts[] = {part_of("rows", rows, 1), part_of("columns", columns, 2)};
    mode_input inputs[] = {input_of(four, 2), input_of(four, MODE_NO_VALUE)};
    const size_t a[] = {0}, b[] = {2, 1};
    const mode_run runs[] = {{.part = 0, .arguments = a}, {.part = 1, .arguments = b}};
    const mode_sequence s = {parts, 2, inputs, 2, runs, 2};
    mode *m;
    for (int i = 0; i < 2; i++) {
        inputs[i].type.rank = 2;
        inputs[i].type.dims[0] = inputs[i].type.dims[1] = 2;
    }
    m = open_sequence(&s, MODE_QUEUED, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(mode_step(m, &(mode_call){0}, NULL, &st), BN_NOT_SUPPORTED);
    assert_null(mode_sequence_input(m, 0));
    assert_non_null(mode_sequence_input(m, 1));
    assert_fails(mode_step_probe(m, &(mode_call){0}, 2, MODE_PROBE_QUEUED, &st), BN_INVALID,
                 "probe", &st);
    mode_destroy(m);
}

/* Inputs go as the program wants them to lie, and what does not fit it is no step. */
static void inputs_lie_as_programs_want_them(void **state)
{
    (void)state;
    static const char add[] =
        "func.func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}, "
        "%b: tensor<2x3xf32> {mhlo.layout_mode = \"auto\"}) -> (tensor<2x3xf32> "
        "{mhlo.layout_mode = \"{0,1}\"}) {\n"
        "  %c = stablehlo.add %a, %b : tensor<2x3xf32>\n  return %c : tensor<2x3xf32>\n}\n";
    bn_status st = {0};
    const float x[6] = {0, 1, 2, 3, 4, 5}, y[6] = {0, 10, 20, 30, 40, 50};
    float z[6];
    const mode_part parts[] = {part_of("add", add, 2)};
    /* The result in column-major order is the first argument of the next step. */
    mode_input inputs[] = {input_of(x, 2), input_of(y, MODE_NO_VALUE)};
    const size_t a[] = {0, 1};
    const mode_run runs[] = {{.arguments = a}};
    const mode_sequence s = {parts, 1, inputs, 2, runs, 1};
    for (int i = 0; i < 2; i++) {
        inputs[i].type.rank = 2;
        inputs[i].type.dims[0] = 2;
        inputs[i].type.dims[1] = 3;
    }
    mode *m = open_sequence(&s, MODE_QUEUED, 1);
    for (int steps = 1; steps <= 2; steps++) {
        step(m);
        assert_ok(rt_buffer_to_host(client, mode_sequence_input(m, 0), z, sizeof z, &st), &st);
        for (int i = 0; i < 6; i++)
            assert_true(z[i] == x[i] + (float)steps * y[i]);
    }
    mode_destroy(m);
    inputs[1].type.dims[0] = 3;
    inputs[1].type.dims[1] = 2;
    const mode_options options = {.in_flight = 1};
    assert_int_equal(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, &st), BN_INVALID);
}

/* A result that the next step could not take is reported at once. */
static void heirs_are_of_their_inputs_type(void **state)
{
    (void)state;
    bn_status st = {0};
    static const char cast[] =
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xi32> {\n"
        "  %b = stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<2xi32>\n"
        "  return %b : tensor<2xi32>\n}\n";
    const mode_part parts[] = {part_of("cast", cast, 1)};
    const mode_input inputs[] = {input_of(first, 1)};
    const size_t a[] = {0};
    const mode_run runs[] = {{.arguments = a}};
    const mode_sequence s = {parts, 1, inputs, 1, runs, 1};
    mode *m = open_sequence(&s, MODE_QUEUED, 1);
    assert_fails(mode_step(m, &(mode_call){0}, NULL, &st), BN_INVALID, "value 1|input", &st);
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_flow_from_step_to_step),
        cmocka_unit_test(one_program_runs_several_times),
        cmocka_unit_test(consumed_inputs_come_anew),
        cmocka_unit_test(results_replace_inputs_that_stay),
        cmocka_unit_test(values_that_do_not_fit_are_reported),
        cmocka_unit_test(the_hosts_time_is_in_the_ledger),
        cmocka_unit_test(steps_go_on_after_a_failure),
        cmocka_unit_test(inputs_lie_as_programs_want_them),
        cmocka_unit_test(heirs_are_of_their_inputs_type),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
