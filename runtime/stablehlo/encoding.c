/*
 * encoding.c - attributes and types in MLIR's byte code. A dialect encodes them as it likes, or
 * leaves them as text. A number comes first that says what follows; other attributes, types and
 * strings are numbers in their tables.
 */
#define _GNU_SOURCE
#include "runtime/stablehlo/bytecode_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TYPES 8    /* within each other */
#define MOST_TEXT  4096 /* of a sharding */

/* ---- what follows ---------------------------------------------------------------------------- */

static const struct {
    const char *dialect;
    uint8_t code, kind;
} attribute_codes[] = {
    {"builtin", 0, SHLO_ATTRIBUTE_ARRAY},     {"builtin", 1, SHLO_ATTRIBUTE_DICTIONARY},
    {"builtin", 2, SHLO_ATTRIBUTE_STRING},    {"builtin", 3, SHLO_ATTRIBUTE_STRING},
    {"builtin", 4, SHLO_ATTRIBUTE_SYMBOL},    {"builtin", 6, SHLO_ATTRIBUTE_TYPE},
    {"builtin", 7, SHLO_ATTRIBUTE_UNIT},      {"builtin", 8, SHLO_ATTRIBUTE_INTEGER},
    {"builtin", 18, SHLO_ATTRIBUTE_TENSOR},   {"vhlo", 1, SHLO_ATTRIBUTE_ARRAY},
    {"vhlo", 2, SHLO_ATTRIBUTE_BOOLEAN},      {"vhlo", 6, SHLO_ATTRIBUTE_DICTIONARY},
    {"vhlo", 9, SHLO_ATTRIBUTE_INTEGER},      {"vhlo", 14, SHLO_ATTRIBUTE_STRING},
    {"vhlo", 15, SHLO_ATTRIBUTE_TENSOR},      {"vhlo", 17, SHLO_ATTRIBUTE_TYPE},
    {"vhlo", 18, SHLO_ATTRIBUTE_BOUNDS},      {"vhlo", 23, SHLO_ATTRIBUTE_MESH_AXES},
    {"vhlo", 24, SHLO_ATTRIBUTE_AXIS},        {"vhlo", 25, SHLO_ATTRIBUTE_MESH},
    {"stablehlo", 13, SHLO_ATTRIBUTE_BOUNDS}, {"stablehlo", 18, SHLO_ATTRIBUTE_MESH_AXES},
    {"stablehlo", 21, SHLO_ATTRIBUTE_AXIS},   {"stablehlo", 22, SHLO_ATTRIBUTE_MESH},
    {"sdy", 1, SHLO_ATTRIBUTE_AXIS},          {"sdy", 2, SHLO_ATTRIBUTE_MESH},
    {"sdy", 3, SHLO_ATTRIBUTE_PART},          {"sdy", 4, SHLO_ATTRIBUTE_AXIS_REF},
    {"sdy", 5, SHLO_ATTRIBUTE_DIMENSION},     {"sdy", 6, SHLO_ATTRIBUTE_SHARDING},
    {"sdy", 15, SHLO_ATTRIBUTE_SHARDING},     {"sdy", 17, SHLO_ATTRIBUTE_SHARDING}};

static shlo_bytes text_bytes(const shlo_item *item)
{
    shlo_bytes bytes = item->bytes;
    const uint8_t *zero = memchr(bytes.at, 0, shlo_left(&bytes));
    bytes.end = zero ? zero : bytes.end;
    return bytes;
}

bn_code shlo_open_attribute(const shlo_code *c, uint64_t index, shlo_attribute_kind *kind,
                            shlo_bytes *bytes)
{
    if (index >= c->attribute_count)
        return shlo_damaged(c, "an attribute that it does not have");
    const shlo_item *item = &c->attributes[index];
    *kind = SHLO_ATTRIBUTE_UNKNOWN;
    *bytes = item->bytes;
    if (item->text) {
        *kind = SHLO_ATTRIBUTE_TEXT;
        *bytes = text_bytes(item);
        return BN_OK;
    }
    const uint64_t code = shlo_varint(bytes);
    for (size_t i = 0; i < sizeof attribute_codes / sizeof *attribute_codes; i++)
        if (code == attribute_codes[i].code &&
            shlo_is_piece(item->dialect, attribute_codes[i].dialect))
            *kind = (shlo_attribute_kind)attribute_codes[i].kind;
    return bytes->cut ? shlo_damaged(c, "an attribute without bytes") : BN_OK;
}

