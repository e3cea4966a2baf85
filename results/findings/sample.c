/*
 * sample.c - values of the processes of a pool as the sample of an estimate.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>

bool res_sample_begin(res_sample *s, size_t most)
{
    *s = (res_sample){.values = calloc(most + 1, sizeof(double)),
                      .run = calloc(most + 1, sizeof(size_t))};
    return s->values && s->run;
}

void res_sample_end(res_sample *s)
{
    free(s->values);
    free(s->run);
}

void res_sample_add(res_sample *s, double value, const res_process *process)
{
    s->values[s->count] = value;
    s->run[s->count++] = process->run;
}

res_estimate res_sample_estimate(res_sample *s)
{
    const res_runs runs = res_runs_choose(s->run, s->count);
    size_t known = 0;
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->values[i]) && res_runs_have(&runs, s->run[i])) {
            s->values[known] = s->values[i];
            s->run[known++] = s->run[i];
        }
    s->processes = known;
    s->of_runs = runs.means;
    s->count = res_runs_sample(&runs, s->values, s->run, known);
    return res_estimate_of(s->values, s->count);
}
