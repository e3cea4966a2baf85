/*
 * trips.c - trip counts of loops. A count follows from the loop's condition: a comparison of a
 * carried element, to which the body adds a constant, with a constant or with a carried element
 * that the body does not change. For other loops it is the count that the program states, if it
 * does.
 */
#include "runtime/hlo/hlo_priv.h"

#include <string.h>

#define MOST_STEPS 10000 /* of one search: no loop counter has a longer chain */
#define MOST_DEPTH 200   /* of operands, and of calls within each other */
#define MOST_TRIPS 1e12  /* more would take minutes if a trip took one cycle */

/* A value, as far as it is followed. */
typedef struct value {
    enum { UNKNOWN, CONSTANT, ELEMENT } kind;
    int64_t number; /* the constant; of an element what is added to it */
    int64_t index;  /* of the element in what the loop carries */
} value;

/* Where an instruction stands: a computation, and of a fused or called one its call. */
typedef struct frame {
    size_t computation;
    const hlo_instruction *call; /* NULL: its parameter is what the loop carries */
    const struct frame *outer;   /* where the call stands */
} frame;

typedef struct search {
    const hlo_module *module;
    int steps, depth;
} search;

static const value unknown = {.kind = UNKNOWN};

static value follow(search *s, const frame *f, const hlo_instruction *i);

static value constant_of(const hlo_instruction *i)
{
    const Hlo__Wire__Literal *l = i->literal;
    value v = {.kind = CONSTANT};
    if (!l || (i->shape && i->shape->n_dimensions > 0))
        return unknown;
    if (l->n_s32s == 1)
        v.number = l->s32s[0];
    else if (l->n_s64s == 1)
        v.number = l->s64s[0];
    else if (l->n_u32s == 1)
        v.number = l->u32s[0];
    else if (l->n_u64s == 1 && l->u64s[0] <= INT64_MAX)
        v.number = (int64_t)l->u64s[0];
    else
        return unknown;
    return v;
}

/* A + B, or A - B with SIGN -1. */
static value sum_of(value a, value b, int sign)
{
    value v = a;
    int64_t addend = b.number;
    if (a.kind == CONSTANT && b.kind == ELEMENT && sign > 0)
        return sum_of(b, a, sign);
    if (a.kind == UNKNOWN || b.kind != CONSTANT)
        return unknown;
    if ((sign < 0 && __builtin_sub_overflow((int64_t)0, addend, &addend)) ||
        __builtin_add_overflow(a.number, addend, &v.number))
        return unknown;
    return v;
}

static bool is_any(const hlo_instruction *i, const char *const *opcodes)
{
    for (; *opcodes; opcodes++)
        if (hlo_is(i, *opcodes))
            return true;
    return false;
}

/* Element INDEX of the tuple I. */
static value follow_element(search *s, const frame *f, const hlo_instruction *i, int64_t index)
{
    static const char *const same[] = {"copy", "opt-barrier", "optimization-barrier", NULL};
    value v = unknown;
    if (!i || ++s->steps > MOST_STEPS || s->depth >= MOST_DEPTH)
        return unknown;
    s->depth++;
    if (hlo_is(i, "tuple") && index >= 0) {
        v = follow(s, f, hlo_operand(s->module, f->computation, i, (size_t)index));
    } else if (is_any(i, same)) {
        v = follow_element(s, f, hlo_operand(s->module, f->computation, i, 0), index);
    } else if (hlo_is(i, "parameter") && !f->call) {
        v = (value){.kind = ELEMENT, .index = index};
    } else if (hlo_is(i, "parameter") && i->parameter_number >= 0) {
        v = follow_element(
            s, f->outer,
            hlo_operand(s->module, f->outer->computation, f->call, (size_t)i->parameter_number),
            index);
    } else if (hlo_is(i, "fusion") || hlo_is(i, "call")) {
        const frame inner = {hlo_called(s->module, i, 0), i, f};
        if (inner.computation != HLO_NONE)
            v = follow_element(s, &inner, hlo_root(s->module, inner.computation), index);
    }
    s->depth--;
    return v;
}

