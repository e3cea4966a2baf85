/*
 * coverage_tables.c - intervals of a speedup table of two members' records. Simulated steps become
 * such records as well.
 */
#include "harness/selftest/coverage_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void selftest_figures_of(res_record *const *base, res_record *const *other, size_t count,
                         selftest_table_figures *figures)
{
    const res_interval none = {(double)NAN, (double)NAN, (double)NAN};
    res_record **list = bn_zalloc(2 * count + 1, sizeof *list);
    res_collection all = {.records = list};
    res_speedup speedup = {0};
    *figures = (selftest_table_figures){none, none, none, false};
    for (size_t i = 0; i < count; i++) {
        if (base[i])
            list[all.count++] = base[i];
        if (other[i])
            list[all.count++] = other[i];
    }
    res_speedup_make(&all, &speedup);
    for (size_t i = 0; i < speedup.count; i++)
        if (!speedup.rows[i].base) {
            figures->ratio = speedup.rows[i].ratio.ratio;
            figures->wall = speedup.rows[i].figures.wall.value;
            figures->device = speedup.rows[i].figures.device.value;
        }
    figures->busy = res_interference_busy(&speedup.interference);
    res_speedup_free(&speedup);
    free(list);
}

/* ---- simulated steps as records --------------------------------------------------------- */

/* The record that process K of TABLE would have of MEMBER; NULL without memory. */
static res_record *record_of(const selftest_table_sim *table, size_t k, int member)
{
    enum { STEPS = SELFTEST_TABLE_ROUNDS * SELFTEST_TABLE_STEPS };
    bn_status st = {.code = BN_OK};
    res_record *r = res_record_new();
    if (!r || res_record_reserve_steps(r, STEPS, 0, &st) != BN_OK ||
        res_record_reserve_rounds(r, SELFTEST_TABLE_ROUNDS, &st) != BN_OK) {
        res_record_free(r);
        return NULL;
    }
    snprintf(r->id, sizeof r->id, "process %zu, member %d", k, member);
    snprintf(r->experiment.runtime, sizeof r->experiment.runtime, "numbers");
    snprintf(r->experiment.model, sizeof r->experiment.model, "numbers");
    snprintf(r->experiment.phase, sizeof r->experiment.phase, "train");
    snprintf(r->experiment.mode, sizeof r->experiment.mode, member ? "capture" : "lazy");
    r->experiment.graphs = 1;
    r->simulated = true;
    for (size_t round = 0; round < SELFTEST_TABLE_ROUNDS; round++) {
        r->rounds[round].steps = SELFTEST_TABLE_STEPS;
        for (size_t i = 0; i < SELFTEST_TABLE_STEPS; i++)
            r->wall_ns[round * SELFTEST_TABLE_STEPS + i] =
                (uint64_t)llround(table->step_ns[k][member][round][i]);
    }
    /* Records of one build are pooled. */
    res_provenance_set(r, RES_PROV_RUNTIME, json_pack("{ss}", "sha256", "numbers"));
    res_provenance_set(r, RES_PROV_GROUP,
                       json_pack("{ss si si}", "id", "numbers", "process", (int)k + 1, "processes",
                                 SELFTEST_TABLE_PROCESSES));
    return r;
}

bn_code selftest_table_by_tables(const selftest_table_sim *table, selftest_table_figures *figures,
                                 bn_status *st)
{
    res_record *records[2][SELFTEST_TABLE_PROCESSES] = {{NULL}};
    bool made = true;
    for (size_t k = 0; k < SELFTEST_TABLE_PROCESSES; k++)
        for (int m = 0; m < 2; m++)
            made = (records[m][k] = record_of(table, k, m)) != NULL && made;
    bn_code code = BN_OK;
    if (made)
        selftest_figures_of(records[0], records[1], SELFTEST_TABLE_PROCESSES, figures);
    else
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for records");
    for (size_t k = 0; k < SELFTEST_TABLE_PROCESSES; k++)
        for (int m = 0; m < 2; m++)
            res_record_free(records[m][k]);
    return code;
}
