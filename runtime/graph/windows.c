/*
 * windows.c - a step as windows: graphs of some nodes each, in the order of the trace, that can be
 * handed over while the rest of the step is still being traced.
 *
 * Which values later windows take is known of a whole trace only. So windows are planned on a trace
 * that has ended, by places in it and not by its values, and the plan holds for each later trace of
 * the same hash. A window keeps for later ones what costs least: of the values that they can make
 * anew as part of a fusion (element-wise ops, constants, changes of shape) it keeps none whose origins
 * are fewer bytes (a minimum cut, as Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016,
 * drop what is cheap to compute again).
 */
#include "runtime/graph/min_cut.h"
#include "runtime/graph/trace_priv.h"

#include <stdlib.h>
#include <string.h>

/* A border moves by up to a quarter of a window to where fewer bytes cross. */
#define MOVES 4
/* A value that only moves data is made anew where it is so many times as large as its operands. */
#define GROWN 4
/* Windows before the end of the trace may not donate: this share of what a step donates is given up
 * so that they can be run early. */
#define GIVEN_UP 0.01

/* A value, by where it is made. */
typedef struct spot {
    uint32_t node, result;
} spot;

typedef struct window {
    tg_window_info info;
    spot *inputs, *outputs;
    size_t input_count, output_count;
    tg_tensor **target;
    int32_t *donor;
} window;

struct tg_windows {
    bn_arena *arena;
    window *list;
    size_t count;
    size_t node_count;
    /* New contents of variables, as the trace assigned them. */
    tg_tensor **variables;
    spot *values, *entries;
    size_t assigned_count;
};

/* ---- work space ------------------------------------------------------------------------- */

typedef struct planner {
    const tg_trace *t;
    tg_windows *w;
    uint8_t *cheap;       /* [value] it is not counted where it crosses */
    uint32_t *window_of;  /* [node] */
    uint32_t *output_of;  /* [value] window that outputs it, or NOWHERE */
    uint32_t *last_user;  /* [value] last window that takes it as an input, or NOWHERE */
    uint8_t *needed;      /* [node] by the window in hand */
    uint8_t *is_input;    /* [value] of the window in hand */
    uint8_t *seen;        /* [value] in the network of the window in hand */
    tg_tensor **wanted;   /* of earlier windows, by the window in hand */
    size_t wanted_count;
    tg_tensor **stack;
    tg_tensor **outputs;  /* of all windows */
    tg_tensor **target;   /* [output] variable, or NULL */
    uint32_t *made_by;    /* [output] its window */
    size_t output_count;
} planner;

#define NOWHERE UINT32_MAX

/* A value that no window computes: the contents of a variable at entry, or a result of the host. */
static bool is_source(const tg_node *node)
{
    return node->variable || !node->op->lower;
}

static bool is_cheap(const planner *p, const tg_node *node)
{
    int64_t taken = 0;
    bool constant = true;
    if (is_source(node) || node->result_count != 1 || tg_node_region(node))
        return false;
    for (size_t k = 0; k < node->operand_count; k++) {
        constant = constant && p->cheap[node->operands[k]->id];
        taken += tg_type_bytes(&node->operands[k]->type);
    }
    return constant || (node->op->flops == tg_op_no_flops &&
                        taken * GROWN <= tg_type_bytes(&node->results->type));
}

static void *zeros(planner *p, size_t count, size_t size)
{
    return bn_arena_zalloc(p->w->arena, (count + 1) * size);
}

