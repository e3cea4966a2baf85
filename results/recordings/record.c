/*
 * record.c - the steady steps of a recording as a record of a store.
 *
 * The parts of a recorded step are fewer than those of our own: a framework cannot be asked which
 * of its host work is tracing. So all of it is "trace", and what no CPU did while no device worked
 * is "other" (docs/recording.md).
 */
#include "results/recordings/recordings_priv.h"
#include "results/recordings/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- names -------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Copies TEXT, cut between characters. */
static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%.*s", (int)bn_utf8_fit(text, size - 1), text);
}

/* The plugin that the steps ran on; NULL: it is unknown. */
static const rec_plugin *plugin_of(const rec_steps *steps)
{
    const rec_process *p = steps->process;
    uint32_t plugin = steps->device < p->device_count ? p->devices[steps->device].plugin : REC_NONE;
    if (plugin == REC_NONE && p->plugin_count == 1)
        plugin = 0;
    return plugin < p->plugin_count ? &p->plugins[plugin] : NULL;
}

/* ---- the experiment ------------------------------------------------------------------------ */

static void fill_experiment(const rec_recording *recording, const rec_steps *steps,
                            const rec_naming *naming, res_experiment *e)
{
    const rec_process *p = steps->process;
    const rec_plugin *plugin = plugin_of(steps);
    const json_t *runtime = json_object_get(recording->about, "runtime");
    const json_t *environment = json_object_get(recording->about, "environment");
    const char *name = res_json_get_text(runtime, "name");
    bn_text script = {0};
    rec_script_put(p->command, &script);
    copy(e->model, sizeof e->model,
         naming->model   ? naming->model
         : script.length ? script.data
                         : REC_UNKNOWN);
    bn_text_free(&script);
    /* Another variant is another experiment. */
    bn_text variant = {0};
    rec_chosen_name(steps, &variant);
    copy(e->variant, sizeof e->variant, variant.data ? variant.data : "");
    bn_text_free(&variant);
    copy(e->phase, sizeof e->phase, naming->phase ? naming->phase : "step");
    copy(e->mode, sizeof e->mode, "recorded");
    copy(e->front_end, sizeof e->front_end, rec_framework(p));
    copy(e->runtime, sizeof e->runtime,
         name[0]  ? name
         : plugin ? bn_base_name(plugin->path)
                  : "unknown");
    /* As in the settings of bench's own runs. */
    if (plugin && strcmp(plugin->platform, "sim") == 0)
        copy(e->settings, sizeof e->settings, res_json_get_text(environment, "PJRT_SIM"));
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Where a part of a recorded step stands in our ledger. */
static bn_part part_of(rec_part part, bool cpu_clocks)
{
    switch (part) {
    case REC_PART_HOST:
        /* Without clocks of the CPU it may be waiting as well. */
        return cpu_clocks ? BN_PART_TRACE : BN_PART_OTHER;
    case REC_PART_DISPATCH:
        return BN_PART_DISPATCH;
    case REC_PART_TRANSFER:
        return BN_PART_INPUT;
    case REC_PART_READ:
        return BN_PART_READ;
    case REC_PART_COMPILE:
        return BN_PART_COMPILE;
    case REC_PART_WAIT:
        return BN_PART_WAIT;
    case REC_PART_READY:
    case REC_PART_IDLE:
    case REC_PART_COUNT:
        break;
    }
    return BN_PART_OTHER;
}

/* Where the host runs ahead of the device, a sample is of several steps: see rec_steps_sample. */
static bn_code fill_steps(const rec_steps *steps, res_record *record, bn_status *st)
{
    const size_t samples = rec_steps_samples(steps);
    bn_code code = res_record_reserve_steps(record, samples, 0, st);
    for (size_t i = 0; code == BN_OK && i < samples; i++) {
        const rec_step sample = rec_steps_sample(steps, i);
        uint64_t *parts = record->part_ns + i * BN_PART_COUNT;
        record->wall_ns[i] = sample.wall_ns;
        for (int part = 0; part < REC_PART_COUNT; part++)
            parts[part_of((rec_part)part, steps->cpu_clocks)] += sample.part_ns[part];
    }
    record->warmup_stationary = true;
    return code;
}

/* ---- executions ------------------------------------------------------------------------------ */

/* The span of EXECUTION on the device of the steps; NULL: its end is unknown. */
static const rec_span *span_of(const rec_steps *steps, const rec_execution *execution)
{
    const rec_span *span = rec_steps_span(steps, execution);
    return span->complete_ns ? span : NULL;
}

/* Adds the times of the executions in the steady steps to TO: from the begin of each, or the end of
 * the work before it, until it was both returned from and done. Those without room for samples
 * only get their number. */
static void take_samples(const rec_steps *steps, res_execution *to)
{
    const rec_process *p = steps->process;
    for (size_t i = 0; i < steps->count; i++) {
        const rec_step *step = &steps->list[i];
        for (size_t k = step->first; k < (size_t)step->first + step->executions; k++) {
            const rec_execution *x =
                k < steps->order_count ? &p->executions[steps->order[k]] : NULL;
            const uint32_t row =
                x && x->program < p->program_count ? steps->row_of[x->program] : REC_NONE;
            const rec_span *span = row < steps->program_count ? span_of(steps, x) : NULL;
            if (!span)
                continue;
            res_execution *of = &to[row];
            const uint64_t end = x->end_ns > span->complete_ns ? x->end_ns : span->complete_ns;
            if (of->pjrt_ns)
                of->pjrt_ns[of->pjrt_count] = end > span->start_ns ? end - span->start_ns : 0;
            of->pjrt_count++;
        }
    }
}

/* Fills the samples of all executions, in two passes over the steps: there may be as many programs
 * as executions. */
static bn_code fill_samples(const rec_steps *steps, res_record *record, bn_status *st)
{
    bool room = true;
    take_samples(steps, record->executions);
    for (size_t i = 0; room && i < record->execution_count; i++) {
        res_execution *x = &record->executions[i];
        x->pjrt_ns = calloc(x->pjrt_count + 1, sizeof *x->pjrt_ns);
        x->pjrt_count = 0;
        room = x->pjrt_ns != NULL;
    }
    if (room)
        take_samples(steps, record->executions);
    return room ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for samples");
}

static int64_t amount(uint64_t bytes)
{
    return bytes <= (UINT64_C(1) << 53) ? (int64_t)bytes : -1;
}

static void fill_device(const rec_steps *steps, const rec_step_program *of, res_execution *to)
{
    const char *why = steps->process->profile.why;
    char note[400];
    to->device_ns = rec_step_program_device_ns(of);
    to->device_source = isfinite(of->kernels_ns)  ? BN_DEVICE_TIME_PROFILER
                        : isfinite(of->device_ns) ? BN_DEVICE_TIME_EVENT
                                                  : BN_DEVICE_TIME_UNAVAILABLE;
    snprintf(note, sizeof note, "%s%s%s",
             isfinite(of->kernels_ns) ? "while kernels ran, in executions that were profiled"
             : isfinite(of->device_ns)
                 ? "between completions that PJRT reported, the start of each included"
                 : "no completions were recorded",
             why[0] ? "; no profile: " : "", why);
    copy(to->device_note, sizeof to->device_note, note);
}

static void fill_execution(const rec_steps *steps, const rec_step_program *of, res_execution *to)
{
    const rec_program *program = &steps->process->programs[of->program];
    if (program->name[0])
        copy(to->graph, sizeof to->graph, program->name);
    else
        snprintf(to->graph, sizeof to->graph, "program %.8s", program->hash);
    to->per_step = (int)lround(fmin(of->times, 1e6));
    to->arguments = (int)(of->arguments & INT32_MAX);
    to->results = (int)(of->results & INT32_MAX);
    memcpy(to->fingerprint, program->hash, sizeof to->fingerprint);
    to->text_bytes = amount(program->code_bytes) < 0 ? 0 : amount(program->code_bytes);
    to->compile_ns = program->compiles ? program->compile_ns / program->compiles : 0;
    to->from_disk = program->deserialized;
    to->compiler_flops = program->flops;
    to->compiler_bytes = program->bytes;
    to->temp_bytes = amount(program->temporary_bytes);
    to->code_bytes = amount(program->kernel_bytes);
    fill_device(steps, of, to);
}

static bn_code fill_executions(const rec_steps *steps, res_record *record, bn_status *st)
{
    bn_code code = res_record_reserve_executions(record, steps->program_count, st);
    for (size_t i = 0; code == BN_OK && i < steps->program_count; i++)
        fill_execution(steps, &steps->programs[i], &record->executions[i]);
    return code == BN_OK ? fill_samples(steps, record, st) : code;
}

/* Whether TIME, which never goes back, is in a steady step; *AT is where the search stands. */
static bool in_steps(const rec_steps *steps, uint64_t time, size_t *at)
{
    while (*at < steps->count && steps->list[*at].begin_ns + steps->list[*at].wall_ns <= time)
        ++*at;
    return *at < steps->count && steps->list[*at].begin_ns <= time;
}

static void fill_counters(const rec_steps *steps, res_record *record)
{
    const rec_process *p = steps->process;
    record->counters[BN_COUNTER_STEPS] = (int64_t)steps->found;
    record->step_counters[BN_COUNTER_STEPS] = (int64_t)steps->count;
    record->counters[BN_COUNTER_EXECUTIONS] = (int64_t)p->execution_count;
    for (size_t i = 0; i < steps->count; i++)
        record->step_counters[BN_COUNTER_EXECUTIONS] += steps->list[i].executions;
    for (size_t i = 0, at = 0; i < p->call_count; i++) {
        const rec_call *call = &p->calls[i];
        const bool sends = call->kind == REC_CALL_FROM_HOST, reads = rec_call_reads(call),
                   steady = in_steps(steps, call->begin_ns, &at);
        record->counters[BN_COUNTER_COMPILES] += call->kind == REC_CALL_COMPILE;
        record->counters[BN_COUNTER_TRANSFERS_TO_DEVICE] += sends;
        record->counters[BN_COUNTER_TRANSFERS_TO_HOST] += reads;
        record->step_counters[BN_COUNTER_TRANSFERS_TO_DEVICE] += steady && sends;
        record->step_counters[BN_COUNTER_TRANSFERS_TO_HOST] += steady && reads;
    }
}

/* ---- provenance ------------------------------------------------------------------------------ */

/* The recorder's file, as bench record has it; "": it is unknown. */
static const char *recorder_of(const rec_recording *recording)
{
    return res_json_get_text(json_object_get(recording->about, "recorder"), "path");
}

/* The digest that bench record took of the plugin or the recorder at PATH; "" where it did not. */
static const char *digest_of(const rec_recording *recording, const char *path)
{
    static const char *const members[] = {"runtime", "recorder"};
    const char *digest = res_json_get_text(json_object_get(recording->about, "plugins"), path);
    for (size_t i = 0; path[0] && !digest[0] && i < sizeof members / sizeof *members; i++) {
        const json_t *file = json_object_get(recording->about, members[i]);
        digest = strcmp(res_json_get_text(file, "path"), path) == 0
                     ? res_json_get_text(file, "sha256")
                     : "";
    }
    return strlen(digest) == BN_SHA256_TEXT - 1 &&
                   strspn(digest, "0123456789abcdef") == BN_SHA256_TEXT - 1
               ? digest
               : "";
}

/* BN_CHANGED where bench record saw that the file of the steps' plugin, or of the recorder, was
 * replaced: figures of a build that it is unknown would stand for the one that lies there now. */
static bn_code check_build(const rec_recording *recording, const rec_plugin *plugin, bn_status *st)
{
    const json_t *changed = json_object_get(recording->about, "changed");
    for (size_t i = 0; i < json_array_size(changed); i++) {
        const char *path = json_string_value(json_array_get(changed, i));
        if (path && path[0] &&
            ((plugin && strcmp(path, plugin->path) == 0) ||
             strcmp(path, recorder_of(recording)) == 0))
            return bn_fail(st, BN_CHANGED,
                           "%s: %s was replaced while the program ran, so nobody knows which build "
                           "its steps are of",
                           recording->path, path);
    }
    return BN_OK;
}

/* OBJECT's member NAME where it is an object, as a copy (new reference). */
static json_t *object_in(const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);
    return json_is_object(member) ? json_deep_copy(member) : json_object();
}

