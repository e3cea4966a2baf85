/*
 * study_overlap.c - the part of tracing that hides behind the device: with several steps in flight,
 * and with a framework that takes longer for each node.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step that is at most this much slower is as good. */
#define ENOUGH 0.05
/* Full overlap is within this of the longer of host and device; lazy is bound by tracing from it
 * on. */
#define NEAR   0.10

static const char *const modes[] = {"lazy", "capture"};

/* ---- steps in flight --------- */

/* The upper bound of FEW over MANY, minus 1; without an interval the estimate's. */
static double slower_by(const study *s, size_t few, size_t many)
{
    const res_interval ratio = study_ratio(s, few, many, study_wall);
    return (isfinite(ratio.high) ? ratio.high : ratio.estimate) - 1;
}

/* The steps in flight that are enough: with more, a step is at most ENOUGH faster. */
static void say_enough(study *s, const study_line *line)
{
    const size_t points = line->fit.points;
    size_t at = 0;
    for (; at + 1 < points; at++) {
        double worst = 0;
        for (size_t i = at + 1; i < points; i++)
            worst = fmax(worst, slower_by(s, line->place[at], line->place[i]));
        if (worst < ENOUGH)
            break;
    }
    const double steps = study_swept(s, 0, line->place[at]);
    char name[64];
    snprintf(name, sizeof name, "%s_enough", line->mode);
    const bool known = at + 1 < points;
    study_answer(s, name, known ? json_integer((json_int_t)steps) : json_null());
    if (known)
        study_say(s, line->mode, "enough",
                  "%s: %.0f in flight %s enough; more make a step faster by less than %.0f %%.",
                  line->mode, steps, steps == 1 ? "is" : "are", 100 * ENOUGH);
    else
        study_say(s, line->mode, "enough_unknown",
                  "%s: unknown whether %.0f in flight are enough; more may help.", line->mode,
                  steps);
}

/* Host and device time of a step with one in flight, and their overlap with several. */
static void say_overlap(study *s, const study_line *line)
{
    const size_t one = line->place[0];
    const res_interval host = study_mean(s, one, study_host);
    const res_interval device = study_mean(s, one, study_device);
    const res_interval serial = study_mean(s, one, study_wall);
    const res_interval many = res_estimate_interval(&line->fit.base);
    char name[64];
    snprintf(name, sizeof name, "%s_hidden", line->mode);
    study_answer(s, name, study_json(res_estimate_interval(&line->fit.slope)));
    snprintf(name, sizeof name, "%s_host", line->mode);
    study_answer(s, name, study_json(host));
    snprintf(name, sizeof name, "%s_device", line->mode);
    study_answer(s, name, study_json(device));
    study_say(s, line->mode, "hidden",
              "%s: a step takes %s with one in flight and %s with several: overlap hides %s.",
              line->mode, study_interval(serial, true).text, study_interval(many, true).text,
              study_interval(res_estimate_interval(&line->fit.slope), true).text);
    if (!isfinite(device.estimate))
        return;
    const double longer = fmax(host.estimate, device.estimate), off = many.estimate / longer - 1;
    study_say(s, line->mode, "parts",
              "%s: a step has %s of host time and %s of device time: %s in sequence, %s overlapped "
              "(the longer of both).",
              line->mode, study_number(host.estimate, true).text,
              study_number(device.estimate, true).text,
              study_number(host.estimate + device.estimate, true).text,
              study_number(longer, true).text);
    if (fabs(off) <= NEAR)
        study_say(s, line->mode, host.estimate > device.estimate ? "device_hidden" : "host_hidden",
                  "%s: with several in flight a step takes the longer of both: %s hides behind %s.",
                  line->mode, host.estimate > device.estimate ? "the device" : "the host",
                  host.estimate > device.estimate ? "the host" : "the device");
    else
        study_say(s, line->mode, "overlap_differs",
                  "%s: with several in flight a step takes %s %s than the longer of both.",
                  line->mode, study_percent(fabs(off)).text, off > 0 ? "longer" : "less");
}

