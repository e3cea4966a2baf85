/*
 * period.c - which programs come again and again: the smallest period of a sequence of programs.
 *
 * A candidate is what stands between two occurrences of a program, and does so between most of
 * them. It fits if it covers 95 % of the executions and of their cost. Few executions may stand in
 * between that are no part of it, such as one that reads a loss now and then.
 *
 * A candidate that fits may still be a part of a step: a model that is executed op by op repeats
 * itself for each layer. So where a candidate does not cover all, it counts only if no other does.
 * What carries a state is no matter of periods: state.c.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>

#define FITS         0.95
#define FITS_LOOSELY 0.4
#define LEAST_TIMES  3   /* that a period occurs */
/* Candidates that are tried: bounds the time that a hostile recording can take. */
#define MOST_TRIED   2000

/* The place of one occurrence, or of what stands between it and the next. */
typedef struct segment {
    uint64_t hash;
    uint32_t from, length;
} segment;

typedef struct candidate {
    uint32_t from, length; /* where one is, and its executions */
    uint32_t first, count; /* of the occurrences in search.places */
} candidate;

typedef struct search {
    const rec_sequence *sequence;
    uint32_t from, to;
    uint64_t *hashes;  /* [TO - FROM + 1]: of all before */
    uint64_t *powers;  /* of the base */
    uint32_t *places;  /* [TO - FROM]: positions, those of each program together, in order */
    segment *segments; /* room for the segments of one program */
    candidate *list;
    size_t count;
    uint32_t *at; /* room for a match */
} search;

/* Base of the rolling hash: any odd number with well-mixed bits. Segments of one hash are compared
 * again by rec_period_match. */
#define BASE 0x9E3779B97F4A7C15u

static bool make_room(search *s, size_t programs, uint32_t **starts)
{
    const size_t n = s->to - s->from;
    s->hashes = malloc((n + 1) * sizeof *s->hashes);
    s->powers = malloc((n + 1) * sizeof *s->powers);
    s->places = malloc((n + 1) * sizeof *s->places);
    s->segments = malloc((n + 1) * sizeof *s->segments);
    s->list = malloc((n + 1) * sizeof *s->list);
    s->at = malloc((n + 1) * sizeof *s->at);
    *starts = calloc(programs + 2, sizeof **starts);
    return s->hashes && s->powers && s->places && s->segments && s->list && s->at && *starts;
}

static void free_room(search *s, uint32_t *starts)
{
    free(s->hashes);
    free(s->powers);
    free(s->places);
    free(s->segments);
    free(s->list);
    free(s->at);
    free(starts);
}

/* ---- candidates --------------------------------------------------------------------------------
 */

static void hash_all(search *s)
{
    s->hashes[0] = 0;
    s->powers[0] = 1;
    for (uint32_t i = s->from; i < s->to; i++) {
        const uint32_t k = i - s->from;
        s->hashes[k + 1] = s->hashes[k] * BASE + s->sequence->programs[i] + 1;
        s->powers[k + 1] = s->powers[k] * BASE;
    }
}

static uint64_t hash_of(const search *s, uint32_t from, uint32_t length)
{
    const uint32_t k = from - s->from;
    return s->hashes[k + length] - s->hashes[k] * s->powers[length];
}

/* Fills the places: STARTS[p] becomes where those of program P begin. */
static void sort_places(search *s, uint32_t *starts, size_t programs)
{
    const uint32_t *of = s->sequence->programs;
    for (uint32_t i = s->from; i < s->to; i++)
        starts[of[i] + 1]++;
    for (size_t p = 0; p < programs; p++)
        starts[p + 1] += starts[p];
    for (uint32_t i = s->from; i < s->to; i++)
        s->places[starts[of[i]]++] = i;
    /* Each start has moved to the next one's. */
    memmove(starts + 1, starts, programs * sizeof *starts);
    starts[0] = 0;
}

