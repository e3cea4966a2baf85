/*
 * calls_compile.c - clients, and what makes executables.
 */
#include "runtime/record/record_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- clients -------------------------------------------------------------------------------- */

static uint64_t memory_of(record_plugin *p, PJRT_Device *device)
{
    RECORD_ARGS(Device_MemoryStats, args, .device = device);
    if (!RECORD_HAS(p, Device_MemoryStats) ||
        !record_succeeded(p, p->api->PJRT_Device_MemoryStats(&args)) || !args.bytes_limit_is_set)
        return 0;
    return args.bytes_limit > 0 ? (uint64_t)args.bytes_limit : 0;
}

static void put_device(record_plugin *p, PJRT_Client *client, PJRT_Device *device)
{
    RECORD_ARGS(Device_GetDescription, description, .device = device);
    if (!RECORD_HAS(p, Device_GetDescription) ||
        !record_succeeded(p, p->api->PJRT_Device_GetDescription(&description)))
        return;
    RECORD_ARGS(DeviceDescription_Id, id, .device_description = description.device_description);
    RECORD_ARGS(DeviceDescription_DebugString, text,
                .device_description = description.device_description);
    if (!RECORD_HAS(p, DeviceDescription_Id) ||
        !record_succeeded(p, p->api->PJRT_DeviceDescription_Id(&id)))
        id.id = -1;
    if (!RECORD_HAS(p, DeviceDescription_DebugString) ||
        !record_succeeded(p, p->api->PJRT_DeviceDescription_DebugString(&text)))
        text.debug_string_size = 0;
    text.debug_string_size = record_text_length(p, "letters of a device's description",
                                                text.debug_string_size, text.debug_string);
    const struct iovec part = {.iov_base = (void *)(uintptr_t)text.debug_string,
                               .iov_len = text.debug_string_size};
    record_event event = {.kind = RECORD_DEVICE, .time = record_now()};
    event.field[0] = (uint64_t)(uintptr_t)device;
    event.field[1] = (uint64_t)(int64_t)id.id;
    event.field[2] = record_plugin_number(p);
    event.field[3] = (uint64_t)(uintptr_t)client;
    event.field[4] = memory_of(p, device);
    record_put(p, event, &part, 1);
}

static void put_client(record_plugin *p, PJRT_Client *client)
{
    RECORD_ARGS(Client_PlatformName, name, .client = client);
    RECORD_ARGS(Client_PlatformVersion, version, .client = client);
    RECORD_ARGS(Client_AddressableDevices, devices, .client = client);
    unsigned number = record_plugin_number(p);
    if (RECORD_HAS(p, Client_PlatformName) &&
        record_succeeded(p, p->api->PJRT_Client_PlatformName(&name)))
        record_put_text(p, RECORD_TEXT_PLATFORM, number, name.platform_name,
                        record_text_length(p, "letters of its platform", name.platform_name_size,
                                           name.platform_name));
    if (RECORD_HAS(p, Client_PlatformVersion) &&
        record_succeeded(p, p->api->PJRT_Client_PlatformVersion(&version)))
        record_put_text(p, RECORD_TEXT_PLATFORM_VERSION, number, version.platform_version,
                        record_text_length(p, "letters of its version",
                                           version.platform_version_size,
                                           version.platform_version));
    if (!RECORD_HAS(p, Client_AddressableDevices) ||
        !record_succeeded(p, p->api->PJRT_Client_AddressableDevices(&devices)))
        return;
    const size_t count = record_list_length(p, "devices", devices.num_addressable_devices,
                                            RECORD_MOST_LISTED, devices.addressable_devices);
    for (size_t i = 0; i < count; i++)
        put_device(p, client, devices.addressable_devices[i]);
}

#define DEVICES "cpu_device_count"

/* Whether the caller of ARGS says how many devices it wants, or says options of another size, which
 * cannot be read. */
