/*
 * test_record_ages.c - callers and plugins of another age than the recorder: short structs, short
 * and long tables, plugins that lack calls, and no plugin at all. Through the plugin's own table.
 */
#include "tests/runtime/record/raw_fixture.h"

/* ---- short structs -----------------------------------------------------------------------------
 */

/* The structs lie in memory of exactly their size, so that a sanitizer sees who goes beyond. */
static PJRT_Error *execute_short(const raw *r, size_t args_size, size_t options_size,
                                 PJRT_Buffer **result)
{
    PJRT_ExecuteOptions *options = calloc(1, options_size);
    PJRT_LoadedExecutable_Execute_Args *args = calloc(1, args_size);
    PJRT_Buffer *const list[1] = {r->argument}, *const *const lists[1] = {list};
    PJRT_Buffer *results[1] = {NULL}, **const result_lists[1] = {results};
    MUST(options && args);
    options->struct_size = options_size;
    args->struct_size = args_size;
    args->executable = r->executable;
    args->options = options;
    args->argument_lists = lists;
    args->num_devices = 1;
    args->num_args = 1;
    args->output_lists = result_lists;
    PJRT_Error *error = r->api->PJRT_LoadedExecutable_Execute(args);
    /* The caller's struct is as it was. */
    MUST(args->struct_size == args_size && args->options == options &&
         !args->device_complete_events && args->output_lists == result_lists);
    MUST(options->struct_size == options_size);
    *result = results[0];
    free(options);
    free(args);
    return error;
}

/* Sizes of callers that were built in 2024. The compiler must not know them: it would see that the
 * structs are longer. */
static volatile size_t old_options = offsetof(PJRT_ExecuteOptions, call_location);
static volatile size_t old_args = offsetof(PJRT_LoadedExecutable_Execute_Args, execute_device);

static void asks_for_less(const char *folder)
{
    void *handle;
    PJRT_Buffer *result = NULL;
    setenv("FAKE_PJRT", "strict", 1);
    set_recorder(folder, "pjrt_fake");
    /* The plugin itself refuses. */
    raw bare = raw_new(entry_of(built("pjrt_fake"), &handle)());
    PJRT_Error *error = execute_short(&bare, old_args, old_options, &result);
    MUST(error && !result);
    PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                       .error = error};
    bare.api->PJRT_Error_Destroy(&destroy);
    raw_free(&bare);
    int64_t (*live)(void);
    void *symbol = dlsym(handle, "FakePjrtLive");
    memcpy(&live, &symbol, sizeof live);
    MUST(live() == 0);

    raw r = raw_new(entry_of(built("pjrt_record"), &handle)());
    MUST(!execute_short(&r, old_args, old_options, &result) && result);
    PJRT_Buffer_Destroy_Args end = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                    .buffer = result};
    MUST(!r.api->PJRT_Buffer_Destroy(&end));
    raw_free(&r);
    /* The recorder has released all objects that it requested by itself. */
    MUST(live() == 0);
}

static void short_structs_are_widened(void **state)
{
    (void)state;
    logged t;
    const char *folder = new_folder();
    in_child(asks_for_less, folder);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_EXECUTE, 0, &t);
    assert_int_equal(t.event.flags, RECORD_ASKED);
    assert_int_equal(t.words[0], 1);
    assert_int_equal(t.words[1], 0);
    assert_int_equal(t.event.field[5], 1 | (uint64_t)1 << 32);
    /* The fake has no callbacks. */
    assert_int_equal(recording_count(&r, RECORD_COMPLETE), 0);
    recording_free(&r);
    /* Where nothing is recorded, too. */
    in_child(asks_for_less, NULL);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static void looks_at_the_table(const char *folder)
{
    void *handle;
    set_recorder(folder, "pjrt_sim");
    const PJRT_Api *bare = entry_of(built("pjrt_sim"), &handle)();
    get_api *get = entry_of(built("pjrt_record"), &handle);
    const PJRT_Api *ours = get();
    MUST(ours && ours != bare && ours == get());
    MUST(ours->struct_size == bare->struct_size);
    MUST(ours->extension_start == bare->extension_start);
    MUST(ours->pjrt_api_version.minor_version == bare->pjrt_api_version.minor_version);
    MUST(ours->PJRT_LoadedExecutable_Execute != bare->PJRT_LoadedExecutable_Execute);
    MUST(ours->PJRT_Client_Destroy == bare->PJRT_Client_Destroy);
    /* Only what the header knows may differ. */
    if (bare->struct_size > PJRT_Api_STRUCT_SIZE)
        MUST(memcmp((const char *)ours + PJRT_Api_STRUCT_SIZE,
                    (const char *)bare + PJRT_Api_STRUCT_SIZE,
                    bare->struct_size - PJRT_Api_STRUCT_SIZE) == 0);
    runner r = runner_new(NULL, ADD);
    add_often(&r, 2, true);
    runner_free(&r);
}

