/*
 * suite_expand.c - matrices to experiments. A matrix with its defaults is a set
 * of options, one for each runtime, and the combinations of their lists are
 * found as for bench run.
 */
#include "harness/campaign/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the expansion works on. */
typedef struct expansion {
    suite_spec *suite;
    const cli_options *command; /* the command line's */
    char at[SUITE_POINTER_TEXT];  /* of the matrix or include */
    const json_t *exclude;     /* list, or NULL */
    int repetitions;
} expansion;

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the experiments of a suite");
}

/* TEXT's contents as long as the suite lives; NULL without memory. Frees TEXT. */
static const char *keep_text(suite_spec *suite, bn_text *text)
{
    const char *kept = text->failed ? NULL : bn_arena_strdup(suite->arena, text->data);
    bn_text_free(text);
    return kept;
}

/* A list, or one value, as words with commas between. */
static const char *words_of(suite_spec *suite, const json_t *value)
{
    bn_text text = {0};
    const size_t n = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        /* One "all" makes the rest needless. */
        if (json_is_string(one) && strcmp(json_string_value(one), "all") == 0)
            bn_text_clear(&text);
        if (text.length && strcmp(text.data, "all") == 0)
            break;
        if (json_is_string(one))
            bn_text_printf(&text, "%s%s", text.length ? "," : "", json_string_value(one));
        else
            bn_text_printf(&text, "%s%lld", text.length ? "," : "",
                           (long long)json_integer_value(one));
    }
    return keep_text(suite, &text);
}

/* A path is meant from the suite's folder, so that it does not matter where bench is
 * started. */
static const char *runtime_path(suite_spec *suite, const char *name)
{
    const char *slash = strrchr(suite->source.file, '/');
    bn_text text = {0};
    if (strchr(name, '/') && name[0] != '/' && slash)
        bn_text_append(&text, suite->source.file, (size_t)(slash - suite->source.file) + 1);
    bn_text_puts(&text, name);
    return keep_text(suite, &text);
}

/* {"a": 1} to "a=1", ... at the end of LIST. */
static bn_code add_settings(suite_spec *suite, const json_t *settings, const char **list,
                            bn_status *st)
{
    const char *name;
    json_t *value;
    size_t n = 0;
    json_object_foreach((json_t *)(uintptr_t)settings, name, value)
    {
        bn_text text = {0};
        bn_text_printf(&text, "%s=", name);
        if (json_is_string(value))
            bn_text_puts(&text, json_string_value(value));
        else if (json_is_integer(value))
            bn_text_int(&text, json_integer_value(value));
        else if (json_is_real(value))
            bn_text_printf(&text, "%.17g", json_real_value(value));
        else
            bn_text_puts(&text, json_is_true(value) ? "true" : "false");
        list[n] = keep_text(suite, &text);
        if (!list[n++])
            return no_memory(st);
    }
    list[n] = NULL;
    return BN_OK;
}

static bn_code set_runtime(suite_spec *suite, const json_t *runtime, cli_options *o, bn_status *st)
{
    const json_t *label = json_object_get(runtime, "label");
    const json_t *name = json_is_object(runtime) ? json_object_get(runtime, "name") : runtime;
    if (!runtime)
        return BN_OK; /* the usual one */
    o->runtime = runtime_path(suite, json_string_value(name));
    if (!o->runtime)
        return no_memory(st);
    if (label)
        o->label = json_string_value(label);
    bn_code code = add_settings(suite, json_object_get(runtime, "options"), o->runtime_option, st);
    if (code == BN_OK)
        code = add_settings(suite, json_object_get(runtime, "xla_flags"), o->xla_flag, st);
    return code;
}

/* All members of OBJECT but the runtimes. */
static bn_code set_members(suite_spec *suite, const json_t *object, cli_options *o, bn_status *st)
{
    for (const suite_member *m = suite_members; m->name; m++) {
        const json_t *value = json_object_get(object, m->name);
        char *at = (char *)o + m->offset;
        if (!value || m->kind == SUITE_RUNTIMES)
            continue;
        if (m->kind == SUITE_NUMBER)
            *(int64_t *)at = json_integer_value(value);
        else if (m->kind == SUITE_REAL)
            *(double *)at = json_number_value(value);
        else if (m->kind == SUITE_TEXT)
            *(const char **)at = json_string_value(value);
        else if (!(*(const char **)at = words_of(suite, value)))
            return no_memory(st);
    }
    return BN_OK;
}

