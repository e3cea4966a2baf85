/*
 * test_records.c - records, and their files in a store. Needs no plugin.
 *
 * `test_records --write-sample FOLDER` writes one record there and prints its
 * path: tests/results/records/check_readers.sh reads it with other programs.
 */
#define _GNU_SOURCE /* unshare */
#include "tests/support/own_mounts.h"
#include "tests/support/results_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[256];

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    fixture_folder(folder, sizeof folder, "test_records");
    return 0;
}

/* Files in STORE, hidden ones included. */
static size_t files_in(const char *store)
{
    DIR *entries = opendir(store);
    size_t count = 0;
    if (!entries)
        return 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}

static res_record *write_and_read(const res_record *record, const char *store)
{
    char path[512];
    bn_status st = {0};
    res_record *back = NULL;
    assert_int_equal(res_store_write(store, record, path, sizeof path, &st), BN_OK);
    assert_int_equal(res_store_read_foreign(path, &back, &st), BN_OK);
    assert_int_equal(st.code, BN_OK);
    return back;
}

/* ---- records -------------------------------------------------------------- */

static void ids_are_unique_and_sort_by_time(void **state)
{
    (void)state;
    char last[RES_TEXT] = "";
    for (int i = 0; i < 1000; i++) {
        res_record *record = res_record_new();
        assert_non_null(record);
        assert_true(strcmp(record->id, last) > 0);
        assert_true(isnan(record->loss));
        for (const char *c = record->id; *c != '\0'; c++)
            assert_non_null(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._-",
                                   *c));
        strcpy(last, record->id);
        res_record_free(record);
    }
    char pid[32];
    snprintf(pid, sizeof pid, "-%ld-", (long)getpid());
    assert_non_null(strstr(last, pid));
    res_record_free(NULL);
}

static void records_come_back_as_they_were(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 50);
    record->simulated = true;
    record->executions[1].from_disk = true;
    strcpy(record->executions[1].device_note, "a note");
    res_record *back = write_and_read(record, fixture_in(folder, "back"));

    /* Zeroed before they were filled, so padding and tails compare too. */
    assert_memory_equal(&back->experiment, &record->experiment, sizeof record->experiment);
    assert_string_equal(back->id, record->id);
    assert_int_equal(back->status, BN_OK);
    assert_true(back->simulated && back->warmup_stationary);
    assert_true(back->loss == record->loss);
    assert_int_equal(back->step_count, 50);
    assert_memory_equal(back->wall_ns, record->wall_ns, 50 * sizeof(uint64_t));
    assert_memory_equal(back->part_ns, record->part_ns, 50 * BN_PART_COUNT * sizeof(uint64_t));
    assert_int_equal(back->warmup_count, 5);
    assert_memory_equal(back->warmup_wall_ns, record->warmup_wall_ns, 5 * sizeof(uint64_t));
    assert_memory_equal(back->counters, record->counters, sizeof record->counters);
    assert_memory_equal(back->step_counters, record->step_counters, sizeof record->step_counters);
    assert_true(json_equal(back->provenance, record->provenance));
    assert_int_equal(back->execution_count, 2);
    for (size_t i = 0; i < 2; i++) {
        res_execution *ours = &record->executions[i], *theirs = &back->executions[i];
        assert_int_equal(theirs->pjrt_count, 21);
        assert_memory_equal(theirs->pjrt_ns, ours->pjrt_ns, 21 * sizeof(uint64_t));
        uint64_t *samples = theirs->pjrt_ns;
        theirs->pjrt_ns = ours->pjrt_ns;
        assert_memory_equal(theirs, ours, sizeof *ours);
        theirs->pjrt_ns = samples;
    }
    res_record_free(back);
    res_record_free(record);
}

