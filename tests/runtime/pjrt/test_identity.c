/*
 * test_identity.c - the file that a plugin was loaded from: what may be one, and that a file which
 * was replaced, changed or removed since is noticed.
 *
 * BENCH_TEST_FAKE names a plugin that can be copied.
 */
#include "tests/support/test_runtime.h"

#include "runtime/pjrt/pjrt_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[300], path[400], other[400];
static char *bytes;
static size_t size;

static int begin(void **state)
{
    const char *tmp = getenv("TMPDIR");
    bn_status st = {.code = BN_OK};
    snprintf(folder, sizeof folder, "%s/identity.%ld", tmp ? tmp : "/tmp", (long)getpid());
    snprintf(path, sizeof path, "%s/plugin.so", folder);
    snprintf(other, sizeof other, "%s/other.so", folder);
    if (bn_make_folder(folder, &st) != BN_OK)
        return -1;
    return bn_file_read(getenv("BENCH_TEST_FAKE"), &bytes, &size, &st) == BN_OK ? 0 : -1;
}

static int end(void **state)
{
    free(bytes);
    unlink(path);
    unlink(other);
    rmdir(folder);
    return 0;
}

/* A plugin of a file of its own: one that was loaded stays loaded. */
static rt_plugin *loaded(const char *name)
{
    rt_plugin *plugin;
    bn_status st = {.code = BN_OK};
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    assert_ok(rt_plugin_load(path, &plugin, &st), &st);
    return plugin;
}

static void the_digest_is_of_what_was_loaded(void **state)
{
    char wanted[BN_SHA256_TEXT];
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = loaded("same");
    bn_sha256(bytes, size, wanted);
    assert_string_equal(rt_plugin_describe(plugin)->sha256, wanted);
    assert_ok(rt_plugin_check_file(plugin, &st), &st);
    unlink(path);
    /* Also when the file is gone: one name for all builds would be worse than none. */
    assert_string_equal(rt_plugin_describe(plugin)->sha256, wanted);
    assert_fails(rt_plugin_check_file(plugin, &st), BN_CHANGED, "removed", &st);
}

static void another_file_in_its_place_is_noticed(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = loaded("replaced");
    char wanted[BN_SHA256_TEXT];
    bn_sha256(bytes, size, wanted);
    bytes[size - 1] ^= 1;
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    bytes[size - 1] ^= 1;
    assert_fails(rt_plugin_check_file(plugin, &st), BN_CHANGED, "replaced", &st);
    assert_string_equal(rt_plugin_describe(plugin)->sha256, wanted);
    unlink(path);
}

/* Who knows which file it wants gets no other one, and no code of another runs. */
static void only_the_file_that_was_asked_for_is_loaded(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = NULL;
    char wanted[BN_SHA256_TEXT], other_digest[BN_SHA256_TEXT];
    bn_sha256(bytes, size, wanted);
    bn_sha256("other", 5, other_digest);
    snprintf(path, sizeof path, "%s/wanted.so", folder);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    assert_fails(rt_plugin_load_only(path, other_digest, &plugin, &st), BN_CHANGED, "was replaced",
                 &st);
    assert_null(plugin);
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    assert_ok(rt_plugin_load_only(path, wanted, &plugin, &st), &st);
    assert_string_equal(rt_plugin_describe(plugin)->sha256, wanted);
    /* Nor is one that is loaded already given for another. */
    assert_fails(rt_plugin_load_only(path, other_digest, &plugin, &st), BN_CHANGED, "was replaced",
                 &st);
    unlink(path);
}

/* Moved away and back, it is the same bytes. While it is loaded nobody knows what that was; later
 * it is as harmless as another name or other rights. */
static void a_file_that_was_moved_is_noticed(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_identity identity;
    rt_plugin *plugin = loaded("moved");
    assert_ok(rt_identity_take(path, &identity, &st), &st);
    assert_ok(rt_identity_check(path, &identity, true, &st), &st);
    /* The clock of a file system is not finer than some ms. */
    usleep(20000);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(rename(other, path), 0);
    assert_fails(rt_identity_check(path, &identity, true, &st), BN_CHANGED, path, &st);
    assert_ok(rt_plugin_check_file(plugin, &st), &st);
    assert_int_equal(link(path, other), 0);
    assert_int_equal(chmod(path, 0700), 0);
    assert_ok(rt_plugin_check_file(plugin, &st), &st);
    unlink(path);
    unlink(other);
}

static void what_is_no_file_is_refused(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = NULL;
    snprintf(path, sizeof path, "%s/pipe.so", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(rt_plugin_probe(path, &st), BN_INVALID, "not a file", &st);
    assert_fails(rt_plugin_load(path, &plugin, &st), BN_INVALID, "not a file", &st);
    assert_fails(rt_plugin_probe(folder, &st), BN_INVALID, "a folder", &st);
    assert_fails(rt_plugin_probe("/no/such.so", &st), BN_NOT_FOUND, "/no/such.so", &st);
    unlink(path);
    assert_ok(bn_file_write_atomic(path, "text", 4, &st), &st);
    assert_fails(rt_plugin_probe(path, &st), BN_PLUGIN, "not a shared object", &st);
    unlink(path);
    assert_null(plugin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_is_of_what_was_loaded),
        cmocka_unit_test(another_file_in_its_place_is_noticed),
        cmocka_unit_test(only_the_file_that_was_asked_for_is_loaded),
        cmocka_unit_test(a_file_that_was_moved_is_noticed),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
