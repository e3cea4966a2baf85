/*
 * findings.h - what records say together: speedups, comparisons of two runtimes and what
 * they are due to, series over nights. Prefix res_.
 */
#ifndef BENCH_RESULTS_FINDINGS_H
#define BENCH_RESULTS_FINDINGS_H

#include "results/records/records.h"

/* ---- wrong dates (dates.c) ------------------------------------------------- */

/* A record that is dated so much later than it can be has a wrong date: clocks of two machines
 * differ by less. */
#define RES_CLOCK_SLACK_S 3600.0
/* Whether SUMMARY's date is wrong: it lies after NOW_S (seconds since 1970), or after its file was
 * last written or changed. The clock was ahead when it was made, or has gone back since. An
 * infinite NOW_S: now is unknown, and only the file's time counts. A file's time that is older than
 * this program means nothing: an archive may set it. */
bool res_misdated(const res_summary *summary, double now_s);

void res_misdates_add(res_misdates *misdates, double time_s);
/* Removes the misdated records of ALL, which were read from files, and counts them in its misdates.
 * The others keep their order. */
void res_misdates_drop(res_collection *all, double now_s);
/* Appends one sentence on MISDATES, without a full stop; nothing where there are none. */
void res_put_misdates(const res_misdates *misdates, bn_text *out);

/* ---- the records of a store that tables are of (latest.c) ------------------------ */

/* Whether records of EXPERIMENT are wanted. */
typedef bool res_experiment_filter(void *context, const res_experiment *experiment);

/* A query of a store. */
typedef struct res_asked {
    res_experiment_filter *wanted; /* NULL: all are */
    void *context;                 /* for WANTED */
    double now_s;                  /* for res_misdated */
} res_asked;

/*
 * Reads into ALL those records of STORE, whose index is INDEX, that tables can be made of: of each
 * cell, mode and number of graphs the records of the build of the latest one, good or failed, and
 * failures after its latest good one. ALL.unread counts the others. Records whose dates are wrong
 * are left out, counted in ALL.misdates; those whose ids have no time are older than all others.
 * The order is that of file names. Files that cannot be read, and those of which the index says
 * otherwise, are in ALL.damaged, with those that INDEX has; where a build has no others, the one
 * before it is the latest. BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code res_latest_read(const char *store, const res_index *index,
                                    const res_asked *asked, res_collection *all, bn_status *st);

/* ---- processes of one cell and way (pool.c) ---------------------------------- */

/* Whether two records stand in one block of a table: one runtime, both simulated or both not. */
bool res_same_block(const res_record *a, const res_record *b);
/* Whether two records stand in one cell: one block, model, phase and set-up. */
bool res_same_cell(const res_record *a, const res_record *b);
/* Whether two records are of one cell, mode and number of graphs: processes of one experiment. */
bool res_same_way(const res_record *a, const res_record *b);
/* The same of what was asked for, whether simulated or not. */
bool res_same_way_asked(const res_experiment *a, const res_experiment *b);

typedef struct res_process {
    const res_record *record; /* borrowed; NULL: a summary's, of which only what follows is known */
    res_measures measures;
    const char *group; /* borrowed; "": it ran alone */
    double began_s;    /* Unix time, by the id of its record; NaN: unknown */
    size_t run;        /* in order of time; groups that began within ten minutes are of one */
    double *round_ns; /* [record->round_count] trimmed mean step of each round; NULL: none */
} res_process;

/* Room for the words of all conditions that may differ. */
#define RES_DIFFERING 320

/* Good records of one cell and way, of one build and like conditions. */
typedef struct res_pool {
    /* Good if one is: its build and conditions are those of the pool. NULL: of summaries. */
    const res_record *latest;
    const res_experiment *experiment;
    res_process *list; /* in the order of their ids */
    size_t count;
    res_runs runs;    /* which of them count, and whether a value is of a process or of a run */
    size_t counted;   /* processes that count: figures are of these, whatever each of them knows */
    size_t run_count; /* that these are of: of several, each is a value; 1: processes are */
    size_t failed, other_builds, other_conditions; /* records that are left out */
    char differing[RES_DIFFERING]; /* conditions in which the last differs: "host, pinning" */
} res_pool;

