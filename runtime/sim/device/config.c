/* config.c - the table of settings, and where they come from. */
#define _GNU_SOURCE
#include "runtime/sim/device/config.h"
#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PRESET "ideal"
/* Presets rest on presets, and JSON files may name one. They refer to each other no deeper
 * than this. */
#define MAX_DEPTH      4

typedef enum setting_kind {
    TEXT,
    WHOLE,
    REAL,
    FLAG,
    STATED,
    FAULTS,
    PRESET,
    FILE_NAME
} setting_kind;

typedef struct setting {
    const char *name;
    setting_kind kind;
    size_t offset, size; /* of the field; SIZE is for texts */
    double least, most;
    const char *meaning;
} setting;

#define AT(field)             offsetof(sim_config, field)
#define TEXT_AT(field)        TEXT, AT(field), sizeof((sim_config *)0)->field, 0, 0
#define WHOLE_AT(field, most) WHOLE, AT(field), 0, 0, most
#define TIME_AT(field)        REAL, AT(field), 0, 0, 1e9
#define RATE_AT(field)        REAL, AT(field), 0, 1e-6, 1e12
#define SHARE_AT(field)       REAL, AT(field), 0, 0, 10

static const setting settings[] = {
    {"preset", PRESET, AT(preset), 0, 0, 0, "all settings of a named device"},
    {"config", FILE_NAME, 0, 0, 0, 0, "settings from a JSON object in this file"},
    {"kind", TEXT_AT(kind), "the device's kind, as clients see it"},
    {"devices", WHOLE, AT(devices), 0, 1, 64, "devices, each with a queue of its own"},
    {"device_us", REAL, AT(device_us), 0, -1, 1e9,
     "device time of each execution; -1: by the model"},
    {"stated", STATED, 0, 0, 0, 0,
     "times of modules by name, module:device_us[:overhead_us];..., * ends a name's beginning"},
    {"stated_only", FLAG, AT(stated_only), 0, 0, 0,
     "a module that stated does not name is not compiled"},
    {"f64_gflops", RATE_AT(f64_gflops), "products and convolutions, f64"},
    {"f32_gflops", RATE_AT(f32_gflops), "products and convolutions, f32"},
    {"f16_gflops", RATE_AT(f16_gflops), "products and convolutions, bf16 and f16"},
    {"int_gops", RATE_AT(int_gops), "products of integers"},
    {"vector_gflops", RATE_AT(vector_gflops), "all other arithmetic"},
    {"memory_gbps", RATE_AT(memory_gbps), "device memory, bytes read and written"},
    {"efficiency", REAL, AT(efficiency), 0, 1e-6, 10,
     "share of these rates that programs reach; above 1 where a compiler fuses more than the "
     "model"},
    {"group_us", TIME_AT(group_us), "fixed device time of each fused group of ops"},
    {"memory_bytes", WHOLE_AT(memory_bytes, 1e15), "capacity of a device's memory"},
    {"start_us", TIME_AT(start_us), "making the client"},
    {"compile_us", TIME_AT(compile_us), "each compilation"},
    {"compile_op_us", TIME_AT(compile_op_us), "each op of a compilation"},
    {"execute_us", TIME_AT(execute_us), "host time of each Execute call"},
    {"argument_us", TIME_AT(argument_us), "host time of each argument of an Execute call"},
    {"result_us", TIME_AT(result_us), "host time of each result of an Execute call"},
    {"launch_us", TIME_AT(launch_us), "from the call's end until the device can begin"},
    {"completion_us", TIME_AT(completion_us), "from the device's end until the event fires"},
    {"blocking", FLAG, AT(blocking), 0, 0, 0, "Execute returns when the execution is done"},
    {"transfer_us", TIME_AT(transfer_us), "latency of each transfer"},
    {"to_device_gbps", RATE_AT(to_device_gbps), "transfers to the device"},
    {"to_host_gbps", RATE_AT(to_host_gbps), "transfers to the host"},
    {"release_us", TIME_AT(release_us), "host time of giving a buffer back"},
    {"values", TEXT_AT(values), "auto: computed for programs under evaluate_limit; none: zeros"},
    {"evaluate_limit", WHOLE_AT(evaluate_limit, 1e12),
     "operations up to which a program's values are computed"},
    {"seed", WHOLE, AT(seed), 0, -1, 9e18,
     "of the disturbances below; -1: another one for each client"},
    {"process", WHOLE_AT(process, 1e15),
     "which process of a run this is: processes of one seed draw differently"},
    {"process_sd", SHARE_AT(process_sd),
     "sigma of the log-normal factor that a client has for all its device times; its median is 1"},
    {"slow_rate", REAL, AT(slow_rate), 0, 0, 1,
     "probability with which a client is slow: slow_factor times longer in all its device times"},
    {"slow_factor", REAL, AT(slow_factor), 0, 1, 1e6, "how many times longer a slow client takes"},
    {"jitter", SHARE_AT(jitter), "sigma of the log-normal factor on device times; its median is 1"},
    {"host_jitter", SHARE_AT(host_jitter), "the same on the host time of Execute calls"},
    {"outlier_rate", REAL, AT(outlier_rate), 0, 0, 1, "share of executions that are outliers"},
    {"outlier_factor", REAL, AT(outlier_factor), 0, 1, 1e6, "their device time, in usual ones"},
    {"drift", REAL, AT(drift), 0, -1, 1e3,
     "growth of device times over 1,000 executions, 0.1: 10 %"},
    {"wander_sd", SHARE_AT(wander_sd),
     "sigma of a log-normal factor on device times that wanders slowly; its median is 1"},
    {"wander_executions", REAL, AT(wander_executions), 0, 1, 1e9,
     "executions in which its correlation falls to 1/e"},
    {"interference_period_us", TIME_AT(interference_period_us),
     "the device pauses once in each period"},
    {"interference_us", TIME_AT(interference_us), "for so long"},
    {"burst_rate", REAL, AT(burst_rate), 0, 0, 1e5,
     "times that others take the device in a second of its work, at random moments"},
    {"burst_us", TIME_AT(burst_us), "for so long"},
    {"faults", FAULTS, 0, 0, 0, 0, "WHERE:NUMBER:WHAT[:CODE];..., see the section on faults"},
    {"report", TEXT_AT(report), "file to write, at the client's end, how exact the times were"},
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

const char *sim_config_setting(size_t index, const char **meaning)
{
    if (index >= SETTING_COUNT)
        return NULL;
    *meaning = settings[index].meaning;
    return settings[index].name;
}

static sim_code set_at_depth(sim_config *config, const char *name, const char *value, int depth,
                             sim_status *st);

/* ---- kinds of values ----------------------------------------------------------------- */

static sim_code refuse(const setting *s, const char *value, sim_status *st)
{
    if (s->kind == WHOLE || s->kind == REAL)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s=%s: wants a number from %g to %g", s->name,
                        value, s->least, s->most);
    return sim_fail(st, SIM_INVALID_ARGUMENT, "%s=%s: wants %s", s->name, value,
                    s->kind == FLAG ? "true or false" : "a shorter text");
}

