/*
 * coverage_plan.c - experiments of bench selftest coverage: programs of known times on the
 * simulated runtime; models on others, lazy twice and captured once.
 */
#include "harness/selftest/coverage_priv.h"
#include "runtime/pjrt/pjrt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- models ------------------------------------------------------------------------------ */

/* Models where none is named: steps of 2 to 10 ms, and one of 100 ms. */
static const char *const usual_models[][2] = {{"bert", "small"},     {"llama", "small"},
                                              {"gpt2", "small"},     {"mobilenet_v2", "small"},
                                              {"resnet18", "small"}, {"resnet18", "full"}};
#define USUAL_MODELS (sizeof usual_models / sizeof *usual_models)

/* E as lazy, lazy again, and captured. */
static void fill_models(selftest_set *set, const job_experiment *e)
{
    const double unknown = (double)NAN;
    snprintf(set->name, sizeof set->name, "%s %.*s %s on %.*s", e->what.model,
             BN_FIT(e->what.variant, 20), e->what.phase, BN_FIT(e->what.runtime, 20));
    for (int i = 0; i < SELFTEST_MEMBERS; i++) {
        set->members[i] = *e;
        snprintf(set->members[i].what.mode, sizeof set->members[i].what.mode, "%s",
                 i < 2 ? "lazy" : "capture");
    }
    set->views[0] = (selftest_view){"A/A", "lazy", 1, 1, unknown};
    set->views[1] = (selftest_view){"lazy against capture", "capture", 2, unknown, unknown};
}

/* The demand on half-widths of E's ratios; NaN under load, and where bench run would measure
 * longer. */
static double half_width_of(const selftest_plan *plan, const job_experiment *e)
{
    if (plan->options->load > 0 || e->how.min_time < SELFTEST_BUDGET_SECONDS)
        return (double)NAN;
    return strncmp(e->what.variant, "small", strlen("small")) == 0 ? SELFTEST_HALF_WIDTH_SMALL
                                                                   : SELFTEST_HALF_WIDTH;
}

/* Adds a set for each experiment of MATRIX. */
static bn_code add_models(selftest_plan *plan, const job_matrix *matrix, bn_status *st)
{
    job_experiment *list = NULL;
    size_t count = 0;
    bn_text notes = {0};
    bn_code code = job_matrix_expand(matrix, &list, &count, &notes, st);
    bn_grow(&plan->sets, plan->count + count, &plan->capacity, sizeof *plan->sets);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        selftest_set *set = &plan->sets[plan->count++];
        *set = (selftest_set){.half_width = half_width_of(plan, &list[i])};
        fill_models(set, &list[i]);
    }
    bn_text_free(&notes);
    free(list);
    return code;
}

static bn_code plan_models(selftest_plan *plan, const char *runtime, bn_status *st)
{
    job_matrix m = *plan->options->matrix;
    const bool usual = !plan->options->models_given;
    bn_code code = BN_OK;
    job_matrix_set(&m, RES_AXIS_RUNTIME, runtime);
    job_matrix_set(&m, RES_AXIS_MODE, "lazy");
    job_matrix_set_number(&m, RES_AXIS_SEED, 1);
    m.how.store = plan->store;
    m.how.cache_dir = plan->cache;
    for (size_t i = 0; code == BN_OK && usual && i < USUAL_MODELS; i++) {
        job_matrix_set(&m, RES_AXIS_MODEL, usual_models[i][0]);
        job_matrix_set(&m, RES_AXIS_VARIANT, usual_models[i][1]);
        code = add_models(plan, &m, st);
    }
    return usual || code != BN_OK ? code : add_models(plan, &m, st);
}

/* ---- the simulated runtime ------------------------------------------------------------------ */

/* Steps of the short program and of the long one, next to which bench's own microseconds vanish. */
#define SHORT_US    4000
#define LONG_US     24000
/* Measuring time of a member in a process. Its disturbances are set, so more time would add
 * nothing. */
#define SIM_SECONDS 0.3

static const char *const sim_usual[] = {"preset=ideal", "values=none",
                                        "stated=short:4000:0;long:24000:0", "jitter=0.03"};
static const struct {
    const char *name, *settings[5];
} sim_cases[SELFTEST_SIM_CASES] = {
    {"simulated, process 3 %", {"process_sd=0.03"}},
    {"simulated, process 10 %", {"process_sd=0.1"}},
    {"simulated, interference",
     {"process_sd=0.03", "wander_sd=0.03", "wander_executions=50", "burst_rate=3",
      "burst_us=4000"}},
};

/* The programs short and long: y = a + a, with the names that their times are stated for. */
static bn_code write_programs(selftest_plan *plan, bn_status *st)
{
    static const char *const names[2] = {"short", "long"};
    bn_code code = BN_OK;
    for (int i = 0; i < 2 && code == BN_OK && !plan->program[i]; i++) {
        bn_text text = {0};
        job_matrix m = *plan->options->matrix;
        snprintf(plan->file[i], sizeof plan->file[i], "%s/%s.mlir", plan->folder, names[i]);
        bn_text_printf(&text,
                       "module @%s {\n  func.func public @main(%%a: tensor<f32>) -> tensor<f32> {\n"
                       "    %%0 = stablehlo.add %%a, %%a : tensor<f32>\n"
                       "    return %%0 : tensor<f32>\n  }\n}\n",
                       names[i]);
        code = bn_file_write_atomic(plan->file[i], text.data, text.length, st);
        bn_text_free(&text);
        m.program = plan->file[i];
        if (code == BN_OK)
            code = job_matrix_request(&m, &plan->program[i], st);
    }
    return code;
}

