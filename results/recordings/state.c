/*
 * state.c - steps by the program that carries the state.
 *
 * What a loop carries from step to step is in its data flow: a parameter goes into a program, and
 * what comes out in its place goes into the same program the next time. The buffers of which one
 * replaces the other are a chain. Donation is not needed: a state that is handed on looks alike.
 *
 *   Links.  A buffer whose last use is an execution is replaced by a result of the same type that
 *           is used later. If there are more such buffers than results, those of the oldest chains
 *           are replaced: a batch or a gradient is younger than a parameter of its type.
 *   Chains. A chain's program is the name that makes most of its links; their executions are its
 *           marks.
 *   Series. Chains of one name and size that follow each other are one: a cache that is made anew
 *           for each request.
 *   Groups. Series of as many marks over a like time: parameters and moments, or both networks of a
 *           GAN. The group with most bytes x marks x time is the state. No factor alone does: by
 *           bytes it would be the activations of an evaluation op by op, by time a set-up, by
 *           marks a random key.
 *   Rounds. Where two states read each other, and the slower one holds as much or begins the faster
 *           one anew (accumulated gradients), a step is a round of both. Where a program without a
 *           state reads this one and feeds several renewals of it in a row, a step is a round of
 *           these: a rollout and its updates, a gradient and an update op by op.
 */
#include "results/recordings/state_priv.h"

#include <math.h>
#include <stdlib.h>

/* A loop has so many, and so many bytes of state or so many marks a chain. */
#define LEAST_MARKS     5
#define LEAST_BYTES     64
#define LEAST_SMALL     20
/* Counts of marks that differ by less are equal. */
#define ALIKE           0.02
#define ALIKE_MARKS     2
/* Spans are alike from this ratio on. */
#define LIKE_SPAN       0.5
/* Series of other names join a group where they have more marks. */
#define MARKS_OF_OTHERS 8
/* A program reads a state that so large a share of its executions take. */
#define READS           0.5
/* A slower state owns the step where it renews the faster one and holds so much of its bytes, or
 * holds so much more than it. */
#define RENEWED_BYTES   0.3
#define MORE_BYTES      1.05
/* A program feeds a round if so large a share of its rounds have equally many renewals. */
#define REGULAR         0.9
/* Groups that are made, the heaviest series first: bounds the time that a hostile recording takes;
 * and those whose flows are followed: a bit each. */
#define MOST_TRIED      4096
#define MOST_GROUPS     64

/* ---- groups ------------------------------------------------------------------------------- */

static int by_weight_of_series(const void *a, const void *b)
{
    const rec_series *x = a, *y = b;
    const double of_x = (double)x->bytes * x->marks, of_y = (double)y->bytes * y->marks;
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool same_count(uint32_t a, uint32_t b)
{
    const double most = fmax(ALIKE_MARKS, ALIKE * b);
    return fabs((double)a - (double)b) <= most;
}

static bool like_span(uint64_t a, uint64_t b)
{
    return (double)(a < b ? a : b) > LIKE_SPAN * (double)(a < b ? b : a);
}

static bool belongs(const rec_finder *f, const rec_series *s, const rec_group *g)
{
    return same_count(s->marks, g->marks) && like_span(s->span_ns, g->span_ns) &&
           (s->name == f->series[g->main].name || s->marks > MARKS_OF_OTHERS);
}

/* What a loop has at least, and a set-up or the seed of a generator has not. */
static bool is_state(const rec_group *g)
{
    return g->marks >= LEAST_MARKS &&
           (g->bytes >= LEAST_BYTES || g->marks >= (uint64_t)LEAST_SMALL * g->parts);
}

static int by_weight(const void *a, const void *b)
{
    const rec_group *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->main > y->main) - (x->main < y->main);
}

