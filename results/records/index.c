/*
 * index.c - the summaries of a store, without opening every file of it.
 *
 * The file in the store's folder is text:
 *
 *   bench-index 1 records 3 sha256 <of all that follows> <its bytes>
 *   <names of the columns>
 *   <one line a record, in order of file names>
 *
 * The index holds nothing that the files do not. A line counts as long as the file of that name
 * has its size and time of change: we never change records, and a file that was damaged in place
 * has another time. A file that cannot be read gets no line, so it is tried, and reported, each
 * time. An index is not used at all unless its digest and its columns are as expected: it may be
 * cut off, edited, or of another version of this program.
 */
#include "results/records/index_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INDEX_VERSION  1
/* Room for the first line. */
#define FIRST_LINE     160
/* Files read between two calls of PROGRESS. */
#define PROGRESS_EVERY 64

/* A record's file as it is now. A time too far off overflows, but gives the same number each
 * time. */
typedef struct entry {
    const char *name;
    int64_t size, mtime_ns;
} entry;

/* An update on its way. */
typedef struct update {
    const char *store;
    const res_index_options *options;
    entry *files;
    size_t file_count;
    char *old;        /* the index as it was, terminated; NULL: none that can be used */
    const char *line; /* in OLD: the first line that was not passed yet */
    size_t old_lines, kept;
    bn_text body; /* the index as it will be, without its first line */
    res_pools pools;
    res_index *index;
    size_t damaged_room; /* in the index's list */
    bn_status *st;
} update;

/* ---- the folder --------------------------------------------------------------------- */

