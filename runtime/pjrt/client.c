/*
 * client.c - a client on a plugin's devices, and what is known of them.
 *
 * Everything a listing or a record wants is read once, at creation, into the
 * client's arena. Source: PJRT_Client_*, PJRT_Device*_* in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <stdlib.h>

/* Texts that a plugin does not give are empty, never NULL. */
static const char *text_or_empty(bn_arena *arena, bn_code code, const char *bytes, size_t size)
{
    return code == BN_OK && bytes ? rt_text_copy(arena, bytes, size) : "";
}

static void platform_read(rt_client *client)
{
    PJRT_Client_PlatformName_Args name =
        RT_ARGS(PJRT_Client_PlatformName, .client = client->handle);
    bn_code code = RT_CALL(client->plugin, PJRT_Client_PlatformName, &name, RT_STAGE_OTHER, NULL);
    client->platform =
        text_or_empty(client->arena, code, name.platform_name, name.platform_name_size);

    PJRT_Client_PlatformVersion_Args version =
        RT_ARGS(PJRT_Client_PlatformVersion, .client = client->handle);
    code = RT_CALL(client->plugin, PJRT_Client_PlatformVersion, &version, RT_STAGE_OTHER, NULL);
    client->platform_version =
        text_or_empty(client->arena, code, version.platform_version, version.platform_version_size);
}

static void memory_kinds_read(rt_client *client, PJRT_Device *device, rt_device_info *info)
{
    const rt_plugin *plugin = client->plugin;
    PJRT_Device_AddressableMemories_Args memories =
        RT_ARGS(PJRT_Device_AddressableMemories, .device = device);
    if (RT_CALL(plugin, PJRT_Device_AddressableMemories, &memories, RT_STAGE_OTHER, NULL) != BN_OK)
        return;
    const char **kinds =
        bn_arena_zalloc(client->arena, (memories.num_memories + 1) * sizeof *kinds);
    for (size_t i = 0; i < memories.num_memories; i++) {
        PJRT_Memory_Kind_Args kind = RT_ARGS(PJRT_Memory_Kind, .memory = memories.memories[i]);
        bn_code code = RT_CALL(plugin, PJRT_Memory_Kind, &kind, RT_STAGE_OTHER, NULL);
        kinds[i] = text_or_empty(client->arena, code, kind.kind, kind.kind_size);
    }
    info->memory_kinds = kinds;
    info->memory_kind_count = memories.num_memories;
}

static void device_read(rt_client *client, PJRT_Device *device, rt_device_info *info)
{
    const rt_plugin *plugin = client->plugin;
    *info = (rt_device_info){.id = -1, .kind = "", .description = ""};
    memory_kinds_read(client, device, info);

    PJRT_Device_GetDescription_Args get = RT_ARGS(PJRT_Device_GetDescription, .device = device);
    if (RT_CALL(plugin, PJRT_Device_GetDescription, &get, RT_STAGE_OTHER, NULL) != BN_OK)
        return;
    PJRT_DeviceDescription *description = get.device_description;

    PJRT_DeviceDescription_Id_Args id =
        RT_ARGS(PJRT_DeviceDescription_Id, .device_description = description);
    if (RT_CALL(plugin, PJRT_DeviceDescription_Id, &id, RT_STAGE_OTHER, NULL) == BN_OK)
        info->id = id.id;

    PJRT_DeviceDescription_Kind_Args kind =
        RT_ARGS(PJRT_DeviceDescription_Kind, .device_description = description);
    bn_code code = RT_CALL(plugin, PJRT_DeviceDescription_Kind, &kind, RT_STAGE_OTHER, NULL);
    info->kind = text_or_empty(client->arena, code, kind.device_kind, kind.device_kind_size);

    PJRT_DeviceDescription_ToString_Args print =
        RT_ARGS(PJRT_DeviceDescription_ToString, .device_description = description);
    code = RT_CALL(plugin, PJRT_DeviceDescription_ToString, &print, RT_STAGE_OTHER, NULL);
    info->description = text_or_empty(client->arena, code, print.to_string, print.to_string_size);

    PJRT_DeviceDescription_Attributes_Args list =
        RT_ARGS(PJRT_DeviceDescription_Attributes, .device_description = description);
    if (RT_CALL(plugin, PJRT_DeviceDescription_Attributes, &list, RT_STAGE_OTHER, NULL) == BN_OK)
        info->attributes = rt_attributes_copy(client->arena, list.attributes, list.num_attributes);
    info->attribute_count = info->attributes ? list.num_attributes : 0;
}

