/*
 * format.h - what the recording plugin writes (runtime/record/) and what reads it
 * (results/recordings/). A recording is a folder:
 *
 *   recording.json          bench record's own words about the run; absent where the recorder was
 *                           set up by hand
 *   PID-TIME/events         of one process: a file of slots, below
 *   PID-TIME/events.1, ...  of a long run: what follows, in segments
 *   PID-TIME/kept           of segments that were removed
 *   PID-TIME/programs/HASH.FORM   a program ("mlir", "hlo"), a serialized executable
 *                           ("executable"), or compile options ("options"); HASH is the XXH3 hash
 *                           of 128 bits of the file's bytes, as 32 hexadecimal digits, high half
 *                           first
 *   PID-TIME/profile        the plugin's own profile of some executions: a
 *                           record_profile, then its bytes; absent where nobody asked for it, or
 *                           too few executions came
 *
 * The events file is append-only. It is mapped and shared, so that what was written outlives the
 * process, however that ends. Its first slot is a record_file. Each event begins at a slot with a
 * record_event; what does not fit into it follows in slots that begin with RECORD_MORE. A writer
 * takes its slots with one atomic addition, fills them, and sets the first 8 bytes of the first one
 * last of all. So a slot whose first byte is zero was taken but not finished: readers skip it, and
 * also a RECORD_MORE that belongs to no event. Slots after the last one are zero.
 *
 * A run that is longer than the limit loses its middle. The file of events takes three eighths of
 * the limit at most. Then slots go on in segments, "events.1" and so on: slots without a head, of
 * which each file has as many as every other, so that all of them are one row. No event lies in two
 * files: slots that were taken on both sides of a border stay zero. When there is no room for a
 * further segment, the oldest one is retired. Its events that others need (TEXT, PLUGIN, DEVICE,
 * COMPILE, EXECUTABLE, EXECUTABLE_END, PART) are appended to "kept". Then kept's head is written by
 * one call, and then the segment is removed. So whoever is killed in between leaves something
 * whole: only the bytes count that kept's head counts, and only segments from its FIRST on. A
 * reader takes the events, then those of "kept", which has a record_kept as its first slot, then
 * the segments. Between the last event of "events" and the first one of a segment nothing is known
 * but what "kept" has: handles of buffers are not known any more, as behind a PART.
 *
 * Slots are in an order in which handles can be followed: the end of a handle is written before the
 * plugin is told of it, its beginning after the plugin returned it. Addresses are used again.
 *
 * All numbers are of the machine's byte order; times are nanoseconds of CLOCK_MONOTONIC, CPU times
 * of the calling thread's clock (0 in both fields: not measured).
 *
 * Donation: whether an execution took the memory of its arguments. There may be hundreds, and the
 * plugin has to be asked of each. So it is known of some executions and believed of the others:
 *
 *   - known: an EXECUTE with RECORD_ASKED. The plugin was asked of each argument when the call had
 *     returned.
 *   - believed: any other EXECUTE that did not fail. It took the arguments that the last one with
 *     RECORD_ASKED before it took, where that was of the same executable on as many devices with as
 *     many arguments, and the same inputs might not be donated, in any order. Where there is no
 *     such one, nothing is known.
 *   - known of a buffer, whatever was believed: a BUFFER_END without RECORD_UNASKED.
 *
 * An executable's executions are asked of until four in a row gave the same answers, then every
 * 61st, and anew where the inputs that may not be donated change. Some ends of buffers are asked of
 * as well. So readers see that a belief was wrong: an answer differs, or an execution takes an
 * argument that was believed to be gone.
 *
 * Readers skip kinds that they do not know, and count their slots as skipped. So version 2 could
 * get further ones: it had no TO_DEVICE at first (asynchronous transfers were buffers of
 * RECORD_FROM_HOST), then no DELAY, no MARK
 * and no PART.
 *
 * Version 1 has no beliefs: each BUFFER_END was asked of, and no EXECUTE. Its executions all have a
 * COMPLETE, its BUFFER_ENDs no words.
 */
