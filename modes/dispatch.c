/*
 * dispatch.c - executions: bind, submit, keep results, commit, release, wait.
 *
 * A step's results are kept apart from the variables until the whole step has
 * been submitted. Then they become the variables' contents (commit), and the
 * handles that they replace are released while the device works. Lists keep
 * their memory from step to step, so a steady step allocates nothing.
 */
#include "modes/mode_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Releasing handles that are not in use takes well under a microsecond each; a
 * release part this much longer means that the plugin made us wait. */
#define SLOW_RELEASE_NS 5000000u

void mode_dispatch_reserve(mode *m, const mode_program *p)
{
    mode_list_reserve(&m->arguments, p->input_count + 1);
    mode_list_reserve(&m->results, p->output_count + 1);
    mode_list_reserve(&m->events, m->events.count + 1);
}

/* ---- probe ----------------------------------------------------------------------- */

/* Bytes of results that may be kept where the plugin does not report the device's memory. */
#define UNREPORTED_BYTES ((int64_t)256 << 20)

int64_t mode_result_bytes(const mode_program *p)
{
    rt_result *list = NULL;
    bn_status ignored = {.code = BN_OK};
    int64_t bytes = 0;
    if (rt_executable_results(p->executable, &list, &ignored) != BN_OK)
        return INT64_MAX;
    for (size_t o = 0; o < p->output_count; o++)
        if (p->donor[o] < 0 &&
            (list[o].bytes < 0 || __builtin_add_overflow(bytes, list[o].bytes, &bytes)))
            bytes = INT64_MAX;
    free(list);
    return bytes;
}

bool mode_has_room(mode *m, int64_t bytes)
{
    rt_device_memory memory;
    bn_status ignored = {.code = BN_OK};
    int64_t free_bytes = UNREPORTED_BYTES;
    if (rt_client_memory(m->client, (size_t)m->options.compile.device, &memory, &ignored) ==
            BN_OK &&
        memory.bytes_limit > 0 && memory.bytes_in_use >= 0)
        /* Half of it: the memory that an execution needs for itself is unknown. */
        free_bytes = (memory.bytes_limit - memory.bytes_in_use) / 2;
    return bytes <= free_bytes;
}

/* Whether the device can hold the results of REPEAT executions of P at once. */
static bool has_room_for_all(mode *m, const mode_program *p, unsigned repeat)
{
    int64_t bytes;
    return !__builtin_mul_overflow(mode_result_bytes(p), (int64_t)repeat, &bytes) &&
           mode_has_room(m, bytes);
}

/* The repetitions of one program. */
typedef struct repetitions {
    mode_list replaced;  /* results of a repetition that the next one replaced or consumed */
    mode_list events;    /* not awaited yet */
    bool keeps_replaced; /* until the end; else they are released as soon as they are replaced */
    uint64_t submit_ns, first_ns, begin_ns, end_ns;
} repetitions;

/* Makes the results of a repetition the next one's arguments where they reuse an argument's memory,
 * and releases or keeps the others. */
static void probe_feed_back(mode *m, const mode_program *p, repetitions *r)
{
    rt_buffer **arguments = (rt_buffer **)m->arguments.items;
    rt_buffer **results = (rt_buffer **)m->results.items;
    for (size_t o = 0; o < p->output_count; o++) {
        if (p->donor[o] < 0 && !r->keeps_replaced)
            rt_buffer_release(m->client, results[o]);
        else
            r->replaced.items[r->replaced.count++] = results[o];
        if (p->donor[o] >= 0)
            arguments[p->donor[o]] = results[o];
    }
}

/* Runs the program PROBE_REPEAT times, after one untimed execution that warms the caches. *REFUSED:
 * the plugin refused the last repetition; those before it are submitted. */