static bool says_devices(const PJRT_Client_Create_Args *args)
{
    for (size_t i = 0; i < args->num_options; i++) {
        const PJRT_NamedValue *option = &args->create_options[i];
        if (option->struct_size != PJRT_NamedValue_STRUCT_SIZE ||
            (option->name_size == sizeof DEVICES - 1 &&
             memcmp(option->name, DEVICES, option->name_size) == 0))
            return true;
    }
    return false;
}

/* The values of a process's rank in a program of several; NULL: ARGS has none. */
static const PJRT_NamedValue *several_processes(const PJRT_Client_Create_Args *args)
{
    static const char name[] = "num_nodes";
    for (size_t i = 0; i < args->num_options; i++) {
        const PJRT_NamedValue *option = &args->create_options[i];
        if (option->struct_size == PJRT_NamedValue_STRUCT_SIZE &&
            option->name_size == sizeof name - 1 &&
            memcmp(option->name, name, option->name_size) == 0 &&
            option->type == PJRT_NamedValue_kInt64 && option->int64_value > 1)
            return option;
    }
    return NULL;
}

/* Devices that ARGS->client was made with. */
static size_t devices_made(record_plugin *p, const PJRT_Client_Create_Args *args)
{
    RECORD_ARGS(Client_AddressableDevices, devices, .client = args->client);
    return RECORD_HAS(p, Client_AddressableDevices) &&
                   record_succeeded(p, p->api->PJRT_Client_AddressableDevices(&devices))
               ? devices.num_addressable_devices
               : 0;
}

/* Makes the client with COUNT devices. */
static PJRT_Error *create_with(record_plugin *p, PJRT_Client_Create_Args *args, long count)
{
    PJRT_NamedValue *options = calloc(args->num_options + 1, sizeof *options);
    if (!options)
        return p->api->PJRT_Client_Create(args);
    if (args->num_options > 0)
        memcpy(options, args->create_options, args->num_options * sizeof *options);
    options[args->num_options] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                                   .name = DEVICES,
                                                   .name_size = sizeof DEVICES - 1,
                                                   .type = PJRT_NamedValue_kInt64,
                                                   .int64_value = count,
                                                   .value_size = 1};
    PJRT_Client_Create_Args extended = *args;
    extended.create_options = options;
    extended.num_options++;
    PJRT_Error *error = p->api->PJRT_Client_Create(&extended);
    args->client = extended.client;
    free(options);
    return error;
}

/* Makes the client: where the environment has a number of devices, with those that the program asks
 * for elsewhere, else with that number, unless ARGS says one. Structs of the future are longer than
 * what can be copied. */
static PJRT_Error *create(record_plugin *p, PJRT_Client_Create_Args *args)
{
    const char *text = getenv(RECORD_ENV_CPU_DEVICES);
    const long usual = text ? strtol(text, NULL, 10) : 0;
    if (usual < 1 || args->struct_size > sizeof *args || says_devices(args))
        return p->api->PJRT_Client_Create(args);
    const long asked = record_python_devices();
    PJRT_Error *error = create_with(p, args, asked ? asked : usual);
    const size_t made = error || !asked ? 0 : devices_made(p, args);
    if (made > 0 && made < (size_t)asked)
        record_note(p, "fewer-devices: the program asks for %ld devices, and the client has %zu",
                    asked, made);
    return error;
}

PJRT_Error *record_Client_Create(record_plugin *p, PJRT_Client_Create_Args *caller)
{
    PJRT_Client_Create_Args copy,
        *args = record_widen(caller, &copy, PJRT_Client_Create_Args_STRUCT_SIZE);
    if (!args) {
        record_lost_call(p);
        return p->api->PJRT_Client_Create(caller);
    }
    /* What the program gets is the same where nothing is recorded: a disk that is full must not
     * change it. */
    const bool active = record_active();
    PJRT_Error *error = create(p, args);
    record_narrow(caller, args);
    if (!error)
        record_python_client(p, args->client);
    else if (several_processes(args))
        record_note(p, "several-processes: the plugin makes no client for one of several processes "
                       "(jax.distributed)");
    /* A failure is a text. */
    if (!active || record_failure(p, error))
        return error;
    put_client(p, args->client);
    record_about_frameworks(record_plugin_number(p), record_thread());
    return error;
}