static json_t *runtime_json(const rec_recording *recording, const rec_steps *steps)
{
    const rec_plugin *plugin = plugin_of(steps);
    const rec_process *p = steps->process;
    const char *device = steps->device < p->device_count ? p->devices[steps->device].text : "";
    if (!plugin)
        return json_pack("{s:o}", "environment", object_in(recording->about, "environment"));
    return json_pack(
        "{s:o, s:s, s:s, s:[I,I], s:I, s:o, s:o, s:{s:o}, s:o}", "path",
        res_json_text(plugin->path), "sha256", digest_of(recording, plugin->path), "label", "",
        "api_version", (json_int_t)plugin->major, (json_int_t)plugin->minor, "api_bytes",
        (json_int_t)plugin->table_bytes, "platform", res_json_text(plugin->platform),
        "platform_version", res_json_text(plugin->platform_version), "device", "kind",
        res_json_text(device), "environment", object_in(recording->about, "environment"));
}

static json_t *texts_json(const char *const *texts)
{
    json_t *array = json_array();
    for (; texts && *texts; texts++)
        json_array_append_new(array, res_json_text(*texts));
    return array;
}

/* A median that was not made for want of memory is no unknown figure: NULL. */
static json_t *busy_json(const rec_steps *steps)
{
    const rec_figure busy = rec_steps_busy(steps);
    return isnan(busy.median_ns) ? NULL : json_real(busy.median_ns);
}

