/*
 * step.c - a recorded step as a request for workers: a steady step's programs with their files, its
 * inputs and its executions.
 */
#include "harness/jobs/step_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_DIGITS 8 /* of a digest that names a step */

/* A request in the making. */
typedef struct making {
    job_step *step;
    const rec_recording *recording;
    const rec_steps *steps;
    const rec_process *process;
    job_flow flow;
    size_t *part;      /* [program of the process]: its index in the request; JOB_FLOW_NONE: none */
    size_t *first_run; /* [index]: its first run */
    uint32_t *program; /* [index] */
    size_t parts;
    json_t *shape; /* content of the digest */
    json_t *names; /* of the parts so far: an object with a member for each */
} making;

static const rec_execution *run_of(const making *m, size_t run)
{
    return &m->process->executions[m->flow.runs[run]];
}

/* ---- which step --------------------------------------------------------------------------- */

/* Whether the COUNT executions at ORDER are of the same programs as the COUNT after them. */
static bool comes_again(const rec_process *p, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (p->executions[order[i]].program != p->executions[order[count + i]].program)
            return false;
    return true;
}

/* Whether A and B are of programs that differ in shapes at most. */
static bool same_kind(const rec_process *p, const rec_execution *a, const rec_execution *b)
{
    const char *x = p->programs[a->program].name, *y = p->programs[b->program].name;
    const size_t length = rec_stem(x);
    return a->program == b->program ||
           (length > 0 && length == rec_stem(y) && strncmp(x, y, length) == 0 &&
            a->arguments == b->arguments && a->results == b->results);
}

/* Likewise, if the second ones may be of another variant: values go the same way. */
static bool goes_on(const rec_process *p, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!same_kind(p, &p->executions[order[i]], &p->executions[order[count + i]]))
            return false;
    return true;
}

/* The executions of a steady step of the usual length that is followed by one like it, searched
 * from the middle on; NULL: none. Of a program with variants, one that another variant follows
 * does, too. */
