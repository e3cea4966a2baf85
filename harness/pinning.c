/*
 * pinning.c - which cores the host thread and the runtime's threads use.
 *
 * A plugin makes its threads when it is loaded and when a client is created;
 * they inherit the mask of the thread that makes them, and those already there
 * can be moved by their number. Threads that a driver runs in the kernel, or
 * that a plugin pins itself later, are out of reach.
 */
#define _GNU_SOURCE
#include "harness/harness.h"

#include <dirent.h>
#include <errno.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hn_pinning {
    hwloc_topology_t topology;
    hwloc_bitmap_t all;     /* what the process may use */
    hwloc_bitmap_t host;    /* host thread, once the client is there */
    hwloc_bitmap_t runtime; /* all other threads */
    char how[64];
    int moved; /* threads of the runtime whose mask was set afterwards */
};

static bn_code parse_list(hn_pinning *p, const char *list, bn_status *st)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_dup(p->all);
    bn_code code = BN_OK;
    if (!allowed || hwloc_bitmap_list_sscanf(p->all, list) != 0 || hwloc_bitmap_iszero(p->all) ||
        hwloc_bitmap_weight(p->all) < 0)
        code = bn_fail(st, BN_INVALID,
                       "--pin takes none, host, all or a list of cores such as 0,2-3, not '%s'",
                       list);
    else if (!hwloc_bitmap_isincluded(p->all, allowed)) {
        char *may = NULL;
        hwloc_bitmap_list_asprintf(&may, allowed);
        code = bn_fail(st, BN_INVALID, "--pin %s names cores that this process may not use; it "
                       "may use %s", list, may ? may : "others");
        free(may);
    }
    hwloc_bitmap_free(allowed);
    return code;
}

static bn_code choose(hn_pinning *p, const char *pin, bn_status *st)
{
    if (hwloc_get_cpubind(p->topology, p->all, HWLOC_CPUBIND_PROCESS) != 0)
        return bn_fail_errno(st, errno, "reading the process's cores");
    bool host = strcmp(pin, "host") == 0, everything = strcmp(pin, "all") == 0;
    bn_code code = host || everything ? BN_OK : parse_list(p, pin, st);
    if (code != BN_OK)
        return code;
    hwloc_bitmap_copy(p->host, p->all);
    hwloc_bitmap_singlify(p->host);
    hwloc_bitmap_copy(p->runtime, p->all);
    if (host) {
        hwloc_bitmap_andnot(p->runtime, p->all, p->host);
        if (hwloc_bitmap_iszero(p->runtime))
            return bn_fail(st, BN_NOT_SUPPORTED, "--pin host needs two cores; this process has one");
    }
    return BN_OK;
}

bn_code hn_pin_begin(const char *pin, hn_pinning **pinning, bn_status *st)
{
    *pinning = NULL;
    if (strcmp(pin, "none") == 0)
        return BN_OK;
    hn_pinning *p = calloc(1, sizeof *p);
    if (!p || hwloc_topology_init(&p->topology) != 0 || hwloc_topology_load(p->topology) != 0) {
        free(p);
        return bn_fail(st, BN_OUT_OF_MEMORY, "reading the machine's topology");
    }
    p->all = hwloc_bitmap_alloc();
    p->host = hwloc_bitmap_alloc();
    p->runtime = hwloc_bitmap_alloc();
    snprintf(p->how, sizeof p->how, "%s", pin);
    bn_code code = p->all && p->host && p->runtime
                       ? choose(p, pin, st)
                       : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for sets of cores");
    if (code == BN_OK && hwloc_set_cpubind(p->topology, p->runtime, HWLOC_CPUBIND_THREAD) != 0)
        code = bn_fail_errno(st, errno, "pinning");
    if (code != BN_OK) {
        hn_pinning_free(p);
        return code;
    }
    *pinning = p;
    return BN_OK;
}

/* Threads that some library started before the mask was set. */
static void move_others(hn_pinning *p)
{
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        pid_t tid = (pid_t)atoi(e->d_name);
        if (tid > 0 && tid != gettid() &&
            hwloc_linux_set_tid_cpubind(p->topology, tid, p->runtime) == 0)
            p->moved++;
    }
    if (tasks)
        closedir(tasks);
}

bn_code hn_pin_host_thread(hn_pinning *p, bn_status *st)
{
    if (!p)
        return BN_OK;
    move_others(p);
    if (hwloc_set_cpubind(p->topology, p->host, HWLOC_CPUBIND_THREAD) != 0)
        return bn_fail_errno(st, errno, "pinning the host thread");
    return BN_OK;
}

json_t *hn_pinning_to_json(const hn_pinning *p)
{
    if (!p)
        return json_pack("{ss}", "pin", "none");
    char *host = NULL, *runtime = NULL;
    hwloc_bitmap_list_asprintf(&host, p->host);
    hwloc_bitmap_list_asprintf(&runtime, p->runtime);
    json_t *json = json_pack("{ss ss ss si}", "pin", p->how, "host_cores", host ? host : "",
                             "runtime_cores", runtime ? runtime : "", "threads_moved", p->moved);
    free(host);
    free(runtime);
    return json;
}

void hn_pinning_free(hn_pinning *p)
{
    if (!p)
        return;
    hwloc_bitmap_free(p->all);
    hwloc_bitmap_free(p->host);
    hwloc_bitmap_free(p->runtime);
    hwloc_topology_destroy(p->topology);
    free(p);
}
