/*
 * study_picture.c - a study's times of a step as points and lines.
 */
#include "harness/study/study_priv.h"
#include "plots/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compilation is of another size than steps. */
static bool is_shown(const study_line *line)
{
    return line->time && strcmp(line->what, "compilation") != 0;
}

/* Fills SERIES with LINE's points; NAME and VALUES are room for its name and figures. */
static void fill(const study_line *line, plot_series *series, study_text *name,
                 res_interval *values)
{
    snprintf(name->text, sizeof name->text, "%s of %s", line->what, line->mode);
    for (size_t i = 0; i < line->fit.points; i++)
        values[i] = study_point(line, i);
    *series = (plot_series){.name = name->text,
                            .x = line->x,
                            .y = values,
                            .count = line->fit.points,
                            .base = line->fit.base.mean,
                            .slope = line->fit.slope.mean};
}

static bn_code draw(const study *s, const plot_series *list, size_t count, bn_text *out,
                    plot_format format, bn_status *st)
{
    char title[160], subtitle[400];
    const res_experiment *e = &s->list[0].what;
    const bool simulated = s->records[s->turn[0] * s->count + s->lines[0].place[0]]->simulated;
    snprintf(title, sizeof title, "%s: %s %s", s->kind->name, e->model, e->phase);
    snprintf(subtitle, sizeof subtitle,
             "%s on %.*s, %zu processes. Bars: 95 %% intervals over processes.", s->kind->equation,
             BN_FIT(e->runtime, 200), s->processes);
    const plot_words words = {title, subtitle, plot_badge(simulated, e)};
    plot p = {0};
    bn_code code = plot_lines(&words, s->kind->across, list, count, &p, st);
    if (code == BN_OK)
        code = plot_render(&p, format, out, st);
    plot_free(&p);
    return code;
}

bn_code study_picture(const study *s, const char *file, bn_status *st)
{
    plot_series list[STUDY_MOST_LINES];
    study_text names[STUDY_MOST_LINES];
    size_t count = 0;
    plot_format format;
    bn_text out = {0};
    res_interval *values = bn_zalloc(STUDY_MOST_LINES * s->count + 1, sizeof *values);
    bn_code code = plot_format_parse(file, &format, st);
    for (size_t k = 0; code == BN_OK && k < s->line_count; k++)
        if (is_shown(&s->lines[k])) {
            fill(&s->lines[k], &list[count], &names[count], values + count * s->count);
            count++;
        }
    if (code == BN_OK)
        code = draw(s, list, count, &out, format, st);
    if (code == BN_OK)
        code = bn_file_write_atomic(file, out.data, out.length, st);
    bn_text_free(&out);
    free(values);
    return code;
}
