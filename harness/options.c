/*
 * options.c - the options, one row each: name, argument, kind, member, the commands that take it,
 * default, text. The rows of axes are made from their own table (axes.def). Parsing, --help, the
 * manual and the record's echo all work from the rows.
 */
#include "harness/options.h"
#include "results/exports/exports.h"
#include "results/tables/tables.h"

#include <string.h>

#define AT(member) offsetof(options, member)
enum {
    RUN = OPTION_RUN,
    VERIFY = OPTION_VERIFY,
    TABLE = OPTION_TABLE,
    LIST = OPTION_LIST,
    SELFTEST = OPTION_SELFTEST,
    REPLAY = OPTION_REPLAY,
    WEIGHTS = OPTION_WEIGHTS,
    COMPARE = OPTION_COMPARE,
    EXPORT = OPTION_EXPORT,
    IMPORT = OPTION_IMPORT,
    PLOT = OPTION_PLOT,
    REPORT = OPTION_REPORT,
    PICTURES = PLOT | REPORT,
    HISTORY = OPTION_HISTORY,
    STORED = PICTURES | HISTORY,
    SUITE = OPTION_SUITE,
    NIGHTLY = OPTION_NIGHTLY,
    RECORD = OPTION_RECORD,
    COMPLETION = OPTION_COMPLETION,
    PUBLISH = OPTION_PUBLISH,
    STEPS = OPTION_STEPS,
    ESTIMATE = OPTION_ESTIMATE,
    DOCTOR = OPTION_DOCTOR,
    METRICS = OPTION_METRICS,
    GRAPH = OPTION_GRAPH,
    STUDY = OPTION_STUDY,
    EXPLAIN = OPTION_EXPLAIN,
    SCOPES = OPTION_SCOPES,
    ALL = RUN | VERIFY | TABLE | LIST | SELFTEST | WEIGHTS | REPLAY | COMPARE | EXPORT | IMPORT |
          HISTORY | SUITE | NIGHTLY | STEPS | ESTIMATE | DOCTOR | METRICS | STUDY | EXPLAIN |
          SCOPES,
    EVERY = ALL | PICTURES | RECORD | PUBLISH | GRAPH | COMPLETION,
    /* These do not print all formats: --format has other rows for them. */
    FEW_FORMATS = ESTIMATE | EXPLAIN | METRICS | WEIGHTS | NIGHTLY,
    /* What these take may be something else than a recording. */
    OF_RECORDING = REPLAY | COMPARE | ESTIMATE
};

/* A row that is MARKED says what is run, so it cannot be given with a suite; one that is PAIRED
 * says how pairs are run, so it cannot be given with two stores. Help and manual list the options
 * in this order. */
