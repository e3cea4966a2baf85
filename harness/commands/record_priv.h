/*
 * record_priv.h - the program that bench record runs under the recorder.
 */
#ifndef BENCH_COMMANDS_RECORD_PRIV_H
#define BENCH_COMMANDS_RECORD_PRIV_H

#include "harness/jobs/jobs.h"

/* Runs WORDS, which end with NULL, with our standard input and outputs, and VARIABLES in their
 * environment. Waits for the end; signals that others send us meanwhile go to the program, those of
 * the terminal reach it by themselves. *CODE is its exit code, 128 + N where signal N ended it.
 * BN_NOT_FOUND, BN_IO: it could not be started. */
BN_MUST_USE bn_code command_program_run(const char *const *words, const json_t *variables,
                                        int *code, bn_status *st);

#endif