#ifndef BENCH_RUNTIME_RECORD_FORMAT_H
#define BENCH_RUNTIME_RECORD_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_MAGIC     "bnchrec"
#define RECORD_VERSION   2
/* Of recordings whose events go on in segments. */
#define RECORD_VERSION_SEGMENTS 3
#define RECORD_SLOT      64
#define RECORD_HASH_TEXT 33 /* 32 digits and the end */

/* Environment of the recorded process. */
#define RECORD_ENV_FOLDER      "BENCH_RECORD_DIR"    /* where; unset: the recorder only forwards */
#define RECORD_ENV_PLUGIN      "BENCH_RECORD_PLUGIN" /* path of the plugin that it stands before */
#define RECORD_ENV_LIMIT       "BENCH_RECORD_LIMIT" /* bytes of one process's events and programs */
#define RECORD_ENV_CPU         "BENCH_RECORD_CPU"   /* 0: no CPU clocks */
/* Devices that a client of XLA for CPU is told to make where the program does not ask for a number.
 * Else it makes four, and some builds then never end an execution of PyTorch/XLA's. */
#define RECORD_ENV_CPU_DEVICES "BENCH_RECORD_CPU_DEVICES"
/* A part of the run: when.h says what they may be. */
#define RECORD_ENV_START       "BENCH_RECORD_START"
#define RECORD_ENV_STOP        "BENCH_RECORD_STOP"

/* Path of the recorder, for the Python module bench_marks. */
#define RECORD_ENV_LIBRARY "BENCH_RECORD_LIBRARY"
/* "jax": its annotations of steps are marks. */
#define RECORD_ENV_MARKS "BENCH_RECORD_MARKS"

/* Executions that the plugin's profiler is to see, up to RECORD_PROFILE_MOST; unset: none. */
#define RECORD_ENV_PROFILE   "BENCH_RECORD_PROFILE"
#define RECORD_PROFILE_MOST  1000000
#define RECORD_PROFILE_QUIET 64 /* executions without a compile, after which it begins */
#define RECORD_PROFILE_BYTES ((uint64_t)1 << 29) /* of a profile, at most */

/* Why a process's file ends before the process did. */
enum record_stop {
    RECORD_GOES_ON = 0,
    RECORD_LIMIT = 1,     /* as long as it may become, and nothing may be retired */
    RECORD_DISK_FULL = 2, /* the file could not grow */
    RECORD_ERROR = 3      /* another error of the file system */
};

/* The first slot. */
typedef struct record_file {
    char magic[8];    /* RECORD_MAGIC */
    uint32_t version; /* RECORD_VERSION, or RECORD_VERSION_SEGMENTS */
    uint32_t slot;    /* RECORD_SLOT */
    uint32_t pid;     /* as the process knew itself */
    uint32_t parent;
    uint64_t begin_ns;    /* when the file was made, CLOCK_MONOTONIC */
    uint64_t epoch_ns;    /* the same moment, since 1970 */
    uint64_t lost;        /* events that were not written */
    uint32_t stop;        /* enum record_stop */
    uint32_t main_thread; /* its number in record_event.thread */
    uint32_t unseen;      /* plugins that were loaded and of which nothing is recorded */
    uint32_t reserved;
} record_file;

enum record_kind {
    RECORD_NOTHING = 0, /* not finished, or never written */
    RECORD_MORE = 1,    /* a further slot of an event: record_more */
    RECORD_TEXT = 2,
    RECORD_PLUGIN = 3,
    RECORD_DEVICE = 4,
    RECORD_COMPILE = 5,
    RECORD_EXECUTABLE = 6,
    RECORD_EXECUTE = 7,
    RECORD_COMPLETE = 8,
    RECORD_BUFFER = 9,
    RECORD_BUFFER_END = 10,
    RECORD_TO_HOST = 11,
    RECORD_WAIT = 12,
    RECORD_EXECUTABLE_END = 13,
    RECORD_TO_DEVICE = 14,
    RECORD_DELAY = 15,
    RECORD_MARK = 16,
    RECORD_PART = 17,
    RECORD_KINDS
};

