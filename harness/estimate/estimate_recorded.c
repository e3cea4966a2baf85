/*
 * estimate_recorded.c - a recorded step on a topology: each of its programs is compiled as the
 * framework passed it, and counts as often as the step executes it.
 */
#include "harness/estimate/estimate_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How often the step of REQUEST executes its program INDEX. */
static int64_t times_of(const json_t *request, size_t index)
{
    const json_t *runs = json_object_get(request, "runs");
    int64_t times = 0;
    for (size_t i = 0; i < json_array_size(runs); i++)
        times += json_integer_value(json_object_get(json_array_get(runs, i), "program")) ==
                 (json_int_t)index;
    return times;
}

/* Checks that P's file, of the form in which it was recorded, can be compiled, and sets its size.
 */
static bn_code check_file(estimate_program *p, bn_status *st)
{
    int fd;
    if (strcmp(p->format, "executable") == 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "the framework loaded an executable of the recorded device, so its program "
                       "is not in the recording; record without the framework's compilation cache");
    bn_code code = bn_regular_open(p->path, &fd, &p->size, st);
    if (code == BN_OK)
        close(fd);
    return code;
}

static void estimate_part(estimate_run *run, const estimate_task *task, size_t index)
{
    const json_t *request = task->experiment->program;
    const json_t *programs = json_object_get(request, "programs");
    const json_t *program = json_array_get(programs, index);
    const json_t *code = json_object_get(program, "code");
    const char *name = res_json_get_text(program, "name");
    char title[ESTIMATE_TITLE];
    bn_status why = {.code = BN_OK};
    snprintf(title, sizeof title, "%s, %s, on %.*s", task->experiment->what.model, name,
             BN_FIT(task->topology, 100));
    estimate_program p = {.what = &task->experiment->what,
                          .title = title,
                          .index = index,
                          .of = json_array_size(programs),
                          .graph = name,
                          .module = name,
                          .flops = (double)NAN,
                          .times = times_of(request, index),
                          .format = res_json_get_text(program, "form"),
                          .path = res_json_get_text(code, "path"),
                          .digest = res_json_get_text(code, "sha256"),
                          .recorded = json_object_get(request, "recorded")};
    if (check_file(&p, &why) == BN_OK)
        json_decref(estimate_compile(run, task, &p));
    else
        estimate_add_failure(run, task, &p, &why);
}

void estimate_recorded(estimate_run *run, const estimate_task *task)
{
    const json_t *programs = json_object_get(task->experiment->program, "programs");
    for (size_t i = 0; i < json_array_size(programs) && !job_interrupted(); i++) {
        run->number++;
        estimate_part(run, task, i);
    }
}
