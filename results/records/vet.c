/*
 * vet.c - files of a store, which may be foreign, are read by a child process.
 *
 * libhdf5 does not survive every damaged file (store_file.c), and a seal is no proof of who made
 * it. What it survives depends on what memory held before, too: that one process survived a file
 * says nothing of the next. So libhdf5 gets foreign bytes in a child of this process only, which
 * has a limit of memory and time, and the next file gets a new child where that one ended or
 * refused. What the child read comes back as plain bytes (wire.c).
 *
 * The file is opened and read once, by us, and the child gets the bytes over the wire, whatever
 * becomes of the file's name meanwhile.
 *
 * Only the seal, which we check ourselves, proves damage, and proof alone is remembered. The
 * child's answer may differ the next time: libhdf5 dies of little memory as it dies of a bad file,
 * and a limit, a signal or a busy machine ends the child whatever it reads. So the end of a child
 * is BN_IO, and the file is tried again the next time.
 */
#define _GNU_SOURCE
#include "results/records/store_priv.h"

#include <errno.h>
#include <fcntl.h>
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
/* Exit code of a child that reached MOST_BYTES; 0: other limits or the wire ended it. */
#define EXIT_MEMORY 71

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

/* Signals that a process brings on itself. All others are sent by another process. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU};
/* Signals to a whole group of processes: the parent decides, and the child ends with it. */
static const int requests[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

static void set_signals(void)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        signal(requests[i], SIG_IGN);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
}

/* Whether the memory limit is ours, so that a record had MOST_BYTES of it. */
static bool set_limits(void)
{
    const struct rlimit space = {address_space() + MOST_BYTES, address_space() + MOST_BYTES};
    const struct rlimit none = {0, 0};
    struct rlimit before;
    const bool tighter = getrlimit(RLIMIT_AS, &before) == 0 && before.rlim_cur < space.rlim_cur;
    (void)setrlimit(RLIMIT_CORE, &none);
    /* Where it cannot be set, the time limit still holds. */
    return !tighter && setrlimit(RLIMIT_AS, &space) == 0;
}

/* The limit counts from the child's start, so each file moves it. MOST is the user's hard limit. */
static void allow_time(rlim_t most)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        return;
    const rlim_t seconds = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 + MOST_CPU_S;
    const struct rlimit time = {seconds < most ? seconds : most, most};
    (void)setrlimit(RLIMIT_CPU, &time);
}

/* The child's verdict on an image; the record's bytes follow, if it is one. */
typedef struct answer {
    bn_status st;
    size_t size;
} answer;

