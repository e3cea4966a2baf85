/*
 * differences_words.c - how the steps of two recordings differ, in sentences and as JSON.
 */
#include "results/complaints/differences.h"
#include "results/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS    4    /* that the answer names */
#define MOST_PROGRAMS 3    /* of each sort */
#define WORTH         0.05 /* parts of less than so much of the largest change are not named */
#define OTHER_TIMES   0.05 /* executions a step that are no noise */
#define MOST_NAME     80

/* ---- pieces ------------------------------------------------------------------------------------
 */

static void put_signed(bn_text *out, double ns)
{
    bn_text_puts(out, ns < 0 ? "-" : "");
    rec_time_put(out, fabs(ns));
}

/* "1.20 ms [1.00 ms, 1.40 ms] more", of the absolute of MORE. */
static void put_more(bn_text *out, res_interval more, const char *longer, const char *shorter)
{
    const bool less = more.estimate < 0;
    const double low = less ? -more.high : more.low, high = less ? -more.low : more.high;
    rec_time_put(out, fabs(more.estimate));
    if (isfinite(low) && isfinite(high)) {
        bn_text_puts(out, " [");
        put_signed(out, low);
        bn_text_puts(out, ", ");
        put_signed(out, high);
        bn_text_puts(out, "]");
    }
    bn_text_printf(out, " %s", less ? shorter : longer);
}

