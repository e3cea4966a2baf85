/*
 * report.c - the worker's end of the report line: JSON lines on descriptor 3.
 *
 * Progress is written from a buffer on the stack, since it is told between the
 * steps of a measurement. When the parent is gone nobody reads; writing then
 * fails and the worker dies by its parent-death signal.
 */
#include "harness/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT_FD 3

static void write_line(const char *line, size_t length)
{
    while (length > 0) {
        ssize_t n = write(REPORT_FD, line, length);
        if (n <= 0)
            return;
        line += n;
        length -= (size_t)n;
    }
}

void hn_report_progress(const char *stage, int64_t done, int64_t of)
{
    char line[256];
    int n = snprintf(line, sizeof line, "{\"progress\":{\"stage\":\"%s\",\"done\":%lld,\"of\":%lld}}\n",
                     stage, (long long)done, (long long)of);
    if (n > 0 && (size_t)n < sizeof line)
        write_line(line, (size_t)n);
}

static void write_object(json_t *object)
{
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (line) {
        write_line(line, strlen(line));
        write_line("\n", 1);
    }
    free(line);
    json_decref(object);
}

void hn_report_result(json_t *result)
{
    write_object(json_pack("{so}", "result", result));
}

void hn_report_failure(const bn_status *st)
{
    /* Messages of plugins need not be UTF-8, which JSON wants. */
    json_t *message = json_string(st->message);
    if (!message)
        message = json_string("a message that is not text");
    write_object(json_pack("{s{ss so}}", "failure", "class", bn_code_name(st->code), "message",
                           message));
}
