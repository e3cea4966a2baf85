/* fuzz_npy.c - arrays in .npy files (--input, --check). */
#include "tests/fuzz/fuzz.h"

#include "harness/worker/arrays_priv.h"
#include "runtime/pjrt/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    rt_npy array;
    bn_code code = rt_npy_parse("array.npy", (const char *)data, size, &array, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return 0;
    size_t bytes = bn_dtype_bytes(array.dtype);
    fuzz_require(array.rank <= RT_MAX_RANK, "more dimensions than there is room for");
    for (size_t i = 0; i < array.rank; i++) {
        fuzz_require(array.dims[i] >= 0, "a dimension below zero");
        bytes *= (size_t)array.dims[i];
    }
    fuzz_require(bytes == array.size, "elements that do not fill the shape");
    fuzz_touch(array.data, array.size);
    worker_array_difference difference =
        worker_arrays_compare(array.dtype, array.data, array.data, array.size, 0, 0);
    fuzz_require(difference.count == 0, "an array differs from itself");
    return 0;
}
