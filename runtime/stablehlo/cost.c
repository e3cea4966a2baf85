/*
 * cost.c - what statements compute and move, by the types that they say, and how often each runs.
 *
 * A model of ops and not of a device: it knows no cache and no kernel, and of fusion only that ops
 * on elements are fused.
 */
#include "runtime/stablehlo/stablehlo_priv.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MET   4000000
#define MOST_CALLS 64

/* ---- types -------------------------------------------------------------------------------------
 */

#define MOST_TENSORS 16 /* of a statement that are read; of more the last results are left out */

/* A tensor's type. */
typedef struct tensor {
    double elements, bytes;
    double dims[SHLO_MOST_RANK];
    size_t rank;
} tensor;

/* What stands behind a statement's last " : ". */
typedef struct signature {
    tensor list[MOST_TENSORS];
    size_t count, operands; /* OPERANDS of them stand before the arrow; SIZE_MAX: there is none */
} signature;

/* Bits of the element type at AT, which ends before END: "f32", "ui8", "complex<f64>". */
static double bits_of(const char *at, const char *end)
{
    static const char complex[] = "complex<";
    double of = 0;
    if ((size_t)(end - at) > strlen(complex) && strncmp(at, complex, strlen(complex)) == 0)
        return 2 * bits_of(at + strlen(complex), end);
    while (at < end && (*at < '0' || *at > '9'))
        at++;
    for (; at < end && *at >= '0' && *at <= '9' && of < 1024; at++)
        of = 10 * of + (*at - '0');
    return of < 8 && of > 0 ? 8 : of;
}

/* The type "4x16xf32" between AT and END; false: its size is unknown. */
static bool read_tensor(const char *at, const char *end, tensor *t)
{
    *t = (tensor){.elements = 1};
    while (at < end && *at >= '0' && *at <= '9') {
        double dim = 0;
        const char *digit = at;
        for (; digit < end && *digit >= '0' && *digit <= '9'; digit++)
            dim = 10 * dim + (*digit - '0');
        if (digit == end || *digit != 'x' || t->rank == SHLO_MOST_RANK)
            return false;
        t->dims[t->rank++] = dim;
        t->elements *= dim;
        at = digit + 1;
    }
    t->bytes = t->elements * bits_of(at, end) / 8;
    return at < end && *at != '?';
}

/* The end of the angle bracket that opens before AT; END: it does not end. */
static const char *behind_angle(const char *at, const char *end)
{
    int depth = 1;
    for (; at < end; at++) {
        depth += *at == '<';
        depth -= *at == '>' && at[-1] != '-';
        if (depth == 0)
            return at;
    }
    return end;
}

/* Where the types of TEXT begin: behind its last " : " outside of quotes. */
static const char *types_of(shlo_piece text)
{
    const char *found = NULL;
    bool quoted = false;
    for (size_t i = 0; i + 3 <= text.length; i++) {
        quoted ^= text.at[i] == '"' && (i == 0 || text.at[i - 1] != '\\');
        if (!quoted && strncmp(text.at + i, " : ", 3) == 0)
            found = text.at + i + 3;
    }
    return found;
}

static void read_signature(shlo_piece text, signature *s)
{
    static const char word[] = "tensor<";
    const char *at = types_of(text), *end = text.at + text.length;
    *s = (signature){.operands = SIZE_MAX};
    for (; at && at < end && s->count < MOST_TENSORS; at++) {
        if (*at == '-' && at + 1 < end && at[1] == '>' && s->operands == SIZE_MAX)
            s->operands = s->count;
        if ((size_t)(end - at) <= strlen(word) || strncmp(at, word, strlen(word)) != 0)
            continue;
        at += strlen(word);
        const char *behind = behind_angle(at, end);
        if (!read_tensor(at, behind, &s->list[s->count]))
            s->list[s->count] = (tensor){.elements = 0};
        s->count++;
        at = behind;
    }
}

/* Sums of the operands' and of the results' bytes. Without an arrow all have the types of the
 * results. */
static double operand_bytes(const signature *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->count && i < s->operands; i++)
        sum += s->list[i].bytes;
    return sum;
}

static double result_bytes(const signature *s)
{
    double sum = 0;
    for (size_t i = s->operands == SIZE_MAX ? 0 : s->operands; i < s->count; i++)
        sum += s->list[i].bytes;
    return sum;
}

/* ---- products --------------------------------------------------------------------------------
 */

/* WORD in TEXT; NULL: it is not there. */
static const char *find_word(shlo_piece text, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= text.length; i++)
        if (memcmp(text.at + i, word, length) == 0)
            return text.at + i + length;
    return NULL;
}

/* The product of T's dimensions that the list of numbers at AT, "[0, 2]", names. */
static double product_of(const tensor *t, const char *at, const char *end)
{
    double product = 1;
    while (at < end && *at != '[')
        at++;
    for (at++; at < end && *at != ']'; at++) {
        size_t index = 0;
        if (*at < '0' || *at > '9')
            continue;
        for (; at < end && *at >= '0' && *at <= '9' && index < SHLO_MOST_RANK; at++)
            index = 10 * index + (size_t)(*at - '0');
        product *= index < t->rank ? t->dims[index] : 1;
        at--;
    }
    return product;
}

