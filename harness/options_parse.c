/*
 * options_parse.c - a command line, or a suite's settings, by the table of options (options.c).
 */
#include "harness/options.h"

#include <string.h>

/* What bench run does when nothing is said. */
static bn_code run_defaults(bn_arena *memory, options *o, bn_status *st)
{
    cli_call call = {
        .table = options_table(), .command = OPTION_RUN, .options = o, .memory = memory};
    *o = (options){0};
    return cli_defaults(&call, st);
}

/* BN_INVALID: the words name a published case, which has settings of its own and no OPTION. */
static bn_code check_published(const cli_call *call, const char *option, bn_status *st)
{
    if (call->command != OPTION_REPLAY || call->word_count != 1 ||
        !published_is_case(call->words[0]))
        return BN_OK;
    return bn_fail(st, BN_INVALID,
                   "bench replay %s runs a published case on the simulated device, with settings "
                   "of its own, so --%s, which is for a recording, cannot be given with it",
                   call->words[0], option);
}

/* As cli_call.allows. */
static bn_code allows(const cli_call *call, const cli_option *row, bn_status *st)
{
    return row->recorded & call->command ? check_published(call, row->name, st) : BN_OK;
}

/* Whether what was given fits what is run: models, --program, or --recording. */
static bn_code check_work(const cli_call *call, job_matrix *m, bn_status *st)
{
    const bool program = m->program != NULL, recording = m->recorded.folder != NULL;
    if (program && recording)
        return bn_fail(st, BN_INVALID, "give --program or --recording, not both");
    if (program && call->modelled)
        return bn_fail(st, BN_INVALID,
                       "--program runs a text as it is, so --%s, which is for models, cannot be "
                       "given with it",
                       call->modelled);
    if (recording && call->modelled)
        return bn_fail(st, BN_INVALID,
                       "--recording runs a step as it was recorded, so --%s, which is for models, "
                       "cannot be given with it",
                       call->modelled);
    if (!program && call->programmed)
        return bn_fail(st, BN_INVALID, "--%s is for --program, which was not given",
                       call->programmed);
    if (call->recorded && check_published(call, call->recorded, st) != BN_OK)
        return st->code;
    /* The other commands that take these have a recording as their word. */
    if (call->command & (OPTION_COMPARE | OPTION_ESTIMATE) && !recording && call->recorded)
        return bn_fail(st, BN_INVALID, "--%s is for --recording, which was not given",
                       call->recorded);
    if (recording)
        m->axis[RES_AXIS_MODE].count = 0; /* all modes that recorded steps have */
    if (program || recording)
        m->weights = NULL; /* a default of models, as other axes' are */
    return BN_OK;
}

bn_code options_parse(uint32_t command, int argc, char **argv, bn_arena *memory, options *o,
                      const char **words, int most, int *count, bn_status *st)
{
    return options_parse_with(command, "", NULL, argc, argv, memory, o, words, most, count, st);
}

bn_code options_parse_with(uint32_t command, const char *name, const cli_config *config, int argc,
                           char **argv, bn_arena *memory, options *o, const char **words, int most,
                           int *count, bn_status *st)
{
    options *run = bn_arena_zalloc(memory, sizeof *run); /* too large for small stacks */
    cli_call call = {.table = options_table(),
                     .command = command,
                     .options = o,
                     .memory = memory,
                     .words = words,
                     .most_words = most,
                     .rest = command == OPTION_RECORD,
                     .lone = options_lone,
                     .instead = options_instead,
                     .allows = allows};
    *o = (options){0};
    bn_code code =
        run ? cli_defaults(&call, st) : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for options");
    if (code == BN_OK)
        code = cli_config_apply(&call, config, name, st);
    if (code == BN_OK)
        code = cli_arguments(&call, argc, argv, st);
    if (code == BN_OK)
        code = check_work(&call, &o->matrix, st);
    if (code == BN_OK)
        code = job_matrix_finish(&o->matrix, memory, st);
    if (code == BN_OK)
        code = run_defaults(memory, run, st);
    if (code == BN_OK)
        o->usual = run->matrix;
    o->what = call.marked;
    o->paired = call.paired;
    *count = call.word_count;
    o->replaced = call.replaced.length ? bn_arena_strdup(memory, call.replaced.data) : NULL;
    bn_text_free(&call.replaced);
    return code;
}

/* MATRIX as the options of bench run, or of bench replay, for records. */
static json_t *echo_run(const job_matrix *matrix)
{
    bn_status st = {.code = BN_OK};
    bn_arena *memory = bn_arena_new(sizeof(options));
    options *o = memory ? bn_arena_zalloc(memory, sizeof *o) : NULL;
    json_t *echo = NULL;
    if (o && run_defaults(memory, o, &st) == BN_OK) {
        const cli_list *input = &matrix->axis[RES_AXIS_INPUT];
        const char *words[2] = {NULL, NULL};
        bn_text text = {0};
        const uint32_t command = matrix->recorded.folder ? OPTION_REPLAY : OPTION_RUN;
        o->matrix = *matrix;
        /* Where no --input was given, a suite may name values of its axis. */
        cli_list_put(input, &text);
        if (!matrix->inputs.count && text.length &&
            strcmp(text.data, res_axes[RES_AXIS_INPUT].usual) != 0) {
            words[0] = text.data;
            o->matrix.inputs = (cli_words){1, words};
        }
        echo = cli_echo(options_table(), command, o);
        bn_text_free(&text);
    }
    bn_arena_free(memory);
    return echo;
}

suite_options options_suites(const options *o)
{
    suite_options own = o->suite;
    own.output = o->output;
    own.store = o->store;
    own.runtime_option = o->suite_option;
    own.xla_flag = o->suite_flag;
    own.usual = &o->usual;
    own.echo = echo_run;
    return own;
}
