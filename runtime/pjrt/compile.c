/*
 * compile.c - a program becomes an executable.
 *
 * The options message is never empty: XLA's plugins end the process on empty
 * options. XLA options travel as strings, which every plugin parses by the
 * option's own type; an unknown name is then an error and not an abort, as it
 * would be in XLA_FLAGS. Source: PJRT_Client_Compile in pjrt_c_api.h.
 */
#include "runtime/pjrt/compile_options.pb-c.h"
#include "runtime/pjrt/pjrt_priv.h"

#include <stdlib.h>
#include <string.h>

PJRT_Program rt_program_wrap(const char *format, const void *code, size_t size)
{
    /* Of "mlir" the plugin distinguishes text and byte code. CODE is not const only because the
     * same struct returns programs. */
    return (PJRT_Program){.struct_size = PJRT_Program_STRUCT_SIZE,
                          .code = (char *)(uintptr_t)code,
                          .code_size = size,
                          .format = format,
                          .format_size = strlen(format)};
}

/* The compiler spells truth in an option's text with a capital, XLA_FLAGS and
 * people without. */
static char *value_spell(char *value)
{
    if (strcmp(value, "true") == 0)
        value[0] = 'T';
    else if (strcmp(value, "false") == 0)
        value[0] = 'F';
    return value;
}

/* Adds the flags of OPTIONS to MESSAGE; STORE keeps their parts. */
static bn_code flags_set(Rt__Compile__Options *message, const rt_compile_options *options,
                         bn_arena *store, bn_status *st)
{
    size_t count = options ? options->flag_count : 0;
    if (count == 0)
        return BN_OK;
    message->flags = bn_arena_zalloc(store, count * sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        char *name = bn_arena_strdup(store, options->flags[i]);
        Rt__Compile__Flag *flag = bn_arena_alloc(store, sizeof *flag);
        Rt__Compile__Value *value = bn_arena_alloc(store, sizeof *value);
        /* XLA_FLAGS spells options with dashes: people paste them. */
        if (strncmp(name, "--", 2) == 0)
            name += 2;
        char *equals = strchr(name, '=');
        if (!equals || equals == name)
            return bn_fail(st, BN_INVALID, "compile option '%s' is not of the form name=value",
                           options->flags[i]);
        *equals = '\0';
        rt__compile__flag__init(flag);
        rt__compile__value__init(value);
        flag->name = name;
        flag->value = value;
        value->value_case = RT__COMPILE__VALUE__VALUE_TEXT;
        value->text = value_spell(equals + 1);
        message->flags[i] = flag;
    }
    message->n_flags = count;
    return BN_OK;
}

bn_code rt_compile_options_pack(const rt_compile_options *options, int64_t device_id, void **bytes,
                                size_t *size, bn_status *st)
{
    Rt__Compile__Assignment__Computation computation = RT__COMPILE__ASSIGNMENT__COMPUTATION__INIT;
    Rt__Compile__Assignment assignment = RT__COMPILE__ASSIGNMENT__INIT;
    Rt__Compile__Build build = RT__COMPILE__BUILD__INIT;
    Rt__Compile__Options message = RT__COMPILE__OPTIONS__INIT;
    Rt__Compile__Assignment__Computation *computations[1] = {&computation};
    computation.device_ids = &device_id;
    computation.n_device_ids = 1;
    assignment.replicas = assignment.computations = 1;
    assignment.computation = computations;
    assignment.n_computation = 1;
    build.replicas = build.partitions = 1;
    build.assignment = device_id >= 0 ? &assignment : NULL;
    message.build = &build;

    bn_arena *store = bn_arena_new(1024);
    bn_code code = flags_set(&message, options, store, st);
    if (code == BN_OK) {
        *size = rt__compile__options__get_packed_size(&message);
        *bytes = bn_alloc(*size);
        rt__compile__options__pack(&message, *bytes);
    }
    bn_arena_free(store);
    return code;
}

/* ---- options that others made ------------------------------------------- */

/* Makes MESSAGE one for the device DEVICE_ID alone. A framework may ask for a replica on each
 * device of its client and then execute one. XLA for CPU compiles what communicates with others all
 * the same, and runs it: callers with foreign programs check them (modes/signature.c). */
