/*
 * selftest_verdicts.c - the kinds of simulated comparisons, and what came of them as a table and as
 * JSON.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/statistics_priv.h"
#include "harness/selftest/verdicts_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_COMPARISONS  4000
#define QUICK_COMPARISONS 500

static const char *const draws[] = {"normal", "t of 3", "two speeds"};

static const char explanation[] =
    "Comparisons of processes in numbers, of experiments that are alike and a control, as bench\n"
    "compare plans and judges them; a slow process takes 1.5 times as long. Shares are in %.\n"
    "  equal .. undecided  experiments by their verdicts\n"
    "  B slow    comparisons that say \"B has slow processes\"\n"
    "  claims    comparisons with any claim: that, or an experiment slower or faster\n"
    "  exit 0    all equivalent, and no such claim\n"
    "PASS asks for no experiment that is equivalent although a process was seen to be slow; of\n"
    "like sides, for B slow in at most 1.5, claims in at most 5 (lower bounds of the 95 %\n"
    "interval), and 95 of 100 equivalent where processes spread by 1 % and none is slow.\n";

/* ---- kinds -------------------------------------------------------------------------------- */

typedef struct noise {
    selftest_draw draw;
    double spread;
} noise;

static void add(selftest_verdicts *list, size_t *count, noise n, double slow_a, double slow_b,
                double effect, size_t experiments, size_t once)
{
    if (*count < SELFTEST_MOST_VERDICTS)
        list[(*count)++] = (selftest_verdicts){.draw = n.draw,
                                               .spread = n.spread,
                                               .slow = {slow_a, slow_b},
                                               .effect = effect,
                                               .experiments = experiments,
                                               .plan = once ? RES_PLAN_ONCE : RES_PLAN_USUAL,
                                               .pairs = once ? once : 24};
}

/* Verdicts by the share of slow processes, as one and as six experiments. */
static void add_slow(bool quick, size_t experiments, selftest_verdicts *list, size_t *count)
{
    static const double of_b[] = {0, 0.2, 0.1, 0.05, 0.15, 0.3}, of_both[] = {0.2, 0.05, 0.1};
    static const noise noises[] = {{SELFTEST_DRAW_NORMAL, 0.03},
                                   {SELFTEST_DRAW_T3, 0.01},
                                   {SELFTEST_DRAW_T3, 0.03},
                                   {SELFTEST_DRAW_SPEEDS, 0.01}};
    const noise usual = {SELFTEST_DRAW_NORMAL, 0.01};
    for (size_t i = 0; i < (quick ? 2 : sizeof of_b / sizeof *of_b); i++)
        add(list, count, usual, 0, of_b[i], 0, experiments, 0);
    for (size_t i = 0; i < (quick ? 1 : sizeof of_both / sizeof *of_both); i++)
        add(list, count, usual, of_both[i], of_both[i], 0, experiments, 0);
    for (size_t i = 0; i < (quick ? 1 : sizeof noises / sizeof *noises); i++)
        add(list, count, noises[i], 0, 0, 0, experiments, 0);
}

/* The savings of interim analyses: differences, and as many pairs judged once. */
static void add_effects(selftest_verdicts *list, size_t *count)
{
    static const noise noises[] = {
        {SELFTEST_DRAW_NORMAL, 0.01}, {SELFTEST_DRAW_NORMAL, 0.03}, {SELFTEST_DRAW_SPEEDS, 0.01}};
    static const double effects[] = {0, 0.02, 0.05};
    static const size_t once[] = {0, 12, 24};
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++)
        for (size_t k = 0; k < sizeof effects / sizeof *effects; k++)
            for (size_t m = 0; m < sizeof once / sizeof *once; m++)
                if (effects[k] > 0 || once[m] > 0)
                    add(list, count, noises[i], 0, 0, effects[k], 1, once[m]);
}

size_t selftest_verdicts_plan(bool quick, selftest_verdicts *list)
{
    size_t count = 0;
    add_slow(quick, 1, list, &count);
    add_slow(quick, SELFTEST_MOST_EXPERIMENTS, list, &count);
    if (!quick)
        add_effects(list, &count);
    return count;
}

/* ---- running -------------------------------------------------------------------------------- */

static bn_code run_kind(selftest_verdicts *v, size_t comparisons, uint64_t seed,
                        const job_order *job, bn_status *st)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    bn_code code = BN_OK;
    gsl_rng_set(rng, (unsigned long)seed);
    job_progress_begin(job);
    for (size_t i = 0; code == BN_OK && i < comparisons; i++) {
        job_progress_stage(job, "comparisons", (int64_t)i, (int64_t)comparisons);
        code = job_interrupted() ? bn_fail(st, BN_CANCELLED, "interrupted")
                                 : selftest_verdicts_trial(v, rng, st);
    }
    job_progress_end(job, &(job_outcome){.status = code});
    gsl_rng_free(rng);
    return code;
}

