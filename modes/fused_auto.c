/*
 * fused_auto.c - how large the windows of fused mode are, where nobody says it.
 *
 * A law predicts the step of each number of windows from the step that is one graph: the host traces
 * on while the device works, and windows are as long as each other. It knows nothing of what borders
 * cost the device, so the best number and smaller ones are tried, and measured walls decide.
 */
#include "modes/fused_priv.h"


enum { SETTLES = 2 }; /* steps that are not measured: caches are cold */

/* Measured windows must be shorter than one graph by this share, or one graph is taken. */
#define WORTH     0.02
/* Tracing of a smaller share of the step is not worth a try. */
#define WORTH_TRY 0.03

/* Numbers of windows that the law is asked for. */
static const size_t numbers[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* ---- the law ---------------------------------------------------------------------------------- */

double mode_windows_law(const fused_step_times *whole, size_t windows)
{
    const double n = (double)windows;
    const double traced = whole->trace_ns / n, rest = whole->wall_ns - whole->trace_ns;
    const double device = (rest > whole->dispatch_ns ? rest - whole->dispatch_ns : 0) / n;
    double host = 0, end = 0;
    for (size_t i = 0; i < windows; i++) {
        host += traced + whole->dispatch_ns;
        end = (host > end ? host : end) + device;
    }
    return end;
}

/* ---- trying -------------------------------------------------------------------------------------- */

static double median(double *list, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && list[k] < list[k - 1]; k--) {
            const double swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
    return count % 2 ? list[count / 2] : 0.5 * (list[count / 2 - 1] + list[count / 2]);
}

/* Plans to try the number of windows that is best by the law, half as many and a quarter. */
static void plan_tries(fused_choice *c, size_t nodes)
{
    size_t best = 0;
    for (size_t i = 0; i < NUMBERS; i++)
        if (mode_windows_law(&c->whole, numbers[i]) <
            mode_windows_law(&c->whole, best ? best : 1) * (best ? 0.995 : 1))
            best = numbers[i];
    const double least = c->whole.wall_ns * (1 - WORTH);
    for (size_t n = best; n > 1 && c->tries < MODE_WINDOW_TRIES; n /= 2) {
        const double predicted = mode_windows_law(&c->whole, n);
        if (nodes / n > 0 && predicted < least)
            c->tried[c->tries++] =
                (mode_window_try){.nodes = (nodes + n - 1) / n, .predicted_ns = predicted};
    }
}

static void decide(fused_choice *c)
{
    double best = c->whole.wall_ns * (1 - WORTH);
    c->done = true;
    c->nodes = 0;
    for (size_t i = 0; i < c->tries; i++)
        if (c->tried[i].measured_ns > 0 && c->tried[i].measured_ns < best) {
            best = c->tried[i].measured_ns;
            c->nodes = c->tried[i].nodes;
        }
}

/* Goes on with the next try, or decides. */
static void go_on(fused_choice *c)
{
    c->samples = c->settled = 0;
    if (c->at < c->tries)
        c->nodes = c->tried[c->at].nodes;
    else
        decide(c);
}

static void end_whole(fused_choice *c, size_t nodes)
{
    c->whole = (fused_step_times){.wall_ns = median(c->wall_ns, c->samples),
                                  .trace_ns = median(c->trace_ns, c->samples),
                                  .dispatch_ns = median(c->dispatch_ns, c->samples)};
    if (c->whole.trace_ns > WORTH_TRY * c->whole.wall_ns)
        plan_tries(c, nodes);
    go_on(c);
}

static void end_try(fused_choice *c)
{
    c->tried[c->at++].measured_ns = median(c->wall_ns, c->samples);
    go_on(c);
}

bool mode_choice_step(fused_choice *c, const fused_step_times *step, size_t nodes, size_t windows)
{
    const size_t before = c->nodes;
    const bool whole = c->whole.wall_ns == 0;
    if (c->done || ++c->settled <= SETTLES)
        return false;
    c->wall_ns[c->samples] = step->wall_ns;
    c->trace_ns[c->samples] = step->trace_ns;
    c->dispatch_ns[c->samples++] = step->dispatch_ns;
    if (!whole)
        c->tried[c->at].windows = windows;
    if (c->samples == FUSED_SAMPLES && whole)
        end_whole(c, nodes);
    else if (c->samples == FUSED_SAMPLES)
        end_try(c);
    return c->nodes != before;
}

void mode_choice_again(fused_choice *c)
{
    if (!c->done)
        c->samples = c->settled = 0;
}

bool mode_choice_end(fused_choice *c)
{
    const size_t before = c->nodes;
    if (!c->done)
        decide(c);
    return c->nodes != before;
}
