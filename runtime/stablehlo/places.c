/*
 * places.c - the line of a source that most of a program's ops come from: a tally of lines, and
 * places in byte code.
 *
 * A place in MLIR is a file and a line, and around it names and calls: of an op of JAX the lines of
 * all Python functions that were called, the innermost first. Lines of installed libraries are
 * passed over, so that an op of a library's layer is of the line that calls the layer.
 *
 * Codes of places in byte code: BuiltinDialectBytecode.td of MLIR.
 */
#define _GNU_SOURCE /* memmem */
#include "runtime/stablehlo/bytecode_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 256 }; /* within each other */
enum { CALL = 10, FILE_LINE = 11, FUSED = 12, FUSED_WITH_DATA = 13, NAMED = 14, FILE_RANGE = 22 };

/* ---- which line --------------------------------------------------------------------------------
 */

static bool holds(shlo_piece text, const char *part)
{
    return memmem(text.at, text.length, part, strlen(part));
}

bool shlo_is_library(shlo_piece file)
{
    return file.length == 0 || file.at[0] == '<' || holds(file, "/site-packages/") ||
           holds(file, "/dist-packages/") || holds(file, "/lib/python");
}

static bool is_file(shlo_piece a, shlo_piece b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

void shlo_count_line(shlo_tally *t, shlo_piece file, uint64_t line, uint32_t ops)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->lines[i].line == line && is_file(t->lines[i].file, file)) {
            t->lines[i].ops += ops;
            return;
        }
    if (t->count < SHLO_MOST_LINES)
        t->lines[t->count++] = (shlo_line){file, line, ops};
}

void shlo_take_most(const shlo_tally *t, shlo_source *source)
{
    const shlo_line *best = NULL;
    uint64_t best_file = 0;
    for (size_t i = 0; i < t->count; i++) {
        uint64_t of_file = 0;
        for (size_t k = 0; k < t->count; k++)
            of_file += is_file(t->lines[i].file, t->lines[k].file) ? t->lines[k].ops : 0;
        const bool same = best && is_file(best->file, t->lines[i].file);
        if (same ? t->lines[i].ops > best->ops : of_file > best_file) {
            best = &t->lines[i];
            best_file = of_file;
        }
    }
    if (!best || best->file.length >= sizeof source->file || best->line > UINT32_MAX)
        return;
    snprintf(source->file, sizeof source->file, "%.*s", (int)best->file.length, best->file.at);
    source->line = (uint32_t)best->line;
}

/* ---- byte code --------------------------------------------------------------------------------
 */

/* The innermost line of place INDEX that is of no library. */
static bool line_of(shlo_code *c, uint64_t index, int depth, shlo_line *found)
{
    if (index >= c->attribute_count || depth > MOST_CALLS || c->steps == 0)
        return false;
    c->steps--;
    const shlo_item *item = &c->attributes[index];
    shlo_bytes b = item->bytes;
    if (item->text || !shlo_is_piece(item->dialect, "builtin"))
        return false;
    const uint64_t code = shlo_varint(&b);
    uint64_t parts = code == CALL ? 2 : code == NAMED ? 1 : 0;
    if (code == FUSED || code == FUSED_WITH_DATA)
        parts = shlo_varint(&b);
    else if (code == NAMED)
        (void)shlo_varint(&b); /* the name */
    for (uint64_t i = 0; i < parts && !b.cut; i++)
        if (line_of(c, shlo_varint(&b), depth + 1, found))
            return true;
    if (code != FILE_LINE && code != FILE_RANGE)
        return false;
    const uint64_t file = shlo_varint(&b);
    const bool has_line = code == FILE_LINE || shlo_varint(&b) > 0;
    found->line = shlo_varint(&b);
    return has_line && !b.cut && shlo_string_of(c, file, "a file", &found->file) == BN_OK &&
           !shlo_is_library(found->file);
}

bn_code shlo_source_of_code(shlo_code *c, shlo_source *source)
{
    shlo_tally *t = bn_zalloc(1, sizeof *t);
    const bn_status before = *c->st;
    for (size_t i = 0; i < c->attribute_count; i++) {
        shlo_line found;
        if (c->places[i] > 0 && line_of(c, i, 0, &found))
            shlo_count_line(t, found.file, found.line, c->places[i]);
    }
    /* A place that cannot be read is none. */
    *c->st = before;
    shlo_take_most(t, source);
    free(t);
    return source->line ? BN_OK : bn_fail(c->st, BN_NOT_FOUND, "it names no line of a source");
}
