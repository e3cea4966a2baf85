/*
 * recordings_priv.h - what the files of this folder share: slots of an events file (slots.c),
 * handles (map.c), the arrays of a process (build*.c), and the parts of the analysis of steps.
 */
#ifndef BENCH_RESULTS_RECORDINGS_PRIV_H
#define BENCH_RESULTS_RECORDINGS_PRIV_H

#include "results/recordings/recordings.h"

/* For qsort: what comes first by A and B or, where they are equal, by THEN_A and THEN_B. */
static inline int rec_order(uint64_t a, uint64_t b, uint64_t then_a, uint64_t then_b)
{
    return a != b ? (a > b) - (a < b) : (then_a > then_b) - (then_a < then_b);
}

/* ---- slots of an events file (slots.c) -------------------------------------------------- */

typedef struct rec_stream {
    int fd;
    const char *path; /* for messages */
    uint8_t *window;
    size_t have, at; /* bytes in WINDOW; of the next slot */
    uint64_t left;   /* bytes of the file that count and were not read */
    bool ended;      /* the file has no more than is in WINDOW */
    uint8_t *words;  /* of the event at hand */
    size_t words_capacity;
    uint64_t empty;          /* slots of zeros since the last that was not */
    bool begins;             /* all slots of a further file were zeros so far */
    uint64_t slots, skipped; /* see rec_process */
} rec_stream;

/* An event that fits the format: its kind is known and its further slots are there. */
typedef struct rec_item {
    record_event event;
    const uint8_t *words; /* SIZE bytes, until the next call */
    size_t size;
} rec_item;

/* FD stands at the first slot, which *FILE gets. PATH is for messages and must outlive STREAM. FD
 * stays the caller's. Release with rec_stream_free. */
BN_MUST_USE bn_code rec_stream_begin(int fd, const char *path, rec_stream *stream,
                                     record_file *file, bn_status *st);
void rec_stream_free(rec_stream *stream);
/* Goes on with another file, at byte FROM of FD and as far as its first BYTES reach. */
BN_MUST_USE bn_code rec_stream_go_on(rec_stream *stream, int fd, const char *path, uint64_t from,
                                     uint64_t bytes, bn_status *st);
/* The next event; *MORE is false where there is none. */
BN_MUST_USE bn_code rec_stream_next(rec_stream *stream, rec_item *item, bool *more, bn_status *st);

/* ---- segments of a long run (segments.c) ------------------------------------------------ */

#define REC_SEGMENTS 64 /* more than a recorder leaves */
typedef struct rec_segments {
    int kept;         /* what was kept of those that are gone; negative: none is gone */
    record_kept head; /* of it; FIRST and BYTES are checked */
    int fd[REC_SEGMENTS];
    size_t count;
    uint64_t bytes; /* of all these files, as far as they count */
} rec_segments;

/* Opens those in the open folder INSIDE; there may be none. For rec_segments_close. BN_FORMAT: one
 * is missing, or they are no recorder's; BN_NOT_SUPPORTED, BN_INVALID, BN_IO. */
BN_MUST_USE bn_code rec_segments_open(int inside, rec_segments *segments, bn_status *st);
void rec_segments_close(rec_segments *segments);

/* ---- numbers of 64 bits to indices (map.c) ---------------------------------------------- */

/* Zero-initialise; release with rec_map_free. The key 0 is never there. */
typedef struct rec_map {
    uint64_t *keys;
    uint32_t *values;
    size_t capacity, count;
    uint64_t seed;
} rec_map;

void rec_map_free(rec_map *map);
/* REC_NONE where there is none. */
uint32_t rec_map_get(const rec_map *map, uint64_t key);
/* Inserts VALUE, or replaces the value of KEY; a KEY of 0 is ignored. False without memory. */
BN_MUST_USE bool rec_map_put(rec_map *map, uint64_t key, uint32_t value);
void rec_map_remove(rec_map *map, uint64_t key);

/* ---- making a process of events (build*.c) ------------------------------------------------- */

typedef struct rec_completion {
    uint64_t number, time;
    uint32_t device; /* index of the device in the execution */
} rec_completion;

