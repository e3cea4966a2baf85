/*
 * suite_shard.c - which part of a suite this process runs: --shard says it, or the launcher of a
 * parallel job.
 */
#include "harness/campaign/suites_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHARDS 4096

/* Whole number at the start of TEXT, with *END behind it; -1: none. */
static long number(const char *text, const char **end)
{
    char *stop = NULL;
    errno = 0;
    const long n = text && *text >= '0' && *text <= '9' ? strtol(text, &stop, 10) : -1;
    *end = stop ? stop : text;
    return errno ? -1 : n;
}

static bn_code parse(const char *word, suite_shard *shard, bn_status *st)
{
    const char *end;
    const long index = number(word, &end);
    const long of = *end == '/' ? number(end + 1, &end) : -1;
    if (*end || index < 1 || of < index || of > MOST_SHARDS)
        return bn_fail(st, BN_INVALID,
                       "--shard takes I/N with I from 1 to N and N at most %d, or none; not '%s'",
                       MOST_SHARDS, word);
    *shard = (suite_shard){.index = (int)index, .of = (int)of, .source = "--shard"};
    return BN_OK;
}

bn_code suite_shard_find(const char *word, suite_shard *shard, bn_status *st)
{
    /* Slurm is last: a launcher inside a Slurm job knows more than Slurm. */
    static const char *const launchers[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMI_RANK", "PMI_SIZE"},
                                               {"SLURM_PROCID", "SLURM_NTASKS"}};
    *shard = (suite_shard){.index = 1, .of = 1};
    if (word)
        return strcmp(word, "none") == 0 ? BN_OK : parse(word, shard, st);
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = getenv(launchers[i][0]), *size = getenv(launchers[i][1]), *end, *rest;
        if (!rank || !size)
            continue;
        const long index = number(rank, &end), of = number(size, &rest);
        if (*end || *rest || index < 0 || of <= index || of > MOST_SHARDS)
            return bn_fail(st, BN_INVALID, "%s=%s and %s=%s are no task of a job; give --shard",
                           launchers[i][0], rank, launchers[i][1], size);
        *shard = (suite_shard){.index = (int)index + 1, .of = (int)of};
        if (of > 1)
            snprintf(shard->source, sizeof shard->source, "%s", launchers[i][0]);
        return BN_OK;
    }
    /* Without this, each task would run the whole suite. */
    if (getenv("PMIX_RANK"))
        return bn_fail(st, BN_INVALID,
                       "PMIX_RANK=%s is set, but nothing says of how many tasks; "
                       "give --shard I/N or --shard none",
                       getenv("PMIX_RANK"));
    return BN_OK;
}

/* Appends the values that decide over an experiment's shard, with blanks between. */
static void put_key(const res_experiment *what, bn_text *key)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (!axis->shard || (axis->field.later && res_axis_is_usual(axis, what)))
            continue;
        bn_text_puts(key, key->length ? " " : "");
        res_axis_put(axis, what, key);
    }
}

int suite_shard_of(const res_experiment *what, int of)
{
    int best = 1;
    char most[BN_SHA256_TEXT] = "";
    for (int i = 1; i <= of && of > 1; i++) {
        char digest[BN_SHA256_TEXT];
        bn_text key = {0};
        put_key(what, &key);
        bn_text_printf(&key, ": %d", i);
        bn_sha256(key.failed ? "" : key.data, key.failed ? 0 : key.length, digest);
        bn_text_free(&key);
        if (strcmp(digest, most) > 0) {
            memcpy(most, digest, sizeof most);
            best = i;
        }
    }
    return best;
}
