/*
 * compare_plan.c - what bench compare is going to run: the experiments of a matrix or of a suite on
 * both runtimes, the folders of their records, and a row for each comparison and each control.
 */
#include "harness/campaign/compare_plan_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the four folders of a comparison are called. */
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
    own->label = p->compare->label[side] ? p->compare->label[side] : "";
    own->store = p->folder[0][side];
    /* The runtime becomes a list of values, which are split at commas. */
    if (strchr(runtime, ','))
        return bn_fail(st, BN_INVALID, "--runtime: '%s' has a comma", runtime);
    bn_code code = append(own->runtime_option, side ? o->b_option : o->a_option,
                          side ? "b-option" : "a-option", st);
    if (code == BN_OK)
        code = append(own->xla_flag, side ? o->b_flag : o->a_flag, side ? "b-flag" : "a-flag", st);
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

/* Makes the experiments of --suite for one side; for A those that --filter and --exclude leave. */
static bn_code expand_suite(compare_plan *p, int side, size_t *count, bn_text *notes, bn_status *st)
{
    const compare_options *o = p->compare->options;
    const job_matrix *own = &p->sides[side];
    suite_spec *suite = &p->suites[side];
    suite_options options = *o->suites;
    char path[4096];
    options.runtimes = own->axis[RES_AXIS_RUNTIME];
    options.runtime_option = own->runtime_option;
    options.xla_flag = own->xla_flag;
    options.label = own->label;
    options.store = own->store;
    if (suite_find(o->suite, path, sizeof path, st) != BN_OK ||
        suite_open(path, suite, st) != BN_OK || suite_expand(suite, &options, st) != BN_OK)
        return st->code;
    p->list[side] = calloc(suite->count + 1, sizeof *p->list[side]);
    if (!p->list[side])
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu experiments", suite->count);
    *count = 0;
    for (size_t i = 0; i < suite->count; i++)
        if (side == 1 || suite_wanted(suite->items[i].title, &options))
            p->list[side][(*count)++] = suite->items[i].e;
    bn_text_puts(notes, suite->notes.data ? suite->notes.data : "");
    if (*count == 0)
        return bn_fail(st, BN_INVALID,
                       "suite %s: --filter and --exclude leave nothing of its %zu experiments",
                       suite->name, suite->count);
    return BN_OK;
}

/* Brings B's list into the order of A's. A suite may exclude by runtime, or name an experiment
 * twice that is the same on one runtime only. So an experiment that only A has is left out, and
 * NOTES says so. */
static bn_code match_sides(compare_plan *p, const size_t counts[2], bn_text *notes, bn_status *st)
{
    job_experiment *a = p->list[0], *matched = calloc(counts[0] + 1, sizeof *matched);
    size_t count = 0;
    if (!matched)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu experiments", counts[0]);
    for (size_t i = 0; i < counts[0]; i++) {
        char title[256];
        size_t k = 0;
        while (k < counts[1] && !res_same_request(&a[i].what, &p->list[1][k].what))
            k++;
        if (k == counts[1]) {
            job_experiment_title(&a[i], title, sizeof title);
            bn_text_printf(notes, "left out: %s: the suite does not run it on B\n", title);
            continue;
        }
        matched[count] = p->list[1][k];
        a[count++] = a[i];
    }
    free(p->list[1]);
    p->list[1] = matched;
    p->experiments = count;
    return count ? BN_OK : bn_fail(st, BN_INVALID, "the suite has no experiment for both runtimes");
}

/* Makes the experiments of both sides. */
static bn_code expand_sides(compare_plan *p, size_t counts[2], bn_text *notes, bn_status *st)
{
    bn_code code = BN_OK;
    for (int side = 0; side < 2 && code == BN_OK; side++) {
        p->compare->fault = 0;
        code = one_side(p, side, st);
        bn_text_clear(notes);
        if (code == BN_OK)
            code = p->compare->options->suite ? expand_suite(p, side, &counts[side], notes, st)
                                              : job_matrix_expand(&p->sides[side], &p->list[side],
                                                                  &counts[side], notes, st);
        if (code == BN_OK) {
            p->compare->fault = side ? 'B' : 'A';
            code = job_experiments_check(p->list[side], counts[side], st);
        }
    }
    return code;
}

