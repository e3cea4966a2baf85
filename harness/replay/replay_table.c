/*
 * replay_table.c - recorded and replayed times side by side, and their explanation.
 */
#include "harness/replay/replay_priv.h"

#include "results/findings/findings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Figures of one runtime. */
typedef struct figures {
    res_over wall[REPLAY_VARIANTS]; /* of a step */
    res_over device;                /* of all its executions together */
    bool have[REPLAY_VARIANTS];
    bool simulated, opaque;
    res_pool pool; /* of those back to back */
    res_figures of;
} figures;

static const res_over unknown = {.value = {(double)NAN, (double)NAN, (double)NAN}};

static bool some_good(res_record *const *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (records[i]->status == BN_OK)
            return true;
    return false;
}

/* To be ended with end_figures. */
static figures make_figures(const replay_result *r)
{
    figures f = {.device = unknown};
    for (int v = 0; v < REPLAY_VARIANTS; v++) {
        const res_record *const *records = (const res_record *const *)r->records[v];
        res_pool pool;
        f.wall[v] = unknown;
        if (!some_good(r->records[v], r->counts[v]))
            continue;
        res_pool_make(records, r->counts[v], &pool);
        const res_figures of = res_pool_figures(&pool);
        f.have[v] = true;
        f.wall[v] = of.wall;
        if (v != REPLAY_QUEUED) {
            res_pool_free(&pool);
            continue;
        }
        f.pool = pool;
        f.of = of;
        f.device = of.device;
        f.simulated = pool.latest && pool.latest->simulated;
        f.opaque = pool.latest && strcmp(pool.latest->values, "opaque") == 0;
    }
    return f;
}

