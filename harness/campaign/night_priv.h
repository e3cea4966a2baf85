/*
 * night_priv.h - bench nightly: a runtime on two nights (night_sides.c), its verdicts in words
 * (night_words.c), steps of other programs (night_recorded.c), files and experiments that tonight
 * lacks (night_lost.c, night_missing.c), what it adds to the calibration (night_drift.c), what it
 * tells programs (night_notes.c, night_json.c), the command (nightly.c).
 */
#ifndef BENCH_HARNESS_NIGHT_H
#define BENCH_HARNESS_NIGHT_H

#include "harness/campaign/night_folder_priv.h"
#include "harness/campaign/suites_priv.h"
#include "results/nights/nights.h"

/* Why a new build has no control. */
typedef enum night_lack {
    NIGHT_LACK_NOTHING, /* it has one, or needs none */
    NIGHT_LACK_OWN,     /* the plugin is the framework's own */
    NIGHT_LACK_KEEPING, /* --keep-builds 0 */
    NIGHT_LACK_OTHER,   /* the same file with other settings */
    NIGHT_LACK_GONE,    /* the store no longer has the build */
    NIGHT_LACK_CHANGED, /* its contents have changed */
    NIGHT_LACK_UNSAFE,  /* others than this user could have put it there */
    NIGHT_LACK_UNUSED,  /* it cannot be measured: the name of its file is too long */
    NIGHT_LACK_FAILED   /* it failed tonight */
} night_lack;

/* What a night may remark. The sentences may change, these do not (JSON: noted). */
typedef enum night_note {
    NIGHT_NOTE_NOT_COMPARED,   /* a record of the last good night that could not be read */
    NIGHT_NOTE_NOT_JUDGED,     /* one of a recorded step */
    NIGHT_NOTE_BUILD_NOT_KEPT, /* for the next night */
    NIGHT_NOTE_BUILDS_STAY,    /* older ones that may be the latest, as far as bench knows */
    NIGHT_NOTE_COUNT
} night_note;

/* A runtime tonight and on its last good night. It is known by its file's name, since each build
 * may have a folder of its own; where tonight has several settings or labels of it, by these too.
 */
typedef struct night_side {
    char runtime[256], settings[256], label[RES_TEXT];
    bool by_settings, by_label;
    bool own; /* its plugins are frameworks' own, res_has_own_plugin: no builds of the runtime */
    char sha256[BN_SHA256_TEXT]; /* of the file tonight; "": unknown */
    size_t asked;                /* experiments */
    size_t reached; /* repetitions that all of them have had; the suite's own at first */
    size_t next;    /* repetitions for those that seem slower; 0: they are done */
    bool interim;   /* there is room for more repetitions than the suite's own: res_tonight */
    bool same;      /* file and settings are those of the last good night */
    char before_sha256[BN_SHA256_TEXT], before_settings[256];
    double before_s;   /* the date of that night; NaN: there is none */
    char control[256]; /* its build, which is measured tonight, too; "": it is not */
    char why[1200];    /* of a new build without a control */
    night_lack lack;   /* the same as an identifier */
    bool lost;         /* records could not be read: BEFORE may be among them */
    res_night_plan plan;                   /* what tonight can claim */
    res_collection before, tonight, again; /* good records: BEFORE owns its own; AGAIN: controls */
    res_tonight_verdict verdict;
} night_side;

typedef struct nightly {
    const night_options *options;
    night_folder place;
    res_index earlier; /* before the night, while the sides are made */
    night_side *sides;
    size_t side_count;
    size_t asked;                       /* experiments, with those recorded of other programs */
    char (*identities)[BN_SHA256_TEXT]; /* of the runs of all passes of the suite */
    size_t identity_count, identity_capacity;
    bool stopped; /* there can be no further pairs */
    res_collection tonight, controls;
    res_index index, control_index; /* after it */
    const res_summary **recorded;   /* of INDEX: recorded tonight of other programs */
    size_t recorded_count, recorded_experiments;
    res_history history, control_history;
    res_misdates misdates;
    double now_s;
    size_t failed;             /* records, and files of tonight that cannot be read */
    size_t failed_experiments; /* that these records are of: night_put_failures */
    size_t missing;            /* experiments of last good nights that tonight has no record of */
    size_t unlisted, unread;   /* see night_lost */
    size_t changed, recovered; /* series that changed for the worse, for the better */
    size_t looks;              /* the most runs that one of tonight's nights in the history pools */
    bn_text words;             /* the report */
    bool noted[NIGHT_NOTE_COUNT]; /* in WORDS */
    bn_text headline;
    /* Arrays for night.json: failed experiments, those that the suite lacks, changes of series, and
     * passes of the suite. */
    json_t *failures, *lacking, *changes, *passes;
} nightly;

/* ---- sides (night_sides.c) ------------------------------------------------------------- */

/* Makes the sides of SUITE, reads the records of their last good nights, keeps tonight's builds,
 * and gives the experiments their controls. */
