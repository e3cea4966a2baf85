/*
 * keep.c - measures experiments in workers, and keeps a record of each: the worker's own, or one
 * that the parent writes of its failure.
 */
#include "harness/jobs/ending_priv.h"
#include "harness/jobs/jobs.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The file of the plugin that E runs on now, into INFO and, unless it is NULL, its DIGEST. False,
 * with an INFO of no links, where there is none, or only E's framework knows it. */
static bool find_build(const job_experiment *e, struct stat *info, char *digest)
{
    char path[PATH_MAX];
    bn_status st = {.code = BN_OK};
    *info = (struct stat){0};
    if (job_plugin_find(&e->what, path, &st) != BN_OK || !path[0] ||
        (digest && bn_file_sha256(path, digest, &st) != BN_OK) || stat(path, info) != 0) {
        *info = (struct stat){0};
        return false;
    }
    return true;
}

/* The digest of the build that failed. The file may have been replaced at any moment: it is known
 * which one the worker loaded if the name leads to the same file, unchanged, as BEFORE the worker
 * started. Hashing the file before, too, would take a second. */
static bool build_that_failed(const job_experiment *e, const struct stat *before,
                              char digest[BN_SHA256_TEXT])
{
    struct stat now;
    return find_build(e, &now, digest) && before->st_nlink > 0 && bn_untouched(&now, before);
}

/* The record at PATH, in a store that others may write. Its reader's child ends, too: code that
 * waits for workers would reap it. */
static bn_code read_kept(const char *path, res_record **record, bn_status *st)
{
    bn_code code = res_store_read_foreign(path, record, st);
    res_store_vet_end();
    return code;
}

/* The record of a worker that wrote none. It belongs to the same cell of a table as a good one. Its
 * build is that of BEFORE, or unknown. */
static res_record *failure_record(const job_experiment *e, const struct stat *before,
                                  const bn_status *failure)
{
    res_record *r = res_record_new();
    job_experiment_resolve(e, &r->experiment);
    r->status = failure->code;
    snprintf(r->message, sizeof r->message, "%s", failure->message);
    r->simulated = job_simulated_name(e->what.runtime);
    json_decref(r->provenance);
    char digest[BN_SHA256_TEXT];
    const char *planned = json_string_value(json_object_get(e->suite, "runtime_sha256"));
    const char *sha256 = planned ? planned : build_that_failed(e, before, digest) ? digest : NULL;
    r->provenance = json_pack("{so sO* sO* sO* s{ss ss*}}", "host", job_host_describe(), "options",
                              e->echo, "suite", e->suite, "comparison", e->comparison, "runtime",
                              "label", e->how.label, "sha256", sha256);
    return r;
}

/* Members of a worker's request other than its experiments. */
typedef struct circumstances {
    const json_t *about; /* the records' "group"; NULL: none */
    uint64_t seed;
    bool apart; /* as job_group has it */
} circumstances;

/* The job "measure" of the COUNT experiments LIST in one worker, and its temporary files swept
 * away. The caller frees OUTCOME's result. */
static bn_code run_worker(const job_experiment *const *list, size_t count, circumstances with,
                          const job_order *job, job_outcome *outcome, bn_status *st)
{
    const bool framework = job_is_framework(&list[0]->what);
    char scratch[PATH_MAX] = "";
    job_order own = *job;
    json_t *experiments = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(experiments, job_experiment_to_json(list[i]));
    bn_code code = framework ? job_scratch_begin(list[0]->how.store, scratch, st) : BN_OK;
    own.request = json_pack("{ss so sO* sI ss sb}", "job", framework ? "framework" : "measure",
                            "experiments", experiments, "group", with.about, "seed",
                            (json_int_t)(with.seed >> 1), "scratch", scratch, "apart", with.apart);
    own.timeout *= (double)count;
    if (code == BN_OK)
        code = job_supervise(&own, outcome, st);
    json_decref(own.request);
    job_scratch_end(scratch);
    if (code == BN_OK)
        res_store_sweep(list[0]->how.store, (long)outcome->pid);
    return code;
}

