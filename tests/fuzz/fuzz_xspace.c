/* fuzz_xspace.c - profiles as plugins hand them over. */
#include "tests/fuzz/fuzz.h"

#include "runtime/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    rt_device_span *spans = NULL;
    size_t count = 0;
    bn_code code = rt_xspace_device_spans(data, size, &spans, &count, &st);
    fuzz_status(code, &st);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        fuzz_require(memchr(spans[i].name, '\0', sizeof spans[i].name) != NULL, "an endless name");
        fuzz_require(i == 0 || spans[i - 1].start_ns <= spans[i].start_ns, "spans out of order");
    }
    /* An event takes at least two bytes. */
    fuzz_require(count <= size, "more spans than bytes");
    free(spans);
    bn_arena *arena = bn_arena_new(1024);
    rt_op_time *ops = NULL;
    st = (bn_status){0};
    code = arena ? rt_xspace_op_times(data, size, arena, &ops, &count, &st) : BN_OUT_OF_MEMORY;
    if (arena)
        fuzz_status(code, &st);
    for (size_t i = 0; code == BN_OK && i < count; i++)
        fuzz_require(i == 0 || strcmp(ops[i - 1].name, ops[i].name) < 0, "ops out of order");
    fuzz_require(code != BN_OK || count <= size, "more ops than bytes");
    bn_arena_free(arena);
    return 0;
}