/* Arguments that an executable took in its last execution with known deletions. */
typedef struct rec_belief {
    uint64_t *answers; /* [words]: a bit for each argument; the process's own; NULL: none was */
    size_t words;
    uint64_t kept; /* a hash of the inputs that it must not donate, in any order */
    uint32_t devices, arguments, kept_count;
    bool followed; /* others were believed to be like it */
} rec_belief;

typedef struct rec_room {
    size_t plugins, devices, threads, types, programs, executables, executable_devices, executions,
        spans, buffers, calls, operands, completions, beliefs, command, frameworks, errors, lies,
        notes, delays, marks, pauses;
} rec_room;

typedef struct rec_builder {
    rec_process *process;
    bn_arena *memory; /* of texts, dimensions and lists of types: the process's own */
    rec_room room;    /* of the arrays */
    rec_map buffers, executables, devices; /* by handle: those that live now */
    rec_map threads;                       /* by number + 1 */
    rec_map types, programs;               /* by a hash of what they are */
    rec_map number_executions, number_calls;
    rec_map mark_names; /* by a hash of a name: a mark that has it */
    rec_completion *completions;
    size_t completion_count;
    rec_belief *beliefs; /* by executable; those of the last ones may not be there yet */
    size_t belief_count;
    const char **command, **frameworks, **errors, **lies, **notes; /* the process's own */
    size_t command_count, framework_count, error_count, lie_count, note_count;
    /* Seed of the hash maps, random: nobody can write a recording whose keys collide. */
    uint64_t seed;
    size_t forgotten; /* buffers before this one, at a pause */
    /* Where events are missing. */
    uint64_t latest_ns;      /* the latest event's begin so far */
    bool in_seam, gate_shut; /* events that were kept come now; a PART said so last */
    size_t seam_executions, seam_completions; /* before it */
    bool failed;      /* no memory, or more things than indices */
} rec_builder;

/* Takes one event in; false where it does not fit the format and was left out. Without memory
 * BUILDER is failed. */
bool rec_build_event(rec_builder *builder, const rec_item *item);
bool rec_build_compile(rec_builder *builder, const rec_item *item);
bool rec_build_executable(rec_builder *builder, const rec_item *item);
bool rec_build_execute(rec_builder *builder, const rec_item *item);
bool rec_build_buffer(rec_builder *builder, const rec_item *item);
bool rec_build_buffer_end(rec_builder *builder, const rec_item *item);
bool rec_build_transfer(rec_builder *builder, const rec_item *item);
bool rec_build_delay(rec_builder *builder, const rec_item *item);
bool rec_build_mark(rec_builder *builder, const rec_item *item);
bool rec_build_part(rec_builder *builder, const rec_item *item);
/* From here on events are missing, but for those that come until rec_build_seam_ends: a pause. */
void rec_build_seam_begins(rec_builder *builder);
/* The first event behind it is of TIME. */
void rec_build_seam_ends(rec_builder *builder, uint64_t time);
/* When completions have found their executions: the pause holds those whose completion is missing,
 * and the device's work for executions that are. */
void rec_build_seam_widen(rec_builder *builder);
void rec_build_order_delays(rec_process *process);
/* When all events were taken: completions, order by begin, starts on the devices. */
void rec_build_end(rec_builder *builder, uint32_t main_number);

/* Later times, of 146 years after the machine started, are no times: sums of such would overflow.
 */
#define REC_MOST_TIME ((uint64_t)1 << 62)

/* Word INDEX of ITEM, of 8 bytes; 0 beyond its end. */
uint64_t rec_word(const rec_item *item, size_t index);
/* SIZE bytes of text from outside as plain text of the builder's memory; never NULL. */
const char *rec_build_text(rec_builder *builder, const uint8_t *bytes, size_t size);
/* Index of the thread that the kernel calls NUMBER, new ones included; REC_NONE without memory. */
uint32_t rec_build_thread(rec_builder *builder, uint32_t number);
/* Index of the type; REC_NONE without memory. */
uint32_t rec_build_type(rec_builder *builder, int type, uint32_t rank, const int64_t *dims);
/* Index of the executable with HANDLE, an unknown one included; REC_NONE without memory. */
uint32_t rec_build_known(rec_builder *builder, uint64_t handle, uint32_t results);
/* A new call of KIND from ITEM with the times and clocks that they all have; NULL where its end is
 * before its begin, or without memory. */
