/*
 * vet.c - records that somebody else may have written are read by a child first.
 *
 * libhdf5 does not survive every damaged file (store_file.c), and a seal is no proof of who made
 * it. So a child of this process reads each file before we do, with a limit of memory and time.
 * Where that kills it, the file is at fault, and the next one gets a new child.
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

/* For one record: the largest of ours takes some MB and some ms. The wait is long, since a busy
 * machine may not run the child for a while; a file that keeps it running ends by its time on the
 * processor. */
#define MOST_BYTES   (UINT64_C(256) << 20)
#define MOST_CPU_S   2
#define MOST_WAIT_MS 60000
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
    signal(SIGXCPU, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* the parent decides */
}

/* The limit counts from the child's start, so each file moves it. */
static void allow_time(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return;
    const rlim_t seconds = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + MOST_CPU_S;
    const struct rlimit time = {seconds, RLIM_INFINITY};
    (void)setrlimit(RLIMIT_CPU, &time);
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
        allow_time();
        res_record *record = NULL;
        bn_status st = {.code = BN_OK};
        if (res_store_read(path, &record, &st) == BN_OK)
            res_record_free(record);
        if (send(SOCKET_FD, &st, sizeof st, MSG_NOSIGNAL) != (ssize_t)sizeof st)
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
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return bn_fail(st, BN_FORMAT,
                       "%s: not read: a child took longer than %d s of processor time for it", path,
                       MOST_CPU_S);
    if (WIFSIGNALED(status))
        return bn_fail(st, BN_FORMAT, "%s: not read: it killed the child that tried, by signal %d",
                       path, WTERMSIG(status));
    return bn_fail(st, BN_FORMAT, "%s: not read: it ended the child that tried", path);
}

static bn_code vet(const char *path, bn_status *st)
{
    bn_status answer;
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
    if (recv(child.socket, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
        return blame(path, false, st);
    /* What the child could not read in little memory may take all of ours: its word is the last. */
    if (answer.code == BN_OUT_OF_MEMORY)
        return bn_fail(st, BN_FORMAT, "%s: not read: it takes more than %d MB of memory", path,
                       (int)(MOST_BYTES >> 20));
    return answer.code == BN_OK ? BN_OK : bn_fail(st, answer.code, "%s", answer.message);
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
