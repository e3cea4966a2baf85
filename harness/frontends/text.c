/*
 * text.c - programs in binary forms as StableHLO text, by the libraries that come with JAX.
 */
#include "harness/frontends/frontends_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SCRIPT        "program_text.py"
#define MOST_SECONDS  120
#define NOT_INSTALLED 3 /* the script's exit code where JAX is missing */

typedef struct reader {
    const frontend_info *row;
    frontend_place place;
    frontend_process process; /* reads the program and writes its text */
} reader;

/* ---- its answer ------------------------------------------------------------------------------ */

/* The last line of its standard error that is not blank, cut to SIZE. */
static void last_error(const reader *r, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    snprintf(text, size, "no message");
    rewind(r->process.errors);
    while (getline(&line, &room, r->process.errors) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t")])
            snprintf(text, size, "%.*s", (int)bn_utf8_fit(line, size - 1), line);
    }
    free(line);
}

static bn_code check_status(const reader *r, int status, bn_status *st)
{
    char line[512], command[RES_TEXT + 40];
    if (WIFSIGNALED(status))
        return bn_fail(
            st, BN_FORMAT,
            "%s's reader was killed by signal %d: the program is damaged, or larger than "
            "it can read",
            r->row->framework, WTERMSIG(status));
    last_error(r, line, sizeof line);
    frontend_command(r->row, command, sizeof command);
    if (WEXITSTATUS(status) == NOT_INSTALLED)
        return bn_fail(st, BN_NOT_FOUND, "%s has %s; install %s with: %s", r->place.python, line,
                       r->row->framework, command);
    if (WEXITSTATUS(status) == FRONTEND_NOT_STARTED)
        return bn_fail(st, BN_NOT_FOUND, "%s cannot be run: %s", r->place.python, line);
    return WEXITSTATUS(status) == 0
               ? BN_OK
               : bn_fail(st, BN_FORMAT, "%s cannot read it: %s", r->row->framework, line);
}

/* The text, where STATUS, with which the script ended, says that it is complete. */
static bn_code read_text(const reader *r, int status, char **text, size_t *length, bn_status *st)
{
    /* First: a text that is too long has ended the script. */
    bn_code code = frontend_process_text(&r->process, text, length, st);
    if (code == BN_OK)
        code = check_status(r, status, st);
    if (code == BN_OK)
        return BN_OK;
    free(*text);
    *text = NULL;
    *length = 0;
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

bn_code frontend_program_text(const void *code, size_t size, size_t most, char **text,
                              size_t *length, bn_status *st)
{
    reader r = {.row = frontend_named("jax")};
    const char *const words[] = {r.place.python, r.place.script, NULL};
    frontend_files *files = NULL;
    int status = 0;
    *text = NULL;
    *length = 0;
    r.process = (frontend_process){
        .what = r.row->framework, .words = words, .seconds = MOST_SECONDS, .most = most + 1};
    bn_code result = frontend_find(r.row, SCRIPT, &r.place, st);
    /* For their owners: Python imports files of the script's folder in place of the library's. */
    if (result == BN_OK)
        result = frontend_files_hash(&r.place, &files, st);
    frontend_files_free(files);
    if (result == BN_OK)
        result = frontend_process_open(&r.process, code, size, st);
    if (result == BN_OK)
        result = frontend_process_run(&r.process, &status, st);
    if (result == BN_OK)
        result = read_text(&r, status, text, length, st);
    frontend_process_close(&r.process);
    return result;
}
