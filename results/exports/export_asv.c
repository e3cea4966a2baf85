/*
 * export_asv.c - a folder as airspeed velocity (asv) keeps it: asv.conf.json,
 * results/benchmarks.json, and for each machine results/MACHINE/machine.json and a file a
 * commit. Format versions 2 of results and benchmarks, 1 of machines, as asv's results.py,
 * benchmarks.py and machine.py read them.
 *
 * A benchmark is an experiment. A commit is the build of the runtime: its label, if that is a
 * commit. Its result is the speedup table's figure of the processes of the latest good record:
 * those of its build and conditions. The samples are theirs. Failures are null where nothing else
 * of the experiment is good, and in "bench_failures" in any case.
 */
#include "results/exports/exports_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT "bench"

/* asv names the files of its pages after benchmarks, and most file systems allow 255 bytes. */
#define LONGEST_NAME 200

/* Replaces slashes in KEY's name by dots, which separate the levels of asv's list. */
static void put_dots(res_export_key *key)
{
    for (char *c = key->name; *c != '\0'; c++)
        *c = *c == '.' ? '_' : *c == '/' ? '.' : *c;
    if (strlen(key->name) <= LONGEST_NAME)
        return;
    bn_text cut = {0};
    bn_text_puts(&cut, key->name);
    res_export_digits(&cut, LONGEST_NAME, key->name);
    free(key->name);
    key->name = cut.data;
}

/* A text, or an integer as text; "" for any other value. */
static json_t *text_of(const res_record *record, res_provenance_id member)
{
    const json_t *value = res_provenance(record, member);
    char digits[32];
    if (!json_is_integer(value))
        return json_string(res_provenance_text(record, member));
    snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(value));
    return json_string(digits);
}

/* KEY's machine as asv describes it; it looks for the name in the name of the folder. */
static json_t *machine_json(const res_export_key *key)
{
    const res_record *r = key->record;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "machine", key->machine, "os",
                     text_of(r, RES_PROV_HOST_KERNEL), "arch", text_of(r, RES_PROV_HOST_MACHINE),
                     "cpu", text_of(r, RES_PROV_HOST_CPU), "num_cpu",
                     text_of(r, RES_PROV_HOST_CORES), "ram", text_of(r, RES_PROV_HOST_MEMORY));
}

static json_t *one(json_t *value)
{
    return json_pack("[o]", value);
}

static int smaller_first(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double log_wall(const res_process *process, const void *context)
{
    (void)context;
    return log(process->measures.wall_ns);
}

/* A row of asv's table: the result is the speedup table's figure of POOL, the samples are its COUNT
 * STEPS, which get sorted after they were written in order. */
static json_t *result_row(const res_pool *pool, uint64_t *steps, size_t count, double time_s)
{
    json_t *list = json_array(), *row = json_array();
    const res_estimate over = res_pool_estimate(pool, log_wall, NULL);
    const double half = res_estimate_half(&over, 0.01);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real((double)steps[i] / 1e9));
    qsort(steps, count, sizeof *steps, smaller_first);
    json_t *const cells[] = {
        one(res_json_real(exp(over.mean) / 1e9)),  /* result */
        json_array(),                              /* params: none */
        json_string("1"),                          /* version */
        json_integer((json_int_t)(time_s * 1000)), /* started_at */
        json_null(),                               /* duration */
        one(res_json_real(exp(over.mean - half) / 1e9)),
        one(res_json_real(exp(over.mean + half) / 1e9)),
        one(res_json_real(res_quantile(steps, count, 0.25) / 1e9)),
        one(res_json_real(res_quantile(steps, count, 0.75) / 1e9)),
        one(json_integer(1)),                 /* number: each sample is one step */
        one(json_integer((json_int_t)count)), /* repeat */
        one(list),
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        json_array_append_new(row, cells[i]);
    return row;
}

static const res_record *latest_good(const res_export_key *keys, size_t count)
{
    const res_record *latest = NULL;
    for (size_t i = 0; i < count; i++)
        if (res_record_good(keys[i].record) &&
            (!latest || strcmp(keys[i].record->id, latest->id) > 0))
            latest = keys[i].record;
    return latest;
}

/* The result of the COUNT records from KEYS, all of one experiment and build. It is null where none
 * has samples: so asv marks a benchmark that failed. */
static json_t *result_json(const res_collection *all, const res_export_key *keys, size_t count)
{
    const double time_s = res_export_time(keys[0].record);
    const res_record *latest = latest_good(keys, count);
    res_pool pool = {.count = 0};
    size_t total = 0, taken = 0;
    if (!latest)
        return json_pack("[[n] [] s I]", "1", (json_int_t)(time_s * 1000));
    res_pool_like(all, latest, &pool);
    for (size_t i = 0; i < pool.count; i++)
        total += pool.list[i].record->step_count;
    uint64_t *steps = bn_zalloc(total, sizeof *steps);
    for (size_t i = 0; i < pool.count; i++) {
        const res_record *record = pool.list[i].record;
        memcpy(steps + taken, record->wall_ns, record->step_count * sizeof *steps);
        taken += record->step_count;
    }
    json_t *row = result_row(&pool, steps, total, time_s);
    free(steps);
    res_pool_free(&pool);
    return row;
}

/* Adds the file of the COUNT records from KEYS, all of one machine and build. LONG_NAME: the short
 * one is another build's. */
static void put_commit(const res_collection *all, const res_export_key *keys, size_t count,
                       bool long_name, res_export *export)
{
    static const char columns[] =
        "[\"result\", \"params\", \"version\", \"started_at\", \"duration\", \"stats_ci_99_a\", "
        "\"stats_ci_99_b\", \"stats_q_25\", \"stats_q_75\", \"stats_number\", \"stats_repeat\", "
        "\"samples\", \"profile\"]";
    const res_record *record = keys[0].record;
    json_t *results = json_object(), *records = json_object(), *failures = json_array();
    for (size_t i = 0; i < count; i++)
        res_export_add_failure(keys[i].record, failures);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && strcmp(keys[end].name, keys[first].name) == 0)
            end++;
        json_object_set_new(results, keys[first].name, result_json(all, keys + first, end - first));
        for (size_t i = first; i < end; i++)
            json_object_set_new(records, keys[i].record->id, res_export_provenance(keys[i].record));
    }
    json_t *data = json_pack("{s:i, s:s, s:s, s:I, s:o, s:s, s:{}, s:{}, s:o, s:o, s:{}, s:o, s:o}",
                             "version", 2, "commit_hash", keys[0].commit, "env_name", ENVIRONMENT,
                             "date", (json_int_t)(res_export_time(record) * 1000), "params",
                             machine_json(&keys[0]), "python", "", "requirements", "env_vars",
                             "result_columns", json_loads(columns, 0, NULL), "results", results,
                             "durations", "bench_records", records, "bench_failures", failures);
    const int digits = long_name ? (int)strlen(keys[0].commit) : 8;
    res_export_put_line(res_export_add(export, "results/%s/%.*s-" ENVIRONMENT ".json",
                                       keys[0].machine, digits, keys[0].commit),
                        data);
}

