/*
 * verify_entries_priv.h - the entries of a folder of golden values, MODEL.VARIANT.json,
 * and which of them the command line asks for.
 */
#ifndef BENCH_HARNESS_VERIFY_ENTRIES_H
#define BENCH_HARNESS_VERIFY_ENTRIES_H

#include "harness/verify/verify.h"

#define VERIFY_ENTRY_NAME RES_TEXT
#define VERIFY_ENTRY_PATH (4096 + 2 * VERIFY_ENTRY_NAME + 16)

typedef struct verify_entry {
    char model[VERIFY_ENTRY_NAME], variant[VERIFY_ENTRY_NAME];
    bool chosen;
} verify_entry;

typedef struct verify_entries {
    char folder[4096];
    verify_entry *list; /* all of the folder, sorted by name */
    size_t count;
    bool refused; /* an entry was asked for that bench has no model of; it was named on stderr */
} verify_entries;

/* Reads the folder and marks the entries that OPTIONS ask for. ALL is to be freed also after a
 * failure. BN_INVALID for unknown names, BN_NOT_FOUND for a missing folder or entry. */
BN_MUST_USE bn_code verify_entries_choose(verify_entries *all, const verify_options *options,
                                          bn_status *st);
void verify_entries_free(verify_entries *all);
void verify_entry_path(const verify_entries *all, const verify_entry *entry,
                       char path[VERIFY_ENTRY_PATH]);

#endif