static bn_code unknown_item(const shlo_code *c, const shlo_item *item, const char *what)
{
    shlo_bytes bytes = item->bytes;
    const int length = item->dialect.length < 40 ? (int)item->dialect.length : 40;
    if (item->text) {
        bytes = text_bytes(item);
        return bn_fail(c->st, BN_NOT_SUPPORTED, "%s is not known in MLIR byte code: %.*s", what,
                       shlo_left(&bytes) < 80 ? (int)shlo_left(&bytes) : 80,
                       (const char *)bytes.at);
    }
    return bn_fail(
        c->st, BN_NOT_SUPPORTED,
        "%s is in a form that is not known in MLIR byte code: number %llu of dialect %.*s", what,
        (unsigned long long)shlo_varint(&bytes), length, item->dialect.at);
}

bn_code shlo_unknown_attribute(const shlo_code *c, uint64_t index, const char *what)
{
    return index < c->attribute_count ? unknown_item(c, &c->attributes[index], what)
                                      : shlo_damaged(c, "an attribute that it does not have");
}

/* The string that the table has under the next number. */
static bn_code next_string(const shlo_code *c, shlo_bytes *bytes, shlo_piece *string)
{
    const uint64_t index = shlo_varint(bytes);
    if (bytes->cut || index >= c->string_count)
        return shlo_damaged(c, "a string that it does not have");
    *string = c->strings[index];
    return BN_OK;
}

bn_code shlo_string_of(const shlo_code *c, uint64_t index, const char *what, shlo_piece *string)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code != BN_OK)
        return code;
    if (kind == SHLO_ATTRIBUTE_SYMBOL)
        code = shlo_open_attribute(c, shlo_varint(&bytes), &kind, &bytes);
    if (code != BN_OK)
        return code;
    return kind == SHLO_ATTRIBUTE_STRING ? next_string(c, &bytes, string)
                                         : shlo_unknown_attribute(c, index, what);
}

/* ---- types ----------------------------------------------------------------------------------- */

typedef enum type_kind {
    TYPE_NAMED, /* by its code alone */
    TYPE_INTEGER,
    TYPE_COMPLEX,
    TYPE_FUNCTION,
    TYPE_TENSOR,
    TYPE_ENCODED, /* a tensor with an encoding */
    TYPE_TUPLE,
    TYPE_UNRANKED,
    TYPE_UNKNOWN
} type_kind;

