/* complain.c - failures as exit codes and messages. */
#include "harness/harness.h"

#include <stdio.h>

hn_exit hn_exit_for(bn_code code)
{
    switch (code) {
    case BN_OK:
        return HN_EXIT_OK;
    case BN_INVALID:
        return HN_EXIT_USAGE;
    case BN_NOT_FOUND:
    case BN_IO:
    case BN_FORMAT:
    case BN_PLUGIN:
        return HN_EXIT_ENVIRONMENT;
    case BN_CANCELLED:
        return HN_EXIT_INTERRUPTED;
    default:
        return HN_EXIT_FAILED;
    }
}

hn_exit hn_complain(const bn_status *st)
{
    hn_progress_clear();
    fprintf(stderr, "bench: %s\n", st->message);
    return hn_exit_for(st->code);
}