static const cli_option others[] = {
    {"program", "FILE", CLI_TEXT, AT(matrix.program), .commands = RUN | COMPARE, .marked = true,
     .text = "run this program in place of models: StableHLO as text or byte code, or a serialized "
             "HloModuleProto or HloProto"},
    {"recording", "DIR", CLI_TEXT, AT(matrix.recorded.folder), .commands = COMPARE | ESTIMATE,
     .marked = true,
     .text = "the step of this recording in place of models: compare runs it as bench replay does, "
             "estimate compiles its programs"},
    {"argument", "TYPE", CLI_WORDS, AT(matrix.types), .commands = RUN | COMPARE, .marked = true,
     .programmed = true,
     .text = "with --program of byte code: the type of an argument, f32[2,3]; repeated, in order; "
             "none: it takes none"},
    {"output", "FILE.npy", CLI_WORDS, AT(matrix.outputs), .commands = RUN,
     .text = "with --program: file for a result of the first execution; repeated, in order. FILE "
             "must not exist; --force replaces it"},
    {"check", "FILE.npy", CLI_WORDS, AT(matrix.checks), .commands = RUN, .programmed = true,
     .text = "with --program: what a result of the first execution must be; repeated, in order"},
    {"rtol", "R", CLI_REAL, AT(matrix.rtol), .commands = RUN, .programmed = true,
     .fallback = "1e-5", .text = "of --check: |got - want| <= A + R |want|"},
    {"atol", "A", CLI_REAL, AT(matrix.atol), .commands = RUN, .programmed = true,
     .fallback = "1e-8", .text = "of --check; bool and integers are exact"},
    {"runtime-option", "NAME=VALUE", CLI_PAIRS, AT(matrix.runtime_option),
     .commands = RUN | VERIFY | SELFTEST | COMPARE | REPLAY | STUDY | EXPLAIN | SCOPES,
     .recorded = REPLAY, .paired = true, .text = "option for the plugin's client; may be repeated"},
    {"runtime-option", "NAME=VALUE", CLI_PAIRS, AT(suite_option), .commands = SUITE | NIGHTLY,
     .text = "option for the plugin's client; may be repeated"},
    {"xla-flag", "NAME=VALUE", CLI_PAIRS, AT(matrix.xla_flag),
     .commands = RUN | VERIFY | SELFTEST | COMPARE | REPLAY | ESTIMATE | STUDY | EXPLAIN | SCOPES,
     .paired = true, .text = "compiler option for every executable; may be repeated"},
    {"xla-flag", "NAME=VALUE", CLI_PAIRS, AT(suite_flag), .commands = SUITE | NIGHTLY,
     .text = "compiler option for every executable; may be repeated"},
    {"label", "TEXT", CLI_TEXT, AT(matrix.label), .commands = RUN | REPLAY | STUDY, .fallback = "",
     .text = "what this build of the runtime is, for the record (a commit, say)"},
    {"label", "TEXT", CLI_TEXT, AT(suite.label), .commands = SUITE | NIGHTLY, .fallback = "",
     .text = "what this build of the runtime is, for the record (a commit, say)"},
    {"processes", "N", CLI_NUMBER, AT(matrix.processes), .commands = RUN | REPLAY | STUDY,
     .fallback = "0", .most = RES_MOST_REPETITIONS, .recorded = REPLAY,
     .text = "processes that measure each experiment. Intervals come from the differences between "
             "them; fewer than 3 give none. 0: 4 processes; run and study take 16 short ones where "
             "steps take less than 1 ms"},
    {"separate", NULL, CLI_FLAG, AT(matrix.separate), .commands = RUN | REPLAY, .recorded = REPLAY,
     .text = "measure each mode in processes of its own; without it all modes take turns in the "
             "same processes"},
    {"steps", "N", CLI_NUMBER, AT(matrix.steps),
     .commands = RUN | COMPARE | SELFTEST | REPLAY | STUDY, .fallback = "5", .least = 1,
     .marked = true, .text = "steps that each process measures at least"},
    {"steps", "N", CLI_NUMBER, AT(matrix.steps), .commands = SCOPES, .fallback = "5", .least = 1,
     .text = "steps that run under the plugin's profiler"},
    {"steps", "N", CLI_NUMBER, AT(matrix.steps), .commands = EXPLAIN, .fallback = "10", .least = 1,
     .most = 10000, .text = "steps that are run and explained"},
    {"min-time", "TIME", CLI_SPAN, AT(matrix.min_time), .commands = RUN | SELFTEST | REPLAY | STUDY,
     .fallback = "1", .recorded = REPLAY,
     .text = "each process measures at least this long, 3s or 500ms (a number alone: seconds), and "
             "at least --steps steps"},
    {"warmup", "N", CLI_NUMBER, AT(matrix.warmup), .commands = RUN | COMPARE | REPLAY | STUDY,
     .fallback = "60", .least = 1, .marked = true,
     .text = "steps before measuring at most; warm-up ends when nothing was compiled in 8 steps "
             "and their times show no trend"},
    {"device-time", "SOURCE", CLI_TEXT, AT(matrix.device_time),
     .commands = RUN | COMPARE | REPLAY | STUDY, .fallback = "auto", .marked = true,
     .text = "auto: the plugin's profiler, or the slope where it has none; slope: the slope, also "
             "where a step takes over a second; none: no device time, which saves seconds a "
             "process"},
    {"pin", "WHERE", CLI_TEXT, AT(matrix.pin),
     .commands = RUN | SELFTEST | COMPARE | REPLAY | STUDY, .fallback = "none", .marked = true,
     .text = "none; host: host thread on one core, the runtime on the others; all: everything on "
             "the cores given, host thread on the first; or a list of cores, 0,2-3. Threads that a "
             "plugin starts later inherit the mask; threads of a device's driver cannot be pinned"},
    {"idle-cores", "WORD", CLI_TEXT, AT(matrix.idle_cores),
     .commands = RUN | SELFTEST | COMPARE | REPLAY | STUDY, .fallback = "auto", .marked = true,
     .text =
         "awake: cores that wait for work poll, so that they wake up at once; sleep: they sleep "
         "as the kernel wants; auto: awake where this process may ask for that, as root may"},
    {"cache-dir", "DIR", CLI_TEXT, AT(matrix.cache_dir), .commands = RUN | VERIFY | REPLAY | STUDY,
     .fallback = "", .text = "keep executables in DIR and load them from there"},
    {"store", "DIR", CLI_TEXT, AT(matrix.store), .commands = RUN | REPLAY | STUDY,
     .fallback = "bench-results",
     .text = "folder of records, one HDF5 file for each experiment of each process"},
    {"store", "DIR", CLI_TEXT, AT(store),
     .commands = TABLE | DOCTOR | EXPORT | IMPORT | STORED | SUITE | NIGHTLY | PUBLISH,
     .fallback = "bench-results",
     .text = "folder of records, one HDF5 file for each experiment of each process"},
    {"metrics", "FILE", CLI_TEXT, AT(metering.file), .commands = RUN,
     .text = "also write a report of metrics and counters, in the layout of PyTorch/XLA's, or "
             "as JSON where FILE ends in .json; -: to standard output. FILE must not exist; "
             "--force replaces it"},
    {"metrics-every", "N", CLI_NUMBER, AT(metering.every), .commands = RUN, .fallback = "0",
     .text = "write the report of --metrics also whenever N more processes have ended"},
    {"graph-report", "DIR", CLI_TEXT, AT(matrix.graph_report), .commands = RUN,
     .text = "also write the StableHLO text of each graph that is compiled into DIR, once, the "
             "optimized program where the plugin gives it, and an index: inputs, outputs, aliases, "
             "memory, FLOPs, scopes, and how graphs that do the same part of a step differ"},
    {"recordings", "DIR", CLI_TEXT, AT(matrix.recordings), .commands = RUN,
     .text = "also keep the recording of each process of a front end other than bench, in a folder "
             "of its own in DIR, for steps, doctor, replay and estimate"},
    {"timeline", "FILE", CLI_TEXT, AT(matrix.timeline), .commands = RUN,
     .text = "also write when everything ran, as a Chrome trace for Perfetto, or as XSpace where "
             "FILE ends in .pb. FILE must not exist; --force replaces it"},
    {"timeline-every", "N", CLI_NUMBER, AT(matrix.timeline_every), .commands = RUN,
     .fallback = "100",
     .text = "the timeline has the first 10 steps and every N-th step; 0: only the first ones"},
    {"debug-run", "DIR", CLI_TEXT, AT(metering.debug), .commands = RUN,
     .text =
         "also write all reports of the run into DIR, a new or empty folder, with a page that "
         "leads through them, index.html: tables, goodput, the doctor, what is compiled again and "
         "where, scopes, steps, timeline, metrics, graphs"},
    {"debug-every", "N", CLI_NUMBER, AT(metering.debug_every), .commands = RUN, .fallback = "10",
     .least = 1,
     .text = "steps.txt of --debug-run has every N-th of the measured steps; its timeline goes by "
             "--timeline-every"},
    {"golden", "DIR", CLI_TEXT, AT(golden), .commands = VERIFY, .fallback = "",
     .text = "folder of golden values; by default those that come with bench"},
    {"all", NULL, CLI_FLAG, AT(all), .commands = VERIFY,
     .text = "every entry of the golden folder"},
    {"quick", NULL, CLI_FLAG, AT(quick), .commands = SELFTEST,
     .text = "accuracy: a part of the grid; coverage: a twentieth of the tables in numbers, and "
             "runtimes only with --tables; statistics: a quarter of the simulated families"},
    {"model", "NAME,...", CLI_NAMES, AT(trial_models), .commands = SELFTEST,
     .text = "models to run; without it host-cost takes resnet50, and coverage bert, llama, gpt2, "
             "mobilenet_v2 and resnet18, all small, and resnet18 in full"},
    {"seed", "N", CLI_NUMBERS, AT(trial_seed), .commands = SELFTEST, .single = true, .most = 9.2e18,
     .text = "seed of what statistics and coverage draw; by default 1 for statistics, the time for "
             "coverage"},
    {"tables", "N", CLI_NUMBER, AT(tables), .commands = SELFTEST, .least = 1, .most = 10000,
     .text = "coverage: tables of each case on each runtime; by default 40, and none with --quick"},
    {"load", "N", CLI_NUMBER, AT(load), .commands = SELFTEST, .fallback = "0",
     .most = SELFTEST_MOST_LOAD, .text = "coverage: so many busy loops run beside it"},
    {"output", "FILE", CLI_TEXT, AT(file), .commands = SELFTEST,
     .text = "coverage: file for the intervals of all tables and the medians of all processes, as "
             "JSON. FILE must not exist; --force replaces it"},
    {"format", "FORMAT", CLI_TEXT, AT(output.format),
     .commands = (ALL & ~(unsigned)(EXPORT | IMPORT | FEW_FORMATS)) | GRAPH, .fallback = "text",
     .takes = RES_FORMAT_NAMES,
     .text = "text, md, csv, json (records on standard output, all else on standard error), latex "
             "(for \\input, no package needed), html, or narrow: text in 80 columns"},
    {"format", "FORMAT", CLI_TEXT, AT(output.format), .commands = ESTIMATE, .fallback = "text",
     .takes = "text, md, csv, json, narrow",
     .text = "text, md, csv, json, or narrow: text in 80 columns"},
    {"format", "FORMAT", CLI_TEXT, AT(output.format), .commands = EXPLAIN | METRICS,
     .fallback = "text", .takes = "text, json, narrow",
     .text = "text, json, or narrow: text in 80 columns"},
    {"format", "FORMAT", CLI_TEXT, AT(output.format), .commands = WEIGHTS, .fallback = "text",
     .takes = "text, json", .text = "text or json"},
    {"format", "FORMAT", CLI_TEXT, AT(output.format), .commands = NIGHTLY, .fallback = "text",
     .takes = "text, narrow", .text = "text, or narrow: text in 80 columns"},
    {"wide", NULL, CLI_FLAG, AT(output.wide),
     .commands = RUN | TABLE | DOCTOR | COMPARE | HISTORY | SUITE | NIGHTLY | STUDY | LIST |
                 SCOPES | REPLAY | SELFTEST | EXPLAIN | GRAPH | STEPS | VERIFY | ESTIMATE | METRICS,
     .text = "show all columns also on a terminal, where tables otherwise have 80 columns"},
    {"timeout", "TIME", CLI_SPAN, AT(matrix.timeout),
     .commands = RUN | VERIFY | SELFTEST | REPLAY | COMPARE | ESTIMATE | STUDY | EXPLAIN | SCOPES,
     .fallback = "1800", .marked = true,
     .text =
         "stop an experiment after this time: 90s, 10m, 2h (a number alone: seconds); 0: never"},
    {"weights", "FILE", CLI_TEXT, AT(matrix.weights), .commands = RUN | COMPARE | STUDY,
     .marked = true, .modelled = true,
     .text = "safetensors file with the model's parameters and running statistics, by the "
             "framework's names, as F64, F32, F16 or BF16; all else starts as without"},
    {"output", "FILE", CLI_TEXT, AT(file), .commands = WEIGHTS,
     .text = "safetensors file that export-weights writes; --force replaces one that is there"},
    {"table", "NAME", CLI_TEXT, AT(table), .commands = TABLE, .fallback = "speedup",
     .text = "speedup; executions (PJRT time, device time, overhead); ledger (medians of a step's "
             "parts); goodput (what of all wall time was device work of steps, and where the rest "
             "went); compile; memory; costs (of a traced node, an execution, an argument, by front "
             "end); published (captured over lazy steps, beside PyTorch/XLA's published speedups); "
             "estimates (of bench estimate --store: nothing was measured)"},
    {"to", "FORMAT", CLI_TEXT, AT(to), .commands = EXPORT, .text = RES_EXPORT_NAMES},
    {"output", "FILE|DIR", CLI_TEXT, AT(file), .commands = EXPORT,
     .text = "a file, or a folder for asv, pytorch-benchmark, xla and xspace; without it a file "
             "goes to standard output. --force replaces what is there"},
    {"from", "FORMAT", CLI_TEXT, AT(taking.from), .commands = IMPORT,
     .text = "pytorch-xla: JSON lines as pytorch/xla's benchmarks/experiment_runner.py writes "
             "them; without it, folders of recordings"},
    {"model", "NAME", CLI_TEXT, AT(matrix.recorded.name), .commands = IMPORT | REPLAY,
     .recorded = REPLAY, .apart = true,
     .text = "the recording's name in tables; by default that of the script, and for replay that "
             "of the folder"},
    {"phase", "NAME", CLI_TEXT, AT(taking.phase), .commands = IMPORT, .apart = true,
     .text = "of a recording: train or infer, where its steps are that; by default step"},
    {"step-program", "NAME", CLI_TEXT, AT(matrix.recorded.step_program),
     .commands = IMPORT | REPLAY | STEPS | DOCTOR | COMPARE | ESTIMATE, .marked = true,
     .recorded = OF_RECORDING,
     .text = "of a recording: the first program of a step, by its name, the beginning of its name "
             "and *, or the beginning of its hash; by default steps are looked for"},
    {"process", "PID", CLI_NUMBER, AT(matrix.recorded.process),
     .commands = IMPORT | REPLAY | STEPS | DOCTOR | COMPARE | ESTIMATE, .fallback = "0",
     .most = UINT32_MAX, .marked = true, .recorded = OF_RECORDING,
     .text = "of a recording: the process; 0: the one with most executions"},
    {"device", "ID", CLI_NUMBER, AT(stepping.device), .commands = STEPS | DOCTOR, .fallback = "-1",
     .least = -1, .text = "of a recording: the device; -1: the one with most executions"},
    {"trace", "FILE", CLI_TEXT, AT(stepping.trace), .commands = STEPS,
     .text = "also write the process as a Chrome trace for Perfetto, or as XSpace where FILE ends "
             "in .pb. FILE must not exist; --force replaces it"},
    {"cost", "BY", CLI_TEXT, AT(matrix.recorded.cost), .commands = REPLAY | COMPARE,
     .fallback = "recorded", .marked = true, .recorded = OF_RECORDING,
     .text = "of recorded programs that a simulated device cannot read: recorded, their device "
             "times; roofline, the FLOPs and bytes that the recorded compiler told, at the rates "
             "of the simulated device"},
    {"runtime", "NAME", CLI_TEXT, AT(recording.runtime), .commands = RECORD, .fallback = "auto",
     .text = "the runtime to record: a name (bench list runtimes) or the path of a plugin; auto: "
             "the machine's TPU, else its GPU, else cpu"},
    {"limit", "SIZE", CLI_SIZE, AT(recording.limit_bytes), .commands = RECORD, .fallback = "1G",
     .least = 65536,
     .text = "bytes that the recording of each process may take on disk; then it ends, and the "
             "program goes on"},
    {"profile", "N", CLI_NUMBER, AT(recording.profile), .commands = RECORD, .fallback = "0",
     .most = 1e6,
     .text = "let the plugin's own profiler watch N executions, as soon as 64 in a row have "
             "compiled nothing: on a GPU it tells how long kernels run; 0: no profile"},
    {"output", "DIR", CLI_TEXT, AT(recording.folder), .commands = RECORD,
     .text = "folder of the recording, without one in it; by default a new one in recordings"},
    {"runtime", "NAME", CLI_WORDS, AT(compare.runtimes), .commands = COMPARE,
     .text = "given twice, A and B (or once, A,B): a name (bench list runtimes) or the path of a "
             "plugin; of stores, which records count"},
    {"a-option", "NAME=VALUE", CLI_PAIRS, AT(a_option), .commands = COMPARE, .paired = true,
     .text = "option for the client of A only; may be repeated"},
    {"b-option", "NAME=VALUE", CLI_PAIRS, AT(b_option), .commands = COMPARE, .paired = true,
     .text = "option for the client of B only; may be repeated"},
    {"a-flag", "NAME=VALUE", CLI_PAIRS, AT(a_flag), .commands = COMPARE, .paired = true,
     .text = "compiler option for A only; may be repeated"},
    {"b-flag", "NAME=VALUE", CLI_PAIRS, AT(b_flag), .commands = COMPARE, .paired = true,
     .text = "compiler option for B only; may be repeated"},
    {"label", "TEXT", CLI_WORDS, AT(compare.labels), .commands = COMPARE, .empty = true,
     .text = "given twice: what the builds are (commits, say), for the records; of stores, which "
             "records count"},
    {"store", "DIR", CLI_WORDS, AT(compare.stores), .commands = COMPARE,
     .text = "where the records go, in DIR/a and DIR/b; by default a new folder in bench-results. "
             "Given twice, nothing is run: the records of both folders are compared"},
    {"min-time", "TIME", CLI_SPAN, AT(matrix.min_time), .commands = COMPARE, .fallback = "1",
     .marked = true,
     .text =
         "each process measures at least this long; more pairs help more than longer processes"},
    {"pairs", "N", CLI_NUMBER, AT(compare.pairs), .commands = COMPARE, .fallback = "0",
     .paired = true,
     .text = "pairs of processes for each comparison, at most 64, judged once; 0: until it is "
             "decided, with looks after 4, 5, 6, 8, 10 and 12 pairs; of steps below 2 ms up to 24 "
             "pairs, from the second on of a quarter of --min-time"},
    {"precision", "SHARE", CLI_SHARE, AT(compare.precision), .commands = COMPARE, .fallback = "0",
     .paired = true,
     .text = "run pairs until wall times are known to about this share, as 1%, whatever the "
             "verdicts; 0: off"},
    {"budget", "TIME", CLI_SPAN, AT(compare.budget), .commands = COMPARE, .fallback = "0",
     .paired = true,
     .text = "start no pair that would end after this time: 90s, 10m, 2h; 0: no limit"},
    {"fail-if-slower", "SHARE", CLI_SHARE, AT(fail_if_slower), .commands = COMPARE | NIGHTLY,
     .fallback = "0",
     .text = "B counts as slower only if it is slower by more than this, and as equivalent if it "
             "differs by less: 3%. With 0 anything slower counts, and a difference below 3 % is "
             "equivalent"},
    {"control", "N", CLI_NUMBER, AT(compare.control), .commands = COMPARE, .fallback = "1",
     .paired = true, .text = "experiments in which A is compared with itself, too; 0: none"},
    {"bisect", NULL, CLI_FLAG, AT(compare.bisect), .commands = COMPARE,
     .text = "exit codes for git bisect run"},
    {"output", "FILE", CLI_TEXT, AT(file), .commands = STORED,
     .text = "file to write, or to replace: of a plot and of the one series of a history .svg, "
             ".png or .gp, of a report .html"},
    {"output", "DIR", CLI_TEXT, AT(file), .commands = PUBLISH,
     .text = "folder of the site, index.html and what it needs: new, empty, or a site to renew"},
    {"title", "TEXT", CLI_TEXT, AT(title), .commands = REPORT, .fallback = "Benchmark report",
     .text = "title of the page"},
    {"title", "TEXT", CLI_TEXT, AT(title), .commands = PUBLISH | NIGHTLY,
     .fallback = "Benchmark results", .text = "title of the site"},
    {"record", "ID", CLI_WORDS, AT(detailed), .commands = PUBLISH,
     .text = "also keep a page of this record, with ledger, timeline, steps and provenance, such "
             "as the newest records have; may be repeated"},
    {"metric", "WHAT", CLI_TEXT, AT(series.metric), .commands = HISTORY, .fallback = "wall",
     .text =
         "wall or device (a step), overhead (an execution), trace (a step), compile (all graphs)"},
    {"level", "P", CLI_REAL, AT(series.level), .commands = HISTORY, .fallback = "0.05",
     .text = "probability of any false change point in a series that has none"},
    {"least-change", "R", CLI_REAL, AT(series.least_change), .commands = HISTORY,
     .fallback = "0.01", .text = "smaller changes are not shown; 0.01 is 1 %"},
    {"night-hours", "TIME", CLI_HOURS, AT(series.night_hours),
     .commands = HISTORY | NIGHTLY | PUBLISH, .fallback = "12",
     .text = "records of one build within this time are one night: 12h, 90m (a number alone: "
             "hours)"},
    {"reindex", NULL, CLI_FLAG, AT(series.reindex), .commands = HISTORY | PUBLISH,
     .text = "read every record again, whatever the store's index.tsv says"},
    {"runtime", "NAME,...", CLI_NAMES, AT(suite.runtimes), .commands = SUITE | NIGHTLY,
     .apart = true,
     .text = "run the suite on these runtimes in place of those that the file names; "
             "--runtime-option, --xla-flag and --label are of them"},
    {"filter", "PATTERN", CLI_WORDS, AT(suite.filter), .commands = SUITE | NIGHTLY | COMPARE,
     .text = "only experiments whose title, as bench suite --dry-run prints it, has a part like "
             "PATTERN, where * stands for anything, ? for one character, [..] for one of these; "
             "repeated: any of them"},
    {"exclude", "PATTERN", CLI_WORDS, AT(suite.exclude), .commands = SUITE | NIGHTLY | COMPARE,
     .text = "leave out experiments whose title has a part like PATTERN; may be repeated"},
    {"shard", "I/N", CLI_TEXT, AT(suite.shard), .commands = SUITE,
     .text = "part I of N, from 1, or none: the whole suite; by default what a launcher's "
             "environment says (mpirun, srun, a job array)"},
    {"repetitions", "N", CLI_NUMBER, AT(suite.repetitions), .commands = SUITE | NIGHTLY,
     .fallback = "0", .text = "repetitions of each experiment; 0: as the file says"},
    {"retry-failed", NULL, CLI_FLAG, AT(suite.retry_failed), .commands = SUITE | NIGHTLY,
     .text = "repeat experiments that failed before, too"},
    {"dry-run", NULL, CLI_FLAG, AT(suite.dry_run), .commands = SUITE,
     .text = "list what would run and what is done, and run nothing"},
    {"keep-builds", "N", CLI_NUMBER, AT(keep_builds), .commands = NIGHTLY, .fallback = "2",
     .most = 100,
     .text = "builds of each runtime that the store keeps, so that the next night can measure the "
             "last one again beside its own; 0: none, and a night claims less"},
    {"suite", "FILE", CLI_TEXT, AT(suite_name), .commands = NIGHTLY | COMPARE,
     .text = "what to run: a suite file, or " SUITE_NAMES "; for compare in place of "
             "--model, --mode and the like, without its runtimes and repetitions"},
    {"topology", "NAME,...", CLI_NAMES, AT(estimate.topologies), .commands = ESTIMATE,
     .fallback = "v4:1x1x1/megacore",
     .text = "devices to compile for, by the plugin's names; libtpu has v2:2x2, v3:2x2, v4:1x1x1, "
             "v5e:1x1, v5p:1x1x1, v6e:1x1, tpu7x:1x1x1 and larger ones. Behind a slash stands the "
             "chip's configuration: megacore makes one device of the two cores of a v4"},
    {"topology-option", "NAME=VALUE", CLI_PAIRS, AT(topology_option), .commands = ESTIMATE,
     .text = "option for all topologies; may be repeated"},
    {"by-scope", NULL, CLI_FLAG, AT(estimate.by_scope), .commands = ESTIMATE,
     .text = "also a table of the cycles of each part of the model"},
    {"check-published", NULL, CLI_FLAG, AT(estimate.check_published), .commands = ESTIMATE,
     .text = "also a table of published times, with their source, beside the estimates"},
    {"into-sim", "FILE", CLI_TEXT, AT(estimate.into_sim), .commands = ESTIMATE,
     .text =
         "also write a file of settings for the simulated device with the estimated times of one "
         "step's graphs: bench --runtime sim --runtime-option config=FILE. FILE must not exist; "
         "--force replaces it"},
    {"output", "FILE", CLI_TEXT, AT(file), .commands = ESTIMATE,
     .text = "also draw compilation, text, tracing, memory and cycles over several values of "
             "--depth: .svg, .png or .gp. FILE must not exist; --force replaces it"},
    {"estimates", "FILE", CLI_TEXT, AT(file), .commands = REPLAY,
     .text = "resnet50, or a recording on the simulated device: device times that bench estimate "
             "--format json printed, in place of the published or the recorded ones"},
    {"store", "DIR", CLI_TEXT, AT(estimate.store), .commands = ESTIMATE,
     .text = "also keep a record of each step in this folder of records, where it is always called "
             "estimated"},
    {"runtime", "NAME", CLI_TEXT, AT(estimate_runtime), .commands = ESTIMATE, .fallback = "tpu",
     .apart = true,
     .text = "whose compiler to ask: a name (bench list runtimes) or the path of a plugin"},
    {"cache-dir", "DIR", CLI_TEXT, AT(estimate.cache_dir), .commands = ESTIMATE,
     .fallback = "bench-results/estimates",
     .text =
         "keep what the compiler said in DIR, and do not compile it again; empty: keep nothing"},
    {"trace-cost-ns", "N,...", CLI_NUMBERS,
     AT(matrix.axis) + RES_AXIS_TRACE_COST * sizeof(cli_list), .commands = STUDY, .fallback = "0",
     .most = INT_MAX, .text = "busy wait for each traced node; the study trace-cost sweeps it"},
    {"output", "FILE", CLI_TEXT, AT(file), .commands = STUDY,
     .text = "also draw points and lines: .svg, .png or .gp. FILE must not exist; --force replaces "
             "it"},
    {"preset", "NAME", CLI_TEXT, AT(scopes.preset), .commands = SCOPES, .fallback = "cpu-2",
     .text =
         "of the simulated device whose model estimates device times: cpu-2, h100, tpu-v4, ...; "
         "none: no estimate"},
    {"levels", "N", CLI_NUMBER, AT(scopes.levels), .commands = SCOPES, .fallback = "3",
     .text = "levels of the tree; 0: all"},
    {"least", "SHARE", CLI_SHARE, AT(scopes.least), .commands = SCOPES, .fallback = "1%",
     .text = "branches with a smaller share of every figure stand together"},
    {"weight", "FIGURE", CLI_TEXT, AT(scopes.weight), .commands = SCOPES,
     .text = "what --output shows: " SCOPES_WEIGHTS "; without it measured device time, else "
             "estimated, else trace"},
    {"output", "FILE", CLI_WORDS, AT(scopes.files), .commands = SCOPES,
     .text = "also write a flame graph (.svg, .png, .gp) or its folded stacks (.folded); may be "
             "repeated. FILE must not exist; --force replaces it"},
    {"report", "DIR", CLI_TEXT, AT(report), .commands = NIGHTLY | COMPARE,
     .text = "folder of the page, index.html"},
    {"site", "DIR", CLI_TEXT, AT(site), .commands = NIGHTLY,
     .text =
         "folder of a site over the whole store, as bench publish makes it; grown by the night"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose), .commands = ALL & ~(unsigned)HISTORY,
     .text = "say more, where there is more: a line for each process, each ledger, what the plugin "
             "says on standard error (-v)"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose), .commands = STORED | PUBLISH,
     .text = "also say how many records were read (-v)"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose), .commands = RECORD,
     .text = "also say what the program finds in its environment (-v)"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose), .commands = GRAPH,
     .text = "show all differences, not only the first ones (-v)"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose), .commands = COMPLETION,
     .text = "of no effect here, but each command takes it (-v)"},
    {"quiet", NULL, CLI_FLAG, AT(output.quiet), .commands = EVERY,
     .text = "say nothing of how the work goes on standard error: warnings and errors only (-q)"},
    {"force", NULL, CLI_FLAG, AT(output.force),
     .commands = WEIGHTS | EXPORT | STEPS | RUN | STUDY | SCOPES | ESTIMATE | SELFTEST,
     .text = "replace output files that are there already; for run those of --debug-run, "
             "--timeline, --metrics and --output"},
    {"force", NULL, CLI_FLAG, AT(output.force), .commands = STORED | PUBLISH | NIGHTLY | COMPARE,
     .text = "replace output files that are there already, as is done without it, too: they can "
             "be made again from the records"},
    {"help", NULL, CLI_FLAG, AT(help), .commands = EVERY, .text = "this text"},
    {"man", NULL, CLI_FLAG, AT(man), .commands = RUN, .text = "the manual page, as roff"},
    {"version", NULL, CLI_FLAG, AT(version), .commands = EVERY, .text = "version of bench"},
};
#define OTHER_COUNT (sizeof others / sizeof *others)

