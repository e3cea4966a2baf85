/*
 * pinning.c - which cores the host thread and the runtime's threads use.
 *
 * A plugin makes threads when it is loaded and when a client is created. They inherit the mask of
 * the thread that makes them; those that exist already are moved by their number. Threads that a
 * driver runs in the kernel, or that a plugin pins itself later, are out of reach.
 */
#define _GNU_SOURCE
#include "harness/cores/cores_priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads may appear while they are listed; a few rounds find them all. */
#define MOVE_ROUNDS 8

struct cores_pinning {
    hwloc_topology_t topology; /* borrowed */
    hwloc_bitmap_t all;        /* what the process may use */
    hwloc_bitmap_t host;       /* host thread, once the client is there */
    hwloc_bitmap_t runtime;    /* all other threads */
    char *how;
    json_t *moved; /* numbers of the threads whose mask was set afterwards */
};

/* Binds this thread to WANTED, for PIN. */
static bn_code bind_thread(hwloc_const_bitmap_t wanted, const char *pin, bn_status *st)
{
    return cores_bind_thread(0, wanted)
               ? BN_OK
               : bn_fail_errno(st, errno, "pinning to the cores of --pin %s", pin);
}

/* Whether LIST is made of numbers and ranges of a few digits. The library would read "x" as 0 and
 * "3-" as a range without end, and make room for any number. */
static bool is_core_list(const char *list)
{
    int digits = 0;
    bool range = false;
    for (const char *c = list; *c; c++) {
        if (*c >= '0' && *c <= '9') {
            if (++digits > 5)
                return false;
            continue;
        }
        if (digits == 0 || (*c != ',' && (*c != '-' || range)))
            return false;
        range = *c == '-';
        digits = 0;
    }
    return digits > 0;
}

/* Makes the cores of LIST those that P may use. */
static bn_code parse_list(cores_pinning *p, const char *list, bn_status *st)
{
    hwloc_bitmap_t wanted = cores_set_new();
    char *may = NULL;
    bn_code code = BN_OK;
    if (hwloc_bitmap_list_asprintf(&may, p->all) < 0)
        bn_out_of_memory(0);
    if (!is_core_list(list) || hwloc_bitmap_list_sscanf(wanted, list) != 0 ||
        hwloc_bitmap_weight(wanted) < 1) {
        bn_near near = bn_near_begin(list);
        bn_near_choices(&near, CORES_PIN_WORDS);
        code = bn_fail_meant(
            st, BN_INVALID, (bn_meant){bn_near_best(&near), "This process may use", may},
            "--pin takes " CORES_PIN_WORDS " or a list of cores such as 0,2-3, not '%s'", list);
    } else if (!hwloc_bitmap_isincluded(wanted, p->all)) {
        code =
            bn_fail(st, BN_INVALID,
                    "--pin %s names cores that this process may not use; it may use %s", list, may);
    } else {
        hwloc_bitmap_copy(p->all, wanted);
    }
    free(may);
    hwloc_bitmap_free(wanted);
    return code;
}

/* Puts the host thread on one processing unit of the first core. APART: the other threads stay off
 * all processing units of that core. */
static bn_code divide_cores(cores_pinning *p, bool apart, bn_status *st)
{
    int first = hwloc_bitmap_first(p->all);
    hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(p->topology, (unsigned)first);
    hwloc_obj_t core =
        unit ? hwloc_get_ancestor_obj_by_type(p->topology, HWLOC_OBJ_CORE, unit) : NULL;
    hwloc_bitmap_only(p->host, (unsigned)first);
    hwloc_bitmap_copy(p->runtime, p->all);
    if (apart)
        hwloc_bitmap_andnot(p->runtime, p->all, core ? core->cpuset : p->host);
    if (hwloc_bitmap_iszero(p->runtime))
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "--pin host needs two cores: one for the host thread, the others for the "
                       "runtime; this process may use only one");
    return BN_OK;
}

