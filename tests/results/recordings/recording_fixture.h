/*
 * recording_fixture.h - recordings whose truth a test knows: a small writer of events, and above it
 * a host and a device that are played.
 */
#ifndef BENCH_TESTS_RECORDING_FIXTURE_H
#define BENCH_TESTS_RECORDING_FIXTURE_H

#include "tests/support/results_fixture.h"

#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "results/recordings/recordings.h"
#include "tests/support/test_runtime.h"

/* ---- events ------------------------------------------------------------------------------------
 */

/* An events file in memory. */
typedef struct tape {
    bn_text bytes;
} tape;

/* Words of an event. */
typedef struct words {
    uint8_t bytes[16384];
    size_t size;
} words;

static inline void words_add(words *w, uint64_t value)
{
    assert_true(w->size + sizeof value <= sizeof w->bytes);
    memcpy(w->bytes + w->size, &value, sizeof value);
    w->size += sizeof value;
}

static inline void words_text(words *w, const char *text)
{
    assert_true(w->size + strlen(text) <= sizeof w->bytes);
    memcpy(w->bytes + w->size, text, strlen(text));
    w->size += strlen(text);
}

static inline void tape_begin(tape *t, uint32_t pid, uint64_t begin_ns)
{
    record_file file = {.magic = RECORD_MAGIC,
                        .version = RECORD_VERSION,
                        .slot = RECORD_SLOT,
                        .pid = pid,
                        .parent = 1,
                        .begin_ns = begin_ns,
                        .epoch_ns = 1795406400000000000u,
                        .main_thread = pid};
    *t = (tape){0};
    bn_text_append(&t->bytes, (const char *)&file, sizeof file);
}

/* Appends an event with WORDS, which may be NULL. */
static inline void tape_put(tape *t, record_event event, const words *w)
{
    const size_t size = w ? w->size : 0, each = sizeof((record_more *)NULL)->data;
    event.more = (uint16_t)((size + each - 1) / each);
    bn_text_append(&t->bytes, (const char *)&event, sizeof event);
    for (uint16_t i = 0; w && i < event.more; i++) {
        record_more more = {.kind = RECORD_MORE, .index = (uint16_t)(i + 1)};
        const size_t from = i * each;
        more.bytes = (uint32_t)(size - from < each ? size - from : each);
        memcpy(more.data, w->bytes + from, more.bytes);
        bn_text_append(&t->bytes, (const char *)&more, sizeof more);
    }
}

/* The header, for changes. */
static inline record_file *tape_file(tape *t)
{
    return (record_file *)(void *)t->bytes.data;
}

static inline void put_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* Writes the tape as the process NAME of the recording FOLDER; frees it. */
static inline void tape_write(tape *t, const char *folder, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(mkdir(path, 0700) == 0 || access(path, F_OK) == 0);
    snprintf(path, sizeof path, "%s/%s/programs", folder, name);
    assert_true(mkdir(path, 0700) == 0 || access(path, F_OK) == 0);
    snprintf(path, sizeof path, "%s/%s/events", folder, name);
    put_file(path, t->bytes.data, t->bytes.length);
    bn_text_free(&t->bytes);
}

/* ---- a host and a device ---------------------------------------------------------------- */

#define MOST_HANDLES  8192
#define MOST_OPERANDS 512
enum { PLAY_CLIENT = 0x10, PLAY_DEVICE = 0x1000, PLAY_DEVICES = 4 };
#define MS 1000000u
#define US 1000u

/* A program, as it was compiled. */
typedef struct play_program {
    uint64_t handle, hash; /* low half; the high one is 1 */
    uint32_t results;
    const char *name;
} play_program;

/* A thread of the host. */
typedef struct play_thread {
    uint32_t number;
    uint64_t now, cpu;
    uint64_t delay, delay_read; /* ready and not run; when that was read */
} play_thread;

