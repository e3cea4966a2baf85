/*
 * find.c - from a runtime's name to the path of its plugin.
 *
 * The order is the user's word first: environment variables, then the folder in which the set-up
 * unpacks wheels, then an installed jax. The current folder is never searched: whoever may write
 * there would choose what we run. Nothing is loaded here. PJRT_NAMES_AND_LIBRARY_PATHS and
 * TPU_LIBRARY_PATH mean what they mean to jax.
 */
#define _GNU_SOURCE
#include "runtime/pjrt/pjrt_priv.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A known runtime is one row. WHEEL is the path below a folder of unpacked
 * wheels; SITE the path below a Python installation's packages, where the same
 * library is commonly installed; BUNDLED the name next to our own binary. */
static const struct known {
    const char *name, *source, *wheel, *site, *bundled;
    const char *variable; /* environment variable with its path */
    const char *get;      /* how to get it */
} known_runtimes[] = {
    {.name = "cpu",
     .source = "XLA for CPU, PyPI wheel lammps-jax-pjrt-cpu (default)",
     .wheel = "lammps_jax_pjrt_cpu/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
     .get = "make setup"},
    {.name = "cpu-xla",
     .source = "XLA for CPU, PyPI wheel xla-cpu-pjrt",
     .wheel = "xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
     .get = "make setup"},
    {.name = "cpu-fastatomstruct",
     .source = "XLA for CPU, PyPI wheel fastatomstruct-xla-cpu",
     .wheel = "fastatomstruct_xla_cpu/fastatomstruct_xla_cpu/libpjrt_cpu.so",
     .get = "make runtimes"},
    {.name = "tpu",
     .source = "TPU, PyPI wheel libtpu or an installed one",
     .wheel = "libtpu/libtpu/libtpu.so",
     .site = "libtpu/libtpu.so",
     .variable = "TPU_LIBRARY_PATH",
     .get = "make runtime-tpu"},
    {.name = "cuda",
     .source = "NVIDIA GPU, PyPI wheel jax-cuda13-pjrt or an installed one",
     .wheel = "jax_cuda13_pjrt/jax_plugins/xla_cuda13/xla_cuda_plugin.so",
     .site = "jax_plugins/xla_cuda1[0-9]/xla_cuda_plugin.so",
     .get = "make runtime-cuda"},
    {.name = "sim",
     .source = "simulated device, built with the program",
     .bundled = "libpjrt_sim.so",
     .get = "make"},
};
enum { KNOWN_COUNT = sizeof known_runtimes / sizeof known_runtimes[0] };

/* One search: where the answer goes, the places tried so far, and what was there but belongs to
 * somebody else. */
struct search {
    char *path;
    size_t path_size;
    bn_text places, passed;
    size_t count; /* of the places */
};

const char *rt_plugin_known(size_t index, const char **source)
{
    if (index >= KNOWN_COUNT)
        return NULL;
    if (source)
        *source = known_runtimes[index].source;
    return known_runtimes[index].name;
}

static bn_code path_set(struct search *search, const char *path, bn_status *st)
{
    int length = snprintf(search->path, search->path_size, "%s", path);
    if (length < 0 || (size_t)length >= search->path_size)
        return bn_fail(st, BN_INVALID, "the path of the plugin is too long: %s", path);
    return BN_OK;
}

/* Of several matches, the one with the greatest numbers: python3.12 is newer than python3.9. */
static const char *latest(const glob_t *matches)
{
    const char *best = matches->gl_pathv[0];
    for (size_t i = 1; i < matches->gl_pathc; i++)
        if (strverscmp(matches->gl_pathv[i], best) > 0)
            best = matches->gl_pathv[i];
    return best;
}

static void note_place(struct search *search, const char *prefix, const char *rest)
{
    bn_text_printf(&search->places, "%s%s/%s", search->count++ > 0 ? ", " : "", prefix, rest);
}

/* Looks for a file named by the pattern PREFIX/REST. A relative PREFIX would be below the current
 * folder. */
static bool try_place(struct search *search, const char *prefix, const char *rest)
{
    if (!prefix || prefix[0] != '/')
        return false;
    char pattern[PATH_MAX];
    int length = snprintf(pattern, sizeof pattern, "%s/%s", prefix, rest);
    if (length < 0 || (size_t)length >= sizeof pattern)
        return false;
    note_place(search, prefix, rest);

    bool found = false;
    glob_t matches;
    char resolved[PATH_MAX];
    if (access(pattern, F_OK) == 0) {
        /* Without the detours through "..", since paths are printed and kept. */
        const char *path = realpath(pattern, resolved) ? resolved : pattern;
        found = path_set(search, path, NULL) == BN_OK;
    } else if (glob(pattern, 0, NULL, &matches) == 0) {
        found = path_set(search, latest(&matches), NULL) == BN_OK;
        globfree(&matches);
    }
    return found;
}

