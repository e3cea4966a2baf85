/*
 * graphs.c - the texts of the graphs that an experiment compiled, for bench run --graph-report.
 */
#include "harness/worker/measure_priv.h"

#include <stdio.h>

void worker_write_graphs(const worker_member *m)
{
    const char *folder = m->e.graph_report;
    for (size_t i = 0; folder && i < mode_execution_count(m->s.mode); i++) {
        char path[4200];
        size_t length = 0;
        const char *text = mode_execution_text(m->s.mode, i, &length), *code = text;
        size_t size = length;
        /* Programs that others wrote come in other forms, too. */
        if (length == 0 || mode_form_find(&code, &size) != MODE_FORM_TEXT)
            continue;
        snprintf(path, sizeof path, "%s/%s.mlir", folder,
                 mode_execution_at(m->s.mode, i)->fingerprint);
        /* The parent looks which are there, and says what is missing. */
        bn_status st = {.code = BN_OK};
        (void)(bn_file_write_atomic(path, text, length, &st) == BN_OK);
    }
}
