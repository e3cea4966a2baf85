/*
 * fused.c - every step is traced anew, and what is traced is handed over in windows while the host
 * traces on.
 *
 * Which values later windows take is learned from the step before: a trace that came twice in a row
 * is planned (runtime/graph/windows.c). At each border the hash of what was traced tells whether the
 * step still goes as planned. If it does not, the rest of it is one graph, as in lazy mode, and the
 * next steps learn. The last window is submitted when the whole trace is known to be the planned one,
 * so it alone donates.
 */
#include "modes/fused_priv.h"

#include <stdlib.h>
#include <string.h>

/* Traces that are kept: of steps whose shapes come in turns. */
#define PLANS 16
#define NO_BORDER SIZE_MAX

typedef struct plan {
    tg_hash hash; /* of the whole trace */
    tg_windows *windows;
    mode_program **programs; /* [window] NULL: not made yet */
    tg_hash *until;          /* [window] of the trace up to its end, once it has a program */
    uint64_t used;           /* tick */
} plan;

typedef struct fused {
    plan plans[PLANS];
    size_t plan_count;
    uint64_t tick;
    plan *expected; /* of the next step, or of the one in hand; NULL: it is lazy */
    tg_hash last;   /* trace of the step before */
    /* of the step in hand */
    bool follows;  /* it goes as EXPECTED so far */
    size_t next;   /* window */
    size_t border; /* nodes traced when it is to be run; NO_BORDER: not while tracing */
    tg_stop *stops;
    size_t stop_count, stop_room;
    /* of the step before */
    int64_t made; /* programs made until it began */
    size_t windows;
    double trace_ns, dispatch_ns;
    bool probed, steady; /* STEADY: its trace was known, and so was what it ran as */
    fused_choice choice;
    bool chooses;
} fused;

/* ---- plans -------------------------------------------------------------------------------- */

static void plan_end(plan *p)
{
    for (size_t i = 0; p->windows && i < tg_windows_count(p->windows); i++)
        mode_program_release(p->programs[i]);
    tg_windows_free(p->windows);
    free(p->programs);
    free(p->until);
    *p = (plan){0};
}

static plan *plan_find(fused *f, tg_hash hash)
{
    for (size_t i = 0; i < f->plan_count; i++)
        if (tg_hash_equal(f->plans[i].hash, hash))
            return &f->plans[i];
    return NULL;
}

/* A free place, that of the plan unused for longest if there is none. */
static plan *plan_place(fused *f)
{
    plan *oldest = f->plans;
    if (f->plan_count < PLANS)
        return &f->plans[f->plan_count++];
    for (size_t i = 1; i < PLANS; i++)
        oldest = f->plans[i].used < oldest->used ? &f->plans[i] : oldest;
    plan_end(oldest);
    return oldest;
}

static plan *plan_make(mode *m, fused *f, tg_hash hash)
{
    plan *p = plan_place(f);
    p->hash = hash;
    p->windows = tg_windows_new(m->trace, f->chooses ? f->choice.nodes : m->options.window, f->stops,
                                f->stop_count);
    p->programs = bn_zalloc(tg_windows_count(p->windows), sizeof(mode_program *));
    p->until = bn_zalloc(tg_windows_count(p->windows), sizeof *p->until);
    return p;
}

/* What the next step is taken to be, after one whose trace had the hash NOW. */
static void expect(mode *m, fused *f, tg_hash now)
{
    const bool twice = tg_hash_equal(f->last, now);
    f->last = now;
    f->expected = plan_find(f, now);
    if (!f->expected && twice)
        f->expected = plan_make(m, f, now);
    if (f->expected)
        f->expected->used = ++f->tick;
}

/* ---- the size of windows ---------------------------------------------------------------------- */

static int64_t programs_made(const mode *m)
{
    return m->counters[BN_COUNTER_COMPILES] + m->counters[BN_COUNTER_DISK_HITS];
}

/* Windows are of another size from now on. */
static void forget_plans(fused *f)
{
    for (size_t i = 0; i < f->plan_count; i++)
        plan_end(&f->plans[i]);
    f->plan_count = 0;
    f->expected = NULL;
}

/* Before a step: takes the one before it into the choice. */
static void note_step(mode *m, fused *f)
{
    const int64_t made = programs_made(m);
    const bool steady = f->steady && made == f->made && !f->probed;
    if (f->chooses && !f->choice.done && steady) {
        const fused_step_times step = {(double)m->wall_ns, f->trace_ns, f->dispatch_ns};
        if (mode_choice_step(&f->choice, &step, tg_trace_node_count(m->trace), f->windows))
            forget_plans(f);
    } else if (f->chooses) {
        mode_choice_again(&f->choice);
    }
    f->made = made;
}

/* Writes down what NOTE_STEP needs of the step that ends here. */
static void keep_times(mode *m, fused *f, int64_t executions, bool steady)
{
    const uint64_t *ns = m->part_ns;
    const double each = executions > 0 ? 1.0 / (double)executions : 0;
    f->trace_ns = (double)(ns[BN_PART_TRACE] + ns[BN_PART_HASH] + ns[BN_PART_LOOKUP]);
    f->dispatch_ns = (double)(ns[BN_PART_BIND] + ns[BN_PART_DISPATCH]) * each;
    f->windows = (size_t)executions;
    f->steady = steady;
    f->probed = m->probe_repeat > 0;
}

