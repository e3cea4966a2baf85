/*
 * ledger.c - where the wall time of steps went. docs/steps.md says the rules in words.
 *
 * One sweep over the edges of all calls and of the device's work, in order of time. What the main
 * thread did in its own calls is known at each moment. What it did outside of them is known as a
 * sum over the time between two readings of its clock: that much on a CPU, the rest not. So such
 * times are gathered in an interval, which is closed and shared out at the next reading.
 *
 * Each nanosecond also belongs to the execution of the steps that begins next: what the host did in
 * the gap before that.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Threads besides the main one whose clocks are followed: those with most executions. */
#define MOST_HELPERS 64

/* A shorter time off the CPU while the device works is no wait for it. */
#define LEAST_WAIT_NS 10000

/* The subject of an edge. */
typedef enum subject {
    OF_MAIN,    /* a call of the main thread; WHICH: its part */
    OF_HELPER,  /* one of a thread that executes the steps' programs */
    OF_OTHER,   /* one of another thread */
    OF_DEVICE,  /* work of a device of the steps */
    OF_READING, /* the main thread's clock is known */
    OF_STEP     /* a step begins or ends; WHICH: 1, 0 */
} subject;

typedef struct edge {
    uint64_t time;
    uint8_t subject, which;
    int8_t change; /* +1, -1; 0 of readings */
    uint32_t step; /* of OF_STEP */
} edge;

/* Time outside of the main thread's calls before one execution begins. */
typedef struct piece {
    size_t next;         /* that execution, at its place in the order */
    uint64_t quiet, all; /* while the device did not work; altogether */
} piece;

/* The time of a step at one place before its execution there. */
typedef struct place {
    uint64_t wait_ns;
    bool called; /* a wait */
    bool ended;  /* all that had been submitted, when the execution began */
} place;

typedef struct sweep {
    rec_steps *steps;
    const rec_process *process;
    uint64_t from, to; /* of the steps */
    edge *edges;
    size_t count, capacity;
    bool *device;                   /* of the steps: [device_count + 1] */
    uint32_t helpers[MOST_HELPERS]; /* threads */
    size_t helper_count;
    rec_clock main, helper[MOST_HELPERS];
    rec_ready ready; /* of the main thread */
    /* Where the sweep is. */
    int64_t open[OF_DEVICE + 1][REC_PART_COUNT];
    rec_step *step;
    uint64_t cpu_main, cpu_helper;     /* at the interval's begin */
    uint64_t ready_outside, ready_all; /* likewise */
    /* The interval: time outside of the main thread's calls, [device works] by what the helpers
     * did meanwhile; REC_PART_IDLE: nothing. */
    uint64_t outside[2][REC_PART_COUNT];
    uint64_t other[REC_PART_COUNT]; /* of the time where neither device nor helpers worked */
    /* The same time, split by the program that begins next. */
    piece *pieces;
    size_t piece_count, piece_capacity;
    size_t next;                /* what begins next, at its place in the order */
    uint64_t least_ns, most_ns; /* walls of the steps that show what was before an execution */
    place *places;              /* [executions of a step], of the step in hand */
    uint32_t *waits;            /* [the same]: steps that waited there */
    uint64_t complete_ns;       /* of all executions before the next, as far as that is known */
    bool failed;                /* no memory */
} sweep;

/* ---- edges ------------------------------------------------------------------------------ */

static bool put(sweep *s, uint64_t time, subject of, unsigned which, int change)
{
    if (!bn_reserve(&s->edges, s->count + 1, &s->capacity, sizeof *s->edges))
        return false;
    s->edges[s->count++] = (edge){time, (uint8_t)of, (uint8_t)which, (int8_t)change, 0};
    return true;
}

/* From BEGIN to END, as far as that is within the steps. */
static bool put_both(sweep *s, uint64_t begin, uint64_t end, subject of, rec_part part)
{
    if (end <= s->from || begin >= s->to || end <= begin)
        return true;
    return put(s, begin < s->from ? s->from : begin, of, part, 1) &&
           put(s, end > s->to ? s->to : end, of, part, -1);
}

