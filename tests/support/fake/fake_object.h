/*
 * fake_object.h - the part of fake_pjrt.c that counts its objects, reads its
 * orders from the environment and makes its errors.
 */
#ifndef BENCH_TESTS_FAKE_OBJECT_H
#define BENCH_TESTS_FAKE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#define EXPORT __attribute__((visibility("default")))

struct PJRT_Error {
    PJRT_Error_Code code;
    char message[200];
};

static _Atomic int64_t live_objects;

/* Objects not yet given back. */
EXPORT int64_t FakePjrtLive(void);
int64_t FakePjrtLive(void)
{
    return atomic_load(&live_objects);
}

static void *object_new(size_t size)
{
    void *object = calloc(1, size);
    if (!object)
        abort();
    atomic_fetch_add(&live_objects, 1);
    return object;
}

static void object_free(void *object)
{
    if (!object)
        return;
    atomic_fetch_sub(&live_objects, 1);
    free(object);
}

/* ---- orders from the environment ---------------------------------------- */

/* The text behind WORD in FAKE_PJRT, or NULL when the word is not there. */
static const char *order_find(const char *word)
{
    const char *list = getenv("FAKE_PJRT");
    size_t length = strlen(word);
    while (list && *list) {
        if (strncmp(list, word, length) == 0 && strchr(",=", list[length]))
            return list + length;
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return NULL;
}

static bool ordered(const char *word)
{
    return order_find(word) != NULL;
}

static uint64_t order_number(const char *word, uint64_t otherwise)
{
    const char *text = order_find(word);
    return text && *text == '=' ? strtoull(text + 1, NULL, 10) : otherwise;
}

static PJRT_Error *error_new(PJRT_Error_Code code, const char *message)
{
    PJRT_Error *error = object_new(sizeof *error);
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
    return error;
}

static PJRT_Error_Code ordered_code(void)
{
    return (PJRT_Error_Code)order_number("code", PJRT_Error_Code_INTERNAL);
}

/* An error when WORD is ordered, else NULL. */
static PJRT_Error *error_if(const char *word, const char *message)
{
    return ordered(word) ? error_new(ordered_code(), message) : NULL;
}

#endif