static void fused_window(const mode *m, mode_window_choice *choice)
{
    const fused *f = m->own;
    if (!f)
        return;
    *choice = (mode_window_choice){.chosen = f->chooses,
                                   .choosing = f->chooses && !f->choice.done,
                                   .nodes = f->chooses ? f->choice.nodes : m->options.window,
                                   .windows = f->windows,
                                   .whole_ns = f->choice.whole.wall_ns,
                                   .trace_ns = f->choice.whole.trace_ns,
                                   .tries = f->choice.tries};
    memcpy(choice->tried, f->choice.tried, sizeof choice->tried);
}

static size_t fused_window_end(const mode *m, size_t index)
{
    const fused *f = m->own;
    if (!f || !f->expected || index >= tg_windows_count(f->expected->windows))
        return 0;
    return tg_windows_at(f->expected->windows, index)->end_node;
}

static void fused_settle(mode *m)
{
    fused *f = m->own;
    if (f && f->chooses && mode_choice_end(&f->choice))
        forget_plans(f);
}

/* ---- windows ------------------------------------------------------------------------------- */

static void set_border(fused *f)
{
    f->border = NO_BORDER;
    if (!f->follows || f->next >= tg_windows_count(f->expected->windows))
        return;
    const tg_window_info *w = tg_windows_at(f->expected->windows, f->next);
    if (w->early && !w->stops)
        f->border = w->end_node;
}

/* The step goes another way. What was run stays; variables will get other contents. */
static void leave_plan(mode *m, fused *f)
{
    f->follows = false;
    f->border = NO_BORDER;
    for (size_t i = 0; i < m->buffers.count; i++)
        mode_list_push(&m->temporaries, m->buffers.items[i]);
    m->targets.count = m->buffers.count = 0;
}

/* Window INDEX ran as GRAPH. The trace may still go another way, but for the last window. */
static void note_ran(mode *m, const fused *f, size_t index, const tg_graph *graph)
{
    if (tg_windows_at(f->expected->windows, index)->early)
        tg_windows_ran(m->trace, graph);
}

/* Runs the next window, whose nodes are traced. UNTIL: the hash of the trace. */
static bn_code run_window(mode *m, fused *f, tg_hash until, bn_status *st)
{
    plan *p = f->expected;
    const size_t index = f->next;
    bn_code code = BN_OK;
    char label[64];
    if (p->programs[index] && !tg_hash_equal(p->until[index], until)) {
        leave_plan(m, f);
        return BN_OK;
    }
    const tg_graph *graph = tg_windows_graph(m->trace, p->windows, index);
    if (!graph) {
        leave_plan(m, f);
        return BN_OK;
    }
    f->next++;
    if (graph->output_count == 0) {
        note_ran(m, f, index, graph);
        return BN_OK;
    }
    mode_program *program = p->programs[index];
    const int64_t made = programs_made(m);
    mode_window_label(index, label);
    if (program) {
        m->counters[BN_COUNTER_CACHE_HITS]++;
    } else {
        mode_layouts_begin(m, tg_windows_count(p->windows) > 1);
        code = mode_program_get(m, graph, label, false, &program, st);
        if (code != BN_OK)
            return code;
        p->programs[index] = mode_program_retain(program);
        p->until[index] = until;
        mode_layouts_begin(m, false);
    }
    mode_notify_graph(m, graph, label, program, programs_made(m) > made);
    code = mode_run_graph(m, graph, program, st);
    if (code == BN_OK)
        note_ran(m, f, index, graph);
    return code;
}

/* Runs the window that ends where the trace is now. */
static bn_code run_early(mode *m, fused *f, bn_status *st)
{
    const bn_part before = mode_clock(m, BN_PART_HASH);
    const bn_code code = run_window(m, f, tg_trace_hash(m->trace), st);
    set_border(f);
    mode_clock(m, before);
    return code;
}

/* ---- hooks ---------------------------------------------------------------------------------- */

static bn_code fused_node(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    mode *m = context;
    fused *f = m->own;
    (void)node;
    return tg_trace_node_count(trace) == f->border ? run_early(m, f, st) : BN_OK;
}

static bool is_computed(const tg_tensor *value)
{
    return tg_input_variable(value) || tg_tensor_data(value);
}

static void note_stop(fused *f, size_t node, tg_tensor *value)
{
    for (size_t i = 0; i < f->stop_count; i++)
        if (f->stops[i].value == value)
            return;
    if (tg_input_variable(value))
        return;
    bn_grow(&f->stops, f->stop_count + 1, &f->stop_room, sizeof *f->stops);
    f->stops[f->stop_count++] = (tg_stop){node, value};
}

/* Computes VALUE, which the host needs when NODE nodes are traced, unless it has been computed; *RAN:
 * whether something was run for it. */
