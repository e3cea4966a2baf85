/*
 * study_run.c - measures a study: each turn has a process of each group of experiments, in a random
 * order, so that a drift of the machine hits all values of the swept axis alike.
 */
#include "harness/study/study_priv.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct study_group {
    job_group group;
    size_t first, count; /* of the study's list */
} study_group;

typedef struct measuring {
    study *study;
    const cli_output *output;
    study_group *groups;
    size_t *order; /* of groups, in a turn */
    size_t group_count;
    job_group plan;          /* all groups have as many processes */
    job_kept *kept;          /* [experiment]: of this turn */
    bool *failed;            /* [experiment]: left out of further turns */
    job_experiment *members; /* [JOB_MOST_MEMBERS]: of the process that runs */
    gsl_rng *rng;
    job_cache cache;
    size_t number; /* processes that were begun */
    cli_exit worst;
    bool stop;      /* further processes would fail alike */
    bn_status last; /* failure that was reported */
} measuring;

static void begin(measuring *m, int processes)
{
    study *s = m->study;
    size_t first = 0;
    job_group_begin(&m->plan, processes, 0);
    s->room = (size_t)m->plan.processes;
    if (m->plan.usual && s->room < JOB_SHORT_PROCESSES)
        s->room = JOB_SHORT_PROCESSES;
    s->records = bn_zalloc(s->room * s->count, sizeof(res_record *));
    m->group_count = job_groups_arrange(s->list, s->count);
    m->groups = bn_zalloc(m->group_count + 1, sizeof *m->groups);
    m->order = bn_zalloc(m->group_count + 1, sizeof *m->order);
    m->kept = bn_zalloc(s->count, sizeof *m->kept);
    m->failed = bn_zalloc(s->count, sizeof *m->failed);
    m->members = bn_zalloc(JOB_MOST_MEMBERS, sizeof *m->members);
    m->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(m->rng, (unsigned long)bn_now_ns());
    for (size_t i = 0; i < m->group_count; i++) {
        m->order[i] = i;
        m->groups[i].first = first;
        m->groups[i].count = job_group_end(s->list, s->count, first) - first;
        job_group_begin(&m->groups[i].group, m->plan.processes, 0);
        first += m->groups[i].count;
    }
}

static void end(measuring *m)
{
    gsl_rng_free(m->rng);
    free(m->groups);
    free(m->order);
    free(m->kept);
    free(m->failed);
    free(m->members);
}

static size_t planned(const measuring *m)
{
    return (size_t)m->plan.processes * m->group_count;
}

static void note(measuring *m, cli_exit code)
{
    m->worst = code > m->worst ? code : m->worst;
}

/* Moves experiment INDEX's record of turn PROCESS, from 1, out of KEPT, and reports its failures.
 */
static void collect(measuring *m, size_t index, int process, const job_kept *kept)
{
    char title[256];
    study *s = m->study;
    const bn_status *failure = &kept->failure;
    /* Experiments of one study often fail for one reason. */
    const bool reported = m->stop || strcmp(failure->message, m->last.message) == 0;
    job_experiment_title(&s->list[index], title, sizeof title);
    s->records[(size_t)(process - 1) * s->count + index] = kept->record;
    /* No turn counts without an experiment that the first one had, so that is tried again. */
    if (process == 1)
        m->failed[index] = failure->code != BN_OK;
    if (failure->code != BN_OK && failure->code != BN_CANCELLED && !reported) {
        m->last = *failure;
        note(m, kept->usage ? cli_complain(failure) : cli_complain_of(title, failure));
    }
    if (kept->store.code != BN_OK && !m->stop && strcmp(kept->store.message, failure->message) != 0)
        note(m, cli_complain_of(title, &kept->store));
    m->stop = m->stop || kept->usage || kept->store.code != BN_OK;
}

/* Process number PROCESS of one group: its experiments but for those that are left out. */
static void run_process(measuring *m, study_group *g, int process)
{
    char title[400], text[512];
    size_t place[JOB_MOST_MEMBERS], count = 0;
    study *s = m->study;
    job_experiment *list = m->members;
    job_kept *kept = &m->kept[g->first];
    for (size_t i = g->first; i < g->first + g->count; i++) {
        if (m->failed[i])
            continue;
        list[count] = s->list[i];
        place[count++] = i;
    }
    if (count == 0)
        return;
    job_cache_lend(&m->cache, list, count, process == 1 || s->kind->anew);
    job_group_title(list, count, title, sizeof title);
    snprintf(text, sizeof text, "%s, process %d of %d", title, process, m->plan.processes);
    g->group.processes = m->plan.processes;
    const bool more = process < m->plan.processes;
    const job_order job = {
        NULL, text, ++m->number, planned(m), list[0].how.timeout, m->output->verbose, more};
    job_measure_and_keep(&g->group, process, list, count, &job, kept);
    for (size_t i = 0; i < count; i++)
        collect(m, place[i], process, &kept[i]);
}

static void run_turns(measuring *m)
{
    study *s = m->study;
    for (int process = 1; process <= m->plan.processes && !job_interrupted() && !m->stop;
         process++) {
        s->turns++;
        for (size_t i = 0; i < m->group_count && !job_interrupted() && !m->stop; i++)
            run_process(m, &m->groups[m->order[i]], process);
        /* In the first turn no place was skipped, so KEPT is in the order of the list. */
        if (process == 1 && !job_interrupted() && !m->stop)
            job_group_learn(&m->plan, s->list, s->count, m->kept);
        gsl_ran_shuffle(m->rng, m->order, m->group_count, sizeof *m->order);
    }
}

static const job_experiment *experiment_at(const void *context, size_t index)
{
    return &((const study *)context)->list[index];
}

static void show_plan(const measuring *m)
{
    const study *s = m->study;
    job_before *before = job_spent_before(s->list[0].how.store, experiment_at, s, s->count);
    const int processes = job_group_foreseen(&m->plan, before, s->count);
    const size_t all = (size_t)processes * m->group_count;
    double seconds = 0;
    bool known = true;
    for (size_t i = 0; i < m->group_count; i++) {
        const study_group *g = &m->groups[i];
        seconds += job_group_seconds(&m->plan, processes, &s->list[g->first],
                                     before ? before + g->first : NULL, g->count, &known);
    }
    free(before);
    cli_note("[0/%zu] study %s: %zu experiments in %zu processes on runtime %s; records go to %s",
             all, s->kind->name, s->count, all, s->list[0].what.runtime, s->list[0].how.store);
    job_progress_plan(all, known ? seconds : -1, s->list[0].how.idle_cores);
}

static void show_end(const measuring *m)
{
    job_spent spent = {0};
    bn_text line = {0};
    for (size_t i = 0; i < m->group_count; i++)
        job_spent_add(&spent, &m->groups[i].group.spent);
    job_spent_words(&spent, &line);
    if (line.data && spent.processes > 0)
        cli_note("[%zu/%zu] %s; records: %s", m->number, planned(m), line.data,
                 m->study->list[0].how.store);
    bn_text_free(&line);
}

cli_exit study_measure(study *s, int processes, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    measuring m = {.study = s, .output = output};
    job_supervise_begin();
    begin(&m, processes);
    if (job_cache_begin(s->list[0].how.store, &m.cache, &st) == BN_OK) {
        show_plan(&m);
        run_turns(&m);
        job_cache_end(&m.cache);
        cli_line_clear();
        show_end(&m);
    } else {
        note(&m, cli_complain(&st));
    }
    end(&m);
    return m.worst;
}
