/*
 * recording_priv.h - what commands on recordings share.
 */
#ifndef BENCH_HARNESS_RECORDING_H
#define BENCH_HARNESS_RECORDING_H

#include "results/recordings/recordings.h"

/* Says on standard error what is wrong with RECORDING; returns whether a process of it is damaged.
 */
bool command_say_damage(const rec_recording *recording);

#endif
