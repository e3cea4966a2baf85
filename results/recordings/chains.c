/*
 * chains.c - which buffers replace which: links, chains of them, and series of chains, as state.c
 * has them in words.
 */
#include "results/recordings/state_priv.h"

#include <stdlib.h>

/* A series has so many marks, and of several chains so many each: activations have fewer. */
#define LEAST_SERIES 3
#define LEAST_EACH   4
/* Places of chains at which the weights of layers are looked for. */
#define MOST_PLACES  32

/* ---- links -------------------------------------------------------------------------------- */

static bool start_chain(rec_finder *f, uint32_t buffer, uint32_t born)
{
    if (!bn_reserve(&f->chains, f->chain_count + 1, &f->chain_room, sizeof *f->chains))
        return false;
    f->chain_of[buffer] = (uint32_t)f->chain_count;
    f->chains[f->chain_count++] =
        (rec_chain){.bytes = rec_type_bytes(&f->p->types[f->p->buffers[buffer].type]),
                    .born = born,
                    .tail = buffer,
                    .next = REC_NONE,
                    .group = REC_NONE};
    return true;
}

static int by_age(const void *a, const void *b)
{
    const rec_operand *x = a, *y = b;
    if (x->type != y->type)
        return x->type > y->type ? 1 : -1;
    return rec_order(x->born, y->born, x->index, y->index);
}

static int by_index(const void *a, const void *b)
{
    const rec_operand *x = a, *y = b;
    return rec_order(x->type, y->type, x->index, y->index);
}

static int by_buffer(const void *a, const void *b)
{
    const rec_operand *x = a, *y = b;
    return rec_order(x->buffer, y->buffer, x->index, y->index);
}

/* The arguments whose last use the execution at AT is, each once; *COUNT of them. False without
 * memory. */
static bool take_arguments(rec_finder *f, uint32_t at, size_t *count)
{
    const uint32_t index = f->q->order[at];
    const rec_execution *e = &f->p->executions[index];
    const uint32_t device = rec_finder_device(f, e);
    size_t made = 0;
    *count = 0;
    if (!bn_reserve(&f->arguments, e->arguments + 1, &f->argument_room, sizeof *f->arguments))
        return false;
    for (uint32_t i = 0; i < e->arguments; i++) {
        const uint32_t buffer = rec_argument(f->p, e, device, i);
        if (buffer == REC_NONE || f->p->buffers[buffer].type == REC_NONE ||
            f->p->buffers[buffer].last_use != index)
            continue;
        if (f->chain_of[buffer] == REC_NONE && !start_chain(f, buffer, 0))
            return false;
        f->arguments[made++] = (rec_operand){f->p->buffers[buffer].type,
                                             f->chains[f->chain_of[buffer]].born, i, buffer};
    }
    qsort(f->arguments, made, sizeof *f->arguments, by_buffer);
    for (size_t i = 0; i < made; i++)
        if (i == 0 || f->arguments[i].buffer != f->arguments[*count - 1].buffer)
            f->arguments[(*count)++] = f->arguments[i];
    qsort(f->arguments, *count, sizeof *f->arguments, by_age);
    return true;
}

/* The results of the execution at AT that others take; likewise. */
static bool take_results(rec_finder *f, uint32_t at, size_t *count)
{
    const rec_execution *e = &f->p->executions[f->q->order[at]];
    const uint32_t device = rec_finder_device(f, e);
    *count = 0;
    if (!bn_reserve(&f->results, e->results + 1, &f->result_room, sizeof *f->results))
        return false;
    for (uint32_t i = 0; i < e->results; i++) {
        const uint32_t buffer = rec_result(f->p, e, device, i);
        if (buffer != REC_NONE && f->p->buffers[buffer].type != REC_NONE &&
            f->p->buffers[buffer].uses > 0)
            f->results[(*count)++] = (rec_operand){f->p->buffers[buffer].type, 0, i, buffer};
    }
    qsort(f->results, *count, sizeof *f->results, by_index);
    return true;
}

/* BUFFER, a result at AT, replaces the last one of CHAIN. */
static bool add_link(rec_finder *f, uint32_t of, uint32_t buffer, uint32_t at)
{
    if (!bn_reserve(&f->links, f->link_count + 1, &f->link_room, sizeof *f->links))
        return false;
    f->chain_of[buffer] = of;
    f->chains[of].links++;
    f->chains[of].tail = buffer;
    f->links[f->link_count++] = (rec_link){of, at};
    return true;
}

/* Links ARGUMENTS to RESULTS, all of one type: the oldest ones, in the order of arguments. */
static bool link_type(rec_finder *f, uint32_t at, rec_operand *arguments, size_t argument_count,
                      const rec_operand *results, size_t result_count)
{
    const size_t linked = argument_count < result_count ? argument_count : result_count;
    qsort(arguments, linked, sizeof *arguments, by_index);
    for (size_t i = 0; i < result_count; i++)
        if (i < linked ? !add_link(f, f->chain_of[arguments[i].buffer], results[i].buffer, at)
                       : !start_chain(f, results[i].buffer, at + 1))
            return false;
    return true;
}

