/*
 * fused_priv.h - the choice of the size of windows (fused_auto.c), which fused.c follows.
 */
#ifndef BENCH_MODES_FUSED_PRIV_H
#define BENCH_MODES_FUSED_PRIV_H

#include "modes/mode_priv.h"

/* Of a step: wall time; the host's time to trace and hash; its time to bind and submit one execution.
 */
typedef struct fused_step_times {
    double wall_ns, trace_ns, dispatch_ns;
} fused_step_times;

enum { FUSED_SAMPLES = 7 }; /* steps that are measured of each size */

/* The choice on its way. All zero: it has not begun. */
typedef struct fused_choice {
    bool done;
    size_t nodes;           /* of a window now; 0: the whole step is one graph */
    fused_step_times whole; /* medians of such steps; wall 0: not known yet */
    mode_window_try tried[MODE_WINDOW_TRIES];
    size_t tries, at; /* AT: that one is being tried */
    size_t settled, samples;
    double wall_ns[FUSED_SAMPLES], trace_ns[FUSED_SAMPLES], dispatch_ns[FUSED_SAMPLES];
} fused_choice;

/* The wall time, in ns, of a step of that many equal windows, by the step WHOLE of one graph. The host
 * traces and submits one window after the other; the device works on each once it has it and is
 * free. What borders and further executions cost the device is not in it. */
double mode_windows_law(const fused_step_times *whole, size_t windows);
/* A steady step of C->NODES nodes a window took STEP; its trace has NODES nodes, and it ran as WINDOWS
 * windows. Whether C->NODES is another number now. */
bool mode_choice_step(fused_choice *c, const fused_step_times *step, size_t nodes, size_t windows);
/* The last step was not steady: it made programs, or had another trace. */
void mode_choice_again(fused_choice *c);
/* Decides by what was measured so far. Whether C->NODES is another number now. */
bool mode_choice_end(fused_choice *c);

#endif
