/*
 * figures.c - what executables are called, and the figures of each: rows that records and
 * tables show; and notifications of a watcher.
 */
#define _GNU_SOURCE
#include "modes/mode_priv.h"
#include "runtime/graph/scopes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------- */

static const char *const phase_names[TG_PHASE_COUNT] = {
    [TG_PHASE_INPUT] = "input",           [TG_PHASE_FORWARD] = "forward",
    [TG_PHASE_STATISTICS] = "statistics", [TG_PHASE_BACKWARD] = "backward",
    [TG_PHASE_UPDATE] = "update",
};

void mode_graph_label(const unsigned group_of_phase[TG_PHASE_COUNT], const tg_graph *graph,
                      char label[64])
{
    if (group_of_phase[TG_PHASE_COUNT - 1] == 0) {
        snprintf(label, 64, "step");
        return;
    }
    /* Input and statistics ride along with forward unless they are alone. */
    label[0] = '\0';
    for (int p = (int)graph->first_phase; p <= (int)graph->last_phase; p++) {
        bool minor = p == TG_PHASE_INPUT || p == TG_PHASE_STATISTICS;
        if (minor && graph->first_phase != graph->last_phase)
            continue;
        size_t used = strlen(label);
        snprintf(label + used, 64 - used, "%s%s", used ? "+" : "", phase_names[p]);
    }
}

void mode_window_label(size_t index, char label[64])
{
    snprintf(label, 64, "window %zu", index + 1);
}

