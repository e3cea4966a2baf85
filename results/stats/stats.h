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
/* Seconds that a machine keeps to one level (docs/measuring.md). Runs that begin within that time
 * show no more of how runs differ than the processes of one do. */
#define RES_LEVEL_S         600.0

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

/* ---- the ratios of one table (moderate.c) ------------------------------------ */

/* Power that a smallest detectable difference promises. */
#define RES_POWER 0.8

/* How far another run finds another mean, beside what its processes show: a standard deviation that
 * all processes of a run share. */
typedef struct res_run_drift {
    double deviation; /* tau; 0: none */
    double freedom;   /* degrees of freedom, as of a calibration; infinite: a stated value */
} res_run_drift;

/* A mean of logs whose variance has borrowed from others. */
typedef struct res_moderated {
    double mean;
    double error;   /* standard error of MEAN, without DRIFT; NaN: unknown */
    double freedom; /* of ERROR; 0: there is no interval */
    size_t values;
    double own_freedom; /* of the variance of its own values alone */
    /* The variance of a value that the others predict; no degrees of freedom: nothing. */
    double prior_freedom, prior_variance;
    double least_variance; /* of a value, that a table of like rows has */
    res_run_drift drift; /* none by res_moderate: the caller sets it */
} res_moderated;

/*
 * Makes ROWS of the COUNT estimates OWN of one group, with errors above zero and VALUES - 1 degrees
 * of freedom. Of fewer than four each stands alone. Else row i, whose variance is s^2 with d
 * degrees of freedom, gets
 *
 *   z = ln s^2 - digamma(d/2) + ln(d/2),  V = max(0, var z - mean trigamma(d/2)),
 *   trigamma(d0/2) = V + sum over the others (V + trigamma(d/2)) / (COUNT - 1)^2,
 *   s0^2 = exp(mean z of the others + digamma(d0/2) - ln(d0/2)),
 *   v = (d0 s0^2 + d s^2) / (d0 + d) with d + d0/2 degrees of freedom,
 *
 * but s^2 with d, where s^2/s0^2 is above the upper 5 % of F(d, d0): it is louder than the others.
 * No variance is below a quarter of the median of these. (Smyth 2004; d0 halved, and shrunk for few
 * rows.)
 */
void res_moderate(const res_estimate *own, size_t count, res_moderated *rows);
/* OWN, which borrows nothing, with DRIFT. */
res_moderated res_moderated_alone(const res_estimate *own, res_run_drift drift);
/* Half of the interval that misses the truth at LEVEL: the root of the sum of squares of Student's
 * t times the error and of the drift times its own quantile, Student's of its degrees of freedom,
 * or the normal one (Zou and Donner 2008); NaN where there is none. */
double res_moderated_half(const res_moderated *row, double level);
/* exp of the mean and of its 95 % interval; the bounds are NaN where there is none. */
res_interval res_moderated_ratio(const res_moderated *row);
/* P of a mean of zero: the level at which the interval ends there; no less than 1e-15 with a drift.
 * 1 where there is no interval. */
double res_moderated_p(const res_moderated *row);
/*
 * The smallest difference (0.03: 3 %) that RES_POWER of next tables would claim at LEVEL, with
 * TIMES as many values: the mean power over 24 quantiles each of the true variance, given this one,
 * and of the variance that a next table finds, which borrows from the same prior. NaN where there
 * is no interval.
 */
double res_moderated_mde(const res_moderated *row, double times, double level);
/*
 * The drift that runs show. RATIOS[i] is the mean log ratio of the processes of one run, with its
 * error, of the pair of modes PAIR[i] (below COUNT); a pair has each run once, and n_p runs. Over
 * the pairs of two runs or more, each weighted by n_p - 1: b is the mean variance of a pair's
 * ratios, w the mean square of their errors. tau^2 = max(b - w, b sqrt(2 / (n - 1))), n the most
 * n_p. The second is the standard error of b, which a calibration cannot exclude. n - 1 degrees of
 * freedom; none without such a pair.
 */
res_run_drift res_run_drift_of(const res_estimate *ratios, const size_t *pair, size_t count);

/* ---- comparisons (compare.c, compare_family.c, compare_plan.c, slow.c) --------------------- */

/*
 * Two sides, A and B, have as many processes each. Pair I is process I of A and of B, run one after
 * the other, in the order that res_order says. A process counts once, with one value: its steps
 * share its layout in memory and its moment, so many steps do not replace processes (T. Kalibera
 * and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). All that follows is about
 * the log ratios of pairs, B over A. All pairs count: none is left out for its outcome.
 */
