/*
 * files.c - the modules of a front end's script: their digest, and whether they changed.
 *
 * The script is code that is measured. Python reads its files one by one while it runs, so they are
 * checked before it starts and again after its end, as the files of plugins are
 * (runtime/pjrt/identity.c).
 */
#include "harness/frontends/frontends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED      "common" /* folder next to the script's own; all frameworks import from it */
#define COMPILED    "__pycache__"
#define MOST_LEVELS 6        /* of folders */
#define MOST_FILES  4096
#define MOST_BYTES  ((size_t)64 << 20)

/* A file by its path from above the two folders: "jax/models/bert.py". */
typedef struct module_file {
    char *name;
    struct stat info; /* when it was hashed */
} module_file;

struct frontend_files {
    char script[PATH_MAX]; /* as it was found */
    char above[PATH_MAX];  /* the folder that holds its own folder */
    char sha256[BN_SHA256_TEXT];
    module_file *list; /* of SHARED, then of the script's folder; each in the order of paths */
    size_t count, capacity;
};

/* ---- the list ----------------------------------------------------------------------------- */

static bn_code add_file(frontend_files *f, const char *name, bn_status *st)
{
    if (f->count == MOST_FILES)
        return bn_fail(st, BN_INVALID, "%s: more than %d modules are in its folder", f->script,
                       MOST_FILES);
    bn_grow(&f->list, f->count + 1, &f->capacity, sizeof *f->list);
    f->list[f->count++] = (module_file){.name = bn_strdup(name)};
    return BN_OK;
}

/* Whether NAME is a module of Python: as text, compiled, or a library, which comes first. */
static bool is_module(const char *name)
{
    static const char *const ends[] = {".py", ".pyc", ".so"};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end > name && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i]) == 0)
            return true;
    return false;
}

/* Lists the files of the folder NAME, open as LIST, and of those in it, which are the next LEVEL.
 * No module has a name that begins with a dot. Links are followed, as Python follows them.
 * check_compiled is for __pycache__. */
