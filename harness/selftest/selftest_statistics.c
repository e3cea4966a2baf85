/*
 * selftest_statistics.c - bench selftest statistics: the comparisons of results/ on simulated
 * sessions, and the history on simulated nights (nights_table.c). No plugin is loaded, so it runs
 * in the parent. A row of comparisons is a scenario with a number of pairs.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/claims_priv.h"
#include "harness/selftest/nights_priv.h"
#include "harness/selftest/selftest_priv.h"
#include "harness/selftest/statistics_priv.h"
#include "harness/selftest/verdicts_priv.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_TRIALS  2000
#define QUICK_TRIALS 500

/* Designs of the trials. Families of a few comparisons: with the fewest pairs that can claim a
 * difference, with the fewest that can be equivalent, and with interim analyses. In the full test
 * also with a family of many comparisons, and alone, which shows how many pairs the interim
 * analyses save. */
typedef struct design {
    size_t pairs, family;
    res_plan plan;
    bool quick;
} design;

static const design designs[] = {{.pairs = RES_CLAIM_PAIRS, .family = 6, .quick = true},
                                 {.pairs = 8, .family = 30},
                                 {.pairs = 8, .family = 1},
                                 {.pairs = RES_EQUIVALENT_PAIRS, .family = 6, .quick = true},
                                 {.pairs = 24, .family = 1},
                                 {.pairs = 24, .family = 1, .plan = RES_PLAN_USUAL},
                                 {.pairs = 24, .family = 6, .plan = RES_PLAN_USUAL, .quick = true},
                                 {.pairs = 24, .family = 30, .plan = RES_PLAN_USUAL},
                                 {.pairs = 12, .family = 1, .plan = RES_PLAN_TWELVE}};
#define DESIGN_COUNT (sizeof designs / sizeof *designs)
#define MOST_ROWS    64

typedef struct fault_row {
    selftest_fault bit;
    const char *name;
} fault_row;

static const fault_row fault_rows[] = {{SELFTEST_FAULT_ALARMS, "alarms"},
                                       {SELFTEST_FAULT_COVERAGE, "coverage"},
                                       {SELFTEST_FAULT_MDE, "visible"},
                                       {SELFTEST_FAULT_POWER, "power"},
                                       {SELFTEST_FAULT_EQUIVALENT, "equivalence"}};
#define FAULT_ROWS (sizeof fault_rows / sizeof *fault_rows)

static const char explanation[] =
    "Shares are in %, with their 95 % intervals in brackets (Clopper-Pearson). PASS\n"
    "asks for\n"
    "  alarms    families of like sides in which a difference was claimed: lower\n"
    "            bound at most 5; periodic: 6\n"
    "  holds     95 % intervals that hold the true ratio, of like sides, and the\n"
    "            fewest of those 1, 2 and 5 % slower: upper bound at least 95;\n"
    "            periodic: 94\n"
    "  MDE       minimum detectable effect (geometric mean), found where injected:\n"
    "            interval within or across 70 to 90 (without interim analyses)\n"
    "  1, 2, 5 % slower: found, and predicted: at most 15 fewer; with interim\n"
    "            analyses, found, in so many pairs on average (used: of like sides)\n"
    "  equal     like sides called equivalent (+-3 %): at least 90 of the quiet ones,\n"
    "            from 12 pairs on\n"
    "  5 % equal those 5 % slower called equivalent: lower bound at most 5\n";

/* ---- rows --------------------------------------------------------------------------- */

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

static void add_share(json_t *row, size_t hits, size_t of)
{
    const res_interval share = selftest_share(hits, of);
    add_text(row, "%.1f [%.1f, %.1f]", 100 * share.estimate, 100 * share.low, 100 * share.high);
}

static double percent(double hits, size_t of)
{
    return 100 * hits / (double)of;
}

/* "alarms visible", or PASS. */
static void verdict_text(unsigned faults, char *text, size_t size)
{
    snprintf(text, size, faults ? "FAIL:" : "PASS");
    for (size_t i = 0; i < FAULT_ROWS; i++)
        if (faults & fault_rows[i].bit)
            snprintf(text + strlen(text), size - strlen(text), " %s", fault_rows[i].name);
}

static void add_mde(json_t *row, const selftest_trials *t)
{
    if (t->plan != RES_PLAN_ONCE) {
        add_text(row, "-");
        add_text(row, "-");
        return;
    }
    add_text(row, "%.2f %%", 100 * expm1(t->mde / (double)t->promised));
    add_share(row, t->mde_found, t->promised);
}

