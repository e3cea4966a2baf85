/*
 * test_vet.c - who reads foreign files, and how it ends: a child does, libhdf5 never sees such
 * bytes in our own process, no file leads it to another one, and what ends the child from outside
 * is no fault of the file. Needs no plugin.
 */
#define _GNU_SOURCE
#include "tests/support/results_fixture.h"

#include "results/records/store_priv.h"
#include "tests/support/sanitized.h"
#include "tests/support/test_runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 10 };

static char folder[256];

/* Files that libhdf5 opened in this process. */
static unsigned opened;

hid_t H5Fopen(const char *name, unsigned flags, hid_t access)
{
    hid_t (*real)(const char *, unsigned, hid_t);
    *(void **)&real = dlsym(RTLD_NEXT, "H5Fopen");
    opened++;
    return real(name, flags, access);
}

/* How many of the next calls of recv fail. */
static int failing;

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    if (failing > 0) {
        failing--;
        errno = EIO;
        return -1;
    }
    return recvfrom(fd, data, size, flags, NULL, NULL);
}

/* ---- files that lead to others -------------------------------------------------------------- */

static void replace(hid_t file, const char *path, hid_t layout)
{
    const hsize_t dims = STEPS;
    hid_t space = H5Screate_simple(1, &dims, NULL);
    assert_true(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
    hid_t data = H5Dcreate2(file, path, H5T_STD_U64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(layout);
}

static void put_external(hid_t file, const char *other)
{
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_external(layout, fixture_in(folder, other), 0, STEPS * sizeof(uint64_t)) >=
                0);
    replace(file, "steps/wall_ns", layout);
}

static void private_storage(hid_t file)
{
    put_external(file, "private");
}

static void pipe_storage(hid_t file)
{
    put_external(file, "pipe");
}

static void put_virtual(hid_t file, const char *other)
{
    const hsize_t dims = STEPS;
    hid_t space = H5Screate_simple(1, &dims, NULL);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_virtual(layout, space, fixture_in(folder, other), "wall_ns", space) >= 0);
    H5Sclose(space);
    replace(file, "steps/wall_ns", layout);
}

static void virtual_file(hid_t file)
{
    put_virtual(file, "other.h5");
}

static void virtual_pipe(hid_t file)
{
    put_virtual(file, "pipe");
}

/* HDF5 learns how long this is from the other file. */
static void virtual_without_end(hid_t file)
{
    const hsize_t dims = STEPS, most = H5S_UNLIMITED, start = 0, one = 1;
    hid_t from = H5Screate_simple(1, &dims, &most), to = H5Screate_simple(1, &dims, &most);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, NULL, &one, &most);
    H5Sselect_hyperslab(to, H5S_SELECT_SET, &start, NULL, &one, &most);
    assert_true(H5Pset_virtual(layout, to, fixture_in(folder, "pipe"), "wall_ns", from) >= 0);
    assert_true(H5Ldelete(file, "steps/wall_ns", H5P_DEFAULT) >= 0);
    hid_t data =
        H5Dcreate2(file, "steps/wall_ns", H5T_STD_U64LE, to, H5P_DEFAULT, layout, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Dclose(data);
    H5Pclose(layout);
    H5Sclose(to);
    H5Sclose(from);
}

