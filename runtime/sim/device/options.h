/*
 * options.h - what serialized compile options ask for (CompileOptionsProto of openxla/xla), and in
 * them what is stated of a program that the simulator cannot read: an opaque program.
 *
 * The compiler's own options (env_option_overrides) are refused where a program is not opaque, for
 * there is no compiler. Those that state a program have texts as values:
 *
 *   opaque_arguments   types, in order, "f32[2,3];s32[]"; "" for none
 *   opaque_results     likewise
 *   opaque_aliases     "0:1;4:2": result 1 takes over the memory of argument 0, 2 that of 4
 *   opaque_device_us   device time of an execution; or
 *   opaque_flops and opaque_bytes   f32 operations and bytes, weighed as one fused group
 *   opaque_name        what profiles call it
 */
#ifndef BENCH_RUNTIME_SIM_OPTIONS_H
#define BENCH_RUNTIME_SIM_OPTIONS_H

#include "runtime/sim/program/program.h"

/* Statements about a program in place of its text. */
typedef struct sim_opaque {
    char *text;                     /* of a program with its types that computes nothing (malloc) */
    double device_us, flops, bytes; /* negative: not stated */
} sim_opaque;

typedef struct sim_asked {
    uint64_t device;   /* id */
    sim_opaque opaque; /* its text is NULL where nothing is stated */
} sim_asked;

/* Reads SIZE bytes of OPTIONS; SIZE 0 asks for nothing. SIM_UNIMPLEMENTED for several replicas or
 * partitions, SIM_INVALID_ARGUMENT for options of a compiler, and for what is stated amiss. *ASKED
 * is for sim_asked_free, also after a failure. */
sim_code sim_options_asked(const char *options, size_t size, sim_asked *asked, sim_status *st);
void sim_asked_free(sim_asked *asked);

#endif
