/* export_files.c - the files of an export: they are made in memory, and then all or none are
 * written. */
#include "results/exports/exports_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void res_export_free(res_export *export)
{
    for (size_t i = 0; i < export->count; i++) {
        bn_text_free(&export->files[i].bytes);
        free(export->files[i].path);
    }
    free(export->files);
    *export = (res_export){0};
}

bn_text *res_export_add(res_export *export, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *path = bn_alloc((size_t)length + 1);
    va_start(args, format);
    vsnprintf(path, (size_t)length + 1, format, args);
    va_end(args);
    bn_grow(&export->files, export->count + 1, &export->capacity, sizeof *export->files);
    export->files[export->count] = (res_export_file){.path = path};
    return &export->files[export->count++].bytes;
}

static void put_json(bn_text *file, json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags | RES_JSON_SHOWN);
    bn_text_puts(file, text);
    bn_text_putc(file, '\n');
    free(text);
    json_decref(value);
}

void res_export_put(bn_text *file, json_t *value)
{
    put_json(file, value, JSON_INDENT(1));
}

void res_export_put_line(bn_text *file, json_t *value)
{
    put_json(file, value, 0);
}

static bn_code write_one(const char *path, const bn_text *bytes, bool replace, bn_status *st)
{
    bn_writer *writer = NULL;
    bn_code code = bn_writer_begin(path, &writer, st);
    if (code == BN_OK)
        code = bn_writer_add(writer, bytes->data ? bytes->data : "", bytes->length, st);
    if (code == BN_OK)
        return bn_writer_finish(writer, replace, st);
    bn_writer_drop(writer);
    return code;
}

/* Most file systems have no longer names. */
#define LONGEST_COMPONENT 255

/* Whether PATH is of files and folders within one folder, whatever a writer made it of: names of
 * records reach paths. */
static bool stays_inside(const char *path)
{
    if (!bn_is_plain(path))
        return false;
    for (const char *at = path;; at++) {
        const size_t length = strcspn(at, "/");
        if (length == 0 || length > LONGEST_COMPONENT || (length == 1 && at[0] == '.') ||
            (length == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

/* Finds the place of FILE when the export is written to OUTPUT. PATH is to be freed in any case. */
static bn_code path_of(const res_export *export, const res_export_file *file, const char *output,
                       bn_text *path, bn_status *st)
{
    if (export->folder ? !stays_inside(file->path) : file->path[0] != '\0')
        return bn_fail(st, BN_FORMAT, "%s is no name of a file in the folder of an export",
                       file->path);
    bn_text_printf(path, "%s%s%s", output, export->folder ? "/" : "", file->path);
    return BN_OK;
}

/* Makes the folder of PATH, which lies in OUTPUT. */
static bn_code make_folder_of(bn_text *path, const char *output, bn_status *st)
{
    char *slash = strrchr(path->data, '/');
    *slash = '\0';
    bn_code code = bn_no_links(path->data, strlen(output), st);
    if (code == BN_OK)
        code = bn_make_folder(path->data, st);
    *slash = '/';
    return code;
}

/* Removes the first WRITTEN of the BEGUN files, which were not there before, and the folders below
 * OUTPUT that are empty now: the same export can be tried again. */
static void undo(const res_export *export, size_t written, size_t begun, const char *output)
{
    for (size_t i = begun; i-- > 0;) {
        bn_text path = {0};
        if (path_of(export, &export->files[i], output, &path, NULL) == BN_OK) {
            if (i < written)
                unlink(path.data);
            for (char *slash; export->folder && (slash = strrchr(path.data, '/')) != NULL &&
                              slash > path.data + strlen(output);) {
                *slash = '\0';
                rmdir(path.data);
            }
        }
        bn_text_free(&path);
    }
}

bn_code res_export_write(const res_export *export, const char *output, bool replace, bn_status *st)
{
    bn_code code = BN_OK;
    size_t written = 0, begun = 0;
    /* All names are checked first, so that an export is whole or is not begun. */
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; code == BN_OK && i < export->count; i++) {
            const res_export_file *file = &export->files[i];
            bn_text path = {0};
            code = path_of(export, file, output, &path, st);
            if (code == BN_OK && turn == 0 && !replace && access(path.data, F_OK) == 0)
                code =
                    bn_fail(st, BN_INVALID,
                            "%s is there already: choose another --output, or --force", path.data);
            begun += code == BN_OK && turn == 1;
            if (code == BN_OK && turn == 1 && export->folder)
                code = make_folder_of(&path, output, st);
            if (code == BN_OK && turn == 1)
                code = write_one(path.data, &file->bytes, replace, st);
            written += code == BN_OK && turn == 1;
            bn_text_free(&path);
        }
    }
    /* Replaced files cannot be restored; without the new ones there would be an export of neither
     * time. */
    if (code != BN_OK && !replace)
        undo(export, written, begun, output);
    return code;
}
