/*
 * suite_plan.c - the runs of a suite, in order.
 */
#include "harness/campaign/suites_priv.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- filters --------------------------------------------------------------------- */

static bool any_fits(const char *title, const char *const *patterns)
{
    for (; patterns && *patterns; patterns++) {
        bn_text whole = {0};
        bn_text_printf(&whole, "*%s*", *patterns);
        const bool fits = fnmatch(whole.data, title, 0) == 0;
        bn_text_free(&whole);
        if (fits)
            return true;
    }
    return false;
}

bool suite_wanted(const char *title, const suite_options *options)
{
    return (!options->filter.count || any_fits(title, options->filter.list)) &&
           !any_fits(title, options->exclude.list);
}

/* ---- order ----------------------------------------------------------------------- */

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014:
 * the same numbers on every machine. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void shuffle(const suite_item **list, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        const size_t k = (size_t)(draw(state) % i);
        const suite_item *moved = list[i - 1];
        list[i - 1] = list[k];
        list[k] = moved;
    }
}

/* Moves items that share processes to the first of them. */
static void bring_together(const suite_item **list, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        for (size_t i = end; i < count; i++) {
            const suite_item *moved = list[i];
            if (!job_same_group(&list[first]->e, &moved->e))
                continue;
            memmove(&list[end + 1], &list[end], (i - end) * sizeof(suite_item *));
            list[end++] = moved;
        }
    }
}

/* The arguments of fill that stay the same. */
typedef struct filling {
    const suite_options *options;
    const suite_shard *shard;
    suite_plan *plan;
} filling;

/* Adds repetition R of those of the COUNT items LIST, or of their controls, that are wanted. */
static void add_runs(const filling *f, const suite_item *const *list, size_t count, int r,
                     bool controls)
{
    for (size_t i = 0; i < count; i++) {
        const suite_item *item = controls ? list[i]->control : list[i];
        if (item && r <= list[i]->repetitions && suite_wanted(list[i]->title, f->options) &&
            suite_shard_of(&list[i]->resolved, f->shard->of) == f->shard->index) {
            suite_run *run = &f->plan->runs[f->plan->count++];
            *run = (suite_run){.item = item, .repetition = r};
            res_identity(&item->resolved, item->sha256, r, run->identity);
        }
    }
}

/* The end of the group that begins at FIRST. */
static size_t group_end(const suite_item *const *list, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && job_same_group(&list[first]->e, &list[end]->e))
        end++;
    return end;
}

static void fill(const suite_spec *suite, const suite_options *options, const suite_shard *shard,
                 const suite_item **list, suite_plan *plan)
{
    const filling f = {options, shard, plan};
    uint64_t state = suite->order_seed;
    int rounds = 0;
    for (size_t i = 0; i < suite->count; i++) {
        list[i] = &suite->items[i];
        if (list[i]->repetitions > rounds)
            rounds = list[i]->repetitions;
    }
    for (int r = 1; r <= rounds; r++) {
        shuffle(list, suite->count, &state);
        bring_together(list, suite->count);
        for (size_t first = 0, end; first < suite->count; first = end) {
            end = group_end(list, suite->count, first);
            /* A group and its controls are neighbours, in random order. */
            const bool controls_first = (draw(&state) >> 63) != 0;
            add_runs(&f, list + first, end - first, r, controls_first);
            add_runs(&f, list + first, end - first, r, !controls_first);
        }
    }
}

/* ---- the plan ------------------------------------------------------------------------- */

bool suite_to_run(const suite_options *options, const suite_run *run)
{
    return run->state == SUITE_OPEN || (run->state == SUITE_FAILED && options->retry_failed);
}

/* Marks the last run of each item and of each control. */
static void mark_last(const suite_spec *suite, const suite_options *options, suite_plan *plan)
{
    bool *seen = bn_zalloc(2 * suite->count + 1, sizeof *seen);
    for (size_t i = plan->count; i-- > 0;) {
        suite_run *run = &plan->runs[i];
        const suite_item *own = run->item, *base = own->control_of ? own->control_of : own;
        bool *one = &seen[2 * (base - suite->items) + (base != own)];
        run->last = suite_to_run(options, run) && !*one;
        *one = *one || run->last;
    }
    free(seen);
}

bn_code suite_plan_make(const suite_spec *suite, const suite_options *options,
                        const suite_shard *shard, suite_plan *plan, bn_status *st)
{
    size_t most = 0;
    *plan = (suite_plan){0};
    for (size_t i = 0; i < suite->count; i++)
        most += (size_t)suite->items[i].repetitions * (suite->items[i].control ? 2 : 1);
    const suite_item **list = bn_zalloc(suite->count + 1, sizeof *list);
    plan->runs = bn_zalloc(most + 1, sizeof *plan->runs);
    plan->stored.records = bn_zalloc(most + 1, sizeof(res_record *));
    fill(suite, options, shard, list, plan);
    bn_code code = suite_plan_look_up(plan, options->store, st);
    if (code == BN_OK && suite->control_store)
        code = suite_plan_look_up(plan, suite->control_store, st);
    if (code == BN_OK)
        mark_last(suite, options, plan);
    free(list);
    return code;
}

void suite_plan_free(suite_plan *plan)
{
    free(plan->runs);
    res_collection_free(&plan->stored);
    *plan = (suite_plan){0};
}
