/*
 * test_scripts.c - the name of a recorded script, out of its process's command line.
 */
#include "results/recordings/views.h"
#include "tests/support/results_fixture.h"

static void scripts_have_names(void **state)
{
    (void)state;
    static const struct {
        const char *words[6], *name;
    } cases[] = {{{"python", "train.py"}, "train"},
                 {{"/venv/bin/python3.12", "-X", "dev", "-u", "a/b.c.py"}, "b.c"},
                 {{"python3", "-m", "torch.distributed.run", "x.py"}, "torch.distributed.run"},
                 {{"python3", "-c", "print()"}, "python3"},
                 {{"python3"}, "python3"},
                 {{"python3", "-X"}, "python3"},
                 {{"./train", "x.py"}, "train"},
                 {{NULL}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_text text = {0};
        rec_script_put(cases[i].words, &text);
        if (cases[i].name)
            assert_string_equal(text.data, cases[i].name);
        else
            assert_int_equal(text.length, 0);
        bn_text_free(&text);
    }
    bn_text text = {0};
    rec_script_put(NULL, &text);
    assert_int_equal(text.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
