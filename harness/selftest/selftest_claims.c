/*
 * selftest_claims.c - bench selftest statistics, second part: which simulated tables there are, and
 * what it prints of them.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/claims_priv.h"
#include "harness/selftest/statistics_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_TABLES  4000
#define QUICK_TABLES 200

static const char *const shape_names[] = {"ln", "wide"};
static const char *const noise_names[] = {"normal", "t3", "skewed", "two speeds"};

static const struct fault_name {
    selftest_claims_fault bit;
    const char *name;
} fault_names[] = {{SELFTEST_CLAIMS_COVERAGE, "coverage"},
                   {SELFTEST_CLAIMS_WRONG, "wrong"},
                   {SELFTEST_CLAIMS_POWER, "power"},
                   {SELFTEST_CLAIMS_PROMISE, "MDE"}};
#define FAULTS (sizeof fault_names / sizeof *fault_names)

static const char explanation[] =
    "Rows: standard deviations between processes of 1 % x exp N(0, 0.5) (ln), or 0.3 to 5 %\n"
    "(wide). Shares are in %, with their 95 % intervals in brackets (Clopper-Pearson). PASS\n"
    "asks for\n"
    "  holds    95 % intervals that hold the truth: 93 to 97, with a tau 94 to 99\n"
    "  wrong    tables of like ratios with any claim: at most 6\n"
    "  5 %      tables that claim a difference of 5 % in their first row: at least 80 where\n"
    "           34 rows (ln) have 4 processes each\n"
    "  MDE      smallest detectable difference of the first row (geometric mean), and the\n"
    "           share of further tables that claim it: 75 to 85 from four processes on\n"
    "Heavy tails (t3), skewed noise and processes of two speeds are not judged.\n";

/* ---- which ---------------------------------------------------------------------------------- */

/* Adds a kind of tables for each number of ratios and of processes, 0-terminated. */
static void add(selftest_claims *list, size_t *count, const selftest_claims *like,
                const size_t *ratios, const size_t *processes)
{
    for (size_t r = 0; ratios[r] > 0; r++)
        for (size_t k = 0; processes[k] > 0 && *count < SELFTEST_MOST_CLAIMS; k++) {
            list[*count] = *like;
            list[*count].ratios = ratios[r];
            list[(*count)++].processes = processes[k];
        }
}

size_t selftest_claims_plan(bool quick, selftest_claims *list)
{
    static const size_t all_ratios[] = {1, 2, 4, 10, 34, 0}, some_ratios[] = {1, 4, 34, 0},
                        all[] = {3, 4, 8, 16, 0}, some[] = {4, 16, 0}, three[] = {4, 8, 16, 0};
    static const double drifts[] = {0.005, 0.01, 0.03};
    size_t count = 0;
    for (int shape = 0; shape < 2; shape++) {
        const selftest_claims like = {.rows = (selftest_rows_shape)shape, .judged = true};
        add(list, &count, &like, quick ? some_ratios : all_ratios, quick ? some : all);
    }
    for (size_t i = 0; i < sizeof drifts / sizeof *drifts; i++) {
        selftest_claims like = {.drift = drifts[i], .judged = true, .runs = 12};
        if (!quick || i == 1)
            add(list, &count, &like, some_ratios, quick ? some : three);
        like.runs = 0;
        if (!quick)
            add(list, &count, &like, some_ratios, some);
    }
    for (int noise = SELFTEST_NOISE_T3; !quick && noise <= SELFTEST_NOISE_SPEEDS; noise++) {
        const selftest_claims like = {.noise = (selftest_noise)noise};
        add(list, &count, &like, some_ratios, three);
    }
    return count;
}

/* ---- running -------------------------------------------------------------------------------- */

static void name(const selftest_claims *c, char *text, size_t size)
{
    snprintf(text, size, "%s, %s, tau %g %%, %zu ratios of %zu processes", shape_names[c->rows],
             noise_names[c->noise], 100 * c->drift, c->ratios, c->processes);
}

static bn_code run_one(selftest_claims *c, size_t tables, uint64_t seed, const job_order *job,
                       bn_status *st)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    bn_code code = BN_OK;
    gsl_rng_set(rng, (unsigned long)seed);
    job_progress_begin(job);
    for (size_t i = 0; code == BN_OK && i < tables; i++) {
        job_progress_stage(job, "tables", (int64_t)i, (int64_t)tables);
        if (job_interrupted())
            code = bn_fail(st, BN_CANCELLED, "interrupted");
        else
            selftest_claims_trial(c, rng);
    }
    job_progress_end(job, &(job_outcome){.status = code});
    gsl_rng_free(rng);
    return code;
}

