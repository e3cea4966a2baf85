/*
 * timeline.c - a process of a recording in Chrome's trace event format (opens in Perfetto and
 * chrome://tracing), or as XSpace, without flows and transfers that overlap: the host's threads and
 * their calls, devices with executions and gaps, steps, and a flow from each Execute call to what
 * it started. Starts and durations are measured, and times are of one clock.
 */
#include "results/recordings/views.h"
#include "results/traces/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processes of the trace. */
enum { HOST = 1, DEVICES = 2, STEPS = 3, PROFILED = 4 };

/* Executions of a profile that overlap on a device lie on so many lanes; further ones are not
 * shown. */
enum { MOST_LANES = 16 };

/* A timeline that is being written. */
typedef struct timeline {
    const rec_process *process;
    const rec_steps *steps; /* or NULL */
    res_trace trace;
    uint64_t to_ns;       /* what is shown begins from TRACE's FROM_NS to here */
    char **names;         /* of programs, quoted: [program_count] */
    uint64_t *busy_until; /* of each device, and of an unknown one at the end */
} timeline;

/* ---- what is shown -----------------------------------------------------------------------------
 */

static bool shown(const timeline *t, uint64_t begin_ns)
{
    return begin_ns >= t->trace.from_ns && begin_ns <= t->to_ns;
}

/* Shows all of a small recording, only the steady steps of a large one. */
static void choose_window(timeline *t)
{
    const rec_process *p = t->process;
    t->trace.from_ns = UINT64_MAX;
    t->to_ns = UINT64_MAX;
    for (size_t i = 0; i < p->execution_count; i++)
        if (p->executions[i].begin_ns < t->trace.from_ns)
            t->trace.from_ns = p->executions[i].begin_ns;
    for (size_t i = 0; i < p->call_count; i++)
        if (p->calls[i].begin_ns < t->trace.from_ns)
            t->trace.from_ns = p->calls[i].begin_ns;
    if (t->trace.from_ns == UINT64_MAX)
        t->trace.from_ns = 0;
    const rec_steps *s = t->steps;
    if (s && s->count > 0 && p->execution_count + p->call_count >= REC_TIMELINE_WHOLE) {
        t->trace.from_ns = s->list[0].begin_ns;
        t->to_ns = s->list[s->count - 1].begin_ns + s->list[s->count - 1].wall_ns;
    }
}

static uint64_t lane_of_thread(const timeline *t, uint32_t thread)
{
    return thread < t->process->thread_count ? t->process->threads[thread].number : 0;
}

static size_t device_of(const timeline *t, uint32_t device)
{
    return device < t->process->device_count ? device : t->process->device_count;
}

/* So many bytes of TEXT at most, cut between characters, as printf wants them. */
static int fit(const char *text, size_t most)
{
    return (int)bn_utf8_fit(text, most);
}

static void put_names(timeline *t)
{
    const rec_process *p = t->process;
    char text[600];
    snprintf(text, sizeof text, "host, process %u%s%.*s", p->pid, p->framework[0] ? ", " : "",
             fit(p->framework, 400), p->framework);
    res_trace_name(&t->trace, "process_name", HOST, 0, text);
    res_trace_name(&t->trace, "process_name", DEVICES, 0, "devices");
    if (t->steps)
        res_trace_name(&t->trace, "process_name", STEPS, 0, "steady steps");
    for (size_t i = 0; i < p->thread_count; i++) {
        const char *name = p->threads[i].name[0] ? p->threads[i].name : "thread";
        snprintf(text, sizeof text, "%.*s%s", fit(name, 200), name,
                 i == p->main_thread ? " (main)" : "");
        res_trace_name(&t->trace, "thread_name", HOST, p->threads[i].number, text);
    }
    for (size_t i = 0; i <= p->device_count; i++) {
        if (i == p->device_count && t->busy_until[i] == 0 && i > 0)
            continue;
        const char *name = i < p->device_count ? p->devices[i].text : "unknown";
        snprintf(text, sizeof text, "%.*s", fit(name, 400), name);
        res_trace_name(&t->trace, "thread_name", DEVICES, i + 1, text);
    }
}

/* ---- executions
 * ---------------------------------------------------------------------------------- */

static const char *name_of(const timeline *t, uint32_t program)
{
    return program < t->process->program_count && t->names[program] ? t->names[program]
                                                                    : "\"program\"";
}

/* Puts an execution on one device: the gap before it, itself, and the end of the flow from its
 * call, whose number is that of the span. */
