/*
 * ffi.c - handlers of XLA's foreign functions that live in a framework's library, for a plugin that
 * has none: LAPACK and Python callbacks of JAX, which its own CPU client finds in jaxlib.
 *
 * A plugin drops a handler that says a newer minor version of the interface than its own, without
 * an error. So it gets one of ours for each, which calls the real one and then says the plugin's
 * own version. Handlers have no argument of their own, so there is a fixed number of them.
 *
 * Layouts: xla/ffi/api/c_api.h and xla/pjrt/c/pjrt_c_api_ffi_extension.h of openxla/xla, versions
 * 0.2 to 0.5 of the interface, of which only what is needed stands here. Within a major version
 * they grow at their ends. One exception: `stage` came into the arguments of State_Get, before
 * their last member.
 */
#include "runtime/record/record_priv.h"

#include <stdlib.h>

/* ---- the interface ------------------------------------------------------------------------------
 */

typedef struct ffi_error ffi_error;

typedef struct ffi_version {
    size_t struct_size;
    void *extension_start;
    int major, minor;
} ffi_version;

typedef struct ffi_state_get_args {
    size_t struct_size; /* as the caller knows the struct; the result is its last 8 bytes */
    void *extension_start;
    void *context;
} ffi_state_get_args;
typedef ffi_error *ffi_state_get(ffi_state_get_args *args);

/* The head of the plugin's table. */
typedef struct ffi_api {
    size_t struct_size;
    void *extension_start;
    ffi_version version;
    const void *internal;
    void *before[8]; /* Error_Create to State_Set */
    ffi_state_get *state_get;
} ffi_api;
_Static_assert(offsetof(ffi_api, state_get) == 112, "where State_Get is in all versions");

/* An extension of a call: one that asks for a handler's version, and gets no other arguments. */
enum { FFI_ASKS_VERSION = 1 };
typedef struct ffi_metadata {
    size_t struct_size;
    ffi_version version;
} ffi_metadata;
typedef struct ffi_extension {
    size_t struct_size;
    int type;
    struct ffi_extension *next;
    ffi_metadata *metadata; /* of FFI_ASKS_VERSION */
} ffi_extension;

/* The head of a call. */
typedef struct ffi_frame {
    size_t struct_size;
    ffi_extension *extension_start;
    const ffi_api *api;
} ffi_frame;
typedef ffi_error *ffi_handler(ffi_frame *frame);

/* The extension of a PJRT plugin that takes handlers. */
typedef struct ffi_register_args {
    size_t struct_size;
    const char *name;
    size_t name_size;
    void *handler;
    const char *platform;
    size_t platform_size;
    int traits;
} ffi_register_args;
#define FFI_REGISTER_SIZE (offsetof(ffi_register_args, traits) + sizeof(int))
typedef struct ffi_plugin_extension {
    PJRT_Extension_Base base;
    void *type_register, *user_data_add;
    PJRT_Error *(*register_handler)(ffi_register_args *args);
} ffi_plugin_extension;
enum { MOST_EXTENSIONS = 256 };

/* ---- the state of a handler -------------------------------------------------------------------
 */

/* A handler of Python callbacks asks for the state that its instantiation made, which jaxlib does
 * not hand out: a cache of transpositions. It only looks into that where a result is not laid out
 * as usual, which python.c sees to. */
static _Alignas(64) char no_state[65536];

static ffi_error *give_no_state(ffi_state_get_args *args)
{
    void *state = no_state;
    if (args->struct_size >= sizeof *args + 2 * sizeof(void *))
        memcpy((char *)args + args->struct_size - sizeof state, &state, sizeof state);
    return NULL;
}

/* Copies of plugins' tables with give_no_state, never freed: a handler may keep the table until its
 * result is there. */
static struct {
    const ffi_api *theirs;
    ffi_api *ours;
} tables[RECORD_PLUGINS];

/* API itself where there is no memory, or its size cannot be. */
static const ffi_api *table_with_state(const ffi_api *api)
{
    const ffi_api *found = api;
    if (api->struct_size < sizeof *api || api->struct_size > 64 * sizeof *api)
        return api;
    record_lock(RECORD_LOCK_PLUGINS);
    for (size_t i = 0; i < RECORD_PLUGINS; i++) {
        if (!tables[i].theirs && (tables[i].ours = malloc(api->struct_size))) {
            memcpy(tables[i].ours, api, api->struct_size);
            tables[i].ours->state_get = give_no_state;
            tables[i].theirs = api;
        }
        if (tables[i].theirs != api)
            continue;
        found = tables[i].ours;
        break;
    }
    record_unlock(RECORD_LOCK_PLUGINS);
    return found;
}