static sim_code set_number(const setting *s, void *at, const char *value, sim_status *st)
{
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end || errno || !(number >= s->least && number <= s->most))
        return refuse(s, value, st);
    if (s->kind == REAL)
        *(double *)at = number;
    else if (number == floor(number))
        *(int64_t *)at = (int64_t)number;
    else
        return refuse(s, value, st);
    return SIM_OK;
}

static sim_code set_text(const setting *s, void *at, const char *value, sim_status *st)
{
    if (strlen(value) >= s->size)
        return refuse(s, value, st);
    if (strcmp(s->name, "values") == 0 && strcmp(value, "auto") != 0 && strcmp(value, "none") != 0)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "values=%s: wants auto or none", value);
    strcpy(at, value);
    return SIM_OK;
}

static sim_code set_flag(const setting *s, void *at, const char *value, sim_status *st)
{
    bool on = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
        return refuse(s, value, st);
    *(bool *)at = on;
    return SIM_OK;
}

/* "step:5000;forward*:1200.5" adds to what is there. */
static sim_code set_stated(sim_config *config, const char *value, sim_status *st)
{
    while (*value) {
        size_t length = strcspn(value, ";");
        sim_stated one;
        int used = 0;
        char item[160];
        if (length >= sizeof item || config->stated_count == SIM_MAX_STATED)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "stated: too long");
        memcpy(item, value, length);
        item[length] = '\0';
        one.overhead_us = -1;
        int found = sscanf(item, "%95[^:]:%lf%n:%lf%n", one.module, &one.device_us, &used,
                           &one.overhead_us, &used);
        if (found < 2 || item[used] || !(one.device_us >= 0 && one.device_us <= 1e9) ||
            (found == 3 && !(one.overhead_us >= 0 && one.overhead_us <= 1e9)))
            return sim_fail(st, SIM_INVALID_ARGUMENT,
                            "stated=%s: wants module:device_us or module:device_us:overhead_us",
                            item);
        config->stated[config->stated_count++] = one;
        value += length + (value[length] == ';');
    }
    return SIM_OK;
}

