/*
 * test_cache.c - executables kept in memory and on disk: bounded, shared between processes,
 * proof against damage.
 */
#define _GNU_SOURCE
#include "tests/modes/fit_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void count_files(const char *folder, int *files, char *last, size_t size)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    *files = 0;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            ++*files;
            snprintf(last, size, "%s/%s", folder, e->d_name);
        }
    closedir(d);
}

/* The message of the last disk_counters about a file that was refused; "": none. */
static char refusal[1100];

static void disk_counters(const char *folder, int64_t *compiles, int64_t *hits, int64_t *rejects)
{
    mode *m = mode_new("lazy", &(mode_options){.cache_dir = folder});
    fit f = fit_new(m);
    run_steps(m, &f, 3);
    assert_float_equal(fit_outcome(m, &f).loss, reference_loss(3, 0.01), 1e-4);
    *compiles = mode_counters(m)[BN_COUNTER_COMPILES];
    *hits = mode_counters(m)[BN_COUNTER_DISK_HITS];
    *rejects = mode_counters(m)[BN_COUNTER_DISK_REJECTS];
    const char *why = mode_disk_refusal(m);
    snprintf(refusal, sizeof refusal, "%s", why ? why : "");
    fit_free(m, &f);
    mode_destroy(m);
}

/* The last mode said that it refused FILE, with IDENTIFIERS (identifiers.h). */
static void refuses(const char *file, const char *identifiers)
{
    if (!strstr(refusal, bn_base_name(file)) || !has_identifiers(refusal, identifiers))
        fail_msg("\"%s\" does not say \"%s\" of %s", refusal, identifiers, file);
}

static void disk_cache_survives_and_refuses_damage(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[8192];
    int64_t compiles, hits, rejects;
    int files;
    snprintf(folder, sizeof folder, "%s/cache.%ld/deep", tmp ? tmp : "/tmp", (long)getpid());
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(compiles, 1);
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(compiles, 0);
    assert_int_equal(hits, 1);
    assert_int_equal(rejects, 0);
    assert_string_equal(refusal, "");

    count_files(folder, &files, file, sizeof file);
    assert_int_equal(files, 1);
    bn_status st = {0};
    char *data;
    size_t size;
    assert_ok(bn_regular_read(file, &data, &size, &st), &st);
    const size_t cuts[] = {0, 1, 20, size / 2, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        assert_ok(bn_file_write_own(file, data, cuts[i], &st), &st);
        disk_counters(folder, &compiles, &hits, &rejects);
        assert_int_equal(compiles, 1);
        assert_int_equal(rejects, 1);
        refuses(file, "");
    }
    data[size / 2] ^= 0x10;
    assert_ok(bn_file_write_atomic(file, data, size, &st), &st);
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(rejects, 1);
    disk_counters(folder, &compiles, &hits, &rejects); /* repaired by the run before */
    assert_int_equal(hits, 1);
    free(data);
}

/* Temporary files of a worker that was killed while it stored an executable. */
static void what_a_killed_worker_left_is_swept(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[4300], name[80];
    bn_status st = {0};
    int fd;
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    snprintf(folder, sizeof folder, "%s/cache-swept.%ld", tmp ? tmp : "/tmp", (long)getpid());
    memset(name, 'a', 64);
    strcpy(name + 64, ".exe");
    snprintf(file, sizeof file, "%s/%s.99999999-1.tmp", folder, name);
    assert_ok(bn_private_folder(folder, &fd, &st), &st);
    close(fd);
    assert_ok(bn_file_write_atomic(file, "half", 4, &st), &st);
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    mode_destroy(mode_new("lazy", &(mode_options){.cache_dir = folder}));
    assert_int_equal(access(file, F_OK), -1);
    rmdir(folder);
}

/* Another program's entry under the name of ours, and entries that others can write, are not run.
 */
