/*
 * line.c - the one line of progress on a terminal, which other output must not run into.
 */
#include "harness/cli/cli.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One run at a time has the terminal. */
static bool visible;

bool cli_terminal(void)
{
    return isatty(STDERR_FILENO);
}

bool cli_out_terminal(void)
{
    return isatty(STDOUT_FILENO) == 1;
}

void cli_line_show(const char *text)
{
    struct winsize window = {0};
    char shown[1024];
    bn_plain(text, shown, sizeof shown);
    /* A line that wraps could not be taken back. */
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        shown[bn_utf8_fit(shown, window.ws_col - 1u)] = '\0';
    fprintf(stderr, "\r\033[K%s", shown);
    visible = true;
}

void cli_line_clear(void)
{
    if (visible)
        fputs("\r\033[K", stderr);
    visible = false;
}