static const struct {
    const char *dialect;
    uint8_t code, kind;
    const char *name;
} type_codes[] = {{"builtin", 0, TYPE_INTEGER, NULL},
                  {"builtin", 1, TYPE_NAMED, "index"},
                  {"builtin", 2, TYPE_FUNCTION, NULL},
                  {"builtin", 3, TYPE_NAMED, "bf16"},
                  {"builtin", 4, TYPE_NAMED, "f16"},
                  {"builtin", 5, TYPE_NAMED, "f32"},
                  {"builtin", 6, TYPE_NAMED, "f64"},
                  {"builtin", 7, TYPE_NAMED, "f80"},
                  {"builtin", 8, TYPE_NAMED, "f128"},
                  {"builtin", 9, TYPE_COMPLEX, NULL},
                  {"builtin", 12, TYPE_NAMED, "none"},
                  {"builtin", 13, TYPE_TENSOR, NULL},
                  {"builtin", 14, TYPE_ENCODED, NULL},
                  {"builtin", 15, TYPE_TUPLE, NULL},
                  {"builtin", 18, TYPE_UNRANKED, NULL},
                  {"builtin", 21, TYPE_NAMED, "tf32"},
                  {"builtin", 22, TYPE_NAMED, "f8E5M2"},
                  {"builtin", 23, TYPE_NAMED, "f8E4M3"},
                  {"builtin", 24, TYPE_NAMED, "f8E4M3FN"},
                  {"builtin", 25, TYPE_NAMED, "f8E5M2FNUZ"},
                  {"builtin", 26, TYPE_NAMED, "f8E4M3FNUZ"},
                  {"builtin", 27, TYPE_NAMED, "f8E4M3B11FNUZ"},
                  {"builtin", 28, TYPE_NAMED, "f8E3M4"},
                  {"builtin", 29, TYPE_NAMED, "f4E2M1FN"},
                  {"builtin", 30, TYPE_NAMED, "f6E2M3FN"},
                  {"builtin", 31, TYPE_NAMED, "f6E3M2FN"},
                  {"builtin", 32, TYPE_NAMED, "f8E8M0FNU"},
                  {"stablehlo", 0, TYPE_NAMED, "!stablehlo.token"},
                  {"vhlo", 0, TYPE_NAMED, "i1"},
                  {"vhlo", 1, TYPE_COMPLEX, NULL},
                  {"vhlo", 2, TYPE_NAMED, "bf16"},
                  {"vhlo", 3, TYPE_NAMED, "f16"},
                  {"vhlo", 4, TYPE_NAMED, "f32"},
                  {"vhlo", 5, TYPE_NAMED, "f64"},
                  {"vhlo", 6, TYPE_NAMED, "f8E4M3FN"},
                  {"vhlo", 7, TYPE_NAMED, "f8E5M2"},
                  {"vhlo", 8, TYPE_FUNCTION, NULL},
                  {"vhlo", 9, TYPE_NAMED, "index"},
                  {"vhlo", 10, TYPE_NAMED, "i4"},
                  {"vhlo", 11, TYPE_NAMED, "i8"},
                  {"vhlo", 12, TYPE_NAMED, "i16"},
                  {"vhlo", 13, TYPE_NAMED, "i32"},
                  {"vhlo", 14, TYPE_NAMED, "i64"},
                  {"vhlo", 15, TYPE_NAMED, "ui4"},
                  {"vhlo", 16, TYPE_NAMED, "ui8"},
                  {"vhlo", 17, TYPE_NAMED, "ui16"},
                  {"vhlo", 18, TYPE_NAMED, "ui32"},
                  {"vhlo", 19, TYPE_NAMED, "ui64"},
                  {"vhlo", 20, TYPE_TENSOR, NULL},
                  {"vhlo", 21, TYPE_ENCODED, NULL},
                  {"vhlo", 22, TYPE_NAMED, "!stablehlo.token"},
                  {"vhlo", 23, TYPE_TUPLE, NULL},
                  {"vhlo", 25, TYPE_UNRANKED, NULL},
                  {"vhlo", 27, TYPE_NAMED, "f8E4M3FNUZ"},
                  {"vhlo", 28, TYPE_NAMED, "f8E5M2FNUZ"},
                  {"vhlo", 29, TYPE_NAMED, "f8E4M3B11FNUZ"},
                  {"vhlo", 31, TYPE_NAMED, "i2"},
                  {"vhlo", 32, TYPE_NAMED, "ui2"},
                  {"vhlo", 33, TYPE_NAMED, "none"},
                  {"vhlo", 34, TYPE_NAMED, "tf32"},
                  {"vhlo", 35, TYPE_NAMED, "f8E4M3"},
                  {"vhlo", 36, TYPE_NAMED, "f8E3M4"},
                  {"vhlo", 37, TYPE_NAMED, "f4E2M1FN"},
                  {"vhlo", 38, TYPE_NAMED, "f6E2M3FN"},
                  {"vhlo", 39, TYPE_NAMED, "f6E3M2FN"},
                  {"vhlo", 40, TYPE_NAMED, "f8E8M0FNU"}};

static bn_code open_type(const shlo_code *c, uint64_t index, type_kind *kind, const char **name,
                         shlo_bytes *bytes)
{
    if (index >= c->type_count)
        return shlo_damaged(c, "a type that it does not have");
    const shlo_item *item = &c->types[index];
    *kind = TYPE_UNKNOWN;
    *name = NULL;
    *bytes = item->bytes;
    const uint64_t code = item->text ? 0 : shlo_varint(bytes);
    for (size_t i = 0; !item->text && i < sizeof type_codes / sizeof *type_codes; i++) {
        if (code == type_codes[i].code && shlo_is_piece(item->dialect, type_codes[i].dialect)) {
            *kind = (type_kind)type_codes[i].kind;
            *name = type_codes[i].name;
        }
    }
    return bytes->cut ? shlo_damaged(c, "a type without bytes") : BN_OK;
}

