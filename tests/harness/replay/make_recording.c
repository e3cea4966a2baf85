/*
 * make_recording.c - writes a small recording by hand, for check_replay.sh and check_recorded.sh:
 *
 *   make_recording KIND FOLDER
 *
 * A training loop of two programs: jit_grad takes w and a batch x and gives a gradient and a value,
 * jit_update takes w, which it consumes, and the gradient, and gives the next w. A step takes 10
 * ms, of which the device works 3 and 2. KIND says what is special:
 *
 *   text      programs are StableHLO text, and were compiled for device 1, as PyTorch/XLA does
 *   opaque    programs are bytes that no runtime can read
 *   unweighed the same, and their compiler reported neither FLOPs nor bytes
 *   unended   the same as opaque, and no end of jit_update was recorded
 *   readable  the same as unended, but programs are text
 *   alike     a third program runs once a step; the programs are called f, f and f_2
 *   cut       the programs' names differ in their last letter only, the 61st
 *   unkept    the code of jit_update was not kept
 *   several   executions are on two devices
 *   stages    a second device of the same client executes once a step, too
 *   types     x has an element type that bench cannot make up
 *   host      as opaque, but the host works for 10 ms before jit_grad, and awaits jit_update: a
 * step takes 15 ms, of which the device works 5 ahead     as host, but the host awaits nothing: a
 * step takes 10 ms
 */
#include "runtime/record/format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MS UINT64_C(1000000)
enum { STEPS = 24, THREAD = 4711, F32 = 11, S4 = 21 };
/* Handles. */
enum {
    CLIENT = 0x1000,
    DEVICE = 0x2000,
    GRAD = 0x3000,
    UPDATE = 0x3100,
    STAGE = 0x3200,
    BUFFERS = 0x10000
};

static FILE *events;
static const char *kind;
static char process[4096];

static _Noreturn void stop(const char *what)
{
    perror(what);
    exit(1);
}

static bool is(const char *word)
{
    return strcmp(kind, word) == 0;
}

/* ---- slots ---------------------------------------------------------------------------- */

static uint8_t words[4096];
static size_t used;

static void add(const void *bytes, size_t size)
{
    memcpy(words + used, bytes, size);
    used += size;
}

static void add_number(uint64_t value)
{
    add(&value, sizeof value);
}

/* An event with the words that were added. */
static void put(uint8_t event_kind, uint8_t flags, uint64_t time, const uint64_t field[6])
{
    const size_t room = sizeof((record_more *)0)->data;
    record_event e = {.kind = event_kind,
                      .flags = flags,
                      .more = (uint16_t)((used + room - 1) / room),
                      .thread = THREAD,
                      .time = time};
    memcpy(e.field, field, sizeof e.field);
    fwrite(&e, sizeof e, 1, events);
    for (uint16_t i = 0; i < e.more; i++) {
        const size_t at = i * room, left = used - at < room ? used - at : room;
        record_more more = {
            .kind = RECORD_MORE, .index = (uint16_t)(i + 1), .bytes = (uint32_t)left};
        memcpy(more.data, words + at, left);
        fwrite(&more, sizeof more, 1, events);
    }
    used = 0;
}

/* ---- files of programs ------------------------------------------------------------------ */

static XXH128_hash_t keep(const void *bytes, size_t size, const char *form, bool written)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    char path[4200];
    snprintf(path, sizeof path, "%s/programs/%016llx%016llx.%s", process,
             (unsigned long long)hash.high64, (unsigned long long)hash.low64, form);
    FILE *file = written ? fopen(path, "wb") : NULL;
    if (written && (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0))
        stop(path);
    return written ? hash : (XXH128_hash_t){0, 0};
}

/* {executable_build_options {device_ordinal: 1, num_replicas: 1, num_partitions: 1,
 * device_assignment {1, 1, {device 1}}}} */
static const char options[] = {0x1a, 0x10, 0x08, 1,    0x20, 1,    0x28, 1,    0x4a,
                               0x08, 0x08, 1,    0x10, 1,    0x1a, 0x02, 0x08, 1};

static const char grad_text[] =
    "module @jit_grad {\n"
    "  func.func public @main(%w: tensor<8x4xf32>, %x: tensor<2x8xf32>) -> (tensor<8x4xf32>, "
    "tensor<2x4xf32>) {\n"
    "    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, "
    "tensor<8x4xf32>) -> tensor<2x4xf32>\n"
    "    %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2x8xf32>, "
    "tensor<2x4xf32>) -> tensor<8x4xf32>\n"
    "    return %g, %y : tensor<8x4xf32>, tensor<2x4xf32>\n  }\n}\n";
static const char update_text[] =
    "module @jit_update {\n"
    "  func.func public @main(%w: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, "
    "%g: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
    "    %c = stablehlo.constant dense<1.0e-03> : tensor<8x4xf32>\n"
    "    %s = stablehlo.multiply %g, %c : tensor<8x4xf32>\n"
    "    %n = stablehlo.subtract %w, %s : tensor<8x4xf32>\n"
    "    return %n : tensor<8x4xf32>\n  }\n}\n";

