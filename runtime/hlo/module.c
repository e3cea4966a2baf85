/*
 * module.c - the module: its computations and instructions by their numbers, the compiler's
 * estimates, layouts as text. The bytes are a plugin's, and nothing in them is taken on trust.
 */
#define _GNU_SOURCE
#include "runtime/hlo/hlo_priv.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CYCLES 1e18 /* thirty years; more is no estimate */

/* ---- estimates ------------------------------------------------------------------------- */

/* A whole number that JSON has as a number or, as protocol buffers write 64 bits, as a text; -1 for
 * anything else. */
static double whole_number(const json_t *value)
{
    double number = -1;
    const char *text = json_string_value(value);
    if (text && text[0] >= '0' && text[0] <= '9') {
        char *end = NULL;
        errno = 0;
        const long long read = strtoll(text, &end, 10);
        number = *end == '\0' && errno == 0 ? (double)read : -1;
    } else if (json_is_number(value)) {
        number = json_number_value(value);
    }
    return isfinite(number) && number >= 0 && number <= MOST_CYCLES ? number : -1;
}

/* The number at OUTER.INNER of INSTRUCTION's configuration; -1: there is none. */
static double configured(const hlo_instruction *instruction, const char *outer, const char *inner)
{
    const char *text = (const char *)instruction->backend_config.data;
    const size_t length = instruction->backend_config.len;
    /* Most configurations have nothing of it, and are long. */
    if (!text || !memmem(text, length, inner, strlen(inner)) ||
        bn_json_depth(text, length) > BN_JSON_DEPTH)
        return -1;
    json_t *config = json_loadb(text, length, 0, NULL);
    const double number = whole_number(json_object_get(json_object_get(config, outer), inner));
    json_decref(config);
    return number;
}

/* Of what its cost model does not cover the compiler says 0. */
static double estimated_cycles(const hlo_instruction *instruction)
{
    const double cycles = configured(instruction, "window_config", "estimated_cycles");
    return cycles > 0 ? cycles : -1;
}

