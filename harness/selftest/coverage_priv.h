/*
 * coverage_priv.h - bench selftest coverage: how often the intervals that tables print hold the
 * truth.
 */
#ifndef BENCH_HARNESS_COVERAGE_H
#define BENCH_HARNESS_COVERAGE_H

#include <gsl/gsl_rng.h>

#include "harness/selftest/selftest_priv.h"
#include "results/tables/tables.h"

/* ---- counts and verdicts (coverage.c) ------------------------------------------ */

/* The nominal level of the intervals. */
#define SELFTEST_COVERAGE_LEVEL 0.95

/* Coverage of the intervals of one figure, one a table. */
typedef struct selftest_coverage {
    size_t tables;      /* with an interval */
    size_t without;     /* tables whose interval is unknown */
    size_t covered;     /* of TABLES: those that hold the truth */
    res_interval share; /* COVERED of TABLES, with its 95 % interval (selftest_share) */
    double half_width;  /* median over TABLES: 0.02 is 2 %; NaN for none */
} selftest_coverage;

/* Half the width of an interval of a positive figure, as a share of it: 0.02 is 2 %, taken on the
 * scale of logarithms; NaN without bounds. */
double selftest_half_width(const res_interval *interval);
bool selftest_holds(const res_interval *interval, double truth);
/* Coverage of the intervals of COUNT tables, each with its truth. Bounds that are NaN are no
 * interval; a bound that equals the truth holds it. */
selftest_coverage selftest_coverage_count(const res_interval *intervals, const double *truths,
                                          size_t count);

/* Demands on intervals. */
typedef struct selftest_demand {
    double least, most; /* share of the tables that hold the truth; MOST 1: all may */
    double half_width;  /* the median is at most this; NaN: it may be any */
} selftest_demand;

/* Where all disturbances are drawn, on the simulated device, and on a real machine. */
#define SELFTEST_LEAST_NUMBERS    0.94
#define SELFTEST_LEAST_SIMULATED  0.93
#define SELFTEST_LEAST_REAL       0.90
#define SELFTEST_MOST             0.97
/* Half-widths of ratios on an idle machine, by bench run's least measuring; small models, others.
 */
#define SELFTEST_HALF_WIDTH_SMALL 0.03
#define SELFTEST_HALF_WIDTH       0.05
#define SELFTEST_BUDGET_SECONDS   1
/* The median of fewer half-widths says little. */
#define SELFTEST_LEAST_WIDTHS     20

/* Tables that distinguish intervals that hold in LEAST of the tables from those that hold in 0.1
 * fewer: they refute the latter in 9 of 10 runs. 109 for 0.9. */
size_t selftest_coverage_enough(double least);

typedef enum selftest_coverage_verdict {
    SELFTEST_COVERAGE_NONE,        /* no table has an interval */
    SELFTEST_COVERAGE_HOLDS,       /* as often as demanded, in enough tables */
    SELFTEST_COVERAGE_NOT_REFUTED, /* chance may explain it, or there are not enough tables */
    SELFTEST_COVERAGE_NARROW,      /* the truth is held less often than demanded */
    SELFTEST_COVERAGE_WIDE         /* it is held more often than demanded */
} selftest_coverage_verdict;
/*
 * Judges C by the binomial distribution. A row of one case is NARROW where it holds the truth less
 * often than demanded, and where 95 % intervals would do so in less than 1 of 1,000 such rows. Few
 * tables show little: 33 of 40 are not refuted, while 215 of 240 are. A row of all cases together
 * (WHOLE) that has enough tables is NARROW where intervals that hold as often as demanded would
 * hold so rarely in less than 1 of 20 runs: 207 of 240 where 0.9 is demanded. WIDE likewise.
 */
selftest_coverage_verdict selftest_coverage_judge(const selftest_coverage *c,
                                                  const selftest_demand *demand, bool whole);
const char *selftest_coverage_verdict_name(selftest_coverage_verdict verdict);

/* ---- rows of the selftest (coverage_rows.c) ---------------------------------------- */