static void rounds_and_probes_come_back(void **state)
{
    (void)state;
    const double round_ns[] = {25e6, 26e6, 27e6};
    res_record *record = fixture_rounds(&fixture_lazy, round_ns, 3, 4);
    record->rounds[1].stalled_ns = RES_UNKNOWN;
    record->rounds[2].switches = 17;
    res_execution *x = &record->executions[1];
    assert_int_equal(res_execution_reserve_probes(x, 2, NULL), BN_OK);
    x->probes[0] = (res_probe){0, 6, 600, 300, 500, 60};
    x->probes[1] = (res_probe){2, 2, UINT64_C(1) << 53, 1, 0, RES_UNKNOWN};
    res_record *back = write_and_read(record, fixture_in(folder, "rounds"));
    assert_int_equal(back->round_count, 3);
    assert_memory_equal(back->rounds, record->rounds, 3 * sizeof *record->rounds);
    assert_int_equal(back->executions[1].probe_count, 2);
    assert_memory_equal(back->executions[1].probes, x->probes, 2 * sizeof *x->probes);
    assert_true(back->executions[0].probe_count == 0 && !back->executions[0].probes);
    res_record_free(back);
    res_record_free(record);
}

/* Rounds count alike, however many steps they have: medians 10, 30 and 20. */
static void a_process_says_the_median_of_its_rounds(void **state)
{
    (void)state;
    const uint64_t wall[] = {10, 30, 31, 29, 30, 30, 20, 20};
    res_record *record = fixture_record(&fixture_lazy, 8);
    double medians[3], means[3];
    memcpy(record->wall_ns, wall, sizeof wall);
    assert_true(res_record_measures(record).wall_ns == 29.5);
    assert_int_equal(res_record_reserve_rounds(record, 3, NULL), BN_OK);
    record->rounds[0].steps = 1;
    record->rounds[1].steps = 5;
    record->rounds[2].steps = 2;
    assert_int_equal(res_round_medians(record, record->wall_ns, medians), 3);
    assert_true(medians[0] == 10 && medians[1] == 30 && medians[2] == 20);
    res_round_means(record, means);
    assert_true(means[0] == 10 && means[1] == 30 && means[2] == 20);
    record->wall_ns[4] = 40;
    res_round_means(record, means);
    assert_true(means[1] == (30 + 31 + 30) / 3.0);
    record->wall_ns[4] = 30;
    assert_true(res_record_measures(record).wall_ns == 20);
    /* A round that kept no step says nothing. */
    record->rounds[0].steps = 0;
    record->rounds[1].steps = 6;
    assert_true(isnan(medians[res_round_medians(record, record->wall_ns, medians) - 3]));
    res_round_means(record, means);
    assert_true(isnan(means[0]));
    assert_true(res_record_measures(record).wall_ns == 25);
    res_record_free(record);
}

/* One program from disk leaves no compile time: a sum of the others would mislead. */
static void compile_time_is_of_all_programs_or_none(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 8);
    assert_true(res_record_measures(record).compile_ns == 2 * 3244100000.0);
    record->executions[1].from_disk = true;
    assert_true(isnan(res_record_measures(record).compile_ns));
    res_record_free(record);
}

/* Programs that only the warm-up ran are no part of a step, so their device time may be unknown. */
static void programs_of_the_warmup_hide_nothing(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 8);
    const res_measures whole = res_record_measures(record);
    res_execution *x = &record->executions[1];
    const double device_ns = x->per_step * x->device_ns;
    const double all = record->executions[0].per_step + x->per_step;
    const double overhead_ns = x->per_step * res_execution_overhead(x).estimate;
    assert_true(device_ns > 0 && isfinite(overhead_ns));
    x->per_step = 0;
    x->device_source = BN_DEVICE_TIME_UNAVAILABLE;
    x->device_ns = x->overhead_ns = (double)NAN;
    const res_measures m = res_record_measures(record);
    assert_near(m.device_ns, whole.device_ns - device_ns, 1);
    assert_near(m.overhead_ns * record->executions[0].per_step,
                whole.overhead_ns * all - overhead_ns, 1);
    assert_string_equal(m.source, whole.source);
    res_record_free(record);
}

