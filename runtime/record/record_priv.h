/*
 * record_priv.h - what the files of the recorder share.
 *
 * From top to bottom, each file calls only those below it: entry.c (GetPjrtApi), preload.c
 * (dlsym), plugin.c (the plugins it stands before, and their tables), calls_execute.c,
 * calls_compile.c, calls_buffer.c, calls_transfer.c (the replaced calls), mark.c (what the program
 * says), python.c (what the program's Python asks and has), context.c (contexts of executions),
 * ffi.c (foreign functions), profile.c (the plugin's profiler), executables.c (descriptions of
 * executables), complete.c (callbacks), events.c (one event), delay.c (run delays of threads),
 * gate.c (which part of a run is recorded), about.c (texts), programs.c (files of programs), file.c
 * (events into slots), segments.c (where slots lie, and room for them), disk.c (file systems and
 * descriptors), ahead.c (a thread for these), lock.c (locks), symbol.c (the C library's dlsym).
 *
 * A failure in here stops the recording, never the program, which gets the plugin's answer.
 */
#ifndef BENCH_RUNTIME_RECORD_PRIV_H
#define BENCH_RUNTIME_RECORD_PRIV_H

#include "runtime/record/format.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#define RECORD_EXPORT __attribute__((visibility("default")))

/* 0: slots are written by system calls, as on file systems whose promises are not known. */
#define RECORD_ENV_MAPPED "BENCH_RECORD_MAPPED"

enum {
    RECORD_PLUGINS = 8,  /* recorded in one process; further ones are only forwarded to */
    RECORD_DEVICES = 128 /* of one execution; one with more is only counted, as lost */
};

/* ---- plugins -------------------------------------------------------------------------------- */

typedef const PJRT_Api *record_get(void);

/* A plugin that the recorder stands before. Its number is its place in record_plugins. */
typedef struct record_plugin {
    _Atomic(record_get *) get;      /* its GetPjrtApi; NULL: the place is free */
    _Atomic(const PJRT_Api *) ours; /* the table that is handed out */
    const PJRT_Api *api;            /* its own table */
    bool has_on_ready;              /* whether ends of executions can be seen */
    _Atomic unsigned described_in;  /* in which file its PLUGIN event is */
    _Atomic bool unseen;            /* it was counted among those that are not recorded */
    _Atomic unsigned quiet;         /* executions since something was compiled; profile.c */
    _Atomic bool no_profiler;       /* likewise */
    _Atomic bool has_handlers;      /* of the program's framework; python.c */
} record_plugin;

extern record_plugin record_plugins[RECORD_PLUGINS];

static inline unsigned record_plugin_number(const record_plugin *p)
{
    return (unsigned)(p - record_plugins);
}

