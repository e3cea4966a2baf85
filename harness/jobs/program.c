/*
 * program.c - programs in place of models: bench --program, the parent's half. Makes the request,
 * and reads the signature, so that a program that cannot be run is refused before a worker starts.
 * And the names of programs and recorded steps (step.c).
 */
#include "harness/jobs/jobs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/pjrt/npy.h"

/* In flight where the recorded host did not wait: more of them do not change the mean step. */
#define AHEAD_STEPS 2

static json_t *words_json(const char *const *words)
{
    json_t *list = json_array();
    for (; words && *words; words++)
        json_array_append_new(list, json_string(*words));
    return list;
}

/* A finished request has the digest of its text. */
static bn_code check_digest(const json_t *request, const job_program_text *p, bn_status *st)
{
    const char *wanted = json_string_value(json_object_get(request, "sha256"));
    if (!wanted || strcmp(wanted, p->sha256) == 0)
        return BN_OK;
    return bn_fail(st, BN_CHANGED,
                   "the text was changed while it was in use: sha256 %.12s at first, %.12s now; "
                   "run a copy that nobody edits",
                   wanted, p->sha256);
}

/* The types that the user gave, in *LIST (malloc). */
static bn_code types_from_request(const json_t *request, mode_argument **list, size_t *count,
                                  bn_status *st)
{
    const json_t *types = json_object_get(request, "types");
    const size_t given = json_array_size(types);
    mode_argument *read = bn_zalloc(given + 1, sizeof *read);
    *count = 0;
    *list = read;
    if (given == 1 && strcmp(json_string_value(json_array_get(types, 0)), "none") == 0)
        return BN_OK;
    bn_code code = BN_OK;
    for (; *count < given && code == BN_OK; ++*count)
        code = mode_type_parse(json_string_value(json_array_get(types, *count)), &read[*count], st);
    return code == BN_OK ? BN_OK : bn_context(st, "--argument %zu", *count);
}

/* Compares the user's types with those that the program declares. */
static bn_code check_types(const job_program_text *p, const mode_argument *given, size_t count,
                           bn_status *st)
{
    size_t i = 0;
    while (i < count && i < p->count && mode_same_type(&given[i], &p->arguments[i]))
        i++;
    if (i == count && count == p->count)
        return BN_OK;
    if (count != p->count)
        return bn_fail(st, BN_INVALID,
                       "--argument is given %zu times, and the program takes %zu "
                       "arguments; leave --argument out, the program declares their types",
                       count, p->count);
    bn_text text = {0};
    mode_type_write(&given[i], &text);
    bn_text_puts(&text, ", and the program's is ");
    mode_type_write(&p->arguments[i], &text);
    bn_code code =
        bn_fail(st, BN_INVALID,
                "--argument %zu is %s; leave --argument out, the program declares the types", i + 1,
                text.data);
    bn_text_free(&text);
    return code;
}

static bn_code read_arguments(const json_t *request, job_program_text *p, bn_status *st)
{
    const char *code = p->text;
    size_t size = p->length, count = 0;
    mode_argument *given = NULL;
    const bool has_types = json_array_size(json_object_get(request, "types")) > 0;
    p->form = mode_form_find(&code, &size);
    p->program = (rt_program){.format = mode_form_name(p->form), .code = code, .size = size};
    bn_code read = mode_signature_read(&p->program, &p->arguments, &p->count, &p->declared, st);
    if (read == BN_OK && !p->declared && !has_types)
        return bn_fail(st, BN_INVALID,
                       "StableHLO byte code whose types bench cannot read; give the type of each "
                       "argument in order, as --argument 'f32[2,3]', --argument none where it "
                       "takes none, or the program as text");
    if (read != BN_OK || !has_types)
        return read;
    read = types_from_request(request, &given, &count, st);
    if (read == BN_OK && p->declared)
        read = check_types(p, given, count, st);
    if (read == BN_OK && p->declared) {
        for (size_t i = 0; i < count; i++) { /* the user's layout is used */
            p->arguments[i].laid_out = given[i].laid_out || p->arguments[i].laid_out;
            if (given[i].laid_out)
                memcpy(p->arguments[i].order, given[i].order, sizeof given[i].order);
            if (given[i].tiles[0])
                memcpy(p->arguments[i].tiles, given[i].tiles, sizeof given[i].tiles);
        }
    } else if (read == BN_OK) {
        p->arguments = given;
        p->count = count;
        given = NULL;
    }
    free(given);
    return read;
}