static void linked_times(hid_t file)
{
    assert_true(H5Ldelete(file, "steps/wall_ns", H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_external(fixture_in(folder, "other.h5"), "wall_ns", file, "steps/wall_ns",
                                   H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void linked_group(hid_t file)
{
    assert_true(H5Ldelete(file, "executions", H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_external(fixture_in(folder, "pipe"), "/", file, "executions", H5P_DEFAULT,
                                   H5P_DEFAULT) >= 0);
}

static void linked_rounds(hid_t file)
{
    assert_true(H5Lcreate_external(fixture_in(folder, "pipe"), "/", file, "rounds", H5P_DEFAULT,
                                   H5P_DEFAULT) >= 0);
}

static void soft_link(hid_t file)
{
    assert_true(H5Ldelete(file, "warmup/wall_ns", H5P_DEFAULT) >= 0);
    assert_true(
        H5Lcreate_soft("/steps/wall_ns", file, "warmup/wall_ns", H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void text_elsewhere(hid_t file)
{
    const hsize_t dims = 1;
    hid_t space = H5Screate_simple(1, &dims, NULL), type = H5Tcopy(H5T_C_S1);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Tset_size(type, 16);
    assert_true(H5Pset_external(layout, fixture_in(folder, "pipe"), 0, 16) >= 0);
    assert_true(H5Ldelete(file, "provenance", H5P_DEFAULT) >= 0);
    H5Dclose(H5Dcreate2(file, "provenance", type, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Tclose(type);
    H5Sclose(space);
}

/* In pieces, and each goes through a filter that only a plugin has. */
static void filtered(hid_t file)
{
    const hsize_t chunk = STEPS;
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, 1, &chunk);
    H5Pset_filter(layout, 32015, H5Z_FLAG_OPTIONAL, 0, NULL);
    replace(file, "steps/wall_ns", layout);
}

static const struct {
    const char *name;
    void (*edit)(hid_t file);
    const char *text;
} leading[] = {
    {"private.h5", private_storage, "/steps/wall_ns"},
    {"storage.h5", pipe_storage, "/steps/wall_ns"},
    {"virtual.h5", virtual_file, "/steps/wall_ns"},
    {"waiting.h5", virtual_pipe, "/steps/wall_ns"},
    {"unlimited.h5", virtual_without_end, "/steps/wall_ns"},
    {"text.h5", text_elsewhere, "/provenance"},
    {"times.h5", linked_times, "/steps/wall_ns"},
    {"group.h5", linked_group, "/executions"},
    {"rounds.h5", linked_rounds, "/rounds"},
    {"soft.h5", soft_link, "/warmup/wall_ns"},
    {"filtered.h5", filtered, "/steps/wall_ns"},
};
enum { LEADING = sizeof leading / sizeof *leading };

/* The file NAME as another program would write it: RECORD with EDIT, and sealed. */
static void write_edited(const res_record *record, const char *name, void (*edit)(hid_t file))
{
    char *image = NULL, *bytes = NULL;
    const char *path = fixture_in(folder, name);
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    assert_ok(res_image_write(record, &image, &size, &st), &st);
    assert_ok(bn_file_write_atomic(path, image, size, &st), &st);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (edit)
        edit(file);
    assert_true(H5Fclose(file) >= 0);
    assert_ok(bn_regular_read(path, &bytes, &size, &st), &st);
    res_seal(bytes, size);
    assert_ok(bn_file_write_atomic(path, bytes, size, &st), &st);
    free(bytes);
    free(image);
}

/* Writes what others could have. Before res_store_begin: after it HDF5 knows no such links. */
static int begin(void **state)
{
    (void)state;
    uint64_t times[STEPS];
    const hsize_t dims = STEPS;
    bn_status st = {.code = BN_OK};
    fixture_folder(folder, sizeof folder, "test_vet");
    for (uint64_t i = 0; i < STEPS; i++)
        times[i] = 1000 + i;
    assert_ok(bn_file_write_atomic(fixture_in(folder, "private"), times, sizeof times, &st), &st);
    hid_t other =
        H5Fcreate(fixture_in(folder, "other.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &dims, NULL);
    hid_t data =
        H5Dcreate2(other, "wall_ns", H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) >= 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Fclose(other);
    res_record *record = fixture_record(&fixture_lazy, STEPS);
    write_edited(record, "good.h5", NULL);
    for (size_t i = 0; i < LEADING; i++)
        write_edited(record, leading[i].name, leading[i].edit);
    res_record_free(record);
    assert_int_equal(mkfifo(fixture_in(folder, "pipe"), 0600), 0);
    res_store_begin();
    return 0;
}

static void no_file_leads_to_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEADING; i++) {
        res_record *record = NULL;
        bn_status st = {.code = BN_OK};
        alarm(20); /* a pipe would be waited for */
        bn_code code = res_store_read_foreign(fixture_in(folder, leading[i].name), &record, &st);
        alarm(0);
        if (code != BN_FORMAT || !strstr(st.message, leading[i].text))
            fail_msg("%s: %s, \"%s\"", leading[i].name, bn_code_name(code), st.message);
        assert_null(record);
    }
}

/* Whatever our reader looks at first, HDF5 itself leaves no file. */
static void hdf5_knows_no_links_out_of_a_file(void **state)
{
    (void)state;
    unsigned plugins = 1;
    assert_int_equal(H5Lis_registered(H5L_TYPE_EXTERNAL), 0);
    assert_true(H5PLget_loading_state(&plugins) >= 0);
    assert_int_equal(plugins, 0);
    hid_t file = H5Fopen(fixture_in(folder, "times.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Dopen2(file, "steps/wall_ns", H5P_DEFAULT) < 0);
    H5Fclose(file);
}

/* ---- who reads ------------------------------------------------------------------------------- */

static void assert_reads(const char *name)
{
    res_record *record = NULL;
    bn_status st = {.code = BN_OK};
    assert_ok(res_store_read_foreign(fixture_in(folder, name), &record, &st), &st);
    assert_int_equal(record->step_count, STEPS);
    res_record_free(record);
}

static void hdf5_sees_foreign_bytes_in_the_child_only(void **state)
{
    (void)state;
    opened = 0;
    assert_reads("good.h5");
    assert_int_equal(opened, 0);
    res_store_vet_end();
}

/* A record from the child has all members of the file. */
static void nothing_is_lost_on_the_way(void **state)
{
    (void)state;
    const double round_ns[] = {25e6, 25e6};
    bn_status st = {.code = BN_OK};
    bn_text out = {0};
    res_record *record = fixture_rounds(&fixture_lazy, round_ns, 2, 5), *back = NULL;
    assert_ok(res_execution_reserve_probes(&record->executions[0], 3, &st), &st);
    record->executions[0].probes[2].awaited_ns = 77;
    record->experiment.seed = UINT64_MAX;
    record->simulated = true;
    json_object_set_new(record->provenance, "real", json_real(0.1));
    res_wire_put(record, &out);
    assert_ok(res_wire_take(out.data, out.length, &back, &st), &st);
    char *images[2] = {NULL, NULL};
    size_t sizes[2];
    assert_ok(res_image_write(record, &images[0], &sizes[0], &st), &st);
    assert_ok(res_image_write(back, &images[1], &sizes[1], &st), &st);
    json_t *jsons[] = {res_record_to_json(record), res_record_to_json(back)};
    assert_true(json_equal(jsons[0], jsons[1]));
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(back->rounds, record->rounds, record->round_count * sizeof *back->rounds);
    assert_int_equal(back->executions[0].probe_count, 3);
    assert_int_equal(back->executions[0].probes[2].awaited_ns, 77);
    for (int i = 0; i < 2; i++) {
        json_decref(jsons[i]);
        free(images[i]);
    }
    bn_text_free(&out);
    res_record_free(back);
    res_record_free(record);
}

/* The child's bytes are as foreign as the file: cut anywhere or changed, they are a record in order
 * or none. */
static void the_childs_bytes_are_not_believed(void **state)
{
    (void)state;
    bn_status st = {.code = BN_OK};
    bn_text out = {0};
    size_t refused = 0;
    res_record *record = fixture_record(&fixture_lazy, STEPS);
    res_wire_put(record, &out);
    for (size_t i = 0; i < out.length; i += i < 3000 ? 1 : 37) {
        res_record *back = NULL;
        assert_int_equal(res_wire_take(out.data, i, &back, &st), BN_FORMAT);
        assert_null(back);
        out.data[i] ^= (char)0xFF;
        st = (bn_status){.code = BN_OK};
        bn_code code = res_wire_take(out.data, out.length, &back, &st);
        out.data[i] ^= (char)0xFF;
        assert_true(code == BN_OK ? res_record_check(back, &st) == BN_OK : code == BN_FORMAT);
        refused += code != BN_OK;
        res_record_free(back);
    }
    assert_true(refused > 10);
    bn_text_free(&out);
    res_record_free(record);
}

/* ---- how the child ends -----------------------------------------------------------------------
 */

/* The first child of this process; 0: there is none. */
static pid_t child_of_ours(void)
{
    char path[64];
    long pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%ld", &pid) != 1)
        pid = 0;
    if (f)
        fclose(f);
    return (pid_t)pid;
}

static void on_signal(int number)
{
    (void)number;
}

/* As the harness takes them: waiting ends at once. */
static void take_signals(void)
{
    const struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    sigaction(SIGQUIT, &act, NULL);
}

static void requests_to_end_do_not_end_the_child(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    take_signals();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_reads("good.h5");
        const pid_t pid = child_of_ours();
        assert_true(pid > 0);
        assert_int_equal(kill(pid, numbers[i]), 0);
        assert_reads("good.h5");
        assert_int_equal(child_of_ours(), pid);
    }
    res_store_vet_end();
}

/* Signals PID's group until it ends. */
static void signal_until_end(pid_t pid, int *status)
{
    pid_t gone;
    const struct timespec pause = {.tv_nsec = 300000};
    while ((gone = waitpid(pid, status, WNOHANG)) == 0) {
        kill(-pid, SIGTERM);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(gone, pid);
}

/* As systemctl stop does, in the middle of a night: nothing becomes damaged. */
static void a_group_that_must_end_takes_no_record_for_damaged(void **state)
{
    (void)state;
    enum { RECORDS = 60 };
    char store[300];
    int status = 1;
    bn_status st = {.code = BN_OK};
    snprintf(store, sizeof store, "%s/group", folder);
    for (int i = 0; i < RECORDS; i++) {
        res_record *record = fixture_record(&fixture_lazy, STEPS);
        snprintf(record->id, sizeof record->id, "20260101T0200%02d.000000000Z-h-1-0", i);
        assert_ok(res_store_write(store, record, NULL, 0, &st), &st);
        res_record_free(record);
    }
    take_signals();
    const pid_t pid = fork();
    if (pid == 0) {
        res_index index;
        setpgid(0, 0);
        const bool whole = res_index_load(store, NULL, &index, &st) == BN_OK &&
                           index.count == RECORDS && index.damaged_count == 0;
        _exit(whole ? 0 : 1);
    }
    setpgid(pid, pid);
    signal_until_end(pid, &status);
    assert_int_equal(status, 0);
}

/* A child killed from outside says nothing about the file. */
static void a_child_that_was_killed_damns_no_record(void **state)
{
    (void)state;
    res_record *record = NULL;
    /* A file and a machine end a child in the same ways. */
    static const int ends[] = {SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGXCPU};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        bn_status st = {.code = BN_OK};
        res_proof proof;
        assert_reads("good.h5");
        const pid_t pid = child_of_ours();
        assert_true(pid > 0);
        assert_int_equal(kill(pid, ends[i]), 0);
        assert_int_equal(res_foreign_read(fixture_in(folder, "good.h5"), &record, &proof, &st),
                         BN_IO);
        assert_non_null(strstr(st.message, "good.h5"));
        assert_false(proof.proven);
        assert_int_equal(child_of_ours(), 0);
        assert_reads("good.h5");
        res_store_vet_end();
    }
}

/* The wire breaks while the child lives: it is not waited for. */
static void a_child_that_lives_on_is_not_waited_for(void **state)
{
    (void)state;
    res_record *record = NULL;
    bn_status st = {.code = BN_OK};
    assert_reads("good.h5");
    failing = 1;
    alarm(20);
    assert_int_equal(res_store_read_foreign(fixture_in(folder, "good.h5"), &record, &st), BN_IO);
    alarm(0);
    assert_int_equal(child_of_ours(), 0);
    assert_reads("good.h5");
    res_store_vet_end();
}

/* A provenance of many small values, of which each takes more memory than text. */
static void large_provenance(hid_t file)
{
    enum { VALUES = 12 << 20 };
    static const char head[] = "{\"values\": [1";
    char *text = bn_zalloc(sizeof head + 2 * (size_t)VALUES + 3, 1), *at = text;
    hid_t type = res_h5_text_type(), data = H5Dopen2(file, "provenance", H5P_DEFAULT);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < VALUES; i++) {
        *at++ = ',';
        *at++ = '1';
    }
    memcpy(at, "]}", 3);
    assert_true(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0);
    H5Dclose(data);
    H5Tclose(type);
    free(text);
}

/* The child ends at its limit of memory, and only the parent reports it. */
static void a_child_without_memory_is_reported_once(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, STEPS);
    bn_status st = {.code = BN_OK};
    struct stat printed;
    write_edited(record, "large.h5", large_provenance);
    res_record_free(record);
    res_store_vet_end();
    const int errors = dup(STDERR_FILENO);
    const int file = open(fixture_in(folder, "errors"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(errors >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    const bn_code code = res_store_read_foreign(fixture_in(folder, "large.h5"), &record, &st);
    dup2(errors, STDERR_FILENO);
    assert_int_equal(code, BN_IO);
    assert_non_null(strstr(st.message, "large.h5"));
    if (!SANITIZED)
        assert_non_null(strstr(st.message, "256 MB"));
    assert_int_equal(fstat(file, &printed), 0);
    assert_true(printed.st_size == 0 || SANITIZED);
    close(file);
    close(errors);
    assert_reads("good.h5");
    unlink(fixture_in(folder, "large.h5"));
}

int main(void)
{
    json_set_alloc_funcs(bn_alloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_leads_to_another),
        cmocka_unit_test(hdf5_knows_no_links_out_of_a_file),
        cmocka_unit_test(hdf5_sees_foreign_bytes_in_the_child_only),
        cmocka_unit_test(nothing_is_lost_on_the_way),
        cmocka_unit_test(the_childs_bytes_are_not_believed),
        cmocka_unit_test(requests_to_end_do_not_end_the_child),
        cmocka_unit_test(a_group_that_must_end_takes_no_record_for_damaged),
        cmocka_unit_test(a_child_that_was_killed_damns_no_record),
        cmocka_unit_test(a_child_that_lives_on_is_not_waited_for),
        cmocka_unit_test(a_child_without_memory_is_reported_once),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