bn_code selftest_claims_run(selftest_claims *list, size_t count, bool quick, uint64_t seed,
                            bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        const selftest_claims *c = &list[i];
        char title[128];
        name(c, title, sizeof title);
        const job_order job = {.title = title, .number = i + 1, .of = count};
        /* The seed of a kind does not depend on those before it. */
        const uint64_t own = (uint64_t)c->rows + 10 * (uint64_t)c->noise + 100 * c->ratios +
                             10000 * c->processes + 1000000 * c->runs +
                             100000000 * (uint64_t)lround(1000 * c->drift);
        code =
            run_one(&list[i], quick ? QUICK_TABLES : FULL_TABLES, seed * 1000003u + own, &job, st);
    }
    return code;
}

/* ---- printing ------------------------------------------------------------------------------- */

static double share(size_t hits, size_t of)
{
    return of > 0 ? (double)hits / (double)of : (double)NAN;
}

static void put_share(json_t *cells, size_t hits, size_t of)
{
    const res_interval s = selftest_share(hits, of);
    res_sheet_put(cells, "%.1f [%.1f, %.1f]", 100 * s.estimate, 100 * s.low, 100 * s.high);
}

static void verdict(const selftest_claims *c, char *text, size_t size)
{
    const unsigned faults = selftest_claims_judge(c);
    snprintf(text, size, !c->judged ? "not judged" : faults ? "FAIL:" : "PASS");
    for (size_t i = 0; i < FAULTS; i++)
        if (faults & (unsigned)fault_names[i].bit)
            snprintf(text + strlen(text), size - strlen(text), " %s", fault_names[i].name);
}

static json_t *row_of(const selftest_claims *c)
{
    json_t *cells = json_array();
    char text[64];
    verdict(c, text, sizeof text);
    res_sheet_put(cells, "%s", shape_names[c->rows]);
    res_sheet_put(cells, "%s", noise_names[c->noise]);
    if (c->runs > 0)
        res_sheet_put(cells, "%.1f %% of %zu runs", 100 * c->drift, c->runs);
    else
        res_sheet_put(cells, "%.1f %%", 100 * c->drift);
    res_sheet_put(cells, "%zu", c->ratios);
    res_sheet_put(cells, "%zu", c->processes);
    res_sheet_put(cells, "%.1f", 100 * share(c->held, c->tables * c->ratios));
    put_share(cells, c->wrong, c->tables);
    put_share(cells, c->claimed, c->tables);
    res_sheet_put(cells, "%.2f %%", 100 * expm1(c->mde / (double)c->promised));
    put_share(cells, c->found, c->promised);
    res_sheet_put(cells, "%s", text);
    return cells;
}

void selftest_claims_put(const selftest_claims *list, size_t count, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"rows", false},     {"noise", false},     {"tau", true},        {"ratios", true},
        {"processes", true}, {"holds", true},      {"wrong 95 %", true}, {"5 % 95 %", true},
        {"MDE", true},       {"found 95 %", true}, {"", false}};
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, row_of(&list[i]));
    if (people)
        bn_text_printf(out, "\nSpeedup tables, %zu of each kind:\n\n", list[0].tables);
    res_sheet_write_named(columns, sizeof columns / sizeof *columns, 5, rows, format, out);
    if (people)
        bn_text_printf(out, "\n%s\n", explanation);
    json_decref(rows);
}

static json_t *share_json(size_t hits, size_t of)
{
    const res_interval s = selftest_share(hits, of);
    return json_pack("{so sf sf}", "share",
                     isfinite(s.estimate) ? json_real(s.estimate) : json_null(), "low", s.low,
                     "high", s.high);
}

void selftest_claims_json(const selftest_claims *list, size_t count, json_t *all)
{
    for (size_t i = 0; i < count; i++) {
        const selftest_claims *c = &list[i];
        const unsigned faults = selftest_claims_judge(c);
        json_t *names = json_array();
        for (size_t f = 0; f < FAULTS; f++)
            if (faults & (unsigned)fault_names[f].bit)
                json_array_append_new(names, json_string(fault_names[f].name));
        json_array_append_new(
            all, json_pack("{ss ss ss sf si si si si sf so so so so sb so sb}", "part", "tables",
                           "rows", shape_names[c->rows], "noise", noise_names[c->noise], "drift",
                           c->drift, "calibration_runs", (int)c->runs, "ratios", (int)c->ratios,
                           "processes", (int)c->processes, "tables", (int)c->tables,
                           "interval_holds", share(c->held, c->tables * c->ratios), "wrong",
                           share_json(c->wrong, c->tables), "claimed",
                           share_json(c->claimed, c->tables), "mde",
                           c->promised > 0 ? json_real(expm1(c->mde / (double)c->promised))
                                           : json_null(),
                           "mde_found", share_json(c->found, c->promised), "judged", (int)c->judged,
                           "faults", names, "pass", (int)(faults == 0)));
    }
}
