/*
 * make_recording.c - a recording on disk whose truth is known, for tests of the program.
 *
 *   make_recording FOLDER KIND [STEPS]
 *
 * FOLDER must exist. KIND is loop, two, many, threads, unclocked, none, anew, second, tenth,
 * first, eager, shapes, layers, unnamed or damaged. Each step takes: 2 ms of the device, of
 * which the host is 0.1 ms in Execute and waits for the rest outside of calls; then it works for
 * 1 ms and sleeps for 3. "two" has a gradient and an update of 1 ms each, "many" fifteen
 * programs of 0.1 to 1.5 ms; in "threads" the main thread traces for 4 ms and another one
 * executes, after 0.5 ms of work. "anew" compiles another program of the same name in each step,
 * "second" in each second one, "tenth" in each tenth, "first" in the first ten only; "eager" one
 * with 300 executions of another. "shapes" answers requests of 1 to 8 rows, 0.1 ms of the device
 * each and 20 us to send them, of which 3 are the most frequent; each compiles for 50 ms.
 * "layers" is a loop whose program is kept, "unnamed" the same without locations. "unclocked"
 * has no CPU clocks, "none" no steps; "damaged" is a loop and a second process, whose file is
 * not one of events.
 */
#include "tests/results/recordings/recording_fixture.h"

static void step_of(play *p, const play_program *program, uint64_t device_ns, uint64_t *state)
{
    const run r = {.call_ns = 100 * US,
                   .device_ns = device_ns,
                   .arguments = state,
                   .argument_count = 1,
                   .donate = true};
    uint64_t made;
    play_execute(p, program, r, &made);
    *state = made;
}

static void play_steps_of(play *p, bool two, int steps)
{
    const play_program init = play_compile(p, "jit_init", 3, 1, 1, 10 * MS);
    const play_program one = play_compile(p, two ? "jit_grad" : "jit_step", 4, 1, 1, 50 * MS);
    const play_program other = play_compile(p, "jit_update", 5, 1, 1, 50 * MS);
    uint64_t state;
    play_execute(p, &init, (run){.call_ns = 20 * US, .device_ns = 20 * US}, &state);
    for (int i = 0; i < steps; i++) {
        step_of(p, &one, two ? MS : 2 * MS, &state);
        if (two)
            step_of(p, &other, MS, &state);
        play_wait(p, 0, 0);
        play_work(p, 0, MS);
        play_rest(p, 0, 3 * MS);
    }
}

static void play_many(play *p, int steps)
{
    enum { MANY = 15 };
    static char names[MANY][24];
    play_program programs[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "jit_part%u", i);
        programs[i] = play_compile(p, names[i], 10 + i, 1, 1, MS);
    }
    for (int step = 0; step < steps; step++)
        for (unsigned i = 0; i < MANY; i++) {
            play_execute(p, &programs[i],
                         (run){.call_ns = 20 * US, .device_ns = (i + 1) * 100 * US}, NULL);
            play_wait(p, 0, 0);
        }
}

static void play_threads(play *p, int steps)
{
    const play_program step = play_compile(p, "SyncTensorsGraph.7", 6, 1, 1, 50 * MS);
    for (int i = 0; i < steps; i++) {
        play_work(p, 0, 4 * MS);
        p->thread[1].now = p->thread[0].now;
        play_work(p, 1, 500 * US);
        play_execute(p, &step, (run){.thread = 1, .call_ns = 100 * US, .device_ns = 2 * MS}, NULL);
        p->thread[0].now = p->thread[1].now;
        play_wait(p, 0, 0);
    }
}

static void play_nothing(play *p, int executions)
{
    play_program programs[5];
    uint64_t random = 9;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++)
        programs[i] = play_compile(p, names[i], i + 1, 1, 1, MS);
    for (int i = 0; i < executions; i++)
        play_execute(p, &programs[(size_t)(5 * fixture_uniform(&random))],
                     (run){.call_ns = 100 * US, .device_ns = MS}, NULL);
}

/* Of the first UNTIL steps each EVERYth compiles; all others execute the same program. */
static void play_anew(play *p, int steps, int every, int until)
{
    play_program same = {0};
    bool made = false;
    for (int i = 0; i < steps; i++) {
        const bool anew = i < until && i % every == 0;
        if (!anew && !made)
            same = play_compile(p, "jit_step", 39, 1, 1, 50 * MS);
        made = made || !anew;
        const play_program step =
            anew ? play_compile(p, "jit_step", 40 + (uint64_t)i, 1, 1, 50 * MS) : same;
        play_execute(p, &step, (run){.call_ns = 100 * US, .device_ns = 2 * MS}, NULL);
        play_wait(p, 0, 0);
    }
}

/* As frameworks do that submit op by op: of the many executions of a step one is new. */
static void play_eager(play *p, int steps)
{
    enum { OPS = 300 };
    const play_program add = play_compile(p, "jit_add", 38, 1, 1, 50 * MS);
    for (int i = 0; i < steps; i++) {
        for (int op = 0; op < OPS; op++)
            play_execute(p, &add, (run){.call_ns = 10 * US, .device_ns = 20 * US}, NULL);
        const play_program own = play_compile(p, "jit_slice", 40 + (uint64_t)i, 1, 1, 50 * MS);
        play_execute(p, &own, (run){.call_ns = 10 * US, .device_ns = 20 * US}, NULL);
        play_wait(p, 0, 0);
    }
}

