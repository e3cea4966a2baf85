/*
 * published.c - bench replay: published cases on the simulated runtime. Every step is
 * traced, compiled, executed and measured as on any runtime; only the device's times
 * and the framework's cost for each node are set.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/published_priv.h"
#include "harness/selftest/selftest.h"
#include "results/tables/tables.h"
#include "runtime/pjrt/pjrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRESET "preset=tpu-v4-2023"

/* ---- the framework ---------------------------------------------------------------------- */

/* Counts the nodes of our ResNet50 training step, over which the published tracing time is spread.
 */
static bn_code count_nodes(double *nodes, bn_status *st)
{
    model_options o = {.train = true, .batch = 1, .dtype = TG_F32, .seed = 1};
    model *m = NULL;
    tg_trace *t = tg_trace_new();
    bn_code code = model_new("resnet50", &o, &m, st);
    if (code == BN_OK) {
        tg_trace_begin(t);
        model_step(t, m);
        code = tg_trace_status(t, st);
        *nodes = (double)tg_trace_node_count(t);
    }
    model_free(m);
    tg_trace_free(t);
    return code;
}

/* ---- one run ------------------------------------------------------------------------------- */

static void summarize(const res_record *r, replayed *out)
{
    uint64_t *traced = bn_zalloc(r->step_count + 1, sizeof *traced);
    for (size_t i = 0; i < r->step_count; i++)
        for (int p = 0; p < BN_PART_COUNT; p++)
            if (p == BN_PART_TRACE || p == BN_PART_HASH || p == BN_PART_LOOKUP)
                traced[i] += r->part_ns[i * BN_PART_COUNT + (size_t)p];
    *out = (replayed){.measured = true,
                      .nodes =
                          (double)r->step_counters[BN_COUNTER_NODES_TRACED] / (double)r->step_count,
                      .trace_ms = res_quantile(traced, r->step_count, 0.5) / 1e6,
                      .wall_ms = res_quantile(r->wall_ns, r->step_count, 0.5) / 1e6,
                      .wall_low_ms = res_quantile(r->wall_ns, r->step_count, 0.1) / 1e6,
                      .wall_high_ms = res_quantile(r->wall_ns, r->step_count, 0.9) / 1e6};
    for (size_t i = 0; i < r->execution_count; i++) {
        const res_execution *x = &r->executions[i];
        out->executions += x->per_step;
        if (x->per_step == 0)
            continue;
        out->device_ms += x->per_step * x->device_ns / 1e6;
        out->overhead_ms += x->per_step * res_execution_overhead(x).estimate / 1e6;
    }
    free(traced);
}

/* Keeps TITLE where its case, of RECORD, had more of the device's memory than any before. */
static void note_memory(published_replay *r, const char *title, const res_record *record)
{
    const double bytes = res_provenance_number(record, RES_PROV_DEVICE_MEMORY_PEAK);
    if (!(bytes > r->memory_bytes))
        return;
    r->memory_bytes = bytes;
    r->memory_limit = res_provenance_number(record, RES_PROV_DEVICE_MEMORY_LIMIT);
    snprintf(r->largest, sizeof r->largest, "%s", title + strlen("replay "));
}

/* Adds the interference during the case TITLE, of RECORD. */
static void note_interference(published_replay *r, const char *title, const res_record *record)
{
    res_interference own = {0};
    res_interference_add_record(&own, record);
    res_interference_add_record(&r->interference, record);
    if (!res_interference_busy(&own) ||
        (r->busiest_case[0] &&
         res_interference_stalled(&own) <= res_interference_stalled(&r->busiest)))
        return;
    r->busiest = own;
    snprintf(r->busiest_case, sizeof r->busiest_case, "%s", title + strlen("replay "));
}

/* Measures one case. DISPATCH: its value of that axis; the published executions were awaited one by
 * one. SETTING: a further runtime option, or NULL. */
