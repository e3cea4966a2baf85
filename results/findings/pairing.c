/*
 * pairing.c - two sides of a comparison out of two folders of records.
 */
#include "results/findings/findings_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sides ------------------------------------------------------------------------ */

/* The records of one folder that may be compared. */
typedef struct side {
    const res_collection *all;
    const res_choice *choice;
    res_latest build[2]; /* that is compared, of bench's own plugins and of frameworks' */
    const char *comparison; /* the id of the one that is judged; NULL: the records are of none */
} side;

static const char *comparison_of(const res_record *r)
{
    return res_provenance_text(r, RES_PROV_COMPARISON_ID);
}

static bool of_comparison(const res_record *r, const char *id)
{
    return !id || strcmp(comparison_of(r), id) == 0;
}

static bool was_asked(const res_record *r, const side *s)
{
    const res_choice *choice = s->choice;
    return of_comparison(r, s->comparison) &&
           (!choice->runtime || strcmp(r->experiment.runtime, choice->runtime) == 0) &&
           (!choice->label ||
            res_same_label(res_provenance_text(r, RES_PROV_RUNTIME_LABEL), choice->label));
}

/* Whether R is of the build that is compared. */
static bool of_build(const res_record *r, const side *s)
{
    return res_latest_has(&s->build[res_has_own_plugin(&r->experiment)], res_plugin_sha256(r));
}

static bool of_side(const res_record *r, const side *s)
{
    return was_asked(r, s) && of_build(r, s);
}

static bool chosen(const res_record *r, const side *s)
{
    return res_record_good(r) && of_side(r, s);
}

/* How to choose between the records A and B, which are of one side. */
static const char *what_chooses(const res_record *a, const res_record *b)
{
    if (strcmp(a->experiment.runtime, b->experiment.runtime) != 0)
        return "--runtime chooses";
    if (!res_same_label(res_provenance_text(a, RES_PROV_RUNTIME_LABEL),
                        res_provenance_text(b, RES_PROV_RUNTIME_LABEL)))
        return "--label chooses";
    return "no option separates them, so move one kind into a folder of its own";
}

/* The good records of a side must be of one build, under one name, with the same settings. Others
 * are counted, too, if the comparison is to be WHOLE. */
static bn_code check_side(const side *s, bool whole, size_t *count, bn_status *st)
{
    const res_choice *choice = s->choice;
    const res_record *first = NULL;
    *count = 0;
    for (size_t i = 0; i < s->all->count; i++) {
        const res_record *r = s->all->records[i];
        *count += whole && was_asked(r, s) && !res_record_good(r);
        if (!chosen(r, s))
            continue;
        first = first ? first : r;
        ++*count;
        if (strcmp(res_plugin_sha256(first), res_plugin_sha256(r)) != 0 ||
            strcmp(first->experiment.runtime, r->experiment.runtime) != 0)
            return bn_fail(st, BN_INVALID, "%s has records of %s (%.12s) and of %s (%.12s): %s",
                           choice->store, first->experiment.runtime, res_plugin_sha256(first),
                           r->experiment.runtime, res_plugin_sha256(r), what_chooses(first, r));
        if (strcmp(first->experiment.settings, r->experiment.settings) != 0)
            return bn_fail(st, BN_INVALID,
                           "%s has records with the settings '%s' and with '%s': %s", choice->store,
                           first->experiment.settings, r->experiment.settings,
                           what_chooses(first, r));
    }
    if (*count == 0)
        return bn_fail(st, BN_INVALID, "%s has no %srecords%s%s%s%s", choice->store,
                       whole ? "" : "good ", choice->runtime ? " of runtime " : "",
                       choice->runtime ? choice->runtime : "", choice->label ? " labelled " : "",
                       choice->label ? choice->label : "");
    return BN_OK;
}

static void take_latest_build(side *s)
{
    for (size_t i = 0; i < s->all->count; i++) {
        const res_record *r = s->all->records[i];
        if (was_asked(r, s))
            res_latest_build(&s->build[res_has_own_plugin(&r->experiment)], r->id,
                             res_plugin_sha256(r));
    }
}

