/*
 * test_group.c - how many processes a group has. Needs no plugin.
 */
#include "harness/jobs/jobs.h"
#include "tests/support/results_fixture.h"

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    return 0;
}

/* A record whose steps take WALL_NS each. */
static job_kept kept_of(uint64_t wall_ns, bn_code failure)
{
    job_kept kept = {.record = res_record_new()};
    bn_status st = {.code = BN_OK};
    assert_non_null(kept.record);
    assert_int_equal(res_record_reserve_steps(kept.record, 4, 0, &st), BN_OK);
    for (size_t i = 0; i < 4; i++)
        kept.record->wall_ns[i] = wall_ns;
    kept.record->step_count = 4;
    kept.failure.code = failure;
    return kept;
}

/* The processes planned by a group of two that was begun with ASKED; *SECONDS: of its list. */
static int planned(int asked, const uint64_t wall_ns[2], bn_code second, double *seconds)
{
    job_group group;
    job_experiment list[2] = {{.how.min_time = 1}, {.how.min_time = 1}};
    job_kept kept[2] = {kept_of(wall_ns[0], BN_OK), kept_of(wall_ns[1], second)};
    job_group_begin(&group, asked, 1);
    job_group_learn(&group, list, 2, kept);
    assert_true(list[0].how.min_time >= list[1].how.min_time &&
                list[0].how.min_time <= list[1].how.min_time);
    *seconds = list[0].how.min_time;
    for (int i = 0; i < 2; i++)
        res_record_free(kept[i].record);
    return group.processes;
}

static void short_steps_have_more_and_shorter_processes(void **state)
{
    (void)state;
    static const struct {
        int asked;
        uint64_t wall_ns[2];
        bn_code second;
        int processes;
        double seconds;
    } rows[] = {
        {0, {100000, 900000}, BN_OK, JOB_SHORT_PROCESSES, 0.125},
        {0, {100000, 1100000}, BN_OK, JOB_USUAL_PROCESSES, 1}, /* one is long */
        {0, {100000, 100000}, BN_CRASH, JOB_USUAL_PROCESSES, 1},
        {5, {100000, 100000}, BN_OK, 5, 1}, /* five were given */
        {4, {100000, 100000}, BN_OK, 4, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double seconds = 0;
        assert_int_equal(planned(rows[i].asked, rows[i].wall_ns, rows[i].second, &seconds),
                         rows[i].processes);
        assert_near(seconds, rows[i].seconds, 1e-12);
    }
}

/* It is called once: the divided time is not divided again. */
static void a_group_learns_once(void **state)
{
    (void)state;
    job_group group;
    job_experiment one = {.how.min_time = 1};
    job_kept kept = kept_of(1000, BN_OK);
    job_group_begin(&group, 0, 1);
    job_group_learn(&group, &one, 1, &kept);
    job_group_learn(&group, &one, 1, &kept);
    assert_near(one.how.min_time, 0.125, 1e-12);
    res_record_free(kept.record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_steps_have_more_and_shorter_processes),
        cmocka_unit_test(a_group_learns_once),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
