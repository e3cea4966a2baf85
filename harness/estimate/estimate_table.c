/*
 * estimate_table.c - estimates as tables: a row for each graph, and one for the whole of a step
 * that is cut; cycles by scope; published times. CSV has plain numbers and all lines.
 */
#include "harness/estimate/estimate_priv.h"
#include "results/records/estimates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------ */

static void put_amount(json_t *row, double amount, const char *unit)
{
    bn_text text = {0};
    estimate_put_amount(&text, amount, unit);
    json_array_append_new(row, json_string(text.data));
    bn_text_free(&text);
}

/* NUMBER as plain digits, all of them where it is whole; nothing where it is unknown. */
static void put_number(json_t *row, double number)
{
    if (number < 0 || !isfinite(number))
        json_array_append_new(row, json_string(""));
    else
        res_sheet_put(row, number == floor(number) && number < 1e18 ? "%.0f" : "%.10g", number);
}

/* A time with three digits. */
static void put_ms(json_t *row, double ms)
{
    if (ms < 0)
        json_array_append_new(row, json_string("-"));
    else
        res_sheet_put(row, "%.*f", ms < 1 ? 4 : ms < 10 ? 3 : 2, ms);
}

static void put_share(json_t *row, double part, double whole)
{
    if (part < 0 || whole <= 0)
        json_array_append_new(row, json_string("-"));
    else
        res_sheet_put(row, "%.1f %%", 100 * part / whole);
}

/* "18.82", or the CLASS of a failure. */
static void put_cycles(json_t *row, double cycles, const char *class)
{
    if (strcmp(class, ESTIMATE_OK) != 0)
        json_array_append_new(row, json_string(class));
    else if (cycles < 0)
        json_array_append_new(row, json_string("-"));
    else
        res_sheet_put(row, "%.*f", cycles < 1e6 ? 4 : cycles < 1e8 ? 2 : 1, cycles / 1e6);
}

/* ---- sums over a step ---------------------------------------------------------------------- */

/* bench's own; -1 where it has counted none. */
static double sum_flops(const json_t *lines, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const json_t *flops = json_object_get(json_array_get(lines, i), "flops");
        if (!json_is_number(flops))
            return -1;
        sum += json_number_value(flops);
    }
    return sum;
}

/* The most memory of the device in use at a time by line INDEX of LINES; -1: unknown. */
static double device_peak_at(const void *lines, size_t index)
{
    const json_t *line = json_array_get(lines, index);
    return res_device_peak(estimate_figure(line, "memory", "peak"),
                           estimate_figure(line, "memory", "host_temp"));
}

/* Figure NAME of line FIRST. */
static double figure_of(const json_t *lines, size_t first, size_t end, const char *name)
{
    (void)end;
    return estimate_figure(json_array_get(lines, first), NULL, name);
}

/* ---- the table --------------------------------------------------------------- */

/* "capture 3 auto"; "recorded". */
static void put_mode(json_t *row, const json_t *line)
{
    res_experiment what;
    const bool known = estimate_what(line, &what);
    const bool automatic = strcmp(res_json_get_text(line, "layouts"), "auto") == 0;
    if (known && estimate_is_recorded(&what)) {
        res_sheet_put(row, "recorded");
        return;
    }
    res_sheet_put(row, "%s %d%s", known ? what.mode : "",
                  !known ? 0 : what.window ? what.window : what.graphs, automatic ? " auto" : "");
}

/* "update"; "jit_update, 4 a step"; "all" of the whole step. */
static void put_graph(json_t *row, const json_t *line, bool whole)
{
    const double times = estimate_times(line);
    bn_text text = {0};
    bn_text_puts(&text, whole ? "all" : res_json_get_text(line, "graph"));
    if (!whole && times > 1)
        bn_text_printf(&text, ", %.0f a step", times);
    json_array_append_new(row, res_json_text(text.data ? text.data : ""));
    bn_text_free(&text);
}

