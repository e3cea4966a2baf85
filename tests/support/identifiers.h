/*
 * identifiers.h - whether a message has the identifiers that a test wants in it: names, numbers,
 * paths. Its prose is no test's business.
 */
#ifndef BENCH_TESTS_IDENTIFIERS_H
#define BENCH_TESTS_IDENTIFIERS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* IDENTIFIERS: "option image|50|8", each of which must stand in MESSAGE. */
static inline bool has_identifiers(const char *message, const char *identifiers)
{
    while (*identifiers) {
        char one[256];
        const size_t length = strcspn(identifiers, "|");
        snprintf(one, sizeof one, "%.*s", (int)length, identifiers);
        if (!strstr(message, one))
            return false;
        identifiers += length + (identifiers[length] == '|');
    }
    return true;
}

#endif
