/*
 * fake_fixture.h - the fake plugin for a group of tests, a client of it for each test, and the
 * proof behind each that everything was released.
 *
 * BENCH_TEST_FAKE names the plugin; FAKE_PJRT gives it orders.
 */
#ifndef BENCH_TESTS_FAKE_FIXTURE_H
#define BENCH_TESTS_FAKE_FIXTURE_H

#include "tests/support/plugin_handles.h"
#include "tests/support/test_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static rt_plugin *plugin;
static rt_client *client;
static int64_t (*fake_live)(void);
static char folder[256];

/* Two arguments; the first is donated to the second result. */
static const char program[] =
    "module @jit_main {\n"
    "  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %arg1: "
    "tensor<i32> {mhlo.sharding = \"{replicated}\"}) -> (tensor<4xcomplex<f32>> {jax.result_info "
    "= \"\"}, tensor<2x3xf32>) {\n"
    "    return %0, %1 : tensor<4xcomplex<f32>>, tensor<2x3xf32>\n"
    "  }\n"
    "}\n";
static const size_t program_size = sizeof program - 1;

static inline const char *fake_path(void)
{
    const char *path = getenv("BENCH_TEST_FAKE");
    return path ? path : "build/libpjrt_fake.so";
}

static void order(const char *orders)
{
    setenv("FAKE_PJRT", orders, 1);
}

static int group_setup(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_pjrt.XXXXXX", parent ? parent : P_tmpdir);
    order("");
    bn_status st = {0};
    if (!mkdtemp(folder) || rt_plugin_load(fake_path(), NULL, &plugin, &st) != BN_OK) {
        print_error("%s\n", st.message);
        return -1;
    }
    void *library = dlopen(rt_plugin_describe(plugin)->path, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "FakePjrtLive") : NULL;
    memcpy(&fake_live, &symbol, sizeof fake_live);
    return symbol ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int setup(void **state)
{
    (void)state;
    order("");
    return rt_client_create(plugin, NULL, 0, &client, NULL) == BN_OK ? 0 : -1;
}

/* Whatever a test did, everything was released: by our count and by the
 * plugin's. */
static int teardown(void **state)
{
    (void)state;
    order("");
    rt_client_destroy(client);
    client = NULL;
    assert_nothing_live();
    assert_int_equal(fake_live(), 0);
    return 0;
}

static inline rt_executable *compiled(void)
{
    bn_status st = {0};
    rt_executable *executable = NULL;
    assert_ok(compile_text(client, program, program_size, NULL, &executable, &st), &st);
    return executable;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
