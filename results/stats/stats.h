/*
 * stats.h - numbers only: quantiles, intervals, comparisons of processes, change points, latest
 * nights.
 *
 * Nothing here knows what a record is. Prefix res_.
 */
#ifndef BENCH_RESULTS_STATS_H
#define BENCH_RESULTS_STATS_H

#include "runtime/base/base.h"

/* ---- intervals (stats.c, on GSL) ---- */

typedef struct res_interval {
    double estimate, low, high;
} res_interval;

/* Quantile Q (0..1) of COUNT values, linear between order statistics; NaN for
 * none. VALUES does not change. */
double res_quantile(const uint64_t *values, size_t count, double q);

/* Arithmetic mean, NaN for none. */
double res_mean(const uint64_t *values, size_t count);
/* Sample standard deviation, NaN below two values. */
double res_deviation(const uint64_t *values, size_t count);
/* Median, NaN for none. Sorts VALUES. */
double res_median(double *values, size_t count);
/* The same with its 95 % interval by order statistics, the normal approximation of the binomial (W.
 * J. Conover, "Practical Nonparametric Statistics", 1999, section 3.2). */
res_interval res_median_interval(double *values, size_t count);
/* Mean of the middle half: without a quarter of the values, rounded up, at each end. Up to six
 * values that is their median. Where values lie at two levels, a median jumps from one to the other
 * when their shares pass a half; this moves along with the shares. NaN for none. Sorts VALUES. */
double res_middle_mean(double *values, size_t count);
/* Mean without a tenth of the values, rounded down, at each end; without one at each end where they
 * are three to nine, so that of three it is the median. NaN for none. Sorts VALUES. */
double res_trimmed_mean(double *values, size_t count);

/* ---- values of processes (process.c) ---------------------------------------- */

/* Fewer processes have no interval: their spread is unknown. */
#define RES_LEAST_PROCESSES 3

/* A mean over processes. */
typedef struct res_estimate {
    double mean;    /* NaN: of none */
    double error;   /* standard error of MEAN; NaN below RES_LEAST_PROCESSES */
    double freedom; /* degrees of freedom of ERROR; 0 where it is unknown */
    size_t values;  /* that MEAN is of; of a sum the fewest of its terms */
} res_estimate;

/* Of COUNT values, one a process or a run. */
res_estimate res_estimate_of(const double *values, size_t count);
/*
 * The unit of a sample of processes, which belong to runs. Of one run: its processes. Two do not
 * show how far runs differ, so one of them counts alone, by its processes: the later one, or where
 * that has fewer than RES_LEAST_PROCESSES the earlier one. Where both have fewer, and where there
 * are three runs or more, a value is the mean of a run: two such values have no interval.
 */
typedef struct res_runs {
    size_t alone; /* the run that stands alone; SIZE_MAX: all count */
    bool means;   /* a value is the mean of a run, not that of a process */
} res_runs;
/* Decides it for COUNT processes of the runs RUN, which are numbered in order of time. */
res_runs res_runs_choose(const size_t *run, size_t count);
/* Whether processes of RUN count. */
bool res_runs_have(const res_runs *runs, size_t run);
/* Makes the sample of COUNT VALUES of processes of the runs RUN. Both arrays come back changed;
 * returns how many values the sample has. */
size_t res_runs_sample(const res_runs *runs, double *values, size_t *run, size_t count);
/* The sum of WEIGHTS[i] times LIST[i], which share no process: with 1 and -1 Welch's difference.
 * One unknown error makes that of the sum unknown. */
res_estimate res_estimate_sum(const res_estimate *list, const double *weights, size_t count);
/* Half of the interval that misses the truth at LEVEL (0.05: 95 %), by Student's t; NaN where there
 * is none. */
double res_estimate_half(const res_estimate *estimate, double level);
/* The minimum detectable effect: the true mean that would differ significantly from zero at LEVEL
 * in RES_POWER of all samples of TIMES as many processes, if they lie as far apart as these; NaN
 * where that is unknown. */
#define RES_POWER 0.8
double res_estimate_mde(const res_estimate *estimate, double times, double level);
/* The mean with its 95 % interval; the bounds are NaN where there is none. */
res_interval res_estimate_interval(const res_estimate *estimate);
/* The same for a mean of LOGS: all three are exp of it. */
res_interval res_estimate_ratio(const res_estimate *logs);
/* Of a mean of zero, by Student's t, two-sided; 1 where there is no interval. */
double res_estimate_p(const res_estimate *estimate);

/* Whether INTERVAL has bounds and VALUE lies outside: the only meaning of "significant". */
bool res_excludes(res_interval interval, double value);
/* Effective sample size: how many independent values estimate a mean as well as COUNT values in a
 * row, of which neighbours may be alike; at most COUNT. */
