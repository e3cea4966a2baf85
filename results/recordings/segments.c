/*
 * segments.c - the files of events behind the first one: the segments of a long run, and what was
 * kept of those that the recorder removed (runtime/record/format.h).
 *
 * A recorder may be at work meanwhile. All files are opened first; what is open stays what it is,
 * and where one was removed before, all are opened again.
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

#define KEPT  "kept"
#define TRIES 20

void rec_segments_close(rec_segments *segments)
{
    for (size_t i = 0; i < segments->count; i++)
        close(segments->fd[i]);
    if (segments->kept >= 0)
        close(segments->kept);
    segments->count = 0;
    segments->kept = -1;
}

/* Opens the regular file NAME; *FD is negative where there is none. */
static bn_code open_regular(int inside, const char *name, int *fd, uint64_t *bytes, bn_status *st)
{
    struct stat info;
    bn_status why = {.code = BN_OK};
    const bn_code code = bn_open_at(inside, name, O_NOFOLLOW, fd, &info, &why);
    if (code == BN_NOT_FOUND)
        return BN_OK;
    if (code != BN_OK)
        return bn_fail(st, code, "%s", why.message);
    *bytes = (uint64_t)info.st_size;
    if (S_ISREG(info.st_mode))
        return BN_OK;
    close(*fd);
    *fd = -1;
    return bn_fail(st, BN_INVALID, "%s: not a regular file", name);
}

/* Whether NAME is that of a segment: "events.N", as a recorder writes N. */
static bool is_segment(const char *name, uint64_t *number)
{
    static const char begin[] = "events.";
    char *end = NULL;
    const char *digits = name + sizeof begin - 1;
    if (strncmp(name, begin, sizeof begin - 1) != 0 || digits[0] < '1' || digits[0] > '9')
        return false;
    errno = 0;
    *number = strtoull(digits, &end, 10);
    return errno == 0 && !*end && *number < UINT64_MAX;
}

/* The last segment in the folder INSIDE; 0: there is none. */
static bn_code last_segment(int inside, uint64_t *last, bn_status *st)
{
    DIR *list = bn_folder_list(inside);
    uint64_t number;
    *last = 0;
    if (!list)
        return bn_fail_errno(st, errno, "its folder");
    for (const struct dirent *entry; (entry = bn_folder_next(list));)
        if (is_segment(entry->d_name, &number) && number > *last)
            *last = number;
    const int error = errno;
    closedir(list);
    return error ? bn_fail_errno(st, error, "its folder") : BN_OK;
}

/* Reads the head at FD. *WHOLE is false where the recorder has not written one yet. */
static bn_code read_head(int fd, record_kept *head, bool *whole, bn_status *st)
{
    const ssize_t got = pread(fd, head, sizeof *head, 0);
    if (got < 0)
        return bn_fail_errno(st, errno, KEPT);
    *whole = got == sizeof *head;
    if (!*whole)
        return BN_OK;
    if (memcmp(head->magic, RECORD_KEPT_MAGIC, sizeof head->magic) != 0)
        return bn_fail(st, BN_FORMAT, KEPT ": not what a recorder kept");
    if (head->version > RECORD_VERSION_SEGMENTS)
        return bn_fail(st, BN_NOT_SUPPORTED, KEPT ": version %u, and this bench knows %d",
                       head->version, RECORD_VERSION_SEGMENTS);
    if (head->version < RECORD_VERSION_SEGMENTS || head->slot != RECORD_SLOT ||
        head->bytes < sizeof *head || head->bytes % RECORD_SLOT != 0 || head->first < 1)
        return bn_fail(st, BN_FORMAT, KEPT ": its head is damaged");
    return BN_OK;
}

/* Opens "kept", where the recorder has written its head. */
static bn_code open_kept(int inside, rec_segments *s, bn_status *st)
{
    uint64_t size = 0;
    bool whole = false;
    s->head = (record_kept){.first = 1};
    bn_code code = open_regular(inside, KEPT, &s->kept, &size, st);
    if (code != BN_OK || s->kept < 0)
        return code;
    code = read_head(s->kept, &s->head, &whole, st);
    if (code == BN_OK && whole && s->head.bytes > size)
        return bn_fail(st, BN_FORMAT, KEPT ": it ends before what its head counts");
    if (code == BN_OK && whole) {
        s->bytes += s->head.bytes;
        return BN_OK;
    }
    close(s->kept);
    s->kept = -1;
    s->head = (record_kept){.first = 1};
    return code;
}

/* Whether the recorder has removed segments since S was opened. */
static bool has_moved(int inside, const rec_segments *s)
{
    rec_segments now = {.kept = -1};
    bn_status why = {.code = BN_OK};
    const bool moved = open_kept(inside, &now, &why) == BN_OK && now.head.first != s->head.first;
    rec_segments_close(&now);
    return moved;
}

/* Opens all of them. BN_NOT_FOUND: one is missing. */
static bn_code open_all(int inside, rec_segments *s, bn_status *st)
{
    uint64_t last;
    bn_code code = open_kept(inside, s, st);
    if (code == BN_OK)
        code = last_segment(inside, &last, st);
    if (code == BN_OK && last >= s->head.first && last - s->head.first >= REC_SEGMENTS)
        code = bn_fail(st, BN_FORMAT, "it has more segments of events than a recorder leaves");
    for (uint64_t n = s->head.first; code == BN_OK && n <= last; n++) {
        char name[32];
        uint64_t bytes = 0;
        int fd = -1;
        snprintf(name, sizeof name, "events.%llu", (unsigned long long)n);
        code = open_regular(inside, name, &fd, &bytes, st);
        if (code == BN_OK && fd < 0)
            code = bn_fail(st, BN_NOT_FOUND, "%s is missing", name);
        if (fd >= 0)
            s->fd[s->count++] = fd;
        s->bytes += bytes;
    }
    return code;
}

bn_code rec_segments_open(int inside, rec_segments *segments, bn_status *st)
{
    bn_code code = BN_OK;
    for (int i = 0; i < TRIES; i++) {
        bn_status why = {.code = BN_OK};
        *segments = (rec_segments){.kept = -1};
        code = open_all(inside, segments, &why);
        const bool moved = has_moved(inside, segments);
        if (code != BN_OK || moved)
            rec_segments_close(segments);
        if (!moved)
            return code == BN_OK          ? code
                   : code == BN_NOT_FOUND ? bn_fail(st, BN_FORMAT, "%s", why.message)
                                          : bn_fail(st, code, "%s", why.message);
    }
    return bn_fail(st, BN_IO, "the recorder removes segments faster than they can be opened");
}
