/*
 * rule_donation.c - arguments whose memory an execution could have had for its results: they were
 * not used afterwards, they ended before the next step, and a result of the same type got memory of
 * its own.
 */
#include "results/complaints/complaints_priv.h"

#include <math.h>
#include <stdlib.h>

/* A missed donation is a finding from so many bytes on, and so large a share of the bytes of a
 * step's arguments: choices (docs/doctor.md). */
#define LEAST_BYTES 1048576.0
#define LEAST_SHARE 0.05

/* Steps that are checked. */
#define CHECKED_STEPS 5

typedef struct missed_donation {
    uint32_t arguments; /* that might have been donated, in a step */
    double bytes;       /* of these */
    double all_bytes;   /* of all arguments */
} missed_donation;

typedef struct step_check {
    const rec_process *process;
    uint32_t *spare; /* [type]: results of it that took no argument's memory; all 0 between uses */
    uint32_t *seen;  /* [buffer]: the last execution that was seen to take it, plus 1 */
    missed_donation missed;
    uint32_t program, argument, type; /* of the largest one */
    double largest;
} step_check;

static uint32_t type_of(const rec_process *p, uint32_t buffer)
{
    const uint32_t type = buffer < p->buffer_count ? p->buffers[buffer].type : REC_NONE;
    return type < p->type_count ? type : REC_NONE;
}

static double bytes_of(const rec_process *p, uint32_t type)
{
    return type == REC_NONE ? 0 : (double)rec_type_bytes(&p->types[type]);
}

/* Counts the results of E, which might take an argument's memory, by type; BACK: sets these counts
 * back to 0. */
static void count_results(step_check *c, const rec_execution *e, bool back)
{
    for (uint32_t i = 0; i < e->results; i++) {
        const uint32_t type = type_of(c->process, rec_result(c->process, e, 0, i));
        if (type != REC_NONE)
            c->spare[type] = back ? 0 : c->spare[type] + 1;
    }
}

/* Whether BUFFER, an argument of execution INDEX, ended between it and BEFORE without having been
 * donated, as far as that is known. */
static bool dies(const rec_process *p, uint32_t buffer, uint32_t index, uint64_t before)
{
    const rec_buffer *b = &p->buffers[buffer];
    return b->last_use == index && b->taken == REC_NOT_TAKEN &&
           (b->fate == REC_DESTROYED || b->fate == REC_DELETED) && b->end_ns && b->end_ns <= before;
}

static void note_largest(step_check *c, const rec_execution *e, uint32_t argument, uint32_t type)
{
    if (bytes_of(c->process, type) <= c->largest)
        return;
    c->largest = bytes_of(c->process, type);
    c->program = e->program;
    c->argument = argument;
    c->type = type;
}

/* Whether BUFFER, an argument of execution INDEX, has been an earlier one as well. */
static bool is_repeated(step_check *c, uint32_t index, uint32_t buffer)
{
    const bool repeated = c->seen[buffer] == index + 1;
    c->seen[buffer] = index + 1;
    return repeated;
}

/* Adds what execution INDEX misses, of a step that ends at BEFORE. */
static void check_execution(step_check *c, uint32_t index, uint64_t before)
{
    const rec_process *p = c->process;
    const rec_execution *e = &p->executions[index];
    count_results(c, e, false);
    for (uint32_t i = 0; i < e->arguments; i++) {
        const uint32_t buffer = rec_argument(p, e, 0, i), type = type_of(p, buffer);
        c->missed.all_bytes += bytes_of(p, type);
        if (type != REC_NONE && rec_donated(p, index, buffer) && c->spare[type] > 0)
            c->spare[type]--;
    }
    for (uint32_t i = 0; i < e->arguments; i++) {
        const uint32_t buffer = rec_argument(p, e, 0, i), type = type_of(p, buffer);
        if (type == REC_NONE || is_repeated(c, index, buffer) || c->spare[type] == 0 ||
            !dies(p, buffer, index, before))
            continue;
        c->spare[type]--;
        c->missed.arguments++;
        c->missed.bytes += bytes_of(p, type);
        note_largest(c, e, i, type);
    }
    count_results(c, e, true);
}

