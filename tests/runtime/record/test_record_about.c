/*
 * test_record_about.c - what a recording says of the process: its arguments and its frameworks.
 */
#include "tests/runtime/record/record_fixture.h"

/* Copies a library to PATH and loads it from there. */
static void load_as(const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    bn_status st = {0};
    MUST_DO(bn_regular_read(built("not_a_plugin"), &bytes, &size, &st), &st);
    MUST_DO(bn_file_write_atomic(path, bytes, size, &st), &st);
    free(bytes);
    MUST(dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

/* Folders of wheels, as pip leaves them. */
static void has_frameworks(const char *folder)
{
    static const char *const names[] = {"jaxlib",
                                        "jax-0.10.2.dist-info",
                                        "jaxlib-0.10.1.dist-info",
                                        "jaxtyping-7.dist-info",
                                        "torch-2.9.0+cpu.dist-info",
                                        "torch_xla-2.9.0.dist-info",
                                        "jax-0.10.2.data"};
    char path[4200];
    bn_status st = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/.site/%s", folder, names[i]);
        MUST_DO(bn_make_folder(path, &st), &st);
    }
    snprintf(path, sizeof path, "%s/.site/jaxlib/libjax_common.so", folder);
    load_as(path);
    snprintf(path, sizeof path, "%s/.site/_XLAC.cpython-311.so", folder);
    load_as(path);
    set_recorder(folder, "pjrt_sim");
    rt_client_destroy(recorded_client(NULL));
    rt_client_destroy(recorded_client(NULL));
}

static bool has_text(const recording *r, enum record_text what, const char *wanted)
{
    char text[4096];
    for (size_t i = 0; recording_text(r, what, i, text, sizeof text); i++)
        if (strcmp(text, wanted) == 0)
            return true;
    return false;
}

static void frameworks_are_recorded_with_their_versions(void **state)
{
    (void)state;
    const char *folder = new_folder();
    char text[64];
    in_child(has_frameworks, folder);
    recording r = recording_in(folder);
    assert_true(has_text(&r, RECORD_TEXT_FRAMEWORK, "jax 0.10.2"));
    assert_true(has_text(&r, RECORD_TEXT_FRAMEWORK, "jaxlib 0.10.1"));
    assert_true(has_text(&r, RECORD_TEXT_FRAMEWORK, "torch 2.9.0+cpu"));
    assert_true(has_text(&r, RECORD_TEXT_FRAMEWORK, "torch_xla 2.9.0"));
    /* Once, although there were two clients. */
    assert_false(recording_text(&r, RECORD_TEXT_FRAMEWORK, 4, text, sizeof text));
    recording_free(&r);
}

static void has_none(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    rt_client_destroy(recorded_client(NULL));
}

static void without_a_framework_none_is_named(void **state)
{
    (void)state;
    const char *folder = new_folder();
    char text[64];
    in_child(has_none, folder);
    recording r = recording_in(folder);
    assert_false(recording_text(&r, RECORD_TEXT_FRAMEWORK, 0, text, sizeof text));
    recording_free(&r);
}

static void runs_itself(const char *folder)
{
    setenv(RECORD_ENV_FOLDER, folder, 1);
    execl("/proc/self/exe", "test_record_about", "--epochs", "", "a b", (char *)NULL);
    _exit(9);
}

static void the_command_is_recorded(void **state)
{
    (void)state;
    static const char *const wanted[] = {"test_record_about", "--epochs", "", "a b"};
    const char *folder = new_folder();
    char text[64];
    in_child(runs_itself, folder);
    recording r = recording_in(folder);
    for (size_t i = 0; i < 4; i++) {
        assert_true(recording_text(&r, RECORD_TEXT_COMMAND, i, text, sizeof text));
        assert_string_equal(text, wanted[i]);
    }
    assert_false(recording_text(&r, RECORD_TEXT_COMMAND, 4, text, sizeof text));
    recording_free(&r);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        has_none(getenv(RECORD_ENV_FOLDER));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frameworks_are_recorded_with_their_versions),
        cmocka_unit_test(without_a_framework_none_is_named),
        cmocka_unit_test(the_command_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
