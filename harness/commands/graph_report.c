/*
 * graph_report.c - bench run --graph-report: an index of the graphs that a run compiled, and of how
 * those of one experiment differ from each other. Their texts and optimized programs are the
 * workers' (worker/measure.c), their figures the records'.
 */
#define _GNU_SOURCE
#include "harness/commands/graph_report_priv.h"
#include "results/tables/tables.h"
#include "runtime/pjrt/pjrt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INDEXED 20 /* differences of two graphs that the index has */
#define MOST_TYPE    400
#define MOST_SCOPE   200 /* bytes of one that are shown */
#define MOST_PARTS   12  /* parts of a model that a line names */

/* A graph; experiments share those whose text is the same. */
typedef struct indexed {
    const res_execution *figures; /* of the record that had it first */
    shlo_graph *graph;            /* NULL: WHY there is none */
    char why[512];
} indexed;

/* The graphs of one experiment. */
typedef struct ran {
    const res_record *record;
    bn_text title;
} ran;

typedef struct report {
    const char *folder;
    indexed *graphs;
    size_t graph_count, graph_room;
    ran *experiments;
    size_t experiment_count, experiment_room;
    size_t missing; /* graphs without a text */
    bn_text text;   /* the index for people */
    json_t *lists;  /* and for programs: "experiments" */
} report;

/* ---- scopes of statements, by their source locations -------------------------------------- */

/* The scope in the location of NODE, "backward/layer1.0.conv1" of
 * `"backward/layer1.0.conv1/convolution"`. Empty: outside of all scopes. */
static shlo_piece scope_of(const shlo_node *node)
{
    shlo_piece scope = node->place.name;
    if (scope.length == 0)
        return scope;
    const bool quoted = scope.at[0] == '"';
    scope.at += quoted;
    scope.length -= quoted;
    const char *quote = memchr(scope.at, '"', scope.length);
    scope.length = quote ? (size_t)(quote - scope.at) : scope.length;
    while (scope.length > 0 && scope.at[scope.length - 1] != '/')
        scope.length--;
    scope.length -= scope.length > 0;
    return scope;
}

/* The part of the model that SCOPE is in, without its phase: "layer1". */
static shlo_piece part_of(shlo_piece scope)
{
    for (size_t i = scope.length; i-- > 0;)
        if (scope.at[i] == '/') {
            scope.at += i + 1;
            scope.length -= i + 1;
            break;
        }
    const char *dot = scope.length ? memchr(scope.at, '.', scope.length) : NULL;
    scope.length = dot ? (size_t)(dot - scope.at) : scope.length;
    return scope;
}

/* The statements of each scope of G, or of each PART of the model: {NAME: count}, in the order of
 * the text (new reference). */
static json_t *count_scopes(const shlo_graph *g, bool parts)
{
    json_t *counts = json_object();
    for (size_t i = 0; i < g->node_count; i++) {
        bn_text name = {0};
        if (g->nodes[i].kind != SHLO_OP)
            continue;
        const shlo_piece scope = scope_of(&g->nodes[i]);
        if (scope.length > 0)
            shlo_piece_put(parts ? part_of(scope) : scope, MOST_SCOPE, &name);
        const char *key = name.data ? name.data : "";
        const json_int_t before = json_integer_value(json_object_get(counts, key));
        json_object_set_new(counts, key, json_integer(before + 1));
        bn_text_free(&name);
    }
    return counts;
}

/* The scopes of GRAPH, [{"scope": "backward/layer1.0.conv1", "statements": 3}], in the order of the
 * text; "": outside of all (new reference). */
static json_t *scopes_json(const shlo_graph *graph)
{
    json_t *counts = count_scopes(graph, false), *list = json_array(), *count;
    const char *name;
    json_object_foreach(counts, name, count)
        json_array_append_new(list, json_pack("{ss sO}", "scope", name, "statements", count));
    json_decref(counts);
    return list;
}

