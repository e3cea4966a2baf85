/*
 * night_folder_priv.h - the folder inside a store in which a night's records wait until the night
 * has ended.
 */
#ifndef BENCH_HARNESS_NIGHT_FOLDER_H
#define BENCH_HARNESS_NIGHT_FOLDER_H

#include "runtime/base/base.h"

#include <sys/types.h>

/* Zero at first; ends with night_folder_close, also after a failure. */
typedef struct night_folder {
    const char *store;   /* borrowed */
    char folder[4096];   /* of the suite's records */
    char controls[4160]; /* in it: of records of the builds before */
    char kept[4160];     /* in the store: of the controls */
    int store_fd;        /* the store, open and locked */
    /* The store, FOLDER and CONTROLS at the first check; inode 0: they did not exist yet. */
    struct stat at[3];
} night_folder;

/* Makes STORE if need be, and locks it: a second night at the same time is BN_IO. If a night was
 * killed, its records go to the store now if the latest is older than NIGHT_HOURS, or dated in the
 * future; else they stay in the folder, and tonight's suite continues with them. */
BN_MUST_USE bn_code night_folder_begin(night_folder *tonight, const char *store, double night_hours,
                                       bn_status *st);
/* Checks that the paths above still lead to the same folders, which a user who may write the store
 * could have replaced; BN_CHANGED if not. To be called before anything is written by path. */
BN_MUST_USE bn_code night_folder_check(night_folder *tonight, bn_status *st);
/* Puts the records into the store, those of controls into its own folder of that name, and leaves
 * them in the folder as well: a night that is killed from here on is found whole there. May be
 * called again. */
BN_MUST_USE bn_code night_folder_share(const night_folder *tonight, bn_status *st);
/* Removes the folder: the night is over. To be called when all else is done. */
BN_MUST_USE bn_code night_folder_end(const night_folder *tonight, bn_status *st);
/* Unlocks the store. */
void night_folder_close(night_folder *tonight);

#endif
