/*
 * table_estimates.c - what compilers expected of steps that were not run, out of the records of
 * estimates. It stands apart from all measured figures.
 */
#include "results/records/estimates.h"
#include "results/tables/tables_priv.h"

#include <stdlib.h>
#include <string.h>

/* No size of ours is larger, and it is exact in a double. */
#define MOST_BYTES 9007199254740992.0

/* Gaps of an estimate, which make it too low. */
static const struct {
    const char *name, *words;
} lacks[] = {{"untold_loops", "loops of unknown iteration counts, whose bodies count once"},
             {"collectives", "collectives without an estimate"},
             {"silent", "other operations without one"}};
#define LACKS (sizeof lacks / sizeof *lacks)

static json_t *known_bytes(double bytes)
{
    return bytes >= 0 && bytes <= MOST_BYTES ? json_integer((json_int_t)bytes) : json_null();
}

static json_t *known_text(const res_record *record, res_provenance_id member)
{
    const char *text = json_string_value(res_provenance(record, member));
    return text ? res_json_text(text) : json_null();
}

/* The most memory in use at a time by execution INDEX of EXECUTIONS, with what lies in the host's
 * memory; then on the device alone. Below zero: not known. */
static double peak_at(const void *executions, size_t index)
{
    return (double)((const res_execution *)executions)[index].peak_bytes;
}

static double device_peak_at(const void *executions, size_t index)
{
    const res_execution *x = (const res_execution *)executions + index;
    return res_device_peak((double)x->peak_bytes, (double)x->host_temp_bytes);
}

static json_t *known_count(const json_t *figures, const char *name)
{
    const json_t *count = json_object_get(figures, name);
    return json_is_integer(count) ? json_integer(json_integer_value(count)) : json_null();
}

/* Adds a row of FIGURES, which are of the executions from FIRST to END of RECORD. */
static void add_row(const res_record *record, const char *graph, const json_t *figures,
                    size_t first, size_t end, json_t *rows)
{
    const json_t *estimate = res_record_estimate(record);
    const res_execution *x = record->executions;
    json_t *row = json_object();
    res_json_identity(row, "estimate", record);
    json_object_set_new(row, "estimated", json_true());
    json_object_set_new(row, "topology", known_text(record, RES_PROV_ESTIMATE_TOPOLOGY));
    json_object_set_new(row, "layouts", known_text(record, RES_PROV_ESTIMATE_LAYOUTS));
    json_object_set_new(row, "class", known_text(record, RES_PROV_ESTIMATE_CLASS));
    json_object_set_new(row, "graph", res_json_text(graph));
    /* Figures of a graph are of one execution; those of the whole step have all of them. */
    json_object_set_new(row, "per_step",
                        figures == estimate ? json_null() : json_integer(x[first].per_step));
    json_object_set_new(row, "estimated_cycles",
                        res_json_real(res_estimate_number(figures, "cycles")));
    json_object_set_new(row, "estimated_copy_cycles",
                        res_json_real(res_estimate_number(figures, "copy_cycles")));
    json_object_set_new(row, "estimated_ns",
                        res_json_real(1e6 * res_estimate_number(figures, "ms")));
    json_object_set_new(row, "clock_ghz",
                        res_json_real(res_estimate_number(estimate, "clock_ghz")));
    json_object_set_new(row, "clock_source", known_text(record, RES_PROV_ESTIMATE_CLOCK_SOURCE));
    json_object_set_new(row, "peak_bytes", known_bytes(res_largest_known(peak_at, x, first, end)));
    json_object_set_new(row, "memory_bytes",
                        known_bytes(res_estimate_number(estimate, "memory_bytes")));
    json_object_set_new(row, "device_peak_bytes",
                        known_bytes(res_largest_known(device_peak_at, x, first, end)));
    for (size_t i = 0; i < LACKS; i++)
        json_object_set_new(row, lacks[i].name, known_count(figures, lacks[i].name));
    json_array_append_new(rows, row);
}

/* A row for one execution of each graph and, of a step of several executions, one for all; of a
 * step without an estimate one that says why. */