/* The row of line FIRST, of one execution; or WHOLE, of the step up to END. */
static json_t *text_row(const json_t *lines, size_t first, size_t end, bool whole)
{
    const json_t *line = json_array_get(lines, first);
    const char *class = estimate_class(lines, first, end);
    const bool ok = strcmp(class, ESTIMATE_OK) == 0;
    double (*const figure)(const json_t *, size_t, size_t, const char *) =
        whole ? estimate_sum_of_step : figure_of;
    const double cycles = ok ? figure(lines, first, end, "cycles") : -1;
    const double copies = ok ? figure(lines, first, end, "copy_cycles") : -1;
    const double flops = figure(lines, first, end, "flops");
    char title[ESTIMATE_TITLE];
    json_t *row = json_array();
    estimate_title(line, title, sizeof title);
    json_array_append_new(row, res_json_text(res_json_get_text(line, "topology")));
    json_array_append_new(row, json_string(title));
    put_mode(row, line);
    put_graph(row, line, whole);
    put_cycles(row, cycles, class);
    put_ms(row, !ok ? -1 : whole ? estimate_sum_ms(lines, first, end) : estimate_ms(line));
    if (whole || json_integer_value(json_object_get(line, "of")) == 1)
        put_ms(row, ok ? estimate_wall_ms(lines, first, end) : -1);
    else
        json_array_append_new(row, json_string(""));
    put_share(row, copies, cycles);
    put_amount(row, whole ? -1 : estimate_figure(line, "memory", "argument"), "B");
    put_amount(row, estimate_largest(lines, first, end, "memory", "temp"), "B");
    put_amount(row, estimate_largest(lines, first, end, "memory", "host_temp"), "B");
    put_amount(row, res_largest_known(device_peak_at, lines, first, end), "B");
    put_amount(row, estimate_figure(line, "topology", "memory_bytes"), "B");
    put_amount(row, flops, "");
    put_amount(row, sum_flops(lines, first, end), "");
    put_amount(row, estimate_sum(lines, first, end, NULL, "compile_cpu_s"), "s");
    put_amount(row, estimate_sum(lines, first, end, NULL, "serialized_bytes"), "B");
    return row;
}

static void text_table(const json_t *lines, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"topology", false},
                                               {"step", false},
                                               {"mode", false},
                                               {"graph", false},
                                               {"estimated Mcycles", true},
                                               {"estimated ms", true},
                                               {"with tracing", true},
                                               {"copies", true},
                                               {"arguments", true},
                                               {"temporaries", true},
                                               {"on host", true},
                                               {"peak", true},
                                               {"of memory", true},
                                               {"FLOPs", true},
                                               {"ours", true},
                                               {"compile CPU", true},
                                               {"size", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(lines);) {
        const size_t end = estimate_step_end(lines, i);
        for (size_t k = i; k < end; k++)
            json_array_append_new(rows, text_row(lines, k, k + 1, false));
        if (end - i > 1 || estimate_times(json_array_get(lines, i)) > 1)
            json_array_append_new(rows, text_row(lines, i, end, true));
        i = end;
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- CSV --------------------------------------------------------------------- */

/* A figure of CSV: PART and NAME as in estimate_job.c. */
static const struct {
    const char *head, *part, *name;
} csv_figures[] = {{"estimated_cycles", NULL, "cycles"},
                   {"estimated_copy_cycles", NULL, "copy_cycles"},
                   {"estimated_layout_cycles", NULL, "layout_cycles"},
                   {"argument_bytes", "memory", "argument"},
                   {"result_bytes", "memory", "result"},
                   {"temp_bytes", "memory", "temp"},
                   {"host_temp_bytes", "memory", "host_temp"},
                   {"peak_bytes", "memory", "peak"},
                   {"device_memory_bytes", "topology", "memory_bytes"},
                   {"compiler_flops", NULL, "flops"},
                   {"compile_s", NULL, "compile_s"},
                   {"compile_cpu_s", NULL, "compile_cpu_s"},
                   {"serialized_bytes", NULL, "serialized_bytes"}};
#define CSV_FIGURES (sizeof csv_figures / sizeof *csv_figures)

static void csv_row(const json_t *line, bn_text *out)
{
    res_experiment what = {0};
    const bool known = estimate_what(line, &what);
    const json_t *numbers[] = {json_object_get(line, "estimated_ms"),
                               json_object_get(line, "clock_ghz"), json_object_get(line, "flops"),
                               json_object_get(line, "times_a_step")};
    json_t *cells = json_array();
    res_sheet_put(cells, "%s", res_json_get_text(line, "topology"));
    res_sheet_put(cells, "%s", known ? what.model : "");
    res_sheet_put(cells, "%s", known ? what.variant : "");
    res_sheet_put(cells, "%s", known ? what.phase : "");
    res_sheet_put(cells, "%d", known ? what.batch : 0);
    res_sheet_put(cells, "%s", known ? what.dtype : "");
    res_sheet_put(cells, "%s", known ? what.mode : "");
    res_sheet_put(cells, "%d", known ? what.graphs : 0);
    res_sheet_put(cells, "%s", res_json_get_text(line, "layouts"));
    res_sheet_put(cells, "%s", res_json_get_text(line, "graph"));
    res_sheet_put(cells, "%s", res_json_get_text(line, "class"));
    for (size_t i = 0; i < CSV_FIGURES; i++)
        put_number(cells, estimate_figure(line, csv_figures[i].part, csv_figures[i].name));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(cells, json_is_number(numbers[i]) ? json_number_value(numbers[i]) : -1);
    res_sheet_put(cells, "%d", known ? what.depth : 0);
    res_sheet_put(cells, "%s", known ? what.scan : "");
    res_sheet_put(cells, "%s", known ? what.remat : "");
    res_sheet_put(cells, "%s", known ? what.offload : "");
    res_sheet_put(cells, "%d", known ? what.image : 0);
    res_sheet_put(cells, "%d", known ? what.seq : 0);
    res_sheet_put(cells, "%s", known ? what.optimizer : "");
    res_sheet_put(cells, "%s", known ? what.dropout : "");
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const char *text = json_string_value(json_array_get(cells, i));
        res_put_csv(out, text ? text : "");
        bn_text_putc(out, i + 1 == json_array_size(cells) ? '\n' : ',');
    }
    json_decref(cells);
}