/* Multiplications for each element of the result. */
static double dot_depth(shlo_piece text, const signature *s)
{
    const tensor *left = &s->list[0];
    const char *at = find_word(text, "contracting_dims = ");
    if (!at)
        at = find_word(text, "lhs_contracting_dimensions = ");
    if (at)
        return product_of(left, at, text.at + text.length);
    return left->rank ? left->dims[left->rank - 1] : 1;
}

/* The place of the output feature among the kernel's dimensions: of "[b, 0, 1, f]x[0, 1, i, o]". */
static double convolution_depth(shlo_piece text, const signature *s)
{
    const tensor *kernel = &s->list[1];
    const char *at = find_word(text, "]x["), *end = text.at + text.length;
    size_t index = 0;
    for (; at && at < end && *at != ']' && *at != 'o'; at++)
        index += *at == ',';
    return at && at < end && *at == 'o' && index < kernel->rank && kernel->dims[index] > 0
               ? kernel->elements / kernel->dims[index]
               : 0;
}

/* ---- one statement -----------------------------------------------------------------------------
 */

typedef enum sort {
    SORT_ELEMENTS, /* and all that is not named below */
    SORT_FREE,
    SORT_DOT,
    SORT_CONVOLUTION,
    SORT_COPY,   /* reads what it writes */
    SORT_UPDATE, /* reads and writes its second operand, or with more its last one */
    SORT_READ    /* reads its operands */
} sort;

static sort sort_of(shlo_piece op)
{
    static const struct {
        const char *name;
        sort sort;
    } rows[] = {
        {"constant", SORT_FREE},
        {"iota", SORT_FREE},
        {"reshape", SORT_FREE},
        {"broadcast_in_dim", SORT_FREE},
        {"broadcast", SORT_FREE},
        {"bitcast_convert", SORT_FREE},
        {"optimization_barrier", SORT_FREE},
        {"tuple", SORT_FREE},
        {"get_tuple_element", SORT_FREE},
        {"get_dimension_size", SORT_FREE},
        {"after_all", SORT_FREE},
        {"create_token", SORT_FREE},
        {"return", SORT_FREE},
        {"while", SORT_FREE},
        {"case", SORT_FREE},
        {"if", SORT_FREE},
        {"call", SORT_FREE},
        {"dot_general", SORT_DOT},
        {"dot", SORT_DOT},
        {"convolution", SORT_CONVOLUTION},
        {"transpose", SORT_COPY},
        {"slice", SORT_COPY},
        {"dynamic_slice", SORT_COPY},
        {"concatenate", SORT_COPY},
        {"pad", SORT_COPY},
        {"reverse", SORT_COPY},
        {"gather", SORT_COPY},
        {"dynamic_gather", SORT_COPY},
        {"dynamic_update_slice", SORT_UPDATE},
        {"scatter", SORT_UPDATE},
        {"reduce", SORT_READ},
        {"reduce_window", SORT_READ},
        {"select_and_scatter", SORT_READ},
        {"sort", SORT_READ},
        {"custom_call", SORT_READ},
        {"all_reduce", SORT_READ},
        {"all_gather", SORT_READ},
        {"all_to_all", SORT_READ},
        {"reduce_scatter", SORT_READ},
        {"collective_permute", SORT_READ},
    };
    /* "stablehlo.add", "func.call", "call". */
    size_t from = op.length;
    while (from > 0 && op.at[from - 1] != '.')
        from--;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == op.length - from &&
            memcmp(op.at + from, rows[i].name, op.length - from) == 0)
            return rows[i].sort;
    return SORT_ELEMENTS;
}

static bool is_op(const shlo_graph *g, uint32_t node, const char *name)
{
    const shlo_piece op = g->ops[g->nodes[node].op];
    const size_t length = strlen(name);
    return op.length >= length && memcmp(op.at + op.length - length, name, length) == 0 &&
           (op.length == length || op.at[op.length - length - 1] == '.');
}