/* The record of member INDEX, by OUTCOME: its path, or NULL and in *FAILURE why there is none. */
static const char *member_path(const job_outcome *outcome, size_t index, bn_status *failure)
{
    const json_t *members = json_object_get(outcome->result, "members");
    const json_t *member = json_array_get(members, index);
    const char *path = json_string_value(json_object_get(member, "record"));
    const char *message = json_string_value(json_object_get(member, "message"));
    const bn_code named = job_class_of(member);
    if (path)
        return path;
    if (named < BN_CODE_COUNT)
        bn_fail(failure, named, "%s", message ? message : "");
    else
        bn_fail(failure, outcome->status == BN_OK ? BN_CRASH : outcome->status, "%s",
                outcome->message);
    return NULL;
}

/* Writes the parent's record of a failure. A full disk fails worker and parent alike: it is
 * reported once. */
static void keep_failure(const job_experiment *e, const struct stat *before, job_kept *kept)
{
    if (kept->failure.code == BN_CANCELLED || kept->usage)
        return;
    kept->record = failure_record(e, before, &kept->failure);
    if (res_store_write(e->how.store, kept->record, NULL, 0, &kept->store) == BN_OK)
        return;
    if (kept->failure.code == BN_IO || kept->failure.code == kept->store.code)
        kept->failure = kept->store;
}

/* keep_failure of ST, the failure of E; REFUSED: it is the user's, and leaves no record. */
static bn_code keep_side(const job_experiment *e, const struct stat *before, bool refused,
                         bn_status *st)
{
    job_kept kept = {.failure = *st, .usage = refused};
    keep_failure(e, before, &kept);
    res_record_free(kept.record);
    return kept.store.code == BN_OK ? st->code : bn_fail(st, BN_IO, "%s", kept.store.message);
}

bn_code job_measure_in_worker(const job_experiment *e, const job_order *job, res_record **record,
                              bool *refused, bn_status *st)
{
    job_outcome outcome = {0};
    struct stat before;
    (void)find_build(e, &before, NULL);
    bn_code code = run_worker(&e, 1, (circumstances){0}, job, &outcome, st);
    const char *path = code == BN_OK ? member_path(&outcome, 0, st) : NULL;
    if (code == BN_OK && !path)
        code = keep_side(e, &before, outcome.usage, st);
    if (refused)
        *refused = code != BN_OK && !path && outcome.usage;
    if (code == BN_OK && outcome.status != BN_OK)
        code = bn_fail(st, outcome.status, "%s", outcome.message);
    if (code == BN_OK)
        code = read_kept(path, record, st);
    json_decref(outcome.result);
    return code;
}

bn_code job_measure_in_turns(const job_experiment *const pair[2], const job_order jobs[2],
                             uint64_t seed, res_record *records[2], int *fault, bool *refused,
                             bn_status *st)
{
    job_order own[2] = {jobs[0], jobs[1]};
    job_outcome outcomes[2] = {{0}, {0}};
    struct stat before[2];
    job_group group;
    job_group_begin(&group, 1, seed);
    json_t *about = json_pack("{ss si si si ss}", "id", group.id, "process", 1, "processes", 1,
                              "members", 1, "how", "turns");
    for (int i = 0; i < 2; i++) {
        records[i] = NULL;
        (void)find_build(pair[i], &before[i], NULL);
        own[i].request = json_pack("{ss s[o] sO* sb}", "job", "measure", "experiments",
                                   job_experiment_to_json(pair[i]), "group", about, "turns", 1);
        own[i].timeout *= 2;
    }
    json_decref(about);
    bn_code code = job_supervise_pair(own, seed, outcomes, st);
    for (int i = 0; i < 2; i++) {
        json_decref(own[i].request);
        if (outcomes[i].pid)
            res_store_sweep(pair[i]->how.store, (long)outcomes[i].pid);
    }
    /* The one that was cancelled because the other failed is not to blame. */
    const int first = outcomes[0].status == BN_CANCELLED && outcomes[1].status != BN_OK;
    for (int k = 0; k < 2 && code == BN_OK; k++) {
        const int i = k ? !first : first;
        const char *path = member_path(&outcomes[i], 0, st);
        *fault = i;
        *refused = !path && outcomes[i].usage;
        code = !path ? keep_side(pair[i], &before[i], *refused, st)
               : outcomes[i].status != BN_OK
                   ? bn_fail(st, outcomes[i].status, "%s", outcomes[i].message)
                   : read_kept(path, &records[i], st);
    }
    for (int i = 0; i < 2; i++) {
        json_decref(outcomes[i].result);
        if (code != BN_OK) {
            res_record_free(records[i]);
            records[i] = NULL;
        }
    }
    return code;
}

