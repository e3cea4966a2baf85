/* doctor.c - bench doctor: what could be mended in the runs of a store. */
#include "harness/commands/commands.h"
#include "harness/commands/selection_priv.h"

int command_doctor(const command_selection *selection, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    res_collection all = {0};
    bn_text text = {0}, page = {0};
    size_t complaints = 0;
    bn_code code = command_format_of(output, &format, &st);
    if (code == BN_OK)
        code = command_newest_read(selection, &all, &st);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    res_table_doctor(&all, format, &text, &complaints);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "bench doctor", text.data);
    if (!text.failed && !page.failed && text.data)
        cli_show(page.data ? page.data : text.data);
    else
        bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for the complaints");
    int exit_code = all.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (st.code != BN_OK)
        exit_code = (int)cli_complain(&st);
    bn_text_free(&text);
    bn_text_free(&page);
    res_collection_free(&all);
    return exit_code;
}
