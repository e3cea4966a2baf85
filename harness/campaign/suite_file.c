/*
 * suite_file.c - a suite's file is found, read, and checked member by member, before anything is
 * made of it. docs/suites.md describes the format.
 */
#define _GNU_SOURCE
#include "harness/campaign/suites_priv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member)   offsetof(suite_measure, member)
#define RUNTIME_NAME 255 /* the longest that a record can hold */
#define MOST_WORDS   100000
#define NO_MEMBER    "there is no such member here"

/* Members that replace models, and repetitions: the same for all experiments of a matrix. */
static const suite_member measures[] = {
    {"repetitions", SUITE_NUMBER, NULL, "repetitions", AT(repetitions), .least = 1,
     .most = RES_MOST_REPETITIONS},
    {SUITE_RECORDING, SUITE_TEXT, NULL, SUITE_RECORDING, AT(matrix.recorded.folder),
     .with = SUITE_RECORDING},
    {"process", SUITE_NUMBER, NULL, "process", AT(matrix.recorded.process), .most = UINT32_MAX,
     .with = SUITE_RECORDING},
    {"step_program", SUITE_TEXT, NULL, "step_program", AT(matrix.recorded.step_program),
     .with = SUITE_RECORDING},
    {"cost", SUITE_TEXT, NULL, "cost", AT(matrix.recorded.cost), .words = JOB_COSTS,
     .with = SUITE_RECORDING},
    {"name", SUITE_TEXT, NULL, "name", AT(matrix.recorded.name), .with = SUITE_RECORDING},
    {"step", SUITE_TEXT, NULL, "step", AT(matrix.recorded.digest), .with = SUITE_RECORDING},
    {SUITE_PROGRAM, SUITE_TEXT, NULL, SUITE_PROGRAM, AT(matrix.program), .with = SUITE_PROGRAM},
    {"arguments", SUITE_WORDS, NULL, "argument", AT(matrix.types), .with = SUITE_PROGRAM},
};
#define MEASURE_COUNT (sizeof measures / sizeof *measures)

/* The member of suites that row ID of job_measure_table is. */
static suite_member measure_member(job_measure_id id)
{
    const cli_option *row = &job_measure_table()->rows[id];
    return (suite_member){.name = job_measure_suite(id),
                          .kind = row->kind == CLI_NUMBER ? SUITE_NUMBER
                                  : row->kind == CLI_SPAN ? SUITE_SPAN
                                                          : SUITE_TEXT,
                          .option = job_measure_suite(id),
                          .offset = AT(matrix.how) + row->offset,
                          .least = row->least,
                          .most = row->kind == CLI_TEXT ? 0 : 1e9,
                          .words = row->open ? NULL : row->choices};
}

bool suite_member_at(size_t index, suite_member *member)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (!axis->suite || index-- > 0)
            continue;
        *member = (suite_member){.name = axis->suite,
                                 .kind = SUITE_AXIS,
                                 .axis = axis,
                                 .option = axis->field.name,
                                 .least = axis->least,
                                 .most = axis->most};
        return true;
    }
    for (int i = 0; i < JOB_MEASURE_COUNT; i++) {
        if (!job_measure_suite((job_measure_id)i)[0] || index-- > 0)
            continue;
        *member = measure_member((job_measure_id)i);
        return true;
    }
    if (index < MEASURE_COUNT)
        *member = measures[index];
    return index < MEASURE_COUNT;
}

bool suite_member_of(const char *name, suite_member *member)
{
    size_t i = 0;
    while (suite_member_at(i, member) && strcmp(member->name, name) != 0)
        i++;
    return suite_member_at(i, member);
}

const char *suite_work_of(const json_t *matrix)
{
    if (json_object_get(matrix, SUITE_RECORDING))
        return SUITE_RECORDING;
    return json_object_get(matrix, SUITE_PROGRAM) ? SUITE_PROGRAM : NULL;
}

bool suite_work_has(const char *work, res_axis_id axis)
{
    return strcmp(work, SUITE_PROGRAM) == 0 ? job_axis_of_programs(axis) : job_axis_of_steps(axis);
}

/* ---- finding -------------------------------------------------------------------- */

