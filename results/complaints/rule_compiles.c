/*
 * rule_compiles.c - programs are still compiled in the later half of the recording.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>
#include <stdlib.h>

/* So many shapes of one program are no accident, such as a last batch that is not full; so many of
 * which no single dimension tells. */
#define LEAST_SHAPES  3
#define LEAST_SEVERAL 8
/* Padding that leaves more than this share of the variants is done already. */
#define PADDED        0.5

/* Adds the variants of the steps' program to the finding MADE, if it has several. */
static bool tell_shapes(rec_checking *c, rec_finding *made)
{
    rec_shapes *shapes = calloc(1, sizeof *shapes);
    const bool found = shapes && rec_shapes_find(c->steps, shapes);
    if (found)
        rec_shapes_put(c->steps, shapes, &made->where);
    c->out->shapes = shapes;
    return found;
}

/* Whether fewer shapes would do. */
static bool has_many_shapes(const rec_shapes *shapes)
{
    const rec_variants *v = &shapes->variants;
    if (v->varying == REC_VARYING_SEVERAL || v->varying == REC_VARYING_TYPE)
        return v->count >= LEAST_SEVERAL;
    return v->varying == REC_VARYING_DIMENSION && v->count >= LEAST_SHAPES &&
           shapes->way_count > 0 && (double)shapes->ways[0].count <= PADDED * (double)v->count;
}

/* Shapes that a program compiles where they come first, between steps, and that only repeat in the
 * later half: their time is the steps', too. */
static bool check_early(rec_checking *c)
{
    const rec_steps *s = c->steps;
    const rec_process *p = s->process;
    rec_shapes shapes = {.program = REC_NONE};
    if (s->marks < 2)
        return true;
    const uint64_t from = p->executions[s->order[s->begins[0]]].begin_ns;
    const uint64_t to = p->executions[s->order[s->begins[s->marks - 1]]].begin_ns;
    const bool found = rec_shapes_find(s, &shapes);
    const rec_variants *v = &shapes.variants;
    const double steps = (double)(s->marks - 1);
    uint32_t compiles = 0;
    const double sum = found && has_many_shapes(&shapes) && rec_variants_late(s, v) >= LEAST_SHAPES
                           ? rec_variants_cost(p, v, from, to, &compiles)
                           : 0;
    const res_interval each = {sum / steps, (double)NAN, (double)NAN};
    const double mean_ns = (double)(to - from) / steps;
    rec_variants_free(&shapes.variants);
    if (compiles < 2 || !rec_is_above(each, RES_DOCTOR_COMPILES, mean_ns))
        return found;
    rec_finding *made = rec_add(c, REC_RULE_COMPILES, each, mean_ns);
    made->count = compiles / steps;
    made->early = made->at_most = true;
    return tell_shapes(c, made);
}

static bool check(rec_checking *c)
{
    bn_text where = {0};
    rec_late late;
    if (!rec_late_find(c->steps, &late, &where)) {
        bn_text_free(&where);
        return false;
    }
    const double mean_ns = late.steps > 0 ? late.wall_ns / late.steps : 0;
    if (late.compiles < 2 || !rec_is_above(late.ns, RES_DOCTOR_COMPILES, mean_ns)) {
        bn_text_free(&where);
        return check_early(c);
    }
    rec_finding *made = rec_add(c, REC_RULE_COMPILES, late.ns, mean_ns);
    made->count = late.compiles / late.steps;
    made->program = late.example;
    made->where = where;
    return tell_shapes(c, made);
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "compiling or loading programs, %.3g in 100 steps%s,", 100 * c->count,
                   c->early ? "" : " to the end");
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    if (c->early)
        bn_text_puts(out, "Compiling stops only because the shapes repeat; in a longer run it is a "
                          "smaller share. ");
    bn_text_puts(out, "Keep shapes, types, branches and baked-in values as they are: pad to a few "
                      "lengths, and make values that change arguments. bench diff RECORDING shows "
                      "what differs.");
    if (checkup->shapes)
        rec_padding_put(checkup->shapes, out);
}

const rec_doctor_rule rec_rule_compiles = {
    .name = "compiles",
    .check = check,
    .subject = put_subject,
    .advice = put_advice,
};
