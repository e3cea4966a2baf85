/*
 * rows.c - the rows of a command: its own, then those of its groups; the rows of output, which all
 * commands share; finding the command that a line names.
 */
#include "harness/cli/cli_priv.h"

#include <string.h>

#define AT(member) offsetof(cli_output, member)

const cli_table *cli_output_table(void)
{
    /* In the order of the bits CLI_OUT_. */
    static const cli_option rows[] = {
        CLI_FORMAT_ROW(AT(format), "text, md, csv, json, latex, html, narrow",
                       "text, md, csv, json (records on standard output, messages on standard "
                       "error), latex (for \\input, without packages), html, or narrow: text in "
                       "80 columns"),
        {"wide", NULL, CLI_FLAG, AT(wide),
         .text = "show all columns also on a terminal, where tables otherwise have 80 columns"},
        {"verbose", NULL, CLI_FLAG, AT(verbose),
         .text = "print more where there is more: a line for each process, each ledger, the "
                 "plugin's standard error (-v)"},
        {"force", NULL, CLI_FLAG, AT(force), .text = "replace existing output files"},
        {"quiet", NULL, CLI_FLAG, AT(quiet),
         .text = "no progress on standard error: warnings and errors only (-q)"},
        {"help", NULL, CLI_FLAG, AT(help), .text = "this text (-h)"},
        {"version", NULL, CLI_FLAG, AT(version), .also = "V", .text = "version of bench"},
        {"man", NULL, CLI_FLAG, AT(man), .text = "the manual page, as roff"},
    };
    static const cli_table table = {rows, sizeof rows / sizeof *rows};
    return &table;
}

const cli_option *cli_find(const cli_table *table, const char *name, size_t length)
{
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->rows[i].name) == length &&
            strncmp(table->rows[i].name, name, length) == 0)
            return &table->rows[i];
    return NULL;
}

bool cli_is_list(const cli_option *row)
{
    return (row->kind == CLI_NAMES || row->kind == CLI_NUMBERS) && !row->single;
}

void cli_values(const cli_option *row, bn_text *out)
{
    if (row->choices)
        bn_text_puts(out, row->choices);
    else if (row->values)
        row->values(out);
}

const cli_table *cli_rows(const cli_command *command)
{
    /* The tables of a few dozen commands, made when first needed. */
    static struct made {
        const cli_command *command;
        cli_table table;
        struct made *next;
    } *all;
    for (const struct made *one = all; one; one = one->next)
        if (one->command == command)
            return &one->table;
    size_t most = command->row_count;
    for (const cli_group *group = command->groups; group->table; group++)
        most += group->table()->count;
    cli_option *rows = bn_zalloc(most, sizeof *rows);
    struct made *made = bn_zalloc(1, sizeof *made);
    *made = (struct made){command, {rows, command->row_count}, all};
    if (command->row_count)
        memcpy(rows, command->rows, command->row_count * sizeof *rows);
    for (const cli_group *group = command->groups; group->table; group++) {
        const cli_table *shared = group->table();
        for (size_t i = 0; i < shared->count; i++) {
            const cli_option *row = &shared->rows[i];
            const bool meant = (!group->about && !group->rows) || (row->about & group->about) ||
                               (group->rows >> i & 1);
            if (!row->name || !meant || (group->without >> i & 1) ||
                cli_find(&made->table, row->name, strlen(row->name)))
                continue;
            rows[made->table.count] = *row;
            rows[made->table.count++].offset += group->offset;
        }
    }
    all = made;
    return &made->table;
}

/* ---- commands ---------------------------------------------------------------------------- */

int cli_begins_with(const char *name, int argc, char *const *argv)
{
    const size_t first = strcspn(name, " ");
    if (argc < 1 || strlen(argv[0]) != first || strncmp(argv[0], name, first) != 0)
        return 0;
    if (!name[first])
        return 1;
    return argc > 1 && strcmp(argv[1], name + first + 1) == 0 ? 2 : 0;
}

const cli_command *cli_command_of(const cli_program *program, int argc, char *const *argv,
                                  int *words)
{
    const cli_command *found = NULL;
    *words = 0;
    for (const cli_command *const *one = program->commands; *one; one++) {
        const int count = cli_begins_with((*one)->name, argc, argv);
        if (count > *words) {
            *words = count;
            found = *one;
        }
    }
    return found;
}

/* Whether the LENGTH letters at TEXT are a literal word, unlike DIR. */
static bool is_literal(const char *text, size_t length)
{
    return length > 0 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") >= length;
}

bn_text cli_second_words(const cli_command *command)
{
    bn_text words = {0};
    for (const char *at = command->words; at && *at;) {
        const size_t piece = strcspn(at, "|"), first = strcspn(at, "| ");
        /* Words of a sentence, "a program and its arguments", are in small letters, too. */
        const bool alone = first == piece || strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", at[first + 1]);
        if (is_literal(at, first) && alone)
            bn_text_printf(&words, "%s%.*s", words.length ? ", " : "", (int)first, at);
        at += piece + (at[piece] == '|');
    }
    return words;
}
