/*
 * test_shown.c - text from outside as it may be shown, messages that are too long, and files that
 * only the user may write.
 */
#include "runtime/base/base.h"
#include "tests/support/test_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void shows(const char *text, const char *wanted)
{
    char got[256];
    bn_text all = {0};
    bn_plain(text, got, sizeof got);
    assert_string_equal(got, wanted);
    bn_text_plain(&all, text);
    assert_string_equal(all.data ? all.data : "", wanted);
    bn_text_free(&all);
}

static void what_steers_is_taken_out(void **state)
{
    shows("plain, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
          "plain, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    shows("a\x1b[31mred\x07", "a?[31mred?");
    shows("two\nlines\tand\r", "two lines and ");
    shows("\xe2\x80\xae"
          "evil",
          "?evil"); /* U+202E turns the direction */
    shows("a\xe2\x80\x8b"
          "b\xef\xbb\xbf",
          "a?b?"); /* no width */
    shows("\xc2\x9b"
          "31m",
          "?31m");                          /* a control of one sign */
    shows("\xf3\xa0\x80\xa1", "?");         /* a tag */
    shows("\xff\xc3", "??");                /* no UTF-8 */
    shows("\xc0\xaf\xed\xa0\x80", "?????"); /* too long a form; half of a pair */
    shows("\xf4\x90\x80\x80", "????");      /* beyond Unicode */
    shows("", "");
}

/* Signs that no font draws, one of each kind: two labels that differ in them look alike. */
static void what_is_not_seen_is_shown(void **state)
{
    static const char *const hidden[] = {
        "\xcd\x8f",     /* U+034F joins marks */
        "\xe1\x85\x9f", /* U+115F to U+1160, U+3164, U+FFA0 fill Hangul */
        "\xe1\x85\xa0",     "\xe3\x85\xa4",
        "\xef\xbe\xa0",     "\xe1\x9e\xb4", /* U+17B4, a vowel of Khmer */
        "\xe1\xa0\x8e",                     /* U+180E parts vowels */
        "\xef\xb8\x80",                     /* U+FE00 to U+FE0F choose variants */
        "\xef\xb8\x8f",     "\xef\xbf\xb0", /* U+FFF0 is not assigned */
        "\xf0\x9b\xb2\xa0",                 /* U+1BCA0, shorthand */
        "\xf0\x9d\x85\xb3",                 /* U+1D173, musical notes */
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        shows(hidden[i], "?");
    shows("\xe1\x85\x9e\xe1\x85\xa1\xef\xb8\x90", "\xe1\x85\x9e\xe1\x85\xa1\xef\xb8\x90");
}

static void pages_keep_their_lines(void **state)
{
    bn_text page = {0};
    bn_text_plain_lines(&page, "one\ntwo\r\x1b[0m\n\xe2\x80\xa8");
    assert_string_equal(page.data, "one\ntwo ?[0m\n?");
    assert_true(bn_is_plain("one \xc3\xa4"));
    assert_false(bn_is_plain("one\ntwo"));
    assert_false(bn_is_plain("\xc2\x9b"));
    assert_false(bn_is_plain("\xff"));
    bn_text_free(&page);
}

static size_t depth(const char *json)
{
    return bn_json_depth(json, strlen(json));
}

static void brackets_are_counted_outside_of_strings(void **state)
{
    assert_int_equal(depth("1"), 0);
    assert_int_equal(depth("{\"a\": [1, {\"b\": 2}], \"c\": [3]}"), 3);
    assert_int_equal(depth("[\"[[[\\\"[[\"]"), 1);
    assert_int_equal(depth("]]][["), 2);
    assert_int_equal(depth("[\"\\"), 1);
}

static void cuts_are_between_characters(void **state)
{
    char small[6];
    bn_plain("ab\xe2\x82\xac\xe2\x82\xac", small, sizeof small);
    assert_string_equal(small, "ab\xe2\x82\xac");
    bn_plain("abcdefgh", small, 1);
    assert_string_equal(small, "");
}

/* A name of 4,000 bytes does not hide what is wrong with it. */
static void the_reason_survives_a_long_name(void **state)
{
    char name[4001];
    bn_status st = {.code = BN_OK};
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(bn_fail_errno(&st, ENAMETOOLONG, "store %s", name), BN_IO);
    assert_non_null(strstr(st.message, "store nnn"));
    assert_non_null(strstr(st.message, "nnn: File name too long"));
    assert_true(strlen(st.message) < sizeof st.message);
    bn_context(&st, "runtime %s", "cpu");
    assert_int_equal(strncmp(st.message, "runtime cpu: store nnn", 22), 0);
    assert_non_null(strstr(st.message, ": File name too long"));
}

/* ---- what only the user may write --------------------------------------------------------- */

static char folder[300];

static const char *in_folder(const char *name)
{
    static char text[400];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static int begin(void **state)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/private.%ld/deep/er", tmp ? tmp : "/tmp", (long)getpid());
    return 0;
}

static void a_private_folder_is_the_users_alone(void **state)
{
    bn_status st = {.code = BN_OK};
    struct stat info;
    int fd;
    assert_ok(bn_private_folder(folder, &fd, &st), &st);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    close(fd);
    assert_int_equal(chmod(folder, 0720), 0);
    assert_fails(bn_private_folder(folder, &fd, &st), BN_INVALID, "others may write it", &st);
    assert_int_equal(chmod(folder, 0702), 0);
    assert_fails(bn_private_folder(folder, &fd, &st), BN_INVALID, "chmod go-w", &st);
    /* Read permission of others does no harm. */
    assert_int_equal(chmod(folder, 0755), 0);
    assert_ok(bn_private_folder(folder, &fd, &st), &st);
    close(fd);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 12345, (gid_t)-1), 0);
        assert_fails(bn_private_folder(folder, &fd, &st), BN_INVALID, "another user", &st);
        assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
    }
}

static void only_files_of_the_user_are_read(void **state)
{
    bn_status st = {.code = BN_OK};
    struct stat info;
    char *data = NULL;
    size_t size;
    int fd;
    const mode_t before = umask(0002);
    assert_ok(bn_private_folder(folder, &fd, &st), &st);
    assert_ok(bn_private_write(fd, "mine", "bytes", 5, &st), &st);
    umask(before);
    assert_int_equal(stat(in_folder("mine"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_ok(bn_private_read(fd, "mine", &data, &size, &st), &st);
    assert_int_equal(size, 5);
    assert_memory_equal(data, "bytes", 5);
    free(data);
    assert_int_equal(chmod(in_folder("mine"), 0666), 0);
    assert_fails(bn_private_read(fd, "mine", &data, &size, &st), BN_INVALID, "others", &st);
    assert_int_equal(chmod(in_folder("mine"), 0600), 0);
    assert_int_equal(symlinkat("mine", fd, "link"), 0);
    assert_fails(bn_private_read(fd, "link", &data, &size, &st), BN_INVALID, "link", &st);
    /* Nobody writes into this pipe, and nobody waits for it. */
    assert_int_equal(mkfifoat(fd, "pipe", 0600), 0);
    assert_fails(bn_private_read(fd, "pipe", &data, &size, &st), BN_INVALID, "not a file", &st);
    assert_fails(bn_private_read(fd, "nothing", &data, &size, &st), BN_NOT_FOUND, "nothing", &st);
    int below;
    assert_fails(bn_folder_in(fd, "link", &below, &st), BN_INVALID, "not followed", &st);
    assert_fails(bn_folder_in(fd, "mine", &below, &st), BN_INVALID, "no folder", &st);
    close(fd);
}

static void what_a_killed_writer_left_is_swept(void **state)
{
    bn_status st = {.code = BN_OK};
    int fd;
    const char *const stays[] = {"e.tmp", "e.x-1.tmp", "e.99999999-1.txt", "report.99999999-1.tmp"};
    const size_t count = sizeof stays / sizeof *stays;
    struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_ok(bn_private_folder(folder, &fd, &st), &st);
    for (size_t i = 0; i < count; i++) {
        assert_ok(bn_private_write(fd, stays[i], "", 0, &st), &st);
        assert_int_equal(utimensat(fd, stays[i], old, 0), 0);
    }
    /* No process has that number; one file is new. */
    assert_ok(bn_private_write(fd, "e.99999999-1.tmp", "", 0, &st), &st);
    assert_int_equal(utimensat(fd, "e.99999999-1.tmp", old, 0), 0);
    assert_ok(bn_private_write(fd, "f.99999999-1.tmp", "", 0, &st), &st);
    bn_writers_sweep(fd, "[ef]");
    for (size_t i = 0; i < count; i++)
        assert_int_equal(faccessat(fd, stays[i], F_OK, 0), 0);
    assert_int_equal(faccessat(fd, "e.99999999-1.tmp", F_OK, 0), -1);
    assert_int_equal(faccessat(fd, "f.99999999-1.tmp", F_OK, 0), 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_steers_is_taken_out),
        cmocka_unit_test(what_is_not_seen_is_shown),
        cmocka_unit_test(pages_keep_their_lines),
        cmocka_unit_test(brackets_are_counted_outside_of_strings),
        cmocka_unit_test(cuts_are_between_characters),
        cmocka_unit_test(the_reason_survives_a_long_name),
        cmocka_unit_test(a_private_folder_is_the_users_alone),
        cmocka_unit_test(only_files_of_the_user_are_read),
        cmocka_unit_test(what_a_killed_writer_left_is_swept),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
