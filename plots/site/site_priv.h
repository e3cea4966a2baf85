/*
 * site_priv.h - shared by the files of the site: data files as scripts (put.c), the folder
 * (folder.c), records sorted into nights, builds and models (sort.c), and the files of each kind.
 *
 * A data file is one call, bench_data("NAME", VALUE), since a page that was opened from the disk
 * may load scripts but nothing else. Times are in ns, dates in seconds since 1970, unknown figures
 * null.
 */
#ifndef BENCH_PLOTS_SITE_PRIV_H
#define BENCH_PLOTS_SITE_PRIV_H

#include "plots/site/site.h"

/* Version of the data files: raised when older pages cannot show newer data. */
#define SITE_VERSION 3

/* ---- data files (put.c) ------------------------------------------------------------ */

/* Digits of a text, for names of files and addresses. */
#define SITE_KEY 17
typedef struct site_key {
    char text[SITE_KEY];
} site_key;
site_key site_key_of(const char *text);

/* All return new references. TEXT, from outside, made plain; what TEXT holds, which is emptied;
 * whole seconds. */
json_t *site_text(const char *text);
json_t *site_taken(bn_text *text);
json_t *site_seconds(double seconds);
/* The data file NAME with VALUE, which is released: in ASCII, without "<", reals with 7 digits. The
 * caller frees it. */
bn_text site_data(const char *name, json_t *value);

/* ---- the folder (folder.c) --------------------------------------------------------- */

#define SITE_NAME 48 /* of a data file, without its folder and ".js" */

typedef struct site_folder {
    const char *path; /* borrowed */
    json_t *asked;    /* ids of records whose details are kept for good */
    char (*names)[SITE_NAME];
    size_t count, capacity; /* of data files that belong to the site */
    site_made *made;
} site_folder;

/* Looks at the folder, makes it where it is missing, and marks it as a site with all that was ever
 * ASKED for. End with site_folder_end, also after a failure. */
BN_MUST_USE bn_code site_folder_begin(const site_options *options, site_made *made,
                                      site_folder *folder, bn_status *st);
/* Writes VALUE, which is released, as the data file NAME, unless that is there with the same
 * contents. */
BN_MUST_USE bn_code site_folder_data(site_folder *folder, const char *name, json_t *value,
                                     bn_status *st);
/* Writes a file with TEXT; NAME is its whole name. */
BN_MUST_USE bn_code site_folder_file(site_folder *folder, const char *name, const bn_text *text,
                                     bn_status *st);
/* Whether the data file NAME is there and may stay as it is; then it belongs to the site. */
bool site_folder_keep(site_folder *folder, const char *name);
/* Removes data files that do not belong to the site, and what killed programs left. */
void site_folder_sweep(site_folder *folder);
void site_folder_end(site_folder *folder);

/* ---- records, sorted (sort.c) ------------------------------------------------------ */

#define SITE_NONE SIZE_MAX

/* A file of a plugin under one label. Runtimes count by the last part of their paths. */
typedef struct site_build {
    const res_origin *origin; /* of one of its records */
    const char *runtime;
    bool simulated;
    site_key key;
    double first_s, last_s;
    size_t good, failed;
} site_build;

typedef struct site_night {
    char key[24]; /* "20260131T020000" */
    size_t first, end;
    double first_s, last_s;
    size_t good, failed;
    bool judged; /* its verdict is kept (nights.c) */
} site_night;

typedef struct site_model {
    const char *name;
    site_key key;
    double last_s;
    size_t good, failed;
    size_t series, changes; /* by series.c; changes of the wall time */
    size_t comparable;      /* series with nights enough for one */
} site_model;

/* An experiment on the pages, without runtime and seed. */
typedef struct site_experiment {
    const char *title;
    size_t model;
    site_key cell; /* the same for the same request, whatever its runtime and settings */
} site_experiment;

/* A record with a date that may be right. */
typedef struct site_record {
    const res_summary *summary;
    double time_s;
    size_t build; /* SITE_NONE: unknown */
} site_record;

typedef struct site {
    const site_options *options;
    const res_index *index;
    site_made *made;
    bn_arena *memory;
    site_folder folder;
    site_record *records; /* in order of time */
    size_t count;
    size_t timeless;              /* left out, as in res_history */
    res_misdates misdates;        /* the same */
    site_experiment *experiments; /* [index->experiment_count] */
    site_night *nights;           /* in order of time */
    size_t night_count;
    site_build *builds; /* in an order by which site_build_of finds them */
    size_t build_count;
    site_model *models; /* by their names */
    size_t model_count;
    res_history history[RES_METRIC_COUNT]; /* of the same series in the same order (series.c) */
    site_key *details;                     /* records whose details are there (details.c) */
    size_t detail_count, detail_capacity;
} site;

BN_MUST_USE bn_code site_sort(site *s, bn_status *st);
/* The build of ORIGIN and RUNTIME, a name or path; SITE_NONE. */
size_t site_build_of(const site *s, const char *runtime, const res_origin *origin, bool simulated);
/* The key of E without runtime, settings and seed. */
site_key site_cell_of(const res_experiment *e);

/* ---- files of each kind ------------------------------------------------------------ */

/* A file a night: its records (nights.c). */
BN_MUST_USE bn_code site_nights_write(site *s, bn_status *st);
/* A file a build: figures of its processes for each experiment (builds.c). */
BN_MUST_USE bn_code site_builds_write(site *s, bn_status *st);
/* Makes the histories, and a file a model with its series (series.c). */
BN_MUST_USE bn_code site_series_write(site *s, bn_status *st);
/* Names SERIES in addresses, whatever other series there are. */
site_key site_series_key(const res_timeline *series);
/* Tables and pictures of the latest build of each experiment, and the details of their records,
 * which are read for it (latest.c). */
BN_MUST_USE bn_code site_latest_write(site *s, bn_status *st);
/* So many records have details, besides those that were asked for. */
#define SITE_MOST_DETAILS 2000
/* The file of one record, unless it is there (details.c). */
BN_MUST_USE bn_code site_detail_write(site *s, const res_record *record, bn_status *st);
/* Details of the records of the latest nights, of those around change points, and of those that
 * were asked for. Needs the histories. */
BN_MUST_USE bn_code site_details_write(site *s, bn_status *st);
/* The file that names all others, and the page itself (front.c). */
BN_MUST_USE bn_code site_front_write(site *s, bn_status *st);

/* ---- the page, by line: page.js, compare.js, timeline.js, views.js, page.css ---------- */

/* Each ends with NULL. */
extern const char *const site_page_js[];
extern const char *const site_compare_js[];
extern const char *const site_timeline_js[];
extern const char *const site_views_js[];
extern const char *const site_page_css[];

#endif
