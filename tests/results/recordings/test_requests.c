/*
 * test_requests.c - requests whose latencies are known: their percentiles, by shape, in a queue,
 * and what changes between the shapes.
 */
#include "tests/results/recordings/recording_fixture.h"

#define MOST_SHAPES 16

/* A loop that answers requests. Request I has SIZES[I % SIZE_COUNT] rows, and takes so many times
 * ROW_NS of the device. */
typedef struct serving {
    uint64_t sizes[MOST_SHAPES], widths[MOST_SHAPES]; /* WIDTHS 0: 3 columns */
    unsigned size_count, requests;
    unsigned depth; /* requests that are submitted before the first of them is read; 0: 1 */
    bool with_mask; /* a second argument with as many rows */
    bool ahead;     /* all shapes are compiled before the first request */
    bool unread;    /* the caller awaits, and reads nothing */
    unsigned late;  /* every so many requests the next one begins 5 us before the completion is
                     * told; 0: none */
} serving;

enum { SEND = 20 * US, CALL = 10 * US, ROW = 100 * US, BETWEEN = 300 * US, COMPILE = 5 * MS };

static void set_dims(play *p, uint64_t rows, uint64_t columns)
{
    p->dims[0] = rows;
    p->dims[1] = columns;
}

static void play_serving(play *p, const serving *s)
{
    play_program programs[MOST_SHAPES];
    bool compiled[MOST_SHAPES] = {false};
    uint64_t queue[8] = {0}, done[8] = {0}, read = 0;
    set_dims(p, 512, 512);
    const uint64_t weights = play_send(p, 0, 1 << 20, 200 * US);
    play_work(p, 0, 50 * MS);
    const unsigned depth = s->depth ? s->depth : 1;
    for (unsigned i = 0; s->ahead && i < s->size_count; i++) {
        set_dims(p, s->sizes[i], s->widths[i] ? s->widths[i] : 3);
        programs[i] = play_compile(p, "jit_forward", 100 + i, 1, 1, COMPILE);
        compiled[i] = true;
    }
    for (unsigned i = 0; i < s->requests; i++) {
        const unsigned k = i % s->size_count;
        uint64_t arguments[3] = {weights}, result[1];
        play_work(p, 0, BETWEEN);
        set_dims(p, s->sizes[k], s->widths[k] ? s->widths[k] : 3);
        if (!compiled[k])
            programs[k] = play_compile(p, "jit_forward", 100 + k, 1, 1, COMPILE);
        compiled[k] = true;
        arguments[1] = play_send(p, 0, 24, SEND);
        if (s->with_mask) {
            set_dims(p, s->sizes[k], 8);
            arguments[2] = play_send(p, 0, 24, SEND);
        }
        play_execute(p, &programs[k],
                     (run){.call_ns = CALL,
                           .device_ns = s->sizes[k] * ROW,
                           .arguments = arguments,
                           .argument_count = s->with_mask ? 3 : 2},
                     result);
        play_destroy(p, arguments[1], 0);
        queue[i % depth] = result[0];
        done[i % depth] = p->device_free[0];
        if (i + 1 < depth)
            continue;
        if (depth == 1 && s->late && i % s->late == s->late - 1) {
            play_read(p, 0, result[0], US);
            p->thread[0].now = p->device_free[0] - BETWEEN - 5 * US;
        } else if (depth == 1 && !s->unread) {
            play_read_in_place(p, 0, 0, result[0]);
        } else if (depth == 1) {
            play_wait(p, 0, 0);
        } else {
            /* The oldest one; the device goes on with the others. */
            if (p->thread[0].now < done[read % depth])
                p->thread[0].now = done[read % depth];
            play_read(p, 0, queue[read % depth], US);
            read++;
        }
        play_destroy(p, queue[(i + 1) % depth], 0);
    }
}

typedef struct served {
    found found;
    rec_requests requests;
} served;

static served serve(const serving *s)
{
    play p;
    bn_status st = {0};
    served made;
    play_begin(&p);
    play_serving(&p, s);
    made.found = find(&p, NULL);
    assert_int_equal(made.found.steps->how, REC_FOUND_NAME);
    assert_ok(rec_requests_make(made.found.steps, &made.requests, &st), &st);
    return made;
}

