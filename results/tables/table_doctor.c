/*
 * table_doctor.c - the doctor's findings in words: what costs time, how much, and how to fix it.
 */
#include "results/findings/doctor.h"
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ------------------------------------------------------------------------------ */

static bool has_lengths(const res_experiment *e)
{
    return strcmp(e->lengths, res_axes[RES_AXIS_LENGTHS].usual) != 0;
}

/* "tracing 1309 nodes": what takes the time. */
static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    switch (c->rule) {
    case RES_RULE_COMPILES:
        bn_text_printf(out, "compiling or loading programs, %.3g in 100 steps,", 100 * c->count);
        return;
    case RES_RULE_READS:
        bn_text_printf(out, "reading %.3g value%s a step back to the host", c->count,
                       c->count > 1 ? "s" : "");
        return;
    case RES_RULE_FALLBACKS:
        bn_text_printf(out, "computing %.3g op%s a step on the host", c->count,
                       c->count > 1 ? "s" : "");
        return;
    case RES_RULE_TRACING:
        bn_text_printf(out, "tracing %.0f nodes", c->count);
        return;
    case RES_RULE_EXECUTIONS:
        bn_text_printf(out, "the overhead of %.3g executions in place of one", c->count);
        return;
    case RES_RULE_OVERHEAD:
        bn_text_puts(out, "the overhead of one execution");
        return;
    case RES_RULE_INPUT:
        bn_text_puts(out, "preparing and sending the batch");
        return;
    case RES_RULE_PADDING:
        bn_text_printf(out, "padding, %.0f %% of all positions,", 100 * c->count);
        return;
    case RES_RULE_RELEASE:
        bn_text_puts(out, "releasing handles of the plugin");
        return;
    case RES_RULE_TURNS:
        bn_text_printf(out, "compiling %.0f programs for alternating steps", c->count);
        return;
    case RES_RULE_START:
    case RES_RULE_COUNT:
        bn_text_puts(out, "compiling");
    }
}

/* Whether C has a change between programs; else its source location alone. */
static bool has_cause(const res_doctor_finding *c)
{
    return c->rule == RES_RULE_COMPILES || c->rule == RES_RULE_TURNS;
}

/* "shape of tokens, dimension 1: 24 -> 31, at models/x.c:12 (mask)", or the location alone. */
static void put_where(const res_doctor_finding *c, bn_text *out)
{
    if (!c->why)
        return;
    if (has_cause(c))
        res_why_put(json_string_value(json_object_get(c->why, "rule")), c->why, out);
    else
        res_why_put_where(c->why, out);
    if (c->more > 0 && has_cause(c))
        bn_text_printf(out, ", and %zu more cause%s", c->more, c->more == 1 ? "" : "s");
    else if (c->more > 0)
        bn_text_printf(out, " and %zu more location%s", c->more, c->more == 1 ? "" : "s");
}

/* By the cause, where it is known: the record's own words are somebody else's. */
static void put_advice_on_compiles(const res_doctor_finding *c, const res_experiment *e,
                                   bn_text *out)
{
    const char *rule = json_string_value(json_object_get(c->why, "rule"));
    const char *advice = rule ? res_remedy_for(rule) : "";
    if (*advice) {
        bn_text_puts(out, advice);
        return;
    }
    bn_text_puts(out, has_lengths(e) ? "Each length of the input is another program: pad to "
                                       "fewer lengths (--buckets)."
                                     : "The program changes from step to step: keep shapes, "
                                       "types and branches as they are.");
    if (!c->why && !has_lengths(e))
        bn_text_puts(out, res_is_ours(e)
                              ? " bench explain shows what changed, and where."
                              : " bench doctor RECORDING shows how the programs differ.");
}

/* A framework's capture may trace each step, too: PyTorch/XLA's does. */
static void put_advice_on_a_framework(const res_experiment *e, bn_text *out)
{
    if (strcmp(e->front_end, "pytorch-xla") == 0)
        bn_text_printf(out,
                       "Let dynamo capture the step (--mode %s, which is "
                       "torch.compile(backend=\"openxla\")): no later step traces it again.",
                       strcmp(e->phase, "train") == 0 ? "dynamo-step" : "dynamo");
    else
        bn_text_puts(out, "Let the framework capture the step, so that no later step traces it.");
}

static void put_advice_on_tracing(const res_doctor_finding *c, const res_experiment *e,
                                  bn_text *out)
{
    if (!res_is_ours(e)) {
        put_advice_on_a_framework(e, out);
        return;
    }
    bn_text_puts(out, strcmp(e->mode, "capture") == 0
                          ? "The capture's guards fail, so the step is traced again: do not read "
                            "what differs in each step, and keep types and arguments."
                          : "Capture the step (--mode capture): it then checks its guards only.");
    if (isfinite(c->hidden_ns))
        bn_text_printf(out,
                       " Steps in flight (--in-flight 2) hide up to %s of it behind the device.",
                       res_time(c->hidden_ns).text);
}

