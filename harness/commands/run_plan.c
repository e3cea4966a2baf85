/*
 * run_plan.c - what bench run says before it runs: how many processes, for how long, where records
 * go.
 *
 * The time of a group is put together from what its experiments spent before (job_spent_before).
 */
#include "harness/commands/run_priv.h"

#include <math.h>
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

/* Adds what a member spends in one process to OWN_NS. What is for all is spent once, but where the
 * member has processes of its own. */
static void add_spending(const job_spending *member, bool alone, double *own_ns, double *shared_ns)
{
    *own_ns += member->own_ns + (alone ? member->shared_ns : 0);
    if (!alone)
        *shared_ns = fmax(*shared_ns, member->shared_ns);
}

/* Whether GROUP will have JOB_SHORT_PROCESSES processes, as LIST says of its experiments. */
static bool is_short(const command_group *group, const job_before *list)
{
    bool all_short = group->group.usual;
    for (size_t i = 0; i < group->count; i++)
        all_short = all_short && list[i].first.known && list[i].is_short;
    return all_short;
}

/* Seconds that GROUP takes, of whose experiments LIST knows; NaN where records do not say. */
static double seconds_of(const command_group *group, const job_before *list)
{
    const job_group *g = &group->group;
    double first_ns = 0, further_ns = 0, first_shared_ns = 0, further_shared_ns = 0;
    bool all_further = true;
    for (size_t i = 0; i < group->count; i++) {
        const job_before s = list[i];
        const bool alone = g->separate || job_is_framework(&group->list[i].what);
        if (!s.first.known)
            return (double)NAN;
        all_further = all_further && s.further.known;
        add_spending(&s.first, alone, &first_ns, &first_shared_ns);
        add_spending(&s.further, alone, &further_ns, &further_shared_ns);
    }
    const int processes = is_short(group, list) ? JOB_SHORT_PROCESSES : g->processes;
    if (processes > 1 && !all_further)
        return (double)NAN;
    return 1e-9 * (first_ns + first_shared_ns + (processes - 1) * (further_ns + further_shared_ns));
}

/* ---- how long ----------------------------------------------------------------------------- */

/* What GROUP measures at least, in seconds: --min-time in each process. Short steps may have more
 * processes, of which all but the first measure a share of it. */
static double least_of(const command_group *group)
{
    const double brief = 1 + (JOB_SHORT_PROCESSES - 1.0) / JOB_SHORT_SHARE;
    const double processes = group->group.processes;
    double sum = 0;
    for (size_t k = 0; k < group->count; k++)
        sum += group->list[k].min_time * (group->group.usual ? fmin(processes, brief) : processes);
    return sum;
}

/* What is known of the experiments of all GROUPS, from malloc; NULL: nothing, without memory. */
static job_before *before_all(const command_group *groups, size_t count)
{
    size_t sum = 0, n = 0;
    for (size_t i = 0; i < count; i++)
        sum += groups[i].count;
    job_before *before = calloc(sum + 1, sizeof *before);
    const job_experiment **list = calloc(sum + 1, sizeof(job_experiment *));
    for (size_t i = 0; before && list && i < count; i++)
        for (size_t k = 0; k < groups[i].count; k++)
            list[n++] = &groups[i].list[k];
    if (before && list)
        job_spent_before(list[0]->store, list, sum, before);
    free(list);
    return before;
}

/* How long all groups take, and how many processes *MORE than was planned those of short steps
 * have; *TOLD: records say so of each of them. Else it is at least so long. */
static double seconds_of_all(const command_group *groups, size_t count, size_t *more, bool *told)
{
    job_before *all = before_all(groups, count);
    double sum = 0;
    size_t at = 0;
    *told = all != NULL;
    *more = 0;
    for (size_t i = 0; i < count; at += groups[i++].count) {
        const double seconds = all ? seconds_of(&groups[i], all + at) : (double)NAN;
        *told = *told && isfinite(seconds);
        sum += isfinite(seconds) ? seconds : least_of(&groups[i]);
        if (all && is_short(&groups[i], all + at))
            *more += (size_t)(JOB_SHORT_PROCESSES - groups[i].group.processes) *
                     job_group_workers(groups[i].list, groups[i].count);
    }
    free(all);
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
    job_progress_plan(of, seconds, told);
}