static void leave(served *s)
{
    rec_requests_free(&s->requests);
    lose(&s->found);
}

static const serving three = {.sizes = {1, 2, 3}, .size_count = 3, .requests = 120};

/* Each latency is what it was played to be, and compilations are part of it. */
static void latencies_are_those_of_the_calls(void **state)
{
    (void)state;
    served s = serve(&three);
    const rec_requests *r = &s.requests;
    uint64_t expected[120], all = 0;
    assert_int_equal(r->count, 120);
    assert_int_equal(r->compiling, 3);
    assert_int_equal(r->compile_ns, 3 * COMPILE);
    assert_int_equal(r->unended, 0);
    assert_int_equal(r->queued, 0);
    assert_int_equal(r->at_once, 1);
    for (size_t i = 0; i < 120; i++) {
        expected[i] = SEND + (i % 3 + 1) * ROW + (i < 3 ? COMPILE : 0);
        all += expected[i];
        assert_int_equal(r->list[i].end_ns - r->list[i].begin_ns, expected[i]);
        assert_int_equal(r->list[i].compiles, i < 3);
    }
    assert_near(r->latency.p50_ns, res_quantile(expected, 120, 0.5), 1e-6);
    assert_near(r->latency.p90_ns, res_quantile(expected, 120, 0.9), 1e-6);
    assert_near(r->latency.p99_ns, res_quantile(expected, 120, 0.99), 1e-6);
    assert_near(r->latency.p50_ns, SEND + 2 * ROW, 1e-6);
    assert_true(r->latency.p99_ns > COMPILE);
    assert_int_equal(r->latency.behind_p99, 2);
    assert_near(r->latency.mean_ns, (double)all / 120, 1);
    assert_near(r->window_ns, (double)(all + 119 * BETWEEN), 1);
    assert_near(r->between_ns, BETWEEN, 1e-6);
    leave(&s);
}

static void shapes_have_rows(void **state)
{
    (void)state;
    served s = serve(&three);
    const rec_variants *v = &s.requests.variants;
    assert_int_equal(v->count, 3);
    assert_int_equal(v->varying, REC_VARYING_DIMENSION);
    assert_int_equal(v->argument, 1);
    assert_int_equal(v->dimension, 0);
    assert_true(v->of_requests);
    for (size_t i = 0; i < 3; i++) {
        bn_text type = {0};
        char expected[32];
        snprintf(expected, sizeof expected, "f32[%zu,3]", i + 1);
        rec_variant_put(s.found.steps, v, i, &type);
        assert_string_equal(type.data, expected);
        bn_text_free(&type);
        assert_int_equal(v->list[i].value, i + 1);
        assert_int_equal(v->list[i].executions, 40);
        assert_int_equal(v->list[i].compile_ns, COMPILE);
        assert_int_equal(v->list[i].timed, 39); /* one compiles */
        assert_near(v->list[i].time_ns, (double)(SEND + (i + 1) * ROW), 1e-6);
        assert_int_equal(s.requests.shapes[i].count, 40);
        assert_near(s.requests.shapes[i].p50_ns, (double)(SEND + (i + 1) * ROW), 1e-6);
        assert_true(isnan(s.requests.shapes[i].p99_ns)); /* of 40 requests none is beyond it */
    }
    leave(&s);
}

static void few_requests_have_no_far_percentiles(void **state)
{
    (void)state;
    served s = serve(&(serving){.sizes = {2}, .size_count = 1, .requests = 99});
    assert_true(isnan(s.requests.latency.p99_ns));
    assert_near(s.requests.latency.p90_ns, SEND + 2 * ROW, 1e-6);
    assert_int_equal(s.requests.latency.behind_p99, 0);
    assert_int_equal(s.requests.variants.count, 1);
    assert_int_equal(s.requests.variants.varying, REC_VARYING_CODE);
    assert_int_equal(s.requests.variants.argument, REC_NONE);
    leave(&s);
}

