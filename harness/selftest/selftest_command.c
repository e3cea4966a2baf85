/*
 * selftest_command.c - bench selftest: the selftests, one row each.
 */
#include "harness/selftest/selftest_priv.h"

#include <string.h>

typedef struct selftest_row {
    const char *name;
    int (*run)(const selftest_options *options); /* returns the exit code */
} selftest_row;

static const selftest_row selftests[] = {
    {"accuracy", selftest_accuracy},           {"coverage", selftest_coverage_command},
    {"host-cost", selftest_host_cost},         {"statistics", selftest_statistics},
    {"timeline-cost", selftest_timeline_cost},
};
#define SELFTEST_COUNT (sizeof selftests / sizeof *selftests)

static const char *selftest_at(size_t i)
{
    return i < SELFTEST_COUNT ? selftests[i].name : NULL;
}

static int run_selftest(const selftest_options *options, const char *what)
{
    bn_status st = {.code = BN_OK};
    size_t row;
    if (bn_find_name("selftest", what, selftest_at, &row, &st) != BN_OK)
        return (int)cli_complain(&st);
    return selftests[row].run(options);
}

/* ---- the command ------------------------------------------------------------------------- */

typedef struct selftest_line {
    selftest_options own;
    job_matrix matrix;
    cli_list models, seed; /* empty: not given */
} selftest_line;
#define AT(member) offsetof(selftest_line, member)

static const cli_option rows[] = {
    {"quick", NULL, CLI_FLAG, AT(own.quick),
     .text = "accuracy: a part of the grid; coverage: a twentieth of the tables in numbers, and "
             "runtimes only with --tables; statistics: a quarter of the simulated families"},
    {"model", "NAME,...", CLI_NAMES, AT(models), .also = "m",
     .text = "models to run; without it host-cost takes resnet50, and coverage bert, llama, gpt2, "
             "mobilenet_v2 and resnet18, all small, and resnet18 in full"},
    {"seed", "N", CLI_NUMBERS, AT(seed), .single = true, .most = 9.2e18,
     .text = "seed of what statistics and coverage draw; by default 1 for statistics, the time for "
             "coverage"},
    {"tables", "N", CLI_NUMBER, AT(own.tables), .least = 1, .most = 10000,
     .text = "coverage: tables of each case on each runtime; by default 40, and none with --quick"},
    {"load", "N", CLI_NUMBER, AT(own.load), .fallback = "0", .most = SELFTEST_MOST_LOAD,
     .text = "coverage: run under the load of so many busy loops"},
    {"output", "FILE", CLI_TEXT, AT(own.file), .also = "o",
     .text = "coverage: file for the intervals of all tables and the medians of all processes, as "
             "JSON. FILE must not exist; --force replaces it"},
};

static int run(void *options, const cli_call *call)
{
    selftest_line *line = options;
    if (line->models.count)
        line->matrix.axis[RES_AXIS_MODEL] = line->models;
    if (line->seed.count)
        line->matrix.axis[RES_AXIS_SEED] = line->seed;
    line->own.matrix = &line->matrix;
    line->own.models_given = line->models.count > 0;
    line->own.seed_given = line->seed.count > 0;
    return run_selftest(&line->own, call->words[0]);
}

const cli_command selftest_command = {
    .name = "selftest",
    .usage = "bench selftest accuracy|coverage|statistics|host-cost|timeline-cost",
    .summary = "check bench itself: accuracy, intervals, comparisons, its own cost of a step",
    .section = JOB_SECTION_MEASURE,
    .words = "accuracy|coverage|statistics|host-cost|timeline-cost",
    .most_words = 1,
    .size = sizeof(selftest_line),
    .output = AT(own.output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .about = JOB_ABOUT_NETWORK,
                .rows = JOB_AXIS_BIT(PHASE) | JOB_AXIS_BIT(LAYOUT) | JOB_AXIS_BIT(RUNTIME)},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD | JOB_ABOUT_LOOP,
                .without = JOB_MEASURE_BIT(warmup) | JOB_MEASURE_BIT(device_time)},
               {.table = cli_output_table,
                .offset = AT(own.output),
                .rows = CLI_OUT_TABLES | CLI_OUT_FORCE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
};
