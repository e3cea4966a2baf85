/*
 * results.h - records of experiments: kept in files, summarised, tabled.
 *
 * One experiment is one immutable HDF5 file; a store is a folder of them.
 * Tables are functions of records alone. Nothing here measures, prints or
 * knows a plugin. Prefix res_.
 */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <jansson.h>

#include "runtime/base.h"
#include "runtime/ledger.h"

#define RES_TEXT           64
#define RES_SCHEMA_VERSION 3

/* What was asked for: with the runtime's sha256 it is the experiment's identity. */
typedef struct res_experiment {
    char model[RES_TEXT];
    char variant[RES_TEXT]; /* "full" or "small", with "_pad" where rows are padded */
    char phase[16];         /* "train" or "infer" */
    char mode[16];          /* "eager", "lazy", "capture" */
    int graphs;
    int batch;
    int image;          /* pixels a side; 0: the model takes no images */
    int seq;            /* tokens a row, at most; 0: the model takes no tokens */
    char optimizer[16]; /* "default" (the model's own), "sgd", "adamw" */
    char dropout[16];   /* "default" (in training, as the model's source), "off" */
    char input[16];     /* "synthetic", "transfer", "prefetch" */
    char lengths[16];   /* of rows: "fixed", "varying" */
    int buckets;        /* that varying lengths are padded to; 0: none */
    char dtype[16];     /* "f32", "bf16" */
    char layout[16];    /* "nhwc", "nchw" */
    char runtime[256];  /* name or path as the user gave it */
    int in_flight;      /* 1 is the serial regime */
    char settings[256]; /* of runtime and compiler, as given: "preset=tpu-v4 jitter=0.1" */
    int trace_cost_ns;  /* added to each traced node: an emulated front end; 0: none */
    uint64_t seed;
} res_experiment;

/* One graph (executable) of the step and what became of it. In eager mode one
 * row stands for all executions of one op in a step. */
typedef struct res_execution {
    char graph[RES_TEXT]; /* "step", "forward", ... or the op's name */
    int per_step;         /* executions of it in one step */
    int arguments, results;
    int64_t nodes;
    char fingerprint[33]; /* structural hash, hex */
    int64_t text_bytes;
    uint64_t lower_ns, compile_ns; /* of its first compile; 0 when loaded from disk */
    bool from_disk;
    double flops, bytes; /* by our op table, per execution */
    int64_t argument_bytes, result_bytes, temp_bytes, code_bytes; /* compiler's; -1 unknown */
    int64_t peak_bytes;                    /* compiler's, of memory at a time; -1 unknown */
    double compiler_flops, compiler_bytes; /* by the compiler's cost analysis; NaN unknown */
    /* Digest and size of the program that the compiler made of the text, and the plugin's
     * own fingerprint; "" and -1 where the plugin does not tell. */
    char optimized[33];
    int64_t optimized_bytes, optimized_instructions;
    char plugin_fingerprint[RES_TEXT];
    /* Raw samples, one execution each, submit to ready, each execution awaited
     * alone (serial). */
    uint64_t *pjrt_ns;
    size_t pjrt_count;
    /* Device time of one execution; NaN when the source is unavailable. */
    double device_ns, device_low_ns, device_high_ns; /* estimate and its 95 % interval */
    /* PJRT time less device time of the same execution, where the source tells the
     * device time of each; NaN else (res_execution_overhead then takes medians). */
    double overhead_ns, overhead_low_ns, overhead_high_ns;
    bn_device_time_source device_source;
    char device_note[128]; /* why it is unavailable or limited, else "" */
} res_execution;

/* {"model": "resnet50", ...} (new reference), and back: members that JSON lacks or
 * that do not fit are BN_FORMAT. */
json_t *res_experiment_to_json(const res_experiment *experiment);
BN_MUST_USE bn_code res_experiment_from_json(const json_t *json, res_experiment *experiment,
                                             bn_status *st);