/* A result that nobody reads ends with its completion. */
static void completion_ends_what_is_not_read(void **state)
{
    (void)state;
    served s = serve(&(serving){.sizes = {4}, .size_count = 1, .requests = 30, .unread = true});
    assert_int_equal(s.requests.unended, 0);
    for (size_t i = 1; i < 30; i++)
        assert_int_equal(s.requests.list[i].end_ns - s.requests.list[i].begin_ns, SEND + 4 * ROW);
    leave(&s);
}

static void without_completions_reads_end_requests(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        play p;
        bn_status st = {0};
        rec_requests r;
        play_begin(&p);
        p.no_completions = true;
        play_serving(&p,
                     &(serving){.sizes = {4}, .size_count = 1, .requests = 30, .unread = !read});
        found f = find(&p, NULL);
        assert_ok(rec_requests_make(f.steps, &r, &st), &st);
        assert_int_equal(r.count, 30);
        assert_int_equal(r.unended, read ? 0 : 30);
        assert_int_equal(isnan(r.latency.p50_ns), !read);
        if (read)
            assert_near(r.latency.p50_ns, SEND + 4 * ROW, 1e-6);
        rec_requests_free(&r);
        lose(&f);
    }
}

/* Compiled ahead, no request has the compilation in it, the first one neither. */
static void what_is_compiled_ahead_is_of_no_request(void **state)
{
    (void)state;
    served s =
        serve(&(serving){.sizes = {1, 2, 3}, .size_count = 3, .requests = 120, .ahead = true});
    assert_int_equal(s.requests.compiling, 0);
    assert_int_equal(s.requests.list[0].end_ns - s.requests.list[0].begin_ns, SEND + ROW);
    leave(&s);
}

/* Three requests are in flight: each latency has its queue in it, none is negative or less than the
 * device's own time, and the rate is that of the window. */
static void queued_requests_overlap(void **state)
{
    (void)state;
    served s = serve(&(serving){.sizes = {6}, .size_count = 1, .requests = 60, .depth = 3});
    const rec_requests *r = &s.requests;
    double sum = 0;
    assert_int_equal(r->at_once, 3);
    assert_int_equal(r->told_late, 0);
    assert_true(r->queued > 50);
    for (size_t i = 0; i < r->count; i++) {
        const rec_request *q = &r->list[i];
        assert_true(q->end_ns >= q->begin_ns + SEND + 6 * ROW);
        sum += (double)(q->end_ns - q->begin_ns);
        if (i > 0)
            assert_true(q->begin_ns > r->list[i - 1].begin_ns);
    }
    assert_true(sum > 1.5 * r->window_ns);
    assert_false(r->variants.of_requests);
    leave(&s);
}

/* A completion that is told late now and then makes no queue. */
static void late_completions_are_no_queue(void **state)
{
    (void)state;
    served s = serve(&(serving){.sizes = {6}, .size_count = 1, .requests = 60, .late = 10});
    const rec_requests *r = &s.requests;
    assert_int_equal(r->told_late, 5); /* the last one has no next one */
    assert_int_equal(r->queued, 0);
    assert_int_equal(r->at_once, 1);
    assert_near(r->latency.p50_ns, SEND + 6 * ROW, 1e-6);
    for (size_t i = 0; i + 1 < r->count; i++)
        assert_true(r->list[i].end_ns <= r->list[i + 1].begin_ns);
    leave(&s);
}

/* ---- what changes --------------------------------------------------------------------------- */

static void a_mask_follows_from_its_batch(void **state)
{
    (void)state;
    served s =
        serve(&(serving){.sizes = {1, 2, 3}, .size_count = 3, .requests = 60, .with_mask = true});
    assert_int_equal(s.requests.variants.varying, REC_VARYING_DIMENSION);
    assert_int_equal(s.requests.variants.argument, 1);
    assert_int_equal(s.requests.variants.following, 1);
    leave(&s);
}

