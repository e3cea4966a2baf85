/*
 * ratio.c - two pools side by side: which processes belong together, and what they say.
 *
 * Processes of one group ran their experiments in interleaved rounds, or next to each other: what
 * disturbs one disturbs both, so their ratio is steadier than either time. Such pairs are the
 * sample, and Student's t is of as many. Processes that share nothing are two samples: Welch.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_process(const res_record *a, const res_record *b)
{
    return res_group_process(a) > 0 && res_group_process(a) == res_group_process(b) &&
           res_group_id(a)[0] && strcmp(res_group_id(a), res_group_id(b)) == 0;
}

/* The process of BASE that belongs to PROCESS, or NULL. */
static const res_process *partner(const res_pool *base, const res_process *process)
{
    for (size_t i = 0; i < base->count; i++)
        if (same_process(base->list[i].record, process->record))
            return &base->list[i];
    return NULL;
}

/* res_middle_mean over the first ROUNDS rounds of log(base / other); ROOM is for as many. */
static double by_rounds(const double *base_ns, const double *other_ns, size_t rounds, double *room)
{
    size_t count = 0;
    for (size_t i = 0; i < rounds; i++) {
        room[count] = log(base_ns[i] / other_ns[i]);
        count += isfinite(room[count]) ? 1 : 0;
    }
    return res_middle_mean(room, count);
}

static size_t common_rounds(const res_record *a, const res_record *b)
{
    return a->round_count < b->round_count ? a->round_count : b->round_count;
}

double res_turns_log_ratio(const res_record *a, const res_record *b)
{
    const size_t rounds = same_process(a, b) ? common_rounds(a, b) : 0;
    double *room = bn_zalloc(a->round_count + b->round_count + rounds, sizeof *room);
    double *a_ns = room + rounds, *b_ns = a_ns + a->round_count;
    double ratio = (double)NAN;
    if (rounds > 0) {
        res_round_means(a, a_ns);
        res_round_means(b, b_ns);
        ratio = by_rounds(b_ns, a_ns, rounds, room);
    }
    free(room);
    return ratio;
}

static double log_ratio_of(const res_process *base, const res_process *other, double *room)
{
    return base->round_ns && other->round_ns
               ? by_rounds(base->round_ns, other->round_ns,
                           common_rounds(base->record, other->record), room)
               : log(base->measures.wall_ns / other->measures.wall_ns);
}

static size_t most_rounds(const res_pool *pool)
{
    size_t most = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->list[i].record->round_count > most)
            most = pool->list[i].record->round_count;
    return most;
}

/* Whether PAIRS of them are the sample: a few among many that share nothing are not. */
static bool pairs_count(size_t pairs, const res_pool *base, const res_pool *other)
{
    const size_t fewest = base->count < other->count ? base->count : other->count;
    return pairs >= RES_LEAST_PROCESSES || (pairs > 0 && pairs == fewest);
}

res_estimate res_pool_estimate(const res_pool *pool, res_process_value *value, const void *context)
{
    res_sample s = res_sample_begin(pool->count);
    for (size_t i = 0; i < pool->count; i++)
        res_sample_add(&s, value(&pool->list[i], context), &pool->list[i]);
    const res_estimate out = res_sample_estimate(&s);
    res_sample_end(&s);
    return out;
}

static double log_wall(const res_process *process, const void *context)
{
    (void)context;
    return log(process->measures.wall_ns);
}

static res_estimate unmatched(const res_pool *base, const res_pool *other, res_process_value *value,
                              const void *context)
{
    static const double weights[] = {1, -1};
    const res_estimate both[] = {res_pool_estimate(base, value, context),
                                 res_pool_estimate(other, value, context)};
    return res_estimate_sum(both, weights, 2);
}

/* ---- what differs between runs -------------------------------------------------------------- */

/* Half of a normal distribution's 95 % interval, in standard deviations. */
#define NORMAL 1.959964

static res_interference interference_of(const res_pool *base, const res_pool *other)
{
    res_interference interference = {0};
    res_interference_add(&interference, base);
    res_interference_add(&interference, other);
    return interference;
}

