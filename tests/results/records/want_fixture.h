/*
 * want_fixture.h - a store is read while what the system gives fails: memory, files, folders,
 * processes, time. Whatever became of that reader, the next one finds all records, and an index as
 * if nothing had happened. Included once in a program: test_want.c tries some of the moments,
 * test_full_want.c each.
 */
#ifndef BENCH_TESTS_WANT_FIXTURE_H
#define BENCH_TESTS_WANT_FIXTURE_H

#include "tests/results/store_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/support/refused.h"

/* ENDED: exit code of a reader without memory. */
enum { RECORDS = 3, ENDED = 71 };

/* ---- readers ------------------------------------------------------------------------------ */

/* One loads the index, the other the records. 0: it read or refused the store, and no record
 * vanished; 1: one did, or was called damaged. */
static int read_store(const place *p, bool by_index)
{
    bn_status st = {.code = BN_OK};
    res_index index = {0};
    res_collection all = {0};
    armed = true;
    const bn_code code =
        by_index ? res_index_load(p->store, NULL, &index, &st) : res_store_load(p->store, &all, &st);
    armed = false;
    const res_damaged *damaged = by_index ? index.damaged : all.damaged;
    const size_t lost = by_index ? index.damaged_count : all.damaged_count;
    bool vanished = code == BN_OK && lost + (by_index ? index.count : all.count) != RECORDS;
    for (size_t i = 0; i < lost; i++)
        vanished = vanished || damaged[i].fault != RES_FAULT_UNREAD;
    return vanished ? 1 : 0;
}

/* Reads the store in a process of its own, which PREPARE readies; its status. */
static int read_apart(const place *p, bool by_index, void (*prepare)(const void *), const void *what)
{
    int status = -1;
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* cmocka's own would take some of these for a fault of the test. */
        static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGSYS};
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            signal(faults[i], SIG_DFL);
        bn_out_of_memory_exits(ENDED);
        if (prepare)
            prepare(what);
        _exit(read_store(p, by_index));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Whether a reader with this status read or refused the store, or ended without memory. */
static bool read_or_ended(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == ENDED);
}

/* The bytes of the index that a reader makes anew of all records, which are all there. */
static char *whole_index(const place *p)
{
    char *text = NULL;
    size_t size;
    bn_status st = {.code = BN_OK};
    res_index index;
    load_with(p, NULL, &index);
    assert_int_equal(index.count, RECORDS);
    assert_int_equal(index.damaged_count, 0);
    res_index_free(&index);
    assert_ok(bn_regular_read(p->index, &text, &size, &st), &st);
    return text;
}

/* After a reader that failed: the index that it wrote is true, and the store is whole. */
static void assert_as_before(const place *p, const char *wanted)
{
    char *text = whole_index(p);
    assert_string_equal(text, wanted);
    free(text);
    unlink(p->index);
}

/* Writes a record of each kind whose figures are computed differently: the last one's steps lie in
 * rounds, of which one kept none. */
static int begin_want(void **state)
{
    const maker of[RECORDS] = {{"20260101T020000.000000000Z-h-1-0", "aa", "h1", 1, BN_OK, 1},
                               {"20260102T020000.000000000Z-h-1-0", "bb", "h2", 2, BN_TIMEOUT, 2},
                               {"20260103T020000.000000000Z-h-1-0", "cc", "h3", 3, BN_OK, 3}};
    begin(state);
    json_set_alloc_funcs(bn_alloc, free);
    const place *p = *state;
    for (size_t i = 0; i < RECORDS; i++) {
        bn_status st = {0};
        res_record *r = made_by(&of[i], "cpu");
        if (i == 2) {
            assert_ok(res_record_reserve_rounds(r, 5, &st), &st);
            for (size_t k = 0; k < 5; k++)
                r->rounds[k] = (res_round){.steps = k == 2 ? 0 : r->step_count / 4,
                                           .position = 0,
                                           .wall_ns = 100000000000};
        }
        assert_ok(res_store_write(p->store, r, NULL, 0, &st), &st);
        res_record_free(r);
    }
    refused_begin();
    return 0;
}

/* ---- each moment -------------------------------------------------------------------------- */

static void arm(const void *what)
{
    (void)what;
    in_child = false; /* this process is the reader */
    times = 0;
}

/* Lets FAULT happen at each STRIDE-th moment until nothing is left that could fail; returns how many
 * moments there were. */
static size_t sweep(const place *p, long stride, bool by_index)
{
    char *wanted = whole_index(p);
    const bool may_die = fault.signal != 0 && (fault.whose & READER);
    size_t moments = 0;
    unlink(p->index);
    for (fault.at = 1, *failed = 1; *failed; fault.at += stride, moments++) {
        *failed = 0;
        const int status = read_apart(p, by_index, arm, NULL);
        if (!(fault.what == MEMORY ? read_or_ended(status)
                                   : WIFEXITED(status) && WEXITSTATUS(status) == 0) &&
            !(may_die && WIFSIGNALED(status) && WTERMSIG(status) == fault.signal))
            fail_msg("asked %d of %d, error %d, time %ld: ended with %d", fault.what, fault.whose,
                     fault.error, fault.at, status);
        assert_as_before(p, wanted);
    }
    print_message("# asked %d of %d, error %d, signal %d: %zu moments\n", fault.what, fault.whose,
                  fault.error, fault.signal, moments - 1);
    fault.at = 0;
    free(wanted);
    return moments - 1;
}

/* ---- the tests ---------------------------------------------------------------------------- */

/* A process may end for want of memory, or refuse the store; the next one finds everything. */
static void sweep_memory(const place *p, long stride)
{
    for (int whose = READER; whose <= CHILD && !SANITIZED; whose++)
        for (int for_ever = 0; for_ever < 2; for_ever++)
            for (int with_errno = 0; with_errno < 2; with_errno++) {
                fault = (struct fault){.what = MEMORY,
                                       .whose = whose,
                                       .for_ever = for_ever,
                                       .error = with_errno ? ENOMEM : 0};
                assert_true(sweep(p, stride, with_errno || whose == READER) > 0);
            }
}

static void sweep_errors(const place *p)
{
    static const struct {
        enum asked what;
        int error;
    } faults[] = {{OPEN, EACCES}, {OPEN, EIO},   {OPEN, EMFILE}, {OPEN, ENOMEM}, {READ, EIO},
                  {READ, EACCES}, {LIST, EIO},   {LOOK, EIO},    {LOOK, EACCES}, {FORK, EAGAIN},
                  {FORK, ENOMEM}, {RECEIVE, EIO}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int for_ever = 0; for_ever < 2; for_ever++)
            for (int by_index = 0; by_index < 2; by_index++) {
                fault = (struct fault){.what = faults[i].what,
                                       .whose = READER | CHILD,
                                       .for_ever = for_ever,
                                       .error = faults[i].error};
                assert_true(sweep(p, 1, by_index) > 0);
            }
}

/* Whatever ends reader or child, and while it does whatever. */
static void sweep_signals(const place *p, long stride)
{
    static const int signals[] = {SIGXCPU, SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals && !SANITIZED; i++)
        for (int whose = READER; whose <= CHILD; whose++) {
            fault = (struct fault){.what = MEMORY, .whose = whose, .signal = signals[i]};
            assert_true(sweep(p, stride, i % 2) > 0);
        }
}

#endif
