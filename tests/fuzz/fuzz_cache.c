/* fuzz_cache.c - entries of the folder of executables: what is taken has the head that was asked
 * for, and a payload whose digest stands before it. */
#include "tests/fuzz/fuzz.h"

#include "modes/mode_priv.h"

#define HEAD "bench-executable 2\nplugin a\nsettings b\nprogram c\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t at = mode_disk_payload(HEAD, (const char *)data, size);
    char digest[BN_SHA256_TEXT];
    if (at > 0) {
        fuzz_require(at < size && memcmp(data, HEAD, strlen(HEAD)) == 0,
                     "an entry of another head");
        bn_sha256(data + at, size - at, digest);
        fuzz_require(memcmp(data + at - BN_SHA256_TEXT, digest, BN_SHA256_TEXT - 1) == 0,
                     "a payload with another digest");
    }
    /* The same bytes as the payload of a good entry are found again. */
    bn_text entry = {0};
    bn_sha256(data, size, digest);
    bn_text_printf(&entry, HEAD "payload %s\n", digest);
    const size_t begin = entry.length;
    bn_text_append(&entry, (const char *)data, size);
    fuzz_require(mode_disk_payload(HEAD, entry.data, entry.length) == (size ? begin : 0),
                 "a good entry is refused");
    bn_text_free(&entry);
    return 0;
}