/* Says of each series and chain which group it is of, when these are sorted. */
static bool number_groups(rec_finder *f, const uint32_t *old)
{
    uint32_t *now = malloc((f->series_count + 1) * sizeof *now);
    f->renewed = calloc(f->names->name_count + 1, sizeof *f->renewed);
    if (!now || !f->renewed) {
        free(now);
        return false;
    }
    for (size_t i = 0; i < f->series_count; i++)
        now[i] = REC_NONE;
    for (size_t g = 0; g < f->group_count; g++)
        now[old[f->groups[g].main]] = (uint32_t)g;
    for (size_t i = 0; i < f->series_count; i++) {
        rec_series *s = &f->series[i];
        s->group = old[i] == REC_NONE ? REC_NONE : now[old[i]];
        if (s->group != REC_NONE)
            f->renewed[s->name] |= (uint64_t)1 << s->group;
        for (uint32_t c = s->first; c != REC_NONE; c = f->chains[c].next)
            f->chains[c].group = s->group;
    }
    free(now);
    return true;
}

static bool make_groups(rec_finder *f)
{
    uint32_t *old = malloc((f->series_count + 1) * sizeof *old);
    size_t kept = 0;
    if (!old)
        return false;
    qsort(f->series, f->series_count, sizeof *f->series, by_weight_of_series);
    for (uint32_t i = 0; i < f->series_count; i++) {
        const rec_series *s = &f->series[i];
        size_t g = 0;
        while (g < f->group_count && !belongs(f, s, &f->groups[g]))
            g++;
        old[i] = REC_NONE;
        if (g == MOST_TRIED)
            continue;
        if (g == f->group_count) {
            if (!bn_reserve(&f->groups, f->group_count + 1, &f->group_room, sizeof *f->groups)) {
                free(old);
                return false;
            }
            f->groups[f->group_count++] =
                (rec_group){.span_ns = s->span_ns, .marks = s->marks, .parts = s->parts, .main = i};
        }
        f->groups[g].bytes += s->bytes;
        old[i] = (uint32_t)g;
    }
    for (size_t g = 0; g < f->group_count; g++) {
        rec_group own = f->groups[g];
        own.weight = (double)own.bytes * own.marks * (double)own.span_ns;
        if (is_state(&own))
            f->groups[kept++] = own;
    }
    f->group_count = kept;
    qsort(f->groups, kept, sizeof *f->groups, by_weight);
    if (f->group_count > MOST_GROUPS)
        f->group_count = MOST_GROUPS;
    const bool made = number_groups(f, old);
    free(old);
    return made;
}

/* ---- which program reads which state ------------------------------------------------------ */

static uint64_t bit_of(const rec_finder *f, uint32_t buffer)
{
    const uint32_t of = f->chain_of[buffer];
    const uint32_t own = of == REC_NONE ? REC_NONE : f->chains[of].group;
    return own == REC_NONE ? 0 : (uint64_t)1 << own;
}

/* Counts for each name the executions that take each group's state, itself or what other programs
 * made of it. */
static bool follow_flows(rec_finder *f)
{
    const rec_process *p = f->p;
    uint64_t *made_of = calloc(p->buffer_count + 1, sizeof *made_of);
    f->takes = calloc((size_t)(f->names->name_count + 1) * MOST_GROUPS, sizeof *f->takes);
    f->executions = calloc(f->names->name_count + 1, sizeof *f->executions);
    const bool room = made_of && f->takes && f->executions;
    for (uint32_t at = 0; room && at < f->q->count; at++) {
        const rec_execution *e = &p->executions[f->q->order[at]];
        const uint32_t device = rec_finder_device(f, e), name = rec_finder_name(f, at);
        uint64_t taken = 0, renewed = 0;
        for (uint32_t i = 0; i < e->arguments; i++) {
            const uint32_t buffer = rec_argument(p, e, device, i);
            const uint64_t own = buffer == REC_NONE ? 0 : bit_of(f, buffer);
            taken |= buffer == REC_NONE ? 0 : own ? own : made_of[buffer];
        }
        f->executions[name]++;
        for (size_t g = 0; g < f->group_count; g++)
            f->takes[(size_t)name * MOST_GROUPS + g] += taken >> g & 1;
        for (uint32_t i = 0; i < e->results; i++) {
            const uint32_t buffer = rec_result(p, e, device, i);
            renewed |= buffer == REC_NONE ? 0 : bit_of(f, buffer);
        }
        for (uint32_t i = 0; i < e->results; i++) {
            const uint32_t buffer = rec_result(p, e, device, i);
            if (buffer != REC_NONE)
                made_of[buffer] = taken | renewed;
        }
    }
    free(made_of);
    return room;
}

