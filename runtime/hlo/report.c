/*
 * report.c - lists of what a program does: copies and changes of layout, collectives, what costs
 * most, what has no estimate, and sums by scope.
 */
#include "runtime/hlo/hlo_priv.h"

#include <stdlib.h>
#include <string.h>

void hlo_items_add(hlo_items *items, hlo_item item)
{
    bn_grow(&items->list, items->count + 1, &items->capacity, sizeof *items->list);
    items->list[items->count++] = item;
}

/* ---- kinds ------------------------------------------------------------------------------- */

static bool is_one_of(const char *opcode, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(opcode, *list) == 0)
            return true;
    return false;
}

/* Instructions that take no time of their own, or are covered by what they end. */
static bool is_free(const char *opcode)
{
    static const char *const list[] = {
        "parameter", "constant",       "tuple",        "get-tuple-element",    "bitcast",
        "after-all", "copy-done",      "async-update", "async-done",           "opt-barrier",
        "domain",    "add-dependency", "partition-id", "optimization-barrier", "replica-id",
        NULL};
    return is_one_of(opcode, list);
}

/* Arithmetic on one number, as in the condition of a loop. */
static bool is_scalar(const hlo_instruction *i)
{
    return i->shape && i->shape->n_parts == 0 && i->shape->n_dimensions == 0 &&
           i->n_called_computation_ids == 0 && !hlo_is(i, "custom-call");
}

static bool is_collective(const char *opcode)
{
    static const char *const list[] = {"all-reduce",
                                       "all-reduce-start",
                                       "all-gather",
                                       "all-gather-start",
                                       "reduce-scatter",
                                       "all-to-all",
                                       "ragged-all-to-all",
                                       "collective-permute",
                                       "collective-permute-start",
                                       "collective-broadcast",
                                       "send",
                                       "recv",
                                       NULL};
    return is_one_of(opcode, list);
}

/* The ends of asynchronous collectives. */
static bool ends_collective(const char *opcode)
{
    static const char *const list[] = {
        "all-reduce-done", "all-gather-done", "collective-permute-done",
        "send-done",       "recv-done",       NULL};
    return is_one_of(opcode, list);
}

/* The order of dimensions of what I gives: of a tuple, of its first part. */
static const Hlo__Wire__Layout *layout_of(const hlo_instruction *i)
{
    if (!i || !i->shape)
        return NULL;
    return i->shape->n_parts ? i->shape->parts[0]->layout : i->shape->layout;
}

static const char *kind_of_copy(const hlo_module *module, size_t computation,
                                const hlo_instruction *i)
{
    if (hlo_is(i, "transpose"))
        return "transpose";
    if (!hlo_is(i, "copy") && !hlo_is(i, "copy-start"))
        return NULL;
    const hlo_instruction *from = hlo_operand(module, computation, i, 0);
    return hlo_same_order(layout_of(i), layout_of(from)) ? "copy" : "layout change";
}

/* Whether a fusion computes nothing and only moves: then what its copy or transpose is; else NULL.
 */
static const char *kind_of_fusion(const hlo_module *module, const hlo_instruction *fusion)
{
    static const char *const moves[] = {"parameter", "bitcast", "copy", "transpose",
                                        "reshape",   "tuple",   NULL};
    const size_t inside = hlo_called(module, fusion, 0);
    const char *kind = NULL;
    if (inside == HLO_NONE)
        return NULL;
    const Hlo__Wire__Computation *c = module->computations[inside].wire;
    for (size_t k = 0; k < c->n_instructions; k++) {
        if (!is_one_of(c->instructions[k]->opcode, moves))
            return NULL;
        const char *found = kind_of_copy(module, inside, c->instructions[k]);
        kind = found ? found : kind;
    }
    return kind;
}

/* "copy", "layout change", "transpose"; NULL for what does more. */
static const char *copy_kind(const hlo_module *module, size_t computation, const hlo_instruction *i)
{
    return hlo_is(i, "fusion") ? kind_of_fusion(module, i) : kind_of_copy(module, computation, i);
}