/* A framework takes no --in-flight, and a step that waits for a value runs alone. */
static void put_advice_on_overhead(const res_doctor_finding *c, const res_experiment *e,
                                   bn_text *out)
{
    const bool ours = res_is_ours(e);
    bn_text_printf(out, "Give an execution more to do (%s)%s", ours ? "--batch" : "a larger batch",
                   c->alone ? ". Steps in flight would hide nothing of it: in most steps the host "
                              "waits for a value."
                   : ours   ? ", or keep steps in flight (--in-flight 2)."
                            : ", or submit the next step before the device finishes this one.");
}

/* Where the framework of E keeps executables. Its worker takes no folder of bench's. */
static const char *cache_of(const res_experiment *e)
{
    /* By how names of front ends begin: a recording's has a version behind it. */
    static const struct {
        const char *front_end, *cache;
    } caches[] = {
        {"jax", "JAX's own cache (JAX_COMPILATION_CACHE_DIR, or jax_compilation_cache_dir)"},
        {"pytorch-xla", "PyTorch/XLA's own cache (torch_xla.runtime.initialize_cache)"},
        {"torch_xla", "PyTorch/XLA's own cache (torch_xla.runtime.initialize_cache)"},
    };
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (strncmp(e->front_end, caches[i].front_end, strlen(caches[i].front_end)) == 0)
            return caches[i].cache;
    return "the framework's own cache";
}

static void put_advice_on_starts(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    if (!res_is_ours(e))
        bn_text_printf(out, "Keep the executables between starts in %s.", cache_of(e));
    else if (c->kept == RES_KEPT_FURTHER)
        bn_text_printf(out, "Later starts load the executables from %s (--cache-dir).", c->folder);
    else if (c->kept == RES_KEPT_NEVER)
        bn_text_printf(out,
                       "Later processes loaded none from %s (--cache-dir): the plugin does not "
                       "serialize executables, or bench reported why it refused the files.",
                       c->folder);
    else
        bn_text_puts(out, "Keep the executables between starts (--cache-dir).");
}

/* A value that chooses a branch is needed in each step, as long as the host has the branch. */
static void put_advice_on_reads(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    if (c->branches)
        bn_text_puts(out, res_remedy_for("branch"));
    if (c->branches && c->more == 0)
        return;
    bn_text_printf(out,
                   "%s values in some steps only: after a read the device waits until the host "
                   "submits the next step.",
                   c->branches ? " Read other" : "Read");
    bn_text_puts(out, c->why           ? ""
                      : res_is_ours(e) ? " bench explain shows where."
                                       : " bench doctor RECORDING shows which value.");
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    switch (c->rule) {
    case RES_RULE_COMPILES:
        put_advice_on_compiles(c, e, out);
        return;
    case RES_RULE_READS:
        put_advice_on_reads(c, e, out);
        return;
    case RES_RULE_FALLBACKS:
        bn_text_puts(out, "Compute it with ops that the device has, such as a mask instead of "
                          "positions.");
        bn_text_puts(out, c->why ? "" : " bench explain names the op and its line.");
        return;
    case RES_RULE_TRACING:
        put_advice_on_tracing(c, e, out);
        return;
    case RES_RULE_EXECUTIONS:
        bn_text_puts(out, strcmp(e->mode, "eager") == 0
                              ? "Trace the step into one graph (--mode lazy or capture)."
                              : "Merge the graphs (--graphs 1): remove what breaks them.");
        return;
    case RES_RULE_OVERHEAD:
        put_advice_on_overhead(c, e, out);
        return;
    case RES_RULE_INPUT:
        bn_text_puts(out, "Prepare and send the next batch while the device works on this one.");
        return;
    case RES_RULE_PADDING:
        bn_text_puts(out, "Put rows of similar length into a batch, or pad to more lengths "
                          "(--buckets); bench study buckets finds the best number.");
        return;
    case RES_RULE_RELEASE:
        bn_text_puts(out, "Keep fewer buffers, or release them while the device works.");
        return;
    case RES_RULE_TURNS:
        bn_text_puts(out, "Each value of the argument has its own programs: run each value in its "
                          "own loop. ");
        put_advice_on_starts(c, e, out);
        return;
    case RES_RULE_START:
    case RES_RULE_COUNT:
        put_advice_on_starts(c, e, out);
    }
}

