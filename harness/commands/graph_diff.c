/*
 * graph_diff.c - programs as StableHLO text; a difference of two as text and as JSON.
 */
#include "harness/commands/graph_priv.h"
#include "harness/frontends/frontends.h"
#include "modes/mode.h"

#include <stdlib.h>

/* Bytes of a statement that are shown. */
#define MOST_STATEMENT 200

bool command_graph_is_text(const char *bytes, size_t size)
{
    return mode_form_find(&bytes, &size) == MODE_FORM_TEXT;
}

bn_code command_graph_text(char **bytes, size_t *size, bn_status *st)
{
    const char *program = *bytes;
    char *text = NULL;
    size_t length = *size;
    if (*size > SHLO_MOST_BYTES)
        return bn_fail(st, BN_FORMAT, "%zu bytes: programs may have %zu", *size, SHLO_MOST_BYTES);
    const mode_form form = mode_form_find(&program, &length);
    if (form == MODE_FORM_TEXT)
        return BN_OK;
    if (frontend_program_text(program, length, SHLO_MOST_BYTES, &text, &length, st) != BN_OK)
        return bn_context(st, "reading %s with JAX's libraries",
                          form == MODE_FORM_HLO ? "HLO" : "byte code");
    free(*bytes);
    *bytes = text;
    *size = length;
    return BN_OK;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

/* TEXT as a string, which is freed (new reference). */
static json_t *text_json(bn_text *text)
{
    json_t *string = res_json_text(text->data ? text->data : "");
    bn_text_free(text);
    return string;
}

json_t *command_piece_json(shlo_piece piece, size_t most)
{
    bn_text text = {0};
    if (piece.length)
        shlo_piece_put(piece, most, &text);
    return text_json(&text);
}

/* Statement INDEX of G, null where there is none (new reference). */
static json_t *node_json(const shlo_graph *g, uint32_t index)
{
    if (index == SHLO_NONE)
        return json_null();
    const shlo_node *node = &g->nodes[index];
    return json_pack("{sI so so}", "line", (json_int_t)node->line, "op",
                     command_piece_json(g->ops[node->op], MOST_STATEMENT), "statement",
                     command_piece_json(node->text, MOST_STATEMENT));
}

/* The statement whose location a difference has: B's, unless B lacks it. */
static const shlo_node *shown_node(const shlo_diff *d, const shlo_difference *one)
{
    return one->b != SHLO_NONE ? &d->b->nodes[one->b] : &d->a->nodes[one->a];
}

static json_t *difference_json(const shlo_diff *d, const shlo_difference *one)
{
    static const char *const changes[] = {"changed", "added", "removed"};
    bn_text words = {0}, place = {0}, source = {0};
    json_t *reasons = json_array();
    for (int i = 0; i < SHLO_REASON_COUNT; i++)
        if (one->reasons >> i & 1)
            json_array_append_new(reasons, json_string(shlo_reason_name((shlo_reason)i)));
    shlo_difference_put(d, one, &words);
    shlo_place_put(shown_node(d, one), &place);
    shlo_source_put(shown_node(d, one), &source);
    return json_pack("{ss so so so so so so}", "change", changes[one->change], "reasons", reasons,
                     "words", text_json(&words), "place", text_json(&place), "source",
                     text_json(&source), "a", node_json(d->a, one->a), "b",
                     node_json(d->b, one->b));
}

json_t *command_diff_json(const shlo_diff *d, size_t most)
{
    json_t *reasons = json_object(), *list = json_array();
    for (int i = 0; i < SHLO_REASON_COUNT; i++)
        json_object_set_new(reasons, shlo_reason_name((shlo_reason)i),
                            json_integer((json_int_t)d->because[i]));
    for (size_t i = 0; i < d->count && i < most; i++)
        json_array_append_new(list, difference_json(d, &d->list[i]));
    return json_pack("{sb sI sI sI sI so so sI}", "same", d->count == 0, "changed",
                     (json_int_t)d->changed, "added", (json_int_t)d->added, "removed",
                     (json_int_t)d->removed, "moved", (json_int_t)d->moved, "reasons", reasons,
                     "differences", list, "left_out",
                     (json_int_t)(d->count > most ? d->count - most : 0));
}

/* ---- for people ------------------------------------------------------------------------------ */

void command_diff_counts(const shlo_diff *d, bn_text *out)
{
    bn_text_printf(out, "%zu changed, %zu added, %zu removed", d->changed, d->added, d->removed);
    if (d->moved)
        bn_text_printf(out, "; %zu the same in another order", d->moved);
}

void command_put_set_in(bn_text *words, res_format format, bn_text *out)
{
    res_put_set_in(out, format, words->data ? words->data : "");
    bn_text_free(words);
}

static void put_statement(const char *indent, const char *name, const shlo_graph *g, uint32_t index,
                          bn_text *out)
{
    if (index == SHLO_NONE)
        return;
    bn_text_printf(out, "%s  %s, line %u: ", indent, name, g->nodes[index].line);
    shlo_piece_put(g->nodes[index].text, MOST_STATEMENT, out);
    bn_text_putc(out, '\n');
}

void command_difference_put(const shlo_diff *d, const shlo_difference *one, const char *indent,
                            res_format format, bn_text *out)
{
    bn_text place = {0}, source = {0}, words = {0};
    const shlo_node *node = shown_node(d, one);
    shlo_place_put(node, &place);
    if (node->place.name.at != node->place.source.at)
        shlo_source_put(node, &source);
    bn_text_puts(&words, indent);
    if (place.length)
        bn_text_puts(&words, place.data);
    if (source.length)
        bn_text_printf(&words, " (%s)", source.data);
    if (place.length)
        bn_text_puts(&words, ": ");
    shlo_difference_put(d, one, &words);
    bn_text_putc(&words, '\n');
    command_put_set_in(&words, format, out);
    put_statement(indent, "A", d->a, one->a, out);
    put_statement(indent, "B", d->b, one->b, out);
    bn_text_free(&place);
    bn_text_free(&source);
}
