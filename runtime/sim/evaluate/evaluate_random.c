/*
 * evaluate_random.c - rng_bit_generator: Threefry-2x32, bit for bit as XLA has it.
 *
 * Generator: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
 * XLA's own part: the state is a key and a counter of 64 bits; Threefry's words of
 * 32 bits alternate between the two of a block along the first even dimension.
 */
#include "runtime/sim/evaluate/evaluate_rules.h"

#include <string.h>

sim_code sim_can_rng_bit_generator(const sim_program *p, const sim_op *op, sim_status *st)
{
    const sim_type *state = sim_operand_type(p, op, 0);
    const char *word = sim_attribute_find(op, "rng_algorithm")->word;
    if (strcmp(word, "THREE_FRY") != 0)
        return sim_refuse(op, st, SIM_UNIMPLEMENTED,
                          "the simulator cannot evaluate the generator \"%s\"", word);
    if (state->dims[0] != 2)
        return sim_refuse(op, st, SIM_UNIMPLEMENTED,
                          "the simulator wants a state of tensor<2xui64>");
    const size_t bytes = bn_dtype_bytes(sim_result_type(p, op, 1)->dtype);
    if (bytes != 4 && bytes != 8)
        return sim_refuse(op, st, SIM_UNIMPLEMENTED,
                          "the simulator gives random words of 32 and 64 bits");
    return SIM_OK;
}

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* 20 rounds over the words of COUNTER, lower one first. */
static uint64_t threefry(uint64_t key, uint64_t counter)
{
    static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    const uint32_t keys[3] = {low, high, low ^ high ^ 0x1bd11bda};
    uint32_t x = (uint32_t)counter + keys[0], y = (uint32_t)(counter >> 32) + keys[1];
    for (uint32_t group = 0; group < 5; group++) {
        for (int i = 0; i < 4; i++) {
            x += y;
            y = rotate(y, rotations[group % 2][i]) ^ x;
        }
        x += keys[(group + 1) % 3];
        y += keys[(group + 2) % 3] + group + 1;
    }
    return (uint64_t)y << 32 | x;
}

/* The dimension along which words of 32 bits alternate: the first that is even, else the
 * largest. */
static int split_dimension(const sim_type *type)
{
    int largest = 0;
    for (int i = 0; i < type->rank; i++) {
        if (type->dims[i] % 2 == 0)
            return i;
        if (type->dims[i] > type->dims[largest])
            largest = i;
    }
    return largest;
}

/* Words of 32 bits; returns how many blocks were used. */
static uint64_t fill_halves(const sim_type *type, const uint64_t *state, uint32_t *out)
{
    const int split = split_dimension(type);
    const int64_t size = type->rank > 0 ? type->dims[split] : 1, half = (size + 1) / 2;
    int64_t inner = 1;
    for (int i = split + 1; i < type->rank; i++)
        inner *= type->dims[i];
    const int64_t outer = sim_type_elements(type) / (size * inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t s = 0; s < half; s++)
            for (int64_t i = 0; i < inner; i++) {
                const int64_t block = (o * half + s) * inner + i;
                const uint64_t bits = threefry(state[0], state[1] + (uint64_t)block);
                uint32_t *at = out + (o * size + 2 * s) * inner + i;
                at[0] = (uint32_t)bits;
                if (2 * s + 1 < size)
                    at[inner] = (uint32_t)(bits >> 32);
            }
    return (uint64_t)(outer * half * inner);
}

sim_code sim_rule_rng_bit_generator(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_result_type(run->program, op, 1);
    const int64_t n = sim_type_elements(type);
    uint64_t state[2];
    memcpy(state, sim_operand(run, op, 0), sizeof state);
    uint64_t used = (uint64_t)n;
    if (n > 0 && bn_dtype_bytes(type->dtype) == 4)
        used = fill_halves(type, state, sim_result(run, op, 1));
    else
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)sim_result(run, op, 1))[i] = threefry(state[0], state[1] + (uint64_t)i);
    state[1] += used;
    memcpy(sim_result(run, op, 0), state, sizeof state);
    return sim_run_work(run, 100 * (double)n);
}
