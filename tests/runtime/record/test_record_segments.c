/*
 * test_record_segments.c - runs that are longer than the limit: the beginning and the end are kept,
 * whoever writes, however it ends, and readers know where the middle is missing.
 */
#define _GNU_SOURCE

#include "results/recordings/recordings.h"
#include "tests/runtime/record/record_fixture.h"

#include <pthread.h>

enum { LIMIT = 65536, ADDITIONS = 4000, SEGMENT = 8192, THREADS = 4 };

/* Bytes of all files in FOLDER and below it. */
static uint64_t bytes_in(const char *folder)
{
    uint64_t bytes = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *e; (e = readdir(list));) {
        char path[9000];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &info) != 0)
            continue;
        bytes += S_ISDIR(info.st_mode) ? bytes_in(path) : (uint64_t)info.st_size;
    }
    closedir(list);
    return bytes;
}

static void begin_limited(bool mapped, uint64_t limit)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)limit);
    setenv(RECORD_ENV_LIMIT, text, 1);
    setenv("BENCH_RECORD_MAPPED", mapped ? "1" : "0", 1);
}

static void end_limited(void)
{
    unsetenv(RECORD_ENV_LIMIT);
    unsetenv("BENCH_RECORD_MAPPED");
}

/* What is read of FOLDER: all slots are sound, numbers of executions grow without a gap but in the
 * middle, and each is of a program that is known. */
static rec_recording *read_whole(const char *folder)
{
    bn_status st = {0};
    rec_recording *r = NULL;
    assert_ok(rec_open(folder, &r, &st), &st);
    for (size_t i = 0; i < r->process_count; i++) {
        const rec_process *p = &r->processes[i];
        assert_true(p->strays == 0 || p->dropped.any);
        for (size_t k = 0; k < p->execution_count; k++) {
            const rec_execution *e = &p->executions[k];
            assert_true(e->number > 0 && e->end_ns >= e->begin_ns);
            assert_int_equal(e->arguments, 2);
            assert_int_equal(e->results, 1);
            assert_string_equal(p->programs[e->program].name, "jit_add");
        }
    }
    return r;
}

static uint64_t most_number(const rec_process *p)
{
    uint64_t most = 0;
    for (size_t i = 0; i < p->execution_count; i++)
        most = p->executions[i].number > most ? p->executions[i].number : most;
    return most;
}

static uint64_t least_number(const rec_process *p)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < p->execution_count; i++)
        least = p->executions[i].number < least ? p->executions[i].number : least;
    return least;
}

/* ---- one thread -------------------------------------------------------------------------------
 */

static void adds_long(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, ADDITIONS, true);
    runner_free(&r);
}

static void beginning_and_end_are_kept(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        begin_limited(mapped, LIMIT);
        in_child(adds_long, folder);
        end_limited();
        assert_true(bytes_in(folder) <= LIMIT);
        rec_recording *r = read_whole(folder);
        const rec_process *p = &r->processes[0];
        assert_int_equal(p->stop, RECORD_GOES_ON);
        assert_int_equal(p->lost, 0);
        assert_int_equal(p->skipped, 0);
        assert_true(p->dropped.any);
        /* Numbers are shared with transfers, of which there are three. */
        assert_true(least_number(p) <= 3);
        assert_true(most_number(p) >= ADDITIONS && most_number(p) <= ADDITIONS + 3);
        assert_true(p->dropped.events > ADDITIONS);
        assert_true(p->execution_count < ADDITIONS / 2);
        const rec_pause *pause = &p->pauses[p->dropped.pause];
        size_t before = 0, behind = 0;
        for (size_t i = 0; i < p->execution_count; i++) {
            before += p->executions[i].end_ns <= pause->from_ns;
            behind += p->executions[i].begin_ns >= pause->to_ns;
        }
        /* Three eighths of the limit, and two segments at least, at six slots an addition. */
        assert_true(before >= LIMIT * 3 / 8 / RECORD_SLOT / 8);
        assert_true(behind >= 2 * SEGMENT / RECORD_SLOT / 8);
        assert_true(p->command[0] != NULL);
        assert_true(p->thread_count > 0 && p->threads[0].name[0]);
        assert_int_equal(p->plugin_count, 1);
        assert_true(p->device_count > 0);
        rec_close(r);
    }
}

static void adds_little(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 20, true);
    runner_free(&r);
}

/* Older readers read it. */
static void what_fits_is_one_file(void **state)
{
    (void)state;
    const char *folder = new_folder();
    begin_limited(true, LIMIT);
    in_child(adds_little, folder);
    end_limited();
    recording r = recording_in(folder);
    assert_int_equal(processes(r.folder, 0, NULL, 0), 2); /* events, programs */
    recording_executions(&r, 20);
    recording_free(&r);
}

/* The middle is of other programs than the beginning: what was compiled there is known behind. */
static void compiles_in_the_middle(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, 500, true);
    runner later = runner_new(NULL, ADD);
    runner_free(&r);
    add_often(&later, ADDITIONS, true);
    runner_free(&later);
}

