/* fuzz_safetensors.c - files of weights (--weights). */
#include "tests/fuzz/fuzz.h"

#include "models/weights/safetensors_priv.h"

static void check(const model_file *file, const uint8_t *data, size_t size)
{
    size_t count, all;
    const model_file_tensor *tensors = model_file_tensors(file, &count);
    fuzz_require(model_file_bytes(file, &all) == data && all == size, "the bytes of another file");
    for (size_t i = 0; i < count; i++) {
        const model_file_tensor *t = &tensors[i];
        fuzz_require(t->data >= data && t->bytes <= size &&
                         (size_t)(t->data - data) <= size - t->bytes,
                     "a tensor outside of the file");
        fuzz_require(i == 0 || strcmp(t[-1].name, t->name) < 0, "names out of order");
        fuzz_require(model_file_find(file, t->name) == t, "a tensor that is not found");
        fuzz_require(model_file_dtype_name(t->dtype) != NULL, "an element type without a name");
        for (size_t d = 0; d < t->rank; d++)
            fuzz_require(t->dims[d] >= 0, "a dimension below zero");
        fuzz_touch(t->data, t->bytes);
    }
    fuzz_require(!model_file_find(file, "a name that nobody has"), "a tensor that is not there");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    model_file *file = NULL;
    bn_code code = model_file_parse(data, size, &file, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        check(file, data, size);
    model_file_free(file);

    /* The same from a file, which is mapped. */
    char path[32];
    bn_status again = {0};
    int fd = fuzz_file(data, size, path);
    file = NULL;
    fuzz_require(model_file_open(path, &file, &again) == code, "the file reads otherwise");
    fuzz_status(code, &again);
    model_file_free(file);
    close(fd);
    return 0;
}