/* The value of I, which stands in F. */
static value follow_one(search *s, const frame *f, const hlo_instruction *i)
{
    static const char *const same[] = {"copy",       "bitcast",   "reshape", "convert",
                                       "copy-start", "copy-done", NULL};
    const hlo_instruction *first = hlo_operand(s->module, f->computation, i, 0);
    const bool adds = hlo_is(i, "add"), subtracts = hlo_is(i, "subtract");
    if (hlo_is(i, "constant"))
        return constant_of(i);
    if (hlo_is(i, "get-tuple-element"))
        return follow_element(s, f, first, i->tuple_index);
    if (is_any(i, same))
        return follow(s, f, first);
    if (adds || subtracts)
        return sum_of(follow(s, f, first),
                      follow(s, f, hlo_operand(s->module, f->computation, i, 1)), adds ? 1 : -1);
    if (hlo_is(i, "parameter") && f->call && i->parameter_number >= 0)
        return follow(
            s, f->outer,
            hlo_operand(s->module, f->outer->computation, f->call, (size_t)i->parameter_number));
    if (hlo_is(i, "fusion") || hlo_is(i, "call")) {
        const frame inner = {hlo_called(s->module, i, 0), i, f};
        if (inner.computation != HLO_NONE)
            return follow(s, &inner, hlo_root(s->module, inner.computation));
    }
    return unknown;
}

static value follow(search *s, const frame *f, const hlo_instruction *i)
{
    if (!i || ++s->steps > MOST_STEPS || s->depth >= MOST_DEPTH)
        return unknown;
    s->depth++;
    const value v = follow_one(s, f, i);
    s->depth--;
    return v;
}

/* ---- the condition ------------------------------------------------------------------------- */

typedef struct comparison {
    value left, right;
    const char *direction; /* "LT", ... */
} comparison;

/* The comparison that I, which stands in F, is. */
static bool find_comparison(search *s, const frame *f, const hlo_instruction *i, comparison *c)
{
    static const char *const same[] = {"copy", "bitcast", "copy-start", "copy-done", NULL};
    bool found = false;
    if (!i || ++s->steps > MOST_STEPS || s->depth >= MOST_DEPTH)
        return false;
    s->depth++;
    if (hlo_is(i, "compare")) {
        c->left = follow(s, f, hlo_operand(s->module, f->computation, i, 0));
        c->right = follow(s, f, hlo_operand(s->module, f->computation, i, 1));
        c->direction = i->comparison_direction;
        found = true;
    } else if (is_any(i, same)) {
        found = find_comparison(s, f, hlo_operand(s->module, f->computation, i, 0), c);
    } else if (hlo_is(i, "fusion") || hlo_is(i, "call")) {
        const frame inner = {hlo_called(s->module, i, 0), i, f};
        found = inner.computation != HLO_NONE &&
                find_comparison(s, &inner, hlo_root(s->module, inner.computation), c);
    }
    s->depth--;
    return found;
}

/* ---- counting ---------------------------------------------------------------- */

/* How often X, from which STEP goes on, is below LIMIT; -1: for ever. */
static double count_below(int64_t x, int64_t step, int64_t limit)
{
    int64_t distance;
    if (x >= limit)
        return 0;
    if (step <= 0 || __builtin_sub_overflow(limit, x, &distance))
        return -1;
    return (double)(distance / step + (distance % step != 0));
}

static bool negate(int64_t *x)
{
    return !__builtin_sub_overflow((int64_t)0, *x, x);
}

/* How often "X DIRECTION LIMIT" holds, where STEP is added to X each time; -1: that has no end, or
 * no number. */
