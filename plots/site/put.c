/* put.c - pieces of data files: strings, numbers, the call around them. */
#include "plots/site/site_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

site_key site_key_of(const char *text)
{
    char digest[BN_SHA256_TEXT];
    site_key key;
    bn_sha256(text, strlen(text), digest);
    snprintf(key.text, sizeof key.text, "%.*s", SITE_KEY - 1, digest);
    return key;
}

/* JSON's strings are JavaScript's. A "<" could begin a tag where somebody puts a data file into a
 * page, so it is written by its number. */
static void put_string(bn_text *out, const char *text)
{
    json_t *value = res_json_text(text);
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    const char *at = dumped;
    while (at && *at) {
        const size_t length = strcspn(at, "<");
        bn_text_append(out, at, length);
        at += length;
        if (*at) {
            bn_text_puts(out, "\\u003c");
            at++;
        }
    }
    out->failed = out->failed || !dumped;
    free(dumped);
    json_decref(value);
}

void site_put_text(bn_text *out, const char *text)
{
    bn_text plain = {0};
    bn_text_plain(&plain, text);
    put_string(out, plain.data ? plain.data : "");
    out->failed = out->failed || plain.failed;
    bn_text_free(&plain);
}

void site_put_html(bn_text *out, const char *html)
{
    put_string(out, html ? html : "");
}

void site_put_number(bn_text *out, double value)
{
    if (isfinite(value))
        bn_text_printf(out, "%.7g", value);
    else
        bn_text_puts(out, "null");
}

void site_put_comma(bn_text *out, bool *first)
{
    if (!*first)
        bn_text_putc(out, ',');
    *first = false;
}

void site_begin(bn_text *out, const char *name)
{
    bn_text_printf(out, "bench_data(\"%s\",", name);
}

void site_end(bn_text *out)
{
    bn_text_puts(out, ");\n");
}
