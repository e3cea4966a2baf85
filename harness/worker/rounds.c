/*
 * rounds.c - the measuring loop: in each round every experiment of the process runs some steps, in
 * an order that is drawn anew, and then has its executions probed. So interference that lasts
 * longer than a round affects all alike.
 *
 * The loop reads the clock, runs a step and copies numbers into arrays that were made before; it
 * allocates nothing. A step's wall time runs from the end of the step before to its own end, so
 * there is no gap between the kept steps of a round.
 */
#include "harness/worker/measure_priv.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS   200000 /* kept, of one experiment */
#define USUAL_ROUNDS 20
#define LEAST_ROUNDS 5
/* Short steps get more rounds, as long as each keeps so many of them: the time of a step depends on
 * the host thread's core, which is drawn anew in each round. */
#define MOST_ROUNDS  100
#define ROUND_STEPS  4
/* The rounds go on, up to so many times their number, until each experiment has its time. */
#define STRETCH      2
/* The queue of a device is full when so many steps in a row wait for at least this share of their
 * time. Filling takes at most so many times the measuring time, but may take so many seconds. */
#define FILL_WAITS   2
#define FILL_SHARE   0.05
#define FILL_TIMES   4
#define FILL_LEAST_S 1.0
/* Seconds that a process waits until the host places its cores close together. It waits less at the
 * start, where they may never come together, and least if they did not in the process before. */
#define FIRST_WAIT_S 5.0
#define SHORT_WAIT_S 0.5
#define ALL_WAITS_S  15.0
#define MOST_WAIT    120.0 /* in multiples of an experiment's measuring time */

size_t worker_plan_rounds(const double *step_ns, size_t count, double seconds, int64_t least,
                          size_t *steps)
{
    const double fewest = least < LEAST_ROUNDS ? (double)least : LEAST_ROUNDS;
    double longest_ns = 1;
    for (size_t i = 0; i < count; i++)
        longest_ns = fmax(longest_ns, step_ns[i]);
    const double affordable = seconds * 1e9 / longest_ns;
    const double usual = fmax(USUAL_ROUNDS, fmin(MOST_ROUNDS, affordable / ROUND_STEPS));
    const double rounds = floor(fmax(fmin(usual, affordable), fewest));
    for (size_t i = 0; i < count; i++) {
        const double of_time = ceil(seconds * 1e9 / (rounds * fmax(step_ns[i], 1)));
        const double of_count = ceil((double)least / rounds);
        steps[i] = (size_t)fmin(fmax(fmax(of_time, of_count), 1), MOST_STEPS / (STRETCH * rounds));
        steps[i] = steps[i] ? steps[i] : 1;
    }
    return (size_t)rounds;
}

/* ---- one experiment in one round ---------------------------------------------------------- */

/* Runs steps until N of them are in flight and, where the device takes longer than the host, its
 * queue is full: each step then waits for the one N before (mode_step), and takes as long as the
 * device does. Until then it takes as long as the host does, and the device falls behind by the
 * difference, so that it takes (N - 1) * device / (device - host) steps, as many in each turn.
 * Where the host takes as long or longer, or nearly, no step waits: after the first turn has shown
 * that, the others run N. */
static bn_code fill_queue(worker_member *m, bn_status *st)
{
    const size_t flight = (size_t)m->e.what.in_flight;
    const double limit_ns = 1e9 * fmax(FILL_TIMES * m->e.how.min_time, FILL_LEAST_S);
    const uint64_t start = bn_now_ns();
    const bool first = m->record->round_count == 0;
    size_t waits = 0, i = 0; /* steps in a row that waited */
    bn_ledger ledger;
    bn_code code = BN_OK;
    if (first)
        m->most_fill_steps = flight + (size_t)((double)(flight - 1) / FILL_SHARE);
    for (; i < m->most_fill_steps && code == BN_OK; i++) {
        if (i >= flight && (waits >= FILL_WAITS || (double)(bn_now_ns() - start) > limit_ns))
            break;
        code = mode_step(m->s.mode, &m->s.call, &ledger, st);
        const double least_ns = FILL_SHARE * (double)ledger.wall_ns;
        waits = (double)ledger.part_ns[BN_PART_WAIT] > least_ns ? waits + 1 : 0;
    }
    if (first)
        m->most_fill_steps = waits >= FILL_WAITS ? 2 * i : flight;
    return code;
}

