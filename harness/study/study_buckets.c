/*
 * study_buckets.c - how many lengths to pad rows to: each is one more program to compile, and fewer
 * of them waste steps on padding. Lengths of rows have the distribution of --lengths varying.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Steps of the runs that are judged. */
static const double runs[] = {1000, 10000, 100000};
#define RUNS (sizeof runs / sizeof *runs)

/* The lines of a captured step and of compilation, the longest row, and the rows of a batch. */
typedef struct costs {
    const study_line *step, *compile;
    double most, rows;
} costs;

/* By the means of C's lines or, where PROCESS is not SIZE_MAX, by those of one process. */
static res_padding padding_of(const costs *c, double steps, size_t process)
{
    const res_line *step = &c->step->fit, *compile = &c->compile->fit;
    const bool mean = process == SIZE_MAX;
    return (res_padding){
        .most = c->most,
        .rows = c->rows,
        .steps = steps,
        .step_base_ns = mean ? step->base.mean : step->process_base[process],
        /* A coefficient below zero would make longer rows cheaper without end. */
        .step_token_ns = fmax(mean ? step->slope.mean : step->process_slope[process], 0),
        .compile_base_ns = mean ? compile->base.mean : compile->process_base[process],
        .compile_token_ns = mean ? compile->slope.mean : compile->process_slope[process]};
}

/* Whether a run of STEPS takes significantly longer with OTHER buckets than with BEST. ROOM is for
 * all processes. */
static bool is_worse(const costs *c, double steps, int best, int other, double *room)
{
    const size_t processes = c->step->fit.processes;
    for (size_t p = 0; p < processes; p++) {
        const res_padding padding = padding_of(c, steps, p);
        room[p] =
            res_padding_of(&padding, other).total_ns - res_padding_of(&padding, best).total_ns;
    }
    const res_estimate difference = res_estimate_of(room, processes);
    return res_excludes(res_estimate_interval(&difference), 0) && difference.mean > 0;
}

/* BEST, from the least to the greatest number that is not significantly worse. */
static res_interval range_of(const study *s, const costs *c, double steps, int best, double *room)
{
    const int most = c->most < RES_MOST_BUCKETS ? (int)c->most : RES_MOST_BUCKETS;
    int low = best, high = best;
    if (s->processes < RES_LEAST_PROCESSES || c->step->fit.processes != s->processes ||
        c->compile->fit.processes != s->processes)
        return (res_interval){best, (double)NAN, (double)NAN};
    while (low > 1 && !is_worse(c, steps, best, low - 1, room))
        low--;
    while (high < most && !is_worse(c, steps, best, high + 1, room))
        high++;
    return (res_interval){best, low, high};
}

/* "7 buckets (5 to 9 are not significantly worse)" */
static study_text best_text(res_interval best)
{
    study_text out;
    if (isfinite(best.low) && best.low < best.high)
        snprintf(out.text, sizeof out.text,
                 "%.0f buckets (%.0f to %.0f are not significantly worse)", best.estimate, best.low,
                 best.high);
    else
        snprintf(out.text, sizeof out.text, "%.0f bucket%s", best.estimate,
                 best.estimate > 1 ? "s" : "");
    return out;
}

static json_t *run_json(const res_padding *padding, res_interval best)
{
    const int count = (int)best.estimate;
    const res_padding_cost cost = res_padding_of(padding, count);
    json_t *one = study_json(best);
    json_object_set_new(one, "steps", json_real(padding->steps));
    json_object_set_new(one, "compile_ns", json_real(cost.compile_ns));
    json_object_set_new(one, "padding_ns", json_real(res_padding_waste(padding, count)));
    json_object_set_new(one, "total_ns", json_real(cost.total_ns));
    json_object_set_new(one, "one_bucket_ns", json_real(res_padding_of(padding, 1).total_ns));
    json_object_set_new(one, "no_buckets_ns", json_real(res_padding_of(padding, 0).total_ns));
    return one;
}

static void say_run(study *s, const costs *c, double steps, double *room, json_t *list)
{
    const res_padding padding = padding_of(c, steps, SIZE_MAX);
    const int count = res_padding_best(&padding);
    const res_interval best = range_of(s, c, steps, count, room);
    const res_padding_cost cost = res_padding_of(&padding, count);
    json_array_append_new(list, run_json(&padding, best));
    study_say(s, "", "run",
              "A run of %.0f steps is fastest with %s: compiling takes %s and padding %s of %s in "
              "all. With one bucket it takes %s, without buckets %s.",
              steps, best_text(best).text, study_number(cost.compile_ns, true).text,
              study_number(res_padding_waste(&padding, count), true).text,
              study_number(cost.total_ns, true).text,
              study_number(res_padding_of(&padding, 1).total_ns, true).text,
              study_number(res_padding_of(&padding, 0).total_ns, true).text);
}

void study_buckets(study *s)
{
    costs c = {.compile = study_fit(s, "compilation", true, "lazy", study_swept, study_compile)};
    (void)study_fit(s, "step", true, "lazy", study_swept, study_wall);
    c.step = study_fit(s, "step", true, "capture", study_swept, study_wall);
    (void)study_fit(s, "device", true, "capture", study_swept, study_device);
    if (!c.step || !c.compile)
        return;
    double *room = bn_zalloc(s->processes + 1, sizeof *room);
    json_t *list = json_array();
    const size_t end = c.step->fit.points - 1;
    c.most = c.step->x[end];
    c.rows = study_rows(s, 0, c.step->place[end]);
    study_say(
        s, "", "token",
        "Each token of row length adds %s to a captured step and %s to its compilation, whose "
        "fixed part is %s.",
        study_interval(res_estimate_interval(&c.step->fit.slope), true).text,
        study_interval(res_estimate_interval(&c.compile->fit.slope), true).text,
        study_interval(res_estimate_interval(&c.compile->fit.base), true).text);
    study_say(
        s, "", "lengths",
        "Row lengths are those of --lengths varying: log-normal with a median of %.0f tokens, "
        "%.0f at most, and a deviation of the logarithm of %.2g. A batch of %.0f is padded to "
        "its longest row. A model with target rows is padded to the longer of both, and needs "
        "more programs without buckets than stated here.",
        RES_MEDIAN_SHARE * c.most, c.most, RES_LENGTH_SPREAD, c.rows);
    for (size_t i = 0; i < RUNS; i++)
        say_run(s, &c, runs[i], room, list);
    study_answer(s, "rows", json_real(c.rows));
    study_answer(s, "runs", list);
    free(room);
}