static const char *name_of(const rec_differences *d, const rec_program_change *change)
{
    const int side = change->b == REC_NONE ? 0 : 1;
    const rec_steps *s = d->steps[side];
    const rec_program *p = &s->process->programs[s->programs[side ? change->b : change->a].program];
    return p->name[0] ? p->name : p->hash[0] ? p->hash : "a program";
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static void put_wall(const rec_differences *d, bn_text *out)
{
    const rec_change *wall = &d->wall;
    const bool known = isfinite(wall->more_ns.low);
    if (wall->claimed) {
        bn_text_printf(
            out, "B's step takes %.3g %% %s: ", 100 * fabs(wall->more_ns.estimate) / wall->a_ns,
            wall->more_ns.estimate > 0 ? "longer" : "less long");
        rec_time_put(out, wall->b_ns);
        bn_text_puts(out, " instead of ");
        rec_time_put(out, wall->a_ns);
        bn_text_puts(out, ", ");
        put_more(out, wall->more_ns, "more", "less");
        bn_text_puts(out, ".");
        return;
    }
    bn_text_printf(out, "%s: ",
                   known ? "No difference between the steps is shown"
                         : "One recording has fewer than 9 steps, so no difference "
                           "is claimed");
    rec_time_put(out, wall->a_ns);
    bn_text_puts(out, " in A, ");
    rec_time_put(out, wall->b_ns);
    bn_text_puts(out, " in B, ");
    put_more(out, wall->more_ns, "more", "less");
    bn_text_puts(out, ".");
}

/* The claimed part whose change is the largest but for those NAMED; REC_PART_COUNT: none. */
static int next_part(const rec_differences *d, const bool *named, double least_ns)
{
    int best = REC_PART_COUNT;
    for (int i = 0; i < REC_PART_COUNT; i++) {
        const double size = fabs(d->part[i].more_ns.estimate);
        if (d->part[i].claimed && !named[i] && size >= least_ns &&
            (best == REC_PART_COUNT || size > fabs(d->part[best].more_ns.estimate)))
            best = i;
    }
    return best;
}

/* What the difference is made of. */
static void put_parts(const rec_differences *d, bn_text *out)
{
    bool named[REC_PART_COUNT] = {false};
    double least_ns = 0;
    for (int i = 0; i < MOST_PARTS; i++) {
        const int part = next_part(d, named, least_ns);
        if (part == REC_PART_COUNT)
            break;
        if (i == 0)
            least_ns = WORTH * fabs(d->part[part].more_ns.estimate);
        bn_text_puts(out, i ? ", " : d->wall.claimed ? " Of that: " : " Its parts differ: ");
        rec_time_put(out, fabs(d->part[part].more_ns.estimate));
        bn_text_printf(out, " %s in %s", d->part[part].more_ns.estimate > 0 ? "more" : "less",
                       rec_part_name((rec_part)part));
        named[part] = true;
    }
    bool any = false;
    for (int i = 0; i < REC_PART_COUNT; i++)
        any = any || named[i];
    bn_text_puts(out, any ? "." : "");
    if (!any && d->wall.claimed)
        bn_text_puts(out, " No part of it differs beyond doubt by itself.");
}

static void put_busy(const rec_differences *d, bn_text *out)
{
    if (d->busy.claimed) {
        bn_text_puts(out, " The device is busy for ");
        put_more(out, d->busy.more_ns, "more", "less");
        bn_text_puts(out, " a step.");
    }
}

/* ---- programs ----------------------------------------------------------------------------------
 */

/* Its time in the step: on the device, where that is known of both. */
static const rec_change *time_of(const rec_program_change *p)
{
    return isfinite(p->device.a_ns) ? &p->device : &p->call;
}

static int by_change(const void *a, const void *b)
{
    const rec_program_change *const *x = a, *const *y = b;
    const double of_x = fabs(time_of(*x)->more_ns.estimate);
    const double of_y = fabs(time_of(*y)->more_ns.estimate);
    return (of_x < of_y) - (of_x > of_y);
}

static void put_times(const rec_differences *d, const rec_program_change *p, bn_text *out)
{
    const double a = d->steps[0]->programs[p->a].times, b = d->steps[1]->programs[p->b].times;
    if (fabs(a - b) > OTHER_TIMES * fmax(a, b))
        bn_text_printf(out, ", executed %.3g instead of %.3g times", b, a);
}

/* A sentence of P; false: there is nothing to say. */
static bool put_program(const rec_differences *d, const rec_program_change *p, bn_text *out)
{
    const rec_change *time = time_of(p);
    const char *name = name_of(d, p), *where = time == &p->device ? "on the device" : "in calls";
    const int length = (int)bn_utf8_fit(name, MOST_NAME);
    if (p->a == REC_NONE || p->b == REC_NONE) {
        bn_text_printf(out, "%.*s is in %s step only: ", length, name,
                       p->a == REC_NONE ? "B's" : "A's");
        rec_time_put(out, p->a == REC_NONE ? time->b_ns : time->a_ns);
        bn_text_printf(out, " a step %s.\n", where);
        return true;
    }
    if (!time->claimed)
        return false;
    bn_text_printf(out, "%.*s takes ", length, name);
    put_more(out, time->more_ns, "more", "less");
    bn_text_printf(out, " a step %s", where);
    put_times(d, p, out);
    bn_text_puts(out, ".\n");
    return true;
}

static void put_programs(const rec_differences *d, bn_text *out)
{
    const rec_program_change **list = bn_zalloc(d->program_count + 1, sizeof(void *));
    size_t put = 0, left = 0;
    for (size_t i = 0; i < d->program_count; i++)
        list[i] = &d->programs[i];
    qsort(list, d->program_count, sizeof *list, by_change);
    for (size_t i = 0; i < d->program_count; i++) {
        const rec_program_change *p = list[i];
        if (put < 2 * MOST_PROGRAMS)
            put += put_program(d, p, out);
        else
            left += p->a == REC_NONE || p->b == REC_NONE || time_of(p)->claimed;
    }
    if (left)
        bn_text_printf(out, "%zu more programs of the steps differ.\n", left);
    free(list);
}

/* ---- findings ----------------------------------------------------------------------------------
 */

static void put_finding(const rec_differences *d, const rec_finding_change *f, bn_text *out)
{
    const rec_finding *a = rec_finding_of(d, f, 0), *b = rec_finding_of(d, f, 1);
    bn_text cost = {0};
    if (a && b) {
        if (!f->cost.claimed)
            return;
        bn_text_printf(out, "bench doctor's finding %s costs ", rec_rule_name(f->rule));
        put_more(out, f->cost.more_ns, "more", "less");
        bn_text_puts(out, ".\n");
        return;
    }
    rec_finding_cost(a ? a : b, &cost);
    bn_text_printf(out, "bench doctor's finding %s is %s: %s in %s.\n", rec_rule_name(f->rule),
                   a ? "gone" : "new", cost.data ? cost.data : "", a ? "A" : "B");
    bn_text_free(&cost);
}

void rec_differences_put(const rec_differences *d, bn_text *out)
{
    put_wall(d, out);
    put_parts(d, out);
    put_busy(d, out);
    bn_text_puts(out, "\n");
    put_programs(d, out);
    for (size_t i = 0; i < d->finding_count; i++)
        put_finding(d, &d->findings[i], out);
    bn_text_puts(out, "This is about these two runs. One process each does not show how far runs "
                      "of one program differ, so it says nothing about two builds: bench import "
                      "and bench compare --store judge these, by several runs of each.\n");
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static json_t *change_json(const rec_change *c)
{
    if (!isfinite(c->a_ns) && !isfinite(c->b_ns))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "a_ns", res_json_real(c->a_ns), "b_ns",
                     res_json_real(c->b_ns), "more_ns", res_json_real(c->more_ns.estimate),
                     "low_ns", res_json_real(c->more_ns.low), "high_ns",
                     res_json_real(c->more_ns.high), "claimed", c->claimed);
}

static json_t *row_json(const rec_steps *s, uint32_t row)
{
    if (row == REC_NONE)
        return json_null();
    const rec_step_program *p = &s->programs[row];
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:o}", "hash",
                     s->process->programs[p->program].hash, "times", res_json_real(p->times),
                     "arguments", (json_int_t)p->arguments, "results", (json_int_t)p->results,
                     "variants", (json_int_t)p->variants, "kernels_ns",
                     res_json_real(p->kernels_ns));
}