static void empty_and_failed_records_are_kept(void **state)
{
    (void)state;
    for (int code = BN_INVALID; code < BN_CODE_COUNT; code++) {
        res_record *record = res_record_new();
        record->status = (bn_code)code;
        memset(record->message, 'x', sizeof record->message - 1);
        res_record *back = write_and_read(record, fixture_in(folder, "failed"));
        assert_int_equal(back->status, code);
        assert_string_equal(back->message, record->message);
        assert_int_equal(back->step_count + back->execution_count + back->warmup_count, 0);
        assert_true(isnan(back->loss));
        res_record_free(back);
        res_record_free(record);
    }
}

static const json_t *at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("no key %s", key);
    return value;
}

static void json_has_what_is_documented(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 50);
    strcpy(record->experiment.runtime, "/plugins/\xff.so");
    record->loss = (double)INFINITY;
    record->executions[1].device_ns = (double)NAN;
    json_t *json = res_record_to_json(record);
    const json_t *experiment = at(json, "experiment");
    assert_string_equal(json_string_value(at(experiment, "model")), "resnet50");
    assert_string_equal(json_string_value(at(experiment, "runtime")), "/plugins/?.so");
    assert_int_equal(json_integer_value(at(experiment, "graphs")), 2);
    assert_string_equal(json_string_value(at(experiment, "seed")), "18446744073709551615");
    assert_string_equal(json_string_value(at(json, "status")), "ok");
    assert_null(json_object_get(json, "message"));
    assert_true(json_is_false(at(json, "simulated")));
    assert_int_equal(json_integer_value(at(json, "steps")), 50);
    assert_int_equal(json_integer_value(at(at(json, "warmup"), "steps")), 5);
    assert_true(json_is_true(at(at(json, "warmup"), "stationary")));
    assert_true(json_is_null(at(json, "loss")));

    const json_t *ledger = at(json, "ledger");
    assert_int_equal(json_object_size(ledger), BN_PART_COUNT + 1);
    assert_true(json_real_value(at(at(ledger, "trace"), "median_ns")) == 2900000);
    const json_t *wall = at(ledger, "wall");
    assert_true(json_real_value(at(wall, "p10_ns")) < json_real_value(at(wall, "median_ns")));
    assert_true(json_real_value(at(wall, "p90_ns")) > json_real_value(at(wall, "median_ns")));

    const json_t *row = json_array_get(at(json, "executions"), 0);
    assert_true(json_real_value(at(row, "pjrt_ns")) == 11000000);
    assert_true(json_real_value(at(row, "overhead_ns")) == 2000000);
    assert_string_equal(json_string_value(at(row, "device_time_source")), "slope");
    assert_true(json_is_null(at(row, "code_bytes"))); /* -1 is unknown */
    row = json_array_get(at(json, "executions"), 1);
    assert_true(json_is_null(at(row, "device_ns")) && json_is_null(at(row, "overhead_ns")));
    assert_int_equal(json_integer_value(at(at(json, "counters"), "nodes_traced")), 1309 * 55);
    assert_int_equal(json_integer_value(at(at(json, "step_counters"), "nodes_traced")), 1309 * 50);
    assert_int_equal(json_object_size(at(json, "counters")), BN_COUNTER_COUNT);
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    free(text);
    json_decref(json);

    record->status = BN_TIMEOUT;
    strcpy(record->message, "no step in 60 s");
    json = res_record_to_json(record);
    assert_string_equal(json_string_value(at(json, "status")), "timeout");
    assert_string_equal(json_string_value(at(json, "message")), "no step in 60 s");
    json_decref(json);
    res_record_free(record);
}