/* ---- lists and files ------------------------------------------------------------------- */

/* "name=value,name=value"; a preset in it comes first, wherever it stands. */
static sim_code set_list(sim_config *config, const char *list, int depth, sim_status *st)
{
    sim_code code = SIM_OK;
    for (int pass = 0; pass < 2 && code == SIM_OK; pass++) {
        for (const char *at = list; *at && code == SIM_OK;) {
            size_t length = strcspn(at, ",");
            char *item = bn_strndup(at, length);
            char *equals = strchr(item, '=');
            if (!equals) {
                code = sim_fail(st, SIM_INVALID_ARGUMENT, "'%s': wants name=value", item);
            } else {
                *equals = '\0';
                if ((strcmp(item, "preset") == 0) == (pass == 0))
                    code = set_at_depth(config, item, equals + 1, depth, st);
            }
            free(item);
            at += length + (at[length] == ',');
        }
    }
    return code;
}

static sim_code set_json(sim_config *config, const char *name, const json_t *value, int depth,
                         sim_status *st)
{
    char text[64];
    if (json_is_string(value))
        return set_at_depth(config, name, json_string_value(value), depth, st);
    if (json_is_boolean(value))
        return set_at_depth(config, name, json_is_true(value) ? "true" : "false", depth, st);
    if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return set_at_depth(config, name, text, depth, st);
    }
    if (json_is_real(value)) {
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
        return set_at_depth(config, name, text, depth, st);
    }
    return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: wants a number, a text or a truth value", name);
}

/* The JSON in the file PATH (new reference). A pipe would make the client wait for ever. */
static sim_code load_file(const char *path, json_t **all, sim_status *st)
{
    struct stat info;
    json_error_t error;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: %s", path, strerror(errno));
    const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    *all = regular ? json_loadfd(fd, JSON_REJECT_DUPLICATES, &error) : NULL;
    close(fd);
    if (!regular)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: not a regular file", path);
    if (!*all)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s:%d:%d: %s", path, error.line, error.column,
                        error.text);
    return SIM_OK;
}

static sim_code set_file(sim_config *config, const char *path, int depth, sim_status *st)
{
    const char *name;
    json_t *value, *all = NULL;
    sim_code code = load_file(path, &all, st);
    if (code != SIM_OK)
        return code;
    if (!json_is_object(all))
        code = sim_fail(st, SIM_INVALID_ARGUMENT, "%s: wants a JSON object", path);
    const json_t *preset = json_object_get(all, "preset");
    if (code == SIM_OK && preset)
        code = set_json(config, "preset", preset, depth, st);
    json_object_foreach(all, name, value)
    {
        if (code == SIM_OK && strcmp(name, "preset") != 0)
            code = set_json(config, name, value, depth, st);
    }
    json_decref(all);
    return code;
}

static sim_code refuse_preset(const char *name, sim_status *st)
{
    char names[256] = "", behind[512];
    bn_near near = bn_near_begin(name);
    for (size_t i = 0; sim_preset_at(i); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", sim_preset_at(i)->name);
        bn_near_try(&near, sim_preset_at(i)->name);
    }
    bn_meant_put((bn_meant){bn_near_best(&near), "There are", names}, behind, sizeof behind);
    return sim_fail(st, SIM_INVALID_ARGUMENT, "there is no preset %s%s", name, behind);
}

static sim_code set_preset(sim_config *config, const char *name, int depth, sim_status *st)
{
    const sim_preset *preset = sim_preset_find(name);
    if (!preset)
        return refuse_preset(name, st);
    sim_code code = set_list(config, preset->settings, depth + 1, st);
    snprintf(config->preset, sizeof config->preset, "%s", name);
    return code;
}

static sim_code refuse_name(const char *name, sim_status *st)
{
    char names[640] = "", behind[704];
    bn_near near = bn_near_begin(name);
    for (size_t i = 0, used = 0; i < SETTING_COUNT && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 settings[i].name);
        bn_near_try(&near, settings[i].name);
    }
    const char *best = bn_near_best(&near);
    /* All are many: who made a slip needs them not. */
    bn_meant_put(best ? (bn_meant){best, "runtime/sim/README.md lists all", ""}
                      : (bn_meant){NULL, "There are", names},
                 behind, sizeof behind);
    return sim_fail(st, SIM_INVALID_ARGUMENT, "there is no setting %.*s%s", BN_FIT(name, 24),
                    behind);
}

