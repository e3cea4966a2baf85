/*
 * findings_priv.h - what the files of this folder share.
 */
#ifndef BENCH_RESULTS_FINDINGS_PRIV_H
#define BENCH_RESULTS_FINDINGS_PRIV_H

#include "results/findings/findings.h"

/* Compares all measures of CELL but the wall time, each alone (judged.c). BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_judge_further(const res_versus *versus, res_compared *cell, bn_status *st);

#endif
