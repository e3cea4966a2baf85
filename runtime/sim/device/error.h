/* error.h - errors as the plugin's callers see them. */
#ifndef BENCH_RUNTIME_SIM_ERROR_H
#define BENCH_RUNTIME_SIM_ERROR_H

#include "runtime/sim/device/api.h"
#include "runtime/sim/program/program.h"

struct PJRT_Error {
    sim_code code;
    char message[SIM_MESSAGE_BYTES];
};

/* The error of ST, which the plugin's caller destroys; NULL for SIM_OK. Any thread. */
PJRT_Error *sim_error_new(const sim_status *st);
/* The same from CODE and a message. */
PJRT_Error *sim_error(sim_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
