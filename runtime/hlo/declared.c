/*
 * declared.c - what a program in XLA's own form declares, as runtime/stablehlo has it: the types
 * and layouts of its entry, what is donated, and the devices that it names. Of a program that was
 * compiled it says what the compiler made of the declarations.
 */
#include "runtime/hlo/hlo_priv.h"

#include <stdio.h>
#include <string.h>

/* PrimitiveType of xla/xla_data.proto, of what has no elements. */
#define PRIMITIVE_TUPLE 13
#define PRIMITIVE_TOKEN 17

/* ---- finding a module in bytes -------------------------------------------------------- */

static bool is_module(const void *code, size_t size)
{
    Hlo__Wire__Module *module = hlo__wire__module__unpack(NULL, size, code);
    const bool is_one = module && module->entry;
    if (module)
        hlo__wire__module__free_unpacked(module, NULL);
    return is_one;
}

bool hlo_find_module(const char **code, size_t *size)
{
    /* A module's first field is its name, an HloProto's the module. */
    const unsigned char *at = (const unsigned char *)*code, *end = at + *size;
    if (*size < 2 || *at++ != (1 << 3 | 2))
        return false;
    if (is_module(*code, *size))
        return true;
    uint64_t length = 0;
    for (unsigned shift = 0; at < end && shift < 35; shift += 7) {
        const unsigned char byte = *at++;
        length |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    if (length > (uint64_t)(end - at) || !is_module(at, (size_t)length))
        return false;
    *code = (const char *)at;
    *size = (size_t)length;
    return true;
}

/* ---- values ------------------------------------------------------------------------------ */

/* A shape without parts; they are what Shape and Part have alike. */
typedef struct shape {
    int32_t element_type;
    size_t rank, dynamic;
    const int64_t *dims;
    const protobuf_c_boolean *is_dynamic;
    const Hlo__Wire__Layout *layout;
} shape;

static shape of_shape(const Hlo__Wire__Shape *s)
{
    return (shape){s->element_type, s->n_dimensions, s->n_is_dynamic,
                   s->dimensions,   s->is_dynamic,   s->layout};
}

static shape of_part(const Hlo__Wire__Part *p)
{
    return (shape){p->element_type, p->n_dimensions, p->n_is_dynamic,
                   p->dimensions,   p->is_dynamic,   p->layout};
}

static void read_layout(const shape *s, shlo_value *v, bn_arena *store)
{
    bn_text text = {0};
    if (s->layout && s->layout->memory_space != 0)
        v->memory = "of another space (XLA's S)";
    hlo_put_layout(s->layout, s->rank, &text);
    if (text.length)
        v->layout = bn_arena_strdup(store, text.data);
    bn_text_free(&text);
}

static bn_code read_value(const shape *s, size_t index, shlo_value *v, bn_arena *store,
                          bn_status *st)
{
    const bn_dtype dtype = bn_dtype_numbered(s->element_type, true, BN_DTYPE_COUNT);
    *v = (shlo_value){.result = -1};
    v->tensor = s->element_type != PRIMITIVE_TUPLE && s->element_type != PRIMITIVE_TOKEN;
    if (dtype < BN_DTYPE_COUNT)
        snprintf(v->dtype, sizeof v->dtype, "%s", bn_dtype_text(dtype));
    else if (s->element_type == PRIMITIVE_TUPLE)
        snprintf(v->dtype, sizeof v->dtype, "tuple");
    else if (s->element_type == PRIMITIVE_TOKEN)
        snprintf(v->dtype, sizeof v->dtype, "token");
    else
        snprintf(v->dtype, sizeof v->dtype, "XLA's type %d", (int)s->element_type);
    if (s->rank > SHLO_MOST_RANK)
        return bn_fail(st, BN_NOT_SUPPORTED, "value %zu has %zu dimensions, at most %d", index,
                       s->rank, SHLO_MOST_RANK);
    v->rank = s->rank;
    for (size_t i = 0; i < s->rank; i++) {
        v->dims[i] = i < s->dynamic && s->is_dynamic[i] ? -1 : s->dims[i];
        if (s->dims[i] < 0 && v->dims[i] != -1)
            return bn_fail(st, BN_FORMAT, "value %zu: dimension %zu is %lld", index, i,
                           (long long)s->dims[i]);
    }
    read_layout(s, v, store);
    return BN_OK;
}

/* The values of COUNT shapes, in *LIST. With PARTS a lone tuple is its parts. */
static bn_code read_values(Hlo__Wire__Shape *const *shapes, size_t count, bool parts,
                           shlo_value **list, size_t *found, bn_arena *store, bn_status *st)
{
    const bool tuple = parts && count == 1 && shapes[0]->element_type == PRIMITIVE_TUPLE;
    *found = tuple ? shapes[0]->n_parts : count;
    *list = bn_arena_zalloc(store, (*found + 1) * sizeof **list);
    bn_code code = BN_OK;
    for (size_t i = 0; i < *found && code == BN_OK; i++) {
        const shape s = tuple ? of_part(shapes[0]->parts[i]) : of_shape(shapes[i]);
        code = read_value(&s, i, &(*list)[i], store, st);
    }
    return code;
}

/* ---- donation ---------------------------------------------------------------------------- */

/* The output that has INDEX: the only one, or one of a tuple's; -1: a part of one. */
static int32_t output_of(const Hlo__Wire__Module *module, const int64_t *index, size_t count)
{
    const Hlo__Wire__Shape *result = module->entry->result;
    if (!result || result->element_type != PRIMITIVE_TUPLE)
        return count == 0 ? 0 : -1;
    return count == 1 && index[0] >= 0 && (uint64_t)index[0] < result->n_parts ? (int32_t)index[0]
                                                                               : -1;
}

static bn_code no_argument(const shlo_declared *to, int64_t parameter, bn_status *st)
{
    return bn_fail(st, BN_FORMAT, "the program donates argument %lld of %zu", (long long)parameter,
                   to->argument_count);
}

static bn_code read_donations(const Hlo__Wire__Module *module, shlo_declared *to, bn_status *st)
{
    for (size_t i = 0; module->alias && i < module->alias->n_entries; i++) {
        const Hlo__Wire__Alias__Entry *e = module->alias->entries[i];
        if (e->parameter < 0 || (uint64_t)e->parameter >= to->argument_count)
            return no_argument(to, e->parameter, st);
        shlo_value *a = &to->arguments[e->parameter];
        a->result = output_of(module, e->output_index, e->n_output_index);
        a->donated = a->result < 0;
    }
    for (size_t i = 0; module->donors && i < module->donors->n_entries; i++) {
        const Hlo__Wire__Donors__Entry *e = module->donors->entries[i];
        if (e->parameter < 0 || (uint64_t)e->parameter >= to->argument_count)
            return no_argument(to, e->parameter, st);
        to->arguments[e->parameter].donated = to->arguments[e->parameter].result < 0;
    }
    return BN_OK;
}

/* ---- devices ------------------------------------------------------------------------------ */

static void note_device(shlo_declared *to, int64_t device, const char *what)
{
    shlo_note_device(to, device, what, strlen(what));
}

static void note_groups(shlo_declared *to, Hlo__Wire__Group *const *groups, size_t count,
                        const char *what)
{
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g]->n_ids; i++)
            note_device(to, groups[g]->ids[i], what);
}

