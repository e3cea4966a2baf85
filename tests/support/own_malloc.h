/*
 * own_malloc.h - a malloc family of the test's own, in front of the C library's, which tells the
 * test who calls. Once in a program.
 */
#ifndef BENCH_TESTS_OWN_MALLOC_H
#define BENCH_TESTS_OWN_MALLOC_H

#include <stddef.h>

#include "tests/support/sanitized.h"

#define OWN_MALLOC !SANITIZED /* sanitizers have their own */

#if OWN_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

/* The test's: CALLER asks for memory. It must allocate none. */
static void count_caller(const void *caller);

void *malloc(size_t size)
{
    count_caller(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    count_caller(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    count_caller(__builtin_return_address(0));
    return __libc_realloc(old, size);
}
#endif

#endif