/* ---- axes -------------------------------------------------------------------------- */

/* Which commands take an axis as something to measure: all axes, or those of the network; MORE are
 * taken besides, LESS are not. (The runtimes of a comparison have a row of their own.) */
static const struct {
    uint32_t commands;
    bool all, network;
    res_axis_set more, less;
} takers[] = {
    {RUN, true, false, 0, 0},
    {COMPARE, true, false, 0, RES_AXIS_BIT(RES_AXIS_RUNTIME)},
    {STUDY, true, false, 0,
     RES_AXIS_BIT(RES_AXIS_MODE) | RES_AXIS_BIT(RES_AXIS_FRONT_END) |
         RES_AXIS_BIT(RES_AXIS_TRACE_COST)},
    {EXPLAIN, true, false, 0, RES_AXIS_BIT(RES_AXIS_IN_FLIGHT) | RES_AXIS_BIT(RES_AXIS_TRACE_COST)},
    {VERIFY, false, true,
     RES_AXIS_BIT(RES_AXIS_MODE) | RES_AXIS_BIT(RES_AXIS_LAYOUT) | RES_AXIS_BIT(RES_AXIS_RUNTIME) |
         RES_AXIS_BIT(RES_AXIS_FRONT_END) | RES_AXIS_BIT(RES_AXIS_SCAN) |
         RES_AXIS_BIT(RES_AXIS_REMAT) | RES_AXIS_BIT(RES_AXIS_OFFLOAD),
     0},
    {SELFTEST, false, true,
     RES_AXIS_BIT(RES_AXIS_PHASE) | RES_AXIS_BIT(RES_AXIS_LAYOUT) | RES_AXIS_BIT(RES_AXIS_RUNTIME),
     RES_AXIS_BIT(RES_AXIS_MODEL)},
    {WEIGHTS, false, true, RES_AXIS_BIT(RES_AXIS_DTYPE) | RES_AXIS_BIT(RES_AXIS_SEED), 0},
    {REPLAY, false, false, RES_AXIS_BIT(RES_AXIS_RUNTIME) | RES_AXIS_BIT(RES_AXIS_SEED), 0},
    {ESTIMATE | SCOPES, false, true,
     RES_AXIS_BIT(RES_AXIS_PHASE) | RES_AXIS_BIT(RES_AXIS_BATCH) | RES_AXIS_BIT(RES_AXIS_IMAGE) |
         RES_AXIS_BIT(RES_AXIS_SEQ) | RES_AXIS_BIT(RES_AXIS_OPTIMIZER) |
         RES_AXIS_BIT(RES_AXIS_DROPOUT) | RES_AXIS_BIT(RES_AXIS_DTYPE) |
         RES_AXIS_BIT(RES_AXIS_LAYOUT) | RES_AXIS_BIT(RES_AXIS_SCAN),
     0},
    {ESTIMATE, false, false,
     RES_AXIS_BIT(RES_AXIS_MODE) | RES_AXIS_BIT(RES_AXIS_GRAPHS) | RES_AXIS_BIT(RES_AXIS_REMAT) |
         RES_AXIS_BIT(RES_AXIS_OFFLOAD) | RES_AXIS_BIT(RES_AXIS_LAYOUTS),
     0},
    {SCOPES, false, false, RES_AXIS_BIT(RES_AXIS_RUNTIME), 0},
    {LIST, false, true,
     RES_AXIS_BIT(RES_AXIS_BATCH) | RES_AXIS_BIT(RES_AXIS_IMAGE) | RES_AXIS_BIT(RES_AXIS_SEQ),
     RES_AXIS_BIT(RES_AXIS_MODEL)},
};

