/*
 * compare_looks.c - the planned looks (interim analyses) of a comparison that ends as soon as it is
 * decided.
 *
 * Several looks, of which the first significant one ends the comparison, raise more false alarms
 * than one look. So each look has a share of the level, and claims at that share of it only. The
 * shares are those of an error spending function (K. K. G. Lan and D. L. DeMets, "Discrete
 * sequential boundaries for clinical trials", Biometrika 70, 1983): after the share T of the pairs,
 * T^1.5 of the error is spent (K. Kim and D. L. DeMets, "Design and analysis of group sequential
 * tests based on the type I error spending rate function", Biometrika 74, 1987). The exponent lies
 * between Pocock's boundary, which ends large differences one pair earlier but sees small ones less
 * often, and that of O'Brien and Fleming, for which it is the other way round.
 *
 * The boundaries are computed for sums of normal values by the recursion of P. Armitage, C. K.
 * McPherson and B. C. Rowe ("Repeated significance tests on accumulating data", JRSS A 132, 1969)
 * at a level of 5 %, two-sided, and their nominal p values are kept (test_looks.c computes them
 * again). They serve for all levels and for both tests, as the nominal p of a look (S. J. Pocock,
 * "Group sequential methods in the design and analysis of clinical trials", Biometrika 64, 1977).
 * For smaller levels looks overlap less, so the same shares would spend up to 1.6 times the level
 * by Student's t. The error of compare.c, which allows for signs drawn by halves, more than makes
 * up for that: 0.8 to 0.97 of the level is spent between 5 % and 0.05 % (test_looks.c). It makes up
 * for less with many pairs, so the shares of looks at short steps are computed at a level of 1 %.
 * Looks that are not taken, because so few pairs can claim nothing in a large family, leave their
 * share unspent.
 */
#include "results/stats/stats_priv.h"

typedef struct look {
    size_t pairs;
    double share; /* of the level */
} look;

/* Ended by a look without pairs. */
static const look none[] = {{0, 1}};
static const look usual[] = {{4, 0.192}, {5, 0.163},  {6, 0.192},
                             {8, 0.325}, {10, 0.439}, {RES_LOOKS_USUAL, 0.565},
                             {0, 0.565}};
static const look of_short_steps[] = {{4, 0.068},  {6, 0.075},  {8, 0.099},
                                      {12, 0.206}, {18, 0.389}, {RES_LOOKS_SHORT, 0.554},
                                      {0, 0.554}};

static const look *planned(res_looks looks)
{
    return looks == RES_LOOKS_SHORT ? of_short_steps : looks == RES_LOOKS_USUAL ? usual : none;
}

size_t res_next_look(res_looks looks, size_t pairs)
{
    const look *next = planned(looks);
    while (next->pairs > 0 && next->pairs <= pairs)
        next++;
    return next->pairs;
}

double res_look_share(res_looks looks, size_t pairs)
{
    const look *now = planned(looks);
    while (now->pairs > 0 && now->pairs < pairs)
        now++;
    return now->share;
}