/* ---- notes --------------------------------------------------------------------------- */

const char *res_versus_note_name(res_versus_note note)
{
    static const char *const names[] = {
        [RES_NOTE_UNPAIRED] = "unpaired",     [RES_NOTE_COUNTS] = "other-counts",
        [RES_NOTE_CONDITIONS] = "conditions", [RES_NOTE_BUILDS] = "other-builds",
        [RES_NOTE_FIXED] = "failed-before",   [RES_NOTE_COPIES] = "copies",
        [RES_NOTE_OLDER] = "older",           [RES_NOTE_PRECISION] = "precision",
        [RES_NOTE_FURTHER] = "further-pairs", [RES_NOTE_INTERRUPTED] = "interrupted",
        [RES_NOTE_BUDGET] = "budget",         [RES_NOTE_REPLACED] = "file-replaced",
        [RES_NOTE_INTERIM] = "interim",       [RES_NOTE_ADVICE] = "advice",
        [RES_NOTE_SPENT] = "spent",           [RES_NOTE_FIT] = "budget-fit",
    };
    return names[note];
}

void res_versus_add_note(res_versus *versus, res_versus_note note, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bn_text_vprintf(&versus->notes, format, arguments);
    va_end(arguments);
    bn_text_putc(&versus->notes, '\n');
    versus->noted[note] = true;
}

/* Says how many records of a side are of other builds than the one that is compared. */
static void note_builds(const side *s, char letter, res_versus *versus)
{
    size_t others = 0;
    for (size_t i = 0; i < s->all->count; i++)
        others += was_asked(s->all->records[i], s) && !of_build(s->all->records[i], s);
    if (others)
        res_versus_add_note(
            versus, RES_NOTE_BUILDS,
            "%zu record%s of %c %s of an older build than the latest, %.12s, which is "
            "compared.",
            others, others == 1 ? "" : "s", letter, others == 1 ? "is" : "are",
            s->build[0].build ? s->build[0].build : s->build[1].build);
}

/* ---- pairs -------------------------------------------------------------------------- */

typedef struct found {
    const res_record *latest[RES_MOST_PAIRS]; /* in order of their ids */
    size_t kept, all;
} found;

typedef bool request_match(const res_experiment *a, const res_experiment *b);

/* Finds the latest RES_MOST_PAIRS records that are the SAME as EXPERIMENT, in the order in which
 * the folder holds them. */
static void find(const side *s, const res_experiment *experiment, request_match *same, found *out)
{
    *out = (found){.all = 0};
    for (size_t i = 0; i < s->all->count; i++) {
        const res_record *r = s->all->records[i];
        if (!chosen(r, s) || !same(&r->experiment, experiment))
            continue;
        if (out->kept == RES_MOST_PAIRS)
            memmove(out->latest, out->latest + 1, --out->kept * sizeof *out->latest);
        out->latest[out->kept++] = r;
        out->all++;
    }
}

static void note_counts(const res_compared *cell, const found *a, const found *b, bool numbered,
                        res_versus *versus)
{
    if (a->all == b->all && a->all == cell->pairs)
        return;
    if (numbered)
        res_versus_add_note(versus, RES_NOTE_COUNTS,
                            "%s %s %s: %zu records of A and %zu of B; %zu pairs are whole.",
                            cell->experiment.model, cell->experiment.phase, cell->experiment.mode,
                            a->all, b->all, cell->pairs);
    else
        res_versus_add_note(versus, RES_NOTE_COUNTS,
                            "%s %s %s: %zu records of A and %zu of B; the latest %zu of each are "
                            "paired in order.",
                            cell->experiment.model, cell->experiment.phase, cell->experiment.mode,
                            a->all, b->all, cell->pairs);
}

static int64_t pair_of(const res_record *r)
{
    return res_provenance_integer(r, RES_PROV_COMPARISON_PAIR, 0);
}

