/*
 * program.c - bench --program: a StableHLO text that someone else wrote, its
 * arguments from .npy files or made up, its results to .npy files or compared.
 *
 * The parent reads the signature, so that a text that cannot be passed is refused
 * before a worker starts. The worker makes the arguments, runs one step, writes and
 * compares its results, and measures what follows like a model's steps.
 */
#include "harness/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hn_program {
    const json_t *request;
    char *text;
    size_t length;
    mode_argument *arguments;
    void **host; /* [argument] */
    size_t count;
    size_t inputs; /* that came from files */
};

/* ---- request ---------------------------------------------------------------------- */

static json_t *paths_json(const char *const *paths)
{
    json_t *list = json_array();
    for (; *paths; paths++)
        json_array_append_new(list, json_string(*paths));
    return list;
}

static const char *member_text(const json_t *request, const char *list, size_t index)
{
    return json_string_value(json_array_get(json_object_get(request, list), index));
}

static size_t member_count(const json_t *request, const char *list)
{
    return json_array_size(json_object_get(request, list));
}

/* Text and arguments of the file that REQUEST names. */
static bn_code read_text(const json_t *request, hn_program *p, bn_status *st)
{
    const char *file = json_string_value(json_object_get(request, "file"));
    *p = (hn_program){.request = request, .inputs = member_count(request, "inputs")};
    bn_code code = bn_file_read(file, &p->text, &p->length, st);
    if (code == BN_OK)
        code = mode_signature_read(p->text, p->length, &p->arguments, &p->count, st);
    if (code == BN_OK && p->inputs && p->inputs != p->count)
        code = bn_fail(st, BN_INVALID,
                       "--input is given %zu times, and the program takes %zu arguments; give one "
                       "for each, or none to have them made up",
                       p->inputs, p->count);
    return code == BN_OK ? BN_OK : bn_context(st, "program %s", file);
}

static void program_free(hn_program *p)
{
    for (size_t i = 0; i < p->count && p->host; i++)
        free(p->host[i]);
    free(p->host);
    free(p->arguments);
    free(p->text);
    *p = (hn_program){0};
}

void hn_program_free(hn_program *p)
{
    if (p)
        program_free(p);
    free(p);
}

/* "step" of "/a/b/step.mlir". */
static void name_of(const char *file, char *name, size_t size)
{
    const char *slash = strrchr(file, '/');
    snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : file);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = '\0';
}

bn_code hn_program_request(const hn_options *o, json_t **request, bn_status *st)
{
    hn_program p;
    *request = json_pack("{ss so so so sf sf}", "file", o->program, "inputs", paths_json(o->input),
                         "outputs", paths_json(o->outputs), "checks", paths_json(o->check), "rtol",
                         o->rtol, "atol", o->atol);
    if (!*request)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a request");
    bn_code code = read_text(*request, &p, st);
    char digest[BN_SHA256_TEXT] = "";
    if (code == BN_OK)
        bn_sha256(p.text, p.length, digest);
    json_object_set_new(*request, "sha256", json_string(digest));
    program_free(&p);
    return code;
}

void hn_program_describe(const json_t *request, res_experiment *what)
{
    name_of(json_string_value(json_object_get(request, "file")), what->model, sizeof what->model);
    snprintf(what->phase, sizeof what->phase, "program");
    snprintf(what->mode, sizeof what->mode, "program");
    /* Programs of one name with other texts are other rows of a table. */
    snprintf(what->variant, sizeof what->variant, "text %.12s",
             json_string_value(json_object_get(request, "sha256")));
    what->dtype[0] = what->layout[0] = '\0';
    what->batch = what->image = what->seq = 0;
    what->graphs = 1;
}

/* ---- arguments ----------------------------------------------------------------------- */

