/*
 * entry.c - what a compiled program takes: the compiler was asked to honour what the program
 * declares, and here is looked at what it made of it. So values go to the device as the executable
 * reads them, whatever was declared, and what differs from it is refused and not executed.
 */
#include "modes/mode_priv.h"
#include "runtime/hlo/hlo.h"

#include <stdlib.h>
#include <string.h>

bn_code mode_entry_learn(mode_program *program, bn_status *st)
{
    char format[32];
    void *bytes = NULL;
    size_t size = 0;
    shlo_declared declared = {0};
    bn_status untold = {.code = BN_OK};
    bn_code code = rt_executable_optimized(program->executable, format, &bytes, &size, &untold);
    if (code == BN_OK)
        code = strcmp(format, "mlir") == 0
                   ? shlo_declared_read(bytes, size, &declared, &untold)
                   : hlo_declared_read(format, bytes, size, &declared, &untold);
    /* All arguments as one tuple are the compiler's way, and tell nothing here. */
    const size_t count = declared.argument_count;
    const bool tuple = count == 1 && !declared.arguments[0].tensor;
    const bool differs = code == BN_OK && !tuple && count != program->input_count;
    if (code == BN_OK && !tuple && !differs)
        code = mode_values_take(declared.arguments, count, &program->entry, &untold);
    shlo_declared_free(&declared);
    free(bytes);
    if (differs)
        return bn_fail(st, BN_INVALID,
                       "%zu arguments are given, and the compiled program takes %zu",
                       program->input_count, count);
    return code == BN_OUT_OF_MEMORY ? bn_fail(st, code, "%s", untold.message) : BN_OK;
}

bn_code mode_entry_fit(const mode_program *program, mode_argument *arguments, size_t count,
                       bn_status *st)
{
    for (size_t i = 0; program->entry && i < count; i++) {
        mode_argument *a = &arguments[i];
        const mode_argument *taken = &program->entry[i];
        const bool lies_so = !a->laid_out || mode_lies_by(taken, a->order);
        if (!mode_same_type(a, taken) || !lies_so) {
            bn_text text = {0};
            bn_text_puts(&text, "is to be ");
            mode_type_put(a, &text);
            bn_text_puts(&text, ", and the plugin compiled the program to take ");
            mode_type_put(taken, &text);
            bn_code code =
                bn_fail(st, BN_INVALID, "argument %zu %s", i, text.failed ? "differs" : text.data);
            bn_text_free(&text);
            return code;
        }
        a->laid_out = taken->laid_out && !rt_order_is_by_rows(taken->order, taken->rank);
        memcpy(a->order, taken->order, sizeof a->order);
    }
    return BN_OK;
}

bn_code mode_send(mode *m, const void *host, const mode_argument *type, rt_buffer **buffer,
                  bn_status *st)
{
    m->counters[BN_COUNTER_TRANSFERS_TO_DEVICE]++;
    return type->laid_out ? rt_buffer_from_host_laid_out(m->client, host, type->dtype, type->dims,
                                                         type->rank, type->order, buffer, st)
                          : rt_buffer_from_host(m->client, host, type->dtype, type->dims,
                                                type->rank, buffer, st);
}