/* Pools the COUNT records, at least one, which must outlive POOL. */
void res_pool_make(const res_record *const *records, size_t count, res_pool *pool);
/* Pools the records of ALL that are processes of LIKE's experiment, of its build and conditions. */
void res_pool_like(const res_collection *all, const res_record *like, res_pool *pool);
/* Counts the records of ALL that were not read as left out. res_pool_like has done so. */
void res_pool_add_unread(res_pool *pool, const res_collection *all);
void res_pool_free(res_pool *pool);
/* Numbers the runs of POOL, whose list (in the order of ids), count and experiment are filled in,
 * and decides which of them count. The others have done so. */
void res_pool_settle(res_pool *pool);
/* Whether process I counts. */
bool res_pool_counts(const res_pool *pool, size_t i);
/* How many runs the processes of POOL are of: each after the first is a further look at one
 * difference. With OF, which has a member a process, only those are counted for which it is true.
 * Processes of one group are of one run, which may have been continued. Those without one ran
 * alone: they are of one run as long as res_pool_settle takes them for one. */
size_t res_pool_looks(const res_pool *pool, const bool *of);

/* A figure over PROCESSES that know it, of those that count: exp of the mean log and its interval,
 * by Student's t over as many VALUES, which are of processes or of runs; bounds are NaN below
 * RES_LEAST_PROCESSES of them. */
typedef struct res_over {
    res_interval value;
    size_t processes, values;
} res_over;
/* That of VALUES, one of each process of POOL, of which NaN are left out; of a DIFFERENCE, which
 * may be negative, the plain mean. */
res_over res_pool_over(const res_pool *pool, const double *values, bool difference);

/* Figures that are left out because they contradict the others, though processes have them. */
typedef enum res_refusal {
    RES_REFUSED_NOTHING,
    /* The overhead is significantly above zero, but the device time was cut at the wall time. */
    RES_REFUSED_OVERHEAD,
    /* The overhead is significantly below zero: the device time is above the PJRT time that it is
     * part of. Both are left out. */
    RES_REFUSED_DEVICE
} res_refusal;

/* A remark on the device time and the overhead of a cell. */
typedef enum res_device_remark {
    RES_DEVICE_PLAIN,
    RES_DEVICE_CUT,          /* the device time was cut down to the wall time */
    RES_DEVICE_CUT_OVERHEAD, /* and the overhead no longer fits: RES_REFUSED_OVERHEAD */
    RES_DEVICE_FAR,          /* above the wall time by more than both intervals: left out */
    RES_DEVICE_CONTRARY,     /* RES_REFUSED_DEVICE */
    RES_DEVICE_REMARK_COUNT
} res_device_remark;

/* The figures of a cell: of each process as in res_measures. */
typedef struct res_figures {
    res_over wall, trace;
    /* Of the processes whose source is SOURCE; NaN where fewer than half of all know it. The
     * device time is at most the wall time where steps wait for their executions. */
    res_over device, overhead;
    /* By which DEVICE was cut down to the wall time; 1: it was not; NaN: it is far above that, and
     * left out. */
    double device_scale;
    res_refusal refusal;
    res_over compile;                  /* of those that compiled all of their programs */
    double executions, nodes_per_step; /* of the latest process that counts */
    const char *source;
} res_figures;
res_figures res_pool_figures(const res_pool *pool);
res_device_remark res_figures_remark(const res_figures *figures);

/* One graph of the step, over the processes that ran it. */
typedef struct res_execution_figures {
    res_over pjrt;             /* median execution, awaited alone */
    res_over device, overhead; /* as in res_figures, of SOURCE */
    res_over null;             /* the null test, as a share of a lone execution */
    res_over lower, compile;   /* of the processes that compiled it */
    bn_device_time_source source;
    res_refusal refusal;
} res_execution_figures;
/* Of the graph of LIKE; STEP are the pool's figures (res_pool_figures), whose device time may have
 * been cut: then that of the graph is cut alike. */
res_execution_figures res_pool_execution(const res_pool *pool, const res_figures *step,
                                         const res_execution *like);

/* The figures of RECORD's process alone, a pool of one, which have no intervals. */
res_figures res_record_figures(const res_record *record);
/* DEVICE_NS, the device time of a step of EXPERIMENT by probes or a profile. These are of one
 * batch. So it is NaN where steps have batches of several lengths. */
double res_device_of_steps(const res_experiment *experiment, double device_ns);
/* What a step of PROCESS would be shorter by without OWN_NS of the host: as far as the device does not
 * work meanwhile. All of it where the device time is unknown; NaN where OWN_NS is. */
double res_not_hidden(const res_process *process, double own_ns);
/* Of its tracing, what the device hides: the step would not be shorter by it. NaN where the device
 * time is unknown, 0 where nothing can be hidden. */
