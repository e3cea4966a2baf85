/*
 * program.c - from a graph to its executable: cache in memory, cache on disk,
 * lowering and compiling.
 *
 * The memory cache is a table with linear probing, bounded: past its limit the
 * entry unused for longest goes. Removal rebuilds the table, which is fine
 * because it happens only together with a compile.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>
#include <string.h>

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
    free(program->argument_types);
    free(program->result_types);
    free(program);
}

void mode_programs_end(mode *m)
{
    for (size_t i = 0; m->cache && i < m->cache_slots; i++)
        mode_program_release(m->cache[i]);
}

/* ---- making one ---------------------------------------------------------------------- */

/* GRAPH's text into P, in the layouts that its values have. */
static bn_code program_lower(mode *m, mode_program *p, const tg_graph *graph, const char *label,
                             bn_status *st)
{
    char name[80];
    bn_text text = {0};
    mode_layouts layouts;
    bn_code code = mode_layouts_choose(m, graph, &layouts, st);
    if (code != BN_OK)
        return code;
    mode_module_name(label, name);
    tg_graph_lower_laid_out(graph, name, &(tg_layouts){layouts.inputs, layouts.outputs}, &text);
    p->text = text.data;
    p->text_length = text.length;
    p->handed_on = layouts.handed_on;
    p->rearranged = layouts.rearranged;
    mode_layouts_free(&layouts);
    return BN_OK;
}

static bn_code program_new(mode *m, const tg_graph *graph, tg_hash key, const char *label,
                           mode_program **out, bn_status *st)
{
    mode_program *p = bn_zalloc(1, sizeof *p);
    p->references = 1;
    p->key = key;
    p->input_count = graph->input_count;
    p->output_count = graph->output_count;
    p->donor = bn_alloc(graph->output_count * sizeof *p->donor);
    bn_code code = program_lower(m, p, graph, label, st);
    if (code != BN_OK) {
        mode_program_release(p);
        return code;
    }
    memcpy(p->donor, graph->donor, graph->output_count * sizeof *p->donor);
    *out = p;
    return BN_OK;
}

/* The key of its file on disk into KEY, where the text alone is not enough; else KEY stays empty.
 */
static void disk_key(const mode_program *p, bn_text *key)
{
    if (!p->format && !p->options_size && !p->flag_count)
        return;
    bn_text_printf(key, "%s %zu %zu\n", p->format ? p->format : "mlir", p->options_size,
                   p->flag_count);
    for (size_t i = 0; i < p->flag_count; i++)
        bn_text_printf(key, "%s\n", p->flags[i]);
    if (p->options_size)
        bn_text_append(key, p->options, p->options_size);
    bn_text_append(key, p->text, p->text_length);
}

/* Compiles P with the mode's flags and its own. */
static bn_code compile(mode *m, mode_program *p, bn_status *st)
{
    rt_compile_options options = m->options.compile;
    const size_t count = options.flag_count + p->flag_count;
    const rt_program program = {.format = p->format ? p->format : "mlir",
                                .code = p->text,
                                .size = p->text_length,
                                .options = p->options,
                                .options_size = p->options_size};
    const char **flags = bn_alloc(count * sizeof *flags);
    for (size_t i = 0; i < count; i++)
        flags[i] = i < options.flag_count ? options.flags[i] : p->flags[i - options.flag_count];
    options.flags = flags;
    options.flag_count = count;
    bn_code code = rt_compile_program(m->client, &program, &options, &p->executable, st);
    free(flags);
    return code;
}

