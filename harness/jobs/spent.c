/*
 * spent.c - where the time of workers went, by phase.
 */
#include "harness/jobs/jobs.h"

#include <math.h>

#define PHASES (sizeof phases / sizeof *phases)

static const struct {
    const char *member, *word;
    size_t offset;
} phases[] = {{"start_s", "start", offsetof(job_spent, start_s)},
              {"compile_s", "compile", offsetof(job_spent, compile_s)},
              {"warmup_s", "warm-up", offsetof(job_spent, warmup_s)},
              {"rounds_s", "rounds", offsetof(job_spent, rounds_s)}};

static double *phase_of(job_spent *spent, size_t i)
{
    return (double *)((char *)spent + phases[i].offset);
}

void job_spent_add_worker(job_spent *spent, const json_t *told, double seconds)
{
    spent->processes++;
    spent->all_s += seconds;
    for (size_t i = 0; i < PHASES; i++) {
        const double s = json_number_value(json_object_get(told, phases[i].member));
        if (isfinite(s) && s > 0)
            *phase_of(spent, i) += s;
    }
}

void job_spent_add(job_spent *spent, const job_spent *other)
{
    job_spent more = *other;
    spent->processes += other->processes;
    spent->all_s += other->all_s;
    for (size_t i = 0; i < PHASES; i++)
        *phase_of(spent, i) += *phase_of(&more, i);
}

void job_spent_words(const job_spent *spent, bn_text *text)
{
    job_spent copy = *spent;
    double rest = spent->all_s;
    bn_text_printf(text, "%zu process%s in %.1f s: ", spent->processes,
                   spent->processes == 1 ? "" : "es", spent->all_s);
    for (size_t i = 0; i < PHASES; i++) {
        bn_text_printf(text, "%s %.1f s, ", phases[i].word, *phase_of(&copy, i));
        rest -= *phase_of(&copy, i);
    }
    bn_text_printf(text, "rest %.1f s", rest > 0 ? rest : 0.0);
}