static bool is_named(const rec_finder *f, uint32_t name, size_t g)
{
    return f->renewed[name] >> g & 1;
}

/* Whether programs that renew the state READER read the state READ. */
static bool reads(const rec_finder *f, size_t reader, size_t read)
{
    for (size_t i = 0; i < f->series_count; i++) {
        const rec_series *s = &f->series[i];
        if (s->group != reader)
            continue;
        const uint32_t runs = f->executions[s->name];
        const double most = fmax(1, fmin(runs, f->groups[read].marks));
        if (f->takes[(size_t)s->name * MOST_GROUPS + read] >= READS * most)
            return true;
    }
    return false;
}

/* Whether the two states have a program in common. */
static bool share_name(const rec_finder *f, size_t a, size_t b)
{
    for (uint32_t name = 0; name < f->names->name_count; name++)
        if (is_named(f, name, a) && is_named(f, name, b))
            return true;
    return false;
}

/* Whether a program of the SLOWER state renews the FASTER one, too, or begins it anew each time. */
static bool renews(const rec_finder *f, size_t slower, size_t faster)
{
    const double least = 0.5 * f->groups[slower].marks;
    for (size_t i = 0; i < f->series_count; i++) {
        const rec_series *s = &f->series[i];
        if (s->group != faster)
            continue;
        if (s->parts >= least)
            return true;
        const rec_chain *c = &f->chains[s->first];
        uint32_t renewed = 0;
        for (uint32_t k = 0; k < c->links; k++)
            renewed += is_named(f, rec_finder_name(f, f->links[c->link + k].at), slower);
        if (renewed >= least && renewed > 0)
            return true;
    }
    return false;
}

/* ---- the step ----------------------------------------------------------------------------- */

/* Whether the states A and B are of one loop: programs of each read the other. */
static bool feed_each_other(const rec_finder *f, size_t a, size_t b)
{
    const double x = (double)f->groups[a].span_ns, y = (double)f->groups[b].span_ns;
    return fmin(x, y) >= LIKE_SPAN * fmax(x, y) && !share_name(f, a, b) && reads(f, a, b) &&
           reads(f, b, a);
}

/* A slower state that a step of the state G belongs to: its index; group_count: none. One that
 * neither holds more nor renews G is unclear: its program into STATE. */
static size_t slower_than(const rec_finder *f, size_t g, rec_state *state)
{
    const rec_group *fast = &f->groups[g];
    size_t best = f->group_count;
    for (size_t h = 0; h < f->group_count; h++) {
        const rec_group *slow = &f->groups[h];
        if (h == g || slow->taken || !(slow->marks < fast->marks) ||
            same_count(slow->marks, fast->marks) ||
            (double)slow->span_ns < LIKE_SPAN * (double)fast->span_ns || share_name(f, g, h) ||
            !reads(f, g, h) || !reads(f, h, g))
            continue;
        const double bytes = (double)slow->bytes, other = (double)fast->bytes;
        if ((renews(f, h, g) && bytes >= RENEWED_BYTES * other) || bytes > MORE_BYTES * other) {
            if (best == f->group_count || slow->weight > f->groups[best].weight)
                best = h;
        } else if (state->unclear == REC_NONE) {
            const rec_series *s = &f->series[slow->main];
            state->unclear = f->q->programs[f->marks[f->chains[s->first].mark]];
            state->unclear_every = (double)fast->marks / slow->marks;
        }
    }
    return best;
}

