/*
 * json.c - the steps of a recording for programs: docs/steps.md names the members.
 */
#include "results/recordings/recordings_priv.h"
#include "results/records/records.h"

#include <math.h>

static json_t *count(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *figure_json(rec_figure f)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "median_ns", res_json_real(f.median_ns), "p10_ns",
                     res_json_real(f.p10_ns), "p90_ns", res_json_real(f.p90_ns), "mean_ns",
                     res_json_real(f.mean_ns));
}

static json_t *interval_json(res_interval i)
{
    return json_pack("{s:o, s:o, s:o}", "ns", res_json_real(i.estimate), "low_ns",
                     res_json_real(i.low), "high_ns", res_json_real(i.high));
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
        json_array_append_new(list, json_string(text.data ? text.data : "?"));
        bn_text_free(&text);
    }
    return list;
}

/* Host time by part in the device's gaps before PROGRAM; null where gaps are unknown. */
static json_t *gap_json(const rec_steps *steps, const rec_step_program *row)
{
    json_t *parts = steps->completions ? json_object() : json_null();
    for (int i = 0; steps->completions && i < REC_PART_COUNT; i++)
        json_object_set_new(parts, rec_part_name((rec_part)i), res_json_real(row->gap_ns[i]));
    return parts;
}

static json_t *program_json(const rec_steps *steps, const rec_step_program *row)
{
    const rec_process *p = steps->process;
    const rec_program *program = &p->programs[row->program];
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "name", program->name, "hash", program->hash, "form", program->form, "options",
        program->options, "times", res_json_real(row->times), "device_ns",
        res_json_real(row->device_ns), "device_step_ns", res_json_real(row->device_step_ns),
        "kernels_ns", res_json_real(row->kernels_ns), "call_ns", res_json_real(row->call_ns),
        "overhead_ns", res_json_real(row->overhead_ns), "gap_before_ns",
        res_json_real(row->gap_before_ns), "host_before_ns", res_json_real(row->host_before_ns),
        "gap", gap_json(steps, row), "arguments", count(row->arguments), "results",
        count(row->results), "donated", count(row->donated), "result_types", types_json(p, program),
        "devices", count(program->devices), "flops", res_json_real(program->flops), "bytes",
        res_json_real(program->bytes), "compiles", count(program->compiles), "compile_ns",
        count(program->compile_ns), "variants", count(row->variants), "least_device_ns",
        res_json_real(row->least_device_ns), "most_device_ns", res_json_real(row->most_device_ns));
}

/* ---- threads ---------------------------------------------------------------------------- */

static json_t *step_thread_json(const rec_steps *steps, const rec_step_thread *row)
{
    const rec_thread *thread = &steps->process->threads[row->thread];
    return json_pack("{s:I, s:s, s:b, s:o, s:o, s:o, s:o}", "number", (json_int_t)thread->number,
                     "name", thread->name, "ledger", row->thread == steps->main_thread,
                     "executions", res_json_real(row->executions), "host_work",
                     figure_json(row->host_work), "dispatch", figure_json(row->dispatch), "calls",
                     figure_json(row->calls));
}

static json_t *threads_json(const rec_steps *steps)
{
    json_t *list = json_array();
    for (size_t i = 0; i < steps->thread_count; i++)
        json_array_append_new(list, step_thread_json(steps, &steps->threads[i]));
    return list;
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

/* Events that gave way to later ones, and the time from which nothing is known; null: there are
 * none. Times are from the recording's begin. */
static json_t *dropped_json(const rec_process *p)
{
    if (!p->dropped.any)
        return json_null();
    uint64_t from, to;
    rec_dropped_when(p, &from, &to);
    return json_pack("{s:o, s:o, s:o}", "events", count(p->dropped.events), "from_ns", count(from),
                     "to_ns", count(to));
}

static json_t *process_json(const rec_steps *steps)
{
    static const char *const stops[] = {NULL, "limit", "disk-full", "error"};
    const rec_process *p = steps->process;
    json_t *command = json_array();
    for (const char *const *word = p->command; *word; word++)
        json_array_append_new(command, json_string(*word));
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:s?, s:o}",
                     "pid", (json_int_t)p->pid, "framework", p->framework, "command", command,
                     "device", device_json(steps), "main_thread",
                     thread_json(p, steps->main_thread), "dispatch_thread",
                     thread_json(p, steps->dispatch_thread), "cpu_clocks", steps->cpu_clocks,
                     "completions", steps->completions, "lost", count(p->lost), "plugins_unseen",
                     count(p->unseen), "skipped", count(p->skipped), "donation_misbelieved",
                     count(p->misbelieved), "stopped", stops[p->stop], "dropped", dropped_json(p));
}

static json_t *left_out_json(const rec_steps *steps)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "compiles", count(steps->with_compiles),
                     "profiled", count(steps->profiled), "warm_up", count(steps->warming), "unlike",
                     count(steps->unlike), "paused", count(steps->paused), "compile_ns",
                     count(steps->compile_ns));
}

/* The plugin's profile; null where none was asked for. */
static json_t *profile_json(const rec_steps *steps)
{
    const rec_profile *profile = &steps->process->profile;
    if (!profile->asked)
        return json_null();
    return json_pack("{s:o, s:o, s:s, s:o}", "executions", count(profile->executions), "kernels",
                     interval_json(steps->kernels_ns), "state",
                     rec_profile_state_name(rec_steps_profile(steps)), "why",
                     profile->why[0] ? json_string(profile->why) : json_null());
}

