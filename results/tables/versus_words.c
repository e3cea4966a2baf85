/* versus_words.c - what both tables of two runtimes say: whose the records are, and the cause of a
 * change. */
#include "results/tables/versus_priv.h"

const res_record *res_versus_example(const res_versus *versus, bool of_b)
{
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->pairs > 0 && !(of_b && cell->control))
            return of_b ? cell->b[0] : cell->a[0];
    }
    return NULL;
}

const char *res_versus_blame(const res_attribution *why)
{
    switch (why->program) {
    case RES_PROGRAM_SAME:
        if (why->place == RES_PLACE_DEVICE)
            return "same text, same optimized program: the runtime's execution, on the device";
        if (why->place == RES_PLACE_PART && why->place_part <= BN_PART_BIND &&
            why->place_part != BN_PART_INPUT && why->place_part != BN_PART_COMPILE)
            return "same text, same optimized program: bench's own part of the step, in which the "
                   "runtime has no code";
        return "same text, same optimized program: the runtime's execution, not the compiler";
    case RES_PROGRAM_COMPILED:
        return "same text, another optimized program: the compiler, before all else";
    case RES_PROGRAM_TEXT:
        return "another text was asked for: not a difference of runtimes alone";
    case RES_PROGRAM_UNSTEADY:
        return "same text, but one side's compiler makes another program in each process: not "
               "told from the runtime";
    case RES_PROGRAM_UNKNOWN:
        break;
    }
    return "same text; the plugin does not show its optimized program: compiler or runtime";
}
