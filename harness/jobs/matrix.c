/*
 * matrix.c - lists of values for each axis become experiments: all combinations that can be run.
 */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_EXPERIMENTS 1000000 /* of one matrix */
/* The modes of recorded steps, and how many of them run by default. */
#define STEP_MODES       MODE_REPLAY "," MODE_REPLAY_AWAITED "," MODE_REPLAY_PACED
#define USUAL_STEP_MODES 2

/* ---- values ------------------------------------------------------------------------ */

/* Known value INDEX of AXIS, of a RECORDED step or of models, into WORD; false after the last,
 * and where AXIS takes any value. */
static bool axis_value(res_axis_id axis, bool recorded, size_t index, char word[RES_TEXT])
{
    model_info a_model = {0};
    if (axis == RES_AXIS_MODE)
        return recorded ? res_axis_word(STEP_MODES, index, word) : job_mode_name(index, word);
    if (axis == RES_AXIS_FRONT_END)
        return job_front_end_name(index, word);
    if (axis == RES_AXIS_MODEL && model_describe(index, &a_model))
        snprintf(word, RES_TEXT, "%s", a_model.name);
    else
        return res_axis_word(res_axes[axis].names, index, word);
    return true;
}

/* Names that other programs use for values of ours. */
static const struct {
    const char *word, *meant;
} synonyms[] = {
    {"fp32", "f32"},         {"float32", "f32"},      {"float", "f32"},      {"fp16", "bf16"},
    {"f16", "bf16"},         {"half", "bf16"},        {"bfloat16", "bf16"},  {"inference", "infer"},
    {"eval", "infer"},       {"forward", "infer"},    {"training", "train"}, {"graph", "capture"},
    {"captured", "capture"}, {"compiled", "capture"}, {"jit", "capture"},    {"tracing", "lazy"},
    {"traced", "lazy"},      {"adam", "adamw"},       {"test", "infer"},     {"prefill", "infer"},
    {"generate", "decode"},  {"decoding", "decode"},
};

const char *job_axis_synonym(const char *word)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcasecmp(synonyms[i].word, word) == 0)
            return synonyms[i].meant;
    return rt_plugin_synonym(word);
}

void job_runtime_names(bn_text *out)
{
    const char *name;
    for (size_t i = 0; (name = rt_plugin_known(i, NULL)); i++)
        bn_text_printf(out, "%s%s", i ? ", " : "", name);
}

/* The value of AXIS, of a RECORDED step or of models, that WORD names otherwise or misspells, into
 * MEANT; false: none. */
static bool nearest_value(res_axis_id axis, bool recorded, const char *word, char meant[RES_TEXT])
{
    const char *called = job_axis_synonym(word);
    bn_near near = bn_near_begin(word);
    for (size_t i = 0; axis_value(axis, recorded, i, meant); i++) {
        if (called && strcmp(meant, called) == 0)
            return true;
        bn_near_try(&near, meant);
    }
    model_info info;
    for (size_t i = 0; axis == RES_AXIS_MODEL && !recorded && model_describe_example(i, &info); i++)
        bn_near_try(&near, info.name);
    const char *best = bn_near_best(&near);
    snprintf(meant, RES_TEXT, "%s", best ? best : "");
    return best != NULL;
}

bool job_axis_meant(res_axis_id axis, const char *word, char meant[RES_TEXT])
{
    return nearest_value(axis, false, word, meant);
}

/* Whether AXIS, of a RECORDED step or of models, takes WORD; if not, appends the values that it
 * takes to KNOWN. */
static bool accepts(res_axis_id axis, bool recorded, const char *word, bn_text *known)
{
    char name[RES_TEXT];
    size_t i = 0;
    for (; axis_value(axis, recorded, i, name); i++) {
        if (strcmp(name, word) == 0)
            return true;
        bn_text_printf(known, "%s%s", i ? ", " : "", name);
    }
    model_info info;
    if (axis == RES_AXIS_MODEL && !recorded && model_describe_named(word, &info))
        return true; /* an example, which bench list leaves out */
    return i == 0;
}

bool job_axis_takes(res_axis_id axis, const char *word, bn_text *known)
{
    return accepts(axis, false, word, known);
}

bool job_mode_of_steps(const char *word)
{
    bn_text ignored = {0};
    const bool is_one = accepts(RES_AXIS_MODE, true, word, &ignored);
    bn_text_free(&ignored);
    return is_one;
}