static double count(int64_t x, int64_t step, const char *direction, int64_t limit)
{
    int64_t distance;
    if (strcmp(direction, "NE") == 0 && step < 0)
        return negate(&x) && negate(&step) && negate(&limit) ? count(x, step, "NE", limit) : -1;
    if (strcmp(direction, "NE") == 0) {
        if (x == limit)
            return 0;
        if (step == 0 || x > limit || __builtin_sub_overflow(limit, x, &distance) ||
            distance % step != 0)
            return -1;
        return (double)(distance / step);
    }
    if (strcmp(direction, "EQ") == 0)
        return x != limit ? 0 : step != 0 ? 1 : -1;
    if (strcmp(direction, "GT") == 0 || strcmp(direction, "GE") == 0)
        return negate(&x) && negate(&step) && negate(&limit)
                   ? count(x, step, direction[1] == 'T' ? "LT" : "LE", limit)
                   : -1;
    if (strcmp(direction, "LE") == 0 && __builtin_add_overflow(limit, (int64_t)1, &limit))
        return -1;
    return strcmp(direction, "LT") == 0 || strcmp(direction, "LE") == 0
               ? count_below(x, step, limit)
               : -1;
}

static const char *swapped(const char *direction)
{
    static const char *const pairs[][2] = {{"LT", "GT"}, {"GT", "LT"}, {"LE", "GE"}, {"GE", "LE"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(direction, pairs[i][0]) == 0)
            return pairs[i][1];
    return direction;
}

/* ---- the loop ---------------------------------------------------------------- */

bool hlo_loop_parts(const hlo_module *module, const hlo_instruction *loop, size_t *body,
                    size_t *condition)
{
    *body = hlo_called(module, loop, 0);
    *condition = hlo_called(module, loop, 1);
    return *body != HLO_NONE && *condition != HLO_NONE;
}

/* A side of the comparison: where it starts, and what a trip adds to it. */
typedef struct side {
    int64_t start, step;
} side;

/* NULL, or why V is no side. */
static const char *read_side(search *s, const frame *outside, const hlo_instruction *loop,
                             size_t body, value v, side *out)
{
    if (v.kind == CONSTANT) {
        *out = (side){v.number, 0};
        return NULL;
    }
    if (v.kind != ELEMENT)
        return "its condition compares what is neither carried nor constant";
    const frame within = {.computation = body};
    const value next = follow_element(s, &within, hlo_root(s->module, body), v.index);
    if (next.kind != ELEMENT || next.index != v.index)
        return "its body does not add a constant to what the condition compares";
    const value first =
        follow_element(s, outside, hlo_operand(s->module, outside->computation, loop, 0), v.index);
    if (first.kind != CONSTANT)
        return "what its condition compares does not start from a constant";
    if (__builtin_add_overflow(first.number, v.number, &out->start))
        return "what its condition compares is too large";
    out->step = next.number;
    return NULL;
}

static const char *find_trips(search *s, size_t computation, const hlo_instruction *loop,
                              double *trips)
{
    size_t body, condition;
    comparison c = {.direction = ""};
    side left, right;
    const frame outside = {.computation = computation};
    if (!hlo_loop_parts(s->module, loop, &body, &condition))
        return "it has no body, or no condition";
    const frame within = {.computation = condition};
    if (!find_comparison(s, &within, hlo_root(s->module, condition), &c))
        return "its condition is not one comparison";
    const char *why = read_side(s, &outside, loop, body, c.left, &left);
    if (!why)
        why = read_side(s, &outside, loop, body, c.right, &right);
    if (why)
        return why;
    if (left.step != 0 && right.step != 0)
        return "both sides of its condition change";
    *trips = right.step != 0 ? count(right.start, right.step, swapped(c.direction), left.start)
                             : count(left.start, left.step, c.direction, right.start);
    if (*trips > MOST_TRIPS)
        *trips = -1;
    return *trips < 0 ? "its condition would hold for ever" : NULL;
}

double hlo_trips(const hlo_module *module, size_t computation, const hlo_instruction *loop,
                 const char **why)
{
    search s = {.module = module};
    double trips = -1;
    *why = find_trips(&s, computation, loop, &trips);
    if (*why)
        trips = hlo_stated_trips(loop);
    if (trips > MOST_TRIPS)
        trips = -1;
    if (trips >= 0)
        *why = "";
    return trips;
}