/* A case and one of its figures. */
typedef struct selftest_row {
    char name[160], figure[48];
    double truth;
    bool grand; /* TRUTH was not set: it is the figure of all tables together */
    bool time;  /* TRUTH is one, else a ratio */
    bool whole; /* of all cases that have the figure */
    selftest_demand demand;
    bool drifts; /* a time on a real machine, whose speed changes from table to table */
    size_t late; /* tables that do not count: the simulated device could not keep its times */
    size_t busy; /* tables that met a busy machine */
    selftest_coverage c;
    /* One a table (malloc); NULL in numbers, and in rows of all cases together. */
    res_interval *intervals;
    size_t count;
    bool simulated;
} selftest_row;

/* Verdicts of the rows, and whether the selftest passes. */
typedef struct selftest_rows_sum {
    size_t judged, of[SELFTEST_COVERAGE_WIDE + 1]; /* by verdict */
    size_t wide;                                   /* half-widths above the demand */
    size_t unmeasured;                             /* rows that the machine was too busy for */
    bool pass;
} selftest_rows_sum;
selftest_rows_sum selftest_rows_add_up(const selftest_row *rows, size_t count);
/* "12 of 12 rows hold the truth often enough, 3 are not refuted, ..." */
void selftest_rows_say(const selftest_rows_sum *sum, bn_text *out);

/* Appends the table of the rows in FORMAT. */
void selftest_rows_table(const selftest_row *rows, size_t count, res_format format, bn_text *out);
/* Both new references. */
json_t *selftest_row_json(const selftest_row *row);
json_t *selftest_rows_json(const selftest_row *rows, size_t count);

/* ---- tables in numbers (coverage_simulate.c) ------------------------------------- */

#define SELFTEST_TABLE_PROCESSES 4 /* of a table */
#define SELFTEST_TABLE_ROUNDS    10
#define SELFTEST_TABLE_STEPS     3 /* of a member in a round */

/* Disturbances of a table's processes. Sizes are differences of logarithms: 0.01 is about 1 %. */
typedef struct selftest_table_scenario {
    const char *name, *what;
    double longer;  /* factor of member 1's steps; 0: 1 */
    double process; /* standard deviation of a process: both members have it alike */
    double member;  /* of a member in a process: where its own memory lies */
    double step;    /* of a step */
    double wander,
        keep;     /* the machine's speed is AR(1) over steps: its deviation, the share kept */
    double burst; /* probability that others take the core in a step that lasts 1 */
    double burst_length; /* for so long, in such steps */
    bool exact;          /* process values are normal: Student's t must reach its nominal level */
} selftest_table_scenario;
/* Ended by a row without a name. */
extern const selftest_table_scenario selftest_table_scenarios[];

/* The steps of one table, in ns: [process][member][round][step]. Member 0 is the baseline. */
typedef struct selftest_table_sim {
    double step_ns[SELFTEST_TABLE_PROCESSES][2][SELFTEST_TABLE_ROUNDS][SELFTEST_TABLE_STEPS];
} selftest_table_sim;

/* Fills OUT. The order within a round is drawn. Bursts meet steps by their length. */
void selftest_table_simulate(const selftest_table_scenario *scenario, gsl_rng *rng,
                             selftest_table_sim *out);

/* A table's figures of member 1: baseline over it, its wall time and device time in ns; and whether
 * the machine was busy. */
typedef struct selftest_table_figures {
    res_interval ratio, wall, device;
    bool busy;
} selftest_table_figures;
/* The procedure on trial, which makes a table's intervals. Tests have others. */
typedef bn_code selftest_table_procedure(const selftest_table_sim *table,
                                         selftest_table_figures *figures, bn_status *st);
/* Records are made of the steps, and a speedup table of the records (coverage_tables.c). */
selftest_table_procedure selftest_table_by_tables;

/* A row of the trial in numbers: both figures of TABLES tables. */
typedef struct selftest_table_trial {
    const selftest_table_scenario *scenario;
    size_t tables;
    /* Results of selftest_table_trial_run. */
    selftest_coverage ratio, wall;
    double ratio_truth, wall_truth;
} selftest_table_trial;
/* Simulates the tables, runs PROCEDURE on each, and counts. The same SEED gives the same figures.
 * BN_CANCELLED where the user asked to stop. */