static void made_up(const mode_argument *a, const char *name, uint64_t seed, void *host)
{
    const bool complex = a->dtype == RT_C64 || a->dtype == RT_C128;
    const size_t bytes = rt_dtype_bytes(a->dtype) / (complex ? 2 : 1);
    const size_t count = (size_t)mode_argument_bytes(a) / bytes;
    for (size_t i = 0; i < count; i++) {
        const double u = model_unit(name, seed, i), v = 2 * u - 1;
        char *at = (char *)host + i * bytes;
        const float f = (float)v;
        uint64_t bits = a->dtype == RT_BOOL ? u >= 0.5 : (uint64_t)(8 * u);
        uint32_t narrow;
        memcpy(&narrow, &f, sizeof narrow);
        if (a->dtype == RT_F64 || a->dtype == RT_C128)
            memcpy(&bits, &v, sizeof bits);
        else if (a->dtype == RT_F32 || a->dtype == RT_C64)
            bits = narrow;
        else if (a->dtype == RT_BF16)
            bits = narrow >> 16;
        else if (a->dtype == RT_F16)
            bits = hn_half_of(v);
        memcpy(at, &bits, bytes); /* the host is little-endian, as the files are */
    }
}

/* Whether a file of FOUND can be the argument A: same type, or bf16 as bits. */
static bool fits(const mode_argument *a, const hn_npy *found)
{
    const bool bits = found->dtype == RT_U16 && a->dtype == RT_BF16;
    if (a->rank != found->rank || (found->void_bits ? !bits : !bits && found->dtype != a->dtype))
        return false;
    return memcmp(a->dims, found->dims, a->rank * sizeof *a->dims) == 0;
}

static void put_type(bn_text *out, rt_dtype dtype, size_t rank, const int64_t *dims)
{
    bn_text_puts(out, "tensor<");
    for (size_t i = 0; i < rank; i++)
        bn_text_printf(out, "%lldx", (long long)dims[i]);
    bn_text_printf(out, "%s>", rt_dtype_text(dtype));
}

/* The contents of PATH to HOST, for the argument or result (WHAT) INDEX. */
static bn_code from_file(const char *path, const mode_argument *a, const char *what, size_t index,
                         void *host, bn_status *st)
{
    char *bytes = NULL;
    size_t size;
    hn_npy found;
    bn_code code = bn_file_read(path, &bytes, &size, st);
    if (code == BN_OK)
        code = hn_npy_parse(path, bytes, size, &found, st);
    if (code == BN_OK && !fits(a, &found)) {
        bn_text text = {0};
        put_type(&text, found.dtype, found.rank, found.dims);
        bn_text_printf(&text, ", and %s %zu is ", what, index);
        put_type(&text, a->dtype, a->rank, a->dims);
        code =
            bn_fail(st, BN_INVALID, "%s holds %s", path, text.failed ? "another type" : text.data);
        bn_text_free(&text);
    }
    if (code == BN_OK)
        memcpy(host, found.data, found.size);
    free(bytes);
    return code;
}

