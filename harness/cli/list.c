/*
 * list.c - values with commas between.
 */
#include "harness/cli/cli.h"

#include <string.h>

bn_code cli_list_parse(const char *option, const char *text, bn_arena *memory, cli_list *list,
                       bn_status *st)
{
    char *copy = bn_arena_strdup(memory, text);
    for (list->count = 0;;) {
        const size_t length = strcspn(copy, ",");
        const bool last = copy[length] == '\0';
        if (length == 0)
            return bn_fail(st, BN_INVALID,
                           "--%s has an empty item; commas stand without blanks: a,b", option);
        if (list->count == CLI_MAX_ITEMS || length >= CLI_ITEM_BYTES)
            return bn_fail(st, BN_INVALID, "--%s is too long", option);
        copy[length] = '\0';
        list->value[list->count++] = (cli_value){.word = copy};
        if (last)
            return BN_OK;
        copy += length + 1;
    }
}

void cli_list_set(cli_list *list, const char *word)
{
    list->count = 1;
    list->value[0] = (cli_value){.word = word};
}

void cli_list_put(const cli_list *list, bn_text *out)
{
    for (size_t i = 0; i < list->count; i++) {
        bn_text_puts(out, i ? "," : "");
        if (list->value[i].word)
            bn_text_puts(out, list->value[i].word);
        else
            bn_text_int(out, list->value[i].number);
    }
}

bool cli_list_has(const cli_list *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->value[i].word && strcmp(list->value[i].word, word) == 0)
            return true;
    return false;
}