static void end_figures(figures *f)
{
    if (f->have[REPLAY_QUEUED])
        res_pool_free(&f->pool);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static json_t *over_json(const res_over *o)
{
    return json_pack("{so so so sI}", "ns", res_json_real(o->value.estimate), "low_ns",
                     res_json_real(o->value.low), "high_ns", res_json_real(o->value.high),
                     "processes", (json_int_t)o->processes);
}

/* The recorded program of row INDEX of the request. */
static const json_t *program_at(const job_step *s, size_t index)
{
    return json_array_get(json_object_get(s->request, "programs"), index);
}

static double recorded_us(const job_step *s, size_t index)
{
    const json_t *value = json_object_get(program_at(s, index), "device_us");
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static json_t *programs_json(const job_step *s, const figures *f)
{
    json_t *list = json_array();
    const res_record *latest = f->have[REPLAY_QUEUED] ? f->pool.latest : NULL;
    for (size_t i = 0; latest && i < latest->execution_count && i < s->programs; i++) {
        const res_execution *x = &latest->executions[i];
        const res_execution_figures e = res_pool_execution(&f->pool, &f->of, x);
        json_array_append_new(
            list, json_pack("{ss si si si so so so ss}", "name", x->graph, "times", x->per_step,
                            "arguments", x->arguments, "results", x->results, "recorded_device_ns",
                            res_json_real(recorded_us(s, i) * 1e3), "device", over_json(&e.device),
                            "overhead", over_json(&e.overhead), "note", x->device_note));
    }
    return list;
}

static json_t *result_json(const job_step *s, const replay_result *r)
{
    figures f = make_figures(r);
    json_t *json =
        json_pack("{ss sb sb so so so so so}", "runtime", r->experiment->what.runtime, "simulated",
                  (int)f.simulated, "opaque", (int)f.opaque, "back_to_back",
                  over_json(&f.wall[REPLAY_QUEUED]), "one_by_one",
                  over_json(&f.wall[REPLAY_AWAITED]), "paced", over_json(&f.wall[REPLAY_PACED]),
                  "device", over_json(&f.device), "programs", programs_json(s, &f));
    end_figures(&f);
    return json;
}

static void print_json(const job_step *s, const replay_result *results, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, result_json(s, &results[i]));
    json_t *all = json_pack(
        "{ss sO sO sO sO* sO* sI sI sI sI so}", "name", s->name, "recording",
        json_object_get(s->request, "recording"), "recorded",
        json_object_get(s->request, "recorded"), "cost", json_object_get(s->request, "cost"),
        "topology", json_object_get(s->request, "topology"), "host",
        json_object_get(s->request, "host"), "programs", (json_int_t)s->programs, "executions",
        (json_int_t)s->executions, "inputs", (json_int_t)s->inputs, "carried",
        (json_int_t)s->carried, "runtimes", list);
    cli_json(all);
    json_decref(all);
}

/* ---- sheets ------------------------------------------------------------------------------- */

/* NS in units of SCALE nanoseconds. */
static void put_time(json_t *row, double ns, double scale)
{
    if (isfinite(ns))
        res_sheet_put(row, "%.*f", fabs(ns) < 0.1 * scale ? 5 : 3, ns / scale);
    else
        res_sheet_put(row, "%s", RES_UNKNOWN_TEXT);
}

/* Puts a difference of two measured times, as other tables show it. */
static void put_difference(json_t *row, res_interval ns, double scale)
{
    if (res_difference_shows(ns) == RES_DIFFERENCE_BELOW)
        res_sheet_put(row, "< %.3f", ns.high / scale);
    else
        put_time(row, ns.estimate, scale);
}

static void put_line(json_t *rows, const char *what, res_interval ns, double of)
{
    json_t *row = json_array();
    res_sheet_put(row, "%s", what);
    put_time(row, ns.estimate, 1e6);
    if (isfinite(ns.low) && isfinite(ns.high))
        res_sheet_put(row, "%.3f to %.3f", ns.low / 1e6, ns.high / 1e6);
    else
        res_sheet_put(row, "%s", "");
    if (isfinite(ns.estimate) && of > 0)
        res_sheet_put(row, "%.2f", ns.estimate / of);
    else
        res_sheet_put(row, "%s", "");
    json_array_append_new(rows, row);
}

static void put_steps(const job_step *s, const figures *f, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"a step", false}, {"ms", true}, {"95 %", true}, {"of recorded wall", true}};
    const double none = (double)NAN;
    json_t *rows = json_array();
    put_line(rows, "recorded: wall", (res_interval){s->wall_ns, none, none}, s->wall_ns);
    put_line(rows, "recorded: device busy", (res_interval){s->device_ns, none, none}, s->wall_ns);
    put_line(rows, "replay: back to back", f->wall[REPLAY_QUEUED].value, s->wall_ns);
    put_line(rows, "replay: one by one", f->wall[REPLAY_AWAITED].value, s->wall_ns);
    put_line(rows, "replay: with the host's time", f->wall[REPLAY_PACED].value, s->wall_ns);
    put_line(rows, "replay: device", f->device.value, s->wall_ns);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

