/*
 * findings.h - what records say together: speedups, comparisons of two runtimes and what
 * they are due to, series over nights. Prefix res_.
 */
#ifndef BENCH_RESULTS_FINDINGS_H
#define BENCH_RESULTS_FINDINGS_H

#include "results/records/records.h"

/* ---- speedups (speedup.c) ---------------------------------------------------- */

/*
 * The rows of the speedup table. Modes are compared within a cell: one runtime, model, phase and
 * set-up. A cell has a row for each mode and number of graphs, of its newest good record, or of its
 * newest failure where none is good. Cells of one runtime are a block; devices that are simulated
 * have blocks of their own. Rows of a cell, and cells of a block, stand together.
 */
typedef struct res_speedup_row {
    const res_record *record; /* borrowed from the collection */
    bool first_of_cell, first_of_block;
    bool base; /* the lazy record that the others of the cell are compared with */
    res_measures measures;
    res_interval speedup; /* lazy wall over this wall; NaN without a base */
    bool other_build;     /* the lazy record is of another build of the runtime */
} res_speedup_row;

/* Geometric mean of the speedups of one phase, mode and number of graphs in one block: COVERED of
 * CELLS have one. */
typedef struct res_speedup_mean {
    const res_record *example; /* its runtime, phase, mode and graphs */
    double speedup;
    size_t covered, cells;
} res_speedup_mean;

typedef struct res_speedup {
    res_speedup_row *rows;
    size_t count;
    res_speedup_mean *means;
    size_t mean_count;
} res_speedup;

/* Makes the rows of ALL, which must outlive SPEEDUP. False without memory. */
bool res_speedup_make(const res_collection *all, res_speedup *speedup);
void res_speedup_free(res_speedup *speedup);
/* Whether two records stand in one block of a table: one runtime, both simulated or both not. */
bool res_same_block(const res_record *a, const res_record *b);
/* Whether two records stand in one cell: one block, model, phase and set-up. */
bool res_same_cell(const res_record *a, const res_record *b);

/* ---- two runtimes (versus.c, judged.c, attribute.c, pairing.c) --------------------- */

/* What is compared between processes of the two sides, beside the ledger's parts: a value of each
 * record, NaN where it is unknown. */
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
    RES_PROGRAM_UNSTEADY, /* the same text, but processes of one side compile it differently */
    RES_PROGRAM_UNKNOWN   /* the same text; the plugin does not show its program */
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
    /* SHIFTED_FROM lost most of what PLACE_PART gained: the time only changed its place. */
    bool shifted;
    bn_part shifted_from;
} res_attribution;

/* Attributes the difference of the COUNT pairs KEPT, of processes A[i] and B[i].
 * BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_attribute(const res_record *const *a, const res_record *const *b,
                                  const size_t *kept, size_t count, res_attribution *attribution,
                                  bn_status *st);
/* "device time", "overhead", "dispatch", ... or "". */
const char *res_place_name(const res_attribution *attribution);

/*
 * What is judged of a cell. Of all of them more is worse. A change of a measure is a finding when
 * it is told from chance and is larger than the measure's least change: what is smaller is no
 * reason to look at a runtime, though an exact figure would show it.
 *
 *   wall      median step                                       the session's threshold
 *   device    device time of a step                             1 % of itself
 *   overhead  of a step: PJRT less device time                  1 % of A's median step
 *   compile   all compile calls of a process                    10 %
 *   host      resident memory of the process at its peak        5 %
 *   peak      device memory of a program, by the compiler       1 %
 *
 * The session's threshold holds for all where it is larger. Overhead may be near zero, so it is
 * compared as a share of a step. A measure that is not known in all processes, or is the same in
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

/* A measure beside the wall time. */
typedef struct res_judged {
    res_known known;
    res_comparison comparison; /* where it is judged */
} res_judged;

/* What a cell comes to: its verdict, and the measure that gave it. */
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
    char failed; /* the side, 'A' or 'B', of which a process failed; 0: none */
    bn_code failure;
    char message[1024];
    /* Filled by res_versus_judge; undecided without pairs. */
    res_comparison comparison;            /* of the wall time */
    res_judged judged[RES_MEASURE_COUNT]; /* of the others; that of the wall time is not used */
    res_attribution attribution;
} res_compared;

typedef struct res_versus {
    res_compared *cells;
    size_t count;
    res_compare_options options;
    double threshold;  /* a cell that is slower by no more is not counted as slower: 0.03 */
    bool all_measures; /* all are judged; false: wall times alone */
    size_t family;     /* comparisons that were judged together */
    bn_text notes;     /* sentences, one a line: how it was paired, why it ended */
} res_versus;

/* Begins an empty comparison of wall times with the usual options. Cells that differ by no more
 * than THRESHOLD count as equivalent; 0: the usual 3 %. */
