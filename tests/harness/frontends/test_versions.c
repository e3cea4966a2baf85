/*
 * test_versions.c - versions of a front end's packages, held against the pinned ones. Needs no
 * Python.
 */
#include "harness/frontends/frontends.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <string.h>

/* The message about a package "jax" of version FOUND, NULL for none, where LINE pins it. */
static size_t put(const char *line, const char *found, bn_text *out)
{
    json_t *pinned = json_pack("[s]", line);
    json_t *versions = found ? json_pack("{s:s}", "jax", found) : json_object();
    bn_text_clear(out);
    const size_t missing = frontend_put_unpinned(pinned, versions, out);
    json_decref(pinned);
    json_decref(versions);
    return missing;
}

static void other_versions_are_named(void **state)
{
    (void)state;
    static const char *const lines[] = {"jax==0.10.2",
                                        "jax == 0.10.2",
                                        "jax[cuda]==0.10.2",
                                        "jax[cuda] ==0.10.2 ; python_version >= '3.11'",
                                        "jax==0.10.2 --hash=sha256:00",
                                        "jax==0.10.2 \\",
                                        "jax===0.10.2",
                                        "jax==0.10.2 # a remark"};
    bn_text out = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(put(lines[i], "0.10.1", &out), 0);
        assert_int_equal(out.length, strlen("jax 0.10.1 where 0.10.2 is pinned"));
        assert_string_equal(out.data, "jax 0.10.1 where 0.10.2 is pinned");
        assert_int_equal(put(lines[i], "0.10.2", &out), 0);
        assert_int_equal(out.length, 0);
        assert_int_equal(put(lines[i], NULL, &out), 1);
        assert_int_equal(out.length, 0);
    }
    bn_text_free(&out);
}

/* A version with more behind it is another one, but for a local part where none is pinned. */
static void versions_are_whole(void **state)
{
    (void)state;
    static const struct {
        const char *line, *found;
        bool pinned;
    } rows[] = {{"jax==2.9.0", "2.9.0+cpu", true},     {"jax==2.9.0+cpu", "2.9.0", false},
                {"jax==2.9.0+cpu", "2.9.0+cpu", true}, {"jax==2.9.0+cpu", "2.9.0+cu1", false},
                {"jax==2.9.1", "2.9.10", false},       {"jax==2.9.1", "2.9.1rc1", false}};
    bn_text out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(put(rows[i].line, rows[i].found, &out), 0);
        assert_int_equal(out.length == 0, rows[i].pinned);
    }
    bn_text_free(&out);
}

/* Lines that pin nothing to one version ask for nothing: no process is started for them. */
static void other_lines_pin_nothing(void **state)
{
    (void)state;
    static const char *const lines[] = {"jax",
                                        "jax>=0.10.2",
                                        "jax~=0.10.2",
                                        "jax!=0.10.2",
                                        "jax==0.10.*",
                                        "jax==",
                                        "jax ; python_version == '3.11'",
                                        "jax @ https://example.org/jax==0.10.2",
                                        "--extra-index-url=https://example.org/jax==0.10.2",
                                        "==0.10.2",
                                        ""};
    const frontend_place place = {.python = "/nowhere/python"};
    bn_text out = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(put(lines[i], "0.10.1", &out), 0);
        assert_int_equal(out.length, 0);
        json_t *pinned = json_pack("[s]", lines[i]);
        json_t *versions = frontend_versions(&place, pinned);
        assert_int_equal(json_object_size(versions), 0);
        assert_non_null(versions);
        json_decref(versions);
        json_decref(pinned);
    }
    bn_text_free(&out);
}

static void several_are_one_sentence(void **state)
{
    (void)state;
    json_t *pinned = json_pack("[s,s,s,i]", "jax==2", "numpy==1", "jaxlib==2", 7);
    json_t *versions = json_pack("{s:s, s:s}", "jax", "1", "jaxlib", "3");
    const frontend_place place = {.script = "/s/jax/run.py", .python = "/p/python"};
    bn_text out = {0};
    assert_int_equal(frontend_put_unpinned(pinned, versions, &out), 1);
    assert_string_equal(out.data, "jax 1 where 2 is pinned, jaxlib 3 where 2 is pinned");
    /* A Python without an answer has unknown versions. */
    bn_text_clear(&out);
    assert_int_equal(frontend_put_unpinned(pinned, NULL, &out), 3);
    assert_int_equal(out.length, 0);
    frontend_put_pin_command(&place, &out);
    assert_string_equal(out.data, "/p/python -m pip install -r /s/jax/requirements.txt");
    bn_text_free(&out);
    json_decref(pinned);
    json_decref(versions);
}

static void a_python_that_there_is_not_says_nothing(void **state)
{
    (void)state;
    const frontend_place place = {.python = "/nowhere/python"};
    json_t *pinned = json_pack("[s]", "jax==2");
    assert_null(frontend_versions(&place, pinned));
    json_decref(pinned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_versions_are_named),
        cmocka_unit_test(versions_are_whole),
        cmocka_unit_test(other_lines_pin_nothing),
        cmocka_unit_test(several_are_one_sentence),
        cmocka_unit_test(a_python_that_there_is_not_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
