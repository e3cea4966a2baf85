/* cores_priv.h - what the files of this folder show each other. */
#ifndef BENCH_HARNESS_CORES_PRIV_H
#define BENCH_HARNESS_CORES_PRIV_H

#include <hwloc.h>

#include "harness/cores/cores.h"

/* Puts into MAY the cores that PINNING's threads use, or where it is NULL those that the calling
 * thread may use; false where the system does not tell. */
bool cores_in_use(const cores_pinning *pinning, hwloc_bitmap_t may);

#endif
