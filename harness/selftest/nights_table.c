/*
 * nights_table.c - the history's part of bench selftest statistics: its rows, how often each is
 * simulated, and its table.
 */
#include "harness/selftest/nights_priv.h"
#include "harness/selftest/statistics_priv.h"

#include <math.h>
#include <string.h>

/* Series of a figure. Those that are judged night by night cost some hundred times as much as
 * others, and each has LAST_JUDGED - FIRST_JUDGED + 1 nights, so a quick test takes few. */
#define FULL_SERIES   4000
#define QUICK_SERIES  250
#define QUICK_GROWING 20

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const figures[SELFTEST_NIGHTS_FIGURES] = {[SELFTEST_NIGHTS_FALSE] =
                                                                 "false-change",
                                                             [SELFTEST_NIGHTS_FOUND] = "found",
                                                             [SELFTEST_NIGHTS_SOON] = "found-soon",
                                                             [SELFTEST_NIGHTS_MDE] = "detectable",
                                                             [SELFTEST_NIGHTS_ALARMS] = "alarms"};
static const char *const noises[] = {"normal", "t3", "half", "loads"};

static const char words[] =
    "Series of nights, each with the lag-1 correlation rho; processes are not simulated, a night\n"
    "varies by 1 %. Shares are in % of the series, with their 95 % intervals. PASS asks for\n"
    "  false-change  a change is found where there is none: lower bound at most 5 (normal noise)\n"
    "  found         a change in the middle of 365 nights: upper bound at least 95 (5 and 10 %)\n"
    "  found-soon    the same within so many nights, one of 34 series, after 60 nights\n"
    "  detectable    the smallest detectable change is planted in the next three nights, and\n"
    "                found: interval within or across 70 to 90 (from 100 nights)\n"
    "  alarms        night by night, a new build each night, none slower: false alarms a year of\n"
    "                34 series\n"
    "Noise: t3 has heavy tails; half of the variance of half is correlated; one night in ten of\n"
    "loads takes 10 to 49 % longer.\n";

/* ---- rows ---------------------------------------------------------------------------------- */

size_t selftest_nights_plan(selftest_nights *list)
{
    static const double rhos[] = {0, 0.2, 0.4, 0.6}, effects[] = {0.02, 0.05, 0.10};
    static const size_t lengths[] = {30, 100, 365}, delays[] = {2, 10}, before[] = {30, 100, 300};
    static const struct {
        selftest_night_noise noise;
        double rho;
    } others[] = {{SELFTEST_NIGHTS_NORMAL, 0.8},
                  {SELFTEST_NIGHTS_TAILS, 0},
                  {SELFTEST_NIGHTS_HALF, 0.6},
                  {SELFTEST_NIGHTS_HALF, 0.8},
                  {SELFTEST_NIGHTS_LOADS, 0}};
    size_t n = 0;
    for (size_t r = 0; r < COUNT(rhos); r++)
        for (size_t k = 0; k < COUNT(lengths); k++)
            list[n++] = (selftest_nights){.figure = SELFTEST_NIGHTS_FALSE,
                                          .rho = rhos[r],
                                          .nights = lengths[k],
                                          .judged = true};
    for (size_t i = 0; i < COUNT(others); i++)
        list[n++] = (selftest_nights){.figure = SELFTEST_NIGHTS_FALSE,
                                      .noise = others[i].noise,
                                      .rho = others[i].rho,
                                      .nights = 365};
    for (size_t r = 0; r < COUNT(rhos); r++)
        for (size_t e = 0; e < COUNT(effects); e++)
            list[n++] = (selftest_nights){.figure = SELFTEST_NIGHTS_FOUND,
                                          .rho = rhos[r],
                                          .nights = 365,
                                          .effect = effects[e],
                                          .judged = effects[e] >= 0.05};
    for (size_t d = 0; d < COUNT(delays); d++)
        for (size_t r = 0; r < COUNT(rhos); r++)
            for (size_t e = 0; e < COUNT(effects); e++)
                list[n++] = (selftest_nights){.figure = SELFTEST_NIGHTS_SOON,
                                              .rho = rhos[r],
                                              .nights = 60,
                                              .delay = delays[d],
                                              .effect = effects[e]};
    for (size_t r = 0; r < COUNT(rhos); r++)
        for (size_t k = 0; k < COUNT(before); k++)
            list[n++] = (selftest_nights){.figure = SELFTEST_NIGHTS_MDE,
                                          .rho = rhos[r],
                                          .nights = before[k],
                                          .judged = before[k] >= 100};
    for (size_t r = 0; r < COUNT(rhos); r++)
        list[n++] =
            (selftest_nights){.figure = SELFTEST_NIGHTS_ALARMS, .rho = rhos[r], .nights = 200};
    return n;
}

