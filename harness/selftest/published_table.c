/* published_table.c - published and replayed figures side by side, and the unexplained rest. */
#define _GNU_SOURCE
#include "harness/selftest/published_priv.h"
#include "models/model.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool for_people(const published_replay *r)
{
    return res_format_is_text(r->format) || r->format == RES_TABLE_MARKDOWN;
}

static void say(const published_replay *r, const char *format, ...) BN_PRINTF(2, 3);
/* To standard output; a paragraph is one line, which narrow text breaks. */
static void say(const published_replay *r, const char *format, ...)
{
    bn_text text = {0};
    char *words = NULL;
    va_list list;
    va_start(list, format);
    if (vasprintf(&words, format, list) < 0)
        bn_out_of_memory(0);
    va_end(list);
    res_put_set_in(&text, r->format, words);
    free(words);
    cli_text(&text);
}

static void print_head(const published_replay *r, const char *what)
{
    if (for_people(r))
        say(r,
            "%s\nPublished: %s.\nReplayed: on the simulated runtime (tpu-v4-2023), with a "
            "framework emulated at %.0f ns a node. Nothing here was measured on a TPU.\n",
            what, res_published_source, r->node_ns);
    if (for_people(r) && r->topology)
        say(r,
            "Device times are estimates of the compiler for %s (%s); overheads and tracing "
            "are the published ones.\n",
            r->topology, r->step);
    if (for_people(r))
        say(r, "\n");
}

/* The interference meanwhile; nothing where the machine was idle. */
static void put_busy(const published_replay *r, bn_text *out)
{
    res_put_interference(&r->interference, r->busiest_case[0] ? &r->busiest : NULL, r->busiest_case,
                         out);
}

static void print_busy(const published_replay *r)
{
    bn_text sentence = {0};
    put_busy(r, &sentence);
    if (sentence.length > 0)
        say(r, "\n%s\n", sentence.data);
    bn_text_free(&sentence);
}

/* Identifiers of what makes the figures doubtful (new reference). */
static json_t *noted_json(const published_replay *r)
{
    json_t *noted = json_array();
    bool off = false;
    for (size_t i = 0; i < PUBLISHED_CASES; i++)
        off = off || published_is_off(&r->set[i], &r->cases[i]);
    if (res_interference_busy(&r->interference))
        json_array_append_new(noted, json_string("machine-busy"));
    if (off)
        json_array_append_new(noted, json_string("cases-off"));
    return noted;
}

static void print_json(const published_replay *r, json_t *all)
{
    bn_text sentence = {0};
    json_object_set_new(all, "noted", noted_json(r));
    put_busy(r, &sentence);
    json_object_set_new(all, "witness",
                        res_interference_to_json(&r->interference,
                                                 r->busiest_case[0] ? r->busiest_case : NULL,
                                                 sentence.data));
    bn_text_free(&sentence);
    cli_json(all);
    json_decref(all);
}

bool published_is_off(const published_case *c, const replayed *x)
{
    double set_ms = c->trace_ms + published_device_ms(c);
    for (size_t i = 0; i < c->part_count; i++)
        set_ms += c->parts[i].overhead_ms;
    return !c->queued && x->measured && fabs(x->wall_ms / set_ms - 1) > PUBLISHED_OFF;
}

/* ---- ResNet50 --------------------------------------------------------------------------- */

static double overheads_ms(const published_case *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->part_count; i++)
        sum += c->parts[i].overhead_ms;
    return sum;
}

static json_t *resnet50_json(const published_replay *r)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < PUBLISHED_CASES; i++) {
        const published_case *c = &published_resnet50[i];
        const replayed *x = &r->cases[i];
        json_array_append_new(
            rows,
            json_pack("{ss si s{sf sf sf sf ss sb} sf s{sf sf sf sf sf sf si} sf sb}", "case",
                      c->name, "graphs", c->graphs, "published", "trace_ms", c->trace_ms,
                      "device_ms", published_device_ms(c), "overhead_ms", overheads_ms(c),
                      "wall_ms", c->wall_ms, "wall_source", c->wall_source, "parts_published",
                      (int)c->parts_published, "set_device_ms", published_device_ms(&r->set[i]),
                      "replayed", "trace_ms", x->trace_ms, "device_ms", x->device_ms, "overhead_ms",
                      x->overhead_ms, "wall_ms", x->wall_ms, "wall_low_ms", x->wall_low_ms,
                      "wall_high_ms", x->wall_high_ms, "executions", x->executions,
                      "unexplained_ms", c->wall_ms > 0 ? c->wall_ms - x->wall_ms : 0, "off",
                      (int)published_is_off(&r->set[i], x)));
    }
    return json_pack("{ss sf ss? ss? so}", "source", res_published_source, "node_ns", r->node_ns,
                     "estimated_for", r->topology, "estimated_step", r->topology ? r->step : NULL,
                     "cases", rows);
}

