/*
 * print.c - standard output and standard error. All text is made plain on its way, so that no name,
 * label or message can control the terminal. Nothing outside of this folder writes to either;
 * tests/check_house.sh checks that.
 */
#define _GNU_SOURCE
#include "harness/cli/cli_priv.h"

#include <stdlib.h>
#include <string.h>

#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define BOLD   "\033[1m"
#define NORMAL "\033[0m"
#define INDENT "      "

/* The end of the line at AT, which is in the text or its terminating zero. */
static const char *end_of_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end : at + strlen(at);
}

/* Whether the line from AT to END is of dashes. */
static bool is_rule(const char *at, const char *end)
{
    return end - at >= 3 && strspn(at, "-") == (size_t)(end - at);
}

static void put_with_headings(FILE *to, const char *text)
{
    bool ruled = false; /* a table has rules between its rows, too */
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = end_of_line(at);
        const bool heads = !ruled && *end && end > at && is_rule(end + 1, end_of_line(end + 1));
        fprintf(to, heads ? BOLD "%.*s" NORMAL "%s" : "%.*s%s", (int)(end - at), at,
                *end ? "\n" : "");
        ruled = end > at && (ruled || is_rule(at, end));
    }
}

void cli_put_page(FILE *to, const char *page, bool bold)
{
    bn_text plain = {0};
    bn_text_plain_lines(&plain, page);
    if (plain.data && bold)
        put_with_headings(to, plain.data);
    else if (plain.data)
        fwrite(plain.data, 1, plain.length, to);
    bn_text_free(&plain);
}

static void put_page(FILE *to, const char *text)
{
    cli_put_page(to, text, to == stdout && cli_colours(to));
}

/* Bytes of TEXT that fit in a line of COLUMNS: whole words, at least one. */
static size_t line_of(const char *text, size_t columns)
{
    const size_t indent = strspn(text, " "), fit = bn_utf8_fit(text, columns);
    size_t end = fit;
    if (!text[fit])
        return fit;
    while (end > indent && text[end] != ' ')
        end--;
    return end > indent ? end : indent + strcspn(text + indent, " ");
}

/* Puts TEXT in lines of COLUMNS, after USED columns of the first one; the others are indented. 0
 * columns, or too few: in one line. */
static void put_broken(FILE *to, const char *text, size_t columns, size_t used)
{
    if (columns <= used + strlen(INDENT)) {
        fprintf(to, "%s\n", text);
        return;
    }
    size_t length = line_of(text, columns - used);
    fprintf(to, "%.*s\n", (int)length, text);
    for (text += length; *(text += strspn(text, " ")); text += length) {
        length = line_of(text, columns - strlen(INDENT));
        fprintf(to, INDENT "%.*s\n", (int)length, text);
    }
}

static void put_plain(FILE *to, const char *text, size_t columns, size_t used)
{
    bn_text line = {0};
    bn_text_plain(&line, text);
    put_broken(to, line.data ? line.data : "", columns, used);
    bn_text_free(&line);
}

/* Lines are broken at the width of a terminal, which would break words. Files get whole lines. */
static void put_line_after(FILE *to, const char *text, size_t used)
{
    put_plain(to, text, cli_columns(to), used);
}

static void put_line(FILE *to, const char *text)
{
    put_line_after(to, text, 0);
}

/* A page, each of its lines as put_line. */
static void put_lines(FILE *to, const char *text)
{
    bn_text line = {0};
    if (cli_columns(to) == 0) {
        put_page(to, text);
        return;
    }
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = end_of_line(at);
        bn_text_clear(&line);
        bn_text_append(&line, at, (size_t)(end - at));
        put_line(to, line.data ? line.data : "");
    }
    bn_text_free(&line);
}

static void put_whole_line(FILE *to, const char *text)
{
    put_plain(to, text, 0, 0);
}

/* TO, once standard output is flushed where TO is standard error: both may go to one file or pipe,
 * as in a log, and keep their order. */
static FILE *in_order(FILE *to)
{
    if (to == stderr)
        fflush(stdout);
    return to;
}

static void put(void writer(FILE *to, const char *text), FILE *to, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        return;
    writer(in_order(to), text);
    free(text);
}

void cli_out(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(put_page, stdout, format, args);
    va_end(args);
}

void cli_text(bn_text *text)
{
    if (text->data)
        put_page(stdout, text->data);
    bn_text_free(text);
}

void cli_tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(put_line, stdout, format, args);
    va_end(args);
}

void cli_err(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(put_lines, stderr, format, args);
    va_end(args);
}

void cli_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put(put_line, stderr, format, args);
    va_end(args);
}

void cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!cli_quiet())
        put(put_line, stderr, format, args);
    va_end(args);
}

void cli_note_command(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!cli_quiet())
        put(put_whole_line, stderr, format, args);
    va_end(args);
}

void cli_note_plan(size_t of, const char *stopped, const char *format, ...)
{
    char what[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    cli_note("[0/%zu] %s", of, what);
    cli_note("[0/%zu] Ctrl-C %s", of, stopped);
}

void cli_note_end(const char *job, bool good, const char *word, const char *rest)
{
    if (cli_quiet())
        return;
    if (!cli_colours(stderr)) {
        cli_say("%s: %s%s", job, word, rest);
        return;
    }
    const size_t columns = cli_columns(stderr), used = strlen(job) + strlen(": ") + strlen(word);
    char plain[512];
    bn_plain(job, plain, sizeof plain);
    /* The result stands in one place: at the end of the line, or in a line of its own. */
    if (columns > 0 && used + strlen(rest) > columns) {
        cli_say("%s:", plain);
        fputs(INDENT, stderr);
    } else {
        fprintf(stderr, "%s: ", plain);
    }
    bn_plain(word, plain, sizeof plain);
    fprintf(stderr, "%s%s" NORMAL, good ? GREEN : RED, plain);
    put_line_after(stderr, rest, strlen(INDENT) + strlen(plain));
}

void cli_put_error(const char *text)
{
    fputs(cli_colours(in_order(stderr)) ? RED "bench:" NORMAL " " : "bench: ", stderr);
    put_line_after(stderr, text, strlen("bench: "));
}

void cli_json(const json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    putchar('\n');
}

void cli_bytes(const bn_text *bytes)
{
    fwrite(bytes->data, 1, bytes->length, stdout);
}

bool cli_flush(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

/* Bytes at the end of BYTES that begin a character whose rest is still to come. */
static size_t unfinished(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        const unsigned char c = (unsigned char)bytes[length - back];
        if ((c & 0xC0) == 0x80)
            continue;
        const size_t whole = (c & 0xE0) == 0xC0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 ? 4 : 1;
        return whole > back ? back : 0;
    }
    return 0;
}

void cli_pass(cli_rest *rest, const char *bytes, size_t length)
{
    bn_text text = {0};
    bn_text_append(&text, rest->bytes, rest->count);
    bn_text_append(&text, bytes, length);
    /* A zero byte would end the text. */
    for (char *zero; (zero = memchr(text.data, '\0', text.length)) != NULL;)
        *zero = '?';
    rest->count = length > 0 ? unfinished(text.data, text.length) : 0;
    text.length -= rest->count;
    memcpy(rest->bytes, text.data + text.length, rest->count);
    text.data[text.length] = '\0';
    put_page(stderr, text.data);
    bn_text_free(&text);
}
