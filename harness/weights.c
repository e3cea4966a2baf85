/*
 * weights.c - weights of files: --weights before and in a worker, and bench
 * export-weights, which needs no runtime.
 */
#include "harness/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a file ------------------------------------------------------------------ */

bn_code hn_weights_open(const char *file, const model *instance, model_weights **weights,
                        bn_status *st)
{
    model_weights *w = NULL;
    bn_code code = model_weights_open(file, &w, st);
    if (code == BN_OK)
        code = model_weights_fit(w, instance, st);
    if (code != BN_OK) {
        model_weights_close(w);
        return bn_context(st, "--weights");
    }
    *weights = w;
    return BN_OK;
}

/* What decides over names and shapes of an experiment's variables. */
static bn_code check_one(const res_experiment *what, const char *file, bn_status *st)
{
    model_options o = {.small = strcmp(what->variant, "small") == 0,
                       .train = strcmp(what->phase, "train") == 0,
                       .batch = what->batch,
                       .image = what->image,
                       .dtype = tg_dtype_parse(what->dtype)};
    model *m = NULL;
    model_weights *w = NULL;
    bn_status refused = {.code = BN_OK};
    /* Options that the model refuses are the experiment's failure, not the file's. */
    if (model_new(what->model, &o, &m, &refused) != BN_OK)
        return BN_OK;
    bn_code code = hn_weights_open(file, m, &w, st);
    model_weights_close(w);
    model_free(m);
    return code;
}

bn_code hn_weights_check(const hn_experiment *list, size_t count, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && code == BN_OK && list[i].weights; i++) {
        const res_experiment *a = &list[i].what, *b = i ? &list[i - 1].what : NULL;
        bool seen = b && strcmp(a->variant, b->variant) == 0 && a->image == b->image;
        if (!seen)
            code = check_one(a, list[i].weights, st);
    }
    return code;
}

#define NAMED 16 /* unused tensors in a record; the rest is counted */

json_t *hn_weights_to_json(const char *file, const model_weights *weights)
{
    model_weights_info info;
    char names[NAMED][MODEL_WEIGHTS_NAME];
    json_t *unused = json_array();
    size_t count = model_weights_unused(weights, names, NAMED);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(unused, json_string(names[i]));
    model_weights_describe(weights, &info);
    return json_pack("{ss ss sI sI sI sI so}", "path", file, "sha256", info.sha256, "bytes",
                     (json_int_t)info.bytes, "tensors", (json_int_t)info.tensors, "used",
                     (json_int_t)info.used, "unused", (json_int_t)(info.tensors - info.used),
                     "unused_names", unused);
}

/* ---- to a file --------------------------------------------------------------------- */

/* The one model that the options name. */
static bn_code one_model(const hn_options *options, hn_experiment *one, bn_status *st)
{
    hn_experiment *list = NULL;
    size_t count = 0;
    bn_text notes = {0};
    bn_code code = hn_experiments_expand(options, &list, &count, &notes, st);
    if (code == BN_OK && count != 1)
        code = bn_fail(st, BN_INVALID,
                       "bench export-weights writes one file: one --model, --variant and --dtype");
    if (code == BN_OK)
        *one = list[0];
    free(list);
    bn_text_free(&notes);
    return code;
}

static bn_code write_file(const model *m, const res_experiment *what, const char *path,
                          model_export_sums *sums, bn_status *st)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)model_get_options(m)->seed);
    /* "format": readers of PyTorch's files want to know whose names these are. */
    const char *metadata[] = {
        "format", "pt",        "writer",  "bench",       "contents", "counter rule, not trained",
        "model",  what->model, "variant", what->variant, "seed",     seed,
        NULL};
    model_export *out = NULL;
    bool more = true;
    bn_code code = model_export_begin(m, path, metadata, &out, st);
    while (code == BN_OK && more) {
        code = model_export_next(out, &more, st);
        if (code == BN_OK && hn_interrupted())
            code = bn_fail(st, BN_CANCELLED, "interrupted; %s was not written", path);
    }
    if (code == BN_OK)
        return model_export_finish(out, sums, st);
    model_export_abandon(out);
    return code;
}

static void print_sums(const res_experiment *what, uint64_t seed, const char *path,
                       const model_export_sums *sums, bool json)
{
    if (!json) {
        printf("%s: %s.%s, %s, seed %llu: %zu tensors, %lld elements, %zu bytes\n", path,
               what->model, what->variant, what->dtype, (unsigned long long)seed, sums->tensors,
               (long long)sums->elements, sums->bytes);
        return;
    }
    json_t *list = json_pack("[{ss ss ss ss sI sI sI sI}]", "path", path, "model", what->model,
                             "variant", what->variant, "dtype", what->dtype, "seed",
                             (json_int_t)seed, "tensors", (json_int_t)sums->tensors, "elements",
                             (json_int_t)sums->elements, "bytes", (json_int_t)sums->bytes);
    json_dumpf(list, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(list);
}

int hn_command_export_weights(const hn_options *options)
{
    bn_status st = {.code = BN_OK};
    hn_experiment one;
    model *m = NULL;
    model_export_sums sums;
    bool json = strcmp(options->format, "json") == 0;
    bn_code code = BN_OK;
    if (!options->output || !options->output[0])
        code = bn_fail(&st, BN_INVALID, "bench export-weights needs --output FILE");
    else if (!json && strcmp(options->format, "text") != 0)
        code = bn_fail(&st, BN_INVALID, "bench export-weights prints text or json, not %s",
                       options->format);
    if (code == BN_OK)
        code = one_model(options, &one, &st);
    if (code == BN_OK) {
        model_options o = {.small = strcmp(one.what.variant, "small") == 0,
                           .dtype = tg_dtype_parse(one.what.dtype),
                           .seed = one.what.seed};
        code = model_new(one.what.model, &o, &m, &st);
    }
    hn_supervisor_begin();
    if (code == BN_OK)
        code = write_file(m, &one.what, options->output, &sums, &st);
    if (code == BN_OK)
        print_sums(&one.what, model_get_options(m)->seed, options->output, &sums, json);
    model_free(m);
    return code == BN_OK ? HN_EXIT_OK : (int)hn_complain(&st);
}