static bn_code move_to(Rt__Compile__Options *message, int64_t device_id, bn_status *st)
{
    Rt__Compile__Build *build = message->build;
    /* A portable executable would want the device named at each execution. */
    message->portable = 0;
    if (!build)
        return BN_OK;
    if (build->partitions > 1)
        return bn_fail(st, BN_NOT_SUPPORTED, "a program of %lld partitions; only one can be run",
                       (long long)build->partitions);
    if (build->replicas > 1)
        build->replicas = 1;
    if (build->device_ordinal > 0)
        build->device_ordinal = -1;
    Rt__Compile__Assignment *assignment = build->assignment;
    if (!assignment)
        return BN_OK;
    if (assignment->n_computation != 1 || assignment->computation[0]->n_device_ids < 1)
        return bn_fail(st, BN_FORMAT,
                       "the compile options assign no device, or several partitions");
    assignment->replicas = 1;
    assignment->computation[0]->n_device_ids = 1;
    assignment->computation[0]->device_ids[0] = device_id;
    return BN_OK;
}

int64_t rt_options_replicas(const void *options, size_t size)
{
    Rt__Compile__Options *message = rt__compile__options__unpack(NULL, size, options);
    const int64_t replicas = message && message->build ? message->build->replicas : 1;
    if (message)
        rt__compile__options__free_unpacked(message, NULL);
    return replicas > 1 ? replicas : 1;
}

/* A field without a number, spelled at length, passes the reader once and is no message then. */
static bn_code check_packed(const uint8_t *bytes, size_t size, bn_status *st)
{
    Rt__Compile__Options *again = rt__compile__options__unpack(NULL, size, bytes);
    if (!again)
        return bn_fail(st, BN_FORMAT, "the compile options have a field without a number");
    rt__compile__options__free_unpacked(again, NULL);
    return BN_OK;
}

bn_code rt_compile_options_adopt(const void *theirs, size_t their_size,
                                 const rt_compile_options *options, int64_t device_id, void **bytes,
                                 size_t *size, bn_status *st)
{
    Rt__Compile__Options own = RT__COMPILE__OPTIONS__INIT;
    Rt__Compile__Build build = RT__COMPILE__BUILD__INIT;
    Rt__Compile__Options *message = rt__compile__options__unpack(NULL, their_size, theirs);
    *bytes = NULL;
    if (!message)
        return bn_fail(st, BN_FORMAT, "the compile options are no CompileOptionsProto");
    bn_arena *store = bn_arena_new(1024);
    bn_code code = move_to(message, device_id, st);
    if (code == BN_OK)
        code = flags_set(&own, options, store, st);
    build.replicas = build.partitions = 1;
    if (!message->build)
        own.build = &build; /* plugins end the process on options that are empty */
    if (code == BN_OK) {
        /* Of two messages, one behind the other, the second adds to the first's flags. */
        const size_t first = rt__compile__options__get_packed_size(message);
        *size = first + rt__compile__options__get_packed_size(&own);
        uint8_t *room = malloc(*size + 1);
        *bytes = room;
        if (room) {
            rt__compile__options__pack(message, room);
            rt__compile__options__pack(&own, room + first);
            code = check_packed(room, *size, st);
        } else {
            code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for compile options");
        }
    }
    bn_arena_free(store);
    rt__compile__options__free_unpacked(message, NULL);
    if (code != BN_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return code;
}

/* ---- compiling ---------------------------------------------------------- */

bn_code rt_compile_program(rt_client *client, const rt_program *program,
                           const rt_compile_options *options, rt_executable **executable,
                           bn_status *st)
{
    int device = options ? options->device : 0;
    if (device < 0 || (size_t)device >= client->device_count)
        return bn_fail(st, BN_INVALID, "device %d of %zu", device, client->device_count);
    if (program->size == 0)
        return bn_fail(st, BN_INVALID, "empty program");
    if (strcmp(program->format, "executable") == 0)
        return rt_executable_load(client, program->code, program->size, executable, st);

    void *packed = NULL;
    size_t packed_size = 0;
    const int64_t id = client->infos[device].id;
    bn_code code =
        program->options_size
            ? rt_compile_options_adopt(program->options, program->options_size, options, id,
                                       &packed, &packed_size, st)
            : rt_compile_options_pack(options, device > 0 ? id : -1, &packed, &packed_size, st);
    if (code != BN_OK)
        return code;
    PJRT_Program wrapped = rt_program_wrap(program->format, program->code, program->size);
    PJRT_Client_Compile_Args args =
        RT_ARGS(PJRT_Client_Compile, .client = client->handle, .program = &wrapped,
                .compile_options = packed, .compile_options_size = packed_size);
    code = RT_CALL(client->plugin, PJRT_Client_Compile, &args, RT_STAGE_COMPILE, st);
    free(packed);
    if (code != BN_OK)
        return code;
    return rt_executable_wrap(client->plugin, args.executable, NULL, executable, st);
}
