/*
 * listing.c - the records of a store as files, in step with the file of its index.
 *
 * The file in the store's folder is text:
 *
 *   bench-index 5 records 3 sha256 <of all that follows> <its bytes>
 *   <names of the columns>
 *   <one line a file, in order of names>
 *
 * The index holds nothing that the files do not. A line counts as long as the file of that name
 * has its size and time of change: we never change records, and a file that was damaged in place
 * has another time. A record's line is its summary (index_line.c). A file's whose own bytes prove
 * that it is damaged ("!") or no record ("!!") says what is wrong with it:
 *
 *   <name> <size> <changed_ns> ! <what is wrong>
 *
 * Other failures to read a file leave no line, since the next try may succeed: a record that is
 * remembered as damaged is gone for all readers of the index, so nothing but proof may say so. The
 * time of such a line is that of any change of the file, which no tool sets back: a file that was
 * fixed is read again, whatever its time of writing.
 *
 * An index is not used at all unless its digest and its columns are as expected: it may be cut off,
 * edited, or of another version of this program. Nor is one that is larger than lines of so many
 * files can be. And since an index stands for the contents of records, it is trusted only if it
 * belongs to us, to root or to the owner of the store's folder, and no other user may write it.
 */
#include "results/records/index_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Version 4 remembered files as damaged that could not be read, for want of memory, say. */
#define INDEX_VERSION 5
/* Room for the first line. */
#define FIRST_LINE    160
/* Bytes of an index that are read: for its head lines, and for each file. A usual line has some
 * hundred bytes; an index with many longer lines is made anew each time. */
#define MOST_HEADS    (16 << 10)
#define MOST_LINE     (4 << 10)
/* In place of a record's id, which begins otherwise. */
#define DAMAGED       "!"
#define STRANGE       "!!"

/* ---- the folder --------------------------------------------------------------------- */

static int file_order(const void *a, const void *b)
{
    return strcmp(((const res_file *)a)->key, ((const res_file *)b)->key);
}

