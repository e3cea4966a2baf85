/*
 * alloc.c - small memory, without which the process ends: nobody could do better, and parents start
 * workers again.
 */
#include "runtime/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int exit_code = BN_OUT_OF_MEMORY_EXIT;

void bn_out_of_memory_exits(int code)
{
    exit_code = code;
}

void bn_out_of_memory(size_t size)
{
    char line[80];
    const int length = snprintf(line, sizeof line, BN_OUT_OF_MEMORY_LINE "%zu bytes)\n", size);
    (void)!write(STDERR_FILENO, line, (size_t)length);
    _exit(exit_code);
}

void *bn_alloc(size_t size)
{
    /* No object is larger; sanitizers report such a malloc. */
    void *memory = size > PTRDIFF_MAX ? NULL : malloc(size ? size : 1);
    if (!memory)
        bn_out_of_memory(size);
    return memory;
}

void *bn_zalloc(size_t count, size_t size)
{
    const bool fits = size == 0 || count <= PTRDIFF_MAX / size;
    void *memory = fits ? calloc(count ? count : 1, size ? size : 1) : NULL;
    if (!memory)
        bn_out_of_memory(fits ? count * size : SIZE_MAX);
    return memory;
}

char *bn_strdup(const char *text)
{
    return bn_strndup(text, strlen(text));
}

char *bn_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = bn_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void bn_grow(void *items, size_t needed, size_t *capacity, size_t item_bytes)
{
    if (!bn_reserve(items, needed, capacity, item_bytes))
        bn_out_of_memory(needed > SIZE_MAX / item_bytes ? SIZE_MAX : needed * item_bytes);
}
