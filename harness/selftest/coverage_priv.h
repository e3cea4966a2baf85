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

/* What the intervals claim. */
#define SELFTEST_COVERAGE_LEVEL 0.95

/* How COUNT intervals of one figure did, one a table. */
typedef struct selftest_coverage {
    size_t tables;      /* with an interval */
    size_t without;     /* tables whose interval is not known */
    size_t covered;     /* of TABLES: those that hold the truth */
    res_interval share; /* COVERED of TABLES, with its 95 % interval (selftest_share) */
    double half_width;  /* median over TABLES: 0.02 is 2 %; NaN for none */
} selftest_coverage;

/* Half the width of an interval of a positive figure, as a share of it: 0.02 is 2 %, taken on the
 * scale of logarithms; NaN without bounds. */
double selftest_half_width(const res_interval *interval);
bool selftest_holds(const res_interval *interval, double truth);
/* Sets C from the intervals of COUNT tables and the truth of each. Bounds that are NaN are no
 * interval; a bound that equals the truth holds it. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code selftest_coverage_count(const res_interval *intervals, const double *truths,
                                            size_t count, selftest_coverage *c, bn_status *st);

/* What is demanded of intervals. */
typedef struct selftest_demand {
    double least, most; /* share of the tables that hold the truth; MOST 1: all may */
    double half_width;  /* the median is at most this; NaN: it may be any */
} selftest_demand;

/* Where all disturbances are drawn, on the simulated device, and on a real machine. */
#define SELFTEST_LEAST_NUMBERS    0.94
#define SELFTEST_LEAST_SIMULATED  0.93
#define SELFTEST_LEAST_REAL       0.90
#define SELFTEST_MOST             0.97
/* Of ratios on a machine left alone, by what bench run measures at least; small models, others. */
#define SELFTEST_HALF_WIDTH_SMALL 0.03
#define SELFTEST_HALF_WIDTH       0.05
#define SELFTEST_BUDGET_SECONDS   1
/* The median of fewer half-widths says little. */
#define SELFTEST_LEAST_WIDTHS     20

/* So many tables tell intervals that hold in LEAST of the tables from those that hold in 0.1 less:
 * they refute the latter in 9 of 10 runs. 109 for 0.9. */
size_t selftest_coverage_enough(double least);

typedef enum selftest_coverage_verdict {
    SELFTEST_COVERAGE_NONE,        /* no table has an interval: nothing is known */
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
    bool grand; /* nobody set TRUTH: it is the figure of all tables together */
    bool time;  /* TRUTH is one, else a ratio */
    bool whole; /* of all cases that have the figure */
    selftest_demand demand;
    bool drifts; /* a time on a real machine, whose speed is another one from table to table */
    size_t late; /* tables that do not count: the simulated device could not keep its times */
    size_t busy; /* tables that met a busy machine */
    selftest_coverage c;
    /* One a table (malloc); NULL in numbers, and in rows of all cases together. */
    res_interval *intervals;
    size_t count;
    bool simulated;
} selftest_row;

