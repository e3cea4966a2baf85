/*
 * api.h - the header of PJRT, whose warnings are not ours to fix, and how this room
 * writes an entry of the plugin's table.
 */
#ifndef BENCH_RUNTIME_SIM_API_H
#define BENCH_RUNTIME_SIM_API_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

/* SIM_ENTRY(Buffer_Destroy) heads the function for PJRT_Buffer_Destroy. */
#define SIM_ENTRY(name) PJRT_Error *sim_##name(PJRT_##name##_Args *args)

/* A property for lists of named values. */
#define SIM_NAMED(text, kind, size)                                                                \
    .struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = text, .name_size = sizeof text - 1,        \
    .type = PJRT_NamedValue_##kind, .value_size = size

#endif
