/*
 * record_fixture.h - recorded processes, and a small reader of what they left.
 *
 * A recorder reads its environment once and begins one file a process. So what is recorded runs in
 * a child of its own, whose failures are its exit status, and the test reads the file behind it.
 * BENCH_TEST_BUILD names the folder with the plugins.
 */
#ifndef BENCH_TESTS_RECORD_FIXTURE_H
#define BENCH_TESTS_RECORD_FIXTURE_H

#include "runtime/record/format.h"
#include "tests/support/sanitized.h"
#include "tests/support/test_runtime.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Libraries of sanitizers do not bear one that is loaded before them (test_record_preload.c), nor
 * threads that begin behind a fork (RACES_SOUGHT). */

/* ---- a recorded child -------------------------------------------------------------------------
 */

/* In a child: what must be true. */
#define MUST(truth)                                                                                \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            fprintf(stderr, "%s:%d: in the child: %s\n", __FILE__, __LINE__, #truth);              \
            _exit(7);                                                                              \
        }                                                                                          \
    } while (0)
#define MUST_DO(call, st)                                                                          \
    do {                                                                                           \
        if ((call) != BN_OK) {                                                                     \
            fprintf(stderr, "%s:%d: in the child: %s: %s\n", __FILE__, __LINE__, #call,            \
                    (st)->message);                                                                \
            _exit(7);                                                                              \
        }                                                                                          \
    } while (0)

/* Path of "libNAME.so" of this build, in one of a few places that are used in turn. */
static inline const char *built(const char *name)
{
    static char paths[4][4096];
    static unsigned next;
    const char *build = getenv("BENCH_TEST_BUILD");
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/lib%s.so", build ? build : "build", name);
    return path;
}

/* A new folder, which the test's runner removes. */
static inline const char *new_folder(void)
{
    static char path[4096];
    const char *parent = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/record.XXXXXX", parent ? parent : P_tmpdir);
    assert_non_null(mkdtemp(path));
    return path;
}

/* The child's environment: FOLDER may be NULL. */
static inline void set_recorder(const char *folder, const char *plugin)
{
    unsetenv(RECORD_ENV_FOLDER);
    if (folder)
        setenv(RECORD_ENV_FOLDER, folder, 1);
    setenv(RECORD_ENV_PLUGIN, built(plugin), 1);
}

/* Starts a child that does WHAT with FOLDER. */
static inline pid_t start_child(void (*what)(const char *folder), const char *folder)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        what(folder);
        _exit(0);
    }
    return child;
}