/* The programs under the settings of case INDEX: short, short again, and long. */
static bn_code plan_simulated(selftest_plan *plan, size_t index, bn_status *st)
{
    job_matrix m = *plan->options->matrix;
    size_t n = 0;
    for (size_t i = 0; i < sizeof sim_usual / sizeof *sim_usual; i++)
        m.how.runtime_option[n++] = sim_usual[i];
    for (size_t i = 0; i < 5 && sim_cases[index].settings[i]; i++)
        m.how.runtime_option[n++] = sim_cases[index].settings[i];
    m.how.runtime_option[n] = NULL;
    job_matrix_set(&m, RES_AXIS_RUNTIME, "sim");
    job_matrix_set(&m, RES_AXIS_MODEL, "resnet18"); /* which is not run */
    job_matrix_set_number(&m, RES_AXIS_SEED, 1);
    m.how.store = plan->store;
    m.how.cache_dir = "";
    m.how.device_time = "slope";
    m.how.min_time = fmin(m.how.min_time, SIM_SECONDS);
    m.how.warmup = 10;
    m.program = plan->file[0];
    m.request = plan->program[0];
    const size_t before = plan->count;
    bn_code code = add_models(plan, &m, st);
    if (code != BN_OK)
        return code;
    plan->count = before + 1;
    selftest_set *set = &plan->sets[before];
    set->simulated = true;
    snprintf(set->name, sizeof set->name, "%s", sim_cases[index].name);
    for (int i = 0; i < SELFTEST_MEMBERS; i++) {
        set->members[i] = set->members[0];
        set->members[i].program = plan->program[i < 2 ? 0 : 1];
        job_program_describe(set->members[i].program, &set->members[i].what);
    }
    set->views[0] = (selftest_view){"A/A", "short", 1, 1, SHORT_US * 1e3};
    set->views[1] =
        (selftest_view){"one against six", "long", 2, (double)SHORT_US / LONG_US, LONG_US * 1e3};
    return BN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Whether there is RUNTIME. Its path is not on the stack, where a matrix is. */
static bn_code find_runtime(const char *runtime, bn_status *st)
{
    const size_t size = 4096;
    char *path = bn_alloc(size);
    const bn_code code = rt_plugin_find(runtime, path, size, st);
    free(path);
    return code;
}

static bn_code plan_runtime(selftest_plan *plan, const char *runtime, bn_status *st)
{
    bn_code code = find_runtime(runtime, st);
    if (code != BN_OK || !job_simulated_name(runtime))
        return code == BN_OK ? plan_models(plan, runtime, st) : code;
    code = write_programs(plan, st);
    for (size_t i = 0; i < SELFTEST_SIM_CASES && code == BN_OK; i++)
        code = plan_simulated(plan, i, st);
    return code;
}

bn_code selftest_plan_make(const selftest_options *options, uint64_t seed, selftest_plan *plan,
                           bn_status *st)
{
    const cli_list *runtimes = &options->matrix->axis[RES_AXIS_RUNTIME];
    *plan = (selftest_plan){.options = options, .seed = seed};
    if (selftest_folder_make("coverage", plan->folder, st) != BN_OK) {
        plan->folder[0] = '\0';
        return st->code;
    }
    snprintf(plan->store, sizeof plan->store, "%s/store", plan->folder);
    snprintf(plan->cache, sizeof plan->cache, "%s/cache", plan->folder);
    snprintf(plan->report, sizeof plan->report, "%s/report.json", plan->folder);
    if (mkdir(plan->cache, 0700) != 0)
        return bn_fail_errno(st, errno, "%s", plan->cache);
    bn_code code = BN_OK;
    for (size_t i = 0; i < runtimes->count && code == BN_OK; i++)
        code = plan_runtime(plan, runtimes->value[i].word, st);
    for (size_t i = 0; i < plan->count; i++) {
        selftest_set *set = &plan->sets[i];
        set->most = (size_t)options->tables;
        set->records =
            bn_zalloc(set->most * SELFTEST_MOST_PROCESSES * SELFTEST_MEMBERS, sizeof *set->records);
        set->late = bn_zalloc(set->most, sizeof *set->late);
    }
    return code;
}

void selftest_plan_free(selftest_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const selftest_set *set = &plan->sets[i];
        for (size_t k = 0;
             set->records && k < set->most * SELFTEST_MOST_PROCESSES * SELFTEST_MEMBERS; k++)
            res_record_free(set->records[k]);
        free(set->records);
        free(set->late);
    }
    free(plan->sets);
    for (int i = 0; i < 2; i++)
        json_decref(plan->program[i]);
    if (plan->folder[0])
        selftest_folder_remove(plan->folder);
    *plan = (selftest_plan){0};
}
