/*
 * test_memory.c - steps and probes on simulated devices whose memory is short, or that refuse an
 * execution for want of it.
 */
#include "tests/runtime/sim/device/sim_fixture.h"

#include "modes/mode.h"

#define MIB   ((int64_t)1 << 20)
/* 8 MiB. */
#define TYPE  "tensor<2097152xf32>"
#define VALUE (8 * MIB)
#define PROGRAM(name, arguments, body)                                                             \
    "module @" name " {\n  func.func public @main(" arguments ") -> " TYPE " {\n"                  \
    "    %r = " body " : " TYPE "\n    return %r : " TYPE "\n  }\n}\n"

static const char *const twice = PROGRAM("twice", "%a: " TYPE, "stablehlo.add %a, %a");
static const char *const in_place =
    PROGRAM("in_place", "%a: " TYPE " {tf.aliasing_output = 0 : i32}", "stablehlo.add %a, %a");
static const char *const sum = PROGRAM("sum", "%a: " TYPE ", %b: " TYPE, "stablehlo.add %a, %b");

static mode_part part_of(const char *label, const char *text, size_t arguments)
{
    return (mode_part){.label = label,
                       .program = {.format = "mlir", .code = text, .size = strlen(text)},
                       .argument_count = arguments,
                       .result_count = 1};
}

static float *host;

static mode_input input_of(size_t heir_of)
{
    return (mode_input){.type = {.dtype = BN_F32, .rank = 1, .dims = {2097152}, .result = -1},
                        .host = host,
                        .heir_of = heir_of};
}

static rt_client *open_client(const char *settings)
{
    char all[256];
    snprintf(all, sizeof all, "values=none %s", settings);
    return sim_client(all);
}

static int64_t peak(rt_client *client)
{
    bn_status st = {0};
    rt_device_memory memory;
    assert_ok(rt_client_memory(client, 0, &memory, &st), &st);
    return memory.peak_bytes_in_use;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* A chain of twelve programs, of which the last takes the first one's result as well. All values
 * are 13; two of them and the first have to be there at once. */
#define RUNS 12
static bn_code run_chain(const char *settings, mode_pace pace, int in_flight, int64_t *most,
                         bn_status *st)
{
    const mode_part parts[] = {part_of("twice", twice, 1), part_of("sum", sum, 2)};
    const mode_input inputs[] = {input_of(MODE_NO_VALUE)};
    size_t arguments[RUNS][2];
    mode_run runs[RUNS];
    mode *m = NULL;
    for (size_t i = 0; i < RUNS; i++) {
        arguments[i][0] = i;
        arguments[i][1] = 1;
        runs[i] = (mode_run){.part = i + 1 == RUNS, .arguments = arguments[i]};
    }
    const mode_sequence s = {parts, 2, inputs, 1, runs, RUNS};
    const mode_options options = {.in_flight = in_flight};
    rt_client *client = open_client(settings);
    bn_code code = mode_create_sequence(client, &options, &s, pace, &m, st);
    for (int i = 0; i < 3 && code == BN_OK; i++) {
        bn_ledger ledger;
        code = mode_step(m, &(mode_call){0}, &ledger, st);
    }
    for (int i = 0; i < 2 && code == BN_OK; i++)
        code =
            mode_step_probe(m, &(mode_call){0}, 4, i ? MODE_PROBE_QUEUED : MODE_PROBE_AWAITED, st);
    *most = peak(client);
    mode_destroy(m);
    rt_client_destroy(client);
    return code;
}

static void values_live_as_long_as_they_are_taken(void **state)
{
    (void)state;
    bn_status st = {0};
    int64_t most;
    char short_of[64];
    /* Four values, so that the input, the first result and those of a program fit; a probe has the
     * result before its own, too. */
    snprintf(short_of, sizeof short_of, "memory_bytes=%lld", (long long)(5 * VALUE));
    for (int pace = MODE_QUEUED; pace <= MODE_PACED; pace++) {
        assert_ok(run_chain(short_of, (mode_pace)pace, 1, &most, &st), &st);
        assert_true(most <= 5 * VALUE);
    }
    /* Where there is room the handles are released at the step's end. */
    assert_ok(run_chain("memory_bytes=1000000000", MODE_QUEUED, 1, &most, &st), &st);
    assert_true(most >= (RUNS + 1) * VALUE);
    /* The message names the value that does not fit. */
    snprintf(short_of, sizeof short_of, "memory_bytes=%lld", (long long)(2 * VALUE));
    assert_fails(run_chain(short_of, MODE_QUEUED, 1, &most, &st), BN_OUT_OF_MEMORY,
                 "executing twice", &st);
    assert_nothing_live();
}

/* ---- probes -------------------------------------------------------------------------------- */

/* A step, a probe of DEPTH executions behind one that is not timed, and another step, where the
 * plugin meets FAULTS. */
static bn_code run_probe(const char *text, const char *faults, unsigned depth, mode_probe how,
                         bool heir, bn_status *st)
{
    char settings[128];
    const mode_part parts[] = {part_of("probed", text, 1)};
    const mode_input inputs[] = {input_of(heir ? 1 : MODE_NO_VALUE)};
    const size_t a[] = {0};
    const mode_run runs[] = {{.arguments = a}};
    const mode_sequence s = {parts, 1, inputs, 1, runs, 1};
    const mode_options options = {.in_flight = 1};
    mode *m = NULL;
    bn_ledger ledger;
    snprintf(settings, sizeof settings, "faults=%s", faults);
    rt_client *client = open_client(settings);
    assert_ok(mode_create_sequence(client, &options, &s, MODE_QUEUED, &m, st), st);
    assert_ok(mode_step(m, &(mode_call){0}, &ledger, st), st);
    const bn_code code = mode_step_probe(m, &(mode_call){0}, depth, how, st);
    bn_status later = {0};
    assert_ok(mode_step(m, &(mode_call){0}, &ledger, &later), &later);
    if (code == BN_OK)
        assert_true(mode_execution_at(m, 0)->pjrt_ns > 0);
    mode_destroy(m);
    rt_client_destroy(client);
    assert_nothing_live();
    return code;
}

static void a_refused_repetition_begins_its_row_again(void **state)
{
    (void)state;
    const char *const texts[] = {twice, in_place};
    for (int way = 0; way < 8; way++)
        for (int n = 2; n <= 6; n++) {
            bn_status st = {0};
            char faults[64];
            const mode_probe how = way & 1 ? MODE_PROBE_QUEUED : MODE_PROBE_AWAITED;
            const bool heir = way & 4;
            const char *text = texts[(way & 2) != 0];
            snprintf(faults, sizeof faults, "execute:%d:oom", n);
            assert_ok(run_probe(text, faults, 4, how, heir, &st), &st);
            /* Once, and it is named. */
            snprintf(faults, sizeof faults, "execute:%d:oom;execute:%d:oom", n, n + 2);
            assert_fails(run_probe(text, faults, 4, how, heir, &st), BN_OUT_OF_MEMORY,
                         "probing probed", &st);
            /* And only for want of memory. */
            snprintf(faults, sizeof faults, "execute:%d:fail", n);
            assert_fails(run_probe(text, faults, 4, how, heir, &st), BN_EXECUTE, "probing probed",
                         &st);
        }
}

static int make_host(void **state)
{
    (void)state;
    host = calloc(2097152, sizeof *host);
    return host ? 0 : -1;
}

static int free_host(void **state)
{
    (void)state;
    free(host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_live_as_long_as_they_are_taken),
        cmocka_unit_test(a_refused_repetition_begins_its_row_again),
    };
    return cmocka_run_group_tests(tests, make_host, free_host);
}