static bn_code make_arguments(hn_program *p, uint64_t seed, bn_status *st)
{
    p->host = calloc(p->count + 1, sizeof(void *));
    if (!p->host)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu arguments", p->count);
    for (size_t i = 0; i < p->count; i++) {
        char name[32];
        const mode_argument *a = &p->arguments[i];
        snprintf(name, sizeof name, "input%zu", i);
        p->host[i] = malloc((size_t)mode_argument_bytes(a) + 1);
        if (!p->host[i])
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for argument %zu, %lld bytes", i,
                           (long long)mode_argument_bytes(a));
        bn_code code = BN_OK;
        if (p->inputs)
            code =
                from_file(member_text(p->request, "inputs", i), a, "argument", i, p->host[i], st);
        else
            made_up(a, name, seed, p->host[i]);
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

static bn_code read_result(hn_session *s, size_t index, result *r, bn_status *st)
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

static bn_code compare(const hn_program *p, const result *r, size_t index, bn_status *st)
{
    const char *path = member_text(p->request, "checks", index);
    const double rtol = json_number_value(json_object_get(p->request, "rtol"));
    const double atol = json_number_value(json_object_get(p->request, "atol"));
    const size_t bytes = (size_t)mode_argument_bytes(&r->type);
    void *wanted = malloc(bytes + 1);
    if (!wanted)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %s", path);
    bn_code code = from_file(path, &r->type, "result", index, wanted, st);
    if (code == BN_INVALID)
        code = st->code = BN_WRONG_RESULT; /* another shape is another result */
    if (code == BN_OK) {
        hn_array_difference d =
            hn_compare_arrays(r->type.dtype, r->host, wanted, bytes, rtol, atol);
        if (d.count)
            code = bn_fail(st, BN_WRONG_RESULT,
                           "result %zu differs from %s in %zu of %zu elements, most at %zu: got "
                           "%.9g, want %.9g (rtol %g, atol %g)",
                           index, path, d.count, d.of, d.worst, d.got, d.want, rtol, atol);
    }
    free(wanted);
    return code;
}

static bn_code use_results(hn_session *s, const hn_program *p, bn_status *st)
{
    const size_t outputs = member_count(p->request, "outputs");
    const size_t checks = member_count(p->request, "checks");
    const size_t count = mode_program_result_count(s->mode);
    if (outputs > count || checks > count)
        return bn_fail(st, BN_INVALID, "--%s is given %zu times, and the program has %zu results",
                       outputs > count ? "output" : "check", outputs > count ? outputs : checks,
                       count);
    bn_code code = outputs || checks ? hn_session_has_values(s, st) : BN_OK, compared = BN_OK;
    bn_status wrong = {.code = BN_OK};
    for (size_t i = 0; i < count && (i < outputs || i < checks) && code == BN_OK; i++) {
        result r;
        code = read_result(s, i, &r, st);
        if (code == BN_OK && i < outputs)
            code = hn_npy_write(member_text(p->request, "outputs", i), r.type.dtype, r.type.rank,
                                r.type.dims, r.host, st);
        /* All outputs are written, then the first difference is told. */
        if (code == BN_OK && i < checks && compared == BN_OK)
            compared = compare(p, &r, i, &wrong);
        free(r.host);
    }
    if (code == BN_OK && compared != BN_OK)
        *st = wrong;
    return code == BN_OK ? compared : code;
}

/* ---- the session ------------------------------------------------------------------------- */

bn_code hn_session_program(hn_session *s, bn_status *st)
{
    const hn_experiment *e = s->experiment;
    size_t flags = 0;
    while (e->xla_flag[flags])
        flags++;
    const mode_options way = {.in_flight = e->what.in_flight,
                              .cache_dir = e->cache_dir[0] ? e->cache_dir : NULL,
                              .compile = {.flags = e->xla_flag, .flag_count = flags}};
    hn_program *p = s->program = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a program");
    hn_report_progress("preparing", 0, 0);
    bn_code code = read_text(e->program, p, st);
    if (code == BN_OK)
        code = make_arguments(p, e->what.seed, st);
    hn_report_progress("compiling", 0, 0);
    if (code == BN_OK)
        code = mode_create_program(s->client, &way, p->text, p->length, p->arguments, p->count,
                                   (const void *const *)p->host, &s->mode, st);
    s->call = (mode_call){0};
    if (code == BN_OK)
        code = mode_step(s->mode, &s->call, NULL, st);
    if (code == BN_OK)
        code = mode_drain(s->mode, st);
    return code == BN_OK ? use_results(s, p, st) : code;
}

json_t *hn_program_to_json(const hn_program *p)
{
    return json_pack("{sO sO sI sb}", "request", p->request, "sha256",
                     json_object_get(p->request, "sha256"), "arguments", (json_int_t)p->count,
                     "made_up", p->inputs == 0 && p->count > 0);
}
