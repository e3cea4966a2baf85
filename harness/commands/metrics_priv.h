/*
 * metrics_priv.h - the metrics report that bench run writes.
 */
#ifndef BENCH_HARNESS_METRICS_H
#define BENCH_HARNESS_METRICS_H

#include "harness/commands/commands.h"

/* BN_INVALID where OWN cannot be done beside OUTPUT. */
BN_MUST_USE bn_code command_metrics_check(const command_metering *own, const cli_output *output,
                                          bn_status *st);
/* Writes the report of the COUNT RECORDS to where OWN says, over what is there; nothing where it
 * says nothing. */
BN_MUST_USE bn_code command_metrics_write(const command_metering *own, res_record *const *records,
                                          size_t count, bn_status *st);

#endif
