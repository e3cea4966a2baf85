/*
 * suite_expand.c - matrices to experiments. A matrix of the file, with the defaults, becomes a
 * job_matrix for each runtime, which is expanded as for bench run.
 */
#include "harness/campaign/suites_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A suite that is being expanded. */
typedef struct expansion {
    suite_spec *suite;
    const suite_options *command; /* the command line's */
    char at[SUITE_POINTER_TEXT];  /* of the matrix or include */
    const json_t *exclude;        /* list, or NULL */
    int repetitions;
} expansion;

/* A copy of TEXT that lives as long as the suite. Frees TEXT. */
static const char *keep_text(suite_spec *suite, bn_text *text)
{
    const char *kept = bn_arena_strdup(suite->arena, text->data);
    bn_text_free(text);
    return kept;
}

/* Sets AXIS of MATRIX to VALUE, a list of values or one of them. */
static void set_axis(const res_axis *axis, const json_t *value, job_matrix *matrix)
{
    cli_list *list = &matrix->axis[axis->id];
    const size_t n = json_is_array(value) ? json_array_size(value) : 1;
    list->count = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        const char *word = json_string_value(one);
        /* "all" stands for the rest, too. */
        if (word && strcmp(word, "all") == 0) {
            cli_list_set(list, word);
            return;
        }
        list->value[list->count++] = (cli_value){word, json_integer_value(one)};
    }
}

/* PATH, which is relative to the suite's folder, so that it does not matter where bench is started;
 */
static const char *path_from_suite(suite_spec *suite, const char *path)
{
    const char *slash = strrchr(suite->source.file, '/');
    bn_text text = {0};
    if (path[0] != '/' && slash)
        bn_text_append(&text, suite->source.file, (size_t)(slash - suite->source.file) + 1);
    bn_text_puts(&text, path);
    return keep_text(suite, &text);
}

/* NAME, or its path. */
static const char *runtime_path(suite_spec *suite, const char *name)
{
    return strchr(name, '/') ? path_from_suite(suite, name) : bn_arena_strdup(suite->arena, name);
}

/* Fills LIST from {"a": 1, ...}: "a=1", ... */
static void add_settings(suite_spec *suite, const json_t *settings, const char **list)
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
        list[n++] = keep_text(suite, &text);
    }
    list[n] = NULL;
}

/* Makes RUNTIME, with its label, options and flags, the one runtime of M. */
static void set_runtime(suite_spec *suite, const json_t *runtime, job_matrix *m)
{
    const json_t *label = json_object_get(runtime, "label");
    const json_t *name = json_is_object(runtime) ? json_object_get(runtime, "name") : runtime;
    if (!runtime)
        return; /* the usual one */
    const char *path = runtime_path(suite, json_string_value(name));
    job_matrix_set(m, RES_AXIS_RUNTIME, path);
    if (label)
        m->how.label = json_string_value(label);
    add_settings(suite, json_object_get(runtime, "options"), m->how.runtime_option);
    add_settings(suite, json_object_get(runtime, "xla_flags"), m->how.xla_flag);
}

/* WORDS of VALUE, a list of texts or one of them; they live as long as the suite. */
static void set_words(suite_spec *suite, const json_t *value, cli_words *words)
{
    const size_t n = json_is_array(value) ? json_array_size(value) : 1;
    const char **list = bn_arena_alloc(suite->arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
    list[n] = NULL;
    *words = (cli_words){n, list};
}

/* Sets all members of OBJECT but the runtimes. */
static void set_members(suite_spec *suite, const json_t *object, suite_measure *measure)
{
    suite_member m;
    for (size_t i = 0; suite_member_at(i, &m); i++) {
        const json_t *value = json_object_get(object, m.name);
        char *at = (char *)measure + m.offset;
        if (!value || (m.axis && m.axis->id == RES_AXIS_RUNTIME))
            continue;
        if (m.kind == SUITE_NUMBER)
            *(int64_t *)(void *)at = json_integer_value(value);
        else if (m.kind == SUITE_SPAN)
            (void)suite_seconds(value, (double *)(void *)at);
        else if (m.kind == SUITE_TEXT)
            *(const char **)(void *)at = json_string_value(value);
        else if (m.kind == SUITE_AXIS)
            set_axis(m.axis, value, &measure->matrix);
        else
            set_words(suite, value, (cli_words *)(void *)at);
    }
}

/* ---- excluding -------------------------------------------------------------------- */

static bool one_fits(suite_spec *suite, const suite_member *m, const json_t *want,
                     const json_t *have)
{
    const char *word = json_string_value(want);
    if (m->axis->id == RES_AXIS_RUNTIME) {
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
            suite_member m;
            if (suite_member_of(key, &m))
                found = found && member_fits(x->suite, &m, want, json_object_get(have, m.option));
        }
    }
    json_decref(have);
    return found;
}

