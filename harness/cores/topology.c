/* topology.c - the machine's topology, which takes milliseconds to read and does not change. */
#include "harness/cores/cores_priv.h"

#include <errno.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hwloc_topology_t loaded;
static int failure; /* errno where LOADED is NULL */

static void load(void)
{
    if (hwloc_topology_init(&loaded) != 0) {
        loaded = NULL;
        failure = ENOMEM;
        return;
    }
    /* A job launcher may give the machine's topology as a file (HWLOC_XMLFILE). The library takes it
     * for another machine's, and binds nothing without a word. It is this one's, or pinning finds out
     * that it is not. */
    (void)hwloc_topology_set_flags(loaded, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
    if (hwloc_topology_load(loaded) != 0) {
        failure = errno ? errno : EIO;
        hwloc_topology_destroy(loaded);
        loaded = NULL;
    }
}

bn_code cores_topology(hwloc_topology_t *topology, bn_status *st)
{
    pthread_once(&once, load);
    *topology = loaded;
    return loaded ? BN_OK : bn_fail_errno(st, failure, "reading the machine's topology");
}
