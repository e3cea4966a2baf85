/*
 * executable.c - compiling: reading a program, weighing it, and what it then tells.
 */
#include "runtime/sim/device/sim_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stored executable is a line with the device's number, then the program's text. */
static const char stored_head[] = "simulated executable 2, device %02d\n";
#define STORED_HEAD_BYTES 34

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

/* The next field: its number, and its bytes or its number's value. */
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

/* ---- making ----------------------------------------------------------------------------- */

PJRT_Executable *sim_executable_retain(PJRT_Executable *executable)
{
    atomic_fetch_add(&executable->references, 1);
    return executable;
}

void sim_executable_release(PJRT_Executable *x)
{
    if (!x || atomic_fetch_sub(&x->references, 1) != 1)
        return;
    sim_program_free(x->program);
    sim_cost_free(&x->cost);
    free(x->text);
    free(x->result_types);
    free(x->result_dims);
    free(x->result_ranks);
    free(x->memory_kinds);
    free(x->memory_kind_sizes);
    free(x);
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static void fingerprint(PJRT_Executable *x)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < x->text_bytes; i++)
        hash = (hash ^ (unsigned char)x->text[i]) * UINT64_C(0x100000001b3);
    snprintf(x->fingerprint, sizeof x->fingerprint, "%016llx", (unsigned long long)hash);
}

static bool fill_results(PJRT_Executable *x)
{
    const sim_block *body = &x->program->main->body;
    size_t n = (size_t)body->result_count, used = 0;
    x->result_types = calloc(n + 1, sizeof *x->result_types);
    x->result_dims = calloc(n * SIM_MAX_RANK + 1, sizeof *x->result_dims);
    x->result_ranks = calloc(n + 1, sizeof *x->result_ranks);
    x->memory_kinds = calloc(n + 1, sizeof *x->memory_kinds);
    x->memory_kind_sizes = calloc(n + 1, sizeof *x->memory_kind_sizes);
    if (!x->result_types || !x->result_dims || !x->result_ranks || !x->memory_kinds ||
        !x->memory_kind_sizes)
        return false;
    for (size_t i = 0; i < n; i++) {
        const sim_type *type = &x->program->types[body->results[i]];
        x->result_types[i] = sim_buffer_type(type->dtype);
        x->result_ranks[i] = (size_t)type->rank;
        memcpy(x->result_dims + used, type->dims, (size_t)type->rank * sizeof(int64_t));
        used += (size_t)type->rank;
        x->memory_kinds[i] = "device";
        x->memory_kind_sizes[i] = 6;
        x->result_bytes += sim_type_bytes(type);
    }
    for (int i = 0; i < body->argument_count; i++) {
        int64_t bytes = sim_type_bytes(&x->program->types[body->arguments[i]]);
        x->argument_bytes += bytes;
        if (x->program->main->arguments[i].alias >= 0)
            x->alias_bytes += bytes;
    }
    return true;
}

/* What is stated for the module, or the model's time and the configured overheads. The
 * whole name goes before a beginning, a longer beginning before a shorter one, a later
 * entry before an earlier. */
static void set_times(const sim_config *config, PJRT_Executable *x)
{
    const sim_stated *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < config->stated_count; i++) {
        const sim_stated *s = &config->stated[i];
        size_t length = strlen(s->module);
        bool open = length > 0 && s->module[length - 1] == '*';
        bool fits = open ? strncmp(s->module, x->program->name, length - 1) == 0
                         : strcmp(s->module, x->program->name) == 0;
        size_t weight = open ? length : SIZE_MAX;
        if (fits && weight >= best_length) {
            best = s;
            best_length = weight;
        }
    }
    x->overhead_us = best ? best->overhead_us : -1;
    x->device_us = best                     ? best->device_us
                   : config->device_us >= 0 ? config->device_us
                                            : sim_model_us(config, &x->cost);
}

static void fill_costs(PJRT_Executable *x)
{
    const PJRT_NamedValue costs[] = {
        {SIM_NAMED("flops", kFloat, 1), .float_value = (float)x->cost.flops},
        {SIM_NAMED("transcendentals", kFloat, 1), .float_value = (float)x->cost.transcendentals},
        {SIM_NAMED("bytes accessed", kFloat, 1), .float_value = (float)x->cost.bytes},
        {SIM_NAMED("optimal_seconds", kFloat, 1), .float_value = (float)(x->device_us / 1e6)},
        {SIM_NAMED("simulated groups", kFloat, 1), .float_value = (float)x->cost.group_count},
        {SIM_NAMED("simulated values", kFloat, 1), .float_value = x->evaluates ? 1.0f : 0.0f},
    };
    memcpy(x->costs, costs, sizeof costs);
}

static sim_code executable_fill(PJRT_Executable *x, const sim_config *config, sim_status *st)
{
    sim_status unused;
    sim_code code = sim_program_read(x->text, x->text_bytes, &x->program, st);
    if (code == SIM_OK)
        code = sim_program_cost(x->program, &x->cost, st);
    if (code == SIM_OK && !fill_results(x))
        code = sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host");
    if (code != SIM_OK)
        return code;
    fingerprint(x);
    set_times(config, x);
    x->evaluates = strcmp(config->values, "none") != 0 &&
                   x->cost.flops + x->cost.bytes / 4 <= (double)config->evaluate_limit &&
                   sim_program_can_evaluate(x->program, &unused) == SIM_OK;
    fill_costs(x);
    return SIM_OK;
}