/* Appends "conv1 4, layer1 43": the statements of the parts of the model, in all phases. */
static void put_parts(const shlo_graph *graph, bn_text *out)
{
    json_t *counts = count_scopes(graph, true), *count;
    const char *name;
    size_t shown = 0;
    json_object_foreach(counts, name, count)
    {
        if (shown++ < MOST_PARTS)
            bn_text_printf(out, "%s%s %lld", shown > 1 ? ", " : "", *name ? name : "(no scope)",
                           (long long)json_integer_value(count));
    }
    if (shown > MOST_PARTS)
        bn_text_printf(out, " and %zu more", shown - MOST_PARTS);
    json_decref(counts);
}

/* ---- graphs --------------------------------------------------------------------------------- */

/* Reads the text of GRAPH, which must be what its name says. */
static void read_graph(const report *r, indexed *graph)
{
    char path[4200], *text = NULL, digest[BN_SHA256_TEXT];
    const char *name = graph->figures->fingerprint;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    snprintf(path, sizeof path, "%s/%s.mlir", r->folder, name);
    bn_code code = bn_regular_read(path, &text, &size, &st);
    if (code == BN_OK) {
        bn_sha256(text, size, digest);
        if (strncmp(digest, name, strlen(name)) != 0)
            code = bn_fail(&st, BN_CHANGED, "%s: not the text that was compiled", path);
    }
    if (code == BN_OK)
        code = shlo_graph_read(text, size, &graph->graph, &st);
    if (code != BN_OK)
        bn_plain(st.message, graph->why, sizeof graph->why);
    free(text);
}

/* The index of X's graph in R, which gets it where it is new. */
static size_t graph_of(report *r, const res_execution *x)
{
    for (size_t i = 0; i < r->graph_count; i++)
        if (strcmp(r->graphs[i].figures->fingerprint, x->fingerprint) == 0)
            return i;
    bn_grow(&r->graphs, r->graph_count + 1, &r->graph_room, sizeof *r->graphs);
    indexed *graph = &r->graphs[r->graph_count];
    *graph = (indexed){.figures = x};
    read_graph(r, graph);
    r->missing += graph->graph == NULL;
    return r->graph_count++;
}

/* The function of G that runs; never NULL, since a graph has one. */
static const shlo_node *main_of(const shlo_graph *g)
{
    const shlo_node *first = NULL;
    for (size_t i = 0; i < g->node_count; i++) {
        const shlo_node *node = &g->nodes[i];
        if (node->kind != SHLO_FUNCTION)
            continue;
        first = first ? first : node;
        if (memmem(node->text.at, node->text.length, "@main(", 6))
            return node;
    }
    return first;
}

/* The result that takes over the memory of ARGUMENT, or -1. */
static int64_t heir_of(const shlo_node *argument)
{
    static const char mark[] = "tf.aliasing_output = ";
    const shlo_piece said = argument->attributes;
    const char *at = said.length ? memmem(said.at, said.length, mark, sizeof mark - 1) : NULL;
    /* The graph's text ends with a zero byte. */
    return at ? strtoll(at + sizeof mark - 1, NULL, 10) : -1;
}

/* {"inputs": [...], "outputs": "...", "aliases": [...]} of G (new reference). */
static json_t *signature_json(const shlo_graph *g)
{
    const shlo_node *own = main_of(g);
    json_t *inputs = json_array(), *aliases = json_array();
    for (size_t i = 0; i < g->node_count; i++) {
        const shlo_node *node = &g->nodes[i];
        if (node->kind != SHLO_ARGUMENT || &g->nodes[node->parent] != own)
            continue;
        if (heir_of(node) >= 0)
            json_array_append_new(aliases,
                                  json_pack("{sI sI}", "input", (json_int_t)json_array_size(inputs),
                                            "output", (json_int_t)heir_of(node)));
        json_array_append_new(inputs, command_piece_json(node->types, MOST_TYPE));
    }
    return json_pack("{so so so sI}", "inputs", inputs, "outputs",
                     command_piece_json(own->types, 100 * MOST_TYPE), "aliases", aliases,
                     "statements", (json_int_t)g->of_kind[SHLO_OP]);
}

