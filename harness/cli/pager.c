/*
 * pager.c - long pages on a terminal, as git shows them. The pager gets the text on its standard
 * input, made plain as everywhere, and has the terminal until the user ends it.
 */
#define _GNU_SOURCE
#include "harness/cli/cli_priv.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit code of a shell that does not find a command. */
#define NOT_THERE 127

/* The shell command of the user's pager; NULL: none. */
static const char *pager(void)
{
    static const char *const names[] = {"BENCH_PAGER", "PAGER"};
    const char *terminal = getenv("TERM");
    if (!terminal || strcmp(terminal, "dumb") == 0)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value)
            return *value && strcmp(value, "cat") != 0 ? value : NULL;
    }
    return "command -v less >/dev/null || exit 127; exec less";
}

bool cli_is_long(const char *page)
{
    struct winsize window = {0};
    size_t lines = 0;
    if (!cli_out_terminal() || !pager() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 ||
        window.ws_row == 0)
        return false;
    for (const char *at = page; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines >= window.ws_row;
}

/* False where there is no such pager. */
static bool page_through(const char *command, const char *page)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, pipe, interrupt;
    const bool bold = cli_colours(stdout);
    /* Colours pass, lines are cut and can be moved sideways, and the text stays afterwards. */
    setenv("LESS", "RSX", 0);
    fflush(stdout);
    FILE *to = popen(command, "we");
    if (!to)
        return false;
    /* The user may end it before it has read all; and Ctrl-C is for the pager. */
    sigaction(SIGPIPE, &ignored, &pipe);
    sigaction(SIGINT, &ignored, &interrupt);
    cli_put_page(to, page, bold);
    const int status = pclose(to);
    sigaction(SIGPIPE, &pipe, NULL);
    sigaction(SIGINT, &interrupt, NULL);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE);
}

void cli_show(const char *page)
{
    if (!cli_is_long(page) || !page_through(pager(), page))
        cli_out("%s", page);
}

void cli_show_text(bn_text *text)
{
    if (text->data)
        cli_show(text->data);
    bn_text_free(text);
}

bool cli_is_narrow(const cli_output *output)
{
    return strcmp(output->format, "text") == 0 && !output->wide && cli_out_terminal();
}

const char *cli_format(const cli_output *output)
{
    return cli_is_narrow(output) ? "narrow" : output->format;
}

const bn_text *cli_page_of(const bn_text *narrow, const bn_text *wide)
{
    const bool both = narrow->data && wide->data;
    return both && cli_is_long(narrow->data) && cli_is_long(wide->data) ? wide : narrow;
}

void cli_show_either(bn_text *narrow, bn_text *wide)
{
    const bn_text *page = cli_page_of(narrow, wide);
    if (page->data)
        cli_show(page->data);
    bn_text_free(narrow);
    bn_text_free(wide);
}
