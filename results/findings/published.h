/*
 * published.h - speedups of captured over lazy training steps that others published, and those that
 * a store has of the same models. Prefix res_.
 */
#ifndef BENCH_RESULTS_FINDINGS_PUBLISHED_H
#define BENCH_RESULTS_FINDINGS_PUBLISHED_H

#include "results/findings/findings.h"

/* ---- what was published ---------------------------------------------------------------------- */

/* Wall time of a lazy step over that of a captured one; columns in order of publication. */
#define RES_PUBLISHED_COLUMNS 3
typedef struct res_published {
    const char *published, *model; /* what the publication calls it, and what we do */
    int batch, image, seq;         /* 0: the model takes no images, or no tokens */
    double speedup[RES_PUBLISHED_COLUMNS];
} res_published;
#define RES_PUBLISHED_MODELS 10
extern const res_published res_published_models[RES_PUBLISHED_MODELS];
extern const double res_published_means[RES_PUBLISHED_COLUMNS];
/* Graphs of a captured step, a column each. */
extern const int res_published_graphs[RES_PUBLISHED_COLUMNS];
extern const char res_published_source[];
#define RES_PUBLISHED_DTYPE  "f32"
#define RES_PUBLISHED_DEVICE "TPU v4"

/* ---- rows of a store next to it ---------------------------------------------------------------
 */

/* A captured training step of a published model, in full. */
typedef struct res_published_row {
    const res_speedup_row *row; /* borrowed */
    const res_published *published;
    res_pool_ratio ratio; /* lazy over ROW, both of the same front end; owned */
} res_published_row;

/* Over the rows of one runtime and way. */
typedef struct res_published_mean {
    const res_published_row *example;        /* the first of them */
    size_t rows;                             /* that have a ratio */
    size_t differing;                        /* of them, those that are not what was published */
    res_ratio_mean mean;
    double published[RES_PUBLISHED_COLUMNS]; /* the same over the published models of these rows */
} res_published_mean;

typedef struct res_published_rows {
    res_published_row *list;
    size_t count;
    res_published_mean *means; /* in the order of their first rows */
    size_t mean_count;
    size_t queued; /* rows left out: captured in several graphs that were not awaited one by one */
} res_published_rows;

/* The axes in which MATCH's row is not what was published, which *PUBLISHED gets; *DEVICE is the
 * kind of its device (borrowed), or NULL: the published one, or it is unknown. */
res_axis_set res_published_difference(const res_published_row *match, res_experiment *published,
                                      const char **device);

/* Of the rows of SPEEDUP, which must outlive MATCHES, whose front end has a lazy step in the same
 * cell, of the same build and under like conditions. The published executions were awaited one by
 * one, so bench's own steps of several graphs count only with --dispatch awaited. */
void res_published_rows_make(const res_speedup *speedup, res_published_rows *matches);
void res_published_rows_free(res_published_rows *matches);

#endif
