/*
 * pjrt.h - a PJRT plugin behind plain C: load, client, compile, buffers,
 * executions, events, profile, topology.
 *
 * Every call zeroes its argument struct, sets its size and checks that the
 * plugin's table reaches the entry; an entry that the plugin lacks is
 * BN_NOT_SUPPORTED, never a crash. PJRT errors become bn_status in one
 * place (runtime/pjrt/error.c). Programs are StableHLO, as text or byte code, or HLO; nothing
 * here reads them or knows how they were made. Source of the ABI: pjrt_c_api.h of openxla/xla.
 *
 * Handles of buffers and events are the plugin's own objects, so the calls on
 * the timed path (rt_execute, rt_buffer_release, rt_event_*) allocate nothing.
 * Live handles are counted (rt_live): a program that gave everything back ends
 * at zero. Prefix rt_.
 */
#ifndef BENCH_RUNTIME_PJRT_H
#define BENCH_RUNTIME_PJRT_H

#include "runtime/base/base.h"

typedef struct rt_plugin rt_plugin;
typedef struct rt_client rt_client;
typedef struct rt_executable rt_executable;
typedef struct rt_buffer rt_buffer; /* the plugin's PJRT_Buffer */
typedef struct rt_event rt_event;   /* the plugin's PJRT_Event */
typedef struct rt_topology rt_topology;
typedef struct rt_profiler rt_profiler;

#define RT_MAX_RANK 32

/* Element types of buffers: the first of runtime/base/dtypes.h. */
typedef bn_dtype rt_dtype;
#define RT_DTYPE_COUNT BN_DTYPES_OF_BUFFERS

/* ---- plugin ---------------------------------------------------------- */

/*
 * Path of the plugin for NAME: a path to a shared object (anything with a
 * slash), or a runtime name (cpu, cpu-xla, cpu-fastatomstruct, tpu, cuda, sim).
 * Names are looked up in PJRT_NAMES_AND_LIBRARY_PATHS ("name:path,name:path"),
 * TPU_LIBRARY_PATH for tpu, then the places where the set-up installs wheels.
 * BN_NOT_FOUND names the places searched and the make target that fetches it.
 */
BN_MUST_USE bn_code rt_plugin_find(const char *name, char *path, size_t path_size, bn_status *st);

/* Appends where rt_plugin_find looks for the known runtime NAME, up to where it finds one. */
void rt_plugin_places(const char *name, bn_text *out);

/* Path of the recorder, a plugin that stands before another one (runtime/record/): it is next to
 * the program, as the simulated runtime does. BN_NOT_FOUND where it does not. */
BN_MUST_USE bn_code rt_recorder_find(char *path, size_t path_size, bn_status *st);

/* One known runtime name, for listings; INDEX from 0 until NULL comes back.
 * *SOURCE says where it comes from. */
const char *rt_plugin_known(size_t index, const char **source);
/* The known runtime that the field calls NAME; NULL: none. */
const char *rt_plugin_synonym(const char *name);

/*
 * Hashes the shared object at PATH (0.1-0.5 s), loads it and initialises it. Loading the same path
 * again gives the same plugin. A plugin is never unloaded (their libraries do
 * not survive it). Errors: BN_NOT_FOUND no such file; BN_PLUGIN not a shared
 * object, no GetPjrtApi, a major version that differs from ours, or its
 * initialisation failed; BN_CHANGED the file was replaced or changed meanwhile, or its digest is
 * not SHA256 (NULL: any), and then nothing of it is loaded.
 */
BN_MUST_USE bn_code rt_plugin_load(const char *path, const char *sha256, rt_plugin **plugin,
                                   bn_status *st);

/* Whether a shared object lies at PATH, without loading it: BN_INVALID for a folder or a device,
 * BN_PLUGIN for another file. */
BN_MUST_USE bn_code rt_plugin_probe(const char *path, bn_status *st);

typedef struct rt_attribute {
    const char *name;
    enum { RT_ATTR_STRING, RT_ATTR_INT, RT_ATTR_INTS, RT_ATTR_FLOAT, RT_ATTR_BOOL } kind;
    const char *text; /* every kind, printed; ints as "1.2.3" */
    int64_t integer;  /* INT and BOOL; for INTS the first one */
    double real;      /* FLOAT */
} rt_attribute;