bool selftest_nights_pass(const selftest_nights *t)
{
    const res_interval share = selftest_share(t->hits, t->of);
    if (!t->judged)
        return true;
    switch (t->figure) {
    case SELFTEST_NIGHTS_FALSE:
        return t->of > 0 && share.low <= 0.05;
    case SELFTEST_NIGHTS_FOUND:
        return share.high >= 0.95;
    case SELFTEST_NIGHTS_MDE:
        return share.low <= 0.9 && share.high >= 0.7;
    default:
        return true;
    }
}

/* ---- running ------------------------------------------------------------------------------- */

static size_t series_of(const selftest_nights *t, bool quick)
{
    return !quick                                ? FULL_SERIES
           : t->figure == SELFTEST_NIGHTS_ALARMS ? QUICK_GROWING
                                                 : QUICK_SERIES;
}

static bn_code run_one(selftest_nights *t, size_t series, uint64_t seed, const job_order *job,
                       bn_status *st)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    bn_code code = BN_OK;
    gsl_rng_set(rng, (unsigned long)seed);
    job_progress_begin(job);
    for (size_t i = 0; code == BN_OK && i < series; i++) {
        job_progress_stage(job, "series", (int64_t)i, (int64_t)series);
        code = job_interrupted() ? bn_fail(st, BN_CANCELLED, "interrupted")
                                 : selftest_nights_trial(t, rng, st);
    }
    job_progress_end(job, &(job_outcome){.status = code});
    gsl_rng_free(rng);
    return code;
}

bn_code selftest_nights_run(bool quick, uint64_t seed, selftest_nights *list, size_t count,
                            bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        char title[128];
        snprintf(title, sizeof title, "nights: %s, %s noise, rho %.1f, %zu nights, %.0f %%",
                 figures[list[i].figure], noises[list[i].noise], list[i].rho, list[i].nights,
                 100 * list[i].effect);
        const job_order job = {.title = title, .number = i + 1, .of = count};
        code = run_one(&list[i], series_of(&list[i], quick), seed * 1000003u + i, &job, st);
    }
    return code;
}

/* ---- output -------------------------------------------------------------------------------- */

/* Of a share of nights of one series, in which HITS of OF alarmed. */
static double a_year(double share)
{
    return share * 365 * SELFTEST_NIGHTS_FAMILY;
}

static const char *verdict_of(const selftest_nights *t)
{
    return !t->judged ? "" : selftest_nights_pass(t) ? "PASS" : "FAIL";
}

/* An empty cell for 0. */
static void put_known(json_t *row, double value, const char *unit)
{
    if (value > 0)
        res_sheet_put(row, "%.0f%s", value, unit);
    else
        res_sheet_put(row, "%s", "");
}

void selftest_nights_write(const selftest_nights *list, size_t count, res_format format,
                           bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"nights", false}, {"noise", false}, {"rho", true},        {"length", true},
        {"change", true},  {"within", true}, {"share 95 %", true}, {"a year", true},
        {"series", true},  {"", false}};
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++) {
        const selftest_nights *t = &list[i];
        const res_interval share = selftest_share(t->hits, t->of);
        json_t *row = json_array();
        res_sheet_put(row, "%s", figures[t->figure]);
        res_sheet_put(row, "%s", noises[t->noise]);
        res_sheet_put(row, "%.1f", t->rho);
        res_sheet_put(row, "%zu", t->nights);
        put_known(row, 100 * t->effect, " %");
        put_known(row, (double)t->delay, "");
        if (t->figure == SELFTEST_NIGHTS_ALARMS) {
            res_sheet_put(row, "%s", "");
            res_sheet_put(row, "%.1f", a_year(share.estimate));
        } else {
            res_sheet_put(row, "%.1f [%.1f, %.1f]", 100 * share.estimate, 100 * share.low,
                          100 * share.high);
            res_sheet_put(row, "%s", "");
        }
        res_sheet_put(row, "%zu", t->series);
        res_sheet_put(row, "%s", verdict_of(t));
        json_array_append_new(rows, row);
    }
    if (people)
        bn_text_printf(out, "\n%s\n", words);
    res_sheet_write_named(columns, COUNT(columns), 3, rows, format, out);
    json_decref(rows);
}

void selftest_nights_json(const selftest_nights *list, size_t count, json_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const selftest_nights *t = &list[i];
        const res_interval share = selftest_share(t->hits, t->of);
        const bool alarms = t->figure == SELFTEST_NIGHTS_ALARMS;
        json_array_append_new(
            out,
            json_pack("{ss ss ss sf sI sf sI sI so s{so sf sf} sb sb}", "part", "nights", "figure",
                      figures[t->figure], "noise", noises[t->noise], "rho", t->rho, "nights",
                      (json_int_t)t->nights, "effect", t->effect, "within", (json_int_t)t->delay,
                      "series", (json_int_t)t->series, "alarms_a_year",
                      alarms ? res_json_real(a_year(share.estimate)) : json_null(), "share",
                      "share", res_json_real(share.estimate), "low", share.low, "high", share.high,
                      "judged", (int)t->judged, "pass", (int)selftest_nights_pass(t)));
    }
}