static void entries_are_bound_to_their_program(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[8192], copy[8200];
    int64_t compiles, hits, rejects;
    int files;
    bn_status st = {0};
    char *data;
    size_t size;
    snprintf(folder, sizeof folder, "%s/cache-bound.%ld", tmp ? tmp : "/tmp", (long)getpid());
    disk_counters(folder, &compiles, &hits, &rejects);
    count_files(folder, &files, file, sizeof file);
    assert_ok(bn_regular_read(file, &data, &size, &st), &st);
    /* Whole, sealed, and of another plugin, other settings or another program. */
    const char *const heads[] = {"plugin ", "settings ", "program "};
    for (size_t i = 0; i < 3; i++) {
        char *digit = strstr(data, heads[i]) + strlen(heads[i]);
        const char was = *digit;
        *digit = was == '0' ? '1' : '0';
        assert_ok(bn_file_write_atomic(file, data, size, &st), &st);
        assert_int_equal(chmod(file, 0600), 0);
        disk_counters(folder, &compiles, &hits, &rejects);
        assert_int_equal(compiles, 1);
        assert_int_equal(rejects, 1);
        *digit = was;
    }
    assert_int_equal(chmod(file, 0622), 0);
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(rejects, 1);
    refuses(file, folder);
    snprintf(copy, sizeof copy, "%s.kept", file);
    assert_int_equal(rename(file, copy), 0);
    assert_int_equal(symlink(copy, file), 0);
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(rejects, 1);
    refuses(file, "");
    unlink(file);
    assert_int_equal(mkfifo(file, 0600), 0);
    disk_counters(folder, &compiles, &hits, &rejects); /* and it does not wait */
    assert_int_equal(rejects, 1);
    refuses(file, "");
    assert_int_equal(chmod(folder, 0777), 0);
    mode *m = NULL;
    assert_fails(mode_create("lazy", client, &(mode_options){.cache_dir = folder}, &m, &st),
                 BN_INVALID, folder, &st);
    free(data);
}

/* Options of the client and the plugins' environment variables are part of an entry's key: another
 * value compiles anew, and the first one still finds its own entry. */
static void entries_are_bound_to_settings(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[4200];
    int64_t compiles, hits, rejects;
    rt_client *usual = client, *other = NULL;
    bn_status st = {0};
    const rt_option options[] = {{.name = "asynchronous", .kind = RT_OPTION_BOOL, .integer = 1},
                                 {.name = "cpu_device_count", .kind = RT_OPTION_INT, .integer = 1}};
    snprintf(folder, sizeof folder, "%s/cache-settings.%ld", tmp ? tmp : "/tmp", (long)getpid());
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(compiles, 1);
    for (size_t count = 1; count <= 2; count++) {
        assert_ok(rt_client_create(rt_client_plugin(usual), options, count, &other, &st), &st);
        client = other;
        for (int again = 0; again < 2; again++) {
            disk_counters(folder, &compiles, &hits, &rejects);
            assert_int_equal(compiles, !again);
            assert_int_equal(hits, again);
            assert_int_equal(rejects, 0);
        }
        rt_client_destroy(other);
        client = usual;
    }
    snprintf(file, sizeof file, "%s.flags", folder);
    const char *const values[] = {"--xla_backend_optimization_level=0", file, file};
    for (size_t i = 0; i < 3; i++) {
        const size_t size = i; /* of a file of flags: it counts by its contents */
        assert_ok(bn_file_write_atomic(file, "  ", size, &st), &st);
        assert_int_equal(setenv("LIBTPU_INIT_ARGS", values[i], 1), 0);
        client = default_client();
        assert_int_equal(unsetenv("LIBTPU_INIT_ARGS"), 0);
        disk_counters(folder, &compiles, &hits, &rejects);
        assert_int_equal(compiles, 1);
        rt_client_destroy(client);
    }
    client = usual;
    disk_counters(folder, &compiles, &hits, &rejects);
    assert_int_equal(hits, 1);
}

