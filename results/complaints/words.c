/*
 * words.c - findings on a recording in sentences and as JSON.
 */
#include "results/complaints/complaints_priv.h"
#include "results/records/records.h"

#include <math.h>

static const char *plural(double count)
{
    return count > 1 ? "s" : "";
}

static double mib(double bytes)
{
    return bytes / 1048576;
}

void rec_finding_subject(const rec_finding *c, bn_text *out)
{
    switch (c->rule) {
    case REC_RULE_COMPILES:
        bn_text_printf(out, "compiling or loading programs, %.3g in 100 steps to the end,",
                       100 * c->count);
        return;
    case REC_RULE_READS:
        bn_text_printf(out, "reading %.3g value%s a step back to the host", c->count,
                       plural(c->count));
        return;
    case REC_RULE_HOST:
        bn_text_puts(out, "work of the framework on a CPU, for which the device waits,");
        return;
    case REC_RULE_EXECUTIONS:
        bn_text_printf(out, "the fixed cost of %.4g executions in place of one", c->count);
        return;
    case REC_RULE_DISPATCH:
        bn_text_printf(out, "submitting %.4g execution%s, while the device %s,", c->count,
                       plural(c->count), c->at_most ? "may wait" : "waits");
        return;
    case REC_RULE_INPUT:
        bn_text_puts(out, "a sleeping host, for which the device waits,");
        return;
    case REC_RULE_TRANSFERS:
        bn_text_printf(out, "sending %.3g MiB in %.3g transfer%s, for which the device waits,",
                       mib(c->bytes), c->count, plural(c->count));
        return;
    case REC_RULE_DONATION:
        bn_text_printf(out, "%.4g argument%s that could have been donated", c->count,
                       plural(c->count));
        return;
    case REC_RULE_START:
    case REC_RULE_COUNT:
        bn_text_puts(out, c->loaded == 0            ? "compiling"
                          : c->loaded < c->programs ? "compiling and loading"
                                                    : "loading");
    }
}

void rec_finding_cost(const rec_finding *c, bn_text *out)
{
    if (c->rule == REC_RULE_DONATION) {
        bn_text_printf(out, "%.3g MiB of device memory, %.0f %% of a step's arguments",
                       mib(c->bytes), 100 * c->share);
        return;
    }
    bn_text_puts(out, c->at_most && c->rule != REC_RULE_START ? "up to " : "");
    rec_interval_put(out, c->cost_ns);
    if (c->rule == REC_RULE_START)
        bn_text_puts(out, " at each start");
    else
        bn_text_printf(out, " a step, %.0f %% of it", 100 * c->share);
}

/* ---- what to do -------------------------------------------------------------------------------
 */

static void put_hidden(const rec_finding *c, const char *how, bn_text *out)
{
    if (!isfinite(c->hidden_ns))
        return;
    bn_text_printf(out, " %s hides up to ", how);
    rec_time_put(out, c->hidden_ns);
    bn_text_puts(out, " of it.");
}

static void put_advice_on_host(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    bn_text_puts(out, "Compile more of the step into one program, and trace it once.");
    put_hidden(c, "Submitting the next step before the device finishes this one", out);
    if (!checkup->steps->cpu_clocks)
        bn_text_puts(out, " CPU clocks were not recorded, so it may also be sleep.");
}

/* The framework consults a cache after that work. */
static void put_work_before(const rec_finding *c, bn_text *out)
{
    if (!(c->before_ns > 0.1 * c->cost_ns.estimate))
        return;
    bn_text_puts(out, " Before these calls the framework worked for ");
    rec_time_put(out, c->before_ns);
    bn_text_puts(out, " on a CPU: it traced and lowered, or prepared data. A cache saves none of "
                      "that.");
}

/* A program that loads executables keeps them already. */
static void put_advice_on_start(const rec_finding *c, bn_text *out)
{
    if (c->loaded == 0)
        bn_text_puts(out, "Keep executables between starts in a persistent cache: that saves this "
                          "time minus the time to load them, which a recording of such a start "
                          "shows. Or make fewer or smaller programs, as by a scan over layers.");
    else if (c->loaded < c->programs)
        bn_text_puts(out, "Keep the executables of the others between starts as well (JAX's cache "
                          "skips programs that compile in less than "
                          "jax_persistent_cache_min_compile_time_secs).");
    else
        bn_text_puts(out, "All executables are kept between starts already, so only fewer or "
                          "smaller programs make this shorter, as by a scan over layers.");
    put_work_before(c, out);
}

/* Reasons why a fix may save less than the cost. */
static void put_reservation(const rec_finding *c, bn_text *out)
{
    if (!c->at_most || c->rule == REC_RULE_START)
        return;
    if (c->rule == REC_RULE_EXECUTIONS)
        bn_text_puts(out, " The cost includes what short executions compute.");
    bn_text_puts(out, " On an accelerator a profile shows whether it works meanwhile (bench record "
                      "--profile).");
}

void rec_finding_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    static const char *const advice[REC_RULE_COUNT] = {
        [REC_RULE_COMPILES] = "Keep shapes, types, branches and baked-in values as they are: pad "
                              "to a few lengths, and make values that change arguments. "
                              "bench diff RECORDING shows what differs.",
        [REC_RULE_READS] = "Read values in some steps only, and submit the next step before "
                           "the read: until then the device has nothing to do.",
        [REC_RULE_EXECUTIONS] = "Compile them into one program. Host work between them, and gains "
                                "of fusion, come on top.",
        [REC_RULE_DISPATCH] = "Give an execution more to do (a larger batch), or submit the next "
                              "step before the device finishes this one.",
        [REC_RULE_INPUT] = "Prepare batches in other threads, some steps ahead.",
        [REC_RULE_TRANSFERS] = "Send the next batch while the device works on this one.",
        [REC_RULE_DONATION] = "Donate them (JAX: donate_argnums), so that results take their "
                              "memory. The time that this saves is unknown.",
    };
    if (c->rule == REC_RULE_HOST)
        put_advice_on_host(checkup, c, out);
    else if (c->rule == REC_RULE_START)
        put_advice_on_start(c, out);
    else
        bn_text_puts(out, advice[c->rule]);
    if (c->rule == REC_RULE_INPUT)
        put_hidden(c, "That", out);
    put_reservation(c, out);
}

