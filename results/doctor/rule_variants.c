/*
 * rule_variants.c - each shape of a batch has programs of its own, and measured steps compile none
 * only because the batches repeat.
 *
 * Of the batches until they repeat, the share whose shape no other one has is the probability that
 * a further batch has yet another shape (Good 1953, Turing's estimate). Programs that have met all
 * shapes there are have none such.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

/* Batches with a shape of their own that make a finding. Fewer may be a rare shape. */
#define LEAST_ONCE 3
/* Numbers of buckets that the advice names. */
#define MOST_NAMED 3

/* Of RECORD's batches, the number NAME; 0: unknown. */
static double batches(const res_record *record, const char *name)
{
    const json_t *all = res_provenance(record, RES_PROV_BATCHES);
    const double value = json_number_value(json_object_get(all, name));
    return value > 0 ? value : 0;
}

/* The time to make the programs of another shape: the warm-up's programs behind those of its first
 * step, shared by the steps that made some. */
static double of_shape(const res_process *p)
{
    const json_t *made = p->record ? res_provenance(p->record, RES_PROV_WARMUP_COMPILES) : NULL;
    double all = 0, further = 0, steps = 0;
    for (size_t i = 0; i < json_array_size(made); i++) {
        const double here = json_number_value(json_array_get(made, i));
        all += here;
        further += i > 0 ? here : 0;
        steps += i > 0 && here > 0;
    }
    return steps > 0 ? p->measures.compile_ns * further / all / steps : (double)NAN;
}

static double cost(const res_process *p)
{
    return p->record ? batches(p->record, "once") / batches(p->record, "count") * of_shape(p)
                     : (double)NAN;
}

/* Further processes may load what the first one has compiled. */
static bool has_compiled(const res_process *p)
{
    return p->record && p->record->counters[BN_COUNTER_COMPILES] > 0 && isfinite(of_shape(p));
}

/* Steps that still compile are those of another rule, and buckets bound the shapes. */
static double shapes(const res_speedup_row *row)
{
    const res_record *r = row->record;
    return r->experiment.buckets > 0 || res_step_programs(row) > 0 ||
                   batches(r, "once") < LEAST_ONCE
               ? 0
               : batches(r, "shapes");
}

static bool is_cause(const res_record *record, const char *word)
{
    (void)record;
    return strcmp(word, "shape") == 0;
}

static void set_batches(const res_speedup_row *row, res_doctor_finding *finding)
{
    finding->batches = res_provenance(row->record, RES_PROV_BATCHES);
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out,
                   "compiling for batches of new shapes (%.0f shapes in %.0f batches; measured "
                   "steps compile nothing only because these repeat)",
                   c->count, json_number_value(json_object_get(c->batches, "count")));
}

/* "--buckets 4: 4 shapes, 25 % of positions are padding" for the largest numbers that halve the
 * shapes at least. */
static void put_buckets(const res_doctor_finding *c, bn_text *out)
{
    const json_t *list = json_object_get(c->batches, "padding"), *one;
    size_t named = 0;
    for (size_t i = json_array_size(list); i-- > 0 && named < MOST_NAMED;) {
        one = json_array_get(list, i);
        const double of = json_number_value(json_object_get(one, "shapes"));
        if (!(of > 0) || 2 * of > c->count)
            continue;
        bn_text_printf(
            out,
            "%s--buckets %lld makes %.0f shape%s, and %.0f %% of the positions "
            "are padding",
            named++ ? "; " : " ", (long long)json_integer_value(json_object_get(one, "buckets")),
            of, of > 1 ? "s" : "", 100 * json_number_value(json_object_get(one, "padded_share")));
    }
    bn_text_puts(out, named ? "." : "");
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    (void)e;
    bn_text_puts(out, "Pad batches to a few lengths, compiled once:");
    put_buckets(c, out);
    bn_text_puts(out, " bench study buckets finds the best number. (JAX: jnp.pad before the jitted "
                      "step; PyTorch: the collate function of the loader.)");
}

const res_doctor_rule res_rule_variants = {
    .name = "variants",
    .cost = cost,
    .count = shapes,
    .least_share = RES_DOCTOR_COMPILES,
    .of_further = true,
    .knows = has_compiled,
    .is_cause = is_cause,
    .of_programs = true,
    .further = set_batches,
    .subject = put_subject,
    .advice = put_advice,
};