/* ---- items ------------------------------------------------------------------------- */

static void title_of(suite_item *item)
{
    char title[512];
    job_experiment_title(&item->e, title, sizeof title);
    snprintf(item->title, sizeof item->title, "%.*s", (int)bn_utf8_fit(title, 255), title);
    const size_t n = strlen(item->title);
    if (item->e.how.label[0])
        snprintf(item->title + n, sizeof item->title - n, " [%.*s]",
                 (int)bn_utf8_fit(item->e.how.label, 60), item->e.how.label);
}

/* Adds E. An experiment that several matrices name is one item, with the most repetitions. */
static void add_item(expansion *x, const job_experiment *e)
{
    suite_spec *s = x->suite;
    suite_item item = {.e = *e, .repetitions = x->repetitions};
    job_experiment_resolve(e, &item.resolved);
    for (size_t i = 0; i < s->count; i++) {
        if (memcmp(&s->items[i].resolved, &item.resolved, sizeof item.resolved) != 0)
            continue;
        if (s->items[i].repetitions < item.repetitions)
            s->items[i].repetitions = item.repetitions;
        return;
    }
    bn_grow(&s->items, s->count + 1, &s->capacity, sizeof *s->items);
    title_of(&item);
    s->items[s->count++] = item;
}

/* Fails for WHY, at the place of the matrix. */
static bn_code fail_here(const expansion *x, const bn_status *why, bn_status *st)
{
    const suite_text *source = &x->suite->source;
    if (why->code == BN_INVALID)
        return suite_fail(source, x->at, false, st, "%s", why->message);
    return bn_fail(st, why->code, "%s: %s: %s", source->file, x->at, why->message);
}

static bn_code expand_one(expansion *x, job_matrix *m, bn_status *st)
{
    job_experiment *list = NULL;
    size_t count = 0;
    bn_status why = {.code = BN_OK};
    m->echo = job_matrix_echo(m);
    json_array_append_new(x->suite->echoes, m->echo);
    bn_code code = job_matrix_expand(m, &list, &count, &x->suite->notes, &why);
    if (code != BN_OK)
        fail_here(x, &why, st);
    for (size_t i = 0; i < count && code == BN_OK; i++)
        if (!excluded(x, &list[i].what))
            add_item(x, &list[i]);
    free(list);
    return code;
}

/* With --runtime, options, flags and label come from the command line alone. */
static bn_code expand_override(expansion *x, job_matrix *m, bn_status *st)
{
    const suite_options *c = x->command;
    m->axis[RES_AXIS_RUNTIME] = c->runtimes;
    memcpy(m->how.runtime_option, c->runtime_option, sizeof m->how.runtime_option);
    memcpy(m->how.xla_flag, c->xla_flag, sizeof m->how.xla_flag);
    m->how.label = c->label;
    return expand_one(x, m, st);
}

/* MEASURE is of OBJECT; another matrix is made of its own for each runtime. */
static bn_code expand_runtimes(expansion *x, const json_t *object, const suite_measure *measure,
                               bn_status *st)
{
    const json_t *runtimes = json_object_get(object, "runtimes");
    const size_t n = json_is_array(runtimes) ? json_array_size(runtimes) : 1;
    bn_code code = BN_OK;
    for (size_t i = 0; i < n && code == BN_OK; i++) {
        job_matrix m = measure->matrix;
        if (x->command->label[0])
            m.how.label = x->command->label;
        set_runtime(x->suite, json_is_array(runtimes) ? json_array_get(runtimes, i) : runtimes, &m);
        code = expand_one(x, &m, st);
    }
    return code;
}

