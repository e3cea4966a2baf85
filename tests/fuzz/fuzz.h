/*
 * fuzz.h - what the targets of fuzzing share.
 *
 * A target is one file fuzz_NAME.c with one function: it feeds bytes that anybody
 * could have written to one reader, and ends the process where the reader breaks its
 * word. tests/fuzz/full_fuzz.sh links it with libFuzzer, which looks for such bytes;
 * replay.c feeds it the files of corpus/NAME and mutations of them.
 */
#ifndef BENCH_TESTS_FUZZ_H
#define BENCH_TESTS_FUZZ_H

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/base.h"

/* Always 0. Must leave nothing behind: it is called again in the same process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process unless HOLDS. */
static inline void fuzz_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* A call that returned CODE and was given ST, which was empty: a failure has its
 * class and one line of text, success has neither. */
static inline void fuzz_status(bn_code code, const bn_status *st)
{
    fuzz_require(code >= BN_OK && code < BN_CODE_COUNT, "a code that there is not");
    fuzz_require(st->code == code, "the status has another code than was returned");
    if (code == BN_OK)
        return;
    fuzz_require(st->message[0] != '\0', "a failure without a message");
    for (const char *c = st->message; *c; c++)
        fuzz_require((unsigned char)*c >= ' ' && *c != 0x7F, "a control character in a message");
}

/* Bytes that are looked at: a sanitizer sees whether they may be. */
static inline uint64_t fuzz_touch(const void *bytes, size_t size)
{
    static volatile uint64_t sink;
    const unsigned char *at = bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += at[i];
    return sink = sum;
}

/* A file of the SIZE bytes at DATA, for readers that want a path, in PATH (32 bytes);
 * the descriptor is to be closed. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_require(fd >= 0, "no file in memory");
    fuzz_require(size == 0 || write(fd, data, size) == (ssize_t)size, "writing a file in memory");
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
