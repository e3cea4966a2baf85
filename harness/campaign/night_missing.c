/*
 * night_missing.c - experiments of last good nights that tonight's suite does not have. It may have
 * lost them by mistake, or another suite has them: a night reports them, and judges the others.
 */
#include "harness/campaign/night_priv.h"

#include <string.h>

#define MOST_TITLES 3 /* of experiments that are named */

/* Whether one of the first COUNT records of ALL, good or failed, that are SIDE's is of the
 * experiment that E asks for. */
static bool has_request(const night_side *side, const res_collection *all, size_t count,
                        const res_experiment *e)
{
    for (size_t i = 0; i < count; i++)
        if (res_same_request(&all->records[i]->experiment, e) &&
            night_is_of_side(side, all->records[i]))
            return true;
    return false;
}

/* Adds the experiments of SIDE's last good night that tonight lacks; TITLES names the first ones.
 */
static void add_side(nightly *n, const night_side *side, bn_text *titles)
{
    const res_collection *before = &side->before;
    for (size_t i = 0; i < before->count; i++) {
        const res_experiment *e = &before->records[i]->experiment;
        bn_text title = {0};
        /* Steps of recordings come by import, in nights of their own. */
        if (strcmp(e->mode, "recorded") == 0 || has_request(side, before, i, e) ||
            has_request(side, &n->tonight, n->tonight.count, e))
            continue;
        res_experiment_title(e, &title);
        if (suite_wanted(title.data, n->options->suites)) {
            n->missing++;
            json_array_append_new(n->lacking, res_json_text(title.data));
            if (n->missing <= MOST_TITLES)
                bn_text_printf(titles, "%s%s", n->missing == 1 ? ": " : "; ", title.data);
        }
        bn_text_free(&title);
    }
}

void night_put_missing(nightly *n)
{
    bn_text titles = {0};
    for (size_t i = 0; i < n->side_count; i++)
        add_side(n, &n->sides[i], &titles);
    if (n->missing)
        bn_text_printf(&n->words,
                       "missing: tonight's suite does not have %zu experiment%s of the last good "
                       "night%s%s\n",
                       n->missing, n->missing == 1 ? "" : "s", titles.data,
                       n->missing > MOST_TITLES ? "; ..." : "");
    bn_text_free(&titles);
}