typedef struct res_record {
    res_experiment experiment;
    char id[RES_TEXT];  /* unique: UTC time, host, process, a counter */
    bn_code status;     /* BN_OK, or the class of the failure */
    char message[1024]; /* of the failure */
    bool simulated;     /* the device is: its times are modelled */
    char values[16]; /* "computed"; "none": a simulated device computed none, results are zeros */
    /* Samples: STEP_COUNT rows of BN_PART_COUNT parts and the wall time. */
    size_t step_count;
    uint64_t *wall_ns; /* [step] */
    uint64_t *part_ns; /* [step][BN_PART_COUNT] */
    /* Steps before the measured ones, with compiles; wall time only. */
    size_t warmup_count;
    uint64_t *warmup_wall_ns;
    bool warmup_stationary; /* false: the limit ended the warm-up */
    res_execution *executions;
    size_t execution_count;
    int64_t counters[BN_COUNTER_COUNT];      /* over the whole experiment */
    int64_t step_counters[BN_COUNTER_COUNT]; /* over the measured steps */
    double loss;                             /* of the last measured step, NaN when there is none */
    /* Everything else: plugin path, sha256, API and platform version,
     * attributes, label; host topology, governor, kernel; options; build.
     * A JSON object, owned by the record. Two members are known here, "runtime":
     * {"sha256": ...}, since records of two builds are not compared, and "suite":
     * {"repetition": ...}. */
    json_t *provenance;
} res_record;

/* Empty record with NaN figures and an id; NULL without memory. */
res_record *res_record_new(void);
void res_record_free(res_record *record); /* NULL allowed */
/* Rooms for samples, all zero; BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_record_reserve_steps(res_record *record, size_t steps, size_t warmups,
                                             bn_status *st);
/* Executions start all zero, but with device times NaN and the compiler's sizes
 * unknown; the caller fills PJRT_NS with a malloc block that the record owns. */
BN_MUST_USE bn_code res_record_reserve_executions(res_record *record, size_t executions,
                                                  bn_status *st);

/* The documented JSON object (new reference): experiment, id, status, message (of
 * a failure), simulated, steps, warmup, ledger {part: {median_ns, p10_ns,
 * p90_ns}}, executions, counters, step_counters, loss, provenance. What is
 * unknown is null; a seed beyond 63 bits is text. */
json_t *res_record_to_json(const res_record *record);

/* ---- identity (identity.c) -------------------------------------------- */

/*
 * Two experiments are the same when all members of res_experiment agree (with the
 * model's own batch, image, seq and the layout filled in), the runtime's file has the
 * same SHA-256, and they are the same repetition of a suite, counted from 1: then their
 * IDENTITY, the SHA-256 of "NAME=VALUE" lines of all these, is the same text. How
 * long and where something was measured (steps, min_time, warmup, pinning, host, label,
 * weights) is no part of it. A later member of res_experiment changes all identities.
 * BN_OUT_OF_MEMORY; IDENTITY is then empty.
 */
#define RES_MOST_REPETITIONS 1000
BN_MUST_USE bn_code res_identity(const res_experiment *experiment, const char *runtime_sha256,
                                 int repetition, char identity[BN_SHA256_TEXT], bn_status *st);
/* That of RECORD. False, with an empty text, where the record has none: it was not run
 * for a suite, or nobody knows the runtime's SHA-256. */
bool res_record_identity(const res_record *record, char identity[BN_SHA256_TEXT]);
/* Which repetition of a suite RECORD is, by its provenance {"suite": {"repetition": 1}};
 * 0: it was not run for a suite. */
int res_record_repetition(const res_record *record);

/* ---- store ----------------------------------------------------------- */

/* Readies HDF5 (its own printing off). Call once before the rest. */
void res_store_begin(void);

/*
 * Writes RECORD as a new file in folder STORE (made if missing): temporary
 * name, flush, rename. PATH, of PATH_SIZE bytes, gets the name; may be NULL.
 * A full disk is BN_IO and leaves no file. The id must be fit for a file name
 * and new to the store: files are never replaced (BN_INVALID).
 */