static inline int end_of(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* The child must do it, and end well. */
static inline void in_child(void (*what)(const char *folder), const char *folder)
{
    assert_int_equal(end_of(start_child(what, folder)), 0);
}

/* ---- what the child does ----------------------------------------------------------------------
 */

/* x and y of 4 floats, to x + y; and the double of a donated argument. */
#define ADD                                                                                        \
    "module @jit_add {\n"                                                                          \
    "  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"          \
    "    %0 = stablehlo.add %a, %b : tensor<4xf32>\n"                                              \
    "    return %0 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"
#define DONATE                                                                                     \
    "module @jit_donate {\n"                                                                       \
    "  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> "               \
    "tensor<4xf32> {\n"                                                                            \
    "    %0 = stablehlo.add %a, %a : tensor<4xf32>\n"                                              \
    "    return %0 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"

/* A client behind the recorder, with a program. */
typedef struct runner {
    rt_client *client;
    rt_executable *executable;
} runner;

static inline rt_client *recorded_client(const char *setting)
{
    bn_status st = {0};
    rt_plugin *plugin = NULL;
    rt_client *client = NULL;
    char text[256];
    rt_option option;
    snprintf(text, sizeof text, "%s", setting ? setting : "");
    MUST_DO(rt_plugin_load(built("pjrt_record"), NULL, &plugin, &st), &st);
    if (setting)
        MUST_DO(rt_option_parse(text, &option, &st), &st);
    MUST_DO(rt_client_create(plugin, &option, setting ? 1 : 0, &client, &st), &st);
    return client;
}

static inline runner runner_new(const char *setting, const char *program)
{
    bn_status st = {0};
    runner r = {.client = recorded_client(setting)};
    MUST_DO(compile_text(r.client, program, strlen(program), NULL, &r.executable, &st), &st);
    return r;
}

static inline rt_buffer *floats(const runner *r, float value)
{
    bn_status st = {0};
    rt_buffer *buffer = NULL;
    const int64_t dims[1] = {4};
    const float data[4] = {value, value, value, value};
    MUST_DO(rt_buffer_from_host(r->client, data, BN_F32, dims, 1, &buffer, &st), &st);
    return buffer;
}

static inline float first_of(const runner *r, rt_buffer *buffer)
{
    bn_status st = {0};
    float data[4] = {0};
    MUST_DO(rt_buffer_to_host(r->client, buffer, data, sizeof data, &st), &st);
    return data[0];
}

/* The plugin's own table, which it hands out no more: a change of a pointer in it changes what the
 * recorder calls. The recorder has its own copy of it already. */
static inline PJRT_Api *table_of(const char *plugin)
{
    const PJRT_Api *(*get)(void) = NULL;
    void *library = dlopen(built(plugin), RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    memcpy(&get, &symbol, sizeof get);
    MUST(get);
    return (PJRT_Api *)(uintptr_t)get();
}

/* One execution and its end. */
static inline rt_buffer *run(const runner *r, rt_buffer *const *arguments, size_t count)
{
    bn_status st = {0};
    rt_buffer *result = NULL;
    rt_event *done = NULL;
    MUST_DO(rt_execute(r->executable, arguments, count, NULL, 0, &result, &done, &st), &st);
    MUST_DO(rt_event_await(r->client, done, &st), &st);
    rt_event_release(r->client, done);
    return result;
}

/* Slots of one addition, whose end somebody waits for: execution (2), a wait, the result's end; its
 * own end only where it had not ended when the call returned. */
enum { LEAST_SLOTS = 4, CHUNK_SLOTS = (1 << 20) / RECORD_SLOT };

/* COUNT additions of 1 and 2, one after the other; without WAIT nobody asks for their ends. */
static inline void add_often(const runner *r, size_t count, bool wait)
{
    bn_status st = {0};
    rt_buffer *arguments[2] = {floats(r, 1), floats(r, 2)}, *result = NULL;
    for (size_t i = 0; i < count; i++) {
        if (wait)
            result = run(r, arguments, 2);
        else
            MUST_DO(rt_execute(r->executable, arguments, 2, NULL, 0, &result, NULL, &st), &st);
        if (i + 1 == count)
            MUST(first_of(r, result) == 3);
        rt_buffer_release(r->client, result);
    }
    rt_buffer_release(r->client, arguments[0]);
    rt_buffer_release(r->client, arguments[1]);
}

static inline void runner_free(runner *r)
{
    rt_executable_destroy(r->executable);
    rt_client_destroy(r->client);
}

/* ---- reader --------------------------------------------------------------------------------- */

typedef struct recording {
    char folder[8192]; /* of the process */
    record_file head;
    uint8_t *slots;
    size_t count;
} recording;

/* An event with its words. */
typedef struct logged {
    record_event event;
    size_t at; /* slot */
    uint64_t words[2048];
    size_t bytes;
} logged;

/* The folders of processes in FOLDER: how many; the one at INDEX in order of their names. */
static inline size_t processes(const char *folder, size_t index, char *path, size_t size)
{
    struct dirent **entries = NULL;
    size_t count = 0;
    int n = scandir(folder, &entries, NULL, alphasort);
    assert_true(n >= 0);
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.' && count++ == index && path)
            snprintf(path, size, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return count;
}

/* The recording of one process. */
static inline recording recording_of(const char *process)
{
    recording r = {.count = 0};
    char path[8300];
    size_t size = 0;
    char *bytes = NULL;
    bn_status st = {0};
    snprintf(r.folder, sizeof r.folder, "%s", process);
    snprintf(path, sizeof path, "%s/events", process);
    assert_ok(bn_regular_read(path, &bytes, &size, &st), &st);
    assert_true(size >= sizeof r.head);
    r.slots = (uint8_t *)bytes;
    r.count = size / RECORD_SLOT;
    memcpy(&r.head, bytes, sizeof r.head);
    assert_string_equal(r.head.magic, RECORD_MAGIC);
    assert_int_equal(r.head.version, RECORD_VERSION);
    assert_int_equal(r.head.slot, RECORD_SLOT);
    return r;
}

/* Of the one process that was recorded into FOLDER. */
static inline recording recording_in(const char *folder)
{
    char path[8192];
    assert_int_equal(processes(folder, 0, path, sizeof path), 1);
    return recording_of(path);
}

static inline void recording_free(recording *r)
{
    free(r->slots);
}

/* The next finished event from slot *AT on, which moves behind it. False at the end. */
static inline bool recording_next(const recording *r, size_t *at, logged *t)
{
    for (size_t i = *at ? *at : 1; i < r->count; i++) {
        memcpy(&t->event, r->slots + i * RECORD_SLOT, RECORD_SLOT);
        if (t->event.kind == RECORD_NOTHING || t->event.kind == RECORD_MORE)
            continue;
        assert_true(t->event.kind < RECORD_KINDS);
        assert_true(i + t->event.more < r->count);
        t->at = i;
        t->bytes = 0;
        for (size_t m = 1; m <= t->event.more; m++) {
            record_more more;
            memcpy(&more, r->slots + (i + m) * RECORD_SLOT, RECORD_SLOT);
            assert_int_equal(more.kind, RECORD_MORE);
            assert_int_equal(more.index, m);
            assert_true(more.bytes <= sizeof more.data &&
                        (m == t->event.more || more.bytes == sizeof more.data));
            assert_true(t->bytes + more.bytes <= sizeof t->words);
            memcpy((uint8_t *)t->words + t->bytes, more.data, more.bytes);
            t->bytes += more.bytes;
        }
        *at = i + t->event.more + 1;
        return true;
    }
    return false;
}

/* The event of KIND at INDEX among those; false where there are not so many. */
static inline bool recording_find(const recording *r, int kind, size_t index, logged *t)
{
    size_t at = 0;
    while (recording_next(r, &at, t))
        if (t->event.kind == kind && index-- == 0)
            return true;
    return false;
}

static inline void recording_get(const recording *r, int kind, size_t index, logged *t)
{
    if (!recording_find(r, kind, index, t))
        fail_msg("there is no event %d of kind %d", (int)index, kind);
}

static inline size_t recording_count(const recording *r, int kind)
{
    logged t;
    size_t at = 0, count = 0;
    while (recording_next(r, &at, &t))
        count += t.event.kind == kind;
    return count;
}

/* There are so many whole executions of additions, in the order of their numbers. */
static inline void recording_executions(const recording *r, size_t at_least)
{
    logged t;
    uint64_t number = 0;
    size_t at = 0, executions = 0;
    while (recording_next(r, &at, &t)) {
        if (t.event.kind != RECORD_EXECUTE)
            continue;
        assert_true(t.event.field[4] > number);
        number = t.event.field[4];
        executions++;
        assert_int_equal(t.bytes, (t.event.flags & RECORD_ASKED ? 8 : 7) * sizeof t.words[0]);
    }
    assert_true(executions >= at_least);
}

/* All handles of BUFFER_END events, of which each may have several, in order; with the flags. How
 * many there are. */
typedef struct buffer_end {
    uint64_t handle;
    int flags;
} buffer_end;
static inline size_t recording_ends(const recording *r, buffer_end *ends, size_t most)
{
    logged t;
    size_t at = 0, count = 0;
    while (recording_next(r, &at, &t)) {
        const size_t room = t.event.kind == RECORD_BUFFER_END ? 6 + t.bytes / sizeof *t.words : 0;
        for (size_t i = 0; i < room; i++) {
            const uint64_t handle = i < 6 ? t.event.field[i] : t.words[i - 6];
            if (!handle)
                break;
            if (count < most)
                ends[count] = (buffer_end){handle, t.event.flags};
            count++;
        }
    }
    return count;
}

/* The text of kind WHAT at INDEX among those. */
static inline bool recording_text(const recording *r, enum record_text what, size_t index,
                                  char *text, size_t size)
{
    logged t;
    size_t at = 0;
    while (recording_next(r, &at, &t))
        if (t.event.kind == RECORD_TEXT && t.event.field[0] == what && index-- == 0) {
            snprintf(text, size, "%.*s", (int)t.bytes, (const char *)t.words);
            return true;
        }
    return false;
}

/* A text that the words end with, from word FIRST on. */
static inline const char *words_text(const logged *t, size_t first)
{
    static char text[4096];
    size_t begin = first * sizeof t->words[0];
    assert_true(begin <= t->bytes);
    snprintf(text, sizeof text, "%.*s", (int)(t->bytes - begin), (const char *)&t->words[first]);
    return text;
}

#endif
