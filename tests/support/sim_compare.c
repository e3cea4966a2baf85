/* sim_compare.c - the simulator's evaluator against a real plugin; see sim_compare.h. */
#include "tests/support/sim_compare.h"

#include "tests/support/evaluator.h"
#include "tests/support/test_runtime.h"

#include <math.h>
#include <stdlib.h>

sim_program *sim_compare_read(const char *name, const char *text, size_t length)
{
    sim_program *p = NULL;
    sim_status st = {0};
    if (sim_program_read(text, length, &p, &st) != SIM_OK)
        fail_msg("%s: %s\n%.*s", name, st.message, (int)(length < 3000 ? length : 3000), text);
    return p;
}

void **sim_compare_rooms(const sim_program *p, const int *values, int count)
{
    void **rooms = calloc((size_t)count + 1, sizeof *rooms);
    assert_non_null(rooms);
    for (int i = 0; i < count; i++) {
        rooms[i] = calloc(1, (size_t)sim_type_bytes(&p->types[values[i]]) + 1);
        assert_non_null(rooms[i]);
    }
    return rooms;
}

void sim_compare_free(void **rooms, int count)
{
    for (int i = 0; i < count; i++)
        free(rooms[i]);
    free(rooms);
}

void sim_compare_evaluate(const char *name, const sim_program *p, void *const *arguments,
                          void *const *results)
{
    sim_status st = {0};
    if (sim_program_evaluate(p, (const void *const *)arguments, results, SIM_COMPARE_LIMIT, &st) !=
        SIM_OK)
        fail_msg("%s: %s", name, st.message);
}

#define DECODE(dtype, T)                                                                           \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = (double)((const T *)bytes)[i];                                                \
        return n;

int64_t sim_compare_decode(const sim_type *type, const void *bytes, double *out)
{
    int64_t n = sim_type_elements(type);
    if (type->dtype == BN_C64 || type->dtype == BN_C128)
        n *= 2;
    switch (type->dtype) {
        DECODE(BN_PRED, uint8_t)
        DECODE(BN_S8, int8_t)
        DECODE(BN_S16, int16_t)
        DECODE(BN_S32, int32_t)
        DECODE(BN_S64, int64_t)
        DECODE(BN_U8, uint8_t)
        DECODE(BN_U16, uint16_t)
        DECODE(BN_U32, uint32_t)
        DECODE(BN_U64, uint64_t)
        DECODE(BN_F32, float)
        DECODE(BN_F64, double)
        DECODE(BN_C64, float)
        DECODE(BN_C128, double)
    default:
        evaluator_unpack(type->dtype == BN_F16 ? TG_F16 : TG_BF16, bytes, out, n);
        return n;
    }
}

/* Relative, in addition to an absolute one of the same size; reasons as in test_ops.c. */
static double tolerance(bn_dtype dtype)
{
    switch (dtype) {
    case BN_F64:
    case BN_C128:
        return 1e-13;
    case BN_F32:
    case BN_C64:
        return 4e-6;
    case BN_F16:
        return 1.0 / 256;
    case BN_BF16:
        return 1.0 / 128;
    default:
        return 0;
    }
}

static void compare_result(const char *name, int number, const sim_type *type, const void *ours,
                           const void *theirs, double factor)
{
    const size_t room = 2 * (size_t)sim_type_elements(type) + 1;
    const double tolerated = factor * tolerance(type->dtype);
    double *got = malloc(room * sizeof *got), *want = malloc(room * sizeof *want);
    assert_non_null(got);
    assert_non_null(want);
    const int64_t n = sim_compare_decode(type, ours, got);
    sim_compare_decode(type, theirs, want);
    if (tolerated > 0 || memcmp(ours, theirs, (size_t)sim_type_bytes(type)) != 0)
        for (int64_t i = 0; i < n; i++)
            if (!(isnan(want[i]) ? isnan(got[i]) : got[i] == want[i]) &&
                !(fabs(got[i] - want[i]) <= tolerated * (1 + fabs(want[i]))))
                fail_msg("%s: result %d: element %lld of %s is %.9g, the runtime has %.9g", name,
                         number, (long long)i, bn_dtype_text(type->dtype), got[i], want[i]);
    free(got);
    free(want);
}

static void run_on_device(rt_client *client, const char *name, const char *text, size_t length,
                          const sim_program *p, void *const *arguments, void *const *results)
{
    const sim_block *body = &p->main->body;
    const size_t in = (size_t)body->argument_count, out = (size_t)body->result_count;
    rt_buffer **given = calloc(in + 1, sizeof *given), **made = calloc(out + 1, sizeof *made);
    /* Only values are compared, and each program runs once: optimizing would cost more. */
    static const char *const flags[] = {"xla_backend_optimization_level=0"};
    const rt_compile_options options = {.flags = flags, .flag_count = 1};
    rt_executable *executable;
    bn_status st = {0};
    assert_non_null(given);
    assert_non_null(made);
    if (compile_text(client, text, length, &options, &executable, &st) != BN_OK)
        fail_msg("%s: %s\n%.*s", name, st.message, (int)(length < 3000 ? length : 3000), text);
    for (size_t i = 0; i < in; i++) {
        const sim_type *type = &p->types[body->arguments[i]];
        assert_ok(rt_buffer_from_host(client, arguments[i], type->dtype, type->dims,
                                      (size_t)type->rank, &given[i], &st),
                  &st);
    }
    assert_ok(rt_execute(executable, given, in, NULL, 0, made, NULL, &st), &st);
    for (size_t i = 0; i < out; i++) {
        assert_ok(rt_buffer_to_host(client, made[i], results[i],
                                    (size_t)sim_type_bytes(&p->types[body->results[i]]), &st),
                  &st);
        rt_buffer_release(client, made[i]);
    }
    for (size_t i = 0; i < in; i++)
        rt_buffer_release(client, given[i]);
    rt_executable_destroy(executable);
    free(given);
    free(made);
}

void sim_compare_run(rt_client *client, const char *name, const char *text, size_t length,
                     void *const *arguments, double factor)
{
    sim_program *p = sim_compare_read(name, text, length);
    const sim_block *body = &p->main->body;
    void **ours = sim_compare_rooms(p, body->results, body->result_count);
    void **theirs = sim_compare_rooms(p, body->results, body->result_count);
    sim_compare_evaluate(name, p, arguments, ours);
    run_on_device(client, name, text, length, p, arguments, theirs);
    for (int i = 0; i < body->result_count; i++)
        compare_result(name, i, &p->types[body->results[i]], ours[i], theirs[i], factor);
    sim_compare_free(ours, body->result_count);
    sim_compare_free(theirs, body->result_count);
    sim_program_free(p);
}