/* P, which is called LABEL, from disk or compiled. */
static bn_code program_compile(mode *m, mode_program *p, const char *label, bool *from_disk,
                               bn_status *st)
{
    bn_text key = {0};
    bn_code code = BN_OK;
    mode_clock(m, BN_PART_LOOKUP);
    disk_key(p, &key);
    const char *text = key.length ? key.data : p->text;
    const size_t length = key.length ? key.length : p->text_length;
    p->executable = mode_disk_load(m, text, length);
    *from_disk = p->executable != NULL;
    if (*from_disk) {
        m->counters[BN_COUNTER_DISK_HITS]++;
    } else {
        mode_clock(m, BN_PART_COMPILE);
        const uint64_t begin_ns = m->part_since;
        code = compile(m, p, st);
        m->counters[BN_COUNTER_COMPILES] += code == BN_OK;
        mode_clock(m, BN_PART_LOOKUP);
        if (m->timeline)
            (void)bn_timeline_call(m->timeline, BN_SPAN_COMPILE, label, p->text_length, begin_ns,
                                   m->part_since);
        if (code == BN_OK)
            mode_disk_store(m, text, length, p->executable);
    }
    bn_text_free(&key);
    return code;
}

static bn_code program_build(mode *m, mode_program *p, const char *label, bool *from_disk,
                             bn_status *st)
{
    bn_code code = program_compile(m, p, label, from_disk, st);
    if (code != BN_OK)
        return code;
    if (rt_executable_result_count(p->executable) != p->output_count)
        return bn_fail(st, BN_PLUGIN, "the executable has %zu results, the graph %zu",
                       rt_executable_result_count(p->executable), p->output_count);
    return BN_OK;
}

/* PART's program, not compiled yet; NULL without memory for its code. */
static mode_program *program_of_part(const mode_part *part)
{
    char *text = malloc(part->program.size + 1);
    if (!text)
        return NULL;
    if (part->program.size)
        memcpy(text, part->program.code, part->program.size);
    text[part->program.size] = '\0';
    mode_program *p = bn_zalloc(1, sizeof *p);
    p->text = text;
    p->text_length = part->program.size;
    p->format = strcmp(part->program.format, "mlir") == 0 ? NULL : part->program.format;
    p->options = part->program.options;
    p->options_size = part->program.options ? part->program.options_size : 0;
    p->flags = part->flags;
    p->flag_count = part->flag_count;
    p->references = 1;
    p->input_count = part->argument_count;
    return p;
}

bn_code mode_program_from_part(mode *m, const mode_part *part, mode_program **program,
                               bn_status *st)
{
    mode_program *p = program_of_part(part);
    bool from_disk = false;
    if (!p)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a program of %zu bytes",
                       part->program.size);
    const uint64_t start = bn_now_ns();
    bn_code code = program_compile(m, p, part->label, &from_disk, st);
    const uint64_t compile_ns = bn_now_ns() - start;
    if (code == BN_OK) {
        p->output_count = rt_executable_result_count(p->executable);
        p->donor = bn_zalloc(p->output_count, sizeof *p->donor);
        p->row = mode_row_new(m, part->label, false);
        code = mode_entry_read(p, st);
    }
    if (code != BN_OK) {
        mode_program_release(p);
        return code;
    }
    mode_row_add_part(p->row, p, compile_ns, from_disk);
    *program = p;
    return BN_OK;
}

bn_code mode_program_get(mode *m, const tg_graph *graph, const char *row_label, bool share,
                         mode_program **program, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_LOOKUP);
    const tg_hash key = mode_layouts_key(m, graph->hash);
    *program = mode_program_find(m, key);
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
    bn_code code = program_new(m, graph, key, row_label, &p, st);
    if (code == BN_OK)
        code = program_build(m, p, row_label, &from_disk, st);
    if (code != BN_OK) {
        mode_program_release(p);
        return bn_context(st, "graph %s", row_label);
    }
    p->row = mode_row_new(m, row_label, share);
    p->used = ++m->tick;
    mode_row_add(p->row, p, graph, m->part_ns[BN_PART_LOWER] - lower_before,
                 m->part_ns[BN_PART_COMPILE] - compile_before, from_disk);
    if (m->cache_count >= m->options.cache_entries)
        cache_evict_oldest(m);
    cache_place(m, p);
    m->cache_count++;
    *program = p;
    mode_clock(m, before);
    return BN_OK;
}
