/* client.c - a client: its life, its report and its attributes. */
#include "runtime/sim/device/client.h"
#include "runtime/base/base.h"
#include "runtime/sim/device/config.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the report ------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void write_lateness(FILE *out, const char *name, sim_lateness *l)
{
    qsort(l->ns, l->kept, sizeof *l->ns, by_size);
    double p[3] = {0, 0, 0};
    const double at[3] = {0.5, 0.9, 0.99};
    for (int i = 0; i < 3 && l->kept > 0; i++)
        p[i] = l->ns[(size_t)(at[i] * (double)(l->kept - 1))] / 1e3;
    fprintf(out,
            "\"%s\": {\"count\": %llu, \"over_5us\": %llu, \"p50_us\": %.3f, \"p90_us\": %.3f, "
            "\"p99_us\": %.3f}",
            name, (unsigned long long)l->count, (unsigned long long)l->over_5us, p[0], p[1], p[2]);
}

/* {"await_late": {...}, "execute_late": {...}, "late_values": 0, "seed": 1,
 * "process_factor": 1}. A report that cannot be written is no error. */
static void write_report(PJRT_Client *client)
{
    FILE *out =
        client->await_late.ns && client->execute_late.ns ? fopen(client->config.report, "w") : NULL;
    if (!out)
        return;
    fputs("{", out);
    write_lateness(out, "await_late", &client->await_late);
    fputs(", ", out);
    write_lateness(out, "execute_late", &client->execute_late);
    fprintf(out, ", \"late_values\": %llu, \"seed\": %llu, \"process_factor\": %.9g}\n",
            (unsigned long long)client->late_values, (unsigned long long)client->config.seed,
            client->process_factor);
    fclose(out);
}

/* ---- life ------------------------------------------------------------------------------- */

static void client_free(PJRT_Client *client)
{
    for (int64_t i = 0; i < client->config.devices; i++) {
        if (client->devices[i])
            sim_device_stop(client->devices[i]);
        free(client->devices[i]);
    }
    if (client->config.report[0])
        write_report(client);
    free(client->await_late.ns);
    free(client->execute_late.ns);
    sim_topology_free(client->topology);
    pthread_cond_destroy(&client->settled);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

/* Draws what holds for the whole process. A seed that was not set is drawn, too. */
static void draw_process(PJRT_Client *client)
{
    sim_config *c = &client->config;
    if (c->seed < 0)
        c->seed = sim_random_seed();
    client->seed = sim_random_begin((uint64_t)c->seed, (uint64_t)c->process).state;
    sim_random own = sim_random_begin(client->seed, SIM_STREAM_CLIENT);
    client->process_factor = exp(c->process_sd * sim_random_normal(&own));
    if (sim_random_uniform(&own) < c->slow_rate)
        client->process_factor *= c->slow_factor;
}

static bool client_fill(PJRT_Client *client)
{
    const sim_config *c = &client->config;
    bool good = true;
    draw_process(client);
    sim_version_text(c, client->platform_version, sizeof client->platform_version);
    if (c->report[0]) {
        client->await_late.ns = bn_zalloc(SIM_LATENESS_KEPT, sizeof(uint32_t));
        client->execute_late.ns = bn_zalloc(SIM_LATENESS_KEPT, sizeof(uint32_t));
    }
    for (int64_t i = 0; i < c->devices && good; i++) {
        PJRT_Device *device = bn_zalloc(1, sizeof *device);
        client->devices[i] = device;
        good = sim_device_start(device, client, (int)i);
        client->memories[i] = &device->memory;
    }
    return good;
}

SIM_ENTRY(Client_Create)
{
    uint64_t begin_ns = sim_now_ns();
    sim_status st = {.code = SIM_OK};
    PJRT_Client *client = bn_zalloc(1, sizeof *client);
    if (sim_options_read(&client->config, NULL, args->create_options, args->num_options, &st) !=
        SIM_OK) {
        free(client);
        return sim_error_new(&st);
    }
    pthread_mutex_init(&client->lock, NULL);
    pthread_cond_init(&client->settled, NULL);
    const sim_fault *fault = sim_fault_meet(client, SIM_AT_CLIENT);
    if (fault)
        sim_fail(&st, fault->code, "simulated fault: the client is not made");
    else if (!client_fill(client))
        sim_fail(&st, SIM_RESOURCE_EXHAUSTED, "no threads for the devices");
    if (st.code != SIM_OK) {
        client->config.report[0] = '\0';
        client_free(client);
        return sim_error_new(&st);
    }
    sim_wait_until(begin_ns + sim_us_to_ns(client->config.start_us));
    args->client = client;
    return NULL;
}

SIM_ENTRY(Client_Destroy)
{
    client_free(args->client);
    return NULL;
}

/* ---- attributes ------------------------------------------------------------------------- */

SIM_ENTRY(Client_PlatformName)
{
    args->platform_name = "sim";
    args->platform_name_size = 3;
    return NULL;
}

SIM_ENTRY(Client_PlatformVersion)
{
    args->platform_version = args->client->platform_version;
    args->platform_version_size = strlen(args->client->platform_version);
    return NULL;
}

SIM_ENTRY(Client_ProcessIndex)
{
    args->process_index = 0;
    return NULL;
}

SIM_ENTRY(Client_Devices)
{
    args->devices = args->client->devices;
    args->num_devices = (size_t)args->client->config.devices;
    return NULL;
}

SIM_ENTRY(Client_AddressableDevices)
{
    args->addressable_devices = args->client->devices;
    args->num_addressable_devices = (size_t)args->client->config.devices;
    return NULL;
}

static PJRT_Error *find_device(PJRT_Client *client, int64_t id, PJRT_Device **device)
{
    if (id < 0 || id >= client->config.devices)
        return sim_error(SIM_INVALID_ARGUMENT, "there is no device %lld", (long long)id);
    *device = client->devices[id];
    return NULL;
}

SIM_ENTRY(Client_LookupDevice)
{
    return find_device(args->client, args->id, &args->device);
}

SIM_ENTRY(Client_LookupAddressableDevice)
{
    return find_device(args->client, args->local_hardware_id, &args->addressable_device);
}

SIM_ENTRY(Client_AddressableMemories)
{
    args->addressable_memories = args->client->memories;
    args->num_addressable_memories = (size_t)args->client->config.devices;
    return NULL;
}

SIM_ENTRY(Client_DefaultDeviceAssignment)
{
    if (args->num_partitions != 1 || args->num_replicas != 1 || args->default_assignment_size < 1)
        return sim_error(SIM_UNIMPLEMENTED, "only one replica and one partition");
    args->default_assignment[0] = 0;
    return NULL;
}
