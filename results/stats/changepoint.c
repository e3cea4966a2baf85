/*
 * changepoint.c - where a series of nights changed its level.
 *
 * The method is E-divisive (D. S. Matteson and N. A. James, "A nonparametric approach
 * for multiple change point analysis of multivariate data", JASA 109, 2014): find the place
 * that sets the two sides of a stretch furthest apart by the energy distance, then do the same
 * within either side. As in "Hunter" (M. Fleming et al., "Hunter: using change point detection
 * to hunt for performance regressions", ICPE 2023), Student's t test replaces its permutations:
 * it is fast and gives the same answer each time. Also as there, the series is looked at in
 * windows, too: in the whole of a long series a rise that was fixed later hides, and old changes
 * hide new ones. The passes propose places; each is then judged between its neighbours, the
 * weakest first.
 *
 * Potts' functional (L. Boysen et al., "Consistencies and rates of convergence of
 * jump-penalized least squares estimators", Annals of Statistics 37, 2009) finds all
 * changes at once. But its one parameter is the price of a jump, which does not set the rate of
 * false alarms, and least squares pay any price for an outlier.
 *
 * Differences from Hunter:
 * - Values are logs, so that a change is a ratio.
 * - They are cut some robust standard deviations from the stretch's median (res_cut_nights), or two
 *   slow nights would be a change. Hence no change has fewer than RES_LEAST_NIGHTS on a side.
 * - Nights are alike (correlation.c). So Student's t is divided by how much further a difference of
 *   two means of such nights strays, and its degrees of freedom are what the nights are worth.
 * - The place was chosen for being the best, so its p is not that of one test. It is compared
 *   with the level divided by all places that were looked at (Bonferroni). That keeps the
 *   probability of any false change in a series without one below the level, for nights whose
 *   correlation is at most 0.6 (bench selftest statistics).
 *
 * Each pass is O(n^2) in time and O(n) in memory: it goes down at most DEEPEST times.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST          RES_LEAST_NIGHTS
#define FLOOR          RES_LEAST_DEVIATION
/* The passes propose what comes within this factor of the level. */
#define PROPOSED       10.0
#define DEEPEST        24
/* The latest night is predicted from at least so many nights, at this level. */
#define PREDICT_FROM   8
#define PREDICT_LEVEL  0.01
#define SURE           1.1

res_change_options res_change_defaults(void)
{
    return (res_change_options){.level = 0.05, .least_effect = 0.01, .window = 50};
}

/* The series that is searched, and room for one stretch of it. */
typedef struct search {
    const double *x; /* logs, without gaps */
    size_t n;
    double *cut;    /* those of a stretch, cut */
    double *room;   /* for sorting */
    size_t *places; /* proposed or kept, ascending */
    size_t count;
    double level; /* of one place */
    double rho;   /* lag-1 correlation of the nights */
} search;

/* ---- a stretch -------------------------------------------------------------------- */

/* Values from FROM to TO into s->cut, which is indexed from 0. */
static void cut_stretch(search *s, size_t from, size_t to)
{
    res_cut_nights(s->x + from, to - from, s->rho, s->room, s->cut);
}

/* The sum of the distances between VALUE and the COUNT values X. Four sums at a time, since each
 * addition to one waits for that before. */
