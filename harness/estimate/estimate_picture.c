/*
 * estimate_picture.c - compilation, text, tracing, memory and estimated time over the number of
 * layers. Steps that differ in something else are series of their own.
 */
#include "harness/estimate/estimate_priv.h"
#include "models/model.h"
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SERIES 12

/* Parts of a series' name. */
enum { PART_TOPOLOGY, PART_MODEL, PART_SIZE, PART_MODE, PART_LOOP, PARTS };
/* Figures that are drawn. */
enum {
    FIGURE_COMPILE,
    FIGURE_TEXT,
    FIGURE_TRACE,
    FIGURE_MEMORY,
    FIGURE_TIME,
    FIGURE_SIZE,
    FIGURES
};

typedef struct point {
    char part[PARTS][200];
    char name[PARTS * 200]; /* of its series */
    int depth;
    double figure[FIGURES]; /* NaN: unknown */
    double cycles;
} point;

typedef struct picture {
    point *points; /* one a step */
    size_t count;
    bool same[PARTS]; /* all steps have it in common */
    const char *series[MOST_SERIES];
    size_t series_count;
    double *x; /* depths, ascending */
    size_t depths;
} picture;

/* ---- the points ---------------------------------------------------------------------- */

static double or_nan(double figure, double unit)
{
    return figure < 0 ? (double)NAN : figure / unit;
}

/* The sum of member NAME of the lines themselves; -1: one is unknown. */
static double sum_of(const json_t *lines, size_t first, size_t end, const char *name)
{
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        const json_t *value = json_object_get(json_array_get(lines, i), name);
        if (!json_is_number(value))
            return -1;
        sum += json_number_value(value);
    }
    return sum;
}

static void set_figures(const json_t *lines, size_t first, size_t end, point *p)
{
    const bool ok = strcmp(estimate_class(lines, first, end), ESTIMATE_OK) == 0;
    p->figure[FIGURE_COMPILE] = or_nan(estimate_sum(lines, first, end, NULL, "compile_cpu_s"), 1);
    p->figure[FIGURE_TEXT] = or_nan(sum_of(lines, first, end, "text_bytes"), 1e3);
    p->figure[FIGURE_TRACE] = or_nan(sum_of(lines, first, first + 1, "trace_ns"), 1e3);
    p->figure[FIGURE_MEMORY] = or_nan(estimate_largest(lines, first, end, "memory", "temp"), 1e6);
    p->figure[FIGURE_TIME] = or_nan(ok ? estimate_sum_ms(lines, first, end) : -1, 1);
    p->figure[FIGURE_SIZE] = or_nan(estimate_sum(lines, first, end, NULL, "serialized_bytes"), 1e6);
    p->cycles = or_nan(ok ? estimate_sum_of_step(lines, first, end, "cycles") : -1, 1e6);
}

/* The layers of WHAT; experiments have 0 for the model's own number. */
static int depth_of(const res_experiment *what)
{
    model_info info;
    if (what->depth > 0 || !model_describe_named(what->model, &info))
        return what->depth;
    return strncmp(what->variant, "small", 5) == 0 ? info.small_depth : info.depth;
}

bn_code estimate_picture_check(const job_experiment *list, size_t count, bn_status *st)
{
    for (size_t i = 1; i < count; i++)
        if (depth_of(&list[i].what) != depth_of(&list[0].what))
            return BN_OK;
    return bn_fail(st, BN_INVALID,
                   "--output draws over the number of layers, so it needs two values of layers: "
                   "--depth 4,8");
}

/* "seq 512, adamw": further settings of WHAT's program, or "". */
static void set_size(const res_experiment *what, char *text, size_t size)
{
    bn_text words = {0};
    estimate_put_setup(what, 0, &words);
    snprintf(text, size, "%s", words.length ? words.data : "");
    bn_text_free(&words);
}

static bool set_point(const json_t *lines, size_t first, size_t end, point *p)
{
    const json_t *line = json_array_get(lines, first);
    res_experiment what;
    if (!estimate_what(line, &what))
        return false;
    p->depth = depth_of(&what);
    const char *topology = res_json_get_text(line, "topology");
    const char *layouts = res_json_get_text(line, "layouts");
    snprintf(p->part[PART_TOPOLOGY], sizeof p->part[0], "%.*s", BN_FIT(topology, 190));
    snprintf(p->part[PART_MODEL], sizeof p->part[0], "%.*s %.*s %s, batch %d, %s",
             BN_FIT(what.model, 60), BN_FIT(what.variant, 30), what.phase, what.batch, what.dtype);
    set_size(&what, p->part[PART_SIZE], sizeof p->part[0]);
    snprintf(p->part[PART_MODE], sizeof p->part[0], "%s, %d graph%s, layouts %.*s", what.mode,
             what.graphs, what.graphs == 1 ? "" : "s", BN_FIT(layouts, 40));
    snprintf(p->part[PART_LOOP], sizeof p->part[0], "%s%s%s%s%s",
             strcmp(what.scan, "on") == 0 ? "scanned" : "unrolled",
             strcmp(what.remat, "none") == 0 ? "" : ", remat ",
             strcmp(what.remat, "none") == 0 ? "" : what.remat,
             strcmp(what.offload, "none") == 0 ? "" : ", offload ",
             strcmp(what.offload, "none") == 0 ? "" : what.offload);
    set_figures(lines, first, end, p);
    return true;
}

