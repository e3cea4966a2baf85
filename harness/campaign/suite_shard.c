/*
 * suite_shard.c - the part of a suite that this process runs, by --shard or by the launcher of a
 * parallel job.
 */
#define _GNU_SOURCE
#include "harness/campaign/suites_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- the environment ----------------------------------------------------------------------- */

/* The value of NAME; NULL: it is not set. Fails where it is set twice, to different values:
 * programs may read either. */
static bn_code value_of(const char *name, const char **value, bn_status *st)
{
    const size_t length = strlen(name);
    *value = NULL;
    for (char **at = environ; at && *at; at++) {
        if (strncmp(*at, name, length) != 0 || (*at)[length] != '=')
            continue;
        const char *found = *at + length + 1;
        if (*value && strcmp(*value, found) != 0)
            return bn_fail(st, BN_INVALID, "%s is set twice, to '%s' and '%s'; give --shard I/N",
                           name, *value, found);
        *value = found;
    }
    return BN_OK;
}

/* The whole number of NAME, which is one from LEAST on; MISSING where it is not set. */
static bn_code number_of(const char *name, long least, long missing, long *n, bn_status *st)
{
    const char *text, *end;
    *n = missing;
    const bn_code code = value_of(name, &text, st);
    if (code != BN_OK || !text)
        return code;
    *n = number(text, &end);
    if (*end || *n < least)
        return bn_fail(st, BN_INVALID,
                       "%s='%s' is not a whole number of at least %ld; give --shard I/N or --shard "
                       "none",
                       name, text, least);
    return BN_OK;
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* Steps with numbers from here on are Slurm's own: a shell of salloc, a batch script. */
#define OWN_STEPS 0xfffffff0l

/* In a batch script Slurm sets the number of tasks, too, and makes it the first of them. But only
 * srun starts the others. */
static bn_code check_step(long task, long tasks, bn_status *st)
{
    const char *job;
    long step;
    bn_code code = value_of("SLURM_JOB_ID", &job, st);
    if (code == BN_OK)
        code = number_of("SLURM_STEP_ID", 0, OWN_STEPS, &step, st);
    if (code != BN_OK || !job || step < OWN_STEPS || task > 0 || tasks == 1)
        return code;
    return bn_fail(
        st, BN_INVALID,
        "SLURM_NTASKS=%ld, but no srun started this process, so there is no task for the "
        "other shards; start bench with srun, or give --shard none, which runs the whole "
        "suite here",
        tasks);
}

/* The task of a launcher, from 0, and the number of tasks; *NAME is its variable. */
static bn_code find_task(long *task, long *tasks, const char **name, bn_status *st)
{
    /* Slurm is last: a launcher inside a Slurm job knows more than Slurm. */
    static const char *const launchers[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMI_RANK", "PMI_SIZE"},
                                               {"SLURM_PROCID", "SLURM_NTASKS"},
                                               {"PMIX_RANK", NULL},
                                               {"PALS_RANKID", NULL},
                                               {"ALPS_APP_PE", NULL},
                                               {"FLUX_TASK_RANK", NULL},
                                               {"JSM_NAMESPACE_RANK", NULL},
                                               {"MV2_COMM_WORLD_RANK", NULL}};
    const char *alone = NULL;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = launchers[i][0], *size = launchers[i][1];
        const bool slurm = size && strcmp(size, "SLURM_NTASKS") == 0;
        bn_code code = number_of(rank, 0, -1, task, st);
        if (code == BN_OK && size)
            code = number_of(size, 1, -1, tasks, st);
        if (code != BN_OK)
            return code;
        if (*task >= 0 && size && *tasks > 0) {
            *name = rank;
            if (*task >= *tasks || *tasks > MOST_SHARDS)
                return bn_fail(st, BN_INVALID,
                               "%s=%ld and %s=%ld are no task of a job; give --shard I/N", rank,
                               *task, size, *tasks);
            return slurm ? check_step(*task, *tasks, st) : BN_OK;
        }
        /* A batch script of Slurm is its job's task 0, whether or not the job asked for tasks. */
        if (*task >= (slurm ? 1 : 0) && !alone)
            alone = rank;
    }
    *task = 0;
    *tasks = 1;
    *name = NULL;
    /* Without this, each task would run the whole suite. */
    if (alone)
        return bn_fail(st, BN_INVALID,
                       "%s is set, but the number of tasks is unknown; give --shard I/N or --shard "
                       "none",
                       alone);
    return BN_OK;
}