static bn_code probe_repeat(mode *m, mode_program *p, repetitions *r, bool *refused, bn_status *st)
{
    const unsigned repeat = m->probe_repeat, first = repeat > 1;
    bn_code code = BN_OK;
    r->begin_ns = bn_now_ns();
    r->submit_ns = r->first_ns = 0;
    for (unsigned done = 0; code == BN_OK && done < repeat + first; done++) {
        const bool last = done + 1 == repeat + first, untimed = done < first;
        rt_event *event = NULL;
        if (done > 0)
            probe_feed_back(m, p, r);
        const uint64_t before = bn_now_ns();
        code = rt_execute(p->executable, (rt_buffer *const *)m->arguments.items, p->input_count,
                          m->keep, m->keep_count, (rt_buffer **)m->results.items, &event, st);
        r->submit_ns += bn_now_ns() - before;
        *refused = code != BN_OK;
        if (code == BN_OK)
            r->events.items[r->events.count++] = event;
        if (code == BN_OK && (m->probe == MODE_PROBE_AWAITED || last || untimed)) {
            code = mode_await_events(m, &r->events, st);
            for (size_t o = 0; code != BN_OK && o < p->output_count; o++)
                rt_buffer_release(m->client, m->results.items[o]);
        }
        if (untimed) {
            r->submit_ns = 0;
            r->begin_ns = bn_now_ns();
        } else if (done + 1 - first == repeat / 2) {
            r->first_ns = bn_now_ns() - r->begin_ns;
        }
    }
    r->end_ns = bn_now_ns();
    return code;
}

/* Awaits the repetitions that were submitted before a failure, whose status is the one to report.
 */
static void probe_await_rest(mode *m, repetitions *r)
{
    bn_status ignored = {.code = BN_OK};
    if (mode_await_events(m, &r->events, &ignored) != BN_OK)
        r->events.count = 0;
}

/* Releases the replaced results, except those that are arguments now. */
static void probe_make_room(mode *m, const mode_program *p, repetitions *r)
{
    size_t left = 0;
    for (size_t i = 0; i < r->replaced.count; i++) {
        bool argument = false;
        for (size_t k = 0; k < p->input_count; k++)
            argument = argument || m->arguments.items[k] == r->replaced.items[i];
        if (argument)
            r->replaced.items[left++] = r->replaced.items[i];
        else
            rt_buffer_release(m->client, r->replaced.items[i]);
    }
    r->replaced.count = left;
}

/* Whether no argument was consumed: a plugin may consume some before it refuses an execution. */
static bool has_all_arguments(mode *m, const mode_program *p)
{
    for (size_t i = 0; i < p->input_count; i++)
        if (rt_buffer_is_deleted(m->client, m->arguments.items[i]))
            return false;
    return true;
}

/*
 * Probes P. Releasing a handle takes time, or waits, so replaced results are kept until the end if
 * the device has room for all of them. If the plugin refuses a repetition for want of memory all
 * the same, the repetitions begin again, and these and later probes of P release early.
 */
static bn_code probe(mode *m, mode_program *p, bn_status *st)
{
    const unsigned all = m->probe_repeat + (m->probe_repeat > 1);
    repetitions r = {.keeps_replaced = !p->probe_releases_early && has_room_for_all(m, p, all)};
    bool refused = false;
    /* Repetitions that begin again may leave consumed results of both attempts. */
    mode_list_reserve(&r.replaced, 2 * all * (p->output_count + 1));
    mode_list_reserve(&r.events, all);
    bn_code code = probe_repeat(m, p, &r, &refused, st);
    if (code == BN_OUT_OF_MEMORY && refused && r.keeps_replaced && has_all_arguments(m, p)) {
        probe_await_rest(m, &r);
        probe_make_room(m, p, &r);
        r.keeps_replaced = false;
        p->probe_releases_early = true;
        *st = (bn_status){.code = BN_OK};
        code = probe_repeat(m, p, &r, &refused, st);
    }
    probe_await_rest(m, &r);
    for (size_t i = 0; i < r.replaced.count; i++)
        rt_buffer_release(m->client, r.replaced.items[i]);
    p->row->view.submit_ns += r.submit_ns;
    p->row->view.pjrt_ns += r.end_ns - r.begin_ns;
    p->row->view.first_ns += r.first_ns;
    mode_list_free(&r.replaced);
    mode_list_free(&r.events);
    return code;
}

/* ---- one execution ------------------------------------------------------------------ */

static void count_execution(mode *m, mode_program *p)
{
    mode_execution *view = &p->row->view;
    const int64_t step = m->counters[BN_COUNTER_STEPS];
    if (view->last_step != step) {
        view->last_step = step;
        view->per_step = 0;
    }
    view->per_step++;
    m->counters[BN_COUNTER_EXECUTIONS]++;
}

