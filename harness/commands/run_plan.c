/*
 * run_plan.c - what bench run says before it runs: how many processes, for how long, where records
 * go.
 *
 * The time of a group is put together from what its experiments spent before (job_group_seconds).
 */
#include "harness/commands/run_priv.h"

#include <stdlib.h>
#include <string.h>

size_t command_group_workers(const command_group *groups, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; groups && i < count; i++)
        sum +=
            (size_t)groups[i].group.processes * job_group_workers(groups[i].list, groups[i].count);
    return sum;
}

/* Number INDEX of the experiments of all groups, one group behind the other. */
static const job_experiment *experiment_at(const void *context, size_t index)
{
    const command_group *group = context;
    for (; index >= group->count; group++)
        index -= group->count;
    return &group->list[index];
}

/* How long all groups take, and how many processes *MORE than was planned those of short steps
 * have; *TOLD: records say so of each of them. Else it is at least so long. */
static double seconds_of_all(const command_group *groups, size_t count, size_t *more, bool *told)
{
    double sum = 0;
    size_t at = 0, experiments = 0;
    for (size_t i = 0; i < count; i++)
        experiments += groups[i].count;
    job_before *list =
        job_spent_before(groups[0].list[0].store, experiment_at, groups, experiments);
    *told = true;
    *more = 0;
    for (size_t i = 0; i < count; at += groups[i++].count) {
        const command_group *g = &groups[i];
        const job_before *before = list ? list + at : NULL;
        const int processes = job_group_foreseen(&g->group, before, g->count);
        sum += job_group_seconds(&g->group, processes, g->list, before, g->count, told);
        *more += (size_t)(processes - g->group.processes) * job_group_workers(g->list, g->count);
    }
    free(list);
    return sum;
}

static bool any_usual(const command_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].group.usual)
            return true;
    return false;
}

void command_tell_plan(const command_group *groups, size_t count, size_t experiments, bool quiet)
{
    const char *runtime = groups[0].list[0].what.runtime;
    char perhaps[64] = "";
    bool one = true, told;
    size_t more;
    if (quiet)
        return;
    for (size_t i = 0; i < count; i++)
        one = one && strcmp(groups[i].list[0].what.runtime, runtime) == 0;
    const double seconds = seconds_of_all(groups, count, &more, &told);
    const size_t of = command_group_workers(groups, count) + more;
    if (!told && any_usual(groups, count))
        snprintf(perhaps, sizeof perhaps, " (%d for each group of short steps)",
                 JOB_SHORT_PROCESSES);
    cli_note("[0/%zu] %zu experiment%s in %zu process%s%s on %s%s; records go to %s", of,
             experiments, experiments == 1 ? "" : "s", of, of == 1 ? "" : "es", perhaps,
             one ? "runtime " : "", one ? runtime : "several runtimes", groups[0].list[0].store);
    job_progress_plan(of, seconds, told, groups[0].list[0].idle_cores);
}