/* WORD is none of the suites that come with bench. */
static bn_code refuse_suite(const char *word, bn_status *st)
{
    bn_near near = bn_near_begin(word);
    bn_near_choices(&near, SUITE_NAMES);
    return bn_fail_meant(
        st, BN_INVALID,
        (bn_meant){bn_near_best(&near),
                   "These come with bench: " SUITE_NAMES ". Give a file of your own as a path", ""},
        "there is no suite %s", word);
}

/* Looks for the suite WORD next to the program; files of other users go into PASSED. BN_NOT_FOUND
 * without words. */
static bn_code find_own(const char *word, char *path, size_t size, bn_text *passed, bn_status *st)
{
    static const char *const places[] = {"../suites", "../share/bench/suites"};
    char self[PATH_MAX];
    bn_own_folder(self, sizeof self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char folder[PATH_MAX + 32];
        snprintf(folder, sizeof folder, "%s/%s", self, places[i]);
        snprintf(path, size, "%s/%s.json", folder, word);
        /* A suite names plugins, which are run. */
        const bn_code code = bn_own_file(folder, bn_base_name(path), passed, st);
        if (code == BN_INVALID || (code == BN_OK && access(path, R_OK) == 0))
            return code;
    }
    return BN_NOT_FOUND;
}

bn_code suite_find(const char *word, char *path, size_t size, bn_status *st)
{
    const char *dot = strrchr(word, '.');
    bn_text passed = {0};
    if (strchr(word, '/') || (dot && strcmp(dot, ".json") == 0)) {
        if (access(word, R_OK) != 0)
            return bn_fail(st, BN_NOT_FOUND, "suite %s: no such file, or it cannot be read", word);
        snprintf(path, size, "%s", word);
        return BN_OK;
    }
    bn_code code = find_own(word, path, size, &passed, st);
    if (code == BN_NOT_FOUND && passed.length > 0)
        code = bn_fail(st, BN_INVALID, "suite %s is passed over: %s", word, passed.data);
    else if (code == BN_NOT_FOUND)
        code = refuse_suite(word, st);
    bn_text_free(&passed);
    return code;
}

/* ---- checking ------------------------------------------------------------------- */

