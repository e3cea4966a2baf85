/* parse_reader.c - the reader itself: its memory, how it fails, tokens, values and their
 * names. */
#include "runtime/sim/program/parse_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors -------------------------------------------------------------------------- */

void sim_reader_fail(sim_reader *r, const char *at, sim_code code, const char *format, ...)
{
    if (r->code != SIM_OK)
        return;
    int line = 1;
    const char *start = r->lex.text;
    for (const char *c = start; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    for (char *c = message; *c; c++) /* what is quoted may be anything */
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    r->code = sim_fail(r->st, code, "%d:%td: %s", line, at - start + 1, message);
    r->lex.at = r->lex.end;
    r->lex.kind = SIM_T_END;
    r->lex.length = 0;
}

void sim_reader_expected(sim_reader *r, const char *what)
{
    const sim_lexer *lex = &r->lex;
    int shown = (int)(lex->at - lex->start < 40 ? lex->at - lex->start : 40);
    if (lex->kind == SIM_T_END)
        sim_reader_fail(r, lex->start, SIM_INVALID_ARGUMENT, "expected %s, but the text ends",
                        what);
    else
        sim_reader_fail(r, lex->start, SIM_INVALID_ARGUMENT, "expected %s, found '%.*s'", what,
                        shown, lex->start);
}

/* ---- tokens ----------------------------------------------------------------------------- */

bool sim_accept(sim_reader *r, int kind)
{
    if (r->lex.kind != kind)
        return false;
    sim_next(r);
    return true;
}

bool sim_accept_word(sim_reader *r, const char *text)
{
    if (r->lex.kind != SIM_T_WORD || !sim_lex_reads(&r->lex, text))
        return false;
    sim_next(r);
    return true;
}

bool sim_expect(sim_reader *r, int kind, const char *what)
{
    if (sim_accept(r, kind))
        return true;
    sim_reader_expected(r, what);
    return false;
}

/* ---- values and names ------------------------------------------------------------------ */

int sim_reader_values(sim_reader *r, const sim_type *types, int count)
{
    const size_t first = r->types.count;
    sim_room(&r->types, (size_t)count);
    if (count)
        memcpy(r->types.items + first, types, (size_t)count * sizeof *types);
    r->types.count += (size_t)count;
    return (int)first;
}

/* FNV-1a, then mixed so that the low bits depend on all. */
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* Twice as many chains, or the first ones. Their number is a power of two. */
static void grow_buckets(sim_reader *r)
{
    bn_grow(&r->buckets, r->bucket_count + 1, &r->bucket_count, sizeof *r->buckets);
    memset(r->buckets, 0xff, r->bucket_count * sizeof *r->buckets);
    for (size_t i = 0; i < r->names.count; i++) {
        sim_name *name = &r->names.items[i];
        int *head = &r->buckets[name->hash & (r->bucket_count - 1)];
        name->next = *head;
        *head = (int)i;
    }
}

static const sim_name *find_name(const sim_reader *r, const char *text, size_t length,
                                 uint64_t hash)
{
    const sim_name *names = r->names.items;
    if (!r->bucket_count)
        return NULL;
    for (int i = r->buckets[hash & (r->bucket_count - 1)]; i >= 0; i = names[i].next)
        if (names[i].hash == hash && names[i].length == length &&
            memcmp(names[i].text, text, length) == 0)
            return &names[i];
    return NULL;
}

void sim_names_define(sim_reader *r, const sim_label *label, int first)
{
    uint64_t hash = hash_of(label->text, label->length);
    if (find_name(r, label->text, label->length, hash)) {
        sim_reader_fail(r, label->at, SIM_INVALID_ARGUMENT, "%%%.*s is defined twice",
                        (int)(label->length < 60 ? label->length : 60), label->text);
        return;
    }
    if (r->names.count >= r->bucket_count)
        grow_buckets(r);
    int *head = &r->buckets[hash & (r->bucket_count - 1)];
    sim_push(&r->names, (sim_name){label->text, label->length, hash, first, label->count, *head});
    *head = (int)(r->names.count - 1);
}

int sim_names_value(sim_reader *r)
{
    const sim_lexer *lex = &r->lex;
    if (lex->kind != SIM_T_VALUE) {
        sim_reader_expected(r, "a value");
        return -1;
    }
    int shown = (int)(lex->length < 60 ? lex->length : 60);
    const sim_name *name = find_name(r, lex->token, lex->length, hash_of(lex->token, lex->length));
    if (!name) {
        sim_reader_fail(r, lex->start, SIM_INVALID_ARGUMENT, "%%%.*s is not defined here", shown,
                        lex->token);
        return -1;
    }
    int64_t index = lex->index < 0 ? 0 : lex->index;
    if (index >= name->count || (lex->index < 0 && name->count != 1)) {
        sim_reader_fail(r, lex->start, SIM_INVALID_ARGUMENT,
                        "%%%.*s has %d results, and none is number %lld", shown, lex->token,
                        name->count, (long long)index);
        return -1;
    }
    int value = name->first + (int)index;
    sim_next(r);
    return value;
}

void sim_names_forget(sim_reader *r, size_t mark)
{
    const sim_name *names = r->names.items;
    while (r->names.count > mark) {
        const sim_name *name = &names[--r->names.count];
        r->buckets[name->hash & (r->bucket_count - 1)] = name->next;
    }
}