/* Properties of a loaded plugin; all owned by the plugin, valid for good. */
typedef struct rt_plugin_info {
    const char *path;            /* resolved */
    char sha256[BN_SHA256_TEXT]; /* of the file that was loaded */
    int api_major, api_minor;    /* the plugin's */
    size_t api_bytes;            /* size of its function table */
    bool has_profiler;
    const rt_attribute *attributes;
    size_t attribute_count;
} rt_plugin_info;

const rt_plugin_info *rt_plugin_describe(const rt_plugin *plugin);
/* BN_CHANGED where the plugin's path no longer names the file that was loaded, as it was then: what
 * was measured may be of a file that was written over. */
BN_MUST_USE bn_code rt_plugin_check_file(const rt_plugin *plugin, bn_status *st);

/* ---- a plugin's file that another process loads (identity.c) ----------- */

/* A file as it was when it was hashed. */
typedef struct rt_plugin_file rt_plugin_file;

/* Hashes the shared object at PATH (0.1-0.5 s), without loading it. To be freed. Errors as of
 * rt_plugin_probe. */
BN_MUST_USE bn_code rt_plugin_file_take(const char *path, rt_plugin_file **file, bn_status *st);
void rt_plugin_file_free(rt_plugin_file *file);
const char *rt_plugin_file_sha256(const rt_plugin_file *file);
/* BN_CHANGED where the path no longer names FILE with the same size and times: who has loaded the
 * path since FILE was taken may have loaded another file. */
BN_MUST_USE bn_code rt_plugin_file_check(const rt_plugin_file *file, bn_status *st);
/* For a path that is known only after it was loaded: BN_CHANGED where FILE was written, renamed or
 * given other rights at EPOCH_NS, ns since 1970, or later. It may not be what lay there then. */
BN_MUST_USE bn_code rt_plugin_file_check_since(const rt_plugin_file *file, uint64_t epoch_ns,
                                               bn_status *st);

/* ---- client ---------------------------------------------------------- */

typedef struct rt_option {
    const char *name;
    enum { RT_OPTION_STRING, RT_OPTION_INT, RT_OPTION_FLOAT, RT_OPTION_BOOL } kind;
    const char *string;
    int64_t integer; /* also BOOL: 0 or 1 */
    float real;
} rt_option;

/* Parses "name=value" into *OPTION (a whole number is INT, true/false BOOL, a
 * decimal number FLOAT, anything else STRING; a number that its kind cannot
 * hold is BN_INVALID). NAME and STRING point into TEXT,
 * which is changed. */
BN_MUST_USE bn_code rt_option_parse(char *text, rt_option *option, bn_status *st);

/* A client on the plugin's addressable devices, OPTIONS as given: nothing is
 * added. What a plugin makes of an option it does not know is its own affair:
 * some refuse, some ignore it. */
BN_MUST_USE bn_code rt_client_create(rt_plugin *plugin, const rt_option *options, size_t count,
                                     rt_client **client, bn_status *st);
void rt_client_destroy(rt_client *client); /* NULL allowed */

/* All that executables of this client depend on besides program and plugin, as text: its options,
 * in order of their names, and the environment as it was when the client was made. Files that
 * values name count by their contents. The client's. */
const char *rt_client_settings(const rt_client *client);
/* The variables of the environment that plugins read when they compile, INDEX from 0 until false;
 * *VALUE is NULL where it is not set. */
bool rt_environment(size_t index, const char **name, const char **value);
/* The SHA-256 of the regular file that VALUE, of an option or a variable, names; "" where it names
 * none that can be read. */
void rt_named_contents(const char *value, char digest[BN_SHA256_TEXT]);

/* The plugin the client was made on. */
rt_plugin *rt_client_plugin(const rt_client *client);

const char *rt_client_platform(const rt_client *client);
const char *rt_client_platform_version(const rt_client *client);
size_t rt_client_device_count(const rt_client *client); /* addressable */

typedef struct rt_device_info {
    int id;
    const char *kind;        /* "cpu", "TPU v4", ... */
    const char *description; /* as the plugin prints it */
    const rt_attribute *attributes;
    size_t attribute_count;
    const char *const *memory_kinds;
    size_t memory_kind_count;
} rt_device_info;

/* INDEX below rt_client_device_count, else NULL; owned by the client. */
const rt_device_info *rt_client_device(const rt_client *client, size_t index);

/* Bytes in use and the limit of a device's memory; BN_NOT_SUPPORTED where the
 * plugin does not report them. Missing figures are -1. */
