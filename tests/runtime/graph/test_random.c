/*
 * test_random.c - random bits on the real plugin. The specification leaves their
 * values to the implementation, so the generated tests of ops cannot compare
 * them; what a generator must keep is judged here.
 */

#include "tests/support/device_fixture.h"

#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#define DRAWS 65536

/* Two draws, the second from the state that the first left: bits, bits, and the
 * state at the end. */
typedef struct draws {
    double *first, *second, *state;
} draws;

static void draws_free(draws *d)
{
    free(d->first);
    free(d->second);
    free(d->state);
}

/* Draws twice from the state (KEY, 0). The state is a variable that the step
 * assigns, as in a model. */
static draws draw(double key, tg_dtype dtype, int64_t count)
{
    static const unsigned one_group[TG_PHASE_COUNT] = {0};
    double start[2] = {key, 0}, *outputs[3];
    tg_type words = tg_type_make(TG_U64, 1, TG_DIMS(2)), bits = tg_type_make(dtype, 1, &count);
    tg_tensor *state = tg_variable_new("state", &words);
    tg_tensor *out[2] = {tg_variable_new("first", &bits), tg_variable_new("second", &bits)};
    tg_trace *t = tg_trace_new();
    tg_tensor *next;
    tg_graph *const *graphs;
    size_t graph_count;
    bn_status st = {0};
    tg_tensor_set_data(state, start);
    for (int i = 0; i < 2; i++) {
        tg_assign(t, out[i], tg_random_bits(t, state, &bits, &next));
        tg_assign(t, state, next);
    }
    assert_ok(tg_trace_status(t, &st), &st);
    assert_ok(tg_trace_cut(t, one_group, NULL, &graphs, &graph_count, &st), &st);
    assert_int_equal(graph_count, 1);
    assert_int_equal(graphs[0]->output_count, 3);
    draws d = {0};
    assert_ok(device_run(client, graphs[0], outputs, &st), &st);
    for (size_t i = 0; i < 3; i++)
        *(graphs[0]->target[i] == state    ? &d.state
          : graphs[0]->target[i] == out[0] ? &d.first
                                           : &d.second) = outputs[i];
    tg_trace_free(t);
    tg_variable_free(state);
    tg_variable_free(out[0]);
    tg_variable_free(out[1]);
    return d;
}

static size_t equal_words(const double *a, const double *b, size_t count)
{
    size_t equal = 0;
    for (size_t i = 0; i < count; i++)
        equal += a[i] == b[i];
    return equal;
}

static void a_state_gives_its_bits_again(void **state)
{
    draws one = draw(42, TG_U32, 1000), again = draw(42, TG_U32, 1000);
    assert_memory_equal(one.first, again.first, 1000 * sizeof(double));
    assert_memory_equal(one.second, again.second, 1000 * sizeof(double));
    assert_memory_equal(one.state, again.state, 2 * sizeof(double));
    draws_free(&one);
    draws_free(&again);
}

/* Of 1000 pairs of independent words two are equal once in 10^13 tests. */
static void another_state_gives_other_bits(void **state)
{
    draws one = draw(42, TG_U32, 1000), other = draw(43, TG_U32, 1000);
    assert_true(one.state[0] != 42 || one.state[1] != 0);
    assert_true(equal_words(one.first, one.second, 1000) <= 1);
    assert_true(equal_words(one.first + 1, one.second, 999) <= 1);
    assert_true(equal_words(one.first, other.first, 1000) <= 1);
    assert_true(equal_words(one.second, other.second, 1000) <= 1);
    draws_free(&one);
    draws_free(&other);
}

/* Pearson's statistic over the values of a byte; both tails, as bits that are
 * too even are not random either. The seed is fixed, so a plugin passes always
 * or never. */
static void assert_uniform(const double *words, size_t count, unsigned shift)
{
    double seen[256] = {0}, expected = (double)count / 256, statistic = 0;
    for (size_t i = 0; i < count; i++)
        seen[(uint32_t)words[i] >> shift & 255]++;
    for (int v = 0; v < 256; v++)
        statistic += (seen[v] - expected) * (seen[v] - expected) / expected;
    double p = gsl_cdf_chisq_Q(statistic, 255);
    if (!(p > 1e-4 && p < 1 - 1e-4))
        fail_msg("byte at bit %u: chi-square %g of 255 degrees of freedom, p = %g", shift,
                 statistic, p);
}

static void bytes_are_uniform(void **state)
{
    draws d = draw(7, TG_U32, DRAWS);
    double *mixed = malloc(DRAWS * sizeof *mixed);
    assert_non_null(mixed);
    /* The difference of neighbours, so that counting up would not do. */
    for (size_t i = 0; i < DRAWS; i++)
        mixed[i] = (uint32_t)d.first[i] - (uint32_t)d.first[(i + 1) % DRAWS];
    for (unsigned shift = 0; shift < 32; shift += 8) {
        assert_uniform(d.first, DRAWS, shift);
        assert_uniform(d.second, DRAWS, shift);
        assert_uniform(mixed, DRAWS, shift);
    }
    free(mixed);
    draws_free(&d);
}

/* Doubles have the upper 53 bits of a word of 64. */
static void words_of_64_bits_fill_them(void **state)
{
    draws d = draw(7, TG_U64, DRAWS);
    for (size_t i = 0; i < DRAWS; i++)
        d.first[i] = (double)(uint32_t)((uint64_t)(d.first[i] / 0x1p32));
    for (unsigned shift = 0; shift < 32; shift += 8)
        assert_uniform(d.first, DRAWS, shift);
    draws_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_gives_its_bits_again),
        cmocka_unit_test(another_state_gives_other_bits),
        cmocka_unit_test(bytes_are_uniform),
        cmocka_unit_test(words_of_64_bits_fill_them),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
