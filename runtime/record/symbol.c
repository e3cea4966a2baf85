/*
 * symbol.c - the C library's dlsym, where the recorder's own (preload.c) stands before it.
 */
#define _GNU_SOURCE /* dlvsym, RTLD_NEXT */

#include "runtime/record/record_priv.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

static _Atomic(record_finder *) finder;

/* The version under which the C library has its dlsym. The first guess must be right: a wrong one
 * makes the C library allocate an error, and the caller may be an allocator that is starting. */
RECORD_BARE static const char *version_of_dlsym(void)
{
    int minor = 0;
    for (const char *c = gnu_get_libc_version() + 2; *c >= '0' && *c <= '9'; c++)
        minor = minor * 10 + (*c - '0');
    if (minor >= 34)
        return "GLIBC_2.34";
#if defined(__x86_64__)
    return "GLIBC_2.2.5";
#elif defined(__riscv)
    return "GLIBC_2.27";
#else
    return "GLIBC_2.17"; /* of 64-bit ARM, for one */
#endif
}

RECORD_BARE record_finder *record_symbol_finder(void)
{
    record_finder *found = atomic_load_explicit(&finder, memory_order_relaxed);
    if (found)
        return found;
    void *symbol = dlvsym(RTLD_NEXT, "dlsym", version_of_dlsym());
    __builtin_memcpy(&found, &symbol, sizeof found);
    atomic_store_explicit(&finder, found, memory_order_relaxed);
    return found;
}

void *record_symbol(void *library, const char *name)
{
    record_finder *find = record_symbol_finder();
    return find ? find(library, name) : NULL;
}
