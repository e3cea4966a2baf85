/*
 * source.c - the line of the source that most of a program's ops come from, in text or byte code.
 */
#include "runtime/stablehlo/bytecode_priv.h"

#include <stdlib.h>
#include <string.h>

/* "f.py":5:22 to :30 */
static bool line_of_text(shlo_piece text, shlo_line *found)
{
    const char *end =
        text.length > 1 && *text.at == '"' ? memchr(text.at + 1, '"', text.length - 1) : NULL;
    found->line = 0;
    if (!end)
        return false;
    found->file = (shlo_piece){text.at + 1, (size_t)(end - text.at) - 1};
    const char *at = end + 1, *last = text.at + text.length;
    if (at < last && *at == ':')
        for (at++; at < last && *at >= '0' && *at <= '9' && found->line < UINT32_MAX; at++)
            found->line = 10 * found->line + (uint64_t)(*at - '0');
    return found->line > 0 && !shlo_is_library(found->file);
}

static bn_code find_in_text(const char *text, size_t length, shlo_source *source, bn_status *st)
{
    shlo_graph *graph = NULL;
    bn_code code = shlo_graph_read(text, length, &graph, st);
    if (code != BN_OK)
        return code;
    shlo_tally *t = bn_zalloc(1, sizeof *t);
    for (size_t i = 0; i < graph->node_count; i++) {
        shlo_line found;
        if (graph->nodes[i].kind == SHLO_OP && line_of_text(graph->nodes[i].place.source, &found))
            shlo_count_line(t, found.file, found.line, 1);
    }
    shlo_take_most(t, source);
    free(t);
    shlo_graph_free(graph);
    return source->line ? BN_OK : bn_fail(st, BN_NOT_FOUND, "it names no line of a source");
}

bn_code shlo_source_find(const char *code, size_t length, shlo_source *source, bn_status *st)
{
    *source = (shlo_source){.line = 0};
    return length >= 4 && memcmp(code, "ML\xEFR", 4) == 0
               ? shlo_source_read_bytecode(code, length, source, st)
               : find_in_text(code, length, source, st);
}
