/*
 * test_torture.c - a store whose writers are killed, and one that many write at once:
 * what was reported as written is there, and nothing that is there is damaged. Needs
 * no plugin.
 */
#include "tests/support/ahead.h"
#include "tests/support/results_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS          200
#define KILLS_A_STORE  10 /* reading a store takes the longer the more is in it */
#define LONGEST_LIFE   60 /* ms, that a writer is left */
#define WRITERS        8
#define RECORDS_EACH   50
#define MOST_IDS       20000
#define SWEEP_AGE_SECS 120
#define DAY_SECS       86400

static char folder[256];

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    fixture_folder(folder, sizeof folder, "test_torture");
    return 0;
}

/* ---- writers ------------------------------------------------------------------------ */

/* Names of records that a writer said it had written. */
typedef struct ids {
    char id[MOST_IDS][RES_TEXT];
    size_t count;
} ids;

/* Never returns: writes COUNT records into STORE and reports each to FD, whole or not
 * at all, once it is written. */
static void write_records(const char *store, int fd, unsigned count)
{
    bn_status st = {0};
    for (unsigned i = 0; i < count; i++) {
        res_record *record = fixture_record(&fixture_lazy, 20);
        if (res_store_write(store, record, NULL, 0, &st) != BN_OK)
            _exit(1);
        if (write(fd, record->id, RES_TEXT) != RES_TEXT)
            _exit(2);
        res_record_free(record);
    }
    _exit(0);
}

/* A process that writes; *FD is where it reports. */
static pid_t start_writer(const char *store, unsigned count, int *fd)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        write_records(store, ends[1], count);
    }
    close(ends[1]);
    *fd = ends[0];
    return pid;
}

/* All that was reported to FD, whose writer is gone. */
static void take_reports(int fd, ids *reported)
{
    ssize_t got;
    while ((got = read(fd, reported->id[reported->count], RES_TEXT)) == RES_TEXT) {
        reported->count++;
        assert_true(reported->count < MOST_IDS);
    }
    assert_int_equal(got, 0); /* nothing in pieces */
    close(fd);
}

/* ---- what must hold ------------------------------------------------------------------- */

static int by_id(const void *id, const void *record)
{
    return strcmp(id, (*(res_record *const *)record)->id);
}

/* STORE reads without damage and holds what was REPORTED, from the one numbered FIRST
 * on; returns how many it holds. */
static size_t assert_whole(const char *store, const ids *reported, size_t first)
{
    bn_status st = {0};
    res_collection all;
    assert_int_equal(res_store_load(store, &all, &st), BN_OK);
    if (all.damaged_count > 0)
        fail_msg("%s", all.damaged[0].status.message);
    for (size_t i = first; i < reported->count; i++)
        if (!bsearch(reported->id[i], all.records, all.count, sizeof *all.records, by_id))
            fail_msg("%s was reported and is not there", reported->id[i]);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(all.records[i]->step_count, 20);
    const size_t count = all.count;
    res_collection_free(&all);
    return count;
}

/* Files in STORE other than records. */
static size_t temporaries(const char *store)
{
    DIR *entries = opendir(store);
    size_t count = 0;
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
                 strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}

/* ---- killed ------------------------------------------------------------------------------ */

/* One writer's life, of LIFE_US; returns how many temporary files it left. */
static size_t kill_writer(const char *store, unsigned life_us, ids *reported)
{
    const struct timespec life = {0, (long)life_us * 1000};
    const size_t first = reported->count;
    int fd, status;
    pid_t pid = start_writer(store, MOST_IDS, &fd);
    nanosleep(&life, NULL);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    take_reports(fd, reported);
    assert_whole(store, reported, first);
    const size_t left = temporaries(store);
    assert_true(left <= 1);
    res_store_sweep(store, (long)pid);
    assert_int_equal(temporaries(store), 0);
    return left;
}

