/*
 * read.c - the folder of a recording.
 */
#define _GNU_SOURCE
#include "results/recordings/recordings_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS     "events"
#define ABOUT      "recording.json"
#define MOST_ABOUT ((off_t)16 << 20)
#define MOST_NAME  63
#define DAMAGED    (sizeof((rec_recording *)NULL)->damaged / sizeof(struct rec_damaged))

/* The memory of a process besides its arrays. */
typedef struct owned {
    bn_arena *memory;
    const char **command, **frameworks, **errors, **lies, **notes;
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
    free(p->delays);
    free(p->marks);
    free(p->pauses);
    rec_profile_free(&p->profile);
    if (own) {
        free(own->command);
        free(own->frameworks);
        free(own->errors);
        free(own->lies);
        free(own->notes);
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
    rec_map_free(&b->mark_names);
    free(b->completions);
    free(b->beliefs);
}

/* Takes all events of STREAM into B. LATER: of a segment. */
static bn_code take_events(rec_stream *stream, rec_builder *b, bool later, bn_status *st)
{
    rec_item item;
    bool more = true;
    bn_code code = BN_OK;
    while (code == BN_OK && more && !b->failed) {
        code = rec_stream_next(stream, &item, &more, st);
        if (code != BN_OK || !more)
            break;
        if (later && b->in_seam)
            rec_build_seam_ends(b, item.event.time);
        if (item.event.time > b->latest_ns && item.event.time <= REC_MOST_TIME)
            b->latest_ns = item.event.time;
        if (!rec_build_event(b, &item))
            stream->skipped += 1 + (uint64_t)item.event.more;
    }
    return code;
}

static uint64_t time_of(uint64_t time)
{
    return time <= REC_MOST_TIME ? time : REC_MOST_TIME;
}

/* Takes what was kept of segments that are gone. */
static bn_code take_kept(rec_stream *stream, const rec_segments *s, rec_builder *b, bn_status *st)
{
    rec_dropped *dropped = &b->process->dropped;
    if (s->kept < 0 || s->head.first == 1)
        return BN_OK;
    rec_build_seam_begins(b);
    dropped->events = s->head.dropped;
    dropped->from_ns = time_of(s->head.from_ns);
    dropped->to_ns = time_of(s->head.to_ns);
    bn_code code = rec_stream_go_on(stream, s->kept, "kept", sizeof s->head, s->head.bytes, st);
    return code == BN_OK ? take_events(stream, b, false, st) : code;
}

/* Takes the events that follow those of the first file, from the process's folder INSIDE. */
static bn_code take_segments(int inside, rec_stream *stream, rec_builder *b, bn_status *st)
{
    rec_segments segments;
    bn_code code = rec_segments_open(inside, &segments, st);
    if (code != BN_OK)
        return code;
    b->process->bytes += segments.bytes;
    code = take_kept(stream, &segments, b, st);
    for (size_t i = 0; code == BN_OK && i < segments.count; i++) {
        code = rec_stream_go_on(stream, segments.fd[i], "a segment of events", 0, UINT64_MAX, st);
        if (code == BN_OK)
            code = take_events(stream, b, true, st);
    }
    rec_segments_close(&segments);
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

/* Reads the events at FD, and those that follow them in the folder INSIDE, into P, whose memory is
 * there. */
static bn_code read_events(int inside, int fd, rec_process *p, bn_status *st)
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
        code = take_events(&stream, &b, false, st);
    }
    if (code == BN_OK && file.version >= RECORD_VERSION_SEGMENTS)
        code = take_segments(inside, &stream, &b, st);
    if (code == BN_OK && b.failed)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "%s: no memory for them", EVENTS);
    if (code == BN_OK) {
        rec_build_end(&b, file.main_thread);
        p->slots = stream.slots;
        p->skipped = stream.skipped;
        if (b.failed)
            code = bn_fail(st, BN_OUT_OF_MEMORY, "%s: no memory for them", EVENTS);
    }
    own->command = b.command;
    own->frameworks = b.frameworks;
    own->errors = b.errors;
    own->lies = b.lies;
    own->notes = b.notes;
    builder_free(&b);
    rec_stream_free(&stream);
    return code;
}

