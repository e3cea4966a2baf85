/*
 * compare_interim.c - the planned interim analyses of a comparison that ends as soon as it is
 * decided.
 *
 * Several analyses, of which the first significant one ends the comparison, raise more false alarms
 * than one. So each analysis has a share of the level, and claims at that share of it only. The
 * shares are those of an error spending function (K. K. G. Lan and D. L. DeMets, "Discrete
 * sequential boundaries for clinical trials", Biometrika 70, 1983): after the share T of the pairs,
 * T^1.5 of the error is spent (K. Kim and D. L. DeMets, "Design and analysis of group sequential
 * tests based on the type I error spending rate function", Biometrika 74, 1987). The exponent lies
 * between Pocock's boundary, which ends large differences one pair earlier but sees small ones less
 * often, and that of O'Brien and Fleming, for which it is the other way round.
 *
 * The boundaries are computed for sums of normal values by the recursion of P. Armitage, C. K.
 * McPherson and B. C. Rowe ("Repeated significance tests on accumulating data", JRSS A 132, 1969)
 * at a level of 5 %, two-sided, and their nominal p values are kept (test_interim.c computes them
 * again). They serve for all levels and for both tests, as the nominal p of an analysis (S. J.
 * Pocock, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64,
 * 1977). For smaller levels analyses overlap less, so the same shares would spend up to 1.6 times
 * the level by Student's t. The error of compare.c, which allows for signs drawn by halves, more
 * than makes up for that: 0.8 to 0.97 of the level is spent between 5 % and 0.05 %
 * (test_interim.c). It makes up for less with many pairs, so the shares for short steps are
 * computed at a level of 1 %. Analyses that are not made, because so few pairs can claim nothing in
 * a large family, leave their share unspent.
 */
#include "results/stats/stats_priv.h"

typedef struct analysis {
    size_t pairs;
    double share; /* of the level */
} analysis;

/* Ended by an analysis without pairs. */
static const analysis none[] = {{0, 1}};
static const analysis usual[] = {{4, 0.192}, {5, 0.163},  {6, 0.192},
                                 {8, 0.325}, {10, 0.439}, {RES_INTERIM_USUAL, 0.565},
                                 {0, 0.565}};
static const analysis of_short_steps[] = {{4, 0.068},  {6, 0.075},  {8, 0.099},
                                          {12, 0.206}, {18, 0.389}, {RES_INTERIM_SHORT, 0.554},
                                          {0, 0.554}};

static const analysis *planned(res_interim interim)
{
    return interim == RES_INTERIM_SHORT   ? of_short_steps
           : interim == RES_INTERIM_USUAL ? usual
                                          : none;
}

size_t res_next_interim(res_interim interim, size_t pairs)
{
    const analysis *next = planned(interim);
    while (next->pairs > 0 && next->pairs <= pairs)
        next++;
    return next->pairs;
}

double res_interim_share(res_interim interim, size_t pairs)
{
    const analysis *now = planned(interim);
    while (now->pairs > 0 && now->pairs < pairs)
        now++;
    return now->share;
}