static void planner_begin(planner *p)
{
    const tg_trace *t = p->t;
    const size_t values = t->value_count;
    const size_t outputs = values + t->assigned_count;
    p->cheap = zeros(p, values, 1);
    p->window_of = zeros(p, t->node_count, sizeof *p->window_of);
    p->output_of = zeros(p, values, sizeof *p->output_of);
    p->last_user = zeros(p, values, sizeof *p->last_user);
    p->needed = zeros(p, t->node_count, 1);
    p->is_input = zeros(p, values, 1);
    p->seen = zeros(p, values, 1);
    p->wanted = zeros(p, values, sizeof(tg_tensor *));
    p->stack = zeros(p, values, sizeof(tg_tensor *));
    p->outputs = zeros(p, outputs, sizeof *p->outputs);
    p->target = zeros(p, outputs, sizeof *p->target);
    p->made_by = zeros(p, outputs, sizeof *p->made_by);
    for (size_t n = 0; n < t->node_count; n++)
        if (is_cheap(p, t->nodes[n]))
            p->cheap[t->nodes[n]->results->id] = 1;
}

/* ---- borders ------------------------------------------------------------------------------ */

/* BYTES[n]: of the values that cross a border before node N, as far as anything needs them. */
static int64_t *crossing_bytes(planner *p)
{
    const tg_trace *t = p->t;
    int64_t *bytes = zeros(p, t->node_count + 1, sizeof *bytes);
    uint32_t *last = zeros(p, t->value_count, sizeof *last); /* node that uses it last, or 0 */
    for (size_t n = t->node_count; n-- > 0;) {
        const tg_node *node = t->nodes[n];
        const bool anew = node->result_count == 1 && p->cheap[node->results->id];
        /* What a window makes anew, it makes where it is used. */
        const uint32_t at = anew ? last[node->results->id] : (uint32_t)n;
        for (size_t k = 0; k < node->operand_count; k++) {
            uint32_t *use = &last[node->operands[k]->id];
            *use = at > *use ? at : *use;
        }
        for (size_t r = 0; r < node->result_count; r++) {
            const uint32_t end = last[node->results[r].id];
            if (end <= n || is_source(node) || p->cheap[node->results[r].id])
                continue;
            bytes[n + 1] += tg_type_bytes(&node->results[r].type);
            bytes[end + 1] -= tg_type_bytes(&node->results[r].type);
        }
    }
    for (size_t n = 1; n <= t->node_count; n++)
        bytes[n] += bytes[n - 1];
    return bytes;
}

/* Whether the host sees the trace when it has END nodes: not where a variable enters, as part of
 * the op that takes it. */
static bool can_end(const tg_trace *t, size_t end)
{
    return !is_source(t->nodes[end - 1]);
}

/* The border near FIRST + NODES, below END, that the fewest bytes cross; END: there is none. */
static size_t next_border(const tg_trace *t, const int64_t *bytes, size_t first, size_t nodes,
                          size_t end)
{
    const size_t aim = first + nodes, reach = nodes / MOVES;
    size_t best = end;
    /* A rest of less than half a window is not worth one. */
    if (aim + nodes / 2 >= end)
        return end;
    for (size_t away = 0; away <= reach || (best == end && aim + away < end); away++)
        for (int side = 0; side < 2; side++) {
            const size_t at = side ? aim + away : aim - away;
            if (at <= first || at >= end || !can_end(t, at))
                continue;
            if (best == end || bytes[at] < bytes[best])
                best = at;
        }
    return best;
}

static void add_window(planner *p, size_t first, size_t end, bool stops, size_t *room)
{
    tg_windows *w = p->w;
    bn_grow(&w->list, w->count + 1, room, sizeof *w->list);
    for (size_t n = first; n < end; n++)
        p->window_of[n] = (uint32_t)w->count;
    w->list[w->count++] =
        (window){.info = {.first_node = first, .end_node = end, .stops = stops}};
}

static void place_borders(planner *p, size_t nodes, const tg_stop *stops, size_t stop_count)
{
    const tg_trace *t = p->t;
    const int64_t *bytes = crossing_bytes(p);
    size_t first = 0, room = 0;
    for (size_t s = 0; s <= stop_count; s++) {
        const size_t end = s < stop_count ? stops[s].node : t->node_count;
        while (first < end) {
            const size_t border = nodes ? next_border(t, bytes, first, nodes, end) : end;
            add_window(p, first, border, border == end && s < stop_count, &room);
            first = border;
        }
    }
    /* A stop is never the end: variables get their contents behind it. */
    if (p->w->count == 0 || p->w->list[p->w->count - 1].info.stops)
        add_window(p, first, t->node_count, false, &room);
}

