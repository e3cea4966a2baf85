/*
 * dispatch.c - executions: bind, submit, keep results, commit, release, wait.
 *
 * A step's results are kept apart from the variables until the whole step has been
 * submitted; then they take their places (commit) and the handles that they
 * replace are released while the device works. Lists keep their room from
 * step to step, so a steady step allocates nothing.
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
    /* Each result takes a place in one of these lists, the handle that it replaces another. */
    mode_list *lists[] = {&m->targets, &m->buffers, &m->temporaries, &m->retired};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mode_list_reserve(lists[i], lists[i]->count + p->output_count + 1);
}

/* ---- probe ----------------------------------------------------------------------- */

/* Releases the results of a repetition that the next one did not take over. */
static void probe_drop(mode *m, const mode_program *p, rt_buffer **results, bool all)
{
    for (size_t o = 0; o < p->output_count; o++)
        if (all || p->donor[o] < 0)
            rt_buffer_release(m->client, results[o]);
}

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

/* Whether the results of REPEAT executions of P fit into memory together. Their handles are best
 * released at the end, since that takes time, or waits. But the device must hold them all
 * meanwhile. */
static bool have_room(mode *m, const mode_program *p, unsigned repeat)
{
    int64_t bytes;
    return !__builtin_mul_overflow(mode_result_bytes(p), (int64_t)repeat, &bytes) &&
           mode_has_room(m, bytes);
}

/* A program being repeated. */
typedef struct repeated {
    mode_list spent;  /* results that the next repetition replaced, or took over */
    mode_list events; /* of what is not awaited yet */
    bool keeps;       /* SPENT are released at the end; else as soon as they are replaced */
    uint64_t submit_ns, first_ns, begin_ns, end_ns;
} repeated;

/* Takes what the last repetition left: its results are the next one's arguments, or are spent. */
static void probe_pass_on(mode *m, const mode_program *p, repeated *r)
{
    rt_buffer **arguments = (rt_buffer **)m->arguments.items;
    rt_buffer **results = (rt_buffer **)m->results.items;
    for (size_t o = 0; o < p->output_count; o++) {
        if (p->donor[o] < 0 && !r->keeps)
            rt_buffer_release(m->client, results[o]);
        else
            r->spent.items[r->spent.count++] = results[o];
        if (p->donor[o] >= 0)
            arguments[p->donor[o]] = results[o];
    }
}

/* Runs the program PROBE_REPEAT times, behind one that is not timed: the first of a row would find
 * the caches of whatever ran before. *REFUSED: the plugin did not take a repetition, whose
 * arguments are as they were; those before it are submitted. */
