/*
 * options.c - rows of the options that commands share: the axes of experiments (axes.def), how they
 * are measured (measure.def), programs and recorded steps in place of models; and job_measure as
 * JSON for workers.
 */
#include "harness/cores/cores.h"
#include "harness/jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(job_matrix, member)

/* ---- axes ------------------------------------------------------------------------------ */

/* Axes of --program, too. */
#define OF_PROGRAMS                                                                                \
    (JOB_AXIS_BIT(RUNTIME) | JOB_AXIS_BIT(INPUT) | JOB_AXIS_BIT(IN_FLIGHT) |                       \
     JOB_AXIS_BIT(SETTINGS) | JOB_AXIS_BIT(SEED))

/* Other programs' names of the option of an axis. */
static const struct {
    res_axis_id axis;
    const char *also;
} others[] = {
    {RES_AXIS_MODEL, "m"},
    {RES_AXIS_BATCH, "b, bs, batch-size"},
    {RES_AXIS_IMAGE, "image-size"},
    {RES_AXIS_SEQ, "seq-len"},
    {RES_AXIS_DEPTH, "layers"},
    {RES_AXIS_DTYPE, "precision"},
    {RES_AXIS_RUNTIME, "backend, device, platform, plugin"},
};

/* The known values of AXIS, "a, b"; nothing for one that takes any. */
static void put_values(res_axis_id axis, bn_text *out)
{
    if (axis == RES_AXIS_RUNTIME)
        job_runtime_names(out);
    else
        (void)job_axis_takes(axis, "", out); /* no axis with a list takes a word without letters */
    model_info example;
    for (size_t i = 0; axis == RES_AXIS_MODEL && model_describe_example(i, &example); i++)
        bn_text_printf(out, ", %s", example.name);
}

/* cli_option.values has no argument, so each axis has a function. */
#define AXIS(NAME, member, declaration, ...)                                                       \
    static void values_of_##member(bn_text *out)                                                   \
    {                                                                                              \
        put_values(RES_AXIS_##NAME, out);                                                          \
    }
#include "results/records/axes.def"
#undef AXIS

static void (*const values_of[])(bn_text *out) = {
#define AXIS(NAME, member, declaration, ...) [RES_AXIS_##NAME] = values_of_##member,
#include "results/records/axes.def"
#undef AXIS
};

/* Whether AXIS has known values. */
static bool has_values(const res_axis *axis)
{
    bn_text values = {0};
    put_values(axis->id, &values);
    const bool some = values.length > 0;
    bn_text_free(&values);
    return some;
}

static cli_option axis_row(const res_axis *axis)
{
    /* --input is also given once for each file of a program. */
    const bool files = axis->id == RES_AXIS_INPUT;
    cli_option row = {
        .name = axis->option,
        .argument = axis->argument,
        .kind = files                               ? CLI_WORDS
                : axis->field.kind == RES_KIND_TEXT ? CLI_NAMES
                                                    : CLI_NUMBERS,
        .offset = files ? AT(inputs) : AT(axis) + (size_t)axis->id * sizeof(cli_list),
        .fallback = files ? NULL : axis->zero ? axis->zero : axis->usual,
        .zero = axis->zero,
        .least = axis->least,
        .most = axis->most,
        .text = axis->help,
        .single = axis->single,
        .open = axis->id == RES_AXIS_RUNTIME,
        .values = has_values(axis) ? values_of[axis->id] : NULL,
        .about = (OF_PROGRAMS >> axis->id & 1 ? 0 : JOB_ABOUT_MODEL) |
                 (axis->network ? JOB_ABOUT_NETWORK : 0) |
                 (axis->role == RES_ROLE_BLOCK || axis->role == RES_ROLE_SEED ? 0
                                                                              : JOB_ABOUT_WORK),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].axis == axis->id)
            row.also = others[i].also;
    return row;
}

const cli_table *job_axis_table(void)
{
    static cli_option rows[RES_AXIS_COUNT];
    static const cli_table table = {rows, RES_AXIS_COUNT};
    static bool made;
    for (int i = 0; i < RES_AXIS_COUNT && !made; i++)
        if (res_axes[i].option)
            rows[i] = axis_row(&res_axes[i]);
    made = true;
    return &table;
}

/* ---- measuring --------------------------------------------------------------------------- */