/* ---- what windows take and make -------------------------------------------------------------- */

/* Makes VALUE a result of WINDOW, and the contents of TARGET, unless that is NULL. */
static void add_output(planner *p, tg_tensor *value, uint32_t by, tg_tensor *target)
{
    p->outputs[p->output_count] = value;
    p->target[p->output_count] = target;
    p->made_by[p->output_count++] = by;
    if (p->output_of[value->id] == NOWHERE)
        p->output_of[value->id] = by;
}

static bool is_unchanged(const tg_variable *v)
{
    return v->entry && v->current == v->entry;
}

/* New contents of variables. What is already another variable's comes from the last window, which
 * makes a copy. */
static void add_assigned(planner *p)
{
    const uint32_t last = (uint32_t)p->w->count - 1;
    for (size_t i = 0; i < p->t->assigned_count; i++) {
        tg_variable *v = p->t->assigned[i];
        tg_tensor *value = v->current;
        if (is_unchanged(v) || (!value->node->variable && is_source(value->node)))
            continue;
        const bool shared = value->node->variable || p->output_of[value->id] != NOWHERE;
        add_output(p, value, shared ? last : p->window_of[value->node->index], &v->head);
    }
}

static void add_stops(planner *p, const tg_stop *stops, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        tg_tensor *value = stops[s].value;
        if (!is_source(value->node) && p->output_of[value->id] == NOWHERE)
            add_output(p, value, p->window_of[value->node->index], NULL);
    }
}

static void take(planner *p, const tg_tensor *value, uint32_t by)
{
    p->is_input[value->id] = 1;
    if (p->last_user[value->id] == NOWHERE)
        p->last_user[value->id] = by; /* windows are visited from the last */
}

/* A node of window BY needs VALUE, or the window passes it on. */
static void need(planner *p, tg_tensor *value, uint32_t by)
{
    tg_node *node = value->node;
    if (is_source(node)) {
        take(p, value, by);
    } else if (p->window_of[node->index] == by) {
        p->needed[node->index] = 1;
    } else if (!p->seen[value->id]) {
        p->seen[value->id] = 1;
        p->wanted[p->wanted_count++] = value;
    }
}

/* Whether later windows may make NODE anew: it is part of whatever it is fused with. */
static bool can_be_made_anew(const tg_node *node)
{
    static const char *const families[] = {"element-wise", "constant", "shape", "slice"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(node->op->family, families[i]) == 0)
            return !is_source(node) && node->result_count == 1;
    return false;
}

/* Bytes that the device moves if VALUE is kept for a window: it is written, unless it is there anyway,
 * and read. */
static int64_t cost_of(const planner *p, const tg_tensor *value)
{
    const bool there = is_source(value->node) || p->output_of[value->id] != NOWHERE;
    return tg_type_bytes(&value->type) * (there ? 1 : 2);
}

/* The network of all that the wanted values can be made of. */
static tg_cut_net *build_net(planner *p)
{
    tg_cut_net *net = tg_cut_new(p->t->value_count);
    size_t depth = p->wanted_count;
    memcpy(p->stack, p->wanted, depth * sizeof *p->stack);
    for (size_t i = 0; i < p->wanted_count; i++)
        tg_cut_want(net, p->wanted[i]->id);
    while (depth > 0) {
        const tg_tensor *value = p->stack[--depth];
        const tg_node *node = value->node;
        tg_cut_value(net, value->id, cost_of(p, value));
        if (!can_be_made_anew(node)) {
            tg_cut_made(net, value->id);
            continue;
        }
        for (size_t k = 0; k < node->operand_count; k++) {
            tg_tensor *operand = node->operands[k];
            tg_cut_use(net, operand->id, value->id);
            if (!p->seen[operand->id]) {
                p->seen[operand->id] = 1;
                p->stack[depth++] = operand;
            }
        }
    }
    return net;
}