BN_MUST_USE bn_code night_sides_make(nightly *n, suite_spec *suite, bn_status *st);
/* Reports, before measuring, what the night can claim: which slowdown, or that it cannot tell. */
void night_sides_announce(const nightly *n);
/* The plans of all sides, as JSON (new reference). */
json_t *night_plans_json(const nightly *n);
/* Assigns the good records of tonight and of the controls to the sides. */
void night_sides_assign(nightly *n);
/* Whether RECORD, of tonight or of a night before, is of SIDE. */
bool night_is_of_side(const night_side *side, const res_record *record);
/* Judges each side. May be repeated after night_sides_assign. */
BN_MUST_USE bn_code night_sides_judge(nightly *n, bn_status *st);
/* Forgets verdicts and assigned records, before new ones. */
void night_sides_forget(nightly *n);
/* Plans further pairs for experiments that seem slower, and reports them; false where there are
 * none.
 */
bool night_sides_plan(nightly *n);
/* Reduces SUITE to the experiments of that plan, with their controls. BN_CHANGED where a runtime's
 * file was replaced. */
BN_MUST_USE bn_code night_sides_again(nightly *n, suite_spec *suite, bn_status *st);
void night_sides_free(nightly *n);

/* ---- other programs (night_recorded.c) --------------------------------------------------- */

/* Finds in the index after the night the good records of mode "recorded" whose steps ran in this
 * night, or in the --night-hours before it began. Their experiments count among those asked for. */
void night_recorded_find(nightly *n);
/* Adds these records to tonight's, once the sides were judged, and reports their experiments.
 * BN_OUT_OF_MEMORY: a record could not be read for want of memory. */
BN_MUST_USE bn_code night_recorded_add(nightly *n, bn_status *st);

/* ---- unread files (night_lost.c) ------------------------------------------------------------ */

/* Files that may be records of any night, and were not read: the most of one listing of the store
 * (UNLISTED), and those that could not be read later (UNREAD). They may be of the last good night,
 * or of the latest builds: a night that has any is not the first, and drops no build. */
size_t night_lost(const nightly *n);
/* Takes the COUNT damaged files of LIST into account. */
void night_count_lost(nightly *n, const res_damaged *list, size_t count);

/* ---- missing experiments (night_missing.c) --------------------------------------------------- */

/* Counts the experiments of last good nights that tonight has no record of, unless --filter or
 * --exclude leave them out, and appends a line on them. */
void night_put_missing(nightly *n);

/* ---- words (night_words.c) --------------------------------------------------------------- */

/* The verdicts of all sides together. */
typedef struct night_sum {
    size_t cells, slower, inconclusive, no_baseline, suspects;
    double detectable, hidden; /* mde and hidden of res_tonight_verdict */
    bool first;             /* no side has a night before */
    bool same;              /* all have the build of the last good night */
    bool records;           /* some are compared with records: two nights have to show it */
} night_sum;
night_sum night_add_up(const nightly *n);
/* "sim with preset=h100" */
void night_side_name(const night_side *side, bn_text *out);
/* Counts tonight's failed records, and appends a line for each experiment that failed, itself or on
 * the build of the last good night. */
void night_put_failures(nightly *n);
/* Appends a line on SIDE. */
void night_put_side(const night_side *side, bn_text *out);
/* Appends the headline of a night: failed, found slower, nothing found, or inconclusive. */
void night_put_headline(const nightly *n, bn_text *out);
/* What the headline says. */
typedef enum night_outcome {
    NIGHT_SLOWER,         /* a slowdown is found */
    NIGHT_NO_EXPERIMENTS, /* inconclusive: none succeeded */
    NIGHT_FIRST,          /* inconclusive: there is no good night before, */
    NIGHT_NONE_READ,      /* or none that could be read, */
    NIGHT_NONE_DATED,     /* or none with a right date */
    NIGHT_UNDECIDED,      /* inconclusive for some experiments */
    NIGHT_SAME,           /* not slower: the build is that of the last good night */
    NIGHT_EXCLUDED        /* not slower: a slowdown would have been detected */
} night_outcome;
night_outcome night_outcome_of(const nightly *n);
const char *night_outcome_name(night_outcome outcome); /* "slower", "first-night", ... */
/* The exit code that goes with it. */
int night_exit(const nightly *n);
/* Whether the night shows or excludes a slowdown, also where something failed. */
bool night_conclusive(const nightly *n);

/* ---- night.json (night_notes.c, night_json.c) ------------------------------------------------ */

/* Appends a remark to the words of N: NOTE's sentence, a line. */
void night_note_add(nightly *n, night_note note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes the empty lists for night.json. */
void night_json_begin(nightly *n);
void night_json_pass(nightly *n, const suite_counts *counts);
void night_json_failed(nightly *n, const res_record *record, bool control);
void night_json_change(nightly *n, const res_timeline *series, const res_drift *drift);
/* Writes what the night says, as JSON, next to its page. */
BN_MUST_USE bn_code night_json_write(const nightly *n, bn_status *st);
void night_json_end(nightly *n);

/* Adds the ratios of unlike modes of each of tonight's sides to the calibration of the store, a run
 * each (res_calibration_add). What cannot be added is reported on stderr, and is no failure of the
 * night. */
void night_drift_add(const nightly *n);

#endif
