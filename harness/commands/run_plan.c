/*
 * run_plan.c - what bench run says before it runs: how many processes, for how long, where records
 * go, whether the machine is busy.
 *
 * How long starts, compiles and steps take is known only where the same has run before. The records
 * of a process say what it did when (res_phases): what it did for each experiment, and what for all
 * of them. So the time of a group is put together from the newest records of its experiments, of
 * this machine and under the same options, whichever experiments stood beside them then. The first
 * process of a group compiles, and the further ones load: each of the two has its records.
 */
#include "harness/commands/run_priv.h"
#include "results/findings/goodput.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the last ten seconds: a build that has just ended, or other programs. */
#define BUSY_STALLED  0.2
/* Files that are opened for one experiment: the first process of 16 may be behind all others. */
#define MOST_FILES    24
/* Further ones cost more time than it is worth to know how long they take: after so long, at most
 * one file of each experiment is opened. */
#define MOST_SEARCHED 100
#define SEARCH_NS     1000000000

size_t command_group_workers(const command_group *groups, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; groups && i < count; i++)
        sum +=
            (size_t)groups[i].group.processes * job_group_workers(groups[i].list, groups[i].count);
    return sum;
}

/* ---- what records of earlier runs say --------------------------------------------------- */

/* What a process spends, in ns. */
typedef struct spending {
    bool known;
    double own_ns, shared_ns; /* for the experiment; for all experiments of the process */
} spending;

/* What is known of one experiment. */
typedef struct search {
    const job_experiment *e;
    spending first, further; /* a process that compiles, and one behind it */
    bool is_short;           /* its steps, in the first */
} search;

/* A search for the records of all. */
typedef struct searches {
    search *list;
    res_experiment *what; /* as records have them */
    size_t count;
    char host[256];
    uint64_t until_ns;
} searches;

/* Whether OPTIONS, of a record, say to measure as long as those of E. */
static bool same_options(const json_t *options, const job_experiment *e)
{
    static const char *const names[] = {"min-time", "steps", "warmup", "device-time", "cache-dir"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *then = json_object_get(options, names[i]);
        const json_t *now = json_object_get(e->echo, names[i]);
        if (then != now && !(then && now && json_equal(then, now)))
            return false;
    }
    /* Without a number of processes, those of short steps measure for a shorter time. */
    const json_t *then = json_object_get(options, "processes");
    const json_t *now = json_object_get(e->echo, "processes");
    return (json_integer_value(then) > 0) == (json_integer_value(now) > 0);
}

static spending spending_of(const res_phases *p)
{
    const double own_ns = p->preparation_ns + p->compile_ns + p->warmup_ns + p->measuring_ns;
    return (spending){true, own_ns, p->wall_ns - p->others_ns - own_ns};
}

static bool look(void *context, size_t which, const res_record *r)
{
    searches *all = context;
    search *s = &all->list[which];
    res_phases phases;
    const int process = res_group_process(r);
    spending *place = process == 1 ? &s->first : &s->further;
    const bool late = bn_now_ns() > all->until_ns;
    if (process < 1 || place->known || !res_record_good(r) || !res_record_phases(r, &phases) ||
        !res_same_experiment(&r->experiment, &all->what[which]) ||
        strcmp(res_host_text(r, "hostname"), all->host) != 0 ||
        !same_options(json_object_get(r->provenance, "options"), s->e))
        return !late;
    *place = spending_of(&phases);
    if (process == 1)
        s->is_short = res_step_median(r, r->wall_ns) < RES_SHORT_STEP_NS;
    return !late && !(s->first.known && s->further.known);
}

/* Looks for the records of the first experiments of all GROUPS; without memory, of none. */
static searches search_for_all(const command_group *groups, size_t count)
{
    searches all = {.until_ns = bn_now_ns() + SEARCH_NS};
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += groups[i].count;
    sum = sum < MOST_SEARCHED ? sum : MOST_SEARCHED;
    all.list = calloc(sum + 1, sizeof *all.list);
    all.what = calloc(sum + 1, sizeof *all.what);
    if (!all.list || !all.what)
        return all;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < groups[i].count && all.count < sum; k++) {
            all.list[all.count].e = &groups[i].list[k];
            job_experiment_resolve(&groups[i].list[k], &all.what[all.count++]);
        }
    if (gethostname(all.host, sizeof all.host - 1) != 0)
        all.host[0] = '\0';
    res_store_visit_newest(groups[0].list[0].store, all.what, all.count, MOST_FILES, look, &all);
    return all;
}