/* Window BY takes the wanted values, or makes them anew. */
static void settle_wanted(planner *p, uint32_t by)
{
    tg_cut_net *net = build_net(p);
    size_t depth = p->wanted_count;
    tg_cut_run(net);
    memset(p->seen, 0, p->t->value_count);
    memcpy(p->stack, p->wanted, depth * sizeof *p->stack);
    for (size_t i = 0; i < depth; i++)
        p->seen[p->stack[i]->id] = 1;
    while (depth > 0) {
        tg_tensor *value = p->stack[--depth];
        tg_node *node = value->node;
        if (is_source(node)) {
            take(p, value, by);
        } else if (tg_cut_keeps(net, value->id)) {
            if (p->output_of[value->id] == NOWHERE)
                add_output(p, value, p->window_of[node->index], NULL);
            take(p, value, by);
        } else {
            for (size_t k = 0; k < node->operand_count; k++)
                if (!p->seen[node->operands[k]->id]) {
                    p->seen[node->operands[k]->id] = 1;
                    p->stack[depth++] = node->operands[k];
                }
        }
    }
    memset(p->seen, 0, p->t->value_count);
    p->wanted_count = 0;
    tg_cut_free(net);
}

static void sweep(planner *p, uint32_t by)
{
    const tg_trace *t = p->t;
    const tg_window_info *w = &p->w->list[by].info;
    memset(p->needed, 0, t->node_count);
    memset(p->is_input, 0, t->value_count);
    for (size_t i = 0; i < p->output_count; i++)
        if (p->made_by[i] == by)
            need(p, p->outputs[i], by);
    for (size_t n = w->end_node; n-- > w->first_node;)
        for (size_t k = 0; p->needed[n] && k < t->nodes[n]->operand_count; k++)
            need(p, t->nodes[n]->operands[k], by);
    settle_wanted(p, by);
}

static spot spot_of(const tg_tensor *value)
{
    return (spot){value->node->index, value->result};
}

/* Writes down the inputs that the last sweep found for window BY. */
static void keep_inputs(planner *p, uint32_t by)
{
    const tg_trace *t = p->t;
    window *w = &p->w->list[by];
    size_t count = 0;
    for (size_t v = 0; v < t->value_count; v++)
        count += p->is_input[v];
    w->inputs = zeros(p, count, sizeof *w->inputs);
    for (size_t n = 0; n < t->node_count && w->input_count < count; n++)
        for (size_t r = 0; r < t->nodes[n]->result_count; r++)
            if (p->is_input[t->nodes[n]->results[r].id])
                w->inputs[w->input_count++] = spot_of(&t->nodes[n]->results[r]);
}

static void keep_outputs(planner *p, uint32_t by)
{
    window *w = &p->w->list[by];
    size_t count = 0;
    for (size_t i = 0; i < p->output_count; i++)
        count += p->made_by[i] == by;
    w->outputs = zeros(p, count, sizeof *w->outputs);
    w->target = zeros(p, count, sizeof *w->target);
    w->donor = zeros(p, count, sizeof *w->donor);
    for (size_t i = 0; i < p->output_count; i++)
        if (p->made_by[i] == by) {
            w->donor[w->output_count] = -1;
            w->target[w->output_count] = p->target[i];
            w->info.crossing_bytes += p->target[i] ? 0 : tg_type_bytes(&p->outputs[i]->type);
            w->outputs[w->output_count++] = spot_of(p->outputs[i]);
        }
}

/* ---- donation --------------------------------------------------------------------------------- */

static bool same_spot(spot a, spot b)
{
    return a.node == b.node && a.result == b.result;
}

