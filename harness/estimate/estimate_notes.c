/*
 * estimate_notes.c - notes on estimates, a sentence a line: source, clocks, copies, loops, and
 * operations that are left out.
 */
#include "harness/estimate/estimate_priv.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>

#define MOST_NAMED  3 /* copies that a sentence names */
#define MOST_SILENT 8 /* opcodes without an estimate */

static const json_t *list_of(const json_t *line, const char *name)
{
    return json_object_get(json_object_get(line, "estimate"), name);
}

static double number_of(const json_t *item, const char *name)
{
    const json_t *value = json_object_get(item, name);
    return json_is_number(value) ? json_number_value(value) : -1;
}

/* "resnet50 train b32 f32, forward, on v4:1x1x1". */
static void put_subject(bn_text *out, const json_t *line)
{
    char title[ESTIMATE_TITLE];
    const json_t *of = json_object_get(line, "of");
    estimate_title(line, title, sizeof title);
    bn_text_puts(out, title);
    if (json_integer_value(of) > 1)
        bn_text_printf(out, ", %s", res_json_get_text(line, "graph"));
    bn_text_printf(out, ", on %s", res_json_get_text(line, "topology"));
    if (strcmp(res_json_get_text(line, "layouts"), "auto") == 0)
        bn_text_puts(out, ", layouts auto");
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Whether no line before INDEX has the same topology. */
static bool is_first_of(const json_t *lines, size_t index)
{
    const char *own = res_json_get_text(json_array_get(lines, index), "topology");
    for (size_t i = 0; i < index; i++)
        if (strcmp(res_json_get_text(json_array_get(lines, i), "topology"), own) == 0)
            return false;
    return true;
}

static void put_source(const json_t *lines, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *plugin = list_of(json_array_get(lines, i), "plugin");
        if (!json_is_object(plugin))
            continue;
        bn_text_printf(
            out,
            "Estimated by the runtime's compiler (build %.12s, PJRT API %s). Nothing was "
            "executed.\n",
            res_json_get_text(plugin, "sha256"), res_json_get_text(plugin, "api"));
        return;
    }
}

/* The recorded step, on the device of the recording. */
static void put_recorded(const json_t *lines, bn_text *out)
{
    const json_t *recorded = json_object_get(json_array_get(lines, 0), "recorded");
    const double wall = number_of(recorded, "wall_ns"), device = number_of(recorded, "device_ns");
    const char *framework = res_json_get_text(recorded, "framework");
    if (!json_is_object(recorded))
        return;
    bn_text_printf(out, "Recorded%s%s", framework[0] ? " of " : "", framework);
    if (wall >= 0)
        bn_text_printf(out, ": a step took %.4g ms", wall / 1e6);
    if (wall >= 0 && device >= 0)
        bn_text_printf(out, ", %.4g ms of it device time", device / 1e6);
    bn_text_puts(out, ". Programs are compiled as the framework passed them, without the recorded "
                      "compile options. The estimate does not include the host.\n");
}

static void put_clocks(const json_t *lines, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const double ghz = number_of(line, "clock_ghz");
        if (!is_first_of(lines, i))
            continue;
        if (ghz > 0)
            bn_text_printf(out, "Clock of %s: %.2f GHz, published: %s.\n",
                           res_json_get_text(line, "topology"), ghz,
                           res_json_get_text(line, "clock_source"));
        else
            bn_text_printf(out, "Clock of %s unknown: none was published, so cycles only.\n",
                           res_json_get_text(line, "topology"));
    }
}

/* ---- copies ------------------------------------------------------------------ */

/* Millions, with as many digits as small ones need. */
static void put_mega(bn_text *out, double cycles)
{
    bn_text_printf(out, "%.*f", cycles < 1e6 ? 4 : 2, cycles / 1e6);
}

static void put_copies(const json_t *line, bn_text *out)
{
    const json_t *copies = list_of(line, "copies");
    const size_t count = estimate_count(line, "copies", NULL);
    const double cycles = estimate_figure(line, NULL, "cycles");
    const double moved = estimate_figure(line, NULL, "copy_cycles");
    if (count == 0 || cycles <= 0)
        return;
    put_subject(out, line);
    bn_text_printf(out, ": %zu cop%s an estimated ", count, count == 1 ? "y takes" : "ies take");
    put_mega(out, moved);
    bn_text_printf(out, " Mcycles (%.1f %%), ", 100 * moved / cycles);
    put_mega(out, estimate_figure(line, NULL, "layout_cycles"));
    bn_text_puts(out, " of them to change layouts: ");
    for (size_t i = 0; i < count && i < MOST_NAMED; i++) {
        const json_t *item = json_array_get(copies, i);
        bn_text_printf(out, "%s%s (%s, ", i ? ", " : "", res_json_get_text(item, "name"),
                       res_json_get_text(item, "what"));
        put_mega(out, number_of(item, "cycles"));
        bn_text_putc(out, ')');
    }
    if (count > MOST_NAMED)
        bn_text_printf(out, " and %zu more", count - MOST_NAMED);
    bn_text_puts(out, ".\n");
}

/* The bytes that the program offloads to the host's memory, and those that the compiler puts there.
 */
static void put_offload(const json_t *line, bn_text *out)
{
    const double asked = number_of(line, "offload_bytes");
    const double there = estimate_figure(line, "memory", "host_temp");
    if (asked <= 0)
        return;
    put_subject(out, line);
    bn_text_puts(out, ": offload to the host's memory: ");
    estimate_put_amount(out, asked, "B");
    bn_text_puts(out, there < 0       ? "; whether the compiler does so is unknown"
                      : there == 0    ? "; the compiler DROPS it and offloads nothing"
                      : there < asked ? "; the compiler offloads only "
                                      : "; the compiler offloads ");
    if (there > 0)
        estimate_put_amount(out, there, "B");
    bn_text_puts(out, ".\n");
}

