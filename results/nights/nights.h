/*
 * nights.h - records over time: series and their change points, one night among the others, and
 * what it says of a runtime's build. Prefix res_.
 */
#ifndef BENCH_RESULTS_NIGHTS_H
#define BENCH_RESULTS_NIGHTS_H

#include "results/findings/findings.h"

/* ---- history (history.c) -------------------------------------------------- */

typedef enum res_metric {
    RES_METRIC_WALL,     /* median step */
    RES_METRIC_DEVICE,   /* of a step */
    RES_METRIC_OVERHEAD, /* of an execution; may be at or below zero */
    RES_METRIC_TRACE,    /* of a step: trace, hash, lookup */
    RES_METRIC_COMPILE,  /* of all graphs */
    RES_METRIC_COUNT
} res_metric;
const char *res_metric_name(res_metric metric); /* "wall", ... */
#define RES_METRIC_NAMES "wall, device, overhead, trace, compile"
BN_MUST_USE bn_code res_metric_parse(const char *name, res_metric *metric, bn_status *st);
/* METRIC of FIGURES. */
res_over res_metric_over(const res_figures *figures, res_metric metric);

/* One point of a series: the records of one build within a span of hours. A build is a file of a
 * plugin under one label; in a series over several settings it is of one of them. */
typedef struct res_night {
    double time_s;    /* since 1970, UTC: of its first record */
    double value;     /* ns: what res_figures have of its processes; NaN: none */
    double low, high; /* its 95 % interval; NaN below RES_LEAST_PROCESSES processes */
    size_t processes; /* that VALUE is of */
    size_t left_out;  /* good records of other builds or conditions than the latest: see res_pool */
    /* Runs that VALUE pools: after each of them the series could be looked at, and a run added
     * since the one before had told nothing makes an error likelier. A run that was killed and
     * continued, and further pairs of one night, are one. 0: no good record. */
    size_t looks;
    const char *source; /* of its device time; static */
    res_device_remark remark;
    bool refused;   /* tables refuse its value, which contradicts the rest: NaN */
    size_t failed;  /* records that failed */
    bn_code status; /* BN_OK, or the class of the last failure where all failed */
    const res_origin *origin;
    const char *settings; /* of its experiment */
    /* Of a framework's experiment, which versions, script and variables: res_mark_front_end. */
    char front_end[RES_MARK];
} res_night;
/* Whether NIGHT, which has a value, is significantly above zero: only an overhead may not be. */
bool res_night_significant(const res_night *night);

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
    bool build_known;     /* on both sides, so that the next line means something */
    bool other_build;     /* the plugin's sha256 differs from the night BEFORE */
    bool other_settings;  /* so do the runtime's settings */
    bool other_front_end; /* so does the version of the framework, or its script */
    bool other_host;      /* so does the machine */
    bool other_source;    /* so does the source of the device time, where that matters */
} res_stretch;

/* A cell over time: one experiment, whatever its seed, its runtime's build and, where no night has
 * two of them, its runtime's settings: changed settings are then a change within the series. */
typedef struct res_timeline {
    const res_experiment *experiment; /* of its first record */
    bool simulated;
    bool any_settings; /* false: nights have several settings, and each has a series */
    bool of_device;    /* values depend on the source of the device time */
    size_t insignificant; /* nights whose values are indistinguishable from zero:
                             res_night_significant */
    bool no_ratios;    /* a night is at or below zero: changes are ratios, and are not looked for */
    res_night *nights;
    size_t count;
    res_stretch *stretches; /* at least one */
    size_t stretch_count;
    res_changes changes; /* AT is a night; what they say about the latest is about LAST */
    size_t last;         /* the latest night with a value; COUNT: none has one */
} res_timeline;

/* Finds the changes of SERIES, whose nights are filled in, and divides it there: the members from
 * STRETCHES on, LAST, INSIGNIFICANT and NO_RATIOS. May be repeated. Fails as res_changes_find does.
 * Release SERIES with res_timeline_free. */