typedef struct rt_device_memory {
    int64_t bytes_in_use, peak_bytes_in_use, bytes_limit;
} rt_device_memory;
BN_MUST_USE bn_code rt_client_memory(const rt_client *client, size_t device,
                                     rt_device_memory *memory, bn_status *st);

/* ---- executables ----------------------------------------------------- */

typedef struct rt_compile_options {
    int device;               /* index of the addressable device; 0 by default */
    const char *const *flags; /* XLA options "name=value", as in XLA_FLAGS; empty by default */
    size_t flag_count;
} rt_compile_options;

/* A program as it goes to the plugin. */
typedef struct rt_program {
    /* "mlir": StableHLO as text or as byte code; "hlo": a serialized HloModuleProto;
     * "executable": what rt_executable_serialize gave on the same build. */
    const char *format;
    const void *code;
    size_t size;
    /* The serialized CompileOptionsProto that somebody else compiled it with; NULL: none. Of one
     * partition; ignored for an executable. */
    const void *options;
    size_t options_size;
} rt_program;
/* How many replicas the SIZE bytes of somebody else's compile OPTIONS ask for; 1 where they are
 * none or do not say. */
int64_t rt_options_replicas(const void *options, size_t size);
/* Compiles PROGRAM, or loads it where it is an executable. OPTIONS may be NULL. A program or an
 * option that the compiler refuses is BN_COMPILE, with line and column of the program; lack of
 * memory is BN_OUT_OF_MEMORY. Foreign options go to the plugin as they are, but for the device,
 * which becomes that of OPTIONS alone, one replica, and with the flags of OPTIONS behind them.
 * BN_FORMAT where they are no CompileOptionsProto, BN_NOT_SUPPORTED where they want several
 * partitions. */
BN_MUST_USE bn_code rt_compile_program(rt_client *client, const rt_program *program,
                                       const rt_compile_options *options,
                                       rt_executable **executable, bn_status *st);
void rt_executable_destroy(rt_executable *executable); /* NULL allowed */
size_t rt_executable_result_count(const rt_executable *executable);

/* Bytes from which rt_executable_load makes the same executable again, on the
 * same plugin build. *BYTES is malloced. A plugin may not notice damaged bytes:
 * the caller keeps a digest with them. */
BN_MUST_USE bn_code rt_executable_serialize(const rt_executable *executable, void **bytes,
                                            size_t *size, bn_status *st);
BN_MUST_USE bn_code rt_executable_load(rt_client *client, const void *bytes, size_t size,
                                       rt_executable **executable, bn_status *st);

/* Figures of the compiled program; -1 where the plugin does not report them. XLA for
 * CPU counts no code (so -1), and all estimates are the compiler's, not
 * measured. */
typedef struct rt_executable_stats {
    int64_t code_bytes, argument_bytes, result_bytes, alias_bytes, temp_bytes, peak_bytes;
    int64_t host_argument_bytes, host_result_bytes, host_temp_bytes; /* in the host's memory */
    double flops, bytes_accessed, optimal_seconds;
    /* Reported by a simulated device: values 1 results are computed, 0 they are zeros; opaque 1 it
     * could not read the program, and uses the stated time and sizes. */
    double simulated_values, simulated_opaque;
} rt_executable_stats;
void rt_executable_describe(const rt_executable *executable, rt_executable_stats *stats);

/* A result of a program: what it is, and in which memory it lies. */
typedef struct rt_result {
    rt_dtype dtype; /* RT_DTYPE_COUNT: one that is not here, and BYTES is -1 */
    size_t rank;
    int64_t dims[RT_MAX_RANK];
    int64_t bytes;   /* of the dense contents */
    char memory[32]; /* "device", "pinned_host"; "" where the plugin does not report it */
} rt_result;
/* All results, rt_executable_result_count of them, in *LIST (malloc). BN_NOT_SUPPORTED where the
 * plugin does not report types, BN_PLUGIN where its lists do not fit together. */
BN_MUST_USE bn_code rt_executable_results(const rt_executable *executable, rt_result **list,
                                          bn_status *st);

/* The plugin's fingerprint as text (malloc), or BN_NOT_SUPPORTED. */
BN_MUST_USE bn_code rt_executable_fingerprint(const rt_executable *executable, char **text,
                                              bn_status *st);
/* The optimized program in the plugin's own format ("hlo", "hlo_with_config",
 * "mlir"), malloced; FORMAT gets the name. */
