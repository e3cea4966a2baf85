/*
 * recording_priv.h - what commands on recordings share.
 */
#ifndef BENCH_HARNESS_RECORDING_H
#define BENCH_HARNESS_RECORDING_H

#include "results/recordings/recordings.h"
#include "results/tables/tables.h"

/* Says on standard error what of RECORDING cannot be read; returns whether there is anything. */
bool command_say_damage(const rec_recording *recording);
/* Appends WORDS, sentences of a recording, for FORMAT, in lines as wide as narrow tables. */
void command_put_words(const char *words, res_format format, bn_text *out);

#endif
