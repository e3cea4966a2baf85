/*
 * compile.c - compiling for a device: loading, stored executables, attributes of loaded ones.
 */
#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- compiling -------------------------------------------------------------------------- */

static bool is_format(const PJRT_Program *program, const char *name)
{
    return program->format_size == strlen(name) &&
           memcmp(program->format, name, program->format_size) == 0;
}

bool sim_program_is_text(const PJRT_Program *program)
{
    return is_format(program, "mlir") &&
           !(program->code_size >= 4 && memcmp(program->code, "ML\xefR", 4) == 0);
}

sim_code sim_check_form(const PJRT_Program *program, const sim_opaque *opaque, sim_status *st)
{
    if (opaque->text || sim_program_is_text(program))
        return SIM_OK;
    if (!is_format(program, "mlir") && !is_format(program, "hlo"))
        return sim_fail(st, SIM_UNIMPLEMENTED, "programs are wanted as mlir");
    return sim_fail(st, SIM_UNIMPLEMENTED,
                    "%s is not read: give the program as StableHLO text, or state by compile "
                    "options what it is: opaque_arguments, opaque_results, and opaque_device_us or "
                    "opaque_flops and opaque_bytes",
                    is_format(program, "mlir") ? "MLIR byte code" : "HLO");
}

/* CODE, which OPAQUE stands for if IS_TEXT is false or it cannot be read. */
static sim_code load(PJRT_Device *device, const char *code_bytes, size_t size, bool is_text,
                     const sim_opaque *opaque, PJRT_LoadedExecutable **loaded, sim_status *st)
{
    PJRT_Executable *x = NULL;
    sim_code code =
        sim_executable_new(&device->client->config, code_bytes, size, is_text, opaque, &x, st);
    if (code != SIM_OK)
        return code;
    *loaded = bn_alloc(sizeof **loaded);
    x->device = device->description.id;
    **loaded = (PJRT_LoadedExecutable){x, device, false};
    return SIM_OK;
}

/* The options of ARGS, for a device of CLIENT. */
static sim_code read_options(const PJRT_Client *client, const PJRT_Client_Compile_Args *args,
                             sim_asked *asked, sim_status *st)
{
    *asked = (sim_asked){0};
    if (args->compile_options_size == 0)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "no compile options");
    if (sim_options_asked(args->compile_options, args->compile_options_size, asked, st) != SIM_OK ||
        sim_check_form(args->program, &asked->opaque, st) != SIM_OK)
        return st->code;
    if (asked->device >= (uint64_t)client->config.devices)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "there is no device %llu",
                        (unsigned long long)asked->device);
    return SIM_OK;
}

SIM_ENTRY(Client_Compile)
{
    PJRT_Client *client = args->client;
    const sim_config *config = &client->config;
    uint64_t begin_ns = sim_now_ns();
    sim_asked asked = {0};
    sim_status st = {.code = SIM_OK};
    const sim_fault *fault = sim_fault_meet(client, SIM_AT_COMPILE);
    if (fault)
        return sim_error(fault->code, fault->kind == SIM_FAULT_OOM
                                          ? "simulated fault: out of memory while compiling"
                                          : "simulated fault: the compilation fails");
    sim_code code = read_options(client, args, &asked, &st);
    if (code == SIM_OK)
        code = load(client->devices[asked.device], args->program->code, args->program->code_size,
                    sim_program_is_text(args->program), &asked.opaque, &args->executable, &st);
    sim_asked_free(&asked);
    if (code != SIM_OK)
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
    if (x->opaque)
        return sim_error(SIM_UNIMPLEMENTED,
                         "an opaque program is not stored: what was stated of it is not its own");
    char head[64], *bytes = bn_alloc(STORED_HEAD_BYTES + x->text_bytes);
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
         args->serialized_executable_size - STORED_HEAD_BYTES, true, &(sim_opaque){0},
         &args->loaded_executable, &st);
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
    char *bytes = bn_alloc(sizeof assignment);
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
