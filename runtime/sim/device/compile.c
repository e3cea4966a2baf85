/*
 * compile.c - compiling for a device: what is asked for, loading, stored executables, and
 * what a loaded executable tells.
 */
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- compile options -------------------------------------------------------------------- */

/* Protocol buffers' varint; false at the end of the bytes. */
static bool take_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* A field: its number, and either its bytes or, of a varint, its value. */
typedef struct field {
    uint64_t number, value;
    const unsigned char *bytes;
    size_t size;
} field;

static bool take_field(const unsigned char **at, const unsigned char *end, field *f)
{
    static const size_t fixed[8] = {[1] = 8, [5] = 4};
    uint64_t key;
    *f = (field){0};
    if (!take_varint(at, end, &key))
        return false;
    f->number = key >> 3;
    if ((key & 7) == 0)
        return take_varint(at, end, &f->value);
    uint64_t size = fixed[key & 7];
    if ((key & 7) == 2 && !take_varint(at, end, &size))
        return false;
    if (size > (uint64_t)(end - *at))
        return false;
    f->bytes = *at;
    f->size = (size_t)size;
    *at += size;
    return true;
}

/* The last message with this field number inside BYTES; an empty one without. */
static field find_field(const unsigned char *bytes, size_t size, uint64_t number)
{
    field f, found = {0};
    for (const unsigned char *at = bytes, *end = bytes + size;
         at < end && take_field(&at, end, &f);)
        if (f.number == number)
            found = f;
    return found;
}

/* CompileOptionsProto of openxla/xla: options of the compiler are env_option_overrides 7;
 * in executable_build_options 3, num_replicas 4 and num_partitions 5. */
sim_code sim_compile_options_check(const char *options, size_t size, sim_status *st)
{
    const unsigned char *bytes = (const unsigned char *)options;
    if (find_field(bytes, size, 7).bytes)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "the simulated compiler takes no options");
    field build = find_field(bytes, size, 3);
    if (find_field(build.bytes, build.size, 4).value > 1 ||
        find_field(build.bytes, build.size, 5).value > 1)
        return sim_fail(st, SIM_UNIMPLEMENTED, "only one replica and one partition");
    return SIM_OK;
}

/* executable_build_options 3, in it device_assignment 9, in it computation_devices 3, in
 * it replica_device_ids 1. */
static sim_code read_options(const PJRT_Client *client, const char *options, size_t size,
                             PJRT_Device **device, sim_status *st)
{
    const unsigned char *bytes = (const unsigned char *)options;
    uint64_t id = 0;
    if (size == 0)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "no compile options");
    if (sim_compile_options_check(options, size, st) != SIM_OK)
        return st->code;
    field f = find_field(bytes, size, 3);
    f = find_field(f.bytes, f.size, 9);
    f = find_field(f.bytes, f.size, 3);
    f = find_field(f.bytes, f.size, 1);
    /* Packed, or a plain number. */
    if (f.bytes) {
        const unsigned char *at = f.bytes;
        take_varint(&at, f.bytes + f.size, &id);
    } else {
        id = f.value;
    }
    if (id >= (uint64_t)client->config.devices)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "there is no device %llu",
                        (unsigned long long)id);
    *device = client->devices[id];
    return SIM_OK;
}

/* ---- compiling -------------------------------------------------------------------------- */

PJRT_Error *sim_check_format(const PJRT_Program *program)
{
    if (program->format_size != 4 || memcmp(program->format, "mlir", 4) != 0)
        return sim_error(SIM_UNIMPLEMENTED, "programs are wanted as mlir");
    if (program->code_size >= 4 && memcmp(program->code, "ML\xefR", 4) == 0)
        return sim_error(SIM_UNIMPLEMENTED,
                         "MLIR byte code is not read: give the program as StableHLO text");
    return NULL;
}

static sim_code load(PJRT_Device *device, const char *text, size_t bytes,
                     PJRT_LoadedExecutable **loaded, sim_status *st)
{
    PJRT_Executable *x = NULL;
    sim_code code = sim_executable_new(&device->client->config, text, bytes, &x, st);
    if (code != SIM_OK)
        return code;
    *loaded = calloc(1, sizeof **loaded);
    if (!*loaded) {
        sim_executable_release(x);
        return sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host");
    }
    x->device = device->description.id;
    **loaded = (PJRT_LoadedExecutable){x, device, false};
    return SIM_OK;
}