bool job_axis_of_steps(res_axis_id axis)
{
    return axis == RES_AXIS_RUNTIME || axis == RES_AXIS_MODE || axis == RES_AXIS_SEED;
}

bool job_axis_of_programs(res_axis_id axis)
{
    return axis == RES_AXIS_RUNTIME || axis == RES_AXIS_IN_FLIGHT || axis == RES_AXIS_SEED;
}

void job_matrix_set(job_matrix *m, res_axis_id axis, const char *word)
{
    cli_list_set(&m->axis[axis], word);
}

void job_matrix_set_number(job_matrix *m, res_axis_id axis, int64_t number)
{
    m->axis[axis].count = 1;
    m->axis[axis].value[0] = (cli_value){NULL, number};
}

bn_code job_matrix_request(const job_matrix *m, json_t **request, bn_status *st)
{
    job_step step = {0};
    bn_code code = BN_OK;
    *request = NULL;
    if (m->program)
        return job_program_request(m, request, st);
    if (m->recorded.folder)
        code = job_step_read(&m->recorded, &step, st);
    *request = json_incref(step.request);
    job_step_free(&step);
    return code;
}

static void set_usual(const res_axis *axis, cli_list *list)
{
    cli_list_set(list, axis->usual);
    list->value[0].number = strtoll(axis->usual, NULL, 10);
}

static void refuse_value(const res_axis *axis, bool recorded, const char *word, const char *known,
                         bn_status *st)
{
    char meant[RES_TEXT];
    const char *best = nearest_value(axis->id, recorded, word, meant) ? meant : NULL;
    bn_fail_meant(st, BN_INVALID, (bn_meant){best, "There is", known}, "--%s: there is no '%s'",
                  axis->option, word);
}

/* Whether one of FRONT_ENDS has the mode NAME; an empty list stands for bench. */
static bool any_has_mode(const cli_list *front_ends, const char *name)
{
    bool some = front_ends->count == 0 && job_front_end_has_mode("bench", name, NULL);
    for (size_t i = 0; i < front_ends->count && !some; i++)
        some = strcmp(front_ends->value[i].word, "all") == 0 ||
               job_front_end_has_mode(front_ends->value[i].word, name, NULL);
    return some;
}

/* Puts all known values of AXIS into LIST; of modes those of FRONT_ENDS. */
static void put_all_values(const res_axis *axis, bool recorded, const cli_list *front_ends,
                           cli_list *list, bn_arena *memory)
{
    char name[RES_TEXT];
    list->count = 0;
    for (size_t i = 0; list->count < CLI_MAX_ITEMS && axis_value(axis->id, recorded, i, name); i++)
        if (recorded || axis->id != RES_AXIS_MODE || any_has_mode(front_ends, name))
            list->value[list->count++] = (cli_value){.word = bn_arena_strdup(memory, name)};
}

static bn_code check_value(const res_axis *axis, bool recorded, const cli_value *value,
                           bn_status *st)
{
    char name[RES_TEXT];
    bn_text known = {0};
    const char *word = value->word;
    bn_code code = BN_OK;
    /* A record must hold all of it: a path that is cut may be another runtime's. */
    if (axis->field.kind == RES_KIND_TEXT && word && strlen(word) >= axis->field.size)
        return bn_fail(st, BN_INVALID, "--%s takes up to %zu bytes", axis->option,
                       axis->field.size - 1);
    snprintf(name, sizeof name, "%lld", (long long)value->number);
    if (!accepts(axis->id, recorded, word ? word : name, &known)) {
        refuse_value(axis, recorded, word ? word : name, known.data, st);
        code = st->code;
    }
    bn_text_free(&known);
    return code;
}

/* Checks each value of LIST, for a RECORDED step or for models, and replaces "all" by all known
 * values. */
static bn_code check_values(const res_axis *axis, bool recorded, const cli_list *front_ends,
                            cli_list *list, bn_arena *memory, bn_status *st)
{
    if (axis->all && list->count == 1 && strcmp(list->value[0].word, "all") == 0) {
        put_all_values(axis, recorded, front_ends, list, memory);
        return BN_OK;
    }
    for (size_t i = 0; i < list->count; i++)
        if (check_value(axis, recorded, &list->value[i], st) != BN_OK)
            return st->code;
    return BN_OK;
}

bn_code job_axis_check(res_axis_id axis, const cli_list *list, bn_status *st)
{
    for (size_t i = 0; i < list->count; i++)
        if (check_value(&res_axes[axis], false, &list->value[i], st) != BN_OK)
            return st->code;
    return BN_OK;
}