static void two_dimensions_are_several(void **state)
{
    (void)state;
    served s = serve(
        &(serving){.sizes = {1, 2, 3, 1}, .widths = {5, 9, 5, 7}, .size_count = 4, .requests = 60});
    const rec_variants *v = &s.requests.variants;
    assert_int_equal(v->varying, REC_VARYING_SEVERAL);
    assert_int_equal(v->count, 4);
    for (size_t i = 0; i < v->count; i++)
        assert_int_equal(v->list[i].value, -1);
    leave(&s);
}

/* Two pairs of sizes lie on a line, but nothing says that one follows from the other. */
static void two_shapes_show_no_line(void **state)
{
    (void)state;
    served s =
        serve(&(serving){.sizes = {4, 8}, .widths = {9, 5}, .size_count = 2, .requests = 60});
    assert_int_equal(s.requests.variants.varying, REC_VARYING_SEVERAL);
    leave(&s);
}

/* ---- one variant ---------------------------------------------------------------------------- */

static bn_code find_variant(const rec_recording *recording, const char *word, rec_steps **steps,
                            bn_status *st)
{
    const rec_options options = {.device = -1, .variant = word};
    return rec_steps_find(recording, &options, steps, st);
}

static void steps_of_one_variant_are_kept(void **state)
{
    (void)state;
    static const serving loop = {.sizes = {1, 2, 2, 3}, .size_count = 4, .requests = 120};
    static const struct {
        const char *word;
        uint64_t rows;
    } named[] = {{"f32[1,3]", 1}, {"f32[3,3]", 3}, {"0000000000000001", 0}};
    play p;
    bn_status st = {0};
    rec_steps *steps;
    char folder[300];
    play_begin(&p);
    play_serving(&p, &loop);
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(find_variant(recording, named[i].word, &steps, &st), &st);
        assert_int_equal(steps->program_count, 1);
        assert_int_equal(steps->programs[0].variants, 1);
        assert_int_equal(steps->variants, 4);
        assert_true(steps->count > 10 && steps->of_others > 2 * steps->count);
        assert_near(steps->programs[0].device_ns, (double)(named[i].rows * ROW), 1e-6);
        assert_near(rec_steps_busy(steps).median_ns, (double)(named[i].rows * ROW), 1e-6);
        sums_hold(steps);
        rec_steps_free(steps);
    }
    /* All hashes begin so; two programs have the same types. */
    assert_int_equal(find_variant(recording, named[2].word, &steps, &st), BN_INVALID);
    assert_int_equal(find_variant(recording, "f32[2,3]", &steps, &st), BN_INVALID);
    assert_int_equal(find_variant(recording, "f32[9,3]", &steps, &st), BN_NOT_FOUND);
    rec_close(recording);
}

static void the_most_frequent_variant_is_taken(void **state)
{
    (void)state;
    play p;
    bn_status st = {0};
    rec_steps *steps;
    char folder[300];
    play_program programs[2];
    play_begin(&p);
    for (unsigned i = 0; i < 2; i++) {
        set_dims(&p, 4 * (i + 1), 3);
        programs[i] = play_compile(&p, "jit_forward", 100 + i, 1, 1, COMPILE);
    }
    for (unsigned i = 0; i < 90; i++) {
        const unsigned k = i % 3 != 0;
        set_dims(&p, 4 * (k + 1), 3);
        play_work(&p, 0, BETWEEN);
        const uint64_t batch = play_send(&p, 0, 24, SEND);
        const run r = {
            .call_ns = CALL, .device_ns = (k + 1) * MS, .arguments = &batch, .argument_count = 1};
        play_execute(&p, &programs[k], r, NULL);
        play_wait(&p, 0, 0);
        play_destroy(&p, batch, 0);
    }
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    assert_ok(find_variant(recording, "", &steps, &st), &st);
    assert_int_equal(steps->variants, 2);
    assert_near(steps->programs[0].device_ns, 2 * MS, 1e-6);
    assert_int_equal(steps->variant, steps->programs[0].program);
    rec_steps_free(steps);
    rec_close(recording);
}

