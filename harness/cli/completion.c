/*
 * completion.c - bench completion: scripts for bash, zsh and fish, made from the rows of options.
 */
#include "harness/cli/cli_priv.h"

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
static bn_text values_of(const cli_option *row)
{
    bn_text values = {0}, spaced = {0};
    cli_values(row, &values);
    for (const char *at = values.data; at && *at; at++)
        if (*at != ',')
            bn_text_putc(&spaced, *at);
    bn_text_free(&values);
    return spaced;
}

/* The words that may follow WORD, a command's first one, with spaces between: second words and
 * second halves of names. */
static bn_text words_after(const cli_program *program, const char *word)
{
    bn_text words = {0};
    for (const cli_command *const *one = program->commands; *one; one++) {
        const size_t length = strlen(word);
        if (strcmp((*one)->name, word) == 0) {
            bn_text own = cli_second_words(*one);
            bn_text_puts(&words, words.length && own.length ? " " : "");
            for (const char *at = own.data; at && *at; at++)
                if (*at != ',')
                    bn_text_putc(&words, *at);
            bn_text_free(&own);
        } else if (strncmp((*one)->name, word, length) == 0 && (*one)->name[length] == ' ') {
            bn_text_printf(&words, "%s%s", words.length ? " " : "", (*one)->name + length + 1);
        }
    }
    return words;
}

/* Whether ROW, which has known values, takes a file, too. */
static bool may_be_file(const cli_option *row)
{
    return row->argument && strcmp(row->argument, "FILE") == 0;
}

/* Whether COMMAND's second word may be other than literal, such as a folder. */
static bool takes_files(const cli_command *command)
{
    for (const char *at = command->words; at && *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            return true;
    return false;
}

/* The first words of all commands, with spaces between. */
static void put_commands(const cli_program *program, bn_text *out)
{
    for (const cli_command *const *one = program->commands; *one; one++)
        if (!strchr((*one)->name, ' '))
            bn_text_printf(out, "%s%s", one == program->commands ? "" : " ", (*one)->name);
}

/* ---- bash and zsh ---------------------------------------------------------------------- */

static void bash_options(const cli_command *command, bn_text *out)
{
    const cli_table *table = cli_rows(command);
    for (size_t i = 0; i < table->count; i++)
        bn_text_printf(out, " --%s", table->rows[i].name);
}

/* Whether a command before LAST has a row of ROW's name with known values. */
static bool is_known_before(const cli_program *program, const cli_command *last,
                            const cli_option *row)
{
    for (const cli_command *const *one = program->commands; *one != last; one++) {
        const cli_option *other = cli_find(cli_rows(*one), row->name, strlen(row->name));
        if (other && (other->choices || other->values))
            return true;
    }
    return false;
}

/* A case for each option with known values: those of the first command that has it. */
static void bash_values(const cli_program *program, bn_text *out)
{
    for (const cli_command *const *one = program->commands; *one; one++) {
        const cli_table *table = cli_rows(*one);
        for (size_t i = 0; i < table->count; i++) {
            const cli_option *row = &table->rows[i];
            if ((!row->choices && !row->values) || is_known_before(program, *one, row))
                continue;
            bn_text values = values_of(row);
            bn_text_printf(out, "        --%s) values=", row->name);
            quoted(out, values.data ? values.data : "");
            bn_text_puts(out, may_be_file(row) ? " files=1 ;;\n" : " ;;\n");
            bn_text_free(&values);
        }
    }
}

/* The case of a command: its options, and its second words. */
static void bash_command(const cli_program *program, const cli_command *command, bn_text *out)
{
    const char *space = strchr(command->name, ' ');
    bn_text words = words_after(program, command->name);
    bn_text_printf(out, "        %s%.*s%s%s) options='", space ? "'" : "",
                   (int)strcspn(command->name, " "), command->name, space ? space : "",
                   space ? "'" : "");
    bash_options(command, out);
    bn_text_printf(out, "' words='%s' ;;\n", words.data ? words.data : "");
    bn_text_free(&words);
}

static void put_bash(const cli_program *program, bn_text *out)
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
    bash_values(program, out);
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
                 "    # Commands of two words stand before the others.\n"
                 "    case \"$command ${COMP_WORDS[2]}\" in\n");
    for (const cli_command *const *one = program->commands; *one; one++)
        if (strchr((*one)->name, ' '))
            bash_command(program, *one, out);
    bn_text_puts(out, "        *) case $command in\n");
    for (const cli_command *const *one = program->commands; *one; one++)
        if (!strchr((*one)->name, ' '))
            bash_command(program, *one, out);
    bn_text_puts(out, "        help) words='");
    put_commands(program, out);
    bn_text_puts(out, "' ;;\n        *) options='");
    bash_options(program->commands[0], out);
    bn_text_puts(out, "' ;;\n    esac ;;\n    esac\n"
                      "    [ \"$COMP_CWORD\" -eq 1 ] && words='help ");
    put_commands(program, out);
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

