/* stored.c - which records of a folder a command is asked about. */
#include "harness/commands/stored.h"

#include <stdio.h>
#include <string.h>

bool command_listed(const char *list, const char *name)
{
    for (const char *word = list; word && *word; word += strcspn(word, ",")) {
        word += *word == ',';
        if (strcspn(word, ",") == strlen(name) && strncmp(word, name, strlen(name)) == 0)
            return true;
    }
    return !list;
}

bool command_stored_wanted(const cli_options *o, const res_experiment *e)
{
    char graphs[16], batch[16];
    snprintf(graphs, sizeof graphs, "%d", e->graphs);
    snprintf(batch, sizeof batch, "%d", e->batch);
    return command_listed(o->only_model, e->model) && command_listed(o->only_mode, e->mode) &&
           command_listed(o->only_phase, e->phase) &&
           (command_listed(o->only_runtime, e->runtime) ||
            command_listed(o->only_runtime, bn_base_name(e->runtime))) &&
           command_listed(o->only_graphs, graphs) && command_listed(o->only_batch, batch);
}