/* Keeps the result of member INDEX, E, of OUTCOME's worker. BEFORE: its runtime's file when the
 * worker started. */
static void keep_member(const job_experiment *e, const struct stat *before,
                        const job_outcome *outcome, size_t index, job_kept *kept)
{
    const char *path = member_path(outcome, index, &kept->failure);
    kept->usage = !path && outcome->usage;
    if (!path) {
        keep_failure(e, before, kept);
    } else if (read_kept(path, &kept->record, &kept->failure) == BN_OK &&
               outcome->status != BN_OK && outcome->status != BN_CANCELLED) {
        /* A written record is valid, however its worker ended afterwards: the libraries of some
         * plugins crash when their process exits. An interrupt by the user is no failure. */
        bn_fail(&kept->failure, outcome->status, "%s", outcome->message);
    }
}

/* ---- groups ------------------------------------------------------------------------------- */

/* The records' "group" of a process of FIRST and, in all, MEMBERS experiments (new reference). */
static json_t *about_group(const job_group *group, int process, const job_experiment *first,
                           size_t members)
{
    const bool framework = job_is_framework(&first->what);
    const char *why = group->why_separate[0] ? group->why_separate
                      : framework            ? "frameworks cannot share a process"
                                             : NULL;
    return json_pack("{ss si si sI ss ss*}", "id", group->id, "process", process, "processes",
                     group->processes, "members", (json_int_t)members, "how",
                     group->separate || framework ? "separate" : "interleaved", "why", why);
}

/* Whether the members of a process that ended as OUTCOME says should have processes of their own:
 * each may fit into memory, and one that kills the process does not lose the others' results. */
static bool must_separate(const job_outcome *outcome)
{
    return outcome->status != BN_OK && outcome->status != BN_CANCELLED && !outcome->usage &&
           outcome->status != BN_IO && outcome->status != BN_CHANGED;
}

/* Whether OUTCOME's worker reported on its member INDEX. */
static bool has_member(const job_outcome *outcome, size_t index)
{
    return json_array_size(json_object_get(outcome->result, "members")) > index;
}

/* Whether the cores were apart in all rounds of RECORD's process. */
static bool were_apart(const res_record *record)
{
    const int64_t rounds = res_provenance_integer(record, RES_PROV_NEARNESS_ROUNDS, 0);
    return rounds > 0 && res_provenance_integer(record, RES_PROV_NEARNESS_APART, 0) >= rounds;
}

/* Measures all in one process. False: it ended so that those which have neither a record nor a
 * failure must be measured one by one. */