/* Adds what a member spends in one process to OWN_NS. What is for all is spent once, but where the
 * member has processes of its own. */
static void add_spending(const spending *member, bool alone, double *own_ns, double *shared_ns)
{
    *own_ns += member->own_ns + (alone ? member->shared_ns : 0);
    if (!alone)
        *shared_ns = fmax(*shared_ns, member->shared_ns);
}

/* Seconds that GROUP takes, of whose experiments LIST knows; NaN where records do not say. */
static double seconds_of(const command_group *group, const search *list)
{
    const job_group *g = &group->group;
    double first_ns = 0, further_ns = 0, first_shared_ns = 0, further_shared_ns = 0;
    bool all_short = true, all_further = true;
    for (size_t i = 0; i < group->count; i++) {
        const search s = list[i];
        const bool alone = g->separate || job_is_framework(&group->list[i].what);
        if (!s.first.known)
            return (double)NAN;
        all_short = all_short && s.is_short;
        all_further = all_further && s.further.known;
        add_spending(&s.first, alone, &first_ns, &first_shared_ns);
        add_spending(&s.further, alone, &further_ns, &further_shared_ns);
    }
    const int processes = g->usual && all_short ? JOB_SHORT_PROCESSES : g->processes;
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

/* How long all groups take; *TOLD: records say so of each of them. Else it is at least so long. */
static double seconds_of_all(const command_group *groups, size_t count, bool *told)
{
    const searches all = search_for_all(groups, count);
    double sum = 0;
    size_t before = 0;
    *told = true;
    for (size_t i = 0; i < count; before += groups[i++].count) {
        const bool searched = before + groups[i].count <= all.count;
        const double seconds = searched ? seconds_of(&groups[i], all.list + before) : (double)NAN;
        *told = *told && isfinite(seconds);
        sum += isfinite(seconds) ? seconds : least_of(&groups[i]);
    }
    free(all.list);
    free(all.what);
    return sum;
}

static void tell_length(const command_group *groups, size_t count, size_t of)
{
    bool told;
    char length[32], least[48] = "";
    const double seconds = seconds_of_all(groups, count, &told);
    if (seconds < 120)
        snprintf(length, sizeof length, "%.0f s", fmax(seconds, 1));
    else
        snprintf(length, sizeof length, "%.0f min", seconds / 60);
    if (told) {
        cli_note("[0/%zu] about %s, as long as the same took here before", of, length);
        return;
    }
    if (seconds >= 1)
        snprintf(least, sizeof least, "at least %s; ", length);
    cli_note("[0/%zu] %sno record here says how long starting and compiling take%s", of, least,
             of > 1 ? "; the time left is told from the first process on" : "");
}

void command_tell_plan(const command_group *groups, size_t count, size_t experiments, bool quiet)
{
    const size_t of = command_group_workers(groups, count);
    const char *runtime = groups[0].list[0].what.runtime;
    bool one = true;
    if (quiet)
        return;
    for (size_t i = 0; i < count; i++)
        one = one && strcmp(groups[i].list[0].what.runtime, runtime) == 0;
    cli_note("[0/%zu] %zu experiment%s in %zu process%s on %s%s; records go to %s", of, experiments,
             experiments == 1 ? "" : "s", of, of == 1 ? "" : "es", one ? "runtime " : "",
             one ? runtime : "several runtimes", groups[0].list[0].store);
    tell_length(groups, count, of);
    cli_note("[0/%zu] Ctrl-C keeps what is done", of);
    const double stalled = job_host_stalled();
    if (stalled > BUSY_STALLED)
        cli_note(
            "[0/%zu] this machine is busy: in %.0f %% of the last ten seconds something waited "
            "for a core, so that intervals will be wide",
            of, 100 * stalled);
}
