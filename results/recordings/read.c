/*
 * read.c - the folder of a recording.
 */
#define _GNU_SOURCE
#include "results/recordings/recordings_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS     "events"
#define ABOUT      "recording.json"
#define MOST_ABOUT ((off_t)16 << 20)
#define MOST_NAME  63
#define DAMAGED    (sizeof((rec_recording *)NULL)->damaged / sizeof(struct rec_damaged))

/* What a process owns besides its arrays. */
typedef struct owned {
    bn_arena *memory;
    const char **command, **frameworks, **errors, **lies;
} owned;

static void process_free(rec_process *p)
{
    owned *own = p->owned;
    free(p->plugins);
    free(p->devices);
    free(p->threads);
    free(p->types);
    free(p->programs);
    free(p->executables);
    free(p->executable_devices);
    free(p->executions);
    free(p->spans);
    free(p->buffers);
    free(p->calls);
    free(p->operands);
    rec_profile_free(&p->profile);
    if (own) {
        free(own->command);
        free(own->frameworks);
        free(own->errors);
        free(own->lies);
        bn_arena_free(own->memory);
    }
    free(own);
    *p = (rec_process){0};
}

void rec_close(rec_recording *recording)
{
    if (!recording)
        return;
    for (size_t i = 0; i < recording->process_count; i++)
        process_free(&recording->processes[i]);
    free(recording->processes);
    json_decref(recording->about);
    if (recording->folder >= 0)
        close(recording->folder);
    free((char *)recording->path);
    free(recording);
}

/* ---- one process ------------------------------------------------------------------------ */

static void builder_free(rec_builder *b)
{
    rec_map_free(&b->buffers);
    rec_map_free(&b->executables);
    rec_map_free(&b->devices);
    rec_map_free(&b->threads);
    rec_map_free(&b->types);
    rec_map_free(&b->programs);
    rec_map_free(&b->number_executions);
    rec_map_free(&b->number_calls);
    free(b->completions);
    free(b->beliefs);
}

/* Takes all events of STREAM into B. */
static bn_code take_events(rec_stream *stream, rec_builder *b, bn_status *st)
{
    rec_item item;
    bool more = true;
    bn_code code = BN_OK;
    while (code == BN_OK && more && !b->failed) {
        code = rec_stream_next(stream, &item, &more, st);
        if (code == BN_OK && more && !rec_build_event(b, &item))
            stream->skipped += 1 + (uint64_t)item.event.more;
    }
    return code;
}

static void take_header(rec_process *p, const record_file *file)
{
    p->pid = file->pid;
    p->parent = file->parent;
    p->begin_ns = file->begin_ns;
    p->epoch_ns = file->epoch_ns;
    p->lost = file->lost;
    p->unseen = file->unseen;
    p->stop = file->stop <= RECORD_ERROR ? (enum record_stop)file->stop : RECORD_ERROR;
}

/* Reads the events at FD into P, whose memory is there. */
static bn_code read_events(int fd, rec_process *p, bn_status *st)
{
    owned *own = p->owned;
    rec_builder b = {.process = p,
                     .memory = own->memory,
                     .seed = bn_now_ns() ^ (uint64_t)(uintptr_t)own->memory};
    rec_stream stream;
    record_file file;
    bn_code code = rec_stream_begin(fd, EVENTS, &stream, &file, st);
    if (code == BN_OK) {
        take_header(p, &file);
        code = take_events(&stream, &b, st);
    }
    if (code == BN_OK && b.failed)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "%s: no memory for its events", p->folder);
    if (code == BN_OK) {
        rec_build_end(&b, file.main_thread);
        p->slots = stream.slots;
        p->skipped = stream.skipped;
        if (b.failed)
            code = bn_fail(st, BN_OUT_OF_MEMORY, "%s: no memory for its events", p->folder);
    }
    own->command = b.command;
    own->frameworks = b.frameworks;
    own->errors = b.errors;
    own->lies = b.lies;
    builder_free(&b);
    rec_stream_free(&stream);
    return code;
}

/* Opens the events of the process in the folder NAME of FOLDER. *FD is negative where it has none.
 */
