/*
 * figures.c - figures for people: times, ratios, sizes and amounts with three digits and a unit.
 */
#include "results/figures/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_DECIMALS 4 /* of a ratio */

/* A unit, with the number of decimals that leave three significant digits. */
typedef struct scale {
    double divisor;
    const char *unit;
    int decimals;
} scale;

/* The largest of COUNT units, each STEP times the one before, in which VALUE is
 * still 1 or more once it is rounded to three digits. */
static scale scale_of(double value, double step, const char *const *units, size_t count)
{
    scale s = {1, units[0], 0};
    value = fabs(value);
    for (size_t i = 1; i < count && value / s.divisor >= step * 0.9995; i++) {
        s.divisor *= step;
        s.unit = units[i];
    }
    double scaled = value / s.divisor;
    if (s.divisor > 1)
        s.decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    return s;
}

static scale time_scale(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scale_of(ns, 1000, units, 4);
}

/* VALUE as DECIMALS show it, which for what is rounded to zero has no sign. */
static double unsigned_zero(double value, int decimals)
{
    return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

res_figure res_time(double ns)
{
    res_figure figure = {"-"};
    if (!isfinite(ns))
        return figure;
    scale s = time_scale(ns);
    snprintf(figure.text, sizeof figure.text, "%.*f %s", s.decimals,
             unsigned_zero(ns / s.divisor, s.decimals), s.unit);
    return figure;
}

res_difference_shown res_difference_shows(res_interval ns)
{
    if (isnan(ns.estimate))
        return RES_DIFFERENCE_UNKNOWN;
    const bool bounds = isfinite(ns.low) && isfinite(ns.high);
    return bounds && !res_excludes(ns, 0) ? RES_DIFFERENCE_BELOW : RES_DIFFERENCE_SIGNIFICANT;
}

res_figure res_time_difference(res_interval ns)
{
    if (res_difference_shows(ns) != RES_DIFFERENCE_BELOW)
        return res_time(ns.estimate);
    res_figure figure;
    const res_figure bound = res_time(ns.high);
    snprintf(figure.text, sizeof figure.text, "< %.*s", (int)sizeof figure.text - 3, bound.text);
    return figure;
}

res_figure res_time_difference_range(res_interval ns)
{
    const bool below = res_difference_shows(ns) == RES_DIFFERENCE_BELOW;
    return res_time_range(below ? ns.high : ns.estimate, ns.low, ns.high);
}

res_figure res_time_range(double estimate_ns, double low_ns, double high_ns)
{
    res_figure figure = {""};
    if (!isfinite(estimate_ns) || !isfinite(low_ns) || !isfinite(high_ns))
        return figure;
    scale s = time_scale(estimate_ns);
    snprintf(figure.text, sizeof figure.text, "[%.*f, %.*f]", s.decimals,
             unsigned_zero(low_ns / s.divisor, s.decimals), s.decimals,
             unsigned_zero(high_ns / s.divisor, s.decimals));
    return figure;
}

/* ---- aligned, ratios, amounts ------------------------------------------------------------ */

/* Steps below 0.1 s are in microseconds with one decimal, others in milliseconds with three: a
 * clock resolves a tenth of a microsecond. */
#define ALIGNED_LIMIT_NS 1e8

const char *res_time_aligned_unit(double scale_ns)
{
    return scale_ns < ALIGNED_LIMIT_NS ? "us" : "ms";
}

res_figure res_time_aligned(double ns, double scale_ns)
{
    res_figure figure = {"-"};
    if (!isfinite(ns))
        return figure;
    if (scale_ns < ALIGNED_LIMIT_NS)
        snprintf(figure.text, sizeof figure.text, "%.1f", ns / 1e3);
    else
        snprintf(figure.text, sizeof figure.text, "%.3f", ns / 1e6);
    return figure;
}

static bool shown_as_one(double ratio, int decimals)
{
    return fabs(ratio - 1) < 0.5 * pow(10, -decimals);
}

int res_ratio_decimals(res_interval ratio)
{
    const double size = isfinite(ratio.high) ? ratio.high : ratio.estimate;
    const double nearest = ratio.low > 1 ? ratio.low : ratio.high;
    int decimals = size < 0.0995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    if (ratio.low > 1 || ratio.high < 1)
        while (decimals < MOST_DECIMALS && shown_as_one(nearest, decimals))
            decimals++;
    return decimals;
}

res_figure res_ratio(res_interval ratio)
{
    res_figure figure = {"-"};
    if (isfinite(ratio.estimate))
        snprintf(figure.text, sizeof figure.text, "%.*fx", res_ratio_decimals(ratio),
                 ratio.estimate);
    return figure;
}

res_figure res_ratio_range(res_interval ratio)
{
    res_figure figure = {""};
    const int decimals = res_ratio_decimals(ratio);
    if (isfinite(ratio.low) && isfinite(ratio.high))
        snprintf(figure.text, sizeof figure.text, "[%.*f, %.*f]", decimals, ratio.low, decimals,
                 ratio.high);
    return figure;
}

res_figure res_ratio_alone(double ratio)
{
    return res_ratio((res_interval){ratio, (double)NAN, (double)NAN});
}

res_figure res_share(res_interval share)
{
    res_figure figure = {"-"};
    if (isfinite(share.low) && isfinite(share.high))
        snprintf(figure.text, sizeof figure.text, "%+.1f %% [%+.1f, %+.1f]", 100 * share.estimate,
                 100 * share.low, 100 * share.high);
    else if (isfinite(share.estimate))
        snprintf(figure.text, sizeof figure.text, "%+.1f %%", 100 * share.estimate);
    return figure;
}

#define SIGNED_PERCENT 28

static const char *signed_percent(double ratio, char text[SIGNED_PERCENT])
{
    const double percent = 100 * (ratio - 1);
    const int decimals = fabs(percent) < 99.95 ? 1 : 0;
    snprintf(text, SIGNED_PERCENT, "%+.*f", decimals, unsigned_zero(percent, decimals));
    return text;
}

res_figure res_change_shown(double ratio)
{
    res_figure figure = {""};
    char text[SIGNED_PERCENT];
    if (isfinite(ratio))
        snprintf(figure.text, sizeof figure.text, "%s %%", signed_percent(ratio, text));
    return figure;
}

res_figure res_change_range(res_interval ratio)
{
    res_figure figure = {""};
    char low[SIGNED_PERCENT], high[SIGNED_PERCENT];
    if (isfinite(ratio.low) && isfinite(ratio.high))
        snprintf(figure.text, sizeof figure.text, "[%s, %s]", signed_percent(ratio.low, low),
                 signed_percent(ratio.high, high));
    return figure;
}

res_figure res_percent(double share)
{
    res_figure figure = {"unknown"};
    if (share > 0 && share < 0.0005)
        snprintf(figure.text, sizeof figure.text, "< 0.1 %%");
    else if (isfinite(share))
        snprintf(figure.text, sizeof figure.text, "%.1f %%", 100 * share);
    return figure;
}

res_figure res_percent_range(double low, double high)
{
    res_figure figure = {""};
    if (isfinite(low) && isfinite(high))
        snprintf(figure.text, sizeof figure.text, "[%.1f, %.1f]", 100 * low, 100 * high);
    return figure;
}

res_figure res_size(int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    res_figure figure = {"-"};
    if (bytes < 0)
        return figure;
    scale s = scale_of((double)bytes, 1024, units, 5);
    snprintf(figure.text, sizeof figure.text, "%.*f %s", s.decimals, (double)bytes / s.divisor,
             s.unit);
    return figure;
}

res_figure res_amount(double amount)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    res_figure figure = {"-"};
    if (!isfinite(amount) || amount <= 0)
        return figure;
    scale s = scale_of(amount, 1000, units, 6);
    snprintf(figure.text, sizeof figure.text, "%.*f%s", s.decimals, amount / s.divisor, s.unit);
    return figure;
}