#define RES_MOST_PAIRS 64

/* Fewer pairs claim no difference, and show no slow process. */
#define RES_CLAIM_PAIRS      6
/* Fewer pairs are never equivalent: where a fifth of B's processes is slow, none of 6 is in 26 of
 * 100 comparisons, and none of 12 in 7. */
#define RES_EQUIVALENT_PAIRS 12

typedef enum res_verdict {
    RES_FASTER,     /* B is, in the mean over all pairs, at the family's level */
    RES_SLOWER,     /* B is, in the mean over all pairs, at the family's level */
    RES_EQUIVALENT, /* a difference of DELTA is excluded, by RES_EQUIVALENT_PAIRS or more, of
                     * which no process was slow */
    RES_UNEVEN,     /* neither, and a process of either side was slow */
    RES_UNDECIDED   /* neither: more processes are needed */
} res_verdict;
const char *res_verdict_name(res_verdict verdict); /* "faster", ... */

typedef enum res_test {
    RES_TEST_NONE,    /* too few pairs for any claim: p is 1 */
    RES_TEST_T,       /* Student's */
    RES_TEST_CONSTANT /* each side has one value in all its processes: see compare_family.c */
} res_test;

/* The planned interim analyses of a comparison, which may end at any of them as soon as it is
 * decided (compare_plan.c). */
typedef enum res_plan {
    RES_PLAN_ONCE,   /* a number of pairs that no verdict chose, judged once */
    RES_PLAN_USUAL,  /* after 6, 12 and 24 pairs */
    RES_PLAN_TWELVE, /* after 6 and 12 pairs */
    /* Of records of earlier versions, which were planned so: */
    RES_PLAN_OLD,       /* after 4, 5, 6, 8, 10 and 12 pairs */
    RES_PLAN_OLD_SHORT, /* of short steps: after 4, 6, 8, 12, 18 and 24 pairs */
    RES_PLAN_COUNT
} res_plan;
/* "once", or the pairs of its analyses: "6,12,24". */
const char *res_plan_name(res_plan plan);
/* The plan of that NAME; RES_PLAN_COUNT: there is none. */
res_plan res_plan_named(const char *name);
/* The next analysis of PLAN after PAIRS pairs; 0: there is none. */
size_t res_plan_next(res_plan plan, size_t pairs);
/* The pairs of its last analysis; 0 of RES_PLAN_ONCE. */
size_t res_plan_last(res_plan plan);
/* The share of the level that PLAN has at PAIRS pairs; 1 of RES_PLAN_ONCE. An end between two
 * analyses, which the verdicts did not bring about, takes the share of the later one. */
double res_plan_share(res_plan plan, size_t pairs);

typedef struct res_compare_options {
    double level;  /* of false differences of means in a family, 0.04: RES_SLOW_LEVEL is the rest of
                      5 % */
    double delta;  /* within which sides are equivalent: 0.03 is a ratio of 1/1.03 to 1.03 */
    res_plan plan; /* pairs were run until something was decided */
} res_compare_options;

/* The defaults: 4 %, 3 %, judged once. */
res_compare_options res_compare_defaults(void);

/* The processes of one side that were slow. */
typedef struct res_slow {
    size_t count;
    uint64_t pairs; /* a bit each: those whose process of this side is slow, or fast */
    double factor;  /* how many times as long they took (geometric mean), below 1 of fast ones; NaN:
                       there is none */
} res_slow;

