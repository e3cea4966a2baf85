/*
 * tonight.h - the folder in which a night's records wait inside their store until the
 * night has ended.
 */
#ifndef BENCH_HARNESS_TONIGHT_H
#define BENCH_HARNESS_TONIGHT_H

#include "runtime/base/base.h"

/* Zero-initialise; ends with night_folder_close, also after a failure. */
typedef struct night_folder {
    const char *store;
    char folder[4096]; /* where the suite writes */
    char ended[4096];  /* its name once its records are the store's */
    int lock;          /* on the store, plus 1; 0: none */
} night_folder;

/* Makes STORE if need be, and holds it: a second night at the same time is BN_IO. Tidies up
 * after a night that was killed: what it measured goes to the store where it is older than
 * NIGHT_HOURS, and waits for tonight's suite, which goes on with it, where it is not. */
BN_MUST_USE bn_code night_folder_begin(night_folder *tonight, const char *store, double night_hours,
                                       bn_status *st);
/* Puts the records into the store, and leaves them in the folder as well: whoever is killed
 * from here on finds the whole night there. May be done again. */
BN_MUST_USE bn_code night_folder_share(const night_folder *tonight, bn_status *st);
/* Removes the folder: the night is over. */
BN_MUST_USE bn_code night_folder_end(const night_folder *tonight, bn_status *st);
void night_folder_close(night_folder *tonight);

#endif