/* Notes in the timeline the call that submitted P, and has EVENT's completion noted. */
static void note_execution(mode *m, const mode_program *p, uint64_t begin_ns, rt_event *event)
{
    bn_completion *done = bn_timeline_call(m->timeline, BN_SPAN_EXECUTE, p->row->view.label, 0,
                                           begin_ns, m->part_since);
    if (!done)
        return;
    done->handle = event;
    /* Without a callback mode_await_events notes the end of its wait instead. */
    (void)(rt_event_watch(m->client, event, done, NULL) == BN_OK);
}

/* Waits for the execution of P that was just submitted. After a failure its results are nobody's.
 */
static bn_code await_execution(mode *m, const mode_program *p, bn_status *st)
{
    const bn_part before = mode_clock(m, BN_PART_WAIT);
    const bn_code code = mode_await_events(m, &m->events, st);
    for (size_t o = 0; code != BN_OK && o < p->output_count; o++)
        rt_buffer_release(m->client, m->results.items[o]);
    mode_clock(m, before);
    return code;
}

bn_code mode_dispatch(mode *m, mode_program *p, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_DISPATCH);
    const uint64_t begin_ns = m->part_since;
    rt_event *event = NULL;
    count_execution(m, p);
    bn_code code;
    if (m->probe_repeat > 0) {
        code = probe(m, p, st);
    } else {
        code = rt_execute(p->executable, (rt_buffer *const *)m->arguments.items, p->input_count,
                          m->keep, m->keep_count, (rt_buffer **)m->results.items, &event, st);
        if (code == BN_OK)
            m->events.items[m->events.count++] = event;
    }
    mode_clock(m, before);
    if (m->timeline && event)
        note_execution(m, p, begin_ns, event);
    if (code == BN_OK && event && m->options.awaited)
        code = await_execution(m, p, st);
    return code == BN_OK ? BN_OK
                         : bn_context(st, "%s %s", m->probe_repeat > 0 ? "probing" : "executing",
                                      p->row->view.label);
}

void mode_assign_at_commit(mode *m, tg_tensor *variable, rt_buffer *buffer)
{
    mode_list_push(&m->targets, variable);
    mode_list_push(&m->buffers, buffer);
}

/* ---- graphs of the current trace ------------------------------------------------------ */

bn_code mode_run_graph(mode *m, const tg_graph *g, mode_program *p, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_BIND);
    bn_code code = BN_OK;
    mode_dispatch_reserve(m, p);
    for (size_t i = 0; code == BN_OK && i < g->input_count; i++) {
        rt_buffer *buffer = NULL;
        code = mode_buffer_of(g->inputs[i], &buffer, st);
        m->arguments.items[i] = buffer;
    }
    if (code == BN_OK)
        code = mode_dispatch(m, p, st);
    for (size_t o = 0; code == BN_OK && o < g->output_count; o++) {
        rt_buffer *buffer = m->results.items[o];
        if (!tg_tensor_data(g->outputs[o]))
            tg_tensor_set_data(g->outputs[o], buffer);
        if (g->target[o])
            mode_assign_at_commit(m, g->target[o], buffer);
        else
            mode_list_push(&m->temporaries, buffer);
    }
    mode_clock(m, before);
    return code;
}

bn_code mode_run_trace(mode *m, tg_tensor *stop_at, mode_graph_hook *on_graph, void *context,
                       bn_status *st)
{
    tg_graph *const *graphs = NULL;
    size_t count = 0;
    bn_part before = mode_clock(m, BN_PART_HASH);
    bn_code code = tg_trace_cut(m->trace, m->group_of_phase, stop_at, &graphs, &count, st);
    /* A cut at a read cannot know yet which outputs will be assigned to variables. */
    mode_layouts_begin(m, !stop_at && count > 1);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        char label[64];
        mode_program *program = NULL;
        mode_graph_label(m->group_of_phase, graphs[i], label);
        const int64_t hits = m->counters[BN_COUNTER_CACHE_HITS];
        code = mode_program_get(m, graphs[i], label, false, &program, st);
        if (code == BN_OK)
            mode_notify_graph(m, graphs[i], label, program,
                              m->counters[BN_COUNTER_CACHE_HITS] == hits);
        if (code == BN_OK)
            code = mode_run_graph(m, graphs[i], program, st);
        if (code == BN_OK && on_graph)
            code = on_graph(context, graphs[i], program, st);
    }
    mode_layouts_begin(m, false);
    mode_clock(m, before);
    return code;
}

