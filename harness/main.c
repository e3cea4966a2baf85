/*
 * main.c - bench: the commands, one row each, and the jobs of a worker.
 */
#include "harness/options.h"
#include "harness/study/study.h"
#include "harness/worker/worker.h"
#include "results/tables/tables.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef BENCH_VERSION
#define BENCH_VERSION "unknown"
#endif

/* ---- adapters: each hands a command its own options ---------------------------------- */

static int run(options *o, const char *const *words)
{
    (void)words;
    o->matrix.echo = cli_echo(options_table(), OPTION_RUN, o);
    const int code = command_run(&o->matrix, &o->output, &o->metering);
    json_decref(o->matrix.echo);
    return code;
}

static int table(options *o, const char *const *words)
{
    (void)words;
    o->selection.store = o->store;
    return command_table(&o->selection, o->table, &o->output);
}

static int doctor(options *o, const char *const *words)
{
    (void)words;
    o->selection.store = o->store;
    o->stepping.process = o->matrix.recorded.process;
    o->stepping.step_program = o->matrix.recorded.step_program;
    return command_doctor(&o->selection, &o->stepping, &o->output);
}

static int metrics(options *o, const char *const *words)
{
    return command_metrics(&o->selection, &o->output, words);
}

static int verify(options *o, const char *const *words)
{
    (void)words;
    const verify_options own = {
        .output = o->output, .matrix = &o->matrix, .golden = o->golden, .all = o->all};
    return verify_command(&own);
}

static int list(options *o, const char *const *words)
{
    return command_list(&o->matrix, &o->output, words[0]);
}

static int export_weights(options *o, const char *const *words)
{
    (void)words;
    return command_export_weights(&o->matrix, &o->output, o->file);
}

static int selftest(options *o, const char *const *words)
{
    if (o->trial_models.count)
        o->matrix.axis[RES_AXIS_MODEL] = o->trial_models;
    if (o->trial_seed.count)
        o->matrix.axis[RES_AXIS_SEED] = o->trial_seed;
    const selftest_options own = {.output = o->output,
                                  .matrix = &o->matrix,
                                  .quick = o->quick,
                                  .models_given = o->trial_models.count > 0,
                                  .seed_given = o->trial_seed.count > 0,
                                  .tables = o->tables,
                                  .load = o->load,
                                  .file = o->file};
    return selftest_command(&own, words[0]);
}

static int replay_case(options *o, const char *const *words)
{
    const selftest_options own = {.output = o->output, .matrix = &o->matrix, .file = o->file};
    /* A folder that is called like a published case is given as ./models. */
    if (published_is_case(words[0]) || !replay_is_recording(words[0]))
        return published_command(&own, words[0]);
    o->matrix.recorded.folder = words[0];
    o->matrix.echo = cli_echo(options_table(), OPTION_REPLAY, o);
    const int code = replay_command(&o->matrix, o->file, &o->output);
    json_decref(o->matrix.echo);
    return code;
}

static int suite(options *o, const char *const *words)
{
    const suite_options own = options_suites(o);
    return suite_command(&own, words[0]);
}

static int nightly(options *o, const char *const *words)
{
    (void)words;
    const suite_options own = options_suites(o);
    const night_options night = {.suites = &own,
                                 .suite = o->suite_name,
                                 .report = o->report,
                                 .site = o->site,
                                 .site_title = o->title,
                                 .night_hours = o->series.night_hours,
                                 .fail_if_slower = o->fail_if_slower,
                                 .keep_builds = o->keep_builds};
    return night_command(&night);
}

static int compare(options *o, const char *const *words)
{
    (void)words;
    const suite_options suites_of = options_suites(o);
    compare_options own = o->compare;
    own.output = o->output;
    own.matrix = &o->matrix;
    own.a_option = o->a_option;
    own.b_option = o->b_option;
    own.a_flag = o->a_flag;
    own.b_flag = o->b_flag;
    own.fail_if_slower = o->fail_if_slower;
    own.suite = o->suite_name;
    own.suites = &suites_of;
    own.report = o->report;
    own.conflict = o->what;
    own.paired = o->paired;
    o->matrix.echo = cli_echo(options_table(), OPTION_COMPARE, o);
    const int code = compare_command(&own);
    json_decref(o->matrix.echo);
    return code;
}

