/*
 * topology.c - a client's devices as a topology, and topologies by a preset's name,
 * for which programs are compiled without a device: the cost analysis then says what
 * the model makes of them.
 */
#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/config.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct PJRT_TopologyDescription {
    sim_config config;
    int64_t count;
    char version[128];
    PJRT_DeviceDescription devices[SIM_MAX_DEVICES], *list[SIM_MAX_DEVICES];
    PJRT_NamedValue attribute;
};

static PJRT_TopologyDescription *topology_new(const sim_config *config)
{
    PJRT_TopologyDescription *t = bn_zalloc(1, sizeof *t);
    t->config = *config;
    t->count = config->devices;
    sim_version_text(config, t->version, sizeof t->version);
    for (int64_t i = 0; i < t->count; i++) {
        sim_description_fill(&t->devices[i], &t->config, (int)i);
        t->list[i] = &t->devices[i];
    }
    t->attribute = (PJRT_NamedValue){SIM_NAMED("simulated", kInt64, 1), .int64_value = 1};
    return t;
}

void sim_topology_free(PJRT_TopologyDescription *topology)
{
    free(topology);
}

SIM_ENTRY(Client_TopologyDescription)
{
    PJRT_Client *client = args->client;
    pthread_mutex_lock(&client->lock);
    if (!client->topology)
        client->topology = topology_new(&client->config);
    args->topology = client->topology;
    pthread_mutex_unlock(&client->lock);
    return NULL;
}

/* "tpu-v4": the preset; settings of the environment and options come on top. */
SIM_ENTRY(TopologyDescription_Create)
{
    sim_config config;
    sim_status st = {.code = SIM_OK};
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)args->topology_name_size, args->topology_name);
    if (!sim_preset_find(name))
        return sim_error(SIM_NOT_FOUND, "there is no topology '%s': name a preset, as tpu-v4",
                         name);
    if (sim_options_read(&config, name, args->create_options, args->num_options, &st) != SIM_OK)
        return sim_error_new(&st);
    args->topology = topology_new(&config);
    return NULL;
}

SIM_ENTRY(TopologyDescription_Destroy)
{
    sim_topology_free(args->topology);
    return NULL;
}

SIM_ENTRY(TopologyDescription_PlatformName)
{
    args->platform_name = "sim";
    args->platform_name_size = 3;
    return NULL;
}

SIM_ENTRY(TopologyDescription_PlatformVersion)
{
    args->platform_version = args->topology->version;
    args->platform_version_size = strlen(args->topology->version);
    return NULL;
}

SIM_ENTRY(TopologyDescription_GetDeviceDescriptions)
{
    args->descriptions = args->topology->list;
    args->num_descriptions = (size_t)args->topology->count;
    return NULL;
}

SIM_ENTRY(TopologyDescription_Attributes)
{
    args->attributes = &args->topology->attribute;
    args->num_attributes = 1;
    return NULL;
}

/* Takes no simulated time: nothing waits for it. */
SIM_ENTRY(Compile)
{
    sim_status st = {.code = SIM_OK};
    sim_asked asked;
    if (sim_options_asked(args->compile_options, args->compile_options_size, &asked, &st) ==
            SIM_OK &&
        sim_check_form(args->program, &asked.opaque, &st) == SIM_OK)
        sim_executable_new(&args->topology->config, args->program->code, args->program->code_size,
                           sim_program_is_text(args->program), &asked.opaque, &args->executable,
                           &st);
    sim_asked_free(&asked);
    return sim_error_new(&st);
}
