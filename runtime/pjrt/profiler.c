/*
 * profiler.c - the plugin's own profiler, through its extension table.
 */
#include "runtime/pjrt/pjrt_priv.h"
#include "runtime/pjrt/profile_request.pb-c.h"
#include "runtime/profile/abi.h"

#include <stdlib.h>
#include <string.h>

struct rt_profiler {
    const struct rt_profiler_table *table;
    rt_plugin_profiler *session;
};

/* As rt_error_take, for the profiler's errors. */
static bn_code profiler_error_take(const struct rt_profiler_table *table, rt_profiler_error *error,
                                   bn_status *st)
{
    bn_surroundings_restore_floats("calling");
    if (!error)
        return BN_OK;
    rt_live_add(RT_LIVE_ERROR, 1);
    struct rt_profiler_error_code_args kind = {.struct_size = sizeof kind, .error = error};
    struct rt_profiler_error_message_args text = {.struct_size = sizeof text, .error = error};
    kind.code = PJRT_Error_Code_UNKNOWN;
    if (table->error_code)
        table->error_code(&kind);
    if (table->error_message)
        table->error_message(&text);
    bn_code code = rt_error_class(kind.code, RT_STAGE_OTHER);
    rt_error_record(st, code, text.message, text.message ? text.message_size : 0);
    if (table->error_destroy) {
        struct rt_profiler_error_destroy_args args = {.struct_size = sizeof args, .error = error};
        table->error_destroy(&args);
        rt_live_add(RT_LIVE_ERROR, -1);
    }
    return code;
}

static void session_destroy(rt_profiler *profiler)
{
    struct rt_profiler_session_args args = {.struct_size = sizeof args,
                                            .profiler = profiler->session};
    profiler_error_take(profiler->table, profiler->table->destroy(&args), NULL);
    free(profiler);
}

/* Device events, no host events: those would cost host time in the very spans
 * that are measured. */
static bn_code session_create(rt_profiler *profiler, bool programs, bn_status *st)
{
    Rt__Profile__Request request = RT__PROFILE__REQUEST__INIT;
    request.version = 1;
    request.device_level = 1;
    request.programs = programs;
    uint8_t packed[64];
    size_t size = rt__profile__request__pack(&request, packed);
    struct rt_profiler_create_args args = {
        .struct_size = sizeof args, .options = (const char *)packed, .options_size = size};
    bn_code code = profiler_error_take(profiler->table, profiler->table->create(&args), st);
    profiler->session = args.profiler;
    return code;
}

bn_code rt_profiler_start(rt_plugin *plugin, bool programs, rt_profiler **profiler, bn_status *st)
{
    const struct rt_profiler_table *table = plugin->profiler;
    if (!table)
        return bn_fail(st, BN_NOT_SUPPORTED, "the plugin has no profiler");
    rt_profiler *started = bn_zalloc(1, sizeof *started);
    started->table = table;
    bn_code code = session_create(started, programs, st);
    if (code != BN_OK) {
        free(started);
        bn_context(st, "creating the profiler");
        return code;
    }
    struct rt_profiler_session_args args = {.struct_size = sizeof args,
                                            .profiler = started->session};
    code = profiler_error_take(table, table->start(&args), st);
    if (code != BN_OK) {
        session_destroy(started);
        bn_context(st, "starting the profiler");
        return code;
    }
    *profiler = started;
    return BN_OK;
}

static bn_code session_collect(rt_profiler *profiler, void **xspace, size_t *size, bn_status *st)
{
    const struct rt_profiler_table *table = profiler->table;
    struct rt_profiler_collect_args args = {.struct_size = sizeof args,
                                            .profiler = profiler->session};
    bn_code code = profiler_error_take(table, table->collect(&args), st);
    if (code != BN_OK)
        return code;
    const size_t most = args.buffer_size;
    uint8_t *room = most < SIZE_MAX ? malloc(most + 1) : NULL;
    if (!room)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a profile of %zu bytes", most);
    if (args.buffer && most > 0) {
        /* Some plugins hand out their own copy at once, owned by the session. */
        memcpy(room, args.buffer, most);
    } else if (most > 0) {
        args.buffer = room;
        code = profiler_error_take(table, table->collect(&args), st);
        if (code == BN_OK && args.buffer_size > most)
            code = bn_fail(st, BN_PLUGIN,
                           "the plugin said %zu bytes of its profile, and then wrote %zu", most,
                           args.buffer_size);
    }
    if (code != BN_OK) {
        free(room);
        return code;
    }
    *xspace = room;
    *size = args.buffer_size;
    return BN_OK;
}

bn_code rt_profiler_finish(rt_profiler *profiler, void **xspace, size_t *size, bn_status *st)
{
    struct rt_profiler_session_args args = {.struct_size = sizeof args,
                                            .profiler = profiler->session};
    bn_code code = profiler_error_take(profiler->table, profiler->table->stop(&args), st);
    if (code == BN_OK)
        code = session_collect(profiler, xspace, size, st);
    session_destroy(profiler);
    if (code != BN_OK)
        bn_context(st, "collecting the profile");
    return code;
}