/* Pairs the records of one comparison as it did: by their numbers, in order. */
static void pair_numbered(res_compared *cell, const found *a, const found *b)
{
    for (int64_t number = 1; number <= RES_MOST_PAIRS; number++) {
        const res_record *pair[2] = {NULL, NULL};
        for (size_t i = 0; i < a->kept; i++)
            if (pair_of(a->latest[i]) == number)
                pair[0] = a->latest[i];
        for (size_t i = 0; i < b->kept; i++)
            if (pair_of(b->latest[i]) == number)
                pair[1] = b->latest[i];
        if (pair[0] && pair[1]) {
            cell->a[cell->pairs] = pair[0];
            cell->b[cell->pairs++] = pair[1];
        }
    }
}

static void pair_latest(res_compared *cell, const found *a, const found *b)
{
    cell->pairs = a->kept < b->kept ? a->kept : b->kept;
    memcpy(cell->a, a->latest + a->kept - cell->pairs, cell->pairs * sizeof *cell->a);
    memcpy(cell->b, b->latest + b->kept - cell->pairs, cell->pairs * sizeof *cell->b);
}

/* If all records of one side came before the other's, time lies between them as well. */
static void note_times(res_versus *versus)
{
    bool before = true, after = true;
    size_t paired = 0;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        const size_t last = cell->pairs - 1;
        if (cell->pairs == 0)
            continue;
        paired++;
        before = before && strcmp(cell->a[last]->id, cell->b[0]->id) < 0;
        after = after && strcmp(cell->b[last]->id, cell->a[0]->id) < 0;
    }
    if (paired && (before || after))
        res_versus_add_note(
            versus, RES_NOTE_OLDER,
            "All records of %s are older than those of %s: differences include other "
            "changes of the machine in between.",
            before ? "A" : "B", before ? "B" : "A");
}

/* Twice RES_SHORT_STEP_NS: at 1.2 ms a step (the small mobilenet_v2) twelve pairs of the whole
 * --min-time took 74 s, and twelve of which all but the first take a quarter 41 s. */
#define SHORT_NS (2 * RES_SHORT_STEP_NS)

bool res_compared_short(const res_compared *cell)
{
    for (int k = 0; k < 2 && cell->pairs > 0; k++) {
        const res_record *first = k ? cell->b[0] : cell->a[0];
        if (!(res_step_median(first, first->wall_ns) < SHORT_NS))
            return false;
    }
    return cell->pairs > 0;
}

/* The plan by which bench compare measured R, of CELL. Verdicts have ended such pairs, and the
 * records do not forget that. Those of earlier versions have no name of a plan, but their options:
 * they fix neither the number of pairs nor a precision. */
static res_plan plan_of(const res_record *r, const res_compared *cell)
{
    const res_plan plan = res_plan_named(res_provenance_text(r, RES_PROV_COMPARISON_PLAN));
    if (plan != RES_PLAN_COUNT)
        return plan;
    if (res_provenance_integer(r, RES_PROV_OPTIONS_PAIRS, -1) != 0 ||
        res_provenance_number(r, RES_PROV_OPTIONS_PRECISION) > 0)
        return RES_PLAN_ONCE;
    return res_compared_short(cell) ? RES_PLAN_OLD_SHORT : RES_PLAN_OLD;
}

/* The plan of CELL's pairs; of sides that were planned otherwise, the one that asks for more. */
static res_plan plan_of_pairs(const res_compared *cell)
{
    res_plan plan = RES_PLAN_ONCE;
    for (size_t i = 0; i < 2 * cell->pairs; i++) {
        const res_plan own = plan_of(i % 2 ? cell->b[i / 2] : cell->a[i / 2], cell);
        if (own != RES_PLAN_ONCE && (plan == RES_PLAN_ONCE || own < plan))
            plan = own;
    }
    return plan;
}

static bool known(const res_versus *versus, const res_experiment *experiment)
{
    for (size_t i = 0; i < versus->count; i++)
        if (res_same_request(&versus->cells[i].experiment, experiment))
            return true;
    return false;
}

/* ---- what failed or is missing ------------------------------------------------------------ */

/* Whether good records came after FAILURE: those that are paired, of which SINCE is the oldest
 * (NULL: none is). One of a suite is fixed by a good record of its own repetition: the others ran
 * whatever became of it. */