typedef struct play {
    tape tape;
    play_thread thread[3]; /* 0 is the main one */
    uint64_t device_free[PLAY_DEVICES];
    uint64_t number; /* of executions and transfers */
    uint64_t handles[MOST_HANDLES];
    size_t free_handles;
    uint64_t executable; /* the next handle */
    bool no_clocks, no_completions;
    bool loads; /* executables from now on, compiles nothing */
    uint64_t high;    /* half of the hashes of programs from now on; 0: 1 */
    uint64_t dims[2]; /* of buffers that are made from now on; 0, 0: 2, 3 */
} play;

static inline void play_text(play *p, enum record_text what, uint64_t of, const char *text)
{
    words w = {.size = 0};
    words_text(&w, text);
    tape_put(&p->tape, (record_event){.kind = RECORD_TEXT, .field = {what, of}}, &w);
}

static inline void play_begin_at(play *p, uint32_t pid, uint64_t now)
{
    words w = {.size = 0};
    *p = (play){.executable = 0x9000};
    for (uint32_t i = 0; i < 3; i++)
        p->thread[i] = (play_thread){.number = pid + i, .now = now, .cpu = 5 * MS};
    /* The last one freed is taken first, as allocators do. */
    for (size_t i = 0; i < MOST_HANDLES; i++)
        p->handles[p->free_handles++] = 0x100000 + 64 * (MOST_HANDLES - i);
    tape_begin(&p->tape, pid, now);
    words_text(&w, "/plugins/pjrt_cpu.so");
    tape_put(&p->tape, (record_event){.kind = RECORD_PLUGIN, .field = {0, 0, 81, 984}}, &w);
    play_text(p, RECORD_TEXT_COMMAND, 0, "python");
    play_text(p, RECORD_TEXT_COMMAND, 1, "train.py");
    play_text(p, RECORD_TEXT_FRAMEWORK, 0, "jax 0.10.2");
    play_text(p, RECORD_TEXT_PLATFORM, 0, "cpu");
    for (uint64_t d = 0; d < PLAY_DEVICES; d++) {
        words text = {.size = 0};
        words_text(&text, "CpuDevice");
        tape_put(&p->tape,
                 (record_event){.kind = RECORD_DEVICE,
                                .field = {PLAY_DEVICE + d, d, 0, PLAY_CLIENT, 1u << 30}},
                 &text);
    }
}

static inline void play_begin(play *p)
{
    play_begin_at(p, 100, 1000 * MS);
}

static inline uint64_t handle_take(play *p)
{
    assert_true(p->free_handles > 0);
    return p->handles[--p->free_handles];
}

/* The host works on a CPU, sleeps, or waits for the device. */
static inline void play_work(play *p, int thread, uint64_t ns)
{
    p->thread[thread].now += ns;
    p->thread[thread].cpu += ns;
}

static inline void play_rest(play *p, int thread, uint64_t ns)
{
    p->thread[thread].now += ns;
}

/* The host is ready, and others have the core. */
static inline void play_preempt(play *p, int thread, uint64_t ns)
{
    p->thread[thread].now += ns;
    p->thread[thread].delay += ns;
}

/* The recorder reads the thread's run delay. */
static inline void play_read_delay(play *p, int thread)
{
    play_thread *t = &p->thread[thread];
    tape_put(&p->tape,
             (record_event){.kind = RECORD_DELAY,
                            .thread = t->number,
                            .time = t->now,
                            .field = {t->delay, t->delay_read}},
             NULL);
    t->delay_read = t->now;
}

static inline void play_mark(play *p, int thread, uint64_t what, const char *name, int64_t number)
{
    words w = {.size = 0};
    words_text(&w, name);
    tape_put(&p->tape,
             (record_event){.kind = RECORD_MARK,
                            .thread = p->thread[thread].number,
                            .time = p->thread[thread].now,
                            .field = {what, (uint64_t)number}},
             &w);
}

static inline void play_wait(play *p, int thread, int device)
{
    if (p->device_free[device] > p->thread[thread].now)
        p->thread[thread].now = p->device_free[device];
}

