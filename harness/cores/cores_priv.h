/* cores_priv.h - sets of cores, and the cores of a thread. */
#ifndef BENCH_HARNESS_CORES_PRIV_H
#define BENCH_HARNESS_CORES_PRIV_H

#include <hwloc.h>

#include "harness/cores/cores.h"

/* A new set, for hwloc_bitmap_free; without memory the process ends. */
hwloc_bitmap_t cores_set_new(void);
/* Puts into MAY the cores that thread TID, 0 for the calling one, may use, by the system. */
bool cores_of_thread(pid_t tid, hwloc_bitmap_t may);
/* Makes them WANTED; false, with errno, where they are not WANTED afterwards. */
bool cores_bind_thread(pid_t tid, hwloc_const_bitmap_t wanted);

/* Puts into MAY the cores that PINNING's threads use, or where it is NULL those that the calling
 * thread may use; false where these are unknown. */
bool cores_in_use(const cores_pinning *pinning, hwloc_bitmap_t may);

#endif
