/*
 * test_padding.c - shapes that change: which dimension, what they cost, and what padding would do.
 * The times of all sizes are known.
 */
#include "tests/results/complaints/complaints_fixture.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "results/complaints/complaints_priv.h"

enum { SEND = 20 * US, CALL = 10 * US, ROW = 100 * US, BETWEEN = 300 * US, COMPILE = 50 * MS };

#define MOST_SIZES 64

/* COUNT requests, of SIZES[i % SIZES_COUNT] rows each and of COLUMNS; NOISE varies the device's
 * time, as a share of it. */
typedef struct serving {
    uint64_t sizes[MOST_SIZES], columns[MOST_SIZES];
    unsigned size_count, count;
    double noise;
    gsl_rng *random;
} serving;

static void play_serving(play *p, const serving *s)
{
    play_program programs[MOST_SIZES];
    bool compiled[MOST_SIZES] = {false};
    for (unsigned i = 0; i < s->count; i++) {
        const unsigned k = i % s->size_count;
        uint64_t result[1];
        play_work(p, 0, BETWEEN);
        p->dims[0] = s->sizes[k];
        p->dims[1] = s->columns[k] ? s->columns[k] : 512;
        if (!compiled[k])
            programs[k] = play_compile(p, "jit_forward", 100 + k, 1, 1, COMPILE);
        compiled[k] = true;
        const uint64_t batch = play_send(p, 0, 24, SEND);
        const double noise = s->random ? exp(gsl_ran_gaussian(s->random, s->noise)) : 1;
        const run r = {.call_ns = CALL,
                       .device_ns = (uint64_t)((double)(s->sizes[k] * ROW) * noise),
                       .arguments = &batch,
                       .argument_count = 1};
        play_execute(p, &programs[k], r, result);
        play_destroy(p, batch, 0);
        play_read_in_place(p, 0, 0, result[0]);
        play_destroy(p, result[0], 0);
    }
}

static seen see_serving(const serving *s)
{
    play p;
    play_begin(&p);
    play_serving(&p, s);
    return see(&p);
}

/* The finding of COMPILES; NULL: there is none. */
static const rec_finding *compiles(const seen *s)
{
    for (size_t i = 0; i < s->checkup.count; i++)
        if (s->checkup.list[i].rule == REC_RULE_COMPILES)
            return &s->checkup.list[i];
    return NULL;
}

/* SIZES 1 to COUNT. */
static serving all_sizes(unsigned count, unsigned requests)
{
    serving s = {.size_count = count, .count = requests};
    for (unsigned i = 0; i < count; i++)
        s.sizes[i] = 1 + (i * 7) % count; /* 7 divides no COUNT below */
    return s;
}

/* What the mean request takes more if each size is padded to BUCKETS. */
static double true_change(const serving *s, const rec_padding *way)
{
    double sum = 0;
    for (unsigned i = 0; i < s->count; i++) {
        const uint64_t size = s->sizes[i % s->size_count];
        size_t k = 0;
        while (k + 1 < way->count && way->buckets[k] < (int64_t)size)
            k++;
        sum += ((double)way->buckets[k] - (double)size) * ROW / s->count;
    }
    return sum;
}

/* 32 sizes come in the first 32 of 400 requests, and then repeat. */
static void early_shapes_are_found(void **state)
{
    (void)state;
    const serving loop = all_sizes(32, 400);
    seen s = see_serving(&loop);
    const rec_finding *c = compiles(&s);
    assert_non_null(c);
    assert_ptr_equal(c, &s.checkup.list[0]);
    assert_true(c->early);
    assert_true(c->at_most);
    /* The first compilation is before the first request's execution, the work before each is the
     * host's. */
    assert_near(c->cost_ns.estimate, 31.0 * (COMPILE + BETWEEN) / 399, 1000);
    const rec_shapes *shapes = s.checkup.shapes;
    const rec_variants *v = &shapes->variants;
    assert_int_equal(v->varying, REC_VARYING_DIMENSION);
    assert_int_equal(v->argument, 0);
    assert_int_equal(v->dimension, 0);
    assert_int_equal(v->count, 32);
    assert_int_equal(v->list[0].value, 1);
    assert_int_equal(v->list[31].value, 32);
    assert_int_equal(shapes->way_count, 2);
    static const int64_t powers[] = {1, 2, 4, 8, 16, 32};
    assert_int_equal(shapes->ways[0].count, 6);
    assert_memory_equal(shapes->ways[0].buckets, powers, sizeof powers);
    assert_int_equal(shapes->ways[1].count, 6);
    for (int i = 0; i < 2; i++) {
        assert_near(shapes->ways[i].compile_saved_ns, 26.0 * COMPILE, 1);
        assert_near(shapes->ways[i].change_ns.estimate, true_change(&loop, &shapes->ways[i]), 1);
    }
    assert_true(shapes->ways[1].change_ns.estimate < shapes->ways[0].change_ns.estimate);
    forget(&s);
}

