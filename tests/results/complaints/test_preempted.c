/*
 * test_preempted.c - a host that waits for a core is told from one that sleeps, where that is
 * known.
 */
#include "tests/results/complaints/complaints_fixture.h"

enum { LOOPS = 60 };

typedef struct host {
    uint64_t sleep_ns, preempted_ns;
    int every;   /* steps, of which one is preempted */
    bool blind;  /* no delay is read */
    bool hidden; /* the device works meanwhile */
} host;

static seen see_host(const host *h)
{
    static play p;
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 12, 1, 1, MS);
    const run r = {.call_ns = 50 * US, .device_ns = 5 * MS};
    if (!h->blind)
        play_read_delay(&p, 0);
    for (int i = 0; i < LOOPS; i++) {
        play_execute(&p, &step, r, NULL);
        if (!h->hidden)
            play_wait(&p, 0, 0);
        play_rest(&p, 0, h->sleep_ns);
        play_preempt(&p, 0, i % h->every == 0 ? h->preempted_ns : 0);
        play_wait(&p, 0, 0);
        if (!h->blind)
            play_read_delay(&p, 0);
    }
    return see(&p);
}

static bool has(const seen *s, rec_rule rule)
{
    for (size_t i = 0; i < s->checkup.count; i++)
        if (s->checkup.list[i].rule == rule)
            return true;
    return false;
}

static void a_preempted_host_is_no_sleeping_one(void **state)
{
    (void)state;
    seen s = see_host(&(host){.preempted_ns = 3 * MS, .every = 1});
    const rec_finding *c = complaint(&s, REC_RULE_PREEMPTED, 1);
    assert_near(c->cost_ns.estimate, 3 * MS, 10 * US);
    assert_near(c->share, 3.0 / 8, 0.01);
    forget(&s);
}

/* The median step has its core all the time. */
static void what_comes_in_bursts_counts_by_its_mean(void **state)
{
    (void)state;
    seen s = see_host(&(host){.preempted_ns = 8 * MS, .every = 3});
    assert_true(has(&s, REC_RULE_PREEMPTED));
    for (size_t i = 0; i < s.checkup.count; i++)
        if (s.checkup.list[i].rule == REC_RULE_PREEMPTED)
            assert_near(s.checkup.list[i].cost_ns.estimate, 8.0 / 3 * MS, MS / 2);
    forget(&s);
}

static void a_sleeping_host_is_not_preempted(void **state)
{
    (void)state;
    seen s = see_host(&(host){.sleep_ns = 3 * MS, .every = 1});
    complaint(&s, REC_RULE_INPUT, 1);
    forget(&s);
}

static void where_it_is_unknown_nobody_says_so(void **state)
{
    (void)state;
    seen s = see_host(&(host){.preempted_ns = 3 * MS, .every = 1, .blind = true});
    complaint(&s, REC_RULE_INPUT, 1);
    assert_false(s.steps->delays);
    forget(&s);
}

static void behind_the_device_it_costs_nothing(void **state)
{
    (void)state;
    seen s = see_host(&(host){.preempted_ns = 3 * MS, .every = 1, .hidden = true});
    assert_near(rec_steps_ready(s.steps).median_ns, 3 * MS, 10 * US);
    assert_false(has(&s, REC_RULE_PREEMPTED));
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preempted_host_is_no_sleeping_one),
        cmocka_unit_test(what_comes_in_bursts_counts_by_its_mean),
        cmocka_unit_test(a_sleeping_host_is_not_preempted),
        cmocka_unit_test(where_it_is_unknown_nobody_says_so),
        cmocka_unit_test(behind_the_device_it_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