/* ---- excluding -------------------------------------------------------------------- */

static bool one_fits(suite_spec *suite, const suite_member *m, const json_t *want,
                     const json_t *have)
{
    const char *word = json_string_value(want);
    if (m->kind == SUITE_RUNTIMES) {
        if (json_is_object(want))
            word = json_string_value(json_object_get(want, "name"));
        const char *path = runtime_path(suite, word);
        return path && strcmp(path, json_string_value(have)) == 0;
    }
    return (word && strcmp(word, "all") == 0) || json_equal(want, have);
}

static bool member_fits(suite_spec *suite, const suite_member *m, const json_t *want,
                        const json_t *have)
{
    if (!json_is_array(want))
        return one_fits(suite, m, want, have);
    for (size_t i = 0; i < json_array_size(want); i++)
        if (one_fits(suite, m, json_array_get(want, i), have))
            return true;
    return false;
}

/* Whether one object of the list has a fitting value for each of its members. */
static bool excluded(const expansion *x, const res_experiment *what)
{
    json_t *have = res_experiment_to_json(what);
    bool found = false;
    for (size_t i = 0; i < json_array_size(x->exclude) && !found; i++) {
        const char *key;
        json_t *want;
        found = true;
        json_object_foreach(json_array_get(x->exclude, i), key, want)
        {
            const suite_member *m = suite_member_of(key);
            found =
                found && (!m || member_fits(x->suite, m, want, json_object_get(have, m->option)));
        }
    }
    json_decref(have);
    return found;
}

/* ---- items ------------------------------------------------------------------------- */

/* At most MOST bytes of TEXT, whole characters of UTF-8: titles go into JSON. */
static int whole_characters(const char *text, size_t most)
{
    size_t n = strnlen(text, most + 1);
    if (n > most)
        for (n = most; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;)
            n--;
    return (int)n;
}

static void title_of(suite_item *item)
{
    char title[512];
    job_experiment_title(&item->e, title, sizeof title);
    snprintf(item->title, sizeof item->title, "%.*s", whole_characters(title, 255), title);
    const size_t n = strlen(item->title);
    if (item->e.label[0])
        snprintf(item->title + n, sizeof item->title - n, " [%.*s]",
                 whole_characters(item->e.label, 60), item->e.label);
}

/* Each experiment stands once, however many matrices name it: with the most repetitions. */
static bn_code add_item(expansion *x, const job_experiment *e, bn_status *st)
{
    suite_spec *s = x->suite;
    suite_item item = {.e = *e, .resolved = e->what, .repetitions = x->repetitions};
    job_experiment_resolve(&item.resolved);
    for (size_t i = 0; i < s->count; i++) {
        if (memcmp(&s->items[i].resolved, &item.resolved, sizeof item.resolved) != 0)
            continue;
        if (s->items[i].repetitions < item.repetitions)
            s->items[i].repetitions = item.repetitions;
        return BN_OK;
    }
    if (s->count % 64 == 0) {
        suite_item *grown = realloc(s->items, (s->count + 64) * sizeof *grown);
        if (!grown)
            return no_memory(st);
        s->items = grown;
    }
    title_of(&item);
    s->items[s->count++] = item;
    return BN_OK;
}

static bn_code expand_options(expansion *x, const cli_options *o, bn_status *st)
{
    job_experiment *list = NULL;
    size_t count = 0;
    bn_status why = {.code = BN_OK};
    bn_code code = job_experiments_expand(o, &list, &count, &x->suite->notes, &why);
    if (code == BN_INVALID)
        suite_fail(&x->suite->source, x->at, false, st, "%s", why.message);
    else if (code != BN_OK)
        bn_fail(st, code, "%s", why.message);
    json_t *echo = cli_options_echo(CLI_CMD_RUN, o);
    json_array_append_new(x->suite->echoes, echo);
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        list[i].echo = echo;
        if (!excluded(x, &list[i].what))
            code = add_item(x, &list[i], st);
    }
    free(list);
    return code;
}