static void tables_keep_their_length(void **state)
{
    (void)state;
    static const char *const ages[] = {"older", "newer"};
    for (size_t i = 0; i < 2; i++) {
        const char *folder = new_folder();
        logged t;
        setenv("PJRT_SIM_API", ages[i], 1);
        in_child(looks_at_the_table, folder);
        recording r = recording_in(folder);
        recording_get(&r, RECORD_PLUGIN, 0, &t);
        assert_true(i == 0 ? t.event.field[3] < PJRT_Api_STRUCT_SIZE
                           : t.event.field[3] > PJRT_Api_STRUCT_SIZE);
        assert_int_equal(recording_count(&r, RECORD_EXECUTE), 2);
        recording_get(&r, RECORD_EXECUTABLE, 0, &t);
        /* The older one does not tell types and dimensions. */
        assert_int_equal(t.words[2], i == 0 ? 0 : PJRT_Buffer_Type_F32);
        recording_free(&r);
    }
    unsetenv("PJRT_SIM_API");
}

/* ---- a call that the header does not have -------------------------------------------------------
 */

enum { LOAD_OFFSET = 1072 }; /* of PJRT_Client_Load in tables since 0.95 */

typedef struct load_args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Client *client;
    PJRT_Executable *executable;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_LoadedExecutable *loaded_executable;
} load_args;
typedef PJRT_Error *load_call(load_args *args);

static const PJRT_Api *bare_api;

/* Deserialization, which the simulated plugin lacks. */
static PJRT_Error *plugin_loads(load_args *args)
{
    PJRT_Executable_Serialize_Args stored = {
        .struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE, .executable = args->executable};
    PJRT_Error *error = bare_api->PJRT_Executable_Serialize(&stored);
    if (error)
        return error;
    PJRT_Executable_DeserializeAndLoad_Args load = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = args->client,
        .serialized_executable = stored.serialized_bytes,
        .serialized_executable_size = stored.serialized_bytes_size};
    error = bare_api->PJRT_Executable_DeserializeAndLoad(&load);
    stored.serialized_executable_deleter(stored.serialized_executable);
    args->loaded_executable = load.loaded_executable;
    return error;
}

static load_call *load_in(const PJRT_Api *api)
{
    load_call *load;
    memcpy(&load, (const char *)api + LOAD_OFFSET, sizeof load);
    return load;
}

static PJRT_LoadedExecutable *load_with(const raw *r, PJRT_Executable *executable)
{
    load_args args = {.struct_size = sizeof args, .client = r->client, .executable = executable};
    MUST(!load_in(r->api)(&args) && args.loaded_executable);
    return args.loaded_executable;
}

#define DOUBLES                                                                                    \
    "module @doubles {\n"                                                                          \
    "  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"                             \
    "    %0 = stablehlo.add %a, %a : tensor<4xf32>\n"                                              \
    "    return %0 : tensor<4xf32>\n"                                                              \
    "  }\n"                                                                                        \
    "}\n"

static PJRT_Executable *compiled_ahead(const raw *r)
{
    char code[] = DOUBLES;
    static const char options[] = {0x1a, 4, 0x20, 1, 0x28, 1};
    PJRT_Client_TopologyDescription_Args topology = {
        .struct_size = PJRT_Client_TopologyDescription_Args_STRUCT_SIZE, .client = r->client};
    MUST(!r->api->PJRT_Client_TopologyDescription(&topology));
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = code,
                            .code_size = sizeof code - 1,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Compile_Args args = {.struct_size = PJRT_Compile_Args_STRUCT_SIZE,
                              .topology = topology.topology,
                              .program = &program,
                              .compile_options = options,
                              .compile_options_size = sizeof options,
                              .client = r->client};
    MUST(!r->api->PJRT_Compile(&args));
    return args.executable;
}

static void executable_free(const raw *r, PJRT_Executable *executable)
{
    PJRT_Executable_Destroy_Args args = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                         .executable = executable};
    MUST(!r->api->PJRT_Executable_Destroy(&args));
}

static void compiles_ahead_and_loads(const char *folder)
{
    void *handle;
    load_call *own = plugin_loads;
    PJRT_Buffer *result = NULL;
    set_recorder(folder, "pjrt_sim");
    bare_api = entry_of(built("pjrt_sim"), &handle)();
    memcpy((char *)(uintptr_t)bare_api + LOAD_OFFSET, &own, sizeof own);
    raw r = raw_new(entry_of(built("pjrt_record"), &handle)());
    MUST(load_in(r.api) != plugin_loads && load_in(bare_api) == plugin_loads);
    PJRT_LoadedExecutable *compiled = r.executable;
    PJRT_Executable *ahead = compiled_ahead(&r);
    r.executable = load_with(&r, ahead);
    executable_free(&r, ahead);
    MUST(!execute_short(&r, PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                        PJRT_ExecuteOptions_STRUCT_SIZE, &result));
    buffer_free(&r, result);
    /* One that nobody was seen to compile. */
    PJRT_LoadedExecutable_GetExecutable_Args get = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = r.executable};
    MUST(!r.api->PJRT_LoadedExecutable_GetExecutable(&get));
    PJRT_LoadedExecutable *list[] = {compiled, load_with(&r, get.executable)};
    executable_free(&r, get.executable);
    for (size_t i = 0; i < 2; i++) {
        PJRT_LoadedExecutable_Destroy_Args destroy = {
            .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE, .executable = list[i]};
        MUST(!r.api->PJRT_LoadedExecutable_Destroy(&destroy));
    }
    raw_free(&r);
}

