/*
 * profile.c - reads the profile of a recorded process. All of its bytes are foreign.
 */
#define _GNU_SOURCE /* O_NOFOLLOW */

#include "runtime/profile/profile.h"
#include "results/profiles/profiles.h"
#include "results/stats/stats.h"
#include "runtime/record/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "profile"

/* ---- figures --------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const rt_device_span *a = left, *b = right;
    const int names = strcmp(a->name, b->name);
    if (names)
        return names;
    if (a->plane != b->plane)
        return a->plane < b->plane ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Drops incomplete executions from SPANS, which are in order of device and time: the last one of
 * a GPU lacks the kernels that ran when the profiler stopped. Returns how many stay. */
static size_t keep_whole(rt_device_span *spans, size_t count, double *room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        room[i] = (double)spans[i].kernels;
    const double kernels = res_median(room, count);
    for (size_t i = 0; i < count; i++) {
        const bool last = i + 1 == count || spans[i + 1].plane != spans[i].plane;
        if (!last || (double)spans[i].kernels >= kernels)
            spans[kept++] = spans[i];
    }
    return kept;
}

static void summarize(rt_device_span *spans, size_t all, double *room, bn_arena *memory,
                      rec_profile_program *out)
{
    const size_t count = keep_whole(spans, all, room);
    bn_text name = {0};
    bn_text_plain(&name, spans->name);
    out->name = bn_arena_strdup(memory, name.data ? name.data : "");
    bn_text_free(&name);
    out->executions = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        room[i] = (double)spans[i].busy_ns;
    const res_interval busy = res_median_interval(room, count);
    out->busy_ns = busy.estimate;
    out->low_ns = busy.low;
    out->high_ns = busy.high;
    for (size_t i = 0; i < count; i++)
        room[i] = (double)spans[i].duration_ns;
    out->span_ns = res_median(room, count);
    for (size_t i = 0; i < count; i++)
        room[i] = (double)spans[i].kernels;
    out->kernels = res_median(room, count);
}

/* Lines of executions name them "program(7)", with the number or a hash of the executable. */
static void cut_number(char *name)
{
    const size_t length = strlen(name);
    char *open = strrchr(name, '(');
    if (open && open > name && name[length - 1] == ')' &&
        strspn(open + 1, "0123456789abcdef") == length - 2 - (size_t)(open - name))
        *open = '\0';
}

