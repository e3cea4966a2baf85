/*
 * replay_command.c - bench replay: a recorded step, or a published case.
 */
#include "harness/replay/replay.h"
#include "harness/selftest/selftest.h"

#include <string.h>

typedef struct replay_line {
    cli_output output;
    job_matrix matrix;
    const char *estimates; /* file of device times in place of others; NULL: none */
} replay_line;
#define AT(member) offsetof(replay_line, member)

static const cli_option rows[] = {
    {"model", "NAME", CLI_TEXT, AT(matrix.recorded.name), .apart = true,
     .text = "the recording's name in tables; by default that of the folder"},
    {"estimates", "FILE", CLI_TEXT, AT(estimates),
     .text = "resnet50, or a recording on the simulated device: device times that bench estimate "
             "--format json printed, in place of the published or the recorded ones"},
};

/* Whether a published case is meant, which has settings of its own. A folder that is called like one
 * is given as ./models. */
static bool is_case(const cli_call *call)
{
    return call->word_count > 0 &&
           (published_is_case(call->words[0]) || !replay_is_recording(call->words[0]));
}

static bn_code check(void *options, const cli_call *call, bn_status *st)
{
    static const char *const of_recordings[] = {
        "runtime", "runtime-option", "processes",    "separate", "min-time",
        "model",   "process",        "step-program", "cost",     "variant"};
    bn_code code = BN_OK;
    (void)options;
    for (size_t i = 0; i < sizeof of_recordings / sizeof *of_recordings && code == BN_OK; i++)
        if (call->word_count > 0 && published_is_case(call->words[0]) &&
            cli_was_given(call, of_recordings[i]))
            code = bn_fail(st, BN_INVALID,
                           "bench replay %s is a published case on the simulated device with "
                           "settings of its own: --%s is for a recording",
                           call->words[0], of_recordings[i]);
    return code;
}

static int run(void *options, const cli_call *call)
{
    replay_line *o = options;
    if (is_case(call)) {
        const selftest_options own = {
            .output = o->output, .matrix = &o->matrix, .file = o->estimates};
        return published_run(&own, call->words[0]);
    }
    o->matrix.recorded.folder = call->words[0];
    o->matrix.echo = cli_echo(call->table, o);
    const int code = replay_run(&o->matrix, o->estimates, &o->output);
    json_decref(o->matrix.echo);
    return code;
}

const cli_command selftest_replay_command = {
    .name = "replay",
    .usage = "bench replay DIR|resnet50|models [OPTIONS]",
    .summary =
        "a recorded step on any runtime, without its framework; or published cases, simulated",
    .section = JOB_SECTION_OTHERS,
    .also = "recording",
    .words = "DIR|resnet50|models",
    .most_words = 1,
    .size = sizeof(replay_line),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .rows = JOB_AXIS_BIT(RUNTIME) | JOB_AXIS_BIT(SEED)},
               {.table = job_recorded_table,
                .offset = AT(matrix.recorded),
                .rows = JOB_RECORDED_STEP | JOB_RECORDED_COST | JOB_RECORDED_VARIANT},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD | JOB_ABOUT_LOOP | JOB_ABOUT_KEPT},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .check = check,
    .run = run,
};
