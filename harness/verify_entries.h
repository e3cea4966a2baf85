/*
 * verify_entries.h - the entries of a folder of golden values, MODEL.VARIANT.json,
 * and which of them the command line asks for.
 */
#ifndef BENCH_HARNESS_VERIFY_ENTRIES_H
#define BENCH_HARNESS_VERIFY_ENTRIES_H

#include "harness/harness.h"

#define HN_ENTRY_NAME RES_TEXT
#define HN_ENTRY_PATH (4096 + 2 * HN_ENTRY_NAME + 16)

typedef struct hn_entry {
    char model[HN_ENTRY_NAME], variant[HN_ENTRY_NAME];
    bool chosen;
} hn_entry;

typedef struct hn_entries {
    char folder[4096];
    hn_entry *list; /* all, by name */
    size_t count;
    bool refused; /* one was asked for that no model of ours can honour; stderr says which */
} hn_entries;

/* Fills *ALL (also on failure: free it). BN_INVALID for unknown names,
 * BN_NOT_FOUND for a missing folder or entry. */
BN_MUST_USE bn_code hn_entries_choose(hn_entries *all, const hn_options *options, bn_status *st);
void hn_entries_free(hn_entries *all);
void hn_entry_path(const hn_entries *all, const hn_entry *entry, char path[HN_ENTRY_PATH]);

#endif