/* Whether the plugin's table has PJRT_NAME. */
#define RECORD_HAS(p, name)                                                                        \
    ((p)->api->struct_size >= offsetof(PJRT_Api, PJRT_##name) + sizeof(void *) &&                  \
     (p)->api->PJRT_##name)

/* Arguments for a call of our own: RECORD_ARGS(Buffer_Device, args, .buffer = b); */
#define RECORD_ARGS(name, variable, ...)                                                           \
    PJRT_##name##_Args variable = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE, __VA_ARGS__}

/* Whether a call of our own returned no ERROR; destroys it. */
static inline bool record_succeeded(const record_plugin *p, PJRT_Error *error)
{
    if (!error)
        return true;
    RECORD_ARGS(Error_Destroy, args, .error = error);
    p->api->PJRT_Error_Destroy(&args);
    return false;
}

/* Whether the plugin says that BUFFER's memory is gone. It has PJRT_Buffer_IsDeleted. */
static inline bool record_is_deleted(const record_plugin *p, PJRT_Buffer *buffer)
{
    RECORD_ARGS(Buffer_IsDeleted, args, .buffer = buffer);
    return record_succeeded(p, p->api->PJRT_Buffer_IsDeleted(&args)) && args.is_deleted;
}

/* ---- replaced calls (calls_*.c) ---------------------------------------------------------------
 */

#define RECORD_CALLS(X, n)                                                                         \
    X(n, Client_Create)                                                                            \
    X(n, Client_Compile)                                                                           \
    X(n, Compile)                                                                                  \
    X(n, Executable_DeserializeAndLoad)                                                            \
    X(n, Executable_Destroy)                                                                       \
    X(n, LoadedExecutable_Execute)                                                                 \
    X(n, LoadedExecutable_Destroy)                                                                 \
    X(n, ExecuteContext_Destroy)                                                                   \
    X(n, Client_BufferFromHostBuffer)                                                              \
    X(n, Client_CreateUninitializedBuffer)                                                         \
    X(n, Client_CreateViewOfDeviceBuffer)                                                          \
    X(n, Client_CreateAliasBuffer)                                                                 \
    X(n, Client_CreateBuffersForAsyncHostToDevice)                                                 \
    X(n, AsyncHostToDeviceTransferManager_RetrieveBuffer)                                          \
    X(n, AsyncHostToDeviceTransferManager_TransferData)                                            \
    X(n, Buffer_CopyToDevice)                                                                      \
    X(n, Buffer_CopyToMemory)                                                                      \
    X(n, Buffer_ToHostBuffer)                                                                      \
    X(n, Buffer_CopyRawToHost)                                                                     \
    X(n, Buffer_IncreaseExternalReferenceCount)                                                    \
    X(n, Buffer_Destroy)                                                                           \
    X(n, Buffer_Delete)                                                                            \
    X(n, Event_Await)

#define X(n, name) PJRT_Error *record_##name(record_plugin *p, PJRT_##name##_Args *caller);
RECORD_CALLS(X, )
#undef X

/*
 * Calls that the header may be too old for: what is needed of them stands here, under names of our
 * own. The table grows at its end, by an entry of 8 bytes: PLACE counts them from
 * PJRT_LoadedExecutable_GetDeviceAssignment on. Each came with the version 0.MINOR. Both are where
 * they should be in a plugin of version 0.115. PJRT_Buffer_CopyRawFromHost is not: it came with
 * 0.105 as the eighteenth, and 0.115 has PJRT_Device_ClearMemoryStats there.
 */
typedef struct record_literal_args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    const void *data;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Event *done_with_h2d_transfer; /* out */
} record_literal_args;
typedef struct record_load_args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Client *client;
    PJRT_Executable *executable;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_LoadedExecutable *loaded_executable; /* out */
} record_load_args;

/* X(n, name, its struct, place, minor) */
#define RECORD_LATER_CALLS(X, n)                                                                   \
    X(n, AsyncHostToDeviceTransferManager_TransferLiteral, record_literal_args, 2, 83)             \
    X(n, Client_Load, record_load_args, 12, 95)
#define RECORD_LATER_OFFSET(place)                                                                 \
    (offsetof(PJRT_Api, PJRT_LoadedExecutable_GetDeviceAssignment) + (place) * sizeof(void *))
_Static_assert(RECORD_LATER_OFFSET(12) == 1072, "where PJRT_Client_Load is in all tables");

/* The replaced call, and the plugin's own. */
#define X(n, name, type, place, minor)                                                             \
    PJRT_Error *record_##name(record_plugin *p, type *args);                                       \
    static inline PJRT_Error *record_forward_##name(const record_plugin *p, type *args)            \
    {                                                                                              \
        PJRT_Error *(*function)(type *);                                                           \
        memcpy(&function, (const char *)p->api + RECORD_LATER_OFFSET(place), sizeof function);     \
        return function(args);                                                                     \
    }
RECORD_LATER_CALLS(X, )
#undef X

/*
 * Callers that were built with an older header give shorter structs, which a newer plugin may
 * refuse, although it only misses zeros. So the plugin gets a struct of this header's size:
 * the caller's own where it is long enough, else COPY of WHOLE bytes, with zeros behind. NULL where
 * the caller does not tell a size that could be true: its struct goes on as it is, and the call is
 * counted as lost.
 */
