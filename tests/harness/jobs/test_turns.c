/*
 * test_turns.c - two workers that take turns: never both at once, both in each round, and what
 * becomes of one whose other has ended.
 *
 * This program is its own worker: it appends a line to a file when a turn begins and ends.
 */
#include "tests/support/test_runtime.h"

#include "harness/jobs/jobs.h"
#include "harness/worker/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the worker ---------------------------------------------------------------- */

static void note(const char *path, char who, const char *what)
{
    char line[16];
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    const int n = snprintf(line, sizeof line, "%c%s\n", who, what);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        _exit(99);
    close(fd);
}

static int work(void)
{
    bn_status st = {0};
    json_t *request = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL);
    const char *path = json_string_value(json_object_get(request, "path"));
    const char who = json_string_value(json_object_get(request, "who"))[0];
    const json_int_t rounds = json_integer_value(json_object_get(request, "rounds"));
    const json_int_t fails_in = json_integer_value(json_object_get(request, "fails_in"));
    note(path, who, "s");
    usleep(20000); /* warm-up */
    for (json_int_t i = 1; i <= rounds; i++) {
        if (worker_await_turn(&st) != BN_OK) {
            note(path, who, "x");
            worker_send_failure(&st);
            return 1;
        }
        note(path, who, "(");
        usleep(2000);
        if (i == fails_in) {
            bn_fail(&st, BN_EXECUTE, "no more");
            worker_send_failure(&st);
            return 1;
        }
        note(path, who, ")");
    }
    worker_send_result(json_pack("{sI}", "rounds", rounds));
    json_decref(request);
    return 0;
}

/* ---- the parent ---------------------------------------------------------------- */

/* Runs a pair; what the workers noted, without newlines, goes into NOTES. */
static void run_pair(int a_rounds, int b_rounds, int a_fails_in, int b_fails_in,
                     job_outcome outcomes[2], char *notes, size_t size)
{
    char path[] = "/tmp/bench-turns.XXXXXX";
    bn_status st = {0};
    char *text = NULL;
    size_t length = 0, n = 0;
    close(mkstemp(path));
    json_t *a = json_pack("{ss ss si si}", "path", path, "who", "a", "rounds", a_rounds, "fails_in",
                          a_fails_in);
    json_t *b = json_pack("{ss ss si si}", "path", path, "who", "b", "rounds", b_rounds, "fails_in",
                          b_fails_in);
    const job_order jobs[2] = {{a, "a", 1, 2, 30, false, false}, {b, "b", 2, 2, 30, false, false}};
    assert_ok(job_supervise_pair(jobs, 7, outcomes, &st), &st);
    assert_ok(bn_regular_read(path, &text, &length, &st), &st);
    for (size_t i = 0; i < length && n + 1 < size; i++)
        if (text[i] != '\n')
            notes[n++] = text[i];
    notes[n] = '\0';
    unlink(path);
    free(text);
    json_decref(a);
    json_decref(b);
}

static void both_have_a_turn_in_each_round_and_never_at_once(void **state)
{
    (void)state;
    enum { ROUNDS = 16 };
    job_outcome outcomes[2];
    char notes[512];
    int b_first = 0;
    run_pair(ROUNDS, ROUNDS, 0, 0, outcomes, notes, sizeof notes);
    assert_int_equal(outcomes[0].status, BN_OK);
    assert_int_equal(outcomes[1].status, BN_OK);
    /* The second starts when the first is warm. */
    assert_int_equal(strncmp(notes, "asbs", 4), 0);
    assert_int_equal(strlen(notes), 4 + 8 * ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        const char *round = notes + 4 + 8 * i;
        const bool a = strncmp(round, "a(a)b(b)", 8) == 0, b = strncmp(round, "b(b)a(a)", 8) == 0;
        assert_true(a || b);
        b_first += b;
    }
    /* A coin decides. */
    assert_in_range(b_first, 1, ROUNDS - 1);
    json_decref(outcomes[0].result);
    json_decref(outcomes[1].result);
}

static void one_with_fewer_rounds_lets_the_other_go_on(void **state)
{
    (void)state;
    job_outcome outcomes[2];
    char notes[512];
    run_pair(2, 5, 0, 0, outcomes, notes, sizeof notes);
    assert_int_equal(outcomes[0].status, BN_OK);
    assert_int_equal(outcomes[1].status, BN_OK);
    assert_int_equal(strlen(notes), 4 + 4 * 7);
    json_decref(outcomes[0].result);
    json_decref(outcomes[1].result);
}

static void where_one_fails_the_other_is_cancelled(void **state)
{
    (void)state;
    job_outcome outcomes[2];
    char notes[512];
    run_pair(9, 9, 0, 3, outcomes, notes, sizeof notes);
    assert_int_equal(outcomes[0].status, BN_CANCELLED);
    assert_int_equal(outcomes[1].status, BN_EXECUTE);
    assert_non_null(strstr(notes, "ax"));
    run_pair(9, 9, 2, 0, outcomes, notes, sizeof notes);
    assert_int_equal(outcomes[0].status, BN_EXECUTE);
    assert_int_equal(outcomes[1].status, BN_CANCELLED);
}

static void the_second_does_not_start_where_the_first_never_gets_warm(void **state)
{
    (void)state;
    job_outcome outcomes[2];
    char notes[512];
    run_pair(0, 4, 0, 0, outcomes, notes, sizeof notes);
    assert_int_equal(outcomes[0].status, BN_OK);
    assert_int_equal(outcomes[1].status, BN_CANCELLED);
    assert_string_equal(notes, "as");
    json_decref(outcomes[0].result);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return work();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_have_a_turn_in_each_round_and_never_at_once),
        cmocka_unit_test(one_with_fewer_rounds_lets_the_other_go_on),
        cmocka_unit_test(where_one_fails_the_other_is_cancelled),
        cmocka_unit_test(the_second_does_not_start_where_the_first_never_gets_warm),
    };
    job_supervise_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