static void csv_table(const json_t *lines, bn_text *out)
{
    bn_text_puts(out, "topology,model,variant,phase,batch,dtype,mode,graphs,layouts,graph,class");
    for (size_t i = 0; i < CSV_FIGURES; i++)
        bn_text_printf(out, ",%s", csv_figures[i].head);
    bn_text_puts(out, ",estimated_ms,clock_ghz,our_flops,times_a_step,depth,scan,remat,offload,"
                      "image,seq,optimizer,dropout\n");
    for (size_t i = 0; i < json_array_size(lines); i++)
        csv_row(json_array_get(lines, i), out);
}

void estimate_table(const json_t *lines, res_format format, bn_text *out)
{
    if (format == RES_TABLE_CSV)
        csv_table(lines, out);
    else
        text_table(lines, format, out);
}

/* ---- scopes ------------------------------------------------------------------ */

#define SCOPE_PARTS 2 /* "layer1.0" of "layer1.0.conv2", behind the phase */

/* Whether SCOPE begins with a phase other than the forward one. */
static bool has_phase(const char *scope)
{
    static const char *const phases[] = {"input", "statistics", "backward", "update"};
    const size_t length = strcspn(scope, "/");
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (strlen(phases[i]) == length && strncmp(scope, phases[i], length) == 0)
            return true;
    return false;
}

/* A scope, cut to its first parts, and its sum. */
static void add_scope(json_t *sums, const char *scope, double cycles)
{
    char name[160];
    size_t length = 0;
    const int parts = SCOPE_PARTS + has_phase(scope);
    for (int part = 0; part < parts && scope[length]; part++) {
        length += part ? 1 : 0;
        length += strcspn(scope + length, "/.");
    }
    if (length >= sizeof name)
        length = bn_utf8_fit(scope, sizeof name - 1);
    snprintf(name, sizeof name, "%.*s", (int)length, scope);
    const char *key = name[0] ? name : "(none)";
    const double so_far = json_number_value(json_object_get(sums, key));
    json_object_set_new(sums, key, json_real(so_far + cycles));
}

typedef struct scope_sum {
    const char *name;
    double cycles;
} scope_sum;

static int by_cycles(const void *a, const void *b)
{
    const scope_sum *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Appends LINE's rows to ROWS, the most costly scope first. */
static void scope_rows(const json_t *line, json_t *rows)
{
    const json_t *scopes = json_object_get(json_object_get(line, "estimate"), "scopes");
    const double all = estimate_figure(line, NULL, "cycles");
    json_t *sums = json_object();
    for (size_t i = 0; i < json_array_size(scopes); i++) {
        const json_t *item = json_array_get(scopes, i);
        const double cycles = json_number_value(json_object_get(item, "cycles"));
        if (cycles > 0)
            add_scope(sums, res_json_get_text(item, "name"), cycles);
    }
    const size_t count = json_object_size(sums);
    scope_sum *list = bn_zalloc(count + 1, sizeof *list);
    const char *name;
    json_t *value;
    size_t n = 0;
    char title[ESTIMATE_TITLE];
    estimate_title(line, title, sizeof title);
    json_object_foreach(sums, name, value) list[n++] = (scope_sum){name, json_number_value(value)};
    qsort(list, n, sizeof *list, by_cycles);
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();
        json_array_append_new(row, res_json_text(res_json_get_text(line, "topology")));
        json_array_append_new(row, json_string(title));
        put_mode(row, line);
        json_array_append_new(row, res_json_text(res_json_get_text(line, "graph")));
        json_array_append_new(row, res_json_text(list[i].name));
        put_cycles(row, list[i].cycles, ESTIMATE_OK);
        put_share(row, list[i].cycles, all);
        json_array_append_new(rows, row);
    }
    free(list);
    json_decref(sums);
}

