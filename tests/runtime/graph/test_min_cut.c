/*
 * test_min_cut.c - the values to keep: no set of values that suffices costs less, in all of many small
 * networks.
 */
#include "runtime/graph/min_cut.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

#define MOST 10

typedef struct network {
    size_t count;
    int64_t cost[MOST];
    bool made[MOST], wanted[MOST];
    bool uses[MOST][MOST]; /* [user][value], values below their users */
} network;

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static network draw_network(uint64_t seed)
{
    network n = {.count = 2 + draw(&seed, MOST - 1)};
    for (size_t i = 0; i < n.count; i++) {
        n.cost[i] = draw(&seed, 9);
        n.made[i] = i == 0 || draw(&seed, 4) == 0;
        n.wanted[i] = i + 1 == n.count || draw(&seed, 3) == 0;
        for (size_t k = 0; k < i && !n.made[i]; k++)
            n.uses[i][k] = draw(&seed, 3) == 0;
    }
    return n;
}

/* Whether all wanted values can be made of the values KEPT (bits); *ANEW: how many are made. */
static bool suffices(const network *n, unsigned kept, int *anew)
{
    bool need[MOST] = {false};
    *anew = 0;
    for (size_t i = n->count; i-- > 0;) {
        need[i] = need[i] || n->wanted[i];
        if (!need[i] || kept >> i & 1)
            continue;
        if (n->made[i])
            return false;
        ++*anew;
        for (size_t k = 0; k < i; k++)
            need[k] = need[k] || n->uses[i][k];
    }
    return true;
}

static int64_t sum_of(const network *n, unsigned kept)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n->count; i++)
        sum += kept >> i & 1 ? n->cost[i] : 0;
    return sum;
}

static unsigned cut(const network *n)
{
    tg_cut_net *net = tg_cut_new(n->count);
    unsigned kept = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        tg_cut_value(net, i, n->cost[i]);
        if (n->made[i])
            tg_cut_made(net, i);
        if (n->wanted[i])
            tg_cut_want(net, i);
        for (uint32_t k = 0; k < i; k++)
            if (n->uses[i][k])
                tg_cut_use(net, k, i);
    }
    tg_cut_run(net);
    for (uint32_t i = 0; i < n->count; i++)
        kept |= (unsigned)tg_cut_keeps(net, i) << i;
    tg_cut_free(net);
    return kept;
}

static void no_other_set_costs_less(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        const network n = draw_network(seed);
        const unsigned kept = cut(&n);
        int own, other;
        assert_true(suffices(&n, kept, &own));
        for (unsigned set = 0; set < 1u << n.count; set++)
            if (suffices(&n, set, &other))
                assert_true(sum_of(&n, kept) <= sum_of(&n, set));
    }
}

static void what_comes_of_nothing_is_made_anew(void **state)
{
    (void)state;
    const network n = {.count = 3,
                       .cost = {5, 5, 5},
                       .wanted = {[2] = true},
                       .uses = {[1] = {true}, [2] = {true, true}}};
    assert_int_equal(cut(&n), 0);
}

/* Of two cuts of one cost the one nearer to what is wanted: less is made anew. */
static void less_is_made_anew(void **state)
{
    (void)state;
    const network n = {.count = 3,
                       .cost = {4, 4, 4},
                       .made = {true},
                       .wanted = {[2] = true},
                       .uses = {[1] = {true}, [2] = {[1] = true}}};
    assert_int_equal(cut(&n), 4);
}

static void a_deep_network_is_cut(void **state)
{
    (void)state;
    const uint32_t depth = 200000;
    tg_cut_net *net = tg_cut_new(depth);
    for (uint32_t i = 0; i < depth; i++) {
        tg_cut_value(net, i, i == depth / 2 ? 1 : 2);
        if (i > 0)
            tg_cut_use(net, i - 1, i);
    }
    tg_cut_made(net, 0);
    tg_cut_want(net, depth - 1);
    tg_cut_run(net);
    for (uint32_t i = 0; i < depth; i++)
        assert_int_equal(tg_cut_keeps(net, i), i == depth / 2);
    tg_cut_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_set_costs_less),
        cmocka_unit_test(what_comes_of_nothing_is_made_anew),
        cmocka_unit_test(less_is_made_anew),
        cmocka_unit_test(a_deep_network_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