/* ---- combinations --------------------------------------------------------------------- */

/* A matrix being expanded: its lists, checked, and the current value of each. */
typedef struct expansion {
    const job_matrix *matrix;
    bool recorded; /* a recorded step, not models or a program */
    cli_list lists[RES_AXIS_COUNT];
    size_t at[RES_AXIS_COUNT];
    res_axis_id order[RES_AXIS_COUNT]; /* of nesting: the last changes fastest */
    bn_arena *memory;
} expansion;

static void order_axes(expansion *x)
{
    size_t count = 0;
    for (int nest = 0; nest <= RES_AXIS_COUNT; nest++)
        for (int i = 0; i < RES_AXIS_COUNT; i++)
            if (res_axes[i].nest == nest)
                x->order[count++] = (res_axis_id)i;
}

/* Whether LIST has more than the default, which other modes have as well. */
static bool says_windows(const cli_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->value[i].number)
            return true;
    return false;
}

static bool any_has_windows(const cli_list *modes)
{
    mode_info info;
    for (size_t i = 0; i < modes->count; i++)
        if (mode_describe_named(modes->value[i].word, &info) && info.windows)
            return true;
    return false;
}

static bn_code check_lists(expansion *x, bn_status *st)
{
    const job_matrix *m = x->matrix;
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (!axis->option)
            continue;
        if (x->lists[i].count == 0)
            set_usual(axis, &x->lists[i]);
        if (check_values(axis, x->recorded, &m->axis[RES_AXIS_FRONT_END], &x->lists[i], x->memory,
                         st) != BN_OK)
            return st->code;
    }
    if (says_windows(&m->axis[RES_AXIS_WINDOW]) && !any_has_windows(&x->lists[RES_AXIS_MODE]))
        return bn_fail(st, BN_INVALID, "--window is for --mode fused");
    if (x->lists[RES_AXIS_BUCKETS].value[0].number)
        cli_list_set(&x->lists[RES_AXIS_LENGTHS], "varying");
    if (!bn_is_choice(m->how.device_time, JOB_DEVICE_TIMES))
        return bn_fail_choice(st, "--device-time", m->how.device_time, JOB_DEVICE_TIMES);
    if (m->how.weights && x->lists[RES_AXIS_MODEL].count != 1)
        return bn_fail(st, BN_INVALID, "--weights is one model's file, but --model names %zu",
                       x->lists[RES_AXIS_MODEL].count);
    return BN_OK;
}

/* Moves to the next combination; false after the last. */
static bool advance(expansion *x)
{
    for (size_t i = RES_AXIS_COUNT; i-- > 0;) {
        const res_axis_id axis = x->order[i];
        if (++x->at[axis] < x->lists[axis].count)
            return true;
        x->at[axis] = 0;
    }
    return false;
}

/* Appends a file of settings: its name and the first digits of its SHA-256, since runs with other
 * contents are not the same cell. A file that does not exist fails later. */
static void put_settings_file(bn_text *t, const char *path)
{
    char digest[BN_SHA256_TEXT] = "";
    if (bn_file_sha256(path, digest, NULL) != BN_OK)
        digest[0] = '\0';
    bn_text_printf(t, " config=%s", path);
    if (digest[0])
        bn_text_printf(t, "#%.8s", digest);
}

/* Copies TEXT, or as much as fits and a digest of all of it, so that different texts stay
 * different. */
static void copy_settings(char *to, size_t size, const char *text)
{
    char digest[BN_SHA256_TEXT];
    if (strlen(text) < size) {
        snprintf(to, size, "%s", text);
        return;
    }
    bn_sha256(text, strlen(text), digest);
    const size_t fits = bn_utf8_fit(text, size - sizeof "...#12345678");
    snprintf(to, size, "%.*s...#%.8s", (int)fits, text, digest);
}

/* The settings of RUNTIME: options, flags and, if it is simulated, variables. They identify an
 * experiment, so they are plain here as they will be in its record. */
