/*
 * test_modes.c - eager, lazy and capture on the default runtime, with a step
 * small enough to follow by hand: w is fitted to a target by SGD with momentum.
 */
#define _GNU_SOURCE
#include "tests/support/test_runtime.h"

#include "modes/mode.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 64

static rt_client *client;

static int group_setup(void **state)
{
    (void)state;
    client = default_client();
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    rt_client_destroy(client);
    assert_nothing_live();
    return 0;
}

/* ---- the model ----------------------------------------------------------------- */

typedef struct fit {
    tg_tensor *w, *momentum, *input, *target, *rate, *loss;
    bool branch;      /* read the loss and choose by it */
    bool hold;        /* keep the error across the read */
    double threshold; /* of that choice */
    int calls;
} fit;

static tg_tensor *vector_named(const char *name, int64_t n)
{
    tg_type type = n ? tg_type_make(TG_F32, 1, &n) : tg_type_make(TG_F32, 0, NULL);
    return tg_variable_new(name, &type);
}

static tg_tensor *fit_loss(tg_trace *t, const fit *f, tg_tensor **error)
{
    tg_trace_phase(t, TG_PHASE_INPUT);
    tg_tensor *x = tg_mul(t, f->input, tg_scalar(t, TG_F32, 2.0)); /* (N) */
    tg_trace_phase(t, TG_PHASE_FORWARD);
    *error = tg_sub(t, tg_mul(t, f->w, x), f->target); /* (N) */
    return tg_reduce_sum(t, tg_mul(t, *error, *error), 1u);
}

static void fit_step(tg_trace *t, void *context)
{
    fit *f = context;
    tg_tensor *error, *gradient;
    f->calls++;
    tg_tensor *loss = fit_loss(t, f, &error);
    tg_assign(t, f->loss, loss);
    tg_tensor *rate = f->rate;
    if (f->branch) {
        float value;
        if (f->hold)
            tg_hold(t, error);
        tg_read(t, loss, &value, sizeof value);
        if ((double)value > f->threshold)
            rate = tg_mul(t, rate, tg_scalar(t, TG_F32, 0.5));
    }
    tg_trace_phase(t, TG_PHASE_BACKWARD);
    tg_backward(t, loss, &f->w, 1, &gradient);
    tg_trace_phase(t, TG_PHASE_UPDATE);
    tg_tensor *b = tg_add(t, tg_mul(t, f->momentum, tg_scalar(t, TG_F32, 0.9)), gradient);
    tg_assign(t, f->momentum, b);
    tg_assign(t, f->w, tg_sub(t, f->w, tg_mul(t, b, rate)));
}

static void fit_write(mode *m, tg_tensor *v, double base, double step)
{
    float host[N];
    bn_status st = {0};
    for (int i = 0; i < N; i++)
        host[i] = (float)(base + step * i);
    assert_ok(mode_write(m, v, host, &st), &st);
}

static fit fit_new(mode *m)
{
    fit f = {.w = vector_named("w", N),
             .momentum = vector_named("momentum", N),
             .input = vector_named("input", N),
             .target = vector_named("target", N),
             .rate = vector_named("rate", 0),
             .loss = vector_named("loss", 0)};
    fit_write(m, f.w, 0.5, 0.01);
    fit_write(m, f.momentum, 0, 0);
    fit_write(m, f.input, 1.0, -0.02);
    fit_write(m, f.target, -1.0, 0.03);
    fit_write(m, f.rate, 0.01, 0);
    return f;
}

static void fit_free(mode *m, fit *f)
{
    tg_tensor *all[] = {f->w, f->momentum, f->input, f->target, f->rate, f->loss};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mode_clear(m, all[i]);
        tg_variable_free(all[i]);
    }
}

static void run_steps(mode *m, fit *f, int steps)
{
    bn_status st = {0};
    for (int i = 0; i < steps; i++)
        assert_ok(mode_step(m, &(mode_call){.function = fit_step, .context = f}, NULL, &st), &st);
    assert_ok(mode_drain(m, &st), &st);
}

