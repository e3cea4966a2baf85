/*
 * fuzz_step.c - the step of a recording as a request for workers (bench replay), of events that
 * anybody could have written: whatever request is made, its numbers lead to what there is.
 */
#include "tests/fuzz/records/fuzz_recording.h"

#include "harness/jobs/jobs.h"

static json_int_t number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    fuzz_require(json_is_integer(value), "a number that is missing");
    return json_integer_value(value);
}

static const json_t *list(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    fuzz_require(json_is_array(value), "a list that is missing");
    return value;
}

static void check_types(const json_t *types)
{
    for (size_t i = 0; i < json_array_size(types); i++) {
        bn_status st = {.code = BN_OK};
        mode_argument type;
        const char *text = json_string_value(json_array_get(types, i));
        fuzz_require(text && mode_type_parse(text, &type, &st) == BN_OK &&
                         mode_argument_bytes(&type) >= 0,
                     "a type that is none");
    }
}

static void check_programs(const json_t *programs)
{
    for (size_t i = 0; i < json_array_size(programs); i++) {
        const json_t *program = json_array_get(programs, i);
        const json_t *aliases = list(program, "aliases");
        const size_t arguments = json_array_size(list(program, "arguments"));
        const size_t results = json_array_size(list(program, "results"));
        check_types(list(program, "arguments"));
        check_types(list(program, "results"));
        for (size_t k = 0; k < json_array_size(aliases); k++) {
            size_t from, to;
            const char *alias = json_string_value(json_array_get(aliases, k));
            fuzz_require(alias && sscanf(alias, "%zu:%zu", &from, &to) == 2 && from < arguments &&
                             to < results,
                         "an alias that leads nowhere");
        }
    }
}

/* Values are the inputs, then the results of each run. Returns how many there are in the end. */
static size_t check_runs(const json_t *request)
{
    const json_t *programs = list(request, "programs"), *runs = list(request, "runs");
    size_t values = json_array_size(list(request, "inputs"));
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        const json_t *arguments = list(run, "arguments"), *keep = list(run, "keep");
        const json_t *program = json_array_get(programs, (size_t)number(run, "program"));
        fuzz_require(program != NULL, "a run of no program");
        fuzz_require(json_array_size(arguments) == json_array_size(list(program, "arguments")),
                     "a run with other arguments than its program has");
        for (size_t k = 0; k < json_array_size(arguments); k++) {
            const json_int_t value = json_integer_value(json_array_get(arguments, k));
            fuzz_require(value >= 0 && (size_t)value < values, "a value that is not there yet");
        }
        for (size_t k = 0; k < json_array_size(keep); k++) {
            const json_int_t kept = json_integer_value(json_array_get(keep, k));
            fuzz_require(kept >= 0 && (size_t)kept < json_array_size(arguments),
                         "it keeps an argument that there is not");
        }
        values += json_array_size(list(program, "results"));
    }
    return values;
}

static void check_inputs(const json_t *request, size_t values)
{
    const json_t *inputs = list(request, "inputs");
    bool *taken = calloc(values + 1, sizeof *taken);
    fuzz_require(taken != NULL, "no memory");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const json_int_t from = number(input, "from");
        json_t *type = json_pack("[O]", json_object_get(input, "type"));
        check_types(type);
        json_decref(type);
        if (from == -1)
            continue;
        fuzz_require(from >= (json_int_t)json_array_size(inputs) && (size_t)from < values,
                     "an input that becomes no result");
        fuzz_require(!taken[from], "a result that two inputs become");
        taken[from] = true;
    }
    free(taken);
}

static void check_step(const job_step *step)
{
    const json_t *request = step->request;
    const char *digest = json_string_value(json_object_get(request, "sha256"));
    fuzz_require(job_is_step(request), "a request of no step");
    fuzz_require(digest && strlen(digest) == BN_SHA256_TEXT - 1, "a step without a digest");
    fuzz_require(json_array_size(list(request, "runs")) == step->executions &&
                     json_array_size(list(request, "programs")) == step->programs &&
                     json_array_size(list(request, "inputs")) == step->inputs,
                 "a step that is counted wrong");
    check_programs(list(request, "programs"));
    check_inputs(request, check_runs(request));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {.code = BN_OK};
    job_step step;
    fuzz_place p;
    fuzz_place_begin(&p, data, size);
    const job_recorded recorded = {.folder = p.folder};
    const bn_code code = job_step_read(&recorded, &step, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        check_step(&step);
    job_step_free(&step);
    fuzz_place_end(&p);
    return 0;
}
