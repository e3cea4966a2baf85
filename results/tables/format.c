/*
 * format.c - the formats of tables: their names, what each of them escapes, headings and
 * paragraphs, a whole page of HTML.
 *
 * LaTeX is a fragment to be \input into a document and needs no package. HTML is a fragment of
 * tables, headings and paragraphs; res_put_page makes a whole page around it.
 */
#include "results/tables/tables_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bn_code res_format_parse(const char *name, res_format *format, bn_status *st)
{
    static const char *const names[] = {"text", "md", "csv", "json", "latex", "html", "narrow"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            *format = (res_format)i;
            return BN_OK;
        }
    }
    return bn_fail_choice(st, "table format", name, RES_FORMAT_NAMES);
}

static size_t narrow_columns = RES_NARROW;

size_t res_narrow(void)
{
    return narrow_columns;
}

void res_narrow_to(size_t columns)
{
    narrow_columns = columns == 0 || columns > RES_NARROW ? RES_NARROW
                     : columns < RES_NARROWEST            ? RES_NARROWEST
                                                          : columns;
}

/* ---- escapes ---------------------------------------------------------------------- */

/* All take text that is plain already: what is left are the signs of the format. */

static void put_html(bn_text *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            bn_text_puts(out, "&amp;");
            break;
        case '<':
            bn_text_puts(out, "&lt;");
            break;
        case '>':
            bn_text_puts(out, "&gt;");
            break;
        case '"':
            bn_text_puts(out, "&quot;");
            break;
        default:
            bn_text_putc(out, *text);
        }
    }
}

/* Signs that LaTeX reads differently. "<" and ">" are other signs in its first fonts, and two
 * dashes would become one. A bracket after the end of a line is an argument of that end. */
static void put_latex(bn_text *out, const char *text)
{
    static const struct {
        char plain;
        const char *latex;
    } signs[] = {
        {'\\', "\\textbackslash{}"},
        {'~', "\\textasciitilde{}"},
        {'^', "\\textasciicircum{}"},
        {'<', "\\textless{}"},
        {'>', "\\textgreater{}"},
        {'|', "\\textbar{}"},
        {'-', "-{}"},
        {'[', "{[}"},
        {']', "{]}"},
        {'#', "\\#"},
        {'$', "\\$"},
        {'%', "\\%"},
        {'&', "\\&"},
        {'_', "\\_"},
        {'{', "\\{"},
        {'}', "\\}"},
        {'"', "{''}"},
    };
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (i < sizeof signs / sizeof *signs && signs[i].plain != *text)
            i++;
        if (i < sizeof signs / sizeof *signs)
            bn_text_puts(out, signs[i].latex);
        else
            bn_text_putc(out, *text);
    }
}

/* Whether an address, a name of somebody or a number of an issue begins at TEXT, and how many signs
 * may not be followed by the rest of it. GitHub makes links of these by themselves, some of them
 * after it has taken the backslashes away. */
static size_t link_at(const char *text)
{
    static const char *const starts[] = {"://", "www.", "@"};
    static const size_t before[] = {1, 3, 1};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncasecmp(text, starts[i], strlen(starts[i])) == 0)
            return before[i];
    return text[0] == '#' && isdigit((unsigned char)text[1]) ? 1 : 0;
}

/* Marks, tags, links, pictures, formulas and references to characters ("&#x202E;") by a backslash.
 * An empty comment breaks addresses apart. */
static void put_markdown(bn_text *out, const char *text)
{
    while (*text != '\0') {
        const size_t link = link_at(text), length = link > 0 ? link : 1;
        if (strchr("\\`*<>|[]&$_~", *text))
            bn_text_putc(out, '\\');
        bn_text_append(out, text, length);
        if (link > 0)
            bn_text_puts(out, "<!-- -->");
        text += length;
    }
}

