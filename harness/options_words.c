/*
 * options_words.c - which values an option has, for completion; which option a word is meant for
 * that stands alone; which command is meant by an option of none.
 */
#include "harness/cores/cores.h"
#include "harness/options.h"
#include "results/exports/exports.h"
#include "results/nights/nights.h"
#include "results/tables/tables.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void options_values(const cli_option *row, bn_text *out)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const char *option = res_axes[i].option;
        /* No axis takes a word without letters, where it has a list. */
        if (i != RES_AXIS_RUNTIME && option && strcmp(option, row->name) == 0) {
            (void)job_axis_takes((res_axis_id)i, "", out);
            return;
        }
    }
    static const struct {
        const char *option, *values;
    } others_known[] = {
        {"format", RES_FORMAT_NAMES}, {"table", RES_TABLE_NAMES}, {"metric", RES_METRIC_NAMES},
        {"to", RES_EXPORT_NAMES},     {"from", RES_IMPORT_NAMES}, {"pin", CORES_PIN_WORDS},
        {"suite", SUITE_NAMES},       {"weight", SCOPES_WEIGHTS}, {"preset", SCOPES_PRESETS}};
    if (strcmp(row->name, res_axes[RES_AXIS_RUNTIME].option) == 0)
        job_runtime_names(out);
    for (size_t i = 0; i < sizeof others_known / sizeof *others_known; i++)
        if (strcmp(row->name, others_known[i].option) == 0)
            bn_text_puts(out, others_known[i].values);
    const char *words = suite_words(row->name);
    if (words)
        bn_text_puts(out, words);
}

/* ---- words that stand where an option is meant -------------------------------------------- */

/* Whether AXIS takes each item of LIST, "a,b,c". */
static bool all_taken(res_axis_id axis, const char *list)
{
    for (bool more = true; more;) {
        const size_t length = strcspn(list, ",");
        char item[CLI_ITEM_BYTES];
        bn_text known = {0};
        snprintf(item, sizeof item, "%.*s", (int)length, list);
        const bool taken = length < sizeof item && job_axis_takes(axis, item, &known);
        bn_text_free(&known);
        if (!taken)
            return false;
        more = list[length] == ',';
        list += length + more;
    }
    return true;
}

/* Whether the row's option takes WORD, what it may be, or what may be meant by it, into LONE. */
typedef bool lone_fits(uint32_t command, const char *word, cli_lone *lone);

static bool are_models(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command, (void)lone;
    return all_taken(RES_AXIS_MODEL, word);
}

static bool is_all(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command, (void)lone;
    return strcmp(word, "all") == 0;
}

static bool has_slash(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command, (void)lone;
    return strchr(word, '/') != NULL;
}

