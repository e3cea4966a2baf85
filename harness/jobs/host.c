/*
 * host.c - the machine, for the record. A member that cannot be read is null: no record fails for
 * that.
 */
#define _GNU_SOURCE
#include "harness/cores/cores.h"
#include "harness/jobs/jobs.h"

#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char *bench_version = "unknown";

void job_set_version(const char *version)
{
    bench_version = version;
}

/* First line of a small file without its newline; "" when there is none. */
static void first_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    text[0] = '\0';
    if (f && fgets(text, (int)size, f))
        text[strcspn(text, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* The value of KEY in a file of "KEY : value" lines; "" when there is none. */
static void key_value(const char *path, const char *key, char *text, size_t size)
{
    char row[512];
    FILE *f = fopen(path, "re");
    text[0] = '\0';
    while (f && !text[0] && fgets(row, sizeof row, f)) {
        char *colon = strchr(row, ':');
        if (!colon || strncmp(row, key, strlen(key)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(text, size, "%s", colon);
    }
    if (f)
        fclose(f);
}

/* A kind of object in a topology, in the order of the summary. */
typedef struct part {
    hwloc_obj_type_t type;
    const char *key, *one, *many; /* in JSON, in the summary */
} part;

static const part parts[] = {
    {HWLOC_OBJ_PACKAGE, "packages", "package", "packages"},
    {HWLOC_OBJ_NUMANODE, "numa_nodes", "NUMA node", "NUMA nodes"},
    {HWLOC_OBJ_CORE, "cores", "core", "cores"},
    {HWLOC_OBJ_PU, "processing_units", "PU", "PUs"},
    {HWLOC_OBJ_L3CACHE, "l3_caches", "L3", "L3"},
    {HWLOC_OBJ_L2CACHE, "l2_caches", "L2", "L2"},
    {HWLOC_OBJ_L1CACHE, "l1d_caches", "L1d", "L1d"},
};

static void put_size(bn_text *out, uint64_t bytes)
{
    if (bytes >= 1 << 20)
        bn_text_printf(out, "%.4g MiB", (double)bytes / (1 << 20));
    else
        bn_text_printf(out, "%.4g KiB", (double)bytes / (1 << 10));
}

/* "1 package, 2 cores, 2 PUs, L3 32 MiB, 2 x L2 1 MiB" */
static void summarise(hwloc_topology_t topology, bn_text *out)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int count = hwloc_get_nbobjs_by_type(topology, parts[i].type);
        hwloc_obj_t first = hwloc_get_obj_by_type(topology, parts[i].type, 0);
        if (count <= 0 || !first)
            continue;
        bn_text_puts(out, out->length ? ", " : "");
        if (!hwloc_obj_type_is_cache(parts[i].type)) {
            bn_text_printf(out, "%d %s", count, count == 1 ? parts[i].one : parts[i].many);
            continue;
        }
        if (count > 1)
            bn_text_printf(out, "%d x ", count);
        bn_text_printf(out, "%s ", parts[i].one);
        put_size(out, first->attr->cache.size);
    }
}

static json_t *topology_json(void)
{
    hwloc_topology_t topology;
    bn_text summary = {0};
    char *xml = NULL;
    int length = 0;
    json_t *json = json_object();
    if (cores_topology(&topology, NULL) != BN_OK)
        return json;
    summarise(topology, &summary);
    if (summary.data)
        json_object_set_new(json, "summary", json_string(summary.data));
    bn_text_free(&summary);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_object_set_new(json, parts[i].key,
                            json_integer(hwloc_get_nbobjs_by_type(topology, parts[i].type)));
    if (hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0) == 0) {
        json_object_set_new(json, "xml", json_string(xml));
        hwloc_free_xmlbuffer(topology, xml);
    }
    return json;
}

/* Null where the text is empty or not UTF-8. */
static void set_text(json_t *json, const char *key, const char *text)
{
    json_t *value = text[0] ? json_string(text) : NULL;
    json_object_set_new(json, key, value ? value : json_null());
}

static void set_bytes(json_t *json, const char *key, int64_t bytes)
{
    json_object_set_new(json, key, bytes >= 0 ? json_integer(bytes) : json_null());
}

/* The value of KEY in a /proc file that counts in KiB; -1 unknown. */
static int64_t proc_bytes(const char *path, const char *key)
{
    char text[64];
    key_value(path, key, text, sizeof text);
    return text[0] ? (int64_t)strtoll(text, NULL, 10) * 1024 : -1;
}

json_t *job_host_describe(void)
{
    char hostname[256] = "", cpu[256], governor[64];
    struct utsname kernel = {0};
    double load[3];
    json_t *json = json_object();
    if (gethostname(hostname, sizeof hostname - 1) != 0)
        hostname[0] = '\0';
    if (uname(&kernel) != 0)
        kernel.release[0] = kernel.machine[0] = '\0';
    key_value("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    set_text(json, "hostname", hostname);
    set_text(json, "kernel", kernel.release);
    set_text(json, "machine", kernel.machine);
    set_text(json, "cpu", cpu);
    json_object_set_new(json, "cores_online", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    set_text(json, "governor", governor);
    set_bytes(json, "memory_bytes", proc_bytes("/proc/meminfo", "MemTotal"));
    set_bytes(json, "memory_available_bytes", proc_bytes("/proc/meminfo", "MemAvailable"));
    bool known = getloadavg(load, 3) == 3;
    json_object_set_new(json, "load_1min", known ? json_real(load[0]) : json_null());
    json_object_set_new(json, "load_5min", known ? json_real(load[1]) : json_null());
    json_object_set_new(json, "load_15min", known ? json_real(load[2]) : json_null());
    set_text(json, "bench_version", bench_version);
    set_text(json, "compiler", __VERSION__);
    json_object_set_new(json, "topology", topology_json());
    return json;
}

json_t *job_process_describe(void)
{
    static const char *const policies[] = {[SCHED_OTHER] = NULL,
                                           [SCHED_FIFO] = "fifo",
                                           [SCHED_RR] = "rr",
                                           [SCHED_BATCH] = "batch",
                                           [SCHED_IDLE] = "idle"};
    int core_count;
    char *cores = cores_left_to_thread(&core_count);
    const int nice = getpriority(PRIO_PROCESS, 0), policy = sched_getscheduler(0);
    const bool named = policy >= 0 && (size_t)policy < sizeof policies / sizeof *policies;
    json_t *json = json_pack("{ss*}", "policy", named ? policies[policy] : NULL);
    if (cores) {
        json_object_set_new(json, "cores", json_string(cores));
        json_object_set_new(json, "core_count", json_integer(core_count));
    }
    if (nice != 0)
        json_object_set_new(json, "nice", json_integer(nice));
    free(cores);
    if (json_object_size(json) > 0)
        return json;
    json_decref(json);
    return NULL;
}

double job_host_stalled(void)
{
    char text[256];
    first_line("/proc/pressure/cpu", text, sizeof text);
    const char *average = strstr(text, "avg10=");
    return average ? strtod(average + strlen("avg10="), NULL) / 100 : -1;
}

int64_t job_host_memory_left(void)
{
    return proc_bytes("/proc/meminfo", "MemAvailable");
}

job_memory job_host_memory(void)
{
    return (job_memory){.now = proc_bytes("/proc/self/status", "VmRSS"),
                        .peak = proc_bytes("/proc/self/status", "VmHWM"),
                        .of_files = proc_bytes("/proc/self/status", "RssFile")};
}
