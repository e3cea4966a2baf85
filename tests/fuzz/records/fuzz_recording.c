/*
 * fuzz_recording.c - recordings of PJRT calls, as anybody could have written them: what is read of
 * one leads out of no array, the steps of it can be asked for, and what is made of them, a record
 * and a timeline, is in order.
 */
#include "tests/fuzz/records/fuzz_recording.h"

#include "results/complaints/complaints.h"
#include "results/recordings/recordings.h"
#include "results/recordings/views.h"

static void look_at_arguments(const rec_process *p, uint32_t index)
{
    const rec_execution *e = &p->executions[index];
    for (uint32_t d = 0; d < e->devices; d++) {
        for (uint32_t k = 0; k < e->arguments; k++) {
            const uint32_t b = rec_argument(p, e, d, k);
            fuzz_require(b == REC_NONE || b < p->buffer_count, "an argument that is none");
            fuzz_require(!rec_donated(p, index, b) || p->buffers[b].fate == REC_DONATED,
                         "a gift that was not given");
        }
        for (uint32_t k = 0; k < e->results; k++) {
            const uint32_t b = rec_result(p, e, d, k);
            fuzz_require(b == REC_NONE || b < p->buffer_count, "a result that is none");
        }
    }
}

static void look_at_executions(const rec_process *p)
{
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        fuzz_require(e->executable < p->executable_count && e->program < p->program_count,
                     "an execution of nothing");
        fuzz_require(i == 0 || e[-1].begin_ns <= e->begin_ns, "executions out of order");
        fuzz_touch(&p->spans[e->spans], e->devices * sizeof *p->spans);
        look_at_arguments(p, (uint32_t)i);
    }
}

static void look_at_texts(const rec_process *p)
{
    for (const char *const *word = p->command; *word; word++)
        fuzz_require(bn_is_plain(*word), "a word that is not plain");
    for (size_t i = 0; i < p->program_count; i++) {
        fuzz_require(bn_is_plain(p->programs[i].name), "a name that is not plain");
        fuzz_require(strchr(p->programs[i].form, '/') == NULL, "a form that is a path");
    }
    for (size_t i = 0; i < p->type_count; i++)
        fuzz_touch(p->types[i].dims, p->types[i].rank * sizeof *p->types[i].dims);
}

/* The files that were kept of the programs. */
static void look_at_files(const rec_recording *r, const rec_process *p)
{
    for (size_t i = 0; i < p->program_count && i < 16; i++) {
        char *bytes = NULL;
        size_t size = 0;
        bn_status st = {.code = BN_OK};
        bn_code code = rec_program_read(r, &p->programs[i], &bytes, &size, &st);
        fuzz_status(code, &st);
        fuzz_require(code != BN_OK || (bytes && size == 0), "a program that was not kept");
        free(bytes);
        st = (bn_status){.code = BN_OK};
        code = rec_options_read(r, &p->programs[i], &bytes, &size, &st);
        fuzz_status(code, &st);
        free(bytes);
    }
}

static void look_at_record(const rec_recording *r, const rec_steps *steps)
{
    bn_status st = {.code = BN_OK};
    const rec_naming naming = {.model = NULL};
    res_record *record = NULL;
    const bn_code code = rec_record_make(r, steps, &naming, &record, &st);
    fuzz_status(code, &st);
    fuzz_require((code == BN_OK) == (record != NULL), "a record of what is none");
    if (!record)
        return;
    for (size_t step = 0; step < record->step_count; step++) {
        uint64_t sum = 0;
        for (size_t part = 0; part < BN_PART_COUNT; part++)
            sum += record->part_ns[step * BN_PART_COUNT + part];
        fuzz_require(sum == record->wall_ns[step], "a record's parts that are not the whole");
    }
    json_t *json = res_record_to_json(record);
    fuzz_require(json != NULL, "a record without JSON");
    json_decref(json);
    res_record_free(record);
}

