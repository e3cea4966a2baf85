/*
 * pjrt_program.c - a small training loop on a PJRT plugin, as a framework would run it: what tests
 * record. It knows nothing of any recorder. It loads the plugin that PJRT_LIBRARY_PATH names.
 *
 *   pjrt_program [--way fused|two|ops] [--steps N] [--size N] [--work MS] [--sleep MS]
 *                [--read-every N] [--feed] [--pool] [--kept] [--byte-code] [--damaged-after N]
 *                [--anew-every N] [--close-at N] [--send-mib N] [--pad-kib N] [--option NAME=VALUE]
 *                [--signal N] [--exit CODE]
 *
 * Weights of SIZE x SIZE go from step to step, donated. "fused" runs one program a step, "two" one
 * for the gradient and one for the update, "ops" nine small ones. KEPT: "fused" donates nothing.
 * BYTE-CODE: the first bytes of MLIR's byte code stand before the texts. Plugins that read any
 * bytes take it, and so does the simulated device, which is given the types. DAMAGED-AFTER: nobody
 * can read the byte code of later programs than the first N. ANEW-EVERY compiles it anew every so
 * many steps, with another rate. CLOSE-AT: before that step it closes all descriptors that it may
 * have inherited, as services do, and opens files of its own in their places; if anyone else has
 * written there, it ends with 8. WORK is busy time of the host before each step, SLEEP time off the
 * CPU. FEED sends a batch each step. POOL executes in another thread. READ-EVERY tells how often
 * the loss is read, which waits for the device. SEND-MIB: so many MiB that no program takes are
 * sent at the end of each step, behind the read. PAD-KIB: comments of that size stand behind each
 * text. Option N=V is the client's. At the end: a signal to itself, or an exit code.
 *
 * Standard output: {"steps", "median_ns", "mean_ns", "first_start_ns", "last_end_ns", "wall_ns":
 * [...], "checksum"}: its own clock's word on the second half of the steps, and a sum over the bits
 * of the weights and of all losses that were read.
 */
#define _GNU_SOURCE
#include "tests/support/compile_text.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Programs. %1$d is the size, %2$.3e the rate. */
static const char fused_text[] =
    "module @fused {\n"
    "  func.func public @main(%%w: tensor<%1$dx%1$dxf32> {tf.aliasing_output = 0 : i32}, "
    "%%x: tensor<%1$dxf32>) -> (tensor<%1$dx%1$dxf32>, tensor<f32>) {\n"
    "    %%y = stablehlo.dot_general %%w, %%x, contracting_dims = [1] x [0] : "
    "(tensor<%1$dx%1$dxf32>, tensor<%1$dxf32>) -> tensor<%1$dxf32> "
    "loc(\"jit(fused)/jvp(Dense_0)/dot_general\")\n"
    "    %%l = stablehlo.dot_general %%y, %%y, contracting_dims = [0] x [0] : "
    "(tensor<%1$dxf32>, tensor<%1$dxf32>) -> tensor<f32>\n"
    "    %%g = stablehlo.broadcast_in_dim %%y, dims = [0] : (tensor<%1$dxf32>) -> "
    "tensor<%1$dx%1$dxf32>\n"
    "    %%r = stablehlo.constant dense<%2$.3e> : tensor<%1$dx%1$dxf32>\n"
    "    %%s = stablehlo.multiply %%g, %%r : tensor<%1$dx%1$dxf32>\n"
    "    %%v = stablehlo.subtract %%w, %%s : tensor<%1$dx%1$dxf32>\n"
    "    return %%v, %%l : tensor<%1$dx%1$dxf32>, tensor<f32>\n"
    "  }\n}\n";
