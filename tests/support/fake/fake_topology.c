/*
 * fake_topology.c - topologies, for which programs can be compiled without a device: "fake:N" has N
 * devices, so has "v4:N", and there is the chip configuration "megacore" besides the usual one.
 */
#include "tests/support/fake/fake.h"

PJRT_Error *fake_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *args)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)args->topology_name_size, args->topology_name);
    unsigned count = 0;
    for (size_t i = 0; i < args->num_options; i++) {
        const PJRT_NamedValue *option = &args->create_options[i];
        if (option->type != PJRT_NamedValue_kString ||
            strncmp(option->name, "chip_config_name", option->name_size) != 0 ||
            strncmp(option->string_value, "megacore", option->value_size) != 0)
            return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no such chip configuration");
    }
    if ((sscanf(name, "fake:%u", &count) != 1 && sscanf(name, "v4:%u", &count) != 1) ||
        count == 0 || count > 8)
        return fake_error_new(PJRT_Error_Code_NOT_FOUND, "no such topology");
    PJRT_TopologyDescription *topology = fake_object_new(sizeof *topology);
    topology->count = count;
    for (size_t i = 0; i < count; i++)
        topology->list[i] = &topology->descriptions[i];
    args->topology = topology;
    return NULL;
}

PJRT_Error *fake_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *args)
{
    fake_object_free(args->topology);
    return NULL;
}

PJRT_Error *fake_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args *args)
{
    args->platform_name = "fakery";
    args->platform_name_size = 4;
    return NULL;
}

PJRT_Error *fake_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args)
{
    args->descriptions = args->topology->list;
    args->num_descriptions = args->topology->count;
    return NULL;
}

PJRT_Error *fake_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args *args)
{
    static const PJRT_NamedValue values[] = {{NAMED("chips", kInt64, 1), .int64_value = 3}};
    args->attributes = values;
    args->num_attributes = 1;
    return NULL;
}

PJRT_Error *fake_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args *args)
{
    static const PJRT_NamedValue values[] = {
        {NAMED("core_on_chip", kInt64, 1), .int64_value = 0},
        {NAMED("device_memory_bytes_limit", kInt64, 1), .int64_value = 1000000}};
    args->attributes = values;
    args->num_attributes = 2;
    return NULL;
}