/* A program that does as much of a step's work on the device, in one execution, is the step. */
#define NEARLY_ALL 0.9

static bool is_one_program(const rec_steps *steps)
{
    double all = 0, most = 0;
    for (size_t i = 0; i < steps->program_count; i++) {
        const rec_step_program *p = &steps->programs[i];
        const double device = rec_step_program_device_ns(p);
        const double work = (isfinite(device) ? device : p->call_ns) * p->times;
        all += work;
        most = fabs(p->times - 1) < 0.05 ? fmax(most, work) : most;
    }
    return all > 0 && most >= NEARLY_ALL * all;
}

/* How a step becomes programs: "eager", "lazy", "captured". A front end's mode says it. Of other
 * recordings it is known only where JAX runs one program, which jit has captured. It jits each op
 * of a step op by op, too, and PyTorch/XLA's lazy steps look like those of a compiled graph. */
static const char *way_of(const rec_steps *steps, const rec_naming *naming)
{
    const char *mode = naming->mode;
    if (mode)
        return strcmp(mode, "eager") == 0 || strcmp(mode, "lazy") == 0 ? mode : "captured";
    return begins(rec_framework(steps->process), "jax") && is_one_program(steps) ? "captured"
                                                                                 : "unknown";
}

/* The profile that was asked for; null: none was. */
static json_t *profile_json(const rec_profile *profile)
{
    if (!profile->asked)
        return json_null();
    return json_pack("{s:I, s:I, s:o}", "asked_for", (json_int_t)profile->asked_for, "executions",
                     (json_int_t)profile->executions, "why",
                     profile->why[0] ? res_json_text(profile->why) : json_null());
}