static const char gradient_text[] =
    "module @gradient {\n"
    "  func.func public @main(%%w: tensor<%1$dx%1$dxf32>, %%x: tensor<%1$dxf32>) -> "
    "(tensor<%1$dx%1$dxf32>, tensor<f32>) {\n"
    "    %%y = stablehlo.dot_general %%w, %%x, contracting_dims = [1] x [0] : "
    "(tensor<%1$dx%1$dxf32>, tensor<%1$dxf32>) -> tensor<%1$dxf32>\n"
    "    %%l = stablehlo.dot_general %%y, %%y, contracting_dims = [0] x [0] : "
    "(tensor<%1$dxf32>, tensor<%1$dxf32>) -> tensor<f32>\n"
    "    %%g = stablehlo.broadcast_in_dim %%y, dims = [0] : (tensor<%1$dxf32>) -> "
    "tensor<%1$dx%1$dxf32>\n"
    "    return %%g, %%l : tensor<%1$dx%1$dxf32>, tensor<f32>\n"
    "  }\n}\n";
static const char update_text[] =
    "module @update {\n"
    "  func.func public @main(%%w: tensor<%1$dx%1$dxf32> {tf.aliasing_output = 0 : i32}, "
    "%%g: tensor<%1$dx%1$dxf32>) -> tensor<%1$dx%1$dxf32> {\n"
    "    %%r = stablehlo.constant dense<1.0e-3> : tensor<%1$dx%1$dxf32>\n"
    "    %%s = stablehlo.multiply %%g, %%r : tensor<%1$dx%1$dxf32>\n"
    "    %%v = stablehlo.subtract %%w, %%s : tensor<%1$dx%1$dxf32>\n"
    "    return %%v : tensor<%1$dx%1$dxf32>\n"
    "  }\n}\n";
/* A tenth of the update, and no gradient of the weights at that moment. */
static const char part_text[] =
    "module @part {\n"
    "  func.func public @main(%%w: tensor<%1$dx%1$dxf32> {tf.aliasing_output = 0 : i32}, "
    "%%g: tensor<%1$dx%1$dxf32>) -> tensor<%1$dx%1$dxf32> {\n"
    "    %%r = stablehlo.constant dense<1.0e-4> : tensor<%1$dx%1$dxf32>\n"
    "    %%s = stablehlo.multiply %%g, %%r : tensor<%1$dx%1$dxf32>\n"
    "    %%v = stablehlo.subtract %%w, %%s : tensor<%1$dx%1$dxf32>\n"
    "    return %%v : tensor<%1$dx%1$dxf32>\n"
    "  }\n}\n";

enum { PARTS = 8, MOST_STEPS = 100000, MOST_OPTIONS = 8, STATED = 5 };

typedef struct loop {
    const char *way;
    long steps, size, read_every, anew_every, close_at, send_mib, pad_kib, signal, exit_code;
    long damaged_after, compiled; /* programs; damaged after -1: none */
    double work_ms, sleep_ms;
    double rate;
    bool feed, pool, kept, byte_code;
    rt_option options[MOST_OPTIONS];
    size_t option_count;
    rt_client *client;
    rt_executable *first, *second; /* the second is NULL where there is one program */
    rt_buffer *weights, *batch, *loss, *sent;
    float *host, *more; /* MORE: what --send-mib sends */
    uint64_t checksum;
    bn_status st;
} loop;

static void fail(const char *what, const bn_status *st)
{
    fprintf(stderr, "pjrt_program: %s: %s\n", what, st ? st->message : "");
    exit(9);
}

#define DO(call, what)                                                                             \
    do {                                                                                           \
        if ((call) != BN_OK)                                                                       \
            fail(what, &l->st);                                                                    \
    } while (0)

/* ---- the command line ------------------------------------------------------------------------ */

static bool take_flag(loop *l, const char *name)
{
    const struct {
        const char *name;
        bool *set;
    } flags[] = {{"--feed", &l->feed},
                 {"--pool", &l->pool},
                 {"--kept", &l->kept},
                 {"--byte-code", &l->byte_code}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0)
            return *flags[i].set = true;
    return false;
}

