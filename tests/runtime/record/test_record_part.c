/*
 * test_record_part.c - a part of a run: when recording starts and stops, and what is always
 * written.
 */
#include "runtime/record/when.h"
#include "tests/runtime/record/record_fixture.h"

typedef int marker(int what, const char *name, int64_t number);

static int mark(int what, const char *name)
{
    marker *function = NULL;
    void *library = dlopen(built("pjrt_record"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "record_mark") : NULL;
    memcpy(&function, &symbol, sizeof function);
    MUST(function);
    return function(what, name, 0);
}

static void ask(const char *folder, const char *start, const char *stop)
{
    set_recorder(folder, "pjrt_sim");
    setenv(RECORD_ENV_START, start, 1);
    setenv(RECORD_ENV_STOP, stop, 1);
}

/* Numbers of executions, and of changes of the gate. */
static void holds(const char *folder, size_t executions, size_t parts)
{
    recording r = recording_in(folder);
    logged t;
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), executions);
    assert_int_equal(recording_count(&r, RECORD_PART), parts);
    /* Programs are always known, and nothing counts as lost. */
    assert_true(recording_count(&r, RECORD_COMPILE) > 0);
    assert_int_equal(recording_count(&r, RECORD_EXECUTABLE), recording_count(&r, RECORD_COMPILE));
    assert_int_equal(recording_count(&r, RECORD_EXECUTABLE_END),
                     recording_count(&r, RECORD_COMPILE));
    assert_int_equal(r.head.lost, 0);
    assert_int_equal(r.head.stop, RECORD_GOES_ON);
    if (parts) {
        recording_get(&r, RECORD_PART, 0, &t);
        logged first;
        if (recording_find(&r, RECORD_EXECUTE, 0, &first))
            assert_true(t.at < first.at);
    }
    recording_free(&r);
}

/* Ten additions, then five donations. */
static void runs(void)
{
    runner add = runner_new(NULL, ADD);
    add_often(&add, 10, true);
    runner_free(&add);
    runner donate = runner_new(NULL, DONATE);
    for (int i = 0; i < 5; i++) {
        rt_buffer *argument = floats(&donate, 1);
        rt_buffer_release(donate.client, run(&donate, &argument, 1));
        rt_buffer_release(donate.client, argument);
    }
    runner_free(&donate);
}

static void from_the_third(const char *folder)
{
    ask(folder, "execution:3", "");
    runs();
}

static void from_the_third_before_the_fifth(const char *folder)
{
    ask(folder, "execution:3", "execution:5");
    runs();
}

static void from_the_second_donation(const char *folder)
{
    ask(folder, "execution:2:jit_donate", "");
    runs();
}

static void before_any_time(const char *folder)
{
    ask(folder, "", "time:0");
    runs();
}

static void from_a_time_that_never_comes(const char *folder)
{
    ask(folder, "time:1000000", "");
    runs();
}

static void one_begins_at_an_execution(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(from_the_third, folder);
    holds(folder, 13, 2);
    folder = new_folder();
    in_child(from_the_third_before_the_fifth, folder);
    holds(folder, 2, 3);
    folder = new_folder();
    in_child(from_the_second_donation, folder);
    holds(folder, 4, 2);
}

static void one_begins_or_ends_at_a_time(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(before_any_time, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), 0);
    recording_free(&r);
    folder = new_folder();
    in_child(from_a_time_that_never_comes, folder);
    holds(folder, 0, 1);
}

static void in_each_training(const char *folder)
{
    ask(folder, "mark:train", "mark:eval");
    runner r = runner_new(NULL, ADD);
    for (int epoch = 0; epoch < 2; epoch++) {
        add_often(&r, 1, true);
        MUST(mark(RECORD_PHASE_ENDS, "train") == 1); /* that begins no training */
        MUST(mark(RECORD_PHASE_BEGINS, "train") == 0);
        add_often(&r, 3, true);
        MUST(mark(RECORD_PHASE_BEGINS, "evaluate") == 0);
        MUST(mark(RECORD_PHASE_BEGINS, "eval") == 0);
        MUST(mark(RECORD_STEP_BEGINS, "") == 1);
    }
    runner_free(&r);
}

static void marks_open_and_shut_it_again(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(in_each_training, folder);
    holds(folder, 6, 5);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_MARK), 6);
    /* Buffers are of the open times alone. */
    assert_int_equal(recording_count(&r, RECORD_BUFFER), 4);
    recording_free(&r);
}

static _Atomic int seen;
static void on_signal(int number)
{
    seen += number == SIGUSR2;
}

static void between_signals(const char *folder)
{
    signal(SIGUSR2, on_signal);
    ask(folder, "signal", "signal");
    runner r = runner_new(NULL, ADD);
    for (int i = 0; i < 3; i++) {
        add_often(&r, 1, true);
        MUST(kill(getpid(), SIGUSR2) == 0);
        add_often(&r, 2, true);
        MUST(kill(getpid(), SIGUSR2) == 0);
    }
    /* The program's own handler runs, too. */
    MUST(seen == 6);
    runner_free(&r);
}

static void so_do_signals(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(between_signals, folder);
    holds(folder, 6, 6); /* no call came behind the last one */
}

static void asks_for_nothing(const char *folder)
{
    ask(folder, "nonsense", "");
    runs();
}

static void without_a_part_all_is_recorded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(asks_for_nothing, folder);
    holds(folder, 15, 0);
}

static void the_words_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum record_when_kind kind;
        const char *name;
        uint64_t number;
    } good[] = {{"", RECORD_WHEN_NEVER, "", 0},
                {"signal", RECORD_WHEN_SIGNAL, "", 0},
                {"mark:a:b", RECORD_WHEN_MARK, "a:b", 0},
                {"execution:12", RECORD_WHEN_EXECUTION, "", 12},
                {"execution:1:jit_step:2", RECORD_WHEN_EXECUTION, "jit_step:2", 1},
                {"time:1.5", RECORD_WHEN_TIME, "", 1500000000},
                {"time:0", RECORD_WHEN_TIME, "", 0}};
    static const char *const bad[] = {
        "signals",      "mark:",        "execution:",   "execution:0", "execution:x", "time:-1",
        "execution:-1", "execution:1:", "time:",        "time:x",      "time:1s",     "time:1e300",
        "time:nan",     "step:1",       "execution:1x", " signal"};
    record_when when;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(record_when_parse(good[i].text, &when));
        assert_int_equal(when.kind, good[i].kind);
        assert_string_equal(when.name, good[i].name);
        assert_int_equal(when.number, good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(record_when_parse(bad[i], &when));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_begins_at_an_execution),
        cmocka_unit_test(one_begins_or_ends_at_a_time),
        cmocka_unit_test(marks_open_and_shut_it_again),
        cmocka_unit_test(so_do_signals),
        cmocka_unit_test(without_a_part_all_is_recorded),
        cmocka_unit_test(the_words_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
