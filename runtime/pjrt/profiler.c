/*
 * profiler.c - the plugin's own profiler, through its extension table.
 *
 * The extension is published apart from pjrt_c_api.h, so its layout is declared
 * here: xla/backends/profiler/plugin/profiler_c_api.h (version 1) and
 * xla/pjrt/c/pjrt_c_api_profiler_extension.h of openxla/xla. Its error objects
 * are its own, with the status codes of PJRT.
 */
#include "runtime/pjrt/pjrt_priv.h"
#include "runtime/pjrt/xspace.pb-c.h"

#include <stdlib.h>
#include <string.h>

typedef struct plugin_profiler plugin_profiler; /* opaque: a profiling session */
typedef struct plugin_error plugin_error;       /* opaque: an error of it */

struct error_destroy_args {
    size_t struct_size;
    void *priv;
    plugin_error *error;
};

struct error_message_args {
    size_t struct_size;
    void *priv;
    const plugin_error *error;
    const char *message; /* out, lives as long as the error */
    size_t message_size; /* out */
};

struct error_code_args {
    size_t struct_size;
    void *priv;
    const plugin_error *error;
    int code; /* out */
};

struct create_args {
    size_t struct_size;
    const char *options; /* serialized request */
    size_t options_size;
    plugin_profiler *profiler; /* out */
};

/* Destroy, start and stop take the same. */
struct session_args {
    size_t struct_size;
    plugin_profiler *profiler;
};

struct collect_args {
    size_t struct_size;
    plugin_profiler *profiler;
    uint8_t *buffer; /* in and out */
    size_t buffer_size;
};

struct rt_profiler_table {
    size_t struct_size;
    void *priv;
    void (*error_destroy)(struct error_destroy_args *);
    void (*error_message)(struct error_message_args *);
    plugin_error *(*error_code)(struct error_code_args *);
    plugin_error *(*create)(struct create_args *);
    plugin_error *(*destroy)(struct session_args *);
    plugin_error *(*start)(struct session_args *);
    plugin_error *(*stop)(struct session_args *);
    plugin_error *(*collect)(struct collect_args *);
};

/* Newer plugins add a trace context after the table: not needed. */
struct profiler_extension {
    PJRT_Extension_Base base;
    const struct rt_profiler_table *table;
};

struct rt_profiler {
    const struct rt_profiler_table *table;
    plugin_profiler *session;
};

const struct rt_profiler_table *rt_profiler_table_find(const PJRT_Api *api)
{
    const PJRT_Extension_Base *extension = api->extension_start;
    while (extension && extension->type != PJRT_Extension_Type_Profiler)
        extension = extension->next;
    if (!extension || extension->struct_size < sizeof(struct profiler_extension))
        return NULL;
    const struct rt_profiler_table *table = ((const struct profiler_extension *)extension)->table;
    if (!table || table->struct_size < sizeof *table || !table->create || !table->destroy ||
        !table->start || !table->stop || !table->collect)
        return NULL;
    return table;
}

/* As rt_error_take, for the profiler's errors. */
static bn_code profiler_error_take(const struct rt_profiler_table *table, plugin_error *error,
                                   bn_status *st)
{
    if (!error)
        return BN_OK;
    rt_live_add(RT_LIVE_ERROR, 1);
    struct error_code_args kind = {.struct_size = sizeof kind, .error = error};
    struct error_message_args text = {.struct_size = sizeof text, .error = error};
    kind.code = PJRT_Error_Code_UNKNOWN;
    if (table->error_code)
        table->error_code(&kind);
    if (table->error_message)
        table->error_message(&text);
    bn_code code = rt_error_class(kind.code, RT_STAGE_OTHER);
    rt_error_record(st, code, text.message, text.message ? text.message_size : 0);
    if (table->error_destroy) {
        struct error_destroy_args args = {.struct_size = sizeof args, .error = error};
        table->error_destroy(&args);
        rt_live_add(RT_LIVE_ERROR, -1);
    }
    return code;
}

static void session_destroy(rt_profiler *profiler)
{
    struct session_args args = {.struct_size = sizeof args, .profiler = profiler->session};
    profiler_error_take(profiler->table, profiler->table->destroy(&args), NULL);
    free(profiler);
}

/* Device events, no host events: those would cost host time in the very spans
 * that are measured. */
static bn_code session_create(rt_profiler *profiler, bn_status *st)
{
    Rt__Profile__Request request = RT__PROFILE__REQUEST__INIT;
    request.version = 1;
    request.device_level = 1;
    uint8_t packed[64];
    size_t size = rt__profile__request__pack(&request, packed);
    struct create_args args = {
        .struct_size = sizeof args, .options = (const char *)packed, .options_size = size};
    bn_code code = profiler_error_take(profiler->table, profiler->table->create(&args), st);
    profiler->session = args.profiler;
    return code;
}

bn_code rt_profiler_start(rt_plugin *plugin, rt_profiler **profiler, bn_status *st)
{
    const struct rt_profiler_table *table = plugin->profiler;
    if (!table)
        return bn_fail(st, BN_NOT_SUPPORTED, "the plugin has no profiler");
    rt_profiler *started = calloc(1, sizeof *started);
    if (!started)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a profiler");
    started->table = table;
    bn_code code = session_create(started, st);
    if (code != BN_OK) {
        free(started);
        bn_context(st, "creating the profiler");
        return code;
    }
    struct session_args args = {.struct_size = sizeof args, .profiler = started->session};
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
    struct collect_args args = {.struct_size = sizeof args, .profiler = profiler->session};
    bn_code code = profiler_error_take(table, table->collect(&args), st);
    if (code != BN_OK)
        return code;
    uint8_t *room = malloc(args.buffer_size + 1);
    if (!room)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a profile of %zu bytes",
                       args.buffer_size);
    if (args.buffer && args.buffer_size > 0) {
        /* Some plugins hand out their own copy at once, owned by the session. */
        memcpy(room, args.buffer, args.buffer_size);
    } else if (args.buffer_size > 0) {
        args.buffer = room;
        code = profiler_error_take(table, table->collect(&args), st);
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
    struct session_args args = {.struct_size = sizeof args, .profiler = profiler->session};
    bn_code code = profiler_error_take(profiler->table, profiler->table->stop(&args), st);
    if (code == BN_OK)
        code = session_collect(profiler, xspace, size, st);
    session_destroy(profiler);
    if (code != BN_OK)
        bn_context(st, "collecting the profile");
    return code;
}