BN_MUST_USE bn_code res_timeline_divide(res_timeline *series, const res_change_options *options,
                                        bn_status *st);
void res_timeline_free(res_timeline *series);

typedef struct res_history {
    res_metric metric;
    res_timeline *series; /* by the members of the experiment, in the order of axes.def */
    size_t count;
    size_t timeless;       /* records whose ids have no time: left out */
    res_misdates misdates; /* records whose dates are wrong: left out, too */
} res_history;

typedef struct res_history_options {
    res_metric metric;
    double night_hours; /* records of one build within them are one night, 12 */
    double now_s;       /* for res_misdated; the default is infinite */
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

/* A choice of the records of a runtime. RUNTIME is the last part of its path, or its name: nightly
 * builds lie in folders of their own. SETTINGS are those of the experiment, LABEL is that of the
 * build; NULL: any. OWN: on frameworks' own plugins (res_has_own_plugin); else on none of them. */
typedef struct res_runs_of {
    const char *runtime, *settings, *label;
    bool own;
} res_runs_of;
/* Whether EXPERIMENT is of RUNS, whose label is not looked at. */
bool res_ran_on(const res_experiment *experiment, const res_runs_of *runs);

/* A night whose last good night is asked for. */
typedef struct res_night_of {
    const res_experiment *const *asked; /* its experiments */
    size_t asked_count;
    const res_collection *records; /* that it has already, which are not before it; NULL: none */
    double hours;                  /* that a night may take */
    double now_s;                  /* for res_misdated */
} res_night_of;

/* Finds the last good night of RUNS before TONIGHT. Its good records' summaries go into NIGHT,
 * which has room for INDEX->count, in the order of their ids. Returns how many there are. The
 * record of INDEX with the last id that is good, not TONIGHT's, has a right date and is of an
 * experiment that TONIGHT asks for says which night it is: the night is the good records of that
 * build, with those settings, that are at most so many hours older. Ids without a time are of no
 * night, and copies of a record count once. */
size_t res_last_good_night(const res_index *index, const res_night_of *tonight,
                           const res_runs_of *runs, const res_summary **night);
/* Counts the records of INDEX whose dates are wrong. */
res_misdates res_misdates_of(const res_index *index, double now_s);
/* Lists the digests of the latest MOST builds, by ids, that INDEX has good records of, for each
 * runtime (by the last part of its path). Frameworks' own plugins are no builds of a runtime
 * (res_has_own_plugin). BUILDS has room for INDEX->count; returns how many there are. */
size_t res_latest_builds(const res_index *index, size_t most, double now_s,
                         const res_origin **builds);
/* Whether a later record of ALL, by its id, has the identity of record I: a failure that was tried
 * again stays next to the new record. */
bool res_tried_again(const res_collection *all, size_t i);

/* Whether RECORD, if it is good, belongs to SERIES. */
bool res_timeline_takes(const res_timeline *series, const res_record *record);
/* Whether a good record of RECORDS belongs to SERIES. */
bool res_timeline_has(const res_timeline *series, const res_collection *records);

/* ---- what tonight says (tonight.c) ---------------------------------------- */

/* The baseline of tonight's build of a runtime. */
typedef enum res_basis {
    RES_BASIS_NOTHING, /* there is no good night before */
    RES_BASIS_SAME,    /* it is the build of the last good night: what differs is the machine */
    RES_BASIS_CONTROL, /* the build of that night, which was measured tonight as well */
    RES_BASIS_RECORDS  /* the records of that night: the night is part of what differs */
} res_basis;
const char *res_basis_name(res_basis basis); /* "nothing", "same-build", "control", "records" */

/* The good records of one runtime. */
typedef struct res_tonight {
    const res_collection *records;
    const res_collection *control; /* of the build of the last good night, measured tonight */
    const res_collection *before;  /* of that night */
    bool same;                     /* file and settings are those of that night */
    const res_history *history;    /* of the store, tonight included; wall time */
    double threshold;              /* as of res_versus_begin */
    bool
        interim; /* on CONTROL what seems slower gets further pairs: see res_tonight_next_interim */
} res_tonight;

/* A slowdown of this share should be seen where no threshold says otherwise. */
#define RES_NIGHT_MDE 0.05

typedef struct res_tonight_verdict {
    res_basis basis;
    /* Filled on a control or on records, where the two sides share experiments. Its verdicts are
     * final: nothing is slower or faster by records of another night. */
    res_versus versus;
    bool judged;
    size_t cells;      /* experiments of tonight */
    size_t fresh;      /* of these, the ones that there is nothing to compare with */
    size_t slower;     /* by more than the threshold */
    size_t inconclusive; /* where a slowdown of the threshold may be hidden, FRESH included */
    size_t suspects; /* of the inconclusive ones, on records: out of line with the nights before */
    size_t
        candidates; /* on a control, with interim analyses: those that further pairs may decide */
    double mde;     /* what would have been seen in 80 of 100 in all others; NaN: there are none */
    double hidden;  /* what would have been seen in all of the inconclusive; may be infinite */
    /* Steps of the build of the last good night, tonight over then, geometric mean of so many
     * experiments; NaN: it was not measured tonight. */
    double machine;
    size_t machine_cells;
} res_tonight_verdict;

/*
 * Judges one runtime tonight.
 *
 * On a control, both builds ran tonight, process after process in an order of chance: the night is
 * the same for both and cancels in each pair, so res_versus_judge's tests are the verdict.
 *
 * On records, d = log(tonight / then) has the variance between nights twice, 2 s^2: s is that of
 * res_latest_nights_of over the nights before. One night cannot separate a build from a bad
 * night, so a cell is equivalent or undecided: its interval is d +- t s sqrt(2), and what is
 * mde is the change that two nights would show (res_series_tonight). Without s it is undecided, and
 * no change is detectable.
 *
 * BN_OUT_OF_MEMORY. VERDICT ends with res_tonight_free, also after a failure; records are borrowed
 * as long as it lives.
 */
BN_MUST_USE bn_code res_tonight_judge(const res_tonight *tonight, res_tonight_verdict *verdict,
                                      bn_status *st);
void res_tonight_free(res_tonight_verdict *verdict);

/* ---- before a night (plan.c) ------------------------------------------------ */

/* The claims that a night can make of a runtime by itself. */
typedef enum res_night_claims {
    RES_CLAIMS_NO_BASELINE,   /* nothing: there is no good night before */
    RES_CLAIMS_SAME_BUILD,    /* nothing: the build is that of the last good night */
    RES_CLAIMS_PAIRS,         /* differences, by the suite's repetitions beside a control */
    RES_CLAIMS_FURTHER_PAIRS, /* the same, but only where further pairs are run */
    RES_CLAIMS_FEW_PAIRS,     /* nothing: more repetitions are needed */
    RES_CLAIMS_TWO_NIGHTS,    /* nothing, without a control; two nights in a row can */
    RES_CLAIMS_FEW_NIGHTS     /* nothing, and so few nights before do not show how nights vary */
} res_night_claims;
const char *res_night_claims_name(res_night_claims claims); /* "pairs", "two-nights", ... */

/* One runtime, before its night. */
typedef struct res_night_ahead {
    const res_collection *before; /* good records of its last good night; borrowed */
    const res_history *history;   /* of wall time, without this night; NULL: unknown */
    bool same, control;           /* the build is that of BEFORE; else: it is measured, too */
    size_t cells, repetitions;    /* experiments, and the fewest repetitions of one */
    bool interim;                 /* what seems slower gets further pairs */
    double threshold;             /* as of res_versus_begin */
} res_night_ahead;

typedef struct res_night_plan {
    res_night_claims claims;
    size_t cells;
    size_t pairs, needed, most; /* on a control: repetitions; that any claim needs; with further
                                   ones */
    /* The slowdown of wall time, 0.03 for 3 %, that would be found in 80 of 100 such nights (or
     * pairs of nights) in each experiment whose noise is known; NaN: of none. On a control the
     * noise is that of the processes of the last good night, else that of nights. */
    double detectable, least; /* in the noisiest of them, and in the quietest */
    size_t known;             /* such experiments */
} res_night_plan;
res_night_plan res_night_plan_make(const res_night_ahead *ahead);

/* ---- further pairs (further.c) --------------------------------------------- */

/*
 * A suite's few pairs can claim nothing. So a night on a control is judged by the interim analyses
 * of RES_NIGHT_PLAN: once the suite has run, the cells that seem slower, and are not significantly,
 * get further pairs up to the next analysis, and the night is judged again, up to the last one. The
 * others end. They claim nothing, so that this choice, which the values make, adds no error.
 *
 * A cell seems slower where a measure is slower by half of res_night_wanted: of those that are
 * slower by all of it, more than half do.
 */

#define RES_NIGHT_PLAN RES_PLAN_TWELVE

/* Whether further pairs may find EXPERIMENT slower: it is a cell of VERDICT, and seems slower. */
bool res_tonight_candidate(const res_tonight_verdict *verdict, const res_experiment *experiment);
/* The next interim analysis after PAIRS pairs; 0: there is none, or nothing seems slower. */
size_t res_tonight_next_interim(const res_tonight_verdict *verdict, size_t pairs);

/* ---- series (tonight.c) ------------------------------------------------------ */

/* The cause of a change of a series. */
typedef enum res_drift_cause {
    RES_DRIFT_SAME,    /* the same build, settings and framework: the machine */
    RES_DRIFT_MACHINE, /* another build, but the build before, measured in those nights as their
                          control, was as slow: the machine */
    RES_DRIFT_BUILD,   /* another build, and its control did not move along */
    RES_DRIFT_OTHER,   /* another build, settings or framework, and no control says more */
    /* Of what was recorded of another program, which may have changed, too: */
    RES_DRIFT_RECORDED,     /* another build or settings */
    RES_DRIFT_RECORDED_SAME /* the same */
} res_drift_cause;
const char *res_drift_cause_name(res_drift_cause cause); /* "the machine", ... */
/* The identifier of CAUSE in JSON, which stays where the words of its name change. */
const char *res_drift_cause_id(res_drift_cause cause); /* "machine", ... */
/* Whether a change for the worse that goes with CAUSE counts as found slower: something changed
 * in addition to the machine, and to a program that was recorded. */
bool res_drift_counts(res_drift_cause cause);

/* A change of a series that a night is the first to show. */
typedef struct res_drift {
    bool found;
    bool two;           /* by the latest two nights; else as a change point */
    res_interval ratio; /* 95 % */
    res_drift_cause cause;
} res_drift;

typedef struct res_drift_options {
    res_change_options change;   /* that the history was made with */
    const res_history *controls; /* of the controls of all nights; NULL: there are none */
    double night_hours;
    size_t family; /* series that are looked at tonight */
} res_drift_options;

/* Probability of any wrong claim of a night by its series, where builds differ. */
#define RES_DRIFT_LEVEL 0.01

/*
 * Says what the latest night of SERIES is the first to show: a change point, or two nights in a row
 * out of line with those since the last change: res_latest_nights_of for two, p at most
 * RES_DRIFT_LEVEL over the family (Bonferroni), each night out of line by itself. Places of changes
 * may be off by RES_LEAST_NIGHTS - 1 nights, and so many are looked at for a cause.
 * BN_OUT_OF_MEMORY, and what res_changes_find says.
 */
BN_MUST_USE bn_code res_series_tonight(const res_timeline *series, const res_drift_options *options,
                                       res_drift *drift, bn_status *st);

#endif
