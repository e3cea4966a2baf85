/*
 * record_priv.h - the halves of bench record: how the recorder gets in between, and the program
 * that runs under it.
 */
#ifndef BENCH_COMMANDS_RECORD_PRIV_H
#define BENCH_COMMANDS_RECORD_PRIV_H

#include "harness/commands/commands.h"

#include <limits.h>

/* How the recorder gets between a program and a runtime. */
typedef struct command_way {
    char runtime[PATH_MAX];  /* a name or path; never "auto" */
    char recorder[PATH_MAX]; /* libpjrt_record.so */
    char plugin[PATH_MAX];   /* that it stands before; "": those that the program finds itself */
    json_t *variables;       /* {NAME: TEXT}: what the program's environment gets; owned */
    bn_text conflicts;       /* a line each: what the user has set, and what follows of it */
} command_way;

/* Makes WAY for RUNTIME, "auto" or a name or path, and PROGRAM, as it was given. FOLDER, whose
 * whole path is PATH, is of the recording; a file for JAX goes there. To be freed also after a
 * failure. */
BN_MUST_USE bn_code command_way_make(const char *runtime, const char *program, int folder,
                                     const char *path, command_way *way, bn_status *st);
void command_way_free(command_way *way);

/* Runs WORDS, which end with NULL, with our standard input and outputs, and VARIABLES in their
 * environment. Waits for the end; signals that others send us meanwhile go to the program, those of
 * the terminal reach it by themselves. *CODE is its exit code, 128 + N where signal N ended it.
 * BN_NOT_FOUND, BN_IO: it could not be started. */
BN_MUST_USE bn_code command_program_run(const char *const *words, const json_t *variables,
                                        int *code, bn_status *st);

#endif
