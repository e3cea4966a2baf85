/*
 * metrics_lines.c - the lines of a text with reports as a list of metrics and counters. Programs
 * print reports between other lines: a line of no report is skipped, and counted. A line of a
 * report whose value cannot be read is refused with its number.
 *
 * The indent of a line decides what it belongs to. PyTorch/XLA of 2019 called the sum of a metric
 * "Counter", too: as a line of the metric, deeper than a counter of the report.
 */
#include "results/metrics/metrics_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer lines are of no report. */
#define MOST_LINE 4096
#define MOST_NAME 1024
#define NO_INDENT SIZE_MAX

typedef struct reading {
    res_metrics_lines *out;
    size_t room;
    size_t line;                  /* the number of the line that is read */
    bool open;                    /* figures of the last entry may follow, */
    size_t indent, figure_indent; /* which stand so deep: the entry, and its figures */
    bool titled, ours;            /* the next entry begins a report; it is of bench */
    char title[MOST_NAME];        /* which has this title */
    bool is_figure;               /* the line is */
    bn_status *st;
} reading;

/* The rest of LINE behind HEAD, if it begins with it; else NULL. */
static const char *behind(const char *line, const char *head)
{
    const size_t length = strlen(head);
    return strncmp(line, head, length) == 0 ? line + length : NULL;
}

static void leave_out(res_metrics_left *left, size_t line)
{
    if (left->count++ == 0)
        left->first = line;
}

static bn_code refuse(const reading *r, const char *what, const char *line)
{
    char plain[100];
    bn_plain(line, plain, sizeof plain);
    return bn_fail(r->st, BN_FORMAT, "line %zu: %s: %s", r->line, what, plain);
}

static res_metrics_entry *last(const reading *r)
{
    return &r->out->entries[r->out->count - 1];
}

/* ---- figures ------------------------------------------------------------------------------ */

/* The whole number at TEXT, alone; NULL where there is none. */
static json_t *whole_at(const char *text)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    const bool begins = isdigit((unsigned char)text[text[0] == '-']);
    return begins && *end == '\0' && errno == 0 ? json_integer(value) : NULL;
}

/* Figures of a metric have one unit. bench writes values beyond its units as plain numbers. */
static bool keep_unit(const res_metrics_entry *e, const char *unit)
{
    const char *known = json_string_value(json_object_get(e->object, "unit"));
    if (known && strcmp(known, unit) != 0 && !(e->ours && (!known[0] || !unit[0])))
        return false;
    if (!known || !known[0])
        json_object_set_new(e->object, "unit", json_string(unit));
    return true;
}

/* The figure at *TEXT, which moves behind it (new reference): a number, or null where its writer
 * had none, "nanB". NULL where there is no figure that the metric may have. */
static json_t *figure_at(const res_metrics_entry *e, const char **text)
{
    const bool negative = **text == '-';
    const char *next = *text + negative, *unit = "", *rest;
    double value;
    if ((rest = behind(next, "nan")) || (rest = behind(next, "inf"))) {
        *text = rest + strspn(rest, "KMGTPBdhmsu");
        return json_null();
    }
    if (!res_metrics_figure_read(&next, !e->ours, &value, &unit) || !keep_unit(e, unit))
        return NULL;
    *text = next;
    return res_json_real(negative ? -value : value);
}

