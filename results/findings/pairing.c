/*
 * pairing.c - two sides of a comparison out of two folders of records.
 */
#include "results/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sides ------------------------------------------------------------------------ */

static bool chosen(const res_record *r, const res_choice *choice)
{
    return res_record_good(r) &&
           (!choice->runtime || strcmp(r->experiment.runtime, choice->runtime) == 0) &&
           (!choice->label || res_same_label(res_runtime_text(r, "label"), choice->label));
}

/* The records of a side must be of one build, under one name, with the same settings. */
static bn_code check_side(const res_collection *all, const res_choice *choice, size_t *count,
                          bn_status *st)
{
    const res_record *first = NULL;
    *count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const res_record *r = all->records[i];
        if (!chosen(r, choice))
            continue;
        first = first ? first : r;
        ++*count;
        if (strcmp(res_plugin_sha256(first), res_plugin_sha256(r)) != 0 ||
            strcmp(first->experiment.runtime, r->experiment.runtime) != 0)
            return bn_fail(st, BN_INVALID,
                           "%s has records of %s (%.12s) and of %s (%.12s): --runtime or --label "
                           "choose",
                           choice->store, first->experiment.runtime, res_plugin_sha256(first),
                           r->experiment.runtime, res_plugin_sha256(r));
        if (strcmp(first->experiment.settings, r->experiment.settings) != 0)
            return bn_fail(st, BN_INVALID,
                           "%s has records with the settings '%s' and with '%s': --label chooses",
                           choice->store, first->experiment.settings, r->experiment.settings);
    }
    if (*count == 0)
        return bn_fail(st, BN_INVALID, "%s has no good records%s%s%s%s", choice->store,
                       choice->runtime ? " of runtime " : "",
                       choice->runtime ? choice->runtime : "", choice->label ? " labelled " : "",
                       choice->label ? choice->label : "");
    return BN_OK;
}

/* ---- pairs -------------------------------------------------------------------------- */

typedef struct found {
    const res_record *newest[RES_MOST_PAIRS]; /* in order of their ids */
    size_t kept, all;
} found;

typedef bool request_match(const res_experiment *a, const res_experiment *b);

/* Finds the newest RES_MOST_PAIRS records that are the SAME as EXPERIMENT, in the order in which
 * ALL holds them. */
static void find(const res_collection *all, const res_choice *choice,
                 const res_experiment *experiment, request_match *same, found *out)
{
    *out = (found){.all = 0};
    for (size_t i = 0; i < all->count; i++) {
        const res_record *r = all->records[i];
        if (!chosen(r, choice) || !same(&r->experiment, experiment))
            continue;
        if (out->kept == RES_MOST_PAIRS)
            memmove(out->newest, out->newest + 1, --out->kept * sizeof *out->newest);
        out->newest[out->kept++] = r;
        out->all++;
    }
}

static void note_counts(const res_compared *cell, const found *a, const found *b, bn_text *notes)
{
    if (a->all == b->all && a->all == cell->pairs)
        return;
    bn_text_printf(notes,
                   "%s %s %s: %zu records of A and %zu of B; the newest %zu of each are paired in "
                   "their order.\n",
                   cell->experiment.model, cell->experiment.phase, cell->experiment.mode, a->all,
                   b->all, cell->pairs);
}

static void take(res_compared *cell, const found *a, const found *b)
{
    cell->pairs = a->kept < b->kept ? a->kept : b->kept;
    memcpy(cell->a, a->newest + a->kept - cell->pairs, cell->pairs * sizeof *cell->a);
    memcpy(cell->b, b->newest + b->kept - cell->pairs, cell->pairs * sizeof *cell->b);
}

/* If all records of one side came before the other's, time lies between them as well. */
static void note_times(const res_versus *versus, bn_text *notes)
{
    bool before = true, after = true;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        const size_t last = cell->pairs - 1;
        before = before && strcmp(cell->a[last]->id, cell->b[0]->id) < 0;
        after = after && strcmp(cell->b[last]->id, cell->a[0]->id) < 0;
    }
    if (before || after)
        bn_text_printf(notes,
                       "All records of %s are older than those of %s: the differences include "
                       "whatever else changed on the machine in between.\n",
                       before ? "A" : "B", before ? "B" : "A");
}

/* Whether bench compare measured R by looks: its options, which the record keeps, then fix neither
 * the number of pairs nor a precision. Verdicts have ended such pairs, and the records do not
 * forget that. */
static bool by_looks(const res_record *r)
{
    const json_t *options = json_object_get(r->provenance, "options");
    const json_t *pairs = json_object_get(options, "pairs");
    return json_is_integer(pairs) && json_integer_value(pairs) == 0 &&
           !(json_number_value(json_object_get(options, "precision")) > 0);
}

static bool known(const res_versus *versus, const res_experiment *experiment)
{
    for (size_t i = 0; i < versus->count; i++)
        if (res_same_request(&versus->cells[i].experiment, experiment))
            return true;
    return false;
}

static void add_cell(const res_collection *a, const res_collection *b, const res_choice choice[2],
                     const res_experiment *experiment, res_versus *versus, size_t *alone)
{
    found of_a, of_b;
    find(a, &choice[0], experiment, res_same_request, &of_a);
    find(b, &choice[1], experiment, res_same_request, &of_b);
    /* A program that was changed keeps its name. It is paired, so that the tables can say that it
     * changed. */
    if (of_b.all == 0)
        find(b, &choice[1], experiment, res_same_request_by_name, &of_b);
    if (of_b.all == 0) {
        ++*alone;
        return;
    }
    res_compared *cell = &versus->cells[versus->count++];
    *cell = (res_compared){.experiment = *experiment};
    take(cell, &of_a, &of_b);
    for (size_t i = 0; i < cell->pairs; i++)
        if (by_looks(cell->a[i]) || by_looks(cell->b[i]))
            versus->options.looks = RES_LOOKS_SHORT;
    note_counts(cell, &of_a, &of_b, &versus->notes);
}

bn_code res_versus_pair(const res_collection *a, const res_collection *b,
                        const res_choice choice[2], res_versus *versus, bn_status *st)
{
    size_t count_a = 0, count_b = 0, alone = 0;
    bn_code code = check_side(a, &choice[0], &count_a, st);
    if (code == BN_OK)
        code = check_side(b, &choice[1], &count_b, st);
    versus->count = 0;
    versus->cells = code == BN_OK ? calloc(count_a, sizeof *versus->cells) : NULL;
    if (code == BN_OK && !versus->cells)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu records", count_a);
    /* Adds each experiment once. An experiment that B lacks is met with each of its records, and
     * counted so. */
    for (size_t i = 0; code == BN_OK && i < a->count; i++) {
        const res_record *r = a->records[i];
        if (chosen(r, &choice[0]) && !known(versus, &r->experiment))
            add_cell(a, b, choice, &r->experiment, versus, &alone);
    }
    if (code == BN_OK && versus->count == 0)
        code = bn_fail(st, BN_INVALID, "%s and %s share no experiment", choice[0].store,
                       choice[1].store);
    if (code != BN_OK)
        return code;
    if (alone)
        bn_text_printf(&versus->notes,
                       "%zu record%s of A ha%s no record of B to be compared with.\n", alone,
                       alone == 1 ? "" : "s", alone == 1 ? "s" : "ve");
    note_times(versus, &versus->notes);
    return BN_OK;
}