/* ---- executables ---------------------------------------------------------------------------- */

/* The program that is compiled or loaded. */
typedef struct source {
    enum record_source from;
    const char *form;
    size_t form_size;
    const void *code, *options;
    size_t code_size, options_size;
    PJRT_Client *client;
} source;

static source source_of(const PJRT_Program *program, const void *options, size_t options_size,
                        PJRT_Client *client)
{
    source s = {.from = RECORD_COMPILED,
                .options = options,
                .options_size = options_size,
                .client = client};
    if (program && program->struct_size >= PJRT_Program_STRUCT_SIZE) {
        s.form = program->format;
        s.form_size = program->format ? program->format_size : 0;
        s.code = program->code;
        s.code_size = program->code ? program->code_size : 0;
    }
    return s;
}

/* The form as it may end a file's name. */
static void form_name(const source *s, char name[32])
{
    size_t n = 0;
    for (; n < s->form_size && n < 31; n++) {
        char c = s->form[n];
        bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        name[n] = good ? c : '_';
    }
    if (n == 0)
        n = (size_t)snprintf(name, 32, "unknown");
    name[n] = 0;
}

/* A COMPILE event's description of its source. */
typedef struct compiled {
    record_hash code, options;
    uint64_t code_size;
    char form[32];
} compiled;

/* Keeps code and options. The file has begun. */
static compiled compiled_of(const source *s)
{
    compiled c = {.code_size = s->code_size};
    form_name(s, c.form);
    c.code = record_keep(c.form, s->code, s->code_size);
    c.options = record_keep("options", s->options, s->options_size);
    return c;
}

static void put_compiled(record_plugin *p, const compiled *c, const source *s,
                         const record_span *span, PJRT_Error *error, PJRT_LoadedExecutable *loaded)
{
    record_event event = {
        .kind = RECORD_COMPILE, .flags = record_failure(p, error), .time = span->begin};
    record_profile_compiled(p);
    event.field[0] = span->end;
    event.field[1] = span->cpu_begin;
    event.field[2] = span->cpu_end;
    event.field[3] = error ? 0 : (uint64_t)(uintptr_t)loaded;
    event.field[4] = s->from;
    event.field[5] = record_plugin_number(p);
    uint64_t words[6] = {c->code.high,   c->code.low,  c->options.high,
                         c->options.low, c->code_size, (uint64_t)(uintptr_t)s->client};
    const struct iovec parts[2] = {
        {.iov_base = words, .iov_len = sizeof words},
        {.iov_base = (void *)(uintptr_t)c->form, .iov_len = strlen(c->form)}};
    record_put(p, event, parts, 2);
    if (!error && loaded)
        record_executable_about(p, loaded);
}

static void put_compile(record_plugin *p, const source *s, const record_span *span,
                        PJRT_Error *error, PJRT_LoadedExecutable *loaded)
{
    if (!record_ready(p))
        return;
    const compiled c = compiled_of(s);
    put_compiled(p, &c, s, span, error, loaded);
}

