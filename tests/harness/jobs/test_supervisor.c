/*
 * test_supervisor.c - every way a worker can end, and what is made of it.
 *
 * A worker is the running program again with --worker, so this program is its
 * own worker: the request names an act, and the act misbehaves.
 */
#define _GNU_SOURCE
#include "tests/support/live.h"
#include "tests/support/test_runtime.h"

#include "harness/jobs/ending_priv.h"
#include "harness/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the worker ---------------------------------------------------------------- */

static void say(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        _exit(99);
}

static void answer(const char *line)
{
    if (write(3, line, strlen(line)) < 0)
        _exit(99);
}

static void sleep_on(void)
{
    while (true)
        pause();
}

static int act_result(const json_t *request)
{
    const char *text = json_string_value(json_object_get(request, "text"));
    worker_send_progress("a \"stage\"", 1, 2);
    worker_send_result(
        json_pack("{sI ss*}", "length", (json_int_t)(text ? strlen(text) : 0), "text", text));
    return 0;
}

static int act_failure(const json_t *request)
{
    bn_status st = {0};
    bn_fail(&st, BN_COMPILE, "no \"register\" is left, \xff\xfe");
    say("error: not what counts\n");
    worker_send_failure(&st);
    if (json_object_get(request, "then_hang"))
        sleep_on();
    return 1;
}

static int act_abort(const json_t *request)
{
    worker_send_progress("measuring", 1, 2);
    say("I0001 all is well\n  F0002 check FAILED: a \033[31mred\xff line\t\n"
        "*** Check failure stack trace: ***\n    @ 0x1234 failure\n\n");
    abort();
}

static int act_segv(const json_t *request)
{
    say("only words\n");
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own */
    raise(SIGSEGV);
    return 0;
}

static int act_kill(const json_t *request)
{
    raise(SIGKILL);
    return 0;
}

static int act_exit(const json_t *request)
{
    return 7;
}

static int act_nothing(const json_t *request)
{
    return 0;
}

static int act_hang(const json_t *request)
{
    if (json_object_get(request, "deaf"))
        signal(SIGTERM, SIG_IGN);
    worker_send_progress("hanging", 0, 0);
    sleep_on();
    return 0;
}

/* Writes for ever to descriptor FD. */
static int flood(int fd, const char *line)
{
    worker_send_progress("flooding", 0, 0);
    while (write(fd, line, strlen(line)) > 0 || errno == EINTR)
        ;
    return 1;
}

static int act_flood_noise(const json_t *request)
{
    return flood(2, "error: and so on\n");
}

static int act_flood_reports(const json_t *request)
{
    return flood(3, "not JSON\n{\"progress\":3}\n[]\n");
}

static int act_closed(const json_t *request)
{
    for (int fd = 0; fd < 4; fd++)
        close(fd);
    struct timespec nap = {0, 300000000};
    nanosleep(&nap, NULL);
    return 5;
}

/* Leaves a process that keeps every pipe open, in the group. */
static int act_orphan(const json_t *request)
{
    char line[64];
    pid_t pid = fork();
    if (pid == 0)
        sleep_on();
    snprintf(line, sizeof line, "{\"result\":{\"orphan\":%d}}\n", (int)pid);
    answer(line);
    return 0;
}

static int act_halves(const json_t *request)
{
    answer("garbage\n{\"failure\":7}\n{\"resu");
    struct timespec nap = {0, 50000000};
    nanosleep(&nap, NULL);
    answer("lt\":{\"whole\":true}}\n{\"result\":{\"whole\":fal");
    return 0;
}

static int act_strange(const json_t *request)
{
    answer(
        "{\"results\":{}}\n[]\n{\"result\":{\"whole\":false}} {}\n\n{\"result\":{\"a\":1,\"a\":");
    answer("\nplugin says hello {\"result\":{\"whole\":false}}\n{\"result\":{\"whole\":true}}\n");
    return 0;
}

static int act_result_then(const json_t *request)
{
    worker_send_result(json_pack("{sb}", "whole", 1));
    if (json_object_get(request, "then_hang"))
        sleep_on();
    abort();
}

static int act_late_failure(const json_t *request)
{
    bn_status st = {0};
    sigset_t term;
    int got;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    sigwait(&term, &got);
    bn_fail(&st, BN_EXECUTE, "the device went away");
    worker_send_failure(&st);
    return 1;
}

