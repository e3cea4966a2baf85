/*
 * fuzz_compile_options.c - the compile options that a recording keeps (bench replay): what is
 * handed to a plugin is for our device alone, and has our flags behind theirs.
 */
#include "tests/fuzz/fuzz.h"

#include "runtime/pjrt/compile_options.pb-c.h"
#include "runtime/pjrt/pjrt_priv.h"

#define DEVICE 7

static void check_build(const Rt__Compile__Build *build)
{
    const Rt__Compile__Assignment *assignment = build->assignment;
    fuzz_require(build->replicas <= 1 && build->partitions <= 1, "more than one replica");
    fuzz_require(build->device_ordinal <= 0, "another device is asked for");
    if (assignment)
        fuzz_require(assignment->replicas == 1 && assignment->n_computation == 1 &&
                         assignment->computation[0]->n_device_ids == 1 &&
                         assignment->computation[0]->device_ids[0] == DEVICE,
                     "another device is assigned");
}

static void check(const void *bytes, size_t size)
{
    Rt__Compile__Options *message = rt__compile__options__unpack(NULL, size, bytes);
    fuzz_require(message != NULL, "options that cannot be read");
    fuzz_require(!message->portable, "an executable of no device");
    fuzz_require(message->build != NULL, "options that plugins end the process on");
    check_build(message->build);
    const Rt__Compile__Flag *last = message->n_flags ? message->flags[message->n_flags - 1] : NULL;
    fuzz_require(last && last->value && strcmp(last->name, "ours") == 0 &&
                     strcmp(last->value->text, "True") == 0,
                 "our flag is not the last one");
    rt__compile__options__free_unpacked(message, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const flags[] = {"--ours=true"};
    const rt_compile_options options = {.flags = flags, .flag_count = 1};
    bn_status st = {.code = BN_OK};
    void *bytes = NULL;
    size_t length = 0;
    const bn_code code =
        rt_compile_options_adopt(data, size, &options, DEVICE, &bytes, &length, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        check(bytes, length);
    free(bytes);
    return 0;
}
