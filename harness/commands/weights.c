/* weights.c - bench export weights, which needs no runtime. */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one model that the options name. */
static bn_code one_model(const job_matrix *matrix, job_experiment *one, bn_status *st)
{
    job_experiment *list = NULL;
    size_t count = 0;
    bn_text notes = {0};
    bn_code code = job_matrix_expand(matrix, &list, &count, &notes, st);
    if (code == BN_OK && count != 1)
        code = bn_fail(st, BN_INVALID,
                       "bench export weights writes one file: one --model, --variant, --depth and "
                       "--dtype");
    if (code == BN_OK && notes.length)
        cli_err("%s", notes.data);
    if (code == BN_OK)
        *one = list[0];
    free(list);
    bn_text_free(&notes);
    return code;
}

static bn_code write_file(const model *m, const res_experiment *what, const char *path,
                          bool replace, model_export_sums *sums, bn_status *st)
{
    const int layers = model_get_options(m)->depth;
    char seed[32], depth[16];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)model_get_options(m)->seed);
    snprintf(depth, sizeof depth, "%d", layers);
    /* "format": readers of PyTorch's files want to know whose names these are. */
    const char *metadata[] = {"format", "pt", "writer", "bench", "contents",
                              "counter rule, not trained", "model", what->model, "variant",
                              what->variant, "seed", seed,
                              /* The model's own number of layers goes without saying. */
                              layers ? "depth" : NULL, depth, NULL};
    model_export *out = NULL;
    bool more = true;
    bn_code code = model_export_begin(m, path, metadata, replace, &out, st);
    while (code == BN_OK && more) {
        code = model_export_next(out, &more, st);
        if (code == BN_OK && job_interrupted())
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
        char depth[32] = "";
        if (what->depth)
            snprintf(depth, sizeof depth, ", depth %d", what->depth);
        cli_tell("%s: %s.%s, %s, seed %llu%s: %zu tensors, %lld elements, %zu bytes", path,
                 what->model, what->variant, what->dtype, (unsigned long long)seed, depth,
                 sums->tensors, (long long)sums->elements, sums->bytes);
        return;
    }
    json_t *list =
        json_pack("[{ss ss ss ss si sI sI sI sI}]", "path", path, "model", what->model, "variant",
                  what->variant, "dtype", what->dtype, "depth", what->depth, "seed",
                  (json_int_t)seed, "tensors", (json_int_t)sums->tensors, "elements",
                  (json_int_t)sums->elements, "bytes", (json_int_t)sums->bytes);
    cli_json(list);
    json_decref(list);
}

static int export_weights(const job_matrix *matrix, const cli_output *output, const char *file)
{
    bn_status st = {.code = BN_OK};
    job_experiment one;
    model *m = NULL;
    model_export_sums sums;
    bool json = strcmp(output->format, "json") == 0;
    bn_code code = BN_OK;
    if (!file || !file[0])
        code = bn_fail(&st, BN_INVALID, "bench export weights needs --output FILE");
    if (code == BN_OK)
        code = one_model(matrix, &one, &st);
    if (code == BN_OK) {
        model_options o = job_model_options(&one.what, one.what.runtime);
        o.train = false; /* no state of an optimizer */
        code = model_new(one.what.model, &o, &m, &st);
    }
    job_supervise_begin();
    if (code == BN_OK)
        code = write_file(m, &one.what, file, output->force, &sums, &st);
    if (code == BN_OK)
        print_sums(&one.what, model_get_options(m)->seed, file, &sums, json);
    model_free(m);
    return code == BN_OK ? CLI_EXIT_OK : (int)cli_complain(&st);
}

typedef struct weights_options {
    cli_output output;
    job_matrix matrix;
    const char *file;
} weights_options;
#define AT(member) offsetof(weights_options, member)

static const cli_option rows[] = {
    CLI_FORMAT_ROW(AT(output.format), "text, json", "text or json"),
    {"output", "FILE", CLI_TEXT, AT(file), .also = "o",
     .text = "safetensors file to write; --force replaces one that is there"},
};

static int run(void *options, const cli_call *call)
{
    const weights_options *o = options;
    (void)call;
    return export_weights(&o->matrix, &o->output, o->file);
}

const cli_command command_export_weights = {
    .name = "export weights",
    .usage = "bench export weights --model NAME --output FILE",
    .summary = "write a model's initial parameters and running statistics as a safetensors file",
    .bare = "model",
    .size = sizeof(weights_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .about = JOB_ABOUT_NETWORK,
                .rows = JOB_AXIS_BIT(DTYPE) | JOB_AXIS_BIT(SEED)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_VERBOSE | CLI_OUT_FORCE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
};