/* What three steps leave behind: w and the loss. */
typedef struct outcome {
    float w[N], loss;
} outcome;

static outcome fit_outcome(mode *m, const fit *f)
{
    outcome o;
    bn_status st = {0};
    assert_ok(mode_read(m, f->w, o.w, sizeof o.w, &st), &st);
    assert_ok(mode_read(m, f->loss, &o.loss, sizeof o.loss, &st), &st);
    return o;
}

static mode *mode_new(const char *name, const mode_options *options)
{
    mode *m = NULL;
    bn_status st = {0};
    assert_ok(mode_create(name, client, options, &m, &st), &st);
    return m;
}

/* The same arithmetic on the host, in double. */
static double reference_loss(int steps, double rate)
{
    double w[N], b[N] = {0}, loss = 0;
    for (int i = 0; i < N; i++)
        w[i] = 0.5 + 0.01 * i;
    for (int s = 0; s < steps; s++) {
        loss = 0;
        for (int i = 0; i < N; i++) {
            double x = 2 * (1.0 - 0.02 * i), e = w[i] * x - (-1.0 + 0.03 * i);
            loss += e * e;
            b[i] = 0.9 * b[i] + 2 * e * x;
            w[i] -= rate * b[i];
        }
    }
    return loss;
}

static outcome run_three(const char *name, const mode_options *options, int64_t *executions)
{
    mode *m = mode_new(name, options);
    fit f = fit_new(m);
    run_steps(m, &f, 3);
    outcome o = fit_outcome(m, &f);
    *executions = mode_counters(m)[BN_COUNTER_EXECUTIONS];
    fit_free(m, &f);
    mode_destroy(m);
    return o;
}

/* ---- tests ------------------------------------------------------------------------- */

static void lazy_compiles_once_and_follows_the_reference(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){0});
    fit f = fit_new(m);
    run_steps(m, &f, 4);
    const int64_t *c = mode_counters(m);
    assert_int_equal(f.calls, 4);
    assert_int_equal(c[BN_COUNTER_COMPILES], 1);
    assert_int_equal(c[BN_COUNTER_CACHE_HITS], 3);
    assert_int_equal(c[BN_COUNTER_EXECUTIONS], 4);
    assert_true(c[BN_COUNTER_NODES_TRACED] > 4 * 10);
    assert_float_equal(fit_outcome(m, &f).loss, reference_loss(4, 0.01), 1e-4);

    /* Another learning rate is another input, not another program. */
    fit_write(m, f.rate, 0.02, 0);
    run_steps(m, &f, 1);
    assert_int_equal(c[BN_COUNTER_COMPILES], 1);
    fit_free(m, &f);
    mode_destroy(m);
}

