/*
 * experiment.c - from lists on the command line to single experiments, and an
 * experiment's way to its worker and back as JSON.
 */
#include "harness/jobs/jobs.h"
#include "modes/mode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS  64
#define ITEM_BYTES 256

typedef struct items {
    char text[MAX_ITEMS][ITEM_BYTES];
    size_t count;
} items;

/* "a,b,c" into items. */
static bn_code split(const char *option, const char *list, items *out, bn_status *st)
{
    out->count = 0;
    while (true) {
        size_t length = strcspn(list, ",");
        if (length == 0)
            return bn_fail(st, BN_INVALID, "--%s has an empty item", option);
        if (out->count == MAX_ITEMS || length >= ITEM_BYTES)
            return bn_fail(st, BN_INVALID, "--%s is too long", option);
        memcpy(out->text[out->count], list, length);
        out->text[out->count++][length] = '\0';
        if (!list[length])
            return BN_OK;
        list += length + 1;
    }
}

static const char *model_name(size_t index)
{
    model_info info;
    return model_describe(index, &info) ? info.name : NULL;
}

static const char *mode_name(size_t index)
{
    mode_info info;
    return mode_describe(index, &info) ? info.name : NULL;
}

static const char *fixed_name(const char *const *names, size_t index)
{
    return names[index];
}

static const char *phase_name(size_t index)
{
    static const char *const names[] = {"train", "infer", NULL};
    return fixed_name(names, index);
}

static const char *variant_name(size_t index)
{
    static const char *const names[] = {"full", "small", "full_pad", "small_pad", NULL};
    return fixed_name(names, index);
}

static const char *dtype_name(size_t index)
{
    static const char *const names[] = {"f32", "bf16", NULL};
    return fixed_name(names, index);
}

static const char *optimizer_name(size_t index)
{
    static const char *const names[] = {"default", "sgd", "adamw", NULL};
    return fixed_name(names, index);
}

static const char *dropout_name(size_t index)
{
    static const char *const names[] = {"default", "off", NULL};
    return fixed_name(names, index);
}

static const char *input_name(size_t index)
{
    static const char *const names[] = {"synthetic", "transfer", "prefetch", NULL};
    return fixed_name(names, index);
}

static const char *lengths_name(size_t index)
{
    static const char *const names[] = {"fixed", "varying", NULL};
    return fixed_name(names, index);
}

static const char *layout_name(size_t index)
{
    static const char *const names[] = {"auto", "nhwc", "nchw", NULL};
    return fixed_name(names, index);
}

static const char *graphs_name(size_t index)
{
    static const char *const names[] = {"1", "2", "3", "5", NULL};
    return fixed_name(names, index);
}

job_name_at job_names_of(const char *option)
{
    static const struct {
        const char *option;
        job_name_at names;
    } table[] = {
        {"model", model_name},     {"variant", variant_name}, {"mode", mode_name},
        {"phase", phase_name},     {"dtype", dtype_name},     {"optimizer", optimizer_name},
        {"dropout", dropout_name}, {"input", input_name},     {"lengths", lengths_name},
        {"layout", layout_name},   {"graphs", graphs_name},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].option, option) == 0)
            return table[i].names;
    return NULL;
}

/* Every item must be a name that NAME_AT lists; with ALL, "all" stands for each. */
static bn_code split_names(const char *option, const char *list, const char *(*name_at)(size_t),
                           bool all, items *out, bn_status *st)
{
    if (all && strcmp(list, "all") == 0) {
        const char *name;
        for (out->count = 0; out->count < MAX_ITEMS && (name = name_at(out->count)); out->count++)
            snprintf(out->text[out->count], ITEM_BYTES, "%s", name);
        return BN_OK;
    }
    bn_code code = split(option, list, out, st);
    for (size_t i = 0; code == BN_OK && i < out->count; i++) {
        const char *name;
        size_t k = 0;
        while ((name = name_at(k)) && strcmp(name, out->text[i]) != 0)
            k++;
        if (name)
            continue;
        bn_text known = {0};
        for (k = 0; (name = name_at(k)); k++)
            bn_text_printf(&known, "%s%s", k ? ", " : "", name);
        code = bn_fail(st, BN_INVALID, "--%s: there is no '%s'; there is %s", option, out->text[i],
                       known.failed ? "another" : known.data);
        bn_text_free(&known);
    }
    return code;
}

