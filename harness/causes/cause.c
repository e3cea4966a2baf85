/*
 * cause.c - why a graph was compiled where another one did the same part of an earlier step: by the
 * inputs of both, by the host's arguments to both steps, and by their texts.
 */
#define _GNU_SOURCE
#include "harness/causes/causes_priv.h"
#include "runtime/stablehlo/stablehlo.h"

#include <stdio.h>
#include <string.h>

#define MOST_WORDS 160 /* bytes of a difference in words */

/* ---- inputs -------------------------------------------------------------------------------- */

static const json_t *input_named(const cause_graph *g, const char *name)
{
    size_t i;
    const json_t *input;
    json_array_foreach(g->inputs, i,
                       input) if (strcmp(json_string_value(json_object_get(input, "name")), name) ==
                                  0) return input;
    return NULL;
}

/* The cause that an input is as NOW and was as WAS: the first dimension that differs, or the dtype.
 * Its place is where the step uses it first. */
static json_t *type_cause(const json_t *was, const json_t *now)
{
    const json_t *a = json_object_get(was, "dims"), *b = json_object_get(now, "dims");
    const bool dtype = !json_equal(json_object_get(was, "dtype"), json_object_get(now, "dtype"));
    const char *key = dtype ? "dtype" : "type";
    json_t *cause = json_pack("{ss sO sO sO sO}", "cause", dtype ? "dtype" : "shape", "subject",
                              json_object_get(now, "name"), "place", json_object_get(now, "place"),
                              "from", json_object_get(was, key), "to", json_object_get(now, key));
    size_t i = 0;
    if (dtype || json_array_size(a) != json_array_size(b))
        return cause;
    while (i + 1 < json_array_size(a) && json_equal(json_array_get(a, i), json_array_get(b, i)))
        i++;
    json_object_set_new(cause, "dimension", json_integer((json_int_t)i));
    json_object_set(cause, "from", json_array_get(a, i));
    json_object_set(cause, "to", json_array_get(b, i));
    return cause;
}

/* The first input whose type differs, and how many others do; NULL: none does. */
static json_t *inputs_cause(const cause_graph *was, const cause_graph *now)
{
    json_t *cause = NULL;
    json_int_t others = 0;
    size_t i;
    const json_t *input;
    json_array_foreach(now->inputs, i, input)
    {
        const char *name = json_string_value(json_object_get(input, "name"));
        const json_t *before = *name ? input_named(was, name) : NULL;
        if (!before || json_equal(json_object_get(before, "type"), json_object_get(input, "type")))
            continue;
        others += cause != NULL;
        cause = cause ? cause : type_cause(before, input);
    }
    if (cause)
        json_object_set_new(cause, "others", json_integer(others));
    return cause;
}

/* ---- arguments and reads of the host --------------------------------------------------------- */

/* The first argument of the host that differs; NULL: none does. */
static json_t *argument_cause(const cause_state *s, const cause_graph *was,
                              const cause_graph *now)
{
    const size_t bytes = s->call->static_bytes;
    const char *a = was->statics, *b = now->statics, *name;
    double from, to;
    size_t at = 0;
    while (a && b && at < bytes && a[at] == b[at])
        at++;
    if (!a || !b || at == bytes || !model_static_value(s->instance, a, at, &name, &from) ||
        !model_static_value(s->instance, b, at, &name, &to))
        return NULL;
    json_t *cause = json_pack("{ss ss}", "cause", "argument", "subject", name);
    json_object_set_new(cause, "from", cause_real_json(from));
    json_object_set_new(cause, "to", cause_real_json(to));
    return cause;
}

