/* program_tables.c - the tables of program.h: element types, ops; and errors. */
#include "runtime/sim/program/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sim_code sim_fail(sim_status *st, sim_code code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    st->code = code;
    vsnprintf(st->message, sizeof st->message, format, list);
    va_end(list);
    return code;
}

/* ---- types ------------------------------------------------------------------------- */

int64_t sim_type_elements(const sim_type *type)
{
    int64_t elements = 1;
    for (int i = 0; i < type->rank; i++)
        elements *= type->dims[i];
    return elements;
}

int64_t sim_type_bytes(const sim_type *type)
{
    return sim_type_elements(type) * (int64_t)bn_dtype_bytes(type->dtype);
}

bool sim_type_same_shape(const sim_type *a, const sim_type *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

bool sim_type_equals(const sim_type *a, const sim_type *b)
{
    return a->dtype == b->dtype && sim_type_same_shape(a, b);
}

/* ---- ops --------------------------------------------------------------------------- */

typedef struct op_row {
    const char *name;
    int operands; /* -1: any number */
    sim_cost_class cost;
} op_row;

static const op_row ops[SIM_OP_COUNT] = {
#define X(op, name, operands, cost) [SIM_OP_##op] = {name, operands, cost},
    SIM_OPS(X)
#undef X
};

const char *sim_op_name(sim_opcode opcode)
{
    return ops[opcode].name;
}

int sim_op_operands(sim_opcode opcode)
{
    return ops[opcode].operands;
}

sim_cost_class sim_op_cost_class(sim_opcode opcode)
{
    return ops[opcode].cost;
}

const sim_attribute *sim_attribute_find(const sim_op *op, const char *name)
{
    for (size_t i = 0; i < op->attribute_count; i++)
        if (strcmp(op->attributes[i].name, name) == 0)
            return &op->attributes[i];
    return NULL;
}

int64_t sim_attribute_int(const sim_op *op, const char *name)
{
    const sim_attribute *attribute = sim_attribute_find(op, name);
    return attribute && attribute->ints && attribute->count > 0 ? attribute->ints[0] : 0;
}