/* The series of the state G that marks its steps. */
static const rec_series *marking(const rec_finder *f, size_t g)
{
    const rec_series *best = &f->series[f->groups[g].main];
    for (size_t i = 0; i < f->series_count; i++) {
        const rec_series *s = &f->series[i];
        const bool fits = s->group == g && (s->marks <= f->groups[g].marks ||
                                            same_count(s->marks, f->groups[g].marks));
        if (fits && (s->bytes > best->bytes || (s->bytes == best->bytes && s->marks > best->marks)))
            best = s;
    }
    return best;
}

/* The positions of the marks of S into AT, which has room; how many. */
static size_t list_marks(const rec_finder *f, const rec_series *s, uint32_t *at)
{
    size_t count = 0;
    for (uint32_t c = s->first; c != REC_NONE; c = f->chains[c].next)
        for (uint32_t k = 0; k < f->chains[c].marks; k++)
            at[count++] = f->marks[f->chains[c].mark + k];
    return count;
}

/* Keeps of COUNT marks AT the first of each run between which none of the OTHERS positions lies. */
static size_t first_of_runs(const uint32_t *other, size_t others, uint32_t *at, size_t count)
{
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t before = next;
        while (next < others && other[next] <= at[i])
            next++;
        if (i == 0 || next > before)
            at[kept++] = at[i];
    }
    return kept;
}

/* ... of FAST. */
static size_t first_of_rounds(const rec_finder *f, const rec_series *fast, uint32_t *at,
                              size_t count)
{
    uint32_t *other = malloc((f->link_count + f->chain_count + 1) * sizeof *other);
    if (!other)
        return count;
    const size_t kept = first_of_runs(other, list_marks(f, fast, other), at, count);
    free(other);
    return kept;
}

/* Counts for each name without a state how many of the COUNT marks AT take what it made. */
static void count_feeds(const rec_finder *f, const uint32_t *at, size_t count, uint32_t *feeds,
                        uint32_t *last)
{
    const rec_process *p = f->p;
    for (size_t i = 0; i < count; i++) {
        const rec_execution *e = &p->executions[f->q->order[at[i]]];
        const uint32_t device = rec_finder_device(f, e);
        for (uint32_t k = 0; k < e->arguments; k++) {
            const uint32_t buffer = rec_argument(p, e, device, k);
            if (buffer == REC_NONE || p->buffers[buffer].origin != REC_FROM_EXECUTION ||
                bit_of(f, buffer) || p->buffers[buffer].maker >= p->execution_count)
                continue;
            const uint32_t name = f->names->name[p->executions[p->buffers[buffer].maker].program];
            if (f->renewed[name] == 0 && last[name] != i + 1) {
                last[name] = (uint32_t)i + 1;
                feeds[name]++;
            }
        }
    }
}

/* The positions of the executions of NAME into AT; how many. */
static size_t list_name(const rec_finder *f, uint32_t name, uint32_t *at)
{
    size_t count = 0;
    for (uint32_t i = 0; i < f->q->count; i++)
        if (rec_finder_name(f, i) == name)
            at[count++] = i;
    return count;
}

/* How many of the COUNT marks AT follow each of the FEEDERS positions, if that is the same number
 * nearly always; else 0. COUNTS is room for FEEDERS numbers. */
static uint32_t round_of(const uint32_t *feeder, size_t feeders, const uint32_t *at, size_t count,
                         uint64_t *counts)
{
    size_t next = 0, same = 0;
    for (size_t i = 0; i < feeders; i++) {
        const uint32_t end = i + 1 < feeders ? feeder[i + 1] : UINT32_MAX;
        while (next < count && at[next] < feeder[i])
            next++;
        counts[i] = 0;
        for (; next < count && at[next] < end; next++)
            counts[i]++;
    }
    const double usual = res_quantile(counts, feeders, 0.5); /* sorts them */
    for (size_t i = 0; i < feeders; i++)
        same += (double)counts[i] == usual;
    return (double)same >= REGULAR * (double)feeders ? (uint32_t)usual : 0;
}

