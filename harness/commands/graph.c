/*
 * graph.c - bench graph: a program as StableHLO text, and what differs between two.
 */
#include "harness/commands/graph_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_OP      200  /* bytes of an op's name in JSON */
#define MOST_FURTHER 10   /* differences behind the first one that people see */
#define MOST_JSON    1000 /* that JSON has */

const char command_graph_help[] =
    "A and B are programs: StableHLO as text or byte code, or HLO, as in files of --graph-report\n"
    "or of a recording. JAX's libraries read byte code and HLO (make frontends FRONTENDS=jax).\n"
    "Names of values, places (loc) and the order of statements that do not depend on each other\n"
    "do not count. bench gives the reason of the first difference: op, results, shape, dtype,\n"
    "type, constant, attribute or operand. With a RECORDING bench compares each program in it\n"
    "with the one of the same name that was compiled before it.\n"
    "\n"
    "bench graph text prints the program in FILE as StableHLO text.\n"
    "\n"
    "Exit codes: 0 the graphs are the same; 1 they differ; 2 usage; 3 a program cannot be read.\n";

/* ---- reading --------------------------------------------------------------------------------- */

/* The program in the file PATH, which messages name, as text into *TEXT (malloc). */
static bn_code read_text(const char *path, char **text, size_t *size, bn_status *st)
{
    int fd = -1;
    *text = NULL;
    bn_code code = bn_regular_open(path, &fd, size, st);
    if (code != BN_OK)
        return code;
    if (*size > SHLO_MOST_BYTES)
        code = bn_fail(st, BN_FORMAT, "%s: %zu bytes: programs may have %zu", path, *size,
                       SHLO_MOST_BYTES);
    else
        code = bn_regular_all(fd, path, *size, text, st);
    close(fd);
    if (code == BN_OK && command_graph_text(text, size, st) != BN_OK)
        code = bn_context(st, "%s", path);
    return code;
}

