/*
 * measure.c - the job "measure": experiments that are measured together in this process, and the
 * record of each.
 */
#include "harness/causes/causes.h"
#include "harness/worker/measure_priv.h"

#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the record ----------------------------------------------------------------------- */

/* The device's memory, over the life of this process, by the plugin (new reference); NULL: unknown.
 */
static json_t *device_memory_json(const worker_session *s)
{
    rt_device_memory memory;
    if (!s->client || rt_client_memory(s->client, 0, &memory, NULL) != BN_OK)
        return NULL;
    return json_pack("{sI sI sI}", "in_use_bytes", (json_int_t)memory.bytes_in_use, "peak_bytes",
                     (json_int_t)memory.peak_bytes_in_use, "limit_bytes",
                     (json_int_t)memory.bytes_limit);
}

static void describe(const worker_group *g, worker_session *s, res_record *r)
{
    const job_memory memory = job_host_memory();
    const model_options *m = s->instance ? model_get_options(s->instance) : NULL;
    r->experiment = s->experiment->what;
    if (m)
        job_experiment_fill(m, &r->experiment);
    r->simulated = worker_session_simulated(s);
    if (worker_session_has_values(s, NULL) != BN_OK)
        strcpy(r->values, worker_session_opaque(s) ? "opaque" : "none");
    json_t *warmup = json_incref(res_provenance(r, RES_PROV_WARMUP));
    json_decref(r->provenance);
    r->provenance = json_pack(
        "{so so so sO* so* so* so* sO* sO* so* sO* sO* sO* so* s{sI sI sI} so*}", "host",
        job_host_describe(), "runtime", worker_session_describe(s), "pinning",
        cores_pinning_to_json(s->pinning), "process", s->process, "idle_cores",
        cores_idle_to_json(s->idle), "nearness", cores_nearness_to_json(&g->near), "others",
        worker_others_to_json(&g->others), "options", s->experiment->echo, "weights", s->weights,
        "program",
        s->recorded  ? worker_recorded_to_json(s)
        : s->program ? worker_program_to_json(s, s->program)
                     : NULL,
        "suite", s->experiment->suite, "comparison", s->experiment->comparison, "group", g->about, "device_memory", device_memory_json(s),
        "memory", "rss_bytes", (json_int_t)memory.now, "peak_rss_bytes", (json_int_t)memory.peak,
        "file_rss_bytes", (json_int_t)memory.of_files, "warmup", warmup);
    res_provenance_set(r, RES_PROV_CALIBRATION,
                       res_calibration_summary(s->experiment->how.store, res_plugin_sha256(r),
                                               res_provenance_text(r, RES_PROV_HOST_NAME)));
}

/* ---- the members ------------------------------------------------------------------------- */

/* Whether the largest member so far would fit a second time into the memory that is left. The
 * runtime of a device with its own memory reports itself when that is full. */
static bn_code check_room(int64_t grown, bn_status *st)
{
    const int64_t left = job_host_memory_left();
    if (left < 0 || left > grown + grown / 4)
        return BN_OK;
    return bn_fail(st, BN_OUT_OF_MEMORY,
                   "the experiments do not fit into memory together: %lld MB are left, one needs "
                   "%lld MB",
                   (long long)(left >> 20), (long long)(grown >> 20));
}

/* Makes the model, program or recorded step of M's experiment. */
static bn_code open_model_or_program(worker_member *m, bn_status *st)
{
    const worker_session_options usual = {.precision = TG_PRECISION_DEFAULT};
    if (job_is_step(m->e.program))
        return worker_session_recorded(&m->s, st);
    return m->e.program ? worker_session_program(&m->s, st)
                        : worker_session_model(&m->s, &usual, st);
}

