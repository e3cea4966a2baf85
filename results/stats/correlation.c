/*
 * correlation.c - how alike neighbouring nights are, and what their number is worth.
 *
 * A machine that was slow last night is often still slow tonight. A mean of such nights lies
 * further off than one of nights that do not depend on each other, and a test that ignores it finds
 * changes where there are none. Nights are taken for a first-order autoregression, whose
 * correlation at a distance of K nights is RHO^K.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/* The constants of this file were chosen by simulation (bench selftest statistics, part nights). */

/* The correlation assumed before any night, and for how many nights that counts. */
#define EXPECTED     0.3
#define COUNTS_FOR   30.0
/* Fewer nights do not show a correlation: EXPECTED stands for it. */
#define FEWEST       12
/* Differences over so many nights stand beside those of neighbours. */
#define FAR          3
/* Standard errors of an estimate, about one over the root of the nights that it counts for, that
 * are added to it: too low a correlation makes false changes, too high a one only costs power. */
#define ADDED        0.5
/* Above it nights say nothing more, and the sums below divide by almost nothing. */
#define HIGHEST      0.95
/* Robust standard deviations beyond which a difference is left out: it spans a change, or one of
 * its nights was under load. */
#define CUT          3.0
/* A median distance of normal values is 1/1.4826 of their standard deviation. */
#define TO_DEVIATION 1.4826

/* The mean square of the differences of X over LAG nights. ROOM is for COUNT values. */
static double mean_square(const double *x, size_t count, size_t lag, double *room)
{
    const size_t n = count - lag;
    double sum = 0;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(x[i + lag] - x[i]);
    gsl_sort(room, 1, n);
    const double scale =
        fmax(TO_DEVIATION * gsl_stats_median_from_sorted_data(room, 1, n), RES_LEAST_DEVIATION);
    for (; kept < n && room[kept] <= CUT * scale; kept++)
        sum += room[kept] * room[kept];
    return sum / (double)kept;
}

/* Of COUNT nights alone. Differences over K nights have the variance 2 s^2 (1 - r^K): those over
 * three nights have 1 + r + r^2 times that of neighbours. Nights that never differ remember
 * nothing.
 */
static double estimate(const double *x, size_t count)
{
    double *room = bn_zalloc(count, sizeof *room);
    const double near = mean_square(x, count, 1, room), far = mean_square(x, count, FAR, room);
    free(room);
    const double times = near > 0 ? fmax(far / near, 0.75) : 1;
    return (sqrt(4 * times - 3) - 1) / 2;
}

double res_nights_correlation(const double *x, size_t count)
{
    if (count < FEWEST)
        return EXPECTED;
    const double nights = (double)count, weight = nights + COUNTS_FOR;
    const double r = (nights * estimate(x, count) + COUNTS_FOR * EXPECTED) / weight;
    return fmin(fmax(r + ADDED / sqrt(weight), 0), HIGHEST);
}

double res_nights_factor(double rho, double count)
{
    return (1 + rho) / (1 - rho) -
           2 * rho * (1 - pow(rho, count)) / (count * (1 - rho) * (1 - rho));
}

double res_nights_worth(double rho, double count)
{
    return count * (1 - rho) / (1 + rho);
}

double res_nights_freedom(double rho, double count, double means)
{
    return fmax(res_nights_worth(rho, count) - means, 1);
}
