/*
 * fake_optimized.c - the optimized program of the fake, as an HloModuleProto with the estimates
 * that a TPU's compiler leaves in it. It is written byte by byte: a reader that errs must not find
 * its own error here again. Source of the field numbers: xla/service/hlo.proto of openxla/xla.
 */
#include "tests/support/fake/fake.h"

typedef struct bytes {
    unsigned char *data;
    size_t size, capacity;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->data = realloc(b->data, b->capacity);
        if (!b->data)
            abort();
    }
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_varint(bytes *b, uint64_t value)
{
    unsigned char byte;
    do {
        byte = (unsigned char)(value & 127);
        value >>= 7;
        byte |= value ? 128 : 0;
        put(b, &byte, 1);
    } while (value);
}

static void put_number(bytes *b, unsigned field, uint64_t value)
{
    put_varint(b, (uint64_t)field << 3);
    put_varint(b, value);
}

static void put_text(bytes *b, unsigned field, const char *text)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, strlen(text));
    put(b, text, strlen(text));
}

/* Puts INNER, which it frees. */
static void put_block(bytes *b, unsigned field, bytes *inner)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, inner->size);
    put(b, inner->data, inner->size);
    free(inner->data);
    *inner = (bytes){0};
}

/* ---- parts --------------------------------------------------------------------- */

enum {
    NAME = 1,
    OPCODE = 2,
    SHAPE = 3,
    METADATA = 7,
    LITERAL = 8,
    ID = 35,
    OPERANDS = 36,
    CALLED = 38,
    CONFIG = 43,
    DIRECTION = 63
};

static bytes instruction(uint64_t id, const char *opcode)
{
    bytes b = {0};
    char name[32];
    snprintf(name, sizeof name, "%s.%u", opcode, (unsigned)id);
    put_text(&b, NAME, name);
    put_text(&b, OPCODE, opcode);
    put_number(&b, ID, id);
    return b;
}

static void put_cycles(bytes *b, uint64_t cycles)
{
    char text[128];
    snprintf(text, sizeof text,
             "{\"flag_configs\":[],\"window_config\":{\"estimated_cycles\":\"%llu\"}}",
             (unsigned long long)cycles);
    put_text(b, CONFIG, text);
}

static void put_scope(bytes *b, const char *op_name)
{
    bytes metadata = {0};
    put_text(&metadata, 2, op_name);
    put_block(b, METADATA, &metadata);
}

/* A shape of RANK dimensions as FIELD. */
static void put_shape(bytes *b, unsigned field, size_t rank, bool first_fastest)
{
    bytes shape = {0}, layout = {0};
    for (size_t i = 0; i < rank; i++)
        put_number(&shape, 3, 4);
    for (size_t i = 0; i < rank; i++)
        put_number(&layout, 1, first_fastest ? i : rank - 1 - i);
    put_block(&shape, 5, &layout);
    put_block(b, field, &shape);
}

static void put_constant(bytes *b, uint64_t value)
{
    bytes literal = {0};
    put_number(&literal, 4, value);
    put_block(b, LITERAL, &literal);
}

static void put_operand(bytes *b, uint64_t id)
{
    put_number(b, OPERANDS, id);
}

/* Puts ONE into the computation C. */
static void add(bytes *c, bytes one)
{
    put_block(c, 2, &one);
}

static void put_computation(bytes *module, bytes *c, const char *name, uint64_t id, uint64_t root)
{
    put_text(c, 1, name);
    put_number(c, 5, id);
    put_number(c, 6, root);
    put_block(module, 3, c);
}

/* ---- the program ----------------------------------------------------------------- */

enum { ENTRY_ID = 1, BODY_ID = 2, CONDITION_ID = 3, TRIPS = 8 };

static void put_body(bytes *module)
{
    bytes c = {0}, i = instruction(21, "get-tuple-element");
    add(&c, instruction(20, "parameter"));
    put_operand(&i, 20);
    add(&c, i);
    i = instruction(22, "constant");
    put_constant(&i, 1);
    add(&c, i);
    i = instruction(23, "add");
    put_operand(&i, 21);
    put_operand(&i, 22);
    add(&c, i);
    i = instruction(24, "fusion");
    put_cycles(&i, 50);
    add(&c, i);
    i = instruction(25, "tuple");
    put_operand(&i, 23);
    add(&c, i);
    put_computation(module, &c, "body", BODY_ID, 25);
}

static void put_condition(bytes *module)
{
    bytes c = {0}, i = instruction(31, "get-tuple-element");
    add(&c, instruction(30, "parameter"));
    put_operand(&i, 30);
    add(&c, i);
    i = instruction(32, "constant");
    put_constant(&i, TRIPS);
    add(&c, i);
    i = instruction(33, "compare");
    put_operand(&i, 31);
    put_operand(&i, 32);
    put_text(&i, DIRECTION, "LT");
    add(&c, i);
    put_computation(module, &c, "condition", CONDITION_ID, 33);
}

static void put_loop(bytes *c)
{
    bytes i = instruction(14, "constant");
    put_constant(&i, 0);
    add(c, i);
    i = instruction(15, "tuple");
    put_operand(&i, 14);
    add(c, i);
    i = instruction(16, "while");
    put_operand(&i, 15);
    put_number(&i, CALLED, BODY_ID);
    put_number(&i, CALLED, CONDITION_ID);
    add(c, i);
}

static void put_entry(bytes *module, const PJRT_Executable *program)
{
    size_t fixed = 0, stated = 0;
    bytes c = {0}, i = instruction(10, "parameter");
    for (size_t k = 0; k < program->argument_count; k++)
        stated += program->arguments[k].laid_out;
    for (size_t k = 0; k < program->result_count; k++)
        fixed += !program->results[k].automatic;
    put_shape(&i, SHAPE, 2, false);
    add(&c, i);
    i = instruction(11, "fusion");
    put_scope(&i, "layer1/convolution");
    put_cycles(&i, 1000 * program->result_count);
    add(&c, i);
    i = instruction(12, "fusion");
    put_scope(&i, "backward/layer1/dot");
    put_cycles(&i, 500);
    add(&c, i);
    if (fixed) {
        i = instruction(13, "copy");
        put_operand(&i, 10);
        put_shape(&i, SHAPE, 2, true);
        put_cycles(&i, 100 * fixed);
        add(&c, i);
    }
    if (stated) {
        i = instruction(18, "fusion");
        put_scope(&i, "taken/copy");
        put_cycles(&i, 10 * stated);
        add(&c, i);
    }
    put_loop(&c);
    add(&c, instruction(17, "all-reduce"));
    put_computation(module, &c, "main", ENTRY_ID, 11);
}

static void put_signature(bytes *module, const PJRT_Executable *program)
{
    bytes signature = {0}, result = {0};
    for (size_t k = 0; k < program->result_count; k++)
        put_shape(&result, 4, program->results[k].rank, program->results[k].automatic);
    put_block(&signature, 2, &result);
    put_block(module, 4, &signature);
}

void fake_optimized_make(PJRT_Executable *program)
{
    bytes module = {0};
    if (program->optimized)
        return;
    put_text(&module, 1, "fake");
    put_body(&module);
    put_condition(&module);
    put_entry(&module, program);
    put_signature(&module, program);
    put_number(&module, 6, ENTRY_ID);
    program->optimized = module.data;
    program->optimized_size = module.size;
}
