/*
 * frontends_priv.h - what the files of this folder share: short processes of a front end's Python,
 * which are asked one thing.
 */
#ifndef BENCH_HARNESS_FRONTENDS_PRIV_H
#define BENCH_HARNESS_FRONTENDS_PRIV_H

#include <stdio.h>

#include "harness/frontends/frontends.h"

/* ---- a process (process.c) --------------------------------------------------------------- */

/* The exit code of a process whose program could not be run; its last complaint says why. */
#define FRONTEND_NOT_STARTED 127

/* A process that reads what it is given, says something, and ends. Its files are in memory: no
 * folder of temporary files is full then, and nobody else can open them. */
typedef struct frontend_process {
    const char *what;         /* for messages */
    const char *const *words; /* the program, as for a shell, and its arguments; NULL ends them */
    int seconds;              /* the most that it may take */
    size_t most;              /* bytes that it may write to a file */
    FILE *input, *output, *complaints; /* its standard input, output and error */
} frontend_process;

/* Opens P's files. The SIZE bytes at INPUT are what it reads. To be closed also after a failure. */
BN_MUST_USE bn_code frontend_process_open(frontend_process *p, const void *input, size_t size,
                                          bn_status *st);
/* Runs P to its end, into *STATUS as of waitpid. It dies with bench, and of more memory than 16 GB
 * of addresses. BN_TIMEOUT: it took too long, and was killed. */
BN_MUST_USE bn_code frontend_process_run(const frontend_process *p, int *status, bn_status *st);
/* All that P said on its standard output into *TEXT (malloc, terminated by a zero byte that *LENGTH
 * does not count). BN_FORMAT: as much as it may write, or more. */
BN_MUST_USE bn_code frontend_process_text(const frontend_process *p, char **text, size_t *length,
                                          bn_status *st);
void frontend_process_close(frontend_process *p);

#endif
