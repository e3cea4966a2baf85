/*
 * site.h - a folder of pages about a store: a static site, which any web server serves and any
 * browser opens from the disk. Prefix site_.
 *
 * All comes from the store's index, but for the records that the latest tables are made of and a
 * few more whose details are shown. The same records give the same bytes, whether the site was made
 * at once or grew night by night. Nothing here prints.
 */
#ifndef BENCH_PLOTS_SITE_H
#define BENCH_PLOTS_SITE_H

#include "plots/plot.h"

typedef struct site_options {
    const char *store;         /* whose index it is */
    const char *folder;        /* of the site: new, empty, or a site that is renewed */
    const char *title;         /* of all pages */
    double night_hours;        /* records within so many hours of the first are one night */
    double now_s;              /* for res_misdated */
    res_change_options change; /* how change points are looked for */
    /* Ids of records whose details are kept for good, besides those that SITE chooses. */
    const char *const *asked;
    size_t asked_count;
    /* The verdict on the latest night, kept with it: a sentence, and lines. NULL: none. */
    const char *headline, *words;
    size_t failed, missing; /* experiments of that night; of the last good one, not of that night */
    size_t looks;           /* the most runs that one of its values pools */
    const json_t *plans; /* what each runtime's night could claim, as known before; NULL: unknown */
    bool conclusive;        /* false: the verdict is inconclusive */
} site_options;

typedef struct site_made {
    size_t records, nights, builds;     /* that it shows */
    size_t written, unchanged, removed; /* files */
    size_t opened;                      /* records that were read from their files */
    /* Files of the store that are not read: those of the index, and those that it holds for good
     * records. No record is in it; the caller frees it. */
    res_collection lost;
    bool no_pictures;                   /* there is no gnuplot */
} site_made;

/*
 * Makes or renews the site of INDEX, the index of the store. Files are replaced one by one, each as
 * a whole, what names others last; those that are as they should be are not touched. BN_INVALID for
 * a folder that holds anything but a site, BN_NOT_SUPPORTED for one of a later bench, BN_NOT_FOUND
 * for an id that was asked for, BN_IO, BN_OUT_OF_MEMORY, and the codes of plot_render but for a
 * gnuplot that is missing.
 */
BN_MUST_USE bn_code site_publish(const site_options *options, const res_index *index,
                                 site_made *made, bn_status *st);

#endif
