/*
 * options.c - one table of options. A row says name, argument, kind, default,
 * text and the commands that take it; parsing, --help, the man page and the
 * record's echo are read off the table.
 */
#include "harness/cli/cli.h"
#include "models/model.h"
#include "modes/mode.h"
#include "results/exports/exports.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    TEXT,
    NUMBER,
    REAL,
    SHARE, /* "3%" or "0.03" */
    SPAN,  /* of time: "90s", "10m", "2h" */
    FLAG,
    REPEATED, /* NAME=VALUE, CLI_MAX_REPEATS times */
    WORDS,    /* any text, so often */
    PATHS
} kind;

typedef struct option_row {
    const char *name, *argument;
    kind kind;
    size_t offset;
    const char *fallback; /* NULL: none */
    unsigned commands;
    double least; /* of a number */
    const char *text;
} option_row;

#define AT(member) offsetof(cli_options, member)
enum {
    RUN = CLI_CMD_RUN,
    VERIFY = CLI_CMD_VERIFY,
    TABLE = CLI_CMD_TABLE,
    LIST = CLI_CMD_LIST,
    SELFTEST = CLI_CMD_SELFTEST,
    REPLAY = CLI_CMD_REPLAY,
    WEIGHTS = CLI_CMD_EXPORT_WEIGHTS,
    COMPARE = CLI_CMD_COMPARE,
    EXPORT = CLI_CMD_EXPORT,
    IMPORT = CLI_CMD_IMPORT,
    PLOT = CLI_CMD_PLOT,
    REPORT = CLI_CMD_REPORT,
    PICTURES = PLOT | REPORT,
    HISTORY = CLI_CMD_HISTORY,
    STORED = PICTURES | HISTORY,
    SUITE = CLI_CMD_SUITE,
    NIGHTLY = CLI_CMD_NIGHTLY,
    WHAT = 1 << 20, /* not a command: it says what is run, which a suite does in its place */
    ALL = RUN | VERIFY | TABLE | LIST | SELFTEST | WEIGHTS | REPLAY | COMPARE | EXPORT | IMPORT |
          HISTORY | SUITE | NIGHTLY
};

