/* exit.c - failures as exit codes and messages. */
#include "harness/cli/cli_priv.h"

cli_exit cli_exit_for(bn_code code)
{
    switch (code) {
    case BN_OK:
        return CLI_EXIT_OK;
    case BN_INVALID:
        return CLI_EXIT_USAGE;
    case BN_NOT_FOUND:
    case BN_IO:
    case BN_FORMAT:
    case BN_PLUGIN:
        return CLI_EXIT_ENVIRONMENT;
    case BN_CANCELLED:
        return CLI_EXIT_INTERRUPTED;
    default:
        return CLI_EXIT_FAILED;
    }
}

cli_exit cli_complain(const bn_status *st)
{
    cli_line_clear();
    cli_put_error(st->message);
    return cli_exit_for(st->code);
}

cli_exit cli_complain_of(const char *title, const bn_status *st)
{
    cli_line_clear();
    bn_text text = {0};
    bn_text_printf(&text, "%s: %s", title, st->message);
    cli_put_error(text.data);
    bn_text_free(&text);
    const cli_exit code = cli_exit_for(st->code);
    return code == CLI_EXIT_USAGE ? CLI_EXIT_FAILED : code;
}
