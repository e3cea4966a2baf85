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

/* The task of a launcher, from 0, and how many there are; *NAME is the variable that says it. */
static bn_code find_task(long *index, long *of, const char **name, bn_status *st)
{
    /* Slurm is last: a launcher inside a Slurm job knows more than Slurm. */
    static const char *const launchers[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMI_RANK", "PMI_SIZE"},
                                               {"SLURM_PROCID", "SLURM_NTASKS"}};
    *index = 0;
    *of = 1;
    *name = NULL;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = getenv(launchers[i][0]), *size = getenv(launchers[i][1]), *end, *rest;
        if (!rank || !size)
            continue;
        *index = number(rank, &end);
        *of = number(size, &rest);
        *name = launchers[i][0];
        if (*end || *rest || *index < 0 || *of <= *index || *of > MOST_SHARDS)
            return bn_fail(st, BN_INVALID, "%s=%s and %s=%s are no task of a job; give --shard",
                           launchers[i][0], rank, launchers[i][1], size);
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

/* Whole number of the variable NAME; MISSING where it is not set, -1 where it is no number. */
static long variable(const char *name, long missing)
{
    const char *text = getenv(name), *end;
    if (!text)
        return missing;
    const long n = number(text, &end);
    return *end ? -1 : n;
}

/* The element of a job array that this job is, from 0, and how many there are; without an array the
 * first of one. Its numbers must be those of a range, or of one with a step: the numbers of others
 * do not tell which of them an element is. */
static bn_code find_element(long *index, long *of, bn_status *st)
{
    const char *text = getenv("SLURM_ARRAY_TASK_ID");
    *index = 0;
    *of = 1;
    if (!text)
        return BN_OK;
    const long id = variable("SLURM_ARRAY_TASK_ID", -1);
    const long count = variable("SLURM_ARRAY_TASK_COUNT", -1);
    const long least = variable("SLURM_ARRAY_TASK_MIN", -1);
    const long step = variable("SLURM_ARRAY_TASK_STEP", 1);
    const long most = variable("SLURM_ARRAY_TASK_MAX", least + (count - 1) * step);
    if (id < 0 || least < 0 || count < 1 || count > MOST_SHARDS || step < 1 || id < least ||
        most < id)
        return bn_fail(
            st, BN_INVALID,
            "SLURM_ARRAY_TASK_ID=%s with _MIN, _MAX, _COUNT and _STEP is no element of a "
            "job array; give --shard I/N",
            text);
    if ((id - least) % step || (id - least) / step >= count || (most - least) / step + 1 != count)
        return bn_fail(
            st, BN_INVALID,
            "SLURM_ARRAY_TASK_ID=%s: the numbers of this job array are no range, so they "
            "do not tell which part is whose; submit it with --array=1-%ld, or give "
            "--shard I/N",
            text, count);
    *index = (id - least) / step;
    *of = count;
    return BN_OK;
}

bn_code suite_shard_find(const char *word, suite_shard *shard, bn_status *st)
{
    long task, tasks, element, elements;
    const char *name;
    *shard = (suite_shard){.index = 1, .of = 1};
    if (word)
        return strcmp(word, "none") == 0 ? BN_OK : parse(word, shard, st);
    bn_code code = find_task(&task, &tasks, &name, st);
    if (code == BN_OK)
        code = find_element(&element, &elements, st);
    if (code == BN_OK && tasks * elements > MOST_SHARDS)
        code = bn_fail(st, BN_INVALID, "%ld elements of %ld tasks are more than %d shards",
                       elements, tasks, MOST_SHARDS);
    if (code != BN_OK)
        return code;
    shard->index = (int)(element * tasks + task) + 1;
    shard->of = (int)(tasks * elements);
    if (shard->of > 1)
        snprintf(shard->source, sizeof shard->source, "%s%s%s",
                 elements > 1 ? "SLURM_ARRAY_TASK_ID" : "",
                 elements > 1 && tasks > 1 ? " and " : "", tasks > 1 ? name : "");
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
