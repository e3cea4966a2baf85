/* host.c - what machine this is, for the record. */
#define _GNU_SOURCE
#include "harness/harness.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef BENCH_VERSION
#define BENCH_VERSION "unknown"
#endif

/* First line of a small file without its newline; "" when there is none. */
static void first_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "r");
    text[0] = '\0';
    if (f && fgets(text, (int)size, f))
        text[strcspn(text, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* The value after "KEY" and a colon in a file of such lines. */
static void key_value(const char *path, const char *key, char *text, size_t size)
{
    char row[512];
    FILE *f = fopen(path, "r");
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

static json_t *topology_json(void)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *name;
    } kinds[] = {{HWLOC_OBJ_PACKAGE, "packages"},  {HWLOC_OBJ_NUMANODE, "numa_nodes"},
                 {HWLOC_OBJ_L3CACHE, "l3_caches"}, {HWLOC_OBJ_L2CACHE, "l2_caches"},
                 {HWLOC_OBJ_CORE, "cores"},        {HWLOC_OBJ_PU, "processing_units"}};
    hwloc_topology_t topology;
    json_t *json = json_object();
    if (hwloc_topology_init(&topology) != 0)
        return json;
    if (hwloc_topology_load(topology) == 0) {
        char *xml = NULL;
        int length = 0;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            json_object_set_new(json, kinds[i].name,
                                json_integer(hwloc_get_nbobjs_by_type(topology, kinds[i].type)));
        if (hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0) == 0) {
            json_object_set_new(json, "xml", json_string(xml));
            hwloc_free_xmlbuffer(topology, xml);
        }
    }
    hwloc_topology_destroy(topology);
    return json;
}

json_t *hn_host_describe(void)
{
    char hostname[256] = "", cpu[256], governor[64], total[64];
    struct utsname kernel = {0};
    double load[3] = {-1, -1, -1};
    if (gethostname(hostname, sizeof hostname - 1) != 0)
        hostname[0] = '\0';
    uname(&kernel);
    key_value("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    key_value("/proc/meminfo", "MemTotal", total, sizeof total);
    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    if (getloadavg(load, 3) < 1)
        load[0] = -1;
    return json_pack("{ss ss ss ss si so sI sf ss ss so}", "hostname", hostname, "kernel",
                     kernel.release, "machine", kernel.machine, "cpu", cpu, "cores_online",
                     (int)sysconf(_SC_NPROCESSORS_ONLN), "governor",
                     governor[0] ? json_string(governor) : json_null(), "memory_bytes",
                     (json_int_t)(atoll(total) * 1024), "load_1min", load[0], "bench_version",
                     BENCH_VERSION, "compiler", __VERSION__, "topology", topology_json());
}

void hn_host_memory(int64_t *now, int64_t *peak)
{
    char text[64];
    key_value("/proc/self/status", "VmRSS", text, sizeof text);
    *now = text[0] ? atoll(text) * 1024 : -1;
    key_value("/proc/self/status", "VmHWM", text, sizeof text);
    *peak = text[0] ? atoll(text) * 1024 : -1;
}
