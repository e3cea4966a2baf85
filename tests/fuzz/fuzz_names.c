/* fuzz_names.c - the environment's list of runtimes, and text that is shown: a path is one of the
 * list's or none, and what is shown is plain. */
#include "tests/fuzz/fuzz.h"

#include "runtime/pjrt/pjrt.h"

#include <stdio.h>

/* Shows TEXT, and what was shown once more: that changes nothing. */
static void show(const char *text)
{
    bn_text once = {0}, twice = {0};
    char small[64];
    bn_text_plain(&once, text);
    const char *shown = once.data ? once.data : "";
    bn_text_plain(&twice, shown);
    fuzz_require(strcmp(shown, twice.data ? twice.data : "") == 0, "plain text is not plain");
    for (const char *c = shown; *c; c++)
        fuzz_require((unsigned char)*c >= ' ' && *c != 0x7F, "a control is shown");
    bn_plain(text, small, sizeof small);
    fuzz_require(strncmp(small, shown, strlen(small)) == 0, "a cut text is another one");
    bn_text_free(&twice);
    bn_text_free(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    bn_status st = {.code = BN_OK};
    char *list = malloc(size + 1);
    fuzz_require(list != NULL, "no memory");
    memcpy(list, data, size);
    list[size] = '\0';
    setenv("PJRT_NAMES_AND_LIBRARY_PATHS", list, 1);
    path[0] = '\0';
    bn_code code = rt_plugin_find("mine", path, sizeof path, &st);
    fuzz_status(code, &st);
    char entry[sizeof path + 8];
    snprintf(entry, sizeof entry, "mine:%s", path);
    fuzz_require(code != BN_OK || (strchr(path, '/') && strstr(list, entry)),
                 "a path that the list does not give");
    fuzz_require(code == BN_OK || code == BN_INVALID || code == BN_NOT_FOUND, "another failure");
    show(list);
    unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
    free(list);
    return 0;
}
