/*
 * test_progress.c - the line of a process that has ended: whether it has one, what became of its
 * experiments, where it ended well itself, and how much time is left.
 */
#include "harness/jobs/jobs.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* All clocks of this program are so many seconds ahead. */
static time_t ahead_s;

/* In place of the C library's: the minute that a test waits for need not pass. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const long result = syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += ahead_s;
    return (int)result;
}

/* Puts into TEXT what is said of JOB, which ends with STATUS and MEMBERS, and frees these. */
static void end_order(job_order job, bn_code status, json_t *members, char *text, size_t size)
{
    json_t *result = members ? json_pack("{so}", "members", members) : NULL;
    const job_outcome outcome = {.status = status, .result = result};
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    job_progress_begin(&job);
    job_progress_end(&job, &outcome);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    json_decref(result);
}

static void end_one(size_t number, size_t of, bn_code status, json_t *members, char *text,
                    size_t size)
{
    const job_order job = {.title = "a job", .number = number, .of = of};
    end_order(job, status, members, text, size);
}

static void end_job(bn_code status, json_t *members, char *text, size_t size)
{
    end_one(1, 1, status, members, text, size);
}

/* Ends job NUMBER of OF and asserts that so much is left behind it; "": unknown. */
static void is_left(size_t number, size_t of, const char *wanted)
{
    char text[512], words[64] = "s\n";
    if (wanted[0])
        snprintf(words, sizeof words, " s, about %s left\n", wanted);
    end_one(number, of, BN_OK, NULL, text, sizeof text);
    const size_t length = strlen(text), end = strlen(words);
    if (length < end || strcmp(text + length - end, words) != 0)
        fail_msg("'%s' does not end with '%s'", text, words);
}

static void a_run_that_is_known_has_a_time_left_from_the_first_process_on(void **state)
{
    (void)state;
    job_pace paces[] = {{.processes = 3, .workers = 1, .first_s = 100, .further_s = 10},
                        {.processes = 3, .workers = 1, .first_s = 60, .further_s = 5}};
    const job_pace unknown = {.processes = 3, .workers = 1, .first_s = -1, .further_s = 10};
    /* Unknown durations are the mean of those that have ended: this one, which took no time. */
    job_pace_expect(&unknown, 1, 0);
    is_left(1, 3, "0:00");
    job_pace_expect(paces, 2, 0);
    is_left(1, 6, "1:30"); /* 60 + 2 * 10 + 2 * 5 */
    job_pace_ended(&paces[0], 100, 2);
    job_pace_expect(paces, 2, 1);
    is_left(2, 6, "0:30");
    job_pace_ended(&paces[1], 60, 2);
    /* Further ones that have ended say more than earlier records; first ones do not. */
    job_pace_expect(paces, 2, 0);
    is_left(3, 6, "0:20");
    job_pace_ended(&paces[0], 20, 1);
    job_pace_expect(paces, 2, 1);
    is_left(4, 6, "0:25");
    job_pace_ended(&paces[1], 5, 1);
    job_pace_expect(paces, 2, 1);
    is_left(5, 6, "0:20");
    job_pace_ended(&paces[1], 5, 0);
    job_pace_expect(paces, 2, 0);
    is_left(6, 6, "");
}

static void a_new_run_is_estimated_by_its_own_processes(void **state)
{
    (void)state;
    job_pace paces[] = {{.processes = 3, .workers = 1, .first_s = -1, .further_s = -1},
                        {.processes = 3, .workers = 1, .first_s = -1, .further_s = -1}};
    job_pace_ended(&paces[0], 100, 2);
    /* The other group's first as this one's, and its further ones as their first. */
    job_pace_expect(paces, 2, 1);
    is_left(2, 6, "6:40");
    job_pace_ended(&paces[1], 50, 2);
    job_pace_expect(paces, 2, 0);
    is_left(3, 6, "3:20"); /* 100 + 2 * 50 */
    /* A further one takes a tenth of its first here, so it does there. */
    job_pace_ended(&paces[0], 10, 1);
    job_pace_expect(paces, 2, 1);
    is_left(4, 6, "0:15"); /* 10 + 5 */
    job_pace_ended(&paces[1], 20, 1);
    job_pace_expect(paces, 2, 0);
    is_left(5, 6, "0:20");
}

/* Workers of one process share what it is expected to take. */
static void processes_of_several_workers_have_a_time_left_behind_each(void **state)
{
    (void)state;
    job_pace paces[] = {{.processes = 2, .workers = 2, .first_s = 60, .further_s = 10}};
    job_pace_expect(paces, 1, 0);
    is_left(1, 4, "0:40"); /* 30 + 10 */
    is_left(2, 4, "0:10");
    /* A group that has failed takes no time any more. */
    job_pace_ended(&paces[0], 60, 0);
    const job_pace more[] = {paces[0],
                             {.processes = 1, .workers = 1, .first_s = 7, .further_s = 1},
                             {.processes = 1, .workers = 1, .first_s = 8, .further_s = 1}};
    job_pace_expect(more, 3, 2);
    is_left(3, 4, "0:07");
}

