/*
 * test_print.c - what reaches standard output and standard error: plain text, whatever it was made
 * of, in pieces or not. Needs no plugin.
 */
#include "harness/cli/cli.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVIL                                                                                       \
    "a\x1b[31m\xc2\x9b"                                                                            \
    "b\xe2\x80\xae\xe2\x80\x8b\n\r\tc"

/* The output of STREAM, with the descriptor FD, CAPTURED from begin to end. */
static FILE *captured;
static int before;

static void begin_of(FILE *stream)
{
    captured = tmpfile();
    assert_non_null(captured);
    fflush(stream);
    before = dup(fileno(stream));
    assert_true(before >= 0 && dup2(fileno(captured), fileno(stream)) >= 0);
}

static void end_of(FILE *stream, const char *wanted)
{
    char text[1024];
    fflush(stream);
    assert_true(dup2(before, fileno(stream)) >= 0);
    close(before);
    rewind(captured);
    text[fread(text, 1, sizeof text - 1, captured)] = '\0';
    fclose(captured);
    assert_string_equal(text, wanted);
}

static void pages_keep_lines_and_lines_have_none(void **state)
{
    begin_of(stdout);
    cli_out("%s %d\n", EVIL, 7);
    end_of(stdout, "a?[31m?b??\n  c 7\n");
    begin_of(stdout);
    cli_tell("%s", EVIL);
    end_of(stdout, "a?[31m?b??   c\n");
    begin_of(stderr);
    cli_err("%s\n", EVIL);
    end_of(stderr, "a?[31m?b??\n  c\n");
    begin_of(stderr);
    cli_say("%s", EVIL);
    end_of(stderr, "a?[31m?b??   c\n");
}

static void json_is_ascii(void **state)
{
    json_t *value = json_pack("[s]", EVIL);
    begin_of(stdout);
    cli_json(value);
    end_of(stdout, "[\n \"a\\u001B[31m\\u009Bb\\u202E\\u200B\\n\\r\\tc\"\n]\n");
    json_decref(value);
}

/* A plugin's words come in pieces that end anywhere, within a character, too. */
static void pieces_of_a_stream_are_plain(void **state)
{
    static const char whole[] =
        "ok \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n\x1b]0;t\x07\xe2\x80\xae!";
    for (size_t piece = 1; piece < sizeof whole; piece++) {
        cli_rest rest = {.count = 0};
        begin_of(stderr);
        for (size_t at = 0; at < sizeof whole - 1; at += piece) {
            const size_t left = sizeof whole - 1 - at;
            cli_pass(&rest, whole + at, left < piece ? left : piece);
        }
        cli_pass(&rest, NULL, 0);
        end_of(stderr, "ok \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n?]0;t?" "?" "!");
    }
    cli_rest rest = {.count = 0};
    begin_of(stderr);
    cli_pass(&rest, "a\0b\xff\xe2\x82", 6);
    cli_pass(&rest, NULL, 0);
    end_of(stderr, "a?b???");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_keep_lines_and_lines_have_none),
        cmocka_unit_test(json_is_ascii),
        cmocka_unit_test(pieces_of_a_stream_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