static void json_has_the_shapes(void **state)
{
    (void)state;
    const serving loop = all_sizes(32, 400);
    seen s = see_serving(&loop);
    json_t *all = rec_checkup_json(s.recording, &s.checkup);
    const json_t *first = json_array_get(json_object_get(all, "complaints"), 0);
    const json_t *o = json_object_get(first, "shapes");
    const json_t *way = json_array_get(json_object_get(o, "padding"), 0);
    const json_t *variant = json_array_get(json_object_get(o, "variants"), 16);
    assert_string_equal(json_string_value(json_object_get(first, "rule")), "compiles");
    assert_true(json_is_true(json_object_get(first, "early")));
    assert_string_equal(json_string_value(json_object_get(o, "program")), "jit_forward");
    assert_string_equal(json_string_value(json_object_get(o, "varies")), "dimension");
    assert_string_equal(json_string_value(json_object_get(o, "time_of")), "request");
    assert_int_equal(json_integer_value(json_object_get(o, "least")), 1);
    assert_int_equal(json_integer_value(json_object_get(o, "most")), 32);
    assert_string_equal(json_string_value(json_object_get(variant, "type")), "f32[17,512]");
    assert_int_equal(json_integer_value(json_object_get(variant, "value")), 17);
    assert_string_equal(json_string_value(json_object_get(way, "to")), "powers-of-two");
    assert_int_equal(json_array_size(json_object_get(way, "buckets")), 6);
    assert_near(json_number_value(json_object_get(way, "change_ns")),
                true_change(&loop, &s.checkup.shapes->ways[0]), 1);
    json_decref(all);
    forget(&s);
}

/* 32 was not measured, so its time is unknown; a bucket is a size that was. */
static void sizes_beyond_the_measured_are_unknown(void **state)
{
    (void)state;
    const serving loop = all_sizes(30, 300);
    seen s = see_serving(&loop);
    const rec_shapes *shapes = s.checkup.shapes;
    assert_non_null(shapes);
    assert_int_equal(shapes->ways[0].buckets[5], 32);
    assert_true(isnan(shapes->ways[0].change_ns.estimate));
    assert_int_equal(shapes->ways[1].buckets[shapes->ways[1].count - 1], 30);
    assert_near(shapes->ways[1].change_ns.estimate, true_change(&loop, &shapes->ways[1]), 1);
    forget(&s);
}

/* Between two measured sizes the time is on the line between them: here all times are. */
static void sizes_between_the_measured_are_interpolated(void **state)
{
    (void)state;
    const serving loop = {
        .sizes = {5, 6, 7, 9, 11, 13, 14, 17, 100}, .size_count = 9, .count = 180};
    seen s = see_serving(&loop);
    const rec_shapes *shapes = s.checkup.shapes;
    rec_padding eight = {.to = "powers-of-two"};
    assert_non_null(shapes);
    eight = shapes->ways[0];
    assert_int_equal(eight.count, 4); /* 8, 16, 32, 128 */
    assert_true(isnan(eight.change_ns.estimate));
    forget(&s);
    const serving within = {.sizes = {5, 6, 7, 9, 11, 13, 14, 16}, .size_count = 8, .count = 160};
    s = see_serving(&within);
    assert_int_equal(s.checkup.shapes->ways[0].count, 2); /* 8 is not measured, 16 is */
    assert_near(s.checkup.shapes->ways[0].change_ns.estimate,
                true_change(&within, &s.checkup.shapes->ways[0]), 1);
    forget(&s);
}

/* Sizes that are padded already, and a last batch that is not full, are no finding. */
static void padded_sizes_draw_none(void **state)
{
    (void)state;
    const serving padded = {.sizes = {1, 2, 4, 8, 16, 32}, .size_count = 6, .count = 300};
    seen s = see_serving(&padded);
    assert_null(compiles(&s));
    forget(&s);
    const serving partial = {.sizes = {32, 32, 32, 32, 17}, .size_count = 5, .count = 300};
    s = see_serving(&partial);
    assert_null(compiles(&s));
    forget(&s);
}

static void two_dimensions_have_no_buckets(void **state)
{
    (void)state;
    serving loop = all_sizes(12, 240);
    for (unsigned i = 0; i < loop.size_count; i++)
        loop.columns[i] = 64 * (1 + (i * i) % 5);
    seen s = see_serving(&loop);
    const rec_finding *c = compiles(&s);
    assert_non_null(c);
    assert_int_equal(s.checkup.shapes->variants.varying, REC_VARYING_SEVERAL);
    assert_int_equal(s.checkup.shapes->way_count, 0);
    forget(&s);
}

