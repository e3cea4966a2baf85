/*
 * test_files.c - the modules of a front end's script: which they are, their digest, and what of a
 * change is noticed. Needs no Python.
 */
#define _GNU_SOURCE
#include "harness/frontends/frontends.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[300];
static frontend_place place;

/* The path of NAME in the folder; the next call but three overwrites it. */
static const char *in(const char *name)
{
    static char paths[4][600];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    bn_status st = {0};
    assert_ok(bn_file_write_own(in(name), text, strlen(text), &st), &st);
}

/* The DIGEST of FILES, names and what they hold, which end with NULL. */
static void hash(const char *const (*files)[2], char digest[BN_SHA256_TEXT])
{
    bn_text all = {0};
    for (; (*files)[0]; files++) {
        bn_text_append(&all, (*files)[0], strlen((*files)[0]) + 1);
        bn_text_int(&all, (int64_t)strlen((*files)[1]));
        bn_text_putc(&all, '\0');
        bn_text_puts(&all, (*files)[1]);
    }
    bn_sha256(all.data, all.length, digest);
    bn_text_free(&all);
}

static int begin(void **state)
{
    const char *tmp = getenv("TMPDIR");
    bn_status st = {0};
    (void)state;
    umask(022);
    snprintf(folder, sizeof folder, "%s/files.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    assert_ok(bn_make_folder(in("common"), &st), &st);
    assert_ok(bn_make_folder(in("jax/models"), &st), &st);
    put("common/front_main.py", "shared");
    put("jax/models.py", "beside the folder of that name");
    put("jax/models/bert.py", "in it");
    put("jax/run.py", "");
    /* Python prefers the first of these to the second, and a pyc to a library of its own. */
    put("jax/layers.abi3.so", "a library");
    put("jax/layers.py", "not taken");
    put("jax/json.pyc", "compiled");
    assert_ok(bn_make_folder(in("jax/__pycache__"), &st), &st);
    put("jax/__pycache__/run.cpython-312.pyc", "kept of run.py");
    put("jax/notes.txt", "no module");
    put("jax/.run.py", "an editor's");
    put("other.py", "in neither");
    snprintf(place.script, sizeof place.script, "%s", in("jax/run.py"));
    return 0;
}

static void the_digest_is_of_all_that_it_can_import(void **state)
{
    static const char *const files[][2] = {{"common/front_main.py", "shared"},
                                           {"jax/json.pyc", "compiled"},
                                           {"jax/layers.abi3.so", "a library"},
                                           {"jax/layers.py", "not taken"},
                                           {"jax/models/bert.py", "in it"},
                                           {"jax/models.py", "beside the folder of that name"},
                                           {"jax/run.py", ""},
                                           {NULL, NULL}};
    char wanted[BN_SHA256_TEXT];
    bn_status st = {0};
    frontend_files *now = NULL;
    (void)state;
    hash(files, wanted);
    assert_ok(frontend_files_hash(&place, &now, &st), &st);
    assert_string_equal(frontend_files_sha256(now), wanted);
    assert_ok(frontend_files_check(now, &st), &st);
    put("jax/notes.txt", "another");
    put("jax/.run.py", "another");
    put("jax/__pycache__/run.cpython-312.pyc", "kept anew");
    put("other.py", "another");
    assert_ok(frontend_files_check(now, &st), &st);
    frontend_files_free(now);
    frontend_files_free(NULL);
}

/* A link to a folder is followed, as Python follows it. */
static void what_a_link_leads_to_is_of_it(void **state)
{
    char before[BN_SHA256_TEXT];
    bn_status st = {0};
    frontend_files *files = NULL;
    (void)state;
    assert_ok(frontend_files_hash(&place, &files, &st), &st);
    memcpy(before, frontend_files_sha256(files), sizeof before);
    assert_ok(bn_make_folder(in("elsewhere"), &st), &st);
    put("elsewhere/layers.py", "1");
    assert_int_equal(symlink(in("elsewhere"), in("jax/linked")), 0);
    assert_fails(frontend_files_check(files, &st), BN_CHANGED, "jax/linked/layers.py", &st);
    frontend_files_free(files);
    assert_ok(frontend_files_hash(&place, &files, &st), &st);
    assert_string_not_equal(frontend_files_sha256(files), before);
    put("elsewhere/layers.py", "2");
    assert_fails(frontend_files_check(files, &st), BN_CHANGED, "jax/linked/layers.py", &st);
    frontend_files_free(files);
    unlink(in("jax/linked"));
}

static void written(void)
{
    put("common/front_main.py", "SHARED");
}

static void added(void)
{
    put("jax/numpy.py", "in the place of another");
}

static void removed(void)
{
    unlink(in("jax/numpy.py"));
}

static void moved_and_back(void)
{
    usleep(20000);
    assert_int_equal(rename(in("jax/models.py"), in("jax/aside")), 0);
    assert_int_equal(rename(in("jax/aside"), in("jax/models.py")), 0);
}

static void gone(void)
{
    assert_int_equal(rename(in("jax"), in("away")), 0);
}

static void a_change_is_noticed(void **state)
{
    static const struct {
        void (*change)(void);
        const char *says;
    } changes[] = {{written, "common/front_main.py"},
                   {added, "jax/numpy.py"},
                   {removed, "jax/numpy.py"},
                   {moved_and_back, "jax/models.py"},
                   {gone, "jax/run.py"}};
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        bn_status st = {0};
        frontend_files *files = NULL;
        assert_ok(frontend_files_hash(&place, &files, &st), &st);
        changes[i].change();
        assert_fails(frontend_files_check(files, &st), BN_CHANGED, changes[i].says, &st);
        frontend_files_free(files);
    }
    assert_int_equal(rename(in("away"), in("jax")), 0);
}