static int64_t nanoseconds(struct timespec time)
{
    /* A time too far off overflows, but gives the same number each time. */
    return (int64_t)((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec);
}

/* When the contents of the file of INFO, or anything of it, were last changed. */
static int64_t written_of(const struct stat *info)
{
    const int64_t mtime_ns = nanoseconds(info->st_mtim), ctime_ns = nanoseconds(info->st_ctim);
    return mtime_ns > ctime_ns ? mtime_ns : ctime_ns;
}

/* NAME, in the arena, as lines have it. */
static const char *key_of(bn_arena *memory, const char *name)
{
    bn_text key = {0};
    res_line_put_text(&key, name);
    const char *found = strcmp(key.data, name) == 0 ? name : bn_arena_strdup(memory, key.data);
    bn_text_free(&key);
    return found;
}

static void add_file(res_listing *l, int folder, const char *name, size_t *capacity)
{
    struct stat info = {0};
    /* The file is gone since it was listed. A file that exists but cannot be looked at stays in the
     * list: it is tried, and reported, each time. */
    if (fstatat(folder, name, &info, 0) != 0 && errno == ENOENT &&
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    bn_grow(&l->files, l->count + 1, capacity, sizeof *l->files);
    const char *copy = bn_arena_strdup(l->memory, name);
    l->files[l->count++] = (res_file){.name = copy,
                                      .key = key_of(l->memory, copy),
                                      .size = (int64_t)info.st_size,
                                      .mtime_ns = nanoseconds(info.st_mtim),
                                      .written_ns = written_of(&info)};
}

static bn_code list_files(res_listing *l, bn_status *st)
{
    bn_code code = BN_OK;
    size_t capacity = 0;
    DIR *folder = opendir(l->store);
    if (!folder && errno == ENOENT)
        return bn_fail(st, BN_NOT_FOUND,
                       "store %s: No such file or directory; bench run --store DIR writes one, and "
                       "--store names its folder",
                       l->store);
    if (!folder)
        return bn_fail_errno(st, errno, "store %s", l->store);
    for (const struct dirent *e; (e = bn_folder_next(folder)) != NULL;)
        if (res_store_file_of(e->d_name) == RES_STORE_RECORD)
            add_file(l, dirfd(folder), e->d_name, &capacity);
    if (errno != 0)
        code = bn_fail_errno(st, errno, "store %s", l->store);
    struct stat info;
    /* Where the owner is unknown, the index must be ours. */
    l->owner = fstat(dirfd(folder), &info) == 0 ? info.st_uid : geteuid();
    closedir(folder);
    if (code == BN_OK && l->count > 1)
        qsort(l->files, l->count, sizeof *l->files, file_order);
    return code;
}

char *res_listing_path(const res_listing *l, const res_file *file)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/%s", l->store, file->name);
    return path.data;
}

void res_listing_report(const res_listing *l, const res_file *file, res_fault fault,
                        const bn_status *why, res_damaged **list, size_t *count, size_t *room)
{
    bn_grow(list, *count + 1, room, sizeof **list);
    (*list)[(*count)++] = (res_damaged){res_listing_path(l, file), *why, fault};
}

/* ---- reports of damaged files -------------------------------------------------------- */

size_t res_damaged_lost(const res_damaged *list, size_t count)
{
    size_t lost = 0;
    for (size_t i = 0; i < count; i++) {
        const bool called = !isnan(res_id_time(bn_base_name(list[i].path)));
        lost += list[i].fault != RES_FAULT_COPY && (list[i].fault != RES_FAULT_STRANGE || called);
    }
    return lost;
}

/* For each fault: how many files are named, and the sentence on the others. A folder may hold
 * any number of files of other programs. */
static const struct {
    size_t most;
    const char *one, *many;
} faults[RES_FAULT_COUNT] = {
    [RES_FAULT_UNREAD] = {20, "could not be read", "could not be read"},
    [RES_FAULT_DAMAGED] = {20, "is damaged", "are damaged"},
    [RES_FAULT_STRANGE] = {3, "is no record", "are no records"},
    [RES_FAULT_COPY] = {20, "is a copy", "are copies"},
};

bool res_damaged_reported(res_reported *reported, const res_damaged *one)
{
    return ++reported->count[one->fault] <= faults[one->fault].most;
}

void res_put_unreported(const res_reported *reported, bn_text *out)
{
    const char *between = "";
    for (int i = 0; i < RES_FAULT_COUNT; i++) {
        if (reported->count[i] <= faults[i].most)
            continue;
        const size_t rest = reported->count[i] - faults[i].most;
        bn_text_printf(out, "%s%zu more file%s %s", between, rest, rest == 1 ? "" : "s",
                       rest == 1 ? faults[i].one : faults[i].many);
        between = ", ";
    }
}

/* ---- copies -------------------------------------------------------------------------- */

/* Whether the file is called by the record's id. */
static bool is_called_by_id(const res_found *found)
{
    const size_t length = strlen(found->id);
    return strncmp(found->file, found->id, length) == 0 && found->file[length] == '-';
}

static int found_order(const void *a, const void *b)
{
    const res_found *left = a, *right = b;
    const int order = strcmp(left->id, right->id);
    if (order != 0)
        return order;
    const bool called = is_called_by_id(left);
    if (called != is_called_by_id(right))
        return called ? -1 : 1;
    return (left->at > right->at) - (left->at < right->at);
}

/* In the order given. */
static int given_order(const void *a, const void *b)
{
    const res_found *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

/* Marks the copies in LIST; returns how many there are. */
static size_t find_copies(res_found *list, size_t count)
{
    size_t copies = 0, ascending = 1;
    for (size_t i = 0; i < count; i++)
        list[i].at = i;
    while (ascending < count && strcmp(list[ascending - 1].id, list[ascending].id) < 0)
        ascending++;
    /* The usual case: files are called by their ids. */
    if (ascending >= count)
        return 0;
    qsort(list, count, sizeof *list, found_order);
    for (size_t i = 1, first = 0; i < count; i++) {
        if (strcmp(list[first].id, list[i].id) != 0) {
            first = i;
            continue;
        }
        list[i].copy_of = list[first].file;
        copies++;
    }
    qsort(list, count, sizeof *list, given_order);
    return copies;
}

void res_listing_report_copies(const res_listing *l, res_found *list, size_t count,
                               res_damaged **damaged, size_t *damaged_count, size_t *room)
{
    if (find_copies(list, count) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const res_found *found = &list[i];
        const res_file file = {.name = found->file};
        bn_status why = {.code = BN_OK};
        if (!found->copy_of)
            continue;
        bn_fail(&why, BN_FORMAT,
                "%s/%s: has the id of %s; a record counts once, so remove one of them", l->store,
                found->file, found->copy_of);
        res_listing_report(l, &file, RES_FAULT_COPY, &why, damaged, damaged_count, room);
    }
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
    const bool same = size - first >= heads.length && text[size - 1] == '\n' &&
                      memcmp(body, heads.data, heads.length) == 0;
    const size_t length = heads.length;
    bn_text_free(&heads);
    return same ? body + length : NULL;
}

/* Whether to trust the file of INFO: only we, root, and OWNER could have written it. */
static bool is_trusted(const struct stat *info, uid_t owner, const char *path, bn_status *why)
{
    const uid_t uid = info->st_uid;
    if (uid != geteuid() && uid != 0 && uid != owner)
        bn_fail(why, BN_INVALID,
                "%s belongs to user %ld, who is neither you nor the owner of the store, so it is "
                "not trusted",
                path, (long)uid);
    else if (info->st_mode & (S_IWGRP | S_IWOTH))
        bn_fail(why, BN_INVALID, "others may write %s, so it is not trusted", path);
    return why->code == BN_OK;
}

/* The text of the index at PATH, with *LINES in it; NULL where there is none that can be used. WHY
 * says so if that is because of its permissions or owner. */
static char *read_usable(const char *path, size_t most, uid_t owner, const char **lines,
                         bn_status *why)
{
    int fd;
    struct stat info;
    char *text = NULL;
    if (bn_open_at(AT_FDCWD, path, O_NOFOLLOW, &fd, &info, NULL) != BN_OK)
        return NULL;
    const size_t size = (size_t)info.st_size;
    if (S_ISREG(info.st_mode) && size > 0 && size <= most && is_trusted(&info, owner, path, why))
        text = malloc(size + 1);
    if (text && bn_regular_rest(fd, path, text, size, NULL) == BN_OK) {
        text[size] = '\0';
        *lines = usable_lines(text, size);
    }
    close(fd);
    if (*lines)
        return text;
    free(text);
    return NULL;
}

bn_code res_listing_begin(res_listing *l, const char *store, bool anew, bn_arena *memory,
                          bn_status *st)
{
    *l = (res_listing){.store = store, .memory = memory};
    bn_code code = list_files(l, st);
    if (code == BN_OK && !anew) {
        bn_text path = {0};
        bn_text_printf(&path, "%s/%s", l->store, RES_INDEX_FILE);
        l->old = read_usable(path.data, MOST_HEADS + l->count * MOST_LINE, l->owner, &l->line,
                             &l->distrust);
        bn_text_free(&path);
    }
    res_line_heads(&l->body);
    return code;
}

void res_listing_end(res_listing *l)
{
    bn_text_free(&l->body);
    free(l->old);
    free(l->files);
    *l = (res_listing){0};
}

/* ---- lines of the old index ---------------------------------------------------------------- */

/* The next line of the old index, and how long it is; NULL at the end. */
static const char *old_line(const res_listing *l, size_t *length)
{
    if (!l->line || !*l->line)
        return NULL;
    const char *end = strchr(l->line, '\n');
    *length = end ? (size_t)(end - l->line) + 1 : 0;
    return end ? l->line : NULL;
}

/* The description of the damage in the LENGTH bytes of LINE, of a damaged file, up to its newline;
 * NULL: it is another's line. */
static const char *damage_in(const char *line, size_t length, res_fault *fault)
{
    static const char strange[] = STRANGE "\t", damaged[] = DAMAGED "\t";
    const char *at = line, *end = line + length - 1;
    for (int tabs = 0; tabs < 3 && at; tabs++) {
        at = memchr(at, '\t', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    const size_t left = at ? (size_t)(end - at) : 0;
    *fault = left >= strlen(strange) && memcmp(at, strange, strlen(strange)) == 0
                 ? RES_FAULT_STRANGE
                 : RES_FAULT_DAMAGED;
    const char *mark = *fault == RES_FAULT_STRANGE ? strange : damaged;
    return left >= strlen(mark) && memcmp(at, mark, strlen(mark)) == 0 ? at + strlen(mark) : NULL;
}

/* Below zero where the name of LINE comes before KEY. */
static int line_order(const res_line_key *line, const char *key)
{
    const int order = strncmp(line->file, key, line->file_length);
    return order ? order : key[line->file_length] ? -1 : 0;
}

const char *res_listing_line(res_listing *l, const res_file *file, size_t *length)
{
    const char *line;
    while ((line = old_line(l, length)) != NULL) {
        res_line_key key;
        const int order = res_line_key_parse(line, &key) ? line_order(&key, file->key) : -1;
        if (order > 0)
            return NULL;
        l->line += *length;
        l->old_lines++;
        if (order == 0) {
            res_fault fault;
            const bool damaged = damage_in(line, *length, &fault) != NULL;
            const int64_t time_ns = damaged ? file->written_ns : file->mtime_ns;
            return key.size == file->size && key.mtime_ns == time_ns ? line : NULL;
        }
    }
    return NULL;
}

bool res_listing_damaged(const char *line, size_t length, res_fault *fault, bn_status *why)
{
    const char *text = damage_in(line, length, fault);
    if (!text)
        return false;
    bn_fail(why, BN_FORMAT, "%.*s; this was found before (bench history --reindex tries again)",
            (int)(line + length - 1 - text), text);
    return true;
}

/* ---- the index as it will be ----------------------------------------------------------------- */

void res_listing_put(res_listing *l, const char *line, size_t length, bool kept)
{
    bn_text_append(&l->body, line, length);
    l->lines++;
    l->kept += kept ? 1 : 0;
}

void res_listing_put_damaged(res_listing *l, const res_file *file, const res_proof *proof,
                             const bn_status *why)
{
    if (!proof->proven || (int64_t)proof->as_read.st_size != file->size ||
        written_of(&proof->as_read) != file->written_ns)
        return;
    bn_text_printf(&l->body, "%s\t%lld\t%lld\t%s\t", file->key, (long long)file->size,
                   (long long)file->written_ns,
                   proof->fault == RES_FAULT_STRANGE ? STRANGE : DAMAGED);
    bn_text_plain(&l->body, why->message);
    bn_text_putc(&l->body, '\n');
    l->lines++;
    l->found_damaged = true;
}

void res_listing_save(res_listing *l, bn_status *st)
{
    char first[FIRST_LINE];
    bn_text path = {0}, whole = {0};
    for (size_t length; old_line(l, &length); l->old_lines++)
        l->line += length;
    /* The index on disk has these lines already, or there are none. */
    if ((l->old && l->kept == l->lines && l->kept == l->old_lines) || (!l->old && l->lines == 0))
        return;
    first_line(l->body.data, l->body.length, first);
    bn_text_puts(&whole, first);
    bn_text_append(&whole, l->body.data, l->body.length);
    bn_text_printf(&path, "%s/%s", l->store, RES_INDEX_FILE);
    if (bn_file_write_own(path.data, whole.data, whole.length, st) != BN_OK)
        bn_context(st, "%s", l->distrust.code != BN_OK ? l->distrust.message : "index");
    bn_text_free(&path);
    bn_text_free(&whole);
}
