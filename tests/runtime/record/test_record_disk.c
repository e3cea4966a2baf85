/*
 * test_record_disk.c - recording onto file systems that are really full: the recording ends, and
 * the program does not notice. Each is a small one of this process's own, where the system permits
 * that. And what becomes of a file while it grows.
 */
#define _GNU_SOURCE /* unshare, fallocate */

#include "tests/runtime/record/record_fixture.h"
#include "tests/support/own_mounts.h"

#include <errno.h>
#include <sys/statvfs.h>

/* Additions that take up CHUNKS chunks of events. */
#define FILLING(chunks) ((size_t)(chunks)*CHUNK_SLOTS / LEAST_SLOTS)

/* ---- disks ----------------------------------------------------------------------------------- */

static bool permitted;

/* A new folder that is a file system of SIZE. */
static const char *new_disk(const char *size)
{
    char option[40];
    const char *path = new_folder();
    snprintf(option, sizeof option, "size=%s", size);
    if (!permitted || mount("none", path, "tmpfs", 0, option) != 0) {
        print_message("mounting a small file system is not permitted here\n");
        skip();
    }
    return path;
}

static void free_disk(const char *path)
{
    assert_int_equal(umount(path), 0);
}

/* Takes all room that DISK has. */
static void fill(const char *disk)
{
    static const char zeros[4096];
    char path[4200];
    snprintf(path, sizeof path, "%s/.others", disk);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    MUST(fd >= 0);
    while (write(fd, zeros, sizeof zeros) == sizeof zeros)
        continue;
    close(fd);
}

static uint64_t free_bytes(const char *disk)
{
    struct statvfs info;
    assert_int_equal(statvfs(disk, &info), 0);
    return (uint64_t)info.f_bfree * info.f_bsize;
}

/* The child must do WHAT on DISK, its events mapped or not, and end well. */
static void in_child_on(void (*what)(const char *folder), const char *disk, bool mapped)
{
    setenv("BENCH_RECORD_MAPPED", mapped ? "1" : "0", 1);
    in_child(what, disk);
    unsetenv("BENCH_RECORD_MAPPED");
}

/* ---- full disks ------------------------------------------------------------------------------ */

static void adds_for_long(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, FILLING(3), true);
    runner_free(&r);
}

/* There is room for the first chunk of events, and not for the second. */
static void a_full_disk_ends_the_recording(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *disk = new_disk("1600k");
        in_child_on(adds_for_long, disk, mapped);
        recording r = recording_in(disk);
        assert_int_equal(r.head.stop, RECORD_DISK_FULL);
        assert_true(r.head.lost >= FILLING(1));
        recording_executions(&r, 1000);
        assert_int_equal(recording_count(&r, RECORD_COMPILE), 1);
        recording_free(&r);
        free_disk(disk);
    }
}

static void adds_while_others_fill_the_disk(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 1000, true);
    fill(folder);
    add_often(&r, FILLING(3), true);
    runner_free(&r);
}

/* The mapped chunk has its room already: without, the next slot would be a deadly signal. */
static void others_may_fill_the_disk(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *disk = new_disk("8m");
        in_child_on(adds_while_others_fill_the_disk, disk, mapped);
        recording r = recording_in(disk);
        assert_int_equal(r.head.stop, RECORD_DISK_FULL);
        assert_true(r.head.lost > 0);
        recording_executions(&r, 1000);
        recording_free(&r);
        free_disk(disk);
    }
}

/* Nor does it take the room that there is. */
static void without_room_for_a_chunk_nothing_is_recorded(void **state)
{
    (void)state;
    const char *disk = new_disk("512k");
    in_child_on(adds_for_long, disk, true);
    recording r = recording_in(disk);
    assert_int_equal(r.head.stop, RECORD_DISK_FULL);
    assert_true(r.head.lost >= FILLING(3));
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), 0);
    recording_free(&r);
    assert_true(free_bytes(disk) > 400 << 10);
    free_disk(disk);
}

/* The disk has room for the folder, the events and no third name. */
static void without_room_for_programs_nothing_is_recorded(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *disk = new_disk("8m,nr_inodes=3");
        in_child_on(adds_for_long, disk, mapped);
        recording r = recording_in(disk);
        assert_int_equal(r.head.stop, RECORD_DISK_FULL);
        assert_true(r.head.lost >= FILLING(3));
        assert_int_equal(recording_count(&r, RECORD_EXECUTE), 0);
        recording_free(&r);
        free_disk(disk);
    }
}

