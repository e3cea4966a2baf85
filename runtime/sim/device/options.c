/*
 * options.c - compile options as they arrive, and opaque programs. An opaque program is run as a
 * stand-in with its arguments and results, whose text is made here; so types, memory and donation
 * are checked as those of any other.
 */
#include "runtime/sim/device/options.h"

#include "runtime/base/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- protocol buffers -------------------------------------------------------------------- */

/* Their varint; false at the end of the bytes. */
static bool take_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* A field: its number, and either its bytes or, of a varint, its value. */
typedef struct field {
    uint64_t number, value;
    const unsigned char *bytes;
    size_t size;
} field;

static bool take_field(const unsigned char **at, const unsigned char *end, field *f)
{
    static const size_t fixed[8] = {[1] = 8, [5] = 4};
    uint64_t key;
    *f = (field){0};
    if (!take_varint(at, end, &key))
        return false;
    f->number = key >> 3;
    if ((key & 7) == 0)
        return take_varint(at, end, &f->value);
    uint64_t size = fixed[key & 7];
    if ((key & 7) == 2 && !take_varint(at, end, &size))
        return false;
    if (size > (uint64_t)(end - *at))
        return false;
    f->bytes = *at;
    f->size = (size_t)size;
    *at += size;
    return true;
}

/* The last message with this field number inside BYTES; an empty one without. */
static field find_field(const unsigned char *bytes, size_t size, uint64_t number)
{
    field f, found = {0};
    for (const unsigned char *at = bytes, *end = bytes + size;
         at < end && take_field(&at, end, &f);)
        if (f.number == number)
            found = f;
    return found;
}

/* ---- what is stated of a program ------------------------------------------------------------ */

enum { ARGUMENTS, RESULTS, ALIASES, DEVICE_US, FLOPS, BYTES, NAME, STATED_COUNT };
static const char *const stated_names[STATED_COUNT] = {
    [ARGUMENTS] = "opaque_arguments", [RESULTS] = "opaque_results", [ALIASES] = "opaque_aliases",
    [DEVICE_US] = "opaque_device_us", [FLOPS] = "opaque_flops",     [BYTES] = "opaque_bytes",
    [NAME] = "opaque_name",
};

/* The options that were given, as texts (malloc); NULL: not given. */
typedef struct stated {
    char *text[STATED_COUNT];
    bool some, others; /* of them, and of the compiler's own */
} stated;

static void free_stated(stated *s)
{
    for (int i = 0; i < STATED_COUNT; i++)
        free(s->text[i]);
}

/* One entry of env_option_overrides: key 1, value 2, in it string_field 1. */
static void take_stated(const field *entry, stated *s)
{
    const field key = find_field(entry->bytes, entry->size, 1);
    field value = find_field(entry->bytes, entry->size, 2);
    int which = 0;
    while (which < STATED_COUNT && !(strlen(stated_names[which]) == key.size && key.bytes &&
                                     memcmp(stated_names[which], key.bytes, key.size) == 0))
        which++;
    if (which == STATED_COUNT) {
        s->others = true;
        return;
    }
    value = find_field(value.bytes, value.size, 1);
    free(s->text[which]);
    s->text[which] = bn_alloc(value.size + 1);
    if (value.size)
        memcpy(s->text[which], value.bytes, value.size);
    s->text[which][value.size] = '\0';
    s->some = true;
}

/* ---- the stand-in ------------------------------------------------------------------------------
 */

typedef struct type_list {
    sim_type *types; /* malloc */
    size_t count, capacity;
} type_list;

/* "f32[2,3]" at *AT, which moves behind it. */
static bool read_type(const char **at, sim_type *type)
{
    const size_t length = strcspn(*at, "[");
    *type = (sim_type){.dtype = bn_dtype_named(*at, length, true, BN_DTYPES_SIMULATED)};
    if ((*at)[length] != '[' || type->dtype == BN_DTYPES_SIMULATED)
        return false;
    *at += length + 1;
    while (**at != ']') {
        char *end;
        if (!isdigit((unsigned char)**at) || type->rank == SIM_MAX_RANK)
            return false;
        type->dims[type->rank++] = strtoll(*at, &end, 10);
        if (*end != ',' && *end != ']')
            return false;
        *at = *end == ',' ? end + 1 : end;
    }
    ++*at;
    return true;
}

