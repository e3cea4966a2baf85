/*
 * bytecode.c - what a program in MLIR's byte code declares, as a portable artifact of StableHLO has
 * it (dialect vhlo) and as JAX passes it to a plugin (stablehlo, func, sdy).
 *
 *   "ML\xEFR" version producer, then sections: 0 strings, 1 dialects and names of ops, 2 attributes
 *   and types, 3 their sizes, 4 ops, 8 properties of ops; resources and others are passed over
 *
 * Attributes and types are numbered, and read where they are asked for. What @main declares must be
 * known as a whole, or nothing of it is reported: BN_NOT_SUPPORTED. Devices that were found are.
 */
#include "runtime/stablehlo/bytecode_priv.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LAST_VERSION 6 /* that was described when this was written */

/* Versions of the byte code from which on something is in it. */
#define VERSION_OF_DIALECTS   1
#define VERSION_REGIONS_APART 2 /* regions that use no value from outside are sections */
#define VERSION_USE_ORDER     3
#define VERSION_SHORT_PLACES  4 /* of block arguments; and the number of ops is stored */
#define VERSION_PROPERTIES    5

enum {
    SECTION_STRINGS,
    SECTION_DIALECTS,
    SECTION_ITEMS,
    SECTION_SIZES,
    SECTION_OPS,
    SECTION_DIALECT_VERSION = 7,
    SECTION_PROPERTIES,
    SECTION_COUNT
};

/* Bits of what an op has. */
#define OP_ATTRIBUTES 0x01
#define OP_RESULTS    0x02
#define OP_OPERANDS   0x04
#define OP_SUCCESSORS 0x08
#define OP_REGIONS    0x10
#define OP_USE_ORDER  0x20
#define OP_PROPERTIES 0x40

/* CODE, but for what is not known: the first reason is kept, and the rest is read, too, as it may
 * name devices. WHAT, if it is not empty, names some for certain. */