static bn_code run(published_replay *r, const char *model_name, const char *mode_name, int graphs,
                   int batch, const char *dispatch, const char *setting, replayed *out,
                   bn_status *st)
{
    job_matrix m = *r->options->matrix;
    char title[96];
    job_experiment *list = NULL;
    res_record *record = NULL;
    size_t count = 0, n = 0;
    bn_text notes = {0};
    job_matrix_set(&m, RES_AXIS_MODEL, model_name);
    job_matrix_set(&m, RES_AXIS_MODE, mode_name);
    job_matrix_set(&m, RES_AXIS_OPTIMIZER, "sgd");
    job_matrix_set(&m, RES_AXIS_RUNTIME, "sim");
    job_matrix_set(&m, RES_AXIS_DISPATCH, dispatch);
    job_matrix_set_number(&m, RES_AXIS_GRAPHS, graphs);
    job_matrix_set_number(&m, RES_AXIS_BATCH, batch);
    job_matrix_set_number(&m, RES_AXIS_TRACE_COST, (int64_t)(r->node_ns + 0.5));
    m.how.runtime_option[n++] = PRESET;
    m.how.runtime_option[n++] = "values=none";
    m.how.runtime_option[n++] = "compile_us=0"; /* compile times are not replayed */
    m.how.runtime_option[n++] = "compile_op_us=0";
    m.how.runtime_option[n++] = setting;
    m.how.runtime_option[n] = NULL;
    m.how.min_time = 0;
    bn_code code = job_matrix_expand(&m, &list, &count, &notes, st);
    snprintf(title, sizeof title, "replay %s %s, %d %s", model_name, mode_name, graphs,
             graphs == 1 ? "graph" : "graphs");
    const job_order job = {NULL, title, ++r->done, r->of, m.how.timeout, r->options->output.verbose,
                           false};
    if (code == BN_OK)
        code = job_measure_in_worker(&list[0], &job, &record, NULL, st);
    if (code == BN_OK) {
        summarize(record, out);
        note_memory(r, title, record);
        note_interference(r, title, record);
    }
    res_record_free(record);
    bn_text_free(&notes);
    free(list);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", title);
}

/* ---- estimated times ------------------------------------------------------------------------ */

#define ESTIMATE                                                                                   \
    "bench estimate --model resnet50 --batch 32 --mode capture --graphs 1,3,5 --format json"

/* The axes that change the graphs of ResNet50's training, and their published values. Batch and
 * type are our reading. The published layout of images, NHWC or NCHW, is unknown. */
static const struct {
    res_axis_id axis;
    const char *word;
    int64_t number;
} published_step[] = {{RES_AXIS_VARIANT, "full", 0}, {RES_AXIS_BATCH, "", 32},
                      {RES_AXIS_IMAGE, "", 224},     {RES_AXIS_OPTIMIZER, "sgd", 0},
                      {RES_AXIS_DTYPE, "f32", 0},    {RES_AXIS_LAYOUTS, "default", 0}};

/* Makes WHAT, a training step of ResNet50, the published one. */
static void make_published(res_experiment *what)
{
    for (size_t i = 0; i < sizeof published_step / sizeof *published_step; i++)
        res_axis_set_value(&res_axes[published_step[i].axis], published_step[i].word,
                           published_step[i].number, what);
}

static bool is_published(const res_experiment *what)
{
    res_experiment published = *what;
    make_published(&published);
    return res_setup_difference(what, &published) == 0;
}

/* "full, batch 32, image 224, sgd, f32": the compared axes of WHAT. */
static void put_step(const res_experiment *what, bn_text *out)
{
    res_axis_set set = 0;
    for (size_t i = 0; i < sizeof published_step / sizeof *published_step; i++)
        set |= RES_AXIS_BIT(published_step[i].axis);
    res_setup_text(what, set, out);
}

/* Whether LINE, of bench estimate, is of the graph MODULE of a ResNet50 training step that is cut
 * into GRAPHS, and has a time. Then WHAT is the step, with its optimizer by name: the model's own
 * is SGD. */
static bool is_of(const json_t *line, const char *module, int graphs, res_experiment *what)
{
    bn_status ignored = {.code = BN_OK};
    if (res_experiment_from_json(json_object_get(line, "experiment"), what, &ignored) != BN_OK)
        return false;
    if (strcmp(what->optimizer, res_axes[RES_AXIS_OPTIMIZER].usual) == 0)
        res_axis_set_value(&res_axes[RES_AXIS_OPTIMIZER], "sgd", 0, what);
    return strcmp(what->model, "resnet50") == 0 && strcmp(what->phase, "train") == 0 &&
           strcmp(res_json_get_text(line, "module"), module) == 0 &&
           json_integer_value(json_object_get(line, "of")) == graphs &&
           json_number_value(json_object_get(line, "estimated_ms")) > 0;
}

