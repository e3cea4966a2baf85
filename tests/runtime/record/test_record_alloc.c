/*
 * test_record_alloc.c - the recorder allocates nothing on the way of an execution: not in its call,
 * not when it ends, not for the ends of its buffers.
 *
 * The test brings its own malloc family, in front of the C library's, and looks at who calls: the
 * recorder and the plugin are libraries of their own. What the C library allocates for its callers,
 * the recorder among them, counts as others', and so does our own client's: there is none, either.
 *
 * One is not of an execution: the loader makes a thread's own variables of a library when the
 * thread first uses them. The plugin's thread does so at the first end that it reports, and that
 * may come late: an execution that ends before its end is asked for is reported on the caller's
 * thread.
 */
#define _GNU_SOURCE /* dladdr */

#include "tests/runtime/record/record_fixture.h"
#include "tests/support/own_malloc.h"

#include <stdatomic.h>

enum { WARM_UP = 300, EXECUTIONS = 5000 };

static atomic_bool watching;
static atomic_int recorders, plugins, loaders, others;
static const void *recorder, *plugin, *loader; /* where they are loaded */
static _Atomic(void *) other;                  /* who allocated last, of the others */

#if OWN_MALLOC
static void count_caller(const void *caller)
{
    Dl_info info;
    if (!atomic_load_explicit(&watching, memory_order_relaxed) || !dladdr(caller, &info))
        return;
    if (info.dli_fbase != recorder && info.dli_fbase != plugin && info.dli_fbase != loader)
        atomic_store(&other, (void *)(uintptr_t)caller);
    atomic_fetch_add(info.dli_fbase == recorder ? &recorders
                     : info.dli_fbase == plugin ? &plugins
                     : info.dli_fbase == loader ? &loaders
                                                : &others,
                     1);
}
#endif

static const void *base_of(const char *name)
{
    Dl_info info = {0};
    void *library = dlopen(built(name), RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    MUST(symbol && dladdr(symbol, &info) && info.dli_fbase);
    return info.dli_fbase;
}

static const void *base_of_loader(void)
{
    /* Code with thread-local variables calls it. */
    void *symbol = dlsym(RTLD_DEFAULT, "__tls_get_addr");
    Dl_info info = {0};
    MUST(symbol && dladdr(symbol, &info) && info.dli_fbase);
    return info.dli_fbase;
}

static void say_counts(void)
{
    Dl_info info = {0};
    fprintf(stderr,
            "# allocations: the recorder's %d, the plugin's %d, the loader's %d, others' %d",
            atomic_load(&recorders), atomic_load(&plugins), atomic_load(&loaders),
            atomic_load(&others));
    if (atomic_load(&others) > 0 && dladdr(atomic_load(&other), &info))
        fprintf(stderr, ", the last by %s in %s", info.dli_sname ? info.dli_sname : "?",
                info.dli_fname);
    fprintf(stderr, "\n");
}

/* Watches EXECUTIONS that are awaited, then as many of which nobody asks for the end. */
static void watch(const runner *r, void (*execute)(const runner *r, size_t count, bool wait))
{
    execute(r, WARM_UP, true);
    execute(r, WARM_UP, false);
    atomic_store(&watching, true);
    execute(r, EXECUTIONS, true);
    execute(r, EXECUTIONS, false);
    atomic_store(&watching, false);
    say_counts();
    MUST(atomic_load(&recorders) == 0 && atomic_load(&others) == 0);
    MUST(atomic_load(&loaders) <= 1);               /* the plugin has one thread */
    MUST(!OWN_MALLOC || atomic_load(&plugins) > 0); /* the watch was on */
}

/* A buffer of its own for each, which the execution takes. */
static void donate_often(const runner *r, size_t count, bool wait)
{
    bn_status st = {0};
    for (size_t i = 0; i < count; i++) {
        rt_buffer *argument = floats(r, 4), *result = NULL;
        if (wait)
            result = run(r, &argument, 1);
        else
            MUST_DO(rt_execute(r->executable, &argument, 1, NULL, 0, &result, NULL, &st), &st);
        rt_buffer_release(r->client, argument);
        rt_buffer_release(r->client, result);
    }
}

static void executes(const char *folder, const char *program,
                     void (*execute)(const runner *r, size_t count, bool wait))
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, program);
    recorder = base_of("pjrt_record");
    plugin = base_of("pjrt_sim");
    loader = base_of_loader();
    watch(&r, execute);
    runner_free(&r);
}

static void adds(const char *folder)
{
    executes(folder, ADD, add_often);
}

static void donates(const char *folder)
{
    executes(folder, DONATE, donate_often);
}

/* Recorded in a mapped file and in a written one; both grow on the way. */
static void nothing_is_allocated(void (*what)(const char *folder))
{
    if (!OWN_MALLOC)
        skip();
    static const char *const mapped[] = {"1", "0"};
    for (size_t i = 0; i < 2; i++) {
        const char *folder = new_folder();
        setenv("BENCH_RECORD_MAPPED", mapped[i], 1);
        in_child(what, folder);
        recording r = recording_in(folder);
        assert_int_equal(recording_count(&r, RECORD_EXECUTE), 2 * (WARM_UP + EXECUTIONS));
        assert_int_equal(r.head.lost, 0);
        recording_free(&r);
    }
    unsetenv("BENCH_RECORD_MAPPED");
}

static void an_execution_allocates_nothing(void **state)
{
    (void)state;
    nothing_is_allocated(adds);
}

static void nor_does_one_that_takes_its_argument(void **state)
{
    (void)state;
    nothing_is_allocated(donates);
}

/* Where nothing is recorded, too. */
static void nor_one_that_is_only_forwarded(void **state)
{
    (void)state;
    if (!OWN_MALLOC)
        skip();
    in_child(adds, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_execution_allocates_nothing),
        cmocka_unit_test(nor_does_one_that_takes_its_argument),
        cmocka_unit_test(nor_one_that_is_only_forwarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