static step_check check_step(const rec_steps *s, const rec_step *step, uint32_t *spare,
                             uint32_t *seen)
{
    step_check c = {.process = s->process, .spare = spare, .seen = seen, .program = REC_NONE};
    for (uint32_t k = 0; k < step->executions; k++)
        check_execution(&c, s->order[step->first + k], step->begin_ns + step->wall_ns);
    return c;
}

/* Looks at some of the steady steps and takes the one that misses least. WHERE gets the largest of
 * the arguments, PROGRAM its program. False without memory. */
static bool find(const rec_steps *steps, missed_donation *missed, uint32_t *program, bn_text *where)
{
    uint32_t *spare = calloc(steps->process->type_count + 1, sizeof *spare);
    uint32_t *seen = calloc(steps->process->buffer_count + 1, sizeof *seen);
    step_check least = {.program = REC_NONE};
    if (!spare || !seen) {
        free(spare);
        free(seen);
        return false;
    }
    for (size_t i = 0; i < CHECKED_STEPS && steps->count > 0; i++) {
        const size_t at = steps->count * i / CHECKED_STEPS;
        /* Each step once, also where there are few: SEEN would take a second check for repetition.
         */
        if (i > 0 && at == steps->count * (i - 1) / CHECKED_STEPS)
            continue;
        const step_check c = check_step(steps, &steps->list[at], spare, seen);
        if (i == 0 || c.missed.bytes < least.missed.bytes)
            least = c;
    }
    free(spare);
    free(seen);
    *missed = least.missed;
    *program = least.program;
    if (least.program != REC_NONE) {
        bn_text_printf(where, "%sargument %u of ", missed->arguments > 1 ? "the largest is " : "",
                       least.argument);
        rec_program_put(steps->process, least.program, where);
        bn_text_puts(where, ", ");
        rec_type_put(steps->process, least.type, where);
    }
    return true;
}

static bool check(rec_checking *c)
{
    const double nan = (double)NAN;
    bn_text where = {0};
    uint32_t program = REC_NONE;
    missed_donation missed;
    const bool known = find(c->steps, &missed, &program, &where);
    if (!known || missed.bytes < LEAST_BYTES || missed.bytes < LEAST_SHARE * missed.all_bytes) {
        bn_text_free(&where);
        return known;
    }
    rec_finding *made = rec_add(c, REC_RULE_DONATION, (res_interval){nan, nan, nan}, nan);
    made->share = missed.bytes / missed.all_bytes;
    made->count = missed.arguments;
    made->bytes = missed.bytes;
    made->program = program;
    made->where = where;
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "%.4g argument%s that could have been donated", c->count,
                   rec_plural(c->count));
}

static void put_cost(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "%.3g MiB of device memory, %.0f %% of a step's arguments",
                   rec_mib(c->bytes), 100 * c->share);
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    static const char *const how[] = {
        [REC_OTHER_FRAMEWORK] = "Donate them",
        [REC_JAX] = "Donate them (donate_argnums or donate_argnames of jax.jit)",
        [REC_PYTORCH_XLA] = "Update these tensors in place (copy_, add_), as optimizers do: "
                            "PyTorch/XLA donates what is replaced",
    };
    (void)c;
    bn_text_printf(out,
                   "%s, so that results take their memory. The time that this saves is unknown.",
                   how[rec_framework_of(checkup->steps->process)]);
}

const rec_doctor_rule rec_rule_donation = {
    .name = "donation",
    .rank = REC_RANK_MEMORY,
    .check = check,
    .subject = put_subject,
    .cost = put_cost,
    .advice = put_advice,
};
