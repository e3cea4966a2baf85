/*
 * estimate_record.c - records of estimated steps. A record holds the compiler's figures of the
 * programs, and the estimates in its provenance; it has no steps, and its runtime's name is marked
 * (results/records/estimates.h).
 */
#include "harness/estimate/estimate_priv.h"
#include "results/records/estimates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 100 /* of a runtime, and of a topology */

/* ---- the experiment --------------------------------------------------------------------- */

/* "tpu v4:1x1x1 megacore (estimated)", without a slash: series take the last part of a path. */
static void name_runtime(const estimate_task *task, res_experiment *e)
{
    const char *runtime = bn_base_name(task->experiment->what.runtime);
    char topology[NAME_BYTES + 1];
    snprintf(topology, sizeof topology, "%.*s", (int)bn_utf8_fit(task->topology, NAME_BYTES),
             task->topology);
    for (char *c = topology; *c; c++)
        if (*c == '/')
            *c = ' ';
    snprintf(e->runtime, sizeof e->runtime, "%.*s %s" RES_ESTIMATED,
             (int)bn_utf8_fit(runtime, NAME_BYTES), runtime, topology);
}

/* Adds the topology's options to the settings, which have the compiler's flags. */
static void add_settings(const estimate_run *run, res_experiment *e)
{
    bn_text text = {0};
    bn_text_puts(&text, e->settings);
    for (const char *const *option = run->options->option; option && *option; option++)
        bn_text_printf(&text, "%s%s", text.length ? " " : "", *option);
    if (text.length)
        snprintf(e->settings, sizeof e->settings, "%.*s",
                 (int)bn_utf8_fit(text.data, sizeof e->settings - 1), text.data);
    bn_text_free(&text);
}

/* ---- its programs ------------------------------------------------------------------------ */

/* A size, and a number of operations; -1 and NaN where unknown. */
static int64_t bytes_of(const json_t *line, const char *part, const char *name)
{
    const double bytes = estimate_figure(line, part, name);
    return bytes >= 0 && bytes < 9e15 ? (int64_t)bytes : -1;
}

static double amount_of(const json_t *line, const char *name)
{
    const double amount = estimate_figure(line, NULL, name);
    return amount < 0 ? (double)NAN : amount;
}

static void fill_execution(const json_t *line, res_execution *x)
{
    const char *graph = res_json_get_text(line, "graph");
    const double compile_s = estimate_figure(line, NULL, "compile_s");
    const json_t *flops = json_object_get(line, "flops");
    snprintf(x->graph, sizeof x->graph, "%.*s", (int)bn_utf8_fit(graph, sizeof x->graph - 1),
             graph);
    x->per_step = (int)estimate_times(line);
    x->nodes = json_integer_value(json_object_get(line, "nodes"));
    x->text_bytes = json_integer_value(json_object_get(line, "text_bytes"));
    x->flops = json_is_number(flops) ? json_number_value(flops) : (double)NAN;
    x->bytes = (double)NAN;
    x->compile_ns = compile_s > 0 && compile_s < 1e6 ? (uint64_t)(1e9 * compile_s) : 0;
    x->argument_bytes = bytes_of(line, "memory", "argument");
    x->result_bytes = bytes_of(line, "memory", "result");
    x->temp_bytes = bytes_of(line, "memory", "temp");
    x->host_temp_bytes = bytes_of(line, "memory", "host_temp");
    x->offload_bytes = json_integer_value(json_object_get(line, "offload_bytes"));
    x->code_bytes = bytes_of(line, "memory", "code");
    x->peak_bytes = bytes_of(line, "memory", "peak");
    x->optimized_bytes = bytes_of(line, NULL, "optimized_bytes");
    x->compiler_flops = amount_of(line, "flops");
    x->compiler_bytes = amount_of(line, "bytes");
    snprintf(x->device_note, sizeof x->device_note, "estimated, not measured");
}

/* ---- provenance -------------------------------------------------------------------------- */

/* NUMBER, or null where it is unknown. */
static json_t *known(double number)
{
    return number < 0 ? json_null() : res_json_real(number);
}

/* A copy of member PART.NAME of LINE's estimate (new reference); NULL: there is none. */
static json_t *found(const json_t *line, const char *part, const char *name)
{
    const json_t *estimate = json_object_get(line, "estimate");
    return json_deep_copy(json_object_get(json_object_get(estimate, part), name));
}

static json_t *runtime_json(const estimate_run *run, const estimate_task *task, const json_t *line)
{
    return json_pack("{so ss ss so* so* s{so*} so so}", "path", res_json_text(run->path), "sha256",
                     run->sha256, "label", "", "attributes", found(line, "plugin", "attributes"),
                     "platform", found(line, "topology", "platform"), "device", "kind",
                     found(line, "topology", "kind"), "options",
                     estimate_words(NULL, run->options->option), "compile_flags",
                     estimate_words(NULL, task->experiment->how.xla_flag));
}

static json_t *figures_json(double cycles, double copy_cycles, double ms)
{
    return json_pack("{so so so}", "cycles", known(cycles), "copy_cycles", known(copy_cycles), "ms",
                     known(ms));
}

