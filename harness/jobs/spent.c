/*
 * spent.c - the time of workers by phase; and that of earlier runs of the same experiments.
 *
 * How long starts, compiles and steps take is known only where the same has run before. The records
 * of a process have its phases (res_phases): for each experiment, and for all of them. So the time
 * of a group is put together from the latest records of its experiments, of this machine and under
 * the same options, whichever group they were in. The first process of a group compiles, and the
 * further ones load: each of the two has its records.
 */
#include "harness/jobs/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files that are opened for one experiment: the first process of 16 may be behind all others. */
#define MOST_FILES    24
/* Further ones are not worth the time of a search: after so long, at most one file of each
 * experiment is opened. */
#define MOST_SEARCHED 100
#define SEARCH_NS     1000000000

#define PHASES (sizeof phases / sizeof *phases)

static const struct {
    const char *member, *word;
    size_t offset;
} phases[] = {{"start_s", "start", offsetof(job_spent, start_s)},
              {"compile_s", "compile", offsetof(job_spent, compile_s)},
              {"warmup_s", "warm-up", offsetof(job_spent, warmup_s)},
              {"rounds_s", "rounds", offsetof(job_spent, rounds_s)}};

static double *phase_of(job_spent *spent, size_t i)
{
    return (double *)((char *)spent + phases[i].offset);
}

void job_spent_add_worker(job_spent *spent, const json_t *reported, double seconds)
{
    spent->processes++;
    spent->all_s += seconds;
    for (size_t i = 0; i < PHASES; i++) {
        const double s = json_number_value(json_object_get(reported, phases[i].member));
        if (isfinite(s) && s > 0)
            *phase_of(spent, i) += s;
    }
}

void job_spent_add(job_spent *spent, const job_spent *other)
{
    job_spent more = *other;
    spent->processes += other->processes;
    spent->all_s += other->all_s;
    for (size_t i = 0; i < PHASES; i++)
        *phase_of(spent, i) += *phase_of(&more, i);
}

void job_spent_words(const job_spent *spent, bn_text *text)
{
    job_spent copy = *spent;
    double rest = spent->all_s;
    bn_text_printf(text, "%zu process%s in %.1f s: ", spent->processes,
                   spent->processes == 1 ? "" : "es", spent->all_s);
    for (size_t i = 0; i < PHASES; i++) {
        bn_text_printf(text, "%s %.1f s, ", phases[i].word, *phase_of(&copy, i));
        rest -= *phase_of(&copy, i);
    }
    bn_text_printf(text, "rest %.1f s", rest > 0 ? rest : 0.0);
}

/* ---- earlier runs of the same ---------------------------------------------------------------- */

/* A search for the records of all. */
typedef struct searches {
    job_experiment_at *at;
    const void *context;
    res_experiment *what; /* as records have them */
    job_before *before;
    char host[256];
    uint64_t until_ns;
} searches;

/* Whether OPTIONS, of a record, measure as long as those of E. */
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

static bool visit_record(void *context, size_t which, const res_record *r)
{
    searches *all = context;
    job_before *s = &all->before[which];
    res_phases did;
    const int process = res_group_process(r);
    job_spending *place = process == 1 ? &s->first : &s->further;
    const bool late = bn_now_ns() > all->until_ns;
    if (process < 1 || place->known || !res_record_good(r) || !res_record_phases(r, &did) ||
        !res_same_experiment(&r->experiment, &all->what[which]) ||
        strcmp(res_provenance_text(r, RES_PROV_HOST_NAME), all->host) != 0 ||
        !same_options(res_provenance(r, RES_PROV_OPTIONS), all->at(all->context, which)))
        return !late;
    const double own_ns = did.preparation_ns + did.compile_ns + did.warmup_ns + did.measuring_ns;
    *place = (job_spending){true, own_ns, did.wall_ns - did.others_ns - own_ns};
    if (process == 1)
        s->is_short = res_step_median(r, r->wall_ns) < RES_SHORT_STEP_NS;
    return !late && !(s->first.known && s->further.known);
}

job_before *job_spent_before(const char *store, job_experiment_at *at, const void *context,
                             size_t count)
{
    job_before *before = bn_zalloc(count + 1, sizeof *before);
    searches all = {.at = at, .context = context, .before = before};
    const size_t searched = count < MOST_SEARCHED ? count : MOST_SEARCHED;
    all.until_ns = bn_now_ns() + SEARCH_NS;
    all.what = bn_zalloc(searched + 1, sizeof *all.what);
    for (size_t i = 0; i < searched; i++)
        job_experiment_resolve(at(context, i), &all.what[i]);
    if (gethostname(all.host, sizeof all.host - 1) != 0)
        all.host[0] = '\0';
    if (searched > 0)
        res_store_visit_latest(store, all.what, searched, MOST_FILES, visit_record, &all);
    free(all.what);
    return before;
}

/* ---- a group --------------------------------------------------------------------------------- */

int job_group_foreseen(const job_group *group, const job_before *before, size_t count)
{
    bool all_short = group->usual && before;
    for (size_t i = 0; i < count; i++)
        all_short = all_short && before[i].first.known && before[i].is_short;
    return all_short ? JOB_SHORT_PROCESSES : group->processes;
}

/* Seconds that PROCESSES processes measure at least. Where their number was not given, steps may
 * turn out to be short: then there are more, of which all but the first measure a share. */
static double least(const job_group *group, int processes, const job_experiment *list, size_t count)
{
    const double brief = 1 + (JOB_SHORT_PROCESSES - 1.0) / JOB_SHORT_SHARE;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += list[i].how.min_time * (group->usual ? fmin(processes, brief) : processes);
    return sum;
}

/* Time of a process of several experiments. */
typedef struct together {
    double own_ns, shared_ns;
} together;

/* Adds MEMBER. Shared time counts once, unless the member has processes of its own. */
static void add_member(together *sum, const job_spending *member, bool alone)
{
    sum->own_ns += member->own_ns + (alone ? member->shared_ns : 0);
    if (!alone)
        sum->shared_ns = fmax(sum->shared_ns, member->shared_ns);
}

double job_group_seconds(const job_group *group, int processes, const job_experiment *list,
                         const job_before *before, size_t count, bool *known)
{
    together first = {0}, further = {0};
    bool all = before;
    for (size_t i = 0; all && i < count; i++) {
        const bool alone = group->separate || job_is_framework(&list[i].what);
        all = before[i].first.known && (processes < 2 || before[i].further.known);
        add_member(&first, &before[i].first, alone);
        add_member(&further, &before[i].further, alone);
    }
    *known = *known && all;
    if (!all)
        return least(group, processes, list, count);
    return (first.own_ns + first.shared_ns +
            (processes - 1) * (further.own_ns + further.shared_ns)) *
           1e-9;
}