static int64_t product_of(const int64_t *numbers, size_t count)
{
    int64_t product = count ? 1 : 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(product, numbers[i], &product))
            return INT64_MAX;
    return product;
}

/* By what a value is spread. The last tile of a sharding may hold copies, on devices of their own.
 */
static void note_spread(shlo_declared *to, const int64_t *tiles, size_t tile_count,
                        const int64_t *devices, size_t device_count)
{
    const int64_t spread = product_of(tiles, tile_count);
    if (spread > 1)
        note_device(to, spread - 1, "sharding");
    for (size_t i = 0; i < device_count; i++)
        if (devices[i] > 0)
            note_device(to, devices[i], "sharding");
}

/* The fields of OpSharding up to that of the last one that is known here; what stands behind it may
 * name any device. */
#define LAST_SHARDING_FIELD 13

static void note_sharding(shlo_declared *to, const Hlo__Wire__Sharding *s)
{
    if (!s)
        return;
    note_spread(to, s->tiles, s->n_tiles, s->devices, s->n_devices);
    for (size_t i = 0; i < s->n_parts; i++)
        note_spread(to, s->parts[i]->tiles, s->parts[i]->n_tiles, s->parts[i]->devices,
                    s->parts[i]->n_devices);
    for (size_t i = 0; i < s->base.n_unknown_fields; i++)
        if (s->base.unknown_fields[i].tag > LAST_SHARDING_FIELD)
            note_device(to, INT64_MAX, "sharding");
}

