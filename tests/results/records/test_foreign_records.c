/*
 * test_foreign_records.c - records that somebody made on purpose: fields that would harm whoever
 * prints them or names a file by them, and sealed files that libhdf5 does not survive. Needs no
 * plugin.
 */
#define _GNU_SOURCE
#include "tests/support/results_fixture.h"

#include "results/doctor/doctor.h"
#include "results/records/store_priv.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

static int begin(void **state)
{
    res_store_begin();
    fixture_folder(folder, sizeof folder, "test_foreign");
    return 0;
}

/* RECORD as a sealed file is refused, and the message has TEXT. */
static void refused(const res_record *record, const char *text)
{
    char *image = NULL;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    res_record *back = NULL;
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    assert_int_equal(res_image_read(image, size, &back, &st), BN_FORMAT);
    if (!strstr(st.message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, st.message);
    assert_null(back);
    free(image);
}

static void ids_are_no_paths(void **state)
{
    static const char *const ids[] = {"../../elsewhere", "/etc/passwd", ".hidden",    "a/b", "",
                                      "two\nlines",      "a\x1b[31m",   "caf\xc3\xa9"};
    res_record *record = fixture_record(&fixture_lazy, 5);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        snprintf(record->id, sizeof record->id, "%s", ids[i]);
        refused(record, "id");
    }
    res_record_free(record);
}

/* Nobody can pass a measurement off as an estimate, nor an estimate as a measurement. */
static void estimates_say_so_and_have_no_times(void **state)
{
    bn_status st = {.code = BN_OK};
    res_record *r = fixture_record(&fixture_lazy, 5);
    assert_int_equal(res_record_check(r, &st), BN_OK);
    snprintf(r->experiment.runtime, sizeof r->experiment.runtime, "tpu v4:1x1x1 (estimated)");
    refused(r, "estimate");
    json_object_set_new(r->provenance, "estimate", json_pack("{sf}", "cycles", 1e6));
    refused(r, "estimate");
    assert_int_equal(res_record_reserve_rounds(r, 0, &st), BN_OK);
    assert_int_equal(res_record_reserve_steps(r, 0, 0, &st), BN_OK);
    refused(r, "estimate"); /* of executions */
    assert_int_equal(res_record_reserve_executions(r, 1, &st), BN_OK);
    assert_int_equal(res_record_check(r, &st), BN_OK);
    json_t *estimate = json_object_get(r->provenance, "estimate");
    json_object_set_new(estimate, "silent", json_integer(-1));
    refused(r, "silent");
    json_object_set_new(estimate, "silent", json_integer(3));
    json_object_set_new(estimate, "graphs", json_pack("[{sf}]", "untold_loops", 1.5));
    refused(r, "untold_loops");
    json_object_set_new(estimate, "graphs", json_pack("[{si}]", "untold_loops", 1));
    json_object_set_new(estimate, "collectives", json_string("2"));
    refused(r, "collectives");
    json_object_del(estimate, "collectives");
    assert_int_equal(res_record_check(r, &st), BN_OK);
    r->executions[0].device_source = BN_DEVICE_TIME_SLOPE;
    refused(r, "estimate");
    r->executions[0].device_source = BN_DEVICE_TIME_UNAVAILABLE;
    snprintf(r->experiment.runtime, sizeof r->experiment.runtime, "tpu (estimated) v4");
    refused(r, "estimate");
    res_record_free(r);
}

static void fields_are_in_range(void **state)
{
    res_record *r = fixture_record(&fixture_lazy, 5);
    const res_record good = *r;
    const res_experiment usual = r->experiment;
    r->experiment.batch = -4;
    refused(r, "batch");
    r->experiment = usual;
    r->wall_ns[2] = UINT64_MAX;
    refused(r, "104 days");
    r->wall_ns[2] = 0;
    refused(r, "0 ns");
    r->wall_ns[2] = 1000;
    r->part_ns[7] = UINT64_MAX;
    refused(r, "part");
    r->part_ns[7] = 0;
    r->counters[BN_COUNTER_COMPILES] = INT64_MIN;
    refused(r, "counter");
    r->counters[BN_COUNTER_COMPILES] = INT64_MAX;
    refused(r, "counter");
    r->counters[BN_COUNTER_COMPILES] = 2;
    r->step_counters[BN_COUNTER_STEPS] = -1;
    refused(r, "counter");
    r->step_counters[BN_COUNTER_STEPS] = 5;
    res_execution *x = &r->executions[0];
    const res_execution whole = *x;
    x->per_step = -1;
    refused(r, "per_step");
    *x = whole;
    x->device_ns = INFINITY;
    refused(r, "device_ns");
    *x = whole;
    x->device_ns = 1e29;
    refused(r, "device_ns");
    *x = whole;
    x->text_bytes = INT64_MIN;
    refused(r, "text_bytes");
    *x = whole;
    x->text_bytes = INT64_MAX;
    refused(r, "text_bytes");
    *x = whole;
    assert_int_equal(res_record_check(r, NULL), BN_OK);
    assert_string_equal(r->id, good.id);
    res_record_free(r);
}

