/*
 * program.c - bench --program, the parent's half: the request, and the signature of a StableHLO
 * text that someone else wrote. The signature is read here, too, so that a text that cannot be
 * run is refused before a worker starts.
 */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *paths_json(const char *const *paths)
{
    json_t *list = json_array();
    for (; paths && *paths; paths++)
        json_array_append_new(list, json_string(*paths));
    return list;
}

/* A request says of which text it is; the one that makes it does not yet. */
static bn_code check_digest(const json_t *request, const job_program_text *p, bn_status *st)
{
    const char *wanted = json_string_value(json_object_get(request, "sha256"));
    if (!p->sha256[0])
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a digest");
    if (!wanted || strcmp(wanted, p->sha256) == 0)
        return BN_OK;
    return bn_fail(st, BN_CHANGED,
                   "the text was changed while it was in use: sha256 %.12s at first, %.12s now; "
                   "run a copy that nobody edits",
                   wanted, p->sha256);
}

bn_code job_program_read(const json_t *request, job_program_text *p, bn_status *st)
{
    const char *file = json_string_value(json_object_get(request, "file"));
    *p = (job_program_text){.inputs = json_array_size(json_object_get(request, "inputs"))};
    bn_code code = bn_regular_read(file, &p->text, &p->length, st);
    if (code == BN_OK) {
        bn_sha256(p->text, p->length, p->sha256);
        code = check_digest(request, p, st);
    }
    if (code == BN_OK)
        code = mode_signature_read(p->text, p->length, &p->arguments, &p->count, st);
    if (code == BN_OK && p->inputs && p->inputs != p->count)
        code = bn_fail(st, BN_INVALID,
                       "--input is given %zu times, and the program takes %zu arguments; give one "
                       "for each, or none to have them made up",
                       p->inputs, p->count);
    return code == BN_OK ? BN_OK : bn_context(st, "program %s", file);
}

void job_program_text_free(job_program_text *p)
{
    free(p->arguments);
    free(p->text);
    *p = (job_program_text){0};
}

/* "step" of "/a/b/step.mlir". */
static void name_of(const char *file, char *name, size_t size)
{
    const char *base = bn_base_name(file);
    snprintf(name, size, "%.*s", (int)bn_utf8_fit(base, size - 1), base);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
}

bn_code job_program_request(const job_matrix *m, json_t **request, bn_status *st)
{
    job_program_text p;
    *request = json_pack("{ss so so so sf sf}", "file", m->program, "inputs",
                         paths_json(m->inputs.list), "outputs", paths_json(m->outputs.list),
                         "checks", paths_json(m->checks.list), "rtol", m->rtol, "atol", m->atol);
    if (!*request)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a request");
    bn_code code = job_program_read(*request, &p, st);
    json_object_set_new(*request, "sha256", json_string(p.sha256));
    job_program_text_free(&p);
    return code;
}

void job_program_describe(const json_t *request, res_experiment *what)
{
    name_of(json_string_value(json_object_get(request, "file")), what->model, sizeof what->model);
    snprintf(what->phase, sizeof what->phase, "program");
    snprintf(what->mode, sizeof what->mode, "program");
    /* Programs of one name but other texts are separate rows of a table. */
    snprintf(what->variant, sizeof what->variant, "text %.12s",
             json_string_value(json_object_get(request, "sha256")));
    what->dtype[0] = what->layout[0] = '\0';
    what->batch = what->image = what->seq = 0;
    what->graphs = 1;
}