static void take_value(loop *l, const char *name, char *value)
{
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {
        {"--steps", offsetof(loop, steps)},
        {"--size", offsetof(loop, size)},
        {"--signal", offsetof(loop, signal)},
        {"--exit", offsetof(loop, exit_code)},
        {"--anew-every", offsetof(loop, anew_every)},
        {"--close-at", offsetof(loop, close_at)},
        {"--read-every", offsetof(loop, read_every)},
        {"--send-mib", offsetof(loop, send_mib)},
        {"--pad-kib", offsetof(loop, pad_kib)},
        {"--damaged-after", offsetof(loop, damaged_after)},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0) {
            *(long *)(void *)((char *)l + numbers[i].offset) = atol(value);
            return;
        }
    if (strcmp(name, "--way") == 0)
        l->way = value;
    else if (strcmp(name, "--work") == 0)
        l->work_ms = atof(value);
    else if (strcmp(name, "--sleep") == 0)
        l->sleep_ms = atof(value);
    else if (strcmp(name, "--option") == 0 && l->option_count < MOST_OPTIONS)
        DO(rt_option_parse(value, &l->options[l->option_count++], &l->st), "option");
    else
        fail(name, NULL);
}

static void read_words(loop *l, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!take_flag(l, argv[i])) {
            if (i + 1 == argc)
                fail(argv[i], NULL);
            take_value(l, argv[i], argv[i + 1]);
            i++;
        }
    if (l->steps < 1 || l->steps > MOST_STEPS || l->size < 1 || l->size > 4096 ||
        l->read_every < 1 || l->send_mib < 0 || l->send_mib > 1024)
        fail("a number is out of its range", NULL);
}

/* ---- what runs ---------------------------------------------------------------------------------
 */

static const char aliasing[] = "{tf.aliasing_output = 0 : i32}";

/* Flags that state the costs of TEXT, which the simulated device cannot read as byte code. */
static void state(const loop *l, const char *text, bn_text flags[STATED])
{
    static const char module[] = "module @";
    const char *name = text + sizeof module - 1;
    const bool updates = text == update_text || text == part_text;
    char square[64], vector[64];
    snprintf(square, sizeof square, "f32[%ld,%ld]", l->size, l->size);
    snprintf(vector, sizeof vector, "f32[%ld]", l->size);
    bn_text_printf(&flags[0], "opaque_name=%.*s", (int)strcspn(name, " "), name);
    bn_text_printf(&flags[1], "opaque_arguments=%s;%s", square, updates ? square : vector);
    bn_text_printf(&flags[2], "opaque_results=%s%s", square, updates ? "" : ";f32[]");
    bn_text_printf(&flags[3], "opaque_aliases=%s", l->kept || !strstr(text, aliasing) ? "" : "0:0");
    bn_text_puts(&flags[4], "opaque_device_us=2000");
}

static rt_executable *compile(loop *l, const char *text)
{
    rt_executable *executable = NULL;
    bn_text program = {0}, stated[STATED] = {{0}};
    const char *flags[STATED];
    const rt_compile_options options = {.flags = flags, .flag_count = l->byte_code ? STATED : 0};
    const bool damages = l->byte_code && l->damaged_after >= 0;
    bn_text_puts(&program, l->byte_code ? "ML\357R" : "");
    bn_text_puts(&program, damages && l->compiled++ >= l->damaged_after ? "damaged " : "");
    bn_text_printf(&program, text, (int)l->size, l->rate);
    /* Blanks in place of the attribute: what is not aliased is not donated. */
    char *aliased = l->kept ? strstr(program.data, aliasing) : NULL;
    if (aliased)
        memset(aliased, ' ', sizeof aliasing - 1);
    for (long i = 0; i < l->pad_kib << 4; i++)
        bn_text_printf(&program, "// %060ld\n", i);
    state(l, text, stated);
    for (size_t i = 0; i < STATED; i++)
        flags[i] = stated[i].data;
    DO(compile_text(l->client, program.data, program.length, &options, &executable, &l->st),
       "compile");
    for (size_t i = 0; i < STATED; i++)
        bn_text_free(&stated[i]);
    bn_text_free(&program);
    return executable;
}