/* ---- operations that are left out -------------------------------------------- */

static void put_loops(const json_t *line, bn_text *out)
{
    const json_t *loops = list_of(line, "loops");
    for (size_t i = 0; i < json_array_size(loops); i++) {
        const json_t *loop = json_array_get(loops, i);
        const double trips = number_of(loop, "times"), more = number_of(loop, "count");
        if (more >= 0) {
            put_subject(out, line);
            bn_text_printf(out, ": %.0f more loops; the iterations of %.0f are unknown.\n", more,
                           number_of(loop, "without_times"));
            continue;
        }
        put_subject(out, line);
        if (trips >= 0) {
            bn_text_printf(out, ": loop %s runs %.0f iterations, an estimated ",
                           res_json_get_text(loop, "name"), trips);
            put_mega(out, number_of(loop, "cycles"));
            bn_text_puts(out, " Mcycles in all.\n");
        } else
            bn_text_printf(out,
                           ": the iterations of loop %s are unknown: %s; its body counts once, so "
                           "the estimate is too low.\n",
                           res_json_get_text(loop, "name"), res_json_get_text(loop, "why"));
    }
    if (json_array_size(list_of(line, "branches"))) {
        put_subject(out, line);
        const size_t count = estimate_count(line, "branches", NULL);
        bn_text_printf(out, ": %zu conditional%s: only the most costly branch of each counts.\n",
                       count, count == 1 ? "" : "s");
    }
}

static void put_collectives(const json_t *line, bn_text *out)
{
    const json_t *list = list_of(line, "collectives");
    const size_t all = estimate_count(line, "collectives", "cycles");
    size_t silent = 0;
    bn_text names = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (number_of(item, "cycles") >= 0)
            continue;
        if (silent < MOST_NAMED)
            bn_text_printf(&names, "%s%s", silent ? ", " : "", res_json_get_text(item, "name"));
        silent++;
    }
    if (all) {
        put_subject(out, line);
        bn_text_printf(out, ": %zu collective%s without an estimate, not in the sum: %s%s.\n", all,
                       all == 1 ? "" : "s", names.data ? names.data : "",
                       all > MOST_NAMED ? ", ..." : "");
    }
    bn_text_free(&names);
}

static void put_silent(const json_t *line, bn_text *out)
{
    const json_t *list = list_of(line, "silent");
    if (json_array_size(list) == 0)
        return;
    put_subject(out, line);
    const size_t count = json_array_size(list);
    bn_text_puts(out, ": without an estimate, not in the sum: ");
    for (size_t i = 0; i < count && i < MOST_SILENT; i++) {
        const json_t *item = json_array_get(list, i);
        bn_text_printf(out, "%s%.0f %s", i ? ", " : "", number_of(item, "times"),
                       res_json_get_text(item, "name"));
    }
    if (count > MOST_SILENT)
        bn_text_printf(out, " and %zu other operations", count - MOST_SILENT);
    bn_text_puts(out, ".\n");
}

/* Options that make LINE's step smaller; none for a recorded step, whose programs are fixed. */
static void put_remedies(const json_t *line, bn_text *out)
{
    res_experiment what;
    if (!estimate_what(line, &what) || estimate_is_recorded(&what))
        return;
    model_info info;
    const bool saves = strcmp(what.phase, "train") == 0 && strcmp(what.offload, "none") == 0 &&
                       model_describe_named(what.model, &info) && info.scans;
    bn_text_puts(out, " Try a smaller --batch");
    if (strcmp(what.dtype, "f32") == 0)
        bn_text_puts(out, ", --dtype bf16");
    if (saves)
        bn_text_puts(out, strcmp(what.remat, "layer") == 0
                              ? ", --offload activations"
                              : ", --scan on --remat layer, and with these --offload activations");
    bn_text_putc(out, '.');
}

static void put_failure(const json_t *line, bn_text *out)
{
    const double used = estimate_figure(line, NULL, "used_bytes");
    const double limit = estimate_figure(line, NULL, "limit_bytes");
    put_subject(out, line);
    if (strcmp(res_json_get_text(line, "class"), ESTIMATE_MEMORY) != 0) {
        bn_text_printf(out, ": %s: %s\n", res_json_get_text(line, "class"),
                       res_json_get_text(line, "message"));
        return;
    }
    bn_text_puts(out, ": the compiler finds too little device memory");
    if (used >= 0 && limit >= 0) {
        bn_text_puts(out, ": it needs ");
        estimate_put_amount(out, used, "B");
        bn_text_puts(out, " of ");
        estimate_put_amount(out, limit, "B");
        bn_text_puts(out, ", ");
        estimate_put_amount(out, used - limit, "B");
        bn_text_puts(out, " too much");
    }
    bn_text_printf(out, " (%s).", res_json_get_text(line, "message"));
    put_remedies(line, out);
    bn_text_putc(out, '\n');
}

void estimate_notes(const json_t *lines, bn_text *out)
{
    put_source(lines, out);
    put_recorded(lines, out);
    put_clocks(lines, out);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (!estimate_is_ok(line)) {
            put_failure(line, out);
            continue;
        }
        put_copies(line, out);
        put_offload(line, out);
        put_loops(line, out);
        put_collectives(line, out);
        put_silent(line, out);
    }
}
