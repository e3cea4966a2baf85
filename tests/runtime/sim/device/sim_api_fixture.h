/*
 * sim_api_fixture.h - the simulated runtime through the plugin's own table, for what bench
 * does not call.
 */
#ifndef BENCH_TESTS_SIM_API_FIXTURE_H
#define BENCH_TESTS_SIM_API_FIXTURE_H

#include "tests/runtime/sim/device/sim_fixture.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#include <dlfcn.h>

static const PJRT_Api *api;

/* Setup of a group: finds API. */
static inline int sim_api_setup(void **state)
{
    (void)state;
    const PJRT_Api *(*get)(void);
    void *library = dlopen(rt_plugin_describe(sim_plugin())->path, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    memcpy(&get, &symbol, sizeof get);
    api = symbol ? get() : NULL;
    return api ? 0 : -1;
}

#endif