/* Donates V's old contents to its new ones if the window that makes these is the last one to take the
 * old ones. The bytes that it donates. */
static int64_t donate(window *w, const tg_variable *v)
{
    const spot entry = spot_of(v->entry);
    size_t in = 0, out = 0;
    while (in < w->input_count && !same_spot(w->inputs[in], entry))
        in++;
    while (out < w->output_count && w->target[out] != &v->head)
        out++;
    if (in == w->input_count || out == w->output_count)
        return 0;
    w->donor[out] = (int32_t)in;
    return tg_type_bytes(&v->head.type);
}

/*
 * A window that donates is not run before the trace has ended as planned: a trace that goes another
 * way may want the old contents. So windows at the beginning that donate little donate nothing, and
 * windows up to a stop, which cannot wait, neither. Returns how many these early ones are.
 */
static size_t settle_donations(tg_windows *w, const int64_t *donated)
{
    int64_t all = 0, so_far = 0;
    size_t early = 0, stop = 0;
    for (size_t i = 0; i < w->count; i++) {
        all += donated[i];
        stop = w->list[i].info.stops ? i + 1 : stop;
    }
    while (early + 1 < w->count &&
           (early < stop || (double)(so_far + donated[early]) <= GIVEN_UP * (double)all))
        so_far += donated[early++];
    for (size_t i = 0; i < early; i++) {
        w->list[i].info.early = true;
        for (size_t o = 0; o < w->list[i].output_count; o++)
            w->list[i].donor[o] = -1;
    }
    return early;
}

/* How many windows are early. */
static size_t plan_donations(planner *p)
{
    int64_t *donated = zeros(p, p->w->count, sizeof *donated);
    for (size_t i = 0; i < p->t->assigned_count; i++) {
        const tg_variable *v = p->t->assigned[i];
        const uint32_t by = v->entry && !is_unchanged(v) ? p->last_user[v->entry->id] : NOWHERE;
        if (by != NOWHERE)
            donated[by] += donate(&p->w->list[by], v);
    }
    return settle_donations(p->w, donated);
}

/* ---- the plan ----------------------------------------------------------------------------------- */

static const spot no_spot = {NOWHERE, 0};

static void keep_assigned(planner *p)
{
    const tg_trace *t = p->t;
    tg_windows *w = p->w;
    w->node_count = t->node_count;
    w->assigned_count = t->assigned_count;
    w->variables = zeros(p, t->assigned_count, sizeof *w->variables);
    w->values = zeros(p, t->assigned_count, sizeof *w->values);
    w->entries = zeros(p, t->assigned_count, sizeof *w->entries);
    for (size_t i = 0; i < t->assigned_count; i++) {
        const tg_variable *v = t->assigned[i];
        w->variables[i] = &t->assigned[i]->head;
        w->values[i] = spot_of(v->current);
        w->entries[i] = v->entry ? spot_of(v->entry) : no_spot;
    }
}

/* Finds what the windows that are placed take and make; how many of them are early. */
static size_t fill_windows(planner *p, const tg_stop *stops, size_t stop_count)
{
    tg_windows *w = p->w;
    memset(p->output_of, 0xff, p->t->value_count * sizeof *p->output_of);
    memset(p->last_user, 0xff, p->t->value_count * sizeof *p->last_user);
    p->output_count = 0;
    add_assigned(p);
    add_stops(p, stops, stop_count);
    for (uint32_t by = (uint32_t)w->count; by-- > 0;) {
        sweep(p, by);
        keep_inputs(p, by);
    }
    for (uint32_t by = 0; by < w->count; by++)
        keep_outputs(p, by);
    return plan_donations(p);
}