static void rounds_and_probes_are_in_range(void **state)
{
    const double round_ns[] = {25e6, 25e6};
    res_record *r = fixture_rounds(&fixture_lazy, round_ns, 2, 5);
    r->rounds[1].stolen_ns = RES_UNKNOWN;
    assert_int_equal(res_record_check(r, NULL), BN_OK);
    r->rounds[1].stolen_ns = RES_UNKNOWN - 1;
    refused(r, "round");
    r->rounds[1].stolen_ns = 0;
    assert_int_equal(res_execution_reserve_probes(&r->executions[0], 3, NULL), BN_OK);
    assert_int_equal(res_record_check(r, NULL), BN_OK);
    r->executions[0].probes[2].awaited_ns = UINT64_C(1) << 60;
    refused(r, "probe");
    res_record_free(r);
}

/* Puts TEXT as provenance.SECTION.NAME. */
static void say(res_record *r, const char *section, const char *name, const char *text)
{
    json_t *object = json_object_get(r->provenance, section);
    if (!json_is_object(object)) {
        object = json_object();
        json_object_set_new(r->provenance, section, object);
    }
    json_object_set_new(object, name, json_string(text));
}

static void digests_are_digests(void **state)
{
    static const char *const none[] = {"../../zz", "aa", "5FECEB66", "\x1b[31m",
                                       FIXTURE_DIGEST "0"};
    static const char *const members[][2] = {
        {"runtime", "sha256"}, {"front_end", "script_sha256"}, {"recording", "recorder_sha256"}};
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        res_record *r = fixture_record(&fixture_lazy, 5);
        for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
            say(r, members[k][0], members[k][1], none[i]);
            refused(r, members[k][1]);
        }
        /* Old records have none, and where nobody knows, it is empty. */
        json_object_del(json_object_get(r->provenance, members[k][0]), members[k][1]);
        assert_int_equal(res_record_check(r, NULL), BN_OK);
        say(r, members[k][0], members[k][1], "");
        assert_int_equal(res_record_check(r, NULL), BN_OK);
        say(r, members[k][0], members[k][1], FIXTURE_DIGEST);
        assert_int_equal(res_record_check(r, NULL), BN_OK);
        res_record_free(r);
    }
}

/* Old records have messages of several lines, and a training may diverge. Both are read. */
static void odd_texts_become_plain(void **state)
{
    char *image = NULL, name[2001];
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    res_record *r = fixture_record(&fixture_lazy, 5), *back = NULL;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(r->message, sizeof r->message, "two\nlines\tand \x1b[31m\xc2\x9b\xe2\x80\xae");
    snprintf(r->experiment.model, sizeof r->experiment.model, "resnet\x1b[2J");
    snprintf(r->executions[0].graph, sizeof r->executions[0].graph, "step\n");
    say(r, "host", "hostname", name);
    say(r, "runtime", "label",
        "a\xe2\x80\x8b"
        "b\r");
    say(r, "runtime", "platform_version", "PJRT\nof today");
    say(r, "group", "id", "\xe2\x81\xa6g");
    r->loss = INFINITY;
    assert_int_equal(res_image_write(r, &image, &size, &st), BN_OK);
    assert_int_equal(res_image_read(image, size, &back, &st), BN_OK);
    assert_string_equal(back->message, "two lines and ?[31m??");
    assert_string_equal(back->experiment.model, "resnet?[2J");
    assert_string_equal(back->executions[0].graph, "step ");
    assert_int_equal(strlen(res_provenance_text(back, RES_PROV_HOST_NAME)), 255);
    assert_string_equal(res_provenance_text(back, RES_PROV_RUNTIME_LABEL), "a?b ");
    /* The record is found by its label. */
    assert_true(res_same_label(res_provenance_text(back, RES_PROV_RUNTIME_LABEL),
                               res_provenance_text(r, RES_PROV_RUNTIME_LABEL)));
    assert_false(res_same_label(res_provenance_text(back, RES_PROV_RUNTIME_LABEL), "a?b"));
    assert_false(res_same_label("", "a"));
    assert_string_equal(res_provenance_text(back, RES_PROV_RUNTIME_VERSION), "PJRT of today");
    assert_string_equal(res_group_id(back), "?g");
    assert_true(isnan(back->loss));
    free(image);
    res_record_free(back);
    res_record_free(r);
}

