/* night_lost.c - files of the store that could not be read tonight. */
#include "harness/campaign/night_priv.h"

size_t night_lost(const nightly *n)
{
    return n->unlisted + n->unread;
}

void night_count_lost(nightly *n, const res_damaged *list, size_t count)
{
    const size_t lost = res_damaged_lost(list, count);
    n->unlisted = lost > n->unlisted ? lost : n->unlisted;
}