static double real_at(const json_t *object, const char *key)
{
    const json_t *value = at(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* By the compiler's memory statistics; nothing where nothing was asked. */
static void offloading_is_judged_by_what_the_compiler_says(void **state)
{
    static const struct {
        int64_t asked, found;
        const char *word;
    } cases[] = {{0, -1, ""},         {0, 700, ""},          {600, -1, "untold"},
                 {600, 0, "dropped"}, {600, 599, "in part"}, {600, 600, "taken"},
                 {600, 900, "taken"}};
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 5);
    assert_int_equal(record->executions[0].host_temp_bytes, -1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t asked, found;
        record->executions[0].offload_bytes = cases[i].asked;
        record->executions[0].host_temp_bytes = cases[i].found;
        assert_string_equal(res_offload_word(record, &asked, &found), cases[i].word);
        assert_int_equal(asked, cases[i].asked);
        assert_int_equal(found, cases[i].asked ? cases[i].found : 0);
        json_t *json = res_record_to_json(record);
        const char *said = json_string_value(json_object_get(json, "offload"));
        assert_string_equal(said ? said : "", cases[i].word);
        json_decref(json);
    }
    res_record *back = write_and_read(record, fixture_in(folder, "offload"));
    assert_string_equal(res_offload_word(back, NULL, NULL), "taken");
    res_record_free(back);
    res_record_free(record);
}

/* Rounds of 10, 20 and 30 ms; two of them tell who waited, none what was stolen. */
static void json_sums_up_rounds_and_probes(void **state)
{
    (void)state;
    const double round_ns[] = {10e6, 20e6, 30e6};
    const uint64_t wall[] = {10000000, 20000000, 30000000};
    res_record *record = fixture_rounds(&fixture_lazy, round_ns, 3, 1);
    memcpy(record->wall_ns, wall, sizeof wall);
    for (size_t i = 0; i < 3; i++)
        record->rounds[i] =
            (res_round){1, 0, 2 * wall[i], 4, i == 1 ? RES_UNKNOWN : 1000, RES_UNKNOWN};
    assert_int_equal(res_execution_reserve_probes(&record->executions[0], 3, NULL), BN_OK);
    for (uint64_t i = 0; i < 3; i++)
        record->executions[0].probes[i] = (res_probe){i, 2, 2000, 900, 1500, 10};
    json_t *json = res_record_to_json(record);
    const json_t *rounds = at(json, "rounds");
    assert_int_equal(json_integer_value(at(rounds, "count")), 3);
    assert_near(real_at(at(rounds, "step"), "median_ns"), 20e6, 0);
    assert_near(real_at(at(rounds, "step"), "p90_ns"), 28e6, 1);
    assert_near(real_at(rounds, "wall_ns"), 120e6, 0);
    assert_near(real_at(rounds, "switches"), 12, 0);
    assert_near(real_at(rounds, "stalled_ns"), 2000, 0);
    assert_true(json_is_null(at(rounds, "stolen_ns")));
    const json_t *first = json_array_get(at(json, "executions"), 0);
    assert_int_equal(json_integer_value(at(first, "probes")), 3);
    assert_near(real_at(first, "null_share"), 0.2, 1e-9); /* 900 and 1100 of 1000 */
    assert_true(json_is_null(at(json_array_get(at(json, "executions"), 1), "null_share")));
    json_decref(json);
    res_record_free(record);
    /* Records without rounds have no such member. */
    record = fixture_record(&fixture_lazy, 3);
    json = res_record_to_json(record);
    assert_null(json_object_get(json, "rounds"));
    json_decref(json);
    res_record_free(record);
}

/* ---- store ------------------------------------------------------------------ */

static void names_are_safe_and_files_immutable(void **state)
{
    (void)state;
    const char *store = fixture_in(folder, "names/deep/er");
    res_record *record = fixture_record(&fixture_lazy, 3);
    strcpy(record->experiment.model, "a/b c");
    char path[512];
    bn_status st = {0};
    assert_int_equal(res_store_write(store, record, path, sizeof path, &st), BN_OK);
    const char *name = path + strlen(store) + 1;
    assert_int_equal(strncmp(name, record->id, strlen(record->id)), 0);
    assert_string_equal(name + strlen(record->id), "-a_b_c-train-lazy.h5");
    assert_int_equal(files_in(store), 1);

    assert_int_equal(res_store_write(store, record, NULL, 0, &st), BN_INVALID);
    assert_non_null(strstr(st.message, name));
    strcpy(record->id, "../escape");
    assert_int_equal(res_store_write(store, record, NULL, 0, &st), BN_INVALID);
    assert_int_equal(files_in(store), 1);
    res_record_free(record);
}

static void stores_load_in_order_around_damage(void **state)
{
    (void)state;
    const char *store = fixture_in(folder, "load");
    char first[RES_TEXT], path[512];
    bn_status st = {0};
    for (int i = 0; i < 3; i++) {
        res_record *record = fixture_record(&fixture_lazy, 4);
        record->experiment.batch = i;
        if (i == 0)
            strcpy(first, record->id);
        assert_int_equal(res_store_write(store, record, path, sizeof path, &st), BN_OK);
        res_record_free(record);
    }
    assert_int_equal(truncate(path, 2000), 0);
    snprintf(path, sizeof path, "%s/notes.txt", store);
    assert_int_equal(bn_file_write_atomic(path, "x", 1, &st), BN_OK);
    snprintf(path, sizeof path, "%s/a-zip.h5", store);
    assert_int_equal(bn_file_write_atomic(path, "PK", 2, &st), BN_OK);

    res_collection all;
    assert_int_equal(res_store_load(store, &all, &st), BN_OK);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.records[0]->id, first);
    assert_int_equal(all.records[1]->experiment.batch, 1);
    assert_int_equal(all.damaged_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(all.damaged[i].status.code, BN_FORMAT);
        assert_non_null(strstr(all.damaged[i].status.message, all.damaged[i].path));
    }
    res_collection_free(&all);
    assert_int_equal(res_store_load(fixture_in(folder, "nowhere"), &all, &st), BN_NOT_FOUND);
    res_record *none = NULL;
    assert_int_equal(res_store_read_foreign(fixture_in(folder, "nothing.h5"), &none, &st),
                     BN_NOT_FOUND);
}

