/*
 * evaluate_elementwise.c - rules of ops that compute each element of the result from the
 * elements at the same place: those that one kernel computes, and those whose operands
 * and result are not all of one type.
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_rules.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static sim_code no_type(const sim_op *op, bn_dtype dtype, sim_status *st)
{
    return sim_refuse(op, st, SIM_UNIMPLEMENTED, "the simulator cannot evaluate it on %s",
                      bn_dtype_text(dtype));
}

static bn_class class_of(const sim_program *p, const sim_op *op, int i)
{
    return bn_dtype_class(sim_operand_type(p, op, i)->dtype);
}

/* ---- one type --------------------------------------------------------------------------- */

static bool is_modulus(const sim_program *p, const sim_op *op)
{
    const bn_dtype from = sim_operand_type(p, op, 0)->dtype;
    const bn_dtype to = sim_result_type(p, op, 0)->dtype;
    return op->opcode == SIM_OP_ABS &&
           ((from == BN_C64 && to == BN_F32) || (from == BN_C128 && to == BN_F64));
}

sim_code sim_can_elementwise(const sim_program *p, const sim_op *op, sim_status *st)
{
    const bn_dtype dtype = sim_result_type(p, op, 0)->dtype;
    return is_modulus(p, op) || sim_kernel_find(op->opcode, sim_wide(dtype))
               ? SIM_OK
               : no_type(op, dtype, st);
}

static void moduli(bn_dtype dtype, void *out, const void *in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (dtype == BN_C64)
            ((float *)out)[i] = cabsf(((const complex float *)in)[i]);
        else
            ((double *)out)[i] = cabs(((const complex double *)in)[i]);
}

sim_code sim_rule_elementwise(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_result_type(run->program, op, 0);
    const int64_t n = sim_type_elements(type);
    const void *in[2] = {sim_operand(run, op, 0),
                         op->operand_count > 1 ? sim_operand(run, op, 1) : NULL};
    if (is_modulus(run->program, op))
        moduli(sim_operand_type(run->program, op, 0)->dtype, sim_result(run, op, 0), in[0], n);
    else
        sim_apply(sim_kernel_find(op->opcode, sim_wide(type->dtype)), type->dtype, type->dtype,
                  sim_result(run, op, 0), in, op->operand_count, n);
    return SIM_OK;
}

/* ---- to and from boolean ---------------------------------------------------------------- */

sim_code sim_can_compare(const sim_program *p, const sim_op *op, sim_status *st)
{
    const bn_dtype dtype = sim_operand_type(p, op, 0)->dtype;
    return sim_kernel_compare(op, sim_wide(dtype)) ? SIM_OK : no_type(op, dtype, st);
}

sim_code sim_rule_compare(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_operand_type(run->program, op, 0);
    const void *in[2] = {sim_operand(run, op, 0), sim_operand(run, op, 1)};
    sim_apply(sim_kernel_compare(op, sim_wide(type->dtype)), type->dtype, BN_PRED,
              sim_result(run, op, 0), in, 2, sim_type_elements(type));
    return SIM_OK;
}

sim_code sim_rule_is_finite(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_operand_type(run->program, op, 0);
    const int64_t n = sim_type_elements(type);
    const char *in = sim_operand(run, op, 0);
    uint8_t *out = sim_result(run, op, 0);
    double wide[SIM_CHUNK];
    for (int64_t at = 0; at < n; at += SIM_CHUNK) {
        const int64_t chunk = n - at < SIM_CHUNK ? n - at : SIM_CHUNK;
        sim_convert(BN_F64, wide, type->dtype, in + (size_t)at * bn_dtype_bytes(type->dtype),
                    chunk);
        for (int64_t i = 0; i < chunk; i++)
            out[at + i] = isfinite(wide[i]) != 0;
    }
    return SIM_OK;
}

/* ---- choosing --------------------------------------------------------------------------- */

#define CHOOSE(name, T)                                                                            \
    typedef T __attribute__((may_alias)) name##_word;                                              \
    static void name(void *out, const uint8_t *which, const void *yes, const void *no, int64_t n)  \
    {                                                                                              \
        name##_word *o = out;                                                                      \
        const name##_word *a = yes, *b = no;                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            o[i] = which[i] ? a[i] : b[i];                                                         \
    }
CHOOSE(choose_1, uint8_t)
CHOOSE(choose_2, uint16_t)
CHOOSE(choose_4, uint32_t)
CHOOSE(choose_8, uint64_t)

