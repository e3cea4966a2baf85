/*
 * graph.c - bench graph diff: what differs between two graphs in StableHLO text.
 */
#include "harness/commands/graph_priv.h"
#include "results/tables/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a statement that are shown; further differences that people see, and that JSON has. */
#define MOST_STATEMENT 200
#define MOST_FURTHER   10
#define MOST_JSON      1000

/* ---- reading --------------------------------------------------------------------------------- */

bn_code command_graph_read(const char *path, shlo_graph **graph, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    int fd = -1;
    *graph = NULL;
    bn_code code = bn_regular_open(path, &fd, &size, st);
    if (code != BN_OK)
        return code;
    if (size > SHLO_MOST_BYTES)
        code = bn_fail(st, BN_FORMAT, "%s: %zu bytes: texts of graphs may have %zu", path, size,
                       SHLO_MOST_BYTES);
    else
        code = bn_regular_all(fd, path, size, &text, st);
    close(fd);
    if (code == BN_OK && shlo_graph_read(text, size, graph, st) != BN_OK)
        code = bn_context(st, "%s", path);
    free(text);
    return code;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

/* TEXT as a string, which is freed (new reference). */
static json_t *text_json(bn_text *text)
{
    json_t *string = json_string(text->data && !text->failed ? text->data : "");
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

/* The statement that a difference is shown at: B's, unless B lacks it. */
static const shlo_node *shown_node(const shlo_diff *d, const shlo_difference *one)
{
    return one->b != SHLO_NONE ? &d->b->nodes[one->b] : &d->a->nodes[one->a];
}

static json_t *difference_json(const shlo_diff *d, const shlo_difference *one)
{
    static const char *const changes[] = {"changed", "added", "removed"};
    bn_text words = {0}, place = {0};
    json_t *reasons = json_array();
    for (int i = 0; i < SHLO_REASON_COUNT; i++)
        if (one->reasons >> i & 1)
            json_array_append_new(reasons, json_string(shlo_reason_name((shlo_reason)i)));
    shlo_difference_put(d, one, &words);
    shlo_place_put(shown_node(d, one), &place);
    return json_pack("{ss so so so so so}", "change", changes[one->change], "reasons", reasons,
                     "words", text_json(&words), "place", text_json(&place), "a",
                     node_json(d->a, one->a), "b", node_json(d->b, one->b));
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

static json_t *graph_json(const char *path, const shlo_graph *g)
{
    bn_text name = {0};
    bn_text_plain(&name, path);
    return json_pack("{so sI sI sI}", "file", text_json(&name), "statements",
                     (json_int_t)g->node_count, "arguments", (json_int_t)g->of_kind[SHLO_ARGUMENT],
                     "functions", (json_int_t)g->of_kind[SHLO_FUNCTION]);
}

static json_t *ops_json(const shlo_diff *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->op_count; i++) {
        const shlo_op_count *op = &d->ops[i];
        json_array_append_new(
            list,
            json_pack("{so sI sI sI sI sI}", "op", command_piece_json(op->op, MOST_STATEMENT), "a",
                      (json_int_t)op->a, "b", (json_int_t)op->b, "added", (json_int_t)op->added,
                      "removed", (json_int_t)op->removed, "changed", (json_int_t)op->changed));
    }
    return list;
}

/* ---- for people ------------------------------------------------------------------------------ */

void command_diff_counts(const shlo_diff *d, bn_text *out)
{
    bn_text_printf(out, "%zu changed, %zu added, %zu removed", d->changed, d->added, d->removed);
    if (d->moved)
        bn_text_printf(out, "; %zu the same in another order", d->moved);
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
                            bn_text *out)
{
    bn_text place = {0};
    shlo_place_put(shown_node(d, one), &place);
    bn_text_puts(out, indent);
    if (place.length)
        bn_text_printf(out, "%s: ", place.data);
    shlo_difference_put(d, one, out);
    bn_text_putc(out, '\n');
    put_statement(indent, "A", d->a, one->a, out);
    put_statement(indent, "B", d->b, one->b, out);
    bn_text_free(&place);
}

static void put_graph(const char *name, const char *path, const shlo_graph *g, bn_text *out)
{
    bn_text_printf(out, "%s: %s: %zu statements, %zu arguments, %zu function%s\n", name, path,
                   g->node_count, g->of_kind[SHLO_ARGUMENT], g->of_kind[SHLO_FUNCTION],
                   g->of_kind[SHLO_FUNCTION] == 1 ? "" : "s");
}

static void put_head(const shlo_diff *d, const char *const *paths, bn_text *out)
{
    put_graph("A", paths[0], d->a, out);
    put_graph("B", paths[1], d->b, out);
    bn_text_puts(out, d->count ? "\nThe graphs differ: " : "\nThe graphs are the same: ");
    command_diff_counts(d, out);
    bn_text_puts(out, ".\n");
    if (d->count == 0)
        return;
    bn_text_puts(out, "\nThe first difference:\n");
    command_difference_put(d, &d->list[0], "  ", out);
    if (d->changed)
        bn_text_puts(out, "\nChanged, by reason (a statement may have several):");
    for (int i = 0; i < SHLO_REASON_COUNT; i++)
        if (d->because[i])
            bn_text_printf(out, " %s %zu", shlo_reason_name((shlo_reason)i), d->because[i]);
    bn_text_puts(out, d->changed ? "\n\n" : "\n");
}

/* The table of ops: those with differences, or with ALL all. */
static void put_ops(const shlo_diff *d, bool all, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"op", false},   {"A", true},
                                               {"B", true},     {"changed", true},
                                               {"added", true}, {"removed", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < d->op_count; i++) {
        const shlo_op_count *op = &d->ops[i];
        if (!all && op->changed + op->added + op->removed == 0)
            continue;
        json_t *row = json_array();
        json_array_append_new(rows, row);
        json_array_append_new(row, command_piece_json(op->op, 80));
        res_sheet_put(row, "%zu", op->a);
        res_sheet_put(row, "%zu", op->b);
        res_sheet_put(row, "%zu", op->changed);
        res_sheet_put(row, "%zu", op->added);
        res_sheet_put(row, "%zu", op->removed);
    }
    if (json_array_size(rows) > 0)
        res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

static void put_further(const shlo_diff *d, bn_text *out)
{
    if (d->count < 2)
        return;
    bn_text_puts(out, "\nFurther differences:\n");
    for (size_t i = 1; i < d->count && i <= MOST_FURTHER; i++)
        command_difference_put(d, &d->list[i], "  ", out);
    if (d->count > MOST_FURTHER + 1)
        bn_text_printf(out, "  and %zu more\n", d->count - MOST_FURTHER - 1);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bn_code show(const shlo_diff *d, const char *const *paths, res_format format, bn_status *st)
{
    bn_text text = {0}, page = {0};
    if (format == RES_TABLE_JSON) {
        json_t *o = command_diff_json(d, MOST_JSON);
        if (!o || json_object_set_new(o, "bench_graph_diff", json_integer(1)) != 0 ||
            json_object_set_new(o, "a", graph_json(paths[0], d->a)) != 0 ||
            json_object_set_new(o, "b", graph_json(paths[1], d->b)) != 0 ||
            json_object_set_new(o, "ops", ops_json(d)) != 0) {
            json_decref(o);
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the answer");
        }
        cli_json(o);
        json_decref(o);
        return BN_OK;
    }
    const bool sentences = res_format_is_text(format);
    if (sentences)
        put_head(d, paths, &text);
    put_ops(d, !sentences, format, &text);
    if (sentences)
        put_further(d, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "Two graphs", text.data);
    const bool failed = text.failed || page.failed;
    if (!failed && text.data)
        cli_show(page.data ? page.data : text.data);
    bn_text_free(&text);
    bn_text_free(&page);
    return failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the answer") : BN_OK;
}

static bn_code check_words(const char *const *words, bn_status *st)
{
    if (strcmp(words[0], "diff") != 0)
        return bn_fail_choice(st, "graph command", words[0], "diff");
    if (!words[1] || !words[2])
        return bn_fail(st, BN_INVALID, "bench graph diff takes two files of StableHLO text");
    return BN_OK;
}

int command_graph(const cli_output *output, const char *const *words)
{
    bn_status st = {.code = BN_OK};
    shlo_graph *a = NULL, *b = NULL;
    shlo_diff *diff = NULL;
    res_format format;
    bn_code code = check_words(words, &st);
    if (code == BN_OK)
        code = res_format_parse(output->format, &format, &st);
    if (code == BN_OK)
        code = command_graph_read(words[1], &a, &st);
    if (code == BN_OK)
        code = command_graph_read(words[2], &b, &st);
    if (code == BN_OK)
        code = shlo_diff_make(a, b, &diff, &st);
    if (code == BN_OK)
        code = show(diff, &words[1], format, &st);
    const bool differ = diff && diff->count > 0;
    shlo_diff_free(diff);
    shlo_graph_free(a);
    shlo_graph_free(b);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    return differ ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}
