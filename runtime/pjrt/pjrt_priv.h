/*
 * pjrt_priv.h - what the files of runtime/pjrt share: the opaque structs, the
 * one way to call a plugin, the translation of errors, the counts of handles.
 *
 * Boundary: included by runtime/pjrt only.
 */
#ifndef BENCH_RUNTIME_PJRT_PRIV_H
#define BENCH_RUNTIME_PJRT_PRIV_H

#include <sys/types.h>
#include <time.h>

#include "runtime/pjrt/pjrt.h"

/* The official header closes its macros with a semicolon too many. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#define RT_MAPPED_TEXT 48
/* A file as it was when it was hashed. */
typedef struct rt_identity {
    struct stat file;
    char mapped[RT_MAPPED_TEXT]; /* device and inode, as /proc/self/maps has them of a mapping */
    char sha256[BN_SHA256_TEXT];
} rt_identity;

struct rt_plugin {
    rt_plugin *next; /* list of the loaded plugins */
    rt_identity identity;
    const PJRT_Api *api;
    const struct rt_profiler_table *profiler; /* NULL where there is none */
    bn_arena *arena;                          /* path, attributes */
    rt_plugin_info *info;
};

/* The handling by a plugin of data from the host for which an order other than row-major is
 * asked for. */
typedef enum rt_ordering {
    RT_ORDERING_UNKNOWN,    /* so far */
    RT_ORDERING_REARRANGES, /* takes row-major data and rearranges it */
    RT_ORDERING_COPIES      /* notes the order and copies the bytes: they must be in that order */
} rt_ordering;

struct rt_client {
    rt_plugin *plugin;
    PJRT_Client *handle;
    bn_arena *arena; /* names, device descriptions */
    const char *platform, *platform_version;
    char *settings;              /* rt_settings_text; malloc */
    PJRT_Device *const *devices; /* the plugin's own array; buffers from the host go to the first */
    rt_device_info *infos;
    size_t device_count;
    rt_ordering ordering;
};

struct rt_topology {
    rt_plugin *plugin;
    PJRT_TopologyDescription *handle;
    bn_arena *arena; /* names, attributes */
    const char *platform;
    size_t device_count;
    rt_topology_info info;
};

struct rt_executable {
    rt_plugin *plugin;
    PJRT_LoadedExecutable *loaded; /* NULL when compiled for a topology */
    PJRT_Executable *handle;
    size_t result_count;
};

/* ---- the plugin's file (identity.c) ------------------------------------- */

/* Hashes the shared object at PATH. BN_PLUGIN for anything else. */
BN_MUST_USE bn_code rt_identity_take(const char *path, rt_identity *identity, bn_status *st);
/* BN_CHANGED where LIBRARY, which dlopen has just made of PATH, is of another file. */
BN_MUST_USE bn_code rt_identity_check_loaded(const char *path, void *library,
                                             const rt_identity *identity, bn_status *st);
/* BN_CHANGED where PATH no longer names that file as it was. Unless STRICT, another time of change
 * is allowed where the bytes are the same. */
BN_MUST_USE bn_code rt_identity_check(const char *path, const rt_identity *identity, bool strict,
                                      bn_status *st);

/* ---- calls and errors (error.c) --------------------------------------- */

/* The stage of work, which decides the class of an error without a class of
 * its own. */
enum rt_stage { RT_STAGE_OTHER, RT_STAGE_CREATE, RT_STAGE_COMPILE, RT_STAGE_EXECUTE };

/* Does PLUGIN's table, as long as the plugin says it is, hold ENTRY? */
#define RT_HAS(plugin, entry)                                                                      \
    (offsetof(PJRT_Api, entry) + sizeof((plugin)->api->entry) <= (plugin)->api->struct_size &&     \
     (plugin)->api->entry != NULL)

/* The one way to call a plugin: a bn_code, BN_NOT_SUPPORTED for an entry that
 * is not there. ARGS points to a zeroed struct with its size set (RT_ARGS). */
#define RT_CALL(plugin, entry, args, stage, st)                                                    \
    (RT_HAS(plugin, entry) ? rt_error_take((plugin), (plugin)->api->entry(args), (stage), (st))    \
                           : rt_entry_missing(#entry, (st)))

/* Initialiser of the argument struct NAME_Args: size set, fields as given, all
 * else zero. */
#define RT_ARGS(name, ...)                                                                         \
    {                                                                                              \
        .struct_size = name##_Args_STRUCT_SIZE, __VA_ARGS__                                        \
    }

/* Turns ERROR into a status and destroys it; BN_OK for NULL. The only place
 * where PJRT errors are read. ST may be NULL. */
bn_code rt_error_take(const rt_plugin *plugin, PJRT_Error *error, enum rt_stage stage,
                      bn_status *st);
bn_code rt_entry_missing(const char *entry, bn_status *st);

/* The class of an absl status code met in STAGE; the profiler's errors use the
 * same codes. */
bn_code rt_error_class(int code, enum rt_stage stage);
/* Records a foreign message of SIZE bytes as one line of text. */
bn_code rt_error_record(bn_status *st, bn_code code, const char *message, size_t size);

/* ---- live handles (live.c) -------------------------------------------- */

enum rt_live_kind {
    RT_LIVE_CLIENT,
    RT_LIVE_EXECUTABLE,
    RT_LIVE_BUFFER,
    RT_LIVE_EVENT,
    RT_LIVE_ERROR,
    RT_LIVE_TOPOLOGY,
    RT_LIVE_KIND_COUNT
};
void rt_live_add(enum rt_live_kind kind, int64_t change);

/* ---- attributes and options (attribute.c) ------------------------------ */

/* Copies SIZE bytes of text without terminator. */
char *rt_text_copy(bn_arena *arena, const char *bytes, size_t size);
/* Copies COUNT named values, printed, into ARENA; NULL for none. */
rt_attribute *rt_attributes_copy(bn_arena *arena, const PJRT_NamedValue *values, size_t count);
/* OPTIONS as the plugin wants them: a list for free that points into OPTIONS; NULL for none. */
PJRT_NamedValue *rt_options_convert(const rt_option *options, size_t count);
/* The text of rt_client_settings, for free (settings.c). */
char *rt_settings_text(const rt_option *options, size_t count);

/* ---- compiling (compile.c) --------------------------------------------- */

/* A PJRT_Program over SIZE bytes of CODE. */
PJRT_Program rt_program_wrap(const char *format, const void *code, size_t size);
/* Serialized CompileOptionsProto for OPTIONS (NULL allowed); DEVICE_ID is the
 * plugin's number of the device, or -1 for its default. *BYTES is malloced. */
BN_MUST_USE bn_code rt_compile_options_pack(const rt_compile_options *options, int64_t device_id,
                                            void **bytes, size_t *size, bn_status *st);
/* The same for THEIRS, a message of THEIR_SIZE bytes that somebody else made, for the one device
 * DEVICE_ID, with the flags of OPTIONS behind its own. */
BN_MUST_USE bn_code rt_compile_options_adopt(const void *theirs, size_t their_size,
                                             const rt_compile_options *options, int64_t device_id,
                                             void **bytes, size_t *size, bn_status *st);
/* Wraps fresh plugin objects, LOADED (may be NULL) and HANDLE (fetched from
 * LOADED when NULL). Takes them over: on failure they are destroyed. */
BN_MUST_USE bn_code rt_executable_wrap(rt_plugin *plugin, PJRT_LoadedExecutable *loaded,
                                       PJRT_Executable *handle, rt_executable **executable,
                                       bn_status *st);

#endif
