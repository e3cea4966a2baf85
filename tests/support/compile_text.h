/*
 * compile_text.h - StableHLO text that a test has at hand, compiled.
 */
#ifndef BENCH_TESTS_COMPILE_TEXT_H
#define BENCH_TESTS_COMPILE_TEXT_H

#include "runtime/pjrt/pjrt.h"

BN_MUST_USE static inline bn_code compile_text(rt_client *client, const char *text, size_t length,
                                               const rt_compile_options *compile_options,
                                               rt_executable **executable, bn_status *st)
{
    const rt_program its = {.format = "mlir", .code = text, .size = length};
    return rt_compile_program(client, &its, compile_options, executable, st);
}

/* The same for devices that are not here. */
BN_MUST_USE static inline bn_code compile_text_for(rt_topology *topology, const char *text,
                                                   size_t length, rt_executable **executable,
                                                   bn_status *st)
{
    const rt_program its = {.format = "mlir", .code = text, .size = length};
    return rt_topology_compile_program(topology, &its, NULL, executable, st);
}

#endif
