/*
 * completion.c - scripts that complete command lines in bash, zsh and fish, made from the rows.
 */
#include "harness/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* TEXT within single quotes of a shell. */
static void quoted(bn_text *out, const char *text)
{
    bn_text_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            bn_text_puts(out, "'\\''");
        else
            bn_text_putc(out, *text);
    bn_text_putc(out, '\'');
}

/* The values of ROW, "a, b, c", with spaces between; "" where it takes any. */
static bn_text values_of(const cli_words_of *source, const cli_option *row)
{
    bn_text values = {0}, spaced = {0};
    source->values(row, &values);
    for (const char *at = values.data; at && *at; at++)
        if (*at != ',')
            bn_text_putc(&spaced, *at);
    bn_text_free(&values);
    return spaced;
}

/* Whether the LENGTH letters at TEXT are a word that is written as it stands: DIR is not. */
static bool is_literal(const char *text, size_t length)
{
    return length > 0 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") >= length;
}

/* The second words that COMMAND takes as they stand, with spaces between: "models ops" of
 * "models|ops", "diff" of "diff A B"; empty where there is none. */
static bn_text words_of(const struct cli_command *command)
{
    bn_text words = {0};
    for (const char *at = command->word; at && *at;) {
        const size_t piece = strcspn(at, "|"), first = strcspn(at, "| ");
        /* What follows in a sentence is in small letters, too. */
        const bool alone = first == piece || strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", at[first + 1]);
        if (is_literal(at, first) && alone)
            bn_text_printf(&words, "%s%.*s", words.length ? " " : "", (int)first, at);
        at += piece + (at[piece] == '|');
    }
    return words;
}

/* Whether ROW takes a file, too, where it has known values. */
static bool may_be_file(const cli_option *row)
{
    return row->argument && strcmp(row->argument, "FILE") == 0;
}

