/*
 * supervisor.c - one job in one worker process.
 *
 * The worker is this program again, in a process group of its own, with the
 * request on its standard input, reports on descriptor 3 and its noise (plugins
 * write to standard error) in a pipe whose tail is kept. It dies with its
 * parent. However it ends, the caller gets an outcome with a class.
 */
#define _GNU_SOURCE
#include "harness/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOISE_BYTES 65536
#define POLL_MS     100
#define GRACE_NS    2000000000u /* from SIGTERM to SIGKILL */

static volatile sig_atomic_t interrupts;

/* A worker and what it has said so far. */
typedef struct worker {
    const hn_job *job;
    hn_outcome *outcome;
    pid_t pid;
    int reports, noise; /* our ends; -1 once closed */
    bn_text line;       /* of reports, not yet ended */
    char tail[NOISE_BYTES + 1];
    size_t tail_length;
    char stage[64];
    bool failed;        /* reported a failure */
    bool timed_out, cancelled;
    uint64_t start_ns, term_ns; /* TERM_NS: when SIGTERM was sent */
    bool killed;        /* by us */
} worker;

/* ---- signals ---------------------------------------------------------------------- */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupts++;
}

void hn_supervisor_begin(void)
{
    struct sigaction act = {.sa_handler = on_interrupt};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL); /* no SA_RESTART: poll returns at once */
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool hn_interrupted(void)
{
    return interrupts > 0;
}

/* ---- starting ---------------------------------------------------------------------- */

static void child(int request, int reports, int noise)
{
    char self[] = "/proc/self/exe", name[] = "bench", word[] = "--worker";
    char *argv[] = {name, word, NULL};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Reports may sit on a number below 3 or on 3 itself; move all out of the way. */
    request = fcntl(request, F_DUPFD_CLOEXEC, 10);
    reports = fcntl(reports, F_DUPFD_CLOEXEC, 10);
    noise = fcntl(noise, F_DUPFD_CLOEXEC, 10);
    if (dup2(request, 0) < 0 || dup2(noise, 1) < 0 || dup2(noise, 2) < 0 || dup2(reports, 3) < 0)
        _exit(127);
    execv(self, argv);
    _exit(127);
}

static bn_code start(worker *w, int *request, bn_status *st)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    bn_code code = BN_OK;
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        code = bn_fail_errno(st, errno, "pipes for a worker");
    if (code == BN_OK) {
        w->pid = fork();
        if (w->pid < 0)
            code = bn_fail_errno(st, errno, "starting a worker");
        if (w->pid == 0)
            child(in[0], out[1], err[1]);
    }
    int theirs[] = {in[0], out[1], err[1]}, ours[] = {in[1], out[0], err[0]};
    for (int i = 0; i < 3; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    if (code != BN_OK) {
        for (int i = 0; i < 3; i++)
            if (ours[i] >= 0)
                close(ours[i]);
        return code;
    }
    setpgid(w->pid, w->pid); /* both sides do it: whoever comes first */
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    *request = in[1];
    w->reports = out[0];
    w->noise = err[0];
    return BN_OK;
}

static void send_request(int fd, const json_t *request)
{
    /* A worker that is gone already shows as such when it is waited for. */
    if (json_dumpfd(request, fd, JSON_COMPACT) != 0)
        errno = 0;
    close(fd);
}

/* ---- listening ----------------------------------------------------------------------- */

static void take_report(worker *w, const char *line)
{
    json_t *report = json_loads(line, 0, NULL), *part;
    if ((part = json_object_get(report, "progress"))) {
        const char *stage = json_string_value(json_object_get(part, "stage"));
        snprintf(w->stage, sizeof w->stage, "%s", stage ? stage : "");
        hn_progress_stage(w->job, w->stage, json_integer_value(json_object_get(part, "done")),
                          json_integer_value(json_object_get(part, "of")));
    } else if ((part = json_object_get(report, "result"))) {
        json_decref(w->outcome->result);
        w->outcome->result = json_incref(part);
    } else if ((part = json_object_get(report, "failure"))) {
        const char *class = json_string_value(json_object_get(part, "class"));
        const char *message = json_string_value(json_object_get(part, "message"));
        bn_code code = class ? bn_code_from_name(class) : BN_CODE_COUNT;
        w->outcome->status = code == BN_CODE_COUNT || code == BN_OK ? BN_CRASH : code;
        snprintf(w->outcome->message, sizeof w->outcome->message, "%s", message ? message : "");
        w->failed = true;
    }
    json_decref(report);
}

static void read_reports(worker *w)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(w->reports, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] != '\n') {
                bn_text_putc(&w->line, bytes[i]);
                continue;
            }
            if (w->line.length && !w->line.failed)
                take_report(w, w->line.data);
            bn_text_clear(&w->line);
        }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close(w->reports);
        w->reports = -1;
    }
}