/* A constant's value is known only to the exporter of the program; with another value it is another
 * program. */
static bn_code check_constants(const job_program_text *p, bn_status *st)
{
    for (size_t i = 0; i < p->count && !p->inputs; i++)
        if (p->arguments[i].constant[0])
            return bn_fail(st, BN_INVALID,
                           "argument %zu is a constant of the exporter, %s, which bench cannot "
                           "make up; give all arguments by --input, this one with its value%s",
                           i, p->arguments[i].constant,
                           strcmp(p->arguments[i].constant, "_platform_index") == 0
                               ? ", the index of this runtime's platform among those that it was "
                                 "exported for, from 0"
                               : "");
    return BN_OK;
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
        code = read_arguments(request, p, st);
    if (code == BN_OK)
        code = check_constants(p, st);
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

/* ---- arrays --------------------------------------------------------------------------------- */

/* Whether the array FOUND can be A: the same type and shape, or the bits of a type that NumPy
 * lacks: bf16, or a float of 8 bits. */
static bool fits(const mode_argument *a, const rt_npy *found)
{
    const bool bits = (found->dtype == BN_U16 && a->dtype == BN_BF16) ||
                      (found->dtype == BN_U8 && bn_dtype_is_f8(a->dtype));
    if (a->rank != found->rank || (found->void_bits ? !bits : !bits && found->dtype != a->dtype))
        return false;
    return memcmp(a->dims, found->dims, a->rank * sizeof *a->dims) == 0;
}

static void put_type(bn_text *out, rt_dtype dtype, size_t rank, const int64_t *dims)
{
    bn_text_puts(out, "tensor<");
    for (size_t i = 0; i < rank; i++)
        bn_text_printf(out, "%lldx", (long long)dims[i]);
    bn_text_printf(out, "%s>", bn_dtype_text(dtype));
}

bn_code job_program_array(const char *path, const mode_argument *a, const char *what, size_t index,
                          void *host, bn_status *st)
{
    char *bytes = NULL;
    size_t size;
    rt_npy found;
    bn_code code = bn_regular_read(path, &bytes, &size, st);
    if (code == BN_OK)
        code = rt_npy_parse(path, bytes, size, &found, st);
    if (code == BN_OK && !fits(a, &found)) {
        bn_text text = {0};
        put_type(&text, found.dtype, found.rank, found.dims);
        bn_text_printf(&text, ", and %s %zu is ", what, index);
        put_type(&text, a->dtype, a->rank, a->dims);
        code = bn_fail(st, BN_INVALID, "%s holds %s", path, text.data);
        bn_text_free(&text);
    }
    if (code == BN_OK && host)
        memcpy(host, found.data, found.size);
    free(bytes);
    return code;
}

const char *job_program_file(const json_t *request, const char *list, size_t index)
{
    return json_string_value(json_array_get(json_object_get(request, list), index));
}

size_t job_program_files(const json_t *request, const char *list)
{
    return json_array_size(json_object_get(request, list));
}

/* Whether a file can be made where PATH is to be. */
static bn_code check_output(const char *path, bn_status *st)
{
    const char *base = bn_base_name(path);
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%.*s", (int)(base - path), path) >= (int)sizeof folder)
        return bn_fail(st, BN_INVALID, "--output %s: the path is too long", path);
    if (access(folder[0] ? folder : ".", W_OK | X_OK) != 0)
        return bn_fail_errno(st, errno, "--output %s", path);
    return BN_OK;
}

/* Checks the files of arrays before anything runs; a worker would fail late. Each worker reads them
 * again: an array may have gigabytes, which a parent would keep from the measured process. The
 * worker checks the types, too, since a file may be replaced meanwhile. The results' types are not
 * known yet. */
static bn_code check_arrays(const json_t *request, const job_program_text *p, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < p->inputs && code == BN_OK; i++)
        code = job_program_array(job_program_file(request, "inputs", i), &p->arguments[i],
                                 "argument", i, NULL, st);
    for (size_t i = 0; i < job_program_files(request, "checks") && code == BN_OK; i++) {
        const char *path = job_program_file(request, "checks", i);
        char *bytes = NULL;
        size_t size = 0;
        rt_npy found;
        code = bn_regular_read(path, &bytes, &size, st);
        if (code == BN_OK)
            code = rt_npy_parse(path, bytes, size, &found, st);
        free(bytes);
    }
    for (size_t i = 0; i < job_program_files(request, "outputs") && code == BN_OK; i++)
        code = check_output(job_program_file(request, "outputs", i), st);
    return code;
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
    *request = json_pack("{ss so so so sf sf so*}", "file", m->program, "inputs",
                         words_json(m->inputs.list), "outputs", words_json(m->outputs.list),
                         "checks", words_json(m->checks.list), "rtol", m->rtol, "atol", m->atol,
                         "types", m->types.count ? words_json(m->types.list) : NULL);
    if (!*request)
        return bn_fail(st, BN_INVALID, "--program: the path is not UTF-8");
    bn_code code = job_program_read(*request, &p, st);
    json_object_set_new(*request, "sha256", json_string(p.sha256));
    if (code == BN_OK)
        code = check_arrays(*request, &p, st);
    job_program_text_free(&p);
    return code;
}

