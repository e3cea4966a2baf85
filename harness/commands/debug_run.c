/*
 * debug_run.c - bench run --debug-run: every report of one run in one folder, and index.html, which
 * leads through them. Each report is a row of a table of parts.
 */
#include "harness/commands/debug_run_priv.h"
#include "plots/plot.h"
#include "results/metrics/metrics.h"
#include "results/tables/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the folder's name, so that there is room for those of its files. */
#define MOST_FOLDER (PATH_MAX - 256)

/* ---- the folder ---------------------------------------------------------------------------- */

/* A FOLDER that does not exist yet is empty. */
static bn_code check_empty(const char *folder, bn_status *st)
{
    bool empty = true;
    DIR *list = opendir(folder);
    if (!list)
        return errno == ENOENT ? BN_OK : bn_fail_errno(st, errno, "%s", folder);
    for (struct dirent *entry; empty && (entry = readdir(list));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(list);
    return empty ? BN_OK
                 : bn_fail(st, BN_INVALID,
                           "%s is not empty; name another folder, or replace the reports in it "
                           "with --force",
                           folder);
}

/* ---- the parts ------------------------------------------------------------------------------- */

/* A run whose reports are written. */
typedef struct debug_run {
    const char *folder;
    const command_debug_run *run;
    res_collection all; /* of its records */
    size_t every;       /* of the measured steps, each so many-th is shown */
} debug_run;

static void put_speedup(const debug_run *d, res_format format, bn_text *out)
{
    res_table("speedup", &d->all, format, out);
}

static void put_goodput(const debug_run *d, res_format format, bn_text *out)
{
    res_table("goodput", &d->all, format, out);
}

static void put_doctor(const debug_run *d, res_format format, bn_text *out)
{
    size_t findings;
    res_table_doctor(&d->all, format, out, &findings);
}

static void put_ledger(const debug_run *d, res_format format, bn_text *out)
{
    res_table("ledger", &d->all, format, out);
}

static void put_executions(const debug_run *d, res_format format, bn_text *out)
{
    res_table("executions", &d->all, format, out);
}

static void put_compile(const debug_run *d, res_format format, bn_text *out)
{
    res_table("compile", &d->all, format, out);
}

/* Once a run is interrupted, no further steps run. */
static void put_explained(const debug_run *d, res_format format, bn_text *out)
{
    (void)format;
    if (!d->run->interrupted)
        command_debug_explain(d->run->list, d->run->experiments, out);
}

static void put_scopes(const debug_run *d, res_format format, bn_text *out)
{
    (void)format;
    if (!d->run->interrupted)
        command_debug_scopes(d->run->list, d->run->experiments, out);
}

static void put_metrics(const debug_run *d, res_format format, bn_text *out)
{
    json_t *metrics = res_metrics_make(d->all.records, d->all.count);
    res_metrics_put(metrics, format == RES_TABLE_JSON, out);
    json_decref(metrics);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Columns of a step: sums of parts of the ledger. */
static const struct {
    const char *head;
    bn_part parts[4];
    size_t count;
} step_parts[] = {
    {"input", {BN_PART_INPUT}, 1},
    {"tracing", {BN_PART_TRACE, BN_PART_HASH, BN_PART_LOOKUP}, 3},
    {"compile", {BN_PART_LOWER, BN_PART_COMPILE}, 2},
    {"dispatch", {BN_PART_BIND, BN_PART_DISPATCH, BN_PART_RELEASE}, 3},
    {"wait", {BN_PART_WAIT}, 1},
    {"read", {BN_PART_READ}, 1},
    {"other", {BN_PART_OTHER}, 1},
};
#define STEP_PARTS (sizeof step_parts / sizeof *step_parts)

static json_t *step_row(const char *title, const char *step, double wall_ns, json_t *rows)
{
    json_t *row = json_array();
    json_array_append_new(rows, row);
    res_sheet_put(row, "%s", title);
    res_sheet_put(row, "%s", step);
    res_sheet_put(row, "%.3f", wall_ns / 1e6);
    return row;
}

/* PROGRAMS below 0: unknown. */
static void put_programs(json_t *row, json_int_t programs)
{
    if (programs < 0)
        res_sheet_put(row, "-");
    else
        res_sheet_put(row, "%lld", (long long)programs);
}

/* The steps before the measured ones, of which records have wall times and compilations only. */
static void put_first_steps(const res_record *r, const char *title, json_t *rows)
{
    const json_t *compiles = res_provenance(r, RES_PROV_WARMUP_COMPILES);
    for (size_t i = 0; i < r->warmup_count; i++) {
        char step[48];
        snprintf(step, sizeof step, "warm-up %zu", i + 1);
        json_t *row = step_row(i ? "" : title, step, (double)r->warmup_wall_ns[i], rows);
        const json_t *programs = json_array_get(compiles, i);
        put_programs(row, json_is_integer(programs) ? json_integer_value(programs) : -1);
        for (size_t k = 0; k < STEP_PARTS; k++)
            res_sheet_put(row, "-");
    }
}

/* How many programs measured STEP made, by the pairs [step, count] of LIST; *AT, 0 at first, is the
 * pair to go on from. -1: unknown, as for the steps of a framework. */
static json_int_t programs_of(const json_t *list, size_t step, size_t *at)
{
    const json_t *pair = json_array_get(list, *at);
    while (pair && json_integer_value(json_array_get(pair, 0)) < (json_int_t)step)
        pair = json_array_get(list, ++*at);
    if (pair && json_integer_value(json_array_get(pair, 0)) == (json_int_t)step)
        return json_integer_value(json_array_get(pair, 1));
    return list && (pair || json_array_size(list) < RES_MOST_COMPILES) ? 0 : -1;
}

/* A framework's record has no warm-up steps, so its first measured one has TITLE. */
static void put_every_step(const debug_run *d, const res_record *r, const char *title, json_t *rows)
{
    const json_t *measured = res_provenance(r, RES_PROV_MEASURED_COMPILES);
    size_t at = 0;
    for (size_t i = 0; i < r->step_count; i += d->every) {
        char step[48];
        snprintf(step, sizeof step, "%zu", i + 1);
        const bool first = i == 0 && r->warmup_count == 0;
        json_t *row = step_row(first ? title : "", step, (double)r->wall_ns[i], rows);
        put_programs(row, programs_of(measured, i, &at));
        for (size_t k = 0; k < STEP_PARTS; k++) {
            uint64_t ns = 0;
            for (size_t p = 0; p < step_parts[k].count; p++)
                ns += r->part_ns[i * BN_PART_COUNT + step_parts[k].parts[p]];
            res_sheet_put(row, "%.3f", (double)ns / 1e6);
        }
    }
}

/* Whether a good record before INDEX is of the same experiment. */
static bool was_before(const res_collection *all, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (res_record_good(all->records[i]) &&
            res_experiment_order(&all->records[i]->experiment, &all->records[index]->experiment) ==
                0)
            return true;
    return false;
}

static void put_steps(const debug_run *d, res_format format, bn_text *out)
{
    res_sheet_column columns[4 + STEP_PARTS] = {
        {"experiment", false}, {"step", true}, {"wall", true}, {"programs", true}};
    json_t *rows = json_array();
    for (size_t k = 0; k < STEP_PARTS; k++)
        columns[4 + k] = (res_sheet_column){step_parts[k].head, true};
    for (size_t i = 0; i < d->all.count; i++) {
        const res_record *r = d->all.records[i];
        bn_text title = {0};
        if (!res_record_good(r) || was_before(&d->all, i))
            continue;
        res_experiment_title(&r->experiment, &title);
        put_first_steps(r, title.data ? title.data : "", rows);
        put_every_step(d, r, title.data ? title.data : "", rows);
        bn_text_free(&title);
    }
    res_sheet_write(columns, 4 + STEP_PARTS, rows, format, out);
    json_decref(rows);
}

/* ---- the table of parts ---------------------------------------------------------------------- */

/* A report, in the order in which the page leads through them. */
typedef struct debug_part {
    const char *file;         /* in the folder */
    const char *title, *what; /* its use, in a sentence or two */
    /* Appends it in FORMAT; NULL: the run itself has written the file. */
    void (*put)(const debug_run *d, res_format format, bn_text *out);
    bool shown; /* in the page, too, not in its file alone */
} debug_part;

static const debug_part parts[] = {
    {"speedup.txt", "How fast",
     "A row for each mode and runtime: the wall time of a step, and its tracing, overhead of "
     "executions and device time.",
     put_speedup, true},
    {"goodput.txt", "Where the run's time went",
     "The share of all wall time in which the device worked on measured steps, and each loss. "
     "Where compiling or initialization is large, longer runs or a cache help; where tracing or "
     "overhead is large, read on.",
     put_goodput, true},
    {"doctor.txt", "What could be fixed",
     "What costs time in each step, the most costly first, and how to fix it.", put_doctor, true},
    {"ledger.txt", "Where a step's time goes",
     "The parts of a step, measured on the host. A step that is mostly wait is bound by the "
     "device.",
     put_ledger, true},
    {"executions.txt", "What the device executed",
     "Each execution of a step alone: PJRT time, device time, and the difference.", put_executions,
     true},
    {"compile.txt", "What was compiled", "Each program: how long it took to write and compile.",
     put_compile, true},
    {"explain.txt", "What is compiled again, and where",
     "The first ten steps of each experiment, run once more under observation: graphs, guards, "
     "graph breaks, reads, ops on the host, and why a step compiled or was captured again. Each "
     "has its source location and its scope.",
     put_explained, false},
    {"scopes.txt", "What each part of the model adds",
     "Nodes, tracing time and FLOPs of each scope, and its device time where a profiler reports "
     "it.",
     put_scopes, false},
    {"steps.txt", "The first steps, and some of the others",
     "Milliseconds of the first process. The first steps compile: programs counts what each "
     "compiled, loaded or captured. Programs in later steps mean that something changes from step "
     "to step. Records have no parts of warm-up steps. Steps count from 1 here, and from 0 in the "
     "timeline.",
     put_steps, false},
    {COMMAND_DEBUG_TIMELINE, "Timeline",
     "When each part of a step ran, on host and device: open the file in Perfetto. Host work "
     "between two executions stands above the device's gap.",
     NULL, false},
    {"metrics.txt", "Metrics and counters",
     "In the layout of PyTorch/XLA's metrics report: percentiles of compile, execute and transfer "
     "times, and counters such as UncachedCompile.",
     put_metrics, false},
    {COMMAND_DEBUG_GRAPHS "/index.txt", "Graphs",
     "The StableHLO text of each compiled graph, with inputs, outputs, aliases, memory and FLOPs, "
     "and how graphs that do the same part of a step differ.",
     NULL, false},
};
#define PARTS (sizeof parts / sizeof *parts)

/* ---- before the run -------------------------------------------------------------------------- */

static bn_code remove_one(const char *folder, const char *file, bn_status *st)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
               ? BN_OK
               : bn_fail_errno(st, errno, "%s", path);
}

bn_code command_debug_begin(const command_metering *own, bool force, job_matrix *matrix,
                            command_debug_paths *paths, bn_status *st)
{
    if (!own->debug)
        return BN_OK;
    if (!own->debug[0])
        return bn_fail(st, BN_INVALID, "--debug-run needs the name of a folder");
    if (matrix->how.graph_report)
        return bn_fail(st, BN_INVALID, "--debug-run writes its own --graph-report, DIR/%s",
                       COMMAND_DEBUG_GRAPHS);
    if (matrix->how.timeline)
        return bn_fail(st, BN_INVALID, "--debug-run writes its own --timeline, DIR/%s",
                       COMMAND_DEBUG_TIMELINE);
    if (strlen(own->debug) > MOST_FOLDER)
        return bn_fail(st, BN_INVALID, "--debug-run: the name of the folder is too long");
    if (!force && check_empty(own->debug, st) != BN_OK)
        return st->code;
    bn_text_printf(&paths->graphs, "%s/%s", own->debug, COMMAND_DEBUG_GRAPHS);
    bn_text_printf(&paths->timeline, "%s/%s", own->debug, COMMAND_DEBUG_TIMELINE);
    matrix->how.graph_report = paths->graphs.data;
    matrix->how.timeline = paths->timeline.data;
    return BN_OK;
}

/* Otherwise a report that this run does not write would be the earlier run's. */
bn_code command_debug_clear(const command_metering *own, bn_status *st)
{
    if (!own->debug)
        return BN_OK;
    bn_code code = remove_one(own->debug, "index.html", st);
    for (size_t i = 0; i < PARTS && code == BN_OK; i++)
        code = remove_one(own->debug, parts[i].file, st);
    return code;
}

void command_debug_end(const command_metering *own, job_matrix *matrix, command_debug_paths *paths)
{
    if (own->debug)
        matrix->how.graph_report = matrix->how.timeline = NULL;
    bn_text_free(&paths->graphs);
    bn_text_free(&paths->timeline);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bn_code write_in(const debug_run *d, const char *name, const bn_text *text, bn_status *st)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", d->folder, name);
    return bn_file_write_atomic(path, text->data, text->length, st);
}

/* Writes PART's own file, unless it is empty. */
static bn_code write_part(const debug_run *d, const debug_part *part, bn_status *st)
{
    bn_text text = {0}, plain = {0};
    part->put(d, RES_TABLE_TEXT, &text);
    if (!text.data)
        return BN_OK;
    bn_text_plain_lines(&plain, text.data);
    bn_code code = write_in(d, part->file, &plain, st);
    bn_text_free(&text);
    bn_text_free(&plain);
    return code;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_paragraph(bn_text *out, const char *text)
{
    bn_text_puts(out, "<p>");
    plot_html_text(out, text);
    bn_text_puts(out, "</p>\n");
}

/* PART's table without the heading that it has by itself. */
static void put_shown(const debug_run *d, const debug_part *part, bn_text *out)
{
    static const char heading_end[] = "</h1>";
    bn_text table = {0};
    part->put(d, RES_TABLE_HTML, &table);
    const char *body = table.data ? strstr(table.data, heading_end) : NULL;
    bn_text_puts(out, body ? body + sizeof heading_end - 1 : table.data ? table.data : "");
    bn_text_free(&table);
}

static void put_part(const debug_run *d, const debug_part *part, bn_text *out)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", d->folder, part->file);
    bn_text_puts(out, "<h2>");
    plot_html_text(out, part->title);
    bn_text_puts(out, "</h2>\n");
    put_paragraph(out, part->what);
    if (access(path, F_OK) != 0) {
        put_paragraph(out, "This part is missing: the run has no data for it.");
        return;
    }
    bn_text_puts(out, "<p><a href=\"");
    plot_html_text(out, part->file);
    bn_text_puts(out, "\">");
    plot_html_text(out, part->file);
    bn_text_puts(out, "</a></p>\n");
    if (part->shown)
        put_shown(d, part, out);
}

/* The experiments that ran, each once, and those that failed. */
static void put_ran(const debug_run *d, bn_text *out)
{
    bn_text words = {0};
    job_spent_words(d->run->spent, &words);
    put_paragraph(out, words.data ? words.data : "");
    /* Also true when the user interrupts the steps that reports run themselves. */
    if (d->run->interrupted || job_interrupted())
        put_paragraph(out, "The run was interrupted: the reports cover what ran until then.");
    bn_text_puts(out, "<ul>\n");
    for (size_t i = 0; i < d->all.count; i++) {
        const res_record *r = d->all.records[i];
        bn_text_clear(&words);
        res_experiment_title(&r->experiment, &words);
        if (r->status != BN_OK)
            bn_text_printf(&words, ": failed: %s: %s", bn_code_name(r->status), r->message);
        else if (was_before(&d->all, i))
            continue;
        bn_text_puts(out, "<li>");
        plot_html_text(out, words.data ? words.data : "");
        bn_text_puts(out, "</li>\n");
    }
    bn_text_puts(out, "</ul>\n");
    bn_text_free(&words);
}

static bn_code write_index(const debug_run *d, bn_status *st)
{
    static const char title[] = "Run report";
    bn_text body = {0}, page = {0};
    bn_text_printf(&body, "<h1>%s</h1>\n", title);
    put_paragraph(&body,
                  "Read from the top: how fast the steps are, where the time of the run "
                  "went, what could be fixed, and then the evidence. Each part is also a file "
                  "in this folder.");
    put_ran(d, &body);
    if (d->all.count == 0)
        put_paragraph(&body, "No experiment ended, so there is nothing to report.");
    for (size_t i = 0; i < PARTS && d->all.count > 0; i++)
        put_part(d, &parts[i], &body);
    res_put_page(&page, title, body.data);
    bn_code code = write_in(d, "index.html", &page, st);
    bn_text_free(&body);
    bn_text_free(&page);
    return code;
}

bn_code command_debug_write(const command_metering *own, const command_debug_run *run,
                            bn_status *st)
{
    const debug_run d = {.folder = own->debug,
                         .run = run,
                         .all = {.records = run->records, .count = run->count},
                         .every = (size_t)own->debug_every};
    bn_code code = BN_OK;
    for (size_t i = 0; i < PARTS && code == BN_OK && run->count > 0; i++)
        if (parts[i].put)
            code = write_part(&d, &parts[i], st);
    return code == BN_OK ? write_index(&d, st) : code;
}