static void sweeping_takes_only_the_dead_workers_files(void **state)
{
    (void)state;
    const char *store = fixture_in(folder, "sweep");
    bn_status st = {0};
    res_record *record = res_record_new();
    assert_int_equal(res_store_write(store, record, NULL, 0, &st), BN_OK);
    const char *formats[] = {".%s.4711.tmp", ".%s.47110.tmp", "%s.4711.tmp",
                             ".20250101T000000.000000000Z-elsewhere%.0s-4711-0.4711.tmp"};
    for (size_t i = 0; i < 4; i++) {
        char name[128], path[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name, sizeof name, formats[i], record->id);
#pragma GCC diagnostic pop
        snprintf(path, sizeof path, "%s/%s", store, name);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    assert_int_equal(files_in(store), 5);
    res_store_sweep(store, 4711);
    assert_int_equal(files_in(store), 4);
    res_store_sweep(store, 4711);
    assert_int_equal(files_in(store), 4);
    res_store_sweep(fixture_in(folder, "nowhere"), 1);
    res_record_free(record);
}

/* Runs WRITE in a child and gives its exit status: limits and mounts stay
 * there. */
static int in_child(int (*write)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(write());
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

enum { PASSED, WRONG_CODE, WRONG_TEXT, LEFTOVER, LATER_FAILED, NOT_PERMITTED };

/* A write that must fail with BN_IO and TEXT, leaving nothing, after which the
 * store works: LIFT takes the limit away. */
static int failing_write(const char *store, const char *text, void (*lift)(void))
{
    bn_status st = {0};
    res_record *record = fixture_record(&fixture_lazy, 2000);
    if (res_store_write(store, record, NULL, 0, &st) != BN_IO || st.code != BN_IO)
        return WRONG_CODE;
    if (!strstr(st.message, text) || !strstr(st.message, store))
        return WRONG_TEXT;
    if (files_in(store) != 0)
        return LEFTOVER;
    lift();
    char path[512];
    res_record *back = NULL;
    if (res_store_write(store, record, path, sizeof path, &st) != BN_OK ||
        res_store_read_foreign(path, &back, &st) != BN_OK || back->step_count != 2000)
        return LATER_FAILED;
    res_record_free(back);
    res_record_free(record);
    return PASSED;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void lift_limit(void)
{
    limit_files(RLIM_INFINITY);
}

static int write_beyond_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
    limit_files(20000);
    return failing_write(fixture_in(folder, "limited"), "File too large", lift_limit);
}

static void a_write_cut_short_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(in_child(write_beyond_limit), PASSED);
}

static void enlarge_disk(void)
{
    mount("none", fixture_in(folder, "disk"), "tmpfs", MS_REMOUNT, "size=16m");
}

static int write_to_full_disk(void)
{
    const char *disk = fixture_in(folder, "disk");
    mkdir(disk, 0700);
    if (!own_mounts_enter() || mount("none", disk, "tmpfs", 0, "size=32k") != 0)
        return NOT_PERMITTED;
    return failing_write(disk, "disk full", enlarge_disk);
}

static void a_full_disk_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    int result = in_child(write_to_full_disk);
    if (result == NOT_PERMITTED) {
        print_message("mounting a small file system is not permitted here\n");
        skip();
    }
    assert_int_equal(result, PASSED);
}