/* A loop without variants is as it was; only a name is refused. */
static void one_shape_has_no_variants(void **state)
{
    (void)state;
    play p;
    bn_status st = {0};
    rec_steps *steps;
    char folder[300];
    play_begin(&p);
    play_serving(&p, &(serving){.sizes = {2}, .size_count = 1, .requests = 60});
    rec_recording *recording = play_open(&p, folder, sizeof folder);
    assert_ok(find_variant(recording, "", &steps, &st), &st);
    assert_int_equal(steps->variants, 0);
    assert_int_equal(steps->of_others, 0);
    rec_steps_free(steps);
    assert_int_equal(find_variant(recording, "f32[2,3]", &steps, &st), BN_NOT_FOUND);
    rec_close(recording);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_has_the_requests(void **state)
{
    (void)state;
    served s = serve(&three);
    json_t *all = rec_steps_json(s.found.recording, s.found.steps, &s.found.answer);
    json_t *o = json_object_get(all, "requests"), *shapes = json_object_get(o, "shapes");
    json_t *last = json_array_get(shapes, 2);
    assert_int_equal(json_integer_value(json_object_get(o, "count")), 120);
    assert_int_equal(json_integer_value(json_object_get(o, "compiling")), 3);
    assert_near(json_number_value(json_object_get(o, "p50_ns")), SEND + 2 * ROW, 1e-6);
    assert_near(json_number_value(json_object_get(o, "per_second")),
                120 / (s.requests.window_ns / 1e9), 1e-6);
    assert_string_equal(json_string_value(json_object_get(o, "varies")), "dimension");
    assert_int_equal(json_array_size(shapes), 3);
    assert_string_equal(json_string_value(json_object_get(last, "type")), "f32[3,3]");
    assert_int_equal(json_integer_value(json_object_get(last, "value")), 3);
    assert_int_equal(json_integer_value(json_object_get(last, "requests")), 40);
    assert_true(json_is_null(json_object_get(last, "p99_ns")));
    json_decref(all);
    leave(&s);
}

/* A training has steps, and no requests. */
static void steps_with_state_are_no_requests(void **state)
{
    (void)state;
    play p;
    rec_requests r;
    bn_status st = {0};
    play_begin(&p);
    const play_program step = play_compile(&p, "jit_step", 12, 1, 1, COMPILE);
    uint64_t weights = play_send(&p, 0, 24, SEND);
    for (int i = 0; i < 60; i++) {
        const run r2 = {.call_ns = CALL,
                        .device_ns = MS,
                        .arguments = &weights,
                        .argument_count = 1,
                        .donate = true};
        uint64_t next[1];
        play_work(&p, 0, BETWEEN);
        play_execute(&p, &step, r2, next);
        play_wait(&p, 0, 0);
        weights = next[0];
    }
    found f = find(&p, NULL);
    assert_int_equal(f.steps->how, REC_FOUND_STATE);
    assert_ok(rec_requests_make(f.steps, &r, &st), &st);
    assert_int_equal(r.count, 0);
    rec_requests_free(&r);
    json_t *all = rec_steps_json(f.recording, f.steps, &f.answer);
    assert_true(json_is_null(json_object_get(all, "requests")));
    json_decref(all);
    lose(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_are_those_of_the_calls),
        cmocka_unit_test(shapes_have_rows),
        cmocka_unit_test(few_requests_have_no_far_percentiles),
        cmocka_unit_test(completion_ends_what_is_not_read),
        cmocka_unit_test(without_completions_reads_end_requests),
        cmocka_unit_test(what_is_compiled_ahead_is_of_no_request),
        cmocka_unit_test(queued_requests_overlap),
        cmocka_unit_test(late_completions_are_no_queue),
        cmocka_unit_test(a_mask_follows_from_its_batch),
        cmocka_unit_test(two_dimensions_are_several),
        cmocka_unit_test(two_shapes_show_no_line),
        cmocka_unit_test(steps_of_one_variant_are_kept),
        cmocka_unit_test(the_most_frequent_variant_is_taken),
        cmocka_unit_test(one_shape_has_no_variants),
        cmocka_unit_test(json_has_the_requests),
        cmocka_unit_test(steps_with_state_are_no_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