/* Next to bench only the owner may write them; a file that a user names is not checked. */
static void what_others_may_write_is_not_run(void **state)
{
    bn_status st = {0};
    frontend_files *files = NULL;
    frontend_place bundled = place;
    (void)state;
    bundled.bundled = true;
    assert_ok(frontend_files_hash(&bundled, &files, &st), &st);
    frontend_files_free(files);
    static const char *const names[] = {"jax/models/bert.py",
                                        "jax/layers.abi3.so",
                                        "jax/json.pyc",
                                        "jax/__pycache__/run.cpython-312.pyc",
                                        "jax/__pycache__",
                                        "jax/models",
                                        "common"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat info;
        assert_int_equal(stat(in(names[i]), &info), 0);
        assert_int_equal(chmod(in(names[i]), info.st_mode | S_IWGRP), 0);
        assert_fails(frontend_files_hash(&bundled, &files, &st), BN_INVALID, names[i], &st);
        assert_null(files);
        assert_ok(frontend_files_hash(&place, &files, &st), &st);
        frontend_files_free(files);
        assert_int_equal(chmod(in(names[i]), info.st_mode), 0);
    }
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(in("jax/models/bert.py"), 12345, 0), 0);
    assert_fails(frontend_files_hash(&bundled, &files, &st), BN_INVALID, "models/bert.py", &st);
    assert_int_equal(chown(in("jax/models/bert.py"), 0, 0), 0);
}

static void what_cannot_be_hashed_is_refused(void **state)
{
    bn_status st = {0};
    frontend_files *files = NULL;
    frontend_place none = place;
    (void)state;
    assert_int_equal(mkfifo(in("jax/pipe.py"), 0600), 0);
    assert_fails(frontend_files_hash(&place, &files, &st), BN_INVALID, "jax/pipe.py", &st);
    unlink(in("jax/pipe.py"));
    /* A folder that leads into itself has no end. */
    assert_int_equal(symlink(".", in("jax/again")), 0);
    assert_fails(frontend_files_hash(&place, &files, &st), BN_INVALID, "jax/again", &st);
    unlink(in("jax/again"));
    snprintf(none.script, sizeof none.script, "%s", in("jax/none.py"));
    assert_fails(frontend_files_hash(&none, &files, &st), BN_NOT_FOUND, "none.py", &st);
    assert_null(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_is_of_all_that_it_can_import),
        cmocka_unit_test(what_a_link_leads_to_is_of_it),
        cmocka_unit_test(a_change_is_noticed),
        cmocka_unit_test(what_others_may_write_is_not_run),
        cmocka_unit_test(what_cannot_be_hashed_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