/* Numbers that depend on SEED only. */
static rt_buffer *send(loop *l, unsigned seed, size_t count, const int64_t *dims, size_t rank)
{
    rt_buffer *buffer = NULL;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        l->host[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
    }
    DO(rt_buffer_from_host(l->client, l->host, BN_F32, dims, rank, &buffer, &l->st), "transfer");
    return buffer;
}

static void send_batch(loop *l, unsigned seed)
{
    const int64_t dims[] = {l->size};
    rt_buffer_release(l->client, l->batch);
    l->batch = send(l, seed, (size_t)l->size, dims, 1);
}

static size_t more_floats(const loop *l)
{
    return ((size_t)l->send_mib << 20) / sizeof *l->more;
}

static void send_more(loop *l)
{
    const int64_t dims[] = {(int64_t)more_floats(l)};
    rt_buffer_release(l->client, l->sent);
    l->sent = NULL;
    DO(rt_buffer_from_host(l->client, l->more, BN_F32, dims, 1, &l->sent, &l->st), "transfer");
}

static void add_bits(loop *l, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        l->checksum = l->checksum * 6364136223846793005u + bits;
    }
}

static void set_up(loop *l)
{
    rt_plugin *plugin = NULL;
    const char *path = getenv("PJRT_LIBRARY_PATH");
    const int64_t dims[] = {l->size, l->size};
    if (!path)
        fail("PJRT_LIBRARY_PATH is not set", NULL);
    DO(rt_plugin_load(path, NULL, &plugin, &l->st), "plugin");
    DO(rt_client_create(plugin, l->options, l->option_count, &l->client, &l->st), "client");
    if (strcmp(l->way, "fused") == 0) {
        l->first = compile(l, fused_text);
    } else {
        l->first = compile(l, gradient_text);
        l->second = compile(l, strcmp(l->way, "two") == 0 ? update_text : part_text);
    }
    l->host = calloc((size_t)(l->size * l->size), sizeof *l->host);
    l->more = malloc((more_floats(l) + 1) * sizeof *l->more);
    if (!l->host || !l->more)
        fail("no memory", NULL);
    for (size_t i = 0; i < more_floats(l); i++)
        l->more[i] = 1;
    l->weights = send(l, 1, (size_t)(l->size * l->size), dims, 2);
    send_batch(l, 2);
}

/* New weights take the place of those that the execution was given. */
static void replace_weights(loop *l, rt_buffer *weights)
{
    rt_buffer_release(l->client, l->weights);
    l->weights = weights;
}

static void execute(loop *l)
{
    rt_buffer *arguments[] = {l->weights, l->batch}, *results[2] = {NULL, NULL};
    DO(rt_execute(l->first, arguments, 2, NULL, 0, results, NULL, &l->st), "execute");
    rt_buffer_release(l->client, l->loss);
    l->loss = results[1];
    if (!l->second) {
        replace_weights(l, results[0]);
        return;
    }
    const int times = strcmp(l->way, "two") == 0 ? 1 : PARTS;
    for (int i = 0; i < times; i++) {
        rt_buffer *updated[1] = {NULL}, *pair[] = {l->weights, results[0]};
        DO(rt_execute(l->second, pair, 2, NULL, 0, updated, NULL, &l->st), "execute");
        replace_weights(l, updated[0]);
    }
    rt_buffer_release(l->client, results[0]);
}

/* Busy for MS of this thread's CPU time. */
static void work(double ms)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const double end = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + ms;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < end);
}

static void rest(double ms)
{
    const struct timespec time = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};
    if (ms > 0)
        nanosleep(&time, NULL);
}

/* ---- a thread that executes
 * ---------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
enum { NOTHING, ASKED, DONE, END };
static int turn = NOTHING;

static void set_turn(int next)
{
    pthread_mutex_lock(&mutex);
    turn = next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static int await_turn(int one, int other)
{
    pthread_mutex_lock(&mutex);
    while (turn != one && turn != other)
        pthread_cond_wait(&changed, &mutex);
    const int now = turn;
    pthread_mutex_unlock(&mutex);
    return now;
}

static void *pool(void *argument)
{
    while (await_turn(ASKED, END) == ASKED) {
        execute(argument);
        set_turn(DONE);
    }
    return NULL;
}

/* ---- the loop
 * -------------------------------------------------------------------------------------- */

