/*
 * verify.h - bench verify: our models against the golden values of PyTorch. Prefixes verify_,
 * golden_.
 */
#ifndef BENCH_HARNESS_VERIFY_H
#define BENCH_HARNESS_VERIFY_H

#include "harness/cli/cli.h"

int verify_command(const cli_options *options);
/* The job "verify" of a worker. */
BN_MUST_USE bn_code verify_job(const json_t *request, bn_status *st);

#endif
