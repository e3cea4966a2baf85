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
    topology->platform = strndup(name.platform_name, name.platform_name_size);
    if (!topology->platform)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a platform name");
    return BN_OK;
}

bn_code rt_topology_create(rt_plugin *plugin, const char *name, const rt_option *options,
                           size_t count, rt_topology **topology, bn_status *st)
{
    if (!name || name[0] == '\0')
        return bn_fail(st, BN_INVALID, "a topology needs a name");
    PJRT_NamedValue *values = NULL;
    rt_topology *created = calloc(1, sizeof *created);
    if (!created)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a topology");
    created->plugin = plugin;
    bn_code code = rt_options_convert(options, count, &values, st);
    if (code != BN_OK)
        goto out;
    PJRT_TopologyDescription_Create_Args args =
        RT_ARGS(PJRT_TopologyDescription_Create, .topology_name = name,
                .topology_name_size = strlen(name), .create_options = values, .num_options = count);
    code = RT_CALL(plugin, PJRT_TopologyDescription_Create, &args, RT_STAGE_OTHER, st);
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
    free(values);
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
    free(topology->platform);
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

bn_code rt_topology_compile(rt_topology *topology, const char *text, size_t length,
                            const rt_compile_options *options, rt_executable **executable,
                            bn_status *st)
{
    if (length == 0)
        return bn_fail(st, BN_INVALID, "empty program");
    void *packed = NULL;
    size_t packed_size = 0;
    bn_code code = rt_compile_options_pack(options, -1, &packed, &packed_size, st);
    if (code != BN_OK)
        return code;
    PJRT_Program program = rt_program_wrap("mlir", text, length);
    PJRT_Compile_Args args =
        RT_ARGS(PJRT_Compile, .topology = topology->handle, .program = &program,
                .compile_options = packed, .compile_options_size = packed_size);
    code = RT_CALL(topology->plugin, PJRT_Compile, &args, RT_STAGE_COMPILE, st);
    free(packed);
    if (code != BN_OK)
        return code;
    return rt_executable_wrap(topology->plugin, NULL, args.executable, executable, st);
}