/* BYTES, null below 0: the compiler did not report them (new reference). */
static json_t *bytes_json(int64_t bytes)
{
    return bytes < 0 ? json_null() : json_integer(bytes);
}

static json_t *graph_json(const indexed *graph)
{
    const res_execution *x = graph->figures;
    char file[48];
    snprintf(file, sizeof file, "%s.mlir", x->fingerprint);
    json_t *o = json_pack(
        "{ss ss so so sI so so s{so so so so so}}", "hash", x->fingerprint, "graph", x->graph,
        "file", graph->graph ? json_string(file) : json_null(), "fault",
        graph->graph ? json_null() : json_string(graph->why), "nodes", (json_int_t)x->nodes,
        "flops", res_json_real(x->flops), "bytes", res_json_real(x->bytes), "memory",
        "argument_bytes", bytes_json(x->argument_bytes), "result_bytes",
        bytes_json(x->result_bytes), "temp_bytes", bytes_json(x->temp_bytes), "code_bytes",
        bytes_json(x->code_bytes), "peak_bytes", bytes_json(x->peak_bytes));
    json_t *signature = graph->graph ? signature_json(graph->graph) : NULL;
    if (signature) {
        json_object_update(o, signature);
        json_object_set_new(o, "scopes", scopes_json(graph->graph));
    }
    json_decref(signature);
    return o;
}

/* ---- experiments ---------------------------------------------------------------------------- */

