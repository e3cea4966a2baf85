/*
 * places.c - which op of the program text an instruction was made of, out of the programs that a
 * profile carries: its plane "/host:metadata" has a HloProto for each, under the program's name
 * and number, "jit_step(7)".
 */
#include "runtime/profile/profile_priv.h"

#include <stdio.h>
#include <stdlib.h>

#define PROGRAMS "/host:metadata"

static int by_instruction(const void *left, const void *right)
{
    const rt_place *a = left, *b = right;
    const int programs = strcmp(a->program, b->program);
    return programs ? programs : strcmp(a->instruction, b->instruction);
}

/* The instructions of MESSAGE, which has the NAME. */
static bool add_program(rt_places *p, const char *name, const Hlo__Wire__Configured *message)
{
    const Hlo__Wire__Module *module = message->module;
    for (size_t c = 0; module && c < module->n_computations; c++) {
        const Hlo__Wire__Computation *computation = module->computations[c];
        if (!bn_reserve(&p->list, p->count + computation->n_instructions, &p->room,
                        sizeof *p->list))
            return false;
        for (size_t i = 0; i < computation->n_instructions; i++) {
            const Hlo__Wire__Instruction *instruction = computation->instructions[i];
            if (instruction->metadata && instruction->metadata->op_name[0] &&
                rt_name_fits(instruction->metadata->op_name) && rt_name_fits(instruction->name))
                p->list[p->count++] =
                    (rt_place){name, instruction->name, instruction->metadata->op_name};
        }
    }
    return true;
}

/* The program of ENTRY, if it has one. A program that cannot be read has no names. */
static bool add_entry(rt_places *p, rt_xspace *x, const Bench__Trace__Name *entry)
{
    for (size_t i = 0; i < entry->n_stats; i++) {
        const Bench__Trace__Stat *stat = entry->stats[i];
        if (stat->data.len == 0)
            continue;
        Hlo__Wire__Configured *message =
            hlo__wire__configured__unpack(&x->allocator, stat->data.len, stat->data.data);
        if (!message && (x->refused || x->no_memory))
            return false;
        if (!message)
            continue;
        if (!bn_reserve(&p->messages, p->message_count + 1, &p->message_room,
                        sizeof *p->messages)) {
            hlo__wire__configured__free_unpacked(message, &x->allocator);
            return false;
        }
        p->messages[p->message_count++] = message;
        if (!add_program(p, entry->name, message))
            return false;
    }
    return true;
}

bool rt_xspace_places_make(rt_xspace *x, rt_places *places)
{
    *places = (rt_places){0};
    for (size_t i = 0; i < x->space->n_planes; i++) {
        const Bench__Trace__Plane *plane = x->space->planes[i];
        if (strcmp(plane->name, PROGRAMS) != 0)
            continue;
        for (size_t k = 0; k < plane->n_event_names; k++)
            if (plane->event_names[k]->value && rt_name_fits(plane->event_names[k]->value->name) &&
                !add_entry(places, x, plane->event_names[k]->value))
                return false;
    }
    if (places->count > 0)
        qsort(places->list, places->count, sizeof *places->list, by_instruction);
    return true;
}

const char *rt_xspace_place(const rt_places *places, const char *module, int64_t number,
                            const char *instruction)
{
    char program[256];
    snprintf(program, sizeof program, "%s(%lld)", module, (long long)number);
    const rt_place key = {.program = program, .instruction = instruction};
    const rt_place *found =
        places->count ? bsearch(&key, places->list, places->count, sizeof key, by_instruction)
                      : NULL;
    return found ? found->op : "";
}

void rt_xspace_places_free(rt_xspace *x, rt_places *places)
{
    for (size_t i = 0; i < places->message_count; i++)
        hlo__wire__configured__free_unpacked(places->messages[i], &x->allocator);
    free(places->messages);
    free(places->list);
    *places = (rt_places){0};
}