static double distances(const double *x, size_t count, double value)
{
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += fabs(x[i + k] - value);
    for (; i < count; i++)
        sums[0] += fabs(x[i] - value);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Finds the place K (first of the right side) in the COUNT values X that has the largest energy
 * distance, kl/(k+l) (2 E|X-Y| - E|X-X'| - E|Y-Y'|) for sides of K and L. As K grows, the sums of
 * distances within and between are kept up to date. */
static size_t furthest_apart(const double *x, size_t count)
{
    double left = 0, right = 0, between = 0, best = -INFINITY;
    size_t place = LEAST;
    for (size_t i = 0; i < count; i++)
        right += distances(x + i + 1, count - i - 1, x[i]);
    for (size_t k = 1; k + LEAST <= count; k++) {
        /* The value before K goes from right to left. */
        const double before = distances(x, k - 1, x[k - 1]);
        const double after = distances(x + k, count - k, x[k - 1]);
        left += before;
        right -= after;
        between += after - before;
        if (k < LEAST)
            continue;
        const double m = (double)k, l = (double)(count - k);
        const double energy =
            2 * between / (m * l) - 2 * left / (m * (m - 1)) - 2 * right / (l * (l - 1));
        if (m * l / (m + l) * energy > best) {
            best = m * l / (m + l) * energy;
            place = k;
        }
    }
    return place;
}

static double squares_about(const double *x, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

/* The standard error of the difference of the means of M and of L neighbouring nights, in standard
 * deviations of a night. */
static double spread(double rho, double m, double l)
{
    return sqrt(res_nights_factor(rho, m) / m + res_nights_factor(rho, l) / l);
}

/* Student's t of the two sides of K in X, with the variance of both: a short side
 * borrows from the long one. */
static double student(const double *x, size_t count, size_t k, double rho)
{
    const double m = (double)k, l = (double)(count - k);
    const double left = gsl_stats_mean(x, 1, k), right = gsl_stats_mean(x + k, 1, count - k);
    const double squares = squares_about(x, k, left) + squares_about(x + k, count - k, right);
    const double deviation = fmax(sqrt(squares / (m + l - 2)), FLOOR);
    return (right - left) / (deviation * spread(rho, m, l));
}

/* Two-sided p of Student's t between FROM, AT and TO; 1 for a side that is too short. */
static double p_of(search *s, size_t from, size_t at, size_t to)
{
    if (at < from + LEAST || to < at + LEAST)
        return 1;
    cut_stretch(s, from, to);
    const double t = student(s->cut, to - from, at - from, s->rho);
    return 2 * gsl_cdf_tdist_Q(fabs(t), res_nights_freedom(s->rho, (double)(to - from), 2));
}

/* ---- proposals ---------------------------------------------------------------------- */

static size_t begin_of(const search *s, size_t i)
{
    return i > 0 ? s->places[i - 1] : 0;
}

static size_t end_of(const search *s, size_t i)
{
    return i + 1 < s->count ? s->places[i + 1] : s->n;
}

static void propose(search *s, size_t at)
{
    size_t place = s->count;
    while (place > 0 && s->places[place - 1] > at)
        place--;
    if (place > 0 && s->places[place - 1] == at)
        return;
    memmove(s->places + place + 1, s->places + place, (s->count - place) * sizeof *s->places);
    s->places[place] = at;
    s->count++;
}

static void divide(search *s, size_t from, size_t to, int depth)
{
    if (to - from < 2 * LEAST || depth == DEEPEST)
        return;
    cut_stretch(s, from, to);
    const size_t at = from + furthest_apart(s->cut, to - from);
    if (p_of(s, from, at, to) > PROPOSED * s->level)
        return;
    propose(s, at);
    divide(s, from, at, depth + 1);
    divide(s, at, to, depth + 1);
}

/* Looks at the whole series, then at windows that overlap by half; the last one ends with the
 * series. DRY only counts. Returns how many places are looked at. */
static size_t look(search *s, size_t window, bool dry)
{
    size_t places = s->n - 2 * LEAST + 1;
    if (!dry)
        divide(s, 0, s->n, 0);
    for (size_t from = 0; s->n > window; from += window / 2) {
        const bool last = from + window >= s->n;
        if (last)
            from = s->n - window;
        places += window - 2 * LEAST + 1;
        if (!dry)
            divide(s, from, from + window, 0);
        if (last)
            break;
    }
    return places;
}

/* Looks once more next to each place that was proposed. A rise that was fixed soon has two ends: a
 * window that begins or ends at one of them hides the other. Few places are proposed in a series
 * without changes, so this hardly adds places. */
static void look_beside(search *s, size_t window)
{
    for (size_t done = 0; done < s->count && s->count < s->n / LEAST;) {
        const size_t at = s->places[done], before = s->count;
        const size_t begin = begin_of(s, done), end = end_of(s, done);
        divide(s, at > begin + window ? at - window : begin, at, 0);
        divide(s, at, at + window < end ? at + window : end, 0);
        /* After new proposals another place, or this one again, stands at DONE. */
        done += s->count == before ? 1 : 0;
    }
}

/* ---- judgement ------------------------------------------------------------------------ */

static void drop(search *s, size_t i)
{
    memmove(s->places + i, s->places + i + 1, (s->count - i - 1) * sizeof *s->places);
    s->count--;
}

/* Both passes may find the same change, a night or two apart: the clearer place stays. */
static void thin(search *s)
{
    for (size_t i = 0; i + 1 < s->count;) {
        if (s->places[i + 1] - s->places[i] >= LEAST) {
            i++;
            continue;
        }
        const size_t from = begin_of(s, i), to = end_of(s, i + 1);
        const bool first = p_of(s, from, s->places[i], to) <= p_of(s, from, s->places[i + 1], to);
        drop(s, first ? i + 1 : i);
        i -= i > 0;
    }
}

/* Mean of a side, cut about its own median; adds the squares about it to *SQUARES. */
static double side_mean(search *s, size_t from, size_t to, double *squares)
{
    cut_stretch(s, from, to);
    const double mean = gsl_stats_mean(s->cut, 1, to - from);
    *squares += squares_about(s->cut, to - from, mean);
    return mean;
}

/* Measures the change at place I between its neighbours. */
static res_change measure(search *s, size_t i)
{
    const size_t from = begin_of(s, i), at = s->places[i], to = end_of(s, i);
    const double freedom = res_nights_freedom(s->rho, (double)(to - from), 2);
    double squares = 0;
    const double left = side_mean(s, from, at, &squares), right = side_mean(s, at, to, &squares);
    const double error = fmax(sqrt(squares / (double)(to - from - 2)), FLOOR) *
                         spread(s->rho, (double)(at - from), (double)(to - at));
    const double half = error * gsl_cdf_tdist_Qinv(0.025, freedom), log_ratio = right - left;
    return (res_change){
        .at = at,
        .ratio = {exp(log_ratio), exp(log_ratio - half), exp(log_ratio + half)},
        .p = p_of(s, from, at, to),
    };
}

/* Drops changes that do not stand between their neighbours, the weakest first. */
static void prune(search *s, double least_effect)
{
    for (;;) {
        double worst = -1;
        size_t weakest = 0;
        for (size_t i = 0; i < s->count; i++) {
            const res_change c = measure(s, i);
            const bool small = fabs(log(c.ratio.estimate)) < log1p(least_effect);
            const double p = small ? 2 : c.p;
            if (p > worst) {
                worst = p;
                weakest = i;
            }
        }
        if (worst <= s->level)
            return;
        drop(s, weakest);
    }
}

/* Moves each change to the best place between its neighbours. True if any moved. */
static bool settle(search *s)
{
    bool moved = false;
    for (size_t i = 0; i < s->count; i++) {
        const size_t from = begin_of(s, i), to = end_of(s, i);
        cut_stretch(s, from, to);
        const size_t at = from + furthest_apart(s->cut, to - from);
        moved = moved || at != s->places[i];
        s->places[i] = at;
    }
    return moved;
}

/* ---- the latest nights ----------------------------------------------------------------- */

/* The log of a change that LEAST nights more show in 4 of 5 cases beside M nights of DEVIATION, if
 * nights have the correlation RHO. To detect it so often takes 0.84 more than the critical t; that
 * the place has to be found as well takes the rest of SURE (bench selftest statistics). */
static double needed(const search *s, double rho, size_t m, double deviation)
{
    const double freedom = res_nights_freedom(rho, (double)m, 1);
    return (gsl_cdf_tdist_Qinv(s->level / 2, freedom) + SURE) * deviation *
           spread(rho, LEAST, (double)m);
}

/* The same with the correlation that the series would then have: a change at its end raises it
 * where nights are few. The latest nights stand for those after the change. */
static double detectable(const search *s, size_t m, double deviation)
{
    double *then = bn_zalloc(s->n + LEAST, sizeof *then);
    const double step = needed(s, s->rho, m, deviation);
    memcpy(then, s->x, s->n * sizeof *then);
    for (size_t i = s->n; i < s->n + LEAST; i++)
        then[i] = then[i - LEAST] + step;
    const double rho = fmax(s->rho, res_nights_correlation(then, s->n + LEAST));
    free(then);
    return needed(s, rho, m, deviation);
}

/* Compares the latest night with those since the last change. The last two nights are left out of
 * that range, since both may be of something new. */
static void predict(search *s, const res_change_options *options, res_changes *found)
{
    const size_t from = s->count > 0 ? s->places[s->count - 1] : 0;
    if (s->n < from + PREDICT_FROM + LEAST - 1)
        return;
    const size_t to = s->n - (LEAST - 1), m = to - from;
    double squares = 0;
    const double mean = side_mean(s, from, to, &squares);
    const double freedom = res_nights_freedom(s->rho, (double)m, 1);
    const double deviation = fmax(sqrt(squares / (double)(m - 1)), FLOOR);
    const double error = deviation * spread(s->rho, 1, (double)m);
    const double half = error * gsl_cdf_tdist_Qinv(PREDICT_LEVEL / 2, freedom);
    const double latest = s->x[s->n - 1] - mean;
    found->latest = (res_interval){exp(latest), exp(-half), exp(half)};
    found->latest_p = 2 * gsl_cdf_tdist_Q(fabs(latest) / error, freedom);
    found->noise = deviation;
    for (size_t i = s->n; i > to; i--) {
        const double night = s->x[i - 1] - mean;
        if (fabs(night) < fmax(half, log1p(options->least_effect)) || night * latest < 0)
            break;
        found->latest_run++;
    }
    found->mde = expm1(detectable(s, m, deviation));
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Takes the logs of VALUES, without missing nights; NIGHT says where each was. */
static size_t take_logs(const double *values, size_t count, double *x, size_t *night)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || values[i] <= 0)
            continue;
        x[n] = log(values[i]);
        night[n++] = i;
    }
    return n;
}

