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

/*
 * Work of the host and work of the device are slowed down unequally, and for minutes: the processes
 * of one run share that, and another run finds another ratio. Calibration (`bench calibrate`)
 * measures by how much on this machine, and records made after it say so. Where they do not, these
 * standard deviations are assumed, those of 6 to 8 tables each of small models on 2 shared cores
 * with XLA for CPU (docs/measuring.md): 1.1, 0.7, 2.0 and 0 % on an idle machine, 4 % under load.
 */
#define STATED_IDLE 0.01
#define STATED_BUSY 0.04

static bool is_busy(const res_pool *base, const res_pool *other)
{
    res_interference interference = {0};
    res_interference_add(&interference, base);
    res_interference_add(&interference, other);
    return res_interference_busy(&interference);
}

/* The drift of this machine and its runtime, from RECORD: what was calibrated, on whatever device;
 * else what is assumed. On an idle machine nothing is assumed of a simulated device: it draws its
 * own noise for each process, so that the processes show all of it. The host's part of its steps
 * shares the machine with other programs like that of any device, so on a busy one it has what the
 * others have. */
static res_run_drift drift_of(const res_record *record, bool busy)
{
    const double deviation =
        res_provenance_number(record, busy ? RES_PROV_CALIBRATION_BUSY : RES_PROV_CALIBRATION_IDLE);
    const int64_t runs = res_provenance_integer(
        record, busy ? RES_PROV_CALIBRATION_BUSY_RUNS : RES_PROV_CALIBRATION_IDLE_RUNS, 0);
    if (deviation > 0 && isfinite(deviation) && runs > 1)
        return (res_run_drift){deviation, (double)runs - 1};
    if (record->simulated && !busy)
        return (res_run_drift){0, 0};
    return (res_run_drift){busy ? STATED_BUSY : STATED_IDLE, (double)INFINITY};
}

/* The times of one run do not show how far runs differ, and nothing cancels it where too few
 * processes belong together: so there is no interval where either side is of one. What a simulated
 * device does is drawn for each. */
static void refuse_apart(const res_pool *base, res_pool_ratio *ratio)
{
    ratio->apart = ratio->matching == RES_UNMATCHED && ratio->own.freedom > 0 && !ratio->of_runs &&
                   !base->latest->simulated;
    if (ratio->apart)
        ratio->own.freedom = 0;
}

/* Three runs or more show themselves how far runs differ. */
static res_run_drift drift_between(const res_pool *base, const res_pool *other,
                                   res_pool_ratio *ratio)
{
    if (!(ratio->own.freedom > 0) || ratio->of_runs)
        return (res_run_drift){0, 0};
    ratio->busy = is_busy(base, other);
    return drift_of(other->latest, ratio->busy);
}

/* Sets what follows from RATIO's log. */
static void settle(res_pool_ratio *ratio)
{
    ratio->ratio = res_moderated_ratio(&ratio->log);
    ratio->p = res_moderated_p(&ratio->log);
}

/* Whether process I of OTHER and its partner WITH in BASE count in their pools. */
static bool both_count(const res_pool *base, const res_process *with, const res_pool *other,
                       size_t i)
{
    return res_pool_counts(other, i) && res_pool_counts(base, (size_t)(with - base->list));
}

void res_pool_ratio_make(const res_pool *base, const res_pool *other, res_pool_ratio *ratio)
{
    *ratio = (res_pool_ratio){.p = 1};
    double *room = bn_zalloc(most_rounds(base), sizeof *room);
    res_sample s = res_sample_begin(other->count);
    bool *paired = bn_zalloc(other->count, sizeof *paired);
    size_t both = 0;
    for (size_t i = 0; i < other->count; i++) {
        const res_process *with = partner(base, &other->list[i]);
        paired[i] = with != NULL;
        if (!with)
            continue;
        res_sample_add(&s, log_ratio_of(with, &other->list[i], room), &other->list[i]);
        both += both_count(base, with, other, i);
    }
    free(room);
    if (pairs_count(s.count, base, other)) {
        ratio->matching = RES_MATCHED;
        ratio->own = res_sample_estimate(&s);
        ratio->processes = s.processes;
        ratio->partial =
            both != base->counted || both != other->counted || both != ratio->processes;
        ratio->of_runs = s.of_runs;
        ratio->pair_count = s.count;
        ratio->pairs = s.values;
        s.values = NULL;
    } else {
        ratio->matching = RES_UNMATCHED;
        ratio->own = unmatched(base, other, log_wall, NULL);
        ratio->processes = base->counted < other->counted ? base->counted : other->counted;
        ratio->of_runs = base->runs.means && other->runs.means;
    }
    res_sample_end(&s);
    refuse_apart(base, ratio);
    ratio->looks = res_pool_looks(other, paired);
    free(paired);
    ratio->log = res_moderated_alone(&ratio->own, drift_between(base, other, ratio));
    settle(ratio);
}

/* Whether RATIO's variance is of one sample, and has a log. */
static bool can_borrow(const res_pool_ratio *ratio)
{
    return ratio->matching == RES_MATCHED && ratio->own.freedom > 0 && ratio->own.error > 0;
}

/* Those of LIST whose values are runs (OF_RUNS), or those whose values are processes. */
static void moderate_alike(res_pool_ratio *const *list, size_t count, bool of_runs)
{
    res_estimate *own = bn_zalloc(count, sizeof *own);
    res_moderated *rows = bn_zalloc(count, sizeof *rows);
    size_t alike = 0, next = 0;
    for (size_t i = 0; i < count; i++)
        if (can_borrow(list[i]) && list[i]->of_runs == of_runs)
            own[alike++] = list[i]->own;
    res_moderate(own, alike, rows);
    for (size_t i = 0; i < count; i++)
        if (can_borrow(list[i]) && list[i]->of_runs == of_runs) {
            rows[next].drift = list[i]->log.drift;
            list[i]->log = rows[next++];
            settle(list[i]);
        }
    free(rows);
    free(own);
}

void res_ratios_moderate(res_pool_ratio *const *list, size_t count)
{
    moderate_alike(list, count, false);
    moderate_alike(list, count, true);
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
