/* export.c - bench export. */
#include "harness/commands/commands.h"
#include "harness/commands/selection_priv.h"
#include "results/exports/exports.h"

#include <stdio.h>

static bn_code write_out(const res_export *export, const char *format, const char *file, bool force,
                         bn_status *st)
{
    if (file)
        return res_export_write(export, file, force, st);
    const bn_text *bytes = &export->files[0].bytes;
    if (export->folder)
        return bn_fail(st, BN_INVALID, "--to %s writes a folder: name one with --output", format);
    /* Whether this arrived is checked in main. */
    cli_bytes(bytes);
    return BN_OK;
}

int command_export(const char *store, const char *format, const char *file, bool force)
{
    bn_status st = {.code = BN_OK};
    res_collection all = {0};
    res_export export = {0};
    if (!format)
        bn_fail(&st, BN_INVALID, "bench export needs --to: %s", RES_EXPORT_NAMES);
    if (st.code != BN_OK || command_all_read(store, &all, &st) != BN_OK)
        return (int)cli_complain(&st);
    job_say_damaged(all.damaged, all.damaged_count);
    int code = all.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (res_export_make(&all, format, &export, &st) != BN_OK ||
        write_out(&export, format, file, force, &st) != BN_OK)
        code = (int)cli_complain(&st);
    res_export_free(&export);
    res_collection_free(&all);
    return code;
}