void estimate_scopes(const json_t *lines, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"topology", false}, {"step", false},
                                               {"mode", false},     {"graph", false},
                                               {"scope", false},    {"estimated Mcycles", true},
                                               {"of graph", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(lines); i++)
        if (estimate_is_ok(json_array_get(lines, i)))
            scope_rows(json_array_get(lines, i), rows);
    if (out->length)
        bn_text_putc(out, '\n');
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- published times --------------------------------------------------------- */

/* The share of LINE's cycles that lies in the scope NAME and in all below it. */
static double share_of_scope(const json_t *line, const char *name)
{
    const json_t *scopes = json_object_get(json_object_get(line, "estimate"), "scopes");
    const size_t length = strlen(name);
    double cycles = 0;
    for (size_t i = 0; i < json_array_size(scopes); i++) {
        const json_t *item = json_array_get(scopes, i);
        const char *scope = res_json_get_text(item, "name");
        if (strncmp(scope, name, length) == 0 && (scope[length] == '.' || scope[length] == '\0'))
            cycles += json_number_value(json_object_get(item, "cycles"));
    }
    return cycles / estimate_figure(line, NULL, "cycles");
}

/* The row of the lines from FIRST to END, of which LABEL (NULL: the whole step) was published. */
static void published_row(const json_t *lines, size_t first, size_t end, const char *label,
                          json_t *rows)
{
    const json_t *line = json_array_get(lines, first);
    double own = estimate_sum_ms(lines, first, end);
    estimate_time published;
    res_experiment what;
    if (!estimate_what(line, &what) || own < 0 ||
        !estimate_published(&what, res_json_get_text(line, "topology"), label, &published))
        return;
    char title[ESTIMATE_TITLE];
    json_t *row = json_array();
    estimate_title(line, title, sizeof title);
    json_array_append_new(row, res_json_text(res_json_get_text(line, "topology")));
    json_array_append_new(row, json_string(title));
    put_mode(row, line);
    if (published.scope) { /* of a step that is one graph */
        own *= share_of_scope(line, published.scope);
        res_sheet_put(row, "scope %s", published.scope);
    } else
        json_array_append_new(row, res_json_text(label ? label : "all"));
    put_ms(row, own);
    put_ms(row, published.ms);
    json_array_append_new(row, json_string(published.wall ? "host" : "device"));
    if (published.wall)
        res_sheet_put(row, "%s, %.2f of it", own <= published.ms ? "below" : "ABOVE",
                      own / published.ms);
    else
        res_sheet_put(row, "%+.1f %%", 100 * (own / published.ms - 1));
    json_array_append_new(row, json_string(published.source));
    json_array_append_new(rows, row);
}

void estimate_with_published(const json_t *lines, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"topology", false},    {"step", false},        {"mode", false},
        {"graph", false},       {"estimated ms", true}, {"published ms", true},
        {"measured on", false}, {"difference", true},   {"source", false}};
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(lines);) {
        const size_t end = estimate_step_end(lines, i);
        for (size_t k = i; k < end && end - i > 1; k++)
            published_row(lines, k, k + 1, res_json_get_text(json_array_get(lines, k), "graph"),
                          rows);
        published_row(lines, i, end, NULL, rows);
        i = end;
    }
    if (out->length)
        bn_text_putc(out, '\n');
    if (json_array_size(rows) || format == RES_TABLE_CSV) {
        res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
        if (format != RES_TABLE_CSV)
            res_put_set_in(out, format,
                           "\nA time that was measured on the host includes more than device time: "
                           "an estimate should be below it.\n");
    } else
        bn_text_puts(out, "No published time of these steps is known.\n");
    json_decref(rows);
}