/* A file in the place of a process's folder; of other names it is unknown whose they are. */
static bool is_recorders(const char *name)
{
    const size_t pid = strspn(name, "0123456789");
    return pid > 0 && name[pid] == '-' && name[pid + 1] &&
           name[pid + 1 + strspn(name + pid + 1, "0123456789")] == '\0';
}

/* Opens the folder NAME of FOLDER. *INSIDE is negative where it is gone, or is no folder and not
 * called like one of a process. What else keeps it shut may keep a process's events in it. */
static bn_code open_process(int folder, const char *name, int *inside, bn_status *st)
{
    *inside = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*inside >= 0 || errno == ENOENT)
        return BN_OK;
    if (errno != ENOTDIR && errno != ELOOP)
        return bn_fail_errno(st, errno, "its folder");
    return is_recorders(name)
               ? bn_fail(st, BN_INVALID, "it is no folder, or a link, which is not followed")
               : BN_OK;
}

/* Opens the events in the open folder INSIDE, called NAME. *FD is negative where it has none, and
 * is not called like a recorder's. */
static bn_code open_events(int inside, const char *name, int *fd, uint64_t *bytes, bn_status *st)
{
    struct stat info;
    bn_status why = {.code = BN_OK};
    bn_code code = bn_open_at(inside, EVENTS, O_NOFOLLOW, fd, &info, &why);
    if (code == BN_NOT_FOUND && !is_recorders(name))
        return BN_OK;
    if (code == BN_OK && !S_ISREG(info.st_mode)) {
        close(*fd);
        *fd = -1;
        code = bn_fail(&why, BN_INVALID, "%s: not a regular file", EVENTS);
    }
    if (code != BN_OK)
        return bn_fail(st, code == BN_NOT_FOUND ? BN_FORMAT : code, "%s", why.message);
    *bytes = (uint64_t)info.st_size;
    return BN_OK;
}

/* Reads the process in the open folder INSIDE, called NAME, into *P; *FOUND is false where there is
 * none. */
static bn_code read_inside(int inside, const char *name, rec_process *p, bool *found, bn_status *st)
{
    int fd;
    owned *own = NULL;
    bn_code code = open_events(inside, name, &fd, &p->bytes, st);
    *found = code != BN_OK || fd >= 0;
    if (code != BN_OK || fd < 0)
        return code;
    p->owned = own = calloc(1, sizeof *own);
    if (own)
        own->memory = bn_arena_new(4096);
    p->folder = own && own->memory ? bn_arena_strdup(own->memory, name) : NULL;
    code = p->folder ? read_events(inside, fd, p, st) : bn_fail_errno(st, ENOMEM, "%s", EVENTS);
    close(fd);
    if (code == BN_OK)
        code = rec_profile_read(inside, &p->profile, st);
    if (code != BN_OK)
        process_free(p);
    return code;
}

