/*
 * vet.c - records that somebody else may have written are read by a child first.
 *
 * libhdf5 does not survive every damaged file (store_file.c), and a seal is no proof of who made it. So
 * a child of this process reads each file before we do, with a limit of memory and time. Where that
 * kills it, the file is at fault, and the next one gets a new child.
 */
#define _GNU_SOURCE
#include "results/records/store_priv.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* For one record: the largest of ours takes some MB and some ms. */
#define MOST_BYTES   (UINT64_C(1) << 30)
#define MOST_WAIT_MS 20000
/* The child's end of the wire. */
#define SOCKET_FD    3

/* The child that is alive; PID 0: none. */
static struct {
    pid_t pid, parent;
    int socket;
} child;

/* ---- the child -------------------------------------------------------------------------- */

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void set_limits(void)
{
    const struct rlimit space = {address_space() + MOST_BYTES, address_space() + MOST_BYTES};
    const struct rlimit none = {0, 0};
    /* Where they cannot be set, the time limit still holds. */
    (void)setrlimit(RLIMIT_AS, &space);
    (void)setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* the parent decides */
}

/* Reads each file that it is told, and answers. Never returns. */
static void serve(int fd, pid_t parent)
{
    char path[PATH_MAX];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    /* Locks and pipes of the parent must not live as long as we do. */
    if (dup2(fd, SOCKET_FD) < 0)
        _exit(0);
    close_range(SOCKET_FD + 1, ~0U, 0);
    set_limits();
    for (;;) {
        const ssize_t n = recv(SOCKET_FD, path, sizeof path, 0);
        if (n <= 0 || path[n - 1] != '\0')
            _exit(0);
        res_record *record = NULL;
        bn_status st = {.code = BN_OK};
        const char answer = res_store_read(path, &record, &st) == BN_OK ? 'g' : 'd';
        res_record_free(record);
        if (send(SOCKET_FD, &answer, 1, MSG_NOSIGNAL) != 1)
            _exit(0);
    }
}

/* ---- the parent --------------------------------------------------------------------------- */

static void forget(void)
{
    if (child.pid > 0 && child.parent == getpid())
        close(child.socket);
    child.pid = 0;
}

static bn_code begin(bn_status *st)
{
    int pair[2];
    const pid_t parent = getpid();
    if (child.pid > 0 && child.parent == parent)
        return BN_OK;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return bn_fail_errno(st, errno, "a child to read records");
    fflush(NULL); /* what is not written yet must not be written twice */
    const pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        serve(pair[1], parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return bn_fail_errno(st, errno, "a child to read records");
    }
    child.pid = pid;
    child.parent = parent;
    child.socket = pair[0];
    return BN_OK;
}

/* Ends the child, and says of PATH how. */
static bn_code blame(const char *path, bool late, bn_status *st)
{
    int status = 0;
    if (late)
        kill(child.pid, SIGKILL);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        ;
    forget();
    if (late)
        return bn_fail(st, BN_FORMAT, "%s: not read: a child took longer than %d s for it", path,
                       MOST_WAIT_MS / 1000);
    if (WIFSIGNALED(status))
        return bn_fail(st, BN_FORMAT, "%s: not read: it killed the child that tried, by signal %d",
                       path, WTERMSIG(status));
    return bn_fail(st, BN_FORMAT, "%s: not read: it ended the child that tried", path);
}

static bn_code vet(const char *path, bn_status *st)
{
    char answer = 0;
    const size_t length = strlen(path) + 1;
    if (length > PATH_MAX)
        return bn_fail_errno(st, ENAMETOOLONG, "%s", path);
    bn_code code = begin(st);
    if (code != BN_OK)
        return code;
    if (send(child.socket, path, length, MSG_NOSIGNAL) != (ssize_t)length)
        return blame(path, false, st);
    struct pollfd wait = {child.socket, POLLIN, 0};
    int ready;
    do
        ready = poll(&wait, 1, MOST_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return blame(path, true, st);
    /* Whatever else is wrong with it, we can read as well and say. */
    return recv(child.socket, &answer, 1, 0) == 1 ? BN_OK : blame(path, false, st);
}

void res_store_vet_end(void)
{
    if (child.pid > 0 && child.parent == getpid()) {
        const pid_t pid = child.pid;
        forget();
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    child.pid = 0;
}

bn_code res_store_read_foreign(const char *path, res_record **record, bn_status *st)
{
    bn_code code = res_file_probe(path, st);
    if (code == BN_OK)
        code = vet(path, st);
    return code == BN_OK ? res_store_read(path, record, st) : code;
}