BN_MUST_USE bn_code res_store_write(const char *store, const res_record *record, char *path,
                                    size_t path_size, bn_status *st);
/* Reads one file. A file that is not a whole record of a schema we know is
 * BN_FORMAT. */
BN_MUST_USE bn_code res_store_read(const char *path, res_record **record, bn_status *st);

/* All records of a store in order of their ids. Damaged files do not hide the
 * others: each is reported in DAMAGED. */
typedef struct res_damaged {
    char *path;
    bn_status status;
} res_damaged;
typedef struct res_collection {
    res_record **records;
    size_t count;
    res_damaged *damaged;
    size_t damaged_count;
} res_collection;
BN_MUST_USE bn_code res_store_load(const char *store, res_collection *all, bn_status *st);
void res_collection_free(res_collection *all);
/* Removes temporary files that process PID (our worker, known dead) left. */
void res_store_sweep(const char *store, long pid);
/* Removes those of this machine's processes that are gone, once they are a minute
 * old: of programs that were killed, so that nobody swept after their workers. */
void res_store_sweep_old(const char *store);

/* ---- statistics (GSL) ------------------------------------------------- */

typedef struct res_interval {
    double estimate, low, high;
} res_interval;

/* Quantile Q (0..1) of COUNT values, linear between order statistics; NaN for
 * none. VALUES is left alone. */
double res_quantile(const uint64_t *values, size_t count, double q);
/* Median with a 95 % percentile bootstrap interval (2,000 resamples of blocks
 * of neighbours, since step times are correlated; seeded: same input, same
 * answer). Fewer than three values give their range, none give NaN. */
res_interval res_median_interval(const uint64_t *values, size_t count);
/* Ratio of medians A over B of two independent series, 95 % bootstrap; NaN when
 * either is empty or B holds a zero. */
res_interval res_ratio_interval(const uint64_t *a, size_t na, const uint64_t *b, size_t nb);
/* exp of the mean log of the positive finite values; *COVERED how many. */
double res_geometric_mean(const double *values, size_t count, size_t *covered);

/* An execution's PJRT time less device time and about its 95 % interval; NaN when either is
 * unknown. */
res_interval res_execution_overhead(const res_execution *execution);

/* ---- comparisons -------------------------------------------------------- */

/*
 * Two sides, A and B, of as many processes each; pair I is process I of A and of
 * B, run one after the other, in the order that res_order says. A process
 * counts once, with the logarithm of its median step: steps of one process share
 * its layout in memory and its moment, so many steps are no substitute for
 * processes (T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable
 * time", ISMM 2013). All that follows is about the differences of pairs.
 */
typedef struct res_side {
    const uint64_t *const *series; /* [process][step], ns */
    const size_t *counts;          /* [process]: steps */
    size_t processes;
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
    RES_TEST_NONE, /* too few pairs for any claim in such a family: p is 1 */
    RES_TEST_FLIP, /* permutation: the signs of the pairs' differences are flipped */
    RES_TEST_T     /* Student's, where flips of so few pairs cannot reach the level */
} res_test;

typedef struct res_compare_options {
    double level;     /* of false alarms in a family, 0.05 */
    double delta;     /* within which sides are equivalent: 0.03 is a ratio of 1/1.03 to 1.03 */
    size_t resamples; /* of BOOTSTRAP; 0: it is left NaN */
    uint64_t seed;
} res_compare_options;

/* The defaults: 5 %, 3 %, 2,000 resamples. */
res_compare_options res_compare_defaults(void);

