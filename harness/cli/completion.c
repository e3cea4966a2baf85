/*
 * completion.c - scripts that complete command lines in bash, zsh and fish, made from the rows.
 */
#include "harness/cli/cli.h"

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
            bn_text_puts(out, " ;;\n");
        }
        bn_text_free(&values);
    }
}

static void put_bash(const cli_words_of *source, bn_text *out)
{
    bn_text_puts(out,
                 "# Completion of bench for bash: source <(bench completion bash)\n"
                 "_bench() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local command=${COMP_WORDS[1]} values= options=\n"
                 "    case $before in\n");
    bash_values(source, out);
    bn_text_puts(out,
                 "    esac\n"
                 "    if [ -n \"$values\" ]; then\n"
                 "        local head=\n"
                 "        [[ $word == *,* ]] && head=${word%,*},\n"
                 "        COMPREPLY=($(compgen -P \"$head\" -W \"$values\" -- \"${word##*,}\"))\n"
                 "        return\n"
                 "    fi\n"
                 "    case $command in\n");
    for (size_t i = 0; i < source->command_count; i++) {
        bn_text_printf(out, "        %s) options='", source->commands[i].name);
        bash_options(source, source->commands[i].bit, out);
        bn_text_puts(out, "' ;;\n");
    }
    bn_text_puts(out, "        *) options='");
    bash_options(source, source->commands[0].bit, out);
    bn_text_puts(out, "' ;;\n    esac\n"
                      "    if [ \"$COMP_CWORD\" -eq 1 ] && [[ $word != -* ]]; then\n"
                      "        COMPREPLY=($(compgen -W 'help");
    for (size_t i = 0; i < source->command_count; i++)
        bn_text_printf(out, " %s", source->commands[i].name);
    bn_text_puts(out, "' -- \"$word\"))\n"
                      "    elif [[ $word == -* ]]; then\n"
                      "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                      "    fi\n"
                      "}\n"
                      "complete -o default -F _bench bench\n");
}

/* ---- fish -------------------------------------------------------------------------------- */

static void fish_option(const cli_words_of *source, const char *command, const cli_option *row,
                        bn_text *out)
{
    bn_text values = values_of(source, row);
    bn_text_printf(out, "complete -c bench -n '__fish_seen_subcommand_from %s' -l %s", command,
                   row->name);
    bn_text_puts(out, row->argument ? " -r" : "");
    if (values.length && !values.failed) {
        bn_text_puts(out, " -f -a ");
        quoted(out, values.data);
    }
    bn_text_puts(out, " -d ");
    quoted(out, row->text);
    bn_text_putc(out, '\n');
    bn_text_free(&values);
}

static void put_fish(const cli_words_of *source, bn_text *out)
{
    bn_text_puts(out, "# Completion of bench for fish: bench completion fish | source\n");
    for (size_t i = 0; i < source->command_count; i++) {
        bn_text_printf(out, "complete -c bench -n __fish_use_subcommand -f -a %s -d ",
                       source->commands[i].name);
        quoted(out, source->commands[i].summary);
        bn_text_putc(out, '\n');
    }
    for (size_t i = 0; i < source->command_count; i++)
        for (size_t k = 0; k < source->table->count; k++)
            if (source->table->rows[k].commands & source->commands[i].bit)
                fish_option(source, source->commands[i].name, &source->table->rows[k], out);
}

bn_code cli_completion(const char *shell, const cli_words_of *source, bn_text *out, bn_status *st)
{
    if (strcmp(shell, "bash") == 0) {
        put_bash(source, out);
    } else if (strcmp(shell, "zsh") == 0) {
        bn_text_puts(out, "# Completion of bench for zsh: source <(bench completion zsh)\n"
                          "autoload -U +X bashcompinit && bashcompinit\n");
        put_bash(source, out);
    } else if (strcmp(shell, "fish") == 0) {
        put_fish(source, out);
    } else {
        return bn_fail_choice(st, "shell", shell, "bash, zsh or fish");
    }
    return out->failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a script") : BN_OK;
}