/* A value's description for a message: "the text 'x'", "the number 3", "a list". */
static const char *shown(const json_t *value, char text[128])
{
    static const char *const names[] = {"an object", "a list", "text",  "a number",
                                        "a number",  "true",   "false", "null"};
    if (json_is_string(value))
        snprintf(text, 128, "the text '%.*s'", BN_FIT(json_string_value(value), 90));
    else if (json_is_integer(value))
        snprintf(text, 128, "the number %lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, 128, "the number %g", json_real_value(value));
    else
        snprintf(text, 128, "%s", names[json_typeof(value)]);
    return text;
}

/* suite_fail with WHAT is wrong at AT: with the value, or with KEY with its name. MEANT is the
 * suggestion. */
static bn_code refuse(const suite_text *s, const char *at, bool key, const char *what,
                      bn_meant meant, bn_status *st)
{
    char behind[768];
    bn_meant_put(meant, behind, sizeof behind);
    return suite_fail(s, at, key, st, "%s%s", what, behind);
}

/* refuse of an unknown member KEY; LIST, "a, b", are the known ones, and REST is as in bn_meant. */
static bn_code refuse_member(const suite_text *s, const char *at, const char *what, const char *key,
                             const char *rest, const char *list, bn_status *st)
{
    bn_near near = bn_near_begin(key);
    bn_near_choices(&near, list);
    return refuse(s, at, true, what, (bn_meant){bn_near_best(&near), rest, list}, st);
}

/* refuse of VALUE, which member M does not take. */
static bn_code refuse_value(const suite_text *s, const char *at, const suite_member *m,
                            const json_t *value, bn_meant meant, bn_status *st)
{
    char text[128], what[RES_TEXT + 160];
    snprintf(what, sizeof what, "there is no such %s as %s", m->option, shown(value, text));
    return refuse(s, at, false, what, meant, st);
}

static bn_code check_word(const suite_text *s, const char *at, const suite_member *m,
                          const json_t *value, bn_status *st)
{
    const char *word = json_string_value(value);
    bn_text known = {0};
    char text[128], meant[RES_TEXT] = "";
    if (word && m->axis->all && strcmp(word, "all") == 0)
        return BN_OK;
    if (!word && m->axis->single)
        return suite_fail(s, at, false, st, "text is needed, not %s", shown(value, text));
    /* Which of both kinds of modes it may be depends on the matrix. */
    const bool taken = job_axis_takes(m->axis->id, word ? word : "", &known) ||
                       (word && m->axis->id == RES_AXIS_MODE && job_mode_of_steps(word));
    const bool near = !taken && word && job_axis_meant(m->axis->id, word, meant);
    const char *list = known.data;
    bn_code code = BN_OK;
    if (!taken)
        code = refuse_value(s, at, m, value, (bn_meant){near ? meant : NULL, "There is", list}, st);
    bn_text_free(&known);
    return code;
}

static bn_code check_number(const suite_text *s, const char *at, const suite_member *m,
                            const json_t *value, bn_status *st)
{
    const double n = json_number_value(value);
    char text[128];
    if (!json_is_integer(value) || !(n >= m->least && n <= m->most))
        return suite_fail(s, at, false, st, "a whole number from %.0f to %.0f is needed, not %s",
                          m->least, m->most, shown(value, text));
    /* Not all numbers in the range need be values of the axis. */
    bn_text known = {0};
    snprintf(text, sizeof text, "%lld", (long long)n);
    const bool taken = !m->axis || job_axis_takes(m->axis->id, text, &known);
    char *last = known.data ? strrchr(known.data, ',') : NULL;
    bn_code code = taken ? BN_OK
                         : suite_fail(s, at, false, st, "it takes %.*s or%s %s, not %s",
                                      last ? (int)(last - known.data) : 0, last ? known.data : "",
                                      last ? last + 1 : " others", m->option, text);
    bn_text_free(&known);
    return code;
}

bool suite_seconds(const json_t *value, double *seconds)
{
    *seconds = json_number_value(value);
    return json_is_number(value) ||
           (json_is_string(value) && cli_span_read(json_string_value(value), 1, seconds));
}

static bn_code check_span(const suite_text *s, const char *at, const suite_member *m,
                          const json_t *value, bn_status *st)
{
    double seconds;
    char text[128];
    if (suite_seconds(value, &seconds) && seconds >= m->least && seconds <= m->most)
        return BN_OK;
    return suite_fail(s, at, false, st,
                      "a time is needed, \"500ms\", \"90s\" or a number of seconds from %.0f to "
                      "%.0f, not %s",
                      m->least, m->most, shown(value, text));
}

static bn_code check_text(const suite_text *s, const char *at, const suite_member *m,
                          const json_t *value, bn_status *st)
{
    char text[128];
    const char *word = json_string_value(value);
    if (!word)
        return suite_fail(s, at, false, st, "text is needed, not %s", shown(value, text));
    if (!m->words || bn_is_choice(word, m->words))
        return BN_OK;
    bn_near near = bn_near_begin(word);
    bn_near_choices(&near, m->words);
    return refuse_value(s, at, m, value, (bn_meant){bn_near_best(&near), "It is one of", m->words},
                        st);
}

/* {"NAME": VALUE, ...} for a runtime's options or the compiler's. */
static bn_code check_settings(const suite_text *s, const char *at, const json_t *settings,
                              bn_status *st)
{
    const char *name;
    json_t *value;
    char inner[SUITE_POINTER_TEXT], text[128];
    if (!json_is_object(settings))
        return suite_fail(s, at, false, st, "an object {\"NAME\": VALUE} is needed, not %s",
                          shown(settings, text));
    if (json_object_size(settings) > CLI_MAX_REPEATS)
        return suite_fail(s, at, false, st, "%zu are too many; %d can be given",
                          json_object_size(settings), CLI_MAX_REPEATS);
    json_object_foreach((json_t *)(uintptr_t)settings, name, value)
    {
        suite_pointer(inner, at, name);
        if (!name[0] || strchr(name, '='))
            return suite_fail(s, inner, true, st,
                              "the name of an option is not empty and has no '='");
        if (!json_is_string(value) && !json_is_number(value) && !json_is_boolean(value))
            return suite_fail(s, inner, false, st,
                              "text, a number, true or false is needed, not %s",
                              shown(value, text));
    }
    return BN_OK;
}

static bn_code check_runtime_name(const suite_text *s, const char *at, const json_t *value,
                                  bn_status *st)
{
    char text[128];
    const char *name = json_string_value(value);
    if (!name || !name[0])
        return suite_fail(s, at, false, st,
                          "a runtime's name (bench list runtimes) or path is needed, not %s",
                          shown(value, text));
    if (strchr(name, ',') || strlen(name) > RUNTIME_NAME)
        return suite_fail(s, at, false, st, "a runtime's path has at most %d bytes and no comma",
                          RUNTIME_NAME);
    return BN_OK;
}

static bn_code check_runtime(const suite_text *s, const char *at, const json_t *value,
                             bn_status *st)
{
    const char *key;
    json_t *part;
    char inner[SUITE_POINTER_TEXT], text[128];
    if (!json_is_object(value))
        return check_runtime_name(s, at, value, st);
    json_object_foreach((json_t *)(uintptr_t)value, key, part)
    {
        bn_code code = BN_OK;
        suite_pointer(inner, at, key);
        if (strcmp(key, "name") == 0)
            code = check_runtime_name(s, inner, part, st);
        else if (strcmp(key, "options") == 0 || strcmp(key, "xla_flags") == 0)
            code = check_settings(s, inner, part, st);
        else if (strcmp(key, "label") != 0 && strcmp(key, "comment") != 0)
            code = refuse_member(s, inner, "a runtime has no such member", key, "It has",
                                 "name, label, options, xla_flags, comment", st);
        else if (!json_is_string(part))
            code = suite_fail(s, inner, false, st, "text is needed, not %s", shown(part, text));
        if (code != BN_OK)
            return code;
    }
    if (!json_object_get(value, "name"))
        return suite_fail(s, at, false, st, "a runtime needs a name");
    return BN_OK;
}

static bn_code check_one(const suite_text *s, const char *at, const suite_member *m,
                         const json_t *value, bn_status *st)
{
    if (m->kind == SUITE_TEXT || m->kind == SUITE_WORDS)
        return check_text(s, at, m, value, st);
    if (m->kind == SUITE_SPAN)
        return check_span(s, at, m, value, st);
    if (m->axis && m->axis->id == RES_AXIS_RUNTIME)
        return check_runtime(s, at, value, st);
    if (m->axis && m->axis->field.kind == RES_KIND_TEXT)
        return check_word(s, at, m, value, st);
    return check_number(s, at, m, value, st);
}

/* An axis is a list of values, or one of them, as are words. */
static bn_code check_member(const suite_text *s, const char *at, const suite_member *m,
                            const json_t *value, bn_status *st)
{
    char inner[SUITE_POINTER_TEXT];
    const bool words = m->kind == SUITE_WORDS;
    if (!(words || suite_member_varies(m)) || !json_is_array(value))
        return check_one(s, at, m, value, st);
    const size_t n = json_array_size(value), most = words ? MOST_WORDS : CLI_MAX_ITEMS;
    if (n == 0 || n > most)
        return suite_fail(s, at, false, st, "a list of 1 to %zu values is needed, not of %zu", most,
                          n);
    for (size_t i = 0; i < n; i++) {
        suite_pointer_at(inner, at, i);
        if (check_one(s, inner, m, json_array_get(value, i), st) != BN_OK)
            return st->code;
    }
    return BN_OK;
}

typedef enum suite_part { DEFAULTS, MATRIX, INCLUDE, EXCLUDE } suite_part;

/* Whether a member M may stand in PART. */
static bool may_stand(const suite_member *m, suite_part part)
{
    if (part == EXCLUDE)
        return suite_member_varies(m);
    /* A recording, or a program, is one matrix's. */
    if (part == INCLUDE)
        return !m->with || strcmp(m->name, m->with) != 0;
    return part == MATRIX || !m->with;
}

/* There is no KEY, which stands at AT, in PART. */
static bn_code unknown_member(const suite_text *s, const char *at, const char *key, suite_part part,
                              bn_status *st)
{
    bn_text known = {0};
    suite_member m;
    for (size_t i = 0; suite_member_at(i, &m); i++)
        if (may_stand(&m, part))
            bn_text_printf(&known, "%s, ", m.name);
    bn_text_puts(&known, part == MATRIX ? "include, exclude, comment" : "comment");
    bn_code code = refuse_member(s, at, NO_MEMBER, key, "There are",
                                 known.data, st);
    bn_text_free(&known);
    return code;
}

static bn_code check_object(const suite_text *s, const char *at, const json_t *object,
                            const char *what, bn_status *st)
{
    char text[128];
    if (json_is_object(object))
        return BN_OK;
    return suite_fail(s, at, false, st, "%s is needed, not %s", what, shown(object, text));
}

/* Recorded steps and programs have none of a model's axes, and what is said of one needs it. OBJECT
 * is a matrix, which runs WORK, or one of its includes. */
static bn_code check_fits(const suite_text *s, const char *at, const json_t *object,
                          const char *work, bn_status *st)
{
    const bool program = work && strcmp(work, SUITE_PROGRAM) == 0;
    const char *key;
    json_t *value;
    char inner[SUITE_POINTER_TEXT];
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        suite_member m;
        suite_pointer(inner, at, key);
        if (!suite_member_of(key, &m))
            continue;
        if (work && m.axis && !suite_work_has(work, m.axis->id))
            return suite_fail(s, inner, true, st,
                              "a %s is run as it is, so '%s', which is for models, cannot be given "
                              "with it",
                              program ? "program" : "recorded step", key);
        if (m.with && (!work || strcmp(m.with, work) != 0))
            return suite_fail(s, inner, true, st, "it goes with '%s', and the matrix names none",
                              m.with);
    }
    return BN_OK;
}