static int by_content(const void *a, const void *b)
{
    const segment *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Adds the candidate of the program with COUNT places from FIRST, if most of its segments are
 * alike. */
static void add_candidate(search *s, uint32_t first, uint32_t count)
{
    const uint32_t *places = s->places + first;
    const uint32_t segments = count ? count - 1 : 0;
    uint32_t best = 0, best_at = 0;
    if (segments < LEAST_TIMES)
        return;
    for (uint32_t i = 0; i < segments; i++) {
        const uint32_t length = places[i + 1] - places[i];
        s->segments[i] = (segment){hash_of(s, places[i], length), places[i], length};
    }
    qsort(s->segments, segments, sizeof *s->segments, by_content);
    for (uint32_t i = 0, run = 0; i < segments; i++) {
        const bool same = i > 0 && s->segments[i].length == s->segments[i - 1].length &&
                          s->segments[i].hash == s->segments[i - 1].hash;
        run = same ? run + 1 : 1;
        if (run > best) {
            best = run;
            best_at = i;
        }
    }
    if (best >= LEAST_TIMES && 2 * best >= segments)
        s->list[s->count++] =
            (candidate){s->segments[best_at].from, s->segments[best_at].length, first, count};
}

static int by_length(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* ---- whether one fits ------------------------------------------------------------------- */

bool rec_period_match(const uint32_t *programs, const uint32_t *template, uint32_t length,
                      uint32_t from, uint32_t to, uint32_t *at)
{
    const uint32_t others = length / 2 > 4 ? length / 2 : 4;
    uint32_t found = 0;
    if (to - from < length || to - from > length + others)
        return false;
    for (uint32_t i = from; i < to && found < length; i++)
        if (programs[i] == template[found])
            at[found++] = i;
    return found == length;
}

static double cost_of(const rec_sequence *q, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += q->costs[i];
    return sum;
}

/* How much of a window a candidate covers. Up to one period before its first and after its last
 * occurrence is left out of the window: the recording may begin or end within a step. */
typedef struct coverage {
    double executions, all_executions, cost, all_cost;
    bool whole; /* all segments are alike */
} coverage;

static coverage coverage_of(search *s, const candidate *c)
{
    const rec_sequence *q = s->sequence;
    const uint32_t *places = s->places + c->first, last = places[c->count - 1];
    const uint32_t *template = q->programs + c->from;
    const uint32_t left = places[0] - s->from > c->length ? places[0] - c->length : s->from;
    const uint32_t right = s->to - last > c->length ? last + c->length : s->to;
    coverage v = {0};
    v.all_executions = (left - s->from) + (last - places[0]) + (s->to - right);
    v.all_cost = cost_of(q, s->from, left) + cost_of(q, places[0], last) + cost_of(q, right, s->to);
    v.whole = left == s->from && right == s->to;
    for (uint32_t i = 0; i + 1 < c->count; i++) {
        const uint32_t length = places[i + 1] - places[i];
        if (!rec_period_match(q->programs, template, c->length, places[i], places[i + 1], s->at)) {
            v.whole = false;
            continue;
        }
        v.executions += c->length;
        /* Other programs within a segment count by their cost only. */
        v.all_executions -= length - c->length;
        v.whole = v.whole && length == c->length;
        for (uint32_t k = 0; k < c->length; k++)
            v.cost += q->costs[s->at[k]];
    }
    return v;
}

static bool is_covered(const coverage *v)
{
    return v->executions >= FITS * v->all_executions && v->cost >= FITS * v->all_cost;
}

/* ---- the search ------------------------------------------------------------------------- */

static const candidate *choose(search *s, bool *whole)
{
    const candidate *other = NULL;
    for (size_t i = 0; i < s->count && i < MOST_TRIED; i++) {
        const coverage v = coverage_of(s, &s->list[i]);
        if (!is_covered(&v))
            continue;
        *whole = v.whole;
        if (v.whole)
            return &s->list[i];
        other = other ? other : &s->list[i];
    }
    return other;
}

/* The candidate that covers most of the cost; of equal ones the shortest. */
static const candidate *choose_loosely(search *s)
{
    const candidate *best = NULL;
    double most = 0;
    for (size_t i = 0; i < s->count && i < MOST_TRIED; i++) {
        const coverage v = coverage_of(s, &s->list[i]);
        if (v.cost >= FITS_LOOSELY * v.all_cost && v.cost > most) {
            best = &s->list[i];
            most = v.cost;
        }
    }
    return best;
}

bn_code rec_period_find(const rec_sequence *sequence, uint32_t from, uint32_t to, bool loosely,
                        rec_period *period, bn_status *st)
{
    search s = {.sequence = sequence, .from = from, .to = to};
    const size_t programs = sequence->process->program_count;
    uint32_t *starts = NULL;
    bool whole = false;
    *period = (rec_period){0};
    if (!make_room(&s, programs, &starts)) {
        free_room(&s, starts);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to look for steps");
    }
    hash_all(&s);
    sort_places(&s, starts, programs);
    for (size_t p = 0; p < programs; p++)
        add_candidate(&s, starts[p], starts[p + 1] - starts[p]);
    if (s.count)
        qsort(s.list, s.count, sizeof *s.list, by_length);
    const candidate *best = loosely ? choose_loosely(&s) : choose(&s, &whole);
    if (best)
        *period = (rec_period){best->from, best->length, whole};
    free_room(&s, starts);
    return BN_OK;
}