static const option_row rows[] = {
    {"model", "NAME,...", TEXT, AT(model), "resnet50",
     RUN | VERIFY | SELFTEST | WEIGHTS | COMPARE | WHAT, 0,
     "models to run; 'all' is every one (bench list models)"},
    {"variant", "full,small", TEXT, AT(variant), "full",
     RUN | VERIFY | LIST | SELFTEST | WEIGHTS | COMPARE | WHAT, 0,
     "the published model, or its reduced copy for quick tests; full_pad and small_pad: rows of "
     "tokens end in padding; for verify, names of golden files, or all"},
    {"mode", "MODE,...", TEXT, AT(mode), "lazy", RUN | VERIFY | COMPARE | WHAT, 0,
     "eager, lazy, capture (bench list modes)"},
    {"phase", "train,infer", TEXT, AT(phase), "train", RUN | COMPARE | WHAT, 0,
     "training step (forward, backward, update) or inference"},
    {"batch", "N,...", TEXT, AT(batch), "0", RUN | LIST | COMPARE | WHAT, 0,
     "batch size; 0 is the model's own, in bench list models that of the golden data"},
    {"image", "N,...", TEXT, AT(image), "0", RUN | LIST | COMPARE | WHAT, 0,
     "pixels a side of the input image; 0 is the model's own"},
    {"seq", "N,...", TEXT, AT(seq), "0", RUN | LIST | COMPARE | WHAT, 0,
     "tokens a row, of models of language; 0 is the model's own"},
    {"optimizer", "NAME,...", TEXT, AT(optimizer), "default", RUN | COMPARE | WHAT, 0,
     "of training steps: sgd (with momentum), adamw, or default, the model's own"},
    {"dropout", "default,off", TEXT, AT(dropout), "default", RUN | COMPARE | WHAT, 0,
     "in training: as in the model's source, or off"},
    {"input", "WAY,...", PATHS, AT(input), NULL, RUN | COMPARE | WHAT, 0,
     "synthetic (the default): batches lie on the device; transfer: each step sends a fresh one "
     "first; prefetch: it is sent while the device works on the step before. With --program: "
     "FILE.npy, once for each argument in order; without, arguments are made up: floats in "
     "[-1, 1), integers from 0 to 7"},
    {"program", "FILE.mlir", TEXT, AT(program), NULL, RUN | COMPARE | WHAT, 0,
     "run this StableHLO text in place of models"},
    {"output", "FILE.npy", PATHS, AT(outputs), NULL, RUN, 0,
     "with --program: where a result of the first execution goes; repeated, in order"},
    {"check", "FILE.npy", PATHS, AT(check), NULL, RUN, 0,
     "with --program: what a result of the first execution must be; repeated, in order"},
    {"rtol", "R", REAL, AT(rtol), "1e-5", RUN, 0, "of --check: |got - want| <= A + R |want|"},
    {"atol", "A", REAL, AT(atol), "1e-8", RUN, 0, "of --check; bool and integers are exact"},
    {"lengths", "fixed,varying", TEXT, AT(lengths), "fixed", RUN | COMPARE | WHAT, 0,
     "rows of --seq tokens, or a batch of other lengths each step (transformer_wmt_en_de); each "
     "length not seen before is compiled"},
    {"buckets", "N", NUMBER, AT(buckets), "0", RUN | COMPARE | WHAT, 0,
     "pad varying lengths to N lengths; 0 does not; N implies --lengths varying"},
    {"dtype", "f32,bf16", TEXT, AT(dtype), "f32", RUN | WEIGHTS | COMPARE | WHAT, 0,
     "type of parameters and arithmetic"},
    {"graphs", "1,2,3,5", TEXT, AT(graphs), "1", RUN | COMPARE | WHAT, 0,
     "into how many graphs capture cuts a step: 1 whole; 2 forward+backward, update; 3 forward, "
     "backward, update; 5 input, forward, statistics, backward, update"},
    {"layout", "LAYOUT", TEXT, AT(layout), "auto", RUN | VERIFY | SELFTEST | COMPARE | WHAT, 0,
     "nhwc, nchw, or auto: what suits the runtime"},
    {"runtime", "NAME,...", TEXT, AT(runtime), "cpu", RUN | VERIFY | SELFTEST, 0,
     "runtimes (bench list runtimes), or paths of PJRT plugins"},
    {"runtime-option", "NAME=VALUE", REPEATED, AT(runtime_option), NULL,
     RUN | VERIFY | SELFTEST | COMPARE | SUITE | NIGHTLY, 0,
     "option for the plugin's client; may be repeated"},
    {"xla-flag", "NAME=VALUE", REPEATED, AT(xla_flag), NULL,
     RUN | VERIFY | SELFTEST | COMPARE | SUITE | NIGHTLY, 0,
     "compiler option for every executable; may be repeated"},
    {"label", "TEXT", TEXT, AT(label), "", RUN | SUITE | NIGHTLY, 0,
     "what this build of the runtime is, for the record (a commit, say)"},
    {"steps", "N", NUMBER, AT(steps), "10", RUN | COMPARE | WHAT, 1, "steps measured at least"},
    {"min-time", "SECONDS", REAL, AT(min_time), "3", RUN, 0,
     "measure at least so long; the later of the two counts"},
    {"warmup", "N", NUMBER, AT(warmup), "60", RUN | COMPARE | WHAT, 1,
     "steps before measuring at most; warm-up ends when nothing was compiled in 8 steps and "
     "their times show no trend"},
    {"in-flight", "N,...", TEXT, AT(in_flight), "1", RUN | COMPARE | WHAT, 0,
     "steps dispatched and not awaited; 1 waits for each step (serial)"},
    {"trace-cost-ns", "N", NUMBER, AT(trace_cost_ns), "0", RUN | COMPARE | WHAT, 0,
     "busy wait for each traced node, to emulate a slower front end (PyTorch/XLA: about 17000); "
     "tables say so"},
    {"device-time", "SOURCE", TEXT, AT(device_time), "auto", RUN | COMPARE | WHAT, 0,
     "auto: what the plugin's profiler says, or where it has none the slope; slope: never the "
     "profiler; none: not measured, which saves seconds a process"},
    {"pin", "WHERE", TEXT, AT(pin), "none", RUN | SELFTEST | COMPARE | WHAT, 0,
     "none; host: host thread on one core, the runtime on the others; all: everything on the "
     "cores given, host thread on the first; or a list of cores, 0,2-3. Threads that a plugin "
     "starts later inherit the mask; threads of a device's driver cannot be pinned"},
    {"cache-dir", "DIR", TEXT, AT(cache_dir), "", RUN | VERIFY, 0,
     "keep executables in DIR and load them from there"},
    {"store", "DIR", TEXT, AT(store), "bench-results",
     RUN | TABLE | REPLAY | EXPORT | IMPORT | STORED | SUITE | NIGHTLY, 0,
     "folder of records, one HDF5 file an experiment"},
    {"golden", "DIR", TEXT, AT(golden), "", VERIFY, 0,
     "folder of golden values; by default those that come with bench"},
    {"all", NULL, FLAG, AT(all), NULL, VERIFY, 0, "every entry of the golden folder"},
    {"quick", NULL, FLAG, AT(quick), NULL, SELFTEST, 0,
     "accuracy: a part of the grid; statistics: a quarter of the simulated families"},
    {"format", "FORMAT", TEXT, AT(format), "text", ALL & ~(unsigned)(EXPORT | IMPORT), 0,
     "text, md, csv, json (records on standard output, all else on standard error), latex (for "
     "\\input, no package needed) or html"},
    {"timeout", "SECONDS", REAL, AT(timeout), "1800",
     RUN | VERIFY | SELFTEST | REPLAY | COMPARE | WHAT, 0,
     "give an experiment up after so long; 0 never"},
    {"seed", "N", NUMBER, AT(seed), "1", RUN | WEIGHTS | SELFTEST | COMPARE, 0,
     "of weights and inputs; of what selftest statistics simulates"},
    {"weights", "FILE", TEXT, AT(weights), NULL, RUN | COMPARE | WHAT, 0,
     "safetensors file with the model's parameters and running statistics, by the framework's "
     "names, as F64, F32, F16 or BF16; all else starts as without"},
    {"output", "FILE", TEXT, AT(output), NULL, WEIGHTS, 0,
     "safetensors file that export-weights writes; one that is there is never overwritten"},
    {"table", "NAME", TEXT, AT(table), "speedup", TABLE, 0,
     "speedup; executions (PJRT time, device time, overhead); ledger (medians of a step's parts); "
     "compile; memory"},
    {"to", "FORMAT", TEXT, AT(to), NULL, EXPORT, 0, RES_EXPORT_NAMES},
    {"output", "FILE|DIR", TEXT, AT(output), NULL, EXPORT, 0,
     "what export writes: a file, of asv, xla and xspace a folder; without it a file goes to "
     "standard output. Nothing that is there is overwritten"},
    {"from", "FORMAT", TEXT, AT(from), NULL, IMPORT, 0,
     "pytorch-xla: JSON lines as pytorch/xla's benchmarks/experiment_runner.py writes them"},
    {"runtime", "NAME", WORDS, AT(sides), NULL, COMPARE, 0,
     "given twice, A and B (or once, A,B): a name (bench list runtimes) or the path of a plugin; "
     "of stores, which records count"},
    {"a-option", "NAME=VALUE", REPEATED, AT(a_option), NULL, COMPARE, 0,
     "option for A's client alone; may be repeated"},
    {"b-option", "NAME=VALUE", REPEATED, AT(b_option), NULL, COMPARE, 0, "for B's alone"},
    {"a-flag", "NAME=VALUE", REPEATED, AT(a_flag), NULL, COMPARE, 0,
     "compiler option of A alone; may be repeated"},
    {"b-flag", "NAME=VALUE", REPEATED, AT(b_flag), NULL, COMPARE, 0, "of B alone"},
    {"label", "TEXT", WORDS, AT(labels), NULL, COMPARE, 0,
     "given twice: what the builds are (commits, say), for the records; of stores, which records "
     "count"},
    {"store", "DIR", WORDS, AT(stores), NULL, COMPARE, 0,
     "where the records go, in DIR/a and DIR/b; by default a new folder in bench-results. Given "
     "twice, nothing is run: the records of both folders are compared"},
    {"min-time", "SECONDS", REAL, AT(min_time), "1", COMPARE | WHAT, 0,
     "each process measures at least so long; more processes tell more than longer ones"},
    {"pairs", "N", NUMBER, AT(pairs), "0", COMPARE, 0,
     "pairs of processes for each comparison, at most 64; 0: as many as the number of "
     "comparisons needs, or with --budget alone as many as fit"},
    {"precision", "SHARE", SHARE, AT(precision), "0", COMPARE, 0,
     "go on until ratios are known to about so much: 1%; 0 does not"},
    {"budget", "TIME", SPAN, AT(budget), "0", COMPARE, 0,
     "start no pair that would end later: 90s, 10m, 2h; 0: no limit"},
    {"fail-if-slower", "SHARE", SHARE, AT(fail_if_slower), "0", COMPARE | NIGHTLY, 0,
     "count as slower what is slower by more than this, and as equivalent what differs by less: "
     "3%; with 0 anything slower counts, and equivalent is within 3 %"},
    {"control", "N", NUMBER, AT(control), "1", COMPARE, 0,
     "experiments in which A is compared with itself, too; 0: none"},
    {"bisect", NULL, FLAG, AT(bisect), NULL, COMPARE, 0, "exit codes for git bisect run"},
    {"model", "NAME,...", TEXT, AT(only_model), NULL, STORED, 0, "records of these models only"},
    {"mode", "MODE,...", TEXT, AT(only_mode), NULL, STORED, 0, "of these modes only"},
    {"phase", "train,infer", TEXT, AT(only_phase), NULL, STORED, 0, "of this phase only"},
    {"batch", "N,...", TEXT, AT(only_batch), NULL, STORED, 0, "of these batch sizes only"},
    {"graphs", "N,...", TEXT, AT(only_graphs), NULL, STORED, 0, "of these numbers of graphs only"},
    {"runtime", "NAME,...", TEXT, AT(only_runtime), NULL, STORED, 0, "of these runtimes only"},
    {"output", "FILE", TEXT, AT(output), NULL, STORED, 0,
     "file to write, or to replace: of a plot and of the one series of a history .svg, .png or "
     ".gp, of a report .html"},
    {"title", "TEXT", TEXT, AT(title), "Benchmark report", REPORT, 0, "of the page"},
    {"metric", "WHAT", TEXT, AT(metric), "wall", HISTORY, 0,
     "wall or device (a step), overhead (an execution), trace (a step), compile (all graphs)"},
    {"level", "P", REAL, AT(level), "0.05", HISTORY, 0,
     "probability of any false change point in a series that has none"},
    {"least-change", "R", REAL, AT(least_change), "0.01", HISTORY, 0,
     "smaller changes are not told; 0.01 is 1 %"},
    {"night-hours", "H", REAL, AT(night_hours), "12", HISTORY | NIGHTLY, 0,
     "records of one build within so many hours are one night"},
    {"reindex", NULL, FLAG, AT(reindex), NULL, HISTORY, 0,
     "read every record again, whatever the store's index.tsv says"},
    {"runtime", "NAME,...", TEXT, AT(suite_runtime), NULL, SUITE | NIGHTLY, 0,
     "run the suite on these runtimes in place of those that the file names; --runtime-option, "
     "--xla-flag and --label are of them"},
    {"filter", "PATTERN", PATHS, AT(filter), NULL, SUITE | NIGHTLY | COMPARE, 0,
     "only experiments whose title, as --dry-run prints it, has a part like PATTERN, where * "
     "stands for anything, ? for one character, [..] for one of these; repeated: any of them"},
    {"exclude", "PATTERN", PATHS, AT(exclude), NULL, SUITE | NIGHTLY | COMPARE, 0,
     "none whose title has a part like PATTERN; may be repeated"},
    {"shard", "I/N", TEXT, AT(shard), NULL, SUITE, 0,
     "part I of N, from 1, or none: the whole suite; by default what a launcher's environment "
     "says (mpirun, srun)"},
    {"repetitions", "N", NUMBER, AT(repetitions), "0", SUITE | NIGHTLY, 0,
     "in place of those that the file asks for; 0: as it says"},
    {"retry-failed", NULL, FLAG, AT(retry_failed), NULL, SUITE | NIGHTLY, 0,
     "repeat experiments that failed before, too"},
    {"dry-run", NULL, FLAG, AT(dry_run), NULL, SUITE, 0,
     "list what would run and what is done, and run nothing"},
    {"suite", "FILE", TEXT, AT(suite), NULL, NIGHTLY | COMPARE, 0,
     "what to run: a suite file, or smoke, reference, nightly; for compare in place of --model, "
     "--mode and the like, without its runtimes and repetitions"},
    {"report", "DIR", TEXT, AT(report), NULL, NIGHTLY | COMPARE, 0,
     "folder of the page, index.html"},
    {"verbose", NULL, FLAG, AT(verbose), NULL, ALL, 0,
     "show each ledger, and what the plugin says on standard error"},
    {"help", NULL, FLAG, AT(help), NULL, ALL | PICTURES, 0, "this text"},
    {"man", NULL, FLAG, AT(man), NULL, RUN, 0, "the manual page, as roff"},
    {"version", NULL, FLAG, AT(version), NULL, RUN, 0, "version of bench"},
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

static void *field(cli_options *options, const option_row *row)
{
    return (char *)options + row->offset;
}

static const void *const_field(const cli_options *options, const option_row *row)
{
    return (const char *)options + row->offset;
}

/* ---- parsing ------------------------------------------------------------------ */

static bn_code set_number(const option_row *row, const char *value, int64_t *out, bn_status *st)
{
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (errno || *end || end == value || (double)n < row->least)
        return bn_fail(st, BN_INVALID, "--%s takes a whole number from %.0f, not '%s'", row->name,
                       row->least, value);
    *out = n;
    return BN_OK;
}

static bn_code set_real(const option_row *row, const char *value, double *out, bn_status *st)
{
    char *end;
    errno = 0;
    double n = strtod(value, &end);
    if (errno || *end || end == value || !isfinite(n) || n < row->least)
        return bn_fail(st, BN_INVALID, "--%s takes a number from %g, not '%s'", row->name,
                       row->least, value);
    *out = n;
    return BN_OK;
}

/* A number and one of UNITS, a letter each; NUMBER times the unit's FACTOR. */
static bn_code set_scaled(const option_row *row, const char *value, const char *units,
                          const double *factors, const char *wanted, double *out, bn_status *st)
{
    char *end;
    errno = 0;
    const double n = strtod(value, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (errno || end == value || !isfinite(n) || n < 0 || (*end && (!unit || end[1])))
        return bn_fail(st, BN_INVALID, "--%s takes %s, not '%s'", row->name, wanted, value);
    *out = unit ? n * factors[unit - units] : n;
    return BN_OK;
}

static bn_code set_share(const option_row *row, const char *value, double *out, bn_status *st)
{
    static const double percent[] = {0.01};
    double share;
    bn_code code = set_scaled(row, value, "%", percent, "a share, 3% or 0.03", &share, st);
    /* "3" would be 300 %. */
    if (code == BN_OK && share >= 1)
        code = bn_fail(st, BN_INVALID, "--%s takes a share below 100%%, as 3%% or 0.03, not '%s'",
                       row->name, value);
    if (code == BN_OK)
        *out = share;
    return code;
}

static bn_code set_span(const option_row *row, const char *value, double *out, bn_status *st)
{
    static const double seconds[] = {1, 60, 3600};
    return set_scaled(row, value, "smh", seconds, "a time, 90s, 10m or 2h", out, st);
}

static bn_code set_path(const option_row *row, const char *value, const char **list, bn_status *st)
{
    size_t n = 0;
    while (list[n])
        n++;
    if (n == CLI_MAX_PATHS)
        return bn_fail(st, BN_INVALID, "--%s can be given %d times", row->name, CLI_MAX_PATHS);
    if (!value[0])
        return bn_fail(st, BN_INVALID, "--%s is empty", row->name);
    list[n] = value;
    return BN_OK;
}

static bn_code set_repeated(const option_row *row, const char *value, const char **list,
                            bn_status *st)
{
    size_t n = 0;
    while (list[n])
        n++;
    if (n == CLI_MAX_REPEATS)
        return bn_fail(st, BN_INVALID, "--%s can be given %d times", row->name, CLI_MAX_REPEATS);
    if (row->kind == REPEATED && !strchr(value, '='))
        return bn_fail(st, BN_INVALID, "--%s takes NAME=VALUE, not '%s'", row->name, value);
    list[n] = value;
    return BN_OK;
}

static bn_code set_value(cli_options *options, const option_row *row, const char *value,
                         bn_status *st)
{
    void *at = field(options, row);
    /* Words travel to workers and into records as JSON. */
    json_t *utf8 = value ? json_string(value) : NULL;
    if (value && !utf8)
        return bn_fail(st, BN_INVALID, "--%s takes text in UTF-8", row->name);
    json_decref(utf8);
    switch (row->kind) {
    case TEXT:
        *(const char **)at = value;
        return BN_OK;
    case NUMBER:
        return set_number(row, value, at, st);
    case REAL:
        return set_real(row, value, at, st);
    case FLAG:
        *(bool *)at = true;
        return BN_OK;
    case SHARE:
        return set_share(row, value, at, st);
    case SPAN:
        return set_span(row, value, at, st);
    case REPEATED:
    case WORDS:
        return set_repeated(row, value, at, st);
    case PATHS:
        return set_path(row, value, at, st);
    }
    return BN_OK;
}

/* The row of an option; *ANYWHERE is set when another command takes it. */
static const option_row *find_row(unsigned command, const char *name, size_t length, bool *anywhere)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strlen(rows[i].name) != length || strncmp(rows[i].name, name, length) != 0)
            continue;
        *anywhere = true;
        if (rows[i].commands & command)
            return &rows[i];
    }
    return NULL;
}

