/*
 * slots.c - the slots of files of events, made events again. No event lies in two files.
 *
 * The file is read in pieces and never mapped: others may cut it meanwhile.
 */
#include "results/recordings/recordings_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* At least the longest event, which has 65,536 slots. */
#define WINDOW_BYTES ((size_t)8 << 20)
/* A recorder leaves no such hole: what stands behind it is not read. It ends files that somebody
 * made long without writing them. */
#define MOST_EMPTY   (((uint64_t)64 << 20) / RECORD_SLOT)

void rec_stream_free(rec_stream *stream)
{
    free(stream->window);
    free(stream->words);
    stream->window = NULL;
    stream->words = NULL;
}

/* Moves what is left to the window's front and reads until it is full. */
static bn_code refill(rec_stream *s, bn_status *st)
{
    memmove(s->window, s->window + s->at, s->have - s->at);
    s->have -= s->at;
    s->at = 0;
    while (s->have < WINDOW_BYTES && !s->ended) {
        const size_t room = WINDOW_BYTES - s->have;
        const ssize_t got =
            read(s->fd, s->window + s->have, s->left < room ? (size_t)s->left : room);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bn_fail_errno(st, errno, "%s", s->path);
        s->ended = got == 0;
        s->have += (size_t)got;
        s->left -= (uint64_t)got;
    }
    return BN_OK;
}

bn_code rec_stream_go_on(rec_stream *stream, int fd, const char *path, uint64_t from,
                         uint64_t bytes, bn_status *st)
{
    rec_stream *s = stream;
    s->fd = fd;
    s->path = path;
    s->left = bytes > from ? bytes - from : 0;
    s->have = s->at = 0;
    s->ended = false;
    s->empty = 0;
    s->begins = true;
    return lseek(fd, (off_t)from, SEEK_SET) < 0 ? bn_fail_errno(st, errno, "%s", path) : BN_OK;
}

bn_code rec_stream_begin(int fd, const char *path, rec_stream *stream, record_file *file,
                         bn_status *st)
{
    *stream =
        (rec_stream){.fd = fd, .path = path, .left = UINT64_MAX, .window = malloc(WINDOW_BYTES)};
    if (!stream->window)
        return bn_fail_errno(st, ENOMEM, "%s", path);
    bn_code code = refill(stream, st);
    if (code != BN_OK)
        return code;
    if (stream->have == 0)
        return bn_fail(st, BN_FORMAT,
                       "%s: it is empty: the recorder could not write (is the disk full?)", path);
    if (stream->have < sizeof *file)
        return bn_fail(st, BN_FORMAT, "%s: it ends within its first slot", path);
    memcpy(file, stream->window, sizeof *file);
    stream->at = sizeof *file;
    if (memcmp(file->magic, RECORD_MAGIC, sizeof file->magic) != 0)
        return bn_fail(st, BN_FORMAT, "%s: not a file of recorded events", path);
    if (file->version > RECORD_VERSION_SEGMENTS)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s: version %u, and this bench knows %d", path,
                       file->version, RECORD_VERSION_SEGMENTS);
    if (file->version < 1 || file->slot != RECORD_SLOT)
        return bn_fail(st, BN_FORMAT, "%s: version %u with slots of %u bytes", path, file->version,
                       file->slot);
    return BN_OK;
}

static bool is_empty(const uint8_t *slot)
{
    static const uint8_t zeros[RECORD_SLOT];
    return memcmp(slot, zeros, RECORD_SLOT) == 0;
}

/* Gathers the words of the COUNT further slots at SLOT; false where they are not what they should
 * be. */
static bool gather(rec_stream *s, const uint8_t *slot, uint16_t count, rec_item *item)
{
    size_t size = 0;
    for (uint32_t i = 1; i <= count; i++, slot += RECORD_SLOT) {
        record_more more;
        memcpy(&more, slot, sizeof more);
        const bool full = more.bytes == sizeof more.data;
        if (more.kind != RECORD_MORE || more.index != i || more.bytes == 0 ||
            more.bytes > sizeof more.data || (!full && i < count))
            return false;
        memcpy(s->words + size, more.data, more.bytes);
        size += more.bytes;
    }
    item->words = s->words;
    item->size = size;
    return true;
}

/* Counts the slot at hand as one that was skipped, and goes on. */
static void skip(rec_stream *s)
{
    s->skipped++;
    s->slots++;
    s->at += RECORD_SLOT;
}

/* The slot at hand is not empty, and what it needs is in the window if it is in the file. Makes an
 * event of it, or skips it. */
static bn_code take(rec_stream *s, rec_item *item, bool *more, bn_status *st)
{
    memcpy(&item->event, s->window + s->at, sizeof item->event);
    const uint16_t further = item->event.more;
    const size_t whole = (1 + (size_t)further) * RECORD_SLOT;
    item->words = NULL;
    item->size = 0;
    if (item->event.kind <= RECORD_MORE || item->event.kind >= RECORD_KINDS ||
        s->have - s->at < whole) {
        skip(s);
        return BN_OK;
    }
    if (!bn_reserve(&s->words, (size_t)further * RECORD_SLOT + 1, &s->words_capacity, 1))
        return bn_fail_errno(st, ENOMEM, "%s", s->path);
    if (!gather(s, s->window + s->at + RECORD_SLOT, further, item)) {
        skip(s);
        return BN_OK;
    }
    s->at += whole;
    s->slots += whole / RECORD_SLOT;
    *more = true;
    return BN_OK;
}

bn_code rec_stream_next(rec_stream *stream, rec_item *item, bool *more, bn_status *st)
{
    rec_stream *s = stream;
    bn_code code = BN_OK;
    *more = false;
    while (code == BN_OK && !*more && s->empty <= MOST_EMPTY) {
        if (s->have - s->at < WINDOW_BYTES / 2 && !s->ended)
            code = refill(s, st);
        if (code != BN_OK)
            break;
        if (s->have - s->at < RECORD_SLOT) {
            /* The file was cut within a slot. */
            if (s->have > s->at)
                skip(s);
            s->at = s->have;
            break;
        }
        if (is_empty(s->window + s->at)) {
            s->empty++;
            s->at += RECORD_SLOT;
            continue;
        }
        /* Slots that were taken and not finished stand before one that was. At the border of two
         * files an event that fitted into neither had taken them. */
        s->skipped += s->begins ? 0 : s->empty;
        s->slots += s->empty;
        s->begins = false;
        s->empty = 0;
        code = take(s, item, more, st);
    }
    return code;
}
