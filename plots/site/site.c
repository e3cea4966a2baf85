/*
 * site.c - a site from beginning to end. A file is written before the files that name it, so that
 * a reader finds all that is named at any time, by an older page or the new one.
 */
#include "plots/site/site_priv.h"

#include <stdlib.h>
#include <string.h>

/* A record that is asked for must be there now; those of earlier calls may have gone. */
static bn_code check_asked(const site *s, bn_status *st)
{
    const site_options *o = s->options;
    for (size_t i = 0; i < o->asked_count; i++) {
        bool found = false;
        for (size_t k = 0; k < s->count && !found; k++)
            found = strcmp(s->records[k].summary->id, o->asked[i]) == 0;
        if (!found)
            return bn_fail(st, BN_NOT_FOUND, "%s: no record has the id %s", o->store, o->asked[i]);
    }
    return BN_OK;
}

static bn_code make(site *s, bn_status *st)
{
    static bn_code (*const steps[])(site *, bn_status *) = {site_nights_write,  site_builds_write,
                                                            site_series_write,  site_latest_write,
                                                            site_details_write, site_front_write};
    bn_code code = site_sort(s, st);
    if (code == BN_OK)
        code = check_asked(s, st);
    if (code == BN_OK)
        code = site_folder_begin(s->options, s->made, &s->folder, st);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == BN_OK; i++)
        code = steps[i](s, st);
    if (code == BN_OK)
        site_folder_sweep(&s->folder);
    return code;
}

bn_code site_publish(const site_options *options, const res_index *index, site_made *made,
                     bn_status *st)
{
    site s = {.options = options, .index = index, .made = made, .memory = bn_arena_new(65536)};
    *made = (site_made){0};
    const bn_code code = make(&s, st);
    site_folder_end(&s.folder);
    for (int m = 0; m < RES_METRIC_COUNT; m++)
        res_history_free(&s.history[m]);
    free(s.records);
    free(s.experiments);
    free(s.nights);
    free(s.builds);
    free(s.models);
    free(s.details);
    bn_arena_free(s.memory);
    return code == BN_OK ? BN_OK : bn_context(st, "site");
}