/* Whether TEXT, which a record may have from anywhere, is a hash: it becomes the name of a file. */
static bool is_hash(const char *text)
{
    return text[0] && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* The graph before row ROW of RECORD that does the same part of a step; SIZE_MAX: there is none. */
static size_t predecessor(const res_record *record, size_t row)
{
    for (size_t i = row; i-- > 0;)
        if (is_hash(record->executions[i].fingerprint) &&
            strcmp(record->executions[i].graph, record->executions[row].graph) == 0 &&
            strcmp(record->executions[i].fingerprint, record->executions[row].fingerprint) != 0)
            return i;
    return SIZE_MAX;
}

/* How GRAPH differs from BEFORE (new reference), and the same in R's text. */
static json_t *put_difference(report *r, const indexed *before, const indexed *graph)
{
    bn_status st = {.code = BN_OK};
    shlo_diff *diff = NULL;
    json_t *o = NULL;
    bn_text_printf(&r->text, "     against %.8s: ", before->figures->fingerprint);
    if (!before->graph || !graph->graph) {
        bn_text_puts(&r->text, "a text is missing\n");
        return json_null();
    }
    if (shlo_diff_make(before->graph, graph->graph, &diff, &st) != BN_OK) {
        bn_text_printf(&r->text, "%s\n", st.message);
        return json_null();
    }
    command_diff_counts(diff, &r->text);
    bn_text_putc(&r->text, '\n');
    if (diff->count > 0)
        command_difference_put(diff, &diff->list[0], "     ", RES_TABLE_TEXT, &r->text);
    o = command_diff_json(diff, MOST_INDEXED);
    shlo_diff_free(diff);
    return o;
}

/* Whether the file NAME in R's folder is X's optimized program, of FORMAT. */
static bool is_optimized(const report *r, const res_execution *x, const char *format,
                         const char *name)
{
    char path[4400], digest[RT_DIGEST_TEXT], *bytes = NULL;
    size_t size = 0;
    rt_program_digest own;
    bn_status st = {.code = BN_OK};
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    if (bn_regular_read(path, &bytes, &size, &st) != BN_OK)
        return false;
    rt_program_digest_of(format, bytes, size, &own);
    rt_program_digest_put(&own, digest);
    free(bytes);
    return strcmp(digest, x->optimized) == 0;
}

/* The form in which R's folder has the optimized program of X, and the NAME of its file; NULL: it
 * has none. */
static const job_program_form *find_optimized(const report *r, const res_execution *x,
                                              char name[JOB_PROGRAM_NAME])
{
    for (size_t i = 0; is_hash(x->optimized) && i < JOB_PROGRAM_FORMS; i++) {
        job_program_name(x, &job_program_forms[i], name);
        if (is_optimized(r, x, job_program_forms[i].format, name))
            return &job_program_forms[i];
    }
    return NULL;
}

/* The optimized program of X, {"file", "format", "bytes", "instructions"} (new reference), and the
 * same in R's text; null where the plugin gave none. */
static json_t *put_optimized(report *r, const res_execution *x)
{
    char name[JOB_PROGRAM_NAME];
    const job_program_form *form = find_optimized(r, x, name);
    if (!form)
        return json_null();
    bn_text_printf(&r->text, "     optimized: %s", name);
    if (x->optimized_instructions >= 0)
        bn_text_printf(&r->text, ", %lld instructions", (long long)x->optimized_instructions);
    bn_text_putc(&r->text, '\n');
    return json_pack("{ss ss so so}", "file", name, "format", form->format, "bytes",
                     bytes_json(x->optimized_bytes), "instructions",
                     bytes_json(x->optimized_instructions));
}

/* Execution ROW of RECORD: a line of R's text, an object of LIST. */
static void put_row(report *r, const res_record *record, size_t row, json_t *list)
{
    const res_execution *x = &record->executions[row];
    const size_t own = graph_of(r, x), before = predecessor(record, row);
    const shlo_graph *graph = r->graphs[own].graph;
    bn_text_printf(&r->text, "  %zu. %s %.8s: ", row + 1, x->graph, x->fingerprint);
    if (graph) {
        bn_text_printf(&r->text, "%zu statements\n     scopes: ", graph->of_kind[SHLO_OP]);
        put_parts(graph, &r->text);
        bn_text_putc(&r->text, '\n');
    } else {
        bn_text_printf(&r->text, "%s\n", r->graphs[own].why);
    }
    json_t *o = json_pack("{ss ss so so}", "graph", x->graph, "hash", x->fingerprint, "per_step",
                          res_execution_times_json(x), "optimized", put_optimized(r, x));
    if (before != SIZE_MAX) {
        /* It is in the list of graphs already: its row came earlier. */
        const size_t other = graph_of(r, &record->executions[before]);
        json_object_set_new(o, "against", json_string(record->executions[before].fingerprint));
        json_object_set_new(o, "difference", put_difference(r, &r->graphs[other], &r->graphs[own]));
    }
    json_array_append_new(list, o);
}

static void put_experiment(report *r, const ran *one)
{
    json_t *list = json_array();
    bn_text_printf(&r->text, "\n%s\n", one->title.data);
    for (size_t i = 0; i < one->record->execution_count; i++)
        if (is_hash(one->record->executions[i].fingerprint))
            put_row(r, one->record, i, list);
    json_array_append_new(r->lists,
                          json_pack("{ss so}", "experiment", one->title.data, "graphs", list));
}

/* RECORD represents its experiment, unless an earlier one does: all processes of an experiment
 * compile the same. */
static void add_record(report *r, const res_record *record)
{
    ran one = {.record = record};
    res_experiment_title(&record->experiment, &one.title);
    for (size_t i = 0; i < r->experiment_count; i++)
        if (strcmp(r->experiments[i].title.data, one.title.data) == 0) {
            bn_text_free(&one.title);
            return;
        }
    bn_grow(&r->experiments, r->experiment_count + 1, &r->experiment_room, sizeof *r->experiments);
    r->experiments[r->experiment_count++] = one;
}

/* ---- the index ------------------------------------------------------------------------------ */

/* A cell of COUNT; below 0: unknown. */
static void put_count(json_t *row, int64_t count)
{
    if (count < 0)
        res_sheet_put(row, "-");
    else
        res_sheet_put(row, "%lld", (long long)count);
}

/* The table of all graphs. */
static void put_graphs(const report *r, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"graph", false},  {"hash", false}, {"graph nodes", true}, {"in", true},   {"out", true},
        {"aliases", true}, {"FLOPs", true}, {"bytes", true},       {"temp", true}, {"peak", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < r->graph_count; i++) {
        const res_execution *x = r->graphs[i].figures;
        size_t aliases = 0;
        const shlo_graph *g = r->graphs[i].graph;
        for (size_t n = 0; g && n < g->node_count; n++)
            aliases += g->nodes[n].kind == SHLO_ARGUMENT && heir_of(&g->nodes[n]) >= 0;
        json_t *row = json_array();
        json_array_append_new(rows, row);
        res_sheet_put(row, "%s", x->graph);
        res_sheet_put(row, "%s", x->fingerprint);
        res_sheet_put(row, "%lld", (long long)x->nodes);
        res_sheet_put(row, "%d", x->arguments);
        res_sheet_put(row, "%d", x->results);
        put_count(row, g ? (int64_t)aliases : -1);
        res_sheet_put(row, "%.4g", x->flops);
        res_sheet_put(row, "%.4g", x->bytes);
        put_count(row, x->temp_bytes);
        put_count(row, x->peak_bytes);
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, RES_TABLE_TEXT, out);
    json_decref(rows);
}