BN_MUST_USE bn_code selftest_table_trial_run(selftest_table_trial *trial,
                                             selftest_table_procedure *procedure, uint64_t seed,
                                             bn_status *st);

/* ---- tables of a runtime (coverage_plan.c, coverage_live.c) ----------------------- */

#define SELFTEST_MOST_PROCESSES JOB_SHORT_PROCESSES /* of a table */
#define SELFTEST_MEMBERS        3
#define SELFTEST_VIEWS          2

/* A comparison of member MEMBER with member 0, the baseline. */
typedef struct selftest_view {
    const char *name, *who; /* of the rows: of the ratio; of the member's own figures */
    int member;
    double ratio;   /* the truth; NaN: unknown, the grand value of the run counts */
    double time_ns; /* of its wall time and device time; NaN likewise */
} selftest_view;

/* Experiments that are measured side by side in each process of a table. */
typedef struct selftest_set {
    char name[160];
    job_experiment members[SELFTEST_MEMBERS];
    selftest_view views[SELFTEST_VIEWS];
    double half_width; /* demanded of its ratios; NaN: none */
    bool simulated;    /* each process gets a number of its own for its random draws */
    /* Of table T, process K and member M at
     * [(M * MOST + T) * SELFTEST_MOST_PROCESSES + K]; owned, NULL where there was none, or it
     * failed. */
    res_record **records;
    bool *late;    /* of each table: the simulated device could not keep its own times */
    size_t most;   /* tables that RECORDS has room for */
    size_t tables; /* that are complete: measured from 0 on */
    bool dead;     /* a process failed: it is not measured further */
} selftest_set;

/* A busy machine keeps the simulated device from its times: where more than this share of its waits
 * ends over 5 us late, a process is measured again, with the same draws, up to SELFTEST_ATTEMPTS
 * times in all. */
#define SELFTEST_MOST_LATE 0.1
#define SELFTEST_ATTEMPTS  3

#define SELFTEST_SIM_CASES    3
#define SELFTEST_SIM_SETTINGS 10

/* All sets of one run of the selftest. */
typedef struct selftest_plan {
    const selftest_options *options;
    uint64_t seed;
    selftest_set *sets;
    size_t count, capacity;
    /* Borrowed by the experiments. */
    char folder[SELFTEST_FOLDER], store[SELFTEST_FOLDER + 8], cache[SELFTEST_FOLDER + 8];
    char file[2][SELFTEST_FOLDER + 16], report[SELFTEST_FOLDER + 16];
    json_t *program[2];
    uint64_t begun_ns; /* the first table */
} selftest_plan;

/* Makes the sets of the runtimes and models that OPTIONS names, without records, and their folder.
 * BN_INVALID for an experiment that cannot run. To be freed also after a failure. */
BN_MUST_USE bn_code selftest_plan_make(const selftest_options *options, uint64_t seed,
                                       selftest_plan *plan, bn_status *st);
void selftest_plan_free(selftest_plan *plan); /* the records and the folder, too */
/* Measures the options' number of tables of each set, one of each set after the other. Complete
 * tables are kept when the user stops it. A failed process is reported on standard error, and its
 * set gets no further tables. Returns false if any failed. */
bool selftest_plan_measure(selftest_plan *plan);

/* The record of MEMBER in process PROCESS of TABLE, both from 0; the set's. NULL: not measured. */
const res_record *selftest_set_record(const selftest_set *set, int member, size_t table,
                                      size_t process);
/* Figures of VIEW in the speedup table of COUNT tables of SET together, from FIRST on. */
void selftest_view_figures(const selftest_set *set, const selftest_view *view, size_t first,
                           size_t count, selftest_table_figures *figures);
/* The figures of the row of OTHER in the speedup table of COUNT records of BASE, lazy ones, and as
 * many of OTHER, which are of the same cell and another mode; NULL: there is none. NaN where the
 * table has none. (coverage_tables.c) */
void selftest_figures_of(res_record *const *base, res_record *const *other, size_t count,
                         selftest_table_figures *figures);

#endif
