/*
 * compare_plan.c - the plan of bench compare: the experiments of a matrix or of a suite on both
 * runtimes, the folders of their records, and a row for each comparison and each control.
 */
#include "harness/campaign/compare_plan_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const folders[2][2] = {{"a", "b"}, {"control-a", "control-b"}};

/* ---- sides -------------------------------------------------------------------------- */

static bn_code append(const char **list, const char *const *more, const char *option, bn_status *st)
{
    size_t count = 0;
    while (list[count])
        count++;
    for (; more && *more; more++) {
        if (count == CLI_MAX_REPEATS)
            return bn_fail(st, BN_INVALID, "--%s: more than %d in all", option, CLI_MAX_REPEATS);
        list[count++] = *more;
    }
    return BN_OK;
}

/* Makes the matrix of one side. */
static bn_code one_side(compare_plan *p, int side, bn_status *st)
{
    const compare_options *o = p->compare->options;
    const char *runtime = p->compare->runtime[side];
    job_matrix *own = &p->sides[side];
    *own = *o->matrix;
    job_matrix_set(own, RES_AXIS_RUNTIME, runtime);
    own->request = p->request;
    own->how.label = p->compare->label[side] ? p->compare->label[side] : "";
    own->how.store = p->folder[0][side];
    /* The runtime becomes a list of values, which are split at commas. */
    if (strchr(runtime, ','))
        return bn_fail(st, BN_INVALID, "--runtime: '%s' has a comma", runtime);
    bn_code code = append(own->how.runtime_option, side ? o->b_option : o->a_option,
                          side ? "b-option" : "a-option", st);
    if (code == BN_OK)
        code =
            append(own->how.xla_flag, side ? o->b_flag : o->a_flag, side ? "b-flag" : "a-flag", st);
    return code;
}

static void name_folders(compare_plan *p)
{
    const cli_words *stores = &p->compare->options->stores;
    const char *given = stores->count ? stores->list[0] : NULL;
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "";
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    char *store = p->compare->store;
    if (given)
        snprintf(store, sizeof p->compare->store, "%s", given);
    else
        snprintf(store, sizeof p->compare->store, "bench-results/compare-%s-%d", stamp,
                 (int)getpid());
    for (int control = 0; control < 2; control++)
        for (int side = 0; side < 2; side++)
            snprintf(p->folder[control][side], sizeof p->folder[control][side], "%s/%s", store,
                     folders[control][side]);
}

/* Adds the lines of MORE that NOTES does not have: both sides have most of them. */
static void add_notes(bn_text *notes, const char *more)
{
    while (*more) {
        const size_t length = strcspn(more, "\n") + 1;
        bn_text line = {0};
        bn_text_append(&line, more, length);
        if (!notes->data || !strstr(notes->data, line.data))
            bn_text_puts(notes, line.data);
        bn_text_free(&line);
        more += length;
    }
}

/* Makes the experiments of --suite for one side, and marks those that --filter and --exclude leave
 * out. */
static bn_code expand_suite(compare_plan *p, int side, bn_text *notes, bn_status *st)
{
    const compare_options *o = p->compare->options;
    const job_matrix *own = &p->sides[side];
    suite_spec *suite = &p->suites[side];
    compare_found *f = &p->found[side];
    suite_options options = *o->suites;
    char path[4096];
    size_t left = 0;
    options.runtimes = own->axis[RES_AXIS_RUNTIME];
    memcpy(options.runtime_option, own->how.runtime_option, sizeof options.runtime_option);
    memcpy(options.xla_flag, own->how.xla_flag, sizeof options.xla_flag);
    options.label = own->how.label;
    options.store = own->how.store;
    if (suite_find(o->suite, path, sizeof path, st) != BN_OK ||
        suite_open(path, suite, st) != BN_OK || suite_expand(suite, &options, st) != BN_OK)
        return st->code;
    f->list = bn_zalloc(suite->count + 1, sizeof *f->list);
    f->left_out = bn_zalloc(suite->count + 1, sizeof *f->left_out);
    f->count = suite->count;
    for (size_t i = 0; i < suite->count; i++) {
        f->list[i] = suite->items[i].e;
        f->left_out[i] = !suite_wanted(suite->items[i].title, &options);
        left += !f->left_out[i];
    }
    add_notes(notes, suite->notes.data ? suite->notes.data : "");
    if (side == 0 && left == 0)
        return bn_fail(st, BN_INVALID,
                       "suite %s: --filter and --exclude leave nothing of its %zu experiments",
                       suite->name, suite->count);
    return BN_OK;
}

