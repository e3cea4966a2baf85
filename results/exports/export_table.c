/*
 * export_table.c - the formats of exports, a row each.
 */
#include "results/exports/exports_priv.h"

#include <string.h>

static const struct {
    const char *name;
    bool folder;
    res_export_writer *write;
} formats[] = {
    {"google-benchmark", false, res_export_google_benchmark},
    {"benchstat", false, res_export_benchstat},
    {"asv", true, res_export_asv},
    {"hyperfine", false, res_export_hyperfine},
    {"pytorch-xla", false, res_export_pytorch_xla},
    {"pytorch-benchmark", true, res_export_pytorch_benchmark},
    {"xla", true, res_export_xla},
    {"csv", false, res_export_csv},
    {"chrome-trace", false, res_export_chrome_trace},
    {"xspace", true, res_export_xspace},
};
#define FORMATS (sizeof formats / sizeof *formats)

static size_t format_of(const char *name)
{
    size_t i = 0;
    while (i < FORMATS && strcmp(formats[i].name, name) != 0)
        i++;
    return i;
}

bn_code res_export_check(const char *format, bn_status *st)
{
    return format_of(format) < FORMATS
               ? BN_OK
               : bn_fail_choice(st, "export format", format, RES_EXPORT_NAMES);
}

bn_code res_export_make(const res_collection *all, const char *format, res_export *export,
                        bn_status *st)
{
    *export = (res_export){0};
    const size_t i = format_of(format);
    if (i == FORMATS)
        return res_export_check(format, st);
    export->folder = formats[i].folder;
    formats[i].write(all, export);
    if (export->count == 0)
        return bn_fail(st, BN_INVALID, "no record that %s could show among the store's %zu", format,
                       all->count);
    return BN_OK;
}