double res_trace_hidden(const res_process *process);
/* The figures of one execution of a record: bounds are within its process. */
typedef struct res_execution_shown {
    res_interval device, overhead;
    res_refusal refusal;
} res_execution_shown;
/* Of X, an execution of the record whose figures are STEP (res_record_figures): cut and refused as
 * in a pool of the record. */
res_execution_shown res_record_execution(const res_figures *step, const res_execution *x);

/* Remarks on a median step: medians over the processes. */
typedef struct res_remarks {
    double excess;               /* of the mean step over the median: 0.2 is 20 % */
    double p90_ns;               /* of the steps */
    double samples, independent; /* rounds, else steps, and what they are worth */
    size_t unsettled;            /* processes whose warm-up did not become stationary */
} res_remarks;
res_remarks res_pool_remarks(const res_pool *pool);

/* Interference during the rounds: sums over those that know it. */
typedef struct res_interference {
    size_t rounds;
    double stalled_ns, stalled_of_ns;
    double stolen_ns, stolen_of_ns; /* of all cores together */
    double switches, switches_of_ns;
    double others_ns, others_of_ns; /* that other programs used, of all cores together */
    double apart, apart_of; /* rounds after which the cores were apart; of those that know it */
    double repeated;        /* rounds measured again, since the cores were apart */
} res_interference;
void res_interference_add(res_interference *interference, const res_pool *pool);
/* The same for the one process of RECORD. */
void res_interference_add_record(res_interference *interference, const res_record *record);
/* A machine is busy where other programs used more than RES_BUSY_OTHERS of the cores, and bench's
 * threads waited for a core for more than RES_BUSY_CONTENDED of the rounds' time, or that is
 * unknown; where other programs are unknown, and threads waited for more than RES_BUSY_STALLED;
 * where a hypervisor took more than RES_BUSY_STOLEN of the cores, or had moved them apart after
 * more than RES_BUSY_APART of the rounds. On 2 idle cores, XLA's own threads make a model wait for
 * 2 to 50 % of the time, and under two busy loops, which use half of the cores, for 30 to 71 %. */
#define RES_BUSY_OTHERS  0.1
#define RES_BUSY_CONTENDED 0.1
#define RES_BUSY_STALLED 0.35
#define RES_BUSY_STOLEN  0.02
#define RES_BUSY_APART   0.05
bool res_interference_busy(const res_interference *interference);
/* Whether there are rounds and none knows how long something waited for a core: the system
 * does not say it (/proc/pressure/cpu). Then interference is unknown, unless a
 * hypervisor took much. */
bool res_interference_unknown(const res_interference *interference);
/* How much of the rounds' time something waited for a core; 0 where unknown. */
double res_interference_stalled(const res_interference *interference);

/* ---- two pools side by side (ratio.c) ------------------------------------------- */

/* How the processes of two pools belong together. */
typedef enum res_matching {
    RES_MATCHED,  /* in pairs that shared a process or ran next to each other: a group */
    RES_UNMATCHED /* too few share a group: Welch's difference of two independent means */
} res_matching;

/* BASE over OTHER: wall times of a step. */
typedef struct res_pool_ratio {
    res_matching matching;
    /* Log over the pairs or, unmatched, the processes of each; or over runs. No degrees of freedom
     * where it is apart. */
    res_estimate own;
    res_moderated log;  /* OWN, with what it borrowed (res_speedup_make), and the drift of runs */
    bool busy;          /* of one run, and the machine was busy meanwhile */
    bool apart;         /* unmatched, and a side is of one run: no interval */
    bool partial;       /* matched, of other processes than those that count in the two pools */
    size_t looks;       /* runs that measured both sides: after each someone may have judged */
    size_t processes;   /* pairs that count; unmatched: of the side that has fewer */
    bool of_runs;       /* a value is the mean of a run */
    res_interval ratio; /* 95 %, of LOG; bounds are NaN below RES_LEAST_PROCESSES */
    double p;           /* of no difference, the same; 1 without an interval */
    double *pairs;      /* the log ratio of each pair, or run (OF_RUNS), in order of time; owned */
    size_t pair_count;  /* 0 where unmatched */
} res_pool_ratio;

/* The value of a pair is res_middle_mean over its rounds of log(base's trimmed mean / the other's
 * of the same round); where one has no rounds, the log ratio of their medians. Pairs count where
 * they are at least RES_LEAST_PROCESSES, or where there is nothing else. */