static bn_code open_events(int folder, const char *name, int *fd, uint64_t *bytes, bn_status *st)
{
    struct stat info;
    bn_status ignored = {.code = BN_OK};
    int inside;
    *fd = -1;
    if (bn_folder_in(folder, name, &inside, &ignored) != BN_OK)
        return BN_OK;
    bn_code code = bn_open_at(inside, EVENTS, O_NOFOLLOW, fd, &info, st);
    close(inside);
    if (code == BN_NOT_FOUND) {
        if (st)
            *st = (bn_status){.code = BN_OK};
        return BN_OK;
    }
    if (code == BN_OK && !S_ISREG(info.st_mode)) {
        close(*fd);
        *fd = -1;
        return bn_fail(st, BN_INVALID, "%s: not a regular file", EVENTS);
    }
    *bytes = code == BN_OK ? (uint64_t)info.st_size : 0;
    return code;
}

static bn_code read_profile(int folder, const char *name, rec_profile *profile, bn_status *st)
{
    bn_status ignored = {.code = BN_OK};
    int inside;
    if (bn_folder_in(folder, name, &inside, &ignored) != BN_OK)
        return BN_OK;
    const bn_code code = rec_profile_read(inside, profile, st);
    close(inside);
    return code;
}

/* Reads the process in the folder NAME into *P; *FOUND is false where there is none. */
static bn_code read_process(int folder, const char *name, rec_process *p, bool *found,
                            bn_status *st)
{
    int fd;
    owned *own = NULL;
    *p = (rec_process){0};
    bn_code code = open_events(folder, name, &fd, &p->bytes, st);
    *found = code != BN_OK || fd >= 0;
    if (code != BN_OK || fd < 0)
        return code;
    p->owned = own = calloc(1, sizeof *own);
    if (own)
        own->memory = bn_arena_new(4096);
    p->folder = own && own->memory ? bn_arena_strdup(own->memory, name) : NULL;
    code = p->folder ? read_events(fd, p, st) : bn_fail_errno(st, ENOMEM, "%s", name);
    close(fd);
    if (code == BN_OK)
        code = read_profile(folder, name, &p->profile, st);
    if (code != BN_OK)
        process_free(p);
    return code;
}

/* ---- the folder ------------------------------------------------------------------------- */

/* Names that a recorder gives folders: "PID-TIME". What else is there is not ours. */
static bool is_ours(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length <= MOST_NAME && name[0] != '.' &&
           strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") ==
               length;
}

static void note_damage(rec_recording *r, const char *name, const bn_status *why)
{
    if (r->damaged_count < DAMAGED) {
        struct rec_damaged *damaged = &r->damaged[r->damaged_count];
        memcpy(damaged->name, name, strlen(name) + 1);
        damaged->why = *why;
    }
    r->damaged_count++;
}

/* Reads the process NAME, or notes that it is damaged. Only no memory is a failure. */
static bn_code add_process(rec_recording *r, const char *name, size_t *capacity, bn_status *st)
{
    bn_status own = {.code = BN_OK};
    bool found;
    if (!bn_reserve(&r->processes, r->process_count + 1, capacity, sizeof *r->processes))
        return bn_fail_errno(st, ENOMEM, "%s", name);
    const bn_code code =
        read_process(r->folder, name, &r->processes[r->process_count], &found, &own);
    if (code == BN_OUT_OF_MEMORY) {
        if (st)
            *st = own;
        return code;
    }
    if (code != BN_OK)
        note_damage(r, name, &own);
    else if (found)
        r->process_count++;
    return BN_OK;
}

static bn_code add_processes(rec_recording *r, bn_status *st)
{
    size_t capacity = 0;
    DIR *list = bn_folder_list(r->folder);
    if (!list)
        return bn_fail_errno(st, errno, "%s", r->path);
    bn_code code = BN_OK;
    for (const struct dirent *entry; code == BN_OK && (entry = readdir(list));)
        if (is_ours(entry->d_name) && strcmp(entry->d_name, EVENTS) != 0 &&
            strcmp(entry->d_name, ABOUT) != 0)
            code = add_process(r, entry->d_name, &capacity, st);
    closedir(list);
    /* One process's own folder. */
    if (code == BN_OK && r->process_count == 0 && r->damaged_count == 0)
        code = add_process(r, ".", &capacity, st);
    return code;
}

static int by_beginning(const void *a, const void *b)
{
    const rec_process *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return strcmp(x->folder, y->folder);
}