static bn_code parse_one(unsigned command, int argc, char **argv, int *i, cli_options *options,
                         bn_status *st)
{
    const char *name = argv[*i] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    bool anywhere = false;
    const option_row *row = find_row(command, name, length, &anywhere);
    if (!row)
        return bn_fail(st, BN_INVALID,
                       anywhere ? "this command does not take --%.*s; see --help"
                                : "there is no option --%.*s; see --help",
                       (int)length, name);
    if ((row->commands & WHAT) && !options->what)
        options->what = row->name;
    if (row->kind == FLAG) {
        if (equals)
            return bn_fail(st, BN_INVALID, "--%s takes no value", row->name);
        return set_value(options, row, NULL, st);
    }
    if (equals)
        return set_value(options, row, equals + 1, st);
    if (*i + 1 >= argc)
        return bn_fail(st, BN_INVALID, "--%s needs a value: %s", row->name, row->argument);
    return set_value(options, row, argv[++*i], st);
}

bn_code cli_options_parse(unsigned command, int argc, char **argv, cli_options *options,
                         const char **rest, int max_rest, int *rest_count, bn_status *st)
{
    bn_code code = BN_OK;
    *options = (cli_options){0};
    *rest_count = 0;
    /* The command's own last: several rows may fill one member. */
    for (size_t i = 0; i < 2 * ROW_COUNT && code == BN_OK; i++) {
        const option_row *row = &rows[i % ROW_COUNT];
        if (row->fallback && (i < ROW_COUNT || (row->commands & command)))
            code = set_value(options, row, row->fallback, st);
    }
    for (int i = 0; i < argc && code == BN_OK; i++) {
        if (strcmp(argv[i], "-h") == 0)
            options->help = true;
        else if (strncmp(argv[i], "--", 2) == 0 && argv[i][2])
            code = parse_one(command, argc, argv, &i, options, st);
        else if (*rest_count < max_rest)
            rest[(*rest_count)++] = argv[i];
        else
            code = bn_fail(st, BN_INVALID, "'%s' is one word too many; see --help", argv[i]);
    }
    return code;
}

