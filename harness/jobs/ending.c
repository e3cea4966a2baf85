/*
 * ending.c - how a worker ended: the class of its failure and a message, by its answers, its wait
 * status and its last words.
 */
#define _GNU_SOURCE
#include "harness/jobs/ending_priv.h"
#include "harness/jobs/jobs.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define WORDS_BYTES 301

/* ---- last words -------------------------------------------------------------- */

void job_noise_add(job_noise *noise, const char *bytes, size_t size)
{
    while (size > 0) {
        size_t at = noise->written % JOB_NOISE_BYTES;
        size_t part = size < JOB_NOISE_BYTES - at ? size : JOB_NOISE_BYTES - at;
        memcpy(noise->bytes + at, bytes, part);
        noise->written += part;
        bytes += part;
        size -= part;
    }
}

/* The ring from its oldest byte, terminated (malloc). */
static char *unroll(const job_noise *noise)
{
    bool full = noise->written > JOB_NOISE_BYTES;
    size_t length = full ? JOB_NOISE_BYTES : noise->written;
    size_t oldest = full ? noise->written % JOB_NOISE_BYTES : 0;
    char *text = bn_alloc(length + 1);
    memcpy(text, noise->bytes + oldest, length - oldest);
    memcpy(text + length - oldest, noise->bytes, oldest);
    /* Zero bytes of a torn write must not hide what follows them. */
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[length] = '\0';
    return text;
}

static bool looks_like_error(const char *line)
{
    static const char *const words[] = {
        "error",  "fail",      "fatal",  "abort",   "assert",        "exception", "terminate",
        "cannot", "could not", "unable", "invalid", "out of memory", "exhausted", "overflow"};
    /* Frames and headings of a stack trace come after the line that matters. */
    if (line[0] == '@' || line[0] == '#' || strncmp(line, "***", 3) == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(line, words[i]))
            return true;
    return false;
}

/* A line of a plugin as text that a message and JSON can hold. */
static void copy_words(const char *line, char *text, size_t size)
{
    size_t length = strlen(line) < size - 1 ? strlen(line) : size - 1;
    bool cut = line[length] != '\0';
    memcpy(text, line, length);
    text[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)text[i]))
            text[i] = ' ';
    /* The cut may have split a character. */
    while (cut && length > 0 && ((unsigned char)line[length] & 0xC0) == 0x80)
        text[--length] = '\0';
    json_t *valid = json_string(text);
    for (size_t i = 0; !valid && i < length; i++)
        if ((unsigned char)text[i] >= 0x80)
            text[i] = '?';
    json_decref(valid);
}

void job_noise_last_words(const job_noise *noise, char *text, size_t size)
{
    text[0] = '\0';
    char *all = unroll(noise);
    bool found = false;
    /* Backwards: the first line that fits is the last one written. */
    for (char *end = all + strlen(all); end && !found;) {
        *end = '\0';
        char *newline = memrchr(all, '\n', (size_t)(end - all));
        char *line = newline ? newline + 1 : all;
        for (char *last = end; last > line && isspace((unsigned char)last[-1]);)
            *--last = '\0';
        line += strspn(line, " \t\r");
        found = looks_like_error(line);
        if (found || (line[0] && !text[0]))
            copy_words(line, text, size);
        end = newline;
    }
    free(all);
}

/* ---- memory ------------------------------------------------------------------ */

/* The number after KEY in a file of "key number" lines; -1 when there is none. */
static int64_t counter_in(const char *path, const char *key)
{
    char row[256], name[64];
    int64_t value, found = -1;
    FILE *f = fopen(path, "re");
    while (f && found < 0 && fgets(row, sizeof row, f))
        if (sscanf(row, "%63s %" SCNd64, name, &value) == 2 && strcmp(name, key) == 0)
            found = value;
    if (f)
        fclose(f);
    return found;
}