static void lazy_and_capture_agree_bit_for_bit(void **state)
{
    (void)state;
    mode *lazy = mode_new("lazy", &(mode_options){0});
    mode *capture = mode_new("capture", &(mode_options){0});
    fit a = fit_new(lazy), b = fit_new(capture);
    for (int i = 0; i < 3; i++) {
        run_steps(lazy, &a, 1);
        run_steps(capture, &b, 1);
        outcome x = fit_outcome(lazy, &a), y = fit_outcome(capture, &b);
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_int_equal(a.calls, 3);
    assert_int_equal(b.calls, 1);
    size_t la, lb;
    const char *ta = mode_execution_text(lazy, 0, &la), *tb = mode_execution_text(capture, 0, &lb);
    assert_true(la > 0);
    assert_int_equal(la, lb);
    assert_memory_equal(ta, tb, la);
    assert_non_null(strstr(ta, "tf.aliasing_output"));
    fit_free(lazy, &a);
    fit_free(capture, &b);
    mode_destroy(lazy);
    mode_destroy(capture);
}

static void capture_cuts_a_step_into_graphs(void **state)
{
    (void)state;
    int64_t executions;
    outcome whole = run_three("capture", &(mode_options){.graphs = 1}, &executions);
    assert_int_equal(executions, 3);
    static const struct {
        unsigned graphs;
        int64_t executions;
    } cuts[] = {{2, 6}, {3, 9}, {5, 12}}; /* nothing is in phase statistics */
    for (size_t i = 0; i < 3; i++) {
        outcome o = run_three("capture", &(mode_options){.graphs = cuts[i].graphs}, &executions);
        assert_int_equal(executions, cuts[i].executions);
        assert_float_equal(o.loss, whole.loss, 1e-5);
        for (int k = 0; k < N; k++)
            assert_float_equal(o.w[k], whole.w[k], 1e-5);
    }
}

static void eager_runs_every_op(void **state)
{
    (void)state;
    int64_t one, many;
    outcome lazy = run_three("lazy", &(mode_options){0}, &one);
    outcome eager = run_three("eager", &(mode_options){0}, &many);
    assert_true(many > 10 * one);
    for (int k = 0; k < N; k++)
        assert_float_equal(lazy.w[k], eager.w[k], 1e-5);
}

static void in_flight_steps_give_the_same_values(void **state)
{
    (void)state;
    int64_t executions;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        outcome serial = run_three(names[i], &(mode_options){0}, &executions);
        outcome queued = run_three(names[i], &(mode_options){.in_flight = 3}, &executions);
        assert_memory_equal(&serial, &queued, sizeof serial);
    }
}

static void guards_notice_statics_and_shapes(void **state)
{
    (void)state;
    mode *m = mode_new("capture", &(mode_options){0});
    fit f = fit_new(m);
    bn_status st = {0};
    const int64_t *c = mode_counters(m);
    int variant = 1;
    mode_call call = {fit_step, &f, &variant, sizeof variant, NULL};
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 0);
    variant = 2;
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 1);
    assert_int_equal(c[BN_COUNTER_COMPILES], 1); /* same program, found by hash */
    variant = 1;
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 1); /* the first capture still stands */
    assert_int_equal(f.calls, 2);

    tg_tensor *all[] = {f.w, f.momentum, f.input, f.target};
    tg_type shorter = tg_type_make(TG_F32, 1, TG_DIMS(8));
    for (size_t i = 0; i < 4; i++) {
        mode_clear(m, all[i]);
        tg_variable_retype(all[i], &shorter);
        fit_write(m, all[i], 0.1, 0.1);
    }
    assert_ok(mode_step(m, &call, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_GUARD_MISSES], 2);
    assert_int_equal(c[BN_COUNTER_COMPILES], 2);
    assert_int_equal(f.calls, 3);
    fit_free(m, &f);
    mode_destroy(m);
}

/* Losses of SIX steps of a function that branches on its loss. */
static void run_branching(const char *name, bool hold, float losses[6], int64_t counters[3],
                          int *calls)
{
    mode *m = mode_new(name, &(mode_options){0});
    fit f = fit_new(m);
    bn_status st = {0};
    f.branch = true;
    f.hold = hold;
    f.threshold = reference_loss(1, 0.01) * 0.9; /* passed in the third step */
    for (int i = 0; i < 6; i++) {
        if (i == 3) { /* back to the start: values seen before */
            fit_write(m, f.w, 0.5, 0.01);
            fit_write(m, f.momentum, 0, 0);
        }
        run_steps(m, &f, 1);
        losses[i] = fit_outcome(m, &f).loss;
    }
    assert_ok(mode_drain(m, &st), &st);
    counters[0] = mode_counters(m)[BN_COUNTER_GRAPH_BREAKS];
    counters[1] = mode_counters(m)[BN_COUNTER_GUARD_MISSES];
    counters[2] = mode_counters(m)[BN_COUNTER_COMPILES];
    *calls = f.calls;
    fit_free(m, &f);
    mode_destroy(m);
}