static bn_code check_work(const suite_text *s, const char *at, const json_t *matrix, bn_status *st)
{
    const char *work = suite_work_of(matrix);
    const json_t *includes = json_object_get(matrix, "include");
    char list[SUITE_POINTER_TEXT], inner[SUITE_POINTER_TEXT];
    suite_pointer(inner, at, SUITE_PROGRAM);
    if (json_object_get(matrix, SUITE_RECORDING) && json_object_get(matrix, SUITE_PROGRAM))
        return suite_fail(s, inner, true, st, "a matrix runs a recording or a program, not both");
    bn_code code = check_fits(s, at, matrix, work, st);
    suite_pointer(list, at, "include");
    for (size_t i = 0; i < json_array_size(includes) && code == BN_OK; i++) {
        suite_pointer_at(inner, list, i);
        code = check_fits(s, inner, json_array_get(includes, i), work, st);
    }
    return code;
}

static bn_code check_members(const suite_text *s, const char *at, const json_t *object,
                             suite_part part, bn_status *st);

/* "include" and "exclude": lists of objects. */
static bn_code check_list(const suite_text *s, const char *at, const json_t *list, suite_part part,
                          bn_status *st)
{
    char inner[SUITE_POINTER_TEXT], text[128];
    if (!json_is_array(list))
        return suite_fail(s, at, false, st, "a list of objects is needed, not %s",
                          shown(list, text));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        suite_pointer_at(inner, at, i);
        if (check_members(s, inner, object, part, st) != BN_OK)
            return st->code;
        /* An empty object would exclude everything, or add the whole matrix again. */
        if (part != MATRIX && json_object_size(object) == 0)
            return suite_fail(s, inner, false, st, "an empty object says nothing");
    }
    return BN_OK;
}

