/*
 * store.c - a folder of records: writing one, reading one and all, and sweeping up after a
 * worker that died. What the files are called is in names.c, what is in them in store_write.c
 * and store_read.c.
 */
#include "results/records/index_priv.h"
#include "results/records/store_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void res_store_begin(void)
{
    res_h5_begin();
    gsl_set_error_handler_off();
}

bn_code res_store_not_sides(const char *folder, bn_status *st)
{
    bool both = true;
    for (const char *side = "ab"; *side; side++) {
        struct stat info;
        bn_text path = {0};
        bn_text_printf(&path, "%s/%c", folder, *side);
        both = both && stat(path.data, &info) == 0 && S_ISDIR(info.st_mode);
        bn_text_free(&path);
    }
    return both ? bn_fail(st, BN_NOT_FOUND, "%s is a comparison: name %s/a or %s/b", folder, folder,
                          folder)
                : BN_OK;
}

bn_code res_store_put(const char *store, const res_record *record, const char *image, size_t size,
                      bool replace, bn_status *st)
{
    bn_text temporary = {0}, name = {0};
    if (!res_id_names_a_file(record->id))
        return bn_fail(st, BN_INVALID, "record id \"%s\" cannot be a file name", record->id);
    res_put_temporary_name(&temporary, record);
    res_put_record_name(&name, record);
    bn_code code = bn_make_folder(store, st);
    if (code == BN_OK)
        code = res_file_publish(store, temporary.data, name.data, image, size, replace, st);
    bn_text_free(&name);
    bn_text_free(&temporary);
    return code == BN_OK ? BN_OK : bn_context(st, "store %s", store);
}

bn_code res_store_write(const char *store, const res_record *record, char *path, size_t path_size,
                        bn_status *st)
{
    bn_text name = {0};
    char *image = NULL;
    size_t size = 0;
    res_put_record_name(&name, record);
    bn_code code = res_image_write(record, &image, &size, st);
    if (code == BN_OK)
        code = res_store_put(store, record, image, size, false, st);
    if (code == BN_OK && path)
        snprintf(path, path_size, "%s/%s", store, name.data);
    free(image);
    bn_text_free(&name);
    return code;
}

/* ---- all of them -------------------------------------------------------------------- */

/* A collection being loaded, with the room in its lists. */
typedef struct loading {
    res_collection *all;
    res_listing files;
    const res_file **file_of; /* [record] */
    size_t record_room, file_room;
    bn_status *st;
} loading;

static void add_damaged(loading *l, const res_file *file, res_fault fault, const bn_status *why)
{
    res_collection *all = l->all;
    res_listing_report(&l->files, file, fault, why, &all->damaged, &all->damaged_count,
                       &all->damaged_room);
}

/* Adds RECORD, which is then the collection's, and the line that the index has of it, or a new one.
 */
static void add_record(loading *l, const res_file *file, res_record *record, const char *line,
                       size_t length)
{
    res_collection *all = l->all;
    bn_text fresh = {0};
    bn_grow(&all->records, all->count + 1, &l->record_room, sizeof *all->records);
    bn_grow(&l->file_of, all->count + 1, &l->file_room, sizeof *l->file_of);
    record->written_ns = file->written_ns;
    l->file_of[all->count] = file;
    all->records[all->count++] = record;
    if (line) {
        res_listing_put(&l->files, line, length, true);
        return;
    }
    res_line_write(record, file->name, file->size, file->mtime_ns, &fresh);
    res_listing_put(&l->files, fresh.data, fresh.length, false);
    bn_text_free(&fresh);
}

/* Reads FILE, as a record or as a damaged file, unless it is known to be damaged. */
static bn_code collect(loading *l, const res_file *file)
{
    size_t length = 0;
    res_record *record = NULL;
    res_proof proof = {.fault = RES_FAULT_UNREAD};
    bn_status why = {.code = BN_OK};
    const char *line = res_listing_line(&l->files, file, &length);
    if (line && res_listing_damaged(line, length, &proof.fault, &why)) {
        res_listing_put(&l->files, line, length, true);
        add_damaged(l, file, proof.fault, &why);
        return BN_OK;
    }
    char *path = res_listing_path(&l->files, file);
    const bn_code code = res_foreign_read(path, &record, &proof, &why);
    free(path);
    if (code == BN_OUT_OF_MEMORY)
        return bn_fail(l->st, code, "%s", why.message);
    if (code == BN_OK) {
        add_record(l, file, record, line, length);
    } else {
        res_listing_put_damaged(&l->files, file, &proof, &why);
        add_damaged(l, file, proof.fault, &why);
    }
    return BN_OK;
}

/* Reports copies of records as damaged files. */
static void drop_copies(loading *l)
{
    res_collection *all = l->all;
    size_t kept = 0;
    res_found *list = bn_zalloc(all->count, sizeof *list);
    for (size_t i = 0; i < all->count; i++)
        list[i] = (res_found){.id = all->records[i]->id, .file = l->file_of[i]->name};
    res_listing_report_copies(&l->files, list, all->count, &all->damaged, &all->damaged_count,
                              &all->damaged_room);
    for (size_t i = 0; i < all->count; i++) {
        if (!list[i].copy_of)
            all->records[kept++] = all->records[i];
        else
            res_record_free(all->records[i]);
    }
    all->count = kept;
    free(list);
}

