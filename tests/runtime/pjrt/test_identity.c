/*
 * test_identity.c - the file that a plugin was loaded from: what may be one, and that a file which
 * was replaced, changed or removed since is noticed.
 *
 * BENCH_TEST_FAKE names a plugin that can be copied.
 */
#define _GNU_SOURCE
#include "tests/support/test_runtime.h"

#include "runtime/pjrt/pjrt_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
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
    return bn_regular_read(getenv("BENCH_TEST_FAKE"), &bytes, &size, &st) == BN_OK ? 0 : -1;
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
    assert_ok(rt_plugin_load(path, NULL, &plugin, &st), &st);
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

/* A caller with a wanted digest gets no other file, and no code of another runs. */
static void only_the_file_that_was_asked_for_is_loaded(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = NULL;
    char wanted[BN_SHA256_TEXT], other_digest[BN_SHA256_TEXT];
    bn_sha256(bytes, size, wanted);
    bn_sha256("other", 5, other_digest);
    snprintf(path, sizeof path, "%s/wanted.so", folder);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    assert_fails(rt_plugin_load(path, other_digest, &plugin, &st), BN_CHANGED, "was replaced", &st);
    assert_null(plugin);
    assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    assert_ok(rt_plugin_load(path, wanted, &plugin, &st), &st);
    assert_string_equal(rt_plugin_describe(plugin)->sha256, wanted);
    /* Nor is one that is loaded already given for another. */
    assert_fails(rt_plugin_load(path, other_digest, &plugin, &st), BN_CHANGED, "was replaced", &st);
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

static uint64_t epoch_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Files that other processes load: they may have loaded a file that replaced it in between. */
static void a_file_for_another_process_is_looked_at_strictly(void **state)
{
    char wanted[BN_SHA256_TEXT];
    bn_status st = {.code = BN_OK};
    rt_plugin_file *file = NULL;
    bn_sha256(bytes, size, wanted);
    snprintf(path, sizeof path, "%s/theirs.so", folder);
    assert_fails(rt_plugin_file_take(path, &file, &st), BN_NOT_FOUND, path, &st);
    assert_null(file);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    usleep(20000);
    const uint64_t begin = epoch_ns();
    assert_ok(rt_plugin_file_take(path, &file, &st), &st);
    assert_string_equal(rt_plugin_file_sha256(file), wanted);
    assert_ok(rt_plugin_file_check(file, &st), &st);
    assert_ok(rt_plugin_file_check_since(file, begin, &st), &st);
    assert_fails(rt_plugin_file_check_since(file, 1, &st), BN_CHANGED, "replaced or changed", &st);
    usleep(20000);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(rename(other, path), 0);
    assert_fails(rt_plugin_file_check(file, &st), BN_CHANGED, path, &st);
    rt_plugin_file_free(file);
    /* Looked at only now, it is the file of before, but not since BEGIN. */
    assert_ok(rt_plugin_file_take(path, &file, &st), &st);
    assert_fails(rt_plugin_file_check_since(file, begin, &st), BN_CHANGED, path, &st);
    rt_plugin_file_free(file);
    unlink(path);
}

/* dlopen as this program's own code calls it. While SWAPPED names a folder, what it holds stands in
 * the place of FOLDER for as long as the loader looks. FAULTS counts the renames that failed:
 * nobody may leave here by an assertion, since a lock is held. */
static const char *swapped;
static int faults;
void *dlopen(const char *file, int flags)
{
    void *(*real)(const char *, int) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    char aside[400];
    memcpy(&real, &symbol, sizeof real);
    if (!swapped)
        return real(file, flags);
    snprintf(aside, sizeof aside, "%s.aside", folder);
    faults -= rename(folder, aside) + rename(swapped, folder);
    void *library = real(file, flags);
    faults -= rename(folder, swapped) + rename(aside, folder);
    return library;
}

/* Its path names the same file, unchanged, before and after: only the loader has seen another. */
static void a_folder_that_was_swapped_is_noticed(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = NULL;
    char build[400], there[500];
    snprintf(path, sizeof path, "%s/swap.so", folder);
    snprintf(build, sizeof build, "%s.b", folder);
    snprintf(there, sizeof there, "%s.c", folder);
    assert_ok(bn_make_folder(build, &st), &st);
    /* On an overlay only some can be. */
    if (rename(build, there) != 0 || rename(there, build) != 0) {
        print_message("folders cannot be renamed here\n");
        rmdir(build);
        skip();
    }
    snprintf(there, sizeof there, "%s/swap.so", build);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    assert_ok(bn_file_write_atomic(there, bytes, size, &st), &st);
    swapped = build;
    const bn_code code = rt_plugin_load(path, NULL, &plugin, &st);
    swapped = NULL;
    assert_int_equal(faults, 0);
    assert_int_equal(code, BN_CHANGED);
    assert_non_null(strstr(st.message, path));
    assert_null(plugin);
    unlink(path);
    unlink(there);
    rmdir(build);
}

static void what_is_no_file_is_refused(void **state)
{
    bn_status st = {.code = BN_OK};
    rt_plugin *plugin = NULL;
    snprintf(path, sizeof path, "%s/pipe.so", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(rt_plugin_probe(path, &st), BN_INVALID, "not a file", &st);
    assert_fails(rt_plugin_load(path, NULL, &plugin, &st), BN_INVALID, "not a file", &st);
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
        cmocka_unit_test(a_file_for_another_process_is_looked_at_strictly),
        cmocka_unit_test(a_folder_that_was_swapped_is_noticed),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
