/* stored.c - which records of a folder a command is asked about. */
#include "harness/harness.h"

#include <stdio.h>
#include <string.h>

bool hn_listed(const char *list, const char *name)
{
    for (const char *word = list; word && *word; word += strcspn(word, ",")) {
        word += *word == ',';
        if (strcspn(word, ",") == strlen(name) && strncmp(word, name, strlen(name)) == 0)
            return true;
    }
    return !list;
}

bool hn_stored_wanted(const hn_options *o, const res_experiment *e)
{
    char graphs[16], batch[16];
    snprintf(graphs, sizeof graphs, "%d", e->graphs);
    snprintf(batch, sizeof batch, "%d", e->batch);
    return hn_listed(o->only_model, e->model) && hn_listed(o->only_mode, e->mode) &&
           hn_listed(o->only_phase, e->phase) &&
           (hn_listed(o->only_runtime, e->runtime) ||
            hn_listed(o->only_runtime, bn_base_name(e->runtime))) &&
           hn_listed(o->only_graphs, graphs) && hn_listed(o->only_batch, batch);
}