/* "1%=001.200us; 5%=...", or nothing where there were no samples (new reference). */
static json_t *percentiles_at(const res_metrics_entry *e, const char *text)
{
    json_t *object = json_object();
    for (bool good = true; *text != '\0';) {
        char name[16] = "";
        const size_t length = strspn(text, "0123456789.");
        json_t *value = NULL;
        good = length > 0 && length < sizeof name && behind(text + length, "%=");
        if (good) {
            memcpy(name, text, length);
            text += length + 2;
            good = !json_object_get(object, name) && (value = figure_at(e, &text));
        }
        if (good && *text != '\0') {
            good = behind(text, "; ") && text[2] != '\0';
            text += 2;
        }
        json_object_set_new(object, name, value);
        if (!good) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* A figure alone, or one that ends as rates do. */
static json_t *alone_at(const res_metrics_entry *e, const char *text)
{
    json_t *value = figure_at(e, &text);
    if (!value || *text == '\0' || strcmp(text, " / second") == 0)
        return value;
    json_decref(value);
    return NULL;
}

/* A number a second, whose unit is none of the metric. */
static json_t *rate_at(const res_metrics_entry *e, const char *text)
{
    const res_metrics_entry other = {.object = json_object(), .ours = e->ours};
    json_t *value = alone_at(&other, text);
    json_decref(other.object);
    return value;
}

/* Lines of a metric, and of a counter; older names follow newer ones. */
static const struct {
    const char *head, *key;
    json_t *(*read)(const res_metrics_entry *e, const char *text);
} figures[] = {
    {"Accumulator:", "sum", alone_at},
    {"Counter:", "sum", alone_at},
    {"ValueRate:", "sum_per_second", alone_at},
    {"Rate:", "samples_per_second", rate_at},
    {"Mean:", "mean", alone_at},
    {"StdDev:", "deviation", alone_at},
    {"Percentiles:", "percentiles", percentiles_at},
    /* Whole numbers: */
    {"TotalSamples:", "samples", NULL},
    {"Value:", "value", NULL},
};

/* Reads LINE as a figure of the last entry, if it is one: then *KNOWN. */
static bn_code read_figure(reading *r, const char *line, bool *known)
{
    const res_metrics_entry *e = last(r);
    const char *text = NULL;
    size_t i = 0;
    while (i < sizeof figures / sizeof *figures && !(text = behind(line, figures[i].head)))
        i++;
    *known = text && (strcmp(figures[i].key, "value") == 0) == e->of_counter;
    if (!*known)
        return BN_OK;
    r->is_figure = true;
    if (json_object_get(e->object, figures[i].key))
        return refuse(r, "the second such figure of one metric or counter", line);
    text += strspn(text, " \t");
    json_t *value = figures[i].read ? figures[i].read(e, text) : whole_at(text);
    if (!value)
        return refuse(r, "an unreadable value, or one of another unit", line);
    json_object_set_new(e->object, figures[i].key, value);
    return BN_OK;
}

/* ---- entries ------------------------------------------------------------------------------ */

/* An entry that lacks some figures is counted, and one without any is not. */
static void end_entry(reading *r)
{
    if (!r->open)
        return;
    res_metrics_entry *e = last(r);
    r->open = false;
    if (!json_object_get(e->object, e->of_counter ? "value" : "samples") ||
        !(e->of_counter || json_object_get(e->object, "sum")))
        leave_out(&r->out->incomplete, e->line);
    if (json_object_size(e->object) > 0)
        return;
    if (e->titled && !r->titled) {
        r->titled = true;
        bn_plain(e->title, r->title, sizeof r->title);
    }
    res_metrics_entry_free(e);
    r->out->count--;
}

static bn_code begin_entry(reading *r, const char *name, bool of_counter, size_t indent)
{
    res_metrics_lines *out = r->out;
    char plain[MOST_NAME];
    end_entry(r);
    if (strlen(name) >= sizeof plain)
        return refuse(r, "a name that is too long", name);
    bn_plain(name, plain, sizeof plain);
    bn_grow(&out->entries, out->count + 1, &r->room, sizeof *out->entries);
    res_metrics_entry *e = &out->entries[out->count++];
    *e = (res_metrics_entry){.object = json_object(),
                             .name = bn_strdup(plain),
                             .title = bn_strdup(r->titled ? r->title : ""),
                             .titled = r->titled,
                             .ours = r->ours,
                             .of_counter = of_counter,
                             .line = r->line};
    r->open = true;
    r->indent = indent;
    r->figure_indent = NO_INDENT;
    r->titled = false;
    return BN_OK;
}

static void begin_report(reading *r, const char *title, bool ours)
{
    end_entry(r);
    bn_plain(title, r->title, sizeof r->title);
    r->titled = true;
    r->ours = ours;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Whether LINE stands where figures of the last entry do. In a text without its indents, they
 * stand as deep as the entry. */
static bool may_be_figure(const reading *r, size_t indent)
{
    return r->open &&
           (r->figure_indent == NO_INDENT ? indent >= r->indent : indent == r->figure_indent);
}

/* Whether the counter NAME, INDENT deep, is the sum of the last metric: a line of it or, where the
 * blanks were taken off, called as no counter is. */
static bool is_sum(const reading *r, const char *name, size_t indent)
{
    const char *unit;
    double value;
    if (!may_be_figure(r, indent) || last(r)->of_counter)
        return false;
    return indent > r->indent ||
           (res_metrics_figure_read(&name, true, &value, &unit) && *name == '\0');
}

static bool is_ours(const char *line)
{
    return behind(line, "# processes: ") || behind(line, "# no report") ||
           behind(line, "# left out: ");
}

static bn_code read_line(reading *r, const char *whole)
{
    const size_t indent = strspn(whole, " \t");
    const char *line = whole + indent, *rest;
    const bool deeper = r->open && indent > r->indent;
    bool known = false;
    r->is_figure = false;
    if (*line == '\0' || is_ours(line))
        return BN_OK;
    if ((rest = behind(line, "# report:"))) {
        begin_report(r, rest + strspn(rest, " "), true);
        return BN_OK;
    }
    /* How PyTorch/XLA's own saver parts the reports of a file. */
    if ((rest = behind(line, "[MetricsData; ")) && rest[strcspn(rest, "]")] == ']') {
        char title[MOST_NAME];
        snprintf(title, sizeof title, "%.*s", (int)strcspn(rest, "]"), rest);
        begin_report(r, title, false);
        return BN_OK;
    }
    if ((rest = behind(line, "Metric: ")) && *rest)
        return begin_entry(r, rest, false, indent);
    if ((rest = behind(line, "Counter: ")) && *rest && !is_sum(r, rest, indent))
        return begin_entry(r, rest, true, indent);
    if (may_be_figure(r, indent)) {
        bn_code code = read_figure(r, line, &known);
        if (known)
            r->figure_indent = indent;
        if (code != BN_OK || known)
            return code;
    }
    if (deeper) {
        leave_out(&r->out->unknown, r->line);
        return BN_OK;
    }
    end_entry(r);
    if (!r->out->behind && (strstr(line, " Metric: ") || strstr(line, " Counter: ")))
        r->out->behind = r->line;
    leave_out(&r->out->skipped, r->line);
    return BN_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

void res_metrics_entry_free(res_metrics_entry *e)
{
    json_decref(e->object);
    free(e->name);
    free(e->title);
}

void res_metrics_lines_free(res_metrics_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        res_metrics_entry_free(&lines->entries[i]);
    free(lines->entries);
    *lines = (res_metrics_lines){0};
}

/* A bar of progress ends its lines with "\r" alone: what stands behind is a line, too, of the same
 * number. */
bn_code res_metrics_lines_read(const char *text, size_t length, res_metrics_lines *lines,
                               bn_status *st)
{
    reading r = {.out = lines, .st = st, .line = 1};
    char line[MOST_LINE];
    bn_code code = BN_OK;
    size_t at = 0;
    *lines = (res_metrics_lines){0};
    while (at < length && code == BN_OK) {
        size_t size = 0;
        while (at + size < length && text[at + size] != '\n' && text[at + size] != '\r')
            size++;
        const char *start = text + at;
        const bool ended = at + size < length, next = ended && start[size] == '\n';
        at += size + ended;
        while (size > 0 && (start[size - 1] == ' ' || start[size - 1] == '\t'))
            size--;
        if (memchr(start, '\0', size)) {
            code = bn_fail(st, BN_FORMAT, "line %zu: not text: there is a zero byte in it", r.line);
        } else if (size < sizeof line) {
            memcpy(line, start, size);
            line[size] = '\0';
            code = read_line(&r, line);
            if (!ended && r.is_figure)
                lines->unended = r.line;
        } else {
            end_entry(&r);
            leave_out(&lines->skipped, r.line);
        }
        r.line += next;
    }
    end_entry(&r);
    if (code != BN_OK)
        res_metrics_lines_free(lines);
    return code;
}