static bool link_execution(rec_finder *f, uint32_t at)
{
    size_t arguments = 0, results = 0, a = 0;
    if (!take_arguments(f, at, &arguments) || !take_results(f, at, &results))
        return false;
    for (size_t r = 0, to; r < results; r = to) {
        const uint32_t type = f->results[r].type;
        for (to = r; to < results && f->results[to].type == type;)
            to++;
        while (a < arguments && f->arguments[a].type < type)
            a++;
        size_t end_of = a;
        while (end_of < arguments && f->arguments[end_of].type == type)
            end_of++;
        if (!link_type(f, at, f->arguments + a, end_of - a, f->results + r, to - r))
            return false;
        a = end_of;
    }
    return true;
}

/* ---- chains ------------------------------------------------------------------------------- */

/* The position of the last execution that takes BUFFER; REC_NONE: it is not in the sequence. */
static uint32_t last_use(const rec_finder *f, uint32_t buffer)
{
    const uint32_t execution = f->p->buffers[buffer].last_use;
    uint32_t low = 0, high = f->q->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (f->q->order[middle] < execution)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->q->count && f->q->order[low] == execution ? low : REC_NONE;
}

/* Sorts the links by chain, those of one in order, and finds each chain's name and marks. The last
 * step of a loop is a mark, too, though nothing takes what it makes. */
static bool name_chains(rec_finder *f)
{
    uint32_t *at = malloc((f->link_count + 1) * sizeof *at);
    uint32_t *counts = calloc(f->names->name_count + 1, sizeof *counts);
    f->marks = malloc((f->link_count + f->chain_count + 1) * sizeof *f->marks);
    const bool made = at && counts && f->marks;
    uint32_t sum = 0, marks = 0;
    for (size_t i = 0; made && i < f->chain_count; i++) {
        f->chains[i].link = sum;
        sum += f->chains[i].links;
        f->chains[i].links = 0;
    }
    for (size_t i = 0; made && i < f->link_count; i++) {
        rec_chain *c = &f->chains[f->links[i].chain];
        at[c->link + c->links++] = f->links[i].at;
    }
    for (size_t i = 0; made && i < f->chain_count; i++) {
        rec_chain *c = &f->chains[i];
        c->name = REC_NONE;
        for (uint32_t k = 0; k < c->links; k++) {
            const uint32_t name = rec_finder_name(f, at[c->link + k]);
            counts[name]++;
            if (c->name == REC_NONE || counts[name] > counts[c->name])
                c->name = name;
        }
        c->mark = marks;
        for (uint32_t k = 0; k < c->links; k++) {
            counts[rec_finder_name(f, at[c->link + k])] = 0;
            if (rec_finder_name(f, at[c->link + k]) == c->name)
                f->marks[marks++] = at[c->link + k];
        }
        const uint32_t over = c->links ? last_use(f, c->tail) : REC_NONE;
        if (over != REC_NONE && rec_finder_name(f, over) == c->name)
            f->marks[marks++] = over;
        c->marks = marks - c->mark;
    }
    for (size_t i = 0; made && i < f->link_count; i++)
        f->links[i].at = at[i]; /* now those of a chain stand together */
    free(at);
    free(counts);
    return made;
}

/* ---- series ------------------------------------------------------------------------------- */

typedef struct ranked {
    uint64_t bytes;
    uint32_t name, from, chain;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->name != y->name)
        return x->name > y->name ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? 1 : -1;
    return rec_order(x->from, y->from, x->chain, y->chain);
}

