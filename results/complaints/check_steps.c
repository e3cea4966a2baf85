/*
 * check_steps.c - finds the steps that the rules are checked on.
 */
#include "results/complaints/complaints_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program with its name's stem and what it cost. */
typedef struct named {
    const char *name;
    size_t stem;
    double cost;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const size_t least = x->stem < y->stem ? x->stem : y->stem;
    const int order = strncmp(x->name, y->name, least);
    return order ? order : (x->stem > y->stem) - (x->stem < y->stem);
}

static double cost_of(const rec_process *p, const rec_execution *e)
{
    const rec_span *span = &p->spans[e->spans];
    return (double)(span->complete_ns > span->start_ns ? span->complete_ns - span->start_ns
                                                       : e->end_ns - e->begin_ns);
}

/* P's programs with the cost of their executions, sorted by stem; NULL without memory. */
static named *list_names(const rec_process *p)
{
    named *list = calloc(p->program_count + 1, sizeof *list);
    for (size_t i = 0; list && i < p->program_count; i++)
        list[i] = (named){p->programs[i].name, rec_stem(p->programs[i].name), 0};
    for (size_t i = 0; list && i < p->execution_count; i++)
        list[p->executions[i].program].cost += cost_of(p, &p->executions[i]);
    if (list)
        qsort(list, p->program_count, sizeof *list, by_name);
    return list;
}

/* The name that stands for most of P's work, as --step-program takes it; empty: there is none. */
static void main_name(const rec_process *p, char *name, size_t size)
{
    named *list = list_names(p);
    double most = 0;
    name[0] = '\0';
    for (size_t from = 0, to; list && from < p->program_count; from = to) {
        double cost = 0;
        for (to = from; to < p->program_count && by_name(&list[from], &list[to]) == 0; to++)
            cost += list[to].cost;
        const bool whole = list[from].name[list[from].stem] == '\0';
        if (list[from].stem == 0 || cost <= most || list[from].stem + 2 > size)
            continue;
        most = cost;
        snprintf(name, size, "%.*s%s", (int)list[from].stem, list[from].name, whole ? "" : "*");
    }
    free(list);
}

/* Tries OPTIONS again with the program that most of P's device time is spent on, then with all
 * steps. */
static bool try_again(const rec_recording *recording, const rec_process *p,
                      const rec_options *options, rec_steps **steps)
{
    char name[256];
    bn_status ignored = {.code = BN_OK};
    rec_options other = *options;
    main_name(p, name, sizeof name);
    if (!other.step_program && name[0])
        other.step_program = name;
    if (rec_steps_find(recording, &other, steps, &ignored) == BN_OK)
        return true;
    ignored = (bn_status){.code = BN_OK};
    other.keep_warmup = true;
    return rec_steps_find(recording, &other, steps, &ignored) == BN_OK;
}

bn_code rec_check_steps(const rec_recording *recording, const rec_options *options,
                        rec_steps **steps, bn_status *st)
{
    bn_status first = {.code = BN_OK};
    const rec_process *p = rec_process_find(recording, options->pid);
    const bn_code code = rec_steps_find(recording, options, steps, &first);
    if (code == BN_OK || (code == BN_NOT_FOUND && p && p->execution_count > 0 &&
                          try_again(recording, p, options, steps)))
        return BN_OK;
    *st = first;
    return code;
}