static inline uint64_t clock_of(const play *p, int thread)
{
    return p->no_clocks ? 0 : p->thread[thread].cpu;
}

/* Appends a call of NS that runs on the CPU all the time. */
static inline record_event play_call(play *p, int thread, uint8_t kind, uint64_t ns)
{
    record_event e = {.kind = kind, .thread = p->thread[thread].number};
    e.time = p->thread[thread].now;
    e.field[1] = clock_of(p, thread);
    play_work(p, thread, ns);
    e.field[0] = p->thread[thread].now;
    e.field[2] = clock_of(p, thread);
    return e;
}

static inline void add_dims(const play *p, words *w)
{
    words_add(w, p->dims[0] ? p->dims[0] : 2);
    words_add(w, p->dims[1] ? p->dims[1] : 3);
}

/* Compiles a program with RESULTS results f32[2,3], or of P's dimensions, on DEVICES devices. */
static inline play_program play_compile(play *p, const char *name, uint64_t hash, uint32_t results,
                                        uint32_t devices, uint64_t ns)
{
    const play_program made = {p->executable++, hash, results, name};
    words w = {.size = 0}, about = {.size = 0};
    record_event e = play_call(p, 0, RECORD_COMPILE, ns);
    e.field[3] = made.handle;
    e.field[4] = p->loads ? RECORD_DESERIALIZED : RECORD_COMPILED;
    words_add(&w, p->high ? p->high : hash ? 1 : 0);
    words_add(&w, hash);
    words_add(&w, 2);
    words_add(&w, 7);
    words_add(&w, 1234);
    words_add(&w, PLAY_CLIENT);
    words_text(&w, "mlir");
    tape_put(&p->tape, e, &w);
    const double flops = 1e6, bytes = -1;
    record_event x = {.kind = RECORD_EXECUTABLE, .field = {made.handle, results}};
    memcpy(&x.field[2], &flops, sizeof flops);
    memcpy(&x.field[3], &bytes, sizeof bytes);
    x.field[5] = UINT64_MAX;
    words_add(&about, devices);
    for (uint64_t d = 0; d < devices; d++)
        words_add(&about, PLAY_DEVICE + d);
    for (uint32_t i = 0; i < results; i++) {
        words_add(&about, 11);
        words_add(&about, 2);
        add_dims(p, &about);
    }
    words_add(&about, strlen(name));
    words_text(&about, name);
    tape_put(&p->tape, x, &about);
    return made;
}

static inline void play_destroy(play *p, uint64_t handle, uint8_t flags)
{
    tape_put(&p->tape,
             (record_event){.kind = RECORD_BUFFER_END,
                            .flags = flags,
                            .thread = p->thread[0].number,
                            .time = p->thread[0].now,
                            .field = {handle}},
             NULL);
    if (!(flags & RECORD_ONLY_MEMORY))
        p->handles[p->free_handles++] = handle;
}

/* How an execution is played. */
typedef struct run {
    int thread, device; /* the first device */
    uint32_t devices;   /* 0: one */
    bool on_device;     /* the caller names the device */
    uint64_t call_ns, device_ns;
    uint64_t launch_ns; /* from the call's begin until the device can begin */
    const uint64_t *arguments;
    uint32_t argument_count;
    bool donate; /* all arguments: their handles are destroyed, too */
    bool failed;
    bool ended;           /* within the call: no COMPLETE */
    bool asked;           /* the plugin was asked what it took: a bit of TAKEN for each argument */
    uint64_t taken;       /* with one device, of at most 64 arguments */
    const uint64_t *keep; /* the inputs that may not be donated */
    uint32_t keep_count;
} run;

/* Executes PROGRAM; RESULTS gets the handles of its results on the first device. Where it is NULL
 * they are destroyed, as those of the other devices are. */