static bn_code devices_read(rt_client *client, bn_status *st)
{
    PJRT_Client_AddressableDevices_Args devices =
        RT_ARGS(PJRT_Client_AddressableDevices, .client = client->handle);
    bn_code code =
        RT_CALL(client->plugin, PJRT_Client_AddressableDevices, &devices, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    if (devices.num_addressable_devices == 0)
        return bn_fail(st, BN_NOT_FOUND, "the plugin has no device");
    client->devices = devices.addressable_devices;
    client->device_count = devices.num_addressable_devices;
    client->infos = bn_arena_zalloc(client->arena, client->device_count * sizeof *client->infos);
    for (size_t i = 0; i < client->device_count; i++)
        device_read(client, client->devices[i], &client->infos[i]);
    return BN_OK;
}

static bn_code handle_create(rt_client *client, const rt_option *options, size_t count,
                             bn_status *st)
{
    PJRT_NamedValue *values = rt_options_convert(options, count);
    PJRT_Client_Create_Args args =
        RT_ARGS(PJRT_Client_Create, .create_options = values, .num_options = count);
    bn_code code = RT_CALL(client->plugin, PJRT_Client_Create, &args, RT_STAGE_CREATE, st);
    free(values);
    if (code != BN_OK)
        return code;
    client->handle = args.client;
    rt_live_add(RT_LIVE_CLIENT, 1);
    return BN_OK;
}

bn_code rt_client_create(rt_plugin *plugin, const rt_option *options, size_t count,
                         rt_client **client, bn_status *st)
{
    rt_client *created = bn_zalloc(1, sizeof *created);
    created->arena = bn_arena_new(4096);
    created->plugin = plugin;
    created->settings = rt_settings_text(options, count);
    bn_code code = handle_create(created, options, count, st);
    if (code == BN_OK) {
        platform_read(created);
        code = devices_read(created, st);
    }
    if (code != BN_OK) {
        rt_client_destroy(created);
        return bn_context(st, "creating a client");
    }
    *client = created;
    return BN_OK;
}

void rt_client_destroy(rt_client *client)
{
    if (!client)
        return;
    if (client->handle) {
        PJRT_Client_Destroy_Args args = RT_ARGS(PJRT_Client_Destroy, .client = client->handle);
        if (RT_CALL(client->plugin, PJRT_Client_Destroy, &args, RT_STAGE_OTHER, NULL) == BN_OK)
            rt_live_add(RT_LIVE_CLIENT, -1);
    }
    bn_arena_free(client->arena);
    free(client->settings);
    free(client);
}

const char *rt_client_settings(const rt_client *client)
{
    return client->settings;
}

rt_plugin *rt_client_plugin(const rt_client *client)
{
    return client->plugin;
}

const char *rt_client_platform(const rt_client *client)
{
    return client->platform;
}

const char *rt_client_platform_version(const rt_client *client)
{
    return client->platform_version;
}

size_t rt_client_device_count(const rt_client *client)
{
    return client->device_count;
}

const rt_device_info *rt_client_device(const rt_client *client, size_t index)
{
    return index < client->device_count ? &client->infos[index] : NULL;
}

bn_code rt_client_memory(const rt_client *client, size_t device, rt_device_memory *memory,
                         bn_status *st)
{
    if (device >= client->device_count)
        return bn_fail(st, BN_INVALID, "device %zu of %zu", device, client->device_count);
    PJRT_Device_MemoryStats_Args args =
        RT_ARGS(PJRT_Device_MemoryStats, .device = client->devices[device], .bytes_in_use = -1);
    bn_code code = RT_CALL(client->plugin, PJRT_Device_MemoryStats, &args, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    *memory = (rt_device_memory){
        .bytes_in_use = args.bytes_in_use,
        .peak_bytes_in_use = args.peak_bytes_in_use_is_set ? args.peak_bytes_in_use : -1,
        .bytes_limit = args.bytes_limit_is_set ? args.bytes_limit : -1,
    };
    return BN_OK;
}
