/*
 * recorded.c - recorded steps of a framework, in the worker: a request (harness/jobs/step.h) names
 * programs, inputs and executions; here they become a sequence, whose inputs are made up, and the
 * mode that runs it.
 */
#include "harness/worker/arrays_priv.h"
#include "harness/worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct worker_recorded {
    bn_arena *memory; /* of all but the files and the inputs' contents */
    char **files;     /* [2 * part]: code, options; malloc */
    mode_part *parts;
    mode_input *inputs;
    mode_run *runs;
    mode_sequence of;
};

void worker_recorded_free(worker_recorded *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->files && i < 2 * r->of.part_count; i++)
        free(r->files[i]);
    for (size_t i = 0; r->inputs && i < r->of.input_count; i++)
        free((void *)(uintptr_t)r->inputs[i].host);
    bn_arena_free(r->memory);
    free(r);
}

/* ---- programs --------------------------------------------------------------------------- */

/* Reads the file that member NAME of PROGRAM names, and checks its digest: all processes replay the
 * same. */
static bn_code read_file(const json_t *program, const char *name, char **bytes, size_t *size,
                         bn_status *st)
{
    const json_t *file = json_object_get(program, name);
    const char *path = json_string_value(json_object_get(file, "path"));
    const char *wanted = json_string_value(json_object_get(file, "sha256"));
    char found[BN_SHA256_TEXT];
    bn_code code = bn_regular_read(path ? path : "", bytes, size, st);
    if (code != BN_OK)
        return code;
    bn_sha256(*bytes, *size, found);
    if (!wanted || strcmp(found, wanted) != 0)
        return bn_fail(st, BN_CHANGED, "%s was changed while it was in use", path);
    return BN_OK;
}

/* HEAD and "f32[2];s32[]" of LIST, an array of texts, in the memory of R. */
static const char *types_flag(worker_recorded *r, const char *head, const json_t *list)
{
    bn_text text = {0};
    bn_text_puts(&text, head);
    for (size_t i = 0; i < json_array_size(list); i++)
        bn_text_printf(&text, "%s%s", i ? ";" : "", json_string_value(json_array_get(list, i)));
    const char *copy = bn_arena_strdup(r->memory, text.data);
    bn_text_free(&text);
    return copy;
}

/* The member of a program with its time, for COST. */
static const char *time_member(const char *cost)
{
    return strcmp(cost, "estimated") == 0 ? "estimated_us" : "device_us";
}

/* Numbers of PROGRAM for a simulated device, into FLAGS; returns how many. */
static size_t cost_flags(worker_recorded *r, const json_t *program, const char *cost, bool by_model,
                         const char **flags)
{
    const struct {
        const char *member, *flag;
    } numbers[] = {{time_member(cost), "opaque_device_us"},
                   {"flops", "opaque_flops"},
                   {"bytes", "opaque_bytes"}};
    size_t n = 0;
    for (size_t i = by_model ? 1 : 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* Compilers leave out what is zero. */
        const json_t *value = json_object_get(program, numbers[i].member);
        char text[64];
        if (!json_is_number(value) && !by_model)
            continue;
        snprintf(text, sizeof text, "%s=%.9g", numbers[i].flag, json_number_value(value));
        flags[n++] = bn_arena_strdup(r->memory, text);
    }
    return n;
}

/* States PROGRAM to a simulated device, which may not be able to read it. */
static bn_code state_program(worker_recorded *r, const json_t *program, const char *cost,
                             mode_part *part, bn_status *st)
{
    enum { MOST = 8 };
    const bool timed = json_is_number(json_object_get(program, time_member(cost)));
    const bool weighed = json_is_number(json_object_get(program, "flops")) ||
                         json_is_number(json_object_get(program, "bytes"));
    /* Where its recorded time is missing, the model's cost only lets it compile: check_times then
     * reports the missing time. */
    const bool by_model = !timed || strcmp(cost, "roofline") == 0;
    if (by_model && !weighed && strcmp(cost, "roofline") == 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the recorded compiler reported neither FLOPs nor bytes, which --cost "
                       "roofline needs; record on a runtime whose compiler reports them, such as "
                       "cpu-xla, or leave --cost out");
    if (by_model && !weighed)
        return BN_OK; /* its cost is unknown; the device may be able to read it */
    const char **flags = bn_arena_zalloc(r->memory, MOST * sizeof *flags);
    char name[96];
    snprintf(name, sizeof name, "opaque_name=%.64s", part->label);
    flags[0] = bn_arena_strdup(r->memory, name);
    flags[1] = types_flag(r, "opaque_arguments=", json_object_get(program, "arguments"));
    flags[2] = types_flag(r, "opaque_results=", json_object_get(program, "results"));
    flags[3] = types_flag(r, "opaque_aliases=", json_object_get(program, "aliases"));
    part->flags = flags;
    part->flag_count = 4 + cost_flags(r, program, cost, by_model, flags + 4);
    return BN_OK;
}

