/*
 * folder.c - the folder of a site: its mark, its files, and which of them are no longer its own.
 *
 * The mark is written first, so that an interrupted site is known as one. Files are compared
 * before they are written: a night changes few of them, and a program that copies the site sees
 * which.
 */
#include "plots/site/site_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "site.json"
#define DATA "data"

/* "FOLDER/NAME"; DATA is between where OF_DATA. */
static bn_text path_of(const site_folder *folder, bool of_data, const char *name)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/%s%s%s", folder->path, of_data ? DATA "/" : "", name,
                   of_data ? ".js" : "");
    return path;
}

/* ---- files ------------------------------------------------------------------------- */

/* Whether PATH holds TEXT already. */
static bool is_same(const char *path, const bn_text *text)
{
    struct stat info;
    char *data = NULL;
    size_t size = 0;
    if (stat(path, &info) != 0 || (size_t)info.st_size != text->length ||
        bn_regular_read(path, &data, &size, NULL) != BN_OK)
        return false;
    const bool same = size == text->length && memcmp(data, text->data, size) == 0;
    free(data);
    return same;
}

/* Writes TEXT, and frees PATH. */
static bn_code write_file(site_folder *folder, bn_text *path, const bn_text *text, bn_status *st)
{
    bn_code code = BN_OK;
    if (is_same(path->data, text))
        folder->made->unchanged++;
    else if ((code = bn_file_write_atomic(path->data, text->data, text->length, st)) == BN_OK)
        folder->made->written++;
    bn_text_free(path);
    return code;
}

static void add_name(site_folder *folder, const char *name)
{
    bn_grow(&folder->names, folder->count + 1, &folder->capacity, sizeof *folder->names);
    snprintf(folder->names[folder->count++], SITE_NAME, "%s", name);
}

bn_code site_folder_data(site_folder *folder, const char *name, json_t *value, bn_status *st)
{
    bn_text path = path_of(folder, true, name), text = site_data(name, value);
    const bn_code code = write_file(folder, &path, &text, st);
    bn_text_free(&text);
    if (code == BN_OK)
        add_name(folder, name);
    return code;
}

bn_code site_folder_file(site_folder *folder, const char *name, const bn_text *text, bn_status *st)
{
    bn_text path = path_of(folder, false, name);
    return write_file(folder, &path, text, st);
}

bool site_folder_keep(site_folder *folder, const char *name)
{
    bn_text path = path_of(folder, true, name);
    struct stat info;
    const bool there = lstat(path.data, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
    bn_text_free(&path);
    if (there) {
        folder->made->unchanged++;
        add_name(folder, name);
    }
    return there;
}

/* ---- files that belong to the site no longer ---------------------------------------- */

static int name_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Whether NAME is that of a data file of ours; then STEM is without its end. */
static bool is_ours(const char *name, char stem[SITE_NAME])
{
    static const char *const kinds[] = {"model-", "night-", "build-", "record-", "verdict-"};
    const size_t length = strlen(name);
    bool ours = false;
    if (length < 4 || length - 3 >= SITE_NAME || strcmp(name + length - 3, ".js") != 0)
        return false;
    snprintf(stem, SITE_NAME, "%.*s", (int)(length - 3), name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        ours = ours || strncmp(stem, kinds[i], strlen(kinds[i])) == 0;
    return ours && strspn(stem, "abcdefghijklmnopqrstuvwxyz0123456789T-") == strlen(stem);
}

/* Removes data files of ours that do not belong to the site; ONLY of that kind, "record-", or NULL.
 */
static void remove_others(const site_folder *folder, const char *only)
{
    int fd;
    char stem[SITE_NAME];
    bn_text path = {0};
    bn_text_printf(&path, "%s/" DATA, folder->path);
    const bool open = bn_folder_in(AT_FDCWD, path.data, &fd, NULL) == BN_OK;
    bn_text_free(&path);
    if (!open)
        return;
    DIR *list = bn_folder_list(fd);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (is_ours(entry->d_name, stem) && (!only || strncmp(stem, only, strlen(only)) == 0) &&
            !(folder->count &&
              bsearch(stem, folder->names, folder->count, sizeof *folder->names, name_order)) &&
            unlinkat(fd, entry->d_name, 0) == 0)
            folder->made->removed++;
    if (list)
        closedir(list);
    bn_writers_sweep(fd, "*.js");
    close(fd);
    if (bn_folder_in(AT_FDCWD, folder->path, &fd, NULL) != BN_OK)
        return;
    bn_writers_sweep(fd, "*");
    close(fd);
}

void site_folder_sweep(site_folder *folder)
{
    if (folder->count > 1)
        qsort(folder->names, folder->count, sizeof *folder->names, name_order);
    remove_others(folder, NULL);
}

/* ---- the mark ---------------------------------------------------------------------- */

/* Whether PATH is missing or an empty folder. */
static bn_code is_empty(const char *path, bool *empty, bn_status *st)
{
    DIR *list = opendir(path);
    *empty = true;
    if (!list)
        return errno == ENOENT ? BN_OK : bn_fail_errno(st, errno, "%s", path);
    bn_code code = BN_OK;
    for (const struct dirent *entry; *empty && (entry = bn_folder_next(list));)
        *empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (*empty && errno != 0)
        code = bn_fail_errno(st, errno, "%s", path);
    closedir(list);
    return code;
}

static bool is_list_of_texts(const json_t *list)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (!json_is_string(item))
            return false;
    }
    return json_is_array(list);
}