/* Flags. */
#define RECORD_FAILED                                                                              \
    0x01 /* the plugin returned an error, or the event that was waited for had one */
#define RECORD_DELETED                                                                             \
    0x02 /* BUFFER_END: its memory was gone already: donated, or deleted before */
#define RECORD_ONLY_MEMORY 0x04 /* BUFFER_END: PJRT_Buffer_Delete: the handle lives on */
#define RECORD_UNASKED                                                                             \
    0x08 /* BUFFER_END: nobody asked whether its memory was gone; RECORD_DELETED says nothing */
#define RECORD_ASKED 0x10 /* EXECUTE: it is known which arguments' memory it took */
#define RECORD_ENDED                                                                               \
    0x20 /* EXECUTE: all devices had ended, without an error, when the call returned: no COMPLETE  \
          */

#define RECORD_IN_PLACE                                                                            \
    0x40 /* TO_HOST: no bytes are copied: the host reads the buffer's memory where it is. The call \
          * may wait until it is ready */

/*
 * An event, and what its six fields are. "Words" are further ones, in RECORD_MORE slots: bytes
 * there are counted exactly, and integers have 8 bytes each.
 *
 * TEXT         [0] enum record_text, [1] of which plugin, thread (the number) or argument (from 0);
 *              words: the text, without an end
 * PLUGIN       [0] its number, from 0 in order of loading, [1] major, [2] minor version of its API,
 *              [3] size of its table; words: the path
 * DEVICE       one that a new client addresses: [0] handle, [1] id, [2] plugin, [3] client handle,
 *              [4] bytes of its memory, 0: unknown; words: its debug string
 * COMPILE      PJRT_Client_Compile, PJRT_Executable_DeserializeAndLoad, PJRT_Client_Load:
 *              time to [0] end, [1] [2] CPU at begin and end, [3] handle of the loaded executable
 *              (0 where it failed), [4] enum record_source, [5] plugin;
 *              words: hash of the code (2, high half first; 0 0: not kept), hash of the options
 *              (2, likewise), size of the code, client handle, then the name of the form ("mlir",
 *              "hlo", "executable"). Of what PJRT_Client_Load loads, code and options are those of
 *              its PJRT_Compile, where that was seen
 * EXECUTABLE   what the plugin says of a loaded executable, after its COMPILE: [0] handle,
 *              [1] results, [2] FLOPs and [3] bytes accessed (both doubles, negative: unknown),
 *              [4] bytes of temporaries, [5] bytes of generated code (UINT64_MAX: unknown);
 *              words: devices (how many, then handles), for each result its type
 *              (PJRT_Buffer_Type), rank and dimensions, the length of the name, then the name
 * EXECUTE      time to [0] end, [1] [2] CPU at begin and end, [3] handle of the executable,
 *              [4] number of the execution, from 1 in this process, [5] arguments in the low half,
 *              results in the high half (of each device);
 *              words: devices in the low half and inputs that may not be donated in the high half,
 *              execute_device (0: by the executable), launch id, CPU clock of the main thread at
 *              begin (0 where it is the calling thread, or not measured), then the inputs that may
 *              not be donated, then for each device handles of its arguments and of its results;
 *              with RECORD_ASKED then a bit for each argument, those of the first device first and
 *              64 in a word from its lowest bit on: 1 where its memory was gone
 * COMPLETE     of an execution: time is when the device had ended; [0] its number, [1] index of the
 *              device in it
 * BUFFER       a buffer that no execution made: time to [0] end, [1] [2] CPU, [3] handle (0: it
 *              failed, or there are several, which PJRT_Client_CreateBuffersForAsyncHostToDevice
 *              made and which get handles later),
 *              [4] enum record_buffer in the low half, PJRT_Buffer_Type in the high half,
 *              [5] device handle; words: bytes, the buffer that it is of (0: none), number of the
 *              transfer (0: none is waited for), then the dimensions
 * BUFFER_END   PJRT_Buffer_Destroy, or _Delete (RECORD_ONLY_MEMORY): [0] handle, [1] to [5] those
 *              whose end came right after it, in the same thread and with the same flags (0: none
 *              and no further); words: further ones, likewise. Empty places may be filled when the
 *              event is already there
 * TO_HOST      a copy of a buffer's bytes, or of a part: time to [0] end, [1] [2] CPU, [3] handle,
 *              [4] bytes, [5] number of the transfer. Both are 0 with RECORD_IN_PLACE
 * TO_DEVICE    bytes of the host for a buffer that was made without them: fields as of TO_HOST;
 *              [3] is 0 where a manager of transfers holds it, [4] is 0 where the type is unknown
 * WAIT         PJRT_Event_Await: time to [0] end, [1] [2] CPU
 * EXECUTABLE_END  PJRT_LoadedExecutable_Destroy: [0] handle
 * DELAY        how long the thread has been ready without running, since it began: time is that of
 *              the reading, [0] nanoseconds (field 2 of its schedstat), [1] time of the reading
 *              before, at which it was what the thread's DELAY before says; 0: this is the first
 *              reading. It is written at the first reading and where it grew. The thread is that
 *              whose delay it is: for the main one others may read it, each with a first reading of
 *              its own. A thread without a DELAY: not known. It is read where the thread was off
 * the CPU for 20 us since the last reading, as its clocks say at begins and ends of calls MARK the
 * program says where it is (mark.h): [0] enum record_mark_kind, [1] a number of the program's;
 * words: the name, of RECORD_MARK_MOST bytes at most
 * PART         where a part of the run was asked for: [0] 1: from here on all is recorded; 0: only
 *              COMPILE, EXECUTABLE, DEVICE, EXECUTABLE_END, COMPLETE, and what describes them. What
 *              handles of buffers stood for is not known any more when it goes on. The first one
 *              stands near the file's beginning
 *
 * A transfer's number is one of executions' numbers: its COMPLETE has it, too.
 */