static int by_start(const void *left, const void *right)
{
    const rec_profile_span *a = left, *b = right;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bn_code take_spans(rt_device_span *spans, size_t count, rec_profile *p, bn_status *st)
{
    double *room = malloc((count + 1) * sizeof *room);
    p->memory = bn_arena_new(4096);
    p->programs = malloc((count + 1) * sizeof *p->programs);
    p->spans = malloc((count + 1) * sizeof *p->spans);
    if (!room || !p->programs || !p->spans) {
        free(room);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a profile of %zu executions", count);
    }
    for (size_t i = 0; i < count; i++)
        cut_number(spans[i].name);
    if (count > 0)
        qsort(spans, count, sizeof *spans, by_name);
    for (size_t i = 0, n = 0; i < count; i += n) {
        for (n = 1; i + n < count && strcmp(spans[i].name, spans[i + n].name) == 0;)
            n++;
        rec_profile_program *program = &p->programs[p->program_count++];
        *program = (rec_profile_program){0};
        for (size_t k = i; k < i + n; k++)
            p->spans[p->span_count++] =
                (rec_profile_span){spans[k].start_ns, spans[k].duration_ns, spans[k].busy_ns,
                                   spans[k].kernels,  p->program_count - 1, spans[k].plane};
        summarize(spans + i, n, room, p->memory, program);
        p->executions += program->executions;
    }
    if (p->span_count > 0)
        qsort(p->spans, p->span_count, sizeof *p->spans, by_start);
    free(room);
    return BN_OK;
}

/* ---- the file --------------------------------------------------------------------------- */

static const char *reason(uint32_t why)
{
    switch (why) {
    case RECORD_NO_PROFILER:
        return "the plugin has no profiler";
    case RECORD_PROFILER_REFUSED:
        return "the plugin's profiler did not start: does the program profile itself?";
    case RECORD_PROFILE_LOST:
        return "the plugin's profiler returned nothing";
    case RECORD_PROFILE_RUNS:
        return "the program ended while the plugin's profiler ran";
    case RECORD_PROFILE_NO_ROOM:
        return "it was larger than 512 MiB, or than half of what bench record --limit had left";
    case RECORD_PROFILE_UNWRITTEN:
        return "its bytes could not be written";
    default:
        return "the file is damaged";
    }
}

static void refuse(rec_profile *p, const char *why)
{
    snprintf(p->why, sizeof p->why, "%s", why);
}

/* The last execution may go on while the profile is written. */
#define BEHIND_NS ((uint64_t)10000000000)

/* Whether COUNT spans may be of HEAD's profile: none is longer than that. */
static bool agree(const record_profile *head, const rt_device_span *spans, size_t count)
{
    const uint64_t most = head->end_ns - head->begin_ns + BEHIND_NS;
    for (size_t i = 0; i < count; i++)
        if (spans[i].duration_ns > most)
            return false;
    return true;
}

/* Reads HEAD, of a file with SIZE bytes behind it; *READABLE: there is a profile in them. Steps
 * while the profiler ran were slowed down whether or not there is. */
static bn_code read_head(const record_profile *head, uint64_t size, rec_profile *p, bool *readable,
                         bn_status *st)
{
    if (memcmp(head->magic, RECORD_PROFILE_MAGIC, sizeof head->magic) != 0 ||
        head->version != RECORD_VERSION || head->begin_ns > head->end_ns)
        return bn_fail(st, BN_FORMAT, FILE_NAME ": it is damaged, or of another version");
    /* Where it did not start, it slowed nothing down. */
    if (head->why != RECORD_NO_PROFILER && head->why != RECORD_PROFILER_REFUSED) {
        p->begin_ns = head->begin_ns;
        p->end_ns = head->end_ns;
    }
    p->plugin = head->plugin;
    p->asked_for = head->executions;
    if (head->why != RECORD_PROFILED)
        refuse(p, reason(head->why));
    else if (head->size != size)
        refuse(p, "the file is damaged");
    else if (size > RECORD_PROFILE_BYTES)
        refuse(p, "it is larger than any that bench writes");
    *readable = !p->why[0];
    return BN_OK;
}

/* Ops are more than the steps need: a profile without them, or with damaged ones, has none. */
static bn_code take_ops(const void *bytes, size_t size, rec_profile *p, bn_status *st)
{
    rt_op_time *list = NULL;
    size_t count = 0;
    bn_status why = {.code = BN_OK};
    if (rt_xspace_op_times(bytes, size, p->memory, &list, &count, &why) == BN_OUT_OF_MEMORY)
        return bn_fail(st, why.code, "%s", why.message);
    count = why.code == BN_OK ? count : 0;
    p->ops = bn_arena_zalloc(p->memory, (count + 1) * sizeof *p->ops);
    for (size_t i = 0; i < count; i++) {
        bn_text name = {0};
        if (list[i].ps == 0)
            continue;
        bn_text_plain(&name, list[i].name);
        p->ops[p->op_count++] = (rec_profile_op){
            bn_arena_strdup(p->memory, name.data ? name.data : ""), (double)list[i].ps / 1000};
        bn_text_free(&name);
    }
    return BN_OK;
}

/* The SIZE bytes behind HEAD. */
static bn_code read_profile(const record_profile *head, const void *bytes, size_t size,
                            rec_profile *p, bn_status *st)
{
    rt_device_span *spans = NULL;
    size_t count = 0;
    bn_code code = rt_xspace_device_spans(bytes, size, &spans, &count, st);
    if (code == BN_FORMAT) {
        refuse(p, "the plugin's profile cannot be read");
        code = BN_OK;
        if (st)
            *st = (bn_status){.code = BN_OK};
    } else if (code == BN_OK && count == 0) {
        refuse(p, "the plugin's profile has no executions of a device");
    } else if (code == BN_OK && !agree(head, spans, count)) {
        refuse(p, "an execution in it is longer than the profile");
    } else if (code == BN_OK) {
        code = take_spans(spans, count, p, st);
        if (code == BN_OK)
            code = take_ops(bytes, size, p, st);
    }
    free(spans);
    return code;
}

static bn_code read_file(int fd, uint64_t size, rec_profile *p, bn_status *st)
{
    record_profile head;
    char *bytes = NULL;
    bool readable = false;
    if (size < sizeof head)
        return bn_fail(st, BN_FORMAT, FILE_NAME ": it ends within its head");
    bn_code code = bn_regular_rest(fd, FILE_NAME, &head, sizeof head, st);
    if (code == BN_OK)
        code = read_head(&head, size - sizeof head, p, &readable, st);
    if (code != BN_OK || !readable)
        return code;
    code = bn_regular_all(fd, FILE_NAME, (size_t)head.size, &bytes, st);
    if (code == BN_OK)
        code = read_profile(&head, bytes, (size_t)head.size, p, st);
    free(bytes);
    return code;
}

bn_code rec_profile_read(int folder, rec_profile *profile, bn_status *st)
{
    struct stat info;
    bn_status why = {.code = BN_OK};
    int fd;
    *profile = (rec_profile){0};
    bn_code code = bn_open_at(folder, FILE_NAME, O_NOFOLLOW, &fd, &info, &why);
    if (code == BN_NOT_FOUND)
        return BN_OK;
    if (code != BN_OK)
        return bn_fail(st, code, "%s", why.message);
    profile->asked = true;
    code = S_ISREG(info.st_mode) ? read_file(fd, (uint64_t)info.st_size, profile, st)
                                 : bn_fail(st, BN_INVALID, FILE_NAME ": not a regular file");
    close(fd);
    if (code != BN_OK)
        rec_profile_free(profile);
    return code;
}

void rec_profile_free(rec_profile *profile)
{
    free(profile->programs);
    free(profile->spans);
    bn_arena_free(profile->memory);
    *profile = (rec_profile){0};
}

/* Devices' clocks are converted to the host's, with some error. */
#define CLOCK_SLACK_NS 10000000

static bool lies_within(const rec_profile *profile, const rec_profile_span *span, int64_t offset_ns)
{
    const uint64_t begin = span->start_ns + (uint64_t)offset_ns; /* may wrap: then it is outside */
    return begin + CLOCK_SLACK_NS >= profile->begin_ns && begin <= profile->end_ns &&
           span->duration_ns <= profile->end_ns - begin + CLOCK_SLACK_NS;
}

bool rec_profile_clock(const rec_profile *profile, uint64_t monotonic_ns, uint64_t epoch_ns,
                       int64_t *offset_ns)
{
    const int64_t offsets[] = {0, (int64_t)(monotonic_ns - epoch_ns)};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        bool fits = profile->span_count > 0;
        for (size_t k = 0; fits && k < profile->span_count; k++)
            fits = lies_within(profile, &profile->spans[k], offsets[i]);
        *offset_ns = offsets[i];
        if (fits)
            return true;
    }
    return false;
}

const rec_profile_program *rec_profile_find(const rec_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->program_count; i++)
        /* A profile's names are cut. */
        if (strncmp(profile->programs[i].name, name, sizeof((rt_device_span *)0)->name - 1) == 0)
            return &profile->programs[i];
    return NULL;
}