/* The text has options in order of names, and each value is delimited. */
static void settings_are_listed_in_order(void **state)
{
    (void)state;
    rt_client *one = NULL, *two = NULL;
    rt_plugin *plugin = rt_client_plugin(client);
    bn_status st = {0};
    const rt_option a = {.name = "asynchronous", .kind = RT_OPTION_BOOL, .integer = 1},
                    c = {.name = "cpu_device_count", .kind = RT_OPTION_INT, .integer = 1};
    const rt_option forward[] = {a, c}, backward[] = {c, a};
    assert_ok(rt_client_create(plugin, forward, 2, &one, &st), &st);
    assert_ok(rt_client_create(plugin, backward, 2, &two, &st), &st);
    assert_string_equal(rt_client_settings(one), rt_client_settings(two));
    assert_non_null(strstr(rt_client_settings(one), "asynchronous"));
    rt_client_destroy(one);
    rt_client_destroy(two);
}

/* Processes that write and damage one entry at once never make a reader fail. */
static void disk_cache_bears_concurrent_writers(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char folder[4096], file[8192];
    bn_status st = {0};
    int64_t compiles, hits, rejects;
    int files;
    snprintf(folder, sizeof folder, "%s/cache-shared.%ld", tmp ? tmp : "/tmp", (long)getpid());
    disk_counters(folder, &compiles, &hits, &rejects);
    count_files(folder, &files, file, sizeof file);
    char *data;
    size_t size;
    assert_ok(bn_regular_read(file, &data, &size, &st), &st);
    pid_t writers[2];
    for (int w = 0; w < 2; w++) {
        writers[w] = fork();
        if (writers[w] == 0) { /* only files: the runtime's threads are not here */
            for (int i = 0; i < 200; i++)
                if (bn_file_write_atomic(file, data, size, &st) != BN_OK)
                    _exit(1);
            _exit(0);
        }
    }
    for (int i = 0; i < 5; i++) {
        disk_counters(folder, &compiles, &hits, &rejects);
        assert_int_equal(hits, 1);
        assert_int_equal(rejects, 0);
    }
    for (int w = 0; w < 2; w++) {
        int status = 0;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    count_files(folder, &files, file, sizeof file);
    assert_int_equal(files, 1);
    free(data);
}

static void memory_cache_is_bounded(void **state)
{
    (void)state;
    mode *m = mode_new("lazy", &(mode_options){.cache_entries = 2});
    bn_status st = {0};
    const int64_t *c = mode_counters(m);
    tg_tensor *v[3] = {vector_named("a", 1), vector_named("b", 2), vector_named("c", 3)};
    const float zeros[3] = {0};
    static const int order[] = {0, 1, 0, 2, 0, 1}; /* c pushes b out, b pushes c out */
    for (int i = 0; i < 3; i++)
        assert_ok(mode_write(m, v[i], zeros, &st), &st);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_ok(mode_step(m, &(mode_call){add_step, v[order[i]], NULL, 0, NULL}, NULL, &st), &st);
    assert_int_equal(c[BN_COUNTER_COMPILES], 4);
    assert_int_equal(c[BN_COUNTER_CACHE_EVICTIONS], 2);
    assert_int_equal(rt_live().executables, 2);
    for (int i = 0; i < 3; i++) {
        float got[3];
        assert_ok(mode_read(m, v[i], got, sizeof(float) * (size_t)(i + 1), &st), &st);
        assert_float_equal(got[0], i == 0 ? 3 : i == 1 ? 2 : 1, 0);
        mode_clear(m, v[i]);
        tg_variable_free(v[i]);
    }
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disk_cache_survives_and_refuses_damage),
        cmocka_unit_test(what_a_killed_worker_left_is_swept),
        cmocka_unit_test(entries_are_bound_to_their_program),
        cmocka_unit_test(entries_are_bound_to_settings),
        cmocka_unit_test(settings_are_listed_in_order),
        cmocka_unit_test(disk_cache_bears_concurrent_writers),
        cmocka_unit_test(memory_cache_is_bounded),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
