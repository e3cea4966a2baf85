/*
 * fake_program.c - programs of the fake: compiled, stored, loaded, described.
 */
#include "tests/support/fake/fake.h"

#include <unistd.h>

/* ---- made of text --------------------------------------------------------- */

void fake_program_free(PJRT_Executable *program)
{
    free(program->text);
    free(program->arguments);
    free(program->results);
    free(program->optimized);
    free(program->result_types);
    free(program->result_dims);
    free(program->result_ranks);
    free(program->kind_sizes);
    free(program->kinds);
    fake_object_free(program);
}

PJRT_Error *fake_program_new(const char *text, size_t size, PJRT_Executable **program)
{
    PJRT_Executable *made = fake_object_new(sizeof *made);
    made->text = strndup(text, size);
    made->arguments = calloc(MAX_VALUES, sizeof *made->arguments);
    made->results = calloc(MAX_VALUES, sizeof *made->results);
    if (made->text && made->arguments && made->results &&
        fake_signature_read(made->text, made->arguments, &made->argument_count, made->results,
                            &made->result_count)) {
        *program = made;
        return NULL;
    }
    fake_program_free(made);
    return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                          "-:1:1: error: no function @main with types the fake reads\n  ^\n");
}

/* Options are required: real plugins abort on empty ones. */
static PJRT_Error *compile_check(const PJRT_Program *program, size_t options_size)
{
    if (options_size == 0 || program->format_size != 4 || memcmp(program->format, "mlir", 4) != 0)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no options, or not mlir");
    if (fake_ordered("compile_abort"))
        abort();
    while (fake_ordered("compile_hang"))
        pause();
    if (fake_ordered("device_oom"))
        return fake_error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                              "E1000: CompileTimeHbmOom: the total memory required for HLO "
                              "temporaries (70.63G) exceeds available HBM (15.75G). HLO module: m");
    if (fake_ordered("device_oom_used")) /* as older builds say it */
        return fake_error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                              "Ran out of memory in memory space hbm. Used 41.76G of 31.25G hbm. "
                              "Exceeded hbm capacity by 10.51G.\n");
    if (fake_ordered("device_oom_vmem")) /* of a kernel's own memory, whatever the device has */
        return fake_error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                              "Ran out of memory in memory space vmem. Used 20.00M of 16.00M vmem. "
                              "Exceeded vmem capacity by 4.00M.\n");
    return fake_error_if("compile_error", "-:3:7: error: the fake compiler\n\trefuses\n");
}

static PJRT_Error *load(PJRT_Client *client, const char *text, size_t size,
                        PJRT_LoadedExecutable **executable)
{
    PJRT_Executable *program = NULL;
    PJRT_Error *error = fake_program_new(text, size, &program);
    if (error)
        return error;
    fake_change("compile");
    *executable = fake_object_new(sizeof **executable);
    (*executable)->program = program;
    (*executable)->device = client->devices[0];
    return NULL;
}

PJRT_Error *fake_Client_Compile(PJRT_Client_Compile_Args *args)
{
    PJRT_Error *error = compile_check(args->program, args->compile_options_size);
    return error ? error
                 : load(args->client, args->program->code, args->program->code_size,
                        &args->executable);
}

PJRT_Error *fake_Compile(PJRT_Compile_Args *args)
{
    PJRT_Error *error = compile_check(args->program, args->compile_options_size);
    return error
               ? error
               : fake_program_new(args->program->code, args->program->code_size, &args->executable);
}

PJRT_Error *fake_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    fake_program_free(args->executable);
    return NULL;
}

PJRT_Error *fake_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    fake_program_free(args->executable->program);
    fake_object_free(args->executable);
    return NULL;
}

PJRT_Error *fake_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    const char *text = args->loaded_executable->program->text;
    return fake_program_new(text, strlen(text), &args->executable);
}

/* The name behind "module @" in the text, "" where there is none. Longer than its size states. */
PJRT_Error *fake_Executable_Name(PJRT_Executable_Name_Args *args)
{
    static const char before[] = "module @";
    const char *module = strstr(args->executable->text, before);
    args->executable_name = module ? module + sizeof before - 1 : "";
    args->executable_name_size =
        fake_order_number("lie_name", strcspn(args->executable_name, " {\n"));
    return NULL;
}

PJRT_Error *
fake_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args *args)
{
    args->addressable_devices = &args->executable->device;
    args->num_addressable_devices = fake_order_number("lie_program_devices", 1);
    return NULL;
}

PJRT_Error *fake_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    args->num_outputs = fake_order_number("lie_outputs", args->executable->result_count);
    return NULL;
}

static void serialized_free(PJRT_SerializedExecutable *serialized)
{
    free(serialized->bytes);
    fake_object_free(serialized);
}

static const char stored_mark[] = "FAKE";
enum { MARK_SIZE = sizeof stored_mark - 1 };

