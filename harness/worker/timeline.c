/*
 * timeline.c - bench run --timeline in a worker: the noted steps, the plugin's profile of a few
 * steps after the rounds, on our clock, and the file for the parent. It is also written where the
 * parent ends the process, or a plugin crashes it.
 */
#include "harness/worker/measure_priv.h"
#include "runtime/profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Spans of an experiment in a process: 7 MB. */
#define MOST_SPANS     (1 << 17)
/* First steps of each kind that are noted. */
#define FIRST_STEPS    10
#define FIRST_LONG     3
/* A profile's clock may run a little faster or slower than ours. */
#define CLOCK_SLACK_NS 50000

/* ---- the file ---------------------------------------------------------------------------- */

/* The timelines of this process, for the signal handler. */
static struct {
    bn_timeline *timeline;
    int fd;
} open_files[JOB_MOST_MEMBERS];
static volatile sig_atomic_t open_count;

static void dump_all(int number)
{
    /* From the beginning: the process may have been writing it. */
    for (sig_atomic_t i = 0; i < open_count; i++)
        if (open_files[i].timeline && lseek(open_files[i].fd, 0, SEEK_SET) == 0)
            (void)bn_timeline_dump(open_files[i].timeline, open_files[i].fd);
    /* The handler was reset as it was called. */
    raise(number);
}

/* For the parent's SIGTERM, and crashes; a plugin may replace the handlers. */
static void catch_signals(void)
{
    static const int signals[] = {SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    const struct sigaction action = {.sa_handler = dump_all, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

static bn_code open_file(worker_member *m, size_t index, int64_t process, bn_status *st)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%06lld-%03zu-%ld" JOB_TIMELINE_END,
                                m->e.how.timeline, (long long)process, index, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof path)
        return bn_fail(st, BN_IO, "the name of the timeline's folder is too long");
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return bn_fail_errno(st, errno, "%s", path);
    open_files[open_count].timeline = m->timeline;
    open_files[open_count].fd = fd;
    open_count++;
    catch_signals();
    return BN_OK;
}

static void describe(worker_member *m, int64_t process)
{
    bn_timeline_about *about = bn_timeline_describe(m->timeline);
    job_experiment_title(&m->e, about->title, sizeof about->title);
    snprintf(about->mode, sizeof about->mode, "%s", m->e.what.mode);
    about->pid = getpid();
    about->thread = syscall(SYS_gettid);
    about->process = process;
    about->first = FIRST_STEPS;
    about->every = m->e.how.timeline_every;
}

bn_code worker_timeline_begin(worker_member *m, size_t index, const json_t *group, bn_status *st)
{
    const int64_t process = json_integer_value(json_object_get(group, "process"));
    if (!m->e.how.timeline)
        return BN_OK;
    bn_code code = bn_timeline_new(MOST_SPANS, &m->timeline, st);
    if (code != BN_OK)
        return code;
    describe(m, process);
    return open_file(m, index, process, st);
}

bn_code worker_timeline_write(worker_member *m, bn_status *st)
{
    bn_code code = BN_OK;
    for (sig_atomic_t i = 0; i < open_count; i++) {
        if (!open_files[i].timeline || open_files[i].timeline != m->timeline)
            continue;
        if (!bn_timeline_dump(m->timeline, open_files[i].fd))
            code = bn_fail_errno(st, errno, "writing a timeline");
        /* No signal writes it again. */
        open_files[i].timeline = NULL;
        close(open_files[i].fd);
    }
    return code;
}

/* ---- steps -------------------------------------------------------------------------------- */

void worker_timeline_before(worker_member *m, bn_step_kind kind, uint64_t number)
{
    bn_timeline_about *about = bn_timeline_describe(m->timeline);
    about->steps_ran += kind == BN_STEP_MEASURED;
    m->noted = bn_timeline_wants(m->timeline, number);
    if (!m->noted)
        return;
    bn_timeline_step_begin(m->timeline, kind, number);
    mode_set_timeline(m->s.mode, m->timeline);
}

void worker_timeline_after(worker_member *m, uint64_t begin_ns, uint64_t end_ns)
{
    if (!m->noted)
        return;
    mode_set_timeline(m->s.mode, NULL);
    bn_timeline_step_end(m->timeline, begin_ns, end_ns);
    m->noted = false;
}

/* ---- the plugin's clock --------------------------------------------------------------------- */

/* The offset to add to a profile's times, from LOW to HIGH. */
typedef struct clock_range {
    int64_t low, high;
    bool bounded[2];
} clock_range;

static void at_least(clock_range *r, int64_t value)
{
    r->low = r->bounded[0] && r->low > value ? r->low : value;
    r->bounded[0] = true;
}

static void at_most(clock_range *r, int64_t value)
{
    r->high = r->bounded[1] && r->high < value ? r->high : value;
    r->bounded[1] = true;
}

/* Executions run between their submission and their completion: pair by pair where the profile has
 * as many as were submitted, from span FROM of TIMELINE on; else as a whole. */
static clock_range range_of(const bn_timeline *t, size_t from, const rt_device_span *spans,
                            size_t count)
{
    clock_range r = {0};
    size_t executions = 0, n = 0;
    for (size_t i = from; i < bn_timeline_count(t); i++)
        executions += bn_timeline_at(t, i)->kind == BN_SPAN_EXECUTE;
    for (size_t i = from; i < bn_timeline_count(t); i++) {
        const bn_span *span = bn_timeline_at(t, i);
        if (span->kind != BN_SPAN_EXECUTE)
            continue;
        const bool pairs = executions == count;
        const rt_device_span *first = pairs ? &spans[n] : &spans[0];
        const rt_device_span *last = pairs ? &spans[n] : &spans[count - 1];
        const uint64_t done = bn_completion_time(&span->done);
        if (pairs || n == 0)
            at_least(&r, (int64_t)(span->begin_ns - first->start_ns));
        if (done > 0 && (pairs || n + 1 == executions))
            at_most(&r, (int64_t)(done - last->start_ns - last->duration_ns));
        n++;
    }
    return r;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The offset to add to the profile's times, and its source in WORDS; false: unknown. */
static bool match_clocks(const clock_range *r, int64_t *offset, char *words, size_t size)
{
    const int64_t of_day = clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_REALTIME);
    if (!r->bounded[0] || !r->bounded[1] || r->low - r->high > CLOCK_SLACK_NS) {
        snprintf(words, size, "its executions do not fit between their calls and completions");
        return false;
    }
    if (r->low <= 0 && r->high >= 0) {
        *offset = 0;
        snprintf(words, size, "its clock is the machine's monotonic clock");
    } else if (r->low <= of_day && r->high >= of_day) {
        *offset = of_day;
        snprintf(words, size, "its clock is the time of day");
    } else {
        *offset = r->low + (r->high - r->low) / 2;
        snprintf(words, size, "its clock was matched by calls and completions, to within %.1f us",
                 (double)llabs(r->high - r->low) / 2e3);
    }
    return true;
}

/* ---- the plugin's profile -------------------------------------------------------------------- */

static bn_code run_steps(worker_member *m, size_t steps, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < steps && code == BN_OK; i++) {
        const uint64_t begin = bn_now_ns();
        worker_timeline_before(m, BN_STEP_PROFILED, i);
        code = mode_step(m->s.mode, &m->s.call, NULL, st);
        worker_timeline_after(m, begin, bn_now_ns());
    }
    if (code == BN_OK)
        code = mode_drain(m->s.mode, st);
    return code;
}

