/*
 * calibration.c - runs of bench calibrate and of nights, kept beside the records of a store, and
 * the drift between runs that they show.
 *
 * STORE/calibration/runs.json is a list of runs: {"began_s", "runtime" (SHA-256), "machine" (host
 * name), "busy", "ratios": [{"pair", "log", "error", "processes"}, ...]}. A drift is of one runtime
 * on one machine, and of a busy machine apart from an idle one.
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_FILE  "runs.json"
/* Of a list of runs; more is no file of ours. */
#define MOST_DEPTH 8
/* Of the logarithm of a ratio of two step times, and of its error: from 1 ns to 10^12 years. */
#define MOST_LOG   65.0

static void runs_path(const char *store, bn_text *path)
{
    bn_text_printf(path, "%s/" RES_CALIBRATION_FOLDER "/" RUNS_FILE, store);
}

/* Whether RUN has what a run has. */
static bool is_run(const json_t *run)
{
    size_t index;
    const json_t *one, *ratios = json_object_get(run, "ratios");
    if (!json_is_string(json_object_get(run, "runtime")) ||
        !json_is_string(json_object_get(run, "machine")) ||
        !json_is_boolean(json_object_get(run, "busy")) ||
        !json_is_number(json_object_get(run, "began_s")) || json_array_size(ratios) == 0)
        return false;
    json_array_foreach(ratios, index, one)
    {
        if (!json_is_string(json_object_get(one, "pair")) ||
            !json_is_number(json_object_get(one, "log")) ||
            !(fabs(json_number_value(json_object_get(one, "log"))) <= MOST_LOG) ||
            !(json_number_value(json_object_get(one, "error")) > 0) ||
            !(json_number_value(json_object_get(one, "error")) <= MOST_LOG))
            return false;
    }
    return true;
}

static bool are_runs(const json_t *runs)
{
    size_t index;
    const json_t *run;
    if (!json_is_array(runs))
        return false;
    json_array_foreach(runs, index, run)
    {
        if (!is_run(run))
            return false;
    }
    return true;
}

bn_code res_calibration_read(const char *store, json_t **runs, bn_status *st)
{
    bn_text path = {0};
    bn_status why = {.code = BN_OK};
    char *data = NULL;
    size_t size = 0;
    runs_path(store, &path);
    bn_code code = bn_regular_read(path.data, &data, &size, &why);
    *runs = NULL;
    if (code == BN_NOT_FOUND) {
        *runs = json_array();
        code = BN_OK;
    } else if (code == BN_OK) {
        if (bn_json_depth(data, size) <= MOST_DEPTH)
            *runs = json_loadb(data, size, 0, NULL);
        if (!are_runs(*runs)) {
            json_decref(*runs);
            *runs = NULL;
            code = bn_fail(st, BN_FORMAT, "%s: not the runs of bench calibrate", path.data);
        }
    } else if (st) {
        *st = why;
    }
    free(data);
    bn_text_free(&path);
    return code;
}

/* Drops the run of RUNS that ONE replaces: a night that was killed and goes on is one run. */
static void drop_same(json_t *runs, const json_t *one)
{
    static const char *const keys[] = {"began_s", "runtime", "machine"};
    for (size_t i = json_array_size(runs); i-- > 0;) {
        bool same = true;
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            same = same && json_equal(json_object_get(json_array_get(runs, i), keys[k]),
                                      json_object_get(one, keys[k]));
        if (same)
            json_array_remove(runs, i);
    }
}

