/* evaluate_check.c - what the checks of ops share; see evaluate_check.h. */
#include "runtime/sim/evaluate/evaluate_check.h"

#include <stdarg.h>
#include <stdio.h>

sim_code sim_refuse(const sim_op *op, sim_status *st, sim_code code, const char *format, ...)
{
    char message[384];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return sim_fail(st, code, "line %d: %s: %s", op->line, sim_op_name(op->opcode), message);
}

bool sim_in_list(const int64_t *list, size_t count, int64_t value)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

const int64_t *sim_checked_ints(const sim_op *op, const char *name, size_t count, int64_t low,
                                int64_t high, sim_status *st)
{
    static const int64_t none[1] = {0};
    const sim_attribute *a = sim_attribute_find(op, name);
    if (!a || a->word || a->count != count) {
        sim_refuse(op, st, SIM_INVALID_ARGUMENT, "wants %zu numbers for %s", count, name);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (a->ints[i] < low || a->ints[i] > high) {
            sim_refuse(op, st, SIM_INVALID_ARGUMENT, "%s has %lld", name, (long long)a->ints[i]);
            return NULL;
        }
    return count > 0 ? a->ints : none;
}