static int record_order(const void *a, const void *b)
{
    const res_record *const *left = a, *const *right = b;
    return strcmp((*left)->id, (*right)->id);
}

static int damaged_order(const void *a, const void *b)
{
    const res_damaged *left = a, *right = b;
    return strcmp(left->path, right->path);
}

/* Reads all files. Files with proven damage are put into the index, so that they are tried once; a
 * store that cannot be written is no error, and one in which all is well stays as it is.
 */
static bn_code load_files(const char *store, loading *l)
{
    bn_status unsaved = {.code = BN_OK};
    bn_arena *names = bn_arena_new(1 << 14);
    bn_code code = res_listing_begin(&l->files, store, false, names, l->st);
    for (size_t i = 0; code == BN_OK && i < l->files.count; i++)
        code = collect(l, &l->files.files[i]);
    res_store_vet_end();
    if (code == BN_OK)
        drop_copies(l);
    free(l->file_of);
    if (code == BN_OK && l->files.found_damaged)
        res_listing_save(&l->files, &unsaved);
    res_listing_end(&l->files);
    bn_arena_free(names);
    return code;
}

bn_code res_store_load(const char *store, res_collection *all, bn_status *st)
{
    loading l = {.all = all, .st = st};
    *all = (res_collection){0};
    bn_code code = load_files(store, &l);
    if (code != BN_OK) {
        res_collection_free(all);
        return code;
    }
    if (all->count > 1)
        qsort(all->records, all->count, sizeof *all->records, record_order);
    if (all->damaged_count > 1)
        qsort(all->damaged, all->damaged_count, sizeof *all->damaged, damaged_order);
    return BN_OK;
}

void res_collection_free(res_collection *all)
{
    for (size_t i = 0; i < all->count; i++)
        res_record_free(all->records[i]);
    for (size_t i = 0; i < all->damaged_count; i++)
        free(all->damaged[i].path);
    free(all->records);
    free(all->damaged);
    free(all->unread);
    *all = (res_collection){0};
}

/* ---- the latest of a kind --------------------------------------------------------------- */

/* A file of one of the experiments that are looked for. */
typedef struct candidate {
    char *name; /* owned */
    size_t which;
} candidate;

static int latest_first(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    if (left->which != right->which)
        return left->which < right->which ? -1 : 1;
    return strcmp(right->name, left->name);
}

/* The files of STORE whose names end as those of an experiment of LIST do, experiment by
 * experiment, the latest first; *TAKEN of them (owned by the caller). */
static candidate *list_candidates(const char *store, const res_experiment *list, size_t count,
                                  size_t *taken)
{
    candidate *files = NULL;
    size_t room = 0;
    bn_text *ends = bn_zalloc(count, sizeof *ends);
    DIR *folder = opendir(store);
    *taken = 0;
    for (size_t i = 0; i < count; i++)
        res_put_record_end(&ends[i], &list[i]);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        for (size_t i = 0; i < count; i++)
            if (res_name_ends(entry->d_name, ends[i].data)) {
                bn_grow(&files, *taken + 1, &room, sizeof *files);
                files[(*taken)++] = (candidate){bn_strdup(entry->d_name), i};
            }
    if (folder)
        closedir(folder);
    for (size_t i = 0; i < count; i++)
        bn_text_free(&ends[i]);
    free(ends);
    if (*taken > 1)
        qsort(files, *taken, sizeof *files, latest_first);
    return files;
}

/* Has the record in FILE visited; false where VISIT wants no more of its experiment. */
static bool visit_candidate(const char *store, const candidate *file, res_visit *visit,
                            void *context)
{
    bn_text path = {0};
    bn_status why = {.code = BN_OK};
    res_record *record = NULL;
    bool more = true;
    bn_text_printf(&path, "%s/%s", store, file->name);
    if (res_store_read_foreign(path.data, &record, &why) == BN_OK)
        more = visit(context, file->which, record);
    res_record_free(record);
    bn_text_free(&path);
    return more;
}

void res_store_visit_latest(const char *store, const res_experiment *list, size_t count,
                            size_t most, res_visit *visit, void *context)
{
    size_t taken = 0, opened = 0;
    candidate *files = list_candidates(store, list, count, &taken);
    for (size_t i = 0; i < taken; i++) {
        if (i == 0 || files[i].which != files[i - 1].which)
            opened = 0;
        if (opened < most)
            opened = visit_candidate(store, &files[i], visit, context) ? opened + 1 : most;
    }
    res_store_vet_end();
    for (size_t i = 0; i < taken; i++)
        free(files[i].name);
    free(files);
}

/* ---- sweeping ------------------------------------------------------------------------- */

void res_store_sweep(const char *store, long pid)
{
    DIR *folder = opendir(store);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (pid > 0 && res_temporary_process(entry->d_name) == pid)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

void res_store_sweep_old(const char *store)
{
    /* Writing one takes a moment. An older file's process is either dead or one that we cannot
     * see, in a container or on another machine of our name. */
    const time_t limit = time(NULL) - 60;
    DIR *folder = opendir(store);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat info;
        const long pid = res_temporary_process(entry->d_name);
        if (pid > 0 && fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            info.st_mtime < limit && bn_writer_gone(pid, &info))
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    bn_writers_sweep(dirfd(folder), RES_INDEX_FILE);
    closedir(folder);
}