typedef struct res_comparison {
    /* Geometric mean of B over A with its 95 % interval, of this comparison alone:
     * Student's over the pairs, which holds for few, or flips' (compare.c). NaN bounds below 3
     * pairs. */
    res_interval ratio;
    /* The same by the hierarchical percentile bootstrap (pairs, then blocks of
     * steps), which is too narrow for few pairs; to be looked at beside. */
    res_interval bootstrap;
    size_t pairs;                     /* that count */
    size_t disturbed;                 /* pairs left out: see compare.c */
    size_t kept[RES_MOST_PAIRS];      /* those that count, ascending */
    double log_ratio[RES_MOST_PAIRS]; /* of each of them */
    double error;                     /* standard error of the mean log ratio */
    double p_flip, p_t;               /* no difference, by each test */
    /* What follows depends on the family. */
    res_test test;
    double level;     /* FAMILY's level over its size: what one comparison is sure of */
    double p, p_holm; /* of TEST */
    double p_equivalent, p_equivalent_holm; /* a difference of DELTA or more (TOST) */
    double critical;                        /* log ratio that TEST would just tell at LEVEL */
    /* Smallest difference, as 0.02 for 2 %, that this experiment would have told
     * at LEVEL with a probability of 80 %; infinite where none. */
    double smallest_visible;
    res_verdict verdict;
} res_comparison;

/*
 * In which of PAIRS pairs B is to run before A: by a seeded coin each, which makes
 * a difference of like sides as likely to have either sign, whatever the machine
 * does (R. A. Fisher, "The Design of Experiments", 1935), and leaves no rhythm for
 * an interference to keep pace with, as ABBA does. Of fewer than RES_COIN_PAIRS,
 * in half of them, at random, so that a drift cancels. A later stage takes another
 * SEED.
 */
#define RES_COIN_PAIRS 8
void res_order(uint64_t seed, size_t pairs, bool *b_first);

/* Compares B with A, as a family of one. Sides without processes, of unequal ones or of
 * more than RES_MOST_PAIRS, processes without steps and steps of 0 ns are
 * BN_INVALID. */
BN_MUST_USE bn_code res_compare(const res_side *a, const res_side *b,
                                const res_compare_options *options, res_comparison *comparison,
                                bn_status *st);
/* Judges the comparisons LIST anew as one family: the probability that any of
 * them wrongly claims a difference is at most OPTIONS' level, and so is, apart,
 * that of any wrong claim of equivalence. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_compare_family(res_comparison *list, size_t count,
                                       const res_compare_options *options, bn_status *st);

/* Adjusted p values (S. Holm, "A simple sequentially rejective multiple test
 * procedure", Scandinavian Journal of Statistics 6, 1979). BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_holm(const double *p, size_t count, double *adjusted, bn_status *st);

/* Probability with which this experiment would have told an EFFECT (0.02: B takes
 * 2 % longer) at the comparison's level; 0 where it can claim nothing. */
double res_power(const res_comparison *comparison, double effect);
/* Pairs from which flips of signs can reach LEVEL in a FAMILY of comparisons. */
size_t res_fewest_pairs(double level, size_t family);
/* Pairs from which anything can be claimed in such a family, by Student's t. */
size_t res_least_pairs(double level, size_t family);
/*
 * The stop rule: pairs needed, all in all, for a 95 % interval of about
 * +-PRECISION (0.01: 1 %), from this comparison's pairs as the first stage of two
 * (C. Stein, "A two-sample test for a linear hypothesis whose power is
 * independent of the variance", Annals of Mathematical Statistics 16, 1945). No
 * more than it has: stop. It looks at the spread alone, never at p or the ratio,
 * so stopping by it makes no false alarms. 0 below 3 pairs, which say nothing of the
 * spread.
 */
size_t res_pairs_wanted(const res_comparison *comparison, double precision);

/* ---- two runtimes (versus.c, attribute.c, pairing.c) --------------------- */

/* What of a process is held against the other side's, beside the ledger's parts: a
 * value of each record, NaN where it is unknown. */
#define RES_QUANTITIES(X)                                                                          \
    X(WALL, wall, "median step")                                                                   \
    X(DEVICE, device, "device time of a step's executions")                                        \
    X(OVERHEAD, overhead, "their PJRT time less device time")                                      \
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

/* B less A over pairs, with Student's t. */
typedef struct res_difference {
    double a, b;             /* medians over the processes */
    res_interval difference; /* mean over the pairs, 95 %; NaN bounds below 3 pairs */
    double p;                /* of no difference; 1 below 3 pairs */
    bool moved;              /* told from zero at 5 % over all that is looked at in a cell */
} res_difference;