double res_independent_samples(const double *values, size_t count);

/* ---- comparisons -------------------------------------------------------- */

/*
 * Two sides, A and B, have as many processes each. Pair I is process I of A and of B, run one after
 * the other, in the order that res_order says. A process counts once, with the logarithm of its
 * median step: its steps share its layout in memory and its moment, so many steps do not replace
 * processes (T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). All
 * that follows is about the differences of pairs.
 */
typedef struct res_side {
    const uint64_t *const *series; /* [process][step], ns */
    const size_t *counts;          /* [process]: steps */
    size_t processes;
    /* [process]: its value, above zero; NULL: the median of its steps, which is not that of its
     * rounds' medians */
    const double *values;
} res_side;

#define RES_MOST_PAIRS 64

typedef enum res_verdict {
    RES_FASTER,     /* B is, at the family's level */
    RES_SLOWER,     /* B is, at the family's level */
    RES_EQUIVALENT, /* no difference was found, and one of DELTA is excluded */
    RES_UNDECIDED   /* neither: more processes are needed */
} res_verdict;
const char *res_verdict_name(res_verdict verdict); /* "faster", ... */

typedef enum res_test {
    RES_TEST_NONE,    /* too few pairs for any claim in such a family: p is 1 */
    RES_TEST_FLIP,    /* permutation: the signs of the pairs' differences are flipped */
    RES_TEST_T,       /* Student's, where flips of so few pairs cannot reach the level */
    RES_TEST_CONSTANT /* each side has one value in all its processes: see compare_family.c */
} res_test;

/* The planned interim analyses of a comparison, which may end at any of them as soon as it is
 * decided; each value is the pairs of the last. See res_next_interim. */
typedef enum res_interim {
    RES_INTERIM_NONE = 0,   /* a fixed number of pairs, judged once */
    RES_INTERIM_USUAL = 12, /* after 4, 5, 6, 8, 10 and 12 pairs */
    RES_INTERIM_SHORT = 24  /* of short steps: after 4, 6, 8, 12, 18 and 24 pairs */
} res_interim;

typedef struct res_compare_options {
    double level;     /* of false alarms in a family, 0.05 */
    double delta;     /* within which sides are equivalent: 0.03 is a ratio of 1/1.03 to 1.03 */
    res_interim interim; /* pairs were run until something was decided */
    size_t resamples; /* of BOOTSTRAP; 0: it is left NaN */
    uint64_t seed;
} res_compare_options;

/* The defaults: 5 %, 3 %, a fixed number of pairs, 2,000 resamples. */
res_compare_options res_compare_defaults(void);

typedef struct res_comparison {
    /* Geometric mean of B over A with its 95 % interval, of this comparison alone: by Student's t
     * over the pairs, or by flips where that is wider (compare.c). With interim analyses it is
     * wider, so that it holds the truth as often whenever the comparison ended. The bounds are NaN
     * below 3 pairs. */
    res_interval ratio;
    /* By steps only, and of a fixed number of pairs. The same by the hierarchical percentile
     * bootstrap (pairs, then blocks of steps), which is too narrow for few pairs. For comparison
     * only. */
    res_interval bootstrap;
    size_t pairs;                     /* that count */
    size_t disturbed;                 /* pairs left out: see compare.c */
    size_t kept[RES_MOST_PAIRS];      /* those that count, ascending */
    double log_ratio[RES_MOST_PAIRS]; /* of each of them */
    double error;                     /* standard error of the mean log ratio */
    double p_flip, p_t; /* no difference, by each test, as if it were the only analysis */
    double share;       /* of the level at this analysis; 1: a fixed number of pairs */
    double delta;                     /* within which its sides are equivalent */
    bool constant;                    /* all values of A are one, and all of B */
    double weight;                    /* its part of the family's level is this over all weights */
    /* All below depends on the family. */
    double family; /* the size of a family of its like: all weights over its own */
    res_test test;
    double level;     /* at this analysis, over FAMILY: what one comparison is sure of */
    double p, p_holm; /* of TEST, over its share of the level */
    double p_equivalent, p_equivalent_holm; /* a difference of DELTA or more (TOST) */
    double critical; /* least log ratio that is significant by TEST at LEVEL */
    /* Minimum detectable effect, as 0.02 for 2 %: the smallest difference that this experiment
     * would have found significant at LEVEL with a probability of 80 %; infinite where none. */
    double mde;
    res_verdict verdict;
} res_comparison;

