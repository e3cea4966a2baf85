/* fuzz_names.c - the environment's list of runtimes, and text that is shown: a path is one of the
 * list's or none, what is shown is plain, and a site's data files hold it as nothing but text. */
#include "tests/fuzz/fuzz.h"

#include "plots/site/site_priv.h"
#include "runtime/pjrt/pjrt.h"

#include <locale.h>
#include <stdio.h>
#include <wchar.h>

/* Whether all of SHOWN is UTF-8, is seen and steers nothing. The ranges stand here once more, as
 * their sources have them: Unicode Standard Annex 9, Unicode Technical Report 36, and
 * Default_Ignorable_Code_Point of the Unicode Character Database. */
static bool is_harmless(const char *shown)
{
    mbstate_t state = {0};
    wchar_t sign;
    for (size_t length; *shown; shown += length) {
        length = mbrtowc(&sign, shown, strlen(shown), &state);
        const uint32_t c = (uint32_t)sign;
        if (length > 4 || c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x034F ||
            c == 0x061C || c == 0x115F || c == 0x1160 || c == 0x17B4 || c == 0x17B5 ||
            (c >= 0x180B && c <= 0x180F) || (c >= 0x200B && c <= 0x200F) ||
            (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0x3164 ||
            (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || c == 0xFFA0 ||
            (c >= 0xFFF0 && c <= 0xFFFB) || (c >= 0x1BCA0 && c <= 0x1BCA3) ||
            (c >= 0x1D173 && c <= 0x1D17A) || (c >= 0xE0000 && c <= 0xE0FFF))
            return false;
    }
    return true;
}

/* Puts TEXT, of which SHOWN is shown, into a data file: a string in ASCII that ends no script. */
static void put_in_site(const char *text, const char *shown)
{
    static const char head[] = "bench_data(\"x\",", tail[] = ");\n";
    bn_text data = site_data("x", json_pack("[o]", site_text(text)));
    const size_t begin = sizeof head - 1, end = data.length - (sizeof tail - 1);
    fuzz_require(data.length >= begin + sizeof tail + 1 && strncmp(data.data, head, begin) == 0 &&
                     strcmp(data.data + end, tail) == 0,
                 "no call around a string");
    for (size_t i = 0; i + 1 < data.length; i++)
        fuzz_require(data.data[i] >= ' ' && data.data[i] <= '~' && data.data[i] != '<',
                     "a sign that could end a script");
    json_t *list = json_loadb(data.data + begin, end - begin, 0, NULL);
    const json_t *back = json_array_get(list, 0);
    fuzz_require(json_is_string(back) && strcmp(json_string_value(back), shown) == 0,
                 "a page shows another text");
    json_decref(list);
    bn_text_free(&data);
}

/* Shows TEXT, and what was shown once more: that changes nothing. */
static void show(const char *text)
{
    bn_text once = {0}, twice = {0};
    char small[64];
    bn_text_plain(&once, text);
    const char *shown = once.data ? once.data : "";
    bn_text_plain(&twice, shown);
    fuzz_require(strcmp(shown, twice.data ? twice.data : "") == 0, "plain text is not plain");
    fuzz_require(is_harmless(shown), "what is not plain is shown");
    fuzz_require(bn_is_plain(shown) && bn_is_plain(text) == (strcmp(text, shown) == 0),
                 "bn_is_plain does not agree with bn_text_plain");
    put_in_site(text, shown);
    bn_plain(text, small, sizeof small);
    fuzz_require(strncmp(small, shown, strlen(small)) == 0, "a cut text is another one");
    bn_text_free(&twice);
    bn_text_free(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    bn_status st = {.code = BN_OK};
    fuzz_require(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "there is no locale with UTF-8");
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
