/*
 * test_index.c - the index of a store against the records themselves: new, changed, damaged and
 * deleted files, indexes that cannot be used. Needs no plugin.
 */
#define _GNU_SOURCE
#include "tests/results/store_fixture.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/records/index_priv.h"

/* Of whom each regular file says it is, unless it is 0. */
static uid_t stranger;

int fstat(int fd, struct stat *info)
{
    const int result = fstatat(fd, "", info, AT_EMPTY_PATH);
    if (result == 0 && stranger && S_ISREG(info->st_mode))
        info->st_uid = stranger;
    return result;
}

static void write_record(const place *p, const char *id, char path[600])
{
    const maker m = {id, "aa", "h1", 1, BN_OK, 1};
    write_with(p, &m, "cpu", path);
}

/* The files that an update reads, and the records that it then has. */
static void assert_update(const place *p, size_t read, size_t records, size_t damaged)
{
    res_index index;
    load_with(p, NULL, &index);
    assert_int_equal(index.read, read);
    assert_int_equal(index.count, records);
    assert_int_equal(index.damaged_count, damaged);
    res_index_free(&index);
}

/* A load of all records finds COUNT damaged ones, the first at PATH; KNOWN: it was not tried. */
static void assert_damaged(const place *p, size_t count, const char *path, bool known)
{
    res_collection all;
    bn_status st = {0};
    assert_ok(res_store_load(p->store, &all, &st), &st);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.damaged_count, count);
    if (count) {
        assert_string_equal(all.damaged[0].path, path);
        assert_true(known == (strstr(all.damaged[0].status.message, "--reindex") != NULL));
    }
    res_collection_free(&all);
}

/* A whole file; to be freed. */
static char *contents(const char *path, size_t *size)
{
    char *data = NULL;
    bn_status st = {0};
    assert_ok(bn_regular_read(path, &data, size, &st), &st);
    return data;
}

static void overwrite(const char *path, const char *data, size_t size)
{
    bn_status st = {0};
    assert_ok(bn_file_write_own(path, data, size, &st), &st);
}

/* ---- the index ------------------------------------------------------------------------ */

static void assert_same_summary(const res_summary *a, const res_summary *b)
{
    assert_string_equal(a->file, b->file);
    assert_string_equal(a->id, b->id);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->mtime_ns, b->mtime_ns);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->repetition, b->repetition);
    assert_memory_equal(a->origin, b->origin, sizeof *a->origin);
    assert_memory_equal(&a->wall_ns, &b->wall_ns, 5 * sizeof a->wall_ns);
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->group, b->group);
    assert_string_equal(a->conditions, b->conditions);
}

static void summaries_are_those_of_the_records(void **state)
{
    const place *p = *state;
    const maker failed = {"20260102T020000.000000000Z-h-1-1", "bb", "h2", 1, BN_TIMEOUT, 7};
    char path[600];
    res_index cold, warm;
    res_record *record = NULL;
    bn_status st = {0};
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    load_with(p, NULL, &cold);
    res_index_free(&cold);
    assert_ok(res_store_read_foreign(path, &record, &st), &st);
    const res_measures of = res_record_measures(record);
    write_with(p, &failed, "cpu", path);
    load_with(p, NULL, &cold);
    load_with(p, NULL, &warm);
    assert_int_equal(cold.read, 1);
    assert_int_equal(warm.read, 0);
    assert_int_equal(warm.count, 2);
    const res_summary *s = &warm.records[0];
    const res_experiment *e = warm.experiments[s->experiment];
    assert_true(fabs(s->wall_ns / of.wall_ns - 1) < 1e-9);
    assert_true(fabs(s->device_ns - 18e6) < 1);
    assert_true(fabs(s->overhead_ns / of.overhead_ns - 1) < 1e-9);
    assert_true(fabs(s->trace_ns / of.trace_ns - 1) < 1e-9);
    assert_true(fabs(s->compile_ns / of.compile_ns - 1) < 1e-9);
    assert_int_equal(s->steps, 20);
    assert_string_equal(s->origin->label, "tab , line , \\ and \""); /* as in the record: plain */
    assert_string_equal(s->origin->sha256, fixture_digest("aa"));
    assert_string_equal(s->origin->host, "h1");
    assert_memory_equal(e, &record->experiment, sizeof *e);
    assert_int_equal(warm.records[1].status, BN_TIMEOUT);
    assert_true(isnan(warm.records[1].wall_ns));
    for (size_t i = 0; i < 2; i++)
        assert_same_summary(&cold.records[i], &warm.records[i]);
    res_record_free(record);
    res_index_free(&cold);
    res_index_free(&warm);
}

