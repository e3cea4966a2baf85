/*
 * rule_start.c - compiling takes long at each start.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>

/* The start ends with the first steady step; where COMPILES has what is compiled since the first of
 * all steps, with that. */
static uint64_t start_end(const rec_checking *c)
{
    const rec_steps *s = c->steps;
    for (size_t i = 0; i < c->out->count; i++)
        if (c->out->list[i].early && s->marks > 0)
            return s->process->executions[s->order[s->begins[0]]].begin_ns;
    return s->list[0].begin_ns;
}

/* Programs that were compiled or loaded before the first of the steady steps. */
static bool check(rec_checking *c)
{
    const rec_process *p = c->steps->process;
    const uint64_t end = start_end(c);
    uint64_t done = 0;
    uint32_t programs = 0, loaded = 0;
    double sum = 0, loads = 0, before = 0;
    rec_walk at = {0};
    for (size_t i = 0; i < p->call_count && p->calls[i].begin_ns < end; i++) {
        if (p->calls[i].kind != REC_CALL_COMPILE || p->calls[i].failed)
            continue;
        before += rec_work_before(p, &at, &p->calls[i]);
        const double ns = rec_ns_after(&p->calls[i], &done);
        sum += ns;
        loads += p->calls[i].loaded ? ns : 0;
        loaded += p->calls[i].loaded;
        /* One that was compiled ahead of time is a program once it is loaded. */
        programs += p->calls[i].program != REC_NONE;
    }
    if (sum < RES_DOCTOR_START_NS)
        return true;
    rec_finding *made =
        rec_add(c, REC_RULE_START, (res_interval){sum, (double)NAN, (double)NAN}, (double)NAN);
    made->programs = programs;
    made->loaded = loaded;
    made->at_most = loaded < programs;
    made->before_ns = before;
    if (loaded == 0)
        return true;
    bn_text_printf(&made->where, "%u of %u programs %s loaded, not compiled, in ", loaded, programs,
                   loaded == 1 ? "was" : "were");
    rec_time_put(&made->where, loads);
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_puts(out, c->loaded == 0            ? "compiling"
                      : c->loaded < c->programs ? "compiling and loading"
                                                : "loading");
}

static void put_cost(const rec_finding *c, bn_text *out)
{
    rec_interval_put(out, c->cost_ns);
    bn_text_puts(out, " at each start");
}

/* The framework consults a cache after that work. */
static void put_work_before(const rec_finding *c, bn_text *out)
{
    if (!(c->before_ns > 0.1 * c->cost_ns.estimate))
        return;
    bn_text_puts(out, " Before these calls the framework worked for ");
    rec_time_put(out, c->before_ns);
    bn_text_puts(out, " on a CPU: it traced and lowered, or prepared data. A cache saves none of "
                      "that.");
}

static const char *scan(rec_framework_kind framework)
{
    return framework == REC_JAX           ? ", as by jax.lax.scan over layers"
           : framework == REC_PYTORCH_XLA ? ", as by torch_xla.experimental.scan_layers"
                                          : ", as by a loop over layers";
}

/* A program that loads executables keeps them already. */
static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    static const char *const caches[] = {
        [REC_OTHER_FRAMEWORK] = "",
        [REC_JAX] = " (JAX_COMPILATION_CACHE_DIR)",
        [REC_PYTORCH_XLA] = " (torch_xla.runtime.initialize_cache)",
    };
    const rec_framework_kind framework = rec_framework_of(checkup->steps->process);
    if (c->loaded == 0)
        bn_text_printf(out,
                       "Keep executables between starts in a persistent cache%s: that saves this "
                       "time minus the time to load them, which a recording of such a start shows. "
                       "Or make fewer or smaller programs%s.",
                       caches[framework], scan(framework));
    else if (c->loaded < c->programs)
        bn_text_printf(out, "Keep the executables of the others between starts as well%s.",
                       framework == REC_JAX ? " (JAX's cache skips programs that compile in less "
                                              "than jax_persistent_cache_min_compile_time_secs)"
                                            : "");
    else
        bn_text_printf(out,
                       "All executables are kept between starts already, so only fewer or "
                       "smaller programs make this shorter%s.",
                       scan(framework));
    put_work_before(c, out);
}

const rec_doctor_rule rec_rule_start = {
    .name = "start",
    .check = check,
    .rank = REC_RANK_START,
    .cost = put_cost,
    .subject = put_subject,
    .advice = put_advice,
};