/* What all experiments have from the command line. */
static void fill_in(compare_plan *p)
{
    for (size_t i = 0; i < p->experiments; i++)
        for (int side = 0; side < 2; side++)
            p->list[side][i].echo = p->compare->options->matrix->echo;
}

static bn_code expand(compare_plan *p, bn_status *st)
{
    bn_text notes = {0};
    size_t counts[2] = {0};
    bn_code code = expand_sides(p, counts, &notes, st);
    if (code == BN_OK) {
        p->compare->fault = 0;
        code = match_sides(p, counts, &notes, st);
    }
    if (code == BN_OK && notes.length)
        cli_err("%s", notes.data);
    bn_text_free(&notes);
    if (code == BN_OK)
        fill_in(p);
    else if (p->compare->fault)
        bn_context(st, "runtime %c", p->compare->fault);
    return code;
}

/* ---- rows --------------------------------------------------------------------------- */

bool compare_by_looks(const compare_options *o)
{
    return o->pairs == 0 && !(o->precision > 0);
}

/* The pairs of the first stage, or up to the first look, for each of COUNT cells. */
static size_t first_stage(const compare_options *o, size_t count)
{
    if (compare_by_looks(o))
        return res_next_look(RES_LOOKS_USUAL, 0);
    if (o->pairs > 0)
        return (size_t)o->pairs;
    /* As if each cell were judged by all its measures, alike. One more than flips of signs need:
     * with the fewest, all pairs must agree. */
    const double family = (double)(count * RES_MEASURE_COUNT);
    const size_t usual = res_fewest_pairs(res_compare_defaults().level, family) + 1;
    return usual < RES_MOST_PAIRS ? usual : RES_MOST_PAIRS;
}

/* Makes the rows: all experiments, then the controls, spread over them. */
static bn_code make_rows(compare_plan *p, bn_status *st)
{
    const compare_options *o = p->compare->options;
    res_versus *versus = &p->compare->versus;
    const size_t asked = (size_t)o->control;
    const size_t controls = asked < p->experiments ? asked : p->experiments;
    const size_t count = p->experiments + controls;
    versus->cells = calloc(count, sizeof *versus->cells);
    p->rows = calloc(count, sizeof *p->rows);
    if (!versus->cells || !p->rows)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu comparisons", count);
    versus->count = count;
    for (size_t i = 0; i < count; i++) {
        const size_t control = i - p->experiments;
        compare_row *r = &p->rows[i];
        versus->cells[i].control = i >= p->experiments;
        r->experiment = i < p->experiments ? i : control * p->experiments / controls;
        r->wanted = first_stage(o, count);
        job_experiment_resolve(&p->list[0][r->experiment], &versus->cells[i].experiment);
        const size_t stage = compare_by_looks(o) ? RES_MOST_PAIRS : r->wanted;
        res_order(p->order_seed + i, stage, compare_by_looks(o), r->b_first);
        /* The second stage, if there is one, has a seed of its own. */
        res_order(p->order_seed + count + i, RES_MOST_PAIRS - stage, false, r->b_first + stage);
    }
    return BN_OK;
}

/* ---- the plan ---------------------------------------------------------------------- */

bn_code compare_plan_make(compare_run *compare, compare_plan *p, bn_status *st)
{
    p->compare = compare;
    p->order_seed = bn_now_ns();
    name_folders(p);
    bn_code code = job_matrix_request(compare->options->matrix, &p->request, st);
    if (code == BN_OK)
        code = expand(p, st);
    for (int i = 0; code == BN_OK && i < 4; i++) {
        code = bn_no_links(p->folder[i / 2][i % 2], strlen(compare->store), st);
        if (code == BN_OK)
            res_store_sweep_old(p->folder[i / 2][i % 2]);
    }
    return code == BN_OK ? make_rows(p, st) : code;
}

void compare_plan_free(compare_plan *p)
{
    for (int side = 0; side < 2; side++) {
        free(p->list[side]);
        suite_close(&p->suites[side]);
    }
    free(p->rows);
    json_decref(p->request);
}
