/*
 * values.c - whether the device is simulated, and whether it computed values.
 */
#include "harness/worker/worker.h"

#include <string.h>

bool worker_session_simulated(const worker_session *s)
{
    const rt_plugin_info *info = rt_plugin_describe(s->plugin);
    for (size_t i = 0; i < info->attribute_count; i++)
        if (strcmp(info->attributes[i].name, "simulated") == 0)
            return info->attributes[i].integer != 0;
    return false;
}

bool worker_session_opaque(const worker_session *s)
{
    for (size_t i = 0; i < mode_execution_count(s->mode); i++)
        if (mode_execution_at(s->mode, i)->stats.simulated_opaque > 0)
            return true;
    return false;
}

bn_code worker_session_has_values(const worker_session *s, bn_status *st)
{
    for (size_t i = 0; i < mode_execution_count(s->mode); i++) {
        const mode_execution *x = mode_execution_at(s->mode, i);
        if (x->stats.simulated_values == 0)
            return bn_fail(st, BN_NOT_SUPPORTED,
                           "the simulated device computes no values of graph %s: they need "
                           "values=auto, an evaluate_limit above its operations, and ops that "
                           "the simulator can evaluate",
                           x->label);
    }
    return BN_OK;
}