BN_MUST_USE bn_code rt_executable_optimized(const rt_executable *executable, char format[32],
                                            void **bytes, size_t *size, bn_status *st);

/* A digest of an optimized program. SUM is the same for the same program in every
 * process of one build; digests of several programs may be added up. */
typedef struct rt_program_digest {
    uint64_t sum[2];
    int64_t bytes;        /* of the program as the plugin gives it */
    int64_t instructions; /* of an HLO module, in all computations; -1: another format */
} rt_program_digest;
BN_MUST_USE bn_code rt_executable_digest(const rt_executable *executable, rt_program_digest *digest,
                                         bn_status *st);
/* DIGEST's sum as 32 hex digits. */
#define RT_DIGEST_TEXT 33
void rt_program_digest_put(const rt_program_digest *digest, char text[RT_DIGEST_TEXT]);
/* The digest of BYTES, which rt_executable_optimized gave with FORMAT. */
void rt_program_digest_of(const char *format, const void *bytes, size_t size,
                          rt_program_digest *digest);

/* ---- executions ------------------------------------------------------ */

/*
 * Submits one execution on the executable's device and returns without waiting
 * (the plugin may run tiny programs inline). ARGUMENTS are COUNT buffers in
 * the program's order; RESULTS has room for rt_executable_result_count handles,
 * which the caller owns. An argument that the program donates is consumed: its
 * contents are gone, its handle must still be released. With KEEP (may be NULL,
 * ascending argument indices) those arguments are not donated for this call.
 * *DONE, unless DONE is NULL, is an event that fires at completion; the caller
 * releases it. After a failure RESULTS are NULL, and rt_buffer_is_deleted says which
 * arguments were consumed. The caller checks the types of arguments: a plugin
 * accepts another type of the same size. Allocates nothing of ours. Thread rule:
 * one thread per client.
 */
BN_MUST_USE bn_code rt_execute(rt_executable *executable, rt_buffer *const *arguments, size_t count,
                               const int64_t *keep, size_t keep_count, rt_buffer **results,
                               rt_event **done, bn_status *st);

/* ---- buffers --------------------------------------------------------- */

/* A device buffer with a copy of the dense row-major DATA, which may be reused
 * when the call returns (it waits for that). */
BN_MUST_USE bn_code rt_buffer_from_host(rt_client *client, const void *data, rt_dtype dtype,
                                        const int64_t *dims, size_t rank, rt_buffer **buffer,
                                        bn_status *st);
/* As above without waiting: DATA must stay unchanged until *HOST_DONE fires. */
BN_MUST_USE bn_code rt_buffer_from_host_async(rt_client *client, const void *data, rt_dtype dtype,
                                              const int64_t *dims, size_t rank, rt_buffer **buffer,
                                              rt_event **host_done, bn_status *st);
/* As rt_buffer_from_host, for a device that is to lay the copy out by ORDER, RANK dimensions with
 * the most minor first. The buffer is read back: BN_NOT_SUPPORTED where the plugin does not lay it
 * out so. */
BN_MUST_USE bn_code rt_buffer_from_host_laid_out(rt_client *client, const void *data,
                                                 rt_dtype dtype, const int64_t *dims, size_t rank,
                                                 const int64_t *order, rt_buffer **buffer,
                                                 bn_status *st);
/* Copies the buffer to DATA (dense row-major) and waits for it. SIZE must be
 * the size of the contents; a donated buffer is BN_INVALID. */
BN_MUST_USE bn_code rt_buffer_to_host(rt_client *client, rt_buffer *buffer, void *data, size_t size,
                                      bn_status *st);
BN_MUST_USE bn_code rt_buffer_type(rt_client *client, rt_buffer *buffer, rt_dtype *dtype,
                                   int64_t dims[RT_MAX_RANK], size_t *rank, bn_status *st);
/* Waits until the buffer's contents are there; an execution error shows here. */
BN_MUST_USE bn_code rt_buffer_await(rt_client *client, rt_buffer *buffer, bn_status *st);
bool rt_buffer_is_deleted(rt_client *client, rt_buffer *buffer);
/* Appends to OUT how the contents lie in the device's memory, as XLA writes it, "{0,1:T(8,128)}";
 * nothing for a scalar. *BY_ROWS: the last dimension is the most minor one, and so on.
 * BN_NOT_SUPPORTED where the plugin reports strides, or no valid order. */