static inline void play_execute(play *p, const play_program *program, run r, uint64_t *results)
{
    const uint32_t devices = r.devices ? r.devices : 1;
    uint64_t dropped[MOST_OPERANDS];
    size_t drop = 0;
    words w = {.size = 0};
    record_event e = play_call(p, r.thread, RECORD_EXECUTE, r.call_ns);
    e.flags = (uint8_t)((r.failed ? RECORD_FAILED : 0) | (r.ended ? RECORD_ENDED : 0) |
                        (r.asked ? RECORD_ASKED : 0));
    e.field[3] = program->handle;
    e.field[4] = ++p->number;
    e.field[5] = r.argument_count | (uint64_t)program->results << 32;
    words_add(&w, devices | (uint64_t)r.keep_count << 32);
    words_add(&w, r.on_device ? PLAY_DEVICE + (uint64_t)r.device : 0);
    words_add(&w, 0);
    words_add(&w, r.thread == 0 ? 0 : clock_of(p, 0));
    for (uint32_t i = 0; i < r.keep_count; i++)
        words_add(&w, r.keep[i]);
    for (uint32_t d = 0; d < devices; d++) {
        for (uint32_t i = 0; i < r.argument_count; i++)
            words_add(&w, r.arguments[i]);
        for (uint32_t i = 0; i < program->results; i++) {
            const uint64_t made = handle_take(p);
            words_add(&w, made);
            if (results && d == 0)
                results[i] = made;
            else
                dropped[drop++] = made;
        }
    }
    if (r.asked && r.argument_count > 0)
        words_add(&w, r.taken);
    tape_put(&p->tape, e, &w);
    for (uint32_t d = 0; d < devices; d++) {
        uint64_t *end = &p->device_free[(uint32_t)r.device + d];
        const uint64_t start = e.time + r.launch_ns > *end ? e.time + r.launch_ns : *end;
        *end = start + r.device_ns;
        if (!p->no_completions && !r.failed && !r.ended)
            tape_put(
                &p->tape,
                (record_event){
                    .kind = RECORD_COMPLETE, .thread = 999, .time = *end, .field = {e.field[4], d}},
                NULL);
    }
    while (drop > 0)
        play_destroy(p, dropped[--drop], 0);
    for (uint32_t i = 0; r.donate && i < r.argument_count; i++)
        play_destroy(p, r.arguments[i], RECORD_DELETED);
}

/* Sends BYTES to the device; returns the buffer. */
static inline uint64_t play_send(play *p, int thread, uint64_t bytes, uint64_t ns)
{
    const uint64_t made = handle_take(p);
    words w = {.size = 0};
    record_event e = play_call(p, thread, RECORD_BUFFER, ns);
    e.field[3] = made;
    e.field[4] = RECORD_FROM_HOST | (uint64_t)11 << 32;
    e.field[5] = PLAY_DEVICE;
    words_add(&w, bytes);
    words_add(&w, 0);
    words_add(&w, ++p->number);
    add_dims(p, &w);
    tape_put(&p->tape, e, &w);
    return made;
}

/* Sends BYTES into the buffer HANDLE, which is there; 0: into one that a manager of transfers
 * holds. They have arrived when the call returns. */
static inline void play_feed(play *p, int thread, uint64_t handle, uint64_t bytes, uint64_t ns)
{
    record_event e = play_call(p, thread, RECORD_TO_DEVICE, ns);
    e.field[3] = handle;
    e.field[4] = bytes;
    e.field[5] = ++p->number;
    tape_put(&p->tape, e, NULL);
    tape_put(&p->tape,
             (record_event){
                 .kind = RECORD_COMPLETE, .thread = 999, .time = e.field[0], .field = {e.field[5]}},
             NULL);
}

/* Reads HANDLE's bytes. */
static inline void play_read(play *p, int thread, uint64_t handle, uint64_t ns)
{
    record_event e = play_call(p, thread, RECORD_TO_HOST, ns);
    e.field[3] = handle;
    e.field[4] = 24;
    e.field[5] = ++p->number;
    tape_put(&p->tape, e, NULL);
}

