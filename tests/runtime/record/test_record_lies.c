/*
 * test_record_lies.c - a plugin that lies to the recorder, where the program asks nothing: the
 * program goes on as without it, and the recording names the answer.
 */
#include "tests/runtime/record/raw_fixture.h"

/* The lie that the child's plugin tells, in words of the fake plugin. */
static char lie[64];

/* A call that fails, and whose error nobody asks for words. */
static void fail_once(const raw *r)
{
    char none[1];
    PJRT_Buffer_ToHostBuffer_Args args =
        ARGS(Buffer_ToHostBuffer, .src = r->argument, .dst = none, .dst_size = sizeof none);
    PJRT_Error *error = r->api->PJRT_Buffer_ToHostBuffer(&args);
    MUST(error);
    raw_error_free(r, error);
}

/* Copies the argument, where the plugin can. */
static void copy(const raw *r)
{
    PJRT_Buffer_CopyToDevice_Args args =
        ARGS(Buffer_CopyToDevice, .buffer = r->argument, .dst_device = r->device);
    if (!r->api->PJRT_Buffer_CopyToDevice)
        return;
    MUST(!r->api->PJRT_Buffer_CopyToDevice(&args));
    buffer_free(r, args.dst_buffer);
}

/* A program that executes twice, and asks for nothing that it has no use for. */
static void work(const PJRT_Api *api)
{
    raw r = raw_new(api);
    for (int i = 0; i < 2; i++) {
        PJRT_Buffer *const list[1] = {r.argument};
        PJRT_Buffer *const *const lists[1] = {list};
        PJRT_Buffer *results[2] = {NULL, NULL}, **const outputs[1] = {results};
        PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
        PJRT_LoadedExecutable_Execute_Args execute =
            ARGS(LoadedExecutable_Execute, .executable = r.executable, .options = &options,
                 .argument_lists = lists, .num_devices = 1, .num_args = 1, .output_lists = outputs);
        MUST(!api->PJRT_LoadedExecutable_Execute(&execute));
        MUST(results[0]);
        raw_event_end(&r, raw_ready(&r, results[0]));
        buffer_free(&r, results[0]);
    }
    copy(&r);
    fail_once(&r);
    raw_free(&r);
}

static void lied_to(const char *folder)
{
    void *handle;
    set_recorder(folder, "pjrt_fake");
    setenv("FAKE_PJRT", lie, 1);
    work(entry_of(built("pjrt_record"), &handle)());
}

static size_t lies_in(const recording *r, char text[4096])
{
    size_t count = 0;
    while (recording_text(r, RECORD_TEXT_LIE, count, text, 4096))
        count++;
    return count;
}

static void programs_go_on_and_the_answer_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *lie, *named; /* NULL: it is no lie */
    } rows[] = {
        {"plain", NULL},
        {"lie_outputs=0", "results"},
        {"lie_outputs=2", "results"},
        {"lie_outputs=1099511627776", "results"},
        {"lie_types=0", "results"},
        {"lie_types=18446744073709551615", "results"},
        {"lie_shapes=0", "results"},
        {"lie_shapes=7", "results"},
        {"lie_outputs=70000,lie_types=70000,lie_shapes=70000", "results"},
        {"lie_rank=0", NULL},
        {"lie_rank=65", "dimensions"},
        {"lie_rank=18446744073709551615", "dimensions"},
        {"lie_name=2000000000", "name"},
        {"lie_name=18446744073709551615", "name"},
        {"lie_platform=18446744073709551615", "platform"},
        {"lie_version=2000000000", "version"},
        {"lie_devices=1099511627776", "devices"},
        {"lie_costs=0", NULL}, /* a plugin may have none */
        {"lie_costs=1099511627776", "costs"},
        {"lie_name=0", NULL},
        {"lie_name=1000", "name"}, /* it ends long before */
        {"lie_platform=0", NULL},
        {"lie_platform=1000000", "platform"},
        {"lie_version=0", NULL},
        {"lie_version=7", "version"},
        {"lie_devices=0", NULL},
        {"lie_devices=65537", "devices"},
        {"lie_program_devices=1", NULL},
        {"lie_program_devices=0", NULL},
        {"lie_program_devices=65537", "devices of a program"},
        {"lie_program_devices=18446744073709551615", "devices of a program"},
        {"lie_description=8", NULL},
        {"lie_description=0", NULL},
        {"lie_description=9", "description"},
        {"lie_description=18446744073709551615", "description"},
        {"lie_dims=1", NULL},
        {"lie_dims=0", NULL}, /* a single number, for all that is known */
        {"lie_dims=65", "dimensions of a buffer"},
        {"lie_dims=18446744073709551615", "dimensions of a buffer"},
        {"lie_error=0", NULL},
        {"lie_error=1000", "error"},
        {"lie_error=18446744073709551615", "error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *folder = new_folder();
        char text[4096] = "", first[4096];
        snprintf(lie, sizeof lie, "%s", rows[i].lie);
        in_child(lied_to, folder);
        recording r = recording_in(folder);
        size_t executions = 0;
        for (size_t k = 0; k < r.count; k++) {
            record_event event;
            memcpy(&event, r.slots + k * RECORD_SLOT, sizeof event);
            executions += k > 0 && event.kind == RECORD_EXECUTE;
        }
        assert_int_equal(executions, 2);
        const size_t lies = lies_in(&r, text);
        if ((lies > 0) != (rows[i].named != NULL))
            fail_msg("%s: %zu lies, %s", rows[i].lie, lies, text);
        if (lies > 0) {
            assert_true(recording_text(&r, RECORD_TEXT_LIE, 0, first, sizeof first));
            assert_non_null(strstr(first, rows[i].named));
        }
        recording_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_go_on_and_the_answer_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
