/*
 * test_cores.c - where threads run, whether idle cores sleep, how far apart cores are. Needs no
 * plugin.
 */
#define _GNU_SOURCE
#include "harness/cores/cores.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Each test starts with the cores that the process was given. */
static cpu_set_t given;

static int restore(void **state)
{
    return sched_setaffinity(0, sizeof given, &given);
}

static size_t core_number(int n)
{
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &given) && n-- == 0)
            return core;
    return 0;
}

/* A thread that was there before anything was pinned. */
static struct {
    pthread_t thread;
    pid_t tid;
    pthread_barrier_t ready, done;
} early;

static void *run_early(void *unused)
{
    early.tid = gettid();
    pthread_barrier_wait(&early.ready);
    pthread_barrier_wait(&early.done);
    return NULL;
}

static void early_begin(void)
{
    pthread_barrier_init(&early.ready, NULL, 2);
    pthread_barrier_init(&early.done, NULL, 2);
    assert_int_equal(pthread_create(&early.thread, NULL, run_early, NULL), 0);
    pthread_barrier_wait(&early.ready);
}

static void early_end(void)
{
    pthread_barrier_wait(&early.done);
    pthread_join(early.thread, NULL);
    pthread_barrier_destroy(&early.ready);
    pthread_barrier_destroy(&early.done);
}

static void refused(const char *pin, bn_code code, const char *text)
{
    bn_status st = {0};
    cores_pinning *pinning = NULL;
    cpu_set_t after;
    assert_fails(cores_pin_begin(pin, &pinning, &st), code, text, &st);
    assert_null(pinning);
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&after, &given)); /* nothing was pinned on the way */
}

static void bad_lists_are_refused(void **state)
{
    static const char *const bad[] = {"",     "x",     "0x1", "0-", "-1",    ",0",     "0,",
                                      "0,,1", "0-0-0", " 0",  "0 ", "hosts", "123456", "9-1"};
    char quoted[16];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(quoted, sizeof quoted, "'%s'", bad[i]);
        refused(bad[i], BN_INVALID, quoted);
    }
    refused("9999", BN_INVALID, "--pin 9999");
    refused("0-99999", BN_INVALID, "--pin 0-99999");
}

static void none_is_nothing(void **state)
{
    bn_status st = {0};
    cores_pinning *pinning = NULL;
    assert_ok(cores_pin_begin("none", &pinning, &st), &st);
    assert_null(pinning);
    assert_ok(cores_pin_host_thread(NULL, &st), &st);
    json_t *json = cores_pinning_to_json(NULL);
    assert_string_equal(json_string_value(json_object_get(json, "pin")), "none");
    json_decref(json);
    cores_pinning_free(NULL);
}

static void one_core_cannot_be_divided(void **state)
{
    bn_status st = {0};
    cores_pinning *pinning = NULL;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core_number(0), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_fails(cores_pin_begin("host", &pinning, &st), BN_NOT_SUPPORTED, "--pin host", &st);
    assert_ok(cores_pin_begin("all", &pinning, &st), &st);
    cores_pinning_free(pinning);
}

/* Pins by PIN with an early thread; the masks of both threads afterwards. */
static void pin_both(const char *pin, cpu_set_t *host, cpu_set_t *other)
{
    bn_status st = {0};
    cores_pinning *pinning = NULL;
    early_begin();
    assert_ok(cores_pin_begin(pin, &pinning, &st), &st);
    assert_ok(cores_pin_host_thread(pinning, &st), &st);
    sched_getaffinity(0, sizeof *host, host);
    sched_getaffinity(early.tid, sizeof *other, other);
    json_t *json = cores_pinning_to_json(pinning);
    json_t *ids = json_object_get(json, "moved_thread_ids");
    bool moved = false;
    for (size_t i = 0; i < json_array_size(ids); i++)
        moved = moved || json_integer_value(json_array_get(ids, i)) == early.tid;
    assert_true(moved);
    assert_int_equal(json_integer_value(json_object_get(json, "threads_moved")),
                     json_array_size(ids));
    assert_string_equal(json_string_value(json_object_get(json, "pin")), pin);
    json_decref(json);
    cores_pinning_free(pinning);
    early_end();
}

static void threads_go_where_they_should(void **state)
{
    cpu_set_t host, other, both;
    char list[32];
    size_t first = core_number(0);
    pin_both("all", &host, &other);
    assert_int_equal(CPU_COUNT(&host), 1);
    assert_true(CPU_ISSET(first, &host));
    assert_true(CPU_EQUAL(&other, &given));
    restore(NULL);
    snprintf(list, sizeof list, "%zu", first);
    pin_both(list, &host, &other);
    assert_true(CPU_EQUAL(&host, &other) && CPU_COUNT(&host) == 1);
    restore(NULL);

    bn_status st = {0};
    cores_pinning *pinning = NULL;
    if (cores_pin_begin("host", &pinning, &st) != BN_OK) {
        assert_int_equal(st.code, BN_NOT_SUPPORTED); /* a machine of one core */
        return;
    }
    cores_pinning_free(pinning);
    restore(NULL);
    pin_both("host", &host, &other);
    CPU_AND(&both, &host, &other);
    assert_true(CPU_ISSET(first, &host));
    assert_int_equal(CPU_COUNT(&host), 1);
    assert_true(CPU_COUNT(&other) > 0);
    assert_int_equal(CPU_COUNT(&both), 0);
}