/* Processes in order of their beginning; programs know theirs. */
static void order_processes(rec_recording *r)
{
    if (r->process_count)
        qsort(r->processes, r->process_count, sizeof *r->processes, by_beginning);
    for (size_t i = 0; i < r->process_count; i++)
        for (size_t k = 0; k < r->processes[i].program_count; k++)
            r->processes[i].programs[k].process = (uint32_t)i;
}

static bn_code parse_about(int fd, off_t size, json_t **about, bn_status *st)
{
    char *text = NULL;
    json_error_t error;
    bn_code code = size > MOST_ABOUT ? bn_fail(st, BN_FORMAT, ABOUT ": too large")
                                     : bn_regular_all(fd, ABOUT, (size_t)size, &text, st);
    if (code == BN_OK && bn_json_depth(text, (size_t)size) > BN_JSON_DEPTH)
        code = bn_fail(st, BN_FORMAT, ABOUT ": nested too deeply");
    if (code == BN_OK) {
        *about = json_loadb(text, (size_t)size, JSON_REJECT_DUPLICATES, &error);
        if (!*about)
            code = bn_fail(st, BN_FORMAT, ABOUT ": line %d: %s", error.line, error.text);
        else if (!json_is_object(*about))
            code = bn_fail(st, BN_FORMAT, ABOUT ": not an object");
    }
    free(text);
    if (code != BN_OK) {
        json_decref(*about);
        *about = NULL;
    }
    return code;
}

/* What bench record wrote, where it did. */
static void read_about(rec_recording *r)
{
    struct stat info;
    int fd;
    bn_status *st = &r->about_fault;
    const bn_code code = bn_open_at(r->folder, ABOUT, O_NOFOLLOW, &fd, &info, st);
    if (code == BN_NOT_FOUND)
        *st = (bn_status){.code = BN_OK};
    if (code != BN_OK)
        return;
    if (S_ISREG(info.st_mode))
        (void)!parse_about(fd, info.st_size, &r->about, st);
    else
        bn_fail(st, BN_INVALID, ABOUT ": not a regular file");
    close(fd);
}

/* There is no process to show: why. */
static bn_code nothing(const rec_recording *r, bn_status *st)
{
    if (r->damaged_count == 0)
        return bn_fail(st, BN_NOT_FOUND,
                       "%s: no recording: no folder in it has a file '%s'; bench record makes one",
                       r->path, EVENTS);
    const struct rec_damaged *first = &r->damaged[0];
    const bool newer = first->why.code == BN_NOT_SUPPORTED;
    return bn_fail(st, newer ? BN_NOT_SUPPORTED : BN_FORMAT, "%s: %s%s%s", r->path,
                   strcmp(first->name, ".") == 0 ? "" : first->name,
                   strcmp(first->name, ".") == 0 ? "" : ": ", first->why.message);
}

bn_code rec_open(const char *path, rec_recording **recording, bn_status *st)
{
    rec_recording *r = calloc(1, sizeof *r);
    *recording = NULL;
    if (!r)
        return bn_fail_errno(st, ENOMEM, "%s", path);
    r->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    r->path = strdup(path);
    bn_code code = BN_OK;
    if (r->folder < 0)
        code = errno == ENOTDIR ? bn_fail(st, BN_NOT_FOUND, "%s: not a folder", path)
                                : bn_fail_errno(st, errno, "%s", path);
    else if (!r->path)
        code = bn_fail_errno(st, ENOMEM, "%s", path);
    if (code == BN_OK)
        code = add_processes(r, st);
    if (code == BN_OK && r->process_count == 0)
        code = nothing(r, st);
    if (code != BN_OK) {
        rec_close(r);
        return code;
    }
    order_processes(r);
    read_about(r);
    *recording = r;
    return BN_OK;
}

bn_code rec_check_whole(const rec_recording *recording, uint32_t pid, const char *how,
                        bn_status *st)
{
    const struct rec_damaged *first = &recording->damaged[0];
    if (recording->damaged_count == 0 || pid != 0)
        return BN_OK;
    return bn_fail(st, BN_FORMAT, "%s is damaged: %s; name the process that is wanted, %s",
                   first->name, first->why.message, how);
}

const rec_process *rec_process_find(const rec_recording *recording, uint32_t pid)
{
    const rec_process *best = NULL;
    for (size_t i = 0; i < recording->process_count; i++) {
        const rec_process *p = &recording->processes[i];
        if ((pid == 0 || p->pid == pid) && (!best || p->execution_count > best->execution_count))
            best = p;
    }
    return best;
}