static bool is_folder(uint32_t command, const char *word, cli_lone *lone)
{
    struct stat info;
    (void)command, (void)lone;
    return stat(word, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The path of a plugin; a folder is none. */
static bool is_path(uint32_t command, const char *word, cli_lone *lone)
{
    return has_slash(command, word, lone) && !is_folder(command, word, lone);
}

static bool has_colon(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command, (void)lone;
    return strchr(word, ':') != NULL;
}

/* "page.html". */
static bool is_file_name(uint32_t command, const char *word, cli_lone *lone)
{
    const char *dot = strrchr(word, '.');
    (void)command, (void)lone;
    return dot && dot > word && isalpha((unsigned char)dot[1]) && !strchr(dot, '/');
}

/* "quick" for "--quick". */
static bool is_option(uint32_t command, const char *word, cli_lone *lone)
{
    const cli_table *table = options_table();
    for (size_t i = 0; i < table->count && !lone->named; i++)
        lone->named = (table->rows[i].commands & command) && strcmp(table->rows[i].name, word) == 0;
    lone->option = word;
    return lone->named;
}

static bool are_numbers(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command, (void)lone;
    return isdigit((unsigned char)word[0]) && !word[strspn(word, "0123456789,")];
}

static bool is_any(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command, (void)word, (void)lone;
    return true;
}

static bool is_runtime(uint32_t command, const char *word, cli_lone *lone)
{
    bn_text names = {0};
    (void)command, (void)lone;
    job_runtime_names(&names);
    const bool is_one = names.data && bn_is_choice(word, names.data);
    bn_text_free(&names);
    return is_one;
}

/* Calls EACH with each option of COMMAND that has a list of VALUES. */
static void for_values(uint32_t command,
                       void (*each)(const char *option, const char *values, void *context),
                       void *context)
{
    const cli_table *table = options_table();
    for (size_t i = 0; i < table->count; i++) {
        bn_text values = {0};
        if (table->rows[i].commands & command)
            options_values(&table->rows[i], &values);
        if (values.data)
            each(table->rows[i].name, values.data, context);
        bn_text_free(&values);
    }
}

/* The options that take WORD, and the first of them. */
typedef struct takers {
    const char *word, *option;
    size_t count;
} takers;

static void count_taker(const char *option, const char *values, void *context)
{
    takers *all = context;
    if (bn_is_choice(all->word, values) && all->count++ == 0)
        all->option = option;
}

/* Of the one option that takes it: "none" is a value of several. */
static bool is_value(uint32_t command, const char *word, cli_lone *lone)
{
    takers all = {.word = word};
    if (isalpha((unsigned char)word[0]))
        for_values(command, count_taker, &all);
    lone->option = all.option;
    return all.count == 1;
}

static void try_near(const char *option, const char *values, void *context)
{
    (void)option;
    bn_near_choices(context, values);
}

static bool is_near_value(uint32_t command, const char *word, cli_lone *lone)
{
    const char *called = job_axis_synonym(word);
    bn_near near = bn_near_begin(called ? called : word);
    if (isalpha((unsigned char)word[0]))
        for_values(command, try_near, &near);
    const char *best = bn_near_best(&near);
    if (!best || !is_value(command, best, lone))
        return false;
    snprintf(lone->meant, sizeof lone->meant, "%s", best);
    return true;
}

static bool is_near_model(uint32_t command, const char *word, cli_lone *lone)
{
    (void)command;
    return job_axis_meant(RES_AXIS_MODEL, word, lone->meant);
}

/* What words that stand alone are meant for, the likeliest first. OPTION NULL: FITS finds it. Only
 * where it is SURE an option takes its word; elsewhere a message names it. */
#define RUNS                                                                                       \
    (OPTION_RUN | OPTION_VERIFY | OPTION_EXPLAIN | OPTION_ESTIMATE | OPTION_SCOPES |               \
     OPTION_WEIGHTS | OPTION_STUDY)
#define STORED                                                                                     \
    (OPTION_TABLE | OPTION_DOCTOR | OPTION_REPORT | OPTION_HISTORY | OPTION_PLOT | OPTION_EXPORT | \
     OPTION_PUBLISH)
static const struct {
    uint32_t commands;
    const char *option;
    lone_fits *fits;
    bool sure;
} lones[] = {
    {RUNS, "model", are_models, true},
    {OPTION_NIGHTLY, "suite", is_any, true},
    {OPTION_COMPARE, "runtime", is_runtime, true},
    {STORED, "store", is_folder, true},
    {STORED, "store", has_slash, true},
    {RUNS | STORED, "model", is_all, false},
    {UINT32_MAX, NULL, is_option, false},
    {UINT32_MAX, NULL, is_value, false},
    {OPTION_ESTIMATE, "topology", has_colon, false},
    {~(uint32_t)STORED, "store", is_folder, false},
    {RUNS | OPTION_SUITE | OPTION_REPLAY, "runtime", is_path, false},
    {OPTION_COMPARE, "runtime", is_any, true},
    {~(uint32_t)OPTION_RUN, "output", is_file_name, false},
    {UINT32_MAX, NULL, is_near_value, false},
    {UINT32_MAX, "model", is_near_model, false},
    {RUNS & ~(uint32_t)OPTION_STUDY, "batch", are_numbers, false},
    {STORED, "store", is_any, true},
    {OPTION_SUITE, "store", is_any, false},
    {OPTION_NIGHTLY, "report", is_any, false},
    {STORED | OPTION_IMPORT | OPTION_WEIGHTS, "output", is_any, false},
};

/* Commands that read one store and write no folder. */
#define READERS (STORED & ~(uint32_t)(OPTION_EXPORT | OPTION_PUBLISH))

bool options_lone(uint32_t command, const char *word, cli_lone *lone)
{
    while (lone->next < sizeof lones / sizeof *lones) {
        const size_t at = lone->next++;
        lone->option = lones[at].option;
        lone->sure = lones[at].sure;
        lone->named = false;
        lone->meant[0] = '\0';
        lone->second = (command & READERS) && lones[at].fits == is_folder
                           ? "one store is read at a time; bench compare --store A --store B "
                             "compares two"
                           : NULL;
        if ((lones[at].commands & command) && lones[at].fits(command, word, lone))
            return true;
    }
    return false;
}

/* What others call a command. */
static const char *command_called(const char *word)
{
    static const char *const rows[][2] = {
        {"benchmark", "bench run"},
        {"diff", "bench compare"},
        {"front-ends", "bench list front-ends"},
        {"ls", "bench list"},
        {"models", "bench list models"},
        {"modes", "bench list modes"},
        {"ops", "bench list ops"},
        {"runtimes", "bench list runtimes"},
        {"profile", "bench scopes"},
        {"results", "bench table"},
        {"show", "bench table"},
        {"test", "bench verify"},
        {"trace", "bench record"},
        {"version", "bench --version"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(word, rows[i][0]) == 0)
            return rows[i][1];
    return NULL;
}

bool options_meant(const char *word, char *line, size_t size)
{
    const char *called = command_called(word);
    cli_lone lone = {0};
    if (called) {
        snprintf(line, size, "%s", called);
        return true;
    }
    if (!options_lone(OPTION_RUN, word, &lone))
        return false;
    const char *meant = lone.named ? "..." : lone.meant[0] ? lone.meant : word;
    /* Records that are there are looked at more often than added to. */
    if (strcmp(lone.option, "store") == 0)
        snprintf(line, size, "bench table %s", meant);
    else
        snprintf(line, size, "bench --%s %s", lone.option, meant);
    return true;
}

/* ---- options that are a command of their own --------------------------------------------------
 */

const char *options_instead(uint32_t command, const char *option, size_t length)
{
    static const struct {
        const char *option, *instead;
        uint32_t commands;
    } rows[] = {
        {"by-scope", "bench scopes --model NAME", OPTION_RUN | OPTION_EXPLAIN},
        {"recording", "bench replay DIR", OPTION_RUN | OPTION_STUDY},
        {"compare", "bench compare", OPTION_RUN},
        {"doctor", "bench doctor", OPTION_RUN},
        {"estimate", "bench estimate", OPTION_RUN},
        {"explain", "bench explain", OPTION_RUN},
        {"export", "bench export", OPTION_RUN},
        {"history", "bench history", OPTION_RUN},
        {"list", "bench list", OPTION_RUN},
        {"nightly", "bench nightly", OPTION_RUN},
        {"plot", "bench plot", OPTION_RUN},
        {"replay", "bench replay", OPTION_RUN},
        {"report", "bench report", OPTION_RUN},
        {"scopes", "bench scopes", OPTION_RUN},
        {"suite", "bench suite", OPTION_RUN},
        {"table", "bench table", OPTION_RUN},
        {"verify", "bench verify", OPTION_RUN},
        /* What other programs call it. */
        {"m", "--model", UINT32_MAX},
        {"o", "--output", UINT32_MAX},
        {"V", "--version", UINT32_MAX},
        {"a", "--runtime", OPTION_COMPARE},
        {"b", "--runtime", OPTION_COMPARE},
        {"b", "--batch", UINT32_MAX},
        {"format", "--to", OPTION_EXPORT},
        {"backend", "--runtime", UINT32_MAX},
        {"device", "--runtime", ~(uint32_t)(OPTION_STEPS | OPTION_DOCTOR)},
        {"platform", "--runtime", UINT32_MAX},
        {"plugin", "--runtime", UINT32_MAX},
        {"batch-size", "--batch", UINT32_MAX},
        {"bs", "--batch", UINT32_MAX},
        {"seq-len", "--seq", UINT32_MAX},
        {"image-size", "--image", UINT32_MAX},
        {"layers", "--depth", UINT32_MAX},
        {"precision", "--dtype", ~(uint32_t)OPTION_COMPARE},
        {"epochs", "--steps", UINT32_MAX},
        {"iterations", "--steps", UINT32_MAX},
        {"iters", "--steps", UINT32_MAX},
        {"runs", "--processes", UINT32_MAX},
        {"repeat", "--processes", UINT32_MAX},
        {"repeats", "--processes", UINT32_MAX},
        {"repetitions", "--processes", UINT32_MAX},
        {"results", "--store", UINT32_MAX},
        {"csv", "--format csv", UINT32_MAX},
        {"json", "--format json", UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].commands & command) && strlen(rows[i].option) == length &&
            strncmp(rows[i].option, option, length) == 0)
            return rows[i].instead;
    return NULL;
}