static int by_depth(const void *a, const void *b)
{
    const point *x = a, *y = b;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* ---- series --------------------------------------------------------------------------- */

/* The parts of P that are common to all steps, or those that are not, with commas. */
static void join(const picture *d, const point *p, bool same, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < PARTS && used < size; k++)
        if (d->same[k] == same && p->part[k][0])
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", p->part[k]);
}

static bool find_series(picture *d)
{
    for (size_t k = 0; k < PARTS; k++) {
        d->same[k] = true;
        for (size_t i = 1; i < d->count; i++)
            d->same[k] = d->same[k] && strcmp(d->points[i].part[k], d->points[0].part[k]) == 0;
    }
    /* The picture is about loops, so each series names its own, also where there is one series. */
    d->same[PART_LOOP] = false;
    for (size_t i = 0; i < d->count; i++) {
        point *p = &d->points[i];
        size_t s = 0;
        join(d, p, false, p->name, sizeof p->name);
        while (s < d->series_count && strcmp(d->series[s], p->name) != 0)
            s++;
        if (s == MOST_SERIES)
            return false;
        if (s == d->series_count)
            d->series[d->series_count++] = p->name;
        if (d->depths == 0 || d->x[d->depths - 1] < p->depth)
            d->x[d->depths++] = p->depth;
    }
    return true;
}

/* Puts figure NUMBER of all steps in plot_panels' order. */
static void spread(const picture *d, size_t number, double *y)
{
    for (size_t i = 0; i < d->series_count * d->depths; i++)
        y[i] = (double)NAN;
    for (size_t i = 0; i < d->count; i++) {
        const point *p = &d->points[i];
        size_t s = 0, at = 0;
        while (strcmp(d->series[s], p->name) != 0)
            s++;
        while (d->x[at] < p->depth)
            at++;
        y[s * d->depths + at] = p->figure[number];
    }
}

/* ---- the picture ----------------------------------------------------------------------- */

/* Replaces times by cycles where some topology's clock is unknown. */
static bool choose_cycles(picture *d)
{
    bool all = true;
    for (size_t i = 0; i < d->count; i++)
        all = all && (isnan(d->points[i].cycles) || isfinite(d->points[i].figure[FIGURE_TIME]));
    for (size_t i = 0; i < d->count && !all; i++)
        d->points[i].figure[FIGURE_TIME] = d->points[i].cycles;
    return !all;
}

static bn_code draw(picture *d, plot *p, bn_status *st)
{
    const char *const names[FIGURES] = {"compilation (CPU s)",
                                        "text (kB)",
                                        "tracing (us of this host)",
                                        "device temporaries (MB)",
                                        choose_cycles(d) ? "estimated Mcycles"
                                                         : "estimated time (ms)",
                                        "executable (MB)"};
    plot_panel panels[FIGURES];
    char common[PARTS * 200], subtitle[PARTS * 200 + 100];
    const size_t size = d->series_count * d->depths;
    double *y = bn_zalloc(FIGURES * size, sizeof *y);
    for (size_t k = 0; k < FIGURES; k++) {
        spread(d, k, y + k * size);
        panels[k] = (plot_panel){names[k], y + k * size};
    }
    join(d, &d->points[0], true, common, sizeof common);
    snprintf(subtitle, sizeof subtitle,
             "%s. Estimated by the compiler: nothing was executed on a device.", common);
    const plot_words words = {"Estimates over the number of layers", subtitle, "ESTIMATED"};
    const bn_code code = plot_panels(&words, "layers", d->series, d->series_count, d->x, d->depths,
                                     panels, FIGURES, p, st);
    free(y);
    return code;
}

static bn_code make(picture *d, const json_t *lines, plot *p, bn_status *st)
{
    for (size_t i = 0; i < json_array_size(lines);) {
        const size_t end = estimate_step_end(lines, i);
        d->count += set_point(lines, i, end, &d->points[d->count]);
        i = end;
    }
    qsort(d->points, d->count, sizeof *d->points, by_depth);
    if (d->count == 0)
        return bn_fail(st, BN_NOT_FOUND, "nothing was estimated");
    if (!find_series(d))
        return bn_fail(st, BN_INVALID,
                       "a picture takes at most %d setups; give fewer models, phases or topologies",
                       MOST_SERIES);
    return draw(d, p, st);
}

bn_code estimate_picture(const json_t *lines, const char *path, bn_status *st)
{
    const size_t most = json_array_size(lines) + 1;
    picture d = {.points = bn_zalloc(most, sizeof *d.points), .x = bn_zalloc(most, sizeof *d.x)};
    plot p = {0};
    plot_format format;
    bn_text out = {0};
    bn_code code = plot_format_parse(path, &format, st);
    if (code == BN_OK)
        code = make(&d, lines, &p, st);
    if (code == BN_OK)
        code = plot_render(&p, format, &out, st);
    if (code == BN_OK)
        code = bn_file_write_atomic(path, out.data, out.length, st);
    plot_free(&p);
    bn_text_free(&out);
    free(d.points);
    free(d.x);
    return code == BN_OK ? BN_OK : bn_context(st, "--output");
}
