/*
 * records_priv.h - what the files of this folder share.
 */
#ifndef BENCH_RESULTS_RECORDS_PRIV_H
#define BENCH_RESULTS_RECORDS_PRIV_H

#include "results/records/records.h"

/* ---- imports (import.c) ----------------------------------------------------- */

/* The records of pytorch/xla's lines DATA, added to ALL; FILE is for messages and
 * provenance. */
BN_MUST_USE bn_code res_import_lines(const char *file, const char *data, res_collection *all,
                                     bn_status *st);

/* Characters that are safe in a file name on any system. */
bool res_name_char_ok(char c);
/* This machine's name as it stands in ids: safe characters, at most 18. */
#define RES_HOST_TEXT 19
void res_host_name(char host[RES_HOST_TEXT]);

#endif
