/*
 * idle.c - whether cores that have nothing to do sleep.
 *
 * A core that has nothing to do sleeps, and the thread that it is given then waits until the core
 * has woken up: 1 to 100 us, by how deep it slept and, of a virtual machine, by what its host does
 * meanwhile. Steps of 0.1 ms wait for other threads several times. Linux takes requests for the
 * longest such wait (Documentation/power/pm_qos_interface.rst); with one of 0 idle cores poll.
 */
#include "harness/cores/cores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATENCY_FILE "/dev/cpu_dma_latency"
#define ANY_LATENCY  2000000000 /* us; what holds where nobody asks */

static bool ask(int fd, int32_t latency_us)
{
    return write(fd, &latency_us, sizeof latency_us) == (ssize_t)sizeof latency_us;
}

static bn_code keep_awake(int *held, bn_status *st)
{
    const int fd = open(LATENCY_FILE, O_WRONLY | O_CLOEXEC);
    /* 0 would be standard input, which a worker has. */
    if (fd > 0 && ask(fd, 0)) {
        *held = fd;
        return BN_OK;
    }
    bn_code code = bn_fail_errno(st, errno, LATENCY_FILE);
    if (fd >= 0)
        close(fd);
    return code;
}

bn_code cores_idle_begin(const char *idle_cores, int *held, bn_status *st)
{
    bn_status refused = {.code = BN_OK};
    *held = 0;
    if (!idle_cores || strcmp(idle_cores, "sleep") == 0 || keep_awake(held, &refused) == BN_OK ||
        strcmp(idle_cores, "auto") == 0)
        return BN_OK;
    return bn_fail(st, BN_NOT_SUPPORTED,
                   "--idle-cores awake: this process may not ask for it (%s); run as root, or "
                   "leave the option out",
                   refused.message);
}

bn_code cores_idle_check(const char *idle_cores, bn_status *st)
{
    int held = 0;
    if (idle_cores && !bn_is_choice(idle_cores, CORES_IDLE_WORDS))
        return bn_fail_choice(st, "--idle-cores", idle_cores, CORES_IDLE_WORDS);
    bn_code code = cores_idle_begin(idle_cores, &held, st);
    cores_idle_end(held);
    return code;
}

void cores_idle_end(int held)
{
    if (held > 0)
        close(held);
}

json_t *cores_idle_to_json(int held)
{
    return held > 0 ? json_string("awake") : NULL;
}

void cores_idle_let_sleep(int held, bool sleep)
{
    if (held > 0)
        (void)!ask(held, sleep ? ANY_LATENCY : 0);
}
