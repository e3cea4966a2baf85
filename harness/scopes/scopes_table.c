/*
 * scopes_table.c - lines of figures, one for each scope and phase.
 */
#include "harness/scopes/scopes_priv.h"

#include <stdlib.h>
#include <string.h>

const char *const scopes_figure_words[SCOPES_FIGURES] = {"nodes", "trace", "flops", "estimated",
                                                         "measured"};

static const char *const phases[TG_PHASE_COUNT] = {
    [TG_PHASE_INPUT] = "input",           [TG_PHASE_FORWARD] = "forward",
    [TG_PHASE_STATISTICS] = "statistics", [TG_PHASE_BACKWARD] = "backward",
    [TG_PHASE_UPDATE] = "update",
};

bn_code scopes_table_begin(scopes_table *table, bn_status *st)
{
    *table = (scopes_table){.memory = bn_arena_new(1u << 14), .index = json_object()};
    return table->memory && table->index ? BN_OK
                                         : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for scopes");
}

void scopes_table_free(scopes_table *table)
{
    bn_arena_free(table->memory);
    json_decref(table->index);
    free(table->list);
    *table = (scopes_table){0};
}

/* A new line, with KEY in the index; false without memory. */
static bool add_line(scopes_table *t, const char *key, const char *path, tg_phase phase)
{
    const char *kept = bn_arena_strdup(t->memory, path);
    if (!kept || !bn_reserve(&t->list, t->count + 1, &t->capacity, sizeof *t->list) ||
        json_object_set_new_nocheck(t->index, key, json_integer((json_int_t)t->count)) != 0)
        return false;
    t->list[t->count++] = (scopes_line){.path = kept, .phase = phase};
    return true;
}

size_t scopes_find(scopes_table *t, const char *path, tg_phase phase)
{
    bn_text key = {0};
    bn_text_putc(&key, (char)('0' + (int)phase));
    bn_text_puts(&key, path);
    const json_t *number = key.failed ? NULL : json_object_get(t->index, key.data);
    size_t line = number ? (size_t)json_integer_value(number) : t->count;
    if (!number && (key.failed || !add_line(t, key.data, path, phase))) {
        t->failed = true;
        line = 0;
    }
    bn_text_free(&key);
    return line;
}

size_t scopes_find_place(scopes_table *t, const char *place)
{
    const char *op = strrchr(place, '/');
    const size_t length = op ? (size_t)(op - place) : 0;
    tg_phase phase = TG_PHASE_FORWARD;
    size_t head = 0;
    for (int p = 0; p < TG_PHASE_COUNT; p++) {
        const size_t own = strlen(phases[p]);
        if (p != TG_PHASE_FORWARD && own <= length && strncmp(place, phases[p], own) == 0 &&
            (own == length || place[own] == '/')) {
            phase = (tg_phase)p;
            head = own + (own < length);
        }
    }
    bn_text path = {0};
    bn_text_append(&path, place + head, length - head);
    const size_t line = scopes_find(t, path.data && !path.failed ? path.data : "", phase);
    t->failed = t->failed || path.failed;
    bn_text_free(&path);
    return line;
}

const char *scopes_phase_name(tg_phase phase)
{
    return phases[phase];
}

double scopes_sum(const scopes_table *t, scopes_figure figure)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += t->list[i].figure[figure];
    return sum;
}
