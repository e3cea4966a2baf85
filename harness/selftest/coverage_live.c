/*
 * coverage_live.c - tables of a runtime: as many processes as bench run takes, measured by the
 * same function, and read by the same function as its table.
 */
#define _GNU_SOURCE
#include "harness/selftest/coverage_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings of the simulated device are read as reals. */
#define SEED_BITS ((UINT64_C(1) << 53) - 1)

static res_record **record_at(const selftest_set *set, int member, size_t table, size_t process)
{
    return &set->records[((size_t)member * set->most + table) * SELFTEST_TABLE_PROCESSES + process];
}

const res_record *selftest_set_record(const selftest_set *set, int member, size_t table,
                                      size_t process)
{
    return *record_at(set, member, table, process);
}

bn_code selftest_view_figures(const selftest_set *set, const selftest_view *view, size_t first,
                              size_t count, selftest_table_figures *figures, bn_status *st)
{
    return selftest_figures_of(record_at(set, 0, first, 0), record_at(set, view->member, first, 0),
                               count * SELFTEST_TABLE_PROCESSES, figures, st);
}

/* ---- one process ---------------------------------------------------------------------------- */

/* Tells the simulated device which process this is, by the environment: an option would make each
 * process an experiment of its own. USER is what the user has set there. */
static void number_process(const char *user, uint64_t seed, size_t number)
{
    char *list = NULL;
    if (asprintf(&list, "%s%sseed=%llu,process=%zu", user ? user : "", user && *user ? "," : "",
                 (unsigned long long)(seed & SEED_BITS), number) < 0)
        return;
    setenv("PJRT_SIM", list, 1);
    free(list);
}

static void forget_number(const char *user)
{
    if (user)
        setenv("PJRT_SIM", user, 1);
    else
        unsetenv("PJRT_SIM");
}

/* Takes over the record of MEMBER. In the table the members stand as two ways to run one thing,
 * whatever they are: a program is neither lazy nor captured, and an experiment beside itself is
 * the same way twice. The machine's description, which is long, is not needed. */
static void take(int member, const res_record *base, res_record *record)
{
    if (member > 0)
        record->experiment = base->experiment;
    snprintf(record->experiment.mode, sizeof record->experiment.mode, "%s",
             member > 0 ? "capture" : "lazy");
    json_object_del(record->provenance, "host");
}

/* Process PROCESS of TABLE of SET; false where it failed. */
static bool measure_process(selftest_plan *plan, selftest_set *set, job_group *group, size_t table,
                            size_t process, size_t number, size_t of)
{
    char title[256];
    job_kept kept[SELFTEST_MEMBERS];
    bool good = true;
    const char *set_before = getenv("PJRT_SIM");
    char *user = set_before ? strdup(set_before) : NULL;
    snprintf(title, sizeof title, "%s, table %zu of %zu, process %zu of %d", set->name, table + 1,
             set->most, process + 1, SELFTEST_TABLE_PROCESSES);
    const job_order job = {
        NULL, title, number, of, plan->options->matrix->timeout, plan->options->output.verbose};
    if (set->simulated)
        number_process(user, plan->seed, number);
    job_measure_and_keep(group, (int)process + 1, set->members, SELFTEST_MEMBERS, &job, kept);
    if (set->simulated)
        forget_number(user);
    free(user);
    for (int i = 0; i < SELFTEST_MEMBERS; i++) {
        const bn_status *failure = &kept[i].failure;
        if (failure->code == BN_OK && kept[i].record && kept[0].record)
            take(i, kept[0].record, kept[i].record);
        else if (failure->code != BN_CANCELLED && good)
            cli_complain_of(title, failure);
        good = good && failure->code == BN_OK && kept[i].record;
        *record_at(set, i, table, process) = kept[i].record;
    }
    return good;
}

/* ---- all tables ----------------------------------------------------------------------------- */

static void measure_table(selftest_plan *plan, size_t index, size_t table)
{
    selftest_set *set = &plan->sets[index];
    const size_t of = plan->count * set->most * SELFTEST_TABLE_PROCESSES;
    size_t number = (table * plan->count + index) * SELFTEST_TABLE_PROCESSES;
    job_group group;
    job_group_begin(&group, SELFTEST_TABLE_PROCESSES, plan->seed + number + 1);
    for (size_t k = 0; k < SELFTEST_TABLE_PROCESSES; k++) {
        const bool good = measure_process(plan, set, &group, table, k, ++number, of);
        if (job_interrupted())
            return;
        if (!good) {
            set->dead = true;
            return;
        }
    }
    set->tables = table + 1;
}

bool selftest_plan_measure(selftest_plan *plan)
{
    bool good = true;
    for (size_t t = 0; t < (size_t)plan->options->tables; t++)
        for (size_t i = 0; i < plan->count && !job_interrupted(); i++) {
            if (plan->sets[i].dead)
                continue;
            measure_table(plan, i, t);
            /* The records are in memory; thousands would fill the disk. */
            selftest_folder_remove(plan->store);
            good = good && !plan->sets[i].dead;
        }
    cli_line_clear();
    return good;
}
