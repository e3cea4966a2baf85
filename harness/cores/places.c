/*
 * places.c - the core of the host thread, drawn anew for each round.
 */
#define _GNU_SOURCE
#include "harness/cores/cores_priv.h"

#include <sched.h>
#include <stdlib.h>

struct cores_places {
    hwloc_topology_t topology; /* borrowed */
    hwloc_bitmap_t may;        /* those that the thread may use */
    hwloc_bitmap_t near;       /* of these, those of its NUMA node */
    hwloc_bitmap_t one;        /* room for a draw */
};

/* Fills NEAR; false where there is nothing to choose from. */
static bool find_near(cores_places *p)
{
    if (!cores_of_thread(0, p->may) || sched_getcpu() < 0 ||
        hwloc_bitmap_only(p->one, (unsigned)sched_getcpu()) != 0)
        return false;
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(p->topology, HWLOC_OBJ_NUMANODE, node)))
        if (hwloc_bitmap_intersects(node->cpuset, p->one))
            break;
    return node && hwloc_bitmap_and(p->near, p->may, node->cpuset) == 0 &&
           hwloc_bitmap_weight(p->near) > 1;
}

cores_places *cores_places_of_thread(void)
{
    cores_places *p = bn_zalloc(1, sizeof *p);
    p->may = cores_set_new();
    p->near = cores_set_new();
    p->one = cores_set_new();
    if (cores_topology(&p->topology, NULL) == BN_OK && find_near(p))
        return p;
    cores_places_free(p);
    return NULL;
}

void cores_place_anew(const cores_places *p, const gsl_rng *rng)
{
    if (!p)
        return;
    int core = hwloc_bitmap_first(p->near);
    const int count = hwloc_bitmap_weight(p->near);
    for (unsigned long left = gsl_rng_uniform_int(rng, (unsigned long)count); left > 0; left--)
        core = hwloc_bitmap_next(p->near, core);
    if (hwloc_bitmap_only(p->one, (unsigned)core) == 0 && cores_bind_thread(0, p->one))
        (void)!cores_bind_thread(0, p->may);
}

void cores_places_free(cores_places *p)
{
    if (!p)
        return;
    hwloc_bitmap_free(p->may);
    hwloc_bitmap_free(p->near);
    hwloc_bitmap_free(p->one);
    free(p);
}