static void note_words(shlo_declared *to, const Hlo__Wire__Words *words)
{
    for (size_t i = 0; words && i < words->n_entries; i++) {
        const char *key = words->entries[i]->key, *value = words->entries[i]->value;
        shlo_note_sharding(to, (shlo_piece){key, strlen(key)}, (shlo_piece){value, strlen(value)});
    }
}

static void note_iota(shlo_declared *to, const Hlo__Wire__IotaGroups *iota, const char *what)
{
    if (iota)
        note_device(to, product_of((int64_t[]){iota->groups, iota->devices_each}, 2) - 1, what);
}

static void note_instruction(shlo_declared *to, const hlo_instruction *x)
{
    static const char *const ops[] = {
        "all-reduce",           "all-reduce-start",         "all-gather",     "all-gather-start",
        "all-to-all",           "ragged-all-to-all",        "reduce-scatter", "collective-permute",
        "collective-broadcast", "collective-permute-start", "send",           "recv"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (hlo_is(x, ops[i]))
            note_device(to, -1, x->opcode);
    note_groups(to, x->replica_groups, x->n_replica_groups, x->opcode);
    for (size_t i = 0; i < x->n_source_target_pairs; i++) {
        note_device(to, x->source_target_pairs[i]->source, x->opcode);
        note_device(to, x->source_target_pairs[i]->target, x->opcode);
    }
    if (x->device_list) {
        note_groups(to, x->device_list->groups, x->device_list->n_groups, x->opcode);
        note_iota(to, x->device_list->iota, x->opcode);
    }
    note_iota(to, x->iota, x->opcode);
    if (x->groups_by_axes.len > 0)
        note_device(to, INT64_MAX, x->opcode);
    note_sharding(to, x->sharding);
    note_words(to, x->words);
}

/* ---- the module ---------------------------------------------------------------------------- */

static bn_code read_module(const Hlo__Wire__Module *module, shlo_declared *to, bn_status *st)
{
    const Hlo__Wire__Signature *entry = module->entry;
    bn_code code = read_values(entry->parameters, entry->n_parameters, false, &to->arguments,
                               &to->argument_count, to->store, st);
    if (code == BN_OK && entry->result)
        code = read_values((Hlo__Wire__Shape *const[]){entry->result}, 1, true, &to->results,
                           &to->result_count, to->store, st);
    if (code == BN_OK)
        code = read_donations(module, to, st);
    if (code == BN_OK && module->assignment) {
        to->replicas = module->assignment->replicas;
        to->partitions = module->assignment->computations;
    }
    note_words(to, module->words);
    note_sharding(to, module->result_sharding);
    for (size_t i = 0; i < module->n_parameter_shardings; i++)
        note_sharding(to, module->parameter_shardings[i]);
    for (size_t c = 0; c < module->n_computations && code == BN_OK; c++)
        for (size_t i = 0; i < module->computations[c]->n_instructions; i++)
            note_instruction(to, module->computations[c]->instructions[i]);
    return code;
}

bn_code hlo_declared_read(const char *format, const void *bytes, size_t size,
                          shlo_declared *declared, bn_status *st)
{
    const bool alone = strcmp(format, "hlo") == 0;
    bn_code code = BN_OK;
    shlo_declared_open(declared);
    if (!alone && strcmp(format, "hlo_with_config") != 0)
        return bn_fail(st, BN_NOT_SUPPORTED, "a program in the form '%s' is not HLO", format);
    Hlo__Wire__Configured *configured =
        alone ? NULL : hlo__wire__configured__unpack(NULL, size, bytes);
    Hlo__Wire__Module *lone = alone ? hlo__wire__module__unpack(NULL, size, bytes) : NULL;
    const Hlo__Wire__Module *module = configured ? configured->module : lone;
    if (module && module->entry)
        code = read_module(module, declared, st);
    else
        code = bn_fail(st, BN_FORMAT, "not an HloModuleProto with the types of its entry");
    if (configured)
        hlo__wire__configured__free_unpacked(configured, NULL);
    if (lone)
        hlo__wire__module__free_unpacked(lone, NULL);
    return code;
}