static json_t *row_of(const selftest_trials *t)
{
    json_t *row = json_array();
    char verdict[128];
    verdict_text(selftest_trials_judge(t), verdict, sizeof verdict);
    add_text(row, "%s", t->scenario->name);
    add_text(row, "%s%zu", t->plan != RES_PLAN_ONCE ? "up to " : "", t->pairs);
    add_text(row, "%.1f", (double)t->used / (double)t->trials);
    add_text(row, "%zu", t->family);
    add_share(row, t->alarms, t->trials);
    add_text(row, "%.1f %.1f", percent((double)t->held, t->trials),
             percent((double)selftest_least_held(t), t->trials));
    add_mde(row, t);
    for (size_t i = 0; i < SELFTEST_SIM_EFFECTS; i++) {
        const double found = percent((double)t->found[i], t->trials);
        if (t->plan != RES_PLAN_ONCE)
            add_text(row, "%.0f in %.1f", found, (double)t->used_slowed[i] / (double)t->trials);
        else
            add_text(row, "%.0f (%.0f)", found, percent(t->predicted[i], t->trials));
    }
    add_text(row, "%.1f", percent((double)t->equivalent, t->trials));
    add_text(row, "%.1f", percent((double)t->wrongly_equivalent, t->trials));
    add_text(row, "%s", verdict);
    return row;
}

static void write_table(const selftest_trials *list, size_t count, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"scenario", false},   {"pairs", true},      {"used", true},       {"family", true},
        {"alarms 95 %", true}, {"holds", true},      {"MDE", true},        {"found 95 %", true},
        {"1 % slower", true},  {"2 % slower", true}, {"5 % slower", true}, {"equal", true},
        {"5 % equal", true},   {"", false}};
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, row_of(&list[i]));
    res_sheet_write_named(columns, sizeof columns / sizeof *columns, 4, rows, format, out);
    json_decref(rows);
}

/* ---- JSON ----------------------------------------------------------------------------- */

static json_t *share_json(size_t hits, size_t of)
{
    const res_interval share = selftest_share(hits, of);
    return json_pack("{so sf sf}", "share", res_json_real(share.estimate), "low", share.low, "high",
                     share.high);
}

static json_t *trials_json(const selftest_trials *t)
{
    const unsigned faults = selftest_trials_judge(t);
    const double n = (double)t->trials;
    json_t *effects = json_array(), *names = json_array();
    for (size_t i = 0; i < SELFTEST_SIM_EFFECTS; i++)
        json_array_append_new(
            effects, json_pack("{sf so sf so sf}", "effect", selftest_sim_effects[i], "found",
                               share_json(t->found[i], t->trials), "predicted", t->predicted[i] / n,
                               "interval_holds", share_json(t->held_slowed[i], t->trials),
                               "pairs_used", (double)t->used_slowed[i] / n));
    for (size_t i = 0; i < FAULT_ROWS; i++)
        if (faults & fault_rows[i].bit)
            json_array_append_new(names, json_string(fault_rows[i].name));
    return json_pack(
        "{ss ss si sb sf si si so so so so so so so so sb}", "part", "comparisons", "scenario",
        t->scenario->name, "pairs", (int)t->pairs, "looks", t->plan != RES_PLAN_ONCE, "pairs_used", (double)t->used / n,
        "families", (int)t->trials, "family", (int)t->family, "false_alarms",
        share_json(t->alarms, t->trials), "interval_holds", share_json(t->held, t->trials),
        "smallest_visible", res_json_real(expm1(t->mde / (double)t->promised)),
        "smallest_visible_found", share_json(t->mde_found, t->promised), "effects", effects,
        "equivalent", share_json(t->equivalent, t->trials), "wrongly_equivalent",
        share_json(t->wrongly_equivalent, t->trials), "faults", names, "pass", faults == 0);
}

/* ---- running ---------------------------------------------------------------------------- */

static bn_code run_row(selftest_trials *t, size_t trials, uint64_t seed, const job_order *job,
                       bn_status *st)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    bn_code code = BN_OK;
    gsl_rng_set(rng, (unsigned long)seed);
    job_progress_begin(job);
    for (size_t i = 0; code == BN_OK && i < trials; i++) {
        job_progress_stage(job, "families", (int64_t)i, (int64_t)trials);
        code = job_interrupted() ? bn_fail(st, BN_CANCELLED, "interrupted")
                                 : selftest_trial(t, &selftest_our_procedure, rng, st);
    }
    job_progress_end(job, &(job_outcome){.status = code});
    gsl_rng_free(rng);
    return code;
}

/* Fills LIST with the rows of the table, before any trial; returns how many. */
static size_t plan(bool quick, selftest_trials *list)
{
    size_t count = 0;
    for (const selftest_scenario *s = selftest_scenarios; s->name; s++)
        for (size_t i = 0; i < DESIGN_COUNT && count < MOST_ROWS; i++)
            if (!quick || designs[i].quick)
                list[count++] = (selftest_trials){.scenario = s,
                                                  .pairs = designs[i].pairs,
                                                  .family = designs[i].family,
                                                  .plan = designs[i].plan};
    return count;
}

static uint64_t seed_of(const selftest_options *options)
{
    return (uint64_t)options->matrix->axis[RES_AXIS_SEED].value[0].number;
}

