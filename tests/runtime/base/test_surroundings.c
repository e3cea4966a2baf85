/*
 * test_surroundings.c - changes of this process by other code are found, undone and reported.
 */
#define _GNU_SOURCE
#include "runtime/base/base.h"
#include "tests/support/test_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static const bn_change *change_of(bn_around what, const char *when)
{
    const bn_change *list;
    const size_t count = bn_surroundings_changes(&list);
    for (size_t i = 0; i < count; i++)
        if (list[i].what == what && strcmp(list[i].when, when) == 0)
            return &list[i];
    return NULL;
}

static void assert_restores(const char *when)
{
    bn_status st = {.code = BN_OK};
    assert_ok(bn_surroundings_restore(when, &st), &st);
}

static void unchanged_state_is_not_reported(void **state)
{
    const bn_change *list;
    const size_t before = bn_surroundings_changes(&list);
    assert_restores("nothing");
    assert_int_equal(bn_surroundings_changes(&list), before);
}

/* As in the loop of steps, and as a whole. */
static void floats_are_rounded_as_before(void **state)
{
    volatile double one = 1, three = 3;
    const double third = one / three;
    static const int ways[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fesetround(ways[i]);
        if (i == 0)
            assert_restores("floats");
        else
            bn_surroundings_restore_floats("floats");
        assert_int_equal(fegetround(), FE_TONEAREST);
        assert_true(one / three == third);
    }
    assert_string_equal(change_of(BN_AROUND_FLOATS, "floats")->detail, "rounding");
    assert_false(change_of(BN_AROUND_FLOATS, "floats")->left);
}

static void denormals_are_no_zeros(void **state)
{
#ifdef __x86_64__
    volatile float least = 0x1p-140f, half = 0.5f;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
    assert_true(least * half == 0);
    bn_surroundings_restore_floats("denormals");
    assert_true(least * half > 0);
    assert_string_equal(change_of(BN_AROUND_FLOATS, "denormals")->detail, "denormals");
#else
    skip();
#endif
}

/* Exception flags, of an inexact result or a division by zero, do not change how is computed. */
static void flags_are_no_change(void **state)
{
    volatile double one = 1, zero = 0;
    volatile double infinite = one / zero;
    (void)infinite;
    assert_true(fetestexcept(FE_DIVBYZERO) != 0);
    bn_surroundings_restore_floats("flags");
    assert_null(change_of(BN_AROUND_FLOATS, "flags"));
}

static void folder_and_umask_are_the_old_ones(void **state)
{
    char before[PATH_MAX], now[PATH_MAX];
    const mode_t mask = umask(0);
    umask(mask);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir("/proc"), 0);
    umask(0777);
    assert_restores("files");
    assert_string_equal(getcwd(now, sizeof now), before);
    assert_int_equal(umask(mask), mask);
    assert_non_null(change_of(BN_AROUND_FOLDER, "files"));
    assert_non_null(change_of(BN_AROUND_UMASK, "files"));
}

static void signals_come_as_before(void **state)
{
    sigset_t usr, now;
    sigemptyset(&usr);
    sigaddset(&usr, SIGINT);
    sigaddset(&usr, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr, NULL);
    signal(SIGTERM, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    assert_restores("signals");
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert_false(sigismember(&now, SIGINT));
    assert_false(sigismember(&now, SIGUSR1));
    struct sigaction action;
    sigaction(SIGTERM, NULL, &action);
    assert_ptr_equal(action.sa_handler, SIG_DFL);
    assert_string_equal(change_of(BN_AROUND_SIGNAL_MASK, "signals")->detail, "INT, USR1");
    assert_string_equal(change_of(BN_AROUND_SIGNAL_ACTIONS, "signals")->detail, "TERM, CHLD");
}

/* A variable stays as it is set, is reported once, and the names of each change are reported. */
static void variables_are_reported_by_their_names(void **state)
{
    setenv("BENCH_TEST_NEW", "1", 1);
    setenv("BENCH_TEST_KEPT", "2", 1);
    assert_restores("variables");
    const bn_change *c = change_of(BN_AROUND_ENVIRONMENT, "variables");
    assert_string_equal(c->detail, "BENCH_TEST_KEPT, BENCH_TEST_NEW");
    assert_true(c->left);
    assert_string_equal(getenv("BENCH_TEST_NEW"), "1");
    assert_restores("later");
    assert_null(change_of(BN_AROUND_ENVIRONMENT, "later"));
    unsetenv("BENCH_TEST_NEW");
    assert_restores("later");
    assert_string_equal(change_of(BN_AROUND_ENVIRONMENT, "later")->detail, "BENCH_TEST_NEW");
}

/* Only what is lower than it was. */
static void limits_are_as_high_as_before(void **state)
{
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_restores("limits");
    getrlimit(RLIMIT_FSIZE, &limit);
    assert_true(limit.rlim_cur == before.rlim_cur);
    assert_string_equal(change_of(BN_AROUND_LIMITS, "limits")->detail, "FSIZE");
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &limit);
    assert_restores("core files");
    assert_null(change_of(BN_AROUND_LIMITS, "core files"));
}