static double apart_share(const res_interference *w)
{
    return w->apart_of > 0 ? w->apart / w->apart_of : 0;
}

res_estimate res_with_drift(res_estimate estimate, double shared, double common)
{
    const res_estimate unit = {0, 1, estimate.freedom, estimate.values};
    const double student = res_estimate_half(&unit, 0.05);
    if (estimate.freedom > 0)
        estimate.error = sqrt(estimate.error * estimate.error + shared * shared +
                              pow(common * NORMAL / student, 2));
    return estimate;
}

/*
 * Work of the host and work of the device are slowed down unequally, and for minutes: the processes
 * of one run share that, and another run finds another ratio. The further a ratio lies from 1, the
 * more it moves: its log by a standard deviation of DRIFT times 1 - exp(-|log|), which is the share
 * that differs, and by BUSY_DRIFT times that share on a busy machine. Cores apart make a step
 * longer and its share smaller, by about the same time in both modes, and the way back to cores
 * together is as long: so APART_DRIFT times the share is added where they were apart after all
 * rounds, and as much of it as rounds where after some.
 *
 * The processes of a quiet run have a part of their own spread in common, too. Short steps have
 * several lengths, by how threads are woken, and now one and now another of them is frequent, for
 * minutes. As far as both ways differ, that is SPREAD_SHARED times the standard deviation between
 * processes, and AWAKE_SHARED times where idle cores do not sleep: all of it where the share is far
 * above LITTLE_SHARE, none of it where the share is 0.
 *
 * The interval of a single run holds both besides the spread of its processes. What they share is a
 * multiple of that spread, and no better known than it: Student's t is of the processes. DRIFT is
 * known, and its half-width and theirs add up as squares (Zou and Donner, "Construction of
 * confidence limits about effect measures", Statistics in Medicine 2008). Nothing is added where
 * three runs or more show it themselves, nor to a ratio of 1. All six were measured on 2 shared
 * cores with XLA for CPU: docs/measuring.md.
 */
#define DRIFT         0.04
#define BUSY_DRIFT    0.35
#define APART_DRIFT   0.15
#define SPREAD_SHARED 0.5
#define AWAKE_SHARED  0.3
#define LITTLE_SHARE  0.05

/* Sets what drifts RATIO, whose OWN estimate is made, could have. APART: in that share of the
 * rounds the cores were apart. AWAKE: no core slept. */
static void set_drift(res_pool_ratio *ratio, double apart, bool awake)
{
    const double spread = ratio->own.error * sqrt((double)ratio->own.values);
    const double part = awake ? AWAKE_SHARED : SPREAD_SHARED;
    ratio->common_most = ratio->busy ? BUSY_DRIFT + APART_DRIFT * apart : DRIFT;
    ratio->shared_most = ratio->busy ? 0 : part * spread;
}

/* RATIO's drifts where the log of the ratio is LOG. */
static void drift_at(const res_pool_ratio *ratio, double log, double *shared, double *common)
{
    const double share = -expm1(-fabs(log));
    *common = ratio->common_most * share;
    *shared = ratio->shared_most * -expm1(-share / LITTLE_SHARE);
}

/* The difference that RES_POWER of tables find at LEVEL of which OWN is the estimate without
 * drifts, and whose drifts are those of RATIO at LOG. */
static double told_at(const res_pool_ratio *ratio, const res_estimate *own, double log,
                      double level)
{
    double shared, common;
    drift_at(ratio, log, &shared, &common);
    const res_estimate drifting = res_with_drift(*own, shared, common);
    return res_estimate_mde(&drifting, 1, level);
}

double res_ratio_mde(const res_pool_ratio *ratio, double times, double least, double level)
{
    res_estimate own = ratio->own;
    own.error = fmax(own.error, least) / sqrt(times);
    own.freedom = times * (own.freedom + 1) - 1;
    /* No drift is larger than that of a ratio of any size. */
    double low = 0, high = told_at(ratio, &own, (double)INFINITY, level);
    if (!(ratio->own.freedom > 0) || !isfinite(high))
        return (double)NAN;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (told_at(ratio, &own, middle, level) > middle)
            low = middle;
        else
            high = middle;
    }
    return expm1(high);
}

