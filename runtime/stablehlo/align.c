/*
 * align.c - a common sequence of two lists of keys: the greedy algorithm of E. W. Myers, "An O(ND)
 * Difference Algorithm and Its Variations", Algorithmica 1 (1986).
 *
 * Where more than SHLO_MOST_EDITS edits are needed, it keeps what the path that came furthest has
 * matched, and begins anew there: time then grows with the lists' length, not with its square.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#define NOWHERE (-1)

/* A part of both lists. Diagonal K is of points (x, y) with x - y = K. */
typedef struct part {
    const uint64_t *x, *y;
    int64_t x_count, y_count;
    shlo_trace *trace;
} part;

/* Where EDITS edits get on diagonal K, of -EDITS to EDITS; NOWHERE: not onto it. */
static int64_t *furthest(const part *p, int64_t edits, int64_t k)
{
    return &p->trace->furthest[edits * edits + edits + k];
}

/* The x on diagonal K after one edit more than EDITS - 1, before any matches. *BEFORE is the
 * diagonal that it comes from. */
static int64_t edit(const part *p, int64_t edits, int64_t k, int64_t *before)
{
    const bool low = k - 1 >= 1 - edits, high = k + 1 <= edits - 1;
    int64_t left = low ? *furthest(p, edits - 1, k - 1) : NOWHERE;
    int64_t up = high ? *furthest(p, edits - 1, k + 1) : NOWHERE;
    /* One more of X, or one more of Y, while there is one. */
    left = left == NOWHERE || left >= p->x_count ? NOWHERE : left + 1;
    up = up == NOWHERE || up - k > p->y_count ? NOWHERE : up;
    *before = left > up ? k - 1 : k + 1;
    return left > up ? left : up;
}

static int64_t follow(const part *p, int64_t x, int64_t k)
{
    while (x < p->x_count && x - k < p->y_count && p->x[x] == p->y[x - k])
        x++;
    return x;
}

/* Finds the end: how many edits it takes, and on which diagonal. Where it takes too many, the point
 * that came furthest. */
static int64_t find_end(const part *p, int64_t *diagonal)
{
    *furthest(p, 0, 0) = follow(p, 0, 0);
    for (int64_t edits = 0;; edits++) {
        int64_t best = 0, best_sum = -1;
        /* Each edit changes the diagonal by one. */
        for (int64_t k = -edits; k <= edits; k += 2) {
            int64_t *x = furthest(p, edits, k), before = 0;
            if (edits > 0) {
                *x = edit(p, edits, k, &before);
                if (*x != NOWHERE)
                    *x = follow(p, *x, k);
            }
            if (*x != NOWHERE && 2 * *x - k > best_sum) {
                best_sum = 2 * *x - k;
                best = k;
            }
        }
        *diagonal = best;
        if (best_sum == p->x_count + p->y_count || edits == SHLO_MOST_EDITS)
            return edits;
    }
}

void shlo_align(const uint64_t *x, size_t x_count, const uint64_t *y, size_t y_count,
                shlo_trace *trace, void (*matched)(void *context, size_t x, size_t y),
                void *context)
{
    int64_t x_at = 0, y_at = 0;
    while (x_at < (int64_t)x_count && y_at < (int64_t)y_count) {
        const part p = {x + x_at, y + y_at, (int64_t)x_count - x_at, (int64_t)y_count - y_at,
                        trace};
        int64_t k = 0, before = 0;
        int64_t edits = find_end(&p, &k);
        const int64_t end = *furthest(&p, edits, k);
        const int64_t x_next = x_at + end, y_next = y_at + end - k;
        /* Back along the path; what it followed are the matches. */
        for (int64_t to = end; edits >= 0; edits--, k = before) {
            const int64_t from = edits > 0 ? edit(&p, edits, k, &before) : 0;
            for (int64_t i = from; i < to; i++)
                matched(context, (size_t)(x_at + i), (size_t)(y_at + i - k));
            if (edits > 0)
                to = *furthest(&p, edits - 1, before);
            else
                before = 0;
        }
        x_at = x_next;
        y_at = y_next;
    }
}