/* Opens M's model or program and warms it up. */
static bn_code open_member(worker_member *m, const worker_session *first, bn_status *st)
{
    const uint64_t start = bn_now_ns();
    if (first != &m->s)
        worker_session_share(&m->s, first, &m->e);
    worker_annotate(m, "model, weights, inputs");
    bn_code code = open_model_or_program(m, st);
    worker_annotate_end(m);
    m->preparation_ns = bn_now_ns() - start;
    worker_annotate(m, "warm-up");
    if (code == BN_OK)
        code = worker_warm_up(m, st);
    worker_annotate_end(m);
    return code == BN_OK ? worker_surroundings_restore("executing", st) : code;
}

/* The order in which this process opens its members, into ORDER. The first gets other memory than
 * the next: the same experiment twice was seen to differ by 2 % in favour of the second. So the
 * order is drawn for each pair of processes, and the second of a pair has it reversed: of any two
 * members, each is before the other as often. */
static void draw_order(const worker_group *g, size_t *order)
{
    const char *id = json_string_value(json_object_get(g->about, "id"));
    const json_int_t process = json_integer_value(json_object_get(g->about, "process"));
    unsigned long seed = (unsigned long)((process + 1) / 2);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (; id && *id; id++)
        seed = seed * 31 + (unsigned char)*id;
    for (size_t i = 0; i < g->count; i++)
        order[i] = i;
    gsl_rng_set(rng, seed);
    gsl_ran_shuffle(rng, order, g->count, sizeof *order);
    gsl_rng_free(rng);
    for (size_t i = 0; process % 2 == 0 && i < g->count / 2; i++) {
        const size_t other = order[g->count - 1 - i];
        order[g->count - 1 - i] = order[i];
        order[i] = other;
    }
}

/* Opens all members. One that fails is left out, but for want of memory all fail: alone, each may
 * fit. */
static bn_code open_members(worker_group *g, bn_status *st)
{
    size_t order[JOB_MOST_MEMBERS];
    int64_t largest = 0;
    draw_order(g, order);
    for (size_t i = 0; i < g->count; i++) {
        worker_member *m = &g->members[order[i]];
        if (i > 0 && check_room(largest, st) != BN_OK)
            return st->code;
        const int64_t before = job_host_memory().now;
        const uint64_t start = bn_now_ns();
        if (open_member(m, &g->members[0].s, &m->failure) != BN_OK)
            worker_session_drop_model(&m->s);
        m->opening_ns = bn_now_ns() - start;
        if (m->failure.code == BN_OUT_OF_MEMORY && g->count > 1) {
            *st = m->failure;
            return st->code;
        }
        const int64_t grown = job_host_memory().now - before;
        largest = grown > largest ? grown : largest;
    }
    return BN_OK;
}

/* Writes the program that the plugin's compiler made of graph INDEX, where it gives one and the
 * record has its digest: a row of several programs has the sum of theirs. */
static void write_optimized(const worker_member *m, size_t index)
{
    const res_execution *x = &m->record->executions[index];
    char format[32], path[4400], name[JOB_PROGRAM_NAME], digest[RT_DIGEST_TEXT];
    rt_program_digest own;
    size_t size = 0, form = 0;
    void *bytes = NULL;
    bn_status st = {.code = BN_OK};
    if (mode_execution_optimized(m->s.mode, index, format, &bytes, &size, &st) != BN_OK)
        return;
    rt_program_digest_of(format, bytes, size, &own);
    rt_program_digest_put(&own, digest);
    while (form + 1 < JOB_PROGRAM_FORMS && strcmp(job_program_forms[form].format, format) != 0)
        form++;
    job_program_name(x, &job_program_forms[form], name);
    snprintf(path, sizeof path, "%s/%s", m->e.how.graph_report, name);
    /* The parent checks which were written. */
    if (strcmp(digest, x->optimized) == 0)
        (void)(bn_file_write_atomic(path, bytes, size, &st) == BN_OK);
    free(bytes);
}