static int estimate(options *o, const char *const *words)
{
    (void)words;
    estimate_options own = o->estimate;
    own.output = o->output;
    own.matrix = &o->matrix;
    own.option = o->topology_option;
    own.picture = o->file;
    job_matrix_set(&o->matrix, RES_AXIS_RUNTIME, o->estimate_runtime);
    return estimate_command(&own);
}

static int explain(options *o, const char *const *words)
{
    (void)words;
    return explain_command(&(explain_options){.output = o->output, .matrix = &o->matrix});
}

static int scopes(options *o, const char *const *words)
{
    (void)words;
    scopes_options own = o->scopes;
    own.output = o->output;
    own.matrix = &o->matrix;
    return scopes_command(&own);
}

static int study_sweep(options *o, const char *const *words)
{
    const study_options own = {.output = o->output,
                               .matrix = &o->matrix,
                               .picture = o->file,
                               .echo = options_suites(o).echo};
    return study_command(&own, words[0]);
}

static int export_records(options *o, const char *const *words)
{
    (void)words;
    return command_export(o->store, o->to, o->file, o->output.force);
}

static int import_records(options *o, const char *const *words)
{
    o->taking.store = o->store;
    o->taking.process = o->matrix.recorded.process;
    o->taking.step_program = o->matrix.recorded.step_program;
    o->taking.model = o->matrix.recorded.name;
    return command_import(&o->taking, words);
}

static int record(options *o, const char *const *words)
{
    o->recording.verbose = o->output.verbose;
    return command_record(&o->recording, words);
}

static int steps(options *o, const char *const *words)
{
    o->stepping.process = o->matrix.recorded.process;
    o->stepping.step_program = o->matrix.recorded.step_program;
    return command_steps(&o->stepping, &o->output, words[0]);
}

static int plot_records(options *o, const char *const *words)
{
    o->selection.store = o->store;
    return command_plot(&o->selection, words[0], &o->output, o->file);
}

static int report(options *o, const char *const *words)
{
    (void)words;
    o->selection.store = o->store;
    return command_report(&o->selection, &o->series, o->title, &o->output, o->file);
}

static int publish(options *o, const char *const *words)
{
    (void)words;
    const command_publishing own = {.store = o->store,
                                    .folder = o->file,
                                    .title = o->title,
                                    .asked = o->detailed.list,
                                    .asked_count = o->detailed.count,
                                    .verbose = o->output.verbose};
    return command_publish(&own, &o->series);
}

static int history(options *o, const char *const *words)
{
    (void)words;
    o->selection.store = o->store;
    return command_history(&o->selection, &o->series, &o->output, o->file);
}

static int graph(options *o, const char *const *words)
{
    return command_graph(&o->output, words);
}

static int completion(options *o, const char *const *words);

/* ---- the rows --------------------------------------------------------------------------- */

typedef struct command_row {
    const char *name, *usage, *summary;
    uint32_t bit;
    /* Called when all words were understood. WORDS are those after the command; they end with NULL.
     * Returns the exit code. */
    int (*run)(options *o, const char *const *words);
    const char *what; /* the words that it needs, for a message; NULL: it takes none */
    int most_words;   /* of them */
    /* The exit code for words that are not understood and for output that cannot be written; NULL:
     * the usual ones. BISECT: --bisect was given. */
    int (*refused)(bool bisect);
    const char *help; /* exit codes and examples of its own; NULL: the usual exit codes */
} command_row;

