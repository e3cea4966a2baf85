/*
 * published.c - published speedups, next to those of a store's rows.
 *
 * The published numbers are those of pytorch/xla's issue 4475 ("TPU dynamo speed up on Training
 * analysis", January 2023) and its follow-ups. They set PyTorch/XLA's captured step against its own
 * lazy one. So a row here is set against the lazy step of its own front end, not against bench's.
 */
#include "results/findings/published.h"
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was published ---------------------------------------------------------------------- */

const char res_published_source[] =
    "github.com/pytorch/xla/issues/4475, January 2023: TPU v4, one device";

/* Batches and sizes are TorchBench's own for training, which the publication does not repeat. */
const res_published res_published_models[RES_PUBLISHED_MODELS] = {
    {"resnet50", "resnet50", 32, 224, 0, {0.758, 0.937, 1.344}},
    {"resnet18", "resnet18", 16, 224, 0, {0.66, 1.003, 1.322}},
    {"BERT_pytorch", "bert_pytorch", 16, 0, 128, {1.441, 1.869, 3.356}},
    {"resnext50_32x4d", "resnext50_32x4d", 8, 224, 0, {0.87, 1.139, 1.417}},
    {"alexnet", "alexnet", 128, 224, 0, {0.632, 0.802, 1.264}},
    {"mobilenet_v2", "mobilenet_v2", 96, 224, 0, {0.549, 0.672, 1.408}},
    {"mnasnet1_0", "mnasnet1_0", 32, 224, 0, {0.698, 0.967, 1.232}},
    {"vgg16", "vgg16", 64, 224, 0, {0.712, 0.742, 0.821}},
    {"timm_vision_transformer", "vit_small_patch16_224", 32, 224, 0, {1.275, 1.69, 1.740}},
    {"squeezenet1_1", "squeezenet1_1", 32, 224, 0, {0.72, 0.958, 1.563}},
};
const double res_published_means[RES_PUBLISHED_COLUMNS] = {0.8315, 1.0779, 1.516};
/* The publication's later columns came from fewer graphs a step; how many is our reading. */
const int res_published_graphs[RES_PUBLISHED_COLUMNS] = {5, 3, 1};

/* Makes *E, an experiment of PUBLISHED's model, what was published: its sizes and dtype, and
 * nothing of what only bench has. Unknown members of E stay so. */
static void set_published(const res_published *published, res_experiment *e)
{
    /* It is not published what of a step these are, and they were as the publication's tools make
     * them. */
    static const res_axis_id plain[] = {RES_AXIS_LENGTHS,    RES_AXIS_BUCKETS, RES_AXIS_IN_FLIGHT,
                                        RES_AXIS_TRACE_COST, RES_AXIS_DEPTH,   RES_AXIS_SCAN,
                                        RES_AXIS_REMAT,      RES_AXIS_OFFLOAD, RES_AXIS_LAYOUTS};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const res_axis *axis = &res_axes[plain[i]];
        if (res_axis_number(axis, e) != 0 || res_axis_text(axis, e)[0])
            res_axis_set_value(axis, axis->usual, strtoll(axis->usual, NULL, 10), e);
    }
    /* Sizes that a record does not know are no difference. */
    e->batch = e->batch > 0 ? published->batch : 0;
    e->image = e->image > 0 ? published->image : 0;
    e->seq = e->seq > 0 ? published->seq : 0;
    if (e->dtype[0])
        snprintf(e->dtype, sizeof e->dtype, "%s", RES_PUBLISHED_DTYPE);
}

