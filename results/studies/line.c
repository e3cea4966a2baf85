/*
 * line.c - straight lines over processes: least squares by GSL within a process, Student's t
 * between them, and Fieller's interval of where lines meet.
 */
#include "results/studies/studies.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define LEVEL 0.05

const char *res_fit_name(res_fit fit)
{
    static const char *const names[] = {
        [RES_FIT_UNKNOWN] = "unknown", [RES_FIT_HOLDS] = "holds", [RES_FIT_FAILS] = "fails"};
    return names[fit];
}

/* Room for a fit. */
typedef struct fit {
    const res_sweep *sweep;
    double *scale;    /* [point]: what its differences are a share of */
    double *weight;   /* [point] */
    double *residual; /* [process]: of one point */
    double *off;      /* [point]: mean residual, as a share */
    double *p;        /* [point] */
    double *adjusted; /* [point] */
} fit;

/* Differences are a share of each point's mean, where all means are above zero. */
static void weigh(fit *f)
{
    const res_sweep *s = f->sweep;
    double least = (double)INFINITY, most = 0;
    for (size_t i = 0; i < s->points; i++) {
        f->scale[i] = gsl_stats_mean(s->y + i, s->points, s->processes);
        least = fmin(least, f->scale[i]);
        most = fmax(most, fabs(f->scale[i]));
    }
    for (size_t i = 0; i < s->points; i++) {
        if (!(least > 0))
            f->scale[i] = most > 0 ? most : 1;
        f->weight[i] = 1 / (f->scale[i] * f->scale[i]);
    }
}

static void draw_lines(const fit *f, res_line *line)
{
    const res_sweep *s = f->sweep;
    double c00, c01, c11, squares;
    for (size_t p = 0; p < s->processes; p++)
        gsl_fit_wlinear(s->x, 1, f->weight, 1, s->y + p * s->points, 1, s->points,
                        &line->process_base[p], &line->process_slope[p], &c00, &c01, &c11,
                        &squares);
    line->base = res_estimate_of(line->process_base, s->processes);
    line->slope = res_estimate_of(line->process_slope, s->processes);
}

/* The point that lies farthest off; SIGNIFICANT: of those that do so significantly. */
static size_t farthest(const fit *f, bool significant)
{
    size_t at = 0;
    double most = -1;
    for (size_t i = 0; i < f->sweep->points; i++)
        if ((!significant || f->adjusted[i] < LEVEL) && fabs(f->off[i]) > most) {
            most = fabs(f->off[i]);
            at = i;
        }
    return at;
}

static void judge(fit *f, res_line *line)
{
    const res_sweep *s = f->sweep;
    for (size_t i = 0; i < s->points; i++) {
        for (size_t p = 0; p < s->processes; p++)
            f->residual[p] = (s->y[p * s->points + i] - line->process_base[p] -
                              line->process_slope[p] * s->x[i]) /
                             f->scale[i];
        const res_estimate mean = res_estimate_of(f->residual, s->processes);
        f->off[i] = mean.mean;
        f->p[i] = res_estimate_p(&mean);
    }
    line->off_at = farthest(f, false);
    line->off = f->off[line->off_at];
    if (s->points < 3 || s->processes < RES_LEAST_PROCESSES)
        return;
    res_holm(f->p, NULL, s->points, f->adjusted);
    const size_t off_at = farthest(f, true);
    for (size_t i = 0; i < s->points; i++)
        line->p = fmin(line->p, f->adjusted[i]);
    line->verdict = RES_FIT_HOLDS;
    if (line->p < LEVEL && fabs(f->off[off_at]) > RES_FIT_SLACK) {
        line->verdict = RES_FIT_FAILS;
        line->off_at = off_at;
        line->off = f->off[off_at];
    }
}

static bool some_change(const res_sweep *s)
{
    for (size_t i = 1; i < s->points; i++)
        if (s->x[i] != s->x[0])
            return true;
    return false;
}

bn_code res_line_fit(const res_sweep *sweep, res_line *line, bn_status *st)
{
    *line = (res_line){.points = sweep->points, .processes = sweep->processes, .p = 1};
    if (sweep->points < 2 || sweep->processes < 1 || !some_change(sweep))
        return bn_fail(st, BN_INVALID, "a line needs two points that differ, and a process");
    const size_t n = sweep->points;
    double *room = bn_zalloc(5 * n + sweep->processes, sizeof *room);
    fit f = {.sweep = sweep,
             .scale = room,
             .weight = room + n,
             .off = room + 2 * n,
             .p = room + 3 * n,
             .adjusted = room + 4 * n,
             .residual = room + 5 * n};
    line->process_base = bn_zalloc(sweep->processes, sizeof *line->process_base);
    line->process_slope = bn_zalloc(sweep->processes, sizeof *line->process_slope);
    weigh(&f);
    draw_lines(&f, line);
    judge(&f, line);
    free(room);
    return BN_OK;
}

void res_line_free(res_line *line)
{
    free(line->process_base);
    free(line->process_slope);
    *line = (res_line){0};
}

double res_line_at(const res_line *line, double x)
{
    return line->base.mean + line->slope.mean * x;
}

/* All x with (u + v x)^2 <= t^2 (variance of u + v x), of the means, lie between the roots of
 * a x^2 + 2 b x + c, where a is above zero. */
res_interval res_crossing(const double *u, const double *v, size_t count)
{
    res_interval out = {(double)NAN, (double)NAN, (double)NAN};
    if (count == 0)
        return out;
    const double n = (double)count;
    const double mean_u = gsl_stats_mean(u, 1, count), mean_v = gsl_stats_mean(v, 1, count);
    out.estimate = -mean_u / mean_v;
    if (count < RES_LEAST_PROCESSES)
        return out;
    const double t = gsl_cdf_tdist_Qinv(LEVEL / 2, n - 1), t2 = t * t / n;
    const double a = mean_v * mean_v - t2 * gsl_stats_variance(v, 1, count);
    const double b = mean_u * mean_v - t2 * gsl_stats_covariance(u, 1, v, 1, count);
    const double c = mean_u * mean_u - t2 * gsl_stats_variance(u, 1, count);
    const double root = sqrt(fmax(0, b * b - a * c));
    if (a > 0) {
        out.low = (-b - root) / a;
        out.high = (-b + root) / a;
    }
    return out;
}