void res_put_escaped(bn_text *out, res_format format, const char *text)
{
    bn_text plain = {0};
    bn_text_plain(&plain, text);
    const char *shown = plain.data ? plain.data : "";
    if (format == RES_TABLE_HTML)
        put_html(out, shown);
    else if (format == RES_TABLE_MARKDOWN)
        put_markdown(out, shown);
    else if (format == RES_TABLE_LATEX)
        put_latex(out, shown);
    else
        bn_text_puts(out, shown);
    bn_text_free(&plain);
}

/* Programs for tables take such a cell for a formula, unless it is a number. Some pass over blanks,
 * and take the wide = + - @ of East Asian scripts for the same. */
static bool is_formula(const char *text)
{
    static const char *const wide[] = {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                       "\xEF\xBC\xA0"};
    char *end;
    text += strspn(text, " \t\r\n\v\f");
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return true;
    if (!strchr("=+-@", *text) || !*text)
        return false;
    strtod(text, &end);
    return end == text || *end != '\0';
}

void res_put_csv(bn_text *out, const char *text)
{
    bn_text plain = {0};
    if (is_formula(text))
        bn_text_putc(&plain, '\'');
    bn_text_plain(&plain, text);
    const char *at = plain.data ? plain.data : "";
    /* Table programs of some languages take a semicolon for the comma. */
    const bool quoted = strpbrk(at, ",;\"") != NULL;
    if (quoted)
        bn_text_putc(out, '"');
    for (; *at != '\0'; at++) {
        if (*at == '"')
            bn_text_putc(out, '"');
        bn_text_putc(out, *at);
    }
    if (quoted)
        bn_text_putc(out, '"');
    bn_text_free(&plain);
}

/* ---- around tables ------------------------------------------------------------------ */

void res_put_heading(bn_text *out, res_format format, int level, const char *title)
{
    static const char *const before[][2] = {[RES_TABLE_MARKDOWN] = {"## ", "### "},
                                            [RES_TABLE_LATEX] = {"\\section*{", "\\subsection*{"},
                                            [RES_TABLE_HTML] = {"<h1>", "<h2>"}};
    static const char *const after[][2] = {
        [RES_TABLE_LATEX] = {"}", "}"}, [RES_TABLE_HTML] = {"</h1>", "</h2>"}};
    /* Leaves one empty line before the heading. */
    if (out->length > 1 && out->data[out->length - 2] != '\n')
        bn_text_putc(out, '\n');
    if (!res_format_is_text(format))
        bn_text_puts(out, before[format][level - 1]);
    if (format == RES_TABLE_NARROW) {
        res_put_note(out, format, title);
        if (level == 1)
            bn_text_putc(out, '\n');
        return;
    }
    res_put_escaped(out, format, title);
    if (format == RES_TABLE_LATEX || format == RES_TABLE_HTML)
        bn_text_puts(out, after[format][level - 1]);
    bn_text_putc(out, '\n');
    if (format == RES_TABLE_MARKDOWN || level == 1)
        bn_text_putc(out, '\n');
}

void res_put_note(bn_text *out, res_format format, const char *note)
{
    if (format == RES_TABLE_NARROW) {
        bn_text plain = {0};
        bn_text_plain(&plain, note);
        bn_text_wrap(out, plain.data ? plain.data : "", res_narrow());
        bn_text_free(&plain);
        return;
    }
    /* Two spaces end a line in markdown without ending the paragraph. */
    bn_text_puts(out, format == RES_TABLE_HTML ? "<p>" : "");
    res_put_escaped(out, format, note);
    bn_text_puts(out, format == RES_TABLE_MARKDOWN ? "  " : format == RES_TABLE_HTML ? "</p>" : "");
    /* In LaTeX an empty line ends a paragraph. */
    bn_text_puts(out, format == RES_TABLE_LATEX ? "\n\n" : "\n");
}

void res_add_note(json_t *notes, const char *id, const char *text, json_t *rows)
{
    json_array_append_new(
        notes, json_pack("{s:s, s:o, s:o}", "id", id, "text", res_json_text(text), "rows", rows));
}

void res_put_notes(bn_text *out, res_format format, const json_t *notes)
{
    size_t index;
    json_t *note;
    json_array_foreach(notes, index, note)
    {
        res_put_note(out, format, json_string_value(json_object_get(note, "text")));
    }
}