/* Reads the process in the folder NAME into *P; *FOUND is false where there is none. */
static bn_code read_process(int folder, const char *name, rec_process *p, bool *found,
                            bn_status *st)
{
    int inside;
    *p = (rec_process){0};
    bn_code code = open_process(folder, name, &inside, st);
    *found = code != BN_OK || inside >= 0;
    if (inside >= 0) {
        code = read_inside(inside, name, p, found, st);
        close(inside);
    }
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

/* Reads the process NAME, or notes why it cannot. Only no memory is a failure. */
static bn_code add_process(rec_recording *r, const char *name, size_t *capacity, bn_status *st)
{
    bn_status own = {.code = BN_OK};
    bool found;
    if (!bn_reserve(&r->processes, r->process_count + 1, capacity, sizeof *r->processes))
        return bn_fail_errno(st, ENOMEM, "%s/%s", r->path, name);
    const bn_code code =
        read_process(r->folder, name, &r->processes[r->process_count], &found, &own);
    if (code == BN_OUT_OF_MEMORY) {
        if (st)
            *st = own;
        return bn_context(st, "%s/%s", r->path, name);
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
    for (const struct dirent *entry; code == BN_OK && (entry = bn_folder_next(list));)
        if (is_ours(entry->d_name) && strcmp(entry->d_name, EVENTS) != 0 &&
            strcmp(entry->d_name, ABOUT) != 0)
            code = add_process(r, entry->d_name, &capacity, st);
    if (code == BN_OK && errno != 0)
        code = bn_fail_errno(st, errno, "%s", r->path);
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
        if (!*about && json_error_code(&error) == json_error_out_of_memory)
            code = bn_fail(st, BN_OUT_OF_MEMORY, ABOUT ": no memory for it");
        else if (!*about)
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

/* Reads the description that bench record wrote, if there is one. Only want of memory fails. */
static bn_code read_about(rec_recording *r, bn_status *st)
{
    struct stat info;
    int fd;
    bn_status *why = &r->about_fault;
    bn_code code = bn_open_at(r->folder, ABOUT, O_NOFOLLOW, &fd, &info, why);
    if (code == BN_NOT_FOUND)
        *why = (bn_status){.code = BN_OK};
    if (fd >= 0) {
        code = S_ISREG(info.st_mode) ? parse_about(fd, info.st_size, &r->about, why)
                                     : bn_fail(why, BN_INVALID, ABOUT ": not a regular file");
        close(fd);
    }
    return code == BN_OUT_OF_MEMORY ? bn_fail(st, code, "%s: %s", r->path, why->message) : BN_OK;
}

/* The code for a process that cannot be read: BN_IO where the system refused it, else damage. */
static bn_code code_of(const struct rec_damaged *damaged)
{
    const bn_code code = damaged->why.code;
    return code == BN_INVALID ? BN_FORMAT : code;
}

/* No process could be read: fails with the reason of the first. */
static bn_code nothing(const rec_recording *r, bn_status *st)
{
    if (r->damaged_count == 0)
        return bn_fail(st, BN_NOT_FOUND,
                       "%s: no recording: no folder in it has a file '%s'; bench record makes one",
                       r->path, EVENTS);
    const struct rec_damaged *first = &r->damaged[0];
    const bool own = strcmp(first->name, ".") == 0;
    return bn_fail(st, code_of(first), "%s%s%s: %s", r->path, own ? "" : "/",
                   own ? "" : first->name, first->why.message);
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
    if (code == BN_OK)
        code = read_about(r, st);
    if (code != BN_OK) {
        rec_close(r);
        return code;
    }
    order_processes(r);
    *recording = r;
    return BN_OK;
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

/* The process that cannot be read and may be the one with PID; NULL: none is known. */
static const struct rec_damaged *damaged_of(const rec_recording *r, uint32_t pid)
{
    char begin[16];
    snprintf(begin, sizeof begin, "%u-", pid);
    for (size_t i = 0; i < r->damaged_count && i < DAMAGED; i++)
        if (pid == 0 || strncmp(r->damaged[i].name, begin, strlen(begin)) == 0)
            return &r->damaged[i];
    return NULL;
}

bn_code rec_check_whole(const rec_recording *recording, uint32_t pid, const char *how,
                        bn_status *st)
{
    const struct rec_damaged *one = damaged_of(recording, pid);
    /* A missing process may be in one of the unreadable folders. */
    if (!one && recording->damaged_count > 0 && !rec_process_find(recording, pid))
        one = &recording->damaged[0];
    if (!one)
        return BN_OK;
    return bn_fail(st, code_of(one), "%s/%s cannot be read: %s%s%s%s%s", recording->path, one->name,
                   one->why.message, how ? "; name " : "",
                   !how       ? ""
                   : pid == 0 ? "the process that is wanted"
                              : "another process",
                   how ? ", " : "", how ? how : "");
}