static void look_at_timeline(const fuzz_place *p, const rec_steps *steps)
{
    bn_status st = {.code = BN_OK};
    const bn_code code = rec_timeline_write(steps->process, steps, p->view, false, &st);
    fuzz_status(code, &st);
    fuzz_require(code == BN_OK, "no timeline");
    /* Amounts of bytes may be larger than integers of this library. */
    json_t *events = json_load_file(p->view, JSON_DECODE_INT_AS_REAL, NULL);
    fuzz_require(events != NULL, "a timeline that is no JSON");
    json_decref(events);
    unlink(p->view);
}

static void look_at_complaints(const rec_recording *r, const rec_options *options)
{
    bn_status st = {.code = BN_OK};
    rec_steps *steps = NULL;
    rec_checkup checkup;
    bn_text words = {0};
    bn_code code = rec_check_steps(r, options, &steps, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return;
    code = rec_check(steps, &checkup, &st);
    fuzz_status(code, &st);
    fuzz_require(code == BN_OK && checkup.count <= REC_RULE_COUNT, "no complaints");
    rec_checkup_put(&checkup, &words);
    fuzz_require(words.length > 0, "no words");
    json_t *json = rec_checkup_json(r, &checkup);
    fuzz_require(json != NULL, "complaints without JSON");
    json_decref(json);
    bn_text_free(&words);
    rec_checkup_free(&checkup);
    rec_steps_free(steps);
}

static void look_at_steps(const fuzz_place *p, const rec_recording *r, const rec_options *options,
                          bool timeline)
{
    bn_status st = {.code = BN_OK};
    rec_steps *steps = NULL;
    const bn_code code = rec_steps_find(r, options, &steps, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return;
    for (size_t i = 0; i < steps->count; i++) {
        const rec_step *s = &steps->list[i];
        uint64_t parts = 0;
        for (int k = 0; k < REC_PART_COUNT; k++)
            parts += s->part_ns[k];
        fuzz_require(parts == s->wall_ns, "parts that are not the whole");
        fuzz_require(s->busy_ns <= s->wall_ns, "a device that works longer than a step takes");
        fuzz_touch(&steps->order[s->first], s->executions * sizeof *steps->order);
    }
    const rec_answer answer = rec_answer_make(steps);
    json_t *json = rec_steps_json(r, steps, &answer);
    fuzz_require(json != NULL, "no JSON");
    json_decref(json);
    look_at_record(r, steps);
    if (timeline)
        look_at_timeline(p, steps);
    rec_steps_free(steps);
}

/* As bench steps looks for them, and as a front end's run does, which knows when they ran and how
 * many there are. */
static void look_for_steps(const fuzz_place *p, const rec_recording *r, bool timeline)
{
    const rec_process *first = &r->processes[0];
    const rec_options ways[] = {
        {.device = -1, .keep_warmup = true},
        {.device = -1},
        {.device = -1, .step_program = "jit_*"},
        {.device = -1,
         .from_ns = first->first_ns,
         .to_ns = first->last_ns,
         .steps = (uint32_t)(first->execution_count / 2)},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        look_at_steps(p, r, &ways[i], timeline && i == 0);
    look_at_complaints(r, &ways[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {.code = BN_OK};
    rec_recording *r = NULL;
    fuzz_place p;
    /* A timeline waits for the disk, so one input in 16 has one. */
    const bool timeline = fuzz_touch(data, size) % 16 == 0;
    fuzz_place_begin(&p, data, size);
    const bn_code code = rec_open(p.folder, &r, &st);
    fuzz_status(code, &st);
    for (size_t i = 0; code == BN_OK && i < r->process_count; i++) {
        fuzz_status(r->about_fault.code, &r->about_fault);
        look_at_executions(&r->processes[i]);
        look_at_texts(&r->processes[i]);
        look_at_files(r, &r->processes[i]);
    }
    if (code == BN_OK)
        look_for_steps(&p, r, timeline);
    rec_close(r);
    fuzz_place_end(&p);
    return 0;
}
