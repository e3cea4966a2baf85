/*
 * format.c - figures for people, names of table formats, headings.
 */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bn_code res_format_parse(const char *name, res_format *format, bn_status *st)
{
    static const char *const names[] = {"text", "md", "csv", "json", "latex", "html"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            *format = (res_format)i;
            return BN_OK;
        }
    }
    return bn_fail(st, BN_INVALID,
                   "table format \"%s\" is not one of text, md, csv, json, latex, html", name);
}

/* A unit, and how many decimals leave three significant digits in it. */
typedef struct scale {
    double divisor;
    const char *unit;
    int decimals;
} scale;

/* The largest of COUNT units, each STEP times the one before, in which VALUE is
 * still 1 or more once it is rounded to three digits. */
static scale scale_of(double value, double step, const char *const *units, size_t count)
{
    scale s = {1, units[0], 0};
    value = fabs(value);
    for (size_t i = 1; i < count && value / s.divisor >= step * 0.9995; i++) {
        s.divisor *= step;
        s.unit = units[i];
    }
    double scaled = value / s.divisor;
    if (s.divisor > 1)
        s.decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    return s;
}

static scale time_scale(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scale_of(ns, 1000, units, 4);
}

res_figure res_time(double ns)
{
    res_figure figure = {"-"};
    if (!isfinite(ns))
        return figure;
    scale s = time_scale(ns);
    snprintf(figure.text, sizeof figure.text, "%.*f %s", s.decimals, ns / s.divisor, s.unit);
    return figure;
}

res_figure res_time_difference(res_interval ns)
{
    if (!(ns.low <= 0 && ns.high >= 0))
        return res_time(ns.estimate);
    res_figure bound = res_time(ns.high), figure;
    snprintf(figure.text, sizeof figure.text, "< %.*s", (int)sizeof figure.text - 3, bound.text);
    return figure;
}

res_figure res_time_range(double estimate_ns, double low_ns, double high_ns)
{
    res_figure figure = {""};
    if (!isfinite(estimate_ns) || !isfinite(low_ns) || !isfinite(high_ns))
        return figure;
    scale s = time_scale(estimate_ns);
    snprintf(figure.text, sizeof figure.text, "[%.*f, %.*f]", s.decimals, low_ns / s.divisor,
             s.decimals, high_ns / s.divisor);
    return figure;
}

/* Steps below 0.1 s in microseconds with one decimal, others in milliseconds
 * with three: a tenth of a microsecond is what a clock can tell. */
#define ALIGNED_LIMIT_NS 1e8

const char *res_time_aligned_unit(double scale_ns)
{
    return scale_ns < ALIGNED_LIMIT_NS ? "us" : "ms";
}

res_figure res_time_aligned(double ns, double scale_ns)
{
    res_figure figure = {"-"};
    if (!isfinite(ns))
        return figure;
    if (scale_ns < ALIGNED_LIMIT_NS)
        snprintf(figure.text, sizeof figure.text, "%.1f", ns / 1e3);
    else
        snprintf(figure.text, sizeof figure.text, "%.3f", ns / 1e6);
    return figure;
}

static int ratio_decimals(double ratio)
{
    return ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;
}

res_figure res_ratio(double ratio)
{
    res_figure figure = {"-"};
    if (isfinite(ratio))
        snprintf(figure.text, sizeof figure.text, "%.*fx", ratio_decimals(ratio), ratio);
    return figure;
}

res_figure res_ratio_range(double low, double high)
{
    res_figure figure = {""};
    if (isfinite(low) && isfinite(high))
        snprintf(figure.text, sizeof figure.text, "[%.*f, %.*f]", ratio_decimals(high), low,
                 ratio_decimals(high), high);
    return figure;
}

res_figure res_size(int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    res_figure figure = {"-"};
    if (bytes < 0)
        return figure;
    scale s = scale_of((double)bytes, 1024, units, 5);
    snprintf(figure.text, sizeof figure.text, "%.*f %s", s.decimals, (double)bytes / s.divisor,
             s.unit);
    return figure;
}

res_figure res_amount(double amount)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    res_figure figure = {"-"};
    if (!isfinite(amount) || amount <= 0)
        return figure;
    scale s = scale_of(amount, 1000, units, 6);
    snprintf(figure.text, sizeof figure.text, "%.*f%s", s.decimals, amount / s.divisor, s.unit);
    return figure;
}

void res_put_heading(bn_text *out, res_format format, int level, const char *title)
{
    static const char *const before[][2] = {[RES_TABLE_MARKDOWN] = {"## ", "### "},
                                            [RES_TABLE_LATEX] = {"\\section*{", "\\subsection*{"},
                                            [RES_TABLE_HTML] = {"<h1>", "<h2>"}};
    static const char *const after[][2] = {
        [RES_TABLE_LATEX] = {"}", "}"}, [RES_TABLE_HTML] = {"</h1>", "</h2>"}};
    /* One empty line between what stood there and this. */
    if (out->length > 1 && out->data[out->length - 2] != '\n')
        bn_text_putc(out, '\n');
    if (format != RES_TABLE_TEXT)
        bn_text_puts(out, before[format][level - 1]);
    res_put_escaped(out, format, title);
    if (format == RES_TABLE_LATEX || format == RES_TABLE_HTML)
        bn_text_puts(out, after[format][level - 1]);
    bn_text_putc(out, '\n');
    if (format == RES_TABLE_MARKDOWN || level == 1)
        bn_text_putc(out, '\n');
}

void res_put_note(bn_text *out, res_format format, const char *note)
{
    /* Two spaces end a line in markdown without ending the paragraph. */
    bn_text_puts(out, format == RES_TABLE_HTML ? "<p>" : "");
    res_put_escaped(out, format, note);
    bn_text_puts(out, format == RES_TABLE_MARKDOWN ? "  " : format == RES_TABLE_HTML ? "</p>" : "");
    /* An empty line is LaTeX's paragraph. */
    bn_text_puts(out, format == RES_TABLE_LATEX ? "\n\n" : "\n");
}

void res_put_json(bn_text *out, json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(2) | RES_JSON_REALS);
    if (text) {
        bn_text_puts(out, text);
        bn_text_putc(out, '\n');
    } else {
        out->failed = true;
    }
    free(text);
}
