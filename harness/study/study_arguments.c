/*
 * study_arguments.c - the cost of an execution's arguments: of its call, of its overhead where it
 * is awaited alone, and the part of it that a step waits for.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdlib.h>

/* Overhead of all executions of a step, as study_arguments counts all their arguments. */
static double overheads(const study *s, size_t process, size_t experiment)
{
    return study_overhead(s, process, experiment) * study_executions(s, process, experiment);
}

/* The cost of arguments by LINE, which NAME says in words. */
static void say_line(study *s, const char *name, const study_line *line)
{
    const res_interval each = res_estimate_interval(&line->fit.slope);
    if (study_insignificant(&line->fit.slope))
        study_say(s, line->what, "zero",
                  "%s: the cost of an argument is indistinguishable from zero: %s.", name,
                  study_interval(each, true).text);
    else
        study_say(s, line->what, "cost", "%s takes %s, and %s more for each argument.", name,
                  study_interval(res_estimate_interval(&line->fit.base), true).text,
                  study_interval(each, true).text);
}

/* The share of the arguments' calls in the step with the most arguments. */
static void say_share(study *s, const study_line *call)
{
    const size_t end = call->fit.points - 1;
    const double arguments = call->x[end];
    double *room = bn_zalloc(s->processes + 1, sizeof *room);
    for (size_t p = 0; p < call->fit.processes; p++)
        room[p] = call->fit.process_slope[p] * arguments / study_wall(s, p, call->place[end]);
    const res_estimate share = res_estimate_of(room, call->fit.processes);
    study_answer(s, "share", study_json(res_estimate_interval(&share)));
    if (!study_insignificant(&call->fit.slope))
        study_say(s, "", "share",
                  "The step with the most arguments has %.0f; binding and passing them takes %s of "
                  "a captured step.",
                  arguments, study_percent(share.mean).text);
    free(room);
}

/* The part of an argument's call that a step waits for, beyond the device's time. */
static void say_exposed(study *s, const study_line *call, const study_line *step,
                        const study_line *device)
{
    const size_t processes = s->processes;
    if (device->fit.processes != processes || call->fit.processes != processes)
        return;
    double *u = bn_zalloc(2 * processes + 1, sizeof *u), *v = u + processes;
    for (size_t p = 0; p < processes; p++) {
        u[p] = device->fit.process_slope[p] - step->fit.process_slope[p];
        v[p] = call->fit.process_slope[p];
    }
    if (call->fit.slope.mean > 0) {
        const res_interval share = study_zero_of(s, u, v);
        study_answer(s, "exposed", study_json(share));
        if (!study_insignificant(&call->fit.slope))
            study_say(s, "", "exposed",
                      "Each argument lengthens a step, beyond its device time, by %s times its "
                      "call.",
                      study_interval(share, false).text);
    }
    free(u);
}

void study_arguments_of(study *s)
{
    static const char mode_name[] = "capture";
    const study_line *call = study_fit(s, "call", true, mode_name, study_arguments, study_call);
    const study_line *overhead =
        study_fit(s, "overhead", true, mode_name, study_arguments, overheads);
    const study_line *step = study_fit(s, "step", true, mode_name, study_arguments, study_wall);
    const study_line *device =
        study_fit(s, "device", true, mode_name, study_arguments, study_device);
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
    study_say(s, "", "layers",
              "The number of arguments grows with layers (--depth). Training steps also have a "
              "result for each argument, whose cost counts with the argument's.");
}