static void graph_breaks_follow_the_value_read(void **state)
{
    (void)state;
    float eager[6], lazy[6], capture[6], held[6];
    int64_t c[3];
    int calls;
    run_branching("eager", false, eager, c, &calls);
    assert_int_equal(calls, 6);
    run_branching("lazy", false, lazy, c, &calls);
    assert_int_equal(c[0], 6);
    assert_int_equal(calls, 6);
    assert_true(c[2] >= 3); /* up to the read, and two endings */
    run_branching("lazy", true, held, c, &calls);
    run_branching("capture", false, capture, c, &calls);
    assert_int_equal(calls, 3); /* one for each loss seen; the second three are replays */
    assert_int_equal(c[1], 2);
    for (int i = 0; i < 6; i++) {
        assert_float_equal(lazy[i], eager[i], 1e-4);
        assert_float_equal(held[i], lazy[i], 1e-4);
        assert_float_equal(capture[i], lazy[i], 1e-4);
    }
    assert_float_equal(capture[0], capture[3], 1e-6);
}

static void count_files(const char *folder, int *files, char *last, size_t size)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    *files = 0;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            ++*files;
            snprintf(last, size, "%s/%s", folder, e->d_name);
        }
    closedir(d);
}

static void disk_counters(const char *folder, int64_t *compiles, int64_t *hits, int64_t *rejects)
{
    mode *m = mode_new("lazy", &(mode_options){.cache_dir = folder});
    fit f = fit_new(m);
    run_steps(m, &f, 3);
    assert_float_equal(fit_outcome(m, &f).loss, reference_loss(3, 0.01), 1e-4);
    *compiles = mode_counters(m)[BN_COUNTER_COMPILES];
    *hits = mode_counters(m)[BN_COUNTER_DISK_HITS];
    *rejects = mode_counters(m)[BN_COUNTER_DISK_REJECTS];
    fit_free(m, &f);
    mode_destroy(m);
}

static void disk_cache_survives_and_refuses_damage(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[8192];
    int64_t compiles, hits, rejects;
    int files;
    snprintf(folder, sizeof folder, "%s/cache.%ld/deep", tmp ? tmp : "/tmp", (long)getpid());
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(compiles, 1);
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(compiles, 0);
    assert_int_equal(hits, 1);
    assert_int_equal(rejects, 0);

    count_files(folder, &files, file, sizeof file);
    assert_int_equal(files, 1);
    bn_status st = {0};
    char *data;
    size_t size;
    assert_ok(bn_file_read(file, &data, &size, &st), &st);
    const size_t cuts[] = {0, 1, 20, size / 2, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        assert_ok(bn_file_write_atomic(file, data, cuts[i], &st), &st);
        disk_counters(folder, &compiles, &hits, &rejects);
        assert_int_equal(compiles, 1);
        assert_int_equal(rejects, 1);
    }
    data[size / 2] ^= 0x10;
    assert_ok(bn_file_write_atomic(file, data, size, &st), &st);
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(rejects, 1);
    disk_counters(folder, &compiles, &hits, &rejects); /* mended by the run before */
    assert_int_equal(hits, 1);
    free(data);
}

