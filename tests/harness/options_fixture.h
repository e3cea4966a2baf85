/*
 * options_fixture.h - command lines read in tests, judged by the names and values that records have
 * of them.
 */
#ifndef BENCH_OPTIONS_FIXTURE_H
#define BENCH_OPTIONS_FIXTURE_H

#include "harness/campaign/campaign.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

/* As main.c has them. */
extern const cli_command command_run, compare_command, suite_command, night_command, verify_command,
    selftest_command, command_table, command_report, command_history, command_metrics, command_list,
    command_export, command_export_weights, command_import, command_doctor, explain_command,
    command_diff, study_command, scopes_command, estimate_command, command_graph, command_record,
    command_steps, selftest_replay_command, cli_completion;

/* Of all that is read in one test. */
static bn_arena *memory;

static inline int begin(void **state)
{
    memory = bn_arena_new(4096);
    return memory ? 0 : -1;
}

static inline int end(void **state)
{
    bn_arena_free(memory);
    return 0;
}

/* Reads ARGV as COMMAND's. *CALL has its words, and OPTIONS, in the arena, its struct. */
static inline bn_code read_line(const cli_command *command, char **argv, int argc, cli_call *call,
                                bn_status *st)
{
    void *options = bn_arena_zalloc(memory, command->size);
    const bn_code code = cli_read_alone(command, argc, argv, options, memory, call, st);
    bn_text_free(&call->replaced);
    return code;
}

/* The parsed options, as records have them; the caller's. */
static inline json_t *parse(const cli_command *command, char **argv, int argc)
{
    bn_status st = {0};
    cli_call call;
    assert_ok(read_line(command, argv, argc, &call, &st), &st);
    return cli_echo(call.table, call.options);
}

/* A matrix as a command line fills it: all that bench run has of one. */
static const cli_command matrix_command = {
    .name = "matrix",
    .usage = "matrix",
    .size = sizeof(job_matrix),
    .groups = {{.table = job_program_table},
               {.table = job_axis_table},
               {.table = job_measure_table, .offset = offsetof(job_matrix, how)}},
    .part = &job_matrix_part,
};

static inline bn_code read_matrix(char **argv, int argc, job_matrix **matrix, bn_status *st)
{
    cli_call call;
    const bn_code code = read_line(&matrix_command, argv, argc, &call, st);
    *matrix = call.options;
    return code;
}

static inline job_matrix *parse_matrix(char **argv, int argc)
{
    bn_status st = {0};
    job_matrix *matrix;
    assert_ok(read_matrix(argv, argc, &matrix, &st), &st);
    return matrix;
}

static inline const char *text_of(const json_t *echo, const char *name)
{
    return json_string_value(json_object_get(echo, name));
}

#endif
