/*
 * estimate_line.c - figures of a graph, as JSON, sums over a step, and its time.
 *
 * Estimates come from workers and from files, so no member is trusted: one that is missing, of
 * another kind or no number is unknown.
 */
#include "harness/estimate/estimate_priv.h"
#include "models/model.h"
#include "results/records/estimates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const json_t *found_of(const json_t *line, const char *part)
{
    const json_t *estimate = json_object_get(line, "estimate");
    return part ? json_object_get(estimate, part) : estimate;
}

double estimate_figure(const json_t *line, const char *part, const char *name)
{
    const json_t *value = json_object_get(found_of(line, part), name);
    const double number = json_is_number(value) ? json_number_value(value) : -1;
    return isfinite(number) && number >= 0 ? number : -1;
}

size_t estimate_count(const json_t *line, const char *name, const char *lacking)
{
    const json_t *items = json_object_get(found_of(line, NULL), name);
    const char *sum = !lacking                         ? "count"
                      : strcmp(lacking, "cycles") == 0 ? "without_cycles"
                                                       : "without_times";
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i), *rest = json_object_get(item, sum);
        const json_t *figure = lacking ? json_object_get(item, lacking) : NULL;
        if (json_is_integer(rest) && json_integer_value(rest) >= 0)
            count += (size_t)json_integer_value(rest);
        else
            count += !lacking || !json_is_number(figure) || json_number_value(figure) < 0;
    }
    return count;
}

bool estimate_is_ok(const json_t *line)
{
    return strcmp(res_json_get_text(line, "class"), ESTIMATE_OK) == 0;
}

bool estimate_sound(const json_t *result)
{
    static const char *const lists[] = {"copies", "collectives", "loops",  "branches",
                                        "scopes", "costly",      "silent", "layouts"};
    const char *class = res_json_get_text(result, "class");
    const json_t *cycles = json_object_get(result, "cycles");
    if (strcmp(class, ESTIMATE_MEMORY) == 0 || strcmp(class, ESTIMATE_TOPOLOGY) == 0)
        return true;
    if (strcmp(class, ESTIMATE_OK) != 0 || !json_is_number(cycles) || json_number_value(cycles) < 0)
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!json_is_array(json_object_get(result, lists[i])))
            return false;
    return true;
}

void estimate_time_line(json_t *line)
{
    const char *source = "";
    const double ghz = estimate_clock(res_json_get_text(line, "topology"), &source);
    const double cycles = estimate_is_ok(line) ? estimate_figure(line, NULL, "cycles") : -1;
    json_object_set_new(line, "clock_ghz", ghz > 0 ? json_real(ghz) : json_null());
    json_object_set_new(line, "clock_source", ghz > 0 ? json_string(source) : json_null());
    json_object_set_new(line, "estimated_ms",
                        ghz > 0 && cycles >= 0 ? json_real(cycles / ghz / 1e6) : json_null());
}

size_t estimate_step_end(const json_t *lines, size_t first)
{
    const json_int_t step =
        json_integer_value(json_object_get(json_array_get(lines, first), "step"));
    size_t end = first + 1;
    while (end < json_array_size(lines) &&
           json_integer_value(json_object_get(json_array_get(lines, end), "step")) == step)
        end++;
    return end;
}

double estimate_times(const json_t *line)
{
    const double times = json_number_value(json_object_get(line, "times_a_step"));
    return times > 0 ? times : 1;
}

/* The sum; OF_STEP: each counts as often as the step executes it. */
static double sum_of(const json_t *lines, size_t first, size_t end, const char *part,
                     const char *name, bool of_step)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const json_t *line = json_array_get(lines, i);
        const double figure = estimate_figure(line, part, name);
        if (figure < 0)
            return -1;
        sum += figure * (of_step ? estimate_times(line) : 1);
    }
    return sum;
}

double estimate_sum_of_step(const json_t *lines, size_t first, size_t end, const char *name)
{
    return sum_of(lines, first, end, NULL, name, true);
}

double estimate_sum(const json_t *lines, size_t first, size_t end, const char *part,
                    const char *name)
{
    return sum_of(lines, first, end, part, name, false);
}

/* A figure of lines. */
typedef struct line_figure {
    const json_t *lines;
    const char *part, *name;
} line_figure;

static double figure_at(const void *context, size_t index)
{
    const line_figure *f = context;
    return estimate_figure(json_array_get(f->lines, index), f->part, f->name);
}

double estimate_largest(const json_t *lines, size_t first, size_t end, const char *part,
                        const char *name)
{
    const line_figure figure = {lines, part, name};
    return res_largest_known(figure_at, &figure, first, end);
}