static uint32_t takers_of(const res_axis *axis)
{
    uint32_t commands = 0;
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++) {
        const bool taken = takers[i].all || (takers[i].network && axis->network) ||
                           (takers[i].more & RES_AXIS_BIT(axis->id));
        if (taken && !(takers[i].less & RES_AXIS_BIT(axis->id)))
            commands |= takers[i].commands;
    }
    return commands;
}

/* Axes that programs of others have, too. */
#define OF_PROGRAMS                                                                                \
    (RES_AXIS_BIT(RES_AXIS_RUNTIME) | RES_AXIS_BIT(RES_AXIS_INPUT) |                               \
     RES_AXIS_BIT(RES_AXIS_IN_FLIGHT) | RES_AXIS_BIT(RES_AXIS_SETTINGS) |                          \
     RES_AXIS_BIT(RES_AXIS_SEED))

/* The option of AXIS, to say what is measured. */
static cli_option measured_row(const res_axis *axis)
{
    /* --input is also given once for each file of a program. */
    const bool files = axis->id == RES_AXIS_INPUT;
    return (cli_option){
        .name = axis->option,
        .argument = axis->argument,
        .kind = files                               ? CLI_WORDS
                : axis->field.kind == RES_KIND_TEXT ? CLI_NAMES
                                                    : CLI_NUMBERS,
        .offset = files ? AT(matrix.inputs) : AT(matrix.axis) + (size_t)axis->id * sizeof(cli_list),
        .fallback = files ? NULL : axis->usual,
        .commands = takers_of(axis),
        .least = axis->least,
        .most = axis->most,
        .text = axis->help,
        .single = axis->single,
        .marked = axis->role != RES_ROLE_BLOCK && axis->role != RES_ROLE_SEED,
        .modelled = !(OF_PROGRAMS & RES_AXIS_BIT(axis->id)),
        .recorded = axis->id == RES_AXIS_RUNTIME ? REPLAY : 0,
    };
}

/* The option of AXIS, to choose stored records. */
static cli_option stored_row(const res_axis *axis)
{
    return (cli_option){
        .name = axis->option,
        .argument = "VALUE,...",
        .kind = axis->field.kind == RES_KIND_TEXT ? CLI_NAMES : CLI_NUMBERS,
        .offset = AT(selection.axis) + (size_t)axis->id * sizeof(cli_list),
        .commands = STORED | TABLE | DOCTOR | METRICS,
        .text = "only records with one of these values",
        .apart = true,
    };
}

const cli_table *options_table(void)
{
    static cli_option rows[2 * RES_AXIS_COUNT + OTHER_COUNT];
    static cli_table table = {.rows = rows};
    size_t count = 0;
    if (table.count)
        return &table;
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].option)
            rows[count++] = measured_row(&res_axes[i]);
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].option)
            rows[count++] = stored_row(&res_axes[i]);
    for (size_t i = 0; i < OTHER_COUNT; i++)
        rows[count++] = others[i];
    table.count = count;
    return &table;
}
