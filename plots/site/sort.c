/*
 * sort.c - the records of an index sorted for the pages: by time into nights, by the file of their
 * plugin into builds, by model; and the title of each experiment.
 *
 * A night begins with a record and includes all that follow within some hours, whatever they are
 * of: here it is what ran together, while a night of a series (nights/history.c) is of one build.
 */
#include "plots/site/site_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- records ----------------------------------------------------------------------- */

static int time_order(const void *a, const void *b)
{
    const site_record *l = a, *r = b;
    if (l->time_s < r->time_s || l->time_s > r->time_s)
        return l->time_s < r->time_s ? -1 : 1;
    return strcmp(l->summary->file, r->summary->file);
}

static void sort_records(site *s)
{
    const res_index *index = s->index;
    s->records = bn_zalloc(index->count + 1, sizeof *s->records);
    for (size_t i = 0; i < index->count; i++) {
        const res_summary *summary = &index->records[i];
        const double time_s = res_id_time(summary->id);
        if (isnan(time_s))
            s->timeless++;
        else if (res_misdated(summary, s->options->now_s))
            res_misdates_add(&s->misdates, time_s);
        else
            s->records[s->count++] = (site_record){summary, time_s, SITE_NONE};
    }
    if (s->count > 1)
        qsort(s->records, s->count, sizeof *s->records, time_order);
}

/* ---- nights ------------------------------------------------------------------------ */

/* Whether RECORD is of a later night than that which began at FIRST_S. Two nights never begin in
 * one second, since its time is a night's name. */
static bool is_later(const site *s, double first_s, double time_s)
{
    return time_s - first_s > s->options->night_hours * 3600 && floor(time_s) > floor(first_s);
}

static bool name_night(site_night *night)
{
    const time_t seconds = (time_t)night->first_s;
    struct tm utc;
    return gmtime_r(&seconds, &utc) &&
           strftime(night->key, sizeof night->key, "%Y%m%dT%H%M%S", &utc) > 0;
}

static bn_code make_nights(site *s, bn_status *st)
{
    s->nights = bn_zalloc(s->count + 1, sizeof *s->nights);
    for (size_t i = 0; i < s->count; i++) {
        const site_record *r = &s->records[i];
        site_night *night = s->night_count ? &s->nights[s->night_count - 1] : NULL;
        if (!night || is_later(s, night->first_s, r->time_s)) {
            night = &s->nights[s->night_count++];
            *night = (site_night){.first = i, .first_s = r->time_s};
            if (!name_night(night))
                return bn_fail(st, BN_FORMAT, "%s: no date of a night", r->summary->id);
        }
        night->end = i + 1;
        night->last_s = r->time_s;
        night->good += r->summary->status == BN_OK;
        night->failed += r->summary->status != BN_OK;
    }
    return BN_OK;
}

/* ---- builds ------------------------------------------------------------------------ */

static const char *runtime_of(const site *s, const res_summary *summary)
{
    return bn_base_name(s->index->experiments[summary->experiment]->runtime);
}

/* A failure may not know its build. */
static bool is_of_build(const res_summary *summary)
{
    return summary->origin->sha256[0] || summary->status == BN_OK;
}

/* By runtime, digest, label, and whether the device is simulated: that is what a build is. */
static int build_order(const void *a, const void *b)
{
    const site_build *l = a, *r = b;
    int order = strcmp(l->runtime, r->runtime);
    if (order == 0 && l->origin != r->origin) {
        order = strcmp(l->origin->sha256, r->origin->sha256);
        if (order == 0)
            order = strcmp(l->origin->label, r->origin->label);
    }
    return order ? order : (int)l->simulated - (int)r->simulated;
}

static site_key build_key(const site_build *build)
{
    bn_text text = {0};
    bn_text_printf(&text, "%s\n%s\n%s\n%d", build->runtime, build->origin->sha256,
                   build->origin->label, build->simulated);
    const site_key key = site_key_of(text.data);
    bn_text_free(&text);
    return key;
}

/* Adds the builds of runs of records that follow each other, then keeps each once. */
static void list_builds(site *s)
{
    size_t kept = 0;
    s->builds = bn_zalloc(s->count + 1, sizeof *s->builds);
    for (size_t i = 0; i < s->count; i++) {
        const res_summary *summary = s->records[i].summary;
        const site_build build = {.origin = summary->origin,
                                  .runtime = runtime_of(s, summary),
                                  .simulated = summary->simulated,
                                  .first_s = s->records[i].time_s};
        if (is_of_build(summary) &&
            (!s->build_count || build_order(&s->builds[s->build_count - 1], &build) != 0))
            s->builds[s->build_count++] = build;
    }
    if (s->build_count > 1)
        qsort(s->builds, s->build_count, sizeof *s->builds, build_order);
    for (size_t i = 0; i < s->build_count; i++)
        if (i == 0 || build_order(&s->builds[kept - 1], &s->builds[i]) != 0)
            s->builds[kept++] = s->builds[i];
    s->build_count = kept;
    for (size_t i = 0; i < kept; i++)
        s->builds[i].key = build_key(&s->builds[i]);
}