/* A type's name as far as it fits into ROOM bytes with the zero byte; LENGTH is without it. */
typedef struct type_name {
    char *at;
    size_t length, room;
} type_name;

static void put(type_name *to, const char *text, size_t length)
{
    const size_t left = to->room - 1 - to->length, fits = length < left ? length : left;
    memcpy(to->at + to->length, text, fits);
    to->length += fits;
    to->at[to->length] = '\0';
}

static void put_number(type_name *to, const char *before, uint64_t number, const char *behind)
{
    char digits[64];
    const int length =
        snprintf(digits, sizeof digits, "%s%llu%s", before, (unsigned long long)number, behind);
    put(to, digits, (size_t)length);
}

static bn_code put_type(const shlo_code *c, uint64_t index, int depth, type_name *to);

/* Types that FROM names, with commas between them. */
static bn_code put_types(const shlo_code *c, shlo_bytes *from, int depth, type_name *to)
{
    const uint64_t count = shlo_varint(from);
    bn_code code = BN_OK;
    for (uint64_t i = 0; i < count && code == BN_OK && to->length + 1 < to->room; i++) {
        if (i > 0)
            put(to, ", ", 2);
        code = put_type(c, shlo_varint(from), depth, to);
    }
    return code == BN_OK && from->cut ? shlo_damaged(c, "a list of types is cut off") : code;
}

static void put_integer(shlo_bytes *from, type_name *to)
{
    static const char *const signs[] = {"i", "si", "ui", "i"};
    const uint64_t number = shlo_varint(from);
    put_number(to, signs[number & 3], number >> 2, "");
}

static bn_code put_type(const shlo_code *c, uint64_t index, int depth, type_name *to)
{
    static const struct {
        const char *before, *behind;
    } around[] = {[TYPE_COMPLEX] = {"complex<", ">"}, [TYPE_FUNCTION] = {"(", ")"},
                  [TYPE_TENSOR] = {"tensor<", ">"},   [TYPE_ENCODED] = {"tensor<", ">"},
                  [TYPE_TUPLE] = {"tuple<", ">"},     [TYPE_UNRANKED] = {"tensor<*x", ">"},
                  [TYPE_INTEGER] = {"", ""},          [TYPE_UNKNOWN] = {"", ""}};
    type_kind kind;
    const char *name;
    shlo_bytes from;
    bn_code code = open_type(c, index, &kind, &name, &from);
    if (code != BN_OK)
        return code;
    if (depth == MOST_TYPES)
        return bn_fail(c->st, BN_NOT_SUPPORTED, "types within each other, deeper than %d",
                       MOST_TYPES);
    if (kind == TYPE_NAMED) {
        put(to, name, strlen(name));
        return BN_OK;
    }
    put(to, around[kind].before, strlen(around[kind].before));
    switch (kind) {
    case TYPE_INTEGER:
        put_integer(&from, to);
        break;
    case TYPE_FUNCTION:
    case TYPE_TUPLE:
        code = put_types(c, &from, depth + 1, to);
        break;
    case TYPE_ENCODED:
        (void)shlo_varint(&from);
        /* fall through */
    case TYPE_TENSOR:
        for (uint64_t rank = shlo_varint(&from); rank > 0 && !from.cut; rank--) {
            const int64_t size = shlo_signed(&from);
            if (size < 0)
                put(to, "?x", 2);
            else
                put_number(to, "", (uint64_t)size, "x");
        }
        /* fall through */
    case TYPE_COMPLEX:
    case TYPE_UNRANKED:
        code = put_type(c, shlo_varint(&from), depth + 1, to);
        break;
    default: /* a text that names a type, as older versions have f8E4M3FN */
        if (!c->types[index].text || memmem(from.at, shlo_left(&from), "tensor<", 7))
            return unknown_item(c, &c->types[index], "the type of a value of @main");
        from = text_bytes(&c->types[index]);
        put(to, (const char *)from.at, shlo_left(&from));
    }
    put(to, around[kind].behind, strlen(around[kind].behind));
    return code == BN_OK && from.cut ? shlo_damaged(c, "a type is cut off") : code;
}