static void put_programs(const job_step *s, const figures *f, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"program", false},           {"times", true},     {"arguments", true},  {"results", true},
        {"recorded device us", true}, {"device us", true}, {"overhead us", true}};
    const res_record *latest = f->pool.latest;
    json_t *rows = json_array();
    for (size_t i = 0; i < latest->execution_count && i < s->programs; i++) {
        const res_execution *x = &latest->executions[i];
        const res_execution_figures e = res_pool_execution(&f->pool, &f->of, x);
        json_t *row = json_array();
        res_sheet_put(row, "%s", x->graph);
        res_sheet_put(row, "%d", x->per_step);
        res_sheet_put(row, "%d", x->arguments);
        res_sheet_put(row, "%d", x->results);
        put_time(row, recorded_us(s, i) * 1e3, 1e3);
        put_time(row, e.device.value.estimate, 1e3);
        put_difference(row, e.overhead.value, 1e3);
        json_array_append_new(rows, row);
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- words -------------------------------------------------------------------------------- */

static void put_head(const job_step *s, bn_text *out)
{
    bn_text_printf(
        out, "%s: recorded process %u%s%s, %zu steady steps of %zu execution%s of %zu %s.\n",
        s->name, s->pid, s->framework[0] ? ", " : "", s->framework, s->steady, s->executions,
        s->executions == 1 ? "" : "s", s->programs, s->programs == 1 ? "program" : "programs");
    if (s->variant[0])
        bn_text_printf(out, "Shapes change: it is variant %s (--variant takes another).\n",
                       s->variant);
    bn_text_printf(out,
                   "Inputs: %zu, %.1f MB, made up; %zu of them are results of the step before.\n",
                   s->inputs, s->input_bytes / 1e6, s->carried);
}

/* The costs of opaque programs. */
static void put_cost(const job_step *s, bn_text *out)
{
    const char *cost = json_string_value(json_object_get(s->request, "cost"));
    const char *topology = json_string_value(json_object_get(s->request, "topology"));
    bn_text_puts(out, "The device is simulated and cannot read these programs: they are opaque, "
                      "and compute nothing.\n");
    if (topology)
        bn_text_printf(out, "Their times are the estimates of the compiler of %s.\n", topology);
    else if (cost && strcmp(cost, "roofline") == 0)
        bn_text_puts(out,
                     "Their times are the roofline's, of the compiler's FLOPs and bytes in the "
                     "recording.\n");
    else
        bn_text_puts(out, "Their times are the recorded device times.\n");
}

/* The assumptions of the paced variant. */
static void put_pace(const job_step *s, bn_text *out)
{
    bn_text_printf(
        out,
        "With the host's time, the host is busy before each execution for as long as the "
        "recorded host was:\n%.3f ms of work and %.3f ms of rest a step, on any runtime.\n%s\n"
        "Dispatch is this runtime's own. Recorded transfers and reads are left out.\n",
        s->host_ns / 1e6, s->idle_ns / 1e6,
        s->ahead ? "The recorded host did not wait before each next step, so two steps "
                   "are in flight."
                 : "It waits for the device where the recorded host did.");
    if (!s->cpu_clocks)
        bn_text_puts(out, "CPU clocks were not recorded: the host's waits outside of calls count "
                          "as work.\n");
}

static void put_words(const job_step *s, const figures *f, bn_text *out)
{
    const double queued_ns = f->wall[REPLAY_QUEUED].value.estimate;
    if (isfinite(queued_ns) && s->wall_ns > 0 && !f->simulated)
        bn_text_printf(
            out,
            "\nBack to back a step takes %.2f of the recorded wall.\nThe missing gaps of the host, "
            "made-up values and the load of the machine all change it.\n",
            queued_ns / s->wall_ns);
    bn_text_printf(
        out,
        "%sBack to back, there are no gaps between executions. A replay fuses no programs and "
        "sends no batches.\n",
        f->simulated ? "\n" : "");
    if (f->have[REPLAY_PACED])
        put_pace(s, out);
    if (f->opaque)
        put_cost(s, out);
}

/* FIRST: with the head of the page. */
static void put_result(const job_step *step, const replay_result *result, res_format format,
                       bool first, bn_text *out)
{
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    figures f = make_figures(result);
    if (!f.have[REPLAY_QUEUED] && !f.have[REPLAY_AWAITED] && !f.have[REPLAY_PACED])
        return; /* the reason was reported */
    if (people && first) {
        bn_text head = {0};
        put_head(step, &head);
        res_put_lines(out, format, head.data);
        bn_text_free(&head);
    }
    if (people)
        bn_text_printf(out, "\nOn %s%s:\n\n", result->experiment->what.runtime,
                       f.opaque      ? " (simulated, opaque)"
                       : f.simulated ? " (simulated)"
                                     : "");
    put_steps(step, &f, format, out);
    if (people)
        bn_text_putc(out, '\n');
    if (f.have[REPLAY_QUEUED])
        put_programs(step, &f, format, out);
    if (f.have[REPLAY_QUEUED] && people) {
        bn_text words = {0};
        put_words(step, &f, &words);
        res_put_lines(out, format, words.data);
        bn_text_free(&words);
    }
    end_figures(&f);
}

void replay_print(const job_step *step, const replay_result *results, size_t count,
                  res_format format, const cli_output *output)
{
    bn_text out = {0}, wide = {0};
    if (format == RES_TABLE_JSON) {
        print_json(step, results, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        put_result(step, &results[i], format, out.length == 0, &out);
    for (size_t i = 0; i < count && cli_is_narrow(output); i++)
        put_result(step, &results[i], RES_TABLE_TEXT, wide.length == 0, &wide);
    cli_show_either(&out, &wide);
}