void res_pool_ratio_make(const res_pool *base, const res_pool *other, res_pool_ratio *ratio);
void res_pool_ratio_free(res_pool_ratio *ratio);
/* The geometric mean of the ratios of several cells. */
typedef struct res_ratio_mean {
    res_interval ratio; /* NaN where there is no cell */
    /* By process first, where all cells have as many pairs; else the cells' variances add up. */
    bool by_process;
    size_t processes; /* of each cell; the fewest */
    size_t runs;      /* that these are of: of several, each is a value; 1: processes are */
} res_ratio_mean;

/* The same of two records, log(B / A): of processes that shared rounds, or took turns in them. NaN
 * where they did not. */
double res_turns_log_ratio(const res_record *a, const res_record *b);
/* A figure of PROCESS, or NaN; CONTEXT is the caller's. */
typedef double res_process_value(const res_process *process, const void *context);
/* Mean of VALUE over the processes of POOL that know it, with its error, by the sample that
 * res_sample_runs makes of them: for intervals of another level than 95 %. */
res_estimate res_pool_estimate(const res_pool *pool, res_process_value *value, const void *context);
/* BASE minus OTHER of VALUE over the same pairs, or Welch's; processes for which VALUE is NaN are
 * left out. */
res_estimate res_pool_difference(const res_pool *base, const res_pool *other,
                                 res_process_value *value, const void *context);

/* ---- speedups (speedup.c) ---------------------------------------------------- */

/* How the programs of a steady step compare. */
typedef enum res_program {
    RES_PROGRAM_SAME,     /* the same text and the same optimized program on both sides */
    RES_PROGRAM_COMPILED, /* the same text, compiled differently */
    RES_PROGRAM_TEXT,     /* other texts: the sides were asked for different programs */
    RES_PROGRAM_UNSTEADY, /* the same text, but processes of one side compile it differently */
    RES_PROGRAM_UNKNOWN   /* the same text; the plugin does not show its program */
} res_program;
const char *res_program_name(res_program program);  /* in JSON: "same", "compiled otherwise", .. */
const char *res_program_words(res_program program); /* "same", "compiled differently", ... */
/* Compares the programs of A's records with those of B's. The first of each decide; the others must
 * agree with the first of their side. */
res_program res_compare_programs(const res_record *const *a, size_t a_count,
                                 const res_record *const *b, size_t b_count);

/*
 * The rows of the speedup table. Modes are compared within a cell: one runtime, model, phase and
 * set-up. A cell has a row for each mode and number of graphs, of all its good records that can be
 * pooled, or of its latest failure where none of its latest build is good. Cells of one runtime are
 * a block; devices that are simulated have blocks of their own. Rows of a cell, and cells of a
 * block, stand together.
 */
typedef struct res_speedup_row {
    const res_record *record; /* the pool's latest; borrowed from the collection */
    bool first_of_cell, first_of_block;
    bool base;       /* the lazy row that the others of the cell are compared with */
    size_t base_row; /* that row's index; the table's count where there is none */
    res_pool pool;
    res_interference interference; /* of the row's own rounds */
    res_figures figures;
    res_remarks remarks;
    /* Of rows that are compared. */
    bool compared;
    res_pool_ratio ratio; /* lazy wall over this wall */
    res_program program;
    double p_holm; /* over all ratios of the table */
    bool significant; /* at 5 % over all of them */
    /* Why it is not compared though there is a base: other build, or conditions (named). */
    bool other_build;
    char other_conditions[RES_DIFFERING];
} res_speedup_row;

/* Whether E is the way that others are compared with: lazy, traced by bench itself, a step a
 * program.
 */
bool res_is_lazy(const res_experiment *e);

/* Geometric mean of the speedups of one phase, mode and number of graphs in one block: COVERED of
 * CELLS have one. Its interval is its own: no difference is claimed by it, and it is no part of the
 * family over which the ratios are judged. */
typedef struct res_speedup_mean {
    const res_record *example; /* its runtime, phase, mode and graphs */
    res_ratio_mean mean;
    size_t covered, cells;
} res_speedup_mean;

typedef struct res_speedup {
    res_speedup_row *rows;
    size_t count;
    res_speedup_mean *means;
    size_t mean_count;
    size_t ratios;                 /* that have an interval: the family of the significance tests */
    res_interference interference; /* of all rows together */
    /* Of the collection, whose they are. */
    res_misdates misdates;
    const res_damaged *damaged;
    size_t damaged_count;
} res_speedup;

