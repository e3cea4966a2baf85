/*
 * provenance.c - the runtime and the machine of a record, and the phases of its process.
 */
#include "results/records/estimates.h"
#include "results/records/records_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* ---- the environment ----------------------------------------------------------------- */

/* Prefixes of variables that frameworks read, and the libraries that compute for them. This list
 * alone decides which variables of a framework's process set its figures apart: of frameworks that
 * bench runs, whose scripts report these and more (contrib/frontends/common/front_main.py), and of
 * recordings. */
static const char *const framework_variables[] = {
    "DNNL_",     "GOMP_",      "JAX_",   "KMP_",    "MKL_",  "NPROC", "OMP_",    "ONEDNN_",
    "OPENBLAS_", "PJRT_NPROC", "PTXLA_", "PT_XLA_", "TORCH", "TPU_",  "TF_CPP_", "XLA_"};
/* Exceptions: they name the plugin, which bench itself sets and a record has elsewhere, or say how
 * much is logged. XLA_FLAGS has a condition of its own. */
static const char *const framework_others[] = {"JAX_PLATFORMS", "PTXLA_TPU_LIBRARY_PATH",
                                               "TPU_LIBRARY_PATH", "TF_CPP_MIN_LOG_LEVEL",
                                               "XLA_FLAGS"};

/* Whether the variable whose name is the LENGTH bytes at NAME changes what a framework's steps
 * take. */
static bool is_framework_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof framework_others / sizeof *framework_others; i++)
        if (strlen(framework_others[i]) == length && memcmp(name, framework_others[i], length) == 0)
            return false;
    for (size_t i = 0; i < sizeof framework_variables / sizeof *framework_variables; i++)
        if (strncmp(name, framework_variables[i], strlen(framework_variables[i])) == 0)
            return true;
    return false;
}

/* Puts VARIABLE, "NAME=VALUE", into OBJECT, unless it is empty. */
static void add_variable(json_t *object, const char *variable)
{
    const char *equals = strchr(variable, '=');
    if (!equals || !equals[1])
        return;
    char *name = bn_strndup(variable, (size_t)(equals - variable));
    json_object_set_new(object, name, res_json_text(equals + 1));
    free(name);
}

void res_environment_add(json_t *object, const char *const *prefixes)
{
    for (char **variable = environ; *variable; variable++) {
        const char *const *prefix = prefixes;
        while (*prefix && strncmp(*variable, *prefix, strlen(*prefix)) != 0)
            prefix++;
        if (*prefix)
            add_variable(object, *variable);
    }
}

void res_environment_add_framework(json_t *object)
{
    for (char **variable = environ; *variable; variable++)
        if (is_framework_variable(*variable, strcspn(*variable, "=")))
            add_variable(object, *variable);
}

/* ---- the runtime that was measured
 * ---------------------------------------------------------------- */

bool res_same_label(const char *a, const char *b)
{
    const char *left, *right;
    size_t left_length = 0, right_length = 0;
    while (*a && *b) {
        a += bn_plain_next(a, &left, &left_length);
        b += bn_plain_next(b, &right, &right_length);
        if (left_length != right_length || memcmp(left, right, left_length) != 0)
            return false;
    }
    return *a == *b;
}

const char *res_plugin_sha256(const res_record *record)
{
    return res_provenance_text(record, RES_PROV_RUNTIME_SHA256);
}

json_t *res_runtime_identity(const res_record *record)
{
    static const char *const members[] = {
        "path",     "sha256",           "api_version", "attributes", "label",
        "platform", "platform_version", "device",      "options",    "compile_flags"};
    const json_t *runtime = res_provenance(record, RES_PROV_RUNTIME);
    json_t *identity = json_object();
    json_object_set_new(identity, "runtime", res_json_text(record->experiment.runtime));
    json_object_set_new(identity, "simulated", json_boolean(record->simulated));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(runtime, members[i]);
        json_object_set_new(identity, members[i], value ? json_deep_copy(value) : json_null());
    }
    return identity;
}

const char *res_group_id(const res_record *record)
{
    return res_provenance_text(record, RES_PROV_GROUP_ID);
}

int res_group_process(const res_record *record)
{
    const int64_t process = res_provenance_integer(record, RES_PROV_GROUP_PROCESS, 0);
    return process > 0 && process <= RES_MOST_REPETITIONS ? (int)process : 0;
}

/* ---- estimates ----------------------------------------------------------------------- */

bool res_is_estimate(const res_experiment *e)
{
    const size_t length = strlen(e->runtime), mark = strlen(RES_ESTIMATED);
    return length >= mark && strcmp(e->runtime + length - mark, RES_ESTIMATED) == 0;
}

const json_t *res_record_estimate(const res_record *record)
{
    const json_t *estimate = res_provenance(record, RES_PROV_ESTIMATE);
    return json_is_object(estimate) ? estimate : NULL;
}

