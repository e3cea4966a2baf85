/*
 * supervisor.c - one job in one worker process, or two in two that take turns.
 *
 * The worker is this program again, in a process group of its own. It reads the request on its
 * standard input and answers on descriptor 3. Its standard output and error, on which plugins
 * write, go to a third pipe ("noise"), whose tail is kept. It dies with its parent, and so do the
 * processes that it started (strays.c). However it ends, the caller gets an outcome with a class
 * (ending.c).
 *
 * One loop serves the three pipes of each worker and the clock. None of them may block the others:
 * a worker can refuse to read, or write without end.
 */
#define _GNU_SOURCE
#include "harness/jobs/ending_priv.h"
#include "harness/jobs/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_rng.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_NS            100000000L
#define SECOND_NS          UINT64_C(1000000000)
#define TIMEOUT_GRACE_NS   (2 * SECOND_NS) /* from SIGTERM to SIGKILL */
#define INTERRUPT_GRACE_NS (3 * SECOND_NS)
#define CHUNK_BYTES        16384
#define LAST_CHUNKS        64                 /* read after the end: more than a pipe holds */
#define ANSWER_BYTES       ((size_t)64 << 20) /* a longer line is no answer */
#define MOST_WORKERS       2
#define REAP_ROUNDS        200 /* of JOB_SWEEP_MS each, for stray processes */

static volatile sig_atomic_t interrupts;

/* A worker and its answers so far. */
typedef struct worker {
    const job_order *job;
    job_outcome *outcome;
    pid_t pid;
    job_strays strays;
    int request, answers, noise; /* our ends; -1 once closed */
    char *text;                  /* of the request */
    size_t text_size, text_sent;
    bn_text line; /* of answers, not yet ended */
    bool too_long;
    job_noise output_tail;
    cli_rest rest; /* of output that is shown, cut within a character */
    char stage[64];
    bool failed, timed_out, cancelled;
    int notices;                /* shown so far */
    size_t unreadable;          /* lines that are no answers */
    char first_unreadable[100]; /* the first of these lines, made plain */
    uint64_t start_ns, term_ns; /* TERM_NS: when we sent SIGTERM, 0 before */
    bool killed;                /* by us, with SIGKILL */
    bool takes_turns;           /* it reads turns from its standard input */
    bool waiting;               /* for a turn, now */
    bool ended;                 /* and reaped: WAIT_STATUS is known */
    int wait_status;
} worker;

/* ---- signals ------------------------------------------------------------------- */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupts++;
}