/* ---- sentences --------------------------------------------------------------------------------
 */

static void put_finding(const rec_checkup *checkup, size_t index, bn_text *out)
{
    const rec_finding *c = &checkup->list[index];
    bn_text_printf(out, "%zu. %s: ", index + 1, rec_rule_name(c->rule));
    rec_finding_subject(c, out);
    bn_text_puts(out, " takes ");
    rec_finding_cost(c, out);
    if (c->where.length)
        bn_text_printf(out, " (%s)", c->where.data);
    bn_text_puts(out, ". ");
    rec_finding_advice(checkup, c, out);
    bn_text_putc(out, '\n');
}

/* With a profile the share of the time is that of kernels; work beyond it, by completions, is a
 * cost of dispatch. */
static void put_profiled(const rec_checkup *checkup, bn_text *out)
{
    const double kernels_ns = checkup->answer.kernels_ns.estimate;
    if (!isfinite(kernels_ns) || !checkup->steps->completions)
        return;
    bn_text_puts(out, "Gaps are those between completions. The device is busy for ");
    rec_time_put(out, rec_steps_busy(checkup->steps).median_ns);
    bn_text_puts(out, " a step by these, and kernels run for ");
    rec_time_put(out, kernels_ns);
    bn_text_puts(out, " of it, by the plugin's profiler. The rest is the subject of the rule "
                      "dispatch: launches, gaps between kernels, and the way back to the host.\n");
}

static void put_doubts(const rec_checkup *checkup, bn_text *out)
{
    const rec_steps *s = checkup->steps;
    const double calls_ns = s->completions ? rec_unattributed_calls_ns(s, &checkup->answer) : 0;
    if (calls_ns > 0) {
        bn_text_puts(out, "Some of the device time may be the host's: ");
        rec_time_put(out, calls_ns);
        bn_text_puts(out, " a step are in Execute calls, and completions do not show whether the "
                          "device works in them.\n");
    }
    if (!s->completions)
        bn_text_puts(out, "Completions were not recorded, so only compilations and donation were "
                          "checked.\n");
    if (rec_steps_samples(s) < 9)
        bn_text_puts(out, "There are too few steps for intervals.\n");
}

void rec_checkup_put(const rec_checkup *checkup, bn_text *out)
{
    const rec_steps *s = checkup->steps;
    for (size_t i = 0; i < checkup->count; i++)
        put_finding(checkup, i, out);
    if (checkup->count == 0)
        bn_text_puts(out, "No problems found. ");
    bn_text_printf(out, "%zu %sstep%s of %u execution%s", s->count, s->kept ? "" : "steady ",
                   plural((double)s->count), s->executions_per_step,
                   plural(s->executions_per_step));
    if (s->kept)
        bn_text_puts(out, ", none of which is steady");
    if (isfinite(checkup->answer.busy_share))
        bn_text_printf(out, ", %s: the device works for %.0f %% of the time",
                       rec_verdict_name(checkup->answer.verdict), 100 * checkup->answer.busy_share);
    bn_text_puts(out, ".\n");
    put_profiled(checkup, out);
    put_doubts(checkup, out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static json_t *finding_json(const rec_checkup *checkup, const rec_finding *c)
{
    bn_text subject = {0}, advice = {0};
    rec_finding_subject(c, &subject);
    rec_finding_advice(checkup, c, &advice);
    json_t *made = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "rule",
        rec_rule_name(c->rule), "subject", subject.data ? subject.data : "", "where",
        c->where.data ? c->where.data : "", "advice", advice.data ? advice.data : "", "cost_ns",
        res_json_real(c->cost_ns.estimate), "cost_low_ns", res_json_real(c->cost_ns.low),
        "cost_high_ns", res_json_real(c->cost_ns.high), "at_most", c->at_most, "share",
        res_json_real(c->share), "count", res_json_real(c->count), "bytes", res_json_real(c->bytes),
        "hidden_ns", res_json_real(c->hidden_ns), "before_ns", res_json_real(c->before_ns));
    bn_text_free(&subject);
    bn_text_free(&advice);
    return made;
}

json_t *rec_checkup_json(const rec_recording *recording, const rec_checkup *checkup)
{
    const rec_steps *s = checkup->steps;
    bn_text path = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < checkup->count; i++)
        json_array_append_new(list, finding_json(checkup, &checkup->list[i]));
    bn_text_plain(&path, recording->path); /* a path may hold anything */
    json_t *made = json_pack("{s:s, s:I, s:I, s:b, s:I, s:s, s:o, s:b, s:o}", "recording",
                             path.data ? path.data : "", "process", (json_int_t)s->process->pid,
                             "steps", (json_int_t)s->count, "steady", !s->kept,
                             "executions_per_step", (json_int_t)s->executions_per_step, "verdict",
                             rec_verdict_name(checkup->answer.verdict), "busy_share",
                             res_json_real(checkup->answer.busy_share), "completions",
                             s->completions, "complaints", list);
    bn_text_free(&path);
    return made;
}