/* Refused with member KEY of the only finding as VALUE, which is stolen. */
static void refuses_finding(res_record *r, const char *key, json_t *value)
{
    json_t *one = json_pack("{ss si}", "rule", "shape", "count", 1);
    json_object_set_new(one, key, value);
    json_object_set_new(r->provenance, "explanation", json_pack("{s[o]}", "complaints", one));
    refused(r, key);
}

/* An explanation is printed, and picked by its rule and its count. */
static void an_explanation_is_checked(void **state)
{
    static const char odd[] = "models/\x1b[31mx.c:1\n";
    bn_status st = {.code = BN_OK};
    res_record *r = fixture_record(&fixture_lazy, 5);
    size_t more;
    json_object_set_new(r->provenance, "explanation", json_string("none"));
    refused(r, "explanation");
    json_object_set_new(r->provenance, "explanation",
                        json_pack("{s[s]}", "complaints", "complaint"));
    refused(r, "rule");
    refuses_finding(r, "rule", json_integer(1));
    refuses_finding(r, "place", json_integer(1));
    refuses_finding(r, "from", json_real(1.5));
    refuses_finding(r, "count", json_integer(-1));
    refuses_finding(r, "dimension", json_string("1"));
    json_t *many = json_array();
    for (size_t i = 0; i <= RES_MOST_WHY; i++)
        json_array_append_new(many, json_pack("{ss si}", "rule", "read", "count", 1));
    json_object_set_new(r->provenance, "explanation", json_pack("{so}", "complaints", many));
    refused(r, "explanation");
    json_array_remove(many, 0);
    json_object_set_new(json_array_get(many, 5), "place", json_string(odd));
    json_object_set_new(json_array_get(many, 5), "count", json_integer(2));
    json_object_set_new(json_array_get(many, 5), "scope", json_null());
    assert_int_equal(res_record_check(r, &st), BN_OK);
    const json_t *why = res_why(r, RES_RULE_READS, &more);
    assert_string_equal(json_string_value(json_object_get(why, "place")), "models/?[31mx.c:1 ");
    assert_int_equal(more, RES_MOST_WHY - 1);
    assert_null(res_why(r, RES_RULE_COMPILES, &more));
    res_record_free(r);
}

/* Their names stand among those of counters. */
static void ops_of_the_host_are_checked(void **state)
{
    bn_status st = {.code = BN_OK};
    res_record *r = fixture_record(&fixture_lazy, 5);
    json_object_set_new(r->provenance, "batches", json_pack("{ss s[]}", "count", "32", "padding"));
    refused(r, "batches");
    json_object_set_new(r->provenance, "batches",
                        json_pack("{si s[{sf}]}", "count", 32, "padding", "padded_share", -0.5));
    refused(r, "batches");
    json_object_del(r->provenance, "batches");
    json_object_set_new(r->provenance, "host_ops", json_pack("[s]", "nonzero"));
    refused(r, "host_ops");
    json_object_set_new(r->provenance, "host_ops", json_pack("{si}", "non\nzero", 1));
    refused(r, "host_ops");
    json_object_set_new(r->provenance, "host_ops", json_pack("{si}", "nonzero", -1));
    refused(r, "host_ops");
    json_object_set_new(r->provenance, "host_ops", json_pack("{ss}", "nonzero", "1"));
    refused(r, "host_ops");
    json_object_set_new(r->provenance, "host_ops", json_pack("{si}", "nonzero", 3));
    assert_int_equal(res_record_check(r, &st), BN_OK);
    res_record_free(r);
}