/* ---- the end of a step -------------------------------------------------------------------- */

bn_code mode_adopt(mode *m, tg_tensor *variable, rt_buffer *buffer, bn_status *st)
{
    for (size_t i = 0; i < m->temporaries.count; i++)
        if (m->temporaries.items[i] == buffer) {
            m->temporaries.items[i] = m->temporaries.items[--m->temporaries.count];
            mode_assign_at_commit(m, variable, buffer);
            return BN_OK;
        }
    return bn_fail(st, BN_NOT_SUPPORTED,
                   "%s shares its contents with another variable, which a step that was cut "
                   "cannot do",
                   tg_tensor_name(variable));
}

bool mode_wants_adoption(const mode *m, const tg_tensor *variable, const tg_tensor *value)
{
    size_t k = m->targets.count;
    while (k > 0 && m->targets.items[k - 1] != variable)
        k--;
    bool pending = k > 0 && m->buffers.items[k - 1] == tg_tensor_data(value);
    return !tg_input_variable(value) && !pending;
}

bn_code mode_adopt_assigned(mode *m, bn_status *st)
{
    bn_code code = BN_OK;
    size_t count = tg_trace_assigned_count(m->trace);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        tg_tensor *value;
        tg_tensor *variable = tg_trace_assigned(m->trace, i, &value);
        if (mode_wants_adoption(m, variable, value))
            code = mode_adopt(m, variable, tg_tensor_data(value), st);
    }
    return code;
}

void mode_commit(mode *m)
{
    bn_part before = mode_clock(m, BN_PART_BIND);
    for (size_t i = 0; i < m->targets.count; i++) {
        tg_tensor *variable = m->targets.items[i];
        void *old = tg_tensor_data(variable);
        if (old)
            mode_list_push(&m->retired, old);
        tg_tensor_set_data(variable, m->buffers.items[i]);
    }
    m->targets.count = m->buffers.count = 0;
    mode_clock(m, before);
}

static void release_list(mode *m, mode_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        rt_buffer_release(m->client, list->items[i]);
    list->count = 0;
}

void mode_release_retired(mode *m)
{
    bn_part before = mode_clock(m, BN_PART_RELEASE);
    uint64_t already = m->part_ns[BN_PART_RELEASE];
    release_list(m, &m->retired);
    release_list(m, &m->temporaries);
    mode_clock(m, before);
    if (m->part_ns[BN_PART_RELEASE] - already > SLOW_RELEASE_NS)
        m->counters[BN_COUNTER_SLOW_RELEASES]++;
}

bn_code mode_await_events(mode *m, mode_list *events, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < events->count; i++) {
        bn_code c = rt_event_await(m->client, events->items[i], code == BN_OK ? st : NULL);
        if (m->timeline)
            bn_timeline_completed(m->timeline, events->items[i], bn_now_ns());
        if (code == BN_OK)
            code = c;
        rt_event_release(m->client, events->items[i]);
    }
    events->count = 0;
    return code;
}

bn_code mode_complete(mode *m, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_WAIT);
    bn_code code = BN_OK;
    if (m->flight_count == 0) {
        code = mode_await_events(m, &m->events, st);
    } else {
        if (m->flight_used == m->flight_count) {
            code = mode_await_events(m, &m->flights[m->flight_first], st);
            m->flight_first = (m->flight_first + 1) % m->flight_count;
            m->flight_used--;
        }
        /* The step's events and an empty list with room change places. */
        size_t last = (m->flight_first + m->flight_used++) % m->flight_count;
        mode_list swap = m->flights[last];
        m->flights[last] = m->events;
        m->events = swap;
    }
    mode_clock(m, before);
    return code;
}

void mode_abandon(mode *m)
{
    bn_status ignored = {.code = BN_OK};
    if (mode_await_events(m, &m->events, &ignored) != BN_OK)
        m->events.count = 0; /* the step has failed already, with its own reason */
    for (size_t i = 0; i < m->targets.count; i++) {
        rt_buffer *old = tg_tensor_data(m->targets.items[i]);
        if (old && rt_buffer_is_deleted(m->client, old))
            mode_clear(m, m->targets.items[i]); /* donated: its contents are gone */
    }
    release_list(m, &m->buffers);
    m->targets.count = 0;
    release_list(m, &m->temporaries);
    release_list(m, &m->retired);
}