/* Makes the rows of ALL, which must outlive SPEEDUP. */
void res_speedup_make(const res_collection *all, res_speedup *speedup);
void res_speedup_free(res_speedup *speedup);
/* The smallest difference (0.03: 3 %) of ROW that RES_POWER of further tables like this one would
 * claim, with TIMES as many processes of the row, or runs where these are its values
 * (res_moderated_mde). NaN without an interval. */
double res_speedup_mde(const res_speedup *speedup, const res_speedup_row *row, double times);
/* The row whose rounds waited longest among those of a busy machine; NULL: there is none. */
const res_speedup_row *res_speedup_busiest(const res_speedup *speedup);

/* ---- what a speedup table found (explain.c) --------------------------------------- */

typedef enum res_finding_kind {
    RES_FINDING_FASTER, /* than lazy; significant */
    RES_FINDING_SLOWER,
    RES_FINDING_NO_DIFFERENCE, /* no significant one */
    RES_FINDING_TOO_FEW,       /* processes: no interval */
    RES_FINDING_APART,         /* too few processes measured both: no interval */
    RES_FINDING_OTHER_BUILD,   /* not compared: the lazy row is of another build */
    RES_FINDING_CONDITIONS,    /* not compared: the lazy row was measured under other conditions */
    RES_FINDING_NO_BASE,       /* not compared: others have a lazy row, this one does not */
    RES_FINDING_FAILED         /* all its processes */
} res_finding_kind;
const char *res_finding_name(res_finding_kind kind); /* "faster", "slower", "no difference", ... */

/* Where time of a step goes. */
typedef enum res_cause_kind {
    RES_CAUSE_TRACING,  /* trace, hash and lookup */
    RES_CAUSE_OVERHEAD, /* of all executions of a step together */
    RES_CAUSE_DEVICE,   /* device time of a step */
    RES_CAUSE_PART      /* another part of the ledger */
} res_cause_kind;
typedef struct res_cause {
    res_cause_kind kind;
    bn_part part;          /* of RES_CAUSE_PART */
    res_interval saved_ns; /* of a step: lazy minus this; below zero where this takes longer */
} res_cause;

#define RES_MOST_CAUSES 4
typedef struct res_finding {
    res_finding_kind kind;
    size_t row;      /* index into the table's rows */
    double saved_ns; /* wall time of lazy's step minus this one's */
    /* Significant components, the largest first; only of significant differences. */
    res_cause causes[RES_MOST_CAUSES];
    size_t cause_count;
    double executions_added; /* a step */
    /* Of RES_FINDING_NO_DIFFERENCE: res_speedup_mde of the row, and with twice as many values. */
    double mde, mde_twice;
} res_finding;

/* A finding for each row that failed, or is compared with a lazy one, or should be, in the order of
 * the rows. LIST has room for SPEEDUP->count; returns how many. */
size_t res_speedup_explain(const res_speedup *speedup, res_finding *list);
/* In the note of steps that are probed only where one asks for it (worker/device_time.c). */
#define RES_ASK_FOR_SLOPE "--device-time slope"
/* Whether ROW's device time was asked for and refused: by its processes, whose probes contradict
 * each other, or by the table; or its steps have that note. */
bool res_device_refused(const res_speedup_row *row);

/* ---- two runtimes (versus.c, judged.c, quantity.c, attribute.c, pairing.c) ------- */

/* Quantities that are compared between the processes of two sides, besides the ledger's parts: a
 * value of each record, NaN where it is unknown. */
#define RES_QUANTITIES(X)                                                                          \
    X(WALL, wall, "median step")                                                                   \
    X(DEVICE, device, "device time of a step's executions")                                        \
    X(OVERHEAD, overhead, "their PJRT time minus device time")                                     \
    X(PJRT, pjrt, "PJRT time of a step's executions, each alone")                                  \
    X(LOWER, lowering, "StableHLO text written, all programs")                                     \
    X(COMPILE, compile, "the plugin's compile calls, all programs")                                \
    X(INSTRUCTIONS, instructions, "of the optimized programs")                                     \
    X(ARGUMENT_BYTES, arguments, "of the largest program")                                         \
    X(RESULT_BYTES, results, "of the largest program")                                             \
    X(TEMP_BYTES, temporary, "of the program that needs most")                                     \
    X(PEAK_BYTES, peak, "device memory of the program that needs most, by the compiler")           \
    X(CODE_BYTES, code, "of all programs")                                                         \
    X(HOST_BYTES, host_peak, "resident memory of the process at its peak")

