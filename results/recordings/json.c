/*
 * json.c - the steps of a recording for programs: docs/steps.md names the members.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>

/* A number, null where it is unknown. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *figure_json(rec_figure f)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "median_ns", number(f.median_ns), "p10_ns",
                     number(f.p10_ns), "p90_ns", number(f.p90_ns), "mean_ns", number(f.mean_ns));
}

static json_t *interval_json(res_interval i)
{
    return json_pack("{s:o, s:o, s:o}", "ns", number(i.estimate), "low_ns", number(i.low),
                     "high_ns", number(i.high));
}

static json_t *parts_json(const rec_steps *steps,
                          rec_figure (*of)(const rec_steps *steps, rec_part part))
{
    json_t *parts = json_object();
    for (int i = 0; i < REC_PART_COUNT; i++)
        json_object_set_new(parts, rec_part_name((rec_part)i), figure_json(of(steps, (rec_part)i)));
    return parts;
}

/* ---- programs --------------------------------------------------------------------------- */

static json_t *types_json(const rec_process *p, const rec_program *program)
{
    json_t *list = json_array();
    for (uint32_t i = 0; program->result_types && i < program->results; i++) {
        bn_text text = {0};
        rec_type_put(p, program->result_types[i], &text);
        json_array_append_new(list, json_string(text.data && !text.failed ? text.data : "?"));
        bn_text_free(&text);
    }
    return list;
}

static json_t *program_json(const rec_steps *steps, const rec_step_program *row)
{
    const rec_process *p = steps->process;
    const rec_program *program = &p->programs[row->program];
    json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "name", program->name, "hash", program->hash,
                          "form", program->form, "options", program->options);
    json_object_set_new(o, "times", number(row->times));
    json_object_set_new(o, "device_ns", number(row->device_ns));
    json_object_set_new(o, "device_step_ns", number(row->device_step_ns));
    json_object_set_new(o, "call_ns", number(row->call_ns));
    json_object_set_new(o, "overhead_ns", number(row->overhead_ns));
    json_object_set_new(o, "gap_before_ns", number(row->gap_before_ns));
    json_object_set_new(o, "host_before_ns", number(row->host_before_ns));
    json_object_set_new(o, "arguments", count(row->arguments));
    json_object_set_new(o, "results", count(row->results));
    json_object_set_new(o, "donated", count(row->donated));
    json_object_set_new(o, "result_types", types_json(p, program));
    json_object_set_new(o, "devices", count(program->devices));
    json_object_set_new(o, "flops", number(program->flops));
    json_object_set_new(o, "bytes", number(program->bytes));
    json_object_set_new(o, "compiles", count(program->compiles));
    json_object_set_new(o, "compile_ns", count(program->compile_ns));
    return o;
}

/* ---- whose steps they are --------------------------------------------------------------- */

static json_t *device_json(const rec_steps *steps)
{
    const rec_process *p = steps->process;
    if (steps->device == REC_NONE)
        return json_null();
    const rec_device *device = &p->devices[steps->device];
    const rec_plugin *plugin = device->plugin == REC_NONE ? NULL : &p->plugins[device->plugin];
    return json_pack("{s:I, s:s, s:s, s:s, s:s}", "id", (json_int_t)device->id, "text",
                     device->text, "platform", plugin ? plugin->platform : "", "platform_version",
                     plugin ? plugin->platform_version : "", "plugin", plugin ? plugin->path : "");
}

static json_t *thread_json(const rec_process *p, uint32_t index)
{
    if (index == REC_NONE || index >= p->thread_count)
        return json_null();
    return json_pack("{s:I, s:s}", "number", (json_int_t)p->threads[index].number, "name",
                     p->threads[index].name);
}

static json_t *process_json(const rec_steps *steps)
{
    static const char *const stops[] = {NULL, "limit", "disk-full", "error"};
    const rec_process *p = steps->process;
    json_t *command = json_array();
    for (const char *const *word = p->command; *word; word++)
        json_array_append_new(command, json_string(*word));
    json_t *o = json_pack("{s:I, s:s, s:o}", "pid", (json_int_t)p->pid, "framework", p->framework,
                          "command", command);
    json_object_set_new(o, "device", device_json(steps));
    json_object_set_new(o, "main_thread", thread_json(p, steps->main_thread));
    json_object_set_new(o, "dispatch_thread", thread_json(p, steps->dispatch_thread));
    json_object_set_new(o, "cpu_clocks", json_boolean(steps->cpu_clocks));
    json_object_set_new(o, "completions", json_boolean(steps->completions));
    json_object_set_new(o, "lost", count(p->lost));
    json_object_set_new(o, "skipped", count(p->skipped));
    json_object_set_new(o, "stopped", stops[p->stop] ? json_string(stops[p->stop]) : json_null());
    return o;
}

static json_t *left_out_json(const rec_steps *steps)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "compiles", count(steps->with_compiles), "warm_up",
                     count(steps->warming), "unlike", count(steps->unlike), "compile_ns",
                     count(steps->compile_ns));
}

static json_t *answer_json(const rec_steps *steps, const rec_answer *a)
{
    bn_text words = {0};
    rec_answer_put(steps, a, &words);
    json_t *o = json_object();
    json_object_set_new(o, "busy_share", number(a->busy_share));
    json_object_set_new(o, "ahead_share", number(a->ahead_share));
    json_object_set_new(o, "wall", interval_json(a->wall_ns));
    json_object_set_new(o, "no_host_gaps", interval_json(a->no_gaps_ns));
    json_object_set_new(o, "host_only", interval_json(a->host_only_ns));
    json_object_set_new(o, "fixed_cost", interval_json(a->overhead_ns));
    json_object_set_new(o, "one_execution", interval_json(a->fused_ns));
    json_object_set_new(o, "words", json_string(words.data && !words.failed ? words.data : ""));
    bn_text_free(&words);
    return o;
}

json_t *rec_steps_json(const rec_recording *recording, const rec_steps *steps,
                       const rec_answer *answer)
{
    bn_text path = {0};
    json_t *programs = json_array(), *o = json_object();
    /* A path may hold anything. */
    bn_text_plain(&path, recording->path);
    for (size_t i = 0; i < steps->program_count; i++)
        json_array_append_new(programs, program_json(steps, &steps->programs[i]));
    json_object_set_new(o, "recording", json_string(path.data && !path.failed ? path.data : ""));
    json_object_set_new(o, "process", process_json(steps));
    json_object_set_new(o, "steps", count(steps->count));
    json_object_set_new(o, "executions_per_step", count(steps->executions_per_step));
    json_object_set_new(o, "steps_per_sample", count(steps->cycle));
    json_object_set_new(o, "found", count(steps->found));
    json_object_set_new(o, "left_out", left_out_json(steps));
    json_object_set_new(o, "wall", figure_json(rec_steps_wall(steps)));
    json_object_set_new(o, "ledger", parts_json(steps, rec_steps_part));
    json_object_set_new(o, "device_busy",
                        steps->completions ? figure_json(rec_steps_busy(steps)) : json_null());
    json_object_set_new(o, "device_gaps",
                        steps->completions ? parts_json(steps, rec_steps_gap) : json_null());
    json_object_set_new(o, "programs", programs);
    json_object_set_new(o, "verdict", json_string(rec_verdict_name(answer->verdict)));
    json_object_set_new(o, "answer", answer_json(steps, answer));
    bn_text_free(&path);
    return o;
}