/* The texts of the graphs that M compiled, and their programs, for bench run --graph-report. */
static void write_graphs(const worker_member *m)
{
    const char *folder = m->e.how.graph_report;
    for (size_t i = 0; folder && i < mode_execution_count(m->s.mode); i++) {
        char path[4200];
        size_t length = 0;
        const char *text = mode_execution_text(m->s.mode, i, &length), *code = text;
        size_t size = length;
        if (i < m->record->execution_count)
            write_optimized(m, i);
        /* Programs that others wrote come in other forms, too. */
        if (length == 0 || mode_form_find(&code, &size) != MODE_FORM_TEXT)
            continue;
        snprintf(path, sizeof path, "%s/%s.mlir", folder,
                 mode_execution_at(m->s.mode, i)->fingerprint);
        /* The parent checks which were written, and reports missing ones. */
        bn_status st = {.code = BN_OK};
        (void)(bn_file_write_atomic(path, text, length, &st) == BN_OK);
    }
}

/* ---- source locations --------------------------------------------------------------------- */

#define WHY_STEPS   10
#define WHY_SECONDS 5.0

/* Whether steps after the warm-up alternate between programs: the last one did not run all of them.
 */
static bool alternates_programs(const worker_member *m)
{
    for (size_t i = 0; i < mode_execution_count(m->s.mode); i++) {
        const mode_execution *x = mode_execution_at(m->s.mode, i);
        if (x->per_step == 0 && x->last_step > (int64_t)m->warm)
            return true;
    }
    return false;
}

/* Whether steps of M have costs with a source location: they compile, are captured again, read, or
 * have the host compute; or they alternate between programs. */
static bool has_located_costs(const worker_group *g, const worker_member *m)
{
    static const bn_counter counters[] = {BN_COUNTER_COMPILES,       BN_COUNTER_DISK_HITS,
                                          BN_COUNTER_GUARD_MISSES,   BN_COUNTER_GRAPH_BREAKS,
                                          BN_COUNTER_HOST_FALLBACKS, BN_COUNTER_TRANSFERS_TO_HOST};
    const json_t *process = json_object_get(g->about, "process");
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        sum += m->record->step_counters[counters[i]];
    /* A mode of ops has no graphs, others' programs no source, and further processes find the same.
     */
    return m->s.instance && !job_mode_by_op(m->e.what.mode) && json_integer_value(process) <= 1 &&
           (sum > 0 || alternates_programs(m));
}

/* Puts these locations into the record, as bench explain finds them: in the first steps of a new
 * mode and model, since watched steps keep places and have other texts. It runs after all
 * measurements, and its failure does not matter. */
static void explain_member(const worker_group *g, worker_member *m)
{
    const worker_session_options usual = {.precision = TG_PRECISION_DEFAULT};
    bn_status st = {.code = BN_OK};
    json_t *lists = NULL;
    if (!has_located_costs(g, m))
        return;
    worker_session_drop_model(&m->s);
    m->e.how.cache_dir = ""; /* no other step has these texts */
    bn_code code = worker_session_model(&m->s, &usual, &st);
    if (code == BN_OK)
        code = worker_session_explain(&m->s, WHY_STEPS, WHY_SECONDS, &lists, &st);
    json_t *findings = code == BN_OK ? cause_findings(lists, true) : NULL;
    while (json_array_size(findings) > RES_MOST_WHY)
        json_array_remove(findings, json_array_size(findings) - 1);
    if (json_array_size(findings) > 0)
        res_provenance_set(m->record, RES_PROV_EXPLANATION,
                           json_pack("{sO sO}", "steps", json_object_get(lists, "steps"),
                                     "complaints", findings));
    json_decref(findings);
    json_decref(lists);
}

/* Puts the scope that costs most into the record of the first process, if steps are traced. */
static void put_tracing(const worker_group *g, worker_member *m)
{
    const json_t *process = json_object_get(g->about, "process");
    const bool traced = m->record->step_counters[BN_COUNTER_NODES_TRACED] > 0;
    json_t *tracing = m->s.instance && traced && json_integer_value(process) <= 1
                          ? worker_tracing_to_json(&m->s)
                          : NULL;
    if (tracing)
        res_provenance_set(m->record, RES_PROV_TRACING, tracing);
}

