/*
 * test_unread_recordings.c - what of a recording cannot be opened or read is a refusal with its
 * path and the reason: never another process's steps, and never silence.
 */
#define _GNU_SOURCE
#include "tests/results/recordings/recording_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "results/recordings/views.h"
#include "tests/support/refused.h"
#include "tests/support/rights.h"

/* A recording of two processes. The second has more executions, and a profile. */
typedef struct pair {
    char folder[300], path[400];
} pair;

enum { SHORT = 12, LONG = 30 };
static const run one_ms = {.call_ns = 20 * US, .device_ns = MS};

static const char *in(pair *p, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", p->folder, name);
    return p->path;
}

static void put_profile(pair *p)
{
    const record_profile head = {.magic = RECORD_PROFILE_MAGIC,
                                 .version = RECORD_VERSION,
                                 .why = RECORD_PROFILE_LOST,
                                 .begin_ns = 1000 * MS,
                                 .end_ns = 1001 * MS};
    put_file(in(p, "200-1/profile"), &head, sizeof head);
}

static int begin_pair(void **state)
{
    pair *p = calloc(1, sizeof *p);
    assert_non_null(p);
    fixture_folder(p->folder, sizeof p->folder, "unread");
    for (uint32_t pid = 100; pid <= 200; pid += 100) {
        play a;
        play_begin_at(&a, pid, 1000 * MS);
        play_awaited(&a, pid == 100 ? SHORT : LONG, 1, one_ms, 100 * US);
        tape_write(&a.tape, p->folder, pid == 100 ? "100-1" : "200-1");
    }
    put_profile(p);
    put_file(in(p, "recording.json"), "{}", 2);
    refused_begin();
    *state = p;
    return 0;
}