static json_t *rows_of(const res_record *record)
{
    const json_t *estimate = res_record_estimate(record);
    const json_t *graphs = res_provenance(record, RES_PROV_ESTIMATE_GRAPHS);
    const size_t count = record->execution_count;
    json_t *rows = json_array();
    bool once = count == 1;
    const char *whole = once && record->status != BN_OK ? record->executions[0].graph : "all";
    for (size_t i = 0; i < count && record->status == BN_OK; i++) {
        const res_execution *x = &record->executions[i];
        add_row(record, x->graph, json_array_get(graphs, i), i, i + 1, rows);
        once = once && x->per_step == 1;
    }
    if (!once || record->status != BN_OK)
        add_row(record, whole, estimate, 0, count, rows);
    return rows;
}

static int by_experiment(const void *a, const void *b)
{
    const res_record *l = *(const res_record *const *)a, *r = *(const res_record *const *)b;
    const int order = res_experiment_order(&l->experiment, &r->experiment);
    return order ? order : strcmp(l->id, r->id);
}

/* Lists the latest record of each experiment in order; for free. */
static res_row_group *latest_of(const res_collection *all, size_t *count)
{
    const res_record **list = bn_zalloc(all->count, sizeof(const res_record *));
    res_row_group *groups = bn_zalloc(all->count, sizeof *groups);
    *count = 0;
    for (size_t i = 0; i < all->count; i++)
        list[i] = all->records[i];
    qsort(list, all->count, sizeof(const res_record *), by_experiment);
    for (size_t i = 0; i < all->count; i++)
        if (i + 1 == all->count ||
            res_experiment_order(&list[i]->experiment, &list[i + 1]->experiment) != 0)
            groups[(*count)++] = (res_row_group){list[i], rows_of(list[i])};
    free(list);
    return groups;
}

/* Says what the estimates of GROUPS lack; nothing where they lack nothing. */
static void put_lacks(const res_row_group *groups, size_t count, bn_text *note)
{
    for (size_t k = 0; k < LACKS; k++) {
        size_t steps = 0;
        for (size_t i = 0; i < count; i++)
            steps += res_estimate_number(res_record_estimate(groups[i].record), lacks[k].name) > 0;
        if (steps)
            bn_text_printf(note, "%s%zu of %zu steps %s", note->length ? "; in " : "Too low: in ",
                           steps, count, lacks[k].words);
    }
    if (note->length)
        bn_text_puts(note, ". JSON and CSV have the numbers of each graph.");
}

void res_table_estimates(const res_collection *all, res_format format, bn_text *out)
{
    static const res_column columns[] = {
        {"graph", "graph", RES_CELL_TEXT, false},
        {"per_step", "a step", RES_CELL_COUNT, false},
        {"class", "estimate", RES_CELL_TEXT, false},
        {"estimated_cycles", "estimated cycles", RES_CELL_AMOUNT, false},
        {"estimated_copy_cycles", "copies", RES_CELL_AMOUNT, false},
        {"estimated", "estimated time", RES_CELL_TIME, false},
        {"clock_ghz", "GHz", RES_CELL_TEXT, true},
        {"device_peak", "peak", RES_CELL_SIZE, false},
        {"memory", "of memory", RES_CELL_SIZE, false},
        {NULL, NULL, RES_CELL_TEXT, false}};
    bn_text lacking = {0};
    const char *notes[] = {
        "Estimated by each runtime's compiler. Nothing was executed, and no measured figure is "
        "compared with these.",
        "estimated time: the estimated cycles at the published clock; \"-\": unknown.",
        "peak: on the device, without what the compiler puts into the host's memory.", NULL, NULL};
    size_t count = 0;
    res_row_group *groups = latest_of(all, &count);
    put_lacks(groups, count, &lacking);
    notes[sizeof notes / sizeof *notes - 2] = lacking.data;
    res_put_groups("Estimated, not measured", groups, count, columns, RES_MOST_ROWS, notes, format,
                   out);
    bn_text_free(&lacking);
    for (size_t i = 0; i < count; i++)
        json_decref(groups[i].rows);
    free(groups);
}

const res_table_kind res_table_of_estimates = {
    "estimates", "of bench estimate --store: nothing was measured", res_table_estimates};