static void a_provenance_has_a_depth(void **state)
{
    res_record *r = fixture_record(&fixture_lazy, 5);
    json_t *inner = json_array();
    for (int level = 2; level < BN_JSON_DEPTH; level++)
        inner = json_pack("[o]", inner);
    json_object_set(r->provenance, "deep", inner);
    assert_int_equal(res_record_check(r, NULL), BN_OK);
    json_object_set_new(r->provenance, "deep", json_pack("[o]", inner));
    assert_int_equal(res_record_check(r, NULL), BN_FORMAT);
    refused(r, "provenance");
    res_record_free(r);
}

static size_t children(void)
{
    char path[64];
    size_t count = 0;
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%ld", &pid) == 1)
        count++;
    if (f)
        fclose(f);
    return count;
}

/* ---- sealed damage --------------------------------------------------------------------------- */

/* A record's file, to be damaged. */
typedef struct sealed {
    char *image, *copy;
    size_t size;
    uint64_t seed; /* of the next damage */
} sealed;

static sealed sealed_new(void)
{
    sealed s = {.seed = 5};
    bn_status st = {.code = BN_OK};
    res_record *record = fixture_record(&fixture_lazy, 10);
    /* The same bytes at each call: a damage is known by its number. */
    snprintf(record->id, sizeof record->id, "20260101T020000.000000000Z-h-1-0");
    assert_int_equal(res_image_write(record, &s.image, &s.size, &st), BN_OK);
    res_record_free(record);
    s.copy = malloc(s.size);
    assert_non_null(s.copy);
    return s;
}

/* Damages number NUMBER, which must be asked for in order from 0: one to four bytes are changed,
 * and the seal is made anew. */
static void sealed_damage(sealed *s, int number)
{
    memcpy(s->copy, s->image, s->size);
    for (int change = 0; change <= number % 4; change++) {
        s->seed = s->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        s->copy[RES_SEAL_BYTES + (s->seed >> 16) % (s->size - RES_SEAL_BYTES)] ^=
            (char)(1 + (s->seed >> 56) % 255);
    }
    res_seal(s->copy, s->size);
}

static void sealed_free(sealed *s)
{
    free(s->copy);
    free(s->image);
}

static void put(const char *store, const char *name, const char *bytes, size_t size)
{
    char path[400];
    bn_status st = {.code = BN_OK};
    snprintf(path, sizeof path, "%s/%s", store, name);
    assert_int_equal(bn_file_write_atomic(path, bytes, size, &st), BN_OK);
}

/* How many of ALL's files ended the child that read them. Each message names its file. */
static size_t killed_by(const res_collection *all)
{
    size_t killed = 0;
    for (size_t i = 0; i < all->damaged_count; i++) {
        const char *message = all->damaged[i].status.message;
        assert_non_null(strstr(message, bn_base_name(all->damaged[i].path)));
        killed += all->damaged[i].status.code == BN_IO;
    }
    return killed;
}

/* How many of ALL's files were read, and turned out to be copies of the one that counts. */
static size_t copies_in(const res_collection *all)
{
    size_t copies = 0;
    for (size_t i = 0; i < all->damaged_count; i++)
        copies += all->damaged[i].fault == RES_FAULT_COPY;
    return copies;
}

/* libhdf5 1.10.8 crashes on a few of 300 such files, and does not come back from some. Whoever
 * loads a store with them gets its good records, and the names of the others. Damage to bytes that
 * mean nothing leaves a whole record, of which there then are many copies. */
static void sealed_damage_kills_no_reader(void **state)
{
    enum { FILES = 300 };
    char store[300], name[32];
    unsigned version[3] = {0};
    bn_status st = {.code = BN_OK};
    res_collection all;
    sealed s = sealed_new();
    snprintf(store, sizeof store, "%s/sealed", folder);
    assert_int_equal(bn_make_folder(store, &st), BN_OK);
    for (int i = 0; i < FILES; i++) {
        sealed_damage(&s, i);
        snprintf(name, sizeof name, "%03d.h5", i);
        put(store, name, s.copy, s.size);
    }
    put(store, "good.h5", s.image, s.size);
    assert_int_equal(res_store_load(store, &all, &st), BN_OK);
    assert_int_equal(all.count + all.damaged_count, FILES + 1);
    assert_true(all.count > 0);
    const size_t killed = killed_by(&all), damaged = all.damaged_count - copies_in(&all);
    res_collection_free(&all);
    assert_int_equal(H5get_libversion(&version[0], &version[1], &version[2]), 0);
    print_message("# %zu of %d files were damaged, %zu ended a child; libhdf5 %u.%u.%u\n", damaged,
                  FILES, killed, version[0], version[1], version[2]);
    /* Other versions may bear all of them. */
    if (version[0] == 1 && version[1] == 10 && version[2] == 8)
        assert_true(killed > 0);
    assert_int_equal(children(), 0);
    /* Their seals are whole, so nothing is proven, and nothing of it is remembered. */
    snprintf(name, sizeof name, "sealed/%s", RES_INDEX_FILE);
    assert_int_equal(access(fixture_in(folder, name), F_OK), -1);
    sealed_free(&s);
}