bool estimate_is_recorded(const res_experiment *what)
{
    return strcmp(what->phase, "program") == 0;
}

double estimate_ms(const json_t *line)
{
    const json_t *value = json_object_get(line, "estimated_ms");
    return json_is_number(value) ? json_number_value(value) : -1;
}

double estimate_sum_ms(const json_t *lines, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const json_t *line = json_array_get(lines, i);
        const double ms = estimate_ms(line);
        if (ms < 0)
            return -1;
        sum += ms * estimate_times(line);
    }
    return sum;
}

double estimate_wall_ms(const json_t *lines, size_t first, size_t end)
{
    double ends = 0;
    for (size_t i = first; i < end; i++) {
        const json_t *line = json_array_get(lines, i);
        const json_t *submitted = json_object_get(line, "submitted_ns");
        const double ms = estimate_ms(line);
        if (ms < 0 || !json_is_number(submitted))
            return -1;
        const double begins = json_number_value(submitted) / 1e6;
        ends = (begins > ends ? begins : ends) + ms * estimate_times(line);
    }
    return ends;
}

const char *estimate_class(const json_t *lines, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!estimate_is_ok(json_array_get(lines, i)))
            return res_json_get_text(json_array_get(lines, i), "class");
    return ESTIMATE_OK;
}

json_t *estimate_words(const char *first, const char *const *list)
{
    json_t *array = json_array();
    if (first)
        json_array_append_new(array, res_json_text(first));
    for (; list && *list; list++)
        json_array_append_new(array, res_json_text(*list));
    return array;
}

bool estimate_what(const json_t *line, res_experiment *what)
{
    bn_status ignored = {.code = BN_OK};
    return res_experiment_from_json(json_object_get(line, "experiment"), what, &ignored) == BN_OK;
}

/* WHAT with sizes of 0, the default, in place of the model's own. */
static res_experiment without_own_sizes(const res_experiment *what)
{
    res_experiment asked = *what;
    model_info info;
    if (!model_describe_named(what->model, &info))
        return asked;
    const bool small = strncmp(what->variant, "small", 5) == 0;
    if (what->image == (small ? info.small_image : info.default_image))
        asked.image = 0;
    if (what->seq == (small ? info.small_seq : info.default_seq))
        asked.seq = 0;
    return asked;
}

void estimate_put_setup(const res_experiment *what, res_axis_set more, bn_text *out)
{
    res_setup_text(what,
                   RES_AXIS_BIT(RES_AXIS_IMAGE) | RES_AXIS_BIT(RES_AXIS_SEQ) |
                       RES_AXIS_BIT(RES_AXIS_OPTIMIZER) | RES_AXIS_BIT(RES_AXIS_DROPOUT) | more,
                   out);
}

void estimate_step_title(const res_experiment *what, char *text, size_t size)
{
    if (estimate_is_recorded(what)) {
        snprintf(text, size, "%s %s", what->model, what->variant);
        return;
    }
    const res_axis_set layers = RES_AXIS_BIT(RES_AXIS_DEPTH) | RES_AXIS_BIT(RES_AXIS_SCAN) |
                                RES_AXIS_BIT(RES_AXIS_REMAT) | RES_AXIS_BIT(RES_AXIS_OFFLOAD);
    const res_experiment asked = without_own_sizes(what);
    const bool full = strcmp(what->variant, "full") == 0;
    bn_text words = {0};
    estimate_put_setup(&asked, layers, &words);
    snprintf(text, size, "%s%s%s %s b%d %s%s%s", what->model, full ? "" : " ",
             full ? "" : what->variant, what->phase, what->batch, what->dtype,
             words.length ? ", " : "", words.length ? words.data : "");
    bn_text_free(&words);
}

void estimate_title(const json_t *line, char *text, size_t size)
{
    res_experiment what;
    text[0] = '\0';
    if (estimate_what(line, &what))
        estimate_step_title(&what, text, size);
}

void estimate_put_amount(bn_text *out, double amount, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t k = 0;
    if (amount < 0 || !isfinite(amount)) {
        bn_text_puts(out, "-");
        return;
    }
    /* 999.7 would be shown with four digits. */
    for (; amount >= 999.5 && k + 1 < sizeof prefixes / sizeof *prefixes; k++)
        amount /= 1000;
    const int decimals = k == 0 && amount == floor(amount) ? 0
                         : amount < 9.995                  ? 2
                         : amount < 99.95                  ? 1
                                                           : 0;
    bn_text_printf(out, "%.*f %s%s", decimals, amount, prefixes[k], unit);
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}
