/*
 * test_timeline.c - spans in memory that was made before, and their file.
 */
#include "tests/support/test_runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bn_timeline *made(size_t most)
{
    bn_timeline *t = NULL;
    bn_status st = {0};
    assert_ok(bn_timeline_new(most, &t, &st), &st);
    bn_timeline_describe(t)->first = 10;
    bn_timeline_describe(t)->every = 100;
    return t;
}

/* A step of two parts and an execution. */
static void add_step(bn_timeline *t, uint64_t number, uint64_t at)
{
    bn_timeline_step_begin(t, BN_STEP_MEASURED, number);
    bn_timeline_part(t, BN_PART_TRACE, at, at + 10);
    bn_timeline_part(t, BN_PART_DISPATCH, at + 10, at + 20);
    bn_completion *done = bn_timeline_call(t, BN_SPAN_EXECUTE, "step", 0, at + 10, at + 20);
    if (done)
        done->handle = (const void *)(uintptr_t)(at + 1);
    bn_timeline_completed(t, (const void *)(uintptr_t)(at + 1), at + 50);
    bn_timeline_step_end(t, at, at + 60);
}

static void the_first_steps_and_every_hundredth(void **state)
{
    (void)state;
    bn_timeline *t = made(10);
    assert_true(bn_timeline_wants(t, 0) && bn_timeline_wants(t, 9));
    assert_false(bn_timeline_wants(t, 10) || bn_timeline_wants(t, 99));
    assert_true(bn_timeline_wants(t, 100) && bn_timeline_wants(t, 1100));
    bn_timeline_describe(t)->every = 0;
    assert_false(bn_timeline_wants(t, 100));
    bn_timeline_free(t);
}

static void parts_that_adjoin_are_one(void **state)
{
    (void)state;
    bn_timeline *t = made(10);
    bn_timeline_step_begin(t, BN_STEP_WARMUP, 0);
    bn_timeline_part(t, BN_PART_TRACE, 5, 10);
    bn_timeline_part(t, BN_PART_LOOKUP, 10, 10); /* took no time */
    bn_timeline_part(t, BN_PART_TRACE, 10, 12);
    bn_timeline_part(t, BN_PART_OTHER, 12, 14); /* what is in no part is no span */
    bn_timeline_part(t, BN_PART_TRACE, 14, 15);
    assert_int_equal(bn_timeline_count(t), 2);
    assert_int_equal(bn_timeline_at(t, 0)->end_ns, 12);
    assert_int_equal(bn_timeline_at(t, 1)->begin_ns, 14);
    bn_timeline_step_end(t, 5, 15);
    /* Of another step it is another one. */
    bn_timeline_step_begin(t, BN_STEP_WARMUP, 1);
    bn_timeline_part(t, BN_PART_TRACE, 15, 16);
    assert_int_equal(bn_timeline_count(t), 4);
    bn_timeline_free(t);
}

static void a_step_that_does_not_fit_is_left_out_whole(void **state)
{
    (void)state;
    bn_timeline *t = made(9); /* two of four spans, and a half */
    for (uint64_t i = 0; i < 5; i++)
        if (bn_timeline_wants(t, i))
            add_step(t, i, 1000 * (i + 1));
    assert_int_equal(bn_timeline_count(t), 8);
    assert_true(bn_timeline_describe(t)->full);
    assert_int_equal(bn_timeline_describe(t)->steps_shown, 2);
    assert_int_equal(bn_timeline_at(t, 7)->kind, BN_SPAN_STEP);
    assert_int_equal(bn_timeline_at(t, 7)->value, 1);
    /* Nothing is added any more, and nothing breaks. */
    bn_timeline_open(t, BN_SPAN_ANNOTATION, "late");
    bn_timeline_close(t, BN_SPAN_ANNOTATION);
    assert_null(bn_timeline_call(t, BN_SPAN_TO_HOST, NULL, 1, 1, 2));
    assert_int_equal(bn_timeline_count(t), 8);
    bn_timeline_free(t);
}

static void the_first_to_tell_is_right(void **state)
{
    (void)state;
    bn_timeline *t = made(10);
    const int one = 1, two = 2;
    bn_timeline_step_begin(t, BN_STEP_MEASURED, 0);
    bn_completion *a = bn_timeline_call(t, BN_SPAN_EXECUTE, "a", 0, 1, 2);
    bn_completion *b = bn_timeline_call(t, BN_SPAN_EXECUTE, "b", 0, 3, 4);
    a->handle = &one;
    b->handle = &two;
    bn_completion_set(a, 10); /* the plugin calls back */
    bn_timeline_completed(t, &two, 20);
    bn_timeline_completed(t, &one, 30);
    bn_completion_set(b, 40); /* and late */
    assert_int_equal(bn_completion_time(a), 10);
    assert_int_equal(bn_completion_time(b), 20);
    bn_timeline_completed(t, &t, 50); /* nobody's */
    bn_timeline_free(t);
}