static bool is_fixed(const res_record *failure, const side *s, request_match *same,
                     const res_record *since)
{
    const int repetition = res_record_repetition(failure);
    if (repetition == 0)
        return since && res_id_order(failure->id, since->id) < 0;
    for (size_t i = 0; i < s->all->count; i++) {
        const res_record *r = s->all->records[i];
        if (chosen(r, s) && same(&r->experiment, &failure->experiment) &&
            res_record_repetition(r) == repetition && res_id_order(r->id, failure->id) > 0)
            return true;
    }
    return false;
}

/* The latest failed record that is the SAME as EXPERIMENT and is not fixed, or NULL; *FIXED: how
 * many are. SINCE as in is_fixed. */
static const res_record *latest_failure(const side *s, const res_experiment *experiment,
                                        request_match *same, const res_record *since, size_t *fixed)
{
    const res_record *latest = NULL;
    *fixed = 0;
    for (size_t i = 0; i < s->all->count; i++) {
        const res_record *r = s->all->records[i];
        if (res_record_good(r) || !of_side(r, s) || !same(&r->experiment, experiment))
            continue;
        if (is_fixed(r, s, same, since))
            ++*fixed;
        else if (!latest || res_id_order(r->id, latest->id) > 0)
            latest = r;
    }
    return latest;
}

/* The side of CELL that failed or lacks it; of two the one that failed, then B. */
static void note_failures(const side sides[2], request_match *const same[2], const found of[2],
                          res_compared *cell, res_versus *versus)
{
    const res_record *failure[2];
    for (int i = 0; i < 2; i++) {
        const res_record *const *paired = i ? cell->b : cell->a;
        size_t fixed;
        failure[i] = latest_failure(&sides[i], &cell->experiment, same[i],
                                    cell->pairs ? paired[0] : NULL, &fixed);
        if (fixed)
            res_versus_add_note(
                versus, RES_NOTE_FIXED,
                "%s %s %s: %zu process%s of %c failed before, and good records came "
                "after.",
                cell->experiment.model, cell->experiment.phase, cell->experiment.mode, fixed,
                fixed == 1 ? "" : "es", i ? 'B' : 'A');
    }
    const int failed = failure[1] ? 1 : failure[0] ? 0 : -1;
    const int which = failed >= 0 ? failed : of[1].all == 0 ? 1 : of[0].all == 0 ? 0 : -1;
    if (which < 0)
        return;
    const res_record *r = failure[which];
    /* A comparison measures what both sides run: it ended between the processes of a first pair. */
    if (!r && sides[which].comparison)
        return;
    cell->failed = which ? 'B' : 'A';
    cell->missing = !r;
    cell->failure = r ? r->status : BN_NOT_FOUND;
    snprintf(cell->message, sizeof cell->message, "%s", r ? r->message : "no record");
}

/* Notes in which conditions the sides of CELL's pairs differ: what differs may be of them. */
static void note_conditions(const res_compared *cell, res_versus *versus)
{
    for (size_t i = 0; i < cell->pairs; i++)
        (void)res_same_conditions(cell->a[i], cell->b[i], versus->differing,
                                  sizeof versus->differing);
}

/* ---- cells -------------------------------------------------------------------------------- */

static void add_cell(const side sides[2], const res_experiment *experiment, res_versus *versus,
                     size_t *alone)
{
    found of[2];
    request_match *same[2] = {res_same_request, res_same_request};
    /* A program that was changed keeps its name. It is paired, so that the tables can say that it
     * changed. */
    for (int i = 0; i < 2; i++) {
        size_t fixed;
        find(&sides[i], experiment, same[i], &of[i]);
        if (of[i].all == 0 && !latest_failure(&sides[i], experiment, same[i], NULL, &fixed)) {
            same[i] = res_same_request_by_name;
            find(&sides[i], experiment, same[i], &of[i]);
        }
    }
    if (of[1].all == 0 && !versus->whole) {
        ++*alone;
        return;
    }
    res_compared *cell = &versus->cells[versus->count++];
    *cell = (res_compared){.experiment = *experiment};
    const bool numbered = sides[0].comparison != NULL;
    (numbered ? pair_numbered : pair_latest)(cell, &of[0], &of[1]);
    cell->plan = plan_of_pairs(cell);
    if (versus->whole) {
        note_failures(sides, same, of, cell, versus);
        note_conditions(cell, versus);
    }
    if (cell->pairs)
        note_counts(cell, &of[0], &of[1], numbered, versus);
}