static const uint32_t *choose_step(const rec_steps *steps)
{
    const uint32_t *next_best = NULL;
    for (size_t i = 0; i < steps->count; i++) {
        const rec_step *s = &steps->list[(steps->count / 2 + i) % steps->count];
        const size_t n = s->executions;
        if (n == steps->executions_per_step && s->first + 2 * n <= steps->order_count &&
            comes_again(steps->process, steps->order + s->first, n))
            return steps->order + s->first;
        if (!next_best && steps->variants > 0 && n == steps->executions_per_step &&
            s->first + 2 * n <= steps->order_count &&
            goes_on(steps->process, steps->order + s->first, n))
            next_best = steps->order + s->first;
    }
    return next_best;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* The type of number TYPE as text (new reference). BN_NOT_SUPPORTED: WHAT has one that cannot be
 * passed. */
static bn_code type_json(const rec_process *p, uint32_t type, const char *what, json_t **json,
                         bn_status *st)
{
    bn_text text = {0};
    mode_argument parsed;
    bn_status why = {.code = BN_OK};
    rec_type_put(p, type, &text);
    bn_code code = BN_OK;
    if (mode_type_parse(text.data, &parsed, &why) != BN_OK)
        code = bn_fail(st, BN_NOT_SUPPORTED, "%s is of type %s, which cannot be made up", what,
                       text.data);
    else
        *json = json_string(text.data);
    bn_text_free(&text);
    return code;
}

static bn_code append_type(json_t *list, const rec_process *p, uint32_t type, const char *what,
                           bn_status *st)
{
    json_t *json = NULL;
    bn_code code = type_json(p, type, what, &json, st);
    if (code == BN_OK)
        json_array_append_new(list, json);
    return code;
}

/* The type of result INDEX of run RUN: as its buffer has it, or else its program. */
static uint32_t result_type(const making *m, size_t run, uint32_t index)
{
    const rec_execution *x = run_of(m, run);
    const rec_program *program = &m->process->programs[x->program];
    const uint32_t buffer = rec_result(m->process, x, 0, index);
    const uint32_t type =
        buffer < m->process->buffer_count ? m->process->buffers[buffer].type : REC_NONE;
    if (type != REC_NONE || !program->result_types || index >= program->results)
        return type;
    return program->result_types[index];
}

/* ---- programs -------------------------------------------------------------------------------- */

/* The file NAME with the digest SHA256: in the folder of the process, or, where the recording is
 * that folder itself, in it. */
static bn_code find_file(const making *m, const char *name, const char *sha256, char **found,
                         bn_status *st)
{
    const char *folder = m->process->folder;
    char path[4096], digest[BN_SHA256_TEXT], *whole = NULL;
    for (int i = 0; i < 2; i++) {
        const int size =
            i == 0
                ? snprintf(path, sizeof path, "%s/%s/programs/%s", m->recording->path, folder, name)
                : snprintf(path, sizeof path, "%s/programs/%s", m->recording->path, name);
        if (size < 0 || (size_t)size >= sizeof path ||
            bn_file_sha256(path, digest, NULL) != BN_OK || strcmp(digest, sha256) != 0)
            continue;
        whole = realpath(path, NULL);
        if (whole)
            break;
    }
    *found = whole;
    return whole ? BN_OK
                 : bn_fail(st, BN_CHANGED, "%s is no longer in the recording's folder", name);
}

/* {"path", "sha256"} of the file HASH.FORM with the SIZE BYTES (new reference). */
static bn_code file_json(const making *m, const char *hash, const char *form, const void *bytes,
                         size_t size, json_t **json, bn_status *st)
{
    char name[RECORD_HASH_TEXT + 32], digest[BN_SHA256_TEXT], *path = NULL;
    snprintf(name, sizeof name, "%s.%.*s", hash, BN_FIT(form, 24));
    bn_sha256(bytes, size, digest);
    bn_code code = find_file(m, name, digest, &path, st);
    if (code == BN_OK)
        *json = json_pack("{ss ss}", "path", path, "sha256", digest);
    if (code == BN_OK && !*json)
        code = bn_fail(st, BN_INVALID, "the path of %s is not UTF-8", name);
    free(path);
    return code;
}

/* Adds the files of PROGRAM to JSON, and their digests to the shape. */
static bn_code add_files(making *m, const rec_program *program, json_t *json, bn_status *st)
{
    char *bytes = NULL;
    size_t size = 0;
    json_t *file = NULL;
    bn_code code = rec_program_read(m->recording, program, &bytes, &size, st);
    if (code == BN_OK)
        code = file_json(m, program->hash, program->form, bytes, size, &file, st);
    free(bytes);
    if (code != BN_OK)
        return code;
    json_array_append(m->shape, json_object_get(file, "sha256"));
    json_object_set_new(json, "code", file);
    if (!program->options[0])
        return BN_OK;
    code = rec_options_read(m->recording, program, &bytes, &size, st);
    if (code != BN_OK)
        return code;
    code = file_json(m, program->options, "options", bytes, size, &file, st);
    free(bytes);
    if (code != BN_OK)
        return code;
    json_array_append(m->shape, json_object_get(file, "sha256"));
    json_object_set_new(json, "options", file);
    return BN_OK;
}

/* The name of part INDEX, which no earlier part has: letters, digits, dots and underscores, as all
 * runtimes take it. */
static void name_part(making *m, size_t index, char name[64])
{
    const rec_program *own = &m->process->programs[m->program[index]];
    size_t used = 0;
    const char *from = own->name[0] ? own->name : "program";
    if (!isalpha((unsigned char)from[0]))
        name[used++] = '_';
    for (; *from && used < 48; from++)
        name[used++] = isalnum((unsigned char)*from) || *from == '.' ? *from : '_';
    name[used] = '\0';
    for (unsigned number = 2; json_object_get(m->names, name); number++)
        snprintf(name + used, 64 - used, "_%u", number);
    json_object_set_new(m->names, name, json_true());
}

/* The types of part INDEX's arguments and results, by its first run. */
static bn_code add_types(const making *m, size_t index, json_t *arguments, json_t *results,
                         bn_status *st)
{
    const size_t run = m->first_run[index];
    const rec_execution *x = run_of(m, run);
    char what[64];
    bn_code code = BN_OK;
    for (uint32_t a = 0; a < x->arguments && code == BN_OK; a++) {
        const uint32_t buffer = rec_argument(m->process, x, 0, a);
        snprintf(what, sizeof what, "argument %u", a);
        code = append_type(arguments, m->process, m->process->buffers[buffer].type, what, st);
    }
    for (uint32_t i = 0; i < x->results && code == BN_OK; i++) {
        snprintf(what, sizeof what, "result %u", i);
        code = append_type(results, m->process, result_type(m, run, i), what, st);
    }
    return code;
}

/* ["ARGUMENT:RESULT", ...]: for a simulated device, each argument that was donated gives its memory
 * to the first result of its type that has none yet (new reference). */
static json_t *aliases_json(const making *m, size_t index, const json_t *arguments,
                            const json_t *results)
{
    const size_t run = m->first_run[index], count = json_array_size(results);
    const rec_execution *x = run_of(m, run);
    json_t *list = json_array();
    bool *taken = bn_zalloc(count + 1, sizeof *taken);
    /* By type: no result before this one is of the type and free. */
    size_t *from = bn_zalloc(m->process->type_count + 1, sizeof *from);
    for (uint32_t a = 0; a < x->arguments; a++) {
        const uint32_t buffer = rec_argument(m->process, x, 0, a);
        char text[48];
        if (!rec_donated(m->process, m->flow.runs[run], buffer))
            continue;
        const uint32_t type = m->process->buffers[buffer].type;
        size_t *o = &from[type < m->process->type_count ? type : m->process->type_count];
        while (*o < count && (taken[*o] || !json_equal(json_array_get(results, *o),
                                                       json_array_get(arguments, a))))
            ++*o;
        if (*o == count)
            continue;
        taken[*o] = true;
        snprintf(text, sizeof text, "%u:%zu", a, *o);
        json_array_append_new(list, json_string(text));
    }
    free(from);
    free(taken);
    return list;
}

/* Recorded device time of PROGRAM in microseconds; NaN: unknown. */
static double device_us(const making *m, uint32_t program)
{
    for (size_t i = 0; i < m->steps->program_count; i++)
        if (m->steps->programs[i].program == program)
            return rec_step_program_device_ns(&m->steps->programs[i]) / 1e3;
    return (double)NAN;
}

static bn_code add_part(making *m, json_t *list, size_t index, bn_status *st)
{
    const rec_program *program = &m->process->programs[m->program[index]];
    json_t *arguments = json_array(), *results = json_array();
    json_t *json = json_object();
    char name[64];
    name_part(m, index, name);
    bn_code code = BN_OK;
    if (!program->form[0] || !program->hash[0])
        code = bn_fail(st, BN_NOT_FOUND,
                       "its code was not recorded: recording had not begun, or had ended, when it "
                       "was compiled");
    if (code == BN_OK)
        code = add_files(m, program, json, st);
    if (code == BN_OK)
        code = add_types(m, index, arguments, results, st);
    json_t *aliases = aliases_json(m, index, arguments, results);
    json_object_set_new(json, "name", json_string(name));
    json_object_set_new(json, "form", json_string(program->form));
    json_object_set_new(json, "device_us", res_json_real(device_us(m, m->program[index])));
    json_object_set_new(json, "flops", res_json_real(program->flops));
    json_object_set_new(json, "bytes", res_json_real(program->bytes));
    json_object_set_new(json, "arguments", arguments);
    json_object_set_new(json, "results", results);
    json_object_set_new(json, "aliases", aliases);
    json_array_append_new(list, json);
    return code == BN_OK ? BN_OK : bn_context(st, "program %s", name);
}

/* Numbers the programs of the step, in the order of first runs. */
static bn_code number_parts(making *m, bn_status *st)
{
    const size_t programs = m->process->program_count, runs = m->flow.count;
    m->part = bn_zalloc(programs + 1, sizeof *m->part);
    m->first_run = bn_zalloc(runs + 1, sizeof *m->first_run);
    m->program = bn_zalloc(runs + 1, sizeof *m->program);
    for (size_t i = 0; i < programs; i++)
        m->part[i] = JOB_FLOW_NONE;
    for (size_t run = 0; run < runs; run++) {
        const rec_execution *x = run_of(m, run);
        const uint32_t program = x->program;
        if (program >= programs)
            return bn_fail(st, BN_FORMAT, "execution %zu of the step has an unknown program", run);
        if (m->part[program] == JOB_FLOW_NONE) {
            m->part[program] = m->parts;
            m->program[m->parts] = program;
            m->first_run[m->parts++] = run;
        }
        const rec_execution *first = run_of(m, m->first_run[m->part[program]]);
        if (x->arguments != first->arguments || x->results != first->results)
            return bn_fail(st, BN_FORMAT,
                           "execution %zu of the step has another number of arguments or results "
                           "than the first one of its program",
                           run);
    }
    return BN_OK;
}

/* ---- inputs and executions ------------------------------------------------------------------- */

static bn_code add_input(making *m, json_t *list, size_t index, bn_status *st)
{
    const job_flow_input *in = &m->flow.inputs[index];
    const uint32_t type = m->process->buffers[in->buffer].type;
    const bool carried = in->from != JOB_FLOW_NONE;
    json_t *text = NULL;
    char what[96];
    snprintf(what, sizeof what, "argument %zu of execution %zu of the step", in->argument, in->run);
    bn_code code = type_json(m->process, type, what, &text, st);
    if (code != BN_OK)
        return code;
    m->step->carried += carried;
    m->step->input_bytes += (double)rec_type_bytes(&m->process->types[type]);
    json_array_append_new(
        list, json_pack("{so sI}", "type", text, "from",
                        carried ? (json_int_t)(m->flow.input_count + in->from) : (json_int_t)-1));
    return BN_OK;
}

/* Arguments that the framework did not donate are kept. */
static json_t *run_json(const making *m, size_t run)
{
    const rec_execution *x = run_of(m, run);
    json_t *arguments = json_array(), *keep = json_array();
    for (uint32_t a = 0; a < x->arguments; a++) {
        const uint32_t buffer = rec_argument(m->process, x, 0, a);
        json_array_append_new(arguments,
                              json_integer((json_int_t)job_flow_value(&m->flow, run, a)));
        if (x->kept > 0 && !rec_donated(m->process, m->flow.runs[run], buffer))
            json_array_append_new(keep, json_integer(a));
    }
    return json_pack("{sI so so}", "program", (json_int_t)m->part[x->program], "arguments",
                     arguments, "keep", keep);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* {"framework", "steps", ...}: the recording, for the record (new reference). */
static json_t *recorded_json(const making *m)
{
    const rec_process *p = m->process;
    const job_step *s = m->step;
    return json_pack("{ss sI sI sI so so sb so sI}", "framework", p->framework, "pid",
                     (json_int_t)p->pid, "steps", (json_int_t)m->steps->count,
                     "executions_per_step", (json_int_t)m->steps->executions_per_step, "wall_ns",
                     res_json_real(s->wall_ns), "device_ns", res_json_real(s->device_ns), "chosen",
                     m->steps->how == REC_FOUND_PROGRAM, "variant",
                     m->steps->variants == 0 ? json_null()
                                             : json_string(p->programs[m->steps->variant].hash),
                     "variants", (json_int_t)m->steps->variants);
}

/* Digest of the programs and their flow: the same wherever the recording lies. */
static void add_digest(making *m, json_t *request)
{
    char digest[BN_SHA256_TEXT];
    json_t *all =
        json_pack("{sO sO sO}", "programs", m->shape, "inputs", json_object_get(request, "inputs"),
                  "runs", json_object_get(request, "runs"));
    char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    json_decref(all);
    bn_sha256(text, strlen(text), digest);
    free(text);
    json_object_set_new(request, "sha256", json_string(digest));
}

static bn_code fill_request(making *m, const char *cost, bn_status *st)
{
    json_t *programs = json_array(), *inputs = json_array(), *runs = json_array();
    json_t *request = m->step->request = json_pack(
        "{ss ss ss so so so so}", "recording", m->recording->path, "name", m->step->name, "cost",
        cost, "recorded", recorded_json(m), "programs", programs, "inputs", inputs, "runs", runs);
    m->shape = json_array();
    m->names = json_object();
    if (!request)
        return bn_fail(st, BN_INVALID, "the recording's path is not UTF-8");
    bn_code code = number_parts(m, st);
    for (size_t i = 0; i < m->parts && code == BN_OK; i++)
        code = add_part(m, programs, i, st);
    for (size_t i = 0; i < m->flow.input_count && code == BN_OK; i++)
        code = add_input(m, inputs, i, st);
    for (size_t run = 0; run < m->flow.count && code == BN_OK; run++)
        json_array_append_new(runs, run_json(m, run));
    if (m->steps->before_steps > 0)
        json_object_set_new(request, "host", job_step_host(m->steps, m->flow.count, m->step));
    m->step->programs = m->parts;
    m->step->executions = m->flow.count;
    m->step->inputs = m->flow.input_count;
    if (code == BN_OK)
        add_digest(m, request);
    return code;
}

/* Whether COUNT executions RUNS, which the next step follows, need one device only. */
static bn_code check_devices(const rec_process *p, const uint32_t *runs, size_t count,
                             bn_status *st)
{
    static const char limit[] = "bench replays steps of one device; steps of several, with "
                                "replicas, partitions or stages of a pipeline, are not supported";
    size_t run;
    const size_t devices = job_flow_devices(p, runs, count, &run);
    if (devices == 1)
        return BN_OK;
    if (run == JOB_FLOW_NONE)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the step runs on %zu devices, each of its executions on one of them; %s",
                       devices, limit);
    const rec_execution *x = &p->executions[runs[run]];
    const char *name = x->program < p->program_count ? p->programs[x->program].name : "";
    return bn_fail(st, BN_NOT_SUPPORTED,
                   "the step runs on %zu devices: its execution %zu, of program %s, on %u at once; "
                   "%s",
                   devices, run, name[0] ? name : "without a name", x->devices, limit);
}

static bn_code make_request(job_step *s, const rec_recording *recording, const rec_steps *steps,
                            const char *cost, bn_status *st)
{
    making m = {.step = s, .recording = recording, .steps = steps, .process = steps->process};
    const uint32_t *runs = choose_step(steps);
    if (!runs)
        return bn_fail(st, BN_NOT_FOUND,
                       "no steady step of %u executions is followed by another like it; record "
                       "more steps",
                       steps->executions_per_step);
    bn_code code = check_devices(m.process, runs, steps->executions_per_step, st);
    if (code == BN_OK)
        code = job_flow_make(m.process, runs, steps->executions_per_step, &m.flow, st);
    if (code == BN_OK)
        code = fill_request(&m, cost, st);
    job_flow_free(&m.flow);
    json_decref(m.shape);
    json_decref(m.names);
    free(m.part);
    free(m.first_run);
    free(m.program);
    return code;
}

/* The last part of PATH: "train" of "recordings/train/". */
static void last_part(const char *path, char part[RES_TEXT])
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t first = length;
    while (first > 0 && path[first - 1] != '/')
        first--;
    const size_t fits = bn_utf8_fit(path + first, RES_TEXT - 1);
    snprintf(part, RES_TEXT, "%.*s", (int)(length - first < fits ? length - first : fits),
             path + first);
    if (!part[0] || strcmp(part, ".") == 0 || strcmp(part, "..") == 0 || strcmp(part, "/") == 0)
        snprintf(part, RES_TEXT, "recording");
}