/* ---- noting --------------------------------------------------------------------------------- */

/* INSTRUCTION is estimated to take CYCLES. */
static void add_estimated(hlo_report *r, const hlo_module *module, size_t computation,
                          const hlo_instruction *i, const hlo_item *item)
{
    const char *copy = copy_kind(module, computation, i);
    hlo_item scope = *item, moved = *item;
    r->cycles += item->cycles;
    r->estimated++;
    scope.name = item->scope;
    scope.what = scope.scope = "";
    hlo_items_add(&r->scopes, scope);
    hlo_items_add(&r->costly, *item);
    if (is_collective(i->opcode))
        hlo_items_add(&r->collectives, *item);
    if (!copy)
        return;
    r->copy_cycles += item->cycles;
    r->layout_cycles += strcmp(copy, "layout change") == 0 ? item->cycles : 0;
    moved.what = copy;
    hlo_items_add(&r->copies, moved);
}

void hlo_report_add(hlo_report *r, const hlo_module *module, size_t computation, size_t at,
                    double times, bool walked)
{
    const hlo_computation *c = &module->computations[computation];
    const hlo_instruction *i = c->wire->instructions[at];
    hlo_item item = {i->name, i->opcode, i->metadata ? i->metadata->op_name : "", -1, times, ""};
    if (c->cycles[at] >= 0) {
        item.cycles = times * c->cycles[at];
        add_estimated(r, module, computation, i, &item);
    } else if (walked || is_free(i->opcode) || ends_collective(i->opcode)) {
        return;
    } else if (is_collective(i->opcode)) {
        hlo_items_add(&r->collectives, item);
    } else if (!is_scalar(i)) {
        const bool named = hlo_is(i, "custom-call") && i->custom_call_target[0];
        item.name = named ? i->custom_call_target : i->opcode;
        hlo_items_add(&r->silent, item);
    }
}

/* ---- the end ----------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const hlo_item *)a)->name, ((const hlo_item *)b)->name);
}

/* The most costly first; of equals by name, so that the order is one. */
static int by_cost(const void *a, const void *b)
{
    const hlo_item *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    return by_name(a, b);
}

static void sort(hlo_items *items, int (*order)(const void *, const void *))
{
    if (items->count > 1)
        qsort(items->list, items->count, sizeof *items->list, order);
}

/* Makes one of all items of a name. */
static void merge(hlo_items *items)
{
    size_t kept = 0;
    sort(items, by_name);
    for (size_t k = 0; k < items->count; k++) {
        hlo_item *last = kept ? &items->list[kept - 1] : NULL;
        if (!last || strcmp(last->name, items->list[k].name) != 0) {
            items->list[kept++] = items->list[k];
            continue;
        }
        last->times += items->list[k].times;
        if (last->cycles >= 0 && items->list[k].cycles >= 0)
            last->cycles += items->list[k].cycles;
    }
    items->count = kept;
    sort(items, by_cost);
}

/* "backward/layer1.0" of "backward/layer1.0/convolution": the last part is the operation. */
static const char *scope_of(bn_arena *arena, const char *op_name)
{
    const char *slash = strrchr(op_name, '/');
    if (!slash)
        return "";
    char *scope = bn_arena_strdup(arena, op_name);
    scope[slash - op_name] = '\0';
    return scope;
}

void hlo_report_end(hlo_report *r, const hlo_module *module)
{
    for (size_t k = 0; k < r->scopes.count; k++)
        r->scopes.list[k].name = scope_of(module->arena, r->scopes.list[k].name);
    merge(&r->scopes);
    merge(&r->silent);
    sort(&r->costly, by_cost);
    if (r->costly.count > HLO_MOST_COSTLY)
        r->costly.count = HLO_MOST_COSTLY;
    sort(&r->copies, by_cost);
    sort(&r->collectives, by_cost);
}

void hlo_report_free(hlo_report *r)
{
    hlo_items *lists[] = {&r->copies, &r->collectives, &r->loops, &r->branches,
                          &r->scopes, &r->costly,      &r->silent};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->list);
    *r = (hlo_report){0};
}