/* Reads the recording or the program that M names, if it names one, for all runtimes. */
static bn_code read_work(expansion *x, job_matrix *m, bn_status *st)
{
    bn_status why = {.code = BN_OK};
    struct stat info;
    const bool program = m->program != NULL;
    const char **path = program ? &m->program : &m->recorded.folder;
    if (!*path)
        return BN_OK;
    *path = path_from_suite(x->suite, *path);
    if (stat(*path, &info) != 0 || S_ISDIR(info.st_mode) == program)
        return suite_fail(&x->suite->source, x->at, false, st, "%s %s: no such %s",
                          program ? SUITE_PROGRAM : SUITE_RECORDING, *path,
                          program ? "file" : "folder");
    bn_code code = job_matrix_request(m, &m->request, &why);
    if (m->request)
        json_array_append_new(x->suite->requests, m->request);
    return code == BN_OK ? BN_OK : fail_here(x, &why, st);
}

static bn_code expand_object(expansion *x, const json_t *object, bn_status *st)
{
    const suite_options *c = x->command;
    suite_measure *base = bn_zalloc(1, sizeof *base); /* large, as are those of our callees */
    job_matrix_usual(&base->matrix, x->suite->arena);
    base->repetitions = SUITE_USUAL_REPETITIONS;
    /* A recorded step runs in all of its modes unless the matrix names some. */
    if (json_object_get(object, SUITE_RECORDING))
        base->matrix.axis[RES_AXIS_MODE].count = 0;
    set_members(x->suite, object, base);
    base->matrix.how.store = c->store;
    x->repetitions = (int)(c->repetitions ? c->repetitions : base->repetitions);
    bn_code code = read_work(x, &base->matrix, st);
    if (code == BN_OK)
        code = c->runtimes.count ? expand_override(x, &base->matrix, st)
                                 : expand_runtimes(x, object, base, st);
    free(base);
    return code;
}

/* BASE with OVER's members in place of its own (new reference). */
static json_t *merged(const json_t *base, const json_t *over)
{
    json_t *object = base ? json_copy((json_t *)(uintptr_t)base) : json_object();
    json_object_update(object, (json_t *)(uintptr_t)over);
    return object;
}

/* DEFAULTS for a matrix that runs WORK (new reference), without what they say of models: that is no
 * mistake together with a recording or a program. */
static json_t *defaults_for(const char *work, const json_t *defaults)
{
    json_t *rest = merged(NULL, defaults);
    for (int i = 0; work && i < RES_AXIS_COUNT; i++)
        if (res_axes[i].suite && (i == RES_AXIS_MODE || !suite_work_has(work, (res_axis_id)i)))
            json_object_del(rest, res_axes[i].suite);
    return rest;
}

static bn_code expand_matrix(expansion *x, const json_t *all, size_t index, bn_status *st)
{
    char at[SUITE_POINTER_TEXT];
    const json_t *matrix = json_array_get(json_object_get(x->suite->json, "matrix"), index);
    const json_t *includes = json_object_get(matrix, "include");
    json_t *defaults = defaults_for(suite_work_of(matrix), all);
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
    json_decref(defaults);
    return code;
}

bn_code suite_expand(suite_spec *suite, const suite_options *options, bn_status *st)
{
    expansion x = {.suite = suite, .command = options};
    const json_t *defaults = json_object_get(suite->json, "defaults");
    const size_t n = json_array_size(json_object_get(suite->json, "matrix"));
    bn_code code = BN_OK;
    if (!options->runtimes.count && (options->runtime_option[0] || options->xla_flag[0]))
        return bn_fail(st, BN_INVALID,
                       "--runtime-option and --xla-flag of a suite go with --runtime");
    if (options->repetitions > RES_MOST_REPETITIONS)
        return bn_fail(st, BN_INVALID, "--repetitions: %d at most", RES_MOST_REPETITIONS);
    suite->echoes = json_array();
    suite->requests = json_array();
    for (size_t i = 0; i < n && code == BN_OK; i++)
        code = expand_matrix(&x, defaults, i, st);
    if (code == BN_OK && suite->count == 0)
        code = suite_fail(&suite->source, "/matrix", false, st, "all of it is excluded");
    return code;
}