static subject subject_of(const sweep *s, uint32_t thread)
{
    if (thread == s->steps->main_thread)
        return OF_MAIN;
    for (size_t i = 0; i < s->helper_count; i++)
        if (s->helpers[i] == thread)
            return OF_HELPER;
    return OF_OTHER;
}

static bool put_reading(sweep *s, uint64_t time)
{
    return time <= s->from || time >= s->to || put(s, time, OF_READING, 0, 0);
}

static bool put_executions(sweep *s)
{
    const rec_process *p = s->process;
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        const subject of = subject_of(s, e->thread);
        if (!put_both(s, e->begin_ns, e->end_ns, of, REC_PART_DISPATCH))
            return false;
        if ((of == OF_MAIN || e->main_cpu_ns) && !put_reading(s, e->begin_ns))
            return false;
        if (of == OF_MAIN && !put_reading(s, e->end_ns))
            return false;
        for (uint32_t d = 0; d < e->devices; d++) {
            const rec_span *span = &p->spans[e->spans + d];
            const size_t device = span->device == REC_NONE ? p->device_count : span->device;
            if (s->device[device] && span->complete_ns &&
                !put_both(s, span->start_ns, span->complete_ns, OF_DEVICE, 0))
                return false;
        }
    }
    return true;
}

static bool put_calls(sweep *s)
{
    static const rec_part parts[] = {
        [REC_CALL_COMPILE] = REC_PART_COMPILE, [REC_CALL_FROM_HOST] = REC_PART_TRANSFER,
        [REC_CALL_TO_HOST] = REC_PART_READ,    [REC_CALL_COPY] = REC_PART_TRANSFER,
        [REC_CALL_BUFFER] = REC_PART_TRANSFER, [REC_CALL_WAIT] = REC_PART_WAIT,
        [REC_CALL_READ] = REC_PART_WAIT,
    };
    for (size_t i = 0; i < s->process->call_count; i++) {
        const rec_call *c = &s->process->calls[i];
        const subject of = subject_of(s, c->thread);
        if (!put_both(s, c->begin_ns, c->end_ns, of, parts[c->kind]))
            return false;
        if (of == OF_MAIN && (!put_reading(s, c->begin_ns) || !put_reading(s, c->end_ns)))
            return false;
    }
    return true;
}