/* The experiment of the side OTHER that is the same as experiment I of OWN, as requested, or once
 * "the model's own" and the like are filled in: two experiments of a suite may be the same on one
 * runtime only, which then has it once. OTHER's count: there is none. */
static size_t find_like(const compare_found *own, size_t i, const compare_found *other)
{
    for (size_t k = 0; k < other->count; k++)
        if (res_same_request(&own->list[i].what, &other->list[k].what))
            return k;
    for (size_t k = 0; k < other->count; k++)
        if (res_same_request(&own->resolved[i], &other->resolved[k]))
            return k;
    return other->count;
}

/* Whether --filter and --exclude leave out experiment I of FOUND. */
static bool is_left_out(const compare_found *found, size_t i)
{
    return found->left_out && found->left_out[i];
}

static void add_pair(compare_plan *p, size_t i, size_t k)
{
    p->list[0][p->experiments] = p->found[0].list[i];
    p->list[1][p->experiments++] = p->found[1].list[k];
}

/* Adds an experiment that only side WHICH runs. */
static void add_missing(compare_plan *p, int which, size_t i)
{
    p->missing[p->missing_count++] = (compare_missing){&p->found[which].list[i], which ? 'A' : 'B'};
}

/* Pairs the experiments of both sides. A suite may exclude by runtime, and an option of one side
 * may not fit all frameworks: an experiment of one side only is missing in the verdict. */
static bn_code match_sides(compare_plan *p, bn_status *st)
{
    const compare_found *a = &p->found[0], *b = &p->found[1];
    const size_t most = a->count + b->count + 1;
    p->list[0] = bn_zalloc(most, sizeof *p->list[0]);
    p->list[1] = bn_zalloc(most, sizeof *p->list[1]);
    p->missing = bn_zalloc(most, sizeof *p->missing);
    for (size_t i = 0; i < a->count; i++) {
        const size_t k = find_like(a, i, b);
        if (is_left_out(a, i))
            continue;
        if (k < b->count)
            add_pair(p, i, k);
        else
            add_missing(p, 0, i);
    }
    for (size_t k = 0; k < b->count; k++) {
        const size_t i = find_like(b, k, a);
        if (is_left_out(b, k))
            continue;
        if (i == a->count)
            add_missing(p, 1, k);
        else if (!is_left_out(a, i) && !res_same_request(&a->list[i].what, &b->list[k].what))
            add_pair(p, i, k);
    }
    return p->experiments
               ? BN_OK
               : bn_fail(st, BN_INVALID, "the suite has no experiment for both runtimes");
}

/* Makes the experiments of both sides. */
static bn_code expand_sides(compare_plan *p, bn_text *notes, bn_status *st)
{
    bn_code code = BN_OK;
    for (int side = 0; side < 2 && code == BN_OK; side++) {
        compare_found *f = &p->found[side];
        code = one_side(p, side, st);
        if (code == BN_OK)
            code = p->compare->options->suite
                       ? expand_suite(p, side, notes, st)
                       : job_matrix_expand(&p->sides[side], &f->list, &f->count, notes, st);
        f->resolved = bn_zalloc(f->count + 1, sizeof *f->resolved);
        for (size_t i = 0; i < f->count; i++)
            job_experiment_resolve(&f->list[i], &f->resolved[i]);
    }
    return code;
}

/* Checks that both sides can run; COMPARE's fault is the one that cannot. */
static bn_code check_sides(compare_plan *p, bn_status *st)
{
    bn_code code = BN_OK;
    for (int side = 0; side < 2 && code == BN_OK; side++) {
        p->compare->fault = side ? 'B' : 'A';
        code = job_experiments_check(p->list[side], p->experiments, st);
    }
    if (code == BN_OK)
        p->compare->fault = 0;
    return code;
}

static bn_code expand(compare_plan *p, bn_status *st)
{
    bn_text notes = {0};
    bn_code code = expand_sides(p, &notes, st);
    if (code == BN_OK)
        code = match_sides(p, st);
    if (code == BN_OK)
        code = check_sides(p, st);
    if (code == BN_OK && notes.length)
        cli_err("%s", notes.data);
    bn_text_free(&notes);
    if (code != BN_OK && p->compare->fault)
        bn_context(st, "runtime %c", p->compare->fault);
    for (size_t i = 0; code == BN_OK && i < p->experiments; i++)
        for (int side = 0; side < 2; side++)
            p->list[side][i].echo = p->compare->options->matrix->echo;
    return code;
}