static int act_descriptors(const json_t *request)
{
    json_t *open = json_array();
    for (int fd = 0; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            json_array_append_new(open, json_integer(fd));
    worker_send_result(json_pack("{so sI sI}", "open", open, "group", (json_int_t)getpgrp(), "pid",
                                 (json_int_t)getpid()));
    return 0;
}

/* No process reads the reports: the worker goes on in spite of SIGPIPE. */
static int act_broken_pipe(const json_t *request)
{
    int ends[2];
    int kept = fcntl(3, F_DUPFD, 20);
    signal(SIGPIPE, SIG_DFL);
    if (kept < 0 || pipe(ends) < 0 || dup2(ends[1], 3) < 0)
        return 1;
    close(ends[0]);
    close(ends[1]);
    worker_send_progress("nobody hears", 0, 0);
    worker_send_result(json_object());
    dup2(kept, 3);
    worker_send_result(json_pack("{sb}", "alive", 1));
    return 0;
}

static int act_chatter(const json_t *request)
{
    int ends[2], kept = fcntl(3, F_DUPFD, 20), lines = 0;
    char bytes[4096];
    if (kept < 0 || pipe2(ends, O_NONBLOCK) < 0 || dup2(ends[1], 3) < 0)
        return 1;
    uint64_t start = bn_now_ns();
    while (bn_now_ns() - start < 450000000u)
        worker_send_progress("measuring", 1, 2);
    worker_send_progress("another", 0, 0);
    for (ssize_t n = read(ends[0], bytes, sizeof bytes); n > 0; n--)
        lines += bytes[n - 1] == '\n';
    dup2(kept, 3);
    worker_send_result(json_pack("{si}", "lines", lines));
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const json_t *request);
} acts[] = {
    {"result", act_result},
    {"failure", act_failure},
    {"abort", act_abort},
    {"segv", act_segv},
    {"kill", act_kill},
    {"exit", act_exit},
    {"nothing", act_nothing},
    {"hang", act_hang},
    {"flood_noise", act_flood_noise},
    {"flood_reports", act_flood_reports},
    {"closed", act_closed},
    {"orphan", act_orphan},
    {"halves", act_halves},
    {"strange", act_strange},
    {"result_then", act_result_then},
    {"late_failure", act_late_failure},
    {"descriptors", act_descriptors},
    {"broken_pipe", act_broken_pipe},
    {"chatter", act_chatter},
};

/* In the environment: the worker hangs before it reads its request. */
#define READS_NOTHING "TEST_SUPERVISOR_READS_NOTHING"

static int work(void)
{
    if (getenv(READS_NOTHING))
        sleep_on();
    json_t *request = json_loadf(stdin, 0, NULL);
    const char *name = json_string_value(json_object_get(request, "act"));
    int code = 98;
    for (size_t i = 0; name && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, name) == 0)
            code = acts[i].run(request);
    json_decref(request);
    return code;
}

/* ---- the parent ---------------------------------------------------------------- */

