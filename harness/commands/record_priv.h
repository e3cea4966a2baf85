/*
 * record_priv.h - the program that bench record runs under the recorder.
 */
#ifndef BENCH_COMMANDS_RECORD_PRIV_H
#define BENCH_COMMANDS_RECORD_PRIV_H

#include "harness/jobs/jobs.h"

/* Runs the command line WORDS, which ends with NULL, with our standard streams, and VARIABLES in
 * its environment, and waits for its end. Signals that processes send us are passed on; those of
 * the terminal reach the program by themselves. *CODE is its exit code, 128 + N if signal N ended
 * it. BN_NOT_FOUND, BN_IO: it could not be started. */
BN_MUST_USE bn_code command_program_run(const char *const *words, const json_t *variables,
                                        int *code, bn_status *st);

#endif
