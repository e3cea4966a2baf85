/*
 * parse_op.h - how an op is read: its operands, form and types, its place in the program;
 * and the blocks and regions that hold ops. See parse_reader.h.
 */
#ifndef BENCH_RUNTIME_SIM_PARSE_OP_H
#define BENCH_RUNTIME_SIM_PARSE_OP_H

#include "runtime/sim/program/parse_reader.h"

/* Ops that become several, numbered after those of the program. */
enum {
    SIM_OP_SQUARE = SIM_OP_COUNT,
    SIM_OP_ERFC,
    SIM_OP_ERF_INV,
    SIM_OP_TOP_K,
    SIM_OP_NORM_TRAINING,
    SIM_OP_NORM_INFERENCE,
    SIM_OP_NORM_GRAD,
    SIM_OP_ALL
};

/* An op being read. Its operands, attributes, regions and types are what lies above
 * the marks on the reader's stacks. */
typedef struct sim_reading {
    const char *at;
    int line;
    int code; /* sim_opcode, or one of the above */
    size_t ints, raws, signature, blocks;
    int result_count; /* names at the left */
    const char *callee;
} sim_reading;

static inline int *sim_reading_operands(const sim_reader *r, const sim_reading *o)
{
    return r->ints.items + o->ints;
}
static inline int sim_reading_operand_count(const sim_reader *r, const sim_reading *o)
{
    return (int)(r->ints.count - o->ints);
}

/* ---- operands, arguments, types (parse_operand.c) ------------------------------------------ */

/* One operand onto r->ints. */
void sim_read_operand(sim_reader *r);
/* "(%1, %2)" onto r->ints. */
void sim_read_operands(sim_reader *r);
/* Operand INDEX of O must have the TYPE that stands at AT. */
void sim_check_stated(sim_reader *r, const sim_reading *o, const char *at, int index,
                      const sim_type *type);
/* Types, with commas between them, onto r->signature. */
void sim_read_types(sim_reader *r);
/* ": types": those of operands are compared, those of results go onto r->signature. */
void sim_read_signature(sim_reader *r, sim_reading *o);
/* "%a: type {attributes} loc" onto r->labels and r->signature. ARGUMENT, which may be
 * NULL, gets what the attributes say of donation and of how it lies. */
void sim_read_argument(sim_reader *r, sim_argument *argument);
/* The layout that attributes from FIRST on state (mhlo.layout_mode). */
sim_layout sim_note_layout(const sim_reader *r, size_t first);
/* Donation and layout that attributes from FIRST on state; removes them from r->raws. */
void sim_note_donation(sim_reader *r, size_t first, sim_argument *argument);
/* COUNT LABELS of TYPES become the arguments of BLOCK. */
void sim_define_arguments(sim_reader *r, const sim_label *labels, const sim_type *types, int count,
                          sim_block *block);

/* ---- what is known of each op (parse_table.c) ----------------------------------------------- */

/* Row of the op called NAME ("stablehlo.add", "chlo.erf", "call"); -1: unknown. */
int sim_op_find(const sim_reader *r, const char *name, size_t length);
/* Fills the reader's hash of names. */
void sim_op_slots(sim_reader *r);
int sim_op_regions(int code); /* -1: any number */
int sim_op_arity(int code);   /* operands; -1: any number */
const char *sim_op_text(int code);
/* Gives OP the attributes that were read for O, in their normal form. */
void sim_finish_op(sim_reader *r, sim_reading *o, sim_op *op);

/* ---- into the program (parse_emit.c, parse_expand.c) ------------------------------------------
 */

/* Gives OP COUNT new results of TYPES, checks it and puts it at the end of the block being
 * read. The first result, or -1 and an error that names the place AT. */
int sim_emit(sim_reader *r, const char *at, sim_op *op, const sim_type *types, int count);
/* The same with the one result RESULT, a value that is there already. */
bool sim_emit_to(sim_reader *r, const char *at, sim_op *op, int result);
/* BLOCK becomes a region that applies op CODE to two scalars of DTYPE. */
bool sim_make_region(sim_reader *r, int code, bn_dtype dtype, const char *at, int line,
                     sim_block *block);
/* Several ops for one (OP: its operands and attributes); the first of its results,
 * which are neighbours, or -1. */
int sim_expand(sim_reader *r, const sim_reading *o, const sim_op *op);

/* ---- forms (parse_form.c) -------------------------------------------------------------------- */

/*
 * Reads an op in its pretty form. On entry its name has been passed, and O has its code,
 * place and marks. The form puts operands, attributes, regions and results' types onto the
 * reader's stacks, and stops behind the op. Errors stick to the reader.
 */
typedef void sim_form(sim_reader *r, sim_reading *o);
/* The form of op CODE. */
sim_form *sim_op_form(int code);

/* ---- blocks and regions (parse_op.c), which hold ops again ----------------------------------- */

/* Statements up to "}", which is passed; the last one returns. The arguments of BLOCK are
 * defined already. */
void sim_read_block(sim_reader *r, sim_block *block);
/* "{ ... }", with or without "^bb0(...):", onto r->blocks. LABELS with TYPES
 * are arguments that the op itself names (COUNT 0: none). */
void sim_read_region(sim_reader *r, const sim_label *labels, const sim_type *types, int count);

/* ---- calls (parse_calls.c) --------------------------------------------------------------------
 */

/* Finds the callees of r->calls, and refuses calls that do not fit or never end. */
bool sim_check_calls(sim_reader *r, sim_function *functions, size_t count);

#endif
