/*
 * program.c - bench --program in the worker: arguments come from .npy files or are made up; after
 * one step the results are written to .npy files or compared. Further steps are measured as of a
 * model.
 */
#include "harness/worker/arrays_priv.h"
#include "harness/worker/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pjrt/npy.h"

struct worker_program {
    const json_t *request;
    job_program_text of;
    void **host; /* [argument] */
};

void worker_program_free(worker_program *p)
{
    for (size_t i = 0; p && p->host && i < p->of.count; i++)
        free(p->host[i]);
    if (p) {
        free(p->host);
        job_program_text_free(&p->of);
    }
    free(p);
}

/* ---- arguments ----------------------------------------------------------------------- */

static bn_code make_arguments(worker_program *p, uint64_t seed, bn_status *st)
{
    p->host = bn_zalloc(p->of.count + 1, sizeof(void *));
    for (size_t i = 0; i < p->of.count; i++) {
        char name[32];
        const mode_argument *a = &p->of.arguments[i];
        snprintf(name, sizeof name, "input%zu", i);
        p->host[i] = malloc((size_t)mode_argument_bytes(a) + 1);
        if (!p->host[i])
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for argument %zu, %lld bytes", i,
                           (long long)mode_argument_bytes(a));
        bn_code code = BN_OK;
        if (p->of.inputs)
            code = job_program_array(job_program_file(p->request, "inputs", i), a, "argument", i,
                                     p->host[i], st);
        else
            worker_made_up(a->dtype, mode_argument_bytes(a), name, seed, p->host[i]);
        if (code != BN_OK)
            return code;
    }
    return BN_OK;
}

/* ---- results --------------------------------------------------------------------------- */

/* One result on the host (malloc). */
typedef struct result {
    mode_argument type;
    void *host;
} result;

static bn_code read_result(worker_session *s, size_t index, result *r, bn_status *st)
{
    rt_buffer *buffer = mode_program_result(s->mode, index);
    *r = (result){0};
    bn_code code =
        rt_buffer_type(s->client, buffer, &r->type.dtype, r->type.dims, &r->type.rank, st);
    if (code != BN_OK)
        return code;
    const size_t bytes = (size_t)mode_argument_bytes(&r->type);
    r->host = malloc(bytes + 1);
    if (!r->host)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for result %zu", index);
    return rt_buffer_to_host(s->client, buffer, r->host, bytes, st);
}

static bn_code compare_result(const worker_program *p, const result *r, size_t index, bn_status *st)
{
    const char *path = job_program_file(p->request, "checks", index);
    const double rtol = json_number_value(json_object_get(p->request, "rtol"));
    const double atol = json_number_value(json_object_get(p->request, "atol"));
    const size_t bytes = (size_t)mode_argument_bytes(&r->type);
    void *wanted = malloc(bytes + 1);
    if (!wanted)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %s", path);
    bn_code code = job_program_array(path, &r->type, "result", index, wanted, st);
    if (code == BN_INVALID)
        code = st->code = BN_WRONG_RESULT; /* another shape is another result */
    if (code == BN_OK) {
        worker_array_difference d =
            worker_arrays_compare(r->type.dtype, r->host, wanted, bytes, rtol, atol);
        if (d.count)
            code = bn_fail(st, BN_WRONG_RESULT,
                           "result %zu differs from %s in %zu of %zu elements, most at %zu: got "
                           "%.9g, want %.9g (rtol %g, atol %g)",
                           index, path, d.count, d.of, d.worst, d.got, d.want, rtol, atol);
    }
    free(wanted);
    return code;
}

static bn_code use_results(worker_session *s, const worker_program *p, bn_status *st)
{
    const size_t outputs = job_program_files(p->request, "outputs");
    const size_t checks = job_program_files(p->request, "checks");
    const size_t count = mode_program_result_count(s->mode);
    if (outputs > count || checks > count)
        return bn_fail(st, BN_INVALID, "--%s is given %zu times, and the program has %zu results",
                       outputs > count ? "output" : "check", outputs > count ? outputs : checks,
                       count);
    bn_code code = outputs || checks ? worker_session_has_values(s, st) : BN_OK, compared = BN_OK;
    bn_status wrong = {.code = BN_OK};
    for (size_t i = 0; i < count && (i < outputs || i < checks) && code == BN_OK; i++) {
        result r;
        code = read_result(s, i, &r, st);
        if (code == BN_OK && i < outputs)
            code = rt_npy_write(job_program_file(p->request, "outputs", i), r.type.dtype,
                                r.type.rank, r.type.dims, r.host, st);
        /* A difference does not end the loop: all outputs are written first. */
        if (code == BN_OK && i < checks && compared == BN_OK)
            compared = compare_result(p, &r, i, &wrong);
        free(r.host);
    }
    if (code == BN_OK && compared != BN_OK)
        *st = wrong;
    return code == BN_OK ? compared : code;
}

/* ---- the session ------------------------------------------------------------------------- */

bn_code worker_session_program(worker_session *s, bn_status *st)
{
    const job_experiment *e = s->experiment;
    const mode_options options = worker_mode_options(e);
    worker_program *p = s->program = bn_zalloc(1, sizeof *p);
    worker_send_progress("preparing", 0, 0);
    p->request = e->program;
    bn_code code = job_program_read(e->program, &p->of, st);
    if (code == BN_OK)
        code = make_arguments(p, e->what.seed, st);
    worker_send_progress("compiling", 0, 0);
    if (code == BN_OK)
        code = mode_create_program(s->client, &options, &p->of.program, p->of.arguments,
                                   p->of.count, (const void *const *)p->host, &s->mode, st);
    s->call = (mode_call){0};
    if (code == BN_OK)
        code = mode_step(s->mode, &s->call, NULL, st);
    if (code == BN_OK)
        code = mode_drain(s->mode, st);
    return code == BN_OK ? use_results(s, p, st) : code;
}

json_t *worker_program_to_json(const worker_session *s, const worker_program *p)
{
    static const char *const forms[] = {
        [MODE_FORM_TEXT] = "text", [MODE_FORM_BYTECODE] = "bytecode", [MODE_FORM_HLO] = "hlo"};
    const bool checked = s->mode && mode_program_checked(s->mode);
    /* An HLO module has no count of partitions or replicas: they are options of its compiler. */
    const bool counted = p->of.declared && p->of.form != MODE_FORM_HLO;
    return json_pack("{sO sO sI sb s{ss ss ss}}", "request", p->request, "sha256",
                     json_object_get(p->request, "sha256"), "arguments", (json_int_t)p->of.count,
                     "made_up", p->of.inputs == 0 && p->of.count > 0, "declared", "form",
                     forms[p->of.form], "types",
                     checked          ? "compiled"
                     : p->of.declared ? "program"
                                      : "unchecked",
                     "devices", counted ? "program" : "unchecked");
}
