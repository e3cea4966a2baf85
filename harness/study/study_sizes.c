/*
 * study_sizes.c - the fixed part of a step, and the part that grows with the items of a batch or
 * with the layers of a decoder.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const modes[] = {"lazy", "capture"};

/* ---- batches --------- */

/* The fixed part is little where it is below this share of a step. */
#define LITTLE 0.10

/* The batch from which the fixed part of LINE is LITTLE of a step: fixed / (fixed + item b) =
 * LITTLE. U and V have room for all processes. */
static void say_little(study *s, const study_line *line, double *u, double *v)
{
    const res_interval fixed = res_estimate_interval(&line->fit.base);
    const double most = line->x[line->fit.points - 1];
    char name[64];
    for (size_t p = 0; p < s->processes; p++) {
        u[p] = -(1 / LITTLE - 1) * line->fit.process_base[p];
        v[p] = line->fit.process_slope[p];
    }
    const res_interval batch = study_zero_of(s, u, v);
    snprintf(name, sizeof name, "%s_batch", line->mode);
    study_answer(s, name, study_json(batch));
    if (fixed.estimate <= 0 || (isfinite(fixed.low) && !res_excludes(fixed, 0)))
        study_say(s, line->mode, "fixed_zero",
                  "%s: the fixed part is indistinguishable from zero: any batch will do.",
                  line->mode);
    else if (!(line->fit.slope.mean > 0) ||
             (isfinite(line->fit.slope.error) && !isfinite(batch.low)))
        study_say(s, line->mode, "item_zero",
                  "%s: the time of an item is indistinguishable from zero: all of a step is fixed.",
                  line->mode);
    else
        study_say(s, line->mode, batch.estimate > most ? "batch_beyond" : "batch",
                  "%s: from batch %.0f on, the fixed part is below %.0f %% of a step; the line "
                  "reaches that at %s%s.",
                  line->mode, fmax(1, floor(batch.estimate) + 1), 100 * LITTLE,
                  study_interval(batch, false).text,
                  batch.estimate > most ? ", beyond the measured range" : "");
}

void study_batch(study *s)
{
    double *u = bn_zalloc(2 * s->processes + 1, sizeof *u);
    for (size_t i = 0; i < 2; i++) {
        const study_line *line = study_fit(s, "step", true, modes[i], study_swept, study_wall);
        if (!line)
            continue;
        study_say(s, line->mode, "fixed", "%s: %s of a step is fixed, and each item takes %s.",
                  line->mode, study_interval(res_estimate_interval(&line->fit.base), true).text,
                  study_interval(res_estimate_interval(&line->fit.slope), true).text);
        say_little(s, line, u, u + s->processes);
    }
    (void)study_fit(s, "device", true, modes[1], study_swept, study_device);
    free(u);
}

/* ---- layers --------- */

static const char *per_layer(const study_line *line, study_text *text)
{
    *text = (study_text){RES_UNKNOWN_TEXT};
    if (line)
        *text = study_interval(res_estimate_interval(&line->fit.slope), line->time);
    return text->text;
}

void study_depth(study *s)
{
    study_text text[2];
    const study_line *nodes = study_fit(s, "nodes", false, "lazy", study_swept, study_nodes);
    const study_line *trace = study_fit(s, "tracing", true, "lazy", study_swept, study_trace);
    const study_line *compile =
        study_fit(s, "compilation", true, "lazy", study_swept, study_compile);
    const study_line *step[2];
    for (size_t i = 0; i < 2; i++)
        step[i] = study_fit(s, "step", true, modes[i], study_swept, study_wall);
    study_say(s, "", "layer_nodes", "A layer adds %s nodes to a step, and %s to its tracing.",
              per_layer(nodes, &text[0]), per_layer(trace, &text[1]));
    if (compile)
        study_say(s, "", "layer_compilation", "A layer adds %s to compilation, which happens once.",
                  per_layer(compile, &text[0]));
    study_say(s, "", "layer_step", "A layer adds %s to a lazy step, and %s to a captured one.",
              per_layer(step[0], &text[0]), per_layer(step[1], &text[1]));
    if (trace && step[0] && step[0]->fit.slope.mean > 0 &&
        !study_insignificant(&step[0]->fit.slope))
        study_say(s, "", "layer_tracing", "Tracing is %s of a layer's time in a lazy step.",
                  study_percent(trace->fit.slope.mean / step[0]->fit.slope.mean).text);
}