/* Processes that write and damage one entry at once never make a reader fail. */
static void disk_cache_bears_concurrent_writers(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[8192];
    bn_status st = {0};
    int64_t compiles, hits, rejects;
    int files;
    snprintf(folder, sizeof folder, "%s/cache-shared.%ld", tmp ? tmp : "/tmp", (long)getpid());
    disk_counters(folder, &compiles, &hits, &rejects);
    count_files(folder, &files, file, sizeof file);
    char *data;
    size_t size;
    assert_ok(bn_file_read(file, &data, &size, &st), &st);
    pid_t writers[2];
    for (int w = 0; w < 2; w++) {
        writers[w] = fork();
        if (writers[w] == 0) { /* only files: the runtime's threads are not here */
            for (int i = 0; i < 200; i++)
                if (bn_file_write_atomic(file, data, size, &st) != BN_OK)
                    _exit(1);
            _exit(0);
        }
    }
    for (int i = 0; i < 5; i++) {
        disk_counters(folder, &compiles, &hits, &rejects);
        assert_int_equal(hits, 1);
        assert_int_equal(rejects, 0);
    }
    for (int w = 0; w < 2; w++) {
        int status = 0;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    count_files(folder, &files, file, sizeof file);
    assert_int_equal(files, 1);
    free(data);
}

static void add_step(tg_trace *t, void *context)
{
    tg_tensor *v = context;
    tg_assign(t, v, tg_add(t, v, tg_scalar(t, TG_F32, 1.0)));
}

static void memory_cache_is_bounded(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){.cache_entries = 2});
    bn_status st = {0};
    const int64_t *c = mode_counters(m);
    tg_tensor *v[3] = {vector_named("a", 1), vector_named("b", 2), vector_named("c", 3)};
    const float zeros[3] = {0};
    static const int order[] = {0, 1, 0, 2, 0, 1}; /* c pushes b out, b pushes c out */
    for (int i = 0; i < 3; i++)
        assert_ok(mode_write(m, v[i], zeros, &st), &st);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_ok(mode_step(m, &(mode_call){add_step, v[order[i]], NULL, 0, NULL}, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_COMPILES], 4);
    assert_int_equal(c[BN_COUNTER_CACHE_EVICTIONS], 2);
    assert_int_equal(rt_live().executables, 2);
    for (int i = 0; i < 3; i++) {
        float got[3];
        assert_ok(mode_read(m, v[i], got, sizeof(float) * (size_t)(i + 1), &st), &st);
        assert_float_equal(got[0], i == 0 ? 3 : i == 1 ? 2 : 1, 0);
        mode_clear(m, v[i]);
        tg_variable_free(v[i]);
    }
    mode_destroy(m);
}

static void errors_are_told_and_leave_the_state(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    bn_status st = {0};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        tg_tensor *v = vector_named("empty", 2);
        mode_call call = {add_step, v, NULL, 0, NULL};
        assert_fails(mode_step(m, &call, NULL, &st), BN_INVALID, "empty", &st);
        const float one[2] = {1, 1};
        float got[2];
        assert_ok(mode_write(m, v, one, &st), &st);
        assert_ok(mode_step(m, &call, NULL, &st), &st);
        assert_ok(mode_read(m, v, got, sizeof got, &st), &st);
        assert_float_equal(got[1], 2, 0);
        mode_clear(m, v);
        tg_variable_free(v);
        mode_destroy(m);
    }
    mode *none;
    assert_fails(mode_create("fast", client, &(mode_options){0}, &none, &st), BN_NOT_FOUND, "fast",
                 &st);
    assert_fails(mode_create("lazy", client, &(mode_options){.graphs = 2}, &none, &st), BN_INVALID,
                 "only capture", &st);
    assert_fails(mode_create("capture", client, &(mode_options){.graphs = 4}, &none, &st),
                 BN_INVALID, "1, 2, 3 or 5", &st);
}

/* ---- values that go to two places ---------------------------------------------------- */

static tg_tensor *pair[2];

static void share_step(tg_trace *t, void *context)
{
    tg_tensor *sum = tg_add(t, pair[0], pair[1]);
    (void)context;
    tg_assign(t, pair[0], sum);
    tg_assign(t, pair[1], sum);
}

static void swap_step(tg_trace *t, void *context)
{
    (void)context;
    tg_tensor *kept = tg_trace_value(t, pair[0]);
    if (!kept)
        kept = tg_add(t, pair[0], tg_scalar(t, TG_F32, 0.0));
    tg_assign(t, pair[0], pair[1]);
    tg_assign(t, pair[1], kept);
}