static void play_shapes(play *p, int requests)
{
    enum { SIZES = 8, USUAL = 3 };
    play_program programs[SIZES];
    bool compiled[SIZES] = {false};
    for (int i = 0; i < requests; i++) {
        const unsigned k = i % 3 == 2 ? USUAL - 1 : (unsigned)i % SIZES;
        p->dims[0] = k + 1;
        p->dims[1] = 16;
        play_work(p, 0, MS);
        if (!compiled[k])
            programs[k] = play_compile(p, "jit_forward", 50 + k, 1, 1, 50 * MS);
        compiled[k] = true;
        const uint64_t batch = play_send(p, 0, 24, 20 * US);
        const run r = {.call_ns = 10 * US,
                       .device_ns = (k + 1) * 100 * US,
                       .arguments = &batch,
                       .argument_count = 1};
        play_execute(p, &programs[k], r, NULL);
        play_wait(p, 0, 0);
        play_destroy(p, batch, 0);
    }
}

/* By bench's model the forward pass of Net/Dense_0 costs 4 parts of 8, its backward pass 3, and the
 * function that Adam calls 1. */
static const char layers[] =
    "module @jit_step {\n"
    "  func.func public @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
    "    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, "
    "tensor<64x64xf32>) -> tensor<64x64xf32> loc(#forward)\n"
    "    %1 = stablehlo.tanh %0 : tensor<64x64xf32> loc(#tanh)\n"
    "    %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, "
    "tensor<64x64xf32>) -> tensor<64x64xf32> loc(#backward)\n"
    "    %3 = call @f(%2) : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(#call)\n"
    "    return %3 : tensor<64x64xf32>\n"
    "  }\n"
    "  func.func private @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
    "    %0 = stablehlo.multiply %x, %x : tensor<64x64xf32> loc(#mul)\n"
    "    return %0 : tensor<64x64xf32>\n"
    "  }\n"
    "}\n"
    "#line10 = loc(\"/home/me/<net>.py\":10:4)\n"
    "#line20 = loc(\"/home/me/train.py\":20:4)\n"
    "#forward = loc(\"jit(step)/jvp(Net)/Dense_0/dot_general\"(#line10))\n"
    "#tanh = loc(\"jit(step)/jvp(Net)/Dense_0/jit(tanh)/tanh\"(#line10))\n"
    "#backward = loc(\"jit(step)/transpose(jvp(Net))/Dense_0/dot_general\"(#line10))\n"
    "#call = loc(\"jit(step)/Adam/jit(f)\"(#line20))\n"
    "#mul = loc(\"mul\")\n";

/* Writes the first LENGTH bytes of LAYERS as a program that is compiled next, jit_step. */
static play_program compile_layers(play *p, const char *folder, const char *text, size_t length)
{
    char path[500];
    const XXH128_hash_t hash = XXH3_128bits(text, length);
    snprintf(path, sizeof path, "%s/100-1", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/100-1/programs", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/100-1/programs/%016llx%016llx.mlir", folder,
             (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    put_file(path, text, length);
    p->high = hash.high64;
    return play_compile(p, "jit_step", hash.low64, 1, 1, 50 * MS);
}

/* The same text without its locations. */
static size_t drop_locations(char *text)
{
    size_t length = 0;
    for (const char *at = text; *at && *at != '#';) {
        if (strncmp(at, " loc(", 5) == 0)
            at = strchr(at, ')') + 1;
        else
            text[length++] = *at++;
    }
    return length;
}

static void play_layers(play *p, const char *folder, bool named, int steps)
{
    static char text[sizeof layers];
    memcpy(text, layers, sizeof layers);
    const size_t length = named ? sizeof layers - 1 : drop_locations(text);
    const play_program step = compile_layers(p, folder, text, length);
    uint64_t state = play_send(p, 0, 16384, US);
    for (int i = 0; i < steps; i++) {
        step_of(p, &step, 2 * MS, &state);
        play_wait(p, 0, 0);
        play_work(p, 0, MS);
    }
}

int main(int argc, char **argv)
{
    static play p;
    if (argc < 3) {
        fprintf(stderr,
                "usage: %s FOLDER loop|two|many|threads|unclocked|none|anew|second|tenth|"
                "first|eager|shapes|damaged|layers|unnamed [STEPS]\n",
                argv[0]);
        return 2;
    }
    const int steps = argc > 3 ? atoi(argv[3]) : 40;
    play_begin(&p);
    p.no_clocks = strcmp(argv[2], "unclocked") == 0;
    if (strcmp(argv[2], "none") == 0)
        play_nothing(&p, steps);
    else if (strcmp(argv[2], "layers") == 0 || strcmp(argv[2], "unnamed") == 0)
        play_layers(&p, argv[1], strcmp(argv[2], "layers") == 0, steps);
    else if (strcmp(argv[2], "anew") == 0)
        play_anew(&p, steps, 1, steps);
    else if (strcmp(argv[2], "eager") == 0)
        play_eager(&p, steps);
    else if (strcmp(argv[2], "second") == 0)
        play_anew(&p, steps, 2, steps);
    else if (strcmp(argv[2], "tenth") == 0)
        play_anew(&p, steps, 10, steps);
    else if (strcmp(argv[2], "first") == 0)
        play_anew(&p, steps, 1, 10);
    else if (strcmp(argv[2], "shapes") == 0)
        play_shapes(&p, steps);
    else if (strcmp(argv[2], "many") == 0)
        play_many(&p, steps);
    else if (strcmp(argv[2], "threads") == 0)
        play_threads(&p, steps);
    else
        play_steps_of(&p, strcmp(argv[2], "two") == 0, steps);
    tape_write(&p.tape, argv[1], "100-1");
    if (strcmp(argv[2], "damaged") == 0) {
        tape second;
        tape_begin(&second, 200, 1);
        tape_file(&second)->magic[0] = 'x';
        tape_write(&second, argv[1], "200-1");
    }
    return 0;
}