/* What the compiler made of a cell's programs. */
typedef enum res_program {
    RES_PROGRAM_SAME,     /* the same text and the same optimized program on both sides */
    RES_PROGRAM_COMPILED, /* the same text, compiled otherwise */
    RES_PROGRAM_TEXT,     /* other texts: the sides were asked for different programs */
    RES_PROGRAM_UNSTEADY, /* the same text; it comes out otherwise in each process of a side */
    RES_PROGRAM_UNKNOWN   /* the same text; the plugin does not tell what it made of it */
} res_program;
const char *res_program_name(res_program program); /* "same", "compiled otherwise", ... */

/* Where most of a difference lies. */
typedef enum res_place {
    RES_PLACE_NONE,     /* nothing moved that can be told */
    RES_PLACE_DEVICE,   /* device time */
    RES_PLACE_OVERHEAD, /* of executions: PJRT less device time */
    RES_PLACE_PART      /* the ledger's part PLACE_PART */
} res_place;

typedef struct res_attribution {
    res_program program;
    res_difference part[BN_PART_COUNT]; /* of a step, ns */
    res_difference quantity[RES_QUANTITY_COUNT];
    res_place place;
    bn_part place_part;
    /* Most of what PLACE_PART gained, SHIFTED_FROM lost: time that changed its place. */
    bool shifted;
    bn_part shifted_from;
} res_attribution;

/* Of the pairs KEPT (COUNT of them) of processes A[i] and B[i]. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_attribute(const res_record *const *a, const res_record *const *b,
                                  const size_t *kept, size_t count, res_attribution *attribution,
                                  bn_status *st);
/* "device time", "overhead", "dispatch", ... or "". */
const char *res_place_name(const res_attribution *attribution);

/* One experiment on two sides. */
typedef struct res_compared {
    res_experiment experiment;
    bool control;                                            /* both sides are A's runtime */
    const res_record *a[RES_MOST_PAIRS], *b[RES_MOST_PAIRS]; /* pair I; borrowed */
    size_t pairs;
    char failed; /* 'A', 'B': the side of which a process failed; 0: none */
    bn_code failure;
    char message[1024];
    /* Filled by res_versus_judge; undecided without pairs. */
    res_comparison comparison;
    res_attribution attribution;
} res_compared;

typedef struct res_versus {
    res_compared *cells;
    size_t count;
    res_compare_options options;
    double threshold; /* what is slower by no more is not counted as slower: 0.03 */
    bn_text notes;    /* sentences, one a line: how it was paired, why it ended */
} res_versus;

/* Empty, with the usual options; what is slower by no more than THRESHOLD is as good as equal. */
void res_versus_begin(res_versus *versus, double threshold);
/* Compares each cell, judges them as one family, controls among them, and attributes.
 * BN_INVALID where records cannot be compared, BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_versus_judge(res_versus *versus, bn_status *st);
/* Says in the notes where a cell has too few pairs for any claim in this family. */
void res_versus_note_pairs(res_versus *versus);
void res_versus_free(res_versus *versus); /* the cells and notes, not the records */

/* How the cells ended, controls apart. */
typedef struct res_versus_sum {
    size_t slower, little; /* by more than the threshold; by less */
    size_t faster, equivalent, undecided, failed;
    size_t controls, alarms, dead_controls;
    bool open; /* an undecided cell's interval reaches beyond the threshold */
} res_versus_sum;
res_versus_sum res_versus_add_up(const res_versus *versus);
/* "1 of 3 slower (resnet18 train lazy, 5.1 %), ...; control: no alarm" */
void res_versus_summary(const res_versus *versus, bn_text *out);

/* Whether A and B were asked for the same, whatever the runtime and what it was told. */
bool res_same_request(const res_experiment *a, const res_experiment *b);