/* How the rows did, and whether the selftest is passed by them. */
typedef struct selftest_rows_sum {
    size_t judged, of[SELFTEST_COVERAGE_WIDE + 1]; /* by verdict */
    size_t wide;                                   /* half-widths above what is demanded */
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

/* What disturbs the processes of a table. Sizes are differences of logarithms: 0.01 is about 1 %.
 */
typedef struct selftest_table_scenario {
    const char *name, *what;
    double longer;  /* a step of member 1 takes so many times as long; 0: once */
    double process; /* standard deviation of a process: both members have it alike */
    double member;  /* of a member in a process: where its own memory lies */
    double step;    /* of a step */
    double wander,
        keep;     /* the machine's speed is AR(1) over steps: its deviation, the share kept */
    double burst; /* probability that others take the core in a step that lasts 1 */
    double burst_length; /* for so long, in such steps */
    bool exact; /* process values are normal: Student's t has to hold as often as it says */
} selftest_table_scenario;
/* Ended by a row without a name. */
extern const selftest_table_scenario selftest_table_scenarios[];

/* The steps of one table, in ns: [process][member][round][step]. Member 0 is the base. */
typedef struct selftest_table_sim {
    double step_ns[SELFTEST_TABLE_PROCESSES][2][SELFTEST_TABLE_ROUNDS][SELFTEST_TABLE_STEPS];
} selftest_table_sim;

/* Fills OUT. The order within a round is drawn. Bursts meet steps by their length. */
void selftest_table_simulate(const selftest_table_scenario *scenario, gsl_rng *rng,
                             selftest_table_sim *out);

/* What a table says of member 1: base over it, its wall time and device time in ns; and whether it
 * says that the machine was busy. */
typedef struct selftest_table_figures {
    res_interval ratio, wall, device;
    bool busy;
} selftest_table_figures;
/* What makes the intervals of a table, on trial. A test may put others there. */
typedef bn_code selftest_table_procedure(const selftest_table_sim *table,
                                         selftest_table_figures *figures, bn_status *st);
/* Records are made of the steps, and a speedup table of the records (coverage_tables.c). */
selftest_table_procedure selftest_table_by_tables;

/* A row of the trial in numbers: both figures of TABLES tables. */
typedef struct selftest_table_trial {
    const selftest_table_scenario *scenario;
    size_t tables;
    /* What selftest_table_trial_run makes. */
    selftest_coverage ratio, wall;
    double ratio_truth, wall_truth;
} selftest_table_trial;
/* Simulates the tables, puts PROCEDURE on each, and counts. The same SEED gives the same figures.
 * BN_OUT_OF_MEMORY; BN_CANCELLED where the user asked to stop. */
BN_MUST_USE bn_code selftest_table_trial_run(selftest_table_trial *trial,
                                             selftest_table_procedure *procedure, uint64_t seed,
                                             bn_status *st);

/* ---- tables of a runtime (coverage_plan.c, coverage_live.c) ----------------------- */

#define SELFTEST_MOST_PROCESSES JOB_SHORT_PROCESSES /* of a table */
#define SELFTEST_MEMBERS        3
#define SELFTEST_VIEWS          2

/* What a table sets side by side: member MEMBER and member 0, the base. */
typedef struct selftest_view {
    const char *name, *who; /* of the rows: of the ratio; of the member's own figures */
    int member;
    double ratio;   /* the truth; NaN: nobody knows, the grand value of the run counts */
    double time_ns; /* of its wall time and device time; NaN likewise */
} selftest_view;

/* Experiments that are measured side by side in each process of a table. */
typedef struct selftest_set {
    char name[160];
    job_experiment members[SELFTEST_MEMBERS];
    selftest_view views[SELFTEST_VIEWS];
    double half_width; /* demanded of its ratios; NaN: none */
    bool simulated;    /* each process gets a number of its own, so that it draws for itself */
    /* Of table T, process K and member M at
     * [(M * MOST + T) * SELFTEST_MOST_PROCESSES + K]; owned, NULL where there was none, or it
     * failed. */
    res_record **records;
    bool *late;    /* of each table: the simulated device could not keep its own times */
    size_t most;   /* tables that RECORDS has room for */
    size_t tables; /* that are complete: measured from 0 on */
    bool dead;     /* a process failed: it is not measured any further */
} selftest_set;

/* A device that does not exist cannot hold its truth on a machine that does not let it run: where
 * more than this share of its waits ends over 5 us late, a process is measured again, with the same
 * draws, up to SELFTEST_ATTEMPTS times in all. */
#define SELFTEST_MOST_LATE 0.1
#define SELFTEST_ATTEMPTS  3

#define SELFTEST_SIM_CASES    3
#define SELFTEST_SIM_SETTINGS 10

/* All sets of one run of the selftest. */
typedef struct selftest_plan {
    const selftest_options *options;
    uint64_t seed;
    selftest_set *sets;
    size_t count;
    /* What the experiments point to. */
    char folder[SELFTEST_FOLDER], store[SELFTEST_FOLDER + 8], cache[SELFTEST_FOLDER + 8];
    char file[2][SELFTEST_FOLDER + 16], report[SELFTEST_FOLDER + 16];
    json_t *program[2];
    uint64_t begun_ns; /* the first table */
} selftest_plan;

/* Makes the sets of the runtimes and models that OPTIONS names, without records, and a folder for
 * what they need. BN_INVALID for what cannot be run. To be freed also after a failure. */
BN_MUST_USE bn_code selftest_plan_make(const selftest_options *options, uint64_t seed,
                                       selftest_plan *plan, bn_status *st);
void selftest_plan_free(selftest_plan *plan); /* the records and the folder, too */
/* Measures as many tables of each set as the options say, one of each set after the other. What is
 * complete when the user stops it is kept. A process that fails is told on standard error, and its
 * set then gets no further tables. Returns false if any failed. */
bool selftest_plan_measure(selftest_plan *plan);

/* The record of MEMBER in process PROCESS of TABLE, both from 0; the set's. NULL: not measured. */
const res_record *selftest_set_record(const selftest_set *set, int member, size_t table,
                                      size_t process);
/* What the speedup table says of VIEW: of COUNT tables of SET together, from FIRST on.
 * BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code selftest_view_figures(const selftest_set *set, const selftest_view *view,
                                          size_t first, size_t count,
                                          selftest_table_figures *figures, bn_status *st);
/* The figures of the row of OTHER in the speedup table of COUNT records of BASE, lazy ones, and as
 * many of OTHER, which are of the same cell and another mode; NULL: there is none. NaN where the
 * table has none. BN_OUT_OF_MEMORY. (coverage_tables.c) */
BN_MUST_USE bn_code selftest_figures_of(res_record *const *base, res_record *const *other,
                                        size_t count, selftest_table_figures *figures,
                                        bn_status *st);

#endif