static void read_noise(worker *w)
{
    char bytes[4096];
    ssize_t n = -1;
    /* A pipeful at most: a plugin that never stops talking must not keep us from
     * the clock. */
    for (int i = 0; i < 16 && (n = read(w->noise, bytes, sizeof bytes)) > 0; i++) {
        size_t size = (size_t)n;
        if (w->job->verbose) {
            hn_progress_clear();
            fwrite(bytes, 1, size, stderr);
        }
        if (w->tail_length + size > NOISE_BYTES) { /* the end is what tells */
            size_t drop = w->tail_length + size - NOISE_BYTES;
            memmove(w->tail, w->tail + drop, w->tail_length - drop);
            w->tail_length -= drop;
        }
        memcpy(w->tail + w->tail_length, bytes, size);
        w->tail_length += size;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close(w->noise);
        w->noise = -1;
    }
}

/* ---- ending ----------------------------------------------------------------------------- */

static void stop(worker *w)
{
    uint64_t now = bn_now_ns();
    if (!w->term_ns) {
        w->term_ns = now;
        kill(-w->pid, SIGTERM);
    } else if (!w->killed && (now - w->term_ns > GRACE_NS || interrupts > 1)) {
        w->killed = true;
        kill(-w->pid, SIGKILL);
    }
}

static void check_limits(worker *w)
{
    double seconds = (double)(bn_now_ns() - w->start_ns) / 1e9;
    if (interrupts > 0)
        w->cancelled = true;
    else if (w->job->timeout > 0 && seconds > w->job->timeout)
        w->timed_out = true;
    if (w->cancelled || w->timed_out)
        stop(w);
}

/* Until the worker is gone; returns its wait status. */
static int attend(worker *w)
{
    int status = 0;
    while (true) {
        struct pollfd fds[] = {{w->reports, POLLIN, 0}, {w->noise, POLLIN, 0}};
        pid_t gone = waitpid(w->pid, &status, WNOHANG);
        if (gone == w->pid || (gone < 0 && errno == ECHILD))
            break;
        check_limits(w);
        if (poll(fds, 2, POLL_MS) < 0)
            continue;
        if (w->reports >= 0 && fds[0].revents)
            read_reports(w);
        if (w->noise >= 0 && fds[1].revents)
            read_noise(w);
        if (w->reports < 0 && w->noise < 0)
            poll(NULL, 0, 5); /* both ends closed: it is about to end */
    }
    kill(-w->pid, SIGKILL); /* whatever it started */
    if (w->reports >= 0)
        read_reports(w);
    if (w->noise >= 0)
        read_noise(w);
    return status;
}

/* The last line with text in what the worker wrote, "" if there is none. */
static const char *last_words(worker *w)
{
    char *end = w->tail + w->tail_length;
    while (end > w->tail && (unsigned char)end[-1] <= ' ')
        end--;
    *end = '\0';
    char *begin = end;
    while (begin > w->tail && begin[-1] != '\n')
        begin--;
    if (end - begin > 300)
        begin[300] = '\0';
    return begin;
}

static int64_t kernel_oom_kills(void)
{
    char name[64];
    long long value, found = -1;
    FILE *f = fopen("/proc/vmstat", "r");
    while (f && fscanf(f, "%63s %lld", name, &value) == 2)
        if (strcmp(name, "oom_kill") == 0)
            found = value;
    if (f)
        fclose(f);
    return found;
}

static void judge(worker *w, int status, int64_t oom_before)
{
    hn_outcome *o = w->outcome;
    const char *words = last_words(w);
    const char *colon = words[0] ? "; it last said: " : "";
    char *m = o->message;
    size_t size = sizeof o->message;
    if (w->cancelled) {
        o->status = BN_CANCELLED;
        snprintf(m, size, "interrupted while %s", w->stage[0] ? w->stage : "starting");
    } else if (w->timed_out) {
        o->status = BN_TIMEOUT;
        snprintf(m, size, "no end after %.0f s (--timeout), last while %s", w->job->timeout,
                 w->stage[0] ? w->stage : "starting");
    } else if (w->failed) {
        return;
    } else if (WIFSIGNALED(status)) {
        bool oom = WTERMSIG(status) == SIGKILL && kernel_oom_kills() > oom_before;
        o->status = oom ? BN_OUT_OF_MEMORY : BN_CRASH;
        snprintf(m, size, "worker killed by signal %d (%s)%s while %s%s%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), oom ? ", out of memory" : "",
                 w->stage[0] ? w->stage : "starting", colon, words);
    } else if (WEXITSTATUS(status) != 0 || !o->result) {
        o->status = BN_CRASH;
        snprintf(m, size, "worker ended with code %d and no result while %s%s%s",
                 WEXITSTATUS(status), w->stage[0] ? w->stage : "starting", colon, words);
    }
}

bn_code hn_supervise(const hn_job *job, hn_outcome *outcome, bn_status *st)
{
    int request;
    *outcome = (hn_outcome){.status = BN_OK};
    worker *w = calloc(1, sizeof *w);
    if (!w)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a worker");
    w->job = job;
    w->outcome = outcome;
    w->reports = w->noise = -1;
    w->start_ns = bn_now_ns();
    int64_t oom_before = kernel_oom_kills();
    hn_progress_begin(job);
    bn_code code = start(w, &request, st);
    if (code == BN_OK) {
        outcome->pid = w->pid;
        send_request(request, job->request);
        judge(w, attend(w), oom_before);
        hn_progress_end(job, outcome);
    }
    if (w->reports >= 0)
        close(w->reports);
    if (w->noise >= 0)
        close(w->noise);
    bn_text_free(&w->line);
    free(w);
    return code;
}