static json_t *answer_json(const rec_steps *steps, const rec_answer *a)
{
    bn_text words = {0};
    rec_answer_put(steps, a, &words);
    json_t *o = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "busy_share",
        res_json_real(a->busy_share), "ahead_share", res_json_real(a->ahead_share), "host_gaps_ns",
        res_json_real(a->host_gap_ns), "dispatch_gaps_ns",
        a->dispatch_profiled ? res_json_real(a->dispatch_gap_ns) : json_null(), "wall",
        interval_json(a->wall_ns), "no_host_gaps", interval_json(a->no_gaps_ns), "host_only",
        interval_json(a->host_only_ns), "fixed_cost", interval_json(a->overhead_ns),
        "one_execution", interval_json(a->fused_ns), "words", words.data ? words.data : "");
    bn_text_free(&words);
    return o;
}

static json_t *late_json(const rec_late_compiles *late)
{
    return json_pack("{s:o, s:o, s:s, s:s}", "executions", count(late->executions), "compiles",
                     count(late->compiles), "program", late->program->name, "hash",
                     late->program->hash);
}

static json_t *program_name(const rec_process *p, uint32_t program)
{
    return program < p->program_count ? json_string(p->programs[program].name) : json_null();
}

/* The program that may be the step as well; null: none. */
static json_t *unclear_json(const rec_steps *steps)
{
    if (steps->unclear == REC_NONE)
        return json_null();
    return json_pack("{s:o, s:o}", "step_program", program_name(steps->process, steps->unclear),
                     "every", res_json_real(steps->unclear_every));
}

/* Nanoseconds of the whole run by part, which sum to its length, and the steps' share of what was
 * recorded. */
static json_t *run_json(const rec_run *run)
{
    const double all = (double)(run->end_ns - run->begin_ns);
    const double recorded = all - run->part_ns[REC_RUN_UNRECORDED];
    json_t *parts = json_object();
    for (int i = 0; i < REC_RUN_PART_COUNT; i++)
        json_object_set_new(parts, rec_run_name((rec_run_part)i), res_json_real(run->part_ns[i]));
    return json_pack(
        "{s:o, s:o, s:o}", "ns", res_json_real(all), "parts", parts, "goodput",
        res_json_real(recorded > 0 ? run->part_ns[REC_RUN_STEPS] / recorded : (double)NAN));
}

static json_t *whole_json(const rec_steps *steps)
{
    return json_pack("{s:o, s:o}", "steps", count(steps->whole_count), "mean_ns",
                     res_json_real(steps->whole_ns));
}

/* Which of the steps that began are in the figures: [from, to) in each row. */
static json_t *measured_json(const rec_steps *steps)
{
    json_t *rows = json_array();
    for (size_t from = 0, to; from < steps->count; from = to) {
        for (to = from + 1;
             to < steps->count && steps->list[to].number == steps->list[to - 1].number + 1;)
            to++;
        json_array_append_new(rows, json_pack("[I, I]", (json_int_t)steps->list[from].number,
                                              (json_int_t)steps->list[to - 1].number + 1));
    }
    return rows;
}

json_t *rec_steps_json(const rec_recording *recording, const rec_steps *steps,
                       const rec_answer *answer)
{
    bn_text path = {0};
    json_t *programs = json_array();
    /* A path may hold anything. */
    bn_text_plain(&path, recording->path);
    for (size_t i = 0; i < steps->program_count; i++)
        json_array_append_new(programs, program_json(steps, &steps->programs[i]));
    json_t *o = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:s, "
        "s:o, "
        "s:o, s:o, s:o, s:b, s:o, s:o, s:o}",
        "recording", path.data ? path.data : "", "process", process_json(steps), "steps",
        count(steps->count), "executions_per_step", count(steps->executions_per_step),
        "executions_mean", res_json_real(rec_executions_mean(steps)), "steps_per_sample", count(steps->cycle), "found", count(steps->found), "left_out",
        left_out_json(steps), "wall", figure_json(rec_steps_wall(steps)), "ledger",
        parts_json(steps, rec_steps_part), "device_busy",
        steps->completions ? figure_json(rec_steps_busy(steps)) : json_null(), "device_gaps",
        steps->completions ? parts_json(steps, rec_steps_gap) : json_null(), "threads",
        threads_json(steps), "programs", programs, "profile", profile_json(steps), "verdict",
        rec_verdict_name(answer->verdict), "answer", answer_json(steps, answer), "steps_by",
        rec_found_name(steps->how), "step_program",
        program_name(steps->process, steps->mark_program), "state_bytes",
        steps->how == REC_FOUND_STATE ? count(steps->state_bytes) : json_null(), "unclear",
        unclear_json(steps), "marks", count(steps->marks), "by_completion", steps->by_completion,
        "whole", whole_json(steps), "measured", measured_json(steps), "run", run_json(&steps->run));
    rec_late_compiles late;
    json_object_set_new(o, "late_compiles",
                        rec_compiles_late(steps->process, &late) ? late_json(&late) : json_null());
    json_object_set_new(o, "partial", json_boolean(steps->process->partial));
    json_object_set_new(o, "ready",
                        steps->delays ? figure_json(rec_steps_ready(steps)) : json_null());
    json_object_set_new(o, "requests", rec_requests_json(steps));
    bn_text_free(&path);
    return o;
}

json_t *rec_compiles_late_json(const rec_recording *recording, const rec_process *process,
                               const rec_late_compiles *late)
{
    bn_text path = {0};
    bn_text_plain(&path, recording->path);
    json_t *o =
        json_pack("{s:s, s:{s:I, s:s}, s:i, s:s, s:o}", "recording", path.data ? path.data : "",
                  "process", "pid", (json_int_t)process->pid, "framework", process->framework,
                  "steps", 0, "verdict", "compiles", "late_compiles", late_json(late));
    bn_text_free(&path);
    return o;
}
