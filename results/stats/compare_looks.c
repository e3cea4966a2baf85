/*
 * compare_looks.c - the planned looks of a comparison that ends as soon as it is decided.
 *
 * Who looks several times, and ends at a look that claims something, is wrong more often than one
 * look is. So each look has a share of the level, and claims at that share of it only. The shares
 * are those of an error spending function (K. K. G. Lan and D. L. DeMets, "Discrete sequential
 * boundaries for clinical trials", Biometrika 70, 1983): after the share T of the pairs, T^1.5 of
 * the error is spent (K. Kim and D. L. DeMets, "Design and analysis of group sequential tests based
 * on the type I error spending rate function", Biometrika 74, 1987). The exponent lies between
 * Pocock's boundary, which ends large differences one pair earlier but sees small ones less often,
 * and that of O'Brien and Fleming, for which it is the other way round.
 *
 * The boundaries are computed for sums of normal values by the recursion of P. Armitage, C. K.
 * McPherson and B. C. Rowe ("Repeated significance tests on accumulating data", JRSS A 132, 1969)
 * at a level of 5 %, two-sided, and their nominal p values are kept (test_looks.c computes them
 * again). They serve for all levels and for both tests, as the nominal p of a look (S. J. Pocock,
 * "Group sequential methods in the design and analysis of clinical trials", Biometrika 64, 1977).
 * For smaller levels looks overlap less, so the same shares would spend up to 1.6 times the level
 * by Student's t. The error of compare.c, which allows for signs drawn by halves, more than makes
 * up for that: 0.8 to 0.97 of the level is spent between 5 % and 0.05 % (test_looks.c). Looks that
 * are not taken, because so few pairs can claim nothing in a large family, leave their share
 * unspent.
 */
#include "results/stats/stats_priv.h"

typedef struct look {
    size_t pairs;
    double share; /* of the level */
} look;

static const look looks[] = {{4, 0.192}, {5, 0.163},  {6, 0.192},
                             {8, 0.325}, {10, 0.439}, {RES_LAST_LOOK, 0.565}};
#define LOOKS (sizeof looks / sizeof *looks)

size_t res_next_look(size_t pairs)
{
    for (size_t i = 0; i < LOOKS; i++)
        if (looks[i].pairs > pairs)
            return looks[i].pairs;
    return 0;
}

double res_look_share(size_t pairs)
{
    size_t i = 0;
    while (i + 1 < LOOKS && looks[i].pairs < pairs)
        i++;
    return looks[i].share;
}
