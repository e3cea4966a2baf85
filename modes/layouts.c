/*
 * layouts.c - automatic layouts: values that a graph of a step passes to later ones keep the layout
 * that the compiler chose for them.
 *
 * The compiler chooses when a graph is compiled (`auto` at its results), and the graph runs before
 * the next one is lowered, so its results' layouts are read off the buffers. New contents of
 * variables keep the default layout, which the next step expects. So do outputs of a cut for a
 * read: it is not known yet which of them will be assigned to a variable.
 */
#include "modes/mode_priv.h"

#include <string.h>

void mode_layouts_begin(mode *m, bool several)
{
    m->chooses_layouts = several && m->options.automatic_layouts;
    m->layout_key = (tg_hash){0};
}

/* A graph's text depends on what was compiled before it, so its key is one of all graphs up to it.
 * Both halves are good hashes already; the odd factor makes their order count. */
tg_hash mode_layouts_key(mode *m, tg_hash graph)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    if (!m->chooses_layouts)
        return graph;
    m->layout_key.low = (m->layout_key.low ^ graph.low) * odd + 1;
    m->layout_key.high = (m->layout_key.high ^ graph.high) * odd + 1;
    return m->layout_key;
}

/* Notes the layout of input INDEX, if an earlier graph output it. */
static bn_code note_layout(mode *m, const tg_graph *graph, size_t index, mode_layouts *of,
                           bn_status *st)
{
    rt_buffer *buffer = tg_tensor_data(graph->inputs[index]);
    bool by_rows = true;
    bn_text text = {0};
    if (tg_input_variable(graph->inputs[index]) || !buffer)
        return BN_OK;
    bn_code code = rt_buffer_layout(m->client, buffer, &text, &by_rows, st);
    if (code == BN_OK && text.length)
        of->inputs[index] = bn_arena_strdup(of->arena, text.data);
    bn_text_free(&text);
    of->handed_on++;
    of->rearranged += !by_rows;
    return code;
}

bn_code mode_layouts_choose(mode *m, const tg_graph *graph, mode_layouts *of, bn_status *st)
{
    bn_code code = BN_OK;
    *of = (mode_layouts){0};
    if (!m->chooses_layouts)
        return BN_OK;
    of->arena = bn_arena_new(4096);
    of->inputs = bn_arena_zalloc(of->arena, (graph->input_count + 1) * sizeof *of->inputs);
    of->outputs = bn_arena_zalloc(of->arena, (graph->output_count + 1) * sizeof *of->outputs);
    for (size_t i = 0; code == BN_OK && i < graph->input_count; i++)
        code = note_layout(m, graph, i, of, st);
    for (size_t o = 0; code == BN_OK && o < graph->output_count; o++)
        of->outputs[o] = graph->target[o] ? NULL : "auto";
    if (code != BN_OK)
        mode_layouts_free(of);
    return code == BN_OK ? BN_OK : bn_context(st, "--layouts auto");
}

void mode_layouts_free(mode_layouts *of)
{
    bn_arena_free(of->arena);
    *of = (mode_layouts){0};
}