/* Adds each experiment of side WHICH once that has no cell yet, whatever the build: one that only
 * an older build has is missing. An experiment that B lacks is met with each of its records, and
 * counted so, where it gets no cell. */
static void add_cells(const side sides[2], int which, res_versus *versus, size_t *alone)
{
    const side *s = &sides[which];
    for (size_t i = 0; i < s->all->count; i++) {
        const res_record *r = s->all->records[i];
        if (!(versus->whole ? was_asked(r, s) : chosen(r, s)) || known(versus, &r->experiment))
            continue;
        /* A program of B that was changed is paired under A's text. */
        bool renamed = false;
        for (size_t k = 0; which == 1 && k < versus->count; k++)
            renamed =
                renamed || (versus->cells[k].pairs > 0 &&
                            !res_same_request(&versus->cells[k].experiment,
                                              &versus->cells[k].b[0]->experiment) &&
                            res_same_request(&versus->cells[k].b[0]->experiment, &r->experiment));
        if (!renamed)
            add_cell(sides, &r->experiment, versus, alone);
    }
}

/* Says how many records are paired on both sides. A folder that was copied before a run that never
 * came, say, is no slower than itself: where all are, nothing was compared. */
static bn_code note_copies(const res_choice choice[2], res_versus *versus, bn_status *st)
{
    size_t copies = 0, pairs = 0;
    for (size_t c = 0; c < versus->count; c++) {
        const res_compared *cell = &versus->cells[c];
        pairs += cell->pairs;
        for (size_t i = 0; i < cell->pairs * cell->pairs; i++)
            copies += strcmp(cell->a[i / cell->pairs]->id, cell->b[i % cell->pairs]->id) == 0;
    }
    if (copies > 0 && copies == pairs)
        return bn_fail(st, BN_INVALID,
                       "%s and %s hold the same records, so there is nothing to compare: name the "
                       "folder of the other side",
                       choice[0].store, choice[1].store);
    if (copies)
        res_versus_add_note(
            versus, RES_NOTE_COPIES,
            "%zu record%s in both folders, and compared with %s: one folder is a copy of "
            "the other, or holds records of it.",
            copies, copies == 1 ? " is" : "s are", copies == 1 ? "itself" : "themselves");
    return BN_OK;
}

/* ---- stored comparisons ------------------------------------------------------------------- */

static bool has_comparison(const res_collection *all, const char *id)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(comparison_of(all->records[i]), id) == 0)
            return true;
    return false;
}

/* A number of cells, which a file chose. */
static size_t planned_of(const res_record *r, res_provenance_id member)
{
    const int64_t count = res_provenance_integer(r, member, 0);
    return count > 0 && count < INT32_MAX ? (size_t)count : 0;
}

/* Chooses the comparison that is judged: of those that measured records of both sides, the one of
 * the latest record. Further pairs of another one would be one more chance to be wrong. */
static void choose_comparison(side sides[2], res_versus *versus)
{
    const res_record *latest = NULL;
    size_t others = 0;
    for (size_t i = 0; i < sides[0].all->count; i++) {
        const res_record *r = sides[0].all->records[i];
        if (was_asked(r, &sides[0]) && comparison_of(r)[0] &&
            has_comparison(sides[1].all, comparison_of(r)) &&
            (!latest || res_id_order(r->id, latest->id) > 0))
            latest = r;
    }
    if (!latest)
        return;
    snprintf(versus->comparison, sizeof versus->comparison, "%s", comparison_of(latest));
    for (int i = 0; i < 2; i++) {
        sides[i].comparison = versus->comparison;
        for (size_t k = 0; k < sides[i].all->count; k++)
            others += !of_comparison(sides[i].all->records[k], versus->comparison);
    }
    versus->forward = strcmp(res_provenance_text(latest, RES_PROV_COMPARISON_SIDE), "A") == 0;
    versus->planned = planned_of(latest, RES_PROV_COMPARISON_CELLS);
    versus->planned_controls = planned_of(latest, RES_PROV_COMPARISON_CONTROLS);
    versus->planned_missing = planned_of(latest, RES_PROV_COMPARISON_MISSING);
    if (others)
        bn_text_printf(&versus->notes,
                       "The latest comparison in these folders is judged; %zu other record%s left "
                       "out. Each comparison is another chance to be wrong: the error of several "
                       "adds up.\n",
                       others, others == 1 ? " is" : "s are");
}