static bn_code read_part(worker_session *s, worker_recorded *r, size_t index, bn_status *st)
{
    const json_t *request = s->experiment->program;
    const json_t *program = json_array_get(json_object_get(request, "programs"), index);
    const char *cost = json_string_value(json_object_get(request, "cost"));
    mode_part *part = &r->parts[index];
    part->label = json_string_value(json_object_get(program, "name"));
    part->program.format = json_string_value(json_object_get(program, "form"));
    part->argument_count = json_array_size(json_object_get(program, "arguments"));
    part->result_count = json_array_size(json_object_get(program, "results"));
    if (!part->label || !part->program.format || !cost)
        return bn_fail(st, BN_FORMAT, "the request's program %zu lacks its name or form", index);
    char **files = &r->files[2 * index];
    size_t size = 0;
    bn_code code = read_file(program, "code", &files[0], &size, st);
    part->program.code = files[0];
    part->program.size = size;
    if (code == BN_OK && json_object_get(program, "options")) {
        code = read_file(program, "options", &files[1], &size, st);
        part->program.options = files[1];
        part->program.options_size = size;
    }
    if (code == BN_OK && strcmp(cost, "estimated") == 0 && !worker_session_simulated(s))
        code = bn_fail(st, BN_INVALID,
                       "--estimates states times to a simulated device, and this one is real");
    if (code == BN_OK && worker_session_simulated(s))
        code = state_program(r, program, cost, part, st);
    return code == BN_OK ? BN_OK : bn_context(st, "program %s", part->label);
}

/* ---- inputs and executions ------------------------------------------------------------------ */

static bn_code make_input(const worker_session *s, worker_recorded *r, size_t index, bn_status *st)
{
    const json_t *inputs = json_object_get(s->experiment->program, "inputs");
    const json_t *input = json_array_get(inputs, index);
    const char *type = json_string_value(json_object_get(input, "type"));
    const json_int_t from = json_integer_value(json_object_get(input, "from"));
    mode_input *in = &r->inputs[index];
    char name[32];
    bn_code code = mode_type_parse(type ? type : "", &in->type, st);
    if (code != BN_OK)
        return bn_context(st, "input %zu", index);
    const int64_t bytes = mode_argument_bytes(&in->type);
    void *host = malloc((size_t)bytes + 1);
    if (!host)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for input %zu, %lld bytes", index,
                       (long long)bytes);
    snprintf(name, sizeof name, "input%zu", index);
    worker_made_up(in->type.dtype, bytes, name, s->experiment->what.seed, host);
    in->host = host;
    in->heir_of = from < 0 ? MODE_NO_VALUE : (size_t)from;
    return BN_OK;
}

/* Nanoseconds of member NAME of BEFORE, which is in microseconds; 0 where it is over an hour. */
static uint64_t before_ns(const json_t *before, const char *name)
{
    const double us = json_number_value(json_object_get(before, name));
    return us > 0 && us <= 3.6e9 ? (uint64_t)(us * 1e3) : 0;
}

/* Reads the host's time before run INDEX. */
static void read_before(const worker_session *s, mode_run *run, size_t index)
{
    const json_t *host = json_object_get(s->experiment->program, "host");
    const json_t *before = json_array_get(json_object_get(host, "before"), index);
    run->overlapped_ns = before_ns(before, "beside_us");
    run->alone_ns = before_ns(before, "alone_us");
    run->idle_ns = before_ns(before, "idle_us");
    run->waits = json_is_true(json_object_get(before, "waits"));
}

static bn_code make_run(const worker_session *s, worker_recorded *r, size_t index, bn_status *st)
{
    const json_t *runs = json_object_get(s->experiment->program, "runs");
    const json_t *run = json_array_get(runs, index);
    const json_t *arguments = json_object_get(run, "arguments");
    const json_t *keep = json_object_get(run, "keep");
    const json_int_t part = json_integer_value(json_object_get(run, "program"));
    const size_t count = json_array_size(arguments);
    size_t *values = bn_arena_zalloc(r->memory, (count + 1) * sizeof *values);
    int64_t *kept = bn_arena_zalloc(r->memory, (json_array_size(keep) + 1) * sizeof *kept);
    if (part < 0 || (uint64_t)part >= r->of.part_count || count != r->parts[part].argument_count)
        return bn_fail(st, BN_FORMAT, "the request's execution %zu does not fit its program",
                       index);
    for (size_t i = 0; i < count; i++)
        values[i] = (size_t)json_integer_value(json_array_get(arguments, i));
    for (size_t i = 0; i < json_array_size(keep); i++)
        kept[i] = json_integer_value(json_array_get(keep, i));
    r->runs[index] = (mode_run){.part = (size_t)part,
                                .arguments = values,
                                .keep = kept,
                                .keep_count = json_array_size(keep)};
    read_before(s, &r->runs[index], index);
    return BN_OK;
}

/* ---- the session ----------------------------------------------------------------------------- */

/* Fails where a program whose cost is its recorded device time has none. Programs that the device
 * can read need no time, which is known only now. */