res_axis_set res_published_difference(const res_published_row *match, res_experiment *published,
                                      const char **device)
{
    const res_record *record = match->row->record;
    const char *kind = json_string_value(res_provenance(record, RES_PROV_RUNTIME_DEVICE_KIND));
    *published = record->experiment;
    set_published(match->published, published);
    *device = kind && strcmp(kind, RES_PUBLISHED_DEVICE) != 0 ? kind : NULL;
    return res_setup_difference(&record->experiment, published);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The publication of E's step, or NULL. */
static const res_published *published_of(const res_experiment *e)
{
    if (strcmp(e->phase, "train") != 0 || strcmp(e->variant, "full") != 0)
        return NULL;
    for (size_t i = 0; i < RES_PUBLISHED_MODELS; i++)
        if (strcmp(res_published_models[i].model, e->model) == 0)
            return &res_published_models[i];
    return NULL;
}

/* Whether E's step is traced once, or at least compiled as one that is. It is unknown how a step
 * was run that was recorded elsewhere. */
static bool is_captured(const res_experiment *e)
{
    static const char *const others[] = {"lazy", "eager", "recorded"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(e->mode, others[i]) == 0)
            return false;
    return true;
}

/* Whether E's executions are awaited as the published ones were. One execution is awaited anyway,
 * at the end of its step; a framework awaits as it does. */
static bool is_alike(const res_experiment *e)
{
    return !res_is_ours(e) || e->graphs <= 1 || res_is_awaited(e);
}

static bool comparable(const res_speedup_row *a, const res_speedup_row *b)
{
    char differing[RES_DIFFERING] = "";
    return a->pool.count > 0 && b->pool.count > 0 &&
           strcmp(res_plugin_sha256(a->record), res_plugin_sha256(b->record)) == 0 &&
           res_same_conditions(a->record, b->record, differing, sizeof differing);
}

/* The lazy row of the front end of row AT, in the same cell, and of the same dispatch if there is
 * one; NULL where there is none. */
static const res_speedup_row *own_lazy(const res_speedup *speedup, size_t at)
{
    const res_experiment *e = &speedup->rows[at].record->experiment;
    const res_speedup_row *found = NULL;
    size_t i = at;
    while (i > 0 && !speedup->rows[i].first_of_cell)
        i--;
    do {
        const res_speedup_row *row = &speedup->rows[i];
        const bool same = res_is_awaited(&row->record->experiment) == res_is_awaited(e);
        if (strcmp(row->record->experiment.mode, "lazy") == 0 &&
            !res_is_looped(&row->record->experiment) &&
            strcmp(row->record->experiment.front_end, e->front_end) == 0 && (same || !found) &&
            comparable(row, &speedup->rows[at]))
            found = row;
    } while (++i < speedup->count && !speedup->rows[i].first_of_cell);
    return found;
}

static void add_rows(const res_speedup *speedup, res_published_rows *matches)
{
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        const res_published *published = published_of(&row->record->experiment);
        const res_speedup_row *lazy = published && is_captured(&row->record->experiment) &&
                                              !res_is_looped(&row->record->experiment)
                                          ? own_lazy(speedup, i)
                                          : NULL;
        if (!lazy)
            continue;
        if (!is_alike(&row->record->experiment)) {
            matches->queued++;
            continue;
        }
        res_published_row *match = &matches->list[matches->count++];
        *match = (res_published_row){.row = row, .published = published};
        res_pool_ratio_make(&lazy->pool, &row->pool, &match->ratio);
    }
}

static void moderate(res_published_rows *matches)
{
    res_pool_ratio **list = bn_zalloc(matches->count, sizeof(res_pool_ratio *));
    for (size_t i = 0; i < matches->count; i++)
        list[i] = &matches->list[i].ratio;
    res_ratios_moderate(list, matches->count);
    free(list);
}

/* ---- means ----------------------------------------------------------------------------------- */

static bool same_mean(const res_published_row *a, const res_published_row *b)
{
    const res_experiment *x = &a->row->record->experiment, *y = &b->row->record->experiment;
    return res_same_block(a->row->record, b->row->record) && res_is_one_way(x, y);
}

/* Over the rows like MEAN's example. RATIOS has room for all rows. */
static void fill_mean(const res_published_rows *matches, const res_pool_ratio **ratios,
                      res_published_mean *mean)
{
    res_experiment published;
    const char *device;
    for (size_t i = 0; i < matches->count; i++) {
        const res_published_row *match = &matches->list[i];
        if (!same_mean(match, mean->example) || !isfinite(match->ratio.own.mean))
            continue;
        ratios[mean->rows++] = &match->ratio;
        mean->differing += res_published_difference(match, &published, &device) || device;
        for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
            mean->published[c] += log(match->published->speedup[c]);
    }
    for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
        mean->published[c] =
            mean->rows > 0 ? exp(mean->published[c] / (double)mean->rows) : (double)NAN;
    mean->mean = res_ratio_mean_of(ratios, mean->rows);
}

static void add_means(res_published_rows *matches)
{
    const res_pool_ratio **ratios = bn_zalloc(matches->count, sizeof(const res_pool_ratio *));
    for (size_t i = 0; i < matches->count; i++) {
        size_t before = 0;
        while (before < i && !same_mean(&matches->list[before], &matches->list[i]))
            before++;
        if (before < i)
            continue;
        res_published_mean *mean = &matches->means[matches->mean_count++];
        mean->example = &matches->list[i];
        fill_mean(matches, ratios, mean);
    }
    free(ratios);
}

void res_published_rows_make(const res_speedup *speedup, res_published_rows *matches)
{
    *matches = (res_published_rows){.list = bn_zalloc(speedup->count, sizeof *matches->list),
                                    .means = bn_zalloc(speedup->count, sizeof *matches->means)};
    add_rows(speedup, matches);
    moderate(matches);
    add_means(matches);
}

void res_published_rows_free(res_published_rows *matches)
{
    for (size_t i = 0; i < matches->count; i++)
        res_pool_ratio_free(&matches->list[i].ratio);
    free(matches->list);
    free(matches->means);
    *matches = (res_published_rows){0};
}