static bn_code read_graph(const char *path, shlo_graph **graph, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    *graph = NULL;
    bn_code code = read_text(path, &text, &size, st);
    if (code == BN_OK && shlo_graph_read(text, size, graph, st) != BN_OK)
        code = bn_context(st, "%s", path);
    free(text);
    return code;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static json_t *graph_json(const char *path, const shlo_graph *g)
{
    return json_pack("{so sI sI sI}", "file", res_json_text(path), "statements",
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
            json_pack("{so sI sI sI sI sI}", "op", command_piece_json(op->op, MOST_OP), "a",
                      (json_int_t)op->a, "b", (json_int_t)op->b, "added", (json_int_t)op->added,
                      "removed", (json_int_t)op->removed, "changed", (json_int_t)op->changed));
    }
    return list;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void put_graph(const char *name, const char *path, const shlo_graph *g, bn_text *out)
{
    bn_text_printf(out, "%s: %s: %zu statements, %zu arguments, %zu function%s\n", name, path,
                   g->node_count, g->of_kind[SHLO_ARGUMENT], g->of_kind[SHLO_FUNCTION],
                   g->of_kind[SHLO_FUNCTION] == 1 ? "" : "s");
}

static void put_head(const shlo_diff *d, const char *const *paths, res_format format, bn_text *out)
{
    bn_text words = {0};
    put_graph("A", paths[0], d->a, &words);
    put_graph("B", paths[1], d->b, &words);
    bn_text_puts(&words, d->count ? "\nThe graphs differ: " : "\nThe graphs are the same: ");
    command_diff_counts(d, &words);
    bn_text_puts(&words, ".\n");
    command_put_set_in(&words, format, out);
    if (d->count == 0)
        return;
    bn_text_puts(out, "\nThe first difference:\n");
    command_difference_put(d, &d->list[0], "  ", format, out);
    if (d->changed)
        bn_text_puts(&words, "\nChanged, by reason (a statement may have several):");
    for (int i = 0; i < SHLO_REASON_COUNT; i++)
        if (d->because[i])
            bn_text_printf(&words, " %s %zu", shlo_reason_name((shlo_reason)i), d->because[i]);
    bn_text_puts(&words, d->changed ? "\n\n" : "\n");
    command_put_set_in(&words, format, out);
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

static void put_further(const shlo_diff *d, bool verbose, res_format format, bn_text *out)
{
    const size_t most = verbose ? d->count : MOST_FURTHER;
    if (d->count < 2)
        return;
    bn_text_puts(out, "\nFurther differences:\n");
    for (size_t i = 1; i < d->count && i <= most; i++)
        command_difference_put(d, &d->list[i], "  ", format, out);
    if (d->count > most + 1)
        bn_text_printf(out, "  and %zu more (--verbose)\n", d->count - most - 1);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bn_code show(const shlo_diff *d, const char *const *paths, bool verbose, res_format format,
                    bn_status *st)
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
        put_head(d, paths, format, &text);
    put_ops(d, !sentences, format, &text);
    if (sentences)
        put_further(d, verbose, format, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "Two graphs", text.data);
    const bool failed = text.failed || page.failed;
    if (!failed && text.data)
        cli_show_text(page.data ? &page : &text);
    bn_text_free(&text);
    bn_text_free(&page);
    return failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the answer") : BN_OK;
}

static bn_code compare_files(const char *const *paths, const cli_output *output, bool *differ,
                             bn_status *st)
{
    shlo_graph *a = NULL, *b = NULL;
    shlo_diff *diff = NULL;
    res_format format;
    bn_code code = res_format_parse(cli_format(output), &format, st);
    if (code == BN_OK)
        code = read_graph(paths[0], &a, st);
    if (code == BN_OK)
        code = read_graph(paths[1], &b, st);
    if (code == BN_OK)
        code = shlo_diff_make(a, b, &diff, st);
    if (code == BN_OK)
        code = show(diff, paths, output->verbose, format, st);
    *differ = diff && diff->count > 0;
    shlo_diff_free(diff);
    shlo_graph_free(a);
    shlo_graph_free(b);
    return code;
}

/* The text of the program in the file PATH, which must be one. */
static bn_code show_text(const char *path, const cli_output *output, bn_status *st)
{
    shlo_graph *graph = NULL;
    res_format format;
    bn_code code = res_format_parse(output->format, &format, st);
    if (code == BN_OK && !res_format_is_text(format))
        code = bn_fail(st, BN_INVALID, "bench graph text has no --format: a program is text");
    if (code == BN_OK)
        code = read_graph(path, &graph, st);
    if (code == BN_OK)
        cli_show(graph->text);
    shlo_graph_free(graph);
    return code;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* WORDS: "diff", two files; "diff", a recording; "text", a file. */
static bn_code run_words(const char *const *words, const cli_output *output, bool *differ,
                         bn_status *st)
{
    const bool text = strcmp(words[0], "text") == 0;
    if (!text && strcmp(words[0], "diff") != 0)
        return bn_fail_choice(st, "graph command", words[0], "diff or text");
    if (text)
        return words[1] && !words[2] ? show_text(words[1], output, st)
                                     : bn_fail(st, BN_INVALID, "bench graph text takes one file");
    if (words[1] && words[2])
        return compare_files(&words[1], output, differ, st);
    if (words[1] && !is_file(words[1]))
        return command_graph_recording(words[1], output, differ, st);
    return bn_fail(st, BN_INVALID, "bench graph diff takes two files of programs, or a recording");
}

int command_graph(const cli_output *output, const char *const *words)
{
    bn_status st = {.code = BN_OK};
    bool differ = false;
    if (run_words(words, output, &differ, &st) != BN_OK) {
        /* That something differs is not said of what could not be compared. */
        const cli_exit code = cli_complain(&st);
        return code == CLI_EXIT_FAILED ? CLI_EXIT_ENVIRONMENT : (int)code;
    }
    return differ ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}