static void put_cases(const published_replay *r, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"step", false},  {"graphs", true},           {"tracing", true},
        {"device", true}, {"device published", true}, {"overheads", true},
        {"bench", true},  {"wall replayed", true},    {"wall published", true},
        {"", false},      {"unexplained", true},      {"a graph", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < PUBLISHED_CASES; i++) {
        const published_case *c = &published_resnet50[i];
        const replayed *x = &r->cases[i];
        const double rest = x->wall_ms - x->trace_ms - x->device_ms - x->overhead_ms;
        json_t *row = json_array();
        res_sheet_put(row, "%s%s", c->name, c->parts_published ? "" : " *");
        res_sheet_put(row, "%d", x->executions);
        res_sheet_put(row, "%.2f", x->trace_ms);
        res_sheet_put(row, "%.2f", x->device_ms);
        res_sheet_put(row, "%.2f", published_device_ms(c));
        res_sheet_put(row, "%.2f", x->overhead_ms);
        res_sheet_put(row, "%.2f", rest);
        res_sheet_put(row, "%.2f", x->wall_ms);
        if (c->wall_ms > 0) {
            res_sheet_put(row, "%.2f", c->wall_ms);
            res_sheet_put(row, "%s", c->wall_source);
            res_sheet_put(row, "%.2f%s", c->wall_ms - x->wall_ms,
                          published_is_off(&r->set[i], x) ? " ?" : "");
            res_sheet_put(row, "%.2f", (c->wall_ms - x->wall_ms) / x->executions);
        }
        while (json_array_size(row) < sizeof columns / sizeof *columns)
            res_sheet_put(row, "%s", "");
        json_array_append_new(rows, row);
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, r->format, out);
    json_decref(rows);
}

static void print_star(const published_replay *r)
{
    say(r, "* Device times are combined from those of other published cases; the wall follows from "
           "the published speedups, whose numbers of graphs are our reading of the publication.\n");
}

/* Estimated and published times. */
static void print_estimated(const published_replay *r)
{
    const double one = published_device_ms(&r->set[0]), five = published_device_ms(&r->set[1]);
    const double published_one = published_device_ms(&published_resnet50[0]),
                 published_five = published_device_ms(&published_resnet50[1]);
    say(r,
        "\nAll times in ms. One graph: estimated %.2f, published %.2f (%+.1f %%). Five graphs: "
        "estimated %.2f, published %.2f (%+.1f %%), %.2f times one graph, published %.2f "
        "times.\n",
        one, published_one, 100 * (one / published_one - 1), five, published_five,
        100 * (five / published_five - 1), five / one, published_five / published_one);
    print_star(r);
}

/* Why five graphs were slower than tracing each step; the terms add up. */
static void print_why(const published_replay *r)
{
    const published_case *a = &published_resnet50[0], *b = &published_resnet50[1];
    const double tracing = b->trace_ms - a->trace_ms;
    const double device = published_device_ms(b) - published_device_ms(a);
    const double overhead = overheads_ms(b) - overheads_ms(a);
    const double gap_lazy = published_gap_ms(a), gap_five = published_gap_ms(b);
    say(r,
        "\nAll times in ms. Five captured graphs took %.1f ms more than tracing every step, "
        "because of:\n",
        b->wall_ms - a->wall_ms);
    say(r, "  %+7.2f  no tracing\n", tracing);
    say(r, "  %+7.2f  device: five programs fuse less than one\n", device);
    say(r, "  %+7.2f  overheads: PJRT time minus device time of five executions, not one\n",
        overhead);
    say(r,
        "  %+7.2f  host gaps: time outside of tracing and executions (%.2f of %.1f, lazy %.2f of "
        "%.1f)\n",
        gap_five - gap_lazy, gap_five, b->wall_ms, gap_lazy, a->wall_ms);
    say(r,
        "Device and runtime account for %.1f ms of the captured step (replayed: %.1f). The rest, "
        "the host gaps, was the framework's: no setting of a runtime causes them. Queued "
        "executions, which are not awaited one by one, hide their overheads: %.1f ms.\n",
        b->wall_ms - gap_five, r->cases[1].wall_ms, r->cases[2].wall_ms);
    print_star(r);
}