BN_MUST_USE bn_code rt_buffer_layout(rt_client *client, rt_buffer *buffer, bn_text *out,
                                     bool *by_rows, bn_status *st);
/* The same as ORDER[RANK], the most minor dimension first, without tiles; RANK is the buffer's. */
BN_MUST_USE bn_code rt_buffer_order(rt_client *client, rt_buffer *buffer, int64_t *order,
                                    size_t rank, bn_status *st);
/* Whether ORDER is that of dense rows, the last dimension first; whether it names each of RANK
 * dimensions once. */
bool rt_order_is_by_rows(const int64_t *order, size_t rank);
bool rt_order_is_one(const int64_t *order, size_t rank);
/* Where the contents lie in the device's memory. A result that took over the memory of a
 * donated argument has the argument's address. */
BN_MUST_USE bn_code rt_buffer_address(rt_client *client, rt_buffer *buffer, uintptr_t *address,
                                      bn_status *st);
/* Gives the handle back; NULL allowed. Can block while the buffer is in use:
 * keep it off the timed path, or time it. */
void rt_buffer_release(rt_client *client, rt_buffer *buffer);

/* ---- events ---------------------------------------------------------- */

/* Waits; the event's own error becomes the status. */
BN_MUST_USE bn_code rt_event_await(rt_client *client, rt_event *event, bn_status *st);
/* Completes DONE when EVENT fires, from a thread of the plugin's, at once or milliseconds late. The
 * event may be released before. DONE stays until the client is destroyed. BN_NOT_SUPPORTED where
 * the plugin does not call back. */
BN_MUST_USE bn_code rt_event_watch(rt_client *client, rt_event *event, bn_completion *done,
                                   bn_status *st);
void rt_event_release(rt_client *client, rt_event *event); /* NULL allowed */

/* ---- profiler -------------------------------------------------------- */

/* Starts the plugin's own profiler; BN_NOT_SUPPORTED where there is none. PROGRAMS: the profile is
 * to carry the optimized programs, which say what op each kernel of a GPU was made of. */
BN_MUST_USE bn_code rt_profiler_start(rt_plugin *plugin, bool programs, rt_profiler **profiler,
                                      bn_status *st);
/* Stops it and collects; the profiler is destroyed in every case. *XSPACE is a
 * malloced serialized XSpace message (runtime/profile/profile.h reads it). */
BN_MUST_USE bn_code rt_profiler_finish(rt_profiler *profiler, void **xspace, size_t *size,
                                       bn_status *st);

/* ---- ahead of time --------------------------------------------------- */

/* A topology by the plugin's name for it ("v4:2x2x1"); an empty name is
 * refused. */
BN_MUST_USE bn_code rt_topology_create(rt_plugin *plugin, const char *name,
                                       const rt_option *options, size_t count,
                                       rt_topology **topology, bn_status *st);
void rt_topology_destroy(rt_topology *topology); /* NULL allowed */
const char *rt_topology_platform(const rt_topology *topology);
size_t rt_topology_device_count(const rt_topology *topology);
/* The plugin's description of a topology and of its first device; all owned by the topology. What
 * it does not report is "" or none. */
typedef struct rt_topology_info {
    const char *kind; /* "TPU v4" */
    const rt_attribute *attributes, *device_attributes;
    size_t attribute_count, device_attribute_count;
    int64_t memory_bytes; /* of a device, "device_memory_bytes_limit"; -1: unknown */
} rt_topology_info;
const rt_topology_info *rt_topology_describe(const rt_topology *topology);
/* Compiles for a topology, without a device: the executable can be described,
 * serialized and inspected, not executed. BN_OUT_OF_MEMORY: the device has too little memory, as
 * the compiler counts it. Never load what was serialized without a client: libtpu ends the process.
 * An executable is BN_NOT_SUPPORTED as PROGRAM, whose own options are ignored: they are for another
 * device. */
BN_MUST_USE bn_code rt_topology_compile_program(rt_topology *topology, const rt_program *program,
                                                const rt_compile_options *options,
                                                rt_executable **executable, bn_status *st);

/* ---- leak check ------------------------------------------------------ */

typedef struct rt_live_counts {
    int64_t clients, executables, buffers, events, errors, topologies;
} rt_live_counts;
/* Handles of this process not yet released, over all plugins. Thread-safe. */
rt_live_counts rt_live(void);

#endif
