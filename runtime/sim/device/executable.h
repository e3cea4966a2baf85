/* executable.h - compiled programs. */
#ifndef BENCH_RUNTIME_SIM_EXECUTABLE_H
#define BENCH_RUNTIME_SIM_EXECUTABLE_H

#include "runtime/sim/cost/cost.h"
#include "runtime/sim/device/api.h"
#include "runtime/sim/device/config.h"
#include "runtime/sim/device/options.h"
#include "runtime/sim/program/program.h"

#include <stdatomic.h>

/* Only REFERENCES change after it was made, and DEVICE when it is loaded. */
struct PJRT_Executable {
    atomic_int references;
    sim_program *program; /* of an opaque one, its stand-in */
    sim_cost cost;
    char *text; /* the program as it came */
    size_t text_bytes;
    bool opaque; /* it could not be read */
    char fingerprint[17];
    double device_us;   /* by the model, or as stated */
    double *group_us;   /* by the model, of each group of COST */
    double overhead_us; /* stated; -1: as configured */
    bool evaluates;     /* its values are computed */
    int device;         /* it was compiled for */
    PJRT_NamedValue costs[7];
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
 * executable has one reference. Where IS_TEXT is false, or the reader refuses the text, OPAQUE
 * stands for it, if it has a text. Errors are those of the reader, or no memory. */
sim_code sim_executable_new(const sim_config *config, const char *text, size_t bytes, bool is_text,
                            const sim_opaque *opaque, PJRT_Executable **executable, sim_status *st);
PJRT_Executable *sim_executable_retain(PJRT_Executable *executable);
void sim_executable_release(PJRT_Executable *executable); /* NULL allowed */

/* ---- what a compilation is asked for (compile.c) ---------------------------------------- */

/* Whether PROGRAM is StableHLO text, neither byte code nor HLO. */
bool sim_program_is_text(const PJRT_Program *program);
/* SIM_UNIMPLEMENTED for a program that is no text and that OPAQUE does not state. */
sim_code sim_check_form(const PJRT_Program *program, const sim_opaque *opaque, sim_status *st);

#endif