/* The cases that were not replayed as they were set. */
static void print_off(const published_replay *r)
{
    bn_text names = {0};
    for (size_t i = 0; i < PUBLISHED_CASES; i++)
        if (published_is_off(&r->set[i], &r->cases[i]))
            bn_text_printf(&names, "%s%s (%.1f to %.1f ms)", names.length ? ", " : "",
                           r->set[i].name, r->cases[i].wall_low_ms, r->cases[i].wall_high_ms);
    if (names.length > 0)
        say(r,
            "\n?: the replayed step is not what was set, so the rest is no figure of the "
            "framework: "
            "%s. In brackets the tenth and the ninetieth percentile of the steps. Replay them on "
            "an "
            "idle machine.\n",
            names.data);
    bn_text_free(&names);
}

void published_print_resnet50(const published_replay *r)
{
    if (r->format == RES_TABLE_JSON) {
        print_json(r, resnet50_json(r));
        return;
    }
    bn_text cases = {0};
    print_head(r, "ResNet50 training step, lazy against captured");
    put_cases(r, &cases);
    cli_text(&cases);
    if (for_people(r) && r->topology)
        print_estimated(r);
    else if (for_people(r))
        print_why(r);
    if (for_people(r)) {
        print_off(r);
        print_busy(r);
    }
}

/* ---- ten models ---------------------------------------------------------------------------- */

/* The predicted speedup of column C: by runtime and tracing alone, or with GAPS, the unexplained
 * host times of the published ResNet50 case for each lazy step and each captured graph. */
static double predict(const published_replay *r, size_t index, size_t c, bool gaps)
{
    const published_case *lazy = &published_resnet50[0], *five = &published_resnet50[1];
    const replayed *x = &r->captured[index][c];
    if (!x->measured || !r->lazy[index].measured)
        return (double)NAN;
    double above = r->lazy[index].wall_ms, below = x->wall_ms;
    if (gaps) {
        above += published_gap_ms(lazy);
        below += x->executions * published_gap_ms(five) / (double)five->part_count;
    }
    return above / below;
}

/* Geometric mean of the factors by which the predictions are too high or too low. */
static double typical_factor(const published_replay *r, size_t c, bool gaps)
{
    double sum = 0;
    int count = 0;
    for (size_t i = 0; i < RES_PUBLISHED_MODELS; i++) {
        const double factor = predict(r, i, c, gaps) / res_published_models[i].speedup[c];
        sum += isfinite(factor) ? fabs(log(factor)) : 0;
        count += isfinite(factor);
    }
    return exp(sum / count);
}

/* Share of the pairs of models that the prediction puts in the published order. */
static double ordered_share(const published_replay *r, size_t c, bool gaps)
{
    int right = 0, all = 0;
    for (size_t i = 0; i < RES_PUBLISHED_MODELS; i++)
        for (size_t k = i + 1; k < RES_PUBLISHED_MODELS; k++) {
            const double one = predict(r, i, c, gaps), other = predict(r, k, c, gaps);
            const bool published =
                res_published_models[i].speedup[c] > res_published_models[k].speedup[c];
            all += isfinite(one) && isfinite(other);
            right += isfinite(one) && isfinite(other) && (one > other) == published;
        }
    return (double)right / all;
}

static double mean_of(const published_replay *r, size_t c, int which)
{
    double sum = 0;
    int count = 0;
    for (size_t i = 0; i < RES_PUBLISHED_MODELS; i++) {
        const double value =
            which == 0 ? res_published_models[i].speedup[c] : predict(r, i, c, which == 2);
        sum += isfinite(value) ? value : 0;
        count += isfinite(value);
    }
    return sum / count;
}

static json_t *models_json(const published_replay *r)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < RES_PUBLISHED_MODELS; i++) {
        const res_published *m = &res_published_models[i];
        json_t *columns = json_array();
        for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
            json_array_append_new(
                columns,
                json_pack("{si sb sf so so sf sf}", "graphs", r->captured[i][c].executions,
                          "measured", (int)r->captured[i][c].measured, "published", m->speedup[c],
                          "predicted", res_json_real(predict(r, i, c, false)),
                          "predicted_with_gaps", res_json_real(predict(r, i, c, true)), "wall_ms",
                          r->captured[i][c].wall_ms, "device_ms", r->captured[i][c].device_ms));
        json_array_append_new(rows,
                              json_pack("{ss ss si sf sf sf so}", "name", m->published, "model",
                                        m->model, "batch", m->batch, "nodes", r->lazy[i].nodes,
                                        "lazy_wall_ms", r->lazy[i].wall_ms, "lazy_device_ms",
                                        r->lazy[i].device_ms, "columns", columns));
    }
    return json_pack("{ss sf sf sb s{ss sf sf} so}", "source", res_published_source, "node_ns",
                     r->node_ns, "efficiency", r->efficiency, "complete", (int)!r->incomplete,
                     "largest", "case", r->largest, "device_memory_bytes", r->memory_bytes,
                     "limit_bytes", r->memory_limit, "models", rows);
}

