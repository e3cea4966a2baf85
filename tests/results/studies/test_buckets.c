/*
 * test_buckets.c - padding to buckets against lengths that are drawn, and against cases whose best
 * number is known.
 */
#include "results/studies/studies.h"
#include "tests/support/results_fixture.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

static const res_padding usual = {.most = 128,
                                  .rows = 4,
                                  .steps = 10000,
                                  .step_base_ns = 1e6,
                                  .step_token_ns = 50000,
                                  .compile_base_ns = 2e9,
                                  .compile_token_ns = 1e6};

/* ---- lengths that are drawn -------------------------------------------------------------------
 */

enum { DRAWS = 200000 };

/* The longest row of a batch, as model_draw_batch draws it. */
static double draw(gsl_rng *rng, const res_padding *p)
{
    double longest = 0;
    for (int row = 0; row < (int)p->rows; row++) {
        const double tokens = round(0.5 * p->most * exp(gsl_ran_gaussian(rng, RES_LENGTH_SPREAD)));
        longest = fmax(longest, fmin(fmax(tokens, RES_LEAST_TOKENS), p->most));
    }
    return longest;
}

static void lengths_are_those_that_are_drawn(void **state)
{
    (void)state;
    const int counts[] = {1, 3, 8, 50, 0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        double sum = 0;
        for (int i = 0; i < DRAWS; i++) {
            const double longest = draw(rng, &usual);
            double bound = longest;
            for (int b = counts[c]; b > 0; b--)
                if (ceil(usual.most * b / counts[c]) >= longest)
                    bound = ceil(usual.most * b / counts[c]);
            sum += bound;
        }
        assert_near(res_padding_of(&usual, counts[c]).length, sum / DRAWS, 0.2);
    }
    gsl_rng_free(rng);
}

/* ---- costs ------------------------------------------------------------------------------------
 */

static void one_bucket_is_one_program(void **state)
{
    (void)state;
    const res_padding_cost cost = res_padding_of(&usual, 1);
    assert_near(cost.programs, 1, 1e-9);
    assert_near(cost.length, 128, 1e-9);
    assert_near(cost.compile_ns, 2e9 + 128e6, 1);
    assert_near(cost.total_ns, 2.128e9 + 1e4 * (1e6 + 128 * 5e4), 1);
    const double exact = res_padding_of(&usual, 0).length;
    assert_near(res_padding_waste(&usual, 1), 1e4 * 5e4 * (128 - exact), 1);
    assert_near(res_padding_waste(&usual, 0), 0, 1e-6);
}

static void a_program_that_no_step_needs_costs_nothing(void **state)
{
    (void)state;
    res_padding p = usual;
    p.steps = 1;
    assert_near(res_padding_of(&p, 16).programs, 1, 1e-9);
    /* A batch of four rows is hardly ever so short as the shortest ones. */
    p.steps = 1e6;
    assert_true(res_padding_of(&p, 16).programs < 15);
    p.rows = 1;
    const double all = res_padding_of(&p, 16).programs;
    assert_true(all > 15 && all <= 16);
}

/* Compile times that bend upwards give a line that crosses zero. */
static void no_compilation_costs_less_than_nothing(void **state)
{
    (void)state;
    res_padding p = usual;
    p.compile_base_ns = -55e6;
    p.compile_token_ns = 2.6e6;
    for (int k = 1; k <= 64; k *= 2)
        assert_true(res_padding_of(&p, k).compile_ns >= 0);
    assert_true(res_padding_of(&p, 64).compile_ns > res_padding_of(&p, 16).compile_ns);
}

static void waste_falls_with_buckets(void **state)
{
    (void)state;
    double last = (double)INFINITY;
    for (int k = 1; k <= 64; k *= 2) {
        const double waste = res_padding_waste(&usual, k);
        assert_true(waste < last && waste > 0);
        /* A bucket is half empty on average, or less. */
        assert_true(waste < 1e4 * 5e4 * 128 * 0.6 / k);
        last = waste;
    }
}

/* ---- the best ---------------------------------------------------------------------------------
 */

static void the_best_is_the_least(void **state)
{
    (void)state;
    const int best = res_padding_best(&usual);
    assert_true(best > 1 && best < RES_MOST_BUCKETS);
    for (int k = 1; k <= RES_MOST_BUCKETS; k++)
        assert_true(res_padding_of(&usual, k).total_ns >= res_padding_of(&usual, best).total_ns);
    /* k C + steps token most / (2 k) is least at its root, where lengths fill all buckets. */
    const double root = sqrt(1e4 * 5e4 * 128 / (2 * 2.06e9));
    assert_in_range(best, (int)(root / 2), (int)(root * 2));
}

static void cheap_compilations_and_long_runs_take_more(void **state)
{
    (void)state;
    res_padding p = usual;
    const int best = res_padding_best(&p);
    p.steps *= 100;
    assert_true(res_padding_best(&p) > best);
    p = usual;
    p.compile_base_ns /= 100;
    p.compile_token_ns = 0;
    assert_true(res_padding_best(&p) > best);
    p.step_token_ns = 0;
    assert_int_equal(res_padding_best(&p), 1);
    p = usual;
    p.compile_base_ns = 1e18;
    assert_int_equal(res_padding_best(&p), 1);
    p.most = 6;
    p.compile_base_ns = p.compile_token_ns = 0;
    assert_in_range(res_padding_best(&p), 3, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_those_that_are_drawn),
        cmocka_unit_test(one_bucket_is_one_program),
        cmocka_unit_test(a_program_that_no_step_needs_costs_nothing),
        cmocka_unit_test(no_compilation_costs_less_than_nothing),
        cmocka_unit_test(waste_falls_with_buckets),
        cmocka_unit_test(the_best_is_the_least),
        cmocka_unit_test(cheap_compilations_and_long_runs_take_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
