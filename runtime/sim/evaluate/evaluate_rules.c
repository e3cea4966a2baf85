/*
 * evaluate_rules.c - the table of rules. It knows all families of ops; none of them knows
 * it. Rules that run other blocks come back to it through the run.
 */
#include "runtime/sim/evaluate/evaluate_rules.h"

#include "runtime/sim/evaluate/evaluate_kernels.h"

typedef struct rule_row {
    sim_rule *rule;
    sim_rule_check *check;
} rule_row;

/* The others are element-wise, or the evaluator has no rule for them. */
static const rule_row rules[SIM_OP_COUNT] = {
#define X(op, name) [SIM_OP_##op].rule = sim_rule_##name,
    SIM_RULES(X)
#undef X
#define X(op, name) [SIM_OP_##op].check = sim_can_##name,
        SIM_RULE_CHECKS(X)
#undef X
};

static bool is_elementwise(sim_opcode opcode)
{
    return sim_kernel_find(opcode, BN_F32) || sim_kernel_find(opcode, BN_S32);
}

sim_code sim_rule_any(sim_run *run, const sim_op *op)
{
    sim_rule *rule = rules[op->opcode].rule;
    return rule ? rule(run, op) : sim_rule_elementwise(run, op);
}

sim_code sim_can_any(const sim_program *p, const sim_op *op, sim_status *st)
{
    const rule_row *row = &rules[op->opcode];
    if (!row->rule && !is_elementwise(op->opcode))
        return sim_refuse(op, st, SIM_UNIMPLEMENTED, "the simulator cannot evaluate this op");
    if (!row->rule)
        return sim_can_elementwise(p, op, st);
    return row->check ? row->check(p, op, st) : SIM_OK;
}