PJRT_Error *record_Client_Compile(record_plugin *p, PJRT_Client_Compile_Args *caller)
{
    RECORD_CALL_KEPT(p, Client_Compile, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Client_Compile(args);
    record_end(&span);
    record_narrow(caller, args);
    source s =
        source_of(args->program, args->compile_options, args->compile_options_size, args->client);
    put_compile(p, &s, &span, error, args->executable);
    return error;
}

/* ---- ahead of time ------------------------------------------------------------------------------
 */

/* The latest executables that PJRT_Compile made and that still live: their source is written again
 * when they are loaded. */
enum { AHEAD = 256 };
static struct ahead {
    const PJRT_Executable *executable; /* NULL: the place is free */
    unsigned file;                     /* that has its code */
    compiled of;
} ahead[AHEAD];
static size_t ahead_next;

/* Under the lock. */
static struct ahead *ahead_find(const PJRT_Executable *executable)
{
    for (size_t i = 0; executable && i < AHEAD; i++)
        if (ahead[i].executable == executable)
            return &ahead[i];
    return NULL;
}

static void ahead_put(const PJRT_Executable *executable, const compiled *of)
{
    record_lock(RECORD_LOCK_EXECUTABLES);
    struct ahead *place = ahead_find(executable);
    if (!place)
        place = &ahead[ahead_next++ % AHEAD];
    *place = (struct ahead){.executable = executable, .file = record_file_number(), .of = *of};
    record_unlock(RECORD_LOCK_EXECUTABLES);
}

/* False where nothing is known of it in the file. */
static bool ahead_get(const PJRT_Executable *executable, compiled *of)
{
    record_lock(RECORD_LOCK_EXECUTABLES);
    const struct ahead *place = ahead_find(executable);
    bool found = place && place->file == record_file_number();
    if (found)
        *of = place->of;
    record_unlock(RECORD_LOCK_EXECUTABLES);
    return found;
}

PJRT_Error *record_Compile(record_plugin *p, PJRT_Compile_Args *caller)
{
    RECORD_CALL_KEPT(p, Compile, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Compile(args);
    record_end(&span);
    record_narrow(caller, args);
    source s =
        source_of(args->program, args->compile_options, args->compile_options_size, args->client);
    if (!record_ready(p))
        return error;
    const compiled c = compiled_of(&s);
    put_compiled(p, &c, &s, &span, error, NULL);
    if (!error && args->executable)
        ahead_put(args->executable, &c);
    return error;
}

/* The plugin may give its address to another one. */
PJRT_Error *record_Executable_Destroy(record_plugin *p, PJRT_Executable_Destroy_Args *args)
{
    if (record_wanted() && args->struct_size >= PJRT_Executable_Destroy_Args_STRUCT_SIZE) {
        record_lock(RECORD_LOCK_EXECUTABLES);
        struct ahead *place = ahead_find(args->executable);
        if (place)
            place->executable = NULL;
        record_unlock(RECORD_LOCK_EXECUTABLES);
    }
    return p->api->PJRT_Executable_Destroy(args);
}

PJRT_Error *record_Client_Load(record_plugin *p, record_load_args *args)
{
    if (!record_later_active(p, args->struct_size, sizeof *args))
        return record_forward_Client_Load(p, args);
    compiled c = {.form = "unknown"};
    source s = {.from = RECORD_LOADED,
                .options = args->compile_options,
                .options_size = args->compile_options_size,
                .client = args->client};
    bool known = ahead_get(args->executable, &c);
    record_span span = record_begin();
    PJRT_Error *error = record_forward_Client_Load(p, args);
    record_end(&span);
    if (!record_ready(p))
        return error;
    /* They hold for what is loaded, where there are any. */
    if (!known || s.options_size > 0)
        c.options = record_keep("options", s.options, s.options_size);
    put_compiled(p, &c, &s, &span, error, args->loaded_executable);
    return error;
}

/* ---- from a file ------------------------------------------------------------------------------
 */

PJRT_Error *record_Executable_DeserializeAndLoad(record_plugin *p,
                                                 PJRT_Executable_DeserializeAndLoad_Args *caller)
{
    RECORD_CALL_KEPT(p, Executable_DeserializeAndLoad, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Executable_DeserializeAndLoad(args);
    record_end(&span);
    record_narrow(caller, args);
    source s = {.from = RECORD_DESERIALIZED,
                .form = "executable",
                .form_size = strlen("executable"),
                .code = args->serialized_executable,
                .code_size = args->serialized_executable_size,
                .options = args->overridden_serialized_compile_options,
                .options_size = args->overridden_serialized_compile_options_size,
                .client = args->client};
    put_compile(p, &s, &span, error, args->loaded_executable);
    return error;
}