PJRT_Error *fake_Executable_Serialize(PJRT_Executable_Serialize_Args *args)
{
    PJRT_SerializedExecutable *serialized = fake_object_new(sizeof *serialized);
    size_t size = MARK_SIZE + strlen(args->executable->text);
    serialized->bytes = malloc(size + 1);
    if (!serialized->bytes)
        abort();
    snprintf(serialized->bytes, size + 1, "%s%s", stored_mark, args->executable->text);
    args->serialized_bytes = serialized->bytes;
    args->serialized_bytes_size = size;
    args->serialized_executable = serialized;
    args->serialized_executable_deleter = serialized_free;
    return NULL;
}

PJRT_Error *fake_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *args)
{
    if (args->serialized_executable_size < MARK_SIZE ||
        memcmp(args->serialized_executable, stored_mark, MARK_SIZE) != 0)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "not an executable of the fake");
    return load(args->client, args->serialized_executable + MARK_SIZE,
                args->serialized_executable_size - MARK_SIZE, &args->loaded_executable);
}

PJRT_Error *fake_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    static const char bytes[] = {0x00, 0x7f, 0x10};
    args->executable_fingerprint = bytes;
    args->executable_fingerprint_size = sizeof bytes;
    return NULL;
}

PJRT_Error *fake_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    args->executable_fingerprint = "old-style";
    args->executable_fingerprint_size = 9;
    return NULL;
}

PJRT_Error *fake_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args)
{
    PJRT_Program *program = args->program;
    size_t size = strlen(args->executable->text);
    if (fake_ordered("hlo")) {
        fake_optimized_make(args->executable);
        if (program->code)
            memcpy(program->code, args->executable->optimized, args->executable->optimized_size);
        program->code_size = args->executable->optimized_size;
        program->format = "hlo";
        program->format_size = 3;
        return NULL;
    }
    if (program->code)
        memcpy(program->code, args->executable->text, size);
    program->code_size = size;
    program->format = "mlirish"; /* again longer than its size */
    program->format_size = 4;
    return NULL;
}

PJRT_Error *fake_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args)
{
    PJRT_NamedValue costs[] = {
        {NAMED("flops", kFloat, 1), .float_value = 1000},
        {NAMED("bytes accessed", kFloat, 1), .float_value = __builtin_nanf("")},
        {NAMED("utilization", kFloat, 1), .float_value = 3}};
    memcpy(args->executable->costs, costs, sizeof costs);
    args->properties = args->executable->costs;
    args->num_properties = fake_order_number("lie_costs", 3);
    return NULL;
}

PJRT_Error *
fake_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *args)
{
    args->generated_code_size_in_bytes = 77;
    args->argument_size_in_bytes = args->output_size_in_bytes = 0;
    for (size_t i = 0; i < args->executable->argument_count; i++)
        args->argument_size_in_bytes += (int64_t)args->executable->arguments[i].bytes;
    for (size_t i = 0; i < args->executable->result_count; i++)
        args->output_size_in_bytes += (int64_t)args->executable->results[i].bytes;
    args->alias_size_in_bytes = args->temp_size_in_bytes = 0;
    if (fake_ordered("hlo")) {
        args->temp_size_in_bytes = 5000;
        args->host_temp_size_in_bytes = 600;
        args->host_argument_size_in_bytes = args->host_output_size_in_bytes = 0;
        args->peak_memory_in_bytes = 7000;
    }
    return NULL; /* and no peak, as an older plugin would */
}

/* ---- results --------------------------------------------------------------- */

static void *room(size_t count, size_t size)
{
    void *list = calloc(count + 1, size);
    if (!list)
        abort();
    return list;
}

/* Lists what is known of the results, once. */
static void list_results(PJRT_Executable *e)
{
    if (e->result_types)
        return;
    e->result_types = room(e->result_count, sizeof *e->result_types);
    e->result_ranks = room(e->result_count, sizeof *e->result_ranks);
    e->result_dims = room(e->result_count * MAX_RANK, sizeof *e->result_dims);
    e->kinds = room(e->result_count, sizeof *e->kinds);
    e->kind_sizes = room(e->result_count, sizeof *e->kind_sizes);
    int64_t *dims = e->result_dims;
    for (size_t i = 0; i < e->result_count; i++) {
        e->result_types[i] = e->results[i].type;
        e->result_ranks[i] = e->results[i].rank;
        for (size_t d = 0; d < e->results[i].rank; d++)
            *dims++ = e->results[i].dims[d];
        e->kinds[i] = "devices"; /* longer than its size tells */
        e->kind_sizes[i] = 6;
    }
}

PJRT_Error *fake_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args *args)
{
    list_results(args->executable);
    args->output_types = args->executable->result_types;
    args->num_output_types = fake_order_number("lie_types", args->executable->result_count);
    return NULL;
}

PJRT_Error *fake_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args)
{
    list_results(args->executable);
    args->dims = args->executable->result_dims;
    args->dim_sizes = args->executable->result_ranks;
    if (fake_ordered("lie_rank") && args->executable->result_count)
        args->executable->result_ranks[0] = fake_order_number("lie_rank", 0);
    args->num_outputs = fake_order_number("lie_shapes", args->executable->result_count);
    return NULL;
}

PJRT_Error *fake_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *args)
{
    list_results(args->executable);
    args->memory_kinds = args->executable->kinds;
    args->memory_kind_sizes = args->executable->kind_sizes;
    args->num_outputs = args->executable->result_count;
    return NULL;
}