static bn_code check_members(const suite_text *s, const char *at, const json_t *object,
                             suite_part part, bn_status *st)
{
    const char *key;
    json_t *value;
    char inner[SUITE_POINTER_TEXT];
    if (check_object(s, at, object, "an object of lists", st) != BN_OK)
        return st->code;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        suite_member m;
        bn_code code = BN_OK;
        suite_pointer(inner, at, key);
        if (suite_member_of(key, &m) && may_stand(&m, part))
            code = check_member(s, inner, &m, value, st);
        else if (part == MATRIX && strcmp(key, "include") == 0)
            code = check_list(s, inner, value, INCLUDE, st);
        else if (part == MATRIX && strcmp(key, "exclude") == 0)
            code = check_list(s, inner, value, EXCLUDE, st);
        else if (strcmp(key, "comment") != 0)
            code = unknown_member(s, inner, key, part, st);
        if (code != BN_OK)
            return code;
    }
    return part == MATRIX ? check_work(s, at, object, st) : BN_OK;
}

static bn_code check_root_member(const suite_spec *suite, const char *key, const json_t *value,
                                 bn_status *st)
{
    static const suite_member seed = {.kind = SUITE_NUMBER, .option = "", .most = 9e15};
    const suite_text *s = &suite->source;
    char at[SUITE_POINTER_TEXT], text[128];
    suite_pointer(at, "", key);
    if (strcmp(key, "bench_suite") == 0)
        return json_integer_value(value) == 1
                   ? BN_OK
                   : suite_fail(s, at, false, st, "this program reads suites of version 1, not %s",
                                shown(value, text));
    if (strcmp(key, "defaults") == 0)
        return check_members(s, at, value, DEFAULTS, st);
    if (strcmp(key, "matrix") == 0)
        return check_list(s, at, value, MATRIX, st);
    if (strcmp(key, "order_seed") == 0)
        return check_number(s, at, &seed, value, st);
    if (strcmp(key, "name") != 0 && strcmp(key, "description") != 0 && strcmp(key, "comment") != 0)
        return refuse_member(
            s, at, NO_MEMBER, key, "There are",
            "bench_suite, name, description, order_seed, defaults, matrix, comment", st);
    return json_is_string(value)
               ? BN_OK
               : suite_fail(s, at, false, st, "text is needed, not %s", shown(value, text));
}