double res_estimate_number(const json_t *estimate, const char *name)
{
    const json_t *value = json_object_get(estimate, name);
    const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    return isfinite(number) && number >= 0 ? number : (double)NAN;
}

double res_device_peak(double peak, double host_temp)
{
    if (!(peak >= 0))
        return -1;
    return host_temp > 0 && host_temp <= peak ? peak - host_temp : peak;
}

double res_largest_known(res_amount_at *amount, const void *context, size_t first, size_t end)
{
    double most = -1;
    for (size_t i = first; i < end; i++) {
        const double one = amount(context, i);
        if (!(one >= 0))
            return -1;
        most = fmax(most, one);
    }
    return most;
}

void res_estimates_split(res_collection *all, res_collection *estimates)
{
    size_t kept = 0;
    *estimates = (res_collection){.records = bn_zalloc(all->count, sizeof(res_record *))};
    for (size_t i = 0; i < all->count; i++)
        if (res_is_estimate(&all->records[i]->experiment))
            estimates->records[estimates->count++] = all->records[i];
        else
            all->records[kept++] = all->records[i];
    all->count = kept;
}

/* ---- conditions ---------------------------------------------------------------------- */

/* In place of how names begin: those that is_framework_variable has. */
#define FRAMEWORK "the framework's"

/* Members of the provenance that must be alike, besides the build. Settings of the runtime are an
 * axis of experiments and compared as such; they include the simulated device's environment. */
typedef struct condition {
    res_provenance_id member;
    const char *variables; /* those members of MEMBER whose names begin so, or that FRAMEWORK names;
                              NULL: all of it */
    const char *word;
    bool of_front_end; /* two front ends need not be alike in it */
} condition;

static const condition conditions[] = {
    {RES_PROV_HOST_NAME, NULL, "host", false},
    {RES_PROV_HOST_CPU, NULL, "processor", false},
    {RES_PROV_HOST_CORES, NULL, "cores", false},
    {RES_PROV_HOST_KERNEL, NULL, "kernel", false},
    {RES_PROV_HOST_GOVERNOR, NULL, "governor", false},
    {RES_PROV_HOST_BENCH, NULL, "version of bench", false},
    /* Without thread ids, which differ in each process. */
    {RES_PROV_PINNING_PIN, NULL, "pinning", false},
    {RES_PROV_PINNING_HOST, NULL, "pinning", false},
    {RES_PROV_PINNING_RUNTIME, NULL, "pinning", false},
    /* Their number, not which: a scheduler assigns each job different cores. */
    {RES_PROV_PROCESS_CORES, NULL, "cores of the process", false},
    {RES_PROV_PROCESS_NICE, NULL, "priority", false},
    {RES_PROV_PROCESS_POLICY, NULL, "priority", false},
    {RES_PROV_IDLE_CORES, NULL, "sleep of idle cores", false},
    {RES_PROV_RUNTIME_OPTIONS, NULL, "options of the runtime", false},
    {RES_PROV_RUNTIME_FLAGS, NULL, "flags of the compiler", false},
    {RES_PROV_RUNTIME_ENVIRONMENT, "XLA_FLAGS", "XLA_FLAGS", false},
    {RES_PROV_RUNTIME_ENVIRONMENT, "LIBTPU_INIT_ARGS", "LIBTPU_INIT_ARGS", false},
    {RES_PROV_RUNTIME_ENVIRONMENT, "MALLOC_", "MALLOC_ variables", false},
    {RES_PROV_RUNTIME_ENVIRONMENT, "GLIBC_TUNABLES", "GLIBC_TUNABLES", false},
    {RES_PROV_RUNTIME_ENVIRONMENT, "LD_PRELOAD", "LD_PRELOAD", false},
    {RES_PROV_FRONT_END_VERSIONS, NULL, "versions of the framework", true},
    {RES_PROV_FRONT_END_SCRIPT, NULL, "script of the framework", true},
    /* Reported by the framework's script; for a recording, found by bench record. */
    {RES_PROV_FRONT_END_FLAGS, FRAMEWORK, "variables of the framework", true},
    {RES_PROV_RUNTIME_ENVIRONMENT, FRAMEWORK, "variables of the framework", true},
};
#define CONDITIONS (sizeof conditions / sizeof *conditions)

/* The members of ALL that VARIABLES of a condition select (new reference); NULL: none. */
static json_t *only(json_t *all, const char *variables)
{
    json_t *some = json_object(), *value;
    const char *name;
    const bool framework = strcmp(variables, FRAMEWORK) == 0;
    json_object_foreach(all, name, value)
    {
        if (framework ? is_framework_variable(name, strlen(name))
                      : strncmp(name, variables, strlen(variables)) == 0)
            json_object_set(some, name, value);
    }
    if (json_object_size(some) > 0)
        return some;
    json_decref(some);
    return NULL;
}

/* RECORD's value of condition C (new reference); NULL: it has none. */
static json_t *value_of(const res_record *record, const condition *c)
{
    json_t *value = res_provenance(record, c->member);
    return c->variables ? only(value, c->variables) : json_incref(value);
}

