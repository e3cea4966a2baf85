/*
 * profiles.h - a plugin's own profile of some executions of a recorded process: the file "profile"
 * that the recorder wrote (runtime/record/format.h), with figures of each program.
 */
#ifndef BENCH_RESULTS_PROFILES_H
#define BENCH_RESULTS_PROFILES_H

#include "runtime/base/base.h"

/* All executions of the programs with one name. Times are medians over them. */
typedef struct rec_profile_program {
    const char *name; /* plain */
    uint32_t executions;
    double busy_ns;         /* while at least one kernel of an execution ran */
    double low_ns, high_ns; /* 95 % interval of that median, by order statistics */
    double span_ns;         /* from its first kernel's begin to its last one's end */
    double kernels;         /* 0: the profiler has executions as a whole */
} rec_profile_program;

/* One execution. */
typedef struct rec_profile_span {
    uint64_t start_ns, duration_ns; /* by the profile's clock */
    uint64_t busy_ns;               /* of it, while at least one kernel ran */
    size_t kernels;
    size_t program; /* index */
    size_t plane;   /* of its device: equal for those of one */
} rec_profile_span;

/* What the ops of all executions took that one op of a program's text became. */
typedef struct rec_profile_op {
    const char
        *name; /* as its location says, plain: "jit(step)/jvp(Dense_0)/dot_general"; "": none */
    double ns;
} rec_profile_op;

typedef struct rec_profile {
    bool asked;    /* there is such a file */
    char why[160]; /* why it has no executions; "": it has */
    /* The program was slowed down meanwhile, also where there is no profile. CLOCK_MONOTONIC; the
     * end is UINT64_MAX where the program ended before. */
    uint64_t begin_ns, end_ns;
    uint32_t plugin;               /* number of it */
    uint32_t asked_for;            /* executions that it was to see */
    uint32_t executions;           /* that it saw, but for those that were cut at its end */
    rec_profile_program *programs; /* by name */
    size_t program_count;
    rec_profile_span *spans; /* by start */
    size_t span_count;
    rec_profile_op *ops; /* by name, those that took some time; none where the profiler has none */
    size_t op_count;
    bn_arena *memory; /* of names and ops */
} rec_profile;

/* Reads the file of the process in the open folder FOLDER. A file that is absent, or whose head
 * says that it has no profile, is no error, nor is a profile that is damaged: see WHY. But where
 * the head cannot be read, it is unknown which steps the profiler slowed down: BN_IO, BN_INVALID
 * (it is no regular file), BN_FORMAT. BN_OUT_OF_MEMORY. Release with rec_profile_free.
 */
BN_MUST_USE bn_code rec_profile_read(int folder, rec_profile *profile, bn_status *st);
void rec_profile_free(rec_profile *profile);

/* *OFFSET_NS to add to the profile's times so that they are CLOCK_MONOTONIC's, in a process that
 * read MONOTONIC_NS there when since 1970 there were EPOCH_NS: plugins use the one clock or the
 * other. False: neither, since executions would lie outside of the profile. */
bool rec_profile_clock(const rec_profile *profile, uint64_t monotonic_ns, uint64_t epoch_ns,
                       int64_t *offset_ns);

/* The program with NAME; NULL: it was not seen. */
const rec_profile_program *rec_profile_find(const rec_profile *profile, const char *name);

#endif
