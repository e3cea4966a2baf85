/*
 * studies.h - the fit of a step's time over an axis that is swept: a straight line of each process,
 * their mean, and where two lines meet. Numbers only; nothing here knows what a record is. Prefix
 * res_.
 */
#ifndef BENCH_RESULTS_STUDIES_H
#define BENCH_RESULTS_STUDIES_H

#include "results/stats/stats.h"

/* The values that a line is fitted to: POINTS of each of PROCESSES processes; borrowed. */
typedef struct res_sweep {
    const double *x; /* [point], finite, not all alike */
    const double *y; /* [process][point], finite */
    size_t points, processes;
} res_sweep;

/* Whether points lie on their line. */
typedef enum res_fit {
    RES_FIT_UNKNOWN, /* two points always do; fewer than RES_LEAST_PROCESSES show no spread */
    RES_FIT_HOLDS,   /* no point is significantly off it, or by RES_FIT_SLACK at most */
    RES_FIT_FAILS    /* a point lies off it by more than processes differ and than RES_FIT_SLACK */
} res_fit;
/* A share of the value. Less decides nothing, but with enough processes it would be significant. */
#define RES_FIT_SLACK 0.01
const char *res_fit_name(res_fit fit); /* "unknown", "holds", "fails" */

/* y = base + slope x. */
typedef struct res_line {
    res_estimate base, slope;             /* means over processes */
    double *process_base, *process_slope; /* [process]; owned */
    size_t points, processes;
    res_fit verdict;
    size_t
        off_at; /* the point farthest off its line; where the fit fails, of the significant ones */
    double off;    /* by how much, as a share of its mean Y: 0.03 is 3 % above the line */
    double p;      /* that processes on the line are so far off at any point; 1: unknown */
} res_line;

/*
 * Fits SWEEP. Each process draws its own line by least squares, and its two coefficients are one
 * value each: means over processes have Student's t interval, as all figures of bench. Squares are
 * of differences as a share of the mean value of their point, since times vary in proportion to
 * their length; of the differences themselves where a mean is not above zero.
 * VERDICT tests each point's mean residual over processes against their spread, by Student's t and
 * Holm over the points at 5 %. BN_INVALID below two points or one process, and for an X that does
 * not change. LINE is to be freed also after a failure.
 */
BN_MUST_USE bn_code res_line_fit(const res_sweep *sweep, res_line *line, bn_status *st);
void res_line_free(res_line *line);
/* The line's Y at X, by the means. */
double res_line_at(const res_line *line, double x);

/*
 * Where u + v x = 0, of the means of COUNT values U[i] and V[i] of one process each: -mean u / mean
 * v. Its 95 % interval is all x for which u + v x does not differ significantly from zero by
 * Student's t (E. C. Fieller, "Some Problems in Interval Estimation", Journal of the Royal
 * Statistical Society B 16, 1954). It has bounds where the mean of V differs significantly from
 * zero; else they are NaN, as below RES_LEAST_PROCESSES. With U the negated numerator and V the
 * denominator this is a ratio of two means.
 */
res_interval res_crossing(const double *u, const double *v, size_t count);

/* ---- padding to buckets (buckets.c) ------------------------------------------------------- */

/* The lengths of rows are those of model_draw_batch (models/model.h), --lengths varying:
 * log-normal, rounded, from RES_LEAST_TOKENS to MOST. The median is a share of MOST. */
#define RES_LEAST_TOKENS  4
#define RES_MEDIAN_SHARE  0.5
#define RES_LENGTH_SPREAD 0.5
/* More are not looked at. */
#define RES_MOST_BUCKETS  64

/* A run whose batches are padded, and the fits of its steps and compilations. */
typedef struct res_padding {
    double most;                        /* tokens of the longest row, a whole number */
    double rows;                        /* of a batch, which is as long as its longest row */
    double steps;                       /* of the run */
    double step_base_ns, step_token_ns; /* a step of batches of LENGTH takes base + token
                                           LENGTH; so does a compilation */
    double compile_base_ns, compile_token_ns;
} res_padding;

/* Expectations over the run. */
typedef struct res_padding_cost {
    double programs;   /* that some step needs */
    double length;     /* to which a batch is padded, tokens */
    double compile_ns; /* of these programs */
    double total_ns;   /* compilations and all steps */
} res_padding_cost;

/* The cost with BUCKETS lengths, evenly spaced up to MOST; 0: each batch has its own length. */
res_padding_cost res_padding_of(const res_padding *padding, int buckets);
/* The time that all steps take with BUCKETS beyond that at each batch's own length, ns. */
double res_padding_waste(const res_padding *padding, int buckets);
/* The number of buckets, at most RES_MOST_BUCKETS and MOST, whose total is least. */
int res_padding_best(const res_padding *padding);

#endif