/* Runs the steps of a turn that are not measured: those that fill the queue, or one to warm the
 * caches after OTHERS have used them. A long step warms them in a small part of its time: measured,
 * the first one was 0.2 % shorter than the next, with a standard error of 0.2 % (20 processes of
 * six models, 117 to 497 ms). */
static bn_code run_unmeasured(worker_member *m, bool others, bn_status *st)
{
    if (m->e.what.in_flight > 1)
        return fill_queue(m, st);
    const bool is_cold =
        m->step_ns <= WORKER_LONG_STEP_NS && (others || m->probed || m->record->round_count == 0);
    return is_cold ? mode_step(m->s.mode, &m->s.call, NULL, st) : BN_OK;
}

static bn_code run_measured(worker_member *m, bn_status *st)
{
    res_record *r = m->record;
    const size_t end = r->step_count + m->steps;
    const uint64_t steps = worker_steps_a_call(m);
    bn_code code = BN_OK;
    bn_ledger ledger;
    int64_t counters[BN_COUNTER_COUNT];
    memcpy(counters, mode_counters(m->s.mode), sizeof counters);
    int64_t programs = worker_programs_made(&m->s);
    uint64_t before = bn_now_ns();
    while (code == BN_OK && r->step_count < end) {
        const size_t n = r->step_count;
        if (m->timeline)
            worker_timeline_before(m, BN_STEP_MEASURED, n);
        code = mode_step(m->s.mode, &m->s.call, &ledger, st);
        uint64_t now = bn_now_ns(), accounted = 0;
        uint64_t *parts = r->part_ns + n * BN_PART_COUNT;
        for (int p = 0; p < BN_PART_COUNT; p++)
            accounted += p == BN_PART_OTHER ? 0 : (parts[p] = ledger.part_ns[p] / steps);
        r->wall_ns[n] = (now - before) / steps;
        parts[BN_PART_OTHER] = r->wall_ns[n] - accounted;
        m->spent_ns += now - before;
        m->programs_made[n] = worker_programs_made(&m->s) - programs;
        programs += m->programs_made[n];
        r->step_count += code == BN_OK;
        if (m->timeline)
            worker_timeline_after(m, before, now);
        before = now;
    }
    for (int i = 0; i < BN_COUNTER_COUNT; i++)
        r->step_counters[i] += (mode_counters(m->s.mode)[i] - counters[i]) *
                               (i == BN_COUNTER_STEPS ? (int64_t)steps : 1);
    return code;
}

/* After the first round: probes update parameters more often than steps do, so a later loss would
 * depend on how many there were. A program of several steps has the loss of each. */
static bn_code read_loss(worker_member *m, bn_status *st)
{
    worker_session *s = &m->s;
    const model_variable *v = s->instance ? model_find(s->instance, "loss") : NULL;
    const size_t count = worker_steps_a_call(m);
    if (worker_session_has_values(s, NULL) != BN_OK)
        return BN_OK;
    if (!v || tg_tensor_type(v->tensor)->dtype != TG_F32)
        return BN_OK;
    float *values = bn_zalloc(count, sizeof *values);
    bn_code code = mode_read(s->mode, v->tensor, values, count * sizeof *values, st);
    if (code == BN_OK)
        m->record->loss = (double)values[count - 1] + 0.0; /* not "-0" */
    if (code == BN_OK && count > 1) {
        m->losses = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(m->losses, res_json_real((double)values[i] + 0.0));
    }
    free(values);
    return code;
}

