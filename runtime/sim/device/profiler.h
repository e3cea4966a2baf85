/* profiler.h - the profiler extension of the plugin. */
#ifndef BENCH_RUNTIME_SIM_PROFILER_H
#define BENCH_RUNTIME_SIM_PROFILER_H

#include "runtime/sim/device/executable.h"
#include "runtime/sim/device/schedule.h"

extern PJRT_Extension_Base *sim_profiler_extension;
/* Notes an execution on DEVICE while a profile is taken. Any thread. */
void sim_profile_note(const PJRT_Device *device, PJRT_Executable *executable, sim_span span);

#endif
