/*
 * engine.c - a mode's life, the contents of variables, and the frame around
 * every step: clock, failure, completion.
 */
#include "modes/mode_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CACHE_ENTRIES 1024

/* ---- lists ------------------------------------------------------------------- */

bn_code mode_list_reserve(mode_list *list, size_t count, bn_status *st)
{
    if (count <= list->capacity)
        return BN_OK;
    size_t capacity = list->capacity ? list->capacity : 64;
    while (capacity < count)
        capacity *= 2;
    void **items = realloc(list->items, capacity * sizeof *items);
    if (!items)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a list of %zu handles", count);
    list->items = items;
    list->capacity = capacity;
    return BN_OK;
}

bn_code mode_list_push(mode_list *list, void *item, bn_status *st)
{
    bn_code code = mode_list_reserve(list, list->count + 1, st);
    if (code == BN_OK)
        list->items[list->count++] = item;
    return code;
}

void mode_list_free(mode_list *list)
{
    free(list->items);
    *list = (mode_list){0};
}

/* ---- element types: graph's and runtime's meet by their text ------------------- */

static rt_dtype runtime_dtype(tg_dtype dtype)
{
    rt_dtype d = 0;
    while (d < RT_DTYPE_COUNT && strcmp(rt_dtype_text(d), tg_dtype_text(dtype)) != 0)
        d++;
    return d;
}

/* ---- life --------------------------------------------------------------------- */

/* Which graph each phase belongs to, for --graphs N. */
static bn_code choose_cut(mode *m, unsigned graphs, bn_status *st)
{
    static const struct {
        unsigned graphs;
        unsigned group[TG_PHASE_COUNT]; /* input, forward, statistics, backward, update */
    } cuts[] = {
        {1, {0, 0, 0, 0, 0}},
        {2, {0, 0, 0, 0, 1}},
        {3, {0, 0, 0, 1, 2}},
        {5, {0, 1, 2, 3, 4}},
    };
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (cuts[i].graphs == graphs) {
            memcpy(m->group_of_phase, cuts[i].group, sizeof m->group_of_phase);
            return BN_OK;
        }
    return bn_fail(st, BN_INVALID, "a step can be cut into 1, 2, 3 or 5 graphs, not %u", graphs);
}

/* An executable on disk is good for one build of one plugin and its flags. */
static char *make_salt(const mode_options *options)
{
    bn_text salt = {0};
    for (size_t i = 0; i < options->compile.flag_count; i++)
        bn_text_printf(&salt, "flag %s\n", options->compile.flags[i]);
    bn_text_printf(&salt, "device %d\n", options->compile.device);
    if (salt.failed) {
        bn_text_free(&salt);
        return NULL;
    }
    return salt.data;
}

static bn_code engine_begin(mode *m, bn_status *st)
{
    m->trace = tg_trace_new();
    if (m->trace)
        tg_trace_set_node_cost(m->trace, m->options.trace_cost_ns);
    m->cache_slots = 1;
    while (m->cache_slots < m->options.cache_entries * 2)
        m->cache_slots *= 2;
    m->cache = calloc(m->cache_slots, sizeof(mode_program *));
    m->flight_count = m->options.in_flight > 1 ? (size_t)m->options.in_flight : 0;
    m->flights = calloc(m->flight_count + 1, sizeof *m->flights);
    m->cache_salt = make_salt(&m->options);
    if (m->options.cache_dir)
        m->cache_dir = strdup(m->options.cache_dir);
    if (!m->trace || !m->cache || !m->flights || !m->cache_salt ||
        (m->options.cache_dir && !m->cache_dir))
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a mode");
    tg_trace_set_precision(m->trace, m->options.precision);
    return m->cache_dir ? bn_make_folder(m->cache_dir, st) : BN_OK;
}

bn_code mode_create_kind(const mode_kind *kind, rt_client *client, const mode_options *options,
                         mode **out, bn_status *st)
{
    const unsigned graphs = options->graphs ? options->graphs : 1;
    mode *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a mode");
    m->kind = kind;
    m->client = client;
    m->options = *options;
    if (m->options.cache_entries == 0)
        m->options.cache_entries = DEFAULT_CACHE_ENTRIES;
    bn_code code = choose_cut(m, graphs, st);
    if (code == BN_OK)
        code = engine_begin(m, st);
    if (code != BN_OK) {
        mode_destroy(m);
        return bn_context(st, "%s mode", kind->name);
    }
    if (kind->begin)
        kind->begin(m);
    *out = m;
    return BN_OK;
}