/* A file of gigabytes that begins like a record is not taken into memory. */
static void huge_files_are_not_read(void **state)
{
    char path[400], head[RES_SEAL_BYTES] = {0};
    const size_t size = (size_t)8 << 30;
    bn_status st = {.code = BN_OK};
    res_record *record = NULL;
    snprintf(head, sizeof head, "bench-record 1\nsha256 %064d %zu\n%400s", 0, size - RES_SEAL_BYTES,
             "");
    snprintf(path, sizeof path, "%s/huge.h5", folder);
    assert_int_equal(bn_file_write_atomic(path, head, sizeof head, &st), BN_OK);
    assert_int_equal(truncate(path, (off_t)size), 0);
    assert_int_equal(res_store_read_foreign(path, &record, &st), BN_FORMAT);
    assert_non_null(strstr(st.message, "128 MB"));
    assert_int_equal(unlink(path), 0);
    res_store_vet_end();
}

/* Puts a record, a pipe and another record by turns at PATH until it is killed. */
static void swap(const char *path, const sealed *s)
{
    char other[420];
    snprintf(other, sizeof other, "%s.tmp", path);
    for (;;) {
        if (mkfifo(other, 0600) != 0 || rename(other, path) != 0 ||
            bn_file_write_own(path, s->image, s->size, NULL) != BN_OK)
            _exit(1);
    }
}

/* A name that stands for a record at one moment and for a pipe at the next: nobody waits. */
static void changing_names_cause_no_wait(void **state)
{
    char path[400];
    size_t read = 0;
    sealed s = sealed_new();
    bn_status st = {.code = BN_OK};
    snprintf(path, sizeof path, "%s/swapped.h5", folder);
    put(folder, "swapped.h5", s.image, s.size);
    const pid_t pid = fork();
    if (pid == 0)
        swap(path, &s);
    assert_true(pid > 0);
    const uint64_t end = bn_now_ns() + UINT64_C(1500000000);
    alarm(50); /* below what a child is waited for */
    while (bn_now_ns() < end || read == 0) {
        res_record *record = NULL;
        const bn_code code = res_store_read_foreign(path, &record, &st);
        if (code == BN_OK) {
            read++;
            res_record_free(record);
        } else if (code != BN_FORMAT || !strstr(st.message, path)) {
            fail_msg("%s", st.message);
        }
    }
    alarm(0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    res_store_vet_end();
    unlink(path);
    sealed_free(&s);
}

/* Records may be links, to records only. */
static void links_are_followed_to_records(void **state)
{
    char path[400], link[400];
    sealed s = sealed_new();
    bn_status st = {.code = BN_OK};
    res_record *record = NULL;
    snprintf(path, sizeof path, "%s/linked.h5", folder);
    snprintf(link, sizeof link, "%s/link.h5", folder);
    put(folder, "linked.h5", s.image, s.size);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(res_store_read_foreign(link, &record, &st), BN_OK);
    res_record_free(record);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/dev/zero", link), 0);
    assert_int_equal(res_store_read_foreign(link, &record, &st), BN_FORMAT);
    assert_non_null(strstr(st.message, link));
    unlink(link);
    unlink(path);
    res_store_vet_end();
    sealed_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_say_so_and_have_no_times),
        cmocka_unit_test(ids_are_no_paths),
        cmocka_unit_test(fields_are_in_range),
        cmocka_unit_test(rounds_and_probes_are_in_range),
        cmocka_unit_test(digests_are_digests),
        cmocka_unit_test(odd_texts_become_plain),
        cmocka_unit_test(an_explanation_is_checked),
        cmocka_unit_test(ops_of_the_host_are_checked),
        cmocka_unit_test(a_provenance_has_a_depth),
        cmocka_unit_test(sealed_damage_kills_no_reader),
        cmocka_unit_test(huge_files_are_not_read),
        cmocka_unit_test(changing_names_cause_no_wait),
        cmocka_unit_test(links_are_followed_to_records),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