typedef enum res_quantity {
#define X(upper, lower, text) RES_QUANTITY_##upper,
    RES_QUANTITIES(X)
#undef X
        RES_QUANTITY_COUNT
} res_quantity;

const char *res_quantity_name(res_quantity quantity); /* "wall", ... */
/* Nanoseconds, bytes, or for instructions a number. */
double res_quantity_of(const res_record *record, res_quantity quantity);

/* B minus A. */
typedef struct res_difference {
    double a, b; /* of each side's processes that count, as in res_figures and res_pool_over */
    /* B minus A, as the columns have it. How far it may be off, at 95 %, is over pairs: of what was
     * judged as its comparison says, else by Student's t. NaN bounds below 3 pairs. */
    res_interval difference;
    double p;   /* of no difference; 1 below 3 pairs */
    bool moved; /* significantly different from zero at 5 % over all that is looked at in a cell */
} res_difference;

/* Where most of a difference lies. */
typedef enum res_place {
    RES_PLACE_NONE,     /* nothing moved significantly */
    RES_PLACE_DEVICE,   /* device time */
    RES_PLACE_OVERHEAD, /* of executions: PJRT minus device time */
    RES_PLACE_PART      /* the ledger's part PLACE_PART */
} res_place;

typedef struct res_attribution {
    res_program program;
    res_difference part[BN_PART_COUNT]; /* of a step, ns */
    res_difference quantity[RES_QUANTITY_COUNT];
    res_place place;
    bn_part place_part;
    /* SHIFTED_FROM lost most of what PLACE_PART gained: the time only changed its place. */
    bool shifted;
    bn_part shifted_from;
} res_attribution;

/* "device time", "overhead", "dispatch", ... or "". */
const char *res_place_name(const res_attribution *attribution);

/*
 * The measures of a cell that are judged. Of all of them more is worse. A change of a measure is a
 * finding when it is significant and larger than the measure's least change: a smaller one is no
 * reason to look at a runtime, though an exact figure would show it.
 *
 *   wall      median step                                       the session's threshold
 *   device    device time of a step                             1 % of itself
 *   overhead  of a step: PJRT minus device time                  1 % of A's median step
 *   compile   all compile calls of a process                    10 %
 *   host      resident memory of the process at its peak        5 %
 *   peak      device memory of a program, by the compiler       1 %
 *
 * The session's threshold holds for all where it is larger. Overhead may be near zero, so it is
 * compared as a share of a step. A measure that is unknown in all processes, or is the same in
 * both of each pair, is not judged: it takes no share of the level. Where each side has one value
 * in all its processes, as compilers' figures have, RES_TEST_CONSTANT judges.
 */
typedef enum res_measure {
    RES_MEASURE_WALL,
    RES_MEASURE_DEVICE,
    RES_MEASURE_OVERHEAD,
    RES_MEASURE_COMPILE,
    RES_MEASURE_HOST,
    RES_MEASURE_PEAK,
    RES_MEASURE_COUNT
} res_measure;

typedef enum res_known {
    RES_KNOWN_NOT,   /* in all processes */
    RES_KNOWN_EQUAL, /* and the same in both processes of each pair */
    RES_KNOWN_JUDGED
} res_known;

/* A measure other than the wall time. */
typedef struct res_judged {
    res_known known;
    res_comparison comparison; /* where it is judged */
} res_judged;

/* The verdict of a cell, and the measure that gave it. */
typedef struct res_headline {
    res_verdict verdict;
    res_measure measure;
    bool little; /* slower or faster, but by less than what counts */
} res_headline;

/* One experiment on two sides. */
typedef struct res_compared {
    res_experiment experiment;
    bool control;                                            /* both sides are A's runtime */
    const res_record *a[RES_MOST_PAIRS], *b[RES_MOST_PAIRS]; /* pair I; borrowed */
    size_t pairs;
    char failed;  /* the side, 'A' or 'B', of which a process failed, or that lacks it; 0: none */
    bool missing; /* that side has no record of it at all */
    bn_code failure;
    char message[1024];
    res_plan plan; /* its interim analyses */
    /* Filled by res_versus_judge; undecided without pairs. */
    bool turns;                /* the processes of all pairs took turns, round by round */
    res_comparison comparison; /* of the wall time; then of their rounds */
    res_judged judged[RES_MEASURE_COUNT]; /* of the others; that of the wall time is not used */
    res_attribution attribution;
} res_compared;