#define MEASURE(KIND, MEMBER, OPTION, SUITE, ...)                                                  \
    {.name = OPTION, .kind = CLI_##KIND, .offset = offsetof(job_measure, MEMBER), __VA_ARGS__},
static const cli_option measure_rows[] = {
#include "harness/jobs/measure.def"
};
#undef MEASURE

#define MEASURE(KIND, MEMBER, OPTION, SUITE, ...) SUITE,
static const char *const measure_suites[] = {
#include "harness/jobs/measure.def"
};
#undef MEASURE

#define MEASURE(KIND, MEMBER, ...) #MEMBER,
static const char *const measure_names[] = {
#include "harness/jobs/measure.def"
};
#undef MEASURE

const cli_table *job_measure_table(void)
{
    static const cli_table table = {measure_rows, JOB_MEASURE_COUNT};
    return &table;
}

const char *job_measure_suite(job_measure_id id)
{
    return measure_suites[id];
}

json_t *job_measure_to_json(const job_measure *how)
{
    json_t *json = json_object();
    for (int i = 0; i < JOB_MEASURE_COUNT; i++) {
        const void *at = (const char *)how + measure_rows[i].offset;
        json_t *value = NULL;
        if (measure_rows[i].kind == CLI_TEXT)
            value = *(const char *const *)at ? json_string(*(const char *const *)at) : NULL;
        else if (measure_rows[i].kind == CLI_NUMBER)
            value = json_integer(*(const int64_t *)at);
        else if (measure_rows[i].kind == CLI_SPAN)
            value = json_real(*(const double *)at);
        else if (measure_rows[i].kind == CLI_FLAG)
            value = json_boolean(*(const bool *)at);
        else {
            value = json_array();
            for (const char *const *one = at; *one; one++)
                json_array_append_new(value, json_string(*one));
        }
        if (value)
            json_object_set_new(json, measure_names[i], value);
    }
    return json;
}

/* Reads VALUE, NULL for absent, into the member of ROW in HOW; false: it has another type. */
static bool read_member(const cli_option *row, const json_t *value, job_measure *how)
{
    void *at = (char *)how + row->offset;
    switch (row->kind) {
    case CLI_TEXT:
        *(const char **)at = json_string_value(value);
        return !value || json_is_string(value);
    case CLI_NUMBER:
        *(int64_t *)at = json_integer_value(value);
        return json_is_integer(value);
    case CLI_SPAN:
        *(double *)at = json_number_value(value);
        return json_is_number(value);
    case CLI_FLAG:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    default:
        for (size_t i = 0; i < json_array_size(value) && i < CLI_MAX_REPEATS; i++)
            ((const char **)at)[i] = json_string_value(json_array_get(value, i));
        return json_is_array(value);
    }
}

bn_code job_measure_from_json(const json_t *json, job_measure *how, bn_status *st)
{
    *how = (job_measure){0};
    for (int i = 0; i < JOB_MEASURE_COUNT; i++) {
        const char *name = measure_names[i];
        const json_t *value = json_object_get(json, name);
        if (!read_member(&measure_rows[i], value, how) ||
            (!value && measure_rows[i].fallback))
            return bn_fail(st, BN_FORMAT, "how to measure: %s is missing or of a wrong type", name);
    }
    return BN_OK;
}

/* ---- in place of models ----------------------------------------------------------------- */

const cli_table *job_program_table(void)
{
    /* In the order of the bits JOB_PROGRAM_. */
    static const cli_option rows[] = {
        {"program", "FILE", CLI_TEXT, AT(program), .about = JOB_ABOUT_WORK,
         .text = "run this program in place of models: StableHLO as text or byte code, or a "
                 "serialized HloModuleProto or HloProto"},
        {"argument", "TYPE", CLI_WORDS, AT(types), .about = JOB_ABOUT_WORK | JOB_ABOUT_PROGRAM,
         .text = "with --program of byte code: the type of an argument, f32[2,3]; once for each, "
                 "in order; without it the program takes none"},
        {"output", "FILE.npy", CLI_WORDS, AT(outputs), .also = "o",
         .text = "with --program: file for a result of the first execution; once for each, in "
                 "order. FILE must not exist; --force replaces it"},
        {"check", "FILE.npy", CLI_WORDS, AT(checks), .about = JOB_ABOUT_PROGRAM,
         .text = "with --program: expected value of a result of the first execution; once for "
                 "each, in order"},
        {"rtol", "R", CLI_REAL, AT(rtol), .about = JOB_ABOUT_PROGRAM, .fallback = "1e-5",
         .text = "relative tolerance of --check: |result - expected| <= A + R |expected|"},
        {"atol", "A", CLI_REAL, AT(atol), .about = JOB_ABOUT_PROGRAM, .fallback = "1e-8",
         .text = "absolute tolerance of --check; bool and integers are exact"},
    };
    static const cli_table table = {rows, sizeof rows / sizeof *rows};
    return &table;
}

#undef AT
#define AT(member) offsetof(job_recorded, member)

#define USUAL_COST "recorded"

const cli_table *job_recorded_table(void)
{
    /* In the order of the bits JOB_RECORDED_. */
    static const cli_option rows[] = {
        {"recording", "DIR", CLI_TEXT, AT(folder), .about = JOB_ABOUT_WORK,
         .text = "use the step of this recording in place of models: compare runs it as bench "
                 "replay does, estimate compiles its programs"},
        {"step-program", "NAME", CLI_TEXT, AT(step_program),
         .about = JOB_ABOUT_WORK | JOB_ABOUT_RECORDING,
         .text = "of a recording: the first program of a step, by its name, a prefix of its name "
                 "and *, or a prefix of its hash; by default bench finds the steps"},
        {"process", "PID", CLI_NUMBER, AT(process), .fallback = "0", .most = UINT32_MAX,
         .about = JOB_ABOUT_WORK | JOB_ABOUT_RECORDING,
         .text = "of a recording: the process; 0: the one with the most executions"},
        {"cost", "BY", CLI_TEXT, AT(cost), .fallback = USUAL_COST,
         .about = JOB_ABOUT_WORK | JOB_ABOUT_RECORDING, .choices = JOB_COSTS,
         .text = "device time of recorded programs that a simulated device cannot read: recorded, "
                 "as measured; roofline, from the FLOPs and bytes that the recorded compiler "
                 "reported, at the rates of the simulated device"},
        {"variant", "SHAPE|HASH", CLI_TEXT, AT(variant),
         .about = JOB_ABOUT_WORK | JOB_ABOUT_RECORDING,
         .text = "of a recording whose program has several shapes: the one with this type, as "
                 "f32[17,512], of the argument that changes, or with a prefix of its hash; by "
                 "default the most frequent one"},
    };
    static const cli_table table = {rows, sizeof rows / sizeof *rows};
    return &table;
}

static bn_code check_matrix(void *part, const cli_call *call, bn_status *st)
{
    job_matrix *m = part;
    const bool program = m->program != NULL, recording = m->recorded.folder != NULL;
    const char *modelled = cli_given(call, JOB_ABOUT_MODEL);
    const char *programmed = cli_given(call, JOB_ABOUT_PROGRAM);
    const res_axis *input = &res_axes[RES_AXIS_INPUT];
    if (program && recording)
        return bn_fail(st, BN_INVALID, "give --program or --recording, not both");
    if ((program || recording) && modelled)
        return bn_fail(st, BN_INVALID, "--%s runs %s unchanged: --%s is for models",
                       program ? "program" : "recording", program ? "a program" : "a recorded step",
                       modelled);
    if (!program && programmed)
        return bn_fail(st, BN_INVALID, "--%s goes with --program, which was not given", programmed);
    if (recording)
        m->axis[RES_AXIS_MODE].count = 0; /* all modes that recorded steps have */
    if (program || recording)
        m->how.weights = NULL; /* from the file of defaults, and meant for models */
    cli_list_set(&m->axis[input->id], input->usual);
    if (program || m->inputs.count == 0)
        return BN_OK;
    return cli_list_parse(input->option, m->inputs.list[0], call->memory, &m->axis[input->id], st);
}

/* ---- a matrix alone ----------------------------------------------------------------------- */

/* All options of a matrix, for their defaults and for their names in records. */
static const cli_command matrix_options = {
    .name = "matrix",
    .size = sizeof(job_matrix),
    .groups = {{.table = job_program_table},
               {.table = job_axis_table},
               {.table = job_measure_table, .offset = offsetof(job_matrix, how)}},
};

/* The options of a recorded step, as in bench replay. */
static const cli_command recorded_options = {
    .name = "recorded step",
    .size = sizeof(job_matrix),
    .groups = {{.table = job_recorded_table,
                .offset = offsetof(job_matrix, recorded),
                .rows = JOB_RECORDED_STEP | JOB_RECORDED_COST | JOB_RECORDED_VARIANT},
               {.table = job_axis_table, .rows = JOB_AXIS_BIT(RUNTIME) | JOB_AXIS_BIT(SEED)},
               {.table = job_measure_table,
                .offset = offsetof(job_matrix, how),
                .about = JOB_ABOUT_BUILD | JOB_ABOUT_LOOP | JOB_ABOUT_KEPT}},
};

void job_matrix_usual(job_matrix *m, bn_arena *memory)
{
    cli_call call;
    bn_status st = {.code = BN_OK};
    /* Defaults of our own tables are valid. */
    (void)!cli_read_alone(&matrix_options, 0, NULL, m, memory, &call, &st);
    cli_list_set(&m->axis[RES_AXIS_INPUT], res_axes[RES_AXIS_INPUT].usual);
    m->recorded.cost = USUAL_COST;
}

static void prepare_matrix(void *part, bn_arena *memory)
{
    job_matrix_usual(part, memory);
}

const cli_part job_matrix_part = {prepare_matrix, check_matrix};

bn_code job_recorded_check(const job_matrix *m, const cli_call *call, bn_status *st)
{
    const char *recorded = cli_given(call, JOB_ABOUT_RECORDING);
    return recorded && !m->recorded.folder
               ? bn_fail(st, BN_INVALID, "--%s is for --recording, which was not given", recorded)
               : BN_OK;
}

json_t *job_matrix_echo(const job_matrix *matrix)
{
    job_matrix *m = bn_alloc(sizeof *m);
    const cli_list *input = &matrix->axis[RES_AXIS_INPUT];
    const char *words[2] = {NULL, NULL};
    bn_text text = {0};
    *m = *matrix;
    /* Where no --input was given, a suite may name values of its axis. */
    cli_list_put(input, &text);
    if (!matrix->inputs.count && text.length &&
        strcmp(text.data, res_axes[RES_AXIS_INPUT].usual) != 0) {
        words[0] = text.data;
        m->inputs = (cli_words){1, words};
    }
    json_t *echo =
        cli_echo(cli_rows(m->recorded.folder ? &recorded_options : &matrix_options), m);
    bn_text_free(&text);
    free(m);
    return echo;
}