static const command_row commands[] = {
    {"run", "bench [run] [OPTIONS]",
     "run models in modes on runtimes, write a record of each, print the tables", .bit = OPTION_RUN,
     .run = run},
    {"table", "bench table [--store DIR] [--table NAME] [--model NAME]",
     "tables of a folder of records: speedups, executions, ledgers, compilation, memory",
     .bit = OPTION_TABLE, .run = table},
    {"doctor", "bench doctor [STORE|RECORDING] [--model NAME]",
     "what could be mended in the runs of a store, or in a recorded program, and what it costs",
     .bit = OPTION_DOCTOR, .run = doctor},
    {"metrics", "bench metrics DIR|RECORD|FILE, bench metrics diff A B",
     "metrics and counters in the layout of PyTorch/XLA's report; what differs between two of them",
     .bit = OPTION_METRICS, .run = metrics, .what = "DIR|RECORD|FILE|diff A B", .most_words = 3},
    {"explain", "bench explain --model NAME --mode lazy|capture [OPTIONS]",
     "what the first steps compile, why they are compiled or captured again, and where in the "
     "source",
     .bit = OPTION_EXPLAIN, .run = explain, .help = explain_help},
    {"verify", "bench verify [OPTIONS]",
     "compare outputs, losses, gradients, parameters and statistics with PyTorch's values",
     .bit = OPTION_VERIFY, .run = verify},
    {"list", "bench list models|modes|front-ends|runtimes|ops",
     "list what there is: models, modes, front ends, runtimes or ops", .bit = OPTION_LIST,
     .run = list, .what = "models|modes|front-ends|runtimes|ops", .most_words = 1},
    {"selftest", "bench selftest accuracy|coverage|statistics|host-cost|timeline-cost",
     "check bench itself: accuracy, intervals, comparisons, its own cost of a step",
     .bit = OPTION_SELFTEST, .run = selftest,
     .what = "accuracy|coverage|statistics|host-cost|timeline-cost", .most_words = 1},
    {"replay", "bench replay DIR|resnet50|models [OPTIONS]",
     "a recorded step on any runtime, without its framework; or published cases, simulated",
     .bit = OPTION_REPLAY, .run = replay_case, .what = "DIR|resnet50|models", .most_words = 1},
    {"suite", "bench suite NAME|FILE [OPTIONS]",
     "run the experiments of a file, each once; can be resumed, and split over machines",
     .bit = OPTION_SUITE, .run = suite, .what = "smoke|reference|nightly|FILE.json",
     .most_words = 1},
    {"export-weights", "bench export-weights --model NAME --output FILE",
     "write a model's initial parameters and running statistics as a safetensors file",
     .bit = OPTION_WEIGHTS, .run = export_weights},
    {"nightly", "bench nightly --suite FILE --store DIR --report DIR",
     "run a suite, compare it with the last good night and the history, write one page",
     .bit = OPTION_NIGHTLY, .run = nightly, .refused = compare_usage, .help = night_help},
    {"export", "bench export --to FORMAT [--store DIR] [--output FILE|DIR]",
     "write the records of a folder as files that other tools open", .bit = OPTION_EXPORT,
     .run = export_records},
    {"import", "bench import [--from pytorch-xla] [--store DIR] FILE|DIR...",
     "read recordings, or others' results, into a folder of records, so that tables have them",
     .bit = OPTION_IMPORT, .run = import_records, .what = "files or folders of recordings",
     .most_words = CLI_MAX_PATHS},
    {"record", "bench record [--output DIR] [--runtime NAME] -- PROGRAM [ARGUMENT...]",
     "run any program, unchanged, and record what its framework asks of the PJRT runtime",
     .bit = OPTION_RECORD, .run = record, .what = "a program and its arguments",
     .most_words = CLI_MAX_PATHS, .help = command_record_help},
    {"steps", "bench steps DIR [--step-program NAME] [--format json]",
     "where the time of a recording's steps went, on host and device, and what bounds them",
     .bit = OPTION_STEPS, .run = steps, .what = "DIR", .most_words = 1},
    {"graph", "bench graph diff A B|RECORDING [--format json], bench graph text FILE",
     "what differs between two programs: the first difference, and counts by op; programs as text",
     .bit = OPTION_GRAPH, .run = graph, .what = "diff A B|text FILE", .most_words = 3,
     .help = command_graph_help},
    {"compare", "bench compare --runtime A --runtime B [--suite FILE] [OPTIONS]",
     "is runtime B slower than A, by how much, and where: fresh processes in pairs, or two stores",
     .bit = OPTION_COMPARE, .run = compare, .refused = compare_usage, .help = compare_help},
    {"study", "bench study " STUDY_NAMES " --model NAME [OPTIONS]",
     "sweep one axis, fit the law of a step, and say what an item, a layer or a node costs",
     .bit = OPTION_STUDY, .run = study_sweep, .what = STUDY_NAMES, .most_words = 1,
     .help = study_help},
    {"estimate", "bench estimate --model NAME --topology NAME,... [OPTIONS]",
     "what a TPU's compiler expects a step to take, and to need of memory, without a TPU",
     .bit = OPTION_ESTIMATE, .run = estimate, .help = estimate_help},
    {"scopes", "bench scopes --model NAME [--output FILE.svg]",
     "what each part of a model adds to a step: nodes, tracing, FLOPs, device time; a flame graph",
     .bit = OPTION_SCOPES, .run = scopes, .help = scopes_help},
    {"plot", "bench plot ledger|speedup|overhead|steps|distribution --output FILE.svg",
     "a picture of a folder of records, as SVG, PNG or gnuplot's script", .bit = OPTION_PLOT,
     .run = plot_records, .what = "ledger|speedup|overhead|steps|distribution", .most_words = 1},
    {"report", "bench report --output FILE.html",
     "one page of a folder of records that needs nothing else: summary, tables, plots, provenance",
     .bit = OPTION_REPORT, .run = report},
    {"history", "bench history [--store DIR] [--model NAME] [--output FILE.svg]",
     "series over nights: where their level changed, and which builds were there",
     .bit = OPTION_HISTORY, .run = history},
    {"publish", "bench publish [--store DIR] --output DIR",
     "a site over a folder of records: newest results, models, builds, nights, any two compared",
     .bit = OPTION_PUBLISH, .run = publish},
    {"completion", "bench completion bash|zsh|fish",
     "a script that completes command lines: source <(bench completion bash)",
     .bit = OPTION_COMPLETION, .run = completion, .what = "bash|zsh|fish", .most_words = 1},
};