#define LIST    "PJRT_NAMES_AND_LIBRARY_PATHS"
#define FOLDERS "BENCH_RUNTIMES"

/* The path that LIST ("name:path,name:path") gives for NAME; *FOUND: whether it gives one. An
 * entry is the user's word: it is taken even where the file is missing, and one that cannot be read
 * is never passed over, for another runtime would be measured. */
static bn_code try_list(struct search *search, const char *list, const char *name, bool *found,
                        bn_status *st)
{
    *found = false;
    for (const char *entry = list; entry && *entry; entry += *entry == ',') {
        const size_t length = strcspn(entry, ","), name_length = strcspn(entry, ":, \t\n");
        const char *path = entry + name_length + 1;
        if (length > 0 &&
            (name_length == 0 || entry[name_length] != ':' || name_length + 1 >= length))
            return bn_fail(st, BN_INVALID, LIST ": '%.*s' is not of the form name:/path",
                           (int)length, entry);
        if (length > 0 && !*found && strncmp(entry, name, name_length) == 0 && !name[name_length]) {
            const size_t path_length = length - name_length - 1;
            if (!memchr(path, '/', path_length))
                return bn_fail(st, BN_INVALID,
                               LIST ": '%.*s' has a path without a slash; give a whole one",
                               (int)length, entry);
            if (path_length >= search->path_size)
                return bn_fail(st, BN_INVALID,
                               "the path that " LIST " gives for %s is longer than %zu bytes", name,
                               search->path_size - 1);
            memcpy(search->path, path, path_length);
            search->path[path_length] = '\0';
            *found = true;
        }
        entry += length;
    }
    return BN_OK;
}

/* The user's own folder of wheels. A word that cannot be meant is refused: passed over, it would
 * have another runtime measured. */
static bn_code try_own_wheels(struct search *search, const char *wheel, bool *found, bn_status *st)
{
    const char *given = getenv(FOLDERS);
    if (!given || given[0] == '\0')
        return BN_OK;
    if (given[0] != '/')
        return bn_fail(st, BN_INVALID, FOLDERS ": '%s' is not a whole path, which begins with /",
                       given);
    if (strlen(given) + strlen(wheel) + 2 > PATH_MAX)
        return bn_fail(st, BN_INVALID, FOLDERS ": a path of %zu bytes is too long", strlen(given));
    *found = try_place(search, given, wheel);
    return BN_OK;
}

/* Looks for FILE in PLACES, NULL last, which are relative to the program's folder. One in a folder
 * that others may write is refused, not passed over: another one would be measured. */
static bn_code try_own(struct search *search, const char *const *places, const char *file,
                       bool *found, bn_status *st)
{
    char own[PATH_MAX];
    bn_own_folder(own, sizeof own);
    for (; own[0] && *places && !*found; places++) {
        char folder[PATH_MAX + 32];
        snprintf(folder, sizeof folder, "%s/%s", own, *places);
        const bn_code code = bn_own_file(folder, file, &search->passed, st);
        if (code == BN_INVALID)
            return code;
        if (code == BN_OK)
            *found = try_place(search, folder, file);
        else
            note_place(search, folder, file);
    }
    return BN_OK;
}

static void search_free(struct search *search)
{
    bn_text_free(&search->places);
    bn_text_free(&search->passed);
}

static const char *places_of(const struct search *search)
{
    return search->places.data ? search->places.data : "nowhere";
}

/* The wheels of the set-up. */
static bn_code try_wheels(struct search *search, const char *wheel, bool *found, bn_status *st)
{
    /* An installed program has its runtimes in lib. A build may be nested (build/bench,
     * build/asan/bench, build/tests/...). */
    static const char *const below_binary[] = {
        "../lib/bench/runtimes",
        "../third_party/runtimes",
        "../../third_party/runtimes",
        "../../../third_party/runtimes",
        NULL,
    };
    return try_own(search, below_binary, wheel, found, st);
}

static bn_code try_python(struct search *search, const char *site, bool *found, bn_status *st)
{
    char environment[PATH_MAX], user[PATH_MAX];
    const char *active = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
    environment[0] = user[0] = '\0';
    if (active && active[0] && active[0] != '/')
        return bn_fail(st, BN_INVALID, "VIRTUAL_ENV: '%s' is not a whole path, which begins with /",
                       active);
    if (active)
        snprintf(environment, sizeof environment, "%s/lib/python3*/site-packages", active);
    if (home)
        snprintf(user, sizeof user, "%s/.local/lib/python3*/site-packages", home);
    *found = try_place(search, environment, site) || try_place(search, user, site) ||
             try_place(search, "/usr/local/lib/python3*/*-packages", site) ||
             try_place(search, "/usr/lib/python3*/*-packages", site);
    return BN_OK;
}