void res_versus_pair_controls(const res_collection *a, const res_collection *b, res_versus *versus)
{
    const res_choice any = {.store = "the controls"};
    side sides[2] = {{.all = a, .choice = &any, .comparison = versus->comparison},
                     {.all = b, .choice = &any, .comparison = versus->comparison}};
    if (!versus->comparison[0] || !versus->forward)
        return;
    const size_t first = versus->count;
    for (int i = 0; i < 2; i++)
        take_latest_build(&sides[i]);
    size_t capacity = versus->count;
    for (size_t i = 0; i < a->count + b->count; i++) {
        const res_record *r = i < a->count ? a->records[i] : b->records[i - a->count];
        bool known = !was_asked(r, &sides[i >= a->count]);
        found of[2];
        for (size_t k = first; k < versus->count; k++)
            known = known || res_same_request(&versus->cells[k].experiment, &r->experiment);
        if (known)
            continue;
        bn_grow(&versus->cells, versus->count + 1, &capacity, sizeof *versus->cells);
        res_compared *cell = &versus->cells[versus->count++];
        *cell = (res_compared){.experiment = r->experiment, .control = true};
        request_match *const same[2] = {res_same_request, res_same_request};
        for (int k = 0; k < 2; k++)
            find(&sides[k], &r->experiment, res_same_request, &of[k]);
        pair_numbered(cell, &of[0], &of[1]);
        cell->plan = plan_of_pairs(cell);
        note_failures(sides, same, of, cell, versus);
    }
}

bn_code res_versus_pair(const res_collection *a, const res_collection *b,
                        const res_choice choice[2], res_versus *versus, bn_status *st)
{
    side sides[2] = {{.all = a, .choice = &choice[0]}, {.all = b, .choice = &choice[1]}};
    size_t count[2] = {0, 0}, alone = 0;
    bn_code code = BN_OK;
    if (versus->whole)
        choose_comparison(sides, versus);
    for (int i = 0; i < 2 && code == BN_OK; i++) {
        /* Of good records of several builds it is unknown which are meant, so builds are checked
         * before the latest is taken. */
        code = check_side(&sides[i], versus->whole, &count[i], st);
        if (code == BN_OK && versus->whole)
            take_latest_build(&sides[i]);
    }
    versus->count = 0;
    versus->cells = bn_zalloc(count[0] + count[1], sizeof *versus->cells);
    if (code == BN_OK)
        add_cells(sides, 0, versus, &alone);
    if (code == BN_OK && versus->whole)
        add_cells(sides, 1, versus, &alone);
    if (code == BN_OK && versus->count == 0)
        code = bn_fail(st, BN_INVALID, "%s and %s share no experiment", choice[0].store,
                       choice[1].store);
    if (code != BN_OK)
        return code;
    if (alone)
        res_versus_add_note(versus, RES_NOTE_UNPAIRED,
                            "%zu record%s of A ha%s no counterpart in B.", alone,
                            alone == 1 ? "" : "s", alone == 1 ? "s" : "ve");
    if (versus->differing[0])
        res_versus_add_note(versus, RES_NOTE_CONDITIONS,
                            "A and B were measured under different conditions, which may cause "
                            "differences: %s.",
                            versus->differing);
    for (int i = 0; i < 2; i++)
        note_builds(&sides[i], i ? 'B' : 'A', versus);
    if (versus->whole)
        code = note_copies(choice, versus, st);
    note_times(versus);
    return code;
}