static bn_code probe_row(mode *m, mode_program *p, repeated *r, bool *refused, bn_status *st)
{
    const unsigned repeat = m->probe_repeat, first = repeat > 1;
    bn_code code = BN_OK;
    r->begin_ns = bn_now_ns();
    r->submit_ns = r->first_ns = 0;
    for (unsigned done = 0; code == BN_OK && done < repeat + first; done++) {
        const bool last = done + 1 == repeat + first, untimed = done < first;
        rt_event *event = NULL;
        if (done > 0)
            probe_pass_on(m, p, r);
        const uint64_t before = bn_now_ns();
        code = rt_execute(p->executable, (rt_buffer *const *)m->arguments.items, p->input_count,
                          m->keep, m->keep_count, (rt_buffer **)m->results.items, &event, st);
        r->submit_ns += bn_now_ns() - before;
        *refused = code != BN_OK;
        if (code == BN_OK)
            r->events.items[r->events.count++] = event;
        if (code == BN_OK && (m->probe == MODE_PROBE_AWAITED || last || untimed)) {
            code = mode_await_events(m, &r->events, st);
            if (code != BN_OK)
                probe_drop(m, p, (rt_buffer **)m->results.items, true);
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

/* Awaits what a row that failed has submitted; it has its own reason. */
static void probe_settle(mode *m, repeated *r)
{
    bn_status ignored = {.code = BN_OK};
    if (mode_await_events(m, &r->events, &ignored) != BN_OK)
        r->events.count = 0;
}

/* Releases the results that the row kept, but those that are arguments now. Handles of memory
 * that was taken over are among them: they hold none. */
static void probe_make_room(mode *m, const mode_program *p, repeated *r)
{
    size_t left = 0;
    for (size_t i = 0; i < r->spent.count; i++) {
        bool argument = false;
        for (size_t k = 0; k < p->input_count; k++)
            argument = argument || m->arguments.items[k] == r->spent.items[i];
        if (argument)
            r->spent.items[left++] = r->spent.items[i];
        else
            rt_buffer_release(m->client, r->spent.items[i]);
    }
    r->spent.count = left;
}

/* Whether the arguments are all there: a plugin that refuses an execution may have consumed some.
 */
static bool probe_may_repeat(mode *m, const mode_program *p)
{
    for (size_t i = 0; i < p->input_count; i++)
        if (rt_buffer_is_deleted(m->client, m->arguments.items[i]))
            return false;
    return true;
}

/* Probes P. Handles of results that were replaced are released at the end, or where the device
 * has no room for all of them as soon as they are replaced. That it has none may show only when the
 * plugin refuses a repetition for want of memory: then the row begins again without them, as do
 * those of later probes. */
static bn_code probe(mode *m, mode_program *p, bn_status *st)
{
    const unsigned all = m->probe_repeat + (m->probe_repeat > 1);
    repeated r = {.keeps = !p->keeps_none && have_room(m, p, all)};
    bool refused = false;
    /* Two rows may each leave what took over an argument. */
    mode_list_reserve(&r.spent, 2 * all * (p->output_count + 1));
    mode_list_reserve(&r.events, all);
    bn_code code = probe_row(m, p, &r, &refused, st);
    if (code == BN_OUT_OF_MEMORY && refused && r.keeps && probe_may_repeat(m, p)) {
        probe_settle(m, &r);
        probe_make_room(m, p, &r);
        r.keeps = false;
        p->keeps_none = true;
        *st = (bn_status){.code = BN_OK};
        code = probe_row(m, p, &r, &refused, st);
    }
    probe_settle(m, &r);
    for (size_t i = 0; i < r.spent.count; i++)
        rt_buffer_release(m->client, r.spent.items[i]);
    p->row->view.submit_ns += r.submit_ns;
    p->row->view.pjrt_ns += r.end_ns - r.begin_ns;
    p->row->view.first_ns += r.first_ns;
    mode_list_free(&r.spent);
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

/* Notes the call that submitted P and gave EVENT, and asks for its completion. */
static void note_execution(mode *m, const mode_program *p, uint64_t begin_ns, rt_event *event)
{
    bn_completion *done = bn_timeline_call(m->timeline, BN_SPAN_EXECUTE, p->row->view.label, 0,
                                           begin_ns, m->part_since);
    if (!done)
        return;
    done->handle = event;
    /* Where the plugin does not call back, the end of the wait is known. */
    (void)(rt_event_watch(m->client, event, done, NULL) == BN_OK);
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
    return code == BN_OK ? BN_OK
                         : bn_context(st, "%s %s", m->probe_repeat > 0 ? "probing" : "executing",
                                      p->row->view.label);
}

void mode_pend(mode *m, tg_tensor *variable, rt_buffer *buffer)
{
    mode_list_push(&m->targets, variable);
    mode_list_push(&m->buffers, buffer);
}

/* ---- graphs of the current trace ------------------------------------------------------ */

static bn_code bind_inputs(mode *m, const tg_graph *g, bn_status *st)
{
    for (size_t i = 0; i < g->input_count; i++) {
        const tg_tensor *variable = tg_input_variable(g->inputs[i]);
        void *data = tg_tensor_data(variable ? variable : g->inputs[i]);
        if (!data)
            return bn_fail(st, BN_INVALID, "%s has no contents; write it before the first step",
                           variable ? tg_tensor_name(variable) : "a value of an earlier graph");
        m->arguments.items[i] = data;
    }
    return BN_OK;
}

bn_code mode_run_graph(mode *m, const tg_graph *g, mode_program *p, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_BIND);
    mode_dispatch_reserve(m, p);
    bn_code code = bind_inputs(m, g, st);
    if (code == BN_OK)
        code = mode_dispatch(m, p, st);
    for (size_t o = 0; code == BN_OK && o < g->output_count; o++) {
        rt_buffer *buffer = m->results.items[o];
        if (!tg_tensor_data(g->outputs[o]))
            tg_tensor_set_data(g->outputs[o], buffer);
        if (g->target[o])
            mode_pend(m, g->target[o], buffer);
        else
            mode_list_push(&m->temporaries, buffer);
    }
    mode_clock(m, before);
    return code;
}

bn_code mode_run_trace(mode *m, tg_tensor *stop_at, mode_ran *ran, void *context, bn_status *st)
{
    tg_graph *const *graphs = NULL;
    size_t count = 0;
    bn_part before = mode_clock(m, BN_PART_HASH);
    bn_code code = tg_trace_cut(m->trace, m->group_of_phase, stop_at, &graphs, &count, st);
    /* At the end of a step it is known what later graphs take, and what variables do. */
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
        if (code == BN_OK && ran)
            code = ran(context, graphs[i], program, st);
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
            mode_pend(m, variable, buffer);
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