static inline void *record_widen(void *caller, void *copy, size_t whole)
{
    size_t size = *(const size_t *)caller;
    if (size >= whole)
        return caller;
    if (size < 2 * sizeof(size_t))
        return NULL;
    memset(copy, 0, whole);
    memcpy(copy, caller, size);
    *(size_t *)copy = whole;
    return copy;
}

/* Behind the call: what the plugin wrote into the copy, as far as the caller knows of it. */
static inline void record_narrow(void *caller, const void *used)
{
    size_t size = *(const size_t *)caller;
    if (caller != used)
        memcpy((char *)caller + sizeof size, (const char *)used + sizeof size, size - sizeof size);
}

/* Head of a replaced call: ARGS is the struct for the plugin. Where nothing is to be recorded, it
 * calls and returns. Calls of RECORD_CALL_KEPT are recorded while the gate is shut, too. */
#define RECORD_CALL(p, name, caller, args)      RECORD_CALL_IF(record_gate_open(), p, name, caller, args)
#define RECORD_CALL_KEPT(p, name, caller, args) RECORD_CALL_IF(true, p, name, caller, args)
#define RECORD_CALL_IF(open, p, name, caller, args)                                                \
    PJRT_##name##_Args args##_copy,                                                                \
        *args = record_widen(caller, &args##_copy, PJRT_##name##_Args_STRUCT_SIZE);                \
    if (!args) {                                                                                   \
        record_lost_call(p);                                                                       \
        return (p)->api->PJRT_##name(caller);                                                      \
    }                                                                                              \
    if (!(open) || !record_active()) {                                                             \
        PJRT_Error *error_ = (p)->api->PJRT_##name(args);                                          \
        record_narrow(caller, args);                                                               \
        return error_;                                                                             \
    }

/* ---- gate.c -----------------------------------------------------------------------------------
 */

/* Whether a part of the run is asked for; else the gate is open. */
extern _Atomic bool record_gate_asked, record_gate_shut;
static inline bool record_gate_is_asked(void)
{
    return atomic_load_explicit(&record_gate_asked, memory_order_relaxed);
}
/* Reads the environment, once, behind record_settings. */
void record_gate_settings(void);
static inline bool record_gate_open(void)
{
    return !atomic_load_explicit(&record_gate_shut, memory_order_relaxed);
}
/* Follows the clock and the signal, if these are waited for. */
void record_gate_look(void);
/* Puts a PART, where a part is asked for. The file has begun. */
void record_gate_put(void);
/* Whether it counts executions of programs by their names. */
bool record_gate_names(void);
/* A program is to be executed whose name has the hash NAME, which is unused where none is asked
 * for; the program marks that NAME begins. */
void record_gate_execution(uint64_t name);
void record_gate_mark(const char *name);

/* ---- clocks --------------------------------------------------------------------------------- */

static inline uint64_t record_clock(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t record_now(void)
{
    return record_clock(CLOCK_MONOTONIC);
}

/* A call in time. */
typedef struct record_span {
    uint64_t begin, end, cpu_begin, cpu_end;
} record_span;

/* ---- ahead.c -------------------------------------------------------------------------------- */

typedef void record_work(uint64_t what);

/* Starts a thread that does WORK when it is asked to, if the system allows it. */
void record_ahead_begin(record_work *work);
/* For the latest WHAT alone, where several are asked for. */
void record_ahead_ask(uint64_t what);
/* A forked process has no such thread. */
void record_ahead_forked(void);

/* ---- disk.c --------------------------------------------------------------------------------- */

/* Whether the process's limit allows a file of BYTES: beyond it, a write sends a signal. */
bool record_disk_allows(uint64_t bytes);
/* Whether writes through a mapping of FD's reserved blocks cannot fail. On file systems that copy
 * on write, or are on a network, they can. */
bool record_disk_maps_safely(int fd);

/* FD, or another descriptor of its file in place of 0 to 2, which it had because the program was
 * started without: what the program prints must not go into a file of ours. -1, with errno, where
 * there is none. */
int record_above_standard(int fd);

/* A descriptor, and the file it is of: a program that closes all descriptors, as services do, would
 * have its own files written over. */
typedef struct record_opened {
    _Atomic int fd;
    int flags;
    dev_t device;
    ino_t inode;
    char path[PATH_MAX];
} record_opened;
/* Takes FD, which was opened at PATH with FLAGS and may be -1. False for -1, and where its file
 * cannot be identified. */
bool record_opened_set(record_opened *o, int fd, const char *path, int flags);
/* Where it is not that file's any more, the file is opened again; -1 where it cannot be. */
int record_opened_get(record_opened *o);
void record_opened_close(record_opened *o);
/* Whether all SIZE bytes were written at OFFSET; if not, errno says why. It sends no signal. */
bool record_opened_write(record_opened *o, const void *data, size_t size, uint64_t offset);

/* ---- lock.c ---------------------------------------------------------------------------------- */

/* Locks, none of which is held while a plugin is called. While the first is held the second and the
 * third may be taken, while the second is held the third; else none while another one is held. */
enum record_lock_name {
    RECORD_LOCK_PROGRAMS,
    RECORD_LOCK_RETIRE, /* held for as long as a segment takes to be read: tenths of a second */
    RECORD_LOCK_FILE,
    RECORD_LOCK_EXECUTABLES,
    RECORD_LOCK_PLUGINS,
    RECORD_LOCKS
};
void record_lock(enum record_lock_name name);
void record_unlock(enum record_lock_name name);
/* Around a fork, whose child finds all of them free. */
void record_lock_all(void);
void record_unlock_all(void);

/* ---- segments.c: where slots lie --------------------------------------------------------------
 */

/* There is no room within the limit; no error number is so. */
#define RECORD_NO_ROOM  (-1)
/* More than ever live at once: a segment is more than a sixteenth of the limit. */
#define RECORD_SEGMENTS 16

/* Slots are numbered from 0. The file "events" has the first ones, then each segment as many as
 * every other. */
typedef struct record_slots_table {
    uint64_t limit;       /* bytes of all files of a process */
    uint64_t first;       /* slots of "events": a multiple of SEGMENT */
    uint64_t segment;     /* slots, a power of two */
    unsigned shift;       /* its logarithm */
    unsigned chunk_shift; /* the logarithm of the slots by which files grow at once */
    _Atomic bool mapped;
    _Atomic uint64_t ready;                       /* slots below may be filled */
    _Atomic uint64_t live;                        /* segments below (SLOT >> SHIFT) are retired */
    _Atomic(uint8_t *) begin;                     /* of "events"; NULL: not mapped */
    _Atomic(uint8_t *) segments[RECORD_SEGMENTS]; /* likewise, by their numbers modulo that */
    /* Others write here all the time. */
    _Alignas(64) _Atomic uint64_t next; /* slot that is taken next */
    _Alignas(64) _Atomic uint64_t used; /* bytes that files take; of "events" all, from the begin */
} record_slots_table;
extern record_slots_table record_slots;

/* Where SLOT, of a mapped file, is written; those of its event follow. NULL: it is retired. */
static inline void *record_slot(uint64_t slot)
{
    record_slots_table *s = &record_slots;
    if (slot < s->first)
        return atomic_load_explicit(&s->begin, memory_order_acquire) + slot * RECORD_SLOT;
    const uint64_t number = slot >> s->shift;
    uint8_t *at =
        atomic_load_explicit(&s->segments[number % RECORD_SEGMENTS], memory_order_acquire);
    /* Behind the place, which may be a newer segment's: that was made when this one was retired. */
    if (number < atomic_load_explicit(&s->live, memory_order_relaxed))
        return NULL;
    return at + (slot & (s->segment - 1)) * RECORD_SLOT;
}

/* Sets the sizes of files for LIMIT bytes, once. */
void record_slots_limit(uint64_t limit);
/* There are no files: in a forked process, whose parent goes on with them. */
void record_slots_forget(void);
/* Makes the file "events" with HEAD in FOLDER, which has the path PATH and is taken; MAPPED: it may
 * be mapped. Under the lock RECORD_LOCK_FILE, as the next two. 0, or an error number. */
int record_slots_begin(int folder, const char *path, const record_file *head, bool mapped);
/* Nothing will be written, and the head says WHY. */
void record_slots_fail(enum record_stop why);
/* Makes files so long that slot LAST may be filled. 0, RECORD_NO_ROOM, or an error number. */
int record_slots_grow(uint64_t last);
/* Writes SIZE bytes from SLOT on, which are of one event, to the file that is not mapped. 0,
 * ECANCELED where they are retired, or an error number. */
int record_slots_write(uint64_t slot, const void *data, size_t size);
/* The process's folder; -1 where there is none any more. */
int record_folder(void);

/* Adds LOST to the count in the head, and says there why the recording has stopped. */
void record_head_tell(uint64_t lost, enum record_stop why);
/* Says there how many plugins are not recorded. Under the lock RECORD_LOCK_FILE. */
void record_head_unseen(uint32_t plugins);

/* Takes BYTES of the limit, where as many as WANTED are free. */
bool record_room_take(uint64_t bytes, uint64_t wanted);
/* Releases room that was not used. */
void record_room_back(uint64_t bytes);
/* Whether BYTES would be free if all segments were retired that may be. */
bool record_room_possible(uint64_t bytes);
/* Retires the oldest segment, unless BYTES are free. 0, RECORD_NO_ROOM where none may be retired,
 * or an error number. */
int record_retire(uint64_t bytes);

/* ---- file.c --------------------------------------------------------------------------------- */

/* Reads the environment, once, and prepares for forks. */
void record_settings(void);
/* Whether calls are to be recorded. A call that is not, because the recording has stopped, counts
 * as lost. */
bool record_active(void);
/* Whether the recording goes on, or may begin yet; unlike record_active it counts nothing. */
bool record_goes_on(void);
/* Whether the process has a folder to record into, or may make one. */
bool record_wanted(void);
/* False before the process's first event. Releases of handles that a forked process inherited are
 * no reason to begin a file. */
bool record_has_begun(void);
bool record_cpu_wanted(void);

/* Makes the process's folder and file where there are none. Whether there are; *FRESH: this call
 * made them. */
bool record_file_begin(bool *fresh);
/* The number of the file, from 1; a forked process begins another one. */
unsigned record_file_number(void);
/* The number of an execution or transfer. */
uint64_t record_next_number(void);

/* Slots that were taken for an event with BYTES of words; false: it is lost. What is taken must be
 * filled; an event's place among others is where it was taken. */
typedef struct record_place {
    uint64_t first;
    uint32_t more;
    uint32_t thread; /* of record_open: the calling one */
} record_place;
bool record_take(size_t bytes, record_place *place);
/* EVENT but for its MORE, and the words in COUNT parts, as many bytes as were taken. */
void record_fill(const record_place *place, record_event event, const struct iovec *parts,
                 size_t count);

/* Sets number INDEX of the event at PLACE, which counts its fields and then its words, to VALUE:
 * unless another slot was taken since, the file is not mapped or is not NUMBER any more. */
bool record_append(unsigned number, const record_place *place, size_t index, uint64_t value);

/* Room for BYTES of another file in the process's folder, or false: it would be too much. WHOLE:
 * it may take all that is left, and that of old segments; else half of what is left. */
bool record_room(uint64_t bytes, bool whole);
/* Counts an event that is not written as lost. */
void record_count_lost(void);
/* Counts a plugin of which nothing is recorded, in this file or the next one. */
void record_plugin_unseen(void);
/* Ends the recording. */
void record_stop_for(enum record_stop why);
/* The reason in an error number of the file system. */
enum record_stop record_stop_of(int error);

/* ---- programs.c ----------------------------------------------------------------------------- */

typedef struct record_hash {
    uint64_t high, low;
} record_hash;

/* Keeps SIZE bytes in programs/HASH.FORM, once. The hash; zeros where they were not kept. The file
 * has begun. */
record_hash record_keep(const char *form, const void *bytes, size_t size);
/* A hash of the name of a program; 0 of none. */
uint64_t record_name_hash(const char *name, size_t length);
/* Keeps HEAD and the HEAD->size BYTES as the file "profile", in place of one that is there, and
 * sets HEAD->end_ns to when they were written; or HEAD alone, as it is, where BYTES is NULL.
 * RECORD_PROFILED, _NO_ROOM or _UNWRITTEN; the recording goes on. One thread at a time. */
enum record_no_profile record_keep_profile(record_profile *head, const void *bytes);

/* ---- python.c ------------------------------------------------------------------------------- */

/* Notes "IDENTIFIER: words" for who reads the recording, where one is written. */
__attribute__((format(printf, 2, 3))) void record_note(record_plugin *p, const char *format, ...);
/* How many devices the program asks of a CPU client: by JAX's configuration or environment, by
 * XLA_FLAGS, or by PyTorch/XLA's environment. 0: it does not. */
long record_python_devices(void);
/* P made CLIENT. A CPU plugin gets the foreign functions of jaxlib, where that is loaded, once; and
 * JAX's annotations of steps become marks, where the environment asks for that. */
void record_python_client(record_plugin *p, PJRT_Client *client);

/* ---- context.c ------------------------------------------------------------------------------ */

/* The plugin's execution of ARGS, which have a context: that lives until the execution ends. */
PJRT_Error *record_execute_with(record_plugin *p, PJRT_LoadedExecutable_Execute_Args *args);

/* The plugin's execution of ARGS, whose structs are of this header's size. */
static inline PJRT_Error *record_execute(record_plugin *p, PJRT_LoadedExecutable_Execute_Args *args)
{
    const PJRT_ExecuteOptions *o = args->options;
    return o && o->struct_size >= PJRT_ExecuteOptions_STRUCT_SIZE && o->context &&
                   atomic_load(&p->has_handlers)
               ? record_execute_with(p, args)
               : p->api->PJRT_LoadedExecutable_Execute(args);
}

/* ---- ffi.c ---------------------------------------------------------------------------------- */

/* Whether P takes handlers of foreign functions. */
bool record_ffi_takes(const record_plugin *p);
/* Gives P the HANDLER of the foreign function NAME on CPUs. WANTS_STATE: it asks for a state, and
 * gets an empty one. False where P does not take it, or there is no room. */
bool record_ffi_register(const record_plugin *p, const char *name, void *handler, bool wants_state);

/* ---- profile.c ------------------------------------------------------------------------------ */

/* Reads the environment, once, behind record_settings. */
void record_profile_settings(void);
/* P compiled something. */
void record_profile_compiled(record_plugin *p);
/* P is given an execution now: starts or stops the profiler where it is time. */
void record_profile_before(record_plugin *p);

/* ---- about.c: texts that are written once ---------------------------------------------------- */

/* LENGTH bytes of TEXT; long ones are cut. The file has begun. */
void record_text(enum record_text what, uint64_t of, uint32_t thread, const char *text,
                 size_t length);
void record_about_process(uint32_t thread);
/* The calling thread. */
void record_about_thread(uint32_t thread);
/* The frameworks that are loaded, once a process. PLUGIN is the number of the one they use. */
void record_about_frameworks(unsigned plugin, uint32_t thread);

/* ---- delay.c --------------------------------------------------------------------------------- */

/* Reads the run delay of THREAD, the calling or (OF_MAIN) the process's main one, at TIME, and puts
 * a DELAY where it grew. False: the file has not begun, ask again. Where the kernel does not tell,
 * nothing is put. */
bool record_delay_look(bool of_main, uint32_t thread, uint64_t time);

/* ---- events.c ------------------------------------------------------------------------------- */

/* The calling thread's number: its kernel id. */
uint32_t record_thread(void);
/* The calling thread's CPU clock at *NOW, the wall's, to 10 us, or to 40 us where it had the CPU
 * all the time until then; 0 where it is not to be measured. A reading takes time: *NOW is then the
 * moment behind it. */
uint64_t record_cpu(uint64_t *now);
/* The main thread's, from another thread; 0 in the main thread itself. */
uint64_t record_main_cpu(void);

/* The wall time of a call holds no reading of a CPU clock. */
static inline record_span record_begin(void)
{
    record_span span = {.begin = record_now()};
    span.cpu_begin = record_cpu(&span.begin);
    return span;
}

static inline void record_end(record_span *span)
{
    uint64_t now = span->end = record_now();
    span->cpu_end = record_cpu(&now);
}

/* Whether events of P can be written now; if not, one is counted as lost. The first call of a
 * process begins the file; the first ones of a thread and of a plugin describe these. */
bool record_ready(record_plugin *p);
/* The event of a call of P (NULL: of no plugin): as record_take and record_fill behind
 * record_ready. The thread is filled in. */
bool record_open(record_plugin *p, size_t bytes, record_place *place);
void record_close(const record_place *place, record_event event, const struct iovec *parts,
                  size_t count);
/* record_open and record_close. */
void record_put(record_plugin *p, record_event event, const struct iovec *parts, size_t count);
/* Counts a call of P that is not recorded although calls are to be. */
void record_lost_call(record_plugin *p);
/* A BUFFER_END, where the file has begun: it goes into the event before where that is one of the
 * same thread and FLAGS. Of some with RECORD_UNASKED the plugin is asked, and says the flags. */
void record_put_end(record_plugin *p, PJRT_Buffer *buffer, uint8_t flags);
/* The fast path of record_put_end for RECORD_UNASKED: false where there is no event to append to.
 */
bool record_put_end_again(const PJRT_Buffer *buffer);
/* As record_put of a TEXT. */
void record_put_text(record_plugin *p, enum record_text what, uint64_t of, const char *text,
                     size_t length);
/* RECORD_FAILED where there is an ERROR, whose text is put; else 0. The error stays. */
uint8_t record_failure(record_plugin *p, PJRT_Error *error);

/* ---- complete.c ----------------------------------------------------------------------------- */

/* Puts a COMPLETE when EVENT fires. OURS: it is destroyed then. False where that cannot be seen. */
bool record_watch(record_plugin *p, PJRT_Event *event, uint64_t number, unsigned device, bool ours);
/* Whether EVENT has fired, without an error, as far as P can tell. */
bool record_has_fired(record_plugin *p, PJRT_Event *event);
void record_event_destroy(record_plugin *p, PJRT_Event *event);

/* Whether a call that the header may be too old for is to be recorded. Its structs have always been
 * of WHOLE bytes at least: one that tells a smaller SIZE is counted as lost. */
static inline bool record_later_active(record_plugin *p, size_t size, size_t whole)
{
    if (size >= whole)
        return record_active();
    record_lost_call(p);
    return false;
}

/* ---- calls_transfer.c ------------------------------------------------------------------------ */

/* Bytes of an array without padding into *BYTES, 0 where they are too many for a number; false: the
 * header does not know TYPE. */
bool record_array_bytes(PJRT_Buffer_Type type, const int64_t *dims, size_t rank, uint64_t *bytes);
/* An event of KIND that begins with SPAN: time, and fields 0 to 2. */
record_event record_span_event(enum record_kind kind, const record_span *span);
/* The number of a transfer that EVENT ends; 0 where its end cannot be seen. */
uint64_t record_transfer_number(const record_plugin *p, const PJRT_Event *event);

/* ---- executables.c -------------------------------------------------------------------------- */

/* Which arguments the executions of an executable consumed, so that not each is asked for
 * (format.h). Several threads may use it at once; then one may ask more often than it had to. */
typedef struct record_donation {
    /* High half: the key of the execution that was asked for last. Low half: how many executions
     * from now on need not be asked for. */
    _Atomic uint64_t rest;
    /* High half: a hash of its answers. Low half: how many in a row had the same ones. */
    _Atomic uint64_t answers;
} record_donation;

/* Executions of one key are taken to consume the same arguments. It is made of the COUNT inputs
 * KEPT that may not be donated, in any order, and the number of devices. */
uint32_t record_donation_key(const int64_t *kept, size_t count, size_t devices);
/* Whether the plugin is to be asked for an execution with KEY. */
bool record_donation_due(record_donation *donation, uint32_t key);
/* The plugin was asked; its ANSWERS are COUNT words of bits. */
void record_donation_learn(record_donation *donation, uint32_t key, const uint64_t *answers,
                           size_t count);

/* Answers to calls of our own are bounded before they are used. A list or text that is longer, or
 * is NULL, is treated as absent, and the recording says what the plugin answered. */
#define RECORD_MOST_LISTED ((uint64_t)1 << 16)
#define RECORD_MOST_RANK   ((uint64_t)64)
#define RECORD_MOST_NAME   ((uint64_t)1 << 20)
/* The length of the list AT, which the plugin gave as COUNT of WHAT; 0 where that is more than
 * MOST, or AT is NULL. */
size_t record_list_length(record_plugin *p, const char *what, uint64_t count, uint64_t most,
                          const void *at);
/* The length of TEXT, which the plugin gave as COUNT of WHAT. If a zero byte ends it earlier, that
 * is recorded as a contradiction, and the text before it counts. */
size_t record_text_length(record_plugin *p, const char *what, uint64_t count, const char *text);
/* Notes that the plugin's answer WHAT is FOUND and cannot be: another one says WANTED. */
void record_contradiction(record_plugin *p, const char *what, uint64_t found, uint64_t wanted);
/* Puts an EXECUTABLE event of LOADED. Remembers and returns its number of results on each device.
 */
uint32_t record_executable_about(record_plugin *p, PJRT_LoadedExecutable *loaded);
/* Results of LOADED on each device. Of one that no call seen here made, what P says is put first:
 * there is no COMPILE of it. *DONATION is NULL where there is no room for one. */
uint32_t record_executable_results(record_plugin *p, PJRT_LoadedExecutable *loaded,
                                   record_donation **donation);
void record_executable_forget(const PJRT_LoadedExecutable *loaded);
/* The hash of LOADED's name, as P says it, likewise; 0: there is no room to know it. */
uint64_t record_executable_name(record_plugin *p, PJRT_LoadedExecutable *loaded);

/* ---- plugin.c ------------------------------------------------------------------------------- */

/* The plugin of this GetPjrtApi; NULL where there are too many, which is counted. */
record_plugin *record_plugin_of(record_get *get);
/* A function that answers for the plugin with the table that records. */
record_get *record_plugin_getter(const record_plugin *p);
/* The table to hand out: ours, the plugin's own where it cannot be recorded, or NULL as the plugin
 * answered. */
const PJRT_Api *record_plugin_table(record_plugin *p);

/* ---- symbol.c ------------------------------------------------------------------------------- */

/* Other libraries may call before any constructor ran, sanitizers before they are ready. */
#define RECORD_BARE __attribute__((no_sanitize("address", "thread", "undefined")))

/* The C library's dlsym; NULL: it has none. */
typedef void *record_finder(void *restrict library, const char *restrict name);
record_finder *record_symbol_finder(void);
/* The same, for the recorder's own use. */
void *record_symbol(void *library, const char *name);

/* The symbol by which another copy of the recorder recognizes this one (mark.h). */
#define RECORD_SYMBOL "record_mark"

#endif
