/*
 * diff.c - bench diff: differences between two programs, two recordings or two metrics reports;
 * bench graph: a program as text.
 */
#include "harness/commands/graph_priv.h"
#include "harness/commands/metrics_priv.h"
#include "results/recordings/recordings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_OP      200  /* bytes of an op's name in JSON */
#define MOST_FURTHER 10   /* differences behind the first one that people see */
#define MOST_JSON    1000 /* that JSON has */

static const char diff_help[] =
    "A and B are of one kind:\n"
    "  programs: StableHLO as text or byte code, or HLO, as in files of --graph-report or of a\n"
    "    recording. JAX's libraries read byte code and HLO (make frontends FRONTENDS=jax). Names "
    "of\n"
    "    values, source locations and the order of independent statements are ignored. Reasons of\n"
    "    differences: op, results, shape, dtype, type, constant, attribute or operand.\n"
    "  recordings: what their steps take, and programs of one name. With one RECORDING, each\n"
    "    program is compared with the one of the same name that was compiled before it.\n"
    "  metrics: folders of records, records, or files with a metrics report.\n"
    "\n"
    "Exit codes: 0 the programs are the same, or metrics were compared; 1 programs or steps\n"
    "differ, or a record of a folder is damaged; 2 usage; 3 something cannot be read, or A and B\n"
    "have no experiment in common.\n";

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

static void show(const shlo_diff *d, const char *const *paths, bool verbose, res_format format)
{
    bn_text text = {0}, page = {0};
    if (format == RES_TABLE_JSON) {
        json_t *o = command_diff_json(d, MOST_JSON);
        json_object_set_new(o, "bench_graph_diff", json_integer(1));
        json_object_set_new(o, "a", graph_json(paths[0], d->a));
        json_object_set_new(o, "b", graph_json(paths[1], d->b));
        json_object_set_new(o, "ops", ops_json(d));
        cli_json(o);
        json_decref(o);
        return;
    }
    const bool sentences = res_format_is_text(format);
    if (sentences)
        put_head(d, paths, format, &text);
    put_ops(d, !sentences, format, &text);
    if (sentences)
        put_further(d, verbose, format, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "Two graphs", text.data);
    if (text.data)
        cli_show_text(page.data ? &page : &text);
    bn_text_free(&text);
    bn_text_free(&page);
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
        show(diff, paths, output->verbose, format);
    *differ = diff && diff->count > 0;
    shlo_diff_free(diff);
    shlo_graph_free(a);
    shlo_graph_free(b);
    return code;
}

/* ---- kinds -------------------------------------------------------------------------------- */

typedef enum kind { KIND_PROGRAM, KIND_METRICS, KIND_RECORDING } kind;

static bn_code kind_of(const char *path, kind *found, bn_status *st)
{
    struct stat info;
    bn_status ignored = {.code = BN_OK};
    rec_recording *recording = NULL;
    if (stat(path, &info) != 0)
        return bn_fail_errno(st, errno, "%s", path);
    *found = KIND_PROGRAM;
    if (S_ISDIR(info.st_mode))
        *found = rec_open(path, &recording, &ignored) == BN_NOT_FOUND ? KIND_METRICS
                                                                     : KIND_RECORDING;
    else if (res_store_file_of(bn_base_name(path)) == RES_STORE_RECORD || command_is_metrics(path))
        *found = KIND_METRICS;
    rec_close(recording);
    return BN_OK;
}

/* WORDS: two sources of one kind, or a recording. *DIFFER: they differ, or a record of a folder is
 * damaged. */
static bn_code compare(const char *const *words, const cli_output *output, bool *differ,
                       bn_status *st)
{
    static const char *const names[] = {"a program", "metrics or a store", "a recording"};
    kind a, b;
    if (kind_of(words[0], &a, st) != BN_OK || (words[1] && kind_of(words[1], &b, st) != BN_OK))
        return st->code;
    struct stat info;
    if (!words[1])
        return stat(words[0], &info) == 0 && S_ISDIR(info.st_mode)
                   ? command_graph_recordings(words[0], NULL, output, differ, st)
                   : bn_fail(st, BN_INVALID,
                             "bench diff takes two files or folders, or one recording, not %s alone",
                             words[0]);
    if (a != b)
        return bn_fail(st, BN_INVALID, "%s is %s, and %s is %s", words[0], names[a], words[1],
                       names[b]);
    if (a == KIND_METRICS)
        return command_metrics_diff(words[0], words[1], output, differ, st);
    if (a == KIND_RECORDING)
        return command_graph_recordings(words[0], words[1], output, differ, st);
    return compare_files(words, output, differ, st);
}

static int run_diff(void *options, const cli_call *call)
{
    bn_status st = {.code = BN_OK};
    bool differ = false;
    if (compare(call->words, options, &differ, &st) != BN_OK) {
        /* 1 means that something differs, which is unknown here. */
        const cli_exit code = cli_complain(&st);
        return code == CLI_EXIT_FAILED ? CLI_EXIT_ENVIRONMENT : (int)code;
    }
    return differ ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

static const cli_option diff_rows[] = {
    {"verbose", NULL, CLI_FLAG, offsetof(cli_output, verbose),
     .text = "show all differences, not only the first ones (-v)"},
};

const cli_command command_diff = {
    .name = "diff",
    .usage = "bench diff A B, bench diff RECORDING",
    .summary = "show differences between two programs, recordings or metrics reports",
    .section = JOB_SECTION_WHY,
    .words = "A B|RECORDING",
    .most_words = 2,
    .size = sizeof(cli_output),
    .rows = diff_rows,
    .row_count = sizeof diff_rows / sizeof *diff_rows,
    .groups = {{.table = cli_output_table, .rows = CLI_OUT_TABLES}},
    .run = run_diff,
    .help = diff_help,
};

/* ---- bench graph ----------------------------------------------------------------------------- */

static int run_graph(void *options, const cli_call *call)
{
    bn_status st = {.code = BN_OK};
    shlo_graph *graph = NULL;
    bn_code code = read_graph(call->words[0], &graph, &st);
    (void)options;
    if (code == BN_OK)
        cli_show(graph->text);
    shlo_graph_free(graph);
    const cli_exit exit_code = code == BN_OK ? CLI_EXIT_OK : cli_complain(&st);
    return exit_code == CLI_EXIT_FAILED ? CLI_EXIT_ENVIRONMENT : (int)exit_code;
}

const cli_command command_graph = {
    .name = "graph",
    .usage = "bench graph FILE",
    .summary = "print a program, in byte code or HLO too, as StableHLO text",
    .section = JOB_SECTION_WHY,
    .words = "FILE",
    .most_words = 1,
    .size = sizeof(cli_output),
    .groups = {{.table = cli_output_table, .rows = CLI_OUT_EVERY | CLI_OUT_VERBOSE}},
    .run = run_graph,
};