/* Fails: the file has times of PART for other steps only, of which WHAT is one. */
static bn_code refuse_step(const published_graph *part, int graphs, const res_experiment *what,
                           bn_status *st)
{
    res_experiment published = *what;
    bn_text own = {0}, needed = {0};
    make_published(&published);
    put_step(what, &own);
    put_step(&published, &needed);
    const bn_code code =
        bn_fail(st, BN_INVALID,
                "--estimates: the time of %s, of a step of %d graphs, is of another step: %s; the "
                "published case is %s, with default layouts; " ESTIMATE " prints its times",
                part->module, graphs, own.data, needed.data);
    bn_text_free(&own);
    bn_text_free(&needed);
    return code;
}

/* Sets PART's device time to the estimated one. The file may have times of other steps, too. */
static bn_code set_time(published_replay *r, published_graph *part, int graphs, bn_status *st)
{
    const json_t *found = NULL;
    res_experiment what = {0}, other = {0};
    bool others = false;
    for (size_t i = 0; i < json_array_size(r->estimates); i++) {
        const json_t *line = json_array_get(r->estimates, i);
        const json_t *ms = json_object_get(line, "estimated_ms");
        if (!is_of(line, part->module, graphs, &what))
            continue;
        if (!is_published(&what)) {
            other = what;
            others = true;
            continue;
        }
        if (found && json_number_value(found) != json_number_value(ms))
            return bn_fail(st, BN_INVALID,
                           "--estimates: %s of %d has two times; estimate one topology",
                           part->module, graphs);
        found = ms;
        r->topology = res_json_get_text(line, "topology");
    }
    if (!found && others)
        return refuse_step(part, graphs, &other, st);
    if (!found)
        return bn_fail(st, BN_INVALID,
                       "--estimates: no time of %s, of a step of %d graphs; " ESTIMATE
                       " prints them",
                       part->module, graphs);
    part->device_ms = json_number_value(found);
    return BN_OK;
}

/* Names the step of the estimated times. */
static void note_step(published_replay *r)
{
    res_experiment published = {0};
    bn_text step = {0};
    make_published(&published);
    put_step(&published, &step);
    snprintf(r->step, sizeof r->step, "%s", step.data);
    bn_text_free(&step);
}

/* Every line must be understood: an unknown one might contradict a time. */
static bn_code check_lines(const json_t *lines, bn_status *st)
{
    res_experiment what;
    if (!json_is_array(lines))
        return bn_fail(st, BN_FORMAT, "not a list; " ESTIMATE " prints one");
    for (size_t i = 0; i < json_array_size(lines); i++)
        if (res_experiment_from_json(json_object_get(json_array_get(lines, i), "experiment"), &what,
                                     st) != BN_OK)
            return bn_context(st, "entry %zu", i + 1);
    return BN_OK;
}

/* Sets the times of all cases to those of the file PATH. */
static bn_code read_estimates(published_replay *r, const char *path, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    bn_code code = bn_regular_read(path, &text, &size, st);
    if (code == BN_OK)
        code = res_json_parse(text, size, &r->estimates, st);
    if (code == BN_OK)
        code = check_lines(r->estimates, st);
    free(text);
    if (code != BN_OK)
        return bn_context(st, "--estimates");
    for (size_t i = 0; i < PUBLISHED_CASES && code == BN_OK; i++)
        for (size_t k = 0; k < r->set[i].part_count && code == BN_OK; k++)
            code = set_time(r, &r->set[i].parts[k], r->set[i].graphs, st);
    if (code == BN_OK)
        note_step(r);
    return code;
}

/* ---- the cases ------------------------------------------------------------------------- */

