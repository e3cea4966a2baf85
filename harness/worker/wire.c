/*
 * wire.c - the worker's end of the wire to the parent: JSON lines on descriptor 3.
 *
 * Progress is sent between the steps of a measurement. So most of it is dropped before anything is
 * written, and the rest is made on the stack. When the parent is gone, writing fails without a
 * message, and the worker ends by its parent-death signal.
 */
#define _GNU_SOURCE
#include "harness/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIRE_FD     3
#define INTERVAL_NS 100000000u

/* The last progress. */
static struct {
    char stage[64];
    uint64_t sent_ns;
} last;

/* A plugin may have changed that SIGPIPE is ignored. So the signal that this write may raise is
 * blocked and removed from the queue. */
static void write_line(const char *line, size_t length)
{
    sigset_t pipe_signal, before, waiting;
    struct timespec at_once = {0, 0};
    bool ours = true;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    if (sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE) == 1)
        ours = false; /* it was pending before */
    /* A plugin may have closed it, and the next file that is opened has its number. */
    if (!bn_surroundings_descriptor(WIRE_FD, "calling")) {
        cli_say("error: the plugin closed the descriptor on which the worker answers");
        _exit(CLI_EXIT_FAILED);
    }
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    /* A process that the plugin starts must not keep the wire open. */
    fcntl(WIRE_FD, F_SETFD, FD_CLOEXEC);
    while (length > 0) {
        ssize_t n = write(WIRE_FD, line, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE && ours)
            sigtimedwait(&pipe_signal, NULL, &at_once);
        if (n <= 0)
            break;
        line += n;
        length -= (size_t)n;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void worker_send_progress(const char *stage, int64_t done, int64_t of)
{
    char line[256];
    uint64_t now = bn_now_ns();
    if (strcmp(stage, last.stage) == 0 && now - last.sent_ns < INTERVAL_NS)
        return;
    last.sent_ns = now;
    snprintf(last.stage, sizeof last.stage, "%s", stage);
    /* The JSON is written by hand: quotes would end its text. */
    for (char *c = last.stage; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = ' ';
    int n =
        snprintf(line, sizeof line, "{\"progress\":{\"stage\":\"%s\",\"done\":%lld,\"of\":%lld}}\n",
                 last.stage, (long long)done, (long long)of);
    if (n > 0 && (size_t)n < sizeof line)
        write_line(line, (size_t)n);
}

static void write_object(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    bn_text line = {0};
    if (text) {
        /* In one piece: half a line would spoil the next. */
        bn_text_puts(&line, text);
        bn_text_putc(&line, '\n');
        write_line(line.data, line.length);
    }
    bn_text_free(&line);
    free(text);
    json_decref(object);
}

void worker_send_notice(const char *text)
{
    write_object(json_pack("{so}", "notice", res_json_text(text)));
}

void worker_send_result(json_t *result)
{
    write_object(json_pack("{so}", "result", result));
}

bn_code worker_await_turn(bn_status *st)
{
    char token;
    ssize_t n;
    write_object(json_pack("{sb}", "turn", 1));
    if (!bn_surroundings_descriptor(STDIN_FILENO, "calling"))
        return bn_fail(st, BN_PLUGIN, "the plugin closed the descriptor on which turns are given");
    do
        n = read(STDIN_FILENO, &token, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? BN_OK : bn_fail(st, BN_CANCELLED, "the process to take turns with has ended");
}

json_t *worker_failure_to_json(const bn_status *st)
{
    char text[sizeof st->message];
    snprintf(text, sizeof text, "%s", st->message);
    json_t *message = json_string(text);
    if (!message) {
        /* JSON is UTF-8; messages of plugins need not be. */
        for (char *c = text; *c; c++)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
        message = json_string(text);
    }
    return json_pack("{ss so}", "class", bn_code_name(st->code), "message", message);
}

void worker_send_failure(const bn_status *st)
{
    write_object(json_pack("{so}", "failure", worker_failure_to_json(st)));
}