/* Ops that the host has computed for M, with their numbers (new reference); NULL: none. */
static json_t *host_ops_json(const worker_member *m)
{
    size_t count;
    const mode_host_count *list = mode_host_counts(m->s.mode, &count);
    json_t *ops = count > 0 ? json_object() : NULL;
    for (size_t i = 0; i < count && i < RES_MOST_HOST_OPS; i++)
        json_object_set_new(ops, list[i].op, json_integer((json_int_t)list[i].count));
    return ops;
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Completes M's record after its rounds. */
static bn_code finish_member(worker_group *g, worker_member *m, bn_status *st)
{
    const uint64_t start = bn_now_ns();
    memcpy(m->record->counters, mode_counters(m->s.mode), sizeof m->record->counters);
    /* Read now, so that they count the same steps as the counters. */
    json_t *host_ops = host_ops_json(m);
    bn_code code = worker_finish_executions(m, g->rng, st);
    if (code == BN_OK)
        code = worker_surroundings_restore("executing", st);
    if (code == BN_OK) {
        describe(g, &m->s, m->record);
        res_provenance_set(m->record, RES_PROV_MEASURED, worker_programs_json(m));
        m->record->counters[BN_COUNTER_STEPS] *= (int64_t)worker_steps_a_call(m);
        if (m->losses)
            res_provenance_set(m->record, RES_PROV_LOSSES, json_incref(m->losses));
        if (host_ops)
            res_provenance_set(m->record, RES_PROV_HOST_OPS, json_incref(host_ops));
        write_graphs(m);
        worker_timeline_profile(m);
        put_tracing(g, m);
        json_t *window = worker_window_to_json(m), *batches = worker_feed_to_json(m->s.feed);
        if (window)
            res_provenance_set(m->record, RES_PROV_WINDOW, window);
        if (batches)
            res_provenance_set(m->record, RES_PROV_BATCHES, batches);
        explain_member(g, m);
    }
    json_decref(host_ops);
    m->finish_ns = bn_now_ns() - start;
    return code;
}

static bn_code measure(worker_group *g, bn_status *st)
{
    uint64_t start = bn_now_ns();
    if (g->process_begin_ns == 0 || g->process_begin_ns > start)
        g->process_begin_ns = start;
    bn_code code = worker_session_begin(&g->members[0].s, &g->members[0].e, st);
    g->ready_ns = bn_now_ns();
    g->startup_ns = g->ready_ns - start;
    if (code == BN_OK)
        code = open_members(g, st);
    start = bn_now_ns();
    if (code == BN_OK)
        code = worker_run_rounds(g, st);
    /* The figures of executions may take further steps. */
    if (code == BN_OK && g->turns)
        code = worker_await_own_turn(g, st);
    for (size_t i = 0; code == BN_OK && i < g->count; i++) {
        worker_member *m = &g->members[i];
        if (m->failure.code == BN_OK)
            (void)(finish_member(g, m, &m->failure) == BN_OK);
    }
    g->rounds_ns = bn_now_ns() - start;
    return code;
}

/* ---- the job -------------------------------------------------------------------------------- */

static bn_code begin_group(worker_group *g, const json_t *request, bn_status *st)
{
    const json_t *list = json_object_get(request, "experiments");
    const size_t count = json_array_size(list);
    const json_int_t seed = json_integer_value(json_object_get(request, "seed"));
    bn_code code = BN_OK;
    if (count == 0 || count > JOB_MOST_MEMBERS)
        return bn_fail(st, BN_FORMAT, "the worker's request has %zu experiments", count);
    g->process_begin_ns = (uint64_t)json_integer_value(json_object_get(request, JOB_BEGUN));
    g->about = json_object_get(request, "group");
    g->apart = json_is_true(json_object_get(request, "apart"));
    g->turns = json_is_true(json_object_get(request, "turns"));
    g->members = bn_zalloc(count, sizeof *g->members);
    g->rng = gsl_rng_alloc(gsl_rng_mt19937);
    g->count = count;
    gsl_rng_set(g->rng, (unsigned long)(seed ? (uint64_t)seed : bn_now_ns() ^ (uint64_t)getpid()));
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        worker_member *m = &g->members[i];
        code = job_experiment_from_json(json_array_get(list, i), &m->e, st);
        m->record = res_record_new();
        if (code == BN_OK)
            code = worker_timeline_begin(m, i, g->about, st);
    }
    return code;
}

