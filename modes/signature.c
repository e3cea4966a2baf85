/*
 * signature.c - the arguments of programs that others wrote. What a program declares is read by
 * runtime/stablehlo and runtime/hlo; here it is decided what of it can be done: each declaration is
 * honoured, or the program is refused with the reason.
 */
#include "modes/mode_priv.h"
#include "runtime/hlo/hlo.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- forms -------------------------------------------------------------------------- */

mode_form mode_form_find(const char **code, size_t *size)
{
    if (*size >= 4 && memcmp(*code, "ML\xefR", 4) == 0)
        return MODE_FORM_BYTECODE;
    return hlo_find_module(code, size) ? MODE_FORM_HLO : MODE_FORM_TEXT;
}

const char *mode_form_name(mode_form form)
{
    return form == MODE_FORM_HLO ? "hlo" : "mlir";
}

/* ---- types as HLO writes them -------------------------------------------------------- */

/* Reads the numbers of a list "2,3" that ends in the mark END; returns the text after END, or NULL
 * where AT is no such list, or has more than RT_MAX_RANK numbers. */
static const char *read_numbers(const char *at, char end, int64_t *list, size_t *count)
{
    while (*at != end) {
        char *behind;
        if (!isdigit((unsigned char)*at) || *count == RT_MAX_RANK)
            return NULL;
        const long long number = strtoll(at, &behind, 10);
        if (number > INT64_MAX / 16 || (*behind != ',' && *behind != end) ||
            (*behind == ',' && behind[1] == end))
            return NULL;
        list[(*count)++] = number;
        at = *behind == ',' ? behind + 1 : behind;
    }
    return at + 1;
}

/* Reads a layout, "{0,1}" or "{0,1:T(8,128)}", into A; false where TEXT is none for A's rank. */
static bool parse_layout(const char *text, mode_argument *a)
{
    char numbers[8 * RT_MAX_RANK];
    size_t count = 0;
    const size_t length = strcspn(text + 1, ":}");
    const char *close = strchr(text, '}');
    if (*text != '{' || !close || close[1] || length >= sizeof numbers - 2)
        return false;
    snprintf(numbers, sizeof numbers, "%.*s}", (int)length, text + 1);
    const char *end = read_numbers(numbers, '}', a->order, &count);
    if (!end || *end || count != a->rank || !rt_order_is_one(a->order, count))
        return false;
    a->laid_out = count > 1;
    const char *tiles = text + 1 + length + (text[1 + length] == ':');
    const size_t tiles_length = (size_t)(close - tiles);
    if (tiles_length >= sizeof a->tiles)
        return false;
    memcpy(a->tiles, tiles, tiles_length);
    a->tiles[tiles_length] = '\0';
    return true;
}

bn_code mode_type_parse(const char *text, mode_argument *a, bn_status *st)
{
    const size_t length = strcspn(text, "[");
    *a = (mode_argument){.dtype = bn_dtype_named(text, length, true, RT_DTYPE_COUNT), .result = -1};
    const char *rest =
        text[length] ? read_numbers(text + length + 1, ']', a->dims, &a->rank) : NULL;
    if (!rest || (*rest && *rest != '{'))
        return bn_fail(st, BN_INVALID, "'%.*s' is not a type: f32[2,3] is one, s32[] another",
                       BN_FIT(text, 60));
    if (a->dtype == RT_DTYPE_COUNT)
        return bn_fail(st, BN_INVALID, "values of element type %.*s cannot be passed",
                       (int)(length < 40 ? length : 40), text);
    if (*rest && !parse_layout(rest, a))
        return bn_fail(st, BN_INVALID,
                       "'%.*s': the layout is none of %zu dimensions: f32[2,3]{0,1} has one, with "
                       "the dimension that varies fastest first",
                       BN_FIT(text, 60), a->rank);
    return BN_OK;
}

