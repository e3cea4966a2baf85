/*
 * export_table.c - the formats of exports, a row each.
 */
#include "results/exports/exports_priv.h"

#include <string.h>

#define FORMATS(X)                                                                                 \
    X(res_export_google_benchmark)                                                                 \
    X(res_export_benchstat)                                                                        \
    X(res_export_asv)                                                                              \
    X(res_export_hyperfine)                                                                        \
    X(res_export_pytorch_xla)                                                                      \
    X(res_export_pytorch_benchmark)                                                                \
    X(res_export_xla)                                                                              \
    X(res_export_csv)                                                                              \
    X(res_export_chrome_trace)                                                                     \
    X(res_export_xspace)

#define X(format) extern const res_export_format format;
FORMATS(X)
#undef X
#define X(format) &format,
static const res_export_format *const formats[] = {FORMATS(X)};
#undef X
#define COUNT (sizeof formats / sizeof *formats)

void res_export_names(bn_text *out)
{
    for (size_t i = 0; i < COUNT; i++)
        bn_text_printf(out, "%s%s", i ? ", " : "", formats[i]->name);
}

static size_t format_of(const char *name)
{
    size_t i = 0;
    while (i < COUNT && strcmp(formats[i]->name, name) != 0)
        i++;
    return i;
}

bn_code res_export_check(const char *format, bn_status *st)
{
    bn_text names = {0};
    if (format_of(format) < COUNT)
        return BN_OK;
    res_export_names(&names);
    bn_fail_choice(st, "export format", format, names.data);
    bn_text_free(&names);
    return BN_INVALID;
}

bn_code res_export_make(const res_collection *all, const char *format, res_export *export,
                        bn_status *st)
{
    *export = (res_export){0};
    const size_t i = format_of(format);
    if (i == COUNT)
        return res_export_check(format, st);
    export->folder = formats[i]->folder;
    formats[i]->write(all, export);
    if (export->count == 0)
        return bn_fail(st, BN_INVALID, "no record that %s could show among the store's %zu", format,
                       all->count);
    return BN_OK;
}