/* "takes 13.7 ms of a step [13.1, 14.2], 35 % of it". */
static void put_cost(const res_doctor_finding *c, bn_text *out)
{
    const res_interval ns = c->cost_ns;
    const res_figure range = res_time_range(ns.estimate, ns.low, ns.high);
    bn_text_printf(out, " takes %s%s%s%s", c->at_most ? "up to " : "", res_time(ns.estimate).text,
                   range.text[0] ? " " : "", range.text);
    if (isfinite(c->share))
        bn_text_printf(out, " a step, %.0f %% of it", 100 * c->share);
    else
        bn_text_puts(out, c->kept == RES_KEPT_FURTHER ? " at the first start" : " at each start");
}

/* ---- goodput ----------------------------------------------------------------------------------
 */

/* Device time of a step over its wall time; NaN: unknown. */
static double goodput(const res_speedup_row *row)
{
    double busy = (double)NAN;
    if (row->pool.count > 0)
        (void)res_doctor_bound(row, &busy);
    return busy;
}

/* The bound of ROW's steps; "unknown" also where all of its processes failed. */
static const char *verdict_of(const res_speedup_row *row)
{
    return res_bound_name(row->pool.count > 0 ? res_doctor_bound(row, NULL) : RES_BOUND_UNKNOWN);
}

/* A line for each verdict: "device-bound: bert train lazy (device 95 %)". */
static void put_verdicts(const res_speedup *speedup, res_format format, bn_text *out)
{
    for (int bound = 0; bound < RES_BOUND_COUNT; bound++) {
        res_named list = {.count = 0};
        bn_text text = {0};
        for (size_t i = 0; i < speedup->count; i++) {
            const res_speedup_row *row = &speedup->rows[i];
            char detail[32] = "";
            double busy;
            if (row->pool.count == 0 || res_doctor_bound(row, &busy) != (res_bound)bound)
                continue;
            if (isfinite(busy))
                snprintf(detail, sizeof detail, "(device %.0f %%)", 100 * busy);
            res_speedup_name_row(speedup, row, &list, "%s", detail);
        }
        if (list.count > 0) {
            bn_text_printf(&text, "%s: ",
                           bound == RES_BOUND_UNKNOWN ? "bound unknown"
                                                      : res_bound_name((res_bound)bound));
            res_speedup_put_named(&list, &text);
            bn_text_putc(&text, '.');
            res_put_note(out, format, text.data ? text.data : "");
        }
        bn_text_free(&text);
    }
}

static void put_health(const res_speedup *speedup, res_format format, bn_text *out)
{
    double least = INFINITY, most = 0;
    size_t known = 0, failed = 0;
    bn_text text = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        const double share = goodput(&speedup->rows[i]);
        failed += speedup->rows[i].pool.count == 0;
        if (!isfinite(share))
            continue;
        known++;
        least = fmin(least, share);
        most = fmax(most, share);
    }
    if (failed < speedup->count)
        bn_text_puts(&text, "No problems found. ");
    if (known > 0)
        bn_text_printf(&text, "The device works for %.0f to %.0f %% of the steps. ", 100 * least,
                       100 * most);
    if (failed > 0)
        bn_text_printf(&text, "%zu experiment%s failed, and %s not checked. ", failed,
                       failed == 1 ? "" : "s", failed == 1 ? "was" : "were");
    /* The last blank. */
    if (text.length > 0)
        text.data[--text.length] = '\0';
    res_put_note(out, format, text.data ? text.data : "");
    bn_text_free(&text);
}

/* ---- the forms --------------------------------------------------------------------------------
 */

/* "resnet18 train lazy: reading 1 value a step back to the host takes 13.7 ms [13.1, 14.2] a step,
 * 35 % of it, at models/x.c:12 (log)" */
static void put_sentence(const res_speedup *speedup, const res_doctor_finding *c, bn_text *out)
{
    res_speedup_name(speedup, &speedup->rows[c->row], out);
    bn_text_puts(out, ": ");
    put_subject(c, out);
    put_cost(c, out);
    if (c->why)
        bn_text_puts(out, has_cause(c) ? "; " : ", at ");
    put_where(c, out);
}

static void put_sentences(const res_speedup *speedup, const res_doctor_finding *list, size_t count,
                          res_format format, bn_text *out)
{
    for (size_t i = 0; i < count; i++) {
        const res_speedup_row *row = &speedup->rows[list[i].row];
        bn_text text = {0};
        bn_text_printf(&text, "%zu. ", i + 1);
        put_sentence(speedup, &list[i], &text);
        bn_text_puts(&text, ". ");
        put_advice(&list[i], &row->record->experiment, &text);
        res_put_note(out, format, text.data ? text.data : "");
        bn_text_free(&text);
    }
}

