/*
 * options_words.c - which values an option has, for completion; which option a word is meant for
 * that stands alone; which command is meant by an option of none.
 */
#include "harness/cores/cores.h"
#include "harness/options.h"
#include "results/exports/exports.h"
#include "results/nights/nights.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void options_values(const cli_option *row, bn_text *out)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const char *option = res_axes[i].option;
        /* No axis takes a word without letters, where it has a list. */
        if (option && strcmp(option, row->name) == 0) {
            (void)job_axis_takes((res_axis_id)i, "", out);
            return;
        }
    }
    static const struct {
        const char *option, *values;
    } others_known[] = {{"format", RES_FORMAT_NAMES}, {"table", RES_TABLE_NAMES},
                        {"metric", RES_METRIC_NAMES}, {"to", RES_EXPORT_NAMES},
                        {"from", RES_IMPORT_NAMES},   {"pin", CORES_PIN_WORDS},
                        {"suite", SUITE_NAMES},       {"weight", SCOPES_WEIGHTS},
                        {"preset", SCOPES_PRESETS}};
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

static const char *lone_of_run(const char *word, bool *sure)
{
    *sure = all_taken(RES_AXIS_MODEL, word);
    if (*sure)
        return res_axes[RES_AXIS_MODEL].option;
    if (all_taken(RES_AXIS_MODE, word))
        return res_axes[RES_AXIS_MODE].option;
    if (strchr(word, '/'))
        return res_axes[RES_AXIS_RUNTIME].option;
    char meant[RES_TEXT];
    return job_axis_meant(RES_AXIS_MODEL, word, meant) ? res_axes[RES_AXIS_MODEL].option : NULL;
}

static const char *lone_of_folder(const char *word, bool *sure)
{
    struct stat info;
    *sure = stat(word, &info) == 0 && S_ISDIR(info.st_mode);
    return "store";
}

/* Of commands on stores that can be asked for a model, too. */
static const char *lone_of_store(const char *word, bool *sure)
{
    char meant[RES_TEXT];
    const char *folder = lone_of_folder(word, sure);
    const bool named =
        !*sure && !strchr(word, '/') &&
        (all_taken(RES_AXIS_MODEL, word) || job_axis_meant(RES_AXIS_MODEL, word, meant));
    return named ? res_axes[RES_AXIS_MODEL].option : folder;
}

static const char *lone_of_night(const char *word, bool *sure)
{
    (void)word;
    *sure = true;
    return "suite";
}

static const char *lone_of_comparison(const char *word, bool *sure)
{
    (void)word;
    *sure = true;
    return "runtime";
}

static const struct {
    uint32_t commands;
    options_lone_word *lone;
} lones[] = {
    {OPTION_RUN | OPTION_VERIFY | OPTION_EXPLAIN | OPTION_ESTIMATE | OPTION_SCOPES |
         OPTION_WEIGHTS | OPTION_STUDY,
     lone_of_run},
    {OPTION_TABLE | OPTION_DOCTOR | OPTION_REPORT | OPTION_HISTORY | OPTION_PLOT, lone_of_store},
    {OPTION_EXPORT | OPTION_PUBLISH, lone_of_folder},
    {OPTION_NIGHTLY, lone_of_night},
    {OPTION_COMPARE, lone_of_comparison},
};

options_lone_word *options_lone(uint32_t command)
{
    for (size_t i = 0; i < sizeof lones / sizeof *lones; i++)
        if (lones[i].commands & command)
            return lones[i].lone;
    return NULL;
}

/* ---- options that are a command of their own --------------------------------------------------
 */

const char *options_instead(uint32_t command, const char *option, size_t length)
{
    static const struct {
        const char *option, *instead;
        uint32_t commands;
    } rows[] = {{"by-scope", "bench scopes --model NAME", OPTION_RUN | OPTION_EXPLAIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].commands & command) && strlen(rows[i].option) == length &&
            strncmp(rows[i].option, option, length) == 0)
            return rows[i].instead;
    return NULL;
}