void res_versus_begin(res_versus *versus, double threshold);
/* Compares each cell, controls among them, judges all measures of all cells as one family, and
 * attributes the differences. BN_INVALID where records cannot be compared, BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_versus_judge(res_versus *versus, bn_status *st);

/* The quantity that MEASURE is, and its words: "device time". */
res_quantity res_measure_quantity(res_measure measure);
const char *res_measure_words(res_measure measure);
/* By how much MEASURE must change to be a finding. */
double res_measure_threshold(const res_versus *versus, res_measure measure);
/* What CELL's MEASURE says; NULL where it is not judged. */
const res_comparison *res_compared_measure(const res_compared *cell, res_measure measure);
/* "20.0 % slower", "0.52 % less": by how much RATIO says that MEASURE of B differs from A's. */
void res_put_change(res_measure measure, double ratio, bn_text *out);
/*
 * What CELL, which is judged and did not fail, comes to. First what is a finding: slower (or more)
 * in any measure, then faster in wall or device time; the wall time before the others, of these the
 * largest change. Then smaller changes of the wall time, and of the device time where a profiler
 * tells it. These two also say whether it is undecided or equivalent: the others vary too much to
 * wait for them.
 */
res_headline res_compared_headline(const res_versus *versus, const res_compared *cell);
/* Whether more pairs of CELL are needless: something is found slower, or its wall time and the
 * profiler's device time are decided. */
bool res_compared_decided(const res_versus *versus, const res_compared *cell);
/* Whether the wall time or the profiler's device time may still be slower by more than counts. */
bool res_compared_open(const res_versus *versus, const res_compared *cell);
/* Says in the notes where a cell that is not decided has too few pairs for any claim in this
 * family; before res_versus_judge, where any cell has. */
void res_versus_note_pairs(res_versus *versus);
void res_versus_free(res_versus *versus); /* the cells and notes, not the records */

/* How the cells ended, by their headlines; controls are counted apart. */
typedef struct res_versus_sum {
    size_t slower, little; /* by more than the threshold; by less */
    size_t faster, equivalent, undecided, failed;
    size_t controls, alarms, dead_controls;
    bool open; /* res_compared_open of one of them */
} res_versus_sum;
res_versus_sum res_versus_add_up(const res_versus *versus);
/* "1 of 3 slower (resnet18 train lazy: device time 20.0 % slower), ...; control: no alarm" */
void res_versus_summary(const res_versus *versus, bn_text *out);

/* Which records of a store are a side: those of this runtime and label. */
typedef struct res_choice {
    const char *store, *runtime, *label; /* STORE is for messages; NULL in the others: any */
} res_choice;
/* Pairs the good records of two stores by experiment (all but runtime and settings), in the order
 * of their ids. VERSUS' notes say what had to be left out; its options say whether bench compare
 * measured the records by looks. Records of two builds on one side, and
 * stores that share no experiment, are BN_INVALID. */
BN_MUST_USE bn_code res_versus_pair(const res_collection *a, const res_collection *b,
                                    const res_choice choice[2], res_versus *versus, bn_status *st);

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

/* One point of a series: the records of one build within a span of hours. */
typedef struct res_night {
    double time_s;    /* since 1970, UTC: of its first record */
    double value;     /* ns: median over processes of their medians; NaN: none */
    double low, high; /* the 95 % interval of one process, if known; the range of several */
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
    res_changes changes; /* AT is a night; what they say about the newest is about LAST */
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
    /* Whether the series of EXPERIMENT is wanted; NULL: all are. Called once for each record, in
     * the thread of res_history_make. The answer depends on EXPERIMENT alone. */
    bool (*wanted)(void *context, const res_experiment *experiment);
    void *context;
} res_history_options;
res_history_options res_history_defaults(void);

/* Makes the series of INDEX, which must outlive HISTORY. A runtime given as a path counts by the
 * file's name, since nightly builds lie in folders of their own. Release HISTORY with
 * res_history_free. BN_OUT_OF_MEMORY, and what res_changes_find says. */
BN_MUST_USE bn_code res_history_make(const res_index *index, const res_history_options *options,
                                     res_history *history, bn_status *st);
void res_history_free(res_history *history);

/* ---- one night among the others (nights.c) ---------------------------------- */

/* What ran on a runtime. RUNTIME is the last part of its path, or its name: nightly builds lie in
 * folders of their own. SETTINGS are those of the experiment; NULL: any. */
typedef struct res_runs_of {
    const char *runtime, *settings;
} res_runs_of;
bool res_ran_on(const res_experiment *experiment, const res_runs_of *runs);

/* Finds the last good night of RUNS before TONIGHT. Its good records' summaries go into NIGHT,
 * which has room for INDEX->count, in the order of INDEX. Returns how many there are. The newest
 * good record of INDEX that is not TONIGHT's, but of an experiment that RUNS has tonight, says
 * which night it is: the night is the good records of that build that are at most HOURS older. */
size_t res_last_good_night(const res_index *index, const res_collection *tonight,
                           const res_runs_of *runs, double hours, const res_summary **night);
/* Whether a later record of ALL has the identity of record I: a failure that was tried again
 * stays beside the new record. */
bool res_tried_again(const res_collection *all, size_t i);

/* Whether a good record of RECORDS belongs to SERIES. */
bool res_timeline_has(const res_timeline *series, const res_collection *records);
/* Sets *KNOWN to whether SERIES has the change that begins STRETCH even without its newest night,
 * give or take the nights by which a place may be off. BN_OUT_OF_MEMORY, and what res_changes_find
 * says. */
BN_MUST_USE bn_code res_change_was_known(const res_timeline *series, const res_stretch *stretch,
                                         const res_change_options *options, bool *known,
                                         bn_status *st);

#endif