/* ---- texts --------------------------------------------------------------------- */

#define HELP_COLUMN 26
#define HELP_WIDTH  96

/* TEXT from column HELP_COLUMN, wrapped. */
static void wrap(bn_text *out, const char *text)
{
    size_t column = HELP_COLUMN;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column + word > HELP_WIDTH && column > HELP_COLUMN) {
            bn_text_printf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        bn_text_append(out, text, word);
        column += word;
        text += word;
        if (*text == ' ') {
            bn_text_putc(out, ' ');
            column++;
            text++;
        }
    }
}

void cli_options_help(unsigned command, bn_text *out)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const option_row *row = &rows[i];
        if (!(row->commands & command))
            continue;
        size_t before = out->length;
        bn_text_printf(out, "  --%s%s%s", row->name, row->argument ? " " : "",
                       row->argument ? row->argument : "");
        size_t used = out->length - before;
        if (used + 2 > HELP_COLUMN) {
            bn_text_putc(out, '\n');
            used = 0;
        }
        bn_text_printf(out, "%*s", (int)(HELP_COLUMN - used), "");
        wrap(out, row->text);
        if (row->fallback && row->fallback[0])
            bn_text_printf(out, " [%s]", row->fallback);
        bn_text_putc(out, '\n');
    }
}

/* Roff reads a leading dot and the backslash; hyphens are minus signs here. */
static void roff(bn_text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            bn_text_putc(out, '\\');
        bn_text_putc(out, *text);
    }
}

