/*
 * engine.c - a mode's life, and the frame around every step: clock, failure,
 * completion. It knows no mode by name; what they do differently is in mode_kind.
 */
#include "modes/mode_priv.h"
#include "runtime/graph/scopes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_CACHE_ENTRIES 1024

/* ---- life --------------------------------------------------------------------- */

bn_code mode_choose_cut(unsigned graphs, unsigned group_of_phase[TG_PHASE_COUNT], bn_status *st)
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
            memcpy(group_of_phase, cuts[i].group, sizeof cuts[i].group);
            return BN_OK;
        }
    return bn_fail(st, BN_INVALID, "a step can be cut into 1, 2, 3 or 5 graphs, not %u", graphs);
}

/* An executable on disk is valid for one build of one plugin, its settings and its flags. */
static char *make_salt(const mode *m)
{
    bn_text salt = {0};
    const rt_compile_options *compile = &m->options.compile;
    bn_text_puts(&salt, rt_client_settings(m->client));
    for (size_t i = 0; i < compile->flag_count; i++)
        bn_text_printf(&salt, "flag %s\n", compile->flags[i]);
    bn_text_printf(&salt, "device %d\n", compile->device);
    return salt.data;
}

static bn_code engine_begin(mode *m, bn_status *st)
{
    m->trace = tg_trace_new();
    tg_trace_set_node_cost(m->trace, m->options.trace_cost_ns);
    m->cache_slots = 1;
    while (m->cache_slots < m->options.cache_entries * 2)
        m->cache_slots *= 2;
    m->cache = bn_zalloc(m->cache_slots, sizeof(mode_program *));
    m->flight_count = m->options.in_flight > 1 ? (size_t)m->options.in_flight : 0;
    m->flights = bn_zalloc(m->flight_count + 1, sizeof *m->flights);
    m->cache_salt = make_salt(m);
    tg_trace_set_precision(m->trace, m->options.precision);
    if (!m->options.cache_dir)
        return BN_OK;
    bn_code code = bn_private_folder(m->options.cache_dir, &m->cache_folder, st);
    if (code == BN_OK)
        bn_writers_sweep(m->cache_folder, MODE_DISK_NAMES);
    return code;
}

bn_code mode_create_kind(const mode_kind *kind, rt_client *client, const mode_options *options,
                         mode **out, bn_status *st)
{
    const unsigned graphs = options->graphs ? options->graphs : 1;
    mode *m = bn_zalloc(1, sizeof *m);
    *out = NULL;
    m->kind = kind;
    m->client = client;
    m->options = *options;
    m->cache_folder = -1;
    if (m->options.cache_entries == 0)
        m->options.cache_entries = DEFAULT_CACHE_ENTRIES;
    bn_code code = mode_choose_cut(graphs, m->group_of_phase, st);
    if (code == BN_OK)
        code = engine_begin(m, st);
    if (code != BN_OK) {
        mode_destroy(m);
        return bn_context(st, "%s mode", kind->name);
    }
    if (kind->set_hooks)
        kind->set_hooks(m);
    *out = m;
    return BN_OK;
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
        mode_list_free(&m->flights[i]);
    mode_list *lists[] = {&m->rows,    &m->arguments,   &m->results, &m->targets,
                          &m->buffers, &m->temporaries, &m->retired, &m->events};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mode_list_free(lists[i]);
    tg_trace_free(m->trace);
    free(m->flights);
    free(m->cache);
    free(m->cache_salt);
    free(m->host_counts);
    if (m->cache_folder >= 0)
        close(m->cache_folder);
    free(m);
}

const int64_t *mode_counters(const mode *m)
{
    return m->counters;
}

void mode_count(mode *m, bn_counter counter, int64_t more)
{
    m->counters[counter] += more;
}

void mode_set_timeline(mode *m, bn_timeline *timeline)
{
    m->timeline = timeline;
    tg_trace_set_timeline(m->trace, timeline);
}

/* ---- steps --------------------------------------------------------------------------- */

bn_code mode_drain(mode *m, bn_status *st)
{
    bn_code code = BN_OK;
    while (m->flight_used > 0) {
        mode_list *oldest = &m->flights[m->flight_first];
        m->flight_first = (m->flight_first + 1) % m->flight_count;
        m->flight_used--;
        bn_code c = mode_await_events(m, oldest, code == BN_OK ? st : NULL);
        if (code == BN_OK)
            code = c;
    }
    return code;
}

/* One of a feed's callbacks; FUNCTION may be NULL. */
static bn_code call_feed(mode *m, const mode_feed *feed,
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
    bn_code code = call_feed(m, feed, feed->begin, st);
    if (code == BN_OK)
        code = m->kind->step(m, call, st);
    if (code == BN_OK) {
        mode_commit(m);
        code = call_feed(m, feed, feed->submitted, st);
    }
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
    m->wall_ns = m->part_since - start;
    if (ledger) {
        memcpy(ledger->part_ns, m->part_ns, sizeof ledger->part_ns);
        ledger->wall_ns = m->wall_ns;
    }
    return code;
}

mode_window_choice mode_window(const mode *m)
{
    mode_window_choice choice = {0};
    if (m->kind->window)
        m->kind->window(m, &choice);
    return choice;
}

size_t mode_window_end(const mode *m, size_t index)
{
    return m->kind->window_end ? m->kind->window_end(m, index) : 0;
}

void mode_settle(mode *m)
{
    if (m->kind->settle)
        m->kind->settle(m);
}

bn_code mode_step_probe(mode *m, const mode_call *call, unsigned repeat, mode_probe probe,
                        bn_status *st)
{
    bn_code code = mode_drain(m, st);
    if (code != BN_OK)
        return code;
    for (size_t i = 0; i < m->rows.count; i++) {
        mode_row_figures *row = m->rows.items[i];
        row->view.submit_ns = row->view.pjrt_ns = row->view.first_ns = 0;
    }
    m->probe_repeat = repeat ? repeat : 1;
    m->probe = probe;
    code = mode_step(m, call, NULL, st);
    m->probe_repeat = 0;
    return code;
}

bn_code mode_time_lowering(mode *m, const mode_call *call, size_t repeats, uint64_t *lower_ns,
                           size_t *text_bytes, bn_status *st)
{
    const unsigned whole[TG_PHASE_COUNT] = {0};
    bn_text text = {0};
    bn_code code = BN_OK;
    tg_trace_set_hooks(m->trace, &(tg_hooks){0});
    for (size_t i = 0; i < repeats && code == BN_OK; i++) {
        tg_graph *const *graphs;
        size_t count;
        tg_trace_begin(m->trace);
        call->function(m->trace, call->context);
        code = tg_trace_cut(m->trace, whole, NULL, &graphs, &count, st);
        bn_text_clear(&text);
        uint64_t start = bn_now_ns();
        if (code == BN_OK && count > 0)
            tg_graph_lower(graphs[0], "bench_step", &text);
        lower_ns[i] = bn_now_ns() - start;
    }
    if (text_bytes)
        *text_bytes = text.length;
    bn_text_free(&text);
    if (m->kind->set_hooks)
        m->kind->set_hooks(m);
    return code;
}