static void what_was_compiled_in_the_middle_is_known(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        begin_limited(mapped, LIMIT);
        in_child(compiles_in_the_middle, folder);
        end_limited();
        assert_true(bytes_in(folder) <= LIMIT);
        rec_recording *r = read_whole(folder);
        const rec_process *p = &r->processes[0];
        assert_true(p->dropped.any);
        assert_int_equal(p->programs[0].compiles, 2);
        const rec_execution *last = &p->executions[p->execution_count - 1];
        assert_true(p->executables[last->executable].compile != REC_NONE);
        assert_int_not_equal(last->executable, p->executions[0].executable);
        rec_close(r);
    }
}

/* ---- several threads --------------------------------------------------------------------------
 */

static void *adds_in_a_thread(void *of)
{
    add_often(of, ADDITIONS, true);
    return NULL;
}

static void adds_in_threads(const char *folder)
{
    pthread_t threads[THREADS];
    runner runners[THREADS];
    set_recorder(folder, "pjrt_sim");
    for (int i = 0; i < THREADS; i++)
        runners[i] = runner_new(NULL, ADD);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, adds_in_a_thread, &runners[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        runner_free(&runners[i]);
}

static void threads_write_while_segments_are_retired(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        begin_limited(mapped, LIMIT);
        in_child(adds_in_threads, folder);
        end_limited();
        assert_true(bytes_in(folder) <= LIMIT);
        rec_recording *r = read_whole(folder);
        const rec_process *p = &r->processes[0];
        assert_int_equal(p->stop, RECORD_GOES_ON);
        assert_true(p->dropped.any);
        /* The last execution may be one whose writer was late; those before it are there. */
        assert_true(most_number(p) + 100 >= THREADS * ADDITIONS);
        rec_close(r);
    }
}

/* ---- kills and forks --------------------------------------------------------------------------
 */

static void adds_for_ever(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    for (;;)
        add_often(&r, 100, true);
}

static void what_was_killed_can_be_read(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        const char *folder = new_folder();
        const struct timespec nap = {.tv_nsec = 100000}, more = {.tv_nsec = 700000 + 531000 * i};
        char process[8192], path[9000];
        begin_limited(i % 2, LIMIT);
        const pid_t child = start_child(adds_for_ever, folder);
        end_limited();
        while (processes(folder, 0, process, sizeof process) == 0)
            nanosleep(&nap, NULL);
        snprintf(path, sizeof path, "%s/kept", process);
        while (access(path, F_OK) != 0)
            nanosleep(&nap, NULL);
        nanosleep(&more, NULL);
        kill(child, SIGKILL);
        const int status = end_of(child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        rec_recording *r = read_whole(folder);
        assert_int_equal(r->processes[0].stop, RECORD_GOES_ON);
        assert_true(r->processes[0].execution_count > 50);
        rec_close(r);
    }
}

static void forks_in_the_middle(const char *folder)
{
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, ADD);
    add_often(&r, ADDITIONS, true);
    const pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        runner mine = runner_new(NULL, ADD);
        add_often(&mine, ADDITIONS / 2, true);
        runner_free(&mine);
        _exit(0);
    }
    int status = -1;
    add_often(&r, ADDITIONS, true);
    MUST(waitpid(child, &status, 0) == child && status == 0);
    runner_free(&r);
}

static void a_forked_process_has_segments_of_its_own(void **state)
{
    (void)state;
    if (RACES_SOUGHT)
        skip();
    const char *folder = new_folder();
    begin_limited(true, LIMIT);
    in_child(forks_in_the_middle, folder);
    end_limited();
    rec_recording *r = read_whole(folder);
    assert_int_equal(r->process_count, 2);
    assert_true(r->processes[0].dropped.any && r->processes[1].dropped.any);
    assert_true(most_number(&r->processes[0]) >= 2 * ADDITIONS);
    assert_true(most_number(&r->processes[1]) >= ADDITIONS / 2 &&
                most_number(&r->processes[1]) < ADDITIONS);
    rec_close(r);
}

/* ---- programs that fill the limit ---------------------------------------------------------------
 */

/* ADD, behind BLANKS blanks. */
static void compiles_a_long_text(const char *folder)
{
    enum { BLANKS = 36 << 10 };
    char *text = malloc(BLANKS + sizeof ADD);
    MUST(text);
    memset(text, ' ', BLANKS);
    memcpy(text + BLANKS, ADD, sizeof ADD);
    set_recorder(folder, "pjrt_sim");
    runner r = runner_new(NULL, text);
    add_often(&r, ADDITIONS, true);
    runner_free(&r);
    free(text);
}

static void without_room_for_a_segment_the_recording_ends(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        const char *folder = new_folder();
        begin_limited(mapped, LIMIT);
        in_child(compiles_a_long_text, folder);
        end_limited();
        assert_true(bytes_in(folder) <= LIMIT);
        rec_recording *r = read_whole(folder);
        const rec_process *p = &r->processes[0];
        assert_int_equal(p->stop, RECORD_LIMIT);
        assert_false(p->dropped.any);
        assert_true(p->lost > ADDITIONS / 2);
        assert_true(least_number(p) <= 3 && p->execution_count > 50);
        rec_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beginning_and_end_are_kept),
        cmocka_unit_test(what_fits_is_one_file),
        cmocka_unit_test(what_was_compiled_in_the_middle_is_known),
        cmocka_unit_test(threads_write_while_segments_are_retired),
        cmocka_unit_test(what_was_killed_can_be_read),
        cmocka_unit_test(a_forked_process_has_segments_of_its_own),
        cmocka_unit_test(without_room_for_a_segment_the_recording_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