void job_supervise_begin(void)
{
    /* No SA_RESTART: waiting for a worker ends at once. */
    struct sigaction act = {.sa_handler = on_interrupt};
    sigemptyset(&act.sa_mask);
    sigaddset(&act.sa_mask, SIGINT);
    sigaddset(&act.sa_mask, SIGTERM);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* Processes that a dead worker leaves become our children, so we can reap them. */
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

bool job_interrupted(void)
{
    return interrupts > 0;
}

/* ---- starting ------------------------------------------------------------------ */

static const char too_few[] =
    JOB_NO_START "too few file descriptors; raise their number with ulimit -n\n";
static const char unrunnable[] = JOB_NO_START "bench's own file cannot be run\n";

/* Ends a worker that cannot start; WHY are its last words. */
static void give_up(int fd, const char *why)
{
    (void)!write(fd, why, strlen(why));
    _exit(127);
}

/* The worker's side of fork. Never returns. It makes only async-signal-safe calls, for other
 * threads may have held locks. */
static void child(pid_t parent, int request, int answers, int noise)
{
    char self[] = "/proc/self/exe", name[] = "bench", word[] = "--worker";
    char *argv[] = {name, word, NULL};
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    if (getppid() != parent) /* it died before that call */
        _exit(127);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* If the program was started with closed descriptors, ours may be 0 to 3 themselves: all
     * are moved out of the way first. */
    const int last_words = noise;
    request = fcntl(request, F_DUPFD_CLOEXEC, 4);
    answers = fcntl(answers, F_DUPFD_CLOEXEC, 4);
    noise = fcntl(noise, F_DUPFD_CLOEXEC, 4);
    if (dup2(request, 0) < 0 || dup2(noise, 1) < 0 || dup2(noise, 2) < 0 || dup2(answers, 3) < 0)
        give_up(last_words, too_few);
    /* Descriptors that our caller left open must not stay open in a plugin. */
    close_range(4, ~0u, 0);
    execv(self, argv);
    give_up(2, unrunnable);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bn_code spawn(worker *w, bn_status *st)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    bn_code code = BN_OK;
    pid_t parent = getpid();
    json_object_set_new(w->job->request, JOB_BEGUN, json_integer((json_int_t)w->start_ns));
    w->text = json_dumps(w->job->request, JSON_COMPACT);
    if (!w->text)
        return bn_fail(st, BN_INVALID, "a request that is not JSON");
    w->text_size = strlen(w->text);
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        code = bn_fail_errno(st, errno, "pipes for a worker");
    if (code == BN_OK) {
        job_strays_mark(&w->strays);
        w->pid = fork();
        if (w->pid < 0)
            code = bn_fail_errno(st, errno, "starting a worker");
        if (w->pid == 0)
            child(parent, in[0], out[1], err[1]);
    }
    if (w->pid > 0)
        job_strays_watch(&w->strays);
    close_end(&in[0]);
    close_end(&out[1]);
    close_end(&err[1]);
    w->request = in[1];
    w->answers = out[0];
    w->noise = err[0];
    if (code != BN_OK)
        return code;
    setpgid(w->pid, w->pid); /* both sides do it, in either order */
    fcntl(w->request, F_SETFL, O_NONBLOCK);
    fcntl(w->answers, F_SETFL, O_NONBLOCK);
    fcntl(w->noise, F_SETFL, O_NONBLOCK);
    return BN_OK;
}

/* ---- talking ------------------------------------------------------------------- */

static bool again(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void write_request(worker *w)
{
    ssize_t n = write(w->request, w->text + w->text_sent, w->text_size - w->text_sent);
    if (n > 0)
        w->text_sent += (size_t)n;
    /* If the worker no longer reads, its end will say why. */
    if ((w->text_sent == w->text_size && !w->takes_turns) || (n <= 0 && !again(n)))
        close_end(&w->request);
}

static void read_failure(worker *w, const json_t *failure)
{
    const char *message = json_string_value(json_object_get(failure, "message"));
    const bn_code code = job_class_of(failure);
    /* We asked it to stop: that is why it fails. */
    if (w->term_ns)
        return;
    w->outcome->status = code < BN_CODE_COUNT ? code : BN_CRASH;
    snprintf(w->outcome->message, sizeof w->outcome->message, "%s", message ? message : "");
    w->failed = true;
}

static void note_unreadable(worker *w, const char *line)
{
    if (w->unreadable++ == 0)
        bn_plain(line, w->first_unreadable, sizeof w->first_unreadable);
}

/* An unreadable line may have been a damaged answer, which is then lost. */
static void warn_of_unreadable(const worker *w)
{
    if (w->unreadable == 0)
        return;
    cli_line_clear();
    cli_say("bench: skipped %zu line%s of a worker's answers that bench cannot read, the first: %s",
            w->unreadable, w->unreadable == 1 ? "" : "s", w->first_unreadable);
}

static void read_answer(worker *w, const char *line)
{
    /* A plugin shares the worker's memory, and could write the line. */
    const bool deep = bn_json_depth(line, strlen(line)) > BN_JSON_DEPTH;
    json_t *answer = deep ? NULL : json_loads(line, JSON_REJECT_DUPLICATES, NULL), *part;
    if ((part = json_object_get(answer, "progress"))) {
        const char *stage = json_string_value(json_object_get(part, "stage"));
        if (stage)
            snprintf(w->stage, sizeof w->stage, "%s", stage);
        job_progress_stage(w->job, w->stage, json_integer_value(json_object_get(part, "done")),
                           json_integer_value(json_object_get(part, "of")));
    } else if ((part = json_object_get(answer, "result"))) {
        json_decref(w->outcome->result);
        w->outcome->result = json_incref(part);
    } else if ((part = json_object_get(answer, "notice"))) {
        /* A worker sends one notice for each member at most; a plugin may have written more. */
        if (json_is_string(part) && w->notices++ < JOB_MOST_MEMBERS) {
            cli_line_clear();
            cli_say("bench: %s", json_string_value(part));
        }
    } else if (w->takes_turns && json_object_get(answer, "turn")) {
        w->waiting = true;
    } else if ((part = json_object_get(answer, "failure"))) {
        read_failure(w, part);
    } else {
        note_unreadable(w, line);
    }
    json_decref(answer);
}

/* Reads one chunk of answers; false when there is none now. */
static bool read_answers(worker *w)
{
    char bytes[CHUNK_BYTES];
    ssize_t n = read(w->answers, bytes, sizeof bytes);
    for (char *at = bytes, *end = bytes + (n > 0 ? n : 0); at < end;) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        w->too_long = w->too_long || w->line.length + length > ANSWER_BYTES;
        if (!w->too_long)
            bn_text_append(&w->line, at, length);
        at += length + (newline ? 1 : 0);
        if (!newline)
            continue;
        if (w->too_long)
            note_unreadable(w, "(a line that is too long)");
        else if (w->line.length)
            read_answer(w, w->line.data);
        bn_text_clear(&w->line);
        w->too_long = false;
    }
    if (n <= 0 && !again(n))
        close_end(&w->answers);
    return n > 0;
}

/* Reads one chunk of noise; false when there is none now. */
static bool read_noise(worker *w)
{
    char bytes[CHUNK_BYTES];
    ssize_t n = read(w->noise, bytes, sizeof bytes);
    if (n > 0) {
        job_noise_add(&w->output_tail, bytes, (size_t)n);
        if (w->job->verbose) {
            cli_line_clear();
            cli_pass(&w->rest, bytes, (size_t)n);
        }
    } else if (!again(n)) {
        cli_pass(&w->rest, NULL, 0);
        close_end(&w->noise);
    }
    return n > 0;
}

/* ---- ending -------------------------------------------------------------------- */

static void check_limits(worker *w)
{
    uint64_t now = bn_now_ns();
    uint64_t grace = w->timed_out ? TIMEOUT_GRACE_NS : INTERRUPT_GRACE_NS;
    if (!w->timed_out && interrupts > 0)
        w->cancelled = true;
    else if (w->job->timeout > 0 && (double)(now - w->start_ns) / 1e9 > w->job->timeout)
        w->timed_out = !w->cancelled;
    if (!w->cancelled && !w->timed_out)
        return;
    if (!w->term_ns) {
        w->term_ns = now;
        kill(-w->pid, SIGTERM);
    } else if (!w->killed && (now - w->term_ns > grace || interrupts > (w->timed_out ? 0 : 1))) {
        w->killed = true;
        kill(-w->pid, SIGKILL);
    }
}

/* Waits for the pipes of the COUNT workers LIST, a signal or a tenth of a second; then writes the
 * requests and reads the answers and the output that are ready. */
static void serve_pipes(worker *const *list, size_t count, const sigset_t *unblocked)
{
    struct pollfd fds[3 * MOST_WORKERS];
    /* Once its answers are closed a worker is about to end, and no pipe shows that. */
    struct timespec limit = {0, POLL_NS};
    for (size_t i = 0; i < count; i++) {
        const worker *w = list[i];
        struct pollfd *at = &fds[3 * i];
        at[0] = (struct pollfd){w->text_sent < w->text_size ? w->request : -1, POLLOUT, 0};
        at[1] = (struct pollfd){w->answers, POLLIN, 0};
        at[2] = (struct pollfd){w->noise, POLLIN, 0};
        if (!w->ended && w->answers < 0)
            limit.tv_nsec = POLL_NS / 20;
    }
    if (ppoll(fds, 3 * count, &limit, unblocked) <= 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (fds[3 * i].revents)
            write_request(list[i]);
        if (fds[3 * i + 1].revents)
            read_answers(list[i]);
        if (fds[3 * i + 2].revents)
            read_noise(list[i]);
    }
}

/* Kills the rest of the process group, and reaps its processes that became our children. */
static void kill_group(pid_t group)
{
    for (int round = 0; round < REAP_ROUNDS; round++) {
        kill(-group, SIGKILL);
        pid_t gone = waitpid(-group, NULL, WNOHANG);
        if (gone < 0 && errno != EINTR)
            return;
        if (gone == 0)
            poll(NULL, 0, JOB_SWEEP_MS);
    }
}

/* Whether W has ended. It stays a zombie until its group is killed, so that no other process can
 * get the group's number before. */
static bool has_ended(const worker *w)
{
    siginfo_t end = {0};
    return waitid(P_PID, (id_t)w->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid;
}

/* Reaps W, ends its stray processes, and reads what is left in its pipes. OTHER is the pid of the
 * other worker of a pair, where that still runs, or 0. */
static void reap(worker *w, pid_t other)
{
    kill(-w->pid, SIGKILL);
    while (waitpid(w->pid, &w->wait_status, 0) < 0 && errno == EINTR)
        ;
    kill_group(w->pid);
    job_strays_sweep(&w->strays, other, REAP_ROUNDS);
    for (int i = 0; i < LAST_CHUNKS && w->answers >= 0 && read_answers(w); i++)
        ;
    for (int i = 0; i < LAST_CHUNKS && w->noise >= 0 && read_noise(w); i++)
        ;
    w->ended = true;
}

/* Blocks SIGINT and SIGTERM outside of ppoll, so that a signal between checking and waiting ends
 * the waiting. Returns the mask to restore. */
static sigset_t block_interrupts(void)
{
    sigset_t block, unblocked;
    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigprocmask(SIG_BLOCK, &block, &unblocked);
    return unblocked;
}

/* Serves the worker until it has ended. */
static void run_to_end(worker *w)
{
    const sigset_t unblocked = block_interrupts();
    while (!has_ended(w)) {
        check_limits(w);
        serve_pipes(&w, 1, &unblocked);
    }
    reap(w, 0);
    sigprocmask(SIG_SETMASK, &unblocked, NULL);
}

/* ---- turns ---------------------------------------------------------------------- */

/* Gives W its turn. */
static void give_turn(worker *w)
{
    const ssize_t n = w->request >= 0 ? write(w->request, "t", 1) : -1;
    w->waiting = false;
    if (n != 1)
        close_end(&w->request); /* it is about to end */
}

/* Two workers, of which at most one runs at a time. In each round both have a turn, in random
 * order. */
typedef struct pair {
    worker *of[2]; /* the second starts once the first waits; its PID is 0 until then */
    int first;     /* index of the worker that began this round; -1: the next turn begins a round */
    gsl_rng *rng;
} pair;

/* Gives the next turn to a waiting worker, unless one has its turn. */
static void give_next_turn(pair *p)
{
    worker *a = p->of[0], *b = p->of[1];
    if ((a->pid && !a->ended && !a->waiting) || (b->pid && !b->ended && !b->waiting))
        return; /* one has its turn */
    if (a->ended || b->ended) {
        /* A worker that succeeded had all its turns; the other one gets those that it still needs.
         * After a failure the other one is cancelled. */
        worker *left = a->ended ? b : a, *other = a->ended ? a : b;
        if (left->ended || !left->waiting)
            return;
        if (other->wait_status == 0 && !other->failed)
            give_turn(left);
        else
            close_end(&left->request);
        left->waiting = false;
        return;
    }
    if (!b->pid)
        return;
    if (p->first < 0) {
        p->first = (int)gsl_rng_uniform_int(p->rng, 2);
        give_turn(p->of[p->first]);
    } else {
        give_turn(p->of[1 - p->first]);
        p->first = -1;
    }
}

/* ---- one job, or two --------------------------------------------------------------------- */

static worker *worker_new(const job_order *job, job_outcome *outcome)
{
    worker *w = bn_zalloc(1, sizeof *w);
    *outcome = (job_outcome){.status = BN_OK};
    w->job = job;
    w->outcome = outcome;
    w->request = w->answers = w->noise = w->strays.lifeline = -1;
    return w;
}

static void worker_free(worker *w)
{
    close_end(&w->request);
    close_end(&w->answers);
    close_end(&w->noise);
    job_strays_end(&w->strays);
    bn_text_free(&w->line);
    free(w->text);
    free(w);
}

static bn_code begin(worker *w, bn_status *st)
{
    w->start_ns = bn_now_ns();
    job_progress_begin(w->job);
    bn_code code = spawn(w, st);
    if (code == BN_OK)
        w->outcome->pid = w->pid;
    else
        cli_line_clear();
    return code;
}

static void finish(worker *w, int64_t oom_before)
{
    job_ending ending = {.wait_status = w->wait_status,
                         .failed = w->failed,
                         .cancelled = w->cancelled,
                         .timed_out = w->timed_out,
                         .killed = w->killed,
                         .out_of_memory = job_oom_kills() > oom_before,
                         .timeout = w->job->timeout,
                         .stage = w->stage,
                         .noise = &w->output_tail};
    /* The last line of a worker that ended in another way may be incomplete. */
    if (w->line.length && w->wait_status == 0)
        note_unreadable(w, w->line.data);
    warn_of_unreadable(w);
    w->outcome->unreadable = w->unreadable;
    job_ending_explain(&ending, w->outcome);
    /* Only a build of a plugin knows its options, presets of the simulated device among them, and
     * we load none. So its worker passes them first: a refusal at that stage is a usage error. */
    w->outcome->usage = w->outcome->status == BN_INVALID && strcmp(w->stage, JOB_LOADING) == 0;
    job_progress_end(w->job, w->outcome);
}

bn_code job_supervise(const job_order *job, job_outcome *outcome, bn_status *st)
{
    const int64_t oom_before = job_oom_kills();
    worker *w = worker_new(job, outcome);
    bn_code code = begin(w, st);
    if (code == BN_OK) {
        run_to_end(w);
        finish(w, oom_before);
    }
    worker_free(w);
    return code;
}

static pid_t alive(const worker *w)
{
    return w->pid && !w->ended ? w->pid : 0;
}

/* Serves both workers until they have ended. */
static bn_code run_pair_to_end(pair *p, bn_status *st)
{
    bn_code code = begin(p->of[0], st);
    const sigset_t unblocked = block_interrupts();
    while (code == BN_OK && !(p->of[0]->ended && (p->of[1]->ended || !p->of[1]->pid))) {
        for (int i = 0; i < 2; i++) {
            worker *w = p->of[i];
            if (!w->pid || w->ended)
                continue;
            if (has_ended(w))
                reap(w, alive(p->of[1 - i]));
            else
                check_limits(w);
        }
        if (!p->of[1]->pid && p->of[0]->waiting)
            code = begin(p->of[1], st);
        give_next_turn(p);
        serve_pipes(p->of, 2, &unblocked);
    }
    for (int i = 0; i < 2; i++)
        if (p->of[i]->pid && !p->of[i]->ended)
            reap(p->of[i], alive(p->of[1 - i]));
    sigprocmask(SIG_SETMASK, &unblocked, NULL);
    return code;
}

bn_code job_supervise_pair(const job_order jobs[2], uint64_t seed, job_outcome outcomes[2],
                           bn_status *st)
{
    const int64_t oom_before = job_oom_kills();
    pair p = {.first = -1, .rng = gsl_rng_alloc(gsl_rng_mt19937)};
    gsl_rng_set(p.rng, (unsigned long)seed);
    for (int i = 0; i < 2; i++) {
        p.of[i] = worker_new(&jobs[i], &outcomes[i]);
        p.of[i]->takes_turns = true;
    }
    bn_code code = run_pair_to_end(&p, st);
    for (int i = 0; i < 2 && code == BN_OK; i++) {
        if (p.of[i]->pid)
            finish(p.of[i], oom_before);
        else /* the first ended before it measured */
            outcomes[i].status = BN_CANCELLED;
    }
    for (int i = 0; i < 2; i++)
        worker_free(p.of[i]);
    gsl_rng_free(p.rng);
    return code;
}