sim_code sim_executable_new(const sim_config *config, const char *text, size_t bytes,
                            PJRT_Executable **executable, sim_status *st)
{
    PJRT_Executable *x = calloc(1, sizeof *x);
    if (x) {
        atomic_init(&x->references, 1);
        x->text = malloc(bytes + 1);
    }
    if (!x || !x->text) {
        free(x);
        return sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host");
    }
    memcpy(x->text, text, bytes);
    x->text[bytes] = '\0';
    x->text_bytes = bytes;
    sim_code code = executable_fill(x, config, st);
    if (code != SIM_OK) {
        sim_executable_release(x);
        return code;
    }
    *executable = x;
    return SIM_OK;
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

PJRT_Error *sim_check_format(const PJRT_Program *program)
{
    if (program->format_size != 4 || memcmp(program->format, "mlir", 4) != 0)
        return sim_error(SIM_UNIMPLEMENTED, "programs are wanted as mlir");
    if (program->code_size >= 4 && memcmp(program->code, "ML\xefR", 4) == 0)
        return sim_error(SIM_UNIMPLEMENTED,
                         "MLIR byte code is not read: give the program as StableHLO text");
    return NULL;
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

/* ---- storing ---------------------------------------------------------------------------- */

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

/* ---- what an executable tells ----------------------------------------------------------- */

SIM_ENTRY(Executable_Destroy)
{
    sim_executable_release(args->executable);
    return NULL;
}

SIM_ENTRY(Executable_Name)
{
    args->executable_name = args->executable->program->name;
    args->executable_name_size = strlen(args->executable->program->name);
    return NULL;
}

SIM_ENTRY(Executable_NumReplicas)
{
    args->num_replicas = 1;
    return NULL;
}

SIM_ENTRY(Executable_NumPartitions)
{
    args->num_partitions = 1;
    return NULL;
}

SIM_ENTRY(Executable_NumOutputs)
{
    args->num_outputs = (size_t)args->executable->program->main->body.result_count;
    return NULL;
}

SIM_ENTRY(Executable_SizeOfGeneratedCodeInBytes)
{
    args->size_in_bytes = (int64_t)args->executable->text_bytes;
    return NULL;
}

SIM_ENTRY(Executable_GetCostAnalysis)
{
    args->properties = args->executable->costs;
    args->num_properties = sizeof args->executable->costs / sizeof *args->executable->costs;
    return NULL;
}

SIM_ENTRY(Executable_OutputMemoryKinds)
{
    args->num_outputs = (size_t)args->executable->program->main->body.result_count;
    args->memory_kinds = args->executable->memory_kinds;
    args->memory_kind_sizes = args->executable->memory_kind_sizes;
    return NULL;
}

/* The simulated compiler changes nothing: the optimized program is the program. */
SIM_ENTRY(Executable_OptimizedProgram)
{
    PJRT_Program *program = args->program;
    if (program->code && program->code_size < args->executable->text_bytes)
        return sim_error(SIM_INVALID_ARGUMENT, "%zu bytes do not hold the program's %zu",
                         program->code_size, args->executable->text_bytes);
    if (program->code)
        memcpy(program->code, args->executable->text, args->executable->text_bytes);
    program->code_size = args->executable->text_bytes;
    program->format = "mlir";
    program->format_size = 4;
    return NULL;
}

SIM_ENTRY(Executable_OutputElementTypes)
{
    args->output_types = args->executable->result_types;
    args->num_output_types = (size_t)args->executable->program->main->body.result_count;
    return NULL;
}

SIM_ENTRY(Executable_OutputDimensions)
{
    args->num_outputs = (size_t)args->executable->program->main->body.result_count;
    args->dims = args->executable->result_dims;
    args->dim_sizes = args->executable->result_ranks;
    return NULL;
}

SIM_ENTRY(Executable_Fingerprint)
{
    args->executable_fingerprint = args->executable->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable->fingerprint);
    return NULL;
}

SIM_ENTRY(Executable_GetCompiledMemoryStats)
{
    const PJRT_Executable *x = args->executable;
    args->generated_code_size_in_bytes = (int64_t)x->text_bytes;
    args->argument_size_in_bytes = x->argument_bytes;
    args->output_size_in_bytes = x->result_bytes;
    args->alias_size_in_bytes = x->alias_bytes;
    args->temp_size_in_bytes = x->cost.peak_temp_bytes;
    args->host_generated_code_size_in_bytes = args->host_argument_size_in_bytes = 0;
    args->host_output_size_in_bytes = args->host_alias_size_in_bytes = 0;
    args->host_temp_size_in_bytes = 0;
    /* Clients of an older time have no room for it. */
    if (args->struct_size >= PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE)
        args->peak_memory_in_bytes =
            x->argument_bytes + x->result_bytes - x->alias_bytes + x->cost.peak_temp_bytes;
    return NULL;
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