size_t site_build_of(const site *s, const char *runtime, const res_origin *origin, bool simulated)
{
    const site_build wanted = {
        .origin = origin, .runtime = bn_base_name(runtime), .simulated = simulated};
    const site_build *found =
        s->build_count ? bsearch(&wanted, s->builds, s->build_count, sizeof *s->builds, build_order)
                       : NULL;
    return found ? (size_t)(found - s->builds) : SITE_NONE;
}

static void make_builds(site *s)
{
    list_builds(s);
    for (size_t i = 0; i < s->count; i++) {
        site_record *r = &s->records[i];
        if (!is_of_build(r->summary))
            continue;
        r->build =
            site_build_of(s, runtime_of(s, r->summary), r->summary->origin, r->summary->simulated);
        if (r->build == SITE_NONE)
            continue;
        site_build *build = &s->builds[r->build];
        /* Records are in order of time. */
        if (build->good + build->failed == 0)
            build->first_s = r->time_s;
        build->last_s = r->time_s;
        build->good += r->summary->status == BN_OK;
        build->failed += r->summary->status != BN_OK;
    }
}

/* ---- experiments and models -------------------- */

site_key site_cell_of(const res_experiment *e)
{
    bn_text text = {0};
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        if (i == RES_AXIS_RUNTIME || i == RES_AXIS_SETTINGS || i == RES_AXIS_SEED)
            continue;
        bn_text_printf(&text, "%s=", res_axes[i].field.name);
        res_axis_put(&res_axes[i], e, &text);
        bn_text_putc(&text, '\n');
    }
    const site_key key = site_key_of(text.data);
    bn_text_free(&text);
    return key;
}

static const char *title_of(site *s, const res_experiment *e)
{
    bn_text title = {0}, setup = {0};
    res_experiment_name(e, &title);
    res_setup_text(e, res_setup_all(), &setup);
    if (setup.length > 0)
        bn_text_printf(&title, ": %s", setup.data);
    const char *kept = bn_arena_strdup(s->memory, title.data);
    bn_text_free(&title);
    bn_text_free(&setup);
    return kept;
}

static int name_order(const void *a, const void *b)
{
    return strcmp(((const site_model *)a)->name, ((const site_model *)b)->name);
}

static void list_models(site *s)
{
    const res_index *index = s->index;
    size_t kept = 0;
    s->models = bn_zalloc(index->experiment_count + 1, sizeof *s->models);
    for (size_t i = 0; i < index->experiment_count; i++)
        s->models[i] = (site_model){.name = index->experiments[i]->model, .last_s = (double)NAN};
    if (index->experiment_count > 1)
        qsort(s->models, index->experiment_count, sizeof *s->models, name_order);
    for (size_t i = 0; i < index->experiment_count; i++)
        if (i == 0 || name_order(&s->models[kept - 1], &s->models[i]) != 0)
            s->models[kept++] = s->models[i];
    s->model_count = kept;
    for (size_t i = 0; i < kept; i++)
        s->models[i].key = site_key_of(s->models[i].name);
}

static void describe_experiments(site *s)
{
    const res_index *index = s->index;
    list_models(s);
    s->experiments = bn_zalloc(index->experiment_count + 1, sizeof *s->experiments);
    for (size_t i = 0; i < index->experiment_count; i++) {
        const res_experiment *e = index->experiments[i];
        const site_model wanted = {.name = e->model};
        const site_model *model =
            bsearch(&wanted, s->models, s->model_count, sizeof *s->models, name_order);
        s->experiments[i] =
            (site_experiment){title_of(s, e), (size_t)(model - s->models), site_cell_of(e)};
    }
    for (size_t i = 0; i < s->count; i++) {
        const site_record *r = &s->records[i];
        site_model *model = &s->models[s->experiments[r->summary->experiment].model];
        model->last_s = r->time_s;
        model->good += r->summary->status == BN_OK;
        model->failed += r->summary->status != BN_OK;
    }
}

bn_code site_sort(site *s, bn_status *st)
{
    sort_records(s);
    const bn_code code = make_nights(s, st);
    make_builds(s);
    describe_experiments(s);
    s->made->records = s->count;
    s->made->nights = s->night_count;
    s->made->builds = s->build_count;
    return code;
}