static void only_what_changed_is_read(void **state)
{
    const place *p = *state;
    char first[600], second[600];
    struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = 1000000000}};
    assert_update(p, 0, 0, 0);
    assert_int_equal(access(p->index, F_OK), -1); /* of nothing there is none */
    write_record(p, "20260101T020000.000000000Z-h-1-0", first);
    write_record(p, "20260103T020000.000000000Z-h-1-0", second);
    assert_update(p, 2, 2, 0);
    assert_update(p, 0, 2, 0);
    write_record(p, "20260102T020000.000000000Z-h-1-0", first);
    assert_update(p, 1, 3, 0);
    assert_int_equal(utimensat(AT_FDCWD, first, now, 0), 0);
    assert_update(p, 1, 3, 0);
    assert_int_equal(unlink(second), 0);
    assert_update(p, 0, 2, 0);
    assert_update(p, 0, 2, 0);
    const res_index_options all = {.rebuild = true};
    res_index index;
    load_with(p, &all, &index);
    assert_int_equal(index.read, 2);
    res_index_free(&index);
}

/* A damaged record is tried once, and reported each time, by every reader, until it changes
 * or --reindex asks. */
static void damaged_records_are_reported_each_time(void **state)
{
    const place *p = *state;
    char good[600], bad[600];
    size_t size;
    write_record(p, "20260101T020000.000000000Z-h-1-0", good);
    write_record(p, "20260102T020000.000000000Z-h-1-0", bad);
    assert_update(p, 2, 2, 0);
    char *bytes = contents(bad, &size);
    bytes[size / 2] ^= 1;
    overwrite(bad, bytes, size);
    for (size_t i = 0; i < 4; i++) {
        const res_index_options anew = {.rebuild = true};
        const bool tried = i == 0 || i == 3;
        res_index index;
        load_with(p, i == 3 ? &anew : NULL, &index);
        assert_int_equal(index.read, i == 0 ? 1 : i == 3 ? 2 : 0);
        assert_int_equal(index.count, 1);
        assert_int_equal(index.damaged_count, 1);
        assert_string_equal(index.damaged[0].path, bad);
        assert_int_equal(index.damaged[0].status.code, BN_FORMAT);
        assert_non_null(strstr(index.damaged[0].status.message, "sha256"));
        assert_true(tried == !strstr(index.damaged[0].status.message, "--reindex"));
        res_index_free(&index);
        assert_damaged(p, 1, bad, true);
    }
    bytes[size / 2] ^= 1;
    overwrite(bad, bytes, size);
    assert_update(p, 1, 2, 0);
    free(bytes);
}

/* Damage that a load of all records finds, an index knows, and the other way round; a load leaves
 * the lines of good records as they were. */
static void loads_and_indexes_share_what_is_damaged(void **state)
{
    const place *p = *state;
    char good[600], odd[600];
    write_record(p, "20260101T020000.000000000Z-h-1-0", good);
    assert_damaged(p, 0, NULL, false);
    assert_int_equal(access(p->index, F_OK), -1); /* where all is well nothing is written */
    snprintf(odd, sizeof odd, "%s/a\\b\tc.h5", p->store);
    overwrite(odd, "nonsense", 8);
    assert_damaged(p, 1, odd, false);
    assert_damaged(p, 1, odd, true);
    assert_update(p, 0, 1, 1);
    overwrite(odd, "other nonsense", 14);
    assert_damaged(p, 1, odd, false);
    assert_int_equal(unlink(odd), 0);
    assert_damaged(p, 0, NULL, false);
    assert_update(p, 0, 1, 0);
}

/* An index of 1 GB that is nothing but a hole costs neither its memory nor its time. */
static void a_huge_index_is_not_read(void **state)
{
    const place *p = *state;
    char path[600];
    struct rusage used;
    int status = 1;
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    assert_update(p, 1, 1, 0);
    assert_int_equal(truncate(p->index, 1 << 30), 0);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        assert_update(p, 1, 1, 0);
        _exit(0);
    }
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    assert_int_equal(status, 0);
    assert_true(used.ru_maxrss < 512 << 10); /* KiB */
    assert_update(p, 0, 1, 0);
}

/* Every byte of the index changed in turn, every length of it, and other things of that
 * name: the answer stays the same, and the files are read. */