/* A training in PyTorch/XLA, which numbers its graphs: a new length every fourth step. */
static void lengths_of_a_training_are_found(void **state)
{
    (void)state;
    enum { LENGTHS = 20 };
    static char names[LENGTHS][32];
    play p;
    play_begin(&p);
    uint64_t weights = play_send(&p, 0, 24, SEND);
    play_program programs[LENGTHS];
    for (unsigned i = 0; i < 4 * LENGTHS; i++) {
        const unsigned k = i / 4;
        uint64_t arguments[2] = {weights, 0}, next[1];
        play_work(&p, 0, BETWEEN);
        p.dims[0] = p.dims[1] = 0;
        if (i % 4 == 0) {
            snprintf(names[k], sizeof names[k], "SyncTensorsGraph.%u", 10 + 3 * k);
            programs[k] = play_compile(&p, names[k], 100 + k, 1, 1, COMPILE);
        }
        p.dims[0] = 8;
        p.dims[1] = 65 + k;
        arguments[1] = play_send(&p, 0, 24, SEND);
        play_execute(&p, &programs[k],
                     (run){.call_ns = CALL,
                           .device_ns = (65 + k) * ROW,
                           .arguments = arguments,
                           .argument_count = 2},
                     next);
        play_destroy(&p, weights, 0);
        play_destroy(&p, arguments[1], 0);
        play_wait(&p, 0, 0);
        weights = next[0];
    }
    seen s = see(&p);
    assert_int_equal(s.steps->how, REC_FOUND_STATE);
    const rec_finding *c = compiles(&s);
    assert_non_null(c);
    assert_false(c->early);
    const rec_shapes *shapes = s.checkup.shapes;
    assert_int_equal(shapes->variants.count, LENGTHS);
    assert_int_equal(shapes->variants.varying, REC_VARYING_DIMENSION);
    assert_int_equal(shapes->variants.argument, 1);
    assert_int_equal(shapes->variants.dimension, 1);
    assert_false(shapes->variants.of_requests);
    assert_int_equal(shapes->ways[0].count, 1);
    assert_int_equal(shapes->ways[0].buckets[0], 128);
    assert_true(isnan(shapes->ways[0].change_ns.estimate));
    assert_int_equal(shapes->ways[1].buckets[0], 84);
    assert_near(shapes->ways[1].change_ns.estimate, 9.5 * ROW, 1);
    forget(&s);
}

/* ---- the best buckets ------------------------------------------------------------------------ */

/* What padding V's sizes to those of the bits of SET adds; the largest size must be one. */
static double added_by(const rec_variants *v, unsigned set)
{
    double sum = 0;
    int64_t bucket = 0;
    for (size_t i = v->count; i-- > 0;) {
        bucket = set >> i & 1 ? v->list[i].value : bucket;
        sum += (double)(bucket - v->list[i].value) * v->list[i].executions;
    }
    return sum;
}

static void buckets_add_least(void **state)
{
    (void)state;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (unsigned trial = 0; trial < 200; trial++) {
        rec_variant list[9];
        rec_variants v = {.list = list, .count = 9, .varying = REC_VARYING_DIMENSION};
        rec_padding ways[2];
        size_t ways_count = 0;
        int64_t value = 1;
        for (size_t i = 0; i < v.count; i++) {
            value += 1 + (int64_t)gsl_rng_uniform_int(random, 9);
            list[i] = (rec_variant){.value = value,
                                    .executions = 1 + (uint32_t)gsl_rng_uniform_int(random, 50),
                                    .time_ns = (double)(value * ROW),
                                    .timed = 5};
        }
        assert_true(rec_padding_find(&v, ways, &ways_count));
        if (ways_count < 2)
            continue;
        unsigned own = 0;
        double least = (double)INFINITY;
        for (size_t i = 0; i < v.count; i++)
            for (size_t k = 0; k < ways[1].count; k++)
                own |= ways[1].buckets[k] == list[i].value ? 1U << i : 0;
        assert_int_equal(__builtin_popcount(own), ways[1].count);
        for (unsigned set = 1U << 8; set < 1U << 9; set++)
            if ((size_t)__builtin_popcount(set) == ways[1].count)
                least = fmin(least, added_by(&v, set));
        assert_near(added_by(&v, own), least, 1e-6);
    }
    gsl_rng_free(random);
}

/* ---- the interval ------------------------------------------------------------------------------
 */

/* Of 100 recordings whose times are known but for noise of 10 %, at least 90 intervals hold. */
static void intervals_of_the_change_hold(void **state)
{
    (void)state;
    serving loop = all_sizes(32, 320);
    unsigned held = 0;
    double width = 0;
    loop.noise = 0.1;
    loop.random = gsl_rng_alloc(gsl_rng_mt19937);
    for (int trial = 0; trial < 100; trial++) {
        seen s = see_serving(&loop);
        const rec_padding *way = &s.checkup.shapes->ways[1];
        const double truth = true_change(&loop, way);
        held += way->change_ns.low <= truth && truth <= way->change_ns.high;
        width += (way->change_ns.high - way->change_ns.low) / 100;
        forget(&s);
    }
    print_message("# %u of 100 intervals hold, on average %.0f us wide\n", held, width / US);
    assert_true(held >= 90);
    assert_true(width < 200 * US);
    gsl_rng_free(loop.random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_shapes_are_found),
        cmocka_unit_test(json_has_the_shapes),
        cmocka_unit_test(sizes_beyond_the_measured_are_unknown),
        cmocka_unit_test(sizes_between_the_measured_are_interpolated),
        cmocka_unit_test(padded_sizes_draw_none),
        cmocka_unit_test(two_dimensions_have_no_buckets),
        cmocka_unit_test(lengths_of_a_training_are_found),
        cmocka_unit_test(buckets_add_least),
        cmocka_unit_test(intervals_of_the_change_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
