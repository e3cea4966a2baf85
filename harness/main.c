/*
 * main.c - bench: a row a command, a row an old spelling, a row a job of workers.
 */
#include "harness/estimate/estimate.h"
#include "harness/explain/explain.h"
#include "harness/scopes/scopes.h"
#include "harness/selftest/selftest.h"
#include "harness/verify/verify.h"
#include "harness/worker/worker.h"
#include "results/tables/tables.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef BENCH_VERSION
#define BENCH_VERSION "unknown"
#endif

/* The commands, in the order of the first help; the first one is run where none is named. */
#define COMMANDS(X)                                                                                \
    /* measure */                                                                                  \
    X(command_run)                                                                                 \
    X(compare_command)                                                                             \
    X(suite_command)                                                                               \
    X(night_command)                                                                               \
    X(verify_command)                                                                              \
    X(selftest_command)                                                                            \
    X(command_calibrate)                                                                           \
    /* look */                                                                                     \
    X(command_table)                                                                               \
    X(command_report)                                                                              \
    X(command_history)                                                                             \
    X(command_metrics)                                                                             \
    X(command_list)                                                                                \
    X(command_export)                                                                              \
    X(command_export_weights)                                                                      \
    X(command_import)                                                                              \
    /* why */                                                                                      \
    X(command_doctor)                                                                              \
    X(explain_command)                                                                             \
    X(command_diff)                                                                                \
    X(study_command)                                                                               \
    X(scopes_command)                                                                              \
    X(estimate_command)                                                                            \
    X(command_graph)                                                                               \
    /* programs of others */                                                                       \
    X(command_record)                                                                              \
    X(command_steps)                                                                               \
    X(selftest_replay_command)                                                                     \
    X(cli_completion)

#define X(command) extern const cli_command command;
COMMANDS(X)
#undef X
#define X(command) &command,
static const cli_command *const commands[] = {COMMANDS(X) NULL};
#undef X

/* Spellings of version 0.2, for one more version. */
static const cli_old old[] = {
    {.words = "plot", .instead = "report", .first = "plot"},
    {.words = "publish", .instead = "report", .from = "output", .to = "site"},
    {.words = "scopes", .instead = "study scopes"},
    {.words = "export-weights", .instead = "export weights"},
    {.words = "metrics diff", .instead = "diff"},
    {.words = "graph diff", .instead = "diff"},
    {.words = "graph text", .instead = "graph"},
    {.words = "list front-ends", .instead = "list frameworks"},
    {.words = NULL},
};

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

/* The process that starts bench may have closed standard descriptors. The next file to be opened
 * would get such a number, and all that is printed. Opened for the other direction, the number is
 * taken, and using it fails as if it were closed; programs that bench starts find it closed. */
static void hold_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static void begin(void)
{
    res_narrow_to(cli_out_columns());
    res_store_begin();
}

int main(int argc, char **argv)
{
    static const cli_program program = {
        .version = BENCH_VERSION,
        .commands = commands,
        .old = old,
        .begin = begin,
        .synonym = job_axis_synonym,
        .title = "where the time of a machine-learning step goes on a PJRT runtime",
        .about = "Runs reference models step by step in eager, lazy and capture mode on a runtime "
                 "with the PJRT C API, accounts for the time of every step, and keeps one HDF5 "
                 "file for each experiment of each process.",
        .manual = job_manual_end,
    };
    hold_descriptors();
    json_set_alloc_funcs(bn_alloc, free);
    /* Ignored, it would hide how children ended. */
    signal(SIGCHLD, SIG_DFL);
    /* A file that may not grow is an error like a full disk, which has words. */
    signal(SIGXFSZ, SIG_IGN);
    job_set_version(BENCH_VERSION);
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return worker_main(jobs);
    return cli_main(&program, argc, argv);
}