/* ---- names of experiments ---------------------------------------------------------------------
 */

/* Writes all SIZE bytes of FIELD: experiments are compared as bytes. */
static void BN_PRINTF(3, 4) set_text(char *field, size_t size, const char *format, ...)
{
    va_list arguments;
    memset(field, 0, size);
    va_start(arguments, format);
    vsnprintf(field, size, format, arguments);
    va_end(arguments);
}

/* In WHAT: a program has none of a model's axes. */
static void leave_out_model(res_experiment *what)
{
    set_text(what->phase, sizeof what->phase, "program");
    set_text(what->dtype, sizeof what->dtype, "%s", "");
    set_text(what->layout, sizeof what->layout, "%s", "");
    what->batch = what->image = what->seq = 0;
    what->graphs = 1;
}

void job_program_describe(const json_t *request, res_experiment *what)
{
    memset(what->model, 0, sizeof what->model);
    name_of(json_string_value(json_object_get(request, "file")), what->model, sizeof what->model);
    set_text(what->mode, sizeof what->mode, "program");
    /* Programs of one name but other texts are separate rows of a table. */
    set_text(what->variant, sizeof what->variant, "text %.12s",
             json_string_value(json_object_get(request, "sha256")));
    leave_out_model(what);
}

bool job_is_step(const json_t *request)
{
    return json_object_get(request, "runs") != NULL;
}

bool job_same_step(const job_experiment *a, const job_experiment *b)
{
    const char *left = json_string_value(json_object_get(a->program, "sha256"));
    const char *right = json_string_value(json_object_get(b->program, "sha256"));
    return job_is_step(a->program) && job_is_step(b->program) && left && right &&
           strcmp(left, right) == 0;
}

void job_step_variant(const json_t *request, char variant[RES_TEXT])
{
    set_text(variant, RES_TEXT, "step %.12s",
             json_string_value(json_object_get(request, "sha256")));
}

void job_step_describe(const json_t *request, res_experiment *what)
{
    const char *cost = json_string_value(json_object_get(request, "cost"));
    const char *topology = json_string_value(json_object_get(request, "topology"));
    char step[RES_TEXT];
    job_step_variant(request, step);
    set_text(what->model, sizeof what->model, "%.*s", (int)sizeof what->model - 1,
             json_string_value(json_object_get(request, "name")));
    /* On a simulated device, other costs are other experiments. */
    set_text(what->variant, sizeof what->variant, "%.20s%s%s%.*s", step,
             cost && strcmp(cost, "roofline") == 0 ? " roofline" : "",
             topology ? " estimated " : "", JOB_MOST_TOPOLOGY, topology ? topology : "");
    /* A host that did not wait for its steps does not wait in the replay. */
    if (strcmp(what->mode, MODE_REPLAY_PACED) == 0 &&
        json_is_true(json_object_get(json_object_get(request, "host"), "ahead")))
        what->in_flight = AHEAD_STEPS;
    leave_out_model(what);
}