static bn_code check_times(const worker_session *s, bn_status *st)
{
    const json_t *request = s->experiment->program;
    const json_t *programs = json_object_get(request, "programs");
    if (strcmp(json_string_value(json_object_get(request, "cost")), "recorded") != 0)
        return BN_OK;
    for (size_t i = 0; i < mode_execution_count(s->mode); i++) {
        const mode_execution *x = mode_execution_at(s->mode, i);
        const json_t *time = json_object_get(json_array_get(programs, i), time_member("recorded"));
        if (x->stats.simulated_opaque > 0 && !json_is_number(time))
            return bn_fail(st, BN_NOT_SUPPORTED,
                           "program %s: its device time was not recorded; --cost roofline weighs "
                           "it by FLOPs and bytes",
                           x->label);
    }
    return BN_OK;
}

static bn_code make_sequence(worker_session *s, worker_recorded *r, bn_status *st)
{
    const json_t *request = s->experiment->program;
    const size_t parts = json_array_size(json_object_get(request, "programs"));
    const size_t inputs = json_array_size(json_object_get(request, "inputs"));
    const size_t runs = json_array_size(json_object_get(request, "runs"));
    if (!parts || !runs)
        return bn_fail(st, BN_FORMAT, "the request has no executions");
    r->memory = bn_arena_new(65536);
    r->files = bn_arena_zalloc(r->memory, 2 * parts * sizeof *r->files);
    r->parts = bn_arena_zalloc(r->memory, parts * sizeof *r->parts);
    r->inputs = bn_arena_zalloc(r->memory, (inputs + 1) * sizeof *r->inputs);
    r->runs = bn_arena_zalloc(r->memory, runs * sizeof *r->runs);
    r->of = (mode_sequence){.parts = r->parts,
                            .part_count = parts,
                            .inputs = r->inputs,
                            .input_count = inputs,
                            .runs = r->runs,
                            .run_count = runs};
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < r->of.part_count; i++)
        code = read_part(s, r, i, st);
    for (size_t i = 0; code == BN_OK && i < r->of.input_count; i++)
        code = make_input(s, r, i, st);
    for (size_t i = 0; code == BN_OK && i < r->of.run_count; i++)
        code = make_run(s, r, i, st);
    return code;
}

static mode_pace pace_of(const char *name)
{
    return strcmp(name, MODE_REPLAY_AWAITED) == 0 ? MODE_AWAITED
           : strcmp(name, MODE_REPLAY_PACED) == 0 ? MODE_PACED
                                                  : MODE_QUEUED;
}

/* The host's part in a step of a paced replay (new reference); else NULL. */
static json_t *host_json(const worker_session *s)
{
    const json_t *host = json_object_get(s->experiment->program, "host");
    if (!host || pace_of(s->experiment->what.mode) != MODE_PACED)
        return NULL;
    return json_pack("{sO* sO* sO* sO* sO*}", "steps", json_object_get(host, "steps"), "work_ns",
                     json_object_get(host, "work_ns"), "idle_ns", json_object_get(host, "idle_ns"),
                     "waits", json_object_get(host, "waits"), "ahead",
                     json_object_get(host, "ahead"));
}

bn_code worker_session_recorded(worker_session *s, bn_status *st)
{
    const job_experiment *e = s->experiment;
    const mode_options options = worker_mode_options(e);
    worker_recorded *r = s->recorded = bn_zalloc(1, sizeof *r);
    worker_send_progress("preparing", 0, 0);
    bn_code code = make_sequence(s, r, st);
    worker_send_progress("compiling", 0, 0);
    if (code == BN_OK && pace_of(e->what.mode) == MODE_PACED &&
        !json_object_get(e->program, "host"))
        code = bn_fail(st, BN_NOT_SUPPORTED, "the recording has no times of the host");
    if (code == BN_OK)
        code =
            mode_create_sequence(s->client, &options, &r->of, pace_of(e->what.mode), &s->mode, st);
    if (code == BN_OK)
        code = check_times(s, st);
    s->call = (mode_call){0};
    return code;
}

json_t *worker_recorded_to_json(const worker_session *s)
{
    const json_t *request = s->experiment->program;
    const worker_recorded *r = s->recorded;
    size_t carried = 0, opaque = 0;
    for (size_t i = 0; i < r->of.input_count; i++)
        carried += r->inputs[i].heir_of != MODE_NO_VALUE;
    for (size_t i = 0; i < mode_execution_count(s->mode); i++)
        opaque += mode_execution_at(s->mode, i)->stats.simulated_opaque > 0;
    return json_pack("{sO* sO* sO* sI sI sI sI sI sO* sO* so* sb}", "recording",
                     json_object_get(request, "recording"), "sha256",
                     json_object_get(request, "sha256"), "recorded",
                     json_object_get(request, "recorded"), "programs", (json_int_t)r->of.part_count,
                     "executions", (json_int_t)r->of.run_count, "inputs",
                     (json_int_t)r->of.input_count, "carried", (json_int_t)carried, "opaque",
                     (json_int_t)opaque, "cost", opaque ? json_object_get(request, "cost") : NULL,
                     "topology", opaque ? json_object_get(request, "topology") : NULL, "host",
                     host_json(s), "made_up", true);
}