static json_t *benchmarks_json(const res_export_key *keys, size_t count)
{
    json_t *list = json_object();
    for (size_t i = 0; i < count; i++) {
        if (json_object_get(list, keys[i].name))
            continue;
        bn_text label = {0};
        res_export_label(keys[i].record, &label);
        json_object_set_new(list, keys[i].name,
                            json_pack("{s:s, s:s, s:[], s:[], s:s, s:s, s:s, s:s, s:i, s:s}",
                                      "name", keys[i].name, "code", "bench: wall time of a step",
                                      "params", "param_names", "type", "time", "unit", "seconds",
                                      "version", "1", "pretty_name", keys[i].name, "timeout", 0,
                                      "not_measured_on_hardware", label.data));
        bn_text_free(&label);
    }
    json_object_set_new(list, "version", json_integer(2));
    return list;
}

static void write_asv(const res_collection *all, res_export *export)
{
    res_export_key *keys = res_export_keys(all, false);
    if (!keys)
        return;
    for (size_t i = 0; i < all->count; i++)
        put_dots(&keys[i]);
    for (size_t first = 0, end; first < all->count; first = end) {
        end = first + 1;
        while (end < all->count && strcmp(keys[end].machine, keys[first].machine) == 0 &&
               strcmp(keys[end].commit, keys[first].commit) == 0)
            end++;
        const bool machine_known =
            first > 0 && strcmp(keys[first - 1].machine, keys[first].machine) == 0;
        /* asv names files by 8 digits of the commit. */
        put_commit(all, keys + first, end - first,
                   machine_known && strncmp(keys[first - 1].commit, keys[first].commit, 8) == 0,
                   export);
        if (machine_known)
            continue;
        json_t *host = machine_json(&keys[first]);
        json_object_set_new(host, "version", json_integer(1));
        res_export_put(res_export_add(export, "results/%s/machine.json", keys[first].machine),
                       host);
    }
    res_export_put(res_export_add(export, "results/benchmarks.json"),
                   benchmarks_json(keys, all->count));
    /* asv looks up commits; the user has to name the runtime's repository. */
    res_export_put(res_export_add(export, "asv.conf.json"),
                   json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "version", 1, "project", "bench",
                             "repo", ".", "results_dir", "results", "html_dir", "html",
                             "benchmark_dir", "benchmarks"));
    res_export_keys_free(keys, all->count);
}

const res_export_format res_export_asv = {"asv", true, write_asv};