static void indexes_that_cannot_be_used_are_made_anew(void **state)
{
    const place *p = *state;
    char path[600];
    size_t size, trials = 0;
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    assert_update(p, 1, 1, 0);
    char *good = contents(p->index, &size);
    for (size_t i = 0; i < size; i += 7, trials++) {
        good[i] ^= 0x10;
        overwrite(p->index, good, size);
        assert_update(p, 1, 1, 0);
        good[i] ^= 0x10;
        overwrite(p->index, good, i);
        assert_update(p, 1, 1, 0);
    }
    assert_true(trials > 50);
    overwrite(p->index, good, size);
    assert_update(p, 0, 1, 0);
    free(good);
}

/* An index may claim anything about the records. */
static void indexes_that_others_may_write_are_not_believed(void **state)
{
    const place *p = *state;
    char path[600];
    struct stat info;
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    const mode_t mask = umask(0);
    assert_update(p, 1, 1, 0);
    umask(mask);
    assert_int_equal(stat(p->index, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644); /* whatever the umask */
    assert_update(p, 0, 1, 0);
    static const mode_t open_to[] = {0664, 0646, 0666};
    for (size_t i = 0; i < sizeof open_to / sizeof *open_to; i++) {
        assert_int_equal(chmod(p->index, open_to[i]), 0);
        assert_update(p, 1, 1, 0);
        assert_update(p, 0, 1, 0); /* it is ours again */
    }
}

static void indexes_of_others_are_not_believed(void **state)
{
    const place *p = *state;
    char path[600];
    struct stat info;
    res_index index;
    bn_status st = {0};
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    assert_update(p, 1, 1, 0);
    stranger = geteuid() + 4711;
    assert_update(p, 1, 1, 0);
    assert_update(p, 1, 1, 0);
    /* The folder's owner may do with it what he likes. */
    assert_int_equal(stat(p->store, &info), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(p->store, stranger, (gid_t)-1), 0);
        assert_update(p, 0, 1, 0);
        assert_int_equal(chown(p->store, info.st_uid, (gid_t)-1), 0);
    }
    /* Where it cannot be replaced, the reason is reported. */
    assert_int_equal(unlink(p->index), 0);
    assert_int_equal(mkdir(p->index, 0700), 0);
    assert_ok(res_index_load(p->store, NULL, &index, &st), &st);
    assert_int_equal(index.read, 1);
    assert_int_not_equal(index.unsaved.code, BN_OK);
    res_index_free(&index);
    stranger = 0;
    assert_int_equal(rmdir(p->index), 0);
}

static void indexes_that_lie_elsewhere_are_not_believed(void **state)
{
    const place *p = *state;
    char path[600], other[420];
    struct stat info;
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    assert_update(p, 1, 1, 0);
    snprintf(other, sizeof other, "%s.elsewhere", p->index);
    assert_int_equal(rename(p->index, other), 0);
    assert_int_equal(symlink(other, p->index), 0);
    assert_update(p, 1, 1, 0);
    assert_int_equal(lstat(p->index, &info), 0);
    assert_true(S_ISREG(info.st_mode));
}

/* A well-formed index of an older program: sealed as it should be, with a column less. */
static void older_columns_are_strangers(void **state)
{
    const place *p = *state;
    char path[600], digest[BN_SHA256_TEXT], first[200];
    size_t size;
    bn_text whole = {0};
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    assert_update(p, 1, 1, 0);
    char *text = contents(p->index, &size);
    char *body = strchr(text, '\n') + 1;
    char *heads_end = strchr(body, '\n');
    memmove(heads_end - 5, heads_end, strlen(heads_end) + 1); /* "\tseed" */
    bn_sha256(body, strlen(body), digest);
    snprintf(first, sizeof first, "bench-index 5 records %d sha256 %s %zu\n", RES_SCHEMA_VERSION,
             digest, strlen(body));
    bn_text_puts(&whole, first);
    bn_text_puts(&whole, body);
    overwrite(p->index, whole.data, whole.length);
    assert_update(p, 1, 1, 0);
    bn_text_free(&whole);
    free(text);
    assert_int_equal(unlink(p->index), 0);
    assert_int_equal(mkfifo(p->index, 0600), 0);
    assert_update(p, 1, 1, 0); /* neither waits nor fails */
    assert_update(p, 0, 1, 0);
}

