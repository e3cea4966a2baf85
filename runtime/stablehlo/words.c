/*
 * words.c - differences of graphs for people.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <string.h>

/* Bytes of what differs that are shown, and of what stands before. */
#define MOST_SHOWN  120
#define MOST_BEFORE 24

void shlo_piece_put(shlo_piece piece, size_t most, bn_text *out)
{
    bn_text own = {0};
    bn_text_append(&own, piece.at, piece.length > most ? most + 1 : piece.length);
    own.data[bn_utf8_fit(own.data, most)] = '\0';
    bn_text_plain(out, own.data);
    if (piece.length > most)
        bn_text_puts(out, "...");
    bn_text_free(&own);
}

void shlo_place_put(const shlo_node *node, bn_text *out)
{
    if (node->place.name.length)
        shlo_piece_put(node->place.name, MOST_SHOWN, out);
}

void shlo_source_put(const shlo_node *node, bn_text *out)
{
    const shlo_piece source = node->place.source;
    if (source.length < 3 || source.at[0] != '"')
        return;
    const char *end = source.at + source.length, *at = shlo_behind_string(source.at, end);
    shlo_piece_put((shlo_piece){source.at + 1, (size_t)(at - source.at) - 2}, MOST_SHOWN, out);
    /* The line; no column. */
    at += strspn(at, " \t\r\n");
    if (at >= end || *at++ != ':')
        return;
    bn_text_putc(out, ':');
    for (at += strspn(at, " \t\r\n"); at < end && *at >= '0' && *at <= '9'; at++)
        bn_text_putc(out, *at);
}

/* ---- two texts ------------------------------------------------------------------------------- */

static bool is_value_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           strchr("_.$#", c) != NULL;
}

/* Appends PIECE without the names of values, which say nothing of a difference. */
static void put_nameless(shlo_piece piece, bn_text *out)
{
    bool quoted = false;
    for (size_t i = 0; i < piece.length; i++) {
        const char c = piece.at[i];
        if (c == '"')
            quoted = !quoted;
        bn_text_putc(out, c);
        if (c != '%' || quoted)
            continue;
        while (i + 1 < piece.length && piece.at[i + 1] && is_value_name(piece.at[i + 1]))
            i++;
    }
}

/* Where two texts begin to differ, or a little before, where a word begins. */
static size_t differ_at(const bn_text *a, const bn_text *b)
{
    size_t at = 0;
    while (at < a->length && at < b->length && a->data[at] == b->data[at])
        at++;
    const size_t least = at > MOST_BEFORE ? at - MOST_BEFORE : 0;
    if (least == 0)
        return 0;
    size_t from = least;
    while (from < at && a->data[from] != ' ' && a->data[from] != '<')
        from++;
    /* Not within a character. */
    for (from = from < at ? from : least; from > 0 && (a->data[from] & 0xC0) == 0x80;)
        from--;
    return from;
}

static void put_from(const bn_text *text, size_t from, bn_text *out)
{
    if (from > 0)
        bn_text_puts(out, "...");
    if (from >= text->length)
        bn_text_puts(out, from > 0 ? "" : "nothing");
    else
        shlo_piece_put((shlo_piece){text->data + from, text->length - from}, MOST_SHOWN, out);
}

