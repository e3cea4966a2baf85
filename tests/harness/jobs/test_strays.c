/*
 * test_strays.c - what a worker started and what left its process group ends with the worker, also
 * where the supervisor is killed; and no other process does.
 *
 * A worker is the running program again with --worker, so this program is its own worker.
 */
#define _GNU_SOURCE
#include "tests/support/test_runtime.h"

#include "harness/jobs/ending_priv.h"
#include "harness/worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the worker ---------------------------------------------------------------- */

/* Starts a daemon, as a plugin might: in a session of its own, its parent gone. Returns its number,
 * or 0. */
static pid_t start_daemon(void)
{
    int numbers[2];
    pid_t daemon = 0;
    if (pipe(numbers) != 0)
        return 0;
    const pid_t first = fork();
    if (first == 0) {
        setsid();
        daemon = fork();
        if (daemon == 0) {
            execlp("sleep", "sleep", "600", (char *)NULL);
            _exit(127);
        }
        _exit(write(numbers[1], &daemon, sizeof daemon) != sizeof daemon);
    }
    if (first < 0 || read(numbers[0], &daemon, sizeof daemon) != sizeof daemon)
        return 0;
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR)
        continue;
    return daemon;
}

/* Tells a daemon's number. Where the request names a file for that, too, it hangs then. */
static int work(void)
{
    json_t *request = json_loadf(stdin, 0, NULL);
    const char *path = json_string_value(json_object_get(request, "path"));
    const pid_t daemon = start_daemon();
    worker_send_result(json_pack("{sI}", "daemon", (json_int_t)daemon));
    if (path && bn_file_write_atomic(path, &daemon, sizeof daemon, NULL) == BN_OK)
        pause();
    json_decref(request);
    return daemon <= 0;
}

/* ---- the parent ---------------------------------------------------------------- */

/* Supervises a worker that starts a daemon; returns its number. */
static pid_t supervise(void)
{
    job_outcome outcome;
    bn_status st = {0};
    job_order job = {json_object(), "a daemon", 1, 1, 30, false, false};
    assert_ok(job_supervise(&job, &outcome, &st), &st);
    assert_int_equal(outcome.status, BN_OK);
    const pid_t daemon = (pid_t)json_integer_value(json_object_get(outcome.result, "daemon"));
    assert_true(daemon > 0);
    json_decref(outcome.result);
    json_decref(job.request);
    return daemon;
}

static void a_daemon_ends_with_its_worker(void **state)
{
    const pid_t daemon = supervise();
    assert_int_equal(kill(daemon, 0), -1);
    /* Nor is there anybody left who watched over it. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Our other children, such as those of a shell that we replaced, are no strays. */
static void other_children_live_on(void **state)
{
    const pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        execlp("sleep", "sleep", "600", (char *)NULL);
        _exit(127);
    }
    supervise();
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
}

/* Waits, at most 10 s, until FILE holds a process's number. */
static pid_t number_in(const char *file)
{
    pid_t number = 0;
    for (int i = 0; i < 1000 && !number; i++) {
        char *bytes = NULL;
        size_t size = 0;
        poll(NULL, 0, 10);
        if (bn_regular_read(file, &bytes, &size, NULL) == BN_OK && size == sizeof number)
            memcpy(&number, bytes, sizeof number);
        free(bytes);
    }
    return number;
}

/* Reaps children, at most for 10 s, until there are none. Returns whether that was so, and in
 * *KILLED whether CHILD was one of them and died of SIGKILL. */
static bool reap_all(pid_t child, bool *killed)
{
    *killed = false;
    for (int i = 0; i < 1000; i++) {
        int status;
        const pid_t one = waitpid(-1, &status, WNOHANG);
        if (one < 0)
            return errno == ECHILD;
        if (one == child)
            *killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (one == 0)
            poll(NULL, 0, 10);
    }
    return false;
}

/* SIGKILL leaves a supervisor no time to end anybody. We are the subreaper of them all: they come
 * to us when it is gone, the watcher, too. */
static void no_process_outlives_a_supervisor_that_is_killed(void **state)
{
    char path[300];
    const char *folder = getenv("TMPDIR");
    bool killed;
    snprintf(path, sizeof path, "%s/daemon.%ld", folder ? folder : "/tmp", (long)getpid());
    const pid_t supervisor = fork();
    assert_true(supervisor >= 0);
    if (supervisor == 0) {
        job_outcome outcome;
        job_order job = {json_pack("{ss}", "path", path), "a daemon", 1, 1, 60, false, false};
        job_supervise_begin();
        _exit(job_supervise(&job, &outcome, NULL) != BN_OK);
    }
    const pid_t daemon = number_in(path);
    unlink(path);
    kill(supervisor, SIGKILL);
    assert_true(daemon > 0);
    const bool all = reap_all(daemon, &killed);
    kill(daemon, SIGKILL);
    assert_true(killed);
    assert_true(all);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return work();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_ends_with_its_worker),
        cmocka_unit_test(other_children_live_on),
        cmocka_unit_test(no_process_outlives_a_supervisor_that_is_killed),
    };
    job_supervise_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