/* ---- handlers of ours ---------------------------------------------------------------------------
 */

/* The digits are octal. */
#define OF_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define OF_64(X, n)                                                                                \
    OF_8(X, n##0)                                                                                  \
    OF_8(X, n##1)                                                                                  \
    OF_8(X, n##2) OF_8(X, n##3) OF_8(X, n##4) OF_8(X, n##5) OF_8(X, n##6) OF_8(X, n##7)
#define HANDLERS(X) OF_64(X, 00) OF_64(X, 01) OF_64(X, 02) OF_64(X, 03)
enum { HANDLER_COUNT = 256 };

/* The real ones. Places are filled in order and stay. */
static struct {
    ffi_handler *handler;
    bool wants_state;
} real[HANDLER_COUNT];

static ffi_error *call_real(size_t number, ffi_frame *frame)
{
    ffi_extension *asked = frame->extension_start;
    const ffi_api *api = frame->api;
    if (asked && asked->type == FFI_ASKS_VERSION) {
        ffi_error *error = real[number].handler(frame);
        ffi_version *version = &asked->metadata->version;
        if (!error && api && version->major == api->version.major &&
            version->minor > api->version.minor)
            version->minor = api->version.minor;
        return error;
    }
    if (!api || !real[number].wants_state)
        return real[number].handler(frame);
    frame->api = table_with_state(api);
    ffi_error *error = real[number].handler(frame);
    frame->api = api;
    return error;
}

#define HANDLER(n)                                                                                 \
    static ffi_error *handler_##n(ffi_frame *frame)                                                \
    {                                                                                              \
        return call_real(n, frame);                                                                \
    }
HANDLERS(HANDLER)
#define PLACE(n) handler_##n,
static ffi_handler *const ours[] = {HANDLERS(PLACE)};
_Static_assert(sizeof ours / sizeof *ours == HANDLER_COUNT, "one for each place");

/* Ours that calls HANDLER; NULL where all are taken. */
static ffi_handler *handler_for(ffi_handler *handler, bool wants_state)
{
    ffi_handler *found = NULL;
    record_lock(RECORD_LOCK_PLUGINS);
    for (size_t i = 0; !found && i < HANDLER_COUNT; i++) {
        if (real[i].handler && real[i].handler != handler)
            continue;
        if (!real[i].handler) {
            real[i].wants_state = wants_state;
            real[i].handler = handler;
        }
        found = ours[i];
    }
    record_unlock(RECORD_LOCK_PLUGINS);
    return found;
}

static const ffi_plugin_extension *extension_of(const record_plugin *p)
{
    const PJRT_Extension_Base *at = p->api->extension_start;
    for (int i = 0; at && i < MOST_EXTENSIONS; i++, at = at->next)
        if (at->type == PJRT_Extension_Type_FFI && at->struct_size >= sizeof(ffi_plugin_extension))
            return (const ffi_plugin_extension *)(const void *)at;
    return NULL;
}

bool record_ffi_takes(const record_plugin *p)
{
    const ffi_plugin_extension *extension = extension_of(p);
    return extension && extension->register_handler;
}

bool record_ffi_register(const record_plugin *p, const char *name, void *handler, bool wants_state)
{
    static const char platform[] = "Host"; /* XLA's name of a CPU, where PJRT says "cpu" */
    ffi_handler *theirs, *wrapped;
    memcpy(&theirs, &handler, sizeof theirs);
    if (!record_ffi_takes(p) || !(wrapped = handler_for(theirs, wants_state)))
        return false;
    ffi_register_args args = {.struct_size = FFI_REGISTER_SIZE,
                              .name = name,
                              .name_size = strlen(name),
                              .platform = platform,
                              .platform_size = sizeof platform - 1};
    memcpy(&args.handler, &wrapped, sizeof args.handler);
    return record_succeeded(p, extension_of(p)->register_handler(&args));
}
