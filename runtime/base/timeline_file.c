/*
 * timeline_file.c - a timeline as a file that one process of a build writes and another reads:
 * head, names, spans, as they lie in memory. It is read as bytes from outside: a plugin shares the
 * writer's memory.
 */
#include "runtime/base/timeline_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC      "bench timeline 1"
/* Of a process: a step each microsecond for ten days. Those of all processes are added up. */
#define MOST_STEPS (INT64_C(1) << 40)

typedef struct head {
    char magic[32];
    uint64_t head_bytes, span_bytes, names, spans;
    bn_timeline_about about;
} head;

/* ---- writing ----------------------------------------------------------------------------- */

static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool bn_timeline_dump(const bn_timeline *t, int fd)
{
    const size_t count = __atomic_load_n(&t->count, __ATOMIC_ACQUIRE);
    head h = {.magic = MAGIC,
              .head_bytes = sizeof h,
              .span_bytes = sizeof(bn_span),
              .names = t->name_count,
              .spans = count,
              .about = t->about};
    return write_all(fd, &h, sizeof h) &&
           write_all(fd, t->names, t->name_count * sizeof *t->names) &&
           write_all(fd, t->spans, count * sizeof *t->spans);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* How many values WHAT has for KIND. */
static unsigned whats_of(unsigned kind)
{
    return kind == BN_SPAN_STEP ? BN_STEP_KINDS : kind == BN_SPAN_PART ? BN_PART_COUNT : 1;
}

/* The latest time in any span. */
static uint64_t last_time(const bn_timeline *t)
{
    uint64_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        last = t->spans[i].begin_ns > last ? t->spans[i].begin_ns : last;
        last = t->spans[i].end_ns > last ? t->spans[i].end_ns : last;
    }
    return last;
}

/* Whether all spans are complete. What had not ended when the process did ends last of all. */
static bool check_spans(bn_timeline *t)
{
    const uint64_t last = last_time(t);
    for (size_t i = 0; i < t->count; i++) {
        bn_span *span = &t->spans[i];
        if (span->kind >= BN_SPAN_COUNT || span->what >= whats_of(span->kind))
            return false;
        /* Its name was made while another thread's crash had this file written. */
        if (span->name >= t->name_count)
            span->name = NAME_OTHERS;
        if (span->end_ns == 0)
            span->end_ns = last;
        if (span->end_ns < span->begin_ns || span->begin_ns == 0)
            return false;
        /* An execution ends after its call began, or nobody knows when. */
        if (span->done.at_ns < span->begin_ns)
            span->done.at_ns = 0;
        span->done.handle = span->done.owner = NULL;
    }
    return true;
}

static bool is_count(int64_t steps)
{
    return steps >= 0 && steps <= MOST_STEPS;
}

static bool check_about(const bn_timeline_about *about)
{
    return is_count(about->steps_ran) && is_count(about->steps_shown);
}

/* Ends TEXT of SIZE bytes and makes it plain: half a character is no text for JSON or a profile. */
static void end_text(char *text, size_t size)
{
    char whole[sizeof((bn_timeline_about *)NULL)->title]; /* none is longer */
    memcpy(whole, text, size);
    whole[size - 1] = '\0';
    bn_plain(whole, text, size);
}

static void end_texts(bn_timeline *t)
{
    end_text(t->about.title, sizeof t->about.title);
    end_text(t->about.mode, sizeof t->about.mode);
    end_text(t->about.device, sizeof t->about.device);
    end_text(t->about.profile, sizeof t->about.profile);
    for (size_t i = 0; i < BN_TIMELINE_NAMES; i++)
        end_text(t->names[i], sizeof t->names[i]);
}

/* Whether DATA of SIZE bytes, which begins with a whole H, is what H says it is. */
static bool fits(const head *h, size_t size)
{
    const size_t rest = size - sizeof *h;
    return strncmp(h->magic, MAGIC, sizeof h->magic) == 0 && h->head_bytes == sizeof *h &&
           h->span_bytes == sizeof(bn_span) && h->names >= NAME_FIRST &&
           h->names <= BN_TIMELINE_NAMES && h->spans <= rest / sizeof(bn_span) &&
           rest == h->names * BN_TIMELINE_NAME + h->spans * sizeof(bn_span);
}

/* Makes *TIMELINE of DATA. */
static bn_code parse_timeline(const char *path, const char *data, size_t size,
                              bn_timeline **timeline, bn_status *st)
{
    head h;
    bn_timeline *t = NULL;
    if (size < sizeof h)
        return bn_fail(st, BN_FORMAT, "%s is no timeline", path);
    memcpy(&h, data, sizeof h);
    if (!fits(&h, size))
        return bn_fail(st, BN_FORMAT, "%s is no timeline, or one of another build", path);
    bn_code code = bn_timeline_new(h.spans, &t, st);
    if (code != BN_OK)
        return code;
    t->about = h.about;
    /* Bytes from outside may be no truth values. */
    t->about.full = *(const unsigned char *)&h.about.full != 0;
    t->about.simulated = *(const unsigned char *)&h.about.simulated != 0;
    t->count = h.spans;
    t->name_count = h.names;
    memcpy(t->names, data + sizeof h, h.names * BN_TIMELINE_NAME);
    memcpy(t->spans, data + sizeof h + h.names * BN_TIMELINE_NAME, h.spans * sizeof *t->spans);
    end_texts(t);
    if (!check_about(&t->about) || !check_spans(t)) {
        bn_timeline_free(t);
        return bn_fail(st, BN_FORMAT, "%s is a damaged timeline", path);
    }
    *timeline = t;
    return BN_OK;
}

bn_code bn_timeline_read(const char *path, bn_timeline **timeline, bn_status *st)
{
    char *data = NULL;
    size_t size = 0;
    bn_code code = bn_regular_read(path, &data, &size, st);
    if (code == BN_OK)
        code = parse_timeline(path, data, size, timeline, st);
    free(data);
    return code;
}
