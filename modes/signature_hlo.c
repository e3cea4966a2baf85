/*
 * signature_hlo.c - the arguments of a program in XLA's own form (HloModuleProto), and how the
 * forms of programs are told apart. The bytes are foreign.
 */
#include "modes/hlo_module.pb-c.h"
#include "modes/mode_priv.h"

#include <stdlib.h>
#include <string.h>

/* PrimitiveType of xla/xla_data.proto. */
static const struct {
    int number;
    rt_dtype dtype;
} primitives[] = {
    {1, RT_BOOL}, {2, RT_S8},   {3, RT_S16},  {4, RT_S32},   {5, RT_S64},
    {6, RT_U8},   {7, RT_U16},  {8, RT_U32},  {9, RT_U64},   {10, RT_F16},
    {11, RT_F32}, {12, RT_F64}, {15, RT_C64}, {16, RT_BF16}, {18, RT_C128},
};
#define PRIMITIVE_TUPLE 13

/* ---- forms -------------------------------------------------------------------------- */

static Mode__Hlo__Module *unpack(const void *code, size_t size)
{
    Mode__Hlo__Module *module = mode__hlo__module__unpack(NULL, size, code);
    if (module && !module->entry) {
        mode__hlo__module__free_unpacked(module, NULL);
        module = NULL;
    }
    return module;
}

/* Where the module lies in the HloProto of *SIZE bytes at *CODE, which begins with it. */
static bool find_inner(const char **code, size_t *size)
{
    const unsigned char *at = (const unsigned char *)*code, *end = at + *size;
    uint64_t length = 0;
    if (*size < 2 || *at++ != (1 << 3 | 2))
        return false;
    for (unsigned shift = 0; at < end && shift < 35; shift += 7) {
        const unsigned char byte = *at++;
        length |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    if (length > (uint64_t)(end - at))
        return false;
    Mode__Hlo__Module *inner = unpack(at, (size_t)length);
    if (!inner)
        return false;
    mode__hlo__module__free_unpacked(inner, NULL);
    *code = (const char *)at;
    *size = (size_t)length;
    return true;
}

mode_form mode_form_find(const char **code, size_t *size)
{
    if (*size >= 4 && memcmp(*code, "ML\xefR", 4) == 0)
        return MODE_FORM_BYTECODE;
    /* A module's first field is its name. */
    if (*size < 2 || **code != (1 << 3 | 2))
        return MODE_FORM_TEXT;
    Mode__Hlo__Module *module = unpack(*code, *size);
    if (module) {
        mode__hlo__module__free_unpacked(module, NULL);
        return MODE_FORM_HLO;
    }
    return find_inner(code, size) ? MODE_FORM_HLO : MODE_FORM_TEXT;
}

/* ---- arguments ---------------------------------------------------------------------- */

static bn_code read_shape(const Mode__Hlo__Shape *shape, size_t index, mode_argument *a,
                          bn_status *st)
{
    const size_t known = sizeof primitives / sizeof *primitives;
    size_t p = 0;
    *a = (mode_argument){.result = -1};
    while (p < known && primitives[p].number != shape->element_type)
        p++;
    if (shape->element_type == PRIMITIVE_TUPLE)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "argument %zu is a tuple; tuples cannot be passed: lower the program with "
                       "its arguments one by one",
                       index);
    if (p == known)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "argument %zu is of XLA's element type %d, which cannot be passed", index,
                       (int)shape->element_type);
    if (shape->n_dimensions > RT_MAX_RANK)
        return bn_fail(st, BN_NOT_SUPPORTED, "argument %zu has %zu dimensions, at most %d", index,
                       shape->n_dimensions, RT_MAX_RANK);
    for (size_t i = 0; i < shape->n_is_dynamic; i++)
        if (shape->is_dynamic[i])
            return bn_fail(st, BN_NOT_SUPPORTED, "argument %zu has a dynamic shape", index);
    a->dtype = primitives[p].dtype;
    a->rank = shape->n_dimensions;
    for (size_t i = 0; i < a->rank; i++) {
        a->dims[i] = shape->dimensions[i];
        if (a->dims[i] < 0)
            return bn_fail(st, BN_FORMAT, "argument %zu: dimension %zu is %lld", index, i,
                           (long long)a->dims[i]);
    }
    return BN_OK;
}

/* The output that has INDEX, of MODULE: its only one, or one of a tuple's; -1: a part of one. */
static int32_t output_of(const Mode__Hlo__Module *module, const int64_t *index, size_t count)
{
    const Mode__Hlo__Shape *result = module->entry->result;
    const bool tuple = result && result->element_type == PRIMITIVE_TUPLE;
    if (!tuple)
        return count == 0 ? 0 : -1;
    return count == 1 && index[0] >= 0 && (uint64_t)index[0] < result->n_tuple_shapes
               ? (int32_t)index[0]
               : -1;
}

static bn_code read_donations(const Mode__Hlo__Module *module, mode_argument *list, size_t count,
                              bn_status *st)
{
    for (size_t i = 0; module->alias && i < module->alias->n_entries; i++) {
        const Mode__Hlo__Alias__Entry *e = module->alias->entries[i];
        if (e->parameter < 0 || (uint64_t)e->parameter >= count)
            return bn_fail(st, BN_FORMAT, "the program donates argument %lld of %zu",
                           (long long)e->parameter, count);
        list[e->parameter].result = output_of(module, e->output_index, e->n_output_index);
        list[e->parameter].donated = list[e->parameter].result < 0;
    }
    for (size_t i = 0; module->donors && i < module->donors->n_entries; i++) {
        const Mode__Hlo__Donors__Entry *e = module->donors->entries[i];
        if (e->parameter < 0 || (uint64_t)e->parameter >= count)
            return bn_fail(st, BN_FORMAT, "the program donates argument %lld of %zu",
                           (long long)e->parameter, count);
        list[e->parameter].donated = list[e->parameter].result < 0;
    }
    return BN_OK;
}

bn_code mode_signature_read_hlo(const void *code, size_t size, mode_argument **list, size_t *count,
                                bn_status *st)
{
    Mode__Hlo__Module *module = unpack(code, size);
    *list = NULL;
    *count = 0;
    if (!module)
        return bn_fail(st, BN_FORMAT, "not an HloModuleProto with the types of its entry");
    const size_t found = module->entry->n_parameters;
    mode_argument *read = calloc(found + 1, sizeof *read);
    bn_code code_of =
        read ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu arguments", found);
    for (size_t i = 0; code_of == BN_OK && i < found; i++)
        code_of = read_shape(module->entry->parameters[i], i, &read[i], st);
    if (code_of == BN_OK)
        code_of = read_donations(module, read, found, st);
    mode__hlo__module__free_unpacked(module, NULL);
    if (code_of != BN_OK) {
        free(read);
        return code_of;
    }
    *list = read;
    *count = found;
    return BN_OK;
}