/* The chains that have two links or more, sorted; malloc. */
static ranked *rank_chains(const rec_finder *f, size_t *count)
{
    ranked *list = malloc((f->chain_count + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < f->chain_count; i++)
        if (f->chains[i].links >= 2)
            list[(*count)++] = (ranked){f->chains[i].bytes, f->chains[i].name,
                                        f->marks[f->chains[i].mark], (uint32_t)i};
    if (list)
        qsort(list, *count, sizeof *list, by_key);
    return list;
}

static uint32_t end_of(const rec_finder *f, const rec_chain *c)
{
    return f->marks[c->mark + c->marks - 1];
}

/* Moves the last item of HEAP, series by their ends, to its place. */
static void heap_up(const rec_finder *f, uint32_t *heap, size_t at)
{
    while (at > 0 && f->series[heap[at]].end < f->series[heap[(at - 1) / 2]].end) {
        const uint32_t swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

static void heap_down(const rec_finder *f, uint32_t *heap, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && f->series[heap[child + 1]].end < f->series[heap[child]].end)
            child++;
        if (f->series[heap[at]].end <= f->series[heap[child]].end)
            return;
        const uint32_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* Appends CHAIN to the series that ended first, if that is before the chain begins, or begins a
 * series with it. HEAP has the COUNT series of this key. */
static bool put_chain(rec_finder *f, const ranked *r, uint32_t *heap, size_t *count)
{
    const rec_chain *c = &f->chains[r->chain];
    if (*count > 0 && f->series[heap[0]].end < r->from) {
        rec_series *s = &f->series[heap[0]];
        f->chains[s->last].next = r->chain;
        s->last = r->chain;
        s->marks += c->marks;
        s->parts++;
        s->end = end_of(f, c);
        heap_down(f, heap, *count);
        return true;
    }
    if (!bn_reserve(&f->series, f->series_count + 1, &f->series_room, sizeof *f->series))
        return false;
    f->series[f->series_count] = (rec_series){.bytes = c->bytes,
                                              .first = r->chain,
                                              .last = r->chain,
                                              .parts = 1,
                                              .name = c->name,
                                              .marks = c->marks,
                                              .end = end_of(f, c),
                                              .group = REC_NONE};
    heap[*count] = (uint32_t)f->series_count++;
    heap_up(f, heap, (*count)++);
    return true;
}

static uint64_t span_between(const rec_finder *f, uint32_t first, uint32_t last)
{
    const uint64_t from = rec_finder_begin(f, first), to = rec_finder_begin(f, last);
    const uint64_t all = to > from ? to - from : 0;
    const uint64_t span = all - rec_spans_covered(&f->compiles, from, to);
    return span ? span : 1;
}

static bool takes(const rec_finder *f, uint32_t at, uint32_t buffer)
{
    const rec_execution *e = &f->p->executions[f->q->order[at]];
    const uint32_t device = rec_finder_device(f, e);
    for (uint32_t i = 0; i < e->arguments; i++)
        if (rec_argument(f->p, e, device, i) == buffer)
            return true;
    return false;
}

/* Whether the executions at A and B take a buffer that the one at OTHER does not. */
static bool share_own(const rec_finder *f, uint32_t a, uint32_t b, uint32_t other)
{
    const rec_execution *e = &f->p->executions[f->q->order[a]];
    const uint32_t device = rec_finder_device(f, e);
    for (uint32_t i = 0; i < e->arguments; i++) {
        const uint32_t buffer = rec_argument(f->p, e, device, i);
        if (buffer != REC_NONE && takes(f, b, buffer) && !takes(f, other, buffer))
            return true;
    }
    return false;
}

/* Whether the chains of S are activations that pass through layers, op by op: the same place of two
 * chains takes the same weights, and the next place others. Each step of a loop takes the same. */
static bool passes_layers(const rec_finder *f, const rec_series *s)
{
    const rec_chain *a = &f->chains[s->first];
    if (a->next == REC_NONE)
        return false;
    const rec_chain *b = &f->chains[a->next];
    const uint32_t marks = a->marks < b->marks ? a->marks : b->marks;
    uint32_t looked = 0, own = 0;
    for (uint32_t i = 0; i + 1 < marks && looked < MOST_PLACES; i++) {
        looked++;
        own +=
            share_own(f, f->marks[a->mark + i], f->marks[b->mark + i], f->marks[a->mark + i + 1]);
    }
    return looked > 0 && 2 * own >= looked;
}

static bool make_series(rec_finder *f)
{
    size_t count = 0, kept = 0, open = 0;
    ranked *list = rank_chains(f, &count);
    uint32_t *heap = malloc((f->chain_count + 1) * sizeof *heap);
    bool made = list && heap;
    for (size_t i = 0; made && i < count; i++) {
        if (i > 0 && (list[i].name != list[i - 1].name || list[i].bytes != list[i - 1].bytes))
            open = 0;
        made = put_chain(f, &list[i], heap, &open);
    }
    for (size_t i = 0; made && i < f->series_count; i++) {
        rec_series s = f->series[i];
        if (s.marks < LEAST_SERIES || (s.parts > 1 && s.marks < LEAST_EACH * (uint64_t)s.parts))
            continue;
        if (passes_layers(f, &s))
            continue;
        s.span_ns = span_between(f, f->marks[f->chains[s.first].mark], s.end);
        f->series[kept++] = s;
    }
    f->series_count = kept;
    free(list);
    free(heap);
    return made;
}

bool rec_chains_find(rec_finder *f)
{
    f->chain_of = malloc((f->p->buffer_count + 1) * sizeof *f->chain_of);
    bool made = f->chain_of != NULL;
    for (size_t i = 0; made && i < f->p->buffer_count; i++)
        f->chain_of[i] = REC_NONE;
    for (uint32_t i = 0; made && i < f->q->count; i++)
        made = link_execution(f, i);
    return made && name_chains(f) && make_series(f);
}