static void annotations_nest(void **state)
{
    (void)state;
    bn_timeline *t = made(100);
    bn_timeline_close(t, BN_SPAN_ANNOTATION); /* one too many */
    bn_timeline_open(t, BN_SPAN_ANNOTATION, "outer");
    bn_timeline_open(t, BN_SPAN_SCOPE, "left open");
    bn_timeline_open(t, BN_SPAN_SCOPE, "inner");
    bn_timeline_close(t, BN_SPAN_SCOPE);
    bn_timeline_close(t, BN_SPAN_ANNOTATION);
    bn_timeline_close(t, BN_SPAN_SCOPE); /* ended with what it was in */
    assert_int_equal(bn_timeline_count(t), 3);
    const bn_span *outer = bn_timeline_at(t, 0), *left = bn_timeline_at(t, 1);
    assert_string_equal(bn_timeline_name(t, outer), "outer");
    assert_true(outer->begin_ns > 0 && outer->end_ns >= left->end_ns);
    assert_true(left->end_ns >= bn_timeline_at(t, 2)->end_ns);
    /* Spans that a step leaves open end with it. */
    bn_timeline_step_begin(t, BN_STEP_MEASURED, 0);
    bn_timeline_open(t, BN_SPAN_ANNOTATION, "in the step");
    bn_timeline_step_end(t, 1, 99);
    assert_int_equal(bn_timeline_at(t, 3)->end_ns, 99);
    /* Deeper than there is room: the outer ones still end. */
    for (int i = 0; i < BN_TIMELINE_OPEN + 5; i++)
        bn_timeline_open(t, BN_SPAN_SCOPE, "deep");
    for (int i = 0; i < BN_TIMELINE_OPEN + 5; i++)
        bn_timeline_close(t, BN_SPAN_SCOPE);
    assert_int_equal(bn_timeline_count(t), 5 + BN_TIMELINE_OPEN);
    for (size_t i = 5; i < bn_timeline_count(t); i++)
        assert_true(bn_timeline_at(t, i)->end_ns >= bn_timeline_at(t, i)->begin_ns);
    bn_timeline_free(t);
}

static void names_are_kept_once(void **state)
{
    (void)state;
    bn_timeline *t = made(4000);
    char name[200];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2 * BN_TIMELINE_NAMES; i++) {
            snprintf(name, sizeof name, "layer %d", i);
            assert_non_null(bn_timeline_call(t, BN_SPAN_COMPILE, name, 0, 1, 2));
        }
    for (size_t i = 0; i < 2 * BN_TIMELINE_NAMES; i++) {
        const bn_span *first = bn_timeline_at(t, i);
        const bn_span *again = bn_timeline_at(t, i + 2 * BN_TIMELINE_NAMES);
        assert_int_equal(first->name, again->name);
        snprintf(name, sizeof name, "layer %zu", i);
        assert_string_equal(bn_timeline_name(t, first),
                            i < BN_TIMELINE_NAMES - 2 ? name : "(others)");
    }
    bn_timeline_free(t);
    /* A long one is cut between characters. */
    t = made(2);
    memset(name, 'x', sizeof name);
    memcpy(name + BN_TIMELINE_NAME - 2, "\xc3\xa9", 2);
    name[sizeof name - 1] = '\0';
    assert_non_null(bn_timeline_call(t, BN_SPAN_COMPILE, name, 0, 1, 2));
    assert_int_equal(strlen(bn_timeline_name(t, bn_timeline_at(t, 0))), BN_TIMELINE_NAME - 2);
    bn_timeline_free(t);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char file[4096];