/* TEXT, the value of option WHICH: types with semicolons between. */
static sim_code read_types(const char *text, int which, type_list *list, sim_status *st)
{
    const char *at = text ? text : "";
    while (*at) {
        bn_grow(&list->types, list->count + 1, &list->capacity, sizeof *list->types);
        if (!read_type(&at, &list->types[list->count]) || (*at && *at != ';'))
            return sim_fail(st, SIM_INVALID_ARGUMENT,
                            "%s: type %zu: wants types as f32[2,3] with semicolons between",
                            stated_names[which], list->count);
        list->count++;
        at += *at == ';';
    }
    return SIM_OK;
}

static void put_type(bn_text *out, const sim_type *type)
{
    bn_text_puts(out, "tensor<");
    for (int i = 0; i < type->rank; i++)
        bn_text_printf(out, "%lldx", (long long)type->dims[i]);
    bn_text_printf(out, "%s>", bn_dtype_text(type->dtype));
}

/* Reads "0:1;4:2" into ALIAS, the result for each of COUNT arguments. */
static sim_code read_aliases(const char *text, size_t count, int64_t *alias, sim_status *st)
{
    for (const char *at = text ? text : ""; *at;) {
        char *end = NULL, *last = NULL;
        const long long argument = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : -1;
        const bool second = end && *end == ':' && isdigit((unsigned char)end[1]);
        const long long result = second ? strtoll(end + 1, &last, 10) : -1;
        if (!second || (*last && *last != ';') || argument >= (long long)count ||
            result > INT32_MAX)
            return sim_fail(st, SIM_INVALID_ARGUMENT,
                            "opaque_aliases=%.*s: wants argument:result;... of the %zu arguments",
                            BN_FIT(text, 40), count);
        alias[argument] = result;
        at = last + (*last == ';');
    }
    return SIM_OK;
}

/* NAME as an identifier of MLIR. */
static void put_name(bn_text *out, const char *name)
{
    const char *at = name && *name ? name : "opaque";
    if (!isalpha((unsigned char)*at) && *at != '_')
        bn_text_putc(out, '_');
    for (; *at; at++)
        bn_text_putc(out, isalnum((unsigned char)*at) || *at == '_' || *at == '.' ? *at : '_');
}

/* A whole number or zeros: what a constant of TYPE is written as. */
static const char *zero_of(const sim_type *type)
{
    switch (bn_dtype_class(type->dtype)) {
    case BN_BOOLEAN:
        return "false";
    case BN_FLOAT:
        return "0.0";
    case BN_COMPLEX:
        return "(0.0, 0.0)";
    default:
        return "0";
    }
}

static void put_text(bn_text *out, const char *name, const type_list *arguments,
                     const type_list *results, const int64_t *alias)
{
    bn_text_puts(out, "module @");
    put_name(out, name);
    bn_text_puts(out, " {\n  func.func public @main(");
    for (size_t i = 0; i < arguments->count; i++) {
        bn_text_printf(out, "%s%%a%zu: ", i ? ", " : "", i);
        put_type(out, &arguments->types[i]);
        if (alias[i] >= 0)
            bn_text_printf(out, " {tf.aliasing_output = %lld : i32}", (long long)alias[i]);
    }
    for (size_t i = 0; i < results->count; i++) {
        bn_text_puts(out, i ? ", " : ") -> (");
        put_type(out, &results->types[i]);
    }
    bn_text_puts(out, ") {\n");
    for (size_t i = 0; i < results->count; i++) {
        bn_text_printf(out, "    %%r%zu = stablehlo.constant dense<%s> : ", i,
                       zero_of(&results->types[i]));
        put_type(out, &results->types[i]);
        bn_text_putc(out, '\n');
    }
    bn_text_puts(out, "    return ");
    for (size_t i = 0; i < results->count; i++)
        bn_text_printf(out, "%s%%r%zu", i ? ", " : "", i);
    bn_text_puts(out, results->count ? " : " : "");
    for (size_t i = 0; i < results->count; i++) {
        bn_text_puts(out, i ? ", " : "");
        put_type(out, &results->types[i]);
    }
    bn_text_puts(out, "\n  }\n}\n");
}

