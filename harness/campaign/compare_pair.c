/*
 * compare_pair.c - one pair of a comparison: a fresh process of each side, in turns where both can
 * hold the device, else one after the other.
 */
#include "harness/campaign/compare_priv.h"

#include <stdio.h>
#include <string.h>

/* One side's job. TEXT, of SIZE bytes, gets its title. */
static job_order order_of(const compare_pair *pair, int side, size_t number, char *text,
                          size_t size)
{
    snprintf(text, size, "%s %c", pair->title, side ? 'B' : 'A');
    return (job_order){.title = text,
                       .number = number,
                       .of = pair->of > number ? pair->of : number,
                       .timeout = pair->side[side].how.timeout,
                       .verbose = pair->verbose,
                       .more = pair->more || number == pair->number};
}

static char run_turns(compare_pair *pair, res_record *records[2], bn_status *failed)
{
    /* The first one also starts and warms up first. */
    const int first = pair->b_first, second = !first;
    const job_experiment *const sides[2] = {&pair->side[first], &pair->side[second]};
    res_record *both[2] = {NULL};
    char text[2][512];
    int fault = 0;
    const job_order jobs[2] = {order_of(pair, first, pair->number, text[0], sizeof text[0]),
                               order_of(pair, second, pair->number + 1, text[1], sizeof text[1])};
    if (job_measure_in_turns(sides, jobs, pair->seed, both, &fault, &pair->refused, failed) !=
        BN_OK)
        return (fault ? second : first) ? 'B' : 'A';
    records[first] = both[0];
    records[second] = both[1];
    return 0;
}

static char run_one_by_one(compare_pair *pair, res_record *records[2], bn_status *failed)
{
    for (int half = 0; half < 2; half++) {
        const int side = pair->b_first ? !half : half;
        char text[512];
        const job_order job = order_of(pair, side, pair->number + (size_t)half, text, sizeof text);
        if (job_measure_in_worker(&pair->side[side], &job, &records[side], &pair->refused,
                                  failed) != BN_OK)
            return side ? 'B' : 'A';
    }
    return 0;
}

/* A verdict is on two builds, so a side whose file was replaced between two pairs ends. */
static char check_builds(const compare_pair *pair, res_record *const records[2], bn_status *failed)
{
    for (int side = 0; side < 2; side++) {
        char *build = pair->build[side];
        const char *now = res_plugin_sha256(records[side]);
        if (!build[0])
            snprintf(build, BN_SHA256_TEXT, "%s", now);
        if (strcmp(build, now) == 0)
            continue;
        bn_fail(failed, BN_CHANGED,
                "%s: the plugin's file was replaced between two pairs: sha256 %.12s at first, "
                "%.12s in record %s; compare copies that builds do not replace",
                pair->side[side].what.runtime, build, now, records[side]->id);
        return side ? 'B' : 'A';
    }
    return 0;
}

char compare_run_pair(compare_pair *pair, res_record *records[2], bn_status *failed)
{
    records[0] = records[1] = NULL;
    const char fault =
        pair->turns ? run_turns(pair, records, failed) : run_one_by_one(pair, records, failed);
    return fault ? fault : check_builds(pair, records, failed);
}
