/*
 * monitor.c - the interference monitor of a round: how often the process lost its core, how long
 * anything waited for a core, core time that a hypervisor took, and that of other programs.
 *
 * The counters are Linux': getrusage(2), /proc/pressure/cpu (since 4.20) and /proc/stat. Files stay
 * open: reading them between rounds takes microseconds.
 */
#include "harness/worker/measure_priv.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* A file of the kernel that is read repeatedly. */
typedef struct counter_file {
    const char *path;
    int fd; /* 0: not opened yet; -1: there is none */
} counter_file;

static counter_file pressure = {"/proc/pressure/cpu", 0}, stat_file = {"/proc/stat", 0};

/* The first bytes of FILE as a text; false where it cannot be read. */
static bool read_counter(counter_file *file, char *text, size_t size)
{
    if (file->fd == 0)
        file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file->fd > 0 ? pread(file->fd, text, size - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", microseconds. */
static uint64_t stalled_ns(void)
{
    char text[256];
    const char *total = read_counter(&pressure, text, sizeof text) ? strstr(text, "total=") : NULL;
    return total ? strtoull(total + strlen("total="), NULL, 10) * 1000 : RES_UNKNOWN;
}

/* "cpu  user nice system idle iowait irq softirq steal ...", in ticks. */
enum { IDLE = 3, WAITING = 4, STOLEN = 7, COLUMNS };

/* Puts the time of all cores together in each of these into NS; false: unknown. */
static bool read_times(uint64_t ns[COLUMNS])
{
    char text[512];
    const long ticks = sysconf(_SC_CLK_TCK);
    if (!read_counter(&stat_file, text, sizeof text) || strncmp(text, "cpu ", 4) != 0 || ticks <= 0)
        return false;
    char *at = text + 4;
    for (int column = 0; column < COLUMNS; column++)
        ns[column] = strtoull(at, &at, 10) * (UINT64_C(1000000000) / (uint64_t)ticks);
    return true;
}

static double of_timeval(struct timeval time)
{
    return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

json_t *worker_others_to_json(const worker_others *others)
{
    return others->of_ns > 0
               ? json_pack("{sf sf}", "used_ns", fmax(others->used_ns, 0), "of_ns", others->of_ns)
               : NULL;
}

void worker_monitor_read(worker_moment *now)
{
    struct rusage own;
    uint64_t ns[COLUMNS];
    const bool known = getrusage(RUSAGE_SELF, &own) == 0, timed = read_times(ns);
    now->row.switches = known ? (uint64_t)own.ru_nivcsw : RES_UNKNOWN;
    now->row.stalled_ns = stalled_ns();
    now->row.stolen_ns = timed ? ns[STOLEN] : RES_UNKNOWN;
    now->row.wall_ns = bn_now_ns();
    now->others_ns = known && timed ? 0 : (double)NAN;
    for (int column = 0; timed && column < STOLEN; column++)
        now->others_ns += column == IDLE || column == WAITING ? 0 : (double)ns[column];
    now->others_ns -= known ? of_timeval(own.ru_utime) + of_timeval(own.ru_stime) : 0;
}

static uint64_t since(uint64_t before, uint64_t now)
{
    return before == RES_UNKNOWN || now == RES_UNKNOWN || now < before ? RES_UNKNOWN : now - before;
}

void worker_monitor_since(const worker_moment *before, res_round *round, worker_others *others)
{
    worker_moment now;
    worker_monitor_read(&now);
    round->wall_ns = since(before->row.wall_ns, now.row.wall_ns);
    round->switches = since(before->row.switches, now.row.switches);
    round->stalled_ns = since(before->row.stalled_ns, now.row.stalled_ns);
    round->stolen_ns = since(before->row.stolen_ns, now.row.stolen_ns);
    const double used_ns = now.others_ns - before->others_ns;
    if (isnan(used_ns))
        return;
    others->used_ns += used_ns;
    others->of_ns += (double)round->wall_ns * (double)get_nprocs();
}