/* Notes of a comparison: each has an identifier that stays, and sentences that may change. */
typedef enum res_versus_note {
    RES_NOTE_UNPAIRED,   /* records of A have no counterpart in B */
    RES_NOTE_COUNTS,     /* the sides have different numbers of records */
    RES_NOTE_CONDITIONS, /* the sides were measured under different conditions */
    RES_NOTE_BUILDS,     /* records of another build than the one that is compared */
    RES_NOTE_FIXED,      /* processes that failed before */
    RES_NOTE_COPIES,     /* the same records on both sides */
    RES_NOTE_OLDER,      /* all records of one side are older */
    RES_NOTE_PRECISION,  /* more pairs are wanted than there can be */
    RES_NOTE_FURTHER,    /* further pairs of what seemed slower */
    RES_NOTE_INTERRUPTED,
    RES_NOTE_BUDGET,
    RES_NOTE_FIT,      /* how many pairs fit into the budget, by the first ones */
    RES_NOTE_REPLACED, /* a runtime's file */
    RES_NOTE_INTERIM,  /* after how many pairs the experiments were decided */
    RES_NOTE_ADVICE,   /* how to decide what is undecided */
    RES_NOTE_SPENT,    /* processes, seconds, where the records are */
    RES_NOTE_COUNT
} res_versus_note;
/* "older". */
const char *res_versus_note_name(res_versus_note note);

typedef struct res_versus {
    res_compared *cells;
    size_t count;
    res_compare_options options;
    double threshold;   /* a cell that is slower by no more is not counted as slower: 0.03 */
    bool all_measures;  /* all are judged; false: wall times alone */
    /* Of a stored comparison: its id, and the experiments and controls that were planned, of which
     * the stores may have no record: they keep their part of the level. */
    char comparison[64];
    bool forward; /* side A of the stores was its side A */
    size_t planned, planned_controls, planned_missing; /* all; controls; missing on one side */
    size_t family;      /* comparisons that were judged together */
    double wall_family; /* the same as a wall time counts them: of a family of its like */
    res_slow_counts slow; /* slow processes of all experiments and controls, by what decides */
    double slow_p;        /* of B to have so many or more: res_slow_p */
    bool b_slow;          /* B has slow processes: SLOW_P is at most RES_SLOW_LEVEL */
    bn_text notes;      /* sentences, one a line: how it was paired, why it ended */
    bool noted[RES_NOTE_COUNT]; /* which of them */
    size_t unread[2];   /* records of each store that could not be read, so they are not compared */
    bool whole;         /* res_versus_pair makes a cell of every experiment that either side has */
    char differing[RES_DIFFERING]; /* in which conditions the sides of pairs out of stores differ:
                                      "kernel" */
} res_versus;

/* Adds a line to the notes, by a printf FORMAT. */
void res_versus_add_note(res_versus *versus, res_versus_note note, const char *format, ...)
    BN_PRINTF(3, 4);
/* Begins an empty comparison of wall times. Cells within THRESHOLD (0: 3 %) are equivalent. */
void res_versus_begin(res_versus *versus, double threshold);
/* Compares each cell, controls among them, judges all measures of all cells as one family, and
 * attributes the differences. BN_INVALID where records cannot be compared. */
BN_MUST_USE bn_code res_versus_judge(res_versus *versus, bn_status *st);
/* Whether both steps of CELL's first pair are short: further pairs then take less time each. The
 * first pair alone says so, and never how steps vary. */
bool res_compared_short(const res_compared *cell);

/* The quantity that MEASURE is, and its words: "device time". */
res_quantity res_measure_quantity(res_measure measure);
const char *res_measure_words(res_measure measure);
/* By how much MEASURE must change to be a finding. */
double res_measure_threshold(const res_versus *versus, res_measure measure);
/* How much of the family's level MEASURE of CELL has: this where it decides, else 1. */
#define RES_WEIGHT_DECIDES 4.0
double res_measure_weight(const res_compared *cell, res_measure measure);
/* The size of a family of CELLS cells, all measures of each, as a wall time counts it. */
double res_wall_family(size_t cells);
/* The comparison of CELL's MEASURE; NULL where it is not judged. */
const res_comparison *res_compared_measure(const res_compared *cell, res_measure measure);
/* "20.0 % slower", "0.52 % less": by how much RATIO says that MEASURE of B differs from A's. */
void res_put_change(res_measure measure, double ratio, bn_text *out);
/*
 * The headline of CELL, which is judged and did not fail. First what is a finding: slower (or more)
 * in any measure, then faster in wall or device time; the wall time before the others, of these the
 * largest change. Then smaller changes of the wall time, and of the device time where a profiler
 * has it. These two also say whether it is equivalent, uneven or undecided: the others vary too
 * much to wait for them.
 */