static void settings_text(const job_matrix *m, const char *runtime, char *text, size_t size)
{
    const char *environment = job_simulated_name(runtime) ? getenv("PJRT_SIM") : NULL;
    const char *file = job_simulated_name(runtime) ? getenv("PJRT_SIM_CONFIG") : NULL;
    bn_text t = {0}, plain = {0};
    if (file && *file)
        put_settings_file(&t, file);
    if (environment && *environment)
        bn_text_printf(&t, " %s", environment);
    for (const char *const *option = m->how.runtime_option; *option; option++) {
        if (job_simulated_name(runtime) && strncmp(*option, "config=", 7) == 0)
            put_settings_file(&t, *option + 7);
        else
            bn_text_printf(&t, " %s", *option);
    }
    for (const char *const *flag = m->how.xla_flag; *flag; flag++)
        bn_text_printf(&t, " %s", *flag);
    bn_text_plain(&plain, t.length ? t.data + 1 : "");
    copy_settings(text, size, plain.length ? plain.data : "");
    bn_text_free(&plain);
    bn_text_free(&t);
}

static model_info model_info_of(const char *name)
{
    model_info info = {0};
    (void)model_describe_named(name, &info);
    return info;
}

static bool mode_has_windows(const char *name)
{
    mode_info info;
    return mode_describe_named(name, &info) && info.windows;
}

static void fill_experiment(const expansion *x, job_experiment *e)
{
    const job_matrix *m = x->matrix;
    *e = (job_experiment){.how = m->how, .echo = m->echo, .program = m->request};
    e->how.timeline = NULL; /* the matrix' is the parent's file */
    res_experiment_old(&e->what);
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const cli_value *value = &x->lists[i].value[x->at[i]];
        if (x->lists[i].count)
            res_axis_set_value(&res_axes[i], value->word, value->number, &e->what);
    }
    if (!mode_has_windows(e->what.mode))
        e->what.window = 0;
    if (!m->request && model_info_of(e->what.model).always_varies)
        snprintf(e->what.lengths, sizeof e->what.lengths, "varying");
    settings_text(m, e->what.runtime, e->what.settings, sizeof e->what.settings);
    if (x->recorded)
        job_step_describe(m->request, &e->what);
    else if (m->request)
        job_program_describe(m->request, &e->what);
}

/* ---- what cannot be run -------------------------------------------------------------------- */

static bool mode_cuts(const char *name)
{
    mode_info info;
    return mode_describe_named(name, &info) && info.cuts_graphs;
}

/* Why W's --remat or --offload cannot be run, into TEXT; NULL: it can. An offloaded stack cannot
 * pass from one program to the next: arguments and results are on the device. */
static const char *why_no_remat(const res_experiment *w, char *text, size_t size)
{
    const bool offload = strcmp(w->offload, "none") != 0;
    const char *name = offload ? "offload" : "remat", *value = offload ? w->offload : w->remat;
    if (!offload && strcmp(w->remat, "none") == 0)
        return NULL;
    if (strcmp(w->scan, "on") != 0 || strcmp(w->phase, "train") != 0)
        snprintf(text, size, "only training with --scan on takes --%s %s", name, value);
    else if (offload && (job_mode_by_op(w->mode) || w->graphs > 2))
        snprintf(text, size,
                 "--offload %s needs forward and backward in one graph, not %s of %d graphs", value,
                 w->mode, w->graphs);
    else
        return NULL;
    return text;
}

/* The first axis of W, a step of decode, whose value has no meaning there, or NULL. */
static const res_axis *axis_of_no_decode(const res_experiment *w)
{
    static const res_axis_id others[] = {RES_AXIS_OPTIMIZER, RES_AXIS_DROPOUT, RES_AXIS_INPUT,
                                         RES_AXIS_SCAN};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!res_axis_is_usual(&res_axes[others[i]], w))
            return &res_axes[others[i]];
    return NULL;
}

/* Why W cannot decode, or has the option of a step that does, into TEXT; NULL: neither. */
static const char *why_no_decode(const res_experiment *w, const model_info *info, char *text,
                                 size_t size)
{
    const bool decode = strcmp(w->phase, "decode") == 0;
    const res_axis *axis = decode ? axis_of_no_decode(w) : NULL;
    bn_text value = {0};
    if (!decode && !w->context)
        return NULL;
    if (!decode)
        snprintf(text, size, "%s has no cache, so no --context %d; --phase decode has one",
                 w->phase, w->context);
    else if (!info->decodes)
        snprintf(text, size, "%s does not decode, so no --phase decode", w->model);
    else if (!axis)
        return NULL;
    else {
        res_axis_put(axis, w, &value);
        snprintf(text, size, "a step of decode takes no --%s %s", axis->option, value.data);
    }
    bn_text_free(&value);
    return text;
}