static void find(search *s, const res_change_options *options)
{
    const size_t window = options->window > 2 * LEAST ? options->window : 2 * LEAST;
    s->level = options->level / (double)look(s, window, true);
    look(s, window, false);
    look_beside(s, window);
    thin(s);
    prune(s, options->least_effect);
    /* A change that moves changes the stretches of its neighbours: a few rounds settle all. */
    for (int round = 0; round < 4 && settle(s); round++)
        prune(s, options->least_effect);
}

static bn_code check(const res_change_options *options, bn_status *st)
{
    if (!(options->level > 0 && options->level < 1))
        return bn_fail(st, BN_INVALID, "the level of false changes is %g, not between 0 and 1",
                       options->level);
    if (!(options->least_effect >= 0 && isfinite(options->least_effect)))
        return bn_fail(st, BN_INVALID, "the least effect is %g, not 0 or more",
                       options->least_effect);
    return BN_OK;
}

bn_code res_changes_find(const double *values, size_t count, const res_change_options *options,
                         res_changes *found, bn_status *st)
{
    *found = (res_changes){
        .noise = (double)NAN, .latest_p = (double)NAN, .mde = (double)NAN, .rho = (double)NAN};
    found->latest = (res_interval){(double)NAN, (double)NAN, (double)NAN};
    bn_code code = check(options, st);
    if (code != BN_OK)
        return code;
    double *reals = bn_zalloc(3 * count, sizeof *reals);
    size_t *sizes = bn_zalloc(2 * count, sizeof *sizes);
    res_change *list = bn_zalloc(count, sizeof *list);
    search s = {.x = reals,
                .n = take_logs(values, count, reals, sizes),
                .cut = reals + count,
                .room = reals + 2 * count,
                .places = sizes + count};
    found->list = list;
    found->nights = s.n;
    found->rho = s.rho = res_nights_correlation(s.x, s.n);
    if (s.n < 2 * LEAST)
        goto out;
    find(&s, options);
    found->count = s.count;
    for (size_t i = 0; i < s.count; i++) {
        list[i] = measure(&s, i);
        list[i].at = sizes[list[i].at];
    }
    predict(&s, options, found);
out:
    free(reals);
    free(sizes);
    return BN_OK;
}

void res_changes_free(res_changes *found)
{
    free(found->list);
    *found = (res_changes){0};
}