bn_code selftest_verdicts_run(selftest_verdicts *list, size_t count, bool quick, uint64_t seed,
                              bn_status *st)
{
    const size_t comparisons = quick ? QUICK_COMPARISONS : FULL_COMPARISONS;
    bn_code code = BN_OK;
    cli_note_plan(count, "ends it, and nothing is printed",
                  "slow processes: %zu kinds of %zu comparisons, in this process", count,
                  comparisons);
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        char title[128];
        snprintf(title, sizeof title, "%s %.2g %%, %.0f and %.0f %% slow, %zu experiment%s",
                 draws[list[i].draw], 100 * list[i].spread, 100 * list[i].slow[0],
                 100 * list[i].slow[1], list[i].experiments, list[i].experiments == 1 ? "" : "s");
        const job_order job = {.title = title, .number = i + 1, .of = count};
        code = run_kind(&list[i], comparisons, seed * 1000003u + i, &job, st);
    }
    return code;
}

/* ---- the table --------------------------------------------------------------------------------
 */

static void add_text(json_t *row, const char *format, ...) BN_PRINTF(2, 3);

static void add_text(json_t *row, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_array_append_new(row, json_string(text));
}

static const char *verdict_of(unsigned faults)
{
    return !faults                             ? "PASS"
           : faults & SELFTEST_VERDICTS_HIDDEN ? "FAIL: equivalent with slow ones"
           : faults & SELFTEST_VERDICTS_SLOW   ? "FAIL: B slow"
           : faults & SELFTEST_VERDICTS_CLAIMS ? "FAIL: claims"
                                               : "FAIL: equal";
}

static json_t *row_of(const selftest_verdicts *v)
{
    static const res_verdict order[] = {RES_EQUIVALENT, RES_UNEVEN, RES_SLOWER, RES_FASTER,
                                        RES_UNDECIDED};
    const double experiments = (double)(v->comparisons * v->experiments);
    const size_t shares[] = {v->b_slow, v->claims, v->passed};
    json_t *row = json_array();
    add_text(row, "%s %.2g %%", draws[v->draw], 100 * v->spread);
    add_text(row, "%.0f", 100 * v->slow[0]);
    add_text(row, "%.0f", 100 * v->slow[1]);
    add_text(row, "%.0f", 100 * v->effect);
    add_text(row, "%zu", v->experiments);
    add_text(row, "%s%zu", v->plan == RES_PLAN_ONCE ? "" : "up to ", v->pairs);
    add_text(row, "%.1f", (double)v->used / experiments);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        add_text(row, "%.1f", 100 * (double)v->of[order[i]] / experiments);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        add_text(row, "%.1f", 100 * (double)shares[i] / (double)v->comparisons);
    add_text(row, "%s", verdict_of(selftest_verdicts_judge(v)));
    return row;
}

void selftest_verdicts_put(const selftest_verdicts *list, size_t count, res_format format,
                           bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"processes", false},  {"A slow", true}, {"B slow", true}, {"B slower", true},
        {"experiments", true}, {"pairs", true},  {"used", true},   {"equal", true},
        {"uneven", true},      {"slower", true}, {"faster", true}, {"undecided", true},
        {"B has slow", true},  {"claims", true}, {"exit 0", true}, {"", false}};
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, row_of(&list[i]));
    if (res_format_is_text(format) || format == RES_TABLE_MARKDOWN)
        bn_text_printf(out, "\n%s\n", explanation);
    res_sheet_write_named(columns, sizeof columns / sizeof *columns, 6, rows, format, out);
    json_decref(rows);
}

void selftest_verdicts_json(const selftest_verdicts *list, size_t count, json_t *all)
{
    for (size_t i = 0; i < count; i++) {
        const selftest_verdicts *v = &list[i];
        json_t *verdicts = json_object();
        for (int k = 0; k <= RES_UNDECIDED; k++)
            json_object_set_new(verdicts, res_verdict_name((res_verdict)k),
                                json_integer((json_int_t)v->of[k]));
        json_array_append_new(
            all, json_pack("{ss ss sf sf sf sf si ss si si sf so si si si si sb}", "part",
                           "verdicts", "draw", draws[v->draw], "spread", v->spread, "slow_a",
                           v->slow[0], "slow_b", v->slow[1], "effect", v->effect, "experiments",
                           (int)v->experiments, "plan", res_plan_name(v->plan), "pairs",
                           (int)v->pairs, "comparisons", (int)v->comparisons, "pairs_used",
                           (double)v->used / (double)(v->comparisons * v->experiments), "verdicts",
                           verdicts, "b_slow", (int)v->b_slow, "claims", (int)v->claims, "passed",
                           (int)v->passed, "hidden", (int)v->hidden, "pass",
                           selftest_verdicts_judge(v) == 0));
    }
}