/* The name of the step, as plain as its records will have it. */
static void name_step(const job_recorded *recorded, char name[RES_TEXT])
{
    bn_text plain = {0};
    char part[RES_TEXT];
    last_part(recorded->folder, part);
    bn_text_plain(&plain, recorded->name && recorded->name[0] ? recorded->name : part);
    const char *text = plain.data ? plain.data : "recording";
    snprintf(name, RES_TEXT, "%.*s", (int)bn_utf8_fit(text, RES_TEXT - 1), text);
    bn_text_free(&plain);
}

void job_step_free(job_step *s)
{
    json_decref(s->request);
    *s = (job_step){0};
}

static bn_code check_words(const job_recorded *recorded, const char *cost, bn_status *st)
{
    const char *digest = recorded->digest ? recorded->digest : "";
    const size_t digits = strspn(digest, "0123456789abcdef");
    if (!bn_is_choice(cost, JOB_COSTS))
        return bn_fail_choice(st, "--cost", cost, JOB_COSTS);
    if (recorded->digest && (digest[digits] || digits < LEAST_DIGITS || digits >= BN_SHA256_TEXT))
        return bn_fail(st, BN_INVALID,
                       "a step is named by %d to %d digits of its variant in tables, not by '%s'",
                       LEAST_DIGITS, BN_SHA256_TEXT - 1, digest);
    return BN_OK;
}