typedef struct record_event {
    uint8_t kind; /* enum record_kind */
    uint8_t flags;
    uint16_t more;   /* slots of this event that follow */
    uint32_t thread; /* number of the calling thread: its kernel id */
    uint64_t time;   /* begin */
    uint64_t field[6];
} record_event;

/* A further slot. */
typedef struct record_more {
    uint8_t kind; /* RECORD_MORE */
    uint8_t unused;
    uint16_t index; /* from 1 */
    uint32_t bytes; /* used of BYTES; all of them but in the last slot */
    uint8_t data[RECORD_SLOT - 8];
} record_more;

enum record_text {
    RECORD_TEXT_COMMAND = 0,          /* an argument of the process's command line */
    RECORD_TEXT_PLATFORM = 1,         /* of a plugin's client: platform name */
    RECORD_TEXT_PLATFORM_VERSION = 2, /* and its version */
    RECORD_TEXT_THREAD = 3,           /* a thread's name when it was first seen */
    RECORD_TEXT_FRAMEWORK = 4,        /* "jax 0.10.2", where a library of that name is loaded */
    RECORD_TEXT_ERROR = 5,            /* what the plugin said of a failure */
    RECORD_TEXT_LIE = 6,              /* an answer of the plugin's that cannot be, in words */
    RECORD_TEXT_NOTE = 7              /* what the program wants and does not get, of the recorder:
                                         "IDENTIFIER: words" */
};

