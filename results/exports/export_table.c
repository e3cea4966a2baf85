/*
 * export_table.c - the formats of exports, a row each.
 */
#include "results/exports/exports_priv.h"

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

static const char *name_at(size_t i)
{
    return i < COUNT ? formats[i]->name : NULL;
}

void res_export_names(bn_text *out)
{
    bn_put_names(out, name_at);
}

bn_code res_export_check(const char *format, bn_status *st)
{
    size_t row;
    return bn_find_name("export format", format, name_at, &row, st);
}

bn_code res_export_make(const res_collection *all, const char *format, res_export *export,
                        bn_status *st)
{
    size_t row;
    *export = (res_export){0};
    bn_code code = bn_find_name("export format", format, name_at, &row, st);
    if (code != BN_OK)
        return code;
    export->folder = formats[row]->folder;
    formats[row]->write(all, export);
    if (export->count == 0)
        return bn_fail(st, BN_INVALID, "no record that %s could show among the store's %zu", format,
                       all->count);
    return BN_OK;
}
