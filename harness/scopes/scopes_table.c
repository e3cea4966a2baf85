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

void scopes_table_begin(scopes_table *table)
{
    *table = (scopes_table){.memory = bn_arena_new(1u << 14), .index = json_object()};
}

void scopes_table_free(scopes_table *table)
{
    bn_arena_free(table->memory);
    json_decref(table->index);
    free(table->list);
    *table = (scopes_table){0};
}

scopes_line *scopes_find(scopes_table *t, const char *path, tg_phase phase)
{
    bn_text key = {0};
    bn_text_putc(&key, (char)('0' + (int)phase));
    bn_text_puts(&key, path);
    const json_t *number = json_object_get(t->index, key.data);
    const size_t line = number ? (size_t)json_integer_value(number) : t->count;
    if (!number) {
        bn_grow(&t->list, t->count + 1, &t->capacity, sizeof *t->list);
        json_object_set_new_nocheck(t->index, key.data, json_integer((json_int_t)t->count));
        t->list[t->count++] =
            (scopes_line){.path = bn_arena_strdup(t->memory, path), .phase = phase};
    }
    bn_text_free(&key);
    return &t->list[line];
}

scopes_line *scopes_find_location(scopes_table *t, const char *location)
{
    const char *op = strrchr(location, '/');
    const size_t length = op ? (size_t)(op - location) : 0;
    tg_phase phase = TG_PHASE_FORWARD;
    size_t head = 0;
    for (int p = 0; p < TG_PHASE_COUNT; p++) {
        const size_t own = strlen(phases[p]);
        if (p != TG_PHASE_FORWARD && own <= length && strncmp(location, phases[p], own) == 0 &&
            (own == length || location[own] == '/')) {
            phase = (tg_phase)p;
            head = own + (own < length);
        }
    }
    char *path = bn_strndup(location + head, length - head);
    scopes_line *line = scopes_find(t, path, phase);
    free(path);
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