/*
 * Decides in which of PAIRS pairs B is to run before A. A seeded coin decides for each, so that a
 * difference of like sides is as likely to have either sign, whatever the machine does (R. A.
 * Fisher, "The Design of Experiments", 1935), and no interference can keep pace with a rhythm, as
 * it can with ABBA. Of fewer than RES_COIN_PAIRS pairs B runs first in half, drawn at random, so
 * that a drift cancels. With INTERIM analyses this is so of the first RES_HALVES. A later stage
 * takes another SEED.
 */
#define RES_COIN_PAIRS 8
#define RES_HALVES     4
void res_order(uint64_t seed, size_t pairs, bool interim, bool *b_first);

/*
 * Each planned analysis has a share of the level (compare_interim.c), and what is claimed over all
 * of them is wrong no more often than one analysis would be. An end between two analyses, which
 * the verdicts did not bring about, takes the share of the later one.
 */
/* The next analysis of INTERIM after PAIRS pairs; 0: there is none. */
size_t res_next_interim(res_interim interim, size_t pairs);
/* The share of the level that INTERIM has at PAIRS pairs; 1 of RES_INTERIM_NONE. */
double res_interim_share(res_interim interim, size_t pairs);

/* Compares B with A, as a family of one. Sides without processes, of unequal ones or of
 * more than RES_MOST_PAIRS, processes without steps and steps of 0 ns are
 * BN_INVALID. */
BN_MUST_USE bn_code res_compare(const res_side *a, const res_side *b,
                                const res_compare_options *options, res_comparison *comparison,
                                bn_status *st);
/* One value of each process, as compile time or memory: A[I] and B[I] are pair I. */
typedef struct res_values {
    const double *a, *b;
    size_t pairs;
    /* 0: values above zero, compared by their ratio. Else B minus A is a share of UNIT: a share of
     * 0.03 stands for a ratio of 1.03, one of -0.03 for 1/1.03. */
    double unit;
} res_values;
/* Compares B with A, as a family of one. Values or numbers of pairs that cannot be compared are
 * BN_INVALID. */
BN_MUST_USE bn_code res_compare_values(const res_values *values, const res_compare_options *options,
                                       res_comparison *comparison, bn_status *st);
/* Judges the comparisons LIST anew as one family. The probability that any of them wrongly claims a
 * difference is at most OPTIONS' level, whatever their weights are, if these are chosen beforehand;
 * apart from that, so is the probability of any wrong claim of equivalence. Each weight, which
 * res_compare and res_compare_values set to 1, must be above 0. */
void res_compare_family(res_comparison *list, size_t count, const res_compare_options *options);

/* Mean of COUNT differences of pairs with its 95 % interval, and *P of no difference, by Student's
 * t as in res_compare. Below 3 pairs the bounds are NaN and *P is 1. */
res_interval res_mean_difference(const double *d, size_t count, double *p);

/* Adjusted p values (S. Holm, "A simple sequentially rejective multiple test
 * procedure", Scandinavian Journal of Statistics 6, 1979, which has weights, too).
 * WEIGHT: how much of the level each has, relative to the others, above 0; NULL: all alike. */
void res_holm(const double *p, const double *weight, size_t count, double *adjusted);

/* Power: the probability with which this experiment would have found an EFFECT (0.02: B takes 2 %
 * longer) significant at the comparison's level, with interim analyses at its last one; 0 where it
 * can claim nothing. */
double res_power(const res_comparison *comparison, double effect);
/* Pairs from which flips of signs can reach LEVEL in a FAMILY of comparisons. */
size_t res_fewest_pairs(double level, double family);
/* Pairs from which anything can be claimed in such a family, by Student's t if not by flips. */
size_t res_least_pairs(double level, double family);
/*
 * The stop rule: how many pairs are needed, all in all, for a 95 % interval of about +-PRECISION
 * (0.01: 1 %). This comparison's pairs are the first stage of two (C. Stein, "A two-sample test for
 * a linear hypothesis whose power is independent of the variance", Annals of Mathematical
 * Statistics 16, 1945). If it has as many, stop. The rule looks at the spread alone, never at p or
 * the ratio, so stopping by it makes no false alarms. 0 below 3 pairs, which do not show the
 * spread.
 */
size_t res_pairs_wanted(const res_comparison *comparison, double precision);

/* ---- nights that are alike (correlation.c) --------------------------------- */

/*
 * The lag-1 correlation of the COUNT logs X of nights, in order of time, from 0 to 0.95. It comes
 * from differences, which a change of level hardly touches: with D_k the mean square of differences
 * over k nights (without those beyond three robust standard deviations),
 *
 *     1 + r + r^2 = D_3 / D_1
 *
 * Few nights know it badly, so it is drawn towards 0.3, which counts for 30 nights, and half a
 * standard error is added:
 *
 *     rho = (COUNT r + 30 * 0.3) / (COUNT + 30) + 0.5 / sqrt(COUNT + 30)
 *
 * Fewer than 12 nights do not show it: 0.3.
 */