static void without_any_room_the_program_runs(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        char path[8192], events[8300];
        struct stat info;
        const char *disk = new_disk("64k");
        fill(disk);
        in_child_on(adds_for_long, disk, mapped);
        assert_int_equal(processes(disk, 0, path, sizeof path), 1);
        snprintf(events, sizeof events, "%s/events", path);
        assert_int_equal(stat(events, &info), 0);
        assert_int_equal(info.st_size, 0);
        free_disk(disk);
    }
}

/* ---- programs -------------------------------------------------------------------------------- */

/* ADD, behind two megabytes of blanks. */
static void compiles_what_is_too_long(const char *folder)
{
    enum { BLANKS = 2 << 20 };
    char *text = malloc(BLANKS + sizeof ADD);
    MUST(text);
    memset(text, ' ', BLANKS);
    memcpy(text + BLANKS, ADD, sizeof ADD);
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, text);
    runner_free(&r);
    free(text);
}

static void a_program_that_finds_no_room_ends_the_recording(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        char path[9000];
        const char *disk = new_disk("1600k");
        in_child_on(compiles_what_is_too_long, disk, mapped);
        recording r = recording_in(disk);
        assert_int_equal(r.head.stop, RECORD_DISK_FULL);
        assert_int_equal(recording_count(&r, RECORD_COMPILE), 0);
        /* The call that was going on counts as well: COMPILE and EXECUTABLE, then the end. */
        assert_true(r.head.lost >= 3);
        /* No half of it stays. */
        snprintf(path, sizeof path, "%s/programs/unfinished", r.folder);
        assert_int_not_equal(access(path, F_OK), 0);
        recording_free(&r);
        free_disk(disk);
    }
}

/* ---- growth --------------------------------------------------------------------------------- */

/* The outcome of reserving disk space. */
static enum { AS_EVER, KILLED, HALF_TAKEN } growth;

/* In front of the C library's: the recorder calls this one. */
int posix_fallocate(int fd, off_t offset, off_t length)
{
    if (growth == KILLED)
        raise(SIGKILL);
    /* As ext4 and XFS leave it. */
    const bool half = growth == HALF_TAKEN && offset > 0;
    if (fallocate(fd, 0, offset, half ? length / 2 : length) != 0)
        return errno;
    return half ? ENOSPC : 0;
}

static void is_killed_while_its_file_grows(const char *folder)
{
    growth = KILLED;
    adds_for_long(folder);
}

static void what_is_killed_while_its_file_is_made_can_be_read(void **state)
{
    (void)state;
    const char *disk = new_disk("8m");
    const int status = end_of(start_child(is_killed_while_its_file_grows, disk));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    recording r = recording_in(disk);
    assert_int_equal(r.head.stop, RECORD_GOES_ON);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), 0);
    recording_free(&r);
    free_disk(disk);
}

static void adds_on_a_disk_that_takes_half(const char *folder)
{
    growth = HALF_TAKEN;
    adds_for_long(folder);
}

static void what_could_not_be_reserved_is_given_back(void **state)
{
    (void)state;
    const char *disk = new_disk("8m");
    in_child_on(adds_on_a_disk_that_takes_half, disk, true);
    recording r = recording_in(disk);
    assert_int_equal(r.head.stop, RECORD_DISK_FULL);
    recording_executions(&r, 1000);
    recording_free(&r);
    /* All but the first chunk and small files. */
    assert_true(free_bytes(disk) >= (8 << 20) - (1 << 20) - (64 << 10));
    free_disk(disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_ends_the_recording),
        cmocka_unit_test(others_may_fill_the_disk),
        cmocka_unit_test(without_room_for_a_chunk_nothing_is_recorded),
        cmocka_unit_test(without_room_for_programs_nothing_is_recorded),
        cmocka_unit_test(without_any_room_the_program_runs),
        cmocka_unit_test(a_program_that_finds_no_room_ends_the_recording),
        cmocka_unit_test(what_is_killed_while_its_file_is_made_can_be_read),
        cmocka_unit_test(what_could_not_be_reserved_is_given_back),
    };
    permitted = own_mounts_enter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
