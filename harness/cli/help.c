/*
 * help.c - options as help text, as a page of the manual, and as JSON for records.
 */
#include "harness/cli/cli_priv.h"

#include <string.h>

#define HELP_COLUMN 26
#define HELP_WIDTH  96
#define HELP_LEAST  50 /* fewer columns have no room for the texts of options */

/* TEXT from column HELP_COLUMN, wrapped. */
static void wrap(bn_text *out, const char *text)
{
    size_t column = HELP_COLUMN;
    for (bool first = true; *text; first = false) {
        const size_t word = strcspn(text, " ");
        if (!first && column + 1 + word > HELP_WIDTH) {
            bn_text_printf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (!first) {
            bn_text_putc(out, ' ');
            column++;
        }
        bn_text_append(out, text, word);
        column += word;
        text += word + strspn(text + word, " ");
    }
}

/* The unit of ROW's default, where that is a number alone; "": none. */
static const char *unit_of(const cli_option *row)
{
    const bool alone = !row->fallback[strspn(row->fallback, "0123456789.")];
    if (!alone)
        return "";
    return row->kind == CLI_SPAN ? " s" : row->kind == CLI_HOURS ? " h" : "";
}

void cli_help(const cli_table *table, bn_text *out)
{
    bn_text text = {0};
    for (size_t i = 0; i < table->count; i++) {
        const cli_option *row = &table->rows[i];
        size_t before = out->length;
        bn_text_printf(out, "  --%s%s%s", row->name, row->argument ? " " : "",
                       row->argument ? row->argument : "");
        size_t used = out->length - before;
        if (used + 2 > HELP_COLUMN) {
            bn_text_putc(out, '\n');
            used = 0;
        }
        bn_text_printf(out, "%*s", (int)(HELP_COLUMN - used), "");
        bn_text_clear(&text);
        bn_text_puts(&text, row->text);
        if (row->more)
            row->more(&text);
        if (row->fallback && row->fallback[0])
            bn_text_printf(&text, " [%s%s]", row->fallback, unit_of(row));
        wrap(out, text.data);
        bn_text_putc(out, '\n');
    }
    bn_text_free(&text);
}

/* ---- on a narrow terminal -------------------------------------------------------------------- */

/* A paragraph of a page: its text, and the column at which further lines begin. */
typedef struct paragraph {
    bn_text words;
    size_t hang;
} paragraph;

static size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

/* Whether P, an option, has its text in the same line; behind a long name it has a line below. */
static bool has_text(const paragraph *p)
{
    return p->hang == HELP_COLUMN && p->words.length > HELP_COLUMN &&
           strncmp(p->words.data + HELP_COLUMN - 2, "  ", 2) == 0;
}

/* Whether LINE of LENGTH bytes continues P: text at the left margin, or the text of an option. */
static bool goes_on(const paragraph *p, const char *line, size_t length)
{
    const size_t indent = indent_of(line);
    if (p->words.length == 0 || length == 0)
        return false;
    return indent == 0 ? indent_of(p->words.data) == 0 : indent == HELP_COLUMN && has_text(p);
}

/* Appends P in lines of COLUMNS, and empties it. */
static void put_paragraph(paragraph *p, size_t columns, bn_text *out)
{
    const char *at = p->words.data ? p->words.data : "";
    size_t column = indent_of(at);
    bn_text_append(out, at, column);
    for (at += column; *at;) {
        const size_t blanks = indent_of(at), word = strcspn(at + blanks, " ");
        if (column + blanks + word > columns && column > p->hang) {
            bn_text_printf(out, "\n%*s", (int)p->hang, "");
            column = p->hang;
        } else {
            bn_text_append(out, at, blanks);
            column += blanks;
        }
        bn_text_append(out, at + blanks, word);
        column += word;
        at += blanks + word;
    }
    bn_text_putc(out, '\n');
    bn_text_clear(&p->words);
}

static void reflow(const char *page, size_t columns, bn_text *out)
{
    paragraph p = {.hang = 0};
    bool some = false;
    for (size_t length; *page; page += length + (page[length] == '\n')) {
        length = strcspn(page, "\n");
        const size_t indent = indent_of(page);
        if (goes_on(&p, page, length)) {
            if (p.words.data[p.words.length - 1] != ' ')
                bn_text_putc(&p.words, ' ');
            bn_text_append(&p.words, page + indent, length - indent);
            continue;
        }
        if (some)
            put_paragraph(&p, columns, out);
        some = true;
        bn_text_append(&p.words, page, length);
        p.hang = indent == HELP_COLUMN || strncmp(page, "  --", 4) == 0 ? HELP_COLUMN
                 : indent == 2                                          ? 6
                                                                        : indent;
    }
    if (some)
        put_paragraph(&p, columns, out);
    bn_text_free(&p.words);
}

void cli_show_help(const char *page)
{
    const size_t columns = cli_columns(stdout);
    bn_text text = {0};
    if (columns >= HELP_LEAST && columns <= HELP_WIDTH + 4)
        reflow(page, columns - 1, &text);
    cli_show(text.data ? text.data : page);
    bn_text_free(&text);
}

/* Backslashes are escaped; hyphens become minus signs, which can be copied. */
static void roff(bn_text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            bn_text_putc(out, '\\');
        bn_text_putc(out, *text);
    }
}

