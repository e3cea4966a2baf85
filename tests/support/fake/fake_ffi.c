/*
 * fake_ffi.c - the fake's extension for handlers of foreign functions, and handlers as a
 * framework's library has them. As XLA does, it asks each handler for its version, and drops one of
 * a newer minor version than its own without an error.
 */
#include "tests/support/fake/fake.h"

/* Layouts of xla/ffi/api/c_api.h, as far as they are used here. */
typedef struct version {
    size_t struct_size;
    void *extension_start;
    int major, minor;
} version;
typedef struct state_get {
    size_t struct_size;
    void *extension_start, *context;
    int stage; /* missing in older versions */
    void *type_id, *state;
} state_get;
typedef struct old_state_get {
    size_t struct_size;
    void *extension_start, *context, *type_id, *state;
} old_state_get;
typedef void *any_call(void *args);
typedef struct table {
    size_t struct_size;
    void *extension_start;
    version version;
    const void *internal;
    any_call *calls[18]; /* the ninth is State_Get */
} table;
typedef struct metadata {
    size_t struct_size;
    version version;
} metadata;
typedef struct extension {
    size_t struct_size;
    int type;
    struct extension *next;
    metadata *metadata;
} extension;
typedef struct frame {
    size_t struct_size;
    extension *extension_start;
    const table *api;
} frame;
typedef const char *handler(frame *frame); /* an error, as words; NULL: none */

enum { MINOR = 2, MINOR_OF_HANDLERS = 5, MOST_HANDLERS = 300 };

/* ---- a library's handlers ------------------------------------------------- */

static bool asks_version(frame *f)
{
    extension *e = f->extension_start;
    if (!e || e->type != 1)
        return false;
    e->metadata->version.major = 0;
    e->metadata->version.minor = MINOR_OF_HANDLERS;
    return true;
}

EXPORT const char *fake_handler_plain(frame *f);
const char *fake_handler_plain(frame *f)
{
    return asks_version(f) ? NULL : f->api->calls[0](NULL) ? "no table of the plugin's" : NULL;
}

/* One that asks for its state, in both layouts of the arguments. */
EXPORT const char *fake_handler_state(frame *f);
const char *fake_handler_state(frame *f)
{
    state_get args = {.struct_size = sizeof args};
    old_state_get old = {.struct_size = sizeof old};
    if (asks_version(f))
        return NULL;
    const char *error = f->api->calls[8](&args);
    if (!error)
        error = f->api->calls[8](&old);
    return error ? error : args.state && old.state == args.state ? NULL : "no state";
}

/* ---- the extension ---------------------------------------------------------- */

static struct {
    char name[64];
    handler *handler;
} taken[MOST_HANDLERS];
static size_t taken_count;

static void *no_error(void *args)
{
    (void)args;
    return NULL;
}

static void *no_state(void *args)
{
    (void)args;
    return "State is not set";
}

static const table api = {.struct_size = sizeof(table),
                          .version = {.struct_size = sizeof(version), .major = 0, .minor = MINOR},
                          .calls = {[0] = no_error, [8] = no_state}};

typedef struct register_args {
    size_t struct_size;
    const char *name;
    size_t name_size;
    handler *handler;
    const char *platform;
    size_t platform_size;
    int traits;
} register_args;

static PJRT_Error *register_handler(register_args *args)
{
    metadata of = {.struct_size = sizeof of, .version = {.struct_size = sizeof of.version}};
    extension asked = {.struct_size = sizeof asked, .type = 1, .metadata = &of};
    frame f = {.struct_size = sizeof f, .extension_start = &asked, .api = &api};
    if (taken_count == MOST_HANDLERS || args->name_size >= sizeof taken[0].name ||
        args->platform_size != 4 || memcmp(args->platform, "Host", 4) != 0)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no such handler");
    if (args->handler(&f) || of.version.minor > MINOR)
        return NULL;
    memcpy(taken[taken_count].name, args->name, args->name_size);
    taken[taken_count++].handler = args->handler;
    return NULL;
}

static struct {
    PJRT_Extension_Base base;
    void *type_register, *user_data_add;
    PJRT_Error *(*register_handler)(register_args *args);
} ffi_extension = {.base = {.struct_size = sizeof ffi_extension, .type = PJRT_Extension_Type_FFI},
                   .register_handler = register_handler};

PJRT_Extension_Base *fake_ffi_extension(PJRT_Extension_Base *next)
{
    ffi_extension.base.next = next;
    return &ffi_extension.base;
}

const char *FakePjrtCall(const char *name)
{
    frame f = {.struct_size = sizeof f, .api = &api};
    for (size_t i = 0; i < taken_count; i++)
        if (strcmp(taken[i].name, name) == 0) {
            const char *error = taken[i].handler(&f);
            return error ? error : f.api == &api ? "good" : "the call's table is another one";
        }
    return "not found";
}
