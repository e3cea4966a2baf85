/* parse_check.c - what the checks of ops share; see parse_check.h. */
#include "runtime/sim/program/parse_check.h"

#include <stdarg.h>
#include <stdio.h>

bool sim_check_fail(sim_reader *r, const char *at, const sim_op *op, const char *format, ...)
{
    char message[256];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    sim_reader_fail(r, at, SIM_INVALID_ARGUMENT, "%s: %s", sim_op_name(op->opcode), message);
    return false;
}

const sim_type *sim_check_operand(const sim_reader *r, const sim_op *op, int index)
{
    return sim_reader_type(r, op->operands[index]);
}

const sim_type *sim_check_result(const sim_reader *r, const sim_op *op, int index)
{
    return sim_reader_type(r, op->results[index]);
}

bool sim_check_dims(const sim_attribute *list, int rank)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < list->count; i++) {
        int64_t dim = list->ints[i];
        if (dim < 0 || dim >= rank || seen >> dim & 1)
            return false;
        seen |= (uint64_t)1 << dim;
    }
    return true;
}

bool sim_check_types(sim_reader *r, const char *at, const sim_op *op, const sim_type *have,
                     const sim_type *want)
{
    char one[96], two[96];
    return sim_type_equals(have, want) || sim_check_fail(r, at, op, "%s where %s was expected",
                                                         sim_type_write(have, one, sizeof one),
                                                         sim_type_write(want, two, sizeof two));
}

bool sim_check_scalar(const sim_reader *r, int value, bn_dtype dtype)
{
    const sim_type *type = sim_reader_type(r, value);
    return type->rank == 0 && type->dtype == dtype;
}

bool sim_check_reducer(sim_reader *r, const char *at, const sim_op *op, int region, int count)
{
    const sim_block *b = &op->regions[region];
    bool fits = b->argument_count == 2 * count && b->result_count == count;
    for (int i = 0; fits && i < count; i++) {
        bn_dtype dtype = sim_check_operand(r, op, i)->dtype;
        fits = sim_check_scalar(r, b->arguments[i], dtype) &&
               sim_check_scalar(r, b->results[i], dtype) &&
               sim_check_scalar(r, b->arguments[count + i], dtype);
    }
    return fits || sim_check_fail(r, at, op, "its region is not of scalars of the operands' types");
}

int64_t sim_window_places(int64_t n, int64_t base_dilation, int64_t low, int64_t high, int64_t size,
                          int64_t dilation, int64_t stride)
{
    int64_t span, window;
    if (base_dilation < 1 || dilation < 1 || stride < 1 || size < 1 ||
        __builtin_mul_overflow(n ? n - 1 : 0, base_dilation, &span) ||
        __builtin_add_overflow(span, n > 0, &span) || __builtin_add_overflow(span, low, &span) ||
        __builtin_add_overflow(span, high, &span) ||
        __builtin_mul_overflow(size - 1, dilation, &window) || window == INT64_MAX)
        return -1;
    return span < window + 1 ? 0 : (span - window - 1) / stride + 1;
}