static json_t *recording_json(const rec_recording *recording, const rec_steps *steps,
                              const rec_naming *naming)
{
    const rec_process *p = steps->process;
    json_t *times = json_array();
    for (size_t i = 0; i < steps->program_count; i++)
        json_array_append_new(times, res_json_real(steps->programs[i].times));
    return json_pack(
        "{s:o, s:o, s:s, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:b, "
        "s:I, s:I, s:i, s:s, s:I, s:o, s:o, s:o, s:I, s:I}",
        "command", texts_json(p->command), "frameworks", texts_json(p->frameworks), "way",
        way_of(steps, naming), "pid", (json_int_t)p->pid, "process", res_json_text(p->folder),
        "executions_per_step", (json_int_t)steps->executions_per_step, "steps_a_sample",
        (json_int_t)steps->cycle, "steps_found", (json_int_t)steps->found, "steps_with_compiles",
        (json_int_t)steps->with_compiles, "steps_warming", (json_int_t)steps->warming,
        "steps_unlike", (json_int_t)steps->unlike, "times_a_step", times, "device_busy_ns",
        busy_json(steps), "cpu_clocks", steps->cpu_clocks, "completions", steps->completions,
        "lost_events", p->lost <= INT64_MAX ? (json_int_t)p->lost : (json_int_t)-1, "skipped_slots",
        (json_int_t)p->skipped, "stop", (int)p->stop, "recorder_sha256",
        digest_of(recording, recorder_of(recording)), "epoch_ns",
        p->epoch_ns <= INT64_MAX ? (json_int_t)p->epoch_ns : (json_int_t)-1, "step_program",
        naming->step_program ? res_json_text(naming->step_program) : json_null(), "profile",
        profile_json(&p->profile), "variant",
        steps->variants == 0 ? json_null() : json_string(p->programs[steps->variant].hash),
        "variants", (json_int_t)steps->variants, "steps_of_others", (json_int_t)steps->of_others);
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* For how long something was compiled between FROM and TO. Calls are in order of their begins. */
static uint64_t compiled_ns(const rec_process *p, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *c = &p->calls[i];
        const uint64_t begin = c->begin_ns > from ? c->begin_ns : from;
        const uint64_t end = c->end_ns < to ? c->end_ns : to;
        if (c->kind != REC_CALL_COMPILE || end <= begin)
            continue;
        sum += end - begin;
        from = end;
    }
    return sum;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* How much of BEGIN to END lies within the steps of STEPS; *AT, 0 at first, is the first of them
 * that may reach there, for times that ascend. */
static uint64_t within_steps_ns(const rec_steps *steps, uint64_t begin, uint64_t end, size_t *at)
{
    uint64_t sum = 0;
    while (*at < steps->count && steps->list[*at].begin_ns + steps->list[*at].wall_ns <= begin)
        *at += 1;
    for (size_t k = *at; k < steps->count && steps->list[k].begin_ns < end; k++) {
        const rec_step *s = &steps->list[k];
        const uint64_t over = s->begin_ns + s->wall_ns;
        sum += less(end < over ? end : over, begin > s->begin_ns ? begin : s->begin_ns);
    }
    return sum;
}

/* Time of compile calls between FROM and TO within steady steps, in one pass. */
static uint64_t compiled_in_steps_ns(const rec_steps *steps, uint64_t from, uint64_t to)
{
    const rec_process *p = steps->process;
    uint64_t sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < p->call_count && p->calls[i].begin_ns < to; i++) {
        const rec_call *c = &p->calls[i];
        const uint64_t begin = c->begin_ns > from ? c->begin_ns : from;
        if (c->kind != REC_CALL_COMPILE || c->end_ns <= begin)
            continue;
        sum += within_steps_ns(steps, begin, c->end_ns, &at);
        from = c->end_ns;
    }
    return sum;
}

