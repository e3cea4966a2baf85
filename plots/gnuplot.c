/*
 * gnuplot.c - the child process that draws.
 *
 * The script goes in by a file without a name and errors come out by another. So there is one pipe
 * to wait for, and neither side can block the other.
 */
#define _GNU_SOURCE
#include "plots/plot_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS UINT64_C(120000000000)

extern char **environ;

bn_code plot_format_parse(const char *path, plot_format *format, bn_status *st)
{
    static const char *const endings[] = {".svg", ".png", ".gp"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcmp(dot, endings[i]) == 0) {
            *format = (plot_format)i;
            return BN_OK;
        }
    }
    return bn_fail(st, BN_INVALID, "%s: a plot's name ends in .svg, .png or .gp (gnuplot's script)",
                   path);
}

/* A PNG is drawn at twice the size, for screens with fine pixels and for print. Its
 * fonts count points of 4/3 pixels. */
static void put_terminal(const plot *p, plot_format format, bn_text *out)
{
    if (format == PLOT_PNG)
        bn_text_printf(
            out,
            "set terminal pngcairo size %d,%d noenhanced font 'sans-serif,12' fontscale 1.5 "
            "linewidth 2 pointscale 2 background rgb '" PLOT_PAPER "'\n",
            2 * p->width, 2 * p->height);
    else
        bn_text_printf(out,
                       "set terminal svg size %d,%d fixed noenhanced font 'sans-serif,12' "
                       "background '" PLOT_PAPER "'\n",
                       p->width, p->height);
}

/* ---- the process ------------------------------------------------------------------- */

typedef struct child {
    FILE *script, *errors;
    int output;
    pid_t pid;
} child;

/* Our environment with another language: UTF-8 and numbers with a point, wherever we are. The array
 * is to be freed, its texts are not. */
static char **plain_environment(void)
{
    static char language[] = "LC_ALL=C.UTF-8";
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **list = bn_zalloc(count + 2, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "LANG", 4) != 0)
            list[kept++] = environ[i];
    list[kept] = language;
    return list;
}

static bn_code start(child *c, const bn_text *script, bn_status *st)
{
    /* Gnuplot reads the file "-" byte by byte, which takes longer than to draw. */
    char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "/dev/stdin";
    char *argv[] = {name, defaults, standard_input, NULL};
    int ends[2] = {-1, -1};
    c->script = tmpfile();
    c->errors = tmpfile();
    if (!c->script || !c->errors || pipe2(ends, O_CLOEXEC) != 0)
        return bn_fail_errno(st, errno, "temporary files for gnuplot");
    c->output = ends[0];
    bool written = fwrite(script->data, 1, script->length, c->script) == script->length &&
                   fflush(c->script) == 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(c->script), 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(c->errors), 2);
    rewind(c->script);
    char **environment = plain_environment();
    const int error =
        written ? posix_spawnp(&c->pid, name, &actions, NULL, argv, environment) : EIO;
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0)
        return BN_OK;
    c->pid = 0;
    if (error == ENOENT)
        return bn_fail(st, BN_NOT_FOUND,
                       "gnuplot, which draws the plots, is not installed or not in PATH "
                       "(Debian: apt install gnuplot-nox)");
    return bn_fail_errno(st, error, "starting gnuplot");
}

static bn_code read_output(child *c, bn_text *out, bn_status *st)
{
    const uint64_t end = bn_now_ns() + LIMIT_NS;
    char buffer[16384];
    for (;;) {
        const uint64_t now = bn_now_ns();
        struct pollfd wait_for = {.fd = c->output, .events = POLLIN};
        if (now >= end) {
            kill(c->pid, SIGKILL);
            return bn_fail(st, BN_TIMEOUT, "gnuplot took more than two minutes");
        }
        if (poll(&wait_for, 1, (int)((end - now) / 1000000) + 1) <= 0)
            continue;
        ssize_t n = read(c->output, buffer, sizeof buffer);
        if (n == 0)
            return BN_OK;
        if (n > 0)
            bn_text_append(out, buffer, (size_t)n);
        else if (errno != EINTR)
            return bn_fail_errno(st, errno, "reading from gnuplot");
    }
}

/* The last line of gnuplot's errors that is not blank. */
static void last_error(child *c, char *text, size_t size)
{
    char line[512];
    snprintf(text, size, "it said nothing");
    rewind(c->errors);
    while (fgets(line, sizeof line, c->errors)) {
        char *start_of = line + strspn(line, " \t^");
        start_of[strcspn(start_of, "\n")] = '\0';
        if (start_of[0])
            snprintf(text, size, "%s", start_of);
    }
}

static bn_code finish(child *c, bn_code code, bool drew, bn_status *st)
{
    int status = 0;
    char said[512];
    while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (code == BN_OK && (!drew || !WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        last_error(c, said, sizeof said);
        code = bn_fail(st, BN_EXECUTE, "gnuplot could not draw: %s", said);
    }
    if (c->script)
        fclose(c->script);
    if (c->errors)
        fclose(c->errors);
    if (c->output >= 0)
        close(c->output);
    return code;
}

static bn_code draw(const bn_text *script, bn_text *out, bn_status *st)
{
    child c = {.output = -1};
    const size_t before = out->length;
    bn_code code = start(&c, script, st);
    if (code == BN_OK)
        code = read_output(&c, out, st);
    return finish(&c, code, out->length > before, st);
}

/* ---- the picture ------------------------------------------------------------------ */

/* Gnuplot writes a font's weight as a part of its family. */
static void put_weighted(const char *svg, size_t length, bn_text *out)
{
    static const char from[] = "sans-serif:Bold\"", to[] = "sans-serif\" font-weight=\"bold\"";
    const char *end = svg + length;
    while (svg < end) {
        const char *at = memmem(svg, (size_t)(end - svg), from, strlen(from));
        bn_text_append(out, svg, (size_t)((at ? at : end) - svg));
        if (!at)
            return;
        bn_text_puts(out, to);
        svg = at + strlen(from);
    }
}

/* Puts the description of the picture in place of gnuplot's own title. */
static void put_svg(const plot *p, const bn_text *svg, bn_text *out)
{
    static const char first[] = "<title>", last[] = "</desc>";
    const char *from = svg->data ? strstr(svg->data, first) : NULL;
    const char *to = from ? strstr(from, last) : NULL;
    if (!to) {
        bn_text_append(out, svg->data, svg->length);
        return;
    }
    bn_text_append(out, svg->data, (size_t)(from - svg->data));
    bn_text_puts(out, first);
    plot_html_text(out, p->description.data ? p->description.data : "");
    bn_text_puts(out, "</title>");
    to += strlen(last);
    put_weighted(to, svg->length - (size_t)(to - svg->data), out);
}

bn_code plot_render(const plot *p, plot_format format, bn_text *out, bn_status *st)
{
    bn_text script = {0}, picture = {0};
    put_terminal(p, format, &script);
    bn_text_append(&script, p->script.data, p->script.length);
    bn_code code = BN_OK;
    if (format == PLOT_SCRIPT)
        bn_text_append(out, script.data, script.length);
    else
        code = draw(&script, &picture, st);
    if (code == BN_OK && format == PLOT_SVG)
        put_svg(p, &picture, out);
    else if (code == BN_OK && format == PLOT_PNG)
        bn_text_append(out, picture.data, picture.length);
    bn_text_free(&picture);
    bn_text_free(&script);
    return code;
}
