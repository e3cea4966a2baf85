/*
 * group.c - which experiments are measured together, and the title of such a group.
 */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void job_group_begin(job_group *group, int processes, uint64_t seed)
{
    static unsigned made;
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "";
    *group = (job_group){.processes = processes > 0 ? processes : JOB_USUAL_PROCESSES,
                         .usual = processes <= 0,
                         .seed = seed};
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    char host[64] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    snprintf(group->id, sizeof group->id, "%.16s-%.20s-%d-%u", stamp, host, (int)getpid(), ++made);
}

static bool is_short(const job_kept *kept)
{
    const res_record *r = kept->failure.code == BN_OK ? kept->record : NULL;
    return r && res_step_median(r, r->wall_ns) < RES_SHORT_STEP_NS;
}

void job_group_learn(job_group *group, job_experiment *list, size_t count, const job_kept *kept)
{
    bool all = group->usual;
    for (size_t i = 0; i < count; i++)
        all = all && is_short(&kept[i]);
    if (!all)
        return;
    group->usual = false;
    group->processes = JOB_SHORT_PROCESSES;
    for (size_t i = 0; i < count; i++)
        list[i].how.min_time /= JOB_SHORT_SHARE;
}

bool job_same_group(const job_experiment *a, const job_experiment *b)
{
    const bool alike = a->program && b->program ? job_same_step(a, b) : !a->program && !b->program;
    return alike && strcmp(a->what.runtime, b->what.runtime) == 0 &&
           strcmp(a->what.model, b->what.model) == 0 && strcmp(a->what.phase, b->what.phase) == 0 &&
           res_setup_difference(&a->what, &b->what) == 0;
}

size_t job_group_workers(const job_experiment *list, size_t count)
{
    size_t frameworks = 0;
    for (size_t i = 0; i < count; i++)
        frameworks += job_is_framework(&list[i].what);
    return frameworks + (frameworks < count);
}

void job_group_title(const job_experiment *list, size_t count, char *text, size_t size)
{
    char title[256];
    job_experiment first = list[0];
    /* With several experiments, each mode is written with its front end and dispatch. */
    if (count > 1)
        for (int i = 0; i < RES_AXIS_COUNT; i++)
            if (res_axes[i].role == RES_ROLE_WAY && i != RES_AXIS_MODE && i != RES_AXIS_GRAPHS)
                res_axis_set_value(&res_axes[i], res_axes[i].usual, 0, &first.what);
    job_experiment_title(&first, title, sizeof title);
    const char *at = count > 1 ? strstr(title, list[0].what.mode) : NULL;
    snprintf(text, size, "%s", title);
    if (!at)
        return;
    /* All modes in place of the first one's. */
    int used = snprintf(text, size, "%.*s", (int)(at - title), title);
    for (size_t i = 0; i < count && used >= 0 && (size_t)used < size; i++) {
        const res_experiment *w = &list[i].what;
        used +=
            snprintf(text + used, size - (size_t)used, "%s%s", i ? ", " : "", res_way_of(w).text);
        if (w->graphs > 1 && used >= 0 && (size_t)used < size)
            used += snprintf(text + used, size - (size_t)used, " %d", w->graphs);
    }
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s", at + strlen(list[0].what.mode));
}

size_t job_groups_arrange(job_experiment *list, size_t count)
{
    size_t groups = 0;
    for (size_t first = 0, end; first < count; first = end, groups++) {
        end = first + 1;
        for (size_t i = end; i < count && end - first < JOB_MOST_MEMBERS; i++) {
            const job_experiment moved = list[i];
            if (!job_same_group(&list[first], &moved))
                continue;
            memmove(&list[end + 1], &list[end], (i - end) * sizeof *list);
            list[end++] = moved;
        }
    }
    return groups;
}

size_t job_group_end(const job_experiment *list, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && end - first < JOB_MOST_MEMBERS &&
           job_same_group(&list[first], &list[end]))
        end++;
    return end;
}