/* ---- completion --------------------------------------------------------------------------- */

static int completion(options *o, const char *const *words)
{
    (void)o;
    struct cli_command list[sizeof commands / sizeof *commands];
    bn_status st = {.code = BN_OK};
    bn_text text = {0};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        list[i] = (struct cli_command){commands[i].name, commands[i].summary, commands[i].what,
                                       commands[i].bit};
    const cli_words_of source = {.table = options_table(),
                                 .commands = list,
                                 .command_count = sizeof commands / sizeof *commands,
                                 .values = options_values};
    cli_exit code = CLI_EXIT_OK;
    if (cli_completion(words[0], &source, &text, &st) == BN_OK)
        cli_out("%s", text.data);
    else
        code = cli_complain(&st);
    bn_text_free(&text);
    return (int)code;
}

/* The jobs that a worker can be asked for. */
static const worker_job jobs[] = {
    {"measure", worker_job_measure},
    {"framework", worker_job_framework},
    {"verify", verify_job},
    {"selftest", selftest_job},
    {"estimate", estimate_job},
    {"timeline-cost", selftest_timeline_job},
    {"explain", explain_job},
    {"scopes", scopes_job},
    {NULL, NULL},
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

/* ---- help and manual -------------------------------------------------------------------- */

static const char exit_codes[] =
    "Exit codes: 0 all went well; 1 an experiment failed, verify or selftest did not pass, or a\n"
    "record of the store is damaged; 2 usage: unknown command, option, model or mode, weights\n"
    "that do not fit the model; 3 environment: no such plugin or not a plugin, store not\n"
    "writable, disk full, other file missing or damaged; 130 interrupted (records written so\n"
    "far are kept).\n";

static void print_help(const command_row *command)
{
    bn_text text = {0};
    bn_text_printf(&text, "%s\n\n%s\n\n", command->usage, command->summary);
    if (command->bit == OPTION_RUN) {
        bn_text_puts(&text, "Commands (each has its own --help):\n");
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            bn_text_printf(&text, "  %s\n      %s\n", commands[i].usage, commands[i].summary);
        bn_text_puts(&text, "\nLists run all combinations. Those that differ in mode or graphs "
                            "alone run in the same\nprocesses, in turns.\n\n");
    }
    bn_text_puts(&text, "Options:\n");
    cli_help(options_table(), command->bit, &text);
    bn_text_putc(&text, '\n');
    bn_text_puts(&text, command->help ? command->help : exit_codes);
    if (text.data && !text.failed)
        cli_show_help(text.data);
    bn_text_free(&text);
}

static void print_man(void)
{
    bn_text text = {0};
    bn_text_puts(&text, ".TH BENCH 1\n.SH NAME\nbench \\- where the time of a machine\\-learning "
                        "step goes on a PJRT runtime\n.SH SYNOPSIS\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        bn_text_printf(&text, ".B %s\n.br\n", commands[i].usage);
    bn_text_puts(&text,
                 ".SH DESCRIPTION\nRuns reference models step by step in eager, lazy and capture "
                 "mode on a runtime with the PJRT C API, accounts for the time of every step, "
                 "and keeps one HDF5 file for each experiment of each process.\n.SH COMMANDS\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        bn_text_printf(&text, ".TP\n.B %s\n%s.\n", commands[i].name, commands[i].summary);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        bn_text_printf(&text, "%s.SS bench %s\n", i ? "" : ".SH OPTIONS\n", commands[i].name);
        cli_man(options_table(), commands[i].bit, &text);
    }
    options_man_end(&text);
    cli_out("%s", text.data);
    bn_text_free(&text);
}

/* ---- running a command ------------------------------------------------------------------- */

/* The names of all commands, which end with NULL; the first is help, which has no row. */
static const char *const *command_names(void)
{
    static const char *names[COMMAND_COUNT + 2] = {"help"};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i + 1] = commands[i].name;
    return names;
}

static const command_row *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* The exit code of COMMAND for an error whose usual code is CODE. Compare and nightly have others:
 * to them 2 means slower, and git bisect takes 3 for a bad commit. */
static int error_of(const command_row *command, bool bisect, int code)
{
    return command && command->refused ? command->refused(bisect) : code;
}

/* Prints that COMMAND, NULL for none, did not understand its words; returns the exit code. */
static int refuse(const command_row *command, int argc, char **argv, const bn_status *st)
{
    const int code = (int)cli_complain(st);
    bool bisect = false;
    /* Parsing may have ended before it came to --bisect. */
    for (int i = 1; i < argc; i++)
        bisect = bisect || strcmp(argv[i], "--bisect") == 0;
    return error_of(command, bisect, code);
}

/* Ends COMMAND, which gave CODE: output that cannot be written is an error, too. */
static int finish(const command_row *command, bool bisect, int code)
{
    if (cli_flush())
        return code;
    cli_say("bench: standard output could not be written");
    return code == CLI_EXIT_OK ? error_of(command, bisect, CLI_EXIT_ENVIRONMENT) : code;
}

/* Runs COMMAND with the options and COUNT words that were read. WORDS end with NULL. */
static int carry_out(const command_row *command, options *o, const char *const *words, int count,
                     int argc, char **argv)
{
    bn_status st = {.code = BN_OK};
    if (o->help || o->man || o->version) {
        if (o->help)
            print_help(command);
        else if (o->man)
            print_man();
        else
            cli_tell("bench " BENCH_VERSION);
        return finish(command, false, CLI_EXIT_OK);
    }
    if (command->what && count == 0) {
        bn_fail(&st, BN_INVALID, "bench %s needs a word: %s", command->name, command->what);
        return refuse(command, argc, argv, &st);
    }
    cli_be_quiet(o->output.quiet);
    if (o->replaced)
        cli_note("bench: %s", o->replaced);
    res_narrow_to(cli_out_columns());
    res_store_begin();
    return finish(command, o->compare.bisect, command->run(o, words));
}

/* There is no command ARGV[1]: says what may have been meant. */
static int refuse_command(int argc, char **argv)
{
    bn_status st = {.code = BN_OK};
    bn_near near = bn_near_begin(argv[1]);
    for (const char *const *known = command_names(); *known; known++)
        bn_near_try(&near, *known);
    char line[RES_TEXT];
    const char *best = bn_near_best(&near);
    if (!best && options_meant(argv[1], line, sizeof line))
        best = line;
    bn_fail_meant(&st, BN_INVALID, (bn_meant){best, "See", "bench --help"},
                  "there is no command %s", argv[1]);
    return refuse(NULL, argc, argv, &st);
}

/* bench help [COMMAND]. */
static int help(int argc, char **argv)
{
    bn_status st = {.code = BN_OK};
    const bool named = argc > 2 && strcmp(argv[2], "help") != 0;
    const command_row *command = named ? find_command(argv[2]) : &commands[0];
    if (!command)
        return refuse_command(argc - 1, argv + 1);
    if (argc > 3) {
        bn_fail(&st, BN_INVALID, "'%s' is one word too many: bench help takes one command",
                argv[3]);
        return refuse(NULL, argc, argv, &st);
    }
    print_help(command);
    return finish(command, false, CLI_EXIT_OK);
}

/* The options of COMMAND, from the file of defaults and from ARGV. Help and version are to be had
 * whatever is wrong with the file. */
static bn_code read_options(const command_row *command, int argc, char **argv, bn_arena *memory,
                            options *o, const char **words, int *count, bn_status *st)
{
    const int most = command->most_words;
    cli_config config;
    bn_status again = {.code = BN_OK};
    bn_code code = cli_config_read(command_names() + 1, &config, st);
    if (code == BN_OK)
        code = options_parse_with(command->bit, command->name, &config, argc, argv, memory, o,
                                  words, most, count, st);
    json_decref(config.options);
    if (code != BN_OK &&
        options_parse(command->bit, argc, argv, memory, o, words, most, count, &again) == BN_OK &&
        (o->help || o->man || o->version))
        code = BN_OK;
    return code;
}

/* Whoever started us may have closed standard descriptors. The next file that is opened would get
 * the number, and what is printed. Held, they refuse what closed ones refuse, and programs that we
 * start find them closed. */
static void hold_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

int main(int argc, char **argv)
{
    hold_descriptors();
    json_set_alloc_funcs(bn_alloc, free);
    /* Whoever started us may have left it ignored: then nobody would be told how a child ended. */
    signal(SIGCHLD, SIG_DFL);
    /* A file that may not grow is an error like a full disk, which has words. */
    signal(SIGXFSZ, SIG_IGN);
    job_set_version(BENCH_VERSION);
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return worker_main(jobs);
    const command_row *command = &commands[0];
    int first = 1, count = 0, code;
    if (argc > 1 && argv[1][0] != '-') {
        command = find_command(argv[1]);
        first = 2;
    }
    /* As help, --help and -h may stand before the command. */
    const bool asked = argc == 3 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (argc > 1 && (strcmp(argv[1], "help") == 0 || (asked && argv[2][0] != '-')))
        return help(argc, argv);
    bn_status st = {.code = BN_OK};
    static options o;
    static const char *words[CLI_MAX_PATHS + 1];
    if (!command)
        return refuse_command(argc, argv);
    bn_arena *memory = bn_arena_new(4096);
    if (!memory)
        bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for options");
    const bool read = memory && read_options(command, argc - first, argv + first, memory, &o, words,
                                             &count, &st) == BN_OK;
    code =
        read ? carry_out(command, &o, words, count, argc, argv) : refuse(command, argc, argv, &st);
    bn_arena_free(memory);
    return code;
}
