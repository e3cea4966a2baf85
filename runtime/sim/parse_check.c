/* parse_check.c - whether an op fits its operands and attributes. */
#include "runtime/sim/parse_priv.h"

bool sim_check_op(sim_reader *r, const char *at, const sim_op *op)
{
    bool tuple = op->opcode == SIM_OP_TUPLE || op->opcode == SIM_OP_GET_TUPLE_ELEMENT;
    if (tuple)
        sim_reader_fail(r, at, SIM_UNIMPLEMENTED, "tuples are not simulated");
    return !tuple;
}