SIM_ENTRY(Client_Compile)
{
    PJRT_Client *client = args->client;
    const sim_config *config = &client->config;
    uint64_t begin_ns = sim_now_ns();
    PJRT_Device *device = NULL;
    sim_status st = {.code = SIM_OK};
    PJRT_Error *error = sim_check_format(args->program);
    if (error)
        return error;
    const sim_fault *fault = sim_fault_meet(client, SIM_AT_COMPILE);
    if (fault)
        return sim_error(fault->code, fault->kind == SIM_FAULT_OOM
                                          ? "simulated fault: out of memory while compiling"
                                          : "simulated fault: the compilation fails");
    if (read_options(client, args->compile_options, args->compile_options_size, &device, &st) !=
            SIM_OK ||
        load(device, args->program->code, args->program->code_size, &args->executable, &st) !=
            SIM_OK)
        return sim_error_new(&st);
    double ops = args->executable->executable->cost.op_count;
    sim_wait_until(begin_ns + sim_us_to_ns(config->compile_us + ops * config->compile_op_us));
    return NULL;
}

/* ---- storing ---------------------------------------------------------------------------- */

/* A stored executable is a line with the device's number, then the program's text. */
static const char stored_head[] = "simulated executable 2, device %02d\n";
#define STORED_HEAD_BYTES 34

static void free_stored(PJRT_SerializedExecutable *stored)
{
    free(stored);
}

SIM_ENTRY(Executable_Serialize)
{
    const PJRT_Executable *x = args->executable;
    char head[64], *bytes = malloc(STORED_HEAD_BYTES + x->text_bytes);
    if (!bytes)
        return sim_error(SIM_RESOURCE_EXHAUSTED, "no memory on the host");
    snprintf(head, sizeof head, stored_head, x->device);
    memcpy(bytes, head, STORED_HEAD_BYTES);
    memcpy(bytes + STORED_HEAD_BYTES, x->text, x->text_bytes);
    args->serialized_bytes = bytes;
    args->serialized_bytes_size = STORED_HEAD_BYTES + x->text_bytes;
    args->serialized_executable = (PJRT_SerializedExecutable *)bytes;
    args->serialized_executable_deleter = free_stored;
    return NULL;
}

SIM_ENTRY(Executable_DeserializeAndLoad)
{
    PJRT_Client *client = args->client;
    char head[STORED_HEAD_BYTES + 1] = "", again[64];
    int device = -1;
    sim_status st = {.code = SIM_OK};
    if (args->serialized_executable_size >= STORED_HEAD_BYTES)
        memcpy(head, args->serialized_executable, STORED_HEAD_BYTES);
    sscanf(head, stored_head, &device);
    snprintf(again, sizeof again, stored_head, device);
    if (device < 0 || strcmp(head, again) != 0)
        return sim_error(SIM_INVALID_ARGUMENT, "not a stored executable of this plugin");
    if (device >= client->config.devices)
        return sim_error(SIM_INVALID_ARGUMENT, "the executable is for device %d of %d", device,
                         (int)client->config.devices);
    load(client->devices[device], args->serialized_executable + STORED_HEAD_BYTES,
         args->serialized_executable_size - STORED_HEAD_BYTES, &args->loaded_executable, &st);
    return sim_error_new(&st);
}

/* ---- loaded executables ----------------------------------------------------------------- */

SIM_ENTRY(LoadedExecutable_Destroy)
{
    sim_executable_release(args->executable->executable);
    free(args->executable);
    return NULL;
}

SIM_ENTRY(LoadedExecutable_GetExecutable)
{
    args->executable = sim_executable_retain(args->loaded_executable->executable);
    return NULL;
}

SIM_ENTRY(LoadedExecutable_AddressableDevices)
{
    args->addressable_devices = &args->executable->device;
    args->num_addressable_devices = 1;
    return NULL;
}

static void free_assignment(PJRT_DeviceAssignmentSerialized *assignment)
{
    free(assignment);
}

/* DeviceAssignmentProto of openxla/xla: replica_count 1, computation_count 2, and one of
 * computation_devices 3, in it replica_device_ids 1. Ids are below 64: one byte each. */
SIM_ENTRY(LoadedExecutable_GetDeviceAssignment)
{
    _Static_assert(SIM_MAX_DEVICES <= 128, "an id is one byte");
    const char assignment[] = {
        1 << 3,     1, 2 << 3, 1,
        3 << 3 | 2, 2, 1 << 3, (char)args->executable->device->description.id};
    char *bytes = malloc(sizeof assignment);
    if (!bytes)
        return sim_error(SIM_RESOURCE_EXHAUSTED, "no memory on the host");
    memcpy(bytes, assignment, sizeof assignment);
    args->serialized_bytes = bytes;
    args->serialized_bytes_size = sizeof assignment;
    args->serialized_device_assignment = (PJRT_DeviceAssignmentSerialized *)bytes;
    args->serialized_device_assignment_deleter = free_assignment;
    return NULL;
}

SIM_ENTRY(LoadedExecutable_Delete)
{
    args->executable->deleted = true;
    return NULL;
}

SIM_ENTRY(LoadedExecutable_IsDeleted)
{
    args->is_deleted = args->executable->deleted;
    return NULL;
}

SIM_ENTRY(LoadedExecutable_Fingerprint)
{
    args->executable_fingerprint = args->executable->executable->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable_fingerprint);
    return NULL;
}