/* A call of KIND that waits until the device has ended. */
static inline record_event play_waiting_call(play *p, int thread, int device, enum record_kind kind)
{
    record_event e = {.kind = (uint8_t)kind, .thread = p->thread[thread].number};
    e.time = p->thread[thread].now;
    e.field[1] = clock_of(p, thread);
    play_wait(p, thread, device);
    e.field[0] = p->thread[thread].now;
    e.field[2] = clock_of(p, thread);
    return e;
}

/* Waits in PJRT_Event_Await until the device has ended. */
static inline void play_await(play *p, int thread, int device)
{
    tape_put(&p->tape, play_waiting_call(p, thread, device, RECORD_WAIT), NULL);
}

/* Waits for HANDLE, and reads it where it is. */
static inline void play_read_in_place(play *p, int thread, int device, uint64_t handle)
{
    record_event e = play_waiting_call(p, thread, device, RECORD_TO_HOST);
    e.flags = RECORD_IN_PLACE;
    e.field[3] = handle;
    tape_put(&p->tape, e, NULL);
}

/* STEPS steps: the host works for WORK_NS and runs COUNT programs, at most six, each as R. Then it
 * awaits the device outside of calls. */
static inline void play_awaited(play *p, int steps, unsigned count, run r, uint64_t work_ns)
{
    static const char *const names[] = {"jit_a", "jit_b", "jit_c", "jit_d", "jit_e", "jit_f"};
    play_program programs[sizeof names / sizeof *names];
    assert_true(count <= sizeof names / sizeof *names);
    for (unsigned i = 0; i < count; i++)
        programs[i] = play_compile(p, names[i], 20 + i, 1, 1, MS);
    for (int step = 0; step < steps; step++) {
        play_work(p, 0, work_ns);
        for (unsigned i = 0; i < count; i++)
            play_execute(p, &programs[i], r, NULL);
        play_wait(p, 0, 0);
    }
}

/* Reads the recording of the one process P, which ends with it, from the new folder FOLDER. */
static inline rec_recording *play_open(play *p, char *folder, size_t size)
{
    bn_status st = {0};
    rec_recording *recording = NULL;
    fixture_folder(folder, size, "recording");
    tape_write(&p->tape, folder, "100-1");
    assert_ok(rec_open(folder, &recording, &st), &st);
    return recording;
}

static inline rec_steps *play_steps(const rec_recording *recording, const char *step_program)
{
    bn_status st = {0};
    const rec_options options = {.device = -1, .step_program = step_program};
    rec_steps *steps = NULL;
    assert_ok(rec_steps_find(recording, &options, &steps, &st), &st);
    return steps;
}

/* ---- steps and their answer -------------------------------------------------------------- */

/* A recording and its steps. */
typedef struct found {
    char folder[300];
    rec_recording *recording;
    rec_steps *steps;
    rec_answer answer;
} found;

static inline found find(play *p, const char *step_program)
{
    found f = {.recording = NULL};
    f.recording = play_open(p, f.folder, sizeof f.folder);
    f.steps = play_steps(f.recording, step_program);
    f.answer = rec_answer_make(f.steps);
    return f;
}

static inline void lose(found *f)
{
    rec_steps_free(f->steps);
    rec_close(f->recording);
}

/* Invariants of every ledger. */
static inline void sums_hold(const rec_steps *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const rec_step *step = &s->list[i];
        uint64_t parts = 0, gaps = 0;
        for (int k = 0; k < REC_PART_COUNT; k++) {
            parts += step->part_ns[k];
            gaps += step->gap_ns[k];
            assert_true(step->gap_ns[k] <= step->part_ns[k] + 8);
        }
        assert_int_equal(parts, step->wall_ns);
        assert_int_equal(gaps, step->wall_ns - step->busy_ns);
    }
    /* Each gap is before one of the programs. */
    for (int k = 0; k < REC_PART_COUNT; k++) {
        double gaps = 0;
        for (size_t i = 0; i < s->program_count; i++)
            gaps += s->programs[i].gap_ns[k];
        assert_near(gaps, rec_steps_gap(s, (rec_part)k).mean_ns, 1);
    }
}

#endif