static void killed_writers_lose_nothing(void **state)
{
    (void)state;
    static ids reported;
    uint64_t random = 20240229;
    size_t left = 0, held = 0;
    for (int round = 0; round < KILLS / KILLS_A_STORE; round++) {
        const size_t first = reported.count;
        char store[300];
        bn_status st = {0};
        snprintf(store, sizeof store, "%s/killed%d", folder, round);
        assert_int_equal(bn_make_folder(store, &st), BN_OK);
        for (int i = 0; i < KILLS_A_STORE; i++)
            left += kill_writer(store, (unsigned)(fixture_uniform(&random) * LONGEST_LIFE * 1000),
                                &reported);
        held += assert_whole(store, &reported, first);
    }
    print_message("# %d kills: %zu records reported, %zu held, %zu temporary files left\n", KILLS,
                  reported.count, held, left);
    /* A record may be there whose writer died before it could say so; one a life. */
    assert_in_range(held, reported.count, reported.count + KILLS);
    /* Otherwise nobody was hit amid anything, and nothing was tried. */
    assert_true(reported.count > 0 && left > 0);
}

/* ---- many at once --------------------------------------------------------------------------- */

static void writers_at_once_do_not_meet(void **state)
{
    (void)state;
    static ids reported;
    char store[300];
    bn_status st = {0};
    int fds[WRITERS], status, running = WRITERS;
    snprintf(store, sizeof store, "%s/many", folder);
    assert_int_equal(bn_make_folder(store, &st), BN_OK);
    for (int i = 0; i < WRITERS; i++)
        start_writer(store, RECORDS_EACH, &fds[i]);
    /* Reading meanwhile finds whole records only. */
    while (running > 0) {
        assert_whole(store, &reported, 0);
        while (running > 0 && waitpid(-1, &status, WNOHANG) > 0) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
            running--;
        }
    }
    for (int i = 0; i < WRITERS; i++)
        take_reports(fds[i], &reported);
    assert_int_equal(reported.count, WRITERS * RECORDS_EACH);
    assert_int_equal(assert_whole(store, &reported, 0), WRITERS * RECORDS_EACH);
    assert_int_equal(temporaries(store), 0);
}

/* ---- left behind -------------------------------------------------------------------------------
 */

/* A temporary file in STORE as PID would have left it AGE seconds ago. */
static void leave(const char *store, long pid, int age)
{
    char path[512];
    res_record *record = res_record_new();
    snprintf(path, sizeof path, "%s/.%s.%ld.tmp", store, record->id, pid);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    const struct timespec then = {time(NULL) - age, 0}, times[2] = {then, then};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    res_record_free(record);
}

/* Nobody swept after a harness that was killed together with its worker. */
static void what_the_dead_left_is_swept_later(void **state)
{
    (void)state;
    char store[300];
    bn_status st = {0};
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    snprintf(store, sizeof store, "%s/left", folder);
    assert_int_equal(bn_make_folder(store, &st), BN_OK);
    leave(store, dead, 0); /* perhaps of another machine of our name */
    leave(store, getpid(), 0);
    res_store_sweep_old(store);
    assert_int_equal(temporaries(store), 2);
    leave(store, dead, SWEEP_AGE_SECS);
    leave(store, dead, SWEEP_AGE_SECS + 1);
    leave(store, getpid(), DAY_SECS); /* who left it had our number before us */
    assert_int_equal(temporaries(store), 5);
    res_store_sweep_old(store);
    assert_int_equal(temporaries(store), 2);
    ahead_s = SWEEP_AGE_SECS;
    res_store_sweep_old(store);
    ahead_s = 0;
    assert_int_equal(temporaries(store), 1); /* our own: we may still write it */
    res_store_sweep_old(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_writers_lose_nothing),
        cmocka_unit_test(writers_at_once_do_not_meet),
        cmocka_unit_test(what_the_dead_left_is_swept_later),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