/* The wall time of the steady steps by what the device waited for. Without clocks of
 * the CPU it is unknown whether the host worked. */
static json_t *phases_of_steps(const rec_steps *steps)
{
    uint64_t wall = 0, busy = 0, gap[REC_PART_COUNT] = {0};
    for (size_t i = 0; i < steps->count; i++) {
        wall += steps->list[i].wall_ns;
        busy += steps->list[i].busy_ns;
        for (int part = 0; part < REC_PART_COUNT; part++)
            gap[part] += steps->list[i].gap_ns[part];
    }
    const uint64_t host = gap[REC_PART_HOST];
    const uint64_t idle = gap[REC_PART_IDLE] + gap[REC_PART_READY];
    return json_pack("{sI so sI sI sI sI sI}", "wall_ns", (json_int_t)wall, "device_ns",
                     steps->completions ? json_integer((json_int_t)busy) : json_null(), "input_ns",
                     (json_int_t)gap[REC_PART_TRANSFER], "tracing_ns",
                     (json_int_t)(steps->cpu_clocks ? host : 0), "compile_ns",
                     (json_int_t)gap[REC_PART_COMPILE], "overhead_ns",
                     (json_int_t)(gap[REC_PART_DISPATCH] + gap[REC_PART_READ] + gap[REC_PART_WAIT]),
                     "idle_ns", (json_int_t)(steps->cpu_clocks ? idle : idle + host));
}

/* The phases of the process, as of res_phases (new reference). */
static json_t *phases_json(const rec_recording *recording, const rec_steps *steps,
                           const rec_naming *naming)
{
    const rec_process *p = steps->process;
    const rec_step *last = &steps->list[steps->count - 1];
    const uint64_t steady = steps->list[0].begin_ns, over = last->begin_ns + last->wall_ns;
    const uint64_t ran = p->executions[0].begin_ns, first = ran < steady ? ran : steady;
    uint64_t begun, ended;
    rec_run_ends(recording, p, &begun, &ended);
    if (naming->begun_ns)
        begun = naming->begun_ns < p->begin_ns ? naming->begun_ns : p->begin_ns;
    if (naming->ended_ns)
        ended = naming->ended_ns > p->last_ns ? naming->ended_ns : p->last_ns;
    json_t *of_steps = phases_of_steps(steps);
    const uint64_t compiled =
        less(compiled_ns(p, begun, ended), compiled_in_steps_ns(steps, steady, over));
    return json_pack("{sI sI sI sI sI sI sO so}", "wall_ns", (json_int_t)less(ended, begun),
                     "others_ns", (json_int_t)0, "initialization_ns",
                     (json_int_t)less(p->first_ns, begun), "preparation_ns",
                     (json_int_t)less(less(first, p->first_ns), compiled_ns(p, p->first_ns, first)),
                     "compile_ns", (json_int_t)compiled, "warmup_ns",
                     (json_int_t)less(less(steady, first), compiled_ns(p, first, steady)),
                     "measuring_ns", json_object_get(of_steps, "wall_ns"), "steps", of_steps);
}