/* With --runtime, the command line's words are the runtime's. */
static bn_code expand_override(expansion *x, cli_options *o, bn_status *st)
{
    const cli_options *c = x->command;
    o->runtime = c->suite_runtime;
    memcpy(o->runtime_option, c->runtime_option, sizeof o->runtime_option);
    memcpy(o->xla_flag, c->xla_flag, sizeof o->xla_flag);
    o->label = c->label;
    return expand_options(x, o, st);
}

static bn_code expand_object(expansion *x, const json_t *object, bn_status *st)
{
    cli_options base;
    int words;
    const char *none[1];
    const json_t *runtimes = json_object_get(object, "runtimes");
    bn_code code = cli_options_parse(CLI_CMD_RUN, 0, NULL, &base, none, 0, &words, st);
    base.repetitions = 1;
    if (code == BN_OK)
        code = set_members(x->suite, object, &base, st);
    base.store = x->command->store;
    x->repetitions = (int)(x->command->repetitions ? x->command->repetitions : base.repetitions);
    if (code != BN_OK || x->command->suite_runtime)
        return code == BN_OK ? expand_override(x, &base, st) : code;
    const size_t n = json_is_array(runtimes) ? json_array_size(runtimes) : 1;
    for (size_t i = 0; i < n && code == BN_OK; i++) {
        cli_options o = base;
        if (x->command->label[0])
            o.label = x->command->label;
        code = set_runtime(
            x->suite, json_is_array(runtimes) ? json_array_get(runtimes, i) : runtimes, &o, st);
        if (code == BN_OK)
            code = expand_options(x, &o, st);
    }
    return code;
}

/* OVER's members in place of BASE's (new reference). */
static json_t *merged(const json_t *base, const json_t *over)
{
    json_t *object = base ? json_copy((json_t *)(uintptr_t)base) : json_object();
    json_object_update(object, (json_t *)(uintptr_t)over);
    return object;
}

static bn_code expand_matrix(expansion *x, const json_t *defaults, size_t index, bn_status *st)
{
    char at[SUITE_POINTER_TEXT];
    const json_t *matrix = json_array_get(json_object_get(x->suite->json, "matrix"), index);
    const json_t *includes = json_object_get(matrix, "include");
    json_t *whole = merged(defaults, matrix);
    suite_pointer_at(at, "/matrix", index);
    memcpy(x->at, at, sizeof at);
    x->exclude = json_object_get(matrix, "exclude");
    bn_code code = expand_object(x, whole, st);
    x->exclude = NULL;
    suite_pointer(at, at, "include");
    for (size_t i = 0; i < json_array_size(includes) && code == BN_OK; i++) {
        json_t *with = merged(whole, json_array_get(includes, i));
        suite_pointer_at(x->at, at, i);
        code = expand_object(x, with, st);
        json_decref(with);
    }
    json_decref(whole);
    return code;
}

bn_code suite_expand(suite_spec *suite, const cli_options *options, bn_status *st)
{
    expansion x = {.suite = suite, .command = options};
    const json_t *defaults = json_object_get(suite->json, "defaults");
    const size_t n = json_array_size(json_object_get(suite->json, "matrix"));
    bn_code code = BN_OK;
    if (!options->suite_runtime && (options->runtime_option[0] || options->xla_flag[0]))
        return bn_fail(st, BN_INVALID,
                       "--runtime-option and --xla-flag of a suite go with --runtime");
    if (options->repetitions > RES_MOST_REPETITIONS)
        return bn_fail(st, BN_INVALID, "--repetitions: %d at most", RES_MOST_REPETITIONS);
    suite->echoes = json_array();
    for (size_t i = 0; i < n && code == BN_OK; i++)
        code = expand_matrix(&x, defaults, i, st);
    if (code == BN_OK && suite->count == 0)
        code = suite_fail(&suite->source, "/matrix", false, st, "all of it is excluded");
    return code;
}
