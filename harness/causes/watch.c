/*
 * watch.c - observations of steps as lists: graphs, recompiles, breaks, reads, ops of the host,
 * guards that failed.
 */
#include "harness/causes/causes_priv.h"
#include "results/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists by place ------------------------------------------------------------------------- */

/* WHERE as members of an object (new reference). */
static json_t *where_json(const mode_where *where)
{
    return json_pack("{so so}", "place", cause_place_json(where->place), "scope",
                     cause_word_json(where->scope));
}

/* The item of LIST with WHERE and TEXT as member KEY, made at its first use (borrowed). Each has
 * "count", and "steps", in how many of them it was seen. */
static json_t *item_at(json_t *list, const mode_where *where, const char *key, const char *text)
{
    json_t *fresh = where_json(where), *item = NULL;
    size_t i;
    json_object_set_new(fresh, key, res_json_text(text));
    json_array_foreach(list, i, item)
    {
        bool same = true;
        const char *name;
        json_t *value;
        json_object_foreach(fresh, name, value) same =
            same && json_equal(json_object_get(item, name), value);
        if (same)
            break;
    }
    if (i == json_array_size(list)) {
        json_object_update_new(fresh, json_pack("{si si si}", "count", 0, "steps", 0, "seen", 0));
        json_array_append(list, fresh);
        item = fresh;
    }
    json_decref(fresh);
    return item;
}

static void add(json_t *item, const char *key, int64_t more)
{
    const json_int_t before = json_integer_value(json_object_get(item, key));
    json_object_set_new(item, key, json_integer(before + more));
}

/* Counts ITEM in the step in hand. */
static void count(const cause_state *s, json_t *item)
{
    add(item, "count", 1);
    if (json_integer_value(json_object_get(item, "seen")) == s->step)
        return;
    json_object_set_new(item, "seen", json_integer(s->step));
    add(item, "steps", 1);
}

static void note_break(cause_state *s, const mode_where *where, const char *reason)
{
    count(s, item_at(s->breaks, where, "reason", reason));
}

/* ---- reads, and ops of the host -------------------------------------------------------------- */

static void on_read(void *context, const mode_read_event *event)
{
    cause_state *s = context;
    json_t *item = item_at(s->reads, &event->where, "kind", "read");
    json_t *value = cause_value_json(&event->type, event->value);
    bn_text key = {0};
    if (event->breaks)
        note_break(s, &event->where, "read");
    count(s, item);
    if (!json_object_get(item, "first"))
        json_object_set(item, "first", value);
    json_object_set(item, "last", value);
    json_object_set_new(item, "type", cause_type_json(&event->type));
    json_object_set_new(item, "bytes", json_integer((json_int_t)tg_type_bytes(&event->type)));
    res_why_put_where(item, &key);
    json_t *read = where_json(&event->where);
    json_object_set(read, "value", value);
    json_object_set_new(s->step_reads, key.data ? key.data : "", read);
    bn_text_free(&key);
    json_decref(value);
}

static void on_host(void *context, const mode_host_event *event)
{
    cause_state *s = context;
    char reason[64];
    json_t *item = item_at(s->host_ops, &event->where, "op", event->op);
    snprintf(reason, sizeof reason, "op of the host: %s", event->op);
    if (event->breaks)
        note_break(s, &event->where, reason);
    count(s, item);
    json_object_set_new(item, "in", cause_type_json(&event->in));
    json_object_set_new(item, "out", cause_type_json(&event->out));
    add(item, "read_ns", (int64_t)event->read_ns);
    add(item, "compute_ns", (int64_t)event->compute_ns);
    add(item, "send_ns", (int64_t)event->send_ns);
}

/* ---- guards that fail ------------------------------------------------------------------------ */

static json_t *statics_miss(const cause_state *s, const mode_miss_event *event)
{
    const model *m = s->instance;
    const char *name;
    double from, to;
    json_t *miss = json_pack("{ss}", "guard", "argument");
    if (event->was_bytes == event->bytes &&
        model_static_value(m, event->was, event->offset, &name, &from) &&
        model_static_value(m, event->now, event->offset, &name, &to)) {
        json_object_set_new(miss, "subject", json_string(name));
        json_object_set_new(miss, "from", cause_real_json(from));
        json_object_set_new(miss, "to", cause_real_json(to));
    }
    return miss;
}

static json_t *type_miss(const mode_miss_event *event)
{
    return json_pack("{ss so so so}", "guard", "type", "subject",
                     res_json_text(tg_tensor_name(event->variable)), "from",
                     cause_type_json(&event->type), "to",
                     cause_type_json(tg_tensor_type(event->variable)));
}