/* Whether process I of OTHER and its partner WITH in BASE count in their pools. */
static bool both_count(const res_pool *base, const res_process *with, const res_pool *other,
                       size_t i)
{
    return res_pool_counts(other, i) && res_pool_counts(base, (size_t)(with - base->list));
}

/* The times of one run do not show how far runs differ, and nothing cancels it where too few
 * processes belong together: so there is no interval where either side is of one. What a simulated
 * device does is drawn for each. */
static void refuse_apart(const res_pool *base, res_pool_ratio *ratio)
{
    ratio->apart = ratio->matching == RES_UNMATCHED && ratio->log.freedom > 0 && !ratio->of_runs &&
                   !base->latest->simulated;
    if (ratio->apart)
        ratio->log.freedom = 0;
}

static void allow_drift(const res_pool *base, const res_pool *other, res_pool_ratio *ratio)
{
    ratio->own = ratio->log;
    if (!(ratio->log.freedom > 0) || ratio->of_runs)
        return;
    const res_interference interference = interference_of(base, other);
    ratio->busy = res_interference_busy(&interference);
    /* A simulated device draws its drifts for each process: they show all of it. */
    if (!base->latest->simulated || ratio->busy)
        set_drift(ratio, apart_share(&interference),
                  res_provenance(base->latest, RES_PROV_IDLE_CORES) != NULL);
    drift_at(ratio, ratio->own.mean, &ratio->shared, &ratio->common);
    ratio->log = res_with_drift(ratio->log, ratio->shared, ratio->common);
}

void res_pool_ratio_make(const res_pool *base, const res_pool *other, res_pool_ratio *ratio)
{
    *ratio = (res_pool_ratio){.p = 1};
    double *room = bn_zalloc(most_rounds(base), sizeof *room);
    res_sample s = res_sample_begin(other->count);
    size_t both = 0;
    for (size_t i = 0; i < other->count; i++) {
        const res_process *with = partner(base, &other->list[i]);
        if (!with)
            continue;
        res_sample_add(&s, log_ratio_of(with, &other->list[i], room), &other->list[i]);
        both += both_count(base, with, other, i);
    }
    free(room);
    if (pairs_count(s.count, base, other)) {
        ratio->matching = RES_MATCHED;
        ratio->log = res_sample_estimate(&s);
        ratio->processes = s.processes;
        ratio->partial =
            both != base->counted || both != other->counted || both != ratio->processes;
        ratio->of_runs = s.of_runs;
        ratio->pair_count = s.count;
        ratio->pairs = s.values;
        s.values = NULL;
    } else {
        ratio->matching = RES_UNMATCHED;
        ratio->log = unmatched(base, other, log_wall, NULL);
        ratio->processes = base->counted < other->counted ? base->counted : other->counted;
        ratio->of_runs = base->runs.means && other->runs.means;
    }
    res_sample_end(&s);
    refuse_apart(base, ratio);
    allow_drift(base, other, ratio);
    ratio->ratio = res_estimate_ratio(&ratio->log);
    ratio->p = fmax(res_estimate_p(&ratio->own), res_estimate_p(&ratio->log));
}

void res_pool_ratio_free(res_pool_ratio *ratio)
{
    free(ratio->pairs);
    *ratio = (res_pool_ratio){0};
}

res_estimate res_pool_difference(const res_pool *base, const res_pool *other,
                                 res_process_value *value, const void *context)
{
    res_sample s = res_sample_begin(other->count);
    for (size_t i = 0; i < other->count; i++) {
        const res_process *with = partner(base, &other->list[i]);
        if (with)
            res_sample_add(&s, value(with, context) - value(&other->list[i], context),
                           &other->list[i]);
    }
    const res_estimate out = pairs_count(s.count, base, other)
                                 ? res_sample_estimate(&s)
                                 : unmatched(base, other, value, context);
    res_sample_end(&s);
    return out;
}