/* Which records of a store are a side: those of this runtime and label, where given. */
typedef struct res_choice {
    const char *store, *runtime, *label; /* STORE: for messages; others may be NULL */
} res_choice;
/* Pairs the good records of two stores by experiment (all but runtime and settings) and
 * order of their ids. What had to be left out is said in VERSUS' notes; records of two
 * builds on one side, and stores that share no experiment, are BN_INVALID. */
BN_MUST_USE bn_code res_versus_pair(const res_collection *a, const res_collection *b,
                                    const res_choice choice[2], res_versus *versus, bn_status *st);

/* Who a runtime is: name, path, sha256, versions, attributes, label, options (new
 * reference). */
json_t *res_runtime_identity(const res_record *record);
/* ---- index of a store (index.c) ----------------------------------------- */

/* Name of the index in the store's folder. */
#define RES_INDEX_FILE "index.tsv"

/* Where a record comes from; "" is unknown. Long texts are cut. */
typedef struct res_origin {
    char sha256[BN_SHA256_TEXT]; /* of the plugin */
    char label[RES_TEXT];        /* as given: a commit, say */
    char version[RES_TEXT];      /* of the platform, as the plugin says */
    char host[RES_TEXT];
} res_origin;

/* What tables over time need of a record, without its samples. Times in ns. */
typedef struct res_summary {
    const char *file; /* in the store's folder */
    int64_t size, mtime_ns;
    char id[RES_TEXT];
    size_t experiment; /* index into res_index.experiments */
    const res_origin *origin;
    bn_code status;
    bool simulated;
    int64_t steps;
    /* Medians of a step, as in the speedup table; NaN when unknown. */
    res_interval wall;
    double trace_ns, device_ns;
    double overhead_ns; /* of an execution */
    double compile_ns;  /* of all graphs */
} res_summary;

typedef struct res_index {
    res_summary *records; /* in order of file names, which is that of ids */
    size_t count;
    const res_experiment **experiments; /* each once */
    size_t experiment_count;
    res_damaged *damaged; /* files that cannot be read; never in the index, always here */
    size_t damaged_count;
    size_t read;       /* files that were read: new, changed or damaged */
    bn_status unsaved; /* why the index could not be written; BN_OK: it is up to date */
    bn_arena *memory;  /* of all that is pointed to */
} res_index;

typedef struct res_index_options {
    bool rebuild; /* read every file again, whatever the index says */
    /* Called now and then while files are read: DONE of OF. May be NULL. */
    void (*progress)(void *context, size_t done, size_t of);
    void *context;
} res_index_options;

/*
 * Summaries of all records of STORE. The folder's index is brought up to date on the way:
 * files whose name, size and time of change it knows are not opened, others are read,
 * those that are gone drop out. An index that is missing, damaged or of another version
 * is made anew from the files; nothing is in it alone. Two programs that write it at
 * once may lose lines, which come back at the next call. A store that cannot be
 * written is no error. OPTIONS may be NULL. BN_NOT_FOUND, BN_IO, BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code res_index_load(const char *store, const res_index_options *options,
                                   res_index *index, bn_status *st);
void res_index_free(res_index *index);

/* Seconds since 1970, UTC, at which a record of this ID was made; NaN where the id has
 * no time. */
double res_id_time(const char *id);

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
    /* Too few nights after a change are no change yet. What can be told of the newest: */
    res_interval newest; /* over the level since the last change; the range is where 99 of
                          * 100 nights of that level fall. NaN without 10 such nights */
    double newest_p;     /* of a night of that level to lie so far out, two-sided */
    size_t newest_run;   /* of the last RES_LEAST_NIGHTS - 1 nights: how many up to the newest
                          * lie out of that range, on one side, by the least effect */
    double noise;        /* standard deviation of log values since the last change */
    double visible;      /* a change that RES_LEAST_NIGHTS nights more would tell in about 4
                          * of 5 cases: 0.03 is 3 % */
} res_changes;

