/*
 * pairs.c - programs of two recordings that stand for each other, by name and by the number of
 * their arguments and results.
 */
#include "results/complaints/differences.h"

#include <stdlib.h>
#include <string.h>

/* A program with its number of arguments. */
typedef struct entry {
    const rec_program *program;
    uint32_t arguments;
} entry;

static int compare_names(const char *a, const char *b)
{
    const size_t of_a = rec_stem(a), of_b = rec_stem(b);
    const int order = memcmp(a, b, of_a < of_b ? of_a : of_b);
    return order ? order : (of_a > of_b) - (of_a < of_b);
}

static int compare_kinds(const rec_program *a, uint32_t arguments_a, const rec_program *b,
                         uint32_t arguments_b)
{
    const int order = compare_names(a->name, b->name);
    if (order)
        return order;
    if (arguments_a != arguments_b)
        return arguments_a < arguments_b ? -1 : 1;
    return (a->results > b->results) - (a->results < b->results);
}

static int by_kind(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = compare_kinds(x->program, x->arguments, y->program, y->arguments);
    if (order)
        return order;
    if (x->program->executions != y->program->executions)
        return x->program->executions > y->program->executions ? -1 : 1;
    return strcmp(x->program->hash, y->program->hash);
}

/* The programs of P that have a name into LIST, which has room; returns their number. */
static size_t list_programs(const rec_process *p, entry *list)
{
    uint32_t *arguments = bn_zalloc(p->program_count + 1, sizeof *arguments);
    size_t count = 0;
    for (size_t i = 0; i < p->program_count; i++)
        arguments[i] = REC_NONE;
    for (size_t i = p->execution_count; i-- > 0;)
        arguments[p->executions[i].program] = p->executions[i].arguments;
    for (size_t i = 0; i < p->program_count; i++)
        if (rec_stem(p->programs[i].name) > 0)
            list[count++] = (entry){&p->programs[i], arguments[i]};
    free(arguments);
    return count;
}

/* The programs of R, in order of kinds, into *LIST (malloc); returns their number. */
static size_t list_all(const rec_recording *r, entry **list)
{
    size_t room = 1, count = 0;
    for (size_t i = 0; i < r->process_count; i++)
        room += r->processes[i].program_count;
    *list = bn_zalloc(room, sizeof **list);
    for (size_t i = 0; i < r->process_count; i++)
        count += list_programs(&r->processes[i], *list + count);
    qsort(*list, count, sizeof **list, by_kind);
    return count;
}

static bool are_one(const entry *a, const entry *b)
{
    return compare_kinds(a->program, a->arguments, b->program, b->arguments) == 0;
}

/* The kinds of the COUNT programs of LIST into *KINDS (malloc); returns their number. */
static size_t list_kinds(const entry *list, size_t count, rec_program_kind **kinds)
{
    size_t made = 0;
    *kinds = bn_zalloc(count + 1, sizeof **kinds);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !are_one(&list[i - 1], &list[i]))
            (*kinds)[made++] =
                (rec_program_kind){.program = list[i].program, .arguments = list[i].arguments};
        (*kinds)[made - 1].programs++;
    }
    return made;
}

/* The first program of a kind like KIND's among LIST; NULL: none. */
static const entry *find_kind(const entry *list, size_t count, const rec_program_kind *kind)
{
    size_t from = 0, to = count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (compare_kinds(list[middle].program, list[middle].arguments, kind->program,
                          kind->arguments) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < count ? &list[from] : NULL;
}

/* The program of KIND among LIST with the code of PROGRAM, else its most frequent one. */
static const rec_program *with_code(const entry *list, size_t count, const rec_program_kind *kind,
                                    const rec_program *program)
{
    const entry *at = find_kind(list, count, kind);
    for (uint32_t i = 0; program->hash[0] && i < kind->programs; i++)
        if (strcmp(at[i].program->hash, program->hash) == 0)
            return at[i].program;
    return kind->program;
}

static void add_pair(rec_program_pairs *pairs, const rec_program_kind *a, const rec_program_kind *b)
{
    pairs->list[pairs->count++] =
        (rec_program_pair){a, b, a ? a->program : NULL, b ? b->program : NULL};
}

/* All kinds of both, those that are alike in one pair. */
static void pair_kinds(rec_program_pairs *pairs)
{
    size_t i = 0, k = 0;
    while (i < pairs->kind_count[0] || k < pairs->kind_count[1]) {
        const rec_program_kind *a = i < pairs->kind_count[0] ? &pairs->kinds[0][i] : NULL;
        const rec_program_kind *b = k < pairs->kind_count[1] ? &pairs->kinds[1][k] : NULL;
        const int order = !a   ? 1
                          : !b ? -1
                               : compare_kinds(a->program, a->arguments, b->program, b->arguments);
        add_pair(pairs, order <= 0 ? a : NULL, order >= 0 ? b : NULL);
        i += order <= 0;
        k += order >= 0;
    }
}

static const char *name_of(const rec_program_pair *pair)
{
    return (pair->a ? pair->a : pair->b)->program->name;
}

/* Of the pairs FROM to TO, which are of one name: joins what is alone in A with what is alone in B,
 * if there is one each. */
static void join_alone(rec_program_pair *list, size_t from, size_t to)
{
    size_t of[2] = {0, 0}, at[2] = {0, 0};
    for (size_t i = from; i < to; i++) {
        if (list[i].a && list[i].b)
            continue;
        const int side = list[i].a ? 0 : 1;
        of[side]++;
        at[side] = i;
    }
    if (of[0] != 1 || of[1] != 1)
        return;
    list[at[0]].b = list[at[1]].b;
    list[at[0]].of_b = list[at[1]].of_b;
    list[at[1]] = (rec_program_pair){NULL, NULL, NULL, NULL};
}

static void join_names(rec_program_pairs *pairs)
{
    size_t left = 0;
    for (size_t from = 0, to; from < pairs->count; from = to) {
        for (to = from + 1; to < pairs->count && compare_names(name_of(&pairs->list[from]),
                                                               name_of(&pairs->list[to])) == 0;)
            to++;
        join_alone(pairs->list, from, to);
        for (size_t i = from; i < to; i++)
            if (pairs->list[i].a || pairs->list[i].b)
                pairs->list[left++] = pairs->list[i];
    }
    pairs->count = left;
}

void rec_program_pairs_make(const rec_recording *a, const rec_recording *b,
                            rec_program_pairs *pairs)
{
    entry *list[2];
    const size_t count[2] = {list_all(a, &list[0]), list_all(b, &list[1])};
    *pairs = (rec_program_pairs){.count = 0};
    for (int i = 0; i < 2; i++)
        pairs->kind_count[i] = list_kinds(list[i], count[i], &pairs->kinds[i]);
    pairs->list = bn_zalloc(pairs->kind_count[0] + pairs->kind_count[1] + 1, sizeof *pairs->list);
    pair_kinds(pairs);
    join_names(pairs);
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->list[i].a && pairs->list[i].b)
            pairs->list[i].of_b =
                with_code(list[1], count[1], pairs->list[i].b, pairs->list[i].of_a);
    free(list[0]);
    free(list[1]);
}

void rec_program_pairs_free(rec_program_pairs *pairs)
{
    free(pairs->kinds[0]);
    free(pairs->kinds[1]);
    free(pairs->list);
    *pairs = (rec_program_pairs){.count = 0};
}
