/* put.c - texts and whole data files: a call of JavaScript around a JSON value. */
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

json_t *site_text(const char *text)
{
    bn_text plain = {0};
    bn_text_plain(&plain, text);
    json_t *value = res_json_text(plain.data ? plain.data : "");
    bn_text_free(&plain);
    return value;
}

json_t *site_taken(bn_text *text)
{
    json_t *value = res_json_text(text->data ? text->data : "");
    bn_text_free(text);
    return value;
}

json_t *site_seconds(double seconds)
{
    return json_integer(llround(seconds));
}

/* JSON's strings are JavaScript's. A "<" could begin a tag if a data file were put into a page,
 * so it is written by its number. It occurs in strings only. */
bn_text site_data(const char *name, json_t *value)
{
    bn_text out = {0};
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(7));
    bn_text_printf(&out, "bench_data(\"%s\",", name);
    for (const char *at = dumped; *at;) {
        const size_t length = strcspn(at, "<");
        bn_text_append(&out, at, length);
        at += length;
        if (*at) {
            bn_text_puts(&out, "\\u003c");
            at++;
        }
    }
    bn_text_puts(&out, ");\n");
    free(dumped);
    json_decref(value);
    return out;
}
