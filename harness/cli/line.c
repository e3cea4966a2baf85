/*
 * line.c - terminals: the one line of progress, which other output must not run into; colours,
 * columns, quiet.
 */
#include "harness/cli/cli_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One run at a time has the terminal. */
static bool visible, quiet;

void cli_be_quiet(bool be)
{
    quiet = be;
}

bool cli_quiet(void)
{
    return quiet;
}

bool cli_colours(FILE *stream)
{
    const char *without = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(stream)) == 1 && !(without && *without) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

size_t cli_columns(FILE *stream)
{
    struct winsize window = {0};
    return ioctl(fileno(stream), TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

size_t cli_out_columns(void)
{
    return cli_columns(stdout);
}

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
    if (quiet)
        return;
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
