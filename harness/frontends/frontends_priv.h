/*
 * frontends_priv.h - short processes of a front end's Python, which answer one question.
 */
#ifndef BENCH_HARNESS_FRONTENDS_PRIV_H
#define BENCH_HARNESS_FRONTENDS_PRIV_H

#include <stdio.h>

#include "harness/frontends/frontends.h"

/* ---- a process (process.c) --------------------------------------------------------------- */

/* The exit code of a process whose program could not be run; its standard error says why. */
#define FRONTEND_NOT_STARTED 127

/* A process that reads its input, writes an answer, and ends. Its files are in memory: no disk can
 * be full, and nobody else can open them. */
typedef struct frontend_process {
    const char *what;         /* for messages */
    const char *const *words; /* the program, as for a shell, and its arguments; NULL ends them */
    int seconds;              /* the most that it may take */
    size_t most;              /* bytes that it may write to a file */
    FILE *input, *output, *errors; /* its standard input, output and error */
} frontend_process;

/* Opens P's files. It reads the SIZE bytes at INPUT. To be closed also after a failure. */
BN_MUST_USE bn_code frontend_process_open(frontend_process *p, const void *input, size_t size,
                                          bn_status *st);
/* Runs P to its end, into *STATUS as of waitpid. It dies with bench, and may use 16 GB of
 * addresses. BN_TIMEOUT: it took too long, and was killed. */
BN_MUST_USE bn_code frontend_process_run(const frontend_process *p, int *status, bn_status *st);
/* P's standard output into *TEXT (malloc, terminated by a zero byte that *LENGTH does not count).
 * BN_FORMAT: as much as it may write, or more. */
BN_MUST_USE bn_code frontend_process_text(const frontend_process *p, char **text, size_t *length,
                                          bn_status *st);
void frontend_process_close(frontend_process *p);

#endif
