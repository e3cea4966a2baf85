/*
 * doctor_priv.h - a rule of the doctor, and what rules share: costs of a step (costs.c), kept
 * executables (starts.c), explanations (why.c). Each rule is a file, rule_NAME.c.
 */
#ifndef BENCH_RESULTS_DOCTOR_PRIV_H
#define BENCH_RESULTS_DOCTOR_PRIV_H

#include "results/doctor/doctor.h"
#include "results/figures/figures.h"

/* Whether an entry of RECORD's explanation, by its WORD (docs/explain.md), is a cause. */
typedef bool res_cause_test(const res_record *record, const char *word);

/* A rule. Its file defines res_rule_NAME, and RES_DOCTOR_RULES has a row. */
typedef struct res_doctor_rule {
    const char *name; /* as JSON and tables have it; no other rule has it */
    /* The saving of a process in a step, or in a start, in ns; NaN: unknown. It may overlap the
     * costs of other rules. */
    double (*cost)(const res_process *process);
    /* The finding's count; 0: the rule does not apply to ROW. */
    double (*count)(const res_speedup_row *row);
    /* The least cost of a finding, where there is an interval by its lower bound. */
    double least_share; /* of the step */
    double least_ns;
    bool of_start;     /* the cost is of each start, and no part of a step */
    bool of_further;   /* the cost is of further steps, on top of the measured ones */
    bool of_mean_step; /* the cost is a mean over all steps, and a share of the mean step; else of
                          the median one, which lacks what few steps do */
    /* The processes whose costs count, where any does; NULL: all. */
    bool (*knows)(const res_process *process);
    /* Whether the device may work during the cost, which then is an upper bound where no device
     * time is known; NULL: it never does. */
    bool (*may_hide)(const res_speedup_row *row);
    res_cause_test *is_cause; /* NULL: no entry of an explanation is */
    bool of_programs; /* a cause is a change between programs; else it is a source location alone */
    /* Sets what only this rule's FINDING on ROW has, whose other members are set; NULL: nothing. */
    void (*further)(const res_speedup_row *row, res_doctor_finding *finding);
    /* Appends what takes the time, "tracing 1309 nodes"; and what to do about it on EXPERIMENT. */
    void (*subject)(const res_doctor_finding *finding, bn_text *out);
    void (*advice)(const res_doctor_finding *finding, const res_experiment *experiment,
                   bn_text *out);
} res_doctor_rule;

#define X(NAME, name) extern const res_doctor_rule res_rule_##name;
RES_DOCTOR_RULES(X)
#undef X

/* ---- costs of one process (costs.c) -----------------------------------------------------------
 * NaN where anything that they need is unknown.
 */

/* Mean and median over all steps of PARTS together: what happens in few steps has no median. */
double res_cost_mean(const res_process *process, const bn_part *parts, size_t count);
double res_cost_median(const res_process *process, const bn_part *parts, size_t count);
/* The mean step. */
double res_cost_mean_wall(const res_process *process);
/* Device time of a step; NaN where that is unknown of all steps. */
double res_cost_device(const res_process *process);
double res_cost_device_of_row(const res_speedup_row *row);
bool res_cost_in_flight(const res_process *process);
/* Whether the device may work while the host traces: res_hides_tracing. */
bool res_cost_hides(const res_process *process);
/* NaN where either is. */
double res_cost_lesser(double a, double b);
/* The time beyond the device's work of the parts in which a step calls the plugin and waits for it,
 * and of OTHER where it is one more. Where nothing is hidden these are the overheads of all
 * executions, and OTHER. */
double res_cost_exposed(const res_process *process, bn_part other);
/* What a step saves without OWN_NS in PART, which it spends once its executions are submitted: as far
 * as the device does not work meanwhile. */
double res_cost_behind_executions(const res_process *process, bn_part part, double own_ns);
/* The cost of breaks of a step: the host takes values in READ, in which it waits for the device,
 * too, and there may be executions more. Where no device time is known, all of READ. */
double res_cost_breaks(const res_process *process);
/* The part of TRANSFERS that is of ops of the host, each of which reads once and sends once. It is
 * taken for their part of the time, which the ledger does not have. */
double res_cost_share_of_ops(const res_process *process, bn_counter transfers);

/* ---- what the steps of a row do (costs.c) ------------------------------------------------------
 */

/* In a step: programs compiled or loaded; ops that the host computes; values read, but for those of
 * such ops. */
double res_step_programs(const res_speedup_row *row);
double res_step_host_ops(const res_speedup_row *row);
double res_step_reads(const res_speedup_row *row);
/* Whether the host waits for the device in most steps, to read a value. Then no two are in flight.
 */
bool res_step_alone(const res_speedup_row *row);
/* Whether batches are sent ahead. */
bool res_step_sends_ahead(const res_record *record);
/* res_doctor_rule.may_hide of rules whose cost the device may always hide. */
bool res_always_hides(const res_speedup_row *row);

/* ---- executables that starts keep (starts.c) --------------------------------------------------
 */

/* res_doctor_rule.further of rules on starts: sets KEPT and FOLDER. */
void res_starts_further(const res_speedup_row *row, res_doctor_finding *finding);
/* Appends how to keep executables between starts of EXPERIMENT. */
void res_starts_advice(const res_doctor_finding *finding, const res_experiment *experiment,
                       bn_text *out);

/* ---- scopes (fixes.c) -----------------------------------------------------------------------
 */

/* That of the latest of POOL's records that has one. */
res_scope_cost res_pool_scope(const res_pool *pool);
/* res_doctor_rule.further: sets SCOPE. */
void res_scopes_further(const res_speedup_row *row, res_doctor_finding *finding);
/* Appends " 93 % of the tracing is in the scope X.", of WHAT ("tracing", "executions"), and how to
 * trace it once; nothing where it is unknown. */
void res_scope_put(const res_doctor_finding *c, const res_experiment *e, const char *what,
                   bn_text *out);

/* ---- explanations (why.c) ---------------------------------------------------------------------
 */

/* The most frequent cause in RECORD's explanation; NULL: there is none. *MORE: how many others. */
const json_t *res_cause_of(const res_record *record, res_cause_test *is_cause, size_t *more);
/* The same of the latest of POOL's records that has one. */
const json_t *res_pool_cause(const res_pool *pool, res_cause_test *is_cause, size_t *more);
/* Whether an explanation of POOL has programs that were compiled for a branch on the value that is
 * read where WHY (NULL: nowhere) says. */
bool res_pool_branches(const res_pool *pool, const json_t *why);
/* How many executions breaks have added to those of the graphs into which a step of RECORD is cut.
 */
double res_executions_added(const res_record *record);

#endif