bn_code mode_create(const char *name, rt_client *client, const mode_options *options, mode **out,
                    bn_status *st)
{
    const mode_kind *kind;
    size_t i = 0;
    while ((kind = mode_kind_at(i)) && strcmp(kind->name, name) != 0)
        i++;
    if (!kind)
        return bn_fail(st, BN_NOT_FOUND, "no mode is called %s (eager, lazy, capture)", name);
    unsigned graphs = options->graphs ? options->graphs : 1;
    if (graphs != 1 && !kind->cuts_graphs)
        return bn_fail(st, BN_INVALID,
                       "%s mode runs a step as it comes; only capture cuts it "
                       "into %u graphs",
                       name, graphs);
    return mode_create_kind(kind, client, options, out, st);
}

void mode_destroy(mode *m)
{
    if (!m)
        return;
    bn_status ignored = {.code = BN_OK};
    if (mode_drain(m, &ignored) != BN_OK)
        mode_abandon(m);
    if (m->kind->end)
        m->kind->end(m);
    mode_programs_end(m);
    for (size_t i = 0; i < m->rows.count; i++)
        free(m->rows.items[i]);
    for (size_t i = 0; i <= m->flight_count && m->flights; i++)
        mode_list_free(&m->flights[i].events);
    mode_list *lists[] = {&m->rows,        &m->arguments, &m->results, &m->targets, &m->buffers,
                          &m->temporaries, &m->retired,   &m->events,  &m->slots};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mode_list_free(lists[i]);
    tg_trace_free(m->trace);
    free(m->flights);
    free(m->cache);
    free(m->cache_salt);
    free(m->cache_dir);
    free(m);
}

const int64_t *mode_counters(const mode *m)
{
    return m->counters;
}

/* ---- contents of variables -------------------------------------------------------- */

bn_code mode_write(mode *m, tg_tensor *variable, const void *host, bn_status *st)
{
    const tg_type *type = tg_tensor_type(variable);
    rt_buffer *buffer = NULL;
    bn_code code = rt_buffer_from_host(m->client, host, runtime_dtype(type->dtype), type->dims,
                                       (size_t)type->rank, &buffer, st);
    if (code != BN_OK)
        return bn_context(st, "writing %s", tg_tensor_name(variable));
    m->counters[BN_COUNTER_TRANSFERS_TO_DEVICE]++;
    mode_clear(m, variable);
    tg_tensor_set_data(variable, buffer);
    return BN_OK;
}

bn_code mode_upload(mode *m, const tg_type *type, const void *host, rt_buffer **buffer,
                    rt_event **host_done, bn_status *st)
{
    m->counters[BN_COUNTER_TRANSFERS_TO_DEVICE]++;
    return rt_buffer_from_host_async(m->client, host, runtime_dtype(type->dtype), type->dims,
                                     (size_t)type->rank, buffer, host_done, st);
}

bn_code mode_place(mode *m, tg_tensor *variable, rt_buffer *buffer, bn_status *st)
{
    void *old = tg_tensor_data(variable);
    bn_code code = old ? mode_list_push(&m->retired, old, st) : BN_OK;
    if (code == BN_OK)
        tg_tensor_set_data(variable, buffer);
    return code;
}

bn_code mode_read(mode *m, const tg_tensor *variable, void *host, size_t size, bn_status *st)
{
    rt_buffer *buffer = tg_tensor_data(variable);
    bn_code code;
    if (!buffer)
        code = bn_fail(st, BN_INVALID, "it has no contents");
    else if ((int64_t)size != tg_type_bytes(tg_tensor_type(variable)))
        code = bn_fail(st, BN_INVALID, "its contents are not %zu bytes", size);
    else
        code = rt_buffer_to_host(m->client, buffer, host, size, st);
    if (code != BN_OK)
        return bn_context(st, "reading %s", tg_tensor_name(variable));
    m->counters[BN_COUNTER_TRANSFERS_TO_HOST]++;
    return BN_OK;
}

void mode_clear(mode *m, tg_tensor *variable)
{
    rt_buffer_release(m->client, tg_tensor_data(variable));
    tg_tensor_set_data(variable, NULL);
}

/* ---- steps --------------------------------------------------------------------------- */

