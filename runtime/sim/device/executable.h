/* executable.h - programs that were compiled: read, weighed, and what they tell. */
#ifndef BENCH_RUNTIME_SIM_EXECUTABLE_H
#define BENCH_RUNTIME_SIM_EXECUTABLE_H

#include "runtime/sim/cost/cost.h"
#include "runtime/sim/device/api.h"
#include "runtime/sim/device/config.h"
#include "runtime/sim/program/program.h"

#include <stdatomic.h>

/* Only REFERENCES change after it was made, and DEVICE when it is loaded. */
struct PJRT_Executable {
    atomic_int references;
    sim_program *program;
    sim_cost cost;
    char *text;
    size_t text_bytes;
    char fingerprint[17];
    double device_us;   /* by the model, or as stated */
    double overhead_us; /* stated; -1: as configured */
    bool evaluates;     /* its values are computed */
    int device;         /* it was compiled for */
    PJRT_NamedValue costs[6];
    PJRT_Buffer_Type *result_types;
    int64_t *result_dims;
    size_t *result_ranks;
    const char **memory_kinds;
    size_t *memory_kind_sizes;
    int64_t argument_bytes, result_bytes, alias_bytes;
};

struct PJRT_LoadedExecutable {
    PJRT_Executable *executable;
    PJRT_Device *device;
    bool deleted;
};

/* Reads and weighs the program TEXT for a device of CONFIG. TEXT is copied; the new
 * executable has one reference. Errors are those of the reader, or no memory. */
sim_code sim_executable_new(const sim_config *config, const char *text, size_t bytes,
                            PJRT_Executable **executable, sim_status *st);
PJRT_Executable *sim_executable_retain(PJRT_Executable *executable);
void sim_executable_release(PJRT_Executable *executable); /* NULL allowed */

/* ---- what a compilation is asked for (compile.c) ---------------------------------------- */

/* An error for a program that is not StableHLO text. */
PJRT_Error *sim_check_format(const PJRT_Program *program);
/* SIM_OK when serialized compile options ask only for what there is. SIZE 0 asks for
 * nothing. */
sim_code sim_compile_options_check(const char *options, size_t size, sim_status *st);

#endif
