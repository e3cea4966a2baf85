/*
 * test_ledger.c - where the time of a step goes: the parts of the ledger, and the probe.
 */
#include "tests/modes/fit_fixture.h"

static void the_ledger_adds_up(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        fit f = fit_new(m);
        bn_status st = {0};
        run_steps(m, &f, 2);
        bn_ledger ledger;
        mode_call call = {.function = fit_step, .context = &f};
        assert_ok(mode_step(m, &call, &ledger, &st), &st);
        uint64_t sum = 0;
        for (int p = 0; p < BN_PART_COUNT; p++)
            sum += ledger.part_ns[p];
        assert_int_equal(sum, ledger.wall_ns);
        assert_true(ledger.part_ns[BN_PART_DISPATCH] > 0);
        assert_int_equal(ledger.part_ns[BN_PART_COMPILE], 0);
        assert_int_equal(ledger.part_ns[BN_PART_TRACE] > 0, i < 2);
        fit_free(m, &f);
        mode_destroy(m);
    }
}

static void the_probe_repeats_executions(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        fit f = fit_new(m);
        bn_status st = {0};
        mode_call call = {.function = fit_step, .context = &f};
        run_steps(m, &f, 1);
        for (unsigned k = 1; k <= 4; k++) {
            assert_ok(mode_step_probe(m, &call, k, MODE_PROBE_QUEUED, &st), &st);
            for (size_t e = 0; e < mode_execution_count(m); e++) {
                const mode_execution *row = mode_execution_at(m, e);
                assert_true(row->per_step > 0);
                assert_true(row->submit_ns > 0 && row->pjrt_ns >= row->submit_ns);
                assert_true(row->nodes > 0 && row->text_bytes > 0);
            }
        }
        fit_free(m, &f);
        mode_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ledger_adds_up),
        cmocka_unit_test(the_probe_repeats_executions),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