/* Why W's steps cannot run several in one program, into TEXT; NULL: they can, or need not. Its
 * model refuses the rest (why_size_refused). */
static const char *why_no_loop(const res_experiment *w, char *text, size_t size)
{
    const int steps = w->steps_per_execution;
    if (!res_is_looped(w))
        return NULL;
    if (job_mode_by_op(w->mode))
        snprintf(text, size,
                 "in mode %s each op is a program, so none runs %d steps (--steps-per-execution)",
                 w->mode, steps);
    else if (mode_has_windows(w->mode))
        snprintf(text, size,
                 "a program of %d steps is one op, which mode %s cannot cut into windows", steps,
                 w->mode);
    else if (w->graphs != 1)
        snprintf(text, size, "a step of %d graphs is no part of a program of %d steps", w->graphs,
                 steps);
    else if (strcmp(w->lengths, "varying") == 0)
        snprintf(text, size,
                 "batches of varying lengths cannot be stacked for --steps-per-execution %d",
                 steps);
    else
        return NULL;
    return text;
}

/* Whether A and B differ in runtime and mode only, and so have one model of one size. */
static bool same_model_and_size(const res_experiment *a, const res_experiment *b)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if ((res_axes[i].role == RES_ROLE_CELL || res_axes[i].role == RES_ROLE_SETUP) &&
            res_axis_order(&res_axes[i], a, b) != 0)
            return false;
    return a->steps_per_execution == b->steps_per_execution;
}

/* Why the model of W refuses its sizes, into TEXT; or NULL. It never refuses its default sizes. */
static const char *why_size_refused(const res_experiment *w, char *text, size_t size)
{
    const model_options options = job_model_options(w, w->runtime);
    bn_status refused = {.code = BN_OK};
    model *m = NULL;
    if (!w->batch && !w->image && !w->seq && !w->depth && !w->context && !res_is_looped(w))
        return NULL;
    const bn_code code = model_new(w->model, &options, &m, &refused);
    model_free(m);
    if (code != BN_INVALID) /* any other failure is the experiment's, not the request's */
        return NULL;
    snprintf(text, size, "%.*s", BN_FIT(refused.message, size - 1));
    return text;
}

/* Why W cannot be run, into TEXT; or NULL. LAST is an experiment that can be run, or NULL. */
static const char *why_not(const res_experiment *w, const res_experiment *last, char *text,
                           size_t size)
{
    const model_info info = model_info_of(w->model);
    if (w->graphs != 1 && (!mode_cuts(w->mode) || strcmp(w->phase, "train") != 0))
        snprintf(text, size,
                 "only training steps in capture mode are cut into %d graphs, not %s %s", w->graphs,
                 w->phase, w->mode);
    else if (w->graphs == 1 && strcmp(w->layouts, "auto") == 0 && !mode_has_windows(w->mode))
        snprintf(text, size,
                 "a step of one graph passes nothing to another, so no --layouts auto in %s %s; "
                 "--graphs 5 cuts a captured training step",
                 w->phase, w->mode);
    else if (w->in_flight > 1 && res_is_awaited(w))
        snprintf(text, size,
                 "--dispatch awaited leaves no step in flight, so no --in-flight %d with it",
                 w->in_flight);
    else if (strstr(w->variant, "_pad") && !info.pads)
        snprintf(text, size, "%s has no padding, so no variant %s", w->model, w->variant);
    else if (strstr(w->variant, "small") && !info.has_small)
        snprintf(text, size, "%s has no variant %s", w->model, w->variant);
    else if (w->image && !info.default_image)
        snprintf(text, size, "%s takes no images, so no --image %d", w->model, w->image);
    else if (w->seq && !info.default_seq)
        snprintf(text, size, "%s takes no tokens, so no --seq %d", w->model, w->seq);
    else if (w->depth && !info.depth)
        snprintf(text, size, "%s has no layers to choose, so no --depth %d", w->model, w->depth);
    else if (strcmp(w->scan, "on") == 0 && !info.scans)
        snprintf(text, size, "%s has no layers that run as one loop, so no --scan on", w->model);
    else if (strcmp(w->lengths, "varying") == 0 && !info.varies)
        snprintf(text, size, "%s has rows of one length, so no --lengths varying", w->model);
    else if (!why_no_decode(w, &info, text, size) && !why_no_remat(w, text, size) &&
             !why_no_loop(w, text, size))
        return last && same_model_and_size(w, last) ? NULL : why_size_refused(w, text, size);
    return text;
}