/* Releases all handles of the plugin, the client last. */
static void end_sessions(worker_group *g)
{
    for (size_t i = g->count; i-- > 0;) {
        const uint64_t start = bn_now_ns();
        worker_session_drop_model(&g->members[i].s);
        g->members[i].end_ns = bn_now_ns() - start;
    }
    for (size_t i = g->count; i-- > 0;)
        worker_session_end(&g->members[i].s);
}

/* Records what the plugin changed in the process until its end. */
static void put_surroundings(const worker_group *g)
{
    json_t *changes = worker_surroundings_to_json();
    for (size_t i = 0; changes && i < g->count; i++)
        if (g->members[i].failure.code == BN_OK)
            res_provenance_set(g->members[i].record, RES_PROV_SURROUNDINGS, json_incref(changes));
    json_decref(changes);
}

static void free_group(worker_group *g)
{
    for (size_t i = 0; i < g->count; i++) {
        res_record_free(g->members[i].record);
        free(g->members[i].warm_ns);
        free(g->members[i].probes);
        free(g->members[i].programs_made);
        json_decref(g->members[i].losses);
        /* After a failure of the whole group the timeline is not written yet. */
        (void)(worker_timeline_write(&g->members[i], NULL) == BN_OK);
        bn_timeline_free(g->members[i].timeline);
    }
    if (g->rng)
        gsl_rng_free(g->rng);
    free(g->members);
}

/* Writes M's record; returns its path or the failure (new reference). */
static json_t *write_member(worker_member *m)
{
    char path[4096];
    /* Also after a failure: the timeline shows the steps before it. */
    bn_status st = {.code = BN_OK};
    if (worker_timeline_write(m, &st) != BN_OK && m->failure.code == BN_OK)
        m->failure = st;
    if (m->failure.code == BN_OK)
        (void)(res_store_write(m->e.how.store, m->record, path, sizeof path, &m->failure) == BN_OK);
    return m->failure.code == BN_OK ? json_pack("{ss}", "record", path)
                                    : worker_failure_to_json(&m->failure);
}

/* Time by phase, for job_spent_add_worker (new reference). */
static json_t *spent_json(const worker_group *g)
{
    uint64_t start = g->startup_ns, compile = 0, warmup = 0;
    for (size_t i = 0; i < g->count; i++) {
        const worker_member *m = &g->members[i];
        start += m->preparation_ns;
        compile += m->compile_ns;
        warmup += m->warmup_ns - m->compile_ns;
    }
    return json_pack("{sf sf sf sf}", "start_s", (double)start / 1e9, "compile_s",
                     (double)compile / 1e9, "warmup_s", (double)warmup / 1e9, "rounds_s",
                     (double)g->rounds_ns / 1e9);
}

bn_code worker_job_measure(const json_t *request, bn_status *st)
{
    worker_group g = {0};
    bn_code code = begin_group(&g, request, st);
    if (code == BN_OK)
        code = measure(&g, st);
    if (code == BN_OK)
        code = rt_plugin_check_file(g.members[0].s.plugin, st);
    /* Before the records are written: a plugin that crashes in its own clean-up leaves records of
     * crashes only. */
    end_sessions(&g);
    if (code == BN_OK)
        code = worker_surroundings_restore("ending", st);
    if (code == BN_OK) {
        worker_put_phases(&g);
        put_surroundings(&g);
        /* After each, so that no written record is lost where the process dies in between. */
        json_t *members = json_array();
        for (size_t i = 0; i < g.count; i++) {
            json_array_append_new(members, write_member(&g.members[i]));
            worker_send_result(json_pack("{sO so sb}", "members", members, "spent", spent_json(&g),
                                         "more", i + 1 < g.count));
        }
        json_decref(members);
    }
    free_group(&g);
    return code;
}