bn_code mode_drain(mode *m, bn_status *st)
{
    bn_code code = BN_OK;
    while (m->flight_used > 0) {
        mode_flight *oldest = &m->flights[m->flight_first];
        m->flight_first = (m->flight_first + 1) % m->flight_count;
        m->flight_used--;
        bn_code c = mode_await_events(m, &oldest->events, code == BN_OK ? st : NULL);
        if (code == BN_OK)
            code = c;
    }
    return code;
}

/* One of a feed's calls, NULL allowed. */
static bn_code feed_step(mode *m, const mode_feed *feed,
                         bn_code (*function)(void *context, mode *m, bn_status *st), bn_status *st)
{
    if (!function)
        return BN_OK;
    bn_part before = mode_clock(m, BN_PART_INPUT);
    bn_code code = function(feed->context, m, st);
    mode_clock(m, before);
    return code;
}

static bn_code run_step(mode *m, const mode_call *call, bn_status *st)
{
    const mode_feed none = {0}, *feed = call->feed ? call->feed : &none;
    m->counters[BN_COUNTER_STEPS]++;
    bn_code code = feed_step(m, feed, feed->begin, st);
    if (code == BN_OK)
        code = m->kind->step(m, call, st);
    if (code == BN_OK)
        code = mode_commit(m, st);
    if (code == BN_OK)
        code = feed_step(m, feed, feed->submitted, st);
    if (code != BN_OK) {
        mode_abandon(m);
        return bn_context(st, "%s step %lld", m->kind->name,
                          (long long)m->counters[BN_COUNTER_STEPS]);
    }
    mode_release_retired(m);
    return mode_complete(m, st);
}

bn_code mode_step(mode *m, const mode_call *call, bn_ledger *ledger, bn_status *st)
{
    uint64_t start = bn_now_ns();
    memset(m->part_ns, 0, sizeof m->part_ns);
    m->part = BN_PART_OTHER;
    m->part_since = start;
    bn_code code = run_step(m, call, st);
    mode_clock(m, BN_PART_OTHER);
    if (ledger) {
        memcpy(ledger->part_ns, m->part_ns, sizeof ledger->part_ns);
        ledger->wall_ns = m->part_since - start;
    }
    return code;
}

bn_code mode_step_probe(mode *m, const mode_call *call, unsigned repeat, bn_status *st)
{
    bn_code code = mode_drain(m, st);
    if (code != BN_OK)
        return code;
    for (size_t i = 0; i < m->rows.count; i++) {
        mode_row_figures *row = m->rows.items[i];
        row->view.submit_ns = row->view.pjrt_ns = 0;
    }
    m->probe_repeat = repeat ? repeat : 1;
    code = mode_step(m, call, NULL, st);
    m->probe_repeat = 0;
    return code;
}

/* ---- figures --------------------------------------------------------------------------- */

size_t mode_execution_count(const mode *m)
{
    return m->rows.count;
}

const mode_execution *mode_execution_at(const mode *m, size_t index)
{
    mode_row_figures *row = m->rows.items[index];
    if (row->step != (uint64_t)m->counters[BN_COUNTER_STEPS])
        row->view.per_step = 0;
    return &row->view;
}

const char *mode_execution_text(const mode *m, size_t index, size_t *length)
{
    const mode_row_figures *row = m->rows.items[index];
    *length = row->program ? row->program->text_length : 0;
    return row->program ? row->program->text : "";
}

bn_code mode_time_lowering(mode *m, const mode_call *call, size_t rounds, uint64_t *lower_ns,
                           size_t *text_bytes, bn_status *st)
{
    const unsigned whole[TG_PHASE_COUNT] = {0};
    bn_text text = {0};
    bn_code code = BN_OK;
    tg_trace_set_hooks(m->trace, &(tg_hooks){0});
    for (size_t i = 0; i < rounds && code == BN_OK; i++) {
        tg_graph *const *graphs;
        size_t count;
        tg_trace_begin(m->trace);
        call->function(m->trace, call->context);
        code = tg_trace_cut(m->trace, whole, NULL, &graphs, &count, st);
        bn_text_clear(&text);
        uint64_t start = bn_now_ns();
        if (code == BN_OK && count > 0)
            code = tg_graph_lower(graphs[0], "bench_step", &text, st);
        lower_ns[i] = bn_now_ns() - start;
    }
    if (text_bytes)
        *text_bytes = text.length;
    bn_text_free(&text);
    if (m->kind->begin)
        m->kind->begin(m);
    return code;
}