/* The first value that was read before both graphs and differs; NULL: none does. */
static json_t *branch_cause(const cause_graph *was, const cause_graph *now)
{
    const char *where;
    json_t *read;
    json_object_foreach(now->reads, where, read)
    {
        const json_t *from = json_object_get(json_object_get(was->reads, where), "value");
        const json_t *to = json_object_get(read, "value");
        if (from && !json_equal(from, to))
            return json_pack("{ss sO sO sO sO}", "cause", "branch", "place",
                             json_object_get(read, "place"), "scope",
                             json_object_get(read, "scope"), "from", from, "to", to);
    }
    return NULL;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* The value in "dense<...>" of a constant's statement (new reference). */
static json_t *constant_json(shlo_piece text)
{
    static const char mark[] = "dense<";
    const char *at = memmem(text.at, text.length, mark, sizeof mark - 1);
    const char *end = at ? memchr(at, '>', (size_t)(text.at + text.length - at)) : NULL;
    double value;
    bn_text out = {0};
    if (!end)
        return json_null();
    at += sizeof mark - 1;
    bn_text_append(&out, at, (size_t)(end - at));
    /* A float as short as it was written in the source. */
    if (out.data && sscanf(out.data, "%lf", &value) == 1 && strchr(out.data, '.')) {
        bn_text_clear(&out);
        cause_put_real(value, &out);
    }
    return cause_text_json(&out);
}

/* Adds the place of the first difference that has one: arguments of the function have none. */
static void add_place(const cause_graph *was, const cause_graph *now, const shlo_diff *d,
                      json_t *cause)
{
    for (size_t i = 0; i < d->count && !json_object_get(cause, "place"); i++) {
        const shlo_difference *one = &d->list[i];
        if (one->b != SHLO_NONE)
            cause_read_place(now->text, now->length, d->b->nodes[one->b].line, cause);
        else
            cause_read_place(was->text, was->length, d->a->nodes[one->a].line, cause);
    }
}

static json_t *ops_cause(const shlo_diff *d, const shlo_difference *one)
{
    bn_text words = {0};
    shlo_difference_put(d, one, &words);
    if (words.data && words.length > MOST_WORDS)
        words.data[bn_utf8_fit(words.data, MOST_WORDS)] = '\0';
    return json_pack("{ss so}", "cause", "ops", "words", cause_text_json(&words));
}

/* The first difference, unless a constant differs and nothing else: then that one. */
static json_t *diff_cause(const cause_state *s, const cause_graph *was,
                          const cause_graph *now, const shlo_diff *d)
{
    if (d->count == 0)
        return json_pack("{ss}", "cause", "same");
    const shlo_difference *one = &d->list[0];
    const bool constants = d->because[SHLO_WHY_CONSTANT] == d->count;
    json_t *argument = argument_cause(s, was, now), *cause = NULL;
    if (constants) {
        cause = json_pack("{ss so so}", "cause", "scalar", "from",
                          constant_json(d->a->nodes[one->a].text), "to",
                          constant_json(d->b->nodes[one->b].text));
        json_object_set(cause, "subject", json_object_get(argument, "subject"));
        json_decref(argument);
    } else {
        cause = argument ? argument : branch_cause(was, now);
    }
    cause = cause ? cause : ops_cause(d, one);
    add_place(was, now, d, cause);
    return cause;
}

static json_t *texts_cause(const cause_state *s, const cause_graph *was,
                           const cause_graph *now)
{
    bn_status st = {.code = BN_OK};
    shlo_graph *a = NULL, *b = NULL;
    shlo_diff *diff = NULL;
    json_t *cause = NULL;
    bn_code code = shlo_graph_read(was->text, was->length, &a, &st);
    if (code == BN_OK)
        code = shlo_graph_read(now->text, now->length, &b, &st);
    if (code == BN_OK)
        code = shlo_diff_make(a, b, &diff, &st);
    cause = code == BN_OK ? diff_cause(s, was, now, diff)
                          : json_pack("{ss ss}", "cause", "ops", "words", st.message);
    shlo_diff_free(diff);
    shlo_graph_free(a);
    shlo_graph_free(b);
    return cause;
}

json_t *cause_of(const cause_state *s, const cause_graph *was, const cause_graph *now)
{
    if (!was)
        return json_pack("{ss}", "cause", "new");
    json_t *cause = inputs_cause(was, now);
    return cause ? cause : texts_cause(s, was, now);
}
