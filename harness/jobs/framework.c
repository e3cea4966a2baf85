/*
 * framework.c - experiments whose steps a framework traces and dispatches, and not bench: their
 * modes, and the options and axes that they do not take.
 */
#include "harness/frontends/frontends.h"
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <string.h>

bool job_is_framework(const res_experiment *w)
{
    return frontend_named(w->front_end) != NULL;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool bench_has_mode(const char *name)
{
    mode_info info;
    return mode_describe_named(name, &info);
}

bool job_mode_by_op(const char *name)
{
    mode_info info;
    return mode_describe_named(name, &info) && info.by_op;
}

/* "eager, lazy, capture" */
static void put_own_modes(bn_text *out)
{
    mode_info info;
    for (size_t i = 0; mode_describe(i, &info); i++)
        bn_text_printf(out, "%s%s", i > 0 ? ", " : "", info.name);
}

bool job_front_end_has_mode(const char *front_end, const char *name, const char *phase)
{
    const frontend_info *row = frontend_named(front_end);
    return row ? frontend_has_mode(row, name, phase) : bench_has_mode(name);
}

bool job_front_end_name(size_t index, char word[RES_TEXT])
{
    const frontend_info *row = index > 0 ? frontend_at(index - 1) : NULL;
    snprintf(word, RES_TEXT, "%s", row ? row->name : res_axes[RES_AXIS_FRONT_END].usual);
    return index == 0 || row;
}

/* Whether a row before ROWS, or bench, has the mode NAME. */
static bool known_before(size_t rows, const char *name)
{
    bool known = bench_has_mode(name);
    for (size_t i = 0; i < rows && !known; i++)
        known = frontend_has_mode(frontend_at(i), name, NULL);
    return known;
}

bool job_mode_name(size_t index, char word[RES_TEXT])
{
    mode_info info;
    const frontend_info *row;
    size_t own = 0, others = 0;
    while (mode_describe(own, &info))
        own++;
    if (index < own) {
        (void)mode_describe(index, &info);
        snprintf(word, RES_TEXT, "%s", info.name);
        return true;
    }
    for (size_t r = 0; (row = frontend_at(r)); r++)
        for (size_t i = 0; res_axis_word(row->modes, i, word); i++)
            if (!known_before(r, word) && own + others++ == index)
                return true;
    return false;
}

/* ---- options and axes that a framework does not take ----------------------------- */

/* The first option that a framework does not take; NULL: none. */
static const char *option_refused(const job_matrix *m)
{
    if (m->how.weights)
        return "--weights";
    if (m->how.runtime_option[0])
        return "--runtime-option (the simulated device takes PJRT_SIM)";
    if (m->how.xla_flag[0])
        return "--xla-flag (XLA_FLAGS reaches all of them)";
    return m->how.pin && strcmp(m->how.pin, "none") != 0 ? "--pin" : NULL;
}

/* The first axis that frameworks do not have, with another value than the usual one. */
static const res_axis *axis_refused(const res_experiment *w)
{
    static const res_axis_id ours[] = {RES_AXIS_GRAPHS,   RES_AXIS_IN_FLIGHT,
                                       RES_AXIS_INPUT,    RES_AXIS_LENGTHS,
                                       RES_AXIS_BUCKETS,  RES_AXIS_DEPTH,
                                       RES_AXIS_LAYOUT,   RES_AXIS_TRACE_COST,
                                       RES_AXIS_SCAN,     RES_AXIS_REMAT,
                                       RES_AXIS_OFFLOAD,  RES_AXIS_LAYOUTS,
                                       RES_AXIS_DISPATCH, RES_AXIS_STEPS_PER_EXECUTION};
    model_info info;
    if (model_describe_named(w->model, &info) && info.example)
        return &res_axes[RES_AXIS_MODEL];
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!res_axis_is_usual(&res_axes[ours[i]], w))
            return &res_axes[ours[i]];
    return NULL;
}

bool job_framework_refuses(const job_matrix *matrix, const res_experiment *w, char *text,
                           size_t size)
{
    const frontend_info *row = frontend_named(w->front_end);
    const char *option = row ? option_refused(matrix) : NULL;
    const res_axis *axis = row ? axis_refused(w) : NULL;
    bn_text value = {0};
    if (!job_front_end_has_mode(w->front_end, w->mode, w->phase)) {
        const bool other = job_front_end_has_mode(w->front_end, w->mode, NULL);
        if (!row)
            put_own_modes(&value);
        const bool decode = strcmp(w->phase, "decode") == 0;
        snprintf(text, size, "framework %s has no mode %s%s; it has %s", w->front_end, w->mode,
                 !other   ? ""
                 : decode ? " for decode"
                          : " for inference",
                 row          ? row->modes
                 : value.data ? value.data
                              : "");
        bn_text_free(&value);
        return true;
    }
    if (!option && !axis)
        return false;
    if (axis)
        res_axis_put(axis, w, &value);
    if (option)
        snprintf(text, size, "%s is for bench's own steps, not for those of %s", option, row->name);
    else
        snprintf(text, size, "--%s %s is for bench's own steps, not for those of %s", axis->option,
                 value.data ? value.data : "", row->name);
    bn_text_free(&value);
    return true;
}
