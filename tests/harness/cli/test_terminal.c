/*
 * test_terminal.c - what a terminal gets that a file does not: colours, a pager; and what --quiet
 * leaves out. The terminal is a pseudo terminal of our own. Needs no plugin.
 */
#include "harness/cli/cli.h"
#include "tests/support/test_runtime.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 10

/* The output of SHOW on a terminal of ROWS rows that is its standard output and standard error,
 * with the ends of lines as programs write them. */
static void on_terminal(void (*show)(void), char *text, size_t size)
{
    struct winsize window = {.ws_row = ROWS, .ws_col = 80};
    int master;
    size_t used = 0;
    fflush(NULL);
    const pid_t child = forkpty(&master, NULL, NULL, &window);
    assert_true(child >= 0);
    if (child == 0) {
        show();
        fflush(NULL);
        _exit(0);
    }
    /* At the end of the last one who has it, reading fails. */
    for (char c; used + 1 < size && read(master, &c, 1) == 1;)
        if (c != '\r')
            text[used++] = c;
    text[used] = '\0';
    close(master);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void colourful(void)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
}

static void complain(void)
{
    bn_status st = {.code = BN_IO, .message = "a\033b"};
    cli_complain(&st);
}

static void complain_in_colour(void)
{
    colourful();
    complain();
}

static void complain_without(void)
{
    colourful();
    setenv("NO_COLOR", "1", 1);
    complain();
}

static void complain_to_a_dumb_one(void)
{
    colourful();
    setenv("TERM", "dumb", 1);
    complain();
}

static void errors_are_red_where_that_is_wanted(void **state)
{
    char text[1024];
    (void)state;
    on_terminal(complain_in_colour, text, sizeof text);
    assert_string_equal(text, "\033[31mbench:\033[0m a?b\n");
    on_terminal(complain_without, text, sizeof text);
    assert_string_equal(text, "bench: a?b\n");
    on_terminal(complain_to_a_dumb_one, text, sizeof text);
    assert_string_equal(text, "bench: a?b\n");
}

static void end_jobs(void)
{
    colourful();
    cli_note_end("[1/2] a\033", true, "ok", " in 1 s");
    cli_note_end("[2/2] b", false, "crash", "");
}

static void ends_of_jobs_are_green_or_red(void **state)
{
    char text[1024];
    (void)state;
    on_terminal(end_jobs, text, sizeof text);
    assert_string_equal(text, "[1/2] a?: \033[32mok\033[0m in 1 s\n"
                              "[2/2] b: \033[31mcrash\033[0m\n");
}

/* A terminal of 80 columns. */
static void end_long_jobs(void)
{
    char job[121];
    colourful();
    memset(job, 'j', sizeof job - 1);
    memcpy(job, "[1/2]", 5);
    memset(job + 5, ' ', 1);
    memset(job + 40, ' ', 1);
    job[sizeof job - 1] = '\0';
    cli_note_end(job, false, "crash", " in 2.0 s, about 0:20 left");
}

static void say_long_lines(void)
{
    setenv("NO_COLOR", "1", 1);
    cli_say("bench: a line of more than eighty columns is broken between its words and goes on, set "
            "in a little, in the next one");
    cli_say("%0100d", 7);
    cli_say("  %0100d end", 7);
    cli_say("%s", "");
    cli_note_command("[1/1] next: bench report --store a/folder/with/a/long/name --output "
                     "another/folder/page.html");
    cli_tell("%s of a result is broken, too, where a person reads it: programs get files and "
             "pipes, %086d", "a line", 7);
}

static void err_long_lines(void)
{
    cli_err("bench: --offload activations wants forward and backward in one graph, not 2 of 5 "
            "graphs; left out\n\nshort\n");
}

static void long_lines_are_broken_between_words(void **state)
{
    char text[2048], wanted[2048];
    (void)state;
    on_terminal(say_long_lines, text, sizeof text);
    snprintf(wanted, sizeof wanted,
             "bench: a line of more than eighty columns is broken between its words and goes\n"
             "      on, set in a little, in the next one\n"
             "%0100d\n"
             "  %0100d\n      end\n\n"
             "[1/1] next: bench report --store a/folder/with/a/long/name --output "
             "another/folder/page.html\n"
             "a line of a result is broken, too, where a person reads it: programs get files\n"
             "      and pipes,\n"
             "      %086d\n",
             7, 7, 7);
    assert_string_equal(text, wanted);
    on_terminal(err_long_lines, text, sizeof text);
    assert_string_equal(text, "bench: --offload activations wants forward and backward in one "
                              "graph, not 2 of 5\n      graphs; left out\n\nshort\n");
    on_terminal(end_long_jobs, text, sizeof text);
    assert_non_null(strstr(text, ":\n      \033[31mcrash\033[0m in 2.0 s, about 0:20 left\n"));
}

static void show_help(void)
{
    setenv("TERM", "dumb", 1);
    cli_show_help("A paragraph of help, whose lines were broken where it was written, for files that are\n"
                  "wider than this.\n\n"
                  "Options:\n"
                  "  --model NAME,...        what it does, in more words than stand in one line of a terminal \n"
                  "                          of eighty columns\n"
                  "  --an-option-with-a-long-name FILE\n"
                  "                          its text stands below it\n");
}

static void help_keeps_to_the_width(void **state)
{
    char text[2048];
    (void)state;
    on_terminal(show_help, text, sizeof text);
    assert_string_equal(
        text, "A paragraph of help, whose lines were broken where it was written, for files\n"
              "that are wider than this.\n\n"
              "Options:\n"
              "  --model NAME,...        what it does, in more words than stand in one line of\n"
              "                          a terminal of eighty columns\n"
              "  --an-option-with-a-long-name FILE\n"
              "                          its text stands below it\n");
}