void res_put_lines(bn_text *out, res_format format, const char *lines)
{
    if (format == RES_TABLE_NARROW) {
        bn_text_wrap(out, lines, res_narrow());
        return;
    }
    if (format != RES_TABLE_MARKDOWN) {
        bn_text_puts(out, lines);
        return;
    }
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        char *line = bn_strndup(lines, length);
        res_put_escaped(out, format, line);
        free(line);
        lines += length;
        if (*lines) {
            bn_text_putc(out, '\n');
            lines++;
        }
    }
}

/* The LENGTH bytes at LINE, between words in several lines. */
static void put_broken(bn_text *out, const char *line, size_t length)
{
    const size_t indent = strspn(line, " ");
    size_t column = 0;
    for (size_t at = 0, blanks, word; at < length; at += blanks + word) {
        blanks = strspn(line + at, " ");
        word = strcspn(line + at + blanks, " \n");
        const size_t wide = blanks + res_bytes_columns(line + at + blanks, word);
        if (at > 0 && column + wide > res_narrow()) {
            bn_text_printf(out, "\n%*s", (int)indent + 2, "");
            bn_text_append(out, line + at + blanks, word);
            column = indent + 2 + wide - blanks;
        } else {
            bn_text_append(out, line + at, blanks + word);
            column += wide;
        }
    }
}

void res_put_set_in(bn_text *out, res_format format, const char *lines)
{
    if (format != RES_TABLE_NARROW) {
        bn_text_puts(out, lines);
        return;
    }
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        if (res_bytes_columns(lines, length) > res_narrow())
            put_broken(out, lines, length);
        else
            bn_text_append(out, lines, length);
        lines += length;
        if (*lines) {
            bn_text_putc(out, '\n');
            lines++;
        }
    }
}

void res_put_json(bn_text *out, json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(2) | RES_JSON_SHOWN);
    bn_text_puts(out, text ? text : "null");
    bn_text_putc(out, '\n');
    free(text);
}

void res_put_page(bn_text *out, const char *title, const char *body)
{
    static const char style[] =
        ":root{color-scheme:light dark;--ink:#111;--paper:#fff;--shade:#bbb;--soft:#57606a;"
        "--grid:#d0d7de;--quiet:#dfe3e8}\n"
        "@media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#111;--shade:#555;"
        "--soft:#a3adb8;--grid:#3a424d;--quiet:#4a5563}}\n"
        "body{font:15px/1.4 system-ui,sans-serif;margin:1.5em 4vw;color:var(--ink);"
        "background:var(--paper);overflow-wrap:anywhere}\n"
        /* Wide tables scroll by themselves, with a shade at the edge. */
        "table{display:block;max-width:100%;overflow-x:auto;border-collapse:collapse;margin:.7em 0;"
        "font-variant-numeric:tabular-nums;overflow-wrap:normal;"
        "background:linear-gradient(90deg,var(--paper) 40%,transparent) 0 0/36px 100% no-repeat "
        "local,"
        "linear-gradient(270deg,var(--paper) 40%,transparent) 100% 0/36px 100% no-repeat local,"
        "linear-gradient(90deg,var(--shade),transparent) 0 0/14px 100% no-repeat scroll,"
        "linear-gradient(270deg,var(--shade),transparent) 100% 0/14px 100% no-repeat scroll}\n"
        "th,td{padding:.15em .6em;text-align:left;white-space:nowrap}\n"
        "thead{border-bottom:1px solid #888}\n"
        "tbody+tbody{border-top:1px solid #888}\n"
        "h1{font-size:1.5em}h2{font-size:1.15em}p{margin:.25em 0}\n"
        ".r{text-align:right}figure{margin:.7em 0}.picture{overflow-x:auto}\n";
    /* Whatever a text of somebody else's got past the escapes: nothing runs, nothing is fetched. */
    bn_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    res_put_escaped(out, RES_TABLE_HTML, title);
    bn_text_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
    bn_text_puts(out, body);
    bn_text_puts(out, "</body>\n</html>\n");
}