/* M's turn in ROUND of ROUNDS, at POSITION among COUNT. */
static bn_code run_turn(worker_group *g, worker_member *m, size_t round, size_t rounds,
                        size_t position, bn_status *st)
{
    worker_moment before;
    res_round *row = &m->record->rounds[m->record->round_count];
    worker_annotate(m, "round");
    cores_place_anew(g->places, g->rng);
    worker_monitor_read(&before);
    bn_code code = run_unmeasured(m, g->count > 1 || g->turns, st);
    if (code == BN_OK)
        code = run_measured(m, st);
    if (code == BN_OK)
        code = mode_drain(m->s.mode, st);
    if (code == BN_OK)
        code = worker_surroundings_restore("executing", st);
    *row = (res_round){.steps = m->steps, .position = position};
    if (code == BN_OK && round == 0)
        code = read_loss(m, st);
    worker_annotate_end(m);
    /* Probes are spread evenly over the rounds. */
    m->probed = code == BN_OK && m->probe_count < m->probe_rounds &&
                (round + 1) * m->probe_rounds / rounds > round * m->probe_rounds / rounds;
    if (m->probed) {
        worker_annotate(m, "probes");
        code = worker_probe(m, round, g->rng, st);
        worker_annotate_end(m);
    }
    /* The interference of a round includes that of its probes. */
    worker_monitor_since(&before, row, &g->others);
    m->record->round_count += code == BN_OK;
    return code == BN_OK ? BN_OK : bn_context(st, "measuring, round %zu", round + 1);
}

/* ---- all rounds ------------------------------------------------------------------------------ */

/* Makes room for ROUNDS rounds of M's steps, stretched, and plans their probes. */
static bn_code plan_member(worker_member *m, size_t rounds, double longest_ns, bn_status *st)
{
    const size_t steps = STRETCH * rounds * m->steps;
    bn_code code = res_record_reserve_steps(m->record, steps, m->warm, st);
    free(m->programs_made);
    m->programs_made = bn_zalloc(steps + 1, sizeof *m->programs_made);
    if (code == BN_OK)
        code = res_record_reserve_rounds(m->record, STRETCH * rounds, st);
    return code == BN_OK ? worker_plan_probes(m, rounds, longest_ns, st) : code;
}

/* Plans the rounds of all members in LIST. */
static bn_code plan_members(worker_member **list, size_t count, size_t *rounds, bn_status *st)
{
    double longest_ns = 0, step_ns[JOB_MOST_MEMBERS];
    size_t steps[JOB_MOST_MEMBERS];
    bn_code code = BN_OK;
    for (size_t i = 0; i < count; i++)
        longest_ns = fmax(longest_ns, step_ns[i] = list[i]->step_ns);
    *rounds =
        worker_plan_rounds(step_ns, count, list[0]->e.how.min_time, list[0]->e.how.steps, steps);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        worker_member *m = list[i];
        m->steps = steps[i];
        code = plan_member(m, *rounds, longest_ns, st);
        if (code != BN_OK)
            break;
        for (size_t k = 0; k < m->warm; k++)
            m->record->warmup_wall_ns[k] = m->warm_ns[k] / worker_steps_a_call(m);
        m->record->step_count = m->record->round_count = 0;
    }
    return code;
}

static bool all_have_time(worker_member *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((double)list[i]->spent_ns < list[i]->e.how.min_time * 1e9)
            return false;
    return true;
}

/* Members without a failure, in LIST; returns how many. */
static size_t list_running(const worker_group *g, worker_member **list)
{
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->members[i].failure.code == BN_OK)
            list[count++] = &g->members[i];
    return count;
}