double hlo_stated_trips(const hlo_instruction *loop)
{
    return configured(loop, "known_trip_count", "n");
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Compilers number instructions within the module, or within the computation with the computation's
 * own number in the upper half. The lower half is unique within a computation. */
static uint32_t number_of(int64_t id)
{
    return (uint32_t)(uint64_t)id;
}

static int by_number(const void *a, const void *b)
{
    const hlo_place *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static const hlo_instruction *find(const hlo_computation *c, int64_t id)
{
    const hlo_place key = {.number = number_of(id)};
    const hlo_place *place =
        bsearch(&key, c->places, c->wire->n_instructions, sizeof *c->places, by_number);
    return place ? c->wire->instructions[place->at] : NULL;
}

static size_t computation_of(const hlo_module *module, int64_t id)
{
    for (size_t i = 0; i < module->count; i++)
        if (module->computations[i].wire->id == id)
            return i;
    return HLO_NONE;
}

size_t hlo_called(const hlo_module *module, const hlo_instruction *instruction, size_t k)
{
    return k < instruction->n_called_computation_ids
               ? computation_of(module, instruction->called_computation_ids[k])
               : HLO_NONE;
}

const hlo_instruction *hlo_operand(const hlo_module *module, size_t computation,
                                   const hlo_instruction *instruction, size_t k)
{
    return k < instruction->n_operand_ids
               ? find(&module->computations[computation], instruction->operand_ids[k])
               : NULL;
}

const hlo_instruction *hlo_root(const hlo_module *module, size_t computation)
{
    const hlo_computation *c = &module->computations[computation];
    return find(c, c->wire->root_id);
}

bool hlo_is(const hlo_instruction *instruction, const char *opcode)
{
    return strcmp(instruction->opcode, opcode) == 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bn_code unpack(hlo_module *module, const char *format, const void *bytes, size_t size,
                      bn_status *st)
{
    const bool alone = strcmp(format, "hlo") == 0;
    if (!alone && strcmp(format, "hlo_with_config") != 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the plugin gives optimized programs as '%s', which cannot be read: "
                       "hlo or hlo_with_config is needed",
                       format);
    if (alone) {
        module->wire = hlo__wire__module__unpack(NULL, size, bytes);
    } else {
        module->configured = hlo__wire__configured__unpack(NULL, size, bytes);
        module->wire = module->configured ? module->configured->module : NULL;
    }
    if (!module->wire || module->wire->n_computations == 0)
        return bn_fail(st, BN_FORMAT, "the optimized program is no HloModuleProto");
    return BN_OK;
}

static void index_computation(hlo_module *module, hlo_computation *c)
{
    const size_t count = c->wire->n_instructions;
    c->places = bn_arena_alloc(module->arena, (count + 1) * sizeof *c->places);
    c->cycles = bn_arena_alloc(module->arena, (count + 1) * sizeof *c->cycles);
    for (size_t i = 0; i < count; i++) {
        c->places[i] = (hlo_place){number_of(c->wire->instructions[i]->id), i};
        c->cycles[i] = estimated_cycles(c->wire->instructions[i]);
    }
    qsort(c->places, count, sizeof *c->places, by_number);
}

bn_code hlo_module_open(hlo_module *module, const char *format, const void *bytes, size_t size,
                        bn_status *st)
{
    *module = (hlo_module){.arena = bn_arena_new(4096)};
    bn_code code = unpack(module, format, bytes, size, st);
    if (code != BN_OK)
        return code;
    const size_t count = module->wire->n_computations;
    module->computations = bn_arena_zalloc(module->arena, count * sizeof *module->computations);
    for (size_t i = 0; i < count; i++) {
        module->computations[i].wire = module->wire->computations[i];
        index_computation(module, &module->computations[i]);
    }
    module->count = count;
    module->entry = computation_of(module, module->wire->entry_id);
    if (module->entry == HLO_NONE)
        return bn_fail(st, BN_FORMAT, "the optimized program has no entry");
    return BN_OK;
}

void hlo_module_close(hlo_module *module)
{
    if (module->configured)
        hlo__wire__configured__free_unpacked(module->configured, NULL);
    else if (module->wire)
        hlo__wire__module__free_unpacked(module->wire, NULL);
    bn_arena_free(module->arena);
    *module = (hlo_module){0};
}

/* ---- layouts ----------------------------------------------------------------- */

bool hlo_same_order(const Hlo__Wire__Layout *a, const Hlo__Wire__Layout *b)
{
    if (!a || !b || a->n_minor_to_major != b->n_minor_to_major)
        return true;
    for (size_t i = 0; i < a->n_minor_to_major; i++)
        if (a->minor_to_major[i] != b->minor_to_major[i])
            return false;
    return true;
}

void hlo_put_layout(const Hlo__Wire__Layout *layout, size_t rank, bn_text *out)
{
    bn_text_clear(out);
    if (!layout || rank == 0 || layout->n_minor_to_major != rank ||
        !bn_text_layout(out, layout->minor_to_major, rank))
        return;
    for (size_t t = 0; t < layout->n_tiles; t++)
        bn_text_tile(out, t, layout->tiles[t]->dimensions, layout->tiles[t]->n_dimensions);
    if (layout->element_size_in_bits > 0) {
        bn_text_puts(out, layout->n_tiles ? "E(" : ":E(");
        bn_text_int(out, layout->element_size_in_bits);
        bn_text_putc(out, ')');
    }
    bn_text_putc(out, '}');
}

const char *const *hlo_layouts(const hlo_module *module, size_t *count)
{
    const Hlo__Wire__Shape *result = module->wire->entry ? module->wire->entry->result : NULL;
    const size_t parts = !result ? 0 : result->n_parts ? result->n_parts : 1;
    const char **list = bn_arena_zalloc(module->arena, (parts + 1) * sizeof *list);
    bn_text text = {0};
    for (size_t i = 0; i < parts; i++) {
        const Hlo__Wire__Part *part = result->n_parts ? result->parts[i] : NULL;
        if (part)
            hlo_put_layout(part->layout, part->n_dimensions, &text);
        else
            hlo_put_layout(result->layout, result->n_dimensions, &text);
        list[i] = text.length ? bn_arena_strdup(module->arena, text.data) : NULL;
    }
    bn_text_free(&text);
    *count = parts;
    return list;
}