bn_code res_calibration_add(const char *store, const res_calibration_run *run, bn_status *st)
{
    json_t *runs, *ratios = json_array();
    bn_text path = {0};
    for (size_t i = 0; i < run->count; i++) {
        const res_estimate *e = &run->ratios[i].log;
        json_array_append_new(
            ratios, json_pack("{so so so sI}", "pair", res_json_text(run->ratios[i].pair), "log",
                              res_json_real(e->mean), "error", res_json_real(e->error), "processes",
                              (json_int_t)e->values));
    }
    json_t *one = json_pack("{sf ss ss sb so}", "began_s", run->began_s, "runtime", run->sha256,
                            "machine", run->machine, "busy", (int)run->busy, "ratios", ratios);
    if (!is_run(one)) {
        json_decref(one);
        return bn_fail(st, BN_INVALID, "a run of the calibration has no finite ratios");
    }
    bn_text_printf(&path, "%s/" RES_CALIBRATION_FOLDER, store);
    bn_code code = bn_make_folder(path.data, st);
    bn_text_clear(&path);
    if (code == BN_OK)
        code = res_calibration_read(store, &runs, st);
    if (code == BN_OK) {
        drop_same(runs, one);
        json_array_append_new(runs, one);
        char *text = json_dumps(runs, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
        runs_path(store, &path);
        code = bn_file_write_own(path.data, text, strlen(text), st);
        free(text);
        json_decref(runs);
    } else {
        json_decref(one);
    }
    bn_text_free(&path);
    return code;
}

static bool is_of(const json_t *run, const char *sha256, const char *machine, bool busy)
{
    return strcmp(json_string_value(json_object_get(run, "runtime")), sha256) == 0 &&
           strcmp(json_string_value(json_object_get(run, "machine")), machine) == 0 &&
           json_is_true(json_object_get(run, "busy")) == busy;
}

size_t res_calibration_drift(const json_t *runs, const char *sha256, const char *machine, bool busy,
                             res_run_drift *drift)
{
    res_estimate *ratios = NULL;
    const char **names = NULL; /* [ratio]: its pair's */
    size_t *pair = NULL, *times = NULL, *latest = NULL; /* TIMES, LATEST: [pair], its runs */
    size_t index, at, count = 0, most = 0;
    const json_t *run, *one;
    json_array_foreach(runs, index, run)
    {
        count +=
            is_of(run, sha256, machine, busy) ? json_array_size(json_object_get(run, "ratios")) : 0;
    }
    ratios = bn_zalloc(count, sizeof *ratios);
    names = bn_zalloc(count, sizeof *names);
    pair = bn_zalloc(3 * count, sizeof *pair);
    times = pair + count;
    latest = times + count;
    count = 0;
    json_array_foreach(runs, index, run)
    {
        if (!is_of(run, sha256, machine, busy))
            continue;
        json_array_foreach(json_object_get(run, "ratios"), at, one)
        {
            names[count] = json_string_value(json_object_get(one, "pair"));
            while (strcmp(names[pair[count]], names[count]) != 0)
                pair[count]++;
            times[pair[count]] += latest[pair[count]] != index + 1;
            latest[pair[count]] = index + 1;
            most = times[pair[count]] > most ? times[pair[count]] : most;
            ratios[count++] =
                (res_estimate){.mean = json_number_value(json_object_get(one, "log")),
                               .error = json_number_value(json_object_get(one, "error"))};
        }
    }
    *drift = most >= RES_CALIBRATION_FEWEST ? res_run_drift_of(ratios, pair, count)
                                            : (res_run_drift){0, 0};
    free(ratios);
    free(names);
    free(pair);
    return most;
}

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t res_calibration_near(const json_t *runs, const char *sha256, const char *machine, bool busy)
{
    double *began_s = bn_zalloc(json_array_size(runs), sizeof *began_s);
    size_t index, count = 0, near = 0;
    const json_t *run;
    json_array_foreach(runs, index, run)
    {
        if (is_of(run, sha256, machine, busy))
            began_s[count++] = json_number_value(json_object_get(run, "began_s"));
    }
    /* The file has them in the order in which they ended; a clock may have been set back. */
    if (count > 1)
        qsort(began_s, count, sizeof *began_s, compare_times);
    for (size_t i = 1; i < count; i++)
        near += began_s[i] - began_s[i - 1] < RES_LEVEL_S;
    free(began_s);
    return near;
}

json_t *res_calibration_summary(const char *store, const char *sha256, const char *machine)
{
    static const char *const names[] = {"idle", "busy"};
    json_t *runs, *summary = NULL;
    if (!sha256[0] || !machine[0] || res_calibration_read(store, &runs, NULL) != BN_OK)
        return NULL;
    for (int busy = 0; busy < 2; busy++) {
        res_run_drift drift;
        const size_t count = res_calibration_drift(runs, sha256, machine, busy, &drift);
        if (!(drift.deviation > 0))
            continue;
        if (!summary)
            summary = json_pack("{ss ss}", "runtime", sha256, "machine", machine);
        json_object_set_new(
            summary, names[busy],
            json_pack("{sf sI}", "deviation", drift.deviation, "runs", (json_int_t)count));
    }
    json_decref(runs);
    return summary;
}
