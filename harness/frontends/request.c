/*
 * request.c - a front end's request, REQUEST.json (docs/frontends.md).
 */
#include "harness/frontends/frontends.h"

#include <string.h>

json_t *frontend_request_to_json(const frontend_request *r)
{
    const res_experiment *w = r->what;
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:f, s:b, s:I, s:f, s:I, "
                     "s:I, s:b, s:s, "
                     "s:s, s:s}",
                     "model", w->model, "variant", w->variant, "phase", w->phase, "mode", w->mode,
                     "batch", w->batch, "image", w->image, "seq", w->seq, "context", w->context,
                     "dtype", w->dtype, "optimizer", r->optimizer, "learning_rate",
                     r->learning_rate, "dropout", r->dropout, "steps", (json_int_t)r->steps,
                     "min_time", r->min_time, "warmup", (json_int_t)r->warmup, "seed",
                     (json_int_t)w->seed, "values", r->values, "weights", r->weights, "inputs",
                     r->inputs, "report", r->report);
}
