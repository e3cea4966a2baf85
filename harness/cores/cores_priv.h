/* cores_priv.h - what the files of this folder show each other. */
#ifndef BENCH_HARNESS_CORES_PRIV_H
#define BENCH_HARNESS_CORES_PRIV_H

#include <hwloc.h>

#include "harness/cores/cores.h"

/* Puts into MAY the cores that thread TID, 0 for the calling one, may use, as the system tells it.
 */
bool cores_of_thread(pid_t tid, hwloc_bitmap_t may);
/* Makes them WANTED; false, with errno, where the system then tells others. */
bool cores_bind_thread(pid_t tid, hwloc_const_bitmap_t wanted);

/* Puts into MAY the cores that PINNING's threads use, or where it is NULL those that the calling
 * thread may use; false where the system does not tell. */
bool cores_in_use(const cores_pinning *pinning, hwloc_bitmap_t may);

#endif