/* What a MARK says. */
enum record_mark_kind {
    RECORD_STEP_BEGINS = 0,
    RECORD_STEP_ENDS = 1,
    RECORD_PHASE_BEGINS = 2,
    RECORD_PHASE_ENDS = 3
};
#define RECORD_MARK_MOST 255 /* bytes of its name */

enum record_source {
    RECORD_COMPILED = 0,     /* from a program */
    RECORD_DESERIALIZED = 1, /* from an executable that was compiled before */
    RECORD_LOADED = 2        /* from what PJRT_Compile made */
};

enum record_buffer {
    RECORD_FROM_HOST = 0, /* PJRT_Client_BufferFromHostBuffer */
    RECORD_COPY = 1,      /* PJRT_Buffer_CopyToDevice, _CopyToMemory */
    RECORD_VIEW = 2,      /* PJRT_Client_CreateViewOfDeviceBuffer */
    /* PJRT_Client_CreateUninitializedBuffer; those of a manager of asynchronous transfers, whose
     * bytes come by TO_DEVICE. */
    RECORD_UNINITIALIZED = 3,
    RECORD_ALIAS = 4 /* PJRT_Client_CreateAliasBuffer, and other ways that need no transfer */
};

/* Why a profile has no bytes. */
enum record_no_profile {
    RECORD_PROFILED = 0,         /* it has */
    RECORD_NO_PROFILER = 1,      /* the plugin has no profiler */
    RECORD_PROFILER_REFUSED = 2, /* it did not start: another one runs, say the program's own */
    RECORD_PROFILE_LOST = 3,     /* it did not hand its bytes over, or there was no memory */
    RECORD_PROFILE_RUNS = 4,     /* it ran when this was written, and nothing was since */
    RECORD_PROFILE_NO_ROOM = 5,  /* RECORD_PROFILE_BYTES, or half of what the limit left, is less */
    RECORD_PROFILE_UNWRITTEN = 6 /* the file system did not take its bytes */
};

/* The head of the file "kept". */
#define RECORD_KEPT_MAGIC "bnchkpt"
typedef struct record_kept {
    char magic[8];    /* RECORD_KEPT_MAGIC */
    uint32_t version; /* RECORD_VERSION_SEGMENTS */
    uint32_t slot;    /* RECORD_SLOT */
    uint64_t bytes;   /* of the file that count, this head included */
    uint64_t first;   /* segments below are retired */
    uint64_t dropped; /* events that were in these and are not in this file */
    uint64_t from_ns; /* when the first and the last of them began: CLOCK_MONOTONIC */
    uint64_t to_ns;
    uint64_t reserved;
} record_kept;

/* The head of the file "profile". */
#define RECORD_PROFILE_MAGIC "bnchprf"
typedef struct record_profile {
    char magic[8];       /* RECORD_PROFILE_MAGIC */
    uint32_t version;    /* RECORD_VERSION */
    uint32_t plugin;     /* its number */
    uint64_t begin_ns;   /* before the profiler was started: CLOCK_MONOTONIC, as all of these */
    uint64_t started_ns; /* when it ran */
    uint64_t stop_ns;    /* before it was stopped */
    uint64_t end_ns;     /* when they were written: until then the program was held up;
                            UINT64_MAX with RECORD_PROFILE_RUNS */
    uint64_t size;       /* of the bytes that follow: an XSpace message as the plugin gave it */
    uint32_t executions; /* that it was to see */
    uint32_t why;        /* enum record_no_profile */
} record_profile;

_Static_assert(sizeof(record_profile) == RECORD_SLOT, "the head of a profile");
_Static_assert(sizeof(record_kept) == RECORD_SLOT, "the head of what was kept");
_Static_assert(sizeof(record_file) == RECORD_SLOT, "the first slot");
_Static_assert(sizeof(record_event) == RECORD_SLOT, "an event is one slot");
_Static_assert(sizeof(record_more) == RECORD_SLOT, "a further slot is one slot");

#endif