void cli_man(const cli_table *table, bn_text *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const cli_option *row = &table->rows[i];
        bn_text_puts(out, ".TP\n.B \\-\\-");
        roff(out, row->name);
        if (row->argument) {
            bn_text_puts(out, " \\fI");
            roff(out, row->argument);
            bn_text_puts(out, "\\fR");
        }
        bn_text_putc(out, '\n');
        bn_text more = {0};
        bn_text_puts(&more, row->text);
        if (row->more)
            row->more(&more);
        roff(out, more.data);
        bn_text_free(&more);
        if (row->fallback && row->fallback[0]) {
            bn_text_puts(out, " (default: ");
            roff(out, row->fallback);
            bn_text_printf(out, "%s)", unit_of(row));
        }
        bn_text_puts(out, ".\n");
    }
}

/* ---- echo ------------------------------------------------------------------------ */

static json_t *words_json(const char *const *list)
{
    json_t *array = json_array();
    for (; list && *list; list++)
        json_array_append_new(array, json_string(*list));
    return array;
}

static json_t *list_json(const cli_list *list, const cli_option *row)
{
    bn_text text = {0};
    if (list->count == 0)
        return json_null();
    if (row->single && row->kind == CLI_NUMBERS)
        return json_integer(list->value[0].number);
    cli_list_put(list, &text);
    json_t *json = json_string(text.data);
    bn_text_free(&text);
    return json;
}

static json_t *value_json(const void *options, const cli_option *row)
{
    const void *at = cli_member(options, row);
    switch (row->kind) {
    case CLI_TEXT:
        return *(const char *const *)at ? json_string(*(const char *const *)at) : json_null();
    case CLI_NUMBER:
        return json_integer(*(const int64_t *)at);
    case CLI_REAL:
    case CLI_SHARE:
    case CLI_SPAN:
    case CLI_HOURS:
    case CLI_SIZE:
        return json_real(*(const double *)at);
    case CLI_FLAG:
        return json_boolean(*(const bool *)at);
    case CLI_PAIRS:
        return words_json(at);
    case CLI_WORDS:
        return words_json(((const cli_words *)at)->list);
    case CLI_NAMES:
    case CLI_NUMBERS:
        return list_json(at, row);
    }
    return NULL;
}

json_t *cli_echo(const cli_table *table, const void *options)
{
    json_t *echo = json_object();
    for (size_t i = 0; i < table->count; i++)
        json_object_set_new(echo, table->rows[i].name, value_json(options, &table->rows[i]));
    return echo;
}