static bn_code split_numbers(const char *option, const char *list, long least, items *out,
                             bn_status *st)
{
    bn_code code = split(option, list, out, st);
    for (size_t i = 0; code == BN_OK && i < out->count; i++) {
        char *end;
        errno = 0;
        long n = strtol(out->text[i], &end, 10);
        if (errno || *end || n < least || n > 1000000)
            code = bn_fail(st, BN_INVALID, "--%s takes whole numbers from %ld, not '%s'", option,
                           least, out->text[i]);
    }
    return code;
}

/* The lists in order of nesting: the last changes fastest. */
enum {
    RUNTIME,
    VARIANT,
    MODEL,
    PHASE,
    DTYPE,
    OPTIMIZER,
    DROPOUT,
    INPUT,
    LENGTHS,
    BATCH,
    IMAGE,
    SEQ,
    FLIGHT,
    MODE,
    GRAPHS,
    LISTS
};

static bn_code split_all(const cli_options *o, items *lists, bn_status *st)
{
    bn_code code = split("runtime", o->runtime, &lists[RUNTIME], st);
    if (code == BN_OK)
        code = split_names("variant", o->variant, variant_name, false, &lists[VARIANT], st);
    if (code == BN_OK)
        code = split_names("model", o->model, model_name, true, &lists[MODEL], st);
    if (code == BN_OK)
        code = split_names("phase", o->phase, phase_name, false, &lists[PHASE], st);
    if (code == BN_OK)
        code = split_names("dtype", o->dtype, dtype_name, false, &lists[DTYPE], st);
    if (code == BN_OK)
        code = split_numbers("batch", o->batch, 0, &lists[BATCH], st);
    if (code == BN_OK)
        code = split_numbers("image", o->image, 0, &lists[IMAGE], st);
    if (code == BN_OK)
        code = split_numbers("seq", o->seq, 0, &lists[SEQ], st);
    if (code == BN_OK)
        code = split_names("optimizer", o->optimizer, optimizer_name, false, &lists[OPTIMIZER], st);
    if (code == BN_OK)
        code = split_names("dropout", o->dropout, dropout_name, false, &lists[DROPOUT], st);
    if (code == BN_OK)
        code = split_names("input", o->input[0] && !o->program ? o->input[0] : "synthetic",
                           input_name, false, &lists[INPUT], st);
    if (code == BN_OK)
        code = split_names("lengths", o->buckets ? "varying" : o->lengths, lengths_name, false,
                           &lists[LENGTHS], st);
    if (code == BN_OK)
        code = split_numbers("in-flight", o->in_flight, 1, &lists[FLIGHT], st);
    if (code == BN_OK)
        code = split_names("mode", o->mode, mode_name, true, &lists[MODE], st);
    if (code == BN_OK)
        code = split_names("graphs", o->graphs, graphs_name, false, &lists[GRAPHS], st);
    items layout;
    if (code == BN_OK)
        code = split_names("layout", o->layout, layout_name, false, &layout, st);
    if (code == BN_OK && strcmp(o->device_time, "auto") != 0 &&
        strcmp(o->device_time, "slope") != 0 && strcmp(o->device_time, "none") != 0)
        code = bn_fail(st, BN_INVALID, "--device-time %s: there are auto, slope and none",
                       o->device_time);
    if (code == BN_OK && layout.count != 1)
        code = bn_fail(st, BN_INVALID, "--layout takes one layout");
    if (code == BN_OK && o->weights && lists[MODEL].count != 1)
        code = bn_fail(st, BN_INVALID, "--weights is one model's file, but --model names %zu",
                       lists[MODEL].count);
    return code;
}