/* TEXT, which is freed, becomes V's encoding. */
static void keep_encoding(const shlo_code *c, bn_text *text, shlo_value *v)
{
    v->encoding = bn_arena_strdup(c->to->store, text->data);
    bn_text_free(text);
}

/* The encoding of a tensor's type, behind its comma. */
static bn_code encoding_of(const shlo_code *c, uint64_t index, shlo_value *v)
{
    static const char what[] = "the encoding of a type of @main";
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code != BN_OK)
        return code;
    bn_text text = {0};
    if (kind == SHLO_ATTRIBUTE_STRING) {
        shlo_piece string = {"", 0};
        code = next_string(c, &bytes, &string);
        if (code != BN_OK)
            return code;
        bn_text_putc(&text, '"');
        bn_text_append(&text, string.at, string.length);
        bn_text_putc(&text, '"');
        keep_encoding(c, &text, v);
        return BN_OK;
    }
    if (kind != SHLO_ATTRIBUTE_BOUNDS)
        return shlo_text_of(c, index, what, &v->encoding);
    bn_text_puts(&text, "#stablehlo.bounds<");
    const uint64_t count = shlo_varint(&bytes);
    for (uint64_t i = 0; i < count && !bytes.cut; i++) {
        const int64_t bound = shlo_signed(&bytes);
        bn_text_puts(&text, i > 0 ? ", " : "");
        if (bound < 0)
            bn_text_putc(&text, '?');
        else
            bn_text_int(&text, bound);
    }
    bn_text_putc(&text, '>');
    keep_encoding(c, &text, v);
    return bytes.cut ? shlo_damaged(c, "bounds of a type are cut off") : BN_OK;
}

bn_code shlo_type_of(const shlo_code *c, uint64_t index, shlo_value *v)
{
    type_kind kind;
    const char *name;
    shlo_bytes from;
    type_name to = {v->dtype, 0, sizeof v->dtype};
    bn_code code = open_type(c, index, &kind, &name, &from);
    if (code != BN_OK || (kind != TYPE_TENSOR && kind != TYPE_ENCODED))
        return code == BN_OK ? put_type(c, index, 0, &to) : code;
    if (kind == TYPE_ENCODED)
        code = encoding_of(c, shlo_varint(&from), v);
    const uint64_t rank = shlo_varint(&from);
    if (code == BN_OK && rank > SHLO_MOST_RANK)
        code =
            bn_fail(c->st, BN_NOT_SUPPORTED,
                    "a type has more than %d dimensions, which cannot be passed", SHLO_MOST_RANK);
    if (code != BN_OK)
        return code;
    v->tensor = true;
    v->rank = (size_t)rank;
    for (size_t i = 0; i < v->rank; i++) {
        const int64_t size = shlo_signed(&from);
        v->dims[i] = size < 0 ? -1 : size;
    }
    code = put_type(c, shlo_varint(&from), 1, &to);
    return code == BN_OK && from.cut ? shlo_damaged(c, "a type is cut off") : code;
}