static void put_file(const void *data, size_t size)
{
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

/* T as bytes of its file (malloc). */
static char *dumped(const bn_timeline *t, size_t *size)
{
    char *data = NULL;
    bn_status st = {0};
    const int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(bn_timeline_dump(t, fd));
    close(fd);
    assert_ok(bn_regular_read(file, &data, size, &st), &st);
    return data;
}

static int file_setup(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(file, sizeof file, "%s/bench-%ld.timeline", folder ? folder : "/tmp", (long)getpid());
    return 0;
}

static int file_teardown(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

static void a_file_gives_the_same_back(void **state)
{
    (void)state;
    bn_timeline *t = made(100), *back = NULL;
    bn_status st = {0};
    size_t size = 0;
    strcpy(bn_timeline_describe(t)->title, "a title");
    add_step(t, 0, 1000);
    bn_timeline_open(t, BN_SPAN_ANNOTATION, "cut off"); /* the process ends here */
    char *data = dumped(t, &size);
    assert_ok(bn_timeline_read(file, &back, &st), &st);
    assert_string_equal(bn_timeline_describe(back)->title, "a title");
    assert_int_equal(bn_timeline_count(back), bn_timeline_count(t));
    for (size_t i = 0; i < bn_timeline_count(t); i++) {
        const bn_span *a = bn_timeline_at(t, i), *b = bn_timeline_at(back, i);
        assert_int_equal(a->begin_ns, b->begin_ns);
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->done.at_ns, b->done.at_ns);
        assert_string_equal(bn_timeline_name(t, a), bn_timeline_name(back, b));
    }
    /* A span that had not ended ends with the last known time. */
    const bn_span *cut = bn_timeline_at(back, bn_timeline_count(back) - 1);
    assert_int_equal(cut->end_ns, cut->begin_ns);
    bn_timeline_free(back);
    bn_timeline_free(t);
    free(data);
}

/* Every length, and every byte of the spans made 0xff: refused, or as good as any. */
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    bn_timeline *t = made(100), *back = NULL;
    bn_status st = {0};
    size_t size = 0, refused = 0;
    add_step(t, 0, 1000);
    char *data = dumped(t, &size);
    bn_timeline_free(t);
    for (size_t cut = 0; cut < size; cut += cut + 64 < size ? 37 : 1) {
        put_file(data, cut);
        assert_fails(bn_timeline_read(file, &back, &st), BN_FORMAT, "timeline", &st);
    }
    for (size_t i = 0; i < size; i += i + 300 < size ? 61 : 1) {
        const char kept = data[i];
        data[i] = (char)0xff;
        put_file(data, size);
        data[i] = kept;
        st = (bn_status){0};
        if (bn_timeline_read(file, &back, &st) != BN_OK) {
            refused++;
            continue;
        }
        for (size_t s = 0; s < bn_timeline_count(back); s++) {
            const bn_span *span = bn_timeline_at(back, s);
            assert_true(span->end_ns >= span->begin_ns && span->kind < BN_SPAN_COUNT);
            assert_non_null(bn_timeline_name(back, span));
        }
        bn_timeline_free(back);
    }
    assert_true(refused > 10);
    free(data);
}

/* A plugin shares the memory that texts and counts lie in. */
static void texts_become_plain_and_counts_are_checked(void **state)
{
    (void)state;
    bn_timeline *t = made(100), *back = NULL;
    bn_status st = {0};
    size_t size = 0;
    bn_timeline_about *about = bn_timeline_describe(t);
    add_step(t, 0, 1000);
    assert_non_null(bn_timeline_call(t, BN_SPAN_COMPILE, "st\xffp", 0, 1100, 1200));
    /* Without an end, and half of a character where it is to be. */
    memset(about->title, 'x', sizeof about->title);
    memcpy(about->title + sizeof about->title - 2, "\xc3\xa9", 2);
    strcpy(about->mode, "lazy\x1b[1m");
    free(dumped(t, &size));
    assert_ok(bn_timeline_read(file, &back, &st), &st);
    const char *title = bn_timeline_describe(back)->title;
    assert_true(bn_is_plain(title));
    assert_int_equal(strlen(title), sizeof about->title - 1);
    assert_string_equal(bn_timeline_describe(back)->mode, "lazy?[1m");
    const bn_span *last = bn_timeline_at(back, bn_timeline_count(back) - 1);
    assert_string_equal(bn_timeline_name(back, last), "st?p");
    bn_timeline_free(back);
    static const int64_t counts[] = {-1, INT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        about->steps_ran = counts[i];
        free(dumped(t, &size));
        assert_fails(bn_timeline_read(file, &back, &st), BN_FORMAT, "damaged", &st);
    }
    bn_timeline_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_steps_and_every_hundredth),
        cmocka_unit_test(parts_that_adjoin_are_one),
        cmocka_unit_test(a_step_that_does_not_fit_is_left_out_whole),
        cmocka_unit_test(the_first_to_tell_is_right),
        cmocka_unit_test(annotations_nest),
        cmocka_unit_test(names_are_kept_once),
        cmocka_unit_test(a_file_gives_the_same_back),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(texts_become_plain_and_counts_are_checked),
    };
    return cmocka_run_group_tests(tests, file_setup, file_teardown);
}