/* Gives each member of LIST its turn in ROUND of ROUNDS. One that fails releases its model. */
static void run_round(worker_group *g, worker_member **list, size_t count, size_t round,
                      size_t rounds)
{
    if (cores_nearness_waits(&g->near))
        worker_send_progress("waiting for cores that the host moved apart", 0, 0);
    cores_nearness_await(&g->near);
    gsl_ran_shuffle(g->rng, list, count, sizeof(worker_member *));
    for (size_t i = 0; i < count; i++) {
        worker_send_progress("measuring", (int64_t)(round * count + i),
                             (int64_t)((round < rounds ? rounds : round + 1) * count));
        const uint64_t start = bn_now_ns();
        if (run_turn(g, list[i], round, rounds, i, &list[i]->failure) != BN_OK)
            worker_session_drop_model(&list[i]->s);
        list[i]->turns_ns += bn_now_ns() - start;
    }
}

/* A member's counts before a round, so that the round can be measured again. */
typedef struct round_start {
    size_t steps, rounds, probes;
    uint64_t spent_ns;
    int64_t counters[BN_COUNTER_COUNT];
} round_start;

static round_start start_of(const worker_member *m)
{
    round_start start = {
        m->record->step_count, m->record->round_count, m->probe_count, m->spent_ns, {0}};
    memcpy(start.counters, m->record->step_counters, sizeof start.counters);
    return start;
}

static void restore_start(worker_member *m, const round_start *start)
{
    m->record->step_count = start->steps;
    m->record->round_count = start->rounds;
    m->probe_count = start->probes;
    m->spent_ns = start->spent_ns;
    memcpy(m->record->step_counters, start->counters, sizeof start->counters);
}

/* run_round, repeated with its counts taken back while the cores are apart and may come together.
 */
static void run_near_round(worker_group *g, worker_member **list, size_t count, size_t round,
                           size_t rounds)
{
    round_start starts[JOB_MOST_MEMBERS];
    for (size_t i = 0; i < g->count; i++)
        starts[i] = start_of(&g->members[i]);
    run_round(g, list, count, round, rounds);
    while (cores_nearness_repeats(&g->near, rounds / 2 + 1)) {
        for (size_t i = 0; i < g->count; i++)
            if (g->members[i].failure.code == BN_OK)
                restore_start(&g->members[i], &starts[i]);
        count = list_running(g, list);
        run_round(g, list, count, round, rounds);
    }
}

/* Lists only steps that made programs: of most steps the count is 0. */
json_t *worker_programs_json(const worker_member *m)
{
    json_t *list = json_array();
    for (size_t i = 0; i < m->record->step_count; i++)
        if (m->programs_made[i] > 0 && json_array_size(list) < RES_MOST_COMPILES)
            json_array_append_new(
                list, json_pack("[II]", (json_int_t)i, (json_int_t)m->programs_made[i]));
    return json_pack("{so}", "compiles", list);
}

bn_code worker_await_own_turn(worker_group *g, bn_status *st)
{
    const uint64_t start = bn_now_ns();
    bn_code code = worker_await_turn(st);
    g->awaited_ns += bn_now_ns() - start;
    return code;
}

bn_code worker_run_rounds(worker_group *g, bn_status *st)
{
    worker_member *list[JOB_MOST_MEMBERS];
    const worker_member *first = &g->members[0];
    size_t count = list_running(g, list), rounds = 0;
    bn_code code = count > 0 ? plan_members(list, count, &rounds, st) : BN_OK;
    g->places = cores_places_of_thread();
    /* A short measurement must not wait long. */
    const double most_s = MOST_WAIT * first->e.how.min_time;
    cores_nearness_begin(&g->near, first->s.pinning, first->s.idle,
                         fmin(g->apart ? SHORT_WAIT_S : FIRST_WAIT_S, most_s),
                         fmin(ALL_WAITS_S, most_s));
    for (size_t round = 0; code == BN_OK && count > 0 && round < STRETCH * rounds; round++) {
        if (round >= rounds && all_have_time(list, count))
            break;
        if (g->turns && (code = worker_await_own_turn(g, st)) != BN_OK)
            break;
        run_near_round(g, list, count, round, rounds);
        count = list_running(g, list);
    }
    cores_nearness_end(&g->near);
    cores_places_free(g->places);
    g->places = NULL;
    return code;
}
