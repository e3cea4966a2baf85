/*
 * words.c - findings on a recording in sentences and as JSON.
 */
#include "results/complaints/complaints_priv.h"
#include "results/records/records.h"

#include <math.h>

void rec_finding_subject(const rec_finding *c, bn_text *out)
{
    rec_rule_of(c)->subject(c, out);
}

void rec_finding_cost(const rec_finding *c, bn_text *out)
{
    if (rec_rule_of(c)->cost) {
        rec_rule_of(c)->cost(c, out);
        return;
    }
    bn_text_puts(out, c->at_most ? "up to " : "");
    rec_interval_put(out, c->cost_ns);
    bn_text_printf(out, " a step, %.0f %% of it", 100 * c->share);
}

void rec_finding_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    rec_rule_of(c)->advice(checkup, c, out);
}

/* ---- sentences --------------------------------------------------------------------------------
 */

static void put_source(const rec_source *source, bn_text *out)
{
    if (!source->file[0])
        return;
    bn_text_puts(out, " Source: ");
    if (source->function[0])
        bn_text_printf(out, "%s, most of it from ", source->function);
    bn_text_plain(out, source->file); /* a recording may hold anything */
    bn_text_printf(out, ":%u.", source->line);
}

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
    put_source(&c->source, out);
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

/* Time of the mean step in calls in which the device may work or not; 0: none. */
static double doubtful_calls_ns(const rec_checkup *checkup)
{
    return checkup->steps->completions ? rec_unattributed_calls_ns(checkup->steps, &checkup->answer)
                                       : 0;
}

static bool too_few_steps(const rec_checkup *checkup)
{
    return rec_steps_samples(checkup->steps) < 9;
}

static void put_doubts(const rec_checkup *checkup, bn_text *out)
{
    const rec_steps *s = checkup->steps;
    const double calls_ns = doubtful_calls_ns(checkup);
    if (calls_ns > 0) {
        bn_text_puts(out, "Some of the device time may be the host's: ");
        rec_time_put(out, calls_ns);
        bn_text_puts(out, " a step are in Execute calls, and completions do not show whether the "
                          "device works in them.\n");
    }
    if (!s->completions)
        bn_text_puts(out, "Completions were not recorded, so only compilations and donation were "
                          "checked.\n");
    if (too_few_steps(checkup))
        bn_text_puts(out, "There are too few steps for intervals.\n");
}

void rec_checkup_put(const rec_checkup *checkup, bn_text *out)
{
    const rec_steps *s = checkup->steps;
    for (size_t i = 0; i < checkup->count; i++)
        put_finding(checkup, i, out);
    if (checkup->count == 0)
        bn_text_puts(out, "No problems found. ");
    bn_text_printf(out, "%zu %sstep%s of ", s->count, s->kept ? "" : "steady ",
                   rec_plural((double)s->count));
    rec_executions_put(s, out);
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

/* Null where nothing is known. */
static json_t *source_json(const rec_source *source)
{
    if (!source->file[0] && !source->function[0])
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "function",
                     source->function[0] ? res_json_text(source->function) : json_null(), "file",
                     source->file[0] ? res_json_text(source->file) : json_null(), "line",
                     source->line ? json_integer(source->line) : json_null());
}

static json_t *finding_json(const rec_checkup *checkup, const rec_finding *c)
{
    bn_text subject = {0}, advice = {0};
    rec_finding_subject(c, &subject);
    rec_finding_advice(checkup, c, &advice);
    json_t *made = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "rule",
        rec_rule_name(c->rule), "subject", subject.data ? subject.data : "", "where",
        c->where.data ? c->where.data : "", "advice", advice.data ? advice.data : "", "cost_ns",
        res_json_real(c->cost_ns.estimate), "cost_low_ns", res_json_real(c->cost_ns.low),
        "cost_high_ns", res_json_real(c->cost_ns.high), "at_most", c->at_most, "share",
        res_json_real(c->share), "count", res_json_real(c->count), "bytes", res_json_real(c->bytes),
        "hidden_ns", res_json_real(c->hidden_ns), "before_ns", res_json_real(c->before_ns),
        "source", source_json(&c->source));
    if (c->rule == REC_RULE_COMPILES && checkup->shapes) {
        json_object_set_new(made, "early", json_boolean(c->early));
        json_object_set_new(made, "shapes", rec_shapes_json(checkup->steps, checkup->shapes));
    }
    bn_text_free(&subject);
    bn_text_free(&advice);
    return made;
}

/* The identifiers of put_doubts' sentences, but for that on completions, which is a member. */
static json_t *noted_json(const rec_checkup *checkup)
{
    json_t *noted = json_array();
    if (doubtful_calls_ns(checkup) > 0)
        json_array_append_new(noted, json_string("calls-doubtful"));
    if (too_few_steps(checkup))
        json_array_append_new(noted, json_string("few-steps"));
    return noted;
}

json_t *rec_checkup_json(const rec_recording *recording, const rec_checkup *checkup)
{
    const rec_steps *s = checkup->steps;
    bn_text path = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < checkup->count; i++)
        json_array_append_new(list, finding_json(checkup, &checkup->list[i]));
    bn_text_plain(&path, recording->path); /* a path may hold anything */
    json_t *made = json_pack("{s:s, s:I, s:I, s:b, s:I, s:s, s:o, s:b, s:o, s:o}", "recording",
                             path.data ? path.data : "", "process", (json_int_t)s->process->pid,
                             "steps", (json_int_t)s->count, "steady", !s->kept,
                             "executions_per_step", (json_int_t)s->executions_per_step, "verdict",
                             rec_verdict_name(checkup->answer.verdict), "busy_share",
                             res_json_real(checkup->answer.busy_share), "completions",
                             s->completions, "noted", noted_json(checkup), "complaints", list);
    bn_text_free(&path);
    return made;
}
