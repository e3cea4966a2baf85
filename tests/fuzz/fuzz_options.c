/* fuzz_options.c - options of a runtime, "name=value". */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "runtime/pjrt/pjrt.h"

static void check(const rt_option *option, const char *text, size_t size)
{
    const size_t name = strlen(option->name), value = strlen(option->string);
    fuzz_require(option->name == text && name > 0, "a name outside of the text");
    fuzz_require(option->string == text + name + 1 && name + 1 + value <= size,
                 "a value outside of the text");
    fuzz_require(option->kind != RT_OPTION_FLOAT || isfinite(option->real), "a number too large");
    fuzz_require(option->kind != RT_OPTION_BOOL || option->integer == 0 || option->integer == 1,
                 "neither true nor false");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    rt_option option;
    char *text = malloc(size + 1);
    fuzz_require(text != NULL, "no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    bn_code code = rt_option_parse(text, &option, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        check(&option, text, size);
    free(text);
    return 0;
}