/* Cores that were chosen on purpose are kept. */
static void the_thread_is_where_it_was_put(void **state)
{
    cpu_set_t all, one, now;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2)
        skip();
    for (unsigned core = 0; CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &all))
            CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    assert_restores("cores");
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&now, &all));
    assert_non_null(change_of(BN_AROUND_CORES, "cores"));
    sched_setaffinity(0, sizeof one, &one);
    bn_surroundings_keep_cores();
    assert_restores("on purpose");
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&now, &one));
    assert_null(change_of(BN_AROUND_CORES, "on purpose"));
    sched_setaffinity(0, sizeof all, &all);
    bn_surroundings_keep_cores();
}

/* Closed, or taken by another file. */
static void descriptors_are_the_old_files(void **state)
{
    struct stat before, now;
    fstat(0, &before);
    close(0);
    assert_restores("closed");
    fstat(0, &now);
    assert_true(bn_same_file(&before, &now));
    assert_string_equal(change_of(BN_AROUND_DESCRIPTORS, "closed")->detail, "0");
    const int other = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(other, 0), 0);
    close(other);
    assert_true(bn_surroundings_descriptor(0, "taken"));
    fstat(0, &now);
    assert_true(bn_same_file(&before, &now));
    assert_non_null(change_of(BN_AROUND_DESCRIPTORS, "taken"));
}

/* The thread that has kept them answers for its own state only. */
static void *in_another_thread(void *unused)
{
    sigset_t usr, now;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr, NULL);
    fesetround(FE_UPWARD);
    bn_status st = {.code = BN_OK};
    const bool good = bn_surroundings_restore("elsewhere", &st) == BN_OK;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return good && fegetround() == FE_UPWARD && sigismember(&now, SIGUSR2) ? unused : NULL;
}

static void other_threads_are_left_alone(void **state)
{
    pthread_t id;
    void *result = NULL;
    int mark;
    assert_int_equal(pthread_create(&id, NULL, in_another_thread, &mark), 0);
    pthread_join(id, &result);
    assert_ptr_equal(result, &mark);
    assert_null(change_of(BN_AROUND_FLOATS, "elsewhere"));
}

/* The process's locale stays. A locale for this thread that others set is taken off. */
static void numbers_have_points(void **state)
{
    const locale_t own = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    assert_true(own != (locale_t)0);
    uselocale(own);
    assert_restores("locale");
    assert_true(uselocale((locale_t)0) != own);
    assert_false(change_of(BN_AROUND_LOCALE, "locale")->left);
    freelocale(own);
    setlocale(LC_CTYPE, "C.UTF-8");
    assert_restores("process");
    assert_true(change_of(BN_AROUND_LOCALE, "process")->left);
    assert_restores("process once");
    assert_null(change_of(BN_AROUND_LOCALE, "process once"));
}

static int keep(void **state)
{
    setenv("BENCH_TEST_KEPT", "1", 1);
    bn_surroundings_keep();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_state_is_not_reported),
        cmocka_unit_test(floats_are_rounded_as_before),
        cmocka_unit_test(denormals_are_no_zeros),
        cmocka_unit_test(flags_are_no_change),
        cmocka_unit_test(folder_and_umask_are_the_old_ones),
        cmocka_unit_test(signals_come_as_before),
        cmocka_unit_test(variables_are_reported_by_their_names),
        cmocka_unit_test(limits_are_as_high_as_before),
        cmocka_unit_test(the_thread_is_where_it_was_put),
        cmocka_unit_test(descriptors_are_the_old_files),
        cmocka_unit_test(other_threads_are_left_alone),
        cmocka_unit_test(numbers_have_points),
    };
    return cmocka_run_group_tests(tests, keep, NULL);
}