static const char sum_text[] =
    "module @jit_sum {\n"
    "  func.func public @main(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {\n"
    "    %s = stablehlo.add %a, %b : tensor<8x4xf32>\n"
    "    return %s : tensor<8x4xf32>\n  }\n}\n";

/* ---- events -------------------------------------------------------------------------------- */

static uint64_t real(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define SIXTY "a_name_of_sixty_letters_of_which_a_part_keeps_fewer_than_all"

/* The name of the program HANDLE. */
static const char *name_of(uint64_t handle)
{
    if (is("alike"))
        return handle == STAGE ? "f_2" : "f";
    if (is("cut"))
        return handle == GRAD ? SIXTY "1" : SIXTY "2";
    return handle == GRAD ? "jit_grad" : "jit_update";
}

static void put_program(uint64_t handle, const char *text, size_t results,
                        const uint64_t (*dims)[2], double flops, uint64_t time)
{
    char code[2048];
    const char *name = name_of(handle);
    const bool opaque =
        is("opaque") || is("unweighed") || is("unended") || is("host") || is("ahead");
    snprintf(code, sizeof code, "%s%s", opaque ? "ML\xefR" : "", text);
    const XXH128_hash_t hash =
        keep(code, strlen(code), "mlir", !(is("unkept") && handle == UPDATE));
    const XXH128_hash_t how = keep(options, sizeof options, "options", true);
    add_number(hash.high64);
    add_number(hash.low64);
    add_number(how.high64);
    add_number(how.low64);
    add_number(strlen(code));
    add_number(CLIENT);
    add("mlir", 4);
    put(RECORD_COMPILE, 0, time, (uint64_t[6]){time + 40 * MS, 0, 0, handle, RECORD_COMPILED, 0});
    add_number(is("several") ? 2 : 1);
    add_number(is("stages") && handle == STAGE ? DEVICE + 1 : DEVICE);
    if (is("several"))
        add_number(DEVICE + 1);
    for (size_t i = 0; i < results; i++) {
        add_number(F32);
        add_number(2);
        add_number(dims[i][0]);
        add_number(dims[i][1]);
    }
    add_number(strlen(name));
    add(name, strlen(name));
    const double flops_stated = is("unweighed") ? -1 : flops, bytes = is("unweighed") ? -1 : 0;
    put(RECORD_EXECUTABLE, 0, time + 40 * MS,
        (uint64_t[6]){handle, results, real(flops_stated), real(bytes), 0, UINT64_MAX});
}

static void put_buffer(uint64_t handle, uint64_t rows, uint64_t columns, int type, uint64_t time,
                       uint64_t transfer)
{
    add_number(4 * rows * columns);
    add_number(0);
    add_number(transfer);
    add_number(rows);
    add_number(columns);
    put(RECORD_BUFFER, 0, time,
        (uint64_t[6]){time + MS / 10, 0, 0, handle, RECORD_FROM_HOST | (uint64_t)type << 32,
                      DEVICE});
}

static void put_end(uint64_t handle, bool donated, uint64_t time)
{
    put(RECORD_BUFFER_END, donated ? RECORD_DELETED : 0, time, (uint64_t[6]){handle});
}

/* The clocks of the CPU are recorded: the host works all the time, but in the last 5 ms of each
 * "host" step. */
static bool worked;
static uint64_t cpu_begin;

static uint64_t cpu_at(uint64_t time)
{
    const uint64_t begin = time - cpu_begin, steps = begin / (15 * MS), rest = begin % (15 * MS);
    return MS + (is("host") ? steps * 10 * MS + (rest < 10 * MS ? rest : 10 * MS) : begin);
}

/* An execution of two arguments that begins at TIME and is complete at READY. */
static void put_execution(uint64_t executable, uint64_t number, const uint64_t arguments[2],
                          const uint64_t *results, size_t count, uint64_t time, uint64_t ready)
{
    const uint64_t devices = is("several") ? 2 : 1;
    const uint64_t length = worked ? MS / 50 : MS / 2, cpu = worked ? cpu_at(time) : 0;
    add_number(devices);
    add_number(0);
    add_number(0);
    add_number(0);
    for (uint64_t d = 0; d < devices; d++) {
        add_number(arguments[0]);
        add_number(arguments[1]);
        for (size_t i = 0; i < count; i++)
            add_number(results[i]);
    }
    put(RECORD_EXECUTE, 0, time,
        (uint64_t[6]){time + length, cpu, worked ? cpu + length : 0, executable, number,
                      2 | (uint64_t)count << 32});
    if (executable != UPDATE || !(is("unended") || is("readable")))
        put(RECORD_COMPLETE, 0, ready, (uint64_t[6]){number, 0});
}

/* Step I: handles are used again every other step. */
static void put_step(uint64_t i, uint64_t time)
{
    const uint64_t w = BUFFERS + i % 2, next = BUFFERS + (i + 1) % 2;
    const uint64_t x = BUFFERS + 16, g = BUFFERS + 17, y = BUFFERS + 18;
    put_buffer(x, 2, 8, is("types") ? S4 : F32, time + MS, 0);
    put_execution(GRAD, 2 * i + 1, (uint64_t[2]){w, x}, (uint64_t[2]){g, y}, 2, time + 4 * MS,
                  time + 7 * MS);
    put_execution(UPDATE, 2 * i + 2, (uint64_t[2]){w, g}, &next, 1, time + 5 * MS, time + 9 * MS);
    if (is("stages") || is("alike")) {
        const uint64_t v = BUFFERS + 20, made = BUFFERS + 21;
        put_execution(STAGE, 1000 + i, (uint64_t[2]){v, v}, &made, 1, time + 5 * MS + MS / 2,
                      time + 9 * MS + MS / 2);
        put_end(made, false, time + 6 * MS - 1);
    }
    put_end(w, true, time + 6 * MS);
    put_end(x, false, time + 6 * MS + 1);
    put_end(g, false, time + 6 * MS + 2);
    put_end(y, false, time + 6 * MS + 3);
}

/* Step I of "host" and "ahead". In the first the device works at the end of the step, and in the
 * other at the begin of the next one. */
static void put_worked(uint64_t i, uint64_t begin)
{
    const uint64_t time = begin + i * (is("host") ? 15 : 10) * MS + 10 * MS;
    const uint64_t w = BUFFERS + i % 2, next = BUFFERS + (i + 1) % 2;
    const uint64_t g = BUFFERS + 17, y = BUFFERS + 18, x = BUFFERS + 16;
    put_execution(GRAD, 2 * i + 1, (uint64_t[2]){w, x}, (uint64_t[2]){g, y}, 2, time,
                  time + 3 * MS);
    put_execution(UPDATE, 2 * i + 2, (uint64_t[2]){w, g}, &next, 1, time + MS / 40, time + 5 * MS);
    put_end(w, true, time + MS / 20);
    put_end(g, false, time + MS / 20 + 1);
    put_end(y, false, time + MS / 20 + 2);
}

/* The programs, and what a third one takes. */
static void put_programs(uint64_t begin)
{
    const uint64_t grad[2][2] = {{8, 4}, {2, 4}}, update[1][2] = {{8, 4}};
    put_program(GRAD, grad_text, 2, grad, 275e9, begin + MS);
    put_program(UPDATE, update_text, 1, update, 137.5e9, begin + 50 * MS);
    if (!is("stages") && !is("alike"))
        return;
    put_program(STAGE, is("alike") ? sum_text : update_text, 1, update, 137.5e9, begin + 60 * MS);
    put_buffer(BUFFERS + 20, 8, 4, F32, begin + 94 * MS, 0);
}

static void put_all(void)
{
    const uint64_t begin = 1000 * MS;
    const record_file head = {.magic = RECORD_MAGIC,
                              .version = RECORD_VERSION,
                              .slot = RECORD_SLOT,
                              .pid = THREAD,
                              .parent = 1,
                              .begin_ns = begin,
                              .epoch_ns = UINT64_C(1795405600000000000),
                              .main_thread = THREAD};
    fwrite(&head, sizeof head, 1, events);
    add("/nowhere/plugin.so", 18);
    put(RECORD_PLUGIN, 0, begin, (uint64_t[6]){0, 0, 81, 984});
    for (uint64_t d = 0; d < (is("several") || is("stages") ? 2u : 1u); d++) {
        add("device", 6);
        put(RECORD_DEVICE, 0, begin, (uint64_t[6]){DEVICE + d, d, 0, CLIENT, 0});
    }
    put_programs(begin);
    put_buffer(BUFFERS, 8, 4, F32, begin + 95 * MS, 0);
    worked = is("host") || is("ahead");
    cpu_begin = begin + 100 * MS;
    if (worked)
        put_buffer(BUFFERS + 16, 2, 8, F32, begin + 96 * MS, 0);
    for (uint64_t i = 0; i < STEPS; i++)
        if (worked)
            put_worked(i, begin + 100 * MS);
        else
            put_step(i, begin + (100 + 10 * i) * MS);
}

int main(int argc, char **argv)
{
    char path[4200];
    if (argc != 3)
        return 2;
    kind = argv[1];
    snprintf(process, sizeof process, "%s/4711-1000000000", argv[2]);
    snprintf(path, sizeof path, "%s/programs", process);
    if (mkdir(argv[2], 0700) != 0 || mkdir(process, 0700) != 0 || mkdir(path, 0700) != 0)
        stop(argv[2]);
    snprintf(path, sizeof path, "%s/events", process);
    events = fopen(path, "wb");
    if (!events)
        stop(path);
    put_all();
    if (fclose(events) != 0)
        stop(path);
    return 0;
}