/*
 * Change points of the series VALUES, in order of time; what is not positive and finite
 * is a missing night. Fewer than 2 RES_LEAST_NIGHTS nights have none. BN_INVALID for
 * options that cannot be, BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code res_changes_find(const double *values, size_t count,
                                     const res_change_options *options, res_changes *found,
                                     bn_status *st);
void res_changes_free(res_changes *found);

/* ---- history (history.c) -------------------------------------------------- */

typedef enum res_metric {
    RES_METRIC_WALL,     /* median step */
    RES_METRIC_DEVICE,   /* of a step */
    RES_METRIC_OVERHEAD, /* of an execution */
    RES_METRIC_TRACE,    /* of a step: trace, hash, lookup */
    RES_METRIC_COMPILE,  /* of all graphs */
    RES_METRIC_COUNT
} res_metric;
const char *res_metric_name(res_metric metric); /* "wall", ... */
BN_MUST_USE bn_code res_metric_parse(const char *name, res_metric *metric, bn_status *st);

/* One point of a series: what ran of one build within a span of hours. */
typedef struct res_night {
    double time_s;    /* since 1970, UTC: of its first record */
    double value;     /* ns: median over processes of their medians; NaN: none */
    double low, high; /* of one process its 95 % interval, if known; of several their range */
    size_t processes; /* that VALUE is of */
    size_t failed;    /* records that failed */
    bn_code status;   /* BN_OK, or the class of the last failure where all failed */
    const res_origin *origin;
} res_night;

/* Nights between two change points. */
typedef struct res_stretch {
    size_t first, end; /* nights; the first one has a value, but in the first stretch */
    size_t nights;     /* with a value */
    size_t gaps;       /* without */
    double median;     /* of the values, ns */
    /* Of the change that begins it; the first stretch has none: NaN. */
    size_t before;      /* the last night with a value before it */
    res_interval ratio; /* over the stretch before, 95 % */
    double p;
    bool build_known; /* on both sides, so that the next line means something */
    bool other_build; /* the plugin's sha256 differs from the night BEFORE */
    bool other_host;  /* so does the machine */
} res_stretch;

/* A cell over time: one experiment, whatever its seed and its runtime's build. */
typedef struct res_timeline {
    const res_experiment *experiment; /* of its first record */
    bool simulated;
    res_night *nights;
    size_t count;
    res_stretch *stretches; /* at least one */
    size_t stretch_count;
    res_changes changes; /* AT is a night; what it says of the newest is of LAST */
    size_t last;         /* the newest night with a value; COUNT: none has one */
} res_timeline;

typedef struct res_history {
    res_metric metric;
    res_timeline *series; /* by the members of the experiment, in the order of fields.c */
    size_t count;
    size_t timeless; /* records whose ids have no time: left out */
} res_history;

typedef struct res_history_options {
    res_metric metric;
    double night_hours; /* records of one build within them are one night, 12 */
    res_change_options change;
    /* The experiments to look at; NULL: all. */
    bool (*wanted)(void *context, const res_experiment *experiment);
    void *context;
} res_history_options;
res_history_options res_history_defaults(void);
/* Whether A and B belong to one series, of devices both real or both simulated. */
bool res_same_cell(const res_experiment *a, const res_experiment *b);

/*
 * The series of INDEX, which must outlive HISTORY. A runtime given as a path counts by
 * the file's name, since nightly builds lie in folders of their own. Zero-initialised
 * HISTORY; release with res_history_free. BN_OUT_OF_MEMORY, and what res_changes_find says.
 */
BN_MUST_USE bn_code res_history_make(const res_index *index, const res_history_options *options,
                                     res_history *history, bn_status *st);
void res_history_free(res_history *history);

/* ---- tables ------------------------------------------------------------ */

typedef enum res_format {
    RES_TABLE_TEXT,
    RES_TABLE_MARKDOWN,
    RES_TABLE_CSV,
    RES_TABLE_JSON,
    RES_TABLE_LATEX, /* a fragment for \input that needs no package */
    RES_TABLE_HTML   /* a fragment; res_put_page makes a page of it */
} res_format;
/* "text", "md", "csv", "json", "latex", "html". */
BN_MUST_USE bn_code res_format_parse(const char *name, res_format *format, bn_status *st);