static bn_code run_resnet50(published_replay *r, bn_status *st)
{
    bn_code code = BN_OK;
    r->of = PUBLISHED_CASES;
    for (size_t i = 0; i < PUBLISHED_CASES && code == BN_OK && !job_interrupted(); i++) {
        const published_case *c = &r->set[i];
        char stated[512] = "stated=";
        for (size_t k = 0; k < c->part_count; k++) {
            size_t used = strlen(stated);
            snprintf(stated + used, sizeof stated - used, "%s%s:%.6g:%.6g", k ? ";" : "",
                     c->parts[k].module, c->parts[k].device_ms * 1e3,
                     c->parts[k].overhead_ms * 1e3);
        }
        /* The device's times are stated, so the batch does not matter. */
        code = run(r, "resnet50", c->mode, c->graphs, 1, c->queued ? "queued" : "awaited", stated,
                   &r->cases[i], st);
    }
    return code;
}

/* Finds the efficiency at which ResNet50 takes the published device time. */
static bn_code calibrate(published_replay *r, bn_status *st)
{
    replayed resnet50 = {0};
    const double published_ms = published_resnet50[0].parts[0].device_ms;
    bn_code code =
        run(r, "resnet50", "lazy", 1, res_published_models[0].batch, "queued", NULL, &resnet50, st);
    r->roofline_ms = resnet50.device_ms;
    r->efficiency = resnet50.device_ms / published_ms;
    return code;
}

static bn_code run_models(published_replay *r, bn_status *st)
{
    char efficiency[48];
    r->of = 1 + RES_PUBLISHED_MODELS * (1 + RES_PUBLISHED_COLUMNS);
    bn_code code = calibrate(r, st);
    snprintf(efficiency, sizeof efficiency, "efficiency=%.4f", r->efficiency);
    /* A case that fails is reported, and the others run. */
    for (size_t i = 0; i < RES_PUBLISHED_MODELS && code == BN_OK; i++) {
        const res_published *m = &res_published_models[i];
        for (int c = -1; c < RES_PUBLISHED_COLUMNS && !job_interrupted(); c++) {
            bn_status why = {.code = BN_OK};
            const bool lazy = c < 0;
            if (run(r, m->model, lazy ? "lazy" : "capture", lazy ? 1 : res_published_graphs[c],
                    m->batch, "awaited", efficiency, lazy ? &r->lazy[i] : &r->captured[i][c],
                    &why) == BN_OK ||
                job_interrupted())
                continue;
            (void)cli_complain(&why);
            r->incomplete = true;
        }
    }
    return code;
}

bool published_is_case(const char *what)
{
    return strcmp(what, "resnet50") == 0 || strcmp(what, "models") == 0;
}

int published_run(const selftest_options *options, const char *what)
{
    bn_status st = {.code = BN_OK};
    published_replay r = {.options = options};
    const bool models = strcmp(what, "models") == 0;
    char path[4096];
    double nodes = 1;
    memcpy(r.set, published_resnet50, sizeof r.set);
    if (options->file && strcmp(what, "resnet50") != 0)
        bn_fail(&st, BN_INVALID, "--estimates is for the published case resnet50, not for '%s'",
                what);
    else if (!published_is_case(what))
        bn_fail(&st, BN_NOT_FOUND,
                "there is neither a recording nor a published case '%s'; the published cases are "
                "resnet50 and models",
                what);
    if (st.code != BN_OK ||
        res_format_parse(cli_format(&options->output), &r.format, &st) != BN_OK ||
        rt_plugin_find("sim", path, sizeof path, &st) != BN_OK ||
        count_nodes(&nodes, &st) != BN_OK ||
        (options->file && read_estimates(&r, options->file, &st) != BN_OK)) {
        json_decref(r.estimates);
        return (int)cli_complain(&st);
    }
    r.node_ns = published_resnet50[0].trace_ms * 1e6 / nodes;
    job_supervise_begin();
    bn_code code = models ? run_models(&r, &st) : run_resnet50(&r, &st);
    cli_line_clear();
    const bool interrupted = job_interrupted();
    cli_exit worst = interrupted    ? CLI_EXIT_INTERRUPTED
                     : r.incomplete ? CLI_EXIT_FAILED
                                    : CLI_EXIT_OK;
    if (code != BN_OK && !interrupted) {
        worst = cli_complain(&st);
        worst = worst == CLI_EXIT_USAGE ? CLI_EXIT_FAILED : worst;
    } else if (models && code == BN_OK) {
        published_print_models(&r);
    } else if (!models && !interrupted) { /* one case alone shows nothing */
        published_print_resnet50(&r);
    }
    json_decref(r.estimates);
    return (int)worst;
}
