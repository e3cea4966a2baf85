/*
 * phases.c - phases of the process, for the record of each of its experiments.
 *
 * Experiments of a group share the process. Of its wall time each record has the part of its own
 * experiment, the part of all, and that of the others.
 */
#include "harness/worker/measure_priv.h"

/* Time of the process for M. */
static uint64_t own_ns(const worker_member *m)
{
    return m->opening_ns + m->turns_ns + m->finish_ns + m->end_ns;
}

/* Lowering and compile calls before the first step: programs and recorded steps are compiled as
 * they are opened. */
static uint64_t compiled_early_ns(const worker_member *m)
{
    uint64_t sum = 0;
    if (!m->s.experiment || !m->s.experiment->program)
        return 0;
    for (size_t i = 0; i < m->record->execution_count; i++) {
        const res_execution *x = &m->record->executions[i];
        sum += x->from_disk ? 0 : x->lower_ns + x->compile_ns;
    }
    return sum < m->preparation_ns ? sum : m->preparation_ns;
}

static json_t *phases_json(const worker_group *g, const worker_member *m, uint64_t end_ns)
{
    const uint64_t early = compiled_early_ns(m), late = m->compile_ns + m->lower_ns;
    uint64_t others = g->awaited_ns;
    for (size_t i = 0; i < g->count; i++)
        others += &g->members[i] == m ? 0 : own_ns(&g->members[i]);
    return json_pack("{sI sI sI sI sI sI sI}", "wall_ns",
                     (json_int_t)(end_ns - g->process_begin_ns), "others_ns", (json_int_t)others,
                     "initialization_ns", (json_int_t)(g->ready_ns - g->process_begin_ns),
                     "preparation_ns", (json_int_t)(m->preparation_ns - early), "compile_ns",
                     (json_int_t)(early + late), "warmup_ns", (json_int_t)(m->warmup_ns - late),
                     "measuring_ns", (json_int_t)(m->turns_ns + m->finish_ns));
}

void worker_put_phases(const worker_group *g)
{
    const uint64_t end_ns = bn_now_ns();
    for (size_t i = 0; i < g->count; i++) {
        const worker_member *m = &g->members[i];
        if (m->failure.code == BN_OK)
            res_provenance_set(m->record, RES_PROV_PHASES, phases_json(g, m, end_ns));
    }
}