/* Whether COMMAND's second word may be something else than these, as a folder. */
static bool takes_files(const struct cli_command *command)
{
    for (const char *at = command->word; at && *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            return true;
    return false;
}

/* The names of all commands, with spaces between. */
static void put_commands(const cli_words_of *source, bn_text *out)
{
    for (size_t i = 0; i < source->command_count; i++)
        bn_text_printf(out, "%s%s", i ? " " : "", source->commands[i].name);
}

/* ---- bash and zsh ---------------------------------------------------------------------- */

static void bash_options(const cli_words_of *source, uint32_t command, bn_text *out)
{
    for (size_t i = 0; i < source->table->count; i++)
        if (source->table->rows[i].commands & command)
            bn_text_printf(out, " --%s", source->table->rows[i].name);
}

/* A case for each option that has known values; an option of several rows has them in its first. */
static void bash_values(const cli_words_of *source, bn_text *out)
{
    for (size_t i = 0; i < source->table->count; i++) {
        const cli_option *row = &source->table->rows[i];
        bn_text values = values_of(source, row);
        if (values.length && !values.failed) {
            bn_text_printf(out, "        --%s) values=", row->name);
            quoted(out, values.data);
            bn_text_puts(out, may_be_file(row) ? " files=1 ;;\n" : " ;;\n");
        }
        bn_text_free(&values);
    }
}

/* The case of a command: what it takes as options, and as its second word. */
static void bash_command(const cli_words_of *source, const struct cli_command *command,
                         bn_text *out)
{
    bn_text words = words_of(command);
    bn_text_printf(out, "        %s) options='", command->name);
    bash_options(source, command->bit, out);
    bn_text_printf(out, "' words='%s' ;;\n", words.data ? words.data : "");
    bn_text_free(&words);
}

static void put_bash(const cli_words_of *source, bn_text *out)
{
    bn_text_puts(out,
                 "# Completion of bench for bash: source <(bench completion bash)\n"
                 "_bench() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command=${COMP_WORDS[1]} values= files= options= words= start=\n"
                 "    # --option=value is three words, or one where = breaks no words.\n"
                 "    if [ \"$word\" = '=' ]; then\n"
                 "        word=\n"
                 "    elif [ \"$before\" = '=' ]; then\n"
                 "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    elif [[ $word == --*=* ]]; then\n"
                 "        before=${word%%=*} start=${word%%=*}= word=${word#*=}\n"
                 "    fi\n"
                 "    case $before in\n");
    bash_values(source, out);
    bn_text_puts(out,
                 "    esac\n"
                 "    if [ -n \"$values\" ]; then\n"
                 "        local head=$start\n"
                 "        [[ $word == *,* ]] && head+=${word%,*},\n"
                 "        COMPREPLY=($(compgen -P \"$head\" -W \"$values\" -- \"${word##*,}\"))\n"
                 "        [ -z \"$files\" ] ||\n"
                 "            COMPREPLY+=($(compgen -P \"$start\" -f -- \"$word\"))\n"
                 "        return\n"
                 "    fi\n"
                 "    case $command in\n");
    for (size_t i = 0; i < source->command_count; i++)
        bash_command(source, &source->commands[i], out);
    bn_text_puts(out, "        help) words='");
    put_commands(source, out);
    bn_text_puts(out, "' ;;\n        *) options='");
    bash_options(source, source->commands[0].bit, out);
    bn_text_puts(out, "' ;;\n    esac\n"
                      "    [ \"$COMP_CWORD\" -eq 1 ] && words='help ");
    put_commands(source, out);
    bn_text_puts(out, "'\n"
                      "    if [[ $word == -* ]]; then\n"
                      "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                      "    elif [ \"$COMP_CWORD\" -le 2 ] && [ -z \"$start\" ]; then\n"
                      "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                      "    fi\n"
                      "}\n"
                      "complete -o default -F _bench bench\n");
}

/* ---- fish -------------------------------------------------------------------------------- */

/* ROW where CONDITION, of fish, holds. */
static void fish_option(const cli_words_of *source, const char *condition, const cli_option *row,
                        bn_text *out)
{
    bn_text values = values_of(source, row);
    bn_text_printf(out, "complete -c bench -n '%s' -l %s", condition, row->name);
    bn_text_puts(out, row->argument ? " -r" : "");
    if (values.length && !values.failed) {
        bn_text_puts(out, may_be_file(row) ? " -a " : " -f -a ");
        quoted(out, values.data);
    }
    bn_text_puts(out, " -d ");
    quoted(out, row->text);
    bn_text_putc(out, '\n');
    bn_text_free(&values);
}

/* The options of the command of BIT where CONDITION holds. */
static void fish_options(const cli_words_of *source, const char *condition, uint32_t bit,
                         bn_text *out)
{
    for (size_t i = 0; i < source->table->count; i++)
        if (source->table->rows[i].commands & bit)
            fish_option(source, condition, &source->table->rows[i], out);
}

static void fish_command(const cli_words_of *source, const struct cli_command *command,
                         bn_text *out)
{
    bn_text words = words_of(command);
    char condition[128];
    snprintf(condition, sizeof condition, "__bench_command %s", command->name);
    if (words.length && !words.failed)
        bn_text_printf(out, "complete -c bench -n '%s; and __bench_words 2'%s -a '%s'\n", condition,
                       takes_files(command) ? "" : " -f", words.data);
    fish_options(source, condition, command->bit, out);
    bn_text_free(&words);
}

static void put_fish(const cli_words_of *source, bn_text *out)
{
    bn_text_puts(out, "# Completion of bench for fish: bench completion fish | source\n"
                      "# Whether so many words stand before the one that is completed.\n"
                      "function __bench_words\n"
                      "    test (count (commandline -opc)) -eq $argv[1]\n"
                      "end\n"
                      "# Whether the command is this one; without one, bench runs the first.\n"
                      "function __bench_command\n"
                      "    set -l words (commandline -opc)\n"
                      "    test \"$words[2]\" = $argv[1]\n"
                      "end\n"
                      "function __bench_no_command\n"
                      "    set -l words (commandline -opc)\n"
                      "    test (count $words) -eq 1; or string match -q -- '-*' $words[2]\n"
                      "end\n");
    for (size_t i = 0; i < source->command_count; i++) {
        bn_text_printf(out, "complete -c bench -n '__bench_words 1' -f -a %s -d ",
                       source->commands[i].name);
        quoted(out, source->commands[i].summary);
        bn_text_putc(out, '\n');
    }
    bn_text_puts(out, "complete -c bench -n '__bench_words 1' -f -a help -d 'help of a command'\n"
                      "complete -c bench -n '__bench_command help; and __bench_words 2' -f -a '");
    put_commands(source, out);
    bn_text_puts(out, "'\n");
    fish_options(source, "__bench_no_command", source->commands[0].bit, out);
    for (size_t i = 0; i < source->command_count; i++)
        fish_command(source, &source->commands[i], out);
}

bn_code cli_completion(const char *shell, const cli_words_of *source, bn_text *out, bn_status *st)
{
    if (strcmp(shell, "bash") == 0) {
        put_bash(source, out);
    } else if (strcmp(shell, "zsh") == 0) {
        bn_text_puts(out,
                     "# Completion of bench for zsh: source <(bench completion zsh)\n"
                     "(( $+functions[compdef] )) || { autoload -U +X compinit && compinit -i }\n"
                     "autoload -U +X bashcompinit && bashcompinit\n");
        put_bash(source, out);
    } else if (strcmp(shell, "fish") == 0) {
        put_fish(source, out);
    } else {
        return bn_fail_choice(st, "shell", shell, "bash, zsh or fish");
    }
    return out->failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a script") : BN_OK;
}
