/*
 * versions.c - the versions of a framework's packages that a front end's Python has, compared with
 * the pinned ones: with others a framework traces and dispatches differently.
 */
#include "harness/frontends/frontends_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MOST_PINNED  64 /* packages that are asked for */
#define MOST_SECONDS 30
#define MOST_BYTES   65536 /* of the answer */

/* ---- pins ------------------------------------------------------------------------------------ */

typedef struct pin {
    char name[RES_TEXT], version[RES_TEXT];
} pin;

/* Copies the LENGTH bytes at TEXT; false where they are none, or too many. */
static bool copy_word(const char *text, size_t length, char word[RES_TEXT])
{
    if (length == 0 || length >= RES_TEXT)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    return true;
}

/* Reads "NAME==VERSION" of a requirements.txt, with optional extras ("[cuda]"), blanks, markers and
 * digests. False: LINE, which may be NULL, pins no package to one version. */
static bool read_pin(const char *line, pin *out)
{
    if (!line || line[0] == '-' || !copy_word(line, strcspn(line, "[ \t<>!~=;@"), out->name))
        return false;
    const char *rest = line + strlen(out->name);
    if (*rest == '[')
        rest += strcspn(rest, "]") + (strchr(rest, ']') != NULL);
    rest += strspn(rest, " \t");
    if (strncmp(rest, "==", 2) != 0)
        return false;
    rest += strspn(rest, "= \t");
    return copy_word(rest, strcspn(rest, " \t\r,;#\\"), out->version) && !strchr(out->version, '*');
}

/* pip's rule: a local part, "+cpu", is compared only if one is pinned. */
static bool is_pinned(const char *version, const char *found)
{
    const size_t length = strchr(version, '+') ? strlen(found) : strcspn(found, "+");
    return strlen(version) == length && strncmp(version, found, length) == 0;
}

/* ---- installed versions ---------------------------------------------------------------------- */

/* Says {"NAME": "VERSION"} of those of its arguments that are installed. It imports nothing from
 * the current folder, which may be anybody's. */
static const char question[] = "import sys\n"
                               "sys.path[:] = [p for p in sys.path if p]\n"
                               "import json\n"
                               "from importlib import metadata\n"
                               "found = {}\n"
                               "for name in sys.argv[1:]:\n"
                               "    try:\n"
                               "        found[name] = metadata.version(name)\n"
                               "    except metadata.PackageNotFoundError:\n"
                               "        pass\n"
                               "print(json.dumps(found))\n";

/* Whether ANSWER is an object of texts that may be shown. */
static bool is_answer(json_t *answer)
{
    const char *name;
    json_t *value;
    bool whole = json_is_object(answer);
    json_object_foreach(answer, name, value)
    {
        const char *version = json_string_value(value);
        whole = whole && version && bn_is_plain(version) && bn_is_plain(name);
    }
    return whole;
}

/* P's answer; NULL: none that can be used. */
static json_t *ask(frontend_process *p)
{
    int status = 0;
    char *text = NULL;
    size_t length = 0;
    json_t *answer = NULL;
    bn_code code = frontend_process_open(p, NULL, 0, NULL);
    if (code == BN_OK)
        code = frontend_process_run(p, &status, NULL);
    if (code == BN_OK && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        code = frontend_process_text(p, &text, &length, NULL);
    if (code == BN_OK && text)
        code = res_json_parse(text, length, &answer, NULL);
    frontend_process_close(p);
    free(text);
    if (code == BN_OK && is_answer(answer))
        return answer;
    json_decref(answer);
    return NULL;
}

json_t *frontend_versions(const frontend_place *place, const json_t *pinned)
{
    const char *words[3 + MOST_PINNED + 1] = {place->python, "-c", question};
    pin pins[MOST_PINNED];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(pinned) && count < MOST_PINNED; i++)
        if (read_pin(json_string_value(json_array_get(pinned, i)), &pins[count])) {
            words[3 + count] = pins[count].name;
            count++;
        }
    frontend_process p = {
        .what = "its versions", .words = words, .seconds = MOST_SECONDS, .most = MOST_BYTES};
    return count > 0 ? ask(&p) : json_object();
}

/* ---- comparison ------------------------------------------------------------------------------ */

size_t frontend_put_unpinned(const json_t *pinned, const json_t *versions, bn_text *out)
{
    size_t missing = 0;
    const char *between = "";
    pin p;
    for (size_t i = 0; i < json_array_size(pinned); i++) {
        if (!read_pin(json_string_value(json_array_get(pinned, i)), &p))
            continue;
        const char *found = json_string_value(json_object_get(versions, p.name));
        missing += !found;
        if (!found || is_pinned(p.version, found))
            continue;
        bn_text_printf(out, "%s%s %s where %s is pinned", between, p.name, found, p.version);
        between = ", ";
    }
    return missing;
}

void frontend_put_pin_command(const frontend_place *place, bn_text *out)
{
    const char *slash = strrchr(place->script, '/');
    bn_text_printf(out, "%s -m pip install -r %.*s/" FRONTEND_PINNED, place->python,
                   slash ? (int)(slash - place->script) : 0, place->script);
}
