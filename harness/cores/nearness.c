/*
 * nearness.c - whether cores were apart while rounds ran. A round after which they are is measured
 * again once they are together.
 *
 * A hypervisor may move the cores of a virtual machine, and steps in which threads pass work to
 * each other then take up to half as long again for seconds or minutes (distance.c). That is no
 * property of what is measured. It is measured outside of the steps, so leaving out rounds because
 * of it does not select by their times.
 */
#include "harness/cores/cores.h"

#include <math.h>

void cores_nearness_begin(cores_nearness *near, const cores_pinning *pinning, int held,
                          double first_s, double all_s)
{
    *near = (cores_nearness){.watch = cores_watch_begin(pinning), .held = held};
    near->trip_ns = cores_watch_trip_ns(near->watch);
    near->left_s = first_s;
    near->all_s = all_s;
}

bool cores_nearness_waits(const cores_nearness *near)
{
    return cores_are_apart(near->trip_ns) && near->left_s > 0;
}

void cores_nearness_await(cores_nearness *near)
{
    const uint64_t start = bn_now_ns();
    bool together = !cores_are_apart(near->trip_ns);
    if (cores_nearness_waits(near)) {
        together = cores_watch_gather(near->watch, near->held, near->left_s);
        const double took_s = (double)(bn_now_ns() - start) / 1e9;
        near->waited_s += took_s;
        near->left_s = together ? near->left_s - took_s : 0;
    }
    /* Cores that are together now can come together later, too. */
    if (together && near->known == 0)
        near->left_s = near->all_s;
}

bool cores_nearness_judge(cores_nearness *near, double trip_ns, size_t most)
{
    const bool apart = cores_are_apart(trip_ns);
    near->trip_ns = trip_ns;
    if (apart && near->left_s > 0 && near->repeated < most) {
        near->repeated++;
        return true;
    }
    near->known += isnan(trip_ns) ? 0 : 1;
    near->apart += apart;
    return false;
}

bool cores_nearness_repeats(cores_nearness *near, size_t most)
{
    return cores_nearness_judge(near, cores_watch_trip_ns(near->watch), most);
}

void cores_nearness_end(cores_nearness *near)
{
    cores_watch_end(near->watch);
    near->watch = NULL;
}

json_t *cores_nearness_to_json(const cores_nearness *near)
{
    return near->known == 0 ? NULL
                            : json_pack("{sI sI sI sf}", "rounds", (json_int_t)near->known, "apart",
                                        (json_int_t)near->apart, "repeated",
                                        (json_int_t)near->repeated, "waited_s", near->waited_s);
}