bn_code shlo_function_type(const shlo_code *c, uint64_t index, uint64_t *arguments,
                           shlo_bytes *argument_types, uint64_t *results, shlo_bytes *result_types)
{
    shlo_attribute_kind attribute;
    type_kind kind;
    const char *name;
    shlo_bytes bytes;
    bn_code code = shlo_open_attribute(c, index, &attribute, &bytes);
    if (code != BN_OK)
        return code;
    if (attribute != SHLO_ATTRIBUTE_TYPE)
        return shlo_unknown_attribute(c, index, "the type of @main");
    const uint64_t type = shlo_varint(&bytes);
    code = open_type(c, type, &kind, &name, &bytes);
    if (code != BN_OK)
        return code;
    if (kind != TYPE_FUNCTION)
        return unknown_item(c, &c->types[type], "the type of @main");
    *arguments = shlo_varint(&bytes);
    *argument_types = bytes;
    for (uint64_t i = 0; i < *arguments && !bytes.cut; i++)
        (void)shlo_varint(&bytes);
    *results = shlo_varint(&bytes);
    *result_types = bytes;
    for (uint64_t i = 0; i < *results && !bytes.cut; i++)
        (void)shlo_varint(&bytes);
    return bytes.cut ? shlo_damaged(c, "the type of @main is cut off") : BN_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bn_code shlo_integer_of(const shlo_code *c, uint64_t index, const char *what, int64_t *number)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    char type[8] = "";
    type_name to = {type, 0, sizeof type};
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code != BN_OK)
        return code;
    if (kind == SHLO_ATTRIBUTE_BOOLEAN) {
        *number = (int64_t)shlo_varint(&bytes);
    } else if (kind == SHLO_ATTRIBUTE_INTEGER) {
        code = put_type(c, shlo_varint(&bytes), 0, &to);
        if (code != BN_OK)
            return code;
        const char *digits = type + strcspn(type, "0123456789");
        const long width = strcmp(type, "index") == 0 ? 64 : strtol(digits, NULL, 10);
        if (type[strspn(type, "su")] != 'i' || width < 1 || width > 64)
            return shlo_unknown_attribute(c, index, what);
        *number = width <= 8 ? (int64_t)shlo_byte(&bytes) : shlo_signed(&bytes);
    } else {
        return shlo_unknown_attribute(c, index, what);
    }
    return bytes.cut ? shlo_damaged(c, "a number is cut off") : BN_OK;
}

bn_code shlo_highest_of(const shlo_code *c, uint64_t index, const char *what, int64_t *highest)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    int64_t devices = 0;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    *highest = -1;
    if (code != BN_OK)
        return code;
    if (kind == SHLO_ATTRIBUTE_MESH_AXES) {
        /* A mesh that is named is among the meshes of the program. */
        const uint64_t mesh = shlo_varint(&bytes);
        code = shlo_open_attribute(c, mesh, &kind, &bytes);
        if (code == BN_OK && kind == SHLO_ATTRIBUTE_MESH) {
            code = shlo_mesh_of(c, mesh, &devices, highest);
            *highest = devices - 1 > *highest ? devices - 1 : *highest;
        }
        return code;
    }
    if (kind != SHLO_ATTRIBUTE_TENSOR)
        return shlo_unknown_attribute(c, index, what);
    shlo_value type = {0};
    code = shlo_type_of(c, shlo_varint(&bytes), &type);
    if (code != BN_OK)
        return code;
    shlo_bytes data = shlo_part(&bytes, shlo_varint(&bytes));
    if (bytes.cut || shlo_left(&data) % 8 != 0)
        return shlo_damaged(c, "groups of devices are cut off");
    if (strcmp(type.dtype, "i64") != 0)
        return bn_fail(c->st, BN_NOT_SUPPORTED, "%s is of %s, not of i64", what, type.dtype);
    while (shlo_left(&data) > 0) {
        uint64_t number = 0;
        for (unsigned i = 0; i < 8; i++)
            number |= (uint64_t)shlo_byte(&data) << 8 * i;
        *highest = (int64_t)number > *highest ? (int64_t)number : *highest;
    }
    return BN_OK;
}

/* ---- meshes and shardings -------------------------------------------------------------------- */

/* The size of axis INDEX of a mesh. */
static bn_code axis_size(const shlo_code *c, uint64_t index, int64_t *size)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code != BN_OK)
        return code;
    if (kind != SHLO_ATTRIBUTE_AXIS)
        return shlo_unknown_attribute(c, index, "an axis of a mesh");
    (void)shlo_varint(&bytes);
    *size = shlo_signed(&bytes);
    return bytes.cut ? shlo_damaged(c, "an axis of a mesh is cut off") : BN_OK;
}