static bool put_steps(sweep *s)
{
    for (size_t i = 0; i < s->steps->count; i++) {
        const rec_step *step = &s->steps->list[i];
        if (step->wall_ns == 0) /* its completion was told with that of the step before */
            continue;
        if (!put(s, step->begin_ns, OF_STEP, 1, 0))
            return false;
        s->edges[s->count - 1].step = (uint32_t)i;
        if (!put(s, step->begin_ns + step->wall_ns, OF_STEP, 0, 0))
            return false;
        s->edges[s->count - 1].step = (uint32_t)i;
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    /* A step ends before the next one begins, and both before what begins with it. */
    if (x->subject != y->subject)
        return x->subject > y->subject ? -1 : 1;
    return x->which < y->which ? -1 : x->which > y->which;
}

/* ---- intervals --------------------------------------------------------------------------------
 */

static uint64_t take(uint64_t *from, uint64_t most)
{
    const uint64_t taken = *from < most ? *from : most;
    *from -= taken;
    return taken;
}

static uint64_t helpers_at(sweep *s, uint64_t time)
{
    uint64_t cpu = 0;
    for (size_t i = 0; i < s->helper_count; i++)
        cpu += rec_clock_at(&s->helper[i], time);
    return cpu;
}

/* A share of GAP as large as that of TAKEN in WHOLE. */
static uint64_t share_of(uint64_t gap, uint64_t taken, uint64_t whole)
{
    return whole ? (uint64_t)((double)gap * ((double)taken / (double)whole)) : 0;
}

/* The parts that are calls. Where calls nest, the first of these counts. */
static const rec_part calls[] = {REC_PART_DISPATCH, REC_PART_TRANSFER, REC_PART_READ,
                                 REC_PART_COMPILE, REC_PART_WAIT};
#define CALLS (sizeof calls / sizeof *calls)

/* The step that the execution NEXT is of: the one in hand or, where the host runs ahead, the last
 * one that begins no later. */
static const rec_step *owner_of(const sweep *s, size_t next)
{
    const rec_steps *steps = s->steps;
    size_t low = 0, high = steps->count;
    if (!steps->by_completion)
        return s->step;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (steps->list[middle].first <= next)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &steps->list[low - 1] : s->step;
}

/* The place in STEP of the execution NEXT. What follows a step's last execution comes before the
 * first one of a next step. */
static size_t place_of(const sweep *s, const rec_step *step, size_t next)
{
    const size_t at = next - step->first;
    return at < step->executions && at < s->steps->executions_per_step ? at : 0;
}

/* Whether the step in hand shows what is before an execution: it has as many as most steps, and is
 * among the middle half of these. */
static bool tells(const sweep *s)
{
    return s->step->executions == s->steps->executions_per_step &&
           s->step->wall_ns >= s->least_ns && s->step->wall_ns <= s->most_ns;
}

/* Before NEXT begins the host is in PART for NS, of which the device does not work for GAP. */
static void add_before(sweep *s, size_t next, rec_part part, uint64_t ns, uint64_t gap)
{
    const rec_step *owner = owner_of(s, next);
    const size_t at = place_of(s, owner, next), behind = next - owner->first;
    /* A step with more executions than most has more than there are places. */
    const uint32_t execution =
        s->steps->order[owner->first + (behind < owner->executions ? behind : 0)];
    const uint32_t row = s->steps->row_of[s->process->executions[execution].program];
    if (row != REC_NONE)
        s->steps->programs[row].gap_ns[part] += (double)gap;
    if (!tells(s))
        return;
    rec_before *before = &s->steps->before[at];
    if (part == REC_PART_HOST) {
        before->alone_ns += (double)gap;
        before->overlapped_ns += (double)(ns > gap ? ns - gap : 0);
    } else if (part == REC_PART_IDLE) {
        before->idle_ns += (double)ns;
    } else if (part == REC_PART_WAIT) {
        s->places[at].wait_ns += ns;
    }
}

/* The step in hand has ended. */
static void end_step(sweep *s)
{
    if (!s->step || !tells(s))
        return;
    for (uint32_t i = 0; i < s->step->executions; i++) {
        const place *at = &s->places[i];
        s->waits[i] += at->ended && (at->called || at->wait_ns >= LEAST_WAIT_NS);
    }
    s->steps->before_steps++;
}

/* Gives the parts of an interval, PART of all and GAP of its gaps, to the step. Each piece gets as
 * much of them as it is long. */
static void give_out(sweep *s, const uint64_t *part, const uint64_t *gap)
{
    uint64_t quiet = 0, all = 0;
    for (size_t k = 0; k < s->piece_count; k++) {
        quiet += s->pieces[k].quiet;
        all += s->pieces[k].all;
    }
    for (int i = 0; i < REC_PART_COUNT; i++) {
        uint64_t left = part[i], of = all, gaps = gap[i], of_gaps = quiet;
        for (size_t k = 0; k < s->piece_count; k++) {
            const piece *own = &s->pieces[k];
            const uint64_t taken = share_of(left, own->all, of);
            const uint64_t of_gap = share_of(gaps, own->quiet, of_gaps);
            add_before(s, own->next, (rec_part)i, taken, of_gap);
            left -= taken;
            of -= own->all;
            gaps -= of_gap;
            of_gaps -= own->quiet;
        }
        s->step->part_ns[i] += part[i];
        s->step->gap_ns[i] += gap[i];
    }
}

/* Of the GAP that nothing else explains, the part of READY: host work and it share that as they
 * share the time. */
static uint64_t ready_gap(uint64_t gap, uint64_t host, uint64_t ready)
{
    const uint64_t share = share_of(gap, ready, host + ready);
    return share < ready ? share : ready;
}

/* Gives the time outside of calls to the parts of the step: ON of it on a CPU, READY at most kept
 * from one, and HELPED on the helpers' at most. */
static void share_out(sweep *s, uint64_t on, uint64_t ready, uint64_t helped)
{
    uint64_t part[REC_PART_COUNT] = {0}, gap[REC_PART_COUNT] = {0}, whole = 0, idle = 0;
    for (int i = 0; i < REC_PART_COUNT; i++) {
        idle += s->outside[0][i];
        whole += s->outside[0][i] + s->outside[1][i];
    }
    uint64_t off = whole;
    uint64_t host = take(&off, on), gaps = 0;
    part[REC_PART_READY] = take(&off, ready);
    for (size_t i = 0; i < CALLS; i++) {
        const rec_part of = calls[i];
        const uint64_t quiet = s->outside[0][of], all = quiet + s->outside[1][of];
        const uint64_t taken = take(&off, all), of_gap = share_of(quiet, taken, all);
        part[of] += taken;
        gap[of] += of_gap;
        gaps += of_gap;
    }
    host += take(&off, helped);
    part[REC_PART_WAIT] += take(&off, s->outside[1][REC_PART_IDLE]);
    for (int i = 0; i < REC_PART_COUNT; i++) {
        const uint64_t taken = take(&off, s->other[i]);
        part[i] += taken;
        gap[i] += taken;
        gaps += taken;
    }
    if (!s->steps->cpu_clocks) {
        host += off;
        off = 0;
    }
    part[REC_PART_IDLE] += off;
    gap[REC_PART_IDLE] += off;
    gaps += off;
    part[REC_PART_HOST] += host;
    gap[REC_PART_READY] = ready_gap(idle - gaps, host, part[REC_PART_READY]);
    gap[REC_PART_HOST] += idle - gaps - gap[REC_PART_READY];
    s->step->ready_ns += part[REC_PART_READY];
    give_out(s, part, gap);
}

/* Ends the interval at TIME, and begins the next one. */
static void close_interval(sweep *s, uint64_t time)
{
    const uint64_t own = rec_clock_at(&s->main, time), helper = helpers_at(s, time);
    const uint64_t outside = rec_clock_at(&s->ready.outside, time);
    const uint64_t all = rec_clock_at(&s->ready.all, time);
    const uint64_t ready = outside - s->ready_outside, in_all = all - s->ready_all;
    if (s->step) {
        share_out(s, own - s->cpu_main, ready, helper - s->cpu_helper);
        s->step->ready_ns += in_all > ready ? in_all - ready : 0;
    }
    s->ready_outside = outside;
    s->ready_all = all;
    s->cpu_main = own;
    s->cpu_helper = helper;
    for (int i = 0; i < REC_PART_COUNT; i++)
        s->outside[0][i] = s->outside[1][i] = s->other[i] = 0;
    s->piece_count = 0;
}

/* ---- the sweep -------------------------------------------------------------------------- */

/* The part that SUBJECT is in now; REC_PART_IDLE: none. */
static rec_part part_of(const sweep *s, subject of)
{
    for (size_t i = 0; i < CALLS; i++)
        if (s->open[of][calls[i]] > 0)
            return calls[i];
    return REC_PART_IDLE;
}

/* Adds LENGTH to the piece of what begins next. */
static void add_piece(sweep *s, uint64_t length, bool busy)
{
    if (s->piece_count == 0 || s->pieces[s->piece_count - 1].next != s->next) {
        if (!bn_reserve(&s->pieces, s->piece_count + 1, &s->piece_capacity, sizeof *s->pieces)) {
            s->failed = true;
            return;
        }
        s->pieces[s->piece_count++] = (piece){.next = s->next};
    }
    s->pieces[s->piece_count - 1].quiet += busy ? 0 : length;
    s->pieces[s->piece_count - 1].all += length;
}

/* Accounts for LENGTH nanoseconds in which nothing changed. */
static void pass(sweep *s, uint64_t length)
{
    if (!s->step || length == 0)
        return;
    const bool busy = s->open[OF_DEVICE][0] > 0;
    const rec_part own = part_of(s, OF_MAIN), helper = part_of(s, OF_HELPER);
    const rec_part other = part_of(s, OF_OTHER);
    if (own == REC_PART_WAIT && tells(s))
        s->places[place_of(s, s->step, s->next)].called = true;
    s->step->busy_ns += busy ? length : 0;
    if (own != REC_PART_IDLE) {
        s->step->part_ns[own] += length;
        s->step->gap_ns[own] += busy ? 0 : length;
        add_before(s, s->next, own, length, busy ? 0 : length);
        return;
    }
    s->outside[busy][helper] += length;
    add_piece(s, length, busy);
    if (!busy && helper == REC_PART_IDLE &&
        (other == REC_PART_TRANSFER || other == REC_PART_READ || other == REC_PART_COMPILE))
        s->other[other] += length;
}

/* NEXT begins at NOW: whether all before it had ended. */
static void note_ended(sweep *s, uint64_t now)
{
    if (s->step && s->next > s->step->first && tells(s) &&
        s->next <= (size_t)s->step->first + s->step->executions)
        s->places[place_of(s, s->step, s->next)].ended = s->complete_ns <= now;
}

/* Begins the next activity at NOW. Where completions are unknown, a wait is taken to have been for
 * all.
 */
static void advance(sweep *s, uint64_t now)
{
    const rec_steps *steps = s->steps;
    for (; s->next < steps->order_count; s->next++) {
        const rec_execution *e = &s->process->executions[steps->order[s->next]];
        if (e->begin_ns > now)
            return;
        note_ended(s, e->begin_ns);
        const uint64_t complete = rec_steps_span(steps, e)->complete_ns;
        s->complete_ns = complete > s->complete_ns ? complete : s->complete_ns;
    }
}

static void run(sweep *s)
{
    uint64_t now = s->from;
    for (size_t i = 0; i < s->count; i++) {
        const edge *e = &s->edges[i];
        if (e->time > now) {
            advance(s, now);
            pass(s, e->time - now);
        }
        now = e->time;
        if (e->subject >= OF_READING)
            close_interval(s, now);
        else
            s->open[e->subject][e->which] += e->change;
        if (e->subject != OF_STEP)
            continue;
        if (e->which) {
            s->step = &s->steps->list[e->step];
            memset(s->places, 0, s->steps->executions_per_step * sizeof *s->places);
        } else {
            note_ended(s, now);
            end_step(s);
            s->step = NULL;
        }
    }
}

/* ---- threads that take part
 * ----------------------------------------------------------------------------
 */

typedef struct tally {
    uint32_t thread, count;
} tally;

static int by_count(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The threads that execute the steps' programs, and whose timeline the ledger is of: the main
 * thread's where something is known of it, else that of the thread with most executions. */
static bool choose_threads(sweep *s)
{
    const rec_process *p = s->process;
    rec_steps *steps = s->steps;
    tally *tallies = calloc(p->thread_count + 1, sizeof *tallies);
    bool known = false;
    if (!tallies)
        return false;
    for (size_t i = 0; i < p->thread_count; i++)
        tallies[i].thread = (uint32_t)i;
    for (size_t i = 0; i < steps->order_count; i++) {
        const rec_execution *e = &p->executions[steps->order[i]];
        if (e->thread < p->thread_count)
            tallies[e->thread].count++;
        known = known || e->main_cpu_ns || (e->thread == p->main_thread && e->thread != REC_NONE);
    }
    qsort(tallies, p->thread_count, sizeof *tallies, by_count);
    steps->dispatch_thread = p->thread_count ? tallies[0].thread : REC_NONE;
    steps->main_thread =
        known && p->main_thread != REC_NONE ? p->main_thread : steps->dispatch_thread;
    for (size_t i = 0; i < p->thread_count && s->helper_count < MOST_HELPERS; i++)
        if (tallies[i].count && tallies[i].thread != steps->main_thread)
            s->helpers[s->helper_count++] = tallies[i].thread;
    free(tallies);
    return true;
}

/* The devices on which the steps' executions ran. */
static bool choose_devices(sweep *s)
{
    const rec_process *p = s->process;
    s->device = calloc(p->device_count + 1, sizeof *s->device);
    if (!s->device)
        return false;
    for (size_t i = 0; i < s->steps->order_count; i++) {
        const rec_execution *e = &p->executions[s->steps->order[i]];
        for (uint32_t d = 0; d < e->devices; d++) {
            const uint32_t device = p->spans[e->spans + d].device;
            s->device[device == REC_NONE ? p->device_count : device] = true;
        }
    }
    return true;
}

/* Makes room for what is before the executions of a usual step, and says which steps show it: by
 * their walls the middle half of those with as many executions as most. A step during which
 * something else had the core shows nothing. */
static bool choose_tellers(sweep *s)
{
    rec_steps *steps = s->steps;
    const size_t executions = (size_t)steps->executions_per_step + 1;
    uint64_t *walls = calloc(steps->count + 1, sizeof *walls);
    size_t count = 0;
    steps->before = calloc(executions, sizeof *steps->before);
    s->places = calloc(executions, sizeof *s->places);
    s->waits = calloc(executions, sizeof *s->waits);
    for (size_t i = 0; walls && i < steps->count; i++)
        if (steps->list[i].executions == steps->executions_per_step)
            walls[count++] = steps->list[i].wall_ns;
    s->least_ns = count ? (uint64_t)res_quantile(walls, count, 0.25) : UINT64_MAX;
    s->most_ns = count ? (uint64_t)ceil(res_quantile(walls, count, 0.75)) : 0;
    const bool made = walls && steps->before && s->places && s->waits;
    free(walls);
    return made;
}

/* Divides the sums over all steps into means of a step. */
static void divide(sweep *s)
{
    rec_steps *steps = s->steps;
    const double known = (double)steps->before_steps;
    for (size_t i = 0; i < steps->program_count; i++)
        for (int k = 0; k < REC_PART_COUNT; k++)
            steps->programs[i].gap_ns[k] /= (double)steps->count;
    for (uint32_t i = 0; known > 0 && i < steps->executions_per_step; i++) {
        steps->before[i].overlapped_ns /= known;
        steps->before[i].alone_ns /= known;
        steps->before[i].idle_ns /= known;
        steps->before[i].waits = 2 * (size_t)s->waits[i] > steps->before_steps;
    }
}

static bn_code make_clocks(sweep *s, bn_status *st)
{
    const rec_process *p = s->process;
    const bool of_main = s->steps->main_thread == p->main_thread;
    bn_code code = rec_clock_make(p, s->steps->main_thread, of_main, &s->main, st);
    for (size_t i = 0; i < s->helper_count && code == BN_OK; i++)
        code = rec_clock_make(p, s->helpers[i], false, &s->helper[i], st);
    if (code == BN_OK)
        code = rec_ready_make(p, s->steps->main_thread, of_main, &s->ready, st);
    s->steps->delays = s->steps->cpu_clocks && s->ready.known;
    return code;
}

bn_code rec_ledger_fill(rec_steps *steps, bn_status *st)
{
    if (steps->count == 0)
        return BN_OK;
    const rec_step *last = &steps->list[steps->count - 1];
    sweep *s = bn_zalloc(1, sizeof *s);
    s->steps = steps;
    s->process = steps->process;
    s->from = steps->list[0].begin_ns;
    s->to = last->begin_ns + last->wall_ns;
    bn_code code = BN_OK;
    if (!choose_threads(s) || !choose_devices(s) || !choose_tellers(s) || !put_executions(s) ||
        !put_calls(s) || !put_steps(s))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the ledger");
    if (code == BN_OK)
        code = make_clocks(s, st);
    if (code == BN_OK) {
        qsort(s->edges, s->count, sizeof *s->edges, by_time);
        run(s);
        divide(s);
    }
    if (s->failed)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the ledger");
    rec_clock_free(&s->main);
    rec_ready_free(&s->ready);
    for (size_t i = 0; i < s->helper_count; i++)
        rec_clock_free(&s->helper[i]);
    free(s->device);
    free(s->edges);
    free(s->pieces);
    free(s->places);
    free(s->waits);
    free(s);
    return code;
}