static bn_code compute(mode *m, size_t node, tg_tensor *value, bool *ran, bn_status *st)
{
    fused *f = m->own;
    bn_code code = BN_OK;
    *ran = !is_computed(value);
    note_stop(f, node, value);
    if (!*ran)
        return BN_OK;
    m->counters[BN_COUNTER_GRAPH_BREAKS]++;
    const tg_window_info *w = f->follows ? tg_windows_at(f->expected->windows, f->next) : NULL;
    if (w && w->stops && w->end_node == node)
        code = run_early(m, f, st);
    if (code != BN_OK || is_computed(value))
        return code;
    if (f->follows)
        leave_plan(m, f);
    return mode_run_trace(m, value, NULL, NULL, st);
}

static bn_code fused_read(void *context, tg_trace *trace, tg_tensor *value, void *host, size_t size,
                          bn_status *st)
{
    mode *m = context;
    rt_buffer *buffer = NULL;
    bool ran;
    bn_code code = compute(m, tg_trace_node_count(trace), value, &ran, st);
    if (code == BN_OK)
        code = mode_buffer_of(value, &buffer, st);
    if (code == BN_OK)
        code = mode_read_buffer(m, buffer, host, size, st);
    if (code == BN_OK)
        mode_notify_traced_read(m, value, host, ran);
    return code;
}

static bn_code fused_host(void *context, tg_trace *trace, tg_node *node, bn_status *st)
{
    bool ran;
    const size_t before = tg_trace_node_count(trace) - 1; /* NODE has been appended */
    bn_code code = compute(context, before, tg_node_operand(node, 0), &ran, st);
    return code == BN_OK ? mode_run_host_node(context, node, ran, st) : code;
}

static void fused_set_hooks(mode *m)
{
    if (!m->own) {
        fused *f = bn_zalloc(1, sizeof *f);
        f->chooses = m->options.window == 0;
        m->own = f;
    }
    tg_trace_set_hooks(m->trace, &(tg_hooks){.context = m,
                                             .node = fused_node,
                                             .read = fused_read,
                                             .host = fused_host});
}

/* ---- a step ------------------------------------------------------------------------------------ */

static bn_code run_rest(mode *m, fused *f, tg_hash hash, bn_status *st)
{
    const size_t count = tg_windows_count(f->expected->windows);
    bn_code code = BN_OK;
    while (code == BN_OK && f->follows && f->next < count)
        code = run_window(m, f, hash, st);
    return code;
}

/* The step's function has returned: runs what it traced and was not run. */
static bn_code end_trace(mode *m, fused *f, int64_t stops, bn_status *st)
{
    mode_clock(m, BN_PART_HASH);
    bn_code code = tg_trace_status(m->trace, st);
    const tg_hash hash = tg_trace_hash(m->trace);
    if (f->follows && (!tg_hash_equal(hash, f->expected->hash) ||
                       !tg_windows_fit(f->expected->windows, m->trace)))
        leave_plan(m, f);
    if (code == BN_OK && f->follows)
        code = run_rest(m, f, hash, st);
    const bool followed = f->follows;
    if (code == BN_OK && !followed)
        code = mode_run_trace(m, NULL, NULL, NULL, st);
    mode_clock(m, BN_PART_BIND);
    if (code == BN_OK && (stops > 0 || (!followed && f->next > 0)))
        code = mode_adopt_assigned(m, st);
    if (code == BN_OK && !followed) {
        mode_clock(m, BN_PART_HASH);
        expect(m, f, hash);
    }
    return code;
}

static int64_t stop_count(const mode *m)
{
    return m->counters[BN_COUNTER_GRAPH_BREAKS] + m->counters[BN_COUNTER_HOST_FALLBACKS];
}

static bn_code fused_step(mode *m, const mode_call *call, bn_status *st)
{
    fused *f = m->own;
    const int64_t before = stop_count(m), executions = m->counters[BN_COUNTER_EXECUTIONS];
    note_step(m, f);
    const plan *known = f->expected;
    mode_clock(m, BN_PART_TRACE);
    tg_trace_begin(m->trace);
    f->follows = f->expected && tg_windows_count(f->expected->windows) > 1;
    f->next = f->stop_count = 0;
    set_border(f);
    call->function(m->trace, call->context);
    m->counters[BN_COUNTER_NODES_TRACED] += (int64_t)tg_trace_traced(m->trace);
    bn_code code = end_trace(m, f, stop_count(m) - before, st);
    mode_clock(m, BN_PART_OTHER);
    keep_times(m, f, m->counters[BN_COUNTER_EXECUTIONS] - executions,
               code == BN_OK && known && known == f->expected);
    return code;
}

static void fused_end(mode *m)
{
    fused *f = m->own;
    if (!f)
        return;
    for (size_t i = 0; i < f->plan_count; i++)
        plan_end(&f->plans[i]);
    free(f->stops);
    free(f);
    m->own = NULL;
}

const mode_kind mode_fused = {
    .name = "fused",
    .summary = "trace every step, dispatch windows of it as they fill",
    .windows = true,
    .set_hooks = fused_set_hooks,
    .step = fused_step,
    .window = fused_window,
    .window_end = fused_window_end,
    .settle = fused_settle,
    .end = fused_end,
};
