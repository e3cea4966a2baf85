/*
 * test_runtime.h - what the tests of base and of plugins share: checks of
 * statuses with their message, and of handles not released.
 */
#ifndef BENCH_TESTS_TEST_RUNTIME_H
#define BENCH_TESTS_TEST_RUNTIME_H

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/pjrt/pjrt.h"
#include "tests/support/compile_text.h"
#include "tests/support/identifiers.h"

#include <string.h>

/* EXPR must succeed; the status ST says why it did not. */
#define assert_ok(expr, st)                                                                        \
    do {                                                                                           \
        bn_code code_ = (expr);                                                                    \
        if (code_ != BN_OK)                                                                        \
            fail_msg("%s: %s: %s", #expr, bn_code_name(code_), (st)->message);                     \
    } while (0)

/* EXPR must fail with WANTED, leave that code in ST, and a message with the identifiers TEXT
 * (identifiers.h). */
#define assert_fails(expr, wanted, text, st)                                                       \
    do {                                                                                           \
        *(st) = (bn_status){0};                                                                    \
        bn_code code_ = (expr);                                                                    \
        if (code_ != (wanted) || (st)->code != (wanted) ||                                         \
            !has_identifiers((st)->message, (text)))                                               \
            fail_msg("%s: got %s, status %s '%s'; want %s with '%s'", #expr, bn_code_name(code_),  \
                     bn_code_name((st)->code), (st)->message, bn_code_name(wanted), (text));       \
        *(st) = (bn_status){0};                                                                    \
    } while (0)

/* A client of the default runtime with one device; its absence is a failure. */
static inline rt_client *default_client(void)
{
    char path[4096];
    bn_status st = {0};
    rt_plugin *plugin;
    rt_client *client;
    rt_option one = {.name = "cpu_device_count", .kind = RT_OPTION_INT, .integer = 1};
    assert_ok(rt_plugin_find("cpu", path, sizeof path, &st), &st);
    assert_ok(rt_plugin_load(path, NULL, &plugin, &st), &st);
    assert_ok(rt_client_create(plugin, &one, 1, &client, &st), &st);
    return client;
}

static inline void assert_nothing_live(void)
{
    rt_live_counts live = rt_live();
    assert_int_equal(live.clients, 0);
    assert_int_equal(live.executables, 0);
    assert_int_equal(live.buffers, 0);
    assert_int_equal(live.events, 0);
    assert_int_equal(live.errors, 0);
    assert_int_equal(live.topologies, 0);
}

#endif
