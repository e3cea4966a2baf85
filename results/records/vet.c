/*
 * vet.c - files of a store are read; those that somebody else may have written, by a child first.
 *
 * libhdf5 does not survive every damaged file (store_file.c), and a seal is no proof of who made
 * it. So a child of this process reads each file before we do, with a limit of memory and time.
 * Where that kills it, the file is at fault, and the next one gets a new child.
 *
 * The file is opened and read once, by us, and the child gets the bytes over the wire: what it was
 * given is what we read afterwards, whatever becomes of the file's name meanwhile.
 */
#define _GNU_SOURCE
#include "results/records/store_priv.h"

#include <errno.h>
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
#define MOST_BYTES  ((size_t)256 << 20)
#define MOST_IMAGE  (MOST_BYTES / 2) /* HDF5 copies it */
#define MOST_CPU_S  2
#define MOST_WAIT_S 60
#define PACKET      (64 << 10) /* smaller than the buffer of any socket */
/* The child's end of the wire. */
#define SOCKET_FD   3

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

/* The SIZE bytes of an image, which come in packets; NULL: the wire has ended, or there is no
 * memory, which is less than a record of ours may take. */
static char *receive_image(size_t size)
{
    char *image = malloc(size ? size : 1);
    for (size_t at = 0; image && at < size;) {
        const ssize_t got = recv(SOCKET_FD, image + at, size - at, 0);
        if (got <= 0) {
            free(image);
            return NULL;
        }
        at += (size_t)got;
    }
    return image;
}

/* Reads each image that it is given, and answers. Never returns. */
static void serve(int fd, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    /* Locks and pipes of the parent must not live as long as we do. */
    if (dup2(fd, SOCKET_FD) < 0)
        _exit(0);
    close_range(SOCKET_FD + 1, ~0U, 0);
    set_limits();
    for (;;) {
        size_t size = 0;
        if (recv(SOCKET_FD, &size, sizeof size, 0) != (ssize_t)sizeof size)
            _exit(0);
        allow_time();
        char *image = receive_image(size);
        if (!image)
            _exit(0);
        res_record *record = NULL;
        bn_status st = {.code = BN_OK};
        if (res_image_read(image, size, &record, &st) == BN_OK)
            res_record_free(record);
        free(image);
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

void res_store_vet_end(void)
{
    if (child.pid > 0 && child.parent == getpid()) {
        const pid_t pid = child.pid;
        forget();
        kill(pid, SIGKILL); /* it has nothing to lose */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    child.pid = 0;
}

static bn_code begin(bn_status *st)
{
    int pair[2];
    const pid_t parent = getpid();
    const struct timeval wait = {.tv_sec = MOST_WAIT_S};
    if (child.pid > 0 && child.parent == parent)
        return BN_OK;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return bn_fail_errno(st, errno, "a child to read records");
    fflush(NULL); /* what is not written yet must not be written twice */
    bn_code code = BN_OK;
    pid_t pid = -1;
    if (setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 || (pid = fork()) < 0)
        code = bn_fail_errno(st, errno, "a child to read records");
    if (pid == 0) {
        close(pair[0]);
        serve(pair[1], parent);
    }
    close(pair[1]);
    if (code != BN_OK) {
        close(pair[0]);
        return code;
    }
    child.pid = pid;
    child.parent = parent;
    child.socket = pair[0];
    return BN_OK;
}

/* Ends the child, and says how. What the file alone cannot be blamed for is BN_IO: another time it
 * may be read. */
static bn_code blame(bool late, bn_status *st)
{
    int status = 0;
    if (late)
        kill(child.pid, SIGKILL);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        ;
    forget();
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (late)
        return bn_fail(st, BN_IO, "not read: a child took longer than %d s for it", MOST_WAIT_S);
    if (number == SIGXCPU)
        return bn_fail(st, BN_FORMAT,
                       "not read: a child took longer than %d s of processor time for it",
                       MOST_CPU_S);
    if (number == SIGKILL)
        return bn_fail(st, BN_IO, "not read: somebody killed the child that tried");
    if (number)
        return bn_fail(st, BN_FORMAT, "not read: it killed the child that tried, by signal %d",
                       number);
    return bn_fail(st, BN_FORMAT, "not read: it ended the child that tried");
}

/* Sends SIZE bytes as packets. False, with errno, where the child does not take them. */
static bool send_all(const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        const ssize_t sent = send(child.socket, bytes, size < PACKET ? size : PACKET, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Has the child read the image; messages do not name the file. */
static bn_code vet(const char *image, size_t size, bn_status *st)
{
    bn_status answer;
    ssize_t got;
    bn_code code = begin(st);
    if (code != BN_OK)
        return code;
    if (!send_all(&size, sizeof size) || !send_all(image, size))
        return blame(errno == EAGAIN, st);
    do
        got = recv(child.socket, &answer, sizeof answer, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof answer)
        return blame(got < 0 && errno == EAGAIN, st);
    answer.message[sizeof answer.message - 1] = '\0';
    /* A damaged file may have harmed the child's memory, and what that says of the next file would
     * be wrong. */
    if (answer.code != BN_OK)
        res_store_vet_end();
    /* What the child could not read in little memory may take all of ours: its word is the last. */
    if (answer.code == BN_OUT_OF_MEMORY)
        return bn_fail(st, BN_FORMAT, "not read: it takes more than %zu MB of memory",
                       MOST_BYTES >> 20);
    return answer.code == BN_OK ? BN_OK : bn_fail(st, BN_FORMAT, "%s", answer.message);
}

/* ---- both ways of reading ------------------------------------------------------------------ */

static bn_code read_file(const char *path, bool foreign, res_record **record, bn_status *st)
{
    char *image = NULL;
    size_t size = 0;
    bn_code code = res_file_image(path, foreign ? MOST_IMAGE : SIZE_MAX, &image, &size, st);
    if (code != BN_OK)
        return code;
    if (foreign)
        code = vet(image, size, st);
    if (code == BN_OK)
        code = res_image_read(image, size, record, st);
    free(image);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", path);
}

bn_code res_store_read(const char *path, res_record **record, bn_status *st)
{
    return read_file(path, false, record, st);
}

bn_code res_store_read_foreign(const char *path, res_record **record, bn_status *st)
{
    return read_file(path, true, record, st);
}
