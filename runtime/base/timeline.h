/*
 * timeline.h - when things happened in a process: spans of time in memory that was made before.
 *
 * Where no timeline is wanted there is a NULL pointer, and a caller that would note a span checks
 * that first: one branch. Noting one allocates nothing. Times are those of bn_now_ns. For base.h
 * alone, whose words it uses.
 */
#ifndef BENCH_RUNTIME_TIMELINE_H
#define BENCH_RUNTIME_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/ledger.h"

/* Kinds of spans; the members WHAT and VALUE depend on it. */
typedef enum bn_span_kind {
    BN_SPAN_STEP,       /* what: bn_step_kind, value: its number from 0 */
    BN_SPAN_PART,       /* of the ledger; what: bn_part */
    BN_SPAN_ANNOTATION, /* of the harness or a model */
    BN_SPAN_SCOPE,      /* of a model: host time in which its nodes were traced */
    BN_SPAN_EXECUTE,    /* a call of the plugin that submits an execution */
    BN_SPAN_COMPILE,    /* a compile call; value: bytes of the program */
    BN_SPAN_TO_DEVICE,  /* a call that sends a buffer; value: bytes */
    BN_SPAN_TO_HOST,    /* a call that fetches one; value: bytes */
    BN_SPAN_PROFILED,   /* an execution on the device, as the plugin's profiler has it */
    BN_SPAN_COUNT
} bn_span_kind;

typedef enum bn_step_kind {
    BN_STEP_WARMUP,
    BN_STEP_MEASURED, /* its number is that of the record's step */
    BN_STEP_PROFILED, /* after the rounds, under the plugin's profiler */
    BN_STEP_KINDS
} bn_step_kind;

/* When something completed that a call began. The first thread that learns of it writes this. */
typedef struct bn_completion {
    const void *handle; /* of the waiting call; NULL once the time is known */
    const void *owner;  /* of the one who calls back */
    uint64_t at_ns;     /* 0: not known */
} bn_completion;

typedef struct bn_span {
    uint64_t begin_ns, end_ns;
    uint64_t value;
    bn_completion done; /* of an execution */
    uint16_t kind, what, name, unused;
} bn_span;

#define BN_TIMELINE_NAME  64
#define BN_TIMELINE_NAMES 512 /* further ones are called "(others)" */
#define BN_TIMELINE_OPEN  64  /* annotations and scopes within each other */

/* Properties of all spans of a process, written before them into its file. */
typedef struct bn_timeline_about {
    char title[256]; /* of the experiment */
    char mode[BN_TIMELINE_NAME], device[BN_TIMELINE_NAME];
    char profile[256]; /* how the profile's clock was matched, or why there is no profile; "" */
    int64_t pid, thread, process; /* the system's numbers; which process of the run, from 1 */
    int64_t first,
        every; /* the first steps of each kind are shown, and every so many-th; 0: none */
    int64_t steps_ran, steps_shown; /* measured ones */
    bool full;                      /* spans were left out for lack of room */
    bool simulated;
} bn_timeline_about;

typedef struct bn_timeline bn_timeline;

/* Room for MOST spans, touched once so that later writes find memory. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code bn_timeline_new(size_t most, bn_timeline **timeline, bn_status *st);
void bn_timeline_free(bn_timeline *timeline); /* NULL allowed; nothing may call back any more */
bn_timeline_about *bn_timeline_describe(bn_timeline *timeline);

/* ---- noting: TIMELINE is not NULL; one thread, but for completions -------------------- */

/* Whether step NUMBER of a kind is to be shown. */
bool bn_timeline_wants(const bn_timeline *timeline, uint64_t number);
/* Spans until its end belong to step NUMBER. */
void bn_timeline_step_begin(bn_timeline *timeline, bn_step_kind kind, uint64_t number);
/* The step took from BEGIN_NS to END_NS. One that does not fit whole is left out, and then all that
 * follows. */
void bn_timeline_step_end(bn_timeline *timeline, uint64_t begin_ns, uint64_t end_ns);
/* A part of the ledger was in force. What adjoins the part before and is the same joins it. */
void bn_timeline_part(bn_timeline *timeline, bn_part part, uint64_t begin_ns, uint64_t end_ns);
/* A call; NAME (NULL: none) is copied. Returns the span's completion, to be set by
 * bn_completion_set; NULL where there is no room. */
bn_completion *bn_timeline_call(bn_timeline *timeline, bn_span_kind kind, const char *name,
                                uint64_t value, uint64_t begin_ns, uint64_t end_ns);
/* Sets the completion time of HANDLE's span. */
void bn_timeline_completed(bn_timeline *timeline, const void *handle, uint64_t at_ns);
/* The first call counts. Thread-safe. */
void bn_completion_set(bn_completion *done, uint64_t at_ns);
/* An annotation or a scope begins; NAME is copied. It ends with its kind, and so do those within
 * it. One end too many does nothing. */
void bn_timeline_open(bn_timeline *timeline, bn_span_kind kind, const char *name);
void bn_timeline_close(bn_timeline *timeline, bn_span_kind kind);

/* ---- looking, files -------------------------------------------------------------------- */

size_t bn_timeline_count(const bn_timeline *timeline);
const bn_span *bn_timeline_at(const bn_timeline *timeline, size_t index);
/* "" for a span without one. */
const char *bn_timeline_name(const bn_timeline *timeline, const bn_span *span);
/* The first time that bn_completion_set was given; 0: none yet. Thread-safe. */
uint64_t bn_completion_time(const bn_completion *done);

/* Writes all to the open file FD, for a process of the same build. Makes only calls that a signal's
 * handler may make. False: the disk is full, or the like. */
bool bn_timeline_dump(const bn_timeline *timeline, int fd);
/* Reads what bn_timeline_dump wrote. BN_FORMAT where it is something else, or damaged. */
BN_MUST_USE bn_code bn_timeline_read(const char *path, bn_timeline **timeline, bn_status *st);

#endif