void mode_type_write(const mode_argument *a, bn_text *out)
{
    bn_text_printf(out, "%s[", bn_dtypes[a->dtype].hlo);
    for (size_t i = 0; i < a->rank; i++)
        bn_text_printf(out, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    bn_text_putc(out, ']');
    if (a->tiles[0] || (a->laid_out && !rt_order_is_by_rows(a->order, a->rank))) {
        (void)bn_text_layout(out, a->order, a->rank);
        bn_text_printf(out, "%s%s}", a->tiles[0] ? ":" : "", a->tiles);
    }
}

int64_t mode_argument_bytes(const mode_argument *a)
{
    int64_t bytes = (int64_t)bn_dtype_bytes(a->dtype);
    for (size_t i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(bytes, a->dims[i], &bytes))
            return INT64_MAX;
    return bytes;
}

bool mode_same_type(const mode_argument *a, const mode_argument *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

bool mode_order_matches(const mode_argument *a, const int64_t *order)
{
    return a->laid_out ? memcmp(order, a->order, a->rank * sizeof *order) == 0
                       : rt_order_is_by_rows(order, a->rank);
}

/* ---- what a program declares ---------------------------------------------------------- */

/* Reads the declared layout and memory of value INDEX, an argument or result as WHAT says, into A,
 * whose rank is set. */
static bn_code read_layout(const shlo_value *v, const char *what, size_t index, mode_argument *a,
                           bn_status *st)
{
    if (v->memory && strcmp(v->memory, "device") != 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "%s %zu is declared to be in the memory %.*s; bench keeps values in the "
                       "device's own memory only",
                       what, index, BN_FIT(v->memory, 40));
    /* "auto" is the compiler's choice, which is read off the compiled program. */
    if (v->layout && strcmp(v->layout, "default") != 0 && strcmp(v->layout, "auto") != 0 &&
        !parse_layout(v->layout, a))
        return bn_fail(st, BN_FORMAT, "%s %zu is declared with a layout that cannot be read: %.*s",
                       what, index, BN_FIT(v->layout, 60));
    return BN_OK;
}

/* Reads argument INDEX into A; fails with the reason where it cannot be passed. */
static bn_code read_value(const shlo_value *v, size_t index, mode_argument *a, bn_status *st)
{
    *a = (mode_argument){.dtype = bn_dtype_named(v->dtype, strlen(v->dtype), false, RT_DTYPE_COUNT),
                         .rank = v->rank,
                         .result = v->result,
                         .donated = v->donated};
    if (!v->tensor)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "argument %zu is of type %s; only tensors of a known rank can be passed: "
                       "lower the program with a tensor for each value",
                       index, v->dtype);
    if (a->dtype == RT_DTYPE_COUNT)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "argument %zu is of element type %s, which cannot be "
                       "passed",
                       index, v->dtype);
    if (v->encoding)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "argument %zu is of a type with an encoding, %.*s, which cannot be passed",
                       index, BN_FIT(v->encoding, 60));
    _Static_assert(SHLO_MOST_RANK <= RT_MAX_RANK, "each rank can be passed");
    for (size_t i = 0; i < v->rank; i++) {
        a->dims[i] = v->dims[i];
        if (v->dims[i] < 0)
            return bn_fail(st, BN_NOT_SUPPORTED,
                           "argument %zu has a dynamic shape ('?'); lower it for fixed shapes",
                           index);
    }
    if (v->constant)
        snprintf(a->constant, sizeof a->constant, "%.*s", BN_FIT(v->constant, 31));
    return read_layout(v, "argument", index, a, st);
}

bn_code mode_result_layout(const shlo_value *v, size_t index, mode_argument *a, bn_status *st)
{
    *a = (mode_argument){.rank = v->rank, .result = -1};
    return read_layout(v, "result", index, a, st);
}

bn_code mode_arguments_from_values(const shlo_value *list, size_t count, mode_argument **out,
                                   bn_status *st)
{
    mode_argument *taken = bn_zalloc(count, sizeof *taken);
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        bn_code code = read_value(&list[i], i, &taken[i], st);
        if (code != BN_OK) {
            free(taken);
            return code;
        }
    }
    *out = taken;
    return BN_OK;
}

/* Fails where the program is for several devices. The compile options that were recorded with it
 * ask for REPLICAS replicas. */
static bn_code check_devices(const shlo_declared *d, int64_t replicas, bn_status *st)
{
    static const char advice[] = "bench runs a program on one device: lower it for one";
    if (d->partitions > 1)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the program is for %lld partitions (mhlo.num_partitions); %s",
                       (long long)d->partitions, advice);
    if (d->replicas > 1)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the program is for %lld replicas (mhlo.num_replicas); %s",
                       (long long)d->replicas, advice);
    if (d->mesh > 1)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the program is for a mesh of %lld devices, a partition on each "
                       "(sdy.mesh); %s",
                       (long long)d->mesh, advice);
    if (d->highest_device == INT64_MAX)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "%s names its devices in a form that bench does not read; %s", d->collective,
                       advice);
    if (d->highest_device > 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the program is for several devices: %s names device %lld; %s",
                       d->collective, (long long)d->highest_device, advice);
    if (replicas > 1 && d->collective[0])
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the program was compiled for %lld replicas, which communicate (%s); %s",
                       (long long)replicas, d->collective, advice);
    return BN_OK;
}

bn_code mode_declared_read(const rt_program *program, shlo_declared *declared, bool *readable,
                           bn_status *st)
{
    const char *bytes = program->code;
    size_t size = program->size;
    bn_status unread = {.code = BN_OK};
    *readable = true;
    if (strcmp(program->format, "hlo") == 0)
        return hlo_declared_read("hlo", bytes, size, declared, st);
    if (mode_form_find(&bytes, &size) != MODE_FORM_BYTECODE)
        return shlo_declared_read(bytes, size, declared, st);
    bn_code code = shlo_declared_read_bytecode(bytes, size, declared, &unread);
    *readable = code == BN_OK;
    /* Byte code of a newer version is no error here; if it is damaged, the compiler says so. */
    return code == BN_OUT_OF_MEMORY ? bn_fail(st, code, "%s", unread.message) : BN_OK;
}

bn_code mode_signature_read(const rt_program *program, mode_argument **list, size_t *count,
                            bool *readable, bn_status *st)
{
    shlo_declared declared = {0};
    *list = NULL;
    *count = 0;
    bn_code code = mode_declared_read(program, &declared, readable, st);
    /* Devices count also where the types of the arguments are unknown. */
    if (code == BN_OK)
        code = check_devices(&declared,
                             program->options_size
                                 ? rt_options_replicas(program->options, program->options_size)
                                 : 1,
                             st);
    for (size_t i = 0; i < declared.result_count && code == BN_OK && *readable; i++)
        code = mode_result_layout(&declared.results[i], i, &(mode_argument){0}, st);
    if (code == BN_OK && *readable)
        code = mode_arguments_from_values(declared.arguments, declared.argument_count, list, st);
    if (code == BN_OK && *readable)
        *count = declared.argument_count;
    shlo_declared_free(&declared);
    return code;
}