static void lines_that_are_none_are_refused(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 5);
    bn_arena *memory = bn_arena_new(4096);
    res_pools pools = {.memory = memory};
    res_summary summary;
    bn_text line = {0};
    bn_status st = {0};
    res_line_write(record, "a.h5", 12, -3, &line);
    assert_ok(res_line_parse(line.data, line.length, &pools, &summary, &st), &st);
    assert_int_equal(summary.mtime_ns, -3);
    for (size_t i = 1; i < line.length; i++) {
        /* Cut lines have fewer columns, or a last one that is no number. */
        char *cut = strndup(line.data, i);
        if (res_line_parse(cut, i, &pools, &summary, &st) == BN_OK)
            assert_true(i + 20 > line.length);
        free(cut);
    }
    assert_int_equal(res_line_parse("a.h5\t1\n", 7, &pools, &summary, &st), BN_FORMAT);
    res_pools_free(&pools);
    bn_arena_free(memory);
    bn_text_free(&line);
    res_record_free(record);
}

/* Whether LINE is taken when its column COLUMN, from 0, is TEXT. */
static bool takes(const char *line, int column, const char *text, res_pools *pools,
                  res_summary *summary)
{
    bn_text changed = {0};
    const char *at = line;
    for (int i = 0; i < column; i++)
        at = strchr(at, '\t') + 1;
    bn_text_append(&changed, line, (size_t)(at - line));
    bn_text_puts(&changed, text);
    bn_text_puts(&changed, at + strcspn(at, "\t"));
    const bool taken = res_line_parse(changed.data, changed.length, pools, summary, NULL) == BN_OK;
    bn_text_free(&changed);
    return taken;
}

/* Lines of the index obey the limits of records. */
static void lines_are_checked_as_records_are(void **state)
{
    (void)state;
    enum {
        REPETITION = 7,
        WALL = 8,
        TRACE = 9,
        DEVICE = 10,
        COMPILE = 12,
        SOURCE = 13,
        GROUP = 14,
        CONDITIONS = 15,
        SHA256 = 16,
        LABEL = 17,
        HOST = 19
    };
    static const char *const no_walls[] = {"-5", "0", "1e308", "1e17", "inf", "nan"};
    res_record *record = fixture_record(&fixture_lazy, 5);
    bn_arena *memory = bn_arena_new(4096);
    res_pools pools = {.memory = memory};
    res_summary summary;
    bn_text line = {0};
    res_line_write(record, "a.h5", 12, -3, &line);
    assert_true(takes(line.data, REPETITION, "1000", &pools, &summary));
    assert_int_equal(summary.repetition, 1000);
    assert_false(takes(line.data, REPETITION, "1001", &pools, &summary));
    assert_false(takes(line.data, REPETITION, "-1", &pools, &summary));
    assert_true(takes(line.data, WALL, "25e6", &pools, &summary));
    assert_true(takes(line.data, WALL, "-", &pools, &summary));
    for (size_t i = 0; i < sizeof no_walls / sizeof *no_walls; i++)
        assert_false(takes(line.data, WALL, no_walls[i], &pools, &summary));
    assert_false(takes(line.data, TRACE, "-1", &pools, &summary));
    assert_true(takes(line.data, DEVICE, "-1", &pools, &summary));
    assert_false(takes(line.data, DEVICE, "-1e17", &pools, &summary));
    assert_false(takes(line.data, COMPILE, "1e17", &pools, &summary));
    assert_true(takes(line.data, SOURCE, "mixed", &pools, &summary));
    assert_string_equal(summary.source, "mixed");
    assert_false(takes(line.data, SOURCE, "guess", &pools, &summary));
    assert_false(takes(line.data, SOURCE, "", &pools, &summary));
    assert_true(takes(line.data, GROUP, "", &pools, &summary));
    assert_false(takes(line.data, GROUP, "0123456789abcde", &pools, &summary));
    assert_false(takes(line.data, CONDITIONS, "0123456789abcdeg", &pools, &summary));
    assert_false(takes(line.data, SHA256, "../../zz", &pools, &summary));
    assert_true(takes(line.data, SHA256, "", &pools, &summary));
    assert_true(takes(line.data, LABEL, "a\x1b[31m\xe2\x80\xae\\n", &pools, &summary));
    assert_string_equal(summary.origin->label, "a?[31m? ");
    assert_true(takes(line.data, HOST, "h\xc2\x9b", &pools, &summary));
    assert_string_equal(summary.origin->host, "h?");
    res_pools_free(&pools);
    bn_arena_free(memory);
    bn_text_free(&line);
    res_record_free(record);
}

static void a_store_that_cannot_be_written_is_read_all_the_same(void **state)
{
    const place *p = *state;
    char path[600];
    res_index index;
    bn_status st = {0};
    write_record(p, "20260101T020000.000000000Z-h-1-0", path);
    assert_int_equal(mkdir(p->index, 0700), 0); /* root can write any folder, but not this */
    assert_ok(res_index_load(p->store, NULL, &index, &st), &st);
    assert_int_equal(index.count, 1);
    assert_int_not_equal(index.unsaved.code, BN_OK);
    assert_non_null(strstr(index.unsaved.message, "index"));
    res_index_free(&index);
    assert_int_equal(res_index_load("/nowhere/at/all", NULL, &index, &st), BN_NOT_FOUND);
}

