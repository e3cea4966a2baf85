/*
 * topology.c - the machine's topology, which takes milliseconds to read and does not change; and
 * the cores that a thread may use.
 *
 * hwloc says what the cores share; the system says which of them a thread uses. A job launcher may
 * set a topology (HWLOC_XMLFILE), and other variables of hwloc make it see less, or another
 * machine. Records are of this machine, so the variables are ignored.
 */
#define _GNU_SOURCE
#include "harness/cores/cores_priv.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t loaded;
static int failure; /* errno where LOADED is NULL */

/* The environment without the variables of hwloc, to be freed. */
static char **without_hwloc(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **list = bn_zalloc(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "HWLOC_", strlen("HWLOC_")) != 0)
            list[kept++] = environ[i];
    return list;
}

/* Replaces the environment meanwhile, by another array of the same strings: nothing is set. */
static void load(void)
{
    char **own = environ, **fewer = without_hwloc();
    environ = fewer;
    if (hwloc_topology_init(&loaded) != 0) {
        loaded = NULL;
        failure = ENOMEM;
    } else if (hwloc_topology_load(loaded) != 0) {
        failure = errno ? errno : EIO;
        hwloc_topology_destroy(loaded);
        loaded = NULL;
    }
    environ = own;
    free(fewer);
}

bn_code cores_topology(hwloc_topology_t *topology, bn_status *st)
{
    pthread_once(&once, load);
    *topology = loaded;
    return loaded ? BN_OK : bn_fail_errno(st, failure, "reading the machine's topology");
}

/* ---- the cores of a thread ---------------------------------------------------------------- */

#define MOST_CORES (1u << 20)

hwloc_bitmap_t cores_set_new(void)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        bn_out_of_memory(0);
    return set;
}

bool cores_of_thread(pid_t tid, hwloc_bitmap_t may)
{
    hwloc_bitmap_zero(may);
    /* The kernel wants room for all cores that it can have. */
    for (unsigned room = 1024; room <= MOST_CORES; room *= 2) {
        const size_t bytes = CPU_ALLOC_SIZE(room);
        cpu_set_t *set = bn_alloc(bytes);
        const bool known = sched_getaffinity(tid, bytes, set) == 0;
        const int why = errno;
        for (unsigned c = 0; known && c < room; c++)
            if (CPU_ISSET_S(c, bytes, set))
                hwloc_bitmap_set(may, c);
        free(set);
        if (known || why != EINVAL) {
            errno = why;
            return known;
        }
    }
    return false;
}

char *cores_left_to_thread(int *count)
{
    hwloc_bitmap_t may = cores_set_new();
    char *list = NULL;
    *count = cores_of_thread(0, may) ? hwloc_bitmap_weight(may) : 0;
    if (*count > 0 && *count < sysconf(_SC_NPROCESSORS_ONLN) &&
        hwloc_bitmap_list_asprintf(&list, may) < 0)
        list = NULL;
    hwloc_bitmap_free(may);
    return list;
}

bool cores_bind_thread(pid_t tid, hwloc_const_bitmap_t wanted)
{
    const unsigned room = (unsigned)(hwloc_bitmap_last(wanted) + 1);
    const size_t bytes = CPU_ALLOC_SIZE(room);
    bool bound = false;
    errno = EINVAL;
    if (room > 0 && room <= MOST_CORES) {
        cpu_set_t *set = bn_zalloc(1, bytes);
        hwloc_bitmap_t found = cores_set_new();
        for (unsigned c = 0; c < room; c++)
            if (hwloc_bitmap_isset(wanted, c))
                CPU_SET_S(c, bytes, set);
        /* A cgroup may leave fewer cores than were asked for. */
        bound = sched_setaffinity(tid, bytes, set) == 0 && cores_of_thread(tid, found) &&
                hwloc_bitmap_isequal(found, wanted);
        hwloc_bitmap_free(found);
        free(set);
    }
    if (tid == 0)
        bn_surroundings_keep_cores();
    return bound;
}
