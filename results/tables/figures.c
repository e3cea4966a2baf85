/*
 * figures.c - how tables show the figures of a cell and of a night.
 */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <string.h>

const char res_times_note[] =
    "Intervals of times hold for these processes: in another hour the whole machine may be faster "
    "or slower.";

const char *res_simulated_shown(const res_record *record)
{
    if (!record->simulated)
        return "";
    return strcmp(record->values, "opaque") == 0 ? " (simulated, opaque)"
           : res_computes_values(record)         ? " (simulated, computing values)"
                                                 : " (simulated)";
}

res_figure res_time_refusable(res_interval ns, bool refused)
{
    const res_figure unknown = {RES_UNKNOWN_TEXT};
    return refused ? unknown : res_time_difference(ns);
}

/* An overhead that was REFUSED has no estimate. */
static res_difference_shown shows(res_interval ns, bool refused, res_metric metric)
{
    if (metric == RES_METRIC_OVERHEAD)
        return refused ? RES_DIFFERENCE_REFUSED : res_difference_shows(ns);
    return isnan(ns.estimate) ? RES_DIFFERENCE_UNKNOWN : RES_DIFFERENCE_SIGNIFICANT;
}

static res_figure words_of(res_interval ns, bool refused, res_metric metric)
{
    return metric == RES_METRIC_OVERHEAD ? res_time_refusable(ns, refused) : res_time(ns.estimate);
}

res_difference_shown res_figures_show(const res_figures *f, res_metric metric)
{
    return shows(res_metric_over(f, metric).value, f->refusal != RES_REFUSED_NOTHING, metric);
}

res_figure res_figures_words(const res_figures *f, res_metric metric)
{
    return words_of(res_metric_over(f, metric).value, f->refusal != RES_REFUSED_NOTHING, metric);
}

res_figure res_figures_bounds(const res_figures *f, res_metric metric)
{
    const res_interval ns = res_metric_over(f, metric).value;
    return metric == RES_METRIC_OVERHEAD ? res_time_difference_range(ns)
                                         : res_time_range(ns.estimate, ns.low, ns.high);
}

res_difference_shown res_night_shows(const res_night *night, res_metric metric)
{
    return shows((res_interval){night->value, night->low, night->high}, night->refused, metric);
}

res_figure res_night_words(const res_night *night, res_metric metric)
{
    return words_of((res_interval){night->value, night->low, night->high}, night->refused, metric);
}

const char *res_device_remark_words(res_device_remark remark)
{
    static const char *const words[RES_DEVICE_REMARK_COUNT] = {
        [RES_DEVICE_PLAIN] = "",
        [RES_DEVICE_CUT] = "The device time came out above the step, and is cut at it",
        [RES_DEVICE_CUT_OVERHEAD] = "The device time came out above the step, and is cut at it; "
                                    "its overhead no longer fits and is unknown",
        [RES_DEVICE_FAR] = "The device time came out above the step by more than both intervals, "
                           "and is not shown",
        [RES_DEVICE_CONTRARY] = "The device time came out above the PJRT time by more than its "
                                "interval, so neither it nor the overhead is shown",
    };
    return words[remark];
}

const char *res_device_remark_name(res_device_remark remark)
{
    static const char *const names[RES_DEVICE_REMARK_COUNT] = {
        [RES_DEVICE_PLAIN] = "",
        [RES_DEVICE_CUT] = "device-time-cut",
        [RES_DEVICE_CUT_OVERHEAD] = "device-time-cut-overhead-unknown",
        [RES_DEVICE_FAR] = "device-time-above-step",
        [RES_DEVICE_CONTRARY] = "device-time-above-pjrt",
    };
    return names[remark];
}