static bn_code fill_provenance(const rec_recording *recording, const rec_steps *steps,
                               const rec_naming *naming, res_record *record, bn_status *st)
{
    json_t *made = json_pack(
        "{s:o, s:o, s:O*, s:o, s:o}", "runtime", runtime_json(recording, steps), "host",
        object_in(recording->about, "host"), "process",
        json_object_get(recording->about, "process"), "recording",
        recording_json(recording, steps, naming), "phases", phases_json(recording, steps, naming));
    if (!made)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a provenance");
    json_decref(record->provenance);
    record->provenance = made;
    return BN_OK;
}

/* ---- the id ---------------------------------------------------------------------------------- */

/* The time of the first steady step, and a digest of what the record is of. */
static bn_code make_id(const rec_steps *steps, res_record *record, bn_status *st)
{
    const rec_process *p = steps->process;
    const uint64_t first = steps->list[0].begin_ns;
    const uint64_t ns = p->epoch_ns + (first > p->begin_ns ? first - p->begin_ns : 0);
    const time_t seconds = (time_t)(ns / 1000000000);
    const res_experiment *e = &record->experiment;
    char digest[BN_SHA256_TEXT] = "", date[32];
    struct tm utc;
    bn_text text = {0};
    /* Ids with years beyond 9999 would not sort. */
    if (seconds > INT64_C(253402300799) || !gmtime_r(&seconds, &utc))
        return bn_fail(st, BN_FORMAT, "%s: its time is not one", p->folder);
    strftime(date, sizeof date, "%Y%m%dT%H%M%S", &utc);
    bn_text_printf(&text, "%s\n%u\n%llu\n%s\n%s\n%s\n%s\n", p->folder, p->pid,
                   (unsigned long long)p->epoch_ns, e->model, e->phase, e->front_end, e->runtime);
    for (size_t i = 0; i < steps->program_count; i++)
        bn_text_printf(&text, "%s %u\n", p->programs[steps->programs[i].program].hash,
                       (unsigned)record->executions[i].per_step);
    bn_sha256(text.data, text.length, digest);
    snprintf(record->id, sizeof record->id, "%.15s.%09uZ-recording-%.16s", date,
             (unsigned)(ns % 1000000000), digest);
    bn_text_free(&text);
    return BN_OK;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

bn_code rec_record_make(const rec_recording *recording, const rec_steps *steps,
                        const rec_naming *naming, res_record **record, bn_status *st)
{
    const rec_plugin *plugin = plugin_of(steps);
    *record = NULL;
    if (steps->count == 0 || rec_steps_samples(steps) == 0)
        return bn_fail(st, BN_FORMAT, "%s: it has no steady step", recording->path);
    bn_code code = check_build(recording, plugin, st);
    if (code != BN_OK)
        return code;
    res_record *fresh = res_record_new();
    if (!fresh)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a record");
    fresh->simulated = plugin && strcmp(plugin->platform, "sim") == 0;
    fill_experiment(recording, steps, naming, &fresh->experiment);
    code = fill_steps(steps, fresh, st);
    if (code == BN_OK)
        code = fill_executions(steps, fresh, st);
    if (code == BN_OK)
        code = fill_provenance(recording, steps, naming, fresh, st);
    if (code == BN_OK)
        code = make_id(steps, fresh, st);
    if (code == BN_OK)
        fill_counters(steps, fresh);
    if (code == BN_OK)
        code = res_record_check(fresh, st);
    if (code == BN_OK)
        *record = fresh;
    else
        res_record_free(fresh);
    return code;
}