/* The thread may use the same cores afterwards, and one that is pinned has no other place. */
static void the_host_thread_is_placed_anew(void **state)
{
    cpu_set_t before, after;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    assert_non_null(rng);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    cores_places *places = cores_places_of_thread();
    for (int i = 0; i < 100; i++)
        cores_place_anew(places, rng);
    cores_places_free(places);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t core = 0; CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &before))
            CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_null(cores_places_of_thread());
    cores_place_anew(NULL, rng);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&one, &after));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    gsl_rng_free(rng);
}

/* ---- how far apart cores are ---------------------------------------------------------------- */

/* A core may have other work meanwhile: then the trip is unknown. */
static void a_trip_takes_nanoseconds_or_is_unknown(void **state)
{
    cores_watch *watch = cores_watch_begin(NULL);
    for (int i = 0; watch && i < 100; i++) {
        const double trip_ns = cores_watch_trip_ns(watch);
        assert_true(isnan(trip_ns) || (trip_ns > 1 && trip_ns < 5e6));
        assert_false(isnan(trip_ns) && cores_are_apart(trip_ns));
    }
    cores_watch_end(watch);
    assert_true(isnan(cores_watch_trip_ns(NULL)));
    assert_true(cores_watch_gather(NULL, 0, 1)); /* none are apart, so nothing is waited for */
    cores_watch_end(NULL);
}

static void waking_ends_after_its_time(void **state)
{
    int held = 0;
    bn_status st = {0};
    cores_watch *watch = cores_watch_begin(NULL);
    assert_ok(cores_idle_begin("auto", &held, &st), &st);
    const bool together = cores_watch_gather(watch, held, 0.05);
    assert_true(together || watch);
    cores_idle_end(held);
    cores_watch_end(watch);
}

static void one_core_is_not_watched(void **state)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core_number(0), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_null(cores_watch_begin(NULL));
}

/* The host thread has one core, the others the rest: all of them are watched. */
static void all_cores_of_a_pinning_are_watched(void **state)
{
    bn_status st = {0};
    cores_pinning *pinning = NULL;
    cores_watch *free = cores_watch_begin(NULL);
    if (free) {
        assert_ok(cores_pin_begin("host", &pinning, &st), &st);
        assert_ok(cores_pin_host_thread(pinning, &st), &st);
        assert_null(cores_watch_begin(NULL));
        cores_watch *pinned = cores_watch_begin(pinning);
        assert_non_null(pinned);
        cores_watch_end(pinned);
        cores_pinning_free(pinning);
    }
    cores_watch_end(free);
}

static void expect_nearness(const cores_nearness *near, int rounds, int apart, int repeated)
{
    json_t *json = cores_nearness_to_json(near);
    assert_non_null(json);
    assert_int_equal(json_integer_value(json_object_get(json, "rounds")), rounds);
    assert_int_equal(json_integer_value(json_object_get(json, "apart")), apart);
    assert_int_equal(json_integer_value(json_object_get(json, "repeated")), repeated);
    json_decref(json);
}

static void rounds_of_cores_apart_are_repeated_a_few_times(void **state)
{
    cores_nearness near = {.trip_ns = 80, .left_s = 1};
    assert_null(cores_nearness_to_json(&near));
    assert_false(cores_nearness_judge(&near, 90, 2)); /* near each other */
    assert_false(cores_nearness_waits(&near));
    assert_true(cores_nearness_judge(&near, 350, 2)); /* apart: once more, and again */
    assert_true(cores_nearness_waits(&near));
    assert_true(cores_nearness_judge(&near, 350, 2));
    assert_false(cores_nearness_judge(&near, 350, 2)); /* then the round is kept */
    expect_nearness(&near, 2, 1, 2);
    assert_false(cores_nearness_judge(&near, NAN, 9)); /* unknown */
    expect_nearness(&near, 2, 1, 2);
    near.left_s = 0; /* no time is left to wait in */
    assert_false(cores_nearness_judge(&near, 350, 9));
    assert_false(cores_nearness_waits(&near));
    expect_nearness(&near, 3, 2, 2);
}

/* Nothing is watched: nothing is waited for, repeated or recorded. */
static void what_is_not_watched_is_unknown(void **state)
{
    cores_nearness near;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core_number(0), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    cores_nearness_begin(&near, NULL, 0, 1, 1);
    for (int round = 0; round < 3; round++) {
        cores_nearness_await(&near);
        assert_false(cores_nearness_repeats(&near, 9));
    }
    assert_null(cores_nearness_to_json(&near));
    assert_true(near.waited_s == 0);
    cores_nearness_end(&near);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bad_lists_are_refused, restore),
        cmocka_unit_test_teardown(none_is_nothing, restore),
        cmocka_unit_test_teardown(one_core_cannot_be_divided, restore),
        cmocka_unit_test_teardown(threads_go_where_they_should, restore),
        cmocka_unit_test_teardown(the_host_thread_is_placed_anew, restore),
        cmocka_unit_test(a_trip_takes_nanoseconds_or_is_unknown),
        cmocka_unit_test(waking_ends_after_its_time),
        cmocka_unit_test_teardown(one_core_is_not_watched, restore),
        cmocka_unit_test_teardown(all_cores_of_a_pinning_are_watched, restore),
        cmocka_unit_test(rounds_of_cores_apart_are_repeated_a_few_times),
        cmocka_unit_test_teardown(what_is_not_watched_is_unknown, restore),
    };
    if (sched_getaffinity(0, sizeof given, &given) != 0)
        return 1;
    /* As a launcher whose topology is that of another machine. All of this holds all the same. */
    char machine[48];
    snprintf(machine, sizeof machine, "pack:7 core:1 pu:%ld", sysconf(_SC_NPROCESSORS_CONF));
    setenv("HWLOC_SYNTHETIC", machine, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
