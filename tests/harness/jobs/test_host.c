/* test_host.c - pinning of threads, and what is told of the machine. */
#define _GNU_SOURCE
#include "harness/worker/worker.h"
#include "tests/support/test_runtime.h"

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
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], BN_INVALID, "his process may use");
    refused("9999", BN_INVALID, "it may use");
    refused("0-99999", BN_INVALID, "it may use");
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
    assert_fails(cores_pin_begin("host", &pinning, &st), BN_NOT_SUPPORTED, "two cores", &st);
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
    bool told = false;
    for (size_t i = 0; i < json_array_size(ids); i++)
        told = told || json_integer_value(json_array_get(ids, i)) == early.tid;
    assert_true(told);
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

static void the_machine_is_described(void **state)
{
    static const char *const texts[] = {"hostname", "kernel", "machine", "compiler",
                                        "bench_version"};
    json_t *json = job_host_describe();
    assert_non_null(json);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(json_string_length(json_object_get(json, texts[i])) > 0);
    assert_true(json_integer_value(json_object_get(json, "cores_online")) >= 1);
    assert_true(json_integer_value(json_object_get(json, "memory_bytes")) > 1 << 20);
    assert_non_null(json_object_get(json, "governor")); /* null where it cannot be read */
    json_t *topology = json_object_get(json, "topology");
    assert_non_null(strstr(json_string_value(json_object_get(topology, "summary")), "PU"));
    assert_non_null(strstr(json_string_value(json_object_get(topology, "xml")), "<topology"));
    json_decref(json);
}

static void memory_is_counted(void **state)
{
    const job_memory m = job_host_memory();
    assert_true(m.of_files > 0 && m.now > m.of_files && m.peak >= m.now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bad_lists_are_refused, restore),
        cmocka_unit_test_teardown(none_is_nothing, restore),
        cmocka_unit_test_teardown(one_core_cannot_be_divided, restore),
        cmocka_unit_test_teardown(threads_go_where_they_should, restore),
        cmocka_unit_test(the_machine_is_described),
        cmocka_unit_test(memory_is_counted),
    };
    if (sched_getaffinity(0, sizeof given, &given) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