static bool is_alike(const res_record *a, const res_record *b, const condition *c)
{
    json_t *left = value_of(a, c), *right = value_of(b, c);
    const bool differs = strcmp(a->experiment.front_end, b->experiment.front_end) != 0;
    const bool alike =
        left == right || (c->of_front_end && differs) || (left && right && json_equal(left, right));
    json_decref(left);
    json_decref(right);
    return alike;
}

/* Whether WORD is one of LIST, "host, cores": "cores" is none of "sleep of idle cores". */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    while (*list && (strncmp(list, word, length) != 0 || !strchr(",", list[length]))) {
        list += strcspn(list, ",");
        list += strspn(list, ", ");
    }
    return *list != '\0';
}

bool res_same_conditions(const res_record *a, const res_record *b, char *differing, size_t size)
{
    bool same = true;
    for (size_t i = 0; i < CONDITIONS; i++) {
        if (is_alike(a, b, &conditions[i]))
            continue;
        same = false;
        /* Each word once: several records may differ in the same. */
        if (!has_word(differing, conditions[i].word))
            snprintf(differing + strlen(differing), size - strlen(differing), "%s%s",
                     differing[0] ? ", " : "", conditions[i].word);
    }
    return same;
}

static void mark(const char *text, size_t length, char out[RES_MARK])
{
    char digest[BN_SHA256_TEXT];
    bn_sha256(text, length, digest);
    memcpy(out, digest, RES_MARK - 1);
    out[RES_MARK - 1] = '\0';
}

void res_group_mark(const res_record *record, char out[RES_MARK])
{
    const char *group = res_group_id(record);
    out[0] = '\0';
    if (group[0])
        mark(group, strlen(group), out);
}

/* Appends RECORD's values of all conditions that are, or are not, of its framework. A record need
 * not have any of a framework. */
static void put_conditions(const res_record *record, bool of_front_end, bn_text *out)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        if (conditions[i].of_front_end != of_front_end)
            continue;
        json_t *value = value_of(record, &conditions[i]);
        if (of_front_end && !value)
            continue;
        char *text = value ? json_dumps(value, JSON_ENSURE_ASCII | JSON_COMPACT | JSON_SORT_KEYS |
                                                   JSON_ENCODE_ANY)
                           : NULL;
        bn_text_printf(out, "%s=%s\n", conditions[i].word, text ? text : "");
        free(text);
        json_decref(value);
    }
}

/* Digits of a mark that are of the machine and the runtime, where a front end has the others. */
#define MARK_SHARED 8

void res_conditions_mark(const res_record *record, char out[RES_MARK])
{
    bn_text all = {0}, own = {0};
    char digits[RES_MARK];
    put_conditions(record, false, &all);
    put_conditions(record, true, &own);
    mark(all.data, all.length, out);
    if (own.length > 0) {
        mark(own.data, own.length, digits);
        memcpy(out + MARK_SHARED, digits, RES_MARK - 1 - MARK_SHARED);
    }
    bn_text_free(&all);
    bn_text_free(&own);
}

const char *res_mark_front_end(const char *conditions_mark)
{
    return strlen(conditions_mark) == RES_MARK - 1 ? conditions_mark + MARK_SHARED : "";
}

/* ---- phases -------------------------------------------------------------------------------- */

/* JSON's member NAME; NaN unless it is a time. */
static double ns_of(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    const double ns = json_is_number(value) ? json_number_value(value) : (double)NAN;
    return ns >= 0 && ns < 9e18 ? ns : (double)NAN;
}

static bool read_steps(const json_t *json, res_phases *p)
{
    double sum = 0;
    if (!json_is_object(json))
        return true;
#define X(name) sum += p->steps.name##_ns = ns_of(json, #name "_ns");
    RES_PHASES_OF_STEPS(X)
#undef X
    p->recorded = true;
    if (json_is_null(json_object_get(json, "device_ns")))
        return true;
    /* The wall is in the sum, too; each part was rounded. */
    return fabs(sum - 2 * p->steps.wall_ns) <= 10;
}

static double steps_wall_ns(const res_record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->step_count; i++)
        sum += (double)record->wall_ns[i];
    return sum * res_steps_a_sample(record);
}

bool res_record_phases(const res_record *record, res_phases *p)
{
    const json_t *json = res_provenance(record, RES_PROV_PHASES);
    double sum = 0;
    *p = (res_phases){.recorded = false};
    if (!json_is_object(json) || !read_steps(res_provenance(record, RES_PROV_PHASES_STEPS), p))
        return false;
#define X(name) sum += p->name##_ns = ns_of(json, #name "_ns");
    RES_PHASES(X)
#undef X
    if (!p->recorded)
        p->steps.wall_ns = steps_wall_ns(record);
    /* The wall is in the sum, too. A NaN fits nothing. */
    return sum <= 2 * p->wall_ns + 10 && p->steps.wall_ns <= p->measuring_ns + 10;
}