enum { OWN_FILES = 64 };
static FILE *own_files[OWN_FILES];

static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < OWN_FILES; i++)
        if (!(own_files[i] = tmpfile()) || fwrite("mine", 4, 1, own_files[i]) != 1 ||
            fflush(own_files[i]) != 0)
            fail("a file of its own", NULL);
}

static bool own_files_are_whole(void)
{
    char text[8];
    for (int i = 0; i < OWN_FILES && own_files[i]; i++) {
        rewind(own_files[i]);
        if (fread(text, 1, sizeof text, own_files[i]) != 4 || memcmp(text, "mine", 4) != 0)
            return false;
    }
    return true;
}

static void step(loop *l, long number)
{
    if (l->close_at && number == l->close_at)
        close_all();
    if (l->feed)
        send_batch(l, (unsigned)number + 3);
    if (l->anew_every && number % l->anew_every == l->anew_every - 1) {
        l->rate *= 1.01;
        rt_executable_destroy(l->first);
        l->first = compile(l, fused_text);
    }
    work(l->work_ms);
    rest(l->sleep_ms);
    if (l->pool) {
        set_turn(ASKED);
        (void)await_turn(DONE, DONE);
    } else {
        execute(l);
    }
    if (number % l->read_every == 0) {
        float loss;
        DO(rt_buffer_to_host(l->client, l->loss, &loss, sizeof loss, &l->st), "loss");
        add_bits(l, &loss, 1);
    }
    if (l->send_mib > 0)
        send_more(l);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t l = *(const uint64_t *)a, r = *(const uint64_t *)b;
    return (l > r) - (l < r);
}

static void run(loop *l)
{
    static uint64_t times[MOST_STEPS + 1];
    const long half = l->steps / 2, count = l->steps - half;
    times[0] = bn_now_ns();
    for (long i = 0; i < l->steps; i++) {
        step(l, i);
        times[i + 1] = bn_now_ns();
    }
    const uint64_t first = times[half], last = times[l->steps];
    const double mean = (double)(last - first) / (double)count;
    for (long i = 0; i < count; i++)
        times[i] = times[half + i + 1] - times[half + i];
    printf("{\"wall_ns\": [");
    for (long i = 0; i < count; i++)
        printf("%s%" PRIu64, i ? ", " : "", times[i]);
    printf("], \"first_start_ns\": %" PRIu64 ", \"last_end_ns\": %" PRIu64 ", ", first, last);
    qsort(times, (size_t)count, sizeof *times, by_size);
    const size_t size = (size_t)(l->size * l->size);
    DO(rt_buffer_to_host(l->client, l->weights, l->host, size * sizeof *l->host, &l->st),
       "weights");
    add_bits(l, l->host, size);
    printf("\"steps\": %ld, \"median_ns\": %" PRIu64
           ", \"mean_ns\": %.0f, \"checksum\": \"%016" PRIx64 "\"}\n",
           l->steps, times[count / 2], mean, l->checksum);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    loop l = {.way = "fused", .steps = 40, .size = 64, .read_every = 1, .damaged_after = -1};
    pthread_t thread;
    l.rate = 1e-3;
    read_words(&l, argc, argv);
    set_up(&l);
    if (l.pool && pthread_create(&thread, NULL, pool, &l) != 0)
        fail("no thread", NULL);
    run(&l);
    if (l.pool) {
        set_turn(END);
        pthread_join(thread, NULL);
    }
    if (l.signal)
        raise((int)l.signal);
    rt_buffer_release(l.client, l.weights);
    rt_buffer_release(l.client, l.batch);
    rt_buffer_release(l.client, l.loss);
    rt_buffer_release(l.client, l.sent);
    rt_executable_destroy(l.first);
    rt_executable_destroy(l.second);
    rt_client_destroy(l.client);
    free(l.host);
    free(l.more);
    return own_files_are_whole() ? (int)l.exit_code : 8;
}
