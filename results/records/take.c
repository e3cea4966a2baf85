/*
 * take.c - records of something outside of a store, which may be read again: a line of others, a
 * recorded process. Its contents decide whether the store has it already. Where they differ from
 * those read before, since the source was fixed, was not whole, or bench was wrong, the new record
 * takes the place of the old one: both would count.
 */
#include "results/records/store_priv.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A record on its way into a store. */
typedef struct taking {
    const char *store;
    const res_record *record;
    const res_source *source; /* NULL: only its own name is looked at */
    bn_text name, contents;   /* of its file; see put_contents */
    bool there, same;         /* its file is; with these contents */
    char **old;               /* other files of the same source, each owned */
    size_t old_count, old_room;
    bn_status *st;
} taking;

/* Appends RECORD as bytes that are equal for equal contents, wherever a line was read from. */
static void put_contents(res_record *record, bn_text *out)
{
    json_t *imported = res_provenance(record, RES_PROV_IMPORTED);
    json_object_del(imported, "file");
    json_object_del(imported, "line_number");
    res_wire_put(record, out);
}

/* RECORD's contents, after a write and a read; *IMAGE are the file's bytes (malloc). */
static bn_code contents_of(const res_record *record, char **image, size_t *size, bn_text *out,
                           bn_status *st)
{
    res_record *read = NULL;
    bn_code code = res_image_write(record, image, size, st);
    if (code == BN_OK)
        code = res_image_read(*image, *size, &read, st);
    if (code == BN_OK)
        put_contents(read, out);
    res_record_free(read);
    return code;
}

/* Compares the record with STORED, of the file NAME at PATH. */
static bn_code compare(taking *t, const char *name, const char *path, res_record *stored)
{
    const bool own = strcmp(name, t->name.data) == 0;
    bn_text contents = {0};
    if (!own && !t->source->same(stored, t->record))
        return BN_OK;
    t->there = t->there || own;
    /* Before put_contents, which removes members of STORED. */
    const bool richer = t->source && t->source->richer(stored, t->record);
    put_contents(stored, &contents);
    const bool same = contents.length == t->contents.length &&
                      memcmp(contents.data, t->contents.data, contents.length) == 0;
    bn_text_free(&contents);
    if (!same && richer)
        return bn_fail(t->st, BN_CHANGED,
                       "%s: this record stays: the recording now lacks events or a profile that "
                       "the record has",
                       path);
    if (own) {
        t->same = same;
    } else {
        bn_grow(&t->old, t->old_count + 1, &t->old_room, sizeof *t->old);
        t->old[t->old_count++] = bn_strdup(name);
    }
    return BN_OK;
}

/* Looks at the file NAME, which may be of the same source, even where it cannot be read. A file
 * with proven damage is no record of any source. */
static bn_code look_at(taking *t, const char *name)
{
    bn_text path = {0};
    res_record *stored = NULL;
    res_proof proof = {.fault = RES_FAULT_UNREAD};
    bn_status why = {.code = BN_OK};
    bn_text_printf(&path, "%s/%s", t->store, name);
    bn_code code = res_foreign_read(path.data, &stored, &proof, &why);
    if (code == BN_OK)
        code = compare(t, name, path.data, stored);
    else if (proof.proven || code == BN_NOT_FOUND)
        code = BN_OK;
    else
        code = bn_fail(t->st, code, "%s", why.message);
    t->there = t->there || (proof.proven && strcmp(name, t->name.data) == 0);
    res_record_free(stored);
    bn_text_free(&path);
    return code;
}

/* Whether the file NAME may be of the same source, by its name and its date. */
static bool may_be(const taking *t, const char *end, const char *name)
{
    const double time_s = res_id_time(name);
    return strcmp(name, t->name.data) != 0 && res_name_ends(name, end) &&
           time_s >= t->source->from_s - 1 && time_s <= t->source->to_s + 1;
}

static bn_code look_at_others(taking *t)
{
    bn_text end = {0};
    bn_code code = BN_OK;
    DIR *folder = opendir(t->store);
    if (!folder)
        return errno == ENOENT ? BN_OK : bn_fail_errno(t->st, errno, "%s", t->store);
    res_put_record_end(&end, &t->record->experiment);
    for (const struct dirent *e; code == BN_OK && (e = bn_folder_next(folder)) != NULL;)
        if (may_be(t, end.data, e->d_name))
            code = look_at(t, e->d_name);
    if (code == BN_OK && errno != 0)
        code = bn_fail_errno(t->st, errno, "%s", t->store);
    closedir(folder);
    bn_text_free(&end);
    return code;
}

/* Removes the records that this one replaces. */
static bn_code drop_old(taking *t)
{
    bn_text path = {0};
    bn_code code = BN_OK;
    for (size_t i = 0; i < t->old_count && code == BN_OK; i++) {
        bn_text_clear(&path);
        bn_text_printf(&path, "%s/%s", t->store, t->old[i]);
        if (unlink(path.data) != 0 && errno != ENOENT)
            code = bn_fail_errno(t->st, errno, "removing %s", path.data);
    }
    bn_text_free(&path);
    return code;
}

bn_code res_store_take(const char *store, const res_record *record, const res_source *source,
                       char *path, size_t path_size, res_taken *taken, bn_status *st)
{
    bn_status own = {.code = BN_OK};
    taking t = {.store = store, .record = record, .source = source, .st = &own};
    char *image = NULL;
    size_t size = 0;
    res_put_record_name(&t.name, record);
    bn_code code = contents_of(record, &image, &size, &t.contents, &own);
    if (code == BN_OK)
        code = look_at(&t, t.name.data);
    if (code == BN_OK && source)
        code = look_at_others(&t);
    res_store_vet_end();
    if (code == BN_OK && !t.same)
        code = res_store_put(store, record, image, size, t.there, &own);
    if (code == BN_OK)
        code = drop_old(&t);
    *taken = t.old_count > 0 || (t.there && !t.same) ? RES_TAKEN_INSTEAD
             : t.there                               ? RES_TAKEN_KNOWN
                                                     : RES_TAKEN_NEW;
    if (code == BN_OK && path)
        snprintf(path, path_size, "%s/%s", store, t.name.data);
    for (size_t i = 0; i < t.old_count; i++)
        free(t.old[i]);
    free(t.old);
    free(image);
    bn_text_free(&t.name);
    bn_text_free(&t.contents);
    return code == BN_OK ? BN_OK : bn_fail(st, code, "%s", own.message);
}
