/*
 * study_graphs.c - the cost of one more execution of a step, the part of it that the step waits
 * for, and the number of executions from which capture is slower than lazy.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdlib.h>

/* The cost of an execution by STEP, and the device's part by DEVICE, which may be NULL. */
static void say_cost(study *s, const study_line *step, const study_line *device)
{
    const res_interval cost = res_estimate_interval(&step->fit.slope);
    if (!res_excludes(cost, 0) && isfinite(cost.low)) {
        study_say(s, "", "cost_zero",
                  "The cost of a further execution is indistinguishable from zero: %s.",
                  study_interval(cost, true).text);
        return;
    }
    study_say(s, "", "cost", "A step takes %s, plus %s for each execution.",
              study_interval(res_estimate_interval(&step->fit.base), true).text,
              study_interval(cost, true).text);
    if (device)
        study_say(s, "", "cost_device",
                  "%s of that is device time: cut programs fuse less, and pass values through "
                  "memory.",
                  study_interval(res_estimate_interval(&device->fit.slope), true).text);
}

/* The share of an execution's overhead that a step waits for: the time that an execution adds
 * beyond the device's, over the overhead of an execution awaited alone. */
static void say_exposed(study *s, const study_line *step, const study_line *device, double *u,
                        double *v)
{
    double sum = 0;
    if (device->fit.processes != s->processes)
        return;
    for (size_t p = 0; p < s->processes; p++) {
        const double added = step->fit.process_slope[p] - device->fit.process_slope[p];
        u[p] = -added;
        v[p] = 0;
        for (size_t i = 0; i < step->fit.points; i++)
            v[p] += study_overhead(s, p, step->place[i]) / (double)step->fit.points;
        sum += v[p];
    }
    const res_interval share = study_zero_of(s, u, v);
    if (!isfinite(sum) || !(sum > 0))
        return;
    study_answer(s, "exposed_share", study_json(share));
    if (s->processes >= RES_LEAST_PROCESSES && !isfinite(share.low)) {
        study_say(s, "", "exposed_unknown",
                  "The share of an execution's overhead that a step waits for is unknown: the "
                  "overhead of an execution awaited alone is indistinguishable from zero.");
        return;
    }
    bn_text bounds = {0};
    if (isfinite(share.low))
        bn_text_printf(&bounds, " (%s to %s)", study_percent(share.low).text,
                       study_percent(share.high).text);
    study_say(s, "", "exposed",
              "An execution awaited alone has an overhead of %s; a step waits for %s of it%s.",
              study_number(sum / (double)s->processes, true).text,
              study_percent(share.estimate).text, bounds.data ? bounds.data : "");
    bn_text_free(&bounds);
}

/* CROSS if executions were queued and not awaited: each further one would cost its device time, by
 * DEVICE. Silent where that, or the cost of waiting, is insignificant, or the number stays the
 * same. U and V have room for all processes. */
static void say_queued(study *s, const study_line *step, const study_line *device, size_t lazy,
                       res_interval cross, double *u, double *v)
{
    if (!device || device->fit.processes != s->processes)
        return;
    for (size_t p = 0; p < s->processes; p++)
        u[p] = step->fit.process_slope[p] - device->fit.process_slope[p];
    const res_estimate waited = res_estimate_of(u, s->processes);
    for (size_t p = 0; p < s->processes; p++) {
        v[p] = device->fit.process_slope[p];
        u[p] = step->fit.process_base[p] + step->fit.process_slope[p] - v[p] -
               study_wall(s, p, lazy);
    }
    const res_interval queued = study_zero_of(s, u, v);
    const res_interval cost = res_estimate_interval(&device->fit.slope);
    if (!res_excludes(res_estimate_interval(&waited), 0) || !(waited.mean > 0) ||
        !res_excludes(cost, 0) || !(cost.estimate > 0) || !isfinite(queued.low) ||
        floor(queued.estimate) == floor(cross.estimate))
        return;
    study_answer(s, "crossing_queued", study_json(queued));
    study_say(s, "", "crossing_queued",
              "If executions were queued and not awaited, a further one would cost %s (its device "
              "time), and the lines would cross at %s.",
              study_number(cost.estimate, true).text, study_interval(queued, false).text);
}

/* The number of executions from which lazy is faster: where STEP's line crosses LAZY's time.
 * DEVICE, which may be NULL, is the device's line. */
static void say_crossing(study *s, const study_line *step, const study_line *device, size_t lazy,
                         double *u, double *v)
{
    const double most = step->x[step->fit.points - 1];
    for (size_t p = 0; p < s->processes; p++) {
        u[p] = step->fit.process_base[p] - study_wall(s, p, lazy);
        v[p] = step->fit.process_slope[p];
    }
    const res_interval cross = study_zero_of(s, u, v);
    study_answer(s, "crossing_executions", study_json(cross));
    study_say(s, "", "lazy", "A lazy step, traced anew each time, takes %s.",
              study_interval(study_mean(s, lazy, study_wall), true).text);
    if (!(step->fit.slope.mean > 0) || (isfinite(step->fit.slope.error) && !isfinite(cross.low))) {
        study_say(s, "", "crossing_unknown",
                  "Unknown: the number of executions from which capture is slower than lazy.");
        return;
    }
    if (cross.estimate < 1) {
        const bool unknown = cross.high >= 1;
        study_say(s, "", unknown ? "crossing_first_unknown" : "crossing_first",
                  "%s slower than lazy from the first execution on: the lines cross at %s.",
                  unknown ? "Capture may be" : "Capture is", study_interval(cross, false).text);
        return;
    }
    study_say(s, "", "crossing",
              "From %.0f executions on, capture is slower than lazy: the lines cross at %s%s.",
              floor(cross.estimate) + 1, study_interval(cross, false).text,
              cross.estimate > most ? ", beyond the measured range" : "");
    say_queued(s, step, device, lazy, cross, u, v);
}

/* The executions of each cut, where they differ from --graphs. */
static void say_executions(study *s, const study_line *step)
{
    bool same = true;
    bn_text text = {0};
    for (size_t i = 0; i < step->fit.points; i++) {
        const double graphs = study_swept(s, 0, step->place[i]);
        same = same && graphs == step->x[i];
        bn_text_printf(&text, "%s%.0f for %.0f", i ? ", " : "", step->x[i], graphs);
    }
    if (!same)
        study_say(s, "", "executions", "Executions of a step for --graphs: %s.", text.data);
    bn_text_free(&text);
}

void study_graphs(study *s)
{
    const study_line *step = study_fit(s, "step", true, "capture", study_executions, study_wall);
    const study_line *device =
        study_fit(s, "device", true, "capture", study_executions, study_device);
    const size_t lazy = study_extreme(s, "lazy", false);
    double *u = bn_zalloc(2 * s->processes + 1, sizeof *u);
    if (step) {
        say_executions(s, step);
        say_cost(s, step, device);
    }
    if (step && device)
        say_exposed(s, step, device, u, u + s->processes);
    if (step && lazy != SIZE_MAX) {
        study_answer(s, "nodes", res_json_real(study_mean(s, lazy, study_nodes).estimate));
        say_crossing(s, step, device, lazy, u, u + s->processes);
    }
    free(u);
}
