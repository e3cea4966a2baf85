/*
 * axes.h - an experiment: its axes, and what derives from their table (axes.def).
 */
#ifndef BENCH_RESULTS_AXES_H
#define BENCH_RESULTS_AXES_H

#include <limits.h>

#include "runtime/base/base.h"

#define RES_TEXT       64
#define RES_MOST_VALUE 1000000 /* of most axes that are numbers */

/* The request: with the runtime's sha256 it is the experiment's identity. */
typedef struct res_experiment {
#define AXIS(name, member, declaration, ...) declaration;
#include "results/records/axes.def"
} res_experiment;

typedef enum res_axis_id {
#define AXIS(name, ...) RES_AXIS_##name,
#include "results/records/axes.def"
    RES_AXIS_COUNT
} res_axis_id;

/* ---- fields: members of a struct, as files and JSON keep them ------------------------ */

typedef enum res_kind {
    RES_KIND_TEXT,   /* char[SIZE] */
    RES_KIND_INT,    /* int */
    RES_KIND_I64,    /* int64_t */
    RES_KIND_AMOUNT, /* int64_t, below zero when unknown */
    RES_KIND_U64,    /* uint64_t */
    RES_KIND_REAL,   /* double, NaN when unknown */
    RES_KIND_BOOL,   /* bool */
    RES_KIND_SOURCE  /* bn_device_time_source, kept by name */
} res_kind;

/* One member of a struct, under the name it has in files and in JSON. */
typedef struct res_field {
    const char *name;
    res_kind kind;
    size_t offset, size;
    bool later; /* files made before it was thought of lack it: it then stays as it is */
} res_field;

/* The axes as fields; ends with a row whose NAME is NULL. */
extern const res_field res_experiment_fields[];

/* ---- the table ------------------------------------------------------------------------- */

/* How two experiments relate that differ in an axis of this role only; also the order in which
 * tables sort by them. */
typedef enum res_role {
    RES_ROLE_BLOCK, /* of different blocks of a table */
    RES_ROLE_CELL,  /* different things that are measured */
    RES_ROLE_SETUP, /* the same thing under different conditions: no comparison of ways */
    RES_ROLE_WAY,   /* two strategies for one thing: tables set them side by side */
    RES_ROLE_SEED   /* alike */
} res_role;

typedef struct res_axis {
    res_field field;
    res_axis_id id;
    res_role role;
    bool network; /* decides over the model's parameters or layers */
    bool shard;   /* part of the key that deals experiments out to shards */
    /* Values. Names stand with commas between; where there are none, those of an axis of
     * text are open or another room's. */
    const char *names;
    const char *ranks;  /* the order of values in tables; NULL: by number or by letters */
    const char *usual;  /* where nothing is said */
    double least, most; /* of numbers */
    const char *zero;   /* a word for 0 on the command line; NULL: there is none */
    /* On the command line, and in suites. */
    const char *option, *argument, *help; /* NULL: it is no option */
    bool all;                             /* the word "all" stands for each value */
    bool single;                          /* takes one value, not a list */
    const char *suite;                    /* the member of a suite's file; NULL: none */
    int nest; /* lists run all combinations; the highest number changes fastest */
    /* Words: printf formats of the value, NULL where it is not said. A value of 0 or "" is
     * never said, the usual one only where it is ALWAYS or has words of its own. "(s)" is
     * an s, but behind 1. */
    const char *words;       /* in the set-up of a table's row */
    const char *usual_words; /* there, for the usual value */
    const char *title;       /* in the title of a job */
    bool always;
    bool joined; /* belongs to the axis before it: one place, no comma between */
    bool detail; /* too much for a short title */
} res_axis;

extern const res_axis res_axes[RES_AXIS_COUNT];
/* Word INDEX of LIST, words with commas between, into WORD; false after the last. */
bool res_axis_word(const char *list, size_t index, char word[RES_TEXT]);
/* Whether LIST has WORD. */
bool res_axis_has_word(const char *list, const char *word);

/* ---- values ------------------------------------------------------------------------------ */

/* E's value of an axis of text. */
const char *res_axis_text(const res_axis *axis, const res_experiment *e);
/* E's value of an axis of numbers; a seed beyond 63 bits wraps. */
int64_t res_axis_number(const res_axis *axis, const res_experiment *e);
/* Sets it: WORD of an axis of text, cut to what a record can hold, NUMBER of another. */
void res_axis_set_value(const res_axis *axis, const char *word, int64_t number, res_experiment *e);
/* Appends E's value, a number in decimal digits. */
void res_axis_put(const res_axis *axis, const res_experiment *e, bn_text *out);
bool res_axis_is_usual(const res_axis *axis, const res_experiment *e);
/* All axes at their usual values. */
void res_experiment_usual(res_experiment *e);
/* All zero, but later axes at their usual values: for readers of what may be older than they. */
void res_experiment_old(res_experiment *e);
/* Whether E says nothing that could not be said before the later axes. */
bool res_experiment_is_old(const res_experiment *e);
/* Whether A and B are of one network: models with the same parameters and layers, but for the
 * sizes of images. */
bool res_same_network(const res_experiment *a, const res_experiment *b);
/* Below, above or 0, by the values of one axis. */
int res_axis_order(const res_axis *axis, const res_experiment *a, const res_experiment *b);
/* Below, above or 0, by blocks, cells, set-up and ways: the order of tables. */
int res_experiment_order(const res_experiment *a, const res_experiment *b);

/* ---- words --------------------------------------------------------------------------------- */

/* Axes as bits: 1 << id. */
typedef uint32_t res_axis_set;
#define RES_AXIS_BIT(id) (UINT32_C(1) << (id))

/* All axes of the set-up. A joined axis has no bit of its own. */
res_axis_set res_setup_all(void);
/* The axes that a short title of E names. */
res_axis_set res_setup_brief(const res_experiment *e);
/* The axes in which A and B differ. */
res_axis_set res_setup_difference(const res_experiment *a, const res_experiment *b);
/* The axes of SET as text: "small, batch 4, image 64, f32, nhwc, serial". */
void res_setup_text(const res_experiment *e, res_axis_set set, bn_text *out);
/* Whether bench itself traced and dispatched E's steps, and no framework: it is the front end, or
 * the record does not say which. */
bool res_is_ours(const res_experiment *e);
/* Whether A and B run their steps alike: each axis that is a way is the same. */
bool res_is_one_way(const res_experiment *a, const res_experiment *b);
/* Whether each execution of E's steps is awaited before the next one (--dispatch awaited). */
bool res_is_awaited(const res_experiment *e);
/* Whether the host traces while the device works, within a step of E or between steps: then tracing
 * may be hidden. */
bool res_hides_tracing(const res_experiment *e);
/* Whether one program runs several of E's steps (--steps-per-execution). */
bool res_is_looped(const res_experiment *e);
/* How E's steps run, in words: "capture", "capture awaited", of windows "fused 512", of several steps
 * a program "capture 16 steps", and of another front end than bench "jax capture". */
#define RES_WAY_BYTES (RES_TEXT + 64)
typedef struct res_way_words {
    char text[RES_WAY_BYTES];
} res_way_words;
res_way_words res_way_of(const res_experiment *e);
/* "resnet18 train capture, 2 graphs", "resnet18 train jax capture" */
void res_experiment_name(const res_experiment *e, bn_text *out);
/* "resnet18.small train capture graphs 2 batch 4 f32 on cpu": unique to it. */
void res_experiment_title(const res_experiment *e, bn_text *out);

#endif
