/*
 * estimates.h - records of estimates: the time that a compiler expects of a step on a device that
 * is not there (harness/estimate). Nothing ran, so such a record has no steps and no measured time
 * of an execution: whatever reads measured figures finds none in it. The estimate stands in its
 * provenance, unknown figures as null:
 *
 *   "estimate": {"topology", "layouts", "class": "ok" or why there is none, "cycles",
 *                "copy_cycles", "ms", "clock_ghz", "clock_source", "memory_bytes" of the device,
 *                "untold_loops", "collectives", "silent",
 *                "graphs": [{"cycles", "copy_cycles", "ms", "untold_loops", "collectives",
 *                            "silent"}, ...], one for each execution}
 *
 * The last three say by what the cycles are too low: loops whose body counts once, since their
 * number of iterations is unknown; collectives; kinds of other operations without an estimate.
 * Older records lack them.
 *
 * The runtime of such a record, and of no other, has a name that ends with RES_ESTIMATED. So it has
 * blocks and series of its own, and whatever names the runtime says the word.
 */
#ifndef BENCH_RESULTS_ESTIMATES_H
#define BENCH_RESULTS_ESTIMATES_H

#include "results/records/records.h"

#define RES_ESTIMATED " (estimated)"

/* Whether E was estimated, by its runtime's name. */
bool res_is_estimate(const res_experiment *e);
/* The estimate in RECORD's provenance (borrowed); NULL: it is no estimate. */
const json_t *res_record_estimate(const res_record *record);
/* Member NAME of ESTIMATE, or of one of its graphs; NaN where it is not known. */
double res_estimate_number(const json_t *estimate, const char *name);
/* How much of PEAK, the most memory in use at a time, lies on the device. libtpu adds to it the
 * HOST_TEMP bytes in the host's memory. -1 where the peak is not known. */
double res_device_peak(double peak, double host_temp);
/* An amount of item INDEX of CONTEXT; below zero where it is not known. */
typedef double res_amount_at(const void *context, size_t index);
/* The largest AMOUNT of the items from FIRST to END; -1 where there are none, or one is not known:
 * that may be the largest. */
double res_largest_known(res_amount_at *amount, const void *context, size_t first, size_t end);

/* Moves the estimates out of ALL into ESTIMATES, which is to be released with res_collection_free.
 * Both keep their order. */
void res_estimates_split(res_collection *all, res_collection *estimates);
/* Moves the summaries of estimates from INDEX to ESTIMATES; NULL: drops them. ESTIMATES shares
 * INDEX' memory: release it with res_index_free before INDEX. Damaged files stay with INDEX. */
void res_index_split(res_index *index, res_index *estimates);

#endif