shlo_cost shlo_node_cost(const shlo_graph *g, uint32_t index)
{
    const shlo_node *node = &g->nodes[index];
    signature s;
    shlo_cost cost = {0, 0};
    const sort of = node->kind == SHLO_OP ? sort_of(g->ops[node->op]) : SORT_FREE;
    if (of == SORT_FREE)
        return cost;
    read_signature(node->text, &s);
    if (s.count == 0)
        return cost;
    const size_t operands = s.operands == SIZE_MAX ? s.count : s.operands;
    const tensor *result = &s.list[s.count - 1];
    switch (of) {
    case SORT_DOT:
    case SORT_CONVOLUTION:
        if (operands < 2)
            break;
        cost.bytes = operand_bytes(&s) + result_bytes(&s);
        cost.flops =
            2 * result->elements *
            (of == SORT_DOT ? dot_depth(node->text, &s) : convolution_depth(node->text, &s));
        break;
    case SORT_COPY:
        cost.bytes = 2 * result_bytes(&s);
        break;
    case SORT_UPDATE:
        if (operands >= 2)
            cost.bytes = 2 * s.list[is_op(g, index, "scatter") ? operands - 1 : 1].bytes;
        break;
    case SORT_READ:
        cost.bytes = operand_bytes(&s) + (s.operands == SIZE_MAX ? 0 : result_bytes(&s));
        cost.flops = s.list[0].elements;
        break;
    case SORT_ELEMENTS:
    case SORT_FREE:
        cost.bytes = result_bytes(&s);
        cost.flops = result->elements;
        break;
    }
    return cost;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

typedef struct walk {
    const shlo_graph *g;
    shlo_meet *meet;
    void *with;
    uint32_t calls[MOST_CALLS];
    size_t depth, met, unknown_loops;
    bool cut;
} walk;

/* The node behind all that stands in NODE. */
static uint32_t behind(const shlo_graph *g, uint32_t node)
{
    uint32_t at = node + 1;
    while (at < g->node_count && g->nodes[at].depth > g->nodes[node].depth)
        at++;
    return at;
}

/* The name behind the first "@" of TEXT. */
static shlo_piece symbol_of(shlo_piece text)
{
    size_t from = 0;
    while (from < text.length && text.at[from] != '@')
        from++;
    from += from < text.length;
    size_t to = from;
    while (to < text.length && !strchr("( ,):\n\t{", text.at[to]))
        to++;
    return (shlo_piece){text.at + from, to - from};
}

/* The function called NAME; SHLO_NONE: there is none. */
static uint32_t function_of(const shlo_graph *g, shlo_piece name)
{
    for (uint32_t i = 0; name.length && i < g->node_count; i++) {
        if (g->nodes[i].kind != SHLO_FUNCTION)
            continue;
        const shlo_piece own = symbol_of(g->nodes[i].text);
        if (own.length == name.length && memcmp(own.at, name.at, name.length) == 0)
            return i;
    }
    return SHLO_NONE;
}

/* The number of the constant NODE, "dense<10>"; 0: it is none. */
static double constant_of(const shlo_graph *g, uint32_t node)
{
    const shlo_piece text = g->nodes[node].text;
    const char *at = is_op(g, node, "constant") ? find_word(text, "dense<") : NULL;
    double value = 0;
    for (; at && at < text.at + text.length && *at >= '0' && *at <= '9'; at++)
        value = 10 * value + (*at - '0');
    return value;
}

/* How often the loop NODE runs: its first region compares a counter from 0 with a constant. 0:
 * unknown. */
static double trips_of(const shlo_graph *g, uint32_t node)
{
    const uint32_t end = behind(g, node);
    for (uint32_t i = node + 1; i < end; i++) {
        const shlo_node *one = &g->nodes[i];
        if (one->parent != node || one->region != 0 || !is_op(g, i, "compare"))
            continue;
        for (uint32_t k = 0; k < one->operand_count; k++) {
            const uint32_t of = g->operands[one->first_operand + k].node;
            const double value = of < g->node_count ? constant_of(g, of) : 0;
            if (value > 0)
                return value;
        }
    }
    return 0;
}

static void walk_range(walk *w, uint32_t from, uint32_t to, double times);

static void walk_call(walk *w, uint32_t node, double times)
{
    const uint32_t function = function_of(w->g, symbol_of(w->g->nodes[node].text));
    if (function == SHLO_NONE)
        return;
    if (w->depth == MOST_CALLS) {
        w->cut = true;
        return;
    }
    w->calls[w->depth++] = node;
    walk_range(w, function + 1, behind(w->g, function), times);
    w->depth--;
}

static void walk_range(walk *w, uint32_t from, uint32_t to, double times)
{
    for (uint32_t i = from; i < to && !w->cut; i++) {
        if (w->g->nodes[i].kind != SHLO_OP)
            continue;
        w->cut = ++w->met > MOST_MET;
        const shlo_met met = {i, times, w->calls, w->depth};
        w->meet(w->with, w->g, &met);
        if (is_op(w->g, i, "call")) {
            walk_call(w, i, times);
        } else if (is_op(w->g, i, "while")) {
            const double trips = trips_of(w->g, i);
            w->unknown_loops += trips == 0;
            walk_range(w, i + 1, behind(w->g, i), times * (trips > 0 ? trips : 1));
            i = behind(w->g, i) - 1;
        }
    }
}

bool shlo_walk(const shlo_graph *g, shlo_meet *meet, void *with, size_t *unknown_loops)
{
    static const char name[] = "main";
    walk w = {.g = g, .meet = meet, .with = with};
    const uint32_t function = function_of(g, (shlo_piece){name, strlen(name)});
    if (function != SHLO_NONE)
        walk_range(&w, function + 1, behind(g, function), 1);
    *unknown_loops = w.unknown_loops;
    return function != SHLO_NONE && !w.cut;
}
