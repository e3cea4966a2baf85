/*
 * donors.c - which results reuse the memory of which arguments. For programs that bench cannot read
 * this is observed: such a result has the address that the argument had.
 */
#include "modes/mode_priv.h"

#include <string.h>

/* The type of a buffer. */
typedef struct type {
    rt_dtype dtype;
    size_t rank;
    int64_t dims[RT_MAX_RANK];
} type;

static bool type_of(mode *m, rt_buffer *buffer, type *t)
{
    bn_status ignored = {.code = BN_OK};
    return rt_buffer_type(m->client, buffer, &t->dtype, t->dims, &t->rank, &ignored) == BN_OK;
}

static bool same(rt_dtype dtype, size_t rank, const int64_t *dims, const type *t)
{
    return t->dtype == dtype && t->rank == rank && memcmp(t->dims, dims, rank * sizeof *dims) == 0;
}

bool mode_buffer_has_layout(mode *m, rt_buffer *buffer, const mode_argument *wanted)
{
    int64_t order[RT_MAX_RANK];
    bn_status ignored = {.code = BN_OK};
    return wanted->rank < 2 ||
           rt_buffer_order(m->client, buffer, order, wanted->rank, &ignored) != BN_OK ||
           mode_order_matches(wanted, order);
}

bool mode_buffer_has_type(mode *m, rt_buffer *buffer, const mode_argument *wanted)
{
    type found;
    return type_of(m, buffer, &found) && same(wanted->dtype, wanted->rank, wanted->dims, &found);
}

static uintptr_t address_of(mode *m, rt_buffer *buffer)
{
    bn_status ignored = {.code = BN_OK};
    uintptr_t address = 0;
    return rt_buffer_address(m->client, buffer, &address, &ignored) == BN_OK ? address : 0;
}

void mode_addresses(mode *m, rt_buffer *const *list, size_t count, uintptr_t *addresses)
{
    for (size_t i = 0; i < count; i++)
        addresses[i] = address_of(m, list[i]);
}

static bool is_donor(const mode_program *p, size_t argument)
{
    for (size_t o = 0; o < p->output_count; o++)
        if (p->donor[o] == (int32_t)argument)
            return true;
    return false;
}

/* The consumed argument, not yet a donor, that has the address and type of RESULT; or -1. */
static int32_t donor_of(mode *m, const mode_program *p, rt_buffer *const *arguments,
                        const uintptr_t *addresses, rt_buffer *result, const bool *consumed)
{
    const uintptr_t at = address_of(m, result);
    type own, its;
    if (at == 0 || !type_of(m, result, &own))
        return -1;
    for (size_t i = 0; i < p->input_count; i++)
        if (consumed[i] && addresses[i] == at && !is_donor(p, i) &&
            type_of(m, arguments[i], &its) && same(own.dtype, own.rank, own.dims, &its))
            return (int32_t)i;
    return -1;
}

void mode_learn_donors(mode *m, mode_program *p, rt_buffer *const *arguments,
                       const uintptr_t *addresses, rt_buffer *const *results, bool *consumed)
{
    bool any = false;
    for (size_t i = 0; i < p->input_count; i++) {
        consumed[i] = rt_buffer_is_deleted(m->client, arguments[i]);
        any = any || consumed[i];
    }
    for (size_t o = 0; any && o < p->output_count; o++)
        if (p->donor[o] < 0)
            p->donor[o] = donor_of(m, p, arguments, addresses, results[o], consumed);
}