/* Whether S is the requested step. */
static bn_code check_digest(const job_recorded *recorded, const job_step *s, bn_status *st)
{
    const char *found = json_string_value(json_object_get(s->request, "sha256"));
    const char *wanted = recorded->digest ? recorded->digest : "";
    if (!found || strncmp(found, wanted, strlen(wanted)) == 0)
        return BN_OK;
    return bn_fail(
        st, BN_NOT_FOUND,
        "its step is %.12s, and %.12s is wanted: it was recorded again, or its programs or "
        "their flow have changed",
        found, wanted);
}

/* Fills S with the figures of STEPS and with the request. */
static bn_code describe(job_step *s, const rec_recording *recording, const rec_steps *steps,
                        const char *cost, bn_status *st)
{
    s->pid = steps->process->pid;
    s->steady = steps->count;
    const char *framework = steps->process->framework;
    snprintf(s->framework, sizeof s->framework, "%.*s",
             (int)bn_utf8_fit(framework, sizeof s->framework - 1), framework);
    bn_text variant = {0};
    rec_chosen_put(steps, &variant);
    snprintf(s->variant, sizeof s->variant, "%s", variant.data ? variant.data : "");
    bn_text_free(&variant);
    s->cpu_clocks = steps->cpu_clocks;
    s->wall_ns = rec_steps_wall(steps).median_ns;
    s->device_ns = isfinite(steps->kernels_ns.estimate) ? steps->kernels_ns.estimate
                   : steps->completions                 ? rec_steps_busy(steps).median_ns
                                                        : (double)NAN;
    return make_request(s, recording, steps, cost, st);
}

bn_code job_step_read(const job_recorded *recorded, job_step *s, bn_status *st)
{
    const rec_options wanted = {.pid = (uint32_t)recorded->process,
                                .device = -1,
                                .step_program = recorded->step_program,
                                .variant = recorded->variant ? recorded->variant : ""};
    const char *cost = recorded->cost ? recorded->cost : "recorded";
    const char *by_name = "with --process or as \"process\" in a suite";
    rec_recording *recording = NULL;
    rec_steps *steps = NULL;
    *s = (job_step){0};
    if (check_words(recorded, cost, st) != BN_OK)
        return st->code;
    name_step(recorded, s->name);
    bn_code code = rec_open(recorded->folder, &recording, st);
    if (code == BN_OK)
        code = rec_check_whole(recording, wanted.pid, by_name, st);
    if (code == BN_OK)
        code = rec_steps_find(recording, &wanted, &steps, st);
    if (code == BN_OK)
        code = describe(s, recording, steps, cost, st);
    if (code == BN_OK)
        code = check_digest(recorded, s, st);
    /* A recording can be large: its memory is freed before workers run. */
    rec_steps_free(steps);
    rec_close(recording);
    return code == BN_OK ? BN_OK : bn_context(st, "recording %s", recorded->folder);
}