void cli_options_man(bn_text *out)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        bn_text_puts(out, ".TP\n.B \\-\\-");
        roff(out, rows[i].name);
        if (rows[i].argument) {
            bn_text_puts(out, " \\fI");
            roff(out, rows[i].argument);
            bn_text_puts(out, "\\fR");
        }
        bn_text_putc(out, '\n');
        roff(out, rows[i].text);
        if (rows[i].fallback && rows[i].fallback[0]) {
            bn_text_puts(out, " (default: ");
            roff(out, rows[i].fallback);
            bn_text_putc(out, ')');
        }
        bn_text_puts(out, ".\n");
    }
}

static json_t *value_json(const cli_options *options, const option_row *row)
{
    const void *at = const_field(options, row);
    json_t *list;
    switch (row->kind) {
    case TEXT:
        return *(const char *const *)at ? json_string(*(const char *const *)at) : json_null();
    case NUMBER:
        return json_integer(*(const int64_t *)at);
    case REAL:
    case SHARE:
    case SPAN:
        return json_real(*(const double *)at);
    case FLAG:
        return json_boolean(*(const bool *)at);
    case REPEATED:
    case WORDS:
    case PATHS:
        list = json_array();
        for (const char *const *item = at; *item; item++)
            json_array_append_new(list, json_string(*item));
        return list;
    }
    return NULL;
}

json_t *cli_options_echo(unsigned command, const cli_options *options)
{
    json_t *echo = json_object();
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].commands & command)
            json_object_set_new(echo, rows[i].name, value_json(options, &rows[i]));
    return echo;
}
