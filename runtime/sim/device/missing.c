/*
 * missing.c - the entries that no simulated device has. Clients call some of them
 * without a look at the table, so each is there and says by name that it is not.
 */
#include "runtime/sim/device/sim_priv.h"

#define X(entry, why)                                                                              \
    SIM_ENTRY(entry)                                                                               \
    {                                                                                              \
        (void)args;                                                                                \
        return sim_error(SIM_UNIMPLEMENTED, "a simulated device has no PJRT_" #entry ": " why);    \
    }
SIM_MISSING(X)
#undef X
