/*
 * hlo_fixture.h - programs made by hand, an instruction at a time, packed as a plugin would hand
 * them over.
 */
#ifndef BENCH_TESTS_HLO_FIXTURE_H
#define BENCH_TESTS_HLO_FIXTURE_H

#include "runtime/hlo/hlo.h"
#include "runtime/wire/hlo.pb-c.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <stdlib.h>

typedef Hlo__Wire__Instruction inst;

#define MOST_PARTS 64

/* Sums of whole numbers are exact. */
#define assert_number(got, want)                                                                   \
    do {                                                                                           \
        const double got_ = (got), want_ = (want);                                                 \
        if (got_ != want_)                                                                         \
            fail_msg("%s is %.17g, not %.17g", #got, got_, want_);                                 \
    } while (0)

/* A module in the making; computation 0 is the entry. */
typedef struct build {
    bn_arena *arena;
    Hlo__Wire__Module module;
    Hlo__Wire__Computation computations[MOST_PARTS], *computation_list[MOST_PARTS];
    inst *instructions[MOST_PARTS][MOST_PARTS];
    int64_t next_id;
} build;

static inline void *room(build *b, size_t size)
{
    void *p = bn_arena_zalloc(b->arena, size);
    assert_non_null(p);
    return p;
}

/* A new computation; its index is also its number. */
static inline size_t computation(build *b)
{
    const size_t index = b->module.n_computations++;
    assert_true(index < MOST_PARTS);
    Hlo__Wire__Computation *c = &b->computations[index];
    hlo__wire__computation__init(c);
    c->id = (int64_t)index;
    c->instructions = b->instructions[index];
    b->computation_list[index] = c;
    return index;
}

static inline build *begin(void)
{
    build *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->arena = bn_arena_new(4096);
    b->next_id = 1000;
    hlo__wire__module__init(&b->module);
    b->module.name = "made";
    b->module.computations = b->computation_list;
    computation(b);
    return b;
}

static inline void end(build *b)
{
    bn_arena_free(b->arena);
    free(b);
}

/* Appends an instruction with up to three operands, which becomes the root. */
static inline inst *op(build *b, size_t in, const char *opcode, const inst *x, const inst *y,
                       const inst *z)
{
    const inst *operands[] = {x, y, z};
    Hlo__Wire__Computation *c = &b->computations[in];
    inst *i = room(b, sizeof *i);
    char name[32];
    hlo__wire__instruction__init(i);
    i->id = b->next_id++;
    snprintf(name, sizeof name, "%s.%d", opcode, (int)i->id);
    i->name = bn_arena_strdup(b->arena, name);
    i->opcode = bn_arena_strdup(b->arena, opcode);
    i->operand_ids = room(b, 3 * sizeof *i->operand_ids);
    for (size_t k = 0; k < 3 && operands[k]; k++)
        i->operand_ids[i->n_operand_ids++] = operands[k]->id;
    assert_true(c->n_instructions < MOST_PARTS);
    c->instructions[c->n_instructions++] = i;
    c->root_id = i->id;
    return i;
}

static inline inst *calls(build *b, inst *i, size_t first, size_t second)
{
    i->called_computation_ids = room(b, 2 * sizeof *i->called_computation_ids);
    i->called_computation_ids[i->n_called_computation_ids++] = (int64_t)first;
    if (second)
        i->called_computation_ids[i->n_called_computation_ids++] = (int64_t)second;
    return i;
}

static inline inst *configure(build *b, inst *i, const char *config)
{
    i->backend_config.data = (uint8_t *)bn_arena_strdup(b->arena, config);
    i->backend_config.len = strlen(config);
    return i;
}

static inline inst *takes(build *b, inst *i, long cycles)
{
    char config[128];
    snprintf(config, sizeof config,
             "{\"flag_configs\":[],\"window_config\":{\"estimated_cycles\":\"%ld\"}}", cycles);
    return configure(b, i, config);
}

static inline inst *scoped(build *b, inst *i, const char *op_name)
{
    i->metadata = room(b, sizeof *i->metadata);
    hlo__wire__metadata__init(i->metadata);
    i->metadata->op_name = bn_arena_strdup(b->arena, op_name);
    return i;
}

static inline inst *constant(build *b, size_t in, int32_t value)
{
    inst *i = op(b, in, "constant", NULL, NULL, NULL);
    i->literal = room(b, sizeof *i->literal);
    hlo__wire__literal__init(i->literal);
    i->literal->s32s = room(b, sizeof value);
    i->literal->s32s[0] = value;
    i->literal->n_s32s = 1;
    return i;
}

static inline inst *parameter(build *b, size_t in, int64_t number)
{
    inst *i = op(b, in, "parameter", NULL, NULL, NULL);
    i->parameter_number = number;
    return i;
}

static inline inst *element(build *b, size_t in, const inst *tuple, int64_t index)
{
    inst *i = op(b, in, "get-tuple-element", tuple, NULL, NULL);
    i->tuple_index = index;
    return i;
}

static inline inst *compare(build *b, size_t in, const inst *x, const inst *y,
                            const char *direction)
{
    inst *i = op(b, in, "compare", x, y, NULL);
    i->comparison_direction = bn_arena_strdup(b->arena, direction);
    return i;
}

/* Of RANK dimensions, with the first (or the last) of them the fastest. */
static inline Hlo__Wire__Layout *layout(build *b, size_t rank, bool first_fastest)
{
    Hlo__Wire__Layout *l = room(b, sizeof *l);
    hlo__wire__layout__init(l);
    l->minor_to_major = room(b, (rank + 1) * sizeof *l->minor_to_major);
    l->n_minor_to_major = rank;
    for (size_t i = 0; i < rank; i++)
        l->minor_to_major[i] = (int64_t)(first_fastest ? i : rank - 1 - i);
    return l;
}

static inline inst *shaped(build *b, inst *i, size_t rank, bool first_fastest)
{
    i->shape = room(b, sizeof *i->shape);
    hlo__wire__shape__init(i->shape);
    i->shape->dimensions = room(b, (rank + 1) * sizeof *i->shape->dimensions);
    i->shape->n_dimensions = rank;
    i->shape->layout = layout(b, rank, first_fastest);
    return i;
}

/* Packs B and reads it as FORMAT. */
static inline bn_code read_as(build *b, const char *format, hlo_program **program, bn_status *st)
{
    Hlo__Wire__Configured configured = HLO__WIRE__CONFIGURED__INIT;
    configured.module = &b->module;
    const bool alone = strcmp(format, "hlo_with_config") != 0;
    const size_t size = alone ? hlo__wire__module__get_packed_size(&b->module)
                              : hlo__wire__configured__get_packed_size(&configured);
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    if (alone)
        hlo__wire__module__pack(&b->module, bytes);
    else
        hlo__wire__configured__pack(&configured, bytes);
    bn_code code = hlo_program_read(format, bytes, size, program, st);
    free(bytes);
    return code;
}

static inline hlo_program *made(build *b)
{
    hlo_program *program = NULL;
    bn_status st = {0};
    assert_ok(read_as(b, "hlo", &program, &st), &st);
    return program;
}

/* A loop of COMPUTATION `in` that carries {counter, other}, counts from START by STEP while
 * "counter DIRECTION LIMIT", and whose body takes CYCLES. */
static inline inst *loop(build *b, size_t in, int32_t start, int32_t step, const char *direction,
                         int32_t limit, long cycles)
{
    const size_t body = computation(b), condition = computation(b);
    inst *p = parameter(b, body, 0);
    inst *counter = element(b, body, p, 0);
    inst *other = takes(b, op(b, body, "fusion", element(b, body, p, 1), NULL, NULL), cycles);
    inst *next = op(b, body, "add", counter, constant(b, body, step), NULL);
    op(b, body, "tuple", next, other, NULL);
    inst *carried = element(b, condition, parameter(b, condition, 0), 0); /* 0 and 1 */
    inst *end_at = constant(b, condition, limit);                         /* 2 */
    compare(b, condition, carried, end_at, direction);                    /* 3 */
    inst *first = constant(b, in, start);
    inst *init = op(b, in, "tuple", first, parameter(b, in, 0), NULL);
    return calls(b, op(b, in, "while", init, NULL, NULL), body, condition);
}

#endif
