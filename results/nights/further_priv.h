/*
 * further_priv.h - the plan of a night's further pairs, for counting its cells; nights of a level.
 */
#ifndef BENCH_RESULTS_FURTHER_PRIV_H
#define BENCH_RESULTS_FURTHER_PRIV_H

#include "results/nights/nights.h"

/* The slowdown of MEASURE that a night is to see: the threshold, else RES_NIGHT_MDE, and no
 * less than what counts as a finding. */
double res_night_wanted(const res_versus *versus, res_measure measure);
/* Whether CELL has further interim analyses, and seems slower without being significantly slower.
 */
bool res_night_candidate(const res_versus *versus, const res_compared *cell);
/*
 * The slowdown of MEASURE that the plan would have found in 4 of 5 such cells, whether or
 * not this one got all of its pairs; infinite where there is no plan, or CELL is still to get
 * pairs.
 *
 * The plan misses a slowdown if the mean at an analysis before the last is below the bar, half of
 * res_night_wanted, or the mean at the last is below what Student's t finds significant there. The
 * chances of these add up to a fifth at most (Bonferroni), each by Student's t with the spread and
 * the freedom of CELL's pairs (H. S. Bloom, "Minimum detectable effects", Evaluation Review 19,
 * 1995, for one analysis).
 */
double res_night_planned(const res_versus *versus, const res_compared *cell, res_measure measure);

/* The values of SERIES' nights since its last change, up to the latest; *COUNT of them; for free.
 */
double *res_timeline_level(const res_timeline *series, size_t *count);

#endif
