/*
 * options.c - one table of options. A row says name, argument, kind, default,
 * text and the commands that take it; parsing, --help, the man page and the
 * record's echo are read off the table.
 */
#include "harness/harness.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { TEXT, NUMBER, REAL, FLAG, REPEATED, PATHS } kind;

typedef struct option_row {
    const char *name, *argument;
    kind kind;
    size_t offset;
    const char *fallback; /* NULL: none */
    unsigned commands;
    double least; /* NUMBER and REAL */
    const char *text;
} option_row;

#define AT(member) offsetof(hn_options, member)
enum {
    RUN = HN_CMD_RUN,
    VERIFY = HN_CMD_VERIFY,
    TABLE = HN_CMD_TABLE,
    LIST = HN_CMD_LIST,
    SELFTEST = HN_CMD_SELFTEST,
    REPLAY = HN_CMD_REPLAY,
    EXPORT = HN_CMD_EXPORT_WEIGHTS,
    SUITE = HN_CMD_SUITE,
    ALL = RUN | VERIFY | TABLE | LIST | SELFTEST | EXPORT | REPLAY | SUITE
};

static const option_row rows[] = {
    {"model", "NAME,...", TEXT, AT(model), "resnet50", RUN | VERIFY | SELFTEST | EXPORT, 0,
     "models to run; 'all' is every one (bench list models)"},
    {"variant", "full,small", TEXT, AT(variant), "full", RUN | VERIFY | LIST | SELFTEST | EXPORT, 0,
     "the published model, or its reduced copy for quick tests; full_pad and small_pad: rows of "
     "tokens end in padding; for verify, names of golden files, or all"},
    {"mode", "MODE,...", TEXT, AT(mode), "lazy", RUN | VERIFY, 0,
     "eager, lazy, capture (bench list modes)"},
    {"phase", "train,infer", TEXT, AT(phase), "train", RUN, 0,
     "training step (forward, backward, update) or inference"},
    {"batch", "N,...", TEXT, AT(batch), "0", RUN | LIST, 0,
     "batch size; 0 is the model's own, in bench list models that of the golden data"},
    {"image", "N,...", TEXT, AT(image), "0", RUN | LIST, 0,
     "pixels a side of the input image; 0 is the model's own"},
    {"seq", "N,...", TEXT, AT(seq), "0", RUN | LIST, 0,
     "tokens a row, of models of language; 0 is the model's own"},
    {"optimizer", "NAME,...", TEXT, AT(optimizer), "default", RUN, 0,
     "of training steps: sgd (with momentum), adamw, or default, the model's own"},
    {"dropout", "default,off", TEXT, AT(dropout), "default", RUN, 0,
     "in training: as in the model's source, or off"},
    {"input", "WAY,...", PATHS, AT(input), NULL, RUN, 0,
     "synthetic (the default): batches lie on the device; transfer: each step sends a fresh one "
     "first; prefetch: it is sent while the device works on the step before. With --program: "
     "FILE.npy, once for each argument in order; without, arguments are made up: floats in "
     "[-1, 1), integers from 0 to 7"},
    {"program", "FILE.mlir", TEXT, AT(program), NULL, RUN, 0,
     "run this StableHLO text in place of models"},
    {"output", "FILE.npy", PATHS, AT(outputs), NULL, RUN, 0,
     "with --program: where a result of the first execution goes; repeated, in order"},
    {"check", "FILE.npy", PATHS, AT(check), NULL, RUN, 0,
     "with --program: what a result of the first execution must be; repeated, in order"},
    {"rtol", "R", REAL, AT(rtol), "1e-5", RUN, 0, "of --check: |got - want| <= A + R |want|"},
    {"atol", "A", REAL, AT(atol), "1e-8", RUN, 0, "of --check; bool and integers are exact"},
    {"lengths", "fixed,varying", TEXT, AT(lengths), "fixed", RUN, 0,
     "rows of --seq tokens, or a batch of other lengths each step (transformer_wmt_en_de); each "
     "length not seen before is compiled"},
    {"buckets", "N", NUMBER, AT(buckets), "0", RUN, 0,
     "pad varying lengths to N lengths; 0 does not; N implies --lengths varying"},
    {"dtype", "f32,bf16", TEXT, AT(dtype), "f32", RUN | EXPORT, 0,
     "type of parameters and arithmetic"},
    {"graphs", "1,2,3,5", TEXT, AT(graphs), "1", RUN, 0,
     "into how many graphs capture cuts a step: 1 whole; 2 forward+backward, update; 3 forward, "
     "backward, update; 5 input, forward, statistics, backward, update"},
    {"layout", "LAYOUT", TEXT, AT(layout), "auto", RUN | VERIFY | SELFTEST, 0,
     "nhwc, nchw, or auto: what suits the runtime"},
    {"runtime", "NAME,...", TEXT, AT(runtime), "cpu", RUN | VERIFY | SELFTEST, 0,
     "runtimes (bench list runtimes), or paths of PJRT plugins"},
    {"runtime-option", "NAME=VALUE", REPEATED, AT(runtime_option), NULL,
     RUN | VERIFY | SELFTEST | SUITE, 0, "option for the plugin's client; may be repeated"},
    {"xla-flag", "NAME=VALUE", REPEATED, AT(xla_flag), NULL, RUN | VERIFY | SELFTEST | SUITE, 0,
     "compiler option for every executable; may be repeated"},
    {"label", "TEXT", TEXT, AT(label), "", RUN | SUITE, 0,
     "what this build of the runtime is, for the record (a commit, say)"},
    {"steps", "N", NUMBER, AT(steps), "10", RUN, 1, "steps measured at least"},
    {"min-time", "SECONDS", REAL, AT(min_time), "3", RUN, 0,
     "measure at least so long; the later of the two counts"},
    {"warmup", "N", NUMBER, AT(warmup), "60", RUN, 1,
     "steps before measuring at most; warm-up ends when nothing was compiled in 8 steps and "
     "their times show no trend"},
    {"in-flight", "N,...", TEXT, AT(in_flight), "1", RUN, 0,
     "steps dispatched and not awaited; 1 waits for each step (serial)"},
    {"trace-cost-ns", "N", NUMBER, AT(trace_cost_ns), "0", RUN, 0,
     "busy wait for each traced node, to emulate a slower front end (PyTorch/XLA: about 17000); "
     "tables say so"},
    {"device-time", "SOURCE", TEXT, AT(device_time), "auto", RUN, 0,
     "auto: what the plugin's profiler says, or where it has none the slope; slope: never the "
     "profiler"},
    {"pin", "WHERE", TEXT, AT(pin), "none", RUN | SELFTEST, 0,
     "none; host: host thread on one core, the runtime on the others; all: everything on the "
     "cores given, host thread on the first; or a list of cores, 0,2-3. Threads that a plugin "
     "starts later inherit the mask; threads of a device's driver cannot be pinned"},
    {"cache-dir", "DIR", TEXT, AT(cache_dir), "", RUN | VERIFY, 0,
     "keep executables in DIR and load them from there"},
    {"store", "DIR", TEXT, AT(store), "bench-results", RUN | TABLE | REPLAY | SUITE, 0,
     "folder of records, one HDF5 file an experiment"},
    {"golden", "DIR", TEXT, AT(golden), "", VERIFY, 0,
     "folder of golden values; by default those that come with bench"},
    {"all", NULL, FLAG, AT(all), NULL, VERIFY, 0, "every entry of the golden folder"},
    {"quick", NULL, FLAG, AT(quick), NULL, SELFTEST, 0,
     "accuracy: a part of the grid; statistics: a quarter of the simulated families"},
    {"format", "FORMAT", TEXT, AT(format), "text", ALL, 0,
     "text, md, csv or json (json: records on standard output, all else on standard error)"},
    {"timeout", "SECONDS", REAL, AT(timeout), "1800", RUN | VERIFY | SELFTEST | REPLAY, 0,
     "give an experiment up after so long; 0 never"},
    {"seed", "N", NUMBER, AT(seed), "1", RUN | EXPORT | SELFTEST, 0,
     "of weights and inputs; of what selftest statistics simulates"},
    {"weights", "FILE", TEXT, AT(weights), NULL, RUN, 0,
     "safetensors file with the model's parameters and running statistics, by the framework's "
     "names, as F64, F32, F16 or BF16; all else starts as without"},
    {"output", "FILE", TEXT, AT(output), NULL, EXPORT, 0,
     "safetensors file that export-weights writes; one that is there is never overwritten"},
    {"runtime", "NAME,...", TEXT, AT(suite_runtime), NULL, SUITE, 0,
     "run the suite on these runtimes in place of those that the file names; --runtime-option, "
     "--xla-flag and --label are of them"},
    {"filter", "PATTERN", PATHS, AT(filter), NULL, SUITE, 0,
     "only experiments whose title, as --dry-run prints it, has a part like PATTERN, where * "
     "stands for anything, ? for one character, [..] for one of these; repeated: any of them"},
    {"exclude", "PATTERN", PATHS, AT(exclude), NULL, SUITE, 0,
     "none whose title has a part like PATTERN; may be repeated"},
    {"shard", "I/N", TEXT, AT(shard), NULL, SUITE, 0,
     "part I of N, from 1, or none: the whole suite; by default what a launcher's environment "
     "says (mpirun, srun)"},
    {"repetitions", "N", NUMBER, AT(repetitions), "0", SUITE, 0,
     "in place of those that the file asks for; 0: as it says"},
    {"retry-failed", NULL, FLAG, AT(retry_failed), NULL, SUITE, 0,
     "repeat experiments that failed before, too"},
    {"dry-run", NULL, FLAG, AT(dry_run), NULL, SUITE, 0,
     "list what would run and what is done, and run nothing"},
    {"verbose", NULL, FLAG, AT(verbose), NULL, ALL, 0,
     "show each ledger, and what the plugin says on standard error"},
    {"help", NULL, FLAG, AT(help), NULL, ALL, 0, "this text"},
    {"man", NULL, FLAG, AT(man), NULL, RUN, 0, "the manual page, as roff"},
    {"version", NULL, FLAG, AT(version), NULL, RUN, 0, "version of bench"},
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

static void *field(hn_options *options, const option_row *row)
{
    return (char *)options + row->offset;
}

static const void *const_field(const hn_options *options, const option_row *row)
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

static bn_code set_path(const option_row *row, const char *value, const char **list, bn_status *st)
{
    size_t n = 0;
    while (list[n])
        n++;
    if (n == HN_MAX_PATHS)
        return bn_fail(st, BN_INVALID, "--%s can be given %d times", row->name, HN_MAX_PATHS);
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
    if (n == HN_MAX_REPEATS)
        return bn_fail(st, BN_INVALID, "--%s can be given %d times", row->name, HN_MAX_REPEATS);
    if (!strchr(value, '='))
        return bn_fail(st, BN_INVALID, "--%s takes NAME=VALUE, not '%s'", row->name, value);
    list[n] = value;
    return BN_OK;
}

static bn_code set_value(hn_options *options, const option_row *row, const char *value,
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
    case REPEATED:
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

static bn_code parse_one(unsigned command, int argc, char **argv, int *i, hn_options *options,
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

bn_code hn_options_parse(unsigned command, int argc, char **argv, hn_options *options,
                         const char **rest, int max_rest, int *rest_count, bn_status *st)
{
    bn_code code = BN_OK;
    *options = (hn_options){0};
    *rest_count = 0;
    for (size_t i = 0; i < ROW_COUNT && code == BN_OK; i++)
        if (rows[i].fallback)
            code = set_value(options, &rows[i], rows[i].fallback, st);
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

void hn_options_help(unsigned command, bn_text *out)
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

void hn_options_man(bn_text *out)
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

static json_t *value_json(const hn_options *options, const option_row *row)
{
    const void *at = const_field(options, row);
    json_t *list;
    switch (row->kind) {
    case TEXT:
        return *(const char *const *)at ? json_string(*(const char *const *)at) : json_null();
    case NUMBER:
        return json_integer(*(const int64_t *)at);
    case REAL:
        return json_real(*(const double *)at);
    case FLAG:
        return json_boolean(*(const bool *)at);
    case REPEATED:
    case PATHS:
        list = json_array();
        for (const char *const *item = at; *item; item++)
            json_array_append_new(list, json_string(*item));
        return list;
    }
    return NULL;
}

json_t *hn_options_echo(unsigned command, const hn_options *options)
{
    json_t *echo = json_object();
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].commands & command)
            json_object_set_new(echo, rows[i].name, value_json(options, &rows[i]));
    return echo;
}