rec_call *rec_build_call(rec_builder *builder, const rec_item *item, rec_call_kind kind);
/* Makes room for one more of an array with COUNT items; counts it. NULL without memory. */
void *rec_build_more(rec_builder *builder, void *items, size_t *count, size_t *capacity,
                     size_t item_bytes);
/* Makes room for COUNT more operands; NULL without memory. */
uint32_t *rec_build_operands(rec_builder *builder, size_t count);

/* ---- which programs are one to a user (names.c) ------------------------------------------- */

/* NAME: of programs whose names have one stem (rec_stem); KIND: of those of a name with as many
 * arguments and results. Both by index of the program. */
typedef struct rec_names {
    uint32_t *name, *kind;
    uint32_t name_count, kind_count;
} rec_names;

BN_MUST_USE bn_code rec_names_make(const rec_process *process, rec_names *names, bn_status *st);
void rec_names_free(rec_names *names);

/* ---- which executions are a step (marks.c, state.c, period.c) ----------------------------- */

/* A repeated sequence: the programs between two occurrences of the first of them. */
typedef struct rec_period {
    uint32_t first;  /* position of one of its occurrences */
    uint32_t length; /* executions; 0: there is none */
    bool whole;      /* its window has nothing else */
} rec_period;

/* The executions of one device, in order. */
typedef struct rec_sequence {
    const rec_process *process;
    uint32_t device;    /* index; REC_NONE: unknown */
    uint32_t *order;    /* [count]: indices of executions */
    uint32_t *programs; /* [count]: their programs */
    double *costs;      /* [count]: device time of their programs, or that of the call, median, ns */
    uint32_t count;
} rec_sequence;

/* Finds the smallest period of the programs FROM..TO; LOOSELY: the one that covers most of their
 * cost, for recordings in which evaluations interrupt the steps. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code rec_period_find(const rec_sequence *sequence, uint32_t from, uint32_t to,
                                    bool loosely, rec_period *period, bn_status *st);
/* Finds the LENGTH programs at TEMPLATE among those at FROM..TO, in order: AT[LENGTH] gets their
 * positions. False if one is missing, or too many other programs are between them. */
bool rec_period_match(const uint32_t *programs, const uint32_t *template, uint32_t length,
                      uint32_t from, uint32_t to, uint32_t *at);

/* The program that carries the state of a loop from step to step. */
typedef struct rec_state {
    size_t count;     /* its executions, one a step; 0: there is none */
    uint32_t program; /* of the first of them; REC_NONE */
    uint64_t bytes;   /* of the state */
    /* A program that renews a state of its own once in UNCLEAR_EVERY steps, each of which reads
     * that state: these may be the steps. REC_NONE: there is none such. */
    uint32_t unclear;
    double unclear_every;
} rec_state;

/* Follows the buffers of SEQUENCE, and puts the positions of the executions that renew the state
 * into AT, which has room for all positions. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code rec_state_find(const rec_sequence *sequence, const rec_names *names,
                                   uint32_t *at, rec_state *state, bn_status *st);

/* A position at which a step begins. */
typedef struct rec_mark {
    uint32_t at;      /* the sequence's count: none of its executions follows */
    bool whole;       /* the step goes to the next mark; else what follows is no step */
    uint64_t time_ns; /* when the program said so; 0: with its first execution */
} rec_mark;

typedef struct rec_marks {
    rec_mark *list; /* malloc */
    size_t count;
    rec_found found;
    const char *name; /* of the program's own marks; "": others */
    rec_state state;
        /* with REC_FOUND_STATE; of REC_FOUND_NAME its program */ /* with REC_FOUND_STATE */
} rec_marks;

/* Where steps begin: at each execution of FIRST_PROGRAM, a name or the beginning of a hash; else
 * where the program's own marks between FROM_NS and TO_NS (0: the end) say, or the state, a name or
 * a period (rec_found); none: COUNT is 0. BN_NOT_FOUND: there is no such program. */
BN_MUST_USE bn_code rec_marks_find(const rec_sequence *sequence, const rec_names *names,
                                   const rec_options *options, rec_marks *marks, bn_status *st);

