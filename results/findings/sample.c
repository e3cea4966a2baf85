/*
 * sample.c - values of the processes of a pool as the sample of an estimate.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>

bool res_sample_begin(res_sample *s, size_t most)
{
    *s = (res_sample){calloc(most + 1, sizeof(double)), calloc(most + 1, sizeof(size_t)), 0, 0};
    return s->values && s->run;
}

void res_sample_end(res_sample *s)
{
    free(s->values);
    free(s->run);
}

void res_sample_add(res_sample *s, double value, const res_process *process)
{
    if (!isfinite(value))
        return;
    s->values[s->count] = value;
    s->run[s->count++] = process->run;
}

res_estimate res_sample_estimate(res_sample *s)
{
    s->count = res_sample_runs(s->values, s->run, s->count, &s->processes);
    return res_estimate_of(s->values, s->count);
}