/* ---- entry ------------------------------------------------------------------------------- */

static sim_code set_at_depth(sim_config *config, const char *name, const char *value, int depth,
                             sim_status *st)
{
    const setting *s = NULL;
    for (size_t i = 0; i < SETTING_COUNT && !s; i++)
        if (strcmp(settings[i].name, name) == 0)
            s = &settings[i];
    if (!s)
        return refuse_name(name, st);
    if (depth > MAX_DEPTH)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s=%s: presets and files refer to each other",
                        name, value);
    void *at = (char *)config + s->offset;
    switch (s->kind) {
    case TEXT:
        return set_text(s, at, value, st);
    case WHOLE:
    case REAL:
        return set_number(s, at, value, st);
    case FLAG:
        return set_flag(s, at, value, st);
    case STATED:
        return set_stated(config, value, st);
    case FAULTS:
        return sim_faults_parse(config, value, st);
    case PRESET:
        return set_preset(config, value, depth, st);
    case FILE_NAME:
        return set_file(config, value, depth + 1, st);
    }
    return SIM_OK;
}

sim_code sim_config_set(sim_config *config, const char *name, const char *value, sim_status *st)
{
    return set_at_depth(config, name, value, 0, st);
}

sim_code sim_config_check(const sim_config *config, sim_status *st)
{
    if (config->interference_us > 0 && config->interference_us >= config->interference_period_us)
        return sim_fail(st, SIM_INVALID_ARGUMENT,
                        "interference_us=%g: wants less than interference_period_us, which is %g",
                        config->interference_us, config->interference_period_us);
    if ((config->burst_rate > 0) != (config->burst_us > 0))
        return sim_fail(st, SIM_INVALID_ARGUMENT,
                        "burst_rate=%g and burst_us=%g: wants both above 0 or none",
                        config->burst_rate, config->burst_us);
    return SIM_OK;
}

sim_code sim_config_begin(sim_config *config, sim_status *st)
{
    *config = (sim_config){.values = "auto",
                           .devices = 1,
                           .seed = -1,
                           .evaluate_limit = 20000000,
                           .device_us = -1,
                           .efficiency = 1,
                           .outlier_factor = 1,
                           .slow_factor = 1,
                           .wander_executions = 100};
    const char *file = getenv("PJRT_SIM_CONFIG"), *list = getenv("PJRT_SIM");
    sim_code code = set_preset(config, DEFAULT_PRESET, 0, st);
    if (code == SIM_OK && file && *file)
        code = set_file(config, file, 0, st);
    if (code == SIM_OK && list && *list)
        code = set_list(config, list, 0, st);
    return code;
}

/* ---- a client's options ----------------------------------------------------------------- */

static sim_code set_option(sim_config *config, const PJRT_NamedValue *option, sim_status *st)
{
    char value[4096], name[64];
    snprintf(name, sizeof name, "%.*s", (int)option->name_size, option->name);
    switch (option->type) {
    case PJRT_NamedValue_kString:
        if (option->value_size >= sizeof value)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: too long", name);
        snprintf(value, sizeof value, "%.*s", (int)option->value_size, option->string_value);
        break;
    case PJRT_NamedValue_kInt64:
        snprintf(value, sizeof value, "%lld", (long long)option->int64_value);
        break;
    case PJRT_NamedValue_kFloat:
        snprintf(value, sizeof value, "%.9g", (double)option->float_value);
        break;
    case PJRT_NamedValue_kBool:
        snprintf(value, sizeof value, "%s", option->bool_value ? "true" : "false");
        break;
    default:
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: no setting is a list", name);
    }
    return sim_config_set(config, name, value, st);
}

/* A preset is set first, wherever it stands, because other options change single figures of
 * it. */
sim_code sim_options_read(sim_config *config, const char *preset_name,
                          const PJRT_NamedValue *options, size_t count, sim_status *st)
{
    sim_code code = sim_config_begin(config, st);
    if (code == SIM_OK && preset_name)
        code = sim_config_set(config, "preset", preset_name, st);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count && code == SIM_OK; i++) {
            const PJRT_NamedValue *option = &options[i];
            bool preset = option->name_size == 6 && memcmp(option->name, "preset", 6) == 0;
            if (preset == (pass == 0))
                code = set_option(config, option, st);
        }
    }
    return code == SIM_OK ? sim_config_check(config, st) : code;
}

void sim_version_text(const sim_config *config, char *text, size_t size)
{
    snprintf(text, size, "simulated, preset %s; times are modelled", config->preset);
}