static bn_code check_root(const suite_spec *suite, bn_status *st)
{
    static const char *const needed[] = {"bench_suite", "name", "matrix"};
    const char *key;
    json_t *value;
    bn_code code = check_object(&suite->source, "", suite->json, "an object", st);
    if (code != BN_OK)
        return code;
    json_object_foreach(suite->json, key, value)
    {
        code = check_root_member(suite, key, value, st);
        if (code != BN_OK)
            return code;
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!json_object_get(suite->json, needed[i]))
            return suite_fail(&suite->source, "", false, st, "member %s is missing", needed[i]);
    if (json_array_size(json_object_get(suite->json, "matrix")) == 0)
        return suite_fail(&suite->source, "/matrix", false, st, "there is no matrix in it");
    return BN_OK;
}

/* ---- reading -------------------------------------------------------------------- */

bn_code suite_parse(const char *file, const char *text, suite_spec *suite, bn_status *st)
{
    json_error_t error;
    *suite = (suite_spec){.order_seed = 1};
    suite->text = strdup(text);
    suite->arena = bn_arena_new(16384);
    if (!suite->text || !suite->arena)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for suite %s", file);
    suite->source = (suite_text){bn_arena_strdup(suite->arena, file), suite->text};
    if (bn_json_depth(text, strlen(text)) > BN_JSON_DEPTH)
        return bn_fail(st, BN_INVALID, "%s: JSON that is more than %d levels deep", file,
                       BN_JSON_DEPTH);
    suite->json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!suite->json)
        return bn_fail(st, BN_INVALID, "%s:%d:%d: %s", file, error.line, error.column, error.text);
    if (check_root(suite, st) != BN_OK)
        return st->code;
    const json_t *seed = json_object_get(suite->json, "order_seed");
    if (seed)
        suite->order_seed = (uint64_t)json_integer_value(seed);
    suite->name = json_string_value(json_object_get(suite->json, "name"));
    return BN_OK;
}

bn_code suite_open(const char *file, suite_spec *suite, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    *suite = (suite_spec){.order_seed = 1};
    bn_code code = bn_regular_read(file, &text, &size, st);
    if (code != BN_OK)
        return code;
    code = strlen(text) == size ? suite_parse(file, text, suite, st)
                                : bn_fail(st, BN_INVALID, "%s: there is a zero byte in it", file);
    free(text);
    return code;
}

void suite_close(suite_spec *suite)
{
    free(suite->items);
    free(suite->text);
    bn_text_free(&suite->notes);
    bn_arena_free(suite->arena);
    json_decref(suite->echoes);
    json_decref(suite->requests);
    json_decref(suite->json);
    *suite = (suite_spec){0};
}