/* Divides the sequence into STEPS steps of equally many executions and marks where each begins.
 * STEPS must divide the sequence's count. */
BN_MUST_USE bn_code rec_marks_spread(const rec_sequence *sequence, uint32_t steps, rec_marks *marks,
                                     bn_status *st);

/* ---- accounts (ledger.c, clocks.c) --------------------------------------------------------------
 */

/* CPU time that a thread spent outside of its calls, as a line through known points. */
typedef struct rec_clock {
    struct rec_clock_point {
        uint64_t time, cpu;
    } * points;
    size_t count;
    size_t at; /* the last point asked for */
} rec_clock;

/* The clock of thread THREAD. MAIN: it is the main thread, whose clock the executions of other
 * threads report, too. */
BN_MUST_USE bn_code rec_clock_make(const rec_process *process, uint32_t thread, bool main,
                                   rec_clock *clock, bn_status *st);
void rec_clock_free(rec_clock *clock);
/* At TIME, which never goes back from call to call. */
uint64_t rec_clock_at(rec_clock *clock, uint64_t time);

/* Time that a thread was ready and not run, as lines like a clock's. */
typedef struct rec_ready {
    rec_clock outside; /* of its calls */
    rec_clock all;
    bool known;
} rec_ready;

/* Of thread THREAD, as rec_clock_make. What the delay grew by between two readings is given to the
 * time off the CPU between them; what that cannot hold, to the time behind. */
BN_MUST_USE bn_code rec_ready_make(const rec_process *process, uint32_t thread, bool main,
                                   rec_ready *ready, bn_status *st);
void rec_ready_free(rec_ready *ready);

/* Fills part_ns, gap_ns, busy_ns, ready_ns of the steps, whose first, executions, begin_ns and
 * wall_ns are known, gap_ns of their programs, whose rows are there, and BEFORE. */
BN_MUST_USE bn_code rec_ledger_fill(rec_steps *steps, bn_status *st);

/* ---- when steps begin and end (ahead.c) --------------------------------------------------- */

/* Where the host runs ahead of the device, makes STEPS, which are by the calls of the host, steps
 * from completion to completion, and figures means of blocks of them. */
void rec_ahead_find(rec_steps *steps);
/* STEPS->cycle; 1 where nobody filled it, as in tests. */
static inline size_t rec_cycle(const rec_steps *steps)
{
    return steps->cycle ? steps->cycle : 1;
}

/* ---- the whole run (run.c) -------------------------------------------------------------- */

/* From when to when PROCESS ran. What recording.json says of a program that had several processes
 * says nothing of this one. */
void rec_run_ends(const rec_recording *recording, const rec_process *process, uint64_t *begun,
                  uint64_t *ended);
/* What a phase or step of that NAME is: REC_RUN_STEPS of training, an evaluation, a checkpoint, or
 * else REC_RUN_OTHER. */
rec_run_part rec_phase_of(const char *name);
/* What the program says that it did between FROM and TO other than a step NAMED so: a phase that is
 * no training, or a step of another name. REC_RUN_STEPS: nothing. */
rec_run_part rec_phase_between(const rec_steps *steps, uint64_t from, uint64_t to);
/* Fills STEPS->run, when all else of the steps is known. */
BN_MUST_USE bn_code rec_run_make(const rec_recording *recording, const rec_names *names,
                                 rec_steps *steps, bn_status *st);

/* ---- programs and threads of steps (step_programs.c) ------------------------------------- */

/* Before rec_ledger_fill, which adds the gaps. */
BN_MUST_USE bn_code rec_step_programs_make(rec_steps *steps, const rec_names *names, bn_status *st);
/* Keeps the steps of one variant of the program that has variants and takes longest, as WORD says
 * (rec_options.variant); all where no program has any. Makes the rows of programs again.
 * BN_NOT_FOUND, BN_INVALID: WORD means none, or several. */
BN_MUST_USE bn_code rec_variant_keep(rec_steps *steps, const rec_names *names, const char *word,
                                     bn_status *st);
/* After rec_ledger_fill, which sets main_thread. */
BN_MUST_USE bn_code rec_step_threads_make(rec_steps *steps, bn_status *st);

#endif