static void put_grid(const res_speedup *speedup, const res_doctor_finding *list, size_t count,
                     res_format format, bn_text *out)
{
    res_grid grid = res_grid_make("lllrrll");
    bn_text text = {0};
    res_grid_row(&grid, "experiment|rule|what takes time|cost|of the step|where|what to do");
    for (size_t i = 0; i < count; i++) {
        const res_doctor_finding *c = &list[i];
        const res_speedup_row *row = &speedup->rows[c->row];
        res_speedup_name(speedup, row, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        res_grid_cell(&grid, "%s", res_rule_name(c->rule));
        bn_text_clear(&text);
        put_subject(c, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        res_grid_cell(&grid, "%s", res_time(c->cost_ns.estimate).text);
        if (isfinite(c->share))
            res_grid_cell(&grid, "%.0f %%", 100 * c->share);
        else
            res_grid_blank(&grid, 1);
        bn_text_clear(&text);
        put_where(c, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        bn_text_clear(&text);
        put_advice(c, &row->record->experiment, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        bn_text_clear(&text);
    }
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
    bn_text_free(&text);
}

static json_t *finding_json(const res_speedup *speedup, const res_doctor_finding *c)
{
    const res_speedup_row *row = &speedup->rows[c->row];
    bn_text subject = {0}, where = {0}, advice = {0};
    json_t *object = json_object();
    put_subject(c, &subject);
    put_where(c, &where);
    put_advice(c, &row->record->experiment, &advice);
    res_json_identity(object, "complaint", row->record);
    json_object_set_new(object, "rule", json_string(res_rule_name(c->rule)));
    json_object_set_new(object, "subject", res_json_text(subject.data ? subject.data : ""));
    json_object_set_new(object, "where", res_json_text(where.data ? where.data : ""));
    json_object_set_new(object, "why", c->why ? json_deep_copy(c->why) : json_null());
    json_object_set_new(object, "advice", res_json_text(advice.data ? advice.data : ""));
    json_object_set_new(object, "cost_ns", res_json_real(c->cost_ns.estimate));
    json_object_set_new(object, "cost_low_ns", res_json_real(c->cost_ns.low));
    json_object_set_new(object, "cost_high_ns", res_json_real(c->cost_ns.high));
    json_object_set_new(object, "at_most", json_boolean(c->at_most));
    json_object_set_new(object, "share", res_json_real(c->share));
    json_object_set_new(object, "count", res_json_real(c->count));
    json_object_set_new(object, "hidden_ns", res_json_real(c->hidden_ns));
    bn_text_free(&subject);
    bn_text_free(&where);
    bn_text_free(&advice);
    return object;
}

static void put_json(const res_speedup *speedup, const res_doctor_finding *list, size_t count,
                     bn_text *out)
{
    json_t *complaints = json_array(), *goodputs = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(complaints, finding_json(speedup, &list[i]));
    for (size_t i = 0; i < speedup->count; i++) {
        json_t *object = json_object();
        res_json_identity(object, "goodput", speedup->rows[i].record);
        json_object_set_new(object, "goodput", res_json_real(goodput(&speedup->rows[i])));
        json_object_set_new(object, "verdict", json_string(verdict_of(&speedup->rows[i])));
        json_array_append_new(goodputs, object);
    }
    json_t *all = json_pack("{so so}", "complaints", complaints, "goodput", goodputs);
    res_put_json(out, all);
    json_decref(all);
}

void res_table_doctor(const res_collection *all, res_format format, bn_text *out, size_t *count)
{
    res_speedup speedup;
    res_speedup_make(all, &speedup);
    res_doctor_finding *list = res_doctor(&speedup, count);
    if (format == RES_TABLE_JSON)
        put_json(&speedup, list, *count, out);
    else if (*count == 0 && format != RES_TABLE_CSV)
        put_health(&speedup, format, out);
    else if (res_format_is_text(format))
        put_sentences(&speedup, list, *count, format, out);
    else
        put_grid(&speedup, list, *count, format, out);
    if (format != RES_TABLE_JSON && format != RES_TABLE_CSV)
        put_verdicts(&speedup, format, out);
    free(list);
    res_speedup_free(&speedup);
}

void res_put_first_finding(const res_collection *all, bn_text *out)
{
    res_speedup speedup;
    size_t count;
    res_speedup_make(all, &speedup);
    res_doctor_finding *list = res_doctor(&speedup, &count);
    if (count > 0)
        put_sentence(&speedup, &list[0], out);
    if (count > 1)
        bn_text_printf(out, "; %zu more finding%s", count - 1, count == 2 ? "" : "s");
    free(list);
    res_speedup_free(&speedup);
}