static void one_value_can_fill_two_variables(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    bn_status st = {0};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        const float two = 2, three = 3;
        float a, b;
        pair[0] = vector_named("a", 0);
        pair[1] = vector_named("b", 0);
        assert_ok(mode_write(m, pair[0], &two, &st), &st);
        assert_ok(mode_write(m, pair[1], &three, &st), &st);
        for (int s = 0; s < 2; s++)
            assert_ok(mode_step(m, &(mode_call){.function = share_step}, NULL, &st), &st);
        assert_ok(mode_read(m, pair[0], &a, sizeof a, &st), &st);
        assert_ok(mode_read(m, pair[1], &b, sizeof b, &st), &st);
        assert_float_equal(a, 10, 0);
        assert_float_equal(b, 10, 0);
        assert_ok(mode_write(m, pair[0], &two, &st), &st);
        for (int s = 0; s < 3; s++)
            assert_ok(mode_step(m, &(mode_call){.function = swap_step}, NULL, &st), &st);
        assert_ok(mode_read(m, pair[0], &a, sizeof a, &st), &st);
        assert_ok(mode_read(m, pair[1], &b, sizeof b, &st), &st);
        assert_float_equal(a, 10, 0);
        assert_float_equal(b, 2, 0);
        for (int k = 0; k < 2; k++) {
            mode_clear(m, pair[k]);
            tg_variable_free(pair[k]);
        }
        mode_destroy(m);
    }
}

static void the_ledger_adds_up(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        fit f = fit_new(m);
        bn_status st = {0};
        run_steps(m, &f, 2);
        bn_ledger ledger;
        mode_call call = {.function = fit_step, .context = &f};
        assert_ok(mode_step(m, &call, &ledger, &st), &st);
        uint64_t sum = 0;
        for (int p = 0; p < BN_PART_COUNT; p++)
            sum += ledger.part_ns[p];
        assert_int_equal(sum, ledger.wall_ns);
        assert_true(ledger.part_ns[BN_PART_DISPATCH] > 0);
        assert_int_equal(ledger.part_ns[BN_PART_COMPILE], 0);
        assert_int_equal(ledger.part_ns[BN_PART_TRACE] > 0, i < 2);
        fit_free(m, &f);
        mode_destroy(m);
    }
}

static void the_probe_repeats_executions(void **state)
{
    (void)state;
    static const char *const names[] = {"eager", "lazy", "capture"};
    for (size_t i = 0; i < 3; i++) {
        mode *m = mode_new(names[i], &(mode_options){0});
        fit f = fit_new(m);
        bn_status st = {0};
        mode_call call = {.function = fit_step, .context = &f};
        run_steps(m, &f, 1);
        for (unsigned k = 1; k <= 4; k++) {
            assert_ok(mode_step_probe(m, &call, k, &st), &st);
            for (size_t e = 0; e < mode_execution_count(m); e++) {
                const mode_execution *row = mode_execution_at(m, e);
                assert_true(row->per_step > 0);
                assert_true(row->submit_ns > 0 && row->pjrt_ns >= row->submit_ns);
                assert_true(row->nodes > 0 && row->text_bytes > 0);
            }
        }
        fit_free(m, &f);
        mode_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lazy_compiles_once_and_follows_the_reference),
        cmocka_unit_test(lazy_and_capture_agree_bit_for_bit),
        cmocka_unit_test(capture_cuts_a_step_into_graphs),
        cmocka_unit_test(eager_runs_every_op),
        cmocka_unit_test(in_flight_steps_give_the_same_values),
        cmocka_unit_test(guards_notice_statics_and_shapes),
        cmocka_unit_test(graph_breaks_follow_the_value_read),
        cmocka_unit_test(disk_cache_survives_and_refuses_damage),
        cmocka_unit_test(disk_cache_bears_concurrent_writers),
        cmocka_unit_test(memory_cache_is_bounded),
        cmocka_unit_test(errors_are_told_and_leave_the_state),
        cmocka_unit_test(one_value_can_fill_two_variables),
        cmocka_unit_test(the_ledger_adds_up),
        cmocka_unit_test(the_probe_repeats_executions),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