static json_t *programs_json(const rec_differences *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->program_count; i++) {
        const rec_program_change *p = &d->programs[i];
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", res_json_text(name_of(d, p)), "a",
                            row_json(d->steps[0], p->a), "b", row_json(d->steps[1], p->b), "device",
                            change_json(&p->device), "call", change_json(&p->call)));
    }
    return list;
}

static json_t *findings_json(const rec_differences *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->finding_count; i++) {
        const rec_finding_change *f = &d->findings[i];
        const rec_finding *a = rec_finding_of(d, f, 0), *b = rec_finding_of(d, f, 1);
        const double nan = (double)NAN;
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "rule",
                                              rec_rule_name(f->rule), "change",
                                              !a                ? "new"
                                              : !b              ? "gone"
                                              : f->cost.claimed ? "changed"
                                                                : "same",
                                              "a_ns", res_json_real(a ? a->cost_ns.estimate : nan),
                                              "b_ns", res_json_real(b ? b->cost_ns.estimate : nan),
                                              "cost", change_json(&f->cost)));
    }
    return list;
}

static json_t *side_json(const rec_differences *d, int side)
{
    const rec_steps *s = d->steps[side];
    return json_pack("{s:I, s:s, s:I, s:I, s:b, s:s, s:s}", "process", (json_int_t)s->process->pid,
                     "framework", s->process->framework, "steps", (json_int_t)s->count,
                     "executions_per_step", (json_int_t)s->executions_per_step, "steady", !s->kept,
                     "steps_by", rec_found_name(s->how), "verdict",
                     rec_verdict_name(d->checkup[side].answer.verdict));
}

json_t *rec_differences_json(const rec_differences *d)
{
    bn_text words = {0};
    json_t *parts = json_object();
    for (int i = 0; i < REC_PART_COUNT; i++)
        json_object_set_new(parts, rec_part_name((rec_part)i), change_json(&d->part[i]));
    rec_differences_put(d, &words);
    json_t *o = json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "a", side_json(d, 0),
                          "b", side_json(d, 1), "differ", d->differ, "wall", change_json(&d->wall),
                          "parts", parts, "device_busy", change_json(&d->busy), "programs",
                          programs_json(d), "findings", findings_json(d), "words",
                          res_json_text(words.data ? words.data : ""));
    bn_text_free(&words);
    return o;
}