static bool mode_cuts(const char *name)
{
    mode_info info;
    for (size_t i = 0; mode_describe(i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return info.cuts_graphs;
    return false;
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%.*s", (int)size - 1, from);
}

/* A file of settings by its name and the beginning of its SHA-256: the name alone would
 * make one cell of runs with other contents. A file that is not there fails later. */
static void put_settings_file(bn_text *t, const char *path)
{
    char digest[BN_SHA256_TEXT] = "";
    if (bn_file_sha256(path, digest, NULL) != BN_OK)
        digest[0] = '\0';
    bn_text_printf(t, " config=%s", path);
    if (digest[0])
        bn_text_printf(t, "#%.8s", digest);
}

/* TEXT, or as much as fits and a digest of it all: what differs anywhere stays apart. */
static void copy_settings(char *to, size_t size, const char *text)
{
    char digest[BN_SHA256_TEXT];
    if (strlen(text) < size) {
        copy_text(to, size, text);
        return;
    }
    bn_sha256(text, strlen(text), digest);
    snprintf(to, size, "%.*s...#%.8s", (int)(size - sizeof "...#12345678"), text, digest);
}

/* What the runtime was told beside its name: part of what an experiment is. */
static void settings_text(const cli_options *o, const char *runtime, char *text, size_t size)
{
    const char *environment = job_simulated_name(runtime) ? getenv("PJRT_SIM") : NULL;
    const char *file = job_simulated_name(runtime) ? getenv("PJRT_SIM_CONFIG") : NULL;
    bn_text t = {0};
    bn_text_puts(&t, "");
    if (file && *file)
        put_settings_file(&t, file);
    if (environment && *environment)
        bn_text_printf(&t, " %s", environment);
    for (const char *const *option = o->runtime_option; *option; option++) {
        if (job_simulated_name(runtime) && strncmp(*option, "config=", 7) == 0)
            put_settings_file(&t, *option + 7);
        else
            bn_text_printf(&t, " %s", *option);
    }
    for (const char *const *flag = o->xla_flag; *flag; flag++)
        bn_text_printf(&t, " %s", *flag);
    copy_settings(text, size, t.length ? t.data + 1 : "");
    bn_text_free(&t);
}

static void fill(const cli_options *o, const items *lists, const size_t *at, job_experiment *e)
{
#define ITEM(list) (lists[list].text[at[list]])
    *e = (job_experiment){.label = o->label,
                         .pin = o->pin,
                         .cache_dir = o->cache_dir,
                         .store = o->store,
                         .device_time = o->device_time,
                         .weights = o->weights,
                         .steps = o->steps,
                         .warmup = o->warmup,
                         .min_time = o->min_time,
                         .timeout = o->timeout};
    memcpy(e->runtime_option, o->runtime_option, sizeof e->runtime_option);
    memcpy(e->xla_flag, o->xla_flag, sizeof e->xla_flag);
    res_experiment *w = &e->what;
    copy_text(w->model, sizeof w->model, ITEM(MODEL));
    copy_text(w->variant, sizeof w->variant, ITEM(VARIANT));
    copy_text(w->phase, sizeof w->phase, ITEM(PHASE));
    copy_text(w->mode, sizeof w->mode, ITEM(MODE));
    copy_text(w->dtype, sizeof w->dtype, ITEM(DTYPE));
    copy_text(w->layout, sizeof w->layout, o->layout);
    copy_text(w->runtime, sizeof w->runtime, ITEM(RUNTIME));
    w->graphs = atoi(ITEM(GRAPHS));
    w->batch = atoi(ITEM(BATCH));
    w->image = atoi(ITEM(IMAGE));
    w->seq = atoi(ITEM(SEQ));
    copy_text(w->optimizer, sizeof w->optimizer, ITEM(OPTIMIZER));
    copy_text(w->dropout, sizeof w->dropout, ITEM(DROPOUT));
    copy_text(w->lengths, sizeof w->lengths, ITEM(LENGTHS));
    copy_text(w->input, sizeof w->input, ITEM(INPUT));
    w->buckets = (int)o->buckets;
    w->in_flight = atoi(ITEM(FLIGHT));
    settings_text(o, w->runtime, w->settings, sizeof w->settings);
    w->trace_cost_ns = (int)o->trace_cost_ns;
    w->seed = (uint64_t)o->seed;
#undef ITEM
}

/* Next combination; false after the last. */
static bool advance(const items *lists, size_t *at)
{
    for (size_t i = LISTS; i-- > 0;) {
        if (++at[i] < lists[i].count)
            return true;
        at[i] = 0;
    }
    return false;
}

static model_info info_of(const char *name)
{
    model_info info = {0};
    for (size_t i = 0; model_describe(i, &info) && strcmp(info.name, name) != 0; i++)
        continue;
    return info;
}

/* Why E cannot be, or NULL. */
static const char *why_not(const res_experiment *w, char *text, size_t size)
{
    const model_info info = info_of(w->model);
    if (w->graphs != 1 && (!mode_cuts(w->mode) || strcmp(w->phase, "train") != 0))
        snprintf(text, size,
                 "only training steps in capture mode are cut into %d graphs, not %s %s", w->graphs,
                 w->phase, w->mode);
    else if (strstr(w->variant, "_pad") && !info.pads)
        snprintf(text, size, "%s has no padding, so no variant %s", w->model, w->variant);
    else if (strstr(w->variant, "small") && !info.has_small)
        snprintf(text, size, "%s has no variant %s", w->model, w->variant);
    else if (w->image && !info.default_image)
        snprintf(text, size, "%s takes no images, so no --image %d", w->model, w->image);
    else if (w->seq && !info.default_seq)
        snprintf(text, size, "%s takes no tokens, so no --seq %d", w->model, w->seq);
    else if (strcmp(w->lengths, "varying") == 0 && !info.varies)
        snprintf(text, size, "%s has rows of one length, so no varying ones", w->model);
    else
        return NULL;
    return text;
}

/* What the first note says, for an error that has nothing else to say. */
static const char *first_note(bn_text *notes)
{
    char *end = notes->data ? strchr(notes->data, ';') : NULL;
    if (!end)
        return "no combination is possible";
    *end = '\0';
    return notes->data + strlen("bench: ");
}

/* One experiment for each runtime and each number of steps in flight. */
static bn_code expand_program(const cli_options *o, job_experiment **list, size_t *count,
                              bn_status *st)
{
    items *lists = calloc(LISTS, sizeof *lists);
    size_t at[LISTS] = {0};
    bn_code code = lists ? split_all(o, lists, st) : bn_fail(st, BN_OUT_OF_MEMORY, "no memory");
    for (int i = 0; code == BN_OK && i < LISTS; i++)
        if (i != RUNTIME && i != FLIGHT)
            lists[i].count = 1;
    *count = 0;
    *list =
        code == BN_OK ? calloc(lists[RUNTIME].count * lists[FLIGHT].count, sizeof **list) : NULL;
    if (code == BN_OK && !*list)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for experiments");
    while (code == BN_OK) {
        fill(o, lists, at, &(*list)[(*count)++]);
        if (!advance(lists, at))
            break;
    }
    free(lists);
    return code;
}

bn_code job_experiments_expand(const cli_options *o, job_experiment **list, size_t *count,
                              bn_text *notes, bn_status *st)
{
    if (o->program)
        return expand_program(o, list, count, st);
    if (o->outputs[0] || o->check[0] || (o->input[0] && o->input[1]))
        return bn_fail(st, BN_INVALID, "--output, --check and several --input go with --program");
    items *lists = calloc(LISTS, sizeof *lists);
    size_t at[LISTS] = {0}, most = 1;
    bn_code code = lists ? split_all(o, lists, st) : bn_fail(st, BN_OUT_OF_MEMORY, "no memory");
    for (size_t i = 0; code == BN_OK && i < LISTS; i++)
        most *= lists[i].count;
    *count = 0;
    *list = code == BN_OK ? calloc(most, sizeof **list) : NULL;
    if (code == BN_OK && !*list)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu experiments", most);
    while (code == BN_OK) {
        job_experiment *e = &(*list)[*count];
        fill(o, lists, at, e);
        char why[256];
        if (!why_not(&e->what, why, sizeof why))
            ++*count;
        else if (!notes->data || !strstr(notes->data, why))
            bn_text_printf(notes, "bench: %s; left out\n", why);
        if (!advance(lists, at))
            break;
    }
    if (code == BN_OK && *count == 0)
        code = bn_fail(st, BN_INVALID, "nothing to run: %s", first_note(notes));
    free(lists);
    return code;
}

void job_experiment_resolve(res_experiment *w)
{
    const model_options o = job_model_options(w, w->runtime);
    model *m = NULL;
    bn_status refused = {.code = BN_OK};
    snprintf(w->layout, sizeof w->layout, "%s", o.layout == MODEL_NCHW ? "nchw" : "nhwc");
    if (model_new(w->model, &o, &m, &refused) != BN_OK)
        return;
    w->batch = model_get_options(m)->batch;
    w->image = model_get_options(m)->image;
    w->seq = model_get_options(m)->seq;
    model_free(m);
}

void job_experiment_title(const job_experiment *e, char *text, size_t size)
{
    const res_experiment *w = &e->what;
    if (e->program) {
        snprintf(text, size, "program %s on %.120s", w->model, w->runtime);
        return;
    }
    bn_text t = {0};
    bn_text_printf(&t, "%s%s%s %s %s", w->model, strcmp(w->variant, "full") ? "." : "",
                   strcmp(w->variant, "full") ? w->variant : "", w->phase, w->mode);
    if (w->graphs != 1)
        bn_text_printf(&t, " graphs %d", w->graphs);
    if (w->batch)
        bn_text_printf(&t, " batch %d", w->batch);
    if (w->image)
        bn_text_printf(&t, " image %d", w->image);
    if (w->seq)
        bn_text_printf(&t, " seq %d", w->seq);
    if (strcmp(w->optimizer, "default") != 0)
        bn_text_printf(&t, " %s", w->optimizer);
    if (strcmp(w->dropout, "default") != 0)
        bn_text_printf(&t, " dropout %s", w->dropout);
    if (strcmp(w->input, "synthetic") != 0)
        bn_text_printf(&t, " input %s", w->input);
    if (strcmp(w->lengths, "fixed") != 0)
        bn_text_printf(&t, " %s lengths", w->lengths);
    if (w->buckets)
        bn_text_printf(&t, " %d buckets", w->buckets);
    if (w->in_flight > 1)
        bn_text_printf(&t, " in-flight %d", w->in_flight);
    if (w->trace_cost_ns)
        bn_text_printf(&t, " trace-cost %d ns", w->trace_cost_ns);
    bn_text_printf(&t, " %s on %s", w->dtype, bn_base_name(w->runtime));
    copy_text(text, size, t.failed ? w->model : t.data);
    bn_text_free(&t);
}

/* ---- JSON -------------------------------------------------------------------------- */

static json_t *strings_json(const char *const *list)
{
    json_t *array = json_array();
    for (; *list; list++)
        json_array_append_new(array, json_string(*list));
    return array;
}

json_t *job_experiment_to_json(const job_experiment *e)
{
    return json_pack("{so ss ss ss ss ss ss* so so sI sI sf sf sO* sO* sO*}", "what",
                     res_experiment_to_json(&e->what), "label", e->label, "pin", e->pin,
                     "cache_dir", e->cache_dir, "store", e->store, "device_time", e->device_time,
                     "weights", e->weights, "runtime_option", strings_json(e->runtime_option),
                     "xla_flag", strings_json(e->xla_flag), "steps", (json_int_t)e->steps, "warmup",
                     (json_int_t)e->warmup, "min_time", e->min_time, "timeout", e->timeout, "echo",
                     e->echo, "program", e->program, "suite", e->suite);
}

static void strings_from(const json_t *array, const char **list)
{
    size_t n = json_array_size(array);
    for (size_t i = 0; i < n && i < CLI_MAX_REPEATS; i++)
        list[i] = json_string_value(json_array_get(array, i));
}

bn_code job_experiment_from_json(const json_t *json, job_experiment *e, bn_status *st)
{
    json_t *what = NULL, *options = NULL, *flags = NULL;
    json_int_t steps, warmup;
    json_error_t error;
    *e = (job_experiment){0};
    if (json_unpack_ex((json_t *)(uintptr_t)json, &error, 0,
                       "{so ss ss ss ss ss s?s so so sI sI sF sF s?o s?o s?o}", "what", &what,
                       "label", &e->label, "pin", &e->pin, "cache_dir", &e->cache_dir, "store",
                       &e->store, "device_time", &e->device_time, "weights", &e->weights,
                       "runtime_option", &options, "xla_flag", &flags, "steps", &steps, "warmup",
                       &warmup, "min_time", &e->min_time, "timeout", &e->timeout, "echo", &e->echo,
                       "program", &e->program, "suite", &e->suite) != 0)
        return bn_fail(st, BN_FORMAT, "the worker's request: %s", error.text);
    e->steps = steps;
    e->warmup = warmup;
    strings_from(options, e->runtime_option);
    strings_from(flags, e->xla_flag);
    bn_code code = res_experiment_from_json(what, &e->what, st);
    return code == BN_OK ? BN_OK : bn_context(st, "the worker's request");
}