static void choose_16(void *out, const uint8_t *which, const void *yes, const void *no, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)out + 16 * i, (const char *)(which[i] ? yes : no) + 16 * i, 16);
}

sim_code sim_rule_select(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_result_type(run->program, op, 0);
    const size_t bytes = bn_dtype_bytes(type->dtype);
    const uint8_t *which = sim_operand(run, op, 0);
    const void *yes = sim_operand(run, op, 1), *no = sim_operand(run, op, 2);
    if (sim_operand_type(run->program, op, 0)->rank == 0)
        memcpy(sim_result(run, op, 0), which[0] ? yes : no, (size_t)sim_type_bytes(type));
    else
        (bytes == 1   ? choose_1
         : bytes == 2 ? choose_2
         : bytes == 4 ? choose_4
         : bytes == 8 ? choose_8
                      : choose_16)(sim_result(run, op, 0), which, yes, no, sim_type_elements(type));
    return SIM_OK;
}

sim_code sim_can_clamp(const sim_program *p, const sim_op *op, sim_status *st)
{
    const bn_dtype dtype = sim_result_type(p, op, 0)->dtype;
    return sim_kernel_find(SIM_OP_MAXIMUM, sim_wide(dtype)) ? SIM_OK : no_type(op, dtype, st);
}

/* OUT = KERNEL(IN, operand I), which may be one element for all. */
static void bound(const sim_run *run, const sim_op *op, int i, sim_opcode opcode, const char *in,
                  char *out)
{
    _Alignas(SIM_ELEMENT) char filled[SIM_CHUNK * SIM_ELEMENT];
    const sim_type *type = sim_result_type(run->program, op, 0);
    const size_t bytes = bn_dtype_bytes(type->dtype);
    const int64_t n = sim_type_elements(type);
    const bool one = sim_operand_type(run->program, op, i)->rank == 0;
    sim_kernel *kernel = sim_kernel_find(opcode, sim_wide(type->dtype));
    if (one)
        sim_fill(filled, sim_operand(run, op, i), n < SIM_CHUNK ? n : SIM_CHUNK, bytes);
    for (int64_t at = 0; at < n; at += SIM_CHUNK) {
        const size_t offset = (size_t)at * bytes;
        const void *operands[2] = {in + offset,
                                   one ? filled : (const char *)sim_operand(run, op, i) + offset};
        sim_apply(kernel, type->dtype, type->dtype, out + offset, operands, 2,
                  n - at < SIM_CHUNK ? n - at : SIM_CHUNK);
    }
}

sim_code sim_rule_clamp(sim_run *run, const sim_op *op)
{
    bound(run, op, 0, SIM_OP_MAXIMUM, sim_operand(run, op, 1), sim_result(run, op, 0));
    bound(run, op, 2, SIM_OP_MINIMUM, sim_result(run, op, 0), sim_result(run, op, 0));
    return SIM_OK;
}

/* ---- parts of complex numbers ----------------------------------------------------------- */

/* A complex number is its two parts side by side. */
sim_code sim_rule_complex(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_operand_type(run->program, op, 0);
    const size_t bytes = bn_dtype_bytes(type->dtype);
    for (int i = 0; i < 2; i++) {
        sim_walk walk = {.rank = 1, .dims = {sim_type_elements(type)}, .to = {2}, .from = {1}};
        sim_copy((char *)sim_result(run, op, 0) + (size_t)i * bytes, sim_operand(run, op, i), &walk,
                 bytes);
    }
    return SIM_OK;
}

/* A real number is its own real part. */
sim_code sim_rule_part(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_result_type(run->program, op, 0);
    const size_t bytes = bn_dtype_bytes(type->dtype);
    const bool real = op->opcode == SIM_OP_REAL;
    if (class_of(run->program, op, 0) == BN_COMPLEX) {
        sim_walk walk = {.rank = 1, .dims = {sim_type_elements(type)}, .to = {1}, .from = {2}};
        sim_copy(sim_result(run, op, 0), (const char *)sim_operand(run, op, 0) + (real ? 0 : bytes),
                 &walk, bytes);
    } else if (real) {
        memcpy(sim_result(run, op, 0), sim_operand(run, op, 0), (size_t)sim_type_bytes(type));
    } else {
        memset(sim_result(run, op, 0), 0, (size_t)sim_type_bytes(type));
    }
    return SIM_OK;
}