bn_code shlo_mesh_of(const shlo_code *c, uint64_t index, int64_t *devices, int64_t *highest)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes, axes;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    *devices = 1;
    *highest = -1;
    if (code != BN_OK)
        return code;
    if (kind == SHLO_ATTRIBUTE_TEXT) {
        shlo_meshes_in((shlo_piece){(const char *)bytes.at, shlo_left(&bytes)}, devices, highest);
        return BN_OK;
    }
    if (kind != SHLO_ATTRIBUTE_MESH)
        return shlo_unknown_attribute(c, index, "a mesh of devices");
    /* Shardy's lists its axes and devices; the others have an array and perhaps a tensor. */
    const bool shardy = shlo_is_piece(c->attributes[index].dialect, "sdy");
    const bool portable = shlo_is_piece(c->attributes[index].dialect, "vhlo");
    axes = bytes;
    if (!shardy) {
        const uint64_t array = shlo_varint(&bytes);
        code = shlo_open_attribute(c, array, &kind, &axes);
        if (code == BN_OK && kind != SHLO_ATTRIBUTE_ARRAY)
            code = shlo_unknown_attribute(c, array, "the axes of a mesh");
    }
    const uint64_t count = code == BN_OK ? shlo_varint(&axes) : 0;
    for (uint64_t i = 0; i < count && !axes.cut && code == BN_OK; i++) {
        int64_t size = 0;
        code = axis_size(c, shlo_varint(&axes), &size);
        *devices = shlo_product(*devices, size);
    }
    if (code != BN_OK || axes.cut)
        return code != BN_OK ? code : shlo_damaged(c, "a mesh is cut off");
    if (shardy) {
        const uint64_t ids = shlo_varint(&axes);
        for (uint64_t i = 0; i < ids && !axes.cut; i++) {
            const int64_t id = shlo_signed(&axes);
            *highest = id > *highest ? id : *highest;
        }
        return axes.cut ? shlo_damaged(c, "a mesh is cut off") : BN_OK;
    }
    const uint64_t flagged = portable ? shlo_varint(&bytes) : shlo_byte(&bytes);
    if (flagged & 1)
        code = shlo_highest_of(c, portable ? flagged >> 1 : shlo_varint(&bytes),
                               "the devices of a mesh", highest);
    return code == BN_OK && bytes.cut ? shlo_damaged(c, "a mesh is cut off") : code;
}

/* `"x"` or `"x":(1)2` of axis reference INDEX. */
static bn_code put_axis(const shlo_code *c, uint64_t index, bn_text *out)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes, part;
    shlo_piece name = {"", 0};
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code == BN_OK && kind != SHLO_ATTRIBUTE_AXIS_REF)
        code = shlo_unknown_attribute(c, index, "an axis of a sharding");
    if (code == BN_OK)
        code = next_string(c, &bytes, &name);
    if (code != BN_OK)
        return code;
    bn_text_putc(out, '"');
    bn_text_append(out, name.at, name.length < MOST_TEXT ? name.length : MOST_TEXT);
    bn_text_putc(out, '"');
    const uint64_t flagged = shlo_varint(&bytes);
    if (flagged & 1) {
        code = shlo_open_attribute(c, flagged >> 1, &kind, &part);
        if (code == BN_OK && kind != SHLO_ATTRIBUTE_PART)
            code = shlo_unknown_attribute(c, flagged >> 1, "a part of an axis of a sharding");
        if (code != BN_OK)
            return code;
        const int64_t before = shlo_signed(&part);
        bn_text_printf(out, ":(%lld)%lld", (long long)before, (long long)shlo_signed(&part));
        bytes.cut = bytes.cut || part.cut;
    }
    return bytes.cut ? shlo_damaged(c, "an axis of a sharding is cut off") : BN_OK;
}

/* A list of axes, FROM's next; *COUNT of them. */
static bn_code put_axes(const shlo_code *c, shlo_bytes *from, bn_text *out, uint64_t *count)
{
    bn_code code = BN_OK;
    *count = shlo_varint(from);
    for (uint64_t i = 0; i < *count && !from->cut && code == BN_OK; i++) {
        bn_text_puts(out, i > 0 ? ", " : "");
        code = out->length > MOST_TEXT ? bn_fail(c->st, BN_NOT_SUPPORTED,
                                                 "a sharding of more than %d characters", MOST_TEXT)
                                       : put_axis(c, shlo_varint(from), out);
    }
    return code == BN_OK && from->cut ? shlo_damaged(c, "a list of axes is cut off") : code;
}

