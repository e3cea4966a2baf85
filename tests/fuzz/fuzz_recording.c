/*
 * fuzz_recording.c - recordings of PJRT calls, as anybody could have written them: what is read of
 * one leads out of no array, and the steps of it can be asked for.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "results/recordings/recordings.h"

typedef struct place {
    char folder[64], process[96], events[112];
} place;

static void place_begin(place *p, const uint8_t *data, size_t size)
{
    const char *parent = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.40s/fuzz.XXXXXX", parent ? parent : P_tmpdir);
    fuzz_require(mkdtemp(p->folder) != NULL, "no folder");
    snprintf(p->process, sizeof p->process, "%s/1-1", p->folder);
    snprintf(p->events, sizeof p->events, "%s/events", p->process);
    fuzz_require(mkdir(p->process, 0700) == 0, "no folder of a process");
    const int fd = open(p->events, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    fuzz_require(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size), "no events");
    close(fd);
}

static void place_end(const place *p)
{
    unlink(p->events);
    fuzz_require(rmdir(p->process) == 0 && rmdir(p->folder) == 0, "something is left behind");
}

static void look_at_executions(const rec_process *p)
{
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        fuzz_require(e->executable < p->executable_count && e->program < p->program_count,
                     "an execution of nothing");
        fuzz_require(i == 0 || e[-1].begin_ns <= e->begin_ns, "executions out of order");
        fuzz_touch(&p->spans[e->spans], e->devices * sizeof *p->spans);
        for (uint32_t d = 0; d < e->devices; d++) {
            for (uint32_t k = 0; k < e->arguments; k++) {
                const uint32_t b = rec_argument(p, e, d, k);
                fuzz_require(b == REC_NONE || b < p->buffer_count, "an argument that is none");
            }
            for (uint32_t k = 0; k < e->results; k++) {
                const uint32_t b = rec_result(p, e, d, k);
                fuzz_require(b == REC_NONE || b < p->buffer_count, "a result that is none");
            }
        }
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

static void look_at_steps(const rec_recording *r, bool keep_warmup)
{
    bn_status st = {.code = BN_OK};
    rec_steps *steps = NULL;
    const rec_options o = {.device = -1, .keep_warmup = keep_warmup};
    const bn_code code = rec_steps_find(r, &o, &steps, &st);
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
    rec_steps_free(steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {.code = BN_OK};
    rec_recording *r = NULL;
    place p;
    place_begin(&p, data, size);
    const bn_code code = rec_open(p.folder, &r, &st);
    fuzz_status(code, &st);
    for (size_t i = 0; code == BN_OK && i < r->process_count; i++) {
        look_at_executions(&r->processes[i]);
        look_at_texts(&r->processes[i]);
        look_at_steps(r, true);
        look_at_steps(r, false);
    }
    rec_close(r);
    place_end(&p);
    return 0;
}