/* Keeps of COUNT marks AT, of the state G, the first behind each execution of a program without a
 * state that reads G, and of which several marks take what it made. */
static size_t first_of_fed(const rec_finder *f, size_t g, uint32_t *at, size_t count)
{
    const size_t names = f->names->name_count + 1;
    uint32_t *feeds = calloc(2 * names, sizeof *feeds);
    uint32_t *feeder = malloc(((size_t)f->q->count + 1) * sizeof *feeder);
    uint64_t *counts = malloc(((size_t)f->q->count + 1) * sizeof *counts);
    size_t kept = count;
    if (feeds && feeder && counts)
        count_feeds(f, at, count, feeds, feeds + names);
    for (uint32_t name = 0; feeds && feeder && counts && name < names - 1 && kept == count;
         name++) {
        const uint32_t runs = f->executions[name];
        if (runs < LEAST_MARKS || 1.5 * runs > (double)count ||
            feeds[name] < READS * (double)count ||
            f->takes[(size_t)name * MOST_GROUPS + g] < READS * runs)
            continue;
        const size_t feeders = list_name(f, name, feeder);
        if (round_of(feeder, feeders, at, count, counts) > 1)
            kept = first_of_runs(feeder, feeders, at, count);
    }
    free(feeds);
    free(feeder);
    free(counts);
    return kept;
}

/* The heaviest state, or the slower one that its steps belong to. A step is a round of it and of
 * the faster states of the same loop. */
static void choose(rec_finder *f, rec_state *state, uint32_t *at)
{
    size_t g = 0;
    for (size_t h; f->groups[g].taken = true, (h = slower_than(f, g, state)) < f->group_count;) {
        g = h;
        state->unclear = REC_NONE;
    }
    state->count = list_marks(f, marking(f, g), at);
    for (size_t h = 0; h < f->group_count; h++)
        if (h != g && f->groups[h].marks > f->groups[g].marks && feed_each_other(f, g, h))
            state->count = first_of_rounds(f, marking(f, h), at, state->count);
    state->count = first_of_fed(f, g, at, state->count);
    state->bytes = f->groups[g].bytes;
    state->program = f->q->programs[at[0]];
}

static void free_finder(rec_finder *f)
{
    free(f->chain_of);
    free(f->chains);
    free(f->links);
    free(f->marks);
    free(f->series);
    free(f->groups);
    free(f->arguments);
    free(f->results);
    free(f->renewed);
    free(f->takes);
    free(f->executions);
    rec_spans_free(&f->compiles);
}

static bool list_compiles(rec_finder *f)
{
    bool made = true;
    for (size_t i = 0; made && i < f->p->call_count; i++)
        if (f->p->calls[i].kind == REC_CALL_COMPILE)
            made = rec_spans_add(&f->compiles, f->p->calls[i].begin_ns, f->p->calls[i].end_ns);
    rec_spans_merge(&f->compiles);
    return made;
}

bn_code rec_state_find(const rec_sequence *sequence, const rec_names *names, uint32_t *at,
                       rec_state *state, bn_status *st)
{
    const rec_process *p = sequence->process;
    rec_finder f = {.q = sequence, .p = p, .names = names};
    *state = (rec_state){.program = REC_NONE, .unclear = REC_NONE};
    const bool made =
        list_compiles(&f) && rec_chains_find(&f) && make_groups(&f) && follow_flows(&f);
    if (made && f.group_count > 0)
        choose(&f, state, at);
    free_finder(&f);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory to follow the state of steps");
}
