/* fuzz_hlo.c - optimized programs as plugins hand them over. */
#include "tests/fuzz/fuzz.h"

#include "runtime/hlo/hlo.h"

#include <math.h>

static void check_items(const hlo_items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        const hlo_item *item = &items->list[i];
        fuzz_require(item->name && item->what && item->scope && item->why,
                     "an item without a text");
        fuzz_require(isfinite(item->cycles) && isfinite(item->times), "an item without a number");
        fuzz_touch(item->name, strlen(item->name));
        fuzz_touch(item->scope, strlen(item->scope));
    }
}

static void check(const char *format, const uint8_t *data, size_t size)
{
    bn_status st = {0};
    hlo_program *program = NULL;
    bn_code code = hlo_program_read(format, data, size, &program, &st);
    fuzz_status(code, &st);
    fuzz_require((code == BN_OK) == (program != NULL), "a program of bytes that are refused");
    if (!program)
        return;
    const hlo_report *r = hlo_program_report(program);
    fuzz_require(isfinite(r->cycles) && r->cycles >= 0, "a sum that is no number");
    fuzz_require(r->copy_cycles <= r->cycles && r->layout_cycles <= r->copy_cycles,
                 "a part is more than the whole");
    const hlo_items *all[] = {&r->copies,   &r->collectives, &r->loops,
                              &r->branches, &r->scopes,      &r->silent};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_items(all[i]);
    for (size_t i = 0; i < r->layout_count; i++)
        if (r->layouts[i])
            fuzz_touch(r->layouts[i], strlen(r->layouts[i]));
    hlo_program_free(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check("hlo", data, size);
    check("hlo_with_config", data, size);
    return 0;
}
