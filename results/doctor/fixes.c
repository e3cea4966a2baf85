/*
 * fixes.c - what a user changes in a program of JAX or PyTorch/XLA, by identifier: bench's own
 * options only say what that would gain.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

/* Arguments of an execution that cost as much as an execution's call does. A choice. */
#define MANY_ARGUMENTS 100

static const struct {
    const char *id, *jax, *torch;
} fixes[RES_FIX_COUNT] = {
    [RES_FIX_CAPTURE] = {"capture-step",
                         "jax.jit around the whole step, gradients and update included",
                         "torch.compile(step, backend=\"openxla\")"},
    [RES_FIX_SCAN] = {"scan-layers", "jax.lax.scan over layers whose parameters are stacked",
                      "torch_xla.experimental.scan_layers"},
    [RES_FIX_MERGE] = {"merge-executions", "one jax.jit over forward, backward and update",
                       "torch_xla.sync() (xm.mark_step) once a step, at its end"},
    [RES_FIX_QUEUE] = {"queue-executions", "no block_until_ready between calls",
                       "no wait (xm.wait_device_ops) and no value read between graphs"},
    [RES_FIX_ARGUMENTS] = {"fewer-arguments",
                           "fewer and larger arguments (stack equal layers, ravel small "
                           "arrays), and donate_argnums for those that come back",
                           "fewer and larger tensors: stacked layers (scan_layers), and a fused "
                           "optimizer state"},
    [RES_FIX_LARGER] = {"larger-executions",
                        "a larger batch, or several steps in one jitted jax.lax.scan",
                        "a larger batch, or several steps before torch_xla.sync()"},
    [RES_FIX_AHEAD] = {"run-ahead",
                       "read values (float(loss), block_until_ready) in some steps only",
                       "read values (loss.item()) in some steps only"},
};

const char *res_fix_id(res_fix fix)
{
    return fixes[fix].id;
}

void res_fix_put(res_fix fix, const res_experiment *e, bn_text *out)
{
    const bool jax = strncmp(e->front_end, "jax", 3) == 0;
    const bool torch =
        strncmp(e->front_end, "pytorch", 7) == 0 || strncmp(e->front_end, "torch", 5) == 0;
    if (!torch)
        bn_text_printf(out, "%s%s", jax ? "" : "JAX: ", fixes[fix].jax);
    if (!jax)
        bn_text_printf(out, "%s%s", torch ? "" : "; PyTorch/XLA: ", fixes[fix].torch);
}

/* The most arguments of an execution of a step of RECORD. */
static int most_arguments(const res_record *record)
{
    int most = 0;
    for (size_t i = 0; i < record->execution_count; i++)
        if (record->executions[i].per_step > 0 && record->executions[i].arguments > most)
            most = record->executions[i].arguments;
    return most;
}

size_t res_doctor_fixes(const res_speedup_row *row, res_bound bound, res_fix list[RES_FIX_COUNT])
{
    const res_experiment *e = &row->record->experiment;
    const bool several = row->figures.executions > 1, eager = strcmp(e->mode, "eager") == 0;
    const res_scope_cost scope = res_pool_scope(&row->pool);
    size_t count = 0;
    if (bound == RES_BOUND_TRACING) {
        list[count++] = RES_FIX_CAPTURE;
        if (scope.times > 1)
            list[count++] = RES_FIX_SCAN;
    }
    if (bound != RES_BOUND_DISPATCH)
        return count;
    if (several)
        list[count++] = eager ? RES_FIX_CAPTURE : RES_FIX_MERGE;
    if (several && res_is_awaited(e))
        list[count++] = RES_FIX_QUEUE;
    if (most_arguments(row->record) >= MANY_ARGUMENTS)
        list[count++] = RES_FIX_ARGUMENTS;
    if (!eager)
        list[count++] = RES_FIX_LARGER;
    if (res_step_alone(row))
        list[count++] = RES_FIX_AHEAD;
    return count;
}

/* ---- the scope that costs most -----------------------------------------------------------------
 */

res_scope_cost res_pool_scope(const res_pool *pool)
{
    for (size_t i = pool->count; i-- > 0;) {
        const res_record *r = pool->list[i].record;
        const char *name = r ? res_provenance_text(r, RES_PROV_TRACING_SCOPE) : "";
        if (*name)
            return (res_scope_cost){name, res_provenance_number(r, RES_PROV_TRACING_SHARE),
                                    res_provenance_number(r, RES_PROV_TRACING_TIMES)};
    }
    return (res_scope_cost){"", (double)NAN, 0};
}

void res_scopes_further(const res_speedup_row *row, res_doctor_finding *finding)
{
    finding->scope = res_pool_scope(&row->pool);
}

void res_scope_put(const res_doctor_finding *c, const res_experiment *e, const char *what,
                   bn_text *out)
{
    if (!c->scope.name || !c->scope.name[0])
        return;
    bn_text_printf(out, " %.0f %% of the %s %s in the scope %s", 100 * c->scope.share, what,
                   strcmp(what, "tracing") == 0 ? "is" : "are", c->scope.name);
    if (c->scope.times > 1) {
        bn_text_printf(out, ", of which there are %.0f: one loop over them is traced once (",
                       c->scope.times);
        res_fix_put(RES_FIX_SCAN, e, out);
        bn_text_puts(out, ")");
    }
    bn_text_puts(out, ".");
}