/* Sets axes of models to their defaults, for programs and recorded steps. A recorded step without
 * --mode runs in the modes that depend on the runtime only. */
static void reset_model_axes(expansion *x)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis_id axis = (res_axis_id)i;
        if (res_axes[i].option &&
            !(x->recorded ? job_axis_of_steps(axis) : job_axis_of_programs(axis)))
            set_usual(&res_axes[i], &x->lists[i]);
    }
    if (!x->recorded || x->lists[RES_AXIS_MODE].count > 0)
        return;
    put_all_values(&res_axes[RES_AXIS_MODE], true, NULL, &x->lists[RES_AXIS_MODE], x->memory);
    x->lists[RES_AXIS_MODE].count = USUAL_STEP_MODES;
}

/* Whether the options of M besides the axes fit what it runs. */
static bn_code check_work(const job_matrix *m, bool recorded, bn_status *st)
{
    const cli_list *in_flight = &m->axis[RES_AXIS_IN_FLIGHT];
    if (!m->program && (m->outputs.count || m->checks.count || m->inputs.count > 1))
        return bn_fail(st, BN_INVALID, "--output, --check and several --input go with --program");
    if (recorded && m->inputs.count)
        return bn_fail(st, BN_INVALID, "--input: bench generates the inputs of a recorded step");
    if (recorded && (in_flight->count > 1 || (in_flight->count && in_flight->value[0].number != 1)))
        return bn_fail(st, BN_INVALID, "--in-flight: each recorded step is awaited");
    if (recorded && m->how.weights)
        return bn_fail(st, BN_INVALID, "--weights is for models, and a recorded step has none");
    return BN_OK;
}

/* The number of combinations, into COUNT. BN_INVALID: more than MOST_EXPERIMENTS. */
static bn_code count_combinations(const expansion *x, size_t *count, bn_status *st)
{
    *count = 1;
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        *count *= x->lists[i].count ? x->lists[i].count : 1;
        if (*count > MOST_EXPERIMENTS)
            return bn_fail(st, BN_INVALID, "the lists make more than %d experiments",
                           MOST_EXPERIMENTS);
    }
    return BN_OK;
}

/* Puts all combinations that can be run into LIST, which has room for all; NOTES names the others.
 */
static bn_code combine(expansion *x, job_experiment *list, size_t *count, bn_text *notes,
                       bn_status *st)
{
    char why[256], first[256] = "no combination is possible";
    bool refused = false; /* a combination; FIRST is the reason of the first one */
    do {
        const res_experiment *last = *count ? &list[*count - 1].what : NULL;
        char note[300];
        fill_experiment(x, &list[*count]);
        /* Modes without windows run once, however many sizes of windows there are. */
        if (x->at[RES_AXIS_WINDOW] > 0 && !mode_has_windows(list[*count].what.mode))
            continue;
        if (x->matrix->request ||
            (!job_framework_refuses(x->matrix, &list[*count].what, why, sizeof why) &&
             !why_not(&list[*count].what, last, why, sizeof why))) {
            ++*count;
            continue;
        }
        if (!refused)
            memcpy(first, why, sizeof first);
        refused = true;
        snprintf(note, sizeof note, "bench: %s; left out\n", why);
        if (!notes->data || !strstr(notes->data, note))
            bn_text_puts(notes, note);
    } while (advance(x));
    return *count ? BN_OK : bn_fail(st, BN_INVALID, "nothing to run: %s", first);
}

bn_code job_matrix_expand(const job_matrix *m, job_experiment **list, size_t *count, bn_text *notes,
                          bn_status *st)
{
    size_t most = 0;
    const bool recorded = job_is_step(m->request);
    *list = NULL;
    *count = 0;
    if (check_work(m, recorded, st) != BN_OK)
        return st->code;
    expansion *x = bn_zalloc(1, sizeof *x);
    bn_arena *memory = bn_arena_new(4096);
    x->matrix = m;
    x->recorded = recorded;
    x->memory = memory;
    memcpy(x->lists, m->axis, sizeof x->lists);
    order_axes(x);
    if (m->request)
        reset_model_axes(x);
    bn_code code = check_lists(x, st);
    if (code == BN_OK)
        code = count_combinations(x, &most, st);
    if (code == BN_OK && !(*list = calloc(most, sizeof **list)))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu experiments", most);
    if (code == BN_OK)
        code = combine(x, *list, count, notes, st);
    bn_arena_free(memory);
    free(x);
    return code;
}