/* Windows that wait for the end of the trace are run one behind the other: they become one. */
static void join_last(planner *p, size_t first)
{
    tg_windows *w = p->w;
    w->list[first] = (window){.info = {.first_node = w->list[first].info.first_node,
                                       .end_node = p->t->node_count}};
    w->count = first + 1;
    for (size_t n = w->list[first].info.first_node; n < p->t->node_count; n++)
        p->window_of[n] = (uint32_t)first;
    for (size_t i = 0; i < first; i++)
        w->list[i] = (window){.info = {.first_node = w->list[i].info.first_node,
                                       .end_node = w->list[i].info.end_node,
                                       .stops = w->list[i].info.stops}};
}

tg_windows *tg_windows_new(const tg_trace *t, size_t nodes, const tg_stop *stops, size_t stop_count)
{
    tg_windows *w = bn_zalloc(1, sizeof *w);
    planner p = {.t = t, .w = w};
    w->arena = bn_arena_new(1u << 16);
    planner_begin(&p);
    place_borders(&p, nodes, stops, stop_count);
    const size_t early = fill_windows(&p, stops, stop_count);
    if (early + 1 < w->count) {
        join_last(&p, early);
        (void)fill_windows(&p, stops, stop_count);
    }
    keep_assigned(&p);
    return w;
}

void tg_windows_free(tg_windows *w)
{
    if (!w)
        return;
    bn_arena_free(w->arena);
    free(w->list);
    free(w);
}

size_t tg_windows_count(const tg_windows *w)
{
    return w->count;
}

const tg_window_info *tg_windows_at(const tg_windows *w, size_t index)
{
    return &w->list[index].info;
}

bool tg_windows_fit(const tg_windows *w, const tg_trace *t)
{
    if (t->node_count != w->node_count || t->assigned_count != w->assigned_count)
        return false;
    for (size_t i = 0; i < w->assigned_count; i++) {
        const tg_variable *v = t->assigned[i];
        if (&v->head != w->variables[i] || !same_spot(spot_of(v->current), w->values[i]) ||
            !same_spot(v->entry ? spot_of(v->entry) : no_spot, w->entries[i]))
            return false;
    }
    return true;
}

/* ---- a window as a graph ------------------------------------------------------------------------ */

/* The value of T at SPOT; NULL where there is none. */
static tg_tensor *value_at(const tg_trace *t, spot s)
{
    if (s.node >= t->node_count || s.result >= t->nodes[s.node]->result_count)
        return NULL;
    return &t->nodes[s.node]->results[s.result];
}

static bool fill_values(const tg_trace *t, const spot *spots, size_t count, tg_tensor **values)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        values[i] = value_at(t, spots[i]);
        all = all && values[i];
    }
    return all;
}

const tg_graph *tg_windows_graph(tg_trace *t, const tg_windows *windows, size_t index)
{
    const window *w = &windows->list[index];
    tg_graph *g = tg_graph_new(t, w->input_count, w->output_count);
    g->group = (unsigned)index;
    g->first_phase = TG_PHASE_COUNT;
    g->input_count = w->input_count;
    g->output_count = w->output_count;
    g->end_node = w->info.end_node;
    memcpy(g->target, w->target, w->output_count * sizeof *g->target);
    memcpy(g->donor, w->donor, w->output_count * sizeof *g->donor);
    if (g->end_node > t->node_count || !fill_values(t, w->inputs, w->input_count, g->inputs) ||
        !fill_values(t, w->outputs, w->output_count, g->outputs))
        return NULL;
    for (size_t n = w->info.first_node; n < w->info.end_node; n++) {
        const tg_phase phase = (tg_phase)t->nodes[n]->phase;
        g->first_phase = phase < g->first_phase ? phase : g->first_phase;
        g->last_phase = phase > g->last_phase ? phase : g->last_phase;
    }
    tg_graph_set_hash(g, true);
    return g;
}

void tg_windows_ran(tg_trace *t, const tg_graph *graph)
{
    for (size_t o = 0; o < graph->output_count; o++)
        graph->outputs[o]->materialized = true;
    t->segment_first = graph->end_node;
    t->breaks++;
}