static bn_code choose_cores(cores_pinning *p, const char *pin, bn_status *st)
{
    bool host = strcmp(pin, "host") == 0, all = strcmp(pin, "all") == 0;
    bn_code code = BN_OK;
    if (!cores_of_thread(0, p->all))
        return bn_fail_errno(st, errno, "reading the process's cores");
    if (!host && !all)
        code = parse_list(p, pin, st);
    return code == BN_OK ? divide_cores(p, host, st) : code;
}

/* Makes *PINNING of PIN. Nothing is pinned yet. */
static bn_code plan_pinning(const char *pin, cores_pinning **pinning, bn_status *st)
{
    cores_pinning *p = bn_zalloc(1, sizeof *p);
    *pinning = NULL;
    p->all = cores_set_new();
    p->host = cores_set_new();
    p->runtime = cores_set_new();
    p->how = bn_strdup(pin);
    p->moved = json_array();
    bn_code code = cores_topology(&p->topology, st);
    if (code == BN_OK)
        code = choose_cores(p, pin, st);
    if (code == BN_OK)
        *pinning = p;
    else
        cores_pinning_free(p);
    return code;
}

static bool pins_nothing(const char *pin)
{
    return !pin || strcmp(pin, "none") == 0;
}

bn_code cores_pin_check(const char *pin, bn_status *st)
{
    cores_pinning *p = NULL;
    bn_code code = pins_nothing(pin) ? BN_OK : plan_pinning(pin, &p, st);
    cores_pinning_free(p);
    return code;
}

bn_code cores_pin_begin(const char *pin, cores_pinning **pinning, bn_status *st)
{
    *pinning = NULL;
    if (pins_nothing(pin))
        return BN_OK;
    bn_code code = plan_pinning(pin, pinning, st);
    if (code == BN_OK)
        code = bind_thread((*pinning)->runtime, pin, st);
    if (code != BN_OK) {
        cores_pinning_free(*pinning);
        *pinning = NULL;
    }
    return code;
}

static bool was_moved(const cores_pinning *p, pid_t tid)
{
    for (size_t i = 0; i < json_array_size(p->moved); i++)
        if (json_integer_value(json_array_get(p->moved, i)) == tid)
            return true;
    return false;
}

/* Sets the mask of all other threads; returns how many were not moved before. */
static int move_others(cores_pinning *p)
{
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        pid_t tid = (pid_t)atoi(e->d_name);
        if (tid <= 0 || tid == gettid() || was_moved(p, tid))
            continue;
        /* A thread that has ended in the meantime cannot be moved, and need not be. */
        if (cores_bind_thread(tid, p->runtime)) {
            json_array_append_new(p->moved, json_integer(tid));
            found++;
        }
    }
    if (tasks)
        closedir(tasks);
    return found;
}

bn_code cores_pin_host_thread(cores_pinning *p, bn_status *st)
{
    if (!p)
        return BN_OK;
    for (int round = 0; round < MOVE_ROUNDS && move_others(p) > 0; round++)
        ;
    return bind_thread(p->host, p->how, st);
}

bool cores_in_use(const cores_pinning *p, hwloc_bitmap_t may)
{
    return p ? hwloc_bitmap_or(may, p->host, p->runtime) == 0 : cores_of_thread(0, may);
}

json_t *cores_pinning_to_json(const cores_pinning *p)
{
    if (!p)
        return json_pack("{ss}", "pin", "none");
    char *host = NULL, *runtime = NULL;
    hwloc_bitmap_list_asprintf(&host, p->host);
    hwloc_bitmap_list_asprintf(&runtime, p->runtime);
    json_t *json = json_pack("{ss ss ss sI sO}", "pin", p->how, "host_cores", host ? host : "",
                             "runtime_cores", runtime ? runtime : "", "threads_moved",
                             (json_int_t)json_array_size(p->moved), "moved_thread_ids", p->moved);
    free(host);
    free(runtime);
    return json;
}

void cores_pinning_free(cores_pinning *p)
{
    if (!p)
        return;
    hwloc_bitmap_free(p->all);
    hwloc_bitmap_free(p->host);
    hwloc_bitmap_free(p->runtime);
    json_decref(p->moved);
    free(p->how);
    free(p);
}