static bn_code run_all(const selftest_options *options, selftest_trials *list, size_t count,
                       bn_status *st)
{
    const size_t trials = options->quick ? QUICK_TRIALS : FULL_TRIALS;
    bn_code code = BN_OK;
    cli_note_plan(count, "ends it, and nothing is printed",
                  "simulated comparisons: %zu rows of %zu families, in this process", count,
                  trials);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        char title[128];
        /* The seed of a row does not depend on the rows before it. */
        const uint64_t row = (uint64_t)(list[i].scenario - selftest_scenarios) * 10000 +
                             list[i].family * 100 + list[i].pairs;
        snprintf(title, sizeof title, "%s, %s%zu pairs", list[i].scenario->name,
                 list[i].plan != RES_PLAN_ONCE ? "up to " : "", list[i].pairs);
        const job_order job = {.title = title, .number = i + 1, .of = count};
        code = run_row(&list[i], trials, seed_of(options) * 1000003u + row, &job, st);
    }
    return code;
}

/* Comparisons of steps, speedup tables, comparisons of processes some of which are slow, and
 * nights. */
typedef struct simulated {
    selftest_trials trials[MOST_ROWS];
    selftest_claims claims[SELFTEST_MOST_CLAIMS];
    selftest_verdicts verdicts[SELFTEST_MOST_VERDICTS];
    selftest_nights nights[SELFTEST_NIGHTS_MOST];
    size_t trial_count, claim_count, verdict_count, night_count;
} simulated;

static bool all_pass(const simulated *all)
{
    bool good = true;
    for (size_t i = 0; i < all->trial_count; i++)
        good = good && selftest_trials_judge(&all->trials[i]) == 0;
    for (size_t i = 0; i < all->claim_count; i++)
        good = good && selftest_claims_judge(&all->claims[i]) == 0;
    for (size_t i = 0; i < all->verdict_count; i++)
        good = good && selftest_verdicts_judge(&all->verdicts[i]) == 0;
    for (size_t i = 0; i < all->night_count; i++)
        good = good && selftest_nights_pass(&all->nights[i]);
    return good;
}

static void print_json(const simulated *done)
{
    json_t *all = json_array();
    for (size_t i = 0; i < done->trial_count; i++)
        json_array_append_new(all, trials_json(&done->trials[i]));
    selftest_claims_json(done->claims, done->claim_count, all);
    selftest_verdicts_json(done->verdicts, done->verdict_count, all);
    selftest_nights_json(done->nights, done->night_count, all);
    cli_json(all);
    json_decref(all);
}

static void print_people(const simulated *all, res_format format)
{
    bn_text text = {0};
    const selftest_trials *list = all->trials;
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    if (people) {
        bn_text_printf(&text,
                       "Sessions of %d steps a process, %zu families of comparisons in each "
                       "row:\n\n",
                       SELFTEST_SIM_STEPS, list[0].trials);
        for (const selftest_scenario *s = selftest_scenarios; s->name; s++)
            bn_text_printf(&text, "  %-10s %s\n", s->name, s->what);
        bn_text_putc(&text, '\n');
    }
    write_table(list, all->trial_count, format, &text);
    if (people)
        bn_text_printf(&text, "\n%s\n", explanation);
    else
        bn_text_putc(&text, '\n');
    selftest_claims_put(all->claims, all->claim_count, format, &text);
    selftest_verdicts_put(all->verdicts, all->verdict_count, format, &text);
    selftest_nights_write(all->nights, all->night_count, format, &text);
    if (people)
        bn_text_putc(&text, '\n');
    if (text.data)
        cli_out("%s", text.data);
    bn_text_free(&text);
}

int selftest_statistics(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    if (res_format_parse(cli_format(&options->output), &format, &st) != BN_OK)
        return (int)cli_complain(&st);
    simulated *all = bn_zalloc(1, sizeof *all);
    const uint64_t seed = seed_of(options);
    all->trial_count = plan(options->quick, all->trials);
    all->claim_count = selftest_claims_plan(options->quick, all->claims);
    all->verdict_count = selftest_verdicts_plan(options->quick, all->verdicts);
    all->night_count = selftest_nights_plan(all->nights);
    job_supervise_begin();
    bn_code code = run_all(options, all->trials, all->trial_count, &st);
    if (code == BN_OK)
        code = selftest_claims_run(all->claims, all->claim_count, options->quick, seed, &st);
    if (code == BN_OK)
        code = selftest_verdicts_run(all->verdicts, all->verdict_count, options->quick, seed, &st);
    if (code == BN_OK)
        code = selftest_nights_run(options->quick, seed, all->nights, all->night_count, &st);
    if (code == BN_OK && format == RES_TABLE_JSON)
        print_json(all);
    else if (code == BN_OK)
        print_people(all, format);
    const bool good = all_pass(all);
    free(all);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    (people ? cli_tell : cli_say)("statistics: %s", good ? "PASS" : "FAIL");
    return good ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
