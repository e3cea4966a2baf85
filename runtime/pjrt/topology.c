/*
 * topology.c - compiling ahead of time for devices that are not here.
 *
 * Which names a plugin knows is its own affair; an empty name is refused here,
 * because libtpu takes it for its oldest machine. Source:
 * PJRT_TopologyDescription_* and PJRT_Compile in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <stdlib.h>
#include <string.h>

/* The plugin's figures of the attribute called NAME, among COUNT of LIST; -1: there is none. */
static int64_t find_integer(const rt_attribute *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == RT_ATTR_INT && strcmp(list[i].name, name) == 0)
            return list[i].integer;
    return -1;
}

/* Copies the plugin's description of FIRST, the first device, if there is one. All of it is
 * optional.
 */
static void describe_device(rt_topology *t, PJRT_DeviceDescription *first)
{
    PJRT_DeviceDescription_Kind_Args kind =
        RT_ARGS(PJRT_DeviceDescription_Kind, .device_description = first);
    PJRT_DeviceDescription_Attributes_Args its =
        RT_ARGS(PJRT_DeviceDescription_Attributes, .device_description = first);
    t->info.kind = "";
    if (!first)
        return;
    if (RT_CALL(t->plugin, PJRT_DeviceDescription_Kind, &kind, RT_STAGE_OTHER, NULL) == BN_OK)
        t->info.kind = rt_text_copy(t->arena, kind.device_kind, kind.device_kind_size);
    if (RT_CALL(t->plugin, PJRT_DeviceDescription_Attributes, &its, RT_STAGE_OTHER, NULL) ==
        BN_OK) {
        t->info.device_attributes =
            rt_attributes_copy(t->arena, its.attributes, its.num_attributes);
        t->info.device_attribute_count = t->info.device_attributes ? its.num_attributes : 0;
    }
}

/* The same of the topology itself. */
static void describe_topology(rt_topology *t)
{
    static const char memory[] = "device_memory_bytes_limit";
    rt_topology_info *info = &t->info;
    PJRT_TopologyDescription_Attributes_Args own =
        RT_ARGS(PJRT_TopologyDescription_Attributes, .topology = t->handle);
    if (RT_CALL(t->plugin, PJRT_TopologyDescription_Attributes, &own, RT_STAGE_OTHER, NULL) ==
        BN_OK) {
        info->attributes = rt_attributes_copy(t->arena, own.attributes, own.num_attributes);
        info->attribute_count = info->attributes ? own.num_attributes : 0;
    }
    info->memory_bytes =
        find_integer(info->device_attributes, info->device_attribute_count, memory);
    if (info->memory_bytes < 0)
        info->memory_bytes = find_integer(info->attributes, info->attribute_count, memory);
}

static bn_code topology_read(rt_topology *topology, bn_status *st)
{
    const rt_plugin *plugin = topology->plugin;
    PJRT_TopologyDescription_GetDeviceDescriptions_Args devices =
        RT_ARGS(PJRT_TopologyDescription_GetDeviceDescriptions, .topology = topology->handle);
    bn_code code = RT_CALL(plugin, PJRT_TopologyDescription_GetDeviceDescriptions, &devices,
                           RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    topology->device_count = devices.num_descriptions;

    PJRT_TopologyDescription_PlatformName_Args name =
        RT_ARGS(PJRT_TopologyDescription_PlatformName, .topology = topology->handle);
    code = RT_CALL(plugin, PJRT_TopologyDescription_PlatformName, &name, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    topology->platform = rt_text_copy(topology->arena, name.platform_name, name.platform_name_size);
    describe_device(topology, devices.num_descriptions ? devices.descriptions[0] : NULL);
    describe_topology(topology);
    return BN_OK;
}

bn_code rt_topology_create(rt_plugin *plugin, const char *name, const rt_option *options,
                           size_t count, rt_topology **topology, bn_status *st)
{
    if (!name || name[0] == '\0')
        return bn_fail(st, BN_INVALID, "a topology needs a name");
    PJRT_NamedValue *values = rt_options_convert(options, count);
    rt_topology *created = bn_zalloc(1, sizeof *created);
    created->plugin = plugin;
    created->arena = bn_arena_new(1024);
    PJRT_TopologyDescription_Create_Args args =
        RT_ARGS(PJRT_TopologyDescription_Create, .topology_name = name,
                .topology_name_size = strlen(name), .create_options = values, .num_options = count);
    bn_code code = RT_CALL(plugin, PJRT_TopologyDescription_Create, &args, RT_STAGE_OTHER, st);
    free(values);
    if (code != BN_OK)
        goto out;
    created->handle = args.topology;
    rt_live_add(RT_LIVE_TOPOLOGY, 1);
    code = topology_read(created, st);
    if (code != BN_OK)
        goto out;
    *topology = created;
    created = NULL;
out:
    rt_topology_destroy(created);
    if (code != BN_OK)
        bn_context(st, "topology '%s'", name);
    return code;
}

void rt_topology_destroy(rt_topology *topology)
{
    if (!topology)
        return;
    if (topology->handle) {
        PJRT_TopologyDescription_Destroy_Args args =
            RT_ARGS(PJRT_TopologyDescription_Destroy, .topology = topology->handle);
        if (RT_CALL(topology->plugin, PJRT_TopologyDescription_Destroy, &args, RT_STAGE_OTHER,
                    NULL) == BN_OK)
            rt_live_add(RT_LIVE_TOPOLOGY, -1);
    }
    bn_arena_free(topology->arena);
    free(topology);
}

const char *rt_topology_platform(const rt_topology *topology)
{
    return topology->platform;
}

size_t rt_topology_device_count(const rt_topology *topology)
{
    return topology->device_count;
}

const rt_topology_info *rt_topology_describe(const rt_topology *topology)
{
    return &topology->info;
}

bn_code rt_topology_compile_program(rt_topology *topology, const rt_program *its,
                                    const rt_compile_options *options, rt_executable **executable,
                                    bn_status *st)
{
    if (its->size == 0)
        return bn_fail(st, BN_INVALID, "empty program");
    if (strcmp(its->format, "executable") == 0)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "a compiled executable, which is of its own device; only programs can be "
                       "compiled for another");
    void *packed = NULL;
    size_t packed_size = 0;
    bn_code code = rt_compile_options_pack(options, -1, &packed, &packed_size, st);
    if (code != BN_OK)
        return code;
    PJRT_Program program = rt_program_wrap(its->format, its->code, its->size);
    PJRT_Compile_Args args =
        RT_ARGS(PJRT_Compile, .topology = topology->handle, .program = &program,
                .compile_options = packed, .compile_options_size = packed_size);
    code = RT_CALL(topology->plugin, PJRT_Compile, &args, RT_STAGE_COMPILE, st);
    free(packed);
    if (code != BN_OK)
        return code;
    return rt_executable_wrap(topology->plugin, NULL, args.executable, executable, st);
}
