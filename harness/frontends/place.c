/*
 * place.c - where a front end's script and its Python are.
 */
#define _GNU_SOURCE
#include "harness/frontends/frontends.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON_VARIABLE "BENCH_FRONTEND_PYTHON_"
/* Shared by the scripts. */
#define COMMON          "common/front_main.py"

void frontend_command(const frontend_info *row, char *text, size_t size)
{
    snprintf(text, size, "make frontends FRONTENDS=%s", row->name);
}

/* Puts the whole path of FILE in FOLDER into PATH, where access grants MODE. A virtual
 * environment's python is a link, whose place says which environment it is of: it is kept. */
static bool find_file(const char *folder, const char *file, int mode, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, file) >= PATH_MAX || access(path, mode) != 0)
        return false;
    *strrchr(path, '/') = '\0';
    char *whole = realpath(path, NULL);
    const bool fits =
        whole && snprintf(path, PATH_MAX, "%s/%s", whole, bn_base_name(file)) < PATH_MAX;
    free(whole);
    return fits;
}

/* The same in the first of PLACES, relative to bench's folder, that has it. The current folder is
 * not searched: it may hold somebody else's files. BN_NOT_FOUND without a message, PASSED has one;
 * BN_INVALID where others may write the file, or ALSO, which it runs if that is there, or a folder
 * of theirs. */
static bn_code find_bundled(const char *const *places, const char *file, const char *also, int mode,
                            char path[PATH_MAX], bn_text *passed, bn_status *st)
{
    char folder[PATH_MAX];
    bn_own_folder(folder, sizeof folder);
    const size_t length = strlen(folder), room = sizeof folder - length;
    for (; length > 0 && *places; places++) {
        if ((size_t)snprintf(folder + length, room, "/%s", *places) >= room)
            continue;
        bn_code code = bn_own_file(folder, file, passed, st);
        if (code == BN_OK && find_file(folder, file, mode, path)) {
            const size_t before = passed->length;
            code = bn_own_file(folder, also, passed, st);
            /* ALSO may be missing. */
            if (code == BN_OK || (passed->length == before && code != BN_INVALID))
                return BN_OK;
        }
        if (code == BN_INVALID)
            return code;
    }
    return BN_NOT_FOUND;
}

/* ---- the script --------------------------------------------------------------------------- */

static bn_code find_script(const frontend_info *row, const char *name, frontend_place *place,
                           bn_status *st)
{
    static const char *const usual[] = {"../contrib/frontends", "../share/bench/frontends", NULL};
    const char *folder = getenv("BENCH_FRONTENDS");
    const bool named = folder && folder[0];
    char file[RES_TEXT + 32], *path = place->script;
    bn_text passed = {0};
    bn_code code = BN_NOT_FOUND;
    place->bundled = !named;
    snprintf(file, sizeof file, "%s/%s", row->name, name);
    if (named && find_file(folder, file, R_OK, path))
        return BN_OK;
    if (!named)
        code = find_bundled(usual, file, COMMON, R_OK, path, &passed, st);
    if (code == BN_NOT_FOUND && passed.length > 0)
        code = bn_fail(st, BN_NOT_FOUND, "framework %s: passed over: %s", row->name, passed.data);
    else if (code == BN_NOT_FOUND)
        code = bn_fail(st, BN_NOT_FOUND, "framework %s: no file %s/%s", row->name,
                       named ? folder : "contrib/frontends", file);
    bn_text_free(&passed);
    return code;
}

/* ---- its Python ------------------------------------------------------------------------------ */

/* "BENCH_FRONTEND_PYTHON_PYTORCH_XLA" */
static void variable_of(const frontend_info *row, char *name, size_t size)
{
    snprintf(name, size, PYTHON_VARIABLE "%s", row->name);
    for (char *c = name + strlen(PYTHON_VARIABLE); *c; c++)
        *c = (char)(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_');
}

static bn_code find_python(const frontend_info *row, char path[PATH_MAX], bn_status *st)
{
    static const char *const usual[] = {"../third_party/frontends", NULL};
    char variable[RES_TEXT + 32], file[RES_TEXT + 16], command[RES_TEXT + 40];
    variable_of(row, variable, sizeof variable);
    frontend_command(row, command, sizeof command);
    const char *named = getenv(variable);
    if (named && named[0]) {
        if (strchr(named, '/') && access(named, X_OK) != 0)
            return bn_fail(st, BN_NOT_FOUND, "framework %s: %s, '%s', cannot be run", row->name,
                           variable, named);
        return snprintf(path, PATH_MAX, "%s", named) < PATH_MAX
                   ? BN_OK
                   : bn_fail(st, BN_INVALID, "%s is too long", variable);
    }
    snprintf(file, sizeof file, "%s/bin/python", row->name);
    bn_text passed = {0};
    bn_code code = find_bundled(usual, file, file, X_OK, path, &passed, st);
    if (code == BN_NOT_FOUND)
        code = bn_fail(st, BN_NOT_FOUND,
                       "framework %s: %s%s; install it with: %s (or name a Python that has it in "
                       "%s)",
                       row->name, passed.length > 0 ? "passed over: " : row->framework,
                       passed.length > 0 ? passed.data : " is not installed", command, variable);
    bn_text_free(&passed);
    return code;
}

json_t *frontend_pinned(const frontend_place *place)
{
    json_t *list = json_array();
    char path[PATH_MAX], *text = NULL;
    size_t size = 0;
    const char *slash = strrchr(place->script, '/');
    if (slash &&
        snprintf(path, sizeof path, "%.*s/" FRONTEND_PINNED, (int)(slash - place->script),
                 place->script) < PATH_MAX &&
        bn_regular_read(path, &text, &size, NULL) == BN_OK) {
        char *rest = text;
        for (const char *line; (line = strsep(&rest, "\n"));)
            if (line[0] && line[0] != '#')
                json_array_append_new(list, res_json_text(line));
    }
    free(text);
    return list;
}

bn_code frontend_find(const frontend_info *row, const char *script, frontend_place *place,
                      bn_status *st)
{
    bn_code code = find_script(row, script, place, st);
    return code == BN_OK ? find_python(row, place->python, st) : code;
}
