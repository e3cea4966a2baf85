/*
 * refused.h - what the system gives fails when a test says so: memory, files, folders, processes,
 * what a socket brings. Included once in a program, whose own functions stand before libc's.
 */
#ifndef BENCH_TESTS_REFUSED_H
#define BENCH_TESTS_REFUSED_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/sanitized.h"
#include "tests/support/test_runtime.h"

/* Requests to the system that can be refused. */
enum asked { MEMORY, OPEN, READ, LIST, LOOK, FORK, RECEIVE, ASKED };
/* Refused for: the tested process, a child of it, or both, each by its own count. */
enum { READER = 1, CHILD = 2 };

static struct fault {
    enum asked what;
    int whose, error; /* ERROR 0: it fails without a word */
    int signal;       /* raised instead; 0: none */
    bool for_ever;    /* from then on; else once */
    long at;          /* which time; 0: never */
} fault;
static bool armed, in_child;
static long times;  /* since this process was armed, or is a child */
static int *failed; /* shared with all of them: whether anything was refused */

static void begin_child(void)
{
    in_child = true;
    times = 0;
}

/* Whether what was asked for is refused. */
static bool refused(enum asked what)
{
    if (!armed || fault.at == 0 || what != fault.what ||
        !(fault.whose & (in_child ? CHILD : READER)))
        return false;
    times++;
    if (times < fault.at || (times > fault.at && !fault.for_ever))
        return false;
    *failed = 1;
    if (fault.signal) {
        raise(fault.signal);
        return false;
    }
    if (fault.error)
        errno = fault.error;
    return true;
}

#if !SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return refused(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return refused(MEMORY) ? NULL : __libc_realloc(old, size);
}
#endif

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return refused(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t read(int fd, void *data, size_t size)
{
    return refused(READ) ? -1 : syscall(SYS_read, fd, data, size);
}

struct dirent *readdir(DIR *list)
{
    struct dirent *(*real)(DIR *);
    *(void **)&real = dlsym(RTLD_NEXT, "readdir");
    return refused(LIST) ? NULL : real(list);
}

int fstatat(int folder, const char *path, struct stat *info, int flags)
{
    return refused(LOOK) ? -1 : (int)syscall(SYS_newfstatat, folder, path, info, flags);
}

pid_t fork(void)
{
    pid_t (*real)(void);
    *(void **)&real = dlsym(RTLD_NEXT, "fork");
    return refused(FORK) ? -1 : real();
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    return refused(RECEIVE) ? -1 : recvfrom(fd, data, size, flags, NULL, NULL);
}

/* Once, before anything is refused: each child counts for itself. */
static void refused_begin(void)
{
    if (failed)
        return;
    assert_int_equal(pthread_atfork(NULL, NULL, begin_child), 0);
    failed = mmap(NULL, sizeof *failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(failed != MAP_FAILED);
}

#endif