/* Sends SIZE bytes to FD as packets. False, with errno, where the other end does not take them. */
static bool send_all(int fd, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size < PACKET ? size : PACKET, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Receives SIZE bytes that send_all sent. False, with errno, or 0 where the wire has ended. */
static bool receive_all(int fd, void *data, size_t size)
{
    char *bytes = data;
    while (size > 0) {
        const ssize_t got = recv(fd, bytes, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : 0;
            return false;
        }
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

/* Reads the image and puts the record into OUT. Frees the image. HDF5 reports little memory as it
 * reports a damaged file, but the C library sets errno. */
static bn_code read_image(char *image, size_t size, bn_text *out, bn_status *st)
{
    res_record *record = NULL;
    errno = 0;
    bn_code code = res_image_read(image, size, &record, st);
    if (code == BN_FORMAT && errno == ENOMEM)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory to read it");
    free(image);
    if (code == BN_OK)
        res_wire_put(record, out);
    res_record_free(record);
    return code;
}

/* The parent reports the child's end, so bn_out_of_memory must not. Sanitizers may. */
static void silence_errors(void)
{
#ifndef __SANITIZE_ADDRESS__
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
#endif
}

/* Reads each image that it is given, and answers. Never returns: without memory for the bytes, or
 * at the end of the wire, the child ends, and says nothing of the file. */
static void serve(int fd, pid_t parent)
{
    set_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Locks and pipes of the parent must not live as long as we do. */
    if (getppid() != parent || dup2(fd, SOCKET_FD) < 0)
        _exit(0);
    silence_errors();
    close_range(SOCKET_FD + 1, ~0U, 0);
    struct rlimit cpu;
    const rlim_t most_time = getrlimit(RLIMIT_CPU, &cpu) == 0 ? cpu.rlim_max : RLIM_INFINITY;
    const bool limited = set_limits();
    bn_out_of_memory_exits(limited ? EXIT_MEMORY : 0);
    for (size_t size; receive_all(SOCKET_FD, &size, sizeof size);) {
        bn_text out = {0};
        answer a = {.st = {.code = BN_OK}};
        char *image = malloc(size ? size : 1);
        allow_time(most_time);
        if (!image || !receive_all(SOCKET_FD, image, size))
            _exit(0);
        if (read_image(image, size, &out, &a.st) == BN_OUT_OF_MEMORY && limited)
            bn_fail(&a.st, BN_OUT_OF_MEMORY, "it takes more than %zu MB of memory",
                    MOST_BYTES >> 20);
        a.size = a.st.code == BN_OK ? out.length : 0;
        if (!send_all(SOCKET_FD, &a, sizeof a) || !send_all(SOCKET_FD, out.data, a.size))
            break;
        bn_text_free(&out);
    }
    _exit(0);
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

static bn_code start_child(bn_status *st)
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

static bool is_fault(int number)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i] == number)
            return true;
    return false;
}

static bn_code too_large(bn_status *st)
{
    return bn_fail(st, BN_IO, "not read: it takes more than %zu MB of memory", MOST_BYTES >> 20);
}

/* Ends the child, and reports how it ended: BN_IO, since the file alone cannot be blamed. */
static bn_code report_end(bool late, bn_status *st)
{
    int status = 0;
    /* The child may still run with its pipe closed. If it is just ending it keeps its own
     * status. */
    if (waitpid(child.pid, &status, WNOHANG) == 0) {
        kill(child.pid, SIGKILL);
        while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    forget();
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (late)
        return bn_fail(st, BN_IO, "not read: a child process took longer than %d s for it",
                       MOST_WAIT_S);
    if (number == SIGXCPU)
        return bn_fail(st, BN_IO,
                       "not read: a child process took longer than %d s of processor time for it",
                       MOST_CPU_S);
    if (is_fault(number))
        return bn_fail(st, BN_IO,
                       "not read: the child process that tried died by signal %d: of the file, "
                       "or of little memory",
                       number);
    if (number)
        return bn_fail(st, BN_IO, "not read: signal %d ended the child process that tried", number);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MEMORY)
        return too_large(st);
    /* A sanitizer ends it so. */
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return bn_fail(st, BN_IO, "not read: it ended the child process that tried");
    return bn_fail(st, BN_IO, "not read: its child process had no memory, or was cut off");
}

/* The child's reason for giving no record. */
static bn_code refusal(answer *a, bn_status *st)
{
    a->st.message[sizeof a->st.message - 1] = '\0';
    /* An image that the child could not read in its memory may take all of ours: no second try. */
    if (a->st.code == BN_FORMAT)
        return bn_fail(st, BN_FORMAT, "%s", a->st.message);
    return bn_fail(st, BN_IO, "not read: %s", a->st.message);
}

/* Has the child read the image; messages do not name the file. */
static bn_code vet(const char *image, size_t size, res_record **record, bn_status *st)
{
    answer a;
    char *bytes = NULL;
    bn_code code = start_child(st);
    if (code != BN_OK)
        return code;
    if (!send_all(child.socket, &size, sizeof size) || !send_all(child.socket, image, size) ||
        !receive_all(child.socket, &a, sizeof a))
        return report_end(errno == EAGAIN, st);
    if (a.st.code != BN_OK)
        code = refusal(&a, st);
    else if (a.size == 0 || a.size > MOST_BYTES)
        code = too_large(st);
    else if (!(bytes = malloc(a.size)))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu bytes", a.size);
    else if (!receive_all(child.socket, bytes, a.size))
        code = report_end(errno == EAGAIN, st);
    else
        code = res_wire_take(bytes, a.size, record, st);
    free(bytes);
    /* A damaged file may have harmed the child's memory, and what that says of the next file would
     * be wrong. */
    if (code != BN_OK)
        res_store_vet_end();
    return code;
}

bn_code res_foreign_read(const char *path, res_record **record, res_proof *proof, bn_status *st)
{
    char *image = NULL;
    size_t size = 0;
    bn_code code = res_file_image(path, MOST_IMAGE, &image, &size, proof, st);
    if (code != BN_OK)
        return code;
    code = vet(image, size, record, st);
    free(image);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", path);
}

bn_code res_store_read_foreign(const char *path, res_record **record, bn_status *st)
{
    res_proof proof;
    return res_foreign_read(path, record, &proof, st);
}
