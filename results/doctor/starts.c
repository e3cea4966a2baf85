/*
 * starts.c - what becomes of the executables that a start has compiled, for the rules on starts.
 */
#include "results/doctor/doctor_priv.h"

#include <string.h>

/* The folder in which RECORD's run kept executables; "": it was given none, or a framework ran,
 * which uses none. */
static const char *folder_of(const res_record *record)
{
    return res_is_ours(&record->experiment) ? res_provenance_text(record, RES_PROV_OPTIONS_CACHE)
                                            : "";
}

/* Whether B, a later process of A's run, compiled again and found nothing of what A had compiled.
 */
static bool compiled_again(const res_process *a, const res_process *b)
{
    if (!a->record || !b->record || !a->group[0] || strcmp(a->group, b->group) != 0 ||
        !folder_of(b->record)[0])
        return false;
    const int64_t *first = a->record->counters, *then = b->record->counters;
    return res_group_process(a->record) < res_group_process(b->record) &&
           first[BN_COUNTER_COMPILES] > 0 && then[BN_COUNTER_COMPILES] > 0 &&
           then[BN_COUNTER_DISK_HITS] == 0;
}

static res_kept kept_of(const res_speedup_row *row)
{
    const res_pool *pool = &row->pool;
    if (!folder_of(row->record)[0])
        return RES_KEPT_NOT;
    for (size_t i = 0; i < pool->count; i++)
        for (size_t k = 0; k < pool->count; k++)
            if (compiled_again(&pool->list[i], &pool->list[k]))
                return RES_KEPT_NEVER;
    return RES_KEPT_FURTHER;
}

void res_starts_further(const res_speedup_row *row, res_doctor_finding *finding)
{
    finding->kept = kept_of(row);
    finding->folder = folder_of(row->record);
}

/* ---- advice -------------------------------------------------------------------------------------
 */

/* Where the framework of E keeps executables. Its worker takes no folder of bench's. */
static const char *cache_of(const res_experiment *e)
{
    /* By how names of front ends begin: a recording's has a version behind it. */
    static const struct {
        const char *front_end, *cache;
    } caches[] = {
        {"jax", "JAX's own cache (JAX_COMPILATION_CACHE_DIR, or jax_compilation_cache_dir)"},
        {"pytorch-xla", "PyTorch/XLA's own cache (torch_xla.runtime.initialize_cache)"},
        {"torch_xla", "PyTorch/XLA's own cache (torch_xla.runtime.initialize_cache)"},
    };
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (strncmp(e->front_end, caches[i].front_end, strlen(caches[i].front_end)) == 0)
            return caches[i].cache;
    return "the framework's own cache";
}

void res_starts_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    if (!res_is_ours(e))
        bn_text_printf(out, "Keep the executables between starts in %s.", cache_of(e));
    else if (c->kept == RES_KEPT_FURTHER)
        bn_text_printf(out, "Later starts load the executables from %s (--cache-dir).", c->folder);
    else if (c->kept == RES_KEPT_NEVER)
        bn_text_printf(out,
                       "Later processes loaded none from %s (--cache-dir): the plugin does not "
                       "serialize executables, or bench reported why it refused the files.",
                       c->folder);
    else
        bn_text_puts(out, "Keep the executables between starts (--cache-dir).");
}