int64_t job_oom_kills(void)
{
    char row[PATH_MAX], path[PATH_MAX + 64];
    int64_t kills = -1;
    FILE *f = fopen("/proc/self/cgroup", "re");
    /* The counter of our own group, if there is one, leaves out what happens to others. */
    while (f && kills < 0 && fgets(row, sizeof row, f)) {
        row[strcspn(row, "\n")] = '\0';
        if (strncmp(row, "0::", 3) != 0)
            continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events", row + 3);
        kills = counter_in(path, "oom_kill");
    }
    if (f)
        fclose(f);
    return kills >= 0 ? kills : counter_in("/proc/vmstat", "oom_kill");
}

/* ---- its own answer ---------------------------------------------------------- */

bn_code job_class_of(const json_t *object)
{
    const char *class = json_string_value(json_object_get(object, "class"));
    const bn_code code = class ? bn_code_from_name(class) : BN_CODE_COUNT;
    return code == BN_OK ? BN_CODE_COUNT : code;
}

/* ---- explaining ----------------------------------------------------------------- */

static void explain_signal(const job_ending *e, job_outcome *o, const char *when)
{
    int number = WTERMSIG(e->wait_status);
    bool outside = number == SIGKILL && !e->killed;
    o->status = outside && e->out_of_memory ? BN_OUT_OF_MEMORY : BN_CRASH;
    if (o->status == BN_OUT_OF_MEMORY)
        snprintf(o->message, sizeof o->message,
                 "worker was killed by signal 9: the kernel was out of memory, %s", when);
    else if (outside)
        snprintf(o->message, sizeof o->message, "worker was killed by signal 9 from outside, %s",
                 when);
    else
        snprintf(o->message, sizeof o->message, "worker was killed by signal %d (%s), %s", number,
                 strsignal(number), when);
}

void job_ending_explain(const job_ending *e, job_outcome *o)
{
    char when[96], words[WORDS_BYTES];
    bool ended_well = WIFEXITED(e->wait_status) && WEXITSTATUS(e->wait_status) == 0;
    snprintf(when, sizeof when, "while %s",
             o->result     ? "ending, after its result"
             : e->stage[0] ? e->stage
                           : "starting");
    if (e->failed)
        return;
    /* {"more": true}: the result was not the last. */
    const bool more = json_is_true(json_object_get(o->result, "more"));
    if (o->result && !more && (ended_well || e->cancelled)) {
        /* The result is complete, even if we asked the worker to stop in the meantime. */
        o->status = BN_OK;
        return;
    }
    if (e->cancelled) {
        o->status = BN_CANCELLED;
        snprintf(o->message, sizeof o->message, "interrupted %s", when);
        return;
    }
    if (e->timed_out) {
        o->status = BN_TIMEOUT;
        snprintf(o->message, sizeof o->message, "still running after %g s (--timeout), last %s",
                 e->timeout, when);
    } else if (WIFSIGNALED(e->wait_status)) {
        explain_signal(e, o, when);
    } else {
        o->status = BN_CRASH;
        snprintf(o->message, sizeof o->message, "worker ended with code %d%s, %s",
                 WEXITSTATUS(e->wait_status), o->result ? "" : " without a result", when);
    }
    job_noise_last_words(e->noise, words, sizeof words);
    if (strncmp(words, JOB_NO_START, strlen(JOB_NO_START)) == 0) {
        /* The worker never started, so its exit code is no failure of the plugin. */
        o->status = BN_IO;
        snprintf(o->message, sizeof o->message, "%s", words + strlen("error: "));
        return;
    }
    /* bn_alloc in the worker, or in the simulated device, which has a copy of it. */
    if (WIFEXITED(e->wait_status) && WEXITSTATUS(e->wait_status) == BN_OUT_OF_MEMORY_EXIT &&
        strstr(words, BN_OUT_OF_MEMORY_LINE))
        o->status = BN_OUT_OF_MEMORY;
    size_t length = strlen(o->message);
    if (words[0])
        snprintf(o->message + length, sizeof o->message - length, "; its last output: %s", words);
}
