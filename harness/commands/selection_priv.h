/*
 * selection_priv.h - the records of a folder that a command works on, and their series.
 */
#ifndef BENCH_HARNESS_SELECTION_H
#define BENCH_HARNESS_SELECTION_H

#include "harness/jobs/jobs.h"
#include "results/nights/nights.h"
#include "results/tables/tables.h"

/* Selects records of a store: for each axis some values; an empty list: all. */
typedef struct command_selection {
    const char *store;
    cli_list axis[RES_AXIS_COUNT];
} command_selection;

/* Options of series over nights. */
typedef struct command_series {
    const char *metric;  /* the name of a res_metric */
    double night_hours;  /* records of one build within so many hours are one night */
    double level;        /* probability of any false change point in a series */
    double least_change; /* a share: smaller changes are not shown */
    bool reindex;        /* read every record again, whatever the index says */
} command_series;

/* Their rows. Of a selection: --store, then a row for each axis, which are about
 * COMMAND_ABOUT_AXES. */
enum {
    COMMAND_SELECTION_STORE = 1 << 0,
    COMMAND_SERIES_METRIC = 1 << 0, /* with its level and least change */
    COMMAND_SERIES_NIGHTS = 1 << 3,
    COMMAND_SERIES_REINDEX = 1 << 4,
    COMMAND_ABOUT_AXES = 1 << 16,
    COMMAND_ABOUT_SITE = 1 << 17
};
const cli_table *command_selection_table(void);
const cli_table *command_series_table(void);

/* Whether SELECTION has E. The name of a runtime's file stands for its path. */
bool command_selected(const command_selection *selection, const res_experiment *e);

/* The index of STORE, made or updated with progress on a terminal. REBUILD: from the files alone.
 * Estimates are moved into ESTIMATES (res_index_split); NULL: they are left out, and standard error
 * says so. BN_NOT_FOUND: there is no record. */
BN_MUST_USE bn_code command_index_load(const char *store, bool rebuild, res_index *index,
                                       res_index *estimates, bn_status *st);
/* Reports on standard error how many records INDEX has, and how many files were read for it. */
void command_say_index(const res_index *index);
/* BN_NOT_FOUND: SELECTION has no record of INDEX; suggests a value of the store for one that no
 * record has. */
bn_code command_refuse_selection(const command_selection *selection, const res_index *index,
                                 bn_status *st);
/* Warns on standard error, with a suggestion, of a selected value that no record has, although
 * other values select some. PART: further records, or NULL. */
void command_say_unknown(const command_selection *selection, const res_index *index,
                         const res_index *part);
/* Reports on standard error that COUNT estimates are left out; nothing for 0. */
void command_say_estimates(size_t count);
/* All records of STORE except estimates and those with wrong dates, which could pass for the
 * latest; standard error says how many are left out. */
BN_MUST_USE bn_code command_all_read(const char *store, res_collection *all, bn_status *st);
/* The latest records of SELECTION for tables (res_latest_read). Standard error says which are left
 * out for their dates. BN_NOT_FOUND: there are none, unless all records of the store are damaged.
 */
BN_MUST_USE bn_code command_records_read(const command_selection *selection, const res_index *index,
                                         res_collection *all, bn_status *st);

/* command_records_read, which also loads the index and names damaged records on standard error. */
BN_MUST_USE bn_code command_latest_read(const command_selection *selection, res_collection *all,
                                        bn_status *st);
/* The same into ALL, unless it is NULL, and the selected estimates, of PART, into ESTIMATES.
 * BN_NOT_FOUND: there are neither. */
BN_MUST_USE bn_code command_both_read(const command_selection *selection, const res_index *index,
                                      const res_index *part, res_collection *all,
                                      res_collection *estimates, bn_status *st);

/* Makes the series of SELECTION's records in INDEX, which must outlive HISTORY; there may be none.
 * HISTORY is to be freed also after a failure. */
BN_MUST_USE bn_code command_history_make(const command_selection *selection,
                                         const command_series *series, const res_index *index,
                                         res_history *history, bn_status *st);

#endif