/* "X in A, Y in B", from where they differ on. */
static void put_both(shlo_piece a, shlo_piece b, bn_text *out)
{
    bn_text x = {0}, y = {0};
    put_nameless(a, &x);
    put_nameless(b, &y);
    const size_t from = differ_at(&x, &y);
    put_from(&x, from, out);
    bn_text_puts(out, " in A, ");
    put_from(&y, from, out);
    bn_text_puts(out, " in B");
    bn_text_free(&x);
    bn_text_free(&y);
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The statement that gives operand INDEX of NODE. */
static void put_operand(const shlo_graph *g, const shlo_node *node, uint32_t index, bn_text *out)
{
    if (index >= node->operand_count) {
        bn_text_puts(out, "none");
        return;
    }
    const shlo_operand operand = g->operands[node->first_operand + index];
    const shlo_node *from = &g->nodes[operand.node];
    const shlo_piece op = g->ops[from->op];
    if (operand.number & SHLO_BLOCK) {
        bn_text_printf(out, "argument %u of the region", operand.number & ~SHLO_BLOCK);
        return;
    }
    if (from->result_count > 1)
        bn_text_printf(out, "result %u of ", operand.number);
    shlo_piece_put(from->kind == SHLO_ARGUMENT ? from->text : op, MOST_SHOWN, out);
    bn_text_printf(out, " (line %u)", from->line);
}

/* ---- a difference ---------------------------------------------------------------------------- */

/* "added: stablehlo.add : tensor<4xf32>" */
static void put_alone(const char *what, const shlo_graph *g, const shlo_node *node, bn_text *out)
{
    bn_text_printf(out, "%s: ", what);
    if (node->kind == SHLO_ARGUMENT) {
        shlo_piece_put(node->text, MOST_SHOWN, out);
        return;
    }
    shlo_piece_put(g->ops[node->op], MOST_SHOWN, out);
    if (node->types.length) {
        bn_text_puts(out, " : ");
        shlo_piece_put(node->types, MOST_SHOWN, out);
    }
}

/* How many results there are, of a function which. */
static void put_results(const shlo_node *a, const shlo_node *b, bn_text *out)
{
    bn_text_puts(out, ": ");
    if (a->result_count != b->result_count)
        bn_text_printf(out, "%u in A, %u in B", a->result_count, b->result_count);
    else if (a->operand_count != b->operand_count)
        bn_text_printf(out, "%u in A, %u in B", a->operand_count, b->operand_count);
    else
        put_both(a->types, b->types, out);
}

static void put_attributes(const shlo_node *a, const shlo_node *b, bn_text *out)
{
    const bool shown = a->attributes.length && b->attributes.length;
    bn_text_puts(out, ": ");
    if (shown && a->attributes.length == b->attributes.length &&
        memcmp(a->attributes.at, b->attributes.at, a->attributes.length) == 0)
        bn_text_puts(out, "of its regions");
    else
        put_both(shown ? a->attributes : a->text, shown ? b->attributes : b->text, out);
}

static void put_change(const shlo_diff *d, const shlo_difference *one, bn_text *out)
{
    const shlo_node *a = &d->a->nodes[one->a], *b = &d->b->nodes[one->b];
    const shlo_reason reason = shlo_difference_reason(one);
    bn_text_puts(out, shlo_reason_name(reason));
    switch (reason) {
    case SHLO_WHY_OP:
        bn_text_puts(out, ": ");
        put_both(d->a->ops[a->op], d->b->ops[b->op], out);
        break;
    case SHLO_WHY_OPERAND:
        bn_text_printf(out, " %u: ", one->operand);
        put_operand(d->a, a, one->operand, out);
        bn_text_puts(out, " in A, ");
        put_operand(d->b, b, one->operand, out);
        bn_text_puts(out, " in B");
        break;
    case SHLO_WHY_RESULTS:
        put_results(a, b, out);
        break;
    case SHLO_WHY_CONSTANT:
    case SHLO_WHY_ATTRIBUTE:
        put_attributes(a, b, out);
        break;
    default:
        bn_text_puts(out, ": ");
        put_both(a->types, b->types, out);
    }
}

void shlo_difference_put(const shlo_diff *d, const shlo_difference *one, bn_text *out)
{
    if (one->change == SHLO_ADDED)
        put_alone("added", d->b, &d->b->nodes[one->b], out);
    else if (one->change == SHLO_REMOVED)
        put_alone("removed", d->a, &d->a->nodes[one->a], out);
    else
        put_change(d, one, out);
}