static int write_sample(const char *store)
{
    char path[512];
    bn_status st = {0};
    res_store_begin();
    res_record *record = fixture_record(&fixture_lazy, 50);
    bn_code code = res_store_write(store, record, path, sizeof path, &st);
    res_record_free(record);
    puts(code == BN_OK ? path : st.message);
    return code != BN_OK;
}

static void ids_tell_the_time(void **state)
{
    (void)state;
    assert_true(res_id_time("19700102T000001.500000000Z-h-1-0") == 86401.5);
    assert_true(res_id_time("20240229T235959.000000000Z-h-1-0") == 1709251199);
    static const char *const none[] = {"",
                                       "import-1",
                                       "20230229T000000.000000000Z-h-1-0",
                                       "20231301T000000.000000000Z-h-1-0",
                                       "20230101T250000.000000000Z-h-1-0",
                                       "20230101T000000.5Z-h",
                                       "20230101 000000.000000000Z"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(isnan(res_id_time(none[i])));
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write-sample") == 0)
        return write_sample(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_tell_the_time),
        cmocka_unit_test(ids_are_unique_and_sort_by_time),
        cmocka_unit_test(records_come_back_as_they_were),
        cmocka_unit_test(rounds_and_probes_come_back),
        cmocka_unit_test(a_process_says_the_median_of_its_rounds),
        cmocka_unit_test(compile_time_is_of_all_programs_or_none),
        cmocka_unit_test(programs_of_the_warmup_hide_nothing),
        cmocka_unit_test(empty_and_failed_records_are_kept),
        cmocka_unit_test(json_has_what_is_documented),
        cmocka_unit_test(offloading_is_judged_by_what_the_compiler_says),
        cmocka_unit_test(json_sums_up_rounds_and_probes),
        cmocka_unit_test(names_are_safe_and_files_immutable),
        cmocka_unit_test(stores_load_in_order_around_damage),
        cmocka_unit_test(sweeping_takes_only_the_dead_workers_files),
        cmocka_unit_test(a_write_cut_short_leaves_nothing),
        cmocka_unit_test(a_full_disk_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
