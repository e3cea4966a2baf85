/*
 * coverage_live.c - tables of a runtime: as many processes as bench run takes, measured by the
 * same function, and read by the same function as its table.
 */
#define _GNU_SOURCE
#include "harness/selftest/coverage_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Settings of the simulated device are read as reals. */
#define SEED_BITS ((UINT64_C(1) << 53) - 1)

static res_record **record_at(const selftest_set *set, int member, size_t table, size_t process)
{
    return &set->records[((size_t)member * set->most + table) * SELFTEST_MOST_PROCESSES + process];
}

const res_record *selftest_set_record(const selftest_set *set, int member, size_t table,
                                      size_t process)
{
    return *record_at(set, member, table, process);
}

void selftest_view_figures(const selftest_set *set, const selftest_view *view, size_t first,
                           size_t count, selftest_table_figures *figures)
{
    selftest_figures_of(record_at(set, 0, first, 0), record_at(set, view->member, first, 0),
                        count * SELFTEST_MOST_PROCESSES, figures);
}

/* ---- the simulated device ------------------------------------------------------------------- */

/* Adds to the user's settings of the simulated device, in the environment: the number of the
 * process, and the file for the lateness of its waits. Options would make each process an
 * experiment of its own. */
static void set_device(const selftest_plan *plan, const char *user, size_t number)
{
    char *list = NULL;
    if (asprintf(&list, "%s%sseed=%llu,process=%zu,report=%s", user ? user : "",
                 user && *user ? "," : "", (unsigned long long)(plan->seed & SEED_BITS), number,
                 plan->report) < 0)
        bn_out_of_memory(0);
    setenv("PJRT_SIM", list, 1);
    free(list);
}

static void restore_device(const char *user)
{
    if (user)
        setenv("PJRT_SIM", user, 1);
    else
        unsetenv("PJRT_SIM");
}

/* Whether too many waits of the last process ended late; false without a report. */
static bool was_late(const selftest_plan *plan)
{
    json_t *report = json_load_file(plan->report, 0, NULL);
    const json_t *waits = json_object_get(report, "await_late");
    const double count = (double)json_integer_value(json_object_get(waits, "count"));
    const double late = (double)json_integer_value(json_object_get(waits, "over_5us"));
    json_decref(report);
    unlink(plan->report);
    return late > SELFTEST_MOST_LATE * count;
}

/* ---- one process ---------------------------------------------------------------------------- */

/* Makes RECORD, of MEMBER, look like BASE in another mode, since a table compares modes of one
 * experiment: programs have none, and an A/A test has one mode twice. Of the machine's description,
 * which is long, the interference monitor needs the cores. */
static void adapt_record(int member, const res_record *base, res_record *record)
{
    if (member > 0)
        record->experiment = base->experiment;
    snprintf(record->experiment.mode, sizeof record->experiment.mode, "%s",
             member > 0 ? "capture" : "lazy");
    const json_int_t cores = res_provenance_integer(record, RES_PROV_HOST_CORES, 0);
    res_provenance_set(record, RES_PROV_HOST, json_pack("{sI}", "cores_online", cores));
}

/* A process of a table. NUMBER of OF is its table's, since the number of processes is unknown
 * before; DRAW is its own number in the run. */
typedef struct process {
    selftest_set *set;
    job_group *group;
    job_experiment *members; /* of SET; later processes of short steps measure shorter */
    size_t table, index, number, of, draw;
} process;

/* Updates the progress line by the time of the tables so far: processes of a table differ. */
static void update_progress(const process *p, uint64_t begun_ns)
{
    const double table_part = 1.0 / p->group->processes;
    const double done = (double)(p->number - 1) + (double)p->index * table_part;
    const double table_s = done > 0 ? (double)(bn_now_ns() - begun_ns) / 1e9 / done : -1;
    const double job_s = table_s * table_part;
    job_progress_expect(job_s, table_s * ((double)p->of - done) - job_s);
}

/* Measures P, and replaces its records; false where it failed. */
static bool measure_once(const selftest_plan *plan, const process *p)
{
    char title[256];
    job_kept kept[SELFTEST_MEMBERS];
    bool good = true;
    snprintf(title, sizeof title, "%s, table %zu of %zu, process %zu of %d", p->set->name,
             p->table + 1, p->set->most, p->index + 1, p->group->processes);
    const job_order job = {NULL,
                           title,
                           p->number,
                           p->of,
                           plan->options->matrix->how.timeout,
                           plan->options->output.verbose,
                           (int)p->index + 1 < p->group->processes};
    update_progress(p, plan->begun_ns);
    job_measure_and_keep(p->group, (int)p->index + 1, p->members, SELFTEST_MEMBERS, &job, kept);
    if (p->index == 0)
        job_group_learn(p->group, p->members, SELFTEST_MEMBERS, kept);
    for (int i = 0; i < SELFTEST_MEMBERS; i++) {
        const bn_status *failure = &kept[i].failure;
        res_record **at = record_at(p->set, i, p->table, p->index);
        if (failure->code == BN_OK && kept[i].record && kept[0].record)
            adapt_record(i, kept[0].record, kept[i].record);
        else if (failure->code != BN_CANCELLED && good)
            cli_complain_of(title, failure);
        good = good && failure->code == BN_OK && kept[i].record;
        res_record_free(*at);
        *at = kept[i].record;
    }
    return good;
}

/* measure_once, repeated where a simulated device was late; false where it failed. */
static bool measure_process(const selftest_plan *plan, const process *p)
{
    const char *set_before = getenv("PJRT_SIM");
    if (!p->set->simulated)
        return measure_once(plan, p);
    char *user = set_before ? bn_strdup(set_before) : NULL;
    bool good = true, late = true;
    set_device(plan, user, p->draw);
    for (int i = 0; i < SELFTEST_ATTEMPTS && good && late && !job_interrupted(); i++) {
        good = measure_once(plan, p);
        late = was_late(plan);
    }
    restore_device(user);
    free(user);
    p->set->late[p->table] = late;
    return good;
}

/* ---- all tables ----------------------------------------------------------------------------- */

static void measure_table(const selftest_plan *plan, size_t index, size_t table)
{
    selftest_set *set = &plan->sets[index];
    job_group group;
    job_experiment members[SELFTEST_MEMBERS];
    process p = {.set = set,
                 .group = &group,
                 .members = members,
                 .table = table,
                 .number = table * plan->count + index + 1,
                 .of = plan->count * set->most,
                 .draw = (table * plan->count + index) * SELFTEST_MOST_PROCESSES};
    /* On the simulated device the spread is set, so more processes would add nothing. */
    job_group_begin(&group, set->simulated ? JOB_USUAL_PROCESSES : 0, plan->seed + p.draw + 1);
    memcpy(members, set->members, sizeof members);
    /* A table of a late device does not count, so its other processes are not measured. */
    for (; p.index < (size_t)group.processes && !set->late[table]; p.index++) {
        p.draw++;
        const bool good = measure_process(plan, &p);
        if (job_interrupted())
            return;
        if (!good) {
            set->dead = true;
            return;
        }
    }
    if (set->late[table])
        cli_note("[%zu/%zu] %s, table %zu: the device was late, so it does not count", p.number,
                 p.of, set->name, table + 1);
    set->tables = table + 1;
}

bool selftest_plan_measure(selftest_plan *plan)
{
    bool good = true;
    plan->begun_ns = bn_now_ns();
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
