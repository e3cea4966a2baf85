/*
 * check_steps.c - finds the steps that the rules are checked on.
 */
#include "results/complaints/complaints_priv.h"

bn_code rec_check_steps(const rec_recording *recording, const rec_options *options,
                        rec_steps **steps, bn_status *st)
{
    bn_status first = {.code = BN_OK}, ignored = {.code = BN_OK};
    const rec_process *p = rec_process_find(recording, options->pid);
    rec_options whole = *options;
    whole.keep_warmup = true;
    const bn_code code = rec_steps_find(recording, options, steps, &first);
    if (code == BN_OK || (code == BN_NOT_FOUND && p && p->execution_count > 0 &&
                          rec_steps_find(recording, &whole, steps, &ignored) == BN_OK))
        return BN_OK;
    *st = first;
    return code;
}