static bool measure_together(job_group *group, int process, const job_experiment *const *list,
                             size_t count, const job_order *job, job_kept *const *kept)
{
    job_outcome outcome = {0};
    bn_status st = {.code = BN_OK};
    struct stat before[JOB_MOST_MEMBERS];
    json_t *about = about_group(group, process, list[0], count);
    for (size_t i = 0; i < count; i++)
        (void)find_build(list[i], &before[i], NULL);
    const uint64_t start = bn_now_ns();
    const circumstances with = {about, group->seed ? group->seed + (uint64_t)process : 0,
                                group->apart};
    bn_code code = run_worker(list, count, with, job, &outcome, &st);
    job_spent_add_worker(&group->spent, json_object_get(outcome.result, "spent"),
                         (double)(bn_now_ns() - start) / 1e9);
    const bool again =
        code == BN_OK && count > 1 && must_separate(&outcome) && !has_member(&outcome, count - 1);
    if (again) {
        group->separate = true;
        /* JSON takes complete characters only. */
        snprintf(group->why_separate, sizeof group->why_separate, "%s: %.*s",
                 bn_code_name(outcome.status), (int)bn_utf8_fit(outcome.message, 400),
                 outcome.message);
    }
    for (size_t i = 0; i < count; i++) {
        if (again && !has_member(&outcome, i))
            continue;
        if (code == BN_OK)
            keep_member(list[i], &before[i], &outcome, i, kept[i]);
        else
            kept[i]->failure = st;
        group->apart = kept[i]->record ? were_apart(kept[i]->record) : group->apart;
    }
    json_decref(about);
    json_decref(outcome.result);
    return !again;
}

/* A random order of COUNT experiments, drawn for each process of GROUP. */
static void draw_order(const job_group *group, int process, size_t *order, size_t count)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    gsl_rng_set(rng, (unsigned long)(group->seed + (uint64_t)process));
    gsl_ran_shuffle(rng, order, count, sizeof *order);
    gsl_rng_free(rng);
}

static bool is_done(const job_kept *kept)
{
    return kept->record || kept->failure.code != BN_OK;
}

/* Measures E in a process of its own. */
static void measure_alone(job_group *group, int process, const job_experiment *e,
                          const job_order *job, job_kept *kept)
{
    char title[256];
    job_order own = *job;
    job_experiment_title(e, title, sizeof title);
    own.title = title;
    if (job_interrupted())
        bn_fail(&kept->failure, BN_CANCELLED, "interrupted");
    else
        measure_together(group, process, &e, 1, &own, &kept);
}

/* Measures each that has neither a record nor a failure yet in a process of its own, in a random
 * order. */
static void measure_apart(job_group *group, int process, const job_experiment *list, size_t count,
                          const job_order *job, job_kept *kept)
{
    size_t order[JOB_MOST_MEMBERS];
    draw_order(group, process, order, count);
    for (size_t i = 0; i < count; i++)
        if (!is_done(&kept[order[i]]))
            measure_alone(group, process, &list[order[i]], job, &kept[order[i]]);
}

/* Measures those that bench runs itself in one process, and those of each framework in one of its
 * own, in a random order. False: as measure_together. */
static bool measure_mixed(job_group *group, int process, const job_experiment *list, size_t count,
                          const job_order *job, job_kept *kept)
{
    const job_experiment *ours[JOB_MOST_MEMBERS];
    job_kept *of[JOB_MOST_MEMBERS];
    size_t order[JOB_MOST_MEMBERS], own = 0;
    job_order next = *job;
    for (size_t i = 0; i < count; i++)
        if (!job_is_framework(&list[i].what)) {
            ours[own] = &list[i];
            of[own++] = &kept[i];
        }
    draw_order(group, process, order, count);
    for (size_t i = 0; i < count; i++) {
        const size_t at = order[i];
        if (is_done(&kept[at]))
            continue;
        if (job_is_framework(&list[at].what) || job_interrupted())
            measure_alone(group, process, &list[at], &next, &kept[at]);
        else if (!measure_together(group, process, ours, own, &next, of))
            return false;
        next.number++;
    }
    return true;
}

void job_measure_and_keep(job_group *group, int process, const job_experiment *list, size_t count,
                          const job_order *job, job_kept *kept)
{
    for (size_t i = 0; i < count; i++)
        kept[i] = (job_kept){0};
    if (group->separate) {
        measure_apart(group, process, list, count, job, kept);
    } else if (!measure_mixed(group, process, list, count, job, kept)) {
        /* The shared process has its own line, with the reason of its end. */
        job_order apart = *job;
        apart.more = false;
        measure_apart(group, process, list, count, &apart, kept);
    }
}