static bn_code list_folder(frontend_files *f, const char *name, DIR *list, int level, bn_status *st)
{
    bn_code code = BN_OK;
    for (const struct dirent *e; code == BN_OK && (e = bn_folder_next(list));) {
        char path[PATH_MAX];
        struct stat info;
        if (e->d_name[0] == '.' || strcmp(e->d_name, COMPILED) == 0 ||
            fstatat(dirfd(list), e->d_name, &info, 0) != 0)
            continue;
        const bool folder = S_ISDIR(info.st_mode);
        if (!folder && !is_module(e->d_name))
            continue;
        if (snprintf(path, sizeof path, "%s/%s", name, e->d_name) >= (int)sizeof path ||
            (folder && level == MOST_LEVELS))
            return bn_fail(st, BN_INVALID, "%s: its folder has too many levels of folders, at %s",
                           f->script, name);
        if (!folder) {
            code = add_file(f, path, st);
            continue;
        }
        const int fd = openat(dirfd(list), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *inner = fd < 0 ? NULL : fdopendir(fd);
        code = inner ? list_folder(f, path, inner, level + 1, st)
                     : bn_fail_errno(st, errno, "%s/%s", f->above, path);
        if (inner)
            closedir(inner);
        else if (fd >= 0)
            close(fd);
    }
    return code == BN_OK && errno != 0 ? bn_fail_errno(st, errno, "%s/%s", f->above, name) : code;
}

/* The order of paths, component by component: files of the folder a come before the file a.py. */
static int by_path(const void *a, const void *b)
{
    const char *left = ((const module_file *)a)->name, *right = ((const module_file *)b)->name;
    while (*left && *left == *right) {
        left++;
        right++;
    }
    if (*left == '/' || *right == '/')
        return *left == '/' ? (*right ? -1 : 1) : (*left ? 1 : -1);
    return (unsigned char)*left - (unsigned char)*right;
}

/* Lists the files of the folder NAME, in their order; none where there is no such folder. */
static bn_code add_folder(frontend_files *f, const char *name, bn_status *st)
{
    char path[PATH_MAX];
    const size_t first = f->count;
    if (snprintf(path, sizeof path, "%s/%s", f->above, name) >= (int)sizeof path)
        return bn_fail_errno(st, ENAMETOOLONG, "%s", f->above);
    DIR *list = opendir(path);
    if (!list)
        return errno == ENOENT ? BN_OK : bn_fail_errno(st, errno, "%s", path);
    const bn_code code = list_folder(f, name, list, 1, st);
    closedir(list);
    if (f->count > first)
        qsort(f->list + first, f->count - first, sizeof *f->list, by_path);
    return code;
}

/* Lists the files of SCRIPT, which are to be freed also after a failure. Python imports from the
 * folder of the file that a link leads to. */
static bn_code list_files(const char *script, frontend_files **files, bn_status *st)
{
    frontend_files *f = *files = bn_zalloc(1, sizeof *f);
    char whole[PATH_MAX];
    snprintf(f->script, sizeof f->script, "%s", script);
    if (!realpath(script, whole))
        return bn_fail_errno(st, errno, "%s", script);
    *strrchr(whole, '/') = '\0';
    char *slash = strrchr(whole, '/');
    if (!slash)
        return bn_fail(st, BN_INVALID, "%s: a script needs a folder of its own", script);
    *slash = '\0';
    snprintf(f->above, sizeof f->above, "%s", whole);
    const char *own = slash + 1;
    bn_code code = strcmp(own, SHARED) == 0 ? BN_OK : add_folder(f, SHARED, st);
    return code == BN_OK ? add_folder(f, own, st) : code;
}

/* ---- contents and owners -------------------------------------------------------------------- */

/* Appends FILE to ALL: its name, a zero byte, its size, a zero byte, its contents. */
static bn_code add_contents(const frontend_files *f, module_file *file, bn_text *all, bn_status *st)
{
    char path[PATH_MAX], *data = NULL;
    int fd;
    if (snprintf(path, sizeof path, "%s/%s", f->above, file->name) >= (int)sizeof path)
        return bn_fail_errno(st, ENAMETOOLONG, "%s", f->above);
    bn_code code = bn_open_at(AT_FDCWD, path, 0, &fd, &file->info, st);
    if (code != BN_OK)
        return code;
    const size_t size = (size_t)file->info.st_size;
    if (!S_ISREG(file->info.st_mode))
        code = bn_fail(st, BN_INVALID, "%s: not a regular file", path);
    else if (size > MOST_BYTES || all->length > MOST_BYTES - size)
        code = bn_fail(st, BN_INVALID, "%s: the modules in its folder have more than %zu bytes",
                       f->script, MOST_BYTES);
    else
        code = bn_regular_all(fd, path, size, &data, st);
    close(fd);
    if (code == BN_OK) {
        bn_text_append(all, file->name, strlen(file->name) + 1);
        bn_text_int(all, (int64_t)size);
        bn_text_putc(all, '\0');
        bn_text_append(all, data, size);
    }
    free(data);
    return code;
}

static bn_code hash_files(frontend_files *f, bn_status *st)
{
    bn_text all = {0};
    bn_code code = BN_OK;
    bn_text_puts(&all, "");
    for (size_t i = 0; i < f->count && code == BN_OK; i++)
        code = add_contents(f, &f->list[i], &all, st);
    if (code == BN_OK)
        bn_sha256(all.data, all.length, f->sha256);
    bn_text_free(&all);
    return code;
}

/* Whether nobody else may write NAME, a file or folder of F, or a folder that it is in. */
static bn_code check_owner(const frontend_files *f, const char *name, bn_status *st)
{
    bn_text passed = {0};
    bn_code code = bn_own_file(f->above, name, &passed, st);
    if (code == BN_NOT_FOUND && passed.length > 0)
        code = bn_fail(st, BN_INVALID, "%s is not run: %s", f->script, passed.data);
    else if (code == BN_NOT_FOUND)
        code = bn_fail(st, BN_CHANGED, "%s: its file %s is gone", f->script, name);
    bn_text_free(&passed);
    return code;
}

/* Checks who may write the compiled modules (__pycache__) beside the file NAME. Python writes
 * them while it runs, so they cannot be hashed. */
static bn_code check_compiled(const frontend_files *f, const char *name, bn_status *st)
{
    char folder[PATH_MAX + 16], path[2 * PATH_MAX + 32], file[2 * PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s" COMPILED, (int)(strrchr(name, '/') - name + 1), name);
    snprintf(path, sizeof path, "%s/%s", f->above, folder);
    DIR *list = opendir(path);
    if (!list)
        return errno == ENOENT ? BN_OK : bn_fail_errno(st, errno, "%s", path);
    bn_code code = check_owner(f, folder, st);
    for (const struct dirent *e; code == BN_OK && (e = bn_folder_next(list));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", folder, e->d_name);
        code = check_owner(f, file, st);
        /* Another process of the front end may have replaced it. */
        code = code == BN_CHANGED ? BN_OK : code;
    }
    if (code == BN_OK && errno != 0)
        code = bn_fail_errno(st, errno, "%s", path);
    closedir(list);
    return code;
}

/* Whether A and B lie in one folder. */
static bool are_bundled(const char *a, const char *b)
{
    const size_t length = (size_t)(strrchr(a, '/') - a) + 1;
    return strncmp(a, b, length) == 0 && !strchr(b + length, '/');
}

/* Whether nobody else may write the files that Python runs: as of the script. */
static bn_code check_owners(const frontend_files *f, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < f->count && code == BN_OK; i++) {
        const char *name = f->list[i].name;
        code = check_owner(f, name, st);
        if (code == BN_OK && (i == 0 || !are_bundled(name, f->list[i - 1].name)))
            code = check_compiled(f, name, st);
    }
    return code;
}

bn_code frontend_files_hash(const frontend_place *place, frontend_files **files, bn_status *st)
{
    bn_code code = list_files(place->script, files, st);
    if (code == BN_OK && place->bundled)
        code = check_owners(*files, st);
    if (code == BN_OK)
        code = hash_files(*files, st);
    if (code != BN_OK) {
        frontend_files_free(*files);
        *files = NULL;
    }
    return code;
}

const char *frontend_files_sha256(const frontend_files *files)
{
    return files->sha256;
}

void frontend_files_free(frontend_files *files)
{
    for (size_t i = 0; files && i < files->count; i++)
        free(files->list[i].name);
    if (files)
        free(files->list);
    free(files);
}

/* ---- afterwards ---------------------------------------------------------------------------- */

static bool is_untouched(const frontend_files *f, const module_file *file)
{
    char path[PATH_MAX];
    struct stat now;
    return snprintf(path, sizeof path, "%s/%s", f->above, file->name) < (int)sizeof path &&
           stat(path, &now) == 0 && bn_untouched(&now, &file->info);
}

/* The first file of F that is another one than in NOW, or is in one of both only; NULL: none. */
static const char *first_changed(const frontend_files *f, const frontend_files *now)
{
    if (strcmp(f->above, now->above) != 0)
        return f->script;
    for (size_t i = 0; i < f->count || i < now->count; i++) {
        const module_file *was = i < f->count ? &f->list[i] : NULL;
        const module_file *is = i < now->count ? &now->list[i] : NULL;
        if (!was || !is)
            return was ? was->name : is->name;
        if (strcmp(was->name, is->name) != 0)
            return by_path(was, is) < 0 ? was->name : is->name;
        if (!is_untouched(f, was))
            return was->name;
    }
    return NULL;
}

bn_code frontend_files_check(const frontend_files *files, bn_status *st)
{
    frontend_files *now = NULL;
    bn_status why = {.code = BN_OK};
    bn_code code = list_files(files->script, &now, &why);
    if (code == BN_OK) {
        const char *changed = first_changed(files, now);
        if (changed)
            code = bn_fail(st, BN_CHANGED, "%s: its file %s was replaced or changed while it ran",
                           files->script, changed);
    } else {
        code = bn_fail(st, BN_CHANGED, "%s: its files were replaced while it ran: %s",
                       files->script, why.message);
    }
    frontend_files_free(now);
    return code;
}
