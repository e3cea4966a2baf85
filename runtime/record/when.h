/*
 * when.h - a moment at which recording starts or stops, as text: what bench record takes and the
 * recorder reads from its environment (RECORD_ENV_START, RECORD_ENV_STOP).
 *
 *   mark:NAME          the program marks that a step or phase of this name begins (mark.h)
 *   execution:N        before the process's Nth execution, from 1
 *   execution:N:NAME   of those of programs of this name
 *   time:SECONDS       since the process began
 *   signal             SIGUSR2
 */
#ifndef BENCH_RUNTIME_RECORD_WHEN_H
#define BENCH_RUNTIME_RECORD_WHEN_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum record_when_kind {
    RECORD_WHEN_NEVER = 0,
    RECORD_WHEN_MARK,
    RECORD_WHEN_EXECUTION,
    RECORD_WHEN_TIME,
    RECORD_WHEN_SIGNAL
};

typedef struct record_when {
    enum record_when_kind kind;
    const char *name; /* of a mark or program, within the text; "": any program */
    uint64_t number;  /* of an execution; nanoseconds */
} record_when;

#define RECORD_WHEN_MOST_SECONDS 1e9
#define RECORD_WHEN_LONGEST      1000 /* bytes of the text */

/* What follows PREFIX in TEXT; NULL: it does not begin so. */
static inline const char *record_when_behind(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static inline bool record_when_execution(const char *text, record_when *when)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno || number == 0 || (*end && *end != ':') ||
        (*end == ':' && !end[1]))
        return false;
    *when = (record_when){RECORD_WHEN_EXECUTION, *end ? end + 1 : "", number};
    return true;
}

static inline bool record_when_time(const char *text, record_when *when)
{
    char *end = NULL;
    errno = 0;
    const double seconds = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || errno || *end || !(seconds <= RECORD_WHEN_MOST_SECONDS))
        return false;
    *when = (record_when){RECORD_WHEN_TIME, "", (uint64_t)(seconds * 1e9)};
    return true;
}

/* TEXT, which must outlive WHEN, NULL and "" for never. False where it is none of the above. */
static inline bool record_when_parse(const char *text, record_when *when)
{
    const char *rest;
    *when = (record_when){RECORD_WHEN_NEVER, "", 0};
    if (!text || !*text)
        return true;
    if ((rest = record_when_behind(text, "mark:")) && *rest) {
        *when = (record_when){RECORD_WHEN_MARK, rest, 0};
        return true;
    }
    if ((rest = record_when_behind(text, "execution:")))
        return record_when_execution(rest, when);
    if ((rest = record_when_behind(text, "time:")))
        return record_when_time(rest, when);
    when->kind = strcmp(text, "signal") == 0 ? RECORD_WHEN_SIGNAL : RECORD_WHEN_NEVER;
    return when->kind == RECORD_WHEN_SIGNAL;
}

#endif
