/*
 * config.h - what a simulated device costs: one table of settings, filled from a
 * preset, a JSON file, the environment and client options, in that order.
 * Times are in microseconds, as the settings' names say; README.md explains each.
 */
#ifndef BENCH_RUNTIME_SIM_CONFIG_H
#define BENCH_RUNTIME_SIM_CONFIG_H

#include "runtime/sim/device/api.h"
#include "runtime/sim/program/program.h"

/* Modules whose device time is stated in place of the model. */
#define SIM_MAX_STATED 64
#define SIM_MAX_FAULTS 16

typedef struct sim_stated {
    char module[96]; /* whole name, or its beginning with '*' behind */
    double device_us;
    double overhead_us; /* of an execution: call, launch and completion, a third each; -1: as set */
} sim_stated;

typedef enum sim_fault_kind {
    SIM_FAULT_FAIL,  /* the call fails with the code */
    SIM_FAULT_OOM,   /* no memory, with the sizes */
    SIM_FAULT_HANG,  /* the call never returns */
    SIM_FAULT_ABORT, /* the process ends by SIGABRT */
    SIM_FAULT_NEVER, /* the execution's event never fires */
    SIM_FAULT_EVENT, /* the execution's event fires with the code */
    SIM_FAULT_WRONG  /* one number of the first result is wrong */
} sim_fault_kind;

typedef enum sim_fault_at {
    SIM_AT_CLIENT,
    SIM_AT_COMPILE,
    SIM_AT_EXECUTE,
    SIM_AT_TRANSFER,
    SIM_AT_COUNT
} sim_fault_at;

/* "execute:7:fail:13": the seventh execution fails with code 13. */
typedef struct sim_fault {
    sim_fault_at at;
    uint64_t number; /* which one, from 1; 0: each */
    sim_fault_kind kind;
    sim_code code;
} sim_fault;

typedef struct sim_config {
    char preset[32];
    char kind[256]; /* of the device, as clients see it */
    char values[8];
    char report[1024]; /* file for the precision that was reached, "" for none */
    int64_t devices, memory_bytes, seed, process, evaluate_limit;
    bool blocking;
    bool stated_only; /* a module that STATED does not have is not compiled */
    /* device */
    double device_us; /* of each execution; negative: by the model */
    double f64_gflops, f32_gflops, f16_gflops, int_gops, vector_gflops, memory_gbps;
    double efficiency, group_us;
    /* host */
    double start_us, compile_us, compile_op_us;
    double execute_us, argument_us, result_us, launch_us, completion_us;
    double transfer_us, to_device_gbps, to_host_gbps, release_us;
    /* disturbances */
    double process_sd, slow_rate, slow_factor, jitter, host_jitter, outlier_rate, outlier_factor;
    double drift, wander_sd, wander_executions;
    double interference_period_us, interference_us, burst_rate, burst_us;
    sim_stated stated[SIM_MAX_STATED];
    size_t stated_count;
    sim_fault faults[SIM_MAX_FAULTS];
    size_t fault_count;
} sim_config;

/* Sets CONFIG to the default preset, then to what PJRT_SIM_CONFIG (a JSON file) and
 * PJRT_SIM ("name=value,name=value") ask for. A "preset" in them is set before their other
 * settings. */
sim_code sim_config_begin(sim_config *config, sim_status *st);

/* Sets NAME to VALUE (text in the setting's form). "preset" sets all that the preset
 * names; "config" reads a JSON file. Unknown names and values that do not fit are
 * SIM_INVALID_ARGUMENT with what there is. */
sim_code sim_config_set(sim_config *config, const char *name, const char *value, sim_status *st);

/* Whether the settings fit each other. */
sim_code sim_config_check(const sim_config *config, sim_status *st);

/* Sets CONFIG from all its sources and checks it: sim_config_begin, then the preset
 * PRESET_NAME, which may be NULL, then COUNT OPTIONS of a client, a preset among them
 * first. */
sim_code sim_options_read(sim_config *config, const char *preset_name,
                          const PJRT_NamedValue *options, size_t count, sim_status *st);
/* The version that a platform with these settings reports. */
void sim_version_text(const sim_config *config, char *text, size_t size);

/* Row INDEX of the settings, NULL after the last: name, what it means; for README's
 * test. */
const char *sim_config_setting(size_t index, const char **meaning);

/* A preset: "name=value,..." and where each figure is from. */
typedef struct sim_preset {
    const char *name, *settings, *source;
} sim_preset;
const sim_preset *sim_preset_at(size_t index); /* NULL after the last */
const sim_preset *sim_preset_find(const char *name);

/* "execute:7:fail:13;compile:1:oom" into FAULTS of CONFIG (fault.c). */
sim_code sim_faults_parse(sim_config *config, const char *text, sim_status *st);
/* The fault of the NUMBERth call at AT, or NULL. */
const sim_fault *sim_fault_find(const sim_config *config, sim_fault_at at, uint64_t number);

#endif
