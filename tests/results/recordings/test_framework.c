/*
 * test_framework.c - which framework a recorded process ran, by what it had loaded and the names of
 * its programs.
 */
#include "results/recordings/recordings.h"
#include "tests/support/test_runtime.h"

static void the_framework_is_the_one_of_the_programs(void **state)
{
    (void)state;
    static const struct {
        const char *loaded[5], *program, *name;
        rec_framework_kind kind;
    } rows[] = {
        {{"jax 0.10.2", "jaxlib 0.10.2"}, "jit_step", "jax 0.10.2", REC_JAX},
        {{"jaxlib 0.10.2", "jax 0.10.2"}, "jit_step", "jax 0.10.2", REC_JAX},
        {{"jaxlib 0.10.2"}, "step", "jaxlib 0.10.2", REC_JAX},
        {{"torch 2.9.0", "torch_xla 2.9.0"},
         "SyncTensorsGraph.4",
         "torch_xla 2.9.0",
         REC_PYTORCH_XLA},
        /* One that imports the other. */
        {{"jax 0.10.2", "torch_xla 2.9.0"},
         "SyncTensorsGraph.4",
         "torch_xla 2.9.0",
         REC_PYTORCH_XLA},
        {{"torch_xla 2.9.0", "jax 0.10.2"}, "jit_step", "jax 0.10.2", REC_JAX},
        {{"other 1.0"}, "jit_step", "other 1.0", REC_OTHER_FRAMEWORK},
        {{NULL}, "jit_step", "unknown", REC_OTHER_FRAMEWORK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rec_program program = {.name = rows[i].program};
        const rec_process p = {.frameworks = rows[i].loaded,
                               .framework = rows[i].loaded[0] ? rows[i].loaded[0] : "",
                               .programs = &program,
                               .program_count = 1};
        assert_string_equal(rec_framework(&p), rows[i].name);
        assert_int_equal(rec_framework_of(&p), rows[i].kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_framework_is_the_one_of_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