/* ---- elements of an array ------------------------------------------------------------------ */

/* Fails in an element of an array of PBS, Torque, Grid Engine or LSF. Outside of an array the last
 * two have "undefined" and 0. */
static bn_code check_other_arrays(bn_status *st)
{
    static const char *const names[] = {"PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID",
                                        "LSB_JOBINDEX"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text;
        const bn_code code = value_of(names[i], &text, st);
        if (code != BN_OK)
            return code;
        const bool none = !text || strcmp(text, "undefined") == 0 ||
                          (strcmp(names[i], "LSB_JOBINDEX") == 0 && strcmp(text, "0") == 0);
        if (!none)
            return bn_fail(
                st, BN_INVALID,
                "%s='%s': this is an element of a job array of unknown size; give --shard "
                "I/N or --shard none",
                names[i], text);
    }
    return BN_OK;
}

/* This job's element of a job array, from 0, and the number of elements; without an array the first
 * of one. The array must be a range, or one with a step: of others an element's index is unknown.
 */
static bn_code find_element(long *index, long *of, bn_status *st)
{
    long id, count, least, step, most;
    const struct {
        const char *name;
        long from, missing, *n;
    } numbers[] = {{"SLURM_ARRAY_TASK_ID", 0, -1, &id},
                   {"SLURM_ARRAY_TASK_COUNT", 1, -1, &count},
                   {"SLURM_ARRAY_TASK_MIN", 0, -1, &least},
                   {"SLURM_ARRAY_TASK_STEP", 1, 1, &step},
                   {"SLURM_ARRAY_TASK_MAX", 0, -1, &most}};
    bn_code code = BN_OK;
    *index = 0;
    *of = 1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == BN_OK; i++)
        code = number_of(numbers[i].name, numbers[i].from, numbers[i].missing, numbers[i].n, st);
    if (code == BN_OK)
        code = check_other_arrays(st);
    if (code != BN_OK || (id < 0 && count < 0))
        return code;
    if (id < 0 || count < 0 || least < 0)
        return bn_fail(st, BN_INVALID,
                       "this is an element of a job array, but %s is not set; give --shard I/N",
                       id < 0      ? "SLURM_ARRAY_TASK_ID"
                       : count < 0 ? "SLURM_ARRAY_TASK_COUNT"
                                   : "SLURM_ARRAY_TASK_MIN");
    if (count > MOST_SHARDS)
        return bn_fail(st, BN_INVALID, "SLURM_ARRAY_TASK_COUNT=%ld is more than %d shards", count,
                       MOST_SHARDS);
    if (most < 0 && (__builtin_mul_overflow(count - 1, step, &most) ||
                     __builtin_add_overflow(least, most, &most)))
        most = LONG_MAX;
    if (id < least || id > most || (id - least) % step || (id - least) / step >= count ||
        (most - least) / step + 1 != count)
        return bn_fail(st, BN_INVALID,
                       "SLURM_ARRAY_TASK_ID=%ld: this job array is not a range, so its parts are "
                       "unknown; submit it with --array=1-%ld, or give --shard I/N",
                       id, count);
    *index = (id - least) / step;
    *of = count;
    return BN_OK;
}

/* ---- shards -------------------------------------------------------------------------------- */

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

/* Appends the values that determine an experiment's shard, with blanks between. */
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
        bn_sha256(key.data, key.length, digest);
        bn_text_free(&key);
        if (strcmp(digest, most) > 0) {
            memcpy(most, digest, sizeof most);
            best = i;
        }
    }
    return best;
}
