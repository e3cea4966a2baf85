/*
 * abi.h - the profiler of a PJRT plugin: an extension of its table of functions.
 *
 * The extension is published apart from pjrt_c_api.h, so its layout is declared here:
 * xla/backends/profiler/plugin/profiler_c_api.h (version 1) and
 * xla/pjrt/c/pjrt_c_api_profiler_extension.h of openxla/xla. Its error objects are its own, with
 * the status codes of PJRT. Include pjrt_c_api.h before it: this room does not speak PJRT itself.
 */
#ifndef RUNTIME_PROFILE_ABI_H
#define RUNTIME_PROFILE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rt_plugin_profiler rt_plugin_profiler; /* opaque: a profiling session */
typedef struct rt_profiler_error rt_profiler_error;   /* opaque: an error of it */

struct rt_profiler_error_destroy_args {
    size_t struct_size;
    void *priv;
    rt_profiler_error *error;
};

struct rt_profiler_error_message_args {
    size_t struct_size;
    void *priv;
    const rt_profiler_error *error;
    const char *message; /* out, lives as long as the error */
    size_t message_size; /* out */
};

struct rt_profiler_error_code_args {
    size_t struct_size;
    void *priv;
    const rt_profiler_error *error;
    int code; /* out */
};

struct rt_profiler_create_args {
    size_t struct_size;
    const char *options; /* serialized request: profile_request.proto in runtime/pjrt */
    size_t options_size;
    rt_plugin_profiler *profiler; /* out */
};

/* Destroy, start and stop take the same. */
struct rt_profiler_session_args {
    size_t struct_size;
    rt_plugin_profiler *profiler;
};

/* Without a buffer the plugin says how large it must be, or hands out one of its own. */
struct rt_profiler_collect_args {
    size_t struct_size;
    rt_plugin_profiler *profiler;
    uint8_t *buffer; /* in and out */
    size_t buffer_size;
};

struct rt_profiler_table {
    size_t struct_size;
    void *priv;
    void (*error_destroy)(struct rt_profiler_error_destroy_args *);
    void (*error_message)(struct rt_profiler_error_message_args *);
    rt_profiler_error *(*error_code)(struct rt_profiler_error_code_args *);
    rt_profiler_error *(*create)(struct rt_profiler_create_args *);
    rt_profiler_error *(*destroy)(struct rt_profiler_session_args *);
    rt_profiler_error *(*start)(struct rt_profiler_session_args *);
    rt_profiler_error *(*stop)(struct rt_profiler_session_args *);
    rt_profiler_error *(*collect)(struct rt_profiler_collect_args *);
};

/* Newer plugins add a trace context after the table: not needed. */
struct rt_profiler_extension {
    PJRT_Extension_Base base;
    const struct rt_profiler_table *table;
};

/* The table of the plugin with API; NULL: it has no profiler, or one that lacks a function. */
static inline const struct rt_profiler_table *rt_profiler_table_of(const PJRT_Api *api)
{
    const PJRT_Extension_Base *extension = api->extension_start;
    while (extension && extension->type != PJRT_Extension_Type_Profiler)
        extension = extension->next;
    if (!extension || extension->struct_size < sizeof(struct rt_profiler_extension))
        return NULL;
    const struct rt_profiler_table *table =
        ((const struct rt_profiler_extension *)extension)->table;
    const bool whole = table && table->struct_size >= sizeof *table && table->create &&
                       table->destroy && table->start && table->stop && table->collect;
    return whole ? table : NULL;
}

#endif
