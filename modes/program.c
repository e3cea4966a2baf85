/*
 * program.c - from a graph to its executable: cache in memory, cache on disk,
 * lowering and compiling; and the figures of each executable.
 *
 * The memory cache is a table with linear probing, bounded: past its limit the
 * entry unused for longest goes. Removal rebuilds the table, which is fine
 * because it happens only beside a compile.
 */
#define _GNU_SOURCE
#include "modes/mode_priv.h"

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

void mode_graph_label(const mode *m, const tg_graph *graph, char label[64])
{
    if (m->group_of_phase[TG_PHASE_COUNT - 1] == 0) {
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

void mode_module_name(const char *label, char name[80])
{
    snprintf(name, 80, "bench_%s", label);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

/* ---- memory cache -------------------------------------------------------------- */

static size_t home(const mode *m, tg_hash key)
{
    return (size_t)key.low & (m->cache_slots - 1);
}

mode_program *mode_program_find(mode *m, tg_hash key)
{
    for (size_t i = home(m, key); m->cache[i]; i = (i + 1) & (m->cache_slots - 1))
        if (tg_hash_equal(m->cache[i]->key, key)) {
            m->cache[i]->used = ++m->tick;
            return m->cache[i];
        }
    return NULL;
}

static void cache_place(mode *m, mode_program *program)
{
    size_t i = home(m, program->key);
    while (m->cache[i])
        i = (i + 1) & (m->cache_slots - 1);
    m->cache[i] = program;
}

static void cache_evict_oldest(mode *m)
{
    size_t oldest = m->cache_slots;
    for (size_t i = 0; i < m->cache_slots; i++)
        if (m->cache[i] && (oldest == m->cache_slots || m->cache[i]->used < m->cache[oldest]->used))
            oldest = i;
    mode_program_release(m->cache[oldest]);
    m->cache[oldest] = NULL;
    m->cache_count--;
    m->counters[BN_COUNTER_CACHE_EVICTIONS]++;
    /* Close the gap: entries behind it move to where probing finds them. */
    for (size_t i = (oldest + 1) & (m->cache_slots - 1); m->cache[i];
         i = (i + 1) & (m->cache_slots - 1)) {
        mode_program *moved = m->cache[i];
        m->cache[i] = NULL;
        cache_place(m, moved);
    }
}

mode_program *mode_program_retain(mode_program *program)
{
    program->references++;
    return program;
}

void mode_program_release(mode_program *program)
{
    if (!program || --program->references > 0)
        return;
    if (program->row && program->row->program == program)
        program->row->program = NULL;
    rt_executable_destroy(program->executable);
    free(program->text);
    free(program->donor);
    free(program);
}

void mode_programs_end(mode *m)
{
    for (size_t i = 0; m->cache && i < m->cache_slots; i++)
        mode_program_release(m->cache[i]);
}

/* ---- figures ---------------------------------------------------------------------- */

static mode_row_figures *row_new(mode *m, const char *label, bool share, bn_status *st)
{
    for (size_t i = 0; share && i < m->rows.count; i++) {
        mode_row_figures *row = m->rows.items[i];
        if (strcmp(row->view.label, label) == 0)
            return row;
    }
    mode_row_figures *row = calloc(1, sizeof *row);
    if (!row) {
        bn_fail(st, BN_OUT_OF_MEMORY, "no memory for figures");
        return NULL;
    }
    snprintf(row->view.label, sizeof row->view.label, "%s", label);
    mode_module_name(label, row->view.module);
    if (mode_list_push(&m->rows, row, st) != BN_OK) {
        free(row);
        return NULL;
    }
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
        snprintf(row->view.plugin_fingerprint, sizeof row->view.plugin_fingerprint, "%s", text);
    free(text);
}

static void show_digest(mode_row_figures *row)
{
    /* A sum of some programs would pass for that of all. */
    const bool whole = row->digested > 0 && row->digested == row->programs;
    snprintf(row->view.optimized, sizeof row->view.optimized, "%016llx%016llx",
             (unsigned long long)row->digest.sum[0], (unsigned long long)row->digest.sum[1]);
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

static void row_add(mode_row_figures *row, const mode_program *program, const tg_graph *graph,
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
    view->text_bytes += (int64_t)program->text_length;
    view->lower_ns += lower_ns;
    view->compile_ns += compile_ns;
    view->from_disk |= from_disk;
}

/* ---- making one ---------------------------------------------------------------------- */

static bn_code program_new(const tg_graph *graph, const char *label, mode_program **out,
                           bn_status *st)
{
    char name[80];
    bn_text text = {0};
    mode_program *p = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for an executable");
    p->references = 1;
    p->key = graph->hash;
    p->input_count = graph->input_count;
    p->output_count = graph->output_count;
    p->donor = malloc((graph->output_count + 1) * sizeof *p->donor);
    mode_module_name(label, name);
    bn_code code = tg_graph_lower(graph, name, &text, st);
    p->text = text.data;
    p->text_length = text.length;
    if (code == BN_OK && !p->donor)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for an executable");
    if (code != BN_OK) {
        mode_program_release(p);
        return code;
    }
    memcpy(p->donor, graph->donor, graph->output_count * sizeof *p->donor);
    *out = p;
    return BN_OK;
}

/* From disk, or compiled. */
static bn_code program_compile(mode *m, mode_program *p, bool *from_disk, bn_status *st)
{
    mode_clock(m, BN_PART_LOOKUP);
    p->executable = mode_disk_load(m, p->text, p->text_length);
    *from_disk = p->executable != NULL;
    if (*from_disk) {
        m->counters[BN_COUNTER_DISK_HITS]++;
    } else {
        mode_clock(m, BN_PART_COMPILE);
        bn_code code =
            rt_compile(m->client, p->text, p->text_length, &m->options.compile, &p->executable, st);
        if (code != BN_OK)
            return code;
        m->counters[BN_COUNTER_COMPILES]++;
        mode_clock(m, BN_PART_LOOKUP);
        mode_disk_store(m, p->text, p->text_length, p->executable);
    }
    return BN_OK;
}

static bn_code program_build(mode *m, mode_program *p, bool *from_disk, bn_status *st)
{
    bn_code code = program_compile(m, p, from_disk, st);
    if (code != BN_OK)
        return code;
    if (rt_executable_result_count(p->executable) != p->output_count)
        return bn_fail(st, BN_PLUGIN, "the executable has %zu results, the graph %zu",
                       rt_executable_result_count(p->executable), p->output_count);
    return BN_OK;
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

bn_code mode_program_from_text(mode *m, const char *label, const char *text, size_t length,
                               size_t inputs, mode_program **program, bn_status *st)
{
    mode_program *p = calloc(1, sizeof *p);
    bool from_disk = false;
    if (!p || !(p->text = malloc(length + 1))) {
        free(p);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a program");
    }
    memcpy(p->text, text, length);
    p->text[length] = '\0';
    p->text_length = length;
    p->references = 1;
    p->input_count = inputs;
    const uint64_t start = bn_now_ns();
    bn_code code = program_compile(m, p, &from_disk, st);
    mode_row_figures *row = code == BN_OK ? row_new(m, label, false, st) : NULL;
    if (row) {
        p->output_count = rt_executable_result_count(p->executable);
        p->donor = calloc(p->output_count + 1, sizeof *p->donor);
        p->row = row;
        row_begin(row, p);
        row->programs = 1;
        row->view.result_count = p->output_count;
        row->view.argument_count = inputs;
        row->view.text_bytes = (int64_t)length;
        row->view.compile_ns = from_disk ? 0 : bn_now_ns() - start;
        row->view.from_disk = from_disk;
        read_module_name(p->text, p->text_length, row->view.module);
        row->view.flops = row->view.stats.flops > 0 ? row->view.stats.flops : 0;
        row->view.bytes = row->view.stats.bytes_accessed > 0 ? row->view.stats.bytes_accessed : 0;
    }
    if (!row || !p->donor) {
        mode_program_release(p);
        return code != BN_OK ? code : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a program");
    }
    *program = p;
    return BN_OK;
}

bn_code mode_program_get(mode *m, const tg_graph *graph, const char *row_label, bool share,
                         mode_program **program, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_LOOKUP);
    *program = mode_program_find(m, graph->hash);
    if (*program) {
        m->counters[BN_COUNTER_CACHE_HITS]++;
        mode_clock(m, before);
        return BN_OK;
    }
    mode_program *p = NULL;
    bool from_disk = false;
    uint64_t lower_before = m->part_ns[BN_PART_LOWER];
    uint64_t compile_before = m->part_ns[BN_PART_COMPILE];
    mode_clock(m, BN_PART_LOWER);
    bn_code code = program_new(graph, row_label, &p, st);
    if (code == BN_OK)
        code = program_build(m, p, &from_disk, st);
    mode_row_figures *row = code == BN_OK ? row_new(m, row_label, share, st) : NULL;
    if (!row) {
        mode_program_release(p);
        return bn_context(st, "graph %s", row_label);
    }
    p->row = row;
    p->used = ++m->tick;
    row_add(row, p, graph, m->part_ns[BN_PART_LOWER] - lower_before,
            m->part_ns[BN_PART_COMPILE] - compile_before, from_disk);
    if (m->cache_count >= m->options.cache_entries)
        cache_evict_oldest(m);
    cache_place(m, p);
    m->cache_count++;
    *program = p;
    mode_clock(m, before);
    return BN_OK;
}