/* Adds the counts to FIGURES that make the sum over the lines from FIRST to END too low. */
static void add_lacks(json_t *figures, const json_t *lines, size_t first, size_t end)
{
    static const struct {
        const char *name, *list, *lacking;
    } lacks[] = {{"untold_loops", "loops", "times"},
                 {"collectives", "collectives", "cycles"},
                 {"silent", "silent", NULL}};
    for (size_t k = 0; k < sizeof lacks / sizeof *lacks; k++) {
        size_t count = 0;
        for (size_t i = first; i < end; i++)
            count += estimate_count(json_array_get(lines, i), lacks[k].list, lacks[k].lacking);
        json_object_set_new(figures, lacks[k].name, json_integer((json_int_t)count));
    }
}

/* The figures of one execution of the program of line INDEX. */
static json_t *execution_json(const json_t *lines, size_t index)
{
    const json_t *line = json_array_get(lines, index);
    json_t *figures = figures_json(estimate_figure(line, NULL, "cycles"),
                                   estimate_figure(line, NULL, "copy_cycles"), estimate_ms(line));
    if (estimate_is_ok(line))
        add_lacks(figures, lines, index, index + 1);
    return figures;
}

/* Figures of a step: of the lines from FIRST to END, which all have an estimate. */
static json_t *step_json(const json_t *lines, size_t first, size_t end)
{
    json_t *figures = figures_json(estimate_sum_of_step(lines, first, end, "cycles"),
                                   estimate_sum_of_step(lines, first, end, "copy_cycles"),
                                   estimate_sum_ms(lines, first, end));
    add_lacks(figures, lines, first, end);
    return figures;
}

static json_t *estimate_json(const estimate_task *task, const json_t *lines, size_t first,
                             size_t end)
{
    const json_t *line = json_array_get(lines, first);
    const char *class = estimate_class(lines, first, end);
    const bool ok = strcmp(class, ESTIMATE_OK) == 0;
    json_t *graphs = json_array();
    for (size_t i = first; i < end; i++)
        json_array_append_new(graphs, execution_json(lines, i));
    json_t *estimate =
        json_pack("{so ss ss so* so* so so}", "topology", res_json_text(task->topology), "layouts",
                  task->experiment->what.layouts, "class", class, "clock_ghz",
                  json_deep_copy(json_object_get(line, "clock_ghz")), "clock_source",
                  json_deep_copy(json_object_get(line, "clock_source")), "memory_bytes",
                  known(estimate_figure(line, "topology", "memory_bytes")), "graphs", graphs);
    json_t *sums = ok ? step_json(lines, first, end) : json_object();
    json_object_update(estimate, sums);
    json_decref(sums);
    return estimate;
}

/* ---- all of it --------------------------------------------------------------------------- */

/* The class of the failure, where one graph has no estimate. */
static void set_failure(const json_t *lines, size_t first, size_t end, res_record *r)
{
    size_t i = first;
    while (i < end && estimate_is_ok(json_array_get(lines, i)))
        i++;
    if (i == end)
        return;
    const json_t *line = json_array_get(lines, i);
    const char *class = res_json_get_text(line, "class"),
               *message = res_json_get_text(line, "message");
    const bn_code code = bn_code_from_name(class);
    r->status = strcmp(class, ESTIMATE_MEMORY) == 0      ? BN_OUT_OF_MEMORY
                : code == BN_OK || code == BN_CODE_COUNT ? BN_NOT_SUPPORTED
                                                         : code;
    snprintf(r->message, sizeof r->message, "%.*s: %.*s", BN_FIT(class, 60), BN_FIT(message, 900));
}

static bn_code fill(const estimate_run *run, const estimate_task *task, size_t first, size_t end,
                    res_record *r, bn_status *st)
{
    const json_t *lines = run->lines, *line = json_array_get(lines, first);
    if (!estimate_what(line, &r->experiment))
        return bn_fail(st, BN_INVALID, "an estimate of no experiment");
    name_runtime(task, &r->experiment);
    set_failure(lines, first, end, r);
    snprintf(r->values, sizeof r->values, "none");
    add_settings(run, &r->experiment);
    bn_code code = res_record_reserve_executions(r, end - first, st);
    for (size_t i = 0; code == BN_OK && i < end - first; i++)
        fill_execution(json_array_get(lines, first + i), &r->executions[i]);
    json_decref(r->provenance);
    r->provenance =
        json_pack("{so so so}", "runtime", runtime_json(run, task, line), "host",
                  job_host_describe(), "estimate", estimate_json(task, lines, first, end));
    return code == BN_OK ? res_record_check(r, st) : code;
}

/* Whether the lines from FIRST to END are all of a step, on a topology that there is. */
static bool is_whole(const json_t *lines, size_t first, size_t end)
{
    const json_t *last = json_array_get(lines, end - 1);
    return end > first &&
           json_integer_value(json_object_get(last, "number")) ==
               json_integer_value(json_object_get(last, "of")) &&
           strcmp(estimate_class(lines, first, end), ESTIMATE_TOPOLOGY) != 0;
}

bn_code estimate_keep(estimate_run *run, const estimate_task *task, size_t first, bn_status *st)
{
    const char *store = run->options->store;
    const size_t end = json_array_size(run->lines);
    if (!store || end == first || !is_whole(run->lines, first, end))
        return BN_OK;
    res_record *r = res_record_new();
    bn_code code = fill(run, task, first, end, r, st);
    if (code == BN_OK)
        code = res_store_write(store, r, NULL, 0, st);
    run->kept += code == BN_OK;
    res_record_free(r);
    return code;
}
