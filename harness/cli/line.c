/*
 * line.c - the one line of progress on a terminal, which other output must not run into.
 */
#include "harness/cli/cli.h"

#include <stdarg.h>
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

void cli_say(const char *format, ...)
{
    char text[4096], plain[sizeof text];
    va_list args;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    bn_plain(text, plain, sizeof plain);
    fprintf(stderr, "%s\n", plain);
}
