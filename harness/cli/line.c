/*
 * line.c - the one line of progress on a terminal, which other output must not run into.
 */
#include "harness/cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One run at a time has the terminal. */
static bool visible;

bool cli_terminal(void)
{
    return isatty(STDERR_FILENO);
}

void cli_line_show(char *text)
{
    struct winsize window = {0};
    /* A line that wraps could not be taken back. */
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
        window.ws_col <= strlen(text))
        text[window.ws_col - 1] = '\0';
    fprintf(stderr, "\r\033[K%s", text);
    visible = true;
}

void cli_line_clear(void)
{
    if (visible)
        fputs("\r\033[K", stderr);
    visible = false;
}