static bn_code pass_over(shlo_code *c, bn_code code, shlo_piece what)
{
    if (code != BN_NOT_SUPPORTED)
        return code;
    if (c->unread.code == BN_OK)
        c->unread = *c->st;
    *c->st = (bn_status){.code = BN_OK};
    if (what.length)
        shlo_note_device(c->to, INT64_MAX, what.at, what.length);
    return BN_OK;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* A count of parts that have a byte each at least; more than are left is as being cut off. */
static uint64_t count_of(shlo_bytes *b)
{
    const uint64_t count = shlo_varint(b);
    if (count <= shlo_left(b))
        return count;
    b->cut = true;
    return 0;
}

static void skip_numbers(shlo_bytes *b, uint64_t count)
{
    for (; count > 0 && !b->cut; count--)
        (void)shlo_varint(b);
}

/* ---- sections -------------------------------------------------------------------------------- */

static bn_code read_section(const shlo_code *c, shlo_bytes *b, unsigned *number,
                            shlo_bytes *section)
{
    const uint8_t first = shlo_byte(b);
    const uint64_t length = shlo_varint(b);
    *number = first & 0x7F;
    if (first & 0x80) {
        const uint64_t alignment = shlo_varint(b);
        if (b->cut || alignment == 0 || (alignment & (alignment - 1)))
            return shlo_damaged(c, "a section is aligned to no power of two");
        while ((uint64_t)(b->at - c->begin) & (alignment - 1))
            if (shlo_byte(b) != 0xCB || b->cut)
                return shlo_damaged(c, "what stands before a section is no padding");
    }
    *section = shlo_part(b, length);
    if (b->cut || *number >= SECTION_COUNT)
        return shlo_damaged(c, "it ends within a section, or has one that there is not");
    return BN_OK;
}

static bn_code read_sections(shlo_code *c, shlo_bytes b, shlo_bytes sections[SECTION_COUNT])
{
    static const unsigned needed[] = {SECTION_STRINGS, SECTION_DIALECTS, SECTION_ITEMS,
                                      SECTION_SIZES, SECTION_OPS};
    bool found[SECTION_COUNT] = {false};
    while (shlo_left(&b) > 0) {
        unsigned number;
        shlo_bytes section;
        bn_code code = read_section(c, &b, &number, &section);
        if (code == BN_OK && found[number])
            code = shlo_damaged(c, "a section is there twice");
        if (code != BN_OK)
            return code;
        found[number] = true;
        sections[number] = section;
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!found[needed[i]])
            return shlo_damaged(c, "a section is missing: it was cut");
    return BN_OK;
}

/* COUNT of SIZE bytes each. */
static void *table(const shlo_code *c, uint64_t count, size_t size)
{
    return bn_arena_zalloc(c->store, ((size_t)count + 1) * size);
}

/* The sizes come first, the last string's first; then all strings, each with a zero byte. */
static bn_code read_strings(shlo_code *c, shlo_bytes b)
{
    const uint64_t count = count_of(&b);
    const uint8_t *behind = b.end;
    c->strings = table(c, count, sizeof *c->strings);
    c->string_count = (size_t)count;
    for (size_t i = c->string_count; i-- > 0;) {
        const uint64_t size = shlo_varint(&b);
        if (b.cut || b.at > behind || size == 0 || size > (uint64_t)(behind - b.at) ||
            behind[-1] != 0)
            return shlo_damaged(c, "a string does not end");
        behind -= size;
        c->strings[i] = (shlo_piece){(const char *)behind, (size_t)size - 1};
    }
    return b.cut ? shlo_damaged(c, "it has more strings than bytes") : BN_OK;
}

static bool string_at(const shlo_code *c, uint64_t index, shlo_piece *string)
{
    if (index < c->string_count)
        *string = c->strings[index];
    return index < c->string_count;
}

/* Names of ops of one dialect after the other. */
static bn_code read_op_names(shlo_code *c, shlo_bytes *b)
{
    if (c->version >= VERSION_SHORT_PLACES)
        (void)shlo_varint(b);
    /* Each has a byte at least. */
    c->ops = table(c, shlo_left(b), sizeof *c->ops);
    while (shlo_left(b) > 0 && !b->cut) {
        const uint64_t dialect = shlo_varint(b);
        const uint64_t count = count_of(b);
        if (dialect >= c->dialect_count)
            return shlo_damaged(c, "an op of a dialect that it does not have");
        for (uint64_t i = 0; i < count && !b->cut; i++) {
            uint64_t name = shlo_varint(b);
            shlo_op_name *op = &c->ops[c->op_count];
            op->dialect = c->dialects[dialect];
            if (c->version >= VERSION_PROPERTIES) {
                op->registered = name & 1;
                name >>= 1;
            }
            if (b->cut || !string_at(c, name, &op->name))
                return shlo_damaged(c, "an op without a name");
            c->op_count++;
        }
    }
    return b->cut ? shlo_damaged(c, "the names of ops are cut off") : BN_OK;
}

static bn_code read_dialects(shlo_code *c, shlo_bytes b)
{
    const uint64_t count = count_of(&b);
    c->dialects = table(c, count, sizeof *c->dialects);
    c->dialect_count = (size_t)count;
    for (size_t i = 0; i < c->dialect_count; i++) {
        uint64_t name = shlo_varint(&b);
        bool versioned = false;
        if (c->version >= VERSION_OF_DIALECTS) {
            versioned = name & 1;
            name >>= 1;
        }
        if (b.cut || !string_at(c, name, &c->dialects[i]))
            return shlo_damaged(c, "a dialect without a name");
        if (versioned) {
            unsigned number;
            shlo_bytes section;
            bn_code code = read_section(c, &b, &number, &section);
            if (code != BN_OK)
                return code;
        }
    }
    return b.cut ? shlo_damaged(c, "it has more dialects than bytes") : read_op_names(c, &b);
}

/* The sizes of COUNT items in groups of a dialect each; the items follow each other in DATA. */
static bn_code read_items(const shlo_code *c, shlo_bytes *sizes, shlo_bytes *data, shlo_item *items,
                          size_t count)
{
    for (size_t i = 0; i < count;) {
        const uint64_t dialect = shlo_varint(sizes);
        const uint64_t more = shlo_varint(sizes);
        if (sizes->cut || more == 0 || more > count - i || dialect >= c->dialect_count)
            return shlo_damaged(c, "attributes or types of no dialect");
        for (const size_t end = i + (size_t)more; i < end; i++) {
            const uint64_t size = shlo_varint(sizes);
            items[i] = (shlo_item){.bytes = shlo_part(data, size >> 1),
                                   .dialect = c->dialects[dialect],
                                   .text = !(size & 1)};
        }
        if (sizes->cut || data->cut)
            return shlo_damaged(c, "attributes or types are cut off");
    }
    return BN_OK;
}

static bn_code read_tables(shlo_code *c, shlo_bytes sizes, shlo_bytes data)
{
    c->attribute_count = (size_t)count_of(&sizes);
    c->type_count = (size_t)count_of(&sizes);
    c->attributes = table(c, c->attribute_count, sizeof *c->attributes);
    c->types = table(c, c->type_count, sizeof *c->types);
    if (sizes.cut)
        return shlo_damaged(c, "it has more attributes and types than bytes");
    bn_code code = read_items(c, &sizes, &data, c->attributes, c->attribute_count);
    return code == BN_OK ? read_items(c, &sizes, &data, c->types, c->type_count) : code;
}

static bn_code read_properties(shlo_code *c, shlo_bytes b)
{
    const uint64_t count = count_of(&b);
    c->properties = table(c, count, sizeof *c->properties);
    c->property_count = (size_t)count;
    for (size_t i = 0; i < c->property_count; i++)
        c->properties[i] = shlo_part(&b, shlo_varint(&b));
    return b.cut ? shlo_damaged(c, "the properties of ops are cut off") : BN_OK;
}

/* ---- attributes of ops ----------------------------------------------------------------------- */

/* Named attributes of an op: its properties, and the rest. */
typedef struct op_words {
    const shlo_op_name *op;
    uint64_t dictionary; /* an attribute, or SHLO_NO_ITEM */
    shlo_bytes properties;
    bool has_properties;
} op_words;

/*
 * The properties of the ops that are asked, in the order in which they are encoded: by their names.
 * One with "?" may be missing. Of several rows the one fits whose properties are as many; newer
 * versions of an op have other rows. An op of vhlo says them all, behind its name stands its
 * version.
 */
static const struct {
    const char *dialect, *op, *names;
} layouts[] = {
    {"func", "func", "arg_attrs? function_type res_attrs? sym_name sym_visibility?"},
    {"func", "func", "arg_attrs? function_type no_inline? res_attrs? sym_name sym_visibility?"},
    {"vhlo", "func", "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"vhlo", "all_gather", "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"vhlo", "all_reduce", "channel_id replica_groups use_global_device_ids"},
    {"vhlo", "all_to_all",
     "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"vhlo", "collective_broadcast", "channel_id replica_groups"},
    {"vhlo", "collective_broadcast", "channel_id has_dynamic_root replica_groups"},
    {"vhlo", "collective_permute", "channel_id source_target_pairs"},
    {"vhlo", "collective_reduce",
     "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"vhlo", "cross-replica-sum", "replica_groups"},
    {"vhlo", "reduce_scatter", "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"vhlo", "send", "channel_id channel_type is_host_transfer"},
    {"vhlo", "send", "channel_id channel_type is_host_transfer source_target_pairs"},
    {"vhlo", "recv", "channel_id channel_type is_host_transfer"},
    {"vhlo", "recv", "channel_id channel_type is_host_transfer source_target_pairs"},
    {"stablehlo", "send", "channel_handle is_host_transfer?"},
    {"stablehlo", "send", "channel_handle is_host_transfer? source_target_pairs?"},
    {"stablehlo", "recv", "channel_handle is_host_transfer?"},
    {"stablehlo", "recv", "channel_handle is_host_transfer? source_target_pairs?"},
    {"stablehlo", "all_gather",
     "all_gather_dim channel_handle? replica_groups use_global_device_ids?"},
    {"stablehlo", "all_reduce", "channel_handle? replica_groups use_global_device_ids?"},
    {"stablehlo", "all_to_all",
     "channel_handle? concat_dimension replica_groups split_count split_dimension"},
    {"stablehlo", "collective_broadcast", "channel_handle? replica_groups"},
    {"stablehlo", "collective_broadcast", "channel_handle? has_dynamic_root? replica_groups"},
    {"stablehlo", "collective_permute", "channel_handle? source_target_pairs"},
    {"stablehlo", "collective_reduce",
     "channel_handle? has_dynamic_root? replica_groups use_global_device_ids?"},
    {"stablehlo", "cross-replica-sum", "replica_groups"},
    {"stablehlo", "reduce_scatter",
     "channel_handle? replica_groups scatter_dimension use_global_device_ids?"}};

/* The op's name without the version that vhlo gives it, "all_reduce_v2". */
static shlo_piece bare_name(const shlo_op_name *op)
{
    shlo_piece name = op->name;
    if (!shlo_is_piece(op->dialect, "vhlo"))
        return name;
    size_t i = name.length;
    while (i > 0 && name.at[i - 1] >= '0' && name.at[i - 1] <= '9')
        i--;
    if (i > 2 && i < name.length && name.at[i - 1] == 'v' && name.at[i - 2] == '_')
        name.length = i - 2;
    return name;
}

/* The next of NAMES, which are passed. OPTIONAL: it had a "?". */
static shlo_piece next_name(const char **names, bool *optional)
{
    const char *at = *names + strspn(*names, " ");
    const size_t length = strcspn(at, " ?");
    *optional = at[length] == '?';
    *names = at + length + *optional;
    return (shlo_piece){at, length};
}

/* As many as NAMES has. */
static size_t names_in(const char *names)
{
    bool optional;
    size_t count = 0;
    while (next_name(&names, &optional).length > 0)
        count++;
    return count;
}

static bn_code unknown_properties(const shlo_code *c, const shlo_op_name *op)
{
    return bn_fail(c->st, BN_NOT_SUPPORTED,
                   "the properties of %.*s.%.*s are in a form that is not known in MLIR byte code",
                   op->dialect.length < 40 ? (int)op->dialect.length : 40, op->dialect.at,
                   op->name.length < 60 ? (int)op->name.length : 60, op->name.at);
}

/* The value of KEY in dictionary INDEX; SHLO_NO_ITEM: it has none. */
static bn_code find_in(const shlo_code *c, uint64_t index, const char *key, uint64_t *value)
{
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    *value = SHLO_NO_ITEM;
    if (code != BN_OK)
        return code;
    if (kind != SHLO_ATTRIBUTE_DICTIONARY)
        return shlo_unknown_attribute(c, index, "the attributes of an op");
    const uint64_t count = count_of(&bytes);
    for (uint64_t i = 0; i < count && !bytes.cut; i++) {
        shlo_piece name;
        const uint64_t name_index = shlo_varint(&bytes), value_index = shlo_varint(&bytes);
        code = bytes.cut ? shlo_damaged(c, "a dictionary is cut off")
                         : shlo_string_of(c, name_index, "the name of an attribute", &name);
        if (code != BN_OK)
            return code;
        if (shlo_is_piece(name, key)) {
            *value = value_index;
            return BN_OK;
        }
    }
    return bytes.cut ? shlo_damaged(c, "a dictionary is cut off") : BN_OK;
}

/* The value of KEY in WORDS, an attribute; SHLO_NO_ITEM: it has none. */
static bn_code find_word(const shlo_code *c, const op_words *words, const char *key,
                         uint64_t *value)
{
    const shlo_piece op = bare_name(words->op);
    size_t count = 0;
    *value = SHLO_NO_ITEM;
    if (!words->has_properties)
        return words->dictionary == SHLO_NO_ITEM ? BN_OK
                                                 : find_in(c, words->dictionary, key, value);
    if (!words->op->registered) {
        shlo_bytes bytes = words->properties;
        return find_in(c, shlo_varint(&bytes), key, value);
    }
    for (shlo_bytes b = words->properties; shlo_left(&b) > 0 && !b.cut; count++)
        (void)shlo_varint(&b);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (!shlo_is_piece(op, layouts[i].op) ||
            !shlo_is_piece(words->op->dialect, layouts[i].dialect) ||
            names_in(layouts[i].names) != count)
            continue;
        shlo_bytes b = words->properties;
        const char *names = layouts[i].names;
        for (size_t k = 0; k < count; k++) {
            bool optional;
            const shlo_piece name = next_name(&names, &optional);
            const uint64_t number = shlo_varint(&b);
            if (b.cut)
                return shlo_damaged(c, "the properties of an op are cut off");
            if (shlo_is_piece(name, key))
                *value = !optional ? number : number & 1 ? number >> 1 : SHLO_NO_ITEM;
        }
        return BN_OK;
    }
    return unknown_properties(c, words->op);
}

/* ---- @main ----------------------------------------------------------------------------------- */

/* Takes what dictionary INDEX says of V. */
static bn_code read_value_words(shlo_code *c, uint64_t index, shlo_value *v)
{
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"mhlo.layout_mode", &v->layout}, {"mhlo.memory_kind", &v->memory},
                 {"jax.memory_kind", &v->memory},  {"jax.global_constant", &v->constant},
                 {"mhlo.sharding", &v->sharding},  {"sdy.sharding", &v->sharding}};
    shlo_attribute_kind kind;
    shlo_bytes bytes;
    bn_code code = shlo_open_attribute(c, index, &kind, &bytes);
    if (code == BN_OK && kind != SHLO_ATTRIBUTE_DICTIONARY)
        code = shlo_unknown_attribute(c, index, "what is said of a value of @main");
    const uint64_t count = code == BN_OK ? count_of(&bytes) : 0;
    for (uint64_t i = 0; i < count && code == BN_OK && !bytes.cut; i++) {
        const uint64_t name_index = shlo_varint(&bytes), value = shlo_varint(&bytes);
        shlo_piece name = {"", 0};
        int64_t number = 0;
        if (c->steps-- == 0)
            return shlo_damaged(c, "its values share more attributes than programs have");
        code = bytes.cut ? shlo_damaged(c, "a dictionary is cut off")
                         : shlo_string_of(c, name_index, "the name of an attribute", &name);
        for (size_t k = 0; k < sizeof texts / sizeof *texts && code == BN_OK; k++)
            if (shlo_is_piece(name, texts[k].key))
                code = shlo_text_of(c, value, texts[k].key, texts[k].to);
        if (code == BN_OK && shlo_is_piece(name, "tf.aliasing_output")) {
            code = shlo_integer_of(c, value, "tf.aliasing_output", &number);
            if (code == BN_OK && (number < 0 || number > INT32_MAX))
                code = shlo_damaged(c, "tf.aliasing_output names no result");
            v->result = (int32_t)number;
        } else if (code == BN_OK && shlo_is_piece(name, "jax.buffer_donor")) {
            code = shlo_integer_of(c, value, "jax.buffer_donor", &number);
            v->donated = number != 0;
        }
    }
    return code == BN_OK && bytes.cut ? shlo_damaged(c, "a dictionary is cut off") : code;
}

/* The COUNT values whose types are at TYPES, and what array WORDS says of each. */
static bn_code read_values(shlo_code *c, shlo_bytes types, uint64_t count, uint64_t words,
                           shlo_value **list, size_t *list_count)
{
    shlo_attribute_kind kind = SHLO_ATTRIBUTE_ARRAY;
    shlo_bytes bytes = {0};
    uint64_t said = 0;
    bn_code code = BN_OK;
    if (words != SHLO_NO_ITEM) {
        code = shlo_open_attribute(c, words, &kind, &bytes);
        if (code == BN_OK && kind != SHLO_ATTRIBUTE_ARRAY)
            code = shlo_unknown_attribute(c, words, "what is said of the values of @main");
        said = code == BN_OK ? shlo_varint(&bytes) : 0;
        if (code == BN_OK && said != 0 && said != count)
            code = shlo_damaged(c, "@main's values and their attributes are not as many");
    }
    if (code != BN_OK)
        return code;
    *list = bn_arena_zalloc(c->to->store, ((size_t)count + 1) * sizeof **list);
    for (*list_count = 0; *list_count < count && code == BN_OK;) {
        shlo_value *v = &(*list)[(*list_count)++];
        *v = (shlo_value){.result = -1};
        code = shlo_type_of(c, shlo_varint(&types), v);
        if (code == BN_OK && said)
            code = read_value_words(c, shlo_varint(&bytes), v);
    }
    return code == BN_OK && bytes.cut ? shlo_damaged(c, "attributes of values are cut off") : code;
}

/* Of functions called @main in modules within each other the outer one counts: DEPTH regions. */
static bn_code read_function(shlo_code *c, const op_words *words, int depth)
{
    uint64_t name, type, arguments, results, argument_count = 0, result_count = 0;
    shlo_bytes argument_types = {0}, result_types = {0};
    shlo_piece string = {"", 0};
    bn_code code = find_word(c, words, "sym_name", &name);
    if (code == BN_OK && name == SHLO_NO_ITEM)
        code = unknown_properties(c, words->op);
    if (code == BN_OK)
        code = shlo_string_of(c, name, "the name of a function", &string);
    if (code != BN_OK || depth >= c->main_depth || !shlo_is_piece(string, "main"))
        return code;
    c->main_depth = depth;
    code = find_word(c, words, "function_type", &type);
    if (code == BN_OK)
        code = find_word(c, words, "arg_attrs", &arguments);
    if (code == BN_OK)
        code = find_word(c, words, "res_attrs", &results);
    if (code == BN_OK && type == SHLO_NO_ITEM)
        code = unknown_properties(c, words->op);
    if (code == BN_OK)
        code = shlo_function_type(c, type, &argument_count, &argument_types, &result_count,
                                  &result_types);
    if (code == BN_OK)
        code = read_values(c, argument_types, argument_count, arguments, &c->to->arguments,
                           &c->to->argument_count);
    if (code == BN_OK)
        code = read_values(c, result_types, result_count, results, &c->to->results,
                           &c->to->result_count);
    return code;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* Notes the devices that an op names by which devices exchange values. */
static bn_code read_collective(shlo_code *c, const op_words *words)
{
    const shlo_piece op = bare_name(words->op);
    const bool known = shlo_is_piece(words->op->dialect, "vhlo") ||
                       shlo_is_piece(words->op->dialect, "stablehlo") ||
                       shlo_is_piece(words->op->dialect, "mhlo");
    char name[48];
    uint64_t groups;
    int64_t highest = -1;
    if (!known || !shlo_is_collective(op))
        return BN_OK;
    const bool pairs = shlo_is_piece(op, "collective_permute") || shlo_is_piece(op, "send") ||
                       shlo_is_piece(op, "recv");
    const char *key = pairs ? "source_target_pairs" : "replica_groups";
    const int length = snprintf(name, sizeof name, "stablehlo.%.*s", (int)op.length, op.at);
    bn_code code = find_word(c, words, key, &groups);
    if (code == BN_OK && groups != SHLO_NO_ITEM)
        code = shlo_highest_of(c, groups, key, &highest);
    if (code == BN_OK)
        shlo_note_device(c->to, highest, name, (size_t)length);
    return pass_over(c, code, (shlo_piece){name, (size_t)length});
}

/* Notes the devices in the strings, one or a list, of attribute VALUE, called KEY. */
static bn_code note_spread(shlo_code *c, shlo_piece key, uint64_t value)
{
    shlo_attribute_kind kind;
    shlo_bytes list;
    shlo_piece text = {"", 0};
    bn_code code = shlo_open_attribute(c, value, &kind, &list);
    if (code != BN_OK || kind == SHLO_ATTRIBUTE_DICTIONARY) /* of meshes, each noted by itself */
        return code;
    const uint64_t count = kind == SHLO_ATTRIBUTE_ARRAY ? count_of(&list) : 1;
    for (uint64_t i = 0; i < count && code == BN_OK; i++) {
        code = shlo_string_of(c, kind == SHLO_ATTRIBUTE_ARRAY ? shlo_varint(&list) : value,
                              "how values are spread over devices", &text);
        if (code == BN_OK)
            shlo_note_sharding(c->to, key, text);
    }
    return code == BN_OK && list.cut ? shlo_damaged(c, "an array is cut off") : code;
}

/* Notes the devices in any dictionary. */
static bn_code survey_dictionary(shlo_code *c, shlo_bytes bytes)
{
    const uint64_t count = count_of(&bytes);
    bn_code code = BN_OK;
    for (uint64_t i = 0; i < count && code == BN_OK && !bytes.cut; i++) {
        const uint64_t name_index = shlo_varint(&bytes), value = shlo_varint(&bytes);
        shlo_piece name = {"", 0};
        int64_t number = 0;
        code = bytes.cut ? BN_OK : shlo_string_of(c, name_index, "the name of an attribute", &name);
        const bool partitions = shlo_is_piece(name, "mhlo.num_partitions");
        const bool spread = shlo_is_sharding(name);
        const bool counts = partitions || shlo_is_piece(name, "mhlo.num_replicas");
        if (code == BN_OK && counts) {
            int64_t *to = partitions ? &c->to->partitions : &c->to->replicas;
            code = shlo_integer_of(
                c, value, partitions ? "mhlo.num_partitions" : "mhlo.num_replicas", &number);
            *to = number > *to ? number : *to;
        } else if (code == BN_OK && spread) {
            code = note_spread(c, name, value);
        }
        code = pass_over(c, code, counts || spread ? name : (shlo_piece){"", 0});
    }
    return code == BN_OK && bytes.cut ? shlo_damaged(c, "a dictionary is cut off") : code;
}

/* Meshes and dictionaries, each of which some op has. */
static bn_code survey_attributes(shlo_code *c)
{
    for (size_t i = 0; i < c->attribute_count; i++) {
        shlo_attribute_kind kind;
        shlo_bytes bytes;
        int64_t devices = 0, highest = -1;
        bn_code code = shlo_open_attribute(c, i, &kind, &bytes);
        if (code == BN_OK && (kind == SHLO_ATTRIBUTE_MESH || kind == SHLO_ATTRIBUTE_TEXT)) {
            code = shlo_mesh_of(c, i, &devices, &highest);
            shlo_note_mesh(c->to, devices, highest);
            code = pass_over(c, code, (shlo_piece){"sdy.mesh", 8});
        } else if (code == BN_OK && kind == SHLO_ATTRIBUTE_DICTIONARY) {
            code = survey_dictionary(c, bytes);
        }
        if (code != BN_OK)
            return code;
    }
    return BN_OK;
}

/* ---- ops ------------------------------------------------------------------------------------- */

static bn_code read_regions(shlo_code *c, shlo_bytes *b, int depth);

/* The order of the uses of COUNT values, where it is not the usual one. */
static void skip_use_order(shlo_bytes *b, uint64_t count)
{
    const uint64_t values = count > 1 ? shlo_varint(b) : 1;
    for (uint64_t i = 0; i < values && !b->cut; i++) {
        if (count > 1)
            (void)shlo_varint(b);
        skip_numbers(b, shlo_varint(b) >> 1);
    }
}

static bn_code read_op(shlo_code *c, shlo_bytes *b, int depth)
{
    const uint64_t name = shlo_varint(b);
    const uint8_t has = shlo_byte(b);
    op_words words = {.dictionary = SHLO_NO_ITEM};
    uint64_t results = 0;
    const uint64_t place = shlo_varint(b);
    if (c->places && place < c->attribute_count)
        c->places[place]++;
    if (b->cut || name >= c->op_count)
        return shlo_damaged(c, "an op without a name");
    words.op = &c->ops[name];
    if (has & OP_ATTRIBUTES)
        words.dictionary = shlo_varint(b);
    if (has & OP_PROPERTIES) {
        words.has_properties = true;
        words.properties = *b; /* of an op that its writer did not know: an attribute */
        const uint64_t index = shlo_varint(b);
        if (c->version < VERSION_PROPERTIES || (words.op->registered && index >= c->property_count))
            return shlo_damaged(c, "an op has properties that are not there");
        if (words.op->registered)
            words.properties = c->properties[index];
    }
    if (has & OP_RESULTS)
        skip_numbers(b, results = shlo_varint(b));
    if (has & OP_OPERANDS)
        skip_numbers(b, shlo_varint(b));
    if (has & OP_SUCCESSORS)
        skip_numbers(b, shlo_varint(b));
    if (has & OP_USE_ORDER && c->version >= VERSION_USE_ORDER)
        skip_use_order(b, results);
    if (b->cut)
        return shlo_damaged(c, "an op is cut off");
    const bool function =
        (shlo_is_piece(words.op->dialect, "func") && shlo_is_piece(words.op->name, "func")) ||
        (shlo_is_piece(words.op->dialect, "vhlo") && shlo_is_piece(bare_name(words.op), "func"));
    bn_code code = function ? pass_over(c, read_function(c, &words, depth), (shlo_piece){"", 0})
                            : read_collective(c, &words);
    return code == BN_OK && has & OP_REGIONS ? read_regions(c, b, depth) : code;
}

static bn_code read_block(shlo_code *c, shlo_bytes *b, int depth)
{
    const uint64_t head = shlo_varint(b);
    if (head & 1) {
        const uint64_t arguments = shlo_varint(b);
        for (uint64_t i = 0; i < arguments && !b->cut; i++) {
            const uint64_t type = shlo_varint(b);
            if (c->version < VERSION_SHORT_PLACES || type & 1)
                (void)shlo_varint(b);
        }
        if (c->version >= VERSION_USE_ORDER && shlo_byte(b))
            skip_use_order(b, arguments);
    }
    bn_code code = BN_OK;
    for (uint64_t ops = head >> 1; ops > 0 && code == BN_OK; ops--)
        code = b->cut ? shlo_damaged(c, "a block is cut off") : read_op(c, b, depth);
    return code == BN_OK && b->cut ? shlo_damaged(c, "a block is cut off") : code;
}

static bn_code read_region(shlo_code *c, shlo_bytes *b, int depth)
{
    const uint64_t blocks = shlo_varint(b);
    bn_code code = BN_OK;
    if (blocks > 0)
        (void)shlo_varint(b); /* its values */
    for (uint64_t i = 0; i < blocks && code == BN_OK; i++)
        code = b->cut ? shlo_damaged(c, "a region is cut off") : read_block(c, b, depth);
    return code == BN_OK && b->cut ? shlo_damaged(c, "a region is cut off") : code;
}

static bn_code read_regions(shlo_code *c, shlo_bytes *b, int depth)
{
    const uint64_t head = shlo_varint(b);
    shlo_bytes section, *from = b;
    bn_code code = BN_OK;
    if (depth == SHLO_MOST_DEPTH)
        return bn_fail(c->st, BN_FORMAT, "more than %d regions within each other", SHLO_MOST_DEPTH);
    if (head & 1 && head > 1 && c->version >= VERSION_REGIONS_APART) {
        unsigned number;
        code = read_section(c, b, &number, &section);
        if (code == BN_OK && number != SECTION_OPS)
            code = shlo_damaged(c, "a region is no section of ops");
        from = &section;
    }
    for (uint64_t i = head >> 1; i > 0 && code == BN_OK; i--)
        code = from->cut ? shlo_damaged(c, "regions are cut off") : read_region(c, from, depth + 1);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bn_code read_code(shlo_code *c)
{
    shlo_bytes b = {c->begin + 4, c->begin + c->length, false};
    shlo_bytes sections[SECTION_COUNT] = {{0}};
    c->version = shlo_varint(&b);
    const uint8_t *zero = memchr(b.at, 0, shlo_left(&b));
    if (b.cut || !zero)
        return shlo_damaged(c, "it ends within its head");
    if (c->version > LAST_VERSION)
        return bn_fail(c->st, BN_NOT_SUPPORTED,
                       "MLIR byte code of version %llu is not known, only up to %d",
                       (unsigned long long)c->version, LAST_VERSION);
    b.at = zero + 1;
    bn_code code = read_sections(c, b, sections);
    if (code == BN_OK)
        code = read_strings(c, sections[SECTION_STRINGS]);
    if (code == BN_OK)
        code = read_dialects(c, sections[SECTION_DIALECTS]);
    if (code == BN_OK)
        code = read_tables(c, sections[SECTION_SIZES], sections[SECTION_ITEMS]);
    if (code == BN_OK && c->counts_places)
        c->places = table(c, c->attribute_count, sizeof *c->places);
    if (code == BN_OK && sections[SECTION_PROPERTIES].at)
        code = read_properties(c, sections[SECTION_PROPERTIES]);
    if (code == BN_OK)
        code = survey_attributes(c);
    if (code == BN_OK)
        code = read_block(c, &sections[SECTION_OPS], 0);
    if (code == BN_OK && c->unread.code != BN_OK) {
        c->to->argument_count = c->to->result_count = 0;
        *c->st = c->unread;
        return c->unread.code;
    }
    if (code == BN_OK && c->main_depth == INT_MAX)
        code = bn_fail(c->st, BN_FORMAT, "no function @main: not a StableHLO module");
    return code;
}

/* Reads C, whose tables are released with *STORE. */
static bn_code open_code(shlo_code *c)
{
    shlo_declared_open(c->to);
    if (c->length > SHLO_MOST_BYTES)
        return bn_fail(c->st, BN_FORMAT, "%zu bytes: programs may have %zu", c->length,
                       SHLO_MOST_BYTES);
    if (c->length < 4 || memcmp(c->begin, "ML\xEFR", 4) != 0)
        return bn_fail(c->st, BN_FORMAT, "no MLIR byte code");
    c->steps = 64 * c->length;
    c->store = bn_arena_new(c->length);
    return read_code(c);
}

bn_code shlo_declared_read_bytecode(const void *bytes, size_t length, shlo_declared *declared,
                                    bn_status *st)
{
    shlo_code c = {
        .begin = bytes, .length = length, .main_depth = INT_MAX, .to = declared, .st = st};
    bn_code code = open_code(&c);
    bn_arena_free(c.store);
    return code;
}

bn_code shlo_source_read_bytecode(const void *bytes, size_t length, shlo_source *source,
                                  bn_status *st)
{
    shlo_declared declared;
    bn_status own = {.code = BN_OK};
    shlo_code c = {.begin = bytes,
                   .length = length,
                   .main_depth = INT_MAX,
                   .counts_places = true,
                   .to = &declared,
                   .st = st ? st : &own};
    bn_code code = open_code(&c);
    /* What is declared in a way that is not known does not matter here. */
    if (code == BN_OK || (code == BN_NOT_SUPPORTED && c.places)) {
        *c.st = (bn_status){.code = BN_OK};
        code = shlo_source_of_code(&c, source);
    }
    bn_arena_free(c.store);
    shlo_declared_free(&declared);
    return code;
}
