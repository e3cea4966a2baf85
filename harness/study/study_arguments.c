/*
 * study_arguments.c - what the arguments of an execution cost: its call, its overhead where it is
 * awaited alone, and what of that a step waits for.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdlib.h>

/* Of all executions of a step, as its arguments are. */
static double overheads(const study *s, size_t process, size_t experiment)
{
    return study_overhead(s, process, experiment) * study_executions(s, process, experiment);
}

/* Says what LINE, a part of a step, takes; WHAT it is. */
static void say_line(study *s, const char *what, const study_line *line)
{
    const res_interval each = res_estimate_interval(&line->fit.slope);
    if (study_untold(&line->fit.slope))
        study_say(s, "%s: what an argument costs cannot be told from zero: %s.", what,
                  study_interval(each, true).text);
    else
        study_say(s, "%s takes %s, and %s more for each argument.", what,
                  study_interval(res_estimate_interval(&line->fit.base), true).text,
                  study_interval(each, true).text);
}

/* Says which share of the step the arguments' calls are, where there are most of them. */
static void say_share(study *s, const study_line *call)
{
    const size_t end = call->fit.points - 1;
    const double arguments = call->x[end];
    double *room = calloc(s->processes + 1, sizeof *room);
    s->failed = s->failed || !room;
    for (size_t p = 0; room && p < call->fit.processes; p++)
        room[p] = call->fit.process_slope[p] * arguments / study_wall(s, p, call->place[end]);
    if (room) {
        const res_estimate share = res_estimate_of(room, call->fit.processes);
        study_answer(s, "share", study_json(res_estimate_interval(&share)));
        if (!study_untold(&call->fit.slope))
            study_say(s,
                      "The step with most arguments has %.0f. Its calls take %s of a captured "
                      "step.",
                      arguments, study_percent(share.mean).text);
    }
    free(room);
}

/* Says what of the call a step waits for: what an argument adds to it beyond the device's time. */
static void say_exposed(study *s, const study_line *call, const study_line *step,
                        const study_line *device)
{
    const size_t processes = s->processes;
    if (device->fit.processes != processes || call->fit.processes != processes)
        return;
    double *u = calloc(2 * processes + 1, sizeof *u), *v = u ? u + processes : NULL;
    s->failed = s->failed || !u;
    for (size_t p = 0; u && p < processes; p++) {
        u[p] = device->fit.process_slope[p] - step->fit.process_slope[p];
        v[p] = call->fit.process_slope[p];
    }
    if (u && call->fit.slope.mean > 0) {
        const res_interval share = study_meet(s, u, v);
        study_answer(s, "exposed", study_json(share));
        if (!study_untold(&call->fit.slope))
            study_say(s,
                      "Beyond what the device works, a step grows with each argument by %s times "
                      "its call.",
                      study_interval(share, false).text);
    }
    free(u);
}

void study_arguments_of(study *s)
{
    static const char way[] = "capture";
    const study_line *call = study_fit(s, "call", true, way, study_arguments, study_call);
    const study_line *overhead = study_fit(s, "overhead", true, way, study_arguments, overheads);
    const study_line *step = study_fit(s, "step", true, way, study_arguments, study_wall);
    const study_line *device = study_fit(s, "device", true, way, study_arguments, study_device);
    if (call) {
        study_answer(s, "call_fixed", study_json(res_estimate_interval(&call->fit.base)));
        study_answer(s, "call_argument", study_json(res_estimate_interval(&call->fit.slope)));
        say_line(s, "Binding buffers and calling Execute", call);
        say_share(s, call);
    }
    if (overhead) {
        study_answer(s, "overhead_argument",
                     study_json(res_estimate_interval(&overhead->fit.slope)));
        say_line(s, "The overhead of a step's executions, each awaited alone,", overhead);
    }
    if (call && step && device)
        say_exposed(s, call, step, device);
    study_say(s, "Arguments grow with layers (--depth). Steps that train also have as many more "
                 "results, whose cost is in each argument's.");
}