static void put_headings(void)
{
    colourful();
    cli_out("model  time\n-----------\nbert   1 ms\n-----\nsum\n\n--\n---");
}

static void headings_are_bold(void **state)
{
    char text[1024];
    (void)state;
    on_terminal(put_headings, text, sizeof text);
    assert_string_equal(text, "\033[1mmodel  time\033[0m\n-----------\nbert   1 ms\n-----\nsum\n\n"
                              "\033[1m--\033[0m\n---");
}

static void be_quiet(void)
{
    bn_status st = {.code = BN_IO, .message = "failed"};
    setenv("NO_COLOR", "1", 1);
    cli_be_quiet(true);
    cli_note("a note");
    cli_note_end("job", true, "ok", "");
    cli_line_show("progress");
    cli_line_clear();
    cli_say("bench: a warning");
    cli_complain(&st);
    cli_tell("a result");
}

static void quiet_leaves_out_progress_only(void **state)
{
    char text[1024];
    (void)state;
    on_terminal(be_quiet, text, sizeof text);
    assert_string_equal(text, "bench: a warning\nbench: failed\na result\n");
}

/* ---- pages -------------------------------------------------------------------------------- */

/* As many lines as the screen has, and the prompt has no room any more. */
static void put_page(const char *pager, size_t lines)
{
    char page[4 * ROWS] = "";
    setenv("TERM", "xterm", 1);
    if (pager)
        setenv("BENCH_PAGER", pager, 1);
    else
        unsetenv("BENCH_PAGER");
    for (size_t i = 0; i < lines; i++)
        strcat(page, "x\n");
    cli_show(page);
    cli_tell("end");
}

static void long_page(void)
{
    put_page("sed s/^/paged/", ROWS);
}

static void short_page(void)
{
    put_page("sed s/^/paged/", ROWS - 1);
}

static void page_without(void)
{
    put_page("cat", ROWS);
}

static void page_with_none_that_is_there(void)
{
    put_page("exit 127;", ROWS);
}

static void page_that_is_left(void)
{
    put_page("head -1", ROWS);
}

static void page_of_others(void)
{
    setenv("PAGER", "sed s/^/other/", 1);
    put_page(NULL, ROWS);
}

static void put_either(size_t lines)
{
    bn_text narrow = {0}, wide = {0};
    setenv("TERM", "xterm", 1);
    setenv("BENCH_PAGER", "sed s/^/paged/", 1);
    for (size_t i = 0; i < lines; i++) {
        bn_text_puts(&narrow, "n\n");
        bn_text_puts(&wide, "w\n");
    }
    cli_show_either(&narrow, &wide);
}

static void either_on_the_screen(void)
{
    put_either(ROWS - 1);
}

static void either_in_the_pager(void)
{
    put_either(ROWS);
}

static void tell_formats(void)
{
    static const cli_output outputs[] = {
        {.format = "text"}, {.format = "text", .wide = true}, {.format = "csv"}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        cli_tell("%s", cli_format(&outputs[i]));
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

static void long_pages_have_a_pager(void **state)
{
    static const struct {
        void (*show)(void);
        const char *line;
        size_t lines;
    } rows[] = {
        {long_page, "pagedx\n", ROWS}, {short_page, "x\n", ROWS - 1},
        {page_without, "x\n", ROWS},   {page_with_none_that_is_there, "x\n", ROWS},
        {page_that_is_left, "x\n", 1}, {page_of_others, "otherx\n", ROWS},
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        on_terminal(rows[i].show, text, sizeof text);
        assert_int_equal(count_of(text, rows[i].line), rows[i].lines);
        /* Nothing else but the last line, which stays with us. */
        assert_int_equal(strlen(text), rows[i].lines * strlen(rows[i].line) + strlen("end\n"));
        assert_non_null(strstr(text, "end\n"));
    }
}

/* The pager moves sideways. */
static void tables_are_narrow_on_the_screen(void **state)
{
    char text[1024];
    (void)state;
    on_terminal(tell_formats, text, sizeof text);
    assert_string_equal(text, "narrow\ntext\ncsv\n");
    on_terminal(either_on_the_screen, text, sizeof text);
    assert_int_equal(count_of(text, "n\n"), ROWS - 1);
    assert_null(strchr(text, 'w'));
    on_terminal(either_in_the_pager, text, sizeof text);
    assert_int_equal(count_of(text, "pagedw\n"), ROWS);
    assert_null(strchr(text, 'n'));
}

/* In a file nothing is long, nor narrow. */
static void files_have_no_pager(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    const bool is_long = cli_is_long("x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n");
    const char *format = cli_format(&(cli_output){.format = "text"});
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    close(before);
    fclose(file);
    assert_false(is_long);
    assert_string_equal(format, "text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_red_where_that_is_wanted),
        cmocka_unit_test(ends_of_jobs_are_green_or_red),
        cmocka_unit_test(long_lines_are_broken_between_words),
        cmocka_unit_test(help_keeps_to_the_width),
        cmocka_unit_test(headings_are_bold),
        cmocka_unit_test(quiet_leaves_out_progress_only),
        cmocka_unit_test(long_pages_have_a_pager),
        cmocka_unit_test(tables_are_narrow_on_the_screen),
        cmocka_unit_test(files_have_no_pager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