/* Writers and updates at once: whatever they lose comes back. */
static void writers_at_once_lose_nothing_for_good(void **state)
{
    const place *p = *state;
    for (int child = 0; child < 3; child++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            for (int i = 0; i < 15; i++) {
                char id[64], path[600];
                res_index index;
                bn_status st = {0};
                snprintf(id, sizeof id, "20260101T0200%02d.000000000Z-h-%d-0", i, child);
                write_record(p, id, path);
                if (res_index_load(p->store, NULL, &index, &st) != BN_OK || index.damaged_count)
                    _exit(1);
                res_index_free(&index);
            }
            _exit(0);
        }
    }
    for (int child = 0; child < 3; child++) {
        int status = 1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    res_index index;
    load_with(p, NULL, &index);
    assert_int_equal(index.count, 45);
    res_index_free(&index);
    assert_update(p, 0, 45, 0);
}

/* The leftovers of a reader that was killed while it wrote the index. */
static void what_a_killed_reader_left_is_swept(void **state)
{
    const place *p = *state;
    char left[500];
    bn_status st = {0};
    const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    snprintf(left, sizeof left, "%s.99999999-1.tmp", p->index);
    assert_ok(bn_file_write_atomic(left, "half", 4, &st), &st);
    res_store_sweep_old(p->store);
    assert_int_equal(access(left, F_OK), 0); /* it may still be written */
    assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
    res_store_sweep_old(p->store);
    assert_int_equal(access(left, F_OK), -1);
}

/* ---- copies -------------------------------------------------------------------------------- */

/* A copy of ORIGINAL in the store under NAME; its path into PATH. */
static void copy_as(const place *p, const char *original, const char *name, char path[600])
{
    size_t size;
    char *data = contents(original, &size);
    snprintf(path, 600, "%s/%s", p->store, name);
    overwrite(path, data, size);
    free(data);
}

/* Loads of a store with one record and COPIES of it, of which ORIGINAL counts. */
static void assert_copies(const place *p, const char *original, size_t copies)
{
    res_index index;
    res_collection all;
    bn_status st = {0};
    load_with(p, NULL, &index);
    assert_int_equal(index.count, 1);
    assert_string_equal(index.records[0].file, bn_base_name(original));
    assert_int_equal(index.damaged_count, copies);
    assert_ok(res_store_load(p->store, &all, &st), &st);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.damaged_count, copies);
    for (size_t i = 0; i < copies; i++) {
        assert_non_null(strstr(index.damaged[i].status.message, bn_base_name(original)));
        assert_int_equal(all.damaged[i].fault, RES_FAULT_COPY);
        assert_non_null(strstr(all.damaged[i].status.message, bn_base_name(original)));
    }
    res_collection_free(&all);
    res_index_free(&index);
}

/* A record under two names is one process, whether the index is new or not. The file that is called
 * by the id counts, as long as it is there. */
static void a_record_counts_once(void **state)
{
    const place *p = *state;
    char original[600], before[600], after[600];
    write_record(p, "20260101T020000.000000000Z-h-1-0", original);
    assert_copies(p, original, 0);
    copy_as(p, original, "00-copy.h5", before);
    copy_as(p, original, "zz-copy.h5", after);
    assert_copies(p, original, 2);
    assert_copies(p, original, 2);
    assert_int_equal(unlink(original), 0);
    assert_copies(p, before, 1);
    assert_int_equal(unlink(before), 0);
    assert_copies(p, after, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(summaries_are_those_of_the_records),
        TEST(only_what_changed_is_read),
        TEST(damaged_records_are_reported_each_time),
        TEST(loads_and_indexes_share_what_is_damaged),
        TEST(a_huge_index_is_not_read),
        TEST(indexes_that_cannot_be_used_are_made_anew),
        TEST(indexes_that_others_may_write_are_not_believed),
        TEST(indexes_of_others_are_not_believed),
        TEST(indexes_that_lie_elsewhere_are_not_believed),
        TEST(older_columns_are_strangers),
        TEST(lines_that_are_none_are_refused),
        TEST(lines_are_checked_as_records_are),
        TEST(a_store_that_cannot_be_written_is_read_all_the_same),
        TEST(writers_at_once_lose_nothing_for_good),
        TEST(what_a_killed_reader_left_is_swept),
        TEST(a_record_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
