/* samples.c - the list of all samples, and contents of their operands. */
#include "tests/support/samples.h"

#include "tests/support/evaluator.h"

#include <math.h>

const sample *sample_at(size_t index)
{
    const sample *const lists[] = {samples_elementwise, samples_shape, samples_contract,
                                   samples_index, samples_loop};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const sample *s = lists[i]; s->op; s++)
            if (index-- == 0)
                return s;
    return NULL;
}

static void range_of(const sample_operand *operand, double *low, double *high)
{
    tg_dtype dtype = operand->type.dtype;
    *low = operand->low;
    *high = operand->high;
    if (*low != 0 || *high != 0)
        return;
    if (dtype == TG_BOOL || bn_dtype_is_unsigned(dtype)) {
        *high = dtype == TG_BOOL ? 1 : 12;
    } else {
        *high = bn_dtype_is_float(dtype) ? 2 : 9;
        *low = -*high;
    }
}

void sample_fill(const sample *s, size_t k, double *contents)
{
    static const int64_t primes[] = {7, 11, 13, 5, 17, 19, 3, 23};
    const sample_operand *operand = &s->in[k];
    int64_t n = tg_type_elements(&operand->type);
    size_t p = k; /* another order for each operand */
    while (n > 0 && n % primes[p % 8] == 0)
        p++;
    double low, high;
    range_of(operand, &low, &high);
    for (int64_t i = 0; i < n; i++) {
        int64_t scrambled = (i * primes[p % 8] + 3 + 2 * (int64_t)k) % n;
        double value = low + (high - low) * ((double)scrambled + 0.5) / (double)n;
        if (operand->whole || !bn_dtype_is_float(operand->type.dtype))
            value = rint(value);
        else
            value += 0.00137 * (double)(k + 1);
        contents[i] = evaluator_round(operand->type.dtype, value);
    }
}