/* ---- rows --------------------------------------------------------------------------- */

res_plan compare_plan_of(const compare_options *o)
{
    const bool twelve = (size_t)o->pairs == res_plan_last(RES_PLAN_TWELVE);
    return o->pairs == 0 && !(o->precision > 0) ? RES_PLAN_USUAL
           : twelve                             ? RES_PLAN_TWELVE
                                                : RES_PLAN_ONCE;
}

json_t *compare_plan_describe(const compare_plan *p, size_t row, int side, size_t number)
{
    const res_versus *versus = &p->compare->versus;
    return json_pack("{ss ss ss sb sI sI sI sI}", "id", p->id, "plan",
                     res_plan_name(versus->cells[row].plan), "side", side ? "B" : "A", "control",
                     (int)versus->cells[row].control, "pair", (json_int_t)number, "cells",
                     (json_int_t)versus->count, "controls", (json_int_t)p->controls, "missing",
                     (json_int_t)p->missing_count);
}

/* The pairs of the first stage, or up to the first interim analysis, for each cell. */
static size_t first_stage(const compare_options *o)
{
    if (compare_plan_of(o) != RES_PLAN_ONCE)
        return res_plan_next(compare_plan_of(o), 0);
    return o->pairs > 0 ? (size_t)o->pairs : RES_EQUIVALENT_PAIRS;
}

static void fill_missing(const compare_missing *missing, res_compared *cell)
{
    char title[256];
    job_experiment_title(missing->e, title, sizeof title);
    cli_say("bench: missing: %s: %c does not run it", title, missing->side);
    job_experiment_resolve(missing->e, &cell->experiment);
    cell->failed = missing->side;
    cell->missing = true;
    cell->failure = BN_NOT_FOUND;
    snprintf(cell->message, sizeof cell->message, "this side does not run it");
}

/* Makes the rows: all experiments, then the controls, spread over them, then the missing ones. */
static void make_rows(compare_plan *p)
{
    const compare_options *o = p->compare->options;
    res_versus *versus = &p->compare->versus;
    const size_t asked = (size_t)o->control;
    const size_t controls = asked < p->experiments ? asked : p->experiments;
    const size_t planned = p->experiments + controls, count = planned + p->missing_count;
    versus->cells = bn_zalloc(count, sizeof *versus->cells);
    p->rows = bn_zalloc(count, sizeof *p->rows);
    versus->count = count;
    p->controls = controls;
    for (size_t i = planned; i < count; i++)
        fill_missing(&p->missing[i - planned], &versus->cells[i]);
    for (size_t i = 0; i < planned; i++) {
        const size_t control = i - p->experiments;
        compare_row *r = &p->rows[i];
        versus->cells[i].control = i >= p->experiments;
        r->experiment = i < p->experiments ? i : control * p->experiments / controls;
        r->wanted = first_stage(o);
        r->most = RES_MOST_PAIRS;
        versus->cells[i].plan = compare_plan_of(o);
        job_experiment_resolve(&p->list[0][r->experiment], &versus->cells[i].experiment);
        res_order(p->order_seed + i, RES_MOST_PAIRS, r->b_first);
    }
}

/* ---- the plan ---------------------------------------------------------------------- */

bn_code compare_plan_make(compare_run *compare, compare_plan *p, bn_status *st)
{
    p->compare = compare;
    p->order_seed = bn_now_ns();
    snprintf(p->id, sizeof p->id, "%" PRIx64 "-%d", p->order_seed, (int)getpid());
    name_folders(p);
    bn_code code = job_matrix_request(compare->options->matrix, &p->request, st);
    if (code == BN_OK)
        code = expand(p, st);
    for (int i = 0; code == BN_OK && i < 4; i++) {
        code = bn_no_links(p->folder[i / 2][i % 2], strlen(compare->store), st);
        if (code == BN_OK)
            res_store_sweep_old(p->folder[i / 2][i % 2]);
    }
    if (code == BN_OK)
        make_rows(p);
    return code;
}

void compare_plan_free(compare_plan *p)
{
    for (int side = 0; side < 2; side++) {
        free(p->list[side]);
        free(p->found[side].list);
        free(p->found[side].resolved);
        free(p->found[side].left_out);
        suite_close(&p->suites[side]);
    }
    free(p->missing);
    free(p->rows);
    json_decref(p->request);
}