void mode_module_name(const char *label, char name[80])
{
    snprintf(name, 80, "bench_%s", label);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

/* ---- figures ---------------------------------------------------------------------- */

mode_row_figures *mode_row_new(mode *m, const char *label, bool share)
{
    for (size_t i = 0; share && i < m->rows.count; i++) {
        mode_row_figures *row = m->rows.items[i];
        if (strcmp(row->view.label, label) == 0)
            return row;
    }
    mode_row_figures *row = bn_zalloc(1, sizeof *row);
    snprintf(row->view.label, sizeof row->view.label, "%s", label);
    mode_module_name(label, row->view.module);
    mode_list_push(&m->rows, row);
    return row;
}

/* The program whose text and compiler's figures are the row's. */
static void row_begin(mode_row_figures *row, const mode_program *program)
{
    char digest[BN_SHA256_TEXT];
    bn_sha256(program->text, program->text_length, digest);
    memcpy(row->view.fingerprint, digest, 32);
    row->program = program;
    rt_executable_describe(program->executable, &row->view.stats);
}

/* Adds the digest of PROGRAM's optimized form to its row. */
static void digest_program(mode_row_figures *row, const mode_program *program)
{
    rt_program_digest own, *sum = &row->digest;
    if (rt_executable_digest(program->executable, &own, NULL) != BN_OK)
        return;
    row->digested++;
    sum->sum[0] += own.sum[0];
    sum->sum[1] += own.sum[1];
    sum->bytes += own.bytes;
    sum->instructions =
        own.instructions < 0 || sum->instructions < 0 ? -1 : sum->instructions + own.instructions;
}

static void digest_own(mode_row_figures *row)
{
    char *text = NULL;
    row->digested = 0;
    row->digest = (rt_program_digest){0};
    if (!row->program)
        return;
    digest_program(row, row->program);
    if (rt_executable_fingerprint(row->program->executable, &text, NULL) == BN_OK)
        bn_plain(text, row->view.plugin_fingerprint, sizeof row->view.plugin_fingerprint);
    free(text);
}

static void show_digest(mode_row_figures *row)
{
    /* A sum of some programs would pass for that of all. */
    const bool whole = row->digested > 0 && row->digested == row->programs;
    rt_program_digest_put(&row->digest, row->view.optimized);
    if (!whole)
        row->view.optimized[0] = '\0';
    row->view.optimized_bytes = whole ? row->digest.bytes : -1;
    row->view.optimized_instructions = whole ? row->digest.instructions : -1;
}

void mode_digest_programs(mode *m)
{
    for (size_t i = 0; i < m->rows.count; i++)
        digest_own(m->rows.items[i]);
    for (size_t i = 0; m->cache && i < m->cache_slots; i++) {
        mode_row_figures *row = m->cache[i] ? m->cache[i]->row : NULL;
        if (row && row->program != m->cache[i])
            digest_program(row, m->cache[i]);
    }
    for (size_t i = 0; i < m->rows.count; i++)
        show_digest(m->rows.items[i]);
}

/* A row of several programs computes values only if all of them do. */
static void note_values(mode_row_figures *row, const mode_program *program)
{
    rt_executable_stats stats;
    rt_executable_describe(program->executable, &stats);
    if (stats.simulated_values == 0)
        row->view.stats.simulated_values = 0;
}

void mode_row_add(mode_row_figures *row, const mode_program *program, const tg_graph *graph,
                  uint64_t lower_ns, uint64_t compile_ns, bool from_disk)
{
    mode_execution *view = &row->view;
    row->programs++;
    if (!row->program)
        row_begin(row, program);
    else
        note_values(row, program);
    tg_graph_cost cost;
    tg_graph_measure(graph, &cost);
    view->argument_count = program->input_count;
    view->result_count = program->output_count;
    view->nodes += cost.nodes;
    view->flops += cost.flops;
    view->bytes += cost.bytes;
    view->offloaded += cost.offloaded;
    view->handed_on += program->handed_on;
    view->rearranged += program->rearranged;
    view->text_bytes += (int64_t)program->text_length;
    view->lower_ns += lower_ns;
    view->compile_ns += compile_ns;
    view->from_disk |= from_disk;
}

/* The name behind the first "module @" of a text that others wrote, which profilers
 * show; NAME stays as it is without one. */
static void read_module_name(const char *text, size_t length, char name[80])
{
    static const char mark[] = "module @";
    const char *at = memmem(text, length, mark, sizeof mark - 1);
    if (!at)
        return;
    at += sizeof mark - 1;
    size_t room = (size_t)(text + length - at), used = 0;
    while (used < room && used < 79 && (isalnum((unsigned char)at[used]) || at[used] == '_'))
        used++;
    memcpy(name, at, used);
    name[used] = '\0';
}

void mode_row_add_part(mode_row_figures *row, const mode_program *program, uint64_t compile_ns,
                       bool from_disk)
{
    mode_execution *view = &row->view;
    row_begin(row, program);
    row->programs = 1;
    view->argument_count = program->input_count;
    view->result_count = program->output_count;
    view->text_bytes = (int64_t)program->text_length;
    view->compile_ns = from_disk ? 0 : compile_ns;
    view->from_disk = from_disk;
    const char *code = program->text;
    size_t size = program->text_length;
    if (!program->format && mode_form_find(&code, &size) == MODE_FORM_TEXT)
        read_module_name(program->text, program->text_length, view->module);
    else
        snprintf(view->module, sizeof view->module, "%s", view->label);
    view->flops = view->stats.flops > 0 ? view->stats.flops : 0;
    view->bytes = view->stats.bytes_accessed > 0 ? view->stats.bytes_accessed : 0;
}

/* ---- seen from outside ----------------------------------------------------------------- */

size_t mode_execution_count(const mode *m)
{
    return m->rows.count;
}

const mode_execution *mode_execution_at(const mode *m, size_t index)
{
    mode_row_figures *row = m->rows.items[index];
    if (row->view.last_step != m->counters[BN_COUNTER_STEPS])
        row->view.per_step = 0;
    return &row->view;
}

const char *mode_execution_text(const mode *m, size_t index, size_t *length)
{
    const mode_row_figures *row = m->rows.items[index];
    *length = row->program ? row->program->text_length : 0;
    return row->program ? row->program->text : "";
}

bn_code mode_execution_optimized(const mode *m, size_t index, char format[32], void **bytes,
                                 size_t *size, bn_status *st)
{
    const mode_row_figures *row = m->rows.items[index];
    if (!row->program)
        return bn_fail(st, BN_NOT_FOUND, "the program is no longer in memory");
    return rt_executable_optimized(row->program->executable, format, bytes, size, st);
}

/* ---- notifying a watcher --------------------------------------------------------------- */

void mode_watch(mode *m, const mode_watcher *watcher)
{
    m->watcher = watcher ? *watcher : (mode_watcher){0};
    tg_trace_keep_places(m->trace, watcher != NULL);
}

bool mode_guard_describe(const mode *m, size_t capture, size_t index, mode_guard_info *info)
{
    return m->kind->guard && m->kind->guard(m, capture, index, info);
}

void mode_notify_graph(const mode *m, const tg_graph *graph, const char *label,
                       const mode_program *program, bool anew)
{
    if (!m->watcher.graph)
        return;
    const mode_execution *view = &program->row->view;
    m->watcher.graph(m->watcher.context, &(mode_graph_event){.graph = graph,
                                                             .label = label,
                                                             .text = program->text,
                                                             .length = program->text_length,
                                                             .anew = anew,
                                                             .from_disk = anew && view->from_disk,
                                                             .compile_ns = view->compile_ns});
}

void mode_notify_read(const mode *m, const mode_where *where, const tg_type *type,
                      const void *value, bool breaks)
{
    if (m->watcher.read)
        m->watcher.read(
            m->watcher.context,
            &(mode_read_event){.where = *where, .type = *type, .value = value, .breaks = breaks});
}

void mode_notify_traced_read(const mode *m, const tg_tensor *value, const void *host, bool breaks)
{
    bn_text scope = {0};
    if (!m->watcher.read)
        return;
    const mode_where where = mode_traced_where(m, &scope);
    mode_notify_read(m, &where, tg_tensor_type(value), host, breaks);
    bn_text_free(&scope);
}

void mode_notify_host(const mode *m, const mode_host_event *event)
{
    if (m->watcher.host)
        m->watcher.host(m->watcher.context, event);
}

void mode_notify_miss(const mode *m, const mode_miss_event *event)
{
    if (m->watcher.miss)
        m->watcher.miss(m->watcher.context, event);
}

mode_where mode_traced_where(const mode *m, bn_text *scope)
{
    tg_trace_scope(m->trace, scope);
    return (mode_where){tg_trace_next_place(m->trace), scope->data ? scope->data : ""};
}