double res_nights_correlation(const double *x, size_t count);
/* How many times the variance of a mean of COUNT (1 or more) neighbouring nights is that of as many
 * nights that do not depend on each other: 1 + 2 sum over j < COUNT of (1 - j / COUNT) RHO^j. */
double res_nights_factor(double rho, double count);
/* How many nights that do not depend on each other say as much as COUNT: COUNT (1 - RHO) /
 * (1 + RHO). */
double res_nights_worth(double rho, double count);
/* Degrees of freedom of the variance of COUNT nights about MEANS means: what they are worth less
 * MEANS, at least 1. */
double res_nights_freedom(double rho, double count, double means);

/* ---- change points (changepoint.c) -------------------------------------- */

/* Nights that a change has on each side, at least. */
#define RES_LEAST_NIGHTS 3

typedef struct res_change_options {
    double level;        /* of any false change in a series that has none, 0.05 */
    double least_effect; /* smaller changes are not worth a line; 0.01 is 1 % */
    size_t window;       /* nights of the windows in which long series are looked at, too: 50 */
} res_change_options;
res_change_options res_change_defaults(void);

typedef struct res_change {
    size_t at;          /* the first value after it */
    res_interval ratio; /* after over before, between its neighbours; 95 %, given the place */
    double p;           /* Student's; small enough for all places that were looked at */
} res_change;

typedef struct res_changes {
    res_change *list; /* in order of time */
    size_t count;
    /* Too few nights after a change are no change yet. Of the latest: */
    res_interval latest; /* over the level since the last change; the range is where 99 of
                          * 100 nights of that level fall. NaN without 10 such nights */
    double latest_p;     /* of a night of that level to lie so far out, two-sided */
    size_t latest_run;   /* how many of the last RES_LEAST_NIGHTS - 1 nights, up to the latest, lie
                            out of that range, on one side, by at least the least effect */
    double noise;        /* standard deviation of log values since the last change */
    double rho;          /* lag-1 correlation of the nights: res_nights_correlation */
    size_t nights;       /* with a value */
    double mde;          /* minimum detectable effect: a change that RES_LEAST_NIGHTS nights more
                          * would show in about 4 of 5 cases: 0.03 is 3 % */
} res_changes;

/* Finds the change points of the series VALUES, in order of time. A value that is not positive and
 * finite is a missing night. Fewer than 2 RES_LEAST_NIGHTS nights have none. BN_INVALID for
 * impossible options. */
BN_MUST_USE bn_code res_changes_find(const double *values, size_t count,
                                     const res_change_options *options, res_changes *found,
                                     bn_status *st);
void res_changes_free(res_changes *found);

/* ---- the latest nights (between.c) --------------------------------------- */

/* Fewer nights of a level do not show how far nights stray from it. */
#define RES_LEVEL_NIGHTS 6

typedef struct res_latest_nights {
    size_t nights;      /* of the level; 0: too few, and all that follows is unknown: NaN, p is 1 */
    double rho;         /* lag-1 correlation of the series, as given */
    double deviation;   /* of the log of a night of this level */
    double freedom;     /* degrees of freedom of DEVIATION */
    res_interval ratio; /* the latest over the level, 95 % */
    double p;           /* of nights of this level to lie so far out, two-sided */
    /* Each of the latest alone lies out, too, at 5 %, one-sided, and by half of what they do
     * together: it is not one bad night that carries the others. */
    bool each;
} res_latest_nights;

/*
 * Compares the LATEST (1 or more) last ones of the COUNT nights VALUES, in order of time, with the
 * M nights before them, which have had one level. RHO is the lag-1 correlation of the series. With
 * x the logs, s the standard deviation of the M (cut at three robust ones, so that a night under
 * load does not hide what follows) and g of res_nights_factor,
 *
 *     t = (mean of the latest - mean of the M) / (s sqrt(g(LATEST) / LATEST + g(M) / M)),
 *     M (1 - RHO) / (1 + RHO) - 1 degrees
 *
 * which without correlation is the prediction interval for the mean of future observations (G. J.
 * Hahn and W. Q. Meeker, "Statistical Intervals", Wiley 1991, section 4.8). S holds all that
 * differs from night to night, the machine's mood as well as the processes' spread: it is the
 * variance between nights. Values that are not positive and finite are missing nights.
 */
res_latest_nights res_latest_nights_of(const double *values, size_t count, size_t latest,
                                       double rho);
/* The change, as 0.03 for 3 %, that LATEST nights would show at LEVEL in 80 of 100 cases; infinite
 * where nothing is known. */
double res_latest_nights_mde(const res_latest_nights *known, size_t latest, double level);

#endif