/* The options of COMMAND where CONDITION, of fish, holds. */
static void fish_options(const cli_command *command, const char *condition, bn_text *out)
{
    const cli_table *table = cli_rows(command);
    for (size_t i = 0; i < table->count; i++) {
        const cli_option *row = &table->rows[i];
        bn_text values = values_of(row);
        bn_text_printf(out, "complete -c bench -n '%s' -l %s", condition, row->name);
        bn_text_puts(out, row->argument ? " -r" : "");
        if (values.length) {
            bn_text_puts(out, may_be_file(row) ? " -a " : " -f -a ");
            quoted(out, values.data);
        }
        bn_text_puts(out, " -d ");
        quoted(out, row->text);
        bn_text_putc(out, '\n');
        bn_text_free(&values);
    }
}

static void fish_command(const cli_program *program, const cli_command *command, bn_text *out)
{
    bn_text words = words_after(program, command->name);
    char condition[128];
    snprintf(condition, sizeof condition, "__bench_command %s", command->name);
    if (words.length)
        bn_text_printf(out, "complete -c bench -n '%s; and __bench_words 2'%s -a '%s'\n", condition,
                       takes_files(command) ? "" : " -f", words.data);
    fish_options(command, condition, out);
    bn_text_free(&words);
}

static void put_fish(const cli_program *program, bn_text *out)
{
    bn_text_puts(out, "# Completion of bench for fish: bench completion fish | source\n"
                      "# Whether the completed word has so many words before it.\n"
                      "function __bench_words\n"
                      "    test (count (commandline -opc)) -eq $argv[1]\n"
                      "end\n"
                      "# Whether the command is this one; without one, bench runs the first.\n"
                      "function __bench_command\n"
                      "    set -l words (commandline -opc)\n"
                      "    test \"$words[2]\" = $argv[1]; or return 1\n"
                      "    test (count $argv) -lt 2; or test \"$words[3]\" = $argv[2]\n"
                      "end\n"
                      "function __bench_no_command\n"
                      "    set -l words (commandline -opc)\n"
                      "    test (count $words) -eq 1; or string match -q -- '-*' $words[2]\n"
                      "end\n");
    for (const cli_command *const *one = program->commands; *one; one++) {
        if (strchr((*one)->name, ' '))
            continue;
        bn_text_printf(out, "complete -c bench -n '__bench_words 1' -f -a %s -d ", (*one)->name);
        quoted(out, (*one)->summary);
        bn_text_putc(out, '\n');
    }
    bn_text_puts(out, "complete -c bench -n '__bench_words 1' -f -a help -d 'help of a command'\n"
                      "complete -c bench -n '__bench_command help; and __bench_words 2' -f -a '");
    put_commands(program, out);
    bn_text_puts(out, "'\n");
    fish_options(program->commands[0], "__bench_no_command", out);
    for (const cli_command *const *one = program->commands; *one; one++)
        fish_command(program, *one, out);
}

static int complete(void *options, const cli_call *call)
{
    const char *shell = call->words[0];
    bn_status st = {.code = BN_OK};
    bn_text text = {0};
    (void)options;
    if (strcmp(shell, "bash") == 0) {
        put_bash(call->program, &text);
    } else if (strcmp(shell, "zsh") == 0) {
        bn_text_puts(&text,
                     "# Completion of bench for zsh: source <(bench completion zsh)\n"
                     "(( $+functions[compdef] )) || { autoload -U +X compinit && compinit -i }\n"
                     "autoload -U +X bashcompinit && bashcompinit\n");
        put_bash(call->program, &text);
    } else if (strcmp(shell, "fish") == 0) {
        put_fish(call->program, &text);
    } else {
        bn_fail_choice(&st, "shell", shell, "bash, zsh or fish");
        return (int)cli_complain(&st);
    }
    cli_text(&text);
    return CLI_EXIT_OK;
}

const cli_command cli_completion = {
    .name = "completion",
    .usage = "bench completion bash|zsh|fish",
    .summary = "print a completion script: source <(bench completion bash)",
    .section = CLI_SECTION_HELP,
    .words = "bash|zsh|fish",
    .most_words = 1,
    .size = sizeof(cli_output),
    .groups = {{.table = cli_output_table, .rows = CLI_OUT_EVERY | CLI_OUT_VERBOSE}},
    .run = complete,
};