static int end_pair(void **state)
{
    free(*state);
    return 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The outcome of reading a recording. */
typedef enum seen { WHOLE, REFUSED, WRONG } seen;

/* Asks for the process that executed most. Whatever fails, the answer is that of the whole
 * recording, or names what could not be read, and REASON. */
static seen look(const char *folder, const char *reason)
{
    bn_status st = {.code = BN_OK};
    rec_recording *r = NULL;
    bn_code code = rec_open(folder, &r, &st);
    armed = false;
    if (code == BN_OK)
        code = rec_check_whole(r, 0, "so", &st);
    if (code != BN_OK) {
        rec_close(r);
        return code == st.code && code != BN_NOT_FOUND && begins(st.message, folder) &&
                       strstr(st.message, reason)
                   ? REFUSED
                   : WRONG;
    }
    const rec_process *most = rec_process_find(r, 0);
    const bool whole = most && most->pid == 200 && most->execution_count == LONG &&
                       most->skipped == 0 && most->profile.asked && most->profile.why[0] &&
                       most->profile.end_ns == 1001 * MS && r->process_count == 2;
    const bool consistent = r->about || (r->about_fault.code != BN_OK &&
                                         strstr(r->about_fault.message, "recording.json") &&
                                         strstr(r->about_fault.message, reason));
    const seen answer = !whole || !consistent ? WRONG : r->about ? WHOLE : REFUSED;
    rec_close(r);
    return answer;
}

/* ---- each moment -------------------------------------------------------------------------- */

/* The exit code of a child that runs ACT; without small memory it ends (bn_out_of_memory). */
enum { ENDED = 3 };
static int in_child_of(int (*act)(const void *), const void *what)
{
    int status = -1;
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        _exit(act(what));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int look_at(const void *p)
{
    return (int)look(((const pair *)p)->folder, "");
}

/* Lets FAULT happen at each moment until nothing is left that could fail. */
static void sweep(const pair *p, const char *reason)
{
    size_t refusals = 0;
    for (fault.at = 1, *failed = 1; *failed; fault.at++) {
        *failed = 0;
        times = 0;
        in_child = false;
        armed = true;
        const int code = fault.what == MEMORY ? in_child_of(look_at, p)
                                              : (int)look(p->folder, *failed ? reason : "");
        const seen answer = code == ENDED ? REFUSED : (seen)code;
        armed = false;
        if (answer == WRONG || (answer == REFUSED && !*failed))
            fail_msg("asked %d, error %d, time %ld of %ld: answer %d", fault.what, fault.error,
                     fault.at, times, (int)answer);
        refusals += answer == REFUSED;
    }
    fault.at = 0;
    /* All but the last time, when nothing was refused. */
    assert_true(refusals > 0);
}

static void no_error_is_swallowed(void **state)
{
    static const struct {
        enum asked what;
        int error;
    } faults[] = {{OPEN, EACCES}, {OPEN, EIO}, {OPEN, EMFILE}, {OPEN, ENFILE},
                  {OPEN, ENOMEM}, {READ, EIO}, {READ, EACCES}, {LIST, EIO}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            fault = (struct fault){.what = faults[i].what,
                                   .whose = READER,
                                   .for_ever = for_ever,
                                   .error = faults[i].error};
            sweep(*state, strerror(faults[i].error));
        }
}

static void no_memory_at_each_moment(void **state)
{
    for (int for_ever = 0; for_ever < 2 && !SANITIZED; for_ever++) {
        fault =
            (struct fault){.what = MEMORY, .whose = CHILD, .for_ever = for_ever, .error = ENOMEM};
        sweep(*state, "");
    }
}

/* The record of the recording in FOLDER as text (malloc); NULL: it was refused. */
static char *record_text(const char *folder)
{
    bn_status st = {.code = BN_OK};
    const rec_options options = {.device = -1};
    const rec_naming naming = {.model = "m"};
    rec_recording *r = NULL;
    rec_steps *steps = NULL;
    res_record *record = NULL;
    char *text = NULL;
    bn_code code = rec_open(folder, &r, &st);
    if (code == BN_OK)
        code = rec_check_whole(r, 0, "so", &st);
    if (code == BN_OK && r->about_fault.code != BN_OK)
        code = r->about_fault.code;
    if (code == BN_OK)
        code = rec_steps_find(r, &options, &steps, &st);
    if (code == BN_OK)
        code = rec_record_make(r, steps, &naming, &record, &st);
    armed = false;
    if (code == BN_OK) {
        json_t *o = res_record_to_json(record);
        text = json_dumps(o, JSON_SORT_KEYS);
        json_decref(o);
        assert_non_null(text);
    }
    res_record_free(record);
    rec_steps_free(steps);
    rec_close(r);
    return text;
}

/* A record of a folder, and the text that it should have. */
typedef struct expected {
    const char *folder, *text;
} expected;

static int is_whole_or_none(const void *what)
{
    const expected *e = what;
    char *text = record_text(e->folder);
    return text && strcmp(text, e->text) != 0;
}

/* A record that was made in little memory is whole, or there is none. */
static void no_record_lacks_a_figure(void **state)
{
    const pair *p = *state;
    char *whole = record_text(p->folder);
    assert_non_null(whole);
    for (int for_ever = 0; for_ever < 2 && !SANITIZED; for_ever++) {
        fault = (struct fault){.what = MEMORY, .whose = CHILD, .for_ever = for_ever};
        for (fault.at = 1, *failed = 1; *failed; fault.at++) {
            *failed = 0;
            times = 0;
            in_child = false;
            armed = true;
            const int code = in_child_of(is_whole_or_none, &(expected){p->folder, whole});
            assert_true(code == 0 || code == ENDED);
            armed = false;
        }
        fault.at = 0;
    }
    free(whole);
}

/* ---- rights and limits, as they are ------------------------------------------------------- */

/* Looks in a process of its own, with what PREPARE does there. */
static seen look_apart(const pair *p, const char *reason, void (*prepare)(const void *),
                       const void *what)
{
    int status = -1;
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prepare(what);
        _exit((int)look(p->folder, reason));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return (seen)WEXITSTATUS(status);
}

static void what_one_may_not_read_is_named(void **state)
{
    static const char *const names[] = {
        "200-1", "200-1/events", "200-1/profile", "100-1", "100-1/events", "recording.json", "."};
    pair *p = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat info;
        assert_int_equal(stat(in(p, names[i]), &info), 0);
        assert_int_equal(chmod(p->path, 0), 0);
        const seen answer = look_apart(p, "Permission denied", give_up_rights, NULL);
        assert_int_equal(chmod(p->path, info.st_mode & 0777), 0);
        assert_int_equal(answer, REFUSED);
        assert_int_equal(look_apart(p, "", give_up_rights, NULL), WHOLE);
    }
}

static void limit_files(const void *most)
{
    const rlim_t files = (rlim_t) * (const int *)most;
    const struct rlimit limit = {files, files};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void too_many_open_files_are_named(void **state)
{
    const pair *p = *state;
    size_t refusals = 0;
    seen answer = REFUSED;
    for (int most = 3; most < 64 && answer != WHOLE; most++) {
        answer = look_apart(p, "", limit_files, &most);
        assert_int_not_equal(answer, WRONG);
        refusals += answer == REFUSED;
    }
    assert_int_equal(answer, WHOLE);
    assert_true(refusals >= 2);
}

/* ---- what is something else --------------------------------------------------------------- */

static void put_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

static void put_fifo(const char *path)
{
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void put_link(const char *path)
{
    assert_int_equal(symlink("/", path), 0);
}

static void put_text(const char *path)
{
    char text[400];
    memset(text, 'x', sizeof text);
    put_file(path, text, sizeof text);
}

static void put_empty(const char *path)
{
    put_file(path, "", 0);
}

static void put_nothing(const char *path)
{
    (void)path;
}

/* Of another process, one may still ask; not of this one, nor of one that is not there. */
static void assert_named(const char *folder)
{
    static const struct {
        uint32_t pid;
        bool refused;
    } asked[] = {{0, true}, {100, false}, {200, true}, {300, true}};
    bn_status st = {.code = BN_OK};
    rec_recording *r = NULL;
    char path[400];
    snprintf(path, sizeof path, "%s/200-1 ", folder);
    assert_ok(rec_open(folder, &r, &st), &st);
    assert_int_equal(r->damaged_count, 1);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        st = (bn_status){.code = BN_OK};
        const bn_code code = rec_check_whole(r, asked[i].pid, "so", &st);
        assert_int_equal(code, asked[i].refused ? BN_FORMAT : BN_OK);
        assert_true(!asked[i].refused || begins(st.message, path));
    }
    rec_close(r);
}

static void what_is_no_file_or_folder_is_refused(void **state)
{
    static const struct {
        const char *name;
        void (*put)(const char *path);
    } rows[] = {
        {"200-1", put_text},         {"200-1", put_fifo},           {"200-1", put_link},
        {"200-1", put_folder},       {"200-1/events", put_nothing}, {"200-1/events", put_folder},
        {"200-1/events", put_link},  {"200-1/events", put_fifo},    {"200-1/events", put_text},
        {"200-1/events", put_empty}, {"200-1/profile", put_folder}, {"200-1/profile", put_link},
        {"200-1/profile", put_fifo}, {"200-1/profile", put_text},   {"200-1/profile", put_empty},
    };
    pair *p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char kept[400];
        snprintf(kept, sizeof kept, "%s/.kept", p->folder);
        assert_int_equal(rename(in(p, rows[i].name), kept), 0);
        rows[i].put(p->path);
        assert_int_equal(look(p->folder, "200-1"), REFUSED);
        assert_named(p->folder);
        assert_true(remove(p->path) == 0 || rows[i].put == put_nothing);
        assert_int_equal(rename(kept, p->path), 0);
    }
    assert_int_equal(look(p->folder, ""), WHOLE);
}

/* A profile is asked for or not; what somebody else put there is not the recording's. */
static void what_may_be_absent_is_no_fault(void **state)
{
    bn_status st = {.code = BN_OK};
    pair *p = *state;
    rec_recording *r = NULL;
    put_text(in(p, "notes.txt"));
    put_fifo(in(p, "pipe"));
    put_link(in(p, "other"));
    put_folder(in(p, "empty"));
    assert_int_equal(look(p->folder, ""), WHOLE);
    assert_int_equal(unlink(in(p, "200-1/profile")), 0);
    assert_int_equal(unlink(in(p, "recording.json")), 0);
    assert_ok(rec_open(p->folder, &r, &st), &st);
    assert_ok(rec_check_whole(r, 0, "so", &st), &st);
    assert_false(rec_process_find(r, 0)->profile.asked);
    assert_int_equal(r->about_fault.code, BN_OK);
    rec_close(r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_pair, end_pair)

int main(void)
{
    /* As in bench: JSON without memory ends the process. */
    json_set_alloc_funcs(bn_alloc, free);
    const struct CMUnitTest tests[] = {
        TEST(no_error_is_swallowed),          TEST(no_memory_at_each_moment),
        TEST(no_record_lacks_a_figure),       TEST(what_one_may_not_read_is_named),
        TEST(too_many_open_files_are_named),  TEST(what_is_no_file_or_folder_is_refused),
        TEST(what_may_be_absent_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