/* In the build's folder, or where an installation puts it. */
static bn_code try_bundled(struct search *search, const char *name, bool *found, bn_status *st)
{
    static const char *const folders[] = {".", "../lib/bench", NULL};
    return try_own(search, folders, name, found, st);
}

bn_code rt_recorder_find(char *path, size_t path_size, bn_status *st)
{
    struct search search = {.path = path, .path_size = path_size};
    bool found = false;
    bn_code code = try_bundled(&search, "libpjrt_record.so", &found, st);
    const bool passed = search.passed.length > 0;
    if (code == BN_OK && !found)
        code = bn_fail(st, BN_NOT_FOUND, "the recorder, libpjrt_record.so, is %s%s (searched: %s)",
                       passed ? "passed over: " : "not next to bench",
                       passed ? search.passed.data : "", places_of(&search));
    search_free(&search);
    return code;
}

/* The path that the environment's VARIABLE, if there is one, gives. Without a slash, a plugin of
 * that name in the current folder would be loaded. */
static bn_code try_variable(struct search *search, const char *variable, bool *found, bn_status *st)
{
    const char *given = variable ? getenv(variable) : NULL;
    if (!given || given[0] == '\0')
        return BN_OK;
    *found = true;
    if (!strchr(given, '/'))
        return bn_fail(st, BN_INVALID, "%s: '%s' is a path without a slash; give a whole one",
                       variable, given);
    return path_set(search, given, st);
}

static const struct known *known_named(const char *name)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(known_runtimes[i].name, name) == 0)
            return &known_runtimes[i];
    return NULL;
}

static bn_code find_known(struct search *search, const struct known *known, bn_status *st)
{
    bool found = false;
    bn_code code = try_variable(search, known->variable, &found, st);
    if (code == BN_OK && !found && known->wheel)
        code = try_own_wheels(search, known->wheel, &found, st);
    if (code == BN_OK && !found && known->wheel)
        code = try_wheels(search, known->wheel, &found, st);
    if (code == BN_OK && !found && known->site)
        code = try_python(search, known->site, &found, st);
    if (code == BN_OK && !found && known->bundled)
        code = try_bundled(search, known->bundled, &found, st);
    if (found || code != BN_OK)
        return code;
    const bool passed = search->passed.length > 0;
    return bn_fail(st, BN_NOT_FOUND,
                   "runtime %s: %s%s; get it with '%s' (searched %zu places: bench list runtimes "
                   "--format json)",
                   known->name, passed ? "passed over: " : "no plugin",
                   passed ? search->passed.data : "", known->get, search->count);
}

const char *rt_plugin_synonym(const char *name)
{
    return strcasecmp(name, "gpu") == 0 || strcasecmp(name, "nvidia") == 0 ? "cuda" : NULL;
}

static bn_code name_unknown(const char *name, bn_status *st)
{
    bn_text names = {0}, here = {0};
    bn_near near = bn_near_begin(name);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        bn_text_printf(&names, "%s%s", i > 0 ? ", " : "", known_runtimes[i].name);
        bn_near_try(&near, known_runtimes[i].name);
    }
    const char *synonym = rt_plugin_synonym(name), *best = synonym ? synonym : bn_near_best(&near);
    /* A file of this folder, without the slash that makes it a path. */
    struct stat info;
    bn_text_printf(&here, "./%s", name);
    if (here.data && stat(here.data, &info) == 0 && S_ISREG(info.st_mode))
        best = here.data;
    bn_text_puts(&names, ", or a path");
    bn_code code = bn_fail_meant(st, BN_NOT_FOUND,
                                 (bn_meant){best, "There is", names.data ? names.data : "a path"},
                                 "no runtime named '%s'", name);
    bn_text_free(&here);
    bn_text_free(&names);
    return code;
}

bn_code rt_plugin_find(const char *name, char *path, size_t path_size, bn_status *st)
{
    struct search search = {.path = path, .path_size = path_size};
    if (strchr(name, '/')) {
        if (access(name, F_OK) != 0)
            return bn_fail(st, BN_NOT_FOUND, "%s: no such file", name);
        return path_set(&search, name, st);
    }
    bool listed = false;
    const char *list = getenv(LIST);
    bn_code code = name[0] ? try_list(&search, list, name, &listed, st) : BN_OK;
    if (listed || code != BN_OK)
        return code;
    const struct known *known = known_named(name);
    if (!known)
        return name_unknown(name, st);
    code = find_known(&search, known, st);
    search_free(&search);
    return code;
}

void rt_plugin_places(const char *name, bn_text *out)
{
    char path[PATH_MAX];
    bn_status ignored = {.code = BN_OK};
    struct search search = {.path = path, .path_size = sizeof path};
    const struct known *known = known_named(name);
    if (known)
        (void)find_known(&search, known, &ignored);
    bn_text_puts(out, search.places.data ? search.places.data : "");
    search_free(&search);
}