static void put_span(timeline *t, const rec_execution *x, size_t index)
{
    const rec_span *span = &t->process->spans[index];
    if (span->complete_ns == 0)
        return;
    const size_t device = device_of(t, span->device);
    const uint64_t lane = device + 1, before = t->busy_until[device];
    if (before > 0 && span->start_ns > before && before >= t->trace.from_ns) {
        res_trace_slice(&t->trace, "\"gap\"", DEVICES, lane, before, span->start_ns);
        bn_text_puts(&t->trace.text, ",\"cname\":\"grey\"}");
    }
    res_trace_slice(&t->trace, name_of(t, x->program), DEVICES, lane, span->start_ns,
                    span->complete_ns);
    bn_text_printf(&t->trace.text, ",\"args\":{\"execution\":%llu}}",
                   (unsigned long long)x->number);
    res_trace_flow(&t->trace, false, HOST, lane_of_thread(t, x->thread), x->begin_ns, index + 1);
    res_trace_flow(&t->trace, true, DEVICES, lane, span->start_ns, index + 1);
    if (span->complete_ns > before)
        t->busy_until[device] = span->complete_ns;
}

static void put_executions(timeline *t)
{
    const rec_process *p = t->process;
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *x = &p->executions[i];
        if (!shown(t, x->begin_ns))
            continue;
        const rec_program *program =
            x->program < p->program_count ? &p->programs[x->program] : NULL;
        res_trace_slice(&t->trace, name_of(t, x->program), HOST, lane_of_thread(t, x->thread),
                        x->begin_ns, x->end_ns);
        bn_text_printf(&t->trace.text,
                       ",\"cat\":\"execute\",\"args\":{\"execution\":%llu,\"hash\":\"%s\","
                       "\"arguments\":%u,\"results\":%u%s}}",
                       (unsigned long long)x->number, program ? program->hash : "", x->arguments,
                       x->results, x->failed ? ",\"failed\":true" : "");
        for (uint32_t d = 0; d < x->devices && x->spans + d < p->span_count; d++)
            put_span(t, x, x->spans + d);
    }
}

/* ---- other calls
 * ----------------------------------------------------------------------------------- */

static const char *call_name(uint8_t kind)
{
    static const char *const names[] = {
        [REC_CALL_COMPILE] = "\"compile\"", [REC_CALL_FROM_HOST] = "\"to device\"",
        [REC_CALL_TO_HOST] = "\"to host\"", [REC_CALL_COPY] = "\"copy\"",
        [REC_CALL_BUFFER] = "\"buffer\"",   [REC_CALL_WAIT] = "\"wait\"",
        [REC_CALL_READ] = "\"read\""};
    return kind < sizeof names / sizeof *names ? names[kind] : "\"call\"";
}

/* Bytes that still travel when the call has returned: they may overlap others, so they are no slice
 * of a lane. */
static void put_transfer(timeline *t, const rec_call *call, size_t index)
{
    static const char kinds[] = {'b', 'e'};
    const uint64_t times[] = {call->begin_ns, call->complete_ns};
    for (int i = 0; i < 2; i++) {
        res_trace_event(&t->trace, call_name(call->kind), kinds[i], HOST,
                        lane_of_thread(t, call->thread), times[i]);
        /* A local id: with a global one Perfetto shows the slice apart from all processes. */
        bn_text_printf(&t->trace.text, ",\"cat\":\"transfer\",\"id2\":{\"local\":\"0x%zx\"}}",
                       index + 1);
    }
}

static void put_calls(timeline *t)
{
    const rec_process *p = t->process;
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *call = &p->calls[i];
        if (!shown(t, call->begin_ns))
            continue;
        res_trace_slice(&t->trace, call_name(call->kind), HOST, lane_of_thread(t, call->thread),
                        call->begin_ns, call->end_ns);
        bn_text_printf(&t->trace.text, ",\"cat\":\"call\",\"args\":{\"bytes\":%llu%s%s%s}}",
                       (unsigned long long)call->bytes,
                       call->kind == REC_CALL_COMPILE ? ",\"program\":" : "",
                       call->kind == REC_CALL_COMPILE ? name_of(t, call->program) : "",
                       call->failed ? ",\"failed\":true" : "");
        if (call->complete_ns > call->end_ns)
            put_transfer(t, call, i);
    }
}

/* The lane of the profile's PLANE that is free at BEGIN, a new one if there is none; MOST_LANES:
 * there are too many. UNTIL says when each of *LANES ends. */
static size_t free_lane(timeline *t, size_t plane, uint64_t begin, size_t *planes,
                        const uint64_t *until, size_t *lanes)
{
    size_t lane = 0, same = 0;
    char name[64];
    for (; lane < *lanes && (planes[lane] != plane || until[lane] > begin); lane++)
        same += planes[lane] == plane;
    if (lane < *lanes || lane == MOST_LANES)
        return lane;
    snprintf(name, sizeof name, "plane %zu of the profile%s", plane, same ? ", overlapping" : "");
    res_trace_name(&t->trace, "thread_name", PROFILED, lane + 1, name);
    planes[(*lanes)++] = plane;
    return lane;
}

