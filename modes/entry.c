/*
 * entry.c - types and layouts of a compiled program's arguments and results. The compiler was asked
 * to honour what the program declares; here it is checked that it did. So arguments are sent in the
 * layouts that the executable reads, and a program that was compiled differently is refused.
 */
#include "modes/mode_priv.h"
#include "runtime/hlo/hlo.h"

#include <stdlib.h>
#include <string.h>

bn_code mode_entry_read(mode_program *program, bn_status *st)
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
    /* A compiler may pack all arguments into one tuple: their types are then unknown. */
    const size_t count = declared.argument_count;
    const bool tuple = count == 1 && !declared.arguments[0].tensor;
    const bool differs = code == BN_OK && !tuple && count != program->input_count;
    bool refused = false; /* a type that cannot be passed */
    if (code == BN_OK && !tuple && !differs) {
        code = mode_arguments_from_values(declared.arguments, count, &program->argument_types,
                                          &untold);
        refused = code == BN_NOT_SUPPORTED;
    }
    if (code == BN_OK && declared.result_count == program->output_count)
        code = mode_arguments_from_values(declared.results, declared.result_count,
                                          &program->result_types, &untold);
    shlo_declared_free(&declared);
    free(bytes);
    if (differs)
        return bn_fail(st, BN_INVALID,
                       "%zu arguments are given, and the compiled program takes %zu",
                       program->input_count, count);
    if (refused)
        return bn_fail(st, code, "of the compiled program, %s", untold.message);
    return code == BN_OUT_OF_MEMORY ? bn_fail(st, code, "%s", untold.message) : BN_OK;
}

/* Fails where a result's layout differs from the declared one, as far as both are known. Tiles that
 * are not declared are dropped from result_types: nobody asked for them. */
static bn_code check_results(mode_program *program, bn_status *st)
{
    const rt_program source = {.format = program->format ? program->format : "mlir",
                               .code = program->text,
                               .size = program->text_length};
    shlo_declared declared = {0};
    bool readable;
    bn_code code = mode_declared_read(&source, &declared, &readable, st);
    const size_t count = declared.result_count == program->output_count ? program->output_count : 0;
    for (size_t i = 0; program->result_types && i < count && code == BN_OK; i++) {
        const shlo_value *wanted = &declared.results[i];
        mode_argument *found = &program->result_types[i], own = {.rank = found->rank};
        if (wanted->tensor && found->rank == wanted->rank)
            code = mode_result_layout(wanted, i, &own, st);
        const bool same_tiles = !own.tiles[0] || strcmp(own.tiles, found->tiles) == 0;
        memcpy(found->tiles, own.tiles, sizeof found->tiles);
        if (code == BN_OK &&
            (!same_tiles || (own.laid_out && !mode_order_matches(found, own.order))))
            code = bn_fail(st, BN_INVALID,
                           "result %zu is declared with the layout %s, but the plugin compiled "
                           "the program with another one",
                           i, wanted->layout);
    }
    shlo_declared_free(&declared);
    return code;
}

bn_code mode_entry_check(mode_program *program, mode_argument *arguments, size_t count,
                         bn_status *st)
{
    for (size_t i = 0; i < count; i++) {
        mode_argument *a = &arguments[i];
        const mode_argument *taken = program->argument_types ? &program->argument_types[i] : a;
        const bool same_layout = (!a->laid_out || mode_order_matches(taken, a->order)) &&
                                 (!a->tiles[0] || strcmp(a->tiles, taken->tiles) == 0);
        if (!mode_same_type(a, taken) || !same_layout) {
            bn_text text = {0};
            bn_text_puts(&text, "is ");
            mode_type_write(a, &text);
            bn_text_puts(&text, ", but the plugin compiled the program to take ");
            mode_type_write(taken, &text);
            bn_code code = bn_fail(st, BN_INVALID, "argument %zu %s", i, text.data);
            bn_text_free(&text);
            return code;
        }
        if (!program->argument_types)
            continue;
        a->laid_out = taken->laid_out && !rt_order_is_by_rows(taken->order, taken->rank);
        memcpy(a->order, taken->order, sizeof a->order);
    }
    return check_results(program, st);
}

bn_code mode_check_tiles(mode *m, rt_buffer *buffer, const mode_argument *wanted, const char *what,
                         size_t index, bn_status *st)
{
    bn_text text = {0};
    bool by_rows;
    if (!wanted->tiles[0])
        return BN_OK;
    bn_code code = rt_buffer_layout(m->client, buffer, &text, &by_rows, st);
    const char *colon = code == BN_OK && text.data ? strchr(text.data, ':') : NULL;
    const size_t length = strlen(wanted->tiles);
    if (code == BN_OK && (!colon || strncmp(colon + 1, wanted->tiles, length) != 0 ||
                          strcmp(colon + 1 + length, "}") != 0))
        code = bn_fail(st, BN_NOT_SUPPORTED,
                       "%s %zu is declared with the tiles %s, but the plugin's layout is %s", what,
                       index, wanted->tiles, text.data ? text.data : "an unknown layout");
    bn_text_free(&text);
    return code;
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
