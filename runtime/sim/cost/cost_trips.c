/*
 * cost_trips.c - how often a loop runs, where the text shows it: its condition compares an
 * argument with a constant, its body adds a constant to that argument, and it starts
 * from a constant. JAX's fori_loop and scan come out so. Condition and body may call
 * functions for it; constants may be arguments that the body passes on unchanged.
 */
#include "runtime/sim/cost/weighing_priv.h"

#include <math.h>
#include <string.h>

#define MAX_CALLS 8

/* A value, seen through calls: CALLS lead to where it is. */
typedef struct place {
    int value;
    const sim_op *calls[MAX_CALLS];
    int depth;
} place;

static int index_of(const int *list, int count, int value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value)
            return i;
    return -1;
}

/* Follows P into functions that give it, and out of functions that it is an argument of. */
static void follow(const sim_weighing *w, place *p)
{
    for (int step = 0; step < 4 * MAX_CALLS; step++) {
        const sim_op *op = w->values[p->value].op;
        if (op && op->opcode == SIM_OP_CALL && p->depth < MAX_CALLS) {
            int result = p->value - op->results[0];
            p->calls[p->depth++] = op;
            p->value = op->callee->body.results[result];
        } else if (!op && p->depth > 0) {
            const sim_op *call = p->calls[p->depth - 1];
            const sim_block *body = &call->callee->body;
            int argument = index_of(body->arguments, body->argument_count, p->value);
            if (argument < 0)
                return;
            p->depth--;
            p->value = call->operands[argument];
        } else {
            return;
        }
    }
}

static place operand_of(const sim_weighing *w, const place *p, int index)
{
    place operand = *p;
    operand.value = w->values[p->value].op->operands[index];
    follow(w, &operand);
    return operand;
}

/* The integer that P is. */
static bool integer_of(const sim_weighing *w, const place *p, double *integer)
{
    const sim_op *op = w->values[p->value].op;
    const sim_type *type = sim_weigh_type(w, p->value);
    bn_class class = bn_dtype_class(type->dtype);
    if (!op || op->opcode != SIM_OP_CONSTANT || op->constant_bytes != bn_dtype_bytes(type->dtype) ||
        (class != BN_SIGNED && class != BN_UNSIGNED))
        return false;
    uint64_t bits = 0, sign = (uint64_t)1 << (8 * op->constant_bytes - 1);
    memcpy(&bits, op->constant, op->constant_bytes);
    bool negative = class == BN_SIGNED && (bits & sign);
    if (negative)
        bits = (bits ^ sign) - sign;
    *integer = negative ? (double)(int64_t)bits : (double)bits;
    return true;
}

/* Argument of REGION that P is, or -1. */
static int argument_of(const sim_block *region, const place *p)
{
    return p->depth ? -1 : index_of(region->arguments, region->argument_count, p->value);
}

static place result_of(const sim_weighing *w, const sim_block *region, int index)
{
    place p = {.value = region->results[index]};
    follow(w, &p);
    return p;
}

/* The integer that P is in the condition of LOOP: a constant, or an argument that
 * starts as one and stays. */
static bool bound_of(const sim_weighing *w, const sim_op *loop, const place *p, double *bound)
{
    int argument = argument_of(&loop->regions[0], p);
    if (argument < 0)
        return integer_of(w, p, bound);
    place handed = result_of(w, &loop->regions[1], argument);
    place start = {.value = loop->operands[argument]};
    return argument_of(&loop->regions[1], &handed) == argument && integer_of(w, &start, bound);
}

/* The step that the body adds to ARGUMENT. */
static bool step_of(const sim_weighing *w, const sim_op *loop, int argument, double *step)
{
    place p = result_of(w, &loop->regions[1], argument);
    const sim_op *op = w->values[p.value].op;
    if (!op || (op->opcode != SIM_OP_ADD && op->opcode != SIM_OP_SUBTRACT))
        return false;
    place a = operand_of(w, &p, 0), b = operand_of(w, &p, 1);
    if (argument_of(&loop->regions[1], &a) == argument && integer_of(w, &b, step)) {
        *step = op->opcode == SIM_OP_SUBTRACT ? -*step : *step;
        return true;
    }
    return op->opcode == SIM_OP_ADD && argument_of(&loop->regions[1], &b) == argument &&
           integer_of(w, &a, step);
}

/* Steps from START while "value DIRECTION bound" holds. */
static double count_trips(const char *direction, double start, double bound, double step)
{
    double distance = bound - start, trips = ceil(distance / step);
    if (step == 0)
        return -1;
    if (strcmp(direction, "NE") == 0)
        return distance / step == trips && trips >= 0 ? trips : -1;
    bool up = direction[0] == 'L', equal = direction[1] == 'E';
    if ((direction[0] != 'L' && direction[0] != 'G') || up != (step > 0))
        return -1;
    if (equal)
        trips = floor(distance / step) + 1;
    return trips > 0 ? trips : 0;
}

double sim_weigh_trips(const sim_weighing *w, const sim_op *op)
{
    static const char *const mirrored[][2] = {
        {"LT", "GT"}, {"LE", "GE"}, {"GT", "LT"}, {"GE", "LE"}, {"NE", "NE"}};
    place p = result_of(w, &op->regions[0], 0);
    const sim_op *compare = w->values[p.value].op;
    if (!compare || compare->opcode != SIM_OP_COMPARE)
        return -1;
    const char *direction = sim_attribute_find(compare, "comparison_direction")->word;
    place sides[2] = {operand_of(w, &p, 0), operand_of(w, &p, 1)};
    for (int side = 0; side < 2; side++) {
        double start, bound, step;
        int argument = argument_of(&op->regions[0], &sides[side]);
        const char *toward = direction;
        for (size_t i = 0; side && i < sizeof mirrored / sizeof *mirrored; i++)
            if (strcmp(direction, mirrored[i][0]) == 0)
                toward = mirrored[i][1];
        place first = {.value = argument < 0 ? 0 : op->operands[argument]};
        if (argument >= 0 && bound_of(w, op, &sides[1 - side], &bound) &&
            step_of(w, op, argument, &step) && integer_of(w, &first, &start))
            return count_trips(toward, start, bound, step);
    }
    return -1;
}
