/*
 * hlo_priv.h - what the files of runtime/hlo share. From top to bottom, each file calls only those
 * below it:
 *
 *   program.c   a program's life
 *   walk.c      which instructions run how often, and their sums
 *   report.c    lists of what was found
 *   trips.c     how often a loop runs
 *   declared.c  the types of the entry, what is donated, devices
 *   module.c    the module: computations and instructions by number, estimates, layouts
 */
#ifndef BENCH_RUNTIME_HLO_PRIV_H
#define BENCH_RUNTIME_HLO_PRIV_H

#include "runtime/hlo/hlo.h"
#include "runtime/wire/hlo.pb-c.h"

typedef Hlo__Wire__Instruction hlo_instruction;

/* A place of an instruction in its computation, to be found by its number. */
typedef struct hlo_place {
    uint32_t number;
    size_t at;
} hlo_place;

typedef struct hlo_computation {
    const Hlo__Wire__Computation *wire;
    hlo_place *places; /* by number, ascending */
    double *cycles;    /* [instruction], -1: not estimated */
} hlo_computation;

#define HLO_NONE SIZE_MAX

typedef struct hlo_module {
    Hlo__Wire__Configured *configured; /* owns the module, where it came with a configuration */
    Hlo__Wire__Module *wire;
    bn_arena *arena;
    hlo_computation *computations;
    size_t count, entry;
} hlo_module;

struct hlo_program {
    hlo_module module;
    hlo_report report;
};

/* ---- module.c ----------------------------------------------------------------------- */

/* Reads BYTES into MODULE, which is to be closed also after a failure. */
BN_MUST_USE bn_code hlo_module_open(hlo_module *module, const char *format, const void *bytes,
                                    size_t size, bn_status *st);
void hlo_module_close(hlo_module *module);
/* The computation that INSTRUCTION calls as number K; HLO_NONE where there is none. */
size_t hlo_called(const hlo_module *module, const hlo_instruction *instruction, size_t k);
/* Operand K of INSTRUCTION, which stands in COMPUTATION; NULL where there is none. */
const hlo_instruction *hlo_operand(const hlo_module *module, size_t computation,
                                   const hlo_instruction *instruction, size_t k);
const hlo_instruction *hlo_root(const hlo_module *module, size_t computation);
bool hlo_is(const hlo_instruction *instruction, const char *opcode);
/* Whether both list their dimensions in the same order; an unknown layout equals any. */
bool hlo_same_order(const Hlo__Wire__Layout *a, const Hlo__Wire__Layout *b);
/* LAYOUT as XLA writes it, "{1,0:T(8,128)}", into OUT; nothing where it is that of a scalar, or makes
 * no sense for RANK dimensions. */
void hlo_put_layout(const Hlo__Wire__Layout *layout, size_t rank, bn_text *out);
/* The layouts of the entry's results, *COUNT of them, in MODULE's arena. */
const char *const *hlo_layouts(const hlo_module *module, size_t *count);
/* "16" of {"known_trip_count": {"n": "16"}}, which some compilers state of loops; -1: not stated.
 */
double hlo_stated_trips(const hlo_instruction *loop);

/* ---- trips.c ------------------------------------------------------------------------ */

/* How often the body of LOOP, a while of COMPUTATION, runs; -1 where that is unknown, and *WHY
 * then says why. */
double hlo_trips(const hlo_module *module, size_t computation, const hlo_instruction *loop,
                 const char **why);
/* Its two computations; false where it has not both. */
bool hlo_loop_parts(const hlo_module *module, const hlo_instruction *loop, size_t *body,
                    size_t *condition);

/* ---- report.c ----------------------------------------------------------------------- */

/* Notes INSTRUCTION, number AT of COMPUTATION, which runs TIMES times. WALKED: what it calls is
 * noted by itself. */
void hlo_report_add(hlo_report *report, const hlo_module *module, size_t computation, size_t at,
                    double times, bool walked);
void hlo_items_add(hlo_items *items, hlo_item item);
/* Sorts the lists, and makes one line of each scope. */
void hlo_report_end(hlo_report *report, const hlo_module *module);
void hlo_report_free(hlo_report *report);

/* ---- walk.c ------------------------------------------------------------------------- */

/* Fills REPORT, which is empty. */
BN_MUST_USE bn_code hlo_walk(const hlo_module *module, hlo_report *report, bn_status *st);

#endif