/* Lazy over capture with one step in flight and with most. */
static void say_modes(study *s)
{
    const size_t ends[2][2] = {
        {study_extreme(s, modes[0], false), study_extreme(s, modes[1], false)},
        {study_extreme(s, modes[0], true), study_extreme(s, modes[1], true)}};
    res_interval ratio[2];
    for (size_t i = 0; i < 2; i++) {
        if (ends[i][0] == SIZE_MAX || ends[i][1] == SIZE_MAX)
            return;
        ratio[i] = study_ratio(s, ends[i][0], ends[i][1], study_wall);
    }
    study_answer(s, "lazy_over_capture_serial", study_json(ratio[0]));
    study_answer(s, "lazy_over_capture_most", study_json(ratio[1]));
    study_say(
        s, "", "modes",
        "A lazy step takes %s times a captured one with %.0f in flight, and %s times with %.0f.",
        study_interval(ratio[0], false).text, study_swept(s, 0, ends[0][0]),
        study_interval(ratio[1], false).text, study_swept(s, 0, ends[1][0]));
}

void study_in_flight(study *s)
{
    for (size_t i = 0; i < 2; i++) {
        const study_line *line = study_fit(s, "step", true, modes[i], study_serial, study_wall);
        if (!line)
            continue;
        say_overlap(s, line);
        say_enough(s, line);
    }
    say_modes(s);
}

/* ---- a slower framework --------- */

/* Process P's captured step: the mean over the costs, which do not affect it. */
static double captured(const study *s, size_t p)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->counts[i] && strcmp(s->list[i].what.mode, "capture") == 0) {
            sum += study_wall(s, p, i);
            count++;
        }
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* The cost from which LINE is NEAR above capture. U and V have room for all processes. */
static void say_bound(study *s, const study_line *line, double *u, double *v)
{
    const double most = line->x[line->fit.points - 1];
    for (size_t p = 0; p < s->processes; p++) {
        u[p] = line->fit.process_base[p] - (1 + NEAR) * captured(s, p);
        v[p] = line->fit.process_slope[p];
    }
    const res_interval cost = study_zero_of(s, u, v);
    study_answer(s, "bound_from_ns", study_json(cost));
    if (!isfinite(cost.estimate))
        return;
    if (!(line->fit.slope.mean > 0) || (isfinite(line->fit.slope.error) && !isfinite(cost.low)))
        study_say(s, "", "bound_unknown",
                  "Unknown: the cost of a node from which lazy is bound by tracing.");
    else if (cost.estimate <= 0 && !(cost.high > 0))
        study_say(s, "", "bound_always",
                  "Lazy is bound by tracing at any cost of a node: without added cost, its step "
                  "takes more than %.0f %% longer than a captured one.",
                  100 * NEAR);
    else if (cost.estimate <= 0)
        study_say(s, "", "bound_perhaps",
                  "Lazy may be bound by tracing at any cost of a node: its step takes %.0f %% "
                  "longer than a captured one from %s a node on.",
                  100 * NEAR, study_interval(cost, true).text);
    else
        study_say(s, "", "bound",
                  "From %s a node on, lazy is bound by tracing: its step then takes %.0f %% longer "
                  "than a captured one%s.",
                  study_interval(cost, true).text, 100 * NEAR,
                  cost.estimate > most ? ", beyond the measured range" : "");
}

void study_trace_cost(study *s)
{
    const study_line *line = study_fit(s, "step", true, "lazy", study_swept, study_wall);
    if (!line)
        return;
    double *u = bn_zalloc(2 * s->processes + 1, sizeof *u);
    const res_interval slope = res_estimate_interval(&line->fit.slope);
    const res_interval nodes = study_mean(s, line->place[0], study_nodes);
    study_answer(s, "nodes", res_json_real(nodes.estimate));
    study_say(
        s, "", "nodes",
        "A lazy step traces %s nodes. Each nanosecond of a node's cost makes it %s ns longer.",
        study_number(nodes.estimate, false).text, study_interval(slope, false).text);
    if (isfinite(nodes.estimate) && nodes.estimate > 0) {
        const bool hides =
            slope.estimate < 0.95 * nodes.estimate && !(slope.high >= nodes.estimate);
        study_say(s, "", hides ? "exposed_part" : "exposed",
                  "So %s of the cost of tracing is exposed%s.",
                  study_percent(slope.estimate / nodes.estimate).text,
                  hides ? "; the rest hides behind the device" : "");
    }
    say_bound(s, line, u, u + s->processes);
    /* For the tables: the cost does not affect a captured step, which traces nothing. */
    (void)study_fit(s, "step", true, "capture", study_swept, study_wall);
    free(u);
}
