/* client.c - the client, its devices and their memories, as callers ask about them. */
#define _GNU_SOURCE
#include "runtime/sim/device/sim_priv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---------------------------------------------------------------------------- */

static sim_code set_option(sim_config *config, const PJRT_NamedValue *option, sim_status *st)
{
    char value[4096], name[64];
    snprintf(name, sizeof name, "%.*s", (int)option->name_size, option->name);
    switch (option->type) {
    case PJRT_NamedValue_kString:
        if (option->value_size >= sizeof value)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: too long", name);
        snprintf(value, sizeof value, "%.*s", (int)option->value_size, option->string_value);
        break;
    case PJRT_NamedValue_kInt64:
        snprintf(value, sizeof value, "%lld", (long long)option->int64_value);
        break;
    case PJRT_NamedValue_kFloat:
        snprintf(value, sizeof value, "%.9g", (double)option->float_value);
        break;
    case PJRT_NamedValue_kBool:
        snprintf(value, sizeof value, "%s", option->bool_value ? "true" : "false");
        break;
    default:
        return sim_fail(st, SIM_INVALID_ARGUMENT, "%s: no setting is a list", name);
    }
    return sim_config_set(config, name, value, st);
}

/* A preset comes first, wherever it stands: others change single figures of it. */
sim_code sim_options_read(sim_config *config, const char *preset_name,
                          const PJRT_NamedValue *options, size_t count, sim_status *st)
{
    sim_code code = sim_config_begin(config, st);
    if (code == SIM_OK && preset_name)
        code = sim_config_set(config, "preset", preset_name, st);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count && code == SIM_OK; i++) {
            const PJRT_NamedValue *option = &options[i];
            bool preset = option->name_size == 6 && memcmp(option->name, "preset", 6) == 0;
            if (preset == (pass == 0))
                code = set_option(config, option, st);
        }
    }
    return code == SIM_OK ? sim_config_check(config, st) : code;
}

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

/* {"await_late": {...}, "execute_late": {...}, "late_values": 0}; a report that cannot
 * be written is missed by whoever asked for it. */
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
    fprintf(out, ", \"late_values\": %llu}\n", (unsigned long long)client->late_values);
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

void sim_version_text(const sim_config *config, char *text, size_t size)
{
    snprintf(text, size, "simulated, preset %s; times are modelled", config->preset);
}

static bool client_fill(PJRT_Client *client)
{
    const sim_config *c = &client->config;
    bool good = true;
    sim_version_text(c, client->platform_version, sizeof client->platform_version);
    if (c->report[0]) {
        client->await_late.ns = calloc(SIM_LATENESS_KEPT, sizeof(uint32_t));
        client->execute_late.ns = calloc(SIM_LATENESS_KEPT, sizeof(uint32_t));
    }
    for (int64_t i = 0; i < c->devices && good; i++) {
        PJRT_Device *device = calloc(1, sizeof *device);
        client->devices[i] = device;
        good = device && sim_device_start(device, client, (int)i);
        client->memories[i] = device ? &device->memory : NULL;
    }
    return good;
}

SIM_ENTRY(Client_Create)
{
    uint64_t begin_ns = sim_now_ns();
    sim_status st = {.code = SIM_OK};
    PJRT_Client *client = calloc(1, sizeof *client);
    if (!client)
        return sim_error(SIM_RESOURCE_EXHAUSTED, "no memory for a client");
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
        sim_fail(&st, SIM_RESOURCE_EXHAUSTED, "no memory or no threads for the devices");
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

const sim_fault *sim_fault_meet(PJRT_Client *client, sim_fault_at at)
{
    uint64_t number = atomic_fetch_add(&client->calls[at], 1) + 1;
    const sim_fault *fault = sim_fault_find(&client->config, at, number);
    if (fault && fault->kind == SIM_FAULT_ABORT) {
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    }
    while (fault && fault->kind == SIM_FAULT_HANG)
        pause();
    return fault;
}

/* ---- what a client tells ---------------------------------------------------------------- */

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

/* ---- what devices tell ------------------------------------------------------------------ */

SIM_ENTRY(DeviceDescription_Id)
{
    args->id = args->device_description->id;
    return NULL;
}

SIM_ENTRY(DeviceDescription_ProcessIndex)
{
    args->process_index = 0;
    return NULL;
}

SIM_ENTRY(DeviceDescription_Attributes)
{
    args->attributes = args->device_description->attributes;
    args->num_attributes = 3;
    return NULL;
}

SIM_ENTRY(DeviceDescription_Kind)
{
    args->device_kind = args->device_description->kind;
    args->device_kind_size = strlen(args->device_description->kind);
    return NULL;
}

SIM_ENTRY(DeviceDescription_DebugString)
{
    args->debug_string = args->device_description->text;
    args->debug_string_size = strlen(args->device_description->text);
    return NULL;
}

SIM_ENTRY(DeviceDescription_ToString)
{
    args->to_string = args->device_description->text;
    args->to_string_size = strlen(args->device_description->text);
    return NULL;
}

SIM_ENTRY(Device_GetDescription)
{
    args->device_description = &args->device->description;
    return NULL;
}

SIM_ENTRY(Device_IsAddressable)
{
    args->is_addressable = true;
    return NULL;
}

SIM_ENTRY(Device_LocalHardwareId)
{
    args->local_hardware_id = args->device->description.id;
    return NULL;
}

SIM_ENTRY(Device_AddressableMemories)
{
    args->device->memories[0] = &args->device->memory;
    args->memories = args->device->memories;
    args->num_memories = 1;
    return NULL;
}

SIM_ENTRY(Device_DefaultMemory)
{
    args->memory = &args->device->memory;
    return NULL;
}

SIM_ENTRY(Device_MemoryStats)
{
    PJRT_Device *device = args->device;
    pthread_mutex_lock(&device->client->lock);
    args->bytes_in_use = device->bytes_in_use;
    args->peak_bytes_in_use = device->peak_bytes;
    args->peak_bytes_in_use_is_set = true;
    args->bytes_limit = device->client->config.memory_bytes;
    args->bytes_limit_is_set = true;
    pthread_mutex_unlock(&device->client->lock);
    /* Nobody else clears what is not told. */
    args->num_allocs_is_set = args->largest_alloc_size_is_set = false;
    args->bytes_reserved_is_set = args->peak_bytes_reserved_is_set = false;
    args->bytes_reservable_limit_is_set = args->largest_free_block_bytes_is_set = false;
    /* Clients of an older time have no room for these. */
    if (args->struct_size >= PJRT_Device_MemoryStats_Args_STRUCT_SIZE)
        args->pool_bytes_is_set = args->peak_pool_bytes_is_set = false;
    return NULL;
}

SIM_ENTRY(Memory_Id)
{
    args->id = args->memory->id;
    return NULL;
}

SIM_ENTRY(Memory_Kind)
{
    args->kind = "device";
    args->kind_size = 6;
    return NULL;
}

SIM_ENTRY(Memory_Kind_Id)
{
    args->kind_id = 0;
    return NULL;
}

SIM_ENTRY(Memory_DebugString)
{
    args->debug_string = args->memory->text;
    args->debug_string_size = strlen(args->memory->text);
    return NULL;
}

SIM_ENTRY(Memory_ToString)
{
    args->to_string = args->memory->text;
    args->to_string_size = strlen(args->memory->text);
    return NULL;
}

SIM_ENTRY(Memory_AddressableByDevices)
{
    args->devices = &args->memory->device;
    args->num_devices = 1;
    return NULL;
}