static int entry_order(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static bn_code add_file(update *u, int folder, const char *name, size_t *capacity)
{
    struct stat info = {0};
    /* The file is gone since it was listed. A file that exists but cannot be looked at stays in the
     * list: it is tried, and reported, each time. */
    if (fstatat(folder, name, &info, 0) != 0 && errno == ENOENT &&
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return BN_OK;
    if (!bn_reserve(&u->files, u->file_count + 1, capacity, sizeof *u->files))
        return bn_fail(u->st, BN_OUT_OF_MEMORY, "no memory for %zu files", u->file_count + 1);
    const char *copy = bn_arena_strdup(u->index->memory, name);
    if (!copy)
        return bn_fail(u->st, BN_OUT_OF_MEMORY, "no memory for a file name");
    const uint64_t mtime_ns =
        (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
    u->files[u->file_count++] = (entry){copy, (int64_t)info.st_size, (int64_t)mtime_ns};
    return BN_OK;
}

static bn_code list_files(update *u)
{
    bn_code code = BN_OK;
    size_t capacity = 0;
    DIR *folder = opendir(u->store);
    if (!folder)
        return bn_fail_errno(u->st, errno, "store %s", u->store);
    for (const struct dirent *e; code == BN_OK && (e = readdir(folder)) != NULL;)
        if (res_store_file_of(e->d_name) == RES_STORE_RECORD)
            code = add_file(u, dirfd(folder), e->d_name, &capacity);
    closedir(folder);
    if (code == BN_OK && u->file_count > 1)
        qsort(u->files, u->file_count, sizeof *u->files, entry_order);
    return code;
}

/* ---- the index as it was --------------------------------------------------------------- */

static void first_line(const char *body, size_t size, char line[FIRST_LINE])
{
    char digest[BN_SHA256_TEXT];
    bn_sha256(body, size, digest);
    snprintf(line, FIRST_LINE, "bench-index %d records %d sha256 %s %zu\n", INDEX_VERSION,
             RES_SCHEMA_VERSION, digest, size);
}

/* The lines in TEXT; NULL where it is not what first_line and res_line_heads say. */
static const char *usable_lines(const char *text, size_t size)
{
    char wanted[FIRST_LINE];
    bn_text heads = {0};
    const char *body = memchr(text, '\n', size < FIRST_LINE ? size : FIRST_LINE);
    if (!body)
        return NULL;
    body++;
    const size_t first = (size_t)(body - text);
    first_line(body, size - first, wanted);
    if (strlen(wanted) != first || memcmp(wanted, text, first) != 0)
        return NULL;
    res_line_heads(&heads);
    const bool same = !heads.failed && size - first >= heads.length && text[size - 1] == '\n' &&
                      memcmp(body, heads.data, heads.length) == 0;
    const size_t length = heads.length;
    bn_text_free(&heads);
    return same ? body + length : NULL;
}

static bn_code index_path(const char *store, bn_text *path, bn_status *st)
{
    bn_text_printf(path, "%s/%s", store, RES_INDEX_FILE);
    return path->failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a file name") : BN_OK;
}

/* Leaves u->old NULL where there is no index, or none that can be used. */
static bn_code read_old(update *u)
{
    bn_text path = {0};
    bn_status why = {.code = BN_OK};
    struct stat info;
    size_t size = 0;
    bn_code code = index_path(u->store, &path, u->st);
    /* Reading from a pipe of that name would block. */
    if (code == BN_OK && stat(path.data, &info) == 0 && S_ISREG(info.st_mode) &&
        bn_file_read(path.data, &u->old, &size, &why) == BN_OK) {
        u->line = usable_lines(u->old, size);
        if (!u->line) {
            free(u->old);
            u->old = NULL;
        }
    }
    bn_text_free(&path);
    return code;
}

/* The next line of the old index, and how long it is; NULL at the end. */
static const char *old_line(const update *u, size_t *length)
{
    if (!u->line || !*u->line)
        return NULL;
    const char *end = strchr(u->line, '\n');
    *length = end ? (size_t)(end - u->line) + 1 : 0;
    return end ? u->line : NULL;
}

/* Below zero where the name of KEY comes before NAME. Names in lines are not unescaped: a name with
 * escapes matches no file, and the file is read. */
static int key_order(const res_line_key *key, const char *name)
{
    const int order = strncmp(key->file, name, key->file_length);
    return order ? order : name[key->file_length] ? -1 : 0;
}

/* The old line that describes FILE as it is now, or NULL. Lines before it are passed. */
static const char *find_line(update *u, const entry *file, size_t *length)
{
    const char *line;
    while ((line = old_line(u, length)) != NULL) {
        res_line_key key;
        const int order = res_line_key_parse(line, &key) ? key_order(&key, file->name) : -1;
        if (order > 0)
            return NULL;
        u->line += *length;
        u->old_lines++;
        if (order == 0)
            return key.size == file->size && key.mtime_ns == file->mtime_ns ? line : NULL;
    }
    return NULL;
}

/* ---- the index as it will be -------------------------------------------------------------- */

/* Adds LINE to the new index and to the summaries. */
static bn_code take_line(update *u, const entry *file, const char *line, size_t length,
                         bn_status *st)
{
    res_summary *summary = &u->index->records[u->index->count];
    bn_code code = res_line_parse(line, length, &u->pools, summary, st);
    if (code != BN_OK)
        return code;
    summary->file = file->name;
    u->index->count++;
    bn_text_append(&u->body, line, length);
    return u->body.failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the index") : BN_OK;
}

static bn_code add_damaged(update *u, char *path, const bn_status *why)
{
    res_index *index = u->index;
    if (!bn_reserve(&index->damaged, index->damaged_count + 1, &u->damaged_room,
                    sizeof *index->damaged)) {
        free(path);
        return bn_fail(u->st, BN_OUT_OF_MEMORY, "no memory to read the store");
    }
    index->damaged[index->damaged_count++] = (res_damaged){path, *why};
    return BN_OK;
}

/* Opens the record, to summarise it or to say what is wrong with it. */
static bn_code read_record(update *u, const entry *file)
{
    bn_text path = {0}, line = {0};
    bn_status why = {.code = BN_OK};
    res_record *record = NULL;
    u->index->read++;
    bn_text_printf(&path, "%s/%s", u->store, file->name);
    if (path.failed)
        return bn_fail(u->st, BN_OUT_OF_MEMORY, "no memory for a file name");
    bn_code code = res_store_read_foreign(path.data, &record, &why);
    if (code == BN_OK) {
        res_line_write(record, file->name, file->size, file->mtime_ns, &line);
        code = line.failed ? bn_fail(&why, BN_OUT_OF_MEMORY, "no memory for the index")
                           : take_line(u, file, line.data, line.length, &why);
        res_record_free(record);
    }
    bn_text_free(&line);
    if (code == BN_OK) {
        bn_text_free(&path);
        return BN_OK;
    }
    if (code == BN_OUT_OF_MEMORY) {
        bn_text_free(&path);
        *u->st = why;
        return code;
    }
    return add_damaged(u, path.data, &why);
}

static bn_code take_file(update *u, const entry *file)
{
    size_t length = 0;
    bn_status why = {.code = BN_OK};
    const char *line = find_line(u, file, &length);
    bn_code code = line ? take_line(u, file, line, length, &why) : BN_FORMAT;
    if (code == BN_OK) {
        u->kept++;
        return BN_OK;
    }
    if (code == BN_OUT_OF_MEMORY) {
        *u->st = why;
        return code;
    }
    return read_record(u, file);
}

static bn_code take_files(update *u)
{
    const res_index_options *o = u->options;
    bn_code code = BN_OK;
    u->index->records = calloc(u->file_count + 1, sizeof *u->index->records);
    if (!u->index->records)
        return bn_fail(u->st, BN_OUT_OF_MEMORY, "no memory for %zu records", u->file_count);
    res_line_heads(&u->body);
    for (size_t i = 0; code == BN_OK && i < u->file_count; i++) {
        const size_t before = u->index->read;
        code = take_file(u, &u->files[i]);
        if (o && o->progress && u->index->read > before && before % PROGRESS_EVERY == 0)
            o->progress(o->context, i, u->file_count);
    }
    for (size_t length; old_line(u, &length); u->old_lines++)
        u->line += length;
    return code;
}

/* Writes nothing where the index would be as it was, or empty. */
static void save(update *u)
{
    char first[FIRST_LINE];
    bn_text path = {0}, whole = {0};
    bn_status *st = &u->index->unsaved;
    const bool same = u->old && u->kept == u->index->count && u->kept == u->old_lines;
    if (same || (!u->old && u->index->count == 0))
        return;
    first_line(u->body.data, u->body.length, first);
    bn_text_puts(&whole, first);
    bn_text_append(&whole, u->body.data, u->body.length);
    bn_code code = whole.failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the index")
                                : index_path(u->store, &path, st);
    if (code == BN_OK)
        code = bn_file_write_atomic(path.data, whole.data, whole.length, st);
    if (code != BN_OK)
        bn_context(st, "index");
    bn_text_free(&path);
    bn_text_free(&whole);
}

static bn_code finish(update *u)
{
    res_index *index = u->index;
    index->experiments = res_pools_experiments(&u->pools);
    index->experiment_count = u->pools.experiments.count;
    if (!index->experiments)
        return bn_fail(u->st, BN_OUT_OF_MEMORY, "no memory for the index");
    save(u);
    return BN_OK;
}

bn_code res_index_load(const char *store, const res_index_options *options, res_index *index,
                       bn_status *st)
{
    *index = (res_index){.memory = bn_arena_new(1 << 16)};
    if (!index->memory)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the index");
    update u = {.store = store,
                .options = options,
                .pools = {.memory = index->memory},
                .index = index,
                .st = st};
    bn_code code = list_files(&u);
    if (code == BN_OK && !(options && options->rebuild))
        code = read_old(&u);
    if (code == BN_OK)
        code = take_files(&u);
    if (code == BN_OK)
        code = finish(&u);
    res_store_vet_end();
    res_pools_free(&u.pools);
    bn_text_free(&u.body);
    free(u.old);
    free(u.files);
    if (code != BN_OK)
        res_index_free(index);
    return code;
}

void res_index_free(res_index *index)
{
    for (size_t i = 0; i < index->damaged_count; i++)
        free(index->damaged[i].path);
    free(index->damaged);
    free(index->records);
    bn_arena_free(index->memory);
    *index = (res_index){0};
}