typedef struct res_comparison {
    /* Geometric mean of B over A with its 95 % interval, of this comparison alone: by Student's t
     * over the pairs. With interim analyses it is wider, so that it holds the truth as often
     * whenever the comparison ended. The bounds are NaN below RES_LEAST_PROCESSES pairs. */
    res_interval ratio;
    double median; /* of the pairs' ratios: shown beside the mean, judged nowhere */
    size_t pairs;
    double log_ratio[RES_MOST_PAIRS];
    double error;     /* standard error of the mean log ratio, by the pairs' own spread */
    double p_once;    /* no difference, as if this were the only analysis */
    double share;     /* of the level at this analysis; 1: judged once */
    double delta;     /* within which its sides are equivalent */
    bool constant;    /* all values of A are one, and all of B */
    res_slow slow[2]; /* of A and of B; none below RES_CLAIM_PAIRS */
    res_slow fast[2]; /* likewise: of a side that has two speeds, where more than half are slow */
    double weight;    /* its part of the family's level is this over all weights */
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

/* Decides in which of PAIRS pairs B is to run before A. A seeded coin decides for each, so that a
 * difference of like sides is as likely to have either sign, whatever the machine does (R. A.
 * Fisher, "The Design of Experiments", 1935), and no interference can keep pace with a rhythm, as
 * it can with ABBA. */
void res_order(uint64_t seed, size_t pairs, bool *b_first);

/* One value of each process, as time or memory: A[I] and B[I] are pair I. */
typedef struct res_values {
    const double *a, *b;
    size_t pairs;
    /* 0: values above zero, compared by their ratio. Else B minus A is a share of UNIT: a share of
     * 0.03 stands for a ratio of 1.03, one of -0.03 for 1/1.03. */
    double unit;
} res_values;
/* Compares B with A, as a family of one. Values or numbers of pairs that cannot be compared are
 * BN_INVALID. */
BN_MUST_USE bn_code res_compare(const res_values *values, const res_compare_options *options,
                                res_comparison *comparison, bn_status *st);
/* Judges the comparisons LIST anew as one family. The probability that any of them wrongly claims a
 * difference is at most OPTIONS' level, whatever their weights are, if these are chosen beforehand;
 * apart from that, so is the probability of any wrong claim of equivalence. Each weight, which
 * res_compare sets to 1, must be above 0. */
void res_compare_family(res_comparison *list, size_t count, const res_compare_options *options);
/* A member of a family that was planned and of which nothing is known: it claims nothing. */
res_comparison res_compare_nothing(double weight);

/* Mean of COUNT differences of pairs with its 95 % interval, and *P of no difference, by Student's
 * t as in res_compare. Below RES_LEAST_PROCESSES pairs the bounds are NaN and *P is 1. */
res_interval res_mean_difference(const double *d, size_t count, double *p);

/* Adjusted p values (S. Holm, "A simple sequentially rejective multiple test
 * procedure", Scandinavian Journal of Statistics 6, 1979, which has weights, too).
 * WEIGHT: how much of the level each has, relative to the others, above 0; NULL: all alike. */
void res_holm(const double *p, const double *weight, size_t count, double *adjusted);

/* Power: the probability with which this experiment would have found an EFFECT (0.02: B takes 2 %
 * longer) significant at the comparison's level, with interim analyses at its last one; 0 where it
 * can claim nothing. */
double res_power(const res_comparison *comparison, double effect);
/*
 * The stop rule: how many pairs are needed, all in all, for a 95 % interval of about +-PRECISION
 * (0.01: 1 %). This comparison's pairs are the first stage of two (C. Stein, "A two-sample test for
 * a linear hypothesis whose power is independent of the variance", Annals of Mathematical
 * Statistics 16, 1945). If it has as many, stop. The rule looks at the spread alone, never at p or
 * the ratio, so stopping by it makes no false alarms. 0 below RES_LEAST_PROCESSES pairs, which do
 * not show the spread.
 */
size_t res_pairs_wanted(const res_comparison *comparison, double precision);

/* ---- slow processes (slow.c) ------------------------------------------------- */

/* Probability that slow processes of B are claimed where both sides have them equally often. */
#define RES_SLOW_LEVEL 0.01

/* Finds the processes of A and of B that took longer than the others of their side, SLOW[0] and
 * SLOW[1], and those that took less, FAST, among the pairs of VALUES, whose log ratios are D.
 * Below RES_CLAIM_PAIRS pairs none is found. */
void res_slow_find(const res_values *values, const double *d, res_slow slow[2], res_slow fast[2]);
/* The share of a side's processes that may be slow although none of COUNT was: excluded is more
 * than this, at 95 %; 1 of none. */
double res_slow_not_excluded(size_t count);

/* Slow processes of B and of A over all experiments of a comparison; both processes of a control's
 * pairs are A's. */
typedef struct res_slow_counts {
    size_t slow[2], of[2]; /* of A, of B */
} res_slow_counts;
/* Adds the pairs of an experiment; nothing below RES_CLAIM_PAIRS. A process counts as slow that is
 * so by its value in C or in ANOTHER comparison of the same pairs, which may be NULL. CONTROL: both
 * sides are A. */
void res_slow_add(res_slow_counts *counts, const res_comparison *c, const res_comparison *another,
                  bool control);
/* P of as many slow processes of B or more where both sides have them equally often, one-sided,
 * exact (R. A. Fisher: hypergeometric); 1 where B has none. */
double res_slow_p(const res_slow_counts *counts);

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