static void what_was_compiled_ahead_is_known_when_it_is_loaded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged ahead, loaded, t;
    setenv("PJRT_SIM_API", "newer", 1);
    in_child(compiles_ahead_and_loads, folder);
    in_child(compiles_ahead_and_loads, NULL);
    unsetenv("PJRT_SIM_API");
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_COMPILE), 4);
    recording_get(&r, RECORD_COMPILE, 1, &ahead);
    assert_int_equal(ahead.event.field[3], 0);
    assert_int_equal(ahead.event.field[4], RECORD_COMPILED);
    recording_get(&r, RECORD_COMPILE, 2, &loaded);
    assert_int_equal(loaded.event.field[4], RECORD_LOADED);
    assert_true(loaded.event.field[3] != 0 && loaded.words[0] != 0);
    /* Hashes and size. */
    assert_memory_equal(loaded.words, ahead.words, 5 * sizeof *loaded.words);
    assert_int_equal(loaded.words[4], strlen(DOUBLES));
    assert_string_equal(words_text(&loaded, 6), "mlir");
    recording_get(&r, RECORD_EXECUTABLE, 1, &t);
    assert_int_equal(t.event.field[0], loaded.event.field[3]);
    recording_get(&r, RECORD_EXECUTE, 0, &t);
    assert_int_equal(t.event.field[3], loaded.event.field[3]);
    recording_get(&r, RECORD_COMPILE, 3, &loaded);
    assert_int_equal(loaded.event.field[4], RECORD_LOADED);
    assert_int_equal(loaded.words[0], 0);
    assert_string_equal(words_text(&loaded, 6), "unknown");
    assert_int_equal(recording_count(&r, RECORD_EXECUTABLE), 3);
    recording_free(&r);
}

static void has_another_major(const char *folder)
{
    void *handle;
    setenv("FAKE_PJRT", "wrong_major", 1);
    set_recorder(folder, "pjrt_fake");
    const PJRT_Api *bare = entry_of(built("pjrt_fake"), &handle)();
    MUST(entry_of(built("pjrt_record"), &handle)() == bare);
}

static void another_major_is_only_forwarded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(has_another_major, folder);
    assert_int_equal(processes(folder, 0, NULL, 0), 0);
}

/* ---- no plugin --------------------------------------------------------------------------------
 */

static void must_say(const char *plugin, const char *text)
{
    void *handle;
    setenv(RECORD_ENV_PLUGIN, plugin, 1);
    const PJRT_Api *api = entry_of(built("pjrt_record"), &handle)();
    PJRT_Plugin_Initialize_Args args = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    PJRT_Error *error = api->PJRT_Plugin_Initialize(&args);
    MUST(error);
    PJRT_Error_Message_Args message = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                       .error = error};
    api->PJRT_Error_Message(&message);
    MUST(strlen(message.message) == message.message_size);
    MUST(strstr(message.message, RECORD_ENV_PLUGIN) && strstr(message.message, text));
    PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                       .error = error};
    api->PJRT_Error_Destroy(&destroy);
}

static void has_no_plugin(const char *folder)
{
    setenv(RECORD_ENV_FOLDER, folder, 1);
    must_say("", "names no plugin");
    must_say("/nonexistent/plugin.so", "/nonexistent/plugin.so");
    must_say(built("not_a_plugin"), "no GetPjrtApi");
    must_say(built("pjrt_record"), "itself");
    bn_status st = {0};
    rt_plugin *plugin = NULL;
    MUST(rt_plugin_load(built("pjrt_record"), NULL, &plugin, &st) == BN_PLUGIN);
    MUST(strstr(st.message, "itself"));
}

static void without_a_plugin_there_is_an_error(void **state)
{
    (void)state;
    const char *folder = new_folder();
    in_child(has_no_plugin, folder);
    assert_int_equal(processes(folder, 0, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_structs_are_widened),
        cmocka_unit_test(tables_keep_their_length),
        cmocka_unit_test(what_was_compiled_ahead_is_known_when_it_is_loaded),
        cmocka_unit_test(another_major_is_only_forwarded),
        cmocka_unit_test(without_a_plugin_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