/* A whole HTML page with TITLE around the fragments BODY. */
void res_put_page(bn_text *out, const char *title, const char *body);
/* ROWS, an array of arrays of texts, the first of them the heading, as a table in
 * FORMAT (not JSON); ALIGN has a letter a column, 'l' or 'r'. */
void res_table_sheet(const char *align, const json_t *rows, res_format format, bn_text *out);

/* Ledger and summary of one record, for people or machines. */
void res_table_record(const res_record *record, res_format format, bn_text *out);

/*
 * The speedup table: per runtime, model, variant, phase, batch and dtype one
 * row a mode (the newest good record of each cell): tracing, overhead per
 * execution, device and wall time with intervals, graphs a step, compile time,
 * speedup of capture over lazy with its interval; then the geometric mean and
 * how many cells it covers. Failed cells show their class.
 */
void res_table_speedup(const res_collection *all, res_format format, bn_text *out);

/*
 * The table NAME of the records that the speedup table shows: "speedup" itself,
 * "executions" (PJRT time, device time, overhead, their intervals), "ledger" (medians
 * of the parts), "compile", "memory". res_table_check: BN_INVALID for other names.
 */
void res_table(const char *name, const res_collection *all, res_format format, bn_text *out);
BN_MUST_USE bn_code res_table_check(const char *name, bn_status *st);

/* ---- exports -------------------------------------------------------------- */

/*
 * Records as files that other tools open, every sample in those that can hold
 * samples. Simulated and emulated results say so in their names. What a format has no
 * place for (failures, mostly) stands beside it under a member of its own, or is left out
 * where the format has no members; each writer says which.
 */
#define RES_EXPORT_NAMES                                                                           \
    "google-benchmark, benchstat, asv, hyperfine, pytorch-xla, pytorch-benchmark, xla, csv, "      \
    "chrome-trace or xspace"

typedef struct res_export_file {
    char *path;    /* in the folder of the export; "" for a format of one file */
    bn_text bytes; /* not text for xspace */
} res_export_file;

typedef struct res_export {
    res_export_file *files;
    size_t count;
    bool folder; /* the format is a folder of files */
    bool failed; /* ran out of memory */
} res_export;

/* All records of ALL in FORMAT, into *EXPORT, to be released in any case. BN_INVALID for
 * an unknown format and for one that has no use for any of the records. */
BN_MUST_USE bn_code res_export_make(const res_collection *all, const char *format,
                                    res_export *export, bn_status *st);
void res_export_free(res_export *export);
/* Writes the file, or the folder, OUTPUT. A file that is there stays (BN_INVALID). */
BN_MUST_USE bn_code res_export_write(const res_export *export, const char *output, bn_status *st);

/* ---- imports ---------------------------------------------------------------- */

typedef struct res_imported {
    size_t written, known; /* records; lines that the store had already */
} res_imported;

/*
 * Reads FILE, in FORMAT ("pytorch-xla": a JSON object a line, as pytorch/xla's
 * benchmarks/experiment_runner.py writes them), and writes a record a line into
 * STORE. What the lines do not say is NaN, zero or "" in the records; the provenance keeps
 * the whole line. A line that does not fit is BN_FORMAT, "FILE:LINE: why", and then
 * nothing is written.
 */
BN_MUST_USE bn_code res_import(const char *format, const char *file, const char *store,
                               res_imported *done, bn_status *st);
/* Two runtimes: who they are, verdicts, the control, what each change is due to, compile
 * times and memory. CSV is a line a cell, JSON has everything. */
void res_table_versus(const res_versus *versus, res_format format, bn_text *out);
/* Each series with its stretches and what changed between them; text has a picture of
 * blocks, JSON every night. */
void res_table_history(const res_history *history, res_format format, bn_text *out);
/* "resnet50 train lazy, 2 graphs: full, batch 4, f32, nhwc, serial, on cpu" */
void res_timeline_title(const res_timeline *series, bn_text *out);

#endif