/* Makes the text of a program with S's arguments and results. */
static sim_code make_text(const stated *s, char **text, sim_status *st)
{
    type_list arguments = {0}, results = {0};
    bn_text out = {0};
    sim_code code = read_types(s->text[ARGUMENTS], ARGUMENTS, &arguments, st);
    if (code == SIM_OK)
        code = read_types(s->text[RESULTS], RESULTS, &results, st);
    int64_t *alias = bn_alloc(arguments.count * sizeof *alias);
    for (size_t i = 0; i < arguments.count; i++)
        alias[i] = -1;
    if (code == SIM_OK)
        code = read_aliases(s->text[ALIASES], arguments.count, alias, st);
    if (code == SIM_OK)
        put_text(&out, s->text[NAME], &arguments, &results, alias);
    *text = out.data;
    free(alias);
    free(arguments.types);
    free(results.types);
    return code;
}

/* The number that option WHICH has, into *VALUE; negative where it is not given. */
static sim_code read_number(const stated *s, int which, double *value, sim_status *st)
{
    char *end;
    *value = -1;
    if (!s->text[which])
        return SIM_OK;
    errno = 0;
    *value = strtod(s->text[which], &end);
    if (end == s->text[which] || *end || errno || !(*value >= 0 && *value <= 1e21))
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s=%.*s: wants a number from 0",
                        stated_names[which], BN_FIT(s->text[which], 40));
    return SIM_OK;
}

static sim_code read_opaque(const stated *s, sim_opaque *opaque, sim_status *st)
{
    if (read_number(s, DEVICE_US, &opaque->device_us, st) != SIM_OK ||
        read_number(s, FLOPS, &opaque->flops, st) != SIM_OK ||
        read_number(s, BYTES, &opaque->bytes, st) != SIM_OK)
        return st->code;
    if (opaque->device_us > 1e9)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "opaque_device_us=%g: wants at most 1e9",
                        opaque->device_us);
    if (!s->text[RESULTS] || (opaque->device_us < 0 && (opaque->flops < 0 || opaque->bytes < 0)))
        return sim_fail(st, SIM_INVALID_ARGUMENT,
                        "a program that cannot be read wants opaque_results, and what it costs: "
                        "opaque_device_us, or opaque_flops and opaque_bytes");
    return make_text(s, &opaque->text, st);
}

/* ---- all that is asked for --------------------------------------------------------------------
 */

void sim_asked_free(sim_asked *asked)
{
    free(asked->opaque.text);
    asked->opaque.text = NULL;
}

/* CompileOptionsProto: options of the compiler are env_option_overrides 7; in
 * executable_build_options 3, num_replicas 4 and num_partitions 5, and device_assignment 9; in
 * that computation_devices 3, and in it replica_device_ids 1. */
sim_code sim_options_asked(const char *options, size_t size, sim_asked *asked, sim_status *st)
{
    const unsigned char *bytes = (const unsigned char *)options, *at = bytes, *end = bytes + size;
    stated s = {0};
    field f;
    sim_code code = SIM_OK;
    *asked = (sim_asked){0};
    while (code == SIM_OK && at < end) {
        if (!take_field(&at, end, &f))
            code = sim_fail(st, SIM_INVALID_ARGUMENT, "the compile options are cut off or damaged");
        else if (f.number == 7 && f.bytes)
            take_stated(&f, &s);
    }
    /* Nothing compiles an opaque program. */
    if (code == SIM_OK && s.others && !s.some)
        code = sim_fail(st, SIM_INVALID_ARGUMENT,
                        "the simulated compiler takes no options, but those that state a program "
                        "that it cannot read (opaque_...)");
    if (code == SIM_OK && s.some)
        code = read_opaque(&s, &asked->opaque, st);
    free_stated(&s);
    if (code != SIM_OK)
        return code;
    const field build = find_field(bytes, size, 3);
    if (find_field(build.bytes, build.size, 4).value > 1 ||
        find_field(build.bytes, build.size, 5).value > 1)
        return sim_fail(st, SIM_UNIMPLEMENTED, "only one replica and one partition");
    f = find_field(build.bytes, build.size, 9);
    f = find_field(f.bytes, f.size, 3);
    f = find_field(f.bytes, f.size, 1);
    asked->device = f.value;
    /* Packed, or a plain number. */
    if (f.bytes) {
        at = f.bytes;
        take_varint(&at, f.bytes + f.size, &asked->device);
    }
    return SIM_OK;
}