/* `{"x", ?}p1` of dimension INDEX of a sharding. */
static bn_code put_dimension(const shlo_code *c, uint64_t index, bn_text *out)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    uint64_t count = 0;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code == BN_OK && kind != SHLO_ATTRIBUTE_DIMENSION)
        code = shlo_unknown_attribute(c, index, "a dimension of a sharding");
    bn_text_putc(out, '{');
    if (code == BN_OK)
        code = put_axes(c, &bytes, out, &count);
    if (code != BN_OK)
        return code;
    const bool closed = shlo_byte(&bytes) != 0;
    const uint64_t priority = shlo_varint(&bytes);
    if (!closed)
        bn_text_puts(out, count ? ", ?" : "?");
    bn_text_putc(out, '}');
    if (priority & 1)
        bn_text_printf(out, "p%llu", (unsigned long long)(priority >> 1));
    return bytes.cut ? shlo_damaged(c, "a dimension of a sharding is cut off") : BN_OK;
}

/* `#sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>`. */
static bn_code put_sharding(const shlo_code *c, uint64_t index, shlo_bytes bytes, bn_text *out)
{
    static const char *const lists[] = {", replicated={", ", unreduced={"};
    shlo_bytes form = c->attributes[index].bytes;
    const uint64_t number = shlo_varint(&form);
    const uint64_t mesh = shlo_varint(&bytes);
    shlo_attribute_kind kind;
    shlo_bytes inner;
    shlo_piece name = {"", 0};
    bn_code code = shlo_open_attribute(c, mesh, &kind, &inner);
    if (code == BN_OK && kind != SHLO_ATTRIBUTE_MESH)
        code = shlo_string_of(c, mesh, "the mesh of a sharding", &name);
    bn_text_puts(out, "#sdy.sharding<");
    if (name.length)
        bn_text_printf(out, "@%.*s", name.length < 256 ? (int)name.length : 256, name.at);
    else
        bn_text_puts(out, "mesh"); /* one that stands in it */
    bn_text_puts(out, ", [");
    const uint64_t rank = shlo_varint(&bytes);
    for (uint64_t i = 0; i < rank && !bytes.cut && code == BN_OK; i++) {
        bn_text_puts(out, i > 0 ? ", " : "");
        code = out->length > MOST_TEXT ? bn_fail(c->st, BN_NOT_SUPPORTED,
                                                 "a sharding of more than %d characters", MOST_TEXT)
                                       : put_dimension(c, shlo_varint(&bytes), out);
    }
    bn_text_putc(out, ']');
    for (size_t i = 0; i < (number == 6 ? 1u : 2u) && code == BN_OK; i++) {
        bn_text axes = {0};
        uint64_t count = 0;
        code = put_axes(c, &bytes, &axes, &count);
        if (count > 0)
            bn_text_printf(out, "%s%s}", lists[i], axes.data ? axes.data : "");
        bn_text_free(&axes);
    }
    bn_text_putc(out, '>');
    return code == BN_OK && bytes.cut ? shlo_damaged(c, "a sharding is cut off") : code;
}

bn_code shlo_text_of(const shlo_code *c, uint64_t index, const char *what, const char **text)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    shlo_piece string = {"", 0};
    bn_text words = {0};
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code == BN_OK && kind == SHLO_ATTRIBUTE_SHARDING) {
        code = put_sharding(c, index, bytes, &words);
        string = (shlo_piece){words.data, words.length};
    } else if (code == BN_OK && kind == SHLO_ATTRIBUTE_TEXT) {
        string = (shlo_piece){(const char *)bytes.at, shlo_left(&bytes)};
    } else if (code == BN_OK) {
        code = shlo_string_of(c, index, what, &string);
    }
    char *copy = code == BN_OK ? bn_arena_zalloc(c->to->store, string.length + 1) : NULL;
    if (copy && string.length)
        memcpy(copy, string.at, string.length);
    *text = copy;
    bn_text_free(&words);
    return code;
}