static bn_code write_file(const report *r, const char *name, const char *text, size_t length,
                          bn_status *st)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    return bn_file_write_atomic(path, text, length, st);
}

static bn_code write_text(const report *r, bn_status *st)
{
    bn_text page = {0}, plain = {0};
    bn_text_printf(&page,
                   "%zu graphs of %zu experiments. The text of each is HASH.mlir. FLOPs and bytes "
                   "are by the ops' rules,\ntemp and peak are the compiler's, in bytes.\n\n",
                   r->graph_count, r->experiment_count);
    if (r->graph_count)
        put_graphs(r, &page);
    if (r->text.data)
        bn_text_puts(&page, r->text.data);
    bn_text_plain_lines(&plain, page.data);
    bn_code code = write_file(r, "index.txt", plain.data, plain.length, st);
    bn_text_free(&page);
    bn_text_free(&plain);
    return code;
}

static bn_code write_json(const report *r, bn_status *st)
{
    json_t *graphs = json_array();
    for (size_t i = 0; i < r->graph_count; i++)
        json_array_append_new(graphs, graph_json(&r->graphs[i]));
    json_t *o =
        json_pack("{si so sO}", "bench_graphs", 1, "graphs", graphs, "experiments", r->lists);
    char *text = json_dumps(o, JSON_INDENT(2) | RES_JSON_SHOWN);
    bn_code code = write_file(r, "index.json", text, strlen(text), st);
    free(text);
    json_decref(o);
    return code;
}

bn_code command_graph_report(const char *folder, res_record *const *records, size_t count,
                             size_t *missing, bn_status *st)
{
    report r = {.folder = folder, .lists = json_array()};
    for (size_t i = 0; i < count; i++)
        if (records[i]->status == BN_OK && !job_is_framework(&records[i]->experiment))
            add_record(&r, records[i]);
    for (size_t i = 0; i < r.experiment_count; i++)
        put_experiment(&r, &r.experiments[i]);
    bn_code code = write_text(&r, st);
    if (code == BN_OK)
        code = write_json(&r, st);
    *missing = r.missing;
    for (size_t i = 0; i < r.graph_count; i++)
        shlo_graph_free(r.graphs[i].graph);
    for (size_t i = 0; i < r.experiment_count; i++)
        bn_text_free(&r.experiments[i].title);
    free(r.graphs);
    free(r.experiments);
    bn_text_free(&r.text);
    json_decref(r.lists);
    return code;
}