static void is_said(bn_code status, json_t *members, const char *wanted)
{
    char text[512], line[256];
    snprintf(line, sizeof line, "[1/1] a job: %s in ", wanted);
    end_job(status, members, text, sizeof text);
    if (strncmp(text, line, strlen(line)) != 0)
        fail_msg("'%s' does not begin with '%s'", text, line);
}

static json_t *good(void)
{
    return json_pack("{ss}", "record", "store/a.h5");
}

static json_t *bad(const char *class)
{
    return json_pack("{ss ss}", "class", class, "message", "why");
}

static void what_is_well_is_ok(void **state)
{
    (void)state;
    is_said(BN_OK, NULL, "ok");
    is_said(BN_OK, json_array(), "ok");
    is_said(BN_OK, json_pack("[oo]", good(), good()), "ok");
}

static void experiments_that_failed_are_reported(void **state)
{
    (void)state;
    is_said(BN_OK, json_pack("[o]", bad("compile-error")), "compile-error");
    is_said(BN_OK, json_pack("[oo]", bad("compile-error"), bad("compile-error")),
            "compile-error, 2 of 2 failed");
    /* The first that failed. */
    is_said(BN_OK, json_pack("[ooo]", good(), bad("wrong-result"), bad("timeout")),
            "wrong-result, 2 of 3 failed");
}

static void a_process_that_failed_says_its_own_end(void **state)
{
    (void)state;
    is_said(BN_CRASH, NULL, "crash");
    is_said(BN_TIMEOUT, json_pack("[o]", good()), "timeout");
    is_said(BN_CRASH, json_pack("[oo]", bad("compile-error"), good()), "crash");
}

/* A plugin could write into the worker's answer. */
static void words_that_are_no_class_are_a_crash(void **state)
{
    (void)state;
    is_said(BN_OK, json_pack("[o]", bad("all is well\n")), "crash");
    is_said(BN_OK, json_pack("[o]", bad("ok")), "crash");
    is_said(BN_OK, json_pack("[i]", 3), "crash");
    is_said(BN_OK, json_integer(3), "ok");
}

/* Asserts whether there is a line, and that it is JOB's. */
static void has_line(job_order job, bn_code status, bool wanted)
{
    char text[512];
    end_order(job, status, NULL, text, sizeof text);
    if (wanted ? !strstr(text, "[1/4] a job: ") : text[0] != '\0')
        fail_msg("'%s'", text);
}

static void processes_before_the_last_have_no_line(void **state)
{
    (void)state;
    const job_order last = {.title = "a job", .number = 1, .of = 4};
    job_order early = last, talkative;
    early.more = true;
    talkative = early;
    talkative.verbose = true;
    has_line(last, BN_OK, true);
    has_line(early, BN_OK, false);
    has_line(early, BN_CRASH, true);
    has_line(talkative, BN_OK, true);
}

static void but_one_a_minute(void **state)
{
    (void)state;
    const job_order early = {.title = "a job", .number = 1, .of = 4, .more = true};
    has_line(early, BN_CRASH, true); /* from here on the minute runs */
    ahead_s += 61;
    has_line(early, BN_OK, true);
    has_line(early, BN_OK, false);
    ahead_s += 30;
    has_line(early, BN_OK, false);
    ahead_s += 31;
    has_line(early, BN_OK, true);
}

static void another_number_of_processes_is_explained_once(void **state)
{
    char text[512];
    (void)state;
    end_one(1, 24, BN_OK, NULL, text, sizeof text);
    job_progress_explain("of a budget");
    end_one(2, 4, BN_OK, NULL, text, sizeof text);
    assert_non_null(strstr(text, "[1/4] now 4 processes in all, 24 before: of a budget\n"));
    end_one(3, 5, BN_OK, NULL, text, sizeof text);
    assert_null(strstr(text, "before"));
    job_progress_explain("of a budget");
    end_one(4, 5, BN_OK, NULL, text, sizeof text);
    assert_null(strstr(text, "before"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_is_known_has_a_time_left_from_the_first_process_on),
        cmocka_unit_test(a_new_run_is_estimated_by_its_own_processes),
        cmocka_unit_test(processes_of_several_workers_have_a_time_left_behind_each),
        cmocka_unit_test(what_is_well_is_ok),
        cmocka_unit_test(experiments_that_failed_are_reported),
        cmocka_unit_test(a_process_that_failed_says_its_own_end),
        cmocka_unit_test(words_that_are_no_class_are_a_crash),
        cmocka_unit_test(processes_before_the_last_have_no_line),
        cmocka_unit_test(but_one_a_minute),
        cmocka_unit_test(another_number_of_processes_is_explained_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