/* Notes the executions of the profile XSPACE, and describes them in WORDS. */
static void note_profile(worker_member *m, size_t from, const void *xspace, size_t size,
                         char *words, size_t words_size)
{
    rt_device_span *spans = NULL;
    size_t count = 0;
    int64_t offset = 0;
    char how[160] = "";
    if (rt_xspace_device_spans(xspace, size, &spans, &count, NULL) != BN_OK || count == 0) {
        snprintf(words, words_size, "none: the plugin's profile has no executions of a device");
        free(spans);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (spans[i].start_ns > INT64_MAX / 4 || spans[i].duration_ns > INT64_MAX / 4) {
            snprintf(words, words_size, "none: the plugin's profile has impossible times");
            free(spans);
            return;
        }
    const clock_range range = range_of(m->timeline, from, spans, count);
    const bool matched = match_clocks(&range, &offset, how, sizeof how);
    snprintf(words, words_size, "%s%zu executions; %s", matched ? "" : "none: ", count, how);
    for (size_t i = 0; matched && i < count; i++) {
        const uint64_t begin = (uint64_t)((int64_t)spans[i].start_ns + offset);
        (void)bn_timeline_call(m->timeline, BN_SPAN_PROFILED, spans[i].name, 0, begin,
                               begin + spans[i].duration_ns);
    }
    free(spans);
}

static void profile(worker_member *m, char *words, size_t size)
{
    rt_profiler *profiler = NULL;
    void *xspace = NULL;
    size_t bytes = 0;
    bn_status st = {.code = BN_OK};
    const size_t from = bn_timeline_count(m->timeline);
    if (rt_profiler_start(m->s.plugin, false, &profiler, &st) != BN_OK) {
        snprintf(words, size, "none: %.*s", BN_FIT(st.message, 200));
        return;
    }
    worker_send_progress("profiling", 0, 0);
    bn_timeline_open(m->timeline, BN_SPAN_ANNOTATION, "profile");
    bn_code code = run_steps(m, m->step_ns > WORKER_LONG_STEP_NS ? FIRST_LONG : FIRST_STEPS, &st);
    bn_timeline_close(m->timeline, BN_SPAN_ANNOTATION);
    const bn_code finished = rt_profiler_finish(profiler, &xspace, &bytes, &st);
    if (code == BN_OK && finished == BN_OK)
        note_profile(m, from, xspace, bytes, words, size);
    else
        snprintf(words, size, "none: %.*s", BN_FIT(st.message, 200));
    free(xspace);
}

void worker_timeline_profile(worker_member *m)
{
    bn_timeline_about *about = m->timeline ? bn_timeline_describe(m->timeline) : NULL;
    if (!about)
        return;
    const rt_device_info *device = rt_client_device(m->s.client, 0);
    snprintf(about->device, sizeof about->device, "%.*s",
             (int)bn_utf8_fit(device->kind, sizeof about->device - 1), device->kind);
    about->simulated = worker_session_simulated(&m->s);
    if (strcmp(m->e.how.device_time, "auto") != 0)
        snprintf(about->profile, sizeof about->profile, "none: --device-time %s",
                 m->e.how.device_time);
    else if (about->full)
        snprintf(about->profile, sizeof about->profile, "none: there was no room for its steps");
    else
        profile(m, about->profile, sizeof about->profile);
}
