/*
 * test_progress.c - the line of a process that has ended: what became of its experiments, where it
 * ended well itself.
 */
#include "harness/jobs/jobs.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Puts into TEXT what is said of a job that ends with STATUS and MEMBERS, which it frees. */
static void end_job(bn_code status, json_t *members, char *text, size_t size)
{
    const job_order job = {NULL, "a job", 1, 1, 0, false};
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

static void experiments_that_failed_are_told(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_well_is_ok),
        cmocka_unit_test(experiments_that_failed_are_told),
        cmocka_unit_test(a_process_that_failed_says_its_own_end),
        cmocka_unit_test(words_that_are_no_class_are_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