/* Kernels of the plugin's own profiler, where their times are known. */
static void put_profile(timeline *t)
{
    const rec_profile *profile = &t->process->profile;
    size_t planes[MOST_LANES], lanes = 0;
    uint64_t until[MOST_LANES] = {0};
    int64_t offset = 0;
    if (!rec_profile_clock(profile, t->process->begin_ns, t->process->epoch_ns, &offset))
        return;
    res_trace_name(&t->trace, "process_name", PROFILED, 0, "devices, by the plugin's profiler");
    for (size_t i = 0; i < profile->span_count; i++) {
        const rec_profile_span *span = &profile->spans[i];
        const uint64_t begin = span->start_ns + (uint64_t)offset;
        if (!shown(t, begin))
            continue;
        const size_t lane = free_lane(t, span->plane, begin, planes, until, &lanes);
        if (lane == MOST_LANES)
            continue;
        until[lane] = begin + span->duration_ns;
        char *name = res_trace_quote(profile->programs[span->program].name);
        res_trace_slice(&t->trace, name ? name : "\"program\"", PROFILED, lane + 1, begin,
                        until[lane]);
        bn_text_printf(&t->trace.text, ",\"args\":{\"busy_ns\":%llu,\"kernels\":%zu}}",
                       (unsigned long long)span->busy_ns, span->kernels);
        free(name);
    }
}

static void put_steps(timeline *t)
{
    for (size_t i = 0; t->steps && i < t->steps->count; i++) {
        const rec_step *step = &t->steps->list[i];
        char name[32];
        if (!shown(t, step->begin_ns))
            continue;
        snprintf(name, sizeof name, "\"step %zu\"", i);
        /* xprof distinguishes steps by their numbers. */
        res_trace_slice(&t->trace, t->trace.space ? "\"step\"" : name, STEPS, 1, step->begin_ns,
                        step->begin_ns + step->wall_ns);
        res_trace_number(&t->trace, i);
        bn_text_puts(&t->trace.text, ",\"args\":{");
        for (int part = 0; part < REC_PART_COUNT; part++)
            bn_text_printf(&t->trace.text, "%s\"%s_ns\":%llu", part ? "," : "",
                           rec_part_name((rec_part)part), (unsigned long long)step->part_ns[part]);
        bn_text_printf(&t->trace.text, ",\"device_busy_ns\":%llu}}",
                       (unsigned long long)step->busy_ns);
    }
}

/* ---- the file
 * ------------------------------------------------------------------------------------------ */

static void put_head(timeline *t)
{
    static const char about[] =
        "A recording of PJRT calls by bench. Times are of the machine's monotonic clock, from the "
        "first event on. An execution begins with its call, or when the one before it on the same "
        "device has ended; by the plugin's profiler, with its first kernel.";
    const bool whole = t->to_ns == UINT64_MAX;
    res_trace_head(&t->trace, json_pack("{ss ss sI}", "about", about, "shown",
                                        whole ? "all of the process" : "the steady steps only",
                                        "pid", (json_int_t)t->process->pid));
}

/* xprof shows one host, and devices by the names that it knows. */
static void become_space(timeline *t)
{
    res_trace_into_space(&t->trace);
    res_trace_plane(&t->trace, HOST, "/host:CPU");
    res_trace_plane(&t->trace, STEPS, "/host:CPU");
    res_trace_plane(&t->trace, DEVICES, "/device:CUSTOM:0 devices");
    res_trace_plane(&t->trace, PROFILED, "/device:CUSTOM:1 devices, by the plugin's profiler");
}

static bool prepare(timeline *t)
{
    const rec_process *p = t->process;
    t->names = calloc(p->program_count + 1, sizeof *t->names);
    t->busy_until = calloc(p->device_count + 1, sizeof *t->busy_until);
    if (!t->names || !t->busy_until)
        return false;
    for (size_t i = 0; i < p->program_count; i++) {
        char text[48];
        snprintf(text, sizeof text, "program %.8s", p->programs[i].hash);
        t->names[i] = res_trace_quote(p->programs[i].name[0] ? p->programs[i].name : text);
        if (!t->names[i])
            return false;
    }
    return true;
}

static void release(timeline *t)
{
    for (size_t i = 0; t->names && i < t->process->program_count; i++)
        free(t->names[i]);
    free(t->names);
    free(t->busy_until);
    res_trace_free(&t->trace);
}

bn_code rec_timeline_write(const rec_process *process, const rec_steps *steps, const char *path,
                           bool replace, bn_status *st)
{
    timeline t = {.process = process, .steps = steps, .trace = {.st = st}};
    res_trace *out = &t.trace;
    /* Once more when it has got its name: then somebody else was faster. */
    if (!replace && access(path, F_OK) == 0)
        return bn_fail(st, BN_INVALID, "%s is there already: choose another file, or --force",
                       path);
    out->code = bn_writer_begin(path, &out->writer, st);
    if (out->code == BN_OK && res_trace_is_space(path))
        become_space(&t);
    if (out->code == BN_OK && !prepare(&t))
        out->code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a timeline");
    if (out->code == BN_OK) {
        choose_window(&t);
        put_head(&t);
        put_executions(&t);
        put_calls(&t);
        put_profile(&t);
        put_steps(&t);
        put_names(&t);
        res_trace_tail(out);
    }
    if (out->code == BN_OK)
        out->code = bn_writer_finish(out->writer, replace, st);
    else
        bn_writer_drop(out->writer);
    release(&t);
    return out->code;
}