static void put_column(json_t *row, double published, double plain, double gaps)
{
    res_sheet_put(row, "%.3f", published);
    res_sheet_put(row, isfinite(plain) ? "%.2f" : "-", plain);
    res_sheet_put(row, isfinite(gaps) ? "%.2f" : "-", gaps);
}

static json_t *model_row(const published_replay *r, size_t i)
{
    json_t *row = json_array();
    res_sheet_put(row, "%s", res_published_models[i].published);
    res_sheet_put(row, "%d", res_published_models[i].batch);
    res_sheet_put(row, "%.0f", r->lazy[i].nodes);
    res_sheet_put(row, "%.1f", r->lazy[i].wall_ms);
    res_sheet_put(row, "%.1f", r->lazy[i].device_ms);
    for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
        put_column(row, res_published_models[i].speedup[c], predict(r, i, c, false),
                   predict(r, i, c, true));
    return row;
}

static void put_rows(const published_replay *r, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"model", false},    {"batch", true},     {"nodes", true},     {"lazy ms", true},
        {"device ms", true}, {"5 graphs", true},  {"predicted", true}, {"with gaps", true},
        {"3 graphs", true},  {"predicted", true}, {"with gaps", true}, {"1 graph", true},
        {"predicted", true}, {"with gaps", true}};
    json_t *rows = json_array(), *mean = json_array();
    for (size_t i = 0; i < RES_PUBLISHED_MODELS; i++)
        json_array_append_new(rows, model_row(r, i));
    res_sheet_put(mean, "arithmetic mean");
    for (int i = 0; i < 4; i++)
        res_sheet_put(mean, "%s", "");
    for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
        put_column(mean, mean_of(r, c, 0), mean_of(r, c, 1), mean_of(r, c, 2));
    json_array_append_new(rows, mean);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, r->format, out);
    json_decref(rows);
}

static void print_limits(const published_replay *r)
{
    say(r,
        "\nSpeedup of captured over lazy training steps: published, predicted from tracing, "
        "graphs and roofline, and predicted with the host gaps of the published ResNet50 case "
        "(%.2f ms a lazy step, %.2f ms a captured graph).\n",
        published_gap_ms(&published_resnet50[0]),
        published_gap_ms(&published_resnet50[1]) / (double)published_resnet50[1].part_count);
    for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
        say(r,
            "  %d %s: typically off by a factor of %.2f (with gaps %.2f), %.0f %% of the pairs "
            "of models in the published order (%.0f %%); published mean %.4f\n",
            res_published_graphs[c], res_published_graphs[c] == 1 ? "graph " : "graphs",
            typical_factor(r, c, false), typical_factor(r, c, true),
            100 * ordered_share(r, c, false), 100 * ordered_share(r, c, true),
            res_published_means[c]);
    say(r,
        "Calibrated on ResNet50 alone: %.0f ns a node, and %.1f %% of the roofline (its device "
        "time by the roofline is %.2f ms, published %.2f).\n",
        r->node_ns, 100 * r->efficiency, r->roofline_ms, published_resnet50[0].parts[0].device_ms);
    if (r->memory_bytes > 0)
        say(r, "The largest case, %s, used at most %.1f GB of the device's %.1f GB of memory.\n",
            r->largest, r->memory_bytes / 1e9, r->memory_limit / 1e9);
    say(r,
        "Limits: one efficiency for all models (small and depthwise convolutions differ from "
        "ResNet50's); one overhead and gap for all graphs and models; bench's nodes, which are not "
        "PyTorch's one by one; steps that end in an SGD update, while the published ones were "
        "forward and backward passes; batch sizes (TorchBench's own) and graph counts that the "
        "publication does not give. The published mean of the last column is neither the "
        "arithmetic "
        "mean of its values (%.3f) nor the geometric one.\n",
        mean_of(r, RES_PUBLISHED_COLUMNS - 1, 0));
}

void published_print_models(const published_replay *r)
{
    if (r->format == RES_TABLE_JSON) {
        print_json(r, models_json(r));
        return;
    }
    bn_text rows = {0};
    print_head(r, "Ten models, captured against lazy training steps");
    put_rows(r, &rows);
    cli_text(&rows);
    if (!for_people(r))
        return;
    print_limits(r);
    print_busy(r);
}