/* Reads the mark's members; BN_FORMAT where it is none. */
static bn_code take_mark(site_folder *folder, const json_t *mark, bn_status *st)
{
    const json_t *version = json_object_get(mark, "bench_site");
    json_t *asked = json_object_get(mark, "asked");
    if (!json_is_integer(version) || json_integer_value(version) < 1 || !is_list_of_texts(asked))
        return bn_fail(st, BN_FORMAT, MARK " is not that of a site");
    if (json_integer_value(version) > SITE_VERSION)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s: a later bench made this site", folder->path);
    /* Details of records are not made again where they are there. Of another version they must be.
     */
    if (json_integer_value(version) < SITE_VERSION)
        remove_others(folder, "record-");
    json_decref(folder->asked);
    folder->asked = json_incref(asked);
    return BN_OK;
}

/* BN_INVALID where the folder holds something and has no mark. */
static bn_code read_mark(site_folder *folder, bn_status *st)
{
    bn_text path = path_of(folder, false, MARK);
    char *data = NULL;
    size_t size = 0;
    bn_status why = {.code = BN_OK};
    json_t *mark = NULL;
    bn_code code = bn_regular_read(path.data, &data, &size, &why);
    if (code == BN_OK)
        code = res_json_parse(data, size, &mark, &why);
    if (code == BN_OK)
        code = take_mark(folder, mark, &why);
    json_decref(mark);
    free(data);
    bn_text_free(&path);
    if (code == BN_OK)
        return BN_OK;
    if (code == BN_NOT_FOUND || code == BN_FORMAT || code == BN_INVALID)
        return bn_fail(st, BN_INVALID,
                       "%s is neither empty nor a site of bench, so nothing is written there",
                       folder->path);
    return bn_fail(st, code, "%s", why.message);
}

static bool has_text(const json_t *list, const char *text)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(item), text) == 0)
            return true;
    }
    return false;
}

static bn_code write_mark(site_folder *folder, const site_options *options, bn_status *st)
{
    for (size_t i = 0; i < options->asked_count; i++)
        if (!has_text(folder->asked, options->asked[i]))
            json_array_append_new(folder->asked, res_json_text(options->asked[i]));
    bn_text text = {0};
    json_t *mark = json_pack("{si sO}", "bench_site", SITE_VERSION, "asked", folder->asked);
    char *dumped = json_dumps(mark, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    bn_text_printf(&text, "%s\n", dumped);
    const bn_code code = site_folder_file(folder, MARK, &text, st);
    free(dumped);
    json_decref(mark);
    bn_text_free(&text);
    return code;
}

bn_code site_folder_begin(const site_options *options, site_made *made, site_folder *folder,
                          bn_status *st)
{
    bool empty = false;
    bn_text path = {0};
    *folder = (site_folder){.path = options->folder, .made = made, .asked = json_array()};
    bn_code code = is_empty(options->folder, &empty, st);
    if (code == BN_OK && !empty)
        code = read_mark(folder, st);
    bn_text_printf(&path, "%s/" DATA, options->folder);
    if (code == BN_OK)
        code = bn_no_links(path.data, strlen(options->folder), st);
    if (code == BN_OK)
        code = bn_make_folder(path.data, st);
    if (code == BN_OK)
        code = write_mark(folder, options, st);
    bn_text_free(&path);
    return code;
}

void site_folder_end(site_folder *folder)
{
    json_decref(folder->asked);
    free(folder->names);
    *folder = (site_folder){0};
}