res_headline res_compared_headline(const res_versus *versus, const res_compared *cell);
/* Whether more pairs of CELL are needless: something is found slower, or its wall time and the
 * profiler's device time are decided. */
bool res_compared_decided(const res_versus *versus, const res_compared *cell);
/* Whether MEASURE of CELL decides that it is equivalent: the wall time, and a device time that a
 * profiler tells. */
bool res_measure_decides(const res_compared *cell, res_measure measure);
/* The first measure that decides, and is uneven, or undecided and may be slower by more than
 * counts, whatever the headline says; RES_MEASURE_COUNT: there is none. */
res_measure res_compared_open_in(const res_versus *versus, const res_compared *cell);
/* Whether there is one. */
bool res_compared_open(const res_versus *versus, const res_compared *cell);
/* Says in the notes where a cell that is not decided has too few pairs for any claim in this
 * family; before res_versus_judge, where any cell has. */
void res_versus_note_pairs(res_versus *versus);
void res_versus_free(res_versus *versus); /* the cells and notes, not the records */

/* How the cells ended, by their headlines; controls are counted apart. */
typedef struct res_versus_sum {
    size_t slower, little; /* by more than the threshold; by less */
    size_t faster, equivalent, uneven, undecided, failed;
    size_t missing; /* one side has no record of it */
    size_t unmeasured; /* ended before a first pair; undecided */
    size_t absent;     /* of a stored comparison: missing or unmeasured, and of no cell */
    size_t unread;  /* records of both sides that could not be read */
    size_t controls, alarms, dead_controls;
    size_t mute_controls; /* with too few pairs to claim anything */
    size_t inconclusive; /* not found slower, but open, whatever their headlines say */
    size_t closed; /* of UNDECIDED: faster or the same, but not slower by what counts */
    bool open;     /* res_compared_open of one of them */
} res_versus_sum;
res_versus_sum res_versus_add_up(const res_versus *versus);
/* Appends the worst of those that count: "resnet18 train lazy: wall time 5.1 % slower, from its
 * device time". False: there is none. */
bool res_versus_put_worst(const res_versus *versus, bn_text *out);
/* The experiments and controls of a stored comparison of which VERSUS has no cell. */
size_t res_versus_absent(const res_versus *versus);
/* "B has slow processes: 9 of 144, none of 168 of A (p < 0.001)": what VERSUS' count of slow
 * processes says, where b_slow. */
void res_versus_put_slow(const res_versus *versus, bn_text *out);
/* "3 of 12 processes of B took 1.5 times as long, none of A; mean +11.0 %, median +0.2 %": the slow
 * and the fast processes of MEASURE of CELL; nothing where there is none. */
void res_compared_put_slow(const res_compared *cell, res_measure measure, bn_text *out);
/* "1 of 3 slower (resnet18 train lazy: device time 20.0 % slower), ...; A/A control passed". Where
 * none is found slower and any is open, it begins with "undecided: 2 of 3"; else, where any failed,
 * with "1 of 4 failed". */
void res_versus_summary(const res_versus *versus, bn_text *out);

/* Which records of a store are a side: those of this runtime and label. */
typedef struct res_choice {
    const char *store, *runtime, *label; /* STORE is for messages; NULL in the others: any */
} res_choice;
/* Pairs the good records of two stores by experiment (all but runtime and settings), by their ids.
 * VERSUS' notes say what had to be left out. Records that bench compare measured together are
 * judged as they were planned: their pairs, their interim analyses, and a family of what was
 * planned, of which the collections may hold less. Of several comparisons the latest counts. If
 * VERSUS is `whole`, a side is the build of its latest record, good or failed, and no experiment
 * that either side has is left out: one that failed beside or after the records that are paired, or
 * whose repetition of a suite failed and was not repeated, or that one side lacks, has a cell that
 * says so; what failed before is in the notes. Good records of two builds on one side, or no common
 * experiment (of a whole one: none at all), are BN_INVALID.
 */
BN_MUST_USE bn_code res_versus_pair(const res_collection *a, const res_collection *b,
                                    const res_choice choice[2], res_versus *versus, bn_status *st);
/* After it: adds the controls of the same comparison, whose sides are A's runtime. Nothing where
 * VERSUS is of no stored comparison, or its A is not the side A of that. */
void res_versus_pair_controls(const res_collection *a, const res_collection *b, res_versus *versus);

#endif