static json_t *value_miss(const mode_miss_event *event)
{
    json_t *miss = where_json(&event->read->where);
    json_object_update_new(miss, json_pack("{ss so sI}", "guard", "value", "to",
                                           cause_value_json(&event->read->type, event->read->value),
                                           "branches", (json_int_t)event->branches));
    return miss;
}

static void on_miss(void *context, const mode_miss_event *event)
{
    cause_state *s = context;
    json_t *miss = event->miss == MODE_MISS_STATICS ? statics_miss(s, event)
                   : event->miss == MODE_MISS_TYPE  ? type_miss(event)
                   : event->miss == MODE_MISS_VALUE ? value_miss(event)
                                                    : json_pack("{ss}", "guard", "call");
    json_object_set_new(miss, "step", json_integer(s->step));
    json_array_append_new(s->misses, miss);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void free_graph(cause_graph *g)
{
    json_decref(g->inputs);
    json_decref(g->reads);
    free(g->statics);
    free(g->text);
    *g = (cause_graph){0};
}

static json_t *inputs_json(const tg_graph *graph)
{
    json_t *list = json_array();
    for (size_t i = 0; i < graph->input_count; i++) {
        const tg_tensor *variable = tg_input_variable(graph->inputs[i]);
        const tg_type *type = tg_tensor_type(graph->inputs[i]);
        json_t *dims = json_array();
        for (int32_t k = 0; k < type->rank; k++)
            json_array_append_new(dims, json_integer((json_int_t)type->dims[k]));
        json_array_append_new(list,
                              json_pack("{so so so ss so}", "name",
                                        res_json_text(variable ? tg_tensor_name(variable) : ""),
                                        "type", cause_type_json(type), "dims", dims, "dtype",
                                        bn_dtype_text(type->dtype), "place",
                                        cause_place_json(tg_value_place(graph->inputs[i]))));
    }
    return list;
}

/* SIZE bytes at FROM and a zero byte; NULL where there are none. */
static void *copy_of(const void *from, size_t size)
{
    if (!size)
        return NULL;
    char *copy = bn_alloc(size + 1);
    memcpy(copy, from, size);
    copy[size] = '\0';
    return copy;
}

static cause_graph graph_of(cause_state *s, const mode_graph_event *event)
{
    const mode_call *call = s->call;
    cause_graph g = {.position = s->position, .step = s->step, .length = event->length};
    snprintf(g.label, sizeof g.label, "%s", event->label);
    g.inputs = inputs_json(event->graph);
    g.reads = json_deep_copy(s->step_reads);
    g.statics = copy_of(call->statics, call->static_bytes);
    g.text = copy_of(event->text, event->length);
    return g;
}

/* The graph that did the same part of a step before; NULL: none did. */
static cause_graph *find_last(const cause_state *s, const cause_graph *g)
{
    for (size_t i = 0; i < s->last_count; i++)
        if (s->last[i].position == g->position && strcmp(s->last[i].label, g->label) == 0)
            return &s->last[i];
    return NULL;
}

static void add_graph(cause_state *s, const mode_graph_event *event)
{
    tg_graph_cost cost;
    tg_graph_measure(event->graph, &cost);
    json_t *graph = json_pack(
        "{sI ss sI sI sI sI sf sf sb sI sI}", "number", (json_int_t)json_array_size(s->graphs) + 1,
        "part", event->label, "step", (json_int_t)s->step, "ops", (json_int_t)cost.nodes, "inputs",
        (json_int_t)event->graph->input_count, "outputs", (json_int_t)event->graph->output_count,
        "flops", cost.flops, "compile_ns", (double)event->compile_ns, "from_disk", event->from_disk,
        "runs", (json_int_t)0, "steps", (json_int_t)0);
    json_array_append_new(s->graphs, graph);
}

static void add_recompile(cause_state *s, const cause_graph *was, const cause_graph *now)
{
    json_t *cause = cause_of(s, was, now);
    json_object_set_new(cause, "step", json_integer(s->step));
    json_object_set_new(cause, "part", json_string(now->label));
    json_object_set_new(cause, "graph", json_integer((json_int_t)json_array_size(s->graphs)));
    json_object_set_new(cause, "before", was ? json_integer(was->step) : json_null());
    json_array_append_new(s->recompiles, cause);
}

static void on_graph(void *context, const mode_graph_event *event)
{
    cause_state *s = context;
    cause_graph now = graph_of(s, event);
    cause_graph *was = find_last(s, &now);
    s->position++;
    if (event->anew)
        add_graph(s, event);
    if (event->anew && s->step > 1)
        add_recompile(s, was, &now);
    if (was) {
        free_graph(was);
    } else {
        bn_grow(&s->last, s->last_count + 1, &s->last_capacity, sizeof *s->last);
        was = &s->last[s->last_count++];
    }
    *was = now;
}

/* ---- guards ---------------------------------------------------------------------------------- */

static json_t *guard_json(const cause_state *s, const mode_guard_info *info)
{
    const mode_call *call = s->call;
    const char *name = "";
    double value;
    switch (info->kind) {
    case MODE_GUARD_CALL:
        return json_pack("{ss ss}", "guard", "call", "subject", "function and context of the step");
    case MODE_GUARD_STATICS:
        (void)model_static_value(s->instance, call->statics, 0, &name, &value);
        return json_pack("{ss ss sI}", "guard", "argument", "subject", name, "bytes",
                         (json_int_t)info->bytes);
    case MODE_GUARD_TYPE:
        return json_pack("{ss so so}", "guard", "type", "subject",
                         res_json_text(tg_tensor_name(info->variable)), "type",
                         cause_type_json(&info->type));
    default:
        break;
    }
    json_t *guard = where_json(&info->where);
    json_object_update_new(guard, json_pack("{ss so sI}", "guard", "value", "type",
                                            cause_type_json(&info->type), "branches",
                                            (json_int_t)info->branches));
    return guard;
}

/* The guards of the latest capture (new reference); none in lazy mode. */
static json_t *guards_json(const cause_state *s, size_t *captures)
{
    json_t *list = json_array();
    mode_guard_info info;
    for (size_t i = 0; mode_guard_describe(s->mode, 0, i, &info); i++)
        json_array_append_new(list, guard_json(s, &info));
    *captures = 0;
    while (mode_guard_describe(s->mode, *captures, 0, &info))
        (*captures)++;
    return list;
}

/* ---- all of it ------------------------------------------------------------------------------- */

cause_state *cause_begin(mode *m, const model *instance, const mode_call *call)
{
    cause_state *s = bn_zalloc(1, sizeof *s);
    json_t **const lists[] = {&s->graphs, &s->recompiles, &s->breaks,
                              &s->reads,  &s->host_ops,   &s->misses};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = json_array();
    s->step_reads = json_object();
    s->mode = m;
    s->instance = instance;
    s->call = call;
    mode_watch(
        m, &(mode_watcher){
               .context = s, .graph = on_graph, .read = on_read, .host = on_host, .miss = on_miss});
    return s;
}

void cause_step_begin(cause_state *s)
{
    s->step++;
    s->position = 0;
    json_object_clear(s->step_reads);
}

/* Counts the graphs that the step ran. */
void cause_step_end(cause_state *s)
{
    for (size_t i = 0; i < mode_execution_count(s->mode); i++) {
        json_t *graph = json_array_get(s->graphs, i);
        const int64_t runs = mode_execution_at(s->mode, i)->per_step;
        add(graph, "runs", runs);
        add(graph, "steps", runs > 0);
    }
}

static json_t *counters_json(const mode *m)
{
    json_t *object = json_object();
    for (int i = 0; i < BN_COUNTER_COUNT; i++)
        json_object_set_new(object, bn_counter_name((bn_counter)i),
                            json_integer((json_int_t)mode_counters(m)[i]));
    return object;
}

json_t *cause_lists(const cause_state *s)
{
    size_t captures;
    json_t *guards = guards_json(s, &captures);
    return json_pack("{sI sO so sI sO sO sO sO sO so}", "steps", (json_int_t)s->step, "graphs",
                     s->graphs, "guards", guards, "captures", (json_int_t)captures, "guard_misses",
                     s->misses, "breaks", s->breaks, "recompiles", s->recompiles, "reads", s->reads,
                     "host_ops", s->host_ops, "counters", counters_json(s->mode));
}

void cause_end(cause_state *s)
{
    if (!s)
        return;
    mode_watch(s->mode, NULL);
    json_t *const lists[] = {s->graphs,   s->recompiles, s->breaks,    s->reads,
                             s->host_ops, s->misses,     s->step_reads};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_decref(lists[i]);
    for (size_t i = 0; i < s->last_count; i++)
        free_graph(&s->last[i]);
    free(s->last);
    free(s);
}
