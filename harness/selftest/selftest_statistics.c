/*
 * selftest_statistics.c - bench selftest statistics: the comparisons of results/ on simulated
 * sessions, and the history on simulated nights (nights_table.c). No plugin is loaded, so it runs
 * in the parent. A row of comparisons is a scenario with a number of pairs.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/nights_priv.h"
#include "harness/selftest/selftest_priv.h"
#include "harness/selftest/statistics_priv.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_TRIALS  2000
#define QUICK_TRIALS 500

/* Designs of the trials. Families of a few comparisons: with the fewest pairs that can claim a
 * difference, by Student's t, with enough for flips of signs, and with interim analyses. In the
 * full test also with more pairs for t, with a family of many comparisons, and alone, which shows
 * how many pairs the interim analyses save. */
typedef struct design {
    size_t pairs, family;
    bool interim, quick;
} design;

static const design designs[] = {
    {.pairs = 5, .family = 6, .quick = true},
    {.pairs = 7, .family = 6},
    {.pairs = 10, .family = 6, .quick = true},
    {.pairs = 8, .family = 30},
    {.pairs = 8, .family = 1},
    {.pairs = RES_INTERIM_USUAL, .family = 1, .interim = true},
    {.pairs = RES_INTERIM_USUAL, .family = 6, .interim = true, .quick = true},
    {.pairs = RES_INTERIM_USUAL, .family = 30, .interim = true},
    {.pairs = RES_INTERIM_SHORT, .family = 1, .interim = true}};
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
    "            bound at most 5\n"
    "  holds     95 % intervals that hold the true ratio, of like sides, and the\n"
    "            fewest of those 1, 2 and 5 % slower: upper bound at least 95\n"
    "            (bootstrap: the percentile bootstrap, not judged, too narrow for\n"
    "            few pairs)\n"
    "  MDE       minimum detectable effect (geometric mean), found where injected:\n"
    "            interval within or across 70 to 90 (without interim analyses)\n"
    "  1, 2, 5 % slower: found, and predicted: at most 15 fewer; with interim\n"
    "            analyses, found, in so many pairs on average (used: of like sides)\n"
    "  equal     like sides called equivalent (+-3 %): at least 90 of the quiet ones\n"
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
    if (t->interim) {
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
    add_text(row, "%s%zu", t->interim ? "up to " : "", t->pairs);
    add_text(row, "%.1f", (double)t->used / (double)t->trials);
    add_text(row, "%zu", t->family);
    add_share(row, t->alarms, t->trials);
    add_text(row, "%.1f %.1f", percent((double)t->held, t->trials),
             percent((double)selftest_least_held(t), t->trials));
    add_text(row, "%.1f", percent((double)t->bootstrap_held, t->trials));
    add_mde(row, t);
    for (size_t i = 0; i < SELFTEST_SIM_EFFECTS; i++) {
        const double found = percent((double)t->found[i], t->trials);
        if (t->interim)
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
        {"alarms 95 %", true}, {"holds", true},      {"bootstrap", true},  {"MDE", true},
        {"found 95 %", true},  {"1 % slower", true}, {"2 % slower", true}, {"5 % slower", true},
        {"equal", true},       {"5 % equal", true},  {"", false}};
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, row_of(&list[i]));
    res_sheet_write_named(columns, sizeof columns / sizeof *columns, 4, rows, format, out);
    json_decref(rows);
}

/* ---- JSON ----------------------------------------------------------------------------- */

/* Null for a share or a mean of nothing. */
static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *share_json(size_t hits, size_t of)
{
    const res_interval share = selftest_share(hits, of);
    return json_pack("{so sf sf}", "share", real_json(share.estimate), "low", share.low, "high",
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
        "{ss ss si sb sf si si so so so so so so so so so sb}", "part", "comparisons", "scenario",
        t->scenario->name, "pairs", (int)t->pairs, "looks", (int)t->interim, "pairs_used",
        (double)t->used / n, "families", (int)t->trials, "family", (int)t->family, "false_alarms",
        share_json(t->alarms, t->trials), "interval_holds", share_json(t->held, t->trials),
        "bootstrap_holds", share_json(t->bootstrap_held, t->trials), "smallest_visible",
        real_json(expm1(t->mde / (double)t->promised)), "smallest_visible_found",
        share_json(t->mde_found, t->promised), "effects", effects, "equivalent",
        share_json(t->equivalent, t->trials), "wrongly_equivalent",
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
                                                  .interim = designs[i].interim};
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
                 list[i].interim ? "up to " : "", list[i].pairs);
        const job_order job = {.title = title, .number = i + 1, .of = count};
        code = run_row(&list[i], trials, seed_of(options) * 1000003u + row, &job, st);
    }
    return code;
}

static void print_json(const selftest_trials *list, size_t count, const selftest_nights *nights,
                       size_t night_count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(all, trials_json(&list[i]));
    selftest_nights_json(nights, night_count, all);
    cli_json(all);
    json_decref(all);
}

static void print_people(const selftest_trials *list, size_t count, const selftest_nights *nights,
                         size_t night_count, res_format format)
{
    bn_text text = {0};
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
    write_table(list, count, format, &text);
    if (people)
        bn_text_printf(&text, "\n%s\n", explanation);
    else
        bn_text_putc(&text, '\n');
    selftest_nights_write(nights, night_count, format, &text);
    if (people)
        bn_text_putc(&text, '\n');
    if (text.data)
        cli_out("%s", text.data);
    bn_text_free(&text);
}

int selftest_statistics(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    selftest_trials list[MOST_ROWS];
    selftest_nights nights[SELFTEST_NIGHTS_MOST];
    res_format format;
    bool good = true;
    if (res_format_parse(cli_format(&options->output), &format, &st) != BN_OK)
        return (int)cli_complain(&st);
    const size_t count = plan(options->quick, list), night_count = selftest_nights_plan(nights);
    job_supervise_begin();
    if (run_all(options, list, count, &st) != BN_OK ||
        selftest_nights_run(options->quick, seed_of(options), nights, night_count, &st) != BN_OK)
        return (int)cli_complain(&st);
    for (size_t i = 0; i < count; i++)
        good = good && selftest_trials_judge(&list[i]) == 0;
    for (size_t i = 0; i < night_count; i++)
        good = good && selftest_nights_pass(&nights[i]);
    if (format == RES_TABLE_JSON)
        print_json(list, count, nights, night_count);
    else
        print_people(list, count, nights, night_count, format);
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    (people ? cli_tell : cli_say)("statistics: %s", good ? "PASS" : "FAIL");
    return good ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