static job_outcome supervise(json_t *request, double timeout)
{
    job_outcome outcome;
    bn_status st = {0};
    job_order job = {request, "an act", 1, 1, timeout, false, false};
    assert_non_null(request);
    assert_ok(job_supervise(&job, &outcome, &st), &st);
    json_decref(request);
    /* Gone, and its group with it; nothing is left to wait for. */
    assert_int_equal(kill(outcome.pid, 0), -1);
    assert_int_equal(kill(-outcome.pid, 0), -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return outcome;
}

static json_t *act(const char *name)
{
    return json_pack("{ss}", "act", name);
}

/* The message has each of TEXTS, which are split at |. */
static void ends(json_t *request, double timeout, bn_code status, const char *texts)
{
    char list[128], *rest = list;
    snprintf(list, sizeof list, "%s", texts);
    job_outcome outcome = supervise(request, timeout);
    for (const char *text; (text = strsep(&rest, "|"));)
        if (outcome.status != status || !strstr(outcome.message, text))
            fail_msg("%s: '%s', not %s: '%s'", bn_code_name(outcome.status), outcome.message,
                     bn_code_name(status), text);
    json_decref(outcome.result);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void results_come_back(void **state)
{
    /* More than any pipe holds, both ways. */
    size_t size = (size_t)4 << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = '\0';
    int before = open_descriptors();
    job_outcome outcome = supervise(json_pack("{ss ss}", "act", "result", "text", text), 30);
    assert_int_equal(outcome.status, BN_OK);
    assert_int_equal(json_integer_value(json_object_get(outcome.result, "length")), size);
    assert_string_equal(json_string_value(json_object_get(outcome.result, "text")), text);
    assert_int_equal(open_descriptors(), before);
    json_decref(outcome.result);
    free(text);
}

static void a_request_that_is_not_read(void **state)
{
    char *text = malloc((size_t)1 << 20);
    assert_non_null(text);
    memset(text, 'x', ((size_t)1 << 20) - 1);
    text[((size_t)1 << 20) - 1] = '\0';
    setenv(READS_NOTHING, "1", 1);
    ends(json_pack("{ss ss}", "act", "result", "text", text), 0.3, BN_TIMEOUT, "starting");
    unsetenv(READS_NOTHING);
    free(text);
}

static void reported_failures_win(void **state)
{
    ends(act("failure"), 30, BN_COMPILE, "no \"register\" is left, ??");
    ends(json_pack("{ss sb}", "act", "failure", "then_hang", 1), 0.3, BN_COMPILE, "\"register\"");
}

static void failures_after_the_end_was_asked_for_do_not(void **state)
{
    ends(act("late_failure"), 0.3, BN_TIMEOUT, "0.3 s|--timeout");
}

static void ends_by_signal(void **state)
{
    ends(act("abort"), 30, BN_CRASH,
         "signal 6 (Aborted)|measuring|F0002 check FAILED: a  [31mred? line");
    ends(act("segv"), 30, BN_CRASH, "signal 11 (Segmentation fault)|starting|only words");
    ends(act("kill"), 30, BN_CRASH, "signal 9");
}

static void ends_by_exit(void **state)
{
    ends(act("exit"), 30, BN_CRASH, "code 7");
    ends(act("nothing"), 30, BN_CRASH, "code 0");
    ends(act("closed"), 30, BN_CRASH, "code 5");
}

static void limits_end_what_hangs(void **state)
{
    uint64_t start = bn_now_ns();
    ends(act("hang"), 0.3, BN_TIMEOUT, "0.3 s|--timeout|hanging");
    assert_true(!judges_times() || bn_now_ns() - start < UINT64_C(1500000000));
    ends(json_pack("{ss sb}", "act", "hang", "deaf", 1), 0.3, BN_TIMEOUT, "hanging");
    assert_true(bn_now_ns() - start > UINT64_C(2000000000));
}

static void floods_do_not_stop_the_clock(void **state)
{
    ends(act("flood_noise"), 0.5, BN_TIMEOUT, "flooding|error: and so on");
    ends(act("flood_reports"), 0.5, BN_TIMEOUT, "flooding");
}

static void children_of_a_worker_end_with_it(void **state)
{
    uint64_t start = bn_now_ns();
    job_outcome outcome = supervise(act("orphan"), 30);
    assert_int_equal(outcome.status, BN_OK);
    pid_t orphan = (pid_t)json_integer_value(json_object_get(outcome.result, "orphan"));
    assert_true(orphan > 0);
    assert_int_equal(kill(orphan, 0), -1);
    assert_true(!judges_times() || bn_now_ns() - start < UINT64_C(2000000000));
    json_decref(outcome.result);
}

static void lines_are_put_together(void **state)
{
    job_outcome outcome = supervise(act("halves"), 30);
    /* The second report is a failure without a class. */
    assert_int_equal(outcome.status, BN_CRASH);
    assert_true(json_is_true(json_object_get(outcome.result, "whole")));
    /* "garbage", and the one that is cut off */
    assert_int_equal(outcome.unreadable, 2);
    json_decref(outcome.result);
}

static void what_is_no_answer_is_counted(void **state)
{
    job_outcome outcome = supervise(act("strange"), 30);
    assert_int_equal(outcome.status, BN_OK);
    assert_true(json_is_true(json_object_get(outcome.result, "whole")));
    assert_int_equal(outcome.unreadable, 5);
    json_decref(outcome.result);
    outcome = supervise(act("result"), 30);
    assert_int_equal(outcome.unreadable, 0);
    json_decref(outcome.result);
}

static void an_end_after_the_result(void **state)
{
    ends(act("result_then"), 30, BN_CRASH, "signal 6 (Aborted)|ending");
    ends(json_pack("{ss sb}", "act", "result_then", "then_hang", 1), 0.3, BN_TIMEOUT, "ending");
}

static void a_worker_has_four_descriptors_and_its_group(void **state)
{
    int extra = open("/dev/null", O_RDONLY | O_CLOEXEC);
    job_outcome outcome = supervise(act("descriptors"), 30);
    json_t *open_ones = json_object_get(outcome.result, "open");
    assert_int_equal(json_array_size(open_ones), 4);
    assert_int_equal(json_integer_value(json_array_get(open_ones, 3)), 3);
    assert_int_equal(json_integer_value(json_object_get(outcome.result, "group")), outcome.pid);
    assert_int_equal(json_integer_value(json_object_get(outcome.result, "pid")), outcome.pid);
    json_decref(outcome.result);
    close(extra);
}

static void reports_survive_a_broken_pipe(void **state)
{
    job_outcome outcome = supervise(act("broken_pipe"), 30);
    assert_int_equal(outcome.status, BN_OK);
    assert_true(json_is_true(json_object_get(outcome.result, "alive")));
    json_decref(outcome.result);
}

static void progress_is_thinned_out(void **state)
{
    job_outcome outcome = supervise(act("chatter"), 30);
    json_int_t lines = json_integer_value(json_object_get(outcome.result, "lines"));
    assert_true(lines >= 3 && lines <= 6);
    json_decref(outcome.result);
}

static void the_kernel_out_of_memory(void **state)
{
    static job_noise noise;
    job_outcome outcome = {0};
    job_ending ending = {
        .wait_status = SIGKILL, .out_of_memory = true, .stage = "", .noise = &noise};
    job_ending_explain(&ending, &outcome);
    assert_int_equal(outcome.status, BN_OUT_OF_MEMORY);
    ending.killed = true; /* by us: another process ran out of memory */
    job_ending_explain(&ending, &outcome);
    assert_int_equal(outcome.status, BN_CRASH);
    assert_true(job_oom_kills() >= -1);
}

/* A group's worker sends its records one by one. Cancelled between two, the rest is not to blame;
 * ended between two, it has not ended well. */
static void half_a_result_is_no_result(void **state)
{
    static job_noise noise;
    job_outcome outcome = {.result = json_pack("{sb}", "more", 1)};
    job_ending ending = {
        .wait_status = SIGTERM, .cancelled = true, .stage = "measuring", .noise = &noise};
    job_ending_explain(&ending, &outcome);
    assert_int_equal(outcome.status, BN_CANCELLED);
    /* A plugin may end the process as if all were well. */
    ending.cancelled = false;
    ending.wait_status = 0;
    job_ending_explain(&ending, &outcome);
    assert_int_equal(outcome.status, BN_CRASH);
    json_object_set_new(outcome.result, "more", json_false());
    job_ending_explain(&ending, &outcome);
    assert_int_equal(outcome.status, BN_OK);
    json_decref(outcome.result);
}

static void the_tail_of_the_noise_counts(void **state)
{
    static job_noise noise;
    char words[64];
    job_noise_last_words(&noise, words, sizeof words);
    assert_string_equal(words, "");
    job_noise_add(&noise, "error: long gone\n", 17);
    for (int i = 0; i < JOB_NOISE_BYTES; i++)
        job_noise_add(&noise, "\n", 1);
    job_noise_last_words(&noise, words, sizeof words);
    assert_string_equal(words, "");
    job_noise_add(&noise, "said\n \n\t\n", 9);
    job_noise_last_words(&noise, words, sizeof words);
    assert_string_equal(words, "said");
    for (int i = 0; i < 20; i++) /* cut within a character */
        job_noise_add(&noise, "error\xc3\xa9", 7);
    job_noise_last_words(&noise, words, 7);
    assert_string_equal(words, "error");
}

/* Last: from here on every job is cancelled. */
static void interrupts_cancel(void **state)
{
    struct itimerval soon = {.it_value = {.tv_usec = 300000}};
    struct sigaction as_interrupt;
    sigaction(SIGINT, NULL, &as_interrupt);
    sigaction(SIGALRM, &as_interrupt, NULL); /* the timer is the user's Ctrl-C */
    assert_false(job_interrupted());
    setitimer(ITIMER_REAL, &soon, NULL);
    uint64_t start = bn_now_ns();
    ends(act("hang"), 30, BN_CANCELLED, "hanging");
    assert_true(!judges_times() || bn_now_ns() - start < UINT64_C(2000000000));
    assert_true(job_interrupted());
    /* A second one does not wait for the deaf. */
    setitimer(ITIMER_REAL, &soon, NULL);
    start = bn_now_ns();
    ends(json_pack("{ss sb}", "act", "hang", "deaf", 1), 30, BN_CANCELLED, "interrupted");
    assert_true(!judges_times() || bn_now_ns() - start < UINT64_C(2000000000));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return work();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_back),
        cmocka_unit_test(a_request_that_is_not_read),
        cmocka_unit_test(reported_failures_win),
        cmocka_unit_test(failures_after_the_end_was_asked_for_do_not),
        cmocka_unit_test(ends_by_signal),
        cmocka_unit_test(ends_by_exit),
        cmocka_unit_test(limits_end_what_hangs),
        cmocka_unit_test(floods_do_not_stop_the_clock),
        cmocka_unit_test(children_of_a_worker_end_with_it),
        cmocka_unit_test(lines_are_put_together),
        cmocka_unit_test(what_is_no_answer_is_counted),
        cmocka_unit_test(an_end_after_the_result),
        cmocka_unit_test(a_worker_has_four_descriptors_and_its_group),
        cmocka_unit_test(reports_survive_a_broken_pipe),
        cmocka_unit_test(progress_is_thinned_out),
        cmocka_unit_test(the_kernel_out_of_memory),
        cmocka_unit_test(half_a_result_is_no_result),
        cmocka_unit_test(the_tail_of_the_noise_counts),
        cmocka_unit_test(interrupts_cancel),
    };
    job_supervise_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
